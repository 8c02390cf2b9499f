/** @file The rows of a CSV as a figure reads them: columns found, rows filtered, cells read, faults placed.
 */
#ifndef PLOTS_ROWS_H
#define PLOTS_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/table.h"
#include "base/text.h"
#include "plots/figure.h"
#include "plots/names.h"

/** A table with the figure that reads it; messages name both. All borrowed. */
struct rows {
    const struct table *t;
    const struct plot_figure *figure;
    const struct plot_options *opt;
    int64_t row; /**< the one being read */
};

/**
 * The columns that the figure needs are there (also of a table without rows; not those with '#'), and those
 * that its filters name.
 * @return 0; ERR_PARSE or ERR_USAGE
 */
int rows_check(const struct rows *r, struct err *e);

/** Position of column @p name into @p col; ERR_PARSE when it is missing. */
int rows_column(int32_t *col, const struct rows *r, const char *name, struct err *e);

/** Whether the row passes the filters: those on one column are alternatives, every filtered column must
 * agree. */
bool rows_pass(const struct rows *r);

/** Whether the row's cell is @p value, as a number in a column of numbers. */
bool rows_equal(const struct rows *r, int32_t col, const char *value);

/** Any cell as text in place of what @p out held: a network may be called "4", which the CSV reader takes for
 * a number. Blank is "". */
int rows_text(struct text *out, const struct rows *r, int32_t col, struct err *e);

/** The cell as text, added to @p copies (of names_add_copy()); its position into @p at. */
int rows_name(int32_t *at, struct names *copies, const struct rows *r, int32_t col, struct err *e);

/** NaN for a blank; ERR_PARSE for a word and for what is negative, which nothing is that figures read. */
int rows_number(double *out, const struct rows *r, int32_t col, struct err *e);

/** The same for what figures divide by: ERR_PARSE for 0 as well. */
int rows_above_zero(double *out, const struct rows *r, int32_t col, struct err *e);

/** A whole number up to @p max; ERR_PARSE for anything else, a blank too. */
int rows_count(int32_t *out, const struct rows *r, int32_t col, int32_t max, struct err *e);

/** ERR_PARSE: no row of the table is left. Of those that passed the filter, @p n_blank lack a value;
 * @p but ("are solved but ", or "") says what they are otherwise. */
int rows_none_left(const struct rows *r, int64_t n_passed, int64_t n_blank, const char *but, struct err *e);

#endif
