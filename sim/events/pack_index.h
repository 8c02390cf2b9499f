/** @file Servers by how many GPUs a job can have of each. For pack*.c only. */
#ifndef SIM_EVENTS_PACK_INDEX_H
#define SIM_EVENTS_PACK_INDEX_H

#include "base/bits.h"
#include "base/err.h"

/** `= { 0 }` before pack_index_build(); release with pack_index_free(). */
struct pack_index {
    int32_t n_servers, most; /**< GPUs of the largest server */
    struct bits *with;       /**< shape [most + 1], owned: servers with so many; [0] stays empty */
    struct bits any;         /**< servers with at least one */
    int32_t *count;          /**< shape [most + 1], owned: members of with[f] */
    int32_t *room;           /**< shape [n_servers], owned: GPUs of each, 0 outside */
    int64_t total;           /**< sum of room */
};
int pack_index_build(struct pack_index *x, int32_t n_servers, int32_t most, struct err *e);
void pack_index_free(struct pack_index *x);

/** Server @p s has @p room from now on, 0 to most. O(1). */
void pack_index_set(struct pack_index *x, int32_t s, int32_t room);

/** The fewest GPUs from @p from on that some server has, or -1. O(most). */
int32_t pack_index_tightest(const struct pack_index *x, int32_t from);

#endif
