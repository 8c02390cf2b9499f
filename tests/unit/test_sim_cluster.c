#include "sim/cluster/cluster.h"
#include "sim/cluster/footprint.h"
#include "sim/cluster/pace.h"
#include "tests/support.h"

#include <omp.h>

static const char *const gpu[] = { "gpu" };

/* Servers of a network word; each offers as many GPUs as @p gpus. */
static int build(struct cluster *c, const char *word, int32_t level, double gpus, struct err *e)
{
    struct topo_network net;
    const struct cluster_offer offer = { 1, gpu, &gpus, false };
    topo_network_defaults(&net);
    int rc = topo_parse_spec(&net, word, e);
    return rc ? rc : cluster_build(c, &net, level, &offer, e);
}

static struct cluster_path path(const struct cluster *c, int32_t from, int32_t to)
{
    struct cluster_path p;
    MUST(cluster_find_path(&p, c, from, to, NULL, e));
    return p;
}

/* Arcs follow on one another from server to server. */
static void assert_leads(const struct cluster *c, struct cluster_path p, int32_t from, int32_t to)
{
    int32_t at = from;
    for (int32_t i = 0; i < p.n; i++) {
        assert_int_equal(c->routes.to[p.arcs[i] ^ 1], at);
        at = c->routes.to[p.arcs[i]];
    }
    assert_int_equal(at, to);
}

static double narrowest(const struct cluster *c, struct cluster_path p)
{
    double Bps = INFINITY;
    for (int32_t i = 0; i < p.n; i++)
        Bps = fmin(Bps, c->bw_Bps[p.arcs[i]]);
    return Bps;
}

/* ---- described networks ---- */

static int32_t ring_hops(int32_t a, int32_t b, int32_t n)
{
    int32_t there = abs(a - b);
    return there < n - there ? there : n - there;
}

/* ring:6@50, NPU by NPU: 25 GB/s on each of the two links. */
TEST(servers_of_a_ring_are_as_far_as_the_shorter_way)
{
    KEEP(struct cluster, c, cluster_free);
    OK(build(&c, "ring:6@50", 0, 1, e));
    assert_int_equal(c.n_servers, 6);
    assert_int_equal(c.n_arcs, 12);
    for (int32_t a = 0; a < 6; a++)
        for (int32_t b = 0; b < 6; b++) {
            struct cluster_path p = path(&c, a, b);
            assert_int_equal(p.n, ring_hops(a, b, 6));
            assert_leads(&c, p, a, b);
            assert_true(p.n == 0 || narrowest(&c, p) == 25e9);
        }
    assert_int_equal(c.leaf[0], -1);
}

/* switch: up and down, 50 GB/s; full: one link of 50 / 4 GB/s. */
TEST(servers_of_a_switch_hang_on_it_and_those_of_a_full_mesh_touch)
{
    struct cluster c;
    OK(build(&c, "switch:5@50", 0, 1, e));
    assert_int_equal(c.n_arcs, 10);
    for (int32_t a = 0; a < 5; a++) {
        assert_int_equal(c.leaf[a], 5); /* the only switch, the vertex after the servers */
        for (int32_t b = 0; b < 5; b++) {
            assert_int_equal(path(&c, a, b).n, a == b ? 0 : 2);
            assert_leads(&c, path(&c, a, b), a, b);
            assert_true(a == b || narrowest(&c, path(&c, a, b)) == 50e9);
        }
    }
    cluster_free(&c);
    OK(build(&c, "full:5@50", 0, 1, e));
    assert_int_equal(c.n_arcs, 20);
    for (int32_t a = 0; a < 5; a++)
        for (int32_t b = 0; b < 5; b++) {
            assert_int_equal(path(&c, a, b).n, a != b);
            assert_true(a == b || narrowest(&c, path(&c, a, b)) == 12.5e9);
        }
    assert_int_equal(c.leaf[3], -1);
    cluster_free(&c);
}

/* "ring:4@100 ring:6@30 switch:2@10": servers of 1, 4 and 24 NPUs; a server's links are as wide as those of
 * all its NPUs together. Number, capacity, bandwidth and hops by hand. */
