/* sensors.h - how busy instances were, out of PAI's instance and sensor tables.
 *
 * Both are as published, without headers, or with them: worker_name joins them, gpu_wrk_util
 * (percent) is what is asked. Many instances have no sensor row, or one without that number:
 * nothing is known of these, which is not to say that they were idle. */
#ifndef COLOSIM_CALIB_SENSORS_H
#define COLOSIM_CALIB_SENSORS_H

#include "core/base/status.h"
#include "core/base/table.h"

struct sensor_census {
    int32_t n_instances, n_known;
    double gpu_util_mean_pct; /* over those known; of a worker with several rows their mean. NAN of
                                 none */
};
/* ST_INPUT names the line where the utilisation is no number of 0 or more. Cost linear in the rows.
 */
enum status sensors_join(struct sensor_census *out, const struct table *instances,
                         const struct table *sensors, struct error *err) MUST_USE;

#endif
