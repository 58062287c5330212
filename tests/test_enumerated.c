/* Decisions on clusters so small that every placement can be tried: after each pass of a policy all
 * places of all waiting jobs are enumerated, straight from who sits where, and what the policy says
 * of itself must hold. Jobs have one task of whole GPUs. */
#include "policies/registry.h"
#include "tests/lab.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

TestSuite(enumerated, .fini = abort_on_leak, .timeout = 120);

enum { JOBS = 12, NODES_MAX = 3, ROUNDS = 200 };

/* What is free and who waits, seen from outside of the policy. */
struct world {
    int n_nodes, free[NODES_MAX];
    bool waits[JOBS], here[JOBS]; /* submitted, not started; submitted and not done */
};

/* A policy under watch: its own functions, and what to look at around each decision. */
struct watch {
    const struct policy *policy;
    const void *config;
    void (*look)(struct watch *w, const struct world *before, const struct view *v,
                 const struct plan *plan);
    bool here[JOBS];
    int order[JOBS], n_starts; /* of starts */
    int n_looks, n_telling;    /* passes, and those after which somebody waited or had a choice */
};
struct watched {
    struct watch *watch;
    _Alignas(max_align_t) char state[];
};

static struct world world_of(const struct watch *w, const struct plan *plan)
{
    struct world out = {.n_nodes = plan->cluster->n_nodes};
    for (int node = 0; node < out.n_nodes; node++)
        out.free[node] = plan->cluster->cards_free[node];
    for (int j = 0; j < plan->jobs->n_jobs; j++) {
        out.here[j] = w->here[j];
        out.waits[j] = w->here[j] && plan->at[j].first < 0;
    }
    return out;
}

static enum status watched_init(void *state, const void *config, const struct view *v,
                                const struct place_rules *rules, struct arena *arena,
                                struct error *err)
{
    struct watched *s = state;
    const struct watch *const *given = config;
    memcpy(&s->watch, given, sizeof s->watch);
    const struct policy *p = s->watch->policy;
    return p->init == NULL ? ST_OK : p->init(s->state, s->watch->config, v, rules, arena, err);
}

static enum status watched_decide(void *state, const struct view *v, struct plan *plan,
                                  struct error *err)
{
    struct watched *s = state;
    struct watch *w = s->watch;
    for (int i = 0; i < v->n_arrived; i++)
        w->here[v->arrived[i]] = true;
    for (int i = 0; i < v->n_finished; i++)
        w->here[v->finished[i]] = v->jobs->status[v->finished[i]] != JOB_DONE;
    const struct world before = world_of(w, plan);
    enum status status = w->policy->decide(s->state, v, plan, err);
    w->n_looks++;
    for (size_t i = 0; i < plan->n; i++)
        if (plan->entry[i].kind == PLAN_START)
            w->order[plan->entry[i].job] = w->n_starts++;
    w->look(w, &before, v, plan);
    return status;
}

static void watch_run(struct lab *l, struct watch *w, const char *name, const char *setting)
{
    struct error err = {{0}};
    w->policy = policy_find(name);
    memset(w->here, 0, sizeof w->here);
    cr_assert_not_null(w->policy, "%s", name);
    if (w->policy->params != NULL) {
        void *config = arena_alloc(&l->arena, 1, w->policy->config_size);
        struct param_group group = {name, w->policy->params, config};
        param_defaults(&group);
        if (setting != NULL)
            cr_assert_eq(param_set_pair(&group, 1, setting, &l->arena, &err), ST_OK, "%s",
                         err.text);
        w->config = config;
    }
    struct policy watched = *w->policy;
    watched.init = watched_init;
    watched.decide = watched_decide;
    watched.state_size += sizeof(struct watched);
    if (watched.pace != NULL)
        watched.pace(w->config, &watched.sets_speed, &watched.tick_us);
    watched.pace = NULL; /* it would take the watch for its settings */
    l->config = &w;
    lab_run_policy(l, &watched);
    for (int j = 0; j < l->jobs.n_jobs; j++)
        cr_assert_eq(l->jobs.status[j], JOB_DONE, "%s: job %d", name, j);
}

/* JOBS jobs of 1 to gpus_max GPUs an instance and up to n_inst_max instances, of three workloads,
 * on up to three nodes of cards of 1000 MiB. */
