/*
 * Dates of things that are numbered: the earliest first, of equal times the lowest number, so that the order
 * of events never depends on how they were inserted. A date can be moved or withdrawn, in O(log n): place[]
 * says where in the heap each number stands, -1 while it has no date. Built on the tracked heap of
 * base/heap.h.
 */
#include "sim/event_heap.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/heap.h"

static bool event_heap_before(const struct event_date *a, const struct event_date *b)
{
    return (a->time_s < b->time_s) | (!(b->time_s < a->time_s) & (a->id < b->id));
}

static void event_heap_moved(struct event_heap *h, const struct event_date *date, int64_t at)
{
    h->place[date->id] = (int32_t)at;
}

HEAP_TRACKED(event_dates, struct event_date, event_heap_before, struct event_heap *, event_heap_moved)

/* Give @p id a date, or move the one it has. place[] grows to the highest number seen. */
int event_heap_set(struct event_heap *h, int32_t id, double time_s, struct err *e)
{
    int32_t cap_ids = h->cap_ids;
    if (!vec_reserve(h->place, h->cap_ids, (int64_t)id + 1))
        return err_nomem(e, "events");
    for (int32_t i = cap_ids; i < h->cap_ids; i++)
        h->place[i] = -1;
    struct event_date date = { time_s, id };
    if (h->place[id] >= 0) {
        h->dates[h->place[id]] = date;
        event_dates_settle(h->dates, h->n, h->place[id], h);
        return 0;
    }
    if (!vec_reserve(h->dates, h->cap, h->n + 1))
        return err_nomem(e, "events");
    event_dates_push(h->dates, h->n++, date, h);
    return 0;
}

/* The last entry takes the free place and moves up or down from there. No date is no error. */
void event_heap_remove(struct event_heap *h, int32_t id)
{
    int32_t at = id < h->cap_ids ? h->place[id] : -1;
    if (at < 0)
        return;
    h->place[id] = -1;
    if (at == --h->n)
        return;
    h->dates[at] = h->dates[h->n];
    event_dates_settle(h->dates, h->n, at, h);
}

int32_t event_heap_first(const struct event_heap *h)
{
    return h->n ? h->dates[0].id : -1;
}

double event_heap_time(const struct event_heap *h)
{
    return h->n ? h->dates[0].time_s : (double)INFINITY;
}

void event_heap_free(struct event_heap *h)
{
    free(h->dates);
    free(h->place);
    *h = (struct event_heap){ 0 };
}
