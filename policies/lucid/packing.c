#include "policies/lucid/packing.h"

#include "core/cluster/beside.h"
#include "core/elastico/rst.h"

#include <math.h>
#include <string.h>

/* The text under which a workload goes in the trace: "workload", or the artifact's four columns
 * joined as traces/venus.c joins them. */
struct workload_columns {
    int32_t whole, part[4];
};
enum { WORKLOAD_TEXT_MAX = 512 };

static enum status find_columns(const struct table *t, const char *suffix, const char *what,
                                struct workload_columns *out, struct error *err)
{
    static const char *const parts[] = {"model", "dataset", "batchsize", "amp"};
    char name[32];
    snprintf(name, sizeof name, "workload%s", suffix);
    out->whole = table_column(t, name);
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%s%s", parts[i], suffix);
        out->part[i] = table_column(t, name);
        if (out->whole < 0 && out->part[i] < 0)
            return fail(err, ST_INPUT, "the table of %s has no column workload%s, and no %s", what,
                        suffix, name);
    }
    return ST_OK;
}

/* The id of the workload of a row among the names of the jobs, -1 where none has it. */
static int32_t workload_of(const struct table *t, int32_t row, const struct workload_columns *c,
                           const struct names *names)
{
    char text[WORKLOAD_TEXT_MAX];
    if (c->whole >= 0)
        snprintf(text, sizeof text, "%s", table_cell(t, row, c->whole));
    else
        snprintf(text, sizeof text, "%s/%s/%s/%s", table_cell(t, row, c->part[0]),
                 table_cell(t, row, c->part[1]), table_cell(t, row, c->part[2]),
                 table_cell(t, row, c->part[3]));
    return names_find(names, text, strlen(text));
}

/* (names) the label of each workload, SCORE_NEVER + 1 where there is none. */
static enum status read_labels(const struct table *t, const struct names *names, uint8_t *label,
                               struct error *err)
{
    struct workload_columns columns;
    memset(label, SCORE_NEVER + 1, (size_t)names->n);
    if (t->n_rows == 0)
        return ST_OK;
    int32_t value = table_column(t, "label");
    if (value < 0)
        return fail(err, ST_INPUT, "the table of labels has no column label");
    TRY(find_columns(t, "", "labels", &columns, err));
    for (int32_t r = 0; r < t->n_rows; r++) {
        double score = table_number(t, r, value);
        int32_t workload = workload_of(t, r, &columns, names);
        if (!(score == SCORE_TINY || score == SCORE_MEDIUM || score == SCORE_JUMBO))
            return fail(err, ST_INPUT, "row %d of the table of labels: want 0, 1 or 2", r + 1);
        if (workload >= 0)
            label[workload] = (uint8_t)score;
    }
    return ST_OK;
}

static int score_of(const struct packing_config *c, const struct view *v, const uint8_t *label,
                    int32_t job)
{
    int32_t workload = v->jobs->workload[job];
    if (workload >= 0 && label[workload] <= SCORE_NEVER)
        return label[workload];
    if (v->rst == NULL || v->rst->submitted[job] < 0)
        return c->unlabelled;
    double sm = v->rst->p->m.sm[rst_row(v->rst, job, v->rst->submitted[job], v->rst->card[job])];
    return isnan(sm)             ? c->unlabelled
           : sm < c->tiny_below  ? SCORE_TINY
           : sm >= c->jumbo_from ? SCORE_JUMBO
                                 : SCORE_MEDIUM;
}

static enum status find_scores(struct packing *p, const struct view *v, struct arena *arena,
                               struct error *err)
{
    const struct names *names = &v->jobs->names;
    uint8_t *label = arena_alloc(v->scratch, (size_t)names->n + 1, sizeof *label);
    p->score = arena_alloc(arena, (size_t)v->jobs->n_jobs, sizeof *p->score);
    if (label == NULL || p->score == NULL)
        return fail_memory(err);
    TRY(read_labels(p->config->labels, names, label, err));
    for (int32_t j = 0; j < v->jobs->n_jobs; j++)
        p->score[j] = (uint8_t)score_of(p->config, v, label, j);
    return ST_OK;
}

/* Workloads whose model the artifact never slows: those it did not measure, and NeuMF. */
static bool never_slowed(const char *workload)
{
    static const char *const models[] = {"NeuMF", "ResNet50", "BERT", "Transformer"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strncmp(workload, models[i], strlen(models[i])) == 0 &&
            workload[strlen(models[i])] == '/')
            return true;
    return false;
}

/* Numbers the workloads that the rates are about. */
static void number_kinds(struct packing *p, const struct names *names,
                         const struct workload_columns columns[2])
{
    for (int32_t i = 0; i < names->n; i++)
        p->kind[i] = -1;
    for (int32_t r = 0; r < p->config->rates->n_rows; r++)
        for (int side = 0; side < 2; side++) {
            int32_t workload = workload_of(p->config->rates, r, &columns[side], names);
            if (workload >= 0 && p->kind[workload] < 0)
                p->kind[workload] = p->n_kinds++;
        }
}

