/** @file One axis of a sweep, and the study at one point: what sweep.h is made of. */
#ifndef EXPLORE_SWEEP_AXIS_H
#define EXPLORE_SWEEP_AXIS_H

#include "explore/study_files.h"
#include "explore/sweep.h"

/** Read the axis at node @p id, a child of `vary`. On failure what is in @p axis is the caller's to free. */
int sweep_axis_read(struct sweep_axis *axis, const struct yaml_doc *doc, yaml_id id, struct err *e);
void sweep_axis_free(struct sweep_axis *axis);

/** One point of a sweep: which value of each axis; shape [n_axes]. */
struct sweep_point {
    int64_t at[SWEEP_MAX_AXES];
};

/** Point number @p i, 0 <= i < n_points. */
void sweep_find_point(struct sweep_point *p, const struct sweep *w, int64_t i);

/** The study at a point. @p from has path and overrides; @p more are needs besides those of a design. */
int sweep_load(struct study *s, const struct sweep *w, const struct sweep_point *p, struct study_source from,
               unsigned more, struct err *e);

#endif
