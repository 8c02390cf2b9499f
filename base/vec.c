/*
 * The part of vec_reserve() that is not worth inlining. Capacities double from 16, so that n appends copy
 * O(n) items in all; the number of bytes is checked against PTRDIFF_MAX, which malloc() implementations do
 * not exceed and which keeps differences of pointers defined.
 */

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAP = 16 };

int64_t vec_larger(int64_t cap, int64_t need)
{
    int64_t larger = cap ? cap : FIRST_CAP;
    while (larger < need)
        larger = larger > INT64_MAX / 2 ? INT64_MAX : 2 * larger;
    return larger;
}

/* Pointers of all types look alike here, as POSIX has it: the bytes of one are copied, not its type. */
bool vec_move(void *items, int64_t cap, size_t size)
{
    void *old, *moved;
    if ((uint64_t)cap > PTRDIFF_MAX / size)
        return false;
    memcpy(&old, items, sizeof old);
    moved = realloc(old, (size_t)cap * size);
    if (moved)
        memcpy(items, &moved, sizeof moved);
    /* cppcheck-suppress memleak ; items has it, as bytes */
    return moved != NULL;
}

bool vec_grow_64(void *items, int64_t *cap, int64_t need, size_t size)
{
    int64_t larger = vec_larger(*cap, need);
    if (!vec_move(items, larger, size))
        return false;
    *cap = larger;
    return true;
}

bool vec_grow_32(void *items, int32_t *cap, int64_t need, size_t size)
{
    int64_t larger = vec_larger(*cap, need);
    if (need > INT32_MAX)
        return false;
    if (larger > INT32_MAX)
        larger = INT32_MAX;
    if (!vec_move(items, larger, size))
        return false;
    *cap = (int32_t)larger;
    return true;
}
