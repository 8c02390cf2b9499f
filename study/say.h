/**
 * @file What the texts of all kinds share: cells by the names of their columns, heads of points, counts.
 *
 * Lookups by name are O(columns) each: for the few rows that people read.
 */
#ifndef STUDY_SAY_H
#define STUDY_SAY_H

#include "study/kind.h"

/** The number in @p column; NaN: blank, or there is no such column. */
double say_number(const struct table *t, int64_t row, const char *column);
/** The text in @p column; "" where it is blank, or there is no such column. */
const char *say_word(const struct table *t, int64_t row, const char *column);
/** False also where there is no column `status`. */
bool say_has_status(const struct table *t, int64_t row, const char *status);
/** One after the last row of the point of row @p first. */
int64_t say_end_of_point(const struct table *t, int64_t first);

enum { SAY_VALUE = 512 };
/** An axis' value for people: without the quotes around a plain text. Borrowed from @p buf or @p value. */
const char *say_unquote(char buf[SAY_VALUE], const char *value);
/** Head of an axis' column: the path's last names, whole and at most 20 bytes, or the last one alone:
 * "pod.max_GBps" of "network.dims.pod.max_GBps". Borrowed from @p path. */
const char *say_axis_title(const char *path);
/** "point 3: workers 8, jitter 0.1" and a newline, of the point of @p row; nothing where nothing varies. */
void say_axes(struct text *out, const struct study_report *r, int64_t row);

/** "2 of 8 rows are errors; the first: ..." where there are any. Returns how many. */
int64_t say_errors(struct text *out, const struct table *t);

/** Columns that have a help and what they mean, as a sheet: repeated ones once, as "dim1_MB..". */
int say_columns(struct text *out, const struct column *columns, struct err *e);

#endif
