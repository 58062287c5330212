/* What queues are due: by hand, and against the definition by bisection. */
#include "policies/volcano/vol_deserved.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>

TestSuite(vol_deserved, .fini = abort_on_leak);

enum { N = 3 };

static struct vol_queue queue_of(double weight, double pending, double cap, double guarantee)
{
    return (struct vol_queue){
        .weight = weight,
        .open = true,
        .n_jobs = 1,
        .pending = {{[AMOUNT_GPU] = pending}},
        .capability = {{INFINITY, INFINITY, cap, INFINITY, INFINITY}},
        .guarantee = {{[AMOUNT_GPU] = guarantee}},
    };
}

/* Of 12 units: weight, asked, capability, guarantee of three queues, and what each is due. */
static const struct {
    double weight[N], asked[N], cap[N], guarantee[N], due[N];
    const char *why;
} rows[] = {
    {{1, 1, 1}, {9, 9, 9}, {99, 99, 99}, {0, 0, 0}, {4, 4, 4}, "equal parts"},
    {{1, 2, 3}, {99, 99, 99}, {99, 99, 99}, {0, 0, 0}, {2, 4, 6}, "by weight"},
    {{1, 1, 1}, {1, 9, 9}, {99, 99, 99}, {0, 0, 0}, {1, 5.5, 5.5}, "what one leaves goes on"},
    {{1, 1, 1}, {1, 2, 3}, {99, 99, 99}, {0, 0, 0}, {1, 2, 3}, "no more than is asked for"},
    {{3, 1, 1}, {9, 9, 9}, {2, 99, 99}, {0, 0, 0}, {2, 5, 5}, "no more than it may have"},
    {{1, 1, 1}, {9, 9, 0}, {99, 99, 99}, {0, 0, 0}, {6, 6, 0}, "nothing asked, nothing due"},
    {{1, 1, 1}, {12, 12, 12}, {99, 99, 99}, {6, 0, 0}, {6, 4, 4}, "a guarantee comes on top"},
    {{1, 1, 1}, {20, 0, 0}, {99, 99, 99}, {0, 8, 0}, {4, 8, 0}, "others' guarantees are not had"},
};

Test(vol_deserved, each_row_of_the_table_holds)
{
    const struct amounts total = {{[AMOUNT_GPU] = 12}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vol_queue q[N];
        for (int k = 0; k < N; k++)
            q[k] =
                queue_of(rows[i].weight[k], rows[i].asked[k], rows[i].cap[k], rows[i].guarantee[k]);
        vol_deserved(q, N, &total);
        for (int k = 0; k < N; k++)
            cr_expect_float_eq(q[k].deserved.of[AMOUNT_GPU], rows[i].due[k], 1e-9,
                               "%s: queue %d is due %g", rows[i].why, k,
                               q[k].deserved.of[AMOUNT_GPU]);
    }
}

Test(vol_deserved, a_queue_without_groups_takes_no_part)
{
    const struct amounts total = {{[AMOUNT_GPU] = 12}};
    struct vol_queue q[] = {queue_of(1, 5, 99, 0), queue_of(9, 5, 99, 0)};
    q[1].n_jobs = 0;
    q[1].pending = (struct amounts){{0}};
    vol_deserved(q, 2, &total);
    cr_assert_float_eq(q[0].deserved.of[AMOUNT_GPU], 5, 1e-9);
    cr_assert_float_eq(q[1].deserved.of[AMOUNT_GPU], 0, 1e-9);
}

Test(vol_deserved, tasks_are_allowed_by_what_they_ask_for_and_queues_full_by_everything)
{
    struct vol_queue q = {
        .open = true, .deserved = {{2000, 10, 3000, 0, 5}}, .allocated = {{2000, 4, 2000, 0, 5}}};
    const struct amounts gpu = {{[AMOUNT_GPU] = 1000, [AMOUNT_PODS] = 1}};
    const struct amounts cpu = {{[AMOUNT_CPU] = 1}}, two = {{[AMOUNT_GPU] = 2000}};
    cr_assert(vol_allocatable(&q, &gpu), "slots for pods do not count");
    cr_assert(!vol_allocatable(&q, &cpu));
    cr_assert(!vol_allocatable(&q, &two));
    cr_assert(!vol_overused(&q));
    q.allocated = (struct amounts){{2000, 12, 3000, 0, 5}};
    cr_assert(vol_overused(&q));
    q.allocated = (struct amounts){{0}};
    q.open = false;
    cr_assert(!vol_allocatable(&q, &gpu));
}

/* Without guarantees the rounds end at the level l with sum min(cap, asked, w l) = total. */
Test(vol_deserved, rounds_end_where_bisection_does)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int round = 0; round < 500; round++) {
        enum { MAX = 8 };
        struct vol_queue q[MAX];
        int n = 1 + (int)gsl_rng_uniform_int(rng, MAX);
        const struct amounts total = {{[AMOUNT_GPU] = 100000}};
        double lo = 0, hi = 1e7;
        for (int k = 0; k < n; k++)
            q[k] = queue_of(1 + (double)gsl_rng_uniform_int(rng, 5),
                            (double)gsl_rng_uniform_int(rng, 60000),
                            (double)gsl_rng_uniform_int(rng, 90000), 0);
        vol_deserved(q, n, &total);
        for (int step = 0; step < 200; step++) {
            double level = (lo + hi) / 2, sum = 0;
            for (int k = 0; k < n; k++)
                sum += fmin(fmin(q[k].capability.of[AMOUNT_GPU], q[k].pending.of[AMOUNT_GPU]),
                            q[k].weight * level);
            *(sum > 100000 ? &hi : &lo) = level;
        }
        for (int k = 0; k < n; k++) {
            double due = fmin(fmin(q[k].capability.of[AMOUNT_GPU], q[k].pending.of[AMOUNT_GPU]),
                              q[k].weight * lo);
            cr_assert_float_eq(q[k].deserved.of[AMOUNT_GPU], due, 1, "round %d, queue %d: %g, %g",
                               round, k, q[k].deserved.of[AMOUNT_GPU], due);
        }
    }
    gsl_rng_free(rng);
}
