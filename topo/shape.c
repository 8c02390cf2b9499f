/* The table of shapes, and what follows from a row alone. */
#include "topo/shape.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "topo/collisions.h"

#define SHAPE_DECLARE(NAME, id, word) extern const struct shape_ops shape_##id;
TOPO_SHAPES(SHAPE_DECLARE)

#define SHAPE_ROW(NAME, id, word) [TOPO_##NAME] = &shape_##id,
const struct shape_ops *const topo_shapes[N_TOPO_SHAPES] = { TOPO_SHAPES(SHAPE_ROW) };

#define SHAPE_WORD(NAME, id, word) [TOPO_##NAME] = word,
const char *const topo_shape_words[N_TOPO_SHAPES + 1] = { TOPO_SHAPES(SHAPE_WORD) };
const char *const topo_plain_words[N_TOPO_PLAIN + 1] = { TOPO_PLAIN_SHAPES(SHAPE_WORD) };

#define ALGORITHM_WORD(NAME, word) [TOPO_ALGORITHM_##NAME] = word,
const char *const topo_algorithm_words[N_TOPO_ALGORITHMS + 1] = { TOPO_ALGORITHMS(ALGORITHM_WORD) };

const char *const topo_balance_words[] = { [TOPO_SPRAY] = "spray", [TOPO_HASH] = "hash", NULL };
const char *const topo_routing_words[] = { [TOPO_ROUTING_MINIMAL] = "minimal",
                                           [TOPO_ROUTING_VALIANT] = "valiant",
                                           [TOPO_ROUTING_ADAPTIVE] = "adaptive",
                                           NULL };
const char *const topo_spine_words[] = { "own", "shared", NULL };
const struct topo_fabric_flag topo_fabric_flags[N_TOPO_FABRIC_FLAGS] = {
    { "forward", offsetof(struct topo_fabric, forward), SHAPE_KEY_FORWARD, "shared or forward" },
    { "twist", offsetof(struct topo_fabric, twist), SHAPE_KEY_TWIST, "twist or ocs" },
    { "ocs", offsetof(struct topo_fabric, ocs), SHAPE_KEY_OCS, "twist or ocs" },
};

const char *topo_shape_name(enum topo_shape s)
{
    return topo_shape_words[s];
}

