#include "sim/results/figures.h"

#include <stddef.h>
#include <string.h>

const struct figure *const figures[] = {
#define X(name_) &figure_##name_,
    FIGURES(X) NULL
#undef X
};

const struct figure *figure_find(const char *name)
{
    for (int i = 0; figures[i] != NULL; i++)
        if (strcmp(figures[i]->name, name) == 0)
            return figures[i];
    return NULL;
}
