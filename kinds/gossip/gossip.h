/**
 * @file A study of training with little communication: several methods at every point of a sweep and for
 * several seeds, what they send, how long they take and what they reach. The model: sim/gossip/gossip.h.
 */
#ifndef KINDS_GOSSIP_GOSSIP_H
#define KINDS_GOSSIP_GOSSIP_H

#include "study/kind.h"

/**
 * Entries of a point are its methods, each run with every seed; a row for each. Means are over the seeds,
 * `half` the half width of their 95 % interval, blank for one seed. A row of which a seed diverged or failed
 * has no means, and nothing is compared with it. What is compared with the baseline is the change of means,
 * but accuracy: there differences are paired by seed. A point that cannot be read is one row with status
 * "error". need_GBps is there where the study asks for it (sim/gossip/replay.h).
 *
 * Runs of a point share the network's graph and examples of the user's own, those with one seed the examples
 * that a teacher makes and who holds which.
 */
extern const struct study_kind gossip_kind;

/** Tables of the kind besides rows and runs. */
enum { GOSSIP_CURVES = TABLE_RUNS + 1, GOSSIP_LINKS, N_GOSSIP_TABLES };

/** Keys of a study, from the outside in. */
extern const struct section gossip_section, gossip_job_section, gossip_learner_section, gossip_data_section,
    gossip_clock_section, gossip_method_section;

#endif