static enum status read_rates(struct packing *p, const struct names *names, struct arena *arena,
                              struct error *err)
{
    const struct table *t = p->config->rates;
    struct workload_columns columns[2];
    int32_t speed[2] = {table_column(t, "speed1"), table_column(t, "speed2")};
    if (speed[0] < 0 || speed[1] < 0)
        return fail(err, ST_INPUT, "the table of rates has no columns speed1 and speed2");
    TRY(find_columns(t, "1", "rates", &columns[0], err));
    TRY(find_columns(t, "2", "rates", &columns[1], err));
    number_kinds(p, names, columns);
    size_t n = (size_t)p->n_kinds * (size_t)p->n_kinds;
    p->speeds = arena_alloc(arena, n, sizeof *p->speeds);
    if (p->speeds == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < n; i++)
        p->speeds[i] = (struct pair_speeds){NAN, NAN};
    for (int32_t r = 0; r < t->n_rows; r++) {
        double a_speed = table_number(t, r, speed[0]), b_speed = table_number(t, r, speed[1]);
        int32_t a = workload_of(t, r, &columns[0], names);
        int32_t b = workload_of(t, r, &columns[1], names);
        if (!(a_speed > 0 && a_speed <= 10 && b_speed > 0 && b_speed <= 10))
            return fail(err, ST_INPUT, "row %d of the table of rates: want speeds above 0 to 10",
                        r + 1);
        if (a < 0 || b < 0)
            continue;
        a = p->kind[a];
        b = p->kind[b];
        p->speeds[b * p->n_kinds + a] = (struct pair_speeds){b_speed, a_speed};
        p->speeds[a * p->n_kinds + b] = (struct pair_speeds){a_speed, b_speed};
    }
    return ST_OK;
}

static enum status find_speeds(struct packing *p, const struct view *v,
                               const struct place_rules *rules, struct arena *arena,
                               struct error *err)
{
    const struct names *names = &v->jobs->names;
    p->pairs = rules->pairs;
    p->pair_id = rules->pair_id;
    p->kind = arena_alloc(arena, (size_t)names->n, sizeof *p->kind);
    p->at_1 = arena_alloc(arena, (size_t)names->n, sizeof *p->at_1);
    if (p->kind == NULL || p->at_1 == NULL)
        return fail_memory(err);
    for (int32_t i = 0; i < names->n && p->config->unmeasured_at_1; i++)
        p->at_1[i] = never_slowed(names_text(names, i));
    return p->config->rates->n_rows > 0 ? read_rates(p, names, arena, err) : ST_OK;
}

