/* Random small traces and clusters through pai-sim and through the one-second-tick reference. */
#include "tests/leak.h"
#include "tests/pai_run.h"
#include "tests/ref_pai_tick.h"

#include "core/base/rng.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(pai_reference, .fini = abort_on_leak);

enum { N_CASES = 600 };

static int64_t any(gsl_rng *rng, int64_t low, int64_t high)
{
    return low + (int64_t)gsl_rng_uniform_int(rng, (unsigned long)(high - low + 1));
}

#define PICK(rng, array) ((array)[any(rng, 0, (int64_t)(sizeof(array) / sizeof *(array)) - 1)])

static const char *type_name(char type)
{
    switch (type) {
    case 'C': return "CPU";
    case 'V': return "V100";
    case 'M': return "MISC";
    default: return "T4";
    }
}

static const char types[] = {'C', 'M', 'V', 'T'};

static void random_nodes(gsl_rng *rng, struct ref_pai *r)
{
    static const int64_t gpus[] = {0, 1, 2, 4, 8, 8}, cpus[] = {7, 16, 64, 96, 96};
    bool equal = any(rng, 0, 1) == 0;

    r->n_nodes = (int)any(rng, 1, 6);
    for (int i = 0; i < r->n_nodes; i++)
        r->node[i] = equal && i > 0 ? r->node[0]
                                    : (struct ref_node){.gpu_pct = 100 * PICK(rng, gpus),
                                                        .cpu_pct = 100 * PICK(rng, cpus),
                                                        .type = PICK(rng, types)};
}

/* Ids are unique, of different lengths and not in the order of the table. */
static int64_t random_id(gsl_rng *rng, const struct ref_pai *r, int n)
{
    for (;;) {
        int64_t id = any(rng, 0, 120);
        bool taken = false;
        for (int k = 0; k < n; k++)
            taken = taken || r->job[k].id == id;
        if (!taken)
            return id;
    }
}

static void random_jobs(gsl_rng *rng, struct ref_pai *r)
{
    static const int64_t gpu[] = {0,   0,   5,   10,  25,  33,  50,  50,
                                  100, 100, 100, 150, 200, 400, 800, 900};
    static const int64_t cpu[] = {0, 50, 100, 150, 600, 600, 600, 1200, 2400, 9600, 9700};
    int64_t late = any(rng, 0, 1) == 0 ? 5 : 60;

    r->n_jobs = (int)any(rng, 1, 40);
    for (int i = 0; i < r->n_jobs; i++) {
        struct ref_job *j = &r->job[i];
        *j = (struct ref_job){.id = random_id(rng, r, i),
                              .submit_s = any(rng, -2, late),
                              .duration_s = any(rng, 1, any(rng, 0, 3) == 0 ? 90 : 12),
                              .gpu_pct = PICK(rng, gpu),
                              .cpu_pct = PICK(rng, cpu),
                              .n_inst = any(rng, 0, 9) < 6 ? 1 : any(rng, 2, 9),
                              .type = PICK(rng, types)};
        for (int e = 0; e < 3; e++)
            j->estimate_s[e] = any(rng, 1, 20);
    }
}

static void random_case(gsl_rng *rng, struct ref_pai *r)
{
    static const int orders[] = {0, 1, 2, 4, 8};

    *r = (struct ref_pai){.alloc_policy = PICK(rng, orders),
                          .sort_node_policy = (int)any(rng, 0, 3),
                          .gpu_type_matching = (int)any(rng, 0, 2),
                          .arrival_rate = any(rng, 0, 2) == 0 ? any(rng, 1, 20) : -1};
    random_nodes(rng, r);
    random_jobs(rng, r);
    r->limit_s = 60 + r->n_jobs * 60;
    for (int i = 0; i < r->n_jobs; i++)
        r->limit_s += r->job[i].duration_s;
}

static void make_jobs(const struct ref_pai *r, struct job_table *t)
{
    for (int i = 0; i < r->n_jobs; i++) {
        const struct ref_job *j = &r->job[i];
        char name[24];
        struct job_row row = job_row_empty();
        row.name = name;
        row.name_length = (size_t)snprintf(name, sizeof name, "%lld", (long long)j->id);
        row.submit_us = j->submit_s * US_PER_S;
        row.duration_us = j->duration_s * US_PER_S;
        row.n_inst = (int32_t)j->n_inst;
        row.gpu_milli = (int32_t)j->gpu_pct * 10;
        row.cpu_milli = (int32_t)j->cpu_pct * 10;
        row.gpu_type = names_add(&t->names, type_name(j->type), strlen(type_name(j->type)));
        for (int e = 0; e < 3; e++)
            row.hint_us[e] = j->estimate_s[e] * US_PER_S;
        cr_assert_eq(jobs_add(t, &row), i);
    }
    struct error err;
    cr_assert_eq(jobs_close(t, &err), ST_OK);
}

static void make_cluster(const struct ref_pai *r, struct cluster *c)
{
    struct node_spec spec[REF_MAX_NODES];
    struct error err;

    for (int i = 0; i < r->n_nodes; i++)
        spec[i] = (struct node_spec){.count = 1,
                                     .n_gpus = (int32_t)(r->node[i].gpu_pct / 100),
                                     .gpu_type = type_name(r->node[i].type),
                                     .cpu_milli = r->node[i].cpu_pct * 10,
                                     .mem_mib = -1};
    cr_assert_eq(cluster_init(c, spec, r->n_nodes, SHARE_NODE_SUM, &err), ST_OK);
}

