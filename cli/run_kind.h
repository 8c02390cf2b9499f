/** @file A command that runs studies of one kind with runs: rows, extra tables, and what is said of them. */
#ifndef CLI_RUN_KIND_H
#define CLI_RUN_KIND_H

#include "cli/extra.h"
#include "study/kind.h"

/** Run the study of operand 0, or with --list say what the kind has. @p extras, shape [n], are called as
 * tables of the kind. */
int run_kind(struct run *run, const struct study_kind *kind, struct extra *extras, int n, struct err *e);

#endif
