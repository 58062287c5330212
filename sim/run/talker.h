/* talker.h - a program of the user's that is asked and answers line by line.
 *
 * It is started through the shell, in a process group of its own, so that Ctrl-C reaches it through
 * us alone; its stderr is ours. */
#ifndef COLOSIM_TALKER_H
#define COLOSIM_TALKER_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct talker {
    const char *command; /* borrowed */
    pid_t pid;           /* 0: none */
    int to, from;
    double timeout_s; /* of one question and its answer */
    char *buffer;     /* what was read and not yet used */
    size_t n, n_used, capacity;
};

enum status talker_start(struct talker *c, const char *command, double timeout_s,
                         struct error *err) MUST_USE;
/* Both fail where the program ended (the text says how; ST_HELPER where it could not be found) or
 * takes longer than timeout_s. bytes hold the line's end. */
enum status talker_say(struct talker *c, const char *bytes, size_t n, struct error *err) MUST_USE;
/* The next line without its end, until the next call. */
enum status talker_hear(struct talker *c, const char **line, struct error *err) MUST_USE;
/* Closes its input and waits a second for its end, then kills it. Safe on one never started. */
void talker_stop(struct talker *c);

#endif
