/** @file What a design consists of, for a page of weft report. */
#ifndef CLI_HTML_DESIGN_H
#define CLI_HTML_DESIGN_H

#include "base/text.h"
#include "study/kind.h"

/** Append the lists of the design at @p point of a study of designs as tables, and with @p timeline a figure
 * of its step; nothing where it has no bandwidths. Errors of design_load() and design_for_row(). */
int html_design(struct text *out, const struct study *study, int64_t point, bool timeline, struct err *e);

#endif
