/**
 * @file The one place that starts gnuplot: a script in, the bytes of an image out.
 *
 * Needs gnuplot 5.2 or later on the PATH, with the terminals pdfcairo and pngcairo; nothing else of the
 * program needs it, and SVG does without. Each run is a process of its own, which takes about 50 ms
 * to start. No state is kept, but the environment is read: not while another thread changes it.
 */
#ifndef PLOTS_GNUPLOT_H
#define PLOTS_GNUPLOT_H

#include "base/err.h"
#include "base/text.h"

/**
 * Append @p s as a string expression that shows exactly these characters, whatever
 * they are: in single quotes gnuplot expands neither backslashes, macros nor
 * backquotes, and a terminal opened with `noenhanced` (as all of ours are) gives
 * `_ ^ { } @ & ~` no meaning. Control characters become spaces and bytes that
 * are not UTF-8 become '?', so that an SVG of the script would be well formed.
 *
 * An apostrophe is joined in from a string of its own ('it' . "'" . 's'), as
 * gnuplot 5.4 misreads a doubled one at the start of a string.
 *
 * Not for tic labels: gnuplot reads those as printf formats.
 */
void gnuplot_quote(struct text *out, const char *s);

/** Absolute path of the gnuplot that gnuplot_run() starts. ERR_LIB (none on the PATH), ERR_NOMEM. */
int gnuplot_find(struct text *path, struct err *e);

/**
 * Run @p script (which sets the terminal and no output) and append what gnuplot writes to @p image. The
 * user's gnuplot settings and locale have no influence, and dates inside PDF are fixed: same script, same
 * bytes.
 *
 * @return 0; ERR_LIB when gnuplot is not installed, refuses the script (the message carries its own words) or
 *         draws nothing; ERR_IO (also an image that is not whole, see image_fault()), ERR_NOMEM.
 *
 * On an error nothing is appended. The image is held twice for a moment. Time is gnuplot's, linear in the
 * script.
 */
int gnuplot_run(const char *script, struct text *image, struct err *e);

/**
 * NULL where the PDF or PNG is whole; else what is wrong with it. A whole one has every byte of its frame:
 * every object of a PDF where its table says, every chunk of a PNG by its checksum. O(n).
 */
const char *image_fault(const struct text *image);

#endif