const char *topo_dim_label(char buf[TOPO_DIM_LABEL], const struct topo_dim *dim)
{
    const struct topo_fabric *f = &dim->fabric;
    const char *cls = dim->level ? strrchr(dim->name, '.') : NULL;
    char taper[NUM_TEXT];
    char planes[16] = "";
    if (topo_planes(dim) > 1)
        snprintf(planes, sizeof planes, "*%d", (int)topo_planes(dim));
    if (dim->wires) {
        snprintf(buf, TOPO_DIM_LABEL, dim->size > 1 ? "links:%d" : "links", (int)dim->size);
        return buf;
    }
    if (!topo_is_fabric(dim)) {
        snprintf(buf, TOPO_DIM_LABEL, "%s:%d%s", cls ? cls + 1 : topo_shape_name(dim->shape), (int)dim->size,
                 planes);
        return buf;
    }
    size_t n = (size_t)snprintf(buf, TOPO_DIM_LABEL, "%s", topo_shape_name(dim->shape));
    for (int32_t k = 0; k < f->n_sizes; k++)
        n += (size_t)snprintf(buf + n, TOPO_DIM_LABEL - n, "%c%d", k ? 'x' : ':', (int)f->sizes[k]);
    for (int32_t k = 0; k < f->n_taper; k++)
        n += (size_t)snprintf(buf + n, TOPO_DIM_LABEL - n, "/%s", num_format(taper, f->taper[k]));
    n += (size_t)snprintf(buf + n, TOPO_DIM_LABEL - n, "%s", f->taper_free ? "/free" : "");
    for (int32_t k = 0; k < f->n_up; k++)
        n += (size_t)snprintf(buf + n, TOPO_DIM_LABEL - n, "^%d", (int)f->up[k]);
    if (f->spines)
        n += (size_t)snprintf(buf + n, TOPO_DIM_LABEL - n, "^%d", (int)f->spines);
    if (f->links)
        n += (size_t)snprintf(buf + n, TOPO_DIM_LABEL - n, "^%d", (int)f->links);
    if (f->rails)
        n += (size_t)snprintf(buf + n, TOPO_DIM_LABEL - n, "+rails%d", (int)f->rails);
    else if (f->spine == TOPO_SPINE_SHARED && !f->forward)
        n += (size_t)snprintf(buf + n, TOPO_DIM_LABEL - n, "+shared");
    if (f->filled)
        n += (size_t)snprintf(buf + n, TOPO_DIM_LABEL - n, "+filled%d", (int)f->filled);
    if (f->hosts)
        n += (size_t)snprintf(buf + n, TOPO_DIM_LABEL - n, "^%d", (int)f->hosts);
    for (int32_t k = 0; k < N_TOPO_FABRIC_FLAGS; k++)
        if (*(const bool *)((const char *)f + topo_fabric_flags[k].at))
            n += (size_t)snprintf(buf + n, TOPO_DIM_LABEL - n, "+%s", topo_fabric_flags[k].word);
    if (f->balance == TOPO_HASH)
        n += (size_t)snprintf(buf + n, TOPO_DIM_LABEL - n, "+hash");
    if (f->flows_per_pair > 1)
        n += (size_t)snprintf(buf + n, TOPO_DIM_LABEL - n, "%d", (int)f->flows_per_pair);
    if (topo_ops(dim)->own_keys & SHAPE_KEY_ROUTING && f->routing != TOPO_ROUTING_USUAL)
        n += (size_t)snprintf(buf + n, TOPO_DIM_LABEL - n, "+%s", topo_routing_words[f->routing]);
    snprintf(buf + n, TOPO_DIM_LABEL - n, "%s", planes);
    return buf;
}

void shape_port_load(struct shape_load *out, enum shape_pattern pattern, int32_t n)
{
    bool chain = pattern == SHAPE_NEXT || pattern == SHAPE_PASS;
    bool one = pattern == SHAPE_DIRECT || pattern == SHAPE_SEND;
    bool whole = pattern == SHAPE_SEND || pattern == SHAPE_PASS;
    *out = (struct shape_load){ .hops = chain ? n - 1
                                        : one ? 1
                                              : num_log2_up(n),
                                .load = { whole ? 1 : (n - 1.0) / n } };
}

void shape_line_load(struct shape_load *out, enum shape_pattern pattern, int32_t k, int32_t stride)
{
    double x = k, s = stride, whole = k % 2 ? x * x - 1 : x * x;
    shape_port_load(out, pattern, k);
    out->hops *= s;
    out->load[0] *= s;
    if (pattern == SHAPE_DIRECT) { /* floor(k/2) ceil(k/2) messages of S/k pass the middle */
        out->hops = (x - 1) * s;
        out->load[0] = s * whole / (4 * x);
    } else if (pattern == SHAPE_HALVING) { /* S/2 in each step */
        out->hops = (x - 1) * s;
        out->load[0] = s * num_log2_up(k) / 2;
    }
}

bool shape_has_two_ways(const struct topo_dim *entry, const struct shape_group *g)
{
    for (int32_t k = 0; k < (entry->n_levels > 1 ? entry->n_levels : 1); k++) {
        int32_t members = g->flat ? g->members[k] : k == g->level ? g->n : 1;
        if (topo_ops(entry)->lanes == SHAPE_BOTH && members == 2 && entry[k].size > 2 &&
            2 * shape_stride(g, k) == entry[k].size)
            return true;
    }
    return false;
}

