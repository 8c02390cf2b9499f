/**
 * @file Owning the whole machine of a design, for people and as data: struct system
 * (kinds/design/ask/system.h).
 */
#ifndef CLI_SYSTEM_H
#define CLI_SYSTEM_H

#include "cli/output.h"
#include "kinds/design/answer/design.h"

/**
 * Where the study has `system`: money of a year, power, failures, goodput; in JSON as object "system" of the
 * open object. Nothing in CSV. @p why: items, parts that fail and what each factor does, too. Lack of memory
 * is kept in @p r.
 */
void system_report(struct report *r, const struct design_point *s, const struct design *d, bool why);

#endif
