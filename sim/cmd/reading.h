/* reading.h - the options by which the trace commands are told which trace to read, and how.
 *
 * The same words as for a run, and the settings of a run's --config and --set are accepted too, of
 * which only those that bear on reading have an effect. */
#ifndef COLOSIM_READING_H
#define COLOSIM_READING_H

#include "sim/cmd/options.h"

/* All-zero before argp_parse. */
struct reading {
    struct options options;
    struct run_request request;
};

/* The argp child for [FILE...], --trace … --quiet; its input is a struct reading. */
extern const struct argp reading_argp;

/* What --trace FILE and --KEY VALUE ("KEY=" is given with its sign) do; for commands that name
 * them otherwise. ENOMEM or 0, as argp wants it. */
error_t reading_add_trace(struct reading *r, const char *path);
error_t reading_add_setting(struct reading *r, const char *key_equals, const char *value);

/* Resolves the options and reads the trace; the import report goes to stderr unless quiet. */
enum status reading_open(struct reading *r, struct trace *out, struct error *err) MUST_USE;
void reading_free(struct reading *r);

/* argp_parse for a whole command. Wrong usage ends the program with exit code 2, --help with 0. */
enum status parse_command(const struct argp *argp, int argc, char **argv, void *input,
                          struct error *err) MUST_USE;
/* Numbers in options; wrong ones end the program as argp_error does. */
int64_t option_whole(const struct argp_state *state, const char *name, const char *text,
                     int64_t min, int64_t max);
double option_real(const struct argp_state *state, const char *name, const char *text, double min,
                   double max);

#endif
