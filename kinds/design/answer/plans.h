/** @file The plans of parallelism that a search found.
 */
#ifndef KINDS_DESIGN_ANSWER_PLANS_H
#define KINDS_DESIGN_ANSWER_PLANS_H

#include "alloc/incumbent.h"
#include "topo/network.h"
#include "workloads/plan.h"

/** Why candidates were not timed. */
enum search_reason {
    SEARCH_ILLEGAL,  /**< something does not divide */
    SEARCH_REPEATED, /**< another takes as long with no more memory: values without effect, one place twice */
    SEARCH_UNMAPPED, /**< degrees do not lie along the dimensions */
    SEARCH_MEMORY,   /**< does not fit */
    N_SEARCH_REASONS,
};

/** A plan that was found. */
struct search_found {
    struct plan plan;
    double value;  /**< of the study's objective; a time, where bandwidths are given [s] */
    double time_s; /**< of the step */
    double memory_B;
    double lower_bound; /**< bandwidths to choose: no design with this plan has less; -INFINITY: not known */
    double bw_Bps[TOPO_MAX_DIMS]; /**< given, or best for this plan */
    int64_t rank;                 /**< place in the order of the search, which breaks ties */
    int64_t alike;                /**< others that were found and take the same time and memory */
    double chunk_s;               /**< time_s by model chunk, of the first n_simulated; NaN: too large */
};

enum { SEARCH_SIM_PLANS = 10 };
enum { SEARCH_MAX_KEYS = 64 /**< parallel has fewer */ };

/** Combinations that cannot be, by the key of `parallel` that plan_check() names first. */
struct search_refusals {
    const char *key[SEARCH_MAX_KEYS]; /**< shape [n_keys], ascending; string constants */
    int64_t n[SEARCH_MAX_KEYS];
    int32_t n_keys;
};

/** Release with search_free(). */
struct search_result {
    struct search_found *found; /**< shape [n_found], owned; best first; empty: nothing fits */
    int32_t n_found;
    int64_t n_candidates; /**< legal plans times mappings: rejected by memory, or timed; this and what follows
                               are 0 where nobody counts them, unless nothing is found */
    int64_t n_timed;
    int64_t n_rejected[N_SEARCH_REASONS]; /**< with n_timed: every combination of values that was looked at */
    struct search_refusals refused;       /**< n_rejected[SEARCH_ILLEGAL] by key */
    struct incumbent proof; /**< bandwidths to choose: of the plans that were timed but not split */
    int64_t n_split;        /**< bandwidths to choose: split on their own; of a mix, with plans of others */
    int64_t n_mixes;        /**< several workloads, bandwidths to choose: mixes that were split; else 0 */
    double alone_s;         /**< the same, for regret: of the best plan on a network of its own; else 0 */
    bool clash;             /**< bandwidths to choose: none satisfy the constraints, whatever the plan */
    bool whole;         /**< `found` are whole designs: values, times and bandwidths of what would be built */
    bool proved;        /**< no plan has a better design than the first of `found` */
    bool unique;        /**< proved: no other bandwidths are as good, whatever the plan */
    double lower_bound; /**< bandwidths to choose: of every plan and design; NaN: not known */
    char why[400];      /**< why a plan has no best split, unless constraints forbid all; "" */
    double least_B;     /**< least memory of any candidate; INFINITY without one */
    int32_t n_simulated; /**< search_simulate(): the first so many; 0: none */
    int32_t
        chunk_order[SEARCH_SIM_PLANS]; /**< those that were not too large, the best by model chunk first */
    int32_t n_ordered;
};

void search_free(struct search_result *r);

#endif
