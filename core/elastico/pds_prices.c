/* The rounds of Algorithm 1: prices, what each job would run as at these, and penalties for pairs
 * that would then be unsafe. */
#include "core/elastico/pds_pass.h"

#include <math.h>
#include <string.h>

/* Places in per_card. Priced are those of which the cluster has limits, side by side. */
enum { RES_MEM, RES_SLOT, RES_SM, RES_CPU, RES_RAM, RES_NIC, RES_STORAGE };

/* A problem in the making. */
struct priced {
    struct pass *a;
    struct choice_problem p;
    int32_t *job, *menu, *begin, *row, *current; /* (jobs), (jobs), (jobs + 1), (options), (jobs) */
    int32_t *item;                               /* (options) option x n_widths + width, -1: wait */
    int32_t *kept;    /* (rows) items of a menu that keep its promise, from its first row on */
    int32_t *n_kept;  /* (menus) */
    double *least_of; /* (menus x n_res) footprint of the least of them */
    double *demand, *loss, *weight, *penalty;
    double capacity[CHOICE_RES_MAX], ceiling[CHOICE_RES_MAX];
    double least[CHOICE_RES_MAX]; /* footprint of the running jobs at their smallest */
    double held[CHOICE_RES_MAX];  /* of the queued ones */
    int32_t n_options_room;
};

/* Fractions of the whole that one card of an option takes. */
static void demand_of(const struct pass *a, const struct menu_option *o, double *out)
{
    const struct profiles *p = a->s->menus.rst->p;
    bool known = o->row >= 0; /* else it may want all of the SMs */
    double sm = known ? p->m.sm[o->row] : 1, cpu = known ? p->m.cpu[o->row] : 0,
           ram = known ? p->m.ram_mib[o->row] : 0;
    out[RES_MEM] = o->mem_mib * a->per_card[RES_MEM];
    out[RES_SLOT] = a->per_card[RES_SLOT];
    out[RES_SM] = isnan(sm) ? 0 : sm * a->per_card[RES_SM];
    int32_t n = RES_SM + 1;
    if (a->per_card[RES_CPU] > 0) {
        out[n++] = isnan(cpu) ? 0 : cpu * a->per_card[RES_CPU];
        out[n++] = isnan(ram) ? 0 : ram * a->per_card[RES_RAM];
    }
    if (a->per_card[RES_NIC] > 0)
        out[n++] = p->nic_mbps[o->config] * a->per_card[RES_NIC];
    if (a->per_card[RES_STORAGE] > 0)
        out[n++] = p->storage_mbps[o->config] * a->per_card[RES_STORAGE];
}

double pass_score(const struct pass *a, int32_t menu, int32_t option, int32_t width, double omega,
                  double speed)
{
    double demand[CHOICE_RES_MAX], rent = 0;
    demand_of(a, pass_option(a, menu, option), demand);
    for (int32_t r = 0; r < a->n_res; r++)
        rent += a->s->price[r] * demand[r] * pass_width(a, menu, width)->n;
    return omega / a->omega_mean * (1 - speed / pass_menu(a, menu)->speed_max) + rent;
}

/* One Mbit/s as a part of all of the cluster's; 0 where a node with cards declares none. */
static double part_of(const struct cluster *c, const int32_t *node_mbps)
{
    double sum = 0;
    for (int32_t node = 0; node < c->n_nodes; node++) {
        if (node_mbps[node] == 0 && c->node_gpu_milli[node] > 0)
            return 0;
        sum += node_mbps[node];
    }
    return sum > 0 ? 1 / sum : 0;
}

/* What the whole cluster has, and which of the node's resources are limited. */
static void find_whole(struct pass *a)
{
    const struct cluster *c = a->p->cluster;
    double mem = 0;
    for (int32_t node = 0; node < c->n_nodes; node++) {
        int32_t kind = a->s->menus.kind_of_node[node];
        for (int32_t card = c->node_card[node]; kind >= 0 && card < c->node_card[node + 1];
             card++) {
            int32_t mib = c->card_gpu_mem_mib[card];
            mem += mib == INT32_MAX ? 40960 : mib - MEM_SYSTEM_MIB;
        }
    }
    a->per_card[RES_MEM] = mem > 0 ? 1 / mem : 0;
    a->per_card[RES_SLOT] = 1.0 / (2.0 * c->n_cards);
    a->per_card[RES_SM] = 1 / (a->config->sm_overcommit * c->n_cards);
    bool host = c->cpu_milli > 0 && c->mem_mib > 0 && c->cpu_milli < INT32_MAX / 2 * INT64_C(1000);
    for (int32_t node = 0; node < c->n_nodes; node++)
        host = host && c->node_cpu_milli[node] != INT32_MAX && c->node_mem_mib[node] != INT32_MAX;
    a->per_card[RES_NIC] = part_of(c, c->node_nic_mbps);
    a->per_card[RES_STORAGE] = part_of(c, c->node_storage_mbps);
    a->n_res =
        RES_SM + 1 + (host ? 2 : 0) + (a->per_card[RES_NIC] > 0) + (a->per_card[RES_STORAGE] > 0);
    a->per_card[RES_CPU] = host ? 1000.0 / (double)c->cpu_milli : 0;
    a->per_card[RES_RAM] = host ? 1 / (double)c->mem_mib : 0;
}

