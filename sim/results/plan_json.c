#include "sim/results/plan_json.h"

#include "core/elastico/arrivals.h"
#include "sim/results/quote.h"

#include <math.h>
#include <string.h>

enum { PROFILES_SHOWN = 16 };

static void number(FILE *to, const char *key, double value)
{
    char text[32];
    fprintf(to, ", \"%s\": %s", key, format_real(value, text));
}

static void name(FILE *to, const struct plan *p, int32_t job)
{
    fputs("{\"name\": ", to);
    quote_json(to, names_text(&p->jobs->job_names, job));
}

static void config(FILE *to, const char *key, const struct rst *rst, int32_t which)
{
    char text[96];
    fprintf(to, ", \"%s\": ", key);
    if (which < 0)
        fputs("null", to);
    else
        quote_json(to, config_text(rst->w, which, text));
}

static int32_t task_of(const struct plan *p, int32_t job)
{
    return p->jobs->task_begin[job] + p->n_ended[job];
}

/* Every card of a process's may be filled so far: cards count from 0 as the process sees them. */
static void mps_limit(FILE *to, int32_t n_cards, int32_t mem_mib)
{
    fputs(", \"CUDA_MPS_PINNED_DEVICE_MEM_LIMIT\": \"", to);
    for (int32_t i = 0; i < n_cards; i++)
        fprintf(to, "%s%d=%dM", i > 0 ? "," : "", i, mem_mib);
    fputs("\"", to);
}

/* [{"node", "name", "cards"}], consecutive seats of a node together; mem_mib 0: no limit is named.
 */
static void places(FILE *to, const char *key, const struct plan *p, struct seats at,
                   int32_t mem_mib)
{
    const struct cluster *c = p->cluster;
    fprintf(to, ", \"%s\": [", key);
    for (int32_t i = 0, n; i < at.n; i += n) {
        int32_t where = c->seats[at.first + i].where, node = seat_node(c, where);
        fprintf(to, "%s{\"node\": %d, \"name\": ", i > 0 ? ", " : "", node);
        quote_json(to, names_text(&c->names, node));
        for (n = 0; i + n < at.n && seat_node(c, c->seats[at.first + i + n].where) == node &&
                    (where >= 0 || n == 0);
             n++)
            if (where >= 0)
                fprintf(to, "%s%d", n > 0 ? ", " : ", \"cards\": [",
                        c->seats[at.first + i + n].where - c->node_card[node]);
        fputs(where >= 0 ? "]" : "", to);
        if (where >= 0 && mem_mib > 0)
            mps_limit(to, n, mem_mib);
        fputs("}", to);
    }
    fputs("]", to);
}

static enum job_kind kind_of(const struct plan *p, const struct rst *rst, int32_t job)
{
    if (rst != NULL && rst->workload[job] >= 0)
        return (enum job_kind)rst->w->kind[rst->workload[job]];
    return (enum job_kind)p->jobs->kind[job];
}

/* The smallest of its cards, 0 where one is not known. */
static int32_t card_mem_mib(const struct plan *p, struct seats at)
{
    int32_t least = INT32_MAX;
    for (int32_t i = 0; i < at.n; i++) {
        int32_t where = p->cluster->seats[at.first + i].where;
        int32_t mib = where >= 0 ? p->cluster->card_gpu_mem_mib[where] : INT32_MAX;
        least = mib < least ? mib : least;
    }
    return least == INT32_MAX ? 0 : least;
}

/* Where it runs and what its framework is told (§4.2 of the ElastiCo paper): M_j / M_GPU, to four
 * places, rounded down. */
static void running(FILE *to, const struct plan *p, const struct rst *rst, int32_t job)
{
    int32_t task = task_of(p, job), mem_mib = p->jobs->card_mem_mib[task];
    struct seats at = p->at[task];
    int32_t all_mib = card_mem_mib(p, at);
    places(to, "at", p, at, mem_mib);
    number(to, "gpus", plan_width(p, task) * p->jobs->gpu_milli[task] / 1e3);
    if (mem_mib == 0)
        return;
    number(to, "gpu_mem_mib", mem_mib);
    if (all_mib == 0)
        return;
    double part = floor(1e4 * mem_mib / all_mib) / 1e4;
    switch (kind_of(p, rst, job)) {
    case KIND_INFER: number(to, "gpu_memory_utilization", part); break;
    case KIND_TRAIN: number(to, "set_per_process_memory_fraction", part); break;
    case KIND_UNKNOWN: break;
    }
}

/* Progress that a change costs, in all. */
static double pause_s(const struct plan *p, int32_t job)
{
    int64_t sum_us = 0;
    for (size_t i = 0; i < p->n; i++)
        if (p->entry[i].kind == PLAN_PAUSE && p->entry[i].job == job)
            sum_us += p->entry[i].pause_us;
    return s_of_us(sum_us);
}

static bool first_of(const struct plan *p, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (p->entry[k].kind == p->entry[i].kind && p->entry[k].job == p->entry[i].job)
            return false;
    return true;
}

