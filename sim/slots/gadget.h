/**
 * @file GADGET's programme of a slot, arXiv 2202.01158: maximise the sum of pi_ik x_ir over the
 * rings r of every active job i, at most one ring a job, servers and links within their capacities.
 *
 * There are too many rings to list, so columns are found as they are needed. A ring of k workers is worth
 * pi_ik less what it pays by the simplex's prices: for each worker on its server, for each hop on the
 * servers' own links and in the core between them. The pricer bounds that from above by relaxations over
 * servers, racks and sets of racks, names a ring, and where the two differ searches all rings (gadget.c).
 * What no ring exceeds proves the programme's value.
 */
#ifndef SIM_SLOTS_GADGET_H
#define SIM_SLOTS_GADGET_H

#include "base/simplex.h"
#include "sim/cluster/cluster.h"
#include "sim/slots/slots.h"

enum { GADGET_MAX_RACKS = 8 };

/**
 * A hop from server u to v crosses u's own link, the core between the nodes that u and v hang on, and v's own
 * link.
 *
 * On a fabric of two levels a node is the switch of a rack, and servers of a rack are joined by their own
 * links alone. On any other network each server is a node, has no link of its own, and a hop is its path.
 */
struct gadget_fabric {
    struct arena arena;            /**< of the arrays below */
    const struct cluster *cluster; /**< borrowed */
    bool racks;                    /**< two levels */
    int32_t n_nodes;               /**< racks, or servers */
    int32_t *node;                 /**< shape [n_servers], owned */
    int32_t *out_arc, *in_arc;     /**< shape [n_servers], own link of a server; -1 without racks. Owned */
    int64_t *core_first;           /**< shape [n_nodes^2 + 1], arcs of the core from node a to b; owned */
    int32_t *core_arcs;
    /** Servers in the order of their zones: racks, or all of them in one. Owned. */
    int32_t n_zones;
    int32_t *zone_first; /**< shape [n_zones + 1] */
    int32_t *zone_servers;
};

/**
 * @param racks  use two levels where the cluster has them: every server hangs on one switch, on at most
 *               GADGET_MAX_RACKS of them, and the path between two servers depends on their switches only
 * @return 0, ERR_NOMEM, or ERR_UNSUP for a cluster that keeps no paths. O(servers^2 * path).
 */
int gadget_fabric_build(struct gadget_fabric *f, const struct cluster *c, bool racks, struct err *e);
void gadget_fabric_free(struct gadget_fabric *f);

/** What a ring pays and what is left for it. Release with gadget_prices_free(). */
struct gadget_prices {
    struct arena arena;                 /**< of the arrays below */
    const struct gadget_fabric *fabric; /**< borrowed */
    double *worker;                     /**< shape [n_servers][n_resources], of a unit of a resource, >= 0 */
    double *left;                       /**< same shape, units */
    /** Of a B/s out of a server, into one and across the core between nodes [n_nodes][n_nodes], >= 0. Without
     * racks, `out` and `in` are what every path of the server pays at least, `core` is the rest. */
    double *out, *in, *core;
    double *out_Bps, *in_Bps, *core_Bps; /**< same shapes: what the narrowest link has left */
    /** Least price in the core of a closed walk through the zones of a set, by its bits: no order of visits
     * is cheaper. */
    double tour[1 << GADGET_MAX_RACKS];
};
/** All free and all left. ERR_NOMEM. */
int gadget_prices_build(struct gadget_prices *p, const struct gadget_fabric *f, struct err *e);
void gadget_prices_free(struct gadget_prices *p);

/** Prices from those of a unit of resources (shape [n_servers][n_resources]) and a B/s of arcs ([n_arcs]). */
void gadget_prices_set(struct gadget_prices *p, const double *worker, const double *arc);
/** What is left, same shapes. */
void gadget_prices_leave(struct gadget_prices *p, const double *left, const double *left_Bps);

/* ---- the best ring for one job at given prices ---- */

enum {
    GADGET_SEARCH_STEPS = 1 << 21, /**< of one search: a few milliseconds */
};

/** Servers of a ring in its order and their workers; n = 0: none. */
struct gadget_ring {
    int32_t n, workers_total;
    enum elastic_rate rate; /**< ELASTIC_INSIDE with one server */
    int32_t servers[ELASTIC_MAX_WORKERS], workers[ELASTIC_MAX_WORKERS];
};

