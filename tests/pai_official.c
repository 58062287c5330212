#include "tests/pai_official.h"

#include <stdio.h>
#include <string.h>

enum { N_SETTINGS = 9, SETTING_MAX = 1200 };

const char *const pai_official_formats[4] = {"%.0f", "%.4f", "%.4f", "%.0f"};
const char *const pai_official_metrics[4] = {"pai_jobs_done", "pai_avg_jct_s", "pai_wait_s",
                                             "pai_makespan_s"};

bool pai_official_parse(const char *line, struct pai_official *run)
{
    int n =
        sscanf(line, "%63[^,],%63[^,],%d,%d,%d,%31[^,],%d,%d,%d,%31[^,],%31[^,],%31[^,],%31[^,],",
               run->tag, run->input, &run->alloc_policy, &run->num_jobs, &run->arrival_rate,
               run->nodes, &run->gpus, &run->sort_node_policy, &run->gpu_type_matching,
               run->printed[0], run->printed[1], run->printed[2], run->printed[3]);
    return n == 13;
}

static void write_cluster(const struct pai_official *run, char text[SETTING_MAX])
{
    if (strcmp(run->nodes, "hetero380") == 0)
        snprintf(text, SETTING_MAX, "cluster=pai-sim:hetero");
    else if (strcmp(run->nodes, "1") == 0)
        snprintf(text, SETTING_MAX, "cluster=pai-sim:%d", run->gpus);
    else
        snprintf(text, SETTING_MAX, "cluster=pai-sim:%sx8", run->nodes);
}

enum status pai_official_request(const struct pai_official *run, const char *trace_path,
                                 struct run_request *out, struct error *err)
{
    static const char *const order[] = {"sjf", "sju", "sjg", "", "sjgg", "", "", "", "fifo"};
    static const char *const nodes[] = {"id", "fewest_idle", "most_idle", "least_util"};
    static const char *const match[] = {"off", "exact", "v100"};
    char text[N_SETTINGS][SETTING_MAX];
    struct param_group groups[GROUPS_MAX];

    TRY(run_request_init(out, err));
    int n_groups = run_all_groups(out, groups);
    snprintf(text[0], SETTING_MAX, "policy=pai-sim");
    snprintf(text[1], SETTING_MAX, "trace=%s", trace_path);
    write_cluster(run, text[2]);
    snprintf(text[3], SETTING_MAX, "pai-sim.order=%s", order[run->alloc_policy]);
    snprintf(text[4], SETTING_MAX, "pai-sim.node_order=%s", nodes[run->sort_node_policy]);
    snprintf(text[5], SETTING_MAX, "pai-sim.type_match=%s", match[run->gpu_type_matching]);
    snprintf(text[6], SETTING_MAX, "pai-sim.arrival_rate=%d", run->arrival_rate);
    snprintf(text[7], SETTING_MAX, "pai-sim.num_jobs=%d", run->num_jobs);
    snprintf(text[8], SETTING_MAX, "pai-sim.sample_seed=42");
    for (int i = 0; i < N_SETTINGS; i++)
        TRY(param_set_pair(groups, (size_t)n_groups, text[i], &out->arena, err));
    return ST_OK;
}
