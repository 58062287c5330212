/* The native trace, and any other CSV with a header whose columns the user names. */
#include "traces/native.h"

#include "core/base/param.h"
#include "traces/account.h"
#include "traces/import.h"

#include <stdio.h>
#include <string.h>

enum { INSTANCES_MAX = 1000000, GPUS_MAX = 1000000 };

static const char *const kinds[] = {"unknown", "train", "infer", NULL}; /* enum job_kind */

#define ROW(field_) offsetof(struct native_row, row.field_)
#define HINT(hint_) (ROW(hint_us) + (hint_) * sizeof(int64_t))
// clang-format off
const struct column native_columns[] = {
    COLUMN_KEY("job", offsetof(struct native_row, job)),
    COLUMN_ID("task", ROW(task)),
    COLUMN_NEEDED("submit_s", COLUMN_US, ROW(submit_us), 6, -1e18, 1e18),
    COLUMN_NEEDED("duration_s", COLUMN_US, ROW(duration_us), 6, 0, 1e18),
    COLUMN_NEEDED("gpu", COLUMN_MILLI, ROW(gpu_milli), 3, 0, GPUS_MAX * 1e3),
    COLUMN_NUMBER("instances", COLUMN_WHOLE, ROW(n_inst), 0, 1, INSTANCES_MAX),
    COLUMN_NUMBER("gpu_min", COLUMN_WHOLE, ROW(gpu_min), 0, 1, GPUS_MAX),
    COLUMN_NUMBER("gpu_max", COLUMN_WHOLE, ROW(gpu_max), 0, 1, GPUS_MAX),
    COLUMN_NUMBER("cpu", COLUMN_MILLI, ROW(cpu_milli), 3, 0, INT32_MAX),
    COLUMN_NUMBER("mem_mib", COLUMN_WHOLE, ROW(mem_mib), 0, 0, INT32_MAX),
    COLUMN_NUMBER("gpu_mem_mib", COLUMN_WHOLE, ROW(gpu_mem_mib), 0, 0, INT32_MAX),
    COLUMN_ID("gpu_type", ROW(gpu_type)),
    COLUMN_CHOICE("kind", offsetof(struct native_row, kind), kinds),
    COLUMN_ID("workload", ROW(workload)),
    COLUMN_ID("config", ROW(config)),
    COLUMN_ID("user", ROW(user)),
    COLUMN_ID("group", ROW(group)),
    COLUMN_ID("queue", ROW(queue)),
    COLUMN_NUMBER("priority", COLUMN_WHOLE, ROW(priority), 0, INT32_MIN, INT32_MAX),
    COLUMN_NUMBER("min_rate_frac", COLUMN_REAL, ROW(min_rate_frac), 0, 1e-9, 1),
    COLUMN_NUMBER("user_dur_s", COLUMN_US, HINT(HINT_USER), 6, 0, 1e18),
    COLUMN_NUMBER("group_dur_s", COLUMN_US, HINT(HINT_GROUP), 6, 0, 1e18),
    COLUMN_NUMBER("group_gpu_dur_s", COLUMN_US, HINT(HINT_GROUP_GPU), 6, 0, 1e18),
    COLUMN_END,
};
// clang-format on

struct native_row native_row_empty(void)
{
    return (struct native_row){.row = job_row_empty(), .kind = KIND_UNKNOWN};
}

/* "job=job_id,submit_s=submit,…": for each column we need the first of theirs that begins like
 * it, to be corrected by whoever knows the file. */
static const char *suggest_mapping(const struct input *in, char text[256])
{
    size_t used = 0;
    for (const struct column *c = native_columns; c->header != NULL; c++) {
        size_t stem = strcspn(c->header, "_");
        struct field theirs = {"…", strlen("…")};
        if (!c->required)
            continue;
        for (size_t i = in->n_first; i-- > 0;)
            if (in->first[i].length >= stem && in->first[i].length < 40 &&
                memcmp(in->first[i].text, c->header, stem) == 0)
                theirs = in->first[i];
        used += (size_t)snprintf(text + used, 256 - used, "%s%s=%.*s", used > 0 ? "," : "",
                                 c->header, (int)theirs.length, theirs.text);
    }
    return text;
}

