/* trace.h - a file, or several, as a job table; and the account of what was read.
 *
 * A format is one const struct in one file and one word in formats.c. It turns rows into
 * struct job_row; source units become ours there and nowhere else. A bad row is dropped, counted
 * under its reason and reading goes on (with strict it is ST_INPUT); a bad file is always
 * ST_INPUT. Every row read is kept, dropped, a duplicate or kept apart: the account adds up. */
#ifndef COLOSIM_TRACE_H
#define COLOSIM_TRACE_H

#include "core/base/status.h"
#include "core/cluster/cluster.h"
#include "core/cluster/job.h"

#include <signal.h>
#include <stdio.h>

/* When submissions of several formats are on clocks that have nothing to do with each other: each
 * format's are counted from its first, or taken as they are. */
enum trace_align { ALIGN_START, ALIGN_CLOCK };
enum trace_duration { DURATION_AS_GIVEN, DURATION_MINUS_WAIT };
/* Which requests of an inference trace make one offline job (genai.c). */
enum trace_batch {
    BATCH_REQUEST,
    BATCH_SESSION,
    BATCH_GROUP_5MIN,
    BATCH_GROUP_HOUR,
    BATCH_GROUP_DAY,
    BATCH_MODEL_15MIN,
    BATCH_MODEL_HOUR,
    BATCH_MODEL_DAY
};

struct trace_options {
    const char *const *paths; /* (n_paths) files or folders, at least one */
    int n_paths;
    const char *format;  /* of all of them; NULL: guessed for each path */
    const char *columns; /* "submit_s=start_s,gpu=gpu_total": our name = the file's; NULL none */
    bool strict;
    bool successful_only; /* drop jobs whose status is not success, where the format has one */
    enum trace_duration duration;
    enum trace_batch batch;
    enum trace_align align;
    int32_t node_gpus; /* a job of more GPUs in all is cut into instances of so many; 0 is 8 */
    bool assign;       /* give jobs what the trace does not say about them (assign.h) */
    uint64_t assign_seed;
    double infer_frac, min_rate_frac;  /* of what is assigned */
    const volatile sig_atomic_t *stop; /* non-zero: ST_INTERRUPTED at the next row; NULL: never */
};

/* Why rows were dropped: one line of the account. Lines are kept up to a limit, counts always. */
enum { REASON_LINES = 8 };
struct import_reason {
    char text[96]; /* "submit_s is not a number", "end before start" */
    int64_t n;
    struct {
        int32_t file;
        int64_t line;
        int32_t column; /* 1-based field, 0 for the whole row */
        char value[48]; /* what stood there, cut; NULs and control bytes shown as ? */
    } at[REASON_LINES]; /* the first few */
};

struct import_report {
    char format[64]; /* of several, in the order read: "pai+genai" */
    int n_files;
    char **file;    /* (n_files) */
    int64_t n_rows; /* data rows read (a header is none) */
    int64_t n_kept; /* rows that became tasks */
    int32_t n_jobs; /* jobs they belong to */
    int64_t n_dropped;
    int64_t n_duplicates; /* exact repeats, not counted as dropped */
    int64_t n_conflicts;  /* contradicting repeats: the first was kept, counted as dropped too */
    int64_t n_apart;      /* CPU jobs of a GPU trace: kept apart, neither kept nor dropped */
    struct import_reason *reason; /* (n_reasons) in order of first sight */
    size_t n_reasons, reason_capacity;
    char **note; /* (n_notes) what was assumed, skipped or worth knowing; one sentence each */
    size_t n_notes, note_capacity;
};

struct trace {
    struct job_table jobs; /* closed */
    struct import_report report;
    uint64_t hash; /* of the decompressed bytes of all files, in the order read; 0: none */
    struct node_spec *nodes; /* (n_nodes) the cluster the files describe (a PAI machine table) */
    int32_t n_nodes;
    double clock_hour_at_0; /* hour of the week at t = 0, Monday 00:00 is 0; NAN where not known */
    const char *zone;       /* of that clock, "UTC+8"; NULL */
};

/* Reads everything. ST_INPUT when a file is refused or no row is left; the report is filled in
 * either way and says why. The caller frees the trace in any case. */
enum status trace_read(const struct trace_options *o, struct trace *out,
                       struct error *err) MUST_USE;
/* A second one of the same content. The caller frees to in any case. */
enum status trace_copy(const struct trace *from, struct trace *to, struct error *err) MUST_USE;
void trace_free(struct trace *t);

/* The account in words, a few lines, for stderr. */
void import_report_print(const struct import_report *r, FILE *to);

/* Writes the table in the native format (columns that hold something). gz when the path ends in
 * .gz, stdout when it is "-". Nothing half-written is left behind. */
enum status trace_write(const struct job_table *t, const char *path, struct error *err) MUST_USE;

/* The PAI machine table (headerless or with header) alone, as a cluster; name of node i is the
 * machine's. gpu memory from the type's name where it is known, else 0. The caller frees them with
 * node_specs_free. */
enum status trace_read_machines(const char *path, struct node_spec **nodes, int32_t *n_nodes,
                                struct error *err) MUST_USE;

struct trace_format {
    const char *name, *summary;
    const char *needs; /* which columns or tables, in words, for describe */
};
extern const struct trace_format *const trace_formats[]; /* NULL-terminated, sorted by name */

#endif
