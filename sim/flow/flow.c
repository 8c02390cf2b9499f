/*
 * Flows over the arcs of a network, at rates that are max-min fair (D. Bertsekas, R. Gallager, Data Networks,
 * 1992, section 6.5.2). A flow waits for its latency, then moves at its rate until its bytes are there. Rates
 * change only when a flow begins or ends, and only for flows that share links with it, directly or through
 * others; sim/flow/maxmin finds these. Events are dates in a heap, of equal times by the order in which flows
 * were added; instants closer than SAME_INSTANT are one. Held against SimGrid: docs/model.md section 19.
 */
#include "sim/flow/flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "sim/flow/maxmin.h"

enum { DUE_SAMPLE = 32 /* dates that are looked at to see whether most are due */ };

/* Times this close (relative) are one instant. */
#define SAME_INSTANT (1 + 0x1p-42)

/* A flow that is that close (relative) to where it should be stays: above the rounding of a sum of thousands.
 */
#define SAME_RATE (1 + 0x1p-43)

struct flow {
    double left_B; /* at time since_s */
    double rate_Bps;
    double since_s; /* when left_B was last brought up to date: when the rate changed */
    double bytes;
    double least_s;     /* it does not end before; 0: as soon as its bytes are there */
    int64_t tag, order; /* order: how many were added before it */
    int32_t next_free;
    int32_t at; /* in the calendar, -1 = not in it */
    int32_t n_arcs;
    bool moves; /* latency is over */
};

struct flow_arc {
    double bw_Bps, lat_s;
    double bytes; /* of flows that are done */
};

/* When a flow has its next event. */
struct flow_date {
    double time_s;
    int64_t order;
    int32_t flow;
};

struct flow_net {
    double now_s;
    double round; /* flow_set_round() */
    struct flow_counts counts;
    int32_t n_arcs;
    struct flow_arc *arcs;  /* shape [n_arcs], owned */
    struct maxmin *sharing; /* of the arcs among the flows that move; owned */

    struct flow *flows; /* shape [cap_flows], owned; n_flows of them were ever used */
    int32_t n_flows, cap_flows, free_flow;

    struct flow_date *dates; /* shape [cap_flows], heap, owned */
    int32_t n_dates;
    struct flow_date *due; /* shape [cap_flows], taken out of the heap together, in order; owned */
    int64_t *ended;        /* shape [cap_flows], tags, owned */
    int32_t n_ended;
    struct maxmin_use *uses; /* of the flow at hand; owned */
    int32_t cap_uses;
};

/* ---- calendar: by time, then by who was added first ---- */

static bool date_before(const struct flow_date *a, const struct flow_date *b)
{
    return (a->time_s < b->time_s) | (!(a->time_s > b->time_s) & (a->order < b->order));
}

static void date_moved(struct flow_net *net, const struct flow_date *date, int64_t at)
{
    net->flows[date->flow].at = (int32_t)at;
}

HEAP_TRACKED(dates, struct flow_date, date_before, struct flow_net *, date_moved)

/* Put a flow in, or move it. */
static void date_set(struct flow_net *net, int32_t f, double time_s)
{
    struct flow_date date = { time_s, net->flows[f].order, f };
    int32_t at = net->flows[f].at;
    if (at < 0) {
        dates_push(net->dates, net->n_dates++, date, net);
    } else {
        net->dates[at] = date;
        dates_settle(net->dates, net->n_dates, at, net);
    }
}

/* Take the first one out. */
static int32_t date_pop(struct flow_net *net)
{
    int32_t f = dates_pop(net->dates, net->n_dates--, net).flow;
    net->flows[f].at = -1;
    return f;
}

static int date_compare(const void *a, const void *b)
{
    return date_before(b, a) - date_before(a, b);
}

/* Whether half of the dates or more are due, by a sample: the top of the heap is, and every so often one. */
static bool dates_mostly_due(const struct flow_net *net, double limit_s)
{
    int32_t n_due = 0, n = net->n_dates;
    for (int32_t i = 0; i < DUE_SAMPLE; i++) {
        if (n < DUE_SAMPLE || (i < 5 && !(net->dates[i].time_s <= limit_s)))
            return false;
        n_due += net->dates[(int64_t)i * n / DUE_SAMPLE].time_s <= limit_s;
    }
    return n_due >= DUE_SAMPLE / 2;
}

