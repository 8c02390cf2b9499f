#include "sim/slots/gadget_price.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    x->price = malloc(n * sizeof *x->price);
    x->visit = malloc(n * sizeof *x->visit);
    x->cap = malloc(n * sizeof *x->cap);
    x->single = malloc(k * sizeof *x->single);
    x->zone = malloc((size_t)f->n_zones * k * sizeof *x->zone);
    x->set = malloc(((size_t)1 << f->n_zones) * k * sizeof *x->set);
    x->spread = malloc(k * sizeof *x->spread);
    x->least = malloc(k * sizeof *x->least);
    x->choice = malloc(n * k * sizeof *x->choice);
    x->tried = malloc(k * sizeof *x->tried);
    x->usable = malloc(n * sizeof *x->usable);
    x->hop = malloc(n * n * sizeof *x->hop);
    x->rest = malloc(k * n * sizeof *x->rest);
    x->enter = malloc(n * sizeof *x->enter);
    x->on_path = calloc(n, sizeof *x->on_path);
    if (!x->price || !x->visit || !x->cap || !x->single || !x->zone || !x->set || !x->spread || !x->least ||
        !x->choice || !x->tried || !x->usable || !x->hop || !x->rest || !x->enter || !x->on_path) {
        gadget_pricer_free(x);
        return err_nomem(e, "prices of rings");
    }
    return 0;
}

void gadget_pricer_free(struct gadget_pricer *x)
{
    free(x->price);
    free(x->visit);
    free(x->cap);
    free(x->single);
    free(x->zone);
    free(x->set);
    free(x->spread);
    free(x->least);
    free(x->choice);
    free(x->tried);
    free(x->usable);
    free(x->hop);
    free(x->rest);
    free(x->enter);
    free(x->on_path);
    *x = (struct gadget_pricer){ 0 };
}

/* ---- the job at hand ---- */

static bool has_room(double left_Bps, double hop_Bps)
{
    return left_Bps >= hop_Bps * (1 - SLACK);
}

double gadget_hop(const struct gadget_pricer *x, int32_t u, int32_t v)
{
    const struct gadget_prices *p = x->prices;
    const struct gadget_fabric *f = p->fabric;
    double hop_Bps = x->offer->job->hop_Bps;
    int64_t core = (int64_t)f->node[u] * f->n_nodes + f->node[v];
    if (!has_room(p->core_Bps[core], hop_Bps))
        return INFINITY;
    return hop_Bps * (p->out[u] + p->core[core] + p->in[v]);
}

static void view_server(struct gadget_pricer *x, int32_t s)
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
    bool room = has_room(p->out_Bps[s], job->hop_Bps) && has_room(p->in_Bps[s], job->hop_Bps);
    x->visit[s] = room ? job->hop_Bps * (p->out[s] + p->in[s]) : INFINITY;
}

/* ---- relaxation ---- */

static void price_single(struct gadget_pricer *x)
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
static void price_zone(struct gadget_pricer *x, int32_t z)
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
static int32_t top_zone(int32_t set)
{
    int32_t z = 0;
    while (set >> (z + 1))
        z++;
    return z;
}

static double *set_row(const struct gadget_pricer *x, int32_t set)
{
    return x->set + (int64_t)set * (x->most_workers + 1);
}