TEST(a_server_is_what_the_dimensions_below_its_level_join)
{
    static const char word[] = "ring:4@100 ring:6@30 switch:2@10";
    static const struct {
        int32_t level, n_servers, n_levels, n_arcs;
        double ring_Bps, switch_Bps; /* of one link of the outer two dimensions */
    } cases[] = {
        { 0, 48, 4, 2 * (48 + 48 + 48), 15e9, 10e9 },
        { 1, 12, 3, 2 * (12 + 12), 60e9, 40e9 },
        { 2, 2, 2, 2 * 2, 0, 240e9 },
    };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        KEEP(struct cluster, c, cluster_free);
        OK(build(&c, word, cases[k].level, 3, e));
        assert_int_equal(c.n_servers, cases[k].n_servers);
        assert_int_equal(c.n_levels, cases[k].n_levels);
        assert_int_equal(c.n_arcs, cases[k].n_arcs);
        assert_true(cluster_total(&c, 0) == 3.0 * cases[k].n_servers);
        /* The last server and the first: one step on each ring and over the switch. */
        struct cluster_path p = path(&c, c.n_servers - 1, 0);
        assert_int_equal(p.n, (cases[k].level == 0) + (cases[k].level <= 1) + 2);
        assert_leads(&c, p, c.n_servers - 1, 0);
        assert_true(c.bw_Bps[p.arcs[p.n - 1]] == cases[k].switch_Bps);
        if (cases[k].ring_Bps > 0)
            assert_true(c.bw_Bps[p.arcs[p.n - 3]] == cases[k].ring_Bps);
    }
}

/* Servers of four NPUs whose rails share a spine: the tree of the servers, each with four times the
 * bandwidth. */
TEST(rails_inside_a_server_are_one)
{
    KEEP(struct cluster, rails, cluster_free);
    KEEP(struct cluster, plain, cluster_free);
    OK(build(&rails, "switch:4@450 fat-tree:4x2/2+shared@50", 1, 4, e));
    OK(build(&plain, "fat-tree:4x2/2@200", 0, 4, e));
    assert_int_equal(rails.n_servers, 8);
    assert_int_equal(rails.n_arcs, plain.n_arcs);
    assert_int_equal(rails.routes.n_vertices, plain.routes.n_vertices);
    for (int32_t s = 1; s < 8; s++) {
        struct cluster_path got = path(&rails, 0, s), want = path(&plain, 0, s);
        assert_int_equal(got.n, want.n);
        assert_close(narrowest(&rails, got), narrowest(&plain, want), 1e-14);
    }
}

/* Innermost first: along the ring, then through the switch of the new column. */
TEST(paths_lead_through_the_innermost_dimension_first)
{
    KEEP(struct cluster, c, cluster_free);
    char text[TOPO_ARC_TEXT];
    OK(build(&c, "ring:2@8 ring:4@100 switch:3@50", 1, 2, e));
    struct cluster_path p = path(&c, 1, 4 + 2); /* (1,0) to (2,1) */
    assert_int_equal(p.n, 3);
    assert_string_equal(cluster_arc_name(text, &c, p.arcs[0]), "server1 -> server2");
    assert_has(cluster_arc_name(text, &c, p.arcs[1]), "server2 -> switch-");
    assert_has(cluster_arc_name(text, &c, p.arcs[2]), " -> server6");
}

TEST(groups_are_the_prefixes_of_the_address)
{
    KEEP(struct cluster, c, cluster_free);
    OK(build(&c, "ring:2@8 ring:4@100 switch:3@50", 1, 2, e));
    assert_int_equal(c.n_levels, 3);
    for (int32_t s = 0; s < 12; s++) {
        assert_int_equal(c.group[s], s);
        assert_int_equal(c.group[12 + s], s / 4);
        assert_int_equal(c.group[24 + s], 0);
    }
}

/* ---- custom graphs ---- */

#define EDGES                                                                                                \
    "src,dst,bw_GBps,latency_ns\n"                                                                           \
    "a,switch-1,10,5\nb,switch-1,20,5\nc,switch-2,40,5\nswitch-1,switch-2,5,7\nd,c,1,9\n"

