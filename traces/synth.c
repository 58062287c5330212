#include "traces/synth.h"

#include "core/base/arena.h"
#include "core/base/rng.h"
#include "core/base/units.h"
#include "traces/workloads.h"

#include <assert.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_TRAIN = N_TRAIN_WORKLOADS, N_INFER = N_INFER_WORKLOADS, WEIGHTED_MAX = 64 };
static const double DAY_S = 86400;

static const double min_rate_fracs[] = {0.3, 0.5, 0.7};

static const char *const arrivals_names[] = {"poisson", "gamma", "diurnal", NULL};
static const char *const duration_names[] = {"lognormal", "empirical", NULL};

#define S struct synth_settings
const struct param synth_params[] = {
    PARAM_CHOICE(S, arrivals, arrivals_names, ARRIVALS_POISSON,
                 "gaps between submissions: poisson, gamma with cv, or diurnal"),
    PARAM_REAL(S, cv, "1", 2, 0.05, 100, "gamma: standard deviation over mean of the gaps"),
    PARAM_CHOICE(S, duration, duration_names, SYNTH_LOGNORMAL,
                 "law of the durations: lognormal, or empirical (sampled from a trace)"),
    PARAM_REAL(S, elastic_frac, "1", 0.5, 0, 1,
               "share of training jobs of several GPUs that can run on fewer, down to one"),
    PARAM_TEXT(S, gpus, "1:.6,2:.12,4:.12,8:.13,16:.03",
               "GPUs of a training job and how often: GPUS:WEIGHT, below 1 a share of one card"),
    PARAM_INT(S, groups, "1", 40, 1, 1000000, "recurring kinds of job, each with one workload"),
    PARAM_REAL(S, hours, "h", 24, 1e-3, 1e6,
               "first to last submission; follows where both jobs and load are set"),
    PARAM_REAL(S, infer_frac, "1", 0.6, 0, 1, "share of jobs that are offline inference"),
    PARAM_REAL(S, infer_gpu, "GPUs", 1, 0.001, 1, "GPUs of an inference job"),
    PARAM_INT(S, jobs, "jobs", 0, 0, 100000000, "0: as many as fill the hours at the load"),
    PARAM_REAL(S, load, "1", 1.2, 0, 1000,
               "offered load: GPU-seconds asked over GPUs x span, exact; 0: follows"),
    PARAM_REAL(S, max_s, "s", 18000, 1e-3, 1e9, "lognormal: longer durations become this"),
    PARAM_REAL(S, median_s, "s", 1800, 1e-3, 1e9, "lognormal: median duration"),
    PARAM_REAL(S, min_s, "s", 60, 1e-3, 1e9, "lognormal: shorter durations become this"),
    PARAM_INT(S, node_gpus, "GPUs", 8, 1, 1000,
              "wider jobs are gangs of instances of this width (default: the cluster's)"),
    PARAM_REAL(S, peak_hour, "h", 15, 0, 24, "diurnal: hour of the busiest moment, UTC"),
    PARAM_REAL(S, peak_ratio, "1", 4, 1, 1000, "diurnal: busiest over quietest rate"),
    PARAM_TEXT(S, queues, NULL, "queues and how often, NAME:WEIGHT,...; none by default"),
    PARAM_REAL(S, sigma, "1", 1.5, 0, 10, "lognormal: standard deviation of ln(duration)"),
    PARAM_INT(S, users, "1", 20, 1, 1000000, "users; each group belongs to one"),
    PARAM_END,
};
#undef S

/* WORD:WEIGHT,WORD:WEIGHT,... */
struct weighted {
    int n;
    const char *word[WEIGHTED_MAX]; /* borrowed, with its length */
    size_t length[WEIGHTED_MAX];
    double up_to[WEIGHTED_MAX]; /* sum of the weights so far; the last is the whole */
};

