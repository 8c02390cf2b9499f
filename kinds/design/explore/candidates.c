/*
 * The best of the candidates that searches of plans visit: less value, then less memory, then the lower rank,
 * so that the order in which threads find them changes nothing.
 */
#include "kinds/design/explore/candidates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int search_best_reserve(struct search_best *b, int32_t most, double margin, struct err *e)
{
    *b = (struct search_best){ .most = most,
                               .last = incumbent_none(margin),
                               .found = calloc((size_t)most, sizeof *b->found) };
    return b->found ? 0 : err_nomem(e, "a search");
}

void search_best_free(struct search_best *b)
{
    free(b->found);
    *b = (struct search_best){ 0 };
}

/* Less value, then less memory, then earlier. */
bool search_is_better(const struct search_found *a, const struct search_found *b)
{
    if (a->value < b->value || a->value > b->value)
        return a->value < b->value;
    if (a->memory_B < b->memory_B || a->memory_B > b->memory_B)
        return a->memory_B < b->memory_B;
    return a->rank < b->rank;
}

/* Sorted insertion; plans of equal value keep the lower rank, whatever thread found them. */
void search_best_add(struct search_best *b, const struct search_found *f)
{
    int32_t at = b->n;
    for (int32_t i = 0; i < b->n; i++)
        if (b->found[i].rank == f->rank)
            return;
    if (b->n == b->most && !search_is_better(f, &b->found[b->n - 1]))
        return;
    while (at > 0 && search_is_better(f, &b->found[at - 1]))
        at--;
    int32_t moved = b->n - at - (b->n == b->most);
    memmove(&b->found[at + 1], &b->found[at], (size_t)moved * sizeof *f);
    b->found[at] = *f;
    b->n += b->n < b->most;
    if (b->n == b->most)
        b->last.value = b->found[b->n - 1].value;
}

struct search_found search_found_of(const struct search_candidate *c)
{
    struct search_found f = { .plan = *c->plan, .memory_B = c->memory_B, .rank = c->rank };
    memcpy(f.plan.order, c->order, sizeof f.plan.order);
    return f;
}
