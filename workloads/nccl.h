/** @file What nccl-tests prints: github.com/NVIDIA/nccl-tests, all versions from 2018 to 2.19. */
#ifndef WORKLOADS_NCCL_H
#define WORKLOADS_NCCL_H

#include "workloads/curve.h"

/**
 * Append the curves of a log of nccl-tests.
 *
 * A row is: size, count, type, then by version redop and root, then for out-of-place and in-place time,
 * algbw, busbw and #wrong, with columns between and behind them by version and option (copybw, i_min i_max
 * i_p99 i_cv%) and a time of day at the end. The line of column names says which; without one the number of
 * fields does. Out-of-place times are taken, or those in place where a row has only them. Times are in us; in
 * ms below the header "bytes N type op" of 2018. Lines of other origin are skipped, and the prefix
 * "[1,0]<stdout>:" of mpirun.
 *
 * The collective comes from the line "Collective test starting", else @p dflt, else @p name; the number of
 * ranks from the lines "#  Rank", else @p dflt. A new header, test or data type begins a new curve. Tests of
 * what weft does not model (reduce, gather, scatter, hypercube) are left out with a note, as are rows cut
 * short, wrong results, sizes and times of zero.
 *
 * @param text  terminated.
 * @return 0, ERR_NOMEM, or ERR_PARSE or ERR_RANGE with `name:line: ...`: a field that is no number, sizes
 * that do not grow, collective or ranks not known or contradicting @p dflt, a busbw that is not algbw times
 * the factor of the collective as printed. O(bytes).
 */
int nccl_read(struct curve_list *list, const char *name, const char *text, struct curve_defaults dflt,
              struct err *e);

#endif
