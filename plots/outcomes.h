/** @file The rows of `weft place`: what each scheduler came to at each point of a study, sorted by axes and
 * panels. */
#ifndef PLOTS_OUTCOMES_H
#define PLOTS_OUTCOMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "plots/canvas.h"
#include "plots/names.h"
#include "plots/rows.h"

enum { OUTCOMES_MAX_METRICS = 3, OUTCOMES_MAX_AXES = 2 };

/** What a figure wants of the table. */
struct outcomes_spec {
    /** Columns; a row without the first is blank, the others may be missing. */
    const char *metrics[OUTCOMES_MAX_METRICS];
    int32_t n_metrics;
    int32_t n_axes; /**< axes of numbers that the figure spreads out, 0 to 2; what else varies makes panels */
    bool any_numbers; /**< an axis need not vary */
    bool by_cost;     /**< rows need a cost; axes of the network are labels instead of panels */
};

struct outcome {
    int32_t scheduler, panel, column, row_of_panels, label; /**< positions in the lists of struct outcomes */
    double axis[OUTCOMES_MAX_AXES];                         /**< NaN = blank */
    double value[OUTCOMES_MAX_METRICS],
        half[OUTCOMES_MAX_METRICS]; /**< half an interval over seeds; NaN = none */
    double cost_usd;
    int64_t row; /**< 0-based, of the table */
};

/** Zero-initialise; release with outcomes_free(). */
struct outcomes {
    struct outcome *list; /**< shape [n], owned, in the order of the table */
    int64_t n, n_undone, n_blank;
    struct names schedulers; /**< owned texts: those of `list`, in the order of the table */
    int32_t *styles; /**< shape [schedulers.n], owned: position among all of the table, so that a filter
                          changes no colour */
    /** Owned texts: what varies beside axes and schedulers, "" when nothing does. Of panels the first thing
     * makes columns, the rest rows. */
    struct names panels, columns, rows, labels;
    const char *axes[OUTCOMES_MAX_AXES]; /**< keys, borrowed from the table */
    int32_t n_axes;
    struct text
        label_keys; /**< owned: the axes whose values the labels are: "dims[1].bw_GBps · dims[1].shape" */
    struct text common; /**< owned: what all rows have in common: network, model, axes, seeds */
    bool any_interval;
};

/** The first of @p columns (ended by NULL) with a value in a row that is done and passes the filters; NULL
 * when there is none. */
const char *outcomes_pick(const struct rows *r, const char *const *columns);

/**
 * Read the rows of @p r that pass its filters and are done. Axes are the columns between point and network;
 * of those that hold numbers and vary, the first ones are the figure's.
 * @return 0; ERR_PARSE: a cell holds what cannot be, or no row is left; ERR_NOMEM. Time O(rows * columns).
 */
int outcomes_read(struct outcomes *o, const struct rows *r, const struct outcomes_spec *spec, struct err *e);
void outcomes_free(struct outcomes *o);

/** Note what all rows have in common, what whiskers are, and the rows left out. */
void outcomes_put_notes(struct canvas *c, const struct outcomes *o);

/** Append the last two words of a key: "jobs.count", "dims[0].bw_GBps". */
void outcomes_put_key(struct text *out, const char *key);

#endif