static bool columns_new(struct packing *p, const struct view *v, struct arena *arena)
{
    size_t n = (size_t)v->jobs->n_jobs;
    for (int32_t node = 0; node < v->cluster->n_nodes; node++)
        if (v->cluster->node_gpu_milli[node] / 1000 > p->gpus_most)
            p->gpus_most = v->cluster->node_gpu_milli[node] / 1000;
    size_t n_lists = (size_t)p->vcs->n * ((size_t)p->gpus_most + 1);
    p->mate = arena_alloc(arena, n, sizeof *p->mate);
    p->shares = arena_alloc(arena, n, sizeof *p->shares);
    p->order = arena_alloc(arena, n, sizeof *p->order);
    p->next = arena_alloc(arena, n, sizeof *p->next);
    p->prev = arena_alloc(arena, n, sizeof *p->prev);
    p->first = arena_alloc(arena, n_lists, sizeof *p->first);
    p->last = arena_alloc(arena, n_lists, sizeof *p->last);
    if (p->mate == NULL || p->shares == NULL || p->order == NULL || p->next == NULL ||
        p->prev == NULL || p->first == NULL || p->last == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        p->mate[i] = -1;
    for (size_t i = 0; i < n_lists; i++)
        p->first[i] = p->last[i] = -1;
    return true;
}

enum status packing_init(struct packing *p, const struct packing_config *config,
                         const struct vcs *vcs, const struct view *v,
                         const struct place_rules *rules, struct arena *arena, struct error *err)
{
    *p = (struct packing){.config = config, .vcs = vcs};
    if (!columns_new(p, v, arena))
        return fail_memory(err);
    TRY(find_scores(p, v, arena, err));
    return find_speeds(p, v, rules, arena, err);
}

/* The list of jobs of the same cluster and width; -1 for jobs that do not sit on whole cards of one
 * node. */
static int32_t list_of(const struct packing *p, const struct job_table *t, int32_t job)
{
    int32_t task = t->task_begin[job], milli = t->gpu_milli[task];
    if (t->task_begin[job + 1] - task > 1 || t->n_inst[task] > 1 || milli < 1000 ||
        milli % 1000 != 0)
        return -1;
    return p->vcs->of[job] * (p->gpus_most + 1) + milli / 1000;
}

/* In order of start: at the end, but for those whose mate has gone. */
static void offer(struct packing *p, const struct job_table *t, int32_t job)
{
    int32_t list = list_of(p, t, job);
    if (list < 0)
        return;
    int32_t after = p->last[list];
    while (after >= 0 && p->order[after] > p->order[job])
        after = p->prev[after];
    int32_t before = after >= 0 ? p->next[after] : p->first[list];
    p->prev[job] = after;
    p->next[job] = before;
    *(after >= 0 ? &p->next[after] : &p->first[list]) = job;
    *(before >= 0 ? &p->prev[before] : &p->last[list]) = job;
}

static void withdraw(struct packing *p, const struct job_table *t, int32_t job)
{
    int32_t list = list_of(p, t, job);
    if (list < 0)
        return;
    int32_t next = p->next[job], prev = p->prev[job];
    *(prev >= 0 ? &p->next[prev] : &p->first[list]) = next;
    *(next >= 0 ? &p->prev[next] : &p->last[list]) = prev;
}

void packing_alone(struct packing *p, const struct job_table *t, int32_t job)
{
    p->order[job] = p->n_started++;
    p->shares[job] = false;
    offer(p, t, job);
}

/* What both keep; NAN where the pair was not measured, 1 where nobody asks for measurements. */
static struct pair_speeds speeds_of(const struct packing *p, const struct job_table *t, int32_t job,
                                    int32_t host)
{
    static const struct pair_speeds full = {1, 1}, unknown = {NAN, NAN};
    int32_t a = t->workload[job], b = t->workload[host];
    if ((a >= 0 && p->at_1[a]) || (b >= 0 && p->at_1[b]))
        return full;
    if (p->n_kinds > 0) {
        if (a < 0 || b < 0 || p->kind[a] < 0 || p->kind[b] < 0)
            return unknown;
        return p->speeds[p->kind[a] * p->n_kinds + p->kind[b]];
    }
    if (p->pairs == NULL)
        return full;
    if (a < 0 || b < 0 || p->pair_id[a] < 0 || p->pair_id[b] < 0)
        return unknown;
    double speed = pairs_speed(p->pairs, p->pair_id[a], p->pair_id[b]);
    return (struct pair_speeds){speed, speed};
}

/* Is there memory on the host's cards for both, and a little left? */
static bool memory_for_both(const struct packing *p, const struct plan *plan, int32_t job,
                            int32_t host)
{
    const struct job_table *t = plan->jobs;
    int32_t a = t->task_begin[job], b = t->task_begin[host];
    int32_t where = plan->cluster->seats[plan->at[b].first].where;
    double card_mib = plan->cluster->card_gpu_mem_mib[where];
    if (card_mib == INT32_MAX)
        card_mib = p->config->gpu_mem_mib;
    return t->card_mem_mib[a] > 0 && t->card_mem_mib[b] > 0 &&
           t->card_mem_mib[b] < card_mib - t->card_mem_mib[a];
}

static bool may_join(const struct packing *p, const struct plan *plan, const int64_t *priority,
                     int32_t job, int32_t host)
{
    return p->score[host] != SCORE_NEVER && memory_for_both(p, plan, job, host) &&
           p->score[job] + p->score[host] <= p->config->score_max &&
           (double)priority[job] <= p->config->priority_ratio * (double)priority[host] &&
           (p->config->unmeasured_at_1 || !isnan(speeds_of(p, plan->jobs, job, host).joins));
}

static double applied(const struct packing *p, double speed)
{
    return isnan(speed) || (speed > 1 && !p->config->gains) ? 1 : speed;
}

bool packing_join(struct packing *p, const struct view *v, struct plan *plan,
                  const int64_t *priority, int32_t job)
{
    int32_t list = list_of(p, v->jobs, job), host = list < 0 ? -1 : p->first[list];
    if (p->score[job] == SCORE_NEVER)
        return false;
    for (; host >= 0; host = p->next[host])
        if (may_join(p, plan, priority, job, host) && beside_start(plan, job, host, v->scratch))
            break;
    if (host < 0)
        return false;
    withdraw(p, v->jobs, host);
    p->order[job] = p->n_started++;
    p->mate[job] = host;
    p->mate[host] = job;
    p->shares[job] = p->shares[host] = true;
    if (p->n_kinds > 0) {
        struct pair_speeds speeds = speeds_of(p, v->jobs, job, host);
        plan_speed(plan, job, applied(p, speeds.joins));
        plan_speed(plan, host, applied(p, speeds.joined));
    }
    return true;
}

void packing_end(struct packing *p, const struct view *v, struct plan *plan, int32_t job)
{
    int32_t mate = p->mate[job];
    if (!p->shares[job])
        withdraw(p, v->jobs, job);
    if (mate < 0)
        return;
    p->mate[job] = p->mate[mate] = -1;
    bool forgotten = p->config->unrecovered && p->order[job] < p->order[mate];
    if (v->jobs->status[mate] != JOB_RUNNING || forgotten)
        return;
    p->shares[mate] = false;
    offer(p, v->jobs, mate);
    if (p->n_kinds > 0)
        plan_speed(plan, mate, 1);
}
