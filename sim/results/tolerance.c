#include "sim/results/tolerance.h"

#include "core/base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Takes a prefix off the text. */
static bool skip(const char **text, size_t *n, const char *prefix)
{
    size_t length = strlen(prefix);
    if (*n < length || memcmp(*text, prefix, length) != 0)
        return false;
    *text += length;
    *n -= length;
    return true;
}

bool tolerance_parse(const char *text, size_t n, struct tolerance *out)
{
    struct tolerance t = {.set = true};
    t.two_sided = skip(&text, &n, "\xc2\xb1") || skip(&text, &n, "+-") || skip(&text, &n, "+/-");
    t.percent = n > 0 && text[n - 1] == '%';
    if (!parse_real(text, n - t.percent, &t.amount) || t.amount < 0)
        return false;
    *out = t;
    return true;
}

const char *tolerance_text(const struct tolerance *t, char buffer[48])
{
    char amount[32];
    buffer[0] = '\0';
    if (t->set)
        snprintf(buffer, 48, "%s%s%s", t->two_sided ? "\xc2\xb1" : "",
                 format_real(t->amount, amount), t->percent ? "%" : "");
    return buffer;
}

bool tolerance_exceeded(const struct tolerance *t, int better, double base, double now)
{
    double change = now - base;
    double worse = t->two_sided || better == 0 ? fabs(change) : better < 0 ? change : -change;
    double limit = t->percent ? t->amount / 100 * fabs(base) : t->amount;
    return worse > limit * (1 + 1e-9);
}
