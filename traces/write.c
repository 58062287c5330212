#include "traces/trace.h"

#include "core/base/units.h"
#include "traces/native.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { FILE_BUFFER = 1 << 18 };

/* Task k of the table as the row that reads back as it. */
static struct native_row row_of(const struct job_table *t, int32_t k)
{
    int32_t job = t->task_job[k];
    struct native_row r = {
        .row = {.submit_us = t->submit_us[job],
                .duration_us = t->duration_us[k],
                .n_inst = t->n_inst[k],
                .gpu_milli = t->gpu_milli[k],
                .cpu_milli = t->cpu_milli[k],
                .mem_mib = t->mem_mib[k],
                .gpu_mem_mib = t->gpu_mem_mib[k],
                .gpu_type = t->gpu_type[k],
                .task = t->task_name[k],
                .user = t->user[job],
                .group = t->group[job],
                .queue = t->queue[job],
                .workload = t->workload[job],
                .config = t->config[job],
                .gpu_min = t->gpu_min[job],
                .gpu_max = t->gpu_max[job],
                .priority = t->priority[job],
                .min_rate_frac = t->min_rate_frac[job]},
        .job = {names_text(&t->job_names, job), names_length(&t->job_names, job)},
        .kind = t->kind[job],
    };
    memcpy(r.row.hint_us, t->hint_us[job], sizeof r.row.hint_us);
    return r;
}

/* The value of a number column, in our unit. */
static double number_at(const struct column *c, const void *at)
{
    switch (c->type) {
    case COLUMN_DATE:
    case COLUMN_US: return (double)*(const int64_t *)at;
    case COLUMN_REAL: return *(const double *)at;
    case COLUMN_WHOLE:
    case COLUMN_MILLI:
    case COLUMN_GIB:
    case COLUMN_NAME:
    case COLUMN_WORD: return *(const int *)at;
    case COLUMN_TEXT:
    case COLUMN_UNUSED: break;
    }
    return 0;
}

static const void *field_at(const struct native_row *r, const struct column *c)
{
    return (const char *)r + c->offset;
}

/* Which columns say something that an absent column does not say: bit i for column i. */
static uint32_t columns_used(const struct job_table *t)
{
    const struct native_row empty = native_row_empty();
    uint32_t used = 0;
    for (int i = 0; native_columns[i].header != NULL; i++)
        used |= native_columns[i].required ? UINT32_C(1) << i : 0;
    for (int32_t k = 0; k < t->n_tasks; k++) {
        struct native_row r = row_of(t, k);
        for (int i = 0; native_columns[i].header != NULL; i++) {
            const struct column *c = &native_columns[i];
            double value = number_at(c, field_at(&r, c)), none = number_at(c, field_at(&empty, c));
            used |=
                value < none || value > none || isnan(value) != isnan(none) ? UINT32_C(1) << i : 0;
        }
    }
    return used;
}

static void write_text(const char *text, size_t n, FILE *to)
{
    bool quoted = false;
    for (size_t i = 0; i < n && !quoted; i++)
        quoted = strchr(",\"\r\n", text[i]) != NULL && text[i] != '\0';
    if (!quoted) {
        fwrite(text, 1, n, to);
        return;
    }
    fputc('"', to);
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"')
            fputc('"', to);
        fputc(text[i], to);
    }
    fputc('"', to);
}

/* One field; nothing where the value is one that only an empty field can say. */
static void write_field(const struct native_row *r, const struct column *c,
                        const struct names *names, FILE *to)
{
    const void *at = field_at(r, c);
    char number[32];
    int32_t id;
    double value = number_at(c, at);
    bool legal = value >= c->lo && value <= c->hi;
    switch (c->type) {
    case COLUMN_TEXT:
        write_text(((const struct field *)at)->text, ((const struct field *)at)->length, to);
        break;
    case COLUMN_NAME:
        id = *(const int32_t *)at;
        if (id >= 0)
            write_text(names_text(names, id), names_length(names, id), to);
        break;
    case COLUMN_WORD:
        if (value > 0)
            fputs(c->words[*(const int *)at], to);
        break;
    case COLUMN_DATE: /* as seconds, which is what it was read into */
    case COLUMN_US:
        if (legal)
            fputs(format_us(*(const int64_t *)at, number), to);
        break;
    case COLUMN_MILLI:
        if (legal)
            fputs(format_us(*(const int32_t *)at * INT64_C(1000), number), to);
        break;
    case COLUMN_WHOLE:
    case COLUMN_GIB:
        if (legal)
            fprintf(to, "%" PRId32, *(const int32_t *)at);
        break;
    case COLUMN_REAL:
        if (legal)
            fputs(format_real(value, number), to);
        break;
    case COLUMN_UNUSED: break;
    }
}

