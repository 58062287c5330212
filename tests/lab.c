#include "tests/lab.h"

#include "policies/registry.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int32_t name_id(struct lab *l, const char *name)
{
    return name[0] == '\0' || strcmp(name, "-") == 0
               ? -1
               : names_add(&l->jobs.names, name, strlen(name));
}

void lab_jobs(struct lab *l, const char *text)
{
    for (const char *line = text; *line != '\0';) {
        char name[32] = "", workload[32] = "", type[32] = "", queue[32] = "", one[256];
        snprintf(one, sizeof one, "%.*s", (int)strcspn(line, "\n"), line);
        double submit_s, duration_s, gpus;
        int inst = 1, mem = 0, min = 0, max = 0;
        int n = sscanf(one, "%31s %lf %lf %lf %d %31s %d %31s %d %d %31s", name, &submit_s,
                       &duration_s, &gpus, &inst, workload, &mem, type, &min, &max, queue);
        cr_assert_geq(n, 4, "lab: %s", one);
        struct job_row row = job_row_empty();
        row.name = name;
        row.name_length = strlen(name);
        row.submit_us = us_of_s(submit_s);
        row.duration_us = us_of_s(duration_s);
        row.gpu_milli = (int32_t)lround(gpus * 1000);
        row.n_inst = inst;
        row.gpu_mem_mib = mem;
        row.workload = name_id(l, workload);
        row.gpu_type = name_id(l, type);
        row.gpu_min = min;
        row.gpu_max = max;
        row.queue = name_id(l, queue);
        cr_assert_geq(jobs_add(&l->jobs, &row), 0);
        line = strchr(line, '\n');
        if (line == NULL)
            break;
        line += strspn(line, "\n ");
    }
    cr_assert_eq(jobs_close(&l->jobs, NULL), ST_OK);
}

void lab_nodes(struct lab *l, const char *text)
{
    struct node_spec spec[64];
    char type[64][16];
    int n = 0;
    for (const char *p = text; p != NULL && *p != '\0'; n++) {
        spec[n] = (struct node_spec){.count = 1, .cpu_milli = -1, .mem_mib = -1};
        int gpus = 0, mem = 0;
        type[n][0] = '\0';
        if (sscanf(p, "%dx%dMiB:%15[-A-Za-z0-9]", &gpus, &mem, type[n]) < 2)
            sscanf(p, "%d:%15[-A-Za-z0-9]", &gpus, type[n]);
        spec[n].n_gpus = gpus;
        spec[n].gpu_mem_mib = mem;
        spec[n].gpu_type = type[n];
        p = strchr(p, '+');
        p = p == NULL ? NULL : p + 1;
    }
    struct error err = {{0}};
    cr_assert_eq(cluster_init(&l->cluster, spec, n, SHARE_CARD, &err), ST_OK, "%s", err.text);
}

static const int32_t *map(struct lab *l, const struct names *to)
{
    int32_t *m = arena_alloc(&l->arena, (size_t)l->jobs.names.n, sizeof *m);
    for (int32_t i = 0; i < l->jobs.names.n; i++)
        m[i] = names_find(to, names_text(&l->jobs.names, i), names_length(&l->jobs.names, i));
    return m;
}

static const uint64_t *map_lists(struct lab *l)
{
    uint64_t *set = arena_alloc(&l->arena, (size_t)l->jobs.names.n, sizeof *set);
    for (int32_t i = 0; i < l->jobs.names.n; i++)
        if (strchr(names_text(&l->jobs.names, i), '|') != NULL)
            set[i] = cluster_types_of(&l->cluster, names_text(&l->jobs.names, i),
                                      names_length(&l->jobs.names, i));
    return set;
}

/* The catalog bound to the jobs, its profiles and the physics. */
static void bind_catalog(struct lab *l)
{
    struct error err = {{0}};
    if (l->workloads.n == 0) {
        cr_assert_eq(catalog_read(l->catalog, &l->workloads, &err), ST_OK, "%s", err.text);
        cr_assert_eq(profiles_init(&l->profiles, &l->workloads, &err), ST_OK);
    }
    contention_free(&l->contention);
    cr_assert_eq(
        contention_init(&l->contention, &l->profiles, &contention_sets[l->set], l->mps, &err),
        ST_OK);
    rst_free(&l->rst);
    cr_assert_eq(rst_init(&l->rst, &l->profiles, &l->jobs, &l->cluster, l->submitted, &err), ST_OK,
                 "%s", err.text);
    l->rates.rst = &l->rst;
    l->rates.contention = &l->contention;
    belief_free(&l->belief);
    cr_assert_eq(
        belief_init(&l->belief, belief_of_contention, &l->contention, &l->belief_options, &err),
        ST_OK, "%s", err.text);
}

void lab_run(struct lab *l, const char *name)
{
    const struct policy *policy = policy_find(name);
    cr_assert_not_null(policy, "%s", name);
    lab_run_policy(l, policy);
}

