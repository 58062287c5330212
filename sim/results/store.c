#include "sim/results/store.h"

#include "sim/results/quote.h"
#include "sim/results/rows.h"
#include "sim/results/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUSY_MS = 60000, BUSY_TRIES = 10 };

/* page_size: pages of 8 KiB store a tenth faster than those of 4 KiB, larger ones no more.
 * cache_size: 8 MiB; a larger run spills into the file, where the lock hides it until COMMIT.
 * journal_mode and synchronous stay as SQLite has them (a rollback journal, FULL): new pages need
 * no journal, one file is all there is, it works where memory cannot be shared between hosts, and
 * a run reported as stored survives a power cut. */
static const char connection_setup[] = "PRAGMA page_size=8192; PRAGMA cache_size=-8192;";

enum status store_fail(struct store *s, const char *what, struct error *err)
{
    int last = errno, code = sqlite3_errcode(s->db) & 0xff, number = sqlite3_system_errno(s->db);
    const char *why = sqlite3_errmsg(s->db);
    if (number == 0) /* a failed COMMIT leaves it in errno alone */
        number = last;
    if (code == SQLITE_NOMEM)
        return fail_memory(err);
    if (code == SQLITE_FULL)
        why = "no space left on the device";
    else if (code == SQLITE_BUSY)
        why = "another program keeps it locked";
    else if ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && number != 0)
        why = strerror(number);
    return fail(err, ST_OUTPUT, "%s: %s: %s", s->path, what, why);
}

/* The busy handler waits a minute; a queue of writers may be longer. */
static int exec_patient(struct store *s, const char *sql)
{
    int code = SQLITE_BUSY;
    for (int i = 0; i < BUSY_TRIES && code == SQLITE_BUSY; i++)
        code = sqlite3_exec(s->db, sql, NULL, NULL, NULL);
    return code;
}

/* The n whole numbers of the statement's one row. */
static int read_ints(struct store *s, const char *sql, int64_t *out, int n)
{
    sqlite3_stmt *statement = NULL;
    int code = SQLITE_BUSY;
    for (int i = 0; i < BUSY_TRIES && code == SQLITE_BUSY; i++) {
        sqlite3_finalize(statement);
        statement = NULL;
        code = sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL);
        if (code == SQLITE_OK)
            code = sqlite3_step(statement);
    }
    for (int i = 0; code == SQLITE_ROW && i < n; i++)
        out[i] = sqlite3_column_int64(statement, i);
    code = code == SQLITE_ROW ? SQLITE_OK : code;
    int end = sqlite3_finalize(statement);
    return code != SQLITE_OK ? code : end;
}

/* *version: 0 where nothing is in it yet. */
static enum status check_schema(struct store *s, int64_t *version, struct error *err)
{
    int64_t fact[3] = {0, 0, 0}; /* in one statement: another process may be making the tables */
    if (read_ints(s,
                  "SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)"
                  " FROM pragma_user_version, pragma_application_id",
                  fact, 3) != SQLITE_OK) {
        if (sqlite3_errcode(s->db) == SQLITE_NOTADB)
            return fail(err, ST_OUTPUT, "%s: not a database; it is left as it is", s->path);
        return store_fail(s, "cannot be read", err);
    }
    int64_t application = fact[1], n_objects = fact[2];
    bool empty = fact[0] == 0 && application == 0 && n_objects == 0;
    *version = fact[0];
    if (!empty && application != SCHEMA_APPLICATION)
        return fail(err, ST_OUTPUT, "%s: a database of another program; it is left as it is",
                    s->path);
    if (!empty && (*version < 1 || *version > SCHEMA_VERSION))
        return fail(err, ST_OUTPUT,
                    "%s: its schema has version %lld, this program knows version %d; it is left "
                    "as it is",
                    s->path, (long long)*version, SCHEMA_VERSION);
    return ST_OK;
}

/* The first of several processes makes the tables, or brings old ones up to date; the others find
 * them made. */
