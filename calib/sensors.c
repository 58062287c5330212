#include "calib/sensors.h"

#include "core/base/names.h"
#include "core/base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where PAI's tables have no header these are the columns. */
enum { INSTANCE_WORKER = 3, SENSOR_WORKER = 2, SENSOR_UTIL = 7 };

/* A table whose first row may be one of its rows; those are numbered on from first. */
struct rows {
    const struct table *t;
    int32_t first, worker, util; /* util -1: not there */
};

static enum status open_rows(struct rows *r, const struct table *t, int32_t worker, int32_t util,
                             struct error *err)
{
    bool header = table_column(t, "worker_name") >= 0;
    *r = (struct rows){t, header ? 0 : -1, header ? table_column(t, "worker_name") : worker,
                       header && util >= 0 ? table_column(t, "gpu_wrk_util") : util};
    if (r->worker < t->n_columns && r->util < t->n_columns && (util < 0 || r->util >= 0))
        return ST_OK;
    return fail(err, ST_INPUT, "%d columns: no %s table of PAI", t->n_columns,
                util < 0 ? "instance" : "sensor");
}

static const char *cell(const struct rows *r, int32_t row, int32_t column)
{
    return row < 0 ? r->t->column[column] : table_cell(r->t, row, column);
}

/* What the sensors say of each worker: a name's id is its row. */
struct workers {
    struct names names;
    double *sum_pct; /* (names.n) */
    int32_t *n;      /* (names.n) */
};

static enum status read_sensor(struct workers *w, const struct rows *r, int32_t row,
                               struct error *err)
{
    const char *worker = cell(r, row, r->worker), *util = cell(r, row, r->util);
    double pct = 0;
    if (util[0] == '\0')
        return ST_OK;
    if (!parse_real(util, strlen(util), &pct) || pct < 0)
        return fail(err, ST_INPUT, "line %d: gpu_wrk_util is '%s', want a number of 0 or more",
                    row - r->first + 1 + (r->first == 0), util);
    int32_t id = names_add(&w->names, worker, strlen(worker));
    if (id < 0)
        return fail_memory(err);
    w->sum_pct[id] += pct;
    w->n[id]++;
    return ST_OK;
}

static void count(struct sensor_census *out, const struct workers *w, const struct rows *r)
{
    double sum_pct = 0;
    for (int32_t row = r->first; row < r->t->n_rows; row++) {
        const char *worker = cell(r, row, r->worker);
        int32_t id = names_find(&w->names, worker, strlen(worker));
        out->n_instances++;
        out->n_known += id >= 0;
        sum_pct += id >= 0 ? w->sum_pct[id] / w->n[id] : 0;
    }
    out->gpu_util_mean_pct = out->n_known > 0 ? sum_pct / out->n_known : NAN;
}

enum status sensors_join(struct sensor_census *out, const struct table *instances,
                         const struct table *sensors, struct error *err)
{
    struct rows in, of;
    size_t room = (size_t)sensors->n_rows + 2;
    enum status status = ST_OK;
    *out = (struct sensor_census){.gpu_util_mean_pct = NAN};
    TRY(open_rows(&in, instances, INSTANCE_WORKER, -1, err));
    TRY(open_rows(&of, sensors, SENSOR_WORKER, SENSOR_UTIL, err));
    struct workers w = {.sum_pct = calloc(room, sizeof *w.sum_pct), .n = calloc(room, sizeof *w.n)};
    if (w.sum_pct == NULL || w.n == NULL)
        status = fail_memory(err);
    for (int32_t row = of.first; row < sensors->n_rows && status == ST_OK; row++)
        status = read_sensor(&w, &of, row, err);
    if (status == ST_OK)
        count(out, &w, &in);
    names_free(&w.names);
    free(w.sum_pct);
    free(w.n);
    return status;
}
