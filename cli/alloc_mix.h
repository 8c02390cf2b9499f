/** @file weft alloc of a cluster study: which network to buy for a mix of jobs (kinds/place/buy.h). */
#ifndef CLI_ALLOC_MIX_H
#define CLI_ALLOC_MIX_H

#include "cli/command.h"
#include "study/source.h"

/** Is it a study of jobs on a cluster? False also where it cannot be read: whoever reads it says why. */
bool cmd_alloc_is_mix(const struct study_source *from);

/** Find the network and write what was found. Errors of buy_find(), and of output. */
int cmd_alloc_mix(struct run *run, const struct study_source *from, struct err *e);

#endif
