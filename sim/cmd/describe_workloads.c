#include "sim/cmd/describe_workloads.h"

#include "core/base/param.h"
#include "core/base/units.h"
#include "core/cluster/gpus.h"
#include "core/cluster/job.h"
#include "core/elastico/catalog_file.h"
#include "core/elastico/profile.h"
#include "sim/results/quote.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The catalog on one type of card. */
struct shown {
    struct workloads w;
    struct profiles p;
    int32_t card, mem_mib; /* what a card has for jobs */
    FILE *to;
    bool json;
};

static const char *const source_names[] = {"train model", "infer model", "measured"};

#define X(name) #name,
static const char *const parallel_names[] = {PARALLEL_COEFFICIENTS(X)};
#undef X

static const char *kind_name(const struct workloads *w, int32_t wl)
{
    return w->kind[wl] == KIND_TRAIN ? "train" : "infer";
}

static bool fits(const struct shown *s, int32_t config)
{
    return s->p.fb_mib[config] <= s->mem_mib &&
           s->p.m.rate[profile_row(&s->p, config, s->card)] > 0;
}

/* Of the cards of one replica. */
static int32_t replica_cards(const struct shown *s, int32_t config)
{
    return config_degree(&s->w, config, KNOB_TP) * config_degree(&s->w, config, KNOB_PP);
}

static double rate_of_card(const struct shown *s, int32_t config)
{
    return s->p.m.rate[profile_row(&s->p, config, s->card)] / replica_cards(s, config);
}

/* The fastest, for its cards, that fits; -1 for none. */
static int32_t peak_of(const struct shown *s, int32_t wl)
{
    int32_t best = -1;
    for (int32_t c = s->w.config_begin[wl]; c < s->w.config_begin[wl + 1]; c++) {
        double more = !fits(s, c) ? -1 : best < 0 ? 1 : rate_of_card(s, c) - rate_of_card(s, best);
        if (more > 0 || (more == 0 && s->p.fb_mib[c] < s->p.fb_mib[best]))
            best = c;
    }
    return best;
}

static void print_config(const struct shown *s, const char *what, int32_t config)
{
    char text[96];
    if (config < 0)
        fprintf(s->to, "  %-8s none fits\n", what);
    else
        fprintf(s->to, "  %-8s %-28s %10.5g %s/s, %d MiB", what, config_text(&s->w, config, text),
                s->p.m.rate[profile_row(&s->p, config, s->card)], s->w.unit[s->w.workload[config]],
                s->p.fb_mib[config]);
    if (config >= 0 && replica_cards(s, config) > 1)
        fprintf(s->to, " on each of %d cards", replica_cards(s, config));
    if (config >= 0)
        fputc('\n', s->to);
}

static void print_json_text(FILE *to, const char *key, const char *value)
{
    fprintf(to, ", \"%s\": ", key);
    quote_json(to, value);
}

static void print_head_json(const struct shown *s, int32_t wl)
{
    char number[32], text[96];
    fputs("{\"name\": ", s->to);
    quote_json(s->to, names_text(&s->w.names, wl));
    print_json_text(s->to, "kind", kind_name(&s->w, wl));
    print_json_text(s->to, "source", source_names[s->w.source[wl]]);
    print_json_text(s->to, "unit", s->w.unit[wl]);
    fprintf(s->to, ", \"params\": %s", format_real(s->w.params[wl], number));
    fprintf(s->to, ", \"n_configs\": %d", s->w.config_begin[wl + 1] - s->w.config_begin[wl]);
    print_json_text(s->to, "default", config_text(&s->w, s->w.initial[wl], text));
    int32_t peak = peak_of(s, wl);
    if (peak >= 0)
        print_json_text(s->to, "peak", config_text(&s->w, peak, text));
    else
        fputs(", \"peak\": null", s->to);
    print_json_text(s->to, "note", s->w.note[wl]);
    if (!workload_is_parallel(&s->w, wl))
        return;
    for (int i = 0; i < PARALLEL_MARKS; i++)
        fprintf(s->to, "%s\"%s\": %s", i == 0 ? ", \"parallel\": {" : ", ", parallel_names[i],
                format_real((&s->w.parallel[wl].batch)[i], number));
    fputc('}', s->to);
}

