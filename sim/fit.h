/** @file Settings fitted to measured collectives: pieces of a curve, a dimension's latency and efficiency. */
#ifndef SIM_FIT_H
#define SIM_FIT_H

#include <stdint.h>

#include "base/err.h"
#include "topo/network.h"
#include "workloads/curves/curve.h"

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

/*
 * From measured times of a collective to the keys of a dimension: bandwidth, latency, efficiency,
 * regimes.
 */

enum {
    FIT_MAX_REGIMES = TOPO_MAX_REGIMES + 1, /**< those of a dimension and its own */
    FIT_MIN_POINTS = 3,
    FIT_MAX_POINTS = 512,
};

/** Two percent: about the scatter of repeated measurements. A fit that close needs no more regimes. */
#define FIT_SCATTER 0.02

/** Sizes from here on are large: errors are reported apart for both. */
#define FIT_LARGE_B (1 << 20)

/** Smallest regime efficiency that a network file may hold. */
#define FIT_MIN_EFFICIENCY 1e-3

/** Relative errors of the model over some sizes. */
struct fit_errors {
    int32_t n;
    double mean_frac, max_frac; /**< of |model - measured| / measured; 0 when n is 0 */
};

/** Release with fit_free(). */
struct fit {
    struct topo_dim dim; /**< as given, with bw_Bps, lat_s, efficiency and regimes as fitted: the regimes by
                            growing size limit, the dimension's own numbers beyond the last of them */
    int32_t n_regimes;   /**< dim.n_regimes + 1 */
    int32_t n;
    double *model_s; /**< shape [n], owned: what the dimension predicts for each point */
    struct fit_errors large, small;
    double
        score[FIT_MAX_REGIMES]; /**< by number of regimes, from one; NaN where the data do not support it */
    bool at_limit; /**< measured is faster than the stated bandwidth allows: the model cannot follow */
};

struct fit_settings {
    double bw_Bps; /**< of the dimension, as its links have it; NaN: the rate that large sizes approach */
    int32_t max_regimes; /**< 1 to FIT_MAX_REGIMES */
};

/**
 * Fit @p dim (its shape, size, algorithm and in_switch) to @p c, all of whose ranks are members of it.
 *
 * The model is that of stage_list(): hops * latency + load * S / (bandwidth * efficiency), latency and
 * efficiency by size, hops and load from algorithm_cost(). Ranges of size and their numbers come from
 * pieces_fit(), with the limit near the geometric mean of the sizes at either side; the first and the last
 * range have no end. The number of regimes is that of the least
 *
 *     2 sum_i |model - measured| / measured / blur / FIT_SCATTER + 3 ln(n) regimes,
 *
 * Schwarz's criterion (Annals of Statistics 6(2), 1978) for errors distributed as Laplace's with that mean,
 * ln(n) for each of the three numbers of a regime: latency, efficiency, limit. The scatter is stated and not
 * estimated: eleven points tell too little of it. Curves that scatter by more get regimes that are none.
 * Numbers are rounded to 6 digits before errors are counted, so that what is written is what was judged.
 *
 * @return 0; ERR_RANGE (fewer than FIT_MIN_POINTS or more than FIT_MAX_POINTS points, more ranks than
 * members, an algorithm the dimension does not have, a bandwidth beyond what a network may hold); ERR_NOMEM.
 */
int fit_curve(struct fit *f, const struct topo_dim *dim, const struct curve *c, const struct fit_settings *s,
              struct err *e);
void fit_free(struct fit *f);

/**
 * Time [s] of @p kind over @p full_B bytes (S of algorithm_cost()) among @p members of @p dim, which has all
 * its numbers: the sum of stage_list() on a network of that dimension alone.
 */
double fit_time(const struct topo_dim *dim, enum collective_kind kind, int32_t members, double full_B);

/**
 * Append @p dim as an entry of the list `dims` of a network file, one line and one per regime. Read back by
 * topo_read_network() it predicts the same times, if its numbers have 6 digits as those of fit_curve() have;
 * price, bounds and in_switch_min are not written.
 */
void fit_format_dim(struct text *out, const struct topo_dim *dim);

/** Append @p before, latency, efficiency and size limit of @p r, and what closes a map: digits as above. */
void fit_format_regime(struct text *out, const struct topo_regime *r, const char *before);

#endif
