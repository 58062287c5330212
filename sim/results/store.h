/* store.h - the results database: one SQLite file, whole runs only.
 *
 * A run is written in one transaction after it ended; nobody sees half of it, and two processes
 * writing to one file wait for each other. The file is opened, and its schema checked or made,
 * before the first event, so that an hour of simulation is not lost at the end. PRAGMA
 * user_version is the schema's version: a newer one is refused untouched, an older one migrated.
 * POSIX drops a process's locks on a file when any of its descriptors is closed: a process opens
 * one store per file at a time. */
#ifndef COLOSIM_STORE_H
#define COLOSIM_STORE_H

#include "sim/run/run.h"

#include <sqlite3.h>

struct store {
    sqlite3 *db;
    char *path;
    char *note; /* worth telling the user, or NULL: the file system cannot lock, so that results go
                   to a file of this process alone (path is that one) */
};

/* Opens for writing, creating the file where it is missing. ST_OUTPUT names path and reason. */
enum status store_open(struct store *s, const char *path, struct error *err) MUST_USE;
/* Opens for reading only; a missing file is ST_INPUT. */
enum status store_open_read(struct store *s, const char *path, struct error *err) MUST_USE;
void store_close(struct store *s);

/* Writes the whole run with its settings; its name (label, or policy-seed; made unique by -2, -3 …)
 * goes to name. On failure nothing of it is in the file. */
enum status store_run(struct store *s, const struct run_request *q, const struct run_result *r,
                      char name[128], struct error *err) MUST_USE;

/* The same for a point of a study, of which there is one of its label: where another process has
 * stored it meanwhile nothing is written and name is empty. */
enum status store_point(struct store *s, const struct run_request *q, const struct run_result *r,
                        char name[128], struct error *err) MUST_USE;

/* What is read until store_commit is of one moment, and is locked once instead of row by row. */
enum status store_look(struct store *s, struct error *err) MUST_USE;
/* A transaction around several runs that are added; others wait for its end. Either fails with
 * nothing open. */
enum status store_begin(struct store *s, struct error *err) MUST_USE;
enum status store_commit(struct store *s, struct error *err) MUST_USE;
/* Adds a run, all of it or nothing, in the open transaction or one of its own: write is given its
 * id and its name, which is what name holds made unique, and returns SQLite's code. label: NULL, or
 * that of which there is to be one. */
typedef int (*store_write_fn)(sqlite3 *db, int64_t run, const char *name, const void *context);
enum status store_add(struct store *s, store_write_fn write, const void *context, const char *label,
                      char name[128], struct error *err) MUST_USE;

/* The name before it is made unique: UTF-8, on one line, at most 100 bytes. */
const char *store_base_name(const struct run_request *q, const struct run_result *r,
                            char name[128]);

/* The row id of a run by name ("last" is the newest); ST_USAGE lists what is there when unknown. */
enum status store_find(struct store *s, const char *name, int64_t *run, struct error *err) MUST_USE;

/* One statement over one run: ?1 is bound to it. The caller finalizes it. */
enum status store_select(struct store *s, const char *sql, int64_t run, sqlite3_stmt **out,
                         struct error *err) MUST_USE;
/* Steps: *row is false at the end. */
enum status store_step(struct store *s, sqlite3_stmt *statement, bool *row,
                       struct error *err) MUST_USE;

/* A failed statement as ST_OUTPUT: disk full, read-only, locked … with the path. */
enum status store_fail(struct store *s, const char *what, struct error *err);

#endif
