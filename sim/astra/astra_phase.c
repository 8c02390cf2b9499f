#include "sim/astra/astra_phase.h"

#include <math.h>

#include "base/num.h"

/* Doubles below it convert to int64_t, and a few of them still add up. */
#define MAX_NS 4.6e18

double sim_astra_link_Bpns(const struct sim_astra_dim *dim)
{
    return dim->GiBps * 1073741824.0 / 1e9;
}

/* Two reads and a write for each sum. */
int64_t sim_astra_digest_ns(const struct sim_astra_conf *conf, const struct sim_astra_round *r)
{
    double once = floor((double)r->bytes / conf->mem_GBps);
    return conf->endpoint_ns + (r->reduced ? (int64_t)3 * r->reduced * (int64_t)once : 0);
}

static int32_t bits(int32_t n)
{
    int32_t s = 0;
    while (n >> (s + 1))
        s++;
    return s;
}

static int32_t ring_rounds(struct sim_astra_round *out, enum pass pass, int32_t n, int64_t bytes)
{
    struct sim_astra_round r = {
        SIM_ASTRA_NEXT, n - 1, 1, 1, 0, pass == PASS_ALL_GATHER ? bytes : bytes / n
    };
    int32_t k = 0;
    if (pass != PASS_ALL_GATHER)
        out[k++] = r;
    r.reduced = 0;
    if (pass != PASS_REDUCE_SCATTER)
        out[k++] = r;
    return k;
}

/* One sum is billed, however many messages come in. */
static int32_t direct_rounds(struct sim_astra_round *out, enum pass pass, int32_t n, int64_t bytes)
{
    struct sim_astra_round r = { SIM_ASTRA_ALL, 1, n / 2, 1, 0, pass == PASS_ALL_GATHER ? bytes : bytes / n };
    int32_t k = 0;
    if (pass == PASS_REDUCE_SCATTER || pass == PASS_ALL_REDUCE)
        out[k++] = r;
    r.reduced = 0;
    if (pass != PASS_REDUCE_SCATTER)
        out[k++] = r;
    return k;
}

/* The sum of the first round is not billed: ASTRA-sim counts one too few. */
static int32_t halving_rounds(struct sim_astra_round *out, enum pass pass, int32_t n, int64_t bytes)
{
    int32_t s = bits(n), k = 0;
    if (pass != PASS_ALL_GATHER)
        for (int32_t i = 1; i <= s; i++)
            out[k++] = (struct sim_astra_round){ SIM_ASTRA_PAIR, 1, 1 << (i - 1), i > 1, 0, bytes >> i };
    int64_t shard = pass == PASS_ALL_GATHER ? bytes : bytes >> s;
    if (pass != PASS_REDUCE_SCATTER)
        for (int32_t i = s; i >= 1; i--)
            out[k++] = (struct sim_astra_round){ SIM_ASTRA_PAIR, 1, 1 << (i - 1), 0, 0, shard << (s - i) };
    return k;
}

/* A root with one child, below it a full binary tree of the others: log2 n levels up with the whole chunk,
 * and down again. All but the uppermost have two children to a parent. */
static int32_t tree_rounds(struct sim_astra_round *out, int32_t n, int64_t bytes)
{
    int32_t s = bits(n), k = 0;
    for (int32_t i = 1; i <= s; i++)
        out[k++] = (struct sim_astra_round){ SIM_ASTRA_TREE, 1, 1, i < s ? 2 : 1, i < s, bytes };
    for (int32_t i = s; i >= 1; i--)
        out[k++] = (struct sim_astra_round){ SIM_ASTRA_TREE, 1, 1, 0, i < s, bytes };
    return k;
}

int32_t sim_astra_rounds(struct sim_astra_round out[SIM_ASTRA_MAX_ROUNDS], const struct sim_astra_conf *conf,
                         const struct sim_astra_phase *p)
{
    int32_t n = conf->dims[p->dim].size;
    switch (conf->algorithms[p->dim]) {
    case TOPO_ALGORITHM_RING:
        return ring_rounds(out, p->pass, n, p->bytes);
    case TOPO_ALGORITHM_DIRECT:
        return direct_rounds(out, p->pass, n, p->bytes);
    case TOPO_ALGORITHM_HALVING:
        return halving_rounds(out, p->pass, n, p->bytes);
    default:
        return tree_rounds(out, n, p->bytes);
    }
}

static int32_t hops(const struct sim_astra_dim *dim, int32_t distance)
{
    if (dim->shape == TOPO_RING)
        return distance < dim->size - distance ? distance : dim->size - distance;
    return dim->shape == TOPO_SWITCH ? 2 : 1;
}

/*
 * A round of messages [ns], before it is rounded down. Without contention latency counts for every hop and
 * serialisation once. Of a tree with contention: stored and forwarded, and behind the sibling's message.
 */
