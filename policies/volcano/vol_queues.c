#include "policies/volcano/vol_queues.h"

#include "core/base/units.h"

#include <math.h>
#include <string.h>

static int32_t by_job(const struct job_table *t, int32_t *queue_of, struct arena *arena,
                      const char ***names)
{
    int32_t *seen = arena_alloc(arena, (size_t)t->names.n + 1, sizeof *seen); /* 1 + its queue */
    *names = arena_alloc(arena, (size_t)t->names.n + 1, sizeof **names);
    int32_t n = 0;
    if (seen == NULL || *names == NULL)
        return -1;
    for (int32_t j = 0; j < t->n_jobs; j++) {
        int32_t name = t->queue[j] + 1;
        if (seen[name] == 0) {
            (*names)[n] = name == 0 ? "default" : names_text(&t->names, name - 1);
            seen[name] = ++n;
        }
        queue_of[j] = seen[name] - 1;
    }
    return n;
}

int32_t vol_queues_of(const struct volcano_config *c, const struct job_table *t, int32_t *queue_of,
                      struct arena *arena, const char ***names)
{
    enum volcano_queues queues = (enum volcano_queues)c->queues;
    if (queues == VOLCANO_QUEUE_OF_JOB && t->n_jobs > 0)
        return by_job(t, queue_of, arena, names);
    *names = arena_alloc(arena, 2, sizeof **names);
    if (*names == NULL)
        return -1;
    (*names)[0] = queues == VOLCANO_POOLS ? "train" : "default";
    (*names)[1] = "infer";
    for (int32_t j = 0; j < t->n_jobs; j++)
        queue_of[j] = queues == VOLCANO_POOLS && t->kind[j] == KIND_INFER;
    return queues == VOLCANO_POOLS ? 2 : 1;
}

/* What "NAME:NUMBER,..." says of a name, otherwise where it does not; a name ends at the last
 * colon. */
static enum status listed(const char *key, const char *list, const char *name, double otherwise,
                          double *out, struct error *err)
{
    *out = otherwise;
    for (const char *at = list; at != NULL && *at != '\0';) {
        size_t n = strcspn(at, ",");
        const char *colon = memrchr(at, ':', n);
        double value;
        if (colon == NULL || colon == at ||
            !parse_real(colon + 1, (size_t)(at + n - colon - 1), &value) || value < 0)
            return fail(err, ST_USAGE, "volcano.%s: want NAME:NUMBER,..., not '%s'", key, list);
        if ((size_t)(colon - at) == strlen(name) && memcmp(at, name, strlen(name)) == 0)
            *out = value;
        at += n + (at[n] == ',');
    }
    return ST_OK;
}

static double weight_of(const struct cluster *c, const char *name)
{
    int32_t queue = names_find(&c->queues, name, strlen(name));
    return queue < 0 ? 1 : c->queue_weight[queue];
}

/* The part of a pool of the cluster; no limit for other queues. */
static double cap_of(const struct volcano_config *c, int32_t queue)
{
    if ((enum volcano_queues)c->queues != VOLCANO_POOLS)
        return INFINITY;
    return queue == 0 ? c->pool_train_frac : 1 - c->pool_train_frac;
}

static struct amounts part_of(const struct amounts *total, double part)
{
    struct amounts amounts;
    for (int r = 0; r < N_AMOUNTS; r++)
        amounts.of[r] = isinf(part) ? INFINITY : part * total->of[r];
    return amounts;
}

enum status vol_queues_fill(const struct volcano_config *c, const struct cluster *cluster,
                            const struct amounts *total, const char *const *names, int32_t n,
                            struct vol_queue *queue, struct error *err)
{
    for (int32_t q = 0; q < n; q++) {
        double weight, cap, guarantee, priority;
        TRY(listed("weights", c->weights, names[q], weight_of(cluster, names[q]), &weight, err));
        TRY(listed("caps", c->caps, names[q], cap_of(c, q), &cap, err));
        TRY(listed("guarantees", c->guarantees, names[q], 0, &guarantee, err));
        TRY(listed("priorities", c->priorities, names[q], 0, &priority, err));
        if (!(weight > 0) || guarantee > 1 || priority > 1e9)
            return fail(err, ST_USAGE,
                        "volcano: queue %s has weight %g, guarantee %g and priority %g, want a "
                        "weight above 0, a guarantee up to 1 and a priority up to 1e9",
                        names[q], weight, guarantee, priority);
        queue[q] = (struct vol_queue){.weight = weight,
                                      .priority = (int32_t)priority,
                                      .open = true,
                                      .reclaimable = true,
                                      .capability = part_of(total, cap),
                                      .guarantee = part_of(total, guarantee)};
    }
    return ST_OK;
}
