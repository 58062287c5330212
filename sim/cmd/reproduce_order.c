/* What the paper's tables 4, 5 and 8 and section 5.6 say of direction and order, sizes apart, and
 * whether ours say the same. A statement is held where the 95 % interval of the mean logarithm of
 * its factor, over seeds, is on the paper's side of 1, contrary where it is on the other, and open
 * where it holds 1. */
#include "sim/cmd/reproduce.h"

#include "core/base/units.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The number of row `more` is above that of row `less`; NULL: 1. Where both are NULL, the numbers
 * of all rows change with the size of the cluster in this direction. */
struct statement {
    const char *table, *column, *more, *less;
    int trend;
};

// clang-format off
#define SYSTEMS(column, first, second, third) \
    {"table4", column, first, second, 0}, {"table4", column, second, third, 0}
#define PARTS_ADD(column) \
    {"table5", column, "without rst", "elastico", 0}, {"table5", column, "without esp", "elastico", 0}, \
    {"table5", column, "without pds", "elastico", 0}, {"table5", column, "without iac", "elastico", 0}, \
    {"table5", column, "without rst", "without esp", 0}, {"table5", column, "without esp", "without pds", 0}, \
    {"table5", column, "without pds", "without iac", 0}
#define PARTS_TAKE(column) \
    {"table5", column, "elastico", "without rst", 0}, {"table5", column, "elastico", "without esp", 0}, \
    {"table5", column, "elastico", "without pds", 0}, {"table5", column, "elastico", "without iac", 0}, \
    {"table5", column, "without esp", "without rst", 0}, {"table5", column, "without pds", "without esp", 0}, \
    {"table5", column, "without iac", "without pds", 0}
#define SIZE(gpus) \
    {"table8", "mean JCT", NULL, gpus, 0}, {"table8", "throughput", gpus, NULL, 0}

static const struct statement statements[] = {
    SYSTEMS("mean JCT", "volcano", "lucid", "elastico"),
    SYSTEMS("throughput", "elastico", "lucid", "volcano"),
    SYSTEMS("SM utilisation %", "elastico", "lucid", "volcano"),
    PARTS_ADD("mean JCT"),
    PARTS_TAKE("throughput"),
    PARTS_TAKE("GPU memory %"),
    PARTS_TAKE("SM utilisation %"),
    {"load", "JCT improvement", "elastico, 100 %", NULL, 0},
    {"load", "JCT improvement", "elastico, 150 %", NULL, 0},
    {"load", "JCT improvement", "elastico, 100 %", "elastico, 50 %", 0},
    {"load", "JCT improvement", "elastico, 150 %", "elastico, 100 %", 0},
    SIZE("64 GPUs"), SIZE("128 GPUs"), SIZE("256 GPUs"), SIZE("512 GPUs"),
    {"table8", "mean JCT", NULL, NULL, 1},
    {"table8", "throughput", NULL, NULL, -1},
    {"table8", "SM utilisation %", NULL, NULL, -1},
};
// clang-format on
enum { N_STATEMENTS = sizeof statements / sizeof statements[0] };
static const char *const order_tables[] = {"table4", "table5", "load", "table8"};
enum { N_TABLES = sizeof order_tables / sizeof order_tables[0] };

enum verdict { HELD, OPEN, CONTRARY, N_VERDICTS };
static const char *const verdict_names[N_VERDICTS] = {"held", "open", "contrary"};

struct judged {
    double factor, lo, hi; /* above 1: as the paper says */
    enum verdict verdict;
};

static const struct paper_table *table_of(const char *name)
{
    const struct paper_table *t = paper_tables;
    while (strcmp(t->name, name) != 0)
        t++;
    return t;
}

static int row_of(const struct paper_table *t, const char *name)
{
    int row = 0;
    while (strcmp(t->row[row].name, name) != 0)
        row++;
    assert(row < t->n_rows);
    return row;
}

static int column_of(const struct paper_table *t, const char *name)
{
    int column = 0;
    while (strcmp(t->column[column].name, name) != 0)
        column++;
    assert(column < t->n_columns);
    return column;
}

static bool left_out(const struct reproduction *r, const struct statement *s)
{
    const struct paper_table *t = table_of(s->table);
    return (s->more != NULL && paper_left_out(r, &t->row[row_of(t, s->more)])) ||
           (s->less != NULL && paper_left_out(r, &t->row[row_of(t, s->less)]));
}

/* Adds sign times the logarithm of a row's numbers. */
static void add_row(const struct reproduction *r, const struct statement *s, const char *row,
                    int world, double sign, double *scratch, double *out)
{
    const struct paper_table *t = table_of(s->table);
    if (row == NULL)
        return;
    paper_values(r, t, row_of(t, row), column_of(t, s->column), world, scratch);
    for (int k = 0; k < r->n_seeds; k++)
        out[k] += sign * log(scratch[k]);
}

/* Adds the slope of the logarithm of each seed's numbers over doublings of the cluster. */
static void add_slopes(const struct reproduction *r, const struct statement *s, int world,
                       double *scratch, double *out)
{
    const struct paper_table *t = table_of(s->table);
    int column = column_of(t, s->column), n = 0;
    double mean = 0, squares = 0;
    for (int i = 0; i < t->n_rows && !paper_left_out(r, &t->row[i]); i++, n++)
        mean += log2(t->row[i].nodes);
    mean /= n;
    for (int i = 0; i < n; i++)
        squares += pow(log2(t->row[i].nodes) - mean, 2);
    for (int i = 0; i < n; i++) {
        double weight = (log2(t->row[i].nodes) - mean) / squares;
        paper_values(r, t, i, column, world, scratch);
        for (int k = 0; k < r->n_seeds; k++)
            out[k] += s->trend * weight * log(scratch[k]);
    }
}

