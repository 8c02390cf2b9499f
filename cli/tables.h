/** @file The timeline of a step as a table, which weft sim writes and plot timeline draws. */
#ifndef CLI_TIMELINE_H
#define CLI_TIMELINE_H

#include "base/table.h"
#include "kinds/design/answer/design.h"

/** Time every workload of @p s once more at the bandwidths of @p d: a row for each bar, into @p out, which is
 * zero. Errors as timeline_build(). */
int cmd_timeline_table(struct table *out, const struct design_point *s, const struct design *d,
                       struct err *e);

#endif
