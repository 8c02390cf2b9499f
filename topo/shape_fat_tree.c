/*
 * Fat tree (folded Clos) of two to four levels. Level 0 has the m members of a leaf, level k as many subtrees
 * of level k-1 as meet in it. Class 0 is the injection, class k the links up from the boxes of tier k.
 *
 * Boxes: a subtree of level k-1 has U_k boxes of tier k on top, U_1 = 1, U_{k+1} = U_k up_k, where up_k is
 * how many links lead up from a box of tier k. Box a of a subtree has links to boxes a up_k .. a up_k + up_k
 * - 1 on top of the subtree above, so every box there has one link to each subtree below. A link stands for
 * all cables between its two boxes; its capacity makes up what the taper leaves: B_k = B_{k-1} / taper_k of
 * one NPU.
 *
 * Loads, of groups with q, r, s.. members of levels 0, 1, 2.. (n = q r s), every group at work: along one
 * level k all that is sent passes classes 0..k. Flat, over all levels at once: direct sends (n - q)/n of the
 * buffer beyond the leaf, (n - q r)/n beyond the pod; a ring in the order of addresses leaves a leaf once in
 * q members. Collectives are hierarchical (level by level) unless an algorithm is asked for: a leaf then
 * sends 1/q of it.
 *
 * Rails with a shared spine: nodes of G NPUs (the dimensions before) hang on R rails, NPU i on rail i mod R.
 * A leaf has m nodes and of each the G/R NPUs of one rail; tier 2 joins the leaves of all rails, so level 1
 * has R times as many subtrees as its size says. NPU i of the node at place (a, j, p) is below leaf (i mod R,
 * j) of pod p. R = 1 is a plain tree of nodes. What stays on a rail loads the classes as above. All-to-all
 * without forwarding among g members of a node, g_r of them on one rail, n = g q r s: nothing for the own
 * node, (n - g)/n into the net, (n - g - g_r (q - 1))/n beyond the leaf, (n - g q r)/n beyond the pod.
 *
 * C. Leiserson, IEEE Trans. Computers C-34(10), 1985; ways by destination as in E. Zahavi, D-Mod-K routing,
 * 2010: shifts and exchanges of all members meet no link twice in a tree without taper.
 */
#include <math.h>

#include "base/num.h"
#include "topo/bill.h"
#include "topo/clos.h"
#include "topo/shape.h"

/* Members below a box of tier k: of a subtree of level k - 1. */
static int64_t tree_subtree(const struct topo_dim *dim, int32_t k)
{
    int64_t n = 1;
    for (int32_t i = 0; i < k; i++)
        n *= topo_tree_size(dim, i);
    return n;
}

/* Members of the entry, nodes where they share a spine, that a subtree of level k - 1 has room for. */
static int64_t tree_room(const struct topo_dim *dim, int32_t k)
{
    int64_t n = 1;
    for (int32_t i = 0; i < k; i++)
        n *= topo_tree_places(dim, i);
    return n;
}

/* Subtrees of level k - 1, the last of which may have missing members; leaves of all rails. */
static int64_t tree_subtrees(const struct topo_dim *dim, int32_t k)
{
    int64_t room = tree_room(dim, k);
    return (topo_group_size(dim) + room - 1) / room * (k == 1 ? topo_rails(dim) : 1);
}

/* Where NPU a of a group stands in the tree: the rails of a node are in leaves of their own, the NPUs of one
 * rail side by side. */
static int64_t tree_place(const struct topo_dim *dim, int64_t a)
{
    int64_t rails = topo_rails(dim), leaf = topo_tree_places(dim, 0), mates = topo_node(dim) / rails;
    int64_t i = a % topo_node(dim), node = a / topo_node(dim);
    return ((node / leaf * rails + i % rails) * leaf + node % leaf) * mates + i / rails;
}

/* Links up from a box of tier k = 1..: given, or what the members below leave after the taper. */
static int64_t tree_up(const struct topo_dim *dim, int32_t k)
{
    const struct topo_fabric *f = &dim->fabric;
    if (f->up[k - 1])
        return f->up[k - 1];
    double down = (double)topo_tree_size(dim, k - 1), taper = k <= f->n_taper ? f->taper[k - 1] : 1;
    return (int64_t)ceil(down / taper * (1 - 1e-12));
}

