/* The policy elastico: Algorithm 1 through the engine. Beliefs are the truth unless a test says
 * otherwise. */
#include "policies/registry.h"
#include "tests/elastico_lab.h"
#include "tests/leak.h"
#include "tests/temp.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

TestSuite(elastico, .fini = abort_on_leak, .timeout = 120);

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

/* Case 1 again, one card, from an empty store, 100 s a profile. Both jobs run but nobody may share
 * before the configurations in which they fit are known. By hand: GPUs enough profile both families
 * by 100, and there both run; where only what they arrived in is profiled, 36 and 24 GB never fit,
 * and ResNet-50 starts when BERT ends after 3600 s at its own speed. */
Test(elastico, nobody_shares_before_the_profiles_are_there)
{
    for (int what = LORE_FAMILY; what <= LORE_ARRIVED; what++) {
        struct pds_config config;
        struct lab l;
        open_lab(&l, SUBMITTED_DEFAULT, &config);
        l.set = SET_FRANK_L2;
        config.profiling = (struct lore_config){100, 0, LORE_STORE, what, NULL};
        lab_jobs(&l, "bert 0 3600 1 1 BERT\nres 0 3600 1 1 ResNet-50");
        lab_nodes(&l, "1x40960MiB:a100-40g");
        lab_run(&l, "elastico");
        int32_t bert = lab_job(&l, "bert"), res = lab_job(&l, "res");
        cr_assert_eq(l.jobs.start_us[bert], 0);
        cr_assert_eq(l.jobs.start_us[res], us_of_s(what == LORE_FAMILY ? 100 : 3600));
        cr_assert_eq(l.log.profiling.n_misses, 2);
        cr_assert_float_eq(l.log.profiling.waited_s, 200, 1e-9, "two, 100 s each");
        if (what == LORE_ARRIVED)
            cr_assert_float_eq(lab_metric(&l, METRIC_profiling_gpu_s), 200, 1e-9);
        lab_free(&l);
    }
}

/* One job on one card from an empty store, a profile every 100 s: bs=1 at 100, bs=2 at 200, bs=4 at
 * 300, each faster than the last and smaller, so that each beats the last. By hand: 200 s at speed
 * 1; a checkpoint of 15 s; 85 s at 1.5, so that 3272.5 s are left; another 15 s, and the rest at 2.
 * It would stay at 1.5 to the end if what it runs in were no choice any more. */
Test(elastico, a_job_goes_on_from_a_configuration_that_a_new_profile_beats)
{
    struct temp_file file = temp_text(
        ".json", "{\"workloads\": [{\"name\": \"m\", \"kind\": \"train\", \"model\": \"measured\", "
                 "\"card\": \"a100-40g\", \"unit\": \"img\", \"knobs\": {\"bs\": [1, 2, 4]}, "
                 "\"profiles\": [{\"bs\": 1, \"rate\": 10, \"sm\": 0.5, \"fb_mib\": 3000}, "
                 "{\"bs\": 2, \"rate\": 15, \"sm\": 0.5, \"fb_mib\": 2000}, "
                 "{\"bs\": 4, \"rate\": 20, \"sm\": 0.5, \"fb_mib\": 1000}]}]}");
    struct pds_config config;
    struct lab l;
    open_lab(&l, SUBMITTED_LISTED, &config);
    l.catalog = file.path;
    config.profiling = (struct lore_config){100, 1, LORE_STORE, LORE_FAMILY, NULL};
    lab_jobs(&l, "a 0 3600 1 1 m");
    l.jobs.config[0] = names_add(&l.jobs.names, "bs=1", 4);
    lab_nodes(&l, "1x40960MiB:a100-40g");
    lab_run(&l, "elastico");
    cr_assert_eq(l.log.n_configs, 2);
    cr_assert_float_eq(finish_s(&l, 0), 315 + 3272.5 / 2, 1e-3);
    lab_free(&l);
    temp_remove(&file);
}

/* Two cards, narrow jobs of 1000 s that come every 500 s, so that one card is free only when the
 * next takes it; a wide one since 100. By hand: at 2100 it has waited for 2000 s, the card that is
 * free at 2500 is kept for it, at 3000 it has both. Without, it starts when the last of ten narrow
 * ones, come at 4500, ends. */
