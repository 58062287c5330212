/* What is profiled when, and what stands in until then: worked out by hand on six configurations.
 */
#include "core/elastico/lore.h"
#include "tests/catalogs.h"
#include "tests/lab.h"
#include "tests/leak.h"
#include "traces/table_file.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(lore, .fini = abort_on_leak, .timeout = 60);

/* Numbered from 0 in this order: bs=1 amp=0, bs=1 amp=1, bs=4 amp=0, … On a line of 0, .5 and 1 the
 * batches; AMP is a whole step. */
static const char catalog[] =
    "{\"workloads\": [{\"name\": \"m\", \"kind\": \"train\", \"model\": \"measured\", "
    "\"card\": \"a100-40g\", \"unit\": \"img\", "
    "\"knobs\": {\"bs\": [1, 4, 16], \"amp\": [0, 1]}, \"profiles\": ["
    "{\"bs\": 1, \"amp\": 0, \"rate\": 10, \"sm\": 0.1, \"fb_mib\": 1000}, "
    "{\"bs\": 1, \"amp\": 1, \"rate\": 12, \"sm\": 0.1, \"fb_mib\": 900}, "
    "{\"bs\": 4, \"amp\": 0, \"rate\": 20, \"sm\": 0.3, \"fb_mib\": 2000}, "
    "{\"bs\": 4, \"amp\": 1, \"rate\": 30, \"sm\": 0.3, \"fb_mib\": 1500}, "
    "{\"bs\": 16, \"amp\": 0, \"rate\": 40, \"sm\": 0.9, \"fb_mib\": 4000}, "
    "{\"bs\": 16, \"amp\": 1, \"rate\": 60, \"sm\": 0.8, \"fb_mib\": 3000}]}]}";
enum { BS1, BS1_AMP, BS4, BS4_AMP, BS16, BS16_AMP };

struct world {
    struct lab l;
    struct catalog c;
    struct rst rst;
    struct lore_config config;
    struct table store;
    struct arena arena;
    struct lore lore;
};

/* Jobs submitted in these configurations; store: the file's rows, NULL for no file. */
static void open_world(struct world *x, const char *jobs, const int32_t *config, const char *nodes,
                       const char *store)
{
    struct error err = {{0}};
    char text[96];
    lab_jobs(&x->l, jobs);
    lab_nodes(&x->l, nodes);
    catalog_open_text(&x->c, catalog);
    for (int32_t j = 0; j < x->l.jobs.n_jobs; j++) {
        config_text(&x->c.w, config[j], text);
        x->l.jobs.config[j] = names_add(&x->l.jobs.names, text, strlen(text));
    }
    if (store != NULL) {
        struct temp_file file = temp_text(".csv", store);
        cr_assert_eq(table_read(file.path, &x->store, &err), ST_OK, "%s", err.text);
        temp_remove(&file);
    }
    cr_assert_eq(rst_init(&x->rst, &x->c.p, &x->l.jobs, &x->l.cluster, SUBMITTED_LISTED, &err),
                 ST_OK, "%s", err.text);
    cr_assert_eq(lore_init(&x->lore, &x->config, &x->rst, &x->l.jobs, &x->l.cluster, &x->store,
                           &x->arena, &err),
                 ST_OK, "%s", err.text);
}

static void close_world(struct world *x)
{
    arena_free(&x->arena);
    table_free(&x->store);
    rst_free(&x->rst);
    catalog_close(&x->c);
    lab_free(&x->l);
}

static const char five[] = "a 0 9 1 1 m\nb 0 9 1 1 m\nc 0 9 1 1 m\nd 0 9 1 1 m\ne 0 9 1 1 m";
static const char card[] = "1x40960MiB:a100-40g";

static void arrive(struct world *x, int32_t job, double at_s)
{
    lore_advance(&x->lore, us_of_s(at_s));
    lore_arrive(&x->lore, job, us_of_s(at_s));
}

/* One GPU, 100 s each. a comes at 0 in bs=16 amp=1 and brings its family; b at 10 in bs=4: first
 * thing when the GPU is free. Nearest to a's is bs=4 amp=1 (.25), then bs=1 amp=1 and bs=16 amp=0
 * (1 each, the lower number first), then bs=1 amp=0 (2), which c asks for at 250. */
Test(lore, profiles_come_one_after_another_those_that_jobs_came_in_first)
{
    static const int32_t config[] = {BS16_AMP, BS4, BS1, BS1, BS1};
    static const struct {
        int32_t config;
        double end_s;
    } order[] = {{BS16_AMP, 100}, {BS4, 200},     {BS4_AMP, 300},
                 {BS1, 400},      {BS1_AMP, 500}, {BS16, 600}};
    struct world x = {.config = {.each_s = 100, .gpus = 1}};
    open_world(&x, five, config, card, NULL);
    arrive(&x, 0, 0);
    arrive(&x, 1, 10);
    cr_assert(!x.lore.news);
    for (int i = 0; i < 6; i++) {
        cr_assert_eq(lore_next_us(&x.lore), us_of_s(order[i].end_s), "%d", i);
        lore_advance(&x.lore, us_of_s(order[i].end_s) - 1);
        cr_assert(!x.lore.profiled[order[i].config], "%d is not there yet", i);
        if (i == 2)
            arrive(&x, 2, 250);
        if (i == 2)
            cr_assert_float_eq(lore_gpu_s(&x.lore, us_of_s(250)), 250, 1e-9);
        if (i == 3)
            arrive(&x, 3, 320);
        if (i == 4)
            arrive(&x, 4, 450);
        lore_advance(&x.lore, us_of_s(order[i].end_s));
        cr_assert(x.lore.profiled[order[i].config] && x.lore.news, "%d", i);
    }
    cr_assert_eq(lore_next_us(&x.lore), TIME_NEVER);
    cr_assert_eq(x.lore.n_hits, 1, "e, at 450");
    cr_assert_eq(x.lore.n_misses, 4, "d found c's profile on the GPU");
    cr_assert_eq(x.lore.n_waited, 4);
    cr_assert_float_eq(x.lore.waited_s, 100 + 190 + 150 + 80, 1e-9);
    cr_assert_float_eq(lore_gpu_s(&x.lore, us_of_s(1000)), 600, 1e-9);
    close_world(&x);
}