/* Due dates in order. Flows of one time were added one soon after another: each has its place by its number,
 * in `ended`, which is empty so far. */
static void dates_sort_due(struct flow_net *net, int32_t n)
{
    struct flow_date *due = net->due;
    int64_t low = due[0].order, high = low, *slots = net->ended;
    bool same = true;
    for (int32_t i = 1; i < n; i++) {
        same = same && !(due[i].time_s > due[0].time_s || due[i].time_s < due[0].time_s);
        low = due[i].order < low ? due[i].order : low;
        high = due[i].order > high ? due[i].order : high;
    }
    if (!same || high - low >= net->cap_flows) {
        qsort(due, (size_t)n, sizeof *due, date_compare);
        return;
    }
    memset(slots, 0, (size_t)(high - low + 1) * sizeof *slots);
    for (int32_t i = 0; i < n; i++)
        slots[due[i].order - low] = due[i].flow + 1;
    for (int64_t at = low, i = 0; at <= high; at++)
        if (slots[at - low] > 0) {
            due[i].order = at;
            due[i++].flow = (int32_t)(slots[at - low] - 1);
        }
}

/*
 * Takes all dates up to @p limit_s to net->due where most are: in a symmetric collective nearly all flows end
 * in the same instant, and one pass over the heap is cheaper than to restore it after each. Returns how many,
 * 0 where they are not most.
 */
static int32_t dates_take_due(struct flow_net *net, double limit_s)
{
    int32_t n = 0, n_kept = 0;
    if (!dates_mostly_due(net, limit_s))
        return 0;
    for (int32_t i = 0; i < net->n_dates; i++) {
        const struct flow_date *date = &net->dates[i];
        if (!(date->time_s <= limit_s)) {
            net->dates[n_kept++] = *date;
            continue;
        }
        net->flows[date->flow].at = -1;
        net->due[n++] = *date;
    }
    net->n_dates = n_kept;
    dates_build(net->dates, n_kept, net);
    dates_sort_due(net, n);
    return n;
}

/* ---- room ---- */

/* Links of @p bw_Bps, shape [n]; a failure leaves *out NULL. */
int flow_net_build_links(struct flow_net **out, const double *bw_Bps, int32_t n, struct err *e)
{
    const struct maxmin_settings settings = {
        .same_rate = SAME_RATE, .keep_rate = 1, .rounds = 12, .resum = true
    };
    struct flow_net *net = *out = calloc(1, sizeof *net);
    if (!net)
        return err_nomem(e, "flows");
    net->free_flow = -1;
    net->n_arcs = n;
    net->arcs = calloc((size_t)n + 1, sizeof *net->arcs);
    for (int32_t a = 0; a < n && net->arcs; a++)
        net->arcs[a].bw_Bps = bw_Bps[a];
    int rc = net->arcs ? 0 : err_nomem(e, "flows");
    if (!rc)
        rc = maxmin_build(&net->sharing, bw_Bps, n, &settings, e);
    if (rc) {
        flow_net_free(net);
        *out = NULL;
    }
    return rc;
}

/* Both directions of a link are arcs of their own: traffic one way does not slow the other. The network is
 * built once and used for any number of flows. */
int flow_net_build(struct flow_net **out, const struct topo_routes *routes, struct err *e)
{
    double *bw_Bps = malloc(((size_t)routes->n_arcs + 1) * sizeof *bw_Bps);
    *out = NULL;
    if (!bw_Bps)
        return err_nomem(e, "flows");
    for (int32_t a = 0; a < routes->n_arcs; a++)
        bw_Bps[a] = topo_arc_bw(routes, a);
    int rc = flow_net_build_links(out, bw_Bps, routes->n_arcs, e);
    for (int32_t a = 0; a < routes->n_arcs && !rc; a++)
        (*out)->arcs[a].lat_s = routes->lat_s[a];
    free(bw_Bps);
    return rc;
}

void flow_net_free(struct flow_net *net)
{
    if (!net)
        return;
    maxmin_free(net->sharing);
    free(net->arcs);
    free(net->flows);
    free(net->dates);
    free(net->due);
    free(net->ended);
    free(net->uses);
    free(net);
}

