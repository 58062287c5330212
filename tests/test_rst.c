/* Jobs and their configurations: as submitted, and which others they may have. */
#include "core/elastico/rst.h"
#include "tests/catalogs.h"
#include "tests/lab.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(rst, .fini = abort_on_leak, .timeout = 60);

struct bound {
    struct lab l;
    struct catalog c;
    struct rst r;
};

/* Jobs as for lab_jobs; listed is the configuration that the first of them names, NULL for none. */
static void bind_jobs(struct bound *b, const char *jobs, const char *nodes, enum submitted s,
                      const char *listed)
{
    struct error err = {{0}};
    *b = (struct bound){0};
    lab_jobs(&b->l, jobs);
    lab_nodes(&b->l, nodes);
    if (listed != NULL)
        b->l.jobs.config[0] = names_add(&b->l.jobs.names, listed, strlen(listed));
    catalog_open(&b->c, "table2");
    cr_assert_eq(rst_init(&b->r, &b->c.p, &b->l.jobs, &b->l.cluster, s, &err), ST_OK, "%s",
                 err.text);
}

static void unbind(struct bound *b)
{
    rst_free(&b->r);
    catalog_close(&b->c);
    lab_free(&b->l);
}

static const char *submitted_as(const struct bound *b, int32_t job, char text[96])
{
    return config_text(&b->c.w, b->r.submitted[job], text);
}

Test(rst, a_job_is_submitted_at_its_peak_as_listed_or_by_default)
{
    static const struct {
        const char *workload;
        enum submitted s;
        const char *listed, *nodes, *as;
        int32_t mem_mib;
    } rows[] = {
        /* 6.5 + 29.5 x .55 GiB over a floor of 24 */
        {"BERT", SUBMITTED_PEAK, NULL, "1x40960MiB:a100-40g", "bs=128 ck=0 amp=1", 24828},
        {"BERT", SUBMITTED_DEFAULT, NULL, "1x40960MiB:a100-40g", "bs=128 ck=0 amp=0", 36864},
        {"BERT", SUBMITTED_LISTED, NULL, "1x40960MiB:a100-40g", "bs=128 ck=0 amp=0", 36864},
        {"BERT", SUBMITTED_LISTED, "bs=32 ck=1", "1x40960MiB:a100-40g", "bs=32 ck=1 amp=0", 24576},
        {"BERT", SUBMITTED_PEAK, "bs=32 ck=1", "1x40960MiB:a100-40g", "bs=128 ck=0 amp=1", 24828},
        /* MU moves only the prefix cache: the peak has the largest that the card holds. */
        {"LLaMA-3-7b", SUBMITTED_PEAK, NULL, "1x40960MiB:a100-40g", "bs=4 sl=2048 pc=1 mu=0.9",
         36864},
        {"LLaMA-3-7b", SUBMITTED_PEAK, NULL, "1x32768MiB:v100-32g", "bs=4 sl=2048 pc=1 mu=0.75",
         30720},
        {"LLaMA-3-7b", SUBMITTED_PEAK, "sl=1024", "1x40960MiB:a100-40g", "bs=4 sl=1024 pc=1 mu=0.9",
         36864},
        {"LLaMA-3-7b", SUBMITTED_DEFAULT, "bs=4 sl=4096 mu=0.9", "1x40960MiB:a100-40g",
         "bs=1 sl=4096 pc=0 mu=0.7", 28672},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bound b;
        char text[96], jobs[96];
        snprintf(jobs, sizeof jobs, "a 0 10 1 1 %s", rows[i].workload);
        bind_jobs(&b, jobs, rows[i].nodes, rows[i].s, rows[i].listed);
        cr_assert_str_eq(submitted_as(&b, 0, text), rows[i].as, "row %zu", i);
        cr_assert_eq(rst_mem_mib(&b.r, 0, b.r.submitted[0]), rows[i].mem_mib, "row %zu: %d", i,
                     rst_mem_mib(&b.r, 0, b.r.submitted[0]));
        cr_assert_eq(b.r.n_unlisted, 0);
        unbind(&b);
    }
}

