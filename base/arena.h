/**
 * @file Memory for what is built together and released together: a run, a model, a result.
 *
 * Taking never fails half-way: on lack of memory the arena notes it and gives NULL from then on, and whoever
 * builds asks once, at the end, before anything is read or written:
 *
 *     x->jobs = ARENA_TAKE(&x->arena, n, *x->jobs);
 *     x->order = ARENA_TAKE(&x->arena, n, *x->order);
 *     int rc = arena_check(&x->arena, "a run of jobs", e);
 *
 * Not for what grows, or ends before the rest: base/vec.h. Not for use by several threads at once: each run
 * has an arena of its own, so none is locked.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct arena_block; /* private */

/** `= { 0 }` is empty. Release with arena_free(). */
struct arena {
    struct arena_block *last; /**< blocks, newest first, owned */
    bool failed; /**< memory was lacking once; NULL is all that arena_take() gives from then on */
};

/**
 * Room for @p n items of the type of @p item (which is not read), all bytes 0; of none, an address all the
 * same. NULL once memory was lacking. Aligned for any type; O(bytes) for the zeros, else O(1). The address
 * stays valid until arena_free(): nothing moves, so what is taken may point into what was taken before.
 */
#define ARENA_TAKE(arena, n, item) arena_take(arena, (size_t)(n), sizeof(item))
void *arena_take(struct arena *a, size_t n, size_t size);

/**
 * ERR_NOMEM for @p what if memory was lacking, else 0. One call covers everything taken since the arena was
 * empty, as `failed` never goes back.
 */
int arena_check(const struct arena *a, const char *what, struct err *e);

/** All that was taken is gone; the arena is empty again. */
void arena_free(struct arena *a);

#endif
