/** @file The time of planned steps of one place at given bandwidths, a few hundred nanoseconds each. */
#ifndef KINDS_DESIGN_EXPLORE_CLOCK_H
#define KINDS_DESIGN_EXPLORE_CLOCK_H

#include "workloads/collective.h"
#include "workloads/plan_cost.h"

/** Sizes of one collective whose times a clock remembers. */
enum { CLOCK_SEEN = 32 };

/** Times of collectives of one place, found once. */
struct search_clock {
    struct collective_way way;
    const struct plan_place *place;
    bool linear[N_COLLECTIVES]; /**< nothing is chosen by the bytes */
    struct {
        double bytes, time_s;
    } seen[N_PLAN_GROUPS][N_COLLECTIVES][CLOCK_SEEN]; /**< of those that are not; bytes 0: none */
    double seen_busy_s[N_PLAN_GROUPS][N_COLLECTIVES][CLOCK_SEEN][TOPO_MAX_DIMS]; /**< of those seen */
    bool found[N_PLAN_GROUPS][N_COLLECTIVES];
    struct collective_lines lines[N_PLAN_GROUPS][N_COLLECTIVES];
};

/** @p place and what @p way points to are borrowed and must outlive the clock. */
void search_clock_set(struct search_clock *c, const struct collective_way *way,
                      const struct plan_place *place);

/** T(B) >= constant + sum_d pull[d]/B_d for all B, equal where it was taken, unless algorithms depend on B.
 */
struct search_tangent {
    double constant, pull[TOPO_MAX_DIMS], at_s; /**< at_s: T where it was taken */
};

/** At the bandwidths of the clock, all of it times @p weight. */
struct search_tangent search_tangent(struct search_clock *c, const struct plan_cost *cost, double weight);

/** Time of a step at other bandwidths than those of the clock @p c [s]. */
double search_clock_at(const struct search_clock *c, const struct plan_cost *cost, const double *bw_Bps);

/** Time of the step [s]. Of a step longer than @p most_s, a bound from below that is above most_s. */
double search_clock_time(struct search_clock *c, const struct plan_cost *cost, double most_s);

/** The same with what each dimension takes of the path that decides. */
void search_clock_sum(struct plan_sum *out, struct search_clock *c, const struct plan_cost *cost);

#endif
