/* Alibaba PAI v2020 as published: the task table, joined with the job, instance, group-tag and
 * machine tables where they are given. */
#include "traces/pai.h"

#include "core/base/units.h"
#include "traces/account.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pai_info {       /* of a job */
    int32_t inst, user; /* id in join.inst, id among the trace's names */
};
struct pai_tag { /* of an inst_id */
    bool known;
    int32_t user, gpu_type, group, workload;
};
struct pai_span {              /* of a job and task */
    int64_t first_us, last_us; /* earliest start, latest end; ±TIME_NEVER for none */
};

/* What the other tables say, found by name. Ids count from 0 in each set of names. */
struct join {
    struct names job, inst; /* job_name; inst_id of the job and group-tag tables */
    struct names pair;      /* job_name, NUL, task_name */
    struct pai_info *info;  /* (job) */
    struct pai_tag *tag;    /* (inst) */
    struct pai_span *span;  /* (pair) */
    size_t info_capacity, tag_capacity, span_capacity;
    char *key; /* scratch for a pair */
    size_t key_capacity;
};

/* What is worth a note at the end. */
struct remarks {
    int64_t n_rounded, n_no_inst, n_by_instances, n_by_task;
    char first_rounded[200];
};

static void join_free(struct join *j)
{
    names_free(&j->job);
    names_free(&j->inst);
    names_free(&j->pair);
    free(j->info);
    free(j->tag);
    free(j->span);
    free(j->key);
}

static enum status read_jobs(struct table *t, struct join *j, struct error *err)
{
    struct pai_job r;
    bool more;
    for (;;) {
        TRY(table_next(t, &r, &more, err));
        if (!more)
            return ST_OK;
        int32_t n_before = j->job.n;
        int32_t job = names_add(&j->job, r.job.text, r.job.length);
        int32_t inst = names_add(&j->inst, r.inst.text, r.inst.length);
        if (job < 0 || inst < 0 || !ARRAY_GROW(j->info, j->info_capacity, j->job.n) ||
            !ARRAY_GROW(j->tag, j->tag_capacity, j->inst.n))
            return fail_memory(err);
        if (job == n_before)
            j->info[job] = (struct pai_info){inst, r.user};
    }
}

static enum status read_groups(struct table *t, struct join *j, struct error *err)
{
    struct pai_group r;
    bool more;
    for (;;) {
        TRY(table_next(t, &r, &more, err));
        if (!more)
            return ST_OK;
        int32_t inst = names_add(&j->inst, r.inst.text, r.inst.length);
        if (inst < 0 || !ARRAY_GROW(j->tag, j->tag_capacity, j->inst.n))
            return fail_memory(err);
        if (!j->tag[inst].known)
            j->tag[inst] = (struct pai_tag){true, r.user, r.gpu_type, r.group, r.workload};
    }
}

/* The id of a pair, added or only looked for; -1 when memory is out or it is not there. */
static int32_t pair_id(struct join *j, struct field job, struct field task, bool add)
{
    size_t n = job.length + 1 + task.length;
    if (!ARRAY_GROW(j->key, j->key_capacity, n))
        return -1;
    memcpy(j->key, job.text, job.length);
    j->key[job.length] = '\0';
    memcpy(j->key + job.length + 1, task.text, task.length);
    return add ? names_add(&j->pair, j->key, n) : names_find(&j->pair, j->key, n);
}

static enum status read_instances(struct table *t, struct join *j, struct error *err)
{
    struct pai_instance r;
    bool more;
    for (;;) {
        TRY(table_next(t, &r, &more, err));
        if (!more)
            return ST_OK;
        int32_t n_before = j->pair.n;
        int32_t pair = pair_id(j, r.job, r.task, true);
        if (pair < 0 || !ARRAY_GROW(j->span, j->span_capacity, j->pair.n))
            return fail_memory(err);
        struct pai_span *span = &j->span[pair];
        if (pair == n_before)
            *span = (struct pai_span){TIME_NEVER, -TIME_NEVER};
        if (r.start_us < span->first_us)
            span->first_us = r.start_us;
        if (r.end_us != TIME_NEVER && r.end_us > span->last_us)
            span->last_us = r.end_us;
    }
}

/* Reads all tables of one kind into the join. */
static enum status read_side(struct importer *im, struct join *j, enum pai_table table,
                             const void *empty, size_t size,
                             enum status (*read)(struct table *, struct join *, struct error *),
                             struct error *err)
{
    for (size_t i = 0; i < im->inputs.n; i++) {
        struct table t;
        if (im->inputs.input[i].table != (int)table)
            continue;
        TRY(pai_open(&t, im, &im->inputs.input[i], table, empty, size, err));
        t.side = true;
        enum status status = read(&t, j, err);
        table_close(&t);
        TRY(status);
    }
    return ST_OK;
}

