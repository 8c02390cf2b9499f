/*
 * HyperX: routers in a grid of two to four dimensions, each joined to every other of its row in each of them,
 * with one link rate b. The routers are the NPUs (full-mesh product, UB-Mesh), or switches with `hosts` NPUs
 * each. Level k is dimension k of the grid, class k its links; with hosts level 0 has the members of a
 * router, class 0 their injection, and the grid follows.
 *
 * Bandwidth of one NPU: (n_k - 1) b along dimension k; with p hosts B for the injection, B (n_k - 1)/p along
 * k. Ways are of least length, dimension by dimension.
 *
 * Loads, every group at work: k of the n members of a row, each to every other: S/k on one link, (n-1)/k S
 * over the bandwidth of the class, wherever they sit; with `detour` also by two links through the n-k others,
 * 2 (k-1)(n-1)/(k (n+k-2)) S (topo/shape_full.c). All-to-all over several dimensions asks that of each of
 * them.
 *
 * J. Ahn et al., HyperX, SC 2009 (structure); coefficients by counting, ours.
 */

#include "topo/bill.h"
#include "topo/shape.h"

/* Ports: twice those of the largest switches of 2026 (512). Links from an NPU to one of another router of its
 * row. */
enum { MOST_PORTS = 1024, HOSTED_HOPS = 3 };

/* First level of the grid. */
static int32_t hyper_grid(const struct topo_dim *dim)
{
    return dim->fabric.hosts > 0;
}

static int64_t hyper_hosts(const struct topo_dim *dim)
{
    return hyper_grid(dim) ? dim->size : 1;
}

/* From one router to the next along level @p k. */
static int64_t hyper_span(const struct topo_dim *dim, int32_t k)
{
    int64_t span = 1;
    for (int32_t i = hyper_grid(dim); i < k; i++)
        span *= dim[i].size;
    return span;
}

static int64_t hyper_routers(const struct topo_dim *dim)
{
    return hyper_span(dim, dim->n_levels);
}

static int hyper_settle(struct topo_dim *dim, int32_t room, struct err *e)
{
    static const char *const axes[TOPO_LEVELS] = { "x", "y", "z", "w" };
    const struct topo_fabric f = dim->fabric;
    int32_t grid = f.hosts > 0, levels = f.n_sizes + grid;
    int64_t ports = f.hosts;
    if (f.n_sizes < 1 || levels < 2 || levels > TOPO_LEVELS)
        return err_set(e, ERR_RANGE, "has %d size%s, expected %d to %d of a hyperx%s", f.n_sizes,
                       f.n_sizes == 1 ? "" : "s", 2 - grid, TOPO_LEVELS - grid, grid ? " with hosts" : "");
    if (levels > room)
        return err_set(e, ERR_RANGE, "has %d levels, expected at most %d: a network has %d dimensions",
                       levels, room, TOPO_MAX_DIMS);
    if (grid && dim->detour)
        return err_set(e, ERR_RANGE, "has detour and hosts, expected no hosts: detours pass other NPUs");
    for (int32_t k = 0; k < f.n_sizes; k++) {
        if (f.sizes[k] < TOPO_MIN_SIZE)
            return err_set(e, ERR_RANGE, "has a row of %d, expected %d or more routers", f.sizes[k],
                           TOPO_MIN_SIZE);
        ports += f.sizes[k] - 1;
    }
    if (ports > MOST_PORTS)
        return err_set(e, ERR_RANGE, "has routers of %lld ports, expected at most %d", (long long)ports,
                       MOST_PORTS);
    dim->n_levels = levels;
    dim->size = grid ? f.hosts : f.sizes[0];
    for (int32_t k = 1; k < levels; k++) {
        double links = f.sizes[k - grid] - 1.0, below = k == grid ? f.hosts : f.sizes[k - grid - 1] - 1.0;
        topo_level_init(dim, k, axes[k - grid]);
        dim[k].size = f.sizes[k - grid];
        dim[k].tie = links / below;
        dim[k].own_links = !grid;
        if (grid)
            dim[k].lat_s = HOSTED_HOPS / 2.0 * dim->lat_s;
    }
    return 0;
}

