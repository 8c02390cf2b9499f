/*
 * Fat trees on the graph's own links, by who is below each switch. Reductions in the switches: streams
 * counted so, against the flows that are simulated and the closed form. Partly filled trees: bytes of all
 * messages, against the closed form.
 */
#include "tests/unit/flow_plant.h"

enum { MAX_NPUS = 128, MAX_VERTICES = 1024, MAX_ARCS = 2048, BYTES = 1000000000 };

/* The graph below each switch: found by going up from the NPUs. */
struct below {
    bool npu[MAX_VERTICES][MAX_NPUS]; /* of each vertex: which NPUs */
    int32_t lower[MAX_ARCS / 2];      /* of each link up from a switch that end, else -1 */
    int32_t ways[MAX_ARCS / 2];       /* links up from the same NPUs */
};

/* Links are listed class by class, NPUs' first, so that what is below an end is known when its links up come.
 */
static void look_below(struct below *b, const struct topo_routes *r, int32_t entry)
{
    static bool above[MAX_VERTICES];
    memset(b, 0, sizeof *b);
    memset(above, 0, sizeof above);
    for (int32_t i = 0; i < r->n_npus; i++)
        b->npu[i][i] = true;
    for (int32_t cls = 0; cls < r->net.dims[entry].n_levels; cls++) {
        static bool next[MAX_VERTICES];
        memset(next, 0, sizeof next);
        for (int32_t l = 0; l < r->n_arcs / 2; l++) {
            if (topo_link_dim(r, l) != entry + cls)
                continue;
            int32_t x = r->to[2 * l], y = r->to[2 * l + 1];
            int32_t low = cls ? (above[x] ? x : y) : x < y ? x : y, high = low == x ? y : x;
            for (int32_t i = 0; i < r->n_npus; i++)
                b->npu[high][i] |= b->npu[low][i];
            next[high] = true;
            b->lower[l] = low;
        }
        memcpy(above, next, sizeof above);
    }
    for (int32_t l = 0; l < r->n_arcs / 2; l++)
        for (int32_t k = 0; k < r->n_arcs / 2; k++)
            b->ways[l] += topo_link_dim(r, k) == topo_link_dim(r, l) &&
                          !memcmp(b->npu[b->lower[l]], b->npu[b->lower[k]], sizeof b->npu[0]);
}

/* Bytes on each arc when all groups work: @p first[i] is member 0 of the group of NPU i. */
static void count_streams(double *bytes, const struct below *b, const struct topo_routes *r, int32_t entry,
                          const int32_t *first, int32_t n, enum collective_kind kind)
{
    for (int32_t l = 0; l < r->n_arcs / 2; l++) {
        bytes[2 * l] = bytes[2 * l + 1] = 0;
        if (topo_link_dim(r, l) < entry)
            continue;
        int32_t up_arc = r->to[2 * l] == b->lower[l] ? 2 * l + 1 : 2 * l;
        for (int32_t f = 0; f < r->n_npus; f++) {
            double below = 0, up = 1, down = 1;
            for (int32_t i = 0; i < r->n_npus; i++)
                below += first[f] == f && first[i] == f && b->npu[b->lower[l]][i];
            if (below == 0 || below == n)
                continue;
            bool source = b->npu[b->lower[l]][f];
            if (kind == COLLECTIVE_BROADCAST) {
                up = source;
                down = !source;
            } else if (kind ==
                       COLLECTIVE_REDUCE_SCATTER) { /* sums of parts for others; sums for those below */
                up = (n - below) / n;
                down = below / n;
            } else if (kind == COLLECTIVE_ALL_GATHER) { /* shards of BYTES */
                up = below;
                down = n - below;
            }
            bytes[up_arc] += up * BYTES / b->ways[l];
            bytes[up_arc ^ 1] += down * BYTES / b->ways[l];
        }
    }
}

/* A tree of two to four levels, now and then of rails below nodes. Returns the entry's dimension. */
static int32_t draw_tree(char word[96], struct rng *rng)
{
    int32_t levels = 2 + (int32_t)rng_below(rng, 3), at = 0, entry = rng_below(rng, 3) == 0;
    if (entry)
        at += snprintf(word, 96, "switch:4@200 ");
    at += snprintf(word + at, 96 - (size_t)at, "fat-tree:");
    for (int32_t k = 0; k < levels; k++)
        at += snprintf(word + at, 96 - (size_t)at, "%s%d", k ? "x" : "",
                       1 + (int)rng_below(rng, 4 - entry) + !k);
    for (int32_t k = 1; k < levels; k++)
        at += snprintf(word + at, 96 - (size_t)at, "/%g", 1 + 0.5 * (double)rng_below(rng, 4));
    snprintf(word + at, 96 - (size_t)at, "%s@50", !entry ? "" : rng_below(rng, 2) ? "+shared" : "+rails2");
    return entry;
}

