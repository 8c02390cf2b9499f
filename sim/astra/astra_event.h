/** @file Private to sim/astra*: events by time; those of one time in the order in which they were made. */
#ifndef SIM_ASTRA_EVENT_H
#define SIM_ASTRA_EVENT_H

#include <stdbool.h>
#include <stdint.h>

struct sim_astra_event {
    int64_t at_ns, order;
    int32_t kind, id; /**< the caller's */
};

/** A binary heap. Zero-initialise; release with sim_astra_events_free(). */
struct sim_astra_events {
    struct sim_astra_event *heap; /**< shape [n], owned */
    int32_t n, cap;
    int64_t order; /**< of the next event */
};

/** False on lack of memory, and then nothing is added. O(log n). */
bool sim_astra_events_add(struct sim_astra_events *q, int64_t at_ns, int32_t kind, int32_t id);
/** The first event; false when there is none. O(log n). */
bool sim_astra_events_next(struct sim_astra_events *q, struct sim_astra_event *out);
void sim_astra_events_free(struct sim_astra_events *q);

#endif
