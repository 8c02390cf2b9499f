/** @file A command that runs studies: of one kind, or of that which their keys tell. */
#ifndef CLI_RUN_KIND_H
#define CLI_RUN_KIND_H

#include "cli/extra.h"
#include "study/kind.h"

/** --store, --resume, --shard, --dry-run, for commands of one kind. */
extern const struct option_group options_store;

/** Run the study of operand 0 on all ranks, or with --list say what the kind has. @p kind NULL: told by the
 * keys of the study. @p extras, shape [n], are called as tables of the kind. */
int run_kind(struct run *run, const struct study_kind *kind, struct extra *extras, int n, struct err *e);

#endif
