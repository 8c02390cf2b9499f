/** @file GADGET's slot as a linear programme over rings, solved by generating them. */
#ifndef SIM_SLOTS_GADGET_LP_H
#define SIM_SLOTS_GADGET_LP_H

#include "base/simplex.h"
#include "sim/slots/gadget_price.h"

/**
 * One ring of one job, a column. What it loads is a share of the row's capacity.
 *
 * Rows of the programme: resource r of server s is row s * n_resources + r, then arcs, all <= 1; then a row
 * for every job that ever was active, sum of its columns <= 1.
 */
struct gadget_column {
    int32_t job, n, workers_total;
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
    int32_t most;                  /**< q_i: workers offered, 0 = none fits */
    const double *gain;            /**< shape [most + 1], pi_ik over the slot's largest; borrowed */
    int32_t least_size, most_size; /**< sizes that the programme may use now; least > most: none */
};

/** The programme from slot to slot. Release with gadget_lp_free(). */
struct gadget_lp {
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
    double unit;      /**< the slot's largest gain; 0: nothing is worth anything */
    int32_t gamma;    /**< largest q_i */
    int32_t n_rounds; /**< solves so far */
    /* Prices of the last solve, of a unit of a resource, shape [n_servers][n_resources], and of a B/s, shape
     * [n_arcs]; room for n_rows each, owned. */
    double *worker, *arc;
    /* Scratch. */
    struct gadget_found found;
    int32_t *row; /**< shape [n_rows + 1], rows of a ring and its job; owned */
    double *load; /**< shape [n_rows + 1], owned */
    double *sum;  /**< shape [n_rows], 0 between rings; owned */
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

/** Put a ring into the pool; *column is its number, or that of the same ring found before. ERR_NOMEM. */
int gadget_lp_add(int32_t *column, struct gadget_lp *x, int32_t job, const struct gadget_ring *ring,
                  struct err *e);

/** What column @p k is worth, in the slot's unit. */
static inline double gadget_column_gain(const struct gadget_lp *x, const struct gadget_column *k)
{
    return x->bids[x->bid_of[k->job]].gain[k->workers_total];
}

#endif