/* a and b at one switch, c at another, d behind c. */
static void check_wires(const struct cluster *c)
{
    static const int32_t hops[4][4] = { { 0, 2, 3, 4 }, { 2, 0, 3, 4 }, { 3, 3, 0, 1 }, { 4, 4, 1, 0 } };
    char text[TOPO_VERTEX_TEXT];
    assert_int_equal(c->n_servers, 4);
    assert_int_equal(c->n_arcs, 10);
    for (int32_t a = 0; a < 4; a++)
        for (int32_t b = 0; b < 4; b++) {
            assert_int_equal(path(c, a, b).n, hops[a][b]);
            assert_leads(c, path(c, a, b), a, b);
        }
    assert_true(narrowest(c, path(c, 0, 1)) == 10e9);
    assert_true(narrowest(c, path(c, 0, 2)) == 5e9);
    assert_true(narrowest(c, path(c, 3, 1)) == 1e9);
    assert_close(c->lat_s[path(c, 3, 2).arcs[0]], 9e-9, 1e-14);
    assert_string_equal(cluster_server_name(text, c, 3), "d");
    /* c has two links; d's only one leads to a server. */
    assert_true(c->leaf[0] == 4 && c->leaf[1] == 4 && c->leaf[2] == -1 && c->leaf[3] == -1);
    assert_int_equal(c->n_levels, 3);
    const int32_t *level = c->group + 4;
    assert_true(level[0] == level[1] && level[0] != level[2] && level[2] != level[3] && level[0] != level[3]);
}

static int read_file(struct cluster *c, const char *name, const char *text, const struct cluster_offer *offer,
                     struct err *e)
{
    char dir[SUPPORT_PATH], file[SUPPORT_PATH];
    scratch_make(dir);
    int rc = cluster_read(c, scratch_file(file, dir, name, text, strlen(text)), offer, e);
    scratch_remove(dir);
    return rc;
}

TEST(wires_come_from_csv_and_graphml_alike)
{
    static const double each[] = { 8, 64 };
    static const char *const names[] = { "gpu", "cpu" };
    const struct cluster_offer offer = { 2, names, each, false };
    struct cluster c;
    OK(read_file(&c, "wires.CSV", EDGES, &offer, e));
    check_wires(&c);
    assert_true(cluster_capacity(&c, 2, 0) == 8 && cluster_capacity(&c, 2, 1) == 64);
    assert_true(cluster_total(&c, 1) == 256);
    assert_string_equal(c.resources[1], "cpu");
    cluster_free(&c);
#define WIRE(a, b, bw, ns)                                                                                   \
    "<edge source='" a "' target='" b "'><data key='w'>" bw "</data><data key='l'>" ns "</data></edge>"
    static const char graphml[] =
        "<?xml version='1.0' encoding='UTF-8'?><graphml xmlns='http://graphml.graphdrawing.org/xmlns'>"
        "<key id='w' for='edge' attr.name='bw_GBps' attr.type='double'/>"
        "<key id='l' for='edge' attr.name='lat_ns' attr.type='double'/>"
        "<key id='k' for='node' attr.name='kind' attr.type='string'/>"
        "<graph id='G' edgedefault='undirected'>"
        "<node id='a'/><node id='b'/><node id='c'/><node id='d'/>"
        "<node id='s'><data key='k'>switch</data></node><node id='t'><data key='k'>switch</data></node>" WIRE(
            "a", "s", "10", "5") WIRE("b", "s", "20", "5") WIRE("c", "t", "40", "5") WIRE("s", "t", "5", "7")
            WIRE("d", "c", "1", "9") "</graph></graphml>";
    OK(read_file(&c, "wires.graphml", graphml, &offer, e));
    check_wires(&c);
    cluster_free(&c);
}

/* b is at two switches: it belongs to that which the file names first. */
TEST(a_server_at_two_switches_belongs_to_the_first)
{
#define WIRES(b) "src,dst,bw_GBps,latency_ns\na,switch-1,1,0\n" b "c,switch-2,1,0\n"
    static const char *const wires[] = { WIRES("b,switch-1,1,0\nb,switch-2,1,0\n"),
                                         WIRES("b,switch-2,1,0\nb,switch-1,1,0\n") };
    static const double one = 1;
    const struct cluster_offer offer = { 1, gpu, &one, false };
    for (size_t i = 0; i < COUNT_OF(wires); i++) {
        KEEP(struct cluster, c, cluster_free);
        OK(read_file(&c, "wires.csv", wires[i], &offer, e));
        const int32_t *group = c.group + c.n_servers;
        assert_true(group[0] == group[1] && group[1] != group[2]);
    }
}

