/*
 * Throughput of a graph under ideal routing: every message may be split over any paths.
 *
 *     rate = max { r : demand * r is routable }  =  min { C . y : y >= 0, sum_st d_st dist_y(s, t) >= 1 }
 *
 * (maximum concurrent flow and its dual; F. Shahrokhi, D. Matula, JACM 37, 1990). C . y is linear in the
 * bandwidths of classes, so each feasible y is a cut: rate <= cut . B at any B, and rate(B) is the least of
 * them, concave. The right-hand programme is solved by rows: with u_s the summed distances of what source s
 * sends, u_s <= load . y for each routing of that demand, of which shortest paths at a y give the one that
 * y breaks most. Shortest paths are shared evenly, which keeps rows as symmetric as the graph. The vertex of
 * a master has extreme lengths: questions are asked half way to the best y so far, and at the vertex where
 * that teaches nothing (W. Ben-Ameur, J. Neto, Acceleration of cutting-plane and column generation
 * algorithms, Networks 49, 2007). The master's value is what a mix of the routings found carries, a lower
 * bound; lengths divided by their own sum of distances are an upper bound: the answer holds both.
 *
 * Rows are dense, so a graph with little symmetry is solved the other way round, by paths of pairs of ends
 * and an interior-point method (topo/congestion.c). Paths come from the same search: at the lengths of each
 * step a path is added for every pair that has one shorter than those it knows, by more than a share of the
 * gap, since what pairs miss in all is then a share of the gap too. Both bounds are taken as above.
 *
 * Symmetry: averaged over automorphisms that keep the demand, an optimal y is optimal, so links of one orbit
 * share a length and one source of each orbit is enough. A demand that is the same both ways has one length
 * for both directions of a link by the same argument. Ours, from the definitions; tests hold it against
 * closed forms and published rates (tests/reference/topo_throughput.csv).
 */
#include "topo/theta.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/heap.h"
#include "base/simplex.h"
#include "base/stat.h"
#include "base/vec.h"
#include "base/work.h"
#include "topo/congestion.h"

/** Distances nearer than this, relative, are ties. */
#define TIE_REL 1e-11

/** A length below this share of the greatest is rounding. */
#define LENGTH_REL 1e-10

/** What all pairs may miss by paths that are not added, as a share of the gap. */
#define MISSED 0.05

/** Least length times capacity to begin with, over the mean. */
#define LEAST_BEGIN 0.02

/** Times orbits of links times orbits of sources from which paths are faster than rows. */
enum { ROWS_WORK = 1024 };

enum { MAX_ROUNDS = 1000, MAX_STEPS = 200, IDLE_STEPS = 25, GATHER_ROUNDS = 5 };

/* What a source sends to one NPU. */
struct theta_flow {
    int32_t to;
    double demand;
};

HEAP(reaches, struct stat_rank, stat_before)

struct theta {
    struct arena arena; /* of all arrays but flows */
    int32_t n_npus, n_vertices, n_links, n_classes, n_vars, n_sources;
    int32_t *first,
        *arcs;    /* arcs out of v: arcs[first[v] .. first[v + 1]); arc 2 l leads from a link's lower end */
    int32_t *to;  /* shape [2 n_links] */
    int32_t *var; /* shape [2 n_links]: its length */
    int32_t *var_class; /* shape [n_vars] */
    double *var_weight; /* shape [n_vars]: capacity of its arcs over the bandwidth of the class */
    int32_t *sources;   /* shape [n_sources]: one of each orbit */
    double *times;      /* shape [n_sources]: how many are like it */
    struct theta_demand demand;
    struct theta_groups groups[TOPO_MAX_DIMS];
    struct simplex *master;        /* columns: lengths, then u of each source; NULL where it goes by paths */
    struct congestion *congestion; /* else */
    struct theta_flow *flows;      /* shape [n_flows], owned: pairs of ends, by source */
    int32_t n_flows, *first_flow; /* of source i: first_flow[i] .. first_flow[i + 1], shape [n_sources + 1] */
    double scale;                 /* right-hand side of the master, so that lengths are about one */
    double *best;                 /* shape [n_vars], feasible lengths with the least C . y so far */
    bool has_best;
    /* Room for a search from one source. */
    double *dist, *paths, *flow, *load; /* shape [n_vertices], load [n_vars] */
    int32_t *order, *settled;      /* shape [n_vertices]: vertices by distance, and the inverse; -1 not yet */
    struct stat_rank *heap;        /* shape [2 n_links + 1] */
    double *asked, *vertex, *cost; /* shape [n_vars] */
    double *u;                     /* shape [n_sources] */
    int32_t *parent;               /* shape [n_vertices]: arc by which the search came */
    int32_t *columns;              /* shape [n_vars + n_sources] */
    double *values;
};

