/**
 * @file Heaps as a template, since an order that is called through a pointer costs half as much again. A
 * parent has four children: half the levels of a binary heap, and the four of them lie in a cache line or two
 * (A. LaMarca, R. Ladner, The influence of caches on the performance of heaps, JEA 1, 1996). Orders are best
 * written without branches (`|` and `&`), since which of two dates is the earlier one cannot be predicted.
 *
 *     static bool date_before(const struct date *a, const struct date *b) { ... }
 *     HEAP(dates, struct date, date_before)
 *
 * defines, for an array of the caller's that has room enough:
 *     dates_push(items, n, item)      add to n items
 *     dates_pop(items, n)             take the first of n >= 1; the others are items[0 .. n - 2]
 *     dates_replace(items, n, item)   put an item in place of the first of n >= 1
 *     dates_settle(items, n, at)      move items[at] of n to where it belongs after its key changed
 *     dates_build(items, n)           make a heap of n items in any order (HEAP_TRACKED only); time O(n)
 * The first item is the one that goes before all others; for the best few of many, let the worst go first.
 * HEAP_TRACKED also calls moved(x, &items[at], at) for each item that got a place, x being the last argument
 * of each function. An order should have no ties: which of equals comes first is not said. Push, pop, replace
 * and settle take O(log n) comparisons; none allocates.
 *
 * The order of pops is a function of the items and of `before` alone, the same on every machine; where items
 * may be equal, let `before` break ties by a number of the item.
 */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/vec.h"

#define HEAP_FUNCTION __attribute__((unused)) static inline

/* Both ways move a hole, not the item, so that each step is one copy. */
#define HEAP_TRACKED(name, type, before, context, moved)                                                     \
    HEAP_FUNCTION void name##_put(type *items, int64_t at, type item, context x)                             \
    {                                                                                                        \
        items[at] = item;                                                                                    \
        moved(x, &items[at], at);                                                                            \
    }                                                                                                        \
    HEAP_FUNCTION int64_t name##_rise(type *items, int64_t at, type item, context x)                         \
    {                                                                                                        \
        for (; at > 0 && before(&item, &items[(at - 1) / 4]); at = (at - 1) / 4)                             \
            name##_put(items, at, items[(at - 1) / 4], x);                                                   \
        return at;                                                                                           \
    }                                                                                                        \
    HEAP_FUNCTION int64_t name##_first_child(const type *items, int64_t n, int64_t at)                       \
    {                                                                                                        \
        int64_t first = 4 * at + 1, best = first;                                                            \
        if (first + 3 < n) {                                                                                 \
            int64_t low = first + before(&items[first + 1], &items[first]);                                  \
            int64_t high = first + 2 + before(&items[first + 3], &items[first + 2]);                         \
            return before(&items[high], &items[low]) ? high : low;                                           \
        }                                                                                                    \
        for (int64_t i = first + 1; i < n; i++)                                                              \
            best = before(&items[i], &items[best]) ? i : best;                                               \
        return best;                                                                                         \
    }                                                                                                        \
    HEAP_FUNCTION int64_t name##_sink(type *items, int64_t n, int64_t at, type item, context x)              \
    {                                                                                                        \
        for (int64_t child; 4 * at + 1 < n; at = child) {                                                    \
            child = name##_first_child(items, n, at);                                                        \
            if (!before(&items[child], &item))                                                               \
                break;                                                                                       \
            name##_put(items, at, items[child], x);                                                          \
        }                                                                                                    \
        return at;                                                                                           \
    }                                                                                                        \
    HEAP_FUNCTION void name##_push(type *items, int64_t n, type item, context x)                             \
    {                                                                                                        \
        name##_put(items, name##_rise(items, n, item, x), item, x);                                          \
    }                                                                                                        \
    HEAP_FUNCTION void name##_replace(type *items, int64_t n, type item, context x)                          \
    {                                                                                                        \
        name##_put(items, name##_sink(items, n, 0, item, x), item, x);                                       \
    }                                                                                                        \
    /* The hole goes down to a leaf, and the last item, which nearly always belongs there, into it. */       \
    HEAP_FUNCTION type name##_pop(type *items, int64_t n, context x)                                         \
    {                                                                                                        \
        type first = items[0];                                                                               \
        int64_t at = 0;                                                                                      \
        for (int64_t child; 4 * at + 1 < n - 1; at = child) {                                                \
            child = name##_first_child(items, n - 1, at);                                                    \
            name##_put(items, at, items[child], x);                                                          \
        }                                                                                                    \
        if (n > 1)                                                                                           \
            name##_put(items, name##_rise(items, at, items[n - 1], x), items[n - 1], x);                     \
        return first;                                                                                        \
    }                                                                                                        \
    HEAP_FUNCTION void name##_build(type *items, int64_t n, context x)                                       \
    {                                                                                                        \
        for (int64_t at = n; at-- > 0;) {                                                                    \
            type item = items[at];                                                                           \
            name##_put(items, name##_sink(items, n, at, item, x), item, x);                                  \
        }                                                                                                    \
    }                                                                                                        \
    HEAP_FUNCTION void name##_settle(type *items, int64_t n, int64_t at, context x)                          \
    {                                                                                                        \
        type item = items[at];                                                                               \
        int64_t up = name##_rise(items, at, item, x);                                                        \
        name##_put(items, up < at ? up : name##_sink(items, n, at, item, x), item, x);                       \
    }