double shape_beyond(enum shape_pattern pattern, const struct shape_group *g, int32_t k)
{
    double n = g->n, below = 1;
    for (int32_t i = 0; i < k; i++)
        below *= g->members[i];
    if (below >= n || (k > 1 && below * g->node >= n))
        return 0;
    switch (pattern) {
    case SHAPE_NEXT:
        return (n - 1) / n / below;
    case SHAPE_DIRECT:
        if (g->node > 1 &&
            k < 2) /* nothing is for the own node; of other nodes those on the rail are in the leaf */
            return (n - g->node - (k ? (below - 1) * g->mates : 0)) / n;
        return (n - below * (g->node > 1 ? g->node : 1)) / n;
    case SHAPE_HALVING:
        return (n / below - 1) / n;
    case SHAPE_FAR:
        return (n / below - 1) / (n / below);
    case SHAPE_BRUCK: /* blocks of the far steps cross all, those of the near steps some: all of them */
        return (n - 1) / n;
    case SHAPE_SEND:
    case SHAPE_PASS:
        return 1 / below;
    }
    return 0;
}

/* ---- routing ---- */

/* What each class takes at v, over what one of the bandwidth of the first takes. */
struct routing_line {
    double at_0, at_1;
};

static double routing_most(const struct routing_line *line, int32_t n, double v)
{
    double most = 0;
    for (int32_t k = 0; k < n; k++)
        most = fmax(most, line[k].at_0 + v * (line[k].at_1 - line[k].at_0));
    return most;
}

/* The least v of those at which the slowest class takes least. */
static double best_valiant(const struct routing_line *line, int32_t n)
{
    double best = 0, least = routing_most(line, n, 0);
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k <= i; k++) {
            double apart = line[k].at_0 - line[i].at_0, turn = apart - (line[k].at_1 - line[i].at_1);
            double v = i == k ? 1 : apart / turn,
                   most = v > 0 && v <= 1 ? routing_most(line, n, v) : INFINITY;
            bool less = most < least * (1 - 1e-12);
            if (less || (v < best && most <= least * (1 + 1e-12))) {
                least = less ? most : least;
                best = v;
            }
        }
    return best;
}

/* Share of S that a member sends to other routers. */
static double beyond_router(enum shape_pattern pattern, const struct shape_group *g, bool hosted)
{
    struct shape_load port;
    if (hosted && g->flat)
        return shape_beyond(pattern, g, 1);
    if (hosted && g->level == 0)
        return 0;
    shape_port_load(&port, pattern, g->n);
    return port.load[0];
}

/*
 * Sets of links from which the fullest is taken, of @p trees subtrees when a group has members in @p ends of
 * them. Both directions where everybody sends to all. Where a subtree's flows all go to one other, the links
 * down to that are as full as those up: one set for each subtree that sends. Of exchanges in several steps
 * half of them, since groups come to the later ones one after the other. (Flows that are simulated, 20 seeds
 * each, are within 10 % of it: tests/unit/test_sim_collisions.c.)
 */
static double collision_sets(enum shape_pattern pattern, double trees, double ends)
{
    if (pattern == SHAPE_DIRECT)
        return ends > 2 ? 2 * trees : trees;
    if (pattern == SHAPE_SEND || pattern == SHAPE_PASS)
        return trees * (ends - 1) / ends;
    return pattern == SHAPE_NEXT || ends <= 2 ? trees : trees / 2;
}

/* Flows over the links of each tier of a fat tree, which those that leave a subtree share. */
static void add_collisions(struct shape_load *out, enum shape_pattern pattern, const struct topo_dim *dim,
                           const struct shape_group *g)
{
    struct shape_counts c;
    double n = g->n, all = (double)topo_span(dim), below = 1, ends = n / (g->node > 1 ? g->node : 1);
    bool one_way = pattern == SHAPE_NEXT || pattern == SHAPE_SEND || pattern == SHAPE_PASS;
    double weight = pattern == SHAPE_DIRECT ? 1 / n : pattern == SHAPE_NEXT ? (n - 1) / n : 1; /* in S */
    topo_ops(dim)->counts(&c, dim);
    for (int32_t k = 1; k < dim->n_levels; k++) {
        below *= (double)topo_tree_size(dim, k - 1);
        ends /= g->flat ? g->members[k - 1] : 1;
        double trees = all / below, links = (double)c.links[k] / trees * topo_planes(dim);
        double flows = pattern == SHAPE_DIRECT || one_way ? out->load[k] * below / weight : below;
        if (!(out->load[k] > 0))
            continue;
        flows = fmax(round(flows * topo_flows_per_pair(dim)), 1);
        double fullest =
            topo_fullest((int64_t)flows, (int64_t)links, fmax(collision_sets(pattern, trees, ends), 1));
        out->load[k] *= fullest * links / flows;
    }
}

