/**
 * @file From the rows of a table to what a figure draws: cells read, rows left out and counted, texts
 * numbered, and what tells rows apart put into words.
 *
 * A figure lists the columns that it wants as struct bind; data_read() makes arrays of them, one value for
 * each row that passes the filters and has what the figure needs. Whatever it allocates belongs to the
 * canvas.
 *
 * What is left out is accounted for (canvas.h): rows that lack a value, of another status, beyond the first
 * words of a column. A cell that cannot be what its column should be is an error with row and
 * column, never skipped.
 */
#ifndef PLOTS_DATA_H
#define PLOTS_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/num.h"
#include "base/table.h"
#include "base/text.h"
#include "plots/canvas.h"
#include "plots/figure.h"

/* ---- names ---- */

/** Distinct texts, numbered in order of first appearance: the series, panels and colours of a figure.
 * Zero-initialise; the canvas owns what it holds. */
struct names {
    const char **list; /**< shape [n] */
    int32_t n, cap;
    int32_t *slots; /**< shape [n_slots]: 1 + the position of what hashes there; 0 = free */
    int32_t n_slots;
};

/** Position of @p name, a copy of it added when new. Out of memory it is 0, and the canvas has failed.
 * O(length). */
int32_t names_add(struct canvas *c, struct names *n, const char *name);
/** Position of @p name, or -1. */
int32_t names_find(const struct names *n, const char *name);

/* ---- rows ---- */

/**
 * A table with the figure that reads it; messages name both. All borrowed. Copied by value where another row
 * is looked at.
 */
struct rows {
    const struct table *t;
    const struct plot_figure *figure;
    const struct plot_options *opt;
    int64_t row; /**< the one being read */
};

/** The columns that the figure needs are there (also of a table without rows; not those with '#'), and those
 * that its filters name. @return 0; ERR_PARSE or ERR_USAGE */
int rows_check(const struct rows *r, struct err *e);
/** Position of column @p name into @p col; ERR_PARSE when it is missing. */
int rows_column(int32_t *col, const struct rows *r, const char *name, struct err *e);
/** Whether the row passes the filters: those on one column are alternatives, every filtered column must
 * agree. */
bool rows_pass(const struct rows *r);
/** Whether the row's cell is @p value, as a number in a column of numbers. */
bool rows_equal(const struct rows *r, int32_t col, const char *value);
/** Is the row's status @p word, or "unproved" where that is "solved": is there a design? */
bool rows_done(const struct rows *r, int32_t status, const char *word);
/** Whether there is a number or a word. */
bool rows_filled(const struct rows *r, int32_t col);
/** Any cell as text, @p buf or the table's: a network may be called "4", which the CSV reader takes for a
 * number. Blank is "", as is column -1. */
const char *rows_text(char buf[NUM_TEXT], const struct rows *r, int32_t col);
/** NaN for a blank and for column -1; ERR_PARSE for a word and for what is negative, which few figures read.
 */
int rows_number(double *out, const struct rows *r, int32_t col, struct err *e);
/** The same for what figures divide by: ERR_PARSE for 0 as well. */
int rows_above_zero(double *out, const struct rows *r, int32_t col, struct err *e);
/** Whether column @p col (-1: no) differs among the rows that pass; has a value in one of them whose @p
 * status column (-1: any) is @p word. O(rows). */
bool rows_vary(const struct rows *r, int32_t col);
bool rows_know(const struct rows *r, int32_t col, int32_t status, const char *word);
/** A fault in the row's cell of @p column: "figure F: row 3 (point 2), column C: is WHAT". @return ERR_PARSE
 */
int rows_fault(const struct rows *r, const char *column, struct err *e, const char *fmt, ...)
    ERR_PRINTF(4, 5);

/* ---- columns ---- */

enum { DATA_MAX = 20, DATA_MAX_DIMS = 8 };

