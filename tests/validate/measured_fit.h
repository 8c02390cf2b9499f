/** @file Constants of grade F, those chosen on step times: chosen again with each family of rows left out. */
#ifndef TESTS_VALIDATE_MEASURED_FIT_H
#define TESTS_VALIDATE_MEASURED_FIT_H

#include "tests/validate/measured.h"

/** Print the constants, and for each family its errors by the files' constants and by constants chosen on all
 * other families, which left_s of its rows keeps. Rows were priced. Returns how many of them are timed
 * otherwise here than by the program. */
int measured_fit_print(struct measured_rows *rows);

/** Fill left_s of rows that were priced: their times by constants chosen without their families. */
void measured_fit_leave_out(struct measured_rows *rows);

/** What could have been chosen together: Megatron-Bridge, dgxc and MLPerf by model; others by the source and
 * machine that a table's name begins with, without `short`, `long`, precision or kind of model. */
void measured_family(char out[64], const struct measured *m);

#endif
