#include "sim/run/crew.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

TestSuite(crew, .fini = abort_on_leak);

enum { MANY = 60 };

struct log {
    int n, delivered[MANY], n_freed, fails_at, slow_at;
    atomic_int taken, ahead_max, n_delivered, worker_max;
};

static enum status work(void *context, int worker, int i, void **product, struct error *err)
{
    struct log *l = context;
    int ahead = atomic_fetch_add(&l->taken, 1) + 1 - atomic_load(&l->n_delivered);
    if (ahead > atomic_load(&l->ahead_max))
        atomic_store(&l->ahead_max, ahead);
    if (worker > atomic_load(&l->worker_max))
        atomic_store(&l->worker_max, worker);
    if (i == l->slow_at)
        nanosleep(&(struct timespec){0, 50000000}, NULL);
    *product = (void *)(intptr_t)(i + 1);
    return i == l->fails_at ? fail(err, ST_INPUT, "piece %d", i) : ST_OK;
}

static enum status deliver(void *context, int i, void *product, struct error *err)
{
    struct log *l = context;
    (void)err;
    if (i < 0) {
        l->n_freed++;
        return ST_OK;
    }
    cr_assert_eq((intptr_t)product, i + 1);
    l->delivered[l->n++] = i;
    atomic_store(&l->n_delivered, l->n);
    return ST_OK;
}

static void expect_in_order(const struct log *l, int n)
{
    cr_assert_eq(l->n, n);
    for (int i = 0; i < n; i++)
        cr_assert_eq(l->delivered[i], i);
}

Test(crew, delivers_in_order_at_any_number_of_threads)
{
    for (int threads = 0; threads <= 9; threads++) {
        struct log l = {.fails_at = -1, .slow_at = 3};
        struct error err;
        cr_assert_eq(crew_run(&(struct crew_job){&l, work, deliver}, MANY, threads, &err), ST_OK);
        expect_in_order(&l, MANY);
        cr_assert(l.worker_max < (threads > 1 ? threads : 1));
    }
}

Test(crew, threads_go_on_past_a_slow_piece_but_not_without_bound)
{
    struct log l = {.fails_at = -1, .slow_at = 0};
    struct error err;
    cr_assert_eq(crew_run(&(struct crew_job){&l, work, deliver}, MANY, 2, &err), ST_OK);
    expect_in_order(&l, MANY);
    /* piece 0 sleeps: the other thread takes all that may be ahead, and no more */
    cr_assert_eq(l.ahead_max, 2 * CREW_AHEAD);
}

Test(crew, the_first_failure_in_order_ends_it_and_what_is_behind_it_is_freed)
{
    for (int threads = 1; threads <= 4; threads++) {
        struct log l = {.fails_at = 7, .slow_at = 7};
        struct error err;
        cr_assert_eq(crew_run(&(struct crew_job){&l, work, deliver}, MANY, threads, &err),
                     ST_INPUT);
        cr_assert_str_eq(err.text, "piece 7");
        expect_in_order(&l, 7);
        cr_assert_eq(l.n_freed, l.taken - 8, "all that was taken but the eight");
    }
}

Test(crew, no_pieces_are_no_work)
{
    struct log l = {.fails_at = -1, .slow_at = -1};
    struct error err;
    cr_assert_eq(crew_run(&(struct crew_job){&l, work, deliver}, 0, 4, &err), ST_OK);
    cr_assert_eq(l.taken, 0);
}
