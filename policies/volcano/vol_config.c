#include "policies/volcano/vol_config.h"

int vol_on(const struct vol_config *c, enum vol_plugin plugin)
{
    for (int i = 0; i < c->n_uses; i++)
        if (c->use[i].plugin == plugin)
            return c->use[i].on;
    return 0;
}

static void use(struct vol_config *c, enum vol_plugin plugin, int tier, int on)
{
    c->use[c->n_uses++] = (struct vol_use){plugin, tier, on};
}

static int gate(unsigned gates, enum vol_plugin plugin)
{
    return gates >> plugin & 1 ? VOL_ON_ALL : VOL_ON_ALL & ~VOL_ON_JOB_ENQUEUED;
}

void vol_profile(enum vol_profile profile, unsigned gates, struct vol_config *out)
{
    int helm = profile != VOL_COMPILED ? VOL_ON_ALL & ~VOL_ON_PREEMPTABLE : VOL_ON_ALL;
    *out = (struct vol_config){
        .overcommit_factor = 1.2,
        .weights = {
            .least = 1, .balanced = 1, .binpack = 1, .pack = {[AMOUNT_CPU] = 1, [AMOUNT_MEM] = 1}}};
    use(out, VOL_PRIORITY, 0, VOL_ON_ALL);
    use(out, VOL_GANG, 0, helm);
    use(out, VOL_CONFORMANCE, 0, VOL_ON_ALL);
    use(out, VOL_OVERCOMMIT, 1, gate(gates, VOL_OVERCOMMIT));
    use(out, VOL_DRF, 1, helm);
    use(out, VOL_PREDICATES, 1, VOL_ON_ALL);
    use(out, VOL_PROPORTION, 1, gate(gates, VOL_PROPORTION));
    use(out, VOL_NODEORDER, 1, VOL_ON_ALL);
    if (profile != VOL_COMPILED)
        use(out, VOL_BINPACK, 1, VOL_ON_ALL);
    if (profile == VOL_HELM_GPUBINPACK)
        out->weights.pack[AMOUNT_GPU] = 10;
}
