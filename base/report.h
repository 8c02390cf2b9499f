/**
 * @file What a command says, built once and written as text for people, as one JSON object, or as CSV.
 *
 * What base/column.h describes is told by its lists: report_facts() of a struct, report_list() of rows.
 *
 * A report is facts (a key with a value), tables (rows under columns), lines of prose, and maps and lists
 * that hold them. Each says in which forms it appears; what is not of the form at hand costs nothing, so one
 * function builds all three:
 *
 *   text  facts as "label  value unit", tables with aligned columns and units below the titles, lines
 *   JSON  facts as members, tables as lists of objects, maps and lists nested
 *   CSV   the one table marked IN_CSV; without any, all facts marked IN_CSV as one row
 *
 * Values in data (JSON, CSV) round-trip; text shows few digits. What a text form words in its own way is a
 * fact or column of its own, marked IN_TEXT, beside the one marked IN_DATA. Lack of memory is kept and told
 * by report_end(); nothing in between fails.
 */
#ifndef BASE_REPORT_H
#define BASE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/column.h"
#include "base/json.h"
#include "base/sheet.h"
#include "base/table.h"

enum { REPORT_WORD = 0, REPORT_USD = -1, REPORT_COUNT = -2, REPORT_MAX_COLUMNS = SHEET_MAX_COLUMNS };

/** A column of a table. */
/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): in the order that tables are written in */
struct report_column {
    unsigned in;              /**< of enum column_in */
    const char *key;          /**< in data; "usd.low" is member low of map usd in JSON. NULL: text alone */
    const char *title, *unit; /**< in text; NULL title: data alone; NULL unit: none */
    int show;                 /**< in text: significant digits, or REPORT_WORD, _USD, _COUNT */
    double times, per;        /**< in text value * times / per is shown; 0 stands for 1 */
    enum table_kind kind;     /**< in CSV */
};

/** Zero-initialise `format`, `indent`, `width` as wanted, the rest stays; release with report_free(). */
struct report {
    enum table_format format;
    bool rows;          /**< JSON has what CSV has: {"weft": ..., "rows": [...]} */
    const char *indent; /**< before the label of a fact in text; NULL: none */
    int width;          /**< of labels in text, filled up with blanks */
    struct text out;    /**< owned: text or JSON so far */
    struct json json;   /**< writes to `out`; for what has no function here, under report_is(r, IN_JSON) */
    /* private */
    const struct report_column *columns; /* of the open table; borrowed */
    int32_t n_columns, at;               /* next column of the row */
    bool open;                           /* the open table has a column of this form */
    bool listed;                         /* its rows are a list of their own in JSON */
    char prefix[32];                     /* of the open map in a row of JSON */
    struct sheet sheet;
    const struct column *list; /* of the open list; borrowed */
    struct columns shown;      /* those of it that are in this form; of JSON none */
    struct table body;         /* its rows, in text */
    struct table table;        /* CSV */
    struct table facts;        /* CSV: a row a fact, its value in the column of its kind */
    bool failed;
};

/** Is the report in one of these forms? For what is dear to work out, or said in one form alone. */
bool report_is(const struct report *r, unsigned in);

/* ---- what lists of columns describe ---- */
/**
 * The facts of a struct: in text "title  value unit" lines, in JSON members, in CSV cells of the one row. Of
 * a repeated column with '#' each is a fact of its own; without, a list in JSON and nothing elsewhere.
 */
void report_facts(struct report *r, const struct column *list, const void *row);
/**
 * Begin a table of rows that @p list describes, which must live until report_list_end(). In JSON they are the
 * list @p key of objects; NULL: objects of the list that is open. In CSV it is the one table.
 */
