/* output.h - a file that is there whole or not at all.
 *
 * A regular file is written beside its place and renamed when every byte is down; "-" is standard
 * output, and what is no regular file (/dev/full, a pipe with a name) is written where it is. A
 * reader that went away (EPIPE) is no failure: the rest is not written and that is all. */
#ifndef COLOSIM_OUTPUT_H
#define COLOSIM_OUTPUT_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stdio.h>

struct output {
    FILE *file;      /* write here; its own errors need not be looked at */
    char *path;      /* where it goes, links followed */
    char *temporary; /* what is written until then; NULL: path itself */
    int fd;
    int error; /* errno of the first write that failed, 0 for none */
};

/* ST_OUTPUT names path and reason. o must stay where it is until output_close. */
enum status output_open(struct output *o, const char *path, struct error *err) MUST_USE;
/* A write failed: going on is of no use. */
static inline bool output_broken(const struct output *o) { return o->error != 0; }
/* Flushes, checks, closes and puts the file in its place; after a failure (so_far, returned as it
 * is) or one of its own it removes what it wrote. Safe on an output never opened. */
enum status output_close(struct output *o, enum status so_far, struct error *err) MUST_USE;

#endif
