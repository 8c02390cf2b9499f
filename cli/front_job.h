/**
 * @file What `weft front` works on: rows of a CSV or a store a batch at a time, the fronts among them (all
 * rows, and those within limits), a design that is held against them, and all that as rows.
 *
 * A row is told by its point, where points have several rows by a number too (KEEP_ROW), which people see as
 * POINT:LABEL.
 */
#ifndef CLI_FRONT_JOB_H
#define CLI_FRONT_JOB_H

#include "base/table.h"
#include "cli/filters.h"
#include "cli/output.h"
#include "study/keep.h"
#include "study/store.h"
#include "study/study.h"

/** Zero-initialise; release with front_source_close(). */
struct front_source {
    struct table rows; /**< the batch under way; columns are those of every batch */
    const struct study_kind *kind;
    struct store *store; /**< owned; NULL = a CSV, whose rows are one batch */
    struct store_walk walk;
    struct table read;  /**< a point has several rows: as read, without KEEP_ROW */
    bool begun_point;   /**< there was a last row */
    int64_t point, n;   /**< of the last row: its point, and its number within it */
    bool begun;         /**< the first batch was handed out */
    struct origin from; /**< of a store */
    bool complete;      /**< no point of the store is missing */
    bool survivors;     /**< the store has what `keep` of its study left */
};

/** Open @p path ("-": a CSV from standard input) and read the first batch. Errors as table_read_csv() and
 * store_read(). */
int front_source_open(struct front_source *s, const char *path, struct err *e);
/** The next rows, which the caller may change; NULL after the last. Errors as store_next(). */
int front_source_next(struct front_source *s, struct table **rows, struct err *e);
void front_source_close(struct front_source *s);

/*
 * What `weft front` finds in a table: fronts, with and without limits, and a design held against them.
 */

/** The fronts of all rows, or of those within the limits. */
struct front_side {
    struct keep_rule rule;
    struct keep *keep;                    /**< owned */
    struct table rows;                    /**< owned: those on the fronts, in the order of the table */
    int64_t *by_point;                    /**< shape [rows.n_rows], owned: rows by rising point */
    int32_t point_col, id_col, label_col; /**< -1: there is none */
};

/** --design or --at. */
struct front_design {
    bool asked, found;
    int64_t point;               /**< -1 = --at */
    const char *label;           /**< which of the point's rows; NULL: its first */
    double x[FRONT_MAX_COLUMNS]; /**< shape [n_front of the rule], sign changed where more is better */
    struct text group;           /**< owned; of --at no group: it is held against all */
    struct table row;            /**< owned: of --at the values alone */
};

/** Some of the designs that were seen, spread by a hash of their points: every so many along an axis of the
 * sweep would meet the same values of another. */
struct front_sample {
    struct table rows;   /**< owned */
    int64_t most, every; /**< rows at most, 0 = none are wanted; one in `every` points */
};

enum { FRONT_ALL, FRONT_WITHIN, FRONT_SIDES };

/** Zero-initialise; release with front_job_free(). */
struct front_job {
    struct front_source source;
    struct filters filters;
    struct front_side sides[FRONT_SIDES]; /**< shape [n_sides]: the second where there are limits */
    int32_t n_sides;
    struct front_design design;
    struct front_sample sample;
    int64_t n_passed; /**< rows that pass --where */
    struct text work; /**< owned: the workload of the first of them */
};

/** Read the table of @p run and find the fronts. ERR_USAGE, ERR_PARSE; ERR_NO_DESIGN: no row is on a front,
 * or none within the limits. */
int front_job_run(struct front_job *j, struct run *run, struct err *e);
void front_job_free(struct front_job *j);

/** Row of side @p s with that id. O(log n). */
int64_t front_row(const struct front_side *s, int64_t id);
enum { FRONT_NAME = 160 };
/** What a row is called: "12", or where points have several rows "12:LABEL". Returns @p buf. */
const char *front_name(char buf[FRONT_NAME], const struct front_side *s, int64_t id);
/** The fronts as rows: all columns of the table, then front (all, within, design), knee (yes, no) and
 * distance from the front of all. 0 or ERR_NOMEM. @p t: zero-initialised. */
int front_table(struct table *t, const struct front_job *j, struct err *e);

#endif
