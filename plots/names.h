/** @file Distinct texts, numbered in order of first appearance: the series, panels and colours of a figure.
 */
#ifndef PLOTS_NAMES_H
#define PLOTS_NAMES_H

#include <stdint.h>

/** Zero-initialise; release with names_free(). */
struct names {
    const char **list; /**< shape [n], owned; its texts are borrowed */
    int32_t n, cap;
    int32_t *slots; /**< shape [n_slots], owned: 1 + the position of what hashes there; 0 = free */
    int32_t n_slots;
};

/** Position of @p name, added when new; -1 when out of memory. Expected time O(length). */
int32_t names_add(struct names *n, const char *name);
/** The same, with a copy of a new text: for a list whose texts names_free_copies() releases too. */
int32_t names_add_copy(struct names *n, const char *name);
/** Position of @p name, or -1. */
int32_t names_find(const struct names *n, const char *name);
void names_free(struct names *n);
void names_free_copies(struct names *n);

#endif
