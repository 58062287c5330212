/* vol_world.h - a Volcano session from a scenario in JSON, in the words of the vectors: nodes,
 * queues, jobs with tasks, tiers of plug-ins with what each is asked, actions, and what to expect.
 *
 * CPU in milli-cores, memory in bytes, GPUs (scalars "gpu") whole. What a scenario leaves out is:
 * weight 1, priority 0, 10 pods a node, min_available 1, open queues without limits, no roles. */
#ifndef COLOSIM_TESTS_VOL_WORLD_H
#define COLOSIM_TESTS_VOL_WORLD_H

#include "policies/volcano/vol_state.h"

#include <jansson.h>

struct vol_world {
    struct vol_config config;
    struct vol_state s;
    struct vol_roles roles;
    const char **node, **queue, **job, **task; /* names; of jobs and tasks "namespace/name" */
    const json_t **from;                       /* (n_tasks) the scenario's words for a task */
    const char *vetoed; /* the job that the plug-in "rejecter:NAME" rejects */
    struct arena arena;
};

/* jobs: those of the scenario, or of its cycles. Aborts the test where the scenario is not
 * understood. */
void vol_world_load(struct vol_world *w, const json_t *scenario, const json_t *jobs);
/* Brings jobs first .. end - 1 of those loaded in, with their pods. */
void vol_world_come(struct vol_world *w, const json_t *jobs, int first, int end);
/* Runs the actions between open and close and compares with the expectation; the text of the first
 * difference is written to why, "" for none. */
void vol_world_run(struct vol_world *w, const json_t *actions, const json_t *expect, char why[512]);
void vol_world_free(struct vol_world *w);

/* A scenario written in JSON with ' for "; the caller gives it back with json_decref. */
json_t *vol_scenario_of(const char *text);
/* A scenario of kind "session", from beginning to end. */
void vol_scenario_run(const json_t *scenario, char why[512]);

#endif
