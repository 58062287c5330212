#include "core/base/status.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(status, .fini = abort_on_leak);

Test(status, failing_writes_the_text_and_returns_the_status)
{
    struct error err = {""};
    cr_assert_eq(fail(&err, ST_INPUT, "line %d: %s", 7, "no number"), ST_INPUT);
    cr_assert_str_eq(err.text, "line 7: no number");
    cr_assert_eq(fail(NULL, ST_USAGE, "nobody reads this"), ST_USAGE);
}

Test(status, a_boundary_adds_where_in_front)
{
    struct error err = {"no number"};
    fail_in(&err, "line %d", 7);
    fail_in(&err, "%s", "jobs.csv");
    cr_assert_str_eq(err.text, "jobs.csv: line 7: no number");
    fail_in(NULL, "nowhere");
}

Test(status, texts_that_are_too_long_are_cut_and_end)
{
    struct error err;
    char text[3000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    fail(&err, ST_INPUT, "%s", text);
    cr_assert_eq(strlen(err.text), sizeof err.text - 1);
    fail_in(&err, "jobs.csv");
    cr_assert_eq(strlen(err.text), sizeof err.text - 1);
    cr_assert_eq(strncmp(err.text, "jobs.csv: xxx", 13), 0);
    fail_in(&err, "%s", text);
    cr_assert_eq(strlen(err.text), sizeof err.text - 1);
}

Test(status, exit_codes_are_the_documented_ones)
{
    cr_assert_eq((int)ST_OK, 0);
    cr_assert_eq((int)ST_CHECK, 1);
    cr_assert_eq((int)ST_USAGE, 2);
    cr_assert_eq((int)ST_INPUT, 3);
    cr_assert_eq((int)ST_OUTPUT, 4);
    cr_assert_eq((int)ST_NOTHING, 5);
    cr_assert_eq((int)ST_HELPER, 6);
    cr_assert_eq((int)ST_INTERRUPTED, 130);
    struct error err;
    cr_assert_eq(fail_memory(&err), ST_OUTPUT);
    cr_assert_str_eq(err.text, "out of memory");
}

static enum status pass_on(enum status given, int *n_after)
{
    TRY(given);
    (*n_after)++;
    return ST_OK;
}

static enum status release_on(enum status given, int *n_after, int *n_released)
{
    enum status status = ST_OK;
    TRY_OUT(given);
    (*n_after)++;
out:
    (*n_released)++;
    return status;
}

Test(status, try_passes_a_failure_on_and_try_out_releases_first)
{
    int n_after = 0, n_released = 0;
    cr_assert_eq(pass_on(ST_CHECK, &n_after), ST_CHECK);
    cr_assert_eq(release_on(ST_CHECK, &n_after, &n_released), ST_CHECK);
    cr_assert_eq(n_after, 0);
    cr_assert_eq(n_released, 1);
    cr_assert_eq(pass_on(ST_OK, &n_after), ST_OK);
    cr_assert_eq(release_on(ST_OK, &n_after, &n_released), ST_OK);
    cr_assert_eq(n_after, 2);
    cr_assert_eq(n_released, 2);
}
