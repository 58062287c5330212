/* The simplex method against GLPK on random programmes, the shape of Gavel's among them. */
#include "core/base/simplex.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <glpk.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <string.h>

TestSuite(simplex_glpk, .fini = abort_on_leak, .timeout = 120);

enum { ROWS_MAX = 40, COLUMNS_MAX = 120 };

struct programme {
    int rows, columns;
    double a[ROWS_MAX * COLUMNS_MAX], b[ROWS_MAX], cost[2 * COLUMNS_MAX];
};

/* The optimum by GLPK of one objective, with a floor under another; NAN where it is unbounded. */
static double by_glpk(const struct programme *p, const double *cost, const double *floor_cost,
                      double floor_value)
{
    glp_prob *lp = glp_create_prob();
    glp_smcp how;
    glp_init_smcp(&how);
    how.msg_lev = GLP_MSG_OFF;
    glp_set_obj_dir(lp, GLP_MAX);
    glp_add_rows(lp, p->rows + 1);
    glp_add_cols(lp, p->columns);
    int index[COLUMNS_MAX + 1];
    double value[COLUMNS_MAX + 1];
    for (int j = 0; j < p->columns; j++) {
        glp_set_col_bnds(lp, j + 1, GLP_LO, 0, 0);
        glp_set_obj_coef(lp, j + 1, cost[j]);
        index[j + 1] = j + 1;
    }
    for (int i = 0; i <= p->rows; i++) {
        const double *row = i < p->rows ? p->a + i * p->columns : floor_cost;
        memcpy(value + 1, row, (size_t)p->columns * sizeof *value);
        glp_set_mat_row(lp, i + 1, p->columns, index, value);
        if (i < p->rows)
            glp_set_row_bnds(lp, i + 1, GLP_UP, 0, p->b[i]);
        else
            glp_set_row_bnds(lp, i + 1, GLP_LO, floor_value, 0);
    }
    cr_assert_eq(glp_simplex(lp, &how), 0);
    double best = glp_get_status(lp) == GLP_UNBND ? NAN : glp_get_obj_val(lp);
    glp_delete_prob(lp);
    return best;
}

static double dot(const double *a, const double *x, int n)
{
    double sum = 0;
    for (int j = 0; j < n; j++)
        sum += a[j] * x[j];
    return sum;
}

static void fill(struct programme *p, gsl_rng *rng, bool gavel)
{
    p->rows = 1 + (int)gsl_rng_uniform_int(rng, ROWS_MAX);
    p->columns = 1 + (int)gsl_rng_uniform_int(rng, COLUMNS_MAX);
    for (int i = 0; i < p->rows; i++) {
        p->b[i] = gsl_rng_uniform_int(rng, 3) == 0 ? 0 : gsl_rng_uniform(rng);
        for (int j = 0; j < p->columns; j++) {
            double cell = gsl_rng_uniform_int(rng, 3) == 0 ? gsl_rng_uniform(rng) : 0;
            p->a[i * p->columns + j] = gsl_rng_uniform_int(rng, 4) == 0 ? -cell : cell;
        }
    }
    for (int j = 0; j < 2 * p->columns; j++)
        p->cost[j] = gsl_rng_uniform(rng) - 0.3;
    if (!gavel)
        return;
    /* Half the rows say t <= throughput, b = 0; the others bound the time. t is column 0. */
    int half = p->rows / 2;
    for (int i = 0; i < p->rows; i++)
        for (int j = 0; j < p->columns; j++) {
            double *cell = &p->a[i * p->columns + j];
            *cell = i < half ? (j == 0 ? 1 : -fabs(*cell)) : (j == 0 ? 0 : fabs(*cell) > 0);
        }
    for (int i = 0; i < p->rows; i++)
        p->b[i] = i < half ? 0 : 1;
    for (int j = 0; j < p->columns; j++)
        p->cost[j] = j == 0;
}

Test(simplex_glpk, both_objectives_agree_on_random_programmes)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    static struct programme p;
    int n_bounded = 0;
    for (int round = 0; round < 1500; round++) {
        struct arena scratch = {0};
        double x[COLUMNS_MAX];
        fill(&p, rng, round % 2 == 1);
        enum simplex_end end = simplex_max(p.rows, p.columns, p.a, p.b, 1, p.cost, x, &scratch);
        double best = by_glpk(&p, p.cost, p.cost, -1e9);
        cr_assert_neq(end, SIMPLEX_GAVE_UP, "round %d", round);
        cr_assert_eq(end == SIMPLEX_UNBOUNDED, isnan(best), "round %d", round);
        if (end == SIMPLEX_OPTIMAL) {
            n_bounded++;
            cr_assert_float_eq(dot(p.cost, x, p.columns), best, 1e-7 * (1 + fabs(best)));
            for (int i = 0; i < p.rows; i++)
                cr_assert_leq(dot(p.a + i * p.columns, x, p.columns), p.b[i] + 1e-7);
            end = simplex_max(p.rows, p.columns, p.a, p.b, 2, p.cost, x, &scratch);
            double then = by_glpk(&p, p.cost + p.columns, p.cost, best - 1e-9 * (1 + fabs(best)));
            cr_assert_eq(end == SIMPLEX_UNBOUNDED, isnan(then), "round %d", round);
            if (end == SIMPLEX_OPTIMAL) {
                cr_assert_float_eq(dot(p.cost, x, p.columns), best, 1e-7 * (1 + fabs(best)));
                /* GLPK may break the floor by 1e-7, which is worth more than that here. */
                cr_assert_float_eq(dot(p.cost + p.columns, x, p.columns), then,
                                   1e-3 * (1 + fabs(then)), "round %d", round);
            }
        }
        arena_free(&scratch);
    }
    cr_assert_gt(n_bounded, 700);
    gsl_rng_free(rng);
    glp_free_env();
}
