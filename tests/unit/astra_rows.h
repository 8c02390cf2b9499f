/** @file Rows of tests/reference/astra_allreduce.csv as settings of sim/astra/astra.h. */
#ifndef TESTS_UNIT_ASTRA_ROWS_H
#define TESTS_UNIT_ASTRA_ROWS_H

#include "sim/astra/astra.h"

/* What cannot be read or run fails the test. */

/** Links of @p shape at 50 GiB/s and 500 ns, endpoint delay 10 ns, memory that hardly counts, one chunk. */
struct sim_astra_setup astra_one_dim(enum topo_shape shape, int32_t size, enum topo_algorithm a);

/** Settings behind a row's first three columns. */
void astra_read_row(struct sim_astra_setup *setup, const char *backend, const char *network,
                    const char *system);

/** Time of one collective over all dimensions [ns]. */
int64_t astra_run_kind(const struct sim_astra_setup *setup, enum collective_kind kind, int64_t bytes);

#endif