/* Boxes of tier k = 1.. on top of one subtree of level k - 1. */
static int64_t tree_boxes(const struct topo_dim *dim, int32_t k)
{
    int64_t n = 1;
    for (int32_t i = 1; i < k; i++)
        n *= tree_up(dim, i);
    return n;
}

/* The largest divisor of n that is at most `most`. */
static int64_t tree_divisor(int64_t n, int64_t most)
{
    int64_t d = n < most ? n : most;
    while (n % d)
        d--;
    return d;
}

static double tree_taper(const struct topo_fabric *f, int32_t k)
{
    return k < f->n_taper ? f->taper[k] : 1;
}

/* Members of each level from `size` and the ports of a box: as many below as leave ports for what goes up. A
 * level that members fill by less than half of that is refused, for it is not what was meant. */
static int tree_size_levels(struct topo_fabric *f, int64_t size, struct err *e)
{
    const struct topo_dim bare = { .fabric = *f, .size = 1 };
    int64_t rails = topo_rails(&bare), mates = topo_tree_size(&bare, 0), left = size;
    for (f->n_sizes = 0; f->n_sizes < TOPO_LEVELS; f->n_sizes++) {
        int32_t k = f->n_sizes;
        int64_t each = k > 1 ? 1
                       : k   ? rails
                             : mates,
                most = topo_clos_leaf_ends(f->radix, tree_taper(f, k)) / each;
        if (k > 0 && left * each <= f->radix) {
            f->sizes[f->n_sizes++] = (int32_t)left;
            return 0;
        }
        if (most < (k ? 1 : 2))
            return err_set(
                e, ERR_RANGE,
                "has boxes of %d ports, expected more: they cannot join %lld below and carry links "
                "up at taper %g",
                (int)f->radix, (long long)(k ? each : 2), tree_taper(f, k));
        int64_t n = tree_divisor(left, most);
        if (k == 0 && n == left && topo_node(&bare) == 1)
            return err_set(e, ERR_RANGE,
                           "has %lld members, which one box of %d ports joins; give shape: switch",
                           (long long)size, (int)f->radix);
        if (2 * n <= most && n < left)
            return err_set(
                e, ERR_RANGE,
                "has %lld members, which boxes of %d ports, at most %lld down, cannot share evenly; "
                "give a size such as %lld or %lld, or sizes",
                (long long)size, (int)f->radix, (long long)most,
                (long long)(size / left) * (left / most) * most,
                (long long)(size / left) * (left / most + 1) * most);
        f->sizes[k] = (int32_t)n;
        left /= n;
    }
    return err_set(e, ERR_RANGE,
                   "has %lld members, expected fewer: boxes of %d ports need more than %d levels",
                   (long long)size, (int)f->radix, TOPO_LEVELS);
}

/* Sizes were given, and so were the ports of a box: do they fit? */
static int tree_check_radix(const struct topo_dim *dim, struct err *e)
{
    for (int32_t k = 1; k <= dim->n_levels; k++) {
        int64_t up = k < dim->n_levels ? tree_up(dim, k) : 0, ports = topo_tree_size(dim, k - 1) + up;
        if (ports > dim->fabric.radix)
            return err_set(e, ERR_RANGE,
                           "has boxes of %lld links down and %lld up in tier %d, expected at most the %d of "
                           "radix: fewer members, or more taper",
                           (long long)(ports - up), (long long)up, (int)k, (int)dim->fabric.radix);
    }
    return 0;
}

/* Members that are there, of the places that sizes make: some below every box of the last tier. */
static int tree_check_filled(struct topo_fabric *own, const struct topo_dim *dim, struct err *e)
{
    long long places = 1, below = 1;
    for (int32_t k = 0; k < own->n_sizes; k++) {
        below = places;
        places *= own->sizes[k];
    }
    if (own->filled == places)
        own->filled = 0;
    if (own->filled > places || (own->filled && own->filled <= places - below))
        return err_set(e, ERR_RANGE,
                       "has %d members that are there, expected %lld to %lld of its sizes: other sizes",
                       (int)own->filled, places - below + 1, places);
    if (own->filled && own->balance == TOPO_HASH)
        return err_set(e, ERR_RANGE,
                       "has load_balance: hash and filled, whose collisions are not known; give one");
    if (own->filled && dim->in_switch != TOPO_IN_SWITCH_NONE)
        return err_set(e, ERR_RANGE, "has in_switch and filled, whose loads are not known; give one of them");
    return 0;
}

