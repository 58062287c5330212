/* shared.h - reference data that is no part of the project: the folder that COLOSIM_SHARED names,
 * else "shared" beside the source tree. Tests that need it are skipped where it is absent. */
#ifndef COLOSIM_TESTS_SHARED_H
#define COLOSIM_TESTS_SHARED_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SHARED_PATH_MAX = 1024 };

/* False when there is no such file. */
static inline bool shared_path(char path[SHARED_PATH_MAX], const char *file)
{
    const char *folder = getenv("COLOSIM_SHARED");
    int n = snprintf(path, SHARED_PATH_MAX, "%s/%s",
                     folder != NULL ? folder : SOURCE_ROOT "/../shared", file);
    return n < SHARED_PATH_MAX && access(path, R_OK) == 0;
}

#endif