static void draw(struct lab *l, gsl_rng *rng, int gpus_max, int n_inst_max)
{
    static const char *const nodes[] = {"4x1000MiB", "2x1000MiB+2x1000MiB", "4x1000MiB+2x1000MiB",
                                        "3x1000MiB+1x1000MiB+2x1000MiB",
                                        "2x1000MiB+4x1000MiB+3x1000MiB"};
    static const char *const workloads[] = {"x", "y", "z"};
    *l = (struct lab){0};
    lab_nodes(l, nodes[gsl_rng_uniform_int(rng, 5)]);
    l->rules.mode = PLACE_BEST_FIT;
    int widest = 0, t = 0;
    for (int n = 0; n < l->cluster.n_nodes; n++)
        widest = l->cluster.cards_free[n] > widest ? l->cluster.cards_free[n] : widest;
    for (int i = 0; i < JOBS; i++) {
        char name[16];
        struct job_row row = job_row_empty();
        row.name = name;
        row.name_length = (size_t)snprintf(name, sizeof name, "j%d", i);
        row.submit_us = (t += (int)gsl_rng_uniform_int(rng, 5)) * US_PER_S;
        row.duration_us = (1 + (int64_t)gsl_rng_uniform_int(rng, 15)) * US_PER_S;
        row.n_inst = 1 + (int32_t)gsl_rng_uniform_int(rng, (unsigned long)n_inst_max);
        int most = row.n_inst > 1 ? 1 : widest < gpus_max ? widest : gpus_max;
        row.gpu_milli = 1000 * (1 + (int32_t)gsl_rng_uniform_int(rng, (unsigned long)most));
        row.kind = gsl_rng_uniform_int(rng, 2) ? KIND_TRAIN : KIND_INFER;
        row.workload = names_add(&l->jobs.names, workloads[gsl_rng_uniform_int(rng, 3)], 1);
        row.gpu_mem_mib = 200 + (int32_t)gsl_rng_uniform_int(rng, 3) * 150;
        row.min_rate_frac = 0.3 + 0.65 * gsl_rng_uniform(rng);
        cr_assert_geq(jobs_add(&l->jobs, &row), 0);
    }
    cr_assert_eq(jobs_close(&l->jobs, NULL), ST_OK);
}

static int width(const struct job_table *t, int job) { return t->gpu_milli[job] / 1000; }

/* Is there any way to put so many instances of so many GPUs each on the nodes? */
static bool fits(const int *free, int n_nodes, int gpus, int n_inst)
{
    if (n_inst == 0)
        return true;
    for (int node = 0; node < n_nodes; node++) {
        int left[NODES_MAX];
        if (free[node] < gpus)
            continue;
        memcpy(left, free, sizeof left);
        left[node] -= gpus;
        if (fits(left, n_nodes, gpus, n_inst - 1))
            return true;
    }
    return false;
}
static bool job_fits(const struct world *w, const struct job_table *t, int job)
{
    return fits(w->free, w->n_nodes, width(t, job), t->n_inst[job]);
}

static void nobody_waits_who_fits(struct watch *w, const struct world *before, const struct view *v,
                                  const struct plan *plan)
{
    (void)before;
    const struct world after = world_of(w, plan);
    for (int j = 0; j < v->jobs->n_jobs; j++) {
        w->n_telling += after.waits[j];
        cr_assert(!after.waits[j] || !job_fits(&after, v->jobs, j),
                  "%s: job %d waits at %g s although it fits", w->policy->name, j,
                  s_of_us(v->now_us));
    }
}

/* Policies that pass over a job that does not fit leave none that does. */
Test(enumerated, who_passes_over_jobs_leaves_nobody_waiting_who_has_a_place)
{
    static const char *const names[] = {"fifo-skip", "sjf",     "lucid", "antman", "sirius",
                                        "gpucolo",   "gandiva", "srtf",  "las"};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct watch w = {.look = nobody_waits_who_fits};
        for (int round = 0; round < ROUNDS; round++) {
            struct lab l;
            draw(&l, rng, 4, 2);
            watch_run(&l, &w, names[i], NULL);
            lab_free(&l);
        }
        cr_log_info("%s: %d passes, %d waits", names[i], w.n_looks, w.n_telling);
        cr_assert_gt(w.n_telling, ROUNDS);
    }
    gsl_rng_free(rng);
}

/* By what the jobs in line go, the least first, then by submission. */
static double place_in_line(const struct watch *w, const struct job_table *t, int job)
{
    const double duration_s = s_of_us(t->duration_us[job]);
    if (strcmp(w->policy->name, "qssf") == 0)
        return duration_s * width(t, job) * t->n_inst[job];
    return strstr(w->policy->name, "sjf") != NULL ? duration_s : 0;
}

