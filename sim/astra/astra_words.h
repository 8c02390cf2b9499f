/** @file Private to sim/astra*: words of ASTRA-sim's files, and how its links and ours convert. */
#ifndef SIM_ASTRA_WORDS_H
#define SIM_ASTRA_WORDS_H

#include "sim/astra/astra.h"

/** By enum topo_shape; NULL where there is none. */
extern const char *const sim_astra_shape_words[4];
/** By enum topo_algorithm; NULL where there is none. */
extern const char *const sim_astra_algorithm_words[N_TOPO_ALGORITHMS];
/** Lists of algorithms in a system, the one that decides first; NULL at the end. */
extern const char *const sim_astra_list_keys[5];

#define SIM_ASTRA_GiB 1073741824.0

/** What one NPU sends into a dimension whose links have dim->GiBps [1e9 B/s]. */
double sim_astra_npu_GBps(const struct sim_astra_dim *dim);

#endif