/** A column as a figure takes it. */
/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): in the order that tables are written in */
struct bind {
    const char *column; /**< '#' in it stands for the number of a dimension */
    enum {
        AS_WORD,       /**< any cell; rows of a word beyond the first `most` are left out */
        AS_NUMBER,     /**< not negative; NaN = blank */
        AS_ABOVE_ZERO, /**< what figures divide by */
        AS_ANY,        /**< negative, too */
        AS_COUNT,      /**< whole, up to `most`; a blank is an error */
        AS_SAME,       /**< a word that is the same in all rows from the first that has one */
        AS_STATUS,     /**< rows whose cell is not `word` are left out */
        AS_DIMS,       /**< names of dimensions joined by '|', as many as n_dims says */
        AS_PER_DIM,    /**< a number for each of them */
    } as;
    enum {
        MAY_MISS, /**< without the column all cells are blank */
        NEED,     /**< the column must be there */
        FILLED,   /**< and rows without a value are left out */
    } need;
    int32_t most;
    const char *word;
    enum {
        OF_ROWS,
        OF_TABLE,
        OF_FILLED
    } numbered; /**< words of rows that are read; of the whole table, so that a
                   filter changes no colour; of those cells that are not blank */
};

/** The rows that a figure draws. */
struct data {
    struct canvas *c;
    struct rows r;
    const struct bind *binds;
    int32_t n_binds;
    int64_t n, n_passed;     /**< rows read; that pass the filters */
    int64_t *row;            /**< shape [n]: of the table */
    int64_t *passed;         /**< shape [n_passed] */
    int32_t col[DATA_MAX];   /**< -1 = missing */
    double *x[DATA_MAX];     /**< shape [n]; of AS_PER_DIM [n][DATA_MAX_DIMS] */
    int32_t *word[DATA_MAX]; /**< shape [n]: position in `words`; of AS_COUNT the number */
    struct names words[DATA_MAX];
    const char **dims; /**< shape [n][DATA_MAX_DIMS], innermost first */
    int32_t *n_dims;   /**< shape [n] */
};

/** Read the rows of @p r that pass its filters, the columns of each in the order of @p binds, which are
 * copied. Time O(rows * binds).
 * @return 0; ERR_PARSE: a column is missing, a cell holds what cannot be, no row is left; ERR_NOMEM */
int data_read(struct data *d, struct canvas *c, const struct rows *r, const struct bind *binds, int32_t n,
              struct err *e);
/** Row i of the figure is left out after all: canvas_leave_out(). */
static inline void data_leave_out(const struct data *d, int64_t i, const char *why)
{
    canvas_leave_out(d->c, d->row[i], why);
}
/** Keep the rows @p rows of the figure, in that order; what is said of the others is up to the caller.
 * ERR_NOMEM.
 */
int data_take(struct data *d, const int64_t *rows, int64_t n, struct err *e);
/** ERR_PARSE: no row is left; the message says why, as far as data_read() and data_leave_out() know. */
int data_none_left(const struct data *d, struct err *e);
/** Note how many designs are drawn as the others, though a better split or plan may be. */
void data_note_unproved(const struct data *d);
/** Position of the bind of that column; it is there. */
int32_t data_find(const struct data *d, const char *column);
/** How the axis of bind @p k shows values up to @p most, with title and unit of its column as @p label (may
 * be NULL): "cost [M USD]". */
struct unit data_unit(const struct data *d, int32_t k, double most, const char **label);
static inline const double *data_x(const struct data *d, const char *column)
{
    return d->x[data_find(d, column)];
}
/** The table at row i of the figure. */
static inline struct rows data_at(const struct data *d, int64_t i)
{
    struct rows r = d->r;
    r.row = d->row[i];
    return r;
}
/** The text of row i of the figure in any column of the table. */
const char *data_text(char buf[NUM_TEXT], const struct data *d, int64_t i, int32_t col);

