/** @file Rows of the workload key tables: one line per key. For the readers of this folder only. */
#ifndef WORKLOADS_STEP_KEYS_H
#define WORKLOADS_STEP_KEYS_H

#define NODE_KEY(conf, key_name, field, text)                                                                \
    {                                                                                                        \
        .name = key_name, .help = text, .kind = KEY_NODE, .offset = offsetof(struct conf, field), .unit = "" \
    }
#define TEXT_KEY(conf, key_name, field, text)                                                                \
    {                                                                                                        \
        .name = key_name, .help = text, .kind = KEY_TEXT, .offset = offsetof(struct conf, field), .unit = "" \
    }
/** Index into a NULL-terminated list of words; -1 when absent. */
#define WORD_KEY(conf, key_name, field, list, text)                                                          \
    {                                                                                                        \
        .name = key_name, .help = text, .kind = KEY_WORD, .offset = offsetof(struct conf, field),            \
        .unit = "", .dflt = SCHEMA_NONE, .words = list                                                       \
    }
#define COUNT_KEY(conf, key_name, field, least, most, absent, text)                                          \
    {                                                                                                        \
        .name = key_name, .help = text, .kind = KEY_COUNT, .offset = offsetof(struct conf, field),           \
        .unit = "", .scale = 1, .min = least, .max = most, .dflt = absent                                    \
    }
/** Kept in the file's unit; NaN when absent. */
#define REAL_KEY(conf, key_name, field, unit_text, most, text)                                               \
    {                                                                                                        \
        .name = key_name, .help = text, .kind = KEY_REAL, .offset = offsetof(struct conf, field),            \
        .unit = unit_text, .scale = 1, .min = 0, .max = most, .dflt = SCHEMA_NONE                            \
    }

/** Limits: a year of compute, an exabyte, a thousand million repeats. */
#define COMPUTE_MAX_NS 3e16
#define COMPUTE_MAX_MS 3e10
#define BYTES_MAX_B    1e18
#define BYTES_MAX_MB   1e12
#define TIMES_MAX      1e9

#define SECTION(id, where, text, rows)                                                                       \
    const struct section id = {                                                                              \
        .name = where, .help = text, .keys = rows, .n_keys = sizeof rows / sizeof rows[0]                    \
    }

#endif
