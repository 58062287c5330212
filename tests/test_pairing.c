/* Menus and pairs of their options, against walks over everything. */
#include "core/base/rng.h"
#include "core/elastico/catalog_file.h"
#include "core/elastico/pairing.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(pairing, .fini = abort_on_leak);

struct world {
    struct workloads w;
    struct profiles p;
    struct contention truth;
    struct cluster cluster;
    struct job_table jobs;
    struct rst rst;
    struct menus menus;
    struct belief belief;
    struct pairing pairing;
};

static void must(enum status status, const struct error *err)
{
    cr_assert_eq(status, ST_OK, "%s", err->text);
}

/* A job of each workload of Table 2, one GPU and, elastic, four; L of .3, .5 and .7 in turn. */
static void open_world(struct world *x, double s_max)
{
    struct error err = {{0}};
    struct node_spec node = {.count = 1,
                             .n_gpus = 8,
                             .gpu_type = "a100-40g",
                             .cpu_milli = -1,
                             .mem_mib = -1,
                             .gpu_mem_mib = 40960};
    *x = (struct world){0};
    must(catalog_read(EMBEDDED_CATALOG, &x->w, &err), &err);
    must(profiles_init(&x->p, &x->w, &err), &err);
    must(contention_init(&x->truth, &x->p, &contention_sets[SET_H200], 1, &err), &err);
    must(cluster_init(&x->cluster, &node, 1, SHARE_CARD, &err), &err);
    for (int32_t i = 0; i < 2 * x->w.n; i++) {
        char name[16];
        struct job_row row = job_row_empty();
        const char *workload = names_text(&x->w.names, i / 2);
        row.name = name;
        row.name_length = (size_t)snprintf(name, sizeof name, "%d", (int)i);
        row.duration_us = US_PER_S;
        row.n_inst = 1;
        row.gpu_milli = i % 2 ? 4000 : 1000;
        row.gpu_min = i % 2;
        row.gpu_max = i % 2 ? 4 : 0;
        row.workload = names_add(&x->jobs.names, workload, strlen(workload));
        row.min_rate_frac = .3 + .2 * (i % 3);
        cr_assert_geq(jobs_add(&x->jobs, &row), 0);
    }
    must(jobs_close(&x->jobs, &err), &err);
    must(rst_init(&x->rst, &x->p, &x->jobs, &x->cluster, SUBMITTED_PEAK, &err), &err);
    const struct menu_rules rules = {.min_rate_frac = .5, .reshape = true, .scale_exp = .9};
    must(menus_init(&x->menus, &x->rst, &x->jobs, &x->cluster, &rules, &err), &err);
    const struct belief_options exact = {0};
    must(belief_init(&x->belief, belief_of_contention, &x->truth, &exact, &err), &err);
    must(pairing_init(&x->pairing, &x->menus, &x->belief, NULL, NULL, s_max, &err), &err);
}

static void close_world(struct world *x)
{
    pairing_free(&x->pairing);
    belief_free(&x->belief);
    menus_free(&x->menus);
    rst_free(&x->rst);
    jobs_free(&x->jobs);
    cluster_free(&x->cluster);
    contention_free(&x->truth);
    profiles_free(&x->p);
    workloads_free(&x->w);
}

/* Every option keeps L and fits; nothing that does both, at the job's length, beats it in speed and
 * memory; widths are all from one to four, worth (n / 4)^.9. */
Test(pairing, a_menu_holds_what_keeps_the_promise)
{
    struct world x;
    open_world(&x, 2.1);
    for (int32_t job = 0; job < x.jobs.n_jobs; job++) {
        const struct menu *m = menu_of(&x.menus, x.jobs.n_jobs, 0, job);
        cr_assert_not_null(m);
        int32_t wl = x.rst.workload[job];
        for (int32_t o = 0; o < m->n_options; o++) {
            const struct menu_option *a = &x.menus.option[m->option + o];
            cr_assert_geq(a->speed, x.jobs.min_rate_frac[job]);
            cr_assert_leq(a->mem_mib, 40960 - MEM_SYSTEM_MIB);
            cr_assert(o == 0 || a[-1].speed >= a->speed, "fastest first");
        }
        for (int32_t c = x.w.config_begin[wl]; c < x.w.config_begin[wl + 1]; c++) {
            if (config_index(&x.w, c, KNOB_SL) !=
                    config_index(&x.w, x.rst.submitted[job], KNOB_SL) ||
                !rst_feasible(&x.rst, job, c, 0, 40960, x.jobs.min_rate_frac[job]))
                continue;
            bool beaten = false; /* or there: somebody is as fast in as much */
            for (int32_t o = 0; o < m->n_options; o++) {
                const struct menu_option *a = &x.menus.option[m->option + o];
                beaten = beaten || (a->speed >= rst_speed(&x.rst, job, c, 0) - 1e-12 &&
                                    a->mem_mib <= rst_mem_mib(&x.rst, job, c));
            }
            cr_assert(beaten, "job %d, configuration %d", job, c);
        }
        cr_assert_eq(m->n_widths, job % 2 ? 4 : 1);
        for (int32_t i = 0; i < m->n_widths && job % 2; i++) {
            cr_assert_eq(x.menus.width[m->width + i].n, i + 1);
            if (isnan(workload_scaling(&x.w, wl, i + 1, 4)))
                cr_assert_float_eq(x.menus.width[m->width + i].factor, pow((i + 1) / 4., .9),
                                   1e-12);
        }
    }
    close_world(&x);
}

