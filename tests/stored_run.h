/* stored_run.h - the run of made_run.h in a database, open for reading; its id is 1. */
#ifndef COLOSIM_TESTS_STORED_RUN_H
#define COLOSIM_TESTS_STORED_RUN_H

#include "sim/results/store.h"
#include "tests/made_run.h"
#include "tests/temp.h"

struct stored_run {
    struct temp_file file;
    struct store store;
    struct error err;
};

/* change: alters the run before it is stored; may be NULL. */
static inline void stored_run(struct stored_run *s, void (*change)(struct made_run *))
{
    struct made_run m;
    char name[128];
    s->file = temp_text(".db", "");
    made_run(&m);
    if (change != NULL)
        change(&m);
    cr_assert_eq(store_open(&s->store, s->file.path, &s->err), ST_OK, "%s", s->err.text);
    cr_assert_eq(store_run(&s->store, &m.request, &m.result, name, &s->err), ST_OK, "%s",
                 s->err.text);
    store_close(&s->store);
    made_run_free(&m);
    cr_assert_eq(store_open_read(&s->store, s->file.path, &s->err), ST_OK, "%s", s->err.text);
}

static inline void stored_run_free(struct stored_run *s)
{
    store_close(&s->store);
    temp_remove(&s->file);
}

#endif
