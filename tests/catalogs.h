/* catalogs.h - catalogs for tests: the embedded ones, and small ones from JSON. */
#ifndef COLOSIM_TESTS_CATALOGS_H
#define COLOSIM_TESTS_CATALOGS_H

#include "core/elastico/catalog_file.h"
#include "core/elastico/profile.h"
#include "tests/temp.h"

struct catalog {
    struct workloads w;
    struct profiles p;
};

/* Must not move: the profiles point to the workloads. */
static inline void catalog_open(struct catalog *c, const char *what)
{
    struct error err = {{0}};
    cr_assert_eq(catalog_read(what, &c->w, &err), ST_OK, "%s", err.text);
    cr_assert_eq(profiles_init(&c->p, &c->w, &err), ST_OK, "%s", err.text);
}

static inline void catalog_open_text(struct catalog *c, const char *json)
{
    struct temp_file file = temp_text(".json", json);
    catalog_open(c, file.path);
    temp_remove(&file);
}

static inline void catalog_close(struct catalog *c)
{
    profiles_free(&c->p);
    workloads_free(&c->w);
}

/* The configuration of a workload by both names. */
static inline int32_t config_named(const struct workloads *w, const char *workload,
                                   const char *text)
{
    bool exact;
    int32_t wl = workload_find(w, workload, strlen(workload));
    cr_assert_geq(wl, 0, "no workload %s", workload);
    int32_t c = config_parse(w, wl, text, strlen(text), &exact);
    cr_assert(c >= 0 && exact, "%s has no configuration %s", workload, text);
    return c;
}

#endif
