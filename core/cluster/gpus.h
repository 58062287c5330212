/* gpus.h - the GPU types that are known by name.
 *
 * A type outside this table is legal as a name: nothing is known of it then. Names are compared
 * without regard to the case of A-Z, as traces write T4 and people t4. */
#ifndef COLOSIM_GPUS_H
#define COLOSIM_GPUS_H

#include <stdint.h>

struct gpu_type {
    const char *name;
    const char *model;  /* in words */
    int32_t mem_mib;    /* of one card; 0: not known */
    const char *source; /* of the memory; NULL where it is not known */
};
/* Sorted by name without regard to case; ends with a NULL name. */
extern const struct gpu_type gpu_table[];

/* NULL when there is none of that name. */
const struct gpu_type *gpu_type_find(const char *name);
/* Memory of one card of that name in MiB; 0 where the name or its memory is not known. */
int32_t gpu_type_mem_mib(const char *name);

#endif
