/** @file Private to this folder: one point of a sweep as a row of its table. */
#ifndef KINDS_DESIGN_SWEEP_ROW_H
#define KINDS_DESIGN_SWEEP_ROW_H

#include "study/sweep.h"
#include "kinds/design/training_report.h"
#include "kinds/design/uncertain.h"

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

/** What a row shows, in the units of its columns; see design_columns. Texts are borrowed. */
struct sweep_row {
    const char *network, *dims, *workload, *objective, *status, *unique, *message;
    int64_t n_dims; /**< blank: the study could not be read */
    double total_GBps, time_s, compute_s, comm_s, cost_usd, equal_time_s, equal_cost_usd, speedup,
        perf_per_cost_gain, nic_GBps, gap;
    double bw_GBps[TOPO_MAX_DIMS], util[TOPO_MAX_DIMS], exposed_s[TOPO_MAX_DIMS];
    double uncertain[2 * UNCERTAIN_MAX_PERCENTILES]; /**< uncertain_fill() */
    struct training_row training;
};

/** Without those of what is uncertain, which come after exposed#_s: design_make_columns(). */
extern const struct column design_columns[];
/** @p out of DESIGN_MAX_COLUMNS, with names for those of @p u; @p names of 2 * UNCERTAIN_MAX_PERCENTILES. */
enum { DESIGN_MAX_COLUMNS = 80 };
void design_make_columns(struct column *out, char (*names)[COLUMN_NAME], const struct uncertain *u);

void sweep_row_blank(struct sweep_row *row);
/** What is known of the point before it is solved. */
void sweep_row_study(struct sweep_row *row, const struct design_point *s, const struct sweep_words *words);
/** What the design says of itself; @p d must outlive the row. ERR_NOMEM. */
int sweep_row_design(struct sweep_row *row, const struct design_point *s, const struct design *d,
                     struct err *e);
/** A point that cannot be read is told by the values of its axes, as they are written. */
void sweep_row_axes(struct sweep_row *row, const struct sweep *w, const struct sweep_point *p);

#endif
