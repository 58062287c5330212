#include "sim/results/figure.h"

#include "core/base/units.h"
#include "sim/results/lanes.h"
#include "sim/results/quantile.h"
#include "sim/run/metrics.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* What was written to the data file. */
struct series {
    int n;
    char *name[FIGURE_SERIES_MAX + 1]; /* (n) owned */
    int64_t n_rows[FIGURE_SERIES_MAX + 1];
};

static void series_free(struct series *s)
{
    for (int i = 0; i < s->n; i++)
        free(s->name[i]);
    *s = (struct series){0};
}

static enum status query_failed(sqlite3 *db, struct error *err)
{
    if (sqlite3_errcode(db) == SQLITE_NOMEM)
        return fail_memory(err);
    return fail(err, ST_OUTPUT, "the figure's points: %s", sqlite3_errmsg(db));
}

/* More is better: +1; everything else as if less were. */
static int direction(const char *metric)
{
    int i = metric != NULL ? metric_find(metric) : -1;
    return i >= 0 && metric_infos[i].better > 0 ? 1 : -1;
}

static enum status prepare(const struct figure_request *q, sqlite3_stmt **row, struct error *err)
{
    if (quantile_register(q->db) != SQLITE_OK || lanes_register(q->db) != SQLITE_OK ||
        sqlite3_prepare_v2(q->db, q->figure->sql, -1, row, NULL) != SQLITE_OK)
        return query_failed(q->db, err);
    int n = sqlite3_bind_parameter_count(*row);
    if ((n >= 1 && sqlite3_bind_text(*row, 1, q->runs, -1, SQLITE_STATIC) != SQLITE_OK) ||
        (n >= 2 && sqlite3_bind_text(*row, 2, q->metric_x, -1, SQLITE_STATIC) != SQLITE_OK) ||
        (n >= 3 && sqlite3_bind_text(*row, 3, q->metric_y, -1, SQLITE_STATIC) != SQLITE_OK) ||
        (n >= 4 && sqlite3_bind_int(*row, 4, direction(q->metric_x)) != SQLITE_OK) ||
        (n >= 5 && sqlite3_bind_int(*row, 5, direction(q->metric_y)) != SQLITE_OK))
        return query_failed(q->db, err);
    return ST_OK;
}

/* The next series begins where the name changes. */
static enum status count_row(struct series *s, const char *name, FILE *to, struct error *err)
{
    if (s->n == 0 || strcmp(s->name[s->n - 1], name) != 0) {
        if (s->n == FIGURE_SERIES_MAX + 1)
            return fail(err, ST_USAGE, "more than %d lines in one figure: choose runs with --run",
                        FIGURE_SERIES_MAX);
        s->name[s->n] = strdup(name);
        if (s->name[s->n] == NULL)
            return fail_memory(err);
        s->n_rows[s->n] = 0;
        fprintf(to, "%s# %s\n", s->n > 0 ? "\n\n" : "", name);
        s->n++;
    }
    s->n_rows[s->n - 1]++;
    return ST_OK;
}

/* Quoted for gnuplot's data, where a quote is doubled. */
static void print_quoted(FILE *to, const char *text)
{
    fputc('"', to);
    for (text = text != NULL ? text : ""; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', to);
        fputc((unsigned char)*text < ' ' ? '?' : *text, to);
    }
    fputc('"', to);
}

static void print_row(FILE *to, sqlite3_stmt *row)
{
    char number[32];
    for (int i = 1; i < sqlite3_column_count(row); i++) {
        if (i > 1)
            fputc(' ', to);
        if (sqlite3_column_type(row, i) == SQLITE_TEXT)
            print_quoted(to, (const char *)sqlite3_column_text(row, i));
        else
            fputs(sqlite3_column_type(row, i) == SQLITE_NULL
                      ? "NaN"
                      : format_real(sqlite3_column_double(row, i), number),
                  to);
    }
    fputc('\n', to);
}

