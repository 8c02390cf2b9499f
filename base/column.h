/**
 * @file One description of a column: from the field of a struct to CSV, JSON, stores, text, `--list`, figures
 * and docs.
 *
 * A table of rows is described by a list of columns, which ends with one whose name is NULL. Each names a
 * field of the struct that is a row: `const char *` (TABLE_TEXT; NULL is blank), `double` (TABLE_REAL; NaN is
 * blank), `int64_t` or `int32_t` (TABLE_COUNT; below 0 is blank), `bool` (COLUMN_FLAG: yes or no). To add a
 * column: a field, a row of the list, the line that fills it. Nothing else knows its name.
 *
 *     static const struct column columns[] = {
 *         COLUMN_WORD(struct job, status, "done, or error"),
 *         COLUMN_REAL_N(struct job, bw_GBps, "bw#_GBps", MAX_DIMS, "bandwidth of a dimension", .upto =
 * "n_dims"), { .name = NULL },
 *     };
 *
 * Which columns a table shows depends on the study: column_choose() decides once, then row_put() copies.
 *
 * Units stand at three places. The field has SI; data (CSV, JSON, stores) has field / per, in the unit that
 * the name ends in; text has data * times, as `as` says. Most columns have all three alike.
 */
#ifndef BASE_COLUMN_H
#define BASE_COLUMN_H

#include <stddef.h>

#include "base/sheet.h"
#include "base/table.h"

enum {
    COLUMN_NAME = 64,  /**< room for the name of a repeated column */
    COLUMN_DIGITS = 5, /**< of a number in text where a column does not say */
};

/** Forms that something appears in. */
enum column_in {
    IN_TEXT = 1,
    IN_JSON = 2,
    IN_CSV = 4,
    IN_DATA = IN_JSON | IN_CSV,
    IN_ALL = 7,
    IN_NONE = 8 /**< for `upto` alone */
};

/** How a value is shown to people. */
enum column_show {
    COLUMN_PLAIN,  /**< digits; dollars where the unit is USD */
    COLUMN_FITTED, /**< seconds, bytes, watts: in the multiple that fits the largest value */
    COLUMN_YES_NO, /**< of a flag: true and false in JSON, yes and no elsewhere; a `bool`, or a count that is
                      0, 1, or below 0 for blank */
};

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
    COLUMN_IF_ANY = 1 << 7,   /**< of facts: left out where it is blank, in every form */
    COLUMN_CHARS = 1 << 12,   /**< a text that the row holds itself, an array of char; "" is blank */
    /* In the text of rows (study/say.h): */
    COLUMN_COMMON = 1 << 8,  /**< said once above the table where all rows have the same value */
    COLUMN_SEEDS = 1 << 9,   /**< there where some row is of several seeds */
    COLUMN_SIGNED = 1 << 10, /**< a change: with its sign */
    COLUMN_AXIS = 1 << 11,   /**< values as a study wrote them: without quotes, numbers aligned as such */
};

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): in the order that tables are written in */
struct column {
    const char *name; /**< with its unit, as in CSV: "time_s". '#' is the number, from 1, of a repeated one;
                           repeated without '#': a list, in JSON alone. In JSON "usd.low" is low of map usd */
    const char *help; /**< what it means, for --columns and docs; NULL: not listed */
    enum table_kind kind; /**< also says the type of the field */
    size_t offset;        /**< of the field; of a repeated column that of the first, an array of `repeat` */
    size_t size;          /**< of the field, all of it; 0: that of the type `kind` says */
    int32_t repeat;       /**< 0 or 1: one column */
    unsigned in;          /**< of enum column_in; 0: all */
    unsigned flags;       /**< enum column_flag */
    double per;           /**< data is the field divided by this; 0: as it is */
    const char *axis;     /**< a second name of axes that the flags are about; NULL: none */
    const char *part;     /**< of a store that keeps it apart, as few rows have it; NULL: with the others */
    int32_t part_from;    /**< of a repeated one: so many of them are with the others all the same */
    const char *upto;     /**< repeated: there up to the (largest) value of this column; NULL: all */
    const char *with;     /**< exported where some row has a value in a column with this word; NULL: always */
    const char *title;    /**< in text, '#' as above; NULL: the name without its unit */
    const char *titles; /**< repeated: a text column whose words, '|' between them, are the titles in a table
                               where all rows have the same ("node|pod|pod.up1"); NULL: none */
    const char *unit;   /**< of data, of table_unit_known(); NULL: what the name ends in */
    int better;         /**< 1: more is better, -1: less is better, 0: neither */
    double times;       /**< text shows data times this; 0: as it is */
    const char *as;     /**< the unit in text; NULL: that of data */
    int digits;         /**< in text, significant; 0: 5, and all of a count */
    enum column_show show;
    const char *const
        *words;        /**< TABLE_COUNT, an enum for example: the word of that number; NULL: a number */
    const char *usual; /**< text: a word that is left blank, as it says that nothing is wrong; NULL: none */
    const char *zero;  /**< text: in place of 0; NULL: 0 */
};

