/* figure.h - the figures: for each the SQL that gives its points and the gnuplot that draws them.
 *
 * A question's first column is the series, the others are numbers (or names for the axes); rows of
 * a series stand together. ?1 is the runs as a JSON array of ids in the order asked for, ?2 and ?3
 * names of metrics. The drawing finds: data (the file; a series is an index, two blank lines
 * apart), n (series), name[1..n], metric_x, metric_y and what they are in words. Series i is drawn
 * in line style i: one palette, told apart without colour by dashes and marks. */
#ifndef COLOSIM_FIGURE_H
#define COLOSIM_FIGURE_H

#include "sim/results/output.h"

#include <sqlite3.h>

enum { FIGURE_SERIES_MAX = 8 };

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

struct figure_request {
    const struct figure *figure;
    sqlite3 *db;      /* borrowed */
    const char *runs; /* "[3,1]" */
    const char *metric_x, *metric_y;
    const char *title; /* NULL: none */
    const char *path;  /* ends in .svg, .png or .pdf */
    bool keep;         /* the data and the script stay beside it */
};

/* Writes PATH.dat and PATH.gp and has gnuplot make PATH of them. ST_HELPER, with both kept, where
 * there is no gnuplot; ST_INPUT where there are no points. */
enum status figure_make(const struct figure_request *q, struct error *err) MUST_USE;

#endif