static enum status write_rows(const struct figure_request *q, FILE *to, struct series *s,
                              struct error *err)
{
    sqlite3_stmt *row = NULL;
    enum status status = prepare(q, &row, err);
    int code = SQLITE_DONE;
    while (status == ST_OK && (code = sqlite3_step(row)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(row, 0);
        status = count_row(s, name != NULL ? name : "", to, err);
        if (status == ST_OK)
            print_row(to, row);
    }
    if (status == ST_OK && code != SQLITE_DONE)
        status = query_failed(q->db, err);
    sqlite3_finalize(row);
    if (status == ST_OK && s->n == 0)
        status = fail(err, ST_INPUT, "figure %s: nothing to draw: %s", q->figure->name,
                      q->figure->summary);
    return status;
}

/* 'text' for the script, where a quote is doubled. */
static void print_literal(FILE *to, const char *text)
{
    fputc('\'', to);
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputc('\'', to);
        fputc((unsigned char)*text < ' ' ? '?' : *text, to);
    }
    fputs("'\n", to);
}

static void print_terminal(FILE *to, const char *path, double tall)
{
    static const char common[] = "noenhanced font 'Helvetica";
    const char *dot = strrchr(path, '.');
    if (strcmp(dot, ".svg") == 0)
        fprintf(to, "set terminal svg size 900,%.0f %s,15' background '#ffffff'\n", 560 * tall,
                common);
    else if (strcmp(dot, ".png") == 0)
        fprintf(to, "set terminal pngcairo size 1350,%.0f %s,17' linewidth 1.5\n", 840 * tall,
                common);
    else
        fprintf(to, "set terminal pdfcairo size 6.5in,%.2fin %s,11'\n", 4.05 * tall, common);
}

/* A mark about every twelfth of a line. */
static void print_styles(FILE *to, const struct series *s)
{
    int i = 0;
#define X(colour_, dash_, mark_)                                                                   \
    fprintf(to,                                                                                    \
            "set style line %d linecolor rgb '%s' dashtype %s linewidth 2 pointtype %d "           \
            "pointsize 0.9 pointinterval %lld\n",                                                  \
            i + 1, colour_, dash_, mark_,                                                          \
            i < s->n && s->n_rows[i] > 24 ? (long long)(s->n_rows[i] / 12) : 1LL);                 \
    i++;
    PALETTE(X)
#undef X
    fprintf(to, "array fill[%d] = [", N_PALETTE);
#define X(colour_, dash_, mark_) "'" colour_ "', "
    fputs(PALETTE(X) "]\n", to);
#undef X
}

/* variable = 'name (unit)', and what it is on a second line. */
static void print_metric(FILE *to, const char *variable, const char *metric)
{
    int i = metric != NULL ? metric_find(metric) : -1;
    if (metric == NULL)
        return;
    fprintf(to, "%s = ", variable);
    print_literal(to, metric);
    if (i < 0)
        return;
    if (strcmp(metric_infos[i].unit, "1") != 0) /* no pure number */
        fprintf(to, "%s = %s . ' (%s)'\n", variable, variable, metric_infos[i].unit);
    fprintf(to, "%s = %s . \"\\n\" . ", variable, variable);
    print_literal(to, metric_infos[i].doc);
}

static void write_script(const struct figure_request *q, FILE *to, const char *data,
                         const struct series *s)
{
    fputs("# made by colosim plot; gnuplot THIS-FILE draws it again\n", to);
    print_terminal(to, q->path, q->figure->tall > 0 ? q->figure->tall : 1);
    fputs("if (!exists('out')) out = ", to);
    print_literal(to, q->path);
    fputs("set output out\ndata = ", to);
    print_literal(to, data);
    fprintf(to, "n = %d\narray name[%d]\n", s->n, s->n);
    for (int i = 0; i < s->n; i++) {
        fprintf(to, "name[%d] = ", i + 1);
        print_literal(to, s->name[i]);
    }
    print_styles(to, s);
    print_metric(to, "metric_x", q->metric_x);
    print_metric(to, "metric_y", q->metric_y);
    fputs("set border 3 linecolor rgb '#404040'\nset tics nomirror textcolor rgb '#202020'\n"
          "set grid linecolor rgb '#dddddd' linetype 1 linewidth 0.5\n"
          "set key outside top center horizontal samplen 4 spacing 1.2 noenhanced\n",
          to);
    if (q->title != NULL) {
        fputs("set title ", to);
        print_literal(to, q->title);
    }
    fputs(q->figure->draw, to);
}