Test(rst, the_peak_is_the_fastest_that_fits_by_looking_at_all)
{
    struct bound b;
    bind_jobs(&b,
              "a 0 10 1 1 ResNet-50\nb 0 10 1 1 BERT\nc 0 10 1 1 DCGAN\nd 0 10 1 1 PPO\n"
              "e 0 10 1 1 NCF-NeuMF\nf 0 10 1 1 Qwen-1.7b",
              "1x32768MiB:v100-32g", SUBMITTED_PEAK, NULL);
    int32_t card = card_find("v100-32g");
    for (int32_t j = 0; j < 6; j++) {
        int32_t wl = b.r.workload[j];
        cr_assert_eq(b.r.card[j], card);
        for (int32_t c = b.c.w.config_begin[wl]; c < b.c.w.config_begin[wl + 1]; c++)
            if (config_index(&b.c.w, c, KNOB_SL) ==
                    config_index(&b.c.w, b.r.submitted[j], KNOB_SL) &&
                b.c.p.fb_mib[c] <= 32768 - 512)
                cr_assert_leq(b.c.p.m.rate[profile_row(&b.c.p, c, card)], b.r.rate[j]);
    }
    unbind(&b);
}

Test(rst, who_is_outside_and_what_is_not_listed_is_counted)
{
    struct bound b;
    bind_jobs(&b, "a 0 10 1 1 BERT\nb 0 10 1 1 mine\nc 0 10 1\nd 0 10 0 1 BERT\ne 0 10 0",
              "1x40960MiB:a100-40g", SUBMITTED_LISTED, "bs=100");
    cr_assert_eq(b.r.n_outside, 2, "b and c; d and e have no GPUs");
    cr_assert_eq(b.r.n_unlisted, 1);
    cr_assert_eq(b.r.workload[1], -1);
    cr_assert_eq(b.r.submitted[3], -1);
    unbind(&b);
    bind_jobs(&b, "a 0 10 1 1 BERT", "1x40960MiB:a100-40g", SUBMITTED_LISTED, "what=ever");
    cr_assert_eq(b.r.n_unlisted, 1);
    cr_assert_eq(b.r.submitted[0], b.c.w.initial[1], "the default stands in");
    unbind(&b);
}

Test(rst, the_traces_word_on_memory_counts_for_the_submitted_configuration_alone)
{
    struct bound b;
    bind_jobs(&b, "a 0 10 1 1 BERT 5000", "1x40960MiB:a100-40g", SUBMITTED_DEFAULT, NULL);
    int32_t other = config_named(&b.c.w, "BERT", "bs=32 ck=1 amp=1");
    cr_assert_eq(rst_mem_mib(&b.r, 0, b.r.submitted[0]), 5000);
    cr_assert_eq(rst_mem_mib(&b.r, 0, other), b.c.p.fb_mib[other]);
    unbind(&b);
}

Test(rst, the_reference_is_the_card_asked_for_else_the_clusters_first_known)
{
    struct bound b;
    bind_jobs(&b,
              "a 0 10 1 1 BERT 0 h200\nb 0 10 1 1 BERT\nc 0 10 1 1 BERT 0 T4\n"
              "d 0 10 1 1 BERT 0 A100-80G",
              "1:T4+1:v100-32g+1:h200", SUBMITTED_PEAK, NULL);
    cr_assert_str_eq(card_table[b.r.card[0]].name, "h200");
    cr_assert_str_eq(card_table[b.r.card[1]].name, "v100-32g");
    cr_assert_str_eq(card_table[b.r.card[2]].name, "v100-32g");
    cr_assert_str_eq(card_table[b.r.card[3]].name, "a100-80g");
    for (int32_t j = 0; j < 4; j++)
        cr_assert_eq(rst_speed(&b.r, j, b.r.submitted[j], b.r.card[j]), 1, "exactly");
    cr_assert_eq(rst_card(&b.r, &b.l.cluster, 1, 0), b.r.card[1], "an unknown type: as reference");
    cr_assert_eq(rst_card(&b.r, &b.l.cluster, 1, 2), card_find("h200"));
    cr_assert_gt(rst_speed(&b.r, 1, b.r.submitted[1], card_find("h200")), 2);
    unbind(&b);
    bind_jobs(&b, "a 0 10 1 1 BERT", "1", SUBMITTED_PEAK, NULL);
    cr_assert_eq(b.r.card[0], CARD_REFERENCE);
    unbind(&b);
}

