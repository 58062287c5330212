/* The figures of single runs, and of several beside each other. */
#include "sim/results/figures.h"

/* The runs asked for, each with its first submission t0. */
#define RUNS                                                                                       \
    " FROM json_each(?1) AS asked JOIN run ON run.id = asked.value JOIN (SELECT run,"              \
    " min(submit_us) AS t0 FROM job WHERE run IN (SELECT value FROM json_each(?1)) GROUP BY run)"  \
    " AS zero ON zero.run = run.id "
#define HOURS(us_) "(" us_ " - t0) / 3.6e9"
/* Hours become days where there are many; x is the column that holds them. */
#define TIME_AXIS(column_)                                                                         \
    "stats data using " column_ " nooutput\n"                                                      \
    "u = STATS_max > 96 ? 24.0 : 1.0\n"                                                            \
    "set xrange [0:*] noextend\n"                                                                  \
    "set xlabel sprintf('time since the first submission (%s)', u > 1 ? 'days' : 'h')\n"
#define LINES(x_)                                                                                  \
    "plot for [i=1:n] data index i-1 using " x_ ":2 with linespoints linestyle i title name[i]\n"

/* A distribution in at most 1,000 points. */
#define CDF(value_)                                                                                \
    "SELECT name, x, 1.0 * i / n FROM (SELECT run.name AS name, asked.key AS k, " value_           \
    " AS x, row_number() OVER w AS i, count(*) OVER (PARTITION BY asked.key) AS n" RUNS            \
    " JOIN job ON job.run = run.id WHERE job.status = 'done'"                                      \
    " WINDOW w AS (PARTITION BY asked.key ORDER BY " value_ "))"                                   \
    " WHERE i = 1 OR i = n OR i % max(1, n / 1000) = 0 ORDER BY k, i"
#define DRAW_CDF                                                                                   \
    "set ylabel 'part of the jobs'\nset yrange [0:1]\nset logscale x\nset format x '%.0s%c'\n"     \
    "set xrange [*:*] noextend\n" LINES("1")

/* A time series in at most 128 points, each the mean of its neighbours. */
#define SAMPLED(value_)                                                                            \
    "SELECT name, avg(h), avg(y) FROM (SELECT run.name AS name, asked.key AS k, " HOURS(           \
        "start_us + sample_us / 2") " AS h, " value_ " AS y,"                                      \
                                    " ntile(128) OVER (PARTITION BY asked.key ORDER BY start_us) " \
                                    "AS slot" RUNS                                                 \
                                    " JOIN (SELECT run, sum(gpu) AS gpus FROM node GROUP BY run) " \
                                    "AS size ON size.run = run.id"                                 \
                                    " JOIN sample ON sample.run = run.id) WHERE y IS NOT NULL "    \
                                    "GROUP BY k, slot ORDER BY k, slot"

/* Jobs in the order of their submission, in at most 40 groups of equally many. */
#define GROUPED_JOBS                                                                               \
    " FROM (SELECT run.name AS name, asked.key AS k, " HOURS(                                      \
        "submit_us") " AS h, wait_s,"                                                              \
                     " row_number() OVER (PARTITION BY asked.key ORDER BY submit_us, job) AS i,"   \
                     " ntile(40) OVER (PARTITION BY asked.key ORDER BY submit_us, job) AS "        \
                     "slot" RUNS " JOIN job ON job.run = run.id WHERE job.status = 'done') GROUP " \
                     "BY k, slot ORDER BY k, slot"

