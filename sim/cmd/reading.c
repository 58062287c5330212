#include "sim/cmd/reading.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_CONFIG = 256, KEY_QUIET, KEY_SET, KEY_TRACE, KEY_COLUMNS, KEY_FORMAT, KEY_STRICT };

// clang-format off
static const struct argp_option reading_options[] = {
    {NULL, 0, NULL, 0, "Which trace, and how to read it:", 8},
    {"trace", KEY_TRACE, "FILE", 0, "file or folder, plain or .gz, like a FILE without the option; repeat for several, of different formats too; without one, the embedded 24-hour trace", 8},
    {"format", KEY_FORMAT, "NAME", 0, "native, csv, pai, ... (colosim describe formats); guessed where the header allows it", 8},
    {"columns", KEY_COLUMNS, "LIST", 0, "for csv: our name=the file's, as in job=job_name,submit_s=start_s,duration_s=run_s,gpu=gpus", 8},
    {"strict", KEY_STRICT, NULL, 0, "the first bad row is an error", 8},
    {"set", KEY_SET, "KEY=VALUE", 0, "any setting, such as trace.duration=minus_wait (colosim describe settings)", 8},
    {"config", KEY_CONFIG, "FILE", 0, "settings as JSON, the same keys", 8},
    {"quiet", KEY_QUIET, NULL, 0, "no import report on stderr", 8},
    {0},
};
// clang-format on

error_t reading_add_trace(struct reading *r, const char *path)
{
    struct options *o = &r->options;
    if (!ARRAY_GROW(o->trace, o->trace_capacity, o->n_traces + 1))
        return ENOMEM;
    o->trace[o->n_traces++] = path;
    return 0;
}

error_t reading_add_setting(struct reading *r, const char *key_equals, const char *value)
{
    struct options *o = &r->options;
    size_t size = strlen(key_equals) + strlen(value) + 1;
    char *text = arena_alloc(&o->arena, size, 1);
    if (text == NULL || !ARRAY_GROW(o->pair, o->pair_capacity, o->n_pairs + 1))
        return ENOMEM;
    snprintf(text, size, "%s%s", key_equals, value);
    o->pair[o->n_pairs++] = text;
    return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct reading *r = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
    case KEY_TRACE: return reading_add_trace(r, arg);
    case KEY_COLUMNS: return reading_add_setting(r, "columns=", arg);
    case KEY_FORMAT: return reading_add_setting(r, "format=", arg);
    case KEY_STRICT: return reading_add_setting(r, "strict=", "true");
    case KEY_SET: return reading_add_setting(r, "", arg);
    case KEY_CONFIG: r->options.config = arg; return 0;
    case KEY_QUIET: r->options.quiet = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp reading_argp = {.options = reading_options, .parser = parse_option};

enum status reading_open(struct reading *r, struct trace *out, struct error *err)
{
    *out = (struct trace){0};
    TRY(run_request_init(&r->request, err));
    TRY(options_resolve(&r->options, &r->request, err));
    enum status status = run_read_trace(&r->request, NULL, out, err);
    if (!r->options.quiet && r->request.run.trace != NULL && out->report.n_rows > 0)
        import_report_print(&out->report, stderr);
    return status;
}

void reading_free(struct reading *r)
{
    options_free(&r->options);
    run_request_free(&r->request);
}

enum status parse_command(const struct argp *argp, int argc, char **argv, void *input,
                          struct error *err)
{
    error_t error = argp_parse(argp, argc, argv, 0, NULL, input);
    if (error == ENOMEM)
        return fail_memory(err);
    return error == 0 ? ST_OK : fail(err, ST_USAGE, "%s: %s", argv[0], strerror(error));
}

int64_t option_whole(const struct argp_state *state, const char *name, const char *text,
                     int64_t min, int64_t max)
{
    int64_t value = 0;
    double real;
    if (!parse_scaled(text, strlen(text), 0, &value) || !parse_real(text, strlen(text), &real) ||
        (double)value != real || value < min || value > max)
        argp_error(state, "%s %s: want a whole number, %lld to %lld", name, text, (long long)min,
                   (long long)max);
    return value;
}

double option_real(const struct argp_state *state, const char *name, const char *text, double min,
                   double max)
{
    double value = 0;
    if (!parse_real(text, strlen(text), &value) || value < min || value > max)
        argp_error(state, "%s %s: want a number, %g to %g", name, text, min, max);
    return value;
}
