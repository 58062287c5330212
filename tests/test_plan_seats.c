/* plan_start_at and plan_resize_at: given seats, taken and taken back. */
#include "core/cluster/plan.h"
#include "tests/lab.h"
#include "tests/leak.h"

#include <criterion/criterion.h>

TestSuite(plan_seats, .fini = abort_on_leak);

static struct plan plan_of(struct lab *l)
{
    struct plan p;
    cr_assert_eq(plan_init(&p, &l->cluster, &l->jobs,
                           (struct place_rules){.pool = -1, .share_max = 1}, NULL),
                 ST_OK);
    return p;
}

static void done(struct lab *l, struct plan *p)
{
    cr_assert(cluster_valid(&l->cluster, &l->jobs));
    plan_free(p);
    lab_free(l);
}

/* Does the task sit on exactly these? */
static bool sits(const struct lab *l, const struct plan *p, int32_t task, const int32_t *where,
                 int32_t n)
{
    bool right = p->at[task].n == n;
    for (int32_t i = 0; right && i < n; i++)
        right = l->cluster.seats[p->at[task].first + i].where == where[i];
    return right;
}

Test(plan_seats, a_job_of_several_tasks_starts_on_the_seats_given_task_by_task)
{
    struct lab l = {0};
    /* The shorter task comes first: half a GPU twice, then no GPU, then two of two. */
    lab_jobs(&l, "a 0 30 2 2\na 0 10 .5 2\na 0 20 0");
    lab_nodes(&l, "4+4");
    struct plan p = plan_of(&l);
    static const int32_t where[] = {3, 3, ~1, 0, 1, 4, 5};
    cr_assert(plan_start_at(&p, 0, where, 7));
    cr_assert(sits(&l, &p, 0, where, 2) && sits(&l, &p, 1, where + 2, 1) &&
              sits(&l, &p, 2, where + 3, 4));
    cr_assert_eq(l.cluster.cards_free[0], 1);
    cr_assert_eq(l.cluster.cards_free[1], 2);
    cr_assert(cluster_valid(&l.cluster, &l.jobs));
    plan_undo(&p, 0);
    cr_assert_eq(l.cluster.gpu_held_milli, 0);
    /* After a restart only what has not ended is given seats. */
    cr_assert(plan_start_at(&p, 0, where, 7));
    plan_clear(&p);
    plan_end_task(&p, 0);
    plan_evict(&p, 0, 0);
    plan_clear(&p);
    static const int32_t rest[] = {~0, 6, 7, 2, 3};
    cr_assert(plan_start_at(&p, 0, rest, 5));
    cr_assert(sits(&l, &p, 1, rest, 1) && sits(&l, &p, 2, rest + 1, 4));
    done(&l, &p);
}

Test(plan_seats, an_elastic_job_is_moved_to_any_seats_and_back)
{
    struct lab l = {0};
    lab_jobs(&l, "e 0 10 4 1 - 0 - 1 4");
    lab_nodes(&l, "4+4");
    struct plan p = plan_of(&l);
    static const int32_t two[] = {0, 5}, three[] = {5, 2, 7}, one[] = {2};
    cr_assert(plan_start_at(&p, 0, two, 2), "fewer instances than it asked for");
    cr_assert_eq(plan_width(&p, 0), 2);
    plan_clear(&p);
    cr_assert(plan_resize_at(&p, 0, three, 3));
    cr_assert(sits(&l, &p, 0, three, 3) && plan_width(&p, 0) == 3);
    cr_assert_eq(l.cluster.cards_free[0], 3);
    cr_assert(cluster_valid(&l.cluster, &l.jobs));
    plan_undo(&p, 0);
    cr_assert(sits(&l, &p, 0, two, 2));
    cr_assert(cluster_valid(&l.cluster, &l.jobs));
    cr_assert(plan_resize_at(&p, 0, one, 1));
    plan_clear(&p);
    cr_assert_eq(l.cluster.gpu_held_milli, 1000);
    done(&l, &p);
}
