#include "sim/cmd/campaign.h"

#include "calib/measure/keeper.h"
#include "core/base/names.h"
#include "sim/cmd/options.h"
#include "sim/results/output.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One campaign while it lasts. */
struct work {
    const struct campaign *c;
    struct stop stop;
    struct gpu gpu;
    struct counters counters;
    struct session session;
    struct ledger ledger;
    int32_t number; /* of this session */
    int32_t n_windows;
    double begin_s, said_s, cost_s[2]; /* what a window took last, one job or two */
    bool bar, out_of_time;
    char log_folder[512], ring_folder[512], profiler[512];
};

struct step {
    enum measured_kind kind;
    int32_t a, b, rep;
};

/* Windows of a job alone, or of a pair: those that count, and those that do not. */
struct tally {
    int32_t good, bad;
};

static struct tally tally_of(const struct work *w, enum measured_kind kind, int32_t a, int32_t b)
{
    struct tally t = {0, 0};
    for (int32_t i = 0; i < w->ledger.n; i++) {
        const struct measurement *m = &w->ledger.row[i];
        if (m->kind != kind || m->job[0] != a || (kind == MEASURED_PAIR && m->job[1] != b))
            continue;
        bool good = ledger_counts(&w->ledger, i, w->c->options.drift_frac);
        t.good += good;
        t.bad += !good;
    }
    return t;
}

static bool wanted(const struct work *w, struct tally t, int32_t rep)
{
    return t.good <= rep && t.bad < w->c->options.attempts;
}

/* The job that is measured again and again: the first that ran alone. */
static int32_t sentinel_of(const struct work *w)
{
    for (int32_t j = 0; j < w->c->jobs->n; j++)
        if (!isnan(ledger_solo_rate(&w->ledger, j)))
            return j;
    return -1;
}

/* Pairs since the last sentinel; *own: did this session measure any of them, or a job alone? */
static int32_t pairs_in_block(const struct work *w, bool *own)
{
    int32_t n = 0;
    *own = false;
    for (int32_t i = w->ledger.n - 1; i >= 0 && w->ledger.row[i].kind != MEASURED_SENTINEL; i--) {
        n += w->ledger.row[i].kind == MEASURED_PAIR;
        *own = *own || w->ledger.row[i].session == w->number;
    }
    return n;
}

static bool solo_step(const struct work *w, int32_t job, int32_t rep, struct step *s)
{
    *s = (struct step){MEASURED_SOLO, job, 0, rep};
    return wanted(w, tally_of(w, MEASURED_SOLO, job, 0), rep);
}

/* The next pair, or one of its jobs alone. */
static bool pair_step(const struct work *w, int32_t rep, struct step *s)
{
    for (int32_t p = 0; p < w->c->n_pairs; p++) {
        const int32_t *job = w->c->pair[p].job;
        if (!wanted(w, tally_of(w, MEASURED_PAIR, job[0], job[1]), rep))
            continue;
        if (solo_step(w, job[0], rep, s) || solo_step(w, job[1], rep, s))
            return true;
        if (isnan(ledger_solo_rate(&w->ledger, job[0])) ||
            isnan(ledger_solo_rate(&w->ledger, job[1])))
            continue;
        *s = (struct step){MEASURED_PAIR, job[0], job[1], rep};
        return true;
    }
    return false;
}

/* What comes next; false when all is done. A job alone comes before its first pair, so that a run
 * that is cut short has what its pairs need. A session that goes on with pairs of an earlier one
 * closes their block first. */
static bool next_step(const struct work *w, struct step *s)
{
    bool found = false, own;
    for (int32_t rep = 0; rep < w->c->options.repeats && !found; rep++) {
        found = pair_step(w, rep, s);
        for (int32_t j = 0; j < w->c->jobs->n && !found; j++)
            found = solo_step(w, j, rep, s);
    }
    int32_t n = pairs_in_block(w, &own);
    if (n > 0 && (!found || n >= w->c->options.sentinel_every || !own)) {
        *s = (struct step){MEASURED_SENTINEL, sentinel_of(w), 0, 0};
        return true;
    }
    return found;
}

