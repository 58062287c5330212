#include "core/elastico/sides.h"

#include "core/cluster/gpus.h"

#include <math.h>
#include <stdlib.h>

static double known(double x) { return isnan(x) ? 0 : x; }

struct iac_side side_of_profile(const struct profiles *p, int32_t config, int32_t card)
{
    int32_t row = profile_row(p, config, card), wl = p->w->workload[config];
    const double *value = p->w->value[config];
    double params = known(p->w->params[wl]);
    return (struct iac_side){
        .sm = known(p->m.sm[row]),
        .occ = known(p->m.occupancy[row]),
        .dram = known(p->m.dram[row]),
        .tensor = known(p->m.tensor[row]),
        .fb_mib = p->fb_mib[config],
        .card_mib = gpu_type_mem_mib(card_table[card].name),
        .kind = (enum job_kind)p->w->kind[wl],
        .log10_params = params > 0 ? log10(params) : 0,
        .rate = known(p->m.rate[row]),
        .bs = known(value[KNOB_BS]),
        .ck = known(value[KNOB_CK]),
        .amp = known(value[KNOB_AMP]),
        .isl = 0.75 * known(value[KNOB_SL]),
        .osl = 0.25 * known(value[KNOB_SL]),
        .rho = p->prefix_frac[row],
        .kernel_s = known(p->m.kernel_s[row]),
        .step_s = known(p->m.step_s[row]),
    };
}

enum status sides_of_profiles(const struct profiles *p, struct iac_side **side, struct error *err)
{
    *side = malloc(((size_t)N_CARDS * (size_t)p->n_configs + 1) * sizeof **side);
    if (*side == NULL)
        return fail_memory(err);
    for (int32_t card = 0; card < N_CARDS; card++)
        for (int32_t c = 0; c < p->n_configs; c++)
            (*side)[profile_row(p, c, card)] = side_of_profile(p, c, card);
    return ST_OK;
}
