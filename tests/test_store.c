#undef _FILE_OFFSET_BITS /* fcntl and fcntl64 are two names here, whatever the build asks for */

#include "sim/results/store.h"

#include "tests/ask.h"
#include "tests/leak.h"
#include "tests/made_run.h"
#include "tests/temp.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

TestSuite(store, .fini = abort_on_leak);

/* The program's own fcntl stands before the C library's, in SQLite too: a file system that cannot
 * lock is played by one that refuses every lock. Both symbols, whatever the size of an offset. */
static bool refuse_locks;
int own_fcntl(int fd, int command, ...) __asm__("fcntl");
int own_fcntl64(int fd, int command, ...) __asm__("fcntl64");

static int refusing_fcntl(int fd, int command, void *argument)
{
    if (refuse_locks && (command == F_GETLK || command == F_SETLK || command == F_SETLKW)) {
        errno = ENOLCK;
        return -1;
    }
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

int own_fcntl(int fd, int command, ...)
{
    va_list args;
    va_start(args, command);
    void *argument = va_arg(args, void *);
    va_end(args);
    return refusing_fcntl(fd, command, argument);
}

int own_fcntl64(int fd, int command, ...)
{
    va_list args;
    va_start(args, command);
    void *argument = va_arg(args, void *);
    va_end(args);
    return refusing_fcntl(fd, command, argument);
}

/* A folder of its own, so that "nothing is created" can be seen. */
struct folder {
    char path[200], db[256];
};

static struct folder folder_make(void)
{
    struct folder f;
    const char *base = getenv("TMPDIR");
    snprintf(f.path, sizeof f.path, "%s/colosim-store-XXXXXX", base != NULL ? base : P_tmpdir);
    cr_assert_not_null(mkdtemp(f.path));
    snprintf(f.db, sizeof f.db, "%s/r.db", f.path);
    return f;
}

static int folder_count(const struct folder *f)
{
    char command[300];
    int n = -1;
    snprintf(command, sizeof command, "ls -A %s | wc -l", f->path);
    FILE *pipe = popen(command, "r");
    cr_assert_eq(fscanf(pipe, "%d", &n), 1);
    pclose(pipe);
    return n;
}

static void folder_remove(const struct folder *f)
{
    char command[300];
    snprintf(command, sizeof command, "rm -r %s", f->path);
    cr_assert_eq(system(command), 0);
}

static enum status store_one(const char *path, const struct made_run *m, char name[128],
                             struct error *err)
{
    struct store s;
    TRY(store_open(&s, path, err));
    enum status status = store_run(&s, &m->request, &m->result, name, err);
    store_close(&s);
    return status;
}

static void expect(const struct folder *f, const char *sql, const char *want)
{
    char answer[4096];
    cr_assert_str_eq(ask_file(f->db, sql, answer), want, "%s gives %s", sql, answer);
}

Test(store, a_new_file_gets_the_tables_of_version_2)
{
    struct folder f = folder_make();
    struct store s;
    struct error err;
    cr_assert_eq(store_open(&s, f.db, &err), ST_OK, "%s", err.text);
    cr_assert_null(s.note);
    store_close(&s);
    expect(&f, "PRAGMA user_version", "2");
    expect(&f, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name",
           "epoch\nevent\njob\nmetric\nnode\nrun\nsample\nsetting\nspan");
    cr_assert_eq(folder_count(&f), 1, "one file is all there is");
    folder_remove(&f);
}

Test(store, a_file_of_version_1_is_brought_up_to_date_by_who_writes_to_it)
{
    struct folder f = folder_make();
    struct store s;
    struct error err;
    cr_assert_eq(store_open(&s, f.db, &err), ST_OK);
    cr_assert_eq(sqlite3_exec(s.db,
                              "DROP TABLE epoch; ALTER TABLE sample DROP COLUMN sm_busy;"
                              "INSERT INTO sample VALUES (1, 0, 2, 3, 4); PRAGMA user_version=1",
                              NULL, NULL, NULL),
                 SQLITE_OK);
    store_close(&s);
    cr_assert_eq(store_open_read(&s, f.db, &err), ST_OK, "%s", err.text);
    char answer[4096];
    cr_expect_str_eq(ask(s.db, "SELECT gpu_held, sm_busy FROM sample", answer), "2.0|null",
                     "who reads sees what is not there as not known");
    store_close(&s);
    expect(&f, "PRAGMA user_version", "1"); /* reading changes nothing */
    cr_assert_eq(store_open(&s, f.db, &err), ST_OK, "%s", err.text);
    store_close(&s);
    expect(&f, "PRAGMA user_version", "2");
    expect(&f, "SELECT count(*) FROM epoch", "0");
    expect(&f, "SELECT gpu_held, sm_busy FROM sample", "2.0|null");
    folder_remove(&f);
}

Test(store, runs_are_named_by_label_or_policy_and_seed_and_made_unique)
{
    static const char *const want[] = {"made-7", "made-7-2", "base", "base-2", "base-3", "a\\x0Ab"};
    const char *const label[] = {NULL, "", "base", "base", "base", "a\nb"};
    struct folder f = folder_make();
    struct made_run m;
    char name[128];
    made_run(&m);
    for (int i = 0; i < 6; i++) {
        m.request.run.label = label[i];
        cr_assert_eq(store_one(f.db, &m, name, &m.err), ST_OK, "%s", m.err.text);
        cr_assert_str_eq(name, want[i]);
    }
    expect(&f, "SELECT name FROM run ORDER BY id",
           "made-7\nmade-7-2\nbase\nbase-2\nbase-3\na\\x0Ab");
    expect(&f, "SELECT run, count(*) FROM job GROUP BY run", "1|6\n2|6\n3|6\n4|6\n5|6\n6|6");
    made_run_free(&m);
    folder_remove(&f);
}

Test(store, a_label_longer_than_a_name_may_be_is_cut)
{
    struct folder f = folder_make();
    struct made_run m;
    char name[128], label[301];
    memset(label, 'x', 300);
    label[300] = '\0';
    made_run(&m);
    m.request.run.label = label;
    for (int i = 0; i < 2; i++)
        cr_assert_eq(store_one(f.db, &m, name, &m.err), ST_OK, "%s", m.err.text);
    cr_assert(strncmp(name, label, 97) == 0);
    cr_assert_str_eq(name + 97, "...-2");
    made_run_free(&m);
    folder_remove(&f);
}

Test(store, a_run_is_found_by_name_and_the_newest_as_last)
{
    struct folder f = folder_make();
    struct made_run m;
    struct store s;
    char name[128];
    int64_t run = 0;
    made_run(&m);
    cr_assert_eq(store_open_read(&s, f.db, &m.err), ST_INPUT);
    cr_assert_eq(store_one(f.db, &m, name, &m.err), ST_OK);
    m.request.run.label = "base";
    cr_assert_eq(store_one(f.db, &m, name, &m.err), ST_OK);

    cr_assert_eq(store_open_read(&s, f.db, &m.err), ST_OK, "%s", m.err.text);
    cr_assert_eq(store_find(&s, "made-7", &run, &m.err), ST_OK);
    cr_assert_eq(run, 1);
    cr_assert_eq(store_find(&s, "last", &run, &m.err), ST_OK);
    cr_assert_eq(run, 2);
    cr_assert_eq(store_find(&s, "made", &run, &m.err), ST_USAGE);
    cr_assert_not_null(strstr(m.err.text, "no run \"made\"; there are: base, made-7"), "%s",
                       m.err.text);
    cr_assert_eq(sqlite3_exec(s.db, "DELETE FROM run", NULL, NULL, NULL), SQLITE_READONLY);
    store_close(&s);
    made_run_free(&m);
    folder_remove(&f);
}

Test(store, deleting_a_run_takes_all_its_rows_along)
{
    struct folder f = folder_make();
    struct made_run m;
    struct store s;
    char name[128], answer[4096];
    made_run(&m);
    cr_assert_eq(store_open(&s, f.db, &m.err), ST_OK);
    cr_assert_eq(store_run(&s, &m.request, &m.result, name, &m.err), ST_OK);
    cr_assert_eq(sqlite3_exec(s.db, "PRAGMA foreign_keys=1; DELETE FROM run", NULL, NULL, NULL),
                 SQLITE_OK);
    cr_assert_str_eq(ask(s.db,
                         "SELECT (SELECT count(*) FROM job) + (SELECT count(*) FROM metric) +"
                         " (SELECT count(*) FROM node) + (SELECT count(*) FROM sample) +"
                         " (SELECT count(*) FROM span) + (SELECT count(*) FROM event) +"
                         " (SELECT count(*) FROM setting)",
                         answer),
                     "0");
    store_close(&s);
    made_run_free(&m);
    folder_remove(&f);
}

static void expect_refused(const char *path, enum status want, const char *why)
{
    struct store s;
    struct error err;
    cr_assert_eq(store_open(&s, path, &err), want);
    cr_assert(strncmp(err.text, path, strlen(path)) == 0, "%s", err.text);
    cr_assert_not_null(strstr(err.text, why), "%s", err.text);
    cr_assert(s.db == NULL && s.path == NULL);
}

Test(store, what_cannot_be_written_is_refused_at_once_and_nothing_is_created)
{
    struct folder f = folder_make();
    char missing[300];
    snprintf(missing, sizeof missing, "%s/no/r.db", f.path);
    expect_refused(missing, ST_OUTPUT, "No such file or directory");
    cr_assert_eq(folder_count(&f), 0);
    expect_refused(f.path, ST_OUTPUT, "Is a directory");

    FILE *file = fopen(f.db, "w"); /* an empty file is an empty database, were it writable */
    fclose(file);
    cr_assert_eq(chmod(f.db, 0444), 0);
    cr_assert_eq(chmod(f.path, 0777), 0);
    if (geteuid() == 0)
        cr_assert_eq(seteuid(65534), 0); /* root may write anything */
    expect_refused(f.db, ST_OUTPUT, "Permission denied");
    cr_assert(geteuid() != 65534 || seteuid(0) == 0);
    cr_assert_eq(unlink(f.db), 0);

    cr_assert_eq(chmod(f.path, 0555), 0);
    if (geteuid() == 0)
        cr_assert_eq(seteuid(65534), 0);
    expect_refused(f.db, ST_OUTPUT, "Permission denied");
    cr_assert(geteuid() != 65534 || seteuid(0) == 0);
    cr_assert_eq(folder_count(&f), 0);
    cr_assert_eq(chmod(f.path, 0777), 0);
    folder_remove(&f);
}

Test(store, a_folder_that_takes_no_journal_is_refused_though_the_file_is_writable)
{
    struct folder f = folder_make();
    struct made_run m;
    char name[128];
    made_run(&m);
    cr_assert_eq(store_one(f.db, &m, name, &m.err), ST_OK);
    cr_assert_eq(chmod(f.db, 0666), 0);
    cr_assert_eq(chmod(f.path, 0555), 0);
    if (geteuid() == 0)
        cr_assert_eq(seteuid(65534), 0);
    expect_refused(f.db, ST_OUTPUT, "its folder cannot be written to");
    cr_assert(geteuid() != 65534 || seteuid(0) == 0);
    cr_assert_eq(chmod(f.path, 0777), 0);
    made_run_free(&m);
    folder_remove(&f);
}

static void expect_unchanged(const char *path, const char *want, size_t n)
{
    char got[256];
    FILE *file = fopen(path, "rb");
    cr_assert_eq(fread(got, 1, sizeof got, file), n);
    fclose(file);
    cr_assert(memcmp(got, want, n) == 0);
}

Test(store, a_file_that_is_no_database_is_refused_untouched)
{
    static const char text[] = "job,submit_s,duration_s,gpu\na,0,1,1\n and much more text than a"
                               " database header has, a hundred bytes of it";
    struct temp_file t = temp_text(".csv", text);
    struct store s;
    struct error err;
    expect_refused(t.path, ST_OUTPUT, "not a database");
    cr_assert_eq(store_open_read(&s, t.path, &err), ST_OUTPUT);
    expect_unchanged(t.path, text, strlen(text));
    temp_remove(&t);
}

Test(store, a_newer_schema_and_another_programs_database_are_refused_untouched)
{
    struct folder f = folder_make();
    struct store s;
    struct error err;
    sqlite3 *db = NULL;
    cr_assert_eq(store_open(&s, f.db, &err), ST_OK);
    cr_assert_eq(sqlite3_exec(s.db, "PRAGMA user_version=3", NULL, NULL, NULL), SQLITE_OK);
    store_close(&s);
    expect_refused(f.db, ST_OUTPUT, "its schema has version 3, this program knows version 2");
    expect(&f, "PRAGMA user_version", "3");

    cr_assert_eq(unlink(f.db), 0);
    cr_assert_eq(sqlite3_open(f.db, &db), SQLITE_OK);
    cr_assert_eq(
        sqlite3_exec(db, "CREATE TABLE recipe(x); PRAGMA user_version=1", NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
    expect_refused(f.db, ST_OUTPUT, "another program");
    expect(&f, "SELECT name FROM sqlite_schema", "recipe");
    folder_remove(&f);
}

/* Makes the run's log large: n more spans of the first job. */
static void grow(struct made_run *m, size_t n)
{
    struct run_log *l = &m->result.log;
    cr_assert(ARRAY_GROW(l->span, l->span_capacity, l->n_spans + n));
    for (size_t i = 0; i < n; i++)
        l->span[l->n_spans++] = (struct span){
            (int64_t)i * 1000000, (int64_t)i * 1000000 + 500000, 0, 0, 0, 1, 1, SPAN_RUN};
}

Test(store, on_a_full_disk_nothing_of_the_run_is_stored_and_earlier_ones_stay)
{
    struct folder f = folder_make();
    struct made_run m;
    struct store s;
    struct stat info;
    char name[128];
    made_run(&m);
    cr_assert_eq(store_one(f.db, &m, name, &m.err), ST_OK);
    cr_assert_eq(stat(f.db, &info), 0);
    grow(&m, 100000); /* some 3 MB */

    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit, small;
    getrlimit(RLIMIT_FSIZE, &limit);
    small = limit;
    small.rlim_cur = (rlim_t)info.st_size + 65536;
    setrlimit(RLIMIT_FSIZE, &small);
    strcpy(name, "as it was");
    cr_assert_eq(store_open(&s, f.db, &m.err), ST_OK);
    enum status status = store_run(&s, &m.request, &m.result, name, &m.err);
    setrlimit(RLIMIT_FSIZE, &limit);
    cr_assert_eq(status, ST_OUTPUT);
    cr_assert(strncmp(m.err.text, f.db, strlen(f.db)) == 0, "%s", m.err.text);
    cr_assert_not_null(strstr(m.err.text, "File too large"), "%s", m.err.text);
    cr_assert_str_eq(name, "as it was");
    expect(&f, "PRAGMA integrity_check", "ok");
    expect(&f, "SELECT count(*), (SELECT count(*) FROM job), (SELECT count(*) FROM span) FROM run",
           "1|6|5");

    cr_assert_eq(store_run(&s, &m.request, &m.result, name, &m.err), ST_OK, "with room it goes on");
    store_close(&s);
    expect(&f, "SELECT count(*), (SELECT count(*) FROM span) FROM run", "2|100010");
    made_run_free(&m);
    folder_remove(&f);
}

Test(store, a_device_without_space_is_told_in_words)
{
    struct folder f = folder_make();
    struct made_run m;
    struct store s;
    char name[128];
    made_run(&m);
    cr_assert_eq(store_open(&s, f.db, &m.err), ST_OK);
    cr_assert_eq(sqlite3_exec(s.db, "PRAGMA max_page_count=12", NULL, NULL, NULL), SQLITE_OK);
    grow(&m, 100000);
    cr_assert_eq(store_run(&s, &m.request, &m.result, name, &m.err), ST_OUTPUT);
    cr_assert_not_null(strstr(m.err.text, "no space left on the device"), "%s", m.err.text);
    store_close(&s);
    made_run_free(&m);
    folder_remove(&f);
}

Test(store, eight_processes_on_a_new_file_wait_for_each_other)
{
    struct folder f = folder_make();
    struct made_run m;
    int start[2], code = 0;
    char name[128], byte;
    made_run(&m);
    grow(&m, 20000);
    cr_assert_eq(pipe(start), 0);
    for (int i = 0; i < 8; i++) {
        if (fork() != 0)
            continue;
        close(start[1]);
        m.request.run.seed = i;
        if (read(start[0], &byte, 1) != 0) /* the parent closes it: all start together */
            _exit(9);
        enum status status = store_one(f.db, &m, name, &m.err);
        if (status != ST_OK)
            fprintf(stderr, "%s\n", m.err.text);
        _exit(status);
    }
    close(start[0]);
    close(start[1]);
    for (int i = 0; i < 8; i++) {
        cr_assert(wait(&code) > 0);
        cr_assert(WIFEXITED(code) && WEXITSTATUS(code) == 0, "status %x", (unsigned)code);
    }
    expect(&f, "SELECT count(*), count(DISTINCT name), min(status) FROM run", "8|8|complete");
    expect(&f, "SELECT count(*) FROM job", "48");
    expect(&f, "SELECT count(*) FROM span", "160040");
    expect(&f, "PRAGMA integrity_check", "ok");
    made_run_free(&m);
    folder_remove(&f);
}

Test(store, a_writer_that_died_half_way_leaves_no_trace)
{
    struct folder f = folder_make();
    struct made_run m;
    struct store s;
    char name[128], answer[4096];
    int code = 0;
    made_run(&m);
    cr_assert_eq(store_one(f.db, &m, name, &m.err), ST_OK);
    if (fork() == 0) {
        sqlite3 *db = NULL;
        sqlite3_open(f.db, &db);
        sqlite3_exec(db,
                     "PRAGMA cache_size=4; BEGIN IMMEDIATE;"
                     "UPDATE job SET priority = 9; UPDATE metric SET value = 9;"
                     "WITH n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
                     " INSERT INTO event SELECT 1, i, 0, 'x', 0, 'half written' FROM n;",
                     NULL, NULL, NULL);
        _exit(0);
    }
    cr_assert(wait(&code) > 0 && code == 0);
    cr_assert_eq(folder_count(&f), 2, "its journal is there");
    cr_assert_eq(store_open_read(&s, f.db, &m.err), ST_OK, "%s", m.err.text);
    cr_assert_str_eq(
        ask(s.db, "SELECT max(priority), (SELECT count(*) FROM event) FROM job", answer), "0|2");
    store_close(&s);
    made_run_free(&m);
    folder_remove(&f);
}

Test(store, where_files_cannot_be_locked_the_run_goes_to_a_side_file_and_that_is_said)
{
    struct folder f = folder_make();
    struct made_run m;
    struct store s;
    char name[128], side[320], answer[4096];
    made_run(&m);
    refuse_locks = true;
    cr_assert_eq(store_open(&s, f.db, &m.err), ST_OK, "%s", m.err.text);
    snprintf(side, sizeof side, "%s.side-%ld", f.db, (long)getpid());
    cr_assert_not_null(s.note);
    cr_assert_not_null(strstr(s.note, "cannot lock files; results go to "), "%s", s.note);
    cr_assert_str_eq(s.path, side);
    cr_assert_eq(store_run(&s, &m.request, &m.result, name, &m.err), ST_OK, "%s", m.err.text);
    store_close(&s);
    refuse_locks = false;
    cr_assert_str_eq(ask_file(side, "SELECT count(*) FROM job", answer), "6");
    made_run_free(&m);
    folder_remove(&f);
}
