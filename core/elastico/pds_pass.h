/* pds_pass.h - what the parts of one pass of pds.h share. Included by these alone. */
#ifndef COLOSIM_PDS_PASS_H
#define COLOSIM_PDS_PASS_H

#include "core/elastico/pds_state.h"

/* A running job of the catalog. */
struct resident {
    int32_t job, menu;
    int32_t option, width;           /* places in the menu, now */
    int32_t want_option, want_width; /* what the prices say */
    int32_t n_cards;
    double omega;  /* weight in the prices */
    double worth;  /* of its speed: worth_of */
    double left_s; /* reference seconds */
    double alone;  /* speed alone, as it is */
    double s;      /* believed slowdown: the worst of its cards */
    bool shares;   /* somebody sits on one of its cards */
    bool touched;  /* changed in this pass */
    bool fresh;    /* started in this pass: what it starts as can still change for nothing */
    int32_t met;   /* the last of pass.n_weighed that it was a neighbour in */
};
struct couple {
    int32_t a, b; /* residents, a < b; once for each pair */
};

struct pass {
    struct pds *s;
    const struct pds_config *config;
    const struct view *v;
    struct plan *p;
    struct resident *resident; /* (n) in order of start */
    int32_t n;
    struct couple *couple; /* (n_couples) */
    int32_t n_couples;
    int32_t n_weighed;    /* gangs, beside the neighbours that they would have */
    double u;             /* part of the cluster in use or asked for */
    double *queue_key;    /* (n_queue) the queue before the walk, ascending */
    int64_t *asked_milli; /* (n_queue + 1) by the first so many of it together */
    int32_t n_queue;
    double *free_in_s; /* (n_cards) when cards will be free of those who are on them, ascending */
    double omega_mean; /* of those priced */
    int32_t n_res;
    double per_card[CHOICE_RES_MAX]; /* what one unit is of the whole: MiB, slots, … */
    bool memory_out;
};

static inline const struct menu *pass_menu(const struct pass *a, int32_t menu)
{
    return &a->s->menus.menu[menu];
}
static inline const struct menu_option *pass_option(const struct pass *a, int32_t menu, int32_t i)
{
    return &a->s->menus.option[a->s->menus.menu[menu].option + i];
}
static inline const struct menu_width *pass_width(const struct pass *a, int32_t menu, int32_t i)
{
    return &a->s->menus.width[a->s->menus.menu[menu].width + i];
}
/* The speed that a profiled job would have alone, in what it is seen to run at: r->alone is in the
 * believed speed of its submitted configuration. */
static inline double pass_alone(const struct pass *a, const struct resident *r)
{
    return r->alone * (a->s->menus.rst->rate[r->job] / a->v->rst->rate[r->job]);
}
static inline double pass_speed(const struct pass *a, int32_t menu, int32_t option, int32_t width)
{
    return menu_speed(&a->s->menus, pass_menu(a, menu), option, width);
}
/* Has it layouts (parallel.h)? */
static inline bool pass_is_laid(const struct pass *a, int32_t job)
{
    return a->s->has_menus && a->s->menus.rst->asked[job] > 0;
}
/* Must its choices be tried, since whether they fit, and how fast they are, depends on the nodes?
 */
static inline bool pass_is_tried(const struct pass *a, int32_t job)
{
    return pass_is_laid(a, job) || (a->s->has_menus && a->s->takes_bandwidth &&
                                    a->s->takes_bandwidth[a->s->menus.rst->workload[job]]);
}
/* Those of several cards share none: what a neighbour of one does to a gang that waits for it in
 * every layer is not known. */
static inline bool pass_is_sole(const struct pass *a, int32_t job)
{
    return pass_is_laid(a, job) &&
           (a->s->menus.rst->asked[job] > 1 || job_is_elastic(a->v->jobs, job));
}
static inline bool pass_is(const struct pass *a, enum pds_without what)
{
    return a->config->without == (int)what;
}
static inline double omega_of(const struct pass *a, double left_s)
{
    return a->config->weight == PDS_ARRIVAL ? 1 : 1 / (left_s > 60 ? left_s : 60);
}
/* Place in the queue of a job that asks for so much: by its work left, or its arrival; of those
 * that have waited for too long before all others, exact to 140 years. */
static inline double key_of(const struct pds *s, const struct job_table *t, int32_t job,
                            double gpu_milli, double left_s)
{
    if (s->aged[job])
        return (double)t->submit_us[job] - 0x1p52;
    return s->config->weight == PDS_ARRIVAL ? (double)t->submit_us[job] : gpu_milli * left_s;
}
/* What a job's speed on so many cards is worth: at its highest speed a second saves the job itself
 * one second, and those who wait behind it the part of one that its cards are of the cluster. */