/* Flows that are hashed need several links to choose from. */
static int tree_check_hash(const struct topo_dim *dim, struct err *e)
{
    int64_t ways = topo_planes(dim);
    for (int32_t k = 1; k < dim->n_levels; k++)
        ways *= tree_up(dim, k);
    if (dim->fabric.balance == TOPO_HASH && ways == 1 && !dim->fabric.taper_free)
        return err_set(
            e, ERR_RANGE,
            "has load_balance: hash over one link up from every box, expected several: more up, or "
            "load_balance: spray");
    return 0;
}

static int tree_settle(struct topo_dim *dim, int32_t room, struct err *e)
{
    int rc = dim->size > 0 ? tree_size_levels(&dim->fabric, dim->size, e) : 0;
    if (rc)
        return rc;
    /* A taper of 1 where there is no level says nothing: radix may have found fewer than were thought of. */
    struct topo_fabric *own = &dim->fabric;
    while (own->n_taper > 0 && own->n_taper > own->n_sizes - 1 && own->taper[own->n_taper - 1] <= 1)
        own->n_taper--;
    const struct topo_fabric f = *own;
    if (f.n_sizes < 2)
        return err_set(e, ERR_RANGE, "has %d size%s, expected 2 to %d of a fat-tree, innermost first",
                       f.n_sizes, f.n_sizes == 1 ? "" : "s", TOPO_LEVELS);
    if (f.n_sizes > room)
        return err_set(e, ERR_RANGE, "has %d levels, expected at most %d: a network has %d dimensions",
                       f.n_sizes, room, TOPO_MAX_DIMS);
    if (f.n_taper > f.n_sizes - 1 || f.n_up > f.n_sizes - 1)
        return err_set(e, ERR_RANGE, "has more entries in %s than %d, one for each level above the leaf",
                       f.n_taper > f.n_sizes - 1 ? "taper" : "up", f.n_sizes - 1);
    rc = tree_check_filled(own, dim, e);
    if (rc)
        return rc;
    double boxes = 1;
    for (int32_t k = 0; k < f.n_up; k++)
        boxes *= f.up[k];
    if (boxes > TOPO_MAX_NPUS)
        return err_set(e, ERR_RANGE, "has %g boxes at the top, expected at most %d", boxes, TOPO_MAX_NPUS);
    dim->n_levels = f.n_sizes;
    for (int32_t k = 0; k < f.n_sizes; k++) {
        static const char *const classes[TOPO_LEVELS] = { "", "up1", "up2", "up3" };
        if (k > 0) {
            topo_level_init(dim, k, classes[k]);
            dim[k].lat_s = (k + 1) * dim->lat_s;
            dim[k].tie = f.taper_free ? 0 : 1 / tree_taper(&f, k - 1);
        }
        dim[k].size = !own->filled ? f.sizes[k] : k ? 1 : own->filled;
    }
    /* Links up alone say what goes up; beside a taper each of them is as fat as that asks for. */
    for (int32_t k = f.n_taper + 1; k <= f.n_up && k < dim->n_levels && !f.taper_free; k++)
        dim[k].tie = (double)f.up[k - 1] / (double)topo_tree_size(dim, k - 1);
    rc = tree_check_hash(dim, e);
    return !rc && f.radix ? tree_check_radix(dim, e) : rc;
}

/* Links down that the boxes on top of the last subtree of level k - 1 lack, of each rail's leaf: all its
 * boxes are alike. */
static int64_t tree_missing(const struct topo_dim *dim, int32_t k)
{
    int64_t below = tree_room(dim, k - 1), places = topo_tree_places(dim, k - 1);
    int64_t there = (topo_group_size(dim) + below - 1) / below, last = (there - 1) % places + 1;
    return (places - last) * topo_tree_size(dim, k - 1) / places;
}

/* Links of class k at each place of level k: of one subtree up, of its rails, or of the members of a node. */
static int64_t tree_cut_links(const struct topo_dim *dim, int32_t k)
{
    int64_t each = k > 1 ? 1 : k ? topo_rails(dim) : topo_node(dim);
    return each * (k ? tree_boxes(dim, k) * tree_up(dim, k) : 1);
}

