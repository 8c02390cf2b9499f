/**
 * @file Which units of a sweep are done, and what a unit is.
 *
 * struct spans is a set of whole numbers as few intervals: units end nearly in order, so there
 * are about as many intervals as threads, however many units are done. struct units
 * cuts the points of a sweep into units; it is a function of the study alone, so that a store, a shard and a
 * rank mean the same by a number.
 */
#ifndef STUDY_BLOCKS_H
#define STUDY_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "study/axes.h"

struct span {
    int64_t first, n; /**< first..first+n-1; n >= 1 */
};

/** Ascending, disjoint, never touching. Zero-initialise; release with spans_free(). */
struct spans {
    struct span *spans; /**< shape [n], owned */
    int64_t n, cap;
};

/** Put in first..first+n-1, some of which may be there. ERR_NOMEM. O(log n + what moves). */
int spans_add(struct spans *s, int64_t first, int64_t n, struct err *e);
/** Is @p i in the set? O(log n). */
bool spans_have(const struct spans *s, int64_t i);
/**
 * The first that is not in the set, >= @p from, and at most @p most of them in a row below @p end. n = 0:
 * there is none. O(log n): this is how a queue that resumes finds what is left.
 */
struct span spans_gap(const struct spans *s, int64_t from, int64_t end, int64_t most);
/** How many of 0..end-1 are in the set. O(n). */
int64_t spans_count(const struct spans *s, int64_t end);
void spans_free(struct spans *s);

/*
 * The order in which points of a sweep are run: units of points that share what is slow to read.
 */

/** What became of points. */
struct sweep_counts {
    int64_t seen;     /**< all that follow, together */
    int64_t filtered; /**< `where` of the study leaves them out */
    int64_t bounded;  /**< proved to be worse than a point that is known, without solving */
    int64_t solved;   /**< evaluated or solved: they have a row, whatever its status */
    int64_t failed;   /**< of those solved: the row says why there is no design */
};
/** Counts of batches add up in any order. */
void sweep_count_add(struct sweep_counts *to, const struct sweep_counts *n);

/** Units of the sample that is run first: one of so many. */
enum { UNITS_SAMPLE = 16 };

/**
 * A unit is what one thread does at a time without looking up: points of one grid that differ in quick keys
 * alone (a total, an objective, bandwidths: what changes a study that was read without reading it again).
 * Which points a unit has depends on the sweep only, never on who runs it. Release with units_free().
 */
struct units {
    const struct sweep *sweep; /**< borrowed */
    int64_t most;              /**< points in a unit */
    int64_t n_units;
    struct units_grid *grids; /**< shape [sweep->n_grids], owned */
};

/** Points of one unit: grid, values of the slow axes, and a run of combinations of the quick ones. */
struct sweep_unit {
    int32_t grid;
    struct sweep_point slow; /**< with 0 for quick axes */
    int64_t first, n;        /**< combinations first..first+n-1 */
};

/** Is @p path a key that changes a study without reading it again? */
typedef bool units_quick(const char *path);

/**
 * @param most  >= 1; 1 where a point takes long by itself.
 * @param quick  NULL: no key is. ERR_NOMEM. O(keys * axes of all grids); @p w is borrowed and outlives the
 *         order.
 */
int units_build(struct units *o, const struct sweep *w, int64_t most, units_quick *quick, struct err *e);
void units_free(struct units *o);

/** Unit @p u, 0 <= u < n_units: by grid, then by the slow axes as in sweep_find_point(). O(log(grids) +
 * axes).
 */
void units_find(struct sweep_unit *unit, const struct units *o, int64_t u);
/**
 * Point number @p i of a unit, 0 <= i < n: its number in the sweep, and its values. Ascending in i. O(axes).
 * Not consecutive in general: quick axes need not be the fastest ones.
 */
int64_t units_point(struct sweep_point *p, const struct units *o, const struct sweep_unit *unit, int64_t i);
/** The unit of point @p p alone: first..first in its slow axes' combination. O(axes). */
void units_of_point(struct sweep_unit *unit, const struct units *o, const struct sweep_point *p);
/** How many points the units below @p u have together, 0 <= u <= n_units. O(log(grids)). */
int64_t units_points_below(const struct units *o, int64_t u);

/** Is unit @p u in the sample that is run first, so that the rest can be held against its front? One in
 * UNITS_SAMPLE, unit 0 among them; the same on every machine. */
bool units_in_sample(int64_t u);

/** Do the points of a unit differ along axis @p k of grid @p grid? */
bool units_is_quick_axis(const struct units *o, int32_t grid, int32_t k);

#endif
