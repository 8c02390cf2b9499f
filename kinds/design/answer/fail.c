/*
 * Single failures of a design, one kind a row.
 *
 * A failure that takes NPUs, or leaves nothing of a bandwidth, stops the job, which restarts from its last
 * checkpoint; it loses R + T + tau/2 (topo/reliability.h). One that leaves a share of a bandwidth slows it
 * down until the part is repaired. A step is bulk-synchronous: all wait for the members that lose most, so
 *
 *     closed form   t' = t(B_c left, c in the classes that are hit)
 *     lost          repair (1 - t/t')                   of work, by one failure
 *     a year        n/MTBF times what a stop loses; (1 - exp(-n repair/MTBF)) (1 - t/t') of it run slower
 *
 * The last: of n parts that fail at random some are down for that share of the time, and two that are hold a
 * step up no longer than one does.
 *
 * Of u equal links or planes that share the traffic evenly (u-1)/u is left when one fails, (u-1+s)/u when
 * one is at share s. Where nothing takes over (`tolerates` of system) whoever's share passes a slow link
 * waits, and the class has s left. An NPU at share s of its speed makes all compute 1/s as long, waits in a
 * pipeline with it.
 *
 * Flows see the same failure on the graph: `links` of sim/rules.h for the part that fails, all routes that do
 * not meet it as they were (route: detour). What the graph does not draw (the boxes inside one ideal switch)
 * is laid on the ports of the NPUs below.
 *
 * Of a network with a graph of its own every link and switch is taken away in turn, one of those that an
 * automorphism maps onto each other, and the step is routed again over what is left.
 */
#include "kinds/design/answer/fail.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/sheet.h"
#include "base/vec.h"
#include "base/work.h"
#include "kinds/design/answer/training.h"
#include "kinds/design/ask/load.h"
#include "kinds/design/ask/system.h"
#include "topo/graph.h"
#include "topo/theta.h"
#include "workloads/ideal.h"

#define HOUR_S 3600.0
#define YEAR_S (8760 * HOUR_S)

const char *const fail_part_words[N_FAIL_PARTS + 1] = {
    [FAIL_NPU] = "npu",           [FAIL_NODE] = "node",   [FAIL_ITEM] = "item",
    [FAIL_RACK] = "rack",         [FAIL_NIC] = "nic",     [FAIL_LINK] = "link",
    [FAIL_SWITCH] = "switch",     [FAIL_PLANE] = "plane", [FAIL_SLOW_LINK] = "slow-link",
    [FAIL_SLOW_NPU] = "slow-npu",
};

/* ---- what a shape is made of ---- */

/* A group of an entry, one plane of it. */
enum { FAIL_TIERS = 8, FAIL_SHAPE_LINKS = 1 << 25 };

/* Links of a level: of the vertices at its ends the weaker one, in a tree the lower one, has so many. */
struct fail_class {
    int64_t edge; /* the first */
    double degree;
    int32_t npu_ends;
};

/* Switches that are alike: by the classes of their links. */
struct fail_tier {
    unsigned classes;
    int64_t n, edge;
    bool upper;
    double npus;                 /* with a link to one of them */
    double taken[SHAPE_CLASSES]; /* share of a neighbour's links of the class that lead to it, the most */
};

struct fail_shape {
    struct fail_class classes[SHAPE_CLASSES];
    struct fail_tier tiers[FAIL_TIERS];
    int32_t n_tiers;
};

/* Links as they are listed, and how many of each class every vertex has. */
struct fail_edges {
    const struct shape_counts *counts;
    int64_t n_npus, n, in_class;
    int32_t cls;
    bool is_tree; /* switches above switches, numbered upwards */
    int32_t rows; /* above 0: classes k and k + rows lie on one line, and their links count together */
    int32_t (*ends)[2];
    int32_t (*degree)[SHAPE_CLASSES];
    unsigned char *classes; /* of each link */
};

static void fail_take_edge(void *x, int64_t a, int64_t b)
{
    struct fail_edges *l = x;
    for (; l->cls < l->counts->n_classes - 1 && l->in_class == l->counts->links[l->cls]; l->cls++)
        l->in_class = 0;
    l->in_class++;
    l->ends[l->n][0] = (int32_t)(a < b ? a : b);
    l->ends[l->n][1] = (int32_t)(a < b ? b : a);
    l->classes[l->n++] = (unsigned char)l->cls;
    l->degree[a][l->cls]++;
    l->degree[b][l->cls]++;
}

/* Links of vertex @p v that carry what those of class @p cls do. */
static double fail_degree(const struct fail_edges *l, int32_t v, int32_t cls)
{
    int32_t with = cls < l->rows ? cls + l->rows : cls - l->rows;
    return l->degree[v][cls] + (l->rows > 0 && with < l->counts->n_classes ? l->degree[v][with] : 0);
}

static void fail_find_classes(struct fail_shape *out, const struct fail_edges *l)
{
    for (int64_t i = l->n - 1; i >= 0; i--) {
        int32_t cls = l->classes[i], a = l->ends[i][0], b = l->ends[i][1];
        out->classes[cls] = (struct fail_class){
            .edge = i,
            .degree = fmin(fail_degree(l, a, cls), fail_degree(l, b, cls)),
            .npu_ends = (a < l->n_npus) + (b < l->n_npus),
        };
        /* A switch has many; what counts is what its neighbour has, and in a tree the lower one of two: what
         * comes down to it goes through others above. */
        if (out->classes[cls].npu_ends == 1 || l->is_tree)
            out->classes[cls].degree = fail_degree(l, a, cls);
    }
}

static struct fail_tier *fail_tier_of(struct fail_shape *out, unsigned classes)
{
    int32_t t = 0;
    while (t < out->n_tiers && out->tiers[t].classes != classes)
        t++;
    if (t == FAIL_TIERS)
        return NULL;
    if (t == out->n_tiers)
        out->tiers[out->n_tiers++] = (struct fail_tier){ .classes = classes, .edge = -1 };
    return &out->tiers[t];
}

/*
 * Of a tier the first switch stands for all; @p links, shape [n_npus + hubs], counts its links to each
 * neighbour.
 *
 * What its neighbours lose of a class is what it takes of it; but above a switch of a tree it is what those
 * below lose: they and what goes up from their subtree have the other switches of the tier, and a switch
 * above with few subtrees has no more to carry for that.
 */
