/* The policy elastico: Algorithm 1 through the engine. Beliefs are the truth unless a test says
 * otherwise. */
#include "core/base/rng.h"
#include "core/elastico/pds.h"
#include "policies/registry.h"
#include "tests/lab.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

TestSuite(elastico, .fini = abort_on_leak, .timeout = 120);

static const char *const trainers[] = {"ResNet-50", "BERT", "PPO", "NCF-NeuMF", "DCGAN", "LSTM"};

static void open_lab(struct lab *l, enum submitted submitted, struct pds_config *config)
{
    *l = (struct lab){.catalog = EMBEDDED_CATALOG,
                      .submitted = submitted,
                      .truth = TRUTH_CONTENTION,
                      .mps = 1,
                      .rates = {.scale_exp = 0.9},
                      .config = config};
    param_defaults(&(struct param_group){"elastico", pds_params, config});
}

static double finish_s(const struct lab *l, int32_t job) { return s_of_us(l->jobs.finish_us[job]); }

static int32_t mem_mib(const struct lab *l, int32_t job)
{
    return l->jobs.card_mem_mib[l->jobs.task_begin[job]];
}

/* Case 1 of §5.4: submitted = default, contention. BERT at its peak (36 GB) and ResNet-50 (24 GB)
 * do not fit one card of 40 GB; reshaped they do. */
Test(elastico, case_1_two_that_do_not_fit_one_card_share_it_reshaped)
{
    static const char jobs[] = "bert 0 3600 1 1 BERT\nres 0 3600 1 1 ResNet-50";
    struct pds_config config;
    struct lab l, serial;
    open_lab(&l, SUBMITTED_DEFAULT, &config);
    l.set = SET_FRANK_L2;
    lab_jobs(&l, jobs);
    lab_nodes(&l, "1x40960MiB:a100-40g");
    lab_run(&l, "elastico");
    open_lab(&serial, SUBMITTED_DEFAULT, &config);
    serial.config = NULL;
    serial.rules.share_max = 2;
    lab_jobs(&serial, jobs);
    lab_nodes(&serial, "1x40960MiB:a100-40g");
    lab_run(&serial, "fifo");
    int32_t bert = lab_job(&l, "bert"), res = lab_job(&l, "res");
    cr_assert_gt(mem_mib(&serial, bert) + mem_mib(&serial, res), 40960 - MEM_SYSTEM_MIB,
                 "as submitted they do not fit");
    cr_assert_float_eq(fmax(finish_s(&serial, bert), finish_s(&serial, res)), 7200, 1e-6);
    cr_assert_eq(l.jobs.start_us[bert], 0);
    cr_assert_eq(l.jobs.start_us[res], 0, "both at once");
    double mib = mem_mib(&l, bert) + mem_mib(&l, res);
    cr_assert_leq(mib, 40960 - MEM_SYSTEM_MIB);
    double makespan = fmax(finish_s(&l, bert), finish_s(&l, res));
    /* "Serial with AMP on": each alone in its fastest configuration, one after the other. */
    const struct profiles *p = &l.profiles;
    double amp = 0;
    for (int i = 0; i < 2; i++) {
        int32_t job = i == 0 ? bert : res, wl = l.rst.workload[job];
        double best = 0;
        for (int32_t c = l.workloads.config_begin[wl]; c < l.workloads.config_begin[wl + 1]; c++)
            best = fmax(best, p->m.rate[profile_row(p, c, CARD_REFERENCE)]);
        amp += 3600 * l.rst.rate[job] / best;
    }
    fprintf(stderr,
            "# "
            "case 1 (paper: 38 GB, makespan - 41 %%): %.1f GB, makespan %+.0f %% of serial as "
            "submitted, %+.0f %% of serial with AMP on\n",
            mib / 1024, 100 * (makespan / 7200 - 1), 100 * (makespan / amp - 1));
    cr_assert_lt(makespan, 0.59 * 7200, "the paper has 41 %% less");
    lab_free(&l);
    lab_free(&serial);
}

