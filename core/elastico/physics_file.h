/* physics_file.h - parameters of the physics of sharing out of a JSON file, as colosim calib fit
 * writes them: "format": "colosim physics", version 1 (docs/calibration.md has every key).
 *
 * Read here is what a simulation needs: alpha, kappa, m, the measured jobs' weights and the line of
 * weights over step times. The rest of the file (standard errors, held-out errors, profiles) is for
 * people. */
#ifndef COLOSIM_PHYSICS_FILE_H
#define COLOSIM_PHYSICS_FILE_H

#include "core/base/arena.h"
#include "core/base/status.h"
#include "core/elastico/contention_sets.h"

#include <stdbool.h>

#define PHYSICS_FORMAT "colosim physics"
enum { PHYSICS_VERSION = 1 };

struct physics {
    struct set_numbers numbers; /* for contention_init; lives as long as the physics */
    double m;                   /* MPS overhead */
    struct arena arena;         /* owns it all */
};

/* Is the model file one of physics, or of the predictor (model_file.h)? ST_INPUT names a file that
 * is neither. */
enum status physics_is_file(const char *path, bool *is, struct error *err) MUST_USE;
/* ST_INPUT names the file and what is wrong in it; latents tell nothing of other jobs, so a file
 * with them is refused. The caller frees in any case. */
enum status physics_load(struct physics *p, const char *path, struct error *err) MUST_USE;
void physics_free(struct physics *p);

#endif
