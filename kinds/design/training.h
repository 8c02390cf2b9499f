/** @file What a training step of a model comes to on a design: breakdown, memory, utilisation, throughput. */
#ifndef KINDS_DESIGN_TRAINING_H
#define KINDS_DESIGN_TRAINING_H

#include "base/column.h"
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

/** What a row shows of a training step; see training_columns. Do not copy: `plan` points into it. */
struct training_row {
    const char *plan; /**< NULL: the workload trains no model, all is blank */
    int64_t tp, cp, dp, pp, ep, micro_batch, interleave, zero;
    const char *recompute, *fits;
    double memory_GB, mfu, tokens_per_s, useful_s, recompute_s, bubble_s, optimizer_s;
    double tp_s, cp_s, ep_s, dp_s, pp_s; /**< exposed */
    char text[256];                      /**< plan_format(), cut to fit */
};

/** Its columns in a row of type @p type: @p in is "" or "member.". */
#define TRAINING_COLUMN(type, in, field, of_kind, ...)                                                       \
    {                                                                                                        \
        .name = #field, .kind = of_kind, .offset = offsetof(type, in field), .part = "training",             \
        .with = "plan", .help = __VA_ARGS__                                                                  \
    }
#define TRAINING_COLUMNS(type, in)                                                                           \
    TRAINING_COLUMN(type, in, plan, TABLE_TEXT, "of the training step"),                                     \
        TRAINING_COLUMN(type, in, tp, TABLE_COUNT, "tensor parallel"),                                       \
        TRAINING_COLUMN(type, in, cp, TABLE_COUNT, "context parallel"),                                      \
        TRAINING_COLUMN(type, in, dp, TABLE_COUNT, "data parallel"),                                         \
        TRAINING_COLUMN(type, in, pp, TABLE_COUNT, "pipeline stages"),                                       \
        TRAINING_COLUMN(type, in, ep, TABLE_COUNT, "expert parallel"),                                       \
        TRAINING_COLUMN(type, in, micro_batch, TABLE_COUNT, "sequences of a micro-batch"),                   \
        TRAINING_COLUMN(type, in, interleave, TABLE_COUNT, "model chunks of a stage"),                       \
        TRAINING_COLUMN(type, in, recompute, TABLE_TEXT, "of activations"),                                  \
        TRAINING_COLUMN(type, in, zero, TABLE_COUNT, "stage of sharded optimizer states"),                   \
        TRAINING_COLUMN(type, in, memory_GB, TABLE_REAL, "of the NPU that needs most", .better = -1),        \
        TRAINING_COLUMN(type, in, fits, TABLE_TEXT, "yes, or no: the NPU has less memory"),                  \
        TRAINING_COLUMN(type, in, mfu, TABLE_REAL, "model FLOP utilisation", .better = 1),                   \
        TRAINING_COLUMN(type, in, tokens_per_s, TABLE_REAL, "samples where there are no sequences",          \
                        .better = 1),                                                                        \
        TRAINING_COLUMN(type, in, useful_s, TABLE_REAL, "forward and backward pass", .better = -1),          \
        TRAINING_COLUMN(type, in, recompute_s, TABLE_REAL, "done again", .better = -1),                      \
        TRAINING_COLUMN(type, in, bubble_s, TABLE_REAL, "a stage waits for others", .better = -1),           \
        TRAINING_COLUMN(type, in, optimizer_s, TABLE_REAL, "and overhead", .better = -1),                    \
        TRAINING_COLUMN(type, in, tp_s, TABLE_REAL, "exposed communication", .better = -1),                  \
        TRAINING_COLUMN(type, in, cp_s, TABLE_REAL, "likewise", .better = -1),                               \
        TRAINING_COLUMN(type, in, ep_s, TABLE_REAL, "likewise", .better = -1),                               \
        TRAINING_COLUMN(type, in, dp_s, TABLE_REAL, "likewise", .better = -1),                               \
        TRAINING_COLUMN(type, in, pp_s, TABLE_REAL, "likewise", .better = -1)
extern const struct column training_columns[];

/** The row for the first workload of @p s on @p d, where it trains a model; else blank. ERR_NOMEM. */
int training_row_fill(struct training_row *out, const struct design_point *s, const struct design *d,
                      struct err *e);

#endif