static void price_sets(struct gadget_pricer *x)
{
    int32_t most = x->offer->most, n_sets = 1 << x->prices->fabric->n_zones;
    double hop_Bps = x->offer->job->hop_Bps;
    for (int32_t k = 0; k <= most; k++) {
        set_row(x, 0)[k] = x->spread[k] = k ? INFINITY : 0;
    }
    for (int32_t set = 1; set < n_sets; set++) {
        int32_t z = top_zone(set);
        const double *below = set_row(x, set ^ 1 << z), *zone = x->zone + (int64_t)z * (x->most_workers + 1);
        double *row = set_row(x, set), tour = hop_Bps * x->prices->tour[set];
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

/* ---- the ring that it names ---- */

static void add_server(struct gadget_ring *ring, int32_t s, int32_t workers)
{
    ring->servers[ring->n] = s;
    ring->workers[ring->n++] = workers;
    ring->workers_total += workers;
}

/* None where no server has room for so many. */
static void name_single(struct gadget_ring *ring, const struct gadget_pricer *x, int32_t k)
{
    for (int32_t s = 0; s < x->prices->fabric->cluster->n_servers && ring->n == 0; s++)
        if (x->cap[s] >= k && k * x->price[s] <= x->single[k])
            add_server(ring, s, k);
}

static void name_zone(struct gadget_ring *ring, const struct gadget_pricer *x, int32_t z, int32_t k)
{
    const struct gadget_fabric *f = x->prices->fabric;
    for (int32_t i = f->zone_first[z + 1] - 1; i >= f->zone_first[z] && k > 0; i--) {
        int32_t w = x->choice[(int64_t)i * (x->most_workers + 1) + k];
        if (w > 0)
            add_server(ring, f->zone_servers[i], w);
        k -= w;
    }
}

/* The steps of price_sets() again, from the end. */
static void name_set(struct gadget_ring *ring, const struct gadget_pricer *x, int32_t k)
{
    int32_t n_sets = 1 << x->prices->fabric->n_zones, best = 1;
    double hop_Bps = x->offer->job->hop_Bps, least = INFINITY;
    for (int32_t set = 1; set < n_sets; set++) {
        double cost = set_row(x, set)[k] + hop_Bps * x->prices->tour[set];
        if (cost < least) {
            least = cost;
            best = set;
        }
    }
    while (best && k > 0) {
        int32_t z = top_zone(best), j = 1;
        const double *below = set_row(x, best ^ 1 << z), *zone = x->zone + (int64_t)z * (x->most_workers + 1);
        while (j < k && !(below[k - j] + zone[j] <= set_row(x, best)[k]))
            j++;
        name_zone(ring, x, z, j);
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
static void order_cycle(struct cycle *c)
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
            from[set][b] = before ? top_zone(before) : -1;
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

static void order_few(struct gadget_ring *ring, const struct gadget_pricer *x)
{
    struct cycle c = { .n = ring->n };
    struct gadget_ring old = *ring;
    for (int32_t a = 0; a < c.n; a++)
        for (int32_t b = 0; b < c.n; b++)
            c.hop[a][b] = a == b ? 0 : gadget_hop(x, ring->servers[a], ring->servers[b]);
    order_cycle(&c);
    for (int32_t i = 0; i < c.n; i++) {
        ring->servers[i] = old.servers[c.order[i]];
        ring->workers[i] = old.workers[c.order[i]];
    }
}

/* The servers of one zone stay together, zones in the order of their cheapest cycle; within a zone as named.
 */
static void order_zones(struct gadget_ring *ring, const struct gadget_pricer *x)
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
        order_cycle(&c);
    ring->n = ring->workers_total = 0;
    for (int32_t k = 0; k < c.n; k++)
        for (int32_t i = 0; i < old.n; i++)
            if (f->node[old.servers[i]] == f->node[some[c.n > 1 ? c.order[k] : k]])
                add_server(ring, old.servers[i], old.workers[i]);
}

static double ring_cost(const struct gadget_pricer *x, const struct gadget_ring *ring)
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
static double name_ring(struct gadget_ring *ring, const struct gadget_pricer *x, int32_t k)
{
    ring->n = ring->workers_total = 0;
    if (x->least[k] < x->single[k]) {
        name_set(ring, x, k);
        if (ring->n > MAX_ORDERED)
            order_zones(ring, x);
        else if (ring->n > 2)
            order_few(ring, x);
        double cost = ring_cost(x, ring);
        if (cost < x->single[k])
            return cost;
        ring->n = ring->workers_total = 0;
    }
    name_single(ring, x, k);
    return x->single[k];
}

/* ---- all of it ---- */

/* The size not yet tried whose ring could be worth most, and what; 0: none is left. */
static int32_t most_promising(const struct gadget_pricer *x, double *worth)
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
    for (int32_t s = 0; s < f->cluster->n_servers; s++)
        view_server(x, s);
    price_single(x);
    for (int32_t z = 0; z < f->n_zones; z++)
        price_zone(x, z);
    price_sets(x);
    memset(x->tried, 0, ((size_t)offer->most + 1) * sizeof *x->tried);
    int32_t k = most_promising(x, &worth);
    out->most = worth;
    for (; k && worth > fmax(offer->floor, out->worth); k = most_promising(x, &worth)) {
        x->tried[k] = true;
        double is = offer->gain[k] - name_ring(&ring, x, k);
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