/* ---- groups ---- */

/* Number of the group of an NPU, and its place in it. */
static int32_t group_of(int32_t *place, const struct theta_demand *d, const struct theta_part *p, int32_t npu)
{
    int32_t group = 0, scale = 1, at = 0, step = 1;
    for (int32_t k = 0; k < d->n_axes; k++) {
        int32_t digit = npu % d->sizes[k], stride = p->stride[k], span = stride * p->members[k];
        at += step * (digit / stride % p->members[k]);
        group += scale * (digit % stride + stride * (digit / span));
        step *= p->members[k];
        scale *= d->sizes[k] / p->members[k];
        npu /= d->sizes[k];
    }
    *place = at;
    return group;
}

static int build_groups(struct theta *t, int32_t part, struct err *e)
{
    const struct theta_part *p = &t->demand.parts[part];
    struct theta_groups *g = &t->groups[part];
    g->n = 1;
    for (int32_t k = 0; k < t->demand.n_axes; k++) {
        if (t->demand.sizes[k] % (p->stride[k] * p->members[k]))
            return err_set(e, ERR_RANGE, "takes %d members with stride %d of %d, expected a divisor",
                           (int)p->members[k], (int)p->stride[k], (int)t->demand.sizes[k]);
        g->n *= p->members[k];
    }
    g->member = ARENA_TAKE(&t->arena, t->n_npus, *g->member);
    g->place = ARENA_TAKE(&t->arena, t->n_npus, *g->place);
    int rc = arena_check(&t->arena, "demand on a graph", e);
    for (int32_t v = 0; v < t->n_npus && !rc; v++) {
        int32_t at, group = group_of(&at, &t->demand, p, v);
        g->place[v] = group * g->n + at;
        g->member[g->place[v]] = v;
    }
    return rc;
}

/* Add what s sends to flow[]. */
static void add_demand(const struct theta *t, int32_t s, double *flow)
{
    for (int32_t k = 0; k < t->demand.n_parts; k++) {
        const struct theta_groups *g = &t->groups[k];
        const struct theta_part *p = &t->demand.parts[k];
        int32_t at = g->place[s], begin = at / g->n * g->n, next = at + 1 < begin + g->n ? at + 1 : begin;
        if (p->kind == THETA_DIRECT)
            for (int32_t i = begin; i < begin + g->n; i++)
                flow[g->member[i]] += i == at ? 0 : p->share / (g->n - 1);
        else if (p->kind == THETA_NEXT || next != begin)
            flow[g->member[next]] += p->share;
    }
}

/* ---- one length for links that are alike ---- */

static bool is_symmetric(const struct theta_demand *d)
{
    for (int32_t k = 0; k < d->n_parts; k++)
        if (d->parts[k].kind != THETA_DIRECT)
            return false;
    return true;
}

/* Links of one class and weight have one colour: numbers in order of first mention. */
static void color_links(int32_t *colors, int32_t first, const int32_t *classes, const double *weight,
                        int32_t n)
{
    int32_t n_colors = 0;
    for (int32_t l = 0; l < n; l++) {
        int32_t like = 0;
        while (like < l && !(classes[like] == classes[l] && weight[like] == weight[l]))
            like++;
        colors[l] = like < l ? colors[like] : first + n_colors++;
    }
}

/* A link is a vertex between its ends, a group one that is joined to its members. */
int theta_find_orbits(int32_t *orbit, const struct topo_wires *w, const int32_t *classes,
                      const double *weight, const struct theta_groups *groups, int32_t n_groups,
                      struct err *e)
{
    struct arena own = { 0 };
    int32_t n = w->n_vertices + w->n_links, n_edges = 0;
    size_t in_groups = (size_t)w->n_npus * (size_t)n_groups;
    int32_t *colors = ARENA_TAKE(&own, (size_t)n + in_groups, *colors);
    int32_t *ends = ARENA_TAKE(&own, 4 * (size_t)w->n_links + 2 * in_groups, *ends);
    int rc = arena_check(&own, "symmetry of a graph", e);
    for (int32_t v = w->n_npus; v < w->n_vertices && !rc; v++)
        colors[v] = 1;
    if (!rc)
        color_links(colors + w->n_vertices, 2 + n_groups, classes, weight, w->n_links);
    for (int32_t l = 0; l < w->n_links && !rc; l++)
        for (int k = 0; k < 2; k++) {
            ends[2 * (size_t)n_edges] = (int32_t)(k ? w->links[l].dst : w->links[l].src);
            ends[2 * n_edges++ + 1] = w->n_vertices + l;
        }
    for (int32_t k = 0; k < n_groups && !rc; k++) {
        const struct theta_groups *g = &groups[k];
        for (int32_t i = 0; i < w->n_npus && g->n < w->n_npus; i++) {
            ends[2 * (size_t)n_edges] = g->member[i];
            ends[2 * n_edges++ + 1] = n + i / g->n;
            colors[n + i / g->n] = 2 + k;
        }
        n += g->n < w->n_npus ? w->n_npus / g->n : 0;
    }
    /* igraph's stack of what to clean up is one for the whole program. */
    if (!rc) {
#pragma omp critical(igraph)
        rc = topo_find_orbits(orbit, n, colors, ends, n_edges, e);
    }
    arena_free(&own);
    return rc;
}