static void print_all(const struct shown *s)
{
    for (int32_t wl = 0; wl < s->w.n; wl++) {
        if (s->json) {
            fputs(wl == 0 ? "[" : ",\n ", s->to);
            print_head_json(s, wl);
            fputc('}', s->to);
            continue;
        }
        fprintf(s->to, "%s: %s, %s", names_text(&s->w.names, wl), kind_name(&s->w, wl),
                source_names[s->w.source[wl]]);
        if (!isnan(s->w.params[wl]))
            fprintf(s->to, ", %.4g parameters", s->w.params[wl]);
        int32_t n = s->w.config_begin[wl + 1] - s->w.config_begin[wl];
        fprintf(s->to, ", %d configuration%s\n", n, n == 1 ? "" : "s");
        print_config(s, "default", s->w.initial[wl]);
        print_config(s, "peak", peak_of(s, wl));
    }
    if (s->json)
        fputs("]\n", s->to);
    else
        fprintf(s->to,
                "\n%d configurations, on %s. One with all of its own: colosim describe workloads "
                "NAME\n",
                s->w.n_configs, card_table[s->card].name);
}

/* (n_configs) the configurations of one workload that fit and that no other of the same length
 * beats. */
static enum status mark_frontier(const struct shown *s, int32_t wl, bool *mark, struct error *err)
{
    int32_t first = s->w.config_begin[wl], end = s->w.config_begin[wl + 1];
    int32_t *list = malloc(((size_t)(end - first) + 1) * sizeof *list);
    if (list == NULL)
        return fail_memory(err);
    for (int32_t length = 0; length < s->w.n_values[wl][KNOB_SL]; length++) {
        int32_t n = 0;
        for (int32_t c = first; c < end; c++)
            if (config_index(&s->w, c, KNOB_SL) == length && fits(s, c))
                list[n++] = c;
        n = profile_frontier(&s->p, s->card, list, n, -1);
        for (int32_t i = 0; i < n; i++)
            mark[list[i]] = true;
    }
    free(list);
    return ST_OK;
}

/* Values with their marks, four on a line. */
static void print_marked(FILE *to, size_t n, const char *const *name, const double *value,
                         const char *mark)
{
    for (size_t i = 0; i < n; i++)
        fprintf(to, "%s%s = %g %c",
                i == 0       ? ""
                : i % 4 == 0 ? "\n"
                             : "   ",
                name[i], value[i], mark[i]);
    fputc('\n', to);
}

static void print_parallel(const struct shown *s, int32_t wl)
{
    const struct card *k = &card_table[s->card];
    if (!workload_is_parallel(&s->w, wl))
        return;
    print_marked(s->to, PARALLEL_MARKS, parallel_names, &s->w.parallel[wl].batch,
                 s->w.parallel_mark[wl]);
    fprintf(s->to,
            "links: %g GB/s D x %g S to cards of the node, %g GB/s D x %g S a card to others\n",
            k->link_bytes_s / 1e9, LINK_EFF, k->nic_bytes_s / 1e9, NIC_EFF);
}

/* The fastest layout that fits on n cards; -1 for none. */
static int32_t layout_on(const struct shown *s, int32_t wl, int32_t n, double *rate)
{
    struct links l = card_links(s->card);
    int32_t best = -1;
    *rate = 0;
    for (int32_t c = s->w.config_begin[wl]; c < s->w.config_begin[wl + 1]; c++) {
        double one = profile_packed_rate(&s->p, c, s->card, n, PARALLEL_NODE, &l);
        if (fits(s, c) && one > *rate) {
            best = c;
            *rate = one;
        }
    }
    return best;
}

