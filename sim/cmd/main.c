/* main - finds the command; everything else is in cmd_NAME.c. */
#include "sim/cmd/commands.h"
#include "sim/cmd/verbs.h"

#include "core/elastico/dense.h"
#include "sim/run/ranks.h"

#include <argp.h>
#include <gsl/gsl_errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct verb commands[] = {
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
static const struct verbs verbs = {
    .program = "colosim",
    .about = "Replays traces of GPU clusters against scheduling policies.",
    .end = "; colosim --version which this is.\nStart with:  colosim run\n"
           "             colosim compare --policy volcano,lucid,elastico --load 2\n",
    .verb = commands,
    .n = sizeof commands / sizeof *commands,
};

int main(int argc, char **argv)
{
    argp_err_exit_status = 2;
    gsl_set_error_handler_off();
    dense_one_thread();
    signal(SIGPIPE, SIG_IGN); /* a closed pipe and a full disk are write errors, not signals */
    signal(SIGXFSZ, SIG_IGN);
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        printf("colosim %s\nMPI: %s\n", COLOSIM_VERSION, ranks_built() ? "yes" : "no");
        return 0;
    }
    return verbs_run(&verbs, argc, argv);
}
