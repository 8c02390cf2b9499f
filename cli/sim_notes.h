/** @file What a simulation did that the study left to it, and what the links carry. */
#ifndef CLI_SIM_NOTES_H
#define CLI_SIM_NOTES_H

#include "base/json.h"
#include "cli/output.h"
#include "kinds/design/design.h"

/** A paragraph per model other than bandwidth: chunks, order, routes; of model flow a table of the hottest
 * links. */
int sim_notes_text(const struct design_point *s, const struct design *d, struct text *out, struct err *e);

/** Members "simulation" and "links" of the open object. */
void sim_notes_json(const struct design_point *s, const struct design *d, struct json *j);

/**
 * Simulate every workload of @p s, whose model is flow, at the bandwidths of @p d once more and write a row
 * per direction of every link to @p path as CSV. Errors as sim_step_build() and text_write_file().
 */
int sim_links_write(const struct run *run, const struct design_point *s, const struct design *d,
                    const char *path, struct err *e);

#endif
