/*
 * Servers and what they offer, built from a described network, a graph file or racks. Links and paths are
 * igraph's, by topo/graph and topo/route; what jobs ask most, which arcs lead from server to server, is kept
 * while it is small.
 *
 * igraph has one error stack for all threads, so all that builds, reads or frees a graph is in the critical
 * section "igraph", which sim/gossip and kinds/gossip share; nothing else of a cluster takes a lock. Whatever
 * fails while building leaves an empty cluster: cluster_free() takes any half of one.
 */
#include "sim/cluster/cluster.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "topo/route.h"

/* ---- what servers offer ---- */

/* Zero is an offer: a server may lack a resource altogether. */
static int cluster_check_offer(const struct cluster *c, const struct cluster_offer *offer, struct err *e)
{
    if (offer->n_resources < 1 || offer->n_resources > CLUSTER_MAX_RESOURCES)
        return err_set(e, ERR_RANGE, "cluster: has %d resources, expected 1 to %d", (int)offer->n_resources,
                       (int)CLUSTER_MAX_RESOURCES);
    int64_t n = (int64_t)offer->n_resources * (offer->each ? c->n_servers : 1);
    for (int64_t i = 0; i < n; i++)
        if (!(offer->per_server[i] >= 0 && isfinite(offer->per_server[i])))
            return err_set(e, ERR_RANGE, "cluster: server %lld has %g of %s, expected a number >= 0",
                           (long long)(i / offer->n_resources), offer->per_server[i],
                           offer->names[i % offer->n_resources]);
    return 0;
}

static int cluster_take_offer(struct cluster *c, const struct cluster_offer *offer, struct err *e)
{
    int rc = cluster_check_offer(c, offer, e);
    if (rc)
        return rc;
    c->n_resources = offer->n_resources;
    for (int32_t r = 0; r < c->n_resources; r++)
        snprintf(c->resources[r], sizeof c->resources[r], "%s", offer->names[r]);
    size_t n = (size_t)c->n_servers * (size_t)c->n_resources;
    c->capacity = ARENA_TAKE(&c->arena, n, *c->capacity);
    if ((rc = arena_check(&c->arena, "capacities of servers", e)))
        return rc;
    for (size_t i = 0; i < n; i++)
        c->capacity[i] = offer->per_server[offer->each ? i : i % (size_t)c->n_resources];
    return 0;
}

/* ---- near servers ---- */

/* Schedulers that pack jobs below a switch ask for it often. */
static void cluster_find_leaves(struct cluster *c)
{
    const struct topo_routes *r = &c->routes;
    for (int32_t s = 0; s < c->n_servers; s++) {
        int32_t first = r->first[s], n = r->first[s + 1] - first;
        int32_t to = n == 1 ? r->to[r->out[first]] : -1;
        c->leaf[s] = to >= c->n_servers ? to : -1;
    }
}

/* Servers of a custom graph at one switch, their first one in order of numbers; others are alone. Of several
 * switches the one whose arc comes first, which is that of the lowest number. */
static int cluster_group_by_switch(int32_t *group, const struct cluster *c, struct err *e)
{
    const struct topo_routes *r = &c->routes;
    int32_t *number = malloc((size_t)r->n_vertices * sizeof *number), next = 0;
    if (!number)
        return err_nomem(e, "groups of servers");
    for (int32_t v = 0; v < r->n_vertices; v++)
        number[v] = -1;
    for (int32_t s = 0; s < c->n_servers; s++) {
        int32_t at = s;
        for (int32_t i = r->first[s]; i < r->first[s + 1]; i++)
            if (r->to[r->out[i]] >= c->n_servers) {
                at = r->to[r->out[i]];
                break;
            }
        if (number[at] < 0)
            number[at] = next++;
        group[s] = number[at];
    }
    free(number);
    return 0;
}

/*
 * Of a described network servers are numbered with the innermost dimension fastest, so the servers that the
 * first l dimensions join are neighbours, and a division gives their group. A custom graph has three levels:
 * each server, those at one switch, all.
 */
