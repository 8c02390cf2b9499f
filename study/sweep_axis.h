/** @file One axis of a sweep, and the study at one point: what sweep.h is made of. */
#ifndef STUDY_SWEEP_AXIS_H
#define STUDY_SWEEP_AXIS_H

#include "base/table.h"
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

void sweep_where_free(struct sweep_where *where); /**< NULL is fine */

/** Append the notes of a point, a line each, to @p notes; *read = false: it cannot be read. Only lack of
 * memory and sweep_check_distinct() are failures. */
typedef int sweep_look(void *data, const struct sweep_point *p, struct text *notes, bool *read,
                       struct err *e);
/** Append to @p out the notes common to the points looked at, some 200 at most: the first of each grid and
 * its neighbours along each axis, at most 16 to an axis. */
int sweep_note(struct text *out, const struct sweep *w, sweep_look *look, void *data, struct err *e);
/** ERR_RANGE where two keys that vary at a point are spellings of one in its document. */
int sweep_check_distinct(const struct sweep *w, const struct sweep_point *p, const struct yaml_doc *doc,
                         struct err *e);

/** `vary` of a study whose points are run with several seeds: without `vary` there is one point; axes that
 * are `seed` or `seeds` are refused, as all points have the same. */
int sweep_read_seeded(struct sweep *w, const struct section *root, const struct yaml_doc *doc,
                      const struct study_source *from, struct err *e);
/** ERR_RANGE where points times @p seeds are more than SWEEP_MAX_POINTS. */
int sweep_check_seeds(const struct sweep *w, int64_t seeds, const struct yaml_doc *doc, struct err *e);

/** @p from at point number @p point. @p axes, with room for SWEEP_MAX_KEYS, must live as long as what is
 * returned. */
struct study_source sweep_source_at(struct study_override *axes, const struct sweep *w, int64_t point,
                                    struct study_source from);

/** Columns "point" and one for each key. */
void sweep_put_columns(struct table *t, const struct sweep *w);
/** Begin a row with them, for point number @p point. */
void sweep_put_point(struct table *t, const struct sweep *w, int64_t point);

#endif
