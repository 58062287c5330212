#include "core/base/rng.h"
#include "core/elastico/undecided.h"
#include "tests/esp_lab.h"
#include "tests/leak.h"

#include <criterion/criterion.h>

TestSuite(undecided, .fini = abort_on_leak);

enum { N = 6 };

/* Six jobs of two options at no prices: behind by the second one's cost. */
static int32_t find(const double second[N], int32_t n, int32_t job[N])
{
    static const int32_t begin[N + 1] = {0, 2, 4, 6, 8, 10, 12};
    static const double demand[2 * N] = {0};
    double loss[2 * N] = {0}, behind[2 * N], none = 0;
    for (int j = 0; j < N; j++)
        loss[2 * j + 1] = second[j];
    const struct choice_problem p = {
        .n_jobs = N, .n_rows = 2 * N, .n_res = 1, .begin = begin, .demand = demand, .loss = loss};
    struct arena a = {0};
    struct choice_set s;
    struct choice c;
    cr_assert(choice_set_init(&s, N, 2 * N, 2 * N, &a) && choice_init(&c, N, &a));
    choice_set_load(&s, &p);
    choice_at_prices(&s, &none, &c);
    int32_t found = undecided_find(&s, &c, n, behind, job);
    arena_free(&a);
    return found;
}

Test(undecided, those_least_behind_come_in_order_of_their_numbers_and_ties_all_come)
{
    static const struct {
        double second[N];
        int32_t n, n_found, job[N];
    } rows[] = {
        {{5, 1, 4, 2, 6, 3}, 1, 1, {1}},
        {{5, 1, 4, 2, 6, 3}, 3, 3, {1, 3, 5}},
        {{5, 1, 4, 2, 6, 3}, 6, 6, {0, 1, 2, 3, 4, 5}},
        {{2, 1, 2, 2, 6, 3}, 2, 4, {0, 1, 2, 3}},
        {{1, 1, 1, 1, 1, 1}, 1, 6, {0, 1, 2, 3, 4, 5}},
        {{6, 5, 4, 3, 2, 1}, 2, 2, {4, 5}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int32_t job[N];
        cr_assert_eq(find(rows[i].second, rows[i].n, job), rows[i].n_found, "row %zu", i);
        for (int32_t k = 0; k < rows[i].n_found; k++)
            cr_assert_eq(job[k], rows[i].job[k], "row %zu", i);
    }
}

static double behind_by_hand(const struct choice_set *s, const struct choice *c, int32_t job)
{
    double least = 1e300;
    for (int32_t o = s->p->begin[job]; o < s->p->begin[job + 1]; o++)
        if (o != c->option[job] && choice_score(s, job, o) < least)
            least = choice_score(s, job, o);
    return least - choice_score(s, job, c->option[job]);
}

Test(undecided, no_job_left_out_is_nearer_than_one_that_came)
{
    gsl_rng *rng = rng_stream(1, "test_undecided");
    struct lab_families families;
    lab_families_make(&families, rng);
    const struct lab_shape shape = {.n_jobs = 300, .n_options = 8, .least = 0.1, .most = 0.9};
    struct arena a = {0};
    struct choice_problem p = lab_draw(&families, &shape, rng, &a);
    struct choice_set s;
    struct choice c;
    cr_assert(choice_set_init(&s, 300, p.begin[300], p.n_rows, &a) && choice_init(&c, 300, &a));
    choice_set_load(&s, &p);
    double behind[600];
    int32_t job[300];
    for (int n = 1; n <= 300; n += 13) {
        double price[LAB_RES];
        for (int r = 0; r < LAB_RES; r++)
            price[r] = 100 * gsl_rng_uniform(rng);
        choice_at_prices(&s, price, &c);
        int32_t found = undecided_find(&s, &c, n, behind, job), at = 0;
        cr_assert_geq(found, n);
        double farthest = 0, nearest = 1e300;
        for (int32_t j = 0; j < 300; j++) {
            double by = behind_by_hand(&s, &c, j);
            if (at < found && job[at] == j) {
                farthest = by > farthest ? by : farthest;
                at++;
            } else {
                nearest = by < nearest ? by : nearest;
            }
        }
        cr_assert_eq(at, found, "ascending, each once");
        cr_assert_lt(farthest, nearest);
    }
    arena_free(&a);
    gsl_rng_free(rng);
}
