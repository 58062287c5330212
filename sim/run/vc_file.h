/* vc_file.h - a cluster of virtual clusters: a table of pools and their numbers of nodes.
 *
 *   vc:vc_config.csv              a pool in the first column, its nodes of 8 GPUs in column num
 *   vc:vc_config.csv+spare:1      and a pool `spare` of one node
 *
 * The table is that of Helios and of Lucid's artifact; jobs find their pool by their queue. */
#ifndef COLOSIM_VC_FILE_H
#define COLOSIM_VC_FILE_H

#include "core/base/arena.h"
#include "core/cluster/cluster.h"

/* text is what follows "vc:". Nodes and texts are the arena's. */
enum status vc_parse(const char *text, struct arena *arena, struct node_spec **nodes,
                     int32_t *n_nodes, struct error *err) MUST_USE;

#endif
