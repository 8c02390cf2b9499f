/*
 * Networks as dimensions: their keys in YAML, one-line words like "ring:4@250 switch:8@50", checks and
 * printing. What one group has comes from its shape (topo/shape.h); the whole in numbers: topo/metric.h.
 */
#include "topo/network.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "topo/uses.h"

const struct use study_uses[N_STUDY_USES] = {
    { "for training time and the bandwidth split" },
    { "by models other than bandwidth" },
    { "for the price of the network" },
    { "where prices come from a parts catalogue" },
    { "by compute and memory models" },
    { "where the price or power of NPUs is counted" },
    { "where an allocator chooses bandwidths" },
    { "by model chunk" },
    { "by model flow" },
    { "by models other than bandwidth" },
    { "with system" },
};

const char *const topo_latency_words[] = { "chunk", "collective", NULL };

const char *const topo_in_switch_words[] = { "none", "sharp", "nvls", NULL };

/* ---- how collectives run on a dimension ---- */

static const struct key regime_keys[] = {
    K_REAL_OR(struct topo_regime, lat_s, "latency_ns", "ns", 1e-9, 0, 1e9, NAN, "latency of one message",
              .required = true, .uses = USE_LATENCY),
    K_REAL_OR(struct topo_regime, efficiency, "efficiency", "", 1, 1e-3, 1, NAN,
              "share of bw_GBps that a collective reaches", .required = true, .uses = USE_LATENCY),
    K_REAL_OR(struct topo_regime, up_to_B, "up_to_KB", "kB", 1e3, 1e-3, 1e12, INFINITY,
              "buffers up to this size use it, whatever is faster (default: any size that it is fastest for)",
              .uses = USE_LATENCY),
};

K_SECTION(topo_regime_section, struct topo_regime, "dims.regimes", regime_keys,
          "a protocol: another latency and efficiency, for sizes up to a limit or where it is fastest",
          STUDY_USES);

const char *const topo_measured_words[] = { "all-reduce", "reduce-scatter", "all-gather", NULL };

static const struct key curve_keys[] = {
    K_WORD_OR(struct topo_curve, collective, "collective", topo_measured_words, TOPO_MEASURED_ALL_REDUCE,
              "collective that was measured", .required = true, .uses = USE_LATENCY),
    K_COUNT_OR(struct topo_curve, members, "members", 2, TOPO_MAX_SIZE, 0,
               "of this dimension that took part; larger groups up to the next number use that one's, beyond "
               "the last the last (default: any number)",
               .uses = USE_LATENCY),
    K_REAL_OR(struct topo_curve, line.lat_s, "latency_ns", "ns", 1e-9, 0, 1e9, NAN, "latency of one message",
              .required = true, .uses = USE_LATENCY),
    K_REAL_OR(struct topo_curve, line.efficiency, "efficiency", "", 1, 1e-3, 1, NAN,
              "share of bw_GBps that was reached", .required = true, .uses = USE_LATENCY),
    K_REAL_OR(struct topo_curve, line.up_to_B, "up_to_KB", "kB", 1e3, 1e-3, 1e12, INFINITY,
              "largest buffer that this row is for (default: any beyond the limits of the other rows)",
              .uses = USE_LATENCY),
};

K_SECTION(topo_curve_section, struct topo_curve, "dims.curves", curve_keys,
          "a stretch of a measured curve, as weft calibrate --curves writes it; a list of these, or its file",
          STUDY_USES);

static bool has_algorithm(const struct topo_dim *dim, enum topo_algorithm a)
{
    return topo_ops(dim)->algorithms >> a & 1;
}

/* "a switch", "switch or full": shapes that have @p a. */
static void list_shapes_with(struct text *out, enum topo_algorithm a)
{
    int32_t n = 0;
    if (a >= TOPO_ALGORITHM_FAR) {
        text_puts(out, "a fabric that has it");
        return;
    }
    for (int32_t s = N_TOPO_PLAIN; s-- > 0;)
        n += (int32_t)(topo_shapes[s]->algorithms >> a & 1);
    text_puts(out, n == 1 ? "a " : "");
    for (int32_t s = N_TOPO_PLAIN, listed = 0; s-- > 0;)
        if (topo_shapes[s]->algorithms >> a & 1)
            text_printf(out, "%s%s", listed++ == 0 ? "" : listed == n ? " or " : ", ", topo_shape_words[s]);
}

static int fail_algorithm(const struct topo_dim *dim, enum topo_algorithm a, struct err *e)
{
    struct text known = { 0 };
    list_shapes_with(&known, a);
    err_set(e, ERR_RANGE, "is %s on shape %s, expected %s", topo_algorithm_words[a],
            topo_shape_name(dim->shape), text_str(&known));
    text_free(&known);
    return ERR_RANGE;
}

static int fail_fabric_algorithm(const struct topo_dim *dim, enum topo_algorithm a, struct err *e)
{
    struct text known = { 0 };
    for (int32_t k = TOPO_ALGORITHM_RING; k < N_TOPO_ALGORITHMS; k++)
        if (has_algorithm(dim, (enum topo_algorithm)k))
            text_printf(&known, ", %s", topo_algorithm_words[k]);
    err_set(e, ERR_RANGE, "is %s on shape %s, expected default, auto%s", topo_algorithm_words[a],
            topo_shape_name(dim->shape), text_str(&known));
    text_free(&known);
    return ERR_RANGE;
}

int topo_check_algorithm(const struct topo_dim *dim, enum topo_algorithm a, struct err *e)
{
    int64_t n = topo_group_size(dim);
    if ((a == TOPO_ALGORITHM_HALVING || a == TOPO_ALGORITHM_FAR) && !num_is_power_of_two(n))
        return err_set(e, ERR_RANGE, "is %s on %lld members, expected a power of two%s",
                       topo_algorithm_words[a], (long long)n,
                       has_algorithm(dim, TOPO_ALGORITHM_BRUCK) ? ", or bruck" : "");
    bool chosen = a != TOPO_ALGORITHM_SHAPE && a != TOPO_ALGORITHM_AUTO;
    if (topo_is_fabric(dim) && chosen && !has_algorithm(dim, a))
        return fail_fabric_algorithm(dim, a, e);
    if (a == TOPO_ALGORITHM_SWITCH && dim->in_switch == TOPO_IN_SWITCH_NONE)
        return err_set(e, ERR_RANGE, "is %s on a dimension whose switches do not reduce; give in_switch",
                       topo_algorithm_words[a]);
    if ((a == TOPO_ALGORITHM_TREE || a == TOPO_ALGORITHM_BRUCK || a >= TOPO_ALGORITHM_FAR) &&
        !has_algorithm(dim, a))
        return fail_algorithm(dim, a, e);
    return 0;
}

int topo_check_in_switch(const struct topo_dim *dim, struct err *e)
{
    const char *word = topo_in_switch_words[dim->in_switch], *shape = topo_shape_name(dim->shape);
    uint32_t reduces = topo_ops(dim)->reduces;
    if (dim->in_switch == TOPO_IN_SWITCH_NONE || reduces >> dim->in_switch & 1)
        return 0;
    return reduces ? err_set(e, ERR_RANGE, "is %s on shape %s, expected sharp", word, shape)
                   : err_set(e, ERR_RANGE, "is %s on shape %s, expected a switch or fat-tree", word, shape);
}

static int check_regimes(const struct topo_dim *dim, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    yaml_each (id, doc, yaml_get(doc, map, "regimes")) {
        const struct topo_regime *r = &dim->regimes[doc->nodes[id].index];
        for (const struct topo_regime *before = dim->regimes; before < r; before++)
            if (isfinite(r->up_to_B) && before->up_to_B == r->up_to_B)
                return yaml_fail(doc, yaml_get(doc, id, "up_to_KB"), e, ERR_RANGE,
                                 "is %g, which is the limit of another regime; choose another",
                                 r->up_to_B / 1e3);
    }
    return 0;
}

/* Of each collective and number of members one row has no limit, and no two the same one. */
static int check_curves(const struct topo_dim *dim, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    yaml_id list = yaml_get(doc, map, "curves");
    if (topo_is_fabric(dim))
        return yaml_fail_key(doc, list, e, ERR_RANGE,
                             "is given on shape %s, expected ring, full, switch or line",
                             topo_shape_name(dim->shape));
    yaml_each (id, doc, list) {
        const struct topo_curve *row = &dim->curves[doc->nodes[id].index];
        int32_t unlimited = 0;
        for (const struct topo_curve *c = dim->curves; c < dim->curves + dim->n_curves; c++) {
            if (c->collective != row->collective || c->members != row->members)
                continue;
            unlimited += isinf(c->line.up_to_B);
            if (c < row && c->line.up_to_B == row->line.up_to_B && isfinite(c->line.up_to_B))
                return yaml_fail(doc, yaml_get(doc, id, "up_to_KB"), e, ERR_RANGE,
                                 "is %g, which is the limit of another row; choose another",
                                 row->line.up_to_B / 1e3);
        }
        if (unlimited != 1)
            return yaml_fail(doc, id, e, ERR_RANGE,
                             "is one of %d rows of its collective and members without up_to_KB, expected one",
                             (int)unlimited);
    }
    return 0;
}

