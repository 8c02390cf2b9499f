/** @file GADGET's slot problem: rings of workers by column generation and randomised rounding. */
#ifndef SIM_SLOTS_GADGET_H
#define SIM_SLOTS_GADGET_H

#include "sim/slots/gadget_lp.h"
#include "sim/slots/slots.h"

/**
 * Algorithms 1 and 2 of arXiv 2202.01158, slot by slot:
 *
 * 1. Every active job i is offered rings of 1 to q_i workers, pi_ik = what k more workers add to its `aim`
 *    (gadget_lp_open). q_i = min(N_i, what its budget has left, sum over servers of how many workers fit),
 *    where the paper solves a convex programme; gamma of the note is the largest.
 * 2. The linear programme over all rings of all sizes, by column generation (gadget_lp_solve). The paper's
 *    edge-based programme has the same optimum for rings of one size, but needs one copy of the network per
 *    ring hop and host, and leaves open how decompositions for several resources are to be combined; here
 *    a column loads every resource at once. note->bound is its dual value: no choice is worth more.
 * 3. To each job the size with the largest pi_ik chi_ik (gadget_lp_fix_sizes), and the programme again.
 * 4. Randomised rounding (gadget_round_draw), strict by default, and what is left is offered again.
 *
 * With concave aims and 3 as above a run comes to 1/(3 gamma + 1) of the best one at least, in the paper's
 * mode with high probability; in strict mode what a run loses is the note's value below its bound.
 *
 * GLPK solves the programmes (base/simplex.h). At 50 servers and 100 jobs of up to 5 workers a warm slot is
 * two to six solves and takes 1 to 2 ms, half of that in GLPK: too little for a simplex of our own.
 *
 * build: ERR_RANGE for samples < 1, ERR_UNSUP for servers whose paths are not kept (cluster.h), ERR_NOMEM;
 * choose: ERR_NOMEM, ERR_LIB. One thread from build to free. The draws of a slot depend on the seed and its
 * number.
 */
extern const struct elastic_scheduler elastic_gadget;

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