static void print_layouts(const struct shown *s, int32_t wl)
{
    char text[96];
    if (!workload_is_parallel(&s->w, wl))
        return;
    fprintf(s->to, "\nfastest on   configuration                 dp  rate, 1/s  each card\n");
    for (int32_t n = 1; n <= 16 * PARALLEL_NODE; n *= 2) {
        double rate;
        int32_t c = layout_on(s, wl, n, &rate);
        if (c < 0)
            fprintf(s->to, "%4d cards   none fits\n", n);
        else
            fprintf(s->to, "%4d cards   %-27s %3d %10.5g %10.4g\n", n, config_text(&s->w, c, text),
                    n / replica_cards(s, c), rate, rate / n);
    }
    fprintf(s->to, "(on nodes of %d; rates above are those of one replica, on tp x pp cards)\n",
            PARALLEL_NODE);
}

static void print_coefficients(const struct shown *s, int32_t wl)
{
#define X(name) #name,
    static const char *const train[] = {TRAIN_COEFFICIENTS(X)};
    static const char *const infer[] = {INFER_COEFFICIENTS(X)};
#undef X
    bool is_train = s->w.source[wl] == SOURCE_TRAIN;
    size_t n = is_train ? sizeof train / sizeof *train : sizeof infer / sizeof *infer;
    const double *value =
        is_train ? &s->w.model[wl].train.rate_inf : &s->w.model[wl].infer.weight_bytes;
    if (s->w.source[wl] == SOURCE_MEASURED) {
        fprintf(s->to, "measured on %s (mark %c)\n", card_table[s->w.card[wl]].name,
                s->w.mark[wl][0]);
        print_parallel(s, wl);
        return;
    }
    print_marked(s->to, n, is_train ? train : infer, value, s->w.mark[wl]);
    print_parallel(s, wl);
    fputs("(M measured, S scaled, D derived, F fitted, A assumed, P the paper's)\n", s->to);
}

static void print_number(const struct shown *s, int width, int decimals, double value)
{
    if (isnan(value))
        fprintf(s->to, " %*s", width, "-");
    else
        fprintf(s->to, " %*.*f", width, decimals, value);
}

static void print_row(const struct shown *s, int32_t config, bool mark)
{
    char text[96];
    int32_t r = profile_row(&s->p, config, s->card);
    fprintf(s->to, "%c %-27s %10.5g %7d", mark ? '*' : ' ', config_text(&s->w, config, text),
            s->p.m.rate[r], s->p.fb_mib[config]);
    const double *fraction[] = {s->p.m.sm, s->p.m.occupancy, s->p.m.tensor, s->p.m.dram,
                                s->p.m.host};
    for (int i = 0; i < 5; i++)
        print_number(s, 6, 3, fraction[i][r]);
    print_number(s, 6, 2, s->p.m.cpu[r]);
    print_number(s, 7, 0, s->p.m.ram_mib[r]);
    print_number(s, 9, 2, s->p.m.step_s[r] * 1e3);
    if (s->p.nic_mbps[config] > 0)
        fprintf(s->to, "  NIC %g Gbit/s", s->p.nic_mbps[config] / 1e3);
    if (s->p.storage_mbps[config] > 0)
        fprintf(s->to, "  storage %g Gbit/s", s->p.storage_mbps[config] / 1e3);
    fprintf(s->to, "%s\n", fits(s, config) ? "" : "  does not fit");
}