/* Number the lengths, and choose sources. */
static int build_vars(struct theta *t, const struct topo_wires *w, const int32_t *classes,
                      const double *weight, struct err *e)
{
    bool both = is_symmetric(&t->demand);
    size_t room = (size_t)t->n_vertices + (size_t)t->n_links + (size_t)t->n_npus * TOPO_MAX_DIMS;
    int32_t *orbit = calloc(room, sizeof *orbit);
    t->var = ARENA_TAKE(&t->arena, 2 * t->n_links, *t->var);
    t->var_class = ARENA_TAKE(&t->arena, 2 * t->n_links, *t->var_class);
    t->var_weight = ARENA_TAKE(&t->arena, 2 * t->n_links, *t->var_weight);
    t->sources = ARENA_TAKE(&t->arena, t->n_npus, *t->sources);
    t->times = ARENA_TAKE(&t->arena, t->n_npus, *t->times);
    int rc = orbit ? arena_check(&t->arena, "demand on a graph", e) : err_nomem(e, "demand on a graph");
    for (size_t v = 0; v < room && !rc; v++)
        orbit[v] = (int32_t)v;
    if (!rc && both)
        rc = theta_find_orbits(orbit, w, classes, weight, t->groups, t->demand.n_parts, e);
    for (int32_t a = 0; a < 2 * t->n_links && !rc; a++) {
        int32_t l = a / 2, like = orbit[t->n_vertices + l] - t->n_vertices;
        bool known = both && (a % 2 == 1 || like < l);
        t->var[a] = known ? t->var[2 * (size_t)like] : t->n_vars++;
        t->var_class[t->var[a]] = classes[l];
        t->var_weight[t->var[a]] += weight[l];
    }
    for (int32_t v = 0; v < t->n_npus && !rc; v++) {
        int32_t i = 0;
        while (i < t->n_sources && orbit[t->sources[i]] != orbit[v])
            i++;
        if (i == t->n_sources)
            t->sources[t->n_sources++] = v;
        t->times[i]++;
    }
    free(orbit);
    return rc;
}

/* ---- building ---- */

static int build_arcs(struct theta *t, const struct topo_wires *w, struct err *e)
{
    t->first = ARENA_TAKE(&t->arena, t->n_vertices + 2, *t->first);
    t->arcs = ARENA_TAKE(&t->arena, 2 * t->n_links, *t->arcs);
    t->to = ARENA_TAKE(&t->arena, 2 * t->n_links, *t->to);
    int rc = arena_check(&t->arena, "demand on a graph", e);
    if (rc)
        return rc;
    for (int32_t a = 0; a < 2 * t->n_links; a++) {
        const struct topo_link *link = &w->links[a / 2];
        t->to[a] = (int32_t)(a % 2 ? link->src : link->dst);
    }
    /* The arc back leads to where an arc comes from: its place is counted there. */
    for (int32_t a = 0; a < 2 * t->n_links; a++)
        t->first[t->to[a ^ 1] + 1]++;
    for (int32_t v = 0; v < t->n_vertices; v++)
        t->first[v + 1] += t->first[v];
    for (int32_t a = 2 * t->n_links; a-- > 0;)
        t->arcs[--t->first[t->to[a ^ 1] + 1]] = a;
    memmove(t->first, t->first + 1, (size_t)t->n_vertices * sizeof *t->first);
    t->first[t->n_vertices] = 2 * t->n_links;
    return 0;
}

static int build_room(struct theta *t, struct err *e)
{
    int32_t n = t->n_vertices, all = t->n_vars + t->n_sources;
    double **of_vertices[] = { &t->dist, &t->paths, &t->flow };
    double **of_vars[] = { &t->load, &t->asked, &t->vertex, &t->cost, &t->best };
    for (size_t i = 0; i < sizeof of_vertices / sizeof *of_vertices; i++)
        *of_vertices[i] = ARENA_TAKE(&t->arena, n, double);
    for (size_t i = 0; i < sizeof of_vars / sizeof *of_vars; i++)
        *of_vars[i] = ARENA_TAKE(&t->arena, t->n_vars, double);
    t->order = ARENA_TAKE(&t->arena, n, *t->order);
    t->parent = ARENA_TAKE(&t->arena, n, *t->parent);
    t->settled = ARENA_TAKE(&t->arena, n, *t->settled);
    t->u = ARENA_TAKE(&t->arena, t->n_sources, *t->u);
    t->heap = ARENA_TAKE(&t->arena, 2 * t->n_links + 1, *t->heap);
    t->columns = ARENA_TAKE(&t->arena, all, *t->columns);
    t->values = ARENA_TAKE(&t->arena, all, *t->values);
    t->first_flow = ARENA_TAKE(&t->arena, t->n_sources + 1, *t->first_flow);
    return arena_check(&t->arena, "demand on a graph", e);
}

