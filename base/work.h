/**
 * @file How far long work is: what a loop counts, how much there is of it, how much is done.
 *
 * For who waits, never for results. The first loop to begin is the outer one, the next within it (of whatever
 * thread) the inner one; further ones count nothing. What they have come to is the only state of the process
 * that changes, since nobody between a loop and who tells of it need know of either. Thread-safe.
 */
#ifndef BASE_WORK_H
#define BASE_WORK_H

#include <stdint.h>

enum { WORK_LEVELS = 2 };

/** A loop that counts. Zero: none; ending that is fine. */
struct work {
    int slot; /**< 1 to WORK_LEVELS; 0: it counts nothing */
};

/** @p total steps of @p what ("points"), a text that lasts. */
void work_begin(struct work *w, const char *what, int64_t total);
/** So many more are done; by any thread. */
void work_step(const struct work *w, int64_t n);
void work_end(const struct work *w);

struct work_state {
    const char *what; /**< NULL: nothing is counted */
    int64_t done, total;
    double spent_s; /**< since it began */
};

/** What is known of level 0 (outer) or 1 (inner). May be called in a signal handler. */
struct work_state work_look(int level);

#endif
