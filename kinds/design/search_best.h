/** @file Private to search*.c: the best so far, in an order that no two candidates share. */
#ifndef KINDS_DESIGN_SEARCH_BEST_H
#define KINDS_DESIGN_SEARCH_BEST_H

#include "kinds/design/search.h"

/** Zero-initialise and reserve; release with search_best_free(). */
struct search_best {
    struct search_found *found; /**< shape [n], owned; best first */
    int32_t n, most;
};

int search_best_reserve(struct search_best *b, int32_t most, struct err *e);
void search_best_free(struct search_best *b);

/** Less value, then less memory, then earlier. */
bool search_is_better(const struct search_found *a, const struct search_found *b);

/** Could a candidate of this value be among the best? */
bool search_best_takes(const struct search_best *b, double value);

/** Nothing when a candidate of this rank is there already. */
void search_best_add(struct search_best *b, const struct search_found *f);

#endif
