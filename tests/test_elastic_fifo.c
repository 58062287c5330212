/* elastic-fifo: case 44, rules by hand, a second model by counting, and the engine's laws of
 * elastic jobs on random traces. */
#include "policies/registry.h"
#include "tests/lab.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(elastic_fifo, .fini = abort_on_leak, .timeout = 120);

static struct lab world(const char *jobs, const char *nodes)
{
    struct lab l = {.rates = {.scale_exp = 1}};
    lab_jobs(&l, jobs);
    lab_nodes(&l, nodes);
    return l;
}

/* GPUs the job held at that time, from the spans. */
static int width_at(const struct lab *l, const char *job, double at_s)
{
    int32_t j = lab_job(l, job), width = 0;
    for (size_t i = 0; i < l->log.n_spans; i++) {
        const struct span *s = &l->log.span[i];
        if (l->jobs.task_job[s->task] == j && s->start_us <= us_of_s(at_s) &&
            us_of_s(at_s) < s->end_us)
            width += s->n_gpus;
    }
    return width;
}

Test(elastic_fifo, case_44_an_elastic_job_gives_way_and_grows_back)
{
    struct lab l = world("a 0 100 4 1 - 0 - 1 4\nb 50 50 2 1 - 0 - 2 2", "4");
    lab_run(&l, "elastic-fifo");
    cr_assert_float_eq(lab_jct_s(&l, "a"), 125, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "b"), 50, 1e-9);
    cr_assert_float_eq(lab_metric(&l, METRIC_makespan_s), 125, 1e-9);
    cr_assert_eq(l.jobs.attained_milli_us[0], INT64_C(400) * 1000 * US_PER_S);
    cr_assert_eq(l.jobs.attained_milli_us[1], INT64_C(100) * 1000 * US_PER_S);
    cr_assert_float_eq(lab_metric(&l, METRIC_gpu_alloc_mean), 1, 1e-12);
    cr_assert(width_at(&l, "a", 25) == 4 && width_at(&l, "a", 75) == 2);
    cr_assert_eq(width_at(&l, "a", 110), 4);
    lab_free(&l);
}

/* jobs, nodes, then widths expected at times: one row, one behaviour. */
static const struct {
    const char *jobs, *nodes;
    struct {
        const char *job;
        double at_s;
        int width;
    } want[6];
    const char *why;
} rows[] = {
    {"a 0 100 4 1 - 0 - 1 4\nb 0 100 4 1 - 0 - 1 4\nc 10 10 2",
     "8",
     {{"a", 5, 4}, {"b", 5, 4}, {"a", 15, 4}, {"b", 15, 2}, {"c", 15, 2}, {"b", 25, 4}},
     "the youngest gives way, by no more than is needed"},
    {"a 0 100 4 1 - 0 - 1 4\nb 0 100 4 1 - 0 - 1 4\nc 10 10 6",
     "8",
     {{"a", 15, 1}, {"b", 15, 1}, {"c", 15, 6}, {"a", 25, 4}, {"b", 25, 4}},
     "down to the minimum"},
    {"a 0 100 4 1 - 0 - 2 4\nb 0 100 4 1 - 0 - 2 4\nc 10 10 5\nd 11 10 1",
     "8",
     {{"a", 15, 4}, {"b", 15, 4}, {"c", 15, 0}, {"d", 15, 0}},
     "where the minima are in the way nobody moves, and the head holds up the rest"},
    {"a 0 10 4 1 - 0 - 1 4\nb 0 10 4 1 - 0 - 1 4\nc 0 10 4 1 - 0 - 1 4",
     "6",
     {{"a", 1, 4}, {"b", 1, 1}, {"c", 1, 1}, {"b", 12, 4}, {"c", 12, 2}},
     "newcomers of one instant: all in, the first one wide"},
    {"a 0 50 2 1 - 0 - 1 8", "4", {{"a", 1, 4}}, "wider than asked where GPUs are free"},
    {"a 0 20 8 1 - 0 - 2 8", "4", {{"a", 1, 4}}, "narrower than asked on a small cluster"},
    {"r 0 10 3\na 1 50 2 1 - 0 - 2 4", "4", {{"a", 5, 0}, {"a", 12, 4}}, "not below gpu_min"},
    {"a 0 90 4 1 - 0 - 1 4\nb 10 20 0.5", "4", {{"a", 15, 3}, {"a", 35, 4}}, "a part of a card"},
};

