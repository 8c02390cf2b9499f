/** @file Pareto fronts over two to five columns, one point at a time. */
#ifndef EXPLORE_FRONT_H
#define EXPLORE_FRONT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { FRONT_MAX_COLUMNS = 5 };

/**
 * Points that no other point of those offered dominates. a dominates b when it is <= b everywhere and < b
 * somewhere: less is better, so what is to be large is offered with its sign changed. Points that are equal
 * everywhere stay together. The set does not depend on the order in which points are offered.
 * `= { .n_cols = 2 }`; release with front_free().
 */
struct front {
    int32_t n_cols;
    int64_t n, cap;
    double *x;   /**< shape [n][n_cols], owned; by x[0], then x[1], .. */
    int64_t *id; /**< shape [n], owned: what the caller called them */
    int64_t *off, n_off,
        cap_off; /**< shape [n_off], owned: ids that were taken off; the caller may set n_off to 0 */
};

/**
 * Offer a point of finite values (others are never on a front). *on says whether it is on the front now. The
 * ids of those that it takes off are appended to f->off. ERR_NOMEM. O(log n + those taken off) for two
 * columns, O(n) at most for more.
 */
int front_offer(struct front *f, const double *x, int64_t id, bool *on, struct err *e);

/** Is @p x, or are all points that are >= it everywhere, dominated by a point of the front? For two columns
 * O(log n). */
bool front_dominates(const struct front *f, const double *x);

/** The point farthest from the straight line (plane) through the ends of the front, each column scaled to
 * 0..1 (log: of its logarithm); -1 for fewer than three points. */
int64_t front_knee(const struct front *f);

/** By how much all of @p x must shrink to reach the front: the least k >= 0 with x/(1+k) not dominated, all
 * x > 0. 0 on the front or beyond. */
double front_distance(const struct front *f, const double *x);

void front_free(struct front *f);

/** A front for each group: rows of one workload, say, are not held against those of another. */
struct front_set {
    struct front *fronts; /**< shape [n], owned */
    char **groups;        /**< shape [n], owned: what the rows of a group have in common */
    int32_t n, cap, n_cols;
};
/** The front of a group; NULL when there is none yet. */
const struct front *front_of(const struct front_set *s, const char *group);
void front_set_free(struct front_set *s);

#endif
