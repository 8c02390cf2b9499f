/** @file What `weft front` says to people: a plot and a table for each group, what limits cost. */
#ifndef CLI_FRONT_TEXT_H
#define CLI_FRONT_TEXT_H

#include "cli/front_job.h"

/** Append it all. 0 or ERR_NOMEM. */
int front_text(const struct front_job *j, struct text *out, struct err *e);

/** Append what the limits cost in group @p g: least values, and over the front the worst and the middle of
 * what is paid in each column at the same values of the others. 0 or ERR_NOMEM. */
int front_text_limits(const struct front_job *j, const char *group, struct text *out, struct err *e);

/** Append how far the design is from a front. @p within: ", within the limits" or "". */
void front_text_distance(const struct front_job *j, const struct front *f, const char *within,
                         struct text *out);

#endif
