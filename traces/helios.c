/* Helios (SenseTime, SC'21): the job log of a cluster, cluster_log.csv; and the table of the Venus
 * cluster's GPU jobs that other simulators pass around (job_id, arrival_s, service_sec,
 * gpu_count), whose run times end at two days.
 *
 * Run time is end - start: where the duration column says otherwise, the times win. All end states
 * held GPUs, so all are replayed. CPU jobs are kept apart. */
#include "traces/account.h"
#include "traces/dates.h"
#include "traces/import.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct helios_job {
    struct job_row row;
    struct field id, state;
    int32_t n_gpus, n_cpus;
    int64_t start_us, end_us, duration_us; /* TIME_NEVER where empty */
};

#define JOB(field_) offsetof(struct helios_job, field_)
// clang-format off
static const struct column log_columns[] = {
    COLUMN_KEY("job_id", JOB(id)),
    COLUMN_ID("user", JOB(row.user)),
    COLUMN_ID("vc", JOB(row.queue)),
    COLUMN_NEEDED("gpu_num", COLUMN_WHOLE, JOB(n_gpus), 0, 0, WIDE_GPUS_MAX),
    COLUMN_NUMBER("cpu_num", COLUMN_WHOLE, JOB(n_cpus), 0, 0, INT32_MAX / 1000),
    COLUMN_IGNORED("node_num"),
    {"state", COLUMN_TEXT, JOB(state), 0, 0, 0, false, NULL},
    COLUMN_NEEDED("submit_time", COLUMN_DATE, JOB(row.submit_us), 0, 0, 0),
    {"start_time", COLUMN_DATE, JOB(start_us), 0, 0, 0, false, NULL},
    {"end_time", COLUMN_DATE, JOB(end_us), 0, 0, 0, false, NULL},
    COLUMN_NUMBER("duration", COLUMN_US, JOB(duration_us), 6, -1e18, 1e18),
    COLUMN_IGNORED("queue"),
    COLUMN_END,
};
static const struct column derived_columns[] = {
    COLUMN_KEY("job_id", JOB(id)),
    COLUMN_NEEDED("arrival_s", COLUMN_US, JOB(row.submit_us), 6, -1e18, 1e18),
    COLUMN_NEEDED("service_sec", COLUMN_US, JOB(row.duration_us), 6, 0, 1e18),
    COLUMN_NEEDED("gpu_count", COLUMN_WHOLE, JOB(n_gpus), 0, 0, WIDE_GPUS_MAX),
    COLUMN_END,
};
// clang-format on

/* What is counted, and the first of each in words. */
struct remarks {
    int64_t n_mismatched, n_early, n_capped;
    char mismatched[160], early[160];
};

static bool is_derived(const struct input *in)
{
    return columns_known(derived_columns, in->first, in->n_first) == 4;
}

/* The log has both times; Lucid's version of it has neither. */
static bool is_log(const struct input *in)
{
    static const char *const wanted[] = {"gpu_num", "submit_time", "start_time", "end_time"};
    int n = 0;
    for (size_t i = 0; i < in->n_first; i++)
        for (int k = 0; k < 4; k++)
            n += in->first[i].length == strlen(wanted[k]) &&
                 memcmp(in->first[i].text, wanted[k], in->first[i].length) == 0;
    return n == 4;
}

static void remark(struct remarks *r, const struct table *t, const struct helios_job *j)
{
    char id[48], said[32], measured[32];
    field_text(&j->id, id, sizeof id);
    if (j->duration_us != TIME_NEVER && j->duration_us != j->row.duration_us &&
        r->n_mismatched++ == 0)
        snprintf(r->mismatched, sizeof r->mismatched, "job %s, line %" PRId64 ": %s s, not %s", id,
                 t->row.line, format_us(j->row.duration_us, measured),
                 format_us(j->duration_us, said));
    if (j->start_us < j->row.submit_us && r->n_early++ == 0)
        snprintf(r->early, sizeof r->early, "job %s, line %" PRId64, id, t->row.line);
}

static enum status keep_job(struct table *t, struct helios_job *j, struct error *err)
{
    j->row.name = j->id.text;
    j->row.name_length = j->id.length;
    j->row.kind = KIND_TRAIN;
    j->row.cpu_milli = j->n_cpus * 1000;
    return table_keep_wide(t, &j->row, j->n_gpus, err);
}

