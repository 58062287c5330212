/* Online correction of the belief: what running pairs are seen to do. */
#include "core/elastico/pds_pass.h"

/* Is this the only job that it shares cards with? What slows it comes from there then. */
static bool only_beside(const struct pass *a, const struct resident *r, int32_t other)
{
    for (int32_t c = 0; c < r->n_cards; c++) {
        int32_t mate = pass_neighbour(a, r->job, pass_card(a, r->job, c));
        if (mate >= 0 && mate != other)
            return false;
    }
    return true;
}

static bool learn_one(struct pass *a, const struct resident *r, const struct resident *q)
{
    const struct rst *rst = a->s->menus.rst;
    double speed = a->v->stay[r->job].speed;
    const struct menu_option *of = pass_option(a, r->menu, r->option);
    const struct menu_option *beside = pass_option(a, q->menu, q->option);
    bool news;
    if (!(speed > 0) || !of->profiled || !beside->profiled || !only_beside(a, r, q->job))
        return true;
    if (!seen_add(&a->s->seen, (struct iac_pair){of->row, beside->row}, pass_alone(a, r) / speed,
                  &news))
        return false;
    if (news)
        pairing_forget(&a->s->pairing, rst->workload[r->job], rst->workload[q->job]);
    return true;
}

bool pass_learn(struct pass *a)
{
    for (int32_t c = 0; c < a->n_couples; c++) {
        const struct resident *r = &a->resident[a->couple[c].a], *q = &a->resident[a->couple[c].b];
        if (!learn_one(a, r, q) || !learn_one(a, q, r))
            return false;
    }
    return true;
}
