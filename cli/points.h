/** @file The points of a study that has `vary`, and what identifies a whole sweep. */
#ifndef CLI_POINTS_H
#define CLI_POINTS_H

#include "cli/load.h"
#include "cli/output.h"
#include "study/sweep.h"

/** Does the study vary anything? A file that cannot be read does not; loading it tells why. */
bool points_vary(const struct run *run);

/** The study at point @p i, 0 <= i < w->n_points. Errors as study_load(). */
int points_load(struct design_point *s, const struct run *run, const struct sweep *w,
                const struct load_overrides *o, int64_t i, struct err *e);

/** Does `where` of the study leave point @p i in, whose study is @p s? NULL: as far as is known without it.
 */
bool points_pass(const struct sweep *w, int64_t i, const struct design_point *s);

enum { POINTS_VALUE = 512 };
/** An axis' value for people: without the quotes around a plain text. Borrowed from @p buf or @p value. */
const char *points_unquote(char buf[POINTS_VALUE], const char *value);
/** That of key @p k at point @p i; "" where it does not vary. */
const char *points_value(char buf[POINTS_VALUE], const struct sweep *w, int32_t k, int64_t i);

/** Head of an axis' column: the path's last names, whole and at most 20 bytes, or the last one alone:
 * "pod.max_GBps" of "network.dims.pod.max_GBps". Borrowed from @p path. */
const char *points_axis_title(const char *path);

/** Hash of the study, all values of its axes and the content of the files they name; seed of the first point.
 */
struct origin points_origin(const struct run *run, const struct sweep *w, const struct load_overrides *o);

#endif
