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
    int32_t n;             /**< points, >= PIECES_MIN_POINTS */
    const double *bytes;   /**< shape [n], > 0, growing */
    const double *time_s;  /**< shape [n], > 0 */
    const double *scatter; /**< shape [n], > 0: standard deviation of a point's relative error */
    int32_t n_terms;       /**< >= 1 */
    struct pieces_term terms[PIECES_MAX_TERMS];
    double least_s_per_B, most_s_per_B; /**< 0 < least < most: where lines may lie */
};

/** The line of one range. */
struct piece {
    int32_t first, n; /**< its points, n >= PIECES_MIN_POINTS */
    double lat_s;     /**< >= 0 */
    double s_per_B;   /**< least_s_per_B to most_s_per_B */
    double loss;      /**< sum over its points of huber(), of (model - measured) / measured / scatter */
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
 * Least is the sum of Huber's losses of relative errors, so that one bad point bends a line little.
 * It is a sum over ranges, which dynamic programming over the places where they meet makes as small as can be
 * (R. Bellman, Communications of the ACM 4(6), 1961). In one range it is convex in the line's two numbers:
 * least squares, with less weight for points that are further off, repeated until nothing changes. With
 * several terms that is a local optimum, the best of those from several latencies. Deterministic.
 *
 * @param most  1 to min(PIECES_MAX, n / PIECES_MIN_POINTS).
 * @return 0 or ERR_NOMEM. Time O(cuts^2 n terms steps), some ten steps.
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

/** One percent: about what means of nccl-tests' 20 repetitions scatter by. Where no scatter is stated this is
 * taken for as much as FIT_TRUST points that show it. */
#define FIT_SCATTER 0.01
#define FIT_TRUST   4

/** What a regime costs, times ln(points): 2 for each of its latency, efficiency and limit. */
#define FIT_PENALTY 6

/** From so many scatters on a residual's loss is straight, which makes the fit 95 % as precise as least
 * squares where scatter is normal (P. J. Huber, Annals of Mathematical Statistics 35(1), 1964); and the share
 * of normal residuals that lie within. */
#define FIT_HUBER  1.345
#define FIT_NORMAL 0.8214

/** Draws behind a range of a latency or an efficiency, and the share of them that lies in it. */
enum { FIT_DRAWS = 400 };
#define FIT_SURE 0.9

/** Sizes from here on are large: errors are reported apart for both. */
#define FIT_LARGE_B (1 << 20)

/** Smallest regime efficiency that a network file may hold. */
#define FIT_MIN_EFFICIENCY 1e-3

/** Relative errors of the model over some sizes. */
struct fit_errors {
    int32_t n;
    double mean_frac, max_frac; /**< of |model - measured| / measured; 0 when n is 0 */
};

/** Where latency and efficiency of a regime lie, from low to high. Without a stated bandwidth the efficiency
 * may be above 1: the bandwidth itself is then that uncertain. */
struct fit_sure {
    double lat_s[2], efficiency[2];
};

/** Release with fit_free(). */
struct fit {
    struct topo_dim dim; /**< as given, with bw_Bps, lat_s, efficiency and regimes as fitted: the regimes by
                            growing size limit, the dimension's own numbers beyond the last of them */
    int32_t n_regimes;   /**< dim.n_regimes + 1 */
    int32_t n;
    double *model_s; /**< shape [n], owned: what the dimension predicts for each point */
    struct fit_errors large, small;
    struct fit_sure sure[FIT_MAX_REGIMES]; /**< by number of topo_dim_regime(), shape [n_regimes]; NaN where
                                              at_limit */
    double scatter;                        /**< of repeated measurements: as stated, or as fitted */
    double
        score[FIT_MAX_REGIMES]; /**< by number of regimes, from one; NaN where the data do not support it */
    bool at_limit; /**< measured is faster than the stated bandwidth allows: the model cannot follow */
};

struct fit_settings {
    double bw_Bps; /**< of the dimension, as its links have it; NaN: the rate that large sizes approach */
    int32_t max_regimes; /**< 1 to FIT_MAX_REGIMES */
    double scatter;      /**< standard deviation of a repeated measurement over its mean; NaN: to be fitted */
    int64_t seed;        /**< of the draws */
};

/**
 * Fit @p dim (its shape, size, algorithm and in_switch) to @p c, all of whose ranks are members of it.
 *
 * The model is that of stage_list(): hops * latency + load * S / (bandwidth * efficiency), latency and
 * efficiency by size, hops and load from algorithm_cost(). Ranges of size and their numbers come from
 * pieces_fit(), with the limit near the geometric mean of the sizes at either side; the first and the last
 * range have no end. Number of regimes k and scatter s are those of the least
 *
 *     sum_i [min(rho(r_i / s_i), c) + 2 ln s_i] + FIT_TRUST (s0^2/s^2 + 2 ln s) + c k,
 *     r_i = model/measured - 1,   s_i^2 = s^2 + blur_i^2,   c = FIT_PENALTY ln n * n/(n - 4),
 *
 * s0 = FIT_SCATTER, rho Huber's loss. The first two terms are twice the negative logarithm of a posterior of
 * the scatter (inverse gamma); the last counts each number of a regime 2 ln n, as it is the best of about n
 * that could have been chosen (risk inflation: D. P. Foster, E. I. George, Annals of Statistics 22(4), 1994),
 * with the small-sample factor of three numbers (C. M. Hurvich, C.-L. Tsai, Biometrika 76(2), 1989). A point
 * counts at most what a regime costs, so that one alone makes none. With the scatter stated the prior and the
 * factor fall away. Numbers are rounded to 6 digits before errors are counted, so that what is written is
 * what was judged.
 *
 * f->sure is the range of FIT_SURE of FIT_DRAWS fits, each to the model's times off by what points of the
 * curve are off, drawn with replacement and grown by sqrt(n/(n - 2k)) (B. Efron, Annals of Statistics 7(1),
 * 1979). Limits of size stay; that another number of regimes might be right is not in it.
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
 * price, bounds and in_switch_min are not written. @p sure: of fit_curve(), as comments; NULL: none.
 */
void fit_format_dim(struct text *out, const struct topo_dim *dim, const struct fit_sure *sure);

/** Append where the numbers of a line lie, as a comment, if @p sure is not NULL, and end the line. */
void fit_format_sure(struct text *out, const struct fit_sure *sure);

/** Append @p before, latency, efficiency and size limit of @p r, and what closes a map: digits as above. */
void fit_format_regime(struct text *out, const struct topo_regime *r, const char *before);

#endif
