#include "policies/lucid/vc.h"

#include <string.h>

const char *const semantics_names[] = {"repaired", "artifact", NULL};

/* (names of the job table) the pool named so, -1 for none. */
static void map_queues(const struct view *v, int32_t *pool_of_name)
{
    const struct names *pools = &v->cluster->pools, *names = &v->jobs->names;
    for (int32_t i = 0; i < names->n; i++)
        pool_of_name[i] = -1;
    for (int32_t p = 0; p < pools->n; p++) {
        int32_t id = names_find(names, names_text(pools, p), names_length(pools, p));
        if (id >= 0)
            pool_of_name[id] = p;
    }
}

static bool find_pools(struct vcs *s, const struct view *v)
{
    const struct job_table *t = v->jobs;
    int32_t *pool_of_name = arena_alloc(v->scratch, (size_t)t->names.n + 1, sizeof *pool_of_name);
    int32_t n_without = 0;
    if (pool_of_name == NULL)
        return false;
    map_queues(v, pool_of_name);
    for (int32_t j = 0; j < t->n_jobs; j++) {
        int32_t pool = t->queue[j] >= 0 ? pool_of_name[t->queue[j]] : -1;
        s->of[j] = pool >= 0 ? pool : s->n - 1;
        n_without += pool < 0;
    }
    s->overlap = n_without > 0 && n_without < t->n_jobs;
    return true;
}

static bool list_nodes(struct vcs *s, struct arena *arena)
{
    const struct cluster *c = s->cluster;
    for (int32_t i = 0; i < s->n; i++) {
        struct vc *vc = &s->vc[i];
        int32_t n = 0;
        for (int32_t node = 0; node < c->n_nodes; node++)
            n += i == s->n - 1 || c->node_pool[node] == i;
        vc->node = arena_alloc(arena, (size_t)n + 1, sizeof *vc->node);
        if (vc->node == NULL)
            return false;
        for (int32_t node = 0; node < c->n_nodes; node++)
            if (i == s->n - 1 || c->node_pool[node] == i)
                vc->node[vc->n_nodes++] = node;
        vc->wake_us = TIME_NEVER;
        vc->away = -1;
        vc->whole = n == c->n_nodes;
    }
    return true;
}

/* Whole nodes (and what is left) go to the emptiest, what one node can hold to the fullest. */
static enum place_mode mode_of(const struct job_table *t, int32_t job, int32_t node_milli)
{
    int32_t first = t->task_begin[job], end = t->task_begin[job + 1], most = 0;
    for (int32_t k = first; k < end; k++)
        most = t->gpu_milli[k] > most ? t->gpu_milli[k] : most;
    if (end - first == 1 && t->n_inst[first] == 1)
        return PLACE_BEST_FIT;
    return most >= node_milli ? PLACE_SPREAD : PLACE_CONSOLIDATE;
}

bool vcs_init(struct vcs *s, const struct view *v, struct arena *arena)
{
    size_t n_jobs = (size_t)v->jobs->n_jobs;
    int32_t node_milli = 1000;
    *s = (struct vcs){.n = v->cluster->pools.n + 1, .cluster = v->cluster};
    s->vc = arena_alloc(arena, (size_t)s->n, sizeof *s->vc);
    s->of = arena_alloc(arena, n_jobs, sizeof *s->of);
    s->mode = arena_alloc(arena, n_jobs, sizeof *s->mode);
    if (s->vc == NULL || s->of == NULL || s->mode == NULL || !find_pools(s, v) ||
        !list_nodes(s, arena))
        return false;
    for (int32_t node = 0; node < v->cluster->n_nodes; node++)
        if (v->cluster->node_gpu_milli[node] > node_milli)
            node_milli = v->cluster->node_gpu_milli[node];
    for (int32_t j = 0; j < v->jobs->n_jobs; j++)
        s->mode[j] = (uint8_t)mode_of(v->jobs, j, node_milli);
    return true;
}

int32_t vcs_find(const struct vcs *s, const char *name, size_t length)
{
    return names_find(&s->cluster->pools, name, length);
}

void vc_remove_node(struct vc *vc, int32_t node)
{
    int32_t at = 0;
    vc->whole = false;
    while (at < vc->n_nodes && vc->node[at] != node)
        at++;
    if (at == vc->n_nodes)
        return;
    vc->n_nodes--;
    memmove(vc->node + at, vc->node + at + 1, (size_t)(vc->n_nodes - at) * sizeof *vc->node);
}

void vc_add_node(struct vc *vc, int32_t node) { vc->node[vc->n_nodes++] = node; }

void vcs_happened(struct vcs *s, int32_t job)
{
    s->vc[s->of[job]].due = true;
    for (int32_t i = 0; s->overlap && i < s->n; i++)
        s->vc[i].due = true;
}

void vcs_begin(struct vcs *s, const struct view *v)
{
    for (int32_t i = 0; i < v->n_finished; i++)
        vcs_happened(s, v->finished[i]);
    for (int32_t i = 0; i < v->n_arrived; i++)
        vcs_happened(s, v->arrived[i]);
    for (int32_t i = 0; i < s->n; i++) {
        struct vc *vc = &s->vc[i];
        if (vc->wake_us > v->now_us)
            continue;
        vc->due = true;
        vc->wake_us = TIME_NEVER;
    }
}

void vc_wake(struct vc *vc, int64_t time_us)
{
    if (time_us < vc->wake_us)
        vc->wake_us = time_us;
}

void vcs_end(const struct vcs *s, struct plan *plan)
{
    for (int32_t i = 0; i < s->n; i++)
        plan_wake(plan, s->vc[i].wake_us);
}

/* How many instances of that size a node can hold. */
static int64_t room_on(const struct cluster *c, int32_t node, int32_t gpu_milli)
{
    return node < 0 ? 0 : c->node_gpu_milli[node] / gpu_milli;
}

bool vcs_hold(const struct vcs *s, const struct job_table *t, int32_t job)
{
    const struct vc *vc = &s->vc[s->of[job]];
    for (int32_t k = t->task_begin[job]; k < t->task_begin[job + 1]; k++) {
        if (t->gpu_milli[k] == 0)
            continue;
        int64_t room = room_on(s->cluster, vc->away, t->gpu_milli[k]);
        for (int32_t i = 0; i < vc->n_nodes && room < t->n_inst[k]; i++)
            room += room_on(s->cluster, vc->node[i], t->gpu_milli[k]);
        if (room < t->n_inst[k])
            return false;
    }
    return true;
}

bool vcs_start(const struct vcs *s, struct plan *plan, int32_t job)
{
    const struct vc *vc = &s->vc[s->of[job]];
    struct place_rules before = plan->rules;
    plan->rules.mode = (enum place_mode)s->mode[job];
    plan->rules.nodes = vc->whole ? NULL : vc->node;
    plan->rules.n_nodes = vc->n_nodes;
    plan->rules.share_max = 1;
    bool starts = plan_start(plan, job);
    plan->rules = before;
    return starts;
}

enum status vcs_want_seconds(const struct job_table *t, const char *policy, struct error *err)
{
    for (int32_t j = 0; j < t->n_jobs; j++)
        if (t->submit_us[j] % US_PER_S != 0)
            return fail(err, ST_INPUT,
                        "%s.semantics = artifact ticks by the second, and job %.40s is submitted "
                        "between two",
                        policy, names_text(&t->job_names, j));
    return ST_OK;
}

int64_t next_multiple(int64_t time_us, int64_t period_us)
{
    int64_t past = time_us % period_us;
    return past > 0 ? time_us + period_us - past : time_us - past;
}
