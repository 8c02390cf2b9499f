#include "tests/unit/cluster_fixture.h"

static const char *const gpus_only[] = { "GPUs" };

void fixture_cluster(struct cluster *c, struct topo_network *net, const char *spec, int32_t level,
                     double lat_s, double gpus)
{
    const struct cluster_offer offer = { 1, gpus_only, &gpus, false };
    MUST(topo_parse_spec(net, spec, e));
    for (int32_t d = 0; d < net->n_dims; d++)
        net->dims[d].lat_s = lat_s;
    MUST(cluster_build(c, net, level, &offer, e));
}

void fixture_uneven(struct cluster *c, const char *spec, const double *gpus)
{
    const struct cluster_offer offer = { 1, gpus_only, gpus, true };
    struct topo_network net;
    MUST(topo_parse_spec(&net, spec, e));
    MUST(cluster_build(c, &net, 0, &offer, e));
}

struct job fixture_job(double submit_s, int32_t gpus, double iterations, double compute_s)
{
    struct job job = job_default();
    job.submit_s = submit_s;
    job.gpus = gpus;
    job.iterations = iterations;
    job.compute_s = compute_s;
    return job;
}
