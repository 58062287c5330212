/* state.h - a live cluster as JSON: what it has, who runs where, and who waits.
 *
 * docs/decide.md lists the keys; the words are those of the native trace and of exec_policy.h.
 * Running jobs are the rows 0 .. n_running - 1 of the job table, in order of start; the waiting
 * ones follow in order of arrival. */
#ifndef COLOSIM_STATE_H
#define COLOSIM_STATE_H

#include "core/cluster/policy.h"
#include "traces/trace.h"

struct state {
    struct trace trace; /* the jobs; a duration is the work left, rounded */
    struct cluster cluster;
    double now_s; /* all its times are on one clock; 0 where it has none */
    int32_t n_running;
    struct standing {
        int32_t *where; /* (n) cards, or ~node for a job without GPUs */
        int32_t n;
        const char *config; /* NULL: as submitted */
        double speed;       /* NAN: not measured */
        int64_t line;
    } * standing;                     /* (n_running) */
    double *left_s;                   /* (n_jobs) */
    double *start_s, *attained_gpu_s; /* (n_running) */
    struct memory memory;
    struct table profiled; /* workload and config of what is known; no columns: all is */
    const char *name;      /* of the input, for messages; borrowed */
    struct arena arena;    /* owns all but trace, cluster and profiled */
};

/* ST_INPUT says "stdin:LINE: what was expected", with name for stdin. The caller frees in any
 * case. */
enum status state_parse(const char *text, size_t length, const char *name, struct state *out,
                        struct error *err) MUST_USE;
void state_free(struct state *s);

#endif
