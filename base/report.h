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
#include "base/table.h"

/** Zero-initialise `format`, `indent`, `width` as wanted, the rest stays; release with report_free(). */
struct report {
    enum table_format format;
    bool rows;          /**< JSON has what CSV has: {"weft": ..., "rows": [...]} */
    const char *indent; /**< before the label of a fact in text; NULL: none */
    int width;          /**< of labels in text, filled up with blanks */
    struct text out;    /**< owned: text or JSON so far */
    struct json json;   /**< writes to `out`; for what has no function here, under report_is(r, IN_JSON) */
    /* private */
    char prefix[32];           /* of the open map in an object of JSON */
    const struct column *list; /* of the open table; borrowed */
    bool open;                 /* it has a column of this form */
    bool listed;               /* its rows are a list of their own in JSON */
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
/** The same, in JSON as a map of their own. */
void report_map(struct report *r, const char *key, const struct column *list, const void *row);
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

/* ---- facts of JSON or text alone, without a column ---- */
/** Members of the open object of JSON, or values of the open list (NULL key). NULL, a count below 0, and a
 * real that is not finite are null. */
void report_json_word(struct report *r, const char *key, const char *s);
void report_json_count(struct report *r, const char *key, int64_t n);
void report_json_real(struct report *r, const char *key, double x);
void report_json_flag(struct report *r, const char *key, bool b);
/** A fact of text alone, worded here. */
void report_shown(struct report *r, const char *label, const char *fmt, ...) ERR_PRINTF(3, 4);
/** Numbers as a list of JSON, each divided by @p unit; shape [n]. */
void report_reals(struct report *r, const char *key, const double *x, int32_t n, double unit);
/** Append to text; newlines are the caller's. Lines that end are folded at blanks to SHEET_WIDTH. */
void report_line(struct report *r, const char *fmt, ...) ERR_PRINTF(2, 3);
/**
 * '{' or '[' in JSON, nothing elsewhere. Each is closed by report_close() with its counterpart; tables open
 * and close their own.
 */
void report_open(struct report *r, const char *key, char bracket);
void report_close(struct report *r, char bracket);

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
