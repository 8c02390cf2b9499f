#include "sim/flow/flow.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/flow/flow_model.h"

/* Times this close (relative) are one instant. */
#define SAME_INSTANT (1 + 0x1p-42)

int flow_net_build(struct flow_net **out, const struct topo_routes *routes, struct err *e)
{
    size_t n = (size_t)routes->n_arcs + 1;
    *out = NULL;
    struct flow_net *net = calloc(1, sizeof *net);
    if (!net)
        return err_nomem(e, "flows");
    *net = (struct flow_net){ .n_arcs = routes->n_arcs, .free_flow = -1 };
    net->arcs = calloc(n, sizeof *net->arcs);
    net->dirty = malloc(n * sizeof *net->dirty);
    net->near_arcs = malloc(n * sizeof *net->near_arcs);
    net->offers = malloc(n * sizeof *net->offers);
    if (!net->arcs || !net->dirty || !net->near_arcs || !net->offers) {
        flow_net_free(net);
        return err_nomem(e, "flows");
    }
    for (int32_t a = 0; a < net->n_arcs; a++) {
        net->arcs[a].bw_Bps = topo_arc_bw(routes, a);
        net->arcs[a].lat_s = routes->lat_s[a];
        net->arcs[a].head = -1;
    }
    *out = net;
    return 0;
}

void flow_net_free(struct flow_net *net)
{
    if (!net)
        return;
    free(net->arcs);
    free(net->flows);
    free(net->places);
    free(net->free_places);
    free(net->dates);
    free(net->dirty);
    free(net->ended);
    free(net->near_arcs);
    free(net->near_flows);
    free(net->offers);
    free(net);
}

/* ---- room ---- */

#define GROW(array, cap)                                                                                     \
    do {                                                                                                     \
        void *grown_ = realloc(array, (cap) * sizeof *(array));                                              \
        if (!grown_)                                                                                         \
            return err_nomem(e, "flows");                                                                    \
        (array) = grown_;                                                                                    \
    } while (0)

/* All that has one item per flow grows together, so that nothing can fail while events are handled. */
static int reserve_flows(struct flow_net *net, struct err *e)
{
    if (net->free_flow >= 0 || net->n_flows < net->cap_flows)
        return 0;
    if (net->cap_flows > INT32_MAX / 2)
        return err_nomem(e, "flows");
    size_t cap = net->cap_flows ? 2 * (size_t)net->cap_flows : 64;
    GROW(net->flows, cap);
    GROW(net->dates, cap);
    GROW(net->ended, cap);
    GROW(net->near_flows, cap);
    net->cap_flows = (int32_t)cap;
    return 0;
}

/* Lists of free places of routes of up to n arcs. */
static int reserve_lengths(struct flow_net *net, int32_t n, struct err *e)
{
    if (n < net->cap_lengths)
        return 0;
    int32_t *grown = realloc(net->free_places, ((size_t)n + 1) * sizeof *grown);
    if (!grown)
        return err_nomem(e, "routes of flows");
    for (; net->cap_lengths <= n; net->cap_lengths++)
        grown[net->cap_lengths] = -1;
    net->free_places = grown;
    return 0;
}

/* n places in a row: those of an ended flow with as many arcs, or new ones. */
static int take_places(struct flow_net *net, int32_t n, int32_t *first, struct err *e)
{
    int rc = reserve_lengths(net, n, e);
    if (rc)
        return rc;
    *first = net->free_places[n];
    if (*first >= 0) {
        net->free_places[n] = net->places[*first].next;
        return 0;
    }
    if (n > net->cap_places - net->n_places) {
        int64_t cap = 2 * (int64_t)net->cap_places + n;
        struct flow_place *grown =
            cap <= INT32_MAX ? realloc(net->places, (size_t)cap * sizeof *grown) : NULL;
        if (!grown)
            return err_nomem(e, "routes of flows");
        net->places = grown;
        net->cap_places = (int32_t)cap;
    }
    *first = net->n_places;
    net->n_places += n;
    return 0;
}

static void give_places(struct flow_net *net, int32_t first, int32_t n)
{
    if (n == 0)
        return;
    net->places[first].next = net->free_places[n];
    net->free_places[n] = first;
}

/* ---- arcs ---- */

static void join_arc(struct flow_net *net, int32_t f, int32_t p)
{
    struct flow_place *place = &net->places[p];
    struct flow_arc *arc = &net->arcs[place->arc];
    *place = (struct flow_place){ place->arc, f, -1, arc->head };
    if (arc->head >= 0)
        net->places[arc->head].prev = p;
    arc->head = p;
    arc->n++;
    flow_touch(net, place->arc);
}

static void leave_arc(struct flow_net *net, int32_t p, double bytes)
{
    const struct flow_place *place = &net->places[p];
    struct flow_arc *arc = &net->arcs[place->arc];
    if (place->prev >= 0)
        net->places[place->prev].next = place->next;
    else
        arc->head = place->next;
    if (place->next >= 0)
        net->places[place->next].prev = place->prev;
    arc->bytes += bytes;
    arc->n--;
    flow_touch(net, place->arc);
}

/* ---- flows ---- */

/* Latency is over. What has nothing to move, or meets no link, ends in the same instant. */
static void begin(struct flow_net *net, int32_t f)
{
    struct flow *flow = &net->flows[f];
    net->counts.events++;
    flow->moves = true;
    flow->since_s = net->now_s;
    if (!(flow->bytes > 0) || flow->n_arcs == 0) {
        flow_date_set(net, f, net->now_s);
        return;
    }
    for (int32_t i = 0; i < flow->n_arcs; i++)
        join_arc(net, f, flow->place + i);
}

