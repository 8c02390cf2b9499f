/**
 * @file The bars of a simulated step, from the CSV of `weft sim --timeline`, sorted into lanes: one per run,
 * dimension and slot, whose bars do not overlap.
 */
#ifndef PLOTS_LANES_H
#define PLOTS_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "plots/design.h"
#include "plots/names.h"
#include "plots/rows.h"

/** Number 0 is compute, the dimensions follow from 1, innermost first, as in the CSV. */
enum { LANES_COMPUTE, LANES_DIMS = PLOT_MAX_DIMS + 1, LANES_MAX_RUNS = 4, LANES_MAX_SLOTS = 2000 };

/** One interval: a stage of a chunk, or compute. */
struct lanes_bar {
    int32_t run, dim, slot, npu_class;
    int32_t name, pass; /**< index into the lists of struct lanes */
    double start_s, end_s;
};

/** The step from beginning to end, in one order of the dimensions. */
struct lanes_run {
    int32_t order; /**< index into `orders` */
    bool chosen;
    double time_s;
    double busy_frac[LANES_DIMS]; /**< share of the step; NaN = not known */
};

/** Zero-initialise; release with lanes_free(). */
struct lanes {
    struct lanes_bar *bars; /**< shape [n_bars], owned; by run, dimension, slot, start */
    int64_t n_bars, n_blank;
    struct lanes_run runs[LANES_MAX_RUNS];
    int32_t n_runs;
    int32_t n_slots[LANES_DIMS];  /**< 0 = the dimension has no bars */
    int32_t dim_name[LANES_DIMS]; /**< index into `dims` */
    int32_t npu_class;            /**< of all bars */
    /** Owned texts. Of `workloads` the first is the one read; `orders` and `classes` hold all that there are.
     */
    struct names workloads, orders, dims, names, passes, classes;
};

/**
 * Read the rows of @p r that pass its filters: of the first workload, its first LANES_MAX_RUNS orders and the
 * lowest class of NPUs. Rows without start, end or time are counted in n_blank. Time O(n log n).
 * @return 0; ERR_PARSE: a cell holds what cannot be, or no row is left; ERR_NOMEM
 */
int lanes_read(struct lanes *l, const struct rows *r, struct err *e);
void lanes_free(struct lanes *l);

/** A stretch of one colour in a lane. */
struct lanes_span {
    double start, end;
    int32_t paint; /**< 0..LANES_PAINTS-1 */
    bool alone;    /**< one bar, long enough to be told from its neighbours */
};

enum { LANES_PAINTS = 16 };

/**
 * Fold the spans of one lane, sorted and without overlap, for a picture that shows no less than @p tolerance.
 * Those not alone close up: within a tolerance each colour becomes one span, and gaps of one colour close as
 * long as this moves no bar further than a tolerance. The sum of lengths of each colour stays what it was.
 * Works in place.
 * @return how many are left. Time O(n).
 */
int64_t lanes_fold(struct lanes_span *spans, int64_t n, double tolerance);

#endif
