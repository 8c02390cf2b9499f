/** @file Texts that many rows of a store repeat: a number for each. */
#ifndef STUDY_STORE_TEXTS_H
#define STUDY_STORE_TEXTS_H

#include <stdint.h>

#include "base/err.h"

/** Zero-initialise; release with store_texts_free(). */
struct store_texts {
    char **texts; /**< shape [n], owned: by number */
    int32_t n, cap;
    int32_t *slots; /**< shape [n_slots], owned: number + 1 of a text, 0 = free; a power of two of them */
    int32_t n_slots;
};

/** Its number, or -1. O(length). */
int32_t store_texts_find(const struct store_texts *t, const char *s);
/** Give @p s, which is not there, the number t->n. ERR_NOMEM. */
int store_texts_add(struct store_texts *t, const char *s, struct err *e);
void store_texts_free(struct store_texts *t);

#endif
