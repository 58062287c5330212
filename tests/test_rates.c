/* How fast jobs run: configurations, cards, neighbours, by hand and through the engine. */
#include "sim/run/rates.h"
#include "tests/lab.h"
#include "tests/leak.h"
#include "tests/temp.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(rates, .fini = abort_on_leak, .timeout = 60);

/* x: bs=1 gives 10 images/s on 20000 MiB, bs=2 gives 20 on 30000. y: 1 on 15000. Neither uses
 * tensor pipes or much DRAM: under queue_prior S - 1 is .3 x the product of their SM activities. */
static const char two_workloads[] =
    "{\"workloads\": ["
    "{\"name\": \"x\", \"kind\": \"train\", \"model\": \"measured\", \"card\": \"a100-40g\", "
    "\"unit\": \"img\", \"knobs\": {\"bs\": [1, 2]}, \"scaling\": [[1, 1], [2, 1.6]], "
    "\"profiles\": ["
    "{\"bs\": 1, \"rate\": 10, \"sm\": 0.5, \"fb_mib\": 20000}, "
    "{\"bs\": 2, \"rate\": 20, \"sm\": 0.8, \"fb_mib\": 30000}]}, "
    "{\"name\": \"y\", \"kind\": \"train\", \"model\": \"measured\", \"card\": \"a100-40g\", "
    "\"unit\": \"img\", \"knobs\": {\"bs\": [1]}, \"profiles\": ["
    "{\"bs\": 1, \"rate\": 1, \"sm\": 0.4, \"fb_mib\": 15000}]}]}";

struct world {
    struct lab l;
    struct temp_file file;
};

static void open_world(struct world *w, const char *jobs, const char *nodes)
{
    *w = (struct world){.file = temp_text(".json", two_workloads)};
    lab_jobs(&w->l, jobs);
    lab_nodes(&w->l, nodes);
    w->l.catalog = w->file.path;
    w->l.submitted = SUBMITTED_DEFAULT;
    w->l.set = SET_QUEUE_PRIOR;
    w->l.mps = 1;
    w->l.truth = TRUTH_CONTENTION;
    w->l.rules.share_max = 2;
}

static void close_world(struct world *w)
{
    temp_remove(&w->file);
    lab_free(&w->l);
}

Test(rates, two_on_one_card_slow_each_other_while_both_are_there)
{
    struct world w;
    open_world(&w, "a 0 100 1 1 x\nb 0 50 1 1 y", "1x40960MiB:a100-40g");
    lab_run(&w.l, "fifo");
    /* S = 1 + .3 x .5 x .4 = 1.06: b ends at 53, when a has done 50 of its 100. */
    cr_assert_float_eq(lab_jct_s(&w.l, "b"), 53, 1e-6);
    cr_assert_float_eq(lab_jct_s(&w.l, "a"), 103, 1e-6);
    cr_assert_float_eq(lab_metric(&w.l, METRIC_interference_mean), (1.03 + 1.06) / 2, 1e-7);
    cr_assert_float_eq(lab_metric(&w.l, METRIC_sm_util_mean), (53 * 0.9 / 1.06 + 50 * 0.5) / 103,
                       1e-7);
    cr_assert_float_eq(lab_metric(&w.l, METRIC_mem_util_mean),
                       (53 * 35000. + 50 * 20000.) / (40960 * 103.), 1e-7);
    close_world(&w);
}

Test(rates, without_contention_a_card_is_busy_at_most_whole)
{
    struct world w;
    open_world(&w, "a 0 100 1 1 x\nb 0 100 1 1 y\nc 0 100 1 1 y", "2x40960MiB:a100-40g");
    w.l.truth = TRUTH_NONE;
    w.l.rules.share_max = 3;
    lab_run(&w.l, "fifo");
    cr_assert_float_eq(lab_metric(&w.l, METRIC_makespan_s), 100, 1e-9);
    cr_assert_float_eq(lab_metric(&w.l, METRIC_sm_util_mean), (0.5 + 0.4 + 0.4) / 2, 1e-8);
    cr_assert_float_eq(lab_metric(&w.l, METRIC_interference_mean), 1, 1e-9);
    close_world(&w);
    open_world(&w, "a 0 100 1 1 x 10\nb 0 100 1 1 x 10\nc 0 100 1 1 x 10", "1x40960MiB:a100-40g");
    w.l.truth = TRUTH_NONE;
    w.l.rules.share_max = 3;
    lab_run(&w.l, "fifo");
    cr_assert_float_eq(lab_metric(&w.l, METRIC_sm_util_mean), 1, 1e-8, "not 1.5");
    close_world(&w);
}

