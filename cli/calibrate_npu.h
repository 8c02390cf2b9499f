/** @file weft calibrate --npu: efficiencies of an NPU from measured operators. */
#ifndef CLI_CALIBRATE_NPU_H
#define CLI_CALIBRATE_NPU_H

#include "cli/output.h"

/** Fit the NPU of file run->opt.npu to the table run->opt.operands[0] and write its keys, in format @p
 * format: enum table_format, or what is beyond it for YAML. */
int calibrate_npu(const struct run *run, int format, struct err *e);

#endif
