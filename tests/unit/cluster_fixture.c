#include "tests/unit/cluster_fixture.h"

static const char *const gpus_only[] = { "GPUs" };

void fixture_cluster(struct cluster *c, struct topo_network *net, const char *spec, int32_t level,
                     double lat_s, double gpus)
{
    const struct cluster_offer offer = { 1, gpus_only, &gpus, false };
    struct topo_network own = { .n_dims = 0 };
    net = net ? net : &own;
    MUST(topo_parse_spec(net, spec, e));
    for (int32_t d = 0; d < net->n_dims; d++)
        net->dims[d].lat_s = lat_s;
    MUST(cluster_build(c, net, level, &offer, e));
}

struct cluster cluster_of(const char *spec, int32_t level, double lat_s, double gpus)
{
    struct cluster c;
    fixture_cluster(&c, NULL, spec, level, lat_s, gpus);
    return c;
}

void fixture_uneven(struct cluster *c, const char *spec, const double *gpus)
{
    const struct cluster_offer offer = { 1, gpus_only, gpus, true };
    struct topo_network net;
    MUST(topo_parse_spec(&net, spec, e));
    MUST(cluster_build(c, &net, 0, &offer, e));
}

void fixture_racks(struct cluster *c, int32_t n, const int32_t *rack, const double *gpus, double server_Bps,
                   double rack_Bps)
{
    static const char *const names[] = { "gpu" };
    const struct cluster_offer offer = { 1, names, gpus, true };
    double server[64], between[64];
    int32_t n_racks = 1;
    assert_true(n <= 64);
    for (int32_t s = 0; s < n; s++) {
        server[s] = server_Bps;
        n_racks = rack && rack[s] >= n_racks ? rack[s] + 1 : n_racks;
    }
    for (int32_t i = 0; i < n_racks * (n_racks - 1) / 2; i++)
        between[i] = rack_Bps;
    static const int32_t one_rack[64];
    const struct cluster_racks racks = { n, n_racks, rack ? rack : one_rack, server, between, 0 };
    MUST(cluster_build_racks(c, &racks, &offer, e));
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