/* Lengths, then u of each source, and the row sum of times * u >= scale. No u has a bound: one at 0 would let
 * the routing, which is the dual, carry more than its demand. */
static int build_master(struct theta *t, struct err *e)
{
    int rc = simplex_build(&t->master, e);
    t->scale = 0;
    for (int32_t v = 0; v < t->n_vars; v++)
        t->scale += t->var_weight[v] > 0;
    for (int32_t c = 0; c < t->n_vars + t->n_sources && !rc; c++)
        rc = simplex_add_column(t->master, 0, c < t->n_vars ? 0 : -INFINITY, INFINITY, 0, NULL, NULL, e);
    for (int32_t i = 0; i < t->n_sources; i++)
        t->columns[i] = t->n_vars + i;
    return rc ? rc : simplex_add_row(t->master, t->scale, INFINITY, t->n_sources, t->columns, t->times, e);
}

/*
 * Pairs of ends that send, times how often a source stands for others. Where all sources are there and the
 * demand is the same both ways a pair counts once for both directions, as a length does.
 */
static int list_flows(struct theta *t, struct err *e)
{
    bool once = is_symmetric(&t->demand) && t->n_sources == t->n_npus;
    int32_t cap = 0;
    for (int32_t i = 0; i < t->n_sources; i++) {
        int32_t s = t->sources[i];
        memset(t->flow, 0, (size_t)t->n_vertices * sizeof *t->flow);
        add_demand(t, s, t->flow);
        for (int32_t v = once ? s + 1 : 0; v < t->n_npus; v++) {
            if (!(t->flow[v] > 0))
                continue;
            if (t->n_flows == THETA_PAIRS)
                return err_set(e, ERR_RANGE,
                               "has more than %d pairs of NPUs that no symmetry maps onto others, expected "
                               "at most that",
                               THETA_PAIRS);
            if (!vec_reserve(t->flows, cap, t->n_flows + 1))
                return err_nomem(e, "demand on a graph");
            t->flows[t->n_flows++] = (struct theta_flow){ v, t->times[i] * t->flow[v] * (once ? 2 : 1) };
        }
        t->first_flow[i + 1] = t->n_flows;
    }
    return 0;
}

static int build_paths(struct theta *t, struct err *e)
{
    if (t->n_vars > THETA_LENGTHS)
        return err_set(e, ERR_RANGE, "has %d links that no symmetry maps onto others, expected at most %d",
                       (int)t->n_vars, THETA_LENGTHS);
    int rc = list_flows(t, e);
    double *demand = rc ? NULL : calloc((size_t)t->n_flows + 1, sizeof *demand);
    if (!rc && !demand)
        rc = err_nomem(e, "demand on a graph");
    for (int32_t k = 0; k < t->n_flows && !rc; k++)
        demand[k] = t->flows[k].demand;
    if (!rc)
        rc = congestion_build(&t->congestion, t->n_vars, t->n_flows, demand, e);
    free(demand);
    return rc;
}

int theta_build(struct theta **out, const struct topo_wires *w, const int32_t *classes, int32_t n_classes,
                const double *weight, const struct theta_demand *demand, struct err *e)
{
    *out = NULL;
    if (w->n_vertices > THETA_VERTICES || n_classes > THETA_CLASSES)
        return err_set(e, ERR_RANGE, "has %d vertices, expected at most %d", (int)w->n_vertices,
                       THETA_VERTICES);
    if (w->n_links > THETA_LINKS)
        return err_set(e, ERR_RANGE, "has %d links, expected at most %d", (int)w->n_links, THETA_LINKS);
    struct theta *t = calloc(1, sizeof *t);
    if (!t)
        return err_nomem(e, "demand on a graph");
    *t = (struct theta){ .n_npus = w->n_npus,
                         .n_vertices = w->n_vertices,
                         .n_links = w->n_links,
                         .n_classes = n_classes,
                         .demand = *demand };
    int rc = 0;
    for (int32_t k = 0; k < demand->n_parts && !rc; k++)
        rc = build_groups(t, k, e);
    if (!rc)
        rc = build_arcs(t, w, e);
    if (!rc)
        rc = build_vars(t, w, classes, weight, e);
    if (!rc)
        rc = build_room(t, e);
    if (!rc)
        rc = (int64_t)t->n_vars * t->n_sources > ROWS_WORK ? build_paths(t, e) : build_master(t, e);
    if (rc) {
        theta_free(t);
        return rc;
    }
    *out = t;
    return 0;
}

