/** @file Private to this folder: units whose points are bandwidths on a grid, of which survivors alone become
 * rows. */
#ifndef KINDS_DESIGN_RUNNER_GRID_H
#define KINDS_DESIGN_RUNNER_GRID_H

#include "kinds/design/grid_study.h"
#include "study/kind.h"

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
