/* models.h - what a run knows of workloads and of sharing: the catalog, its profiles, the jobs'
 * configurations, and the physics. */
#ifndef COLOSIM_MODELS_H
#define COLOSIM_MODELS_H

#include "core/elastico/iac.h"
#include "core/elastico/physics_file.h"
#include "sim/run/rates.h"
#include "traces/trace.h"

/* The settings that decide. */
enum belief_name { BELIEF_IAC, BELIEF_ORACLE, BELIEF_TABLE };
struct model_choice {
    const char *catalog; /* NULL: none */
    enum submitted submitted;
    enum truth truth;
    enum contention_set set;
    double m, scale_exp;
    bool believes; /* the policy asks what sharing costs */
    enum belief_name belief;
    const char *model; /* a file of the predictor or of the physics; NULL: the embedded ones */
    double error_frac; /* laid over the belief */
    uint64_t error_seed;
    double caution;            /* standard deviations added to it */
    const struct pairs *pairs; /* for truth and belief by table; NULL without */
};

struct models {
    struct model_choice choice;
    struct workloads workloads;
    struct profiles profiles;
    struct rst rst;
    struct physics physics; /* of the file, where it is one of physics */
    bool of_physics;
    struct contention contention;
    struct predictor {         /* of truth or belief iac, and the belief */
        struct iac_side *side; /* (rows of profiles) */
        struct iac_model model;
        struct iac_reader reader;
        struct belief_table table;
        int32_t *workload; /* (rows of profiles) id in pairs */
        struct belief truth, belief;
        bool believes; /* belief is there */
    } predictor;
    bool bound; /* false: there is no catalog, no job names a workload, or no card of the cluster
                   has profiles; the rest is empty then */
};

/* Must not move once opened. The caller closes in any case. */
enum status models_open(struct models *m, const struct model_choice *choice,
                        const struct job_table *t, const struct cluster *c,
                        struct error *err) MUST_USE;
/* Binds the jobs again, to another table. */
enum status models_bind(struct models *m, const struct job_table *t, const struct cluster *c,
                        struct error *err) MUST_USE;
void models_close(struct models *m);

/* Who is outside the catalog, and whose listed configuration is none, where that matters. */
enum status models_note(const struct models *m, struct trace *trace, struct error *err) MUST_USE;
/* The truth of the run. */
struct rates models_rates(struct models *m);
/* NULL where the policy has none to ask. */
static inline struct belief *models_belief(struct models *m)
{
    return m->bound && m->predictor.believes ? &m->predictor.belief : NULL;
}

#endif
