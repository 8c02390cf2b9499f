#include "sim/flow/flow_model.h"

/* Four children per node: half the levels of two, and siblings lie together. */
enum { CHILDREN = 4 };

static bool before(const struct flow_date *a, const struct flow_date *b)
{
    return a->time_s < b->time_s || (!(a->time_s > b->time_s) && a->order < b->order);
}

static void put(struct flow_net *net, int32_t at, struct flow_date date)
{
    net->dates[at] = date;
    net->flows[date.flow].at = at;
}

static void rise(struct flow_net *net, int32_t at, struct flow_date date)
{
    while (at > 0) {
        int32_t parent = (at - 1) / CHILDREN;
        if (!before(&date, &net->dates[parent]))
            break;
        put(net, at, net->dates[parent]);
        at = parent;
    }
    put(net, at, date);
}

static void sink(struct flow_net *net, int32_t at, struct flow_date date)
{
    for (;;) {
        int64_t first = (int64_t)at * CHILDREN + 1;
        if (first >= net->n_dates)
            break;
        int32_t least = (int32_t)first,
                end = net->n_dates - least < CHILDREN ? net->n_dates : least + CHILDREN;
        for (int32_t c = least + 1; c < end; c++)
            if (before(&net->dates[c], &net->dates[least]))
                least = c;
        if (!before(&net->dates[least], &date))
            break;
        put(net, at, net->dates[least]);
        at = least;
    }
    put(net, at, date);
}

void flow_date_set(struct flow_net *net, int32_t f, double time_s)
{
    struct flow_date date = { time_s, net->flows[f].order, f };
    int32_t at = net->flows[f].at;
    if (at < 0)
        rise(net, net->n_dates++, date);
    else if (before(&date, &net->dates[at]))
        rise(net, at, date);
    else
        sink(net, at, date);
}

void flow_date_pop(struct flow_net *net)
{
    net->flows[net->dates[0].flow].at = -1;
    net->n_dates--;
    if (net->n_dates > 0)
        sink(net, 0, net->dates[net->n_dates]);
}
