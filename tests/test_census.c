#include "sim/results/census.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(census, .fini = abort_on_leak);

struct line {
    int64_t submit_s, duration_s;
    int32_t gpu_milli, n_inst;
    enum job_kind kind;
    const char *user;
};

static struct trace trace_of(const struct line *line, int n)
{
    struct trace trace = {.clock_hour_at_0 = NAN};
    struct error err;
    for (int i = 0; i < n; i++) {
        struct job_row row = job_row_empty();
        char name[16];
        row.name = name;
        row.name_length = (size_t)snprintf(name, sizeof name, "%d", i);
        row.submit_us = line[i].submit_s * US_PER_S;
        row.duration_us = line[i].duration_s * US_PER_S;
        row.gpu_milli = line[i].gpu_milli;
        row.n_inst = line[i].n_inst;
        row.kind = line[i].kind;
        if (line[i].user != NULL)
            row.user = names_add(&trace.jobs.names, line[i].user, strlen(line[i].user));
        cr_assert_eq(jobs_add(&trace.jobs, &row), i);
    }
    cr_assert_eq(jobs_close(&trace.jobs, &err), ST_OK);
    return trace;
}

static const struct line five[] = {
    {100, 10, 250, 1, KIND_INFER, "u"}, {0, 20, 1000, 1, KIND_TRAIN, "v"},
    {50, 40, 8000, 2, KIND_TRAIN, "u"}, {200, 30, 0, 1, KIND_UNKNOWN, NULL},
    {20, 0, 500, 4, KIND_INFER, "u"},
};

Test(census, demand_is_counted_by_job)
{
    struct trace trace = trace_of(five, 5);
    struct census c;
    struct error err;
    cr_assert_eq(census_of(&trace, NULL, &c, &err), ST_OK);
    cr_assert_eq(c.n_inst, 9);
    cr_assert_eq(c.first_us, 0);
    cr_assert_eq(c.last_us, 200000000);
    cr_assert_float_eq(c.work_gpu_s, 2.5 + 20 + 640, 1e-9);
    cr_assert_float_eq(c.busy_gpus, 662.5 / 200, 1e-9);
    cr_assert(isnan(c.offered_load));
    /* none, <1, 1, 2, 3-4, 5-8, >8: the last job asks for 4 x 0.5 */
    static const int32_t jobs[N_SIZE_CLASSES] = {1, 1, 1, 1, 0, 0, 1};
    static const double work[N_SIZE_CLASSES] = {0, 2.5, 20, 0, 0, 0, 640};
    for (int i = 0; i < N_SIZE_CLASSES; i++) {
        cr_assert_eq(c.size[i].n_jobs, jobs[i], "%s", size_class_names[i]);
        cr_assert_float_eq(c.size[i].work_gpu_s, work[i], 1e-9);
    }
    cr_assert_eq(c.n_kind[KIND_UNKNOWN], 1);
    cr_assert_eq(c.n_kind[KIND_TRAIN], 2);
    cr_assert_eq(c.n_kind[KIND_INFER], 2);
    cr_assert_eq(c.n_users, 2);
    cr_assert_eq(c.n_groups, 0);
    trace_free(&trace);
}

Test(census, quantiles_are_linear_between_order_statistics)
{
    struct trace trace = trace_of(five, 5); /* durations 0 10 20 30 40 */
    struct census c;
    struct error err;
    cr_assert_eq(census_of(&trace, NULL, &c, &err), ST_OK);
    static const double want[N_QUANTILES] = {0, 4, 10, 20, 30, 36, 39.6, 40};
    for (int q = 0; q < N_QUANTILES; q++)
        cr_assert_float_eq(c.duration_s[q], want[q], 1e-9, "%s", quantile_names[q]);
    cr_assert_float_eq(c.duration_s_mean, 20, 1e-9);
    trace_free(&trace);
}

Test(census, one_job_has_no_span)
{
    struct trace trace = trace_of(five, 1);
    struct census c;
    struct error err;
    cr_assert_eq(census_of(&trace, NULL, &c, &err), ST_OK);
    cr_assert(isnan(c.busy_gpus));
    for (int q = 0; q < N_QUANTILES; q++)
        cr_assert_float_eq(c.duration_s[q], 10, 0);
    trace_free(&trace);
}

