/* cluster.h - nodes, cards and who sits where.
 *
 * Shares of a card are thousandths (milli). With SHARE_CARD a request below 1000 takes part of one
 * card and a larger one whole free cards of one node; with SHARE_NODE_SUM only each node's sum
 * counts and 2500 is legal. A seat is one card (or, without cards, one node) held by one task; a
 * task's seats are consecutive, instance by instance. Columns of nodes and cards are public to
 * read; only cluster_take and cluster_release change what is free. */
#ifndef COLOSIM_CLUSTER_H
#define COLOSIM_CLUSTER_H

#include "core/base/names.h"
#include "core/base/status.h"
#include "core/cluster/job.h"
#include "core/cluster/peaks.h"

#include <stdbool.h>
#include <stdint.h>

enum share_mode { SHARE_CARD, SHARE_NODE_SUM };

/* A number of equal nodes, as a cluster is described. */
struct node_spec {
    int32_t count, n_gpus;
    const char *name;     /* of the one node; NULL: numbered from 0 through the cluster */
    const char *gpu_type; /* "" where there is none */
    const char *pool;     /* NULL where there is none */
    int64_t cpu_milli;    /* -1: not limited */
    int64_t mem_mib;      /* -1: not limited */
    int32_t gpu_mem_mib;  /* of each card; 0: not known, not limited */
    int32_t link_mbps;    /* Mbit/s of each card to the others of its node; 0: as its type has */
    int32_t nic_mbps;     /* Mbit/s of the node to others; 0: not declared */
    int32_t storage_mbps; /* Mbit/s of the node to storage; 0: not declared */
};

/* Frees an array whose texts are malloc'd each; for readers of machine tables. */
void node_specs_free(struct node_spec *nodes, int32_t n);

struct seat {
    int32_t task;       /* -1 free */
    int32_t where;      /* card >= 0, or ~node */
    int32_t next, prev; /* other seats of the same card, -1 ends */
};

struct cluster {
    int32_t n_nodes, n_cards;
    enum share_mode share;
    bool mem_gives_way;     /* the policy shrinks_memory: a card's memory may be asked for twice */
    struct names names;     /* of nodes; a node's row number is the id of its name */
    struct names gpu_types; /* ids of node_type */
    struct names pools;     /* ids of node_pool */
    struct names queues;    /* that the cluster's description names */
    double *queue_weight;   /* (queues.n) 0 to CLUSTER_WEIGHT_MAX */
    size_t queue_capacity;

    /* (n_nodes) */
    int32_t *node_card; /* (n_nodes + 1) first card */
    int32_t *node_type; /* id in gpu_types, -1 none */
    int32_t *node_pool; /* id in pools, -1 none; a static part of the cluster */
    int32_t *node_link_mbps, *node_nic_mbps, *node_storage_mbps; /* 0: not declared */
    int32_t *node_gpu_milli, *node_cpu_milli, *node_mem_mib;     /* capacity */
    int32_t *gpu_free_milli, *cpu_free_milli, *mem_free_mib;     /* what is left */
    int32_t *nic_free_mbps, *storage_free_mbps; /* likewise; INT32_MAX where not declared */
    int32_t *cards_free;                        /* cards nobody sits on */
    struct peaks gpu_free_peaks;                /* over gpu_free_milli */

    /* (n_cards) */
    int32_t *card_node;
    int32_t *card_gpu_mem_mib; /* capacity, INT32_MAX where not known */
    int32_t *card_free_milli, *card_mem_free_mib;
    int32_t *card_n_jobs; /* who sits on it */
    int32_t *card_seat;   /* first seat, -1 none */

    int64_t gpu_milli, cpu_milli, mem_mib; /* capacity of all nodes */
    int64_t gpu_held_milli; /* milli-GPUs in use: a card shared by several whole-card jobs counts
                               once */
    int64_t gpu_mem_held_mib, gpu_mem_mib;  /* on cards whose memory is known */
    int64_t gpu_idle_milli, cpu_idle_milli; /* sums of the free columns; may be read by policies */
    int32_t n_cards_free;                   /* sum of cards_free */

    struct seat *seats;
    size_t n_seats, seat_capacity;
    int32_t free_list[32]; /* first free run of 2^k seats, linked by next */
};

enum status cluster_init(struct cluster *c, const struct node_spec *specs, int32_t n_specs,
                         enum share_mode share, struct error *err) MUST_USE;
void cluster_free(struct cluster *c);

/* Queues belong to the description, jobs need not be in one of them. ST_USAGE where the weight is
 * not from 0 to CLUSTER_WEIGHT_MAX or the queue is there already. */
#define CLUSTER_WEIGHT_MAX 1e9
enum status cluster_add_queue(struct cluster *c, const char *name, double weight,
                              struct error *err) MUST_USE;

/* How many seats one instance needs: its cards, or 1 for a fraction, no GPU, or SHARE_NODE_SUM. */
int32_t cluster_seats_of_instance(const struct cluster *c, int32_t gpu_milli);

/* A run of n consecutive seats, not yet linked to any card; -1 when memory is out. */
int32_t cluster_seats_new(struct cluster *c, int32_t n);
void cluster_seats_drop(struct cluster *c, int32_t first, int32_t n);

/* Puts a task on seats first .. first + n - 1 whose where is filled in: takes shares, memory, CPU
 * and host memory. Must fit (asserted for shares and memory unless shared, see place.h). */
void cluster_take(struct cluster *c, const struct job_table *t, int32_t task, int32_t first,
                  int32_t n);
/* Gives them back; the seats keep their where, so cluster_take can undo it. */
void cluster_release(struct cluster *c, const struct job_table *t, int32_t task, int32_t first,
                     int32_t n);

/* Does some node declare the bandwidth of its NIC, or of storage? */
bool cluster_has_bandwidth(const struct cluster *c);

static inline int32_t seat_node(const struct cluster *c, int32_t where)
{
    return where >= 0 ? c->card_node[where] : ~where;
}

/* The types of the cluster that a request may mean, bit t for type t (of the first 64): the one it
 * names, or those it lists as in "V100M16|V100M32"; 0 where the cluster has none of them. */
uint64_t cluster_types_of(const struct cluster *c, const char *text, size_t length);

/* Walks every invariant: sums, counts, lists; for tests. */
bool cluster_valid(const struct cluster *c, const struct job_table *t);

#endif
