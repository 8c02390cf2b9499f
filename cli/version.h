/** @file What this program is made of: for reports of faults, and to see which data and helpers it found. */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H

#include "base/text.h"

/** Append version and licence; @p all: also compiler, libraries as they run, data folders, OpenMP, MPI and
 * gnuplot. */
void version_write(struct text *out, bool all);

#endif
