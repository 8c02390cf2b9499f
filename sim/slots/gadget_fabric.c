#include "sim/slots/gadget_fabric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- two levels ---- */

static struct cluster_path path_of(const struct cluster *c, int32_t from, int32_t to)
{
    int64_t at = (int64_t)from * c->n_servers + to;
    return (struct cluster_path){ c->path_arcs + c->path_first[at],
                                  (int32_t)(c->path_first[at + 1] - c->path_first[at]) };
}

/* Number the switches that servers hang on. False where one hangs on none, or they are too many. */
static bool number_racks(struct gadget_fabric *f)
{
    const struct cluster *c = f->cluster;
    int32_t leaf[GADGET_MAX_RACKS];
    f->n_nodes = 0;
    for (int32_t s = 0; s < c->n_servers; s++) {
        int32_t k = 0;
        while (k < f->n_nodes && leaf[k] != c->leaf[s])
            k++;
        if (c->leaf[s] < 0 || k == GADGET_MAX_RACKS)
            return false;
        if (k == f->n_nodes)
            leaf[f->n_nodes++] = c->leaf[s];
        f->node[s] = k;
        /* The one link of a server is two arcs, the one out at its vertex. */
        f->out_arc[s] = c->routes.out[c->routes.first[s]];
        f->in_arc[s] = f->out_arc[s] ^ 1;
    }
    return true;
}

/* Is the path from s to t the core of its racks between their own links? first[k] is a server of rack k. */
static bool goes_through(const struct gadget_fabric *f, const int32_t *first, int32_t s, int32_t t)
{
    struct cluster_path p = path_of(f->cluster, s, t);
    if (p.n < 2 || p.arcs[0] != f->out_arc[s] || p.arcs[p.n - 1] != f->in_arc[t])
        return false;
    if (f->node[s] == f->node[t])
        return p.n == 2;
    struct cluster_path like = path_of(f->cluster, first[f->node[s]], first[f->node[t]]);
    return like.n == p.n && memcmp(like.arcs + 1, p.arcs + 1, ((size_t)p.n - 2) * sizeof *p.arcs) == 0;
}

static bool has_racks(struct gadget_fabric *f)
{
    int32_t first[GADGET_MAX_RACKS], n = f->cluster->n_servers;
    if (!number_racks(f))
        return false;
    for (int32_t s = n - 1; s >= 0; s--)
        first[f->node[s]] = s;
    for (int32_t s = 0; s < n; s++)
        for (int32_t t = 0; t < n; t++)
            if (s != t && !goes_through(f, first, s, t))
                return false;
    return true;
}

/* ---- building ---- */

static int list_zones(struct gadget_fabric *f, struct err *e)
{
    int32_t n = f->cluster->n_servers, at = 0;
    f->n_zones = f->racks ? f->n_nodes : 1;
    f->zone_first = malloc(((size_t)f->n_zones + 1) * sizeof *f->zone_first);
    f->zone_servers = malloc((size_t)n * sizeof *f->zone_servers);
    if (!f->zone_first || !f->zone_servers)
        return err_nomem(e, "racks");
    for (int32_t z = 0; z < f->n_zones; z++) {
        f->zone_first[z] = at;
        for (int32_t s = 0; s < n; s++)
            if (!f->racks || f->node[s] == z)
                f->zone_servers[at++] = s;
    }
    f->zone_first[f->n_zones] = at;
    return 0;
}

/* Paths between racks lie between those of any two of their servers. */
static int list_core(struct gadget_fabric *f, struct err *e)
{
    const struct cluster *c = f->cluster;
    int64_t n = f->n_nodes, at = 0, kept = c->path_first[(int64_t)c->n_servers * c->n_servers];
    f->core_first = malloc((size_t)(n * n + 1) * sizeof *f->core_first);
    f->core_arcs = malloc(((size_t)kept + 1) * sizeof *f->core_arcs);
    if (!f->core_first || !f->core_arcs)
        return err_nomem(e, "paths between racks");
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++) {
            f->core_first[a * n + b] = at;
            if (a == b)
                continue;
            int32_t own = f->racks ? 1 : 0;
            struct cluster_path p = path_of(c, f->racks ? f->zone_servers[f->zone_first[a]] : a,
                                            f->racks ? f->zone_servers[f->zone_first[b]] : b);
            for (int32_t i = own; i < p.n - own; i++)
                f->core_arcs[at++] = p.arcs[i];
        }
    f->core_first[n * n] = at;
    return 0;
}