Test(rates, jobs_outside_the_catalog_neither_slow_nor_are_slowed)
{
    struct world w;
    open_world(&w, "a 0 100 1 1 x\nb 0 100 1 1 other 100\nc 0 100 1 1 - 100",
               "1x40960MiB:a100-40g");
    w.l.rules.share_max = 3;
    lab_run(&w.l, "fifo");
    for (int j = 0; j < 3; j++)
        cr_assert_eq(w.l.jobs.finish_us[j], 100 * US_PER_S);
    cr_assert(isnan(lab_metric(&w.l, METRIC_sm_util_mean)), "not every job has a profile");
    cr_assert_eq(w.l.rst.n_outside, 2);
    close_world(&w);
}

Test(rates, what_does_not_fit_by_its_profile_does_not_share)
{
    struct world w;
    open_world(&w, "a 0 100 1 1 x\nb 0 50 1 1 y", "1x40960MiB:a100-40g");
    w.l.submitted = SUBMITTED_PEAK; /* x takes 30000 then: 45000 with y */
    lab_run(&w.l, "fifo");
    cr_assert_float_eq(lab_start_s(&w.l, "b"), 100, 1e-9);
    close_world(&w);
    open_world(&w, "a 0 100 1 1 x 20000\nb 0 50 1 1 y", "1x40960MiB:a100-40g");
    w.l.submitted = SUBMITTED_PEAK; /* the trace knows better */
    lab_run(&w.l, "fifo");
    cr_assert_float_eq(lab_start_s(&w.l, "b"), 0, 1e-9);
    close_world(&w);
}

Test(rates, three_residents_add_up_and_mps_costs_only_those_who_share)
{
    struct world w;
    open_world(&w, "a 0 100 1 1 y 100\nb 0 100 1 1 y 100\nc 0 100 1 1 y 100\nd 200 100 1 1 y 100",
               "1x40960MiB:a100-40g");
    w.l.rules.share_max = 3;
    w.l.mps = 1.1;
    lab_run(&w.l, "fifo");
    double s = 1.1 * (1 + 2 * 0.3 * 0.4 * 0.4);
    cr_assert_float_eq(lab_jct_s(&w.l, "a"), 100 * s, 1e-5);
    cr_assert_float_eq(lab_jct_s(&w.l, "c"), 100 * s, 1e-5);
    cr_assert_float_eq(lab_jct_s(&w.l, "d"), 100, 1e-6, "alone");
    close_world(&w);
}

Test(rates, a_gang_runs_at_the_speed_of_its_worst_card)
{
    struct world w;
    open_world(&w, "g 0 106 1 2 x\ns 0 100 1 1 y", "2x40960MiB:a100-40g");
    lab_run(&w.l, "fifo");
    cr_assert_float_eq(lab_jct_s(&w.l, "s"), 106, 1e-6);
    cr_assert_float_eq(lab_jct_s(&w.l, "g"), 106 + 6, 1e-6, "100 done in 106 s, then 6 alone");
    double sm = (106 * (2 * 0.5 / 1.06 + 0.4 / 1.06) + 6 * 2 * 0.5) / (2 * 112);
    cr_assert_float_eq(lab_metric(&w.l, METRIC_sm_util_mean), sm, 1e-7);
    close_world(&w);
}

Test(rates, another_card_is_as_fast_as_its_peaks_say)
{
    /* x on its reference is SM-bound half of the time: that half goes at the pace of the SMs. */
    struct world w;
    double slower = 0.5 + 0.5 * (108 * 1.41) / (80 * 1.53);
    open_world(&w, "a 0 100 1 1 x 0 a100-40g\nb 200 100 1 1 x", "1x40960MiB:v100-32g");
    lab_run(&w.l, "fifo");
    cr_assert_float_eq(lab_jct_s(&w.l, "a"), 100 * slower, 1e-5);
    cr_assert_float_eq(lab_jct_s(&w.l, "b"), 100, 1e-6, "the reference is the cluster's own");
    cr_assert_float_eq(lab_metric(&w.l, METRIC_interference_mean), 1, 1e-7, "alone, if slower");
    close_world(&w);
}

