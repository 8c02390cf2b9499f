/* Routes through networks: as short as search finds, in a fixed order, around what has failed. */
#include "tests/unit/folder.h"
#include "topo/route.h"

KEEPS(struct topo_graph, topo_graph_free)

enum { MAX_VERTICES = 64 };

struct plant {
    struct topo_network net;
    struct topo_graph *graph;
    struct topo_routes routes;
    struct topo_path path;
};

static void open_plant(struct plant *p, const char *word)
{
    *p = (struct plant){ .graph = NULL };
    MUST(topo_parse_spec(&p->net, word, e));
    MUST(topo_build_graph(&p->graph, &p->net, NULL, e));
    MUST(topo_routes_build(&p->routes, p->graph, e));
}

static void close_plant(struct plant *p)
{
    topo_path_free(&p->path);
    topo_routes_free(&p->routes);
    topo_graph_free(p->graph);
}

/* Routes in the network of a word, closed where the block ends. */
#define PLANT(p, word)                                                                                       \
    KEEP(struct plant, p, close_plant);                                                                      \
    open_plant(&p, word)

static int find(struct plant *p, int64_t src, int64_t dst, enum topo_route_kind kind, struct err *e)
{
    p->path.n = 0;
    return topo_find_path(&p->path, &p->routes, &(struct topo_trip){ .src = src, .dst = dst, .kind = kind },
                          e);
}

/* The arcs follow each other from src to dst. */
static void check_chain(const struct plant *p, int64_t src, int64_t dst)
{
    int64_t at = src;
    for (int32_t i = 0; i < p->path.n; i++) {
        assert_true(p->routes.to[p->path.arcs[i] ^ 1] == at);
        at = p->routes.to[p->path.arcs[i]];
    }
    assert_true(at == dst);
}

static const char *const words[] = { "ring:2@1",
                                     "ring:3@1",
                                     "ring:8@1",
                                     "line:2@1",
                                     "line:7@1",
                                     "full:2@1",
                                     "full:6@1",
                                     "switch:5@1",
                                     "ring:5@1",
                                     "ring:4@1 switch:3@1",
                                     "switch:3@1 ring:6@1",
                                     "full:4@1 line:3@1 ring:2@1",
                                     "switch:2@1 switch:3@1 full:3@1",
                                     "line:3@1 ring:5@1 switch:2@1",
                                     "torus:4x4@2",
                                     "torus:2x3x5@5",
                                     "torus:2x4+twist@3",
                                     "torus:4x8+twist@2",
                                     "torus:2x2x4+twist@4",
                                     "torus:3x3x6+twist@3",
                                     "full:2@1 torus:3x6+twist@2",
                                     "hyperx:3x4@2.5",
                                     "hyperx:2x3x3@5",
                                     "dragonfly:1x2x3^1@1",
                                     "dragonfly:1x4x5^1@1",
                                     "dragonfly+:2x1x3^2^1@1",
                                     "fat-tree:4x3*4@1",
                                     "hammingmesh:2x2x2x2@2",
                                     "slim-fly:1x18@1" };

static int32_t hops_between(const struct topo_routes *r, int32_t src, int32_t dst)
{
    int32_t hops[MAX_VERTICES];
    assert_true(r->n_vertices <= MAX_VERTICES);
    MUST(topo_hops_to(hops, r, dst, e));
    return hops[src];
}

/* Between members of a product of shapes the shortest way changes each address by itself: search finds none
 * shorter. */
TEST(order_of_dimensions_is_a_shortest_way)
{
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        PLANT(p, words[i]);
        for (int32_t dst = 0; dst < p.routes.n_npus; dst++)
            for (int32_t src = 0; src < p.routes.n_npus; src++) {
                OK(find(&p, src, dst, TOPO_ROUTE_DIMENSION, e));
                check_chain(&p, src, dst);
                assert_int_equal(p.path.n, hops_between(&p.routes, src, dst));
            }
    }
}

