#include "study/sweep_keys.h"

#include <stddef.h>

#include "study/sweep.h"

static const char *const scale_words[] = { "linear", "log", NULL };

#define ROW(conf, key, field, what, text)                                                                    \
    .name = key, .help = text, .kind = what, .offset = offsetof(struct conf, field), .unit = "",             \
    .dflt = SCHEMA_NONE
#define NODE(conf, key, field, text)                                                                         \
    {                                                                                                        \
        ROW(conf, key, field, KEY_NODE, text)                                                                \
    }
#define COUNT(conf, key, field, least, most, text)                                                           \
    {                                                                                                        \
        ROW(conf, key, field, KEY_COUNT, text), .scale = 1, .min = least, .max = most                        \
    }

static const struct key vary_keys[] = {
    { .name = "KEY",
      .help = "any key, by its path as in --set: a list of values, or see vary.KEY",
      .kind = KEY_NODE,
      .unit = "" },
    { .name = "zip",
      .help = "keys that move together: { KEY: values, .. } of equal lengths, or a list of such maps",
      .kind = KEY_NODE,
      .unit = "" },
    { .name = "sobol",
      .help = "keys that are sampled together: see vary.sobol, or a list of such maps",
      .kind = KEY_NODE,
      .unit = "" },
    { .name = "union",
      .help = "grids one after another: a list of maps like vary itself, each with the axes beside the union",
      .kind = KEY_NODE,
      .unit = "" },
};

#define RANGE(key, field, text)                                                                              \
    ROW(range_conf, key, field, KEY_REAL, text), .scale = 1, .min = -1e18, .max = 1e18

static const struct key range_keys[] = {
    { RANGE("from", from, "first value"), .required = true },
    { RANGE("to", to, "last value, included when a step ends there"), .required = true },
    { ROW(range_conf, "step", step, KEY_REAL, "distance of two values; this or points"), .scale = 1,
      .min = 1e-18, .max = 1e18 },
    COUNT(range_conf, "points", points, 2, SWEEP_MAX_VALUES,
          "number of values, both ends included; this or step"),
    { ROW(range_conf, "scale", scale, KEY_WORD,
          "of points: equal differences or equal ratios; absent: linear"),
      .words = scale_words },
    NODE(range_conf, "factor", factor,
         "instead of all others, of KEY network: networks of so many NPUs, see vary.factor"),
};

static const struct key sobol_keys[] = {
    { ROW(sobol_conf, "points", points, KEY_COUNT, "number of samples"), .scale = 1, .min = 1,
      .max = SWEEP_MAX_VALUES, .required = true },
    { .name = "skip",
      .help = "points of the sequence left out before the first",
      .kind = KEY_COUNT,
      .offset = offsetof(struct sobol_conf, skip),
      .unit = "",
      .scale = 1,
      .min = 0,
      .max = 1e8,
      .dflt = 0 },
    { ROW(sobol_conf, "keys", keys, KEY_NODE,
          "{ KEY: { from, to, scale } or a list, or a range as in vary.KEY, of which values are picked "
          "evenly }"),
      .required = true },
};

#define LIMITS(conf, shapes_of, of)                                                                          \
    NODE(conf, "shapes", limits.shapes, "list of ring, full, switch, line" shapes_of),                       \
        NODE(conf, "sizes", limits.sizes, "list of the sizes that a dimension may have" of),                 \
        COUNT(conf, "min", limits.min, TOPO_MIN_SIZE, TOPO_MAX_SIZE, "least size of a dimension" of),        \
        COUNT(conf, "max", limits.max, TOPO_MIN_SIZE, TOPO_MAX_SIZE, "largest size of a dimension" of),      \
        COUNT(conf, "radix", limits.radix, 1, TOPO_MAX_SIZE,                                                 \
              "ports: a switch of n needs n, full of n needs n-1, a ring or line 2 (of two members 1)" of)

static const struct key factor_keys[] = {
    { ROW(factor_conf, "npus", npus, KEY_COUNT, "NPUs of each network: the product of its sizes"), .scale = 1,
      .min = TOPO_MIN_SIZE, .max = TOPO_MAX_NPUS, .required = true },
    NODE(factor_conf, "dims", dims, "how many dimensions: a number, or see vary.factor.dims; absent: 1 to 8"),
    LIMITS(factor_conf, ", where a tier does not say; absent: ring, full, switch",
           ", where a tier does not say; absent: any"),
    NODE(factor_conf, "tiers", tiers,
         "list, innermost first, see vary.factor.tiers[]; absent: one for all dimensions. Other keys of a "
         "network but dims are passed on to each"),
};

static const struct key factor_tier_keys[] = {
    LIMITS(factor_tier_conf, "; absent: those beside tiers", "; absent: that beside tiers"),
    COUNT(factor_tier_conf, "max_npus", max_npus, 1, TOPO_MAX_NPUS,
          "packaging: product of the sizes up to and including this tier; absent: any"),
    NODE(factor_tier_conf, "dims", dims,
         "how many dimensions of a network lie in this tier: a number, or see vary.factor.dims; absent: 0 or "
         "1. Other keys of a dimension but shape and size are passed on to each"),
};

static const struct key factor_dims_keys[] = {
    COUNT(factor_dims_conf, "from", from, 0, TOPO_MAX_DIMS, "least number; absent: 0 of a tier, else 1"),
    COUNT(factor_dims_conf, "to", to, 0, TOPO_MAX_DIMS, "largest number; absent: 8"),
};

#define SECTION(id, where, text, rows)                                                                       \
    const struct section id = {                                                                              \
        .name = where, .help = text, .keys = rows, .n_keys = sizeof rows / sizeof rows[0]                    \
    }

SECTION(sweep_vary_section, "vary", "what varies: every combination of these axes", vary_keys);
SECTION(sweep_range_section, "vary.KEY", "the values of an axis as a range, in place of a list", range_keys);
SECTION(sweep_sobol_section, "vary.sobol", "one axis of quasi-random points (Sobol)", sobol_keys);
SECTION(sweep_factor_section, "vary.factor", "all ways to factor NPUs into dimensions", factor_keys);
SECTION(sweep_factor_tier_section, "vary.factor.tiers[]", "what dimensions may lie in one tier",
        factor_tier_keys);
SECTION(sweep_factor_dims_section, "vary.factor.dims", "a number of dimensions as a range", factor_dims_keys);