static int check_collectives(const struct topo_dim *dim, const struct yaml_doc *doc, yaml_id map,
                             struct err *e)
{
    struct err inner = { 0 };
    if (topo_check_in_switch(dim, &inner))
        return yaml_fail(doc, yaml_get(doc, map, "in_switch"), e, inner.code, "%s", inner.msg);
    if (dim->in_switch == TOPO_IN_SWITCH_NONE && yaml_get(doc, map, "in_switch_min") >= 0)
        return yaml_fail_key(doc, yaml_get(doc, map, "in_switch_min"), e, ERR_RANGE,
                             "is given where switches do not reduce; give in_switch");
    if (topo_check_algorithm(dim, dim->algorithm, &inner))
        return yaml_fail(doc, yaml_get(doc, map, "algorithm"), e, inner.code, "%s", inner.msg);
    int rc = dim->n_regimes ? check_regimes(dim, doc, map, e) : 0;
    return !rc && dim->n_curves ? check_curves(dim, doc, map, e) : rc;
}

/* ---- a dimension ---- */

/* A number for the first level above the leaf, a list for more, or "free". */
enum {
    MAX_TAPER = 65536,
    MAX_UP = 65536,
    MAX_PLANES = 1024,
    MAX_FLOWS = 1024,
    MAX_Q = 1024,
    MAX_RAILS_TOLD = 1024
};

static int read_taper(void *field, const struct key *k, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    struct topo_fabric *f = (struct topo_fabric *)field;
    f->n_taper = 0;
    f->taper_free = false;
    if (id < 0)
        return 0;
    if (doc->nodes[id].kind == YAML_SCALAR && strcmp(doc->nodes[id].text, "free") == 0) {
        f->taper_free = true;
        return 0;
    }
    bool list = doc->nodes[id].kind == YAML_SEQ;
    yaml_id at = list ? doc->nodes[id].first : id;
    for (; at >= 0; at = list ? doc->nodes[at].next : -1) {
        double x;
        if (doc->nodes[at].kind != YAML_SCALAR || !num_parse_real(doc->nodes[at].text, &x))
            return yaml_fail(doc, at, e, ERR_PARSE, "is %s, expected a number (2 for 2:1), or free",
                             doc->nodes[at].kind == YAML_SCALAR ? doc->nodes[at].text : "nested");
        if (!(x >= k->min && x <= k->max))
            return yaml_fail(doc, at, e, ERR_RANGE, "is %g, expected %g to %g, or free", x, k->min, k->max);
        if (f->n_taper == TOPO_LEVELS - 1)
            return yaml_fail(doc, id, e, ERR_RANGE,
                             "has more than %d entries, expected one per level above the leaf",
                             TOPO_LEVELS - 1);
        f->taper[f->n_taper++] = x;
    }
    return f->n_taper ? 0 : yaml_fail(doc, id, e, ERR_RANGE, "is empty, expected at least one number");
}

/* A number for all links of an entry; of a list, for those of each axis, the first, see settle_axes(). */
static int read_links(void *field, const struct key *k, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    double *first_Bps = (double *)field;
    bool list = id >= 0 && doc->nodes[id].kind == YAML_SEQ;
    *first_Bps = NAN;
    for (yaml_id at = list ? doc->nodes[id].first : id; at >= 0; at = list ? doc->nodes[at].next : -1) {
        double x;
        int rc = yaml_real(doc, at, &x, e);
        if (rc)
            return rc;
        if (!(x >= k->min && x <= k->max))
            return yaml_fail(doc, at, e, ERR_RANGE, "is %g, expected %g to %g", x, k->min, k->max);
        *first_Bps = isnan(*first_Bps) ? num_scaled(doc->nodes[at].text, 9) : *first_Bps;
    }
    return list && isnan(*first_Bps)
               ? yaml_fail(doc, id, e, ERR_RANGE, "is empty, expected at least one number")
               : 0;
}

/** Nodes that have so many NICs. */
struct nic_kind {
    double share, nics;
};

/* Of one NPU: 64 is beyond any, 1/64 a NIC for 64. */
enum { MAX_NICS = 64 };

static const struct key nic_kind_keys[] = {
    K_REAL_OR(struct nic_kind, share, "share", "", 1, 1e-6, 1, NAN, "share of all NPUs that are of this kind",
              .required = true),
    K_REAL_OR(struct nic_kind, nics, "nics", "", 1, 1.0 / MAX_NICS, MAX_NICS, NAN, "NICs of one such NPU",
              .required = true),
};

K_SECTION(topo_nics_section, struct nic_kind, "dims.nics", nic_kind_keys,
          "a kind of nodes, where they differ in NICs; the shares of all kinds add up to 1", STUDY_USES);

/* A number, or kinds of nodes. */
static int read_nics(void *field, const struct key *k, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    struct topo_fabric *f = (struct topo_fabric *)field;
    double sum = 0;
    int rc = 0;
    f->nics = f->nics_least = 0;
    if (id < 0)
        return 0;
    if (doc->nodes[id].kind != YAML_SEQ) {
        rc = yaml_real(doc, id, &f->nics, e);
        f->nics_least = f->nics;
        if (!rc && !(f->nics >= k->min && f->nics <= k->max))
            rc = yaml_fail(doc, id, e, ERR_RANGE, "is %g, expected %g to %g", f->nics, k->min, k->max);
        return rc;
    }
    yaml_each (row, doc, id) {
        struct nic_kind kind;
        rc = schema_read(&kind, &topo_nics_section, doc, row, e);
        if (rc)
            return rc;
        sum += kind.share;
        f->nics += kind.share * kind.nics;
        f->nics_least = f->nics_least > 0 ? fmin(f->nics_least, kind.nics) : kind.nics;
    }
    if (!(fabs(sum - 1) <= 1e-9))
        return yaml_fail(doc, id, e, ERR_RANGE, "has shares that add up to %g, expected 1", sum);
    return 0;
}

static const struct key level_size = { .name = NULL,
                                       .help = NULL,
                                       .kind = KEY_I32,
                                       .scale = 1,
                                       .min = 1,
                                       .max = TOPO_MAX_SIZE,
                                       .dflt = SCHEMA_NONE };
static const struct key level_up = {
    .name = NULL, .help = NULL, .kind = KEY_I32, .scale = 1, .min = 1, .max = MAX_UP, .dflt = SCHEMA_NONE
};

