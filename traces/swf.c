/* The Standard Workload Format of the Parallel Workloads Archive: 18 numbers a line, -1 where
 * something is not known, comments after ;.
 *
 * Its processors are read as GPUs. A job's width is what it was allocated, else what it requested;
 * its run time does not contain the wait. Lines with status 2 to 4 are parts of a job whose whole
 * has a line of its own, and are left out. The requested time is the user's estimate. */
#include "traces/account.h"
#include "traces/dates.h"
#include "traces/import.h"

#include <string.h>

struct swf_job {
    struct job_row row;
    struct field id, user, group, queue;
    int64_t run_us, asked_us; /* negative: not known */
    int32_t allocated, requested, status;
};

enum { SWF_FIELDS = 18, SWF_DONE = 1 };

#define JOB(field_) offsetof(struct swf_job, field_)
// clang-format off
static const struct column swf_columns[] = {
    COLUMN_KEY("job number", JOB(id)),
    COLUMN_NEEDED("submit time", COLUMN_US, JOB(row.submit_us), 6, -1e18, 1e18),
    COLUMN_IGNORED("wait time"),
    COLUMN_NUMBER("run time", COLUMN_US, JOB(run_us), 6, -1e18, 1e18),
    COLUMN_NUMBER("allocated processors", COLUMN_WHOLE, JOB(allocated), 0, -1, WIDE_GPUS_MAX),
    COLUMN_IGNORED("average CPU time used"),
    COLUMN_IGNORED("used memory"),
    COLUMN_NUMBER("requested processors", COLUMN_WHOLE, JOB(requested), 0, -1, WIDE_GPUS_MAX),
    COLUMN_NUMBER("requested time", COLUMN_US, JOB(asked_us), 6, -1e18, 1e18),
    COLUMN_IGNORED("requested memory"),
    COLUMN_NUMBER("status", COLUMN_WHOLE, JOB(status), 0, -1, 1000),
    {"user ID", COLUMN_TEXT, JOB(user), 0, 0, 0, false, NULL},
    {"group ID", COLUMN_TEXT, JOB(group), 0, 0, 0, false, NULL},
    COLUMN_IGNORED("executable"),
    {"queue", COLUMN_TEXT, JOB(queue), 0, 0, 0, false, NULL},
    COLUMN_IGNORED("partition"),
    COLUMN_IGNORED("preceding job"),
    COLUMN_IGNORED("think time"),
    COLUMN_END,
};
// clang-format on

/* Numbers stand for users, groups and queues; -1 is none. */
static enum status add_id(struct job_table *t, const struct field *f, int32_t *id,
                          struct error *err)
{
    if (f->length == 2 && memcmp(f->text, "-1", 2) == 0)
        return ST_OK;
    *id = names_add(&t->names, f->text, f->length);
    return *id >= 0 ? ST_OK : fail_memory(err);
}

static enum status keep_job(struct table *t, struct swf_job *j, struct error *err)
{
    struct job_table *jobs = &t->im->trace->jobs;
    int32_t width = j->allocated > 0 ? j->allocated : j->requested;
    if (j->status >= 2 && j->status <= 4)
        return table_leave_out(t, "status", "part of a job (status 2 to 4)", err);
    if (j->run_us < 0)
        return table_drop(t, "run time", "no run time: it never ran", err);
    if (width < 1)
        return table_drop(t, "allocated processors", "no number of processors", err);
    if (t->im->options->successful_only && j->status != SWF_DONE)
        return table_leave_out(t, "status", "status is not 1 (completed)", err);
    TRY(add_id(jobs, &j->user, &j->row.user, err));
    TRY(add_id(jobs, &j->group, &j->row.group, err));
    TRY(add_id(jobs, &j->queue, &j->row.queue, err));
    j->row.name = j->id.text;
    j->row.name_length = j->id.length;
    j->row.duration_us = j->run_us;
    j->row.hint_us[HINT_USER] = j->asked_us > 0 ? j->asked_us : -1;
    return table_keep_wide(t, &j->row, width, err);
}

/* The comments before the first job: when was second 0? */
static enum status read_head(struct table *t, struct error *err)
{
    static const char key[] = "UnixStartTime:";
    struct line line;
    for (;;) {
        TRY(lines_next(&t->lines, &line, err));
        if (line.text == NULL)
            return ST_OK;
        if (line.length > 0 && line.text[0] != ';')
            break;
        const char *at = memmem(line.text, line.length, key, sizeof key - 1);
        int64_t s;
        size_t from = at != NULL ? (size_t)(at - line.text) + sizeof key - 1 : 0;
        if (at != NULL && parse_scaled(line.text + from, line.length - from, 0, &s) && s > 0) {
            s += DATE_HOUR_AT_0 * 3600;
            t->im->trace->clock_hour_at_0 = (double)(s % (7 * 86400)) / 3600;
            t->im->trace->zone = "UTC";
        }
    }
    lines_back(&t->lines);
    return ST_OK;
}

static enum status read_file(struct importer *im, struct input *input, struct error *err)
{
    struct swf_job empty = {.row = job_row_empty(),
                            .run_us = -1,
                            .asked_us = -1,
                            .allocated = -1,
                            .requested = -1,
                            .status = -1};
    struct swf_job j;
    struct table t;
    enum status status = ST_OK;
    bool more;
    TRY(table_open(&t, im, input, swf_columns, &empty, sizeof empty, err));
    t.row.blanks = true;
    TRY_OUT(read_head(&t, err));
    for (;;) {
        TRY_OUT(table_next(&t, &j, &more, err));
        if (!more)
            break;
        TRY_OUT(keep_job(&t, &j, err));
    }
out:
    table_close(&t);
    return status;
}

static enum status swf_read(struct importer *im, struct error *err)
{
    for (size_t i = 0; i < im->inputs.n; i++)
        TRY(read_file(im, &im->inputs.input[i], err));
    return account_note(&im->trace->report, err,
                        "processors are read as GPUs; the requested time is the user's estimate");
}

/* A comment, or 18 numbers. */
static bool swf_fits(const struct inputs *inputs)
{
    const struct input *in = &inputs->input[0];
    if (in->n_first != 1)
        return false;
    const char *p = in->first[0].text, *end = p + in->first[0].length;
    int n = 0;
    if (p < end && *p == ';')
        return true;
    while (p < end) {
        size_t length = 0;
        int64_t value;
        while (p < end && (*p == ' ' || *p == '\t'))
            p++;
        while (p + length < end && p[length] != ' ' && p[length] != '\t')
            length++;
        if (length > 0 && !parse_scaled(p, length, 0, &value))
            return false;
        n += length > 0;
        p += length;
    }
    return n == SWF_FIELDS;
}

const struct format format_swf = {
    .about = {"swf", "Standard Workload Format (Parallel Workloads Archive); processors are GPUs",
              "18 fields between blanks, -1 for what is not known; comments after ;"},
    .unlabelled = true,
    .fits = swf_fits,
    .read = swf_read,
};
