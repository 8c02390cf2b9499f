/** @file Bundles of transfers that share links max-min fairly: single flows, and the rings of jobs. */
#ifndef SIM_FLOW_MAXMIN_H
#define SIM_FLOW_MAXMIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/**
 * Opaque: links, and the bundles on them.
 *
 * A bundle is transfers with one rate; a link that k of them pass carries k times that rate. A flow is a
 * bundle of one. The hops of a ring all-reduce send their pieces step by step, so none is faster than the
 * slowest one for long: all transfers of a job are one bundle.
 *
 * Rates are max-min fair (D. Bertsekas, R. Gallager, Data Networks, 1992, section 6.5.2): none can be raised
 * without lowering one that is as low or lower; that is, each bundle has a bottleneck, a full link where
 * nobody is faster, or has its own cap.
 *
 * After bundles came or went, only those whose bottleneck no longer holds get new rates, then those whose
 * bottleneck these new rates moved, and so on until every bottleneck holds. As max-min fair rates are unique,
 * these are they; a bundle that shares no link with a change, directly or through others, is not looked at.
 * Offers within 2^-40 (relative) are one rate, so that bundles equal by symmetry have equal rates whatever
 * happened before.
 */
struct maxmin;

/** What a bundle does on one link. */
struct maxmin_use {
    int32_t link;
    int32_t count; /**< transfers that pass it, >= 1 */
};

struct maxmin_settings {
    /** A bundle that is within this factor (>= 1) of where it should be stays: above the rounding of a sum of
     * as many rates as a link has. */
    double same_rate;
    double keep_rate; /**< a new rate within this factor (>= 1) of the old one does not replace it */
    int rounds;       /**< of going on with moved bottlenecks before all that hang together are shared anew */
    /** What a link leaves to those who get a new rate is summed up each time, not kept from change to change:
     * for links with few bundles at a time. */
    bool resum;
    int32_t n_capped; /**< bundles 0..n_capped-1 may have a cap */
};

/**
 * Links of @p bw_Bps, shape [n_links], copied, > 0 where bundles pass.
 * @param[out] out  NULL on failure; release with maxmin_free().
 * @return 0 or ERR_NOMEM. About 70 bytes a link and bundle.
 */
int maxmin_build(struct maxmin **out, const double *bw_Bps, int32_t n_links,
                 const struct maxmin_settings *settings, struct err *e);
void maxmin_free(struct maxmin *m); /**< NULL is fine */

/**
 * Bundle @p id, which is not there, gets room on its links; it takes a share when it joins. A small number.
 * @param uses     shape [n_uses], each link once; copied
 * @param cap_Bps  its rate stays below, > 0; INFINITY: no cap (then n_uses >= 1 if it is to join)
 * @return 0; ERR_NOMEM, and then nothing has changed. O(n_uses).
 */
int maxmin_place(struct maxmin *m, int32_t id, const struct maxmin_use *uses, int32_t n_uses, double cap_Bps,
                 struct err *e);
/** Bundle @p id, which has its place, takes part from now on. Cannot fail. */
void maxmin_join(struct maxmin *m, int32_t id);
/** The link of its use @p i, and how often it passes it. */
int32_t maxmin_link(const struct maxmin *m, int32_t id, int32_t i);
int32_t maxmin_count(const struct maxmin *m, int32_t id, int32_t i);
/** Bundle @p id goes, if it is there. O(its uses). */
void maxmin_remove(struct maxmin *m, int32_t id);

/**
 * Bring rates up to date. Bundles whose rate is another one than before, new ones among them, stand in
 * *changed (shape [*n], borrowed until the next call).
 */
void maxmin_settle(struct maxmin *m, const int32_t **changed, int32_t *n);

/**
 * The same in steps: rates around one link where something changed. False when no link is left. A bundle may
 * change in several steps.
 */
bool maxmin_settle_next(struct maxmin *m, const int32_t **changed, int32_t *n);

/** Rate of each transfer of a bundle, as of the last step [B/s]; 0: it came since. */
double maxmin_rate(const struct maxmin *m, int32_t id);

#endif