/* How many of the queue are priced. */
static int32_t n_priced(const struct pass *a)
{
    int64_t depth = pass_is(a, PDS_NO_PDS) ? 0 : a->config->queue_depth;
    return (int32_t)(depth < a->s->n_waiting ? depth : a->s->n_waiting);
}

/* Of a job on the first kind of card that has one; -1. */
static int32_t first_menu(const struct pass *a, int32_t job)
{
    int32_t menu = -1;
    for (int32_t k = 0; k < a->s->menus.n_kinds && menu < 0; k++)
        menu = a->s->menus.of_job[(size_t)k * (size_t)a->s->n_jobs + (size_t)job];
    return menu;
}

static int64_t items_of(const struct menu *m) { return (int64_t)m->n_options * m->n_widths; }

/* Options of the jobs to be priced: those of their menus, and one more to wait. */
static size_t count_options(const struct pass *a, int32_t n_waiting)
{
    const struct menus *menus = &a->s->menus;
    int64_t n = 1;
    for (int32_t i = 0; i < a->n; i++)
        n += items_of(&menus->menu[a->resident[i].menu]);
    for (int32_t i = 0; i < n_waiting; i++) {
        int32_t menu = first_menu(a, a->s->queue[i].job);
        n += menu < 0 ? 0 : 1 + items_of(&menus->menu[menu]);
    }
    return (size_t)n;
}

static bool arrays_new(struct priced *q)
{
    struct pass *a = q->a;
    struct arena *scratch = a->v->scratch;
    int32_t n_waiting = n_priced(a);
    size_t jobs = (size_t)a->n + (size_t)n_waiting + 1, options = count_options(a, n_waiting);
    size_t rows = (size_t)a->s->n_rows < options ? (size_t)a->s->n_rows : options;
    size_t menus = (size_t)a->s->menus.n + 1, n_res = (size_t)a->n_res;
#define NEW(name, count) ((q->name = arena_alloc(scratch, (count), sizeof *q->name)) != NULL)
    bool ok = NEW(job, jobs) && NEW(menu, jobs) && NEW(begin, jobs) && NEW(current, jobs) &&
              NEW(weight, jobs) && NEW(row, options) && NEW(item, options) &&
              NEW(penalty, options) && NEW(kept, rows) && NEW(loss, rows) &&
              NEW(demand, rows * n_res) && NEW(n_kept, menus) && NEW(least_of, menus * n_res);
#undef NEW
    return ok;
}

/* The rows of a menu, made when first met; its first one. */
static int32_t rows_of(struct priced *q, int32_t menu)
{
    struct pass *a = q->a;
    const struct menu *m = pass_menu(a, menu);
    size_t n_res = (size_t)a->n_res;
    double *least = q->least_of + (size_t)menu * n_res;
    int32_t *at = &a->s->row_of_menu[menu], *n_kept = &q->n_kept[menu];
    if (*at >= 0)
        return *at;
    *at = q->p.n_rows;
    for (size_t r = 0; r < n_res; r++)
        least[r] = INFINITY;
    for (int32_t o = 0; o < m->n_options; o++) {
        double one[CHOICE_RES_MAX];
        demand_of(a, pass_option(a, menu, o), one);
        for (int32_t w = 0; w < m->n_widths; w++, q->p.n_rows++) {
            double speed = pass_speed(a, menu, o, w);
            double *demand = q->demand + (size_t)q->p.n_rows * n_res;
            bool kept = menu_keeps(m, speed);
            q->loss[q->p.n_rows] = 1 - speed / m->speed_max;
            if (kept)
                q->kept[*at + (*n_kept)++] = q->p.n_rows - *at;
            for (size_t r = 0; r < n_res; r++) {
                demand[r] = one[r] * pass_width(a, menu, w)->n;
                least[r] = kept && demand[r] < least[r] ? demand[r] : least[r];
            }
        }
    }
    return *at;
}

