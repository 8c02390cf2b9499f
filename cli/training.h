/** @file A training step of a model, for people and as data. */
#ifndef CLI_TRAINING_H
#define CLI_TRAINING_H

#include "base/json.h"
#include "base/table.h"
#include "cli/output.h"
#include "kinds/design/training_report.h"

/** For each workload that trains a model: plan and mapping, breakdown, memory, throughput, and the other
 * plans that a search found. Nothing without one. ERR_NOMEM. */
int training_text(const struct design_point *s, const struct design *d, struct text *out, struct err *e);

/** Members "plan", "step", "memory", "search" of the open object, which is workload @p i's. */
void training_json(const struct design_point *s, const struct design *d, int32_t i, struct json *j);

/** Say which plans do not fit into memory; the exit code becomes that of no design. */
void training_say_memory(struct run *run, const struct design_point *s);

#endif
