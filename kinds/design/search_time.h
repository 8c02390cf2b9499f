/** @file Private to search*.c: the time of a planned step at given bandwidths, a few hundred nanoseconds
 * each. */
#ifndef KINDS_DESIGN_SEARCH_TIME_H
#define KINDS_DESIGN_SEARCH_TIME_H

#include "kinds/design/search_walk.h"
#include "workloads/collective.h"

/** Times of collectives of one place, found once. */
struct search_clock {
    struct collective_way way;
    const struct plan_place *place;
    bool linear; /**< nothing is chosen by the bytes */
    bool found[N_PLAN_GROUPS][N_COLLECTIVES];
    struct collective_lines lines[N_PLAN_GROUPS][N_COLLECTIVES];
};

/** @p way: borrowed pointers in it must outlive the clock. */
void search_clock_set(struct search_clock *c, const struct collective_way *way,
                      const struct plan_place *place);

/** Time of the step [s]. */
double search_clock_time(struct search_clock *c, const struct plan_cost *cost);

/** The same with what each dimension takes of the path that decides. */
void search_clock_sum(struct plan_sum *out, struct search_clock *c, const struct plan_cost *cost);

#endif
