/* Microsoft's Philly trace: cluster_job_log, a JSON array of jobs with their attempts.
 *
 * A job is replayed for the sum of its attempts' run times; the gaps between them are not work. Its
 * width is the GPUs of the first attempt that held any, over all machines. */
#include "traces/account.h"
#include "traces/dates.h"
#include "traces/import.h"
#include "traces/json_read.h"
#include "traces/json_rows.h"

#include <inttypes.h>
#include <string.h>

/* What is worth a note at the end. */
struct remarks {
    int64_t n_retried, n_differing;
};

/* What a job says. Texts of length 0 are missing, null or None. */
struct philly_job {
    struct field id, user, vc, state, submitted;
    bool no_text; /* one of them is something else */
    int64_t run_us;
    int32_t n_attempts, n_gpus;
    bool differing;    /* attempts held different numbers of GPUs */
    const char *wrong; /* with an attempt; NULL for nothing */
};

static bool says(const struct field *f, const char *word)
{
    return f->length == strlen(word) && memcmp(f->text, word, f->length) == 0;
}

/* A text as bytes, empty for null and None; false when it is anything else. */
static bool read_text(struct json_read *r, struct field *out)
{
    *out = (struct field){"", 0};
    if (json_read_null(r))
        return true;
    if (!json_read_string(r, out)) {
        json_read_skip(r);
        return false;
    }
    if (says(out, "None"))
        out->length = 0;
    return true;
}

/* [{"ip": "m1", "gpus": ["gpu0", ...]}, ...]: the GPUs of all machines. */
static int32_t read_detail(struct json_read *r)
{
    struct field key;
    int32_t n = 0;
    if (!json_read_array(r)) {
        json_read_skip(r);
        return 0;
    }
    while (json_read_element(r)) {
        if (!json_read_object(r)) {
            json_read_skip(r);
            continue;
        }
        while (json_read_member(r, &key)) {
            if (!says(&key, "gpus") || !json_read_array(r)) {
                json_read_skip(r);
                continue;
            }
            for (; json_read_element(r); n += n < WIDE_GPUS_MAX)
                json_read_skip(r);
        }
    }
    return n;
}

/* A date; NULL or what is wrong with it. */
static const char *read_date(bool is_text, const struct field *f, const char *missing,
                             const char *wrong, int64_t *us)
{
    if (is_text && f->length == 0)
        return missing;
    return is_text && parse_date(f->text, f->length, us) ? NULL : wrong;
}

static void read_attempt(struct json_read *r, struct philly_job *job)
{
    struct field key, start = {"", 0}, end = {"", 0};
    bool start_is_text = true, end_is_text = true;
    int64_t start_us = 0, end_us = 0;
    int32_t n_gpus = 0;
    job->n_attempts++;
    if (!json_read_object(r))
        json_read_skip(r);
    else
        while (json_read_member(r, &key)) {
            if (says(&key, "start_time"))
                start_is_text = read_text(r, &start);
            else if (says(&key, "end_time"))
                end_is_text = read_text(r, &end);
            else if (says(&key, "detail"))
                n_gpus = read_detail(r);
            else
                json_read_skip(r);
        }
    const char *wrong = read_date(start_is_text, &start, "no start_time of an attempt",
                                  "start_time of an attempt is no date", &start_us);
    if (wrong == NULL)
        wrong = read_date(end_is_text, &end, "no end_time of an attempt",
                          "end_time of an attempt is no date", &end_us);
    if (wrong == NULL && end_us < start_us)
        wrong = "end before start";
    job->wrong = job->wrong != NULL ? job->wrong : wrong;
    job->run_us += end_us - start_us;
    job->differing = job->differing || (job->n_gpus > 0 && n_gpus != job->n_gpus);
    job->n_gpus = job->n_gpus > 0 ? job->n_gpus : n_gpus;
}

