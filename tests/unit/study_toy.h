/** @file A kind of study with runs that costs nothing: what the engine does with any kind can be held against
 * it. */
#ifndef TESTS_STUDY_TOY_H
#define TESTS_STUDY_TOY_H

#include "study/kind.h"

/**
 * Keys: x, entries, broken (2: the point cannot be prepared), nap_us, seed, seeds, vary. Entry 0 does not
 * draw. Some runs fail, by what they draw, after they put some rows; some seeds of x = 7 fail as a whole. A
 * row has mean and count over the seeds of its entry, and the ratio to entry 0. Extra tables: "steps", some
 * rows of each run, whose `ratio` is known when the point is whole; "first", those of the first seed.
 */
extern const struct study_kind toy_kind;
extern const struct study_kind toy_whole_kind; /**< "toys": all entries of a seed are one run */

/** Of both: how many seeds were alive at once at most, and how many points; since it was set to 0. */
struct toy_alive {
    int seeds, most_seeds, points, most_points;
};
extern struct toy_alive toy_alive;

#endif