static void show_result(struct work *w, const struct measurement *m)
{
    const struct measured_job *job = w->c->jobs->job;
    double now = monotonic_s();
    if (m->outcome != OUTCOME_OK) {
        fprintf(stderr, "%s%s%s: %s: %s\n", job[m->job[0]].name, m->n_jobs == 2 ? " + " : "",
                m->n_jobs == 2 ? job[m->job[1]].name : "", outcome_name[m->outcome], m->error);
        return;
    }
    if (w->c->quiet || (!w->bar && w->n_windows > 1 && now - w->said_s < 60))
        return;
    w->said_s = now;
    fprintf(stderr, "[%.0f s] window %d: ", now - w->begin_s, w->n_windows);
    if (m->kind == MEASURED_PAIR)
        fprintf(stderr, "%s keeps %.3f, %s %.3f of its rate alone\n", job[m->job[0]].name,
                m->side[0][SIDE_RATE] / ledger_solo_rate(&w->ledger, m->job[0]),
                job[m->job[1]].name,
                m->side[1][SIDE_RATE] / ledger_solo_rate(&w->ledger, m->job[1]));
    else
        fprintf(stderr, "%s alone does %.6g steps a second\n", job[m->job[0]].name,
                m->side[0][SIDE_RATE]);
}

static void show_drift(const struct work *w)
{
    double drift = ledger_drift(&w->ledger, w->ledger.n - 1);
    if (fabs(drift - 1) > w->c->options.drift_frac)
        fprintf(stderr,
                "%s now does %.3f of what it did alone: the pairs since the last sentinel are "
                "measured again\n",
                w->c->jobs->job[w->ledger.row[w->ledger.n - 1].job[0]].name, drift);
}

static enum status write_tables(const struct work *w, struct error *err)
{
    char path[600];
    const struct campaign *c = w->c;
    if (c->write != NULL)
        return c->write(c->context, &w->ledger, c->folder, c->options.drift_frac, err);
    snprintf(path, sizeof path, "%s/job_solo.csv", c->folder);
    TRY(ledger_write_solo(&w->ledger, path, err));
    snprintf(path, sizeof path, "%s/job_pairs.csv", c->folder);
    return ledger_write_pairs(&w->ledger, path, c->options.drift_frac, err);
}

/* Would it end too late? */
static bool too_late(const struct work *w, const struct step *s)
{
    return w->c->limit_s > 0 &&
           monotonic_s() - w->begin_s + w->cost_s[s->kind == MEASURED_PAIR] > w->c->limit_s;
}

static enum status take_step(struct work *w, const struct step *s, struct error *err)
{
    struct measurement m;
    const struct measured_job *job[2] = {&w->c->jobs->job[s->a], &w->c->jobs->job[s->b]};
    double begin_s = monotonic_s();
    measurement_init(&m, s->kind, s->a, s->b);
    m.rep = s->rep;
    m.session = w->number;
    TRY(session_measure(&w->session, job, &m, err));
    w->cost_s[s->kind == MEASURED_PAIR] = monotonic_s() - begin_s;
    TRY(ledger_append(&w->ledger, &m, err));
    w->n_windows++;
    show_result(w, &m);
    if (s->kind == MEASURED_SENTINEL && m.outcome == OUTCOME_OK)
        show_drift(w);
    return write_tables(w, err);
}

static enum status measure(struct work *w, struct error *err)
{
    struct step s;
    w->cost_s[0] = w->cost_s[1] = w->c->options.session.warmup_s + w->c->options.session.window_s;
    while (next_step(w, &s)) {
        w->out_of_time = too_late(w, &s);
        if (w->out_of_time)
            return ST_OK;
        TRY(take_step(w, &s, err));
    }
    return ST_OK;
}

static enum status make_folder(const char *path, struct error *err)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST
               ? ST_OK
               : fail(err, ST_OUTPUT, "%s: %s", path, strerror(errno));
}