static void fail_fill_tier(struct fail_tier *t, int32_t hub, const struct fail_edges *l, int32_t *links)
{
    bool goes_up[SHAPE_CLASSES] = { false };
    double most = 0;
    for (int64_t i = 0; i < l->n; i++) {
        int side = l->ends[i][1] == hub ? 1 : l->ends[i][0] == hub ? 0 : -1;
        if (side < 0)
            continue;
        int32_t other = l->ends[i][1 - side], cls = l->classes[i];
        if (t->edge < 0) {
            t->edge = i;
            t->upper = side == 1;
        }
        t->npus += other < l->n_npus && links[other] == 0;
        links[other]++;
        if (l->is_tree && side == 0)
            goes_up[cls] = true;
        else
            t->taken[cls] = fmax(t->taken[cls], links[other] / fail_degree(l, other, cls));
        most = fmax(most, t->taken[cls]);
    }
    for (int32_t k = 0; k < SHAPE_CLASSES; k++)
        if (goes_up[k])
            t->taken[k] = most;
    for (int64_t i = 0; i < l->n; i++)
        if (l->ends[i][0] == hub || l->ends[i][1] == hub)
            links[l->ends[i][0]] = links[l->ends[i][1]] = 0;
}

static void fail_find_tiers(struct fail_shape *out, const struct fail_edges *l, int64_t n_vertices,
                            int32_t *links)
{
    for (int64_t v = l->n_npus; v < n_vertices; v++) {
        unsigned classes = 0;
        for (int32_t c = 0; c < l->counts->n_classes; c++)
            classes |= l->degree[v][c] ? 1U << c : 0;
        struct fail_tier *t = classes ? fail_tier_of(out, classes) : NULL;
        if (!t)
            continue;
        if (t->n++ == 0)
            fail_fill_tier(t, (int32_t)v, l, links);
    }
}

/* A mesh is dense and plain; all else is listed link by link. */
static int fail_shape_fill(struct fail_shape *out, const struct topo_dim *dim, struct err *e)
{
    struct shape_counts c;
    int64_t n_links = 0;
    *out = (struct fail_shape){ 0 };
    topo_ops(dim)->counts(&c, dim);
    if (dim->shape == TOPO_FULL) {
        out->classes[0] = (struct fail_class){ .degree = (double)(dim->size - 1), .npu_ends = 2 };
        return 0;
    }
    for (int32_t k = 0; k < c.n_classes; k++)
        n_links += c.links[k];
    if (n_links > FAIL_SHAPE_LINKS)
        return err_set(e, ERR_RANGE, "dimension \"%s\": has %lld links in a group, expected at most %d",
                       dim->name, (long long)n_links, FAIL_SHAPE_LINKS);
    size_t n_vertices = (size_t)(topo_span(dim) + c.hubs);
    struct fail_edges l = { .counts = &c,
                            .n_npus = topo_span(dim),
                            .is_tree = dim->shape == TOPO_FAT_TREE,
                            .rows = topo_ops(dim)->row_levels };
    struct arena own = { 0 };
    l.ends = ARENA_TAKE(&own, n_links, *l.ends);
    l.classes = ARENA_TAKE(&own, n_links, *l.classes);
    l.degree = ARENA_TAKE(&own, n_vertices, *l.degree);
    int32_t *links = ARENA_TAKE(&own, n_vertices, *links);
    int rc = arena_check(&own, "links of a shape", e);
    if (!rc) {
        topo_ops(dim)->edges(dim, &l, fail_take_edge);
        fail_find_classes(out, &l);
        fail_find_tiers(out, &l, (int64_t)n_vertices, links);
    }
    /* A line falls in two whatever its members have; so does a ring's pair. */
    if (dim->shape == TOPO_LINE)
        out->classes[0].degree = 1;
    arena_free(&own);
    return rc;
}

/* ---- rows ---- */

struct fail_draft {
    struct fail_table *t;
    const struct design_point *s;
    const struct design *d;
    const struct system *x;
    const struct fail_slow *slow;
    struct fail_shape shapes[TOPO_MAX_DIMS]; /* of each entry, at its first dimension */
    bool billed[TOPO_MAX_DIMS];              /* the bill has its pieces */
};

__attribute__((format(printf, 3, 4))) static int
fail_add_row(struct fail_draft *d, const struct fail_row *row, const char *fmt, ...)
{
    struct fail_table *t = d->t;
    if (!(row->count > 0))
        return 0;
    if (!vec_reserve(t->rows, t->cap_rows, t->n_rows + 1))
        return ERR_NOMEM;
    struct fail_row *out = &t->rows[t->n_rows++];
    *out = *row;
    va_list args;
    va_start(args, fmt);
    vsnprintf(out->name, sizeof out->name, fmt, args);
    va_end(args);
    return 0;
}

static const struct topo_dim *fail_entry(const struct fail_draft *d, int32_t dim)
{
    return &d->s->net.dims[dim - d->s->net.dims[dim].level];
}

static struct fail_shape *fail_shape_of(struct fail_draft *d, int32_t dim)
{
    return &d->shapes[dim - d->s->net.dims[dim].level];
}

/* The line of the bill that a failing part comes from; NULL: NPUs and nodes. */
static const struct topo_bill_line *fail_bill_line(const struct fail_draft *d, const char *item)
{
    const struct topo_bill *b = d->d->has_bill ? &d->d->bill : &d->x->bill;
    for (int32_t i = 0; i < b->n_lines; i++)
        if (b->lines[i].item == item)
            return &b->lines[i];
    return NULL;
}

/* The lowest class of links of a switch: the level that it is bought for. */
static int32_t fail_lowest(const struct fail_tier *t)
{
    int32_t low = 0;
    while (!(t->classes >> low & 1))
        low++;
    return low;
}

static const struct fail_tier *fail_find_tier(const struct fail_shape *shape, int32_t level)
{
    for (int32_t i = 0; i < shape->n_tiers; i++)
        if (fail_lowest(&shape->tiers[i]) == level)
            return &shape->tiers[i];
    return NULL;
}

/* How flows see a part of the bill: links and switches of a fabric as they are drawn, a cable or box being
 * one of several that stand side by side; else ports of NPUs. */
static void fail_mark_line(struct fail_draft *d, struct fail_row *row, const struct topo_bill_line *line)
{
    const struct topo_dim *dim = &d->s->net.dims[line->dim];
    const struct fail_shape *shape = fail_shape_of(d, line->dim);
    const struct fail_class *cls = &shape->classes[dim->level];
    double drawn = (double)topo_class_links(&d->s->net, line->dim) / topo_planes(fail_entry(d, line->dim));
    row->mark = FAIL_PORTS;
    row->mark_n = (int64_t)line->loss.npus;
    row->mark_share = row->left;
    if (line->role == BILL_LINK && (dim->level > 0 || cls->npu_ends == 2)) {
        row->mark = FAIL_EDGE;
        row->mark_edge = cls->edge;
        row->mark_share = fmax(1 - drawn / line->count, 0);
    }
    const struct fail_tier *tier = topo_is_fabric(fail_entry(d, line->dim)) && line->role == BILL_SWITCH
                                       ? fail_find_tier(shape, dim->level)
                                       : NULL;
    if (tier) {
        double hubs = (double)tier->n * (double)topo_link_groups(&d->s->net, line->dim) /
                      topo_planes(fail_entry(d, line->dim));
        row->mark = FAIL_HUB;
        row->mark_edge = tier->edge;
        row->mark_upper = tier->upper;
        row->mark_share = fmax(1 - hubs / line->count, 0);
    }
}

