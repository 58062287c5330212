#include "policies/volcano/vol_order.h"

static bool asked(const struct vol_state *s, enum vol_plugin plugin, enum vol_callback callback)
{
    return s->on[plugin] & (int)callback;
}

bool vol_queue_before(const struct vol_state *s, int32_t a, int32_t b)
{
    const struct vol_queue *x = &s->queue[a], *y = &s->queue[b];
    if (!asked(s, VOL_PROPORTION, VOL_ON_QUEUE_ORDER))
        return a < b;
    if (x->priority != y->priority)
        return x->priority > y->priority;
    double p = amounts_share(&x->allocated, &x->deserved);
    double q = amounts_share(&y->allocated, &y->deserved);
    return p < q || (!(q < p) && a < b);
}

int32_t vol_first_queue(const struct vol_state *s, const bool *done)
{
    int32_t first = -1;
    for (int32_t q = 0; q < s->size.n_queues; q++)
        if (!done[q] && (first < 0 || vol_queue_before(s, q, first)))
            first = q;
    return first;
}

struct amounts vol_job_allocated(const struct vol_state *s, int32_t job)
{
    struct amounts sum = s->held[job];
    for (int32_t k = s->task_begin[job]; s->n_pipelined[job] > 0 && k < s->task_begin[job + 1]; k++)
        if (s->status[k] == VOL_PIPELINED)
            amounts_add(&sum, &s->ask[s->task_ask[k]].amounts, 1);
    return sum;
}

static double share_of(const struct vol_state *s, int32_t job)
{
    if (s->n_held[job] == 0 && s->n_pipelined[job] == 0)
        return 0;
    struct amounts has = vol_job_allocated(s, job);
    return amounts_share(&has, &s->nodes.total);
}

/* The minimum of the group, whatever its roles. */
static bool has_minimum(const struct vol_state *s, int32_t job)
{
    return s->n_ready[job] + s->n_empty[job] >= s->shape[s->job_shape[job]].min_available;
}

int vol_job_compare(const struct vol_state *s, int32_t a, int32_t b)
{
    for (int i = 0; i < s->config->n_uses; i++) {
        if (!(s->config->use[i].on & VOL_ON_JOB_ORDER))
            continue;
        double p = 0, q = 0; /* the smaller comes first */
        if (s->config->use[i].plugin == VOL_PRIORITY) {
            p = -(double)s->shape[s->job_shape[a]].priority;
            q = -(double)s->shape[s->job_shape[b]].priority;
        } else if (s->config->use[i].plugin == VOL_GANG) {
            p = has_minimum(s, a);
            q = has_minimum(s, b);
        } else if (s->config->use[i].plugin == VOL_DRF) {
            p = share_of(s, a);
            q = share_of(s, b);
        }
        if (p < q || q < p)
            return p < q ? -1 : 1;
    }
    return 0;
}

bool vol_job_before(const struct vol_state *s, int32_t a, int32_t b)
{
    int c = vol_job_compare(s, a, b);
    return c != 0 ? c < 0 : s->job_rank[a] < s->job_rank[b];
}

bool vol_task_before(const struct vol_state *s, int32_t a, int32_t b)
{
    if (s->task_priority != NULL && s->task_priority[a] != s->task_priority[b] &&
        asked(s, VOL_PRIORITY, VOL_ON_TASK_ORDER))
        return s->task_priority[a] > s->task_priority[b];
    return a < b;
}

bool vol_roles_count(const struct vol_state *s, int32_t job)
{
    int32_t sum = 0;
    if (s->roles == NULL)
        return false;
    for (int32_t r = 0; r < s->roles->n; r++)
        sum += s->roles->min[job * s->roles->n + r];
    return s->shape[s->job_shape[job]].min_available >= sum;
}

void vol_role_members(const struct vol_state *s, int32_t job, bool promised, int32_t *n)
{
    for (int32_t r = 0; r < s->roles->n; r++)
        n[r] = 0;
    for (int32_t k = s->task_begin[job]; k < s->task_begin[job + 1]; k++) {
        enum vol_status status = (enum vol_status)s->status[k];
        bool counts = status == VOL_ALLOCATED || status == VOL_BOUND || status == VOL_SUCCEEDED ||
                      (status == VOL_WAITING && s->ask[s->task_ask[k]].empty) ||
                      (promised && status == VOL_PIPELINED);
        if (counts && s->roles->role[k] >= 0)
            n[s->roles->role[k]]++;
    }
}

/* Has every role its minimum? */
static bool roles_have(const struct vol_state *s, int32_t job, bool promised)
{
    if (!vol_roles_count(s, job))
        return true;
    vol_role_members(s, job, promised, s->role_members);
    for (int32_t r = 0; r < s->roles->n; r++)
        if (s->role_members[r] < s->roles->min[job * s->roles->n + r])
            return false;
    return true;
}

bool vol_job_ready(const struct vol_state *s, int32_t job)
{
    return !asked(s, VOL_GANG, VOL_ON_JOB_READY) ||
           (has_minimum(s, job) && roles_have(s, job, false));
}

bool vol_job_pipelined(const struct vol_state *s, int32_t job)
{
    int32_t n = s->n_pipelined[job] + s->n_ready[job] + s->n_empty[job];
    return !asked(s, VOL_GANG, VOL_ON_JOB_PIPELINED) ||
           (n >= s->shape[s->job_shape[job]].min_available && roles_have(s, job, true));
}

/* The first tier in which anybody is asked decides; there all must say yes. */
bool vol_job_starving(const struct vol_state *s, int32_t job)
{
    const struct vol_config *c = s->config;
    int32_t n = s->n_pipelined[job] + s->n_ready[job];
    bool found = false;
    for (int i = 0; i < c->n_uses; i++) {
        bool gang = c->use[i].plugin == VOL_GANG;
        if (found && c->use[i].tier != c->use[i - 1].tier)
            return true;
        if (!(c->use[i].on & VOL_ON_JOB_STARVING) || !(gang || c->use[i].plugin == VOL_PRIORITY))
            continue;
        if (n >= (gang ? s->shape[s->job_shape[job]].min_available : s->n_pods[job]))
            return false;
        found = true;
    }
    return found;
}

bool vol_may_allocate(const struct vol_state *s, int32_t queue, const struct amounts *ask)
{
    return !asked(s, VOL_PROPORTION, VOL_ON_ALLOCATABLE) || vol_allocatable(&s->queue[queue], ask);
}