static int head_of(const struct watch *w, const struct world *now, const struct job_table *t)
{
    int head = -1;
    for (int j = 0; j < t->n_jobs; j++)
        if (now->waits[j] &&
            (head < 0 || place_in_line(w, t, j) < place_in_line(w, t, head) - 1e-9))
            head = j;
    return head;
}

static void the_head_has_no_place(struct watch *w, const struct world *before, const struct view *v,
                                  const struct plan *plan)
{
    const struct world after = world_of(w, plan);
    const struct job_table *t = v->jobs;
    const int head = head_of(w, &after, t);
    cr_assert(head < 0 || !job_fits(&after, t, head), "%s: job %d heads the line at %g s and fits",
              w->policy->name, head, s_of_us(v->now_us));
    for (int j = 0; j < t->n_jobs && head >= 0; j++) /* nobody has passed it */
        cr_assert(!before->waits[j] || after.waits[j] ||
                      place_in_line(w, t, j) <= place_in_line(w, t, head) + 1e-9,
                  "%s: job %d passed job %d", w->policy->name, j, head);
    w->n_telling += head >= 0;
}

Test(enumerated, where_the_head_holds_up_the_line_it_has_no_place_and_nobody_passes_it)
{
    static const struct {
        const char *name, *setting;
        int n_inst_max; /* vc- policies place a wide job as the artifact does, not anywhere */
    } rows[] = {{"fifo", NULL, 2},         {"sjf", "sjf.strict=true", 2},
                {"elastic-fifo", NULL, 2}, {"vc-fifo", NULL, 1},
                {"vc-sjf", NULL, 1},       {"qssf", "qssf.estimate=oracle", 1}};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct watch w = {.look = the_head_has_no_place};
        for (int round = 0; round < ROUNDS; round++) {
            struct lab l;
            draw(&l, rng, 4, rows[i].n_inst_max);
            watch_run(&l, &w, rows[i].name, rows[i].setting);
            lab_free(&l);
        }
        cr_log_info("%s: %d passes, %d with a head", rows[i].name, w.n_looks, w.n_telling);
        cr_assert_gt(w.n_telling, ROUNDS);
    }
    gsl_rng_free(rng);
}

/* When a job could start if those that run (but for jobs in `without`) leave as they will. */
static double earliest_s(const struct world *now, const struct view *v, const struct plan *plan,
                         int job, const bool *without)
{
    const struct job_table *t = v->jobs;
    struct world later = *now;
    bool left[JOBS] = {false};
    double at_s = s_of_us(v->now_us);
    for (;;) {
        int next = -1;
        double next_s = INFINITY;
        for (int j = 0; j < t->n_jobs; j++) {
            const bool runs = now->here[j] && plan->at[j].first >= 0 && !left[j];
            const double end_s =
                s_of_us(v->now_us + (t->status[j] == JOB_RUNNING ? (int64_t)view_left_us(v, j)
                                                                 : t->duration_us[j]));
            if (runs && (without[j] || end_s < next_s)) {
                next = j;
                next_s = without[j] ? at_s : end_s;
                if (without[j])
                    break;
            }
        }
        const bool must_leave = next >= 0 && without[next];
        if (!must_leave && job_fits(&later, t, job))
            return at_s;
        if (next < 0)
            return INFINITY;
        at_s = next_s;
        left[next] = true;
        for (int s = plan->at[next].first; s < plan->at[next].first + plan->at[next].n; s++)
            later.free[seat_node(plan->cluster, plan->cluster->seats[s].where)]++;
    }
}

static void the_head_loses_nothing(struct watch *w, const struct world *before,
                                   const struct view *v, const struct plan *plan)
{
    const struct world after = world_of(w, plan);
    const int head = head_of(w, &after, v->jobs);
    bool nobody[JOBS] = {false}, passed[JOBS] = {false};
    if (head < 0)
        return;
    cr_assert(!job_fits(&after, v->jobs, head));
    for (int j = head + 1; j < v->jobs->n_jobs; j++) {
        passed[j] = before->waits[j] && !after.waits[j];
        w->n_telling += passed[j];
    }
    const double with_s = earliest_s(&after, v, plan, head, nobody),
                 without_s = earliest_s(&after, v, plan, head, passed);
    cr_assert_float_eq(with_s, without_s, 1e-9, "at %g s job %d could start at %g s, now at %g s",
                       s_of_us(v->now_us), head, without_s, with_s);
}

