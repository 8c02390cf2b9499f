/**
 * @file What a worker of a gossip study stands for: one replica of a model on one NPU. Its training step
 * gives the clock of the study, and its gradients the bytes on the wire.
 */
#ifndef KINDS_GOSSIP_GOSSIP_JOB_H
#define KINDS_GOSSIP_GOSSIP_JOB_H

#include "workloads/training.h"

enum { GOSSIP_JOB_TEXT = 2 * MODEL_NAME + 8 };

/** Plain value. */
struct gossip_job {
    char model[MODEL_NAME]; /**< its name, or that of the job */
    char npu[MODEL_NAME];   /**< "" where it has no name */
    double step_s;          /**< passes, recomputation, optimiser and overhead; nothing is sent */
    double model_B;         /**< all parameters, experts' too, times the bytes of a gradient */
    double missing_B;       /**< of the NPU's memory, <= 0 when it fits; NaN: its memory is not known */
};

/**
 * Read map @p map of gossip_job_section: `model` and `parallel` as a workload that is a model has them; its
 * `batch` is that of one worker. The plan must be one of a single NPU: no tp, cp, pp, ep.
 * @param npu  what is taken where the map has no `npu`: that of the network.
 * @return 0; ERR_PARSE or ERR_RANGE with the place: the NPU needs peak_TFLOPS and mem_GBps. What happens if
 * memory does not suffice is the caller's to say. @p out is empty after failure. O(layers).
 */
int gossip_job_read(struct gossip_job *out, const struct yaml_doc *doc, yaml_id map,
                    const struct topo_npu *npu, struct err *e);

/** "Llama 3 8B on H100 SXM 80 GB", or without the NPU where that has no name. Returns @p buf. */
const char *gossip_job_text(char buf[GOSSIP_JOB_TEXT], const struct gossip_job *job);

#endif
