#include "sim/results/configured.h"

#include <stdlib.h>
#include <string.h>

/* A text that grows; ok is false once memory is out. */
struct listed {
    char *text;
    size_t n, capacity;
    bool ok;
};

static void append(struct listed *l, const char *text)
{
    size_t n = strlen(text);
    l->ok = l->ok && ARRAY_GROW(l->text, l->capacity, l->n + n + 1);
    if (!l->ok)
        return;
    memcpy(l->text + l->n, text, n + 1);
    l->n += n;
}

/* NAME=VALUE of what is not as by default, and of a profile. */
static void list_group(struct listed *l, const struct param_group *g, const char *const *left_out)
{
    for (const struct param *p = g->params; p != NULL && p->name != NULL; p++) {
        char key[128], value[64], initial[64];
        bool out = false;
        for (int i = 0; left_out != NULL && left_out[i] != NULL; i++)
            out = out || strcmp(left_out[i], p->name) == 0;
        const char *text = param_text(p, g->config, value);
        bool profile = left_out == NULL && strcmp(p->name, "profile") == 0;
        if (out || (!profile && strcmp(text, param_initial(p, initial)) == 0))
            continue;
        append(l, l->n > 0 ? ", " : "");
        append(l, left_out == NULL ? p->name : param_key(g, p, key));
        append(l, "=");
        append(l, text[0] != '\0' ? text : "none");
    }
}

static const char *kept(struct listed *l, struct arena *arena)
{
    const char *text = l->ok ? arena_text(arena, l->text != NULL ? l->text : "", l->n) : NULL;
    free(l->text);
    return text;
}

static bool is_policy(const struct run_request *q, const struct param_group *g)
{
    return q->run.policy != NULL && strcmp(g->prefix, q->run.policy) == 0;
}

const char *configured_policy(const struct run_request *q, struct arena *arena)
{
    struct param_group groups[GROUPS_MAX];
    struct listed l = {.ok = true};
    int n = run_groups(q, groups);
    for (int i = 0; i < n; i++)
        if (is_policy(q, &groups[i]))
            list_group(&l, &groups[i], NULL);
    return kept(&l, arena);
}

const char *configured_others(const struct run_request *q, struct arena *arena)
{
    static const char *const left_out[] = {"cluster", "columns", "format", "label",
                                           "policy",  "nodes",   "seed",   "strict",
                                           "trace",   "window",  NULL};
    struct param_group groups[GROUPS_MAX];
    struct listed l = {.ok = true};
    int n = run_groups(q, groups);
    for (int i = 0; i < n; i++)
        if (!is_policy(q, &groups[i]) && strcmp(groups[i].prefix, "trace") != 0)
            list_group(&l, &groups[i], left_out);
    return kept(&l, arena);
}
