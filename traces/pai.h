/* pai.h - Alibaba's PAI tables: which is which, and the machine table.
 *
 * The published files have no header row; users add one, rename files and cut pieces out of them.
 * A table is known by its file's name, else by its header, else by its number of columns. */
#ifndef COLOSIM_PAI_H
#define COLOSIM_PAI_H

#include "traces/import.h"

enum pai_table {
    PAI_NONE,
    PAI_TASK,
    PAI_JOB,
    PAI_INSTANCE,
    PAI_GROUP,
    PAI_MACHINE,
    PAI_SENSOR,
    PAI_METRIC,
    PAI_SAMPLE, /* one of the 100K job samples, which have headers */
    N_PAI_TABLES
};

enum { PAI_GPUS_MAX = 1000000, PAI_INSTANCES_MAX = 1000000 };

enum pai_table pai_by_name(const char *base);
/* By its first row. A guess has to be surer: the number of columns alone will not do. */
enum pai_table pai_by_content(const struct input *input, bool guess);

/* NULL where the table is known and not read. */
const struct column *pai_columns(enum pai_table table);
/* Opens the table with or without a header row; its columns are those of that kind of table. */
enum status pai_open(struct table *t, struct importer *im, struct input *input,
                     enum pai_table table, const void *empty, size_t size,
                     struct error *err) MUST_USE;

/* One row of each table that is read. */
struct pai_task {
    struct job_row row;
    struct field job;
    int status;               /* enum pai_status, -1 for none */
    int64_t start_us, end_us; /* TIME_NEVER where empty */
};
enum pai_status { PAI_TERMINATED, PAI_FAILED, PAI_RUNNING, PAI_WAITING, PAI_INTERRUPTED };
struct pai_job {
    struct field job, inst;
    int32_t user;
};
struct pai_instance {
    struct field job, task;
    int64_t start_us, end_us; /* TIME_NEVER where empty */
};
struct pai_group {
    struct field inst;
    int32_t user, gpu_type, group, workload;
};
struct pai_machine {
    struct field machine, gpu_type;
    int32_t cpu_milli, mem_mib, n_gpus;
};
struct pai_sensor { /* of one worker */
    struct field job, task;
    double gpu_util; /* per cent, summed over its GPUs, mean of its life; NAN where empty */
};
struct pai_sample {
    struct job_row row;
    struct field job;
    int32_t n_pods;  /* 0 for none */
    int64_t wait_us; /* -1 for none */
};

/* Appends the machines to an array whose texts are malloc'd each (node_specs_free). A bad row is
 * ST_INPUT: a cluster that lacks a node is another cluster. */
enum status pai_read_machines(struct importer *im, struct input *input, struct node_spec **nodes,
                              int32_t *n_nodes, struct error *err) MUST_USE;

/* The 100K job samples among the inputs (all whose table is PAI_NONE or PAI_SAMPLE). */
enum status pai_read_samples(struct importer *im, struct error *err) MUST_USE;

#endif
