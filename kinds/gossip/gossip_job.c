#include "kinds/gossip/gossip_job.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "kinds/gossip/gossip.h"

struct job_conf {
    const char *name;
    yaml_id model, npu, parallel;
};

#define JOB(key, field, what, must, text)                                                                    \
    {                                                                                                        \
        .name = key, .help = text, .kind = what, .required = must,                                           \
        .offset = offsetof(struct job_conf, field), .unit = "", .dflt = SCHEMA_NONE                          \
    }

static const struct key job_keys[] = {
    JOB("name", name, KEY_TEXT, false, "what reports call it; absent: the model's name"),
    JOB("model", model, KEY_NODE, true, "a model file or a map, see model"),
    JOB("npu", npu, KEY_NODE, false,
        "that every worker has one of: an NPU file or a map, see npu; absent: that of the network"),
    JOB("parallel", parallel, KEY_NODE, true,
        "how it is trained on one NPU, see parallel: batch is that of a worker; no tp, cp, pp, ep"),
};
const struct section gossip_job_section = {
    "job of gossip", "a model of which each worker of a gossip study trains a replica on one NPU", job_keys,
    sizeof job_keys / sizeof job_keys[0]
};

/* The job's own NPU, with what a step needs to know of it. */
static int read_npu(struct topo_npu *npu, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    int rc = topo_read_npu(npu, doc, map, e);
    if (!rc && !(npu->peak_flops > 0 && npu->mem_Bps > 0))
        rc = yaml_fail(doc, map, e, ERR_RANGE, "is without %s, need peak_TFLOPS and mem_GBps",
                       npu->peak_flops > 0 ? "mem_GBps" : "peak_TFLOPS");
    return rc;
}

static int train_alone(struct gossip_job *out, const struct yaml_doc *doc, yaml_id map,
                       const struct topo_network *alone, struct err *e)
{
    const double nothing_s[PLAN_MAX_COLLECTIVES] = { 0 };
    struct training x;
    int rc = training_read(&x, doc, map, alone, e);
    if (rc)
        return rc;
    memcpy(out->model, x.name, sizeof out->model);
    out->step_s = plan_cost_time(&x.cost, nothing_s);
    out->model_B = model_params(&x.model) * (double)x.plan.grad_B;
    out->missing_B = training_missing_B(&x, alone);
    return 0;
}

int gossip_job_read(struct gossip_job *out, const struct yaml_doc *doc, yaml_id map,
                    const struct topo_npu *npu, struct err *e)
{
    struct job_conf conf;
    struct topo_network alone;
    *out = (struct gossip_job){ 0 };
    topo_network_defaults(&alone);
    alone.npu = *npu;
    int rc = schema_read(&conf, &gossip_job_section, doc, map, e);
    if (!rc && conf.npu >= 0)
        rc = read_npu(&alone.npu, doc, conf.npu, e);
    if (!rc)
        rc = train_alone(out, doc, map, &alone, e);
    if (rc)
        return rc;
    yaml_id shared = yaml_get(doc, yaml_get(doc, doc->root, "network"), "npu");
    yaml_id name = yaml_get(doc, conf.npu >= 0 ? conf.npu : shared, "name");
    if (name >= 0)
        snprintf(out->npu, sizeof out->npu, "%s", doc->nodes[name].text);
    return 0;
}

const char *gossip_job_text(char buf[GOSSIP_JOB_TEXT], const struct gossip_job *job)
{
    snprintf(buf, GOSSIP_JOB_TEXT, "%s%s%s", job->model, job->npu[0] ? " on " : "", job->npu);
    return buf;
}