/*
 * The first half of the members that are there against the others. The first ones, which fill no more
 * subtrees than the others stand in, are cut off; so are those of the subtree in the middle, which is cut in
 * two in turn.
 */
static void tree_filled_cut(struct shape_counts *c, const struct topo_dim *dim)
{
    int64_t n = topo_group_size(dim), left = n / 2;
    c->cut_is_bound = true;
    for (int32_t k = dim->n_levels; k-- > 0 && left > 0;) {
        int64_t below = tree_room(dim, k);
        c->cut[k] = left / below * tree_cut_links(dim, k);
        left %= below;
    }
}

static void tree_counts(struct shape_counts *c, const struct topo_dim *dim)
{
    int32_t v = dim->n_levels;
    int64_t n = topo_span(dim);
    *c = (struct shape_counts){
        .n_classes = v, .links = { n }, .degree_max = 1, .degree_min = 1, .connectivity = 1
    };
    c->hub_degree_min = INT64_MAX;
    for (int32_t k = 1; k <= v; k++) {
        int64_t boxes = tree_subtrees(dim, k) * tree_boxes(dim, k), up = k < v ? tree_up(dim, k) : 0;
        int64_t ports = topo_tree_size(dim, k - 1) + up, least = ports - tree_missing(dim, k);
        c->hubs += boxes;
        if (k < v)
            c->links[k] = boxes * up;
        c->ports = ports > c->ports ? ports : c->ports;
        c->hub_degree_min = least < c->hub_degree_min ? least : c->hub_degree_min;
    }
    if (dim->fabric.filled) {
        tree_filled_cut(c, dim);
        return;
    }
    /* Halves of the top level; of an odd one the subtree in the middle is cut in two, and so on down. */
    for (int32_t k = v; k-- > 0;) {
        c->cut[k] = dim[k].size / 2 * tree_cut_links(dim, k);
        if (dim[k].size % 2 == 0)
            break;
    }
}

double topo_tree_pairs(const struct topo_dim *dim, int32_t k)
{
    int64_t n = topo_group_size(dim), room = tree_room(dim, k), rest = n % room;
    return (double)(n - rest) * (double)room + (double)rest * (double)rest;
}

/* Pairs that meet at level k are 2 (k + 1) links apart. */
static void tree_distances(const struct topo_dim *dim, double *sum, int64_t *longest)
{
    *sum = 0;
    *longest = 0;
    for (int32_t k = 0; k < dim->n_levels; k++) {
        double pairs = topo_tree_pairs(dim, k + 1) - topo_tree_pairs(dim, k);
        *sum += 2 * (k + 1) * pairs;
        *longest = pairs > 0 ? 2 * ((int64_t)k + 1) : *longest;
    }
}

static double tree_link_Bps(const struct topo_dim *dim, int32_t cls, double bw_Bps)
{
    if (cls == 0)
        return bw_Bps;
    return bw_Bps * (double)tree_subtree(dim, cls) / (double)(tree_boxes(dim, cls) * tree_up(dim, cls));
}

/* Hub of tier k: box `a` on top of subtree `s` of level k - 1. */
static int64_t tree_hub(const struct topo_dim *dim, int32_t k, int64_t s, int64_t a)
{
    int64_t first = topo_span(dim);
    for (int32_t i = 1; i < k; i++)
        first += tree_subtrees(dim, i) * tree_boxes(dim, i);
    return first + s * tree_boxes(dim, k) + a;
}

/* Link `u` up from box `a` on top of subtree `s` of level k - 1. */
static int64_t tree_link(const struct topo_dim *dim, int32_t k, int64_t s, int64_t a, int64_t u)
{
    int64_t first = topo_span(dim);
    for (int32_t i = 1; i < k; i++)
        first += tree_subtrees(dim, i) * tree_boxes(dim, i) * tree_up(dim, i);
    return first + (s * tree_boxes(dim, k) + a) * tree_up(dim, k) + u;
}

