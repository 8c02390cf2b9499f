/** @file Networks of rings and runs on them, for the tests of simulation in chunks. */
#ifndef TESTS_UNIT_CHUNK_FIXTURE_H
#define TESTS_UNIT_CHUNK_FIXTURE_H

#include "tests/support.h"

#include "base/rng.h"
#include "sim/chunk/chunk.h"

KEEPS(struct chunk_sim, chunk_free)

enum { D = TOPO_MAX_DIMS };

/* Rings, whose reduce-scatter takes n-1 steps and S (n-1)/n bytes. */
struct net {
    int32_t n_dims, size[D];
    double bw_Bps[D], lat_s[D];
};

static inline struct topo_network build(const struct net *n)
{
    struct topo_network net = { .n_dims = n->n_dims, .n_npus = 1 };
    for (int32_t d = 0; d < n->n_dims; d++) {
        net.dims[d] = (struct topo_dim){ .shape = TOPO_RING,
                                         .size = n->size[d],
                                         .bw_Bps = n->bw_Bps[d],
                                         .lat_s = n->lat_s[d],
                                         .efficiency = 1 };
        net.n_npus *= n->size[d];
    }
    return net;
}

static inline struct sim_rules rules_of(int32_t chunks, enum sim_queue queue)
{
    struct sim_rules r;
    sim_rules_default(&r);
    r.stage.chunks = chunks;
    r.queue = queue;
    return r;
}

static inline struct sim_job whole(const struct topo_network *net, enum collective_kind kind, double bytes,
                                   enum sim_order order)
{
    struct sim_job job = { .kind = kind, .bytes = bytes, .order = order };
    for (int32_t d = 0; d < D; d++) {
        job.members[d] = d < net->n_dims ? net->dims[d].size : 1;
        job.stride[d] = 1;
    }
    return job;
}

static inline void run_out(struct chunk_sim *x)
{
    while (isfinite(chunk_next(x)))
        MUST(chunk_advance(x, e));
}

static inline struct chunk_sim *run_jobs(const struct topo_network *net, const double *bw_Bps,
                                         const struct sim_rules *rules, const struct sim_job *jobs, int32_t n)
{
    struct chunk_sim *x;
    MUST(chunk_open(&x, &(struct sim_way){ net, bw_Bps, SIM_CHUNK, rules }, 0, INT32_MAX, e));
    for (int32_t i = 0; i < n; i++)
        MUST(chunk_issue(x, &jobs[i], 0, e));
    run_out(x);
    return x;
}

static inline double time_of(const struct net *n, enum collective_kind kind, double bytes, int32_t chunks,
                             enum sim_order order, enum sim_queue queue)
{
    struct topo_network net = build(n);
    struct sim_rules rules = rules_of(chunks, queue);
    struct sim_job job = whole(&net, kind, bytes, order);
    KEEP(struct chunk_sim *, x, chunk_free_at) = run_jobs(&net, n->bw_Bps, &rules, &job, 1);
    return chunk_result(x, 0)->end_s;
}

struct draw {
    struct net net;
    enum collective_kind kind;
    double bytes;
    int32_t chunks;
};

/* Half of all networks have their fast dimensions inside. */
static inline struct draw draw_case(struct rng *r, bool latency)
{
    static const enum collective_kind kinds[] = { COLLECTIVE_ALL_REDUCE, COLLECTIVE_ALL_REDUCE,
                                                  COLLECTIVE_REDUCE_SCATTER, COLLECTIVE_ALL_GATHER };
    struct draw d = { .net = { .n_dims = 2 + (int32_t)rng_below(r, 3) },
                      .kind = kinds[rng_below(r, 4)],
                      .chunks = 4 << rng_below(r, 5),
                      .bytes = rng_log_range(r, 1e6, 4e9) };
    bool fast_first = rng_below(r, 2);
    for (int32_t k = 0; k < d.net.n_dims; k++) {
        d.net.size[k] = 2 << rng_below(r, 5);
        d.net.bw_Bps[k] = rng_log_range(r, 10e9, 1000e9);
        d.net.lat_s[k] = latency ? rng_log_range(r, 0.1e-6, 5e-6) : 0;
    }
    for (int32_t k = 1; fast_first && k < d.net.n_dims; k++)
        for (int32_t i = k; i > 0 && d.net.bw_Bps[i] > d.net.bw_Bps[i - 1]; i--) {
            double held = d.net.bw_Bps[i];
            d.net.bw_Bps[i] = d.net.bw_Bps[i - 1];
            d.net.bw_Bps[i - 1] = held;
        }
    return d;
}

#endif