int gadget_fabric_build(struct gadget_fabric *f, const struct cluster *c, bool racks, struct err *e)
{
    size_t n = (size_t)c->n_servers;
    *f = (struct gadget_fabric){ .cluster = c };
    if (c->n_servers > CLUSTER_KEPT_PATHS)
        return err_set(e, ERR_UNSUP, "gadget: cluster has %d servers, need at most %d", (int)c->n_servers,
                       (int)CLUSTER_KEPT_PATHS);
    if (!c->path_first)
        return err_set(e, ERR_UNSUP,
                       "gadget: paths between %d servers have more than %d arcs together, need fewer servers",
                       (int)c->n_servers, (int)CLUSTER_KEPT_ARCS);
    f->node = malloc(n * sizeof *f->node);
    f->out_arc = malloc(n * sizeof *f->out_arc);
    f->in_arc = malloc(n * sizeof *f->in_arc);
    int rc = f->node && f->out_arc && f->in_arc ? 0 : err_nomem(e, "servers of a fabric");
    if (!rc) {
        f->racks = racks && has_racks(f);
        for (int32_t s = 0; s < c->n_servers && !f->racks; s++) {
            f->node[s] = s;
            f->out_arc[s] = f->in_arc[s] = -1;
        }
        f->n_nodes = f->racks ? f->n_nodes : c->n_servers;
        rc = list_zones(f, e);
    }
    if (!rc)
        rc = list_core(f, e);
    if (rc)
        gadget_fabric_free(f);
    return rc;
}

void gadget_fabric_free(struct gadget_fabric *f)
{
    free(f->node);
    free(f->out_arc);
    free(f->in_arc);
    free(f->core_first);
    free(f->core_arcs);
    free(f->zone_first);
    free(f->zone_servers);
    *f = (struct gadget_fabric){ 0 };
}

/* ---- prices ---- */

int gadget_prices_build(struct gadget_prices *p, const struct gadget_fabric *f, struct err *e)
{
    const struct cluster *c = f->cluster;
    size_t n = (size_t)c->n_servers, nodes = (size_t)f->n_nodes * (size_t)f->n_nodes;
    *p = (struct gadget_prices){ .fabric = f };
    p->worker = calloc(n * (size_t)c->n_resources, sizeof *p->worker);
    p->left = calloc(n * (size_t)c->n_resources, sizeof *p->left);
    p->out = calloc(n, sizeof *p->out);
    p->in = calloc(n, sizeof *p->in);
    p->core = calloc(nodes, sizeof *p->core);
    p->out_Bps = calloc(n, sizeof *p->out_Bps);
    p->in_Bps = calloc(n, sizeof *p->in_Bps);
    p->core_Bps = calloc(nodes, sizeof *p->core_Bps);
    if (!p->worker || !p->left || !p->out || !p->in || !p->core || !p->out_Bps || !p->in_Bps ||
        !p->core_Bps) {
        gadget_prices_free(p);
        return err_nomem(e, "prices of a fabric");
    }
    gadget_prices_leave(p, c->capacity, c->bw_Bps);
    return 0;
}

void gadget_prices_free(struct gadget_prices *p)
{
    free(p->worker);
    free(p->left);
    free(p->out);
    free(p->in);
    free(p->core);
    free(p->out_Bps);
    free(p->in_Bps);
    free(p->core_Bps);
    *p = (struct gadget_prices){ 0 };
}

