/** @file What a design consists of, for a page of weft report. */
#ifndef CLI_HTML_DESIGN_H
#define CLI_HTML_DESIGN_H

#include "base/text.h"
#include "study/kind.h"

/** Append the lists of the design at @p point of a study of designs as tables, and where asked for a @p
 * drawing of its network and a @p timeline of its step; nothing where it has no bandwidths. Errors of
 * design_load() and design_for_row(). */
int html_design(struct text *out, const struct study *study, int64_t point, bool drawing, bool timeline,
                struct err *e);

/** Append a section of what the uncertain inputs of a study of designs do to its answers (weft tornado), or
 * why there is none. Errors are the machine's alone. */
int html_sensitivity(struct text *out, const struct study *study, int32_t threads, struct err *e);

#endif
