/* parallel.h - a training job on several cards: data, tensor and pipeline parallel, and what their
 * communication costs.
 *
 * A gang of n = dp x tp x pp cards holds dp replicas of a network, each cut into pp stages of
 * layers, each stage into tp slices. Ranks are numbered tensor first, then data, then pipeline, as
 * Megatron-LM does, and lie on the nodes in that order. With t1 the time of one micro-batch of bs
 * samples through the whole network on one card, B the global batch and m = B / (dp bs):
 *
 *     slot = t1 / (tp pp) + a (layers / pp) 2 (tp - 1) / tp  bs act / b_tp + [pp > 1] 2 bs act / tp
 * / b_pp step = (m + pp - 1) slot + dp_exposed  2 (dp - 1) / dp  grad / (tp pp) / b_dp T    = B /
 * step
 *
 * a all-reduces of a layer's activations: 4, and 6 where they are recomputed (Shoeybi et al. 2019;
 * Narayanan et al. 2021, §3.2); all of them by rings, which send 2 (n - 1) / n of the bytes; the
 * bubble of pp - 1 slots is that of GPipe and 1F1B (ibid. §2.2). Between the cards of a node b is
 * their link. A tensor group or a pipeline that leaves the node has a card's part of the NIC; a
 * node whose cards belong to k data-parallel rings that leave it gives each one k-th of its cards'
 * parts. Latency, congestion and the overlap of anything but gradients are left out. The equations
 * with their sources are in docs/parallel.md. */
#ifndef COLOSIM_PARALLEL_H
#define COLOSIM_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

/* By their names in the JSON, each with a mark as in workload.h. */
#define PARALLEL_COEFFICIENTS(X)                                                                   \
    X(batch)       /* samples of an optimizer step, whatever the layout */                         \
    X(layers)      /* that are cut into stages */                                                  \
    X(grad_bytes)  /* gradients of the network */                                                  \
    X(act_bytes)   /* of one sample between two layers */                                          \
    X(state_bytes) /* weights, gradients and optimizer on one card; tp and pp divide them */       \
    X(dp_exposed)  /* part of the gradients' all-reduce that computing does not hide */            \
    X(tp_spans)    /* 1: a tensor group may lie on several nodes */
struct parallel {
#define X(name) double name;
    PARALLEL_COEFFICIENTS(X)
#undef X
};
enum { PARALLEL_MARKS = 7, PARALLEL_NODE = 8 /* cards of a node where none is known */ };

struct degrees {
    int32_t dp, tp, pp;
};

/* Bytes per second that a card reaches in one direction: to others of its node, and its part of the
 * node's NIC. */
struct links {
    double card, nic;
};

/* Where a gang lies, node by node in the order of ranks. All-zero is a gang of no cards yet. */
struct footprint {
    int32_t n_nodes, n_cards;
    bool tp_leaves;        /* a tensor group lies on two nodes */
    double rings_per_card; /* of data-parallel rings that leave a node: the most of any node */
};
void footprint_add(struct footprint *s, struct degrees d, int32_t n_cards);
/* On as few nodes of so many cards as hold the gang. */
struct footprint footprint_packed(struct degrees d, int32_t cards_of_node);

/* Replicas of size cards that n cards hold, no more than divide the global batch into whole
 * micro-batches; 0 where there is none. */
int32_t parallel_replicas(const struct parallel *p, double bs, int32_t size, int32_t n);

/* Seconds of an optimizer step; t1_s as above, recompute: activations are. Cost O(1). */
double parallel_step_s(const struct parallel *p, struct degrees d, double bs, double t1_s,
                       bool recompute, const struct links *l, const struct footprint *s);

/* Of what a configuration takes of one card, in MiB, what it takes of each with these degrees: the
 * state is cut into tp x pp parts; activations into tp, since the first of pp stages holds those of
 * pp micro-batches. */
double parallel_mem_mib(const struct parallel *p, double one_card_mib, int32_t tp, int32_t pp);

#endif
