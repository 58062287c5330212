/* trace_files.h - files, folders and gzip for the tests of traces/, and traces read from them. */
#ifndef COLOSIM_TESTS_TRACE_FILES_H
#define COLOSIM_TESTS_TRACE_FILES_H

#include "tests/temp.h"
#include "traces/trace.h"

#include <dirent.h>
#include <zlib.h>

/* One gzip member; *n is its size. The caller frees it. */
static inline unsigned char *gzip_of(const void *bytes, size_t size, size_t *n)
{
    z_stream z = {0};
    unsigned char *out = malloc(size + 1000);
    cr_assert_eq(deflateInit2(&z, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)bytes;
    z.avail_in = (unsigned)size;
    z.next_out = out;
    z.avail_out = (unsigned)size + 1000;
    cr_assert_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    *n = z.total_out;
    deflateEnd(&z);
    return out;
}

static inline struct temp_file temp_gzip(const char *suffix, const char *text)
{
    size_t n;
    unsigned char *bytes = gzip_of(text, strlen(text), &n);
    struct temp_file t = temp_file(suffix, bytes, n);
    free(bytes);
    return t;
}

/* A folder for files with names of their own. */
struct temp_folder {
    char path[200], file[512];
};

static inline struct temp_folder temp_folder(void)
{
    struct temp_folder f;
    const char *folder = getenv("TMPDIR");
    snprintf(f.path, sizeof f.path, "%s/colosim-test-XXXXXX", folder ? folder : P_tmpdir);
    cr_assert_not_null(mkdtemp(f.path));
    return f;
}

/* The path of a name in it, borrowed until the next call. */
static inline const char *folder_path(struct temp_folder *f, const char *name)
{
    snprintf(f->file, sizeof f->file, "%s/%s", f->path, name);
    return f->file;
}

static inline void folder_file(struct temp_folder *f, const char *name, const void *bytes, size_t n)
{
    FILE *file = fopen(folder_path(f, name), "wb");
    cr_assert_not_null(file, "%s", f->file);
    cr_assert_eq(fwrite(bytes, 1, n, file), n);
    cr_assert_eq(fclose(file), 0);
}

static inline void folder_text(struct temp_folder *f, const char *name, const char *text)
{
    folder_file(f, name, text, strlen(text));
}

/* Names in it that are not hidden by being . and .. */
static inline int folder_count(const struct temp_folder *f)
{
    int n = 0;
    DIR *dir = opendir(f->path);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return n;
}

static inline void folder_remove(struct temp_folder *f)
{
    DIR *dir = opendir(f->path);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            cr_assert_eq(remove(folder_path(f, entry->d_name)), 0, "%s", f->file);
    closedir(dir);
    cr_assert_eq(rmdir(f->path), 0);
}

static inline enum status read_path(const char *path, struct trace_options o, struct trace *t,
                                    struct error *err)
{
    o.paths = &path;
    o.n_paths = 1;
    return trace_read(&o, t, err);
}

/* The text as a trace. */
static inline struct trace read_text(const char *text, struct trace_options o)
{
    struct temp_file f = temp_text(".csv", text);
    struct trace t;
    struct error err = {{0}};
    cr_assert_eq(read_path(f.path, o, &t, &err), ST_OK, "%s", err.text);
    temp_remove(&f);
    return t;
}

/* The text is refused, and the message holds both words. */
static inline void refuse_text(const char *text, struct trace_options o, enum status status,
                               const char *word, const char *other)
{
    struct temp_file f = temp_text(".csv", text);
    struct trace t;
    struct error err = {{0}};
    cr_assert_eq(read_path(f.path, o, &t, &err), status, "%s -> %s", text, err.text);
    cr_assert(strstr(err.text, word) != NULL && strstr(err.text, other) != NULL,
              "'%s' lacks '%s' or '%s'", err.text, word, other);
    temp_remove(&f);
    trace_free(&t);
}

/* Rows are kept, dropped, repeated or kept apart; reasons sum up to what was dropped. */
static inline bool account_adds_up(const struct import_report *r)
{
    int64_t n = 0;
    for (size_t i = 0; i < r->n_reasons; i++)
        n += r->reason[i].n;
    return r->n_rows == r->n_kept + r->n_dropped + r->n_duplicates + r->n_apart &&
           n == r->n_dropped;
}

static inline bool has_note(const struct import_report *r, const char *words)
{
    for (size_t i = 0; i < r->n_notes; i++)
        if (strstr(r->note[i], words) != NULL)
            return true;
    return false;
}

static inline const char *name_of(const struct trace *t, int32_t id)
{
    return id < 0 ? "" : names_text(&t->jobs.names, id);
}

static inline int32_t job_of(const struct trace *t, const char *name)
{
    int32_t job = names_find(&t->jobs.job_names, name, strlen(name));
    cr_assert(job >= 0, "no job %s", name);
    return job;
}

/* Everything a trace says, as text; jobs in order, names in words. The caller frees it. */
static inline char *trace_said(const struct trace *t)
{
    char *text;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    const struct job_table *j = &t->jobs;
    for (int32_t k = 0; k < j->n_tasks; k++) {
        int32_t job = j->task_job[k];
        fwrite(names_text(&j->job_names, job), 1, names_length(&j->job_names, job), to);
        fprintf(to, "|%s|%ld|%ld|%d|%d|%d|%d|%d|%s", name_of(t, j->task_name[k]),
                (long)j->submit_us[job], (long)j->duration_us[k], j->n_inst[k], j->gpu_milli[k],
                j->cpu_milli[k], j->mem_mib[k], j->gpu_mem_mib[k], name_of(t, j->gpu_type[k]));
        fprintf(to, "|%d|%d|%d|%d|%.17g|%s|%s|%s", j->gpu_min[job], j->gpu_max[job],
                j->priority[job], j->kind[job],
                isnan(j->min_rate_frac[job]) ? -1 : j->min_rate_frac[job],
                name_of(t, j->workload[job]), name_of(t, j->config[job]), name_of(t, j->user[job]));
        fprintf(to, "|%s|%s|%ld|%ld|%ld\n", name_of(t, j->group[job]), name_of(t, j->queue[job]),
                (long)j->hint_us[job][0], (long)j->hint_us[job][1], (long)j->hint_us[job][2]);
    }
    fclose(to);
    return text;
}

/* Written as a native trace and read again it says the same. */
static inline void round_trip(const struct trace *t)
{
    struct temp_file f = temp_text(".csv", "");
    struct trace again;
    struct error err = {{0}};
    cr_assert_eq(trace_write(&t->jobs, f.path, &err), ST_OK, "%s", err.text);
    cr_assert_eq(read_path(f.path, (struct trace_options){.format = "native"}, &again, &err), ST_OK,
                 "%s", err.text);
    char *before = trace_said(t), *after = trace_said(&again);
    cr_assert_str_eq(after, before);
    cr_assert_eq(again.report.n_dropped, 0);
    free(before);
    free(after);
    trace_free(&again);
    temp_remove(&f);
}

/* How often a reason was given. */
static inline int64_t dropped_for(const struct import_report *r, const char *reason)
{
    for (size_t i = 0; i < r->n_reasons; i++)
        if (strcmp(r->reason[i].text, reason) == 0)
            return r->reason[i].n;
    return 0;
}

#endif
