/** @file The rows of a placement study for people. */
#ifndef CLI_PLACE_TEXT_H
#define CLI_PLACE_TEXT_H

#include "kinds/place/place.h"

/** Append the table of place_run(): a row a scheduler, what is the same in every row above. */
int place_text(const struct table *t, const struct place *p, struct text *out, struct err *e);

#endif
