/**
 * @file What rows of a sweep are kept: all, or a front, the best few, those within a budget.
 *
 * A rule is read from `keep` of the study, or taken from options of `weft front`; struct keep applies it to
 * rows as they come. The rows that are left when all were offered are the same in whatever order and batches
 * they came: that is what lets shards, ranks and resumed runs agree. Memory is that of the survivors and of a
 * few batches.
 */
#ifndef STUDY_KEEP_H
#define STUDY_KEEP_H

#include "base/schema.h"
#include "base/table.h"
#include "study/front.h"

/** What tells rows apart is the first of these columns that is there: KEEP_ROW, "id", "point". Where a point
 * has several rows, who offers them gives each a number, as store_row_id(). */
#define KEEP_ROW "(row)"
/**
 * -1: none of them. The first two count only as columns of counts: another table may have an id of its own.
 */
int32_t keep_id_column(const struct table *columns);

enum { KEEP_MAX_LIMITS = 16, KEEP_MAX_PER = 4 };

struct study_kind;

/** A column that is to be small, or large. Written "speedup", where the table knows what is better in it,
 * else "min:NAME" or "max:NAME". */
struct keep_column {
    char name[64];
    const char *unit; /**< as table.units has it */
    bool large;
};

/**
 * The study's `keep`. All zero: all rows are kept. Of rows that are results (kind->is_result) and within all
 * limits of `where`, those on the front and the best few are kept, or all where neither is asked for. Values
 * are those of the row, as they are written: a design of equal values stays with another, and of the best few
 * the lower point goes first. Plain data: copied by nobody, freed by keep_rule_free().
 */
struct keep_rule {
    const struct study_kind *kind;               /**< NULL: every row is a result */
    struct keep_column front[FRONT_MAX_COLUMNS]; /**< shape [n_front]; 0 = no front */
    int32_t n_front;
    int64_t most_equal;     /**< of designs of equal values on the front those of the lowest points; 0: all */
    struct keep_column top; /**< name "" = no best few */
    int64_t n_top;
    char per[KEEP_MAX_PER][64]; /**< shape [n_per]: columns; rows with other values there are held apart */
    int32_t n_per;
    char *where[KEEP_MAX_LIMITS]; /**< shape [n_where], owned: "cost_usd <= 2e6" over columns of results */
    int32_t n_where;
    bool prune;        /**< points proved worse than the front are not solved */
    struct text notes; /**< warnings, a line each: different work that is not held apart */
};

extern const struct section keep_section, keep_top_section;

/**
 * Read `keep` at node @p id (-1 = none) against the columns that rows have.
 *
 * Without `per` rows are held apart by `workload` and by keys below it that vary, but for its plan
 * (workload.parallel, workload.search): times of different work do not compare.
 * @return 0; ERR_PARSE, ERR_RANGE with the place: an unknown column (with the nearest), one of text, a limit
 *         that is none, too many, `prune` without `front` or with `top`, nothing to keep; ERR_NOMEM.
 */
int keep_read(struct keep_rule *k, const struct study_kind *kind, const struct yaml_doc *doc, yaml_id id,
              const struct table *columns, struct err *e);
/** Zero is fine. */
void keep_rule_free(struct keep_rule *k);
/** Are all rows kept? */
bool keep_all(const struct keep_rule *k);

/* The same from the command line; messages read "is X, need Y". A column of text can be an axis', whose
 * values are numbers: those that no table of rows of the kind has. k->kind is set. */

/** What "min:" or "max:" before a column's name says is better, 0: neither is there; and the name. */
int keep_direction(const char *text, const char **name);
/** "time_s" or "max:speedup". ERR_RANGE, also where it is not known what is better. ERR_PARSE: a cell is no
 * number, see table_need_numbers(). */
int keep_take_column(struct keep_column *c, const struct keep_rule *k, const char *text,
                     const struct table *columns, struct err *e);