/* One stream per purpose. */
enum {
    OF_ARRIVALS,
    OF_DURATIONS,
    OF_ELASTIC,
    OF_GPUS,
    OF_GROUPS,
    OF_KINDS,
    OF_MEMBERS,
    OF_QUEUES,
    OF_RATES,
    N_STREAMS
};
static const char *const stream_names[N_STREAMS] = {
    "synth.arrivals", "synth.durations", "synth.elastic", "synth.gpus",  "synth.groups",
    "synth.kinds",    "synth.members",   "synth.queues",  "synth.rates",
};

struct group {
    int32_t name, user, workload; /* ids in the table's names */
};

struct maker {
    const struct synth_settings *settings;
    const struct job_table *empirical;
    struct job_table *out;
    gsl_rng *rng[N_STREAMS];
    struct weighted gpus, queues;
    int32_t gpu_milli[WEIGHTED_MAX]; /* of each entry of gpus */
    int32_t queue_id[WEIGHTED_MAX];
    struct group *group; /* (n_groups) training groups first */
    double *popularity;  /* (n_groups) 1 + 1/2 + ... up to each group's rank in its kind */
    int32_t n_groups, n_train_groups;
    double work_gpu_s; /* of the jobs so far */
};

static enum status read_weighted(const char *text, const char *key, struct weighted *out,
                                 struct error *err)
{
    *out = (struct weighted){0};
    double sum = 0;
    for (const char *p = text; *p != '\0';) {
        size_t entry = strcspn(p, ","), word = strcspn(p, ":,");
        double weight;
        if (word == 0 || word == entry || !parse_real(p + word + 1, entry - word - 1, &weight) ||
            weight < 0)
            return fail(err, ST_USAGE, "setting '%s': '%.*s' is no WORD:WEIGHT", key, (int)entry,
                        p);
        if (out->n == WEIGHTED_MAX)
            return fail(err, ST_USAGE, "setting '%s' has more than %d entries", key, WEIGHTED_MAX);
        out->word[out->n] = p;
        out->length[out->n] = word;
        out->up_to[out->n++] = sum += weight;
        p += entry + (p[entry] == ',');
    }
    if (!(sum > 0) || isinf(sum))
        return fail(err, ST_USAGE, "setting '%s': the weights add up to nothing", key);
    return ST_OK;
}

/* The first i with u < up_to[i] / up_to[n - 1], u in [0, 1). Cost O(log n). */
static int32_t pick(const double *up_to, int32_t n, double u)
{
    double x = u * up_to[n - 1];
    int32_t lo = 0, hi = n - 1;
    while (lo < hi) {
        int32_t middle = lo + (hi - lo) / 2;
        if (x < up_to[middle])
            hi = middle;
        else
            lo = middle + 1;
    }
    return lo;
}

static enum status read_gpu_mix(struct maker *m, struct error *err)
{
    const struct synth_settings *s = m->settings;
    TRY(read_weighted(s->gpus != NULL ? s->gpus : "", "gpus", &m->gpus, err));
    for (int i = 0; i < m->gpus.n; i++) {
        int64_t milli, node_milli = s->node_gpus * 1000;
        int length = (int)m->gpus.length[i];
        const char *word = m->gpus.word[i];
        if (!parse_scaled(word, (size_t)length, 3, &milli) || milli < 1 || milli > 100000000 ||
            (milli > 1000 && milli % 1000 != 0))
            return fail(err, ST_USAGE,
                        "setting 'gpus': '%.*s' is neither a share of one GPU nor "
                        "a whole number of GPUs",
                        length, word);
        if (milli > node_milli && milli % node_milli != 0)
            return fail(err, ST_USAGE, "setting 'gpus': %.*s GPUs are no multiple of a node's %d",
                        length, word, (int)s->node_gpus);
        m->gpu_milli[i] = (int32_t)milli;
    }
    return ST_OK;
}

static enum status add_name(struct job_table *t, const char *text, size_t length, int32_t *id,
                            struct error *err)
{
    *id = names_add(&t->names, text, length);
    return *id >= 0 ? ST_OK : fail_memory(err);
}

static enum status add_numbered(struct job_table *t, const char *word, int64_t number, int32_t *id,
                                struct error *err)
{
    char text[40];
    int n = snprintf(text, sizeof text, "%s-%d", word, (int)number);
    return add_name(t, text, (size_t)n, id, err);
}