/* For every two menus: each point is a legal pair by the physics itself; each legal pair of options
 * is matched or beaten, for both, by a point with the same option of the host, and by one on the
 * front. */
Test(pairing, points_are_the_best_of_all_legal_pairs)
{
    const double s_max = 2.1;
    struct world x;
    open_world(&x, s_max);
    for (int32_t g = 0; g < x.menus.n; g++)
        for (int32_t h = 0; h < x.menus.n; h++) {
            const struct menu *gm = &x.menus.menu[g], *hm = &x.menus.menu[h];
            const struct pair_list *list = pairing_of(&x.pairing, g, h);
            cr_assert_not_null(list);
            int32_t n_legal = 0;
            for (int32_t i = 0; i < gm->n_options; i++)
                for (int32_t k = 0; k < hm->n_options; k++) {
                    const struct menu_option *a = &x.menus.option[gm->option + i],
                                             *b = &x.menus.option[hm->option + k];
                    double sa = iac_round(contention_pair(&x.truth, a->row, b->row));
                    double sb = iac_round(contention_pair(&x.truth, b->row, a->row));
                    if (a->mem_mib + b->mem_mib > 40960 - MEM_SYSTEM_MIB || sa > s_max ||
                        sb > s_max || a->speed / sa < gm->least || b->speed / sb < hm->least)
                        continue;
                    bool same = false, front = false;
                    n_legal++;
                    for (int32_t n = 0; n < list->n; n++) {
                        const struct pair_point *pt = &list->point[n];
                        bool as_good = pt->v_guest >= a->speed / sa - 1e-9 &&
                                       pt->v_host >= b->speed / sb - 1e-9;
                        same = same || (as_good && pt->host == k);
                        front = front || (as_good && pt->front);
                    }
                    cr_assert(same && front, "menus %d, %d: options %d, %d", g, h, i, k);
                }
            cr_assert_leq(list->n, n_legal);
        }
    close_world(&x);
}

/* One point of a list, seen to slow its guest by more than any tolerance, is none any more once the
 * list is forgotten; lists of other workloads do not change. */
Test(pairing, what_is_seen_of_a_pair_takes_the_place_of_what_is_believed)
{
    struct world x;
    struct seen seen = {0};
    bool news;
    open_world(&x, 2.1);
    x.pairing.seen = &seen;
    int32_t guest = 0, host = 2; /* jobs of one card each, of two workloads */
    while (host < x.jobs.n_jobs &&
           pairing_of(&x.pairing, x.menus.of_job[guest], x.menus.of_job[host])->n == 0)
        host += 2;
    cr_assert_lt(host, x.jobs.n_jobs);
    int32_t g = x.menus.of_job[guest], h = x.menus.of_job[host];
    int32_t other = x.menus.of_job[host == 2 ? 4 : 2];
    const struct pair_list *list = pairing_of(&x.pairing, g, h);
    const struct pair_point first = list->point[0];
    const int32_t of = x.menus.option[x.menus.menu[g].option + first.guest].row;
    const int32_t beside = x.menus.option[x.menus.menu[h].option + first.host].row;
    int32_t n_other = pairing_of(&x.pairing, other, h)->n;
    cr_assert(seen_add(&seen, (struct iac_pair){of, beside}, 3, &news) && news);
    list = pairing_of(&x.pairing, g, h);
    cr_assert(list->point[0].guest == first.guest && list->point[0].host == first.host, "not yet");
    pairing_forget(&x.pairing, x.rst.workload[host], x.rst.workload[guest]);
    list = pairing_of(&x.pairing, g, h);
    for (int32_t i = 0; i < list->n; i++)
        cr_assert(list->point[i].guest != first.guest || list->point[i].host != first.host);
    cr_assert_eq(pairing_of(&x.pairing, other, h)->n, n_other);
    double s[3];
    const struct iac_pair question[3] = {{of, beside}, {-1, beside}, {of, beside}};
    pairing_ask(&x.pairing, 3, question, s);
    cr_assert(s[0] == 3 && s[1] == 1 && s[2] == 3, "of what nobody knows nothing is believed");
    seen_free(&seen);
    close_world(&x);
}
