/** @file Private to kinds/design/grid: what was prepared of a question. */
#ifndef KINDS_DESIGN_GRID_INNER_H
#define KINDS_DESIGN_GRID_INNER_H

#include "kinds/design/grid.h"
#include "kinds/design/grid_row.h"

/** The linear columns, GRID_COST to GRID_NIC, count from 0 here. */
enum { LINEAR_COST, LINEAR_TOTAL, LINEAR_NIC };

/** A price [USD] or a bandwidth [B/s] as start + sum_d coef[d]*B[d]; per_unit of it are one of the column. */
struct grid_linear {
    double start, coef[TOPO_MAX_DIMS], per_unit;
};

/**
 * Axes before n_outer are walked one by one; all combinations of the others are a row. The bar (grid_bar) is
 * looked up by linear columns that the front, the best few or limits speak of.
 */
struct grid {
    struct grid_question q;
    int64_t size[TOPO_MAX_DIMS + 1]; /**< combinations of axes i and after */
    int32_t n_outer;
    int32_t axis_of[TOPO_MAX_DIMS]; /**< of a dimension; -1 = none */
    int64_t stride;                 /**< of a row, padded to whole blocks */
    double *inv[TOPO_MAX_DIMS];     /**< shape [axis][n], owned: reciprocals */
    double *sorted[TOPO_MAX_DIMS];  /**< shape [axis][n], owned: bandwidths, ascending */
    struct grid_linear linear[GRID_LINEAR];
    double
        *inner[TOPO_MAX_DIMS][GRID_LINEAR]; /**< shape [stride], owned: coef*B over the row; axes in rows */
    double *inner_Bps[TOPO_MAX_DIMS];       /**< shape [stride], owned: bandwidths over the row */
    int64_t n_leaves;                       /**< 0 for a step with maxima: it goes by step_time_batch() */
    double *leaf_s; /**< shape [n_leaves][stride], owned; NULL where row_inv is there */
    double
        *row_inv; /**< shape [stride], owned: reciprocals of a row of one axis with many leaves, else NULL */
    double *slopes;  /**< shape [n_leaves], owned: their traffic on its dimension */
    double *ahead_s; /**< shape [n_outer+1][n_leaves], owned: least that axes i and after leave of a leaf */
    int32_t lookup[GRID_LINEAR], n_lookup; /**< linear columns of the bar */
    struct grid_scale scales[GRID_LINEAR]; /**< shape [n_lookup]; n = 1 beyond */
    int64_t n_bar;
    double *limit_s;    /**< shape [n_bar], owned: most time within the limits */
    double *seed_s;     /**< shape [n_bar], owned: most time that the seeds leave */
    struct front seeds; /**< points of the grid that are good, found before */
    bool sums;          /**< the step has no maxima */
    bool rows_fall;     /**< what satisfies the rows does so with less bandwidth, too */
};

/** A point while it is looked at: where it is on each axis, bandwidths, values. */
struct grid_place {
    int64_t i[TOPO_MAX_DIMS];
    double bw_Bps[TOPO_MAX_DIMS], value[GRID_COLUMNS];
};

/** Linear column of @p bw_Bps, its additions in the order of dimensions. */
double grid_linear_at(const struct grid_linear *c, const double *bw_Bps, int32_t n_dims);
/** Values of @p p from its bandwidths and its time. */
void grid_place_value(const struct grid *g, struct grid_place *p, double time_s);
/** Bandwidth that each dimension needs at least, shape [n_dims], for the step to take as long in whatever
 * order it is added up; more than it has where it decides a leaf. */
void grid_needed(const struct grid *g, const struct grid_place *p, double *least_Bps);

/** Least and most of an axis, of combinations that are not walked yet. */
static inline double grid_axis_least(const struct grid *g, int32_t axis)
{
    return g->sorted[axis][0];
}
static inline double grid_axis_most(const struct grid *g, int32_t axis)
{
    return g->sorted[axis][g->q.axes[axis].n - 1];
}

/* ---- the bar: kinds/design/grid_bar.c ---- */

/** Which columns are looked up, their buckets, and limits. ERR_NOMEM. */
int grid_bar_build(struct grid *g, struct err *e);
/** Lower @p most_s, shape [n_bar], to what a point with these values of q.front leaves to others. */
void grid_bar_lower(const struct grid *g, double *most_s, const double *front_value);
/** Most time of those that may be among the best few when the last of them has @p value. */
void grid_bar_top(const struct grid *g, double *most_s, double value);
/** Place in the bar of what has these linear columns (indexed as struct grid's lookup), or more. */
int64_t grid_bar_at(const struct grid *g, const double *x);

/** Some good points, so that the first rows are held against something: g->seeds. ERR_NOMEM. */
int grid_seed(struct grid *g, struct err *e);

/* ---- kinds/design/grid_sieve.c ---- */

/** Within the limits, and the rows? */
enum grid_fit { GRID_OUT, GRID_MAYBE, GRID_IN };
enum grid_fit grid_fits(const struct grid *g, const struct grid_place *p);
/** The columns of q.front, in its order. */
void grid_front_value(const struct grid *g, const double value[GRID_COLUMNS], double x[FRONT_MAX_COLUMNS]);

/** One of the best few: bits of its value, which are in the order of the numbers, and which it is. */
struct grid_best {
    int64_t bits, at;
};

/** Survivors so far of one run. */
struct grid_sieve {
    const struct grid *g;      /**< borrowed */
    const struct front *known; /**< borrowed, may be NULL */
    struct front front;        /**< of survivors that are within the limits for certain */
    double *front_s, *top_s; /**< shape [n_bar], owned: what front and best few let pass; NULL = not asked */
    double *most_s;          /**< shape [n_bar], owned: both; NULL where there is the front's alone */
    const double *bar_s;     /**< shape [n_bar], borrowed: what points are held against */
    struct grid_best *best;  /**< shape [n_best], owned: the best few, the worst of them first (a heap) */
    int64_t n_best;
    int64_t cap_best, n_news; /**< how often the worst of them changed since top_s was made */
    struct grid_found *out;   /**< borrowed */
    int64_t first, n_next;    /**< points of this run begin there; how many there are when they are swept */
};

int grid_sieve_open(struct grid_sieve *s, const struct grid *g, const struct front *known,
                    struct grid_found *out, struct err *e);
void grid_sieve_free(struct grid_sieve *s);
/** Offer combination @p at; values are set. ERR_NOMEM. */
int grid_sieve_offer(struct grid_sieve *s, int64_t at, const struct grid_place *p, struct err *e);
/** Take out what came before that which proves it worse, and put the rest in order. */
void grid_sieve_close(struct grid_sieve *s);

#endif
