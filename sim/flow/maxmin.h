/** @file Bundles of transfers in lock-step that share links max-min fairly. */
#ifndef SIM_FLOW_MAXMIN_H
#define SIM_FLOW_MAXMIN_H

#include <stdint.h>

#include "base/err.h"

/**
 * Opaque: links, and the bundles on them.
 *
 * The hops of a ring all-reduce send their pieces step by step, so none is faster than the slowest one for
 * long: a bundle is all transfers of a job, with one rate. A link that k transfers of the bundle pass carries
 * k times that rate. Rates are max-min fair: none can be raised without lowering one that is as low or lower;
 * that is, each bundle has a bottleneck, a full link where nobody is faster, or has its own cap.
 *
 * sim/flow shares links among single flows, which do not wait for each other: a hop that meets nobody would
 * take what its ring cannot use. With one transfer a bundle both are the same.
 *
 * After bundles came or went, only those whose bottleneck no longer holds get new rates, then those that
 * these wrong, and so on until nobody is wronged. As max-min fair rates are unique, these are they; a bundle
 * that hangs together with a change by no shared link is not looked at. Ties within 2^-40 (relative) are one
 * rate, so that bundles equal by symmetry have equal rates whatever happened before.
 */
struct lockstep;

/** What a bundle does on one link. */
struct lockstep_use {
    int32_t link;
    int32_t count; /**< transfers that pass it, >= 1 */
};

/**
 * Links of @p bw_Bps, shape [n_links], > 0, copied; bundles will be numbered 0..n_bundles-1.
 * @param[out] out  NULL on failure; release with lockstep_free().
 * @return 0 or ERR_NOMEM. About 50 bytes a link and bundle.
 */
int lockstep_build(struct lockstep **out, const double *bw_Bps, int32_t n_links, int32_t n_bundles,
                   struct err *e);
void lockstep_free(struct lockstep *l); /**< NULL is fine */

/**
 * Bundle @p id, which is not there, comes.
 * @param uses     shape [n_uses], each link once; copied
 * @param cap_Bps  its rate stays below, > 0; INFINITY: no cap (then n_uses >= 1)
 * @return 0; ERR_NOMEM, and then it did not come. O(n_uses).
 */
int lockstep_add(struct lockstep *l, int32_t id, const struct lockstep_use *uses, int32_t n_uses,
                 double cap_Bps, struct err *e);
/** Bundle @p id goes, if it is there. O(its uses). */
void lockstep_remove(struct lockstep *l, int32_t id);

/**
 * Bring rates up to date. Bundles whose rate is another one than before, new ones among them, stand in
 * *changed (shape [*n], borrowed until the next call).
 */
void lockstep_settle(struct lockstep *l, const int32_t **changed, int32_t *n);

/** Forget all rates, so that the next lockstep_settle() finds them from nothing: for tests, as it must not
 * matter. */
void lockstep_forget(struct lockstep *l);

/** Rate of each transfer of a bundle, as of the last lockstep_settle() [B/s]; 0: it came since. */
double lockstep_rate(const struct lockstep *l, int32_t id);

#endif