const struct figure figure_jct_cdf = {
    .name = "jct-cdf",
    .summary = "distribution of job completion times",
    .of = FIGURE_RUNS,
    .sql = CDF("max(jct_s, 1e-3)"),
    .draw = "set xlabel 'job completion time (s)'\n" DRAW_CDF,
};
const struct figure figure_slowdown_cdf = {
    .name = "slowdown-cdf",
    .summary = "distribution of completion time over duration",
    .of = FIGURE_RUNS,
    .sql = CDF("jct_s * 1e6 / nullif(duration_us, 0)"),
    .draw = "set xlabel 'completion time / duration'\n" DRAW_CDF,
};
const struct figure figure_wait_by_job = {
    .name = "wait-by-job",
    .summary = "queueing delay in the order of submission",
    .of = FIGURE_RUNS,
    .sql = "SELECT name, avg(i), avg(wait_s) / 3600" GROUPED_JOBS,
    .draw = "set xlabel 'job, in the order of submission'\nset ylabel 'queueing delay (h)'\n"
            "set xrange [0:*] noextend\nset yrange [0:*]\n" LINES("1"),
};
const struct figure figure_wait_over_time = {
    .name = "wait-over-time",
    .summary = "queueing delay by the time of submission",
    .of = FIGURE_RUNS,
    .sql = "SELECT name, avg(h), avg(wait_s) / 3600" GROUPED_JOBS,
    .draw = TIME_AXIS("1") "set ylabel 'queueing delay (h)'\nset yrange [0:*]\n" LINES("($1/u)"),
};
const struct figure figure_queue = {
    .name = "queue",
    .summary = "jobs waiting, over time",
    .of = FIGURE_RUNS,
    .sql = SAMPLED("jobs_waiting"),
    .draw = TIME_AXIS("1") "set ylabel 'jobs waiting'\nset yrange [0:*]\n" LINES("($1/u)"),
};
const struct figure figure_gpu_alloc = {
    .name = "gpu-alloc",
    .summary = "GPUs in use, over time",
    .of = FIGURE_RUNS,
    .sql = SAMPLED("100 * gpu_held / gpus"),
    .draw = TIME_AXIS("1") "set ylabel 'GPUs in use (%)'\nset yrange [0:105]\n" LINES("($1/u)"),
};
const struct figure figure_sm_util = {
    .name = "sm-util",
    .summary = "SM utilisation over time, where all has profiles",
    .of = FIGURE_RUNS,
    .sql = SAMPLED("100 * sm_busy / gpus"),
    .draw = TIME_AXIS("1") "set ylabel 'SM utilisation (%)'\nset yrange [0:*]\n" LINES("($1/u)"),
};
/* Bars in the order of their starts, with their numbers (lanes.h). Where bars meet on a card its
 * height is parted among them, card by card; a bar that meets nobody has its cards to itself. */
#define BARS                                                                                       \
    "WITH RECURSIVE bar AS MATERIALIZED (SELECT coalesce(job.kind, 'jobs') AS name, " HOURS(       \
        "span.start_us") " AS from_h, " HOURS("span.end_us") " AS to_h, below + span.gpu AS lo,"   \
                                                             " n_gpus AS n, span.start_us AS "     \
                                                             "start_us, span.end_us AS "           \
                                                             "end_us" RUNS                         \
                                                             "JOIN span ON span.run = run.id "     \
                                                             "JOIN job ON job.run = run.id AND "   \
                                                             "job.job = span.job"                  \
                                                             " JOIN (SELECT run, node, sum(gpu) "  \
                                                             "OVER (PARTITION BY run ORDER BY "    \
                                                             "node) - gpu AS below"                \
                                                             " FROM node) AS first ON first.run "  \
                                                             "= run.id AND first.node = span.node" \
                                                             " WHERE span.gpu IS NOT NULL ORDER "  \
                                                             "BY span.start_us, span.id),"         \
                                                             " placed AS MATERIALIZED (SELECT *, " \
                                                             "place(lo, n, start_us, end_us) AS "  \
                                                             "i FROM bar),"                        \
                                                             " k(k) AS (SELECT 0 UNION ALL "       \
                                                             "SELECT k + 1 FROM k WHERE k + 1 < "  \
                                                             "(SELECT max(n) FROM bar)) "

/* Of more than 60,000 bars the longest. Bars stand a little apart, so that the border of a short
 * one does not hide it. */
const struct figure figure_gantt = {
    .name = "gantt",
    .summary = "who held which GPU when, one run",
    .of = FIGURE_RUN,
    .sql =
        BARS "SELECT name, from_h, to_h, lo, hi FROM (SELECT * FROM ("
             "SELECT name, from_h, to_h, lo, lo + n AS hi FROM placed WHERE parts(i) = 1 UNION ALL"
             " SELECT name, from_h, to_h, lo + k + 1.0 * lane(i) / parts(i),"
             " lo + k + (lane(i) + 1.0) / parts(i) FROM placed JOIN k ON k < n"
             " WHERE parts(i) > 1) ORDER BY to_h - from_h DESC, lo, from_h LIMIT 60000)"
             " ORDER BY name, lo, from_h, to_h",
    .draw = "stats data using 4 nooutput\ntop = ceil(STATS_max)\nmany = STATS_records\n"
            "if (many == 60000) set label 'the 60,000 longest bars' at graph 1,1.025 "
            "right\n" TIME_AXIS(
                "2") "set ylabel 'GPU'\nset yrange [0:top]\nset grid noxtics noytics\n"
                     "set style fill solid 1.0 border rgb '#ffffff'\n"
                     "if (top > 100 || many > 5000) set style fill solid 1.0 noborder\n"
                     "gap = top > 100 ? 0 : 0.06\n"
                     "plot for [i=1:n] data index i-1 using "
                     "($1/u):3:($1/u):($2/u):($3+gap):($4-gap) with boxxyerror linewidth 0.15 "
                     "fillcolor rgb fill[i] title name[i]\n",
};