static const struct key dim_keys[] = {
    K_NAME(struct topo_dim, name, "name", 1, "as constraints call it (default: dim1, dim2, ...)"),
    K_WORD_OR(struct topo_dim, shape, "shape", topo_shape_words, 0, "how its members are joined",
              .required = true),
    K_COUNT_OR(struct topo_dim, size, "size", TOPO_MIN_SIZE, TOPO_MAX_SIZE, 0,
               "members along this dimension"),
    K_REAL_OR(struct topo_dim, bw_Bps, "bw_GBps", "GB/s", 1e9, TOPO_MIN_BW_GBps, TOPO_MAX_BW_GBps, NAN,
              "what one NPU sends into it, one direction, all links: of a torus those of all axes together "
              "(default: to "
              "be allocated)",
              .decimals = 9),
    K_OWN(struct topo_dim, link_Bps, "link_GBps", read_links,
          "instead: bandwidth of one link, one direction; a torus of three axes has six per NPU. torus, "
          "hyperx and hammingmesh also take a list, one per axis (default: bw_GBps)",
          .unit = "GB/s", .min = TOPO_MIN_BW_GBps, .max = TOPO_MAX_BW_GBps,
          .form = "number or list of numbers"),
    K_REAL(struct topo_dim, min_Bps, "min_GBps", "GB/s", 1e9, 0, TOPO_MAX_BW_GBps, 0,
           "least bandwidth an allocator may give it", .decimals = 9, .uses = USE_SPLIT),
    K_REAL_OR(struct topo_dim, max_Bps, "max_GBps", "GB/s", 1e9, TOPO_MIN_BW_GBps, TOPO_MAX_BW_GBps, INFINITY,
              "most bandwidth an allocator may give it (default: no cap)", .decimals = 9, .uses = USE_SPLIT),
    K_REAL(struct topo_dim, lat_s, "latency_ns", "ns", 1e-9, 0, 1e9, 0,
           "latency of one message from an NPU to the next one, switch included", .uses = USE_LATENCY),
    K_WORD(
        struct topo_dim, latency_per, "latency_per", topo_latency_words, TOPO_PER_CHUNK,
        "what pays latency_ns, and that of regimes: each of simulation.chunks, or all of them together, as "
        "weft calibrate measures it (curves always)",
        .uses = USE_LATENCY),
    K_REAL(struct topo_dim, efficiency, "efficiency", "", 1, 1e-3, 1, 1,
           "share of bw_GBps that a collective reaches"),
    K_REAL_OR(struct topo_dim, all_to_all, "all_to_all_efficiency", "", 1, 1e-3, 1, NAN,
              "share of bw_GBps that an all-to-all reaches (default: efficiency)"),
    K_REAL_OR(struct topo_dim, dispatch, "dispatch_efficiency", "", 1, 1e-3, 1, NAN,
              "share of bw_GBps that tokens reach on their way to experts with copies merged (default: "
              "efficiency)"),
    K_WORD(
        struct topo_dim, algorithm, "algorithm", topo_algorithm_words, TOPO_ALGORITHM_SHAPE,
        "how its members carry out a collective; default: in-switch where there is that, else ring, direct "
        "(full) or halving-doubling (switch), over several axes of a torus mixed-orders; auto: the fastest",
        .uses = USE_ALGORITHM),
    K_BOOL(
        struct topo_dim, detour, "detour", 0,
        "full: parts of it exchange through the other members too, by two links; true evens out all links"),
    K_WORD(struct topo_dim, in_switch, "in_switch", topo_in_switch_words, TOPO_IN_SWITCH_NONE,
           "what its switches reduce themselves: a stream that passes (sharp), or data that an owner "
           "loads and stores to all (nvls; of a switch alone)",
           .uses = USE_LATENCY),
    K_COUNT(struct topo_dim, in_switch_min, "in_switch_min", 2, TOPO_MAX_SIZE, 2,
            "members that a group needs in this entry for its switches to reduce", .uses = USE_LATENCY),
    K_LIST(
        struct topo_dim, regimes, n_regimes, "regimes", 1, &topo_regime_section,
        "list of other latencies and efficiencies, of which the fastest is taken by size; see dims.regimes",
        .what = "regimes", .uses = USE_LATENCY),
    K_LIST(
        struct topo_dim, curves, n_curves, "curves", 1, &topo_curve_section,
        "measured collectives, by members and size, in place of latency_ns, efficiency and regimes; a list "
        "or a file with one, see dims.curves",
        .what = "rows", .uses = USE_LATENCY, .form = "file or list of <dims.curves>"),
    K_NAME(struct topo_dim, tier, "tier", 1, "row of the price table", .uses = USE_COST),
    K_LIST_OF(struct topo_dim, fabric.sizes, fabric.n_sizes, "sizes", 1, &level_size,
              "of a fabric, instead of size: members of each level, innermost first; fat-tree: of a leaf, "
              "leaves of a pod, pods; torus, hyperx: of each axis; hammingmesh: NPUs of a board's row and "
              "column, boards of a row and column"),
    K_OWN(
        struct topo_dim, fabric, "taper", read_taper,
        "fat-tree: oversubscription (2 for 2:1), bandwidth below a level over that above it, from the leaves "
        "up; 1 above those given; free: the split decides how much goes up",
        .min = 1, .max = MAX_TAPER, .form = "number or list of numbers or word"),
    K_LIST_OF(
        struct topo_dim, fabric.up, fabric.n_up, "up", 1, &level_up,
        "fat-tree: links up from a box of each tier; without taper they are all that goes up, 22 over 42 "
        "members a taper of 1.909 (default: as many as the members below leave after the taper)"),
    K_COUNT_OR(struct topo_dim, fabric.radix, "radix", 2, MAX_UP, 0,
               "fat-tree: ports of every box; beside size it makes the sizes, as many members below a box as "
               "leave ports for what the taper lets up; beside sizes it is held against them. hammingmesh: "
               "ports of a switch, held against the two of each board in a row or column"),
    K_WORD(struct topo_dim, fabric.spine, "spine", topo_spine_words, TOPO_SPINE_OWN,
           "fat-tree: own, each group of this dimension has a tree of its own; shared, NPU i of every node "
           "(the dimensions before) is on rail i, leaves belong to a rail and one spine joins them all"),
    K_COUNT_OR(
        struct topo_dim, fabric.rails, "rails", 1, TOPO_MAX_SIZE, 0,
        "with spine: shared: rails, NPU i of a node is on rail i mod rails; 1 is a plain tree below all of "
        "them (default: as many as a node has NPUs)"),
    K_COUNT_OR(
        struct topo_dim, fabric.filled, "filled", 2, TOPO_MAX_NPUS, 0,
        "fat-tree: members that are there, the last ones are missing; groups see one level of so many, "
        "boxes and links between them are as the sizes say (default: all)"),
    K_BOOL(struct topo_dim, fabric.forward, "forward", false,
           "with spine: shared: an all-to-all changes rails inside the node, not in the spine (PXN)"),
    K_COUNT_OR(struct topo_dim, fabric.planes, "planes", 1, MAX_PLANES, 0,
               "switch, fat-tree, hammingmesh: copies of the network side by side; an NPU has ports of "
               "1/planes of bw_GBps "
               "into all of them, and sends by all alike (default: one)"),
    K_OWN(struct topo_dim, fabric, "nics", read_nics,
          "switch, fat-tree: NICs of one NPU, each with its share of bw_GBps; 0.5: two NPUs share one; or a "
          "list "
          "of kinds of nodes, of which bw_GBps is that with the fewest, whom all wait for, see dims.nics "
          "(default: as many as the bandwidth needs)",
          .min = 1.0 / MAX_NICS, .max = MAX_NICS, .uses = USE_COST, .form = "number or list of <dims.nics>"),
    K_WORD(
        struct topo_dim, fabric.balance, "load_balance", topo_balance_words, TOPO_SPRAY,
        "fat-tree: spray, all links up are loaded alike (adaptive InfiniBand, Spectrum-X, UEC); hash, each "
        "flow takes one of them (plain RoCE), and the fullest decides"),
    K_COUNT_OR(struct topo_dim, fabric.flows_per_pair, "flows_per_pair", 1, MAX_FLOWS, 0,
               "with load_balance: hash: flows of a message between two NPUs, such as queue pairs (default: "
               "1, as NCCL_IB_QPS_PER_CONNECTION)"),
    K_WORD_OR(
        struct topo_dim, fabric.routing, "routing", topo_routing_words, TOPO_ROUTING_USUAL,
        "dragonfly, dragonfly+, slim-fly, hyperx: minimal, the shortest ways; valiant, two of them, by a "
        "router drawn from all; adaptive, of each collective the share by two that is fastest (default: "
        "adaptive, as such machines are built; hyperx with detour: minimal)"),
    K_BOOL(
        struct topo_dim, fabric.twist, "twist", false,
        "torus of sizes k x 2k, k x k x 2k or k x 2k x 2k: wraps of the short axes lead k further along the "
        "long ones"),
    K_BOOL(
        struct topo_dim, fabric.ocs, "ocs", false,
        "torus of sizes that are multiples of 4: cubes of 4 x 4 x 4 joined by optical circuit switches (the "
        "recipe's switch, by up_link)",
        .uses = USE_COST),
    K_COUNT_OR(
        struct topo_dim, fabric.links, "links", 1, MAX_UP, 0,
        "dragonfly: links of a router to other groups; its sizes: NPUs of a router, routers of a group, "
        "groups. dragonfly+: of a spine; its sizes: NPUs of a leaf, leaves of a group, groups"),
    K_COUNT_OR(struct topo_dim, fabric.spines, "spines", 1, MAX_UP, 0,
               "dragonfly+: spines of a group, each joined to all its leaves"),
    K_COUNT_OR(struct topo_dim, fabric.hosts, "hosts", 1, TOPO_MAX_SIZE, 0,
               "instead of sizes, of a dragonfly, dragonfly+ or slim-fly: NPUs of a router or leaf; beside "
               "sizes, of a hyperx: NPUs of a router (default: the NPUs are the routers)"),
    K_COUNT_OR(struct topo_dim, fabric.routers, "routers", 1, TOPO_MAX_SIZE, 0,
               "instead of sizes, of a dragonfly: routers of a group"),
    K_COUNT_OR(struct topo_dim, fabric.leaves, "leaves", 1, TOPO_MAX_SIZE, 0,
               "instead of sizes, of a dragonfly+: leaves of a group"),
    K_COUNT_OR(struct topo_dim, fabric.groups, "groups", 1, TOPO_MAX_SIZE, 0,
               "instead of sizes, of a dragonfly or dragonfly+: groups"),
    K_COUNT_OR(struct topo_dim, fabric.q, "q", 1, MAX_Q, 0,
               "instead of sizes, of a slim-fly: it has 2 q^2 routers, q a prime power"),
};

static void name_dim(struct topo_dim *dim, int32_t d)
{
    snprintf(dim->name, sizeof dim->name, "dim%d", (int)d + 1);
}

void topo_dim_defaults(struct topo_dim *dim, int32_t d)
{
    *dim = (struct topo_dim){ .size = 0 };
    schema_defaults(dim, &topo_dim_section);
    name_dim(dim, d);
}

static bool is_name(const char *s)
{
    if (!isalpha((unsigned char)*s) && *s != '_')
        return false;
    while (isalnum((unsigned char)*s) || *s == '_' || *s == '-')
        s++;
    return *s == '\0';
}

static bool is_sum(const char *name)
{
    static const char *const reserved[] = { "total", "usd", "nic_usd", "watt" };
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (strcmp(name, reserved[i]) == 0)
            return true;
    return false;
}

