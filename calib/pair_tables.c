#include "calib/pair_tables.h"

#include "calib/wanted.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of one side in a table of features. */
static const struct side_column {
    const char *name;
    size_t offset;
    double max;
    bool optional;
} side_columns[] = {
    {"sm", offsetof(struct iac_side, sm), 1, false},
    {"occ", offsetof(struct iac_side, occ), 1, false},
    {"dram", offsetof(struct iac_side, dram), 1, false},
    {"fb_mib", offsetof(struct iac_side, fb_mib), 1e9, false},
    {"tensor", offsetof(struct iac_side, tensor), 1, false},
    {"log10_params", offsetof(struct iac_side, log10_params), 30, false},
    {"T", offsetof(struct iac_side, rate), 1e15, false},
    {"bs", offsetof(struct iac_side, bs), 1e12, false},
    {"ck", offsetof(struct iac_side, ck), 1, false},
    {"amp", offsetof(struct iac_side, amp), 1, false},
    {"isl", offsetof(struct iac_side, isl), 1e12, false},
    {"osl", offsetof(struct iac_side, osl), 1e12, false},
    {"rho", offsetof(struct iac_side, rho), 1, false},
    {"kernel_s", offsetof(struct iac_side, kernel_s), 1e6, true},
    {"step_s", offsetof(struct iac_side, step_s), 1e6, true},
};
enum { N_SIDE_COLUMNS = sizeof side_columns / sizeof *side_columns };

struct feature_columns {
    int32_t number[2][N_SIDE_COLUMNS], is_train[2]; /* -1: not there */
    int32_t slowdown, experiment, workloads, mem_pressure;
};

/* What the rows of one table are added to. */
struct feature_reader {
    struct samples *samples;
    int32_t first_experiment;
    struct names experiments;
    double card_mib;
};

static enum status find_features(const struct table *t, struct feature_columns *c,
                                 struct error *err)
{
    char name[32];
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < N_SIDE_COLUMNS; i++) {
            snprintf(name, sizeof name, "%s_%c", side_columns[i].name, "ij"[side]);
            c->number[side][i] = table_column(t, name);
            if (c->number[side][i] < 0 && !side_columns[i].optional)
                return wanted_column(t, name, &c->number[side][i], err);
        }
        TRY(wanted_column(t, side == 0 ? "is_train_i" : "is_train_j", &c->is_train[side], err));
    }
    TRY(wanted_column(t, "slowdown", &c->slowdown, err));
    TRY(wanted_column(t, "experiment", &c->experiment, err));
    TRY(wanted_column(t, "workloads", &c->workloads, err));
    c->mem_pressure = table_column(t, "mem_pressure");
    return ST_OK;
}

static enum status read_side(const struct table *t, int32_t row, const struct feature_columns *c,
                             int which, struct iac_side *side, struct error *err)
{
    double is_train;
    *side = (struct iac_side){0};
    for (int i = 0; i < N_SIDE_COLUMNS; i++) {
        double *field = (double *)(void *)((char *)side + side_columns[i].offset);
        if (c->number[which][i] >= 0)
            TRY(wanted_number(t, row, c->number[which][i], 0, side_columns[i].max, field, err));
    }
    TRY(wanted_number(t, row, c->is_train[which], 0, 1, &is_train, err));
    side->kind = is_train > .5 ? KIND_TRAIN : KIND_INFER;
    return ST_OK;
}

static enum status add_names(struct samples *s, const char *both, int32_t id[2], struct error *err)
{
    const char *bar = strchr(both, '|');
    size_t first = bar != NULL ? (size_t)(bar - both) : strlen(both);
    const char *second = bar != NULL ? bar + 1 : both;
    id[0] = names_add(&s->workloads, both, first);
    id[1] = names_add(&s->workloads, second, strlen(second));
    return id[0] >= 0 && id[1] >= 0 ? ST_OK : fail_memory(err);
}

