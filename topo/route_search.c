#include "topo/route_search.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* What the search from one end of a route knows of a vertex. */
struct reached {
    int32_t round; /* search that it was last reached in */
    int32_t hops;  /* from that end */
    int32_t in; /* arcs that lead here from a vertex one hop nearer to that end, linked by next; -1 = none */
};

/* Searches begin at both ends and go on where fewer arcs lead: where they meet little has been looked at. */
struct topo_search {
    struct reached *from[2]; /* shape [n_vertices], of the search from src and from dst, owned */
    int32_t *queue[2];       /* shape [n_vertices], vertices in the order in which they were reached, owned */
    int32_t begin[2], n[2];  /* in the queue: first of the farthest vertices, and end */
    int64_t n_arcs[2];       /* arcs out of the farthest */
    int32_t *ahead;          /* shape [n_vertices], arcs on towards dst of what src's search reached, owned */
    int32_t *next;           /* shape [n_arcs], an arc is in one list at most, owned */
    int32_t round;
};

void topo_search_free(struct topo_search *s)
{
    for (int end = 0; end < 2 && s; end++) {
        free(s->from[end]);
        free(s->queue[end]);
    }
    if (s) {
        free(s->ahead);
        free(s->next);
    }
    free(s);
}

/* Deterministic mixing of flow, vertex and seed (the finaliser of SplitMix64, Steele et al., OOPSLA 2014). */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static struct topo_search *open_search(const struct topo_routes *r)
{
    size_t n = (size_t)r->n_vertices;
    struct topo_search *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->ahead = malloc(n * sizeof *s->ahead);
    s->next = malloc(((size_t)r->n_arcs + 1) * sizeof *s->next);
    bool whole = s->ahead && s->next;
    for (int end = 0; end < 2; end++) {
        s->from[end] = calloc(n, sizeof *s->from[end]);
        s->queue[end] = malloc(n * sizeof *s->queue[end]);
        whole = whole && s->from[end] && s->queue[end];
    }
    if (!whole) {
        topo_search_free(s);
        return NULL;
    }
    return s;
}

static bool is_reached(const struct topo_search *s, int end, int32_t v)
{
    return s->from[end][v].round == s->round;
}

static void reach(struct topo_search *s, const struct topo_routes *r, int end, int32_t v, int32_t hops)
{
    s->from[end][v] = (struct reached){ s->round, hops, -1 };
    s->queue[end][s->n[end]++] = v;
    s->n_arcs[end] += r->first[v + 1] - r->first[v];
    if (end == 0)
        s->ahead[v] = -1;
}

/* One hop on from that end. True when some vertex is reached from both then. */
static bool widen(struct topo_search *s, const struct topo_routes *r, int end)
{
    int32_t stop = s->n[end];
    bool met = false;
    s->n_arcs[end] = 0;
    for (; s->begin[end] < stop; s->begin[end]++) {
        int32_t v = s->queue[end][s->begin[end]], hops = s->from[end][v].hops + 1;
        for (int32_t i = r->first[v]; i < r->first[v + 1]; i++) {
            int32_t arc = r->out[i], u = r->to[arc];
            if (!(r->share[arc / 2] > 0))
                continue;
            if (!is_reached(s, end, u))
                reach(s, r, end, u, hops);
            if (s->from[end][u].hops != hops)
                continue;
            s->next[arc] = s->from[end][u].in;
            s->from[end][u].in = arc;
            met = met || is_reached(s, 1 - end, u);
        }
    }
    return met;
}

/* False: there is no way. */
static bool search(struct topo_search *s, const struct topo_routes *r, int32_t src, int32_t dst)
{
    if (s->round == INT32_MAX) {
        for (int end = 0; end < 2; end++)
            memset(s->from[end], 0, (size_t)r->n_vertices * sizeof *s->from[end]);
        s->round = 0;
    }
    s->round++;
    for (int end = 0; end < 2; end++) {
        s->begin[end] = s->n[end] = 0;
        s->n_arcs[end] = 0;
        reach(s, r, end, end ? dst : src, 0);
    }
    for (bool met = false; !met;) {
        int end = s->n_arcs[1] < s->n_arcs[0];
        if (s->begin[0] == s->n[0] || s->begin[1] == s->n[1])
            return false;
        met = widen(s, r, end);
    }
    /* Back from where they met: what leads there from src, by the vertex that it leaves. */
    for (int32_t i = s->n[0]; i-- > 0;) {
        int32_t v = s->queue[0][i];
        if (s->ahead[v] < 0 && !is_reached(s, 1, v))
            continue;
        for (int32_t arc = s->from[0][v].in, next; arc >= 0; arc = next) {
            int32_t u = r->to[arc ^ 1];
            next = s->next[arc];
            s->next[arc] = s->ahead[u];
            s->ahead[u] = arc;
        }
    }
    return true;
}

/* Does arc a out of a vertex come before b: by the vertex they lead to, then by number? */
static bool is_before(const struct topo_routes *r, int32_t a, int32_t b)
{
    return r->to[a] != r->to[b] ? r->to[a] < r->to[b] : a < b;
}

/* The arc out of v that the route takes: among those one hop nearer, in order. */
static int32_t next_arc(const struct topo_routes *r, int32_t v, const struct topo_trip *trip)
{
    const struct topo_search *s = r->search;
    bool before = !is_reached(s, 1, v);
    int32_t first = before ? s->ahead[v] : s->from[1][v].in, flip = before ? 0 : 1; /* from dst: backwards */
    int32_t n = 0, least = first ^ flip, most = first ^ flip;
    assert(first >= 0);
    for (int32_t a = first; a >= 0; a = s->next[a], n++) {
        least = is_before(r, a ^ flip, least) ? a ^ flip : least;
        most = is_before(r, most, a ^ flip) ? a ^ flip : most;
    }
    if (trip->kind != TOPO_ROUTE_ECMP)
        return trip->mirror ? most : least;
    uint64_t wanted = mix(mix(mix(r->seed) ^ trip->flow) ^ (uint64_t)v) % (uint64_t)n;
    for (; wanted > 0; wanted--) {
        int32_t after = most;
        for (int32_t a = first; a >= 0; a = s->next[a])
            if (is_before(r, least, a ^ flip) && is_before(r, a ^ flip, after))
                after = a ^ flip;
        least = after;
    }
    return least;
}

int topo_search_path(struct topo_path *path, struct topo_routes *r, const struct topo_trip *trip,
                     struct err *e)
{
    char src[TOPO_VERTEX_TEXT], dst[TOPO_VERTEX_TEXT];
    if (trip->src == trip->dst)
        return 0;
    if (!r->search)
        r->search = open_search(r);
    if (!r->search)
        return err_nomem(e, "routes");
    if (!search(r->search, r, (int32_t)trip->src, (int32_t)trip->dst))
        return err_set(e, ERR_RANGE, "no route from %s to %s: failed links cut all of them",
                       topo_vertex_name(src, r->graph, trip->src),
                       topo_vertex_name(dst, r->graph, trip->dst));
    for (int32_t v = (int32_t)trip->src; v != trip->dst;) {
        int32_t arc = next_arc(r, v, trip);
        int rc = topo_path_push(path, arc, e);
        if (rc)
            return rc;
        v = r->to[arc];
    }
    return 0;
}
