/* workload.h - the catalog: workloads, their knobs, and the configurations these make (RST, §3.1 of
 * the ElastiCo paper).
 *
 * A workload's configurations are the Cartesian product of its knobs' values, numbered through the
 * whole catalog: those of workload w are the rows config_begin[w] .. config_begin[w + 1] - 1, later
 * knobs (in the order of enum knob) varying fastest. What a configuration costs and gives is in
 * profile.h, out of the models or measurements kept here; what it means for a job is in rst.h.
 * Catalogs are read by catalog_file.h and do not change after that. */
#ifndef COLOSIM_WORKLOAD_H
#define COLOSIM_WORKLOAD_H

#include "core/base/arena.h"
#include "core/base/names.h"
#include "core/elastico/parallel.h"

#include <stdbool.h>
#include <stdint.h>

enum knob {
    KNOB_BS,  /* batch size; training: micro-batch, the global batch stays (accumulation steps) */
    KNOB_SL,  /* tokens a sequence may have: the engine's limit and its KV reservation */
    KNOB_CK,  /* 0 or 1: activation checkpointing */
    KNOB_AMP, /* 0 or 1: mixed precision */
    KNOB_PC,  /* 0 or 1: prefix caching */
    KNOB_MU,  /* GPU memory the engine takes, as a fraction of CARD_REFERENCE's */
    KNOB_TP,  /* cards that a layer is cut over; parallel.h, as the next */
    KNOB_PP,  /* stages that the layers are cut into */
    N_KNOBS
};
extern const char *const knob_names[N_KNOBS + 1]; /* "bs", …; NULL-terminated */

/* What is known of a configuration on one type of card; fractions are 0..1, NAN is not known. */
#define MEASURES(X)                                                                                \
    X(rate)      /* T: work alone, in the workload's unit per second */                            \
    X(sm)        /* SM active */                                                                   \
    X(occupancy) /* SM occupancy */                                                                \
    X(tensor)    /* tensor pipes active */                                                         \
    X(dram)      /* DRAM active */                                                                 \
    X(host)      /* host-bound fraction */                                                         \
    X(cpu)       /* cores */                                                                       \
    X(ram_mib)   /* of host memory */                                                              \
    X(step_s)    /* one optimizer step, one token of the whole batch */                            \
    X(kernel_s)  /* mean kernel length */
struct measures {
#define X(name) double *name;
    MEASURES(X)
#undef X
};

enum workload_source { SOURCE_TRAIN, SOURCE_INFER, SOURCE_MEASURED };

/* The coefficients of the two parametric models (formulas in profile.c), by their names in the
 * JSON. Each has a mark: M measured, S scaled from a measurement on other hardware, D derived from
 * specifications, F fitted, A assumed, P the paper's. */
#define TRAIN_COEFFICIENTS(X)                                                                      \
    X(rate_inf)    /* samples/s at saturation, FP32/TF32 */                                        \
    X(amp_speedup) /* of rate_inf */                                                               \
    X(bs_half)     /* samples: half of rate_inf is reached there */                                \
    X(launch_amp)  /* mixed precision multiplies the part of a step that is not the GPU's */       \
    X(ck_cost)     /* part of rate_inf lost */                                                     \
    X(flop)        /* of one sample */                                                             \
    X(fb_static)   /* GiB */                                                                       \
    X(fb_batch)    /* GiB at the largest batch */                                                  \
    X(fb_amp)      /* mixed precision multiplies fb_batch */                                       \
    X(fb_ck)       /* checkpointing multiplies fb_batch */                                         \
    X(fb_floor)    /* GiB, a soft minimum */                                                       \
    X(sm)          /* SM active at saturation */                                                   \
    X(sm_launch)   /* of sm, while launch-bound */                                                 \
    X(occupancy)   /* of SM active */                                                              \
    X(dram)        /* DRAM active at saturation, FP32/TF32 */                                      \
    X(dram_amp)    /* the same, mixed precision */                                                 \
    X(tensor_eff)  /* part of the peak that tensor pipes reach while active */                     \
    X(host)        /* host-bound fraction at rate_inf */                                           \
    X(cpu)         /* cores at rest */                                                             \
    X(cpu_rate)    /* samples/s that one more core feeds */                                        \
    X(ram)         /* GiB */
#define INFER_COEFFICIENTS(X)                                                                      \
    X(weight_bytes)                                                                                \
    X(kv_bytes) /* of one token */                                                                 \
    X(bw_eff)   /* part of CARD_REFERENCE's bandwidth reached while decoding */                    \
    X(host_s)   /* of one decode step */                                                           \
    X(flop_eff) /* part of the FP16 peak reached while prefilling */