/* NPUs, nodes, and what the bill counts in pieces. */
static int fail_add_system(struct fail_draft *d)
{
    static const enum fail_part parts[] = {
        [BILL_NIC] = FAIL_NIC, [BILL_SWITCH] = FAIL_SWITCH, [BILL_LINK] = FAIL_LINK
    };
    int rc = 0;
    for (int32_t i = 0; i < d->x->n_fails && !rc; i++) {
        const struct reliability_line *fail = &d->x->fails[i];
        const struct topo_bill_line *line = fail_bill_line(d, fail->name);
        struct fail_row row = { .count = fail->n,
                                .mtbf_s = fail->mtbf_s,
                                .npus = fail->npus,
                                .stops = !fail->tolerated,
                                .part = i == 0   ? FAIL_NPU
                                        : i == 1 ? FAIL_NODE
                                                 : FAIL_ITEM };
        if (line) {
            row.part = parts[line->role];
            row.dim = fail->dim;
            row.n_dims = fail->n_dims;
            row.left = fail->left;
            d->billed[line->dim] = true;
            fail_mark_line(d, &row, line);
        }
        rc = fail_add_row(d, &row, "%s%s%s", line ? d->s->net.dims[line->dim].name : "", line ? ": " : "",
                          i == 0   ? "NPU"
                          : i == 1 ? "rest of a node"
                                   : fail->name);
    }
    return rc;
}

/* A rack full of nodes; nothing is known of how often one fails as a whole, unless an item is that. */
static int fail_add_rack(struct fail_draft *d)
{
    double node = (double)d->s->system.npus_per_node, n = (double)d->s->net.n_npus;
    const struct own_system *own = &d->s->system;
    for (int32_t i = 0; i < own->n_extras; i++)
        if (own->extras[i].per == OWN_PER_RACK && !isnan(own->extras[i].mtbf_s))
            return 0; /* the study says how often */
    if (d->t->defaults || !(d->x->racks > 0))
        return 0;
    struct fail_row row = { .part = FAIL_RACK,
                            .count = d->x->racks,
                            .mtbf_s = NAN,
                            .npus = fmin(ceil(n / d->x->racks / node) * node, n),
                            .stops = true };
    return fail_add_row(d, &row, "rack");
}

/* ---- rows from shapes ---- */

/* Links of a class side by side, of the member that has fewest. */
static double fail_ways(struct fail_draft *d, int32_t dim)
{
    double degree = fail_shape_of(d, dim)->classes[d->s->net.dims[dim].level].degree;
    return fmax(topo_planes(fail_entry(d, dim)) * degree, 1);
}

/* Does the job run on with what they leave? Ports of one NPU are in planes, unless it has several in one. */
static bool fail_tolerates(struct fail_draft *d, int32_t dim)
{
    const struct own_tolerates *by = &d->s->system.tolerates;
    const struct fail_class *cls = &fail_shape_of(d, dim)->classes[d->s->net.dims[dim].level];
    const bool tolerated[] = { by->paths, cls->degree > 1 ? by->detours : by->planes, by->detours };
    return fail_ways(d, dim) > 1 && tolerated[cls->npu_ends];
}

/* Links of class @p dim. */
static int fail_add_class(struct fail_draft *d, int32_t dim, double mtbf_s)
{
    static const char *const ends[] = { "link between switches", "port of an NPU and its cable",
                                        "link between NPUs" };
    const struct topo_dim *at = &d->s->net.dims[dim];
    const struct fail_class *cls = &fail_shape_of(d, dim)->classes[at->level];
    double planes = topo_planes(fail_entry(d, dim)), ways = fail_ways(d, dim);
    struct fail_row row = { .part = FAIL_LINK,
                            .dim = dim,
                            .n_dims = 1,
                            .left = 1 - 1 / ways,
                            .count = (double)topo_class_links(&d->s->net, dim),
                            .mtbf_s = mtbf_s,
                            .mark = FAIL_EDGE,
                            .mark_edge = cls->edge,
                            .mark_share = 1 - 1 / planes };
    row.stops = !fail_tolerates(d, dim);
    if (row.stops)
        row.npus = system_npus_taken(d->s, dim - at->level,
                                     &(struct topo_loss){ .npus = fmax(cls->npu_ends, 1), .columns = 1 });
    return fail_add_row(d, &row, "%s: %s", at->name, ends[cls->npu_ends]);
}

/* With ports for NPUs and others above; joined with each other; or neither. */
static const char *fail_tier_name(const struct fail_shape *shape, const struct fail_tier *t, bool rail)
{
    bool higher = false, joined = false;
    for (int32_t i = 0; i < shape->n_tiers; i++)
        higher = higher || shape->tiers[i].npus == 0;
    for (int32_t k = 0; k < SHAPE_CLASSES; k++)
        joined = joined || (shape->classes[k].degree > 0 && shape->classes[k].npu_ends == 0);
    if (t->npus == 0)
        return "spine";
    return higher ? "leaf" : joined ? "router" : rail ? "switch of a rail" : "switch";
}

/* A switch takes its links of all classes; what is left of the class that loses most counts for all. */
static int fail_add_tier(struct fail_draft *d, int32_t entry, const struct fail_tier *t, double mtbf_s)
{
    const struct topo_dim *dim = &d->s->net.dims[entry];
    const struct own_tolerates *by = &d->s->system.tolerates;
    int32_t low = fail_lowest(t), high = SHAPE_CLASSES - 1;
    double planes = topo_planes(dim), taken = 0;
    while (!(t->classes >> high & 1))
        high--;
    for (int32_t k = low; k <= high; k++)
        taken = fmax(taken, k == low || t->npus == 0 ? t->taken[k] : 0);
    struct fail_row row = { .part = FAIL_SWITCH,
                            .dim = entry + low,
                            .n_dims = high - low + 1,
                            .left = 1 - taken / planes,
                            .count = (double)t->n * (double)topo_link_groups(&d->s->net, entry),
                            .mtbf_s = mtbf_s,
                            .mark = FAIL_HUB,
                            .mark_edge = t->edge,
                            .mark_upper = t->upper,
                            .mark_share = 1 - 1 / planes };
    bool tolerated = t->npus == 0 ? by->paths : taken < 1 ? by->detours : by->planes;
    row.stops = !(row.left > 0 && tolerated);
    if (row.stops)
        row.npus = system_npus_taken(d->s, entry, &(struct topo_loss){ .npus = t->npus, .columns = 1 });
    return fail_add_row(d, &row, "%s: %s", d->s->net.dims[entry + low].name,
                        fail_tier_name(fail_shape_of(d, entry), t, entry > 0));
}

