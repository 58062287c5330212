/* colosim calib fit: the physics of measured pairs. */
#include "sim/cmd/calib_commands.h"

#include "calib/score.h"
#include "sim/cmd/measured.h"
#include "sim/cmd/reading.h"
#include "sim/results/output.h"
#include "sim/run/crew.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_FOLDS = 512, KEY_SEEDS, SEEDS_MAX = 100 };

struct fitting {
    struct measured measured;
    int n_folds, n_seeds;
    struct samples samples;
    struct queueing q;
    struct score_plan plan[SEEDS_MAX + 1]; /* (n_seeds + 1) the last leaves out jobs */
    struct score score[SEEDS_MAX + 1];
    int n_plans;
};

// clang-format off
static const struct argp_option options[] = {
    {"folds", KEY_FOLDS, "N", 0, "parts", 1},
    {"seeds", KEY_SEEDS, "N", 0, "how many", 1},
    {0},
};
static const char doc[] = "";
// clang-format on

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct fitting *f = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &f->measured; return 0;
    case KEY_FOLDS: f->n_folds = (int)option_whole(state, "--folds", arg, 0, 1000); return 0;
    case KEY_SEEDS: f->n_seeds = (int)option_whole(state, "--seeds", arg, 1, SEEDS_MAX); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}
static const struct argp_child children[] = {{&measured_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {options, parse_option, NULL, doc, children, NULL, NULL};

static enum status fit(struct fitting *f, struct error *err)
{
    TRY(measured_read(&f->measured, &f->samples, err));
    struct score_options o = measured_options(&f->measured);
    bool counters = false;
    for (int32_t i = 0; i < 2 * f->samples.n; i++)
        counters = counters || f->samples.side[i].sm > 0;
    o.queueing.latents = !counters;
    int32_t *all = malloc((size_t)f->samples.n * sizeof *all);
    for (int32_t k = 0; k < f->samples.n; k++)
        all[k] = k;
    enum status status = queueing_fit(&f->q, &f->samples, all, f->samples.n, &o.queueing, err);
    free(all);
    TRY(status);
    printf("%d rows, %d jobs, rms %.4f dropped %d\n", f->samples.n, f->q.n_jobs, f->q.rms,
           f->samples.n_dropped);
    for (int r = 0; r < 3; r++)
        printf("alpha %g +- %g\n", f->q.alpha[r].value, f->q.alpha[r].se);
    printf("kappa %g +- %g  m %g +- %g gamma %g +- %g\n", f->q.kappa.value, f->q.kappa.se,
           f->q.m.value, f->q.m.se, f->q.gamma.value, f->q.gamma.se);
    if (getenv("W"))
        for (int k = 0; k < f->q.n_jobs; k++)
            printf("%s %.4f +- %.4f\n", names_text(&f->samples.workloads, k), f->q.delta[k].value,
                   f->q.delta[k].se);
    for (int p = 0; p <= f->n_seeds; p++) {
        TRY(score_plan_init(&f->plan[p], &f->samples,
                            p < f->n_seeds ? SCORE_BY_PAIR : SCORE_BY_WORKLOAD, f->n_folds,
                            (uint64_t)f->measured.seed + (uint64_t)p, err));
        for (int i = 0; i < f->plan[p].n_folds; i++) {
            struct score_fold fold;
            TRY(score_run(&fold, &f->samples, &f->plan[p], i, SCORE_QUEUEING, &o, err));
            score_add(&f->score[p], &f->samples, &fold);
            score_fold_free(&fold);
        }
        struct score_sums *k = &f->score[p].kept[N_PAIR_KINDS], *r = &f->score[p].raw;
        printf("%s %d: %.2f %.3f  raw %.2f %.3f\n", p < f->n_seeds ? "seed" : "job", p,
               score_mape_pct(k), score_r2(k), score_mape_pct(r), score_r2(r));
    }
    return ST_OK;
}

int calib_fit(int argc, char **argv)
{
    struct error err = {""};
    struct fitting *f = calloc(1, sizeof *f);
    f->n_folds = 5;
    f->n_seeds = 5;
    measured_init(&f->measured);
    enum status status = parse_command(&argp, argc, argv, f, &err);
    if (status == ST_OK)
        status = fit(f, &err);
    return report_error(status, &err);
}
