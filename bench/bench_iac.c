/* bench_iac - what a prediction of interference costs.
 *
 *   bench_iac [PAIRS]         default 100,000
 *
 * Configurations are those of the embedded catalog; pairs of them are drawn at random. Uncached:
 * features, maps and networks for each, in batches; cached: pairs asked before. CPU time of one
 * core, the best of five runs. The paper states 80 us for one prediction. */
#include "bench/tools.h"
#include "core/base/rng.h"
#include "core/elastico/belief.h"
#include "core/elastico/catalog_file.h"
#include "core/elastico/sides.h"

#include <gsl/gsl_randist.h>
#include <stdio.h>
#include <stdlib.h>

enum { N_RUNS = 5, N_KNOTS = 512 };

static void *must_have(void *memory)
{
    must(memory != NULL ? ST_OK : ST_OUTPUT, &(struct error){"out of memory"});
    return memory;
}

/* Networks of the default widths with random weights: the time does not depend on them. */
static void make_model(struct iac_model *m, int32_t n_nets, gsl_rng *rng)
{
    struct error err;
    *m = (struct iac_model){.form = IAC_DNN};
    for (int32_t i = 0; i < IAC_MAPS; i++) {
        m->map[i] = (struct iac_map){.kind = iac_map_kind_of(i), .mean = .5, .sd = 1};
        if (m->map[i].kind != IAC_MAP_RANK)
            continue;
        m->map[i].n_knots = N_KNOTS;
        m->map[i].knot = must_have(malloc(N_KNOTS * sizeof *m->map[i].knot));
        for (int k = 0; k < N_KNOTS; k++)
            m->map[i].knot[k] = k * 100.0;
    }
    for (; m->n_nets < n_nets; m->n_nets++) {
        struct dense_net *net = &m->net[m->n_nets];
        must(dense_init(net, IAC_FEATURES, 64, 64, &err), &err);
        for (size_t i = 0; i < net->n_params; i++)
            net->param[i] = gsl_ran_gaussian(rng, .2);
    }
    must(iac_fold(m, &err), &err);
}

static void print(const char *what, double took_s, int n)
{
    printf("%-34s %10.3f us\n", what, took_s / n * 1e6);
}

static double time_uncached(struct iac_reader *reader, const struct iac_side *side, int n,
                            const struct iac_pair *pair, double *s)
{
    double best_s = 1e9;
    for (int run = 0; run < N_RUNS; run++) {
        double begin_s = cpu_now_s();
        iac_predict(reader, side, n, pair, s, NULL);
        double took_s = cpu_now_s() - begin_s;
        best_s = took_s < best_s ? took_s : best_s;
    }
    return best_s;
}

static double time_maps(const struct iac_model *m, const struct iac_side *side, int n,
                        const struct iac_pair *pair)
{
    static double x[IAC_BATCH * IAC_FEATURES_MAX];
    double best_s = 1e9;
    for (int run = 0; run < N_RUNS; run++) {
        double begin_s = cpu_now_s();
        for (int at = 0; at + IAC_BATCH <= n; at += IAC_BATCH)
            iac_map_rows(m, side, IAC_BATCH, pair + at, x);
        double took_s = cpu_now_s() - begin_s;
        best_s = took_s < best_s ? took_s : best_s;
    }
    return best_s;
}

static double time_cached(struct iac_reader *reader, const struct iac_side *side, int n,
                          const struct iac_pair *pair, double *s)
{
    struct belief b;
    struct error err;
    double best_s = 1e9;
    must(belief_init(&b, belief_of_model, reader, &(struct belief_options){.n_slots = 2 * n}, &err),
         &err);
    belief_ask(&b, side, n, pair, s);
    for (int run = 0; run < N_RUNS; run++) {
        double begin_s = cpu_now_s();
        belief_ask(&b, side, n, pair, s);
        double took_s = cpu_now_s() - begin_s;
        best_s = took_s < best_s ? took_s : best_s;
    }
    belief_free(&b);
    return best_s;
}

int main(int argc, char **argv)
{
    static const int32_t sizes[] = {1, 5};
    int n = argc > 1 ? atoi(argv[1]) : 100000;
    struct workloads w;
    struct profiles p;
    struct iac_side *side;
    struct error err;
    if (n < IAC_BATCH) {
        fprintf(stderr, "usage: bench_iac [PAIRS], %d or more\n", IAC_BATCH);
        return ST_USAGE;
    }
    dense_one_thread();
    gsl_rng *rng = must_have(rng_stream(1, "bench"));
    must(catalog_read(EMBEDDED_CATALOG, &w, &err), &err);
    must(profiles_init(&p, &w, &err), &err);
    must(sides_of_profiles(&p, &side, &err), &err);
    struct iac_pair *pair = must_have(malloc((size_t)n * sizeof *pair));
    double *s = must_have(malloc((size_t)n * sizeof *s));
    for (int i = 0; i < n; i++)
        pair[i] = (struct iac_pair){(int32_t)gsl_rng_uniform_int(rng, (unsigned long)p.n_configs),
                                    (int32_t)gsl_rng_uniform_int(rng, (unsigned long)p.n_configs)};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct iac_model model;
        struct iac_reader reader;
        char what[64];
        make_model(&model, sizes[i], rng);
        must(iac_reader_init(&reader, &model, &err), &err);
        snprintf(what, sizeof what, "uncached, %d network%s", sizes[i], sizes[i] > 1 ? "s" : "");
        print(what, time_uncached(&reader, side, n, pair, s), n);
        if (i == 0) {
            print("  of that, features and maps", time_maps(&model, side, n, pair), n);
            print("cached", time_cached(&reader, side, n, pair, s), n);
        }
        iac_reader_free(&reader);
        iac_model_free(&model);
    }
    print("the paper, one prediction", 80e-6, 1);
    free(s);
    free(pair);
    free(side);
    profiles_free(&p);
    workloads_free(&w);
    gsl_rng_free(rng);
    return 0;
}