void theta_free(struct theta *t)
{
    if (!t)
        return;
    arena_free(&t->arena);
    free(t->flows);
    simplex_free(t->master);
    congestion_free(t->congestion);
    free(t);
}

/* ---- shortest paths ---- */

/* Distances from s under lengths y, in order of distance: a vertex that no shorter way reaches is settled. */
static int32_t find_distances(struct theta *t, int32_t s, const double *y)
{
    int64_t n = 0;
    int32_t reached = 0;
    for (int32_t v = 0; v < t->n_vertices; v++) {
        t->dist[v] = INFINITY;
        t->settled[v] = -1;
    }
    t->dist[s] = 0;
    reaches_push(t->heap, n++, (struct stat_rank){ 0, s });
    while (n > 0) {
        struct stat_rank next = reaches_pop(t->heap, n--);
        int32_t u = (int32_t)next.at;
        if (t->settled[u] >= 0)
            continue;
        t->settled[u] = reached;
        t->order[reached++] = u;
        for (int32_t i = t->first[u]; i < t->first[u + 1]; i++) {
            int32_t a = t->arcs[i], v = t->to[a];
            double dist = next.key + y[t->var[a]];
            if (t->settled[v] >= 0 || !(dist < t->dist[v]))
                continue;
            t->dist[v] = dist;
            t->parent[v] = a;
            reaches_push(t->heap, n++, (struct stat_rank){ dist, v });
        }
    }
    return reached;
}

/* Does arc a into v, from a vertex settled before it, lie on a shortest path? */
static bool is_shortest(const struct theta *t, int32_t a, int32_t v, const double *y)
{
    int32_t u = t->to[a ^ 1];
    return t->settled[u] < t->settled[v] && t->dist[u] + y[t->var[a]] <= t->dist[v] * (1 + TIE_REL);
}

/* The demand of source s over its shortest paths, shared evenly among them: load[], and the sum of demand
 * times distance. */
static double route_source(struct theta *t, int32_t s, const double *y)
{
    double sum = 0;
    int32_t reached = find_distances(t, s, y);
    for (int32_t v = 0; v < t->n_vertices; v++)
        t->flow[v] = t->paths[v] = 0;
    for (int32_t o = 0; o < t->n_vars; o++)
        t->load[o] = 0;
    add_demand(t, s, t->flow);
    for (int32_t v = 0; v < t->n_npus; v++)
        sum += t->flow[v] > 0 ? t->flow[v] * t->dist[v] : 0;
    t->paths[s] = 1;
    for (int32_t k = 1; k < reached; k++) {
        int32_t v = t->order[k];
        for (int32_t i = t->first[v]; i < t->first[v + 1]; i++)
            if (is_shortest(t, t->arcs[i] ^ 1, v, y))
                t->paths[v] += t->paths[t->to[t->arcs[i]]];
    }
    for (int32_t k = reached; k-- > 1;) {
        int32_t v = t->order[k];
        for (int32_t i = t->first[v]; i < t->first[v + 1] && t->flow[v] > 0; i++) {
            int32_t in = t->arcs[i] ^ 1, u = t->to[t->arcs[i]];
            if (!is_shortest(t, in, v, y))
                continue;
            double part = t->flow[v] * (t->paths[u] / t->paths[v]);
            t->flow[u] += part;
            t->load[t->var[in]] += part;
        }
    }
    return sum;
}

/* ---- the programme ---- */

/* u_s <= load . y for what was routed last, unless the master's answer keeps it. */
static int theta_add_row(struct theta *t, int32_t source, bool *added, struct err *e)
{
    double sum = 0;
    int32_t n = 0;
    for (int32_t o = 0; o < t->n_vars; o++)
        if (t->load[o] > 0) {
            sum += t->load[o] * t->vertex[o];
            t->columns[n] = o;
            t->values[n++] = -t->load[o];
        }
    if (t->has_best && t->u[source] <= sum * (1 + 1e-13))
        return 0;
    t->columns[n] = t->n_vars + source;
    t->values[n++] = 1;
    *added = true;
    return simplex_add_row(t->master, -INFINITY, 0, n, t->columns, t->values, e);
}

static double price_of(const struct theta *t, const double *y)
{
    double sum = 0;
    for (int32_t o = 0; o < t->n_vars; o++)
        sum += t->cost[o] > 0 ? t->cost[o] * y[o] : 0;
    return sum;
}

