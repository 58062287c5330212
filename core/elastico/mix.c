#include "core/elastico/mix.h"

#include <math.h>
#include <string.h>

/* The programme: parts of choices and units of excess are its columns, then a slack a row; its rows
 * are the resources, then the sum of the parts; the last row holds reduced gains. */
enum {
    ROWS = CHOICE_RES_MAX + 1,
    COLUMNS = MIX_CHOICES + CHOICE_RES_MAX + ROWS + 1,
    STEPS = 60,
    STEPS_BEST = 30 /* by the largest gain; then the lowest column, which cannot run in circles */
};
#define TINY      1e-12 /* right-hand sides of the resources, against ties */
#define PIVOT     1e-11 /* less is none */
#define PART      1e-9  /* less is none */
#define GAIN_FRAC 1e-10 /* of the gain of a whole part; less is none */

struct tableau {
    int32_t n_rows, n_columns; /* without the row of gains, without the right-hand side */
    double x[ROWS + 1][COLUMNS];
    int32_t basis[ROWS];
};

bool mix_init(struct mix *m, int32_t n_jobs, struct arena *a)
{
    *m = (struct mix){0};
    for (int i = 0; i < MIX_CHOICES; i++) {
        m->option[i] = arena_alloc(a, (size_t)n_jobs, sizeof **m->option);
        if (m->option[i] == NULL)
            return false;
    }
    return true;
}

void mix_reset(struct mix *m)
{
    m->n = 0;
    m->n_added = 0;
    m->full = false;
}

/* gain: what a whole part is worth, before its cost. */
static void tableau_load(struct tableau *t, const struct mix *m, const struct choice_set *s,
                         double gain)
{
    const int32_t n_res = s->p->n_res;
    memset(t, 0, sizeof *t);
    t->n_rows = n_res + 1;
    const int32_t slack = m->n + n_res, last = slack + t->n_rows;
    t->n_columns = last;
    for (int32_t r = 0; r < n_res; r++) {
        for (int32_t i = 0; i < m->n; i++)
            t->x[r][i] = m->usage[i][r] - s->capacity[r];
        if (!isinf(s->ceiling[r])) { /* a unit of excess; of a hard resource there is none */
            t->x[r][m->n + r] = -1;
            t->x[t->n_rows][m->n + r] = -s->ceiling[r];
        }
        t->x[r][last] = TINY;
    }
    for (int32_t i = 0; i < m->n; i++) {
        t->x[n_res][i] = 1;
        t->x[t->n_rows][i] = gain - m->cost[i];
    }
    t->x[n_res][last] = 1;
    for (int32_t r = 0; r < t->n_rows; r++) {
        t->x[r][slack + r] = 1;
        t->basis[r] = slack + r;
    }
}

/* -1 where no column gains. */
static int32_t entering(const struct tableau *t, bool largest, double gain_least)
{
    const double *gain = t->x[t->n_rows];
    int32_t best = -1;
    for (int32_t i = 0; i < t->n_columns; i++)
        if (gain[i] > gain_least && (best < 0 || (largest && gain[i] > gain[best])))
            best = i;
    return best;
}

/* -1 where nothing limits the column. */
static int32_t leaving(const struct tableau *t, int32_t column)
{
    int32_t best = -1;
    double least = INFINITY;
    for (int32_t r = 0; r < t->n_rows; r++) {
        if (t->x[r][column] <= PIVOT)
            continue;
        double ratio = t->x[r][t->n_columns] / t->x[r][column];
        if (best < 0 || ratio < least || (ratio <= least && t->basis[r] < t->basis[best])) {
            least = ratio;
            best = r;
        }
    }
    return best;
}

static void pivot(struct tableau *t, int32_t row, int32_t column)
{
    const double by = t->x[row][column];
    for (int32_t i = 0; i <= t->n_columns; i++)
        t->x[row][i] /= by;
    for (int32_t r = 0; r <= t->n_rows; r++) {
        const double times = t->x[r][column];
        if (r == row || (times <= 0 && times >= 0))
            continue;
        for (int32_t i = 0; i <= t->n_columns; i++)
            t->x[r][i] -= times * t->x[row][i];
    }
    t->basis[row] = column;
}

