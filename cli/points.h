/**
 * @file The points of a study that has `vary`, and what identifies a whole sweep.
 *
 * Nothing here solves anything: --dry-run and the heads of outputs look at axes alone.
 */
#ifndef CLI_POINTS_H
#define CLI_POINTS_H

#include "base/table.h"
#include "cli/load.h"
#include "cli/output.h"
#include "study/axes.h"
#include "study/keep.h"
#include "study/say.h"
#include "study/study.h"

/** Does the study vary anything? What is no study does not; loading it tells why. ERR_NOMEM, ERR_IO. */
int cmd_points_vary(bool *vary, const struct run *run, struct err *e);

/** The value of key @p k at point @p i for people; "" where it does not vary. Borrowed from @p buf or @p w.
 */
const char *cmd_points_value(char buf[SHOW_VALUE], const struct sweep *w, int32_t k, int64_t i);

/** What the head of an output says of a study whose hash was found. */
struct origin cmd_points_origin(const struct study *s);
/** The same of @p s, found here; of one that varies nothing that of its only point, whose notes are said.
 * Errors as study_find_hash() and load_study(). */
int cmd_points_find_origin(struct origin *from, struct run *run, struct study *s, const struct overrides *o,
                           struct err *e);

/*
 * What `weft sweep --dry-run` says: axes, grids and the number of points.
 */

/** Write the axes of @p w in the format and to the file that the run asks for. ERR_NOMEM, ERR_IO. */
int cmd_write_axes(const struct run *run, const struct sweep *w, struct err *e);

/*
 * Options about the rows of a store, before these are verified, which takes minutes for 10^8 of them.
 */

/** The columns of the rows of the store at @p path, without rows, and its kind. False: it is no store, or one
 * that store_read() has something to say about. */
bool cmd_points_peek(struct table *columns, const struct study_kind **kind, const char *path);

/** Take columns with commas between them, the list that --@p option gives. ERR_USAGE, ERR_NOMEM. */
int cmd_points_take_list(struct keep_rule *k, const char *option, const char *list, keep_take *take,
                         const struct table *columns, struct err *e);

#endif
