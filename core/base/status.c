#include "core/base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum status fail(struct error *err, enum status status, const char *format, ...)
{
    if (err == NULL)
        return status;
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return status;
}

void fail_in(struct error *err, const char *format, ...)
{
    if (err == NULL)
        return;
    char inner[sizeof err->text];
    memcpy(inner, err->text, sizeof inner);
    va_list args;
    va_start(args, format);
    int n = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof err->text)
        snprintf(err->text + n, sizeof err->text - (size_t)n, ": %s", inner);
}

enum status fail_memory(struct error *err) { return fail(err, ST_OUTPUT, "out of memory"); }
