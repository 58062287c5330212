/* exec_policy.h - a policy that is a program of its own, in any language: exec:PROGRAM.
 *
 * It reads JSON lines on its stdin: one hello, then a view per pass, each of which it answers with
 * one plan on its stdout (docs/outside.md). What it plans must be possible: a start that
 * does not fit, a job that does not wait, an answer that is none or too late end the run. */
#ifndef COLOSIM_EXEC_POLICY_H
#define COLOSIM_EXEC_POLICY_H

#include "core/cluster/policy.h"
#include "sim/run/talker.h"

enum { EXEC_PROTOCOL = 1 };

/* What its init is given as its configuration; the run owns the child. */
struct exec_config {
    const char *name; /* exec:PROGRAM */
    double timeout_s;
    const struct param_group *groups; /* (n_groups) the run's settings, told in the hello */
    int n_groups;
    struct talker *child;
};

bool exec_is(const char *name);
/* Under that name; must outlive what it is used for. */
struct policy exec_policy(const char *name);

#endif