/* Does what joins the members come with the servers? */
static bool fail_is_inside(const struct fail_draft *d, int32_t dim)
{
    const struct topo_bill *b = d->d->has_bill ? &d->d->bill : &d->x->bill;
    bool inside = dim < system_dims_inside(d->s);
    for (int32_t i = 0; i < b->n_lines; i++)
        inside = inside || (b->lines[i].dim == dim && b->lines[i].in_server);
    return inside;
}

/* What the bill has no pieces of. Inside a server its parts fail with the server. */
static int fail_add_shapes(struct fail_draft *d)
{
    const struct topo_network *net = &d->s->net;
    const struct own_mtbf *mtbf = &d->s->system.mtbf;
    int rc = 0;
    for (int32_t dim = 0; dim < net->n_dims && !rc; dim++) {
        bool within = fail_is_inside(d, dim);
        int32_t entry = dim - net->dims[dim].level;
        const struct fail_shape *shape = &d->shapes[entry];
        if (d->billed[dim])
            continue;
        rc = fail_add_class(d, dim, within ? NAN : mtbf->link_s);
        for (int32_t i = 0; i < shape->n_tiers && !rc; i++)
            if (fail_lowest(&shape->tiers[i]) == dim - entry)
                rc = fail_add_tier(d, entry, &shape->tiers[i], within ? NAN : mtbf->switch_s);
        if (!rc && dim == entry && !within && shape->classes[0].npu_ends == 1) {
            /* A NIC in every plane's way. */
            double planes = topo_planes(&net->dims[dim]);
            struct fail_row row = { .part = FAIL_NIC,
                                    .dim = dim,
                                    .n_dims = 1,
                                    .left = 1 - 1 / planes,
                                    .count = (double)net->n_npus * planes,
                                    .mtbf_s = mtbf->nic_s,
                                    .stops = !(planes > 1 && d->s->system.tolerates.planes),
                                    .mark = FAIL_PORTS,
                                    .mark_n = 1,
                                    .mark_share = 1 - 1 / planes };
            if (row.stops)
                row.npus = fmin((double)d->s->system.npus_per_node, (double)net->n_npus);
            rc = fail_add_row(d, &row, "%s: NIC", net->dims[dim].name);
        }
    }
    return rc;
}

/* Whole planes, and what is slow but not gone: nothing is known of how often. */
static int fail_add_planes(struct fail_draft *d)
{
    const struct topo_network *net = &d->s->net;
    int rc = 0;
    for (int32_t dim = 0; dim < net->n_dims && !rc; dim = topo_after_entry(net->dims, dim)) {
        double planes = topo_planes(&net->dims[dim]);
        struct fail_row row = { .part = FAIL_PLANE,
                                .dim = dim,
                                .n_dims = topo_after_entry(net->dims, dim) - dim,
                                .left = 1 - 1 / planes,
                                .count = planes > 1 ? (double)topo_link_groups(net, dim) : 0,
                                .mtbf_s = NAN,
                                .stops = !d->s->system.tolerates.planes,
                                .mark = FAIL_CLASS,
                                .mark_share = 1 - 1 / planes };
        rc = fail_add_row(d, &row, "%s: plane, one of %g", net->dims[dim].name, planes);
    }
    return rc;
}

static int fail_add_slow(struct fail_draft *d)
{
    const struct topo_network *net = &d->s->net;
    int rc = 0;
    for (int32_t dim = 0; dim < net->n_dims && !rc; dim++) {
        double planes = topo_planes(fail_entry(d, dim));
        struct fail_row row = { .part = FAIL_SLOW_LINK,
                                .dim = dim,
                                .n_dims = 1,
                                .left = fail_tolerates(d, dim) ? 1 - (1 - d->slow->link) / fail_ways(d, dim)
                                                               : d->slow->link,
                                .count = (double)topo_class_links(net, dim),
                                .mtbf_s = NAN,
                                .mark = FAIL_EDGE,
                                .mark_edge = fail_shape_of(d, dim)->classes[net->dims[dim].level].edge,
                                .mark_share = 1 - (1 - d->slow->link) / planes };
        rc = fail_add_row(d, &row, "%s: link at %g %%", net->dims[dim].name, 100 * d->slow->link);
    }
    return rc;
}

static int fail_add_slow_npu(struct fail_draft *d)
{
    struct fail_row npu = {
        .part = FAIL_SLOW_NPU, .count = (double)d->s->net.n_npus, .mtbf_s = NAN, .left = 1
    };
    return fail_add_row(d, &npu, "NPU at %g %%", 100 * d->slow->npu);
}

/* ---- the time of a step ---- */

/* Weighted time of all workloads; compute is over @p npu_share of its speed. */
static int fail_step_time(double *time_s, const struct design_point *s, const struct sim_way *way,
                          double npu_share, struct err *e)
{
    *time_s = 0;
    for (int32_t i = 0; i < s->n_workloads; i++) {
        struct step_tree t = s->workloads[i].tree;
        struct sim_step step;
        t.nodes = malloc((size_t)t.n_nodes * sizeof *t.nodes);
        if (!t.nodes)
            return err_nomem(e, "a training step");
        memcpy(t.nodes, s->workloads[i].tree.nodes, (size_t)t.n_nodes * sizeof *t.nodes);
        for (int32_t n = 0; n < t.n_nodes; n++)
            if (t.nodes[n].kind == STEP_COMPUTE && t.nodes[n].phase != STEP_OVERHEAD)
                t.nodes[n].seconds /= npu_share;
        int rc = sim_step_build(&step, &t, way, e);
        free(t.nodes);
        if (rc)
            return rc;
        *time_s += s->workloads[i].weight * step.time_s;
        sim_step_free(&step);
    }
    return 0;
}

static double fail_npu_share(const struct fail_draft *d, const struct fail_row *row)
{
    return row->part == FAIL_SLOW_NPU ? d->slow->npu : 1;
}

