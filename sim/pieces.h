/**
 * @file Straight lines by ranges of size, fitted to measured times: what a library that changes protocol
 * looks like.
 *
 * Sizes fall into neighbouring ranges. In one of them the time of S bytes is the least, over terms j, of
 * hops_j lat + load_j S s_per_B: with one term a straight line. Several terms are several ways to use one
 * protocol: the segments of a pipeline, algorithms to choose from. Where ranges meet, times may jump either
 * way.
 */
#ifndef SIM_PIECES_H
#define SIM_PIECES_H

#include <stdint.h>

#include "base/err.h"

enum {
    PIECES_MAX = 9,
    PIECES_MAX_TERMS = 64,
    PIECES_MIN_POINTS = 3, /**< a line has two numbers; a third point can contradict them */
    PIECES_MAX_CUTS = 40,  /**< ranges meet in so many gaps; of more points in every second, third, .. */
};

struct pieces_term {
    double hops, load; /**< > 0 */
};

/** What is measured. Borrowed, not owned. */
struct pieces_problem {
    int32_t n;            /**< points, >= PIECES_MIN_POINTS */
    const double *bytes;  /**< shape [n], > 0, growing */
    const double *time_s; /**< shape [n], > 0 */
    const double *blur;   /**< shape [n], >= 1: how many times less a relative error counts at this point */
    int32_t n_terms;      /**< >= 1 */
    struct pieces_term terms[PIECES_MAX_TERMS];
    double least_s_per_B, most_s_per_B; /**< 0 < least < most: where lines may lie */
};

/** The line of one range. */
struct piece {
    int32_t first, n; /**< its points, n >= PIECES_MIN_POINTS */
    double lat_s;     /**< >= 0 */
    double s_per_B;   /**< least_s_per_B to most_s_per_B */
    double loss;      /**< sum over its points of |model - measured| / measured / blur */
};

struct pieces {
    int32_t n;
    struct piece list[PIECES_MAX]; /**< from the smallest sizes to the largest */
    double loss;                   /**< sum of theirs: the least there is */
};

/** Time of @p bytes [s] on the line of @p piece, in its range or not. O(terms). */
double pieces_time(const struct piece *piece, const struct pieces_problem *p, double bytes);

/**
 * Fit 1, 2, .. @p most pieces: all[k-1] has k of them.
 *
 * Least is the sum of the relative errors, not of their squares, so that one bad point does not bend a line.
 * It is a sum over ranges, which dynamic programming over the places where they meet makes as small as can be
 * (R. Bellman, Communications of the ACM 4(6), 1961). In one range it is convex in the line's two numbers:
 * for a given ratio of latency to time per byte the best scale is a weighted median, and the ratio is
 * searched by golden section from the best of a grid. With several terms that is a local optimum.
 * Deterministic.
 *
 * @param most  1 to min(PIECES_MAX, n / PIECES_MIN_POINTS).
 * @return 0 or ERR_NOMEM. Time O(cuts^2 n (terms + log n)).
 */
int pieces_fit(struct pieces all[PIECES_MAX], const struct pieces_problem *p, int32_t most, struct err *e);

#endif
