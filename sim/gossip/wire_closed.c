/* Closed form: messages that hold their links. */
#include <math.h>

#include "sim/gossip/wire_model.h"

/* One direction of an exchange. */
struct way {
    const struct topo_path *path;
    double lat_s, bytes; /* lat_s: of all its links, and the overhead of a message */
};

static struct way way_of(const struct gossip_wire *w, const struct topo_path *p, double bytes)
{
    struct way way = { .path = p, .bytes = bytes };
    way.lat_s = w->fabric->rules.endpoint_s;
    for (int32_t i = 0; i < p->n; i++)
        way.lat_s += w->routes.lat_s[p->arcs[i]];
    return way;
}

/* What the bytes need of one link, whatever the others can carry. */
static double link_s(const struct gossip_wire *w, const struct way *way, int32_t i)
{
    return way->lat_s + way->bytes * w->s_per_B[way->path->arcs[i]];
}

/* Not before @p begin_s, nor before all links are free. */
static double all_free_s(const struct gossip_wire *w, const struct way *way, double begin_s)
{
    for (int32_t i = 0; i < way->path->n; i++)
        begin_s = fmax(begin_s, w->free_s[way->path->arcs[i]]);
    return begin_s;
}

/* Returns when the last byte is there: when the narrowest link is free again. */
static double hold(struct gossip_wire *w, const struct way *way, double begin_s)
{
    double end_s = begin_s;
    for (int32_t i = 0; i < way->path->n; i++) {
        double free_s = begin_s + link_s(w, way, i);
        w->free_s[way->path->arcs[i]] = free_s;
        end_s = fmax(end_s, free_s);
    }
    return end_s;
}

double wire_book(struct gossip_wire *w, struct wire_parcel *p, double now_s)
{
    if (p->collective) {
        double begin_s = fmax(now_s, w->last_s);
        p->end_s = w->all_s = w->last_s = begin_s + p->time_s;
        return begin_s;
    }
    struct way there = way_of(w, &p->there, p->there_B), back = way_of(w, &p->back, p->back_B);
    double begin_s = all_free_s(w, &back, all_free_s(w, &there, fmax(now_s, w->all_s)));
    p->end_s = fmax(hold(w, &there, begin_s), hold(w, &back, begin_s));
    w->last_s = fmax(w->last_s, p->end_s);
    return begin_s;
}
