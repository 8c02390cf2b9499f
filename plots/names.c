#include "plots/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int32_t names_find(const struct names *n, const char *name)
{
    for (int32_t i = 0; i < n->n; i++)
        if (strcmp(n->list[i], name) == 0)
            return i;
    return -1;
}

static int32_t append(struct names *n, const char *name)
{
    const char **list = array_grow(n->list, n->n, &n->cap, sizeof *list);
    if (!list)
        return -1;
    n->list = list;
    n->list[n->n] = name;
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
    *n = (struct names){ 0 };
}

void names_free_copies(struct names *n)
{
    for (int32_t i = 0; i < n->n; i++)
        free((void *)n->list[i]);
    names_free(n);
}