/* Members of each level with a stride, and member 0 of every NPU's group. Returns the members of a group. */
static int32_t draw_group(struct flow_group_spec *spec, int32_t *first, const struct topo_network *net,
                          int32_t entry, struct rng *rng)
{
    int32_t n = 1, stride = 1;
    *spec = (struct flow_group_spec){ .order = NULL };
    for (int32_t i = 0; i < net->n_npus; i++)
        first[i] = i;
    for (int32_t d = 0; d < net->n_dims; stride *= net->dims[d++].size) {
        int32_t size = net->dims[d].size, m, s;
        do {
            m = d < entry ? 1 : 1 + (int32_t)rng_below(rng, size);
            s = 1 + (int32_t)rng_below(rng, size / m);
        } while (size % (m * s));
        spec->members[d] = m;
        spec->stride[d] = s;
        n *= m;
        for (int32_t i = 0; i < net->n_npus; i++)
            first[i] -= i / stride % size / s % m * s * stride;
    }
    return n;
}

TEST(streams_are_those_counted_below_each_switch)
{
    static const enum collective_kind kinds[] = { COLLECTIVE_ALL_REDUCE, COLLECTIVE_REDUCE_SCATTER,
                                                  COLLECTIVE_ALL_GATHER, COLLECTIVE_BROADCAST };
    static struct below b;
    static double bytes[MAX_ARCS];
    RNG(rng, 33, 7);
    int32_t n_met = 0, n_rails = 0, times = repeats(300);
    for (int32_t t = 0; t < times; t++) {
        KEEP(struct plant, p, plant_close);
        char word[96];
        int32_t entry = draw_tree(word, rng), first[MAX_NPUS];
        struct flow_group_spec spec;
        plant_word(&p, word, 0);
        for (int32_t d = entry; d < p.net.n_dims; d++)
            p.net.dims[d].in_switch = TOPO_IN_SWITCH_SHARP;
        plant_open(&p);
        if (p.routes.n_npus > MAX_NPUS || p.routes.n_vertices > MAX_VERTICES || p.routes.n_arcs > MAX_ARCS)
            continue; /* counting takes all links by all NPUs */
        int32_t n = draw_group(&spec, first, &p.net, entry, rng);
        enum collective_kind kind = kinds[rng_below(rng, COUNT_OF(kinds))];
        if (n < 2)
            continue;
        look_below(&b, &p.routes, entry);
        count_streams(bytes, &b, &p.routes, entry, first, n, kind);
        int32_t id = issue(&p, group(&p, &spec), kind, BYTES, 0);
        run(&p);
        double most_s = 0, bw_Bps[TOPO_MAX_DIMS];
        for (int32_t a = 0; a < p.routes.n_arcs; a++) {
            assert_close(flow_arc_use(flow_sim_net(p.sim), a).bytes, bytes[a], 1e-9);
            most_s = fmax(most_s, bytes[a] / topo_arc_bw(&p.routes, a));
        }
        struct collective_time time;
        const struct collective_way way = { &p.net, &stage_rules_plain, topo_get_bandwidths(bw_Bps, &p.net) };
        collective_time(&time, kind, BYTES, spec.members, spec.stride, NULL, &way);
        assert_close(time.time_s, most_s, 1e-9);
        assert_close(flow_sim_finish_s(p.sim, id), most_s, 1e-9);
        n_met++;
        n_rails += entry;
    }
    if (repeats_all(300))
        assert_true(n_met > times * 2 / 3 && n_rails > times / 6);
}

/* ---- partly filled ---- */

/* Up to the top of the graph: what a class takes of all bytes, over those of one NPU at its bandwidth. */
static double class_load(const struct below *b, const struct plant *p, int32_t entry, int32_t cls)
{
    const struct topo_routes *r = &p->routes;
    double most = 0;
    for (int32_t l = 0; l < r->n_arcs / 2; l++) {
        double up = 0, down = 0, bw_Bps = 0;
        if (topo_link_dim(r, l) != entry + cls)
            continue;
        for (int32_t k = 0; k < r->n_arcs / 2; k++) { /* all links up from the same NPUs */
            if (topo_link_dim(r, k) != entry + cls ||
                memcmp(b->npu[b->lower[l]], b->npu[b->lower[k]], sizeof b->npu[0]))
                continue;
            int32_t up_arc = r->to[2 * k] == b->lower[k] ? 2 * k + 1 : 2 * k;
            up += flow_arc_use(flow_sim_net(p->sim), up_arc).bytes;
            down += flow_arc_use(flow_sim_net(p->sim), up_arc ^ 1).bytes;
            bw_Bps += topo_arc_bw(r, up_arc);
        }
        most = fmax(most, fmax(up, down) / bw_Bps);
    }
    return most * p->net.dims[entry + cls].bw_Bps / BYTES;
}

