#include "calib/solo_jobs.h"

#include "core/elastico/catalog_file.h"
#include "tests/leak.h"
#include "tests/shared.h"
#include "tests/solo_table.h"

#include <math.h>

TestSuite(solo_jobs, .fini = abort_on_leak);

Test(solo_jobs, jobs_alone_are_known_by_their_numbers_and_their_names)
{
    struct table t = table_of(SOLO);
    struct solo_jobs jobs = {0};
    struct error err = {""};
    cr_assert_eq(solo_jobs_of_table(&jobs, &t, 1000, &err), ST_OK, "%s", err.text);
    cr_assert_eq(jobs.names.n, 2);
    const struct iac_side *net = &jobs.side[0], *llm = &jobs.side[1];
    cr_assert_eq(net->kind, KIND_TRAIN);
    cr_assert_float_eq(net->sm, .4, 1e-12);
    cr_assert_float_eq(net->occ, .2, 1e-12);
    cr_assert_float_eq(net->tensor, .1, 1e-12);
    cr_assert_float_eq(net->dram, .3, 1e-12);
    cr_assert_float_eq(net->fb_mib, 3001.5, 0);
    cr_assert_float_eq(net->card_mib, 1000, 0);
    cr_assert_float_eq(net->rate, 3200, 0);
    cr_assert_float_eq(net->step_s, .02, 1e-12);
    cr_assert_float_eq(net->bs, 64, 0);
    cr_assert_float_eq(net->amp + net->ck, 2, 0);
    cr_assert_eq(llm->kind, KIND_INFER);
    cr_assert_float_eq(llm->isl, 1536, 0);
    cr_assert_float_eq(llm->osl, 512, 0);
    cr_assert_float_eq(llm->amp + llm->ck, 0, 0);
    solo_jobs_free(&jobs);
    table_free(&t);
}

Test(solo_jobs, a_catalogs_workloads_are_jobs_too)
{
    struct workloads w;
    struct profiles p;
    struct solo_jobs jobs = {0};
    struct error err = {""};
    cr_assert_eq(catalog_read("h200", &w, &err), ST_OK, "%s", err.text);
    cr_assert_eq(profiles_init(&p, &w, &err), ST_OK);
    cr_assert_eq(solo_jobs_of_profiles(&jobs, &p, card_find("h200"), &err), ST_OK);
    cr_assert_eq(jobs.names.n, 23);
    int32_t id = names_find(&jobs.names, "resnet50-b64-amp", 16);
    cr_assert(id >= 0);
    cr_assert_float_eq(jobs.side[id].sm, .4935, 1e-9);
    cr_assert_float_eq(jobs.side[id].bs, 64, 0);
    cr_assert_float_eq(jobs.side[id].rate, 3031.9783, 1e-6);
    solo_jobs_free(&jobs);
    profiles_free(&p);
    workloads_free(&w);
}

Test(solo_jobs, what_mps_costs_is_the_geometric_mean_over_jobs_alone)
{
    struct table with = table_of("job,steps_per_s,steps_per_s_without_mps\na,100,110\nb,100,100\n"),
                 without = table_of("job,steps_per_s\na,100\n");
    struct estimate m = {1, 0};
    struct error err = {""};
    cr_assert_eq(solo_mps_overhead(&without, &m, &err), ST_OK);
    cr_assert_float_eq(m.value, 1, 0);
    cr_assert_eq(solo_mps_overhead(&with, &m, &err), ST_OK);
    cr_assert_float_eq(m.value, sqrt(1.1), 1e-12);
    /* two values ln 1.1 and 0: standard error of their mean is half of ln 1.1 */
    cr_assert_float_eq(m.se, sqrt(1.1) * log(1.1) / 2, 1e-12);
    table_free(&with);
    table_free(&without);
}
