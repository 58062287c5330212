#include "calib/fit_file.h"

#include "core/elastico/physics_file.h"

#include <gsl/gsl_fit.h>
#include <gsl/gsl_statistics_double.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a job of the embedded set's pairs stands for. */
static const char *counterpart(const char *name)
{
    for (int i = 0; i < N_ANCHORS; i++)
        if (strcmp(anchors[i].job, name) == 0)
            return anchors[i].workloads;
    return "";
}

static enum phase phase_of(const char *name)
{
    return strstr(name, "decode") != NULL    ? PHASE_DECODE
           : strstr(name, "prefill") != NULL ? PHASE_PREFILL
                                             : PHASE_ALL;
}

/* The line of ln w over ln(step) of jobs whose step is known; flat through 0 where there are not
 * three. */
static enum status fit_line(struct fit_file *f, struct error *err)
{
    size_t n = 0, room = (size_t)f->n_jobs + 1;
    double cov00, cov01, cov11, rest, *x = malloc(2 * room * sizeof *x);
    if (x == NULL)
        return fail_memory(err);
    for (int32_t k = 0; k < f->n_jobs; k++)
        if (f->job[k].side.step_s > 0) {
            x[n] = log(f->job[k].side.step_s);
            x[room + n++] = f->job[k].log_w.value;
        }
    f->at_1_s = f->slope = (struct estimate){0, 0};
    if (n >= 3 && gsl_stats_variance(x, 1, n) > 0) {
        gsl_fit_linear(x, 1, x + room, 1, n, &f->at_1_s.value, &f->slope.value, &cov00, &cov01,
                       &cov11, &rest);
        f->at_1_s.se = sqrt(cov00);
        f->slope.se = sqrt(cov11);
    }
    free(x);
    return ST_OK;
}

enum status fit_file_jobs(struct fit_file *f, struct error *err)
{
    const struct samples *s = f->samples;
    double mean = 0;
    f->n_jobs = f->q->n_jobs;
    f->job = calloc((size_t)f->n_jobs + 1, sizeof *f->job);
    if (f->job == NULL)
        return fail_memory(err);
    for (int32_t i = 0; i < 2 * s->n && f->n_jobs > 0; i++)
        f->job[s->row[i / 2].workload[i % 2]].side = s->side[i];
    for (int32_t k = 0; k < f->n_jobs; k++) {
        struct fit_job *job = &f->job[k];
        job->name = names_text(&s->workloads, k);
        job->workloads = counterpart(job->name);
        job->phase = phase_of(job->name);
        job->log_w =
            (struct estimate){log(queueing_weight(f->q, &job->side, k)), f->q->delta[k].se};
        mean += job->log_w.value / f->n_jobs;
    }
    for (int32_t k = 0; k < f->n_jobs; k++)
        f->job[k].log_w.value -= mean;
    return fit_line(f, err);
}

void fit_file_free(struct fit_file *f)
{
    free(f->job);
    *f = (struct fit_file){0};
}

/* Nine digits are what the file keeps. */
static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

/* The list with one more, NULL where either could not be had. */
static json_t *appended(json_t *list, json_t *one)
{
    if (json_array_append_new(list, one) == 0)
        return list;
    json_decref(list);
    return NULL;
}

/* Names are opaque bytes and JSON is UTF-8: what is none becomes question marks. */
static json_t *name(const char *text)
{
    char ascii[256];
    json_t *whole = json_string(text);
    if (whole != NULL)
        return whole;
    size_t n = 0;
    for (; text[n] != '\0' && n + 1 < sizeof ascii; n++)
        ascii[n] = (unsigned char)text[n] < 0x80 ? text[n] : '?';
    ascii[n] = '\0';
    return json_string(ascii);
}

static json_t *estimate(struct estimate e)
{
    return json_pack("{s:o, s:o}", "value", number(e.value), "se",
                     e.se > 0 ? number(e.se) : json_null());
}

static json_t *alpha_of(const struct queueing *q)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "sm", estimate(q->alpha[QUEUE_SM]), "tensor",
                     estimate(q->alpha[QUEUE_TENSOR]), "dram", estimate(q->alpha[QUEUE_DRAM]),
                     "host", estimate((struct estimate){0, 0}));
}

static json_t *jobs_of(const struct fit_file *f)
{
    json_t *list = json_array();
    for (int32_t k = 0; k < f->n_jobs; k++) {
        const struct fit_job *job = &f->job[k];
        json_t *one = json_pack("{s:o, s:o, s:o, s:s, s:s, s:o, s:b}", "job", name(job->name),
                                "log_w", estimate(job->log_w), "step_s",
                                job->side.step_s > 0 ? number(job->side.step_s) : json_null(),
                                "workloads", job->workloads, "phase", phase_names[job->phase], "bs",
                                number(job->side.bs), "amp", job->side.amp > 0);
        if (f->q->latents &&
            json_object_set_new(one, "latents",
                                json_pack("[f, f]", f->q->latent[k][0], f->q->latent[k][1])) != 0) {
            json_decref(one);
            one = NULL;
        }
        list = appended(list, one);
    }
    return list;
}

static json_t *errors_of(const struct fit_file *f)
{
    json_t *list = json_array();
    for (int32_t i = 0; i < f->n_errors; i++) {
        const struct fit_error *e = &f->error[i];
        list = appended(list,
                        json_pack("{s:s, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "left_out",
                                  e->left_out, "folds", e->n_folds, "repeats", e->n_repeats, "rows",
                                  e->n_rows, "mape_pct", number(e->mape_pct), "mape_min_pct",
                                  number(e->mape_min_pct), "mape_max_pct", number(e->mape_max_pct),
                                  "r2", number(e->r2), "raw_mape_pct", number(e->raw_mape_pct),
                                  "raw_r2", number(e->raw_r2)));
    }
    return list;
}

