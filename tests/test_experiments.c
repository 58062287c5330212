#include "calib/experiments.h"

#include "core/elastico/catalog_file.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(experiments, .fini = abort_on_leak);

struct lab {
    struct workloads w;
    struct profiles p;
    struct contention physics;
};

static struct lab open_lab(const char *catalog)
{
    struct lab l = {0};
    struct error err = {""};
    cr_assert_eq(catalog_read(catalog, &l.w, &err), ST_OK, "%s", err.text);
    return l;
}

static void measure(struct lab *l)
{
    struct error err = {""};
    cr_assert_eq(profiles_init(&l->p, &l->w, &err), ST_OK, "%s", err.text);
    cr_assert_eq(contention_init(&l->physics, &l->p, &contention_sets[SET_H200], 1, &err), ST_OK,
                 "%s", err.text);
}

static void close_lab(struct lab *l)
{
    contention_free(&l->physics);
    profiles_free(&l->p);
    workloads_free(&l->w);
}

static struct experiment_options defaults(void)
{
    struct experiment_options o;
    param_defaults(&(struct param_group){"experiments", experiment_params, &o});
    o.cards = 1u << CARD_REFERENCE;
    o.seed = 1;
    return o;
}

Test(experiments, there_are_as_many_of_each_kind_as_in_table_7_and_labels_are_noisy_physics)
{
    struct lab l = open_lab("table2");
    struct experiment_options o = defaults();
    struct samples s = {0};
    struct error err = {""};
    int n[N_PAIR_KINDS] = {0}, n_noise = 0;
    double square = 0;
    measure(&l);
    cr_assert_eq(experiments_make(&s, &l.p, &l.physics, &o, &err), ST_OK, "%s", err.text);
    for (int32_t k = 0; k < s.n; k++) {
        const struct pair_row *row = &s.row[k];
        cr_assert(row->slowdown >= 1 && row->slowdown_true >= 1);
        cr_assert_eq(row->experiment, k / 2);
        cr_assert_eq(s.side[2 * k].kind == KIND_TRAIN,
                     l.w.kind[workload_find(&l.w, names_text(&s.workloads, row->workload[0]),
                                            names_length(&s.workloads, row->workload[0]))] ==
                         KIND_TRAIN);
        n[samples_kind(&s, k)]++;
        if (samples_kind(&s, k) == PAIR_TI && row->slowdown_true > 1.3) { /* far from the floor */
            square += pow(log(row->slowdown / row->slowdown_true), 2);
            n_noise++;
        }
    }
    cr_assert_eq(n[PAIR_TT], 384);
    cr_assert_eq(n[PAIR_TI], 512);
    cr_assert_eq(n[PAIR_II], 192);
    cr_assert(n_noise > 100);
    cr_assert_float_eq(sqrt(square / n_noise), .045, .045 * 4 / sqrt(2 * n_noise));
    samples_free(&s);
    close_lab(&l);
}

Test(experiments, without_noise_a_label_is_the_physics_of_its_pair)
{
    struct lab l = open_lab("h200"); /* one configuration a workload: names tell the rows */
    struct experiment_options o = defaults();
    struct samples s = {0};
    struct error err = {""};
    int32_t h200 = card_find("h200");
    o.cards = 1u << h200;
    o.sigma_tt = o.sigma_ti = o.sigma_ii = 0;
    measure(&l);
    cr_assert_eq(experiments_make(&s, &l.p, &l.physics, &o, &err), ST_OK, "%s", err.text);
    for (int32_t k = 0; k < s.n; k++) {
        int32_t row[2];
        for (int i = 0; i < 2; i++) {
            int32_t name = s.row[k].workload[i];
            row[i] = profile_row(&l.p,
                                 l.w.initial[workload_find(&l.w, names_text(&s.workloads, name),
                                                           names_length(&s.workloads, name))],
                                 h200);
        }
        cr_assert_float_eq(s.row[k].slowdown, contention_pair(&l.physics, row[0], row[1]), 1e-12);
    }
    samples_free(&s);
    close_lab(&l);
}

Test(experiments, equal_seeds_give_equal_sets_and_others_other_ones)
{
    struct lab l = open_lab("table2");
    struct experiment_options o = defaults();
    struct samples s[3] = {{0}};
    struct error err = {""};
    measure(&l);
    for (int i = 0; i < 3; i++) {
        o.seed = i < 2 ? 5 : 6;
        cr_assert_eq(experiments_make(&s[i], &l.p, &l.physics, &o, &err), ST_OK);
    }
    cr_assert_eq(samples_hash(&s[0]), samples_hash(&s[1]));
    cr_assert_neq(samples_hash(&s[0]), samples_hash(&s[2]));
    for (int i = 0; i < 3; i++)
        samples_free(&s[i]);
    close_lab(&l);
}

Test(experiments, cards_are_drawn_from_those_given)
{
    struct lab l = open_lab("table2");
    struct experiment_options o = defaults();
    struct samples s = {0};
    struct error err = {""};
    int n_large = 0;
    o.cards = 1u << card_find("a100-40g") | 1u << card_find("h200");
    measure(&l);
    cr_assert_eq(experiments_make(&s, &l.p, &l.physics, &o, &err), ST_OK);
    for (int32_t k = 0; k < s.n; k++) {
        cr_assert_float_eq(s.side[2 * k].card_mib, s.side[2 * k + 1].card_mib, 0);
        n_large += s.side[2 * k].card_mib > 100000;
    }
    /* 544 coins: 1088 (1/2 +- 4 x .0214) */
    cr_assert(n_large > 450 && n_large < 640, "%d", n_large);
    samples_free(&s);
    o.cards = 0;
    cr_assert_eq(experiments_make(&s, &l.p, &l.physics, &o, &err), ST_USAGE);
    samples_free(&s);
    close_lab(&l);
}
