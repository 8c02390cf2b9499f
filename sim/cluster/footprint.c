/*
 * What of its network a job's place takes. A described network is a product of dimensions, and a step of a
 * model is timed on such a product (workloads/step_fn.h). A place is made one: groups that hold different
 * numbers of its GPUs are cut into pieces of their greatest common divisor, and pieces of one group count as
 * groups of their own, so that they exchange over the links of the next level up. That is slower than what
 * they have, so a job is never timed on a better network than it got.
 */
#include "sim/cluster/footprint.h"

#include <string.h>

#include "base/num.h"

/* ---- groups and their links ---- */

/* Links of a further level of a fabric are those of its boxes; all others end at servers. */
static bool is_shared(const struct footprint_map *x, int32_t o)
{
    return x->net->dims[x->level + o].level > 0;
}

int32_t footprint_group(const struct footprint_map *x, int32_t o, int32_t s)
{
    return is_shared(x, o) ? x->c->group[(int64_t)o * x->c->n_servers + s] : s;
}

int footprint_check(const struct topo_network *net, struct err *e)
{
    for (int32_t d = 0; d < net->n_dims; d++) {
        const struct topo_dim *dim = &net->dims[d], *entry = dim - dim->level;
        if (dim->wires || (topo_is_fabric(entry) && !(topo_ops(entry)->own_keys & SHAPE_KEY_TAPER)))
            return err_set(e, ERR_UNSUP,
                           "dimension %s is %s, expected ring, line, full, switch or fat-tree where jobs are "
                           "models",
                           dim->name, dim->wires ? "of a graph" : topo_shape_words[entry->shape]);
    }
    return 0;
}

/* Of each vertex a server below it, and how many dimensions lead down to that. */
struct below {
    int32_t *server, *depth;
};

/* Does the link of outer dimension @p o belong to the group below vertex @p v? */
static bool is_end(const struct below *b, int32_t v, int32_t o)
{
    return b->server[v] >= 0 && b->depth[v] <= o;
}

/* Counts arcs by group, or puts them in their place, for the vertices that are known by then. */
static void add_arcs(struct footprint_map *x, const struct below *b, int32_t o, bool put)
{
    const struct topo_routes *r = &x->c->routes;
    for (int32_t a = 0; a < r->n_arcs; a++) {
        int32_t tail = r->to[a ^ 1];
        if (topo_link_dim(r, a / 2) != o || !is_end(b, tail, o))
            continue;
        int32_t k = footprint_group(x, o, b->server[tail]);
        if (put)
            x->arcs[o][x->first[o][k]++] = a;
        else
            x->first[o][k + 1]++;
    }
}

static void rise(const struct footprint_map *x, struct below *b, int32_t o)
{
    const struct topo_routes *r = &x->c->routes;
    for (int32_t a = 0; a < r->n_arcs; a++) {
        int32_t tail = r->to[a ^ 1], head = r->to[a];
        if (topo_link_dim(r, a / 2) == o && is_end(b, tail, o) && b->server[head] < 0) {
            b->server[head] = b->server[tail];
            b->depth[head] = o + 1;
        }
    }
}

/* A list of arcs for each group, in order of their numbers. */
static int list_arcs(struct footprint_map *x, struct below *b, int32_t o, struct err *e)
{
    int32_t n = x->c->n_servers, *first = ARENA_TAKE(&x->arena, n + 2, *first);
    x->first[o] = first;
    if (!first)
        return err_nomem(e, "links of groups");
    add_arcs(x, b, o, false);
    for (int32_t k = 0; k < n; k++)
        first[k + 1] += first[k];
    x->arcs[o] = ARENA_TAKE(&x->arena, first[n] + 1, *x->arcs[o]);
    if (!x->arcs[o])
        return err_nomem(e, "links of groups");
    add_arcs(x, b, o, true);
    /* Each start has moved to its end, which is the start of the next one. */
    memmove(first + 1, first, (size_t)n * sizeof *first);
    first[0] = 0;
    rise(x, b, o);
    return 0;
}

int footprint_map_build(struct footprint_map *x, const struct cluster *c, const struct topo_network *net,
                        int32_t level, struct err *e)
{
    *x = (struct footprint_map){ .c = c, .net = net, .level = level, .n_outer = net->n_dims - level };
    size_t n = (size_t)c->n_servers, n_vertices = (size_t)c->routes.n_vertices;
    struct below b = { ARENA_TAKE(&x->arena, n_vertices, *b.server),
                       ARENA_TAKE(&x->arena, n_vertices, *b.depth) };
    x->gpus = ARENA_TAKE(&x->arena, n, *x->gpus);
    x->touched = ARENA_TAKE(&x->arena, n, *x->touched);
    x->units = ARENA_TAKE(&x->arena, n, *x->units);
    x->id = ARENA_TAKE(&x->arena, n, *x->id);
    int rc = arena_check(&x->arena, "links of groups", e);
    rc = rc ? rc : footprint_check(net, e);
    for (size_t v = 0; v < n_vertices && !rc; v++)
        b.server[v] = v < n ? (int32_t)v : -1;
    for (int32_t o = 0; o < x->n_outer && !rc; o++)
        rc = list_arcs(x, &b, o, e);
    if (rc)
        footprint_map_free(x);
    return rc;
}