static enum status make_schema(struct store *s, struct error *err)
{
    if (exec_patient(s, "BEGIN IMMEDIATE") != SQLITE_OK)
        return store_fail(s, "cannot be written", err);
    int64_t version = 0;
    enum status status = check_schema(s, &version, err);
    const char *sql = version == 0 ? schema_sql : version == 1 ? schema_1_to_2_sql : "";
    if (status == ST_OK && sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        status = store_fail(s, "cannot make the tables", err);
    if (status == ST_OK && exec_patient(s, "COMMIT") != SQLITE_OK)
        status = store_fail(s, "cannot make the tables", err);
    if (status != ST_OK)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

/* Whether the journal, which lies beside the file, can be made; errno says why not. */
static bool folder_writable(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return eaccess(".", W_OK | X_OK) == 0;
    char *folder = strndup(path, slash == path ? 1 : (size_t)(slash - path));
    bool writable = folder != NULL && eaccess(folder, W_OK | X_OK) == 0;
    free(folder);
    return writable;
}

/* SQLite opens a file it may not write for reading, and says little; so this looks first. */
static enum status probe(const char *path, bool *can_lock, struct error *err)
{
    if (!folder_writable(path))
        return fail(err, ST_OUTPUT, "%s: its folder cannot be written to: %s", path,
                    strerror(errno));
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return fail(err, ST_OUTPUT, "%s: %s", path, strerror(errno));
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    *can_lock = fcntl(fd, F_GETLK, &lock) == 0;
    close(fd);
    return ST_OK;
}

/* Where the file system cannot lock, each process writes a file of its own. */
static enum status side_file(struct store *s, struct error *err)
{
    char *side = NULL;
    if (asprintf(&side, "%s.side-%ld", s->path, (long)getpid()) < 0)
        return fail_memory(err);
    if (asprintf(&s->note, "%s: the file system cannot lock files; results go to %s", s->path,
                 side) < 0) {
        s->note = NULL;
        free(side);
        return fail_memory(err);
    }
    free(s->path);
    s->path = side;
    return ST_OK;
}

static enum status connect_to(struct store *s, int flags, const char *vfs, struct error *err)
{
    if (sqlite3_open_v2(s->path, &s->db, flags | SQLITE_OPEN_NOMUTEX, vfs) != SQLITE_OK ||
        sqlite3_extended_result_codes(s->db, 1) != SQLITE_OK ||
        sqlite3_busy_timeout(s->db, BUSY_MS) != SQLITE_OK)
        return store_fail(s, "cannot be opened", err);
    if (exec_patient(s, connection_setup) == SQLITE_OK)
        return ST_OK;
    if (sqlite3_errcode(s->db) == SQLITE_NOTADB)
        return fail(err, ST_OUTPUT, "%s: not a database; it is left as it is", s->path);
    return store_fail(s, "cannot be opened", err);
}

static enum status named(struct store *s, const char *path, struct error *err)
{
    *s = (struct store){.path = strdup(path)};
    return s->path != NULL ? ST_OK : fail_memory(err);
}

enum status store_open(struct store *s, const char *path, struct error *err)
{
    enum status status = ST_OK;
    bool can_lock = true;
    int64_t version = 0;
    TRY(named(s, path, err));
    TRY_OUT(probe(path, &can_lock, err));
    if (!can_lock)
        TRY_OUT(side_file(s, err));
    TRY_OUT(connect_to(s, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, can_lock ? NULL : "unix-none",
                       err));
    TRY_OUT(check_schema(s, &version, err));
    if (version < SCHEMA_VERSION)
        TRY_OUT(make_schema(s, err));
out:
    if (status != ST_OK)
        store_close(s);
    return status;
}

enum status store_open_read(struct store *s, const char *path, struct error *err)
{
    enum status status = ST_OK;
    int64_t version = 0;
    TRY(named(s, path, err));
    if (eaccess(path, R_OK) != 0) {
        status = fail(err, ST_INPUT, "%s: %s", path, strerror(errno));
        goto out;
    }
    /* Writable where that is possible: a writer that crashed left a journal to play back. */
    TRY_OUT(connect_to(s, SQLITE_OPEN_READWRITE, NULL, err));
    TRY_OUT(check_schema(s, &version, err));
    if (version == 0)
        status = fail(err, ST_INPUT, "%s: there are no runs in it", path);
    else if ((version == 1 &&
              sqlite3_exec(s->db, schema_1_as_2_sql, NULL, NULL, NULL) != SQLITE_OK) ||
             sqlite3_exec(s->db, "PRAGMA query_only=1", NULL, NULL, NULL) != SQLITE_OK)
        status = store_fail(s, "cannot be opened", err);
out:
    if (status != ST_OK)
        store_close(s);
    return status;
}

void store_close(struct store *s)
{
    sqlite3_close_v2(s->db);
    free(s->path);
    free(s->note);
    *s = (struct store){0};
}

const char *store_base_name(const struct run_request *q, const struct run_result *r, char name[128])
{
    const char *label = q->run.label;
    if (label != NULL && label[0] != '\0')
        return quote_shown(label, strlen(label), name, 101);
    snprintf(name, 128, "%.80s-%lld", r->policy->name, (long long)q->run.seed);
    return name;
}

/* Whether the query, whose parameter is the text, has a row. */
static int is_there(sqlite3 *db, const char *sql, const char *text, bool *there)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    *there = code == SQLITE_ROW;
    int end = sqlite3_finalize(statement);
    return code == SQLITE_ROW || code == SQLITE_DONE ? end : code;
}

static int unique_name(sqlite3 *db, char name[128])
{
    size_t n = strlen(name);
    bool taken = true;
    int code = SQLITE_OK;
    for (long i = 1; code == SQLITE_OK && taken; i++) {
        if (i > 1)
            snprintf(name + n, 128 - n, "-%ld", i);
        code = is_there(db, "SELECT 1 FROM run WHERE name = ?1", name, &taken);
    }
    return code;
}

static int add_run(struct store *s, store_write_fn write, const void *context, const char *label,
                   char name[128])
{
    int64_t run;
    bool there = false;
    int code = SQLITE_OK;
    if (label != NULL)
        code = is_there(s->db, "SELECT 1 FROM run WHERE label = ?1 AND status <> 'interrupted'",
                        label, &there);
    if (there)
        name[0] = '\0';
    if (code != SQLITE_OK || there)
        return code;
    code = unique_name(s->db, name);
    if (code == SQLITE_OK)
        code = read_ints(s, "SELECT coalesce(max(id), 0) + 1 FROM run", &run, 1);
    return code == SQLITE_OK ? write(s->db, run, name, context) : code;
}

enum status store_begin(struct store *s, struct error *err)
{
    return exec_patient(s, "BEGIN IMMEDIATE") == SQLITE_OK
               ? ST_OK
               : store_fail(s, "the run cannot be stored", err);
}

enum status store_look(struct store *s, struct error *err)
{
    return exec_patient(s, "BEGIN") == SQLITE_OK ? ST_OK : store_fail(s, "cannot be read", err);
}

enum status store_commit(struct store *s, struct error *err)
{
    if (exec_patient(s, "COMMIT") == SQLITE_OK)
        return ST_OK;
    enum status status = store_fail(s, "the run cannot be stored", err);
    sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

enum status store_add(struct store *s, store_write_fn write, const void *context, const char *label,
                      char name[128], struct error *err)
{
    char unique[128];
    bool alone = sqlite3_get_autocommit(s->db) != 0;
    strcpy(unique, name);
    if (alone)
        TRY(store_begin(s, err));
    else if (sqlite3_exec(s->db, "SAVEPOINT run", NULL, NULL, NULL) != SQLITE_OK)
        return store_fail(s, "the run cannot be stored", err);
    if (add_run(s, write, context, label, unique) != SQLITE_OK) {
        enum status status = store_fail(s, "the run cannot be stored", err);
        sqlite3_exec(s->db, alone ? "ROLLBACK" : "ROLLBACK TO run; RELEASE run", NULL, NULL, NULL);
        return status;
    }
    if (alone)
        TRY(store_commit(s, err));
    else if (sqlite3_exec(s->db, "RELEASE run", NULL, NULL, NULL) != SQLITE_OK)
        return store_fail(s, "the run cannot be stored", err);
    strcpy(name, unique);
    return ST_OK;
}

static int write_rows(sqlite3 *db, int64_t run, const char *name, const void *context)
{
    struct run_rows rows = *(const struct run_rows *)context;
    rows.name = name;
    return rows_write(db, run, &rows);
}

static enum status store_result(struct store *s, const struct run_request *q,
                                const struct run_result *r, const char *label, char name[128],
                                struct error *err)
{
    char base[128], created[32];
    struct run_rows rows = {q, r, NULL, rows_created(created)};
    store_base_name(q, r, base);
    TRY(store_add(s, write_rows, &rows, label, base, err));
    strcpy(name, base);
    return ST_OK;
}

enum status store_run(struct store *s, const struct run_request *q, const struct run_result *r,
                      char name[128], struct error *err)
{
    return store_result(s, q, r, NULL, name, err);
}

enum status store_point(struct store *s, const struct run_request *q, const struct run_result *r,
                        char name[128], struct error *err)
{
    return store_result(s, q, r, q->run.label, name, err);
}

enum status store_select(struct store *s, const char *sql, int64_t run, sqlite3_stmt **out,
                         struct error *err)
{
    *out = NULL;
    if (sqlite3_prepare_v2(s->db, sql, -1, out, NULL) != SQLITE_OK)
        return store_fail(s, "cannot be read", err);
    if (sqlite3_bind_parameter_count(*out) > 0 && sqlite3_bind_int64(*out, 1, run) != SQLITE_OK) {
        sqlite3_finalize(*out);
        *out = NULL;
        return store_fail(s, "cannot be read", err);
    }
    return ST_OK;
}

enum status store_step(struct store *s, sqlite3_stmt *statement, bool *row, struct error *err)
{
    int code = SQLITE_BUSY;
    for (int i = 0; i < BUSY_TRIES && code == SQLITE_BUSY; i++)
        code = sqlite3_step(statement);
    *row = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ? ST_OK : store_fail(s, "cannot be read", err);
}

/* The names of the newest runs, for a message. */
static enum status list_names(struct store *s, char *text, size_t size, struct error *err)
{
    sqlite3_stmt *statement = NULL;
    bool row = false;
    size_t n = 0;
    TRY(store_select(s, "SELECT name FROM run ORDER BY id DESC LIMIT 12", 0, &statement, err));
    enum status status = store_step(s, statement, &row, err);
    text[0] = '\0';
    while (status == ST_OK && row && n < size) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        n += (size_t)snprintf(text + n, size - n, "%s%s", n > 0 ? ", " : "", name ? name : "");
        status = store_step(s, statement, &row, err);
    }
    sqlite3_finalize(statement);
    return status;
}

enum status store_find(struct store *s, const char *name, int64_t *run, struct error *err)
{
    static const char sql[] = "SELECT id FROM run WHERE name = ?1 UNION ALL "
                              "SELECT max(id) FROM run WHERE ?1 = 'last' LIMIT 1";
    sqlite3_stmt *statement = NULL;
    bool row = false;
    char names[800];
    TRY(store_select(s, sql, 0, &statement, err));
    enum status status = ST_OK;
    if (sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC) != SQLITE_OK)
        status = store_fail(s, "cannot be read", err);
    else
        status = store_step(s, statement, &row, err);
    if (status == ST_OK && row && sqlite3_column_type(statement, 0) != SQLITE_NULL)
        *run = sqlite3_column_int64(statement, 0);
    else
        row = false;
    sqlite3_finalize(statement);
    if (status != ST_OK || row)
        return status;
    TRY(list_names(s, names, sizeof names, err));
    if (names[0] == '\0')
        return fail(err, ST_INPUT, "%s: there are no runs in it", s->path);
    return fail(err, ST_USAGE, "%s: no run \"%s\"; there are: %s", s->path, name, names);
}
