/* Closed forms of networks against their adjacency, messages laid on links, and search in graphs. */
#include "tests/support.h"
#include "topo/graph.h"
#include "topo/halves.h"
#include "topo/shape.h"

static void read_word(struct topo_network *net, const char *word)
{
    MUST(topo_parse_spec(net, word, e));
}

/* One group as an adjacency matrix with its hubs behind the members; distances by Floyd and Warshall. */
enum { MAX_GROUP = 13 };
struct group {
    int n, n_vertices, n_links;
    int ends[MAX_GROUP * MAX_GROUP][2];
    int dist[MAX_GROUP + 1][MAX_GROUP + 1];
    bool link[MAX_GROUP + 1][MAX_GROUP + 1];
};

/* @p n members in one of the plain shapes. */
static struct topo_dim plain(enum topo_shape s, int n)
{
    return (struct topo_dim){ .shape = s, .size = n, .n_levels = 1 };
}

/* Fabrics have tests of their own (tests/unit/test_sim_fabric.c). */
static bool is_plain(enum topo_shape s, int n)
{
    struct err none = { 0 };
    return !topo_shapes[s]->settle && !topo_check_size(s, n, &none);
}

/* Straight from the definitions of TOPO_SHAPES, link by link; what a later shape says of itself is taken as
 * it is. */
static bool is_defined(enum topo_shape s)
{
    return s == TOPO_RING || s == TOPO_FULL || s == TOPO_SWITCH || s == TOPO_LINE;
}

static bool are_linked(enum topo_shape s, int n, int a, int b)
{
    bool next = a - b == 1 || b - a == 1;
    bool hub = a == n || b == n;
    if (s == TOPO_RING)
        return !hub && (next || a - b == n - 1 || b - a == n - 1);
    if (s == TOPO_LINE)
        return !hub && next;
    return (s == TOPO_SWITCH) == hub && a != b;
}

static void take_link(void *x, int64_t a, int64_t b)
{
    struct group *g = x;
    assert_true(a >= 0 && a < g->n_vertices && b >= 0 && b < g->n_vertices && a != b && !g->link[a][b]);
    g->link[a][b] = g->link[b][a] = true;
    g->ends[g->n_links][0] = (int)a;
    g->ends[g->n_links++][1] = (int)b;
}

static void build_group(struct group *g, enum topo_shape s, int n)
{
    struct shape_counts c;
    struct topo_dim dim = plain(s, n);
    topo_shapes[s]->counts(&c, &dim);
    *g = (struct group){ .n = n, .n_vertices = n + (int)c.hubs };
    topo_shapes[s]->edges(&dim, g, take_link);
    for (int a = 0; a < g->n_vertices; a++)
        for (int b = 0; b < g->n_vertices; b++) {
            if (is_defined(s))
                assert_true(g->link[a][b] == are_linked(s, n, a, b));
            g->dist[a][b] = a == b ? 0 : g->link[a][b] ? 1 : 1000;
        }
    for (int k = 0; k < g->n_vertices; k++)
        for (int a = 0; a < g->n_vertices; a++)
            for (int b = 0; b < g->n_vertices; b++)
                if (g->dist[a][k] + g->dist[k][b] < g->dist[a][b])
                    g->dist[a][b] = g->dist[a][k] + g->dist[k][b];
}

static int degree(const struct group *g, int a)
{
    int links = 0;
    for (int b = 0; b < g->n_vertices; b++)
        links += g->link[a][b];
    return links;
}

/* Least number of links between the members in @p half (a bit per member) and the others, over the hubs'
 * sides. */
static int cut_links(const struct group *g, unsigned half)
{
    int least = 1000;
    for (unsigned side = 0; side < 1u << (g->n_vertices - g->n); side++) {
        unsigned part = half | side << g->n;
        int cut = 0;
        for (int a = 0; a < g->n_vertices; a++)
            for (int b = 0; b < a; b++)
                cut += g->link[a][b] && (part >> a & 1) != (part >> b & 1);
        least = cut < least ? cut : least;
    }
    return least;
}

static int connectivity(const struct group *g)
{
    int least = 1000;
    for (unsigned half = 1; half + 1 < 1u << g->n; half++) {
        int cut = cut_links(g, half);
        least = cut < least ? cut : least;
    }
    return least;
}

TEST(shapes_follow_from_their_adjacency)
{
    for (enum topo_shape s = 0; s < N_TOPO_SHAPES; s++) {
        for (int n = 2; n <= 9; n++) {
            struct shape_counts c;
            struct group g;
            struct topo_dim dim = plain(s, n);
            if (!is_plain(s, n))
                continue;
            int links = 0, least = 1000, most = 0, longest = 0, hub = 1000;
            int64_t counted = 0, cut = 0;
            double sum = 0;
            topo_shapes[s]->counts(&c, &dim);
            build_group(&g, s, n);
            for (int a = 0; a < g.n_vertices; a++)
                links += degree(&g, a);
            for (int a = n; a < g.n_vertices; a++)
                hub = degree(&g, a) < hub ? degree(&g, a) : hub;
            for (int a = 0; a < n; a++) {
                least = degree(&g, a) < least ? degree(&g, a) : least;
                most = degree(&g, a) > most ? degree(&g, a) : most;
                for (int b = 0; b < n; b++) {
                    sum += g.dist[a][b];
                    longest = g.dist[a][b] > longest ? g.dist[a][b] : longest;
                }
            }
            for (int32_t k = 0; k < c.n_classes; k++) {
                counted += c.links[k];
                cut += c.cut[k];
            }
            assert_true(counted == links / 2 && topo_dim_links(&dim) == counted);
            assert_true(c.degree_min == least && c.degree_max == most);
            assert_true(c.hubs == 0 || c.hub_degree_min == hub);
            double hops;
            int64_t diameter;
            topo_shapes[s]->distances(&dim, &hops, &diameter);
            assert_true(hops == sum && diameter == longest && cut == cut_links(&g, (1u << n / 2) - 1));
            assert_true(c.connectivity == connectivity(&g));
        }
    }
}

/* ---- ways, and the loads that messages on them make ---- */

/* Bytes on each link, there and back; where the way under construction has come to. */
struct laid {
    const struct group *g;
    double bytes[MAX_GROUP * MAX_GROUP][2];
    int at, links;
    double share;
};