Test(rates, a_known_trace_is_replayed_to_the_microsecond)
{
    struct world w;
    open_world(&w, "a 0 12.345678 1 1 x\nb 1 0.000001 1 1 y\nc 2 7777.7 1 1 x",
               "4x40960MiB:a100-40g");
    lab_run(&w.l, "fifo");
    for (int j = 0; j < 3; j++)
        cr_assert_eq(w.l.jobs.finish_us[j] - w.l.jobs.start_us[j], w.l.jobs.duration_us[j]);
    close_world(&w);
}

/* A policy that lets a test do what it likes at the seconds 0, 10, 20, … */
typedef void (*script_fn)(const struct view *v, struct plan *p, int64_t second);
struct script {
    script_fn at;
    int64_t next_us;
};

static enum status script_init(void *state, const void *config, const struct view *v,
                               const struct place_rules *rules, struct arena *arena,
                               struct error *err)
{
    (void)v, (void)rules, (void)arena, (void)err;
    *(struct script *)state = (struct script){.at = *(const script_fn *)config};
    return ST_OK;
}

static enum status script_decide(void *state, const struct view *v, struct plan *p,
                                 struct error *err)
{
    struct script *s = state;
    (void)err;
    if (v->now_us < s->next_us)
        return ST_OK;
    s->at(v, p, v->now_us / US_PER_S);
    s->next_us = v->now_us + 10 * US_PER_S;
    if (v->now_us < 200 * US_PER_S)
        plan_wake(p, s->next_us);
    return ST_OK;
}

static void run_script(struct world *w, bool reshapes, script_fn at)
{
    struct policy policy = {.abi = POLICY_ABI,
                            .name = "script",
                            .summary = "",
                            .state_size = sizeof(struct script),
                            .reshapes = reshapes,
                            .init = script_init,
                            .decide = script_decide};
    w->l.config = &at;
    lab_run_policy(&w->l, &policy);
}

static void grow_at_50(const struct view *v, struct plan *p, int64_t second)
{
    (void)v;
    if (second == 0)
        cr_assert(plan_start(p, 0));
    if (second != 50)
        return;
    size_t mark = plan_mark(p);
    cr_assert(plan_config(p, 0, 1));
    plan_undo(p, mark);
    cr_assert_eq(p->config[0], 0);
    cr_assert(cluster_valid(v->cluster, v->jobs));
    cr_assert_eq(v->cluster->gpu_mem_held_mib, 20000);
    cr_assert(plan_config(p, 0, 1));
    cr_assert_eq(v->cluster->gpu_mem_held_mib, 30000);
}

Test(rates, another_configuration_makes_another_speed)
{
    struct world w;
    open_world(&w, "a 0 100 1 1 x", "1x40960MiB:a100-40g");
    run_script(&w, false, grow_at_50);
    /* 50 of 100 done at 10 images/s, the rest at 20. */
    cr_assert_float_eq(lab_jct_s(&w.l, "a"), 75, 1e-6);
    cr_assert_eq(lab_metric(&w.l, METRIC_reconfigs), 1);
    cr_assert_float_eq(lab_metric(&w.l, METRIC_sm_util_mean), (50 * 0.5 + 25 * 0.8) / 75, 1e-7);
    cr_assert_float_eq(lab_metric(&w.l, METRIC_mem_util_mean),
                       (50 * 20000. + 25 * 30000.) / (75 * 40960.), 1e-7);
    cr_assert_float_eq(lab_metric(&w.l, METRIC_interference_mean), 1, 1e-9);
    close_world(&w);
}

static void grow_at_50_with_a_pause(const struct view *v, struct plan *p, int64_t second)
{
    grow_at_50(v, p, second);
    if (second == 50)
        plan_pause(p, 0, 10 * US_PER_S);
    if (second == 60)
        cr_assert_eq(view_done_us(v, 0), 50e6, "no progress meanwhile");
}

Test(rates, a_pause_costs_its_time)
{
    struct world w;
    open_world(&w, "a 0 100 1 1 x\nb 90 0 1", "2x40960MiB:a100-40g");
    run_script(&w, false, grow_at_50_with_a_pause);
    cr_assert_float_eq(lab_jct_s(&w.l, "a"), 85, 1e-6);
    /* Until 90, when b is submitted, 100 GPU-seconds were done, none of them in the pause. */
    cr_assert_float_eq(lab_metric(&w.l, METRIC_throughput_gpus), 100 / 90., 1e-7);
    close_world(&w);
}

