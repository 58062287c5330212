#include "core/elastico/pairing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_FIRST = 256 };

static struct pair_list *slots_new(int32_t n)
{
    struct pair_list *list = calloc((size_t)n, sizeof *list);
    for (int32_t i = 0; list != NULL && i < n; i++)
        list[i].guest = -1;
    return list;
}

enum status pairing_init(struct pairing *p, const struct menus *menus, struct belief *belief,
                         const struct iac_side *side, const struct seen *seen, double s_max,
                         struct error *err)
{
    *p = (struct pairing){.menus = menus,
                          .belief = belief,
                          .side = side,
                          .seen = seen,
                          .s_max = s_max,
                          .n_slots = SLOTS_FIRST,
                          .list = slots_new(SLOTS_FIRST)};
    return p->list != NULL ? ST_OK : fail_memory(err);
}

void pairing_free(struct pairing *p)
{
    for (int32_t i = 0; p->list != NULL && i < p->n_slots; i++)
        free(p->list[i].point);
    free(p->list);
    free(p->question);
    free(p->answer);
    *p = (struct pairing){0};
}

void pairing_ask(struct pairing *p, int32_t n, const struct iac_pair *pair, double *s)
{
    for (int32_t i = 0, end; i < n; i = end + 1) {
        for (end = i; end < n && pair[end].of >= 0 && pair[end].beside >= 0; end++)
            s[end] = 1;
        if (end < n)
            s[end] = 1;
        if (p->belief != NULL)
            belief_ask(p->belief, p->side, end - i, pair + i, s + i);
        for (int32_t k = i; p->belief != NULL && p->seen != NULL && k < end; k++)
            s[k] = seen_or(p->seen, pair[k], s[k]);
    }
}

static int32_t workload_of(const struct pairing *p, int32_t menu)
{
    const struct menus *m = p->menus;
    return m->rst->w->workload[m->option[m->menu[menu].option].config];
}

void pairing_forget(struct pairing *p, int32_t workload_a, int32_t workload_b)
{
    for (int32_t i = 0; i < p->n_slots; i++) {
        struct pair_list *list = &p->list[i];
        if (list->guest < 0)
            continue;
        int32_t g = workload_of(p, list->guest), h = workload_of(p, list->host);
        if ((g == workload_a && h == workload_b) || (g == workload_b && h == workload_a))
            list->n = -1;
    }
}

static struct pair_list *slot_of(struct pair_list *list, int32_t n_slots, int32_t guest,
                                 int32_t host)
{
    uint64_t key = (uint64_t)(uint32_t)guest << 32 | (uint32_t)host;
    key *= UINT64_C(0x9e3779b97f4a7c15);
    uint32_t at = (uint32_t)(key >> 32) & (uint32_t)(n_slots - 1);
    while (list[at].guest >= 0 && (list[at].guest != guest || list[at].host != host))
        at = (at + 1) & (uint32_t)(n_slots - 1);
    return &list[at];
}

static bool grow(struct pairing *p)
{
    struct pair_list *more = slots_new(2 * p->n_slots);
    if (more == NULL)
        return false;
    for (int32_t i = 0; i < p->n_slots; i++)
        if (p->list[i].guest >= 0)
            *slot_of(more, 2 * p->n_slots, p->list[i].guest, p->list[i].host) = p->list[i];
    free(p->list);
    p->list = more;
    p->n_slots *= 2;
    return true;
}

/* Slowdowns of all pairs of options: answer[2 (h n_guest + g)] the guest's, then the host's. */
static bool ask(struct pairing *p, const struct menu_option *guest, int32_t n_guest,
                const struct menu_option *host, int32_t n_host)
{
    int32_t n = 0;
    size_t room = 2 * (size_t)n_guest * (size_t)n_host;
    if (!ARRAY_GROW(p->question, p->question_capacity, room) ||
        !ARRAY_GROW(p->answer, p->answer_capacity, room))
        return false;
    for (int32_t h = 0; h < n_host; h++)
        for (int32_t g = 0; g < n_guest; g++) {
            p->question[n++] = (struct iac_pair){guest[g].row, host[h].row};
            p->question[n++] = (struct iac_pair){host[h].row, guest[g].row};
        }
    pairing_ask(p, n, p->question, p->answer);
    return true;
}