Test(enumerated, whom_easy_backfill_lets_pass_does_not_delay_the_head)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct watch w = {.look = the_head_loses_nothing};
    for (int round = 0; round < 5 * ROUNDS; round++) {
        struct lab l;
        draw(&l, rng, 4, 2);
        watch_run(&l, &w, "easy-backfill", NULL);
        lab_free(&l);
    }
    cr_log_info("%d passes, %d jobs passed the head", w.n_looks, w.n_telling);
    cr_assert_gt(w.n_telling, ROUNDS);
    gsl_rng_free(rng);
}

/* The first start of a pass in which nobody left: on the node with the least that is enough. */
static void the_first_start_is_where_least_is_left(struct watch *w, const struct world *before,
                                                   const struct view *v, const struct plan *plan)
{
    if (plan->n == 0 || plan->entry[0].kind != PLAN_START)
        return;
    const int job = plan->entry[0].job, gpus = width(v->jobs, job);
    if (v->jobs->n_inst[job] > 1)
        return;
    int best = -1, n_fit = 0;
    for (int node = 0; node < before->n_nodes; node++)
        if (before->free[node] >= gpus) {
            n_fit++;
            best = best < 0 || before->free[node] < before->free[best] ? node : best;
        }
    if (n_fit == 0) /* beside another job */
        return;
    w->n_telling += n_fit > 1;
    const int where = plan->cluster->seats[plan->at[job].first].where;
    cr_assert_eq(seat_node(plan->cluster, where), best, "%s: job %d", w->policy->name, job);
}

Test(enumerated, a_job_of_one_instance_goes_where_least_is_left)
{
    static const char *const names[] = {"fifo",  "easy-backfill", "srtf",    "las",    "vc-fifo",
                                        "lucid", "antman",        "gandiva", "vc-srtf"};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct watch w = {.look = the_first_start_is_where_least_is_left};
        for (int round = 0; round < ROUNDS; round++) {
            struct lab l;
            draw(&l, rng, 3, 1);
            watch_run(&l, &w, names[i], NULL);
            lab_free(&l);
        }
        cr_log_info("%s: %d starts with a choice", names[i], w.n_telling);
        cr_assert_gt(w.n_telling, ROUNDS / 4);
    }
    gsl_rng_free(rng);
}

/* Mudi, by trying a thousand shares for each inference job. */
static double least_share(double rate_frac)
{
    for (int i = 100; i < 1000; i++) { /* from share_min on */
        const double g = i / 1000.;    /* the curve of the defaults: 4 at 0, 1.25 at .5, 1 at 1 */
        const double latency = g < .5 ? 4 - 2.75 * g / .5 : 1.25 - .25 * (g - .5) / .5;
        if (latency <= 1 / rate_frac)
            return g;
    }
    return 1;
}
static double training_keeps(const struct job_table *t, int host)
{
    return pow(1 - least_share(t->min_rate_frac[host]), .7);
}

/* Who else is on a job's card; -1 for nobody. */
static int company(const struct plan *plan, int job)
{
    const int32_t first = plan->at[job].first;
    const int32_t card = plan->cluster->seats[first].where;
    for (int32_t s = plan->cluster->card_seat[card]; s >= 0; s = plan->cluster->seats[s].next)
        if (plan->cluster->seats[s].task != job)
            return plan->cluster->seats[s].task;
    return -1;
}

/* Of the hosts that are alone after the pass none would have left a guest that has just joined
 * another more; and nobody waits who could have a card, or share one, at all. */
