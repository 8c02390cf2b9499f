/* Messages as flows that share links, and collectives of flows, simulated alone. */
#include "sim/flow/flow_collective.h"
#include "sim/gossip/wire_model.h"

static int set_shares(struct gossip_wire *w, bool of_messages, struct err *e)
{
    int rc = 0;
    for (int32_t a = 0; a < w->routes.n_arcs && !rc; a += 2)
        rc =
            topo_routes_set_share(&w->routes, a / 2, of_messages ? w->net.dims[w->dims[a]].efficiency : 1, e);
    return rc;
}

/* A message crosses dimensions of different efficiency, so that it is taken from the links, not added to the
 * bytes. Collectives do the latter: their routes have whole links. */
int wire_flows_build(struct gossip_wire *w, struct err *e)
{
    w->flows.head = w->flows.tail = -1;
    int rc = set_shares(w, true, e);
    if (!rc)
        rc = flow_net_build(&w->flows.net, &w->routes, e);
    return rc ? rc : set_shares(w, false, e);
}

/* ---- waiting ---- */

/* What waits is a collective and all that was asked for after it: nothing overtakes it. */
bool wire_flows_may_begin(const struct gossip_wire *w, const struct wire_parcel *p)
{
    const struct wire_flows *f = &w->flows;
    return !f->collects && f->head < 0 && !(p->collective && f->n_moving > 0);
}

void wire_flows_wait(struct gossip_wire *w, int32_t tag)
{
    struct wire_flows *f = &w->flows;
    w->parcels[tag].next = -1;
    if (f->tail >= 0)
        w->parcels[f->tail].next = tag;
    else
        f->head = tag;
    f->tail = tag;
}

int wire_flows_go_on(struct gossip_wire *w, double now_s, struct err *e)
{
    struct wire_flows *f = &w->flows;
    int rc = 0;
    while (!rc && f->head >= 0 && !f->collects) {
        int32_t tag = f->head;
        if (w->parcels[tag].collective && f->n_moving > 0)
            break;
        f->head = w->parcels[tag].next;
        f->tail = f->head < 0 ? -1 : f->tail;
        wire_note(w, tag, false);
        rc = wire_begin(w, tag, now_s, e);
    }
    return rc;
}

/* ---- moving ---- */

static int add_flow(struct gossip_wire *w, int32_t tag, const struct topo_path *path, double bytes,
                    double now_s, struct err *e)
{
    if (path->n == 0)
        return 0;
    w->parcels[tag].left++;
    return flow_add(w->flows.net,
                    &(struct flow_spec){ .arcs = path->arcs,
                                         .n_arcs = path->n,
                                         .bytes = bytes,
                                         .start_s = now_s,
                                         .extra_s = w->fabric->rules.endpoint_s,
                                         .tag = tag },
                    e);
}

int wire_flows_send(struct gossip_wire *w, int32_t tag, double now_s, struct err *e)
{
    struct wire_parcel *p = &w->parcels[tag];
    w->flows.n_moving++;
    p->left = 0;
    int rc = add_flow(w, tag, &p->there, p->there_B, now_s, e);
    return rc ? rc : add_flow(w, tag, &p->back, p->back_B, now_s, e);
}

void wire_flows_advance(struct gossip_wire *w)
{
    struct flow_net *net = w->flows.net;
    flow_advance(net);
    for (int32_t i = 0; i < flow_n_ended(net); i++) {
        int32_t tag = (int32_t)flow_ended(net, i);
        if (--w->parcels[tag].left > 0)
            continue;
        w->flows.n_moving--;
        wire_note(w, tag, true);
    }
}

/* ---- collectives ---- */

static int run_alone(double *time_s, struct flow_sim *sim, const struct gossip_fabric *f,
                     enum collective_kind kind, double bytes, struct err *e)
{
    static const int32_t first[TOPO_MAX_DIMS] = { 0 };
    struct flow_group_spec spec = { .first = first };
    int32_t group, id;
    for (int32_t d = 0; d < f->net.n_dims; d++)
        spec.members[d] = f->members[d];
    int rc = flow_sim_group(sim, &spec, &group, e);
    if (!rc)
        rc = flow_sim_issue(sim, group, kind, bytes, 0, 0, &id, e);
    if (!rc)
        rc = flow_sim_run(sim, e);
    if (!rc)
        *time_s = flow_sim_finish_s(sim, id);
    return rc;
}

int wire_flows_collective_s(double *time_s, struct gossip_wire *w, enum collective_kind kind, double bytes,
                            struct err *e)
{
    struct flow_sim *sim;
    int rc = flow_sim_build(
        &sim, &w->routes,
        &(struct flow_rules){ .stage = w->fabric->rules, .route = TOPO_ROUTE_DIMENSION, .active = 1 }, e);
    if (!rc)
        rc = run_alone(time_s, sim, w->fabric, kind, bytes, e);
    flow_sim_free(sim);
    return rc ? err_wrap(e, "collective of all workers") : 0;
}
