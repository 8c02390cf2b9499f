/** @file JSON Schema (draft-07) of the YAML files, from the tables that read them. */
#ifndef CLI_KEYS_SCHEMA_H
#define CLI_KEYS_SCHEMA_H

#include "cli/manual.h"

/**
 * Append the schema of a file of @p kind: keys with type, limits, unit, default and meaning; a key that is
 * not in it is refused, as the reader does. Numbers may be texts like "1e6", which YAML 1.1 does not take for
 * numbers. What depends on several keys is for the reader alone.
 */
void manual_schema(struct text *out, const struct file_kind *kind);

#endif
