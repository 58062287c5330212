#include "tests/pai_run.h"

#include "policies/registry.h"

#include <stdlib.h>

enum status pai_run(struct job_table *jobs, struct cluster *cluster, const char *const *settings,
                    bool check, struct pai_outcome *out, struct error *err)
{
    const struct policy *policy = policy_find("pai-sim");
    struct arena arena = {0};
    enum status status = ST_OK;
    void *config = calloc(1, policy->config_size);
    const char *name[PAI_N_METRICS];
    double value[PAI_N_METRICS];

    *out = (struct pai_outcome){.jobs_done = 0};
    if (config == NULL) {
        status = fail_memory(err);
        goto out;
    }
    struct param_group group = {policy->name, policy->params, config};
    param_defaults(&group);
    for (int i = 0; settings[i] != NULL; i++)
        TRY_OUT(param_set_pair(&group, 1, settings[i], &arena, err));
    struct preparation preparation = {.jobs = jobs, .cluster = cluster};
    TRY_OUT(policy->prepare(config, &preparation, err));
    struct engine_setup setup = {.policy = policy,
                                 .policy_config = config,
                                 .jobs = jobs,
                                 .cluster = cluster,
                                 .rules = {.mode = PLACE_FIRST_FIT, .pool = -1, .share_max = 1},
                                 .check = check};
    TRY_OUT(engine_run(&setup, &out->log, err));
    if (policy->metrics(jobs, name, value, PAI_N_METRICS) != PAI_N_METRICS) {
        status = fail(err, ST_CHECK, "pai-sim gives other than %d metrics", PAI_N_METRICS);
        goto out;
    }
    out->jobs_done = value[0];
    out->avg_jct_s = value[1];
    out->wait_s = value[2];
    out->makespan_s = value[3];
out:
    free(config);
    arena_free(&arena);
    return status;
}