/* All that has one item per flow grows together, so that nothing can fail while events are handled. */
static int flow_reserve(struct flow_net *net, struct err *e)
{
    if (net->free_flow >= 0 || net->n_flows < net->cap_flows)
        return 0;
    int64_t cap = vec_larger(net->cap_flows, (int64_t)net->n_flows + 1);
    if (cap > INT32_MAX || !vec_resize(net->flows, cap) || !vec_resize(net->dates, cap) ||
        !vec_resize(net->due, cap) || !vec_resize(net->ended, cap))
        return err_nomem(e, "flows");
    net->cap_flows = (int32_t)cap;
    return 0;
}

/* ---- flows ---- */

static void flow_set_rate(struct flow_net *net, int32_t f, double rate_Bps)
{
    struct flow *flow = &net->flows[f];
    flow->left_B = fmax(0, flow->left_B - flow->rate_Bps * (net->now_s - flow->since_s));
    flow->since_s = net->now_s;
    flow->rate_Bps = rate_Bps;
    date_set(net, f, net->now_s + flow->left_B / rate_Bps);
}

/* New rates where flows came and went. */
static void flow_settle(struct flow_net *net)
{
    const int32_t *changed;
    int32_t n;
    while (maxmin_settle_next(net->sharing, &changed, &n))
        for (int32_t i = 0; i < n; i++)
            flow_set_rate(net, changed[i], maxmin_rate(net->sharing, changed[i]));
}

/* Latency is over. What has nothing to move, or meets no link, ends in the same instant. */
static void flow_begin(struct flow_net *net, int32_t f)
{
    struct flow *flow = &net->flows[f];
    net->counts.events++;
    flow->moves = true;
    flow->since_s = net->now_s;
    if (!(flow->bytes > 0) || flow->n_arcs == 0)
        date_set(net, f, net->now_s);
    else
        maxmin_join(net->sharing, f);
}

/* Bytes are booked when a flow has ended, to the last bit what was asked for, not integrated over rates. One
 * that is there before its sender may have handled it leaves its links and waits. */
static void flow_end(struct flow_net *net, int32_t f)
{
    struct flow *flow = &net->flows[f];
    if (flow->bytes > 0)
        for (int32_t i = 0; i < flow->n_arcs; i++)
            net->arcs[maxmin_link(net->sharing, f, i)].bytes +=
                maxmin_count(net->sharing, f, i) * flow->bytes;
    maxmin_remove(net->sharing, f);
    if (flow->least_s > net->now_s * SAME_INSTANT) {
        flow->bytes = 0;
        date_set(net, f, flow->least_s);
        return;
    }
    net->counts.events++;
    net->counts.done++;
    net->ended[net->n_ended++] = flow->tag;
    flow->moves = false;
    flow->next_free = net->free_flow;
    net->free_flow = f;
}

/* Below 0 by no more than rounding is 0. */
#define LATENCY_ROUNDING 1e-12

int flow_latency(double *lat_s, double links_s, double extra_s, struct err *e)
{
    *lat_s = links_s + extra_s;
    if (*lat_s < 0 && *lat_s >= -LATENCY_ROUNDING * links_s)
        *lat_s = 0;
    if (!(*lat_s >= 0))
        return err_set(e, ERR_RANGE,
                       "flow: %g s of latency more than the %g s of its links, expected 0 or more in all",
                       extra_s, links_s);
    return 0;
}

/* Also the latency of it all [s]. */
static int flow_check_spec(const struct flow_net *net, const struct flow_spec *s, double *lat_s,
                           struct err *e)
{
    if (!(s->bytes >= 0 && isfinite(s->bytes)))
        return err_set(e, ERR_RANGE, "flow: has %g bytes, expected 0 or more", s->bytes);
    if (!isfinite(s->extra_s) || !isfinite(s->start_s) || !isfinite(s->queue_s))
        return err_set(e, ERR_RANGE, "flow: starts at %g s with %g s more latency, expected finite times",
                       s->start_s, s->extra_s);
    double links_s = 0;
    for (int32_t i = 0; i < s->n_arcs; i++) {
        if (!(s->arcs[i] >= 0 && s->arcs[i] < net->n_arcs))
            return err_set(e, ERR_RANGE, "flow: arc is %d, expected 0 to %d", s->arcs[i], net->n_arcs - 1);
        if (!(net->arcs[s->arcs[i]].bw_Bps > 0))
            return err_set(e, ERR_RANGE, "flow: link %d has failed", s->arcs[i] / 2);
        links_s += net->arcs[s->arcs[i]].lat_s;
    }
    return flow_latency(lat_s, links_s, s->extra_s, e);
}

