#include "calib/wanted.h"

#include "tests/leak.h"
#include "tests/temp.h"
#include "traces/table_file.h"

TestSuite(wanted, .fini = abort_on_leak);

Test(wanted, columns_and_numbers_are_found_or_named)
{
    struct temp_file file = temp_text(".csv", "a,b\n1,x\n2.5,-3\n");
    struct table t;
    struct error err = {""};
    int32_t column;
    double value;
    cr_assert_eq(table_read(file.path, &t, &err), ST_OK, "%s", err.text);
    cr_assert_eq(wanted_column(&t, "b", &column, &err), ST_OK);
    cr_assert_eq(column, 1);
    cr_assert_eq(wanted_number(&t, 1, column, -3, 0, &value, &err), ST_OK);
    cr_assert_float_eq(value, -3, 0);
    cr_assert_eq(wanted_number(&t, 0, column, -3, 0, &value, &err), ST_INPUT);
    cr_assert_str_eq(err.text, "line 2: b is 'x', want a number in -3 to 0");
    cr_assert_eq(wanted_number(&t, 1, 0, 0, 2, &value, &err), ST_INPUT);
    cr_assert_str_eq(err.text, "line 3: a is '2.5', want a number in 0 to 2");
    cr_assert_eq(wanted_column(&t, "c", &column, &err), ST_INPUT);
    cr_assert_str_eq(err.text, "there is no column 'c'");
    table_free(&t);
    temp_remove(&file);
}