/* For heaps whose items need not know where they are. */
#define HEAP_UNMOVED(x, item, at) ((void)(x), (void)(item), (void)(at))

#define HEAP(name, type, before)                                                                             \
    HEAP_TRACKED(name##_untracked, type, before, int, HEAP_UNMOVED)                                          \
    HEAP_FUNCTION void name##_push(type *items, int64_t n, type item)                                        \
    {                                                                                                        \
        name##_untracked_push(items, n, item, 0);                                                            \
    }                                                                                                        \
    HEAP_FUNCTION type name##_pop(type *items, int64_t n)                                                    \
    {                                                                                                        \
        return name##_untracked_pop(items, n, 0);                                                            \
    }                                                                                                        \
    HEAP_FUNCTION void name##_replace(type *items, int64_t n, type item)                                     \
    {                                                                                                        \
        name##_untracked_replace(items, n, item, 0);                                                         \
    }                                                                                                        \
    HEAP_FUNCTION void name##_settle(type *items, int64_t n, int64_t at)                                     \
    {                                                                                                        \
        name##_untracked_settle(items, n, at, 0);                                                            \
    }

/* ---- numbered items with whole-number keys ---- */

struct heap_item {
    int64_t key; /**< distinct keys give one order; that of equal ones is not said */
    int32_t id, value;
};

/** The least key first. `= { 0 }` is empty. Release with heap_free(). */
struct heap {
    struct heap_item *items; /**< shape [n], owned */
    int32_t n, cap;
};

HEAP_FUNCTION bool heap_item_before(const struct heap_item *a, const struct heap_item *b)
{
    return a->key < b->key;
}

HEAP(heap_items, struct heap_item, heap_item_before)

/** False on lack of memory; the heap is then as it was. Time O(log n). */
static inline bool heap_push(struct heap *h, struct heap_item item)
{
    if (!vec_reserve(h->items, h->cap, h->n + 1))
        return false;
    heap_items_push(h->items, h->n++, item);
    return true;
}

/** Take the item with the least key; n >= 1. Time O(log n). */
static inline struct heap_item heap_pop(struct heap *h)
{
    assert(h->n > 0);
    return heap_items_pop(h->items, h->n--);
}

static inline void heap_free(struct heap *h)
{
    free(h->items);
    *h = (struct heap){ 0 };
}

#endif