static int lay_step(void *x, int64_t link, bool back, struct err *e)
{
    struct laid *l = x;
    const int *ends = l->g->ends[link];
    /* Arcs lead from the lower number to the higher. */
    int from = (ends[0] < ends[1]) != back ? ends[0] : ends[1], to = from == ends[0] ? ends[1] : ends[0];
    (void)e;
    assert_int_equal(from, l->at);
    l->at = to;
    l->links++;
    l->bytes[link][back] += l->share;
    return 0;
}

static void lay(struct laid *l, enum topo_shape s, int a, int b, bool mirror, double share)
{
    l->at = a;
    l->links = 0;
    l->share = share;
    struct topo_dim dim = plain(s, l->g->n);
    MUST(topo_shapes[s]->way(&dim, a, b, mirror, l, lay_step, e));
    assert_true(l->at == b && l->links == l->g->dist[a][b]);
}

/* A message to the other side of a ring goes half by either way round. */
static void send(struct laid *l, enum topo_shape s, int a, int b, double share)
{
    int n = l->g->n, far = b > a ? b - a : a - b;
    bool split = topo_shapes[s]->lanes == SHAPE_BOTH && n > 2 && 2 * far == n;
    lay(l, s, a, b, false, split ? share / 2 : share);
    if (split)
        lay(l, s, a, b, true, share / 2);
}

/* What a bandwidth of 1 must carry; what was laid is taken off again. */
static double busiest(struct laid *l, enum topo_shape s)
{
    struct shape_counts c;
    double most = 0;
    int64_t link = 0;
    struct topo_dim dim = plain(s, l->g->n);
    topo_shapes[s]->counts(&c, &dim);
    for (int32_t k = 0; k < c.n_classes; k++)
        for (int64_t i = 0; i < c.links[k]; i++, link++)
            for (int way = 0; way < 2; way++) {
                most = fmax(most, l->bytes[link][way] / topo_shapes[s]->link_Bps(&dim, k, 1));
                l->bytes[link][way] = 0;
            }
    return l->g->n > 2 ? most * topo_shapes[s]->reach : most;
}

TEST(loads_are_those_of_messages_on_the_links)
{
    for (enum topo_shape s = 0; s < N_TOPO_SHAPES; s++)
        for (int n = 2; n <= 12; n++) {
            struct shape_load load;
            struct group g;
            struct topo_dim dim = plain(s, n);
            struct shape_group all = { .n = n, .members = { n } };
            double sum = 0;
            if (!is_plain(s, n))
                continue;
            build_group(&g, s, n);
            struct laid l = { .g = &g };
            for (int a = 0; a < n; a++)
                for (int b = 0; b < n; b++)
                    if (a != b)
                        send(&l, s, a, b, 1.0 / n);
            topo_shapes[s]->load(&load, SHAPE_DIRECT, &dim, &all);
            assert_close(load.load[0], busiest(&l, s), 1e-12);
            send(&l, s, 0, 1, 1);
            topo_shapes[s]->load(&load, SHAPE_SEND, &dim, &all);
            assert_close(load.load[0], busiest(&l, s), 1e-12);
            if (n & (n - 1))
                continue;
            for (int far = 1; far < n; far *= 2) {
                for (int a = 0; a < n; a++)
                    lay(&l, s, a, a ^ far, 2 * far == n && a >= far, 0.5 / far);
                sum += busiest(&l, s);
            }
            topo_shapes[s]->load(&load, SHAPE_HALVING, &dim, &all);
            assert_close(load.load[0], sum, 1e-12);
        }
}

/* From member to member as a group goes round: n-1 times S/n (a line: what is ahead or behind), or S down the
 * chain. Returns the most links of one message. */
static int lay_round(struct laid *l, enum topo_shape s, enum shape_pattern pattern)
{
    int n = l->g->n, longest = 0;
    bool next = pattern == SHAPE_NEXT, sweeps = n > 2 && topo_shapes[s]->lanes == SHAPE_SWEEP;
    int ways = n > 2 && topo_shapes[s]->lanes == SHAPE_BOTH ? 2 : 1;
    double share = next ? (n - 1.0) / n : 1;
    for (int a = 0; a < n; a++) {
        bool ends = a + 1 == n && (sweeps || !next);
        for (int way = 0; way < ways && !ends; way++) {
            int from = way ? (n - a) % n : a, to = way ? n - 1 - a : (a + 1) % n;
            lay(l, s, from, to, false, sweeps && next ? (a + 1.0) / n : share / ways);
            longest = l->links > longest ? l->links : longest;
        }
        if (sweeps && next && !ends)
            lay(l, s, a + 1, a, false, (n - 1.0 - a) / n);
    }
    return longest;
}

TEST(rounds_load_links_as_every_shape_says)
{
    for (enum topo_shape s = 0; s < N_TOPO_SHAPES; s++)
        for (int n = 2; n <= 12; n++) {
            struct shape_load load;
            struct group g;
            double sum;
            int64_t diameter;
            struct topo_dim dim = plain(s, n);
            struct shape_group all = { .n = n, .members = { n } };
            if (!is_plain(s, n))
                continue;
            build_group(&g, s, n);
            topo_shapes[s]->distances(&dim, &sum, &diameter);
            struct laid l = { .g = &g };
            for (int k = 0; k < 2; k++) {
                enum shape_pattern pattern = k ? SHAPE_PASS : SHAPE_NEXT;
                int longest = lay_round(&l, s, pattern);
                topo_shapes[s]->load(&load, pattern, &dim, &all);
                assert_close(load.load[0], busiest(&l, s), 1e-12);
                assert_close(load.hops, (n - 1) * longest * topo_shapes[s]->hop_share, 1e-12);
            }
            topo_shapes[s]->load(&load, SHAPE_DIRECT, &dim, &all);
            assert_close(load.hops, (double)diameter * topo_shapes[s]->hop_share, 1e-12);
        }
}

/* ---- direct exchanges of a fabric, on the mean ---- */

/* Links that a way passes, by class. */
struct passed {
    int64_t first[SHAPE_CLASSES + 1], links[SHAPE_CLASSES], of_way;
};

static int pass_step(void *x, int64_t link, bool back, struct err *e)
{
    struct passed *p = x;
    int k = 0;
    (void)back, (void)e;
    while (link >= p->first[k + 1])
        k++;
    p->links[k]++;
    p->of_way++;
    return 0;
}

