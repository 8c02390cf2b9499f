/** @file The sustained rate of an NPU from a user's own measured steps: one figure, and how far to trust it.
 */
#ifndef CLI_CALIBRATE_STEPS_H
#define CLI_CALIBRATE_STEPS_H

#include "base/table.h"
#include "cli/command.h"

/** Is @p t a table of steps, with columns `study` and `step_s`, and not one of operators? */
bool calibrate_is_steps(const struct table *t);

/**
 * Choose matrix_efficiency of run->opt.npu such that the steps of the studies that @p t names, timed with
 * that NPU, are nearest the measured ones in their logarithms, and append its file with that figure to @p
 * out; comments say what each step comes to and within which band nine of ten others are expected. File names
 * count from the working directory. @p path is that of the table.
 * @return 0; ERR_PARSE, ERR_RANGE with the row: no study, no time, a plan that is searched; ERR_UNSUP: an NPU
 * with matrix_sizes; ERR_NOMEM. Time: 40 evaluations of each study.
 */
int calibrate_steps(struct text *out, struct run *run, const struct table *t, const char *path,
                    struct err *e);

#endif