static inline double worth_of(const struct pass *a, int32_t menu, int32_t n_cards,
                              double cards_behind)
{
    return (1 + cards_behind / a->p->cluster->n_cards * n_cards) / pass_menu(a, menu)->speed_max;
}
/* Seconds over which a change of this job can pay back. */
static inline double horizon_of(const struct pass *a, double left_s, double speed)
{
    double ends_s = speed > 0 ? left_s / speed : 0;
    return ends_s < a->config->horizon_s ? ends_s : a->config->horizon_s;
}

/* τ of a job that would run at this speed alone. */
double pass_tau(const struct pass *a, int32_t menu, double alone);
/* Believed slowdowns of both options on one card; 1 without IAC. */
void pass_slowdowns(struct pass *a, int32_t menu_i, int32_t option_i, int32_t menu_k,
                    int32_t option_k, double s[2]);
/* (7) for a job: ω (1 - T/T_max) and the rent of its demand, ω over its mean. */
double pass_score(const struct pass *a, int32_t menu, int32_t option, int32_t width, double omega,
                  double speed);

/* Alone in this option and width: of a layout, on the cards that the job has in the plan. Not
 * *proper: no layout of these. */
double pass_speed_here(const struct pass *a, int32_t job, int32_t menu, int32_t option,
                       int32_t width, bool *proper);

/* The other one on a card that a job sits on: -1 where it is alone or there are more. */
int32_t pass_neighbour(const struct pass *a, int32_t job, int32_t card);
/* The card of a seat of a job's only task. */
static inline int32_t pass_card(const struct pass *a, int32_t job, int32_t i)
{
    return a->p->cluster->seats[a->p->at[a->v->jobs->task_begin[job]].first + i].where;
}

/* pds_open.c: finds a running job in the menus; kind -1 where it is not in them. */
void pds_adopt(struct pds *s, const struct view *v, const struct plan *p, int32_t job);
/* pds_open.c: menus of what the profiles tell by now; running jobs as they are, in these. */
enum status pds_learn(struct pds *s, const struct view *v, const struct plan *p,
                      struct error *err) MUST_USE;
/* pds_learn.c: what is seen of pairs corrects what is believed of them. False when memory is out.
 */
bool pass_learn(struct pass *a);
/* pds_prices.c: rounds of prices, choices and penalties; writes want_option and want_width. */
void pass_price(struct pass *a);
/* pds_change.c */
void pass_protect(struct pass *a); /* pairs seen to break what was agreed part */
void pass_switch(struct pass *a);  /* running jobs take the configuration that the prices say */
void pass_grow(struct pass *a);    /* nobody waits: pairs part, jobs widen */
/* pds_admit.c: starts waiting jobs and takes them out of the queue. */
void pass_admit(struct pass *a);
/* Limits plan_start to the nodes of one kind, where there are several. */
void pass_only_kind(struct pass *a, int32_t kind);
/* pds_layout.c: starts a job on free cards in the option and width of least score (7) among those
 * that find a place, as it would lie there. Cost O(options x widths x nodes). */
bool pass_start_tried(struct pass *a, int32_t job, int32_t menu);
/* Cards that a job's node must have together in this option: its tensor groups, where they may not
 * span nodes. */
int32_t pass_chunk(const struct pass *a, int32_t job, int32_t menu, int32_t option);

/* Writes free_in_s: when cards will be free if nobody is sent to them; those of jobs outside the
 * catalog are not expected. False when memory is out. Cost O(residents + cards log cards). */
bool pass_find_free(struct pass *a);
/* Looks at the queue for pass_behind. False when memory is out. Cost O(waiting). */
bool pass_look_at_queue(struct pass *a);
/* Cards asked for by those in the queue who come after a job with so much work left, in the queue's
 * own order. Cost O(log waiting). */
double pass_behind(const struct pass *a, int32_t job, int32_t n_cards, double left_s);
/* A job on cards, as the state has it, becomes the last of the list. */
struct resident *pass_add_resident(struct pass *a, int32_t job, int32_t menu);
/* A job runs in this option and width from now on. */
void pass_took(struct pass *a, int32_t job, int32_t kind, int32_t option, int32_t width);
/* A free card of this kind for one instance of the job, on the node with fewest free ones; -1. */
int32_t pass_free_card(const struct pass *a, int32_t job, int32_t kind);
/* Cards of this kind that nobody sits on. */
int32_t pass_free_cards(const struct pass *a, int32_t kind);
/* Another configuration of a resident, its cost paid. False where memory does not allow it. */
bool pass_reconfigure(struct pass *a, struct resident *r, int32_t option);
/* Seconds by the view's clock; 0 without one. */
static inline double pass_seconds(const struct pass *a)
{
    return a->v->clock != NULL ? a->v->clock() : 0;
}

#endif
