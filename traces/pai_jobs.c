/* The two 100K job samples that come with PAI's official simulator. One row is one task of the
 * original trace; the simulator calls it a job, and so does this. */
#include "traces/pai.h"

#include "traces/account.h"

#include <inttypes.h>
#include <string.h>

/* What is worth a note at the end. */
struct remarks {
    int64_t n_waits, n_pods;
};

static enum status keep_sample(struct table *t, struct pai_sample *r, struct remarks *remarks,
                               struct error *err)
{
    r->row.name = r->job.text;
    r->row.name_length = r->job.length;
    remarks->n_waits += r->wait_us >= 0;
    remarks->n_pods += r->n_pods > 1 && r->row.n_inst == 1;
    if (t->im->options->duration == DURATION_MINUS_WAIT && r->wait_us > 0)
        r->row.duration_us = r->wait_us < r->row.duration_us ? r->row.duration_us - r->wait_us : 0;
    return table_keep(t, &r->row, err);
}

/* Columns the official simulator does not look at either (read_count, write_count …). */
static enum status note_unknown(struct importer *im, const struct input *in,
                                const struct column *columns, struct error *err)
{
    struct listing unknown = {0};
    for (size_t i = 0; i < in->n_first; i++)
        if (columns_find(columns, in->first[i].text, in->first[i].length) == NULL)
            listing_add(&unknown, in->first[i].text, in->first[i].length);
    return account_listing(&im->trace->report, "columns that are not used", &unknown, err);
}

static enum status read_sample(struct importer *im, struct input *input, struct remarks *remarks,
                               struct error *err)
{
    const struct pai_sample empty = {.row = job_row_empty(), .wait_us = -1};
    struct pai_sample r;
    struct table t;
    enum status status = ST_OK;
    bool more;
    TRY(pai_open(&t, im, input, PAI_SAMPLE, &empty, sizeof empty, err));
    TRY_OUT(note_unknown(im, input, pai_columns(PAI_SAMPLE), err));
    for (;;) {
        TRY_OUT(table_next(&t, &r, &more, err));
        if (!more)
            break;
        TRY_OUT(keep_sample(&t, &r, remarks, err));
    }
out:
    table_close(&t);
    return status;
}

static enum status note_remarks(const struct importer *im, const struct remarks *r,
                                struct error *err)
{
    struct import_report *report = &im->trace->report;
    if (r->n_waits == 0)
        TRY(account_note(report, err,
                         "run times are duration, which includes the wait in the "
                         "original cluster; there is no wait_time to subtract"));
    else if (im->options->duration == DURATION_AS_GIVEN)
        TRY(account_note(report, err,
                         "run times are duration, which includes the wait in the "
                         "original cluster"));
    else
        TRY(account_note(report, err,
                         "run times are duration - wait_time in the %" PRId64 " rows that have it",
                         r->n_waits));
    if (r->n_pods > 0)
        TRY(account_note(report, err,
                         "num_pod is not looked at, as in the official simulator: "
                         "%" PRId64 " rows give totals over several pods and are read "
                         "as one instance",
                         r->n_pods));
    return ST_OK;
}

enum status pai_read_samples(struct importer *im, struct error *err)
{
    struct remarks remarks = {0};
    im->format = "pai-jobs";
    for (size_t i = 0; i < im->inputs.n; i++)
        if (im->inputs.input[i].table == PAI_NONE || im->inputs.input[i].table == PAI_SAMPLE)
            TRY(read_sample(im, &im->inputs.input[i], &remarks, err));
    return note_remarks(im, &remarks, err);
}

/* Lucid's log of Venus has the three columns as well, but calls its GPUs gpu_num. */
static bool pai_jobs_fits(const struct inputs *inputs)
{
    static const char theirs[] = "gpu_num";
    const struct input *in = &inputs->input[0];
    for (size_t i = 0; i < in->n_first; i++)
        if (in->first[i].length == strlen(theirs) &&
            memcmp(in->first[i].text, theirs, strlen(theirs)) == 0)
            return false;
    return pai_by_content(in, true) == PAI_SAMPLE;
}

const struct format format_pai_jobs = {
    .about = {"pai-jobs", "the 100K job samples of PAI's official simulator",
              "job_id, duration, submit_time; optional: user, num_gpu, num_cpu, num_inst, group, "
              "gpu_type, wait_time, user_dur, group_dur, group_gpu_dur"},
    .fits = pai_jobs_fits,
    .read = pai_read_samples,
};