static int check_dim_name(const char *name, const struct yaml_doc *doc, yaml_id node, struct err *e)
{
    if (!is_name(name))
        return yaml_fail(doc, node, e, ERR_PARSE,
                         "is \"%s\", expected a letter or _ and then letters, digits, _ or -", name);
    return is_sum(name) ? yaml_fail(doc, node, e, ERR_RANGE,
                                    "is \"%s\", which constraints use for a sum; choose another name", name)
                        : 0;
}

/* Where key of map is, or the map itself when the value is a default. */
static yaml_id key_or_map(const struct yaml_doc *doc, yaml_id map, const char *key)
{
    yaml_id id = yaml_get(doc, map, key);
    return id >= 0 ? id : map;
}

static int check_bounds(const struct topo_dim *dim, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    if (dim->min_Bps > dim->max_Bps)
        return yaml_fail(doc, key_or_map(doc, map, "min_GBps"), e, ERR_RANGE,
                         "is %g, above max_GBps %g of the same dimension", dim->min_Bps / 1e9,
                         dim->max_Bps / 1e9);
    if (dim->bw_Bps < dim->min_Bps || dim->bw_Bps > dim->max_Bps) /* false for NaN: not chosen yet */
        return yaml_fail(doc, key_or_map(doc, map, "bw_GBps"), e, ERR_RANGE,
                         "is %g, expected min_GBps %g to max_GBps %g", dim->bw_Bps / 1e9, dim->min_Bps / 1e9,
                         dim->max_Bps / 1e9);
    return 0;
}

static int fail_own_key(const struct topo_dim *dim, const struct yaml_doc *doc, yaml_id at, unsigned bit,
                        struct err *e)
{
    struct text known = { 0 };
    for (int32_t s = 0, n = 0; s < N_TOPO_SHAPES; s++)
        if (topo_shapes[s]->own_keys & bit)
            text_printf(&known, "%s%s", n++ ? " or " : "", topo_shape_words[s]);
    yaml_fail_key(doc, at, e, ERR_RANGE, "is given on shape %s, expected %s", topo_shape_name(dim->shape),
                  text_str(&known));
    text_free(&known);
    return ERR_RANGE;
}

/* A plain dimension has a size, a fabric has keys of its own. */
static int check_own_keys(const struct topo_dim *dim, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    /* as bits SHAPE_KEY_ */
    static const char *const own[] = {
        "sizes",  "taper", "up",    "links",   "radix",        "spine",          "forward", "planes",
        "detour", "twist", "ocs",   "spines",  "hosts",        "routers",        "leaves",  "groups",
        "q",      "nics",  "rails", "routing", "load_balance", "flows_per_pair", "filled"
    };
    const unsigned sized = SHAPE_KEY_RADIX | SHAPE_KEY_TAPER; /* size and radix make its sizes */
    bool fabric = topo_ops(dim)->settle != NULL, radix = (topo_ops(dim)->own_keys & sized) == sized;
    if (!fabric && yaml_get(doc, map, "size") < 0)
        return yaml_fail(doc, map, e, ERR_PARSE, "has no size (members along this dimension)");
    if (fabric && yaml_get(doc, map, "size") >= 0 && (!radix || yaml_get(doc, map, "radix") < 0))
        return yaml_fail_key(doc, yaml_get(doc, map, "size"), e, ERR_RANGE,
                             "is given on shape %s, expected sizes: members of each level%s",
                             topo_shape_name(dim->shape), radix ? ", or radix beside it" : "");
    if (fabric && yaml_get(doc, map, "size") >= 0 && yaml_get(doc, map, "sizes") >= 0)
        return yaml_fail_key(doc, yaml_get(doc, map, "size"), e, ERR_RANGE,
                             "is given beside sizes; give one of them");
    if (dim->link_Bps > 0 && yaml_get(doc, map, "bw_GBps") >= 0)
        return yaml_fail_key(doc, yaml_get(doc, map, "link_GBps"), e, ERR_RANGE,
                             "is given beside bw_GBps, of all links of an NPU; give one of them");
    const struct topo_fabric *f = &dim->fabric;
    if (f->nics > 0 && f->planes > 1 && f->nics > f->nics_least)
        return yaml_fail_key(doc, yaml_get(doc, map, "planes"), e, ERR_RANGE,
                             "is given beside nodes that differ in NICs; give one of them");
    if (f->nics > 1 && f->planes > 1 && fmod(f->nics, f->planes) > 0 && fmod(f->planes, f->nics) > 0)
        return yaml_fail_key(doc, yaml_get(doc, map, "planes"), e, ERR_RANGE,
                             "is %d, expected to divide the %g NICs of an NPU, or a multiple of them",
                             (int)f->planes, f->nics);
    if (dim->fabric.forward && dim->fabric.spine != TOPO_SPINE_SHARED)
        return yaml_fail_key(doc, yaml_get(doc, map, "forward"), e, ERR_RANGE,
                             "is given without spine: shared, where all that changes rails is forwarded");
    if (f->flows_per_pair && f->balance != TOPO_HASH && topo_ops(dim)->own_keys & SHAPE_KEY_FLOWS)
        return yaml_fail_key(doc, yaml_get(doc, map, "flows_per_pair"), e, ERR_RANGE,
                             "is given without load_balance: hash, whose flows it counts");
    if (f->rails && f->spine != TOPO_SPINE_SHARED)
        return yaml_fail_key(doc, yaml_get(doc, map, "rails"), e, ERR_RANGE,
                             "is given without spine: shared, which joins them");
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (yaml_get(doc, map, own[i]) >= 0 && !(topo_ops(dim)->own_keys >> i & 1))
            return fail_own_key(dim, doc, yaml_get(doc, map, own[i]), 1u << i, e);
    return 0;
}

/* What it must be by itself; against the others, and of what levels it is: network_check(). */
static int network_check_dim(void *base, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    struct topo_dim *dim = base;
    struct err inner = { 0 };
    int rc = check_own_keys(dim, doc, map, e);
    if (rc)
        return rc;
    if (!topo_ops(dim)->settle && topo_check_size(dim->shape, dim->size, &inner))
        return yaml_fail(doc, yaml_get(doc, map, "size"), e, inner.code, "%s", inner.msg);
    rc = topo_ops(dim)->settle ? 0 : check_collectives(dim, doc, map, e);
    if (!rc && dim->name[0])
        rc = check_dim_name(dim->name, doc, yaml_get(doc, map, "name"), e);
    if (!dim->name[0])
        name_dim(dim, doc->nodes[map].index);
    return rc ? rc : check_bounds(dim, doc, map, e);
}

K_SECTION(topo_dim_section, struct topo_dim, "dims", dim_keys, "one dimension of a network", STUDY_USES,
          .check = network_check_dim);

/* ---- classes of a graph's links ---- */

static const struct key class_keys[] = {
    K_NAME(struct topo_dim, name, "name", 1, "the class, as the file and constraints call it",
           .required = true),
    K_COUNT_OR(
        struct topo_dim, size, "size", 1, TOPO_MAX_SIZE, 0,
        "members along this axis of the NPUs' numbers, which groups fill (default: the first has all NPUs "
        "that others leave, others 1)"),
    K_REAL_OR(struct topo_dim, bw_Bps, "bw_GBps", "GB/s", 1e9, TOPO_MIN_BW_GBps, TOPO_MAX_BW_GBps, NAN,
              "of one NPU: all links of the class in one direction over the number of NPUs; links keep the "
              "proportions of the file (default: the file's, or chosen where something limits a split)",
              .decimals = 9),
    K_REAL(struct topo_dim, min_Bps, "min_GBps", "GB/s", 1e9, 0, TOPO_MAX_BW_GBps, 0,
           "least bandwidth an allocator may give it", .decimals = 9, .uses = USE_SPLIT),
    K_REAL_OR(struct topo_dim, max_Bps, "max_GBps", "GB/s", 1e9, TOPO_MIN_BW_GBps, TOPO_MAX_BW_GBps, INFINITY,
              "most bandwidth an allocator may give it (default: no cap)", .decimals = 9, .uses = USE_SPLIT),
    K_REAL(struct topo_dim, efficiency, "efficiency", "", 1, 1e-3, 1, 1,
           "share of bw_GBps that a collective reaches"),
    K_NAME(struct topo_dim, tier, "tier", 1, "row of the price table (default: usd of the file's edges)",
           .uses = USE_COST),
};

/* To all that asks for a shape it is a switch, which only what knows no graph would take it for. */
static void settle_class(struct topo_dim *dim)
{
    dim->shape = TOPO_SWITCH;
    dim->wires = true;
    dim->n_levels = 1;
    dim->in_switch_min = 2;
}

static int network_check_class(void *base, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    struct topo_dim *dim = base;
    settle_class(dim);
    int rc = check_dim_name(dim->name, doc, yaml_get(doc, map, "name"), e);
    return rc ? rc : check_bounds(dim, doc, map, e);
}

K_SECTION(topo_class_section, struct topo_dim, "classes", class_keys,
          "a class of links of a network's graph: a dimension to constraints, prices and reports", STUDY_USES,
          .check = network_check_class);