static int cluster_find_groups(struct cluster *c, struct err *e)
{
    const struct topo_network *net = c->routes.described ? &c->routes.net : NULL;
    c->n_levels = net ? net->n_dims + 1 : 3;
    c->group = ARENA_TAKE(&c->arena, (size_t)c->n_levels * (size_t)c->n_servers, *c->group);
    c->leaf = ARENA_TAKE(&c->arena, c->n_servers, *c->leaf);
    int rc = arena_check(&c->arena, "groups of servers", e);
    if (rc)
        return rc;
    cluster_find_leaves(c);
    int32_t size = 1;
    for (int32_t level = 0; level < c->n_levels; level++) {
        for (int32_t s = 0; s < c->n_servers; s++)
            c->group[(int64_t)level * c->n_servers + s] = net ? s / size : level == 0 ? s : 0;
        size *= net && level < net->n_dims ? net->dims[level].size : 1;
    }
    return net ? 0 : cluster_group_by_switch(c->group + c->n_servers, c, e);
}

/* ---- paths ---- */

/* Routes of a cluster have no failed links, so only memory can run out. */
static int cluster_search_path(struct topo_path *path, struct topo_routes *routes, int32_t from, int32_t to,
                               struct err *e)
{
    const struct topo_trip trip = { .src = from,
                                    .dst = to,
                                    .kind = routes->described ? TOPO_ROUTE_DIMENSION : TOPO_ROUTE_SHORTEST };
    return topo_find_path(path, routes, &trip, e);
}

/* From each server to each, also where all links are at one switch: schedules ask millions of times. Where
 * there are too many, cluster_find_path() searches. */
static int cluster_keep_paths(struct cluster *c, struct err *e)
{
    int64_t n = c->n_servers;
    struct topo_path all = { 0 };
    if (n > CLUSTER_KEPT_PATHS)
        return 0;
    c->path_first = ARENA_TAKE(&c->arena, n * n + 1, *c->path_first);
    int rc = arena_check(&c->arena, "paths between servers", e);
    for (int64_t i = 0; i < n * n && !rc; i++) {
        c->path_first[i] = all.n;
        if (i / n != i % n)
            rc = cluster_search_path(&all, &c->routes, (int32_t)(i / n), (int32_t)(i % n), e);
        if (!rc && all.n > CLUSTER_KEPT_ARCS) { /* a long ring or line; its paths are quick to find again */
            topo_path_free(&all);
            c->path_first = NULL;
            return 0;
        }
    }
    if (!rc)
        c->path_first[n * n] = all.n;
    c->path_arcs = all.arcs;
    return rc;
}

void cluster_room_free(struct cluster_room *room)
{
    topo_path_free(&room->path);
    /* All of the view but its search is the cluster's. */
    topo_routes_free(&room->routes);
    *room = (struct cluster_room){ 0 };
}

int cluster_find_path(struct cluster_path *path, const struct cluster *c, int32_t from, int32_t to,
                      struct cluster_room *room, struct err *e)
{
    if (c->path_first) {
        int64_t at = (int64_t)from * c->n_servers + to;
        *path = (struct cluster_path){ c->path_arcs + c->path_first[at],
                                       (int32_t)(c->path_first[at + 1] - c->path_first[at]) };
        return 0;
    }
    /* A copy of the arrays' addresses, not of the arrays; the search is made on first use and is the room's
     * own. */
    if (!room->open) {
        room->routes = c->routes;
        room->routes.arena = (struct arena){ 0 };
        room->routes.search = NULL;
        room->open = true;
    }
    room->path.n = 0;
    int rc = from == to ? 0 : cluster_search_path(&room->path, &room->routes, from, to, e);
    *path = (struct cluster_path){ room->path.arcs, room->path.n };
    return rc;
}

/* ---- building ---- */

/* The graph is there: all that is read off it. */
static int cluster_finish(struct cluster *c, const struct cluster_offer *offer, struct err *e)
{
    int rc = topo_routes_build(&c->routes, c->graph, e);
    if (rc)
        return rc;
    if (c->routes.n_npus > CLUSTER_MAX_SERVERS)
        return err_set(e, ERR_RANGE, "cluster: has %d servers, expected at most %d", (int)c->routes.n_npus,
                       (int)CLUSTER_MAX_SERVERS);
    c->n_servers = c->routes.n_npus;
    c->n_types = 1;
    c->n_arcs = c->routes.n_arcs;
    c->bw_Bps = c->routes.bw_Bps;
    c->lat_s = c->routes.lat_s;
    rc = cluster_take_offer(c, offer, e);
    if (!rc)
        rc = cluster_find_groups(c, e);
    return rc;
}

