#include "sim/results/pair_table.h"

#include "core/cluster/gpus.h"
#include "core/elastico/catalog_file.h"
#include "core/elastico/contention.h"
#include "sim/run/pairs_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char tables[] =
    "CREATE TABLE pair(a TEXT, b TEXT, keep_a REAL, keep_b REAL, source TEXT);"
    "CREATE TABLE workload(name TEXT);";

static enum status table_fail(sqlite3 *db, struct error *err)
{
    if (db == NULL || sqlite3_errcode(db) == SQLITE_NOMEM)
        return fail_memory(err);
    return fail(err, ST_OUTPUT, "the pairs in memory: %s", sqlite3_errmsg(db));
}

struct filling {
    sqlite3 *db;
    sqlite3_stmt *insert;
    const char *source; /* in words */
};

static enum status open_table(struct filling *f, sqlite3 **db, struct error *err)
{
    *f = (struct filling){0};
    if (sqlite3_open(":memory:", db) != SQLITE_OK ||
        sqlite3_exec(*db, tables, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(*db, "INSERT INTO pair VALUES (?1, ?2, ?3, ?4, ?5)", -1, &f->insert,
                           NULL) != SQLITE_OK)
        return table_fail(*db, err);
    f->db = *db;
    return ST_OK;
}

static enum status add_pair(void *to, const struct pair_row *row, struct error *err)
{
    struct filling *f = to;
    int bound = sqlite3_bind_text(f->insert, 1, row->a.text, (int)row->a.length, SQLITE_TRANSIENT) |
                sqlite3_bind_text(f->insert, 2, row->b.text, (int)row->b.length, SQLITE_TRANSIENT) |
                sqlite3_bind_double(f->insert, 3, row->speed_a) |
                sqlite3_bind_double(f->insert, 4, row->speed_b) |
                sqlite3_bind_text(f->insert, 5, f->source, -1, SQLITE_STATIC);
    bool done = bound == SQLITE_OK && sqlite3_step(f->insert) == SQLITE_DONE;
    return sqlite3_reset(f->insert) == SQLITE_OK && done ? ST_OK : table_fail(f->db, err);
}

enum status pair_table_read(sqlite3 **db, const char *path, struct error *err)
{
    struct filling f;
    const char *slash = strrchr(path, '/');
    enum status status = open_table(&f, db, err);
    f.source = slash != NULL ? slash + 1 : path;
    if (status == ST_OK)
        status = pairs_each(path, add_pair, &f, err);
    if (status == ST_OK &&
        sqlite3_exec(*db,
                     "INSERT INTO workload SELECT a FROM pair UNION SELECT b FROM pair ORDER BY 1",
                     NULL, NULL, NULL) != SQLITE_OK)
        status = table_fail(*db, err);
    sqlite3_finalize(f.insert);
    return status;
}

/* A workload with some of its flags, in the configuration that stands for it. */
struct variant {
    char name[96];
    int32_t row; /* of the profiles */
};

struct model {
    struct workloads w;
    struct profiles p;
    struct contention c;
    int32_t card, mem_mib; /* what a card has for jobs; INT32_MAX where that is not known */
    struct variant *variant;
    size_t n, capacity;
};

static const struct {
    enum knob knob;
    const char *name;
} flags[] = {{KNOB_CK, "ck"}, {KNOB_AMP, "amp"}, {KNOB_PC, "pc"}};
enum { N_FLAGS = sizeof flags / sizeof *flags };

/* Which flags are set in a configuration, as bits. */
static unsigned flags_of(const struct workloads *w, int32_t config)
{
    unsigned set = 0;
    for (unsigned i = 0; i < N_FLAGS; i++)
        set |= w->value[config][flags[i].knob] > 0 ? 1U << i : 0; /* NAN is not */
    return set;
}

/* The fastest that fits among those with just these flags; -1 for none. */
static int32_t fastest(const struct model *m, int32_t workload, unsigned set)
{
    const double *rate = m->p.m.rate + profile_row(&m->p, 0, m->card);
    int32_t best = -1;
    for (int32_t c = m->w.config_begin[workload]; c < m->w.config_begin[workload + 1]; c++)
        if (flags_of(&m->w, c) == set && m->p.fb_mib[c] <= m->mem_mib && rate[c] > 0 &&
            (best < 0 || rate[c] > rate[best]))
            best = c;
    return best;
}

static enum status add_variants(struct model *m, struct error *err)
{
    for (int32_t w = 0; w < m->w.n; w++)
        for (unsigned set = 0; set < 1U << N_FLAGS; set++) {
            int32_t config = fastest(m, w, set);
            if (config < 0)
                continue;
            if (!ARRAY_GROW(m->variant, m->capacity, m->n + 1))
                return fail_memory(err);
            struct variant *v = &m->variant[m->n++];
            v->row = profile_row(&m->p, config, m->card);
            int n = snprintf(v->name, sizeof v->name, "%.60s", names_text(&m->w.names, w));
            for (unsigned i = 0; i < N_FLAGS; i++)
                if ((set & 1U << i) != 0)
                    n += snprintf(v->name + n, sizeof v->name - (size_t)n, " %s", flags[i].name);
        }
    return ST_OK;
}

static enum status add_pairs(const struct model *m, struct filling *f, struct error *err)
{
    sqlite3_stmt *insert = NULL;
    if (sqlite3_prepare_v2(f->db, "INSERT INTO workload VALUES (?1)", -1, &insert, NULL) !=
        SQLITE_OK)
        return table_fail(f->db, err);
    enum status status = ST_OK;
    for (size_t i = 0; i < m->n && status == ST_OK; i++) {
        const struct variant *a = &m->variant[i];
        if (sqlite3_bind_text(insert, 1, a->name, -1, SQLITE_STATIC) != SQLITE_OK ||
            sqlite3_step(insert) != SQLITE_DONE || sqlite3_reset(insert) != SQLITE_OK)
            status = table_fail(f->db, err);
        for (size_t j = i; j < m->n && status == ST_OK; j++) {
            const struct variant *b = &m->variant[j];
            status = add_pair(f,
                              &(struct pair_row){{a->name, strlen(a->name)},
                                                 {b->name, strlen(b->name)},
                                                 1 / contention_pair(&m->c, a->row, b->row),
                                                 1 / contention_pair(&m->c, b->row, a->row)},
                              err);
        }
    }
    sqlite3_finalize(insert);
    return status;
}

static enum status open_model(struct model *m, const char *catalog, const char *card,
                              enum contention_set set, struct error *err)
{
    m->card = card_find(card);
    if (m->card < 0)
        return fail(err, ST_USAGE, "nothing is known of the speed of a card '%s'", card);
    m->mem_mib = gpu_type_mem_mib(card) - MEM_SYSTEM_MIB;
    TRY(catalog_read(catalog, &m->w, err));
    TRY(profiles_init(&m->p, &m->w, err));
    TRY(contention_init(&m->c, &m->p, &contention_sets[set], 1, err));
    return add_variants(m, err);
}

enum status pair_table_model(sqlite3 **db, const char *catalog, const char *card,
                             enum contention_set set, struct error *err)
{
    struct filling f;
    struct model m = {0};
    char source[96];
    enum status status = open_table(&f, db, err);
    snprintf(source, sizeof source, "contention %s, %.40s", contention_set_names[set], card);
    f.source = source;
    if (status == ST_OK)
        status = open_model(&m, catalog, card, set, err);
    if (status == ST_OK)
        status = add_pairs(&m, &f, err);
    free(m.variant);
    contention_free(&m.c);
    profiles_free(&m.p);
    workloads_free(&m.w);
    sqlite3_finalize(f.insert);
    return status;
}
