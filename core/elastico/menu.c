#include "core/elastico/menu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What jobs with the same menu have in common. */
struct menu_key {
    double least;
    int32_t kind, submitted, card, mem_mib, asked, min, max, whole;
};

struct builder {
    struct menus *m;
    const struct job_table *t;
    const struct menu_rules *rules;
    int32_t *config;      /* (largest workload) */
    int32_t *slot;        /* (n_slots) menu, -1 free */
    struct menu_key *key; /* (menus) */
    size_t key_capacity;
    int32_t n_slots, first_width; /* of the menu in the making */
};

int32_t menu_asked(const struct job_table *t, int32_t job)
{
    int32_t k = t->task_begin[job];
    return t->n_inst[k] * ((t->gpu_milli[k] + 999) / 1000);
}

static enum status find_kinds(struct menus *m, const struct cluster *c, struct error *err)
{
    m->kind_of_node = malloc(((size_t)c->n_nodes + 1) * sizeof *m->kind_of_node);
    if (m->kind_of_node == NULL)
        return fail_memory(err);
    for (int32_t node = 0; node < c->n_nodes; node++) {
        int32_t gpu = c->node_card[node], type = c->node_type[node];
        int32_t card = type < 0 ? CARD_REFERENCE : m->rst->card_of_type[type], k = 0;
        m->kind_of_node[node] = -1;
        if (gpu == c->node_card[node + 1] || card < 0)
            continue;
        while (k < m->n_kinds &&
               (m->kind[k].card != card || m->kind[k].mem_mib != c->card_gpu_mem_mib[gpu]))
            k++;
        if (k == MENU_KINDS_MAX)
            return fail(err, ST_USAGE, "more than %d kinds of card in one cluster", MENU_KINDS_MAX);
        if (k == m->n_kinds)
            m->kind[m->n_kinds++] = (struct card_kind){card, c->card_gpu_mem_mib[gpu]};
        m->kind_of_node[node] = k;
    }
    return ST_OK;
}

/* The highest of a layout's speeds at the widths of the menu in the making. */
static double speed_laid(const struct menus *m, int32_t first_width, int32_t job, int32_t config,
                         int32_t card)
{
    double most = 0;
    for (int32_t w = first_width; w < m->n_widths; w++)
        most = fmax(most, rst_packed_speed(m->rst, job, config, card, m->width[w].n));
    return most;
}

static bool add_option(struct builder *b, const struct menu_key *key, int32_t job, int32_t config)
{
    struct menus *m = b->m;
    int32_t card = m->kind[key->kind].card;
    double speed = m->rst->asked[job] > 0 ? speed_laid(m, b->first_width, job, config, card)
                                          : rst_speed(m->rst, job, config, card);
    if (!(speed > 0))
        return true;
    if (!ARRAY_GROW(m->option, m->option_capacity, m->n_options + 1))
        return false;
    m->option[m->n_options++] =
        (struct menu_option){config, rst_row(m->rst, job, config, card),
                             rst_profiled(m->rst, config), rst_mem_mib(m->rst, job, config), speed};
    return true;
}

static bool fits(const struct builder *b, const struct menu_key *key, int32_t job, int32_t config)
{
    int32_t most_mib = b->m->kind[key->kind].mem_mib;
    return rst_mem_mib(b->m->rst, job, config) <= most_mib - MEM_SYSTEM_MIB;
}

static bool listed(const struct menus *m, int32_t first, int32_t config)
{
    for (int32_t i = first; i < m->n_options; i++)
        if (m->option[i].config == config)
            return true;
    return false;
}

/* What somebody runs in stays a choice. */
static bool add_kept(struct builder *b, const struct menu_key *key, int32_t job, int32_t first)
{
    const struct rst *r = b->m->rst;
    const struct workloads *w = r->w;
    int32_t wl = r->workload[job], length = config_index(w, key->submitted, KNOB_SL);
    for (int32_t c = w->config_begin[wl]; b->rules->keep != NULL && c < w->config_begin[wl + 1];
         c++)
        if (b->rules->keep[c] && config_index(w, c, KNOB_SL) == length && rst_profiled(r, c) &&
            fits(b, key, job, c) && !listed(b->m, first, c) && !add_option(b, key, job, c))
            return false;
    return true;
}

/* The candidates that keep the promise; where there are none, the submitted and the smallest
 * configuration as far as they fit. */