#define COLUMN_AT(type, field, called, of_kind, ...)                                                         \
    {                                                                                                        \
        .name = (called), .kind = (of_kind), .offset = offsetof(type, field),                                \
        .size = sizeof((type *)0)->field, .help = __VA_ARGS__                                                \
    }
/** A column that is called as its field: its help, then more members of struct column where it needs some. */
#define COLUMN_WORD(type, field, ...)  COLUMN_AT(type, field, #field, TABLE_TEXT, __VA_ARGS__)
#define COLUMN_REAL(type, field, ...)  COLUMN_AT(type, field, #field, TABLE_REAL, __VA_ARGS__)
#define COLUMN_COUNT(type, field, ...) COLUMN_AT(type, field, #field, TABLE_COUNT, __VA_ARGS__)
/** The word of an enum; a text for everyone else. */
#define COLUMN_ENUM(type, field, list, ...)                                                                  \
    COLUMN_AT(type, field, #field, TABLE_COUNT, __VA_ARGS__, .words = (list))
#define COLUMN_FLAG(type, field, ...)                                                                        \
    COLUMN_AT(type, field, #field, TABLE_COUNT, __VA_ARGS__, .show = COLUMN_YES_NO)
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
/** What it is for a table: TABLE_TEXT of a flag and of words. O(1). */
enum table_kind column_kind(const struct column *c);
/** Does it appear in one of these forms (enum column_in)? */
bool column_is_in(const struct column *c, unsigned in);
/**
 * The column of @p list, which may be NULL, that has this name, repeated ones too; NULL: none. O(columns):
 * names of repeated ones are made and compared one by one, so not for the loop over rows.
 */
const struct column *column_find(const struct column *list, const char *name);

/* ---- for people ---- */

/** The unit of its data, "" for none. */
const char *column_unit(const struct column *c);
/** The title of number @p i, from 0, of a repeated column, in @p buf or borrowed: "dim 1" of "dim #". */
const char *column_title(char buf[COLUMN_NAME], const struct column *c, int32_t i);
/** How text shows values of data. */
struct column_scale {
    double times;
    const char *unit;
};
/** For values up to @p most, a size in the unit of data (only those of COLUMN_FITTED depend on it): seconds
 * from ten hours on are hours. */
struct column_scale column_scale(const struct column *c, double most);
/** A cell of a column of kind @p kind (of a file it may be another than column_kind()), without its unit; "-"
 * where there is no value. Borrowed from @p buf or the cell. */
const char *column_shown(char buf[SHOW], const struct column *c, enum table_kind kind, struct table_cell cell,
                         struct column_scale scale);

/** A column of a table, and what describes it. */
struct column_place {
    const struct column *column;
    int32_t number; /**< of a repeated one, from 0 */
    int32_t at;     /**< in the table */
    int32_t half;   /**< that of COLUMN_HALF which belongs to it, also in the table; 0: none */
};
/** Append rows @p first to @p end of a table as aligned text, in the order of @p places, shape [n].
 * ERR_NOMEM. O(cells). */
int column_write(struct text *out, const struct table *t, int64_t first, int64_t end,
                 const struct column_place *places, int32_t n, struct err *e);

/* ---- which columns a table has ---- */

/** What decides. All zero: all columns but those of COLUMN_HIDDEN and COLUMN_TIMING. */
struct column_choice {
    const char *const *axes; /**< shape [n_axes]: names of what varies, whose columns stand before these */
    int32_t n_axes;
    bool timing, hidden; /**< those columns too */
    unsigned in;         /**< only those of one of these forms (enum column_in); 0: all */
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

/** Give column @p col of a table the title of @p c, here @p title as it may have a number in it. Words
 * have none, nor has what a heading of text joins with its unit: "time vs", "base %". */
void column_put_title(struct table *t, int32_t col, const struct column *c, const char *title);
/** Add them to a table without rows, with directions, and with units and titles that names do not say. Lack
 * of memory shows in t->failed. */
void columns_put(struct table *t, const struct columns *c);

/* ---- rows ---- */

/** Value @p i, from 0, of a row as a table of data has it, of column_kind(). Texts are borrowed. O(1). */
struct table_cell column_cell(const struct column *c, const void *row, int32_t i);
/** How many of a repeated column the row has: `upto` in @p list says it. O(columns). */
int32_t column_n(const struct column *list, const struct column *c, const void *row);
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
