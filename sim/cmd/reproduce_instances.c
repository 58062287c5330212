/* The 44 % fewer instances of section 5.2, as "additional GPU instances required for concurrent
 * offline inference ... compared to static partitioning" (section 7). The paper defines no more, so
 * the promises are: training's mean JCT is no worse than on its own 64 GPUs under volcano, and
 * inference's is at most twice what it takes alone, as its jobs' targets of half their rate allow.
 * Static partitioning gives inference a pool of its own under volcano. */
#include "sim/cmd/reproduce.h"

#include "core/base/units.h"
#include "sim/run/crew.h"

#include <math.h>
#include <stdlib.h>

enum { TRAIN_NODES = 8, SINGLES_MAX = 128 };
static const double rate_frac = 0.5, paper_saved = 0.44;

enum setting { APART, VOLCANO_SHARED, LUCID_SHARED, ELASTICO_SHARED, N_SETTINGS };
static const char *const setting_names[N_SETTINGS] = {"a pool apart", "volcano, together",
                                                      "lucid, together", "elastico, together"};
static const enum reproduce_system setting_systems[N_SETTINGS] = {SYSTEM_VOLCANO, SYSTEM_VOLCANO,
                                                                  SYSTEM_LUCID, SYSTEM_ELASTICO};

struct search {
    struct reproduction *r;
    double *gpus; /* (N_WORLDS x n_seeds x N_SETTINGS) found */
};

static double *gpus_of(const struct search *s, int world, int k)
{
    return &s->gpus[((size_t)world * (size_t)s->r->n_seeds + (size_t)k) * N_SETTINGS];
}

static struct trial alone(const struct search *s, int world, int64_t seed, enum part part)
{
    return (struct trial){.system = SYSTEM_VOLCANO,
                          .world = world,
                          .part = part,
                          .day_nodes = TRAIN_NODES,
                          .nodes = TRAIN_NODES,
                          .load = s->r->load,
                          .seed = seed};
}

struct promise {
    double train_s, infer_s; /* mean JCT at most */
};

/* A GPU for every job: what inference takes alone. */
static enum status promises(const struct search *s, int world, int64_t seed, struct promise *out,
                            struct error *err)
{
    double value[N_MEASURES];
    struct trial train = alone(s, world, seed, PART_TRAIN),
                 infer = alone(s, world, seed, PART_INFER);
    TRY(reproduction_make(s->r, &train, value, err));
    out->train_s = value[MEASURE_TRAIN_JCT_S];
    infer.nodes = 1000;
    TRY(reproduction_make(s->r, &infer, value, err));
    out->infer_s = value[MEASURE_INFER_JCT_S] / rate_frac;
    return ST_OK;
}

static enum status kept(const struct search *s, enum setting setting, struct trial t,
                        int32_t singles, const struct promise *p, bool *out, struct error *err)
{
    double value[N_MEASURES];
    t.system = setting_systems[setting];
    t.singles = singles;
    t.part = setting == APART ? PART_INFER : PART_ALL;
    t.nodes = setting == APART ? 0 : TRAIN_NODES;
    *out = false;
    if (t.nodes == 0 && singles == 0)
        return ST_OK;
    TRY(reproduction_make(s->r, &t, value, err));
    *out = value[METRIC_jobs_rejected] + value[METRIC_jobs_unfinished] < 1 &&
           value[MEASURE_INFER_JCT_S] <= p->infer_s &&
           (setting == APART || value[MEASURE_TRAIN_JCT_S] <= p->train_s);
    return ST_OK;
}

/* The fewest GPUs with which both promises are kept, by bisection; NAN where SINGLES_MAX are not
 * enough. */
static enum status fewest(const struct search *s, enum setting setting, const struct trial *t,
                          const struct promise *p, double *out, struct error *err)
{
    int32_t missed = -1, met = SINGLES_MAX;
    bool ok;
    TRY(kept(s, setting, *t, met, p, &ok, err));
    *out = NAN;
    if (!ok)
        return ST_OK;
    while (met - missed > 1) {
        int32_t middle = missed + (met - missed) / 2;
        TRY(kept(s, setting, *t, middle, p, &ok, err));
        *(ok ? &met : &missed) = middle;
    }
    *out = met;
    return ST_OK;
}

