#include "sim/gossip/neighbour.h"

#include <assert.h>

#include "sim/gossip/vec.h"

/* ---- graphs ---- */

int32_t gossip_rounds(enum gossip_graph graph, int32_t n_workers)
{
    int32_t rounds = 1;
    if (graph == GOSSIP_RING)
        return 1;
    while ((int64_t)1 << rounds < n_workers)
        rounds++;
    return rounds;
}

struct gossip_neighbours gossip_neighbours(enum gossip_graph graph, int32_t n_workers, int32_t worker,
                                           int64_t round)
{
    struct gossip_neighbours n = { 0 };
    if (n_workers < 2)
        return n;
    int64_t hop = graph == GOSSIP_RING ? 1 : (int64_t)1 << round % gossip_rounds(graph, n_workers);
    int32_t before = (int32_t)((worker - hop + n_workers) % n_workers);
    int32_t behind = (int32_t)((worker + hop) % n_workers);
    if (graph == GOSSIP_EXPONENTIAL)
        return (struct gossip_neighbours){ .n = 1, .to = { before }, .from = { behind } };
    return (struct gossip_neighbours){ .n = before == behind ? 1 : 2,
                                       .to = { before, behind },
                                       .from = { before, behind } };
}

int32_t gossip_neighbour_place(const struct gossip_neighbours *n, int32_t from)
{
    assert(n->n > 0);
    return n->n == 2 && n->from[1] == from;
}

/* ---- messages ---- */

int gossip_send_around(struct gossip_cluster *c, struct gossip_outbox *out,
                       const struct gossip_transfer *what, struct err *e)
{
    struct gossip_neighbours n = gossip_neighbours(GOSSIP_RING, c->n_workers, what->from, 0);
    struct gossip_transfer t = *what;
    int rc = 0;
    if (n.n && !out->held && (!c->setup->clock.overlap || out->flying > 0)) {
        gossip_hold(c, &c->workers[what->from]);
        out->held = true;
    }
    out->flying += n.n;
    for (int32_t k = 0; k < n.n && !rc; k++) {
        t.to = n.to[k];
        t.holds_from = false;
        rc = gossip_send(c, &t, e);
    }
    return rc;
}

void gossip_sent_around(struct gossip_cluster *c, struct gossip_worker *w, struct gossip_outbox *out)
{
    if (--out->flying > 0 || !out->held)
        return;
    out->held = false;
    gossip_release(c, w);
}

/* ---- averages ---- */

void gossip_average(float *y, float *const others[], int32_t n, int32_t n_params)
{
    float *all[GOSSIP_MAX_NEIGHBOURS + 1] = { y };
    for (int32_t k = 0; k < n; k++)
        all[k + 1] = others[k];
    vec_mean(y, all, n + 1, n_params);
}
