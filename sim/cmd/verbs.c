#include "sim/cmd/verbs.h"

#include "core/base/param.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void print_help(const struct verbs *v, FILE *to)
{
    int width = 10;
    for (int i = 0; i < v->n; i++)
        width = (int)strlen(v->verb[i].name) > width ? (int)strlen(v->verb[i].name) : width;
    fprintf(to, "Usage: %s COMMAND [OPTION...]\n%s\n\n", v->program, v->about);
    for (int i = 0; i < v->n; i++)
        fprintf(to, "  %-*s %s\n", width, v->verb[i].name, v->verb[i].summary);
    fprintf(to, "\n%s COMMAND --help says more%s", v->program, v->end);
}

static void say_unknown(const struct verbs *v, const char *name)
{
    const char *names[VERBS_MAX], *inside = strchr(v->program, ' ');
    assert(v->n <= VERBS_MAX);
    for (int i = 0; i < v->n; i++)
        names[i] = v->verb[i].name;
    const char *near = nearest_word(name, names, (size_t)v->n);
    fprintf(stderr, "colosim: there is no command '%s%s%s'%s%s%s\n",
            inside != NULL ? inside + 1 : "", inside != NULL ? " " : "", name,
            near != NULL ? ": did you mean '" : "", near != NULL ? near : "",
            near != NULL ? "'?" : "");
}

int verbs_run(const struct verbs *v, int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    bool asked = strcmp(name, "--help") == 0 || strcmp(name, "help") == 0;
    for (int i = 0; i < v->n; i++) {
        if (strcmp(v->verb[i].name, name) != 0)
            continue;
        char full[64];
        snprintf(full, sizeof full, "%s %s", v->program, name);
        argv[1] = full; /* what argp calls the program in its texts */
        return v->verb[i].run(argc - 1, argv + 1);
    }
    if (argc > 1 && !asked)
        say_unknown(v, name);
    print_help(v, asked ? stdout : stderr);
    return asked ? 0 : 2;
}
