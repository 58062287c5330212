/* colosim calib: finds the command; the rest is in calib_NAME.c. */
#include "sim/cmd/calib_commands.h"
#include "sim/cmd/commands.h"

#include "core/base/param.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"bench", calib_bench,
     "our probes of a card's resources, measured alone and in pairs under MPS"},
    {"fit", calib_fit,
     "measured pairs, probes and profiles into the physics of sharing, with errors"},
    {"pairs", calib_pairs, "any commands that print a rate, measured alone and in pairs under MPS"},
    {"score", calib_score, "held-out errors of the interference predictors on measured pairs"},
    {"synth", calib_synth, "made-up co-location experiments, measured from the physics"},
    {"times", calib_times, "iteration times recorded elsewhere into times and speeds"},
    {"train", calib_train, "measured pairs into a predictor's model file"},
    {"validate", calib_validate, "a day that a testbed ran, beside its replay"},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *to)
{
    fprintf(to, "Usage: colosim calib COMMAND [OPTION...]\n"
                "From measurements to models.\n\n");
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fprintf(to, "\ncolosim calib COMMAND --help says more.\n"
                "Start with:  colosim calib synth -o syn.csv\n"
                "             colosim calib score --pairs syn.csv\n");
}

static int unknown(const char *name)
{
    const char *names[N_COMMANDS];
    for (int i = 0; i < N_COMMANDS; i++)
        names[i] = commands[i].name;
    const char *near = nearest_word(name, names, N_COMMANDS);
    fprintf(stderr, "colosim: there is no command 'calib %s'%s%s%s\n", name,
            near != NULL ? ": did you mean '" : "", near != NULL ? near : "",
            near != NULL ? "'?" : "");
    print_help(stderr);
    return 2;
}

int cmd_calib(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    bool asked = strcmp(name, "--help") == 0 || strcmp(name, "help") == 0;
    for (int i = 0; i < N_COMMANDS; i++) {
        if (strcmp(commands[i].name, name) != 0)
            continue;
        char full[40];
        snprintf(full, sizeof full, "colosim calib %s", name);
        argv[1] = full; /* what argp calls the program in its texts */
        return commands[i].run(argc - 1, argv + 1);
    }
    if (argc > 1 && !asked)
        return unknown(name);
    print_help(asked ? stdout : stderr);
    return asked ? 0 : 2;
}
