/**
 * @file Tables: columns with a name and a type; written as aligned text, CSV or JSON, read from CSV.
 *
 * Rows are appended and read by number; nothing is sorted or indexed here. A table belongs to one thread at a
 * time; several may read one that nobody changes.
 */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

enum table_kind { TABLE_TEXT, TABLE_REAL, TABLE_COUNT };
enum table_format { TABLE_AS_TEXT, TABLE_AS_CSV, TABLE_AS_JSON };

/** One value; `kind` of its column says which field it is. Tables have millions of them: 8 bytes each. */
struct table_cell {
    union {
        double real;   /**< not finite = no value: blank in CSV, null in JSON, "-" in text */
        int64_t count; /**< INT64_MIN = no value */
        char *text;    /**< owned by the table; NULL = no value */
    };
};

/** Zero-initialise; release with table_free(). */
struct table {
    char **names;           /**< shape [n_cols], owned: unit included, "time_s" */
    enum table_kind *kinds; /**< shape [n_cols], owned */
    signed char *better;    /**< shape [n_cols], owned: 1 more is better, -1 less, 0 not known */
    const char **units;     /**< shape [n_cols], owned, of table_unit_known(); NULL: as the name says */
    char **titles;          /**< shape [n_cols], owned; NULL: as the name says */
    int32_t n_cols;
    int64_t n_rows, cap_rows; /**< the last row may be open: table_row_is_open() */
    struct table_cell *cells; /**< shape [n_rows][n_cols], owned */
    int32_t col;              /**< next column to put in the row being filled */
    bool failed;              /**< out of memory; table_write() reports it */
    struct text notes;        /**< what its file's head says and nobody understands, a line each */
};

/** All columns before the first row. @p name is copied. Lack of memory sets t->failed. */
void table_column(struct table *t, const char *name, enum table_kind kind);
/** The same with the name, kind, direction and unit of column @p col of @p from. */
void table_column_of(struct table *t, const struct table *from, int32_t col);
/** Those columns of @p from that @p t, which has the first of them or none, lacks. */
void table_columns_of(struct table *t, const struct table *from);
/** What is better in column @p col: 1 more, -1 less, 0 not known, as in a new column. CSV and JSON say it in
 * their heads, "best=min:time_s,max:speedup", and a CSV that is read back knows it. */
void table_better(struct table *t, int32_t col, int better);
/** The unit of column @p col, of table_unit_known(), where its name does not end in it; CSV and JSON say it
 * in their heads, "units=W:watt_peak,USD/NPU/h:usd_npu_h", likewise. */
void table_set_unit(struct table *t, int32_t col, const char *unit);
/** What people call column @p col, where it is not its name; CSV and JSON say it in their heads,
 * "titles=step:time_s", likewise, unless it has a comma or a colon. Copied. */
void table_set_title(struct table *t, int32_t col, const char *title);
/** Append the title of a column: as set, else its name without the unit, with spaces: "equal cost". */
void table_put_title(struct text *out, const struct table *t, int32_t col);
/** The unit of a column: as set, else what its name ends in; "" for none. @p n: bytes of the name without it.
 */
const char *table_unit(const struct table *t, int32_t col, size_t *n);
/** The unit that a name ends in, "GB/s" of "bw_GBps"; "" where it ends in none, or is nothing but one. @p n:
 * bytes of the name before it. */
const char *table_unit_of_name(const char *name, size_t *n);
/** The program's own spelling of a unit, which lives for ever; NULL: it knows no such unit. */
const char *table_unit_known(const char *unit);
/** Begin a row; then put one value per column, in order. A kind that does not match is a bug (assert). */
void table_row(struct table *t);
/** NaN: no value. Infinite ones are kept, and written as no value. */
void table_put_real(struct table *t, double x);
/** INT64_MIN: no value. */
void table_put_count(struct table *t, int64_t n);
/** Copied; NULL: no value. */
void table_put_text(struct table *t, const char *s);
/** No value, in a column of any kind. */
void table_put_none(struct table *t);
/** Are values of the last row still to be put? */
bool table_row_is_open(const struct table *t);
/** Forget the rows; columns and memory stay. O(cells). */
void table_clear(struct table *t);
/** Keep the first @p n rows, 0 <= n <= n_rows: after a failure, those before it, which it did not touch; a
 * table with rows is sound then. O(cells that go). */
void table_cut(struct table *t, int64_t n);
/** The value of a cell of another table, in a column of the same kind. */
void table_put_cell(struct table *t, const struct table *from, int64_t row, int32_t col);
/** Begin a row with all cells of row @p row of @p from. */
void table_copy_row(struct table *t, const struct table *from, int64_t row);

/** The point of a row, as its column "point" has it; INT64_MIN: none. */
int64_t table_point(const struct table *t, int64_t row);
/** Where the row of a point is. */
struct table_place {
    int64_t point, row;
};
/** Places of all rows, the lowest point first, of equal ones the first row; shape [n_rows], to be freed.
 * NULL: no memory. O(n log n). */
struct table_place *table_places(const struct table *t);
/** The row of @p point in @p places, shape [n]; -1: it has none. O(log n). */
int64_t table_find_place(const struct table_place *places, int64_t n, int64_t point);
/** Columns too; then it is as `= { 0 }`. */
void table_free(struct table *t);