TEST(searched_ways_are_as_short_as_can_be)
{
    for (size_t i = 0; i < COUNT_OF(words); i++)
        for (int kind = TOPO_ROUTE_SHORTEST; kind <= TOPO_ROUTE_ECMP; kind++) {
            PLANT(p, words[i]);
            for (int32_t dst = 0; dst < p.routes.n_vertices; dst++)
                for (int32_t src = 0; src < p.routes.n_vertices; src++) {
                    OK(find(&p, src, dst, (enum topo_route_kind)kind, e));
                    check_chain(&p, src, dst);
                    assert_int_equal(p.path.n, hops_between(&p.routes, src, dst));
                }
        }
}

/* Against the rule by itself: from each vertex on the way the first, or with mirror the last, arc that leads
 * one hop nearer. With a failed link too. */
TEST(of_equal_ways_the_lowest_or_the_highest_is_taken)
{
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        int32_t hops[MAX_VERTICES];
        PLANT(p, words[i]);
        OK(topo_routes_set_share(&p.routes, p.routes.n_arcs / 4, 0, e));
        for (int32_t trip = 0; trip < 2 * p.routes.n_vertices * p.routes.n_vertices; trip++) {
            const struct topo_trip t = { .src = trip / 2 % p.routes.n_vertices,
                                         .dst = trip / 2 / p.routes.n_vertices,
                                         .kind = TOPO_ROUTE_SHORTEST,
                                         .other = trip % 2 };
            OK(topo_hops_to(hops, &p.routes, (int32_t)t.dst, e));
            p.path.n = 0;
            if (hops[t.src] < 0) {
                FAILS(topo_find_path(&p.path, &p.routes, &t, e), ERR_RANGE, "no route");
                continue;
            }
            OK(topo_find_path(&p.path, &p.routes, &t, e));
            int32_t v = (int32_t)t.src;
            for (int32_t step = 0; v != t.dst; step++) {
                int32_t want = -1;
                for (int32_t k = p.routes.first[v]; k < p.routes.first[v + 1]; k++) {
                    int32_t arc = p.routes.out[k];
                    if (p.routes.share[arc / 2] > 0 && hops[p.routes.to[arc]] == hops[v] - 1 &&
                        (want < 0 || t.other))
                        want = arc;
                }
                assert_true(step < p.path.n && p.path.arcs[step] == want);
                v = p.routes.to[want];
            }
        }
    }
}

TEST(inner_dimensions_come_first)
{
    PLANT(p, "ring:3@1 full:3@1");
    OK(find(&p, 0, 8, TOPO_ROUTE_DIMENSION, e));
    assert_true(p.path.n == 2 && p.routes.to[p.path.arcs[0]] == 2);
}

/* Opposite members of a ring of 6: upwards, and with mirror downwards. */
TEST(ring_takes_the_rising_way_of_two_equal_ones)
{
    PLANT(p, "ring:6@1");
    for (int src = 0; src < 6; src++)
        for (int mirror = 0; mirror < 2; mirror++) {
            struct topo_trip trip = { .src = src, .dst = (src + 3) % 6, .other = mirror };
            p.path.n = 0;
            OK(topo_find_path(&p.path, &p.routes, &trip, e));
            assert_true(p.path.n == 3 && p.routes.to[p.path.arcs[0]] == (src + (mirror ? 5 : 1)) % 6);
        }
}

TEST(shortest_goes_to_the_lowest_vertex)
{
    PLANT(p, "ring:4@1 ring:4@1");
    OK(find(&p, 0, 10, TOPO_ROUTE_SHORTEST, e)); /* (2,2): first hops 1, 3, 4, 12 are as good */
    assert_int_equal(p.routes.to[p.path.arcs[0]], 1);
    struct topo_trip trip = { .src = 0, .dst = 10, .kind = TOPO_ROUTE_SHORTEST, .other = 1 };
    p.path.n = 0;
    OK(topo_find_path(&p.path, &p.routes, &trip, e));
    assert_int_equal(p.routes.to[p.path.arcs[0]], 12);
}

