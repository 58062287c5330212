/* The paper's claims about PAI and GenTD26: small tables by hand, and the published files. The
 * numbers of the latter were measured by an independent program (numpy over the same files). */
#include "sim/results/claims.h"

#include "tests/leak.h"
#include "tests/shared.h"
#include "tests/trace_files.h"
#include "traces/account.h"

#include <jansson.h>
#include <math.h>

TestSuite(claims, .fini = abort_on_leak);

/* The answers to everything, as the JSON that is printed. */
static json_t *characterize(const char *path, const char *format)
{
    struct claims c;
    struct import_report report = {0};
    struct error err = {{0}};
    cr_assert_eq(claims_read(&c, &path, 1, format, &report, &err), ST_OK, "%s", err.text);
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    cr_assert_eq(claims_print(&c, true, to, &err), ST_OK, "%s", err.text);
    fclose(to);
    json_t *root = json_loadb(text, n, 0, NULL);
    cr_assert_not_null(root, "%s", text);
    free(text);
    claims_free(&c);
    account_free(&report);
    return root;
}

static json_t *claim_of(const json_t *root, const char *name)
{
    size_t i;
    json_t *claim;
    json_array_foreach(json_object_get(root, "claims"), i,
                       claim) if (strcmp(json_string_value(json_object_get(claim, "claim")),
                                         name) == 0) return claim;
    cr_assert_fail("no claim '%s'", name);
    return NULL;
}