/* Servers of 8 on a fat tree of 4 below a leaf, 3 leaves: sizes by hand. */
TEST(places_of_uneven_parts_are_cut_into_equal_ones)
{
    CASES(int32_t n, servers[4], gpus[4], size[3]) = {
        { 1, { 5 }, { 6 }, { 6, 1, 1 } },                   /* in one server */
        { 2, { 0, 1 }, { 8, 8 }, { 8, 2, 1 } },             /* below one leaf */
        { 2, { 0, 4 }, { 8, 8 }, { 8, 1, 2 } },             /* on two leaves */
        { 4, { 0, 1, 4, 5 }, { 8, 8, 8, 8 }, { 8, 2, 2 } }, /* two on each */
        { 4, { 0, 1, 2, 4 }, { 8, 8, 8, 8 }, { 8, 1, 4 } }, /* three and one: four of one */
        { 2, { 0, 1 }, { 6, 2 }, { 2, 4, 1 } },             /* 6 and 2 of a server: four of 2 */
        { 3, { 0, 4, 5 }, { 8, 4, 4 }, { 4, 2, 2 } },       /* 8 and 4 + 4: pieces of 4, two a leaf */
    };
    static const char *const names[] = { "gpu" };
    const double eight = 8;
    const struct cluster_offer offer = { 1, names, &eight, false };
    KEEP(struct cluster, c, cluster_free);
    KEEP(struct footprint_map, map, footprint_map_free);
    struct topo_network net, place;
    OK(topo_parse_spec(&net, "switch:8@450 fat-tree:4x3/2@50", e));
    OK(cluster_build(&c, &net, 1, &offer, e));
    OK(footprint_map_build(&map, &c, &net, 1, e));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        size_t n = (size_t)cases[i].n * sizeof(int32_t);
        /* As long as there are servers: sanitizers see one more that is read. */
        int32_t *servers = memcpy(malloc(n), cases[i].servers, n),
                *gpus = memcpy(malloc(n), cases[i].gpus, n);
        const struct pace_place p = { cases[i].n, servers, gpus };
        int32_t size[TOPO_MAX_DIMS];
        footprint_sizes(size, &map, &p);
        free(servers);
        free(gpus);
        for (int d = 0; d < 3; d++)
            assert_int_equal(size[d], cases[i].size[d]);
        footprint_network(&place, &net, size);
        assert_int_equal(place.n_npus, (int64_t)size[0] * size[1] * size[2]);
    }
}

/* Whatever the order of its servers, a place has the same shape, which holds its GPUs. */
TEST(the_shape_of_a_place_is_that_of_its_servers)
{
    RNG(rng, 3, 1);
    static const char *const words[] = { "switch:8@450 fat-tree:4x3/2@50",
                                         "switch:8@450 ring:3@50 switch:4@9",
                                         "switch:8@450 fat-tree:2x3x2@50" };
    static const char *const names[] = { "gpu" };
    const double eight = 8;
    const struct cluster_offer offer = { 1, names, &eight, false };
    for (int k = 0; k < 3 * repeats(100); k++) {
        KEEP(struct cluster, c, cluster_free);
        KEEP(struct footprint_map, map, footprint_map_free);
        struct topo_network net;
        int32_t servers[12], gpus[12], size[TOPO_MAX_DIMS], same[TOPO_MAX_DIMS], n = 0;
        int64_t sum = 0, holds = 1;
        topo_network_defaults(&net);
        OK(topo_parse_spec(&net, words[k % 3], e));
        OK(cluster_build(&c, &net, 1, &offer, e));
        OK(footprint_map_build(&map, &c, &net, 1, e));
        for (int32_t s = 0; s < c.n_servers; s++)
            if (rng_below(rng, 2) || (n == 0 && s == c.n_servers - 1)) {
                servers[n] = s;
                sum += gpus[n++] = 1 + (int32_t)rng_below(rng, 8);
            }
        const struct pace_place p = { n, servers, gpus };
        footprint_sizes(size, &map, &p);
        for (int32_t i = n - 1; i > 0; i--) {
            int32_t j = (int32_t)rng_below(rng, i + 1), server = servers[i], here = gpus[i];
            servers[i] = servers[j];
            gpus[i] = gpus[j];
            servers[j] = server;
            gpus[j] = here;
        }
        footprint_sizes(same, &map, &p);
        for (int32_t d = 0; d < net.n_dims; d++) {
            assert_int_equal(size[d], same[d]);
            holds *= size[d];
        }
        assert_int_equal(holds, sum);
    }
}

/* ---- racks ---- */