static void training_has_the_best_host(struct watch *w, const struct world *before,
                                       const struct view *v, const struct plan *plan)
{
    const struct job_table *t = v->jobs;
    const struct world after = world_of(w, plan);
    double best_left = -1;
    int n_lone_guests = 0, n_free = 0;
    for (int node = 0; node < after.n_nodes; node++)
        n_free += after.free[node];
    for (int j = 0; j < t->n_jobs; j++) {
        if (!after.here[j] || after.waits[j] || company(plan, j) >= 0)
            continue;
        n_lone_guests += t->kind[j] == KIND_TRAIN;
        if (t->kind[j] == KIND_INFER)
            best_left = fmax(best_left, training_keeps(t, j));
    }
    for (int j = 0; j < t->n_jobs; j++) {
        const bool guest = t->kind[j] == KIND_TRAIN;
        cr_assert(!after.waits[j] || n_free == 0, "job %d waits beside a free card", j);
        if (after.waits[j] && guest)
            cr_assert_lt(best_left, 0.05 + 1e-2, "job %d could keep %g", j, best_left);
        else if (after.waits[j])
            cr_assert(n_lone_guests == 0 || training_keeps(t, j) < 0.05 + 1e-2, "job %d", j);
        if (after.waits[j] || !after.here[j] || company(plan, j) < 0)
            continue;
        const int host = guest ? company(plan, j) : j;
        const double keeps = training_keeps(t, host);
        if (guest)
            cr_assert_float_eq(plan->speed[j], keeps, 5e-3, "job %d runs at %g", j, plan->speed[j]);
        else
            cr_assert_geq(plan->speed[j], t->min_rate_frac[j] - 1e-9, "job %d misses its target",
                          j);
        if (guest && before->waits[j]) {
            w->n_telling += best_left >= 0;
            cr_assert_geq(keeps, best_left - 5e-3, "job %d keeps %g, could %g", j, keeps,
                          best_left);
            cr_assert_eq(n_free, 0, "free cards go first");
        }
    }
}

Test(enumerated, mudi_gives_training_the_best_host_and_inference_the_least_share_that_serves)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct watch w = {.look = training_has_the_best_host};
    for (int round = 0; round < 5 * ROUNDS; round++) {
        struct lab l;
        draw(&l, rng, 1, 1);
        watch_run(&l, &w, "mudi", NULL);
        lab_free(&l);
    }
    cr_log_info("%d passes, %d guests with a choice", w.n_looks, w.n_telling);
    cr_assert_gt(w.n_telling, ROUNDS / 2);
    gsl_rng_free(rng);
}

/* Lucid. A job that finds no place of its own joins the longest-running of those it may join: as
 * wide, alone on its cards, a measured pair, memory for both and some left, and the joiner's
 * estimate no more than twice the other's. */
static bool may_join(const struct job_table *t, const struct plan *plan, int job, int host)
{
    const int32_t a = plan->rules.pair_id[t->workload[job]],
                  b = plan->rules.pair_id[t->workload[host]];
    const bool measured = a >= 0 && b >= 0 && !isnan(pairs_speed(plan->rules.pairs, a, b));
    return measured && width(t, job) == width(t, host) &&
           t->gpu_mem_mib[job] + t->gpu_mem_mib[host] < 1000 &&
           t->duration_us[job] <= 2 * t->duration_us[host];
}

static void lucid_joins_the_first_it_may(struct watch *w, const struct world *before,
                                         const struct view *v, const struct plan *plan)
{
    const struct job_table *t = v->jobs;
    const struct world after = world_of(w, plan);
    for (int j = 0; j < t->n_jobs; j++) {
        const bool joined = before->waits[j] && !after.waits[j] && company(plan, j) >= 0 &&
                            w->order[j] > w->order[company(plan, j)];
        if (joined) {
            cr_assert(may_join(t, plan, j, company(plan, j)), "job %d beside %d", j,
                      company(plan, j));
            cr_assert(!job_fits(&after, t, j), "job %d shares and needs not", j);
        }
        for (int h = 0; h < t->n_jobs && (joined || after.waits[j]); h++) {
            if (!after.here[h] || after.waits[h] || company(plan, h) >= 0 ||
                !may_join(t, plan, j, h))
                continue;
            w->n_telling += joined;
            cr_assert(joined && w->order[company(plan, j)] < w->order[h],
                      "job %d could be beside %d, and %s", j, h, joined ? "is not" : "waits");
        }
    }
}

Test(enumerated, lucid_packs_whom_it_may_and_with_the_longest_running)
{
    static const char *const pairs[] = {"xx", "xy", "xz", "yy", "yz", "zz"};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct watch w = {.look = lucid_joins_the_first_it_may};
    for (int round = 0; round < 5 * ROUNDS; round++) {
        struct lab l;
        draw(&l, rng, 2, 1);
        l.truth = TRUTH_TABLE;
        for (int i = 0; i < 6; i++)
            if (i == round % 6 || gsl_rng_uniform_int(rng, 3) > 0)
                cr_assert_eq(pairs_add(&l.pairs, pairs[i], 1, pairs[i] + 1, 1, .6, .6, NULL),
                             ST_OK);
        watch_run(&l, &w, "lucid", "lucid.estimate=oracle");
        lab_free(&l);
    }
    cr_log_info("%d passes, %d choices of a partner", w.n_looks, w.n_telling);
    cr_assert_gt(w.n_telling, ROUNDS);
    gsl_rng_free(rng);
}
