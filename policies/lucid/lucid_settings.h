/* lucid_settings.h - what lucid can be set to; what it means is in lucid.c. */
#ifndef COLOSIM_LUCID_SETTINGS_H
#define COLOSIM_LUCID_SETTINGS_H

#include "policies/lucid/packing.h"

struct lucid_config {
    int semantics, recovery, profiling, free_gpus, unmeasured, gains; /* enum quirk but the first */
    int estimate, sharing, unlabelled;
    int64_t score_max;
    double estimate_default_s, estimate_error, forecast_from_s, forecast_step_s, gpu_mem_mib;
    double jumbo_from, priority_ratio, profile_s, share_jobs, tiny_below;
    const char *estimates, *forecast, *labels, *rates, *profiler, *lender, *spare;
};
extern const struct param lucid_params[];

enum { TABLE_ESTIMATES, TABLE_FORECAST, TABLE_LABELS, TABLE_RATES };
extern const char *const lucid_tables[]; /* NULL-terminated */

enum quirk { QUIRK_AUTO, QUIRK_REPAIRED, QUIRK_ARTIFACT };
enum sharing { SHARING_AUTO, SHARING_ON, SHARING_OFF };

/* Is a mistake that can be set by itself there? */
bool lucid_as_artifact(const struct lucid_config *c, int quirk);
struct packing_config lucid_pair_rules(const struct lucid_config *c, const struct table *tables);

#endif
