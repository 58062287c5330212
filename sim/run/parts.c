#include "sim/run/parts.h"

#include "core/base/rng.h"
#include "policies/registry.h"
#include "sim/run/pairs_file.h"
#include "traces/table_file.h"

#include <assert.h>
#include <string.h>

/* (names of the job table) the id of each name in another set, -1 where it is not there. */
static enum status map_names(const struct job_table *t, const struct names *to, struct arena *arena,
                             const int32_t **out, struct error *err)
{
    int32_t *map = arena_alloc(arena, (size_t)t->names.n, sizeof *map);
    if (map == NULL)
        return fail_memory(err);
    for (int32_t i = 0; i < t->names.n; i++)
        map[i] = names_find(to, names_text(&t->names, i), names_length(&t->names, i));
    *out = map;
    return ST_OK;
}

/* Requests that list types ("V100M16|V100M32"): those of the cluster. NULL where none does. */
static enum status list_types(const struct job_table *t, const struct cluster *c,
                              struct arena *arena, const uint64_t **out, struct error *err)
{
    uint64_t *set = arena_alloc(arena, (size_t)t->names.n, sizeof *set);
    bool any = false;
    if (set == NULL)
        return fail_memory(err);
    for (int32_t i = 0; i < t->names.n; i++) {
        const char *text = names_text(&t->names, i);
        size_t length = names_length(&t->names, i);
        bool list = memchr(text, '|', length) != NULL;
        set[i] = list ? cluster_types_of(c, text, length) : 0;
        any = any || list;
    }
    *out = any ? set : NULL;
    return ST_OK;
}

enum status parts_rules(struct run_parts *parts, const struct run_request *q,
                        const struct policy *policy, const struct job_table *t,
                        const struct cluster *c, struct place_rules *out, struct error *err)
{
    *out = (struct place_rules){
        .mode = (enum place_mode)q->run.place, .pool = -1, .share_max = (int32_t)q->share.max_jobs};
    enum type_match match = (enum type_match)q->run.gpu_type_match;
    out->type_strict =
        match == MATCH_STRICT || (match == MATCH_AUTO && c->gpu_types.n > 1 && !policy->node_sum);
    TRY(map_names(t, &c->gpu_types, &parts->arena, &out->type_id, err));
    TRY(list_types(t, c, &parts->arena, &out->type_set, err));
    parts->rng = rng_stream((uint64_t)q->run.seed, "place");
    parts->policy_rng = rng_stream((uint64_t)q->run.seed, "policy");
    if (parts->rng == NULL || parts->policy_rng == NULL)
        return fail_memory(err);
    out->rng = parts->rng;
    if (q->run.pairs != NULL) {
        out->pairs = &parts->pairs;
        TRY(map_names(t, &parts->pairs.workloads, &parts->arena, &out->pair_id, err));
    }
    if ((enum truth)q->run.truth == TRUTH_TABLE && q->run.pairs == NULL)
        return fail(err, ST_USAGE,
                    "truth table needs --pairs FILE (model_a,model_b,speed_a,speed_b)");
    return ST_OK;
}

const void *parts_config(const struct run_request *q, const struct policy *policy)
{
    for (int i = 0; policies[i] != NULL; i++)
        if (policies[i] == policy)
            return q->policy_config[i];
    return policy == q->outside ? q->outside_config : NULL;
}

enum status parts_models(struct run_parts *parts, const struct run_request *q,
                         const struct policy *policy, struct trace *trace, const struct cluster *c,
                         struct error *err)
{
    struct model_choice choice = {.catalog = q->run.catalog,
                                  .submitted = (enum submitted)q->run.submitted,
                                  .truth = (enum truth)q->run.truth,
                                  .set = (enum contention_set)q->contention.set,
                                  .m = q->contention.m,
                                  .scale_exp = q->elastic.scale_exp,
                                  .believes = policy->believes,
                                  .belief = (enum belief_name)q->run.belief,
                                  .model = q->run.model,
                                  .error_frac = q->belief.error_frac,
                                  .error_seed = (uint64_t)q->belief.seed,
                                  .caution = q->belief.caution};
    if (q->run.pairs != NULL) {
        TRY(pairs_read(q->run.pairs, &parts->pairs, err));
        choice.pairs = &parts->pairs;
    }
    TRY(models_open(&parts->models, &choice, &trace->jobs, c, err));
    return models_note(&parts->models, trace, err);
}

enum status parts_tables(struct run_parts *parts, const struct run_request *q,
                         const struct policy *policy, struct error *err)
{
    for (int i = 0; policy->tables != NULL && policy->tables[i] != NULL; i++) {
        assert(i < POLICY_TABLES_MAX);
        for (const struct param *p = policy->params; p->name != NULL; p++) {
            char text[64];
            if (strcmp(p->name, policy->tables[i]) != 0)
                continue;
            const char *path = param_text(p, parts_config(q, policy), text);
            if (path[0] != '\0')
                TRY(table_read(path, &parts->tables[i], err));
        }
    }
    return ST_OK;
}

void parts_close(struct run_parts *parts)
{
    for (int i = 0; i < POLICY_TABLES_MAX; i++)
        table_free(&parts->tables[i]);
    pairs_free(&parts->pairs);
    talker_stop(&parts->child);
    models_close(&parts->models);
    if (parts->rng != NULL)
        gsl_rng_free(parts->rng);
    if (parts->policy_rng != NULL)
        gsl_rng_free(parts->policy_rng);
    arena_free(&parts->arena);
    *parts = (struct run_parts){0};
}
