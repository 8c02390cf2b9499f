#include <math.h>

#include "sim/astra/astra_phase.h"
#include "workloads/collective.h"

static bool is_power_of_two(int32_t n)
{
    return (n & (n - 1)) == 0;
}

static int check_dim(const struct sim_astra_dim *dim, int32_t d, struct err *e)
{
    if (dim->shape == TOPO_LINE)
        return err_set(e, ERR_RANGE, "dims[%d].shape: is line, need ring, full or switch", d);
    if (dim->size < TOPO_MIN_SIZE || dim->size > TOPO_MAX_SIZE)
        return err_set(e, ERR_RANGE, "dims[%d].size: is %d, need %d to %d", d, dim->size, TOPO_MIN_SIZE,
                       TOPO_MAX_SIZE);
    if (!(isfinite(dim->GiBps) && dim->GiBps > 0))
        return err_set(e, ERR_RANGE, "dims[%d].GiBps: is %g, need a bandwidth above 0", d, dim->GiBps);
    if (!(isfinite(dim->lat_ns) && dim->lat_ns >= 0))
        return err_set(e, ERR_RANGE, "dims[%d].lat_ns: is %g, need a latency of 0 or more", d, dim->lat_ns);
    return 0;
}

static int check_algorithm(const struct sim_astra_conf *conf, int32_t d, struct err *e)
{
    enum topo_algorithm a = conf->algorithms[d];
    const struct sim_astra_dim *dim = &conf->dims[d];
    if (a != TOPO_ALGORITHM_RING && a != TOPO_ALGORITHM_DIRECT && a != TOPO_ALGORITHM_HALVING &&
        a != TOPO_ALGORITHM_TREE)
        return err_set(e, ERR_RANGE,
                       "algorithms[%d]: is %s, need ring, direct, halving-doubling or double-binary-tree", d,
                       a < N_TOPO_ALGORITHMS ? topo_algorithm_words[a] : "unknown");
    if ((a == TOPO_ALGORITHM_HALVING || a == TOPO_ALGORITHM_TREE) && !is_power_of_two(dim->size))
        return err_set(e, ERR_RANGE, "algorithms[%d]: is %s of %d members, need 2^k of them", d,
                       topo_algorithm_words[a], dim->size);
    return 0;
}

static int check_network(const struct sim_astra_conf *conf, struct err *e)
{
    int64_t npus = 1;
    if (conf->n_dims < 1 || conf->n_dims > TOPO_MAX_DIMS)
        return err_set(e, ERR_RANGE, "dims: are %d, need 1 to %d", conf->n_dims, TOPO_MAX_DIMS);
    if (conf->backend == SIM_ASTRA_AWARE && conf->n_dims > 1)
        return err_set(e, ERR_UNSUP, "dims: are %d with contention, need one", conf->n_dims);
    if (conf->n_algorithms != conf->n_dims)
        return err_set(e, ERR_RANGE, "algorithms: are %d for %d dimensions, need one for each",
                       conf->n_algorithms, conf->n_dims);
    for (int32_t d = 0; d < conf->n_dims; d++) {
        int rc = check_dim(&conf->dims[d], d, e);
        if (!rc)
            rc = check_algorithm(conf, d, e);
        if (rc)
            return rc;
        npus *= conf->dims[d].size;
        if (npus > TOPO_MAX_NPUS)
            return err_set(e, ERR_RANGE, "dims: have %lld NPUs or more, need at most %d", (long long)npus,
                           TOPO_MAX_NPUS);
    }
    return 0;
}

static int check_count(int64_t x, const char *name, int64_t most, struct err *e)
{
    if (x < 1 || x > most)
        return err_set(e, ERR_RANGE, "%s: is %lld, need 1 to %lld", name, (long long)x, (long long)most);
    return 0;
}