void lab_run_policy(struct lab *l, const struct policy *policy)
{
    if (l->config == NULL && policy->params != NULL) {
        void *config = arena_alloc(&l->arena, 1, policy->config_size);
        param_defaults(&(struct param_group){policy->name, policy->params, config});
        l->config = config;
    }
    if (l->rules.share_max == 0)
        l->rules.share_max = 1;
    l->rules.pool = -1;
    l->rules.type_strict = l->cluster.gpu_types.n > 1;
    l->rules.type_id = map(l, &l->cluster.gpu_types);
    l->rules.type_set = map_lists(l);
    if (l->pairs.n > 0) {
        l->rules.pairs = &l->pairs;
        l->rules.pair_id = map(l, &l->pairs.workloads);
    }
    l->rates.truth = l->truth;
    if (l->catalog != NULL)
        bind_catalog(l);
    l->rng = gsl_rng_alloc(gsl_rng_mt19937);
    l->rules.rng = l->rng;
    run_log_free(&l->log);
    struct engine_setup setup = {.policy = policy,
                                 .policy_config = l->config,
                                 .tables = l->tables,
                                 .jobs = &l->jobs,
                                 .cluster = &l->cluster,
                                 .rules = l->rules,
                                 .rng = l->rng,
                                 .rates = l->rates,
                                 .belief = l->catalog != NULL ? &l->belief : NULL,
                                 .restart_us = us_of_s(l->restart_s),
                                 .check = !l->unchecked};
    struct error err = {{0}};
    cr_assert_eq(engine_run(&setup, &l->log, &err), ST_OK, "%s: %s", policy->name, err.text);
    gsl_rng_free(l->rng);
    l->config = NULL;
}

void lab_free(struct lab *l)
{
    jobs_free(&l->jobs);
    cluster_free(&l->cluster);
    run_log_free(&l->log);
    pairs_free(&l->pairs);
    for (size_t i = 0; i < sizeof l->tables / sizeof *l->tables; i++)
        table_free(&l->tables[i]);
    rst_free(&l->rst);
    belief_free(&l->belief);
    contention_free(&l->contention);
    profiles_free(&l->profiles);
    workloads_free(&l->workloads);
    arena_free(&l->arena);
    *l = (struct lab){0};
}

int32_t lab_job(const struct lab *l, const char *name)
{
    int32_t job = names_find(&l->jobs.job_names, name, strlen(name));
    cr_assert_geq(job, 0, "no job %s", name);
    return job;
}

double lab_jct_s(const struct lab *l, const char *name)
{
    int32_t job = lab_job(l, name);
    cr_assert_eq(l->jobs.status[job], JOB_DONE, "job %s has status %d", name, l->jobs.status[job]);
    return s_of_us(l->jobs.finish_us[job] - l->jobs.submit_us[job]);
}

double lab_start_s(const struct lab *l, const char *name)
{
    return s_of_us(l->jobs.start_us[lab_job(l, name)]);
}

double lab_metric(const struct lab *l, enum metric m)
{
    double value[N_METRICS];
    cr_assert_eq(metrics_of(&l->jobs, &l->cluster, &l->log, (struct window){0, 0}, value, NULL),
                 ST_OK);
    return value[m];
}

void lab_random(struct lab *l, gsl_rng *rng, int n, int gap_s_max, int duration_s_max, int gpus_max)
{
    static const int32_t fraction[] = {100, 250, 333, 500, 700};
    int64_t submit_us = -5 * US_PER_S;
    for (int i = 0; i < n; i++) {
        char name[16];
        struct job_row row = job_row_empty();
        submit_us += (int64_t)gsl_rng_uniform_int(rng, (unsigned long)gap_s_max + 1) * US_PER_S;
        row.name = name;
        row.name_length = (size_t)snprintf(name, sizeof name, "j%d", i);
        row.submit_us = submit_us;
        row.duration_us =
            (int64_t)gsl_rng_uniform_int(rng, (unsigned long)duration_s_max + 1) * US_PER_S;
        row.n_inst = 1 + (int32_t)gsl_rng_uniform_int(rng, 3);
        row.gpu_milli = gsl_rng_uniform_int(rng, 3) == 0
                            ? fraction[gsl_rng_uniform_int(rng, 5)]
                            : 1000 * (int32_t)gsl_rng_uniform_int(rng, (unsigned long)gpus_max + 1);
        cr_assert_geq(jobs_add(&l->jobs, &row), 0);
        if (gsl_rng_uniform_int(rng, 8) == 0) { /* a second task of the same job */
            row.duration_us /= 2;
            row.gpu_milli = 500;
            cr_assert_geq(jobs_add(&l->jobs, &row), 0);
        }
    }
    cr_assert_eq(jobs_close(&l->jobs, NULL), ST_OK);
}

void lab_expect(const struct lab *l, size_t row, const char *why, const double *start_s,
                const double *end_s, double within_s)
{
    const struct job_table *t = &l->jobs;
    for (int32_t j = 0; j < t->n_jobs; j++) {
        cr_expect_float_eq(s_of_us(t->start_us[j]), start_s[j], within_s,
                           "row %zu, %s: job %d starts at %g", row, why, j,
                           s_of_us(t->start_us[j]));
        cr_expect_float_eq(s_of_us(t->finish_us[j]), end_s[j], within_s,
                           "row %zu, %s: job %d ends at %g", row, why, j, s_of_us(t->finish_us[j]));
    }
}
