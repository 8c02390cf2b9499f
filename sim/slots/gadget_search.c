#include <math.h>

#include "sim/slots/gadget_price.h"

/*
 * Rings that visit no server twice, from their server of the lowest place on. A closed walk through servers
 * of higher places that may come back to one is never dearer than the ring, so it bounds what a path begun
 * can still become.
 */

static double *rest_row(const struct gadget_pricer *x, int32_t workers)
{
    return x->rest + (int64_t)workers * x->prices->fabric->cluster->n_servers;
}

static const double *hop_row(const struct gadget_pricer *x, int32_t from)
{
    return x->hop + (int64_t)from * x->prices->fabric->cluster->n_servers;
}

/* What a ring through server s could be worth at most: it pays its hops there, and the rest as the relaxation
 * has it. */
static double promise_of_server(const struct gadget_pricer *x, int32_t s)
{
    const struct gadget_offer *o = x->offer;
    double best = -INFINITY;
    for (int32_t k = o->least > 2 ? o->least : 2; k <= o->most; k++)
        for (int32_t w = 1; w <= x->cap[s] && w < k; w++)
            best = fmax(best, o->gain[k] - x->visit[s] - w * x->price[s] - x->spread[k - w]);
    return best;
}

static void list_usable(struct gadget_pricer *x, double floor)
{
    x->n_usable = 0;
    for (int32_t s = 0; s < x->prices->fabric->cluster->n_servers; s++)
        if (x->cap[s] > 0 && isfinite(x->visit[s]) && promise_of_server(x, s) > floor)
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
static void price_walks(struct gadget_pricer *x, int32_t start)
{
    int32_t most = x->offer->most - 1;
    for (int32_t a = start; a < x->n_usable; a++)
        rest_row(x, 0)[a] = hop_row(x, a)[start];
    for (int32_t n = 1; n <= most; n++) {
        double *rest = rest_row(x, n);
        for (int32_t b = start + 1; b < x->n_usable; b++) {
            int32_t s = x->usable[b];
            x->enter[b] = INFINITY;
            for (int32_t w = 1; w <= x->cap[s] && w <= n; w++)
                x->enter[b] = fmin(x->enter[b], w * x->price[s] + rest_row(x, n - w)[b]);
        }
        for (int32_t a = start; a < x->n_usable; a++) {
            const double *hop = hop_row(x, a);
            double least = INFINITY;
            for (int32_t b = start + 1; b < x->n_usable; b++)
                least = hop[b] + x->enter[b] < least ? hop[b] + x->enter[b] : least;
            rest[a] = least;
        }
    }
    x->left -= (int64_t)most * (x->n_usable - start) * (x->n_usable - start);
}

/* What the path could become worth at most: it has so many workers, cost so much, and stands at place a. */
static double promise(const struct gadget_pricer *x, int32_t workers, double cost, int32_t a)
{
    const struct gadget_offer *o = x->offer;
    double best = -INFINITY;
    for (int32_t k = workers > o->least ? workers : o->least; k <= o->most; k++)
        best = fmax(best, o->gain[k] - cost - rest_row(x, k - workers)[a]);
    return best;
}

static void keep_path(struct gadget_found *out, const struct gadget_pricer *x, double cost)
{
    const struct gadget_ring *path = &x->path;
    int32_t k = path->workers_total;
    if (k < x->offer->least || path->n < 2)
        return;
    double worth = x->offer->gain[k] - cost - rest_row(x, 0)[path->servers[path->n - 1]];
    if (!(worth > fmax(out->worth, x->offer->floor)))
        return;
    out->worth = worth;
    out->ring = *path;
    for (int32_t i = 0; i < path->n; i++)
        out->ring.servers[i] = x->usable[path->servers[i]];
}

/* All ways on from the end of the path (places, not servers). Depth at most ELASTIC_MAX_WORKERS. */
static void extend(struct gadget_found *out, struct gadget_pricer *x, int32_t start, double cost)
{
    struct gadget_ring *path = &x->path;
    keep_path(out, x, cost);
    const double *hop = hop_row(x, path->servers[path->n - 1]);
    for (int32_t b = start + 1; b < x->n_usable; b++) {
        int32_t s = x->usable[b], room = x->offer->most - path->workers_total;
        if (x->on_path[b] || !isfinite(hop[b]))
            continue;
        for (int32_t w = 1; w <= x->cap[s] && w <= room; w++) {
            double now = cost + hop[b] + w * x->price[s];
            x->left -= x->offer->most - x->offer->least + 1;
            if (x->left < 0)
                return;
            if (!(promise(x, path->workers_total + w, now, b) > fmax(out->worth, x->offer->floor)))
                continue;
            path->servers[path->n] = b;
            path->workers[path->n++] = w;
            path->workers_total += w;
            x->on_path[b] = true;
            extend(out, x, start, now);
            x->on_path[b] = false;
            path->workers_total -= w;
            path->n--;
        }
    }
}

bool gadget_search(struct gadget_found *out, struct gadget_pricer *x)
{
    int64_t given = x->steps < GADGET_SEARCH_STEPS ? x->steps : GADGET_SEARCH_STEPS;
    x->left = given;
    if (given > 0)
        list_usable(x, fmax(out->worth, x->offer->floor));
    for (int32_t start = 0; x->left > 0 && start + 1 < x->n_usable; start++) {
        int32_t s = x->usable[start];
        price_walks(x, start);
        for (int32_t w = 1; w <= x->cap[s] && w < x->offer->most; w++) {
            if (!(promise(x, w, w * x->price[s], start) > fmax(out->worth, x->offer->floor)))
                continue;
            x->path = (struct gadget_ring){ .n = 1, .workers_total = w };
            x->path.servers[0] = start;
            x->path.workers[0] = w;
            extend(out, x, start, w * x->price[s]);
        }
    }
    x->steps -= given - (x->left > 0 ? x->left : 0);
    return x->left > 0;
}
