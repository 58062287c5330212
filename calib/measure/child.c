#include "calib/measure/child.h"

#include "calib/measure/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum status child_env_add(struct child_env *e, struct error *err, const char *format, ...)
{
    va_list list;
    if (e->n == CHILD_ENV_MAX)
        return fail(err, ST_USAGE, "more than %d variables", CHILD_ENV_MAX);
    va_start(list, format);
    int n = vasprintf(&e->entry[e->n], format, list);
    va_end(list);
    if (n < 0)
        return fail_memory(err);
    e->n++;
    return ST_OK;
}

void child_env_free(struct child_env *e)
{
    for (int i = 0; i < e->n; i++)
        free(e->entry[i]);
    *e = (struct child_env){0};
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* In the child: never returns. */
static _Noreturn void become(const char *command, const struct child_env *env, int in, int out)
{
    sigset_t none;
    sigemptyset(&none);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    for (int i = 0; i < env->n; i++)
        if (putenv(env->entry[i]) != 0)
            _exit(126);
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
        _exit(126);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(126);
}

enum status child_start(struct child *c, const char *command, const struct child_env *env,
                        const char *log, struct error *err)
{
    enum status status = ST_OK;
    int in[2] = {-1, -1}, out[2] = {-1, -1};
    pid_t self = getpid();
    *c = (struct child){.in = -1, .out = -1, .log = -1};
    if (log != NULL)
        c->log = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if ((log != NULL && c->log < 0) || pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) {
        status = fail(err, ST_OUTPUT, "%s: %s", log != NULL ? log : "pipe", strerror(errno));
        goto out;
    }
    c->pid = fork();
    if (c->pid == 0) {
        setsid();
        keeper_die_with(self, SIGKILL);
        become(command, env, in[0], out[1]);
    }
    if (c->pid < 0) {
        c->pid = 0;
        status = fail(err, ST_OUTPUT, "fork: %s", strerror(errno));
        goto out;
    }
    c->in = in[1];
    c->out = out[0];
    in[1] = out[0] = -1;
    fcntl(c->in, F_SETFL, O_NONBLOCK);
    fcntl(c->out, F_SETFL, O_NONBLOCK);
out:
    for (int i = 0; i < 2; i++) {
        close_fd(&in[i]);
        close_fd(&out[i]);
    }
    if (status != ST_OK)
        close_fd(&c->log);
    return status;
}

static void keep_last(struct child *c, const char *line)
{
    size_t n = strlen(line);
    if (strspn(line, " \t") == n)
        return;
    n = n < sizeof c->last - 1 ? n : sizeof c->last - 1;
    memcpy(c->last, line, n);
    c->last[n] = '\0';
}

/* The line that ends at end (exclusive), the next one beginning there or behind it. */
static char *take(struct child *c, size_t end, size_t next)
{
    char *line = c->buffer + c->taken;
    if (c->log >= 0 && write(c->log, line, next - c->taken) < 0)
        close_fd(&c->log); /* the log is a help, not a result */
    c->taken = next;
    c->buffer[end] = '\0';
    keep_last(c, line);
    return line;
}

char *child_line(struct child *c)
{
    memmove(c->buffer, c->buffer + c->taken, c->n - c->taken);
    c->n -= c->taken;
    c->taken = 0;
    for (;;) {
        char *end = memchr(c->buffer, '\n', c->n);
        if (end != NULL)
            return take(c, (size_t)(end - c->buffer), (size_t)(end - c->buffer) + 1);
        if (c->n == sizeof c->buffer - 1 || (c->out < 0 && c->n > 0))
            return take(c, c->n, c->n);
        if (c->out < 0)
            return NULL;
        ssize_t more = read(c->out, c->buffer + c->n, sizeof c->buffer - 1 - c->n);
        if (more > 0)
            c->n += (size_t)more;
        else if (more == 0 || (errno != EAGAIN && errno != EINTR))
            close_fd(&c->out);
        else if (errno == EAGAIN)
            return NULL;
    }
}

void child_say(struct child *c, const char *text)
{
    if (c->in >= 0 && write(c->in, text, strlen(text)) < 0)
        close_fd(&c->in);
}

bool child_ended(struct child *c)
{
    if (c->pid > 0 && !c->ended && waitpid(c->pid, &c->wait_status, WNOHANG) == c->pid)
        c->ended = true;
    return c->pid == 0 || c->ended;
}

bool child_wait(struct child *c, struct stop *stop, double seconds)
{
    double until_s = monotonic_s() + seconds;
    for (;;) {
        while (child_line(c) != NULL)
            ;
        double left_s = until_s - monotonic_s();
        if (child_ended(c) || left_s <= 0 || stop_asked(stop))
            return c->ended;
        struct pollfd fd = {.fd = c->out, .events = POLLIN};
        stop_wait(stop, &fd, 1, left_s < .02 ? left_s : .02);
    }
}

/* To its group, or to it alone where it has not made one yet. */
static void send(const struct child *c, int signal)
{
    if (kill(-c->pid, signal) != 0 && !c->ended)
        kill(c->pid, signal);
}

static void let_go(struct child *c)
{
    close_fd(&c->in);
    close_fd(&c->out);
    close_fd(&c->log);
    c->pid = 0;
}

void child_end(struct child *c, double grace_s)
{
    struct stop nobody = {.fd = -1};
    if (c->pid > 0) {
        send(c, SIGTERM);
        child_wait(c, &nobody, grace_s);
        send(c, SIGKILL);
        child_wait(c, &nobody, 5);
    }
    let_go(c);
}

const char *child_how(const struct child *c, char buffer[32])
{
    if (WIFSIGNALED(c->wait_status))
        snprintf(buffer, 32, "signal %d", WTERMSIG(c->wait_status));
    else
        snprintf(buffer, 32, "exit %d", WEXITSTATUS(c->wait_status));
    return buffer;
}

enum status child_ask(const char *command, const struct child_env *env, const char *input,
                      double seconds, char *answer, size_t size, struct error *err)
{
    struct child c;
    struct stop nobody = {.fd = -1};
    char how[32];
    size_t n = 0;
    enum status status = ST_OK;
    TRY(child_start(&c, command, env, NULL, err));
    child_say(&c, input);
    close_fd(&c.in);
    for (double until_s = monotonic_s() + seconds;;) {
        bool ended = child_ended(&c);
        for (char *line; (line = child_line(&c)) != NULL;)
            n += (size_t)snprintf(answer + n, n < size ? size - n : 0, "%s\n", line);
        n = n < size ? n : size - 1;
        double left_s = until_s - monotonic_s();
        if (ended || left_s <= 0)
            break;
        struct pollfd fd = {.fd = c.out, .events = POLLIN};
        stop_wait(&nobody, &fd, 1, left_s < .02 ? left_s : .02);
    }
    answer[n] = '\0';
    if (!c.ended)
        status = fail(err, ST_HELPER, "'%s' did not end within %g s", command, seconds);
    else if (c.wait_status != 0)
        status = fail(err, ST_HELPER, "'%s': %s, %s", command, child_how(&c, how), c.last);
    if (c.ended)
        let_go(&c); /* a daemon that it started may still be of its group */
    else
        child_end(&c, 0);
    return status;
}
