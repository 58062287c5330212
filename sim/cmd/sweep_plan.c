#include "sim/cmd/sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum status sweep_request(const struct sweep *s, int i, struct run_request *q, struct error *err)
{
    TRY(run_request_init(q, err));
    TRY(study_set_base(&s->study, q, err));
    TRY(options_resolve(&s->options, q, err));
    return study_set_point(&s->study, i, q, err);
}

enum status sweep_read(struct sweep *s, struct error *err)
{
    struct run_request first = {0};
    if (s->file != NULL)
        TRY(study_load(&s->study, s->file, err));
    for (size_t i = 0; i < s->n_grids; i++)
        TRY(study_grid(&s->study, s->grid[i], err));
    if (s->seeds != NULL)
        TRY(study_seeds(&s->study, s->seeds, err));
    enum status status = run_request_init(&first, err);
    if (status == ST_OK)
        status = study_set_base(&s->study, &first, err);
    if (status == ST_OK)
        status = options_resolve(&s->options, &first, err);
    if (status == ST_OK && s->study.n_seeds == 0)
        status = study_seed(&s->study, first.run.seed, err);
    run_request_free(&first);
    if (status == ST_OK)
        status = study_count(&s->study, &s->n_groups, err);
    s->n_points = s->n_groups * s->study.n_seeds;
    return status;
}

/* Every rank must find the same here. */
static uint64_t meaning_of(const struct run_request *q, uint64_t so_far)
{
    struct param_group groups[GROUPS_MAX];
    char text[64];
    int n = run_groups(q, groups);
    for (int g = 0; g < n; g++)
        for (const struct param *p = groups[g].params; p != NULL && p->name != NULL; p++) {
            const char *value = param_text(p, groups[g].config, text);
            so_far = bytes_hash(value, strlen(value), so_far);
        }
    return so_far;
}

/* Whether point i is still to be run; what is misspelt fails here, before the first run. */
static enum status look_at(struct sweep *s, int i, struct run_request *q, struct error *err)
{
    const struct policy *policy;
    struct point *p = &s->point[i];
    TRY(sweep_request(s, i, q, err));
    TRY(run_policy(q, &policy, err));
    s->meaning = meaning_of(q, s->meaning);
    if (s->ranks.rank == 0)
        TRY(resume_find(&s->store, q, &p->there, err));
    if (p->there.run == 0 || (p->there.failed && s->retry))
        s->todo[s->n_todo++] = i;
    else if (strcmp(p->there.program, COLOSIM_VERSION) != 0)
        fprintf(stderr, "colosim: %s: made by version %s, this is %s\n", q->run.label,
                p->there.program, COLOSIM_VERSION);
    return sources_add(&s->sources, q, &p->source, err);
}

/* A point that is there must have read the trace that is there now. */
static enum status same_trace(struct sweep *s, int i, struct run_request *q, struct error *err)
{
    const struct point *p = &s->point[i];
    const struct trace *trace;
    char hash[17] = "";
    TRY(sweep_request(s, i, q, err));
    enum status status = sources_take(&s->sources, p->source, q, &trace, err);
    if (status == ST_OK && trace->hash != 0) /* the embedded one has none */
        snprintf(hash, sizeof hash, "%016" PRIx64, trace->hash);
    sources_leave(&s->sources, p->source);
    if (status == ST_OK && strcmp(hash, p->there.trace_hash) != 0)
        return fail(err, ST_INPUT,
                    "%s: the trace has changed since it was run; give the study another --label "
                    "or --db",
                    q->run.label);
    if (status != ST_OK)
        fprintf(stderr, "colosim: %s: %s; its result is taken as it is\n", q->run.label, err->text);
    return ST_OK;
}

/* Looks once more at those that are there already, and takes out those to be made again. */
static enum status settle(struct sweep *s, int i, bool todo, struct error *err)
{
    struct run_request q = {0};
    const struct point *p = &s->point[i];
    enum status status = ST_OK;
    if (todo && p->there.run != 0)
        status = resume_drop(&s->store, p->there.run, err);
    else if (!todo && p->there.failed)
        sources_leave(&s->sources, p->source);
    else if (!todo)
        status = same_trace(s, i, &q, err);
    run_request_free(&q);
    return status;
}

enum status sweep_plan(struct sweep *s, struct error *err)
{
    s->todo = calloc((size_t)s->n_points, sizeof *s->todo);
    s->point = calloc((size_t)s->n_points, sizeof *s->point);
    if (s->todo == NULL || s->point == NULL)
        return fail_memory(err);
    if (s->ranks.rank == 0)
        TRY(store_look(&s->store, err));
    for (int i = 0; i < s->n_points; i++) {
        struct run_request q;
        enum status status = look_at(s, i, &q, err);
        run_request_free(&q);
        TRY(status); /* closing the store ends what it looks at */
    }
    if (s->ranks.rank == 0)
        TRY(store_commit(&s->store, err));
    s->said = calloc((size_t)s->sources.keys.n + 1, sizeof *s->said);
    if (s->said == NULL)
        return fail_memory(err);
    for (int i = 0, k = 0; i < s->n_points; i++) {
        bool todo = k < s->n_todo && s->todo[k] == i;
        TRY(settle(s, i, todo, err));
        k += todo;
    }
    if (s->n_todo < s->n_points && !s->options.quiet)
        fprintf(stderr, "colosim: %d of %d points are in %s already\n", s->n_points - s->n_todo,
                s->n_points, s->store.path);
    return ST_OK;
}
