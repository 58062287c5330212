/* colosim describe: what there is to choose from, out of the tables that the program itself reads.
 */
#include "sim/cmd/commands.h"
#include "sim/cmd/describe_workloads.h"
#include "sim/cmd/reading.h"

#include "core/cluster/gpus.h"
#include "core/elastico/catalog_file.h"
#include "policies/registry.h"
#include "sim/results/output.h"
#include "sim/results/quote.h"
#include "traces/synth.h"

#include <stdio.h>
#include <string.h>

struct describe {
    const char *what, *name, *catalog, *gpu;
    bool json;
};

enum { KEY_JSON = 512, KEY_CATALOG, KEY_GPU };

static const struct argp_option options[] = {
    {"json", KEY_JSON, NULL, 0, "one JSON array, or object", 1},
    {"catalog", KEY_CATALOG, "NAME|FILE", 0, "workloads: table2 (default), h200, or a .json file",
     1},
    {"gpu", KEY_GPU, "TYPE", 0, "workloads: on this type of card (default a100-40g)", 1},
    {0},
};

static const char doc[] =
    "policies: who can decide, and where the rules are from; with NAME one of them, with all its "
    "settings. formats: the traces that can be read. "
    "gpus: the GPU types known by name; others are legal as names. settings: every setting with "
    "its default, its range and what it does. NAME narrows settings down to one key or one group: "
    "run, synth (for colosim trace synth), a prefix such as share, or a policy. workloads: those "
    "of "
    "a catalog; NAME is one of them, with all its configurations on a type of card: what they "
    "reserve, "
    "how fast they are, what they keep busy, and which need scoring."
    "\v"
    "Examples:\n"
    "  colosim describe policies\n"
    "  colosim describe policies volcano\n"
    "  colosim describe workloads BERT --gpu h100-80g\n"
    "  colosim describe settings las\n"
    "  colosim describe settings trace.duration\n"
    "  colosim describe settings --json";

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct describe *d = state->input;
    switch (key) {
    case KEY_JSON: d->json = true; return 0;
    case KEY_CATALOG: d->catalog = arg; return 0;
    case KEY_GPU: d->gpu = arg; return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 1 ||
            (state->arg_num == 1 && strcmp(d->what, "settings") != 0 &&
             strcmp(d->what, "workloads") != 0 && strcmp(d->what, "policies") != 0))
            argp_error(state, "'%s' is one argument too many", arg);
        *(state->arg_num == 0 ? &d->what : &d->name) = arg;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "describe what?"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    options, parse_option, "policies|formats|gpus|settings|workloads [NAME]", doc, NULL,
    NULL,    NULL};

/* One member of an object; first opens the object. */
static void member(FILE *to, bool first, const char *name, const char *value)
{
    fprintf(to, "%s\"%s\": ", first ? "{" : ", ", name);
    if (value != NULL)
        quote_json(to, value);
    else
        fputs("null", to);
}

/* Without the brace that closes the object. */
static void print_policy(FILE *to, const struct policy *p, bool json)
{
    if (!json) {
        fprintf(to, "%-14s %s\n", p->name, p->summary);
        if (p->source != NULL)
            fprintf(to, "%-14s from: %s\n", "", p->source);
        return;
    }
    member(to, true, "name", p->name);
    member(to, false, "summary", p->summary);
    member(to, false, "source", p->source);
}

static void print_policies(FILE *to, bool json)
{
    for (int i = 0; policies[i] != NULL; i++) {
        fputs(!json ? "" : i == 0 ? "[" : ",\n ", to);
        print_policy(to, policies[i], json);
        fputs(json ? "}" : "", to);
    }
    fputs(json ? "]\n" : "\nTheir settings: colosim describe settings NAME\n", to);
}

static void print_formats(FILE *to, bool json)
{
    for (int i = 0; trace_formats[i] != NULL; i++) {
        const struct trace_format *f = trace_formats[i];
        if (!json) {
            fprintf(to, "%-10s %s\n%-10s needs: %s\n", f->name, f->summary, "", f->needs);
            continue;
        }
        fputs(i == 0 ? "[" : ",\n ", to);
        member(to, true, "name", f->name);
        member(to, false, "summary", f->summary);
        member(to, false, "needs", f->needs);
        fputc('}', to);
    }
    fputs(json ? "]\n" : "", to);
}

