#include "sim/run/decide.h"

#include "core/elastico/arrivals.h"
#include "policies/registry.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What lives while the policy is asked. */
struct pass {
    struct state *s;
    struct decision *d;
    struct job_table *jobs;
    struct rates rates;
    struct view view;
    struct stay *stay;
    int32_t *arrived;
    void *state; /* of the policy */
    struct arena scratch;
};

/* Says which running job cannot run as the state has it, and why. */
static enum status fail_standing(const struct pass *p, int32_t job, struct error *err)
{
    fail_in(err, "%s:%" PRId64 ": running[%d]", p->s->name, p->s->standing[job].line, job);
    return ST_INPUT;
}

/* The configuration it runs in. */
static enum status configure(struct pass *p, int32_t job, struct error *err)
{
    const char *text = p->s->standing[job].config;
    const struct rst *rst = p->rates.rst;
    char shown[96];
    bool exact;
    if (text == NULL)
        return ST_OK;
    if (rst == NULL || rst->submitted[job] < 0)
        return fail(err, ST_INPUT, "config: its workload is not in the catalog, want none");
    int32_t config = config_parse(rst->w, rst->workload[job], text, strlen(text), &exact);
    if (config < 0 || !exact)
        return fail(err, ST_INPUT, "config '%s': want one of its workload, such as '%s'", text,
                    config_text(rst->w, config < 0 ? rst->submitted[job] : config, shown));
    return plan_config(&p->d->plan, job, config) ? ST_OK : fail_memory(err);
}

/* As many cards as it asks for, an elastic job any number; each instance on one node. */
static enum status check_seats(const struct pass *p, int32_t job, struct error *err)
{
    const struct cluster *c = &p->s->cluster;
    const struct job_table *t = p->jobs;
    const struct standing *st = &p->s->standing[job];
    int32_t task = t->task_begin[job], gpu = t->gpu_milli[task];
    int32_t per_inst = cluster_seats_of_instance(c, gpu), n = st->n;
    if (job_is_elastic(t, job) ? n < t->gpu_min[job] || n > t->gpu_max[job]
                               : n != t->n_inst[task] * per_inst)
        return fail(err, ST_INPUT, "at: it sits on %d, want %d%s", n, t->n_inst[task] * per_inst,
                    job_is_elastic(t, job) ? ", or from gpu_min to gpu_max" : "");
    for (int32_t i = 0; i < n; i++) {
        if ((st->where[i] >= 0) != (gpu > 0))
            return fail(err, ST_INPUT, gpu > 0 ? "at: want \"cards\"" : "at: want no cards");
        if (seat_node(c, st->where[i]) != seat_node(c, st->where[i - i % per_inst]))
            return fail(err, ST_INPUT, "at: want the %d cards of an instance on one node",
                        per_inst);
    }
    return ST_OK;
}

/* Is there as much as those who sit there need? */
static enum status check_room(const struct pass *p, int32_t job, struct error *err)
{
    const struct cluster *c = &p->s->cluster;
    const struct standing *st = &p->s->standing[job];
    for (int32_t i = 0; i < st->n; i++) {
        int32_t where = st->where[i], node = seat_node(c, where);
        if (where >= 0 && c->card_mem_free_mib[where] < 0 && !c->mem_gives_way)
            return fail(err, ST_INPUT,
                        "at: card %d of node %d has %d MiB, want %d more for all on it",
                        where - c->node_card[node], node, c->card_gpu_mem_mib[where],
                        -c->card_mem_free_mib[where]);
        if (c->cpu_free_milli[node] < 0 || c->mem_free_mib[node] < 0)
            return fail(err, ST_INPUT, "at: node %d has less %s than those on it ask for", node,
                        c->cpu_free_milli[node] < 0 ? "CPU" : "memory");
        if (c->nic_free_mbps[node] < 0 || c->storage_free_mbps[node] < 0)
            return fail(err, ST_INPUT, "at: node %d has less %s bandwidth than those on it take",
                        node, c->nic_free_mbps[node] < 0 ? "NIC" : "storage");
    }
    return ST_OK;
}

/* Puts a running job where it is. */
static enum status seat(struct pass *p, int32_t job, struct error *err)
{
    const struct state *s = p->s;
    const struct standing *st = &s->standing[job];
    struct job_table *t = p->jobs;
    TRY(configure(p, job, err));
    TRY(check_seats(p, job, err));
    if (!plan_start_at(&p->d->plan, job, st->where, st->n))
        return fail_memory(err);
    TRY(check_room(p, job, err));
    int64_t start_us = us_of_s(s->start_s[job] - s->now_s);
    t->status[job] = JOB_RUNNING;
    t->start_us[job] = start_us;
    t->attained_milli_us[job] = llround(s->attained_gpu_s[job] * 1e9);
    int32_t task = t->task_begin[job];
    p->stay[job] =
        (struct stay){.speed = st->speed,
                      .start_us = start_us,
                      .held_milli = (int64_t)plan_width(&p->d->plan, task) * t->gpu_milli[task],
                      .prev = job - 1,
                      .next = job + 1 < s->n_running ? job + 1 : -1};
    return ST_OK;
}

/* All that run, then how fast those are that nobody measured: as the truth has it. */
static enum status seat_all(struct pass *p, struct error *err)
{
    struct plan *plan = &p->d->plan;
    for (int32_t job = 0; job < p->s->n_running; job++) {
        enum status status = seat(p, job, err);
        if (status == ST_INPUT)
            return fail_standing(p, job, err);
        TRY(status);
    }
    plan_clear(plan);
    for (int32_t job = 0; job < p->s->n_running; job++)
        if (isnan(p->stay[job].speed))
            p->stay[job].speed =
                kept_speed(&p->rates, plan, job) * speed_alone(&p->rates, plan, job);
    return ST_OK;
}

