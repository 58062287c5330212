/* Groups in line come out by rank, whatever the order in which they came. */
#include "policies/volcano/vol_lines.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>

TestSuite(vol_lines, .fini = abort_on_leak);

enum { N_JOBS = 60, N_SHAPES = 6, N_QUEUES = 3 };

Test(vol_lines, every_shape_keeps_its_jobs_in_order_and_every_queue_its_shapes)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    static const int32_t queue[N_SHAPES] = {0, 0, 1, 2, 2, 2};
    for (int round = 0; round < 200; round++) {
        struct arena arena = {0};
        struct vol_lines l;
        int32_t shape[N_JOBS], rank[N_JOBS], n_in = 0;
        bool in[N_JOBS] = {false};
        for (int32_t j = 0; j < N_JOBS; j++) {
            shape[j] = (int32_t)gsl_rng_uniform_int(rng, N_SHAPES);
            int32_t k = (int32_t)gsl_rng_uniform_int(rng, (unsigned long)j + 1);
            rank[j] = k == j ? j : rank[k]; /* a random order */
            rank[k] = k == j ? rank[k] : j;
        }
        cr_assert(vol_lines_init(&l, N_JOBS, shape, rank, N_SHAPES, queue, N_QUEUES, &arena));
        for (int step = 0; step < 300; step++) {
            int32_t job = (int32_t)gsl_rng_uniform_int(rng, N_JOBS), first = -1, n_live = 0;
            int32_t its = shape[job];
            for (int32_t j = 0; j < N_JOBS; j++)
                if (in[j] && shape[j] == its && (first < 0 || rank[j] < rank[first]))
                    first = j;
            cr_assert_eq(vol_lines_head(&l, VOL_LINE_NODES, its), first);
            if (!in[job]) {
                vol_lines_push(&l, VOL_LINE_NODES, job);
                in[job] = true;
                n_in++;
            } else {
                cr_assert_eq(vol_lines_pop(&l, VOL_LINE_NODES, its), first);
                in[first] = false;
                n_in--;
            }
            for (int32_t q = 0; q < N_QUEUES; q++)
                for (int32_t i = 0; i < l.line[VOL_LINE_NODES].n[q]; i++, n_live++) {
                    int32_t s = l.line[VOL_LINE_NODES].shapes[l.begin[q] + i];
                    cr_assert(queue[s] == q && vol_lines_head(&l, VOL_LINE_NODES, s) >= 0);
                }
            int32_t n_shapes = 0;
            for (int32_t s = 0; s < N_SHAPES; s++)
                n_shapes += vol_lines_head(&l, VOL_LINE_NODES, s) >= 0;
            cr_assert_eq(n_live, n_shapes);
            cr_assert_eq(vol_lines_head(&l, VOL_LINE_ADMISSION, its), -1);
        }
        cr_assert_leq(n_in, N_JOBS);
        arena_free(&arena);
    }
    gsl_rng_free(rng);
}
