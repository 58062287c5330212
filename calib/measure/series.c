#include "calib/measure/series.h"

#include "core/base/arena.h"

#include <math.h>
#include <stdlib.h>

bool series_add(struct series *s, double value)
{
    if (isnan(value))
        return true;
    if (!ARRAY_GROW(s->value, s->capacity, s->n + 1))
        return false;
    s->value[s->n++] = value;
    return true;
}

void series_free(struct series *s)
{
    free(s->value);
    *s = (struct series){0};
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sort(struct series *s)
{
    if (s->n > 1)
        qsort(s->value, (size_t)s->n, sizeof *s->value, by_value);
}

double series_trimmed_mean(struct series *s)
{
    int32_t cut = s->n / 10;
    double sum = 0;
    sort(s);
    for (int32_t i = cut; i < s->n - cut; i++)
        sum += s->value[i];
    return s->n > 0 ? sum / (s->n - 2 * cut) : NAN;
}

double series_trimmed_cv(struct series *s)
{
    int32_t cut = s->n / 10, n = s->n - 2 * cut;
    double mean = series_trimmed_mean(s), sum = 0;
    for (int32_t i = cut; i < s->n - cut; i++)
        sum += (s->value[i] - mean) * (s->value[i] - mean);
    return n > 1 ? sqrt(sum / (n - 1)) / mean : n == 1 ? 0 : NAN;
}

double series_median(struct series *s)
{
    sort(s);
    return s->n > 0 ? (s->value[(s->n - 1) / 2] + s->value[s->n / 2]) / 2 : NAN;
}
