/* colosim calib: finds the command; the rest is in calib_NAME.c. */
#include "sim/cmd/calib_commands.h"
#include "sim/cmd/commands.h"
#include "sim/cmd/verbs.h"

static const struct verb commands[] = {
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
static const struct verbs verbs = {
    .program = "colosim calib",
    .about = "From measurements to models.",
    .end = ".\nStart with:  colosim calib synth -o syn.csv\n"
           "             colosim calib score --pairs syn.csv\n",
    .verb = commands,
    .n = sizeof commands / sizeof *commands,
};

int cmd_calib(int argc, char **argv) { return verbs_run(&verbs, argc, argv); }
