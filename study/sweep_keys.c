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

#define SECTION(id, where, text, rows)                                                                       \
    const struct section id = {                                                                              \
        .name = where, .help = text, .keys = rows, .n_keys = sizeof rows / sizeof rows[0]                    \
    }

SECTION(sweep_vary_section, "vary", "what varies: every combination of these axes", vary_keys);
SECTION(sweep_range_section, "vary.KEY", "the values of an axis as a range, in place of a list", range_keys);
SECTION(sweep_sobol_section, "vary.sobol", "one axis of quasi-random points (Sobol)", sobol_keys);