static void end(struct flow_net *net, int32_t f)
{
    struct flow *flow = &net->flows[f];
    net->counts.events++;
    net->counts.done++;
    net->ended[net->n_ended++] = flow->tag;
    if (flow->bytes > 0)
        for (int32_t i = 0; i < flow->n_arcs; i++)
            leave_arc(net, flow->place + i, flow->bytes);
    give_places(net, flow->place, flow->n_arcs);
    flow->place = net->free_flow;
    flow->moves = false;
    net->free_flow = f;
}

/* Below 0 by no more than rounding is 0. */
#define LATENCY_ROUNDING 1e-12

/* Also the latency of it all [s]. */
static int check_spec(const struct flow_net *net, const struct flow_spec *s, double *lat_s, struct err *e)
{
    if (!(s->bytes >= 0 && isfinite(s->bytes)))
        return err_set(e, ERR_RANGE, "flow: has %g bytes, need 0 or more", s->bytes);
    if (!isfinite(s->extra_s) || !isfinite(s->start_s))
        return err_set(e, ERR_RANGE, "flow: starts at %g s with %g s more latency, need finite times",
                       s->start_s, s->extra_s);
    double links_s = 0;
    for (int32_t i = 0; i < s->n_arcs; i++) {
        if (!(s->arcs[i] >= 0 && s->arcs[i] < net->n_arcs))
            return err_set(e, ERR_RANGE, "flow: arc is %d, need 0 to %d", s->arcs[i], net->n_arcs - 1);
        if (!(net->arcs[s->arcs[i]].bw_Bps > 0))
            return err_set(e, ERR_RANGE, "flow: link %d has failed", s->arcs[i] / 2);
        links_s += net->arcs[s->arcs[i]].lat_s;
    }
    *lat_s = links_s + s->extra_s;
    if (*lat_s < 0 && *lat_s >= -LATENCY_ROUNDING * links_s)
        *lat_s = 0;
    if (!(*lat_s >= 0))
        return err_set(e, ERR_RANGE,
                       "flow: %g s of latency more than the %g s of its links, need 0 or more in all",
                       s->extra_s, links_s);
    return 0;
}

int flow_add(struct flow_net *net, const struct flow_spec *spec, struct err *e)
{
    int32_t place = -1;
    double lat_s = 0;
    int rc = check_spec(net, spec, &lat_s, e);
    if (!rc)
        rc = reserve_flows(net, e);
    if (!rc && spec->n_arcs > 0)
        rc = take_places(net, spec->n_arcs, &place, e);
    if (rc)
        return rc;
    int32_t f = net->free_flow;
    if (f >= 0)
        net->free_flow = net->flows[f].place;
    else
        f = net->n_flows++;
    for (int32_t i = 0; i < spec->n_arcs; i++)
        net->places[place + i].arc = spec->arcs[i];
    net->flows[f] = (struct flow){ .left_B = spec->bytes,
                                   .bytes = spec->bytes,
                                   .tag = spec->tag,
                                   .order = net->counts.added++,
                                   .place = place,
                                   .n_arcs = spec->n_arcs,
                                   .at = -1,
                                   .neck = FLOW_NEW };
    double begin_s = fmax(spec->start_s, net->now_s) + lat_s;
    if (begin_s > net->now_s)
        flow_date_set(net, f, begin_s);
    else
        begin(net, f);
    return 0;
}

double flow_next_s(struct flow_net *net)
{
    flow_settle(net);
    return net->n_dates > 0 ? net->dates[0].time_s : INFINITY;
}

void flow_advance(struct flow_net *net)
{
    double next_s = flow_next_s(net);
    net->n_ended = 0;
    if (isinf(next_s))
        return;
    net->now_s = next_s;
    while (net->n_dates > 0 && net->dates[0].time_s <= next_s * SAME_INSTANT) {
        int32_t f = net->dates[0].flow;
        flow_date_pop(net);
        if (net->flows[f].moves)
            end(net, f);
        else
            begin(net, f);
    }
}

int32_t flow_n_ended(const struct flow_net *net)
{
    return net->n_ended;
}

int64_t flow_ended(const struct flow_net *net, int32_t i)
{
    return net->ended[i];
}

double flow_now_s(const struct flow_net *net)
{
    return net->now_s;
}

struct flow_counts flow_count(const struct flow_net *net)
{
    return net->counts;
}

/* ---- what was used ---- */

struct flow_use flow_arc_use(const struct flow_net *net, int32_t arc)
{
    const struct flow_arc *a = &net->arcs[arc];
    struct flow_use use = { .bytes = a->bytes };
    if (net->now_s > 0 && a->bw_Bps > 0)
        use.util_frac = a->bytes / (a->bw_Bps * net->now_s);
    return use;
}

void flow_each_rate(struct flow_net *net, bool afresh, void (*see)(void *data, int64_t tag, double rate_Bps),
                    void *data)
{
    if (afresh)
        flow_forget_rates(net);
    flow_settle(net);
    for (int32_t f = 0; f < net->n_flows; f++)
        if (net->flows[f].moves)
            see(data, net->flows[f].tag, net->flows[f].rate_Bps);
}
