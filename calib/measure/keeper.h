/* keeper.h - work whose children end with it, however it ends.
 *
 * The work is done in a child of ours. Both processes adopt what their own descendants leave
 * behind (PR_SET_CHILD_SUBREAPER), daemons included. The worker is told when we die and cleans up
 * in order; we are left when the worker dies and kill what it left. Only killing both at the same
 * instant leaves something, which mps_sweep finds the next time. */
#ifndef COLOSIM_KEEPER_H
#define COLOSIM_KEEPER_H

#include "core/base/status.h"

#include <stdbool.h>
#include <sys/types.h>

/* Runs work(context) in a child and returns the exit code to end with: what work returned, or 128 +
 * the signal that ended it. SIGINT and SIGTERM are passed on to it. The work is to return its exit
 * code, and ends what it started. */
int keeper_run(int (*work)(void *context), void *context);

/* Our children now; their number, at most max. */
int keeper_children(pid_t *out, int max);
/* Kills every child there is but those n, and theirs, as they become ours. */
void keeper_kill_children(const pid_t *spared, int n);

/* Is there such a process, and is it no zombie? In a container nobody may reap those that the first
 * process adopts. */
bool keeper_lives(pid_t pid);

/* The child side of a fork whose process must not outlive its parent. */
void keeper_die_with(pid_t parent, int signal);

#endif
