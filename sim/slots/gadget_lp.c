/*
 * GADGET's programme of a slot by column generation. From bottom to top of what it rests on: the fabric (a
 * network of two levels, or any), prices of its parts, the pricer (relaxations over servers, racks and sets
 * of racks), the search of all rings where these leave a gap, and the programme itself: rows, columns kept
 * from slot to slot, its solution. What gadget.h says of each holds at every price: `most` is never below
 * what a ring is worth, so the bound is proved.
 */
#include "sim/slots/gadget.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* ---- two levels ---- */

static struct cluster_path fabric_path(const struct cluster *c, int32_t from, int32_t to)
{
    int64_t at = (int64_t)from * c->n_servers + to;
    return (struct cluster_path){ c->path_arcs + c->path_first[at],
                                  (int32_t)(c->path_first[at + 1] - c->path_first[at]) };
}

/* Number the switches that servers hang on. False where one hangs on none, or they are too many. */
static bool fabric_number_racks(struct gadget_fabric *f)
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
static bool fabric_goes_through(const struct gadget_fabric *f, const int32_t *first, int32_t s, int32_t t)
{
    struct cluster_path p = fabric_path(f->cluster, s, t);
    if (p.n < 2 || p.arcs[0] != f->out_arc[s] || p.arcs[p.n - 1] != f->in_arc[t])
        return false;
    if (f->node[s] == f->node[t])
        return p.n == 2;
    struct cluster_path like = fabric_path(f->cluster, first[f->node[s]], first[f->node[t]]);
    return like.n == p.n && memcmp(like.arcs + 1, p.arcs + 1, ((size_t)p.n - 2) * sizeof *p.arcs) == 0;
}

static bool fabric_has_racks(struct gadget_fabric *f)
{
    int32_t first[GADGET_MAX_RACKS], n = f->cluster->n_servers;
    if (!fabric_number_racks(f))
        return false;
    for (int32_t s = n - 1; s >= 0; s--)
        first[f->node[s]] = s;
    for (int32_t s = 0; s < n; s++)
        for (int32_t t = 0; t < n; t++)
            if (s != t && !fabric_goes_through(f, first, s, t))
                return false;
    return true;
}

/* ---- building ---- */