/* Lengths y with their sum of demand times distance: are they the best so far? */
static void keep_best(struct theta *t, const double *y, double sum, double *upper)
{
    double price = price_of(t, y);
    if (t->has_best && !(price / sum < *upper))
        return;
    *upper = price / sum;
    t->has_best = true;
    for (int32_t o = 0; o < t->n_vars; o++)
        t->best[o] = y[o] / sum;
}

static int not_connected(struct err *e)
{
    return err_set(e, ERR_RANGE, "is not connected: some NPU cannot be reached, expected a way to each");
}

/* Ask at lengths y, rounding among them taken for 0: rows they break, and whether they are the best so far.
 */
static int ask(struct theta *t, double *y, double *upper, bool *added, struct err *e)
{
    double most = 0, sum = 0;
    for (int32_t o = 0; o < t->n_vars; o++)
        most = fmax(most, y[o]);
    for (int32_t o = 0; o < t->n_vars; o++)
        y[o] = y[o] < LENGTH_REL * most ? 0 : y[o];
    int rc = 0;
    for (int32_t i = 0; i < t->n_sources && !rc; i++) {
        sum += t->times[i] * route_source(t, t->sources[i], y);
        rc = theta_add_row(t, i, added, e);
    }
    if (rc)
        return rc;
    if (!isfinite(sum))
        return not_connected(e);
    keep_best(t, y, sum, upper);
    return 0;
}

static int solve_master(double *lower, struct theta *t, struct err *e)
{
    static const struct simplex_way ways[] = {
        { SIMPLEX_FROM_BASIS, true, 1e-10, INT32_MAX },
        { SIMPLEX_FROM_BASIS, false, 1e-10, INT32_MAX },
        { SIMPLEX_FROM_ADVANCED, false, 1e-9, INT32_MAX },
        { SIMPLEX_FROM_SLACKS, false, 1e-8, INT32_MAX },
    };
    enum simplex_status status;
    int rc = simplex_solve(&status, t->master, ways, sizeof ways / sizeof *ways, e);
    if (rc)
        return rc;
    if (status != SIMPLEX_OPTIMAL)
        return err_set(e, ERR_LIB, "GLPK: no answer for the lengths of links");
    for (int32_t o = 0; o < t->n_vars; o++)
        t->vertex[o] = fmax(simplex_value(t->master, o), 0);
    for (int32_t i = 0; i < t->n_sources; i++)
        t->u[i] = simplex_value(t->master, t->n_vars + i);
    *lower = price_of(t, t->vertex) / t->scale;
    return 0;
}

/* What no routing pays for of a length's cost is capacity that is left over. */
static void take_busy(double *busy, const struct theta *t)
{
    double all[THETA_CLASSES] = { 0 };
    for (int32_t o = 0; o < t->n_vars; o++) {
        busy[t->var_class[o]] += t->cost[o] - fmax(simplex_reduced(t->master, o), 0);
        all[t->var_class[o]] += t->cost[o];
    }
    for (int32_t c = 0; c < t->n_classes; c++)
        busy[c] = all[c] > 0 ? fmin(fmax(busy[c] / all[c], 0), 1) : 0;
}

/* By rows, from where the last question ended. */
static int solve_rows(double *lower, double *upper, double *busy, struct theta *t, struct err *e)
{
    int rc = 0;
    for (int32_t o = 0; o < t->n_vars; o++)
        simplex_set_cost(t->master, o, t->cost[o]);
    for (int round = 0; round < MAX_ROUNDS && !rc; round++) {
        bool added = !t->has_best, at_vertex = t->has_best;
        if (at_vertex) {
            rc = solve_master(lower, t, e);
            if (!rc && *upper - *lower <= THETA_GAP * *upper)
                break;
        }
        /* The first question is at equal lengths: fewest links. */
        for (int32_t o = 0; o < t->n_vars; o++)
            t->asked[o] = t->has_best ? t->best[o] + t->vertex[o] / t->scale : 1;
        if (!rc)
            rc = ask(t, t->asked, upper, &added, e);
        if (!rc && at_vertex && !added)
            rc = ask(t, t->vertex, upper, &added, e);
        if (!added)
            break;
    }
    if (!rc)
        take_busy(busy, t);
    return rc;
}

/* ---- by paths ---- */

/* The way of the last search to v, as a path of flow k; its loads are added to load[]. */
static int add_path(struct theta *t, int32_t k, int32_t s, bool is_new, struct err *e)
{
    int32_t n = 0;
    for (int32_t v = t->flows[k].to; v != s; v = t->to[t->parent[v] ^ 1]) {
        t->columns[n++] = t->var[t->parent[v]];
        t->load[t->var[t->parent[v]]] += t->flows[k].demand;
    }
    return is_new ? congestion_add(t->congestion, k, n, t->columns, e) : 0;
}

