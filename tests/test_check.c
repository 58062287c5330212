#include "sim/results/check.h"

#include "tests/ask.h"
#include "tests/leak.h"

#include <math.h>

TestSuite(check, .fini = abort_on_leak);

/* A baseline of these metrics, and a run that has the others. */
static struct baseline_metric tolerated(const char *name, double value, const char *tolerance)
{
    struct baseline_metric m = {.name = name, .value = value};
    if (tolerance[0] != '\0')
        cr_assert(tolerance_parse(tolerance, strlen(tolerance), &m.tolerance));
    return m;
}

static struct summary run_with(double jct, double throughput)
{
    struct summary s = {.name = "new <&>", .policy = "fifo", .status = "complete"};
    for (int i = 0; i < N_METRICS; i++)
        s.metric[i] = NAN;
    s.metric[METRIC_jct_mean_s] = jct;
    s.metric[METRIC_throughput_gpus] = throughput;
    return s;
}

Test(check, four_percent_more_is_within_five_and_outside_three)
{
    struct baseline_metric m = tolerated("jct_mean_s", 100, "5%");
    const struct baseline b = {.metric = &m, .n = 1};
    const struct summary s = run_with(104, 1);
    struct check c;
    struct error err;
    struct printing p;
    cr_assert_eq(check_make(&c, &b, &s, &err), ST_OK);
    cr_assert_eq(c.n_failed, 0);
    cr_assert_eq(c.row[0].verdict, VERDICT_ALLOWED);
    cr_assert_float_eq(c.row[0].change_percent, 4, 1e-12);
    check_free(&c);

    m = tolerated("jct_mean_s", 100, "3%");
    cr_assert_eq(check_make(&c, &b, &s, &err), ST_OK);
    cr_assert_eq(c.n_failed, 1);
    cr_assert_eq(c.row[0].verdict, VERDICT_WORSE);
    check_print(&c, printing_start(&p));
    cr_assert_str_eq(printing_end(&p),
                     "metric         baseline     this run     change  tolerance  verdict\n"
                     "jct_mean_s          100          104     +4.0 %         3%  WORSE\n"
                     "1 of 1 checked metrics failed\n");
    free(p.text);
    check_free(&c);
}

Test(check, each_metric_gets_its_verdict)
{
    static const struct {
        const char *name;
        double base;
        const char *tolerance;
        enum verdict want;
    } row[] = {
        {"jct_mean_s", 104, "5%", VERDICT_SAME},
        {"jct_mean_s", 200, "5%", VERDICT_BETTER},
        {"jct_mean_s", 200, "+-5%", VERDICT_WORSE},
        {"jct_mean_s", 1, "", VERDICT_UNCHECKED},
        {"throughput_gpus", 0.9, "5%", VERDICT_BETTER},
        {"throughput_gpus", 1.1, "5%", VERDICT_WORSE},
        {"throughput_gpus", 1.01, "5%", VERDICT_ALLOWED},
        {"wait_mean_s", NAN, "5%", VERDICT_UNKNOWN},
        {"wait_mean_s", 3, "5%", VERDICT_ABSENT},  /* the run cannot tell it */
        {"jct_mean_s", NAN, "5%", VERDICT_ABSENT}, /* the baseline could not */
        {"no_such_metric", 3, "5%", VERDICT_ABSENT},
        {"no_such_metric", 3, "", VERDICT_UNCHECKED},
        {"jct_mean_s", 0, "5%", VERDICT_WORSE}, /* of nothing, five percent is nothing */
        {"jct_mean_s", 0, "200", VERDICT_ALLOWED},
    };
    const struct summary s = run_with(104, 1);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct baseline_metric m = tolerated(row[i].name, row[i].base, row[i].tolerance);
        const struct baseline b = {.metric = &m, .n = 1};
        struct check c;
        cr_assert_eq(check_make(&c, &b, &s, NULL), ST_OK);
        cr_assert_eq(c.row[0].verdict, row[i].want, "row %zu: %d", i, (int)c.row[0].verdict);
        cr_assert_eq(c.n_failed, row[i].want == VERDICT_WORSE || row[i].want == VERDICT_ABSENT,
                     "row %zu", i);
        cr_assert_eq(c.n_checked, row[i].tolerance[0] != '\0', "row %zu", i);
        check_free(&c);
    }
}

Test(check, small_and_undefined_changes_are_printed_as_such)
{
    struct baseline_metric m[] = {tolerated("jct_mean_s", 103.99, "+-0.001%"),
                                  tolerated("throughput_gpus", 0, "5%"),
                                  tolerated("wait_mean_s", NAN, "5%")};
    const struct baseline b = {.metric = m, .n = 3};
    const struct summary s = run_with(104, 1);
    struct check c;
    struct printing p;
    cr_assert_eq(check_make(&c, &b, &s, NULL), ST_OK);
    check_print(&c, printing_start(&p));
    const char *text = printing_end(&p);
    cr_assert_not_null(strstr(text, "  +0.0096 %    \xc2\xb1"
                                    "0.001%  WORSE\n"),
                       "%s", text);
    cr_assert_not_null(strstr(text, "            1          -         5%  better\n"), "%s", text);
    cr_assert_null(strstr(text, "wait_mean_s"));
    cr_assert_null(strstr(text, "inf"));
    free(p.text);
    check_free(&c);
}

Test(check, junit_has_a_case_for_each_checked_metric_and_counts_failures)
{
    struct baseline_metric m[] = {tolerated("jct_mean_s", 100, "3%"),
                                  tolerated("throughput_gpus", 1, "5%"), tolerated("events", 5, ""),
                                  tolerated("wait_mean_s", 5,
                                            "\xc2\xb1"
                                            "1")};
    const struct baseline b = {.metric = m, .n = 4};
    const struct summary s = run_with(104, 1);
    struct check c;
    struct printing p;
    cr_assert_eq(check_make(&c, &b, &s, NULL), ST_OK);
    check_junit(&c, &s, printing_start(&p));
    cr_assert_str_eq(
        printing_end(&p),
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites tests=\"3\" failures=\"2\" errors=\"0\">\n"
        "  <testsuite tests=\"3\" failures=\"2\" errors=\"0\" skipped=\"0\" "
        "name=\"colosim check new &#60;&#38;&#62;\" time=\"0\">\n"
        "    <testcase classname=\"colosim.fifo\" name=\"jct_mean_s\" time=\"0\">\n"
        "      <failure type=\"regression\" message=\"baseline 100, this run 104, change +4.0 %, "
        "tolerance 3%\"/>\n"
        "    </testcase>\n"
        "    <testcase classname=\"colosim.fifo\" name=\"throughput_gpus\" time=\"0\"/>\n"
        "    <testcase classname=\"colosim.fifo\" name=\"wait_mean_s\" time=\"0\">\n"
        "      <failure type=\"absent\" message=\"baseline 5, this run null, change -, "
        "tolerance \xc2\xb1"
        "1\"/>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        "</testsuites>\n");
    free(p.text);
    check_free(&c);
}