Test(elastic_fifo, each_row_of_the_table_holds)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lab l = world(rows[i].jobs, rows[i].nodes);
        lab_run(&l, "elastic-fifo");
        for (int k = 0; k < 6 && rows[i].want[k].job != NULL; k++)
            cr_expect_eq(width_at(&l, rows[i].want[k].job, rows[i].want[k].at_s),
                         rows[i].want[k].width, "%s: %s at %g s has %d", rows[i].why,
                         rows[i].want[k].job, rows[i].want[k].at_s,
                         width_at(&l, rows[i].want[k].job, rows[i].want[k].at_s));
        lab_free(&l);
    }
}

Test(elastic_fifo, a_width_is_worth_its_power)
{
    /* 8 of 8 cards would take 20 s; on 4 of them 20 / 0.5 ^ 0.5. */
    struct lab l = world("a 0 20 8 1 - 0 - 2 8", "4");
    l.rates.scale_exp = 0.5;
    lab_run(&l, "elastic-fifo");
    cr_assert_float_eq(lab_jct_s(&l, "a"), 20 * sqrt(2), 1e-6);
    lab_free(&l);
    l = world("a 0 20 8 1 - 0 - 2 8", "4");
    lab_run(&l, "fifo");
    cr_assert_eq(l.jobs.status[0], JOB_REJECTED, "a policy that knows no widths cannot hold it");
    lab_free(&l);
}

Test(elastic_fifo, for_cards_of_one_node_more_give_way_and_grow_back_at_once)
{
    /* Spread, a has every other card: only with one card does it leave node 1 to b. */
    struct lab l = world("a 0 80 8 1 - 0 - 1 8\nb 10 10 4", "4+4");
    l.rules.mode = PLACE_SPREAD;
    lab_run(&l, "elastic-fifo");
    cr_assert_float_eq(lab_start_s(&l, "b"), 10, 1e-9);
    cr_assert_eq(width_at(&l, "a", 10), 1);
    cr_assert_eq(width_at(&l, "a", 10.00001), 4);
    cr_assert_eq(width_at(&l, "a", 21), 8);
    cr_assert_float_eq((double)l.jobs.attained_milli_us[0], 640e9, 1e4,
                       "8 x 80 s of work at scale 1 are 640 GPU-s");
    lab_free(&l);
}

/* The same rules by counting GPUs, for jobs whose places never matter (elastic ones and single
 * cards): admitted in order while the minima fit, what is above them to the oldest. */
enum { ORACLE_JOBS = 60 };
struct oracle {
    int n, gpus, n_admitted;
    double submit_s[ORACLE_JOBS], left_s[ORACLE_JOBS], start_s[ORACLE_JOBS], end_s[ORACLE_JOBS];
    int lo[ORACLE_JOBS], hi[ORACLE_JOBS], asked[ORACLE_JOBS], width[ORACLE_JOBS];
    double scale_exp;
};

static void share_out(struct oracle *o, double now_s)
{
    int used = 0;
    for (int j = 0; j < o->n_admitted; j++)
        used += o->left_s[j] > 0 ? o->lo[j] : 0;
    for (; o->n_admitted < o->n && o->submit_s[o->n_admitted] <= now_s &&
           used + o->lo[o->n_admitted] <= o->gpus;
         o->n_admitted++) {
        used += o->lo[o->n_admitted];
        o->start_s[o->n_admitted] = now_s;
    }
    for (int j = 0; j < o->n_admitted; j++) {
        if (o->left_s[j] <= 0)
            continue;
        int more = o->hi[j] - o->lo[j] < o->gpus - used ? o->hi[j] - o->lo[j] : o->gpus - used;
        o->width[j] = o->lo[j] + more;
        used += more;
    }
}

static double speed(const struct oracle *o, int j)
{
    return pow((double)o->width[j] / o->asked[j], o->scale_exp);
}

