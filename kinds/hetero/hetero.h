/**
 * @file A study of layers on types of resources: the cheapest way to train a model at a throughput, under
 * several schedulers, at every point of a sweep and for several seeds. The model: sim/hetero/hetero.h.
 */
#ifndef KINDS_HETERO_HETERO_H
#define KINDS_HETERO_HETERO_H

#include "study/kind.h"

/**
 * Entries of a point are its schedulers, those that draw run with every seed, and one more that nobody sees:
 * the oracle, by which all plans are measured. A row for each scheduler: medians over the seeds, of which one
 * without a plan is of infinite cost.
 *
 * A point that cannot be read is one row with status "error", one whose throughput no plan reaches one with
 * "infeasible".
 */
extern const struct study_kind hetero_kind;

/** Tables of the kind besides rows and runs. */
enum { HETERO_PLANS = TABLE_RUNS + 1, HETERO_STAGES, HETERO_CURVES, N_HETERO_TABLES };

/** Keys of a study, from the outside in. */
extern const struct section hetero_section, hetero_draw_section, hetero_draw_cpu_section,
    hetero_draw_gpu_section, hetero_layer_section, hetero_type_section, hetero_probe_section,
    hetero_throughput_section, hetero_job_section, hetero_server_section, hetero_rl_section,
    hetero_genetic_section, hetero_anneal_section, hetero_bayes_section;

#endif
