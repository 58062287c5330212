/* catalog_world.h - a lab with a catalog of one's own, given as text, in which changing costs
 * nothing. */
#ifndef COLOSIM_TESTS_CATALOG_WORLD_H
#define COLOSIM_TESTS_CATALOG_WORLD_H

#include "core/elastico/pds.h"
#include "tests/lab.h"
#include "tests/temp.h"

#include <string.h>

struct world {
    struct lab l;
    struct temp_file catalog;
    struct pds_config config;
};

static inline void world_open(struct world *w, const char *catalog, enum submitted submitted,
                              const char *jobs, const char *nodes)
{
    w->catalog = temp_text(".json", catalog);
    w->l = (struct lab){.catalog = w->catalog.path,
                        .submitted = submitted,
                        .truth = TRUTH_NONE,
                        .mps = 1,
                        .rates = {.scale_exp = 0.9}};
    param_defaults(&(struct param_group){"elastico", pds_params, &w->config});
    w->config.cost = (struct transition_costs){0};
    lab_jobs(&w->l, jobs);
    lab_nodes(&w->l, nodes);
}

static inline void world_run(struct world *w, const char *policy)
{
    w->l.config = strcmp(policy, "elastico") == 0 ? &w->config : NULL;
    lab_run(&w->l, policy);
}

static inline void world_close(struct world *w)
{
    lab_free(&w->l);
    temp_remove(&w->catalog);
}

#endif