static enum status make_queues(struct maker *m, struct error *err)
{
    if (m->settings->queues == NULL)
        return ST_OK;
    TRY(read_weighted(m->settings->queues, "queues", &m->queues, err));
    for (int i = 0; i < m->queues.n; i++)
        TRY(add_name(m->out, m->queues.word[i], m->queues.length[i], &m->queue_id[i], err));
    return ST_OK;
}

static int32_t uniform_below(gsl_rng *rng, int64_t n)
{
    return (int32_t)gsl_rng_uniform_int(rng, (unsigned long)n);
}

/* Both kinds have a group wherever they have jobs. The workloads of a kind take turns in a shuffled
 * order, so that a few groups already show all of them. */
static enum status make_groups(struct maker *m, struct error *err)
{
    const struct synth_settings *s = m->settings;
    int order[N_TRAIN + N_INFER];
    int32_t n_infer = (int32_t)llround((double)s->groups * s->infer_frac);
    int32_t n_train = (int32_t)s->groups - n_infer;
    n_infer += n_infer == 0 && s->infer_frac > 0;
    n_train += n_train == 0 && s->infer_frac < 1;
    m->n_groups = n_train + n_infer;
    m->n_train_groups = n_train;
    m->group = calloc((size_t)m->n_groups, sizeof *m->group);
    m->popularity = calloc((size_t)m->n_groups, sizeof *m->popularity);
    if (m->group == NULL || m->popularity == NULL)
        return fail_memory(err);
    for (int i = 0; i < N_TRAIN + N_INFER; i++)
        order[i] = i;
    gsl_ran_shuffle(m->rng[OF_GROUPS], order, N_TRAIN, sizeof *order);
    gsl_ran_shuffle(m->rng[OF_GROUPS], order + N_TRAIN, N_INFER, sizeof *order);
    for (int32_t i = 0; i < m->n_groups; i++) {
        int32_t rank = i < n_train ? i : i - n_train;
        int turn = i < n_train ? rank % N_TRAIN : N_TRAIN + rank % N_INFER;
        const char *workload = workload_names[order[turn]];
        m->popularity[i] = (rank > 0 ? m->popularity[i - 1] : 0) + 1.0 / (rank + 1);
        TRY(add_numbered(m->out, "group", i + 1, &m->group[i].name, err));
        TRY(add_numbered(m->out, "user", 1 + uniform_below(m->rng[OF_GROUPS], s->users),
                         &m->group[i].user, err));
        TRY(add_name(m->out, workload, strlen(workload), &m->group[i].workload, err));
    }
    return ST_OK;
}

static enum status open_streams(struct maker *m, uint64_t seed, struct error *err)
{
    for (int i = 0; i < N_STREAMS; i++) {
        m->rng[i] = rng_stream(seed, stream_names[i]);
        if (m->rng[i] == NULL)
            return fail_memory(err);
    }
    return ST_OK;
}

static void close_streams(struct maker *m)
{
    for (int i = 0; i < N_STREAMS; i++)
        gsl_rng_free(m->rng[i]); /* NULL is fine */
}

static int64_t draw_duration_us(struct maker *m)
{
    const struct synth_settings *s = m->settings;
    if (s->duration == SYNTH_EMPIRICAL)
        return job_duration_us(m->empirical,
                               uniform_below(m->rng[OF_DURATIONS], m->empirical->n_jobs));
    double x = s->median_s * exp(s->sigma * gsl_ran_gaussian_ziggurat(m->rng[OF_DURATIONS], 1));
    x = x < s->min_s ? s->min_s : x > s->max_s ? s->max_s : x;
    return llround(x * 1e3) * 1000; /* whole milliseconds are precise enough and read better */
}

