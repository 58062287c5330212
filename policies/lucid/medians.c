#include "policies/lucid/medians.h"

#include <assert.h>

bool medians_init(struct medians *m, const int32_t *group, int32_t n, int32_t n_groups,
                  struct arena *arena)
{
    m->begin = arena_alloc(arena, (size_t)n_groups + 1, sizeof *m->begin);
    m->n_low = arena_alloc(arena, (size_t)n_groups, sizeof *m->n_low);
    m->n_high = arena_alloc(arena, (size_t)n_groups, sizeof *m->n_high);
    m->value = arena_alloc(arena, (size_t)n, sizeof *m->value);
    if (m->begin == NULL || m->n_low == NULL || m->n_high == NULL || m->value == NULL)
        return false;
    for (int32_t i = 0; i < n; i++)
        m->begin[group[i] + 1]++;
    for (int32_t g = 0; g < n_groups; g++)
        m->begin[g + 1] += m->begin[g];
    return true;
}

/* A heap at first, then step by step; sign +1 the largest on top, -1 the smallest. */
struct heap {
    int64_t *first;
    int32_t step;
    int sign;
};

static int64_t *at(const struct heap *h, int32_t i) { return h->first + (int64_t)i * h->step; }

static bool above(const struct heap *h, int32_t a, int32_t b)
{
    return h->sign > 0 ? *at(h, a) > *at(h, b) : *at(h, a) < *at(h, b);
}

static void swap(const struct heap *h, int32_t a, int32_t b)
{
    int64_t value = *at(h, a);
    *at(h, a) = *at(h, b);
    *at(h, b) = value;
}

static void push(const struct heap *h, int32_t *n, int64_t value)
{
    int32_t i = (*n)++;
    *at(h, i) = value;
    for (; i > 0 && above(h, i, (i - 1) / 2); i = (i - 1) / 2)
        swap(h, i, (i - 1) / 2);
}

static int64_t pop(const struct heap *h, int32_t *n)
{
    int64_t top = *at(h, 0);
    *at(h, 0) = *at(h, --*n);
    for (int32_t i = 0, kid; (kid = 2 * i + 1) < *n; i = kid) {
        if (kid + 1 < *n && above(h, kid + 1, kid))
            kid++;
        if (!above(h, kid, i))
            break;
        swap(h, i, kid);
    }
    return top;
}

static struct heap low_of(const struct medians *m, int32_t group)
{
    return (struct heap){m->value + m->begin[group], 1, 1};
}

static struct heap high_of(const struct medians *m, int32_t group)
{
    return (struct heap){m->value + m->begin[group + 1] - 1, -1, -1};
}

/* The lower half has as many as the upper one, or one more. Values pass from one heap to the other
 * through a variable: both ends of the stretch may be one apart. */
void medians_add(struct medians *m, int32_t group, int64_t value)
{
    struct heap low = low_of(m, group), high = high_of(m, group);
    int32_t *n_low = &m->n_low[group], *n_high = &m->n_high[group];
    assert(*n_low + *n_high < m->begin[group + 1] - m->begin[group]);
    if (*n_low > *n_high) {
        if (value < *at(&low, 0)) {
            int64_t top = pop(&low, n_low);
            push(&low, n_low, value);
            value = top;
        }
        push(&high, n_high, value);
    } else {
        if (*n_high > 0 && value > *at(&high, 0)) {
            int64_t top = pop(&high, n_high);
            push(&high, n_high, value);
            value = top;
        }
        push(&low, n_low, value);
    }
}

double medians_of(const struct medians *m, int32_t group)
{
    struct heap low = low_of(m, group), high = high_of(m, group);
    double middle = (double)*at(&low, 0);
    return m->n_low[group] > m->n_high[group] ? middle : (middle + (double)*at(&high, 0)) / 2;
}