static void hyper_counts(struct shape_counts *c, const struct topo_dim *dim)
{
    int32_t grid = hyper_grid(dim);
    int64_t routers = hyper_routers(dim), p = hyper_hosts(dim), links = 0;
    *c = (struct shape_counts){ .n_classes = dim->n_levels };
    for (int32_t k = grid; k < dim->n_levels; k++) {
        c->links[k] = routers * (dim[k].size - 1) / 2;
        links += dim[k].size - 1;
    }
    c->degree_max = grid ? 1 : links;
    c->degree_min = c->connectivity = c->degree_max;
    c->ports = links + (grid ? p : 0);
    if (grid) {
        c->links[0] = p * routers;
        c->hubs = routers;
        c->hub_degree_min = c->ports;
    }
}

/*
 * Routers with hosts: halves along one of the rows in @p left (bits), of an odd one the slice in the middle
 * along another, and so on to the hosts of one router. Returns the links of the best, @p routers in all, and
 * its rows in the order of @p a.
 */
static int64_t hyper_cut(struct shape_axis *a, const struct topo_dim *dim, unsigned left, int64_t routers)
{
    const struct shape_axis before = *a;
    int64_t best = INT64_MAX;
    for (int32_t k = dim->n_levels - 1; k > 0; k--) {
        struct shape_axis b = before;
        int64_t n = dim[k].size, sum = routers / n * (n / 2) * (n - n / 2);
        if (!(left & 1u << k))
            continue;
        b.levels[b.n_levels++] = k;
        b.cut[k] = sum;
        if (n % 2)
            sum += hyper_cut(&b, dim, left & ~(1u << k), routers / n);
        else
            for (int32_t i = dim->n_levels - 1; i >= 0; i--)
                if (i != k && (i == 0 || left & 1u << i))
                    b.levels[b.n_levels++] = i;
        if (sum < best)
            *a = b;
        best = sum < best ? sum : best;
    }
    if (best < INT64_MAX)
        return best;
    a->levels[a->n_levels++] = 0;
    return a->cut[0] = dim->size / 2;
}

/*
 * Rows as full meshes. With hosts it is no product: then routers of the smaller side may be better on the
 * other one. Of t of the n/2 of a row there p t + (n/2)^2 - t^2 links are cut for each router of it, least at
 * t = 0 or n/2, where the NPUs of one half are cut off.
 */
static int32_t hyper_axes(struct shape_axis *out, const struct topo_dim *dim)
{
    int32_t n = dim->n_levels;
    for (int32_t k = 0; k < n && !hyper_grid(dim); k++) {
        out[k] = (struct shape_axis){ .levels = { k }, .n_levels = 1 };
        out[k].cut[k] = (int64_t)(dim[k].size / 2) * (dim[k].size - dim[k].size / 2);
    }
    if (!hyper_grid(dim))
        return n;
    *out = (struct shape_axis){ .lopsided = true };
    int64_t rows = hyper_cut(out, dim, (1u << n) - 2, hyper_routers(dim)), half = topo_group_size(dim) / 2;
    out->bound = dim[out->levels[0]].size % 2;
    if (half < rows) {
        for (int32_t k = 1; k < n; k++)
            out->cut[k] = 0;
        out->cut[0] = half;
    }
    return 1;
}

static void hyper_distances(const struct topo_dim *dim, double *sum, int64_t *longest)
{
    double n = (double)topo_group_size(dim);
    int32_t grid = hyper_grid(dim);
    *sum = grid ? 2 * n * (n - 1) : 0;
    *longest = grid ? 2 : 0;
    for (int32_t k = grid; k < dim->n_levels; k++, ++*longest)
        *sum += n * (n / dim[k].size) * (dim[k].size - 1);
}

static double hyper_link_Bps(const struct topo_dim *dim, int32_t cls, double bw_Bps)
{
    return cls < hyper_grid(dim) ? bw_Bps : bw_Bps * (double)hyper_hosts(dim) / (dim[cls].size - 1);
}

/* Number of the link between places @p a and @p b of the row along level @p k that router @p r is in. */
static int64_t hyper_link(const struct topo_dim *dim, int64_t r, int32_t k, int64_t a, int64_t b)
{
    int32_t grid = hyper_grid(dim);
    int64_t routers = hyper_routers(dim), span = hyper_span(dim, k), n = dim[k].size;
    int64_t first = grid ? topo_group_size(dim) : 0, low = a < b ? a : b, high = a < b ? b : a;
    for (int32_t i = grid; i < k; i++)
        first += routers * (dim[i].size - 1) / 2;
    int64_t row = r / (span * n) * span + r % span;
    return first + row * (n * (n - 1) / 2) + low * (2 * n - low - 1) / 2 + high - low - 1;
}