/* Is x no better than y for either? Of equals the first stays. */
static bool beaten(const struct pair_point *x, const struct pair_point *y)
{
    return y->v_guest >= x->v_guest && y->v_host >= x->v_host &&
           (y->v_guest > x->v_guest || y->v_host > x->v_host || y < x);
}

/* Of the points from first on, all of one host's option, those that no other beats. */
static int32_t keep_best(struct pair_point *point, int32_t first, int32_t n)
{
    int32_t kept = first;
    for (int32_t i = first; i < n; i++) {
        bool good = true;
        for (int32_t k = first; k < n && good; k++)
            good = k == i || !beaten(&point[i], &point[k]);
        point[i].front = good;
    }
    for (int32_t i = first; i < n; i++)
        if (point[i].front)
            point[kept++] = point[i];
    return kept;
}

static void mark_front(struct pair_list *list)
{
    for (int32_t i = 0; i < list->n; i++) {
        list->point[i].front = true;
        for (int32_t k = 0; k < list->n && list->point[i].front; k++)
            list->point[i].front = k == i || !beaten(&list->point[i], &list->point[k]);
    }
}

static double widest(const struct menus *m, const struct menu *menu)
{
    return m->width[menu->width + menu->n_widths - 1].factor;
}

static bool make(struct pairing *p, struct pair_list *list)
{
    const struct menus *m = p->menus;
    const struct menu *guest = &m->menu[list->guest], *host = &m->menu[list->host];
    const struct menu_option *g_option = m->option + guest->option,
                             *h_option = m->option + host->option;
    const double g_widest = widest(m, guest), h_widest = widest(m, host);
    const int32_t most_mib = m->kind[guest->kind].mem_mib - MEM_SYSTEM_MIB;
    size_t capacity = 0;
    int32_t n = 0;
    if (!ask(p, g_option, guest->n_options, h_option, host->n_options))
        return false;
    for (int32_t h = 0; h < host->n_options; h++) {
        int32_t first = n;
        for (int32_t g = 0; g < guest->n_options; g++) {
            const double *s = p->answer + 2 * (h * guest->n_options + g);
            struct pair_point point = {(int16_t)g,
                                       (int16_t)h,
                                       false,
                                       s[0],
                                       s[1],
                                       g_option[g].speed / s[0],
                                       h_option[h].speed / s[1]};
            if (!g_option[g].profiled || !h_option[h].profiled ||
                g_option[g].mem_mib > most_mib - h_option[h].mem_mib || !(s[0] <= p->s_max) ||
                !(s[1] <= p->s_max) || !menu_keeps(guest, point.v_guest * g_widest) ||
                !menu_keeps(host, point.v_host * h_widest))
                continue;
            if (!ARRAY_GROW(list->point, capacity, n + 1))
                return false;
            list->point[n++] = point;
        }
        n = keep_best(list->point, first, n);
    }
    list->n = n;
    mark_front(list);
    return true;
}

const struct pair_list *pairing_of(struct pairing *p, int32_t guest, int32_t host)
{
    struct pair_list *list = slot_of(p->list, p->n_slots, guest, host);
    if (list->guest >= 0 && list->n >= 0)
        return list;
    bool again = list->guest >= 0;
    if (!again && 2 * (p->n_lists + 1) > p->n_slots) {
        if (!grow(p))
            return NULL;
        list = slot_of(p->list, p->n_slots, guest, host);
    }
    struct pair_list made = {.guest = guest, .host = host};
    if (!make(p, &made)) {
        free(made.point);
        return NULL;
    }
    free(list->point);
    *list = made;
    p->n_lists += !again;
    return list;
}
