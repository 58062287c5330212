/* import.h - what formats share: opening a table, reading its rows one by one, and the account.
 *
 * A format sees its good rows only. A row with a fault is dropped under its reason and the next
 * one is read; with strict the first is ST_INPUT. A further row of the same job and task is no
 * new task: an exact repeat is counted, a contradicting one dropped, both lines named. */
#ifndef COLOSIM_IMPORT_H
#define COLOSIM_IMPORT_H

#include "core/base/arena.h"
#include "traces/columns.h"
#include "traces/inputs.h"
#include "traces/trace.h"

enum { NODE_GPUS = 8, WIDE_GPUS_MAX = 1000000 }; /* width of a node unless set; of a job */

/* Where a task was read, and what it said. */
struct seen_row {
    int32_t job, task, file;
    int64_t line;
    uint64_t said; /* hash of the row's values */
};
/* Tasks by (job, task name). Most jobs have one task, so a job's first is found by its number and
 * only further ones by hashing. */
struct seen {
    struct seen_row *row; /* (n) */
    int32_t *first;       /* (n_jobs) a job's first row */
    int32_t *slot;        /* (n_slots) open addressing over the n_more other rows, -1 free */
    size_t n, capacity, first_capacity, n_more, n_slots;
};

struct importer {
    const struct trace_options *options;
    struct trace *trace;
    struct inputs inputs;
    struct arena arena; /* until the end of the import */
    struct seen seen;
    int64_t n_cut;      /* jobs wider than a node */
    const char *format; /* the name of the one that reads now; it may tell more precisely */
    int32_t first_job;  /* its first: those before are of another format */
    int64_t n_renamed;  /* rows whose job has the name of another format's */
    bool unlabelled;    /* a format so far never says which workloads ran */
};

/* One file while it is read. */
struct table {
    struct importer *im;
    struct lines lines;
    struct csv row;
    struct binding binding;
    const void *empty; /* (size) what a row is before it is read */
    size_t size;
    int32_t file;
    bool side;   /* joined to the rows that count; its own are no rows of the account */
    bool strict; /* the first fault is ST_INPUT */
    int64_t n_rows, n_bad;
    char first_bad[160]; /* of a side table */
};

/* A table without header: the columns in their order. */
enum status table_open(struct table *t, struct importer *im, struct input *input,
                       const struct column *columns, const void *empty, size_t size,
                       struct error *err) MUST_USE;
/* A table whose first row names its columns; a mapping (ours=theirs,…) or NULL. */
enum status table_open_named(struct table *t, struct importer *im, struct input *input,
                             const struct column *columns, const char *mapping, const void *empty,
                             size_t size, struct error *err) MUST_USE;
/* A file that is no CSV table: the format finds its rows by itself and says where each begins. */
enum status table_open_plain(struct table *t, struct importer *im, struct input *input,
                             struct error *err) MUST_USE;
void table_row(struct table *t, int64_t line);
/* After its last row. */
enum status table_end(struct table *t, struct error *err) MUST_USE;
/* The next row without fault, read into target; *more is false after the last. */
enum status table_next(struct table *t, void *target, bool *more, struct error *err) MUST_USE;
/* The row just read is no good after all. column is the header of the field that
 * shows it. */
enum status table_drop(struct table *t, const char *column, const char *reason,
                       struct error *err) MUST_USE;
/* The same where the user asked for it: no fault, also with strict. */
enum status table_leave_out(struct table *t, const char *column, const char *reason,
                            struct error *err) MUST_USE;
/* The row just read is this task. */
enum status table_keep(struct table *t, const struct job_row *row, struct error *err) MUST_USE;
/* The same for a row that says how many whole GPUs a job has in all (row's CPU and memory are the
 * whole job's too): more than a node's become instances of the node's width, what is left last, as
 * a task of its own. */
enum status table_keep_wide(struct table *t, const struct job_row *row, int32_t n_gpus,
                            struct error *err) MUST_USE;
/* The row just read is no GPU job. */
void table_apart(struct table *t);
void table_close(struct table *t);

/* Appends one node with this name, GPU type and that type's memory to an array whose texts are
 * malloc'd each (node_specs_free). */
enum status nodes_add(struct node_spec **nodes, int32_t *n_nodes, const struct node_spec *node,
                      struct field name, struct field gpu_type, struct error *err) MUST_USE;

void importer_free(struct importer *im);

/* A format: one const struct in its file, and one word in formats.c. */
struct format {
    struct trace_format about;
    bool unlabelled; /* never says which workloads ran */
    /* Whether these files look like it; formats are asked in the order of their names. NULL: it
     * has to be named. */
    bool (*fits)(const struct inputs *inputs);
    enum status (*read)(struct importer *im, struct error *err);
};

/* Sets the format of each input: the one named in the options; otherwise guessed for each of the
 * paths, files that look like none being further tables of the only one there is. */
enum status formats_pick(struct importer *im, struct error *err) MUST_USE;

/* A task of a job. A job that has the name of one of another format is another job, called
 * NAME@FORMAT. Returns the job, or -1 when memory is out. */
int32_t importer_add(struct importer *im, const struct job_row *row);

#endif