/* Alone on its links. */
static double flow_alone_s(const struct flow_net *net, const struct flow_spec *spec)
{
    double alone_s = 0;
    for (int32_t i = 0; i < spec->n_arcs; i++)
        alone_s = fmax(alone_s, spec->bytes / net->arcs[spec->arcs[i]].bw_Bps);
    return alone_s;
}

/* Room on the links of its route. */
static int flow_place(struct flow_net *net, int32_t f, const struct flow_spec *spec, struct err *e)
{
    if (!vec_reserve(net->uses, net->cap_uses, spec->n_arcs))
        return err_nomem(e, "routes of flows");
    for (int32_t i = 0; i < spec->n_arcs; i++)
        net->uses[i] = (struct maxmin_use){ spec->arcs[i], spec->counts ? spec->counts[i] : 1 };
    return maxmin_place(net->sharing, f, net->uses, spec->n_arcs, INFINITY, e);
}

/* A flow starts when its latency has passed. Places of ended flows are taken again, so that memory follows
 * the flows under way, not all that ever ran; `order` counts them for ties. */
int flow_add(struct flow_net *net, const struct flow_spec *spec, struct err *e)
{
    double lat_s = 0;
    int rc = flow_check_spec(net, spec, &lat_s, e);
    if (!rc)
        rc = flow_reserve(net, e);
    if (rc)
        return rc;
    int32_t f = net->free_flow >= 0 ? net->free_flow : net->n_flows;
    if (spec->n_arcs > 0)
        rc = flow_place(net, f, spec, e);
    if (rc)
        return rc;
    if (f == net->n_flows)
        net->n_flows++;
    else
        net->free_flow = net->flows[f].next_free;
    net->flows[f] = (struct flow){ .left_B = spec->bytes,
                                   .bytes = spec->bytes,
                                   .tag = spec->tag,
                                   .order = net->counts.added++,
                                   .n_arcs = spec->n_arcs,
                                   .at = -1 };
    double begin_s = fmax(spec->start_s, net->now_s) + lat_s;
    if (spec->queue_s > 0)
        net->flows[f].least_s = begin_s + spec->queue_s + flow_alone_s(net, spec);
    if (begin_s > net->now_s)
        date_set(net, f, begin_s);
    else
        flow_begin(net, f);
    return 0;
}

double flow_next_s(struct flow_net *net)
{
    flow_settle(net);
    return net->n_dates > 0 ? net->dates[0].time_s : INFINITY;
}

void flow_set_round(struct flow_net *net, double share)
{
    net->round = share;
}

/* The latest of the dates from @p at in the heap on that are due, @p last_s where there is none. */
static double last_due(const struct flow_net *net, int64_t at, double limit_s, double last_s)
{
    if (at >= net->n_dates || !(net->dates[at].time_s <= limit_s))
        return last_s;
    last_s = fmax(last_s, net->dates[at].time_s);
    for (int64_t child = 4 * at + 1; child <= 4 * at + 4; child++)
        last_s = last_due(net, child, limit_s, last_s);
    return last_s;
}

/* The next instant, with all flows that begin or end at it. Rates are settled later, by whoever asks for the
 * next date: many flows of one instant are one settlement. */
void flow_advance(struct flow_net *net)
{
    double next_s = flow_next_s(net);
    net->n_ended = 0;
    if (isinf(next_s))
        return;
    net->now_s = net->round > 0 ? last_due(net, 0, next_s * (1 + net->round), next_s) : next_s;
    double limit_s = net->now_s * SAME_INSTANT;
    int32_t n_due = dates_take_due(net, limit_s);
    for (int32_t i = 0; i < n_due || (net->n_dates > 0 && net->dates[0].time_s <= limit_s);) {
        /* Those that begin in this instant may have a date in it too, which goes where it belongs. */
        bool heap = i == n_due || (net->n_dates > 0 && date_before(&net->dates[0], &net->due[i]));
        int32_t f = heap ? date_pop(net) : net->due[i++].flow;
        if (net->flows[f].moves)
            flow_end(net, f);
        else
            flow_begin(net, f);
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