void footprint_map_free(struct footprint_map *x)
{
    arena_free(&x->arena);
    *x = (struct footprint_map){ 0 };
}

int32_t footprint_touch(struct footprint_map *x, int32_t o, const struct pace_place *p)
{
    int32_t n = 0;
    for (int32_t k = 0; k < p->n; k++) {
        int32_t at = footprint_group(x, o, p->servers[k]);
        if (x->gpus[at] == 0)
            x->touched[n++] = at;
        x->gpus[at] += p->gpus[k];
    }
    return n;
}

void footprint_forget(struct footprint_map *x, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        x->gpus[x->touched[i]] = 0;
}

/* ---- the shape of a place ---- */

/* What of @p n fits evenly into dimensions [from, to), the innermost first; returns what is left. */
static int64_t fill(int32_t *size, const struct topo_network *net, int32_t from, int32_t to, int64_t n)
{
    for (int32_t d = from; d < to; d++) {
        size[d] = n <= net->dims[d].size ? (int32_t)n : (int32_t)num_common_divisor(n, net->dims[d].size);
        n /= size[d];
    }
    return n;
}

/* Groups of the next level, from those of this one, which hold units[0..n): neighbours in the list may be of
 * one group and need not. Returns how many; @p size is what all of them hold a multiple of. */
static int32_t join_groups(struct footprint_map *x, int32_t o, int32_t n, int32_t *size)
{
    const int32_t *group = x->c->group + (int64_t)(o + 1) * x->c->n_servers;
    int32_t n_groups = 0;
    int64_t common = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t k = group[x->id[i]];
        /* A group is known by its first server of the place from here on. */
        if (x->gpus[k] == 0) {
            x->id[n_groups] = x->id[i];
            x->touched[n_groups++] = k;
        }
        x->gpus[k] += x->units[i];
    }
    for (int32_t i = 0; i < n_groups; i++)
        common = num_common_divisor(x->gpus[x->touched[i]], common);
    for (int32_t i = 0; i < n_groups; i++)
        x->units[i] = (int32_t)(x->gpus[x->touched[i]] / common);
    footprint_forget(x, n_groups);
    *size = (int32_t)common;
    return n_groups;
}

void footprint_sizes(int32_t *size, struct footprint_map *x, const struct pace_place *p)
{
    int64_t common = 0;
    int32_t n = p->n;
    for (int32_t k = 0; k < n; k++)
        common = num_common_divisor(p->gpus[k], common);
    int64_t left = fill(size, x->net, 0, x->level, common);
    for (int32_t k = 0; k < n; k++) {
        x->id[k] = p->servers[k];
        x->units[k] = (int32_t)(p->gpus[k] / common * left);
    }
    for (int32_t o = 0; o < x->n_outer; o++)
        n = join_groups(x, o, n, &size[x->level + o]);
}

void footprint_ideal(int32_t *size, const struct topo_network *net, int32_t level, int64_t per_server,
                     int64_t gpus)
{
    int64_t inside = gpus <= per_server ? gpus : num_common_divisor(gpus, per_server);
    int64_t left = fill(size, net, 0, level, inside);
    left = fill(size, net, level, net->n_dims, left * (gpus / inside));
    size[net->n_dims - 1] = (int32_t)(size[net->n_dims - 1] * left);
}

void footprint_network(struct topo_network *out, const struct topo_network *net, const int32_t *size)
{
    int64_t n_npus = 1;
    *out = *net;
    for (int32_t d = 0; d < net->n_dims; d++) {
        struct topo_dim *dim = &out->dims[d];
        int32_t whole = net->dims[d].size;
        dim->size = size[d];
        bool chain = dim->shape == TOPO_RING || dim->shape == TOPO_LINE;
        if (chain && size[d] < whole)
            dim->shape = TOPO_LINE;
        /* A line of two has all bandwidth on its cable, neighbours on a longer one have half. */
        if (chain && size[d] == 2 && whole > 2)
            dim->bw_Bps /= 2;
        if (dim->shape == TOPO_FULL && size[d] < whole)
            dim->bw_Bps *= (double)(size[d] > 1 ? size[d] - 1 : 1) / (whole - 1);
        /* Of a fat tree its first level has the keys. */
        out->dims[d - dim->level].fabric.sizes[dim->level] = size[d];
        dim->fabric.filled = 0;
        if (dim->fabric.node > 0)
            dim->fabric.node = (int32_t)n_npus;
        n_npus *= size[d];
    }
    out->n_npus = n_npus;
}

bool footprint_simplify(int32_t *size, int32_t n_dims, int32_t level)
{
    int32_t last = n_dims - 1;
    while (last > 0 && size[last] == 1)
        last--;
    for (int32_t from = level < last ? level : 0;; from = 0) {
        int64_t n = 1;
        int32_t used = 0;
        for (int32_t d = from; d <= last; d++) {
            n *= size[d];
            used += size[d] > 1;
        }
        if (used > 1) {
            for (int32_t d = from; d < last; d++)
                size[d] = 1;
            size[last] = (int32_t)n;
            return true;
        }
        if (from == 0)
            return false;
    }
}