static void run_oracle(struct oracle *o)
{
    double now_s = 0;
    for (int ended = 0; ended < o->n;) {
        double next_s = INFINITY;
        share_out(o, now_s);
        for (int j = 0; j < o->n; j++) {
            if (o->submit_s[j] > now_s)
                next_s = fmin(next_s, o->submit_s[j]);
            if (j < o->n_admitted && o->left_s[j] > 0)
                next_s = fmin(next_s, now_s + o->left_s[j] / speed(o, j));
        }
        for (int j = 0; j < o->n_admitted; j++) {
            if (o->left_s[j] <= 0)
                continue;
            o->left_s[j] -= (next_s - now_s) * speed(o, j);
            if (o->left_s[j] < 1e-6) {
                o->left_s[j] = 0;
                o->end_s[j] = next_s;
                ended++;
            }
        }
        now_s = next_s;
    }
}

Test(elastic_fifo, agrees_with_a_second_model_that_counts)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int round = 0; round < 400; round++) {
        struct oracle o = {.n = ORACLE_JOBS, .gpus = 12, .scale_exp = round % 2 ? 1 : 0.7};
        char text[ORACLE_JOBS * 64] = "";
        double t = 0;
        for (int j = 0; j < o.n; j++) {
            t += gsl_rng_uniform(rng) * 12;
            bool elastic = gsl_rng_uniform_int(rng, 3) > 0;
            o.submit_s[j] = floor(t * 1e6) / 1e6;
            o.left_s[j] = floor((1 + gsl_rng_uniform(rng) * 40) * 1e6) / 1e6;
            o.lo[j] = elastic ? 1 + (int)gsl_rng_uniform_int(rng, 4) : 1;
            o.hi[j] = elastic ? o.lo[j] + (int)gsl_rng_uniform_int(rng, 8) : 1;
            o.asked[j] = elastic ? 1 + (int)gsl_rng_uniform_int(rng, 10) : 1;
            sprintf(text + strlen(text), "j%d %.6f %.6f %d 1 - 0 - %d %d\n", j, o.submit_s[j],
                    o.left_s[j], o.asked[j], elastic ? o.lo[j] : 0, elastic ? o.hi[j] : 0);
        }
        struct lab l = {.rates = {.scale_exp = o.scale_exp},
                        .rules.mode = (enum place_mode)(round % 5)};
        lab_jobs(&l, text);
        lab_nodes(&l, round % 3 ? "4+4+4" : "12");
        lab_run(&l, "elastic-fifo");
        run_oracle(&o);
        for (int j = 0; j < o.n; j++) {
            cr_assert_float_eq(s_of_us(l.jobs.start_us[j]), o.start_s[j], 1e-4,
                               "round %d, job %d starts at %g, not %g", round, j,
                               s_of_us(l.jobs.start_us[j]), o.start_s[j]);
            cr_assert_float_eq(s_of_us(l.jobs.finish_us[j]), o.end_s[j], 1e-4,
                               "round %d, job %d ends at %g, not %g", round, j,
                               s_of_us(l.jobs.finish_us[j]), o.end_s[j]);
        }
        lab_free(&l);
    }
    gsl_rng_free(rng);
}

/* A random table like the lab's, two thirds of whose jobs of whole GPUs are elastic. */
static void random_jobs(struct lab *l, gsl_rng *rng, int n)
{
    int64_t submit_us = 0;
    for (int i = 0; i < n; i++) {
        char name[16];
        struct job_row row = job_row_empty();
        submit_us += (int64_t)gsl_rng_uniform_int(rng, 7) * US_PER_S;
        row.name = name;
        row.name_length = (size_t)snprintf(name, sizeof name, "j%d", i);
        row.submit_us = submit_us;
        row.duration_us = (int64_t)gsl_rng_uniform_int(rng, 41) * US_PER_S;
        row.gpu_milli = 1000 * (1 + (int32_t)gsl_rng_uniform_int(rng, 4));
        row.n_inst = 1 + (int32_t)gsl_rng_uniform_int(rng, 2);
        if (gsl_rng_uniform_int(rng, 5) == 0)
            row.gpu_milli = 300;
        else if (gsl_rng_uniform_int(rng, 3) > 0) {
            row.gpu_min = 1 + (int32_t)gsl_rng_uniform_int(rng, 5);
            row.gpu_max = row.gpu_min + (int32_t)gsl_rng_uniform_int(rng, 9);
        }
        cr_assert_geq(jobs_add(&l->jobs, &row), 0);
    }
    cr_assert_eq(jobs_close(&l->jobs, NULL), ST_OK);
}

