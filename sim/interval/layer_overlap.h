/** @file One training iteration layer by layer: how much of it communication and computation hide of each
 * other. */
#ifndef SIM_INTERVAL_LAYER_OVERLAP_H
#define SIM_INTERVAL_LAYER_OVERLAP_H

#include <stdint.h>

#include "base/err.h"

/**
 * How the gradients of layers travel to the parameter servers and back. Backward passes run from the last
 * layer to the first, forward passes from the first to the last. Source: arXiv 2105.13855 section III.
 */
enum overlap_mode {
    OVERLAP_SEQUENTIAL, /**< backward, then all pushes and pulls, then forward */
    OVERLAP_WAIT_FREE,  /**< a layer is pushed once its backward pass is done, in that order (Lemma 1) */
    OVERLAP_PRIORITY,   /**< sliced, the layer that the forward pass needs first goes first */
    OVERLAP_LEMMA2,     /**< priority as the paper's Lemma 2 has it, which counts backlog twice */
    N_OVERLAP_MODES,
};

/** "sequential", "wait_free", "priority", "lemma2"; NULL-terminated. */
extern const char *const overlap_mode_names[N_OVERLAP_MODES + 1];

/** Times of the layers of a network; borrowed. Index 0 is the input layer. */
struct overlap_layers {
    const double *backward_s; /**< shape [n], >= 0 */
    const double *forward_s;  /**< shape [n], >= 0 */
    const double *comm_s;     /**< shape [n], one way, >= 0 */
    int32_t n;                /**< >= 1 */
    double slice_s;           /**< time of a slice on the wire, >= 0; priority only */
};

/** Share of each part of an iteration that nothing hides, 0 to 1; all 1 is sequential. */
struct overlap_shares {
    double forward;  /**< e1, of the forward pass */
    double backward; /**< e2, of the backward pass */
    double comm;     /**< e3, of pushes and pulls */
};

/** ERR_RANGE: no layer, or a time that is negative or no number ("layer 3: forward_s: is ..."). */
int overlap_check(const struct overlap_layers *l, struct err *e);

/**
 * Time of one iteration [s], from the first backward pass to the end of the last forward pass. O(n). Layers
 * have passed overlap_check(). Always priority <= wait-free <= sequential when slice_s is 0.
 *
 * OVERLAP_PRIORITY is not Lemma 2. With D_j = comm of layers 2..j less backward passes of layers 1..j-1, what
 * the channel still owes layers 2..j when the backward pass ends is max(0, max over k <= j of D_k) (Lindley's
 * recursion, written out), and layer j has arrived that long after layer 1. Lemma 2 adds D_j to the latest
 * arrival before j, which already holds earlier backlog: on the ranges of the paper's own experiment it
 * is slower than wait-free for most networks.
 */
double overlap_time_s(const struct overlap_layers *l, enum overlap_mode mode);

/**
 * Shares that nothing hides, for the closed form of the speed (smd_job.h). The paper gives one example and no
 * rule. Ours: the forward pass is never hidden; of backward passes the last layer's is not (wait-free), or
 * none is (priority); the rest of the iteration is communication. Each is cut to [0, 1]; 1 where the part
 * takes no time.
 */
struct overlap_shares overlap_find_shares(const struct overlap_layers *l, enum overlap_mode mode);

#endif