/* Sums in another order differ by rounding; a step of no time is as long as before. */
static double fail_slowdown(double time_s, double healthy_s)
{
    if (!isnan(time_s) && !(time_s < healthy_s) && !(time_s > healthy_s))
        return 0;
    double x = time_s / healthy_s - 1;
    return fabs(x) < 1e-12 ? 0 : x;
}

/* By the closed form; of what leaves nothing there is no step. */
static int fail_time_closed(const struct fail_draft *d, struct fail_row *row, struct err *e)
{
    double bw_Bps[TOPO_MAX_DIMS];
    if (row->timed)
        return 0;
    row->time_s = row->slowdown = NAN;
    if (row->left <= 0)
        return 0;
    memcpy(bw_Bps, d->d->bw_Bps, sizeof bw_Bps);
    for (int32_t k = row->dim; k < row->dim + row->n_dims; k++)
        bw_Bps[k] *= row->left;
    const struct sim_way way = design_point_closed_way(d->s, bw_Bps);
    int rc = fail_step_time(&row->time_s, d->s, &way, fail_npu_share(d, row), e);
    row->slowdown = fail_slowdown(row->time_s, d->t->time_s);
    return rc;
}

/* What went wrong on any thread. */
static void fail_note_error(int *rc, int failed, struct err *e, const struct err *mine)
{
    if (!failed)
        return;
#pragma omp critical(fail_error)
    {
        *rc = failed;
        *e = *mine;
    }
}

/* ---- the same on the graph ---- */

/* The graph as model flow builds it, planes drawn as one. */
struct fail_graph {
    struct topo_network net;
    struct topo_graph *graph;
    struct topo_link *links; /* shape [n_links], owned */
    int64_t n_links;
    /* Of one failure, and owned by who times it. */
    double *share;           /* shape [n_links] */
    struct sim_links *marks; /* shape [n_marks] */
    int32_t n_marks, cap_marks;
};

static void fail_graph_free(struct fail_graph *g)
{
    topo_graph_free(g->graph);
    free(g->links);
}

static int fail_graph_build(struct fail_graph *g, const struct fail_draft *d, struct err *e)
{
    const struct sim_way way = design_point_way(d->s, d->d->bw_Bps);
    *g = (struct fail_graph){ .net = fidelity_network(&way) };
    int rc = topo_build_graph(&g->graph, &g->net, NULL, e);
    if (rc)
        return rc;
    g->n_links = topo_graph_links(g->graph);
    g->links = malloc((size_t)(g->n_links + 1) * sizeof *g->links);
    if (!g->links)
        return err_nomem(e, "links");
    return topo_list_links(g->links, g->graph, e);
}

/* Number of link @p edge of the first group of the entry of dimension @p dim. */
static int64_t fail_graph_edge(const struct fail_graph *g, int32_t dim, int64_t edge)
{
    int32_t entry = dim - g->net.dims[dim].level;
    int64_t at = 0;
    while (at < g->n_links && g->links[at].dim < entry)
        at++;
    return at + edge;
}

static int fail_mark_link(struct fail_graph *g, int64_t i, double share, struct err *e)
{
    char name[TOPO_VERTEX_TEXT];
    if (!(share < g->share[i]))
        return 0;
    g->share[i] = share;
    if (!vec_reserve(g->marks, g->cap_marks, g->n_marks + 1))
        return err_nomem(e, "links");
    struct sim_links *m = &g->marks[g->n_marks++];
    *m = (struct sim_links){ .dim = -1, .share = share };
    snprintf(m->from, sizeof m->from, "%s", topo_vertex_name(name, g->graph, g->links[i].src));
    snprintf(m->to, sizeof m->to, "%s", topo_vertex_name(name, g->graph, g->links[i].dst));
    return 0;
}

/* Links between the ends of @p i, which `links` of simulations name together. */
static double fail_parallel(const struct fail_graph *g, int64_t i)
{
    double n = 0;
    for (int64_t k = 0; k < g->n_links; k++)
        n += g->links[k].src == g->links[i].src && g->links[k].dst == g->links[i].dst;
    return n;
}

/* Ports of the first NPUs of the first group: member i is so many NPUs on. */
static int fail_mark_ports(struct fail_graph *g, const struct fail_row *row, struct err *e)
{
    int32_t entry = row->dim - g->net.dims[row->dim].level;
    int64_t stride = 1, n = topo_span(&g->net.dims[entry]);
    for (int32_t k = 0; k < entry; k++)
        stride *= g->net.dims[k].size;
    stride /= topo_node(&g->net.dims[entry]);
    n = row->mark_n < n ? row->mark_n : n;
    int rc = 0;
    for (int64_t i = 0; i < g->n_links && !rc; i++) {
        const struct topo_link *l = &g->links[i];
        bool its = (l->src % stride == 0 && l->src / stride < n) ||
                   (l->dst < g->net.n_npus && l->dst % stride == 0 && l->dst / stride < n);
        if (l->dim >= row->dim && l->dim < row->dim + row->n_dims && its)
            rc = fail_mark_link(g, i, row->mark_share, e);
    }
    return rc;
}

/* The failure as links that failed or are slow. */
static int fail_mark_graph(struct fail_graph *g, const struct fail_row *row, struct err *e)
{
    int rc = 0;
    g->n_marks = 0;
    for (int64_t i = 0; i < g->n_links; i++)
        g->share[i] = 1;
    if (row->mark == FAIL_PORTS)
        return fail_mark_ports(g, row, e);
    if (row->mark == FAIL_EDGE || row->mark == FAIL_HUB) {
        int64_t at = fail_graph_edge(g, row->dim, row->mark_edge);
        if (row->mark == FAIL_EDGE)
            return fail_mark_link(g, at, 1 - (1 - row->mark_share) / fail_parallel(g, at), e);
        int64_t hub = row->mark_upper ? g->links[at].dst : g->links[at].src;
        for (int64_t i = 0; i < g->n_links && !rc; i++)
            if (g->links[i].src == hub || g->links[i].dst == hub)
                rc = fail_mark_link(g, i, row->mark_share, e);
        return rc;
    }
    for (int32_t k = row->dim; row->mark == FAIL_CLASS && k < row->dim + row->n_dims && !rc; k++) {
        if (!vec_reserve(g->marks, g->cap_marks, g->n_marks + 1))
            return err_nomem(e, "links");
        g->marks[g->n_marks++] = (struct sim_links){ .dim = k, .share = row->mark_share };
    }
    return rc;
}

static int32_t fail_root(int32_t *up, int32_t v)
{
    while (up[v] != v)
        v = up[v] = up[up[v]];
    return v;
}

