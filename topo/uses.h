/** @file What keys of designs are used for, from the network to the study: bits of `uses` in their tables. */
#ifndef TOPO_USES_H
#define TOPO_USES_H

#include "base/schema.h"

enum study_use {
    USE_TIME = 1 << 0,       /**< training time and bandwidth split */
    USE_LATENCY = 1 << 1,    /**< only by models other than bandwidth */
    USE_COST = 1 << 2,       /**< network price */
    USE_CATALOGUE = 1 << 3,  /**< only when prices come from a parts catalogue */
    USE_COMPUTE = 1 << 4,    /**< NPU: compute and memory models */
    USE_SYSTEM = 1 << 5,     /**< only when NPU price or power is counted */
    USE_SPLIT = 1 << 6,      /**< only where an allocator chooses bandwidths */
    USE_CHUNK = 1 << 7,      /**< only by model chunk */
    USE_FLOW = 1 << 8,       /**< only by model flow */
    USE_ALGORITHM = 1 << 9,  /**< as USE_LATENCY, and of a fabric always */
    USE_OWNERSHIP = 1 << 10, /**< only with `system` */
    N_STUDY_USES = 11,
};

extern const struct use study_uses[N_STUDY_USES];

/** Of a section. */
#define STUDY_USES .uses = study_uses, .n_uses = N_STUDY_USES

#endif
