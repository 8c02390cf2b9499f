/**
 * @file Plans, each laid in one way, that may be best on some network of the same sizes: written down once,
 * and kept beside a book for all networks that differ in shapes and latencies alone.
 */
#ifndef KINDS_DESIGN_EXPLORE_SHORTLIST_H
#define KINDS_DESIGN_EXPLORE_SHORTLIST_H

#include "kinds/design/explore/clock.h"
#include "kinds/design/explore/space.h"

/** A plan and one of its places. */
struct search_pair {
    double bound;    /**< no split of it takes less on any of the networks */
    double memory_B; /**< as the next, of struct search_candidate */
    int64_t rank;
    struct search_choice choice;
    uint8_t order[N_PLAN_AXES];
    uint16_t bw[TOPO_MAX_DIMS]; /**< about where the bound is found, as shortlist_pack_Bps() says it */
    struct search_path path;    /**< that it was found by */
};

enum { SHORTLISTS_MOST = 1 << 22 /**< pairs: 600 MB */ };

/** A bandwidth of 64 kB/s to 280 TB/s to 11 bits, and back; what is beyond is at the end of the range. */
uint16_t shortlist_pack_Bps(double bw_Bps);
double shortlist_unpack_Bps(uint16_t bw);

/** All pairs whose bound is at most `most`, ascending; but for `readers` it does not change once it is kept.
 */
struct shortlist {
    uint64_t key;              /**< of all that bounds depend on, beside the book */
    double most;               /**< < 0: nothing is written yet */
    struct search_pair *pairs; /**< shape [n], owned */
    int32_t n, cap;
    bool failed;     /**< no memory */
    int32_t readers; /**< a list that was replaced goes with the last of them */
    bool replaced;
};

/** Add a pair; lack of memory is noted. */
void shortlist_add(struct shortlist *list, const struct search_pair *pair);
void shortlist_sort(struct shortlist *list);
void shortlist_free(struct shortlist *list); /**< NULL is fine */

/** Opaque; threads may share one. NULL: no memory. */
struct shortlists *shortlists_new(void);
void shortlists_free(struct shortlists *all); /**< NULL is fine */
/** The last that was kept under @p key, or asked for, to be left again; NULL: none. */
struct shortlist *shortlists_find(struct shortlists *all, uint64_t key);
/** It is no longer read; NULL is fine. */
void shortlists_leave(struct shortlists *all, struct shortlist *list);
/** Pairs of all lists, at most SHORTLISTS_MOST; NULL has none. */
int64_t shortlists_count(struct shortlists *all);
/** Is there no room for more, so that no list is to be written? */
bool shortlists_are_full(struct shortlists *all);
/** Were lists read as often as they were asked for, so that one may be written that nobody asked for yet? */
bool shortlists_are_read(struct shortlists *all);
/** Ask for a list, which the next question is to write; nothing where there is one. */
void shortlists_ask(struct shortlists *all, uint64_t key);
/** Keep a list, which is owned from then on; the caller reads it, and leaves it again. False: there is no
 * room, or one goes as far, and the caller still owns it. */
bool shortlists_keep(struct shortlists *all, struct shortlist *list);

#endif