static bool add_options(struct builder *b, const struct menu_key *key, int32_t job)
{
    const struct rst *r = b->m->rst;
    int32_t n = 0, smallest = rst_smallest(r, job), first = b->m->n_options;
    if (b->rules->reshape)
        n = rst_candidates(r, job, b->m->kind[key->kind].card, b->m->kind[key->kind].mem_mib,
                           key->least, -1, b->config);
    bool submitted = fits(b, key, job, key->submitted);
    for (int32_t i = 0; i < n; i++) {
        if (!add_option(b, key, job, b->config[i]))
            return false;
        submitted = submitted && b->config[i] != key->submitted;
    }
    if ((submitted && !add_option(b, key, job, key->submitted)) || !add_kept(b, key, job, first))
        return false;
    return b->m->n_options > first || !b->rules->reshape || smallest < 0 ||
           !fits(b, key, job, smallest) || add_option(b, key, job, smallest);
}

static int fastest_first(const void *a, const void *b)
{
    const struct menu_option *x = a, *y = b;
    if (x->speed != y->speed)
        return x->speed > y->speed ? -1 : 1;
    if (x->mem_mib != y->mem_mib)
        return x->mem_mib - y->mem_mib;
    return x->config - y->config;
}

static bool add_width(struct builder *b, const struct menu_key *key, int32_t job, int32_t n)
{
    struct menus *m = b->m;
    if (!ARRAY_GROW(m->width, m->width_capacity, m->n_widths + 1))
        return false;
    bool same = n == key->asked || m->rst->asked[job] > 0; /* layouts have speeds of their own */
    double factor = same ? 1 : rst_width_speed(m->rst, job, n, key->asked, b->rules->scale_exp);
    m->width[m->n_widths++] = (struct menu_width){n, factor};
    return true;
}

/* All widths of a narrow job; of a wide one the ends, the powers of two and the one asked for. */
static bool add_widths(struct builder *b, const struct menu_key *key, int32_t job)
{
    if (key->max == 0 || !b->rules->reshape)
        return add_width(b, key, job, key->asked);
    int32_t min = key->min < 1 ? 1 : key->min, max = key->max;
    bool all = max - min < MENU_WIDTHS_MAX / 2;
    for (int32_t n = min, left = MENU_WIDTHS_MAX; n <= max && left > 0; n++) {
        bool listed = all || n == min || n == max || n == key->asked || (n & (n - 1)) == 0;
        left -= listed;
        if (listed && !add_width(b, key, job, n))
            return false;
    }
    return true;
}

/* The speeds of layouts, by option and width. */
static bool add_speeds(struct menus *m, struct menu *menu, int32_t job)
{
    int32_t n = menu->n_options * menu->n_widths, card = m->kind[menu->kind].card;
    if (!ARRAY_GROW(m->speed, m->speed_capacity, m->n_speeds + n + 1))
        return false;
    menu->speed = m->n_speeds;
    for (int32_t o = 0; o < menu->n_options; o++)
        for (int32_t w = 0; w < menu->n_widths; w++)
            m->speed[m->n_speeds++] = rst_packed_speed(
                m->rst, job, m->option[menu->option + o].config, card, m->width[menu->width + w].n);
    return true;
}

static bool add_menu(struct builder *b, const struct menu_key *key, int32_t job)
{
    struct menus *m = b->m;
    struct menu menu = {.kind = key->kind,
                        .option = m->n_options,
                        .width = m->n_widths,
                        .least = key->least,
                        .speed = -1};
    b->first_width = m->n_widths;
    if (!add_widths(b, key, job) || !add_options(b, key, job) ||
        !ARRAY_GROW(m->menu, m->menu_capacity, m->n + 1) ||
        !ARRAY_GROW(b->key, b->key_capacity, m->n + 1))
        return false;
    menu.n_options = m->n_options - menu.option;
    menu.n_widths = m->n_widths - menu.width;
    qsort(m->option + menu.option, (size_t)menu.n_options, sizeof *m->option, fastest_first);
    if (m->rst->asked[job] > 0 && !add_speeds(m, &menu, job))
        return false;
    for (int32_t i = 0; i < menu.n_widths && menu.n_options > 0; i++)
        menu.speed_max = fmax(menu.speed_max, menu.speed < 0 ? menu_speed(m, &menu, 0, i)
                                                             : m->option[menu.option].speed);
    m->menu[m->n] = menu;
    b->key[m->n++] = *key;
    return true;
}

