/** @file The grid of bandwidths that a study and what it keeps come to. */
#ifndef KINDS_DESIGN_GRID_STUDY_H
#define KINDS_DESIGN_GRID_STUDY_H

#include "kinds/design/grid.h"
#include "kinds/design/point.h"
#include "study/keep.h"
#include "study/kind.h"

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
 * @param s  of one combination of the slow axes, read with STUDY_FOR_SPLIT; borrowed.
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
    const struct order *order;    /**< borrowed */
    const struct study *study;    /**< borrowed */
    bool asked;                   /**< of the study that is held */
    struct grid_ask ask;
    struct grid *grid;               /**< NULL: its points are no grid */
    double *axis_Bps[TOPO_MAX_DIMS]; /**< of each axis, owned */
    struct front known;              /**< values that this thread has found for the study so far */
    struct grid_found found;         /**< of the last unit */
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
                     const struct order_unit *unit, struct err *e);

/** Are points of @p s, at the point that is the first of its grid, found in this way? ERR_NOMEM. */
int runner_grid_is(bool *is_grid, const struct block_job *job, const struct design_point *s,
                   const struct order_unit *unit, struct err *e);

#endif
