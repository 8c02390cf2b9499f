/** @file Arrays that grow by doubling: items, how many there are, how many there is room for. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Room for @p need items in all; the array may move. What is added is not set. To begin, items is NULL and
 * cap 0.
 *
 *     if (!vec_reserve(a->items, a->cap, a->n + 1))
 *         return err_nomem(e, "items");
 *     a->items[a->n++] = item;
 *
 * Several arrays of one length are reserved one after the other, the one that has the cap last; each of the
 * others with vec_resize().
 * @param items  lvalue, pointer to the first item; released with free()
 * @param cap    lvalue, int32_t or int64_t
 * @return false on lack of memory or where a cap of that type cannot be; then all is as it was. Amortised
 * O(1).
 */
#define vec_reserve(items, cap, need)                                                                        \
    ((int64_t)(need) <= (int64_t)(cap) || _Generic((cap), int32_t                                            \
                                                   : vec_grow_32, int64_t                                    \
                                                   : vec_grow_64)(&(items), &(cap), need, sizeof *(items)))

/** Room for exactly @p cap >= 1 items, of which there may have been fewer or more before; false as above. */
#define vec_resize(items, cap) vec_move(&(items), cap, sizeof *(items))

/**
 * The cap that vec_reserve() would choose for @p need items where there is room for @p cap. For arrays that
 * are moved by hand because several share one cap.
 */
int64_t vec_larger(int64_t cap, int64_t need);

/* What the macros call; items: address of the pointer. */
bool vec_grow_32(void *items, int32_t *cap, int64_t need, size_t size);
/** The two differ in the type of the cap alone. */
bool vec_grow_64(void *items, int64_t *cap, int64_t need, size_t size);
bool vec_move(void *items, int64_t cap, size_t size);

/** Of @p n items of @p size bytes, in order of the int64_t at @p offset in each, the first that has @p least
 * or more; @p n: none has. O(log n). */
static inline int64_t vec_find(const void *items, int64_t n, size_t size, size_t offset, int64_t least)
{
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        const void *at = (const char *)items + (size_t)middle * size + offset;
        if (*(const int64_t *)at < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
