/* genai_metrics.h - the metric tables of GenTD26 (qps, GPU duty cycle, queue sizes, latencies …).
 *
 * Columns are found by name, since each file orders them as it likes: timestamp_anon (s), value,
 * container_ip, and in qps request_type. An empty container, NULL and None are all no container,
 * which equals nothing, not even itself. The caller owns the names; tables read with the same
 * names have the same numbers for the same containers. */
#ifndef COLOSIM_GENAI_METRICS_H
#define COLOSIM_GENAI_METRICS_H

#include "core/base/names.h"
#include "traces/trace.h"

struct genai_metric {
    int64_t time_us;
    double value;
    int32_t container;    /* id in names, -1 for none */
    int32_t request_type; /* likewise */
};

struct genai_metrics {
    struct genai_metric *row; /* (n) in the order of the file */
    size_t n, capacity;
    int64_t n_without;           /* rows without a container */
    double sum;                  /* of all values, in the order of the file */
    struct import_report report; /* rows read, kept, dropped and why */
};

/* Of one file, plain or gzip, or of the one table in an archive. The caller frees out in any case.
 */
enum status genai_metrics_read(const char *path, struct names *names, struct genai_metrics *out,
                               struct error *err) MUST_USE;
/* Pairs of rows, one of each table, with the same container. -1 when memory is out. O(n + names).
 */
int64_t genai_metrics_join(const struct genai_metrics *a, const struct genai_metrics *b,
                           const struct names *names);
void genai_metrics_free(struct genai_metrics *m);

#endif