static int check_system(const struct sim_astra_conf *conf, struct err *e)
{
    int rc = check_count(conf->splits, "splits", STAGE_MAX_CHUNKS, e);
    if (!rc)
        rc = check_count(conf->active_chunks, "active_chunks", INT32_MAX, e);
    if (!rc)
        rc = check_count(conf->queues, "queues", SIM_ASTRA_MAX_QUEUES, e);
    if (rc)
        return rc;
    if (conf->endpoint_ns < 0 || conf->endpoint_ns > INT64_C(1000000000000))
        return err_set(e, ERR_RANGE, "endpoint_ns: is %lld, need 0 to 1e12", (long long)conf->endpoint_ns);
    if (!(conf->mem_GBps > 0))
        return err_set(e, ERR_RANGE, "mem_GBps: is %g, need a bandwidth above 0", conf->mem_GBps);
    return 0;
}

/* Members end at different times, so that what follows would start ragged; and the two trees of one dimension
 * take turns. Nothing is known to hold such figures against. */
static int check_tree(const struct sim_astra_conf *conf, const struct sim_astra_collective *c, int32_t d,
                      struct err *e)
{
    if (c->kind != COLLECTIVE_ALL_REDUCE || conf->n_dims > 1 || conf->splits > 1)
        return err_set(
            e, ERR_UNSUP,
            "algorithms[%d]: is double-binary-tree, need an all-reduce of one chunk in one dimension", d);
    if (conf->dims[d].shape == TOPO_RING)
        return err_set(e, ERR_UNSUP, "algorithms[%d]: is double-binary-tree on a ring, need full or switch",
                       d);
    return 0;
}

static int check_collective(const struct sim_astra_conf *conf, const struct sim_astra_collective *c,
                            struct err *e)
{
    bool any = false;
    if (c->bytes < 1)
        return err_set(e, ERR_RANGE, "bytes: is %lld, need 1 or more", (long long)c->bytes);
    if (c->issue_ns < 0 || c->issue_ns > INT64_C(1000000000000000))
        return err_set(e, ERR_RANGE, "issue_ns: is %lld, need 0 to 1e15", (long long)c->issue_ns);
    if (c->kind == COLLECTIVE_BROADCAST || c->kind == COLLECTIVE_SEND)
        return err_set(e, ERR_UNSUP, "kind: is %s, need all-reduce, reduce-scatter, all-gather or all-to-all",
                       collective_names[c->kind]);
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++) {
        if (!c->in[d])
            continue;
        any = true;
        if (d >= conf->n_dims)
            return err_set(e, ERR_RANGE, "in[%d]: is set, need one of %d dimensions", d, conf->n_dims);
        if (c->kind == COLLECTIVE_ALL_TO_ALL && conf->algorithms[d] != TOPO_ALGORITHM_DIRECT)
            return err_set(e, ERR_UNSUP, "algorithms[%d]: is %s, need direct for an all-to-all", d,
                           topo_algorithm_words[conf->algorithms[d]]);
        int rc = conf->algorithms[d] == TOPO_ALGORITHM_TREE ? check_tree(conf, c, d, e) : 0;
        if (rc)
            return rc;
    }
    return any ? 0 : err_set(e, ERR_RANGE, "in: is set for no dimension, need one or more");
}

int sim_astra_check(const struct sim_astra_conf *conf, const struct sim_astra_collective *list, int32_t n,
                    struct err *e)
{
    int rc = check_network(conf, e);
    if (!rc)
        rc = check_system(conf, e);
    if (!rc)
        rc = check_count(n, "collectives", SIM_ASTRA_MAX_COLLECTIVES, e);
    if (!rc && conf->backend == SIM_ASTRA_AWARE && n > 1)
        rc = err_set(e, ERR_UNSUP, "collectives: are %d with contention, need one", n);
    for (int32_t i = 0; i < n && !rc; i++) {
        rc = check_collective(conf, &list[i], e);
        if (!rc && i && list[i].issue_ns < list[i - 1].issue_ns)
            rc = err_set(e, ERR_RANGE, "issue_ns: is %lld after %lld, need them in order",
                         (long long)list[i].issue_ns, (long long)list[i - 1].issue_ns);
        if (rc && n > 1)
            err_wrap(e, "collectives[%d]", i);
    }
    return rc;
}
