/* Alibaba's GenTD26 (cluster-trace-v2026-GenAI): the table of image-generation requests, each as a
 * job or several as one offline-inference job.
 *
 * Only requests that succeeded are served. A job takes one GPU for the sum of its requests'
 * exec_time_seconds, is submitted by the groupId (as user) and runs the model (as group). Batches:
 *   session      requests of one group and model with gaps of up to 300 s, submitted with the last
 *   group_5min … of one group or one model within an interval of the clock, submitted as it ends
 * Counts of jobs and their work are those of the published table for each rule. */
#include "traces/account.h"
#include "traces/import.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum genai_status { GENAI_SUCCEED, GENAI_FAILED, GENAI_PENDING, GENAI_PROCESSING };
static const char *const statuses[] = {"SUCCEED", "FAILED", "PENDING", "PROCESSING", NULL};
static const char *const refusals[] = {"", "predict_status is FAILED", "predict_status is PENDING",
                                       "predict_status is PROCESSING"}; /* enum genai_status */

struct request {
    int64_t at_us, exec_us; /* exec_us -1 where empty */
    int status;             /* enum genai_status */
    int32_t user, model;    /* ids of names, -1 for none */
};

#define REQUEST(field_) offsetof(struct request, field_)
// clang-format off
static const struct column request_columns[] = {
    COLUMN_NEEDED("gmt_create", COLUMN_DATE, REQUEST(at_us), 0, 0, 0),
    COLUMN_IGNORED("predict_type"),
    {"predict_status", COLUMN_WORD, REQUEST(status), 0, 0, 0, true, statuses},
    COLUMN_NUMBER("exec_time_seconds", COLUMN_US, REQUEST(exec_us), 6, 0, 1e18),
    COLUMN_ID("groupId", REQUEST(user)),
    COLUMN_IGNORED("prompt_length"),
    COLUMN_IGNORED("negative_prompt_length"),
    COLUMN_IGNORED("num_images_per_prompt"),
    COLUMN_IGNORED("num_inference_steps"),
    COLUMN_ID("checkpoint_model_version_id", REQUEST(model)),
    COLUMN_IGNORED("num_lora"),
    COLUMN_END,
};
// clang-format on

enum { SESSION_GAP_S = 300 };

/* Which requests go together: those of one key. */
static const struct rule {
    bool by_user, by_model;
    int64_t every_s; /* interval of the clock; 0: none */
} rules[] = {
    [BATCH_REQUEST] = {false, false, 0},      [BATCH_SESSION] = {true, true, 0},
    [BATCH_GROUP_5MIN] = {true, false, 300},  [BATCH_GROUP_HOUR] = {true, false, 3600},
    [BATCH_GROUP_DAY] = {true, false, 86400}, [BATCH_MODEL_15MIN] = {false, true, 900},
    [BATCH_MODEL_HOUR] = {false, true, 3600}, [BATCH_MODEL_DAY] = {false, true, 86400},
};

/* Requests that are one job. */
struct batch {
    int64_t first_us, last_us, submit_us, exec_us;
    int32_t user, model;
};

struct batches {
    enum trace_batch how;
    struct batch *batch; /* (n) in order of their first request */
    size_t n, capacity;
    struct names keys;
    size_t *open; /* (keys.n) the batch that takes a key's next request */
    size_t open_capacity;
};

static struct batch batch_of(const struct request *r)
{
    return (struct batch){.first_us = r->at_us,
                          .last_us = r->at_us,
                          .submit_us = r->at_us,
                          .user = r->user,
                          .model = r->model};
}

/* Rounds down, also before 1970. */
static int64_t interval_of(int64_t at_us, int64_t every_us)
{
    return at_us / every_us - (at_us % every_us < 0);
}

/* Does the session go on with a request at this time? */
static bool session_takes(const struct batch *b, int64_t at_us)
{
    const int64_t gap_us = SESSION_GAP_S * US_PER_S;
    return at_us - b->last_us <= gap_us && b->first_us - at_us <= gap_us;
}

/* The batch the request belongs to; NULL when memory is out. */
static struct batch *find_batch(struct batches *s, const struct request *r)
{
    const struct rule *rule = &rules[s->how];
    const int64_t every_us = rule->every_s * US_PER_S;
    const int64_t interval = every_us > 0 ? interval_of(r->at_us, every_us) : 0;
    const int64_t key[3] = {rule->by_user ? r->user : -1, rule->by_model ? r->model : -1, interval};
    int32_t n_before = s->keys.n;
    int32_t id = names_add(&s->keys, (const char *)key, sizeof key);
    if (id < 0 || !ARRAY_GROW(s->open, s->open_capacity, s->keys.n) ||
        !ARRAY_GROW(s->batch, s->capacity, s->n + 1))
        return NULL;
    if (id < n_before && (every_us > 0 || session_takes(&s->batch[s->open[id]], r->at_us)))
        return &s->batch[s->open[id]];
    s->open[id] = s->n;
    s->batch[s->n] = batch_of(r);
    if (every_us > 0)
        s->batch[s->n].submit_us = (interval + 1) * every_us;
    return &s->batch[s->n++];
}

