/** @file The points of a study that has several rows to a point, as panels: `weft hetero`, `weft gossip`. */
#ifndef PLOTS_POINTS_H
#define PLOTS_POINTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "plots/canvas.h"
#include "plots/names.h"
#include "plots/rows.h"

/** How a point is named: axes by the last two words of their key, by its last word, by their value alone. */
enum points_form { POINTS_FULL, POINTS_SHORT, POINTS_VALUES, N_POINTS_FORMS };

/** Zero-initialise; release with points_free(). */
struct points {
    struct names ids;   /**< owned texts of the column point, in the order of the table */
    struct text *names; /**< shape [N_POINTS_FORMS][ids.n], owned: what varies between the points; "" when
                           nothing does */
    struct text common; /**< owned: what does not */
    int32_t n;          /**< how many are drawn */
    int32_t point;      /**< column */
};

/**
 * The points of the rows of @p r that pass its filters, the first @p most to be drawn. Named by the columns
 * between point and scheduler (or method): axes by key and value, the model by its name alone; counts of
 * types and layers follow from those and are never names.
 * @return 0; ERR_PARSE: a column is missing, no row is left; ERR_NOMEM. Time O(rows * columns).
 */
int points_read(struct points *p, const struct rows *r, int32_t most, struct err *e);
void points_free(struct points *p);

/** The panel of the row into @p at; -1 when its point is not drawn. 0 or ERR_NOMEM. */
int points_find(int32_t *at, const struct points *p, const struct rows *r, struct err *e);

/** The name of point @p at in the longest form of at most @p chars characters: keys go before values. */
void points_put_name(struct text *out, const struct points *p, int32_t at, size_t chars);

/** Note what the points have in common, and how many are not drawn. */
void points_put_notes(struct canvas *c, const struct points *p);

#endif
