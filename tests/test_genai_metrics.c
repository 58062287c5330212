/* GenTD26 metric tables: case 12, and the sums that were measured from the published ones. */
#include "traces/genai_metrics.h"

#include "tests/leak.h"
#include "tests/shared.h"
#include "tests/trace_files.h"

TestSuite(genai_metrics, .fini = abort_on_leak);

static struct genai_metrics read_metrics(const char *text, struct names *names)
{
    struct temp_file f = temp_text(".csv", text);
    struct genai_metrics m;
    struct error err = {{0}};
    cr_assert_eq(genai_metrics_read(f.path, names, &m, &err), ST_OK, "%s", err.text);
    temp_remove(&f);
    return m;
}

static const char qps[] = "timestamp_anon,value,container_ip,request_type\n"
                          "100.0,0.09000000000000001,,API Requests\n"
                          "157.0,0.09,NULL,API Requests\n"
                          "214.0,0.09,None,API Requests\n"
                          "271.0,0.09,c0ffee00,Generative Requests\n";
static const char queue_size[] = "value,container_ip,timestamp_anon\n"
                                 "1.0,,100.0\n2.0,c0ffee00,157.0\n3.0,NULL,214.0\n";

Test(genai_metrics, three_spellings_of_nothing_match_nothing_in_a_join)
{
    struct names names = {0};
    struct genai_metrics a = read_metrics(qps, &names), b = read_metrics(queue_size, &names);
    cr_assert(a.n == 4 && a.report.n_rows == 4 && a.n_without == 3);
    cr_assert_float_eq(a.sum, 0.36, 1e-12);
    cr_assert(b.n == 3 && b.n_without == 2);
    cr_assert_float_eq(b.sum, 6, 1e-12);
    cr_assert_eq(genai_metrics_join(&a, &b, &names), 1);
    cr_assert_eq(genai_metrics_join(&b, &a, &names), 1);
    cr_assert_eq(genai_metrics_join(&a, &a, &names), 1, "nothing does not equal itself");
    genai_metrics_free(&a);
    genai_metrics_free(&b);
    names_free(&names);
}

Test(genai_metrics, columns_are_found_by_name_whatever_their_order)
{
    struct names names = {0};
    struct genai_metrics b = read_metrics(queue_size, &names), a = read_metrics(qps, &names);
    cr_assert_eq(b.row[1].time_us, 157 * US_PER_S);
    cr_assert_float_eq(b.row[1].value, 2, 0);
    cr_assert_eq(b.row[1].container, a.row[3].container);
    cr_assert_eq(b.row[1].request_type, -1);
    cr_assert_str_eq(names_text(&names, a.row[0].request_type), "API Requests");
    genai_metrics_free(&a);
    genai_metrics_free(&b);
    names_free(&names);
}

Test(genai_metrics, a_bad_row_is_dropped_and_counted_and_a_table_without_values_is_refused)
{
    struct names names = {0};
    struct genai_metrics m =
        read_metrics("value,timestamp_anon,container_ip\n1,5,a\nnan,6,a\n2,7,a\n,8,a\n", &names);
    cr_assert(m.n == 2 && m.report.n_rows == 4 && m.report.n_dropped == 2 && m.report.n_kept == 2);
    cr_assert_float_eq(m.sum, 3, 0);
    genai_metrics_free(&m);
    struct temp_file f = temp_text(".csv", "timestamp_anon,container_ip\n1,a\n");
    struct error err = {{0}};
    cr_assert_eq(genai_metrics_read(f.path, &names, &m, &err), ST_INPUT);
    cr_assert_not_null(strstr(err.text, "no column 'value'"), "%s", err.text);
    genai_metrics_free(&m);
    temp_remove(&f);
    names_free(&names);
}

Test(genai_metrics, the_published_tables_have_the_known_rows_containers_and_means)
{
    static const struct {
        const char *file;
        int64_t rows, without;
        double mean, tolerance;
    } tables[] = {
        {"data/genai/qps.csv.gz", 24627, 1114, 0.1431947, 1e-6}, /* 1145 x 3.0798734 in all */
        {"data/genai/pod_gpu_duty_cycle_anon.csv.gz", 157417, 0, 7.025, 5e-4},
        {"data/genai/queue_size_raw_anon.csv.gz", 1434, 1434, 0.0492794,
         1e-6}, /* summed with awk */
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char path[SHARED_PATH_MAX];
        struct names names = {0};
        struct genai_metrics m;
        struct error err = {{0}};
        if (!shared_path(path, tables[i].file))
            cr_skip_test("no data/genai in the shared folder");
        cr_assert_eq(genai_metrics_read(path, &names, &m, &err), ST_OK, "%s", err.text);
        cr_assert(m.report.n_rows == tables[i].rows && m.n_without == tables[i].without, "%s",
                  tables[i].file);
        cr_assert_float_eq(m.sum / (double)m.n, tables[i].mean, tables[i].tolerance, "%s: %g",
                           tables[i].file, m.sum / (double)m.n);
        genai_metrics_free(&m);
        names_free(&names);
    }
}
