/* esp.h - Elastic Shadow Pricing: which configuration each job should have (§3.2 of the paper).
 *
 * Prices of resources are moved until what jobs choose for themselves fits on average; a mixture of
 * what they chose is rounded, and repaired until it fits. The dual at any prices bounds the score
 * of every choice that fits from below, so each result says how far from the best it can be.
 * docs/esp.md has the equations, where this departs from the paper, and what was measured. */
#ifndef COLOSIM_ESP_H
#define COLOSIM_ESP_H

#include "core/elastico/choice.h"
#include "core/elastico/mix.h"
#include "core/elastico/repair.h"

enum esp_step { ESP_STEP_MIX, ESP_STEP_POLYAK, ESP_STEP_SQRT };
extern const char *const esp_step_names[]; /* NULL-terminated */

struct esp_config {
    double gap_frac;         /* stop when score - bound is at most this part of the score */
    int64_t iterations_cold; /* most price updates without prices to start from */
    int64_t iterations_warm; /* and with them */
    int step;                /* enum esp_step */
    double step_first;       /* eta_0, with ESP_STEP_SQRT */
    double theta;            /* with ESP_STEP_POLYAK */
};

/* Scratch of a solve, for problems up to the sizes given to esp_init. */
struct esp {
    struct choice_set set;
    struct mix mix;
    struct repair repair;
    struct choice now, tried, best;
};

struct esp_result {
    const int32_t *option; /* (n_jobs) borrowed until the next solve */
    double usage[CHOICE_RES_MAX];
    double score;       /* of these options; they fit if feasible */
    double bound;       /* no choice that fits scores less, but for CHOICE_SLACK times the prices */
    double gap_frac;    /* (score - bound) / score; 0 where both are 0, INFINITY if not feasible */
    int32_t iterations; /* price updates */
    int32_t n_repairs;
    bool feasible;
    bool impossible; /* the bound proves that nothing fits */
};

/* Room from the arena. False when memory is out. */
bool esp_init(struct esp *e, int32_t n_jobs, int32_t n_options, int32_t n_rows, struct arena *a);

/* price (n_res) in and out: where to start if warm (anything is legal), and the prices that gave
 * the bound. Cost O(n_rows n_res + options) an iteration and that of some repairs. Allocates
 * nothing. */
void esp_solve(struct esp *e, const struct choice_problem *p, const struct esp_config *config,
               bool warm, double *price, struct esp_result *result);

/* The ablation: each job's cheapest option, repaired without prices. The bound is that at no
 * prices. */
void esp_greedy(struct esp *e, const struct choice_problem *p, struct esp_result *result);

#endif
