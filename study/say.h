/**
 * @file What the texts of all kinds share: cells by the names of their columns, heads of points, counts.
 *
 * Lookups by name are O(columns) each: for the few rows that people read.
 */
#ifndef STUDY_SAY_H
#define STUDY_SAY_H

#include "base/report.h"
#include "study/kind.h"

/** The number in @p column; NaN: blank, or there is no such column. */
double say_number(const struct table *t, int64_t row, const char *column);
/** The text in @p column; "" where it is blank, or there is no such column. */
const char *say_word(const struct table *t, int64_t row, const char *column);
/** False also where there is no column `status`. */
bool say_has_status(const struct table *t, int64_t row, const char *status);
/** One after the last row of the point of row @p first. */
int64_t say_end_of_point(const struct table *t, int64_t first);

/** "point 3: workers 8, jitter 0.1" and a newline, of the point of @p row; nothing where nothing varies. */
void say_axes(struct text *out, const struct study_report *r, int64_t row);

/** "means of 5 seeds, 1 to 5, +- half of the 95 % interval", or "seed: 1": a line. */
void say_seeds(struct text *out, const struct study_report *r);

/** "2 of 8 rows are errors; the first: ..." where there are any. Returns how many. */
int64_t say_errors(struct text *out, const struct table *t);

/** What a kind wants of its rows in text. */
struct say_look {
    bool point; /**< the column `point` */
    bool axes;  /**< what varies, else it stands above (say_axes()) */
    /** Columns to leave out besides those that are not for people. NULL: none. */
    bool (*skips)(const struct table *t, int32_t col);
};
/** "network: switch:8", of each column of COLUMN_COMMON in which all rows have one value: lines. */
void say_common(struct text *out, const struct study_report *r);
/** Rows @p first to @p end as a sheet, in the order of the table: columns that people are shown
 * (base/column.h), but those of say_common(). ERR_NOMEM. */
int say_rows(struct text *out, const struct study_report *r, int64_t first, int64_t end,
             const struct say_look *look, struct err *e);

/** The title of a repeated column by the words of another (column.titles): true where it has one in @p t. */
bool say_word_title(char title[COLUMN_NAME], const struct table *t, const struct column *c, const char *name);

/** All columns of a kind that have a help, of each of its tables: name, unit, what is better, meaning. */
void say_columns(struct report *r, const struct study_kind *kind);

#endif
