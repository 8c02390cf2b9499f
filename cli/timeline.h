/** @file The timeline of a simulated step as a file: a trace for Chrome and Perfetto, or a table for weft
 * plot. */
#ifndef CLI_TIMELINE_H
#define CLI_TIMELINE_H

#include "cli/load.h"
#include "cli/output.h"

/** Is @p path one that can be written: .json or .csv, free or with -f? ERR_USAGE. Asked before long work. */
int timeline_check(const struct run *run, const char *path, struct err *e);

/**
 * Simulate every workload of @p s, whose model is chunk, at the bandwidths of @p d once more and write what
 * happens to
 * @p path: .json as trace events, .csv as a table with a row per bar. Errors as timeline_build() and
 * text_write_file().
 */
int timeline_write(const struct run *run, const struct design_point *s, const struct design *d,
                   const char *path, struct err *e);

#endif