/* Case 2: four at once on two cards. */
Test(elastico, case_2_a_burst_of_four_starts_at_once_on_two_cards)
{
    static const char jobs[] = "res 0 1800 1 1 ResNet-50\nbert 0 1800 1 1 BERT\n"
                               "ppo 0 1800 1 1 PPO\nncf 0 1800 1 1 NCF-NeuMF";
    for (int peak = 0; peak < 2; peak++) {
        struct pds_config config;
        struct lab l, greedy;
        enum submitted submitted = peak ? SUBMITTED_PEAK : SUBMITTED_DEFAULT;
        open_lab(&l, submitted, &config);
        lab_jobs(&l, jobs);
        lab_nodes(&l, "2x40960MiB:a100-40g");
        lab_run(&l, "elastico");
        open_lab(&greedy, submitted, &config);
        greedy.config = NULL;
        lab_jobs(&greedy, jobs);
        lab_nodes(&greedy, "2x40960MiB:a100-40g");
        lab_run(&greedy, "fifo");
        double mean = 0, worst = 0;
        for (int32_t j = 0; j < 4; j++) {
            cr_assert_eq(l.jobs.start_us[j], 0, "job %d waits", j);
            mean += finish_s(&l, j) / 4;
            worst = fmax(worst, finish_s(&l, j) / 1800 - 1);
        }
        /* first fit by hand: two run from 0 to 1800, two from 1800 to 3600 */
        cr_assert_float_eq(lab_metric(&greedy, METRIC_jct_mean_s), 2700, 1e-6);
        fprintf(stderr,
                "# "
                "case 2, submitted %s (paper: no queuing, 8-12 %% slower, JCT -35 %%): none, "
                "slowest %+.0f %%, mean JCT %+.0f %%\n",
                peak ? "peak" : "default", 100 * worst, 100 * (mean / 2700 - 1));
        cr_assert_lt(mean, 2700);
        lab_free(&l);
        lab_free(&greedy);
    }
}

/* Case 3: six workloads; denser than the default scheduler on the same cards. */
Test(elastico, case_3_six_workloads_are_packed_more_densely)
{
    static const char jobs[] = "bert 0 3600 1 1 BERT\nres 0 3600 1 1 ResNet-50\n"
                               "ppo 0 3600 1 1 PPO\nncf 0 3600 1 1 NCF-NeuMF\n"
                               "qwen 0 3600 1 1 Qwen-1.7b\ndeep 0 3600 1 1 DeepSeek-1.5b";
    struct pds_config config;
    struct lab l, fixed;
    open_lab(&l, SUBMITTED_DEFAULT, &config);
    lab_jobs(&l, jobs);
    lab_nodes(&l, "2x40960MiB:a100-40g");
    lab_run(&l, "elastico");
    open_lab(&fixed, SUBMITTED_DEFAULT, &config);
    fixed.config = NULL;
    lab_jobs(&fixed, jobs);
    lab_nodes(&fixed, "2x40960MiB:a100-40g");
    lab_run(&fixed, "fifo");
    double ours = lab_metric(&l, METRIC_makespan_s), theirs = lab_metric(&fixed, METRIC_makespan_s);
    cr_assert_float_eq(theirs, 10800, 1e-6); /* three rounds of two */
    fprintf(stderr,
            "# "
            "case 3, submitted default (paper: 10.4 -> 7.9, -24 %%): makespan %.0f -> %.0f s, "
            "%+.0f %%; memory held %.0f -> %.0f %%\n",
            theirs, ours, 100 * (ours / theirs - 1), 100 * lab_metric(&fixed, METRIC_mem_util_mean),
            100 * lab_metric(&l, METRIC_mem_util_mean));
    cr_assert_lt(ours, theirs);
    cr_assert_gt(lab_metric(&l, METRIC_mem_util_mean), lab_metric(&fixed, METRIC_mem_util_mean));
    lab_free(&l);
    lab_free(&fixed);
}

