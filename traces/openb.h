/* openb.h - the node list of Alibaba's v2023 trace: openb_node_list_*.csv. */
#ifndef COLOSIM_OPENB_H
#define COLOSIM_OPENB_H

#include "traces/import.h"

/* By its header: sn, cpu_milli, memory_mib, gpu, model. */
bool openb_is_nodes(const struct input *input);
/* Appends the nodes to the trace's. A bad row is ST_INPUT: a cluster that lacks a node is another
 * cluster. */
enum status openb_read_nodes(struct importer *im, struct input *input, struct error *err) MUST_USE;

#endif
