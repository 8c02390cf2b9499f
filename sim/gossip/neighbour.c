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
    bool even = worker % 2 == 0;
    return (struct gossip_neighbours){ .n = before == behind ? 1 : 2,
                                       .to = { even ? behind : before, even ? before : behind },
                                       .from = { even ? behind : before, even ? before : behind } };
}

int32_t gossip_neighbour_place(const struct gossip_neighbours *n, int32_t from)
{
    assert(n->n > 0);
    return n->n == 2 && n->from[1] == from;
}

/* ---- messages ---- */

static bool has_one_port(const struct gossip_cluster *c)
{
    const struct gossip_fabric *f = c->setup->fabric;
    return f->rung == GOSSIP_CLOSED && f->net.dims[0].shape == TOPO_SWITCH;
}

int gossip_mail_send(struct gossip_cluster *c, struct gossip_mail *m, struct err *e)
{
    m->sent = m->arrived = 0;
    m->what.holds_from = m->what.holds_to = false;
    int rc = 0;
    while (!rc && m->sent < m->near.n && !(m->sent > 0 && has_one_port(c))) {
        m->what.to = m->near.to[m->sent++];
        rc = gossip_send(c, &m->what, e);
    }
    return rc;
}

int gossip_mail_arrived(struct gossip_cluster *c, struct gossip_mail *m, struct err *e)
{
    if (++m->arrived < m->sent || m->sent == m->near.n)
        return 0;
    m->what.to = m->near.to[m->sent++];
    return gossip_send(c, &m->what, e);
}

static int begin_round(struct gossip_cluster *c, struct gossip_outbox *out,
                       const struct gossip_transfer *what, struct err *e)
{
    out->mail.what = *what;
    out->mail.near = gossip_neighbours(GOSSIP_RING, c->n_workers, what->from, 0);
    return gossip_mail_send(c, &out->mail, e);
}

int gossip_send_around(struct gossip_cluster *c, struct gossip_outbox *out,
                       const struct gossip_transfer *what, struct err *e)
{
    if (c->n_workers < 2)
        return 0;
    out->rounds++;
    assert(out->rounds <= 2 && !out->held);
    if (!c->setup->clock.overlap || out->rounds > 1) {
        gossip_hold(c, &c->workers[what->from]);
        out->held = true;
    }
    if (out->rounds == 1)
        return begin_round(c, out, what, e);
    out->next = *what;
    return 0;
}

int gossip_sent_around(struct gossip_cluster *c, struct gossip_outbox *out, struct err *e)
{
    struct gossip_mail *m = &out->mail;
    int rc = gossip_mail_arrived(c, m, e);
    if (rc || m->arrived < m->near.n)
        return rc;
    if (out->held)
        gossip_release(c, &c->workers[m->what.from]);
    out->held = false;
    return --out->rounds > 0 ? begin_round(c, out, &out->next, e) : 0;
}

/* ---- averages ---- */

void gossip_average(float *y, float *const others[], int32_t n, int32_t n_params)
{
    float *all[GOSSIP_MAX_NEIGHBOURS + 1] = { y };
    for (int32_t k = 0; k < n; k++)
        all[k + 1] = others[k];
    vec_mean(y, all, n + 1, n_params);
}
