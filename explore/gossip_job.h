/**
 * @file What a worker of a gossip study stands for: one replica of a model on one NPU. Its training step
 * gives the clock of the study, and its gradients the bytes on the wire.
 */
#ifndef EXPLORE_GOSSIP_JOB_H
#define EXPLORE_GOSSIP_JOB_H

#include "workloads/training.h"

/** Plain value. */
struct gossip_job {
    char name[MODEL_NAME];
    double step_s;    /**< passes, recomputation, optimiser and overhead; nothing is sent */
    double model_B;   /**< all parameters, experts' too, times the bytes of a gradient */
    double missing_B; /**< of the NPU's memory, <= 0 when it fits; NaN: its memory is not known */
};

/**
 * Read a map with `model` and `parallel`, as a workload that is a model has them; `batch` is that of one
 * worker. The plan must be one of a single NPU: no tp, cp, pp, ep.
 * @param npu  with peak_flops and mem_Bps.
 * @return 0; ERR_PARSE or ERR_RANGE with the place, ERR_UNSUP with a search. What happens if memory does not
 * suffice is the caller's to say. O(layers).
 */
int gossip_job_read(struct gossip_job *out, const struct yaml_doc *doc, yaml_id map,
                    const struct topo_npu *npu, struct err *e);

#endif
