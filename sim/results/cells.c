#include "sim/results/cells.h"

#include "core/base/units.h"
#include "sim/results/quote.h"

#include <math.h>
#include <string.h>

void cell_time(sqlite3_context *out, int64_t us)
{
    if (us != TIME_NEVER)
        sqlite3_result_int64(out, us);
}

void cell_real(sqlite3_context *out, double value)
{
    if (isfinite(value))
        sqlite3_result_double(out, value);
}

void cell_bytes(sqlite3_context *out, const char *bytes, size_t n)
{
    if (utf8_valid(bytes, n) && memchr(bytes, '\0', n) == NULL)
        sqlite3_result_text64(out, bytes, n, SQLITE_STATIC, SQLITE_UTF8);
    else
        sqlite3_result_blob64(out, bytes, n, SQLITE_STATIC);
}

void cell_text(sqlite3_context *out, const char *text)
{
    if (text != NULL)
        cell_bytes(out, text, strlen(text));
}

void cell_name(sqlite3_context *out, const struct names *names, int32_t id)
{
    if (id >= 0)
        cell_bytes(out, names_text(names, id), names_length(names, id));
}

void cell_copy(sqlite3_context *out, const char *text)
{
    if (text == NULL)
        return;
    if (utf8_valid(text, strlen(text)))
        sqlite3_result_text(out, text, -1, SQLITE_TRANSIENT);
    else
        sqlite3_result_blob64(out, text, strlen(text), SQLITE_TRANSIENT);
}
