/** @file What a training step of a model comes to on a design: memory, utilisation, throughput. */
#ifndef KINDS_DESIGN_ANSWER_TRAINING_H
#define KINDS_DESIGN_ANSWER_TRAINING_H

#include "base/column.h"
#include "kinds/design/answer/design.h"
#include "kinds/design/answer/evidence.h"

/** Of one step; where its time goes is design_load.account. */
struct training_report {
    double time_s;
    double tokens_per_s; /**< samples, where there are no sequences */
    double mfu, hfu;     /**< useful, and all, matrix products over what the NPUs could do */
    double memory_B,
        missing_B; /**< of the stage that needs most; NaN missing: the NPU's memory is not known */
    bool tight;    /**< it fits, but not with what the framework usually reserves beyond it */
};

/** @p w trains a model, and @p load is its time on a design for @p s. */
void design_training_report(struct training_report *out, const struct design_point *s,
                            const struct design_workload *w, const struct design_load *load);

/** What a row shows of a training step; see training_columns. Do not copy: `plan` and `parallel` point into
 * it.
 */
struct training_row {
    const char *plan; /**< NULL: the workload trains no model, all is blank */
    int64_t tp, cp, dp, pp, ep, micro_batch, interleave, zero;
    const char *recompute, *fits;
    const char *parallel; /**< NULL: the plan was not searched */
    double memory_GB, mfu, tokens_per_s;
    double recompute_s, bubble_s, optimizer_s, overhead_s; /**< with compute_s and comm_s all of time_s */
    double tp_s, cp_s, ep_s, dp_s, pp_s;                   /**< exposed */
    double time_low_s, time_high_s;                        /**< design_time_band() */
    int64_t evidence_rows;
    char text[256]; /**< plan_format(), cut to fit */
    char map[2560]; /**< the plan as a study gives it, with 256 chunks if need be */
};

/** Its columns in a row of type @p type: @p within is "" or "member.". */
#define TRAINING_COLUMN_WITH(type, within, field, of_kind, where, ...)                                       \
    {                                                                                                        \
        .name = #field, .kind = of_kind, .offset = offsetof(type, within field), .part = "training",         \
        .with = where, .in = IN_DATA, .help = __VA_ARGS__                                                    \
    }
#define TRAINING_COLUMN(type, within, field, of_kind, ...)                                                   \
    TRAINING_COLUMN_WITH(type, within, field, of_kind, "plan", __VA_ARGS__)
/* Of other workloads too, where they have it. */
#define TRAINING_PART(type, within, field, says)                                                             \
    TRAINING_COLUMN_WITH(type, within, field, TABLE_REAL, #field, says, .better = -1)
#define TRAINING_COLUMNS(type, within)                                                                       \
    TRAINING_COLUMN(type, within, plan, TABLE_TEXT, "plan of parallelism"),                                  \
        TRAINING_COLUMN(type, within, tp, TABLE_COUNT, "degree of tensor parallelism"),                      \
        TRAINING_COLUMN(type, within, cp, TABLE_COUNT, "degree of context parallelism"),                     \
        TRAINING_COLUMN(type, within, dp, TABLE_COUNT, "degree of data parallelism"),                        \
        TRAINING_COLUMN(type, within, pp, TABLE_COUNT, "number of pipeline stages"),                         \
        TRAINING_COLUMN(type, within, ep, TABLE_COUNT, "degree of expert parallelism"),                      \
        TRAINING_COLUMN(type, within, micro_batch, TABLE_COUNT, "sequences in a micro-batch"),               \
        TRAINING_COLUMN(type, within, interleave, TABLE_COUNT, "model chunks per pipeline stage"),           \
        TRAINING_COLUMN(type, within, recompute, TABLE_TEXT, "which activations are recomputed"),            \
        TRAINING_COLUMN(type, within, zero, TABLE_COUNT,                                                     \
                        "ZeRO stage: 1 shards optimizer states, 2 gradients too, 3 weights too"),            \
        TRAINING_COLUMN(type, within, memory_GB, TABLE_REAL, "memory that the fullest NPU needs",            \
                        .better = -1),                                                                       \
        TRAINING_COLUMN(                                                                                     \
            type, within, fits, TABLE_TEXT,                                                                  \
            "yes; tight: less memory is left than PyTorch reserves; no: the NPU has too little memory"),     \
        TRAINING_COLUMN(type, within, mfu, TABLE_REAL, "model FLOP utilisation", .better = 1),               \
        TRAINING_COLUMN(type, within, tokens_per_s, TABLE_REAL,                                              \
                        "tokens (or samples, for models without sequences) per second of running time, "     \
                        "failures not counted",                                                              \
                        .better = 1),                                                                        \
        TRAINING_PART(type, within, recompute_s, "recomputation of activations"),                            \
        TRAINING_PART(type, within, bubble_s, "pipeline bubble: stages wait for each other"),                \
        TRAINING_PART(type, within, optimizer_s, "update of the parameters"),                                \
        TRAINING_PART(type, within, overhead_s, "overhead of software and host"),                            \
        TRAINING_COLUMN(type, within, tp_s, TABLE_REAL, "exposed communication of tensor parallelism",       \
                        .better = -1),                                                                       \
        TRAINING_COLUMN(type, within, cp_s, TABLE_REAL, "exposed communication of context parallelism",      \
                        .better = -1),                                                                       \
        TRAINING_COLUMN(type, within, ep_s, TABLE_REAL, "exposed communication of expert parallelism",       \
                        .better = -1),                                                                       \
        TRAINING_COLUMN(type, within, dp_s, TABLE_REAL, "exposed communication of data parallelism",         \
                        .better = -1),                                                                       \
        TRAINING_COLUMN(type, within, pp_s, TABLE_REAL, "exposed communication of pipeline parallelism",     \
                        .better = -1),                                                                       \
        TRAINING_COLUMN_WITH(                                                                                \
            type, within, time_low_s, TABLE_REAL, "time_low_s",                                              \
            "a measured step is expected between time_low_s and time_high_s nine times out of ten",          \
            .better = -1),                                                                                   \
        TRAINING_COLUMN_WITH(                                                                                \
            type, within, time_high_s, TABLE_REAL, "time_low_s",                                             \
            "upper end of that band; its width comes from the errors on similar measured steps",             \
            .better = -1),                                                                                   \
        TRAINING_COLUMN_WITH(type, within, evidence_rows, TABLE_COUNT, "time_low_s",                         \
                             "measured steps behind the band: same NPU, software and kind of model",         \
                             .better = 1),                                                                   \
    {                                                                                                        \
        .name = "parallel", .kind = TABLE_TEXT, .offset = offsetof(type, within parallel),                   \
        .part = "training", .with = "parallel", .in = IN_DATA,                                               \
        .help = "plan that the search found, as a study writes it"                                           \
    }
extern const struct column training_columns[];

/** From where to where the measured time of @p d is to be expected, nine times of ten, all its steps erring
 * alike; @p rows, unless NULL: measured steps of the kind that has fewest. False: a workload has none near.
 */
bool design_time_band(struct evidence_band *out, int64_t *rows, const struct design *d);

/** The row for the first workload of @p d, where it trains a model; else blank. ERR_NOMEM. */
int design_training_row_fill(struct training_row *out, const struct design *d, struct err *e);

#endif
