#include <math.h>

#include "sim/flow/flow_model.h"

/*
 * Offers this close (relative) to the last level are that level: flows that are equal by symmetry get equal
 * rates to the last bit, whatever rounding the subtractions before them had. Far above rounding, far below
 * what matters.
 */
#define SAME_LEVEL (1 + 0x1p-40)

/* A flow that is that close (relative) to where it should be stays: above the rounding of a sum of thousands.
 */
#define SAME_RATE (1 + 0x1p-43)

/* Rounds of going on with the wronged before all that hang together are taken. */
enum { MAX_ROUNDS = 12 };

void flow_touch(struct flow_net *net, int32_t arc)
{
    if (!net->arcs[arc].dirty) {
        net->arcs[arc].dirty = true;
        net->dirty[net->n_dirty++] = arc;
    }
}

void flow_set_rate(struct flow_net *net, int32_t f, double rate_Bps)
{
    struct flow *flow = &net->flows[f];
    if (rate_Bps == flow->rate_Bps)
        return;
    flow->left_B = fmax(0, flow->left_B - flow->rate_Bps * (net->now_s - flow->since_s));
    flow->since_s = net->now_s;
    flow->rate_Bps = rate_Bps;
    flow_date_set(net, f, net->now_s + flow->left_B / rate_Bps);
}

/* ---- who gets a new rate ---- */

static void reach_arc(struct flow_net *net, int32_t arc)
{
    if (net->arcs[arc].mark != net->mark) {
        net->arcs[arc].mark = net->mark;
        net->arcs[arc].dirty = false;
        net->near_arcs[net->n_near_arcs++] = arc;
    }
}

static bool is_reached(const struct flow_net *net, const struct flow *flow)
{
    return flow->mark == net->mark;
}

static void reach_flow(struct flow_net *net, int32_t f)
{
    struct flow *flow = &net->flows[f];
    if (is_reached(net, flow))
        return;
    flow->mark = net->mark;
    net->near_flows[net->n_near_flows++] = f;
    for (int32_t i = 0; i < flow->n_arcs; i++)
        reach_arc(net, net->places[flow->place + i].arc);
}

/* All that hangs together with what is reached so far. */
static void reach_all(struct flow_net *net)
{
    for (int32_t i = 0; i < net->n_near_arcs; i++)
        for (int32_t p = net->arcs[net->near_arcs[i]].head; p >= 0; p = net->places[p].next)
            reach_flow(net, net->places[p].flow);
}

/* An arc that flows came to or left: who has no rate yet, and whom the arc held back. */
static void reach_held(struct flow_net *net, int32_t arc)
{
    reach_arc(net, arc);
    for (int32_t p = net->arcs[arc].head; p >= 0; p = net->places[p].next) {
        const struct flow *flow = &net->flows[net->places[p].flow];
        if (flow->neck == arc || flow->neck == FLOW_NEW)
            reach_flow(net, net->places[p].flow);
    }
}

/* ---- progressive filling ---- */

static bool is_less(const struct flow_offer *a, const struct flow_offer *b)
{
    return a->Bps < b->Bps || (!(a->Bps > b->Bps) && a->arc < b->arc);
}

static void sink(struct flow_net *net, int32_t at)
{
    struct flow_offer moved = net->offers[at];
    for (;;) {
        int32_t child = 2 * at + 1;
        if (child >= net->n_offers)
            break;
        if (child + 1 < net->n_offers && is_less(&net->offers[child + 1], &net->offers[child]))
            child++;
        if (!is_less(&net->offers[child], &moved))
            break;
        net->offers[at] = net->offers[child];
        at = child;
    }
    net->offers[at] = moved;
}

static double offer_of(const struct flow_arc *arc)
{
    /* Less than nothing is left where flows that keep their rate will have to give some of it back. */
    return arc->open > 0 ? fmax(0, arc->left_Bps) / arc->open : 0;
}

/* Flows that are not reached keep what they have. */
static void make_offers(struct flow_net *net)
{
    net->n_offers = net->n_near_arcs;
    for (int32_t i = 0; i < net->n_offers; i++) {
        struct flow_arc *arc = &net->arcs[net->near_arcs[i]];
        arc->left_Bps = arc->bw_Bps;
        arc->open = 0;
        for (int32_t p = arc->head; p >= 0; p = net->places[p].next) {
            const struct flow *flow = &net->flows[net->places[p].flow];
            if (is_reached(net, flow))
                arc->open++;
            else
                arc->left_Bps -= flow->rate_Bps;
        }
        net->offers[i] = (struct flow_offer){ offer_of(arc), net->near_arcs[i] };
    }
    for (int32_t i = net->n_offers / 2; i-- > 0;)
        sink(net, i);
}

/*
 * The arc that offers least, or -1 when all flows have their rate. Offers only grow while flows are fixed at
 * the least one, so an old one in the heap is too low at worst: it is corrected when it comes to the top.
 */
static int32_t least_offer(struct flow_net *net, double *offer_Bps)
{
    while (net->n_offers > 0) {
        struct flow_offer *top = &net->offers[0];
        const struct flow_arc *arc = &net->arcs[top->arc];
        if (arc->open == 0) {
            *top = net->offers[--net->n_offers];
        } else {
            double now_Bps = offer_of(arc);
            if (!(now_Bps > top->Bps)) {
                *offer_Bps = top->Bps;
                return top->arc;
            }
            top->Bps = now_Bps;
        }
        sink(net, 0);
    }
    return -1;
}

