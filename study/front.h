/**
 * @file Pareto fronts over two to five columns, one point at a time.
 *
 * Used while a study runs (which rows to keep, which points to prune) and on rows that are read back (`weft
 * front`, figures). Values are compared exactly, as they are written to tables: there is no tolerance, since
 * with one the set would depend on the order of offers. One front belongs to one thread while it changes.
 */
#ifndef STUDY_FRONT_H
#define STUDY_FRONT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { FRONT_MAX_COLUMNS = 5 };

/** A column whose values lie farther apart is taken by its logarithm, as figures do (plots/scale.h). */
#define FRONT_LOG_RATIO 30.0

struct front_tree;

/**
 * Points that no other point of those offered dominates. a dominates b when it is <= b everywhere and < b
 * somewhere: less is better, so what is to be large is offered with its sign changed. Points that are equal
 * everywhere stay together; where they are more than `most_equal` those of the lowest ids stay, the others
 * are counted. The set does not depend on the order in which points are offered.
 * `= { .n_cols = 2 }`; release with front_free().
 */
struct front {
    int32_t n_cols;
    int64_t most_equal; /**< 0: all of them stay */
    int64_t n;
    int64_t left_out;        /**< equal to some of these, but not among them */
    struct front_tree *tree; /**< owned: the points */
    int64_t n_sorted;        /**< 0 but after front_sort() */
    double *x;   /**< shape [n_sorted][n_cols], owned: by x[0], then x[1], .., then id; of front_sort() */
    int64_t *id; /**< shape [n_sorted], owned: what the caller called them */
    int64_t *off, n_off,
        cap_off; /**< shape [n_off], owned: ids that were taken off; the caller may set n_off to 0 */
};

/**
 * Offer a point of finite values (others are never on a front). *on says whether it is on the front now. The
 * ids of those that it takes off are appended to f->off. ERR_NOMEM. About O(log n + those taken off) for two
 * columns; for more, as many boxes of the tree as overlap with what lies below and above the point, O(n) at
 * most.
 */
int front_offer(struct front *f, const double *x, int64_t id, bool *on, struct err *e);

/** Is @p x, or are all points that are >= it everywhere, dominated by a point of the front? Cost as
 * front_offer(). Threads may ask at once. */
bool front_dominates(const struct front *f, const double *x);

/** Fill f->x and f->id with the front as it is, in order; front_offer() empties them. ERR_NOMEM.
 * O(n log n). */
int front_sort(struct front *f, struct err *e);

/**
 * The knee of a sorted front, by its place in f->x: the point farthest below the straight line through the
 * front's two ends, each column scaled to 0..1 over the front (of its logarithm, where the values lie farther
 * apart than FRONT_LOG_RATIO): the point with the least sum of scaled columns. For more columns the plane
 * through the points that are worst in one column and best in all others takes the line's place, and the sum
 * must be less than that of any point that is best in some column. -1 where there is none: fewer than three
 * points, a straight front, or one that bulges the other way. O(n).
 */
int64_t front_knee(const struct front *f);

/**
 * By how much all of @p x must get better to reach the front: the least k >= 0 for which x/(1+k) is not
 * dominated, or past which it is not. 0 on the front or beyond. Where more is better (negative values) they
 * grow, x*(1+k). NaN where no factor leads there: a value is 0 or of another sign than the front's. Of a
 * sorted front. O(n).
 */
double front_distance(const struct front *f, const double *x);

/** The least value of column @p col among points of the front that are no worse than @p x in all others: what
 * one could have at the same values there; INFINITY when there is none. Of a sorted front. O(n). */
double front_least(const struct front *f, const double *x, int32_t col);

void front_free(struct front *f);

/**
 * A front for each group: rows of one workload, say, are not held against those of another. `= { .n_cols = 2
 * }`. O(log groups) to find one.
 */
struct front_set {
    struct front *fronts; /**< shape [n], owned */
    char **groups;        /**< shape [n], owned, ascending: what the rows of a group have in common */
    int32_t n, cap, n_cols;
    int64_t most_equal;
};
/** front_offer() to the front of a group, which begins where there is none. Takes *f to that front, borrowed
 * until a group begins; may be NULL. */
int front_set_offer(struct front_set *s, const char *group, const double *x, int64_t id, bool *on,
                    struct front **f, struct err *e);
/** @p s was offered the points of @p from, fronts of other points: count what those left out of values that
 * are on @p s. */
void front_set_add_left_out(struct front_set *s, const struct front_set *from);
/** The front of a group; NULL when there is none yet. O(log n). */
const struct front *front_of(const struct front_set *s, const char *group);
void front_set_free(struct front_set *s);

#endif
