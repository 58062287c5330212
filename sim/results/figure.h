/* figure.h - a figure drawn: its points asked of a database, the rest left to gnuplot. */
#ifndef COLOSIM_FIGURE_H
#define COLOSIM_FIGURE_H

#include "sim/results/figures.h"
#include "sim/results/output.h"
#include "sim/results/palette.h"

#include <sqlite3.h>

enum { FIGURE_SERIES_MAX = N_PALETTE - 1 }; /* one is left for what marks points of the others */

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