static void tree_edges(const struct topo_dim *dim, void *x, void (*link)(void *x, int64_t a, int64_t b))
{
    int64_t n = topo_span(dim);
    for (int64_t i = 0; i < n; i++)
        link(x, i, tree_hub(dim, 1, tree_place(dim, i) / topo_tree_size(dim, 0), 0));
    for (int32_t k = 1; k < dim->n_levels; k++) {
        int64_t boxes = tree_boxes(dim, k), up = tree_up(dim, k);
        for (int64_t s = 0; s < tree_subtrees(dim, k); s++)
            for (int64_t a = 0; a < boxes; a++)
                for (int64_t u = 0; u < up; u++)
                    link(x, tree_hub(dim, k, s, a),
                         tree_hub(dim, k + 1, s / topo_tree_size(dim, k), a * up + u));
    }
}

/* Up to where the two meet and down again; the boxes are those of the destination, or so many further on. */
static int tree_way(const struct topo_dim *dim, int64_t a, int64_t b, int32_t other, void *x,
                    int (*step)(void *x, int64_t link, bool back, struct err *e), struct err *e)
{
    int32_t top = 1;
    if (a == b)
        return 0;
    int rc = step(x, a, false, e);
    int64_t last = b;
    a = tree_place(dim, a);
    b = tree_place(dim, b);
    while (a / tree_subtree(dim, top) != b / tree_subtree(dim, top))
        top++;
    int64_t box[TOPO_LEVELS + 1] = { 0 }, rest = b + other;
    for (int32_t k = 1; k < top && !rc; k++) {
        int64_t up = tree_up(dim, k), u = rest % up;
        rest /= up;
        rc = step(x, tree_link(dim, k, a / tree_subtree(dim, k), box[k], u), false, e);
        box[k + 1] = box[k] * up + u;
    }
    for (int32_t k = top; k-- > 1 && !rc;)
        rc = step(x, tree_link(dim, k, b / tree_subtree(dim, k), box[k], box[k + 1] % tree_up(dim, k)), true,
                  e);
    return rc ? rc : step(x, last, true, e);
}

/* Two members that meet in tier k are 2 k links apart: any box there will do. */
static int64_t tree_ways(const struct topo_dim *dim, int32_t links)
{
    return tree_boxes(dim, links / 2 < dim->n_levels ? links / 2 : dim->n_levels);
}

/* Subtrees of level k - 1 have as many links up from each of their boxes. */
static int64_t tree_up_links(const struct topo_dim *dim, int32_t k)
{
    return tree_boxes(dim, k) * tree_up(dim, k);
}

static int64_t tree_up_link(const struct topo_dim *dim, int32_t k, int64_t a, int64_t i)
{
    int64_t up = tree_up(dim, k);
    return tree_link(dim, k, tree_place(dim, a) / tree_subtree(dim, k), i / up, i % up);
}

/* A partly filled tree has no levels that groups fill: rings pass its members in order, out of a leaf once.
 */
static enum topo_algorithm tree_usual_along(const struct topo_dim *level)
{
    return level->fabric.filled ? TOPO_ALGORITHM_RING : TOPO_ALGORITHM_HALVING;
}

/* Steps of a flat group in sequence, in units of the latency within a leaf: those that meet at level k pass
 * 2 (k + 1) links instead of 2. Of halvings each step stays on one level, of others some member goes up to
 * the highest. */
static double tree_flat_hops(const struct shape_load *port, enum shape_pattern pattern,
                             const struct topo_dim *dim, const struct shape_group *g)
{
    int32_t top = g->node > g->mates ? 1 : 0;
    double halvings = 0;
    for (int32_t k = 0; k < dim->n_levels; k++) {
        top = g->members[k] > 1 && k > top ? k : top;
        halvings += (k + 1) * num_log2_up(g->members[k]);
    }
    return pattern == SHAPE_HALVING || pattern == SHAPE_FAR ? halvings : port->hops * (top + 1);
}

/* A member of a group of a partly filled tree, and those below the same subtree: places first .. end - 1. */
struct tree_member {
    enum shape_pattern pattern;
    const struct shape_group *g;
    int64_t base, stride, i, nodes; /**< place of member 0, and so on; the i-th of so many */
    int64_t first, end;
    int32_t level;
};

static double outside(const struct tree_member *x, int64_t i)
{
    int64_t at = x->base + i * x->stride;
    return at < x->first || at >= x->end ? 1 : 0;
}

/* Members of the group below the subtree. */
static double count_inside(const struct tree_member *x)
{
    int64_t from = x->first > x->base ? (x->first - x->base + x->stride - 1) / x->stride : 0;
    int64_t to = x->end > x->base ? (x->end - x->base + x->stride - 1) / x->stride : 0;
    return (double)((to < x->nodes ? to : x->nodes) - from);
}