/* Do the links that are left join all NPUs? */
static int fail_is_cut(bool *cut, const struct fail_graph *g, struct err *e)
{
    int64_t n = topo_graph_vertices(g->graph), npus = g->net.n_npus;
    int32_t *up = malloc((size_t)n * sizeof *up);
    if (!up)
        return err_nomem(e, "a network");
    for (int64_t v = 0; v < n; v++)
        up[v] = (int32_t)v;
    for (int64_t i = 0; i < g->n_links; i++)
        if (g->share[i] > 0)
            up[fail_root(up, (int32_t)g->links[i].src)] = fail_root(up, (int32_t)g->links[i].dst);
    *cut = false;
    for (int64_t v = 1; v < npus; v++)
        *cut = *cut || fail_root(up, (int32_t)v) != fail_root(up, 0);
    free(up);
    return 0;
}

/* Time by flow; where that is not to be had, why. Lack of memory is a failure. */
static int fail_run_flow(double *time_s, char why[200], const struct fail_draft *d,
                         const struct fail_graph *g, double npu_share, struct err *e)
{
    struct sim_rules rules = d->s->rules;
    struct err inner = { 0 };
    size_t n = (size_t)rules.n_links + (size_t)g->n_marks;
    struct sim_links *links = malloc((n + 1) * sizeof *links);
    if (!links)
        return err_nomem(e, "links");
    if (rules.n_links)
        memcpy(links, rules.links, (size_t)rules.n_links * sizeof *links);
    if (g->n_marks)
        memcpy(links + rules.n_links, g->marks, (size_t)g->n_marks * sizeof *links);
    rules.links = links;
    rules.n_links = (int32_t)n;
    rules.route = rules.route == SIM_ROUTE_DIMENSION ? SIM_ROUTE_DETOUR : rules.route;
    rules.max_messages = FAIL_FLOW_MESSAGES;
    const struct sim_way way = { &d->s->net, d->d->bw_Bps, SIM_FLOW, &rules };
    int rc = fail_step_time(time_s, d->s, &way, npu_share, &inner);
    free(links);
    if (rc == ERR_NOMEM || rc == ERR_LIB)
        return err_set(e, rc, "%s", inner.msg);
    if (rc) {
        *time_s = NAN;
        snprintf(why, 200, "%.199s", inner.msg);
    }
    return 0;
}

static int fail_time_flow(const struct fail_draft *d, struct fail_graph *g, struct fail_row *row,
                          struct err *e)
{
    bool cut = false;
    if (row->left <= 0) {
        snprintf(row->flow_why, sizeof row->flow_why, "the job stops");
        return 0;
    }
    int rc = fail_mark_graph(g, row, e);
    if (!rc)
        rc = fail_is_cut(&cut, g, e);
    if (rc)
        return rc;
    if (cut) {
        row->stops = true;
        snprintf(row->flow_why, sizeof row->flow_why, "some NPUs cannot be reached");
        return 0;
    }
    rc = fail_run_flow(&row->flow_s, row->flow_why, d, g, fail_npu_share(d, row), e);
    row->flow_slowdown = fail_slowdown(row->flow_s, d->t->flow_s);
    return rc;
}

/* Why the network is not timed by flow; NULL: it is. */
static const char *fail_flow_limit(char why[200], const struct fail_draft *d)
{
    const struct topo_network *net = &d->s->net;
    double n_links = 0;
    for (int32_t k = 0; k < net->n_dims; k++)
        n_links += (double)topo_class_links(net, k);
    if (d->s->ideal)
        return "routes are ideal on a graph: any paths";
    if (d->s->rules.graph[0])
        return "simulation.graph has wires of its own";
    if (net->n_npus > FAIL_FLOW_NPUS || n_links > FAIL_FLOW_LINKS) {
        char a[SHOW], b[SHOW], c[SHOW], k[SHOW];
        snprintf(why, 200, "has %s NPUs and %s links; up to %s and %s are timed", show_count(a, net->n_npus),
                 show_count(b, (int64_t)fmin(n_links, 9e18)), show_count(c, FAIL_FLOW_NPUS),
                 show_count(k, FAIL_FLOW_LINKS));
        return why;
    }
    return NULL;
}

/* A failure each, several at a time; a thread has marks of its own on the one graph. */
static int fail_time_graphs(struct fail_draft *d, const struct fail_graph *graph, struct err *e)
{
    struct fail_table *t = d->t;
    struct work work;
    int rc = 0;
    int64_t n_runs = 0;
    for (int32_t i = 0; i < t->n_rows; i++)
        n_runs += t->rows[i].left > 0;
    work_begin(&work, "failures", n_runs);
#pragma omp parallel
    {
        struct fail_graph own = *graph;
        own.marks = NULL;
        own.n_marks = own.cap_marks = 0;
        own.share = malloc((size_t)(own.n_links + 1) * sizeof *own.share);
#pragma omp for schedule(dynamic, 1)
        for (int32_t i = 0; i < t->n_rows; i++) {
            struct err mine = { 0 };
            int failed = own.share ? fail_time_flow(d, &own, &t->rows[i], &mine) : err_nomem(&mine, "links");
            fail_note_error(&rc, failed, e, &mine);
            work_step(&work, t->rows[i].left > 0);
        }
        free(own.share);
        free(own.marks);
    }
    work_end(&work);
    return rc;
}

static int fail_time_flows(struct fail_draft *d, struct err *e)
{
    struct fail_table *t = d->t;
    struct fail_graph g = { 0 };
    char room[200];
    const char *limit = fail_flow_limit(room, d);
    int rc = limit ? 0 : fail_graph_build(&g, d, e);
    t->flow_s = NAN;
    if (limit)
        snprintf(t->flow_why, sizeof t->flow_why, "%s", limit);
    else if (!rc)
        rc = fail_run_flow(&t->flow_s, t->flow_why, d, &g, 1, e);
    for (int32_t i = 0; i < t->n_rows; i++) {
        struct fail_row *row = &t->rows[i];
        row->flow_s = row->flow_slowdown = NAN;
        if (isnan(t->flow_s))
            memcpy(row->flow_why, t->flow_why, sizeof row->flow_why);
    }
    if (!rc && !isnan(t->flow_s))
        rc = fail_time_graphs(d, &g, e);
    fail_graph_free(&g);
    return rc;
}

/* ---- what it costs ---- */

static void fail_price(const struct fail_draft *d, struct fail_row *row)
{
    row->per_year = row->count * YEAR_S / row->mtbf_s;
    if (row->stops) {
        /* Each waits for as many spares as it takes nodes. */
        double wait_s = system_wait_s(d->x, d->s, row->npus, row->n_dims ? row->dim : -1) - d->x->wait_s;
        row->repair_s = NAN;
        row->lost_s = d->t->restart_s + wait_s + d->t->redo_s;
        row->lost_frac = row->per_year * row->lost_s / YEAR_S;
        return;
    }
    double part = 1 - 1 / (1 + row->slowdown);
    row->repair_s = d->s->system.repair_s;
    row->lost_s = row->repair_s * part;
    row->lost_frac = -expm1(-row->per_year * row->repair_s / YEAR_S) * part;
}

