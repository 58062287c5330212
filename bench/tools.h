/* tools.h - what benches share: a clock, an end on errors, and a folder for files. */
#ifndef COLOSIM_BENCH_TOOLS_H
#define COLOSIM_BENCH_TOOLS_H

#include "core/base/status.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* CPU seconds of this thread: those that OpenBLAS starts wait for work in a loop. */
static inline double cpu_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline void must(enum status status, const struct error *err)
{
    if (status == ST_OK)
        return;
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, err->text);
    exit((int)status);
}

/* A folder of its own under TMPDIR. */
enum { SCRATCH_MAX = 200 };
static inline bool scratch_folder(char path[SCRATCH_MAX], const char *bench)
{
    const char *under = getenv("TMPDIR");
    snprintf(path, SCRATCH_MAX, "%s/%s-XXXXXX", under != NULL ? under : P_tmpdir, bench);
    return mkdtemp(path) != NULL;
}

#endif
