/** @file The one place that starts gnuplot: a script in, the bytes of an image out. */
#ifndef PLOTS_GNUPLOT_H
#define PLOTS_GNUPLOT_H

#include "base/err.h"
#include "base/text.h"

/**
 * Append @p s as a string expression that shows exactly these characters, whatever
 * they are: in single quotes gnuplot expands neither backslashes, macros nor
 * backquotes, and a terminal opened with `noenhanced` (as all of ours are) gives
 * `_ ^ { } @ & ~` no meaning. Control characters become spaces and bytes that
 * are not UTF-8 become '?', so that the SVG stays well formed.
 *
 * An apostrophe is joined in from a string of its own ('it' . "'" . 's'), as
 * gnuplot 5.4 misreads a doubled one at the start of a string.
 *
 * Not for tic labels: gnuplot reads those as printf formats.
 */
void gnuplot_quote(struct text *out, const char *s);

/**
 * Run @p script (which sets the terminal and no output) and append what gnuplot
 * writes to @p image. The user's gnuplot settings and locale have no influence,
 * and dates inside PDF are fixed: same script, same bytes.
 *
 * @return 0; ERR_LIB when gnuplot is not installed, refuses the script (the
 *         message carries its own words) or draws nothing; ERR_IO, ERR_NOMEM.
 */
int gnuplot_run(const char *script, struct text *image, struct err *e);

#endif