static json_t *kernels_of(const struct fit_file *f)
{
    json_t *list = json_array();
    for (int32_t g = 0; g < f->kernels->groups.n; g++) {
        int n = 0;
        for (int32_t i = 0; i < f->kernels->n; i++)
            n += f->kernels->at[i].group == g;
        list = appended(list, json_pack("{s:o, s:i, s:o, s:o}", "probe",
                                        name(names_text(&f->kernels->groups, g)), "pairs", n,
                                        "slope_shorter", estimate(f->kernel_slope[g][0]),
                                        "slope_both", estimate(f->kernel_slope[g][1])));
    }
    return list;
}

static json_t *rates_of(const struct fit_file *f)
{
    json_t *list = json_array();
    for (int32_t i = 0; i < f->rates->n; i++) {
        const struct solo_rate *at = &f->rates->at[i];
        list = appended(list, json_pack("{s:o, s:o, s:b, s:b, s:o, s:o, s:i, s:i}", "workload",
                                        name(names_text(&f->rates->workloads, at->workload)), "bs",
                                        at->bs > 0 ? number(at->bs) : json_null(), "amp", at->amp,
                                        "ck", at->ck, "step_s",
                                        at->step_s > 0 ? number(at->step_s) : json_null(), "rate",
                                        at->rate > 0 ? number(at->rate) : json_null(), "samples",
                                        at->n_used, "throttled", at->n_left_out));
    }
    return list;
}

static json_t *profiles_of(const struct fit_file *f)
{
    json_t *list = json_array();
    for (int32_t w = 0; w < f->rates->workloads.n; w++) {
        const struct saturation *s = &f->saturation[w];
        if (s->n == 0)
            continue;
        list = appended(
            list, json_pack("{s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:f}", "workload",
                            name(names_text(&f->rates->workloads, w)), "configurations", s->n,
                            "t0_s", estimate(s->t0_s), "rate_inf", estimate(s->rate_inf), "bs_half",
                            number(s->t0_s.value * s->rate_inf.value), "amp_speedup",
                            estimate(s->amp_speedup), "launch_amp", estimate(s->launch_amp),
                            "ck_cost", estimate(s->ck_cost), "mape_pct", s->mape_pct));
    }
    return list;
}

static json_t *header_of(const struct fit_file *f)
{
    char hash[32];
    snprintf(hash, sizeof hash, "%016" PRIx64, f->samples == NULL ? 0 : samples_hash(f->samples));
    return json_pack("{s:s, s:i, s:o, s:s, s:o, s:o, s:o, s:s, s:i, s:I, s:{s:s, s:s, s:s, s:s}}",
                     "format", PHYSICS_FORMAT, "version", PHYSICS_VERSION, "date",
                     name(f->note.date), "program", f->note.program, "gpu", name(f->note.gpu),
                     "driver", name(f->note.driver), "data", name(f->note.data), "data_hash", hash,
                     "rows", f->samples == NULL ? 0 : f->samples->n, "seed",
                     (json_int_t)f->note.seed, "units", "step_s", "s", "rate", "samples/s", "t0_s",
                     "s", "log_w", "natural logarithm of a pure number; mean over the jobs 0");
}

/* Not 0 where memory ran out. */
static int add_physics(const struct fit_file *f, json_t *root)
{
    int bad = 0;
    bad |= json_object_set_new(
        root, "form",
        json_string("S_i = m (1 + sum_j (w_j / w_i) min(1, sum_r alpha_r C(u_ir, u_jr; kappa)))"));
    if (f->q->latents)
        bad |= json_object_set_new(root, "latents", json_integer(N_LATENTS));
    else
        bad |= json_object_set_new(root, "alpha", alpha_of(f->q));
    bad |= json_object_set_new(root, "kappa", estimate(f->q->kappa));
    bad |= json_object_set_new(root, "m", estimate(f->m));
    bad |= json_object_set_new(
        root, "log_w_of_step",
        json_pack("{s:o, s:o}", "at_1_s", estimate(f->at_1_s), "slope", estimate(f->slope)));
    bad |= json_object_set_new(root, "rms_log_s", number(f->q->rms));
    bad |= json_object_set_new(root, "held_out", errors_of(f));
    bad |= json_object_set_new(root, "jobs", jobs_of(f));
    return bad;
}

enum status fit_file_write(const struct fit_file *f, FILE *file, struct error *err)
{
    json_t *root = header_of(f);
    if (root == NULL)
        return fail_memory(err);
    int bad = f->q != NULL ? add_physics(f, root) : 0;
    if (f->kernels != NULL)
        bad |= json_object_set_new(root, "kernels", kernels_of(f));
    if (f->busy != NULL)
        bad |= json_object_set_new(
            root, "sensors",
            json_pack("{s:i, s:i, s:i, s:o}", "instances", f->busy->n_instances, "with_sensor",
                      f->busy->n_known, "without", f->busy->n_instances - f->busy->n_known,
                      "gpu_util_mean_pct", number(f->busy->gpu_util_mean_pct)));
    if (f->rates != NULL) {
        bad |= json_object_set_new(root, "rates", rates_of(f));
        bad |= json_object_set_new(root, "profiles", profiles_of(f));
    }
    char *text = bad != 0 ? NULL : json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    json_decref(root);
    if (text == NULL)
        return fail_memory(err);
    fprintf(file, "%s\n", text);
    free(text);
    return ST_OK;
}
