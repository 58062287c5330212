/* iac.h - interference-aware co-location: how much slower a job runs beside another (section 3.3
 * of the paper).
 *
 * The slowdown S of a job beside a neighbour is its throughput alone over its throughput beside it,
 * >= 1. It is predicted from 36 numbers: 14 of the job, 14 of its neighbour, 8 of the pair
 * (iac_features). Where the paper counts means of "each hardware metric" there are four, since with
 * framebuffer there would be 37 inputs. Numbers that do not apply to a kind of job are 0 whatever
 * the caller wrote. Extras, off for the paper's table: kernel length and step time of both.
 *
 * Each number goes through a map before a model sees it: log1p or ranks for what spans decades,
 * then mean 0 and variance 1. The maps are part of the model. Predictions are rounded to 1e-6, so
 * that another BLAS kernel cannot change a decision.
 *
 * Nothing here allocates but init and load; a model may be read by several threads, each with a
 * reader of its own. */
#ifndef COLOSIM_IAC_H
#define COLOSIM_IAC_H

#include "core/cluster/job.h"
#include "core/elastico/dense.h"
#include "core/elastico/gbdt.h"

#include <stdbool.h>

/* One workload in one configuration, as profiled alone on one type of card. */
struct iac_side {
    double sm, occ, dram, tensor; /* 0..1: SM active and occupancy, DRAM and tensor cores active */
    double fb_mib, card_mib;      /* framebuffer used; the card's own memory */
    enum job_kind kind;
    double log10_params; /* of the model's parameter count */
    double rate;         /* T, in the workload's own unit per second */
    double bs, ck, amp;  /* training: micro-batch; checkpointing and mixed precision, 0 or 1 */
    double isl, osl;     /* inference: tokens in and out of a request */
    double rho;          /* inference: share of the prompt found in the prefix cache */
    double kernel_s;     /* mean length of a kernel; 0: not known */
    double step_s;       /* time of a step; 0: not known */
};

enum {
    IAC_SIDE = 14, /* features of a side */
    IAC_PAIR = 8,  /* features of the pair */
    IAC_FEATURES = 2 * IAC_SIDE + IAC_PAIR,
    IAC_EXTRAS = 2, /* more of a side, after the 36: i's, then j's */
    IAC_FEATURES_MAX = IAC_FEATURES + 2 * IAC_EXTRAS,
    IAC_NETS_MAX = 16,
    IAC_BATCH = 128 /* rows at a time; what fits in the caches together with the weights */
};

/* IAC_FEATURES numbers, IAC_FEATURES_MAX with extras, unmapped: first the job whose slowdown is
 * asked, i, then its neighbour j. */
void iac_features(const struct iac_side *i, const struct iac_side *j, bool extras, double *x);
/* "sm_i", "sm_j", "mean_sm". */
const char *iac_feature_name(int32_t feature, char buffer[32]);

enum iac_map_kind {
    IAC_MAP_PLAIN, /* x */
    IAC_MAP_LOG1P, /* ln(1 + x) */
    IAC_MAP_LOG,   /* ln x; x <= 0 is "not known" and maps to the mean */
    IAC_MAP_RANK,  /* place among the sorted distinct values of the training set, 0..1 */
    N_IAC_MAP_KINDS
};
extern const char *const iac_map_name[N_IAC_MAP_KINDS];

/* One map serves a number of both sides, so that roles can be swapped. */
struct iac_map {
    enum iac_map_kind kind;
    double mean, sd; /* after the transformation; sd 0: constant in training, maps to 0 */
    int32_t n_knots; /* IAC_MAP_RANK: 1 or more */
    double *knot;    /* (n_knots) ascending */
};
enum { IAC_MAPS = IAC_SIDE + IAC_PAIR + IAC_EXTRAS };
/* Which of the IAC_MAPS serves this feature. */
int32_t iac_map_of(int32_t feature);
/* "sm", "mean_sm", "step_s" */
const char *iac_map_title(int32_t map);
/* The kind a new map starts with. */
enum iac_map_kind iac_map_kind_of(int32_t map);
double iac_map_apply(const struct iac_map *map, double x);
/* Where x stands before mean and sd are taken off; false where it is not known. */
bool iac_map_transform(const struct iac_map *map, double x, double *out);
enum iac_form {
    IAC_DNN,    /* the mean of n_nets networks */
    IAC_LINEAR, /* max(1, exp(w x + b)) */
    IAC_GBDT,   /* max(1, exp(trees of x)) */
    N_IAC_FORMS
};
extern const char *const iac_form_name[N_IAC_FORMS];

struct iac_model {
    enum iac_form form;
    bool extras;
    struct iac_map map[IAC_MAPS];
    int32_t n_nets;
    struct dense_net net[IAC_NETS_MAX];    /* as learned */
    struct dense_fold fold[IAC_NETS_MAX];  /* for use; iac_fold */
    double weight[IAC_FEATURES_MAX], bias; /* IAC_LINEAR */
    struct gbdt trees;                     /* IAC_GBDT */
};
static inline int32_t iac_n_features(const struct iac_model *m)
{
    return m->extras ? IAC_FEATURES_MAX : IAC_FEATURES;
}
/* Makes fold[] of net[]. */
enum status iac_fold(struct iac_model *m, struct error *err) MUST_USE;
void iac_model_free(struct iac_model *m);

/* A question: the slowdown of one side beside another, both row numbers in an array of sides. */
struct iac_pair {
    int32_t of, beside;
};

/* A model together with the memory that asking it needs. */
struct iac_reader {
    const struct iac_model *model; /* borrowed */
    double *x, *scratch, *y;       /* x owns all three */
};
enum status iac_reader_init(struct iac_reader *r, const struct iac_model *model,
                            struct error *err) MUST_USE;
void iac_reader_free(struct iac_reader *r);

/* Maps features of n <= IAC_BATCH pairs: x (n x iac_n_features) out. */
void iac_map_rows(const struct iac_model *m, const struct iac_side *side, int32_t n,
                  const struct iac_pair *pair, double *x);
/* S of n pairs, in steps of IAC_BATCH.
 *
 * s      (n) out, >= 1, rounded to 1e-6
 * spread (n) out, standard deviation over the networks, 0 for one of them; may be NULL
 * Cost per pair: 36 maps and n_nets times the network. Allocates nothing, cannot fail. */
void iac_predict(struct iac_reader *r, const struct iac_side *side, int32_t n,
                 const struct iac_pair *pair, double *s, double *spread);
/* To a multiple of 1e-6. */
double iac_round(double s);

/* How much slowdown a job may be predicted to suffer, (11). */
enum iac_tau_form {
    IAC_TAU_FLOOR, /* never below 1 nor above T / L */
    IAC_TAU_PAPER  /* the letter: min(base, T / L) + min(beta (U / target - 1), beta_max) */
};
struct iac_tau {
    enum iac_tau_form form;
    double base, beta, beta_max, u_target; /* pure numbers */
};
/* rate_over_least: T_j(c) / L_j, INFINITY where nothing is promised. u: how much of the cluster is
 * in use and asked for, 1: just all of it. The letter of (11) lets S exceed T / L although its text
 * promises the floor, and falls below 1 when the cluster is idle; FLOOR is
 * max(1, min(T / L, base + clamp(beta (u / target - 1), -beta_max, beta_max))). */
double iac_tau(const struct iac_tau *t, double rate_over_least, double u);

#endif