/*
 * Between servers: the dimensions above the level, each with the bandwidth of a server's NPUs together. With
 * one link per server and dimension, what its NPUs send at once shares that link: a job on few of them gets
 * more than it would of their own links.
 */
static int cluster_outer_network(struct topo_network *outer, const struct topo_network *net, int32_t level,
                                 struct err *e)
{
    if (level < 0 || level >= net->n_dims)
        return err_set(e, ERR_RANGE, "cluster: level of servers is %d, expected 0 to %d", (int)level,
                       (int)net->n_dims - 1);
    if (net->dims[level].level > 0)
        return err_set(e, ERR_RANGE,
                       "cluster: servers end inside %s, expected all levels of a fabric or none",
                       net->dims[level].name);
    double npus = 1;
    int32_t shared = topo_shared_spine(net), rails = 1;
    for (int32_t d = level; d < shared; d++)
        rails *= topo_rails_along(net, shared, d);
    for (int32_t d = 0; d < level; d++)
        /* Exact: sizes multiply to at most 2^30. */
        npus *= net->dims[d].size;
    *outer = *net;
    topo_merge_planes(outer);
    outer->n_dims = net->n_dims - level;
    outer->n_npus = net->n_npus / (int64_t)npus;
    for (int32_t d = 0; d < outer->n_dims; d++) {
        outer->dims[d] = net->dims[d + level];
        outer->dims[d].bw_Bps *= npus;
        /* Rails inside a server are one: its NICs send together. */
        outer->dims[d].fabric.node = (int32_t)(outer->dims[d].fabric.node / npus);
        outer->dims[d].fabric.rails = outer->dims[d].fabric.node > 1 ? rails : 0;
        if (!(outer->dims[d].bw_Bps > 0))
            return err_set(e, ERR_RANGE, "cluster: dimension %s has no bandwidth; give bw_GBps",
                           outer->dims[d].name);
    }
    return 0;
}

/* All that is read off the graph, and paths. */
static int cluster_finish_paths(struct cluster *c, const struct cluster_offer *offer, struct err *e)
{
    int rc = cluster_finish(c, offer, e);
    return rc ? rc : cluster_keep_paths(c, e);
}

static int cluster_build_with(struct cluster *c, const struct topo_network *net, int32_t level,
                              const struct cluster_offer *offer, bool paths, struct err *e)
{
    struct topo_network outer;
    *c = (struct cluster){ 0 };
    int rc = cluster_outer_network(&outer, net, level, e);
#pragma omp critical(igraph)
    if (!rc) {
        rc = topo_build_graph(&c->graph, &outer, NULL, e);
        if (!rc)
            rc = (paths ? cluster_finish_paths : cluster_finish)(c, offer, e);
    }
    if (rc)
        cluster_free(c);
    return rc;
}

int cluster_build(struct cluster *c, const struct topo_network *net, int32_t level,
                  const struct cluster_offer *offer, struct err *e)
{
    return cluster_build_with(c, net, level, offer, true, e);
}

int cluster_build_bare(struct cluster *c, const struct topo_network *net, int32_t level,
                       const struct cluster_offer *offer, struct err *e)
{
    return cluster_build_with(c, net, level, offer, false, e);
}

int cluster_read(struct cluster *c, const char *path, const struct cluster_offer *offer, struct err *e)
{
    int rc;
    *c = (struct cluster){ 0 };
#pragma omp critical(igraph)
    {
        rc = topo_read_graph(&c->graph, path, e);
        if (!rc && (rc = cluster_finish_paths(c, offer, e)))
            err_wrap(e, "%s", path);
    }
    if (rc)
        cluster_free(c);
    return rc;
}

