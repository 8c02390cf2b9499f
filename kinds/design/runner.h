/** @file Points of a sweep into rows: one runner a thread, which keeps what the next point needs too. */
#ifndef KINDS_DESIGN_RUNNER_H
#define KINDS_DESIGN_RUNNER_H

#include "base/table.h"
#include "study/keep.h"
#include "study/order.h"
#include "study/study_files.h"

/** What became of points. */
struct sweep_counts {
    int64_t seen;     /**< all that follow, together */
    int64_t filtered; /**< `where` of the study leaves them out */
    int64_t bounded;  /**< proved to be worse than a point that is known, without solving */
    int64_t solved;   /**< evaluated or solved: they have a row, whatever its status */
    int64_t failed;   /**< of those solved: the row says why there is no design */
};
void sweep_count_add(struct sweep_counts *to, const struct sweep_counts *n);

/** What all runners of a sweep share; all borrowed, nothing changes while they run. */
struct runner_job {
    const struct order *order;
    const struct study_source *from;
    const struct keep_rule *rule;  /**< of `known`; may be NULL where that is */
    const struct front_set *known; /**< what points are held against before they are solved; NULL = nothing */
};

/** Opaque: studies that were read, work space. */
struct runner;

/** One a thread. ERR_NOMEM; ERR_PARSE: the rule names a column that rows lack. Then *out is NULL. */
int runner_build(struct runner **out, const struct runner_job *job, struct err *e);
void runner_free(struct runner *r); /**< NULL is fine */

/**
 * The columns of every row, the same for every sweep but for its keys: those of sweep_run() with bw, util and
 * exposed of TOPO_MAX_DIMS dimensions, training_row_columns() and message. sweep_trim() leaves out what is
 * blank everywhere.
 */
void runner_columns(struct table *t, const struct sweep *w);

/** Take out the columns of dimensions that no network of the rows has, and those of training where none
 * trains. ERR_NOMEM. */
int sweep_trim(struct table *t, struct err *e);
struct store;
/** Likewise for all that is read of a store hereafter. Errors as store_max(). */
int runner_trim(struct store *s, struct err *e);
/** Which of a store's tables columns are in that few rows fill: "more_dims", "training"; NULL of others. To
 * be freed; NULL: no memory. */
const char **runner_parts(const struct table *columns);

/**
 * Append the rows of unit @p u to @p rows (with runner_columns()), and count. The same rows whatever the
 * runner did before. A point that cannot be read or solved is a row with a status and a message.
 * @return 0, or ERR_NOMEM.
 */
int runner_unit(struct runner *r, int64_t u, struct table *rows, struct sweep_counts *n, struct err *e);

#endif