/* The same without families, and with GPUs enough: everybody waits 100 s. */
Test(lore, with_gpus_enough_nobody_waits_for_another_and_families_can_be_left_out)
{
    static const int32_t config[] = {BS16_AMP, BS4, BS1, BS1, BS1};
    struct world x = {.config = {.each_s = 100, .what = LORE_ARRIVED}};
    open_world(&x, five, config, card, NULL);
    arrive(&x, 0, 0);
    arrive(&x, 1, 10);
    cr_assert_eq(lore_next_us(&x.lore), us_of_s(100));
    lore_advance(&x.lore, us_of_s(100));
    cr_assert_eq(lore_next_us(&x.lore), us_of_s(110));
    lore_advance(&x.lore, us_of_s(110));
    cr_assert_eq(lore_next_us(&x.lore), TIME_NEVER);
    for (int32_t c = 0; c < 6; c++)
        cr_assert_eq(x.lore.profiled[c], c == BS16_AMP || c == BS4, "%d", c);
    close_world(&x);
}

static double speed(const struct world *x, int32_t config)
{
    return rst_speed(&x->lore.known, 0, config, CARD_REFERENCE);
}

/* Known are bs=1, bs=4 and bs=4 amp=1: the last is nearest to bs=16 amp=1 (.25), and bs=4 is a step
 * from it with more memory. So what is twice as fast as bs=4 amp=1 counts as equally fast. */
Test(lore, the_nearest_stands_in_until_the_profile_is_there)
{
    static const int32_t config[] = {BS16_AMP, BS16_AMP};
    struct world x = {.config = {.each_s = 100, .gpus = 1, .what = LORE_ARRIVED}};
    open_world(&x, "a 0 9 1 1 m\nb 0 9 1 1 m 2500", config, card,
               "workload,config\nm,bs=1 amp=0\nm,\"amp=0,bs=4\"\n\nm,bs=4 amp=1\n");
    const struct rst *known = &x.lore.known;
    cr_assert(rst_profiled(known, BS4_AMP) && !rst_profiled(known, BS16_AMP));
    cr_assert_float_eq(speed(&x, BS16_AMP), 1, 1e-12);
    cr_assert_float_eq(speed(&x, BS4_AMP), 1, 1e-12, "30 / 30");
    cr_assert_float_eq(speed(&x, BS4), 20. / 30, 1e-12);
    cr_assert_eq(rst_mem_mib(known, 0, BS16_AMP), 2000);
    cr_assert_eq(rst_mem_mib(known, 1, BS16_AMP), 2500, "the trace tells");
    cr_assert_eq(rst_smallest(known, 0), BS1, "bs=1 amp=1 is smaller, but nobody knows");
    cr_assert(!rst_feasible(known, 0, BS16, CARD_REFERENCE, 40960, 0));
    cr_assert(rst_feasible(known, 0, BS4, CARD_REFERENCE, 40960, .6));
    arrive(&x, 0, 0);
    lore_advance(&x.lore, us_of_s(100));
    lore_settle(&x.lore);
    cr_assert_float_eq(speed(&x, BS16_AMP), 1, 1e-12);
    cr_assert_float_eq(speed(&x, BS4_AMP), .5, 1e-12, "30 / 60");
    cr_assert_eq(rst_mem_mib(known, 0, BS16_AMP), 3000);
    close_world(&x);
}

Test(lore, where_nothing_is_known_a_job_is_as_fast_as_itself_on_a_whole_card)
{
    static const int32_t config[] = {BS16_AMP};
    struct world x = {.config = {.each_s = 100, .gpus = 1}};
    open_world(&x, "a 0 9 1 1 m", config, card, "workload,config\n");
    cr_assert_eq(rst_row(&x.lore.known, 0, BS16_AMP, CARD_REFERENCE), -1);
    cr_assert_float_eq(speed(&x, BS16_AMP), 1, 1e-12);
    cr_assert_eq(rst_mem_mib(&x.lore.known, 0, BS16_AMP), 40960 - MEM_SYSTEM_MIB);
    cr_assert_eq(rst_smallest(&x.lore.known, 0), -1);
    close_world(&x);
}

/* Of 2048 MiB a job may have 1536: bs=4 amp=1 just fits, bs=16 and bs=4 do not. Who submitted such
 * a one needs the smallest, bs=1 amp=1 of 900 MiB; nearest to it bs=4 amp=1, .25, and bs=1, 1. */
Test(lore, what_fits_no_card_is_not_asked_for)
{
    static const int32_t config[] = {BS16_AMP};
    int32_t next[4];
    struct world x = {.config = {.each_s = 100, .gpus = 1}};
    open_world(&x, "a 0 9 1 1 m", config, "1x2048MiB:a100-40g", NULL);
    arrive(&x, 0, 0);
    cr_assert_eq(lore_next(&x.lore, 4, next), 3);
    cr_assert_eq(next[0], BS1_AMP);
    cr_assert_eq(next[1], BS4_AMP);
    cr_assert_eq(next[2], BS1);
    lore_advance(&x.lore, us_of_s(100));
    cr_assert_eq(lore_next(&x.lore, 1, next), 1);
    cr_assert_eq(next[0], BS4_AMP);
    close_world(&x);
}
