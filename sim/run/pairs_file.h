/* pairs_file.h - measured speeds of pairs from a table: model_a,model_b,speed_a,speed_b (also
 * workload_a, workload_b; or job_a, job_b, retain_a, retain_b), header required, columns in any
 * order, plain or gzip. Each row gives both directions. */
#ifndef COLOSIM_PAIRS_FILE_H
#define COLOSIM_PAIRS_FILE_H

#include "core/cluster/pairs.h"
#include "traces/csv.h"

struct pair_row {
    struct field a, b; /* borrowed until the next row */
    double speed_a, speed_b;
};
/* take is called for every row in order; its failure ends the reading, with the line in front. */
enum status pairs_each(const char *path,
                       enum status (*take)(void *to, const struct pair_row *row, struct error *err),
                       void *to, struct error *err) MUST_USE;

enum status pairs_read(const char *path, struct pairs *out, struct error *err) MUST_USE;

#endif
