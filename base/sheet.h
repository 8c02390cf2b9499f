/**
 * @file Tables and numbers for people: units in the head, points under points, few digits.
 *
 * For people alone: digits are few and blanks are "-", so nothing here is read back. What programs read is
 * base/table.h and base/json.h.
 */
#ifndef BASE_SHEET_H
#define BASE_SHEET_H

#include <stdint.h>

#include "base/text.h"

enum {
    SHOW = 48,        /**< room for the others */
    SHOW_VALUE = 512, /**< for show_unquoted() */
};

/** @p x in @p digits significant digits without exponent, thousands with commas: "5,926,093", "53.912",
 * "0.0912"; "-" unless finite. Numbers beyond 1e15 or below 1e-9 take an exponent. Returns @p buf. */
const char *show_real(char buf[SHOW], double x, int digits);
/** USD: whole ones from 1,000 on, else 5 digits. */
const char *show_usd(char buf[SHOW], double usd);
/** Whole number with commas; "-" for negative. */
const char *show_count(char buf[SHOW], int64_t n);
/** Seconds in the unit that fits: "1.2345 s", "321.45 ms", "12.3 us", "0 s". */
const char *show_time(char buf[SHOW], double x_s);
/** "ms" and 1e3 and the like, for a column whose largest value is @p most_s. */
const char *show_time_unit(double most_s, double *per_s);

/** A value as a study wrote it, without the quotes around a plain text. Borrowed from @p buf or @p value. */
const char *show_unquoted(char buf[SHOW_VALUE], const char *value);

/** The first @p n bytes of a key's path as people say it: "taper of rail" of "network.dims.rail.taper",
 * "batch" of "workload.parallel.batch". A name without dots stays as it is. Returns @p buf. */
const char *show_path(char buf[SHOW_VALUE], const char *path, size_t n);

enum sheet_align {
    SHEET_LEFT,
    SHEET_POINT, /**< to the right, decimal points in line */
};

enum { SHEET_MAX_COLUMNS = 40, SHEET_WIDTH = 120 /**< characters of a line, unless it is wide */ };

/** Characters of the first @p n bytes of @p s, or of all of it. */
size_t sheet_width(const char *s, size_t n);
/** Bytes of the next line of a text that is folded at blanks to a width; at least a word. */
size_t sheet_fold(const char *s, size_t width);

struct sheet_column {
    const char *title, *unit; /**< borrowed */
    enum sheet_align align;
};

/** Zero-initialise; release with sheet_free(). */
struct sheet {
    struct sheet_column columns[SHEET_MAX_COLUMNS];
    int32_t n_columns; /**< at most SHEET_MAX_COLUMNS */
    int32_t n_left;    /**< columns that say which row it is, again in every block; 0: the first */
    int64_t n_cells, cap_cells;
    char **cells; /**< shape [n_cells], owned; row by row */
    bool failed;  /**< out of memory; sheet_write() reports it */
};

/** All columns before the first cell. */
void sheet_column(struct sheet *s, const char *title, const char *unit, enum sheet_align align);
/** Next cell, row by row. Cut to 511 bytes, the end then "...". */
void sheet_put(struct sheet *s, const char *fmt, ...) ERR_PRINTF(2, 3);
/** Next cell: show_real(). */
void sheet_real(struct sheet *s, double x, int digits);
/** show_usd(), and show_count() below it. */
void sheet_usd(struct sheet *s, double usd);
void sheet_count(struct sheet *s, int64_t n);
void sheet_free(struct sheet *s);

/**
 * Append heads, units and rows; a column with nothing but "" and "-" is left out. Lines have at most 120
 * characters unless @p out is wide: texts are folded, then columns go on in blocks below, each with the left
 * columns again. 0 or ERR_NOMEM.
 */
int sheet_write(const struct sheet *s, struct text *out, struct err *e);

#endif
