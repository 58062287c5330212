#include "sim/cmd/commands.h"

#include "sim/cmd/options.h"
#include "sim/cmd/reading.h"
#include "sim/results/output.h"
#include "sim/results/plan_json.h"
#include "sim/results/quote.h"
#include "sim/run/decide.h"

#include <stdlib.h>
#include <string.h>

static const char decide_doc[] =
    "Reads a cluster's state as JSON on stdin and prints what the policy would do now.\v"
    "  colosim decide --policy elastico < state.json\n\n"
    "The state is {\"cluster\": \"8x8:a100-40g\", \"running\": [...], \"waiting\": [...]}; the "
    "plan\n"
    "says what to evict, reconfigure, resize and start, with the memory settings of each job's\n"
    "framework. docs/decide.md has all keys and an example. PyTorch's max_split_size_mb is no cap\n"
    "on memory and is not set.\n\n"
    "Exit codes: 0 ok, 2 usage or settings, 3 the state is refused (and nothing decided).";

static const char no_cap[] = "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb is no cap on memory: it "
                             "keeps large blocks from being "
                             "split; set_per_process_memory_fraction is PyTorch's cap";

static const struct argp_child decide_children[] = {
    {&options_argp, 0, NULL, 0}, {&policy_argp, 0, NULL, 0}, {0}};

static error_t pass_input(int key, char *arg, struct argp_state *state)
{
    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = state->child_inputs[1] = state->input;
    else if (key == ARGP_KEY_ARG)
        argp_error(state, "'%s': the state is read from stdin", arg);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

/* All of stdin; the caller frees the text. */
static enum status read_all(char **text, size_t *length, struct error *err)
{
    size_t capacity = 0, n;
    do {
        if (!ARRAY_GROW(*text, capacity, *length + 65536))
            return fail_memory(err);
        n = fread(*text + *length, 1, capacity - *length, stdin);
        *length += n;
    } while (n > 0);
    return ferror(stdin) ? fail(err, ST_INPUT, "stdin: %s", strerror(errno)) : ST_OK;
}

static void print(FILE *to, const struct state *s, const struct decision *d)
{
    const struct rst *rst = d->parts.models.bound ? &d->parts.models.rst : NULL;
    char text[32];
    fputs("{\"policy\": ", to);
    quote_json(to, d->policy->name);
    fprintf(to, ",\n \"now_s\": %s,\n ", format_real(s->now_s, text));
    plan_json(to, &d->plan, rst, 0, s->now_s);
    if (d->lore != NULL)
        profiles_json(to, d->lore);
    fputs(",\n ", to);
    memory_json(to, &d->memory, &s->trace.jobs, s->now_s);
    fputs(",\n \"notes\": [", to);
    if (plan_trains(&d->plan, rst))
        quote_json(to, no_cap);
    fputs("]}\n", to);
}

static enum status answer(const struct options *o, struct run_request *q, struct state *s,
                          struct decision *d, struct error *err)
{
    struct output out = {0};
    char *text = NULL;
    size_t length = 0;
    TRY(options_resolve(o, q, err));
    if (q->run.trace != NULL || q->run.cluster != NULL || o->db != NULL)
        return fail(err, ST_USAGE,
                    "decide takes jobs and cluster from its stdin and stores "
                    "nothing: want no --trace, --cluster or --db");
    enum status status = read_all(&text, &length, err);
    if (status == ST_OK)
        status = state_parse(text, length, "stdin", s, err);
    free(text);
    if (status == ST_OK && s->profiled.n_columns > 0)
        status = run_set(q, "elastico.profiling.known=store", err);
    if (status == ST_OK)
        status = decide(q, s, d, err);
    for (size_t i = 0; i < s->trace.report.n_notes && !o->quiet; i++)
        fprintf(stderr, "colosim: %s\n", s->trace.report.note[i]);
    TRY(status);
    status = output_open(&out, "-", err);
    if (status == ST_OK)
        print(out.file, s, d);
    return output_close(&out, status, err);
}

int cmd_decide(int argc, char **argv)
{
    static const struct argp argp = {
        .parser = pass_input, .doc = decide_doc, .children = decide_children};
    struct options options = {0};
    struct run_request request = {0};
    struct state state = {0};
    struct decision decision = {0};
    struct error err = {{0}};
    enum status status = parse_command(&argp, argc, argv, &options, &err);
    if (status == ST_OK)
        status = run_request_init(&request, &err);
    if (status == ST_OK)
        status = answer(&options, &request, &state, &decision, &err);
    decision_free(&decision);
    state_free(&state);
    run_request_free(&request);
    options_free(&options);
    return report_error(status, &err);
}
