/** @file The timeline of a step as a file: a trace for Chrome and Perfetto, or a table for weft plot. */
#ifndef CLI_TIMELINE_H
#define CLI_TIMELINE_H

#include "cli/output.h"
#include "kinds/design/answer/design.h"

/** Is @p path one that can be written: .json or .csv? ERR_USAGE. Asked before long work. */
int timeline_check(const char *path, struct err *e);

/**
 * Time every workload of @p s once more at the bandwidths of @p d, and write what happens to @p path: .json
 * as trace events, .csv as a table with a row per bar. What is folded is said. Errors as timeline_build() and
 * output_file().
 */
int timeline_write(struct run *run, const struct design_point *s, const struct design *d, const char *path,
                   struct err *e);

#endif
