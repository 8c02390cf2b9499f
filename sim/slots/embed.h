/** @file Rings placed greedily: what schedulers without a programme of their own do with a number of workers.
 */
#ifndef SIM_SLOTS_EMBED_H
#define SIM_SLOTS_EMBED_H

#include "sim/slots/elastic.h"

/** One ring being put together, and room to do it in; one a thread. Release with embed_free(). */
struct embed {
    int32_t *order;             /**< shape [n_servers], owned */
    int32_t *room;              /**< shape [n_servers], workers that fit; owned */
    int64_t *sums;              /**< shape [n_servers], the same of a group of servers; owned */
    int32_t *servers, *workers; /**< shape [n], the ring; owned */
    int32_t n;
};
/** @param[out] x  uninitialised; on failure empty and safe to free. 0 or ERR_NOMEM. */
int embed_build(struct embed *x, const struct cluster *c, struct err *e);
void embed_free(struct embed *x);

/**
 * Find a ring of @p workers workers of @p job in @p room; *found false when this greedy search has none.
 *
 * On one server if one has room for all: the one with the least room, of equals the lowest number. Else in
 * a group of near servers that has room (cluster.group, innermost level first, of a level the lowest number
 * first), on the servers with the most room there; the ring visits them by group, so that near ones are
 * neighbours. A group in which that ring finds its links too full is passed over, so that one ring is tried
 * in each group: where another one fits (round a full link, on less roomy servers) it is missed.
 * O(levels * servers + servers * groups tried * servers of the ring).
 * @return 0 or ERR_NOMEM. The ring is x->servers, x->workers, x->n.
 */
int embed_find(bool *found, struct embed *x, struct elastic_room *room, const struct elastic_job *job,
               int32_t workers, struct err *e);

/**
 * Give @p job, whose ring in @p room is @p servers, @p counts, @p n (n 0: none), one worker more, which moves
 * none of the others: on a server of the ring with room, else on one that is near to the first of the ring
 * (cluster.group, innermost level first, of a level the lowest number first). *found false when nothing fits.
 * The larger ring is x->servers, x->workers, x->n; the room holds the old one again.
 */
int embed_grow(bool *found, struct embed *x, struct elastic_room *room, const struct elastic_job *job,
               const int32_t *servers, const int32_t *counts, int32_t n, struct err *e);

#endif
