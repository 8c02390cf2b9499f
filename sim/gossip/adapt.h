/** @file Private to sim/gossip: rules by which methods change their period. Pure functions. */
#ifndef SIM_GOSSIP_ADAPT_H
#define SIM_GOSSIP_ADAPT_H

#include <stdint.h>

/** @p period, a whole number, cut to 1 .. @p cap; not NaN. */
int64_t gossip_cut_period(double period, int64_t cap);
/** The step a period >= 1 after @p step >= 0; INT64_MAX, which is never reached, where it is beyond that. */
int64_t gossip_step_after(int64_t step, int64_t period);

/** What AdaComm knows when it chooses. */
struct gossip_adacomm {
    int64_t period_0, period;   /**< the first one, and that in force, >= 1 */
    double rate_0, rate_before; /**< of the first step, and when the period was chosen last */
    double rate;                /**< of the next step */
    double loss_0, loss;        /**< of the first batches, and now [nats] */
};

/**
 * Period from now on, 1 to @p cap: ceil(sqrt((rate_0 / rate) loss / loss_0) period_0); where that is not
 * below the one in force although the rate is unchanged, half of that in force, rounded up. A rate that
 * decays raises the period. Source: Wang and Joshi, arXiv 1810.08313.
 * Where the root is no number, e.g. with a first loss of 0, the period is halved too: this project's choice.
 */
int64_t gossip_adacomm_period(const struct gossip_adacomm *a, int64_t cap);

/**
 * Period from now on, 1 to @p cap: one more than @p period if @p spread < 0.7 @p target, one less if it is
 * > 1.3 @p target, else the same. @p spread: mean over workers of |x - mean|^2 before they are averaged, over
 * the rate of learning; @p target: its mean during warm-up. Source: Jiang and Agrawal, arXiv 2007.06134.
 */
int64_t gossip_variance_period(int64_t period, double spread, double target, int64_t cap);

#endif