static void print_row_json(const struct shown *s, int32_t config, bool mark, bool first)
{
    char number[32];
    int32_t r = profile_row(&s->p, config, s->card);
    fprintf(s->to, "%s{\"config\": %d", first ? "" : ",\n  ", config);
    for (int k = 0; k < N_KNOBS; k++)
        if (!isnan(s->w.value[config][k]))
            fprintf(s->to, ", \"%s\": %s", knob_names[k],
                    format_real(s->w.value[config][k], number));
#define X(name) fprintf(s->to, ", \"%s\": %s", #name, format_real(s->p.m.name[r], number));
    MEASURES(X)
#undef X
    if (profile_takes_bandwidth(&s->p, s->w.workload[config]))
        fprintf(s->to, ", \"nic_gbps\": %g, \"storage_gbps\": %g", s->p.nic_mbps[config] / 1e3,
                s->p.storage_mbps[config] / 1e3);
    fprintf(s->to, ", \"fb_mib\": %d, \"profiled\": %s, \"fits\": %s, \"frontier\": %s}",
            s->p.fb_mib[config], s->w.profiled[config] ? "true" : "false",
            fits(s, config) ? "true" : "false", mark ? "true" : "false");
}

static enum status print_one(const struct shown *s, int32_t wl, struct error *err)
{
    bool *mark = calloc((size_t)s->w.n_configs + 1, sizeof *mark);
    if (mark == NULL)
        return fail_memory(err);
    if (mark_frontier(s, wl, mark, err) != ST_OK) {
        free(mark);
        return ST_OUTPUT;
    }
    if (s->json) {
        print_head_json(s, wl);
        print_json_text(s->to, "gpu", card_table[s->card].name);
        fputs(", \"configs\": [\n  ", s->to);
    } else {
        fprintf(s->to, "%s on %s\n", names_text(&s->w.names, wl), card_table[s->card].name);
        print_coefficients(s, wl);
        fprintf(s->to, "%s%s", s->w.note[wl], s->w.note[wl][0] != '\0' ? "\n" : "");
        fprintf(s->to, "\n  %-27s %10s %7s %6s %6s %6s %6s %6s %6s %7s %9s\n", "configuration",
                "rate, 1/s", "MiB", "SM", "occ.", "tensor", "DRAM", "host", "cores", "RAM MiB",
                "step ms");
    }
    for (int32_t c = s->w.config_begin[wl]; c < s->w.config_begin[wl + 1]; c++) {
        if (s->json)
            print_row_json(s, c, mark[c], c == s->w.config_begin[wl]);
        else
            print_row(s, c, mark[c]);
    }
    fputs(s->json
              ? "]}\n"
              : "(rate: what the workload counts; *: no other that fits is as fast with no more "
                "of anything)\n",
          s->to);
    if (!s->json)
        print_layouts(s, wl);
    free(mark);
    return ST_OK;
}

static enum status fail_unknown(const struct shown *s, const struct workload_question *q,
                                struct error *err)
{
    const char **names = malloc((size_t)s->w.n * sizeof *names);
    if (names == NULL)
        return fail_memory(err);
    for (int32_t wl = 0; wl < s->w.n; wl++)
        names[wl] = names_text(&s->w.names, wl);
    const char *near = nearest_word(q->name, names, (size_t)s->w.n);
    enum status status =
        fail(err, ST_USAGE, "there is no workload '%s' in catalog %s%s%s%s", q->name, q->catalog,
             near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
    free(names);
    return status;
}

enum status describe_workloads(FILE *to, const struct workload_question *q, struct error *err)
{
    struct shown s = {.card = card_find(q->gpu), .to = to, .json = q->json};
    enum status status = ST_OK;
    if (s.card < 0)
        return fail(err, ST_USAGE,
                    "there are no profiles for GPU type '%s', only for a100-40g, a100-80g, "
                    "v100-32g, h100-80g and h200",
                    q->gpu);
    s.mem_mib = gpu_type_mem_mib(q->gpu) - MEM_SYSTEM_MIB;
    TRY_OUT(catalog_read(q->catalog, &s.w, err));
    TRY_OUT(profiles_init(&s.p, &s.w, err));
    if (q->name == NULL) {
        print_all(&s);
        goto out;
    }
    int32_t wl = workload_find(&s.w, q->name, strlen(q->name));
    status = wl < 0 ? fail_unknown(&s, q, err) : print_one(&s, wl, err);
out:
    profiles_free(&s.p);
    workloads_free(&s.w);
    return status;
}