static enum status read_sides(struct importer *im, struct join *j, struct error *err)
{
    static const struct pai_job no_job = {.user = -1};
    static const struct pai_group no_group = {
        .user = -1, .gpu_type = -1, .group = -1, .workload = -1};
    static const struct pai_instance no_instance = {.start_us = TIME_NEVER, .end_us = TIME_NEVER};
    for (size_t i = 0; i < im->inputs.n; i++)
        if (im->inputs.input[i].table == PAI_MACHINE)
            TRY(pai_read_machines(im, &im->inputs.input[i], &im->trace->nodes, &im->trace->n_nodes,
                                  err));
    TRY(read_side(im, j, PAI_JOB, &no_job, sizeof no_job, read_jobs, err));
    TRY(read_side(im, j, PAI_GROUP, &no_group, sizeof no_group, read_groups, err));
    if (im->options->duration == DURATION_MINUS_WAIT)
        TRY(read_side(im, j, PAI_INSTANCE, &no_instance, sizeof no_instance, read_instances, err));
    return ST_OK;
}

/* Who submitted the task's job, in which group. */
static void join_names(const struct join *j, struct pai_task *r)
{
    int32_t job = j->job.n > 0 ? names_find(&j->job, r->job.text, r->job.length) : -1;
    if (job < 0)
        return;
    const struct pai_tag *tag = &j->tag[j->info[job].inst];
    r->row.user = j->info[job].user;
    if (!tag->known)
        return;
    if (r->row.user < 0)
        r->row.user = tag->user;
    if (tag->gpu_type >= 0)
        r->row.gpu_type = tag->gpu_type;
    r->row.group = tag->group;
    r->row.workload = tag->workload;
}

/* From the first instance's start to the last one's end, where both are known. */
static void join_duration(struct table *t, struct join *j, struct pai_task *r,
                          struct remarks *remarks)
{
    const struct names *names = &t->im->trace->jobs.names;
    struct field task = {"", 0};
    if (r->row.task >= 0)
        task = (struct field){names_text(names, r->row.task), names_length(names, r->row.task)};
    int32_t pair = j->pair.n > 0 ? pair_id(j, r->job, task, false) : -1;
    if (pair < 0 || j->span[pair].first_us == TIME_NEVER ||
        j->span[pair].last_us < j->span[pair].first_us) {
        remarks->n_by_task++;
        return;
    }
    remarks->n_by_instances++;
    r->row.duration_us = j->span[pair].last_us - j->span[pair].first_us;
}

/* Above one GPU only whole GPUs make sense: one instance cannot hold half of a second card. */
static void round_gpus(const struct table *t, struct pai_task *r, struct remarks *remarks)
{
    int32_t milli = r->row.gpu_milli;
    if (milli <= 1000 || milli % 1000 == 0)
        return;
    char job[48];
    if (remarks->n_rounded++ == 0)
        snprintf(remarks->first_rounded, sizeof remarks->first_rounded,
                 "job %s, plan_gpu %.10g, %.100s:%" PRId64, field_text(&r->job, job, sizeof job),
                 milli / 10.0, t->lines.name, t->row.line);
    r->row.gpu_milli = (milli / 1000 + 1) * 1000;
}

static enum status keep_task(struct table *t, struct join *j, struct pai_task *r,
                             struct remarks *remarks, struct error *err)
{
    const struct trace_options *o = t->im->options;
    if (o->successful_only && r->status != PAI_TERMINATED)
        return table_leave_out(t, "status", "status is not Terminated", err);
    if (r->start_us == TIME_NEVER || r->end_us == TIME_NEVER)
        return table_drop(t, r->start_us == TIME_NEVER ? "start_time" : "end_time",
                          "no start or end time", err);
    if (r->end_us < r->start_us)
        return table_drop(t, "end_time", "end before start", err);
    r->row.name = r->job.text;
    r->row.name_length = r->job.length;
    r->row.submit_us = r->start_us;
    r->row.duration_us = r->end_us - r->start_us;
    if (r->row.n_inst == 0) {
        r->row.n_inst = 1;
        remarks->n_no_inst++;
    }
    round_gpus(t, r, remarks);
    join_names(j, r);
    if (o->duration == DURATION_MINUS_WAIT)
        join_duration(t, j, r, remarks);
    return table_keep(t, &r->row, err);
}

