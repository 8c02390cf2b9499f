#include "plots/names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

/* Where the name is, or the free slot where it would be. Slots are a power of two, never all taken. */
static int32_t find_slot(const struct names *n, const char *name)
{
    int32_t mask = n->n_slots - 1,
            i = (int32_t)(text_hash(TEXT_HASH_SEED, name, strlen(name)) & (unsigned)mask);

    while (n->slots[i] > 0 && strcmp(n->list[n->slots[i] - 1], name) != 0)
        i = (i + 1) & mask;
    return i;
}

int32_t names_find(const struct names *n, const char *name)
{
    return n->n_slots > 0 ? n->slots[find_slot(n, name)] - 1 : -1;
}

/* Twice as many slots, so that half of them are free. */
static bool grow_slots(struct names *n)
{
    struct names grown = { .list = n->list, .n = n->n, .n_slots = n->n_slots ? 2 * n->n_slots : 16 };

    grown.slots = calloc((size_t)grown.n_slots, sizeof *grown.slots);
    if (!grown.slots)
        return false;
    for (int32_t i = 0; i < n->n; i++)
        grown.slots[find_slot(&grown, n->list[i])] = i + 1;
    free(n->slots);
    n->slots = grown.slots;
    n->n_slots = grown.n_slots;
    return true;
}

static int32_t append(struct names *n, const char *name)
{
    if (2 * (n->n + 1) > n->n_slots && !grow_slots(n))
        return -1;
    const char **list = array_grow(n->list, n->n, &n->cap, sizeof *list);
    if (!list)
        return -1;
    n->list = list;
    n->list[n->n] = name;
    n->slots[find_slot(n, name)] = n->n + 1;
    return n->n++;
}

int32_t names_add(struct names *n, const char *name)
{
    int32_t at = names_find(n, name);
    return at >= 0 ? at : append(n, name);
}

int32_t names_add_copy(struct names *n, const char *name)
{
    int32_t at = names_find(n, name);
    if (at >= 0)
        return at;
    char *copy = strdup(name);
    at = copy ? append(n, copy) : -1;
    if (at < 0)
        free(copy);
    return at;
}

void names_free(struct names *n)
{
    free(n->list);
    free(n->slots);
    *n = (struct names){ 0 };
}

void names_free_copies(struct names *n)
{
    for (int32_t i = 0; i < n->n; i++)
        free((void *)n->list[i]);
    names_free(n);
}
