/* cluster_file.h - a cluster as people write it: a spec, a JSON file, a PAI machine table, or one
 * of the official PAI simulator's own clusters.
 *
 *   8x8:a100-40g                      8 nodes of 8 GPUs
 *   100x8:a100-40g+50x4:v100-32g      a mix
 *   cluster.json                      see cluster_file.c for the keys
 *   pai_machine_spec.csv              the PAI machine table, with or without header
 *   vc:vc_config.csv                  virtual clusters, see vc_file.h
 *   pai-sim:6500 pai-sim:16x8 pai-sim:hetero   as run_simulator.py builds them, share = node-sum */
#ifndef COLOSIM_CLUSTER_FILE_H
#define COLOSIM_CLUSTER_FILE_H

#include "core/base/arena.h"
#include "core/cluster/cluster.h"

struct cluster_desc {
    struct node_spec *nodes; /* (n_nodes) */
    int32_t n_nodes;         /* kinds, not nodes */
    enum share_mode share;
    struct queue_spec {
        const char *name;
        double weight;
    } * queues; /* (n_queues) */
    int32_t n_queues;
    struct arena arena; /* owns the texts */
};

#define EMBEDDED_CLUSTER "8x8:a100-40g"

/* ST_USAGE says what was expected; ST_INPUT names the file. The caller frees in any case. */
enum status cluster_parse(const char *text, struct cluster_desc *out, struct error *err) MUST_USE;
/* The same of a JSON object, as a .json file has it (jansson). */
struct json_t;
enum status cluster_parse_object(struct json_t *object, struct cluster_desc *out,
                                 struct error *err) MUST_USE;
/* The cluster of that description, its queues included. */
enum status cluster_build(const struct cluster_desc *d, struct cluster *out,
                          struct error *err) MUST_USE;
void cluster_desc_free(struct cluster_desc *d);

#endif