/* The files beside the figure. */
struct beside {
    char *data, *script, *part;
};

/* Runs gnuplot on the script; ST_HELPER where it cannot be started or fails. */
static enum status run_gnuplot(const struct beside *b, struct error *err)
{
    char program[] = "gnuplot", option[] = "-e", *where = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&where, &size);
    if (to == NULL)
        return fail_memory(err);
    fputs("out = ", to);
    print_literal(to, b->part);
    bool whole = ferror(to) == 0;
    if (fclose(to) != 0 || !whole) {
        free(where);
        return fail_memory(err);
    }
    char *argv[] = {program, option, where, b->script, NULL};
    pid_t child;
    int code = posix_spawnp(&child, program, NULL, NULL, argv, environ), wait_status = 0;
    free(where);
    if (code != 0)
        return fail(err, ST_HELPER, "gnuplot cannot be started: %s", strerror(code));
    while (waitpid(child, &wait_status, 0) < 0)
        if (errno != EINTR)
            return fail(err, ST_HELPER, "gnuplot: %s", strerror(errno));
    if (!WIFEXITED(wait_status) || WEXITSTATUS(wait_status) != 0)
        return fail(err, ST_HELPER, "gnuplot failed");
    return ST_OK;
}

static enum status put_in_place(const char *part, const char *path, struct error *err)
{
    struct stat there;
    if (stat(part, &there) != 0 || there.st_size == 0)
        return fail(err, ST_OUTPUT, "%s: gnuplot did not write it", path);
    return rename(part, path) == 0 ? ST_OK : fail(err, ST_OUTPUT, "%s: %s", path, strerror(errno));
}

static enum status write_files(const struct figure_request *q, const struct beside *b,
                               struct error *err)
{
    struct series s = {0};
    struct output out;
    enum status status = ST_OK;
    TRY(output_open(&out, b->data, err));
    status = output_close(&out, write_rows(q, out.file, &s, err), err);
    if (status == ST_OK)
        status = output_open(&out, b->script, err);
    if (status == ST_OK) {
        write_script(q, out.file, b->data, &s);
        status = output_close(&out, ST_OK, err);
    }
    series_free(&s);
    return status;
}

/* Draws at a path that begins with a slash or a point. */
static enum status draw(const struct figure_request *q, struct error *err)
{
    struct beside b = {0};
    enum status status = ST_OK;
    if (asprintf(&b.data, "%s.dat", q->path) < 0 || asprintf(&b.script, "%s.gp", q->path) < 0 ||
        asprintf(&b.part, "%s.part", q->path) < 0) {
        status = fail_memory(err);
        goto out;
    }
    TRY_OUT(write_files(q, &b, err));
    status = run_gnuplot(&b, err);
    if (status == ST_OK)
        status = put_in_place(b.part, q->path, err);
    if (status != ST_OK) {
        unlink(b.part);
        fail_in(err, "%s (the data is in %s, the script in %s)", q->path, b.data, b.script);
    } else if (!q->keep) {
        unlink(b.data);
        unlink(b.script);
    }
out:
    free(b.data);
    free(b.script);
    free(b.part);
    return status;
}

/* gnuplot takes a name that begins with '<' or '|' for a command, and one with '-' for an option.
 */
enum status figure_make(const struct figure_request *q, struct error *err)
{
    struct figure_request plain = *q;
    char *path = NULL;
    if (asprintf(&path, "%s%s", q->path[0] == '/' ? "" : "./", q->path) < 0)
        return fail_memory(err);
    plain.path = path;
    enum status status = draw(&plain, err);
    free(path);
    return status;
}