/* A random day: catalog jobs of 1 to 4 GPUs, some elastic, on three nodes of four. */
static void draw_day(struct lab *l, uint64_t seed)
{
    char text[16384], *at = text;
    gsl_rng *rng = rng_stream(seed, "test_elastico");
    double t = 0;
    for (int i = 0; i < 120; i++) {
        int gpus = 1 << gsl_rng_uniform_int(rng, 3);
        t += gsl_rng_uniform(rng) * 200;
        at += sprintf(at, "j%d %.3f %.3f %d 1 %s 0 a100-40g %s\n", i, t,
                      20 + 3000 * pow(gsl_rng_uniform(rng), 3), gpus,
                      trainers[gsl_rng_uniform_int(rng, 6)],
                      gpus > 1 && gsl_rng_uniform_int(rng, 2) ? gpus > 2 ? "1 4" : "1 2" : "0 0");
    }
    gsl_rng_free(rng);
    lab_jobs(l, text);
    lab_nodes(l, "4x40960MiB:a100-40g+4x40960MiB:a100-40g+4x40960MiB:a100-40g");
}

/* D10: what was skipped would have changed nothing. */
Test(elastico, skipping_idle_boundaries_changes_nothing)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct pds_config config;
        struct lab every, skipped;
        open_lab(&skipped, SUBMITTED_PEAK, &config);
        draw_day(&skipped, seed);
        lab_run(&skipped, "elastico");
        open_lab(&every, SUBMITTED_PEAK, &config);
        config.skip_idle = false;
        draw_day(&every, seed);
        lab_run(&every, "elastico");
        cr_assert_gt(every.log.n_epochs, 2 * skipped.log.n_epochs, "there is something to skip");
        cr_assert_arr_eq(every.jobs.finish_us, skipped.jobs.finish_us,
                         (size_t)every.jobs.n_jobs * sizeof *every.jobs.finish_us);
        cr_assert_eq(every.log.n_configs, skipped.log.n_configs);
        cr_assert_eq(every.log.n_resizes, skipped.log.n_resizes);
        lab_free(&every);
        lab_free(&skipped);
    }
}

/* With an oracle nobody is ever slowed by more than was agreed, and every promise is kept to the
 * end except for what transitions cost. */
Test(elastico, an_oracle_violates_no_tolerance_at_any_pass)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct pds_config config;
        struct lab l;
        int64_t n_couples = 0;
        open_lab(&l, SUBMITTED_PEAK, &config);
        draw_day(&l, seed);
        lab_run(&l, "elastico");
        for (size_t i = 0; i < l.log.n_epochs; i++) {
            cr_assert_eq(l.log.epoch[i].epoch.n_violations, 0, "seed %d, pass %d", (int)seed,
                         (int)i);
            n_couples += l.log.epoch[i].epoch.n_couples;
        }
        cr_assert_gt(n_couples, 0, "somebody shares");
        lab_free(&l);
    }
}

/* The same with beliefs that are off by half: some are seen to be violated. */
Test(elastico, a_wrong_belief_is_seen_to_violate_tolerances)
{
    int64_t n = 0;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct pds_config config;
        struct lab l;
        open_lab(&l, SUBMITTED_PEAK, &config);
        l.belief_options = (struct belief_options){.error_frac = 0.5, .seed = seed};
        draw_day(&l, seed);
        lab_run(&l, "elastico");
        for (size_t i = 0; i < l.log.n_epochs; i++)
            n += l.log.epoch[i].epoch.n_violations;
        lab_free(&l);
    }
    cr_assert_gt(n, 0);
}

/* By hand: two elastic jobs of four on four cards. b has to start on what a leaves or waits; when a
 * is done, b widens to all four within an epoch. */
