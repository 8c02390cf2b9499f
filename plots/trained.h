/** @file The rows of `weft gossip`: what each method of communication came to at each point. */
#ifndef PLOTS_TRAINED_H
#define PLOTS_TRAINED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "plots/axis.h"
#include "plots/canvas.h"
#include "plots/names.h"
#include "plots/points.h"
#include "plots/rows.h"

enum { TRAINED_MAX_VALUES = 4 };

struct trained_row {
    int32_t point, method, family; /**< panel; positions in `methods` and `families` */
    double period;                 /**< steps between exchanges; NaN = the method is no fixed period */
    double value[TRAINED_MAX_VALUES];
    int64_t row; /**< 0-based, of the table */
};

/** Zero-initialise; release with trained_free(). */
struct trained {
    struct points points;
    struct names methods,
        families;    /**< owned texts: of the whole table, so that a filter changes no colour */
    int32_t *curves; /**< shape [families.n], owned: number of the family's curve, -1 = it has no two fixed
                        periods in the table */
    int32_t n_curves;
    int32_t *marks; /**< shape [methods.n], owned: position among those that are on no curve, -1 = on one */
    struct trained_row *list; /**< shape [n], owned, in the order of the table */
    int64_t n;
    int64_t n_diverged, n_failed; /**< rows of drawn points that are not ok */
    int64_t n_blank;              /**< that are ok, but lack a value */
    double most_seeds;            /**< of a row; 0 = not known */
};

/**
 * Read the rows of @p r that pass its filters and are ok, at the first @p max_points points, and of each the
 * @p columns (ended by NULL). Rows in which one of the first @p n_needed is blank are left out. Time O(rows *
 * columns).
 * @return 0; ERR_PARSE: a column is missing, a cell holds what cannot be, or no row is left; ERR_NOMEM
 */
int trained_read(struct trained *t, const struct rows *r, const char *const *columns, int32_t n_needed,
                 int32_t max_points, struct err *e);
void trained_free(struct trained *t);

/** Whether the row is one of the fixed periods that its family's curve joins. */
bool trained_is_on_curve(const struct trained *t, const struct trained_row *row);

/** Log, with room at both ends for markers and what stands beside them; from a ratio of 5 on it need not end
 * at round numbers, for two of 1, 2 and 5 lie within. 0 < lo <= hi. */
struct axis trained_log_axis(double lo, double hi);

/** Make @p a longer by @p share of it at both ends; a linear one from 0 at the least. */
struct axis trained_widen(struct axis a, double share);

/** Style of the MARK_LINE of the method at that position: without the dark grey, near the black of another
 * with its dash and marker; so 56 look different. */
int32_t trained_line_style(int32_t method);

/** Note what the points have in common, and which rows are left out. */
void trained_put_notes(struct canvas *c, const struct trained *t);

#endif