static int by_start(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    if (x->start_us != y->start_us)
        return x->start_us < y->start_us ? -1 : 1;
    return (x->end_us > y->end_us) - (x->end_us < y->end_us);
}

/* Work done, GPU time and widths of one job, from its spans (sorted by start). */
static void check_job(const struct lab *l, int32_t job, const struct span *s, size_t n)
{
    const struct job_table *t = &l->jobs;
    const bool elastic = job_is_elastic(t, job);
    int32_t task = t->task_begin[job];
    double done_us = 0, held_milli_us = 0;
    cr_assert_eq(s[0].start_us, t->start_us[job]);
    for (size_t i = 0, next; i < n; i = next) {
        int32_t width = 0;
        /* Passes at one instant (a job of no length ended) leave bars of no length. */
        for (next = i;
             next < n && s[next].start_us == s[i].start_us && s[next].end_us == s[i].end_us; next++)
            width += elastic ? s[next].n_gpus : s[next].n_inst;
        int64_t for_us = s[i].end_us - s[i].start_us;
        cr_assert_eq(s[i].end_us, next < n ? s[next].start_us : t->finish_us[job],
                     "job %d runs without a gap", job);
        if (for_us == 0)
            continue;
        if (elastic)
            cr_assert(width >= t->gpu_min[job] && width <= t->gpu_max[job], "job %d on %d", job,
                      width);
        else
            cr_assert_eq(width, t->n_inst[task]);
        double scale = elastic ? pow((double)width / t->n_inst[task], l->rates.scale_exp) : 1;
        done_us += scale * (double)for_us;
        held_milli_us += (double)for_us * width * t->gpu_milli[task];
    }
    double duration_us = (double)job_duration_us(t, job);
    cr_assert_geq(done_us, duration_us - 0.01, "job %d", job);
    cr_assert_leq(done_us, duration_us + fmax(1, t->gpu_max[job]) + 0.01,
                  "job %d: no more than a microsecond's work over", job);
    cr_assert_float_eq((double)t->attained_milli_us[job], held_milli_us, 0.5);
    cr_assert_float_eq(t->done_us[job], duration_us, 1e-3);
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* No card is free for longer than a microsecond while a running job could take it. */
static void check_no_idle(const struct lab *l)
{
    const struct job_table *t = &l->jobs;
    size_t n = l->log.n_spans;
    int64_t *at = malloc((n + 1) * sizeof *at);
    bool *taken = malloc((size_t)l->cluster.n_cards + 1);
    int32_t *width = malloc(((size_t)t->n_jobs + 1) * sizeof *width);
    for (size_t i = 0; i < n; i++)
        at[i] = l->log.span[i].start_us;
    qsort(at, n, sizeof *at, by_time);
    for (size_t k = 0; k < n; k++) {
        int32_t n_free = l->cluster.n_cards;
        memset(taken, 0, (size_t)l->cluster.n_cards);
        memset(width, 0, (size_t)t->n_jobs * sizeof *width);
        int64_t when_us = at[k] + 2;
        for (size_t i = 0; i < n; i++) {
            const struct span *s = &l->log.span[i];
            if (s->start_us > when_us || s->end_us <= when_us)
                continue;
            width[t->task_job[s->task]] += s->n_gpus;
            for (int32_t g = 0; g < s->n_gpus; g++) {
                bool *card = &taken[l->cluster.node_card[s->node] + s->first_gpu + g];
                n_free -= !*card;
                *card = true;
            }
        }
        for (int32_t j = 0; j < t->n_jobs && n_free > 0; j++)
            cr_assert(width[j] == 0 || !job_is_elastic(t, j) || width[j] == t->gpu_max[j],
                      "at %g s %d cards are free and job %d has %d of %d", s_of_us(when_us), n_free,
                      j, width[j], t->gpu_max[j]);
    }
    free(at);
    free(taken);
    free(width);
}

Test(elastic_fifo, laws_of_elastic_jobs_hold_on_random_traces)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int64_t n_resizes = 0, n_rejected = 0;
    for (int round = 0; round < 300; round++) {
        static const char *const nodes[] = {"4+8+2", "3+3+3+3", "16", "1+1+1+1+1+1+4"};
        static const double exponents[] = {1, 0.9, 0.5, 0};
        struct lab l = {.rates = {.scale_exp = exponents[round % 4]},
                        .rules.mode = (enum place_mode)(round % 5)};
        random_jobs(&l, rng, 80);
        lab_nodes(&l, nodes[round / 4 % 4]);
        lab_run(&l, "elastic-fifo");
        qsort(l.log.span, l.log.n_spans, sizeof *l.log.span, by_start);
        const struct span *s = l.log.span, *end = s + l.log.n_spans;
        int64_t last_start_us = INT64_MIN;
        for (int32_t j = 0; j < l.jobs.n_jobs; j++) {
            cr_assert(l.jobs.status[j] == JOB_DONE || l.jobs.status[j] == JOB_REJECTED);
            n_rejected += l.jobs.status[j] == JOB_REJECTED;
            if (l.jobs.status[j] == JOB_REJECTED)
                continue;
            const struct span *first = s;
            while (s < end && l.jobs.task_job[s->task] == j)
                s++;
            check_job(&l, j, first, (size_t)(s - first));
            cr_assert_geq(l.jobs.start_us[j], last_start_us, "first come, first served");
            last_start_us = l.jobs.start_us[j];
        }
        check_no_idle(&l);
        cr_assert_eq(l.log.n_evictions, 0);
        n_resizes += l.log.n_resizes;
        lab_free(&l);
    }
    cr_assert(n_resizes > 10000 && n_rejected > 0, "%ld resizes, %ld rejected", (long)n_resizes,
              (long)n_rejected);
    gsl_rng_free(rng);
}

