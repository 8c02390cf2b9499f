/**
 * @file What a row of a design shows: the one description of each value, from its field to CSV, JSON, store,
 * text, fronts, figures and the library (base/column.h).
 */
#ifndef KINDS_DESIGN_ANSWER_COLUMNS_H
#define KINDS_DESIGN_ANSWER_COLUMNS_H

#include "base/column.h"
#include "kinds/design/answer/training.h"
#include "kinds/design/ask/point.h"
#include "kinds/design/ask/system.h"
#include "study/kind.h"

enum {
    SWEEP_WORD = 256, /**< room for a value of an axis without its quotes; a longer one keeps them */
    UNCERTAIN_MAX_PERCENTILES = 9,
    UNCERTAIN_MAX_QUANTITIES = 32, /**< time, cost, and the numbers of system_columns */
    UNCERTAIN_MAX_COLUMNS = UNCERTAIN_MAX_QUANTITIES * UNCERTAIN_MAX_PERCENTILES,
};

/** What a row shows, but for bw_Bps in the units of its columns; see design_columns. Texts are borrowed. Do
 * not copy: they may point into it. */
struct design_row {
    const char *network, *dims, *workload, *objective, *semantics, *status, *unique, *proof_model, *proof_of,
        *message;
    int64_t n_dims; /**< blank: the study could not be read */
    double total_GBps, time_s, compute_s, comm_s, cost_usd, usd_fraction, spent_share, equal_time_s,
        equal_cost_usd, speedup, perf_per_cost_gain, objective_gain, nic_GBps, gap;
    double bw_Bps[TOPO_MAX_DIMS], util[TOPO_MAX_DIMS], exposed_s[TOPO_MAX_DIMS], valiant[TOPO_MAX_DIMS];
    double uncertain[UNCERTAIN_MAX_COLUMNS]; /**< uncertain_fill() */
    struct training_row training;
    struct system_row system;
    char room[3][SWEEP_WORD]; /**< of design_row_axes() */
};

/** Without those of percentiles, which a study of what is uncertain makes. */
extern const struct column design_columns[];
/** Number @p i of the columns of percentiles: "time_p#_s", as the column whose percentile # it is, but that
 * it has no offset. Time, cost, then the numbers of system_columns. False: there are no more. */
bool design_percentiles(struct made_column *out, int32_t i);

/** The name of the column of a field, or of one of a member of struct design_row: a constant that does not
 * compile without the field, for what looks columns up in tables. */
#define DESIGN_COLUMN(field)          (sizeof(((struct design_row *)0)->field) ? #field : NULL)
#define DESIGN_COLUMN_IN(part, field) (sizeof(((struct design_row *)0)->part.field) ? #field : NULL)

void design_row_blank(struct design_row *row);
/** What the design says of itself; @p d must outlive the row. ERR_NOMEM. */
int design_row_answer(struct design_row *row, const struct design *d, struct err *e);

#endif
