/** @file The rows of a sweep's CSV as records: solved ones only, filtered, checked. */
#ifndef PLOTS_DESIGN_H
#define PLOTS_DESIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/table.h"
#include "base/text.h"
#include "plots/figure.h"
#include "plots/names.h"

enum { PLOT_MAX_DIMS = 8 };

/** One solved design. Only the columns that the figure asks for are filled; other numbers are NaN. */
struct plot_design {
    char *network, *workload, *objective; /**< owned; NULL when not asked for */
    char *dims;                           /**< owned; the names, each terminated */
    char *plan; /**< owned; as phrases (plots/phrases.h), the sweep's axes among them */
    char *fits; /**< owned; "no": needs more memory than an NPU has */
    const char *dim_names[PLOT_MAX_DIMS]; /**< shape [n_dims], point into `dims`, innermost first */
    int32_t n_dims;
    int64_t row; /**< 1-based, of the table */
    double total_GBps, nic_GBps;
    double time_s, compute_s, comm_s, equal_time_s;
    double cost_usd, equal_cost_usd;
    double speedup, perf_per_cost_gain; /**< against the equal split of the same total */
    double bw_GBps[PLOT_MAX_DIMS];      /**< shape [n_dims], as the next two */
    double util[PLOT_MAX_DIMS];         /**< share of the step that the dimension is busy, 0..1 */
    double exposed_s[PLOT_MAX_DIMS];
    /** Of a step that trains a model; the last five are exposed communication. */
    double mfu, useful_s, recompute_s, optimizer_s, bubble_s, tp_s, cp_s, ep_s, dp_s, pp_s;
};

/** Zero-initialise; release with plot_data_free(). */
struct plot_data {
    struct plot_design *designs; /**< shape [n_designs], owned, in the order of the table */
    int64_t n_designs;
    int64_t n_blank; /**< solved rows left out because a value is blank */
};

/** Read what @p figure needs from @p t under the filters of @p opt. Errors as plot_draw(). */
int plot_data_read(struct plot_data *d, const struct table *t, const struct plot_figure *figure,
                   const struct plot_options *opt, struct err *e);
void plot_data_free(struct plot_data *d);

enum plot_plan {
    PLOT_PLAN_COMMON,  /**< what all designs have */
    PLOT_PLAN_VARYING, /**< what not all have */
    PLOT_PLAN_SHORT,   /**< of that, the degrees and what else a sweep varies */
};

/** Append to @p out, after " · " where something stands there, those phrases of the plan of @p g that @p part
 * says, among the first @p n designs: "tp 8, zero 2". Time O(n). */
void plot_data_put_plan(struct text *out, const struct plot_data *d, int64_t n, const struct plot_design *g,
                        enum plot_plan part);

#endif
