/* Linear programmes small enough to solve by hand; test_simplex_glpk.c has the many. */
#include "core/base/simplex.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <math.h>

TestSuite(simplex, .fini = abort_on_leak, .timeout = 60);

Test(simplex, a_textbook_problem_reaches_its_corner)
{
    /* max 3x + 5y: x <= 4, 2y <= 12, 3x + 2y <= 18 (Hillier and Lieberman): 36 at (2, 6). */
    const double a[] = {1, 0, 0, 2, 3, 2}, b[] = {4, 12, 18}, cost[] = {3, 5};
    double x[2];
    struct arena scratch = {0};
    cr_assert_eq(simplex_max(3, 2, a, b, 1, cost, x, &scratch), SIMPLEX_OPTIMAL);
    cr_assert_float_eq(x[0], 2, 1e-12);
    cr_assert_float_eq(x[1], 6, 1e-12);
    arena_free(&scratch);
}

Test(simplex, a_second_objective_chooses_among_the_maxima_of_the_first)
{
    /* max x + y on x + y <= 1 is an edge; then max y is (0, 1) and max x is (1, 0). */
    const double a[] = {1, 1}, b[] = {1}, then_y[] = {1, 1, 0, 1}, then_x[] = {1, 1, 1, 0};
    double x[2];
    struct arena scratch = {0};
    cr_assert_eq(simplex_max(1, 2, a, b, 2, then_y, x, &scratch), SIMPLEX_OPTIMAL);
    cr_assert_float_eq(x[1], 1, 1e-12);
    cr_assert_eq(simplex_max(1, 2, a, b, 2, then_x, x, &scratch), SIMPLEX_OPTIMAL);
    cr_assert_float_eq(x[0], 1, 1e-12);
    arena_free(&scratch);
}

Test(simplex, a_second_objective_never_costs_the_first_anything)
{
    /* max x, then y, on x + y <= 1: giving x up for y would gain the second one. */
    const double a[] = {1, 1}, b[] = {1}, cost[] = {1, 0, 0, 5};
    double x[2];
    struct arena scratch = {0};
    cr_assert_eq(simplex_max(1, 2, a, b, 2, cost, x, &scratch), SIMPLEX_OPTIMAL);
    cr_assert_float_eq(x[0], 1, 1e-12);
    cr_assert_float_eq(x[1], 0, 1e-12);
    arena_free(&scratch);
}

Test(simplex, what_nothing_limits_is_unbounded)
{
    const double a[] = {1, -1}, b[] = {1}, cost[] = {1, 1};
    double x[2];
    struct arena scratch = {0};
    cr_assert_eq(simplex_max(1, 2, a, b, 1, cost, x, &scratch), SIMPLEX_UNBOUNDED);
    arena_free(&scratch);
}

Test(simplex, beales_example_does_not_cycle)
{
    /* max .75x1 - 150x2 + .02x3 - 6x4 (Beale 1955) cycles under the textbook rule: .05. */
    const double a[] = {0.25, -60, -0.04, 9, 0.5, -90, -0.02, 3, 0, 0, 1, 0}, b[] = {0, 0, 1};
    const double cost[] = {0.75, -150, 0.02, -6};
    double x[4];
    struct arena scratch = {0};
    cr_assert_eq(simplex_max(3, 4, a, b, 1, cost, x, &scratch), SIMPLEX_OPTIMAL);
    cr_assert_float_eq(0.75 * x[0] - 150 * x[1] + 0.02 * x[2] - 6 * x[3], 0.05, 1e-9);
    arena_free(&scratch);
}
