/* main - finds the command; everything else is in cmd_NAME.c. */
#include "sim/cmd/commands.h"

#include "core/elastico/dense.h"
#include "sim/run/ranks.h"

#include <argp.h>
#include <gsl/gsl_errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"calib", cmd_calib, "measurements into models: bench, pairs, train, score, ..."},
    {"capacity", cmd_capacity, "the smallest cluster that meets a target"},
    {"check", cmd_check, "a run against a baseline: exit 1 where a metric got worse"},
    {"compare", cmd_compare, "several policies on one trace; a table normalised to the first"},
    {"decide", cmd_decide, "a live cluster's state on stdin: what the policy would do now"},
    {"describe", cmd_describe, "policies, formats, GPUs, and every setting with its default"},
    {"diff", cmd_diff, "two runs, or groups of runs, side by side with 95 % intervals"},
    {"export", cmd_export, "a stored run as CSV, JSON or Chrome trace"},
    {"ls", cmd_ls, "the runs in a results database"},
    {"plot", cmd_plot, "figures by gnuplot: SVG, PNG or PDF"},
    {"report", cmd_report, "one HTML page: tables, figures, settings, jobs, Gantt"},
    {"reproduce", cmd_reproduce, "the ElastiCo paper's tables beside ours"},
    {"run", cmd_run, "one trace, one cluster, one policy, one seed"},
    {"show", cmd_show, "one stored run"},
    {"sweep", cmd_sweep, "every combination of some settings, with seeds; resumes"},
    {"trace", cmd_trace, "info, show, convert, synth, sample, characterize"},
    {"why", cmd_why, "what a job of a stored run waited for, in words"},
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *to)
{
    fprintf(to, "Usage: colosim COMMAND [OPTION...]\n"
                "Replays traces of GPU clusters against scheduling policies.\n\n");
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fprintf(to, "\ncolosim COMMAND --help says more; colosim --version which this is.\n"
                "Start with:  colosim run\n"
                "             colosim compare --policy fifo,sjf,easy-backfill --load 1.2\n");
}

int main(int argc, char **argv)
{
    argp_err_exit_status = 2;
    gsl_set_error_handler_off();
    dense_one_thread();
    signal(SIGPIPE, SIG_IGN); /* a closed pipe and a full disk are write errors, not signals */
    signal(SIGXFSZ, SIG_IGN);
    const char *name = argc > 1 ? argv[1] : "--help";
    if (strcmp(name, "--version") == 0) {
        printf("colosim %s\nMPI: %s\n", COLOSIM_VERSION, ranks_built() ? "yes" : "no");
        return 0;
    }
    for (int i = 0; i < N_COMMANDS; i++) {
        if (strcmp(commands[i].name, name) != 0)
            continue;
        char full[32];
        snprintf(full, sizeof full, "colosim %s", name);
        argv[1] = full; /* what argp calls the program in its texts */
        return commands[i].run(argc - 1, argv + 1);
    }
    bool asked = strcmp(name, "--help") == 0 || strcmp(name, "help") == 0;
    if (!asked)
        fprintf(stderr, "colosim: there is no command '%s'\n", name);
    print_help(asked && argc > 1 ? stdout : stderr);
    return asked && argc > 1 ? 0 : 2;
}