/* One more option of the last job. */
static void add_option(struct priced *q, int32_t first, int32_t item, double penalty)
{
    int32_t n = q->begin[q->p.n_jobs + 1]++;
    q->row[n] = first + item;
    q->item[n] = item;
    q->penalty[n] = penalty;
}

/* The options of one job that keep its promise, and the one that it has, in their order. Adds its
 * least footprint. */
static void add_options(struct priced *q, int32_t menu, int32_t option, int32_t width)
{
    const struct pass *a = q->a;
    int32_t first = rows_of(q, menu), j = q->p.n_jobs, *end = &q->begin[j + 1];
    int32_t now = option < 0 ? -1 : option * pass_menu(a, menu)->n_widths + width;
    const int32_t *kept = q->kept + first, n_kept = q->n_kept[menu];
    const double change = option < 0 ? 0 : a->config->gamma0;
    const double *least = q->least_of + (size_t)menu * (size_t)a->n_res;
    const double *mine = q->demand + (size_t)(first + (now < 0 ? 0 : now)) * (size_t)a->n_res;
    int32_t k = 0;
    *end = q->begin[j];
    for (; k < n_kept && kept[k] < now; k++)
        add_option(q, first, kept[k], change);
    q->current[j] = now < 0 ? -1 : *end;
    if (now >= 0)
        add_option(q, first, now, 0);
    for (k += k < n_kept && kept[k] == now; k < n_kept; k++)
        add_option(q, first, kept[k], change);
    for (int32_t r = 0; r < a->n_res; r++)
        *(option >= 0 ? &q->least[r] : &q->held[r]) +=
            now >= 0 && mine[r] < least[r] ? mine[r] : least[r];
}

static void add_job(struct priced *q, int32_t job, int32_t menu, double omega, int32_t option,
                    int32_t width)
{
    q->job[q->p.n_jobs] = job;
    q->menu[q->p.n_jobs] = menu;
    q->weight[q->p.n_jobs] = omega;
    add_options(q, menu, option, width);
    q->p.n_jobs++;
}

/* A waiting job may also wait: the last row of all. */
static void add_waiting(struct priced *q)
{
    struct pass *a = q->a;
    int32_t n_waiting = n_priced(a);
    for (int32_t i = 0; i < n_waiting; i++) {
        int32_t job = a->s->queue[i].job, menu = first_menu(a, job);
        if (menu < 0)
            continue;
        add_job(q, job, menu, omega_of(a, a->s->left_s[job]), -1, -1);
        int32_t n = q->begin[q->p.n_jobs]++;
        q->row[n] = -1;
        q->penalty[n] = 0;
        q->item[n] = -1;
    }
    for (int32_t n = 0; n < q->begin[q->p.n_jobs]; n++)
        if (q->row[n] < 0)
            q->row[n] = q->p.n_rows;
    q->loss[q->p.n_rows] = 1;
    q->p.n_rows++;
}

/* (12), over the priced part of the queue, and no less than what runs already can shrink to. */
static void set_capacity(struct priced *q)
{
    const struct pass *a = q->a;
    double gamma = pass_is(a, PDS_NO_PDS) ? 0 : a->config->gamma;
    for (int32_t r = 0; r < a->n_res; r++) {
        double left = 1 - gamma * q->held[r];
        q->capacity[r] = fmax(left, fmax(q->least[r], 1e-6));
        q->ceiling[r] = r == RES_SM ? (double)q->p.n_jobs : (double)INFINITY;
    }
}

static bool make_problem(struct priced *q)
{
    struct pass *a = q->a;
    if (!arrays_new(q))
        return false;
    for (int32_t i = 0; i < a->s->menus.n; i++)
        a->s->row_of_menu[i] = -1;
    for (int32_t i = 0; i < a->n; i++) {
        const struct resident *r = &a->resident[i];
        add_job(q, r->job, r->menu, r->omega, r->option, r->width);
    }
    add_waiting(q);
    double sum = 0;
    for (int32_t j = 0; j < q->p.n_jobs; j++)
        sum += q->weight[j];
    a->omega_mean = q->p.n_jobs > 0 ? sum / q->p.n_jobs : 1;
    for (int32_t j = 0; j < q->p.n_jobs; j++)
        q->weight[j] /= a->omega_mean;
    set_capacity(q);
    q->p.n_res = a->n_res;
    q->p.begin = q->begin;
    q->p.row = q->row;
    q->p.demand = q->demand;
    q->p.loss = q->loss;
    q->p.weight = q->weight;
    q->p.penalty = q->penalty;
    q->p.current = q->current;
    q->p.capacity = q->capacity;
    q->p.ceiling = q->ceiling;
    q->p.n_gpus = a->p->cluster->n_cards;
    return true;
}