static void hyper_edges(const struct topo_dim *dim, void *x, void (*link)(void *x, int64_t a, int64_t b))
{
    int64_t n = topo_group_size(dim), routers = hyper_routers(dim), first = hyper_grid(dim) ? n : 0;
    for (int64_t i = 0; i < n && first; i++)
        link(x, i, n + i / dim->size);
    for (int32_t k = hyper_grid(dim); k < dim->n_levels; k++) {
        int64_t m = dim[k].size, span = hyper_span(dim, k);
        for (int64_t row = 0; row < routers / m; row++) {
            int64_t base = first + row / span * span * m + row % span;
            for (int64_t a = 0; a < m; a++)
                for (int64_t b = a + 1; b < m; b++)
                    link(x, base + a * span, base + b * span);
        }
    }
}

static int hyper_way(const struct topo_dim *dim, int64_t a, int64_t b, int32_t other, void *x,
                     int (*step)(void *x, int64_t link, bool back, struct err *e), struct err *e)
{
    int32_t grid = hyper_grid(dim);
    int64_t p = hyper_hosts(dim), r = a / p;
    (void)other;
    if (a == b)
        return 0;
    int rc = grid ? step(x, a, false, e) : 0;
    for (int32_t k = grid; k < dim->n_levels && !rc; k++) {
        int64_t span = hyper_span(dim, k), n = dim[k].size, from = r / span % n, to = b / p / span % n;
        if (from != to)
            rc = step(x, hyper_link(dim, r, k, from, to), from > to, e);
        r += (to - from) * span;
    }
    return rc || !grid ? rc : step(x, b, true, e);
}

static int32_t hyper_ports(const struct topo_dim *level)
{
    if (!hyper_grid(level - level->level))
        return 0;
    return level->level ? 2 : 1;
}

static void hyper_load(struct shape_load *out, enum shape_pattern pattern, const struct topo_dim *dim,
                       const struct shape_group *g)
{
    int32_t grid = hyper_grid(dim);
    struct shape_load port;
    *out = (struct shape_load){ 0 };
    for (int32_t k = grid; k < dim->n_levels; k++) {
        struct topo_dim row = { .shape = TOPO_FULL, .size = dim[k].size, .n_levels = 1 };
        struct shape_group line = { .n = g->flat ? g->members[k] : k == g->level ? g->n : 1 };
        struct shape_load l;
        line.members[0] = line.n;
        line.detour = g->detour && !g->flat; /* over several dimensions ways are of least length */
        if (line.n < 2)
            continue;
        topo_shapes[TOPO_FULL]->load(&l, pattern, &row, &line);
        bool one = grid && g->flat && (pattern == SHAPE_SEND || pattern == SHAPE_PASS);
        out->load[k] =
            l.load[0] / (one ? g->members[0] : 1); /* the last member of a router goes on to others */
        out->hops += l.hops;
    }
    if (!grid)
        return;
    shape_port_load(&port, pattern, g->n);
    out->load[0] = port.load[0];
    /* In links of half the latency: two of the NPUs' own. A level of the grid counts them in its latency. */
    if (g->flat)
        out->hops = 1 + out->hops / 2;
    else if (g->level == 0)
        out->hops = port.hops;
    else
        out->hops = (2 + out->hops) / HOSTED_HOPS;
}

static int hyper_parts(struct topo_items *out, const struct topo_site *at, struct err *e)
{
    if (hyper_grid(&at->net->dims[at->d - at->net->dims[at->d].level]))
        return topo_router_parts(out, at, e);
    topo_add_direct(out, at);
    return 0;
}

const struct shape_ops shape_hyperx = {
    .algorithms = 1u << TOPO_ALGORITHM_DIRECT | 1u << TOPO_ALGORITHM_MIXED | 1u << TOPO_ALGORITHM_FIXED,
    .switched = true,
    .beside_hosts = true,
    .lanes = SHAPE_ONE,
    .reach = 1,
    .hop_share = 0.5,
    .own_keys = SHAPE_KEY_SIZES | SHAPE_KEY_HOSTS | SHAPE_KEY_DETOUR | SHAPE_KEY_ROUTING,
    .settle = hyper_settle,
    .counts = hyper_counts,
    .axes = hyper_axes,
    .distances = hyper_distances,
    .link_Bps = hyper_link_Bps,
    .edges = hyper_edges,
    .way = hyper_way,
    .usual = TOPO_ALGORITHM_DIRECT,
    .link_ports = hyper_ports,
    .load = hyper_load,
    .parts = hyper_parts,
    .links = { "end link", "row link", "row link", "row link" },
};
