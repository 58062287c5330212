/* One decision about a live cluster: every pass of a simulated run, its state written out as JSON
 * and decided again, gives the plan of the simulation to the last byte. */
#include "core/base/rng.h"
#include "core/elastico/pds.h"
#include "policies/registry.h"
#include "sim/results/plan_json.h"
#include "sim/run/decide.h"
#include "tests/lab.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(decide, .fini = abort_on_leak, .timeout = 300);

/* A policy that is elastico and has each pass decided a second time. */
struct spy {
    struct pds_config pds;
    struct run_request request;
    const char *cluster;
    int n_passes, n_starts, n_configs, n_resizes, n_shared;
};
struct spying {
    struct pds pds; /* first: elastico's other functions see it alone */
    struct spy *spy;
};

static void write_text(FILE *to, const char *key, const struct names *names, int32_t id)
{
    if (id >= 0)
        fprintf(to, ", \"%s\": \"%s\"", key, names_text(names, id));
}

static void write_job(FILE *to, const struct view *v, int32_t j)
{
    const struct job_table *t = v->jobs;
    int32_t k = t->task_begin[j];
    fprintf(to, "{\"name\": \"%s\", \"gpus\": %.17g, \"instances\": %d, \"left_s\": %.17g",
            names_text(&t->job_names, j), (double)job_gpu_milli(t, j) / 1e3, t->n_inst[k],
            view_left_us(v, j) / 1e6);
    fprintf(to, ", \"submit_s\": %.17g, \"gpu_min\": %d, \"gpu_max\": %d, \"gpu_mem_mib\": %d",
            s_of_us(t->submit_us[j]), t->gpu_min[j], t->gpu_max[j], t->gpu_mem_mib[k]);
    write_text(to, "workload", &t->names, t->workload[j]);
}

static void write_standing(FILE *to, const struct view *v, const struct plan *p,
                           const struct memory *m, int32_t j)
{
    const struct cluster *c = v->cluster;
    struct seats at = p->at[v->jobs->task_begin[j]];
    char text[96];
    fprintf(to, ", \"speed\": %.17g, \"at\": [", v->stay[j].speed);
    for (int32_t i = 0; i < at.n; i++) {
        int32_t card = c->seats[at.first + i].where, node = c->card_node[card];
        fprintf(to, "%s{\"node\": %d, \"cards\": [%d]}", i > 0 ? ", " : "", node,
                card - c->node_card[node]);
    }
    fputs("]", to);
    if (p->config[j] >= 0)
        fprintf(to, ", \"config\": \"%s\"", config_text(v->rst->w, p->config[j], text));
    if (!isinf(m->tolerance[j]))
        fprintf(to, ", \"tolerance\": %.17g", m->tolerance[j]);
    if (m->apart[j])
        fputs(", \"apart\": true", to);
}

static void write_state(FILE *to, const char *cluster, const struct view *v, const struct plan *p,
                        const struct memory *m)
{
    const char *comma = "";
    fprintf(to, "{\"cluster\": \"%s\", \"now_s\": %.17g, \"prices\": [", cluster,
            s_of_us(v->now_us));
    for (int32_t r = 0; r < m->n_prices; r++)
        fprintf(to, "%s%.17g", r > 0 ? ", " : "", m->price[r]);
    fputs("], ", to);
    if (m->arrivals->from_us != TIME_NEVER) {
        fprintf(to, "\"arrivals\": {\"from_s\": %.17g, \"until_s\": %.17g, \"gpu_s\": [",
                s_of_us(m->arrivals->from_us), s_of_us(m->arrivals->until_us));
        for (int i = 0; i < ARRIVAL_CLASSES; i++)
            fprintf(to, "%s%.17g", i > 0 ? ", " : "", m->arrivals->gpu_s[i]);
        fputs("]}, ", to);
    }
    fputs("\"running\": [", to);
    for (int32_t j = v->running_first; j >= 0; j = v->stay[j].next, comma = ",\n") {
        fputs(comma, to);
        write_job(to, v, j);
        write_standing(to, v, p, m, j);
        fputs("}", to);
    }
    fputs("], \"waiting\": [", to);
    comma = "";
    for (int32_t j = 0; j < v->jobs->n_jobs; j++)
        if (v->jobs->status[j] == JOB_WAITING) {
            fputs(comma, to);
            write_job(to, v, j);
            fputs("}", to);
            comma = ",\n";
        }
    fputs("]}", to);
}

static struct memory memory_new(const struct pds *s, struct arena *arena)
{
    struct memory m = {0};
    m.tolerance = arena_alloc(arena, (size_t)s->n_jobs, sizeof *m.tolerance);
    m.apart = arena_alloc(arena, (size_t)s->n_jobs, sizeof *m.apart);
    m.arrivals = arena_alloc(arena, 1, sizeof *m.arrivals);
    pds_recall(s, &m);
    return m;
}

static char *decided(const struct spy *spy, const char *text, size_t length)
{
    struct state state;
    struct decision d = {0};
    struct error err = {{0}};
    char *plan;
    size_t n;
    cr_assert_eq(state_parse(text, length, "state", &state, &err), ST_OK, "%s\n%s", err.text, text);
    cr_assert_eq(decide(&spy->request, &state, &d, &err), ST_OK, "%s\n%s", err.text, text);
    FILE *to = open_memstream(&plan, &n);
    plan_json(to, &d.plan, &d.parts.models.rst, 0, state.now_s);
    fclose(to);
    decision_free(&d);
    state_free(&state);
    return plan;
}

