/* vol_config.h - which Volcano plug-ins are asked what, in which tier, and with which arguments. */
#ifndef COLOSIM_VOL_CONFIG_H
#define COLOSIM_VOL_CONFIG_H

#include "core/cluster/place.h"
#include "policies/volcano/vgpu.h"
#include "policies/volcano/vol_score.h"

enum vol_plugin {
    VOL_PRIORITY,
    VOL_GANG,
    VOL_CONFORMANCE,
    VOL_OVERCOMMIT,
    VOL_DRF,
    VOL_PREDICATES,
    VOL_PROPORTION,
    VOL_NODEORDER,
    VOL_BINPACK,
    VOL_EXTENDER, /* somebody outside is asked: vol_config.veto */
    N_VOL_PLUGINS
};

/* What a plug-in may be asked; a bit each. */
enum vol_callback {
    VOL_ON_QUEUE_ORDER = 1 << 0,
    VOL_ON_JOB_ORDER = 1 << 1,
    VOL_ON_TASK_ORDER = 1 << 2,
    VOL_ON_JOB_READY = 1 << 3,
    VOL_ON_JOB_PIPELINED = 1 << 4,
    VOL_ON_JOB_STARVING = 1 << 5,
    VOL_ON_JOB_ENQUEUED = 1 << 6,
    VOL_ON_ALLOCATABLE = 1 << 7,
    VOL_ON_OVERUSED = 1 << 8,
    VOL_ON_PREEMPTABLE = 1 << 9,
    VOL_ON_RECLAIMABLE = 1 << 10,
    VOL_ON_PREEMPTIVE = 1 << 11,
    VOL_ON_PREDICATE = 1 << 12,
    VOL_ON_NODE_ORDER = 1 << 13,
    VOL_ON_ALL = (1 << 14) - 1
};

enum { VOL_USES_MAX = 16 };

struct vol_config {
    struct vol_use {
        enum vol_plugin plugin;
        int tier;
        int on;          /* callbacks */
    } use[VOL_USES_MAX]; /* (n_uses) in order of tier, then as they are asked */
    int n_uses;
    struct vol_weights weights; /* those of plug-ins that are not on do not count */
    double overcommit_factor;   /* below 1 is 1.2 */
    enum vgpu_order card_order;
    double card_weight;  /* of the cards' score among the nodes' */
    bool spread_members; /* members of one group on different cards */
    gsl_rng *rng;        /* draws among equally good nodes; NULL: the lowest number */
    bool (*veto)(const void *context, int32_t job);
    const void *veto_context;
};

/* The callbacks that are on for a plug-in. */
int vol_on(const struct vol_config *c, enum vol_plugin plugin);

/* The two sets of plug-ins that are called Volcano's default, in the tiers they come in: compiled
 * in, and of the Helm chart. gates: of VOL_OVERCOMMIT and VOL_PROPORTION, a bit each, those asked
 * about admission. Node scores have the weights of the plug-ins' defaults. */
enum vol_profile { VOL_COMPILED, VOL_HELM, VOL_HELM_GPUBINPACK };
void vol_profile(enum vol_profile profile, unsigned gates, struct vol_config *out);

#endif
