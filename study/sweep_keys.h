/** @file Private to explore/: the maps below `vary` as written; sweep_keys.c has their key tables. */
#ifndef STUDY_SWEEP_KEYS_H
#define STUDY_SWEEP_KEYS_H

#include "base/schema.h"

/* Words are indices, -1 = absent; so are absent counts and nodes. Absent reals are NaN. */

enum range_scale { RANGE_LINEAR, RANGE_LOG };

/** The values of a key as a range, or as networks that are written for it. */
struct range_conf {
    double from, to, step;
    int64_t points;
    int32_t scale;
    yaml_id factor;
};

struct sobol_conf {
    int64_t points, skip;
    yaml_id keys;
};

/** What `vary` itself may hold; for the manual alone, as a key that varies may have any name. */
extern const struct section sweep_vary_section;
extern const struct section sweep_range_section, sweep_sobol_section;

#endif