/* Every stream moves by the same draws for every job, whatever the job turns out to be. */
static struct job_row draw_row(struct maker *m)
{
    const struct synth_settings *s = m->settings;
    struct job_row row = job_row_empty();
    const int32_t node_milli = (int32_t)(s->node_gpus * 1000);
    bool infer = gsl_rng_uniform(m->rng[OF_KINDS]) < s->infer_frac;
    int32_t milli = m->gpu_milli[pick(m->gpus.up_to, m->gpus.n, gsl_rng_uniform(m->rng[OF_GPUS]))];
    int32_t first = infer ? m->n_train_groups : 0;
    int32_t n = infer ? m->n_groups - m->n_train_groups : m->n_train_groups;
    const struct group *group =
        &m->group[first + pick(m->popularity + first, n, gsl_rng_uniform(m->rng[OF_MEMBERS]))];
    if (infer)
        milli = (int32_t)lround(s->infer_gpu * 1e3);
    row.kind = infer ? KIND_INFER : KIND_TRAIN;
    if (gsl_rng_uniform(m->rng[OF_ELASTIC]) < s->elastic_frac && milli > 1000) {
        row.gpu_min = 1;
        row.gpu_max = milli / 1000;
    }
    bool gang = milli > node_milli;
    row.n_inst = gang ? milli / node_milli : 1;
    row.gpu_milli = gang ? node_milli : milli;
    row.duration_us = draw_duration_us(m);
    row.group = group->name;
    row.user = group->user;
    row.workload = group->workload;
    row.min_rate_frac = min_rate_fracs[uniform_below(m->rng[OF_RATES], 3)];
    if (m->queues.n > 0)
        row.queue =
            m->queue_id[pick(m->queues.up_to, m->queues.n, gsl_rng_uniform(m->rng[OF_QUEUES]))];
    return row;
}

static double row_work_gpu_s(const struct job_row *row)
{
    return (double)row->n_inst * row->gpu_milli / 1e3 * s_of_us(row->duration_us);
}

/* Adds jobs, all submitted at 0 for now, until there are n_jobs, or with n_jobs = 0 until their
 * work comes nearest to work_gpu_s. */
static enum status add_jobs(struct maker *m, int64_t n_jobs, double work_gpu_s, struct error *err)
{
    const int64_t limit = n_jobs > 0 ? n_jobs : 100000000;
    for (int64_t i = 0; i < limit; i++) {
        struct job_row row = draw_row(m);
        double work = row_work_gpu_s(&row), missing = work_gpu_s - m->work_gpu_s;
        if (n_jobs == 0 && missing < work / 2)
            return ST_OK;
        char name[32];
        row.name = name;
        row.name_length = (size_t)snprintf(name, sizeof name, "job-%d", (int)(i + 1));
        if (jobs_add(m->out, &row) < 0)
            return fail_memory(err);
        m->work_gpu_s += work;
    }
    if (n_jobs == 0)
        return fail(err, ST_USAGE, "%g h at load %g are more than 100 million jobs",
                    m->settings->hours, m->settings->load);
    return ST_OK;
}

/* The time at which the share u of the whole diurnal intensity over [0, span] has passed, with
 * rate(t) = 1 + a cos(2 pi (t - peak) / day), 0 <= a < 1: the root of a rising function, by
 * Newton's method inside a bracket. from is a time known to be earlier. */
static double diurnal_time(double u, double a, double peak, double from, double span)
{
    const double w = 2 * M_PI / DAY_S, amount = a / w, begin = amount * sin(-w * peak);
    double want = u * (span + amount * sin(w * (span - peak)) - begin);
    double lo = from, hi = span, t = from;
    for (int i = 0; i < 100; i++) {
        double miss = t + amount * sin(w * (t - peak)) - begin - want;
        *(miss > 0 ? &hi : &lo) = t;
        double next = t - miss / (1 + a * cos(w * (t - peak)));
        if (next < lo || next > hi)
            next = lo + (hi - lo) / 2;
        if (fabs(next - t) < 1e-7)
            return next;
        t = next;
    }
    return t;
}

/* Draws the gaps, adds them up and stretches the sums over [0, span_us]: given its two ends and
 * its number, that is what a Poisson process looks like; a diurnal one is the same on a clock of
 * its own. */