/* A header that is not ours, or nearly: say which word, and how to read it nevertheless. */
static enum status refuse_unknown(const struct input *in, struct error *err)
{
    const char *known[COLUMNS_MAX];
    size_t n = 0;
    char word[64], mapping[256];
    for (const struct column *c = native_columns; c->header != NULL; c++)
        known[n++] = c->header;
    for (size_t i = 0; i < in->n_first; i++) {
        const struct field *f = &in->first[i];
        if (columns_find(native_columns, f->text, f->length) != NULL)
            continue;
        const char *near = nearest_word(field_text(f, word, sizeof word), known, n);
        return fail(err, ST_INPUT,
                    "%s:1:%zu: unknown column '%s'%s%s%s; a table with other names is read with "
                    "--format csv --columns %s",
                    in->name, i + 1, word, near ? " (nearest: '" : "", near ? near : "",
                    near ? "')" : "", suggest_mapping(in, mapping));
    }
    return ST_OK;
}

/* What one column alone cannot tell; NULL or what is wrong. */
static const char *wrong_together(const struct job_row *r)
{
    if ((r->gpu_min > 0) != (r->gpu_max > 0))
        return "gpu_min and gpu_max must be given together";
    if (r->gpu_min > r->gpu_max)
        return "gpu_min is above gpu_max";
    return NULL;
}

static enum status read_rows(struct table *t, struct error *err)
{
    struct native_row r;
    bool more;
    for (;;) {
        TRY(table_next(t, &r, &more, err));
        if (!more)
            return ST_OK;
        r.row.name = r.job.text;
        r.row.name_length = r.job.length;
        r.row.kind = (enum job_kind)r.kind;
        const char *wrong = wrong_together(&r.row);
        if (wrong != NULL)
            TRY(table_drop(t, "gpu_min", wrong, err));
        else
            TRY(table_keep(t, &r.row, err));
    }
}

static enum status read_file(struct importer *im, struct input *in, const char *mapping,
                             struct error *err)
{
    const struct native_row empty = native_row_empty();
    struct table t;
    TRY(table_open_named(&t, im, in, native_columns, mapping, &empty, sizeof empty, err));
    enum status status = read_rows(&t, err);
    table_close(&t);
    return status;
}

static enum status native_read(struct importer *im, struct error *err)
{
    for (size_t i = 0; i < im->inputs.n; i++) {
        TRY(refuse_unknown(&im->inputs.input[i], err));
        TRY(read_file(im, &im->inputs.input[i], NULL, err));
    }
    return ST_OK;
}

static enum status csv_read(struct importer *im, struct error *err)
{
    if (im->options->columns == NULL)
        return fail(err, ST_USAGE,
                    "format csv needs --columns, as in "
                    "job=job_name,submit_s=start_s,duration_s=duration_s,gpu=gpu_total");
    for (size_t i = 0; i < im->inputs.n; i++)
        TRY(read_file(im, &im->inputs.input[i], im->options->columns, err));
    return ST_OK;
}

/* Two of the four columns it cannot do without. */
static bool native_fits(const struct inputs *inputs)
{
    const struct input *in = &inputs->input[0];
    int n = 0;
    for (size_t i = 0; i < in->n_first; i++) {
        const struct column *c =
            columns_find(native_columns, in->first[i].text, in->first[i].length);
        n += c != NULL && c->required;
    }
    return n >= 2;
}

const struct format format_native = {
    .about = {"native", "colosim's own table: CSV with a header, columns in any order",
              "job, submit_s, duration_s, gpu; optional: task, instances, gpu_min, gpu_max, cpu, "
              "mem_mib, gpu_mem_mib, gpu_type, kind, workload, config, user, group, queue, "
              "priority, min_rate_frac, user_dur_s, group_dur_s, group_gpu_dur_s"},
    .fits = native_fits,
    .read = native_read,
};

const struct format format_csv = {
    .about = {"csv", "any CSV with a header; --columns says which column is which",
              "--columns job=…,submit_s=…,duration_s=…,gpu=… and any other native column"},
    .read = csv_read,
};
