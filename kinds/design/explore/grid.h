/** @file Bandwidths on a grid: billions of combinations, each evaluated, of which survivors alone come out.
 */
#ifndef KINDS_DESIGN_EXPLORE_GRID_H
#define KINDS_DESIGN_EXPLORE_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "alloc/problem.h"
#include "kinds/design/ask/point.h"
#include "study/front.h"
#include "study/keep.h"
#include "study/kind.h"
#include "workloads/step_fn.h"

/** What is known of a combination, in the units of a sweep's rows. Less is better. */
enum grid_column {
    GRID_TIME,    /**< T(B) [s] */
    GRID_COST,    /**< usd_fixed + sum_d usd_per_Bps[d]*B[d], or of what is bought for B[d] [USD] */
    GRID_TOTAL,   /**< sum_d B[d] of dimensions that count [GB/s] */
    GRID_NIC,     /**< the same of dimensions that have NICs [GB/s] */
    GRID_PRODUCT, /**< time times cost [USD s] */
    GRID_COLUMNS
};

/** Column of rows that is meant by its name ("time_s", "cost_usd", "total_GBps", "nic_GBps"), or the product
 * ("time_cost_usd_s"); GRID_COLUMNS = none. */
enum grid_column grid_column_of(const char *name);

/** Bandwidths that one dimension takes. */
struct grid_axis {
    int32_t dim;
    int64_t n;
    const double *bw_Bps; /**< shape [n], borrowed; each >= 0, in any order */
    const double *usd;    /**< shape [n], borrowed: of whole prices, what each costs; never less for more */
};

/**
 * What is evaluated, and what is kept: points on the Pareto front over `front`, and those among the best
 * n_top by `top`; of both only what is within the limits. Neither: all within the limits.
 */
struct grid_question {
    const struct step_fn *step;                   /**< borrowed */
    double usd_fixed, usd_per_Bps[TOPO_MAX_DIMS]; /**< >= 0; 0 without parts */
    bool whole; /**< prices are those of axes[].usd, and of dimensions without axis: */
    double usd[TOPO_MAX_DIMS];
    bool inside[TOPO_MAX_DIMS];                /**< dimensions that count in no total */
    double nic_share[TOPO_MAX_DIMS];           /**< of dimensions, as in struct topo_dim_price */
    double bw_Bps[TOPO_MAX_DIMS];              /**< of dimensions without axis, >= 0 */
    struct grid_axis axes[TOPO_MAX_DIMS];      /**< shape [n_axes]; of different dimensions */
    int32_t n_axes;                            /**< 0 = one point */
    enum grid_column front[FRONT_MAX_COLUMNS]; /**< shape [n_front] */
    int32_t n_front;                           /**< 0, or 2 and more */
    enum grid_column top;
    int64_t n_top;                /**< 0 = no best few */
    double most[GRID_COLUMNS];    /**< limits; INFINITY = none. grid_question_init() sets them */
    const struct alloc_row *rows; /**< shape [n_rows], borrowed: a point that breaks one is none */
    int32_t n_rows;
    bool bound;    /**< rows of the grid that are proved worse are not evaluated */
    int32_t lanes; /**< numbers to a vector: 4 (AVX2), 2; 0 = as the processor has */
};

/** No axes, nothing kept in particular, no limits. */
void grid_question_init(struct grid_question *q, const struct step_fn *step);

/** A combination that may survive. */
struct grid_point {
    int64_t at; /**< its number: mixed radix over axes, the last fastest */
    double value[GRID_COLUMNS];
};

/** Zero-initialise; release with grid_found_free(). */
struct grid_found {
    struct grid_point *points; /**< shape [n], owned; ascending by `at` */
    int64_t n, cap;
    int64_t bounded;   /**< combinations proved worse, by rows, without looking at each */
    int64_t evaluated; /**< all others */
};

/** Two times closer than this may be equal in rows of a sweep, which add up the step in another order:
 * neither point is then held to be worse for its time. Limits of time are looked at with the same care. */
#define GRID_TIE_REL 1e-9

/** What all runs share; nothing changes while they run. Opaque. */
struct grid;

