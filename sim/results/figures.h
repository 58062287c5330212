/* figures.h - the figures: for each the SQL that gives its points and the gnuplot that draws them.
 *
 * A question's first column is the series, the others are numbers (or names for the axes); rows of
 * a series stand together. ?1 is the runs as a JSON array of ids in the order asked for, ?2 and ?3
 * names of metrics. The drawing finds: data (the file; a series is an index, two blank lines
 * apart), n (series), name[1..n], metric_x, metric_y and what they are in words. Series i is drawn
 * in line style i of the palette. */
#ifndef COLOSIM_FIGURES_H
#define COLOSIM_FIGURES_H

/* What a figure is about. */
enum figure_of {
    FIGURE_RUNS,  /* a series a run */
    FIGURE_RUN,   /* one run */
    FIGURE_STUDY, /* all runs: a series a policy, seeds taken together */
    FIGURE_PAIRS  /* workloads side by side; no run */
};

struct figure {
    const char *name, *summary;
    enum figure_of of;
    const char *metric_x, *metric_y; /* unless --metric says otherwise; NULL: none */
    double tall;                     /* height over the ordinary; 0 is 1 */
    const char *sql, *draw;
};
extern const struct figure *const figures[]; /* NULL-terminated, in the order to be listed */

/* NULL when there is none of that name. */
const struct figure *figure_find(const char *name);

#define FIGURES(X)                                                                                 \
    X(jct_cdf)                                                                                     \
    X(slowdown_cdf)                                                                                \
    X(wait_by_job)                                                                                 \
    X(wait_over_time)                                                                              \
    X(queue)                                                                                       \
    X(gpu_alloc)                                                                                   \
    X(sm_util) X(gantt) X(load) X(scale) X(pareto) X(heatmap) X(interference_cdf)
#define X(name_) extern const struct figure figure_##name_;
FIGURES(X)
#undef X

#endif
