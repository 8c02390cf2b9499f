/** @file Constants of grade F, those chosen on step times: chosen again with each family of rows left out. */
#ifndef TESTS_VALIDATE_MEASURED_FIT_H
#define TESTS_VALIDATE_MEASURED_FIT_H

#include "tests/validate/measured.h"

/** Print the constants, and for each family its errors by the files' constants and by constants chosen on all
 * other families. Rows were priced. Returns how many of them are timed otherwise here than by the program. */
int measured_fit_print(const struct measured_rows *rows);

#endif
