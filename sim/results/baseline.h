/* baseline.h - the metrics of a run in a file, with what each may lose: the memory of a CI job.
 *
 * A JSON file, made from a run and fit to be edited: {"colosim_baseline": 1, "run": {name, policy,
 * ...}, "metrics": {"jct_mean_s": {"value": 100, "tolerance": "5%"}, ...}}. A metric without a
 * tolerance (null) is recorded and not checked. */
#ifndef COLOSIM_BASELINE_H
#define COLOSIM_BASELINE_H

#include "sim/results/output.h"
#include "sim/results/summary.h"
#include "sim/results/tolerance.h"

#define BASELINE_TOLERANCE "5%" /* of a metric with a direction, unless said otherwise */

struct baseline_metric {
    const char *name;
    double value; /* NAN: it could not be told */
    struct tolerance tolerance;
};

struct baseline {
    const char *run, *policy, *truth, *cluster, *trace_hash, *program; /* NULL where not told */
    int64_t seed;
    struct baseline_metric *metric; /* (n) in the order of the file */
    size_t n, capacity;
    struct arena arena; /* owns the texts */
};

/* Every metric of the run; those with a direction get BASELINE_TOLERANCE. */
enum status baseline_of(struct baseline *b, const struct summary *s, struct error *err) MUST_USE;
/* ST_INPUT when it is missing or wrong, and says which. */
enum status baseline_load(struct baseline *b, const char *path, struct error *err) MUST_USE;
/* "METRIC=TOLERANCE", or "TOLERANCE" for every metric with one; ST_USAGE for an unknown metric. */
enum status baseline_tolerate(struct baseline *b, const char *text, struct error *err) MUST_USE;
void baseline_write(const struct baseline *b, FILE *to);
void baseline_free(struct baseline *b);

#endif
