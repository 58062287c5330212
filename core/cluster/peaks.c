#include "core/cluster/peaks.h"

#include <stdlib.h>

bool peaks_init(struct peaks *p, int32_t n)
{
    *p = (struct peaks){.n = n, .width = 1};
    while (p->width < n)
        p->width *= 2;
    p->max = malloc(2 * (size_t)p->width * sizeof *p->max);
    if (p->max == NULL)
        return false;
    for (int32_t i = 0; i < 2 * p->width; i++)
        p->max[i] = INT32_MIN;
    return true;
}

void peaks_free(struct peaks *p)
{
    free(p->max);
    *p = (struct peaks){0};
}

void peaks_set(struct peaks *p, int32_t i, int32_t value)
{
    int32_t at = p->width + i;
    p->max[at] = value;
    for (at /= 2; at >= 1; at /= 2) {
        int32_t left = p->max[2 * at], right = p->max[2 * at + 1];
        int32_t most = left > right ? left : right;
        if (p->max[at] == most)
            break;
        p->max[at] = most;
    }
}

int32_t peaks_first(const struct peaks *p, int32_t from, int32_t value)
{
    if (from >= p->n)
        return -1;
    int32_t at = p->width + from;
    while (p->max[at] < value) { /* up and to the right until a stretch holds one */
        while (at % 2 == 1)
            at /= 2;
        if (at == 0) /* from the right edge there is no further stretch */
            return -1;
        at++;
    }
    while (at < p->width)
        at = p->max[2 * at] >= value ? 2 * at : 2 * at + 1;
    return at - p->width;
}