/* What it sends to members elsewhere in the steps of an exchange, over S. */
static double exchanged_outside(const struct tree_member *x)
{
    double sum = 0;
    for (int64_t far = 1; far < x->nodes; far *= 2) {
        int64_t few = far < x->nodes - far ? far : x->nodes - far;
        if (x->pattern == SHAPE_BRUCK)
            sum += (double)few / (double)x->nodes * outside(x, (x->i + far) % x->nodes);
        else
            sum += (x->pattern == SHAPE_FAR ? (double)far / (double)x->nodes : 0.5 / (double)far) *
                   outside(x, x->i ^ far);
    }
    return sum;
}

/* What it sends out of the subtree, over S; @p in: what comes in for it, where that differs. */
static double sent_outside(const struct tree_member *x, double *in)
{
    double n = x->g->n, node = x->g->node > 1 ? x->g->node : 1, mates = x->g->node > 1 ? x->g->mates : 1;
    double sent = 0;
    *in = 0;
    switch (x->pattern) {
    case SHAPE_NEXT:
        return (n - 1) / n * outside(x, (x->i + 1) % x->nodes);
    case SHAPE_DIRECT:
        return x->level > 1 ? (n - count_inside(x) * node) / n
                            : (n - node - (count_inside(x) - 1) * mates) / n;
    case SHAPE_HALVING:
    case SHAPE_FAR:
    case SHAPE_BRUCK:
        return exchanged_outside(x);
    case SHAPE_SEND:
    case SHAPE_PASS:
        sent = x->i + 1 < x->nodes ? outside(x, x->i + 1) : 0;
        *in = x->i > 0 ? outside(x, x->i - 1) : 0;
        return sent;
    }
    return 0;
}

/* Class @p k of a partly filled tree: member by member, in all groups. The links of a subtree are those of a
 * full one. */
static void tree_filled_class(struct shape_load *out, enum shape_pattern pattern, const struct topo_dim *dim,
                              const struct shape_group *g, int32_t k)
{
    struct tree_member x = { .pattern = pattern, .g = g, .stride = shape_stride(g, 0), .level = k };
    int64_t all = topo_group_size(dim), room = tree_room(dim, k);
    double sum = 0, most = 0;
    x.nodes = g->n / (g->node > 1 ? g->node : 1);
    for (x.first = 0; x.first < all; x.first = x.end) {
        double up = 0, down = 0, in;
        x.end = x.first + room < all ? x.first + room : all;
        for (int64_t at = x.first; at < x.end; at++) {
            x.base = at / (x.stride * x.nodes) * x.stride * x.nodes + at % x.stride;
            x.i = (at - x.base) / x.stride;
            up += sent_outside(&x, &in);
            down += in;
        }
        up = up > down ? up : down;
        most = up > most ? up : most;
        sum += up;
    }
    out->load[k] = most / (double)room;
    out->mean[k] = sum / ceil((double)all / (double)room) / (double)room;
}

static void tree_filled_load(struct shape_load *out, enum shape_pattern pattern, const struct topo_dim *dim,
                             const struct shape_group *g)
{
    int32_t top = 0;
    out->load[0] = shape_beyond(pattern, g, 0);
    for (int32_t k = 1; k < dim->n_levels; k++) {
        tree_filled_class(out, pattern, dim, g, k);
        top = out->load[k] > 0 ? k : top;
    }
    out->hops *= top + 1;
}

static void tree_load(struct shape_load *out, enum shape_pattern pattern, const struct topo_dim *dim,
                      const struct shape_group *g)
{
    shape_port_load(out, pattern, g->n);
    if (dim->fabric.filled) {
        tree_filled_load(out, pattern, dim, g);
        return;
    }
    if (g->flat)
        out->hops = tree_flat_hops(out, pattern, dim, g);
    double sent = out->load[0];
    for (int32_t k = 0; k < dim->n_levels; k++)
        out->load[k] = g->flat ? shape_beyond(pattern, g, k) : k <= g->level ? sent : 0;
}

/* ---- parts ---- */

/* In one plane: ports that the boxes of tier k = 1.. on top of one subtree of level k - 1 need, for `below`
 * ports of links into them from below and the links up that the bandwidth of class k asks for. */