/* The word of a tree, with as many of its places filled as some part of the last subtree allows. */
static void fill_partly(char word[96], int32_t entry, struct rng *rng)
{
    struct topo_network net;
    MUST(topo_parse_spec(&net, word, e));
    const struct topo_dim *dim = &net.dims[entry];
    int64_t all = topo_group_size(dim), below = all / dim[dim->n_levels - 1].size;
    int64_t filled = all - rng_below(rng, below);
    char *at = strrchr(word, '@');
    if (filled >= 2)
        snprintf(at, 96 - (size_t)(at - word), "+filled%lld@50", (long long)filled);
}

TEST(loads_of_partly_filled_trees_are_those_of_all_messages)
{
    static const enum collective_kind kinds[] = { COLLECTIVE_REDUCE_SCATTER, COLLECTIVE_ALL_GATHER,
                                                  COLLECTIVE_ALL_TO_ALL, COLLECTIVE_SEND };
    static const enum topo_algorithm algorithms[] = { TOPO_ALGORITHM_SHAPE,  TOPO_ALGORITHM_RING,
                                                      TOPO_ALGORITHM_DIRECT, TOPO_ALGORITHM_HALVING,
                                                      TOPO_ALGORITHM_FAR,    TOPO_ALGORITHM_BRUCK };
    static struct below b;
    RNG(rng, 33, 9);
    int32_t n_met = 0, n_partly = 0, times = repeats(400);
    for (int32_t t = 0; t < times; t++) {
        KEEP(struct plant, p, plant_close);
        char word[96];
        int32_t entry = draw_tree(word, rng), first[MAX_NPUS];
        struct flow_group_spec spec;
        fill_partly(word, entry, rng);
        plant_word(&p, word, 0);
        p.net.dims[entry].algorithm = algorithms[rng_below(rng, COUNT_OF(algorithms))];
        plant_open(&p);
        if (p.routes.n_npus > MAX_NPUS || p.routes.n_vertices > MAX_VERTICES || p.routes.n_arcs > MAX_ARCS)
            continue;
        enum collective_kind kind = kinds[rng_below(rng, COUNT_OF(kinds))];
        int32_t n = draw_group(&spec, first, &p.net, entry, rng);
        if (entry && kind == COLLECTIVE_ALL_TO_ALL && rng_below(rng, 2)) { /* the whole node, over rails */
            n *= 4;
            spec.members[0] = 4;
            spec.stride[0] = 1;
        }
        if (n < 2 || !p.net.dims[entry].fabric.filled)
            continue;
        look_below(&b, &p.routes, entry);
        issue(&p, group(&p, &spec), kind, BYTES, 0);
        run(&p);
        struct stage stages[STAGE_MAX];
        double loads[TOPO_MAX_DIMS] = { 0 }, bw_Bps[TOPO_MAX_DIMS];
        const struct collective_way way = { &p.net, &stage_rules_plain, topo_get_bandwidths(bw_Bps, &p.net) };
        int32_t n_stages = stage_list(stages, kind, BYTES, spec.members, spec.stride, NULL, NULL, &way);
        if (n_stages != 1) /* a node alone */
            continue;
        loads[stages[0].dim] = stages[0].sent_B / BYTES;
        for (int32_t i = 0; i < stages[0].n_more; i++)
            loads[stages[0].more[i].dim] = stages[0].more[i].sent_B / BYTES;
        for (int32_t k = 0; k < p.net.dims[entry].n_levels; k++) {
            double counted = class_load(&b, &p, entry, k);
            if (fabs(counted - loads[entry + k]) > 1e-9 * (1 + counted))
                fail_msg("%s, %s, algorithm %d, %d members: class %d has %g, counted %g", word,
                         collective_names[kind], (int)p.net.dims[entry].algorithm, n, k, loads[entry + k],
                         counted);
        }
        n_met++;
        n_partly += entry;
    }
    assert_true(n_met > times / 4 && n_partly > times / 20);
}

/* Members first .. half - 1 against the others. At the top, whole subtrees of the side that has fewer are cut
 * off; at each level below those of the same side in the one subtree that has members of both. */
