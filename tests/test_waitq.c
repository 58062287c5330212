#include "core/cluster/waitq.h"
#include "tests/lab.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(waitq, .fini = abort_on_leak);

Test(waitq, jobs_that_ask_for_the_same_have_one_shape)
{
    struct lab l = {0};
    lab_jobs(&l, "a 0 10 1\nb 5 99 1\nc 0 10 2\nd 0 10 1 2\ne 0 10 1 1 x 0\nf 0 1 1\nf 0 2 1\ng 3 "
                 "3 1\ng 4 4 1");
    int32_t shape[7];
    cr_assert_eq(shapes_of(&l.jobs, false, shape), 4);
    const int32_t expected[] = {0, 0, 1, 2, 0, 3, 3};
    cr_assert_arr_eq(shape, expected, sizeof expected);
    cr_assert_eq(shapes_of(&l.jobs, true, shape), 5, "workload counts where jobs may share");
    lab_free(&l);
}

/* Against a sorted walk over all waiting jobs. */
Test(waitq, heads_come_in_order_of_key_and_job_over_all_shapes)
{
    enum { N = 300 };
    struct lab l = {0};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct arena arena = {0};
    struct waitq q;
    bool waiting[N] = {false}, blocked[N] = {false};
    int32_t shape[N];
    lab_random(&l, rng, N, 10, 10, 4);
    cr_assert_gt(shapes_of(&l.jobs, false, shape), 5);
    cr_assert(waitq_init(&q, &l.jobs, false, &arena));
    for (int step = 0; step < 20000; step++) {
        int job = (int)gsl_rng_uniform_int(rng, N), first = -1;
        if (!waiting[job] && gsl_rng_uniform_int(rng, 2) == 0) {
            waiting[job] = true;
            waitq_push(&q, job, (int64_t)gsl_rng_uniform_int(rng, 50));
        }
        if (gsl_rng_uniform_int(rng, 20) == 0) {
            memset(blocked, 0, sizeof blocked);
            waitq_reopen(&q);
        }
        for (int j = 0; j < N; j++)
            if (waiting[j] && !blocked[shape[j]] && (first < 0 || q.key[j] < q.key[first]))
                first = j;
        cr_assert_eq(waitq_head(&q), first);
        if (first < 0)
            continue;
        if (gsl_rng_uniform_int(rng, 3) == 0) {
            blocked[shape[first]] = true;
            waitq_block(&q);
        } else {
            waiting[first] = false;
            waitq_take(&q);
        }
    }
    arena_free(&arena);
    gsl_rng_free(rng);
    lab_free(&l);
}

Test(waitq, elastic_bounds_are_part_of_the_shape)
{
    struct lab l = {0};
    int32_t shape[4];
    lab_jobs(&l, "a 0 1 2 1 - 0 - 1 2\nb 0 1 2 1 - 0 - 2 2\nc 0 1 2 1 - 0 - 1 2\nd 0 1 1 2");
    cr_assert_eq(shapes_of(&l.jobs, false, shape), 3);
    cr_assert(shape[0] == shape[2] && shape[0] != shape[1] && shape[0] != shape[3]);
    lab_free(&l);
}

/* Each of several queues over the same jobs against a queue of its jobs alone. */
Test(waitq, many_queues_share_the_jobs_and_nothing_else)
{
    enum { N = 120, QUEUES = 4 };
    struct lab l = {0};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct arena arena = {0};
    struct waitq many[QUEUES], alone[QUEUES];
    int32_t queue[N];
    lab_random(&l, rng, N, 10, 10, 4);
    for (int i = 0; i < N; i++)
        queue[i] = (int32_t)gsl_rng_uniform_int(rng, QUEUES - 1); /* the last is empty */
    cr_assert(waitq_init_many(many, QUEUES, &l.jobs, queue, false, &arena));
    for (int q = 0; q < QUEUES; q++)
        cr_assert(waitq_init(&alone[q], &l.jobs, false, &arena));
    cr_assert(many[0].n_shapes > 1 && many[0].n_shapes < alone[0].n_shapes);
    cr_assert_eq(many[QUEUES - 1].n_shapes, 0);
    bool waiting[N] = {false};
    for (int step = 0; step < 20000; step++) {
        int job = (int)gsl_rng_uniform_int(rng, N), q = queue[job];
        if (!waiting[job]) {
            int64_t key = (int64_t)gsl_rng_uniform_int(rng, 50);
            waitq_push(&many[q], job, key);
            waitq_push(&alone[q], job, key);
            waiting[job] = true;
        }
        if (gsl_rng_uniform_int(rng, 10) == 0) {
            waitq_reopen(&many[q]);
            waitq_reopen(&alone[q]);
        }
        int32_t head = waitq_head(&alone[q]);
        cr_assert_eq(waitq_head(&many[q]), head);
        if (head < 0)
            continue;
        bool take = gsl_rng_uniform_int(rng, 2) == 0;
        (take ? waitq_take : waitq_block)(&many[q]);
        (take ? waitq_take : waitq_block)(&alone[q]);
        waiting[head] = !take;
        cr_assert_eq(many[q].n, alone[q].n);
    }
    arena_free(&arena);
    gsl_rng_free(rng);
    lab_free(&l);
}

/* Shapes of one and of two GPUs; keys fall, so the later job of a shape is its head. */
Test(waitq, a_policy_may_pick_among_the_heads_of_all_shapes_itself)
{
    struct lab l = {0};
    struct arena arena = {0};
    struct waitq q;
    lab_jobs(&l, "a 0 10 1\nb 0 10 2\nc 0 10 1\nd 0 10 2");
    cr_assert(waitq_init(&q, &l.jobs, false, &arena));
    waitq_block_all(&q);
    for (int32_t job = 0; job < 4; job++)
        waitq_push(&q, job, 10 - job);
    cr_expect_eq(waitq_head(&q), -1, "the queue's own walk sees none of them");
    cr_assert(q.root[0] == 2 && q.root[1] == 3);
    cr_expect(waitq_before(&q, q.root[1], q.root[0]));
    waitq_take_of(&q, 1);
    cr_expect(q.root[0] == 2 && q.root[1] == 1 && q.n == 3);
    waitq_take_of(&q, 1);
    waitq_take_of(&q, 0);
    cr_expect(q.root[0] == 0 && q.root[1] == -1 && q.n == 1);
    waitq_push(&q, 3, 0);
    cr_expect_eq(q.root[1], 3);
    cr_expect_eq(waitq_head(&q), -1);
    arena_free(&arena);
    lab_free(&l);
}
