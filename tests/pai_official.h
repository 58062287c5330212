/* pai_official.h - the runs of the official PAI simulator whose outcome is known, as requests for
 * runs of ours. */
#ifndef COLOSIM_TESTS_PAI_OFFICIAL_H
#define COLOSIM_TESTS_PAI_OFFICIAL_H

#include "sim/run/run.h"

#include <stdbool.h>

/* A row of the summary of official runs; its options by their official numbers. */
struct pai_official {
    char tag[64], input[64], nodes[32];
    int alloc_policy, num_jobs, arrival_rate, gpus, sort_node_policy, gpu_type_matching;
    char printed[4][32]; /* jobs done, mean JCT, mean wait, makespan */
};

/* How the four are printed, and what pai-sim calls them, in the order of its own metrics. */
extern const char *const pai_official_formats[4];
extern const char *const pai_official_metrics[4];

/* False when the line is no such row. */
bool pai_official_parse(const char *line, struct pai_official *run);

/* The same run of ours on that trace; nodes are named by their official ids. The caller frees the
 * request in any case. */
enum status pai_official_request(const struct pai_official *run, const char *trace_path,
                                 struct run_request *out, struct error *err) MUST_USE;

#endif