static enum status work(void *context, int worker, int i, void **product, struct error *err)
{
    const struct search *s = context;
    int world = i / s->r->n_seeds, k = i % s->r->n_seeds;
    struct trial t = alone(s, world, s->r->seed[k], PART_ALL);
    struct promise p;
    (void)worker;
    *product = NULL;
    if (!s->r->shown[world])
        return ST_OK;
    TRY(promises(s, world, t.seed, &p, err));
    for (int setting = 0; setting < N_SETTINGS; setting++)
        TRY(fewest(s, (enum setting)setting, &t, &p, &gpus_of(s, world, k)[setting], err));
    return ST_OK;
}

static enum status deliver(void *context, int i, void *product, struct error *err)
{
    const struct search *s = context;
    (void)product;
    (void)err;
    if (i >= 0)
        watch_points(&s->r->watcher, i + 1, N_WORLDS * s->r->n_seeds, 0);
    return ST_OK;
}

static void print_line(const struct reproduction *r, int world, enum setting setting,
                       struct spread gpus, struct spread saved, FILE *to)
{
    char text[4][32];
    double paper = setting == ELASTICO_SHARED ? paper_saved : NAN;
    if (!r->json) {
        snprintf(text[0], sizeof text[0], "[%.4g, %.4g]", gpus.lo, gpus.hi);
        snprintf(text[1], sizeof text[1], "[%.3g, %.3g]", 100 * saved.lo, 100 * saved.hi);
        fprintf(to, "  %-20s %7.4g %-14s %8.3g %-16s %7s\n", setting_names[setting], gpus.median,
                text[0], 100 * saved.median, text[1], isfinite(paper) ? "44" : "-");
        return;
    }
    fprintf(to,
            "{\"table\": \"instances\", \"physics\": \"%s\", \"submitted\": \"%s\", \"row\": "
            "\"%s\", \"column\": \"saved\", \"seeds\": %d, \"gpus\": %s",
            worlds[world].physics, worlds[world].submitted, setting_names[setting], r->n_seeds,
            format_real(gpus.median, text[0]));
    fprintf(to, ", \"paper\": %s, \"median\": %s, \"low\": %s, \"high\": %s, \"deviation\": ",
            format_real(paper, text[0]), format_real(saved.median, text[1]),
            format_real(saved.lo, text[2]), format_real(saved.hi, text[3]));
    fprintf(to, "%s}\n", format_real(saved.median / paper - 1, text[0]));
}

static void print_world(const struct search *s, int world, double *gpus, double *saved, FILE *to)
{
    if (!s->r->json)
        fprintf(to, "\n  contention.set=%s submitted=%s\n", worlds[world].physics,
                worlds[world].submitted);
    for (int setting = 0; setting < N_SETTINGS; setting++) {
        for (int k = 0; k < s->r->n_seeds; k++) {
            gpus[k] = gpus_of(s, world, k)[setting];
            saved[k] = 1 - gpus[k] / gpus_of(s, world, k)[APART];
        }
        print_line(s->r, world, (enum setting)setting, spread_of(gpus, s->r->n_seeds),
                   spread_of(saved, s->r->n_seeds), to);
    }
}

enum status instances_print(struct reproduction *r, FILE *to, struct error *err)
{
    size_t n = (size_t)r->n_seeds;
    struct search s = {r, calloc(N_WORLDS * n * N_SETTINGS, sizeof *s.gpus)};
    double *scratch = calloc(2 * n, sizeof *scratch);
    struct crew_job job = {&s, work, deliver};
    enum status status = s.gpus == NULL || scratch == NULL
                             ? fail_memory(err)
                             : crew_run(&job, N_WORLDS * r->n_seeds, r->n_threads, err);
    watch_end(&r->watcher);
    if (status == ST_OK && !r->json)
        fprintf(to,
                "\nSection 5.2: GPUs that inference needs beside 64, and what is saved of them\n"
                "  %-20s %7s %-14s %8s %-16s %7s\n",
                "", "GPUs", "[least, most]", "saved %", "[least, most]", "paper");
    for (int world = 0; world < N_WORLDS && status == ST_OK; world++)
        if (r->shown[world])
            print_world(&s, world, scratch, scratch + n, to);
    if (status == ST_OK && !r->json)
        fputs("\nPromised: training's mean JCT as on 64 GPUs of its own under volcano; inference's "
              "at\n"
              "most twice what it takes alone. The paper does not say what it held fixed.\n",
              to);
    free(s.gpus);
    free(scratch);
    return status;
}