/* Are NPUs @p a and @p b in one group? Of each level the members of a group are a stride apart. */
static bool are_together(const struct topo_dim *dim, const struct shape_group *g, int64_t a, int64_t b)
{
    for (int32_t k = 0; k < dim->n_levels; k++) {
        int64_t i = a % dim[k].size, j = b % dim[k].size, s = g->stride[k], span = s * g->members[k];
        if (i / span != j / span || i % s != j % s)
            return false;
        a /= dim[k].size;
        b /= dim[k].size;
    }
    return true;
}

/* S/n to every other member by the fabric's own way: over the links of a class, what the form has as the mean
 * and no more than what it has of the busiest; of a whole fabric these are one where it names no mean. */
static void check_mean(const char *word, struct rng *rng, bool whole)
{
    struct topo_network net;
    struct shape_counts c;
    struct shape_load l;
    struct passed p = { { 0 }, { 0 }, 0 };
    int64_t longest = 0;
    struct shape_group g = { .flat = true, .n = 1 };
    read_word(&net, word);
    const struct topo_dim *dim = net.dims;
    for (int32_t k = 0; k < dim->n_levels; k++) {
        do
            g.members[k] = whole ? dim[k].size : 1 + (int32_t)rng_below(rng, dim[k].size);
        while (dim[k].size % g.members[k]);
        do
            g.stride[k] = whole ? 1 : 1 + (int32_t)rng_below(rng, dim[k].size / g.members[k]);
        while (dim[k].size % (g.members[k] * g.stride[k]));
        g.n *= g.members[k];
    }
    if (g.n < 2)
        return;
    topo_ops(dim)->counts(&c, dim);
    for (int32_t k = 0; k < c.n_classes; k++)
        p.first[k + 1] = p.first[k] + c.links[k];
    for (int64_t a = 0; a < net.n_npus; a++)
        for (int64_t b = 0; b < net.n_npus; b++)
            if (are_together(dim, &g, a, b)) {
                p.of_way = 0;
                MUST(topo_ops(dim)->way(dim, a, b, false, &p, pass_step, e));
                longest = p.of_way > longest ? p.of_way : longest;
            }
    topo_ops(dim)->load(&l, SHAPE_DIRECT, dim, &g);
    if (whole && fabs(l.hops - (double)longest * topo_dim_link_s(dim, 1)) > 1e-12)
        fail_msg("%s: %g hops, %lld links on the longest way", word, l.hops, (long long)longest);
    for (int32_t k = 0; k < c.n_classes && c.links[k] > 0; k++) {
        double carried = 2 * (double)c.links[k] * topo_ops(dim)->link_Bps(dim, k, 1);
        double mean = (double)p.links[k] / g.n / carried;
        bool uneven = l.mean[k] > 0 || !whole;
        if (l.load[k] < mean * (1 - 1e-12) || (l.mean[k] > 0 && fabs(l.mean[k] - mean) > 1e-12) ||
            (!uneven && fabs(l.load[k] - mean) > 1e-12))
            fail_msg("%s, %d of it, class %d: mean %.17g, busiest %.17g by form, %.17g by messages", word,
                     (int)g.n, (int)k, l.mean[k], l.load[k], mean);
    }
}

TEST(means_are_what_direct_messages_put_on_all_links_of_a_class)
{
    static const char *const words[] = {
        "dragonfly:2x4x9^2@1",
        "dragonfly:1x4x4^3@1",
        "dragonfly:4x2x4^2@1",
        "dragonfly:3x3x5^4@1",
        "dragonfly+:2x2x5^2^2@1",
        "dragonfly+:4x2x4^2^3@1",
        "dragonfly+:3x4x6^3^2@1",
        "slim-fly:2x18@1",
        "slim-fly:1x32@1",
        "slim-fly:2x50@1",
        "slim-fly:1x98@1",
        "fat-tree:8x4/2@1",
        "fat-tree:4x2x4/2/1.5@1",
        "hyperx:4x3@1.6666666666666667",
        "hyperx:3x3x2@2.5",
        "hyperx:4x3^2@1",
        "torus:4x6@2",
        "torus:3x5x2@2.5",
        "hammingmesh:2x2x3x3@2",
        "hammingmesh:1x3x2x4@2",
        "hammingmesh:4x5x2x2@2",
    };
    RNG(rng, 33, 0);
    for (size_t i = 0; i < COUNT_OF(words); i++)
        for (int round = 0; round < 12; round++)
            check_mean(words[i], rng, round == 0);
}

/* A ring through all boards of a row, n boards of m: n m - 1 steps of two links, those through a switch. Each
 * NPU sends (n m - 1)/(n m) of S over its links on the board, and every m-th that over the switch. */