static void start_large(const struct view *v, struct plan *p, int64_t second)
{
    if (second != 0)
        return;
    cr_assert(plan_config(p, 0, 1), "a waiting job may have any");
    cr_assert(plan_start(p, 0));
    plan_pause(p, 0, 5 * US_PER_S);
    cr_assert_eq(v->cluster->gpu_mem_held_mib, 30000);
}

Test(rates, a_job_may_start_in_another_configuration)
{
    struct world w;
    open_world(&w, "a 0 100 1 1 x", "1x40960MiB:a100-40g");
    run_script(&w, false, start_large);
    cr_assert_float_eq(lab_jct_s(&w.l, "a"), 55, 1e-6, "5 s of pause, then twice the speed");
    cr_assert_eq(lab_metric(&w.l, METRIC_reconfigs), 0, "it did not run before");
    close_world(&w);
}

static void shrink_and_share(const struct view *v, struct plan *p, int64_t second)
{
    if (second == 0) {
        cr_assert(plan_config(p, 0, 1));
        cr_assert(plan_start(p, 0));
    }
    if (second != 10)
        return;
    int32_t card = 0;
    cr_assert_eq(v->cluster->card_mem_free_mib[0], 10960);
    cr_assert(plan_config(p, 0, 0));
    cr_assert(plan_start_at(p, 1, &card, 1));
    cr_assert(!plan_config(p, 0, 1), "b has taken the memory");
    cr_assert_eq(p->config[0], 0);
    cr_assert_eq(v->cluster->card_mem_free_mib[0], 5960);
    cr_assert(cluster_valid(v->cluster, v->jobs));
}

Test(rates, a_neighbour_makes_room_and_both_run_slower)
{
    struct world w;
    open_world(&w, "a 0 100 1 1 x\nb 0 53 1 1 y", "1x40960MiB:a100-40g");
    run_script(&w, false, shrink_and_share);
    /* a: 20 done by 10, then at 1 / 1.06 beside b for 56.18 s: 73 done, 27 left alone. */
    cr_assert_float_eq(lab_jct_s(&w.l, "b"), 10 + 53 * 1.06, 1e-5);
    cr_assert_float_eq(lab_jct_s(&w.l, "a"), 10 + 53 * 1.06 + 27, 1e-5);
    close_world(&w);
}

static void move_at_50(const struct view *v, struct plan *p, int64_t second)
{
    (void)v;
    int32_t other = 1;
    if (second == 0)
        cr_assert(plan_start(p, 0));
    if (second != 50)
        return;
    plan_evict(p, 0, 10 * US_PER_S);
    cr_assert(plan_config(p, 0, 1));
    cr_assert(plan_start_at(p, 0, &other, 1));
}

Test(rates, a_move_with_another_configuration_is_one_pass)
{
    struct world w;
    open_world(&w, "a 0 100 1 1 x", "2x40960MiB:a100-40g");
    run_script(&w, false, move_at_50);
    cr_assert_float_eq(lab_jct_s(&w.l, "a"), 50 + 10 + 25, 1e-6);
    cr_assert_float_eq(lab_metric(&w.l, METRIC_sm_util_mean), (50 * 0.5 + 35 * 0.8) / (2 * 85),
                       1e-7, "its SMs count as busy while it restarts");
    close_world(&w);
}

static void widen_at_50(const struct view *v, struct plan *p, int64_t second)
{
    (void)v;
    if (second == 0)
        cr_assert(plan_start_width(p, 0, 1));
    if (second == 50)
        cr_assert(plan_resize(p, 0, 2));
}

Test(rates, an_elastic_job_is_worth_what_its_width_is_by_measurement_or_by_the_exponent)
{
    static const struct {
        const char *workload;
        double one_of_two;                 /* speed on one of the two GPUs asked for */
    } rows[] = {{"x", 0.625}, {"y", 0.5}}; /* x: [[1, 1], [2, 1.6]]; y: 2^-1 */
    for (int i = 0; i < 2; i++) {
        struct world w;
        open_world(&w, "", "2x40960MiB:a100-40g");
        struct job_row row = job_row_empty();
        row.name = "a";
        row.name_length = 1;
        row.duration_us = 100 * US_PER_S;
        row.gpu_milli = 2000;
        row.gpu_min = 1;
        row.gpu_max = 2;
        row.workload = names_add(&w.l.jobs.names, rows[i].workload, 1);
        cr_assert_geq(jobs_add(&w.l.jobs, &row), 0);
        cr_assert_eq(jobs_close(&w.l.jobs, NULL), ST_OK);
        w.l.rates.scale_exp = 1;
        run_script(&w, false, widen_at_50);
        cr_assert_float_eq(lab_jct_s(&w.l, "a"), 50 + 100 - 50 * rows[i].one_of_two, 1e-5, "%s",
                           rows[i].workload);
        close_world(&w);
    }
}