static int cluster_rack_links(struct topo_link **out, const struct cluster_racks *k, struct err *e)
{
    int64_t n_pairs = (int64_t)k->n_racks * (k->n_racks - 1) / 2, n = 0;
    struct topo_link *links = calloc((size_t)(k->n_servers + n_pairs), sizeof *links);
    *out = links;
    if (!links)
        return err_nomem(e, "links of racks");
    for (int32_t s = 0; s < k->n_servers; s++) {
        if (k->rack[s] < 0 || k->rack[s] >= k->n_racks)
            return err_set(e, ERR_RANGE, "cluster: server %d is in rack %d, expected 0 to %d", (int)s,
                           (int)k->rack[s], (int)k->n_racks - 1);
        links[n++] = (struct topo_link){
            .src = s, .dst = k->n_servers + k->rack[s], .bw_Bps = k->server_Bps[s], .lat_s = k->lat_s
        };
    }
    for (int32_t a = 0, pair = 0; a < k->n_racks; a++)
        for (int32_t b = a + 1; b < k->n_racks; b++, pair++)
            links[n++] = (struct topo_link){ .src = k->n_servers + a,
                                             .dst = k->n_servers + b,
                                             .bw_Bps = k->rack_Bps[pair],
                                             .lat_s = k->lat_s };
    return 0;
}

int cluster_build_racks(struct cluster *c, const struct cluster_racks *k, const struct cluster_offer *offer,
                        struct err *e)
{
    struct topo_link *links = NULL;
    int64_t n_links = k->n_servers + (int64_t)k->n_racks * (k->n_racks - 1) / 2;
    *c = (struct cluster){ 0 };
    int rc = cluster_rack_links(&links, k, e);
#pragma omp critical(igraph)
    if (!rc) {
        rc = topo_build_links(&c->graph, k->n_servers, k->n_racks, "server", links, n_links, e);
        if (!rc)
            rc = cluster_finish_paths(c, offer, e);
    }
    free(links);
    if (rc)
        cluster_free(c);
    return rc;
}

int cluster_set_types(struct cluster *c, const int32_t *servers, int32_t n, struct err *e)
{
    int64_t sum = 0;
    for (int32_t t = 0; t < n; t++)
        sum += servers[t];
    if (n < 1 || n > CLUSTER_MAX_TYPES || sum != c->n_servers)
        return err_set(e, ERR_RANGE, "cluster: %d types of NPU have %lld servers, expected 1 to %d with %d",
                       (int)n, (long long)sum, (int)CLUSTER_MAX_TYPES, (int)c->n_servers);
    c->type = ARENA_TAKE(&c->arena, c->n_servers, *c->type);
    int rc = arena_check(&c->arena, "types of servers", e);
    if (rc)
        return rc;
    c->n_types = n;
    for (int32_t t = 0, s = 0; t < n; t++)
        for (int32_t i = 0; i < servers[t]; i++)
            c->type[s++] = t;
    return 0;
}

void cluster_free(struct cluster *c)
{
#pragma omp critical(igraph)
    {
        topo_routes_free(&c->routes);
        topo_graph_free(c->graph);
    }
    arena_free(&c->arena);
    free(c->path_arcs);
    *c = (struct cluster){ 0 };
}

/* ---- questions ---- */

double cluster_total(const struct cluster *c, int32_t r)
{
    double sum = 0;
    for (int32_t s = 0; s < c->n_servers; s++)
        sum += cluster_capacity(c, s, r);
    return sum;
}

const char *cluster_server_name(char buf[TOPO_VERTEX_TEXT], const struct cluster *c, int32_t s)
{
    if (!c->routes.described)
        return topo_vertex_name(buf, c->graph, s);
    snprintf(buf, TOPO_VERTEX_TEXT, "server%d", (int)s);
    return buf;
}

/* A server or a switch. */
static const char *cluster_vertex_name(char buf[TOPO_VERTEX_TEXT], const struct cluster *c, int32_t v)
{
    return v < c->n_servers ? cluster_server_name(buf, c, v) : topo_vertex_name(buf, c->graph, v);
}

const char *cluster_arc_name(char buf[TOPO_ARC_TEXT], const struct cluster *c, int32_t arc)
{
    char from[TOPO_VERTEX_TEXT], to[TOPO_VERTEX_TEXT];
    snprintf(buf, TOPO_ARC_TEXT, "%s -> %s", cluster_vertex_name(from, c, c->routes.to[arc ^ 1]),
             cluster_vertex_name(to, c, c->routes.to[arc]));
    return buf;
}