static void print_gpus(FILE *to, bool json)
{
    if (!json)
        fprintf(to, "%-10s %11s  %-11s %s\n", "name", "memory, MiB", "source", "card");
    for (const struct gpu_type *g = gpu_table; g->name != NULL; g++) {
        char mem[16] = "-";
        if (g->mem_mib > 0)
            snprintf(mem, sizeof mem, "%d", g->mem_mib);
        if (!json) {
            fprintf(to, "%-10s %11s  %-11s %s\n", g->name, mem, g->source ? g->source : "-",
                    g->model);
            continue;
        }
        fputs(g == gpu_table ? "[" : ",\n ", to);
        member(to, true, "name", g->name);
        member(to, false, "card", g->model);
        fprintf(to, ", \"mem_mib\": %s", g->mem_mib > 0 ? mem : "null");
        member(to, false, "source", g->source);
        fputc('}', to);
    }
    fputs(json ? "]\n"
               : "\nAny other name is legal: its memory is then not known, so not limited.\n",
          to);
}

/* A group with what it is called here: those of a run with bare keys, and of trace synth, have no
 * prefix to be told by. */
struct named_group {
    const char *name, *about;
    struct param_group group;
};

static const char *type_text(enum param_type type)
{
    switch (type) {
    case PARAM_TYPE_BOOL: return "bool";
    case PARAM_TYPE_INT: return "whole number";
    case PARAM_TYPE_REAL: return "number";
    case PARAM_TYPE_TEXT: return "text";
    case PARAM_TYPE_CHOICE: return "choice";
    }
    return NULL;
}

static void print_setting(FILE *to, const struct named_group *g, const struct param *p, bool json,
                          bool first)
{
    char key[128], value[64], range[256];
    const char *initial = param_text(p, g->group.config, value);
    param_key(&g->group, p, key);
    param_range(p, range);
    if (!json) {
        fprintf(to, "  %s = %s  (%s)\n      %s\n", key, initial[0] != '\0' ? initial : "none",
                range, p->doc);
        return;
    }
    fputs(first ? "[" : ",\n ", to);
    member(to, true, "group", g->name);
    member(to, false, "key", key);
    member(to, false, "type", type_text(p->type));
    member(to, false, "unit", p->unit);
    member(to, false, "default", initial[0] != '\0' ? initial : NULL);
    member(to, false, "range", range);
    member(to, false, "doc", p->doc);
    fputc('}', to);
}

/* Those of which name is the group or the key; NULL: all. Returns how many. */
static int print_settings(FILE *to, const struct named_group *groups, int n, const char *name,
                          bool json)
{
    int n_printed = 0;
    for (int i = 0; i < n; i++) {
        bool headed = false, whole = name == NULL || strcmp(name, groups[i].name) == 0;
        for (const struct param *p = groups[i].group.params; p != NULL && p->name != NULL; p++) {
            char key[128];
            if (!whole && strcmp(name, param_key(&groups[i].group, p, key)) != 0)
                continue;
            if (!json && !headed)
                fprintf(to, "%s%s: %s\n", n_printed > 0 ? "\n" : "", groups[i].name,
                        groups[i].about);
            headed = true;
            print_setting(to, &groups[i], p, json, n_printed == 0);
            n_printed++;
        }
    }
    if (json && n_printed > 0)
        fputs("]\n", to);
    return n_printed;
}

static size_t count_params(const struct named_group *g)
{
    size_t n = 0;
    while (g->group.params != NULL && g->group.params[n].name != NULL)
        n++;
    return n;
}

