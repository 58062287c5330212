#include "sim/run/talker.h"

#include "core/base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { READ_BYTES = 65536, SHELL_NOT_FOUND = 127, GRACE_MS = 1000 };

extern char **environ;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The child's ends are inherited by it alone; ours never block. */
static int spawn(struct talker *c, int in[2], int out[2])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t defaults;
    char *command = NULL;
    if (asprintf(&command, "exec %s", c->command) < 0)
        return ENOMEM;
    char *arguments[] = {(char[]){"sh"}, (char[]){"-c"}, command, NULL};
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE); /* which we ignore */
    sigaddset(&defaults, SIGXFSZ);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    int code = posix_spawn(&c->pid, "/bin/sh", &actions, &attributes, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    free(command);
    return code;
}

enum status talker_start(struct talker *c, const char *command, double timeout_s, struct error *err)
{
    int in[2], out[2], code = 0;
    *c = (struct talker){.command = command, .timeout_s = timeout_s};
    if (!ARRAY_GROW(c->buffer, c->capacity, READ_BYTES))
        return fail_memory(err);
    if (pipe2(in, O_CLOEXEC) != 0)
        return fail(err, ST_OUTPUT, "%s: no pipe: %s", command, strerror(errno));
    if (pipe2(out, O_CLOEXEC) != 0) {
        close(in[0]);
        close(in[1]);
        return fail(err, ST_OUTPUT, "%s: no pipe: %s", command, strerror(errno));
    }
    code = spawn(c, in, out);
    close(in[0]);
    close(out[1]);
    c->to = in[1];
    c->from = out[0];
    if (code == 0 &&
        (fcntl(c->to, F_SETFL, O_NONBLOCK) != 0 || fcntl(c->from, F_SETFL, O_NONBLOCK) != 0))
        code = errno;
    if (code == 0)
        return ST_OK;
    close(c->to);
    close(c->from);
    c->pid = 0;
    return fail(err, ST_OUTPUT, "%s: cannot be started: %s", command, strerror(code));
}

/* How it ended; it is gone afterwards. */
static enum status fail_ended(struct talker *c, struct error *err)
{
    int how = 0;
    waitpid(c->pid, &how, 0);
    close(c->to);
    close(c->from);
    c->pid = 0;
    if (WIFSIGNALED(how))
        return fail(err, ST_INPUT, "%s was killed by signal %d (%s)", c->command, WTERMSIG(how),
                    strsignal(WTERMSIG(how)));
    if (WEXITSTATUS(how) == SHELL_NOT_FOUND)
        return fail(err, ST_HELPER, "%s: there is no such program", c->command);
    return fail(err, ST_INPUT, "%s ended with status %d", c->command, WEXITSTATUS(how));
}

/* Waits until the file is ready or the time is over. */
static enum status await_file(struct talker *c, int file, short events, double until_s,
                              struct error *err)
{
    for (;;) {
        double left_s = until_s - now_s();
        if (left_s <= 0)
            return fail(err, ST_INPUT, "%s has not answered within %g s (policy_timeout_s)",
                        c->command, c->timeout_s);
        struct pollfd p = {.fd = file, .events = events};
        int n = poll(&p, 1, left_s < 1000 ? (int)(left_s * 1e3) + 1 : 1000000);
        if (n > 0)
            return ST_OK;
        if (n < 0 && errno != EINTR)
            return fail(err, ST_OUTPUT, "%s: %s", c->command, strerror(errno));
    }
}

enum status talker_say(struct talker *c, const char *bytes, size_t n, struct error *err)
{
    double until_s = now_s() + c->timeout_s;
    while (n > 0) {
        ssize_t put = write(c->to, bytes, n);
        if (put >= 0) {
            bytes += put;
            n -= (size_t)put;
        } else if (errno == EPIPE) {
            return fail_ended(c, err);
        } else if (errno == EAGAIN) {
            TRY(await_file(c, c->to, POLLOUT, until_s, err));
        } else if (errno != EINTR) {
            return fail(err, ST_OUTPUT, "%s: %s", c->command, strerror(errno));
        }
    }
    return ST_OK;
}

enum status talker_hear(struct talker *c, const char **line, struct error *err)
{
    double until_s = now_s() + c->timeout_s;
    memmove(c->buffer, c->buffer + c->n_used, c->n - c->n_used);
    c->n -= c->n_used;
    c->n_used = 0;
    for (char *end; (end = memchr(c->buffer, '\n', c->n)) == NULL;) {
        if (!ARRAY_GROW(c->buffer, c->capacity, c->n + READ_BYTES))
            return fail_memory(err);
        ssize_t got = read(c->from, c->buffer + c->n, READ_BYTES);
        if (got > 0)
            c->n += (size_t)got;
        else if (got == 0)
            return fail_ended(c, err);
        else if (errno == EAGAIN)
            TRY(await_file(c, c->from, POLLIN, until_s, err));
        else if (errno != EINTR)
            return fail(err, ST_OUTPUT, "%s: %s", c->command, strerror(errno));
    }
    char *end = memchr(c->buffer, '\n', c->n);
    *end = '\0';
    c->n_used = (size_t)(end - c->buffer) + 1;
    *line = c->buffer;
    return ST_OK;
}

void talker_stop(struct talker *c)
{
    if (c->pid > 0) {
        close(c->to);
        close(c->from);
        for (int ms = 0; waitpid(c->pid, NULL, WNOHANG) == 0; ms++) {
            if (ms == GRACE_MS) {
                kill(-c->pid, SIGKILL);
                waitpid(c->pid, NULL, 0);
                break;
            }
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        }
    }
    free(c->buffer);
    *c = (struct talker){0};
}
