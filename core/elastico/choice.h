/* choice.h - one option for each job: what a choice scores and uses, and the best one at prices.
 *
 * Jobs have options (configurations; waiting is one with no demand). An option is a row of a
 * demand table that jobs of one workload share. With R and the capacity as fractions of C_eff the
 * problem of the ElastiCo paper's (1)-(5), as a minimum, is
 *
 *     z* = min  Σ_j cost_j(c_j)     cost_j(c) = ω_j (1 - T_j(c)/T_j^max) + Γ_j(c)
 *          s.t. Σ_j size_j R_r(c_j) <= capacity_r     for every hard resource r
 *
 * A soft resource (SM time) may be exceeded: each unit of excess costs its ceiling, which is then
 * the highest price it can have, and the cost is part of the score. Everything here is a sum in
 * job order and a comparison; equal options go to the lower number. */
#ifndef COLOSIM_CHOICE_H
#define COLOSIM_CHOICE_H

#include "core/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    CHOICE_RES_MAX = 8,
    CHOICE_LANES = 4 /* demands of a row are padded to a multiple, so that loops have no odd ends */
};

/* What is within this much of its capacity fits: sums of fractions that add up to 1. */
#define CHOICE_SLACK 1e-9

/* The caller's arrays, borrowed. Every job has at least one allowed option. */
struct choice_problem {
    int32_t n_jobs, n_rows, n_res;
    const int32_t *begin;   /* (n_jobs + 1) options of job j: begin[j] .. begin[j + 1] - 1 */
    const int32_t *row;     /* (options) row of the tables; NULL: option i is row i */
    const double *demand;   /* (n_rows x n_res) >= 0, fraction of the whole capacity C_eff */
    const double *loss;     /* (n_rows) >= 0, 1 - T/T_max; 1 for waiting */
    const double *weight;   /* (n_jobs) >= 0, omega; NULL: 1 each */
    const double *size;     /* (n_jobs) > 0, multiplies the demand (GPUs of a gang); NULL: 1 each */
    const double *penalty;  /* (options) >= 0, Gamma; NULL: none */
    const bool *allowed;    /* (options) T >= L_j and fits a card; NULL: all */
    const double *capacity; /* (n_res) > 0, fraction of C_eff; NULL: 1 each */
    const double *ceiling;  /* (n_res) >= 0, price ceiling of a soft resource, INFINITY for a hard
                               one; NULL: all hard */
    const int32_t *current; /* (n_jobs) option that a job has now, -1: none; NULL: none have */
    double n_gpus;          /* of the cluster; for esp.step = sqrt alone */
};

struct choice {
    int32_t *option;              /* (n_jobs) */
    double usage[CHOICE_RES_MAX]; /* (n_res) fraction of C_eff */
    double score;                 /* costs, and the excess of soft resources */
};

/* A problem made ready for many looks at it. */
struct choice_set {
    const struct choice_problem *p;
    int32_t width;  /* n_res up to a multiple of CHOICE_LANES; what is added is 0 */
    double *demand; /* (n_rows x width) */
    int32_t *row;   /* (options) */
    double *cost;   /* (options) INFINITY where not allowed */
    double *rent;   /* (n_rows) Σ_r price_r demand_r of a row, at rent_price */
    double rent_price[CHOICE_RES_MAX]; /* the last prices looked at; NAN: none yet */
    double score_max;                  /* no choice scores more */
    int32_t n_jobs_room, n_options_room, n_rows_room;
    double capacity[CHOICE_RES_MAX]; /* INFINITY beyond n_res */
    double ceiling[CHOICE_RES_MAX];
};

/* Room for problems up to these sizes, from the arena. False when memory is out. */
bool choice_set_init(struct choice_set *s, int32_t n_jobs, int32_t n_options, int32_t n_rows,
                     struct arena *a);
bool choice_init(struct choice *c, int32_t n_jobs, struct arena *a);
/* Borrows p until the next call. Cost O(n_rows + options). */
void choice_set_load(struct choice_set *s, const struct choice_problem *p);

/* The dual function, eq. (6)-(7) as a minimum: each job's option of least cost + size x rent.
 *
 * price (n_res) in, >= 0 and at most the ceiling; lambda in the paper
 * c     out, the options, what they use and score
 * Returns g(price) = Σ_j min_c [cost + Σ_r price_r size R_r] - Σ_r price_r capacity_r, which no
 * choice that fits scores below. The subgradient is usage - capacity.
 * Cost O(n_rows n_res + options). */
double choice_at_prices(struct choice_set *s, const double *price, struct choice *c);

/* Writes the rent of every row at the prices. Cost O(n_rows n_res). */
void choice_rents(struct choice_set *s, const double *price);
/* Usage and score of the options that are there. Cost O(n_jobs n_res). */
void choice_measure(const struct choice_set *s, struct choice *c);
/* Cost of what soft resources are exceeded by. */
double choice_excess_cost(const struct choice_set *s, const double *usage);
/* Overuse of hard resources, summed; 0 where they hold it. */
double choice_over(const struct choice_set *s, const double *usage);
void choice_copy(struct choice *to, const struct choice *from, int32_t n_jobs);

static inline const double *choice_demand(const struct choice_set *s, int32_t option)
{
    return s->demand + (size_t)s->row[option] * (size_t)s->width;
}
static inline double choice_size(const struct choice_set *s, int32_t job)
{
    return s->p->size == NULL ? 1 : s->p->size[job];
}
/* Score_j(c) of eq. (7) at the prices the last rents are of. */
static inline double choice_score(const struct choice_set *s, int32_t job, int32_t option)
{
    return s->cost[option] + choice_size(s, job) * s->rent[s->row[option]];
}

#endif