Test(census, the_load_is_that_of_the_cluster)
{
    const struct node_spec nodes = {
        .count = 2, .n_gpus = 8, .gpu_type = "", .cpu_milli = -1, .mem_mib = -1};
    struct trace trace = trace_of(five, 5);
    struct cluster cluster;
    struct census c;
    struct error err;
    cr_assert_eq(cluster_init(&cluster, &nodes, 1, SHARE_CARD, &err), ST_OK);
    cr_assert_eq(census_of(&trace, &cluster, &c, &err), ST_OK);
    cr_assert_float_eq(c.n_gpus, 16, 0);
    cr_assert_float_eq(c.offered_load, 662.5 / (16 * 200), 1e-9);
    cluster_free(&cluster);
    trace_free(&trace);
}

/* PAI's t = 0 is a Thursday, 08:00 in UTC+8: hour 80 of the week. */
Test(census, hours_and_days_are_those_of_the_traces_clock)
{
    static const struct {
        int64_t submit_s;
        double at_0;
        int day, hour;
    } rows[] = {
        {494319, 80, 2, 1},       {0, 80, 3, 8},       {57599, 80, 3, 23},
        {57600, 80, 4, 0},        {-28801, 80, 2, 23}, {-28800, 80, 3, 0},
        {604800, 80, 3, 8},       {-604801, 80, 3, 7}, {0, 0, 0, 0},
        {-1, 0, 6, 23},           {1800, 167.5, 0, 0}, {1799, 167.5, 6, 23},
        {1000000000000, 0, 1, 1}, /* 604800 x 1653439 + 92800 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct line line = {rows[i].submit_s, 1, 1000, 1, KIND_UNKNOWN, NULL};
        struct trace trace = trace_of(&line, 1);
        struct census c;
        struct error err;
        trace.clock_hour_at_0 = rows[i].at_0;
        cr_assert_eq(census_of(&trace, NULL, &c, &err), ST_OK);
        cr_assert(c.clock_known);
        cr_assert_eq(c.first_day, rows[i].day, "row %zu: day %d", i, c.first_day);
        cr_assert_eq(c.first_hour, rows[i].hour, "row %zu: hour %d", i, c.first_hour);
        cr_assert_eq(c.day[rows[i].day], 1);
        cr_assert_eq(c.hour[rows[i].hour], 1);
        trace_free(&trace);
    }
}

Test(census, without_a_clock_hours_count_from_zero_and_there_are_no_days)
{
    static const struct line lines[] = {{3600, 1, 1000, 1, KIND_UNKNOWN, NULL},
                                        {90000, 1, 1000, 1, KIND_UNKNOWN, NULL}};
    struct trace trace = trace_of(lines, 2);
    struct census c;
    struct error err;
    cr_assert_eq(census_of(&trace, NULL, &c, &err), ST_OK);
    cr_assert_not(c.clock_known);
    cr_assert_eq(c.hour[1], 2);
    for (int d = 0; d < 7; d++)
        cr_assert_eq(c.day[d], 0);
    trace_free(&trace);
}

static char *said(void (*say)(FILE *, const struct trace *, const struct census *, const char *),
                  const struct trace *trace, const char *cluster)
{
    char *text = NULL;
    size_t n = 0;
    struct census c;
    struct error err;
    cr_assert_eq(census_of(trace, NULL, &c, &err), ST_OK);
    FILE *to = open_memstream(&text, &n);
    cr_assert_not_null(to);
    say(to, trace, &c, cluster);
    cr_assert_eq(fclose(to), 0);
    return text;
}

Test(census, the_page_states_zone_work_and_sizes)
{
    struct trace trace = trace_of(five, 5);
    trace.clock_hour_at_0 = 80;
    trace.zone = "UTC+8";
    char *text = said(census_print, &trace, NULL);
    cr_assert_not_null(strstr(text, "jobs       5 with 5 tasks and 9 instances\n"));
    cr_assert_not_null(strstr(text, "submissions by hour of day, UTC+8\n"));
    cr_assert_not_null(strstr(text, "\n08         5  ########################################\n"));
    cr_assert_not_null(strstr(text, "\n09         0\n"));
    cr_assert_not_null(strstr(text, "(the first: Thursday, hour 8)"));
    cr_assert_null(strstr(text, "\nload "));
    free(text);
    trace_free(&trace);
}

Test(census, json_has_null_for_what_is_not_known)
{
    struct trace trace = trace_of(five, 1);
    char *text = said(census_json, &trace, NULL);
    cr_assert_not_null(
        strstr(text, "\"busy_gpus\": null, \"cluster\": null, \"offered_load\": null"));
    cr_assert_not_null(strstr(text, "\"first_day\": null, \"zone\": null"));
    cr_assert_not_null(strstr(text, "\"by_day\": null}}\n"));
    free(text);
    trace_free(&trace);
}
