/** @file A queue of numbered events by time, of which any can be moved or taken out. */
#ifndef SIM_EVENT_HEAP_H
#define SIM_EVENT_HEAP_H

#include <stdint.h>

#include "base/err.h"

/** Zero-initialise; release with event_heap_free(). Events are small numbers given by the caller. */
struct event_heap {
    struct event_date {
        double time_s;
        int32_t id;
    } * dates;      /**< shape [n], owned; a heap, the earliest first, of equals the lowest number */
    int32_t *place; /**< shape [cap_ids], owned; of an event in `dates`, -1 = not queued */
    int32_t n, cap, cap_ids;
};

/** Queue event @p id >= 0 at @p time_s, or move it there. ERR_NOMEM. Amortised O(log n). */
int event_heap_set(struct event_heap *h, int32_t id, double time_s, struct err *e);
/** Take an event out; one that is not queued is left alone. O(log n). */
void event_heap_remove(struct event_heap *h, int32_t id);
/** The earliest event, -1 when there is none. O(1). */
int32_t event_heap_first(const struct event_heap *h);
/** Its time; INFINITY when there is none. */
double event_heap_time(const struct event_heap *h);
void event_heap_free(struct event_heap *h);

#endif
