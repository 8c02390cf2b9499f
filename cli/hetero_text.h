/** @file A study of layers on types of resources, for people. */
#ifndef CLI_HETERO_TEXT_H
#define CLI_HETERO_TEXT_H

#include "kinds/hetero/hetero.h"

/** Append the rows of hetero_study_run(), a section a point; of a study of one point the stages of the
 * cheapest plan, from @p stages (NULL: none); rl-lstm against the others where it ran. ERR_NOMEM. */
int hetero_text(const struct table *rows, const struct table *stages, const struct hetero_study *s,
                struct text *out, struct err *e);

#endif
