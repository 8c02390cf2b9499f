/** @file GADGET's slot problem: rings of workers by column generation and randomised rounding. */
#ifndef SIM_SLOTS_GADGET_H
#define SIM_SLOTS_GADGET_H

#include "sim/slots/elastic.h"

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

#endif
