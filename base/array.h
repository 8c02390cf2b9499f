/** @file Arrays that grow by doubling. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/**
 * Room for one more than @p n items of @p size bytes.
 *
 *     struct x *grown = array_grow(a->items, a->n, &a->cap, sizeof *grown);
 *     if (!grown)
 *         return err_nomem(e, "items");
 *     a->items = grown;
 *
 * @param items    the array so far; NULL with *cap 0 to begin
 * @param[in,out] cap  items there is room for
 * @return the array, moved where need be; NULL on lack of memory, and then @p items
 *         and @p cap are as they were. Amortised O(1).
 */
void *array_grow(void *items, int32_t n, int32_t *cap, size_t size);

#endif
