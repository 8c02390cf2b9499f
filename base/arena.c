/*
 * Blocks in a list, newest first, each zeroed by calloc() and cut from the front. A request that the newest
 * block cannot hold opens another one, twice the size of the last up to 64 KiB or as large as the request;
 * the rest of the old block is given up. calloc() is what keeps a large arena cheap, since pages that come
 * from the system are zero already and are not touched until they are used.
 *
 * Nothing is ever given back singly, so there are no free lists, no headers per item and no order of
 * releasing.
 */

#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>

/* Blocks grow from the one to the other; what does not fit gets one of its own size. */
enum { LEAST_BLOCK = 1 << 10, MOST_BLOCK = 1 << 16 };

struct arena_block {
    struct arena_block *before;
    size_t used, size;                         /* bytes of room[] */
    alignas(max_align_t) unsigned char room[]; /* all 0 from `used` on */
};

static struct arena_block *block_add(struct arena *a, size_t need)
{
    /* A block made for one large request is not a step of the doubling: the next one starts from MOST_BLOCK
     * again. */
    size_t size = a->last ? 2 * a->last->size : LEAST_BLOCK;
    if (size > MOST_BLOCK)
        size = MOST_BLOCK;
    if (size < need)
        size = need;
    struct arena_block *b = size <= SIZE_MAX - sizeof *b ? calloc(1, sizeof *b + size) : NULL;
    if (!b)
        return NULL;
    b->before = a->last;
    b->size = size;
    a->last = b;
    return b;
}

void *arena_take(struct arena *a, size_t n, size_t size)
{
    const size_t unit = alignof(max_align_t);
    /* Rounding to the strictest alignment lets one arena hold any type; `unit` is kept free for the rounding
     * itself. */
    if (n > (SIZE_MAX - unit) / size)
        a->failed = true;
    size_t need = a->failed ? 0 : (n * size + unit - 1) / unit * unit;
    struct arena_block *b = a->last;
    if (!a->failed && (!b || b->size - b->used < need))
        b = block_add(a, need);
    if (a->failed || !b) {
        a->failed = true;
        return NULL;
    }
    b->used += need;
    return b->room + b->used - need;
}

int arena_check(const struct arena *a, const char *what, struct err *e)
{
    return a->failed ? err_nomem(e, what) : 0;
}

void arena_free(struct arena *a)
{
    for (struct arena_block *b = a->last; b;) {
        struct arena_block *before = b->before;
        free(b);
        b = before;
    }
    *a = (struct arena){ 0 };
}
