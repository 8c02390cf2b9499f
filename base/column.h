/**
 * @file One description of a column: from the field of a struct to CSV, JSON, stores, text, `--list`, figures
 * and docs.
 *
 * A table of rows is described by a list of columns, which ends with one whose name is NULL. Each names a
 * field of the struct that is a row: `const char *` (TABLE_TEXT; NULL is blank), `double` (TABLE_REAL; NaN is
 * blank) or `int64_t` (TABLE_COUNT; below 0 is blank). To add a column: a field, a row of the list, the line
 * that fills it. Nothing else knows its name.
 *
 *     static const struct column columns[] = {
 *         COLUMN_WORD(struct job, status, "done, or error"),
 *         COLUMN_REAL_N(struct job, bw_GBps, "bw#_GBps", MAX_DIMS, "bandwidth of a dimension", .upto =
 * "n_dims"), { .name = NULL },
 *     };
 *
 * Which columns a table shows depends on the study: column_choose() decides once, then row_put() copies.
 */
#ifndef BASE_COLUMN_H
#define BASE_COLUMN_H

#include <stddef.h>

#include "base/table.h"

enum { COLUMN_NAME = 64 /**< room for the name of a repeated column */ };

/** Bits of column.flags. */
enum column_flag {
    COLUMN_HIDDEN = 1 << 0, /**< stored, and there for reports and trimming; not exported */
    COLUMN_HALF = 1 << 1,   /**< text: half of an interval, joined to the column before as "1.2 +- 0.1" */
    COLUMN_TIMING = 1 << 2, /**< wall clock: there where it is asked for, as it differs from run to run */
    COLUMN_EMPTY = 1 << 3,  /**< NULL is an empty text, not blank */
    /* Where an axis has the name of the column (none of these: both stand in the table): */
    COLUMN_YIELDS = 1 << 4,   /**< the column is left out: the axis has the same values */
    COLUMN_REPLACES = 1 << 5, /**< the axis is left out: the column says it better */
    COLUMN_RENAMES = 1 << 6,  /**< the axis is called "vary.NAME" */
};

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): in the order that tables are written in */
struct column {
    const char *name; /**< with its unit, as in CSV: "time_s". '#' is the number, from 1, of a repeated one */
    const char *help; /**< for --list and docs; NULL: not listed */
    enum table_kind kind; /**< also says the type of the field: const char *, double or int64_t */
    size_t offset;        /**< of the field; of a repeated column that of the first, an array of `repeat` */
    int32_t repeat;       /**< 0 or 1: one column */
    unsigned flags;       /**< enum column_flag */
    const char *axis;     /**< a second name of axes that the flags are about; NULL: none */
    const char *part;     /**< of a store that keeps it apart, as few rows have it; NULL: with the others */
    int32_t part_from;    /**< of a repeated one: so many of them are with the others all the same */
    const char *upto;     /**< repeated: exported up to the largest value of this column; NULL: all */
    const char *with;     /**< exported where some row has a value in a column with this word; NULL: always */
    const char *title;    /**< in text; NULL: the name without its unit */
    const char *unit;     /**< in text; NULL: what stands after the last '_' of the name */
    int better;           /**< 1: more is better, -1: less is better, 0: neither */
    int digits;           /**< in text; 0: as the report chooses */
};

#define COLUMN_AT(type, field, called, of_kind, ...)                                                         \
    {                                                                                                        \
        .name = (called), .kind = (of_kind), .offset = offsetof(type, field), .help = __VA_ARGS__            \
    }
/** A column that is called as its field: its help, then more members of struct column where it needs some. */
#define COLUMN_WORD(type, field, ...)  COLUMN_AT(type, field, #field, TABLE_TEXT, __VA_ARGS__)
#define COLUMN_REAL(type, field, ...)  COLUMN_AT(type, field, #field, TABLE_REAL, __VA_ARGS__)
#define COLUMN_COUNT(type, field, ...) COLUMN_AT(type, field, #field, TABLE_COUNT, __VA_ARGS__)
/** `n` columns of reals, called `called` with its '#' replaced. */
#define COLUMN_REAL_N(type, field, called, n, ...)                                                           \
    COLUMN_AT(type, field, called, TABLE_REAL, __VA_ARGS__, .repeat = (n))
#define COLUMNS_END                                                                                          \
    {                                                                                                        \
        .name = NULL                                                                                         \
    }

/** How many times @p c stands in a row, at least 1. O(1). */
int32_t column_count(const struct column *c);
/** The name of number @p i, from 0, of a repeated column; @p c->name of one that is not. */
const char *column_name(char buf[COLUMN_NAME], const struct column *c, int32_t i);
/**
 * The column of @p list, which may be NULL, that has this name, repeated ones too; NULL: none. O(columns):
 * names of repeated ones are made and compared one by one, so not for the loop over rows.
 */
const struct column *column_find(const struct column *list, const char *name);

/* ---- which columns a table has ---- */

/** What decides. All zero: all columns but those of COLUMN_HIDDEN and COLUMN_TIMING. */
struct column_choice {
    const char *const *axes; /**< shape [n_axes]: names of what varies, whose columns stand before these */
    int32_t n_axes;
    bool timing, hidden; /**< those columns too */
};

/** Columns of one list that a table shows, in order: `= { 0 }`; release with columns_free(). */
struct columns {
    const struct column **of; /**< shape [n], owned; each of them stands column_count() times */
    int32_t n;
};

/**
 * Fill @p out with the columns of @p list that @p choice shows, in the order of the list. @p list must
 * outlive @p out, which points into it.
 * @return 0 or ERR_NOMEM; @p out can be freed either way.
 */
int column_choose(struct columns *out, const struct column *list, const struct column_choice *choice,
                  struct err *e);
void columns_free(struct columns *c);

/** What an axis is called in a table of these columns: @p axis; "vary.AXIS" in @p buf; NULL where a column
 * says it (flags above). */
const char *column_axis(char buf[COLUMN_NAME + 8], const struct column *list, const char *axis);

/** Add them to a table without rows. Lack of memory shows in t->failed. */
void columns_put(struct table *t, const struct columns *c);

/* ---- rows ---- */

/** Make every field that @p list names blank. Fields that no column names are left alone. */
void row_clear(void *row, const struct column *list);
/**
 * Go on in the row of @p t that is open: the values of @p row, in the columns of columns_put(). Texts are
 * copied by the table. The caller opens the row, since columns of axes may stand before these.
 */
void row_put(struct table *t, const struct columns *c, const void *row);
/** The opposite: fields of @p c from row @p i of @p t, whose columns from @p col on are these. Texts are
 * borrowed from the table; other fields stay as they are. */
void row_get(void *row, const struct columns *c, const struct table *t, int64_t i, int32_t col);

#endif
