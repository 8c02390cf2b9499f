/**
 * @file A plan being provisioned: its parts, the units they have, what those cost. For provision.c and
 * reach.c.
 *
 * A part is a stage, or the parameter servers of a stage, which are like a stage whose time falls as 1/k.
 */
#ifndef SIM_HETERO_PARTS_H
#define SIM_HETERO_PARTS_H

#include "sim/hetero/hetero.h"

struct hetero_part {
    struct hetero_time time;
    double usd_per_h;    /**< of one unit and its host */
    double now_s;        /**< seconds per example with the units it has */
    int64_t units, kept; /**< now, and of the cheapest so far */
    int32_t type, stage; /**< stage -1: servers */
};

struct hetero_parts {
    const struct hetero_problem *p;
    struct hetero_part part[2 * HETERO_MAX_LAYERS]; /**< a stage, its servers, the next stage, .. */
    int32_t n, slowest;                             /**< slowest: a part that takes slowest_s */
    int64_t *of_type;                               /**< shape [n_types], of the work; hosts included */
    double usd_per_h, slowest_s;
};

/**
 * The parts of the plan in @p work with the least units that reach the problem's throughput. All parts are
 * there whatever it returns; units only when that is HETERO_OK. O(stages + types).
 */
enum hetero_status hetero_parts_begin(struct hetero_parts *w, const struct hetero_problem *p,
                                      struct hetero_work *work);

/** The least units with which every part takes at most @p limit_s. O(parts + types). */
enum hetero_status hetero_parts_serve(struct hetero_parts *w, double limit_s);

/** @p more units for part @p x, whose now_s is left to the caller; false: a type has not so many. O(1). */
bool hetero_parts_take(struct hetero_parts *w, struct hetero_part *x, int64_t more);

/**
 * The largest throughput within the limits of units; 0: there is not a unit for each part. What the units are
 * afterwards is not said. O(parts), where a limit is shared and binds times the logarithm of the limit.
 */
double hetero_parts_reach(struct hetero_parts *w);

#endif
