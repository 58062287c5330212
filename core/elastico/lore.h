/* lore.h - which configurations have been profiled, and the queue of those that are to be (§4.1,
 * §5.7 of the ElastiCo paper).
 *
 * A pair is a configuration of a workload. A job that arrives in a profiled one is a hit, else a
 * miss, and a miss asks for a profile. Each takes its time on one of the GPUs kept for it, outside
 * the cluster, in the order asked. Behind those that jobs arrived in come the others of their
 * families, nearest first: the configurations of the same workload at the same sequence length,
 * without which there is nothing to choose from. A profile holds for every type of card.
 *
 * Until it is there the nearest profiled configuration of the workload stands in for the one that a
 * job was submitted in, with the larger memory of that one's neighbours; nobody may share a card
 * with it. Where nothing of the workload was profiled it is as fast as itself, on a whole card. No
 * other configuration is a choice before it was profiled. What cannot run at all, or on no card of
 * the cluster, is seen at once and not asked for; who submitted such a one needs the smallest. */
#ifndef COLOSIM_LORE_H
#define COLOSIM_LORE_H

#include "core/base/param.h"
#include "core/base/table.h"
#include "core/elastico/rst.h"

enum lore_known { LORE_ALL, LORE_STORE };
enum lore_what { LORE_FAMILY, LORE_ARRIVED };
extern const char *const lore_known_names[], *const lore_what_names[]; /* NULL-terminated */

struct lore_config {
    double each_s;     /* one profile takes */
    int64_t gpus;      /* 0: as many as are wanted */
    int known;         /* enum lore_known */
    int what;          /* enum lore_what */
    const char *store; /* a CSV file; NULL for none */
};

enum lore_state { LORE_UNASKED, LORE_IN_FAMILY, LORE_WANTED, LORE_ON_GPU, LORE_PROFILED };

/* Configurations in the order in which they came; each at most once. */
struct lore_line {
    int32_t *config; /* (n_configs) */
    int32_t next, end;
};

struct lore {
    const struct lore_config *config;
    const struct rst *truth; /* borrowed */
    struct rst known;        /* as far as it is known: what choices are made of */
    int32_t most_mib;        /* that a job can have of the cluster's largest card */

    /* (n_configs) */
    uint8_t *state; /* enum lore_state */
    bool *profiled, *family, *left;
    int32_t *stand_in;
    int32_t *n_missed;   /* jobs that came in it before it was profiled */
    int64_t *arrived_us; /* the sum of their times */
    int64_t *end_us;
    struct lore_line wanted, families, running; /* the last in the order of their ends */

    int32_t n_jobs;
    /* (n_jobs) */
    int32_t *needed; /* configuration that has to be known; -1 outside the catalog */
    double *rate;
    int32_t *mem_mib;

    bool news; /* something was learnt since the last lore_settle */
    int64_t n_hits, n_misses;
    int64_t n_waited; /* misses whose profile has come, and the time until then */
    double waited_s;
};

/* The table has columns workload and config; none is an empty store. ST_INPUT names file, line
 * and column. Memory is the arena's; everything else is borrowed. */
enum status lore_init(struct lore *l, const struct lore_config *config, const struct rst *rst,
                      const struct job_table *t, const struct cluster *c, const struct table *store,
                      struct arena *arena, struct error *err) MUST_USE;

/* Profiles that have ended by now are known, and the next ones run. To be called first. */
void lore_advance(struct lore *l, int64_t now_us);
/* A job came. Cost O(family^2) the first time. */
void lore_arrive(struct lore *l, int32_t job, int64_t now_us);
/* The same of one that runs already: neither hit nor miss. */
void lore_ask(struct lore *l, int32_t job, int64_t now_us);
/* When the next profile ends; TIME_NEVER. */
static inline int64_t lore_next_us(const struct lore *l)
{
    return l->running.next < l->running.end ? l->end_us[l->running.config[l->running.next]]
                                            : TIME_NEVER;
}
/* Brings known up to date. Cost O(jobs), and O(configurations^2) for those that need a stand-in. */
void lore_settle(struct lore *l);
/* GPU time spent by now. */
double lore_gpu_s(const struct lore *l, int64_t now_us);
/* Writes the next most of those that are to be profiled, running ones first; returns how many. */
int32_t lore_next(const struct lore *l, int32_t most, int32_t *config);

#endif
