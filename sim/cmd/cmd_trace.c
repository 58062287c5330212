/* colosim trace: finds the command; the rest is in trace_NAME.c. */
#include "sim/cmd/commands.h"
#include "sim/cmd/trace_commands.h"
#include "sim/cmd/verbs.h"

static const struct verb commands[] = {
    {"characterize", trace_characterize,
     "what the ElastiCo paper says of PAI and GenTD26, beside the files"},
    {"convert", trace_convert, "any format into the native one"},
    {"info", trace_info, "what a trace holds: rows kept and dropped, sizes, durations, hours"},
    {"sample", trace_sample, "some of its jobs: a seeded sample, or a window of time"},
    {"show", trace_show, "its first jobs as a table"},
    {"synth", trace_synth, "a made-up trace: arrivals, durations, GPU mix, offered load"},
};
static const struct verbs verbs = {
    .program = "colosim trace",
    .about = "Looks into traces, and makes them.",
    .end = ". Formats: colosim describe formats\nStart with:  colosim trace info FILE\n"
           "             colosim trace synth --seed 3 -o t.csv\n",
    .verb = commands,
    .n = sizeof commands / sizeof *commands,
};

int cmd_trace(int argc, char **argv) { return verbs_run(&verbs, argc, argv); }