static enum status add_request(struct batches *s, const struct request *r, struct error *err)
{
    struct batch *b = find_batch(s, r);
    if (b == NULL)
        return fail_memory(err);
    b->first_us = r->at_us < b->first_us ? r->at_us : b->first_us;
    b->last_us = r->at_us > b->last_us ? r->at_us : b->last_us;
    if (rules[s->how].every_s == 0)
        b->submit_us = b->last_us;
    b->exec_us += r->exec_us;
    b->user = b->user == r->user ? b->user : -1;
    b->model = b->model == r->model ? b->model : -1;
    return ST_OK;
}

static enum status add_job(struct importer *im, const struct batch *b, const char *word,
                           struct error *err)
{
    char name[32];
    struct job_row row = job_row_empty();
    row.name = name;
    row.name_length = (size_t)snprintf(name, sizeof name, "%s-%" PRId32, word,
                                       im->trace->jobs.n_jobs - im->first_job + 1);
    row.submit_us = b->submit_us;
    row.duration_us = b->exec_us;
    row.gpu_milli = 1000;
    row.user = b->user;
    row.group = b->model;
    row.kind = KIND_INFER;
    return importer_add(im, &row) < 0 ? fail_memory(err) : ST_OK;
}

/* A request that is served: a job by itself, or part of one. */
static enum status serve(struct table *t, struct batches *s, const struct request *r,
                         struct error *err)
{
    t->im->trace->report.n_kept++;
    if (s->how != BATCH_REQUEST)
        return add_request(s, r, err);
    struct batch one = batch_of(r);
    one.exec_us = r->exec_us;
    return add_job(t->im, &one, "request", err);
}

static enum status read_requests(struct table *t, struct batches *s, struct error *err)
{
    struct request r;
    bool more;
    for (;;) {
        TRY(table_next(t, &r, &more, err));
        if (!more)
            return ST_OK;
        if (r.status != GENAI_SUCCEED)
            TRY(table_leave_out(t, "predict_status", refusals[r.status], err));
        else if (r.exec_us < 0)
            TRY(table_drop(t, "exec_time_seconds", "exec_time_seconds is empty", err));
        else
            TRY(serve(t, s, &r, err));
    }
}

static bool is_requests(const struct input *in)
{
    static const char *const wanted[] = {"gmt_create", "predict_status", "exec_time_seconds"};
    int n = 0;
    for (size_t i = 0; i < in->n_first; i++)
        for (int k = 0; k < 3; k++)
            n += in->first[i].length == strlen(wanted[k]) &&
                 memcmp(in->first[i].text, wanted[k], in->first[i].length) == 0;
    return n == 3;
}

static enum status read_files(struct importer *im, struct batches *s, struct error *err)
{
    static const struct request empty = {.exec_us = -1, .user = -1, .model = -1};
    struct listing skipped = {0};
    for (size_t i = 0; i < im->inputs.n; i++) {
        struct input *in = &im->inputs.input[i];
        struct table t;
        if (in->found && !is_requests(in)) {
            listing_add(&skipped, in->base, strlen(in->base));
            continue;
        }
        TRY(table_open_named(&t, im, in, request_columns, NULL, &empty, sizeof empty, err));
        enum status status = read_requests(&t, s, err);
        table_close(&t);
        TRY(status);
    }
    return account_listing(&im->trace->report, "no table of requests, not read", &skipped, err);
}

static enum status genai_read(struct importer *im, struct error *err)
{
    struct batches s = {.how = im->options->batch};
    struct trace *trace = im->trace;
    int64_t n_before = trace->report.n_kept;
    enum status status = ST_OK;
    TRY_OUT(read_files(im, &s, err));
    for (size_t i = 0; i < s.n; i++)
        TRY_OUT(add_job(im, &s.batch[i], "batch", err));
    TRY_OUT(account_note(&trace->report, err,
                         "each job takes one GPU for the exec_time_seconds of its requests, which "
                         "is end to end; the published clock is shifted: times count from 1970 on "
                         "it, and its hours of day are not real"));
    if (s.how != BATCH_REQUEST)
        status = account_note(&trace->report, err, "%" PRId64 " requests became %zu jobs",
                              trace->report.n_kept - n_before, s.n);
out:
    names_free(&s.keys);
    free(s.batch);
    free(s.open);
    return status;
}

static bool genai_fits(const struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->n; i++)
        if (is_requests(&inputs->input[i]))
            return true;
    return false;
}

const struct format format_genai = {
    .about = {"genai", "GenTD26: image-generation requests as offline-inference jobs (trace.batch)",
              "lora_request_trace: gmt_create, predict_status, exec_time_seconds; optional: "
              "groupId (user), checkpoint_model_version_id (group)"},
    .unlabelled = true,
    .fits = genai_fits,
    .read = genai_read,
};
