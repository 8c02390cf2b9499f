#include "sim/astra/astra_event.h"

#include <stdlib.h>

#include "base/array.h"

static bool before(const struct sim_astra_event *a, const struct sim_astra_event *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

bool sim_astra_events_add(struct sim_astra_events *q, int64_t at_ns, int32_t kind, int32_t id)
{
    struct sim_astra_event *grown = array_grow(q->heap, q->n, &q->cap, sizeof *grown);
    if (!grown)
        return false;
    q->heap = grown;
    struct sim_astra_event new = { at_ns, q->order++, kind, id };
    int32_t i = q->n++;
    for (; i > 0 && before(&new, &q->heap[(i - 1) / 2]); i = (i - 1) / 2)
        q->heap[i] = q->heap[(i - 1) / 2];
    q->heap[i] = new;
    return true;
}

bool sim_astra_events_next(struct sim_astra_events *q, struct sim_astra_event *out)
{
    if (q->n == 0)
        return false;
    *out = q->heap[0];
    struct sim_astra_event last = q->heap[--q->n];
    int64_t i = 0, child;
    while ((child = 2 * i + 1) < q->n) {
        if (child + 1 < q->n && before(&q->heap[child + 1], &q->heap[child]))
            child++;
        if (!before(&q->heap[child], &last))
            break;
        q->heap[i] = q->heap[child];
        i = child;
    }
    q->heap[i] = last;
    return true;
}

void sim_astra_events_free(struct sim_astra_events *q)
{
    free(q->heap);
    *q = (struct sim_astra_events){ 0 };
}
