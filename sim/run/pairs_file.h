/* pairs_file.h - measured speeds of pairs from a table: model_a,model_b,speed_a,speed_b (also
 * workload_a,workload_b), header required, columns in any order, plain or gzip. Each row gives both
 * directions. */
#ifndef COLOSIM_PAIRS_FILE_H
#define COLOSIM_PAIRS_FILE_H

#include "core/cluster/pairs.h"

enum status pairs_read(const char *path, struct pairs *out, struct error *err) MUST_USE;

#endif
