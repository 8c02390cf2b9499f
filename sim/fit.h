/** @file From measured times of a collective to the keys of a dimension: bandwidth, latency, efficiency,
 * regimes. */
#ifndef SIM_FIT_H
#define SIM_FIT_H

#include "topo/network.h"
#include "workloads/curves/curve.h"

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

#endif
