/** @file A heap of numbered items with whole-number keys: the least key first. */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct heap_item {
    int64_t key; /**< distinct keys give one order; that of equal ones is not said */
    int32_t id, value;
};

/** `= { 0 }` is empty. Release with heap_free(). */
struct heap {
    struct heap_item *items; /**< shape [n], owned */
    int32_t n, cap;
};

/** False on lack of memory; the heap is then as it was. Time O(log n). */
bool heap_push(struct heap *h, struct heap_item item);
/** Take the item with the least key; n >= 1. Time O(log n). */
struct heap_item heap_pop(struct heap *h);
void heap_free(struct heap *h);

#endif
