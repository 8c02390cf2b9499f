/** @file What a training step of a model comes to on a design: breakdown, memory, utilisation, throughput. */
#ifndef KINDS_DESIGN_TRAINING_REPORT_H
#define KINDS_DESIGN_TRAINING_REPORT_H

#include "base/table.h"
#include "kinds/design/design.h"

/** What exposed communication is for. */
enum report_axis {
    REPORT_TP,
    REPORT_CP,
    REPORT_EP, /**< tokens to their experts */
    REPORT_DP, /**< gradients and parameters, of experts too */
    REPORT_PP, /**< between stages, and of an embedding that both ends use */
    N_REPORT_AXES,
};

/** "tp", "cp", "ep", "dp", "pp"; NULL-terminated. */
extern const char *const report_axis_words[N_REPORT_AXES + 1];

/** Of one step; all _s but those by dimension add up to time_s. Of what runs side by side compute counts
 * whole, and communication what sticks out: plan_cost_shares(). */
struct training_report {
    double time_s;
    double compute_s;   /**< forward and backward pass of the slowest stage */
    double recompute_s; /**< done again */
    double bubble_s;    /**< a stage waits for others, whatever these do */
    double optimizer_s, overhead_s;
    double axis_s[N_REPORT_AXES]; /**< communication beyond what runs beside it, latency included */
    double dim_s[N_REPORT_AXES][TOPO_MAX_DIMS]; /**< of it, transfers on each dimension */
    double rest_s; /**< simulated models: what overlapping collectives add where they meet; else rounding */
    double tokens_per_s; /**< samples, where there are no sequences */
    double mfu, hfu;     /**< useful, and all, matrix products over what the NPUs could do */
    double memory_B,
        missing_B; /**< of the stage that needs most; NaN missing: the NPU's memory is not known */
};

/** @p w trains a model, and @p load is its time on a design for @p s. */
void training_report(struct training_report *out, const struct design_point *s,
                     const struct study_workload *w, const struct design_load *load);

/** A row of a table that shows a training step. `= { 0 }`: none, all its cells are blank. */
struct training_row {
    bool known;
    struct plan plan;
    bool fits;
    char text[256]; /**< plan_format(), cut to fit */
    struct training_report report;
};

/** The row for the first workload of @p s on @p d, where it trains a model. ERR_NOMEM. */
int training_row_fill(struct training_row *out, const struct design_point *s, const struct design *d,
                      struct err *e);

/**
 * Columns plan, tp, cp, dp, pp, ep, micro_batch, interleave, recompute, zero, memory_GB, fits, mfu,
 * tokens_per_s, useful_s (forward and backward pass), recompute_s, bubble_s, optimizer_s (overhead too),
 * tp_s, cp_s, ep_s, dp_s, pp_s (exposed).
 */
void training_row_columns(struct table *t);
void training_row_put(struct table *t, const struct training_row *row);

#endif
