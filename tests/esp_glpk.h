/* esp_glpk.h - the exact optimum of a choice problem, and its linear relaxation's, by GLPK. */
#ifndef COLOSIM_TESTS_ESP_GLPK_H
#define COLOSIM_TESTS_ESP_GLPK_H

#include "core/elastico/choice.h"

/* INFINITY where nothing fits. Hard resources only. */
double glpk_relaxed(const struct choice_problem *p);
/* NAN where the time limit was reached first. */
double glpk_exact(const struct choice_problem *p, double limit_s);

#endif