static enum status read_log_row(struct table *t, struct helios_job *j, struct remarks *remarks,
                                struct error *err)
{
    bool completed = j->state.length == 9 && memcmp(j->state.text, "COMPLETED", 9) == 0;
    if (j->n_gpus == 0) {
        table_apart(t);
        return ST_OK;
    }
    if (j->end_us == TIME_NEVER)
        return table_drop(t, "end_time", "no end_time", err);
    if (j->start_us == TIME_NEVER)
        return table_drop(t, "start_time", "no start_time", err);
    if (j->end_us < j->start_us)
        return table_drop(t, "end_time", "end before start", err);
    if (t->im->options->successful_only && !completed)
        return table_leave_out(t, "state", "state is not COMPLETED", err);
    j->row.duration_us = j->end_us - j->start_us;
    remark(remarks, t, j);
    return keep_job(t, j, err);
}

static enum status read_derived_row(struct table *t, struct helios_job *j, struct remarks *remarks,
                                    struct error *err)
{
    static const int64_t CAP_US = 172800 * US_PER_S;
    if (j->n_gpus == 0) {
        table_apart(t);
        return ST_OK;
    }
    remarks->n_capped += j->row.duration_us == CAP_US;
    return keep_job(t, j, err);
}

static enum status read_file(struct importer *im, struct input *input, struct remarks *remarks,
                             struct error *err)
{
    struct helios_job empty = {.row = job_row_empty(),
                               .state = {"", 0},
                               .start_us = TIME_NEVER,
                               .end_us = TIME_NEVER,
                               .duration_us = TIME_NEVER};
    struct helios_job j;
    struct table t;
    bool more, derived = is_derived(input);
    enum status status = ST_OK;
    TRY(table_open_named(&t, im, input, derived ? derived_columns : log_columns, NULL, &empty,
                         sizeof empty, err));
    for (;;) {
        TRY_OUT(table_next(&t, &j, &more, err));
        if (!more)
            break;
        TRY_OUT((derived ? read_derived_row : read_log_row)(&t, &j, remarks, err));
    }
    if (!derived) {
        im->trace->clock_hour_at_0 = DATE_HOUR_AT_0;
        im->trace->zone = "the log's own clock";
    }
out:
    table_close(&t);
    return status;
}

static enum status note_remarks(struct import_report *r, const struct remarks *remarks,
                                struct error *err)
{
    TRY(account_note(r, err, "every job is read as training; vc stands as the queue"));
    if (remarks->n_mismatched > 0)
        TRY(account_note(r, err,
                         "duration is not end_time - start_time, the times stand, rows: %" PRId64
                         " (the first: %s)",
                         remarks->n_mismatched, remarks->mismatched));
    if (remarks->n_early > 0)
        TRY(account_note(r, err, "start before submission, rows: %" PRId64 " (the first: %s)",
                         remarks->n_early, remarks->early));
    if (remarks->n_capped > 0)
        TRY(account_note(r, err,
                         "run times of exactly 172800 s, where this table cuts them: %" PRId64,
                         remarks->n_capped));
    return ST_OK;
}

static enum status helios_read(struct importer *im, struct error *err)
{
    struct remarks remarks = {0};
    struct listing skipped = {0};
    for (size_t i = 0; i < im->inputs.n; i++) {
        struct input *in = &im->inputs.input[i];
        if (in->found && !is_log(in) && !is_derived(in))
            listing_add(&skipped, in->base, strlen(in->base));
        else
            TRY(read_file(im, in, &remarks, err));
    }
    TRY(account_listing(&im->trace->report, "no job log, not read", &skipped, err));
    return note_remarks(&im->trace->report, &remarks, err);
}

static bool helios_fits(const struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->n; i++)
        if (is_log(&inputs->input[i]) || is_derived(&inputs->input[i]))
            return true;
    return false;
}

const struct format format_helios = {
    .about = {"helios", "Helios: a cluster's job log; also the derived table of Venus' GPU jobs",
              "cluster_log: job_id, gpu_num, submit_time, start_time, end_time; optional: user, vc "
              "(queue), cpu_num, state, duration; or job_id, arrival_s, service_sec, gpu_count"},
    .unlabelled = true,
    .fits = helios_fits,
    .read = helios_read,
};