/*
 * Shortest paths at lengths y, those of closed links endless: paths shorter than the ones known by more than
 * @p slack are added, all are loaded in load[], and the bound is taken. In the cut a closed link is as long
 * as the farthest pair is apart, which shortens no way.
 */
static int ask_paths(struct theta *t, double *y, double slack, double *upper, struct err *e)
{
    double sum = 0, most = 0;
    int rc = 0;
    memset(t->load, 0, (size_t)t->n_vars * sizeof *t->load);
    for (int32_t o = 0; o < t->n_vars; o++)
        y[o] = t->cost[o] > 0 ? y[o] : INFINITY;
    for (int32_t i = 0; i < t->n_sources && !rc; i++) {
        find_distances(t, t->sources[i], y);
        for (int32_t k = t->first_flow[i]; k < t->first_flow[i + 1] && !rc; k++) {
            double dist = t->dist[t->flows[k].to], known = congestion_shortest(t->congestion, k, y);
            if (!isfinite(dist))
                return not_connected(e);
            sum += t->flows[k].demand * dist;
            most = fmax(most, dist);
            rc = add_path(t, k, t->sources[i], known > dist * (1 + TIE_REL) + slack, e);
        }
    }
    for (int32_t o = 0; o < t->n_vars; o++)
        y[o] = fmin(y[o], most);
    if (!rc)
        keep_best(t, y, sum, upper);
    return rc;
}

/* Is there a pair of ends that only links without bandwidth connect? */
static bool is_cut_off(struct theta *t)
{
    bool cut_off = false, closed = false;
    for (int32_t o = 0; o < t->n_vars; o++) {
        closed = closed || !(t->cost[o] > 0);
        t->asked[o] = t->cost[o] > 0 ? 1 : INFINITY;
    }
    for (int32_t i = 0; closed && i < t->n_sources; i++) {
        find_distances(t, t->sources[i], t->asked);
        for (int32_t k = t->first_flow[i]; k < t->first_flow[i + 1]; k++)
            cut_off = cut_off || !isfinite(t->dist[t->flows[k].to]);
    }
    return cut_off;
}

/*
 * The first paths: lengths in proportion to one over capacity, or the best of the last question where they
 * bound better, and then after what shortest paths load. Slightly apart, so that pairs differ in which of
 * equal paths they take. The best are where the interior-point method begins.
 */
static int gather_paths(struct theta *t, double *upper, struct err *e)
{
    double *y = t->asked, all = 0;
    bool again = t->has_best;
    int rc = 0;
    for (int32_t o = 0; o < t->n_vars; o++)
        all += t->cost[o];
    for (int round = again ? -1 : 0; round < GATHER_ROUNDS && !rc; round++) {
        double least = LEAST_BEGIN * *upper / t->n_vars, loads = 0;
        for (int32_t o = 0; o < t->n_vars; o++)
            loads += round > 0 ? t->load[o] : 0;
        for (int32_t o = 0; o < t->n_vars; o++)
            y[o] = !(t->cost[o] > 0) ? INFINITY
                   : round < 0       ? fmax(t->best[o], least / t->cost[o])
                   : round == 0      ? (1 + 1e-3 * fmod(0.618 * o, 1)) / t->cost[o]
                                     : y[o] * (0.6 + 0.4 * t->load[o] / t->cost[o] * all / loads);
        double before = *upper;
        rc = ask_paths(t, y, 0, upper, e);
        /* Where the last answer is the better start it is refined at once. */
        if (again && round == 0 && *upper >= before)
            break;
    }
    return rc;
}

/* Share of capacity that loads fill at the rate 1 / worst, by class. */
static void take_loads(double *busy, const struct theta *t, const double *load, double worst)
{
    double all[THETA_CLASSES] = { 0 };
    memset(busy, 0, THETA_CLASSES * sizeof *busy);
    for (int32_t o = 0; o < t->n_vars; o++) {
        busy[t->var_class[o]] += load[o] / worst;
        all[t->var_class[o]] += t->cost[o];
    }
    for (int32_t c = 0; c < t->n_classes; c++)
        busy[c] = all[c] > 0 ? fmin(busy[c] / all[c], 1) : 0;
}

bool theta_is_large(const struct theta *t)
{
    return t->congestion && t->n_flows > THETA_MANY;
}