/* What is not known comes last, by what one failure costs; of equals the first. */
static int fail_compare(const void *a, const void *b)
{
    const struct fail_row *x = a, *y = b;
    double p = isnan(x->lost_frac) ? -1 : x->lost_frac, q = isnan(y->lost_frac) ? -1 : y->lost_frac;
    if (p < q || p > q)
        return p < q ? 1 : -1;
    p = isnan(x->lost_s) ? -1 : x->lost_s;
    q = isnan(y->lost_s) ? -1 : y->lost_s;
    if (p < q || p > q)
        return p < q ? 1 : -1;
    p = isnan(x->slowdown) ? -1 : x->slowdown;
    q = isnan(y->slowdown) ? -1 : y->slowdown;
    if (p < q || p > q)
        return p < q ? 1 : -1;
    int order = strcmp(x->name, y->name);
    return order ? order : (int)x->part - (int)y->part;
}

/* Of all that stops the job, whether it comes from the bill or not: goodput and the best intervals. A failure
 * is restored from the tiers by their shares. */
static void fail_settle_stops(struct fail_draft *d)
{
    struct fail_table *t = d->t;
    const struct own_system *own = &d->s->system;
    struct goodput_tier tiers[OWN_MAX_TIERS + 1];
    struct goodput g;
    double rate = 0, stalls = 0;
    for (int32_t i = 0; i < t->n_rows; i++)
        rate += t->rows[i].stops && !isnan(t->rows[i].mtbf_s) ? t->rows[i].count / t->rows[i].mtbf_s : 0;
    memcpy(tiers, d->x->tiers, sizeof tiers);
    goodput_of_tiers(&g, tiers, d->x->n_tiers, 1 / rate);
    for (int32_t i = 0; i < d->x->n_tiers; i++) {
        const struct goodput_tier *tier = &tiers[i];
        t->restart_s += tier->share * tier->c.restart_s;
        t->redo_s += tier->share * (tier->c.drain_s + tier->settled_s / 2);
        stalls += tier->c.stall_s > 0 ? tier->c.stall_s / tier->settled_s : 0;
    }
    t->stall_frac = stalls / (1 + stalls);
    t->goodput = g.goodput * (1 - own->straggler_loss) * (1 - own->planned_per_s * own->planned_stop_s);
}

static void fail_sum(struct fail_draft *d)
{
    struct fail_table *t = d->t;
    fail_settle_stops(d);
    for (int32_t i = 0; i < t->n_rows; i++) {
        fail_price(d, &t->rows[i]);
        t->per_year += isnan(t->rows[i].per_year) ? 0 : t->rows[i].per_year;
        t->lost_frac += isnan(t->rows[i].lost_frac) ? 0 : t->rows[i].lost_frac;
    }
    qsort(t->rows, (size_t)t->n_rows, sizeof *t->rows, fail_compare);
}

/* A study without `system` has its defaults, and counts no prices. */
static void fail_settle_system(struct fail_table *t, struct design_point *s)
{
    bool trains = false;
    if (s->has_system)
        return;
    schema_defaults(&s->system, &own_system_section);
    s->system.npu_usd = s->system.npu_watt = s->system.server_usd = s->system.server_watt = 0;
    s->has_system = true;
    for (int32_t i = 0; i < s->n_workloads; i++)
        trains = trains || s->workloads[i].training;
    t->no_checkpoint = !trains;
    s->system.checkpoint.size_B = trains ? (double)NAN : 0;
}

static int fail_check(const struct fail_slow *slow, struct err *e)
{
    if (!(slow->link > 0 && slow->link < 1) || !(slow->npu > 0 && slow->npu < 1))
        return err_set(e, ERR_RANGE, "share of a slow %s is %g, expected above 0 and below 1",
                       slow->link > 0 && slow->link < 1 ? "NPU" : "link",
                       slow->link > 0 && slow->link < 1 ? slow->npu : slow->link);
    return 0;
}

/* ---- on a graph of its own ---- */

/* Do all collectives join all NPUs? Then what an automorphism maps onto each other fails alike. */
static bool fail_joins_all(const struct design_point *s)
{
    for (int32_t i = 0; i < s->n_workloads; i++) {
        const struct step_tree *t = &s->workloads[i].tree;
        for (step_id id = 0; id < t->n_nodes; id++) {
            int64_t n = 1;
            for (int32_t d = 0; d < s->net.n_dims; d++)
                n *= t->groups[t->nodes[id].group].members[d];
            if (t->nodes[id].kind == STEP_COLLECTIVE && n > 1 && n < s->net.n_npus)
                return false;
        }
    }
    return true;
}

/* Orbits of vertices and, behind them, links, each link between its ends; @p orbit, shape [n_vertices +
 * n_links], holds every one's own number where symmetry says nothing. */
static int fail_find_orbits(int32_t *orbit, const struct fail_draft *d, struct err *e)
{
    const struct topo_wires *w = d->s->net.wires;
    int32_t n = w->n_vertices + w->n_links;
    for (int32_t v = 0; v < n; v++)
        orbit[v] = v;
    if (!fail_joins_all(d->s))
        return 0;
    int32_t *classes = calloc((size_t)w->n_links + 1, sizeof *classes);
    if (!classes)
        return err_nomem(e, "failures");
    for (int32_t l = 0; l < w->n_links; l++)
        classes[l] = w->links[l].cls;
    int rc = theta_find_orbits(orbit, w, classes, w->weight, NULL, 0, e);
    free(classes);
    return rc;
}

/* The step with some links closed; endless where they cut off who sends. */
static int fail_time_wires(struct fail_row *row, const struct fail_draft *d, const bool *closed,
                           struct err *e)
{
    struct design_point s = *d->s; /* borrows all but the graph */
    struct ideal *rest;
    int rc = ideal_without(&rest, d->s->ideal, &s.net, closed, e);
    if (rc)
        return rc;
    const struct sim_way way = design_point_closed_way(&s, d->d->bw_Bps);
    rc = fail_step_time(&row->time_s, &s, &way, 1, e);
    ideal_free(rest);
    row->left = isfinite(row->time_s) ? 1 : 0;
    row->slowdown = row->left > 0 ? fail_slowdown(row->time_s, d->t->time_s) : (double)NAN;
    row->time_s = row->left > 0 ? row->time_s : (double)NAN;
    return rc;
}

