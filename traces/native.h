/* native.h - the columns of the native trace: one table for reading and for writing. */
#ifndef COLOSIM_NATIVE_H
#define COLOSIM_NATIVE_H

#include "core/cluster/job.h"
#include "traces/columns.h"

struct native_row {
    struct job_row row; /* its name and kind stand below */
    struct field job;
    int kind; /* enum job_kind */
};

extern const struct column native_columns[];
/* What a row says whose optional fields are all empty. */
struct native_row native_row_empty(void);

#endif