/** What a job is offered. */
struct gadget_offer {
    const struct elastic_job *job; /**< borrowed */
    const double *gain;            /**< shape [most + 1]: what a ring of so many workers is worth; borrowed */
    int32_t least, most;           /**< workers, 1 <= least; a job with least > most gets nothing */
    enum elastic_rate rate;        /**< of rings on several servers; ELASTIC_INSIDE: on one server alone */
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
    struct arena arena;                 /**< of the arrays below */
    const struct gadget_prices *prices; /**< borrowed */
    int32_t most_workers;
    int64_t steps; /**< that searches may still take; callers refill it */
    /* Of the job at hand. */
    const struct gadget_offer *offer;
    double hop_Bps; /**< of each hop of its ring at the offer's rate */
    double *price;  /**< shape [n_servers], of a worker */
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

/* ---- GADGET's slot as a linear programme over rings, solved by generating them ---- */

/**
 * One ring of one job, a column. What it loads is a share of the row's capacity.
 *
 * Rows of the programme: resource r of server s is row s * n_resources + r, then arcs, all <= 1; then a row
 * for every job that ever was active, sum of its columns <= 1.
 */
struct gadget_column {
    int32_t job, n, workers_total;
    enum elastic_rate rate;
    int32_t first;            /**< of its servers */
    int32_t entry, n_entries; /**< of its loads */
    int32_t next;             /**< older column of the job, -1 = none */
    int32_t last_slot;        /**< that it had a share in, or was found in */
    double share;             /**< phi of the last solve */
};

/** Columns are kept from slot to slot: what was worth a look once tends to be so again. */
struct gadget_pool {
    struct gadget_column *columns; /**< shape [n], owned; number = column of the programme */
    int32_t n, cap;
    int32_t *servers, *workers; /**< shape [n_servers], owned */
    int32_t n_servers, cap_servers, cap_workers;
    int32_t *rows; /**< shape [n_entries], owned */
    double *loads;
    int32_t n_entries, cap_rows, cap_loads;
};

/** An active job in a slot. */
struct gadget_bid {
    int32_t job;
    int32_t most; /**< q_i: workers offered, 0 = none fits */
    /** Shape [most + 1] each, pi_ik over the slot's largest, by rate; all the same where the job offers none.
     * Borrowed. */
    const double *gain[N_ELASTIC_RATES];
    int32_t least_size, most_size; /**< sizes that the programme may use now; least > most: none */
};

/** The programme from slot to slot. Release with gadget_lp_free(). */
struct gadget_lp {
    struct arena arena;             /**< of the arrays below */
    const struct cluster *cluster;  /**< borrowed */
    const struct elastic_job *jobs; /**< shape [n_jobs], borrowed */
    int32_t n_jobs;
    struct gadget_fabric fabric;
    struct gadget_prices prices;
    struct gadget_pricer pricer;
    struct simplex *simplex;
    struct gadget_pool pool;
    int32_t n_kept;     /**< columns when the pool was cleared last */
    int32_t n_rows;     /**< of servers and arcs */
    int32_t n_job_rows; /**< that follow them */
    int32_t *job_row;   /**< shape [n_jobs], -1 = none yet; owned */
    int32_t *newest;    /**< shape [n_jobs], newest column of a job, -1 = none; owned */
    /* The slot. */
    int32_t slot;
    struct gadget_bid *bids; /**< shape [n_bids], owned */
    int32_t n_bids;
    int32_t *bid_of; /**< shape [n_jobs], -1 = not active; owned */
    double *gains;   /**< what bids borrow, shape [cap_gains], owned */
    int64_t cap_gains;
    double unit;   /**< the slot's largest gain; 0: nothing is worth anything */
    int32_t gamma; /**< largest q_i */
    /* Prices of the last solve, of a unit of a resource, shape [n_servers][n_resources], and of a B/s, shape
     * [n_arcs]; room for n_rows each, owned. */
    double *worker, *arc;
    /* Scratch. */
    struct gadget_found found, other; /**< other: at one rate */
    int32_t *row;                     /**< shape [n_rows + 1], rows of a ring and its job; owned */
    double *load;                     /**< shape [n_rows + 1], owned */
    double *sum;                      /**< shape [n_rows], 0 between rings; owned */
};

/** All arguments must outlive @p x. ERR_NOMEM; ERR_UNSUP of gadget_fabric_build(). */
int gadget_lp_build(struct gadget_lp *x, const struct cluster *c, const struct elastic_job *jobs,
                    int32_t n_jobs, bool rack_pricing, struct err *e);
void gadget_lp_free(struct gadget_lp *x);

/** Take the slot's jobs: their q_i and what rings are worth to them. ERR_NOMEM. */
int gadget_lp_open(struct gadget_lp *x, const struct elastic_slot *slot, struct err *e);

/**
 * Solve over all rings of the sizes that bids allow.
 *
 * @param[out] bound  no set of rings that fits is worth more (in units of `aim`, as gains are): the dual
 *                    value at the last prices, jobs at what pricing says is the most. Equals the programme's
 *                    value to about 1e-7 where pricing was exact.
 * @return 0, ERR_LIB or ERR_NOMEM.
 */
int gadget_lp_solve(double *bound, struct gadget_lp *x, struct err *e);

/** Step C of the paper: to each job the one size that has the largest pi_ik * chi_ik; none where all are 0.
 */
void gadget_lp_fix_sizes(struct gadget_lp *x);

/**
 * The best ring for a bid into x->found, over the rates that its job offers: on one server, then at all, a
 * half and a quarter of its bandwidth. @p offer says what gadget_price() asks but for job, gain and rate.
 */
void gadget_lp_price(struct gadget_lp *x, const struct gadget_bid *bid, struct gadget_offer offer);

/** Put a ring into the pool; *column is its number, or that of the same ring found before. ERR_NOMEM. */
int gadget_lp_add(int32_t *column, struct gadget_lp *x, int32_t job, const struct gadget_ring *ring,
                  struct err *e);

/** What column @p k is worth, in the slot's unit. */
static inline double gadget_column_gain(const struct gadget_lp *x, const struct gadget_column *k)
{
    return x->bids[x->bid_of[k->job]].gain[k->rate][k->workers_total];
}

/*
 * GADGET's slot problem: rings of workers by column generation and randomised rounding.
 */

/* ---- from shares of rings to rings: randomised rounding, and what it leaves offered again ---- */

/**
 * What the paper's rounding may load, over capacity; arXiv 2202.01158 after M. Rost, S. Schmid, arXiv
 * 1803.03622: beta_r = 1 + eps sqrt(2 Delta_r ln |V|), gamma = 1 + eps sqrt(2 Delta_E ln |E|), with
 * Delta = max over nodes (links) of the sum over jobs of (largest load of a ring / its largest single
 * demand)^2, and the least eps so that no single demand is more than eps of a capacity.
 *
 * Here |V| are the servers and |E| the arcs, each at least 3; a single demand is one worker, or one hop; a
 * ring of k workers puts at most min(k, what fits) on a server, one hop on the only link of a server and k on
 * any other.
 */
struct gadget_limits {
    double eps;
    double node_beta[CLUSTER_MAX_RESOURCES];
    double link_gamma;
};

/** A job's columns with a share, one after the other. */
struct gadget_share {
    int32_t column;
    double up_to; /**< sum of shares, this one included */
};

/** Room for rounding. Release with gadget_round_free(). */
struct gadget_round {
    struct arena arena;          /**< of the arrays below */
    struct gadget_lp *lp;        /**< borrowed */
    struct elastic_room room;    /**< scratch */
    int32_t *picked, *best;      /**< shape [n_bids]: column of a bid, -1 = none; owned */
    int32_t *order;              /**< shape [n_bids], in which bids are drawn; owned */
    int32_t *first;              /**< shape [n_bids + 1], into shares; owned */
    struct gadget_share *shares; /**< shape [first[n_bids]], owned */
    int32_t cap_shares;
    double *used; /**< shape [lp->n_rows], shares of capacity; owned */
};
/** ERR_NOMEM. */
int gadget_round_build(struct gadget_round *x, struct gadget_lp *lp, struct err *e);
void gadget_round_free(struct gadget_round *x);

/** For the ring sizes that bids have now. O(bids * (servers + arcs)). */
void gadget_round_limits(struct gadget_limits *out, struct gadget_round *x);

/**
 * Draw a ring, or none, for every bid with the programme's shares as probabilities; settings->seed and
 * the slot decide the draws. Into x->best goes
 *
 * - as a rule, the most valuable of settings->samples draws, in each of which jobs come in random order and
 *   a ring that no longer fits is skipped, so that nothing is overloaded;
 * - in the paper's mode, the first draw that is worth a third of @p value and within the limits; where there
 * is none, the draw that exceeds them least.
 *
 * @param value   the programme's, that was rounded
 * @param limits  NULL but in the paper's mode
 */
int gadget_round_draw(struct gadget_round *x, const struct elastic_settings *settings, double value,
                      const struct gadget_limits *limits, struct err *e);

/**
 * Offer what x->best leaves to bids that drew nothing: the most valuable ring that fits, of about equal ones
 * the one that is cheaper at the programme's last prices. Those come first that gain most for their dominant
 * share of the cluster: in a crowded version of the paper's experiment (50 servers, 70 GPUs, 100 jobs)
 * choices then reach .9995 of the bound, .987 where those come first that gain most.
 */
int gadget_round_reoffer(struct gadget_round *x, struct err *e);

/** Load of x->best over capacity: of the fullest server for each resource ([n_resources]), and of the fullest
 * arc. */
void gadget_round_load(double *node, double *link, struct gadget_round *x);

/** What x->best is worth, in units of `aim`. */
double gadget_round_value(const struct gadget_round *x);

#endif
