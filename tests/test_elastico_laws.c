/* Laws of the policy elastico, on random days. Beliefs are the truth unless a test says otherwise.
 */
#include "policies/registry.h"
#include "tests/elastico_lab.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(elastico_laws, .fini = abort_on_leak, .timeout = 120);

/* The day of a seed with these settings; a belief that is off by such a part. */
static void run_day(struct lab *l, struct pds_config *config, uint64_t seed, double error_frac)
{
    l->belief_options = (struct belief_options){.error_frac = error_frac, .seed = seed};
    draw_day(l, seed);
    l->config = config;
    lab_run(l, "elastico");
}

static void must_be_the_same(const struct lab *a, const struct lab *b)
{
    cr_assert_arr_eq(a->jobs.finish_us, b->jobs.finish_us,
                     (size_t)a->jobs.n_jobs * sizeof *a->jobs.finish_us);
    cr_assert_eq(a->log.n_configs, b->log.n_configs);
    cr_assert_eq(a->log.n_resizes, b->log.n_resizes);
    cr_assert_eq(a->log.profiled_gpu_s, b->log.profiled_gpu_s);
}

/* D10: what was skipped would have changed nothing; with jobs that age, beliefs that are corrected
 * and profiles that end between boundaries, too. */
Test(elastico_laws, skipping_idle_boundaries_changes_nothing)
{
    for (uint64_t seed = 1; seed <= 6; seed++)
        for (int way = 0; way < 4; way++) {
            struct pds_config config;
            struct lab every, skipped;
            struct lab *of[] = {&skipped, &every};
            for (int k = 0; k < 2; k++) {
                open_lab(of[k], SUBMITTED_PEAK, &config);
                config.skip_idle = k == 0;
                config.aging_s = way == 1 ? 1801 : 0;
                config.iac.online = way == 2;
                config.profiling.known = way == 3 ? LORE_STORE : LORE_ALL;
                config.profiling.each_s = 127;
                run_day(of[k], &config, seed, way == 2 ? .5 : 0);
            }
            cr_assert_gt(every.log.n_epochs, skipped.log.n_epochs, "there is something to skip");
            must_be_the_same(&every, &skipped);
            lab_free(&every);
            lab_free(&skipped);
        }
}

/* Every configuration of the catalog, as a table. */
static void store_all(struct lab *l)
{
    struct table *t = &l->tables[0];
    struct workloads w;
    cr_assert_eq(catalog_read(EMBEDDED_CATALOG, &w, NULL), ST_OK);
    size_t n = (size_t)w.n_configs;
    t->column = arena_alloc(&t->arena, 2, sizeof *t->column);
    t->cell = arena_alloc(&t->arena, 2 * n, sizeof *t->cell);
    t->line = arena_alloc(&t->arena, n, sizeof *t->line);
    t->n_rows = (int32_t)n;
    t->n_columns = 2;
    t->column[0] = "workload";
    t->column[1] = "config";
    for (size_t c = 0; c < n; c++) {
        char text[96];
        const char *name = names_text(&w.names, w.workload[c]);
        t->cell[2 * c] = arena_text(&t->arena, name, strlen(name));
        config_text(&w, (int32_t)c, text);
        t->cell[2 * c + 1] = arena_text(&t->arena, text, strlen(text));
    }
    workloads_free(&w);
}

/* A full store is as good as none, and of what it is corrected to an oracle knows nothing new. */
Test(elastico_laws, a_full_store_and_a_corrected_oracle_change_nothing)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct pds_config config;
        struct lab plain, other;
        open_lab(&plain, SUBMITTED_PEAK, &config);
        run_day(&plain, &config, seed, 0);
        for (int way = 0; way < 2; way++) {
            open_lab(&other, SUBMITTED_PEAK, &config);
            config.iac.online = way == 0;
            config.profiling.known = way == 1 ? LORE_STORE : LORE_ALL;
            if (way == 1)
                store_all(&other);
            run_day(&other, &config, seed, 0);
            must_be_the_same(&other, &plain);
            cr_assert_eq(other.log.n_epochs, plain.log.n_epochs);
            cr_assert_eq(other.log.profiling.n_misses, 0);
            lab_free(&other);
        }
        lab_free(&plain);
    }
}

/* Looks at which a job was slowed by more than was agreed. */
static int64_t violations(const struct lab *l)
{
    int64_t n = 0;
    for (size_t i = 0; i < l->log.n_epochs; i++)
        n += l->log.epoch[i].epoch.n_violations;
    return n;
}

/* A belief that is off by half, and one that learns what pairs do. */
Test(elastico_laws, what_is_seen_of_pairs_corrects_a_wrong_belief)
{
    int64_t n[2] = {0};
    for (uint64_t seed = 1; seed <= 6; seed++)
        for (int online = 0; online < 2; online++) {
            struct pds_config config;
            struct lab l;
            open_lab(&l, SUBMITTED_PEAK, &config);
            config.iac.online = online;
            run_day(&l, &config, seed, .5);
            n[online] += violations(&l);
            lab_free(&l);
        }
    fprintf(stderr, "# violations with a belief 50 %% off: %d, corrected %d\n", (int)n[0],
            (int)n[1]);
    cr_assert_lt(n[1], n[0]);
}

/* With an oracle nobody is ever slowed by more than was agreed, and every promise is kept to the
 * end except for what transitions cost. */
Test(elastico_laws, an_oracle_violates_no_tolerance_at_any_pass)
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
Test(elastico_laws, a_wrong_belief_is_seen_to_violate_tolerances)
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

/* Each part left out is a legal schedule too: all jobs end, checked by the engine after every pass.
 */
Test(elastico_laws, every_ablation_ends_every_job)
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
Test(elastico_laws, at_most_two_share_a_card)
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
