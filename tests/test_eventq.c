#include "sim/run/eventq.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>

TestSuite(eventq, .fini = abort_on_leak);

Test(eventq, at_one_instant_finishes_come_before_wakes_and_equal_kinds_in_order_of_push)
{
    struct eventq q;
    cr_assert_eq(eventq_init(&q, 5, NULL), ST_OK);
    eventq_set(&q, 0, 7, EV_WAKE);
    eventq_set(&q, 3, 7, EV_FINISH);
    eventq_set(&q, 1, 7, EV_FINISH);
    eventq_set(&q, 4, -2, EV_WAKE);
    const int32_t expected[] = {4, 3, 1, 0};
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(eventq_first(&q)->owner, expected[i]);
        eventq_pop(&q);
    }
    cr_assert_null(eventq_first(&q));
    eventq_free(&q);
}

Test(eventq, an_owner_has_one_event_and_moving_it_makes_it_the_latest_of_its_instant)
{
    struct eventq q;
    cr_assert_eq(eventq_init(&q, 3, NULL), ST_OK);
    eventq_set(&q, 0, 5, EV_FINISH);
    eventq_set(&q, 1, 5, EV_FINISH);
    eventq_set(&q, 0, 5, EV_FINISH);
    cr_assert_eq(q.n, 2);
    cr_assert_eq(eventq_first(&q)->owner, 1);
    eventq_drop(&q, 1);
    eventq_drop(&q, 1);
    cr_assert_eq(eventq_first(&q)->owner, 0);
    eventq_free(&q);
}

/* Against a plain array searched for its least element. */
Test(eventq, random_sets_drops_and_pops_agree_with_a_linear_search)
{
    enum { OWNERS = 40, STEPS = 20000 };
    struct eventq q;
    int64_t time[OWNERS];
    uint64_t pushed[OWNERS], n_pushed = 0;
    bool there[OWNERS] = {false};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    cr_assert_eq(eventq_init(&q, OWNERS, NULL), ST_OK);
    for (int step = 0; step < STEPS; step++) {
        int owner = (int)gsl_rng_uniform_int(rng, OWNERS);
        switch (gsl_rng_uniform_int(rng, 4)) {
        case 0:
        case 1:
            time[owner] = (int64_t)gsl_rng_uniform_int(rng, 30);
            pushed[owner] = n_pushed++;
            there[owner] = true;
            eventq_set(&q, owner, time[owner], EV_FINISH);
            break;
        case 2:
            there[owner] = false;
            eventq_drop(&q, owner);
            break;
        default: {
            int best = -1;
            for (int i = 0; i < OWNERS; i++)
                if (there[i] && (best < 0 || time[i] < time[best] ||
                                 (time[i] == time[best] && pushed[i] < pushed[best])))
                    best = i;
            const struct event *first = eventq_first(&q);
            cr_assert_eq(first == NULL ? -1 : first->owner, best);
            if (best >= 0) {
                eventq_pop(&q);
                there[best] = false;
            }
        }
        }
        cr_assert(step % 100 != 0 || eventq_valid(&q));
    }
    gsl_rng_free(rng);
    eventq_free(&q);
}
