/* pollux_curves.h - the goodput of every job by the number of its GPUs, worked out once.
 *
 * A job's parameters come from a table of models by its workload's name, else from the built-in
 * ones (goodput_model); offline inference has the one of that name unless the table names its
 * workload. */
#ifndef COLOSIM_POLLUX_CURVES_H
#define COLOSIM_POLLUX_CURVES_H

#include "core/cluster/policy.h"
#include "policies/peers/pollux_goodput.h"

struct curves {
    int32_t n, gpus_max;
    int32_t node_gpus; /* of the largest node */
    struct curve {
        const struct goodput *model;
        double *near, *far; /* (gpus_max + 1) on one node, across nodes */
    } * curve;              /* (n) */
    int32_t *of;            /* (n_jobs) */
};

/* models: rows of workload, alpha_c, beta_c, alpha_r, beta_r, alpha_n, beta_n, gamma, noise,
 * batch_0, batch_max, card_min, card_max; NULL for none, else it must outlive the curves. ST_INPUT
 * names the row and the column that is wrong. Scratch is used up to the end of the pass. */
enum status curves_init(struct curves *c, const struct table *models, int32_t gpus_max,
                        const struct view *v, struct arena *arena, struct error *err) MUST_USE;

/* Of a job on so many GPUs, on as few nodes as hold them; 0 where they cannot be fed. */
double curves_goodput(const struct curves *c, int32_t job, int32_t gpus);
/* Of an equal share of the cluster, which the artifact takes to be on one node; where so many GPUs
 * cannot be fed, of the most that can. */
double curves_equal(const struct curves *c, int32_t job, int32_t gpus);
/* Speed on so many GPUs, 1 or more: goodput over that as submitted. */
double curves_speed(const struct curves *c, const struct job_table *t, int32_t job, int32_t gpus,
                    bool on_one_node);

#endif
