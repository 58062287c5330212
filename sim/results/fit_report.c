#include "sim/results/fit_report.h"

#include <math.h>

static void print_estimate(FILE *file, const char *name, struct estimate e, const char *note)
{
    fprintf(file, "%-22s %9.4g", name, e.value);
    if (e.se > 0)
        fprintf(file, " %9.2g\n", e.se);
    else
        fprintf(file, "         -  %s\n", note);
}

static void print_physics(FILE *file, const struct fit_file *f)
{
    const struct queueing *q = f->q;
    fprintf(file,
            "%d rows of %d pairs of %d jobs; left out because a side did not run: %d pairs\n"
            "S_i = m (1 + (w_j / w_i) min(1, sum_r alpha_r C(u_ir, u_jr; kappa)))\n\n"
            "%-22s %9s %9s\n",
            f->samples->n, f->samples->n_experiments, f->samples->workloads.n,
            f->samples->n_dropped, "", "estimate", "error");
    if (!q->latents) {
        print_estimate(file, "alpha sm", q->alpha[QUEUE_SM], "");
        print_estimate(file, "alpha tensor", q->alpha[QUEUE_TENSOR], "");
        print_estimate(file, "alpha dram", q->alpha[QUEUE_DRAM], "");
    } else {
        fprintf(file, "no counters: %d latent demands a job, alpha = 1\n", N_LATENTS);
    }
    print_estimate(file, "kappa", q->kappa, "not fitted");
    print_estimate(file, "m", f->m, "not fitted: pairs and jobs alone were measured alike");
    if (f->n_jobs > 0) {
        print_estimate(file, "ln w at 1 s a step", f->at_1_s, "step times are not known");
        print_estimate(file, "ln w over ln(step)", f->slope, "step times are not known");
    }
    fprintf(file, "%-22s %9.4g\n", "rms of ln S", q->rms);
}

static void print_jobs(FILE *file, const struct fit_file *f)
{
    if (f->n_jobs == 0)
        return;
    fprintf(file, "\n%-32s %9s %9s%s\n", "job", "ln w", "error", f->q->latents ? "   latents" : "");
    for (int32_t k = 0; k < f->n_jobs; k++) {
        const struct fit_job *job = &f->job[k];
        fprintf(file, "%-32s %9.4f %9.4f", job->name, job->log_w.value, job->log_w.se);
        for (int r = 0; r < N_LATENTS && f->q->latents; r++)
            fprintf(file, " %6.3f", f->q->latent[k][r]);
        putc('\n', file);
    }
}

static void print_errors(FILE *file, const struct fit_file *f)
{
    if (f->n_errors == 0)
        return;
    fprintf(file, "\n%-30s %9s  %15s %6s   %9s %6s\n", "retained rates 1/S left out", "MAPE %",
            "over repeats", "R2", "as meas. %", "R2");
    for (int32_t i = 0; i < f->n_errors; i++) {
        const struct fit_error *e = &f->error[i];
        char what[64];
        if (e->n_repeats > 1)
            snprintf(what, sizeof what, "by %s, %d folds x %d", e->left_out, e->n_folds,
                     e->n_repeats);
        else
            snprintf(what, sizeof what, "by %s, %d in turn", e->left_out, e->n_folds);
        fprintf(file, "%-30s %9.2f   %6.2f ..%6.2f %6.3f   %10.2f %6.3f\n", what, e->mape_pct,
                e->mape_min_pct, e->mape_max_pct, e->r2, e->raw_mape_pct, e->raw_r2);
    }
    fprintf(file, "A weight is known from a job's other pairs alone: by job, all of these are left "
                  "out, and\nits weight is what its step time tells, or the mean.\n");
}