Test(elastic_fifo, shared_cards_and_typed_nodes_keep_the_books)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int round = 0; round < 60; round++) {
        struct lab l = {.rates = {.scale_exp = 1}, .rules.share_max = 1 + round % 2};
        char text[80 * 80] = "";
        for (int i = 0; i < 80; i++) {
            int lo = (int)gsl_rng_uniform_int(rng, 4);
            sprintf(text + strlen(text), "j%d %d %d %d 1 w 0 %s %d %d\n", i, i,
                    (int)gsl_rng_uniform_int(rng, 30), 1 + (int)gsl_rng_uniform_int(rng, 4),
                    round % 3 == 0                ? "-"
                    : gsl_rng_uniform_int(rng, 2) ? "T4"
                                                  : "V100",
                    lo, lo > 0 ? lo + 3 : 0);
        }
        lab_jobs(&l, text);
        lab_nodes(&l, "4:T4+4:V100+2:T4");
        lab_run(&l, "elastic-fifo");
        for (int32_t j = 0; j < l.jobs.n_jobs; j++) {
            cr_assert_eq(l.jobs.status[j], JOB_DONE, "round %d, job %d", round, j);
            cr_assert_float_eq(l.jobs.done_us[j], (double)job_duration_us(&l.jobs, j), 1e-3);
        }
        lab_free(&l);
    }
    gsl_rng_free(rng);
}

Test(elastic_fifo, is_fifo_where_no_job_is_elastic)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int round = 0; round < 20; round++) {
        struct lab l = {0};
        int64_t start_us[100];
        lab_random(&l, rng, 100, 6, 60, 4);
        lab_nodes(&l, "4+8+2");
        lab_run(&l, "fifo");
        memcpy(start_us, l.jobs.start_us, sizeof start_us);
        lab_run(&l, "elastic-fifo");
        for (int32_t j = 0; j < 100; j++)
            cr_assert_eq(l.jobs.start_us[j], start_us[j]);
        lab_free(&l);
    }
    gsl_rng_free(rng);
}
