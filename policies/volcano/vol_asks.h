/* vol_asks.h - what pods ask for and nodes have, from the job table and the cluster.
 *
 * Without shared cards a part of a GPU is a whole one to Kubernetes; with them (vgpu) GPUs are
 * cards to be shared, and no quantity that a queue or a gate counts. CPU and memory that are not
 * given are in proportion to GPUs. A selector is the GPU type, where types are strict, and enough
 * memory on each card. */
#ifndef COLOSIM_VOL_ASKS_H
#define COLOSIM_VOL_ASKS_H

#include "core/cluster/place.h"
#include "policies/volcano/vol_nodes.h"
#include "policies/volcano/vol_options.h"

struct vol_asks {
    const struct volcano_config *c;
    const struct job_table *t;
    const struct cluster *cluster;
    const struct place_rules *rules;
    bool shares;       /* cards are shared */
    int32_t *label_of; /* (n_nodes) */
    int32_t label_type[VOL_LABELS_MAX], label_mem_mib[VOL_LABELS_MAX], n_labels;
    double most_cpu, most_mem; /* that any instance asks for */
};

/* ST_USAGE where nodes are of more kinds than there are labels. */
enum status vol_asks_init(struct vol_asks *a, const struct volcano_config *c,
                          const struct job_table *t, const struct cluster *cluster,
                          const struct place_rules *rules, struct arena *arena,
                          struct error *err) MUST_USE;
/* Of one pod of a task; equal asks are equal as bytes. */
struct vol_ask vol_ask_of(const struct vol_asks *a, int32_t task);
/* What a node has. One whose CPU or memory is not known has so much per GPU, and at least what the
 * largest pod asks for: the unknown holds up nobody. */
struct amounts vol_size_of(const struct vol_asks *a, int32_t node);

#endif
