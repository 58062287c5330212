#include "sim/run/sources.h"

#include <stdlib.h>
#include <string.h>

/* Settings that decide what is read, besides those under "trace". */
static const char *const reading_keys[] = {"columns", "format", "strict", "trace"};

void sources_free(struct sources *s)
{
    for (int32_t i = 0; i < s->keys.n; i++) {
        trace_free(&s->source[i]->trace);
        pthread_mutex_destroy(&s->source[i]->lock);
        free(s->source[i]);
    }
    free(s->source);
    names_free(&s->keys);
    *s = (struct sources){0};
}

struct key {
    char *bytes;
    size_t n, capacity;
    bool ok;
};

static void append(struct key *k, const char *text)
{
    size_t n = strlen(text) + 1;
    k->ok = k->ok && ARRAY_GROW(k->bytes, k->capacity, k->n + n);
    if (!k->ok)
        return;
    memcpy(k->bytes + k->n, text, n);
    k->n += n;
}

static bool decides(const struct param_group *g, const struct param *p)
{
    bool any = strcmp(g->prefix, "trace") == 0;
    for (size_t i = 0; i < sizeof reading_keys / sizeof *reading_keys; i++)
        any = any || (g->prefix[0] == '\0' && strcmp(p->name, reading_keys[i]) == 0);
    return any;
}

static struct key key_of(const struct run_request *q)
{
    struct key k = {.ok = true};
    struct param_group groups[GROUPS_MAX];
    char text[64];
    int n = run_groups(q, groups);
    for (int g = 0; g < n; g++)
        for (const struct param *p = groups[g].params; p != NULL && p->name != NULL; p++)
            if (decides(&groups[g], p))
                append(&k, param_text(p, groups[g].config, text));
    for (int i = 0; i < q->n_more_traces; i++)
        append(&k, q->more_traces[i]);
    if (q->run.trace == NULL && q->trace.synth_seed == 0) {
        snprintf(text, sizeof text, "%lld", (long long)q->run.seed);
        append(&k, text);
    }
    return k;
}

enum status sources_add(struct sources *s, const struct run_request *q, int32_t *id,
                        struct error *err)
{
    struct key key = key_of(q);
    int32_t n = s->keys.n;
    struct source *fresh = calloc(1, sizeof *fresh);
    bool ok = key.ok && fresh != NULL && ARRAY_GROW(s->source, s->capacity, n + 1);
    *id = ok ? names_add(&s->keys, key.bytes, key.n) : -1;
    free(key.bytes);
    if (*id == n) {
        s->source[n] = fresh;
        pthread_mutex_init(&fresh->lock, NULL);
    } else {
        free(fresh);
    }
    if (*id < 0)
        return fail_memory(err);
    s->source[*id]->n_users++;
    return ST_OK;
}

enum status sources_take(struct sources *s, int32_t id, const struct run_request *q,
                         const struct trace **out, struct error *err)
{
    struct source *source = s->source[id];
    pthread_mutex_lock(&source->lock);
    if (!source->tried) {
        source->status = run_read_trace(q, s->stop, &source->trace, &source->err);
        source->tried = true;
    }
    pthread_mutex_unlock(&source->lock);
    *out = &source->trace;
    if (source->status != ST_OK)
        *err = source->err;
    return source->status;
}

void sources_leave(struct sources *s, int32_t id)
{
    struct source *source = s->source[id];
    pthread_mutex_lock(&source->lock);
    if (--source->n_users == 0)
        trace_free(&source->trace);
    pthread_mutex_unlock(&source->lock);
}
