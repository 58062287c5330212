/* verbs.h - a program of several commands: finds the one that is asked for, or says what there is.
 */
#ifndef COLOSIM_VERBS_H
#define COLOSIM_VERBS_H

struct verb {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary; /* one line */
};
struct verbs {
    const char *program;     /* "colosim trace" */
    const char *about, *end; /* lines of the help before and after the commands */
    const struct verb *verb; /* (n) sorted by name */
    int n;
};
enum { VERBS_MAX = 64 };

/* Runs argv[1] with the arguments after it, under its full name; without one, or with one that
 * there is not, prints the help on stderr and returns 2. --help and help print it on stdout. */
int verbs_run(const struct verbs *v, int argc, char **argv);

#endif