static double value_of(const json_t *root, const char *name)
{
    json_t *value = json_object_get(claim_of(root, name), "value");
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *missing_of(const json_t *root, const char *name)
{
    const char *missing = json_string_value(json_object_get(claim_of(root, name), "missing"));
    return missing != NULL ? missing : "";
}

/* Columns of the task table: job, task, inst_num, status, start, end, cpu, mem, gpu, type. User u1
 * has 8 GPUs failed, 4 and 1 completed; u2 only 4 GPUs; g1 is a group of five jobs with three
 * requests, g2 of one. */
static const char tasks[] = "a,worker,1,Terminated,0,1,1,1,400,V100\n"
                            "b,worker,2,Terminated,0,1,1,1,100,V100\n"
                            "c,worker,1,Failed,0,1,1,1,800,V100\n"
                            "d,evaluator,1,Terminated,0,1,1,1,50,V100\n"
                            "e,worker,1,Terminated,0,1,1,1,50,V100\n"
                            "f,worker,1,Terminated,0,1,1,1,400,V100\n"
                            "g,ps,1,Terminated,0,1,1,1,,\n";
static const char jobs[] = "a,ia,u1,Terminated,0,1\nb,ib,u1,Terminated,0,1\nc,ic,u1,Failed,0,1\n"
                           "d,id,u1,Terminated,0,1\ne,ie,u1,Terminated,0,1\n"
                           "f,if,u2,Terminated,0,1\ng,ig,u2,Terminated,0,1\n";
static const char tags[] = "ia,u1,,g1,\nib,u1,,g1,\nic,u1,,g1,\nid,u1,,g1,\nie,u1,,g1,\n"
                           "if,u2,,g2,\nig,u2,,u2,\n";
static const char sensors[] = "a,worker,w,i,m,g,1,80,1,1,1,1,1,1,1,1\n"
                              "b,worker,w,i,m,g,1,20,1,1,1,1,1,1,1,1\n"
                              "d,evaluator,w,i,m,g,1,5,1,1,1,1,1,1,1,1\n"
                              "e,worker,w,i,m,g,1,,1,1,1,1,1,1,1,1\n";

Test(claims, of_small_pai_tables_by_hand)
{
    struct temp_folder f = temp_folder();
    folder_text(&f, "pai_task_table.csv", tasks);
    folder_text(&f, "pai_job_table.csv", jobs);
    folder_text(&f, "pai_group_tag_table.csv", tags);
    folder_text(&f, "pai_sensor_table.csv", sensors);
    json_t *r = characterize(f.path, NULL);
    const struct {
        const char *name;
        double value;
    } rows[] = {
        {"fractional tasks", 100 * 2 / 6.0},
        {"fractional tasks, of all", 100 * 2 / 7.0},
        {"groups with 2 GPU requests or more", 100}, /* only g1 has five jobs */
        {"GPU requests in one group, most", 4},      /* 4, 1, 8, 0.5 */
        {"tasks of 4 GPUs or more", 3},
        {"tasks of 4 GPUs or more, share", 50},
        {"4 GPUs or more in all, share", 50},
        {"of those, whose user completed smaller", 100 * 2 / 3.0}, /* a and c, not f */
        {"max/min of a user, 2 tasks on", 8},                      /* u1: 4 / 0.5, c failed */
        {"max/min of a user, all users", 4.5},                     /* u1 8, u2 1 */
        {"GPU utilisation", 35},
        {"GPU utilisation, training", 50},
        {"GPU utilisation, inference", 5},
        {"utilisation per GPU asked", 50 / 3.0}, /* 80 / 4, 20 / 1, 5 / 0.5 */
        {"training workers under 50 %", 50},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_float_eq(value_of(r, rows[i].name), rows[i].value, 1e-9, "%s: %g", rows[i].name,
                           value_of(r, rows[i].name));
    cr_expect(isnan(value_of(r, "max/min of a user, 5 tasks on")), "u1 completed four");
    cr_expect_str_eq(missing_of(r, "max/min of a user, 5 tasks on"), "a row that it speaks of");
    json_decref(r);
    folder_remove(&f);
}

Test(claims, what_the_files_lack_is_absent_and_named)
{
    struct temp_file f = temp_text(".csv", tasks);
    json_t *r = characterize(f.path, "pai");
    cr_expect_float_eq(value_of(r, "fractional tasks"), 100 * 2 / 6.0, 1e-9);
    cr_expect(isnan(value_of(r, "GPU utilisation")));
    cr_expect_not_null(strstr(missing_of(r, "GPU utilisation"), "pai_sensor_table"));
    cr_expect_not_null(strstr(missing_of(r, "max/min of a user, all users"), "pai_job_table"));
    cr_expect_not_null(
        strstr(missing_of(r, "groups with 2 GPU requests or more"), "pai_group_tag_table"));
    json_decref(r);
    temp_remove(&f);
}

Test(claims, files_of_other_traces_are_refused)
{
    struct temp_file f = temp_text(".csv", "job,submit_s,duration_s,gpu\na,0,1,1\n");
    const char *path = f.path;
    struct claims c;
    struct import_report report = {0};
    struct error err = {{0}};
    cr_expect_eq(claims_read(&c, &path, 1, NULL, &report, &err), ST_INPUT);
    account_free(&report);
    cr_expect_eq(claims_read(&c, &path, 1, "swf", &report, &err), ST_USAGE);
    cr_expect_not_null(strstr(err.text, "swf"), "%s", err.text);
    account_free(&report);
    temp_remove(&f);
}

Test(claims, of_a_made_request_rate_by_hand)
{
    /* Sums at 0, 57, 171: 1, 3, 2. 114-s windows: 4 and 2. */
    struct temp_folder f = temp_folder();
    folder_text(&f, "qps.csv",
                "timestamp_anon,value,container_ip,request_type\n"
                "0,1,,API\n57,1,,API\n57,2,a,Gen\n171,2,,API\n");
    json_t *r = characterize(f.path, NULL);
    cr_expect_float_eq(value_of(r, "aggregate QPS, CV"), sqrt(2 / 3.0) / 2, 1e-12);
    cr_expect_float_eq(value_of(r, "QPS, p95 over p5"), 2.9 / 1.1, 1e-12);
    cr_expect(isnan(value_of(r, "GPU utilisation, mean")));
    json_t *row = json_array_get(json_object_get(r, "details"), 2);
    cr_expect_eq(json_number_value(json_object_get(row, "window_s")), 114);
    cr_expect_float_eq(json_number_value(json_object_get(row, "cv")), 1 / 3.0, 1e-12);
    row = json_array_get(json_object_get(r, "details"), 0); /* 1 3 0 2 */
    cr_expect_float_eq(json_number_value(json_object_get(row, "cv_with_0")), sqrt(1.25) / 1.5,
                       1e-12);
    json_decref(r);
    folder_remove(&f);
}

Test(claims, of_the_published_genai_tables)
{
    static const struct {
        const char *name;
        double value, tolerance;
    } rows[] = {
        {"GPU utilisation, mean", 7.025, 5e-4},          {"samples under 50 %", 97.669, 5e-4},
        {"GPU utilisation, mean of pods", 6.45, 5e-3},   {"GPU utilisation, median", 0, 0},
        {"aggregate QPS, CV", 0.8676917901275906, 1e-9}, {"QPS, p95 over p5", 84.6, 1e-9},
    };
    static const double windows[][3] = {
        /* window, CV, ratio */
        {57, 0.8677, 84.6},  {60, 0.9075, 88.67}, {114, 0.9017, 164.0}, {120, 0.9150, 87.19},
        {300, 0.917, 106.6}, {600, 0.948, 203.2}, {1800, 0.996, 750.6}, {3600, 1.021, 458.9}};
    char path[SHARED_PATH_MAX];
    if (!shared_path(path, "data/genai"))
        cr_skip_test("no data/genai in the shared folder");
    json_t *r = characterize(path, "genai");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_float_eq(value_of(r, rows[i].name), rows[i].value, rows[i].tolerance + 1e-15,
                           "%s: %g", rows[i].name, value_of(r, rows[i].name));
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        json_t *row = json_array_get(json_object_get(r, "details"), i);
        cr_expect_eq(json_number_value(json_object_get(row, "window_s")), windows[i][0]);
        cr_expect_float_eq(json_number_value(json_object_get(row, "cv")), windows[i][1], 6e-4);
        cr_expect_float_eq(json_number_value(json_object_get(row, "ratio")), windows[i][2],
                           windows[i][2] * 1e-3);
    }
    json_decref(r);
}

Test(claims, of_the_published_pai_pieces)
{
    static const struct {
        const char *file, *name;
        double value, tolerance;
    } rows[] = {
        {"data/pai/pai100k_sample3046.csv", "fractional tasks", 53.1, 0.05},
        {"data/pai/pai100k_sample3046.csv", "max/min of a user, 5 tasks on", 4, 0},
        {"data/pai/pai100k_sample3046.csv", "max/min of a user, all users", 1, 0},
        {"data/pai/pai_est_first526.csv", "max/min of a user, by totals", 4, 0},
        {"data/pai/pai_task_table_sub60105.csv.gz", "4 GPUs or more in all, share", 18.4, 0.05},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[SHARED_PATH_MAX];
        if (!shared_path(path, rows[i].file))
            cr_skip_test("no data/pai in the shared folder");
        json_t *r = characterize(path, NULL);
        cr_expect_float_eq(value_of(r, rows[i].name), rows[i].value, rows[i].tolerance + 1e-12,
                           "%s, %s: %g", rows[i].file, rows[i].name, value_of(r, rows[i].name));
        json_decref(r);
    }
}
