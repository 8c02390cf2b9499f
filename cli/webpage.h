/**
 * @file The page of weft report: rows with what they are called, their fronts, and the parts of the page.
 *
 * cmd_report.c reads rows and writes head and foot, webpage.c finds fronts, the other files write the parts
 * that they are named by.
 */
#ifndef CLI_WEBPAGE_H
#define CLI_WEBPAGE_H

#include "base/arena.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/overrides.h"
#include "study/front.h"
#include "study/keep.h"
#include "study/study.h"

enum {
    WEBPAGE_WHOLE = 300, /* rows of a table that is in the page as a whole */
    WEBPAGE_MARKS = 2000,
    WEBPAGE_PANELS = 12,
    WEBPAGE_CELL_PX = 4,
    WEBPAGE_FIRSTS = 24 /**< networks, or workloads, that give the values of other columns */
};

/** What the page says of a column. */
struct shown_column {
    struct made_column made;
    struct column_scale scale;
    bool shown;  /**< it is a column of the page's table */
    int32_t key; /**< column whose value gives its value, which is said above the table; -1: none */
    bool common; /**< all rows have one value, which is said above the table */
    bool tiny;   /**< nothing but rounding: likewise */
    bool per_dim;
};

/** Rows that are held against each other. Numbers of rows are -1 where there is none. */
struct rivals {
    const char *name;            /**< values of the columns of `per`, one a line; borrowed of the fronts */
    int64_t knee, first, second; /**< least of the front's two columns: fastest and cheapest of designs */
    int64_t n_front;
};

struct webpage {
    struct run *run;
    struct table t;
    const struct study_kind *kind;
    struct text head;           /**< lines KEY=VALUE of what made the table */
    struct text warns;          /**< what has to be said first, a line each */
    struct arena arena;         /**< of all arrays */
    struct shown_column *faces; /**< shape [t.n_cols] */
    int32_t *order;             /**< shape [t.n_cols]: columns as tables show them, the front's first */
    int64_t *ids;               /**< shape [t.n_rows]: what rows are called */
    bool *is_result, *on_front, *is_marked; /**< shape [t.n_rows] */
    struct keep_rule rule;
    struct keep *keep;
    struct front_set fronts;
    struct rivals *groups; /**< shape [n_groups], in the order of the table */
    int32_t n_groups;
    int64_t n_results, n_front;
    bool by_point;  /**< that is what rows are called */
    bool whole;     /**< all rows are in the table */
    bool uncertain; /**< the study says what is */
    bool left_out;  /**< some columns of single dimensions are not */
    bool has_equal; /**< some row has an equal split that is another design */
    struct overrides overrides;
    struct study study; /**< of which the rows are; its kind is NULL where they were read */
    struct text out;
};

/** Columns, names of rows and fronts of the table. ERR_PARSE, ERR_NOMEM. */
int webpage_prepare(struct webpage *p, struct err *e);
/** All that it holds. */
void webpage_free(struct webpage *p);

bool webpage_cells_equal(const struct table *t, int64_t a, int64_t b, int32_t col);
bool webpage_is_blank(const struct webpage *p, int64_t row, int32_t col);
/** Does each value of column @p key give that of @p col? Then how many values it has, with the first row of
 * each; else, or of more than WEBPAGE_FIRSTS, 0. */
int32_t webpage_firsts(int64_t firsts[WEBPAGE_FIRSTS], const struct webpage *p, int32_t key, int32_t col);
const char *webpage_title(const struct shown_column *f, char buf[COLUMN_NAME]);
/** "point" or "row". */
const char *webpage_row_word(const struct webpage *p);
/** The answer of rivals: the knee of their front, else its first end. */
int64_t webpage_answer_row(const struct rivals *g);
/** Is it an answer, or an end of a front that is drawn? */
bool webpage_is_chosen(const struct webpage *p, int64_t row);

/** A cell as people read it; without its unit. */
void webpage_put_cell(struct text *out, const struct webpage *p, int64_t row, int32_t col);
/** "0.82 s"; nothing where there is no such column. */
void webpage_put_value(struct webpage *p, int64_t row, int32_t col);
/** "GPT-3", or "GPT-3, 8" of two columns. */
void webpage_put_group(struct text *out, const struct rivals *g, void put(struct text *, const char *));
void webpage_put_link(struct webpage *p, int64_t row);
void webpage_put_th(struct webpage *p, int32_t col, const char *attribute);
/** Words are to the left: where a table has few rows each cell says so, else (@p styled) the style. */
void webpage_put_td(struct webpage *p, int64_t row, int32_t col, bool styled);

/* Parts of the page, in its order. */

void webpage_put_verdict(struct webpage *p);
void webpage_put_answers(struct webpage *p);
/** A figure that cannot be drawn says why; errors are the machine's alone. */
int webpage_put_figures(struct webpage *p, struct err *e);
/** What the answers consist of, where the study is at hand. */
int webpage_put_designs(struct webpage *p, struct err *e);
void webpage_put_table(struct webpage *p);
/** Rows that are no results, by status and message. */
int webpage_put_reasons(struct webpage *p, struct err *e);
/** The rows as columns of JSON, for the script. */
int webpage_put_data(struct webpage *p, struct err *e);
/** Of a long table a rule for each column of words is shorter than a class in each cell. */
void webpage_put_word_style(struct webpage *p);

#endif
