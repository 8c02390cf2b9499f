#include "sim/astra/astra_event.h"

#include <stdlib.h>

#include "base/heap.h"

static bool event_before(const struct sim_astra_event *a, const struct sim_astra_event *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

HEAP(events, struct sim_astra_event, event_before)

bool sim_astra_events_add(struct sim_astra_events *q, int64_t at_ns, int32_t kind, int32_t id)
{
    if (!vec_reserve(q->heap, q->cap, q->n + 1))
        return false;
    events_push(q->heap, q->n++, (struct sim_astra_event){ at_ns, q->order++, kind, id });
    return true;
}

bool sim_astra_events_next(struct sim_astra_events *q, struct sim_astra_event *out)
{
    if (q->n == 0)
        return false;
    *out = events_pop(q->heap, q->n--);
    return true;
}

void sim_astra_events_free(struct sim_astra_events *q)
{
    free(q->heap);
    *q = (struct sim_astra_events){ 0 };
}
