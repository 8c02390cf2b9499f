#include "base/array.h"

#include <stdlib.h>

enum { FIRST_CAP = 16 };

void *array_grow(void *items, int32_t n, int32_t *cap, size_t size)
{
    if (n < *cap)
        return items;
    if (*cap > INT32_MAX / 2)
        return NULL;
    int32_t larger = *cap ? 2 * *cap : FIRST_CAP;
    void *grown = realloc(items, (size_t)larger * size);
    if (grown)
        *cap = larger;
    return grown;
}