Test(elastico, an_elastic_job_grows_back_when_nobody_waits)
{
    struct pds_config config;
    struct lab l;
    open_lab(&l, SUBMITTED_PEAK, &config);
    lab_jobs(&l, "a 0 1000 4 1 ResNet-50 0 a100-40g 1 4\nb 0 20000 4 1 ResNet-50 0 a100-40g 1 4");
    lab_nodes(&l, "4x40960MiB:a100-40g");
    l.jobs.min_rate_frac[0] = l.jobs.min_rate_frac[1] = 0.2;
    lab_run(&l, "elastico");
    int32_t b = lab_job(&l, "b");
    int32_t n_at_end = 0;
    for (size_t i = 0; i < l.log.n_spans; i++) {
        const struct span *s = &l.log.span[i];
        if (l.jobs.task_job[s->task] == b && s->end_us == l.jobs.finish_us[b])
            n_at_end += s->n_gpus;
    }
    cr_assert_eq(n_at_end, 4, "b ends on %d cards", n_at_end);
    lab_free(&l);
}

/* A pair parts when a card becomes free and nobody waits: three jobs on two cards, the one that is
 * alone ends first. */
Test(elastico, a_pair_parts_when_pressure_falls)
{
    struct pds_config config;
    struct lab l;
    open_lab(&l, SUBMITTED_PEAK, &config);
    lab_jobs(&l, "a 0 16000 1 1 LSTM\nb 0 20000 1 1 LSTM\nc 0 20000 1 1 NCF-NeuMF");
    lab_nodes(&l, "2x40960MiB:a100-40g");
    lab_run(&l, "elastico");
    int32_t b = lab_job(&l, "b"), c = lab_job(&l, "c");
    for (int32_t j = 0; j < 3; j++)
        cr_assert_lt(s_of_us(l.jobs.start_us[j]), 600, "all run while a does");
    int32_t card[2] = {-1, -1};
    for (size_t i = 0; i < l.log.n_spans; i++) {
        const struct span *s = &l.log.span[i];
        int32_t job = l.jobs.task_job[s->task];
        if (job == b || job == c)
            card[job == c] = s->first_gpu; /* spans are in order of their end */
    }
    cr_assert_neq(card[0], card[1], "b and c end on cards of their own");
    lab_free(&l);
}

/* Each part left out is a legal schedule too: all jobs end, checked by the engine after every pass.
 */
Test(elastico, every_ablation_ends_every_job)
{
    for (int without = PDS_WHOLE; without <= PDS_NO_PDS; without++) {
        struct pds_config config;
        struct lab l;
        open_lab(&l, SUBMITTED_PEAK, &config);
        config.without = without;
        draw_day(&l, 7);
        lab_run(&l, "elastico");
        for (int32_t j = 0; j < l.jobs.n_jobs; j++)
            cr_assert_eq(l.jobs.status[j], JOB_DONE, "without %d: job %d", without, j);
        if (without == PDS_NO_RST)
            cr_assert_eq(l.log.n_configs, 0);
        lab_free(&l);
    }
}

/* At most two on a card, and their memory leaves M_sys, in every stretch of the Gantt. */
Test(elastico, at_most_two_share_a_card)
{
    struct pds_config config;
    struct lab l;
    open_lab(&l, SUBMITTED_PEAK, &config);
    draw_day(&l, 8);
    lab_run(&l, "elastico");
    int most = 0;
    for (size_t i = 0; i < l.log.n_spans; i++) {
        const struct span *s = &l.log.span[i];
        for (int32_t gpu = s->first_gpu; gpu < s->first_gpu + s->n_gpus; gpu++) {
            int n = 0;
            for (size_t k = 0; k < l.log.n_spans; k++) {
                const struct span *o = &l.log.span[k];
                n += o->node == s->node && o->first_gpu <= gpu && gpu < o->first_gpu + o->n_gpus &&
                     o->start_us <= s->start_us && s->start_us < o->end_us;
            }
            most = n > most ? n : most;
        }
    }
    cr_assert_eq(most, 2);
    lab_free(&l);
}