void report_list(struct report *r, const char *key, const struct column *list);
/** The next row; what it borrows is copied. */
void report_row(struct report *r, const void *row);
/** Text is written here, since titles and units of COLUMN_FITTED follow from all rows. */
void report_list_end(struct report *r);
/** All three, of an array of @p n structs of @p size bytes each. */
void report_array(struct report *r, const char *key, const struct column *list, const void *rows, int64_t n,
                  size_t size);

/* ---- facts; NULL label: not in text; NULL key: not in data ---- */
/**
 * @p in: forms that have it; @p key: its name in JSON and CSV; @p label: in text. Blank values: NULL for a
 * text, a number below 0 for a count, one that is not finite for a real.
 */
void report_word(struct report *r, unsigned in, const char *key, const char *label, const char *s);
/** Negative: null, blank, "-". */
void report_count(struct report *r, unsigned in, const char *key, const char *label, int64_t n,
                  const char *unit);
/** Not finite: null, blank, "-". */
void report_real(struct report *r, unsigned in, const char *key, const char *label, double x, int digits,
                 const char *unit);
/** true and false; "yes" and "no" in text and CSV. */
void report_flag(struct report *r, unsigned in, const char *key, const char *label, bool b);
/** Facts of JSON alone. */
void report_json_word(struct report *r, const char *key, const char *s);
void report_json_count(struct report *r, const char *key, int64_t n);
void report_json_real(struct report *r, const char *key, double x);
void report_json_flag(struct report *r, const char *key, bool b);
/** A fact of text alone, worded here. */
void report_shown(struct report *r, const char *label, const char *fmt, ...) ERR_PRINTF(3, 4);
/** Numbers as a list of JSON, each divided by @p unit; shape [n]. */
void report_reals(struct report *r, const char *key, const double *x, int32_t n, double unit);
/** An item of the open list of JSON; null for NULL. */
void report_item(struct report *r, const char *s);
/** Append to text as it stands; newlines are the caller's. */
void report_line(struct report *r, const char *fmt, ...) ERR_PRINTF(2, 3);
/**
 * '{' or '[' in JSON, nothing elsewhere. Each is closed by report_close() with its counterpart; tables open
 * and close their own.
 */
void report_open(struct report *r, const char *key, char bracket);
void report_close(struct report *r, char bracket);

/* ---- tables ---- */
#define REPORT_COLUMNS(list) ((int32_t)(sizeof(list) / sizeof *(list)))
/** Begin a table; @p columns (shape [n], at most REPORT_MAX_COLUMNS) must live until report_table_end(). Then
 * every value of every row in order, whatever the form: those of columns that are not in it are dropped. */
void report_table(struct report *r, const char *key, const struct report_column *columns, int32_t n);
/** The same, its rows as objects of the list that is open in JSON. */
void report_rows(struct report *r, const struct report_column *columns, int32_t n);
/** The next value of the row, in the column of its turn: NULL is "-" in text, blank in CSV, null in JSON. */
void report_put_word(struct report *r, const char *s);
/** The same, made here; cut to 511 bytes. */
void report_put_text(struct report *r, const char *fmt, ...) ERR_PRINTF(2, 3);
/** In SI, or whatever data has: `times` and `per` of the column are for text. Not finite: as NULL above. */
void report_put_real(struct report *r, double x);
/** Negative: as NULL above. */
void report_put_count(struct report *r, int64_t n);
void report_put_flag(struct report *r, bool b);
/** A value of any kind that there is none of. */
void report_put_none(struct report *r);
/** After the last value of a row, never within one (assert). */
void report_table_end(struct report *r);

/* ---- pages ---- */
/** Begin an object of its own: a line in JSON; in text a blank line before all but the first. */
void report_page(struct report *r);
void report_page_end(struct report *r);

/**
 * Write what is not in `out` yet (CSV, rows of JSON) with @p head as table_write() takes it.
 * @return 0 or ERR_NOMEM.
 */
int report_end(struct report *r, const char *head, struct err *e);
/** Also of one whose report_end() was never called. */
void report_free(struct report *r);

#endif