static void start_small(const struct view *v, struct plan *p, int64_t second)
{
    (void)v;
    if (second == 0 && v->jobs->status[0] == JOB_WAITING) {
        cr_assert(plan_config(p, 0, 0));
        cr_assert(plan_start(p, 0));
    }
}

Test(rates, a_cluster_need_only_hold_the_smallest_for_a_policy_that_reshapes)
{
    struct world w;
    open_world(&w, "a 0 100 1 1 x", "1x24000MiB:a100-40g");
    w.l.submitted = SUBMITTED_LISTED;
    w.l.jobs.config[0] = names_add(&w.l.jobs.names, "bs=2", 4);
    run_script(&w, true, start_small);
    cr_assert_float_eq(lab_jct_s(&w.l, "a"), 200, 1e-6, "at half of its submitted rate");
    cr_assert_float_eq(lab_metric(&w.l, METRIC_interference_mean), 1, 1e-9);
    run_script(&w, false, start_small);
    cr_assert_eq(w.l.jobs.status[0], JOB_REJECTED);
    close_world(&w);
}

/* n random jobs of one or two GPUs of the embedded catalog's workloads. */
static void random_jobs(struct lab *l, gsl_rng *rng, int n)
{
    static const char *const names[] = {"ResNet-50", "BERT",      "PPO",        "LSTM",
                                        "NCF-NeuMF", "Qwen-1.7b", "LLaMA-3-7b", "PointNet"};
    char text[16384] = "";
    int submit_s = 0;
    for (int i = 0; i < n; i++) {
        size_t used = strlen(text);
        submit_s += (int)gsl_rng_uniform_int(rng, 20);
        snprintf(text + used, sizeof text - used, "%sj%d %d %lu %lu 1 %s", i > 0 ? "\n" : "", i,
                 submit_s, 1 + gsl_rng_uniform_int(rng, 200), 1 + gsl_rng_uniform_int(rng, 2),
                 names[gsl_rng_uniform_int(rng, 8)]);
    }
    lab_jobs(l, text);
    lab_nodes(l, "4x40960MiB:a100-40g+2x40960MiB:a100-40g");
    l->catalog = "table2";
    l->mps = 1;
    l->truth = TRUTH_CONTENTION;
}

Test(rates, nobody_runs_faster_than_alone_and_sm_activity_is_that_of_the_bars)
{
    static const char *const policies[] = {"fifo", "fifo-skip", "srtf", "las", "easy-backfill"};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int i = 0; i < 5; i++)
        for (int share = 1; share <= 3; share++) {
            struct lab l = {.submitted = (enum submitted)(i % 3), .restart_s = 2};
            random_jobs(&l, rng, 150);
            l.rules.share_max = share;
            lab_run(&l, policies[i]);
            double sm_gpu_s = 0, alone = 0;
            for (int32_t j = 0; j < l.jobs.n_jobs; j++) {
                cr_assert_eq(l.jobs.status[j], JOB_DONE);
                cr_assert_geq(l.jobs.run_us[j], l.jobs.duration_us[j]);
                alone += l.jobs.alone_us[j] / (double)l.jobs.duration_us[j];
            }
            cr_assert_float_eq(alone / l.jobs.n_jobs, 1, 1e-6, "work is work at any speed");
            for (size_t s = 0; s < l.log.n_spans; s++) {
                int32_t job = l.jobs.task_job[l.log.span[s].task];
                int32_t row = rst_row(&l.rst, job, l.rst.submitted[job], CARD_REFERENCE);
                sm_gpu_s += l.profiles.m.sm[row] * l.log.span[s].n_gpus *
                            s_of_us(l.log.span[s].end_us - l.log.span[s].start_us);
            }
            if (share == 1)
                cr_assert_float_eq(l.log.sm_gpu_s / sm_gpu_s, 1, 1e-6, "%s", policies[i]);
            else
                cr_assert_leq(l.log.sm_gpu_s, sm_gpu_s * (1 + 1e-6));
            double interference = lab_metric(&l, METRIC_interference_mean);
            cr_assert(share == 1 ? fabs(interference - 1) < 1e-6 : interference > 1.01, "%s: %g",
                      policies[i], interference);
            lab_free(&l);
        }
    gsl_rng_free(rng);
}