void topo_load(struct shape_load *out, enum shape_pattern pattern, const struct topo_dim *dim,
               const struct shape_group *g)
{
    const struct topo_fabric *f = &dim->fabric;
    topo_ops(dim)->load(out, pattern, dim, g);
    if (g->hash)
        add_collisions(out, pattern, dim, g);
    if (g->routing != TOPO_ROUTING_VALIANT && g->routing != TOPO_ROUTING_ADAPTIVE)
        return;
    int32_t first = topo_link_ports(dim) > 0; /* class of links between routers; before it those of members */
    double sent = beyond_router(pattern, g, first), over_first = 1, v = 1;
    struct routing_line line[SHAPE_CLASSES];
    if (!(sent > 0))
        return;
    for (int32_t k = 0; k < dim->n_levels; k++) {
        over_first *= k ? dim[k].tie : 1;
        line[k].at_0 = out->load[k] / over_first;
        line[k].at_1 = k < first ? line[k].at_0 : 2 * sent * f->uniform[k] / over_first;
    }
    if (g->routing == TOPO_ROUTING_ADAPTIVE) {
        v = best_valiant(line, dim->n_levels);
    } else { /* steps, in hops of the level along which messages go */
        double hop = !g->flat && dim->lat_s > 0 ? dim[g->level].lat_s / dim->lat_s : 1;
        struct shape_load port;
        shape_port_load(&port, pattern, g->n);
        out->hops = port.hops * (2 * f->uniform_hops - first) / hop;
    }
    out->valiant = v;
    for (int32_t k = first; k < dim->n_levels && v > 0; k++) {
        double uneven = out->mean[k] > 0 ? out->mean[k] / out->load[k] : 0;
        out->load[k] += v * (2 * sent * f->uniform[k] - out->load[k]);
        out->mean[k] = uneven * out->load[k];
    }
}

/* ---- groups of which every two are joined ---- */

int64_t shape_mesh_gate(const struct shape_mesh *w, int64_t i, int64_t j, int64_t m)
{
    int64_t turn = (j - i - 1 + w->groups) % w->groups;
    return (turn * w->cables + m) % w->gates;
}

void shape_mesh_edges(const struct shape_mesh *w, int64_t first, void *x,
                      void (*link)(void *x, int64_t a, int64_t b))
{
    for (int64_t i = 0; i < w->groups; i++)
        for (int64_t j = i + 1; j < w->groups; j++)
            for (int64_t m = 0; m < w->cables; m++)
                link(x, first + i * w->gates + shape_mesh_gate(w, i, j, m),
                     first + j * w->gates + shape_mesh_gate(w, j, i, m));
}

int64_t shape_mesh_cable(const struct shape_mesh *w, int64_t i, int64_t j, int64_t m)
{
    int64_t low = i < j ? i : j, high = i < j ? j : i;
    return (low * (2 * w->groups - low - 1) / 2 + high - low - 1) * w->cables + m;
}

/* The cables towards the group that is `ahead` further on, modulo the groups. */
static void mesh_use(int32_t *uses, const struct shape_mesh *w, int64_t ahead)
{
    int64_t j = (ahead % w->groups + w->groups) % w->groups;
    for (int64_t m = 0; m < w->cables % w->gates; m++)
        uses[shape_mesh_gate(w, 0, j, m)]++;
    for (int64_t gate = 0; gate < w->gates; gate++)
        uses[gate] += (int32_t)(w->cables / w->gates);
}