/* Every step keeps the mixture one that fits, so giving up early only leaves a worse one. */
static void tableau_solve(struct tableau *t, double gain)
{
    for (int step = 0; step < STEPS; step++) {
        int32_t column = entering(t, step < STEPS_BEST, GAIN_FRAC * gain);
        int32_t row = column < 0 ? -1 : leaving(t, column);
        if (row < 0)
            break;
        pivot(t, row, column);
    }
}

static void read_parts(struct mix *m, const struct choice_set *s, const struct tableau *t)
{
    const int32_t n_res = s->p->n_res;
    memset(m->part, 0, sizeof m->part);
    m->value = 0;
    double sum = 0;
    for (int32_t r = 0; r < t->n_rows; r++) {
        const int32_t column = t->basis[r];
        const double amount = t->x[r][t->n_columns];
        if (column < m->n) {
            m->part[column] = amount;
            m->value += amount * m->cost[column];
            sum += amount;
        } else if (column < m->n + n_res) {
            m->value += amount * s->ceiling[column - m->n];
        }
    }
    m->full = sum > 1 - PART;
    for (int32_t r = 0; r < n_res; r++) {
        double price = -t->x[t->n_rows][m->n + n_res + r];
        m->price[r] = price > 0 ? price : 0;
    }
}

/* Where another choice goes. */
static int32_t place(const struct mix *m)
{
    if (m->n < MIX_CHOICES)
        return m->n;
    int32_t oldest = -1;
    for (int32_t i = 0; i < m->n; i++)
        if (m->part[i] <= PART && (oldest < 0 || m->added[i] < m->added[oldest]))
            oldest = i;
    return oldest;
}

void mix_add(struct mix *m, const struct choice_set *s, const struct choice *c)
{
    const int32_t i = place(m);
    m->n = i < m->n ? m->n : i + 1;
    m->added[i] = m->n_added++;
    m->cost[i] = c->score - choice_excess_cost(s, c->usage);
    memcpy(m->usage[i], c->usage, sizeof c->usage);
    memcpy(m->option[i], c->option, (size_t)s->p->n_jobs * sizeof *c->option);
    struct tableau t;
    const double gain = 2 * s->score_max + 1; /* outweighs any cost */
    tableau_load(&t, m, s, gain);
    tableau_solve(&t, gain);
    read_parts(m, s, &t);
}

/* The choices with a part; returns how many. */
static int32_t with_part(const struct mix *m, int32_t *which)
{
    int32_t n = 0;
    for (int32_t i = 0; i < m->n; i++)
        if (m->part[i] > PART)
            which[n++] = i;
    return n;
}

/* One job's option: of those in the mixture the one after which usage is least off the mixture's.
 * off (n_res) is updated. */
static int32_t round_job(const struct mix *m, const struct choice_set *s, int32_t job,
                         const int32_t *which, int32_t n, double *off)
{
    const int32_t n_res = s->p->n_res;
    const double size = choice_size(s, job);
    double mean[CHOICE_RES_MAX] = {0}, least = INFINITY;
    int32_t best = -1;
    for (int32_t k = 0; k < n; k++)
        for (int32_t r = 0; r < n_res; r++)
            mean[r] += m->part[which[k]] * choice_demand(s, m->option[which[k]][job])[r];
    for (int32_t k = 0; k < n; k++) {
        const int32_t option = m->option[which[k]][job];
        double far = 0;
        for (int32_t r = 0; r < n_res; r++) {
            double by = (off[r] + size * (choice_demand(s, option)[r] - mean[r])) / s->capacity[r];
            far += by * by;
        }
        best = far < least ? option : best;
        least = far < least ? far : least;
    }
    for (int32_t r = 0; r < n_res; r++)
        off[r] += size * (choice_demand(s, best)[r] - mean[r]);
    return best;
}

void mix_round(const struct mix *m, const struct choice_set *s, struct choice *c)
{
    int32_t which[MIX_CHOICES], n = with_part(m, which);
    double off[CHOICE_RES_MAX] = {0};
    for (int32_t j = 0; j < s->p->n_jobs; j++) {
        const int32_t first = m->option[which[0]][j];
        bool same = true;
        for (int32_t k = 1; k < n; k++)
            same = same && m->option[which[k]][j] == first;
        c->option[j] = same ? first : round_job(m, s, j, which, n, off);
    }
    choice_measure(s, c);
}
