/** @file One axis of a sweep, and the study at one point: what sweep.h is made of. */
#ifndef EXPLORE_SWEEP_AXIS_H
#define EXPLORE_SWEEP_AXIS_H

#include "explore/study_files.h"
#include "explore/sweep.h"

/** Is @p key, as the path of axis @p id names it, one of table @p s? ERR_PARSE with the nearest one. */
int sweep_check_key(const struct section *s, const char *key, const struct yaml_doc *doc, yaml_id id,
                    struct err *e);

/**
 * Read the values of the key at node @p id, a child of `vary` in a document whose outermost keys are those of
 * @p root, into an axis of that key alone; which key it is is left to the caller. On failure what is in
 * @p axis is the caller's to free.
 */
int sweep_axis_read(struct sweep_axis *axis, const struct section *root, const struct yaml_doc *doc,
                    yaml_id id, struct err *e);

/** Read `vary` of an opened document into @p w; overrides of @p from take the place of axes. On failure the
 * caller frees @p w. Errors of sweep_read(). */
int sweep_read_axes(struct sweep *w, const struct section *root, const struct yaml_doc *doc,
                    const struct study_source *from, struct err *e);
void sweep_axis_free(struct sweep_axis *axis);

/** The same for a study whose points are run with several seeds: without `vary` there is one point; axes that
 * are `seed` or `seeds` are refused, as all points have the same. */
int sweep_read_seeded(struct sweep *w, const struct section *root, const struct yaml_doc *doc,
                      const struct study_source *from, struct err *e);
/** ERR_RANGE where points times @p seeds are more than SWEEP_MAX_POINTS. */
int sweep_check_seeds(const struct sweep *w, int64_t seeds, const struct yaml_doc *doc, struct err *e);

/** The value of each key at a point as an override, but of those that an override has replaced. Returns how
 * many; @p axes has room for SWEEP_MAX_KEYS. */
int32_t sweep_point_overrides(struct study_override *axes, const struct sweep *w,
                              const struct sweep_point *p);

/** @p from at point number @p point. @p axes, with room for SWEEP_MAX_KEYS, must live as long as what is
 * returned. */
struct study_source sweep_source_at(struct study_override *axes, const struct sweep *w, int64_t point,
                                    struct study_source from);

/** @p hash, and with it all values of all axes. */
unsigned long long sweep_hash(const struct sweep *w, unsigned long long hash);

/** Columns "point" and one for each key. */
void sweep_put_columns(struct table *t, const struct sweep *w);
/** Begin a row with them, for point number @p point. */
void sweep_put_point(struct table *t, const struct sweep *w, int64_t point);

/** The study at a point. @p from has path and overrides; @p more are needs besides those of a design. */
int sweep_load(struct study *s, const struct sweep *w, const struct sweep_point *p, struct study_source from,
               unsigned more, struct err *e);

#endif
