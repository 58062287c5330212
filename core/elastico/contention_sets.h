/* contention_sets.h - the numbers of the sets of contention.h, and where they are from. */
#ifndef COLOSIM_CONTENTION_SETS_H
#define COLOSIM_CONTENTION_SETS_H

#include <stdbool.h>

enum contended { CONTENDED_SM, CONTENDED_TENSOR, CONTENDED_DRAM, CONTENDED_HOST, N_CONTENDED };

/* h200 is the default, fitted on measured pairs. */
enum contention_set { SET_H200, SET_QUEUE_PRIOR, SET_QUEUE_L2, SET_FRANK_L2 };
extern const char *const contention_set_names[]; /* NULL-terminated */

/* A workload's correction in a set fitted on the paper's Table 6. */
struct set_entry {
    const char *workload;
    double log_w;
    double delta[N_CONTENDED]; /* added to the logit of each utilisation */
};

/* What a job of measured pairs weighs: ln w, fitted; and what it stands for in other catalogs. */
enum phase { PHASE_ALL, PHASE_DECODE, PHASE_PREFILL };
extern const char *const phase_names[]; /* NULL-terminated */
struct anchor {
    const char *job; /* in the catalog of the jobs measured */
    double log_w;
    const char *workloads; /* "|"-separated; of which it is a variant */
    double bs;
    bool amp;
    enum phase phase;
};

struct set_numbers {
    double alpha[N_CONTENDED], kappa;
    const struct set_entry *entry; /* (n_entries) */
    int n_entries;
    const struct anchor *anchor; /* (n_anchors) */
    int n_anchors;
    /* ln w of what no anchor stands for: by its step time, ln w = step_at_1_s + step_slope ln(s).
     * NAN: this set knows no such line, and weights go by entries. */
    double step_at_1_s, step_slope;
};
extern const struct set_numbers contention_sets[]; /* by enum contention_set */

enum { N_ANCHORS = 23 };
extern const struct anchor anchors[N_ANCHORS]; /* of SET_H200 */

#endif