TEST(ecmp_spreads_flows_and_keeps_each_on_its_way)
{
    int first[16] = { 0 }, moved = 0;
    PLANT(p, "ring:4@1 ring:4@1");
    for (uint64_t flow = 0; flow < 400; flow++) {
        struct topo_trip trip = { .src = 0, .dst = 10, .kind = TOPO_ROUTE_ECMP, .flow = flow };
        int32_t hop[3];
        for (int again = 0; again < 3; again++) {
            p.routes.seed = again == 2;
            p.path.n = 0;
            OK(topo_find_path(&p.path, &p.routes, &trip, e));
            hop[again] = p.routes.to[p.path.arcs[0]];
        }
        assert_int_equal(hop[0], hop[1]);
        moved += hop[2] != hop[0];
        first[hop[0]]++;
    }
    /* Four first hops, 100 each expected; 60 is 4.6 standard deviations away. */
    assert_true(first[1] > 60 && first[3] > 60 && first[4] > 60 && first[12] > 60);
    assert_true(moved > 200); /* 300 expected of another seed */
}

TEST(failed_link_is_named_or_gone_around)
{
    PLANT(p, "ring:8@1");
    const int32_t arc = 6; /* link 3, from NPU 3 to 4 */
    OK(topo_routes_set_share(&p.routes, arc / 2, 0, e));
    assert_true(topo_arc_bw(&p.routes, arc) == 0 && topo_arc_bw(&p.routes, arc ^ 1) == 0);
    FAILS(find(&p, 3, 5, TOPO_ROUTE_DIMENSION, e), ERR_RANGE,
          "link 3 (npu3 -> npu4) has failed and is on the route from npu3 to npu5");
    OK(find(&p, 3, 5, TOPO_ROUTE_SHORTEST, e));
    assert_int_equal(p.path.n, 6);
    check_chain(&p, 3, 5);
    OK(find(&p, 5, 4, TOPO_ROUTE_DIMENSION, e));
    assert_int_equal(p.path.n, 1);
    OK(topo_routes_set_share(&p.routes, arc / 2, 0.25, e));
    assert_close(topo_arc_bw(&p.routes, arc), 0.25 * 0.5e9, 1e-15);
    OK(find(&p, 3, 5, TOPO_ROUTE_SHORTEST, e));
    assert_int_equal(p.path.n, 2);
}

/* Every pair goes as it went, or, if a link on its way has failed, as ECMP goes. */
TEST(detour_leaves_whole_ways_as_they_were)
{
    int32_t n_round = 0;
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        PLANT(p, words[i]);
        KEEP(struct topo_path, way, topo_path_free) = { 0 };
        int32_t failed = 2 * ((int32_t)i % (p.routes.n_arcs / 2));
        for (int32_t src = 0; src < p.routes.n_npus; src++)
            for (int32_t dst = 0; dst < p.routes.n_npus; dst++) {
                enum topo_route_kind as = TOPO_ROUTE_DIMENSION;
                OK(topo_routes_set_share(&p.routes, failed / 2, 1, e));
                OK(find(&p, src, dst, as, e));
                for (int32_t k = 0; k < p.path.n; k++)
                    as = p.path.arcs[k] / 2 == failed / 2 ? TOPO_ROUTE_ECMP : as;
                n_round += as == TOPO_ROUTE_ECMP;
                OK(topo_routes_set_share(&p.routes, failed / 2, 0, e));
                way.n = 0;
                const struct topo_trip trip = { .src = src, .dst = dst, .kind = TOPO_ROUTE_DETOUR };
                struct err why = { 0 }, same = { 0 };
                int rc = topo_find_path(&way, &p.routes, &trip, &why);
                assert_int_equal(find(&p, src, dst, as, &same), rc);
                assert_int_equal(way.n, rc ? 0 : p.path.n);
                assert_memory_equal(way.arcs, p.path.arcs, (size_t)way.n * sizeof *way.arcs);
            }
    }
    assert_true(n_round > 0);
}