static bool same_key(const struct menu_key *x, const struct menu_key *y)
{
    return x->least == y->least && x->kind == y->kind && x->submitted == y->submitted &&
           x->card == y->card && x->mem_mib == y->mem_mib && x->asked == y->asked &&
           x->min == y->min && x->max == y->max && x->whole == y->whole;
}

static uint64_t hash_of(const struct menu_key *key)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    const unsigned char *byte = (const unsigned char *)key;
    for (size_t i = 0; i < sizeof *key; i++)
        hash = (hash ^ byte[i]) * UINT64_C(1099511628211);
    return hash ^ hash >> 32;
}

/* The menu of a key, made where there is none yet; -1 where it is empty. False: memory is out. */
static bool find_menu(struct builder *b, const struct menu_key *key, int32_t job, int32_t *out)
{
    uint64_t at = hash_of(key) & (uint64_t)(b->n_slots - 1);
    while (b->slot[at] >= 0 && !same_key(&b->key[b->slot[at]], key))
        at = (at + 1) & (uint64_t)(b->n_slots - 1);
    if (b->slot[at] < 0) {
        if (!add_menu(b, key, job))
            return false;
        b->slot[at] = b->m->n - 1;
    }
    *out = b->m->menu[b->slot[at]].n_options > 0 ? b->slot[at] : -1;
    return true;
}

static bool add_job(struct builder *b, int32_t job)
{
    const struct job_table *t = b->t;
    struct menus *m = b->m;
    bool catalog = m->rst->submitted[job] >= 0 && t->task_begin[job] + 1 == t->task_begin[job + 1];
    struct menu_key key;
    memset(&key, 0, sizeof key); /* padding too: keys are hashed as bytes */
    if (catalog) {
        key.least = isnan(t->min_rate_frac[job]) ? b->rules->min_rate_frac : t->min_rate_frac[job];
        key.submitted = !b->rules->reshape && b->rules->as_default ? rst_default(m->rst, job)
                                                                   : m->rst->submitted[job];
        key.card = m->rst->card[job];
        key.mem_mib = m->rst->mem_mib[job];
        key.asked = menu_asked(t, job);
        key.whole = t->gpu_milli[t->task_begin[job]] >= 1000;
        key.min = job_is_elastic(t, job) ? t->gpu_min[job] : 0;
        key.max = job_is_elastic(t, job) ? t->gpu_max[job] : 0;
    }
    for (int32_t k = 0; k < m->n_kinds; k++) {
        int32_t *out = &m->of_job[(size_t)k * (size_t)t->n_jobs + (size_t)job];
        key.kind = k;
        *out = -1;
        if (catalog && !find_menu(b, &key, job, out))
            return false;
    }
    return true;
}

enum status menus_init(struct menus *m, const struct rst *rst, const struct job_table *t,
                       const struct cluster *c, const struct menu_rules *rules, struct error *err)
{
    struct builder b = {.m = m, .t = t, .rules = rules, .n_slots = 64};
    enum status status = ST_OK;
    int32_t most = 0;
    *m = (struct menus){.rst = rst};
    TRY(find_kinds(m, c, err));
    while (b.n_slots < 2 * (int64_t)t->n_jobs * m->n_kinds && b.n_slots < 1 << 28)
        b.n_slots *= 2;
    for (int32_t w = 0; w < rst->w->n; w++)
        most = rst->w->config_begin[w + 1] - rst->w->config_begin[w] > most
                   ? rst->w->config_begin[w + 1] - rst->w->config_begin[w]
                   : most;
    m->of_job = malloc(((size_t)m->n_kinds * (size_t)t->n_jobs + 1) * sizeof *m->of_job);
    b.config = malloc(((size_t)most + 1) * sizeof *b.config);
    b.slot = malloc((size_t)b.n_slots * sizeof *b.slot);
    bool ok = m->of_job != NULL && b.config != NULL && b.slot != NULL;
    for (int32_t i = 0; ok && i < b.n_slots; i++)
        b.slot[i] = -1;
    for (int32_t job = 0; ok && job < t->n_jobs; job++)
        ok = add_job(&b, job);
    if (!ok)
        status = fail_memory(err);
    free(b.config);
    free(b.slot);
    free(b.key);
    return status;
}

void menus_free(struct menus *m)
{
    free(m->kind_of_node);
    free(m->of_job);
    free(m->menu);
    free(m->option);
    free(m->width);
    free(m->speed);
    *m = (struct menus){0};
}