static double tree_ports(const struct topo_site *at, const struct topo_dim *dim, int32_t k, double below,
                         double *up_links)
{
    double link_Bps = topo_site_up_Bps(at) * topo_planes(dim);
    *up_links = k < dim->n_levels
                    ? topo_whole_parts((double)tree_subtree(dim, k) *
                                       at->bw_Bps[at->d - at->net->dims[at->d].level + k] / link_Bps)
                    : 0;
    return below + *up_links;
}

static int tree_need_parts(const struct topo_site *at, struct err *e)
{
    const struct topo_part *sw = &at->parts->parts[at->recipe->sw];
    if (at->recipe->up_link < 0)
        return err_set(e, ERR_RANGE, "tier \"%s\" is built without up_link, expected one: a fat-tree",
                       at->recipe->tier);
    if (sw->ports < 2)
        return err_set(e, ERR_RANGE,
                       "tier \"%s\" is built of switches sold by the port, expected boxes for a fat-tree",
                       at->recipe->tier);
    return 0;
}

/* Links up that a network of given bandwidths has are links of cables: not more of them than there are. With
 * a breakout a cable up is as fast as several end links, and fewer carry the same. */
static int tree_check_up(const struct topo_site *at, const struct topo_dim *dim, int32_t k, double cables,
                         struct err *e)
{
    const struct topo_recipe *r = at->recipe;
    double given = (double)(tree_boxes(dim, k) * dim->fabric.up[k - 1]), up_Bps = topo_site_up_Bps(at);
    double below_Bps = (double)tree_subtree(dim, k) * at->bw_Bps[at->d - at->net->dims[at->d].level + k - 1] /
                       topo_planes(dim);
    if (r->breakout < 2 || isnan(at->net->dims[at->d].bw_Bps) || given <= cables)
        return 0;
    return err_set(
        e, ERR_RANGE,
        "up gives %g links up in tier %d, and what goes up fills %g cables of %g GB/s (breakout: %lld): give "
        "taper %.6g there beside up, which fills them, or fewer",
        given, (int)k, cables, up_Bps / 1e9, (long long)r->breakout, below_Bps / given / up_Bps);
}

/* Per B/s of one NPU: its class's links and the ports at their ends, as shares of boxes. */
static int tree_relax(struct topo_items *out, const struct topo_site *at, int32_t level)
{
    const struct topo_part *parts = at->parts->parts;
    const struct topo_recipe *r = at->recipe;
    double npus = (double)at->net->n_npus * (level ? 1 : topo_nic_surplus(&at->net->dims[at->d])),
           ports_per_Bps = npus / topo_site_up_Bps(at);
    if (level == 0 && r->nic >= 0)
        topo_add_item(out, r->nic, NULL, npus / topo_site_port_Bps(at) / (double)parts[r->nic].ports);
    topo_add_item(out, level ? r->up_link : r->end_link, level ? "up link" : "end link",
                  level ? ports_per_Bps : npus / topo_site_link_Bps(at));
    topo_add_item(out, r->sw, "switch", ports_per_Bps * (level ? 2 : 1) / (double)parts[r->sw].ports);
    return 0;
}

/*
 * Whole parts. The first level buys NICs, end links and leaves; level k the links up from tier k and the
 * boxes of tier k + 1, with even_spread a divisor of the links up. With a breakout several end links share a
 * port of the leaf. A leaf that has links + links up for all
 * its members in one box; where one NPU has several links, each may have leaves of its own (planes), which is
 * where a box is too small for all.
 */
