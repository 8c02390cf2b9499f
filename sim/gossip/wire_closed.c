/* Closed form: messages that hold their links. */
#include <math.h>

#include "sim/gossip/wire_model.h"

/* Latency plus bytes over the least bandwidth of the way; *free_s: not before all of it is free. */
static double way_s(double *free_s, const struct gossip_wire *w, const struct topo_path *p, double bytes)
{
    double lat_s = w->fabric->rules.endpoint_s, s_per_B = 0;
    if (p->n == 0)
        return 0;
    for (int32_t i = 0; i < p->n; i++) {
        int32_t a = p->arcs[i];
        lat_s += w->routes.lat_s[a];
        s_per_B = w->s_per_B[a] > s_per_B ? w->s_per_B[a] : s_per_B;
        *free_s = w->free_s[a] > *free_s ? w->free_s[a] : *free_s;
    }
    return lat_s + bytes * s_per_B;
}

static void hold(struct gossip_wire *w, const struct topo_path *p, double end_s)
{
    for (int32_t i = 0; i < p->n; i++)
        w->free_s[p->arcs[i]] = end_s;
}

double wire_book(struct gossip_wire *w, struct wire_parcel *p, double now_s)
{
    if (p->collective) {
        double begin_s = fmax(now_s, w->last_s);
        p->end_s = w->all_s = w->last_s = begin_s + p->time_s;
        return begin_s;
    }
    double begin_s = fmax(now_s, w->all_s);
    double there_s = way_s(&begin_s, w, &p->there, p->there_B);
    double back_s = way_s(&begin_s, w, &p->back, p->back_B);
    p->end_s = begin_s + fmax(there_s, back_s);
    hold(w, &p->there, p->end_s);
    hold(w, &p->back, p->end_s);
    w->last_s = fmax(w->last_s, p->end_s);
    return begin_s;
}