int topo_add_class(struct topo_network *net, const char *name, struct err *e)
{
    if (!is_name(name) || is_sum(name))
        return err_set(e, ERR_PARSE,
                       "has links of class \"%s\", expected a letter or _ and then letters, digits, _ or -, "
                       "and none of total, usd, nic_usd, watt",
                       name);
    if (net->n_dims == TOPO_MAX_DIMS)
        return err_set(e, ERR_RANGE, "has links of more than %d classes", TOPO_MAX_DIMS);
    struct topo_dim *dim = &net->dims[net->n_dims++];
    schema_defaults(dim, &topo_class_section);
    snprintf(dim->name, sizeof dim->name, "%s", name);
    settle_class(dim);
    return 0;
}

/* ---- a network ---- */

static int network_read_word(struct topo_network *net, const struct yaml_doc *doc, yaml_id node,
                             struct err *e)
{
    const char *word = doc->nodes[node].text;
    if (!topo_is_spec(word))
        return yaml_fail(doc, node, e, ERR_PARSE,
                         "is \"%s\", expected a map or a word like \"ring:4@250 switch:8\"", word);
    struct err inner = { 0 };
    int rc = topo_parse_spec(net, word, &inner);
    return rc ? yaml_fail(doc, node, e, inner.code, "%s", inner.msg) : 0;
}

/* `dims` as a word, "switch:8@450 fat-tree:32x4/2": settled here, since no entry of the file is left. */
static int read_dims_word(void *base, const struct key *k, const struct yaml_doc *doc, yaml_id id,
                          struct err *e)
{
    struct topo_network *net = base, word;
    (void)k;
    int rc = network_read_word(&word, doc, id, e);
    if (!rc) {
        memcpy(net->dims, word.dims, sizeof net->dims);
        net->n_dims = word.n_dims;
        net->n_npus = word.n_npus;
    }
    return rc;
}

static const struct key network_keys[] = {
    K_NAME(struct topo_network, name, "name", 1, "what reports call the network"),
    K_MAP(struct topo_network, npu, "npu", &topo_npu_section,
          "the accelerator: a file (relative to this one) or a map, see npu", .form = "file or <npu>"),
    K_NODE(struct topo_network, parts, "parts",
           "prices: a parts file (relative to this one) or a map, see parts", .uses = USE_COST,
           .form = "file or <parts>"),
    K_LIST(struct topo_network, dims, n_dims, "dims", 1, &topo_dim_section,
           "list of 1 to 8 dimensions, innermost first, see dims; or a word, \"ring:4@250 switch:8@50\"",
           .what = "dimensions", .word = read_dims_word, .form = "list of <dims> or text"),
    K_NODE(
        struct topo_network, graph, "graph",
        "instead of dims, in studies of designs: a GraphML or CSV file of links (relative to this one), see "
        "weft keys graph",
        .form = "file"),
    K_LIST(struct topo_network, dims, n_dims, "classes", 1, &topo_class_section,
           "with graph: its classes of links, see classes (default: those that the file names)",
           .what = "classes"),
};

/* One list or the other. */
static int check_lists(const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    yaml_id dims = yaml_get(doc, map, "dims"), graph = yaml_get(doc, map, "graph");
    yaml_id classes = yaml_get(doc, map, "classes");
    if (graph < 0 && dims < 0)
        return yaml_fail(doc, map, e, ERR_PARSE,
                         "has no dims (list of 1 to 8 dimensions, innermost first, see dims)");
    if (graph < 0 && classes >= 0)
        return yaml_fail_key(doc, classes, e, ERR_PARSE, "is given without graph; give the file of links");
    if (graph >= 0 && dims >= 0)
        return yaml_fail_key(doc, dims, e, ERR_PARSE, "is given together with graph; give classes instead");
    return 0;
}

/* A graph tells its number of NPUs when it is read. */
static int check_classes(const struct topo_network *net, const struct yaml_doc *doc, yaml_id map,
                         struct err *e)
{
    yaml_id classes = yaml_get(doc, map, "classes");
    if (classes < 0) /* those of the file */
        return 0;
    yaml_each (id, doc, classes) {
        int32_t d = doc->nodes[id].index, same = topo_find_dim(net, net->dims[d].name);
        if (same != d)
            return yaml_fail(doc, yaml_get(doc, id, "name"), e, ERR_RANGE,
                             "is \"%s\", which is already the name of class %d; choose another",
                             net->dims[d].name, (int)same + 1);
    }
    return 0;
}

/* Bandwidths of levels that follow from that of the injection. */
static void settle_ties(struct topo_dim *dim)
{
    for (int32_t k = 1; k < dim->n_levels; k++)
        dim[k].bw_Bps = dim[k].tie > 0 ? dim[k].tie * dim[k - 1].bw_Bps : (double)NAN;
}

/* Rails among the members of the first dimension of a node, of @p rails in all: it passes through all of them
 * before the next one, or has all of them; 1: neither. */
static int32_t rails_among(int32_t rails, int32_t size)
{
    return rails % size == 0 ? size : size % rails == 0 ? rails : 1;
}

int32_t topo_rails_along(const struct topo_network *net, int32_t shared, int32_t d)
{
    int32_t left = topo_rails(&net->dims[shared]);
    for (int32_t k = 0; k < d; k++)
        left /= rails_among(left, net->dims[k].size);
    return rails_among(left, net->dims[d].size);
}

/* Mates of a member among the @p k of its group in dimension @p d, @p stride apart, of which every @p
 * rails-th is on its rail: the mean over the members of a rail, of the rail where it is least. All groups are
 * at work. */
static double mates_along(int32_t size, int32_t rails, int32_t k, int32_t stride)
{
    int64_t a = rails, b = stride;
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    const int64_t period = rails / a; /* so many members on, a group is back on the rail */
    const int64_t whole = k / period;
    if (k % period == 0)
        return (double)whole;
    double least = INFINITY;
    for (int64_t r = 0; r < rails; r++) {
        double sum = 0;
        for (int64_t i = r; i < size; i += rails) {
            int64_t j = i / stride % k, mates = (k - 1 - j % period) / period + 1;
            sum += (double)mates;
        }
        least = fmin(least, sum * rails / size);
    }
    return least;
}

double topo_rail_mates(const struct topo_network *net, int32_t shared, const int32_t *members,
                       const int32_t *stride)
{
    double mates = 1;
    for (int32_t d = 0; d < shared; d++)
        mates *= mates_along(net->dims[d].size, topo_rails_along(net, shared, d), members[d],
                             stride && stride[d] > 1 ? stride[d] : 1);
    return mates;
}

/* Do so many rails pass through the dimensions of a node one after the other? */
static bool rails_fit(const struct topo_network *net, const struct topo_dim *dim, int32_t rails)
{
    for (const struct topo_dim *d = net->dims; d < dim; d++) {
        if (rails % d->size && d->size % rails)
            return false;
        rails /= rails_among(rails, d->size);
    }
    return rails == 1;
}

/* What `rails` may be, for a message. */
static int fail_rails(const struct topo_network *net, const struct topo_dim *dim, struct err *e)
{
    struct text list = { 0 };
    for (int32_t r = 1; r <= dim->fabric.node && r <= MAX_RAILS_TOLD; r++)
        if (rails_fit(net, dim, r))
            text_printf(&list, "%s%d", r > 1 ? ", " : "", (int)r);
    err_set(e, ERR_RANGE,
            "has %d rails below nodes of %d NPUs, expected a number that divides them evenly: %s",
            (int)dim->fabric.rails, (int)dim->fabric.node, text_str(&list));
    text_free(&list);
    return ERR_RANGE;
}

/* Rails are the NPUs of a node: of all dimensions before entry @p dim, each of which joins its members
 * directly or by a switch, so that no two are further apart than others. */
static int settle_rails(struct topo_network *net, struct topo_dim *dim, struct err *e)
{
    int64_t node = 1;
    if (dim->fabric.spine != TOPO_SPINE_SHARED)
        return 0;
    if (!(topo_ops(dim)->own_keys & SHAPE_KEY_SPINE))
        return err_set(e, ERR_RANGE, "has a shared spine on shape %s, expected fat-tree",
                       topo_shape_name(dim->shape));
    for (const struct topo_dim *d = net->dims; d < dim; d++) {
        double sum, n = d->size;
        int64_t longest;
        bool tree = topo_ops(d - d->level)->own_keys & SHAPE_KEY_TAPER;
        if ((d->level || topo_is_fabric(d)) && !tree)
            return err_set(e, ERR_RANGE,
                           "has a spine shared across %s, a %s; expected a switch, full or fat-tree", d->name,
                           topo_shape_name(d->shape));
        if (!tree)
            topo_ops(d)->distances(d, &sum, &longest);
        if (!tree && sum < n * (n - 1) * (double)longest)
            return err_set(e, ERR_RANGE,
                           "has a spine shared across %s, a %s; expected a switch, full or fat-tree", d->name,
                           topo_shape_name(d->shape));
        node *= d->size;
        if (node > TOPO_MAX_SIZE)
            return err_set(e, ERR_RANGE, "has a spine shared across %lld NPUs of a node, expected at most %d",
                           (long long)node, TOPO_MAX_SIZE);
    }
    if (node < 2)
        return err_set(e, ERR_RANGE,
                       "has a spine shared across one rail, expected the dimensions of a node before it");
    dim->fabric.node = (int32_t)node;
    return rails_fit(net, dim, topo_rails(dim)) ? 0 : fail_rails(net, dim, e);
}