static void write_rows(const struct job_table *t, FILE *to)
{
    uint32_t used = columns_used(t);
    for (int i = 0; native_columns[i].header != NULL; i++)
        if (used >> i & 1)
            fprintf(to, "%s%s", i > 0 ? "," : "", native_columns[i].header);
    fputc('\n', to);
    for (int32_t k = 0; k < t->n_tasks && !ferror(to); k++) {
        struct native_row r = row_of(t, k);
        for (int i = 0; native_columns[i].header != NULL; i++) {
            if (!(used >> i & 1))
                continue;
            if (i > 0)
                fputc(',', to);
            write_field(&r, &native_columns[i], &t->names, to);
        }
        fputc('\n', to);
    }
}

static ssize_t gzip_write(void *gz, const char *bytes, size_t n)
{
    int written = gzwrite(gz, bytes, (unsigned)n);
    return written > 0 ? written : 0;
}

static int gzip_close(void *gz) { return gzclose(gz) == Z_OK ? 0 : EOF; }

/* Takes fd in any case. */
static FILE *open_stream(int fd, bool gzip)
{
    if (!gzip) {
        FILE *plain = fdopen(fd, "wb");
        if (plain == NULL)
            close(fd);
        return plain;
    }
    gzFile gz = gzdopen(fd, "wb");
    if (gz == NULL) {
        close(fd);
        return NULL;
    }
    FILE *file =
        fopencookie(gz, "wb", (cookie_io_functions_t){.write = gzip_write, .close = gzip_close});
    if (file == NULL)
        gzclose(gz);
    return file;
}

static enum status write_stream(const struct job_table *t, int fd, const char *path,
                                struct error *err)
{
    size_t n = strlen(path);
    FILE *to = open_stream(fd, n > 3 && strcmp(path + n - 3, ".gz") == 0);
    if (to == NULL)
        return fail_memory(err);
    setvbuf(to, NULL, _IOFBF, FILE_BUFFER);
    errno = 0;
    write_rows(t, to);
    bool failed = fflush(to) != 0 || ferror(to);
    int why = errno;
    if (fclose(to) != 0 && !failed) {
        failed = true;
        why = errno;
    }
    return failed ? fail(err, ST_OUTPUT, "%s: %s", path, why ? strerror(why) : "write failed")
                  : ST_OK;
}

static enum status write_stdout(const struct job_table *t, struct error *err)
{
    write_rows(t, stdout);
    if (fflush(stdout) != 0 || ferror(stdout))
        return fail(err, ST_OUTPUT, "standard output: %s", strerror(errno));
    return ST_OK;
}

/* Beside the target, then in its place: nobody ever sees half a file there. */
static enum status write_replacing(const struct job_table *t, const char *path, const char *target,
                                   struct error *err)
{
    char *temp;
    if (asprintf(&temp, "%s.%ld.tmp", target, (long)getpid()) < 0)
        return fail_memory(err);
    int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    enum status status = fd < 0 ? fail(err, ST_OUTPUT, "%s: %s", path, strerror(errno))
                                : write_stream(t, fd, path, err);
    if (status == ST_OK && rename(temp, target) != 0)
        status = fail(err, ST_OUTPUT, "%s: %s", path, strerror(errno));
    if (status != ST_OK && fd >= 0)
        unlink(temp);
    free(temp);
    return status;
}

enum status trace_write(const struct job_table *t, const char *path, struct error *err)
{
    struct stat what;
    if (strcmp(path, "-") == 0)
        return write_stdout(t, err);
    if (stat(path, &what) != 0)
        return write_replacing(t, path, path, err);
    if (!S_ISREG(what.st_mode)) { /* a pipe or a device is not to be replaced */
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        return fd < 0 ? fail(err, ST_OUTPUT, "%s: %s", path, strerror(errno))
                      : write_stream(t, fd, path, err);
    }
    char *target = realpath(path, NULL); /* the file itself where path is a link to it */
    if (target == NULL)
        return fail(err, ST_OUTPUT, "%s: %s", path, strerror(errno));
    enum status status = write_replacing(t, path, target, err);
    free(target);
    return status;
}
