/** @file Collectives and overlapping work timed by simulation: the levels of fidelity above the closed
 * forms. */
#ifndef SIM_FIDELITY_H
#define SIM_FIDELITY_H

#include "sim/train.h"
#include "topo/route.h"

/** A collective that runs alone. */
struct fidelity_time {
    double time_s;
    double busy_s[TOPO_MAX_DIMS], sent_B[TOPO_MAX_DIMS];
    double queue_s;
    enum sim_order order; /**< used; of GUARD the one that was best */
    int32_t known;        /**< its number, for struct fidelity_weight */
};

/** A direction of a link, and what a step sends over it. */
struct fidelity_hot {
    char name[TOPO_ARC_TEXT]; /**< "npu3 -> switch-pod-0" */
    int32_t dim;              /**< -1: not known */
    double bw_Bps, bytes;     /**< of one step */
    double util_frac;         /**< bytes over bandwidth and time of the step */
};

enum { FIDELITY_HOTTEST = 10 };

/** Use of the links of model flow. */
struct fidelity_links {
    int64_t n_arcs, n_used; /**< both directions of every link; 0: not known (another model, or too many) */
    double mean_frac;       /**< mean utilisation over all */
    struct fidelity_hot hot[FIDELITY_HOTTEST]; /**< hottest first */
    int32_t n_hot;
    struct fidelity_hot *all; /**< shape [n_arcs], owned, by number; NULL unless rules.keep_links */
    int64_t n_alike;          /**< links as hot as the hottest, to 1e-6 */
};

/** Something timed, and how often a step does it. */
struct fidelity_weight {
    int32_t known; /**< as fidelity_alone() and fidelity_together() say */
    double times;
};

/** Something that happened: compute, or what a collective (a stage of a chunk of it) sent over a class of
 * links.
 */
struct sim_event {
    step_id node;             /**< of what was run together; of a collective alone 0 */
    int32_t job;              /**< number of the collective in what was timed; -1: compute */
    int32_t chunk, dim, cell; /**< -1: of no single chunk; of compute; class of NPUs */
    enum pass pass;
    bool lead; /**< of the classes that a stage loads, the one that it is named after */
    double bytes, busy_s;
    double ready_s, start_s, end_s;
};

/**
 * A collective as a whole: on each class of links that it loads (shapes [n_dims]) from @p start_s on for as
 * long as that is busy, on the busiest until it ends. Returns how many; where nothing is loaded and it takes
 * time, one of the first dimension with members.
 */
int32_t sim_events_of(struct sim_event out[TOPO_MAX_DIMS], const double *sent_B, const double *busy_s,
                      const int32_t *members, int32_t n_dims, double start_s, double end_s);

/** The network whose graph model flow builds: at these bandwidths, with one link for those side by side in
 * several planes. A dimension without bandwidth has links all the same; what would use them never ends. */
struct topo_network fidelity_network(const struct sim_way *way);

/** Opaque: a network at its bandwidths, and the collectives timed so far. */
struct fidelity;

/**
 * @param way         of model SIM_CHUNK or SIM_FLOW.
 * @param split_dims  as chunk_open(); fidelity_split_dims() finds it.
 * @return 0 or ERR_NOMEM.
 */
int fidelity_open(struct fidelity **out, const struct sim_way *way, unsigned split_dims, struct err *e);
void fidelity_free(struct fidelity *x); /**< NULL is fine */
/** So many calls of fidelity_alone() and fidelity_together() are to come: for base/work.h. Once. */
void fidelity_expect(struct fidelity *x, int64_t n);

/** Dimensions of which a group of @p t takes a part. */
unsigned fidelity_split_dims(const struct step_tree *t, const struct topo_network *net);

/** Time @p job (its order is not looked at) alone; the same job again costs nothing. ERR_NOMEM, ERR_RANGE. */
int fidelity_alone(struct fidelity *x, const struct sim_job *job, struct fidelity_time *out, struct err *e);

/** Work that shares the network. Release with fidelity_joint_free(). */
struct fidelity_joint {
    struct train train;
    struct fidelity_time
        *mean; /**< shape [n_nodes], owned: of each collective node the mean over its executions */
    enum sim_order order;
    int32_t known; /**< its number, for struct fidelity_weight */
};

/**
 * Run the subtree at @p root, every collective on the same dimensions; under GUARD three times, and the best
 * is kept.
 * @return as train_run().
 */
int fidelity_together(struct fidelity *x, const struct step_tree *t, step_id root, struct fidelity_joint *out,
                      struct err *e);
void fidelity_joint_free(struct fidelity_joint *x);

/** What happened in what was timed, with rules->keep_events: shape [*n], borrowed. O(1). */
const struct sim_event *fidelity_events(const struct fidelity *x, int32_t known, int32_t *n);

enum { FIDELITY_MAX_LINKS = 1000000 };

/**
 * What the links carry in a step of @p time_s that does @p weights, shape [n]. Release with
 * fidelity_links_free(). ERR_NOMEM; ERR_RANGE: all are to be kept, and are more than FIDELITY_MAX_LINKS.
 * O(arcs * n).
 */
int fidelity_find_links(struct fidelity_links *out, const struct fidelity *x,
                        const struct fidelity_weight *weights, int32_t n, double time_s, struct err *e);

void fidelity_links_free(struct fidelity_links *l);

#endif