/* Link l, or, behind the links, switch v: @p like it are so many. Its number is kept for fail_time_wire(). */
static int fail_add_wire(struct fail_draft *d, int32_t at, int32_t like, const struct topo_graph *g,
                         struct err *e)
{
    const struct topo_wires *w = d->s->net.wires;
    const struct topo_link *link = &w->links[at < w->n_links ? at : 0];
    const bool is_link = at < w->n_links;
    char a[TOPO_VERTEX_TEXT], b[TOPO_VERTEX_TEXT];
    struct fail_row row = { .part = is_link ? FAIL_LINK : FAIL_SWITCH,
                            .count = like,
                            .mtbf_s = is_link ? d->s->system.mtbf.link_s : d->s->system.mtbf.switch_s,
                            .timed = true,
                            .mark_edge = at };
    topo_vertex_name(a, g, is_link ? link->src : at - w->n_links);
    const char *cls = d->s->net.dims[link->cls].name;
    int rc = is_link
                 ? fail_add_row(d, &row, "%s: link %.40s - %.40s", cls, a, topo_vertex_name(b, g, link->dst))
                 : fail_add_row(d, &row, "switch %.60s", a);
    return rc ? err_nomem(e, "failures") : 0;
}

/* The step without it. */
static int fail_time_wire(struct fail_row *row, const struct fail_draft *d, struct err *e)
{
    const struct topo_wires *w = d->s->net.wires;
    const struct own_tolerates *by = &d->s->system.tolerates;
    const bool is_link = row->part == FAIL_LINK;
    const int64_t v = row->mark_edge - w->n_links;
    double npus = 0;
    bool joins_npus = false, *closed = calloc((size_t)w->n_links + 1, sizeof *closed);
    if (!closed)
        return err_nomem(e, "failures");
    for (int32_t l = 0; l < w->n_links; l++) {
        closed[l] = is_link ? l == row->mark_edge : w->links[l].src == v || w->links[l].dst == v;
        npus += closed[l] ? (w->links[l].src < w->n_npus) + (w->links[l].dst < w->n_npus) : 0;
        joins_npus = joins_npus || (closed[l] && w->links[l].src < w->n_npus);
    }
    int rc = fail_time_wires(row, d, closed, e);
    free(closed);
    row->stops = !(row->left > 0 && (joins_npus ? by->detours : by->paths));
    row->npus = row->stops ? fmax(npus, 1) : 0;
    return rc;
}

/* Each link and switch, one of those that are alike, named after the first. */
static int fail_add_wires(struct fail_draft *d, struct err *e)
{
    const struct topo_wires *w = d->s->net.wires;
    int32_t n = w->n_vertices + w->n_links;
    int32_t *orbit = calloc((size_t)n + 1, sizeof *orbit), *like = calloc((size_t)n + 1, sizeof *like);
    struct topo_graph *g = NULL;
    int rc = orbit && like ? design_point_open_graph(&g, d->s, e) : err_nomem(e, "failures");
    if (!rc)
        rc = fail_find_orbits(orbit, d, e);
    for (int32_t v = 0; v < n && !rc; v++)
        like[orbit[v]]++;
    for (int32_t at = 0; at < n - w->n_npus && !rc; at++) {
        bool is_link = at < w->n_links;
        int32_t v = is_link ? w->n_vertices + at : w->n_npus + at - w->n_links;
        if (like[v] > 0)
            rc = fail_add_wire(d, is_link ? at : w->n_links + v, like[v], g, e);
    }
    free(orbit);
    free(like);
    topo_graph_free(g);
    return rc;
}

/* Several at a time. */
static int fail_time_all_wires(struct fail_draft *d, struct err *e)
{
    struct fail_table *t = d->t;
    struct work work;
    int rc = 0;
    work_begin(&work, "failures", t->n_rows);
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t i = 0; i < t->n_rows; i++) {
        struct err mine = { 0 };
        int failed = t->rows[i].timed ? fail_time_wire(&t->rows[i], d, &mine) : 0;
        fail_note_error(&rc, failed, e, &mine);
        work_step(&work, 1);
    }
    work_end(&work);
    return rc;
}

static int fail_list_wires(struct fail_draft *d, struct err *e)
{
    if (fail_add_system(d) || fail_add_rack(d) || fail_add_slow_npu(d))
        return err_nomem(e, "failures");
    int rc = fail_add_wires(d, e);
    return rc ? rc : fail_time_all_wires(d, e);
}

static int fail_list_rows(struct fail_draft *d, struct err *e)
{
    const struct topo_network *net = &d->s->net;
    int rc = 0;
    if (d->s->ideal)
        return fail_list_wires(d, e);
    for (int32_t k = 0; k < net->n_dims && !rc; k = topo_after_entry(net->dims, k))
        rc = fail_shape_fill(&d->shapes[k], &net->dims[k], e);
    if (rc)
        return rc;
    if (fail_add_system(d) || fail_add_rack(d) || fail_add_shapes(d) || fail_add_planes(d) ||
        fail_add_slow(d) || fail_add_slow_npu(d))
        return err_nomem(e, "failures");
    return 0;
}

int fail_build(struct fail_table *out, const struct design *design, const struct fail_slow *slow,
               struct err *e)
{
    const struct design_point *s = design->chosen.point;
    struct design_point own = *s; /* borrows all that s owns */
    struct system x = { 0 };
    struct fail_draft d = { .t = out, .s = &own, .d = design, .x = &x, .slow = slow };
    *out = (struct fail_table){ .defaults = !s->has_system };
    int rc = fail_check(slow, e);
    if (rc)
        return rc;
    fail_settle_system(out, &own);
    rc = system_build(&x, &own, design_owned(design), e);
    const struct sim_way way = design_point_closed_way(&own, design->bw_Bps);
    if (!rc)
        rc = fail_step_time(&out->time_s, &own, &way, 1, e);
    struct evidence_band band;
    bool near = design_time_band(&band, NULL, design);
    out->low_s = near ? band.low_s * out->time_s / design->time_s : (double)NAN;
    out->high_s = near ? band.high_s * out->time_s / design->time_s : (double)NAN;
    if (!rc)
        rc = fail_list_rows(&d, e);
    for (int32_t i = 0; i < out->n_rows && !rc; i++)
        rc = fail_time_closed(&d, &out->rows[i], e);
    if (!rc)
        rc = fail_time_flows(&d, e);
    if (!rc)
        fail_sum(&d);
    system_free(&x);
    if (rc)
        fail_free(out);
    return rc;
}

void fail_free(struct fail_table *t)
{
    free(t->rows);
    *t = (struct fail_table){ 0 };
}