/**
 * Prepare; @p q is copied, what it points to stays borrowed. The bits of values are those of step_time() and
 * of the sums of kinds/design/answer/design.c, on any machine and however many lanes.
 * @return 0; ERR_RANGE (an axis that is empty, has a bandwidth that is none, or takes a dimension again; 2^62
 *         combinations and more); ERR_NOMEM.
 */
int grid_prepare(struct grid **out, const struct grid_question *q, struct err *e);
void grid_free(struct grid *g); /**< NULL is fine */

int64_t grid_count(const struct grid *g); /**< combinations */
bool grid_has_avx2(void);                 /**< does the processor have what 4 lanes ask for? */

/**
 * Evaluate combinations first..first+n-1 and append what may survive to @p out: all points of the range that
 * are kept of the whole grid, ties too, and a few that are not. What is kept of the whole is thus among
 * what parts give, however it is cut. A point that other points of the grid prove worse need not come out,
 * whether they are in the range or not: every combination counts, so there must be no filter among them.
 *
 * @param known  values of points that are kept so far, columns as q->front; sorted (front_sort()). May be
 *               NULL.
 * @return 0, ERR_NOMEM. Thread-safe. O(n * leaves) for a step without overlap, 4 lanes at a time.
 */
int grid_run(const struct grid *g, int64_t first, int64_t n, const struct front *known,
             struct grid_found *out, struct err *e);
void grid_found_free(struct grid_found *f);

/*
 * The grid of bandwidths that a study and what it keeps come to.
 */

enum { GRID_MOST_WORKLOADS = 32 };

/** A question and what it borrows. Release with grid_ask_free(); q.step may point into it: do not copy. */
struct grid_ask {
    struct grid_question q; /**< without axes: the caller sets them */
    bool possible;          /**< false: the rows must be made to know */
    struct step_fn joined;  /**< several workloads as one */
    struct alloc_rows rows;
};

/**
 * The question whose points are the rows of @p s that @p k keeps. Its axes are those dimensions whose bw_GBps
 * varies; points that differ in anything else belong to another question.
 *
 * Not possible are: a split that is solved, a simulated model, choices of algorithms, a plan that is
 * searched, more than GRID_MOST_WORKLOADS workloads; rows that are all kept; columns other than time, cost,
 * total or NIC bandwidth, or that are to be large; limits other than an upper one of one of them; rows held
 * apart by what may vary with bandwidths.
 *
 * @param[out] a  uninitialised; empty after failure.
 * @param s  of one combination of the slow axes, read with DESIGN_FOR_SPLIT; borrowed.
 * @return 0, ERR_NOMEM.
 */
int grid_ask(struct grid_ask *a, const struct design_point *s, const struct keep_rule *k, struct err *e);
void grid_ask_free(struct grid_ask *a);

/*
 * Units whose points are bandwidths on a grid, of which survivors alone become
 * rows.
 */

/** Points in a unit of such a study: some milliseconds. */
enum { RUNNER_GRID_POINTS = 1 << 20 };

/** One a thread. Zero-initialise; release with runner_grid_free(). */
struct runner_grid {
    const struct keep_rule *rule; /**< borrowed; NULL: every point is a row */
    const struct units *order;    /**< borrowed */
    const struct study *study;    /**< borrowed */
    bool asked;                   /**< of the study that is held */
    struct grid_ask ask;
    struct grid *grid;                                         /**< NULL: its points are no grid */
    double *axis_Bps[TOPO_MAX_DIMS], *axis_usd[TOPO_MAX_DIMS]; /**< of each axis, owned */
    struct front known;      /**< values that this thread has found for the study so far */
    struct grid_found found; /**< of the last unit */
};

void runner_grid_free(struct runner_grid *g);

/** Another study was read. */
void runner_grid_forget(struct runner_grid *g);

/**
 * The points of a unit that may be kept: g->found, whose `at` counts from the first combination of the quick
 * axes. @p s is the study at one of them.
 * @param[out] is_grid  false: nothing was done, every point is to be run.
 * @return 0, ERR_NOMEM.
 */
int runner_grid_unit(bool *is_grid, struct runner_grid *g, const struct design_point *s,
                     const struct sweep_unit *unit, struct err *e);

/** Are points of @p s, at the point that is the first of its grid, found in this way? ERR_NOMEM. */
int runner_grid_is(bool *is_grid, const struct block_job *job, const struct design_point *s,
                   const struct sweep_unit *unit, struct err *e);

#endif
