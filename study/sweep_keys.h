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

/** What may be said of a tier, and beside `tiers` of all of them. */
struct factor_limits {
    yaml_id shapes, sizes;
    int64_t min, max, radix;
};

/** Where keys that are passed on are read to, for their check alone. */
union factor_other {
    double real;
    int64_t count;
    int32_t word;
    bool yes;
    const char *text;
    yaml_id node;
};

struct factor_conf {
    struct factor_limits limits;
    int64_t npus;
    yaml_id dims, tiers;
    union factor_other other;
};

struct factor_tier_conf {
    struct factor_limits limits;
    int64_t max_npus;
    yaml_id dims;
    union factor_other other;
};

/** How many dimensions. */
struct factor_dims_conf {
    int64_t from, to;
};

/** What `vary` itself may hold; for the manual alone, as a key that varies may have any name. */
extern const struct section sweep_vary_section;
extern const struct section sweep_range_section, sweep_sobol_section, sweep_factor_section,
    sweep_factor_tier_section, sweep_factor_dims_section;

#endif
