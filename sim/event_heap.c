#include "sim/event_heap.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static bool before(const struct event_heap *h, int32_t a, int32_t b)
{
    return h->time_s[a] < h->time_s[b] || (!(h->time_s[b] < h->time_s[a]) && a < b);
}

static void put(struct event_heap *h, int32_t at, int32_t id)
{
    h->order[at] = id;
    h->place[id] = at;
}

/* Move the event at `at` to where it belongs. */
static void settle(struct event_heap *h, int32_t at)
{
    int32_t id = h->order[at];
    while (at > 0 && before(h, id, h->order[(at - 1) / 2])) {
        put(h, at, h->order[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (;;) {
        int32_t child = 2 * at + 1;
        if (child + 1 < h->n && before(h, h->order[child + 1], h->order[child]))
            child++;
        if (child >= h->n || !before(h, h->order[child], id))
            break;
        put(h, at, h->order[child]);
        at = child;
    }
    put(h, at, id);
}

static int reserve(struct event_heap *h, int32_t id, struct err *e)
{
    int32_t cap = h->cap_ids ? h->cap_ids : 16;
    while (cap <= id)
        cap = cap > INT32_MAX / 2 ? INT32_MAX : 2 * cap;
    double *time_s = realloc(h->time_s, (size_t)cap * sizeof *time_s);
    h->time_s = time_s ? time_s : h->time_s;
    int32_t *place = realloc(h->place, (size_t)cap * sizeof *place);
    h->place = place ? place : h->place;
    int32_t *order = realloc(h->order, (size_t)cap * sizeof *order);
    h->order = order ? order : h->order;
    if (!time_s || !place || !order)
        return err_nomem(e, "events");
    for (int32_t i = h->cap_ids; i < cap; i++)
        h->place[i] = -1;
    h->cap_ids = cap;
    return 0;
}

int event_heap_set(struct event_heap *h, int32_t id, double time_s, struct err *e)
{
    int rc = id < h->cap_ids ? 0 : reserve(h, id, e);
    if (rc)
        return rc;
    h->time_s[id] = time_s;
    if (h->place[id] < 0)
        put(h, h->n++, id);
    settle(h, h->place[id]);
    return 0;
}

void event_heap_remove(struct event_heap *h, int32_t id)
{
    int32_t at = id < h->cap_ids ? h->place[id] : -1;
    if (at < 0)
        return;
    h->place[id] = -1;
    int32_t last = h->order[--h->n];
    if (last == id)
        return;
    put(h, at, last);
    settle(h, at);
}

int32_t event_heap_first(const struct event_heap *h)
{
    return h->n ? h->order[0] : -1;
}

double event_heap_time(const struct event_heap *h)
{
    return h->n ? h->time_s[h->order[0]] : (double)INFINITY;
}

void event_heap_free(struct event_heap *h)
{
    free(h->time_s);
    free(h->place);
    free(h->order);
    *h = (struct event_heap){ 0 };
}