static void fix_flow(struct flow_net *net, int32_t f, double rate_Bps, int32_t neck)
{
    struct flow *flow = &net->flows[f];
    if (!flow->open)
        return;
    flow->open = false;
    flow->next_Bps = rate_Bps;
    flow->neck = neck;
    for (int32_t i = 0; i < flow->n_arcs; i++) {
        struct flow_arc *arc = &net->arcs[net->places[flow->place + i].arc];
        arc->left_Bps -= rate_Bps;
        arc->open--;
    }
}

/* Raise all rates together; whoever meets a full arc stays there. */
static void fill_up(struct flow_net *net)
{
    double level_Bps = 0, offer_Bps = INFINITY;
    for (int32_t i = 0; i < net->n_near_flows; i++)
        net->flows[net->near_flows[i]].open = true;
    make_offers(net);
    for (int32_t arc; (arc = least_offer(net, &offer_Bps)) >= 0;) {
        if (!(offer_Bps <= level_Bps * SAME_LEVEL))
            level_Bps = offer_Bps;
        for (int32_t p = net->arcs[arc].head; p >= 0; p = net->places[p].next)
            fix_flow(net, net->places[p].flow, level_Bps, arc);
    }
}

/* ---- whose bottleneck still holds ---- */

static double rate_of(const struct flow_net *net, const struct flow *flow)
{
    return is_reached(net, flow) ? flow->next_Bps : flow->rate_Bps;
}

/*
 * Reach the flows of an arc that cannot keep their rate: those it held back when it is no longer full or
 * somebody is faster there now; those that are faster than somebody it holds back now.
 */
static void reach_wronged(struct flow_net *net, int32_t a)
{
    const struct flow_arc *arc = &net->arcs[a];
    double load_Bps = 0, fastest_Bps = 0, held_Bps = INFINITY;
    for (int32_t p = arc->head; p >= 0; p = net->places[p].next) {
        const struct flow *flow = &net->flows[net->places[p].flow];
        double rate_Bps = rate_of(net, flow);
        load_Bps += rate_Bps;
        fastest_Bps = fmax(fastest_Bps, rate_Bps);
        if (is_reached(net, flow) && flow->neck == a)
            held_Bps = fmin(held_Bps, rate_Bps);
    }
    bool full = load_Bps * SAME_RATE >= arc->bw_Bps;
    for (int32_t p = arc->head; p >= 0; p = net->places[p].next) {
        const struct flow *flow = &net->flows[net->places[p].flow];
        if (is_reached(net, flow))
            continue;
        bool freed = flow->neck == a && (!full || flow->rate_Bps * SAME_RATE < fastest_Bps);
        if (freed || flow->neck == FLOW_NEW || flow->rate_Bps > held_Bps * SAME_RATE)
            reach_flow(net, net->places[p].flow);
    }
}

/*
 * New rates around @p arc. Every flow that has a bottleneck is as fast as it should be,
 * whatever the way to these rates was: so it is enough to share anew among a few flows, and to go on with
 * those who were wronged by it until there are none. Where that takes long, all that hang together are shared
 * anew.
 */
static void share_around(struct flow_net *net, int32_t arc)
{
    net->mark++;
    net->n_near_arcs = net->n_near_flows = 0;
    reach_held(net, arc);
    for (int round = 0, n_before = -1; net->n_near_flows != n_before && net->n_near_flows > 0; round++) {
        n_before = net->n_near_flows;
        fill_up(net);
        int32_t n_arcs = net->n_near_arcs;
        for (int32_t i = 0; i < n_arcs; i++)
            reach_wronged(net, net->near_arcs[i]);
        if (net->n_near_flows != n_before && round == MAX_ROUNDS)
            reach_all(net);
    }
    for (int32_t i = 0; i < net->n_near_flows; i++)
        flow_set_rate(net, net->near_flows[i], net->flows[net->near_flows[i]].next_Bps);
}

/* Most flows meet no other: true when the one on @p arc does not. */
static bool share_alone(struct flow_net *net, int32_t arc)
{
    int32_t f = net->places[net->arcs[arc].head].flow;
    struct flow *flow = &net->flows[f];
    double rate_Bps = INFINITY;
    int32_t neck = FLOW_NEW;
    for (int32_t i = 0; i < flow->n_arcs; i++) {
        int32_t a = net->places[flow->place + i].arc;
        if (net->arcs[a].n != 1)
            return false;
        if (net->arcs[a].bw_Bps < rate_Bps) {
            rate_Bps = net->arcs[a].bw_Bps;
            neck = a;
        }
    }
    for (int32_t i = 0; i < flow->n_arcs; i++)
        net->arcs[net->places[flow->place + i].arc].dirty = false;
    flow->neck = neck;
    flow_set_rate(net, f, rate_Bps);
    return true;
}

void flow_settle(struct flow_net *net)
{
    for (int32_t i = 0; i < net->n_dirty; i++) {
        int32_t arc = net->dirty[i];
        if (net->arcs[arc].n == 0)
            net->arcs[arc].dirty = false;
        else if (net->arcs[arc].dirty && !(net->arcs[arc].n == 1 && share_alone(net, arc)))
            share_around(net, arc);
    }
    net->n_dirty = 0;
}

void flow_forget_rates(struct flow_net *net)
{
    for (int32_t f = 0; f < net->n_flows; f++)
        if (net->flows[f].moves)
            net->flows[f].neck = FLOW_NEW;
    for (int32_t a = 0; a < net->n_arcs; a++)
        flow_touch(net, a);
}
