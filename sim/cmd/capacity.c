#include "sim/cmd/capacity.h"

#include "sim/results/resume.h"
#include "sim/run/cluster_file.h"
#include "sim/run/crew.h"
#include "sim/run/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void capacity_free(struct capacity *c)
{
    store_close(&c->store);
    sources_free(&c->sources);
    options_free(&c->options);
    arena_free(&c->arena);
}

/* A misspelt one fails here; q is used up for that. */
static enum status split_policies(struct capacity *c, struct run_request *q, struct error *err)
{
    const char *given = c->policies != NULL ? c->policies : q->run.policy;
    char *list = arena_text(&c->arena, given, strlen(given));
    if (list == NULL)
        return fail_memory(err);
    while (list != NULL) {
        if (c->n_policies == POLICIES_MAX)
            return fail(err, ST_USAGE, "more than %d policies", POLICIES_MAX);
        const struct policy *policy;
        c->policy[c->n_policies++] = strsep(&list, ",");
        TRY(run_choose_policy(q, c->policy[c->n_policies - 1], err));
        TRY(run_policy(q, &policy, err));
    }
    return ST_OK;
}

static enum status look_at_cluster(struct capacity *c, const struct run_request *q,
                                   struct error *err)
{
    struct cluster_desc desc;
    const char *text = q->run.cluster != NULL ? q->run.cluster : EMBEDDED_CLUSTER;
    enum status status = cluster_parse(text, &desc, err);
    if (status == ST_OK && (desc.n_nodes != 1 || desc.nodes[0].name != NULL))
        status = fail(err, ST_USAGE,
                      "%s: want a cluster of one kind of nodes, such as 8x8:a100-40g", text);
    if (status == ST_OK) {
        c->first_nodes = q->run.nodes > 0 ? q->run.nodes : desc.nodes[0].count;
        c->node_gpus = desc.nodes[0].n_gpus;
    }
    cluster_desc_free(&desc);
    return status;
}

static enum status request_for(const struct capacity *c, const struct probe *p, int k,
                               struct run_request *q, struct error *err)
{
    TRY(run_request_init(q, err));
    TRY(options_resolve(&c->options, q, err));
    TRY(run_choose_policy(q, p->policy, err));
    q->run.nodes = p->nodes;
    q->run.seed = c->seed[k];
    size_t n = (q->run.label != NULL ? strlen(q->run.label) : 0) + strlen(p->policy) + 96;
    char *label = arena_alloc(&q->arena, n, 1);
    if (label == NULL)
        return fail_memory(err);
    snprintf(label, n, "%s%spolicy=%s,nodes=%lld,seed=%lld",
             q->run.label != NULL ? q->run.label : "", q->run.label != NULL ? "," : "", p->policy,
             (long long)p->nodes, (long long)q->run.seed);
    q->run.label = label;
    return ST_OK;
}

/* Every seed's trace stays in memory to the end. */
static enum status add_sources(struct capacity *c, struct error *err)
{
    c->source = arena_alloc(&c->arena, (size_t)c->n_seeds, sizeof *c->source);
    if (c->source == NULL)
        return fail_memory(err);
    for (int k = 0; k < c->n_seeds; k++) {
        struct run_request q;
        enum status status = request_for(c, &(struct probe){.policy = c->policy[0]}, k, &q, err);
        if (status == ST_OK)
            status = sources_add(&c->sources, &q, &c->source[k], err);
        run_request_free(&q);
        TRY(status);
    }
    return ST_OK;
}

enum status capacity_prepare(struct capacity *c, struct error *err)
{
    struct run_request q = {0};
    char one[32];
    enum status status = ST_OK;
    TRY_OUT(run_request_init(&q, err));
    TRY_OUT(options_resolve(&c->options, &q, err));
    TRY_OUT(split_policies(c, &q, err));
    snprintf(one, sizeof one, "%lld", (long long)q.run.seed);
    TRY_OUT(seeds_parse(c->seeds != NULL ? c->seeds : one, &c->arena, &c->seed, &c->n_seeds, err));
    TRY_OUT(look_at_cluster(c, &q, err));
    if (q.run.load > 0)
        status = fail(err, ST_USAGE,
                      "--load follows the size of the cluster, so that no size would be enough; "
                      "--rate-scale does not");
    else
        status = add_sources(c, err);
out:
    run_request_free(&q);
    return status;
}

