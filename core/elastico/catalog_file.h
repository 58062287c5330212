/* catalog_file.h - catalogs of workloads as JSON: the embedded ones by name, others by their path.
 *
 * The format is in docs/workloads.md; the embedded catalogs are in core/elastico/catalogs, and the
 * build makes them part of the program (scripts/embed_catalogs). */
#ifndef COLOSIM_CATALOG_FILE_H
#define COLOSIM_CATALOG_FILE_H

#include "core/base/status.h"
#include "core/elastico/workload.h"

#include <stddef.h>

#define EMBEDDED_CATALOG "table2"
struct catalog_text {
    const char *name;
    const unsigned char *text;
    size_t length;
};
extern const struct catalog_text catalog_texts[]; /* ends with a NULL name */

/* An embedded catalog by its name, else a file. ST_INPUT names the file and the place in it. The
 * caller frees in any case. */
enum status catalog_read(const char *what, struct workloads *out, struct error *err) MUST_USE;

#endif