static int fabric_list_zones(struct gadget_fabric *f, struct err *e)
{
    int32_t n = f->cluster->n_servers, at = 0;
    f->n_zones = f->racks ? f->n_nodes : 1;
    f->zone_first = ARENA_TAKE(&f->arena, f->n_zones + 1, *f->zone_first);
    f->zone_servers = ARENA_TAKE(&f->arena, n, *f->zone_servers);
    if (f->arena.failed)
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
static int fabric_list_core(struct gadget_fabric *f, struct err *e)
{
    const struct cluster *c = f->cluster;
    int64_t n = f->n_nodes, at = 0, kept = c->path_first[(int64_t)c->n_servers * c->n_servers];
    f->core_first = ARENA_TAKE(&f->arena, (size_t)(n * n + 1), *f->core_first);
    f->core_arcs = ARENA_TAKE(&f->arena, kept + 1, *f->core_arcs);
    if (f->arena.failed)
        return err_nomem(e, "paths between racks");
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++) {
            f->core_first[a * n + b] = at;
            if (a == b)
                continue;
            int32_t own = f->racks ? 1 : 0;
            struct cluster_path p = fabric_path(c, f->racks ? f->zone_servers[f->zone_first[a]] : a,
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
        return err_set(e, ERR_UNSUP, "gadget: cluster has %d servers, expected at most %d", (int)c->n_servers,
                       (int)CLUSTER_KEPT_PATHS);
    if (!c->path_first)
        return err_set(e, ERR_UNSUP,
                       "gadget: paths between %d servers have more than %d arcs together; use fewer servers",
                       (int)c->n_servers, (int)CLUSTER_KEPT_ARCS);
    f->node = ARENA_TAKE(&f->arena, n, *f->node);
    f->out_arc = ARENA_TAKE(&f->arena, n, *f->out_arc);
    f->in_arc = ARENA_TAKE(&f->arena, n, *f->in_arc);
    int rc = arena_check(&f->arena, "servers of a fabric", e);
    if (!rc) {
        f->racks = racks && fabric_has_racks(f);
        for (int32_t s = 0; s < c->n_servers && !f->racks; s++) {
            f->node[s] = s;
            f->out_arc[s] = f->in_arc[s] = -1;
        }
        f->n_nodes = f->racks ? f->n_nodes : c->n_servers;
        rc = fabric_list_zones(f, e);
    }
    if (!rc)
        rc = fabric_list_core(f, e);
    if (rc)
        gadget_fabric_free(f);
    return rc;
}

void gadget_fabric_free(struct gadget_fabric *f)
{
    arena_free(&f->arena);
    *f = (struct gadget_fabric){ 0 };
}

/* ---- prices ---- */

int gadget_prices_build(struct gadget_prices *p, const struct gadget_fabric *f, struct err *e)
{
    const struct cluster *c = f->cluster;
    size_t n = (size_t)c->n_servers, nodes = (size_t)f->n_nodes * (size_t)f->n_nodes;
    *p = (struct gadget_prices){ .fabric = f };
    p->worker = ARENA_TAKE(&p->arena, n * (size_t)c->n_resources, *p->worker);
    p->left = ARENA_TAKE(&p->arena, n * (size_t)c->n_resources, *p->left);
    p->out = ARENA_TAKE(&p->arena, n, *p->out);
    p->in = ARENA_TAKE(&p->arena, n, *p->in);
    p->core = ARENA_TAKE(&p->arena, nodes, *p->core);
    p->out_Bps = ARENA_TAKE(&p->arena, n, *p->out_Bps);
    p->in_Bps = ARENA_TAKE(&p->arena, n, *p->in_Bps);
    p->core_Bps = ARENA_TAKE(&p->arena, nodes, *p->core_Bps);
    if (p->arena.failed) {
        gadget_prices_free(p);
        return err_nomem(e, "prices of a fabric");
    }
    gadget_prices_leave(p, c->capacity, c->bw_Bps);
    return 0;
}

void gadget_prices_free(struct gadget_prices *p)
{
    arena_free(&p->arena);
    *p = (struct gadget_prices){ 0 };
}

/* What every path out of a server pays at least goes to `out`, of the rest into one to `in`. */
static void prices_split_core(struct gadget_prices *p, int32_t n)
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
static void prices_of_tours(struct gadget_prices *p, int32_t n)
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
        prices_split_core(p, n);
        return;
    }
    for (int32_t s = 0; s < c->n_servers; s++) {
        p->out[s] = arc[f->out_arc[s]];
        p->in[s] = arc[f->in_arc[s]];
    }
    prices_of_tours(p, n);
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

/* Rings up to so many servers are put in their best order; larger ones go from rack to rack. */
enum { MAX_ORDERED = 6 };

/* Prices are sums of a few terms of at most the largest gain, which callers bring to about 1. */
#define ROUNDING 1e-12

/* Of a demand: what is left may have lost as much by rounding (elastic_room_fits() forgives 1e-9). */
#define SLACK 1e-10

/* ---- room ---- */

int gadget_pricer_build(struct gadget_pricer *x, const struct gadget_prices *prices, int32_t most_workers,
                        struct err *e)
{
    const struct gadget_fabric *f = prices->fabric;
    size_t n = (size_t)f->cluster->n_servers, k = (size_t)most_workers + 1;
    *x = (struct gadget_pricer){ .prices = prices, .most_workers = most_workers };
    x->price = ARENA_TAKE(&x->arena, n, *x->price);
    x->visit = ARENA_TAKE(&x->arena, n, *x->visit);
    x->cap = ARENA_TAKE(&x->arena, n, *x->cap);
    x->single = ARENA_TAKE(&x->arena, k, *x->single);
    x->zone = ARENA_TAKE(&x->arena, (size_t)f->n_zones * k, *x->zone);
    x->set = ARENA_TAKE(&x->arena, ((size_t)1 << f->n_zones) * k, *x->set);
    x->spread = ARENA_TAKE(&x->arena, k, *x->spread);
    x->least = ARENA_TAKE(&x->arena, k, *x->least);
    x->choice = ARENA_TAKE(&x->arena, n * k, *x->choice);
    x->tried = ARENA_TAKE(&x->arena, k, *x->tried);
    x->usable = ARENA_TAKE(&x->arena, n, *x->usable);
    x->hop = ARENA_TAKE(&x->arena, n * n, *x->hop);
    x->rest = ARENA_TAKE(&x->arena, k * n, *x->rest);
    x->enter = ARENA_TAKE(&x->arena, n, *x->enter);
    x->on_path = ARENA_TAKE(&x->arena, n, *x->on_path);
    if (x->arena.failed) {
        gadget_pricer_free(x);
        return err_nomem(e, "prices of rings");
    }
    return 0;
}

void gadget_pricer_free(struct gadget_pricer *x)
{
    arena_free(&x->arena);
    *x = (struct gadget_pricer){ 0 };
}

/* ---- the job at hand ---- */

static bool pricer_has_room(double left_Bps, double hop_Bps)
{
    return left_Bps >= hop_Bps * (1 - SLACK);
}

/* Price of the hop from server u to v; INFINITY where it has no room. */
static double gadget_hop(const struct gadget_pricer *x, int32_t u, int32_t v)
{
    const struct gadget_prices *p = x->prices;
    const struct gadget_fabric *f = p->fabric;
    double hop_Bps = x->hop_Bps;
    int64_t core = (int64_t)f->node[u] * f->n_nodes + f->node[v];
    if (!pricer_has_room(p->core_Bps[core], hop_Bps))
        return INFINITY;
    return hop_Bps * (p->out[u] + p->core[core] + p->in[v]);
}

static void pricer_view_server(struct gadget_pricer *x, int32_t s)
{
    const struct gadget_prices *p = x->prices;
    const struct elastic_job *job = x->offer->job;
    int32_t n = p->fabric->cluster->n_resources;
    double fits = x->offer->most, price = 0;
    for (int32_t r = 0; r < n; r++)
        if (job->demand[r] > 0) {
            fits = fmin(fits, floor(p->left[(int64_t)s * n + r] / job->demand[r] + SLACK));
            price += job->demand[r] * p->worker[(int64_t)s * n + r];
        }
    x->cap[s] = (int32_t)fmax(fits, 0);
    x->price[s] = price;
    bool room = pricer_has_room(p->out_Bps[s], x->hop_Bps) && pricer_has_room(p->in_Bps[s], x->hop_Bps);
    x->visit[s] = room ? x->hop_Bps * (p->out[s] + p->in[s]) : INFINITY;
}

/* ---- relaxation ---- */

static void pricer_single(struct gadget_pricer *x)
{
    int32_t most = x->offer->most;
    for (int32_t k = 0; k <= most; k++)
        x->single[k] = INFINITY;
    for (int32_t s = 0; s < x->prices->fabric->cluster->n_servers; s++)
        x->single[x->cap[s]] = fmin(x->single[x->cap[s]], x->price[s]);
    /* So far of one worker, where exactly so many fit. */
    for (int32_t k = most; k > 0; k--) {
        x->single[k - 1] = fmin(x->single[k - 1], x->single[k]);
        x->single[k] *= k;
    }
}

/* Knapsack over the servers of a zone: cheapest[j] for j workers. */
static void pricer_zone(struct gadget_pricer *x, int32_t z)
{
    const struct gadget_fabric *f = x->prices->fabric;
    int32_t most = x->offer->most;
    double *cheapest = x->zone + (int64_t)z * (x->most_workers + 1);
    cheapest[0] = 0;
    for (int32_t j = 1; j <= most; j++)
        cheapest[j] = INFINITY;
    for (int32_t i = f->zone_first[z]; i < f->zone_first[z + 1]; i++) {
        int32_t s = f->zone_servers[i];
        int16_t *choice = x->choice + (int64_t)i * (x->most_workers + 1);
        memset(choice, 0, ((size_t)most + 1) * sizeof *choice);
        if (x->cap[s] == 0 || !isfinite(x->visit[s]))
            continue;
        for (int32_t j = most; j > 0; j--)
            for (int32_t w = 1; w <= x->cap[s] && w <= j; w++) {
                double cost = cheapest[j - w] + x->visit[s] + w * x->price[s];
                if (cost < cheapest[j]) {
                    cheapest[j] = cost;
                    choice[j] = (int16_t)w;
                }
            }
    }
}

/* Which zone was put last into a set. */
static int32_t pricer_top_zone(int32_t set)
{
    int32_t z = 0;
    while (set >> (z + 1))
        z++;
    return z;
}

static double *pricer_set_row(const struct gadget_pricer *x, int32_t set)
{
    return x->set + (int64_t)set * (x->most_workers + 1);
}

static void pricer_sets(struct gadget_pricer *x)
{
    int32_t most = x->offer->most, n_sets = 1 << x->prices->fabric->n_zones;
    double hop_Bps = x->hop_Bps;
    for (int32_t k = 0; k <= most; k++) {
        pricer_set_row(x, 0)[k] = x->spread[k] = k ? INFINITY : 0;
    }
    for (int32_t set = 1; set < n_sets; set++) {
        int32_t z = pricer_top_zone(set);
        const double *below = pricer_set_row(x, set ^ 1 << z),
                     *zone = x->zone + (int64_t)z * (x->most_workers + 1);
        double *row = pricer_set_row(x, set), tour = hop_Bps * x->prices->tour[set];
        row[0] = INFINITY;
        for (int32_t k = 1; k <= most; k++) {
            row[k] = INFINITY;
            for (int32_t j = 1; j <= k; j++)
                row[k] = fmin(row[k], below[k - j] + zone[j]);
            x->spread[k] = fmin(x->spread[k], row[k] + tour);
        }
    }
    for (int32_t k = 0; k <= most; k++)
        x->least[k] = fmin(x->single[k], x->spread[k]);
}

/* No ring of k workers is cheaper than least[k]. */
static void pricer_relax(struct gadget_pricer *x)
{
    const struct gadget_fabric *f = x->prices->fabric;
    if (x->offer->rate == ELASTIC_INSIDE) {
        memcpy(x->least, x->single, ((size_t)x->offer->most + 1) * sizeof *x->least);
        return;
    }
    for (int32_t z = 0; z < f->n_zones; z++)
        pricer_zone(x, z);
    pricer_sets(x);
}

/* ---- the ring that it names ---- */

static void pricer_add_server(struct gadget_ring *ring, int32_t s, int32_t workers)
{
    ring->servers[ring->n] = s;
    ring->workers[ring->n++] = workers;
    ring->workers_total += workers;
}

/* None where no server has room for so many. */
static void pricer_name_single(struct gadget_ring *ring, const struct gadget_pricer *x, int32_t k)
{
    for (int32_t s = 0; s < x->prices->fabric->cluster->n_servers && ring->n == 0; s++)
        if (x->cap[s] >= k && k * x->price[s] <= x->single[k])
            pricer_add_server(ring, s, k);
}

static void pricer_name_zone(struct gadget_ring *ring, const struct gadget_pricer *x, int32_t z, int32_t k)
{
    const struct gadget_fabric *f = x->prices->fabric;
    for (int32_t i = f->zone_first[z + 1] - 1; i >= f->zone_first[z] && k > 0; i--) {
        int32_t w = x->choice[(int64_t)i * (x->most_workers + 1) + k];
        if (w > 0)
            pricer_add_server(ring, f->zone_servers[i], w);
        k -= w;
    }
}

/* The steps of price_sets() again, from the end. */
static void pricer_name_set(struct gadget_ring *ring, const struct gadget_pricer *x, int32_t k)
{
    int32_t n_sets = 1 << x->prices->fabric->n_zones, best = 1;
    double hop_Bps = x->hop_Bps, least = INFINITY;
    for (int32_t set = 1; set < n_sets; set++) {
        double cost = pricer_set_row(x, set)[k] + hop_Bps * x->prices->tour[set];
        if (cost < least) {
            least = cost;
            best = set;
        }
    }
    while (best && k > 0) {
        int32_t z = pricer_top_zone(best), j = 1;
        const double *below = pricer_set_row(x, best ^ 1 << z),
                     *zone = x->zone + (int64_t)z * (x->most_workers + 1);
        while (j < k && !(below[k - j] + zone[j] <= pricer_set_row(x, best)[k]))
            j++;
        pricer_name_zone(ring, x, z, j);
        k -= j;
        best ^= 1 << z;
    }
}

/* ---- its order ---- */

struct cycle {
    int32_t n;
    double hop[GADGET_MAX_RACKS][GADGET_MAX_RACKS];
    int32_t order[GADGET_MAX_RACKS];
};

/* Held and Karp: the cheapest cycle through all of a few members, from the first one. */
static void pricer_order_cycle(struct cycle *c)
{
    double cost[1 << (GADGET_MAX_RACKS - 1)][GADGET_MAX_RACKS];
    int32_t from[1 << (GADGET_MAX_RACKS - 1)][GADGET_MAX_RACKS];
    int32_t n = c->n - 1, all = (1 << n) - 1, last = 0; /* members 1.. are bits 0.. */
    for (int32_t set = 1; set <= all; set++)
        for (int32_t b = 0; b < n; b++) {
            int32_t before = set ^ 1 << b;
            if (!(set >> b & 1))
                continue;
            cost[set][b] = before ? INFINITY : c->hop[0][b + 1];
            from[set][b] = before ? pricer_top_zone(before) : -1;
            for (int32_t a = 0; a < n; a++)
                if ((before >> a & 1) && cost[before][a] + c->hop[a + 1][b + 1] < cost[set][b]) {
                    cost[set][b] = cost[before][a] + c->hop[a + 1][b + 1];
                    from[set][b] = a;
                }
        }
    for (int32_t b = 1; b < n; b++)
        if (cost[all][b] + c->hop[b + 1][0] < cost[all][last] + c->hop[last + 1][0])
            last = b;
    c->order[0] = 0;
    for (int32_t set = all, at = n; set; at--) {
        int32_t b = last;
        c->order[at] = b + 1;
        last = from[set][b];
        set ^= 1 << b;
    }
}

static void pricer_order_few(struct gadget_ring *ring, const struct gadget_pricer *x)
{
    struct cycle c = { .n = ring->n };
    struct gadget_ring old = *ring;
    for (int32_t a = 0; a < c.n; a++)
        for (int32_t b = 0; b < c.n; b++)
            c.hop[a][b] = a == b ? 0 : gadget_hop(x, ring->servers[a], ring->servers[b]);
    pricer_order_cycle(&c);
    for (int32_t i = 0; i < c.n; i++) {
        ring->servers[i] = old.servers[c.order[i]];
        ring->workers[i] = old.workers[c.order[i]];
    }
}

/* The servers of one zone stay together, zones in the order of their cheapest cycle; within a zone as named.
 */
static void pricer_order_zones(struct gadget_ring *ring, const struct gadget_pricer *x)
{
    const struct gadget_fabric *f = x->prices->fabric;
    struct cycle c = { .n = 0 };
    struct gadget_ring old = *ring;
    int32_t some[GADGET_MAX_RACKS]; /* a server of each rack */
    if (!f->racks)
        return;
    for (int32_t i = 0; i < old.n; i++) {
        int32_t k = 0;
        while (k < c.n && f->node[some[k]] != f->node[old.servers[i]])
            k++;
        if (k == c.n)
            some[c.n++] = old.servers[i];
    }
    for (int32_t a = 0; a < c.n; a++)
        for (int32_t b = 0; b < c.n; b++)
            c.hop[a][b] = a == b ? 0 : gadget_hop(x, some[a], some[b]);
    if (c.n > 1)
        pricer_order_cycle(&c);
    ring->n = ring->workers_total = 0;
    for (int32_t k = 0; k < c.n; k++)
        for (int32_t i = 0; i < old.n; i++)
            if (f->node[old.servers[i]] == f->node[some[c.n > 1 ? c.order[k] : k]])
                pricer_add_server(ring, old.servers[i], old.workers[i]);
}

static double pricer_ring_cost(const struct gadget_pricer *x, const struct gadget_ring *ring)
{
    double cost = 0;
    for (int32_t i = 0; i < ring->n; i++) {
        cost += ring->workers[i] * x->price[ring->servers[i]];
        if (ring->n > 1)
            cost += gadget_hop(x, ring->servers[i], ring->servers[(i + 1) % ring->n]);
    }
    return cost;
}

/* Of k workers, what the relaxation takes for the cheapest, or one server where that is cheaper in truth. */
static double pricer_name_ring(struct gadget_ring *ring, const struct gadget_pricer *x, int32_t k)
{
    ring->n = ring->workers_total = 0;
    if (x->least[k] < x->single[k]) {
        pricer_name_set(ring, x, k);
        if (ring->n > MAX_ORDERED)
            pricer_order_zones(ring, x);
        else if (ring->n > 2)
            pricer_order_few(ring, x);
        double cost = pricer_ring_cost(x, ring);
        ring->rate = ring->n > 1 ? x->offer->rate : ELASTIC_INSIDE;
        if (cost < x->single[k])
            return cost;
        ring->n = ring->workers_total = 0;
    }
    ring->rate = ELASTIC_INSIDE;
    pricer_name_single(ring, x, k);
    return x->single[k];
}

/* ---- all of it ---- */

/* The size not yet tried whose ring could be worth most, and what; 0: none is left. */
static int32_t pricer_most_promising(const struct gadget_pricer *x, double *worth)
{
    int32_t best = 0;
    *worth = -INFINITY;
    for (int32_t k = x->offer->least; k <= x->offer->most; k++)
        if (!x->tried[k] && x->offer->gain[k] - x->least[k] > *worth) {
            *worth = x->offer->gain[k] - x->least[k];
            best = k;
        }
    return best;
}

/* ---- the search of all rings ---- */

/*
 * Rings that visit no server twice, from their server of the lowest place on. A closed walk through servers
 * of higher places that may come back to one is never dearer than the ring, so it bounds what a path begun
 * can still become.
 */

static double *fabric_rest_row(const struct gadget_pricer *x, int32_t workers)
{
    return x->rest + (int64_t)workers * x->prices->fabric->cluster->n_servers;
}

static const double *fabric_hop_row(const struct gadget_pricer *x, int32_t from)
{
    return x->hop + (int64_t)from * x->prices->fabric->cluster->n_servers;
}

/* What a ring through server s could be worth at most: it pays its hops there, and the rest as the relaxation
 * has it. */
static double search_promise_of_server(const struct gadget_pricer *x, int32_t s)
{
    const struct gadget_offer *o = x->offer;
    double best = -INFINITY;
    for (int32_t k = o->least > 2 ? o->least : 2; k <= o->most; k++)
        for (int32_t w = 1; w <= x->cap[s] && w < k; w++)
            best = fmax(best, o->gain[k] - x->visit[s] - w * x->price[s] - x->spread[k - w]);
    return best;
}

static void search_list_usable(struct gadget_pricer *x, double floor)
{
    x->n_usable = 0;
    for (int32_t s = 0; s < x->prices->fabric->cluster->n_servers; s++)
        if (x->cap[s] > 0 && isfinite(x->visit[s]) && search_promise_of_server(x, s) > floor)
            x->usable[x->n_usable++] = s;
    for (int32_t a = 0; a < x->n_usable; a++) {
        double *row = x->hop + (int64_t)a * x->prices->fabric->cluster->n_servers;
        for (int32_t b = 0; b < x->n_usable; b++)
            row[b] = a == b ? INFINITY : gadget_hop(x, x->usable[a], x->usable[b]);
    }
}

/*
 * rest[n][a]: from the server of place a, least price of n more workers on places above `start` and the hop
 * home. A visit takes up to what fits; only the walk as a whole may exceed it, by coming back.
 */
static void search_price_walks(struct gadget_pricer *x, int32_t start)
{
    int32_t most = x->offer->most - 1;
    for (int32_t a = start; a < x->n_usable; a++)
        fabric_rest_row(x, 0)[a] = fabric_hop_row(x, a)[start];
    for (int32_t n = 1; n <= most; n++) {
        double *rest = fabric_rest_row(x, n);
        for (int32_t b = start + 1; b < x->n_usable; b++) {
            int32_t s = x->usable[b];
            x->enter[b] = INFINITY;
            for (int32_t w = 1; w <= x->cap[s] && w <= n; w++)
                x->enter[b] = fmin(x->enter[b], w * x->price[s] + fabric_rest_row(x, n - w)[b]);
        }
        for (int32_t a = start; a < x->n_usable; a++) {
            const double *hop = fabric_hop_row(x, a);
            double least = INFINITY;
            for (int32_t b = start + 1; b < x->n_usable; b++)
                least = hop[b] + x->enter[b] < least ? hop[b] + x->enter[b] : least;
            rest[a] = least;
        }
    }
    x->left -= (int64_t)most * (x->n_usable - start) * (x->n_usable - start);
}

/* What the path could become worth at most: it has so many workers, cost so much, and stands at place a. */
static double search_promise(const struct gadget_pricer *x, int32_t workers, double cost, int32_t a)
{
    const struct gadget_offer *o = x->offer;
    double best = -INFINITY;
    for (int32_t k = workers > o->least ? workers : o->least; k <= o->most; k++)
        best = fmax(best, o->gain[k] - cost - fabric_rest_row(x, k - workers)[a]);
    return best;
}

static void search_keep_path(struct gadget_found *out, const struct gadget_pricer *x, double cost)
{
    const struct gadget_ring *path = &x->path;
    int32_t k = path->workers_total;
    if (k < x->offer->least || path->n < 2)
        return;
    double worth = x->offer->gain[k] - cost - fabric_rest_row(x, 0)[path->servers[path->n - 1]];
    if (!(worth > fmax(out->worth, x->offer->floor)))
        return;
    out->worth = worth;
    out->ring = *path;
    out->ring.rate = x->offer->rate;
    for (int32_t i = 0; i < path->n; i++)
        out->ring.servers[i] = x->usable[path->servers[i]];
}

/* All ways on from the end of the path (places, not servers). Depth at most ELASTIC_MAX_WORKERS. */
static void search_extend(struct gadget_found *out, struct gadget_pricer *x, int32_t start, double cost)
{
    struct gadget_ring *path = &x->path;
    search_keep_path(out, x, cost);
    const double *hop = fabric_hop_row(x, path->servers[path->n - 1]);
    for (int32_t b = start + 1; b < x->n_usable; b++) {
        int32_t s = x->usable[b], room = x->offer->most - path->workers_total;
        if (x->on_path[b] || !isfinite(hop[b]))
            continue;
        for (int32_t w = 1; w <= x->cap[s] && w <= room; w++) {
            double now = cost + hop[b] + w * x->price[s];
            x->left -= x->offer->most - x->offer->least + 1;
            if (x->left < 0)
                return;
            if (!(search_promise(x, path->workers_total + w, now, b) > fmax(out->worth, x->offer->floor)))
                continue;
            path->servers[path->n] = b;
            path->workers[path->n++] = w;
            path->workers_total += w;
            x->on_path[b] = true;
            search_extend(out, x, start, now);
            x->on_path[b] = false;
            path->workers_total -= w;
            path->n--;
        }
    }
}

/* Better rings than out->worth and the floor, by branch and bound. True when none is left unseen. */
static bool gadget_search(struct gadget_found *out, struct gadget_pricer *x)
{
    int64_t given = x->steps < GADGET_SEARCH_STEPS ? x->steps : GADGET_SEARCH_STEPS;
    x->left = given;
    if (given > 0)
        search_list_usable(x, fmax(out->worth, x->offer->floor));
    for (int32_t start = 0; x->left > 0 && start + 1 < x->n_usable; start++) {
        int32_t s = x->usable[start];
        search_price_walks(x, start);
        for (int32_t w = 1; w <= x->cap[s] && w < x->offer->most; w++) {
            if (!(search_promise(x, w, w * x->price[s], start) > fmax(out->worth, x->offer->floor)))
                continue;
            x->path = (struct gadget_ring){ .n = 1, .workers_total = w };
            x->path.servers[0] = start;
            x->path.workers[0] = w;
            search_extend(out, x, start, w * x->price[s]);
        }
    }
    x->steps -= given - (x->left > 0 ? x->left : 0);
    return x->left > 0;
}

void gadget_price(struct gadget_found *out, struct gadget_pricer *x, const struct gadget_offer *offer)
{
    const struct gadget_fabric *f = x->prices->fabric;
    double worth, open = -INFINITY; /* what sizes could be worth whose ring costs more than it should */
    struct gadget_ring ring;
    out->worth = out->most = -INFINITY;
    out->exact = true;
    out->ring.n = 0;
    if (offer->least > offer->most)
        return;
    x->offer = offer;
    x->hop_Bps = elastic_at_rate(offer->job, offer->rate).hop_Bps;
    for (int32_t s = 0; s < f->cluster->n_servers; s++)
        pricer_view_server(x, s);
    pricer_single(x);
    pricer_relax(x);
    memset(x->tried, 0, ((size_t)offer->most + 1) * sizeof *x->tried);
    int32_t k = pricer_most_promising(x, &worth);
    out->most = worth;
    for (; k && worth > fmax(offer->floor, out->worth); k = pricer_most_promising(x, &worth)) {
        x->tried[k] = true;
        double is = offer->gain[k] - pricer_name_ring(&ring, x, k);
        if (is > fmax(offer->floor, out->worth)) {
            out->worth = is;
            out->ring = ring;
        }
        if (is < worth - ROUNDING)
            open = fmax(open, worth);
    }
    if (!(open > fmax(offer->floor, out->worth) + ROUNDING))
        return;
    out->exact = offer->search && gadget_search(out, x);
    if (out->exact)
        out->most = fmax(out->worth, offer->floor);
}

/* Reduced costs in the slot's unit: what the simplex leaves, and what a new column must be worth. */
#define TOLERANCE 1e-10
#define WORTH     1e-9

/* Of all searches for rings in a slot: some tenths of a second. */
enum { SLOT_STEPS = 1 << 26 };

/* Solves of one programme; a few tens are usual. */
enum { MAX_ROUNDS = 1000 };

/* After so many rings from searches prices are asked for anew. */
enum { ENOUGH = 20 };

/* Columns without a share for so many slots go when the pool is cleared: when it has doubled and some. */
enum { KEPT_SLOTS = 10, SOME_COLUMNS = 2000 };

/* ---- building ---- */

static int32_t lp_most_workers(const struct elastic_job *jobs, int32_t n)
{
    int32_t most = 1;
    for (int32_t i = 0; i < n; i++)
        most = jobs[i].max_workers > most ? jobs[i].max_workers : most;
    return most;
}

static int lp_allocate(struct gadget_lp *x, struct err *e)
{
    size_t jobs = (size_t)x->n_jobs + 1, rows = (size_t)x->n_rows + 1;
    x->job_row = ARENA_TAKE(&x->arena, jobs, *x->job_row);
    x->newest = ARENA_TAKE(&x->arena, jobs, *x->newest);
    x->bid_of = ARENA_TAKE(&x->arena, jobs, *x->bid_of);
    x->bids = ARENA_TAKE(&x->arena, jobs, *x->bids);
    x->worker = ARENA_TAKE(&x->arena, rows, *x->worker);
    x->arc = ARENA_TAKE(&x->arena, rows, *x->arc);
    x->row = ARENA_TAKE(&x->arena, rows, *x->row);
    x->load = ARENA_TAKE(&x->arena, rows, *x->load);
    x->sum = ARENA_TAKE(&x->arena, rows, *x->sum);
    if (x->arena.failed)
        return err_nomem(e, "programme of a slot");
    for (int32_t i = 0; i < x->n_jobs; i++)
        x->bid_of[i] = -1;
    return 0;
}

/* A programme of servers and links, without jobs. */
static int lp_start(struct gadget_lp *x, struct err *e)
{
    simplex_free(x->simplex);
    x->n_job_rows = 0;
    for (int32_t i = 0; i < x->n_jobs; i++)
        x->job_row[i] = x->newest[i] = -1;
    int rc = simplex_build(&x->simplex, e);
    for (int32_t i = 0; i < x->n_rows && !rc; i++)
        rc = simplex_add_row(x->simplex, -INFINITY, 1, 0, NULL, NULL, e);
    return rc;
}

int gadget_lp_build(struct gadget_lp *x, const struct cluster *c, const struct elastic_job *jobs,
                    int32_t n_jobs, bool rack_pricing, struct err *e)
{
    *x = (struct gadget_lp){ .cluster = c, .jobs = jobs, .n_jobs = n_jobs };
    x->n_rows = c->n_servers * c->n_resources + c->n_arcs;
    int rc = gadget_fabric_build(&x->fabric, c, rack_pricing, e);
    if (!rc)
        rc = gadget_prices_build(&x->prices, &x->fabric, e);
    if (!rc)
        rc = gadget_pricer_build(&x->pricer, &x->prices, lp_most_workers(jobs, n_jobs), e);
    if (!rc)
        rc = lp_allocate(x, e);
    if (!rc)
        rc = lp_start(x, e);
    if (rc)
        gadget_lp_free(x);
    return rc;
}

static void lp_free_pool(struct gadget_pool *p)
{
    free(p->columns);
    free(p->servers);
    free(p->workers);
    free(p->rows);
    free(p->loads);
    *p = (struct gadget_pool){ 0 };
}

void gadget_lp_free(struct gadget_lp *x)
{
    simplex_free(x->simplex);
    lp_free_pool(&x->pool);
    gadget_pricer_free(&x->pricer);
    gadget_prices_free(&x->prices);
    gadget_fabric_free(&x->fabric);
    arena_free(&x->arena);
    free(x->gains);
    *x = (struct gadget_lp){ 0 };
}

/* ---- columns ---- */

static void lp_add_load(struct gadget_lp *x, int32_t *n, int32_t row, double load)
{
    if (!(load > 0))
        return;
    if (x->sum[row] <= 0)
        x->row[(*n)++] = row;
    x->sum[row] += load;
}

/* Arcs of the core from node a to b. */
static struct cluster_path fabric_core(const struct gadget_fabric *f, int32_t a, int32_t b)
{
    int64_t at = (int64_t)a * f->n_nodes + b;
    return (struct cluster_path){ f->core_arcs + f->core_first[at],
                                  (int32_t)(f->core_first[at + 1] - f->core_first[at]) };
}

static void lp_load_core(struct gadget_lp *x, int32_t *n, int32_t u, int32_t v, double hop_Bps)
{
    const struct gadget_fabric *f = &x->fabric;
    int32_t arcs = x->cluster->n_servers * x->cluster->n_resources;
    struct cluster_path core = fabric_core(f, f->node[u], f->node[v]);
    for (int32_t i = 0; i < core.n; i++)
        lp_add_load(x, n, arcs + core.arcs[i], hop_Bps / x->cluster->bw_Bps[core.arcs[i]]);
    if (f->racks) {
        lp_add_load(x, n, arcs + f->out_arc[u], hop_Bps / x->cluster->bw_Bps[f->out_arc[u]]);
        lp_add_load(x, n, arcs + f->in_arc[v], hop_Bps / x->cluster->bw_Bps[f->in_arc[v]]);
    }
}

/* Rows that the ring loads and how much, into x->row and x->load. */
static int32_t lp_list_loads(struct gadget_lp *x, const struct elastic_job *job,
                             const struct gadget_ring *ring)
{
    int32_t n = 0, n_resources = x->cluster->n_resources;
    double hop_Bps = elastic_at_rate(job, ring->rate).hop_Bps;
    for (int32_t i = 0; i < ring->n; i++) {
        int32_t s = ring->servers[i];
        for (int32_t r = 0; r < n_resources; r++)
            if (job->demand[r] > 0)
                lp_add_load(x, &n, s * n_resources + r,
                            ring->workers[i] * job->demand[r] / cluster_capacity(x->cluster, s, r));
        if (ring->n > 1)
            lp_load_core(x, &n, s, ring->servers[(i + 1) % ring->n], hop_Bps);
    }
    for (int32_t i = 0; i < n; i++) {
        x->load[i] = x->sum[x->row[i]];
        x->sum[x->row[i]] = 0;
    }
    return n;
}

/* On lack of memory the pool is as it was. */
static int lp_push_column(struct gadget_lp *x, const struct gadget_column *like,
                          const struct gadget_ring *ring, struct err *e)
{
    struct gadget_pool *p = &x->pool;
    struct gadget_column column = *like;
    size_t n = (size_t)ring->n, n_entries = (size_t)column.n_entries;
    if (!vec_reserve(p->columns, p->cap, p->n + 1) ||
        !vec_reserve(p->servers, p->cap_servers, p->n_servers + ring->n) ||
        !vec_reserve(p->workers, p->cap_workers, p->n_servers + ring->n) ||
        !vec_reserve(p->rows, p->cap_rows, p->n_entries + column.n_entries) ||
        !vec_reserve(p->loads, p->cap_loads, p->n_entries + column.n_entries))
        return err_nomem(e, "rings of a programme");
    column.first = p->n_servers;
    column.entry = p->n_entries;
    memcpy(p->servers + p->n_servers, ring->servers, n * sizeof *p->servers);
    memcpy(p->workers + p->n_servers, ring->workers, n * sizeof *p->workers);
    memcpy(p->rows + p->n_entries, x->row, n_entries * sizeof *p->rows);
    memcpy(p->loads + p->n_entries, x->load, n_entries * sizeof *p->loads);
    p->n_servers += ring->n;
    p->n_entries += column.n_entries;
    p->columns[p->n] = column;
    return 0;
}

static int lp_give_row(struct gadget_lp *x, int32_t job, struct err *e)
{
    int rc = x->job_row[job] >= 0 ? 0 : simplex_add_row(x->simplex, -INFINITY, 1, 0, NULL, NULL, e);
    if (!rc && x->job_row[job] < 0)
        x->job_row[job] = x->n_rows + x->n_job_rows++;
    return rc;
}

static bool lp_is_same(const struct gadget_pool *p, const struct gadget_column *k,
                       const struct gadget_ring *ring)
{
    size_t size = (size_t)ring->n * sizeof *ring->servers;
    return k->n == ring->n && k->workers_total == ring->workers_total && k->rate == ring->rate &&
           memcmp(p->servers + k->first, ring->servers, size) == 0 &&
           memcmp(p->workers + k->first, ring->workers, size) == 0;
}

/* May the programme use it now? One that costs more energy than it is worth was kept from another slot. */
static bool lp_is_offered(const struct gadget_lp *x, const struct gadget_column *k)
{
    int32_t bid = x->bid_of[k->job];
    return bid >= 0 && k->workers_total >= x->bids[bid].least_size &&
           k->workers_total <= x->bids[bid].most_size && gadget_column_gain(x, k) >= 0;
}

int gadget_lp_add(int32_t *column, struct gadget_lp *x, int32_t job, const struct gadget_ring *ring,
                  struct err *e)
{
    struct gadget_pool *p = &x->pool;
    for (*column = x->newest[job]; *column >= 0; *column = p->columns[*column].next)
        if (lp_is_same(p, &p->columns[*column], ring))
            return 0;
    struct gadget_column k = { .job = job,
                               .n = ring->n,
                               .workers_total = ring->workers_total,
                               .rate = ring->rate,
                               .next = x->newest[job],
                               .last_slot = x->slot };
    k.n_entries = lp_list_loads(x, &x->jobs[job], ring);
    int rc = lp_give_row(x, job, e);
    if (!rc)
        rc = lp_push_column(x, &k, ring, e);
    if (rc)
        return rc;
    /* The job's own row comes last; it is not among the loads. */
    x->row[k.n_entries] = x->job_row[job];
    x->load[k.n_entries] = 1;
    bool offered = lp_is_offered(x, &k);
    double gain = offered ? gadget_column_gain(x, &k) : 0;
    rc =
        simplex_add_column(x->simplex, -gain, 0, offered ? INFINITY : 0, k.n_entries + 1, x->row, x->load, e);
    if (!rc)
        *column = x->newest[job] = p->n++;
    return rc;
}

/* ---- opening a slot ---- */

/* Workers that servers have room for, each by itself; the topology is left out. */
static int32_t lp_fitting(const struct gadget_lp *x, const struct elastic_job *job, int32_t most)
{
    const struct cluster *c = x->cluster;
    double sum = 0;
    for (int32_t s = 0; s < c->n_servers && sum < most; s++) {
        double fits = most;
        for (int32_t r = 0; r < c->n_resources; r++)
            if (job->demand[r] > 0)
                fits = fmin(fits, floor(cluster_capacity(c, s, r) / job->demand[r] + TOLERANCE));
        sum += fits;
    }
    return sum < most ? (int32_t)sum : most;
}

/* Room for what every size is worth to every job; the sizes go into the bids. */
static int lp_take_sizes(struct gadget_lp *x, const struct elastic_slot *slot, struct err *e)
{
    int64_t need = 0;
    for (int32_t i = 0; i < x->n_bids; i++)
        x->bid_of[x->bids[i].job] = -1;
    x->n_bids = slot->n_active;
    x->gamma = 0;
    for (int32_t i = 0; i < slot->n_active; i++) {
        int32_t job = slot->active[i], most = lp_fitting(x, &x->jobs[job], elastic_most(slot, job));
        x->bids[i] = (struct gadget_bid){ .job = job, .most = most, .least_size = 1, .most_size = most };
        x->bid_of[job] = i;
        x->gamma = most > x->gamma ? most : x->gamma;
        need += (int64_t)(most + 1) * (x->jobs[job].offers_rates ? N_ELASTIC_RATES : 1);
    }
    if (need <= x->cap_gains)
        return 0;
    if (!vec_resize(x->gains, need))
        return err_nomem(e, "what rings are worth");
    x->cap_gains = need;
    return 0;
}

static void lp_take_gains(struct gadget_lp *x, const struct elastic_slot *slot)
{
    double *at = x->gains;
    x->unit = 0;
    for (int32_t i = 0; i < x->n_bids; i++) {
        struct gadget_bid *bid = &x->bids[i];
        const struct elastic_job *j = &x->jobs[bid->job];
        for (int r = 0; r < N_ELASTIC_RATES; r++) {
            bid->gain[r] = bid->gain[0];
            if (r && !j->offers_rates)
                continue;
            bid->gain[r] = at;
            for (int32_t k = 0; k <= bid->most; k++, at++) {
                *at = k ? elastic_worth(slot, bid->job, k, (enum elastic_rate)r) : 0;
                x->unit = fmax(x->unit, *at);
            }
        }
    }
    for (double *g = x->gains; g < at && x->unit > 0; g++)
        *g /= x->unit;
}

/* Columns that may have a share and those that may not, and what they are worth. */
static void lp_offer_columns(struct gadget_lp *x)
{
    for (int32_t k = 0; k < x->pool.n; k++) {
        const struct gadget_column *column = &x->pool.columns[k];
        bool offered = lp_is_offered(x, column);
        simplex_set_bounds(x->simplex, k, 0, offered ? INFINITY : 0);
        simplex_set_cost(x->simplex, k, offered ? -gadget_column_gain(x, column) : 0);
    }
}

/* A new programme of the columns that are likely to be of use again. */
static int lp_clear_pool(struct gadget_lp *x, struct err *e)
{
    struct gadget_pool old = x->pool;
    struct gadget_ring ring;
    int rc;
    x->pool = (struct gadget_pool){ 0 };
    rc = lp_start(x, e);
    for (int32_t k = 0; k < old.n && !rc; k++) {
        const struct gadget_column *column = &old.columns[k];
        int32_t at;
        if (x->bid_of[column->job] < 0 || column->last_slot < x->slot - KEPT_SLOTS)
            continue;
        ring.n = column->n;
        ring.rate = column->rate;
        ring.workers_total = column->workers_total;
        memcpy(ring.servers, old.servers + column->first, (size_t)ring.n * sizeof *ring.servers);
        memcpy(ring.workers, old.workers + column->first, (size_t)ring.n * sizeof *ring.workers);
        rc = gadget_lp_add(&at, x, column->job, &ring, e);
        if (!rc)
            x->pool.columns[at].last_slot = column->last_slot;
    }
    lp_free_pool(&old);
    x->n_kept = x->pool.n;
    return rc;
}

int gadget_lp_open(struct gadget_lp *x, const struct elastic_slot *slot, struct err *e)
{
    int rc = lp_take_sizes(x, slot, e);
    if (rc)
        return rc;
    lp_take_gains(x, slot);
    x->slot = slot->slot;
    if (x->pool.n > 2 * x->n_kept + SOME_COLUMNS)
        rc = lp_clear_pool(x, e);
    for (int32_t i = 0; i < x->n_bids && !rc; i++)
        rc = lp_give_row(x, x->bids[i].job, e);
    if (!rc)
        lp_offer_columns(x);
    x->pricer.steps = SLOT_STEPS;
    gadget_prices_leave(&x->prices, x->cluster->capacity, x->cluster->bw_Bps);
    return rc;
}

/* ---- solving ---- */

/* Prices of units from the rows' multipliers; returns what all capacity is worth at them. */
static double lp_read_prices(struct gadget_lp *x)
{
    const struct cluster *c = x->cluster;
    int32_t n = c->n_servers * c->n_resources;
    double sum = 0;
    for (int32_t i = 0; i < x->n_rows; i++) {
        /* The simplex minimises: a multiplier is how much lower the value gets. */
        double dual = fmax(-simplex_dual(x->simplex, i), 0);
        double capacity = i < n ? c->capacity[i] : c->bw_Bps[i - n];
        double price = capacity > 0 ? dual / capacity : 0;
        sum += price * capacity;
        if (i < n)
            x->worker[i] = price;
        else
            x->arc[i - n] = price;
    }
    gadget_prices_set(&x->prices, x->worker, x->arc);
    return sum;
}

void gadget_lp_price(struct gadget_lp *x, const struct gadget_bid *bid, struct gadget_offer offer)
{
    static const enum elastic_rate all[] = { ELASTIC_INSIDE, ELASTIC_FULL, ELASTIC_HALF, ELASTIC_QUARTER };
    struct gadget_found *best = &x->found, *one = &x->other;
    double floor = offer.floor;
    offer.job = &x->jobs[bid->job];
    offer.gain = bid->gain[ELASTIC_FULL];
    if (!offer.job->offers_rates) {
        gadget_price(best, &x->pricer, &offer);
        return;
    }
    best->worth = best->most = -INFINITY;
    best->exact = true;
    best->ring.n = 0;
    /* No ring on one server is worth less inside than the offers of rates have it: it is found first. */
    for (int32_t i = 0; i < N_ELASTIC_RATES; i++) {
        offer.rate = all[i];
        offer.gain = bid->gain[all[i]];
        offer.floor = fmax(floor, best->worth);
        gadget_price(one, &x->pricer, &offer);
        best->most = fmax(best->most, one->most);
        best->exact = best->exact && one->exact;
        if (one->worth > best->worth) {
            best->worth = one->worth;
            best->ring = one->ring;
        }
    }
}

/*
 * Price every job at prices at which capacity is worth `capacity`; *bound is the dual value, *n_new how many
 * columns came in, *exact whether pricing decided for every job.
 */
static int lp_price_jobs(double *bound, int32_t *n_new, bool *exact, struct gadget_lp *x, double capacity,
                         bool search, struct err *e)
{
    int rc = 0;
    *n_new = 0;
    *bound = capacity;
    *exact = true;
    for (int32_t i = 0; i < x->n_bids && !rc; i++) {
        const struct gadget_bid *bid = &x->bids[i];
        double dual = fmax(-simplex_dual(x->simplex, x->job_row[bid->job]), 0);
        gadget_lp_price(x, bid,
                        (struct gadget_offer){ .least = bid->least_size,
                                               .most = bid->most_size,
                                               .floor = dual + WORTH,
                                               .search = search && *n_new < ENOUGH });
        *bound += fmax(x->found.most, 0);
        *exact = *exact && x->found.exact;
        if (x->found.ring.n == 0)
            continue;
        int32_t column, before = x->pool.n;
        rc = gadget_lp_add(&column, x, bid->job, &x->found.ring, e);
        *n_new += !rc && x->pool.n > before;
    }
    return rc;
}

static void lp_read_shares(struct gadget_lp *x)
{
    for (int32_t k = 0; k < x->pool.n; k++) {
        struct gadget_column *column = &x->pool.columns[k];
        column->share = fmin(fmax(simplex_value(x->simplex, k), 0), 1);
        if (column->share > 0)
            column->last_slot = x->slot;
    }
}

/*
 * Restricted to the columns so far the programme's prices say which rings are missing; at any prices >= 0
 * capacity plus what each job could gain at most bounds every choice, and the least of these is kept.
 * Searches wait until the relaxation names no ring any more.
 */
int gadget_lp_solve(double *bound, struct gadget_lp *x, struct err *e)
{
    static const struct simplex_way ways[] = { { SIMPLEX_FROM_BASIS, false, TOLERANCE, INT32_MAX },
                                               { SIMPLEX_FROM_SLACKS, false, TOLERANCE, INT32_MAX },
                                               { SIMPLEX_FROM_SLACKS, false, 1e-7, INT32_MAX } };
    enum simplex_status status;
    int rc = 0;
    *bound = INFINITY;
    for (int32_t round = 0, n_new = 1; round < MAX_ROUNDS && n_new > 0 && !rc; round++) {
        double at_prices;
        bool exact;
        rc = simplex_solve(&status, x->simplex, ways, sizeof ways / sizeof ways[0], e);
        if (rc)
            break;
        lp_read_shares(x);
        double capacity = lp_read_prices(x);
        rc = lp_price_jobs(&at_prices, &n_new, &exact, x, capacity, false, e);
        *bound = fmin(*bound, at_prices);
        if (rc || exact || n_new > 0)
            continue;
        rc = lp_price_jobs(&at_prices, &n_new, &exact, x, capacity, true, e);
        *bound = fmin(*bound, at_prices);
    }
    *bound *= x->unit;
    return rc;
}

void gadget_lp_fix_sizes(struct gadget_lp *x)
{
    for (int32_t i = 0; i < x->n_bids; i++) {
        struct gadget_bid *bid = &x->bids[i];
        double chi[ELASTIC_MAX_WORKERS + 1] = { 0 }, best = 0;
        for (int32_t k = x->newest[bid->job]; k >= 0; k = x->pool.columns[k].next)
            if (lp_is_offered(x, &x->pool.columns[k]))
                chi[x->pool.columns[k].workers_total] +=
                    gadget_column_gain(x, &x->pool.columns[k]) * x->pool.columns[k].share;
        bid->least_size = 1;
        bid->most_size = 0;
        for (int32_t k = 1; k <= bid->most; k++)
            if (chi[k] > best) {
                best = chi[k];
                bid->least_size = bid->most_size = k;
            }
    }
    lp_offer_columns(x);
}