/* Adds alpha x what the slowdown has above the tolerance to the option that a resident wants. */
static bool penalise(struct priced *q, int32_t i, const int32_t *option, double s)
{
    const struct pass *a = q->a;
    const struct resident *r = &a->resident[i];
    double speed = pass_speed(a, r->menu, r->want_option, r->want_width);
    double over = s - pass_tau(a, r->menu, speed);
    if (!(over > 1e-9))
        return false;
    q->penalty[option[i]] += a->config->alpha * over;
    return true;
}

/* Pairs that would be unsafe as they now want to run; a pair that does not fit counts as one that
 * is slowed by as much more as it lacks. */
static int32_t check_couples(struct priced *q, const int32_t *option)
{
    struct pass *a = q->a;
    int32_t n_unsafe = 0;
    for (int32_t c = 0; c < a->n_couples; c++) {
        const struct resident *x = &a->resident[a->couple[c].a], *y = &a->resident[a->couple[c].b];
        double s[2];
        pass_slowdowns(a, x->menu, x->want_option, y->menu, y->want_option, s);
        int32_t room_mib = a->s->menus.kind[pass_menu(a, x->menu)->kind].mem_mib - MEM_SYSTEM_MIB;
        int32_t mib = pass_option(a, x->menu, x->want_option)->mem_mib +
                      pass_option(a, y->menu, y->want_option)->mem_mib;
        double lack = mib > room_mib ? (double)mib / room_mib : 0;
        bool unsafe = penalise(q, a->couple[c].a, option, s[0] + lack);
        unsafe = penalise(q, a->couple[c].b, option, s[1] + lack) || unsafe;
        n_unsafe += unsafe;
    }
    return n_unsafe;
}

static void note_result(struct pass *a, const struct esp_result *result)
{
    struct epoch *e = &a->s->epoch;
    e->rounds++;
    e->iterations += result->iterations;
    e->score = result->score;
    e->bound = result->bound;
    e->gap_frac = result->gap_frac;
    int32_t n = 0;
    e->n_prices = 0;
    for (int32_t r = 0; r <= RES_STORAGE; r++) {
        bool priced = r <= RES_SM || a->per_card[r] > 0;
        e->price[r] = priced ? a->s->price[n++] : NAN;
        e->n_prices = priced ? r + 1 : e->n_prices;
    }
}

void pass_price(struct pass *a)
{
    struct pds *s = a->s;
    struct priced q = {.a = a};
    struct esp_result result;
    int64_t most = pass_is(a, PDS_NO_PDS) ? 1 : a->config->rounds;
    find_whole(a);
    a->omega_mean = 1;
    double begin_s = pass_seconds(a);
    if (!make_problem(&q)) {
        a->memory_out = true;
        return;
    }
    memcpy(s->price, s->price_before, sizeof s->price);
    bool warm = s->priced;
    for (int64_t m = 0; m < most && q.p.n_jobs > 0; m++) {
        if (pass_is(a, PDS_NO_ESP)) {
            esp_greedy(&s->esp, &q.p, &result);
            memset(s->price, 0, sizeof s->price);
        } else {
            esp_solve(&s->esp, &q.p, &a->config->esp, warm, s->price, &result);
        }
        warm = true;
        note_result(a, &result);
        for (int32_t i = 0; i < a->n; i++) {
            struct resident *r = &a->resident[i];
            int32_t item = q.item[result.option[i]], n = pass_menu(a, r->menu)->n_widths;
            r->want_option = item / n;
            r->want_width = item % n;
        }
        double check_s = pass_seconds(a);
        int32_t n_unsafe = check_couples(&q, result.option);
        double now_s = pass_seconds(a);
        s->epoch.esp_s += check_s - begin_s;
        s->epoch.iac_s += now_s - check_s;
        begin_s = now_s;
        if (n_unsafe == 0)
            break;
    }
    s->priced = true;
}
