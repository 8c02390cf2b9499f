/** @file A second, plain way to a step's time, and small networks, for tests of workloads. */
#ifndef TESTS_UNIT_STEP_ORACLE_H
#define TESTS_UNIT_STEP_ORACLE_H

#include "tests/support.h"
#include "workloads/step.h"

/** Dimensions named d1, d2, ...; all rings of latency 0 unless the test changes them. Model bandwidth counts
 * bytes as oracle_bytes() does; what links make of them is tested in sim/fabric. */
static inline struct topo_network oracle_network(const int32_t *sizes, int32_t n_dims)
{
    struct topo_network net = { .n_dims = n_dims, .n_npus = 1, .parts = -1, .whole_parts = true };
    for (int32_t d = 0; d < n_dims; d++) {
        net.dims[d] = (struct topo_dim){ .shape = TOPO_RING, .size = sizes[d], .efficiency = 1 };
        snprintf(net.dims[d].name, TOPO_NAME, "d%d", d + 1);
        net.n_npus *= sizes[d];
    }
    return net;
}

/** Bytes on dimension d by the sentence "share = what the dimensions visited before leave or make of S"; of
 * merged copies the share. */
static inline double oracle_bytes(const struct step_node *c, const struct step_group *g, int32_t n_dims,
                                  int32_t d)
{
    const int32_t *members = g->members;
    double inner = 1, outer = 1, n = members[d], S = c->bytes;
    for (int32_t k = 0; k < n_dims; k++) {
        inner *= k < d ? members[k] : 1;
        outer *= k > d ? members[k] : 1;
    }
    if (c->collective == COLLECTIVE_REDUCE_SCATTER)
        return S * (n - 1) / (inner * n);
    if (c->collective == COLLECTIVE_ALL_REDUCE)
        return 2 * S * (n - 1) / (inner * n);
    if (c->collective == COLLECTIVE_ALL_GATHER)
        return S * outer * (n - 1);
    if (c->collective == COLLECTIVE_ALL_TO_ALL)
        return (g->share[d] > 0 ? g->share[d] : 1) * S * (n - 1) / n;
    return n > 1 ? S : 0; /* broadcast, send: the whole buffer passes every dimension that is used */
}

/** Seconds that the links of dimension @p d are busy with all below @p id; of children on different NPUs,
 * those of the one that sends most. */
static inline double oracle_busy(const struct step_tree *t, step_id id, const double *bw_Bps, int32_t d)
{
    const struct step_node *node = &t->nodes[id];
    double sum = 0, most = 0;
    if (node->kind == STEP_COLLECTIVE) {
        double B = oracle_bytes(node, &t->groups[node->group], t->n_dims, d);
        return B > 0 ? node->times * B / bw_Bps[d] : 0;
    }
    for (step_id child = node->first; child >= 0; child = t->nodes[child].next) {
        double s = oracle_busy(t, child, bw_Bps, d);
        sum += s;
        most = fmax(most, s);
    }
    return node->apart ? most : node->kind == STEP_REPEAT ? node->times * sum : sum;
}

/** Seconds of node @p id: sums of maxima over dimensions of bytes / bandwidth. What runs side by side takes
 * no less than any dimension is busy. */
static inline double oracle_time(const struct step_tree *t, step_id id, const double *bw_Bps)
{
    const struct step_node *node = &t->nodes[id];
    double total = 0;
    if (node->kind == STEP_COMPUTE)
        return node->seconds;
    if (node->kind == STEP_COLLECTIVE) {
        for (int32_t d = 0; d < t->n_dims; d++) {
            double B = oracle_bytes(node, &t->groups[node->group], t->n_dims, d);
            total = B > 0 ? fmax(total, B / bw_Bps[d]) : total;
        }
        return node->times * total;
    }
    for (step_id child = node->first; child >= 0; child = t->nodes[child].next) {
        double s = oracle_time(t, child, bw_Bps);
        total = node->kind == STEP_MAX ? fmax(total, s) : total + s;
    }
    for (int32_t d = 0; d < t->n_dims && node->kind == STEP_MAX && !node->apart; d++)
        total = fmax(total, oracle_busy(t, id, bw_Bps, d));
    return node->kind == STEP_REPEAT ? node->times * total : total;
}

/** Bytes that all collectives of one phase (or all phases: N_STEP_PHASES) put on dimension d; repeats
 * counted. */
static inline double oracle_traffic(const struct step_tree *t, step_id id, enum step_phase phase, int32_t d)
{
    const struct step_node *node = &t->nodes[id];
    double total = 0;
    if (node->kind == STEP_COLLECTIVE && (phase == N_STEP_PHASES || node->phase == phase))
        total = node->times * oracle_bytes(node, &t->groups[node->group], t->n_dims, d);
    for (step_id child = node->first; child >= 0; child = t->nodes[child].next)
        total += oracle_traffic(t, child, phase, d);
    return node->kind == STEP_REPEAT ? node->times * total : total;
}

/** Seconds of compute of one phase (or all), repeats counted; every leaf once, whatever it overlaps with. */
static inline double oracle_compute(const struct step_tree *t, step_id id, enum step_phase phase)
{
    const struct step_node *node = &t->nodes[id];
    double total = 0;
    if (node->kind == STEP_COMPUTE && (phase == N_STEP_PHASES || node->phase == phase))
        total = node->seconds;
    for (step_id child = node->first; child >= 0; child = t->nodes[child].next)
        total += oracle_compute(t, child, phase);
    return node->kind == STEP_REPEAT ? node->times * total : total;
}

static inline const int32_t *oracle_members(const struct step_tree *t, const char *group)
{
    int32_t g = step_find_group(t, group);
    assert_true(g >= 0);
    return t->groups[g].members;
}

/** A tree without nodes, released where the block ends. */
#define STEP_BEGIN(t, name, net)                                                                             \
    KEEP(struct step_tree, t, step_free);                                                                    \
    step_begin(&t, name, net)

#endif
