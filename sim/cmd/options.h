/* options.h - the options every command that runs something takes.
 *
 * Long options and --config keys are the same words. Order: defaults, --config, then the command
 * line from left to right. */
#ifndef COLOSIM_OPTIONS_H
#define COLOSIM_OPTIONS_H

#include "sim/run/run.h"

#include <argp.h>

/* What was asked on the command line; all-zero before argp_parse. Texts are argv's own. */
struct options {
    const char *config;
    const char **pair; /* (n_pairs) "key=value" from --set and the long options, in order */
    size_t n_pairs, pair_capacity;
    const char **trace; /* (n_traces) --trace, in order */
    size_t n_traces, trace_capacity;
    const char *db;
    bool json, quiet;
    int n_threads;
    struct arena arena; /* owns the pairs' texts */
};

/* The argp child for --trace … --quiet; its input is a struct options. */
extern const struct argp options_argp;
/* The same for --policy, where it names one. */
extern const struct argp policy_argp;

/* Defaults, --config, options and --set into an initialised request. */
enum status options_resolve(const struct options *o, struct run_request *q,
                            struct error *err) MUST_USE;
void options_free(struct options *o);

/* Prints "colosim: TEXT" on stderr and returns the exit code. */
int report_error(enum status status, const struct error *err);

#endif
