#include "traces/import.h"

#include "core/cluster/gpus.h"
#include "traces/account.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 32);
}

/* Everything a row says but its name; four hashes side by side, which a processor works on at once.
 */
static uint64_t row_said(const struct job_row *r)
{
    uint64_t frac, hash[4] = {0};
    memcpy(&frac, &r->min_rate_frac, sizeof frac);
    const int64_t values[][4] = {
        {r->submit_us, r->duration_us, r->hint_us[HINT_USER], (int64_t)frac},
        {r->n_inst, r->gpu_milli, r->hint_us[HINT_GROUP], (int64_t)r->kind},
        {r->cpu_milli, r->mem_mib, r->hint_us[HINT_GROUP_GPU], r->priority},
        {r->gpu_type, r->task, r->gpu_mem_mib, r->user},
        {r->group, r->queue, r->workload, r->config},
        {r->gpu_min, r->gpu_max, 0, 0}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (int lane = 0; lane < 4; lane++)
            hash[lane] = mix(hash[lane], (uint64_t)values[i][lane]);
    return mix(mix(mix(hash[0], hash[1]), hash[2]), hash[3]);
}

/* The slot of a further task, or the free one where it would go. */
static size_t seen_slot(const struct seen *s, int32_t job, int32_t task)
{
    uint64_t hash = mix((uint64_t)(uint32_t)task + 1, (uint64_t)job);
    size_t at = (size_t)hash & (s->n_slots - 1);
    while (s->slot[at] >= 0 && (s->row[s->slot[at]].job != job || s->row[s->slot[at]].task != task))
        at = (at + 1) & (s->n_slots - 1);
    return at;
}

static const struct seen_row *seen_find(const struct seen *s, int32_t job, int32_t task)
{
    const struct seen_row *first = &s->row[s->first[job]];
    if (first->task == task)
        return first;
    int32_t row = s->n_slots > 0 ? s->slot[seen_slot(s, job, task)] : -1;
    return row >= 0 ? &s->row[row] : NULL;
}

static bool seen_rehash(struct seen *s)
{
    size_t n_slots = s->n_slots == 0 ? 1024 : s->n_slots * 2;
    int32_t *slot = malloc(n_slots * sizeof *slot);
    if (slot == NULL)
        return false;
    memset(slot, 0xff, n_slots * sizeof *slot);
    free(s->slot);
    s->slot = slot;
    s->n_slots = n_slots;
    for (size_t i = 0; i < s->n; i++)
        if (s->first[s->row[i].job] != (int32_t)i)
            slot[seen_slot(s, s->row[i].job, s->row[i].task)] = (int32_t)i;
    return true;
}

/* Makes room first, so that what follows a success cannot fail. */
static bool seen_room(struct seen *s, int32_t n_jobs)
{
    return ARRAY_GROW(s->row, s->capacity, s->n + 1) &&
           ARRAY_GROW(s->first, s->first_capacity, n_jobs + 1) &&
           ((s->n_more + 1) * 2 <= s->n_slots || seen_rehash(s));
}

static void seen_add(struct seen *s, struct seen_row row, bool new_job)
{
    s->row[s->n] = row;
    if (new_job) {
        s->first[row.job] = (int32_t)s->n;
    } else {
        s->slot[seen_slot(s, row.job, row.task)] = (int32_t)s->n;
        s->n_more++;
    }
    s->n++;
}

static enum status open_table(struct table *t, struct importer *im, struct input *input,
                              const void *empty, size_t size, struct error *err)
{
    *t = (struct table){.im = im, .empty = empty, .size = size, .strict = im->options->strict};
    TRY(account_file(&im->trace->report, input->name, &t->file, err));
    return input_open(input, &t->lines, err);
}

enum status table_open(struct table *t, struct importer *im, struct input *input,
                       const struct column *columns, const void *empty, size_t size,
                       struct error *err)
{
    TRY(open_table(t, im, input, empty, size, err));
    columns_by_position(columns, &t->binding);
    return ST_OK;
}

enum status table_open_named(struct table *t, struct importer *im, struct input *input,
                             const struct column *columns, const char *mapping, const void *empty,
                             size_t size, struct error *err)
{
    bool more;
    TRY(open_table(t, im, input, empty, size, err));
    enum status status = csv_next(&t->row, &t->lines, &more, err);
    if (status == ST_OK && (!more || t->row.fault != NULL))
        status = fail(err, ST_INPUT, "%s: no header row", input->name);
    else if (status == ST_OK) {
        status = mapping == NULL
                     ? columns_by_header(columns, &t->row, &t->binding, err)
                     : columns_by_mapping(columns, mapping, &t->row, &im->arena, &t->binding, err);
        if (status == ST_INPUT)
            fail_in(err, "%s:%" PRId64, input->name, t->row.line);
    }
    if (status != ST_OK)
        table_close(t);
    return status;
}

enum status table_open_plain(struct table *t, struct importer *im, struct input *input,
                             struct error *err)
{
    return open_table(t, im, input, NULL, 0, err);
}

void table_row(struct table *t, int64_t line)
{
    t->row.line = line;
    t->n_rows++;
    t->im->trace->report.n_rows++;
}

enum status table_end(struct table *t, struct error *err)
{
    struct trace *trace = t->im->trace;
    trace->hash = mix(trace->hash, lines_hash(&t->lines));
    if (t->n_bad == 0)
        return ST_OK;
    return account_note(&trace->report, err,
                        "%s: %" PRId64 " of %" PRId64 " rows are not usable, the first is line %s",
                        t->lines.name, t->n_bad, t->n_rows, t->first_bad);
}

static struct place place_of(const struct table *t, int32_t field)
{
    struct place at = {t->file, t->row.line, field, {"", 0}};
    if (field > 0 && (size_t)field <= t->row.n && t->row.fault == NULL)
        at.value = t->row.field[field - 1];
    return at;
}

static enum status drop(struct table *t, int32_t field, const char *reason, bool strict,
                        struct error *err)
{
    struct place at = place_of(t, field);
    char value[48];
    field_text(&at.value, value, sizeof value);
    if (strict)
        return fail(err, ST_INPUT, "%s:%" PRId64 ":%" PRId32 ": %s ('%s')", t->lines.name, at.line,
                    field, reason, value);
    if (!t->side)
        return account_dropped(&t->im->trace->report, reason, &at, err);
    if (t->n_bad++ == 0)
        snprintf(t->first_bad, sizeof t->first_bad, "%" PRId64 ": %s ('%s')", at.line, reason,
                 value);
    return ST_OK;
}

/* Whether to go on. */
static enum status heed(const struct table *t, struct error *err)
{
    const volatile sig_atomic_t *stop = t->im->options->stop;
    if (stop != NULL && *stop)
        return fail(err, ST_INTERRUPTED, "interrupted while %s was read; nothing was run",
                    t->lines.name);
    return ST_OK;
}

enum status table_next(struct table *t, void *target, bool *more, struct error *err)
{
    struct trace *trace = t->im->trace;
    struct fault fault;
    for (;;) {
        TRY(heed(t, err));
        TRY(csv_next(&t->row, &t->lines, more, err));
        if (!*more)
            return table_end(t, err);
        t->n_rows++;
        trace->report.n_rows += !t->side;
        memcpy(target, t->empty, t->size);
        TRY(columns_read(&t->binding, &t->row, &trace->jobs.names, target, &fault, err));
        if (fault.text[0] == '\0')
            return ST_OK;
        TRY(drop(t, fault.field, fault.text, t->strict, err));
    }
}

enum status table_drop(struct table *t, const char *column, const char *reason, struct error *err)
{
    return drop(t, columns_field(&t->binding, column), reason, t->strict, err);
}

enum status table_leave_out(struct table *t, const char *column, const char *reason,
                            struct error *err)
{
    return drop(t, columns_field(&t->binding, column), reason, false, err);
}

/* A second row for a task that is there. */
static enum status keep_again(struct table *t, const struct seen_row *first, uint64_t said,
                              struct error *err)
{
    struct import_report *report = &t->im->trace->report;
    if (first->said == said) {
        report->n_duplicates++;
        return ST_OK;
    }
    char where[48];
    snprintf(where, sizeof where, "line %" PRId64 "%s%s", first->line,
             first->file != t->file ? " of " : "",
             first->file != t->file ? report->file[first->file] : "");
    if (t->strict)
        return fail(err, ST_INPUT, "%s:%" PRId64 ": contradicts %s: the same job and task",
                    t->lines.name, t->row.line, where);
    report->n_conflicts++;
    struct place at = {t->file, t->row.line, 0, {where, strlen(where)}};
    return account_dropped(report, "contradicts an earlier row of the same job and task", &at, err);
}

/* The name, or what to call a job whose name is one of another format's. False when memory is out.
 */
static bool own_name(struct importer *im, struct job_row *row)
{
    const struct names *taken = &im->trace->jobs.job_names;
    int32_t known;
    while (im->first_job > 0 && (known = names_find(taken, row->name, row->name_length)) >= 0 &&
           known < im->first_job) {
        size_t n = row->name_length, n_format = strlen(im->format);
        char *longer = arena_alloc(&im->arena, n + 1 + n_format, 1);
        if (longer == NULL)
            return false;
        memcpy(longer, row->name, n);
        longer[n] = '@';
        memcpy(longer + n + 1, im->format, n_format);
        row->name = longer;
        row->name_length = n + 1 + n_format;
        im->n_renamed++;
    }
    return true;
}

int32_t importer_add(struct importer *im, const struct job_row *row)
{
    struct job_row own = *row;
    return own_name(im, &own) ? jobs_add(&im->trace->jobs, &own) : -1;
}

/* One row becomes these tasks of one job; whole is the row before it was cut. */
static enum status keep(struct table *t, const struct job_row *whole, const struct job_row *part,
                        int n_parts, struct error *err)
{
    TRY(heed(t, err)); /* where a format finds its rows by itself */
    struct trace *trace = t->im->trace;
    struct seen *s = &t->im->seen;
    uint64_t said = row_said(whole);
    int32_t known = names_find(&trace->jobs.job_names, whole->name, whole->name_length);
    const struct seen_row *first = known >= 0 ? seen_find(s, known, whole->task) : NULL;
    if (first != NULL)
        return keep_again(t, first, said, err);
    int32_t job = seen_room(s, trace->jobs.n_jobs) ? 0 : -1;
    for (int i = 0; i < n_parts && job >= 0; i++)
        job = jobs_add(&trace->jobs, &part[i]);
    if (job < 0)
        return fail_memory(err);
    seen_add(s, (struct seen_row){job, whole->task, t->file, t->row.line, said}, known < 0);
    trace->report.n_kept++;
    return ST_OK;
}

enum status table_keep(struct table *t, const struct job_row *row, struct error *err)
{
    struct job_row own = *row;
    if (!own_name(t->im, &own))
        return fail_memory(err);
    return keep(t, &own, &own, 1, err);
}

/* The job's part on instances of so many GPUs each. */
static struct job_row part_of(const struct job_row *whole, int32_t n_gpus, int32_t n_inst,
                              int32_t width)
{
    struct job_row part = *whole;
    part.n_inst = n_inst;
    part.gpu_milli = width * 1000;
    part.cpu_milli = (int32_t)((int64_t)whole->cpu_milli * width / n_gpus);
    part.mem_mib = (int32_t)((int64_t)whole->mem_mib * width / n_gpus);
    return part;
}

enum status table_keep_wide(struct table *t, const struct job_row *row, int32_t n_gpus,
                            struct error *err)
{
    int32_t node = t->im->options->node_gpus > 0 ? t->im->options->node_gpus : NODE_GPUS;
    struct job_row whole = *row, part[2];
    if (!own_name(t->im, &whole))
        return fail_memory(err);
    whole.gpu_milli = n_gpus * 1000;
    if (n_gpus <= node)
        return keep(t, &whole, &whole, 1, err);
    int64_t n_before = t->im->trace->report.n_kept;
    int n_parts = 1;
    part[0] = part_of(&whole, n_gpus, n_gpus / node, node);
    if (n_gpus % node > 0) {
        part[n_parts] = part_of(&whole, n_gpus, 1, n_gpus % node);
        part[n_parts].task = names_add(&t->im->trace->jobs.names, "rest", 4);
        if (part[n_parts++].task < 0)
            return fail_memory(err);
    }
    TRY(keep(t, &whole, part, n_parts, err));
    t->im->n_cut += t->im->trace->report.n_kept - n_before;
    return ST_OK;
}

void table_apart(struct table *t) { t->im->trace->report.n_apart++; }

void table_close(struct table *t)
{
    lines_close(&t->lines);
    csv_free(&t->row);
}

enum status nodes_add(struct node_spec **nodes, int32_t *n_nodes, const struct node_spec *node,
                      struct field name, struct field gpu_type, struct error *err)
{
    size_t n = (size_t)*n_nodes;
    struct node_spec *grown = *nodes;
    if ((n & (n - 1)) == 0) { /* full at every power of two */
        grown = realloc(*nodes, (n == 0 ? 1 : 2 * n) * sizeof *grown);
        if (grown == NULL)
            return fail_memory(err);
        *nodes = grown;
    }
    char *name_text = strndup(name.text, name.length);
    char *type_text = strndup(gpu_type.text, gpu_type.length);
    if (name_text == NULL || type_text == NULL) {
        free(name_text);
        free(type_text);
        return fail_memory(err);
    }
    grown[n] = *node;
    grown[n].count = 1;
    grown[n].name = name_text;
    grown[n].gpu_type = type_text;
    grown[n].gpu_mem_mib = gpu_type_mem_mib(type_text);
    ++*n_nodes;
    return ST_OK;
}

void importer_free(struct importer *im)
{
    inputs_free(&im->inputs);
    arena_free(&im->arena);
    free(im->seen.row);
    free(im->seen.first);
    free(im->seen.slot);
    im->seen = (struct seen){0};
}
