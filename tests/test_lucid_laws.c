/* What must hold of Lucid's pairs on any trace: who sits where is read off the bars of the Gantt,
 * and work is integrated again from the measured speeds. */
#include "tests/leak.h"
#include "tests/lucid_lab.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(lucid_laws, .fini = abort_on_leak, .timeout = 120);

enum { N_JOBS = 150, N_KINDS = 4, CARDS = 14 };

struct pair_rates {
    double first, second; /* of the row's and the column's, a <= b */
};

static int below(gsl_rng *rng, int n) { return (int)gsl_rng_uniform_int(rng, (unsigned long)n); }

static int kind_of(const struct lab *l, int32_t job)
{
    return names_text(&l->jobs.names, l->jobs.workload[job])[1] - '0';
}

static void draw(struct lab *l, gsl_rng *rng, struct pair_rates rate[N_KINDS][N_KINDS])
{
    char text[1024];
    int64_t submit_us = 0;
    int n = sprintf(text, "workload1,workload2,speed1,speed2\n");
    for (int a = 0; a < N_KINDS; a++)
        for (int b = a; b < N_KINDS; b++) {
            rate[a][b] =
                (struct pair_rates){(400 + below(rng, 600)) / 1e3, (400 + below(rng, 600)) / 1e3};
            n +=
                sprintf(text + n, "k%d,k%d,%.3f,%.3f\n", a, b, rate[a][b].first, rate[a][b].second);
        }
    lab_table(l, LUCID_RATES, text);
    for (int i = 0; i < N_JOBS; i++) {
        struct job_row row = job_row_empty();
        char name[16], kind[16];
        row.name = name;
        row.name_length = (size_t)snprintf(name, sizeof name, "j%d", i);
        submit_us += (int64_t)below(rng, 9000000);
        row.submit_us = submit_us;
        row.duration_us = 1 + below(rng, 90000000);
        row.n_inst = below(rng, 6) == 0 ? 2 : 1;
        row.gpu_milli = below(rng, 8) == 0 ? 300 : 1000 * (1 + below(rng, 4));
        row.gpu_mem_mib = 1000 * (1 + below(rng, 16));
        row.workload = names_add(&l->jobs.names, kind,
                                 (size_t)snprintf(kind, sizeof kind, "k%d", below(rng, N_KINDS)));
        cr_assert_geq(jobs_add(&l->jobs, &row), 0);
    }
    cr_assert_eq(jobs_close(&l->jobs, NULL), ST_OK);
    lab_nodes(l, "4x24576MiB+8x24576MiB+2x24576MiB");
}

/* (n_jobs) the cards of each job that asks for whole ones, a bit each. */
static void cards_of(const struct lab *l, unsigned *cards)
{
    memset(cards, 0, N_JOBS * sizeof *cards);
    for (size_t i = 0; i < l->log.n_spans; i++) {
        const struct span *s = &l->log.span[i];
        int first = l->cluster.node_card[s->node] + s->first_gpu;
        cards[s->task] |= ((1u << s->n_gpus) - 1) << first;
    }
}

static bool whole(const struct lab *l, int32_t job) { return l->jobs.gpu_milli[job] >= 1000; }

/* Seconds in which both run. */
static double together_s(const struct job_table *t, int32_t a, int32_t b)
{
    int64_t begin = t->start_us[a] > t->start_us[b] ? t->start_us[a] : t->start_us[b];
    int64_t end = t->finish_us[a] < t->finish_us[b] ? t->finish_us[a] : t->finish_us[b];
    return end > begin ? s_of_us(end - begin) : 0;
}

/* What a keeps beside b; of two of a kind the one that came second is the first of the row. */
static double speed_beside(const struct lab *l, struct pair_rates rate[N_KINDS][N_KINDS],
                           const int64_t *order, int32_t a, int32_t b)
{
    int x = kind_of(l, a), y = kind_of(l, b);
    if (x == y)
        return order[a] > order[b] ? rate[x][y].first : rate[x][y].second;
    return x < y ? rate[x][y].first : rate[y][x].second;
}

/* (n_jobs) in order of start: bars of one instant are recorded as they end, so ties are settled by
 * the estimates, the more urgent first. */
static void order_of(const struct lab *l, int64_t *order)
{
    const struct job_table *t = &l->jobs;
    for (int32_t j = 0; j < t->n_jobs; j++) {
        order[j] = 0;
        for (int32_t k = 0; k < t->n_jobs; k++) {
            int64_t gpu_us = t->duration_us[j] * job_gpu_milli(t, j);
            int64_t other_us = t->duration_us[k] * job_gpu_milli(t, k);
            order[j] += t->start_us[k] < t->start_us[j] ||
                        (t->start_us[k] == t->start_us[j] &&
                         (other_us < gpu_us || (other_us == gpu_us && k < j)));
        }
    }
}

static int check_pairs(const struct lab *l, struct pair_rates rate[N_KINDS][N_KINDS])
{
    const struct job_table *t = &l->jobs;
    unsigned cards[N_JOBS];
    int64_t order[N_JOBS];
    int n_pairs = 0;
    cards_of(l, cards);
    order_of(l, order);
    for (int32_t a = 0; a < t->n_jobs; a++) {
        if (t->status[a] == JOB_REJECTED)
            continue;
        cr_assert_eq(t->status[a], JOB_DONE);
        double lost_s = 0, shared_s = 0;
        for (int32_t b = 0; b < t->n_jobs; b++) {
            double both_s = a == b || !whole(l, a) || !whole(l, b) ? 0 : together_s(t, a, b);
            if (both_s == 0 || (cards[a] & cards[b]) == 0)
                continue;
            cr_assert_eq(cards[a], cards[b], "the same GPUs, or none in common");
            cr_assert_lt(t->gpu_mem_mib[a] + t->gpu_mem_mib[b], 24576);
            shared_s += both_s;
            lost_s += both_s * (1 - speed_beside(l, rate, order, a, b));
            n_pairs++;
        }
        double stay_s = s_of_us(t->finish_us[a] - t->start_us[a]);
        cr_assert_leq(shared_s, stay_s + 1e-6, "job %d never has two mates at once", a);
        cr_assert_float_eq(stay_s - lost_s, s_of_us(t->duration_us[a]), 5e-6,
                           "job %d: work done in %.6f s", a, stay_s);
    }
    return n_pairs / 2;
}

Test(lucid_laws, pairs_share_whole_sets_of_gpus_and_their_work_adds_up)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int n_pairs = 0;
    for (int round = 0; round < 60; round++) {
        struct lab l = {0};
        struct pair_rates rate[N_KINDS][N_KINDS];
        draw(&l, rng, rate);
        lab_settings(&l, "lucid",
                     round % 2 ? "rates=given estimate=oracle unlabelled=medium"
                               : "rates=given estimate=oracle unlabelled=tiny free_gpus=artifact");
        lab_run(&l, "lucid");
        n_pairs += check_pairs(&l, rate);
        lab_free(&l);
    }
    cr_assert_gt(n_pairs, 1000, "%d pairs: too easy", n_pairs);
    gsl_rng_free(rng);
}
