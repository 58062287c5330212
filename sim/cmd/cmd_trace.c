/* colosim trace: finds the command; the rest is in trace_NAME.c. */
#include "sim/cmd/commands.h"
#include "sim/cmd/trace_commands.h"

#include "core/base/param.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"characterize", trace_characterize,
     "what the ElastiCo paper says of PAI and GenTD26, beside the files"},
    {"convert", trace_convert, "any format into the native one"},
    {"info", trace_info, "what a trace holds: rows kept and dropped, sizes, durations, hours"},
    {"sample", trace_sample, "some of its jobs: a seeded sample, or a window of time"},
    {"show", trace_show, "its first jobs as a table"},
    {"synth", trace_synth, "a made-up trace: arrivals, durations, GPU mix, offered load"},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *to)
{
    fprintf(to, "Usage: colosim trace COMMAND [OPTION...]\n"
                "Looks into traces, and makes them.\n\n");
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(to, "  %-12s %s\n", commands[i].name, commands[i].summary);
    fprintf(to, "\ncolosim trace COMMAND --help says more. Formats: colosim describe formats\n"
                "Start with:  colosim trace info FILE\n"
                "             colosim trace synth --seed 3 -o t.csv\n");
}

static int unknown(const char *name)
{
    const char *names[N_COMMANDS];
    for (int i = 0; i < N_COMMANDS; i++)
        names[i] = commands[i].name;
    const char *near = nearest_word(name, names, N_COMMANDS);
    fprintf(stderr, "colosim: there is no command 'trace %s'%s%s%s\n", name,
            near != NULL ? ": did you mean '" : "", near != NULL ? near : "",
            near != NULL ? "'?" : "");
    print_help(stderr);
    return 2;
}

int cmd_trace(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    bool asked = strcmp(name, "--help") == 0 || strcmp(name, "help") == 0;
    for (int i = 0; i < N_COMMANDS; i++) {
        if (strcmp(commands[i].name, name) != 0)
            continue;
        char full[40];
        snprintf(full, sizeof full, "colosim trace %s", name);
        argv[1] = full; /* what argp calls the program in its texts */
        return commands[i].run(argc - 1, argv + 1);
    }
    if (argc > 1 && !asked)
        return unknown(name);
    print_help(asked ? stdout : stderr);
    return asked ? 0 : 2;
}