/* One probe at work: a piece is a seed that the database does not have. */
struct probing {
    struct capacity *c;
    const struct probe *probe;
    int *seed;               /* (n) */
    struct summary *summary; /* (n_seeds) */
    int n;
};

struct product {
    struct run_request request;
    struct run_result result;
};

static void product_free(struct product *p)
{
    run_result_free(&p->result);
    run_request_free(&p->request);
    free(p);
}

static enum status run_seed(struct probing *w, int k, struct product *p, struct error *err)
{
    struct capacity *c = w->c;
    TRY(request_for(c, w->probe, k, &p->request, err));
    TRY(sources_take(&c->sources, c->source[k], &p->request, &p->request.source, err));
    TRY(run_execute(&p->request, &c->watch, &p->result, err));
    return *c->watch.stop ? fail(err, ST_INTERRUPTED, "interrupted") : ST_OK;
}

static enum status work(void *context, int worker, int i, void **product, struct error *err)
{
    struct probing *w = context;
    struct product *p = calloc(1, sizeof *p);
    (void)worker;
    if (p == NULL)
        return fail_memory(err);
    enum status status = run_seed(w, w->seed[i], p, err);
    if (status != ST_OK)
        product_free(p);
    else
        *product = p;
    return status;
}

static enum status deliver(void *context, int i, void *product, struct error *err)
{
    struct probing *w = context;
    struct product *p = product;
    enum status status = ST_OK;
    char name[128];
    if (i >= 0 && w->c->options.db != NULL)
        status = store_point(&w->c->store, &p->request, &p->result, name, err);
    if (i >= 0 && status == ST_OK)
        status =
            summary_of_result(&w->summary[w->seed[i]], &p->request, &p->result, NULL, NULL, err);
    product_free(p);
    return status;
}

/* The seeds that are stored already, from there; the others go on the list. */
static enum status look_up(struct probing *w, struct error *err)
{
    struct capacity *c = w->c;
    for (int k = 0; k < c->n_seeds; k++) {
        struct run_request q;
        struct stored_point there = {0};
        enum status status = request_for(c, w->probe, k, &q, err);
        if (status == ST_OK && c->options.db != NULL)
            status = resume_find(&c->store, &q, &there, err);
        run_request_free(&q);
        if (status == ST_OK && there.run != 0)
            status = summary_read(&w->summary[k], &c->store, there.run, err);
        if (there.run == 0)
            w->seed[w->n++] = k;
        TRY(status);
    }
    return ST_OK;
}

static bool meets(const struct target *t, double value)
{
    return metric_infos[t->metric].better < 0 ? value <= t->value : value >= t->value;
}

static void judge(const struct capacity *c, const struct summary *summary, struct probe *p)
{
    p->missed = -1;
    for (int i = c->n_targets - 1; i >= 0; i--) {
        double sum = 0;
        for (int k = 0; k < c->n_seeds; k++)
            sum += summary[k].metric[c->target[i].metric];
        p->mean[i] = sum / c->n_seeds;
        if (!meets(&c->target[i], p->mean[i])) /* neither does what cannot be told */
            p->missed = i;
    }
}

enum status capacity_probe(struct capacity *c, const char *policy, int64_t nodes, struct probe *out,
                           struct error *err)
{
    *out = (struct probe){.policy = policy,
                          .nodes = nodes,
                          .gpus = (double)nodes * c->node_gpus,
                          .n_seeds = c->n_seeds};
    struct probing w = {.c = c,
                        .probe = out,
                        .seed = calloc((size_t)c->n_seeds, sizeof *w.seed),
                        .summary = calloc((size_t)c->n_seeds, sizeof *w.summary)};
    enum status status = ST_OK;
    if (w.seed == NULL || w.summary == NULL) {
        status = fail_memory(err);
        goto out;
    }
    TRY_OUT(look_up(&w, err));
    c->watch.stop = c->sources.stop = watch_begin(&c->watcher, c->options.quiet).stop;
    TRY_OUT(crew_run(&(struct crew_job){&w, work, deliver}, w.n,
                     c->options.n_threads > 0 ? c->options.n_threads : 1, err));
    judge(c, w.summary, out);
out:
    for (int k = 0; w.summary != NULL && k < c->n_seeds; k++)
        summary_free(&w.summary[k]);
    free(w.summary);
    free(w.seed);
    return status;
}
