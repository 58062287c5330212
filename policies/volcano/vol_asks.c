#include "policies/volcano/vol_asks.h"

#include <math.h>
#include <string.h>

enum { MIB_PER_GIB = 1024, GPUS_OF_A_NODE_WITHOUT = 8 };

static int32_t milli_of(const struct vol_asks *a, int32_t task)
{
    int32_t gpu = a->t->gpu_milli[task];
    if (a->cluster->share == SHARE_NODE_SUM || gpu % 1000 == 0)
        return gpu;
    return 1000 * (gpu / 1000 + 1);
}

/* Of one instance: CPU in milli-cores, memory in MiB; by default in proportion to its GPUs. */
static double cpu_of(const struct vol_asks *a, int32_t task)
{
    int32_t given = a->t->cpu_milli[task];
    return given > 0 ? given : floor(a->c->cores_per_gpu * a->t->gpu_milli[task]);
}

static double mem_of(const struct vol_asks *a, int32_t task)
{
    int32_t given = a->t->mem_mib[task];
    return given > 0 ? given
                     : floor(a->c->mem_gib_per_gpu * MIB_PER_GIB * a->t->gpu_milli[task] / 1000);
}

/* Nodes of one type and card memory have one label. */
static enum status label_nodes(struct vol_asks *a, struct error *err)
{
    const struct cluster *c = a->cluster;
    for (int32_t i = 0; i < c->n_nodes; i++) {
        bool cards = c->node_card[i] < c->node_card[i + 1];
        int32_t mem = cards ? c->card_gpu_mem_mib[c->node_card[i]] : 0, l = 0;
        while (l < a->n_labels &&
               (a->label_type[l] != c->node_type[i] || a->label_mem_mib[l] != mem))
            l++;
        if (l == VOL_LABELS_MAX)
            return fail(err, ST_USAGE, "volcano: more than %d kinds of GPU in one cluster",
                        VOL_LABELS_MAX);
        if (l == a->n_labels) {
            a->label_type[l] = c->node_type[i];
            a->label_mem_mib[l] = mem;
            a->n_labels++;
        }
        a->label_of[i] = l;
    }
    return ST_OK;
}

static bool type_will_do(const struct vol_asks *a, int32_t task, int32_t type)
{
    int32_t asked = a->t->gpu_type[task];
    if (!a->rules->type_strict || asked < 0)
        return true;
    uint64_t set = a->rules->type_set != NULL ? a->rules->type_set[asked] : 0;
    return set == 0 ? type == a->rules->type_id[asked]
                    : type >= 0 && type < 64 && (set >> type & 1) != 0;
}

static uint64_t labels_for(const struct vol_asks *a, int32_t task)
{
    uint64_t labels = 0;
    for (int32_t l = 0; l < a->n_labels; l++) {
        bool mem = a->cluster->share == SHARE_NODE_SUM || a->t->gpu_milli[task] == 0 ||
                   a->label_mem_mib[l] >= a->t->card_mem_mib[task];
        labels |= mem && type_will_do(a, task, a->label_type[l]) ? UINT64_C(1) << l : 0;
    }
    return labels;
}

static struct vgpu_ask cards_for(const struct vol_asks *a, int32_t task)
{
    int32_t gpu = a->t->gpu_milli[task], mem = a->t->card_mem_mib[task];
    int32_t percent = gpu >= 1000 ? VGPU_CORES : (gpu + 9) / 10;
    if (!a->shares || gpu == 0)
        return (struct vgpu_ask){0};
    return (struct vgpu_ask){.n = gpu >= 1000 ? gpu / 1000 : 1,
                             .mem = mem,
                             .mem_percent = mem > 0 ? 0 : percent,
                             .cores = percent};
}

struct vol_ask vol_ask_of(const struct vol_asks *a, int32_t task)
{
    struct vol_ask ask;
    memset(&ask, 0, sizeof ask); /* compared as bytes */
    ask.amounts.of[AMOUNT_CPU] = cpu_of(a, task);
    ask.amounts.of[AMOUNT_MEM] = mem_of(a, task);
    ask.amounts.of[AMOUNT_GPU] = a->shares ? 0 : milli_of(a, task);
    ask.amounts.of[AMOUNT_PODS] = 1;
    ask.labels = labels_for(a, task);
    ask.cards = cards_for(a, task);
    return ask;
}

struct amounts vol_size_of(const struct vol_asks *a, int32_t node)
{
    const struct cluster *c = a->cluster;
    double gpus = c->node_gpu_milli[node] / 1e3;
    double rated = gpus > 0 ? gpus : GPUS_OF_A_NODE_WITHOUT;
    double cpu = c->node_cpu_milli[node], mem = c->node_mem_mib[node];
    if (c->node_cpu_milli[node] == INT32_MAX)
        cpu = fmax(floor(rated * a->c->node_cores_per_gpu * 1e3), a->most_cpu);
    if (c->node_mem_mib[node] == INT32_MAX)
        mem = fmax(floor(rated * a->c->node_mem_gib_per_gpu * MIB_PER_GIB), a->most_mem);
    return (struct amounts){{[AMOUNT_CPU] = cpu,
                             [AMOUNT_MEM] = mem,
                             [AMOUNT_GPU] = a->shares ? 0 : c->node_gpu_milli[node],
                             [AMOUNT_PODS] = (double)a->c->pods_per_node}};
}

enum status vol_asks_init(struct vol_asks *a, const struct volcano_config *c,
                          const struct job_table *t, const struct cluster *cluster,
                          const struct place_rules *rules, struct arena *arena, struct error *err)
{
    *a = (struct vol_asks){.c = c,
                           .t = t,
                           .cluster = cluster,
                           .rules = rules,
                           .shares = c->vgpu && cluster->share == SHARE_CARD};
    a->label_of = arena_alloc(arena, (size_t)cluster->n_nodes, sizeof *a->label_of);
    if (a->label_of == NULL)
        return fail_memory(err);
    for (int32_t k = 0; k < t->n_tasks; k++) {
        a->most_cpu = fmax(a->most_cpu, cpu_of(a, k));
        a->most_mem = fmax(a->most_mem, mem_of(a, k));
    }
    return label_nodes(a, err);
}