/* scratch (2 n_seeds) */
static struct judged judge(const struct reproduction *r, const struct statement *s, int world,
                           double *scratch)
{
    size_t n = (size_t)r->n_seeds;
    double *logs = scratch + n;
    memset(logs, 0, n * sizeof *logs);
    if (s->trend != 0) {
        add_slopes(r, s, world, scratch, logs);
    } else {
        add_row(r, s, s->more, world, 1, scratch, logs);
        add_row(r, s, s->less, world, -1, scratch, logs);
    }
    double mean = gsl_stats_mean(logs, 1, n), half = NAN;
    if (n > 1)
        half =
            gsl_cdf_tdist_Pinv(0.975, (double)n - 1) * gsl_stats_sd(logs, 1, n) / sqrt((double)n);
    return (struct judged){exp(mean), exp(mean - half), exp(mean + half),
                           mean - half > 0   ? HELD
                           : mean + half < 0 ? CONTRARY
                                             : OPEN};
}

static void statement_text(const struct statement *s, char text[64])
{
    if (s->trend != 0)
        snprintf(text, 64, "%s with size", s->trend > 0 ? "rises" : "falls");
    else
        snprintf(text, 64, "%s > %s", s->more != NULL ? s->more : "1",
                 s->less != NULL ? s->less : "1");
}

static void print_json(const struct reproduction *r, const struct statement *s, int world,
                       struct judged j, FILE *to)
{
    char text[64], number[3][32];
    statement_text(s, text);
    fprintf(to,
            "{\"table\": \"order\", \"physics\": \"%s\", \"submitted\": \"%s\", \"of\": \"%s\", "
            "\"row\": \"%s\", \"column\": \"%s\", \"seeds\": %d",
            worlds[world].physics, worlds[world].submitted, s->table, text, s->column, r->n_seeds);
    fprintf(to, ", \"factor\": %s, \"low\": %s, \"high\": %s, \"verdict\": \"%s\"}\n",
            format_real(j.factor, number[0]), format_real(j.lo, number[1]),
            format_real(j.hi, number[2]), verdict_names[j.verdict]);
}

static void print_statement(const struct reproduction *r, const struct statement *s,
                            double *scratch, int count[][N_TABLES][N_VERDICTS], FILE *to)
{
    char text[64], table[64];
    int at = 0;
    while (strcmp(order_tables[at], s->table) != 0)
        at++;
    statement_text(s, text);
    snprintf(table, sizeof table, "%s, %s", s->table, s->column);
    if (!r->json)
        fprintf(to, "  %-24s %-31s", table, text);
    for (int world = 0; world < N_WORLDS; world++) {
        if (!r->shown[world])
            continue;
        struct judged j = judge(r, s, world, scratch);
        count[world][at][j.verdict]++;
        if (r->json)
            print_json(r, s, world, j, to);
        else
            fprintf(to, " %6.3f %-8s", j.factor, verdict_names[j.verdict]);
    }
    if (!r->json)
        fputc('\n', to);
}

static void print_counts(const struct reproduction *r, int count[][N_TABLES][N_VERDICTS], FILE *to)
{
    fputs("\n  held, open, contrary\n", to);
    for (int t = 0; t < N_TABLES; t++) {
        fprintf(to, "  %-56s", order_tables[t]);
        for (int world = 0; world < N_WORLDS; world++) {
            if (!r->shown[world])
                continue;
            const int *n = count[world][t];
            char text[32];
            snprintf(text, sizeof text, "%d, %d, %d", n[HELD], n[OPEN], n[CONTRARY]);
            fprintf(to, " %-15s", text);
        }
        fputc('\n', to);
    }
}

enum status order_want(struct reproduction *r, struct error *err)
{
    for (int t = 0; t < N_TABLES; t++)
        TRY(paper_table_want(r, table_of(order_tables[t]), err));
    return ST_OK;
}

enum status order_print(const struct reproduction *r, FILE *to, struct error *err)
{
    int count[N_WORLDS][N_TABLES][N_VERDICTS] = {0};
    double *scratch = calloc(2 * (size_t)r->n_seeds, sizeof *scratch);
    if (scratch == NULL)
        return fail_memory(err);
    if (!r->json) {
        fprintf(to, "\nDirection and order: by what factor each statement of the paper holds\n%58s",
                "");
        for (int world = 0; world < N_WORLDS; world++)
            if (r->shown[world])
                fprintf(to, " %-15s", worlds[world].physics);
        fprintf(to, "\n%58s", "");
        for (int world = 0; world < N_WORLDS; world++)
            if (r->shown[world])
                fprintf(to, " %-15s", worlds[world].submitted);
        fputc('\n', to);
    }
    for (int i = 0; i < N_STATEMENTS; i++)
        if (!left_out(r, &statements[i]))
            print_statement(r, &statements[i], scratch, count, to);
    if (!r->json) {
        print_counts(r, count, to);
        fputs("\nFactor: geometric mean over seeds, a doubling's for trends. held: its 95 % t "
              "interval is\n"
              "above 1; contrary: below; open: 1 is in it.\n",
              to);
    }
    free(scratch);
    return ST_OK;
}