Test(elastico, who_has_waited_for_too_long_goes_first)
{
    for (int aging = 0; aging < 2; aging++) {
        struct pds_config config;
        struct lab l;
        char text[512] = "wide 100 1000 2";
        for (int i = 0; i < 10; i++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "\nn%d %d 1000 1", i,
                     500 * i);
        open_lab(&l, SUBMITTED_PEAK, &config);
        config.aging_s = aging ? 2000 : 0;
        lab_jobs(&l, text);
        lab_nodes(&l, "2x40960MiB:a100-40g");
        lab_run(&l, "elastico");
        cr_assert_float_eq(lab_start_s(&l, "wide"), aging ? 3000 : 5500, 1e-6);
        cr_assert_float_eq(lab_start_s(&l, "n4"), 2000, 1e-6);
        cr_assert_float_eq(lab_start_s(&l, "n5"), aging ? 4000 : 2500, 1e-6);
        lab_free(&l);
    }
}

/* The same with jobs of the catalog, whose ends are known, too big to share and never reshaped: at
 * 2500 the wide one will have its cards at 3000, which leaves time for one of 400 s. */
Test(elastico, who_ends_in_time_may_use_the_cards_that_are_kept)
{
    struct pds_config config;
    struct lab l;
    char text[1024] = "wide 100 1000 2 1 BERT 30000\nshort 2500 400 1 1 BERT 30000";
    for (int i = 0; i < 10; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "\nn%d %d 1000 1 1 BERT 30000", i,
                 500 * i);
    open_lab(&l, SUBMITTED_PEAK, &config);
    config.aging_s = 2000;
    config.without = PDS_NO_RST;
    lab_jobs(&l, text);
    lab_nodes(&l, "2x40960MiB:a100-40g");
    lab_run(&l, "elastico");
    cr_assert_float_eq(lab_start_s(&l, "n4"), 2000, 1e-6);
    cr_assert_float_eq(lab_start_s(&l, "short"), 2500, 1e-6);
    cr_assert_float_eq(lab_start_s(&l, "wide"), 3000, 1e-6);
    cr_assert_float_eq(lab_start_s(&l, "n5"), 4000, 1e-6);
    lab_free(&l);
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

/* §5.3's "fixed default configuration": a job alone that was submitted in its fastest configuration
 * and runs in its workload's default one takes its work by the ratio of the two profiled rates. */
Test(elastico, without_rst_may_run_all_in_the_default_configuration)
{
    for (int fixed = PDS_SUBMITTED; fixed <= PDS_DEFAULT; fixed++) {
        struct pds_config config;
        struct lab l;
        open_lab(&l, SUBMITTED_PEAK, &config);
        config.without = PDS_NO_RST;
        config.fixed = fixed;
        lab_jobs(&l, "a 0 3600 1 1 ResNet-50");
        lab_nodes(&l, "1x40960MiB:a100-40g");
        lab_run(&l, "elastico");
        int32_t a = lab_job(&l, "a"), initial = l.workloads.initial[l.rst.workload[a]];
        double rate = l.profiles.m.rate[profile_row(&l.profiles, initial, CARD_REFERENCE)];
        cr_assert_lt(rate, 0.8 * l.rst.rate[a], "the default is not the peak");
        cr_assert_float_eq(finish_s(&l, a),
                           fixed == PDS_DEFAULT ? 3600 * l.rst.rate[a] / rate : 3600, 1e-3);
        lab_free(&l);
    }
}

/* Case 2 under "a greedy first-fit policy" (§5.4): somebody waits 30 minutes, for a card whose job
 * is done. */
Test(elastico, without_esp_a_burst_may_queue)
{
    struct pds_config config;
    struct lab l;
    open_lab(&l, SUBMITTED_PEAK, &config);
    config.without = PDS_NO_ESP;
    config.greedy = PDS_FASTEST;
    lab_jobs(&l, "res 0 1800 1 1 ResNet-50\nbert 0 1800 1 1 BERT\n"
                 "ppo 0 1800 1 1 PPO\nncf 0 1800 1 1 NCF-NeuMF");
    lab_nodes(&l, "2x40960MiB:a100-40g");
    lab_run(&l, "elastico");
    double longest = 0;
    for (int32_t j = 0; j < 4; j++)
        longest = fmax(longest, s_of_us(l.jobs.start_us[j]));
    cr_assert_float_eq(longest, 1800, 1e-6);
    cr_assert_eq(l.log.n_configs, 0, "nobody changes to make room");
    lab_free(&l);
}
