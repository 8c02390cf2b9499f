/** @file Job traces of clusters as one table: weft import --trace. */
#ifndef CLI_IMPORT_TRACE_H
#define CLI_IMPORT_TRACE_H

#include "cli/command.h"

extern const struct option_group import_trace_options;

/** Read the trace, cut a window from it, draw what a profile has, write the table. */
int import_trace(struct run *run, struct err *e);
/** ERR_USAGE when an option of traces is given without --trace. */
int import_trace_check_absent(const struct options *opt, struct err *e);

#endif