static void assert_cut(const struct shape_counts *c, const struct topo_dim *dim)
{
    int64_t n = topo_group_size(dim), half = n / 2, from = 0, to = n;
    int64_t room[TOPO_LEVELS + 1] = { 1 }, up[TOPO_LEVELS + 1] = { topo_node(dim) }, boxes = 1;
    bool left_is_less = true;
    for (int32_t k = 0; k < dim->n_levels; k++) {
        double taper = k < dim->fabric.n_taper ? dim->fabric.taper[k] : 1;
        room[k + 1] = room[k] * topo_tree_places(dim, k);
        boxes *= (int64_t)ceil((double)topo_tree_size(dim, k) / taper * (1 - 1e-12));
        up[k + 1] = boxes * (k ? 1 : topo_rails(dim));
    }
    for (int32_t k = dim->n_levels; k-- > 0;) {
        int64_t left = 0, right = 0, middle[2] = { 0, 0 };
        for (int64_t at = from; at < to; at += room[k]) {
            int64_t end = at + room[k] < to ? at + room[k] : to;
            left += end <= half;
            right += at >= half;
            if (at < half && end > half) {
                middle[0] = at;
                middle[1] = end;
            }
        }
        if (k == dim->n_levels - 1)
            left_is_less = left <= right;
        assert_int_equal(c->cut[k], (left_is_less ? left : right) * up[k]);
        from = middle[0];
        to = middle[1];
    }
}

/* Links of the hub that has fewest; hubs are the vertices behind NPUs. */
static int64_t least_hub(const struct plant *p)
{
    int64_t least = INT64_MAX;
    for (int32_t v = (int32_t)p->net.n_npus; v < p->routes.n_vertices; v++) {
        int64_t degree = 0;
        for (int32_t arc = 0; arc < p->routes.n_arcs; arc++)
            degree += p->routes.to[arc] == v;
        least = degree < least ? degree : least;
    }
    return least;
}

/* A brute-force wiring: every cable of every member that is there, and boxes as the sizes have them. */
TEST(graphs_and_counts_of_partly_filled_trees_agree)
{
    RNG(rng, 33, 11);
    for (int32_t t = 0; t < repeats(200); t++) {
        KEEP(struct plant, p, plant_close);
        char word[96];
        int32_t entry = draw_tree(word, rng);
        fill_partly(word, entry, rng);
        plant_word(&p, word, 0);
        plant_open(&p);
        const struct topo_dim *dim = &p.net.dims[entry];
        struct shape_counts c;
        topo_ops(dim)->counts(&c, dim);
        int64_t links = 0, nodes = topo_group_size(dim), room = 1, hubs = 0, boxes = 1,
                rails = topo_rails(dim);
        for (int32_t k = 0; k < dim->n_levels; k++) { /* leaves of m nodes, pods of leaves.. as sizes say */
            room *= topo_tree_places(dim, k);
            int64_t trees = (nodes + room - 1) / room * (k ? 1 : rails);
            hubs += trees * boxes;
            links += k ? 0 : p.net.n_npus;
            if (k + 1 < dim->n_levels) {
                boxes *= (int64_t)ceil((double)topo_tree_size(dim, k) / dim->fabric.taper[k] * (1 - 1e-12));
                links += trees * boxes;
            }
        }
        assert_int_equal(c.hubs, hubs);
        assert_int_equal(p.routes.n_vertices, p.net.n_npus + hubs + (entry ? nodes : 0));
        assert_int_equal(p.routes.n_arcs / 2, links + (entry ? p.net.n_npus : 0));
        if (!entry)
            assert_int_equal(c.hub_degree_min, least_hub(&p));
        if (dim->fabric.filled)
            assert_cut(&c, dim);
    }
}

/* ---- broadcasts ---- */

/* A chain of n members in k pieces: n - 2 + k steps of S/k, each over an NPU's port, whatever the taper. */
TEST(broadcasts_are_chains_that_flows_keep_up_with)
{
    static const char *const words[] = { "fat-tree:8x4/2@50", "fat-tree:4x4x4/2/1@50", "fat-tree:16x2@50",
                                         "fat-tree:8x4+filled27@50" };
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        struct plant p;
        struct collective_time ideal, time;
        double bw_Bps[TOPO_MAX_DIMS];
        plant_word(&p, words[i], 0);
        const struct collective_way way = { &p.net, &stage_rules_plain, topo_get_bandwidths(bw_Bps, &p.net) },
                                    endless = { &p.net, NULL, bw_Bps };
        collective_time(&time, COLLECTIVE_BROADCAST, S_B, p.all.members, NULL, NULL, &way);
        collective_time(&ideal, COLLECTIVE_BROADCAST, S_B, p.all.members, NULL, NULL, &endless);
        double n = (double)p.net.n_npus, pieces = STAGE_MAX_SEGMENTS;
        assert_close(ideal.time_s, S_B / 50e9, 1e-12);
        assert_close(time.time_s, (n - 2 + pieces) / pieces * S_B / 50e9, 1e-12);
        assert_close(time_of(&p, COLLECTIVE_BROADCAST), time.time_s, 1e-9);
    }
}