/* Tables that a killed run had begun. */
static void remove_parts(const char *folder)
{
    char path[800];
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        size_t n = strlen(e->d_name);
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (n > 5 && strcmp(e->d_name + n - 5, ".part") == 0)
            unlink(path);
    }
    if (dir != NULL)
        closedir(dir);
}

static enum status make_folders(struct work *w, struct error *err)
{
    char path[600];
    const struct campaign *c = w->c;
    if (strlen(c->folder) > 400)
        return fail(err, ST_USAGE, "-o %.40s...: at most 400 bytes", c->folder);
    snprintf(w->log_folder, sizeof w->log_folder, "%s/log", c->folder);
    snprintf(w->ring_folder, sizeof w->ring_folder, "%s/rings", c->folder);
    TRY(make_folder(c->folder, err));
    TRY(make_folder(w->log_folder, err));
    for (int i = -1; c->profile && i < 2; i++) {
        snprintf(path, sizeof path, i < 0 ? "%s" : "%s/%d", w->ring_folder, i);
        TRY(make_folder(path, err));
    }
    return ST_OK;
}

/* Of the list, the pairs, what is set, and how it is measured. */
static uint64_t plan_hash(const struct campaign *c)
{
    const int64_t flags[] = {c->no_gpu, c->no_mps, c->profile, c->seed};
    struct campaign_options o = c->options;
    o.attempts = 0; /* may grow */
    uint64_t hash = bytes_hash(flags, sizeof flags, joblist_hash(c->jobs));
    hash = bytes_hash(&o, sizeof o, hash);
    return bytes_hash(c->pair, (size_t)c->n_pairs * sizeof *c->pair, hash);
}

/* The card, its counters, and what of ours is preloaded. */
static enum status find_card(struct work *w, struct error *err)
{
    const struct campaign *c = w->c;
    struct session *s = &w->session;
    if (!c->no_gpu)
        TRY(gpu_find(&w->gpu, c->gpu_index, c->min_cuda, 30, err));
    if (c->profile && !companion_path(w->profiler, "libcolosim-intercept.so"))
        return fail(err, ST_HELPER, "--profile: libcolosim-intercept.so is not beside colosim");
    *s = (struct session){.options = c->options.session,
                          .stop = &w->stop,
                          .use_mps = !c->no_gpu && !c->no_mps,
                          .uuid = w->gpu.uuid,
                          .counters = &w->counters,
                          .log_folder = w->log_folder,
                          .profiler = c->profile ? w->profiler : NULL,
                          .ring_folder = w->ring_folder};
    if (s->use_mps)
        TRY(mps_start(&s->mps, s->uuid, err));
    return ST_OK;
}

static enum status open_work(struct work *w, struct error *err)
{
    char path[600];
    const struct campaign *c = w->c;
    TRY(stop_open(&w->stop, err));
    int n_swept = mps_sweep();
    if (n_swept > 0 && !c->quiet)
        fprintf(stderr, "removed what %d killed runs had left behind\n", n_swept);
    TRY(find_card(w, err));
    TRY(make_folders(w, err));
    if (!c->no_gpu)
        counters_open(&w->counters, w->gpu.uuid);
    struct ledger_facts facts = {plan_hash(c),
                                 w->gpu.name,
                                 w->gpu.uuid,
                                 w->counters.driver,
                                 c->no_gpu   ? "none"
                                 : c->no_mps ? "off"
                                             : "on",
                                 w->gpu.cuda,
                                 c->no_gpu ? -1 : w->counters.compute_mode,
                                 w->gpu.n_sms};
    snprintf(path, sizeof path, "%s/raw.csv", c->folder);
    TRY(ledger_open(&w->ledger, path, c->jobs, &facts, err));
    remove_parts(c->folder); /* the ledger is ours alone now */
    w->number = w->ledger.n > 0 ? w->ledger.row[w->ledger.n - 1].session + 1 : 1;
    return ST_OK;
}