/* Counts that are given by name become sizes. */
static int name_sizes(struct topo_dim *dim, struct err *e)
{
    struct topo_fabric *f = &dim->fabric;
    int32_t middle = f->routers + f->leaves + 2 * f->q * f->q;
    if ((!f->hosts && !middle && !f->groups) || topo_ops(dim)->beside_hosts)
        return 0;
    if (f->n_sizes)
        return err_set(e, ERR_RANGE, "has sizes and counts of hosts or others; give one or the other");
    f->sizes[0] = f->hosts;
    f->sizes[1] = middle;
    f->sizes[2] = f->groups;
    f->n_sizes = topo_ops(dim)->own_keys & SHAPE_KEY_GROUPS ? 3 : 2;
    f->hosts = f->routers = f->leaves = f->groups = f->q = 0;
    return 0;
}

/* Files say what an NPU sends by all links of an entry, or what one link carries; a torus, HyperX or
 * HammingMesh has links of the NPU itself on several levels, which share the first. */
static void settle_bandwidth(struct topo_dim *to)
{
    double all = topo_all_links(to);
    to->bw_Bps = to->link_Bps > 0 ? to->link_Bps / topo_link_Bps(to, 0, 1) : to->bw_Bps / all;
    to->min_Bps /= all;
    to->max_Bps /= all;
}

/* The routing that was not given, and what messages by drawn routers load links with. */
static int settle_routing(struct topo_dim *dim, struct err *e)
{
    struct topo_fabric *f = &dim->fabric;
    bool usual = f->routing == TOPO_ROUTING_USUAL, choice = topo_ops(dim)->own_keys & SHAPE_KEY_ROUTING;
    if (usual)
        f->routing = choice && !dim->detour ? TOPO_ROUTING_ADAPTIVE : TOPO_ROUTING_MINIMAL;
    if (f->routing == TOPO_ROUTING_MINIMAL)
        return 0;
    if (dim->detour)
        return err_set(e, ERR_RANGE, "has detour and routing %s; give one of them, or routing minimal",
                       topo_routing_words[f->routing]);
    struct shape_group all = { .flat = true, .n = (int32_t)topo_group_size(dim) };
    struct shape_load l;
    for (int32_t k = 0; k < dim->n_levels; k++)
        all.members[k] = dim[k].size;
    topo_ops(dim)->load(&l, SHAPE_DIRECT, dim, &all);
    memcpy(f->uniform, l.load, sizeof f->uniform);
    f->uniform_hops = l.hops;
    return 0;
}

/* Append entry @p dim with all its levels. ERR_RANGE without a place: too many, or no such fabric. */
static int append_entry(struct topo_network *net, const struct topo_dim *dim, struct err *e)
{
    int32_t room = TOPO_MAX_DIMS - net->n_dims;
    struct topo_dim *to = &net->dims[net->n_dims];
    if (room < 1)
        return err_set(e, ERR_RANGE, "more than %d dimensions, levels included", TOPO_MAX_DIMS);
    *to = *dim;
    to->n_levels = 1;
    int rc = name_sizes(to, e);
    if (!rc)
        rc = settle_rails(net, to, e);
    if (!rc && topo_ops(dim)->settle)
        rc = topo_ops(dim)->settle(to, room, e);
    if (rc)
        return rc;
    int64_t n = 1;
    for (int32_t k = 0; k < to->n_levels && n <= TOPO_MAX_NPUS; k++)
        n *= to[k].size;
    if (topo_ops(dim)->settle && (n > TOPO_MAX_NPUS || n < TOPO_MIN_SIZE))
        return err_set(e, ERR_RANGE, "has sizes that make too %s NPUs, expected %d to %d",
                       n < TOPO_MIN_SIZE ? "few" : "many", TOPO_MIN_SIZE, TOPO_MAX_NPUS);
    rc = settle_routing(to, e);
    if (rc)
        return rc;
    settle_bandwidth(to);
    settle_ties(to);
    net->n_dims += to->n_levels;
    return 0;
}

/* Links of each axis of the entry that begins at @p to, where the file lists them: bandwidths tied to that of
 * the first. Rows and columns of boards have the links of the boards' axes. */
static int settle_axes(struct topo_dim *to, const struct yaml_doc *doc, yaml_id entry, struct err *e)
{
    yaml_id list = yaml_get(doc, entry, "link_GBps");
    double link_Bps[TOPO_MAX_DIMS], all = topo_all_links(to), before = to->bw_Bps;
    int32_t axes = 1, n = 0;
    if (list < 0 || doc->nodes[list].kind != YAML_SEQ)
        return 0;
    while (axes < to->n_levels && to[axes].own_links)
        axes++;
    if (doc->nodes[list].n != axes)
        return yaml_fail(doc, list, e, ERR_RANGE,
                         "has %d numbers, expected %d, one of each axis, or one of all",
                         (int)doc->nodes[list].n, (int)axes);
    yaml_each (id, doc, list)
        link_Bps[n++] = num_scaled(doc->nodes[id].text, 9);
    for (int32_t k = 1; k < to->n_levels; k++) {
        double bw_Bps = link_Bps[k % axes] / topo_link_Bps(to, k, 1);
        to[k].tie = bw_Bps / before;
        before = bw_Bps;
    }
    settle_ties(to);
    to->min_Bps *= all / topo_all_links(to);
    to->max_Bps *= all / topo_all_links(to);
    return 0;
}

/* Entries of the file become dimensions. */
static int expand_entries(struct topo_network *net, const struct yaml_doc *doc, yaml_id dims, struct err *e)
{
    struct topo_dim entries[TOPO_MAX_DIMS];
    struct err inner = { 0 };
    memcpy(entries, net->dims, (size_t)net->n_dims * sizeof *entries);
    net->n_dims = 0;
    yaml_each (id, doc, dims) {
        const struct topo_dim *entry = &entries[doc->nodes[id].index];
        struct topo_dim *first = &net->dims[net->n_dims];
        if (append_entry(net, entry, &inner))
            return yaml_fail(doc, id, e, inner.code, "%s", inner.msg);
        int rc = settle_axes(first, doc, id, e);
        if (!rc && topo_is_fabric(first))
            rc = check_collectives(first, doc, id, e);
        if (rc)
            return rc;
    }
    return 0;
}

/* Names that differ, and NPUs that can be counted. */
static int network_check(void *base, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    struct topo_network *net = base;
    yaml_id dims = yaml_get(doc, map, "dims");
    int32_t d = 0;
    int rc = check_lists(doc, map, e);
    if (rc || net->graph >= 0)
        return rc ? rc : check_classes(net, doc, map, e);
    if (doc->nodes[dims].kind == YAML_SCALAR)
        return 0;
    net->n_npus = 1;
    rc = expand_entries(net, doc, dims, e);
    if (rc)
        return rc;
    yaml_each (id, doc, dims) {
        const struct topo_dim *dim = &net->dims[d];
        int32_t same = topo_find_dim(net, dim->name);
        if (same != d)
            return yaml_fail(doc, key_or_map(doc, id, "name"), e, ERR_RANGE,
                             "is \"%s\", which is already the name of dimension %d; choose another",
                             dim->name, (int)same + 1);
        int64_t n = topo_group_size(dim);
        net->n_npus *= n; /* at most 2^30 * 2^30 */
        if (n > TOPO_MAX_NPUS || net->n_npus > TOPO_MAX_NPUS)
            return yaml_fail(doc, key_or_map(doc, id, topo_is_fabric(dim) ? "sizes" : "size"), e, ERR_RANGE,
                             "is %lld, which makes %lld NPUs, expected at most %d", (long long)n,
                             (long long)net->n_npus, TOPO_MAX_NPUS);
        d = topo_after_entry(net->dims, d);
    }
    return 0;
}

K_SECTION(topo_network_section, struct topo_network, "network", network_keys, "a multi-dimensional network",
          STUDY_USES, .check = network_check);

void topo_network_defaults(struct topo_network *net)
{
    *net = (struct topo_network){ .n_npus = 1 };
    schema_defaults(net, &topo_network_section);
}

int topo_read_network(struct topo_network *net, const struct yaml_doc *doc, yaml_id node, struct err *e)
{
    int rc = topo_read_wired(net, doc, node, e);
    if (!rc && net->graph >= 0)
        return yaml_fail_key(doc, net->graph, e, ERR_UNSUP, "is given, which only studies of designs take");
    return rc;
}

/* A list is what link_GBps says of axes; bw_GBps is one number, of all links. */
static int check_totals(const struct yaml_doc *doc, yaml_id dims, struct err *e)
{
    bool list = dims >= 0 && doc->nodes[dims].kind == YAML_SEQ;
    for (yaml_id entry = list ? doc->nodes[dims].first : -1; entry >= 0; entry = doc->nodes[entry].next) {
        yaml_id bw = doc->nodes[entry].kind == YAML_MAP ? yaml_get(doc, entry, "bw_GBps") : -1;
        if (bw >= 0 && doc->nodes[bw].kind == YAML_SEQ)
            return yaml_fail(
                doc, bw, e, ERR_PARSE,
                "is a list, expected one number, of all links of an NPU; of one link of each axis "
                "write link_GBps");
    }
    return 0;
}

