/** @file Private to explore/: the points that are kept, by number (a hash table with open addressing). */
#ifndef STUDY_KEEP_POINTS_H
#define STUDY_KEEP_POINTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { KEEP_FRONT = 1, KEEP_TOP = 2 };

struct keep_point {
    int64_t point; /**< >= 0; -1 = the place is free */
    int64_t row;   /**< among the rows not handed over yet; -1 = it was */
    unsigned ways; /**< bits: why it is kept */
};

/** Zero-initialise; release with keep_points_free(). */
struct keep_points {
    struct keep_point *slots; /**< shape [cap], owned; cap a power of two */
    int64_t n, cap;
};

/** ERR_NOMEM. The point is not there yet. Amortised O(1), as the others. */
int keep_points_add(struct keep_points *s, struct keep_point p, struct err *e);
/** Borrowed until the next call; NULL when it is not there. */
struct keep_point *keep_points_find(const struct keep_points *s, int64_t point);
/** Of one that is there. */
void keep_points_remove(struct keep_points *s, int64_t point);
void keep_points_free(struct keep_points *s);

#endif
