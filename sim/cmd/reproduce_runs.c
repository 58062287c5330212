#include "sim/cmd/reproduce.h"

#include "sim/run/crew.h"
#include "traces/choose.h"
#include "traces/synth.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const system_names[N_SYSTEMS] = {
#define X(id_, name_, settings_) name_,
    REPRODUCE_SYSTEMS(X)
#undef X
};
const char *const system_settings[N_SYSTEMS] = {
#define X(id_, name_, settings_) settings_,
    REPRODUCE_SYSTEMS(X)
#undef X
};

const struct world worlds[N_WORLDS] = {
    {"h200", "peak"},    {"queue_prior", "peak"},    {"frank_l2", "peak"},
    {"h200", "default"}, {"queue_prior", "default"}, {"frank_l2", "default"},
};

static const char *const mixes[] = {
#define X(id_, gpus_) gpus_,
    REPRODUCE_MIXES(X)
#undef X
};

enum { NODE_GPUS = 8 };

static bool same(const struct trial *a, const struct trial *b)
{
    return a->system == b->system && a->world == b->world && a->part == b->part &&
           a->mix == b->mix && a->day_nodes == b->day_nodes && a->nodes == b->nodes &&
           a->singles == b->singles && a->seed == b->seed && fabs(a->load - b->load) < 1e-9;
}

static struct outcome *find(const struct reproduction *r, const struct trial *trial)
{
    for (size_t i = 0; i < r->n_outcomes; i++)
        if (same(&r->outcome[i].trial, trial))
            return &r->outcome[i];
    return NULL;
}

enum status reproduction_want(struct reproduction *r, const struct trial *trial, struct error *err)
{
    if (find(r, trial) != NULL)
        return ST_OK;
    if (!ARRAY_GROW(r->outcome, r->capacity, r->n_outcomes + 1))
        return fail_memory(err);
    r->outcome[r->n_outcomes++] = (struct outcome){.trial = *trial};
    return ST_OK;
}

const double *reproduction_value(const struct reproduction *r, const struct trial *trial)
{
    const struct outcome *o = find(r, trial);
    assert(o != NULL && o->done);
    return o->value;
}

static enum status set_all(struct run_request *q, const char *settings, struct error *err)
{
    char *list = arena_text(&q->arena, settings, strlen(settings));
    if (list == NULL)
        return fail_memory(err);
    while (list != NULL)
        TRY(run_set(q, strsep(&list, " "), err));
    return ST_OK;
}

static void cluster_text(const struct trial *t, char text[64])
{
    char nodes[32] = "", singles[32] = "";
    if (t->nodes > 0)
        snprintf(nodes, sizeof nodes, "%dx%d:a100-40g", t->nodes, NODE_GPUS);
    if (t->singles > 0)
        snprintf(singles, sizeof singles, "%dx1:a100-40g", t->singles);
    snprintf(text, 64, "%s%s%s", nodes, t->nodes > 0 && t->singles > 0 ? "+" : "", singles);
}

static enum status request_of(const struct reproduction *r, const struct trial *t,
                              struct run_request *q, struct error *err)
{
    char cluster[64], text[192];
    cluster_text(t, cluster);
    TRY(run_request_init(q, err));
    TRY(set_all(q, REPRODUCE_SETTINGS, err));
    for (int i = 0; i < r->n_set; i++)
        TRY(run_set(q, r->set[i], err));
    TRY(set_all(q, system_settings[t->system], err));
    snprintf(text, sizeof text,
             "cluster=%s seed=%lld truth=contention contention.set=%s submitted=%s", cluster,
             (long long)t->seed, worlds[t->world].physics, worlds[t->world].submitted);
    return set_all(q, text, err);
}

/* The jobs of one kind, with their submissions, as if the others were not there. */
static enum status keep_kind(struct job_table *t, enum job_kind kind, struct error *err)
{
    struct job_table kept = {0};
    bool *keep = malloc((size_t)t->n_jobs + 1);
    if (keep == NULL)
        return fail_memory(err);
    for (int32_t j = 0; j < t->n_jobs; j++)
        keep[j] = (enum job_kind)t->kind[j] == kind;
    enum status status = jobs_copy(t, keep, &kept, err);
    free(keep);
    if (status != ST_OK) {
        jobs_free(&kept);
        return status;
    }
    jobs_free(t);
    *t = kept;
    return ST_OK;
}