enum { COEFFICIENTS_MAX = 24 };
union workload_model {
    struct train_model {
#define X(name) double name;
        TRAIN_COEFFICIENTS(X)
    } train;
    struct infer_model {
        INFER_COEFFICIENTS(X)
#undef X
    } infer;
};

/* Measured speeds of a workload on several GPUs, in any unit; both ascending. */
struct scaling {
    int32_t n;
    double *gpus, *speed; /* (n) */
};

struct workloads {
    char name[32]; /* of the catalog */
    int32_t n, n_configs;
    struct names names; /* a workload's row number is the id of its name */

    /* (n) */
    uint8_t *kind;                    /* enum job_kind */
    uint8_t *source;                  /* enum workload_source */
    double *params;                   /* of the network; NAN where not known */
    const char **unit;                /* what the rate counts: "img", "token" */
    int32_t *config_begin;            /* (n + 1) */
    int32_t *initial;                 /* the default configuration: no AMP, no checkpointing, … */
    int32_t (*n_values)[N_KNOBS];     /* 1 where it is no knob of the workload */
    int32_t (*stride)[N_KNOBS];       /* between configurations that differ by one knob's step */
    const double *(*values)[N_KNOBS]; /* ascending; NULL where it is no knob of the workload */
    union workload_model *model;      /* zeros where measured */
    char (*mark)[COEFFICIENTS_MAX];   /* of each coefficient in the order of its list */
    struct scaling *scaling;          /* no points where GPU counts were not measured */
    int32_t *card;                    /* where it was measured, row of card_table; -1 for models */
    struct parallel *parallel;        /* batch 0: its GPU counts scale by scaling or an exponent */
    char (*parallel_mark)[PARALLEL_MARKS];
    const char **note; /* sources in words; "" for none */

    /* (n_configs) */
    int32_t *workload;
    double (*value)[N_KNOBS];         /* NAN where it is no knob of the workload */
    bool *profiled;                   /* false: measured workloads only, a neighbour stands in */
    int32_t *fb_mib;                  /* measured workloads only */
    int32_t *nic_mbps, *storage_mbps; /* what each card takes of its node's bandwidths; 0 */
    struct measures measured;         /* measured workloads only */

    struct arena arena; /* owns it all but the names */
};
void workloads_free(struct workloads *w);

/* The row of that name, -1 for none. */
int32_t workload_find(const struct workloads *w, const char *name, size_t length);
/* Which value a configuration's knob has, counted from 0. */
static inline int32_t config_index(const struct workloads *w, int32_t config, enum knob knob)
{
    int32_t wl = w->workload[config];
    return (config - w->config_begin[wl]) / w->stride[wl][knob] % w->n_values[wl][knob];
}
/* The same configuration with another value of one knob. */
static inline int32_t config_with(const struct workloads *w, int32_t config, enum knob knob,
                                  int32_t index)
{
    int32_t wl = w->workload[config];
    return config + (index - config_index(w, config, knob)) * w->stride[wl][knob];
}
/* The configuration of a workload that a text means: "bs=128 amp=1", in any order, separated by
 * blanks, commas or semicolons; knobs left out are the default's. -1 where it is none; *exact is
 * false where a value is not listed and the nearest stands in. */
int32_t config_parse(const struct workloads *w, int32_t workload, const char *text, size_t length,
                     bool *exact);
/* "bs=128 ck=0 amp=1"; returns buffer. */
const char *config_text(const struct workloads *w, int32_t config, char buffer[96]);
/* Do the workload's configurations say how it lies on its cards? */
static inline bool workload_is_parallel(const struct workloads *w, int32_t workload)
{
    return w->parallel[workload].batch > 0;
}
/* Degrees of a configuration; 1 where it has no such knob. */
static inline int32_t config_degree(const struct workloads *w, int32_t config, enum knob knob)
{
    return w->value[config][knob] > 1 ? (int32_t)w->value[config][knob] : 1;
}
/* What n GPUs are worth over n0 by the workload's scaling: straight lines in logarithms between its
 * points, and on from the last two. NAN where there are fewer than two. */
double workload_scaling(const struct workloads *w, int32_t workload, double n, double n0);
/* The nearest configuration of the same workload that is profiled (n_configs): knobs normalised to
 * 0..1 over their values (batch size and lengths by their logarithms), ℓ2; ties to the lower
 * number. -1 where none was. */
int32_t config_nearest(const struct workloads *w, int32_t config, const bool *profiled);

#endif
