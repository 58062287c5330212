/* colocate.h - two classes of jobs on the same cards: hosts, who come first, and guests on the
 * rest.
 *
 * SIRIUS, GPUColo, Mudi and AntMan differ in who is host and in what the two keep beside each
 * other; the rest is here. A card holds one job, or one host and one guest that both ask for whole
 * cards. In each pass hosts start in order of arrival, then guests; one that does not fit holds up
 * nobody. Cards that are free go first, then cards of the other class, by the rule's worth. The
 * speed of a job is that of its slowest card. Jobs of several tasks or of a fraction of a GPU never
 * share. */
#ifndef COLOSIM_COLOCATE_H
#define COLOSIM_COLOCATE_H

#include "core/cluster/policy.h"

/* What the two keep of their speeds on one card; below 0 for the guest: they may not share. */
struct kept {
    double host, guest;
};

struct colocation {
    bool (*is_host)(const void *context, const struct job_table *t, int32_t job);
    struct kept (*kept)(const void *context, const struct view *v, int32_t host, int32_t guest,
                        int32_t card);
    bool cluster_wide; /* the card on which the guest keeps most, of all; else the lowest */
    bool hosts_evict;  /* a host that finds no place sends the guests back to the queue whose cards
                          it  would take if there were none */
};

struct colocate {
    const struct colocation *rule;
    const void *context;    /* for the rule's functions */
    int64_t grow_us;        /* a guest that might go faster does so only after this */
    int64_t spill_us;       /* a guest stands still so long when a host comes and the card's memory
                               is short */
    int32_t n, *job;        /* (n_jobs) in the system, in order of arrival */
    bool *host;             /* (n_jobs) */
    int32_t *shape;         /* (n_jobs) all that starting depends on */
    int64_t *no_fit, stamp; /* (n_shapes) when it last did not fit; moves on with every release */
    int64_t *displaces;     /* (n_shapes) when it was last asked whether it would fit without
                               guests: positive for yes */
    int32_t n_open, *open;  /* (n_cards) cards with one job or none */
    int32_t n_guests_alone; /* cards with a guest and no host */
    int64_t *held_us;       /* (n_jobs) a guest keeps its speed, or stands still, until then */
    bool *rises;            /* (n_jobs) and goes faster after that */
};

/* is_host for the systems whose hosts are inference. */
bool colocate_infers(const void *context, const struct job_table *t, int32_t job);

bool colocate_init(struct colocate *c, const struct colocation *rule, const void *context,
                   const struct view *v, struct arena *arena);

/* The pass of a policy that sets speeds. Cost O(jobs in the system + cards), and for each shape
 * that did not fit yet O(cards with one job or none). Sets plan->failed when memory is out. */
void colocate_pass(struct colocate *c, const struct view *v, struct plan *plan);

#endif
