/**
 * @file How far long work is: what a loop counts, how much there is of it, how much is done; and whether it
 * is to end.
 *
 * For who waits, never for results. The first loop to begin is level 0, the next within it (of whatever
 * thread) level 1, the next within that one and of its thread level 2. Loops of other threads beside one of
 * these count nothing but that they are there, and deeper ones nothing at all. What they have come to, and
 * that somebody wants an end, is the only state of the process that changes, since nobody between a loop and
 * who waits for it need know of either. Thread-safe.
 */
#ifndef BASE_WORK_H
#define BASE_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { WORK_LEVELS = 3 };

/** A loop that counts. Zero: none; ending that is fine. */
struct work {
    int slot; /**< 1 to WORK_LEVELS; below 0: it is beside the loop of slot -slot; 0: it counts nothing */
};

/** @p total steps of @p what ("points"), a text that lasts. */
void work_begin(struct work *w, const char *what, int64_t total);
/** So many more are done; by any thread. */
void work_step(const struct work *w, int64_t n);
/** A step is of @p n parts, of which one at a time is under way; of the parts of steps that are not done @p
 * more are (below 0: their step is done). For the time that is left alone. */
void work_part(const struct work *w, int64_t n, int64_t more);
void work_end(const struct work *w);

struct work_state {
    const char *what; /**< NULL: nothing is counted */
    int64_t done, total;
    int64_t at_once; /**< loops that run side by side on this level, of which this is one; >= 1 */
    double spent_s;  /**< since it began */
};

/** What is known of a level, 0 (the outer one) to WORK_LEVELS - 1. May be called in a signal handler. */
struct work_state work_look(int level);

/**
 * How long all of it still takes [s], by the rates so far: what is under way counts as much as the level
 * within it says, for all that runs side by side; the whole takes no less than what is under way does. NaN:
 * nobody knows, as long as less than a hundredth is done. May be called in a signal handler.
 */
double work_left_s(void);

/**
 * Whether an end @p left_s from now is worth announcing, @p spent_s after the beginning: a twentieth is done,
 * and what was known at half of this time, *before_s (of all; this replaces it), differs by a fifth at most.
 * Of work that is done as any power of time the announced rest is then right within a factor of 3. NaN: it is
 * not.
 */
bool work_is_steady(double *before_s, double spent_s, double left_s);

/**
 * All work of this process shall end, now and from now on; what is half done is dropped. May be called in a
 * signal handler. Loops that may last a second look at work_stopped(), which costs no more than reading an
 * int, a thousand times a second or more often, and give up; whoever called them returns work_check().
 */
void work_stop(void);
bool work_stopped(void);
/** 0, or ERR_STOPPED once work_stop() was called. */
int work_check(struct err *e);

#endif
