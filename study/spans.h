/** @file A set of whole numbers as few intervals: which units of a sweep are done. */
#ifndef STUDY_SPANS_H
#define STUDY_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct span {
    int64_t first, n; /**< first..first+n-1; n >= 1 */
};

/** Ascending, disjoint, never touching. Zero-initialise; release with spans_free(). */
struct spans {
    struct span *spans; /**< shape [n], owned */
    int64_t n, cap;
};

/** Put in first..first+n-1, some of which may be there. ERR_NOMEM. O(log n + what moves). */
int spans_add(struct spans *s, int64_t first, int64_t n, struct err *e);
bool spans_have(const struct spans *s, int64_t i);
/** The first that is not in the set, >= @p from, and at most @p most of them in a row below @p end. n = 0:
 * there is none. */
struct span spans_gap(const struct spans *s, int64_t from, int64_t end, int64_t most);
/** How many of 0..end-1 are in the set. */
int64_t spans_count(const struct spans *s, int64_t end);
void spans_free(struct spans *s);

#endif
