/* rst.h - jobs and their configurations: which a job has, may have, and how fast it is in them.
 *
 * A job of a catalog's workload was submitted in one configuration and, for inference, with
 * sequences of one length: the SL it was submitted with. Its work is requests of that length
 * whatever SL its engine is given later; one below is infeasible, one above only reserves more. So
 * a configuration's numbers, for a job, are the row of the same knobs at the job's own length
 * (rst_row), and no other SL needs scoring.
 *
 * Where a workload says how it lies on its cards (parallel.h), a configuration on n cards is a
 * layout: tp and pp are its knobs, dp = n / (tp pp). It needs whole replicas and a batch that they
 * divide; its rate follows from where the gang lies. The job's own reference is its submitted
 * layout on the fewest nodes of its reference card that hold it. */
#ifndef COLOSIM_RST_H
#define COLOSIM_RST_H

#include "core/cluster/cluster.h"
#include "core/elastico/profile.h"

enum submitted { SUBMITTED_PEAK, SUBMITTED_LISTED, SUBMITTED_DEFAULT };
extern const char *const submitted_names[]; /* "peak", "listed", "default"; NULL-terminated */

struct rst {
    const struct workloads *w;
    const struct profiles *p;
    int32_t *card_of_type;   /* (gpu types of the cluster) row of card_table, -1 unknown */
    int32_t n_outside;       /* jobs with GPUs whose workload is not in the catalog, or none, or has
                                layouts and none for their cards: parts of them, several tasks, a
                                number that no tp x pp and no batch divides */
    int32_t n_unlisted;      /* jobs whose listed configuration is not one of the workload's: the
                                nearest, or the default, stands in */
    const int32_t *stand_in; /* (configurations) whose profile counts for each: its own where it was
                                taken, -1 where nothing is known; NULL: all were (lore.h) */

    /* (N_CARDS) of the cluster's nodes of that type; else PARALLEL_NODE and the type's own */
    int32_t node_cards[N_CARDS];   /* the most of a node */
    int32_t card_mem_mib[N_CARDS]; /* the largest */
    struct links links[N_CARDS];   /* the slowest */

    /* (n_jobs) */
    int32_t *asked;     /* cards that a job with layouts asked for; 0: it has none */
    int32_t *workload;  /* -1: not in the catalog, or no GPUs */
    int32_t *submitted; /* configuration; -1 likewise */
    int32_t *card;      /* the reference: of the job's gpu_type, else of the cluster's first card of
                           a known type, else CARD_REFERENCE */
    double *rate;       /* T(submitted, reference card) */
    int32_t *mem_mib;   /* GPU memory on each card in the submitted configuration: the trace's word
                           where it has one, else the profile's; 0 outside */
    struct arena arena; /* owns it all */
};

/* peak: the fastest that fits the reference card; listed: what the trace says, else the default;
 * default: no AMP, no checkpointing, … The length is the listed one's where there is one. w and p
 * must outlive it. The caller frees in any case. Cost O(jobs + configurations). */
enum status rst_init(struct rst *r, const struct profiles *p, const struct job_table *t,
                     const struct cluster *c, enum submitted submitted, struct error *err) MUST_USE;
void rst_free(struct rst *r);

/* Type of a node's cards for this job: its reference where the type is unknown. */
static inline int32_t rst_card(const struct rst *r, const struct cluster *c, int32_t job,
                               int32_t node)
{
    int32_t type = c->node_type[node], card = type < 0 ? -1 : r->card_of_type[type];
    return card >= 0 ? card : r->card[job];
}

static inline bool rst_profiled(const struct rst *r, int32_t config)
{
    return r->stand_in == NULL || r->stand_in[config] == config;
}
/* The profile row of a job of the catalog in a configuration of its workload; -1 where nothing is
 * known. */
static inline int32_t rst_row(const struct rst *r, int32_t job, int32_t config, int32_t card)
{
    int32_t length = config_index(r->w, r->submitted[job], KNOB_SL);
    int32_t own = config_with(r->w, config, KNOB_SL, length);
    int32_t from = r->stand_in == NULL ? own : r->stand_in[own];
    return from < 0 ? -1 : profile_row(r->p, from, card);
}

/* Of a job with layouts: T(c, card, n) / T(submitted, reference, n asked for) on the fewest nodes
 * that hold n cards; 0 where the configuration is no layout of them. */
double rst_packed_speed(const struct rst *r, int32_t job, int32_t config, int32_t card, int32_t n);
/* The same on the cards of these seats, instance by instance. Cards that make no replica idle; on
 * fewer than one replica needs its parts take turns. Not *proper: either of these, or a tensor
 * group on several nodes that may not be. Cost O(seats), and of seats x nodes where those of a node
 * are not side by side. */
double rst_placed_speed(const struct rst *r, const struct cluster *c, const struct job_table *t,
                        int32_t job, int32_t config, int32_t first_seat, int32_t n_seats,
                        bool *proper);
/* The fewest cards from gpu_min to gpu_max on which an elastic job with layouts fits its reference
 * card, and the configuration; gpu_min where none does. */
int32_t rst_narrowest(const struct rst *r, const struct job_table *t, int32_t job, int32_t *config);

/* T(c, card) / T(submitted, reference): reference seconds per second, alone, on as many GPUs as
 * asked for. Exactly 1 for the submitted configuration on the reference card, and where nothing is
 * known. */
static inline double rst_speed(const struct rst *r, int32_t job, int32_t config, int32_t card)
{
    if (r->asked[job] > 0)
        return rst_packed_speed(r, job, config, card, r->asked[job]);
    int32_t row = rst_row(r, job, config, card);
    return row < 0 ? 1 : r->p->m.rate[row] / r->rate[job];
}

/* What n GPUs are worth over the n0 an elastic job without layouts asked for: by its workload's
 * measured scaling, else (n / n0)^scale_exp. */
double rst_width_speed(const struct rst *r, int32_t job, int32_t n, int32_t n0, double scale_exp);

/* GPU memory on each card. */
static inline int32_t rst_mem_mib(const struct rst *r, int32_t job, int32_t config)
{
    return config == r->submitted[job] ? r->mem_mib[job] : r->p->fb_mib[config];
}

/* The profiled configuration of a job's workload, at its own length, that reserves least GPU
 * memory; of equals the fastest on its reference card, then the lowest number. */
int32_t rst_smallest(const struct rst *r, int32_t job);

/* The workload's default configuration, at the job's own length. */
static inline int32_t rst_default(const struct rst *r, int32_t job)
{
    int32_t length = config_index(r->w, r->submitted[job], KNOB_SL);
    return config_with(r->w, r->w->initial[r->workload[job]], KNOB_SL, length);
}

/* Was it profiled, does it fit the card (its memory less M_sys; INT32_MAX: any), hold the job's
 * sequences, and keep at least min_rate_frac of the submitted rate: L_j of the paper's (4)? Of a
 * layout the last depends on the number of cards and is not asked. */
bool rst_feasible(const struct rst *r, int32_t job, int32_t config, int32_t card,
                  int32_t card_mem_mib, double min_rate_frac);

/* The configurations of a job that need scoring on a type of card: feasible, at its own length, on
 * the frontier; and keep whatever it is (-1: none; must have the job's own length). Ascending. out
 * holds as many as the workload has configurations. Returns how many. Cost O(configurations^2). */
int32_t rst_candidates(const struct rst *r, int32_t job, int32_t card, int32_t card_mem_mib,
                       double min_rate_frac, int32_t keep, int32_t *out);

#endif