TEST(rings_of_a_hammingmesh_pass_boards_and_switches)
{
    CASES(const char *word; int32_t level, n, board) = {
        { "hammingmesh:2x2x3x4@2", 0, 6, 2 },
        { "hammingmesh:2x3x3x4@2", 1, 12, 3 },
        { "hammingmesh:1x2x4x2@2", 0, 4, 1 },
        { "hammingmesh:5x2x2x2@2", 0, 10, 5 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net;
        struct shape_load l;
        read_word(&net, cases[i].word);
        int32_t level = cases[i].level;
        struct shape_group row = { .level = level, .n = cases[i].n, .members = { cases[i].n } };
        double sent = (cases[i].n - 1.0) / cases[i].n;
        topo_ops(net.dims)->load(&l, SHAPE_NEXT, net.dims, &row);
        assert_true(l.hops == 2 * (cases[i].n - 1));
        assert_close(l.load[level] + 1, (cases[i].board > 1 ? sent : 0) + 1, 1e-14);
        assert_close(l.load[level + 2], sent / cases[i].board, 1e-14);
        assert_true(l.load[1 - level] == 0 && l.load[3 - level] == 0);
    }
}

/* The definitions of design and header: what a member's links carry together is its bandwidth. */
TEST(link_capacity_is_the_members_share)
{
    static const struct {
        enum topo_shape shape;
        int n;
        double share;
    } cases[] = {
        { TOPO_RING, 2, 1 },     { TOPO_RING, 3, 0.5 }, { TOPO_RING, 16, 0.5 }, { TOPO_FULL, 2, 1 },
        { TOPO_FULL, 9, 0.125 }, { TOPO_SWITCH, 2, 1 }, { TOPO_SWITCH, 64, 1 }, { TOPO_LINE, 2, 1 },
        { TOPO_LINE, 3, 0.5 },   { TOPO_LINE, 8, 0.5 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_true(topo_shapes[cases[i].shape]->link_Bps(&(struct topo_dim){ .size = cases[i].n }, 0,
                                                          64e9) == 64e9 * cases[i].share);
    assert_true(isnan(topo_shapes[TOPO_FULL]->link_Bps(&(struct topo_dim){ .size = 4 }, 0, NAN)));
    assert_true(topo_dim_link_s(&(struct topo_dim){ .shape = TOPO_SWITCH }, 2e-6) == 1e-6);
    assert_true(topo_dim_link_s(&(struct topo_dim){ .shape = TOPO_RING }, 2e-6) == 2e-6);
}

/*
 * Textbook values. k-ary n-cubes: diameter n*k/2, 2k^(n-1) links across the middle (Dally and Towles,
 * Principles and Practices of Interconnection Networks, 2004, ch. 5); hypercube: n 2^(n-1) links, diameter n,
 * 2^(n-1) across.
 */
TEST(known_networks_have_their_textbook_metrics)
{
    static const struct {
        const char *word;
        int64_t links, degree, diameter, connectivity;
        double mean_hops, bisection_GBps;
    } cases[] = {
        { "ring:16@2 ring:16@2 ring:16@2", 12288, 6, 24, 6, 12.0 * 4096 / 4095, 512 },
        { "ring:2@1 ring:2@1 ring:2@1 ring:2@1", 32, 4, 4, 4, 2.0 * 16 / 15, 8 },
        { "full:8@7", 28, 7, 1, 7, 1, 16 },
        { "switch:32@50", 32, 1, 2, 1, 2, 800 },
        { "line:5@2", 4, 1, 4, 1, 2, 1 },
        { "ring:7@2", 7, 2, 3, 2, 2, 2 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net;
        struct topo_metrics m;
        read_word(&net, cases[i].word);
        topo_metrics(&m, &net);
        assert_true(m.n_links == cases[i].links && m.npu_degree_min == cases[i].degree);
        assert_true(m.diameter_hops == cases[i].diameter && m.edge_connectivity == cases[i].connectivity);
        assert_close(m.mean_hops, cases[i].mean_hops, 1e-14);
        assert_close(m.bisection_Bps, cases[i].bisection_GBps * 1e9, 1e-14);
        assert_true(m.connected && !m.hops_sampled && !m.bisection_is_bound);
    }
}

TEST(bandwidth_not_chosen_leaves_bisection_unknown)
{
    struct topo_network net;
    struct topo_metrics m;
    read_word(&net, "ring:4 full:8@70 switch:32@50");
    topo_metrics(&m, &net);
    assert_true(isnan(m.bisection_Bps) && m.bisection_dim == -1 && m.n_npus == 1024 && m.n_switches == 32);
    assert_true(m.edge_connectivity == 10);
}

/* By hand: of an odd ring each of the others is cut in two places, and the slice in the middle is halved. */
TEST(halves_are_the_best_of_all_orders_of_axes)
{
    CASES(const char *word; double cut_GBps; int32_t dim; bool is_bound) = {
        { "ring:4@100 ring:5@1", 4 * 1 + 100, 1, true },
        { "ring:3@100 ring:5@1", 3 * 1 + 100, 1, true },
        { "ring:4@10 ring:4@10", 40, 0, false },
        { "torus:16x8@20", 80, 0, false },
        { "torus:8x16@20", 80, 1, false },
        { "torus:64x2@15", 20, 0, false },
        { "torus:32x4x4@30", 160, 0, false },
        { "torus:16x12x8@30", 960, 0, false },
        { "torus:4x4x3@30", 120, 0, false },
        { "torus:16x9@20", 90, 0, false },
        { "torus:9x16@20", 90, 1, false },
        { "torus:5x5x3@30", (15 + 3 + 1) * 10, 0, false },
        { "hyperx:2x16@160", 160, 0, false },
        { "hyperx:2x3@30", 30, 0, false },
        { "hammingmesh:3x1x2x2@2", 2, 2, false },
        { "hammingmesh:4x1x8x8@20", 320, 2, false },
        { "hammingmesh:1x4x8x8@20", 320, 3, false },
        { "switch:6@1 switch:6@1", 18, 0, true }, /* a corner of 4 x 4 and 2 more have 16 */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net;
        struct topo_metrics m;
        read_word(&net, cases[i].word);
        topo_metrics(&m, &net);
        if (m.bisection_dim != cases[i].dim || m.bisection_is_bound != cases[i].is_bound)
            fail_msg("%s: halving dimension %d%s", cases[i].word, m.bisection_dim,
                     m.bisection_is_bound ? ", at most" : "");
        assert_close(m.bisection_Bps, cases[i].cut_GBps * 1e9, 1e-12);
    }
}

/* ---- bisection against all halves ---- */

enum { MOST_HALVED = 20, MOST_VERTICES = 64 };

/* A graph of which every set of the first `n` vertices is tried, NPUs and the hubs that are linked to hubs;
 * each of the others goes where it cuts less. */
struct halved {
    int n_npus, n, n_vertices, in[MOST_VERTICES];
    double GBps[MOST_VERTICES][MOST_VERTICES], best;
};

/* False: too large to try all. */
static bool open_halved(struct halved *x, const struct topo_network *net)
{
    struct topo_graph *g;
    int place[MOST_VERTICES];
    bool linked[MOST_VERTICES] = { false };
    *x = (struct halved){ .n_npus = (int)net->n_npus };
    if (net->n_npus > 16)
        return false;
    MUST(topo_build_graph(&g, net, NULL, e));
    x->n_vertices = (int)topo_graph_vertices(g);
    int64_t n_links = topo_graph_links(g);
    struct topo_link *links = calloc((size_t)n_links, sizeof *links);
    assert_non_null(links);
    MUST(topo_list_links(links, g, e));
    topo_graph_free(g);
    for (int64_t i = 0; i < n_links && x->n_vertices <= MOST_VERTICES; i++)
        if (links[i].src >= x->n_npus && links[i].dst >= x->n_npus)
            linked[links[i].src] = linked[links[i].dst] = true;
    for (int pass = 0; pass < 2; pass++)
        for (int v = 0; v < x->n_vertices && x->n_vertices <= MOST_VERTICES; v++)
            if ((v < x->n_npus || linked[v]) == (pass == 0))
                place[v] = x->n++;
    int others = 0;
    for (int v = x->n_npus; v < x->n_vertices && x->n_vertices <= MOST_VERTICES; v++)
        others += !linked[v];
    x->n = x->n_vertices - others;
    bool fits = x->n_vertices <= MOST_VERTICES && x->n <= MOST_HALVED;
    for (int64_t i = 0; i < n_links && fits; i++) {
        int a = place[links[i].src], b = place[links[i].dst];
        x->GBps[a][b] = x->GBps[b][a] += links[i].bw_Bps / 1e9;
    }
    free(links);
    return fits;
}

/* The halves that begin with a choice for the vertices before @p v: what that cuts already is never given
 * back, so that no half is missed where this is as much as the best. Vertex 0 stays. */
static void halve(struct halved *x, int v, int n_in, double cut)
{
    int half = x->n_npus / 2, least = half, most = x->n_npus - half;
    if (cut >= x->best || n_in > most || n_in + (v < x->n_npus ? x->n_npus - v : 0) < least)
        return;
    if (v == x->n_vertices) {
        x->best = cut;
        return;
    }
    double to[2] = { 0, 0 };
    for (int b = 0; b < (v < x->n ? v : x->n); b++)
        to[x->in[b]] += x->GBps[v][b];
    if (v >= x->n) {
        halve(x, v + 1, n_in, cut + fmin(to[0], to[1]));
        return;
    }
    for (int in = v == 0; in < 2; in++) {
        x->in[v] = in;
        halve(x, v + 1, n_in + (in && v < x->n_npus), cut + to[!in]);
    }
}

static double least_of_all_halves(struct halved *x)
{
    x->best = INFINITY;
    halve(x, 0, 0, 0);
    return x->best;
}

struct tried {
    int n, n_exact, n_met; /* all; said to be the least; that are the least */
};

static void try_word(struct tried *t, const char *word)
{
    struct topo_network net;
    struct topo_metrics m;
    struct err none = { 0 };
    static struct halved x;
    if (topo_parse_spec(&net, word, &none) || !open_halved(&x, &net))
        return;
    topo_metrics(&m, &net);
    double least = least_of_all_halves(&x), cut = m.bisection_Bps / 1e9;
    bool met = cut <= least * (1 + 1e-9);
    if (cut < least * (1 - 1e-9) || (!met && !m.bisection_is_bound))
        fail_msg("%s: %s%.10g GB/s, %.10g of all halves", word, m.bisection_is_bound ? "at most " : "", cut,
                 least);
    t->n++;
    t->n_exact += !m.bisection_is_bound;
    t->n_met += met;
}

/* Sizes 2 .. 8 along up to four axes, in every order; sizes of 1 are left out of the word. */
static void try_sizes(struct tried *t, const char *before, const char *behind)
{
    for (int code = 0; code < 8 * 8 * 8 * 8; code++) {
        int n[4] = { code % 8 + 1, code / 8 % 8 + 1, code / 64 % 8 + 1, code / 512 + 1 }, axes = 0;
        char word[96];
        size_t at = (size_t)snprintf(word, sizeof word, "%s", before);
        if (n[0] * n[1] * n[2] * n[3] > 16)
            continue;
        for (; axes < 4 && n[axes] > 1; axes++)
            at += (size_t)snprintf(word + at, sizeof word - at, "%c%d", axes ? 'x' : ':', n[axes]);
        snprintf(word + at, sizeof word - at, "%s", behind);
        bool gap = false;
        for (int k = axes; k < 4; k++)
            gap = gap || n[k] > 1;
        if (!gap)
            try_word(t, word);
    }
}

TEST(tori_and_hyperx_have_the_least_of_all_halves)
{
    struct tried torus = { 0 }, hyper = { 0 }, beside = { 0 };
    try_sizes(&torus, "torus", "@6");
    try_sizes(&hyper, "hyperx", "@6");
    try_sizes(&beside, "full:2@9 torus", "@6");
    try_sizes(&beside, "torus", "@6 ring:3@1");
    try_sizes(&beside, "line:3@5 hyperx", "@12");
    try_sizes(&beside, "switch:3@5 hyperx", "@12");
    assert_true(torus.n == 27 && torus.n_exact == 23 && torus.n_met == torus.n);
    assert_true(hyper.n == 27 && hyper.n_exact == 23 && hyper.n_met == hyper.n);
    assert_true(beside.n == 9 && beside.n_exact == 6 && beside.n_met == beside.n);
}

/* Of all sizes up to 6 of each template: how many networks of up to 16 NPUs there are, of how many the cut is
 * said to be the least, and of how many it is. */
TEST(other_networks_have_the_least_of_all_halves_or_say_at_most)
{
    CASES(const char *word; int n_sizes, n, n_exact, n_met) = {
        { "hammingmesh:%dx%dx%dx%d@4", 4, 30, 23, 26 },
        { "hyperx:%dx%d^%d@6", 3, 13, 5, 13 },
        { "fat-tree:%dx%d/%d@4", 3, 136, 97, 136 },
        { "fat-tree:%dx%dx%d@4", 3, 25, 25, 25 },
        { "dragonfly:%dx%dx%d^%d@4", 4, 76, 1, 56 },
        { "dragonfly+:%dx%dx%d^%d^1@4", 4, 57, 27, 57 },
        { "switch:%d@9 fat-tree:%dx%d/%d+shared@4", 4, 136, 51, 113 },
        { "switch:%d@3 switch:%d@2 switch:%d@1", 3, 7, 6, 7 },
        { "switch:%d@3 ring:%d@2 line:%d@1", 3, 7, 6, 7 },
        { "full:%d@4 ring:%d@4 switch:%d@2", 3, 7, 6, 7 },
        { "line:%d@4 line:%d@4", 2, 15, 11, 15 },
        { "line:%d@4 ring:%d@3", 2, 15, 8, 15 },
        { "switch:%d@4 switch:%d@4", 2, 15, 10, 11 },
        { "ring:%d@3 fat-tree:%dx%d/2@5", 3, 17, 12, 15 },
        { "full:%d@3 dragonfly:1x%dx%d^%d@2", 4, 6, 0, 6 },
        { "switch:%d*2@4 ring:%d@3", 2, 15, 9, 13 },
        { "torus:2x4+twist@6", 0, 1, 0, 1 },
        { "torus:2x2x4+twist@8", 0, 1, 0, 1 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct tried t = { 0 };
        for (int code = 0; code < pow(6, cases[i].n_sizes); code++) {
            char word[96];
            snprintf(word, sizeof word, cases[i].word, 1 + code % 6, 1 + code / 6 % 6, 1 + code / 36 % 6,
                     1 + code / 216);
            try_word(&t, word);
        }
        if (t.n != cases[i].n || t.n_exact != cases[i].n_exact || t.n_met != cases[i].n_met)
            fail_msg("%s: of %d networks %d are said to be exact, %d are\n", cases[i].word, t.n, t.n_exact,
                     t.n_met);
    }
}

/* The largest network that can be described: nothing overflows. */
TEST(counts_fit_at_the_largest_size)
{
    struct topo_network net;
    struct topo_metrics m;
    read_word(&net, "full:16777216@1 switch:64@1");
    topo_metrics(&m, &net);
    assert_true(m.n_npus == INT64_C(1) << 30 && m.n_switches == 16777216);
    assert_true(m.n_links == 64 * (INT64_C(16777216) * 16777215 / 2) + (INT64_C(1) << 30));
    assert_true(m.npu_degree_max == 16777216 && m.edge_connectivity == 64);
}

/* Do all halves that are tried have exactly what the formulas say between them? */
static bool are_counted(const struct topo_network *net)
{
    struct topo_halves halves[TOPO_MAX_DIMS];
    bool counted = true;
    for (int32_t i = topo_find_halves(halves, net); i-- > 0;)
        counted = counted && halves[i].counted;
    return counted;
}

/* True: search cuts less than a bound. */
static bool compare_with_search(const struct topo_network *net)
{
    struct topo_metrics closed, found;
    struct topo_graph *g;
    char word[TOPO_SPEC];
    topo_format_spec(word, net);
    topo_metrics(&closed, net);
    MUST(topo_build_graph(&g, net, NULL, e));
    MUST(topo_graph_metrics(&found, g, e));
    topo_graph_free(g);

    bool same = closed.n_npus == found.n_npus && closed.n_switches == found.n_switches &&
                closed.n_links == found.n_links && closed.npu_degree_min == found.npu_degree_min &&
                closed.npu_degree_max == found.npu_degree_max &&
                closed.diameter_hops == found.diameter_hops &&
                closed.edge_connectivity == found.edge_connectivity && found.connected && !found.hops_sampled;
    if (!same)
        print_error("%s: connectivity %lld by formula, %lld by search\n", word,
                    (long long)closed.edge_connectivity, (long long)found.edge_connectivity);
    assert_true(same);
    assert_close(found.mean_hops, closed.mean_hops, 1e-13);
    if (are_counted(net))
        assert_close(found.bisection_Bps, closed.bisection_Bps, 1e-9);
    else
        assert_true(found.bisection_Bps <= closed.bisection_Bps * (1 + 1e-9));
    assert_true(closed.bisection_is_bound || !found.bisection_is_bound);
    assert_in_range((unsigned long)found.bisection_dim, 0, (unsigned long)net->n_dims - 1);
    return found.bisection_Bps < closed.bisection_Bps * (1 - 1e-9);
}

TEST(formulas_equal_search_on_chosen_networks)
{
    static const char *const words[] = {
        "ring:2@3",
        "ring:3@3",
        "full:2@3",
        "switch:2@3",
        "line:2@3",
        "line:3@3",
        "full:3@5",
        "switch:2@1 switch:2@1",
        "switch:2@1 switch:3@2",
        "switch:2@3 switch:2@2 switch:2@1",
        "switch:7@10",
        "line:2@1 line:3@1 line:4@1",
        "line:9@2 switch:3@4",
        "ring:3@1 ring:5@2 ring:7@4",
        "full:9@8 full:9@8",
        "ring:2@1 ring:2@1 ring:2@1 ring:2@1 ring:2@1 ring:2@1 ring:2@1 ring:2@1",
        "ring:2@8 full:2@7 switch:2@6 line:2@5 ring:2@4 full:2@3 switch:2@2 line:2@1",
        "switch:3@1 full:3@2 ring:3@3 line:3@4 switch:2@5",
        "full:16@30 switch:4@10",
        "full:4@30 switch:16@10",
        "ring:4@250 full:8@140 ring:4@80 switch:8@50",
        "ring:16@100 full:8@70 switch:16@25",
        "ring:40@2 line:40@2",
        "fat-tree:2x2@1",
        "fat-tree:8x4/2@100",
        "fat-tree:4x6/3@100",
        "fat-tree:4x5^2@100",
        "fat-tree:2x2^4@1",
        "fat-tree:4x4x2^4^8@1",
        "ring:3@2 fat-tree:3x3^5@1",
        "switch:4@9 fat-tree:3x2^5+shared@1",
        "fat-tree:4x2x4/2/1.5@100",
        "fat-tree:4x2x4^2^2@100",
        "fat-tree:2x3x4x2/1/2/1@8",
        "ring:3@2 fat-tree:4x3/2@9 full:3@4",
        "full:4@300 fat-tree:8x4x2/1.5@50",
        "switch:4@100 fat-tree:4x1+shared@10",
        "switch:8@450 fat-tree:8x2/2+shared@50",
        "full:3@20 fat-tree:3x3/1.5+forward@10",
        "full:2@90 switch:4@80 fat-tree:4x3x2/2+shared@10",
        "full:2@90 ring:3@80 fat-tree:2x2x3+shared@10 switch:2@1",
        "ring:2@9 fat-tree:4x2^3+shared@10",
        "switch:72*18@900",
        "switch:6*3@90 fat-tree:4x2/2+shared*2@50",
        "switch:8@450 fat-tree:4x2/2+rails2@50",
        "switch:6@90 fat-tree:3x2+rails3@50",
        "switch:6@90 fat-tree:3x2^5+rails1@50",
        "fat-tree:2x2/2@300 fat-tree:4x2/2+rails2@50",
        "fat-tree:2x3/2@300 fat-tree:4x2/2+shared@50",
        "fat-tree:2x2x2@300 switch:2@100 fat-tree:2x3/2+rails4@50",
        "full:4@90 switch:4@80 fat-tree:4x3x2/2+rails2@10",
        "full:2@90 switch:4@80 fat-tree:2x2x3+rails4@10 switch:2@1",
        "switch:9@90 fat-tree:2x3+rails3*2@50",
        "fat-tree:4x3*4@50 ring:4@3",
        "dragonfly:1x2x3^1@10",
        "dragonfly:2x4x9^2@10",
        "dragonfly:2x4x5^2@10",
        "dragonfly:3x3x4^2@10",
        "ring:4@10 dragonfly:2x2x4^2@10",
        "torus:4x4@12",
        "torus:2x2x2@18",
        "torus:3x5@4",
        "torus:2x3x4@5",
        "torus:3x2x5x2@3",
        "torus:4x4x8@9",
        "torus:4x8+twist@2",
        "torus:5x10+twist@2",
        "torus:2x2x4+twist@4",
        "torus:3x3x6+twist@3",
        "torus:4x4x8+twist@3",
        "torus:4x8x8+twist@3",
        "torus:3x6x6+twist@3",
        "full:3@2 torus:2x4+twist@3",
        "dragonfly+:2x2x5^2^2@10",
        "dragonfly+:3x3x10^3^3@10",
        "dragonfly+:2x1x4^3^1@10",
        "ring:3@10 dragonfly+:2x2x3^2^1@10",
        "slim-fly:1x18@10",
        "slim-fly:3x32@10",
        "slim-fly:4x50@10",
        "slim-fly:7x162@10",
        "full:2@50 slim-fly:2x18@10",
        "hyperx:4x4@12",
        "hyperx:3x5@18",
        "hyperx:2x3x3@30",
        "hyperx:5x5x3@15",
        "hyperx:4x3^2@6",
        "hyperx:3x3^3@6",
        "hyperx:5^4@6",
        "ring:3@2 hyperx:3x2^2@4",
        "hammingmesh:1x1x2x3@8",
        "hammingmesh:1x1x3x3@8",
        "hammingmesh:2x2x2x2@8",
        "hammingmesh:2x2x3x3@8",
        "hammingmesh:4x4x2x2@8",
        "hammingmesh:3x3x2x3@8",
        "hammingmesh:3x3x3x3@8",
        "hammingmesh:5x1x3x2@8",
        "hammingmesh:1x3x3x3@8",
        "full:3@2 hammingmesh:2x1x2x2@8",
    };
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        struct topo_network net;
        read_word(&net, words[i]);
        compare_with_search(&net);
    }
}

/* Links of one vertex: to lower numbers, its leaves, and to others. */
struct sides {
    int64_t at;
    int32_t below, other;
    int64_t first; /* of its kind */
};

static void count_side(void *x, int64_t a, int64_t b)
{
    struct sides *s = x;
    s->below += b == s->at && a < s->first;
    s->other += (a == s->at || b == s->at) && a >= s->first;
}

/* A dragonfly+ says that its cut is exact as long as no spine has more links to groups than to leaves,
 * counted here; there and one beyond, where a mix of leaves and spines does cut less. */
TEST(a_cut_is_said_to_be_a_bound_where_it_is_one)
{
    int n_bounds = 0, n_exact = 0, n_less = 0;
    for (int code = 0; code < 2 * 4 * 5 * 3 * 4; code++) {
        int p = 1 + code % 2, l = 1 + code / 2 % 4, g = 2 + code / 8 % 5, s = 1 + code / 40 % 3,
            h = 1 + code / 120;
        char word[64];
        struct topo_network net;
        struct shape_counts c;
        struct err none = { 0 };
        snprintf(word, sizeof word, "dragonfly+:%dx%dx%d^%d^%d@%d", p, l, g, s, h, p);
        if (topo_parse_spec(&net, word, &none))
            continue;
        topo_ops(net.dims)->counts(&c, net.dims);
        topo_ops(net.dims)->cut(&c, net.dims);
        struct sides spine = { .first = (int64_t)p * l * g + l * g };
        bool beyond = false;
        for (spine.at = spine.first; spine.at < spine.first + s * g; spine.at++) {
            spine.below = spine.other = 0;
            topo_ops(net.dims)->edges(net.dims, &spine, count_side);
            assert_int_equal(spine.below, l);
            beyond = beyond || spine.other > l;
        }
        if (c.cut_is_bound != beyond)
            fail_msg("%s: said to be %s", word, c.cut_is_bound ? "a bound" : "exact");
        n_bounds += beyond;
        n_exact += !beyond;
        n_less += compare_with_search(&net);
    }
    assert_true(n_exact > 50 && n_bounds > 50 && n_less > 0);
}

/* Of an odd number of groups the one in the middle is cut: routers one by one. */
TEST(middle_groups_of_dragonflies_are_cut_where_that_is_least)
{
    int n = 0;
    for (int code = 0; code < 4 * 4 * 3 * 2; code++) {
        int p = 1 + code % 4, a = 2 + code / 4 % 4, h = 1 + code / 16 % 3, g = 3 + 2 * (code / 48);
        char word[64];
        struct topo_network net;
        struct err none = { 0 };
        snprintf(word, sizeof word, "dragonfly:%dx%dx%d^%d@%d", p, a, g, h, p);
        if (topo_parse_spec(&net, word, &none))
            continue;
        compare_with_search(&net);
        n++;
    }
    assert_in_range(n, 80, 96);
}

/* The first @p n_shapes plain shapes, 1 to 8 dimensions, at most @p most NPUs. */
static void draw_shapes(struct topo_network *net, struct rng *rng, int64_t n_shapes, int64_t most)
{
    topo_network_defaults(net);
    int64_t want = 1 + rng_below(rng, TOPO_MAX_DIMS);
    while (net->n_dims < want && net->n_npus * 2 <= most) {
        int64_t room = most / net->n_npus, left = want - net->n_dims;
        int64_t top = (int64_t)floor(pow((double)room, 1.0 / (double)left));
        struct topo_dim *dim = &net->dims[net->n_dims];
        topo_dim_defaults(dim, net->n_dims++);
        dim->shape = (enum topo_shape)rng_below(rng, n_shapes);
        dim->size = 2 + (int32_t)(top > 2 ? rng_below(rng, top - 1) : 0);
        struct err none = { 0 };
        while (topo_check_size(dim->shape, dim->size, &none))
            dim->size--;
        dim->bw_Bps = 1e9 * rng_log_range(rng, 1, 1000);
        net->n_npus *= dim->size;
    }
}

static void draw_network(struct topo_network *net, struct rng *rng, int64_t most)
{
    draw_shapes(net, rng, N_TOPO_PLAIN, most);
}

TEST(formulas_equal_search_on_random_networks)
{
    static const struct {
        int n_networks;
        int64_t most_npus;
    } batches[] = { { 300, 40 }, { 60, 300 }, { 6, 2000 } };
    RNG(rng, 31, 0);
    for (size_t b = 0; b < COUNT_OF(batches); b++) {
        for (int i = 0; i < batches[b].n_networks; i++) {
            struct topo_network net;
            draw_network(&net, rng, batches[b].most_npus);
            compare_with_search(&net);
        }
    }
}

TEST(random_networks_have_the_least_of_all_halves_or_say_at_most)
{
    struct tried t = { 0 };
    RNG(rng, 33, 0);
    /* Counts below are of these shapes; others are counted by other tests. */
    for (int i = 0; i < 400; i++) {
        struct topo_network net;
        char word[TOPO_SPEC];
        draw_shapes(&net, rng, TOPO_LINE + 1, 14);
        topo_format_spec(word, &net);
        try_word(&t, word);
    }
    assert_true(t.n == 400 && t.n_exact == 362 && t.n_met == 397);
}

/* The same links under another name: axes in any order, and as dimensions of their own. */
TEST(bisection_does_not_depend_on_the_order_of_axes)
{
    static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                      { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    RNG(rng, 34, 0);
    for (int i = 0; i < 200; i++) {
        int n[3];
        for (int k = 0; k < 3; k++)
            n[k] = 2 + (int)rng_below(rng, 30);
        struct topo_metrics first[3], m;
        for (int o = 0; o < 6; o++) {
            const int *p = orders[o], x = n[p[0]], y = n[p[1]], z = n[p[2]];
            char words[3][2][128];
            snprintf(words[0][0], 128, "torus:%dx%dx%d@%d", x, y, z, 6 * (3 + (x > 2) + (y > 2) + (z > 2)));
            snprintf(words[0][1], 128, "ring:%d@%d ring:%d@%d ring:%d@%d", x, x > 2 ? 12 : 6, y,
                     y > 2 ? 12 : 6, z, z > 2 ? 12 : 6);
            snprintf(words[1][0], 128, "hyperx:%dx%dx%d@%d", x, y, z, x + y + z - 3);
            snprintf(words[1][1], 128, "full:%d@%d full:%d@%d full:%d@%d", x, x - 1, y, y - 1, z, z - 1);
            snprintf(words[2][0], 128, "hammingmesh:%dx%dx%dx%d@8", n[p[0]], n[2 - p[0]], n[1], n[1]);
            snprintf(words[2][1], 128, "hammingmesh:%dx%dx%dx%d@8", n[2 - p[0]], n[p[0]], n[1], n[1]);
            for (int w = 0; w < 3; w++)
                for (int form = 0; form < 2; form++) {
                    struct topo_network net;
                    read_word(&net, words[w][form]);
                    topo_metrics(&m, &net);
                    if (o == 0 && form == 0)
                        first[w] = m;
                    if (w == 2 && p[0] == 1) /* another mesh */
                        continue;
                    assert_close(m.bisection_Bps, first[w].bisection_Bps, 1e-12);
                    assert_true(m.bisection_is_bound == first[w].bisection_is_bound);
                }
        }
    }
}

/* Fabrics of routers, balanced or not; some entries beside them. */
static bool draw_fabric(char word[128], struct rng *rng, enum topo_shape s)
{
    static const int qs[] = { 3, 3, 4, 5, 7 };
    int n[5], q = qs[rng_below(rng, COUNT_OF(qs))];
    for (size_t i = 0; i < COUNT_OF(n); i++)
        n[i] = 1 + (int)rng_below(rng, 5);
    int groups = 2 + (int)rng_below(rng, 12);
    const char *beside = rng_below(rng, 4) ? "" : "ring:3@7 ";
    struct topo_network net;
    struct err none = { 0 };
    if (s == TOPO_DRAGONFLY)
        snprintf(word, 128, "%sdragonfly:%dx%dx%d^%d@10", beside, n[0], n[1] + 1, groups, n[2]);
    else if (s == TOPO_DRAGONFLY_PLUS)
        snprintf(word, 128, "%sdragonfly+:%dx%dx%d^%d^%d@10", beside, n[0], n[1], groups, n[2], n[3]);
    else if (s == TOPO_TORUS && rng_below(rng, 2))
        snprintf(word, 128, "%storus:%dx%dx%d+twist@10", beside, n[0] + 1, (n[0] + 1) * (1 + n[1] % 2),
                 2 * (n[0] + 1));
    else if (s == TOPO_TORUS)
        snprintf(word, 128, "%storus:%dx%dx%d@10", beside, n[0] + 1, n[1] + 1, n[2] + 1);
    else if (s == TOPO_HYPERX && rng_below(rng, 2))
        snprintf(word, 128, "%shyperx:%dx%d^%d@10", beside, n[0] + 1, n[1] + 1, n[2]);
    else if (s == TOPO_HYPERX)
        snprintf(word, 128, "%shyperx:%dx%dx%d@10", beside, n[0] + 1, n[1] + 1, n[2] + 1);
    else if (s == TOPO_HAMMINGMESH)
        snprintf(word, 128, "hammingmesh:%dx%dx%dx%d@10", n[0], n[1], 2 + n[2] % 3, 2 + n[3] % 3);
    else
        snprintf(word, 128, "%sslim-fly:%dx%d@10", q < 5 ? beside : "", n[0] + n[1], 2 * q * q);
    return topo_parse_spec(&net, word, &none) == 0;
}

TEST(formulas_equal_search_on_random_fabrics)
{
    static const enum topo_shape shapes[] = { TOPO_DRAGONFLY, TOPO_DRAGONFLY_PLUS, TOPO_SLIM_FLY,
                                              TOPO_TORUS,     TOPO_HYPERX,         TOPO_HAMMINGMESH };
    RNG(rng, 32, 0);
    for (size_t k = 0; k < COUNT_OF(shapes); k++)
        for (int i = 0; i < 60;) {
            char word[128];
            struct topo_network net;
            if (!draw_fabric(word, rng, shapes[k]))
                continue;
            read_word(&net, word);
            compare_with_search(&net);
            i++;
        }
}

/* Either dimension of the node may be halved beside an odd number of nodes: the innermost is said to be. */
TEST(of_cuts_that_are_equal_the_innermost_dimension_is_said)
{
    static const char *const words[] = {
        "full:2@1 full:2@1 fat-tree:3x3/4+rails4@50",
        "switch:4@1 switch:4@1 fat-tree:3x3/8+rails16@10",
        "full:2@1 switch:3@9 full:2@1 fat-tree:5x3/4+rails12@50",
    };
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        struct topo_network net;
        struct topo_halves h[TOPO_MAX_DIMS];
        read_word(&net, words[i]);
        assert_int_equal(topo_find_halves(h, &net), 1);
        assert_int_equal(h[0].dim, 0);
    }
}

static int init_graphs(void **state)
{
    (void)state;
    topo_graph_init();
    return 0;
}

SUITE(init_graphs, NULL)
