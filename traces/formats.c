#include "traces/import.h"

#include "core/base/param.h"
#include "traces/account.h"
#include "traces/assign.h"
#include "traces/openb.h"
#include "traces/pai.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sorted by name; the symbol is format_ plus the word. Adding one: its file, and one word here. */
#define FORMATS(X)                                                                                 \
    X(csv) X(genai) X(helios) X(native) X(openb) X(pai) X(pai_jobs) X(philly) X(swf) X(venus)

#define X(word) extern const struct format format_##word;
FORMATS(X)
#undef X

#define X(word) &format_##word,
static const struct format *const formats[] = {FORMATS(X) NULL};
#undef X

#define X(word) &format_##word.about,
const struct trace_format *const trace_formats[] = {FORMATS(X) NULL};
#undef X

enum { FORMATS_MAX = 32 };

static enum status find_format(const char *name, const struct format **out, struct error *err)
{
    const char *known[FORMATS_MAX];
    size_t n = 0;
    for (; formats[n] != NULL; n++) {
        known[n] = formats[n]->about.name;
        if (strcmp(known[n], name) == 0) {
            *out = formats[n];
            return ST_OK;
        }
    }
    const char *near = nearest_word(name, known, n);
    return fail(err, ST_USAGE, "format: there is no '%s'%s%s%s (colosim describe formats)", name,
                near ? "; nearest: '" : "", near ? near : "", near ? "'" : "");
}

/* The header or first row of the first file, for a message. */
static enum status refuse_guess(const struct input *in, struct error *err)
{
    struct listing row = {0};
    if (in->n_first == 0)
        return fail(err, ST_INPUT, "%s: no rows", in->name);
    for (size_t i = 0; i < in->n_first; i++)
        listing_add(&row, in->first[i].text, in->first[i].length);
    return fail(err, ST_INPUT,
                "%s: cannot tell the format from the first row (%.200s%s); name it with --format, "
                "or read any CSV with a header by --format csv "
                "--columns job=…,submit_s=…,duration_s=…,gpu=…",
                in->name, row.text, strlen(row.text) > 200 ? " …" : "");
}

static enum status pick_format(const struct importer *im, const struct format **out,
                               struct error *err)
{
    const struct trace_options *o = im->options;
    if (o->format != NULL)
        return find_format(o->format, out, err);
    if (o->columns != NULL)
        return find_format("csv", out, err);
    for (size_t i = 0; formats[i] != NULL; i++)
        if (formats[i]->fits != NULL && formats[i]->fits(&im->inputs)) {
            *out = formats[i];
            return ST_OK;
        }
    return refuse_guess(&im->inputs.input[0], err);
}

/* A file without a row that could be used is refused; the first reason says why. */
static enum status some_rows(const struct importer *im, struct error *err)
{
    const struct import_report *r = &im->trace->report;
    const char *first = im->inputs.input[0].name;
    if (r->n_kept > 0)
        return ST_OK;
    if (r->n_rows == 0)
        return fail(err, ST_INPUT, "%s: no rows", first);
    if (r->n_reasons == 0)
        return fail(err, ST_INPUT, "%s: no row is left of %" PRId64, first, r->n_rows);
    const struct import_reason *why = &r->reason[0];
    return fail(err, ST_INPUT, "%s: no row is left of %" PRId64 " (%s:%" PRId64 ": %s)", first,
                r->n_rows, r->file[why->at[0].file], why->at[0].line, why->text);
}

static enum status note_cut(const struct importer *im, struct error *err)
{
    int32_t node = im->options->node_gpus > 0 ? im->options->node_gpus : NODE_GPUS;
    if (im->n_cut == 0)
        return ST_OK;
    return account_note(&im->trace->report, err,
                        "jobs of more than %" PRId32 " GPUs, cut into instances of %" PRId32
                        " and what is left (trace.node_gpus): %" PRId64,
                        node, node, im->n_cut);
}