Test(rst, a_longer_engine_limit_changes_nothing_and_a_shorter_one_is_infeasible)
{
    struct bound b;
    bind_jobs(&b, "a 0 10 1 1 Qwen-1.7b", "1x40960MiB:a100-40g", SUBMITTED_LISTED,
              "bs=2 sl=8192 pc=1 mu=0.5");
    int32_t same = b.r.submitted[0], longer = config_with(&b.c.w, same, KNOB_SL, 2),
            shorter = config_with(&b.c.w, same, KNOB_SL, 0);
    cr_assert_eq(rst_speed(&b.r, 0, longer, CARD_REFERENCE), 1);
    cr_assert(rst_feasible(&b.r, 0, longer, CARD_REFERENCE, 40960, 0.5));
    cr_assert(!rst_feasible(&b.r, 0, shorter, CARD_REFERENCE, 40960, 0.5));
    unbind(&b);
}

Test(rst, a_configuration_must_fit_the_card_and_keep_the_least_rate)
{
    struct bound b;
    bind_jobs(&b, "a 0 10 1 1 ResNet-50", "1x40960MiB:a100-40g", SUBMITTED_PEAK, NULL);
    int32_t peak = b.r.submitted[0], plain = config_named(&b.c.w, "ResNet-50", "bs=512 amp=0");
    double frac = rst_speed(&b.r, 0, plain, CARD_REFERENCE);
    cr_assert_float_eq(frac, 0.376, 0.001, "bs=512: 947.1 of 2521.5 images/s");
    cr_assert(rst_feasible(&b.r, 0, peak, CARD_REFERENCE, 40960, 1));
    cr_assert(rst_feasible(&b.r, 0, plain, CARD_REFERENCE, 40960, frac - 1e-9));
    cr_assert(!rst_feasible(&b.r, 0, plain, CARD_REFERENCE, 40960, frac + 1e-9));
    int32_t mem = b.c.p.fb_mib[plain];
    cr_assert(rst_feasible(&b.r, 0, plain, CARD_REFERENCE, mem + MEM_SYSTEM_MIB, 0.1));
    cr_assert(!rst_feasible(&b.r, 0, plain, CARD_REFERENCE, mem + MEM_SYSTEM_MIB - 1, 0.1));
    cr_assert(rst_feasible(&b.r, 0, plain, CARD_REFERENCE, INT32_MAX, 0.1));
    unbind(&b);
}

Test(rst, candidates_are_the_feasible_frontier_at_the_jobs_length)
{
    struct bound b;
    bind_jobs(&b, "a 0 10 1 1 Qwen-1.7b\nb 0 10 1 1 BERT", "1x40960MiB:a100-40g", SUBMITTED_LISTED,
              "bs=1 sl=8192 pc=0 mu=0.9");
    int32_t out[198], n = rst_candidates(&b.r, 0, CARD_REFERENCE, 40960, 0.5, -1, out);
    cr_assert_gt(n, 0);
    for (int32_t i = 0; i < n; i++) {
        cr_assert_eq(config_index(&b.c.w, out[i], KNOB_SL), 1);
        cr_assert(rst_feasible(&b.r, 0, out[i], CARD_REFERENCE, 40960, 0.5));
        cr_assert(i == 0 || out[i - 1] < out[i]);
    }
    int32_t kept = rst_candidates(&b.r, 0, CARD_REFERENCE, 40960, 0.5, b.r.submitted[0], out);
    cr_assert_eq(kept, n + 1, "as submitted it is dominated: the same with less memory");
    /* BERT (from the study's rows): three are not dominated; half of 317 sequences/s keeps two. */
    int32_t all = rst_candidates(&b.r, 1, CARD_REFERENCE, 40960, 0, -1, out);
    cr_assert_eq(all, 3);
    unbind(&b);
}

Test(rst, the_smallest_configuration_reserves_least)
{
    struct bound b;
    char text[96];
    bind_jobs(&b, "a 0 10 1 1 Qwen-1.7b\nb 0 10 1 1 Transformer", "1x40960MiB:a100-40g",
              SUBMITTED_DEFAULT, NULL);
    cr_assert_str_eq(config_text(&b.c.w, rst_smallest(&b.r, 0), text), "bs=4 sl=8192 pc=1 mu=0.4");
    int32_t small = rst_smallest(&b.r, 1);
    for (int32_t c = b.c.w.config_begin[4]; c < b.c.w.config_begin[5]; c++)
        cr_assert_geq(b.c.p.fb_mib[c], b.c.p.fb_mib[small]);
    unbind(&b);
}
