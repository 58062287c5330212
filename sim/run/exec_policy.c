#include "sim/run/exec_policy.h"

#include "core/base/units.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char prefix[] = "exec:";

struct exec {
    const struct exec_config *config;
    int64_t pass;
    bool *waits;      /* (n_jobs) submitted and not started, or sent back */
    int64_t *free;    /* (n_nodes) milli-GPUs, as said last */
    int32_t *started; /* (n_started) by the last plan */
    int32_t n_started;
};

bool exec_is(const char *name) { return strncmp(name, prefix, strlen(prefix)) == 0; }

/* Text that is no UTF-8 is null. */
static json_t *text_json(const char *text, size_t length)
{
    json_t *json = json_stringn(text, length);
    return json != NULL ? json : json_null();
}

static json_t *name_json(const struct names *names, int32_t id)
{
    return id < 0 ? json_null() : text_json(names_text(names, id), names_length(names, id));
}

/* As one line; takes the message. */
static enum status say(const struct exec *e, json_t *message, struct error *err)
{
    char *line = message != NULL ? json_dumps(message, JSON_COMPACT) : NULL;
    json_decref(message);
    if (line == NULL)
        return fail_memory(err);
    size_t n = strlen(line);
    line[n] = '\n'; /* the NUL is not sent */
    enum status status = talker_say(e->config->child, line, n + 1, err);
    free(line);
    return status;
}

static json_t *settings_json(const struct exec_config *c)
{
    json_t *settings = json_object();
    for (int g = 0; g < c->n_groups; g++)
        for (const struct param *p = c->groups[g].params; p != NULL && p->name != NULL; p++) {
            char key[128], value[64];
            const char *text = param_text(p, c->groups[g].config, value);
            json_object_set_new(settings, param_key(&c->groups[g], p, key),
                                text_json(text, strlen(text)));
        }
    return settings;
}

static json_t *nodes_json(const struct cluster *c)
{
    json_t *nodes = json_array();
    for (int32_t i = 0; i < c->n_nodes; i++)
        json_array_append_new(nodes,
                              json_pack("{s:i, s:o, s:f, s:o, s:o}", "node", i, "name",
                                        name_json(&c->names, i), "gpus", c->node_gpu_milli[i] / 1e3,
                                        "gpu_type", name_json(&c->gpu_types, c->node_type[i]),
                                        "pool", name_json(&c->pools, c->node_pool[i])));
    return nodes;
}

static enum status exec_init(void *state, const void *config, const struct view *v,
                             const struct place_rules *rules, struct arena *arena,
                             struct error *err)
{
    struct exec *e = state;
    size_t n = (size_t)v->jobs->n_jobs;
    (void)rules;
    e->config = config;
    e->waits = arena_alloc(arena, n, sizeof *e->waits);
    e->started = arena_alloc(arena, n, sizeof *e->started);
    e->free = arena_alloc(arena, (size_t)v->cluster->n_nodes, sizeof *e->free);
    if (e->waits == NULL || e->started == NULL || e->free == NULL)
        return fail_memory(err);
    memset(e->free, 0xff, (size_t)v->cluster->n_nodes * sizeof *e->free);
    TRY(talker_start(e->config->child, e->config->name + strlen(prefix), e->config->timeout_s,
                     err));
    return say(e,
               json_pack("{s:s, s:i, s:s, s:o, s:o}", "type", "hello", "version", EXEC_PROTOCOL,
                         "program", COLOSIM_VERSION, "nodes", nodes_json(v->cluster), "settings",
                         settings_json(e->config)),
               err);
}

static json_t *job_json(const struct job_table *t, int32_t j)
{
    static const char *const kinds[] = {NULL, "train", "infer"};
    int32_t task = t->task_begin[j];
    return json_pack("{s:i, s:o, s:f, s:f, s:f, s:i, s:i, s:i, s:s?, s:o, s:o, s:o, s:o}", "job", j,
                     "name", name_json(&t->job_names, j), "submit_s", s_of_us(t->submit_us[j]),
                     "duration_s", s_of_us(job_duration_us(t, j)), "gpus",
                     (double)job_gpu_milli(t, j) / 1e3, "instances", job_n_inst(t, j), "tasks",
                     t->task_begin[j + 1] - task, "priority", t->priority[j], "kind",
                     kinds[t->kind[j]], "gpu_type", name_json(&t->names, t->gpu_type[task]), "user",
                     name_json(&t->names, t->user[j]), "queue", name_json(&t->names, t->queue[j]),
                     "workload", name_json(&t->names, t->workload[j]));
}

