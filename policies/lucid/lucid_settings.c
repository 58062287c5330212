#include "policies/lucid/lucid_settings.h"

#include "policies/lucid/estimate.h"

static const char *const quirk_names[] = {"auto", "repaired", "artifact", NULL};
static const char *const sharing_names[] = {"auto", "on", "off", NULL};
static const char *const score_names[] = {"tiny", "medium", "jumbo", "never", NULL};

#define QUIRK(field_, doc_)                                                                        \
    PARAM_CHOICE(struct lucid_config, field_, quirk_names, QUIRK_AUTO, doc_ "; auto: as semantics")
const struct param lucid_params[] = {
    ESTIMATE_PARAMS(struct lucid_config),
    PARAM_TEXT(struct lucid_config, forecast, NULL,
               "CSV of expected submissions, a row for each stretch: pred_gpu_job,pred_gpu_num"),
    PARAM_REAL(struct lucid_config, forecast_from_s, "s", 0, -1e12, 1e12,
               "the trace's clock at the forecast's first row [Venus, September: 13219200]"),
    PARAM_REAL(struct lucid_config, forecast_step_s, "s", 600, 1, 1e9,
               "from row to row of the forecast [Lucid's artifact: 600]"),
    QUIRK(free_gpus, "a job joins another where GPUs are idle (artifact), or only where none are"),
    QUIRK(gains, "measured speeds above 1 count (artifact), or as 1"),
    PARAM_REAL(struct lucid_config, gpu_mem_mib, "MiB", 24576, 1, 1e9,
               "memory of a card where the cluster does not say [Lucid's artifact: 24576]"),
    PARAM_REAL(struct lucid_config, jumbo_from, "1", 0.58, 0, 2,
               "SM activity from which a catalog's job is jumbo [ours, by the artifact's labels]"),
    PARAM_TEXT(
        struct lucid_config, labels, NULL,
        "CSV of sharing scores 0, 1, 2: workload,label or model,dataset,batchsize,amp,label"),
    PARAM_TEXT(struct lucid_config, lender, NULL,
               "pool that lends the profiler a node while its queue is long [artifact: vcYVn]"),
    PARAM_REAL(struct lucid_config, priority_ratio, "1", 2, 0, 1e9,
               "a job joins none of less than its own priority over this [Lucid's artifact: 2]"),
    PARAM_REAL(struct lucid_config, profile_s, "s", 200, 1e-3, 1e9,
               "time a job gets in the profiler [Lucid's artifact: 200]"),
    PARAM_TEXT(struct lucid_config, profiler, NULL,
               "pools that give their last node to the profiler, comma-separated; none: nobody is "
               "profiled [artifact: vc8Gr,vcefl]"),
    QUIRK(profiling, "profiled jobs wait for a place from their submission on (artifact), or from "
                     "the end of profiling"),
    PARAM_TEXT(struct lucid_config, rates, NULL,
               "CSV of pair speeds: workload1,workload2,speed1,speed2 (or model1, dataset1, …); "
               "they stand in for the run's truth"),
    QUIRK(recovery, "the younger of a pair keeps its shared speed when the older ends (artifact), "
                    "or has its own back"),
    PARAM_INT(struct lucid_config, score_max, "1", 2, 0, 4,
              "the most that sharing scores of a pair sum to [Lucid's artifact: 2]"),
    PARAM_CHOICE(struct lucid_config, semantics, semantics_names, REPAIRED,
                 "Lucid's artifact as it is, or repaired (see the policy's header)"),
    PARAM_REAL(struct lucid_config, share_jobs, "jobs", 2, 0, 1e9,
               "sharing is on while more submissions are expected in each of the next five "
               "stretches [Lucid's artifact: 2]"),
    PARAM_CHOICE(struct lucid_config, sharing, sharing_names, SHARING_AUTO,
                 "pack jobs: auto (by the forecast; without one on), on, off"),
    PARAM_TEXT(
        struct lucid_config, spare, "spare",
        "semantics = artifact: pool of nodes for the profiler when the lender has none idle; "
        "the artifact makes one from nothing"),
    PARAM_REAL(struct lucid_config, tiny_below, "1", 0.25, 0, 2,
               "SM activity below which a catalog's job is tiny [ours, by the artifact's labels]"),
    PARAM_CHOICE(struct lucid_config, unlabelled, score_names, SCORE_MEDIUM,
                 "sharing score of jobs without a label and outside the catalog"),
    QUIRK(unmeasured, "pairs nobody measured are made and run at full speed (artifact), or are not "
                      "made"),
    PARAM_END,
};

const char *const lucid_tables[] = {"estimates", "forecast", "labels", "rates", NULL};

bool lucid_as_artifact(const struct lucid_config *c, int quirk)
{
    return quirk == QUIRK_ARTIFACT || (quirk == QUIRK_AUTO && c->semantics == ARTIFACT);
}

struct packing_config lucid_pair_rules(const struct lucid_config *c, const struct table *tables)
{
    return (struct packing_config){.unrecovered = lucid_as_artifact(c, c->recovery),
                                   .unmeasured_at_1 = lucid_as_artifact(c, c->unmeasured),
                                   .gains = lucid_as_artifact(c, c->gains),
                                   .gpu_mem_mib = c->gpu_mem_mib,
                                   .jumbo_from = c->jumbo_from,
                                   .priority_ratio = c->priority_ratio,
                                   .tiny_below = c->tiny_below,
                                   .score_max = c->score_max,
                                   .unlabelled = c->unlabelled,
                                   .labels = &tables[TABLE_LABELS],
                                   .rates = &tables[TABLE_RATES]};
}
