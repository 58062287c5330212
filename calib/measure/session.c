#include "calib/measure/session.h"

#include "calib/measure/keeper.h"
#include "calib/measure/scene.h"
#include "core/cluster/job.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* MPS is asked again for so long when it is not ready, and a server has room for this many clients
 * of one job that we look at. */
static const double retry_s = 60;
enum { CLIENTS_MAX = 64 };

static enum status job_env(const struct session *s, struct runner *r, struct child_env *env,
                           struct error *err)
{
    TRY(child_env_add(env, err, "%s", r->mark));
    if (s->use_mps)
        TRY(mps_client_env(&s->mps, r->job->thread_pct, r->job->mem_limit_mib, env, err));
    else if (s->uuid[0] != '\0') {
        TRY(child_env_add(env, err, "CUDA_VISIBLE_DEVICES=%s", s->uuid));
        /* A daemon that somebody else runs is not to be found. */
        TRY(child_env_add(env, err, "CUDA_MPS_PIPE_DIRECTORY=/nonexistent"));
    }
    if (s->profiler == NULL)
        return ST_OK;
    const char *before = getenv("LD_PRELOAD");
    TRY(child_env_add(env, err, "LD_PRELOAD=%s%s%s", s->profiler, before != NULL ? ":" : "",
                      before != NULL ? before : ""));
    return child_env_add(env, err, "%s=%s", RING_FOLDER, r->ring_folder);
}

static void empty_folder(const char *folder)
{
    char path[600];
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.')
            unlink(path);
    }
    if (dir != NULL)
        closedir(dir);
}

static enum status start(struct scene *c, struct runner *r, struct error *err)
{
    struct child_env env = {0};
    char log[600];
    if (c->s->profiler != NULL) {
        snprintf(r->ring_folder, sizeof r->ring_folder, "%s/%d", c->s->ring_folder,
                 (int)(r - c->runner));
        empty_folder(r->ring_folder);
    }
    snprintf(r->mark, sizeof r->mark, "COLOSIM_JOB=%ld-%d", (long)getpid(), (int)(r - c->runner));
    snprintf(log, sizeof log, "%s/%s.log", c->s->log_folder, r->job->name);
    enum status status = job_env(c->s, r, &env, err);
    if (status == ST_OK)
        status = child_start(&r->child, r->job->command, &env, log, err);
    child_env_free(&env);
    r->ready = r->told = false;
    r->said_mps = -1;
    r->last_line_s = 0;
    r->hint = NULL;
    return status;
}

/* A line of a job; false when memory is out. */
static bool take_line(struct scene *c, struct runner *r, const char *line)
{
    double side[N_SIDE_NUMBERS], joint[N_JOINT_NUMBERS], now = monotonic_s();
    bool fine = true;
    if (strcmp(line, "ready") == 0) {
        r->ready = true;
        return true;
    }
    if (strncmp(line, "mps=", 4) == 0 && (line[4] == '0' || line[4] == '1'))
        r->said_mps = line[4] - '0';
    if (!rate_read(&r->reader, line, side, joint)) {
        const struct hint *hint = hint_of(line);
        r->hint = hint != NULL && r->hint == NULL ? hint : r->hint;
        return true;
    }
    bool counts = c->in_window && r->last_line_s >= c->both_s && c->both_s > 0;
    r->ready = r->told = true;
    r->last_line_s = now;
    if (counts && c->throttled)
        r->n_left_out++;
    for (int i = 0; counts && !c->throttled && i < N_SIDE_NUMBERS; i++)
        fine = series_add(&r->side[i], side[i]) && fine;
    for (int i = 0; counts && !c->throttled && i < N_JOINT_NUMBERS; i++)
        fine = series_add(&r->joint[i], joint[i]) && fine;
    return fine;
}

/* Reads what the jobs say until until_s, until one ends, or until *enough. */
static enum status listen(struct scene *c, double until_s, const bool *enough, struct error *err)
{
    for (;;) {
        struct pollfd fd[2];
        bool ended = false;
        for (int i = 0; i < c->n; i++) {
            struct runner *r = &c->runner[i];
            bool over = r->child.pid > 0 && child_ended(&r->child);
            for (char *line; r->child.pid > 0 && (line = child_line(&r->child)) != NULL;)
                if (!take_line(c, r, line))
                    return fail_memory(err);
            ended = ended || over;
            fd[i] = (struct pollfd){.fd = r->child.pid > 0 ? r->child.out : -1, .events = POLLIN};
        }
        if (stop_asked(c->s->stop))
            return fail(err, ST_INTERRUPTED, "interrupted");
        double left_s = until_s - monotonic_s();
        if (ended || left_s <= 0 || (enough != NULL && *enough))
            return ST_OK;
        stop_wait(c->s->stop, fd, c->n, left_s < .05 ? left_s : .05);
    }
}

