#include "sim/run/spans.h"

#include "core/base/arena.h"

static bool add(struct run_log *l, const struct span *bar)
{
    if (!ARRAY_GROW(l->span, l->span_capacity, l->n_spans + 1))
        return false;
    l->span[l->n_spans++] = *bar;
    return true;
}

bool spans_record(struct run_log *log, const struct cluster *c, const struct job_table *t,
                  struct seats at, const struct span *common)
{
    int32_t per_inst = cluster_seats_of_instance(c, t->gpu_milli[common->task]), before = -1;
    struct span bar = *common;
    for (int32_t i = 0; i < at.n; i++) {
        int32_t where = c->seats[at.first + i].where, node = seat_node(c, where);
        bool card = where >= 0, beside = where == before || (card && where == before + 1);
        if (i == 0 || node != bar.node || !beside) {
            if (i > 0 && !add(log, &bar))
                return false;
            bar = *common;
            bar.node = node;
            bar.first_gpu = card ? where - c->node_card[node] : -1;
            bar.n_gpus = card;
        } else if (where != before) {
            bar.n_gpus++;
        }
        bar.n_inst += i % per_inst == 0;
        before = where;
    }
    return at.n == 0 || add(log, &bar);
}