static int tree_parts(struct topo_items *out, const struct topo_site *at, struct err *e)
{
    static const char *const tiers[TOPO_LEVELS] = { "leaf", "spine", "core", "top" };
    const struct topo_recipe *r = at->recipe;
    const struct topo_dim *dim = &at->net->dims[at->d - at->net->dims[at->d].level];
    int32_t level = at->net->dims[at->d].level;
    int rc = tree_need_parts(at, e);
    if (rc || !at->bw_Bps)
        return rc ? rc : tree_relax(out, at, level);
    double npus = (double)at->net->n_npus, radix = (double)at->parts->parts[r->sw].ports, up, above;
    double planes = topo_planes(dim), trees = npus / (double)topo_span(dim);
    if (level == 0) {
        double ends = topo_end_links(at);
        rc = topo_check_planes(at, e);
        if (!rc)
            rc = topo_check_nics(at, (int32_t)topo_tree_size(dim, 0), e);
        if (rc)
            return rc;
        double members = (double)topo_tree_size(dim, 0), each = (double)r->breakout;
        double leaf = tree_ports(at, dim, 1, topo_whole_parts(members * ends / each), &up);
        double plane = each > 1 ? ceil(topo_whole_parts(members / each) + up / ends) : ceil(leaf / ends);
        if (leaf > radix && plane > radix)
            return err_set(e, ERR_RANGE,
                           "a leaf of %d members needs %g ports, expected at most the %g of a switch: fewer "
                           "members, or more taper",
                           (int)members, plane, radix);
        double boxes = planes * (leaf <= radix ? 1 : ceil(ends / floor(radix / plane)));
        topo_add_nics(out, at);
        struct topo_loss link = topo_plane_loss(planes, 1, 1), box = topo_plane_loss(planes, members, 1);
        box.above = dim->n_levels > 1;
        topo_add_failing(out, r->end_link, "end link", npus * planes * ends, &link);
        boxes *= trees * (double)tree_subtrees(dim, 1);
        topo_add_failing(out, r->sw, tiers[0], boxes, &box);
        out->boxes = (int64_t)boxes;
        return 0;
    }
    tree_ports(at, dim, level, 0, &up);
    rc = tree_check_up(at, dim, level, up, e);
    if (rc)
        return rc;
    double subtrees = trees * (double)tree_subtrees(dim, level),
           parents = trees * (double)tree_subtrees(dim, level + 1);
    double ports = tree_ports(at, dim, level + 1, (double)topo_tree_size(dim, level) * up, &above);
    double boxes = ceil(ports / radix);
    if (boxes > up)
        return err_set(e, ERR_RANGE,
                       "%g boxes of %g ports join %lld subtrees of %g links up each in level %d, expected a "
                       "link of each to every box: fewer subtrees, or one more level",
                       boxes, radix, (long long)topo_tree_size(dim, level), up, (int)level);
    if (r->even_spread)
        boxes = (double)topo_even_boxes((int64_t)up, (int64_t)boxes);
    /* Of the links up from one subtree, one or those to one box. */
    double below = (double)tree_subtree(dim, level);
    struct topo_loss link = topo_path_loss(planes * up, below, 1),
                     box = topo_path_loss(planes * up / ceil(up / boxes), npus / parents, 1);
    box.above = level + 1 < dim->n_levels;
    boxes *= parents * planes;
    topo_add_failing(out, r->up_link, "up link", subtrees * planes * up, &link);
    topo_add_failing(out, r->sw, tiers[level], boxes, &box);
    out->boxes = (int64_t)boxes;
    return 0;
}

const struct shape_ops shape_fat_tree = {
    .any_traffic = true,
    .algorithms = 1u << TOPO_ALGORITHM_RING | 1u << TOPO_ALGORITHM_DIRECT | 1u << TOPO_ALGORITHM_HALVING |
                  1u << TOPO_ALGORITHM_BRUCK | 1u << TOPO_ALGORITHM_SWITCH | 1u << TOPO_ALGORITHM_FAR,
    .reduces = 1u << TOPO_IN_SWITCH_SHARP,
    .switched = true,
    .one_port = true,
    .lanes = SHAPE_ONE,
    .reach = 1,
    .hop_share = 0.5,
    .own_keys = SHAPE_KEY_SIZES | SHAPE_KEY_TAPER | SHAPE_KEY_UP | SHAPE_KEY_RADIX | SHAPE_KEY_SPINE |
                SHAPE_KEY_FORWARD | SHAPE_KEY_PLANES | SHAPE_KEY_NICS | SHAPE_KEY_RAILS | SHAPE_KEY_BALANCE |
                SHAPE_KEY_FLOWS | SHAPE_KEY_FILLED,
    .settle = tree_settle,
    .counts = tree_counts,
    .distances = tree_distances,
    .link_Bps = tree_link_Bps,
    .edges = tree_edges,
    .way = tree_way,
    .ways = tree_ways,
    .up_link = tree_up_link,
    .up_links = tree_up_links,
    .usual = TOPO_ALGORITHM_HALVING,
    .usual_along = tree_usual_along,
    .load = tree_load,
    .parts = tree_parts,
};
