/**
 * @file The manual of the YAML files: the sections that the readers take (base/schema.h), and what is said of
 * a key. `weft keys`, the schemas, the manual page and completion all read this list.
 */
#ifndef CLI_MANUAL_H
#define CLI_MANUAL_H

#include "base/num.h"
#include "base/schema.h"

/** A kind of file and its outermost map. */
struct file_kind {
    const char *name;
    const struct section *section;
};

/** Every map a YAML file may hold, from the outside in; shape [manual_n_sections]. */
extern const struct section *const manual_sections[];
extern const int manual_n_sections;
/** Shape [manual_n_kinds]. */
extern const struct file_kind manual_kinds[];
extern const int manual_n_kinds;

enum { MANUAL_MOST_SECTIONS = 160 };

/** The section of this name, or -1. */
int manual_find(const char *name, size_t length);

/** Mark in @p reached, shape [manual_n_sections], the sections that a file of @p kind may hold, its own among
 * them. */
void manual_reach(bool *reached, const struct file_kind *kind);

bool manual_is_number(const struct key *k);

/** Append "0.001 to 1e9", the words of a word, or nothing. */
void manual_range(struct text *out, const struct key *k);

/** "required", the default, or "" where there is none to tell: NaN is no default, or one that follows from
 * other keys, which the help says. */
const char *manual_default(char buf[NUM_TEXT], const struct key *k);

#endif
