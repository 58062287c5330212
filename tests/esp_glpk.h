/* esp_glpk.h - the exact optimum of a choice problem, and its linear relaxation's, by GLPK.
 * INFINITY where nothing fits. Hard resources only. */
#ifndef COLOSIM_TESTS_ESP_GLPK_H
#define COLOSIM_TESTS_ESP_GLPK_H

#include "core/elastico/choice.h"

double glpk_relaxed(const struct choice_problem *p);
/* Branch and bound: without end where many jobs are alike, so weigh them. */
double glpk_exact(const struct choice_problem *p);

#endif
