/* The figures of workloads on one card. Their database (pair_table.h) has the tables pair(a, b,
 * keep_a, keep_b, source) and workload(name), in the order to be shown. */
#include "sim/results/figures.h"

#define PLACED                                                                                     \
    "WITH place AS (SELECT name, row_number() OVER (ORDER BY rowid) - 1 AS i FROM workload),"      \
    " both AS (SELECT a, b, (keep_a + keep_b) / 2 AS keep FROM pair UNION ALL"                     \
    " SELECT b, a, (keep_a + keep_b) / 2 FROM pair WHERE a <> b)"

const struct figure figure_heatmap = {
    .name = "interference-heatmap",
    .summary = "what pairs on one card keep of their speed",
    .of = FIGURE_PAIRS,
    .tall = 1.268, /* the map is square then: 0.6 of the width, 0.76 of the height */
    .sql = PLACED " SELECT 'keep', x.i, y.i, avg(keep) FROM both JOIN place AS x ON x.name = a"
                  " JOIN place AS y ON y.name = b GROUP BY x.i, y.i"
                  " UNION ALL SELECT 'names', i, i, name FROM place ORDER BY 1, 2, 3",
    .draw = "stats data index 0 using 1 nooutput\ntop = STATS_max\nset lmargin at screen 0.2\nset "
            "rmargin at screen 0.8\n"
            "set tmargin at screen 0.97\nset bmargin at screen 0.21\nunset key\n"
            "set xrange [-0.5:top+0.5]\nset yrange [top+0.5:-0.5]\nset grid noxtics noytics\n"
            "set tics scale 0\nset xtics rotate by 60 right font ',9'\nset ytics font ',9'\n"
            "set palette defined (0 '#00224e', 0.33 '#575d6d', 0.67 '#a59c74', 1 '#fee838')\n"
            "set cbrange [*<0.5:1]\nset cblabel 'part of the speed alone that is kept' font "
            "',13'\nset cbtics font ',12'\n"
            "set style fill solid 1.0 border rgb '#ffffff'\n"
            "plot data index 0 using 1:2:($1-0.5):($1+0.5):($2-0.5):($2+0.5):3 with boxxyerror "
            "linewidth 0.5 fillcolor palette, "
            "data index 1 using 1:2:xtic(3):ytic(3) with points pointsize 0, "
            "data index 0 using (top < 16 ? $1 : NaN):2:(sprintf('%.2f', $3)):"
            "($3 > 0.72 ? 0x000000 : 0xffffff) with labels font ',8' textcolor rgb variable\n",
};
const struct figure figure_interference_cdf = {
    .name = "interference-cdf",
    .summary = "the same as a distribution over pairs",
    .of = FIGURE_PAIRS,
    .sql = "SELECT source, x, 1.0 * row_number() OVER (PARTITION BY source ORDER BY x) /"
           " count(*) OVER (PARTITION BY source) FROM (SELECT source, (keep_a + keep_b) / 2 AS x"
           " FROM pair) ORDER BY source, x",
    .draw =
        "set xlabel 'part of the speed alone that is kept, mean of both'\n"
        "set ylabel 'part of the pairs'\nset yrange [0:1]\n"
        "plot for [i=1:n] data index i-1 using 1:2 with linespoints linestyle i title name[i]\n",
};