/* Suggests the nearest of all groups and keys. */
static enum status fail_unknown(const struct named_group *groups, int n, const char *name,
                                struct arena *arena, struct error *err)
{
    size_t n_names = 0;
    for (int i = 0; i < n; i++)
        n_names += 1 + count_params(&groups[i]);
    const char **names = arena_alloc(arena, n_names, sizeof *names);
    if (names == NULL)
        return fail_memory(err);
    n_names = 0;
    for (int i = 0; i < n; i++) {
        names[n_names++] = groups[i].name;
        for (size_t k = 0; k < count_params(&groups[i]); k++) {
            char key[128];
            param_key(&groups[i].group, &groups[i].group.params[k], key);
            names[n_names] = arena_text(arena, key, strlen(key));
            if (names[n_names++] == NULL)
                return fail_memory(err);
        }
    }
    const char *near = nearest_word(name, names, n_names);
    return fail(err, ST_USAGE, "there is no setting or group '%s'%s%s%s", name,
                near != NULL ? ": did you mean '" : "", near != NULL ? near : "",
                near != NULL ? "'?" : "");
}

/* Every group at its defaults; synth is filled in too. Returns how many. */
static int name_groups(const struct run_request *q, struct synth_settings *synth,
                       struct named_group *out)
{
    struct param_group groups[GROUPS_MAX];
    int n = run_all_groups(q, groups);
    for (int i = 0; i < n; i++) {
        const struct policy *policy = policy_find(groups[i].prefix);
        bool bare = groups[i].prefix[0] == '\0';
        out[i] = (struct named_group){.name = bare ? "run" : groups[i].prefix,
                                      .about = policy != NULL ? policy->summary
                                               : bare         ? "bare keys of a run"
                                                              : "of a run, whatever the policy",
                                      .group = groups[i]};
    }
    out[n] = (struct named_group){
        "synth", "bare keys of colosim trace synth", {"", synth_params, synth}};
    param_defaults(&out[n].group);
    return n + 1;
}

static enum status describe_settings(FILE *to, const struct describe *d, struct error *err)
{
    enum status status = ST_OK;
    struct run_request request;
    struct synth_settings synth;
    struct named_group groups[GROUPS_MAX + 1];
    TRY_OUT(run_request_init(&request, err));
    int n = name_groups(&request, &synth, groups);
    if (print_settings(to, groups, n, d->name, d->json) == 0)
        status = fail_unknown(groups, n, d->name, &request.arena, err);
out:
    run_request_free(&request);
    return status;
}

/* One policy and all its settings. */
static enum status describe_policy(FILE *to, const struct describe *d, struct error *err)
{
    const struct policy *p = policy_find(d->name);
    if (p == NULL)
        return fail(err, ST_USAGE, "there is no policy '%s'; there are those of: describe policies",
                    d->name);
    print_policy(to, p, d->json);
    fputs(d->json ? ", \"settings\": " : "\n", to);
    if (p->params != NULL)
        TRY(describe_settings(to, d, err));
    else
        fputs(d->json ? "[]\n" : "It has no settings.\n", to);
    fputs(d->json ? "}\n" : "", to);
    return ST_OK;
}

static enum status describe(const struct describe *d, struct error *err)
{
    static const char *const words[] = {"policies", "formats", "gpus", "settings", "workloads"};
    static void (*const prints[])(FILE * to, bool json) = {print_policies, print_formats,
                                                           print_gpus};
    int what = 0;
    while (what < 5 && strcmp(d->what, words[what]) != 0)
        what++;
    if (what == 5) {
        const char *near = nearest_word(d->what, words, 5);
        return fail(
            err, ST_USAGE,
            "describe '%s'? There are policies, formats, gpus, settings and workloads%s%s%s",
            d->what, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    struct output o;
    TRY(output_open(&o, "-", err));
    enum status status = ST_OK;
    if (what == 0 && d->name != NULL)
        status = describe_policy(o.file, d, err);
    else if (what == 3)
        status = describe_settings(o.file, d, err);
    else if (what == 4)
        status = describe_workloads(
            o.file, &(struct workload_question){d->catalog, d->name, d->gpu, d->json}, err);
    else
        prints[what](o.file, d->json);
    return output_close(&o, status, err);
}

int cmd_describe(int argc, char **argv)
{
    struct describe d = {.catalog = EMBEDDED_CATALOG, .gpu = "a100-40g"};
    struct error err = {""};
    enum status status = parse_command(&argp, argc, argv, &d, &err);
    if (status == ST_OK)
        status = describe(&d, &err);
    return report_error(status, &err);
}
