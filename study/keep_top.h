/** @file Private to explore/: the best few points of each group. */
#ifndef STUDY_KEEP_TOP_H
#define STUDY_KEEP_TOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct top_item {
    double value;
    int64_t point;
};

/** The best of one group: a heap, the worst first. */
struct top {
    char *group;            /**< owned */
    struct top_item *items; /**< shape [n], owned */
    int64_t n, cap;
};

/** Zero-initialise but for most; release with top_set_free(). */
struct top_set {
    int64_t most;     /**< points of a group */
    struct top *tops; /**< shape [n], owned; by group */
    int32_t n, cap;
};

/** Offer a point: less is better, of equal values the lower point. *in: it is among the best now; *out: the
 * point that is no more, -1 = none. A value that is not finite is never among them. ERR_NOMEM. O(log most +
 * log groups). */
int top_offer(struct top_set *s, const char *group, struct top_item item, bool *in, int64_t *out,
              struct err *e);
void top_set_free(struct top_set *s);

#endif