void shape_mesh_uses(int32_t *uses, const struct shape_mesh *w, int32_t s, int32_t stride, int32_t j)
{
    memset(uses, 0, (size_t)w->gates * sizeof *uses);
    if (s == w->groups) { /* all: so many rounds, and what is left to the first gates */
        int64_t used = w->cables * (w->groups - 1);
        for (int64_t gate = 0; gate < w->gates; gate++)
            uses[gate] = (int32_t)(used / w->gates + (gate < used % w->gates));
        return;
    }
    for (int64_t other = 0; other < s; other++)
        if (other != j)
            mesh_use(uses, w, (other - j) * stride);
}

void shape_mesh_ring(int32_t *out, int32_t *in, const struct shape_mesh *w, int32_t s, int32_t stride,
                     bool round, int place)
{
    int64_t far = (s - INT64_C(1)) * stride;
    memset(out, 0, (size_t)w->gates * sizeof *out);
    memset(in, 0, (size_t)w->gates * sizeof *in);
    if (place < 2 || round)
        mesh_use(out, w, place < 2 ? stride : -far);
    if (place > 0 || round)
        mesh_use(in, w, place > 0 ? -stride : far);
}

int64_t shape_spread(int64_t ways, int64_t n, int64_t x, int64_t y)
{
    /* x + y alone would give those with x = y even ways only, y / ways alone needs many y. */
    return (x + y / ways + (n < ways * ways ? y : 0)) % ways;
}

double shape_passed(enum shape_pattern pattern, int32_t n)
{
    return pattern == SHAPE_NEXT ? (n - 1.0) / n : 1;
}

int topo_check_size(enum topo_shape s, int64_t n, struct err *e)
{
    return topo_shapes[s]->check ? topo_shapes[s]->check(n, e) : 0;
}

void topo_level_init(struct topo_dim *dim, int32_t k, const char *cls)
{
    struct topo_dim *level = &dim[k];
    *level = *dim;
    level->level = k;
    level->n_levels = 0;
    level->fabric = (struct topo_fabric){ 0 };
    level->own_links = false;
    level->bw_Bps = NAN;
    level->min_Bps = 0;
    level->max_Bps = INFINITY;
    char name[TOPO_NAME];
    snprintf(name, sizeof name, "%.*s.%s", TOPO_NAME - 10, dim->name, cls);
    memcpy(level->name, name, sizeof level->name);
}

int topo_levels_init(struct topo_dim *dim, int32_t room, int32_t n, const char *const *classes,
                     const int32_t *sizes, struct err *e)
{
    if (room < n)
        return err_set(e, ERR_RANGE, "has %d levels, expected at most %d: a network has %d dimensions", n,
                       room, TOPO_MAX_DIMS);
    dim->n_levels = n;
    dim->size = sizes[0];
    for (int32_t k = 1; k < n; k++) {
        topo_level_init(dim, k, classes[k]);
        dim[k].size = sizes[k];
    }
    return 0;
}

int64_t topo_dim_links(const struct topo_dim *dim)
{
    struct shape_counts c;
    int64_t links = 0;
    topo_ops(dim)->counts(&c, dim);
    for (int32_t i = 0; i < c.n_classes; i++)
        links += c.links[i];
    return links;
}

double topo_link_Bps(const struct topo_dim *dim, int32_t cls, double bw_Bps)
{
    return topo_ops(dim)->link_Bps(dim, cls, bw_Bps / topo_planes(dim));
}

double topo_dim_link_s(const struct topo_dim *dim, double lat_s)
{
    const struct topo_dim *first = dim - dim->level;
    /* Without switches a neighbour is one link away. */
    bool direct = topo_ops(dim)->link_ports && topo_link_ports(first) == 0;
    return (direct ? 1 : topo_ops(dim)->hop_share) * lat_s;
}