static void print_kernels(FILE *file, const struct fit_file *f)
{
    const struct kernel_pairs *k = f->kernels;
    fprintf(file,
            "\nHow S - 1 grows with the ratio of kernel lengths L: pairs of one probe on one grid, "
            "back to back,\nlengths apart by a tenth or more; slopes of ln(S - 1) over "
            "ln(L other / L own), errors by\nresampling pairs. Left out because a side was not "
            "slowed: %d pairs\n",
            k->n_unslowed);
    for (int32_t g = 0; g < k->groups.n; g++) {
        fprintf(file, "\n%-26s %12s %12s %8s\n", names_text(&k->groups, g), "S - 1 short",
                "S - 1 long", "q");
        for (int32_t i = 0; i < k->n; i++) {
            const struct kernel_pair *p = &k->at[i];
            double more[2] = {p->slowdown[0] - 1, p->slowdown[1] - 1};
            if (p->group == g)
                fprintf(file, "  %8.0f us, ratio %6.1f  %12.3f %12.4f %8.3f\n",
                        1e6 * p->length_s[0], p->length_s[1] / p->length_s[0], more[0], more[1],
                        sqrt(more[0] * more[1]));
        }
        for (int both = 0; both < 2; both++)
            fprintf(file, "  slope, %-18s %9.2f +- %.2f\n",
                    both ? "both directions" : "shorter side", f->kernel_slope[g][both].value,
                    f->kernel_slope[g][both].se);
    }
}

static void print_rates(FILE *file, const struct fit_file *f)
{
    const struct solo_rates *r = f->rates;
    fprintf(file, "\n%-32s %9s %4s %3s %12s %6s %9s\n", "alone", "batch", "amp", "ck",
            "iteration ms", "used", "left out");
    for (int32_t i = 0; i < r->n; i++) {
        const struct solo_rate *at = &r->at[i];
        fprintf(file, "%-32s %9g %4d %3d %12.6g %6d %9d\n", names_text(&r->workloads, at->workload),
                at->bs, at->amp, at->ck, 1e3 * at->step_s, at->n_used, at->n_left_out);
    }
}

/* "1.25 +- .04", blank where it could not be told. */
static void print_cell(FILE *file, struct estimate e)
{
    if (isnan(e.value))
        fprintf(file, "  %17s", "-");
    else
        fprintf(file, "  %8.4g +- %-5.2g", e.value, e.se);
}

static void print_profiles(FILE *file, const struct fit_file *f)
{
    bool any = false;
    for (int32_t w = 0; w < f->rates->workloads.n; w++)
        any = any || f->saturation[w].n > 0;
    if (!any)
        return;
    fprintf(file,
            "\nT(batch) = batch / (t0 + batch / T_inf)\n%-24s %3s  %-17s  %-17s  %-17s  %-17s"
            "  %-17s %6s\n",
            "workload", "n", "t0 ms", "T_inf samples/s", "amp: T_inf x", "amp: t0 x", "ck: lost",
            "MAPE %");
    for (int32_t w = 0; w < f->rates->workloads.n; w++) {
        const struct saturation *s = &f->saturation[w];
        if (s->n == 0)
            continue;
        fprintf(file, "%-24s %3d", names_text(&f->rates->workloads, w), s->n);
        print_cell(file, (struct estimate){1e3 * s->t0_s.value, 1e3 * s->t0_s.se});
        print_cell(file, s->rate_inf);
        print_cell(file, s->amp_speedup);
        print_cell(file, s->launch_amp);
        print_cell(file, s->ck_cost);
        fprintf(file, " %6.2f\n", s->mape_pct);
    }
}

void fit_report_print(const struct fit_file *f, FILE *file)
{
    if (f->q != NULL) {
        print_physics(file, f);
        print_jobs(file, f);
        print_errors(file, f);
    }
    if (f->kernels != NULL)
        print_kernels(file, f);
    if (f->busy != NULL)
        fprintf(file,
                "\n%d instances: %d with a sensor, %d without, of which nothing is known; mean GPU "
                "utilisation of those with one: %.4g %%\n",
                f->busy->n_instances, f->busy->n_known, f->busy->n_instances - f->busy->n_known,
                f->busy->gpu_util_mean_pct);
    if (f->rates != NULL) {
        print_rates(file, f);
        print_profiles(file, f);
    }
}
