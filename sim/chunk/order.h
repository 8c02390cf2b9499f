/** @file In which order each chunk of a collective passes the dimensions. */
#ifndef SIM_CHUNK_ORDER_H
#define SIM_CHUNK_ORDER_H

#include "sim/rules.h"

/**
 * What the dimensions have been given so far [s]; zero at the start. Collectives issued at one instant share
 * it, later ones start anew (Themis' public code, astra-sim@86fec9b).
 */
struct order_load {
    double load_s[TOPO_MAX_DIMS];
};

enum { ORDER_MAX_TRIED = 24 /**< orders of 4 dimensions */ };

/** What one chunk in one order costs each dimension it passes. */
struct order_costs {
    bool known;
    uint8_t dims[TOPO_MAX_DIMS]; /**< the order */
    int32_t n;
    uint8_t at[STAGE_MAX];        /**< shape [n], dimensions */
    double cost_s[STAGE_MAX];     /**< shape [n] */
    bool linked;                  /**< stages load other classes of links too */
    double more_s[TOPO_MAX_DIMS]; /**< what they cost these */
};

/** A collective whose chunks are to be ordered, always in one enum sim_order. */
struct order_job {
    enum collective_kind kind;
    double chunk_B;                  /**< bytes of one chunk, as step_node.bytes */
    const int32_t *members, *stride; /**< shape [n_dims] */
    const double *share;             /**< as of collective_loads(), shape [n_dims] */
    const struct collective_way *way;
    struct order_costs costs[ORDER_MAX_TRIED]; /**< by the place at which an order is tried; zero at first */
};

/**
 * Order of the next chunks, and their load booked.
 *
 * THEMIS: the fixed order while the least and the most loaded dimension differ by less than one stage of a
 * sixteenth of a chunk on the least loaded; else by load, so that the least loaded dimension sees the chunk
 * when it is largest. Loads are bytes over bandwidth, of the reduce-scatter half. MINMAX: of all orders (more
 * than 4 dimensions: by load, fixed, and rotations of it) the one after which the most loaded dimension has
 * least, latency counted; of equals the fixed order, then the least sum. All-to-all, broadcast and send
 * always go the fixed way: every order has the same load.
 *
 * @param[out] out  dimensions with members > 1 in the order of a reduce-scatter: an all-gather goes against
 * it.
 * @param first     the first chunk of its collective.
 * @param chunks    how many go in this order; 1 where it depends on the load.
 * @return how many.
 */
int32_t order_next(uint8_t out[TOPO_MAX_DIMS], struct order_load *load, struct order_job *job,
                   const struct sim_rules *rules, enum sim_order order, bool first, int32_t chunks);

/*
 * Classes of NPUs that behave alike: one while none is slow, else those the slow ones make.
 */

enum { CELLS_MAX = 16384 };

/**
 * A cell is a class of NPUs: per dimension either one coordinate of its own, or the rest of them. Numbered
 * like NPUs, the first dimension fastest. Release with cells_free().
 */
struct cells {
    int32_t n_dims, n;
    int32_t n_class[TOPO_MAX_DIMS]; /**< classes of coordinates; 1: all alike */
    int32_t span[TOPO_MAX_DIMS];    /**< cells from one class of a dimension to the next */
    bool each[TOPO_MAX_DIMS];       /**< every coordinate is a class of its own */
    double *share;  /**< shape [n_dims][n], owned; of the bandwidth that a cell's NPUs have; NULL: all 1 */
    double *late_s; /**< shape [n], owned; NULL: all 0 */
};

/**
 * @param split_dims  bit d: some collective takes a part of dimension d, so that its coordinates differ as
 * soon as one of them is slow.
 * @return 0, ERR_NOMEM, or ERR_RANGE: more than CELLS_MAX.
 */
int cells_build(struct cells *c, const struct topo_network *net, const struct sim_rules *rules,
                unsigned split_dims, struct err *e);
void cells_free(struct cells *c);

double cells_share(const struct cells *c, int32_t d, int32_t cell);
double cells_late(const struct cells *c, int32_t cell);

/** The cells that take part with @p cell in a group of @p members with @p stride in dimension d, itself among
 * them. */
struct team {
    int32_t first, step, n; /**< first, first + step, ..., n of them; the first is the lowest */
};
struct team cells_team(const struct cells *c, int32_t d, int32_t cell, int32_t members, int32_t stride);

#endif
