/* pds_walk.h - one walk through the queue: what pds_admit.c, pds_beside.c and pds_gang.c share. */
#ifndef COLOSIM_PDS_WALK_H
#define COLOSIM_PDS_WALK_H

#include "core/elastico/pds_pass.h"

/* A resident with a card that nobody else sits on. */
struct host {
    uint64_t alike; /* gangs last, then by menu and option */
    double omega;
    int32_t resident, card;
};
/* Hosts that are alike but for what their speed is worth, the least first: the first is the best of
 * them for any guest. */
struct hosts {
    int32_t next, end; /* in walk.host */
};

struct walk {
    struct pass *a;
    int64_t ahead_milli; /* asked for by those before this one who go on waiting */
    double held_s;       /* free cards are kept for one of them who has waited for too long: in so
                            many seconds he will have his; INFINITY: they are not */
    struct host *host;
    struct hosts *group;
    int32_t n_hosts, n_groups;
};

/* A job that asks to share. */
struct guest {
    int32_t menu;
    double factor, left_s, worth;
    double wait_s; /* until it could have cards of its own */
    double alone;  /* speed on these, as a part of its highest */
};

struct guest walk_guest(const struct walk *w, int32_t job, int32_t menu, int32_t width);
/* What a job would do on cards of its own a little later, over the time that it would share: its
 * speed there for the part that it would not wait, less what the cards are worth to others. */
double walk_alternative(const struct guest *g, double v_guest, double host_ends_s);
/* The choice of least score (7) among those that keep the promise and are no wider than so; false
 * where there is none. */
bool walk_best_choice(const struct pass *a, int32_t job, int32_t menu, int32_t most,
                      int32_t *option, int32_t *width);

/* Looks for hosts, and groups them. False when memory is out. */
bool walk_find_hosts(struct walk *w);
/* Starts a job on the card of the host that is best for both, in this width, where there is one. */
bool walk_start_beside(struct walk *w, int32_t job, int32_t menu, int32_t width);
/* Starts a job of several cards where some of them have somebody on them, in one configuration and
 * everybody else as he is, where that is safe and worth it. */
bool walk_start_gang_beside(struct walk *w, int32_t job, int32_t menu);

#endif