static void run_policy(const struct ref_pai *r, struct job_table *t, struct cluster *c,
                       struct pai_outcome *out)
{
    static const char *const order[] = {"sjf", "sju", "sjg", NULL,  "sjgg",
                                        NULL,  NULL,  NULL,  "fifo"};
    static const char *const nodes[] = {"id", "fewest_idle", "most_idle", "least_util"};
    static const char *const match[] = {"off", "exact", "v100"};
    char text[4][64];
    struct error err;

    snprintf(text[0], sizeof text[0], "pai-sim.order=%s", order[r->alloc_policy]);
    snprintf(text[1], sizeof text[1], "pai-sim.node_order=%s", nodes[r->sort_node_policy]);
    snprintf(text[2], sizeof text[2], "pai-sim.type_match=%s", match[r->gpu_type_matching]);
    snprintf(text[3], sizeof text[3], "pai-sim.arrival_rate=%lld", (long long)r->arrival_rate);
    const char *const settings[] = {text[0], text[1], text[2], text[3], NULL};
    cr_assert_eq(pai_run(t, c, settings, true, out, &err), ST_OK, "%s", err.text);
}

static void compare_job(int number, const struct ref_job *j, int n_nodes, const struct job_table *t,
                        const struct pai_outcome *out)
{
    char name[24];
    int length = snprintf(name, sizeof name, "%lld", (long long)j->id);
    int32_t job = names_find(&t->job_names, name, (size_t)length);
    int32_t here[REF_MAX_NODES] = {0}, want[REF_MAX_NODES] = {0};

    cr_assert(job >= 0, "case %d: job %s is gone", number, name);
    cr_expect_eq(t->submit_us[job], j->submit_s * US_PER_S, "case %d: job %s is submitted at %lld",
                 number, name, (long long)t->submit_us[job]);
    for (size_t i = 0; i < out->log.n_spans; i++)
        if (t->task_job[out->log.span[i].task] == job)
            here[out->log.span[i].node] += out->log.span[i].n_inst;
    if (j->state != REF_DONE) {
        cr_expect(t->status[job] == JOB_REJECTED || t->status[job] == JOB_UNFINISHED,
                  "case %d: job %s ends, it cannot be placed", number, name);
    } else {
        cr_expect_eq(t->start_us[job], j->start_s * US_PER_S,
                     "case %d: job %s starts at %lld, not %lld", number, name,
                     (long long)t->start_us[job], (long long)j->start_s);
        cr_expect_eq(t->finish_us[job], j->end_s * US_PER_S,
                     "case %d: job %s ends at %lld, not %lld", number, name,
                     (long long)t->finish_us[job], (long long)j->end_s);
        for (int k = 0; k < j->n_inst; k++)
            want[j->node[k]]++;
    }
    for (int i = 0; i < n_nodes; i++)
        cr_expect_eq(here[i], want[i], "case %d: job %s has %d instances on node %d, not %d",
                     number, name, here[i], i, want[i]);
}

static void compare_means(int number, const struct ref_pai *r, const struct pai_outcome *out)
{
    double done = 0, jct = 0, wait = 0;
    int64_t last_s = 0;

    for (int i = 0; i < r->n_jobs; i++) {
        const struct ref_job *j = &r->job[i];
        if (j->state != REF_DONE)
            continue;
        done += (double)j->n_inst;
        jct += (double)(j->n_inst * (j->end_s - j->submit_s));
        wait += (double)(j->n_inst * (j->start_s - j->submit_s));
        last_s = j->end_s > last_s ? j->end_s : last_s;
    }
    cr_expect_float_eq(out->jobs_done, done, 1e-9, "case %d", number);
    if (done == 0)
        return;
    cr_expect_float_eq(out->avg_jct_s, jct / done, 1e-9 * jct, "case %d: mean JCT", number);
    cr_expect_float_eq(out->wait_s, wait / done, 1e-9 * (jct + 1), "case %d: mean wait", number);
    cr_expect_float_eq(out->makespan_s, (double)last_s + 1, 1e-6, "case %d: makespan", number);
}

Test(pai_reference, random_small_traces_run_as_in_the_tick_by_tick_reference)
{
    gsl_rng *rng = rng_stream(20200701, "pai reference");
    int n_done = 0, n_never = 0, n_waited = 0, n_gangs = 0;

    for (int number = 0; number < N_CASES; number++) {
        struct ref_pai r;
        struct job_table t = {0};
        struct cluster c;
        struct pai_outcome out;
        random_case(rng, &r);
        make_jobs(&r, &t);
        make_cluster(&r, &c);
        ref_pai_run(&r);
        run_policy(&r, &t, &c, &out);
        cr_assert_eq(t.n_jobs, r.n_jobs);
        for (int i = 0; i < r.n_jobs; i++) {
            compare_job(number, &r.job[i], r.n_nodes, &t, &out);
            n_done += r.job[i].state == REF_DONE;
            n_never += r.job[i].state != REF_DONE;
            n_waited += r.job[i].start_s > r.job[i].submit_s;
            n_gangs += r.job[i].state == REF_DONE && r.job[i].n_inst > 1;
        }
        compare_means(number, &r, &out);
        run_log_free(&out.log);
        cluster_free(&c);
        jobs_free(&t);
    }
    gsl_rng_free(rng);
    cr_expect(n_done > 5000 && n_never > 500 && n_waited > 2000 && n_gangs > 1000,
              "the cases have become dull: %d done, %d never, %d waited, %d gangs", n_done, n_never,
              n_waited, n_gangs);
}
