/** @file The rows of a sweep for people: what differs between points, and the results. */
#ifndef CLI_SWEEP_TEXT_H
#define CLI_SWEEP_TEXT_H

#include "base/table.h"

/** Append the rows of a sweep without what only scripts read; what is the same in every row stands above. */
int sweep_text(const struct table *t, struct text *out, struct err *e);

#endif