static void count(struct spy *spy, const struct plan *p)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct plan_entry *e = &p->entry[i];
        bool runs = p->jobs->status[e->job] == JOB_RUNNING;
        spy->n_starts += e->kind == PLAN_START;
        spy->n_configs += e->kind == PLAN_CONFIG && runs;
        spy->n_resizes += e->kind == PLAN_RESIZE;
    }
    for (int32_t card = 0; card < p->cluster->n_cards; card++)
        spy->n_shared += p->cluster->card_n_jobs[card] > 1;
}

static enum status spy_init(void *state, const void *config, const struct view *v,
                            const struct place_rules *rules, struct arena *arena, struct error *err)
{
    struct spying *s = state;
    (void)rules;
    memcpy(&s->spy, config, sizeof s->spy);
    return pds_init(&s->pds, &s->spy->pds, v, arena, err);
}

static enum status spy_decide(void *state, const struct view *v, struct plan *p, struct error *err)
{
    struct spying *s = state;
    struct memory m = memory_new(&s->pds, v->scratch);
    char *text, *ours, *its;
    size_t n, n_ours;
    FILE *to = open_memstream(&text, &n);
    write_state(to, s->spy->cluster, v, p, &m);
    fclose(to);
    enum status status = pds_decide(&s->pds, v, p, err);
    if (status == ST_OK && s->pds.ran) {
        to = open_memstream(&ours, &n_ours);
        plan_json(to, p, v->rst, v->now_us, s_of_us(v->now_us));
        fclose(to);
        its = decided(s->spy, text, n);
        cr_assert_str_eq(its, ours, "pass %d\n%s", s->spy->n_passes, text);
        s->spy->n_passes++;
        count(s->spy, p);
        free(ours);
        free(its);
    }
    free(text);
    return status;
}

/* elastico, spied upon. */
static struct policy spy_policy(void)
{
    struct policy policy = *policy_find("elastico");
    policy.name = "spy";
    policy.state_size = sizeof(struct spying);
    policy.params = NULL; /* its config is a spy */
    policy.init = spy_init;
    policy.decide = spy_decide;
    return policy;
}

/* n jobs of the catalog's workloads and of none: single cards, parts, gangs, elastic ones. */
static void make_jobs(struct lab *l, gsl_rng *rng, int n)
{
    static const char *const workload[] = {"ResNet-50", "BERT",          "PPO",   "NCF-NeuMF",
                                           "LSTM",      "DeepSeek-1.5b", "DCGAN", "Qwen-1.7b"};
    static const char *const shape[] = {"1 1", "1 1", "1 1", "0.5 1", "2 1"};
    char *text;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    for (int i = 0; i < n; i++) {
        double submit_s = 20000 * gsl_rng_uniform(rng);
        double duration_s = 100 + 3000 * gsl_rng_uniform(rng) * gsl_rng_uniform(rng);
        int kind = (int)gsl_rng_uniform_int(rng, 8);
        if (kind == 0)
            fprintf(to, "j%d %.3f %.3f 1 1 - 0\n", i, submit_s, duration_s);
        else if (kind < 3)
            fprintf(to, "j%d %.3f %.3f 2 1 %s 0 a100-40g 1 4\n", i, submit_s, duration_s,
                    workload[gsl_rng_uniform_int(rng, 8)]);
        else
            fprintf(to, "j%d %.3f %.3f %s %s 0\n", i, submit_s, duration_s,
                    shape[gsl_rng_uniform_int(rng, 5)], workload[gsl_rng_uniform_int(rng, 8)]);
    }
    fclose(to);
    lab_jobs(l, text);
    free(text);
}

Test(decide, every_pass_of_a_run_is_decided_the_same_from_its_state)
{
    gsl_rng *rng = rng_stream(1, "decide");
    struct spy spy = {.cluster = "1x4:a100-40g+1x4:a100-40g"}, *config = &spy;
    struct lab l = {.catalog = EMBEDDED_CATALOG,
                    .submitted = SUBMITTED_PEAK,
                    .truth = TRUTH_CONTENTION,
                    .set = SET_H200,
                    .mps = 1,
                    .rates = {.scale_exp = 0.9},
                    .belief_options = {.error_frac = 0.5,
                                       .seed = 1,
                                       .n_slots = 1 << 14}, /* wrong enough for pairs to part */
                    .config = &config};
    cr_assert_eq(run_request_init(&spy.request, NULL), ST_OK);
    cr_assert_eq(run_set(&spy.request, "belief=oracle", NULL), ST_OK);
    cr_assert_eq(run_set(&spy.request, "belief.error_frac=0.5", NULL), ST_OK);
    param_defaults(&(struct param_group){"elastico", pds_params, &spy.pds});
    make_jobs(&l, rng, 250);
    lab_nodes(&l, "4x40960MiB:a100-40g+4x40960MiB:a100-40g");
    struct policy policy = spy_policy();
    lab_run_policy(&l, &policy);
    cr_log_info("%d passes: %d starts, %d changes of configuration, %d of place or width, %d times "
                "a shared card",
                spy.n_passes, spy.n_starts, spy.n_configs, spy.n_resizes, spy.n_shared);
    cr_assert(spy.n_passes > 200 && spy.n_starts == 250);
    cr_assert(spy.n_configs > 10 && spy.n_resizes > 10 && spy.n_shared > 100);
    run_request_free(&spy.request);
    lab_free(&l);
    gsl_rng_free(rng);
}
