/** @file What other commands write, for a page: tables and a text. */
#ifndef CLI_TABLES_H
#define CLI_TABLES_H

#include "base/table.h"
#include "kinds/design/answer/explain.h"
#include "kinds/design/explore/tornado.h"

/** What weft sim --timeline writes and plot timeline draws. Time every workload of @p s once more at the
 * bandwidths of @p d: a row for each bar, into @p out, which is zero. Errors as timeline_build(). */
int cmd_timeline_table(struct table *out, const struct design_point *s, const struct design *d,
                       struct err *e);

/** What weft tornado --of csv writes and plot tornado draws, into @p out, which is zero. ERR_NOMEM. */
int cmd_tornado_table(struct table *out, const struct tornado *t, struct err *e);

/** Append what weft explain says of each workload: where the time goes, and each collective. ERR_NOMEM. */
int cmd_explain_text(struct text *out, const struct explain *p, struct err *e);

#endif
