/* The tables of section 5 of the ElastiCo paper, with its numbers. One workload for all: nothing
 * here but the load, the size of the cluster and the system differs between rows. */
#include "sim/cmd/reproduce.h"

#include <math.h>

#define LOAD 1.2 /* the generator's default */

// clang-format off
#define JCT        {"mean JCT", METRIC_jct_mean_s, FORM_RATIO, 1}
#define THROUGHPUT {"throughput", METRIC_throughput_gpus, FORM_RATIO, 1}
#define SM         {"SM utilisation %", METRIC_sm_util_mean, FORM_PLAIN, 100}
#define MEMORY     {"GPU memory %", METRIC_mem_util_mean, FORM_PLAIN, 100}

const struct paper_table paper_tables[] = {
    {"table4", "Table 4: the systems beside each other, over volcano", 5, 4,
     {JCT, THROUGHPUT, SM,
      {"attainment %", METRIC_attain_frac, FORM_PLAIN, 100},
      {"reconfigurations/GPU-h", MEASURE_RECONFIGS_GPUH, FORM_PLAIN, 1}},
     {{"volcano", SYSTEM_VOLCANO, SYSTEM_VOLCANO, 8, LOAD, {1, 1, 25, 100, NAN}, false, MIX_MIXED},
      {"volcano as compiled", SYSTEM_COMPILED, SYSTEM_VOLCANO, 8, LOAD, {1, 1, 25, 100, NAN}, false, MIX_MIXED},
      {"lucid", SYSTEM_LUCID, SYSTEM_VOLCANO, 8, LOAD, {.46, 1.76, 38, 100, NAN}, false, MIX_MIXED},
      {"elastico", SYSTEM_ELASTICO, SYSTEM_VOLCANO, 8, LOAD, {.34, 2.02, 46, 98.3, 2.3}, false, MIX_MIXED}},
     "Reconfigurations: the paper counts checkpoint-and-resume alone (5.7), we every change."},
    {"table5", "Table 5: elastico without one part, over the whole", 4, 5,
     {JCT, THROUGHPUT, MEMORY, SM},
     {{"elastico", SYSTEM_ELASTICO, SYSTEM_ELASTICO, 8, LOAD, {1, 1, 82.6, 46}, false, MIX_MIXED},
      {"without rst", SYSTEM_NO_RST, SYSTEM_ELASTICO, 8, LOAD, {1.53, .77, 73.1, 35.4}, false, MIX_MIXED},
      {"without esp", SYSTEM_NO_ESP, SYSTEM_ELASTICO, 8, LOAD, {1.25, .82, 77.4, 38.9}, false, MIX_MIXED},
      {"without iac", SYSTEM_NO_IAC, SYSTEM_ELASTICO, 8, LOAD, {1.08, .92, 80.8, 43.1}, false, MIX_MIXED},
      {"without pds", SYSTEM_NO_PDS, SYSTEM_ELASTICO, 8, LOAD, {1.17, .89, 79.2, 40.6}, false, MIX_MIXED}},
     "Settings: elastico.without=rst | esp | iac | pds."},
    {"load", "Section 5.6: load on 128 GPUs, volcano's mean JCT over the other's", 1, 6,
     {{"JCT improvement", METRIC_jct_mean_s, FORM_INVERSE, 1}},
     {{"elastico, 50 %", SYSTEM_ELASTICO, SYSTEM_VOLCANO, 16, .5 * LOAD, {1.8}, false, MIX_MIXED},
      {"elastico, 100 %", SYSTEM_ELASTICO, SYSTEM_VOLCANO, 16, LOAD, {NAN}, false, MIX_MIXED},
      {"elastico, 150 %", SYSTEM_ELASTICO, SYSTEM_VOLCANO, 16, 1.5 * LOAD, {2.9}, false, MIX_MIXED},
      {"lucid, 50 %", SYSTEM_LUCID, SYSTEM_VOLCANO, 16, .5 * LOAD, {NAN}, false, MIX_MIXED},
      {"lucid, 100 %", SYSTEM_LUCID, SYSTEM_VOLCANO, 16, LOAD, {NAN}, false, MIX_MIXED},
      {"lucid, 150 %", SYSTEM_LUCID, SYSTEM_VOLCANO, 16, 1.5 * LOAD, {NAN}, false, MIX_MIXED}},
     "100 % is the load of the other tables. The paper also says that at 50 % all are comparable."},
    {"table8", "Table 8: elastico over volcano by size of the cluster, load kept", 4, 4,
     {JCT, THROUGHPUT, SM, {"pass ms", MEASURE_PASS_MS, FORM_PLAIN, 1}},
     {{"64 GPUs", SYSTEM_ELASTICO, SYSTEM_VOLCANO, 8, LOAD, {.34, 2.02, 46, 4.2}, false, MIX_MIXED},
      {"128 GPUs", SYSTEM_ELASTICO, SYSTEM_VOLCANO, 16, LOAD, {.36, 1.95, 44, 6.8}, false, MIX_MIXED},
      {"256 GPUs", SYSTEM_ELASTICO, SYSTEM_VOLCANO, 32, LOAD, {.38, 1.89, 43, 9.1}, false, MIX_MIXED},
      {"512 GPUs", SYSTEM_ELASTICO, SYSTEM_VOLCANO, 64, LOAD, {.41, 1.82, 41, 13.7}, true, MIX_MIXED}},
     "Times are wall time of this machine while the runs share it."},
    {"table9", "Table 9: a pass of elastico on 64 GPUs, mean over passes", 5, 1,
     {{"prices (ESP) ms", MEASURE_ESP_MS, FORM_PLAIN, 1},
      {"pairs (IAC) ms", MEASURE_IAC_MS, FORM_PLAIN, 1},
      {"packing and the rest ms", MEASURE_PDS_MS, FORM_PLAIN, 1},
      {"whole pass ms", MEASURE_PASS_MS, FORM_PLAIN, 1},
      {"jobs running", MEASURE_ACTIVE, FORM_PLAIN, 1}},
     {{"elastico", SYSTEM_ELASTICO, SYSTEM_ELASTICO, 8, LOAD, {2.1, 1.2, .9, 4.2, 30}, false, MIX_MIXED}},
     "Times are wall time of this machine while the runs share it; packing .5 and coordination .4\n"
     "in the paper."},
    {"sensitivity", "Sensitivity: the ratios of Table 4 by offered load, over volcano", 2, 8,
     {JCT, THROUGHPUT},
     {{"lucid, load 0.8", SYSTEM_LUCID, SYSTEM_VOLCANO, 8, 0.8, {.46, 1.76}, false, MIX_MIXED},
      {"lucid, load 1.2", SYSTEM_LUCID, SYSTEM_VOLCANO, 8, 1.2, {.46, 1.76}, false, MIX_MIXED},
      {"lucid, load 1.6", SYSTEM_LUCID, SYSTEM_VOLCANO, 8, 1.6, {.46, 1.76}, false, MIX_MIXED},
      {"lucid, load 2", SYSTEM_LUCID, SYSTEM_VOLCANO, 8, 2, {.46, 1.76}, false, MIX_MIXED},
      {"elastico, load 0.8", SYSTEM_ELASTICO, SYSTEM_VOLCANO, 8, 0.8, {.34, 2.02}, false, MIX_MIXED},
      {"elastico, load 1.2", SYSTEM_ELASTICO, SYSTEM_VOLCANO, 8, 1.2, {.34, 2.02}, false, MIX_MIXED},
      {"elastico, load 1.6", SYSTEM_ELASTICO, SYSTEM_VOLCANO, 8, 1.6, {.34, 2.02}, false, MIX_MIXED},
      {"elastico, load 2", SYSTEM_ELASTICO, SYSTEM_VOLCANO, 8, 2, {.34, 2.02}, false, MIX_MIXED}},
     "What would have to be true for the paper's ratios: the load, physics and submission that come\n"
     "nearest. The paper does not give its load, its sizes or its physics."},
    {"baseline", "Sensitivity: the same over volcano as compiled", 2, 8,
     {JCT, THROUGHPUT},
     {{"lucid, load 0.8", SYSTEM_LUCID, SYSTEM_COMPILED, 8, 0.8, {.46, 1.76}, false, MIX_MIXED},
      {"lucid, load 1.2", SYSTEM_LUCID, SYSTEM_COMPILED, 8, 1.2, {.46, 1.76}, false, MIX_MIXED},
      {"lucid, load 1.6", SYSTEM_LUCID, SYSTEM_COMPILED, 8, 1.6, {.46, 1.76}, false, MIX_MIXED},
      {"lucid, load 2", SYSTEM_LUCID, SYSTEM_COMPILED, 8, 2, {.46, 1.76}, false, MIX_MIXED},
      {"elastico, load 0.8", SYSTEM_ELASTICO, SYSTEM_COMPILED, 8, 0.8, {.34, 2.02}, false, MIX_MIXED},
      {"elastico, load 1.2", SYSTEM_ELASTICO, SYSTEM_COMPILED, 8, 1.2, {.34, 2.02}, false, MIX_MIXED},
      {"elastico, load 1.6", SYSTEM_ELASTICO, SYSTEM_COMPILED, 8, 1.6, {.34, 2.02}, false, MIX_MIXED},
      {"elastico, load 2", SYSTEM_ELASTICO, SYSTEM_COMPILED, 8, 2, {.34, 2.02}, false, MIX_MIXED}},
     "Volcano without a scheduler configuration uses the one it was compiled with."},
    {"sizes", "Sensitivity: the same by the GPUs of training jobs, over volcano", 2, 6,
     {JCT, THROUGHPUT},
     {{"lucid, single", SYSTEM_LUCID, SYSTEM_VOLCANO, 8, LOAD, {.46, 1.76}, false, MIX_SINGLE},
      {"lucid, mixed", SYSTEM_LUCID, SYSTEM_VOLCANO, 8, LOAD, {.46, 1.76}, false, MIX_MIXED},
      {"lucid, wide", SYSTEM_LUCID, SYSTEM_VOLCANO, 8, LOAD, {.46, 1.76}, false, MIX_WIDE},
      {"elastico, single", SYSTEM_ELASTICO, SYSTEM_VOLCANO, 8, LOAD, {.34, 2.02}, false, MIX_SINGLE},
      {"elastico, mixed", SYSTEM_ELASTICO, SYSTEM_VOLCANO, 8, LOAD, {.34, 2.02}, false, MIX_MIXED},
      {"elastico, wide", SYSTEM_ELASTICO, SYSTEM_VOLCANO, 8, LOAD, {.34, 2.02}, false, MIX_WIDE}},
     "single: 1:1; mixed: the generator's; wide: 1:.3,2:.2,4:.2,8:.25,16:.05."},
    {0},
};
// clang-format on
