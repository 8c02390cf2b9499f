/** @file Private to explore/: the points of a front in boxes within boxes (an R-tree; Guttman, SIGMOD 1984).
 */
#ifndef STUDY_FRONT_TREE_H
#define STUDY_FRONT_TREE_H

#include <stdint.h>

#include "study/front.h"

/** Where a point lies against the points of a tree, of which none dominates another. */
enum front_place {
    FRONT_BESIDE, /**< none dominates it */
    FRONT_EQUAL,  /**< one is equal, so none dominates it and it dominates none */
    FRONT_BEHIND, /**< one dominates it */
};

/** @p n_cols 1..FRONT_MAX_COLUMNS. NULL on lack of memory. */
struct front_tree *front_tree_build(int32_t n_cols);
void front_tree_free(struct front_tree *t); /**< NULL is fine */

enum front_place front_tree_find(const struct front_tree *t, const double *x);

/** Take out what @p x dominates, none of which is equal to it, and append the ids to f->off; counts f->n.
 * ERR_NOMEM. */
int front_tree_take_off(struct front_tree *t, const double *x, struct front *f, struct err *e);

/** ERR_NOMEM; the tree is then as it was. */
int front_tree_insert(struct front_tree *t, const double *x, int64_t id, struct err *e);

/** All points in no order: @p x shape [n][n_cols], @p id shape [n]. */
void front_tree_list(const struct front_tree *t, double *x, int64_t *id);

#endif