static enum status read_row(struct feature_reader *r, const struct table *t, int32_t row,
                            const struct feature_columns *c, struct error *err)
{
    struct iac_side side[2];
    struct pair_row out = {0};
    double pressure;
    TRY(wanted_number(t, row, c->slowdown, 1e-3, 1e6, &out.slowdown, err));
    TRY(read_side(t, row, c, 0, &side[0], err));
    TRY(read_side(t, row, c, 1, &side[1], err));
    side[0].card_mib = side[1].card_mib = r->card_mib;
    if (c->mem_pressure >= 0) {
        TRY(wanted_number(t, row, c->mem_pressure, 1e-9, 1e9, &pressure, err));
        side[0].card_mib = side[1].card_mib = (side[0].fb_mib + side[1].fb_mib) / pressure;
    }
    const char *experiment = table_cell(t, row, c->experiment);
    int32_t id = names_add(&r->experiments, experiment, strlen(experiment));
    if (id < 0)
        return fail_memory(err);
    out.experiment = r->first_experiment + id;
    TRY(add_names(r->samples, table_cell(t, row, c->workloads), out.workload, err));
    return samples_add(r->samples, &side[0], &side[1], out, err);
}

enum status pair_table_features(struct samples *s, const struct table *t, double card_mib,
                                struct error *err)
{
    enum status status = ST_OK;
    struct feature_columns columns;
    struct feature_reader reader = {s, s->n_experiments, {0}, card_mib};
    TRY(find_features(t, &columns, err));
    s->named_jobs = false;
    for (int32_t row = 0; row < t->n_rows && status == ST_OK; row++)
        status = read_row(&reader, t, row, &columns, err);
    names_free(&reader.experiments);
    return status;
}

/* Jobs together: how the tables that there are spell it. */
enum { NAME_PARTS = 4 };
static const struct layout {
    struct {
        const char *column[NAME_PARTS]; /* NULL after the last */
        const char *together, *alone;   /* alone NULL: together is the retained rate itself */
    } side[2];
    bool times; /* milliseconds of an iteration and not rates */
    bool bare;  /* how fast a job is alone is in the table or divided out: it need not be known */
} layouts[] = {
    {{{{"job_a"}, "retain_a", NULL}, {{"job_b"}, "retain_b", NULL}}, false, false},
    {{{{"model_a"}, "iter_ms_a", NULL}, {{"model_b"}, "iter_ms_b", NULL}}, true, false},
    /* Gavel's table of throughputs */
    {{{{"job1"}, "colo1_steps_s", "solo1_steps_s"}, {{"job2"}, "colo2_steps_s", "solo2_steps_s"}},
     false,
     true},
    /* Lucid's colocate_info.csv */
    {{{{"model1", "dataset1", "batchsize1", "amp1"}, "speed1", NULL},
      {{"model2", "dataset2", "batchsize2", "amp2"}, "speed2", NULL}},
     false,
     true},
};
struct pair_columns {
    const struct layout *layout;
    int32_t name[2][NAME_PARTS]; /* -1 after the last */
    int32_t together[2], alone[2], rep;
};

static const struct layout *layout_of(const struct table *t)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (table_column(t, layouts[i].side[0].column[0]) >= 0 &&
            table_column(t, layouts[i].side[0].together) >= 0)
            return &layouts[i];
    return NULL;
}

static enum status find_pairs(const struct table *t, struct pair_columns *c, struct error *err)
{
    c->layout = layout_of(t);
    if (c->layout == NULL) /* by the missing columns of our own */
        c->layout = &layouts[0];
    for (int i = 0; i < 2; i++) {
        for (int p = 0; p < NAME_PARTS; p++) {
            c->name[i][p] = -1;
            if (c->layout->side[i].column[p] != NULL)
                TRY(wanted_column(t, c->layout->side[i].column[p], &c->name[i][p], err));
        }
        TRY(wanted_column(t, c->layout->side[i].together, &c->together[i], err));
        c->alone[i] = -1;
        if (c->layout->side[i].alone != NULL)
            TRY(wanted_column(t, c->layout->side[i].alone, &c->alone[i], err));
    }
    c->rep = table_column(t, "rep");
    return ST_OK;
}

/* The name of a side: its parts joined, a batch as bN and AMP as amp or nothing. */
static void side_name(const struct table *t, int32_t row, const struct pair_columns *c, int i,
                      char *name, size_t size)
{
    size_t used = 0;
    for (int p = 0; p < NAME_PARTS && c->name[i][p] >= 0 && used < size; p++) {
        const char *part = table_cell(t, row, c->name[i][p]);
        bool batch = p == 2, amp = p == 3;
        if (amp)
            part = strcmp(part, "0") == 0 ? "" : "-amp";
        used += (size_t)snprintf(name + used, size - used, "%s%s%s", p > 0 && !amp ? "-" : "",
                                 batch ? "b" : "", part);
    }
}

