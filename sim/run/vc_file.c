#include "sim/run/vc_file.h"

#include "core/base/table.h"
#include "traces/table_file.h"

#include <stdlib.h>
#include <string.h>

enum { NODE_GPUS = 8, NODES_MAX = 1 << 24, EXTRA_MAX = 16 };

static struct node_spec pool_of(const char *name, int32_t count)
{
    return (struct node_spec){.count = count,
                              .n_gpus = NODE_GPUS,
                              .gpu_type = "",
                              .pool = name,
                              .cpu_milli = -1,
                              .mem_mib = -1};
}

/* Cuts the last "+POOL:NODES" off the text; false when it does not end in one. */
static bool cut_extra(char *text, struct node_spec *out)
{
    char *plus = strrchr(text, '+'), *colon = plus == NULL ? NULL : strchr(plus, ':'), *end;
    if (colon == NULL || colon == plus + 1 || colon[1] < '1' || colon[1] > '9')
        return false;
    long count = strtol(colon + 1, &end, 10);
    if (*end != '\0' || count > NODES_MAX)
        return false;
    *plus = *colon = '\0';
    *out = pool_of(plus + 1, (int32_t)count);
    return true;
}

static enum status read_pools(const struct table *t, struct arena *arena, struct node_spec *nodes,
                              int32_t *n_nodes, struct error *err)
{
    int32_t num = table_column(t, "num");
    if (num < 1 || t->n_rows == 0)
        return fail(err, ST_USAGE, "want rows of a pool and, in column num, its nodes");
    for (int32_t r = 0; r < t->n_rows; r++) {
        double count = table_number(t, r, num);
        const char *name = table_cell(t, r, 0);
        if (!(count >= 1 && count <= NODES_MAX && count == (int32_t)count) || name[0] == '\0')
            return fail(err, ST_USAGE, "row %d: want a pool and a whole number of nodes", r + 1);
        name = arena_text(arena, name, strlen(name));
        if (name == NULL)
            return fail_memory(err);
        nodes[(*n_nodes)++] = pool_of(name, (int32_t)count);
    }
    return ST_OK;
}

enum status vc_parse(const char *text, struct arena *arena, struct node_spec **nodes,
                     int32_t *n_nodes, struct error *err)
{
    struct node_spec extra[EXTRA_MAX];
    struct table table = {0};
    int n_extra = 0;
    char *path = arena_text(arena, text, strlen(text));
    if (path == NULL)
        return fail_memory(err);
    while (n_extra < EXTRA_MAX && cut_extra(path, &extra[n_extra]))
        n_extra++;
    enum status status = table_read(path, &table, err);
    if (status == ST_OK) {
        *n_nodes = 0;
        *nodes = arena_alloc(arena, (size_t)table.n_rows + (size_t)n_extra, sizeof **nodes);
        status =
            *nodes == NULL ? fail_memory(err) : read_pools(&table, arena, *nodes, n_nodes, err);
        if (status == ST_USAGE)
            fail_in(err, "%s", path);
    }
    for (int i = n_extra - 1; status == ST_OK && i >= 0; i--)
        (*nodes)[(*n_nodes)++] = extra[i];
    table_free(&table);
    return status;
}
