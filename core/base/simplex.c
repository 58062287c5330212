#include "core/base/simplex.h"

#include <math.h>
#include <string.h>

/* Rows of a tableau: the constraints, then one for each objective. The columns are the variables,
 * the slacks, and the right-hand side twice: moved a little, for finding the way, and as it is, for
 * the answer. An objective's row holds reduced costs, positive where the variable would gain. */
struct tableau {
    int32_t n_rows, n_columns, n_costs;
    int32_t moved, exact, width; /* the two right-hand sides, and the number of columns */
    double *cell;                /* ((n_rows + n_costs) x width) */
    int32_t *basic;              /* (n_rows) the variable of each row */
};

static double *row_of(const struct tableau *t, int32_t row)
{
    return t->cell + (int64_t)row * t->width;
}

/* Right-hand sides are moved apart a little, each by its own amount, so that ties are rare and the
 * method does not walk in circles. */
static double nudge(int32_t row)
{
    double golden = row * 0.6180339887498949;
    return SIMPLEX_EPS * (1 + golden - floor(golden));
}

static bool build(struct tableau *t, const double *a, const double *b, const double *cost,
                  struct arena *scratch)
{
    t->cell =
        arena_alloc(scratch, (size_t)(t->n_rows + t->n_costs) * (size_t)t->width, sizeof *t->cell);
    t->basic = arena_alloc(scratch, (size_t)t->n_rows, sizeof *t->basic);
    if (t->cell == NULL || t->basic == NULL)
        return false;
    size_t n = (size_t)t->n_columns;
    for (int32_t i = 0; i < t->n_rows; i++) {
        memcpy(row_of(t, i), a + (size_t)i * n, n * sizeof *a);
        row_of(t, i)[t->n_columns + i] = 1;
        row_of(t, i)[t->moved] = b[i] + nudge(i);
        row_of(t, i)[t->exact] = b[i];
        t->basic[i] = t->n_columns + i;
    }
    for (int32_t k = 0; k < t->n_costs; k++)
        memcpy(row_of(t, t->n_rows + k), cost + (size_t)k * n, n * sizeof *cost);
    return true;
}

/* May this column come in for objective k? It must gain there and cost nothing to those before. */
static bool gains(const struct tableau *t, int32_t k, int32_t column)
{
    for (int32_t before = 0; before < k; before++)
        if (row_of(t, t->n_rows + before)[column] < -SIMPLEX_EPS)
            return false;
    return row_of(t, t->n_rows + k)[column] > SIMPLEX_EPS;
}

static int32_t entering(const struct tableau *t, int32_t k, bool lowest)
{
    const double *gain = row_of(t, t->n_rows + k);
    int32_t best = -1;
    for (int32_t j = 0; j < t->moved; j++) {
        if ((best >= 0 && gain[j] <= gain[best]) || !gains(t, k, j))
            continue;
        best = j;
        if (lowest)
            break;
    }
    return best;
}

/* The row that limits the column most; ties go to the lowest variable. -1: nothing does. */
static int32_t leaving(const struct tableau *t, int32_t column)
{
    int32_t best = -1;
    double least = INFINITY;
    for (int32_t i = 0; i < t->n_rows; i++) {
        const double *row = row_of(t, i);
        if (row[column] <= SIMPLEX_EPS)
            continue;
        double ratio = row[t->moved] / row[column];
        if (ratio < least || (ratio == least && t->basic[i] < t->basic[best])) {
            best = i;
            least = ratio;
        }
    }
    return best;
}

static void pivot(struct tableau *t, int32_t row, int32_t column)
{
    double *from = row_of(t, row);
    double scale = 1 / from[column];
    for (int32_t j = 0; j < t->width; j++)
        from[j] *= scale;
    from[column] = 1;
    for (int32_t i = 0; i < t->n_rows + t->n_costs; i++) {
        double *to = row_of(t, i), factor = to[column];
        if (i == row || factor == 0)
            continue;
        for (int32_t j = 0; j < t->width; j++)
            to[j] -= factor * from[j];
        to[column] = 0;
        if (i < t->n_rows && to[t->moved] < 0) /* a tie, rounded the wrong way */
            to[t->moved] = 0;
    }
    t->basic[row] = column;
}

static enum simplex_end climb(struct tableau *t, int32_t k, int32_t *n_steps)
{
    int32_t n_idle = 0;
    for (int32_t column; (column = entering(t, k, n_idle > t->n_rows)) >= 0;) {
        int32_t row = leaving(t, column);
        if (row < 0)
            return SIMPLEX_UNBOUNDED;
        if ((*n_steps)-- <= 0)
            return SIMPLEX_GAVE_UP;
        n_idle = row_of(t, row)[t->moved] > SIMPLEX_EPS ? 0 : n_idle + 1;
        pivot(t, row, column);
    }
    return SIMPLEX_OPTIMAL;
}

enum simplex_end simplex_max(int32_t n_rows, int32_t n_columns, const double *a, const double *b,
                             int32_t n_costs, const double *cost, double *x, struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    int32_t moved = n_columns + n_rows;
    struct tableau t = {n_rows, n_columns, n_costs, moved, moved + 1, moved + 2, NULL, NULL};
    enum simplex_end end = SIMPLEX_GAVE_UP;
    memset(x, 0, (size_t)n_columns * sizeof *x);
    if (build(&t, a, b, cost, scratch)) {
        int32_t n_steps = 50 * (n_rows + n_columns);
        end = SIMPLEX_OPTIMAL;
        for (int32_t k = 0; k < n_costs && end == SIMPLEX_OPTIMAL; k++)
            end = climb(&t, k, &n_steps);
        for (int32_t i = 0; i < n_rows && end == SIMPLEX_OPTIMAL; i++)
            if (t.basic[i] < n_columns)
                x[t.basic[i]] = fmax(row_of(&t, i)[t.exact], 0);
    }
    arena_reset(scratch, mark);
    return end;
}
