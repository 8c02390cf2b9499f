/*
 * Routes over the graph of a network. In a described network the way of a trip is made dimension by
 * dimension, from the shape; a search (fewest links, one or ECMP) serves custom graphs, failed links and
 * other kinds of route.
 *
 * All choices are by numbers of vertices and links, never by addresses in memory or the order of a hash
 * table: the same graph and seed give the same routes on every machine. Arcs out of a vertex are sorted for
 * that reason.
 */
#include "topo/route.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

/* What the search from one end of a route knows of a vertex. A round number instead of a flag saves clearing
 * n_vertices entries for each search. */
struct reached {
    int32_t round; /* search that it was last reached in */
    int32_t hops;  /* from that end */
    int32_t in; /* arcs that lead here from a vertex one hop nearer to that end, linked by next; -1 = none */
};

/* Searches begin at both ends and go on where fewer arcs lead: where they meet little has been looked at. */
struct topo_search {
    struct reached *from[2]; /* shape [n_vertices], of the search from src and from dst */
    int32_t *queue[2];       /* shape [n_vertices], vertices in the order in which they were reached */
    int32_t begin[2], n[2];  /* in the queue: first of the farthest vertices, and end */
    int64_t n_arcs[2];       /* arcs out of the farthest */
    int32_t *ahead;          /* shape [n_vertices], arcs on towards dst of what src's search reached */
    int32_t *next;           /* shape [n_arcs], an arc is in one list at most */
    int32_t round;
};

