/**
 * @file Plans, each laid in one way, that may be best on some network of the same sizes: written down once,
 * and kept beside a book for all networks that differ in shapes and latencies alone.
 */
#ifndef KINDS_DESIGN_EXPLORE_SHORTLIST_H
#define KINDS_DESIGN_EXPLORE_SHORTLIST_H

#include "kinds/design/explore/space.h"

/** A plan and one of its places. */
struct search_pair {
    double bound;    /**< no split of it takes less on any of the networks */
    double memory_B; /**< as the next, of struct search_candidate */
    int64_t rank;
    struct search_choice choice;
    uint8_t order[N_PLAN_AXES];
    float bw_Bps[TOPO_MAX_DIMS]; /**< about where the bound is found */
};

/** All pairs whose bound is at most `most`, ascending; does not change once it is kept. */
struct shortlist {
    uint64_t key;              /**< of all that bounds depend on, beside the book */
    double most;               /**< < 0: nothing is written yet */
    double asked;              /**< by the first question */
    struct search_pair *pairs; /**< shape [n], owned */
    int32_t n, cap;
    bool failed;             /**< no memory */
    struct shortlist *older; /**< that was kept under the key: others may be reading it */
};

/** Add a pair; lack of memory is noted. */
void shortlist_add(struct shortlist *list, const struct search_pair *pair);
void shortlist_sort(struct shortlist *list);
void shortlist_free(struct shortlist *list); /**< NULL is fine */

/** Opaque; threads may share one. NULL: no memory. */
struct shortlists *shortlists_new(void);
void shortlists_free(struct shortlists *all); /**< NULL is fine */
/** The last that was kept under @p key, or asked for; NULL: none. */
const struct shortlist *shortlists_find(struct shortlists *all, uint64_t key);
/** Ask for a list up to @p most, which the next question is to write; nothing where there is one. */
void shortlists_ask(struct shortlists *all, uint64_t key, double most);
/** Keep a list, which is owned from then on. False: there is no room, and the caller still owns it. */
bool shortlists_keep(struct shortlists *all, struct shortlist *list);

#endif