/* What every path out of a server pays at least goes to `out`, of the rest into one to `in`. */
static void split_core(struct gadget_prices *p, int32_t n)
{
    for (int32_t u = 0; u < n; u++) {
        double least = INFINITY;
        for (int32_t v = 0; v < n; v++)
            if (v != u)
                least = fmin(least, p->core[(int64_t)u * n + v]);
        p->out[u] = isfinite(least) ? least : 0;
    }
    for (int32_t v = 0; v < n; v++) {
        double least = INFINITY;
        for (int32_t u = 0; u < n; u++)
            if (v != u)
                least = fmin(least, p->core[(int64_t)u * n + v] - p->out[u]);
        p->in[v] = isfinite(least) ? fmax(least, 0) : 0;
    }
    for (int32_t u = 0; u < n; u++)
        for (int32_t v = 0; v < n; v++) {
            double *x = &p->core[(int64_t)u * n + v];
            *x = u == v ? 0 : fmax(*x - p->out[u] - p->in[v], 0);
        }
}

/*
 * Held and Karp over the racks of each set, from its lowest one. Distances are the shortest over other racks:
 * a walk may come through a rack again or without a server there, which only makes it cheaper.
 */
static void price_tours(struct gadget_prices *p, int32_t n)
{
    double near[GADGET_MAX_RACKS][GADGET_MAX_RACKS], cost[1 << GADGET_MAX_RACKS][GADGET_MAX_RACKS];
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++)
            near[a][b] = p->core[a * n + b];
    for (int32_t via = 0; via < n; via++)
        for (int32_t a = 0; a < n; a++)
            for (int32_t b = 0; b < n; b++)
                near[a][b] = fmin(near[a][b], near[a][via] + near[via][b]);
    for (int32_t set = 1; set < 1 << n; set++) {
        int32_t low = 0;
        while (!(set >> low & 1))
            low++;
        p->tour[set] = INFINITY;
        for (int32_t last = low; last < n; last++) {
            int32_t before = set ^ 1 << last;
            if (!(set >> last & 1))
                continue;
            cost[set][last] = before ? INFINITY : 0;
            for (int32_t b = low; b < n && last != low; b++)
                if (before >> b & 1)
                    cost[set][last] = fmin(cost[set][last], cost[before][b] + near[b][last]);
            p->tour[set] = fmin(p->tour[set], cost[set][last] + (last == low ? 0 : near[last][low]));
        }
    }
}

void gadget_prices_set(struct gadget_prices *p, const double *worker, const double *arc)
{
    const struct gadget_fabric *f = p->fabric;
    const struct cluster *c = f->cluster;
    int32_t n = f->n_nodes;
    memcpy(p->worker, worker, (size_t)c->n_servers * (size_t)c->n_resources * sizeof *worker);
    for (int64_t i = 0; i < (int64_t)n * n; i++) {
        p->core[i] = 0;
        for (int64_t k = f->core_first[i]; k < f->core_first[i + 1]; k++)
            p->core[i] += arc[f->core_arcs[k]];
    }
    p->tour[0] = p->tour[1] = 0;
    if (!f->racks) {
        split_core(p, n);
        return;
    }
    for (int32_t s = 0; s < c->n_servers; s++) {
        p->out[s] = arc[f->out_arc[s]];
        p->in[s] = arc[f->in_arc[s]];
    }
    price_tours(p, n);
}

void gadget_prices_leave(struct gadget_prices *p, const double *left, const double *left_Bps)
{
    const struct gadget_fabric *f = p->fabric;
    const struct cluster *c = f->cluster;
    memcpy(p->left, left, (size_t)c->n_servers * (size_t)c->n_resources * sizeof *left);
    for (int32_t s = 0; s < c->n_servers; s++) {
        p->out_Bps[s] = f->racks ? left_Bps[f->out_arc[s]] : INFINITY;
        p->in_Bps[s] = f->racks ? left_Bps[f->in_arc[s]] : INFINITY;
    }
    for (int64_t i = 0; i < (int64_t)f->n_nodes * f->n_nodes; i++) {
        p->core_Bps[i] = INFINITY;
        for (int64_t k = f->core_first[i]; k < f->core_first[i + 1]; k++)
            p->core_Bps[i] = fmin(p->core_Bps[i], left_Bps[f->core_arcs[k]]);
    }
}