int topo_read_wired(struct topo_network *net, const struct yaml_doc *doc, yaml_id node, struct err *e)
{
    topo_network_defaults(net);
    if (doc->nodes[node].kind == YAML_SCALAR)
        return network_read_word(net, doc, node, e);
    bool map = doc->nodes[node].kind == YAML_MAP;
    int rc = map ? check_totals(doc, yaml_get(doc, node, "dims"), e) : 0;
    return rc ? rc : schema_read(net, &topo_network_section, doc, node, e);
}

bool topo_has_bandwidths(const struct topo_network *net)
{
    for (int32_t d = 0; d < net->n_dims; d++)
        if (isnan(net->dims[d].bw_Bps))
            return false;
    return true;
}

double *topo_get_bandwidths(double *bw_Bps, const struct topo_network *net)
{
    for (int32_t d = 0; d < net->n_dims; d++)
        bw_Bps[d] = net->dims[d].bw_Bps;
    return bw_Bps;
}

void topo_set_bandwidths(struct topo_network *net, const double *bw_Bps)
{
    for (int32_t d = 0; d < net->n_dims; d++)
        net->dims[d].bw_Bps = bw_Bps[d];
}

int32_t topo_find_dim(const struct topo_network *net, const char *name)
{
    for (int32_t d = 0; d < net->n_dims; d++)
        if (strcmp(net->dims[d].name, name) == 0)
            return d;
    return -1;
}

bool topo_has_fabric(const struct topo_network *net)
{
    for (int32_t d = 0; d < net->n_dims; d++)
        if (net->dims[d].level > 0)
            return true;
    return false;
}

int64_t topo_link_groups(const struct topo_network *net, int32_t d)
{
    const struct topo_dim *entry = &net->dims[d - net->dims[d].level];
    return net->n_npus / topo_span(entry) * topo_planes(entry);
}

int32_t topo_shared_spine(const struct topo_network *net)
{
    for (int32_t d = 0; d < net->n_dims; d++)
        if (topo_node(&net->dims[d]) > 1)
            return d;
    return -1;
}

void topo_merge_planes(struct topo_network *net)
{
    for (int32_t d = 0; d < net->n_dims; d++)
        net->dims[d].fabric.planes = 0;
}

int64_t topo_class_links(const struct topo_network *net, int32_t d)
{
    const struct topo_dim *entry = &net->dims[d - net->dims[d].level];
    struct shape_counts c;
    topo_ops(entry)->counts(&c, entry);
    return topo_link_groups(net, d) * c.links[net->dims[d].level];
}

double topo_parse_bw(const char *text_GBps)
{
    return num_scaled(text_GBps, 9);
}

/* All links of an NPU in GB/s, with as few digits as read back to the bandwidth of the first level. */
static const char *format_bw(char out[NUM_MOVED], const struct topo_dim *dim)
{
    char in_Bps[NUM_TEXT];
    double all = topo_all_links(dim);
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(in_Bps, sizeof in_Bps, "%.*e", digits - 1, dim->bw_Bps * all);
        num_move_point(out, in_Bps, -9);
        if (topo_parse_bw(out) / all == dim->bw_Bps)
            break;
    }
    /* The same number without an exponent, where that does not lose anything. */
    char plain[NUM_TEXT];
    num_format(plain, strtod(out, NULL));
    if (topo_parse_bw(plain) / all == dim->bw_Bps)
        strcpy(out, plain);
    return out;
}

const char *topo_format_spec(char buf[TOPO_SPEC], const struct topo_network *net)
{
    size_t used = 0;
    buf[0] = '\0';
    if (net->wires) {
        snprintf(buf, TOPO_SPEC, "graph of %lld NPUs", (long long)net->n_npus);
        return buf;
    }
    for (int32_t d = 0; d < net->n_dims; d = topo_after_entry(net->dims, d)) {
        const struct topo_dim *dim = &net->dims[d];
        char bw[NUM_MOVED] = "", label[TOPO_DIM_LABEL];
        if (!isnan(dim->bw_Bps))
            format_bw(bw, dim);
        used += (size_t)snprintf(buf + used, TOPO_SPEC - used, "%s%s%s%s", d ? " " : "",
                                 topo_dim_label(label, dim), bw[0] ? "@" : "", bw);
    }
    return buf;
}

/* The shape whose name and a colon @p s starts with, or -1. */
static int shape_prefix(const char *s)
{
    for (int i = 0; topo_shape_words[i]; i++) {
        size_t n = strlen(topo_shape_words[i]);
        if (strncmp(s, topo_shape_words[i], n) == 0 && s[n] == ':')
            return i;
    }
    return -1;
}

bool topo_is_spec(const char *text)
{
    text += strspn(text, " \t");
    if (shape_prefix(text) >= 0)
        return true;
    size_t letters = 0;
    while (isalpha((unsigned char)text[letters]) ||
           (letters > 0 && (text[letters] == '-' || text[letters] == '+')))
        letters++;
    return letters > 0 && text[letters] == ':' && isdigit((unsigned char)text[letters + 1]);
}

/* One dimension of the word being read: [s, s+n) starts at column col. */
struct network_piece {
    const char *s;
    size_t n;
    int col;
};

static int spec_fail_at(struct err *e, enum err_code code, const struct network_piece *p, const char *what)
{
    return err_set(e, code, "col %d: is \"%.*s\", expected %s", p->col, p->n < 64 ? (int)p->n : 64, p->s,
                   what);
}

static int parse_number(int32_t *out, int32_t least, int32_t most, const struct network_piece *p,
                        struct err *e)
{
    char text[NUM_TEXT];
    int64_t n = 0;
    if (p->n < sizeof text) {
        memcpy(text, p->s, p->n);
        text[p->n] = '\0';
    }
    if (p->n >= sizeof text || !num_parse_count(text, &n))
        return spec_fail_at(e, ERR_PARSE, p, "a whole number of members");
    if (n < least || n > most)
        return err_set(e, ERR_RANGE, "col %d: size is %lld, expected %d to %d", p->col, (long long)n,
                       (int)least, (int)most);
    *out = (int32_t)n;
    return 0;
}

static int parse_taper(double *out, const struct network_piece *p, struct err *e)
{
    char text[NUM_TEXT] = "";
    if (p->n < sizeof text)
        memcpy(text, p->s, p->n);
    if (!num_parse_real(text, out) || !(*out >= 1 && *out <= MAX_TAPER))
        return spec_fail_at(e, ERR_RANGE, p, "a taper of 1 to 65536, or free");
    return 0;
}

static int parse_bw(double *bw_Bps, const struct network_piece *p, struct err *e)
{
    char text[NUM_TEXT];
    double bw_GBps;
    if (p->n < sizeof text) {
        memcpy(text, p->s, p->n);
        text[p->n] = '\0';
    }
    if (p->n >= sizeof text || !num_parse_real(text, &bw_GBps))
        return spec_fail_at(e, ERR_PARSE, p, "a bandwidth in GB/s");
    if (!(bw_GBps >= TOPO_MIN_BW_GBps && bw_GBps <= TOPO_MAX_BW_GBps))
        return err_set(e, ERR_RANGE, "col %d: bandwidth is %s GB/s, expected %g to %g", p->col, text,
                       TOPO_MIN_BW_GBps, TOPO_MAX_BW_GBps);
    *bw_Bps = topo_parse_bw(text);
    return 0;
}

/* SHAPE:SIZE[@GBps] without blanks. */
static int fail_shape(const struct network_piece *p, struct err *e)
{
    struct text need = { 0 };
    char shape[TOPO_NAME];
    size_t n = p->n < sizeof shape ? p->n : sizeof shape - 1;
    memcpy(shape, p->s, n);
    shape[n] = '\0';
    shape[strcspn(shape, ":")] = '\0';
    const char *near = text_nearest(shape, topo_shape_words, N_TOPO_SHAPES);
    for (int32_t s = 0; s < N_TOPO_SHAPES && !near; s++)
        text_printf(&need, "%s%s", s ? ", " : "SHAPE:SIZE[@GBps] with SHAPE one of ", topo_shape_words[s]);
    if (near)
        text_printf(&need, "SHAPE:SIZE[@GBps]%s%s%s", strcmp(near, shape) ? "; did you mean " : "",
                    strcmp(near, shape) ? near : "", strcmp(near, shape) ? "?" : "");
    spec_fail_at(e, ERR_PARSE, p, text_str(&need));
    text_free(&need);
    return ERR_PARSE;
}

