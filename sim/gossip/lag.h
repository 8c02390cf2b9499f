/** @file Private to sim/gossip: when lazily aggregated gradients are sent. Pure functions. */
#ifndef SIM_GOSSIP_LAG_H
#define SIM_GOSSIP_LAG_H

#include <stdbool.h>
#include <stdint.h>

/** The last @p depth changes of the server's model; a ring. */
struct gossip_lag_past {
    double *change2; /**< shape [depth], |change|^2 / rate^2 of each, borrowed */
    int64_t depth;   /**< >= 1 */
    int64_t n;       /**< changes so far */
};

/** One more change of the server's model, of squared length @p change2, made at @p rate. */
void gossip_lag_note(struct gossip_lag_past *p, double change2, double rate);

/**
 * The right-hand side of the condition: xi / (a M)^2 times the sum of |change|^2 over the last depth changes,
 * where a M is the rate here, as the step goes along the mean of gradients and not their sum. Each change is
 * over the rate at which it was made: the same with a constant rate, which is all that the source has.
 * Source: Chen et al., arXiv 1805.09965, equations 7 and 8.
 */
double gossip_lag_bound(const struct gossip_lag_past *p, double xi);

/** Is a gradient (or model) to be sent whose squared distance from the last one sent is @p moved2? Always
 * during the first depth iterations. A number that is none is sent. */
bool gossip_lag_is_due(const struct gossip_lag_past *p, double moved2, double xi);

#endif
