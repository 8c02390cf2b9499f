/** @file Private to this folder: one point of a sweep as a row of its table. */
#ifndef KINDS_DESIGN_SWEEP_ROW_H
#define KINDS_DESIGN_SWEEP_ROW_H

#include "study/sweep.h"
#include "kinds/design/training_report.h"

/** Words of a study that a row begins with; the same for all points that differ in quick keys alone, but for
 * the word of a network without a name. Zero-initialise; release with sweep_words_free(). */
struct sweep_words {
    struct text network, dims, workload;
};

/** ERR_NOMEM. */
int sweep_words_take(struct sweep_words *words, const struct design_point *s, struct err *e);
/** After study_change(). */
int sweep_words_change(struct sweep_words *words, const struct design_point *s, struct err *e);
void sweep_words_free(struct sweep_words *words);

/** What a row shows; numbers in the units of its columns, NaN = blank. Texts are borrowed, NULL = blank. */
struct sweep_row {
    const char *network, *dims, *workload, *objective, *status, *message;
    int32_t n_dims; /**< 0: the study could not be read */
    double total_GBps, time_s, compute_s, comm_s, cost_usd, equal_time_s, equal_cost_usd, speedup,
        perf_per_cost_gain, nic_GBps, gap;
    int unique; /**< -1 = blank */
    double bw_GBps[TOPO_MAX_DIMS], util[TOPO_MAX_DIMS], exposed_s[TOPO_MAX_DIMS];
    const double *uncertain; /**< shape [uncertain_n_columns()], borrowed; NULL = blank */
    struct training_row training;
};

void sweep_row_blank(struct sweep_row *row);
/** What is known of the point before it is solved. */
void sweep_row_study(struct sweep_row *row, const struct design_point *s, const struct sweep_words *words);
/** What the design says of itself; @p d must outlive the row. ERR_NOMEM. */
int sweep_row_design(struct sweep_row *row, const struct design_point *s, const struct design *d,
                     struct err *e);
/** A point that cannot be read is told by the values of its axes, as they are written. */
void sweep_row_axes(struct sweep_row *row, const struct sweep *w, const struct sweep_point *p);

/** Append to a table with runner_columns(). @p point is the number of @p p. */
void sweep_row_put(struct table *t, const struct sweep *w, const struct sweep_point *p, int64_t point,
                   const struct sweep_row *row);

#endif
