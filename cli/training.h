/**
 * @file A training step of a model, for people and as data.
 *
 * Both forms are made of struct training_report (kinds/design/answer/training.h), so that a number in text is
 * that of JSON.
 */
#ifndef CLI_TRAINING_H
#define CLI_TRAINING_H

#include "cli/output.h"
#include "kinds/design/answer/training.h"

/** If workload @p i trains a model: plan and mapping, memory, throughput, and the other plans that a search
 * found; in JSON as members of the open object, which is the workload's. In text with the account of its step
 * by axis, which in JSON every workload has (cli/account.h). Nothing in CSV. */
void training_report_one(struct report *r, const struct design_point *s, const struct design *d, int32_t i);
/** In text, that of all workloads. */
void training_report_text(struct report *r, const struct design_point *s, const struct design *d);

/** Say which plans do not fit into memory; the exit code becomes that of no design. */
void training_say_memory(struct run *run, const struct design_point *s);

#endif
