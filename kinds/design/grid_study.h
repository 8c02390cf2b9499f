/** @file The grid of bandwidths that a study and what it keeps come to. */
#ifndef KINDS_DESIGN_GRID_STUDY_H
#define KINDS_DESIGN_GRID_STUDY_H

#include "kinds/design/grid.h"
#include "study/keep.h"
#include "kinds/design/study.h"

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

#endif
