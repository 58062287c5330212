/* table_file.h - a CSV file, plain or gzip, with a header, as a table of text. */
#ifndef COLOSIM_TABLE_FILE_H
#define COLOSIM_TABLE_FILE_H

#include "core/base/status.h"
#include "core/base/table.h"

/* ST_INPUT names file and line where a row has another number of fields than the header. The caller
 * frees the table in any case. */
enum status table_read(const char *path, struct table *out, struct error *err) MUST_USE;

#endif