/* The word behind a +, of a shape with the keys @p own. */
static int parse_flag(struct topo_fabric *f, unsigned own, const struct network_piece *p, struct err *e)
{
    const char *known = own & SHAPE_KEY_SPINE ? "shared, forward or rails4: rails with one spine; hash or "
                                                "hash4: flows that collide; filled127: "
                                                "members that are there"
                        : own & SHAPE_KEY_ROUTING ? "minimal, valiant or adaptive"
                                                  : "no word: its shape has none";
    for (int k = 0; topo_routing_words[k] && own & SHAPE_KEY_ROUTING; k++)
        if (strlen(topo_routing_words[k]) == p->n && strncmp(topo_routing_words[k], p->s, p->n) == 0) {
            f->routing = (enum topo_routing)k;
            return 0;
        }
    for (int32_t k = 0; k < N_TOPO_FABRIC_FLAGS; k++) {
        const struct topo_fabric_flag *flag = &topo_fabric_flags[k];
        if (!(own & flag->key))
            continue;
        if (strlen(flag->word) == p->n && strncmp(flag->word, p->s, p->n) == 0) {
            *(bool *)((char *)f + flag->at) = true;
            f->spine = own & SHAPE_KEY_SPINE ? TOPO_SPINE_SHARED : f->spine;
            return 0;
        }
        known = own & SHAPE_KEY_SPINE ? known : flag->known;
    }
    static const char hash[] = "hash";
    const size_t n_hash = sizeof hash - 1;
    if (own & SHAPE_KEY_BALANCE && p->n >= n_hash && strncmp(hash, p->s, n_hash) == 0) {
        const struct network_piece flows = { p->s + n_hash, p->n - n_hash, p->col + (int)n_hash };
        f->balance = TOPO_HASH;
        return flows.n ? parse_number(&f->flows_per_pair, 2, MAX_FLOWS, &flows, e) : 0;
    }
    static const char filled[] = "filled";
    const size_t n_filled = sizeof filled - 1;
    if (own & SHAPE_KEY_FILLED && p->n > n_filled && strncmp(filled, p->s, n_filled) == 0) {
        const struct network_piece members = { p->s + n_filled, p->n - n_filled, p->col + (int)n_filled };
        return parse_number(&f->filled, 2, TOPO_MAX_NPUS, &members, e);
    }
    static const char rails[] = "rails";
    const struct network_piece number = { p->s + sizeof rails - 1, p->n - (sizeof rails - 1),
                                          p->col + (int)sizeof rails - 1 };
    if (!(own & SHAPE_KEY_SPINE))
        return spec_fail_at(e, ERR_PARSE, p, known);
    f->spine = TOPO_SPINE_SHARED;
    if (p->n == 6 && strncmp("shared", p->s, p->n) == 0)
        return 0;
    if (p->n < sizeof rails || strncmp(rails, p->s, sizeof rails - 1) != 0)
        return spec_fail_at(e, ERR_PARSE, p, known);
    return parse_number(&f->rails, 1, TOPO_MAX_SIZE, &number, e);
}

/* SIZExSIZE..., then /TAPER..., or /free, then ^UP..., then +FLAG... */
static int parse_fabric(struct topo_fabric *f, unsigned own, const struct network_piece *p, struct err *e)
{
    static const char marks[] = "x/^+";
    const char *end = p->s + p->n;
    char kind = 'x';
    for (const char *s = p->s; s < end;) {
        size_t n = 0;
        while (s + n < end && !strchr(marks, s[n]))
            n++;
        struct network_piece part = { s, n, p->col + (int)(s - p->s) };
        int32_t *at = kind == 'x' ? &f->n_sizes : kind == '^' ? &f->n_up : &f->n_taper;
        int rc = 0;
        bool full = kind != '+' && *at == (kind == '/' ? TOPO_LEVELS - 1 : TOPO_LEVELS);
        if (full || (kind != 'x' && f->n_sizes == 0))
            return spec_fail_at(e, ERR_RANGE, &part, "fewer levels");
        if (kind == '+')
            rc = parse_flag(f, own, &part, e);
        else if (kind == 'x')
            rc = parse_number(&f->sizes[(*at)++], 1, TOPO_MAX_SIZE, &part, e);
        else if (kind == '^')
            rc = parse_number(&f->up[(*at)++], 1, MAX_UP, &part, e);
        else if (n == 4 && strncmp(s, "free", 4) == 0)
            f->taper_free = true;
        else
            rc = parse_taper(&f->taper[(*at)++], &part, e);
        if (rc)
            return rc;
        s += n;
        if (s < end)
            kind = *s++;
    }
    return 0;
}

/* What follows ^ in words of shapes whose links up have names. */
static int name_links(struct topo_dim *dim, const struct network_piece *p, struct err *e)
{
    struct topo_fabric *f = &dim->fabric;
    unsigned own = topo_ops(dim)->own_keys;
    int32_t n = 0;
    if (own & SHAPE_KEY_UP)
        return 0;
    if (topo_ops(dim)->beside_hosts && n < f->n_up)
        f->hosts = f->up[n++];
    if (own & SHAPE_KEY_SPINES && n < f->n_up)
        f->spines = f->up[n++];
    if (own & SHAPE_KEY_LINKS && n < f->n_up)
        f->links = f->up[n++];
    if (n < f->n_up || f->n_taper || f->taper_free)
        return spec_fail_at(e, ERR_RANGE, p, "no taper, and fewer numbers after ^");
    f->n_up = 0;
    return 0;
}

/* SIZE, as many as the shape can have; of a fabric all that says what it is of. */
static int parse_members(struct topo_dim *dim, const struct network_piece *p, struct err *e)
{
    struct err inner = { 0 };
    int rc = topo_ops(dim)->settle ? parse_fabric(&dim->fabric, topo_ops(dim)->own_keys, p, e) : 0;
    if (topo_ops(dim)->settle)
        return rc ? rc : name_links(dim, p, e);
    rc = parse_number(&dim->size, TOPO_MIN_SIZE, TOPO_MAX_SIZE, p, e);
    if (!rc && topo_check_size(dim->shape, dim->size, &inner))
        rc = err_set(e, inner.code, "col %d: size %s", p->col, inner.msg);
    return rc;
}

/* Cut @p p at @p mark: what stands behind it into @p after. False: there is none. */
static bool cut_piece(struct network_piece *after, struct network_piece *p, char mark)
{
    const char *at = memchr(p->s, mark, p->n);
    if (!at)
        return false;
    *after = (struct network_piece){ at + 1, (size_t)(p->s + p->n - at) - 1, p->col + (int)(at + 1 - p->s) };
    p->n = (size_t)(at - p->s);
    return true;
}

static int parse_planes(struct topo_dim *dim, const struct network_piece *p, struct err *e)
{
    if (!(topo_ops(dim)->own_keys & SHAPE_KEY_PLANES))
        return spec_fail_at(e, ERR_RANGE, p, "no planes: only a switch, fat-tree or hammingmesh has them");
    return parse_number(&dim->fabric.planes, 2, MAX_PLANES, p, e);
}

static int parse_dim(struct topo_dim *dim, const struct network_piece *p, struct err *e)
{
    int shape = shape_prefix(p->s);
    if (shape < 0)
        return fail_shape(p, e);
    dim->shape = (enum topo_shape)shape;

    size_t skip = strlen(topo_shape_words[shape]) + 1;
    struct network_piece size = { p->s + skip, p->n - skip, p->col + (int)skip };
    struct network_piece planes = *p, bw = *p;
    bool has_bw = cut_piece(&bw, &size, '@'), has_planes = cut_piece(&planes, &size, '*');
    int rc = parse_members(dim, &size, e);
    if (!rc && has_planes)
        rc = parse_planes(dim, &planes, e);
    return rc || !has_bw ? rc : parse_bw(&dim->bw_Bps, &bw, e);
}

static int add_dim(struct topo_network *net, int32_t entry, const struct network_piece *p, struct err *e)
{
    struct topo_dim dim;
    struct err inner = { 0 };
    if (net->n_dims == TOPO_MAX_DIMS)
        return err_set(e, ERR_RANGE, "col %d: more than %d dimensions", p->col, TOPO_MAX_DIMS);
    topo_dim_defaults(&dim, entry);
    int rc = parse_dim(&dim, p, e);
    if (rc)
        return rc;
    const struct topo_dim *added = &net->dims[net->n_dims];
    if (append_entry(net, &dim, &inner))
        return err_set(e, inner.code, "col %d: %s", p->col, inner.msg);
    int64_t n = topo_group_size(added);
    net->n_npus *= n; /* at most 2^30 * 2^30 */
    if (n > TOPO_MAX_NPUS || net->n_npus > TOPO_MAX_NPUS)
        return err_set(e, ERR_RANGE, "col %d: size %lld makes %lld NPUs, expected at most %d", p->col,
                       (long long)n, (long long)net->n_npus, TOPO_MAX_NPUS);
    return 0;
}

int topo_parse_spec(struct topo_network *net, const char *word, struct err *e)
{
    int32_t entry = 0;
    topo_network_defaults(net);
    for (const char *s = word;;) {
        s += strspn(s, " \t");
        if (!*s)
            break;
        struct network_piece p = { s, strcspn(s, " \t"), (int)(s - word) + 1 };
        int rc = add_dim(net, entry++, &p, e);
        if (rc)
            return rc;
        s += p.n;
    }
    if (net->n_dims == 0)
        return err_set(e, ERR_PARSE, "col 1: no dimension, expected SHAPE:SIZE[@GBps]");
    return 0;
}
