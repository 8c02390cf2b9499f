/** @file Classes of NPUs that behave alike: one while none is slow, else those the slow ones make. */
#ifndef SIM_CELLS_H
#define SIM_CELLS_H

#include "sim/rules.h"

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
