#include "sim/cmd/commands.h"

#include "sim/cmd/capacity.h"
#include "sim/results/output.h"
#include "sim/results/report.h"

#include <math.h>
#include <string.h>

static const char capacity_doc[] =
    "Finds the smallest cluster that meets a target, by bisection over the number of nodes of its "
    "one "
    "kind; a policy of a list beside the first."
    "\v"
    "  colosim capacity --target jct_mean_s=7200 --policy fifo,srtf --seeds 1..3\n"
    "  colosim capacity --target wait_p99_s=3600 --target slowdown_mean=2 \\\n"
    "                   --trace jobs.csv --cluster 16x8:h100-80g --db c.db\n"
    "  colosim capacity --target jct_mean_s=base --target attain_frac=base --db r.db --policy "
    "lucid\n\n"
    "A target is met where the mean over seeds is no worse. No job may be rejected or left "
    "unfinished,\n"
    "unless --target jobs_rejected=N or jobs_unfinished=N says otherwise. The search begins with "
    "the\n"
    "cluster as described, doubles it until the target is met, and takes for granted that more "
    "nodes\n"
    "are no worse. With --db every run is stored, and what is there is not run again.";

enum { KEY_TARGET = 1, KEY_MAX, KEY_POLICIES, KEY_SEEDS };

static const struct argp_option capacity_options[] = {
    {"target", KEY_TARGET, "METRIC=VALUE", 0,
     "to be met; VALUE is a number, or a run in --db that has it; repeatable", 0},
    {"max-nodes", KEY_MAX, "N", 0, "give up beyond this many nodes", 0},
    {"policy", KEY_POLICIES, "LIST", 0, "policies, comma-separated", 0},
    {"seeds", KEY_SEEDS, "LIST", 0, "1..5 or 1,2,7; default: --seed", 0},
    {0},
};

