/** @file Lower bounds of a point of a sweep before it is solved: what cannot enter the front is not solved.
 */
#ifndef KINDS_DESIGN_EXPLORE_BOUND_H
#define KINDS_DESIGN_EXPLORE_BOUND_H

#include "alloc/bound.h"
#include "kinds/design/ask/point.h"
#include "study/front.h"
#include "study/keep.h"

/** A column of a front that something is known of before a point is solved. */
enum bound_column {
    BOUND_UNKNOWN, /**< nothing is: no point is ever beaten */
    BOUND_TIME,    /**< time_s */
    BOUND_COST,    /**< cost_usd */
    BOUND_NIC,     /**< nic_GBps */
    BOUND_TOTAL,   /**< total_GBps, small or large */
    BOUND_DIMS,    /**< n_dims, small or large */
    BOUND_SPEEDUP, /**< speedup, large */
    BOUND_GAIN,    /**< perf_per_cost_gain, large */
};

/** Multipliers that bound time and price at once: price.B >= root2/(T - step.const_s), price the curve's and
 * mu. */
struct bound_cut {
    double mu;                   /**< [price] added to every dimension's price */
    struct alloc_cut step;       /**< of the step */
    double root2;                /**< [s * price * B/s] */
    double busy_B, price;        /**< there: T is near compute_s + busy_B/total; of one B/s */
    double share[TOPO_MAX_DIMS]; /**< of the total, at the split where both are nearly equal; sum 1 */
};

enum { BOUND_CUTS = 8 };

/** Least price of what takes no more than a time, as the largest of some cuts. */
struct bound_curve {
    double price[TOPO_MAX_DIMS]; /**< per B/s */
    double fixed;                /**< no bandwidth changes it */
    int32_t n;
    struct bound_cut cuts[BOUND_CUTS];
};

/** What was prepared of a study, and room to do it. One a thread. Release with bound_free(). */
struct bound {
    enum bound_column columns[FRONT_MAX_COLUMNS];
    bool large[FRONT_MAX_COLUMNS];
    int32_t n_cols;
    bool possible; /**< bounds hold for what was prepared */
    bool scaled;   /**< the step has maxima: cuts are best at total_Bps, and hold at any */
    double total_Bps;
    double compute_s;             /**< T at endless bandwidths */
    int32_t cheapest;             /**< dimension */
    struct bound_cut fastest;     /**< price 1: T >= const_s + root2/total */
    struct bound_curve cost, nic; /**< [USD], [B/s]; n = 0 where there are no prices, or nobody asks */
    double *split;                /**< shape [room], owned: multipliers of leaves and terms, by and by */
    size_t room;
};

/** For a front over @p n columns as keep_read() has them. */
void bound_begin(struct bound *b, const struct keep_column *columns, int32_t n);
void bound_free(struct bound *b);

/**
 * Look at network, prices and workloads of @p s, which was read with DESIGN_FOR_SPLIT. Total, objective, time
 * limit and constraints may change afterwards. Where no bound holds (simulated models; alpha-beta with
 * algorithms or regimes to choose) nothing is beaten. ERR_NOMEM. O(cuts * leaves * dims), some 5 to 10 us.
 */
int bound_prepare(struct bound *b, const struct design_point *s, struct err *e);

/** No split of @p s takes less time [s]; prepared for s. -INFINITY where nothing is known. */
double bound_time_s(const struct bound *b, const struct design_point *s);
/** No split that takes at most @p time_s costs less [USD]. -INFINITY where nothing is known. */
double bound_cost_usd(const struct bound *b, const struct design_point *s, double time_s);
/** No split that takes at most @p time_s has less NIC bandwidth [B/s]. -INFINITY where nothing is known. */
double bound_nic_Bps(const struct bound *b, const struct design_point *s, double time_s);

/**
 * Is every answer that @p s can have (solved, or stalled within 1e-6) dominated by points of @p known, whose
 * columns are those of bound_begin()? True only where that is proved, with 1e-9 to spare: points that tie are
 * not beaten.
 * @p s is what was prepared, but for total, objective, time limit and constraints. NULL is a front without
 * points; nor is a point beaten that takes its bandwidths as given. About 1 us; where the step has maxima and
 * the total is another one than the last time, as bound_prepare(): ask all objectives of one total in a row.
 */
bool bound_beaten(struct bound *b, const struct design_point *s, const struct front *known);

#endif
