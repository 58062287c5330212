/* outside.h - policies that are not part of the program: shared objects.
 *
 * A shared object exports const struct policy colosim_policy (core/cluster/policy.h) and calls the
 * functions of core/ that the program has. It stays loaded until the program ends. */
#ifndef COLOSIM_OUTSIDE_H
#define COLOSIM_OUTSIDE_H

#include "core/cluster/policy.h"

/* ./mine.so is one; a bare name is none. */
bool outside_is_path(const char *name);
/* ST_USAGE says why it is none: not there, no such symbol, built against other headers, or named as
 * one of ours. */
enum status outside_load(const char *path, const struct policy **out, struct error *err) MUST_USE;

#endif