/* Says how a job ended before it should. */
static void tell_end(struct scene *c, struct runner *r, enum outcome what)
{
    char how[32];
    if (r->hint != NULL && r->hint->action == HINT_LOST)
        what = OUTCOME_FAULT;
    scene_outcome(c, what, "%s ended (%s): %s%s%s", r->job->name, child_how(&r->child, how),
                  r->hint != NULL ? r->hint->meaning : "it said last '",
                  r->hint != NULL ? "" : r->child.last, r->hint != NULL ? "" : "'");
}

static bool all_run(struct scene *c, enum outcome what)
{
    for (int i = 0; i < c->n; i++)
        if (c->runner[i].child.pid > 0 && child_ended(&c->runner[i].child))
            tell_end(c, &c->runner[i], what);
    return c->m->outcome == OUTCOME_OK;
}

static void terminate(struct session *s, const char *mark)
{
    mps_terminate(&s->mps, mark);
    s->only_kills = s->mps.deaf;
}

static void end_job(struct scene *c, struct runner *r)
{
    if (c->s->use_mps && !c->s->only_kills && r->child.pid > 0)
        terminate(c->s, r->mark);
    child_end(&r->child, c->s->options.grace_s);
}

/* Starts a job and waits until it is ready; starts it again while MPS is not. */
static enum status get_ready(struct scene *c, struct runner *r, struct error *err)
{
    double began_s = monotonic_s(), pause_s = 1;
    for (;;) {
        TRY(start(c, r, err));
        TRY(listen(c, monotonic_s() + c->s->options.ready_s, &r->ready, err));
        bool again = child_ended(&r->child) && r->hint != NULL && r->hint->action == HINT_RETRY &&
                     monotonic_s() + pause_s - began_s < retry_s;
        if (!again)
            break;
        child_end(&r->child, 0);
        TRY(listen(c, monotonic_s() + pause_s, NULL, err));
        pause_s *= 2;
    }
    if (all_run(c, OUTCOME_NOT_STARTED) && !r->ready)
        scene_outcome(c, OUTCOME_NOT_STARTED, "%s printed neither a rate nor 'ready' within %g s",
                      r->job->name, c->s->options.ready_s);
    return ST_OK;
}

/* A job's own word, which CUDA gave it, else a process among the clients of our server: the server
 * knows none by its number where it is in another PID namespace. */
static bool is_under_mps(struct scene *c, const struct runner *r)
{
    struct mps_client client[CLIENTS_MAX];
    return c->s->use_mps &&
           (r->said_mps >= 0 ? r->said_mps > 0
                             : mps_clients_of(&c->s->mps, r->mark, client, CLIENTS_MAX) > 0);
}

/* One that ended while we asked did that, and nothing else. */
static enum status prove_mps(struct scene *c, struct error *err)
{
    bool under[2] = {false, false};
    for (int i = 0; i < c->n; i++) {
        under[i] = is_under_mps(c, &c->runner[i]);
        c->m->side[i][SIDE_MPS] = under[i];
    }
    TRY(listen(c, monotonic_s(), NULL, err));
    for (int i = 0; all_run(c, OUTCOME_ENDED) && c->s->use_mps && i < c->n; i++)
        if (!under[i])
            scene_outcome(c, OUTCOME_NO_MPS,
                          "%s does not run under MPS: %s; does it set "
                          "CUDA_MPS_PIPE_DIRECTORY itself or use no card?",
                          c->runner[i].job->name,
                          c->runner[i].said_mps == 0
                              ? "CUDA fell back silently, and it says mps=0"
                              : "none of its processes is a client of our server");
    return ST_OK;
}

static enum status read_counters(struct scene *c, struct error *err)
{
    struct counter_reading r;
    counters_read(c->s->counters, &r);
    const double value[N_JOINT_NUMBERS] = {[JOINT_SM] = r.sm,
                                           [JOINT_OCC] = r.occ,
                                           [JOINT_TENSOR] = r.tensor,
                                           [JOINT_DRAM] = r.dram,
                                           [JOINT_GPU_UTIL] = r.gpu_util,
                                           [JOINT_FB_MIB] = r.fb_mib - c->fb_before_mib,
                                           [JOINT_MHZ_MIN] = r.sm_mhz,
                                           [JOINT_MHZ_MAX] = r.sm_mhz};
    c->throttled = r.throttled;
    c->power_capped = c->power_capped || (c->in_window && r.power_capped);
    if (c->in_window && r.source != NULL)
        c->source = r.source;
    for (int i = 0; c->in_window && i < N_JOINT_NUMBERS; i++)
        if (!series_add(&c->joint[i], value[i]))
            return fail_memory(err);
    return ST_OK;
}

