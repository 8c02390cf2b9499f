/** @file What a study of many points tells: what is true at all of them. */
#ifndef STUDY_NOTES_H
#define STUDY_NOTES_H

#include <stdint.h>

#include "base/text.h"

/** Notes of point @p i of @p points, a line each; NULL of a point that could not be read. */
typedef const struct text *notes_of_point(const void *points, int64_t i);

/**
 * Append to @p out the lines that all of @p n points have which could be read, in the order of the first of
 * them: a key that one point leaves idle another may use. O(n * lines * characters). Lack of memory is in @p
 * out.
 */
void notes_gather(struct text *out, const void *points, int64_t n, notes_of_point *notes);

#endif