static enum status read_tasks(struct importer *im, struct input *input, struct join *j,
                              struct remarks *remarks, struct error *err)
{
    struct pai_task empty = {
        .row = job_row_empty(), .status = -1, .start_us = TIME_NEVER, .end_us = TIME_NEVER};
    struct pai_task r;
    struct table t;
    enum status status = ST_OK;
    bool more;
    empty.row.n_inst = 0;
    TRY(pai_open(&t, im, input, PAI_TASK, &empty, sizeof empty, err));
    for (;;) {
        TRY_OUT(table_next(&t, &r, &more, err));
        if (!more)
            break;
        TRY_OUT(keep_task(&t, j, &r, remarks, err));
    }
out:
    table_close(&t);
    return status;
}

static enum status note_remarks(const struct importer *im, const struct remarks *r,
                                struct error *err)
{
    struct import_report *report = &im->trace->report;
    if (im->options->duration == DURATION_AS_GIVEN)
        TRY(account_note(report, err,
                         "run times are end_time - start_time: the wait in the original cluster "
                         "is part of them"));
    else
        TRY(account_note(report, err,
                         "run times are first instance start to last instance end for %" PRId64
                         " rows; for %" PRId64 " the instance table lacks them and end_time - "
                         "start_time stands, wait included",
                         r->n_by_instances, r->n_by_task));
    if (r->n_rounded > 0)
        TRY(account_note(report, err,
                         "plan_gpu above 100 was rounded up to whole GPUs, tasks: %" PRId64
                         " (the first: %s)",
                         r->n_rounded, r->first_rounded));
    if (r->n_no_inst > 0)
        TRY(account_note(report, err, "tasks without inst_num, read as one instance: %" PRId64,
                         r->n_no_inst));
    return ST_OK;
}

/* Which file is which table. Files nobody named are left out where they fit nothing, and where
 * other files have the tables' names. */
static enum status sort_inputs(struct importer *im, int n_of[N_PAI_TABLES], struct error *err)
{
    struct listing skipped = {0};
    bool any_named = false;
    for (size_t i = 0; i < im->inputs.n; i++)
        any_named = any_named || pai_by_name(im->inputs.input[i].base) != PAI_NONE;
    for (size_t i = 0; i < im->inputs.n; i++) {
        struct input *in = &im->inputs.input[i];
        enum pai_table table = pai_by_name(in->base);
        if (table == PAI_NONE && !(in->found && any_named))
            table = pai_by_content(in, false);
        if (table == PAI_NONE && !in->found)
            return fail(err, ST_INPUT, "%s: %zu fields in the first row: no PAI table", in->name,
                        in->n_first);
        bool used = table != PAI_NONE && table != PAI_SENSOR && table != PAI_METRIC &&
                    (table != PAI_INSTANCE || im->options->duration == DURATION_MINUS_WAIT);
        if (!used)
            listing_add(&skipped, in->base, strlen(in->base));
        in->table = used ? (int)table : -1;
        n_of[table]++;
    }
    return account_listing(&im->trace->report, "not needed here or no table, not read", &skipped,
                           err);
}

static enum status pai_read(struct importer *im, struct error *err)
{
    int n_of[N_PAI_TABLES] = {0};
    struct join j = {0};
    struct remarks remarks = {0};
    enum status status = ST_OK;
    TRY(sort_inputs(im, n_of, err));
    if (n_of[PAI_TASK] == 0 && n_of[PAI_SAMPLE] > 0)
        return pai_read_samples(im, err);
    if (n_of[PAI_SAMPLE] > 0)
        return fail(err, ST_INPUT, "%s: a job sample and task tables are no one trace",
                    im->options->paths[0]);
    if (n_of[PAI_TASK] == 0)
        return fail(err, ST_INPUT, "%s: no PAI task table (pai_task_table*.csv) among the files",
                    im->options->paths[0]);
    TRY_OUT(read_sides(im, &j, err));
    for (size_t i = 0; i < im->inputs.n; i++)
        if (im->inputs.input[i].table == PAI_TASK)
            TRY_OUT(read_tasks(im, &im->inputs.input[i], &j, &remarks, err));
    im->trace->clock_hour_at_0 = 3 * 24 + 8; /* Thursday 08:00 */
    im->trace->zone = "UTC+8";
    status = note_remarks(im, &remarks, err);
out:
    join_free(&j);
    return status;
}

static bool pai_fits(const struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->n; i++)
        if (pai_by_name(inputs->input[i].base) != PAI_NONE)
            return true;
    enum pai_table table = pai_by_content(&inputs->input[0], true);
    return table != PAI_NONE && table != PAI_SAMPLE;
}

const struct format format_pai = {
    .about = {"pai", "Alibaba PAI v2020: the official tables, alone, joined, or as a folder",
              "pai_task_table; optional: pai_job_table (user), pai_group_tag_table (group, "
              "workload, gpu_type_spec), pai_instance_table (run time without the wait), "
              "pai_machine_spec (the cluster); without a header row as published, or with one"},
    .fits = pai_fits,
    .read = pai_read,
};
