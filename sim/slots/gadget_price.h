/** @file The best ring for one job at given prices. */
#ifndef SIM_SLOTS_GADGET_PRICE_H
#define SIM_SLOTS_GADGET_PRICE_H

#include "sim/slots/elastic.h"
#include "sim/slots/gadget_fabric.h"

enum {
    GADGET_SEARCH_STEPS = 1 << 21, /**< of one search: a few milliseconds */
};

/** Servers of a ring in its order and their workers; n = 0: none. */
struct gadget_ring {
    int32_t n, workers_total;
    int32_t servers[ELASTIC_MAX_WORKERS], workers[ELASTIC_MAX_WORKERS];
};

/** What a job is offered. */
struct gadget_offer {
    const struct elastic_job *job; /**< borrowed */
    const double *gain;            /**< shape [most + 1]: what a ring of so many workers is worth; borrowed */
    int32_t least, most;           /**< workers, 1 <= least; a job with least > most gets nothing */
    double floor;                  /**< rings worth no more after their price do not count */
    bool search; /**< go beyond the relaxation where it does not decide, as far as steps are left */
};

/** What was found. */
struct gadget_found {
    double worth;            /**< gain less price of the ring; -INFINITY without one */
    double most;             /**< no ring is worth more, or none is worth more than the floor */
    bool exact;              /**< it is the best one, or none is above the floor */
    struct gadget_ring ring; /**< fits what is left, hop by hop */
};

/** Room for the search; one a thread. */
struct gadget_pricer {
    const struct gadget_prices *prices; /**< borrowed */
    int32_t most_workers;
    int64_t steps; /**< that searches may still take; callers refill it */
    /* Of the job at hand. */
    const struct gadget_offer *offer;
    double *price; /**< shape [n_servers], of a worker */
    double
        *visit;   /**< shape [n_servers], of a hop in and a hop out on its own links; INFINITY: has no room */
    int32_t *cap; /**< shape [n_servers], workers that fit */
    double *single;  /**< shape [most_workers + 1], least price of so many on one server */
    double *zone;    /**< shape [n_zones][most_workers + 1], of so many in a rack */
    double *set;     /**< shape [2^n_zones][most_workers + 1], of so many in the racks of a set, no tour */
    double *spread;  /**< shape [most_workers + 1], of so many where every server pays its hops */
    double *least;   /**< shape [most_workers + 1], no ring is cheaper */
    int16_t *choice; /**< shape [n_servers][most_workers + 1], in the order of zones */
    bool *tried;     /**< shape [most_workers + 1] */
    /* Of the search. */
    int64_t left;              /**< steps of this one */
    int32_t *usable, n_usable; /**< shape [n_servers] */
    double *hop;               /**< shape [n_servers][n_servers], between usable ones */
    double *rest;  /**< shape [most_workers + 1][n_servers]: least price of so many more, and the way home */
    double *enter; /**< shape [n_servers], of a server and what comes after it */
    bool *on_path; /**< shape [n_servers] */
    struct gadget_ring path;
};

/** @param most_workers  of any job. ERR_NOMEM. */
int gadget_pricer_build(struct gadget_pricer *x, const struct gadget_prices *prices, int32_t most_workers,
                        struct err *e);
void gadget_pricer_free(struct gadget_pricer *x);

/**
 * The ring of offer->least..most workers that is worth most: gain less the price of its workers and, on
 * several servers, of its hops.
 *
 * First a relaxation for all sizes at once: a knapsack over the servers of each rack (workers up to what
 * fits, each server pays a hop out and a hop in on its own links), and over sets of racks, each with its
 * cheapest tour. Where the ring that it names costs what it says, that is the answer. On a two-level fabric
 * it does, unless the core is priced against the triangle inequality or has no room for the job somewhere; on
 * others, unless paths cost more than what every path of their servers does, or have no room.
 *
 * Else, and if asked to, a search by branch and bound over rings that visit no server twice, under closed
 * walks that may (dynamic programme over servers and workers), ends the question within GADGET_SEARCH_STEPS
 * and x->steps, or leaves `most` as the relaxation has it. (The walks alone, as a programme of their own,
 * would forget how many workers a server has room for: they come back to it.)
 *
 * `most` is thus always a true bound, whatever the floor; `exact` says that it is met. Hops that share a link
 * are each checked for room, not together.
 *
 * O(n_servers K^2 + 2^racks K^2), K = offer->most; the search O(n_servers^3 K) and more, up to the budget.
 */
void gadget_price(struct gadget_found *out, struct gadget_pricer *x, const struct gadget_offer *offer);

/* ---- between gadget_price.c and gadget_search.c ---- */

/** Price of the hop from server @p u to @p v; INFINITY where it has no room. */
double gadget_hop(const struct gadget_pricer *x, int32_t u, int32_t v);
/** Better rings than out->worth and the floor, by branch and bound. True when none is left unseen. */
bool gadget_search(struct gadget_found *out, struct gadget_pricer *x);

#endif
