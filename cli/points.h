/** @file The points of a study that has `vary`, and what identifies a whole sweep. */
#ifndef CLI_POINTS_H
#define CLI_POINTS_H

#include "base/table.h"
#include "cli/load.h"
#include "cli/output.h"
#include "study/axes.h"
#include "study/study.h"

/** Does the study vary anything? A file that cannot be read does not; loading it tells why. */
bool points_vary(const struct run *run);

enum { POINTS_VALUE = 512 };
/** An axis' value for people: without the quotes around a plain text. Borrowed from @p buf or @p value. */
const char *points_unquote(char buf[POINTS_VALUE], const char *value);
/** That of key @p k at point @p i; "" where it does not vary. */
const char *points_value(char buf[POINTS_VALUE], const struct sweep *w, int32_t k, int64_t i);

/** Head of an axis' column: the path's last names, whole and at most 20 bytes, or the last one alone:
 * "pod.max_GBps" of "network.dims.pod.max_GBps". Borrowed from @p path. */
const char *points_axis_title(const char *path);

/** What the head of an output says of a study whose hash was found. */
struct origin points_origin(const struct study *s);

/*
 * What `weft sweep --dry-run` says: axes, grids and the number of points.
 */

/** Write the axes of @p w in the format and to the file that the run asks for. ERR_NOMEM, ERR_IO. */
int sweep_axes_write(const struct run *run, const struct sweep *w, struct err *e);

/*
 * The rows of a sweep for people: what differs between points, and the results.
 */

/** Append the rows of a sweep without what only scripts read; what is the same in every row stands above. */
int sweep_text(const struct table *t, struct text *out, struct err *e);

#endif