TEST(a_rack_is_two_hops_wide_and_another_one_three_away)
{
    static const int32_t rack[] = { 0, 1, 2, 0, 1, 0 };
    static const double server_Bps[] = { 1e9, 2e9, 3e9, 4e9, 5e9, 6e9 }, rack_Bps[] = { 10e9, 11e9, 20e9 };
    static const double gpus[] = { 1, 2, 4, 8, 1, 2 };
    static const double between[3][3] = { { 0, 10e9, 11e9 }, { 10e9, 0, 20e9 }, { 11e9, 20e9, 0 } };
    const struct cluster_racks k = { 6, 3, rack, server_Bps, rack_Bps, 2e-6 };
    const struct cluster_offer offer = { 1, gpu, gpus, true };
    struct cluster c;
    char text[TOPO_ARC_TEXT];
    OK(cluster_build_racks(&c, &k, &offer, e));
    assert_int_equal(c.n_arcs, 2 * (6 + 3));
    for (int32_t a = 0; a < 6; a++) {
        assert_int_equal(c.leaf[a], 6 + rack[a]);
        assert_true(cluster_capacity(&c, a, 0) == gpus[a]);
        for (int32_t b = 0; b < 6; b++) {
            struct cluster_path p = path(&c, a, b);
            assert_int_equal(p.n, a == b ? 0 : rack[a] == rack[b] ? 2 : 3);
            assert_leads(&c, p, a, b);
            assert_true((c.group[6 + a] == c.group[6 + b]) == (rack[a] == rack[b]));
            if (p.n == 0)
                continue;
            assert_true(c.bw_Bps[p.arcs[0]] == server_Bps[a]);
            assert_true(c.bw_Bps[p.arcs[p.n - 1]] == server_Bps[b]);
            assert_close(c.lat_s[p.arcs[0]], 2e-6, 1e-15);
            if (p.n == 3)
                assert_true(c.bw_Bps[p.arcs[1]] == between[rack[a]][rack[b]]);
        }
    }
    assert_string_equal(cluster_arc_name(text, &c, path(&c, 4, 2).arcs[1]), "switch1 -> switch2");
    assert_string_equal(cluster_arc_name(text, &c, path(&c, 4, 2).arcs[0]), "server4 -> switch1");
    cluster_free(&c);
}

/* ---- paths that are not kept ---- */

static void assert_same_path(struct cluster_path a, struct cluster_path b)
{
    assert_int_equal(a.n, b.n);
    if (a.n > 0)
        assert_memory_equal(a.arcs, b.arcs, (size_t)a.n * sizeof *a.arcs);
}

/* What is kept is what a search with a room of its own finds. */
TEST(kept_paths_are_those_that_a_search_finds)
{
    static const char *const words[] = { "ring:5@9 switch:3@5", "full:3@9 ring:4@5", "switch:4@5" };
    struct cluster c;
    for (size_t k = 0; k <= COUNT_OF(words); k++) {
        struct cluster_room room = { 0 };
        double one = 1;
        const struct cluster_offer offer = { 1, gpu, &one, false };
        if (k < COUNT_OF(words))
            OK(build(&c, words[k], 0, 1, e));
        else
            OK(read_file(&c, "w.csv", EDGES, &offer, e));
        struct cluster searched = c;
        searched.path_first = NULL;
        for (int32_t a = 0; a < c.n_servers; a++)
            for (int32_t b = 0; b < c.n_servers; b++) {
                struct cluster_path p;
                OK(cluster_find_path(&p, &searched, a, b, &room, e));
                assert_same_path(p, path(&c, a, b));
            }
        cluster_room_free(&room);
        cluster_free(&c);
    }
}

/* Above CLUSTER_KEPT_PATHS servers: a ring of 1100, whose paths are known; two threads search at once. */
TEST(paths_of_a_large_cluster_are_searched_by_each_thread)
{
    struct cluster c;
    struct err own = { 0 };
    int wrong = 0;
    assert_ok(build(&c, "ring:1100@2", 0, 1, &own), &own);
    assert_null(c.path_first);
#pragma omp parallel for num_threads(2) reduction(+ : wrong)
    for (int half = 0; half < 2; half++) {
        struct cluster_room room = { 0 };
        struct err inner = { 0 };
        for (int32_t a = half; a < 1100; a += 97)
            for (int32_t b = 0; b < 1100; b += 13) {
                struct cluster_path p;
                int rc = cluster_find_path(&p, &c, a, b, &room, &inner);
                wrong += rc != 0 || p.n != ring_hops(a, b, 1100);
            }
        cluster_room_free(&room);
    }
    assert_int_equal(wrong, 0);
    cluster_free(&c);
}

