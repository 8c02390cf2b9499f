#include "workloads/training.h"

#include <math.h>
#include <stdio.h>

static int need_npu(const struct topo_network *net, const struct yaml_doc *doc, yaml_id at, struct err *e)
{
    const char *missing = NULL;
    if (isnan(net->npu.peak_flops))
        missing = "peak_TFLOPS";
    else if (isnan(net->npu.mem_Bps))
        missing = "mem_GBps";
    if (!missing)
        return 0;
    return yaml_fail_key(doc, at, e, ERR_RANGE, "needs network.npu.%s, which is not given", missing);
}

int training_derive(struct training *x, const struct topo_network *net, struct err *e)
{
    int rc = plan_map(&x->place, &x->plan, net, e);
    if (rc)
        return rc;
    plan_cost(&x->cost, &x->model, &x->plan, &net->npu);
    memory_plan(&x->memory, &x->model, &x->plan);
    return 0;
}

int training_read(struct training *x, const struct yaml_doc *doc, yaml_id map, const struct topo_network *net,
                  struct err *e)
{
    yaml_id model = yaml_get(doc, map, "model"), parallel = yaml_get(doc, map, "parallel");
    yaml_id name = yaml_get(doc, map, "name"), traffic = yaml_get(doc, map, "traffic");
    *x = (struct training){ .search = yaml_get(doc, map, "search") };
    int rc = yaml_need(doc, model, YAML_MAP, e);
    if (!rc)
        rc = model_read(&x->model, doc, model, e);
    if (!rc)
        rc = need_npu(net, doc, model, e);
    if (!rc)
        rc = plan_read(&x->plan, &x->model, net, x->search < 0, doc, parallel, e);
    if (!rc && traffic >= 0)
        rc = yaml_real(doc, traffic, &x->plan.traffic, e);
    if (rc)
        return rc;
    snprintf(x->name, sizeof x->name, "%s", name >= 0 ? doc->nodes[name].text : x->model.name);
    return x->search < 0 ? training_derive(x, net, e) : 0;
}

int training_build(struct step_tree *t, const struct training *x, const struct topo_network *net,
                   struct err *e)
{
    int rc = plan_cost_tree(t, &x->cost, &x->place, x->name, net, e);
    t->uses_npu = true;
    return rc;
}

double training_missing_B(const struct training *x, const struct topo_network *net)
{
    return x->memory.total_B - net->npu.mem_B;
}

double training_tokens(const struct training *x)
{
    return (double)x->plan.batch * (x->model.family == MODEL_TRANSFORMER ? (double)x->model.seq : 1);
}

double training_mfu(const struct training *x, const struct topo_network *net, double time_s)
{
    return x->cost.model_flop / ((double)net->n_npus * net->npu.peak_flops * time_s);
}
