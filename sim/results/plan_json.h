/* plan_json.h - a plan for those who carry it out: one JSON object (docs/decide.md). */
#ifndef COLOSIM_PLAN_JSON_H
#define COLOSIM_PLAN_JSON_H

#include "core/cluster/policy.h"
#include "core/elastico/lore.h"

#include <stdio.h>

/* The members "evict", "config", "resize", "start" and "wake_s" of what a pass decided, not yet
 * carried out: no brackets around them. Times of the plan count from now_us; now_s is that on the
 * reader's clock. rst is NULL without a catalog. Of policies that may resume: speeds, pools and
 * jobs aside are none of theirs. */
void plan_json(FILE *to, const struct plan *p, const struct rst *rst, int64_t now_us, double now_s);
/* The member "profile": what is to be profiled next, in order. */
void profiles_json(FILE *to, const struct lore *l);
/* The members "prices" and "remember". */
void memory_json(FILE *to, const struct memory *m, const struct job_table *t, double now_s);
/* Does a job of training start, or change its configuration? */
bool plan_trains(const struct plan *p, const struct rst *rst);

#endif
