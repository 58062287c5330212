/* scratch.h - where a bench keeps its files: a folder of its own under TMPDIR. */
#ifndef COLOSIM_BENCH_SCRATCH_H
#define COLOSIM_BENCH_SCRATCH_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { SCRATCH_MAX = 200 };

static inline bool scratch_folder(char path[SCRATCH_MAX], const char *bench)
{
    const char *under = getenv("TMPDIR");
    snprintf(path, SCRATCH_MAX, "%s/%s-XXXXXX", under != NULL ? under : P_tmpdir, bench);
    return mkdtemp(path) != NULL;
}

#endif