static enum status spread(struct maker *m, int64_t span_us, struct error *err)
{
    const struct synth_settings *s = m->settings;
    const bool gamma = s->arrivals == ARRIVALS_GAMMA, diurnal = s->arrivals == ARRIVALS_DIURNAL;
    const double shape = 1 / (s->cv * s->cv), a = (s->peak_ratio - 1) / (s->peak_ratio + 1);
    const double span = s_of_us(span_us);
    int32_t n = m->out->n_jobs;
    double sum = 0, t = 0;
    double *at = malloc(((size_t)n + 1) * sizeof *at);
    if (at == NULL)
        return fail_memory(err);
    for (int32_t i = 0; i < n; i++) {
        at[i] = sum;
        sum += gamma ? gsl_ran_gamma(m->rng[OF_ARRIVALS], shape, 1)
                     : gsl_ran_exponential(m->rng[OF_ARRIVALS], 1);
    }
    for (int32_t i = 0; i < n; i++) {
        double u = n > 1 && at[n - 1] > 0 ? at[i] / at[n - 1] : 0;
        t = diurnal ? diurnal_time(u, a, s->peak_hour * 3600, t, span) : u * span;
        m->out->submit_us[i] = i > 0 && i == n - 1 ? span_us : us_of_s(t);
    }
    free(at);
    return ST_OK;
}

static enum status check_settings(const struct synth_settings *s, int64_t n_gpus,
                                  const struct job_table *empirical, struct error *err)
{
    if (n_gpus < 1)
        return fail(err, ST_USAGE,
                    "a trace is made for a cluster with GPUs, and this one has none");
    if (s->jobs == 0 && !(s->load > 0))
        return fail(err, ST_USAGE, "settings 'jobs' and 'load' are both 0: one must be given");
    if (s->min_s > s->max_s)
        return fail(err, ST_USAGE, "setting 'min_s' is %g s, more than max_s = %g s", s->min_s,
                    s->max_s);
    if (s->duration != SYNTH_EMPIRICAL)
        return ST_OK;
    if (empirical == NULL)
        return fail(err, ST_USAGE, "duration = empirical needs a trace to draw durations from");
    for (int32_t j = 0; j < empirical->n_jobs; j++)
        if (job_duration_us(empirical, j) > 0)
            return ST_OK;
    return fail(err, ST_USAGE, "no job of the trace to draw durations from lasts longer than 0 s");
}

/* The span that gives the load exactly, or the one that was set. */
static enum status span_of(const struct maker *m, int64_t n_gpus, int64_t *span_us,
                           struct error *err)
{
    const struct synth_settings *s = m->settings;
    double span = s->hours * 3600;
    if (s->load > 0)
        span = m->work_gpu_s / ((double)n_gpus * s->load);
    if (!(span < 1e12))
        return fail(err, ST_USAGE, "the span would be %g s, the limit is 1e12 s", span);
    *span_us = us_of_s(span);
    if (s->load > 0 && (m->out->n_jobs < 2 || *span_us < 1))
        return fail(err, ST_USAGE, "%d jobs have no span: a load needs two jobs or more",
                    (int)m->out->n_jobs);
    return ST_OK;
}

enum status synth_jobs(const struct synth_settings *settings, int64_t n_gpus, uint64_t seed,
                       const struct job_table *empirical, struct job_table *out, struct error *err)
{
    enum status status = ST_OK;
    int64_t span_us = 0;
    struct maker m = {.settings = settings, .empirical = empirical, .out = out};
    *out = (struct job_table){0};
    TRY(check_settings(settings, n_gpus, empirical, err));
    TRY_OUT(open_streams(&m, seed, err));
    TRY_OUT(read_gpu_mix(&m, err));
    TRY_OUT(make_groups(&m, err));
    TRY_OUT(make_queues(&m, err));
    TRY_OUT(add_jobs(&m, settings->jobs, settings->load * (double)n_gpus * settings->hours * 3600,
                     err));
    TRY_OUT(span_of(&m, n_gpus, &span_us, err));
    TRY_OUT(spread(&m, span_us, err));
    TRY_OUT(jobs_close(out, err));
out:
    close_streams(&m);
    free(m.group);
    free(m.popularity);
    return status;
}
