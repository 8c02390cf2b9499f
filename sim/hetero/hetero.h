/**
 * @file Layers onto types of resources: the problem, and what a plan costs.
 *
 * A plan gives each layer a type. A stage is a longest run of layers of one type; k units share its work.
 * Seconds per example of a stage with k units (alpha and beta: compute_par and comm_par of its type):
 *
 *     compute = O/B0 (1 - alpha + alpha/k)      communication = D/B0 (1 - beta + beta/k)
 *     time(k) = max of both where they overlap, else their sum
 *
 * O and D are sums over its layers. Stages work as a pipeline, so the plan's throughput is 1 / max time, and
 * its cost is epochs * examples / throughput * sum of prices of all units. Asked for is the cheapest plan
 * that reaches a throughput within the limits of units.
 */
#ifndef SIM_HETERO_HETERO_H
#define SIM_HETERO_HETERO_H

#include "sim/hetero/profile.h"

/** A type's number, in a plan: shape [n_layers]. */
typedef int16_t hetero_id;

/** Who pays for handing the output of a stage to the next one. */
enum hetero_handover {
    HETERO_PER_LAYER, /**< every layer, as profiled: a measured time of communication holds it */
    HETERO_PER_STAGE, /**< the last layer of a stage, as profiled; nobody after the last layer of all */
    HETERO_NETWORK,   /**< both ends of a stage, by the network between the two types */
};
extern const char *const hetero_handover_words[]; /**< "layer", "stage", "network" */

enum hetero_provisioning {
    HETERO_EXACT,   /**< the cheapest whole numbers of units */
    HETERO_BALANCE, /**< least units of the first stage, the others as fast as it */
    HETERO_NEWTON, /**< units of the first stage by Newton's method on the continuous cost, the others as fast
                    */
};
extern const char *const hetero_provisioning_words[]; /**< "exact", "balance", "newton" */

/** Between two types: latency_s + bytes / Bps for what one unit sends; both directions at the same time. */
struct hetero_link {
    double lat_s, Bps;
};

/** What is asked of a plan. */
struct hetero_setup {
    bool overlap;
    enum hetero_handover handover;
    const struct hetero_link *links; /**< HETERO_NETWORK: shape [n_types][n_types], symmetric, borrowed */
    enum hetero_provisioning provisioning;
    double examples, epochs; /**< to train on; > 0 */
    int32_t server;          /**< type that parameter servers run on, -1: they are not counted */
    double server_Bps;       /**< of embedding rows that one of its units serves */
};

/** Time of a stage in k units: max over i of fixed_s[i] + shared_s[i] / k, seconds per example. */
struct hetero_time {
    double fixed_s[2], shared_s[2];
};

/** Release with hetero_free(). Read-only once built: any number of threads may share it. */
struct hetero_problem {
    const struct hetero_profile *profile; /**< borrowed */
    struct hetero_setup setup;            /**< links borrowed */
    double per_s;                         /**< throughput to reach [examples/s] */
    struct hetero_time *spans; /**< shape [n_layers][n_types][n_layers], owned: first, type, last */
    double *server_s;       /**< shape [n_layers][n_types][n_layers], owned: embedding rows of the span over
                               server_Bps; NULL without servers */
    double *unit_usd_per_h; /**< shape [n_types], owned: a unit and its host */
};

/**
 * All spans of layers on all types, O(L^2 T) time and memory. @p profile checked (hetero_profile_check()),
 * borrowed until hetero_free(); per_s is 0 until it is set.
 * @return 0, ERR_RANGE ("examples is ..."), ERR_NOMEM; empty after failure.
 */
int hetero_build(struct hetero_problem *p, const struct hetero_profile *profile,
                 const struct hetero_setup *setup, struct err *e);
void hetero_free(struct hetero_problem *p);

/** Layers first..last on one type; what it has beside it in the plan. */
struct hetero_span {
    int32_t first, last;
    int32_t type, before,
        after; /**< types of the stages around it; -1: none. Only HETERO_NETWORK looks at them. */
};

struct hetero_stage {
    struct hetero_span span;
    struct hetero_time time;
    double server_s; /**< parameter servers: ceil(throughput * server_s) units of setup.server; 0: none */
};

struct hetero_stage hetero_stage_of(const struct hetero_problem *p, const struct hetero_span *span);

/** Stages of a plan, into @p stages, shape [n_layers]. Returns how many. O(n_layers). */
int32_t hetero_stages(struct hetero_stage *stages, const struct hetero_problem *p, const hetero_id *plan);

/** Seconds per example of @p k >= 1 units. */
double hetero_time_s(const struct hetero_time *t, int64_t k);

/**
 * The least k with time(k) <= @p limit_s, up to 1e-9 of k; -1: no number is enough. Closed form, O(1):
 * k = max over i of shared_s[i] / (limit_s - fixed_s[i]), rounded up.
 */
int64_t hetero_least_units(const struct hetero_time *t, double limit_s);

enum hetero_status {
    HETERO_OK,
    HETERO_TOO_SLOW, /**< some stage reaches the throughput with no number of units */
    HETERO_SCARCE,   /**< it would take more units of a type than there are */
};
extern const char *const hetero_status_words[]; /**< "ok", "too slow", "too few units" */

/** What a plan comes to. */
struct hetero_value {
    enum hetero_status status;
    double usd, per_s, usd_per_h; /**< of the whole training; NaN unless HETERO_OK */
    double reach_per_s; /**< unless HETERO_OK: the largest throughput that the plan reaches at all, within the
                           limits */
};

/** Room for the evaluation of plans; one for each thread. Release with hetero_work_free(). */
struct hetero_work {
    struct hetero_stage *stages; /**< shape [n_layers]; of the last plan */
    int64_t *units;              /**< shape [n_layers]; units of those stages */
    int32_t n_stages;
    int64_t *of_type; /**< shape [n_types]; units of each type, hosts and servers included */
    void *memory;     /**< owned, all of the above and what the evaluation needs */
};
int hetero_work_build(struct hetero_work *w, const struct hetero_problem *p, struct err *e);
void hetero_work_free(struct hetero_work *w);

/**
 * Stages and units of @p plan, and what it costs, by setup.provisioning. What @p w says of stages and units
 * is of this plan afterwards; of units only when the status is HETERO_OK.
 */
void hetero_evaluate(struct hetero_value *v, const struct hetero_problem *p, const hetero_id *plan,
                     struct hetero_work *w);

#endif