/* What has changed since the last pass. */
static json_t *view_json(struct exec *e, const struct view *v)
{
    json_t *arrived = json_array(), *finished = json_array(), *started = json_array(),
           *nodes = json_array();
    for (int32_t i = 0; i < v->n_arrived; i++)
        json_array_append_new(arrived, job_json(v->jobs, v->arrived[i]));
    for (int32_t i = 0; i < v->n_finished; i++)
        json_array_append_new(finished, json_pack("{s:i, s:b}", "job", v->finished[i], "ended",
                                                  v->jobs->status[v->finished[i]] == JOB_DONE));
    for (int32_t i = 0; i < e->n_started; i++)
        json_array_append_new(started, json_integer(e->started[i]));
    for (int32_t i = 0; i < v->cluster->n_nodes; i++) {
        if (v->cluster->gpu_free_milli[i] == e->free[i])
            continue;
        e->free[i] = v->cluster->gpu_free_milli[i];
        json_array_append_new(nodes, json_pack("{s:i, s:f, s:i}", "node", i, "free_gpus",
                                               (double)e->free[i] / 1e3, "free_cards",
                                               v->cluster->cards_free[i]));
    }
    return json_pack("{s:s, s:I, s:f, s:f, s:o, s:o, s:o, s:o}", "type", "view", "pass",
                     (json_int_t)e->pass, "now_s", s_of_us(v->now_us), "free_gpus",
                     (double)v->cluster->gpu_idle_milli / 1e3, "arrived", arrived, "finished",
                     finished, "started", started, "nodes", nodes);
}

/* The number of a job that the plan names; -1 with a reason where it is none. */
static enum status read_job(const struct view *v, const char *what, const json_t *json,
                            int32_t *job, struct error *err)
{
    json_int_t number = json_is_integer(json) ? json_integer_value(json) : -1;
    if (number < 0 || number >= v->jobs->n_jobs)
        return fail(err, ST_INPUT, "%s: want the number of a job, 0 to %d", what,
                    v->jobs->n_jobs - 1);
    *job = (int32_t)number;
    return ST_OK;
}

static enum status fail_job(const struct view *v, const char *what, int32_t job, const char *why,
                            struct error *err)
{
    return fail(err, ST_INPUT, "%s of job %d (%s): %s", what, job,
                names_text(&v->jobs->job_names, job), why);
}

static void note_start(struct exec *e, int32_t job)
{
    e->waits[job] = false;
    e->started[e->n_started++] = job;
}

/* A number, or {"job", "nodes"}: only on these nodes, tried in this order. */
static enum status start(struct exec *e, const struct view *v, struct plan *plan,
                         const json_t *entry, struct error *err)
{
    const json_t *list = json_object_get(entry, "nodes");
    size_t n = json_array_size(list);
    int32_t job, *nodes = arena_alloc(v->scratch, n + 1, sizeof *nodes);
    if (nodes == NULL)
        return fail_memory(err);
    TRY(read_job(v, "start", json_is_object(entry) ? json_object_get(entry, "job") : entry, &job,
                 err));
    for (size_t i = 0; i < n; i++) {
        const json_t *node = json_array_get(list, i);
        nodes[i] = json_is_integer(node) ? (int32_t)json_integer_value(node) : -1;
        if (nodes[i] < 0 || nodes[i] >= v->cluster->n_nodes)
            return fail_job(v, "start", job, "there is no such node", err);
    }
    if (!e->waits[job])
        return fail_job(v, "start", job, "it does not wait", err);
    struct place_rules rules = plan->rules;
    if (list != NULL) {
        plan->rules.nodes = nodes;
        plan->rules.n_nodes = (int32_t)n;
    }
    bool fits = plan_start(plan, job);
    plan->rules = rules;
    if (!fits)
        return fail_job(v, "start", job, "it does not fit", err);
    note_start(e, job);
    return ST_OK;
}

