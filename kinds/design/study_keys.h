/** @file Private to this folder: the maps of a study as written; study_keys.c has their key tables. */
#ifndef KINDS_DESIGN_STUDY_KEYS_H
#define KINDS_DESIGN_STUDY_KEYS_H

#include "kinds/design/study.h"

/* Numbers are SI once schema_read() has scaled them; words are indices, -1 = absent. */

struct study_conf {
    const char *name, *source;
    yaml_id network, parts, workload, workloads, simulation, constraints, budget, vary, where, keep,
        uncertain;
    int32_t combine, split, objective, model;
    double total_Bps, time_limit_s;
    bool count_npus;
    int64_t seed;
};

/** A member of `workloads`. */
struct mix_conf {
    yaml_id workload;
    double weight;
};

#endif
