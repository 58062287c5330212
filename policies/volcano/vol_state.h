/* vol_state.h - what the Volcano scheduler sees when it wakes up, and how an action changes it.
 *
 * A job is a group of tasks (a PodGroup) in a queue. It is pending until it is admitted, then
 * inqueue, and running once its minimum runs. Its tasks are rows task_begin[job] ..
 * task_begin[job + 1] - 1 in the order in which they are placed (by priority, then index); a task
 * without a pod is VOL_NONE. An action changes tasks, and keeps or takes back: changes since a mark
 * are undone newest first, and what was neither bound nor taken back is undone when the session
 * closes. No plug-in keeps anything from one session to the next: the sums here are of the state.
 *
 * Source: Volcano ed72c7c (2026-08-20), pkg/scheduler. Not here: hierarchical DRF, the capacity
 * plug-in, network topologies, gang-level preempt and reclaim, nominated nodes, scheduling gates,
 * sampling of nodes (upstream begins it above 100). Checked by the vectors of its own tests. */
#ifndef COLOSIM_VOL_STATE_H
#define COLOSIM_VOL_STATE_H

#include "policies/volcano/vol_config.h"
#include "policies/volcano/vol_deserved.h"
#include "policies/volcano/vol_lines.h"
#include "policies/volcano/vol_ranking.h"

enum vol_phase { VOL_ABSENT, VOL_PENDING, VOL_INQUEUE, VOL_RUNNING };

enum vol_status {
    VOL_NONE,      /* no pod: not made yet, or deleted */
    VOL_WAITING,   /* a pod without a node */
    VOL_ALLOCATED, /* given a node in this session */
    VOL_PIPELINED, /* promised what others will leave */
    VOL_BOUND,     /* on a node since an earlier session */
    VOL_RELEASING, /* evicted; still on its node */
    VOL_SUCCEEDED
};

/* Jobs of one shape are alike in all of this and in what their tasks ask. */
struct vol_shape {
    int32_t queue, priority, min_available;
    bool has_min; /* else it is admitted without a vote */
    bool uniform; /* all tasks ask the same; where not, the shape has but one job */
    struct amounts min_resources;
};

/* Minimum numbers of tasks by role. */
struct vol_roles {
    int32_t n;
    const int32_t *role; /* (n_tasks) -1 for none */
    const int32_t *min;  /* (n_jobs x n) */
};

struct vol_sizes {
    int32_t n_nodes, n_queues, n_shapes, n_jobs, n_tasks, n_asks;
    const int32_t *card_begin; /* (n_nodes + 1) first card of a node; NULL: cards are not shared */
};

struct vol_state {
    const struct vol_config *config;
    struct vol_sizes size;

    /* filled in by the caller before vol_state_begin */
    struct vol_nodes nodes;
    struct vol_ask *ask;           /* (n_asks) */
    struct vol_queue *queue;       /* (n_queues) */
    struct vol_shape *shape;       /* (n_shapes) */
    int32_t *job_shape, *job_rank; /* (n_jobs) rank by creation; no two are equal */
    int32_t *task_begin;           /* (n_jobs + 1) */
    int32_t *task_ask;             /* (n_tasks) */
    const int32_t *task_priority;  /* (n_tasks) NULL: all alike */
    const bool *task_kept;         /* (n_tasks) may not be evicted; NULL: all may */
    const bool *task_meek;         /* (n_tasks) never evicts; NULL: none is */
    const struct vol_roles *roles; /* NULL: none */

    /* (n_jobs) kept */
    uint8_t *phase; /* enum vol_phase */
    bool *in_line;  /* in the line of its phase */
    int32_t *n_pods, *n_ready, *n_held, *n_pipelined, *n_waiting;
    int32_t *n_empty;     /* of those that wait: who ask for nothing */
    struct amounts *held; /* by tasks allocated or bound */

    /* (n_tasks) kept */
    uint8_t *status; /* enum vol_status */
    int32_t *task_job, *task_node, *next_on_node, *prev_on_node;
    int32_t *card_begin, *task_card; /* cards of a task: task_card[card_begin[task]] .. */
    int32_t *on_node;                /* (n_nodes) first task, -1 */

    /* kept */
    struct amounts inqueue; /* reserved by all admitted groups, as overcommit counts */
    struct vol_lines lines;
    int32_t *shape_queue; /* (n_shapes) */
    int64_t n_freed; /* grows with whatever is given back: only then may a job that found no place
                        find one, as a queue is due no more unless another asks for less */
    int64_t *stuck;  /* (n_shapes) n_freed when a job of it last found none; -1 */

    /* of the session */
    int on[N_VOL_PLUGINS]; /* callbacks */
    struct vol_liking liking;
    struct vol_ranking ranking;
    struct vol_undo {
        int32_t task, node;
        enum vol_status status; /* before */
    } * undo;
    int32_t n_undo;
    bool *barred;           /* (cards) scratch */
    int32_t *role_members;  /* (roles) scratch */
    bool *role_failed;      /* (roles) scratch */
    int32_t *heap, *n_heap; /* (n_shapes) by queue, (n_queues): vol_walk.h */
    bool *queue_done;       /* (n_queues) scratch */
    struct vol_evicting {   /* scratch of vol_evict.h */
        int32_t *job;       /* (n_jobs) out of their line for the action */
        bool *starves;      /* (n_jobs) of these */
        int32_t *task;      /* (n_tasks) who could go from a node */
        bool *victim, *own; /* (n_tasks) of these: who goes, by all; by one plug-in */
        double *score;      /* (n_nodes) */
        int32_t *node;      /* (n_nodes) */
        int64_t *failed;    /* (n_shapes) n_moves when a job of it last failed; -1 */
        int64_t n_moves;    /* evictions and promises that stayed */
    } evicting;
    int32_t *cursor;               /* (n_jobs) the first task not looked at in this action */
    int64_t n_actions, *cursor_of; /* (n_jobs) the action it is of */
    int32_t *admitted, n_admitted; /* jobs */
    int32_t *bound, n_bound;       /* jobs given nodes */
    bool *is_bound;                /* (n_jobs) */
    int32_t *evicted, n_evicted;   /* tasks */
};

/* Makes room; evicts: for preempt and reclaim as well. The config must outlive the session. False
 * when memory is out. */
bool vol_state_init(struct vol_state *s, const struct vol_config *config,
                    const struct vol_sizes *size, bool evicts, struct arena *arena);
/* Everything is filled in. False when memory is out. */
bool vol_state_begin(struct vol_state *s, struct arena *arena);

#endif