/* Those that fit; with stop_at_first none behind the first that does not. */
static enum status try_all(struct exec *e, const struct view *v, struct plan *plan,
                           const json_t *list, bool stop_at_first, struct error *err)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        int32_t job;
        TRY(read_job(v, "try", json_array_get(list, i), &job, err));
        if (!e->waits[job])
            return fail_job(v, "try", job, "it does not wait", err);
        if (plan_start(plan, job))
            note_start(e, job);
        else if (stop_at_first)
            return ST_OK;
    }
    return ST_OK;
}

static enum status evict(struct exec *e, const struct view *v, struct plan *plan,
                         const json_t *entry, struct error *err)
{
    int32_t job;
    TRY(read_job(v, "evict", entry, &job, err));
    if (e->waits[job] || v->jobs->status[job] != JOB_RUNNING)
        return fail_job(v, "evict", job, "it does not run", err);
    plan_evict(plan, job, v->restart_us);
    e->waits[job] = true;
    return ST_OK;
}

static enum status check_keys(json_t *plan, struct error *err)
{
    static const char *const known[] = {"type", "start", "try", "stop_at_first", "evict", "wake_s"};
    if (!json_is_object(plan))
        return fail(err, ST_INPUT, "the plan is no JSON object");
    for (void *at = json_object_iter(plan); at != NULL; at = json_object_iter_next(plan, at)) {
        bool is_known = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            is_known = is_known || strcmp(known[i], json_object_iter_key(at)) == 0;
        if (!is_known)
            return fail(err, ST_INPUT, "the plan has an unknown part \"%s\"",
                        json_object_iter_key(at));
    }
    return ST_OK;
}

/* Evictions first: what they free can be used. */
static enum status apply(struct exec *e, const struct view *v, struct plan *plan, json_t *answer,
                         struct error *err)
{
    TRY(check_keys(answer, err));
    const json_t *evicts = json_object_get(answer, "evict");
    const json_t *starts = json_object_get(answer, "start");
    const json_t *wake = json_object_get(answer, "wake_s");
    for (size_t i = 0; i < json_array_size(evicts); i++)
        TRY(evict(e, v, plan, json_array_get(evicts, i), err));
    for (size_t i = 0; i < json_array_size(starts); i++)
        TRY(start(e, v, plan, json_array_get(starts, i), err));
    TRY(try_all(e, v, plan, json_object_get(answer, "try"),
                json_is_true(json_object_get(answer, "stop_at_first")), err));
    if (json_is_number(wake) && json_number_value(wake) > s_of_us(v->now_us))
        plan_wake(plan, us_of_s(json_number_value(wake)));
    return ST_OK;
}

static enum status pass(struct exec *e, const struct view *v, struct plan *plan, struct error *err)
{
    const char *line;
    json_error_t where;
    TRY(say(e, view_json(e, v), err));
    e->n_started = 0;
    TRY(talker_hear(e->config->child, &line, err));
    json_t *answer = json_loads(line, JSON_REJECT_DUPLICATES, &where);
    if (answer == NULL)
        return fail(err, ST_INPUT, "the plan is no JSON (column %d): %s: %.80s", where.column,
                    where.text, line);
    enum status status = apply(e, v, plan, answer, err);
    json_decref(answer);
    return status;
}

static enum status exec_decide(void *state, const struct view *v, struct plan *plan,
                               struct error *err)
{
    struct exec *e = state;
    char time[32];
    for (int32_t i = 0; i < v->n_arrived; i++)
        e->waits[v->arrived[i]] = true;
    enum status status = pass(e, v, plan, err);
    if (status != ST_OK)
        fail_in(err, "%s, pass %" PRId64 " at t = %s s", e->config->name, e->pass,
                format_us(v->now_us, time));
    e->pass++;
    return status;
}

struct policy exec_policy(const char *name)
{
    return (struct policy){.abi = POLICY_ABI,
                           .name = name,
                           .summary = "a program that is asked in JSON lines",
                           .source = "outside the tree",
                           .state_size = sizeof(struct exec),
                           .may_stall = true,
                           .init = exec_init,
                           .decide = exec_decide};
}