static void announce(const struct work *w)
{
    const struct campaign *c = w->c;
    if (c->quiet)
        return;
    if (c->no_gpu)
        fprintf(stderr, "no card, no MPS, no counters: the commands are taken to need none\n");
    else
        fprintf(stderr, "%s, CUDA %d.%d; MPS %s; counters: %s%s%s%s\n", w->gpu.name,
                w->gpu.cuda / 1000, w->gpu.cuda % 1000 / 10, c->no_mps ? "off" : "on",
                counter_source_name[w->counters.source], w->counters.why_not[0] != '\0' ? " (" : "",
                w->counters.why_not, w->counters.why_not[0] != '\0' ? ")" : "");
    int64_t n = (c->jobs->n + c->n_pairs) * c->options.repeats;
    double each_s = c->options.session.warmup_s + c->options.session.window_s;
    fprintf(stderr,
            "%d jobs and %d pairs, %lld times each: %lld windows, %.0f minutes and the time jobs "
            "take to start; %d are there\n",
            c->jobs->n, c->n_pairs, (long long)c->options.repeats, (long long)n,
            (double)n * each_s / 60, w->ledger.n);
}

/* The result on stdout, and what it comes to. */
static enum status conclude(struct work *w, struct error *err)
{
    const struct campaign *c = w->c;
    int32_t n_jobs = 0, n_pairs = 0, n_lost = 0;
    struct output out;
    for (int32_t j = 0; j < c->jobs->n; j++)
        n_jobs += tally_of(w, MEASURED_SOLO, j, 0).good > 0;
    for (int32_t p = 0; p < c->n_pairs; p++) {
        struct tally t = tally_of(w, MEASURED_PAIR, c->pair[p].job[0], c->pair[p].job[1]);
        n_pairs += t.good > 0;
        n_lost += t.good == 0 && t.bad >= c->options.attempts;
    }
    TRY(output_open(&out, "-", err));
    fprintf(out.file, "%d of %d jobs alone, %d of %d pairs; tables in %s\n", n_jobs, c->jobs->n,
            n_pairs, c->n_pairs, c->folder);
    TRY(output_close(&out, ST_OK, err));
    if (w->out_of_time && !c->quiet)
        fprintf(stderr, "time is up: the same command goes on from here\n");
    if (n_pairs == 0 && c->n_pairs > 0 && !w->out_of_time)
        return fail(err, ST_NOTHING, "no pair was measured; %s has what each job said",
                    w->log_folder);
    if (n_lost > 0 || (n_jobs < c->jobs->n && !w->out_of_time))
        return fail(err, ST_CHECK, "%d jobs and %d pairs failed for good: raw.csv says why",
                    c->jobs->n - n_jobs, n_lost);
    return ST_OK;
}

static void close_work(struct work *w)
{
    char path[600];
    session_end(&w->session);
    counters_close(&w->counters);
    ledger_close(&w->ledger);
    for (int i = 1; w->c->profile && i >= -1; i--) {
        snprintf(path, sizeof path, i < 0 ? "%s" : "%s/%d", w->ring_folder, i);
        rmdir(path);
    }
    stop_close(&w->stop);
}

static int work(void *context)
{
    struct error err = {""}, second;
    struct work w = {
        .c = context, .ledger = {.fd = -1}, .begin_s = monotonic_s(), .bar = isatty(STDERR_FILENO)};
    enum status status = open_work(&w, &err);
    if (status == ST_OK) {
        announce(&w);
        status = measure(&w, &err);
        if (write_tables(&w, &second) != ST_OK && status == ST_OK)
            status = fail(&err, ST_OUTPUT, "%s", second.text);
    }
    if (status == ST_OK)
        status = conclude(&w, &err);
    close_work(&w);
    if (status == ST_INTERRUPTED && !w.c->quiet)
        snprintf(err.text, sizeof err.text,
                 "interrupted; %d windows are kept, and the same command goes on", w.n_windows);
    int code = report_error(status, &err);
    return status == ST_INTERRUPTED ? 128 + w.stop.signal : code;
}

int campaign_run(struct campaign *c)
{
    int code = keeper_run(work, c);
    mps_sweep(); /* nothing, unless the worker was killed */
    return code;
}