/**
 * Move row @p row of @p from, which has the same columns, to the end of @p t; it is left without texts. Texts
 * are moved, not copied. O(columns).
 */
void table_take_row(struct table *t, struct table *from, int64_t row);
/**
 * Move all rows of @p from, which has the same columns, behind those of @p t. O(1) where @p t has no rows,
 * else O(cells of @p from). @p from is empty afterwards; a failure of it becomes one of @p t.
 */
void table_take_rows(struct table *t, struct table *from);
/** Keep the rows that @p stays says, in their order. */
typedef bool table_row_test(const void *data, const struct table *t, int64_t row);
void table_keep_rows(struct table *t, table_row_test *stays, const void *data);
/** Keep the columns with keep[col], shape [n_cols], and no others. O(cells). */
void table_keep_columns(struct table *t, const bool *keep);

/** Column by name, or -1. O(columns) comparisons of names: outside of loops over rows. */
int32_t table_find(const struct table *t, const char *name);
/** Borrowed until the table changes; row and column must be there (assert). O(1). */
const struct table_cell *table_cell(const struct table *t, int64_t row, int32_t col);
/** The value of a REAL or COUNT cell; NaN when it has none, or in a TEXT column. */
double table_number(const struct table *t, int64_t row, int32_t col);
/** The value of a cell of any column, also of one that is not there (@p col < 0): NULL where it is no text.
 */
const char *table_text(const struct table *t, int64_t row, int32_t col);
/** Likewise: INT64_MIN where it is no count. */
int64_t table_count(const struct table *t, int64_t row, int32_t col);

enum { TABLE_ROW_NAME = 80 };
/** What messages call a row: "row 3 (point 2)", where the first row is row 1 and its point has the number
 * that the study gave it; of a table without points "row 3". */
const char *table_row_name(char buf[TABLE_ROW_NAME], const struct table *t, int64_t row);

/**
 * Is column @p col one of numbers and blanks? One word among numbers makes a column of texts of what a CSV
 * holds: that word is the error. ERR_PARSE, with its row; ERR_RANGE: there are words alone. O(rows).
 */
int table_need_numbers(const struct table *t, int32_t col, struct err *e);

/** Append the value as CSV has it, without quotes; blank is "". */
void table_cell_text(struct text *out, const struct table *t, int64_t row, int32_t col);

/**
 * Append the table to @p out.
 *
 * @param head  lines about the run (version, command, hash, seed), one `key=value` pair
 *              a line, no '#'; comment lines in CSV, members of the "weft" object (as
 *              text) in JSON, left out of text; may be NULL.
 * @return 0 or ERR_NOMEM, also when an earlier table_put_*() ran out of memory.
 *
 * Text: aligned for reading, numbers to the right, reals in 6 digits, "-" for no value.
 * CSV: RFC 4180 with LF, `best=` and `units=` behind the head where they are known; no value is blank, an
 * empty text is "". Reals round-trip in CSV and JSON. JSON: {"weft": {...}, "rows": [{...}, ...]}, one row a
 * line. Time O(cells).
 */
int table_write(const struct table *t, enum table_format format, const char *head, struct text *out,
                struct err *e);

/** A table written piece by piece: `= { .format = F }`, then the calls below; table_write_end() releases. */
struct table_writer {
    enum table_format format;
    size_t *widths; /**< shape [n_cols], owned; of text alone */
    int64_t n_rows; /**< so far */
};
/** For TABLE_AS_TEXT all rows have to be shown before the first is written (other formats need it not). */
int table_write_measure(struct table_writer *w, const struct table *rows, struct err *e);
/** Append what stands before the rows, then rows as often as there are some, then what stands behind them:
 * together the text of table_write(). ERR_NOMEM. */
int table_write_begin(struct table_writer *w, const struct table *columns, const char *head, struct text *out,
                      struct err *e);
/** Rows have the columns of table_write_begin(). ERR_NOMEM also for what failed while they were filled. */
int table_write_rows(struct table_writer *w, const struct table *rows, struct text *out, struct err *e);
/** To be called also after a failure: it releases. */
int table_write_end(struct table_writer *w, struct text *out, struct err *e);

/**
 * Read CSV: RFC 4180 quoting, LF or CR LF, '#' comment lines before the header, of which "# best=" says
 * directions and "# units=" units (of those that are not known t->notes has a line, and the column none). The
 * first row names the columns. A blank field is no value.
 *
 * @param[out] t  uninitialised; owned by the caller after success, empty after failure.
 * @return 0, ERR_NOMEM, or ERR_PARSE with `file:line: ...`: unreadable or empty file, a row
 *         with too few or too many fields, a quote out of place, two columns of one name.
 *
 * A column is COUNT when all its values are whole numbers without sign, else REAL when all
 * are numbers (or there are none), else TEXT. So a REAL column may come back as COUNT when
 * its values are whole: read it by table_number(). Time O(bytes).
 */
int table_read_csv(struct table *t, const char *path, struct err *e);
/** TEXT columns become COUNT or REAL by the same rule, as if the table had been written and read. ERR_NOMEM.
 */
int table_find_numbers(struct table *t, struct err *e);

#endif
