#include "calib/kernels.h"

#include "tests/leak.h"
#include "tests/shared.h"
#include "tests/temp.h"
#include "traces/table_file.h"

#include <math.h>
#include <stdio.h>

TestSuite(kernels, .fini = abort_on_leak);

#define HEAD "probe_a,blocks_a,gap_a,probe_b,blocks_b,gap_b,solo_a,solo_b,retain_a,retain_b\n"

static enum status read_text(struct kernel_pairs *k, const char *text, struct error *err)
{
    struct temp_file file = temp_text(".csv", text);
    struct table t;
    cr_assert_eq(table_read(file.path, &t, err), ST_OK, "%s", err->text);
    enum status status = kernel_pairs_read(k, &t, err);
    table_free(&t);
    temp_remove(&file);
    return status;
}

Test(kernels, pairs_of_one_probe_on_one_grid_without_gaps_count_the_shorter_side_first)
{
    struct kernel_pairs k = {0};
    struct error err = {""};
    cr_assert_eq(read_text(&k,
                           HEAD "spin,8,0,spin,8,0,100,1000,.9,.1\n"   /* counts, turned round */
                                "spin,8,0,spin,8,0,100,105,.5,.5\n"    /* lengths alike */
                                "spin,8,0,spin,4,0,100,1000,.9,.1\n"   /* another grid */
                                "spin,8,0,fma,8,0,100,1000,.9,.1\n"    /* another probe */
                                "spin,8,5,spin,8,0,100,1000,.9,.1\n"   /* a gap */
                                "spin,8,0,spin,8,0,100,1000,1.01,.1\n" /* not slowed */
                                "fma,8,0,fma,8,0,1000,100,.2,.8\n",
                           &err),
                 ST_OK, "%s", err.text);
    cr_assert_eq(k.n, 2);
    cr_assert_eq(k.n_unslowed, 1);
    cr_assert_eq(k.groups.n, 2);
    cr_assert_float_eq(k.at[0].length_s[0], .001, 1e-12);
    cr_assert_float_eq(k.at[0].length_s[1], .01, 1e-12);
    cr_assert_float_eq(k.at[0].slowdown[0], 10, 1e-9);
    cr_assert_float_eq(k.at[0].slowdown[1], 1 / .9, 1e-9);
    cr_assert_float_eq(k.at[1].slowdown[0], 5, 1e-9);
    kernel_pairs_free(&k);
    cr_assert_eq(read_text(&k, "probe_a\nx\n", &err), ST_INPUT);
    cr_assert_str_eq(err.text, "there is no column 'probe_b'");
    kernel_pairs_free(&k);
}

/* S_a - 1 = (L_b / L_a)^.7 exactly: every sample of pairs has the slope .7. */
Test(kernels, a_power_law_has_its_exponent_for_slope_and_no_error)
{
    struct kernel_pairs k = {0};
    struct error err = {""};
    struct estimate slope;
    char text[4096] = HEAD;
    for (int i = 1; i <= 5; i++) {
        double more = pow(2, .7 * i);
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "x,1,0,x,1,0,1000,%.17g,%.17g,%.17g\n", 1000 / pow(2, i), 1 / (1 + more),
                 1 / (1 + 1 / more));
    }
    cr_assert_eq(read_text(&k, text, &err), ST_OK, "%s", err.text);
    for (int both = 0; both < 2; both++) {
        cr_assert_eq(kernel_slope(&k, 0, both == 1, &slope, &err), ST_OK);
        cr_assert_float_eq(slope.value, .7, 1e-9);
        cr_assert_float_eq(slope.se, 0, 1e-9);
    }
    k.n = 2;
    cr_assert_eq(kernel_slope(&k, 0, true, &slope, &err), ST_OK);
    cr_assert(isnan(slope.value), "two pairs are too few");
    kernel_pairs_free(&k);
}

/* The slopes that another program found; its errors were of the regression, ours are of pairs. */
Test(kernels, the_h200s_probes_have_the_slopes_of_the_study)
{
    static const struct {
        const char *group;
        double shorter, both;
    } known[] = {{"spin, 1056 blocks", .85, 1.04}, {"fma, 1056 blocks", .46, .70}};
    char path[SHARED_PATH_MAX];
    struct table t;
    struct kernel_pairs k = {0};
    struct error err = {""};
    if (!shared_path(path, "data/h200/probe_pairs.csv"))
        cr_skip_test("no shared data; set COLOSIM_SHARED");
    cr_assert_eq(table_read(path, &t, &err), ST_OK, "%s", err.text);
    cr_assert_eq(kernel_pairs_read(&k, &t, &err), ST_OK, "%s", err.text);
    cr_assert_eq(k.groups.n, 2);
    for (size_t i = 0; i < 2; i++) {
        struct estimate slope[2];
        int32_t g = names_find(&k.groups, known[i].group, strlen(known[i].group));
        for (int both = 0; both < 2; both++)
            cr_assert_eq(kernel_slope(&k, g, both == 1, &slope[both], &err), ST_OK);
        cr_assert_float_eq(slope[0].value, known[i].shorter, .011, "%g", slope[0].value);
        cr_assert_float_eq(slope[1].value, known[i].both, .006, "%g", slope[1].value);
        for (int both = 0; both < 2; both++)
            cr_assert(slope[both].se > .02 && slope[both].se < .15, "%g", slope[both].se);
    }
    kernel_pairs_free(&k);
    table_free(&t);
}
