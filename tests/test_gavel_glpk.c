/* Gavel's programme on its own measured pairs: ours, by classes, against GLPK's with a column for
 * every pair of jobs. */
#include "policies/peers/gavel_pairs.h"
#include "tests/leak.h"
#include "tests/shared.h"

#include <criterion/criterion.h>
#include <glpk.h>
#include <math.h>
#include <string.h>

TestSuite(gavel_glpk, .fini = abort_on_leak, .timeout = 120);

enum { KINDS_MAX = 40, JOBS_MAX = 80 };

struct pairs_table {
    int n;
    char name[KINDS_MAX][64];
    double keeps[KINDS_MAX][KINDS_MAX];
};

static int kind_of(struct pairs_table *t, const char *name)
{
    for (int i = 0; i < t->n; i++)
        if (strcmp(t->name[i], name) == 0)
            return i;
    cr_assert_lt(t->n, KINDS_MAX);
    snprintf(t->name[t->n], sizeof t->name[0], "%s", name);
    return t->n++;
}

/* gpu,job1,job2,solo1,solo2,colo1,colo2 in steps per second; 0 did not run. */
static bool read_pairs(const char *gpu, struct pairs_table *t)
{
    char path[SHARED_PATH_MAX], line[512];
    if (!shared_path(path, "data/calib/gavel_simulation_pairs.csv"))
        return false;
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file);
    *t = (struct pairs_table){0};
    while (fgets(line, sizeof line, file) != NULL) {
        char type[16], a[64], b[64];
        double solo_a, solo_b, colo_a, colo_b;
        if (sscanf(line, "%15[^,],%63[^,],%63[^,],%lf,%lf,%lf,%lf", type, a, b, &solo_a, &solo_b,
                   &colo_a, &colo_b) != 7 ||
            strcmp(type, gpu) != 0)
            continue;
        int i = kind_of(t, a), j = kind_of(t, b);
        bool ran = solo_a > 0 && solo_b > 0 && colo_a > 0 && colo_b > 0;
        t->keeps[i][j] = ran ? colo_a / solo_a : 0;
        t->keeps[j][i] = ran ? colo_b / solo_b : 0;
    }
    fclose(file);
    return true;
}

/* max t: every job's throughput >= t, no job more than all of the time, GPUs enough. */
static double by_glpk(const struct pairs_table *t, const int *kind, int n, double room)
{
    glp_prob *lp = glp_create_prob();
    glp_smcp how;
    int columns = 1, gpus = 2 * n + 1, index[6];
    double value[6];
    glp_init_smcp(&how);
    how.msg_lev = GLP_MSG_OFF;
    glp_set_obj_dir(lp, GLP_MAX);
    glp_add_rows(lp, gpus);
    for (int i = 1; i <= n; i++) {
        glp_set_row_bnds(lp, i, GLP_UP, 0, 0);
        glp_set_row_bnds(lp, n + i, GLP_UP, 0, 1);
    }
    glp_set_row_bnds(lp, gpus, GLP_UP, 0, room);
    glp_add_cols(lp, 1); /* t */
    glp_set_obj_coef(lp, 1, 1);
    glp_set_col_bnds(lp, 1, GLP_LO, 0, 0);
    int all[JOBS_MAX + 1];
    double one[JOBS_MAX + 1];
    for (int i = 1; i <= n; i++) {
        all[i] = i;
        one[i] = 1;
    }
    glp_set_mat_col(lp, 1, n, all, one);
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            double a = t->keeps[kind[i]][kind[j]], b = t->keeps[kind[j]][kind[i]];
            int m = 0;
            if (i != j && (a <= 0 || b <= 0))
                continue;
            index[++m] = i + 1;
            value[m] = i == j ? -1 : -a;
            index[++m] = n + i + 1;
            value[m] = 1;
            if (i != j) {
                index[++m] = j + 1;
                value[m] = -b;
                index[++m] = n + j + 1;
                value[m] = 1;
            }
            index[++m] = gpus;
            value[m] = 1;
            glp_add_cols(lp, 1);
            glp_set_col_bnds(lp, ++columns, GLP_LO, 0, 0);
            glp_set_mat_col(lp, columns, m, index, value);
        }
    cr_assert_eq(glp_simplex(lp, &how), 0);
    double best = glp_get_obj_val(lp);
    glp_delete_prob(lp);
    return best;
}

Test(gavel_glpk, its_own_measurements_give_the_level_that_all_pairs_of_jobs_give)
{
    static const char *const gpus[] = {"k80", "p100", "v100"};
    static struct pairs_table t;
    for (int g = 0; g < 3; g++) {
        if (!read_pairs(gpus[g], &t))
            cr_skip_test("Gavel's table of pairs is not here");
        for (int copies = 1; copies <= 3; copies += 2) {
            double n_jobs[KINDS_MAX], ones[KINDS_MAX], need[KINDS_MAX], level = 0;
            double keeps[KINDS_MAX * KINDS_MAX], room = 10;
            int32_t pool[KINDS_MAX];
            int kind[JOBS_MAX], n = 0;
            struct gavel_unit unit[KINDS_MAX * (KINDS_MAX + 3) / 2];
            struct arena scratch = {0};
            for (int i = 0; i < t.n; i++) {
                n_jobs[i] = need[i] = copies;
                ones[i] = 1;
                pool[i] = -1;
                for (int j = 0; j < t.n; j++)
                    keeps[i * t.n + j] = t.keeps[i][j];
                for (int k = 0; k < copies; k++)
                    kind[n++] = i;
            }
            struct gavel_classes classes = {t.n, 0, n_jobs, ones, pool, keeps, need, NULL, room};
            cr_assert_gt(gavel_pair_units(&classes, unit, &level, &scratch), 0);
            double exact = by_glpk(&t, kind, n, room);
            cr_expect_float_eq(level, exact, 1e-6, "%s, %d of each: %.9g, GLPK %.9g", gpus[g],
                               copies, level, exact);
            cr_expect_gt(level, room / n, "pairs gain over turns: %g", level);
            arena_free(&scratch);
        }
    }
    glp_free_env();
}