static enum status columns_new(struct pass *p, struct error *err)
{
    size_t n = (size_t)p->jobs->n_jobs + 1;
    struct arena *arena = &p->d->arena;
    struct memory *m = &p->d->memory;
    p->stay = arena_alloc(arena, n, sizeof *p->stay);
    p->arrived = arena_alloc(arena, n, sizeof *p->arrived);
    m->tolerance = arena_alloc(arena, n, sizeof *m->tolerance);
    m->apart = arena_alloc(arena, n, sizeof *m->apart);
    m->arrivals = arena_alloc(arena, 1, sizeof *m->arrivals);
    p->state = arena_alloc(arena, 1, p->d->policy->state_size);
    if (p->stay == NULL || p->arrived == NULL || m->tolerance == NULL || m->apart == NULL ||
        m->arrivals == NULL || p->state == NULL)
        return fail_memory(err);
    arrivals_init(m->arrivals);
    for (int32_t job = 0; job < p->jobs->n_jobs; job++) {
        m->tolerance[job] = INFINITY;
        p->jobs->status[job] = JOB_WAITING;
        p->jobs->done_us[job] = (double)job_duration_us(p->jobs, job) - p->s->left_s[job] * 1e6;
        if (job >= p->s->n_running)
            p->arrived[job - p->s->n_running] = job;
    }
    return ST_OK;
}

/* The plan with the running jobs on it, and what the policy sees. */
static enum status open_pass(struct pass *p, const struct run_request *q, struct error *err)
{
    struct decision *d = p->d;
    struct place_rules rules;
    TRY(parts_models(&d->parts, q, d->policy, &p->s->trace, &p->s->cluster, err));
    TRY(parts_rules(&d->parts, q, d->policy, p->jobs, &p->s->cluster, &rules, err));
    TRY(parts_tables(&d->parts, q, d->policy, err));
    if (p->s->profiled.n_columns > 0 && d->parts.tables[0].n_columns > 0)
        return fail(err, ST_USAGE, "%s: profiled: there is a file of profiles too (%s), want one",
                    p->s->name, d->parts.tables[0].path);
    p->rates = models_rates(&d->parts.models);
    p->s->cluster.mem_gives_way = d->policy->shrinks_memory;
    TRY(plan_init(&d->plan, &p->s->cluster, p->jobs, rules, err));
    if (p->rates.rst != NULL) {
        struct config_needs needs = profile_needs(p->rates.rst->p);
        TRY(plan_configure(&d->plan, p->rates.rst->submitted, &needs, err));
    }
    TRY(columns_new(p, err));
    TRY(seat_all(p, err));
    p->view =
        (struct view){.jobs = p->jobs,
                      .cluster = &p->s->cluster,
                      .arrived = p->arrived,
                      .n_arrived = p->jobs->n_jobs - p->s->n_running,
                      .running_first = p->s->n_running > 0 ? 0 : -1,
                      .stay = p->stay,
                      .tables = p->s->profiled.n_columns > 0 ? &p->s->profiled : d->parts.tables,
                      .restart_us = us_of_s(q->preempt.restart_s),
                      .rng = d->parts.policy_rng,
                      .rst = p->rates.rst,
                      .contention = p->rates.contention,
                      .belief = models_belief(&d->parts.models),
                      .side = d->parts.models.predictor.side,
                      .scale_exp = p->rates.scale_exp,
                      .memory = &p->s->memory,
                      .scratch = &p->scratch};
    return ST_OK;
}

static enum status ask(struct pass *p, const struct run_request *q, struct error *err)
{
    struct decision *d = p->d;
    if (d->policy->init != NULL)
        TRY(d->policy->init(p->state, parts_config(q, d->policy), &p->view, &d->plan.rules,
                            &d->arena, err));
    TRY(d->policy->decide(p->state, &p->view, &d->plan, err));
    if (d->policy->recall != NULL)
        d->policy->recall(p->state, &d->memory);
    if (d->policy->lore != NULL)
        d->lore = d->policy->lore(p->state);
    return d->plan.failed ? fail_memory(err) : ST_OK;
}

static enum status fail_resume(const struct policy *policy, struct error *err)
{
    char known[256] = "";
    for (int i = 0; policies[i] != NULL; i++)
        if (policies[i]->resumes)
            snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s",
                     known[0] != '\0' ? ", " : "", policies[i]->name);
    return fail(err, ST_USAGE,
                "policy %s cannot decide about jobs that it did not start; these can: %s",
                policy->name, known);
}

enum status decide(const struct run_request *q, struct state *s, struct decision *out,
                   struct error *err)
{
    struct pass p = {.s = s, .d = out, .jobs = &s->trace.jobs};
    *out = (struct decision){0};
    TRY(run_policy(q, &out->policy, err));
    if (!out->policy->resumes)
        return fail_resume(out->policy, err);
    enum status status = open_pass(&p, q, err);
    if (status == ST_OK)
        status = ask(&p, q, err);
    if (p.state != NULL && out->policy->fini != NULL)
        out->policy->fini(p.state);
    arena_free(&p.scratch);
    return status;
}

void decision_free(struct decision *d)
{
    plan_free(&d->plan);
    parts_close(&d->parts);
    arena_free(&d->arena);
    *d = (struct decision){0};
}