/* Of the arena of its routes. ERR_NOMEM. */
static int open_search(struct topo_routes *r, struct err *e)
{
    struct topo_search *s = ARENA_TAKE(&r->arena, 1, *s);
    if (s) {
        s->ahead = ARENA_TAKE(&r->arena, r->n_vertices, *s->ahead);
        s->next = ARENA_TAKE(&r->arena, r->n_arcs, *s->next);
    }
    for (int end = 0; end < 2 && s; end++) {
        s->from[end] = ARENA_TAKE(&r->arena, r->n_vertices, *s->from[end]);
        s->queue[end] = ARENA_TAKE(&r->arena, r->n_vertices, *s->queue[end]);
    }
    r->search = r->arena.failed ? NULL : s;
    return arena_check(&r->arena, "routes", e);
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

/*
 * One hop on from that end. True when some vertex is reached from both then. All arcs into a vertex from one
 * hop nearer are kept, not the first alone: equal-cost routes choose among them. The whole hop is finished
 * even when the searches have met, for the same reason.
 */
static bool route_widen(struct topo_search *s, const struct topo_routes *r, int end)
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

/* False: there is no way. Time O(arcs out of what is reached). The side with fewer arcs goes on; with equals
 * that of src. */
static bool route_search(struct topo_search *s, const struct topo_routes *r, int32_t src, int32_t dst)
{
    /* Once in 2^31 searches. */
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
        met = route_widen(s, r, end);
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

/*
 * The arc out of v that the route takes: among those one hop nearer, in order. Lists have no order, so the
 * least, the most, or for ECMP the k-th in order is looked for: O(k * list). Before the meeting point arcs
 * lead ahead as they are; beyond it those of dst's search are taken backwards.
 */
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
    if (trip->kind == TOPO_ROUTE_SHORTEST)
        return trip->other == 0 || trip->other == SHAPE_STRAIGHT ? least : most;
    uint64_t wanted = hash_split(hash_split(hash_split(r->seed) ^ trip->flow) ^ (uint64_t)v) % (uint64_t)n;
    for (; wanted > 0; wanted--) {
        int32_t after = most;
        for (int32_t a = first; a >= 0; a = s->next[a])
            if (is_before(r, least, a ^ flip) && is_before(r, a ^ flip, after))
                after = a ^ flip;
        least = after;
    }
    return least;
}

/* Append arc. ERR_NOMEM. */
static int topo_path_push(struct topo_path *p, int64_t arc, struct err *e)
{
    if (!vec_reserve(p->arcs, p->cap, p->n + 1))
        return err_nomem(e, "a route");
    p->arcs[p->n++] = (int32_t)arc;
    return 0;
}

/* As topo_find_path(), of any kind but TOPO_ROUTE_DIMENSION, detours as ECMP; after failure the path may be
 * longer.
 */
static int topo_search_path(struct topo_path *path, struct topo_routes *r, const struct topo_trip *trip,
                            struct err *e)
{
    char src[TOPO_VERTEX_TEXT], dst[TOPO_VERTEX_TEXT];
    if (trip->src == trip->dst)
        return 0;
    int rc = r->search ? 0 : open_search(r, e);
    if (rc)
        return rc;
    if (!route_search(r->search, r, (int32_t)trip->src, (int32_t)trip->dst))
        return err_set(e, ERR_RANGE, "no route from %s to %s: failed links cut all of them",
                       topo_vertex_name(src, r->graph, trip->src),
                       topo_vertex_name(dst, r->graph, trip->dst));
    for (int32_t v = (int32_t)trip->src; v != trip->dst && !rc;) {
        int32_t arc = next_arc(r, v, trip);
        rc = topo_path_push(path, arc, e);
        v = r->to[arc];
    }
    return rc;
}

/* ---- building ---- */

/* Where each dimension's links and switches begin: topo/graph.h says in which order they are numbered. */
static void place_dimensions(struct topo_routes *r)
{
    int64_t link = 0, vertex = r->n_npus, stride = 1;
    for (int32_t d = 0; d < r->net.n_dims; d = topo_after_entry(r->net.dims, d)) {
        const struct topo_dim *dim = &r->net.dims[d];
        int64_t groups = topo_link_groups(&r->net, d);
        r->first_link[d] = link;
        struct shape_counts c;
        topo_ops(dim)->counts(&c, dim);
        r->group_links[d] = topo_dim_links(dim);
        r->first_switch[d] = vertex;
        link += groups * r->group_links[d];
        vertex += groups * c.hubs;
        for (int32_t k = d; k < topo_after_entry(r->net.dims, d); k++) {
            r->stride[k] = stride;
            stride *= r->net.dims[k].size;
        }
    }
    assert(!r->described || (2 * link == r->n_arcs && vertex == r->n_vertices));
}

/* Arcs sorted by where they lead, then (stably) by where they begin: counting sort, twice. */
static int sort_arcs(struct topo_routes *r, struct err *e)
{
    size_t n_vertices = (size_t)r->n_vertices;
    struct arena own = { 0 };
    int32_t *by_end = ARENA_TAKE(&own, r->n_arcs, *by_end), *at = ARENA_TAKE(&own, r->n_vertices, *at);
    if (own.failed) {
        arena_free(&own);
        return err_nomem(e, "routes");
    }
    /* As many arcs begin at a vertex as end there. */
    for (int32_t a = 0; a < r->n_arcs; a++)
        r->first[r->to[a] + 1]++;
    for (int32_t v = 0; v < r->n_vertices; v++)
        r->first[v + 1] += r->first[v];
    memcpy(at, r->first, n_vertices * sizeof *at);
    for (int32_t a = 0; a < r->n_arcs; a++)
        by_end[at[r->to[a]]++] = a;
    memcpy(at, r->first, n_vertices * sizeof *at);
    for (int32_t i = 0; i < r->n_arcs; i++)
        r->out[at[r->to[by_end[i] ^ 1]]++] = by_end[i];
    arena_free(&own);
    return 0;
}

/* All arrays are full before a message may ask for the name of an arc. */
static int fill_arcs(struct topo_routes *r, const struct topo_link *links, struct err *e)
{
    for (int32_t a = 0; a < r->n_arcs; a++) {
        const struct topo_link *link = &links[a / 2];
        r->to[a] = (int32_t)(a % 2 ? link->src : link->dst);
        r->bw_Bps[a] = link->bw_Bps;
        r->lat_s[a] = link->lat_s;
    }
    for (int32_t l = 0; l < r->n_arcs / 2; l++) {
        char buf[TOPO_ARC_TEXT];
        r->share[l] = 1;
        if (r->dims)
            r->dims[l] = links[l].dim;
        if (!(links[l].bw_Bps > 0))
            return err_set(e, ERR_RANGE, "link %d (%s): bandwidth is %g B/s, expected more than 0", l,
                           topo_arc_name(buf, r, 2 * l), links[l].bw_Bps);
    }
    return sort_arcs(r, e);
}

int topo_hops_to(int32_t *hops, const struct topo_routes *r, int32_t dst, struct err *e)
{
    int32_t n = 0, *queue = malloc((size_t)r->n_vertices * sizeof *queue);
    if (!queue)
        return err_nomem(e, "routes");
    for (int32_t v = 0; v < r->n_vertices; v++)
        hops[v] = -1;
    hops[dst] = 0;
    queue[n++] = dst;
    for (int32_t i = 0; i < n; i++) {
        int32_t v = queue[i];
        for (int32_t k = r->first[v]; k < r->first[v + 1]; k++) {
            int32_t u = r->to[r->out[k]];
            if (hops[u] < 0 && r->share[r->out[k] / 2] > 0) {
                hops[u] = hops[v] + 1;
                queue[n++] = u;
            }
        }
    }
    free(queue);
    return 0;
}

/*
 * Of NPUs only: a switch that nothing hangs on does no harm. A described network is connected by its shapes.
 */
static int check_connected(const struct topo_routes *r, struct err *e)
{
    char name[TOPO_VERTEX_TEXT], from[TOPO_VERTEX_TEXT];
    int32_t *hops = malloc((size_t)r->n_vertices * sizeof *hops);
    int rc = hops ? topo_hops_to(hops, r, 0, e) : err_nomem(e, "routes");
    for (int32_t v = 0; v < r->n_npus && !rc; v++)
        if (hops[v] < 0)
            rc = err_set(e, ERR_RANGE, "graph: %s cannot be reached from %s, expected a network in one piece",
                         topo_vertex_name(name, r->graph, v), topo_vertex_name(from, r->graph, 0));
    free(hops);
    return rc;
}

static int path_reserve(struct topo_routes *r, struct err *e)
{
    r->to = ARENA_TAKE(&r->arena, r->n_arcs, *r->to);
    r->bw_Bps = ARENA_TAKE(&r->arena, r->n_arcs, *r->bw_Bps);
    r->lat_s = ARENA_TAKE(&r->arena, r->n_arcs, *r->lat_s);
    r->share = ARENA_TAKE(&r->arena, r->n_arcs / 2, *r->share);
    r->dims = r->described ? NULL : ARENA_TAKE(&r->arena, r->n_arcs / 2, *r->dims);
    r->out = ARENA_TAKE(&r->arena, r->n_arcs, *r->out);
    r->first = ARENA_TAKE(&r->arena, r->n_vertices + 1, *r->first);
    return arena_check(&r->arena, "routes", e);
}

int topo_routes_build(struct topo_routes *r, const struct topo_graph *g, struct err *e)
{
    /* No overflow: TOPO_MAX_GRAPH bounds vertices and links to 2^28. */
    /* n_arcs is 2^29 at most. */
    *r = (struct topo_routes){ .graph = g,
                               .n_npus = (int32_t)topo_graph_npus(g),
                               .n_vertices = (int32_t)topo_graph_vertices(g),
                               .n_arcs = (int32_t)(2 * topo_graph_links(g)) };
    r->described = topo_graph_network(g) != NULL;
    if (r->described)
        r->net = *topo_graph_network(g);
    struct topo_link *links = malloc(((size_t)r->n_arcs / 2 + 1) * sizeof *links);
    int rc = links ? path_reserve(r, e) : err_nomem(e, "routes");
    if (!rc)
        rc = topo_list_links(links, g, e);
    if (!rc)
        rc = fill_arcs(r, links, e);
    free(links);
    if (!rc)
        place_dimensions(r);
    if (!rc && !r->described)
        rc = check_connected(r, e);
    if (rc)
        topo_routes_free(r);
    return rc;
}

int topo_routes_lay(struct topo_routes *r, const struct topo_network *net, struct err *e)
{
    if (net->n_npus != r->n_npus)
        return err_set(e, ERR_RANGE, "graph: has %d NPUs, expected the %lld of the network's dimensions",
                       r->n_npus, (long long)net->n_npus);
    r->net = *net;
    place_dimensions(r);
    return 0;
}

void topo_routes_free(struct topo_routes *r)
{
    arena_free(&r->arena);
    *r = (struct topo_routes){ 0 };
}

/* ---- links ---- */

int topo_routes_set_share(struct topo_routes *r, int64_t link, double share, struct err *e)
{
    if (!(link >= 0 && link < r->n_arcs / 2))
        return err_set(e, ERR_RANGE, "link: is %lld, expected 0 to %d", (long long)link, r->n_arcs / 2 - 1);
    if (!(share >= 0 && share <= 1))
        return err_set(e, ERR_RANGE, "link %lld: share is %g, expected 0 to 1", (long long)link, share);
    /* Counts links that go from some to none as +1, and back as -1. */
    r->n_failed += !(share > 0) - !(r->share[link] > 0);
    r->share[link] = share;
    return 0;
}

int32_t topo_link_dim(const struct topo_routes *r, int64_t link)
{
    int32_t d = 0, cls = 0;
    if (r->dims)
        return r->dims[link];
    for (int32_t next = topo_after_entry(r->net.dims, d); next < r->net.n_dims && link >= r->first_link[next];
         next = topo_after_entry(r->net.dims, d))
        d = next;
    if (!topo_is_fabric(&r->net.dims[d]))
        return d;
    struct shape_counts c;
    /* Links of a fabric's group stand class by class, a class for each of its dimensions. */
    int64_t at = (link - r->first_link[d]) % r->group_links[d];
    topo_ops(&r->net.dims[d])->counts(&c, &r->net.dims[d]);
    for (; at >= c.links[cls]; cls++)
        at -= c.links[cls];
    return d + cls;
}

int topo_routes_slow_npu(struct topo_routes *r, int64_t npu, int32_t d, double share, struct err *e)
{
    int rc = 0;
    if (!(npu >= 0 && npu < r->n_npus) || d < -1 || d >= r->net.n_dims)
        return err_set(e, ERR_RANGE,
                       "slow NPU: is %lld in dimension %d, expected NPU 0 to %d, dimension -1 to %d",
                       (long long)npu, d, r->n_npus - 1, r->net.n_dims - 1);
    for (int32_t i = r->first[npu]; i < r->first[npu + 1] && !rc; i++) {
        int32_t link = r->out[i] / 2;
        if (d < 0 || topo_link_dim(r, link) == d)
            rc = topo_routes_set_share(r, link, share >= r->share[link] ? r->share[link] : share, e);
    }
    return rc;
}

double topo_arc_bw(const struct topo_routes *r, int32_t arc)
{
    return r->share[arc / 2] * r->bw_Bps[arc];
}

const char *topo_arc_name(char buf[TOPO_ARC_TEXT], const struct topo_routes *r, int32_t arc)
{
    char from[TOPO_VERTEX_TEXT], to[TOPO_VERTEX_TEXT];
    snprintf(buf, TOPO_ARC_TEXT, "%s -> %s", topo_vertex_name(from, r->graph, r->to[arc ^ 1]),
             topo_vertex_name(to, r->graph, r->to[arc]));
    return buf;
}

void topo_path_free(struct topo_path *p)
{
    free(p->arcs);
    *p = (struct topo_path){ 0 };
}

/* ---- order of dimensions, in closed form ---- */

/* First link of the group of dimension d that @p npu belongs to, in one of its planes. */
static int64_t group_link(const struct topo_routes *r, int32_t d, int64_t npu, int64_t plane)
{
    const struct topo_dim *dim = &r->net.dims[d];
    int64_t span = r->stride[d] * topo_group_size(dim), stride = r->stride[d] / topo_node(dim);
    int64_t group = npu / span * stride + npu % stride;
    return r->first_link[d] + (group * topo_planes(dim) + plane) * r->group_links[d];
}

int32_t topo_switch_arc(const struct topo_routes *r, int32_t d, int64_t npu, int32_t tier, int64_t i)
{
    const struct topo_dim *dim = &r->net.dims[d];
    int64_t a = npu / (r->stride[d] / topo_node(dim)) % topo_span(dim);
    assert(topo_ops(dim)->reduces);
    return (int32_t)(2 * (group_link(r, d, npu, 0) + (tier ? topo_ops(dim)->up_link(dim, tier, a, i) : a)));
}

/* A way under construction: link 0 of the group is so many links into the network. */
struct route_way {
    struct topo_path *path;
    int64_t link;
};

static int way_step(void *x, int64_t link, bool back, struct err *e)
{
    struct route_way *w = x;
    return topo_path_push(w->path, 2 * (w->link + link) + back, e);
}

/* Arcs of dimension d from member a to member b of the group of @p npu; pairs take turns in the planes. */
static int pass_dimension(struct topo_path *p, const struct topo_routes *r, int32_t d, int64_t npu, int64_t a,
                          int64_t b, int32_t other, struct err *e)
{
    const struct topo_dim *dim = &r->net.dims[d];
    struct route_way w = { p, group_link(r, d, npu, (a + b) % topo_planes(dim)) };
    return topo_ops(dim)->way(dim, a, b, other, &w, way_step, e);
}

/* Where the route meets a failed link, or -1. */
static int32_t path_find_failed(const struct topo_path *path, int32_t begin, const struct topo_routes *r)
{
    for (int32_t i = begin; i < path->n; i++)
        if (!(r->share[path->arcs[i] / 2] > 0))
            return i;
    return -1;
}

/* A route in order of dimensions goes round failed links, or is none. */
static int settle_failed(struct topo_path *path, int32_t begin, struct topo_routes *r,
                         const struct topo_trip *trip, struct err *e)
{
    char arc[TOPO_ARC_TEXT], src[TOPO_VERTEX_TEXT], dst[TOPO_VERTEX_TEXT];
    int32_t i = path_find_failed(path, begin, r);
    if (i < 0)
        return 0;
    if (trip->kind == TOPO_ROUTE_DETOUR) {
        path->n = begin;
        return topo_search_path(path, r, trip, e);
    }
    return err_set(e, ERR_RANGE,
                   "link %d (%s) has failed and is on the route from %s to %s in order of "
                   "dimensions; expected detour, shortest or ecmp routes",
                   path->arcs[i] / 2, topo_arc_name(arc, r, path->arcs[i]),
                   topo_vertex_name(src, r->graph, trip->src), topo_vertex_name(dst, r->graph, trip->dst));
}

static int by_dimension(struct topo_path *path, struct topo_routes *r, const struct topo_trip *trip,
                        struct err *e)
{
    int32_t begin = path->n;
    int64_t at = trip->src;
    if (!r->described)
        return err_set(e, ERR_UNSUP,
                       "routes: are in order of dimensions, expected shortest or ecmp in a custom graph");
    if (trip->src >= r->n_npus || trip->dst >= r->n_npus)
        return err_set(e, ERR_RANGE,
                       "routes: from vertex %lld to %lld, expected NPUs (below %d) in order of dimensions",
                       (long long)trip->src, (long long)trip->dst, r->n_npus);
    int32_t shared = topo_shared_spine(&r->net);
    /* Without forwarding what is for another node changes rails in the tree: no step inside the node. */
    bool direct = shared >= 0 && !r->net.dims[shared].fabric.forward;
    if (direct) {
        int64_t size = topo_group_size(&r->net.dims[shared]);
        direct = trip->src / r->stride[shared] % size != trip->dst / r->stride[shared] % size;
    }
    for (int32_t d = direct ? shared : 0; d < r->net.n_dims; d = topo_after_entry(r->net.dims, d)) {
        bool rails = d == shared && topo_node(&r->net.dims[d]) > 1;
        int64_t size = rails ? topo_span(&r->net.dims[d]) : topo_group_size(&r->net.dims[d]);
        int64_t stride = rails ? r->stride[d] / topo_node(&r->net.dims[d]) : r->stride[d];
        int64_t a = at / stride % size, b = trip->dst / stride % size;
        int rc = a == b ? 0 : pass_dimension(path, r, d, at, a, b, trip->other, e);
        if (rc)
            return rc;
        at += (b - a) * stride;
    }
    /* Looked at last, so that routes cost nothing more while all links are whole. */
    return r->n_failed > 0 ? settle_failed(path, begin, r, trip, e) : 0;
}

int topo_find_path(struct topo_path *path, struct topo_routes *r, const struct topo_trip *trip, struct err *e)
{
    int32_t begin = path->n;
    if (!(trip->src >= 0 && trip->src < r->n_vertices && trip->dst >= 0 && trip->dst < r->n_vertices))
        return err_set(e, ERR_RANGE, "routes: from vertex %lld to %lld, expected 0 to %d",
                       (long long)trip->src, (long long)trip->dst, r->n_vertices - 1);
    bool ordered = trip->kind == TOPO_ROUTE_DIMENSION || trip->kind == TOPO_ROUTE_DETOUR;
    int rc = ordered ? by_dimension(path, r, trip, e) : topo_search_path(path, r, trip, e);
    if (rc)
        path->n = begin;
    return rc;
}

int64_t topo_routers(const struct topo_dim *dim, int64_t *members)
{
    *members = topo_link_ports(dim) > 0 ? dim->size : 1;
    return topo_group_size(dim) / *members;
}

int topo_find_drawn_path(struct topo_path *path, struct topo_routes *r, const struct topo_trip *trip,
                         int32_t d, int32_t k, int32_t n, struct err *e)
{
    const struct topo_dim *dim = &r->net.dims[d];
    int32_t begin = path->n;
    int64_t p, routers = topo_routers(dim, &p), a = trip->src / r->stride[d] % topo_group_size(dim);
    int64_t ahead = (k * p + a % p) * routers / (n * p), router = (a / p + ahead) % routers;
    struct topo_trip there = *trip, on = *trip;
    there.dst = on.src = trip->src + (router * p + a % p - a) * r->stride[d];
    int rc = topo_find_path(path, r, &there, e);
    int32_t turn = path->n;
    if (!rc)
        rc = topo_find_path(path, r, &on, e);
    if (rc) {
        path->n = begin;
        return rc;
    }
    /* It turns at the router, and does not go down to the member there. */
    if (topo_link_ports(dim) > 0 && turn > begin && turn < path->n) {
        memmove(&path->arcs[turn - 1], &path->arcs[turn + 1],
                (size_t)(path->n - turn - 1) * sizeof *path->arcs);
        path->n -= 2;
    }
    return 0;
}
