/* reproduce.h - what the parts of colosim reproduce share: which runs a table needs and what they
 * gave (reproduce_runs.c), the tables with the paper's numbers (reproduce_tables.c), their printing
 * (reproduce_print.c), what these say of direction and order (reproduce_order.c), and the count of
 * instances (reproduce_instances.c).
 *
 * Every run is a day drawn by the generator with its defaults, for the GPUs of its cluster, at a
 * load; systems that are compared replay the same days. A run that several tables need is made
 * once. */
#ifndef COLOSIM_REPRODUCE_H
#define COLOSIM_REPRODUCE_H

#include "sim/cmd/watch.h"
#include "sim/run/run.h"

/* What is set for all runs; --set can change it, but not what a system's name says. */
#define REPRODUCE_SETTINGS                                                                         \
    "volcano.profile=helm-gpubinpack volcano.queues=one lucid.estimate=oracle lucid.sharing=on"

/* name, what is set */
#define REPRODUCE_SYSTEMS(X)                                                                       \
    X(VOLCANO, "volcano", "policy=volcano")                                                        \
    X(COMPILED, "volcano as compiled", "policy=volcano volcano.profile=compiled")                  \
    X(LUCID, "lucid", "policy=lucid")                                                              \
    X(ELASTICO, "elastico", "policy=elastico")                                                     \
    X(NO_RST, "without rst", "policy=elastico elastico.without=rst")                               \
    X(NO_ESP, "without esp", "policy=elastico elastico.without=esp")                               \
    X(NO_IAC, "without iac", "policy=elastico elastico.without=iac")                               \
    X(NO_PDS, "without pds", "policy=elastico elastico.without=pds")
enum reproduce_system {
#define X(id_, name_, settings_) SYSTEM_##id_,
    REPRODUCE_SYSTEMS(X)
#undef X
        N_SYSTEMS
};

/* What is not known of the paper's testbed: physics of sharing, and what jobs are submitted in. */
struct world {
    const char *physics, *submitted; /* contention.set, submitted */
};
enum { N_WORLDS = 6 };
extern const struct world worlds[N_WORLDS];

/* Metrics of a run, and what else the tables show. */
enum measure {
    MEASURE_ESP_MS = N_METRICS, /* means over a run's passes */
    MEASURE_IAC_MS,
    MEASURE_PDS_MS,
    MEASURE_PASS_MS,
    MEASURE_ACTIVE,         /* jobs running before a pass */
    MEASURE_RECONFIGS_GPUH, /* reconfigurations per GPU and hour of the makespan */
    MEASURE_TRAIN_JCT_S,    /* mean, completed jobs of that kind */
    MEASURE_INFER_JCT_S,
    N_MEASURES
};

/* GPUs of training jobs, as scripts/evaluate has them. */
#define REPRODUCE_MIXES(X)                                                                         \
    X(MIXED, NULL) /* the generator's */                                                           \
    X(SINGLE, "1:1")                                                                               \
    X(WIDE, "1:.3,2:.2,4:.2,8:.25,16:.05")
enum mix {
#define X(id_, gpus_) MIX_##id_,
    REPRODUCE_MIXES(X)
#undef X
};

enum part { PART_ALL, PART_TRAIN, PART_INFER }; /* which of the day's jobs are submitted */

struct trial {
    enum reproduce_system system;
    int world;
    enum part part;
    enum mix mix;
    int32_t day_nodes; /* nodes of 8 GPUs that the day is drawn for */
    int32_t nodes;     /* of the cluster; */
    int32_t singles;   /* and those of one GPU beside them */
    double load;
    int64_t seed;
};

struct outcome {
    struct trial trial;
    bool done;
    double value[N_MEASURES];
};

struct reproduction {
    bool quick, json, quiet;
    int n_threads;
    double hours; /* length of a day */
    double load;  /* where no table has its own */
    char **set;   /* (n_set) key=value, for all runs */
    int n_set;
    int64_t *seed; /* (n_seeds) */
    int n_seeds;
    bool shown[N_WORLDS];
    struct outcome *outcome; /* (n_outcomes) */
    size_t n_outcomes, capacity;
    struct watcher watcher;
    struct run_watch watch;
    struct arena arena; /* owns the seeds */
};

extern const char *const system_names[N_SYSTEMS];
extern const char *const system_settings[N_SYSTEMS];

/* The run will be needed. */
enum status reproduction_want(struct reproduction *r, const struct trial *trial,
                              struct error *err) MUST_USE;
/* Makes those that are wanted and not there yet, on r->n_threads threads. ST_INTERRUPTED. */
enum status reproduction_run(struct reproduction *r, struct error *err) MUST_USE;
/* One run: (N_MEASURES). */
enum status reproduction_make(const struct reproduction *r, const struct trial *trial,
                              double *value, struct error *err) MUST_USE;
/* What a run that was wanted gave: (N_MEASURES). */
const double *reproduction_value(const struct reproduction *r, const struct trial *trial);

/* How a number is made of two runs of one seed. */
enum form {
    FORM_PLAIN,   /* the run's own, times scale */
    FORM_RATIO,   /* over the base's */
    FORM_INVERSE, /* the base's over it */
};
struct column {
    const char *name;
    int measure; /* enum measure or enum metric */
    enum form form;
    double scale;
};
enum { COLUMNS_MAX = 5, ROWS_MAX = 8 };
struct row {
    const char *name;
    enum reproduce_system system, base;
    int32_t nodes;
    double load;               /* over that of the reproduction, or where own_load its own */
    double paper[COLUMNS_MAX]; /* NAN where it gives none */
    bool full;                 /* left out by --quick */
    enum mix mix;
};
struct paper_table {
    const char *name, *title;
    int n_columns, n_rows;
    struct column column[COLUMNS_MAX];
    struct row row[ROWS_MAX];
    const char *note; /* below it */
    bool own_load;
};
extern const struct paper_table paper_tables[]; /* until a NULL name */

enum status paper_table_want(struct reproduction *r, const struct paper_table *t,
                             struct error *err) MUST_USE;
/* In every world; for people, or one JSON object a line and number. */
enum status paper_table_print(const struct reproduction *r, const struct paper_table *t, FILE *to,
                              struct error *err) MUST_USE;

/* Median, smallest and largest of n values, which it sorts; NAN where one is not known. */
struct spread {
    double median, lo, hi;
};
struct spread spread_of(double *value, int n);
/* A cell's number for each seed: out (n_seeds). */
void paper_values(const struct reproduction *r, const struct paper_table *t, int row, int column,
                  int world, double *out);
bool paper_left_out(const struct reproduction *r, const struct row *row);
double paper_load(const struct reproduction *r, const struct paper_table *t, const struct row *row);

/* What the paper says of direction and order, statement by statement, held or not by ours. */
enum status order_want(struct reproduction *r, struct error *err) MUST_USE;
enum status order_print(const struct reproduction *r, FILE *to, struct error *err) MUST_USE;

/* The GPUs that the day's inference needs beside 64 that train: a pool of its own, or all jobs
 * together; prints both and what is saved. Needs no run of the tables. */
enum status instances_print(struct reproduction *r, FILE *to, struct error *err) MUST_USE;

#endif
