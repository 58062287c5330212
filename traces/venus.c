/* Lucid's Venus log: the job log of Helios' Venus cluster (SenseTime, SC'21) as the artifact of
 * Lucid (ASPLOS'23) reads it, with a workload given to every job.
 *
 * Times are seconds on the log's own clock, whose 0 is Wednesday, 2020-04-01 00:02:31 (the first
 * GPU job kept; found by comparing with the published counts of every ten minutes). The workload is
 * model/dataset/batchsize/amp joined as one text. What a job runs at alone and uses of its GPU
 * (speed, gpu_util, gmem_util) belongs to the workload and is not read; cpu_num is not either, as
 * the simulator it is made for knows no CPUs. */
#include "traces/account.h"
#include "traces/import.h"

#include <math.h>
#include <string.h>

struct venus_job {
    struct job_row row;
    struct field id, state, model, dataset, batchsize, amp;
    int32_t n_gpus;
    double gmem_mib;
};

#define JOB(field_) offsetof(struct venus_job, field_)
// clang-format off
static const struct column venus_columns[] = {
    COLUMN_KEY("job_id", JOB(id)),
    COLUMN_ID("user", JOB(row.user)),
    COLUMN_ID("vc", JOB(row.queue)),
    COLUMN_ID("jobname", JOB(row.group)),
    COLUMN_NEEDED("gpu_num", COLUMN_WHOLE, JOB(n_gpus), 0, 0, WIDE_GPUS_MAX),
    COLUMN_IGNORED("cpu_num"),
    {"state", COLUMN_TEXT, JOB(state), 0, 0, 0, false, NULL},
    COLUMN_NEEDED("submit_time", COLUMN_US, JOB(row.submit_us), 6, -1e18, 1e18),
    COLUMN_NEEDED("duration", COLUMN_US, JOB(row.duration_us), 6, 0, 1e18),
    COLUMN_KEY("dataset", JOB(dataset)),
    COLUMN_KEY("model", JOB(model)),
    COLUMN_KEY("batchsize", JOB(batchsize)),
    COLUMN_KEY("amp", JOB(amp)),
    COLUMN_IGNORED("speed"),
    COLUMN_IGNORED("gpu_util"),
    COLUMN_IGNORED("gmem_util"),
    COLUMN_NUMBER("gmem", COLUMN_REAL, JOB(gmem_mib), 0, 0, INT32_MAX),
    COLUMN_END,
};
// clang-format on

enum { WORKLOAD_TEXT_MAX = 512 };

static bool is_venus(const struct input *in)
{
    static const char *const wanted[] = {"job_id", "vc",      "gpu_num",   "submit_time",
                                         "model",  "dataset", "batchsize", "amp"};
    size_t n_wanted = sizeof wanted / sizeof *wanted, n = 0;
    for (size_t i = 0; i < in->n_first; i++)
        for (size_t k = 0; k < n_wanted; k++)
            n += in->first[i].length == strlen(wanted[k]) &&
                 memcmp(in->first[i].text, wanted[k], in->first[i].length) == 0;
    return n == n_wanted;
}

static enum status name_workload(struct table *t, struct venus_job *j, struct error *err)
{
    const struct field part[] = {j->model, j->dataset, j->batchsize, j->amp};
    char text[WORKLOAD_TEXT_MAX];
    size_t n = 0;
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        if (n + part[i].length + 1 > sizeof text)
            return table_drop(t, "model", "the name of the workload is too long", err);
        if (i > 0)
            text[n++] = '/';
        memcpy(text + n, part[i].text, part[i].length);
        n += part[i].length;
    }
    j->row.workload = names_add(&t->im->trace->jobs.names, text, n);
    return j->row.workload >= 0 ? ST_OK : fail_memory(err);
}

static enum status read_row(struct table *t, struct venus_job *j, struct error *err)
{
    bool completed = j->state.length == 9 && memcmp(j->state.text, "COMPLETED", 9) == 0;
    if (j->n_gpus == 0) {
        table_apart(t);
        return ST_OK;
    }
    if (t->im->options->successful_only && !completed)
        return table_leave_out(t, "state", "state is not COMPLETED", err);
    TRY(name_workload(t, j, err));
    if (j->row.workload < 0)
        return ST_OK;
    j->row.name = j->id.text;
    j->row.name_length = j->id.length;
    j->row.kind = KIND_TRAIN;
    j->row.gpu_mem_mib = (int32_t)ceil(j->gmem_mib);
    return table_keep_wide(t, &j->row, j->n_gpus, err);
}

static enum status read_file(struct importer *im, struct input *input, struct error *err)
{
    const struct venus_job empty = {.row = job_row_empty(), .state = {"", 0}};
    struct venus_job j;
    struct table t;
    bool more;
    enum status status = ST_OK;
    TRY(table_open_named(&t, im, input, venus_columns, NULL, &empty, sizeof empty, err));
    for (;;) {
        TRY_OUT(table_next(&t, &j, &more, err));
        if (!more)
            break;
        TRY_OUT(read_row(&t, &j, err));
    }
out:
    table_close(&t);
    return status;
}

static enum status venus_read(struct importer *im, struct error *err)
{
    struct listing skipped = {0};
    for (size_t i = 0; i < im->inputs.n; i++) {
        struct input *in = &im->inputs.input[i];
        if (in->found && !is_venus(in))
            listing_add(&skipped, in->base, strlen(in->base));
        else
            TRY(read_file(im, in, err));
    }
    im->trace->clock_hour_at_0 = 2 * 24 + 151 / 3600.0;
    im->trace->zone = "the log's own clock";
    TRY(account_listing(&im->trace->report, "no job log, not read", &skipped, err));
    return account_note(&im->trace->report, err,
                        "every job is read as training; vc stands as the queue, "
                        "model/dataset/batchsize/amp as the workload; cpu_num is not read");
}

static bool venus_fits(const struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->n; i++)
        if (is_venus(&inputs->input[i]))
            return true;
    return false;
}

const struct format format_venus = {
    .about =
        {"venus", "Lucid's version of Helios' Venus log, with a workload for every job",
         "job_id, gpu_num, submit_time, duration (s), model, dataset, batchsize, amp; optional: "
         "user, vc (queue), jobname (group), state, gmem (MiB)"},
    .fits = venus_fits,
    .read = venus_read,
};
