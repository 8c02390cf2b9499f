#include "explore/gossip_job.h"

#include <string.h>

int gossip_job_read(struct gossip_job *out, const struct yaml_doc *doc, yaml_id map,
                    const struct topo_npu *npu, struct err *e)
{
    const double nothing_s[PLAN_MAX_COLLECTIVES] = { 0 };
    struct topo_network alone;
    struct training x;
    *out = (struct gossip_job){ 0 };
    topo_network_defaults(&alone);
    alone.npu = *npu;
    int rc = training_read(&x, doc, map, &alone, e);
    if (!rc && x.search >= 0)
        rc = yaml_fail_key(doc, x.search, e, ERR_UNSUP, "needs a command that searches");
    if (rc)
        return rc;
    memcpy(out->name, x.name, sizeof out->name);
    out->step_s = plan_cost_time(&x.cost, nothing_s);
    out->model_B = model_params(&x.model) * (double)x.plan.grad_B;
    out->missing_B = training_missing_B(&x, &alone);
    return 0;
}
