#include "tests/esp_glpk.h"

#include <glpk.h>
#include <math.h>

static int32_t row_of(const struct choice_problem *p, int32_t option)
{
    return p->row == NULL ? option : p->row[option];
}

/* Rows: resources, then one a job; columns: options. */
static void add_option(glp_prob *g, const struct choice_problem *p, int32_t job, int32_t option)
{
    int index[CHOICE_RES_MAX + 2], row = row_of(p, option), n = p->n_res;
    double value[CHOICE_RES_MAX + 2];
    for (int r = 0; r < n; r++) {
        index[r + 1] = r + 1;
        value[r + 1] = p->demand[row * n + r] * (p->size == NULL ? 1 : p->size[job]);
    }
    index[n + 1] = n + 1 + job;
    value[n + 1] = 1;
    glp_set_mat_col(g, option + 1, n + 1, index, value);
    glp_set_col_kind(g, option + 1, GLP_BV);
    if (p->allowed != NULL && !p->allowed[option])
        glp_set_col_bnds(g, option + 1, GLP_FX, 0, 0);
    glp_set_obj_coef(g, option + 1,
                     p->loss[row] * (p->weight == NULL ? 1 : p->weight[job]) +
                         (p->penalty == NULL ? 0 : p->penalty[option]));
}

static glp_prob *make(const struct choice_problem *p)
{
    glp_prob *g = glp_create_prob();
    glp_set_obj_dir(g, GLP_MIN);
    glp_add_rows(g, p->n_res + p->n_jobs);
    glp_add_cols(g, p->begin[p->n_jobs]);
    for (int r = 0; r < p->n_res; r++)
        glp_set_row_bnds(g, r + 1, GLP_UP, 0, p->capacity == NULL ? 1 : p->capacity[r]);
    for (int j = 0; j < p->n_jobs; j++) {
        glp_set_row_bnds(g, p->n_res + 1 + j, GLP_FX, 1, 1);
        for (int32_t o = p->begin[j]; o < p->begin[j + 1]; o++)
            add_option(g, p, j, o);
    }
    return g;
}

static double relax(glp_prob *g)
{
    glp_smcp how;
    glp_init_smcp(&how);
    how.msg_lev = GLP_MSG_OFF;
    how.presolve = GLP_OFF;
    if (glp_simplex(g, &how) != 0)
        return NAN;
    return glp_get_status(g) == GLP_OPT ? glp_get_obj_val(g) : INFINITY;
}

double glpk_relaxed(const struct choice_problem *p)
{
    glp_prob *g = make(p);
    double z = relax(g);
    glp_delete_prob(g);
    return z;
}

double glpk_exact(const struct choice_problem *p)
{
    glp_prob *g = make(p);
    double z = relax(g);
    if (isfinite(z)) {
        glp_iocp how;
        glp_init_iocp(&how);
        how.msg_lev = GLP_MSG_OFF;
        how.mir_cuts = how.gmi_cuts = how.cov_cuts = GLP_ON;
        how.br_tech = GLP_BR_PCH;
        how.bt_tech = GLP_BT_BPH;
        glp_term_out(GLP_OFF); /* cuts print whatever msg_lev says */
        int rc = glp_intopt(g, &how), end = glp_mip_status(g);
        glp_term_out(GLP_ON);
        z = rc != 0 ? NAN : end == GLP_OPT ? glp_mip_obj_val(g) : INFINITY;
    }
    glp_delete_prob(g);
    return z;
}
