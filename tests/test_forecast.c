/* Forecasts: which rows lie ahead, and what the next ones say. */
#include "policies/lucid/forecast.h"
#include "tests/leak.h"
#include "tests/lucid_lab.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(forecast, .fini = abort_on_leak);

Test(forecast, the_next_five_rows_count_or_those_that_are_left)
{
    struct lab l = {0};
    struct forecast f;
    lab_table(
        &l, 0,
        "time,pred_gpu_job,pred_gpu_num\na,1,0\nb,2,0\nc,3,0\nd,4,0\ne,5,0\nf,16,70\ng,7,0\n");
    cr_assert_eq(forecast_init(&f, &l.tables[0], 1000, 600, &l.arena, NULL), ST_OK);
    cr_assert_eq(forecast_row(&f, 999 * US_PER_S), 0, "the first row still lies ahead");
    cr_assert_eq(forecast_row(&f, 1000 * US_PER_S), 1, "and now it does not");
    cr_assert_eq(forecast_row(&f, 1600 * US_PER_S - 1), 1);
    cr_assert_eq(forecast_row(&f, 1600 * US_PER_S), 2);
    cr_assert_eq(forecast_row(&f, 900000 * US_PER_S), 7);
    cr_assert_float_eq(forecast_mean(&f, f.jobs, 0), 3, 1e-12);
    cr_assert_float_eq(forecast_mean(&f, f.jobs, 1), 6, 1e-12);
    cr_assert_float_eq(forecast_mean(&f, f.gpus, 1), 14, 1e-12);
    cr_assert_float_eq(forecast_mean(&f, f.jobs, 4), 28. / 3, 1e-12);
    cr_assert_float_eq(forecast_mean(&f, f.jobs, 6), 7, 1e-12);
    cr_assert(isnan(forecast_mean(&f, f.jobs, 7)));
    lab_free(&l);
}

Test(forecast, without_a_table_nothing_is_expected)
{
    struct table none = {0};
    struct forecast f;
    cr_assert_eq(forecast_init(&f, &none, 0, 600, NULL, NULL), ST_OK);
    cr_assert(isnan(forecast_mean(&f, f.jobs, forecast_row(&f, 5 * US_PER_S))));
}

Test(forecast, a_table_without_its_columns_or_numbers_is_refused)
{
    static const char *const tables[] = {"time,jobs\na,1\n",
                                         "pred_gpu_job,pred_gpu_num\n1,2\n1,many\n"};
    static const char *const said[] = {"pred_gpu_job and pred_gpu_num", "row 2"};
    for (int i = 0; i < 2; i++) {
        struct lab l = {0};
        struct forecast f;
        struct error err = {{0}};
        lab_table(&l, 0, tables[i]);
        cr_assert_eq(forecast_init(&f, &l.tables[0], 0, 600, &l.arena, &err), ST_INPUT);
        cr_assert_not_null(strstr(err.text, said[i]), "%s", err.text);
        lab_free(&l);
    }
}