static error_t parse_capacity(int key, char *arg, struct argp_state *state)
{
    struct capacity *c = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &c->options; return 0;
    case KEY_TARGET:
        if (c->n_targets == TARGETS_MAX)
            argp_error(state, "more than %d targets", TARGETS_MAX);
        c->target[c->n_targets++].text = arg;
        return 0;
    case KEY_MAX: c->max_nodes = option_whole(state, "--max-nodes", arg, 1, 1000000); return 0;
    case KEY_POLICIES: c->policies = arg; return 0;
    case KEY_SEEDS: c->seeds = arg; return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s': options begin with --; a trace is named by --trace", arg);
        return 0;
    case ARGP_KEY_END:
        if (c->n_targets == 0)
            argp_error(state, "what is to be met? --target jct_mean_s=7200");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* METRIC=VALUE or METRIC=RUN. */
static enum status read_target(struct capacity *c, struct target *t, struct error *err)
{
    char name[64];
    const char *equals = strchr(t->text, '=');
    int length = equals != NULL ? (int)(equals - t->text) : 0;
    snprintf(name, sizeof name, "%.*s", length, t->text);
    int metric = metric_find(name);
    if (metric < 0 || metric_infos[metric].better == 0)
        return fail(err, ST_USAGE, "--target %s: want METRIC=VALUE of a metric that can be better",
                    t->text);
    t->metric = (enum metric)metric;
    if (parse_real(equals + 1, strlen(equals + 1), &t->value))
        return ST_OK;
    if (c->options.db == NULL)
        return fail(err, ST_USAGE, "--target %s: neither a number nor, without --db, a run",
                    t->text);
    struct summary run;
    int64_t id;
    TRY(store_find(&c->store, equals + 1, &id, err));
    TRY(summary_read(&run, &c->store, id, err));
    t->value = run.metric[metric];
    summary_free(&run);
    return isfinite(t->value)
               ? ST_OK
               : fail(err, ST_USAGE, "--target %s: that run does not know it", t->text);
}

static enum status read_targets(struct capacity *c, struct error *err)
{
    static const enum metric implied[] = {METRIC_jobs_rejected, METRIC_jobs_unfinished};
    for (int i = 0; i < c->n_targets; i++)
        TRY(read_target(c, &c->target[i], err));
    for (size_t k = 0; k < sizeof implied / sizeof *implied; k++) {
        bool said = false;
        for (int i = 0; i < c->n_targets; i++)
            said = said || c->target[i].metric == implied[k];
        if (!said)
            c->target[c->n_targets++] = (struct target){.metric = implied[k], .implied = true};
    }
    return ST_OK;
}

static void print_head(const struct capacity *c, FILE *to, int width)
{
    fprintf(to, "%-*s %6s %6s %5s", width, "policy", "nodes", "GPUs", "seeds");
    for (int i = 0; i < c->n_targets; i++)
        if (!c->target[i].implied)
            fprintf(to, " %14s", metric_infos[c->target[i].metric].name);
    fputs("  target\n", to);
}

static void print_probe(const struct capacity *c, FILE *to, int width, const struct probe *p)
{
    char text[32];
    fprintf(to, "%-*s %6lld %6s %5d", width, p->policy, (long long)p->nodes,
            report_number(p->gpus, text), p->n_seeds);
    for (int i = 0; i < c->n_targets; i++)
        if (!c->target[i].implied)
            fprintf(to, " %14s", report_number(p->mean[i], text));
    if (p->missed < 0)
        fputs("  met\n", to);
    else
        fprintf(to, "  missed: %s %s\n", metric_infos[c->target[p->missed].metric].name,
                report_number(p->mean[p->missed], text));
}

static void print_answer(FILE *to, const struct capacity *c, const char *policy,
                         const struct probe *best, double first)
{
    char gpus[32];
    if (best == NULL) {
        fprintf(to, "%s: not met with %lld nodes\n", policy, (long long)c->max_nodes);
        return;
    }
    fprintf(to, "%s: %lld nodes, %s GPUs", policy, (long long)best->nodes,
            report_number(best->gpus, gpus));
    if (first > 0)
        fprintf(to, ", x%.3f", best->gpus / first);
    fputc('\n', to);
}

/* Doubles until the target is met, then halves the gap to what missed it. */
static enum status search(struct capacity *c, const char *policy, FILE *to, int width,
                          struct probe *best, struct error *err)
{
    int64_t missed = 0, met = 0,
            nodes = c->first_nodes < c->max_nodes ? c->first_nodes : c->max_nodes;
    while (met == 0 || met - missed > 1) {
        struct probe p;
        TRY(capacity_probe(c, policy, nodes, &p, err));
        if (!c->options.json)
            print_probe(c, to, width, &p);
        if (p.missed < 0) {
            met = nodes;
            *best = p;
        } else if (nodes == c->max_nodes) {
            return ST_OK;
        } else {
            missed = nodes;
        }
        nodes = met > 0 ? missed + (met - missed) / 2 : 2 * nodes;
        nodes = nodes < c->max_nodes ? nodes : c->max_nodes;
    }
    return ST_OK;
}

static void print_json(FILE *to, const struct capacity *c, const char *policy,
                       const struct probe *best)
{
    char value[32];
    fprintf(to, "{\"policy\": \"%s\", \"nodes\": ", policy);
    if (best == NULL)
        fputs("null, \"gpus\": null", to);
    else
        fprintf(to, "%lld, \"gpus\": %s", (long long)best->nodes, format_real(best->gpus, value));
    fputs(", \"metrics\": {", to);
    for (int i = 0; i < c->n_targets && best != NULL; i++)
        fprintf(to, "%s\"%s\": %s", i > 0 ? ", " : "", metric_infos[c->target[i].metric].name,
                format_real(best->mean[i], value));
    fputs("}}\n", to);
}

static enum status search_all(struct capacity *c, FILE *to, struct error *err)
{
    struct probe best[POLICIES_MAX] = {{0}};
    int width = 6, n_met = 0;
    for (int i = 0; i < c->n_policies; i++)
        width = width > (int)strlen(c->policy[i]) ? width : (int)strlen(c->policy[i]);
    if (!c->options.json)
        print_head(c, to, width);
    for (int i = 0; i < c->n_policies; i++) {
        TRY(search(c, c->policy[i], to, width, &best[i], err));
        n_met += best[i].nodes > 0;
    }
    for (int i = 0; i < c->n_policies; i++) {
        const struct probe *found = best[i].nodes > 0 ? &best[i] : NULL;
        if (c->options.json)
            print_json(to, c, c->policy[i], found);
        else
            print_answer(to, c, c->policy[i], found, i > 0 ? best[0].gpus : 0);
    }
    return n_met > 0 ? ST_OK
                     : fail(err, ST_CHECK, "no cluster up to %lld nodes meets the target",
                            (long long)c->max_nodes);
}

static enum status capacity(struct capacity *c, struct error *err)
{
    struct output out = {0};
    if (c->options.db != NULL)
        TRY(store_open(&c->store, c->options.db, err));
    TRY(read_targets(c, err));
    TRY(capacity_prepare(c, err));
    TRY(output_open(&out, "-", err));
    return output_close(&out, search_all(c, out.file, err), err);
}

int cmd_capacity(int argc, char **argv)
{
    static const struct argp_child children[] = {{&options_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {.options = capacity_options,
                                     .parser = parse_capacity,
                                     .doc = capacity_doc,
                                     .children = children};
    struct capacity c = {.max_nodes = 1 << 16};
    struct error err = {{0}};
    enum status status = parse_command(&argp, argc, argv, &c, &err);
    watch_signals();
    if (status == ST_OK)
        status = capacity(&c, &err);
    capacity_free(&c);
    int code = report_error(status, &err);
    return status == ST_INTERRUPTED ? watch_exit_code() : code;
}
