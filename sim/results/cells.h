/* cells.h - one value of ours as one value of a database row.
 *
 * What never happened or cannot be told stays NULL. Names are opaque bytes: UTF-8 without NULs is
 * TEXT, anything else BLOB. Texts are not copied, except by cell_copy. */
#ifndef COLOSIM_CELLS_H
#define COLOSIM_CELLS_H

#include "core/base/names.h"

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

void cell_time(sqlite3_context *out, int64_t us);   /* NULL for TIME_NEVER */
void cell_real(sqlite3_context *out, double value); /* NULL unless finite */
void cell_bytes(sqlite3_context *out, const char *bytes, size_t n);
void cell_text(sqlite3_context *out, const char *text);                      /* NULL for NULL */
void cell_copy(sqlite3_context *out, const char *text);                      /* likewise */
void cell_name(sqlite3_context *out, const struct names *names, int32_t id); /* NULL for -1 */

#endif
