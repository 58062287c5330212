#include "sim/results/tolerance.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(tolerance, .fini = abort_on_leak);

Test(tolerance, is_read_as_people_write_it_and_written_back)
{
    static const struct {
        const char *text, *back;
        double amount;
        bool percent, two_sided;
    } row[] = {
        {"3%", "3%", 3, true, false},
        {"0.5", "0.5", 0.5, false, false},
        {"0", "0", 0, false, false},
        {"\xc2\xb1"
         "3%",
         "\xc2\xb1"
         "3%",
         3, true, true},
        {"+-3%",
         "\xc2\xb1"
         "3%",
         3, true, true},
        {"+/-2.5",
         "\xc2\xb1"
         "2.5",
         2.5, false, true},
        {"1e-3%", "0.001%", 0.001, true, false},
    };
    char text[48];
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct tolerance t;
        cr_assert(tolerance_parse(row[i].text, strlen(row[i].text), &t), "%s", row[i].text);
        cr_assert(t.set);
        cr_assert_float_eq(t.amount, row[i].amount, 0);
        cr_assert_eq(t.percent, row[i].percent);
        cr_assert_eq(t.two_sided, row[i].two_sided);
        cr_assert_str_eq(tolerance_text(&t, text), row[i].back);
    }
    cr_assert_str_eq(tolerance_text(&(struct tolerance){0}, text), "");
}

Test(tolerance, what_is_none_is_refused)
{
    static const char *const text[] = {"",    "%",   "x",        "-1",  "-1%", "3%%",
                                       "nan", "inf", "\xc2\xb1", "3 s", "5%x"};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        struct tolerance t;
        cr_assert_not(tolerance_parse(text[i], strlen(text[i]), &t), "'%s'", text[i]);
    }
}

Test(tolerance, only_the_worse_direction_counts_unless_it_has_two_sides)
{
    static const struct {
        const char *text;
        int better;
        double base, now;
        bool exceeded;
    } row[] = {
        {"5%", -1, 100, 104, false},   {"3%", -1, 100, 104, true},
        {"4%", -1, 100, 104, false},   {"3%", -1, 100, 50, false}, /* better */
        {"3%", +1, 100, 96, true},     {"3%", +1, 100, 200, false},
        {"3%", 0, 100, 104, true},     {"3%", 0, 100, 96, true},
        {"+-3%", -1, 100, 96, true},   {"+-3%", -1, 100, 98, false},
        {"+-3%", +1, 100, 104, true},  {"5", -1, 100, 105, false},
        {"5", -1, 100, 105.1, true},   {"3%", -1, -100, -96, true},
        {"3%", -1, -100, -98, false},  {"5%", -1, 0, 0, false},
        {"5%", -1, 0, 0.1, true},      {"0", -1, 7, 7, false},
        {"10%", -1, 0.1, 0.11, false}, /* 0.11 - 0.1 is a last bit above 0.01 */
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct tolerance t;
        cr_assert(tolerance_parse(row[i].text, strlen(row[i].text), &t));
        cr_assert_eq(tolerance_exceeded(&t, row[i].better, row[i].base, row[i].now),
                     row[i].exceeded, "row %zu", i);
    }
}