static enum status import(struct importer *im, struct error *err)
{
    const struct format *format = NULL;
    struct trace *trace = im->trace;
    TRY(inputs_find(&im->inputs, im->options->paths, im->options->n_paths, &trace->report, err));
    TRY(pick_format(im, &format, err));
    snprintf(trace->report.format, sizeof trace->report.format, "%s", format->about.name);
    TRY(format->read(im, err));
    trace->report.n_jobs = trace->jobs.n_jobs;
    TRY(some_rows(im, err));
    TRY(note_cut(im, err));
    TRY(jobs_close(&trace->jobs, err));
    if (im->options->assign)
        return assign_missing(trace, im->options, err);
    if (!format->unlabelled)
        return ST_OK;
    return account_note(
        &trace->report, err,
        "nothing says which workloads ran: trace.assign=on gives jobs a workload, a "
        "kind and a min_rate_frac");
}

enum status trace_read(const struct trace_options *o, struct trace *out, struct error *err)
{
    struct importer im = {.options = o, .trace = out};
    *out = (struct trace){.clock_hour_at_0 = NAN};
    enum status status = import(&im, err);
    importer_free(&im);
    return status;
}

/* NULL where memory is out. */
static struct node_spec *copy_nodes(const struct node_spec *from, int32_t n)
{
    struct node_spec *to = calloc((size_t)n + 1, sizeof *to);
    bool ok = to != NULL;
    for (int32_t i = 0; ok && i < n; i++) {
        to[i] = from[i];
        to[i].name = from[i].name != NULL ? strdup(from[i].name) : NULL;
        to[i].gpu_type = from[i].gpu_type != NULL ? strdup(from[i].gpu_type) : NULL;
        to[i].pool = from[i].pool != NULL ? strdup(from[i].pool) : NULL;
        ok = (from[i].name == NULL || to[i].name != NULL) &&
             (from[i].gpu_type == NULL || to[i].gpu_type != NULL) &&
             (from[i].pool == NULL || to[i].pool != NULL);
    }
    if (!ok)
        node_specs_free(to, n);
    return ok ? to : NULL;
}

enum status trace_copy(const struct trace *from, struct trace *to, struct error *err)
{
    *to = (struct trace){.hash = from->hash,
                         .n_nodes = from->n_nodes,
                         .clock_hour_at_0 = from->clock_hour_at_0,
                         .zone = from->zone};
    TRY(jobs_clone(&from->jobs, &to->jobs, err));
    TRY(account_copy(&from->report, &to->report, err));
    to->nodes = from->n_nodes > 0 ? copy_nodes(from->nodes, from->n_nodes) : NULL;
    return from->n_nodes == 0 || to->nodes != NULL ? ST_OK : fail_memory(err);
}

void trace_free(struct trace *t)
{
    jobs_free(&t->jobs);
    account_free(&t->report);
    node_specs_free(t->nodes, t->n_nodes);
    *t = (struct trace){0};
}

static enum status read_machines(struct importer *im, const char *path, struct error *err)
{
    TRY(inputs_find(&im->inputs, &path, 1, &im->trace->report, err));
    for (size_t i = 0; i < im->inputs.n; i++) {
        struct input *in = &im->inputs.input[i];
        if (openb_is_nodes(in))
            TRY(openb_read_nodes(im, in, err));
        else if (pai_by_name(in->base) == PAI_MACHINE || pai_by_content(in, false) == PAI_MACHINE)
            TRY(pai_read_machines(im, in, &im->trace->nodes, &im->trace->n_nodes, err));
    }
    if (im->trace->n_nodes == 0)
        return fail(err, ST_INPUT,
                    "%s: no machine table (machine,gpu_type,cap_cpu,cap_mem,cap_gpu or openb's "
                    "sn,cpu_milli,memory_mib,gpu,model)",
                    path);
    return ST_OK;
}

enum status trace_read_machines(const char *path, struct node_spec **nodes, int32_t *n_nodes,
                                struct error *err)
{
    const struct trace_options options = {0};
    struct trace trace = {0};
    struct importer im = {.options = &options, .trace = &trace};
    enum status status = read_machines(&im, path, err);
    if (status == ST_OK) {
        *nodes = trace.nodes;
        *n_nodes = trace.n_nodes;
        trace.nodes = NULL;
    }
    importer_free(&im);
    trace_free(&trace);
    return status;
}
