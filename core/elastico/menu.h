/* menu.h - what jobs may run as: the configurations and widths that need scoring, shared by all
 * jobs alike (a profile family of §3.1, with GPU counts as §5.2 has them).
 *
 * An option is a configuration at a job's own sequence length, on one kind of card; a width is a
 * number of cards. Speeds are reference seconds per second, alone. Together they must keep the
 * job's promise L: menu_speed >= least. Layouts of one job (parallel.h) are options that not every
 * width has; their speeds are those of a gang on the fewest nodes. A job whose every choice breaks
 * it keeps the ones that at least fit: it has to run somehow. */
#ifndef COLOSIM_MENU_H
#define COLOSIM_MENU_H

#include "core/elastico/rst.h"

enum { MENU_KINDS_MAX = 8, MENU_WIDTHS_MAX = 16 };

struct menu_option {
    int32_t config, row; /* of the profile, or of the one that stands in; -1: nothing is known */
    bool profiled;       /* else nobody may share a card with it */
    int32_t mem_mib;     /* on each card */
    double speed;        /* at the width asked for; of a layout at the width where it is highest */
};
struct menu_width {
    int32_t n;     /* cards */
    double factor; /* of speed; 1 at the width asked for */
};
struct menu {
    int32_t kind;
    int32_t option, n_options; /* in menus.option, fastest first */
    int32_t width, n_widths;   /* in menus.width, narrowest first */
    double least;              /* L as a part of the submitted rate */
    double speed_max;          /* of any option at any width */
    int32_t speed;             /* in menus.speed, (n_options x n_widths) of layouts, 0 where an
                                  option does not have the width; -1: speed x factor */
};

struct menu_rules {
    double min_rate_frac; /* L where a trace has none */
    const bool *keep;     /* (configurations) stay choices although others beat them; NULL: none */
    bool reshape;         /* false: in one configuration, as wide as asked for: as submitted, */
    bool as_default;      /* or in the workload's default */
    double scale_exp;
};

struct menus {
    const struct rst *rst;
    int32_t n, n_kinds;
    struct card_kind {
        int32_t card, mem_mib; /* row of card_table */
    } kind[MENU_KINDS_MAX];
    int32_t *kind_of_node; /* (n_nodes) -1: no card of a known type */
    int32_t *of_job;       /* (n_kinds x n_jobs) -1: outside the catalog, or nothing fits */
    struct menu *menu;     /* (n) */
    struct menu_option *option;
    struct menu_width *width;
    double *speed;
    int32_t n_options, n_widths, n_speeds;
    size_t menu_capacity, option_capacity, width_capacity, speed_capacity;
};

/* Of all jobs on all kinds of card of the cluster. The caller frees in any case. Cost O(jobs), and
 * O(configurations^2) for each menu. */
enum status menus_init(struct menus *m, const struct rst *rst, const struct job_table *t,
                       const struct cluster *c, const struct menu_rules *rules,
                       struct error *err) MUST_USE;
void menus_free(struct menus *m);

static inline const struct menu *menu_of(const struct menus *m, int32_t n_jobs, int32_t kind,
                                         int32_t job)
{
    int32_t i = kind < 0 ? -1 : m->of_job[(size_t)kind * (size_t)n_jobs + (size_t)job];
    return i < 0 ? NULL : &m->menu[i];
}
/* Alone, by the places of option and width in the menu. */
static inline double menu_speed(const struct menus *m, const struct menu *menu, int32_t option,
                                int32_t width)
{
    if (menu->speed >= 0)
        return m->speed[menu->speed + option * menu->n_widths + width];
    return m->option[menu->option + option].speed * m->width[menu->width + width].factor;
}
/* Cards a job asked for: of a job of one task, a part of a card counting as one. */
int32_t menu_asked(const struct job_table *t, int32_t job);
/* Is the promise kept, or can no choice keep it? */
static inline bool menu_keeps(const struct menu *m, double speed)
{
    return speed > 0 && (speed >= m->least * (1 - 1e-12) || m->speed_max < m->least);
}

#endif