static enum status read_rings(struct scene *c, bool first, struct error *err)
{
    for (int i = 0; c->s->profiler != NULL && i < c->n; i++) {
        struct runner *r = &c->runner[i];
        if (!ring_reader_take(&r->rings, r->ring_folder, first ? &r->begin : &r->end))
            return fail_memory(err);
    }
    return ST_OK;
}

/* The window, a second at a time. */
static enum status watch(struct scene *c, struct error *err)
{
    double begin_s = monotonic_s(), end_s = begin_s + c->s->options.window_s;
    c->m->time_s = (double)time(NULL);
    TRY(read_counters(c, err)); /* what GPM says of the window begins here */
    TRY(read_rings(c, true, err));
    c->in_window = true;
    for (double now = begin_s; now < end_s && all_run(c, OUTCOME_ENDED); now = monotonic_s()) {
        TRY(listen(c, fmin(now + 1, end_s), NULL, err));
        TRY(read_counters(c, err));
        TRY(read_rings(c, false, err));
    }
    c->in_window = false;
    all_run(c, OUTCOME_ENDED);
    return ST_OK;
}

static enum status run(struct scene *c, struct error *err)
{
    int first =
        c->n == 2 && c->runner[0].job->kind == KIND_INFER && c->runner[1].job->kind != KIND_INFER;
    for (int k = 0; k < c->n && c->m->outcome == OUTCOME_OK; k++)
        TRY(get_ready(c, &c->runner[k == 0 ? first : 1 - first], err));
    if (c->m->outcome != OUTCOME_OK)
        return ST_OK;
    TRY(prove_mps(c, err));
    if (c->m->outcome != OUTCOME_OK)
        return ST_OK;
    for (int i = 0; i < c->n; i++)
        if (!c->runner[i].told)
            child_say(&c->runner[i].child, "go\n");
    c->both_s = monotonic_s();
    TRY(listen(c, c->both_s + c->s->options.warmup_s, NULL, err));
    if (!all_run(c, OUTCOME_ENDED))
        return ST_OK;
    TRY(watch(c, err));
    if (c->m->outcome == OUTCOME_OK)
        scene_sum_up(c);
    return ST_OK;
}

static void scene_free(struct scene *c)
{
    for (int i = 0; i < c->n; i++) {
        struct runner *r = &c->runner[i];
        end_job(c, r);
        rate_reader_free(&r->reader);
        ring_reader_free(&r->rings);
        if (c->s->profiler != NULL && r->ring_folder[0] != '\0')
            empty_folder(r->ring_folder);
        for (int k = 0; k < N_SIDE_NUMBERS; k++)
            series_free(&r->side[k]);
        for (int k = 0; k < N_JOINT_NUMBERS; k++)
            series_free(&r->joint[k]);
    }
    for (int k = 0; k < N_JOINT_NUMBERS; k++)
        series_free(&c->joint[k]);
}

/* Ends what has left its job's session and would take part in the next window. */
static void end_strays(struct session *s)
{
    pid_t spared[CLIENTS_MAX];
    if (s->use_mps && !s->only_kills && s->mps.folder[0] != '\0')
        terminate(s, NULL);
    keeper_kill_children(spared, mps_processes(&s->mps, spared, CLIENTS_MAX));
}

enum status session_measure(struct session *s, const struct measured_job *const job[2],
                            struct measurement *m, struct error *err)
{
    enum status status = ST_OK;
    struct counter_reading before;
    struct scene *c = calloc(1, sizeof *c);
    if (c == NULL)
        return fail_memory(err);
    *c = (struct scene){.s = s, .m = m, .n = m->n_jobs};
    for (int i = 0; i < c->n; i++)
        c->runner[i] = (struct runner){.job = job[i], .child = {.in = -1, .out = -1, .log = -1}};
    counters_read(s->counters, &before);
    c->fb_before_mib = before.fb_mib;
    for (int i = 0; i < c->n; i++)
        TRY_OUT(rate_reader_init(&c->runner[i].reader, job[i]->rate, err));
    if (s->use_mps && s->mps.folder[0] == '\0')
        TRY_OUT(mps_start(&s->mps, s->uuid, err));
    TRY_OUT(run(c, err));
out:
    scene_free(c);
    free(c);
    if (s->mps.deaf)
        mps_stop(&s->mps, s->log_folder);
    end_strays(s);
    if (m->outcome == OUTCOME_FAULT || s->mps.deaf)
        mps_stop(&s->mps, s->log_folder); /* whoever comes next gets a new server */
    return status;
}

void session_end(struct session *s) { mps_stop(&s->mps, s->log_folder); }
