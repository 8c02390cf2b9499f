/** @file Measured curves from CSV. */
#ifndef WORKLOADS_CURVE_CSV_H
#define WORKLOADS_CURVE_CSV_H

#include "workloads/curve.h"

/**
 * Append the curves of CSV with a line of column names: `bytes` and `time_us` or `busbw_GBps` (where a row
 * has both, the time is taken); `collective` (curve_parse_collective() of it), `gpus` or `ranks`, `nodes`,
 * and `curve`, else `source`, if they are there. Other columns are ignored. Rows that agree in ranks, nodes
 * and the text of `curve` (or `source`) and `collective` are a curve. RFC 4180 quoting, but no line end
 * within a field; '#' comment lines and empty lines anywhere.
 *
 * Rows without bytes or with a value of zero (a bandwidth printed as 0.00) are left out with a note.
 *
 * @param text  terminated.
 * @return 0, ERR_NOMEM, or ERR_PARSE or ERR_RANGE with `name:line: ...`: no such columns, no number, a
 * negative one, sizes that do not grow, a collective or number of ranks that neither row nor @p dflt says, or
 * that contradict. O(rows * curves).
 */
int curve_csv_read(struct curve_list *list, const char *name, const char *text, struct curve_defaults dflt,
                   struct err *e);

#endif
