/** @file One axis of a sweep, and the study at one point: what sweep.h is made of. */
#ifndef STUDY_SWEEP_AXIS_H
#define STUDY_SWEEP_AXIS_H

#include "study/study_files.h"
#include "study/sweep.h"
#include "study/sweep_values.h"

/** Is @p key, as the path of axis @p id names it, one of table @p s? ERR_PARSE with the nearest one. */
int sweep_check_key(const struct section *s, const char *key, const struct yaml_doc *doc, yaml_id id,
                    struct err *e);

/** A misspelled key would make every point an error; better one now. @p root has the outermost keys of the
 * document; @p id is the node of a key that varies. ERR_PARSE with the place. */
int sweep_check_path(const struct section *root, const struct yaml_doc *doc, yaml_id id, struct err *e);

/**
 * Give @p axis, whose n_keys is set, @p n values from as many columns; one of a single value has it in every
 * row. The columns are used up. ERR_NOMEM, and then the axis has none.
 */
int sweep_axis_fill(struct sweep_axis *axis, struct sweep_column *columns, int64_t n, struct err *e);
void sweep_axis_free(struct sweep_axis *axis);

/** Read `vary` of an opened document into @p w, at most @p most points; overrides of @p from take the place
 * of values. On failure the caller frees @p w. Errors of sweep_read(). */
int sweep_read_axes(struct sweep *w, const struct section *root, const struct yaml_doc *doc,
                    const struct study_source *from, int64_t most, struct err *e);

/** Read `where` of a study whose axes are read. Errors of sweep_read(). */
int sweep_read_where(struct sweep *w, const struct yaml_doc *doc, struct err *e);
void sweep_where_free(struct sweep_where *where); /**< NULL is fine */

/** Look at points for what has no effect, into w->notes. ERR_RANGE where two keys are spellings of one;
 * ERR_NOMEM. */
int sweep_note(struct sweep *w, const struct study_source *from, struct err *e);

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
int sweep_load(struct design_point *s, const struct sweep *w, const struct sweep_point *p,
               struct study_source from, unsigned more, struct err *e);

#endif
