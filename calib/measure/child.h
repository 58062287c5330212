/* child.h - a shell command in a session of its own, its lines, and its end. */
#ifndef COLOSIM_CHILD_H
#define COLOSIM_CHILD_H

#include "calib/measure/stop.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { CHILD_ENV_MAX = 16, CHILD_LINE_MAX = 4096 };

/* What is added to the environment; an entry without '=' is taken out. All-zero is none. */
struct child_env {
    int n;
    char *entry[CHILD_ENV_MAX];
};
enum status child_env_add(struct child_env *e, struct error *err, const char *format, ...)
    PRINTF_LIKE(3, 4) MUST_USE;
void child_env_free(struct child_env *e);

struct child {
    pid_t pid;   /* and its session and group; 0: none was started */
    int in, out; /* its standard input, and both of its outputs; -1 when closed */
    int log;     /* where every line goes as well; -1: nowhere */
    bool ended;
    int wait_status; /* as waitpid gives it, once ended */
    char buffer[CHILD_LINE_MAX];
    size_t n, taken;
    char last[256]; /* the last line that was not blank, cut */
};

/* log may be NULL. The child dies with us. c is empty after a failure. */
enum status child_start(struct child *c, const char *command, const struct child_env *env,
                        const char *log, struct error *err) MUST_USE;
/* The next whole line that is there, without its end and borrowed until the next call; NULL when
 * none is. Longer lines than CHILD_LINE_MAX come in pieces. Does not wait. */
char *child_line(struct child *c);
/* What standard input gets; a child that does not read loses it. */
void child_say(struct child *c, const char *text);
/* Has it ended? Does not wait. */
bool child_ended(struct child *c);
/* Waits up to that long for its end; what it says meanwhile is read. */
bool child_wait(struct child *c, struct stop *stop, double seconds);
/* SIGTERM to its group, SIGKILL after grace_s, and closes everything. Safe on an empty one. */
void child_end(struct child *c, double grace_s);
/* "exit 3", "signal 9". */
const char *child_how(const struct child *c, char buffer[32]);

/* Runs a command to its end with that input and keeps the first size - 1 bytes of what it says.
 * ST_HELPER when it cannot be had (exit 127), does not end in time, or ends badly. What it left
 * running goes on: it may be a daemon. */
enum status child_ask(const char *command, const struct child_env *env, const char *input,
                      double seconds, char *answer, size_t size, struct error *err) MUST_USE;

#endif
