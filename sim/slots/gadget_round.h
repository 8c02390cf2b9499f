/** @file From shares of rings to rings: randomised rounding, and what it leaves offered again. */
#ifndef SIM_SLOTS_GADGET_ROUND_H
#define SIM_SLOTS_GADGET_ROUND_H

#include "sim/slots/gadget_lp.h"

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
