/** @file What a simulation did that the study left to it, and what the links carry. */
#ifndef CLI_SIM_NOTES_H
#define CLI_SIM_NOTES_H

#include "base/json.h"
#include "explore/design.h"

/** A paragraph per model other than bandwidth: chunks, order, routes; of model flow a table of the hottest
 * links. */
int sim_notes_text(const struct study *s, const struct design *d, struct text *out, struct err *e);

/** Members "simulation" and "links" of the open object. */
void sim_notes_json(const struct study *s, const struct design *d, struct json *j);

#endif
