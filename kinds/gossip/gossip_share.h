/**
 * @file Private to this folder: what several runs share, built by the first of them and let go of by the last,
 * so that memory does not grow with the study.
 */
#ifndef KINDS_GOSSIP_GOSSIP_SHARE_H
#define KINDS_GOSSIP_GOSSIP_SHARE_H

#include <omp.h>

#include "kinds/gossip/gossip_point.h"

/** Runs that still need what is shared. */
struct gossip_share {
    omp_lock_t lock;
    int64_t n_left;
    bool built;
};

/** Of a point: the network's graph, and own data. */
struct gossip_grid {
    struct gossip_share share;
    struct topo_graph *graph;       /**< owned */
    struct gossip_data train, test; /**< owned; empty with a teacher */
};

/** Of a point and seed: examples and who holds them. */
struct gossip_examples {
    struct gossip_share share;
    struct gossip_data train[2], test[2]; /**< before and after the drift; owned, empty with own data */
    struct gossip_shards shards;
};

/** Before the first run, with how many there are. */
void gossip_grid_begin(struct gossip_grid *g, int64_t n_runs);
void gossip_examples_begin(struct gossip_examples *x, int64_t n_runs);

/** For a run: build unless another has. Each to be followed by its end, also after failure. ERR_NOMEM,
 * ERR_LIB, ERR_RANGE, and what a file says. */
int gossip_grid_take(struct gossip_grid *g, const struct gossip_point *p, struct err *e);
int gossip_examples_take(struct gossip_examples *x, const struct gossip_grid *g, const struct gossip_point *p,
                         uint64_t seed, struct err *e);

/** A run needs them no more. */
void gossip_grid_leave(struct gossip_grid *g);
void gossip_examples_leave(struct gossip_examples *x);

/** When no run is under way: also of runs that never were. After _begin(). */
void gossip_grid_free(struct gossip_grid *g);
void gossip_examples_free(struct gossip_examples *x);

#endif
