/** @file JSON Schema (draft-07) of the YAML files, from the tables that read them. */
#ifndef CLI_KEYS_SCHEMA_H
#define CLI_KEYS_SCHEMA_H

#include "base/schema.h"

/** A kind of file and its outermost map. */
struct file_kind {
    const char *name;
    const struct section *section;
};

/** All sections of the manual; both borrowed. */
struct manual {
    const struct section *const *sections; /**< shape [n] */
    int n;
    const struct file_kind *kinds; /**< shape [n_kinds] */
    int n_kinds;
};

enum { MANUAL_MOST_SECTIONS = 160 };

/** The section of this name, or -1. */
int manual_find(const struct manual *m, const char *name, size_t length);

/** Mark in @p reached, shape [m->n], the sections that a file of @p kind may hold, its own among them. */
void manual_reach(bool *reached, const struct manual *m, const struct file_kind *kind);

/**
 * Append the schema of a file of @p kind: keys with type, limits, unit, default and meaning; a key that is
 * not in it is refused, as the reader does. Numbers may be texts like "1e6", which YAML 1.1 does not take for
 * numbers. What depends on several keys is for the reader alone.
 */
void manual_schema(struct text *out, const struct manual *m, const struct file_kind *kind);

#endif