/** One more column of the front. ERR_RANGE, also where there are too many; ERR_PARSE as above. */
int keep_take_front(struct keep_rule *k, const char *text, const struct table *columns, struct err *e);
/** One more column to hold rows apart by. ERR_RANGE. */
int keep_take_per(struct keep_rule *k, const char *text, const struct table *columns, struct err *e);
/** One more limit. ERR_RANGE, ERR_NOMEM; ERR_PARSE: a cell is no number. */
int keep_take_limit(struct keep_rule *k, const char *text, const struct table *columns, struct err *e);
typedef int keep_take(struct keep_rule *k, const char *text, const struct table *columns, struct err *e);
/** Each of @p list, with commas between them. ERR_NOMEM, and errors of @p take. */
int keep_take_list(struct keep_rule *k, const char *list, keep_take *take, const struct table *columns,
                   struct err *e);
/** Does a column or key of studies of @p kind tell different work apart? kind NULL: none does. */
bool keep_tells_work(const struct study_kind *kind, const char *name);
/** Does a key of studies of @p kind change how much work a row's time is for? kind NULL: none does. */
bool keep_tells_batch(const struct study_kind *kind, const char *name);
/** The columns that rows are held apart by where nothing is said. */
void keep_default_per(struct keep_rule *k, const struct table *columns);

/** What became of the rows that were offered. */
struct keep_counts {
    int64_t seen;      /**< all that follow, and those that were held against others */
    int64_t no_design; /**< not solved, or too large for the memory */
    int64_t beyond;    /**< outside a limit, or without a value that one is about */
    int64_t blank;     /**< without a value in a column of the front, or of the best few */
    struct keep_missed {
        int64_t n;    /**< of `beyond`, whose first limit this is */
        double least; /**< by which a left-hand side among them misses; INFINITY: it has no value */
    } missed[KEEP_MAX_LIMITS];
};

/** The survivors so far. Opaque. */
struct keep;

/** @param rule  borrowed. ERR_PARSE: @p columns lack one of the rule; ERR_NOMEM. *out is NULL then. */
int keep_build(struct keep **out, const struct keep_rule *rule, const struct table *columns, struct err *e);
void keep_free(struct keep *k); /**< NULL is fine */

/**
 * Offer the rows of a batch; those that are not solved are kept by no rule but "all". A point that is a
 * survivor already changes nothing: a sweep that is resumed offers first what its store has. Columns are
 * found by name where the rows have others than those of keep_build(); what they lack is blank. ERR_NOMEM.
 * O(columns) for a row that fails a limit; else front_offer() and O(log n_top).
 */
int keep_offer(struct keep *k, const struct table *rows, struct err *e);
/**
 * Survivors since the last call that are new, as rows (point, and all else, as they were offered), and the
 * points that are survivors no more, shape [*n_gone], borrowed until the next call.
 * @param[out] fresh  uninitialised; the caller frees. ERR_NOMEM. O(rows that came since the last call).
 */
int keep_changes(struct keep *k, struct table *fresh, const int64_t **gone, int64_t *n_gone, struct err *e);
/** The fronts so far, for pruning; borrowed. Columns where more is better have their sign changed. */
const struct front_set *keep_fronts(const struct keep *k);
/** front_add_left_out() from the fronts of rows that were offered to another. */
void keep_add_left_out(struct keep *k, const struct keep *from);
/** front_sort() of all fronts. ERR_NOMEM. */
int keep_sort_fronts(struct keep *k, struct err *e);
/** Since keep_build(); rows offered twice count twice. */
struct keep_counts keep_counts_of(const struct keep *k);

/** In place of what @p out held the group of a row: values of the columns of `per` as CSV has them, one a
 * line. ERR_NOMEM. */
int keep_group(struct text *out, const struct keep *k, const struct table *rows, int64_t row, struct err *e);
/** The row's values in the columns of the front, sign changed where more is better; NaN = blank. */
void keep_values(double *x, const struct keep *k, const struct table *rows, int64_t row);
/** Is the row a result of its kind? */
bool keep_is_design(const struct keep *k, const struct table *rows, int64_t row);
/** Is it within all limits of `where`? */
bool keep_is_within(const struct keep *k, const struct table *rows, int64_t row);
/** A number of a column, one written in a column of text too; NaN = none. */
double keep_number(const struct table *rows, int64_t row, int32_t col);

#endif
