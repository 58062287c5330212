#include "core/elastico/gbdt.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

TestSuite(gbdt, .fini = abort_on_leak);

enum { N = 400 };

/* y = 1 where x0 > 1/2, else 0, and 2 more where x1 > 1/4. */
static void make_steps(double x[2 * N], double y[N])
{
    for (int i = 0; i < N; i++) {
        x[2 * i] = i % 20 / 20.0;
        x[2 * i + 1] = i / 20 / 20.0;
        y[i] = (x[2 * i] > .5) + 2 * (x[2 * i + 1] > .25);
    }
}

Test(gbdt, steps_are_learned_and_survive_being_written_and_read)
{
    static double x[2 * N], y[N], first[N], second[N];
    struct error err = {""};
    struct gbdt trees, read;
    char *text;
    size_t length;
    if (!gbdt_built())
        cr_skip_test("built without XGBoost");
    make_steps(x, y);
    cr_assert_eq(gbdt_train(&trees, N, 2, x, y, 1, &err), ST_OK, "%s", err.text);
    gbdt_predict(&trees, N, 2, x, first);
    for (int i = 0; i < N; i++)
        cr_assert_float_eq(first[i], y[i], .15, "row %d: %g, want %g", i, first[i], y[i]);
    cr_assert_eq(gbdt_text(&trees, &text, &length, &err), ST_OK, "%s", err.text);
    cr_assert_eq(gbdt_of_text(&read, text, length, &err), ST_OK, "%s", err.text);
    gbdt_predict(&read, N, 2, x, second);
    for (int i = 0; i < N; i++)
        cr_assert_float_eq(second[i], first[i], 1e-6);
    free(text);
    gbdt_free(&trees);
    gbdt_free(&read);
}

Test(gbdt, what_is_no_text_of_trees_is_refused)
{
    struct gbdt trees;
    struct error err = {""};
    enum status want = gbdt_built() ? ST_INPUT : ST_HELPER;
    cr_assert_eq(gbdt_of_text(&trees, "{\"version\": 1}", 14, &err), want);
    cr_assert(err.text[0] != '\0');
    gbdt_free(&trees);
}