static enum status draw_day(const struct reproduction *r, const struct trial *t, struct trace *out,
                            struct error *err)
{
    struct synth_settings settings;
    param_defaults(&(struct param_group){"", synth_params, &settings});
    settings.load = t->load;
    settings.hours = r->hours;
    if (mixes[t->mix] != NULL)
        settings.gpus = mixes[t->mix];
    *out = (struct trace){.clock_hour_at_0 = 0, .zone = "UTC"};
    snprintf(out->report.format, sizeof out->report.format, "embedded");
    TRY(synth_jobs(&settings, (int64_t)t->day_nodes * NODE_GPUS, (uint64_t)t->seed, NULL,
                   &out->jobs, err));
    if (t->part == PART_ALL)
        return ST_OK;
    return keep_kind(&out->jobs, t->part == PART_TRAIN ? KIND_TRAIN : KIND_INFER, err);
}

static void measure_passes(const struct run_log *l, double *value)
{
    double esp_s = 0, iac_s = 0, pds_s = 0, active = 0;
    for (size_t i = 0; i < l->n_epochs; i++) {
        const struct epoch *e = &l->epoch[i].epoch;
        esp_s += e->esp_s;
        iac_s += e->iac_s;
        pds_s += e->pds_s;
        active += e->n_residents;
    }
    double n = (double)l->n_epochs; /* none: NAN */
    value[MEASURE_ESP_MS] = esp_s * 1e3 / n;
    value[MEASURE_IAC_MS] = iac_s * 1e3 / n;
    value[MEASURE_PDS_MS] = pds_s * 1e3 / n;
    value[MEASURE_PASS_MS] = (esp_s + iac_s + pds_s) * 1e3 / n;
    value[MEASURE_ACTIVE] = active / n;
}

static double mean_jct_s(const struct job_table *t, enum job_kind kind)
{
    double sum_s = 0, n = 0;
    for (int32_t j = 0; j < t->n_jobs; j++)
        if ((enum job_kind)t->kind[j] == kind && t->finish_us[j] != TIME_NEVER) {
            sum_s += s_of_us(t->finish_us[j] - t->submit_us[j]);
            n++;
        }
    return sum_s / n;
}

static void measure(const struct trial *t, const struct run_result *result, double *value)
{
    memcpy(value, result->metric, sizeof result->metric);
    measure_passes(&result->log, value);
    value[MEASURE_RECONFIGS_GPUH] =
        value[METRIC_reconfigs] * 3600 /
        (value[METRIC_makespan_s] * (t->nodes * NODE_GPUS + t->singles));
    value[MEASURE_TRAIN_JCT_S] = mean_jct_s(&result->trace.jobs, KIND_TRAIN);
    value[MEASURE_INFER_JCT_S] = mean_jct_s(&result->trace.jobs, KIND_INFER);
}

enum status reproduction_make(const struct reproduction *r, const struct trial *trial,
                              double *value, struct error *err)
{
    struct run_request q = {0};
    struct run_result result = {0};
    struct trace day = {0};
    struct run_watch watch = {.stop = r->watch.stop};
    enum status status = ST_OK;
    TRY_OUT(request_of(r, trial, &q, err));
    TRY_OUT(draw_day(r, trial, &day, err));
    q.source = &day;
    TRY_OUT(run_execute(&q, &watch, &result, err));
    if (*watch.stop)
        TRY_OUT(fail(err, ST_INTERRUPTED, "interrupted"));
    measure(trial, &result, value);
out:
    run_result_free(&result);
    trace_free(&day);
    run_request_free(&q);
    return status;
}

/* The outcomes that are not there yet. */
struct pending {
    struct reproduction *r;
    size_t *at; /* (n) rows of r->outcome */
    int n;
};

static enum status work(void *context, int worker, int i, void **product, struct error *err)
{
    const struct pending *p = context;
    (void)worker;
    *product = NULL;
    struct outcome *o = &p->r->outcome[p->at[i]];
    TRY(reproduction_make(p->r, &o->trial, o->value, err));
    o->done = true;
    return ST_OK;
}

static enum status deliver(void *context, int i, void *product, struct error *err)
{
    struct pending *p = context;
    (void)product;
    (void)err;
    if (i >= 0)
        watch_points(&p->r->watcher, i + 1, p->n, 0);
    return ST_OK;
}

enum status reproduction_run(struct reproduction *r, struct error *err)
{
    struct pending p = {r, calloc(r->n_outcomes + 1, sizeof *p.at), 0};
    if (p.at == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < r->n_outcomes; i++)
        if (!r->outcome[i].done)
            p.at[p.n++] = i;
    struct crew_job job = {&p, work, deliver};
    enum status status = crew_run(&job, p.n, r->n_threads, err);
    watch_end(&r->watcher);
    free(p.at);
    return status;
}
