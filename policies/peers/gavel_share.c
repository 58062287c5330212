#include "policies/peers/gavel_share.h"

#include <math.h>

/* The GPU time that job j asks for at this level; it falls as the level rises. */
typedef double (*ask_fn)(const void *context, int32_t job, double level);

struct fill {
    const struct gavel_jobs *jobs;
    double *cap; /* (n) GPUs at most */
    ask_fn ask;
    const void *context;
};

/* By the jobs of one type, -1: by all. */
static double asked(const struct fill *f, int32_t pool, double level)
{
    double sum = 0;
    for (int32_t j = 0; j < f->jobs->n; j++)
        if (pool < 0 || f->jobs->pool[j] == pool)
            sum += fmin(f->cap[j], f->ask(f->context, j, level));
    return sum;
}

/* The lowest level at which the room is enough, and everybody's cap at it. */
static void settle(const struct fill *f, int32_t pool, double room)
{
    if (asked(f, pool, 0) <= room)
        return;
    double low = 0, high = 1;
    while (asked(f, pool, high) > room && high < 1e300)
        high *= 2;
    while (high - low > 1e-12 * high) {
        double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
            break;
        *(asked(f, pool, middle) > room ? &low : &high) = middle;
    }
    for (int32_t j = 0; j < f->jobs->n; j++)
        if (pool < 0 || f->jobs->pool[j] == pool)
            f->cap[j] = fmin(f->cap[j], f->ask(f->context, j, high));
}

/* First each type on its own, then all together: types are disjoint and untied jobs may use any, so
 * these limits are all there are. */
static bool share(const struct gavel_jobs *jobs, ask_fn ask, const void *context, double *x,
                  struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    struct fill f = {jobs, arena_alloc(scratch, (size_t)jobs->n, sizeof *f.cap), ask, context};
    for (int32_t j = 0; f.cap != NULL && j < jobs->n; j++)
        f.cap[j] = jobs->gpus[j];
    for (int32_t pool = 0; f.cap != NULL && pool < jobs->n_pools; pool++)
        settle(&f, pool, jobs->room[pool]);
    if (f.cap != NULL)
        settle(&f, -1, jobs->room_all);
    for (int32_t j = 0; f.cap != NULL && j < jobs->n; j++)
        x[j] = f.cap[j] / jobs->gpus[j];
    bool done = f.cap != NULL;
    arena_reset(scratch, mark);
    return done;
}

static double same_for_all(const void *context, int32_t job, double level)
{
    (void)context;
    (void)job;
    return 1 / level;
}

bool gavel_max_min(const struct gavel_jobs *jobs, double *x, struct arena *scratch)
{
    return share(jobs, same_for_all, NULL, x, scratch);
}

struct finish_times {
    const double *gpus, *age_s, *left_s, *alone_s;
};

/* What it needs to have a rho of this level. */
static double to_be_in_time(const void *context, int32_t job, double level)
{
    const struct finish_times *t = context;
    double time_s = level * t->alone_s[job] - t->age_s[job];
    return time_s > 0 ? t->gpus[job] * t->left_s[job] / time_s : INFINITY;
}

bool gavel_finish_time(const struct gavel_jobs *jobs, const double *age_s, const double *left_s,
                       const double *alone_s, double *x, struct arena *scratch)
{
    struct finish_times times = {jobs->gpus, age_s, left_s, alone_s};
    return share(jobs, to_be_in_time, &times, x, scratch);
}
