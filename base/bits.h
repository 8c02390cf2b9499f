/**
 * @file A set of small numbers that is asked for its least member from a number on. Jobs that wait,
 * processors that are free and the like: what a heap would do with O(log n) per change, here with removal of
 * any member and in the order of numbers. Not safe for several threads while one of them writes.
 */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>

enum { BITS_LEVELS = 6 };

/**
 * Numbers 0..size-1, one bit each; above them one bit for each word that is not 0, and so on, so that gaps
 * are skipped. `= { 0 }` is a set that holds nothing and has room for nothing. Release with bits_free().
 */
struct bits {
    uint64_t *words;            /**< of all levels, the numbers' own first; owned */
    int32_t size, n_levels;     /**< members are 0..size-1; the top level is one word */
    int32_t first[BITS_LEVELS]; /**< word at which a level begins */
};

/**
 * An empty set with room for 0..@p size - 1, size >= 0. False on lack of memory; then empty. O(size / 64).
 * Memory is 65/64 of the bits themselves.
 */
bool bits_build(struct bits *b, int32_t size);
void bits_free(struct bits *b);

/** @p i must be in 0..size-1; adding a member or removing another number changes nothing. O(levels). */
void bits_add(struct bits *b, int32_t i);
/** O(levels): a word that becomes 0 takes its bit from the level above. */
void bits_remove(struct bits *b, int32_t i);

/** Least member >= @p from >= 0, or -1 when there is none. O(levels). */
int32_t bits_next(const struct bits *b, int32_t from);

#endif