/* 700 servers in a row: n (n^2 - 1) / 3 arcs, 114 million. */
TEST(long_paths_of_a_smaller_cluster_are_searched_too)
{
    struct cluster_room room = { 0 };
    struct cluster_path p;
    struct cluster c;
    OK(build(&c, "line:700@2", 0, 1, e));
    assert_null(c.path_first);
    OK(cluster_find_path(&p, &c, 3, 690, &room, e));
    assert_int_equal(p.n, 687);
    assert_leads(&c, p, 3, 690);
    cluster_room_free(&room);
    cluster_free(&c);
    OK(build(&c, "line:100@2", 0, 1, e));
    assert_int_equal(c.path_first[10000], 333300);
    cluster_free(&c);
}

TEST(two_threads_build_clusters_at_once)
{
    int wrong = 0;
#pragma omp parallel for num_threads(2) reduction(+ : wrong) schedule(static, 1)
    for (int i = 0; i < 40; i++) {
        KEEP(struct cluster, c, cluster_free);
        struct err own = { 0 };
        char word[32];
        snprintf(word, sizeof word, "ring:%d@2 switch:3@4", 2 + i % 7);
        wrong += build(&c, word, i % 2, 2, &own) != 0 || c.n_servers != (i % 2 ? 3 : 3 * (2 + i % 7));
    }
    assert_int_equal(wrong, 0);
}

/* ---- errors ---- */

TEST(a_cluster_that_cannot_be_is_an_error)
{
    CASES(const char *word; int32_t level; double gpus; const char *text) = {
        { "ring:4@9 switch:2@3", -1, 1, "cluster: level of servers is -1, expected 0 to 1" },
        { "ring:4@9 switch:2@3", 2, 1, "cluster: level of servers is 2, expected 0 to 1" },
        { "ring:4@9 switch:2", 1, 1, "cluster: dimension dim2 has no bandwidth; give bw_GBps" },
        { "ring:4@9", 0, -3, "cluster: server 0 has -3 of gpu, expected a number >= 0" },
        { "ring:4@9", 0, NAN, "cluster: server 0 has nan of gpu, expected a number >= 0" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct cluster, c, cluster_free);
        FAILS(build(&c, cases[i].word, cases[i].level, cases[i].gpus, e), ERR_RANGE, cases[i].text);
        assert_true(c.n_servers == 0 && !c.graph);
    }
}

TEST(wires_that_leave_a_server_out_are_an_error_that_names_it)
{
    static const double one = 1;
    const struct cluster_offer offer = { 1, gpu, &one, false }, none = { 0, gpu, &one, false };
    struct cluster c;
    FAILS(read_file(&c, "w.csv", "src,dst,bw_GBps,latency_ns\na,b,1,0\nlonely,friend,1,0\n", &offer, e),
          ERR_RANGE, "lonely");
    cluster_free(&c);
    *e = (struct err){ 0 };
    FAILS(read_file(&c, "w.csv", EDGES, &none, e), ERR_RANGE, "cluster: has 0 resources, expected 1 to 8");
    *e = (struct err){ 0 };
    FAILS(read_file(&c, "w.csv", "src,dst\n", &offer, e), ERR_PARSE, "bw_GBps");
    *e = (struct err){ 0 };
    FAILS(cluster_read(&c, "/nowhere/w.graphml", &offer, e), ERR_PARSE, "/nowhere/w.graphml");
    cluster_free(&c);
}

TEST(racks_that_cannot_be_are_an_error)
{
    static const int32_t rack[] = { 0, 1 };
    static const double one[] = { 1e9, 1e9 }, zero[] = { 1e9, 0 };
    const struct cluster_offer offer = { 1, gpu, one, false };
    struct cluster_racks k = { 2, 2, rack, zero, one, 0 };
    struct cluster c;
    FAILS(cluster_build_racks(&c, &k, &offer, e), ERR_RANGE, "bw_GBps");
    cluster_free(&c);
    k = (struct cluster_racks){ 2, 2, rack, one, one, -1 };
    *e = (struct err){ 0 };
    FAILS(cluster_build_racks(&c, &k, &offer, e), ERR_RANGE, "lat");
    cluster_free(&c);
    k = (struct cluster_racks){ 2, 2, (const int32_t[]){ 0, -1 }, one, one, 0 };
    *e = (struct err){ 0 };
    FAILS(cluster_build_racks(&c, &k, &offer, e), ERR_RANGE,
          "cluster: server 1 is in rack -1, expected 0 to 1");
    cluster_free(&c);
}