static void read_member(struct json_read *r, const struct field *key, struct philly_job *job)
{
    const struct {
        const char *name;
        struct field *text;
    } texts[] = {{"jobid", &job->id},
                 {"user", &job->user},
                 {"vc", &job->vc},
                 {"status", &job->state},
                 {"submitted_time", &job->submitted}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (says(key, texts[i].name)) {
            job->no_text = !read_text(r, texts[i].text) || job->no_text;
            return;
        }
    if (!says(key, "attempts") || !json_read_array(r)) {
        json_read_skip(r);
        return;
    }
    while (json_read_element(r))
        read_attempt(r, job);
}

/* NULL, or why the job cannot be replayed. */
static const char *wrong_with(const struct philly_job *job, int64_t *submit_us)
{
    if (job->no_text)
        return "jobid, user, vc, status or submitted_time is no text";
    if (job->id.length == 0)
        return "no jobid";
    const char *wrong = read_date(true, &job->submitted, "no submitted_time",
                                  "submitted_time is no date", submit_us);
    if (wrong == NULL && job->n_attempts == 0)
        wrong = "no attempt";
    if (wrong == NULL)
        wrong = job->wrong;
    return wrong == NULL && job->n_gpus == 0 ? "no GPU" : wrong;
}

static enum status add_name(struct job_table *t, const struct field *f, int32_t *id,
                            struct error *err)
{
    if (f->length == 0)
        return ST_OK;
    *id = names_add(&t->names, f->text, f->length);
    return *id >= 0 ? ST_OK : fail_memory(err);
}

static enum status keep_job(struct table *t, const struct philly_job *job, struct remarks *remarks,
                            struct error *err)
{
    struct job_row row = job_row_empty();
    const char *wrong = wrong_with(job, &row.submit_us);
    if (wrong != NULL)
        return table_drop(t, "", wrong, err);
    if (t->im->options->successful_only && !says(&job->state, "Pass"))
        return table_leave_out(t, "", "status is not Pass", err);
    TRY(add_name(&t->im->trace->jobs, &job->user, &row.user, err));
    TRY(add_name(&t->im->trace->jobs, &job->vc, &row.queue, err));
    row.name = job->id.text;
    row.name_length = job->id.length;
    row.duration_us = job->run_us;
    row.kind = KIND_TRAIN;
    remarks->n_retried += job->n_attempts > 1;
    remarks->n_differing += job->differing;
    return table_keep_wide(t, &row, job->n_gpus, err);
}

static enum status read_element(struct table *t, const struct json_rows *element,
                                struct remarks *remarks, struct error *err)
{
    struct json_read r = json_read_begin(element->text, element->n);
    struct philly_job job = {.id = {"", 0}, .user = {"", 0}, .vc = {"", 0}, .state = {"", 0}};
    struct field key;
    job.submitted = (struct field){"", 0};
    table_row(t, element->line);
    if (!json_read_object(&r))
        json_read_skip(&r);
    else
        while (json_read_member(&r, &key))
            read_member(&r, &key, &job);
    return json_read_ended(&r) ? keep_job(t, &job, remarks, err)
                               : table_drop(t, "", "no JSON value", err);
}

static enum status read_file(struct importer *im, struct input *input, struct remarks *remarks,
                             struct error *err)
{
    struct json_rows elements = {0};
    struct table t;
    enum status status = ST_OK;
    bool more;
    TRY(table_open_plain(&t, im, input, err));
    for (;;) {
        TRY_OUT(json_rows_next(&elements, &t.lines, &more, err));
        if (!more)
            break;
        TRY_OUT(read_element(&t, &elements, remarks, err));
    }
    status = table_end(&t, err);
out:
    json_rows_free(&elements);
    table_close(&t);
    return status;
}

static bool is_json(const struct input *in)
{
    return in->n_first == 1 && in->first[0].length > 0 && in->first[0].text[0] == '[';
}

static enum status philly_read(struct importer *im, struct error *err)
{
    struct import_report *r = &im->trace->report;
    struct remarks remarks = {0};
    for (size_t i = 0; i < im->inputs.n; i++)
        TRY(read_file(im, &im->inputs.input[i], &remarks, err));
    im->trace->clock_hour_at_0 = DATE_HOUR_AT_0;
    im->trace->zone = "the log's own clock";
    TRY(account_note(r, err, "every job is read as training; vc stands as the queue"));
    if (remarks.n_retried > 0)
        TRY(account_note(
            r, err, "jobs of several attempts, replayed for the sum of their run times: %" PRId64,
            remarks.n_retried));
    if (remarks.n_differing > 0)
        TRY(account_note(r, err,
                         "jobs whose attempts held different numbers of GPUs, of which the first "
                         "stands: %" PRId64,
                         remarks.n_differing));
    return ST_OK;
}

static bool philly_fits(const struct inputs *inputs) { return is_json(&inputs->input[0]); }

const struct format format_philly = {
    .about = {"philly", "Microsoft Philly: cluster_job_log, jobs with their attempts as JSON",
              "jobid, submitted_time, attempts (start_time, end_time, detail: gpus); optional: "
              "user, vc (queue), status"},
    .unlabelled = true,
    .fits = philly_fits,
    .read = philly_read,
};
