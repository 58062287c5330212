/* The figures of a study: many runs, a series a policy, the seeds of one point taken together. */
#include "sim/results/figures.h"

/* Runs of a study: who (the policy and those of its settings that are not the default), under
 * which load on how many GPUs. who_first orders the series as they were first run. */
#define STUDY                                                                                      \
    "WITH r AS (SELECT run.id AS id, run.policy || coalesce((SELECT ' ' || group_concat("          \
    "substr(key, length(run.policy) + 2) || '=' || value, ' ') FROM setting"                       \
    " WHERE setting.run = run.id AND key LIKE run.policy || '.%' AND value IS NOT initial), '')"   \
    " AS who, coalesce(nullif((SELECT CAST(value AS REAL) FROM setting WHERE setting.run = run.id" \
    " AND key = 'load'), 0), (SELECT round(value, 3) FROM metric WHERE metric.run = run.id"        \
    " AND name = 'offered_load')) AS load,"                                                        \
    " (SELECT sum(gpu) FROM node WHERE node.run = run.id) AS gpus,"                                \
    " (SELECT value FROM metric WHERE metric.run = run.id AND name = ?2) AS x,"                    \
    " (SELECT value FROM metric WHERE metric.run = run.id AND name = ?3) AS y"                     \
    " FROM run WHERE id IN (SELECT value FROM json_each(?1)) AND status = 'complete'),"            \
    " who_first AS (SELECT who, min(id) AS first FROM r GROUP BY who)"
#define CURVE(x_)                                                                                  \
    STUDY " SELECT who, " x_                                                                       \
          ", quantile(y, 0.5), min(y), max(y) FROM r JOIN who_first USING (who)"                   \
          " WHERE y IS NOT NULL AND " x_ " IS NOT NULL GROUP BY who, " x_ " ORDER BY first, " x_
/* One value alone has no range of its own. */
#define RANGE_OF(axis_, column_)                                                                   \
    "stats data using " column_ " nooutput\n"                                                      \
    "if (STATS_min == STATS_max) set " axis_ "range [STATS_min-0.1*abs(STATS_min)-1e-9:"           \
    "STATS_max+0.1*abs(STATS_max)+1e-9]\n"
#define DRAW_CURVE                                                                                 \
    "set ylabel metric_y\nset offsets graph 0.03, graph 0.03, graph 0.05, 0\nset yrange "          \
    "[0:*]\n" RANGE_OF(                                                                            \
        "x",                                                                                       \
        "1") "plot for [i=1:n] data index i-1 using 1:2:3:4 with yerrorbars linestyle i dashtype " \
             "1 "                                                                                  \
             "linewidth 1 notitle, "                                                               \
             "for [i=1:n] data index i-1 using 1:2 with linespoints linestyle i title name[i]\n"

const struct figure figure_load = {
    .name = "load",
    .summary = "a metric against the offered load, over seeds",
    .of = FIGURE_STUDY,
    .metric_y = "jct_mean_s",
    .sql = CURVE("load"),
    .draw = "set xlabel 'offered load (GPU-seconds asked over those there are)'\n" DRAW_CURVE,
};
const struct figure figure_scale = {
    .name = "scale",
    .summary = "a metric against the number of GPUs, over seeds",
    .of = FIGURE_STUDY,
    .metric_y = "jct_mean_s",
    .sql = CURVE("gpus"),
    .draw = "set xlabel 'GPUs'\n" DRAW_CURVE,
};
/* A point is dominated where another of the same load and size is as good in both metrics and
 * better in one; ?4 and ?5 are +1 where more is better, else -1. */
const struct figure figure_pareto = {
    .name = "pareto",
    .summary = "two metrics against each other, medians over seeds",
    .of = FIGURE_STUDY,
    .metric_x = "jct_mean_s",
    .metric_y = "throughput_gpus",
    .sql = STUDY
    ", p AS (SELECT who, load, gpus, quantile(x, 0.5) AS x, quantile(y, 0.5) AS y FROM r"
    " WHERE x IS NOT NULL AND y IS NOT NULL GROUP BY who, load, gpus),"
    " f AS (SELECT * FROM p WHERE NOT EXISTS (SELECT 1 FROM p AS q WHERE q.load IS p.load"
    " AND q.gpus IS p.gpus AND ?4 * (q.x - p.x) >= 0 AND ?5 * (q.y - p.y) >= 0"
    " AND (q.x <> p.x OR q.y <> p.y)))"
    ", l AS (SELECT count(DISTINCT load) > 1 AS loads, count(DISTINCT gpus) > 1 AS sizes FROM p)"
    " SELECT who, x, y, iif(loads AND load IS NOT NULL, load, '') ||"
    " iif(sizes, iif(loads, ', ', '') || printf('%g', gpus), '') FROM (SELECT 0 AS k, first, who, "
    "x, y, load, gpus"
    " FROM p JOIN who_first USING (who) UNION ALL SELECT 1, 0, 'not dominated', x, y, load, gpus"
    " FROM f), l ORDER BY k, first, x, y",
    .draw = "set xlabel metric_x\nset ylabel metric_y\n" RANGE_OF("x", "1") RANGE_OF(
        "y",
        "2") "set offsets graph 0.08, graph 0.08, graph 0.08, graph 0.08\n"
             "set label 'beside a point: offered load, GPUs, where they differ' at graph 0.99,0.03 "
             "right font ',11' textcolor rgb '#404040'\n"
             "plot for [i=1:n-1] data index i-1 using 1:2 with points linestyle i pointsize 1.4 "
             "title name[i], "
             "for [i=1:n-1] data index i-1 using 1:2:3 with labels left offset 1,0 font ',10' "
             "textcolor rgb '#404040' notitle, "
             "data index n-1 using 1:2 with points linestyle 9 pointtype 6 pointsize 2.6 "
             "title name[n]\n",
};