static int solve_paths(double *lower, double *upper, double *busy, struct theta *t, double gap, struct err *e)
{
    double demand = 0, enough = fmax(gap, theta_is_large(t) ? THETA_LOOSE : THETA_GAP);
    for (int32_t k = 0; k < t->n_flows; k++)
        demand += t->flows[k].demand;
    int rc = gather_paths(t, upper, e);
    if (rc)
        return rc;
    for (int32_t o = 0; o < t->n_vars; o++)
        t->asked[o] = fmax(t->best[o], LEAST_BEGIN * *upper / (t->n_vars * t->cost[o]));
    congestion_begin(t->congestion, t->cost, t->asked);
    struct work work;
    int32_t digits = 0;
    work_begin(&work, "digits of a throughput", (int64_t)lround(-log10(enough)));
    for (int step = 0, last = 0; step < MAX_STEPS && step - last < IDLE_STEPS && !rc; step++) {
        double worst, apart = *upper - *lower;
        const double *load = congestion_loads(&worst, t->congestion);
        if (1 / worst > *lower) {
            *lower = 1 / worst;
            take_loads(busy, t, load, worst);
        }
        if (*upper - *lower <= enough * *upper || !congestion_step(t->congestion))
            break;
        memcpy(t->asked, congestion_lengths(t->congestion), (size_t)t->n_vars * sizeof *t->asked);
        rc = ask_paths(t, t->asked, MISSED * (1 / *lower - 1 / *upper) / demand, upper, e);
        last = *upper - *lower < apart ? step : last;
        rc = rc ? rc : work_check(e);
        for (; digits < 10 && *upper - *lower < pow(10, -digits - 1) * *upper; digits++)
            work_step(&work, 1);
    }
    work_end(&work);
    return rc;
}

/* ---- answers ---- */

/* The cut of the best lengths, by class. */
static void take_cut(struct theta_answer *out, const struct theta *t, const double *bw_Bps)
{
    for (int32_t o = 0; o < t->n_vars; o++)
        out->cut[t->var_class[o]] += t->var_weight[o] * t->best[o];
    for (int32_t c = 0; c < t->n_classes; c++)
        out->rate += out->cut[c] * bw_Bps[c];
}

int theta_solve_within(struct theta_answer *out, struct theta *t, const double *bw_Bps, double gap,
                       struct err *e)
{
    double most = 0, upper = INFINITY, lower = 0;
    *out = (struct theta_answer){ 0 };
    for (int32_t o = 0; o < t->n_vars; o++)
        most = fmax(most, bw_Bps[t->var_class[o]] * t->var_weight[o]);
    for (int32_t o = 0; o < t->n_vars; o++)
        t->cost[o] = most > 0 ? bw_Bps[t->var_class[o]] * t->var_weight[o] / most : 0;
    if (t->has_best)
        upper = price_of(t, t->best);
    if (t->congestion && is_cut_off(t))
        return 0;
    int rc = t->congestion ? solve_paths(&lower, &upper, out->busy, t, gap, e)
                           : solve_rows(&lower, &upper, out->busy, t, e);
    if (rc)
        return rc;
    take_cut(out, t, bw_Bps);
    out->reached = lower * most;
    if (upper - lower > fmax(gap, THETA_LOOSE) * upper)
        return err_set(e, ERR_RANGE,
                       "has a throughput between %.9g and %.9g GB/s, which rounding tells no closer",
                       out->reached / 1e9, out->rate / 1e9);
    return 0;
}

int theta_solve(struct theta_answer *out, struct theta *t, const double *bw_Bps, struct err *e)
{
    return theta_solve_within(out, t, bw_Bps, 0, e);
}

int theta_uniform(double *rate_Bps, const struct topo_wires *w, struct err *e)
{
    struct theta_demand d = { .n_axes = 1, .sizes = { w->n_npus }, .n_parts = 1 };
    struct theta_answer answer = { 0 };
    struct theta *t = NULL;
    struct err inner = { 0 };
    const double one_Bps = 1;
    d.parts[0] =
        (struct theta_part){ .kind = THETA_DIRECT, .share = 1, .members = { w->n_npus }, .stride = { 1 } };
    int32_t *classes = calloc((size_t)w->n_links + 1, sizeof *classes);
    double *weight = calloc((size_t)w->n_links + 1, sizeof *weight);
    int rc = classes && weight ? 0 : err_nomem(e, "demand on a graph");
    for (int32_t l = 0; l < w->n_links && !rc; l++)
        weight[l] = w->links[l].bw_Bps;
    if (!rc && !(rc = theta_build(&t, w, classes, 1, weight, &d, &inner)))
        rc = theta_solve(&answer, t, &one_Bps, &inner);
    *rate_Bps = rc ? NAN : answer.rate;
    if (rc == ERR_RANGE)
        rc = 0;
    else if (rc && inner.msg[0])
        rc = err_set(e, inner.code, "%s", inner.msg);
    theta_free(t);
    free(classes);
    free(weight);
    return rc;
}

bool theta_proves_bisection(double rate_Bps, int64_t n_npus, double cut_Bps)
{
    double n = (double)n_npus, half = floor(n / 2);
    return cut_Bps <= rate_Bps * half * (n - half) / (n - 1) * (1 + THETA_LOOSE);
}