/* Is it a running job that leaves this pass in another configuration? */
static bool changes_config(const struct plan *p, size_t i)
{
    const struct plan_entry *e = &p->entry[i];
    return e->kind == PLAN_CONFIG && p->jobs->status[e->job] == JOB_RUNNING && first_of(p, i) &&
           p->config[e->job] != e->config;
}

static void entry_json(FILE *to, const struct plan *p, const struct rst *rst,
                       const struct plan_entry *e)
{
    name(to, p, e->job);
    switch (e->kind) {
    case PLAN_EVICT: number(to, "restart_s", s_of_us(e->restart_us)); break;
    case PLAN_CONFIG:
        config(to, "from", rst, e->config);
        config(to, "config", rst, p->config[e->job]);
        break;
    case PLAN_RESIZE: places(to, "from", p, p->parked[e->task], 0); break;
    case PLAN_START: config(to, "config", rst, p->config != NULL ? p->config[e->job] : -1); break;
    case PLAN_SPEED:
    case PLAN_PROFILE:
    case PLAN_POOL:
    case PLAN_PAUSE:
    case PLAN_RELEASE: break;
    }
    if (e->kind != PLAN_EVICT)
        running(to, p, rst, e->job);
    if (e->kind != PLAN_EVICT && pause_s(p, e->job) > 0)
        number(to, "pause_s", pause_s(p, e->job));
    fputs("}", to);
}

static void list(FILE *to, const char *key, const struct plan *p, const struct rst *rst,
                 enum plan_kind kind)
{
    bool any = false;
    fprintf(to, "%s\"%s\": [", kind == PLAN_EVICT ? "" : ",\n ", key);
    for (size_t i = 0; i < p->n; i++) {
        if (p->entry[i].kind != kind || (kind == PLAN_CONFIG && !changes_config(p, i)))
            continue;
        fputs(any ? ",\n  " : "\n  ", to);
        entry_json(to, p, rst, &p->entry[i]);
        any = true;
    }
    fputs("]", to);
}

void plan_json(FILE *to, const struct plan *p, const struct rst *rst, int64_t now_us, double now_s)
{
    char text[32];
    list(to, "evict", p, rst, PLAN_EVICT);
    list(to, "config", p, rst, PLAN_CONFIG);
    list(to, "resize", p, rst, PLAN_RESIZE);
    list(to, "start", p, rst, PLAN_START);
    double wake_s = p->wake_us == TIME_NEVER ? NAN : now_s + s_of_us(p->wake_us - now_us);
    fprintf(to, ",\n \"wake_s\": %s", format_real(wake_s, text));
}

void profiles_json(FILE *to, const struct lore *l)
{
    const struct workloads *w = l->truth->w;
    int32_t config[PROFILES_SHOWN], n = lore_next(l, PROFILES_SHOWN, config);
    char text[96];
    fputs(",\n \"profile\": [", to);
    for (int32_t i = 0; i < n; i++) {
        fputs(i > 0 ? ",\n  {\"workload\": " : "\n  {\"workload\": ", to);
        quote_json(to, names_text(&w->names, w->workload[config[i]]));
        fputs(", \"config\": ", to);
        quote_json(to, config_text(w, config[i], text));
        fputs("}", to);
    }
    fputs("]", to);
}

/* Nothing where nobody came. */
static void arrivals_json(FILE *to, const struct arrivals *a, double now_s)
{
    char text[32];
    int n = ARRIVAL_CLASSES;
    while (n > 0 && a->gpu_s[n - 1] == 0)
        n--;
    if (a->from_us == TIME_NEVER)
        return;
    fprintf(to, "\"arrivals\": {\"from_s\": %s", format_real(now_s + s_of_us(a->from_us), text));
    fprintf(to, ", \"until_s\": %s, \"gpu_s\": [", format_real(now_s + s_of_us(a->until_us), text));
    for (int i = 0; i < n; i++)
        fprintf(to, "%s%s", i > 0 ? ", " : "", format_real(a->gpu_s[i], text));
    fputs("]},\n ", to);
}

void memory_json(FILE *to, const struct memory *m, const struct job_table *t, double now_s)
{
    char text[32];
    bool any = false;
    arrivals_json(to, m->arrivals, now_s);
    fputs("\"prices\": [", to);
    for (int32_t r = 0; r < m->n_prices; r++)
        fprintf(to, "%s%s", r > 0 ? ", " : "", format_real(m->price[r], text));
    fputs("],\n \"remember\": [", to);
    for (int32_t job = 0; job < t->n_jobs; job++) {
        if (isinf(m->tolerance[job]) && !m->apart[job])
            continue;
        fprintf(to, "%s{\"name\": ", any ? ",\n  " : "\n  ");
        quote_json(to, names_text(&t->job_names, job));
        if (!isinf(m->tolerance[job]))
            number(to, "tolerance", m->tolerance[job]);
        fputs(m->apart[job] ? ", \"apart\": true}" : "}", to);
        any = true;
    }
    fputs("]", to);
}

bool plan_trains(const struct plan *p, const struct rst *rst)
{
    for (size_t i = 0; i < p->n; i++)
        if ((p->entry[i].kind == PLAN_START || changes_config(p, i)) &&
            kind_of(p, rst, p->entry[i].job) == KIND_TRAIN)
            return true;
    return false;
}
