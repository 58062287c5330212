#include "core/elastico/undecided.h"

#include <math.h>
#include <string.h>

/* How far the best of a job's other options is behind the one it has. */
static double behind_by(const struct choice_set *s, int32_t job, int32_t now)
{
    double least = INFINITY;
    for (int32_t o = s->p->begin[job]; o < s->p->begin[job + 1]; o++) {
        double score = o == now ? INFINITY : choice_score(s, job, o);
        least = score < least ? score : least;
    }
    return least - choice_score(s, job, now);
}

/* The k-th least of n numbers, k from 0: Hoare's selection, O(n) on average. Their order is lost.
 */
static double select_least(double *x, int32_t n, int32_t k)
{
    int32_t low = 0, high = n - 1;
    while (low < high) {
        const double pivot = x[low + (high - low) / 2];
        int32_t i = low, j = high;
        while (i <= j) {
            while (x[i] < pivot)
                i++;
            while (x[j] > pivot)
                j--;
            if (i > j)
                break;
            double swap = x[i];
            x[i++] = x[j];
            x[j--] = swap;
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            break; /* between the parts all equal the pivot */
    }
    return x[k];
}

int32_t undecided_find(const struct choice_set *s, const struct choice *c, int32_t n,
                       double *behind, int32_t *job)
{
    const int32_t n_jobs = s->p->n_jobs;
    for (int32_t j = 0; j < n_jobs; j++)
        behind[j] = behind_by(s, j, c->option[j]);
    memcpy(behind + n_jobs, behind, (size_t)n_jobs * sizeof *behind);
    const double most = select_least(behind + n_jobs, n_jobs, n - 1);
    int32_t n_found = 0;
    for (int32_t j = 0; j < n_jobs; j++)
        if (behind[j] <= most)
            job[n_found++] = j;
    return n_found;
}
