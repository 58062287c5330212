#include "core/elastico/parallel.h"

#include <math.h>

static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

/* Rings of a stage that leave a node on which so many of its cards lie, side by side: the slices
 * that are both here and elsewhere. */
static int32_t rings_of(struct degrees d, int32_t n_cards)
{
    return d.dp > 1 ? smaller(smaller(n_cards, d.dp * d.tp - n_cards), d.tp) : 0;
}

void footprint_add(struct footprint *s, struct degrees d, int32_t n_cards)
{
    int32_t stage = d.dp * d.tp, first = s->n_cards, end = first + n_cards, rings = 0;
    int32_t head = first % stage == 0 ? 0 : smaller(stage - first % stage, n_cards);
    int32_t tail = (end - first - head) % stage; /* of a stage that begins on this node */
    rings += head > 0 ? rings_of(d, head) : 0;
    rings += tail > 0 ? rings_of(d, tail) : 0;
    s->n_nodes++;
    s->n_cards = end;
    s->tp_leaves = s->tp_leaves || first % d.tp != 0 || end % d.tp != 0;
    s->rings_per_card = fmax(s->rings_per_card, (double)rings / n_cards);
}

struct footprint footprint_packed(struct degrees d, int32_t cards_of_node)
{
    struct footprint s = {0};
    for (int32_t n = d.dp * d.tp * d.pp; s.n_cards < n;)
        footprint_add(&s, d, smaller(cards_of_node, n - s.n_cards));
    return s;
}

int32_t parallel_replicas(const struct parallel *p, double bs, int32_t size, int32_t n)
{
    int32_t dp = n / size;
    while (dp > 0 && fmod(p->batch, dp * bs) != 0)
        dp--;
    return dp;
}

double parallel_step_s(const struct parallel *p, struct degrees d, double bs, double t1_s,
                       bool recompute, const struct links *l, const struct footprint *s)
{
    double tp = d.tp, pp = d.pp, dp = d.dp, sent = bs * p->act_bytes;
    double b_tp = s->tp_leaves ? l->nic : l->card, b_pp = s->n_nodes > 1 ? l->nic : l->card;
    double b_dp = s->rings_per_card > 0 ? fmin(l->nic / s->rings_per_card, l->card) : l->card;
    double slot_s = t1_s / (tp * pp);
    slot_s += (recompute ? 6 : 4) * (p->layers / pp) * 2 * (tp - 1) / tp * sent / b_tp;
    slot_s += pp > 1 ? 2 * sent / tp / b_pp : 0;
    double reduce_s = 2 * (dp - 1) / dp * p->grad_bytes / (tp * pp) / b_dp;
    return (p->batch / (dp * bs) + pp - 1) * slot_s + p->dp_exposed * reduce_s;
}

double parallel_mem_mib(const struct parallel *p, double one_card_mib, int32_t tp, int32_t pp)
{
    double state_mib = fmin(p->state_bytes / 1048576, one_card_mib);
    return state_mib / ((double)tp * pp) + (one_card_mib - state_mib) / tp;
}