/** Words of rows, numbered in the order of the rows that are drawn: panels, series. */
struct facet {
    struct names names;
    int32_t *at; /**< by row of the figure */
};
/** Of the words of @p bind (-1: one that is blank) in the rows order[0..n-1], or the first n. ERR_NOMEM. */
int data_facet(struct facet *f, const struct data *d, int32_t bind, const int64_t *order, int64_t n,
               struct err *e);

/** The same of all rows; words that are all numbers are numbered in their order. */
int data_facet_sorted(struct facet *f, const struct data *d, int32_t bind, struct err *e);

/** A key of data_sort(): numbers or words; of one that falls the largest comes first. */
struct sort_key {
    const double *x;
    const int32_t *word;
    bool falls;
};
/** Sort @p n positions by the first key that differs; of equal ones the order stays. ERR_NOMEM. O(n log n).
 */
int data_sort(int64_t *order, int64_t n, const struct sort_key *keys, int32_t n_keys, struct err *e);

/** All rows of the figure, sorted; NULL on lack of memory. */
int64_t *data_order(const struct data *d, const struct sort_key *keys, int32_t n_keys, struct err *e);
/** The end of those that are equal in the first @p n_keys keys, from order[first] on. */
int64_t data_group_end(const int64_t *order, int64_t first, int64_t n, const struct sort_key *keys,
                       int32_t n_keys);

/* ---- what tells rows apart ---- */

/** Whether column @p col differs among @p n rows of the table. */
bool data_varies(const struct data *d, const int64_t *rows, int64_t n, int32_t col);
/** Append the last two words of a key: "jobs.count", "dims[0].bw_GBps". */
void key_put(struct text *out, const char *key);
/** The last word of a key. */
const char *key_last(const char *key);
/** Append the value of an axis; of the path of a YAML file its name alone: llama3-8b. */
void key_put_value(struct text *out, const char *value);

/** How a point is named: axes by the last two words of their key, by its last word, by their value alone. */
enum points_form { POINTS_FULL, POINTS_SHORT, POINTS_VALUES, N_POINTS_FORMS };

/** The points of a study that has several rows to a point, as panels: `weft hetero`, `weft gossip`. */
struct points {
    int32_t n, n_all;                   /**< drawn; of all */
    const char **names[N_POINTS_FORMS]; /**< shape [n_all]: what varies between them; "" when nothing does */
    const char *common;                 /**< what does not */
};
/** Of the words of bind @p point, `most` of which are drawn. Named by the columns between point and scheduler
 * (or method): axes by key and value, the model by its name alone; counts of types and layers follow from
 * those and are never names. ERR_PARSE: no row passes. O(rows * columns). */
int points_describe(struct points *p, const struct data *d, int32_t point, struct err *e);
/** The name of point @p at in the longest form of at most @p chars characters: keys go before values. */
const char *points_name(struct canvas *c, const struct points *p, int32_t at, size_t chars);
/** Note what the points have in common, and how many are not drawn. */
void points_put_notes(struct canvas *c, const struct points *p);

/* Designs differ in their plan of parallelism and in what else a sweep varies: phrases, each ended by a
 * newline, "tp8\n\tzero2\nbatch 1024\n". A tab begins those that go first where room is short. */

/** Append the axes of the row as phrases: the key's last word and the value. Axes are the columns between
 * point and network that no other column shows; what the network's own word shows is left out. */
void phrases_put_axes(struct text *out, const struct rows *r);
/** Of each row the words of its plan and its axes; NULL: no memory. */
const char **phrases_of_plans(const struct data *d, struct err *e);

enum phrases_part { PHRASES_COMMON, PHRASES_VARYING, PHRASES_SHORT /**< of those that vary, without tab */ };
/** Append to @p out, after " · ", the phrases of list[i] that all @p n have, or that not all have. O(n). */
void phrases_put(struct text *out, const char *const *list, int64_t n, int64_t i, enum phrases_part part);

#endif