static double round_ns(const struct sim_astra_conf *conf, const struct sim_astra_dim *dim,
                       const struct sim_astra_round *r)
{
    double wire = (double)r->bytes / sim_astra_link_Bpns(dim);
    int32_t h = hops(dim, r->distance);
    if (conf->backend == SIM_ASTRA_UNAWARE)
        return h * dim->lat_ns + wire;
    bool shared = dim->shape == TOPO_SWITCH;
    return h * floor(dim->lat_ns + wire) + (shared ? r->waits * floor(wire) : 0);
}

int sim_astra_phase_ns(int64_t *out, const struct sim_astra_conf *conf, const struct sim_astra_phase *p,
                       struct err *e)
{
    struct sim_astra_round rounds[SIM_ASTRA_MAX_ROUNDS];
    int32_t n = sim_astra_rounds(rounds, conf, p);
    int64_t total = conf->endpoint_ns;
    for (int32_t i = 0; i < n; i++) {
        const struct sim_astra_round *r = &rounds[i];
        double message = round_ns(conf, &conf->dims[p->dim], r);
        double sums = 3.0 * r->reduced * (double)r->bytes / conf->mem_GBps;
        if (!(r->times * (message + sums + (double)conf->endpoint_ns) + (double)total < MAX_NS))
            return err_set(e, ERR_RANGE, "dims[%d]: a phase takes more than %g ns, need less", p->dim,
                           MAX_NS);
        total += r->times * ((int64_t)message + sim_astra_digest_ns(conf, r));
    }
    *out = total;
    return 0;
}

/* A chunk has at least a byte for each NPU, and a last chunk that is smaller is billed as a full one. */
static int cut(struct sim_astra_plan *plan, const struct sim_astra_conf *conf, int64_t bytes, struct err *e)
{
    int64_t npus = 1, chunk = bytes / conf->splits;
    for (int32_t d = 0; d < conf->n_dims; d++)
        npus *= conf->dims[d].size;
    if (chunk < npus)
        chunk = npus;
    /* Below 2 * STAGE_MAX_CHUNKS: a remainder is less than `splits` bytes, and chunks have one at least. */
    plan->n_chunks = (int32_t)(bytes / chunk + (bytes % chunk != 0));
    plan->chunk_B = chunk;
    int64_t grown;
    if (!num_mul(chunk, npus, &grown))
        return err_set(e, ERR_RANGE, "bytes: is %lld for %lld NPUs, need a product below 2^63",
                       (long long)bytes, (long long)npus);
    return 0;
}

static void add(struct sim_astra_plan *plan, const struct sim_astra_conf *conf, int32_t dim, enum pass pass,
                int64_t *bytes)
{
    plan->phases[plan->n_phases++] = (struct sim_astra_phase){ dim, pass, *bytes };
    if (pass == PASS_REDUCE_SCATTER)
        *bytes /= conf->dims[dim].size;
    else if (pass == PASS_ALL_GATHER)
        *bytes *= conf->dims[dim].size;
}

int sim_astra_plan(struct sim_astra_plan *plan, const struct sim_astra_conf *conf,
                   const struct sim_astra_collective *c, struct err *e)
{
    int32_t dims[TOPO_MAX_DIMS], n = 0;
    for (int32_t d = 0; d < conf->n_dims; d++)
        if (c->in[d])
            dims[n++] = d;
    *plan = (struct sim_astra_plan){ 0 };
    int rc = cut(plan, conf, c->bytes, e);
    if (rc)
        return rc;
    int64_t bytes = plan->chunk_B;
    if (c->kind == COLLECTIVE_ALL_TO_ALL || (c->kind == COLLECTIVE_ALL_REDUCE && conf->baseline)) {
        for (int32_t i = 0; i < n; i++)
            add(plan, conf, dims[i], c->kind == COLLECTIVE_ALL_TO_ALL ? PASS_ALL_TO_ALL : PASS_ALL_REDUCE,
                &bytes);
        return 0;
    }
    int32_t turn =
        c->kind == COLLECTIVE_ALL_REDUCE ? n - 1 : n; /* dimensions scattered over, gathered over */
    if (c->kind != COLLECTIVE_ALL_GATHER)
        for (int32_t i = 0; i < turn; i++)
            add(plan, conf, dims[i], PASS_REDUCE_SCATTER, &bytes);
    if (c->kind == COLLECTIVE_ALL_REDUCE)
        add(plan, conf, dims[turn], PASS_ALL_REDUCE, &bytes);
    if (c->kind != COLLECTIVE_REDUCE_SCATTER)
        for (int32_t i = turn - 1; i >= 0; i--)
            add(plan, conf, dims[i], PASS_ALL_GATHER, &bytes);
    return 0;
}