/* The job of a side among those alone; where the table itself says how fast it is alone, a job of
 * which that is all that is known. */
static enum status find_side(const struct table *t, int32_t row, const struct pair_columns *c,
                             int i, const struct solo_jobs *jobs, struct iac_side *side,
                             int32_t *workload, struct names *workloads, struct error *err)
{
    char name[256];
    side_name(t, row, c, i, name, sizeof name);
    size_t length = strlen(name);
    int32_t job = names_find(&jobs->names, name, length);
    if (job < 0 && !c->layout->bare)
        return fail(err, ST_INPUT, "line %d: '%s' is not among the jobs alone", row + 2, name);
    *side = job >= 0 ? jobs->side[job] : (struct iac_side){.card_mib = 1, .kind = KIND_TRAIN};
    if (job < 0 && c->alone[i] >= 0) {
        double rate;
        TRY(wanted_number(t, row, c->alone[i], 0, 1e15, &rate, err));
        side->step_s = rate > 0 ? 1 / rate : 0;
    }
    *workload = names_add(workloads, name, length);
    return *workload >= 0 ? ST_OK : fail_memory(err);
}

/* The retained rate of a side; 0 where it did not run. */
static enum status want_retained(const struct table *t, int32_t row, const struct pair_columns *c,
                                 int i, const struct iac_side *side, double *out, struct error *err)
{
    double together, alone = 1;
    if (!c->layout->bare && !c->layout->times)
        return wanted_number(t, row, c->together[i], 1e-3, 10, out, err);
    if (c->layout->times) {
        TRY(wanted_number(t, row, c->together[i], 1e-9, 1e12, &together, err));
        *out = side->step_s * 1e3 / together;
        return *out > 0 ? ST_OK
                        : fail(err, ST_INPUT, "line %d: the time alone is not known", row + 2);
    }
    TRY(wanted_number(t, row, c->together[i], 0, 1e15, &together, err));
    if (c->alone[i] >= 0)
        TRY(wanted_number(t, row, c->alone[i], 0, 1e15, &alone, err));
    *out = alone > 0 ? together / alone : 0;
    if (*out <= 10 && (*out >= 1e-3 || *out <= 0))
        return ST_OK;
    return fail(err, ST_INPUT, "line %d: %s means %g of the rate alone, want 0.001 to 10 or 0",
                row + 2, t->column[c->together[i]], *out);
}

static enum status read_pair(struct samples *s, const struct table *t, int32_t row,
                             const struct pair_columns *c, const struct solo_jobs *jobs,
                             struct error *err)
{
    struct iac_side side[2];
    int32_t workload[2], experiment = s->n_experiments;
    double retain[2], rep = 0;
    for (int i = 0; i < 2; i++) {
        TRY(find_side(t, row, c, i, jobs, &side[i], &workload[i], &s->workloads, err));
        TRY(want_retained(t, row, c, i, &side[i], &retain[i], err));
    }
    if (c->rep >= 0)
        TRY(wanted_number(t, row, c->rep, 0, 1e6, &rep, err));
    if (rep > 0)
        return ST_OK;
    if (retain[0] <= 0 || retain[1] <= 0) {
        s->n_dropped++;
        return ST_OK;
    }
    for (int i = 0; i < 2; i++)
        TRY(samples_add(s, &side[i], &side[1 - i],
                        (struct pair_row){.slowdown = 1 / retain[i],
                                          .experiment = experiment,
                                          .workload = {workload[i], workload[1 - i]}},
                        err));
    return ST_OK;
}

enum status pair_table_jobs(struct samples *s, const struct table *t, const struct solo_jobs *jobs,
                            struct error *err)
{
    struct pair_columns columns;
    TRY(find_pairs(t, &columns, err));
    s->named_jobs = s->n == 0 || s->named_jobs;
    for (int32_t row = 0; row < t->n_rows; row++)
        TRY(read_pair(s, t, row, &columns, jobs, err));
    return ST_OK;
}

bool pair_table_is_jobs(const struct table *t)
{
    return layout_of(t) != NULL || table_column(t, "job_a") >= 0;
}

bool pair_table_is_bare(const struct table *t)
{
    const struct layout *layout = layout_of(t);
    return layout != NULL && layout->bare;
}