TEST(slow_npu_has_slow_links_in_its_dimension)
{
    PLANT(p, "ring:4@1 switch:3@1");
    OK(topo_routes_slow_npu(&p.routes, 5, 0, 0.5, e));
    OK(topo_routes_slow_npu(&p.routes, 5, 0, 0.75, e)); /* the slower counts */
    for (int32_t a = 0; a < p.routes.n_arcs; a++) {
        bool ring = p.routes.to[a] < 12 && p.routes.to[a ^ 1] < 12;
        bool its = p.routes.to[a] == 5 || p.routes.to[a ^ 1] == 5;
        assert_true(p.routes.share[a / 2] == (ring && its ? 0.5 : 1));
    }
    OK(topo_routes_slow_npu(&p.routes, 5, -1, 0.25, e));
    assert_true(p.routes.share[topo_switch_arc(&p.routes, 1, 5, 0, 0) / 2] == 0.25);
    FAILS(topo_routes_slow_npu(&p.routes, 12, 0, 0.5, e), ERR_RANGE, "slow NPU: is 12 in dimension 0");
    FAILS(topo_routes_slow_npu(&p.routes, 5, 2, 0.5, e), ERR_RANGE, "dimension -1 to 1");
    FAILS(topo_routes_slow_npu(&p.routes, 5, 0, NAN, e), ERR_RANGE, "share is nan");
}

TEST(cut_network_has_no_route)
{
    PLANT(p, "line:8@1");
    OK(topo_routes_set_share(&p.routes, 4, 0, e));
    FAILS(find(&p, 3, 7, TOPO_ROUTE_ECMP, e), ERR_RANGE, "no route from npu3 to npu7");
    assert_int_equal(p.path.n, 0);
}

TEST(wrong_questions_are_refused)
{
    PLANT(p, "switch:4@1");
    FAILS(find(&p, 0, 5, TOPO_ROUTE_SHORTEST, e), ERR_RANGE, "from vertex 0 to 5, expected 0 to 4");
    FAILS(find(&p, 0, 4, TOPO_ROUTE_DIMENSION, e), ERR_RANGE, "expected NPUs (below 4)");
    FAILS(topo_routes_set_share(&p.routes, 4, 1, e), ERR_RANGE, "link: is 4, expected 0 to 3");
    FAILS(topo_routes_set_share(&p.routes, 0, NAN, e), ERR_RANGE, "share is nan, expected 0 to 1");
}

TEST(link_without_bandwidth_is_refused)
{
    struct topo_network net;
    KEEP(struct topo_graph *, g, topo_graph_free_at);
    KEEP(struct topo_routes, r, topo_routes_free);
    OK(topo_parse_spec(&net, "ring:4", e));
    OK(topo_build_graph(&g, &net, NULL, e));
    FAILS(topo_routes_build(&r, g, e), ERR_RANGE, "link 0 (npu0 -> npu1): bandwidth is nan B/s");
}

static struct topo_graph *read_edges(const char *text)
{
    struct topo_graph *g;
    FOLDER(f);
    MUST(topo_read_edges(&g, put(&f, "edges.csv", text), e));
    return g;
}

TEST(custom_graph_is_searched_only)
{
    struct plant p = {
        .graph =
            read_edges("src,dst,bw_GBps,latency_ns\na,b,10,5\na,b,20,5\nb,switch1,1,1\nswitch1,c,1,1\n")
    };
    OK(topo_routes_build(&p.routes, p.graph, e));
    FAILS(find(&p, 0, 1, TOPO_ROUTE_DIMENSION, e), ERR_UNSUP, "expected shortest or ecmp in a custom graph");
    OK(find(&p, 0, 2, TOPO_ROUTE_SHORTEST, e));
    assert_int_equal(p.path.n, 3);
    assert_int_equal(p.path.arcs[0], 0); /* of the two links from a to b the first */
    close_plant(&p);
}

TEST(custom_graph_in_pieces_is_refused)
{
    KEEP(struct topo_graph *, g, topo_graph_free_at) =
        read_edges("src,dst,bw_GBps,latency_ns\na,b,10,5\nc,d,20,5\n");
    struct topo_routes r;
    FAILS(topo_routes_build(&r, g, e), ERR_RANGE, "c cannot be reached from a");
}
