#include "base/heap.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"

bool heap_push(struct heap *h, struct heap_item item)
{
    struct heap_item *grown = array_grow(h->items, h->n, &h->cap, sizeof *grown);
    if (!grown)
        return false;
    h->items = grown;
    int32_t at = h->n++;
    for (; at > 0 && item.key < h->items[(at - 1) / 2].key; at = (at - 1) / 2)
        h->items[at] = h->items[(at - 1) / 2];
    h->items[at] = item;
    return true;
}

struct heap_item heap_pop(struct heap *h)
{
    assert(h->n > 0);
    struct heap_item top = h->items[0], last = h->items[--h->n];
    int32_t at = 0;
    for (int64_t child = 1; child < h->n; child = 2 * (int64_t)at + 1) {
        if (child + 1 < h->n && h->items[child + 1].key < h->items[child].key)
            child++;
        if (h->items[child].key >= last.key)
            break;
        h->items[at] = h->items[child];
        at = (int32_t)child;
    }
    h->items[at] = last;
    return top;
}

void heap_free(struct heap *h)
{
    free(h->items);
    *h = (struct heap){ 0 };
}
