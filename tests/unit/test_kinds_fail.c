/* Single failures: steps with one part gone, by closed form and by flow; what they lose, by hand; ranks,
 * sums. */
#include "kinds/design/answer/fail.h"
#include "kinds/design/explore/solve.h"
#include "kinds/design/ask/load.h"
#include "kinds/design/ask/system.h"
#include "base/text.h"
#include "tests/unit/folder.h"

#define HOUR_S 3600.0
#define YEAR_S (8760 * HOUR_S)
#define ALL    "workload: { step: { all-reduce: { size_MB: 16, group: all } } }\n"

static const struct fail_slow usual = { .link = 0.5, .npu = 0.8 };

struct plant {
    struct design_point s;
    struct design d;
    struct fail_table t;
};

static void close_plant(struct plant *p)
{
    fail_free(&p->t);
    design_free(&p->d);
    design_point_free(&p->s);
}

static void open_plant(struct plant *p, const char *text)
{
    FOLDER(f);
    *p = (struct plant){ .t = { 0 } };
    MUST(design_point_load(&p->s, put(&f, "study.yaml", text), NULL, 0,
                           DESIGN_NEEDS_WORKLOAD | DESIGN_NEEDS_BANDWIDTH, e));
    MUST(design_evaluate(&p->d, &p->s, NULL, e));
    MUST(fail_build(&p->t, &p->d, &usual, e));
}

#define PLANT(p, text)                                                                                       \
    KEEP(struct plant, p, close_plant);                                                                      \
    open_plant(&p, text)

/* The only row of a part in a dimension; of NPUs dim is 0. */
static const struct fail_row *row_of(const struct fail_table *t, enum fail_part part, int32_t dim)
{
    const struct fail_row *found = NULL;
    for (int32_t i = 0; i < t->n_rows; i++)
        if (t->rows[i].part == part && t->rows[i].dim == dim) {
            assert_null(found);
            found = &t->rows[i];
        }
    assert_non_null(found);
    return found;
}

static void check_slower(const struct fail_row *row, double closed, double flow)
{
    assert_close(1 + row->slowdown, 1 + closed, 1e-12);
    assert_close(1 + row->flow_slowdown, 1 + flow, 1e-9);
}

/* All-reduce on a switch of n: 2 (n-1)/n S/B. Of P planes one leaves (P-1)/P of B, which nothing else limits.
 */
TEST(plane_of_many_leaves_the_others)
{
    for (int planes = 2; planes <= 8; planes *= 2) {
        char text[256];
        snprintf(text, sizeof text, "network: \"switch:6*%d@50\"\nmodel: bandwidth\n" ALL, planes);
        PLANT(p, text);
        double healthy_s = 2 * 5 / 6. * 16e6 / 50e9, part = planes / (planes - 1.0);
        assert_close(p.t.time_s, healthy_s, 1e-12);
        assert_close(p.t.flow_s, healthy_s, 1e-9);
        const struct fail_row *plane = row_of(&p.t, FAIL_PLANE, 0), *port = row_of(&p.t, FAIL_LINK, 0);
        assert_close(plane->time_s, healthy_s * part, 1e-12);
        check_slower(plane, part - 1, part - 1);
        check_slower(port, part - 1, part - 1);
        check_slower(row_of(&p.t, FAIL_SWITCH, 0), part - 1, part - 1);
        assert_true(!plane->stops && !port->stops && plane->count == planes && port->count == 6 * planes);
        /* Half of a port: (P - 1/2)/P is left where planes share the traffic. */
        double half = planes / (planes - 0.5);
        check_slower(row_of(&p.t, FAIL_SLOW_LINK, 0), half - 1, half - 1);
    }
}

/* One switch joins all: without it, or its port, there is nothing left. */
TEST(star_stops)
{
    PLANT(p, "network: \"switch:16@50\"\nmodel: bandwidth\n" ALL);
    const struct fail_row *sw = row_of(&p.t, FAIL_SWITCH, 0), *port = row_of(&p.t, FAIL_LINK, 0),
                          *nic = row_of(&p.t, FAIL_NIC, 0);
    assert_true(sw->stops && port->stops && nic->stops && isnan(sw->time_s) && isnan(sw->flow_s));
    assert_string_equal(sw->flow_why, "the job stops");
    assert_true(sw->npus == 16 && port->npus == 8 && nic->npus == 8); /* nodes of 8 */
    assert_true(sw->count == 1 && port->count == 16);
    /* They count in goodput, by the defaults: a stall of 1 s, restarts of 600. */
    struct goodput g;
    const struct checkpoint c = { .stall_s = 1, .restart_s = 600 };
    double per_h = 16 / 79000. + 2 / 24350. + 16 / 1.3e6 + 16 / 3e6 + 1 / 1.4e6;
    goodput_of(&g, &c, HOUR_S / per_h, NAN);
    assert_close(p.t.goodput, g.goodput, 1e-12);
    assert_close(p.t.redo_s, g.interval_s / 2, 1e-12);
    /* Nothing takes over for a slow port: all wait for it. */
    check_slower(row_of(&p.t, FAIL_SLOW_LINK, 0), 1, 1);
}

/* A ring without one link is a line whose links carry what went both ways round: half the bandwidth is left,
 * and flows that go round the other way find the same. */
TEST(ring_goes_the_other_way_round)
{
    PLANT(p, "network: \"ring:8@50\"\nmodel: bandwidth\n" ALL
             "system: { npus_per_node: 1, npu_usd: 1, npu_watt: 1, "
             "checkpoint: { size_GB: 1 }, tolerates: { detours: true } }\n");
    const struct fail_row *link = row_of(&p.t, FAIL_LINK, 0);
    check_slower(link, 1, 1);
    assert_true(!link->stops && link->count == 8 && link->left == 0.5);
}

/* Where nothing goes the other way round, a link takes the nodes of both its ends from the job, and a line
 * falls in two. */
TEST(link_between_npus_takes_both_its_ends)
{
    static const char *const shapes[] = { "ring", "line" };
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "network: \"%s:8@50\"\nmodel: bandwidth\n" ALL
                 "system: { npus_per_node: 1, npu_usd: 1, npu_watt: 1, checkpoint: { size_GB: 1 } }\n",
                 shapes[i]);
        PLANT(p, text);
        const struct fail_row *link = row_of(&p.t, FAIL_LINK, 0);
        assert_true(link->stops && link->npus == 2 && link->left == (i ? 0 : 0.5));
    }
}

/* A tree of leaves and spines as a list of links, 50 GB/s each: every part fails once, in rows of those that
 * are alike. An all-to-all passes the ports of NPUs, and of each leaf as many links up as are left. */
TEST(each_part_of_a_graph_fails_once)
{
    RNG(rng, 12, 5);
    for (int k = 0; k < repeats(12); k++) {
        KEEP(struct plant, p, close_plant) = { .t = { 0 } };
        KEEP(struct text, links, text_free) = { 0 };
        FOLDER(f);
        const int leaves = 2 + (int)rng_below(rng, 3), below = 2 + (int)rng_below(rng, 4),
                  spines = 2 + (int)rng_below(rng, 3), n = leaves * below;
        text_puts(&links, "src,dst,bw_GBps,latency_ns,src_kind,dst_kind\n");
        for (int l = 0; l < leaves; l++) {
            for (int i = 0; i < below; i++)
                text_printf(&links, "n%d_%d,leaf%d,50,0,npu,switch\n", l, i, l);
            for (int i = 0; i < spines; i++)
                text_printf(&links, "leaf%d,spine%d,50,0,switch,switch\n", l, i);
        }
        put(&f, "links.csv", text_str(&links));
        const char *path =
            put(&f, "study.yaml",
                "network: { name: t, graph: links.csv }\nmodel: bandwidth\n"
                "system: { npu_usd: 1, npu_watt: 1, npus_per_node: 1, checkpoint: { size_GB: 1 }, "
                "tolerates: { paths: true } }\n"
                "workload: { step: { all-to-all: { size_MB: 16, group: all } } }\n");
        OK(design_point_load(&p.s, path, NULL, 0, DESIGN_NEEDS_WORKLOAD | DESIGN_NEEDS_BANDWIDTH, e));
        OK(design_evaluate(&p.d, &p.s, NULL, e));
        OK(fail_build(&p.t, &p.d, &usual, e));
        double port_s = (n - 1.0) / n * 16e6 / 50e9, up_s = below * (double)(n - below) / n * 16e6 / 50e9;
        double n_links = 0, n_switches = 0, healthy_s = fmax(port_s, up_s / spines),
               less_s = fmax(port_s, up_s / (spines - 1));
        assert_close(p.t.time_s, healthy_s, 1e-9);
        for (int32_t i = 0; i < p.t.n_rows; i++) {
            const struct fail_row *row = &p.t.rows[i];
            n_links += row->part == FAIL_LINK ? row->count : 0;
            n_switches += row->part == FAIL_SWITCH ? row->count : 0;
            if (!row->timed)
                continue;
            const bool spine = strstr(row->name, "spine") != NULL;
            assert_int_equal(row->stops, !spine);
            if (spine)
                assert_close(row->time_s, less_s, 1e-9);
        }
        assert_close(n_links, leaves * (below + spines), 1e-12);
        assert_close(n_switches, leaves + spines, 1e-12);
    }
}

/* Workloads count by their weights: 3 steps of 16 MB and one of 2 ms, of which a slow NPU makes 2.5 ms. */
TEST(steps_are_weighted)
{
    PLANT(p, "network: \"switch:6*2@50\"\nmodel: bandwidth\nworkloads:\n"
             "  - { weight: 3, workload: { step: { all-reduce: { size_MB: 16, group: all } } } }\n"
             "  - { workload: { step: { compute_ms: 2 } } }\n");
    double comm_s = 2 * 5 / 6. * 16e6 / 50e9;
    assert_close(p.t.time_s, 3 * comm_s + 2e-3, 1e-12);
    assert_close(row_of(&p.t, FAIL_PLANE, 0)->time_s, 6 * comm_s + 2e-3, 1e-12);
    assert_close(row_of(&p.t, FAIL_SLOW_NPU, 0)->time_s, 3 * comm_s + 2.5e-3, 1e-12);
}

/* In a full mesh of n the pair whose link is gone goes by another member, whose links then carry two messages
 * of an exchange with all: twice the time by flow, (n-1)/(n-2) where the traffic is spread over all that is
 * left. */
TEST(mesh_has_one_detour_that_takes_twice_as_long)
{
    for (int n = 3; n <= 7; n++) {
        char text[512];
        snprintf(text, sizeof text,
                 "network: { dims: [ { name: d, shape: full, size: %d, bw_GBps: 50, algorithm: direct } ] }\n"
                 "model: bandwidth\n" ALL,
                 n);
        PLANT(p, text);
        const struct fail_row *link = row_of(&p.t, FAIL_LINK, 0);
        check_slower(link, (n - 1.0) / (n - 2) - 1, 1);
        assert_true(link->stops); /* as tolerates.detours says */
    }
}

/* On a torus as in a ring, of that axis alone; flows go round where it is shortest and never gain. */
TEST(torus_loses_half_of_an_axis)
{
    PLANT(p, "network: \"torus:4x4@100\"\nmodel: bandwidth\n" ALL);
    for (int32_t d = 0; d < 2; d++) {
        const struct fail_row *link = row_of(&p.t, FAIL_LINK, d);
        assert_true(link->left == 0.5 && link->slowdown > 0 && link->slowdown <= 1 + 1e-12);
        assert_true(link->flow_slowdown > 0 && link->flow_slowdown <= 2);
    }
}

/* Two planes of a fat tree: a leaf takes half of the ports below and of what goes up; a spine of four in each
 * plane an eighth. */
TEST(fabric_is_taken_apart_switch_by_switch)
{
    PLANT(p, "network: \"fat-tree:4x4*2@50\"\nmodel: bandwidth\n" ALL);
    int n_leaves = 0, n_spines = 0;
    for (int32_t i = 0; i < p.t.n_rows; i++) {
        const struct fail_row *row = &p.t.rows[i];
        if (row->part != FAIL_SWITCH)
            continue;
        bool leaf = strstr(row->name, "leaf") != NULL;
        n_leaves += leaf;
        n_spines += !leaf;
        assert_close(row->left, leaf ? 0.5 : 7 / 8., 1e-12);
        assert_true(!row->stops && row->count == 8 && row->dim == (leaf ? 0 : 1));
        assert_int_equal(row->n_dims, leaf ? 2 : 1);
        if (leaf)
            check_slower(row, 1, 1);
    }
    assert_true(n_leaves == 1 && n_spines == 1);
    assert_close(row_of(&p.t, FAIL_LINK, 1)->left, 7 / 8., 1e-12);
    assert_close(row_of(&p.t, FAIL_SLOW_LINK, 1)->left, 15 / 16., 1e-12); /* half of one of 4 x 2 */
}

/*
 * Three levels: 2 pods of 2 leaves of 4, links of 50 GB/s. All-to-all of 16 MB: an NPU sends 15 MB in 300 us,
 * a leaf 48 MB to others, over 4 links in 240 us, over 3 in 320: where one goes up elsewhere, and where a
 * switch above all leaves of a pod is gone, which has 2 of the links at its upper side. Flows that meet it go
 * round unevenly, and take longer.
 */
TEST(middle_of_a_tree_takes_as_much_as_leaves_lose)
{
    PLANT(p, "network: \"fat-tree:4x2x2@50\"\nmodel: bandwidth\n"
             "workload: { step: { all-to-all: { size_MB: 16, group: all } } }\n");
    int n_middle = 0;
    assert_close(p.t.time_s, 300e-6, 1e-12);
    assert_close(row_of(&p.t, FAIL_LINK, 1)->slowdown, 20 / 300., 1e-9);
    for (int32_t i = 0; i < p.t.n_rows; i++) {
        const struct fail_row *row = &p.t.rows[i];
        if (row->part != FAIL_SWITCH || row->dim != 1 || row->n_dims != 2)
            continue;
        n_middle++;
        assert_close(row->left, 3 / 4., 1e-12);
        assert_close(row->slowdown, 20 / 300., 1e-9);
        assert_true(row->flow_slowdown >= row->slowdown);
    }
    assert_int_equal(n_middle, 1);
}

/* An NPU at 0.8 makes compute of 1 ms 1.25 ms; what it does not hide stays. */
TEST(slow_npu_is_waited_for)
{
    PLANT(
        p,
        "network: \"switch:6@50\"\nmodel: bandwidth\n"
        "workload: { step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 30, group: all } } ] } }\n");
    double comm_s = 2 * 5 / 6. * 30e6 / 50e9;
    const struct fail_row *npu = row_of(&p.t, FAIL_SLOW_NPU, 0);
    assert_close(npu->time_s, 1.25e-3 + comm_s, 1e-12);
    assert_close(npu->flow_s, 1.25e-3 + comm_s, 1e-9);
}

/* 6 s of the host, once a step, which an NPU at 0.8 makes no longer: (t - 6)/0.8 + 6 where nothing is sent.
 */
TEST(slow_npu_leaves_the_host_as_it_is)
{
    PLANT(p, "network:\n"
             "  npu: { peak_TFLOPS: 100, mem_GB: 80, mem_GBps: 2000 }\n"
             "  dims: [ { name: d, shape: switch, size: 2, bw_GBps: 50 } ]\n"
             "workload:\n"
             "  traffic: 0\n"
             "  model: { layers: 4, hidden: 1024, heads: 8, seq: 1024, vocab: 32000 }\n"
             "  parallel: { batch: 64, step_overhead_s: 6 }\n");
    const struct fail_row *npu = row_of(&p.t, FAIL_SLOW_NPU, 0);
    assert_true(p.t.time_s > 6.1);
    assert_close(npu->time_s, (p.t.time_s - 6) / 0.8 + 6, 1e-12);
}

#define MACHINE                                                                                              \
    "network:\n"                                                                                             \
    "  dims:\n"                                                                                              \
    "    - { name: node, shape: ring, size: 4, bw_GBps: 400, tier: N }\n"                                    \
    "    - { name: pod, shape: switch, size: 8, bw_GBps: 100, planes: 2, tier: P }\n"                        \
    "model: bandwidth\n"                                                                                     \
    "parts:\n"                                                                                               \
    "  grade: V\n"                                                                                           \
    "  catalogue:\n"                                                                                         \
    "    - { name: nic, kind: nic, ports: 1, bw_GBps: 50, usd: 1000, watt: 20 }\n"                           \
    "    - { name: box, kind: switch, ports: 64, bw_GBps: 50, usd: 10000, watt: 500, mtbf_h: 1e5 }\n"        \
    "    - { name: end, kind: link, bw_GBps: 50, usd: 100, watt: 10 }\n"                                     \
    "    - { name: inner, kind: link, bw_GBps: 50, usd: 4 }\n"                                               \
    "  build:\n"                                                                                             \
    "    - { tier: N, end_link: inner }\n"                                                                   \
    "    - { tier: P, nic: nic, switch: box, end_link: end }\n" ALL

#define OWNED(more)                                                                                          \
    MACHINE "system: { npus_per_node: 4, npu_usd: 1, npu_watt: 1, repair_h: 2, " more                        \
            " checkpoint: { size_GB: 200, store_GBps: 10, node_GBps: 25, async: false, interval_s: 900, "    \
            "restart_s: 300 } }\n"

/* 32 NPUs stop the job 32 * 8760/79000 times a year, for a restart and half an interval; a link of one of two
 * planes doubles the time on the pod, for two hours. */
TEST(losses_are_what_they_are_by_hand)
{
    PLANT(p, OWNED(""));
    const struct fail_row *npu = row_of(&p.t, FAIL_NPU, 0), *link = row_of(&p.t, FAIL_LINK, 1),
                          *inner = row_of(&p.t, FAIL_LINK, 0);
    assert_true(npu->stops && npu->npus == 4);
    assert_close(npu->lost_s, 300 + 20 + 450, 1e-12); /* 200 GB are read at 10 GB/s */
    assert_close(npu->per_year, 32 * 8760 / 79000., 1e-12);
    assert_close(npu->lost_frac, 32 * 8760 / 79000. * 770 / YEAR_S, 1e-12);
    /* model bandwidth: 16 MB pass the node as 1.5 S at 100, the pod as 1.75 S/4 at 100 GB/s: the slower
     * decides */
    double node_s = 1.5 * 16e6 / 400e9, pod_s = 1.75 / 4 * 16e6 / 100e9;
    assert_close(p.t.time_s, fmax(node_s, pod_s), 1e-12);
    assert_close(link->time_s, fmax(node_s, 2 * pod_s), 1e-12);
    assert_true(!link->stops && link->count == 64 && pod_s > node_s);
    assert_close(link->per_year, 64 * 8760 / 1.3e6, 1e-12);
    assert_close(link->lost_s, 2 * HOUR_S * (1 - p.t.time_s / link->time_s), 1e-12);
    assert_close(link->lost_frac, (1 - exp(-64 * 2 / 1.3e6)) * (1 - p.t.time_s / link->time_s), 1e-9);
    /* Inside the server: it fails with it. */
    assert_true(isnan(inner->mtbf_s) && isnan(inner->lost_frac) && inner->left == 0.5);
}

/* A rack takes whole nodes of 4: of 8 nodes in n racks as many as the fullest one has. */
TEST(racks_are_full_of_whole_nodes)
{
    static const double rack_kW[] = { 1000, 12, 5, 3 };
    double most = 32;
    for (size_t i = 0; i < COUNT_OF(rack_kW); i++) {
        char system[2048];
        snprintf(system, sizeof system,
                 MACHINE
                 "system: { npus_per_node: 4, npu_usd: 1, npu_watt: 1, server_watt: 499, rack_kW: %g, "
                 "checkpoint: { size_GB: 200 } }\n",
                 rack_kW[i]);
        PLANT(p, system);
        const struct fail_row *rack = row_of(&p.t, FAIL_RACK, 0);
        int nodes = 0;
        while (nodes * rack->count < 8)
            nodes++;
        assert_true(i == 0 ? rack->count == 1 : rack->count > 1);
        assert_true(rack->npus == 4 * nodes && rack->npus <= most);
        assert_true(rack->stops && isnan(rack->mtbf_s));
        most = rack->npus;
    }
    assert_true(most < 32);
}

/* A rack of the study's own stops the job as often as it says, and there is no other. */
TEST(items_fail_as_they_say)
{
    PLANT(p, OWNED("items: [ { name: power, per: rack, mtbf_h: 1e4, takes_npus: 32 } ],"));
    const struct fail_row *power = row_of(&p.t, FAIL_ITEM, 0);
    assert_string_equal(power->name, "power");
    assert_true(power->stops && power->npus == 32 && isnan(power->time_s));
    assert_close(power->per_year, power->count * 0.876, 1e-12);
    for (int32_t i = 0; i < p.t.n_rows; i++)
        assert_true(p.t.rows[i].part != FAIL_RACK);
}

/* 16 NPUs in 4 leaves that have 4 ports up in two planes, 2:1; all-to-all fills what goes up. The bill has
 * two leaves (a plane each) where the graph draws one, and spines of 8 ports: half of what a leaf has up goes
 * to each. By flow the leaf and the spine leave the same; a cable up leaves 3/4 if the traffic is spread, but
 * flows keep to the plane that has lost half. */
TEST(boxes_of_the_bill_are_those_of_the_graph)
{
    PLANT(p,
          "network:\n"
          "  dims:\n"
          "    - { name: pod, shape: fat-tree, sizes: [4, 4], taper: 2, planes: 2, bw_GBps: 100, tier: P }\n"
          "model: bandwidth\n"
          "parts:\n"
          "  grade: V\n"
          "  catalogue:\n"
          "    - { name: nic, kind: nic, ports: 1, bw_GBps: 50, usd: 1 }\n"
          "    - { name: box, kind: switch, ports: 8, bw_GBps: 50, usd: 1 }\n"
          "    - { name: end, kind: link, bw_GBps: 50, usd: 1 }\n"
          "  build: [ { tier: P, nic: nic, switch: box, end_link: end, up_link: end } ]\n"
          "workload: { step: { all-to-all: { size_MB: 16, group: all } } }\n");
    const struct fail_row *leaf = row_of(&p.t, FAIL_SWITCH, 0), *spine = row_of(&p.t, FAIL_SWITCH, 1),
                          *up = row_of(&p.t, FAIL_LINK, 1);
    assert_close(p.t.flow_s, 12 / 16. * 16e6 / 50e9, 1e-9); /* to other leaves, at half of 100 GB/s */
    assert_true(leaf->count == 8 && spine->count == 2 && up->count == 16);
    check_slower(leaf, 1, 1);
    check_slower(spine, 1, 1);
    check_slower(up, 4 / 3. - 1, 1);
    /* An NPU with one plane sends 15/16 of the bytes at as much as leaves have up for 12/16. */
    check_slower(row_of(&p.t, FAIL_LINK, 0), 15 / 12. - 1, 15 / 12. - 1);
    /* One of two boxes that are drawn as one, the only spine there is in its plane, one of two cables. */
    assert_true(leaf->mark == FAIL_HUB && leaf->mark_share == 0.5 && spine->mark == FAIL_HUB &&
                spine->mark_share == 0 && up->mark == FAIL_EDGE && up->mark_share == 0.5);
}

/* First order: 1 - G1 (1 + delta/tau) is what stops take; the sums of system.h by another way. */
static void check_sums(const char *text)
{
    PLANT(p, text);
    KEEP(struct system, x, system_free);
    MUST(system_build(&x, &p.s, design_owned(&p.d), e));
    double stops = 0, all = 0, per_year = 0;
    for (int32_t i = 0; i < p.t.n_rows; i++) {
        const struct fail_row *row = &p.t.rows[i];
        stops += row->stops && !isnan(row->lost_frac) ? row->lost_frac : 0;
        all += isnan(row->lost_frac) ? 0 : row->lost_frac;
        per_year += isnan(row->per_year) ? 0 : row->per_year;
        if (i > 0 && !isnan(row->lost_frac))
            assert_true(row->lost_frac <= row[-1].lost_frac);
        else if (i > 0 && isnan(row[-1].lost_frac))
            assert_true(row->lost_s <= row[-1].lost_s);
    }
    double delta = x.checkpoint.stall_s, tau = x.goodput.interval_s;
    assert_close(stops, 1 - x.goodput.first_order * (1 + delta / tau), 1e-9);
    assert_close(p.t.goodput, x.kept, 1e-12);
    assert_close(p.t.stall_frac, delta / (tau + delta), 1e-12);
    assert_close(p.t.lost_frac, all, 1e-12);
    assert_close(p.t.per_year, per_year, 1e-12);
    assert_true(all > stops);
}

/* Checkpoints that hold the step up, and that are whole a while after. */
TEST(stops_sum_to_what_goodput_lacks)
{
    check_sums(OWNED(""));
    check_sums(MACHINE
               "system: { npus_per_node: 4, npu_usd: 1, npu_watt: 1, checkpoint: { size_GB: 900, store_GBps: "
               "10, async: true, restart_s: 300 } }\n");
    check_sums(OWNED("straggler_loss: 0.2, planned_stops_month: 10, planned_stop_h: 7.305,"));
}

/* Without a spare a restart waits for the repair of the node, two hours. With one it does not where the 7
 * other nodes and the spare are up, each with the rates of 4 NPUs and itself; with two one of these 9 may be
 * down. */
TEST(without_spares_a_repair_is_waited_for)
{
    PLANT(none, OWNED("spare_nodes: 0,"));
    PLANT(one, OWNED("spare_nodes: 1,"));
    PLANT(two, OWNED("spare_nodes: 2,"));
    double node_h = 1 / (4 / 79000. + 1 / 24350.), up = node_h / (node_h + 2);
    double found[] = { 0, pow(up, 8), pow(up, 9) + 9 * pow(up, 8) * (1 - up) };
    assert_close(row_of(&none.t, FAIL_NPU, 0)->lost_s, 300 + 20 + 450 + (1 - found[0]) * 2 * HOUR_S, 1e-9);
    assert_close(row_of(&one.t, FAIL_NPU, 0)->lost_s, 300 + 20 + 450 + (1 - found[1]) * 2 * HOUR_S, 1e-9);
    assert_close(row_of(&two.t, FAIL_NPU, 0)->lost_s, 300 + 20 + 450 + (1 - found[2]) * 2 * HOUR_S, 1e-9);
}

/* A million ports of two planes: a few are always down, and all wait for half of the bandwidth, no longer. */
TEST(many_that_are_down_hold_a_step_up_once)
{
    PLANT(p, "network: \"switch:1000000*2@50\"\nmodel: bandwidth\n" ALL);
    const struct fail_row *port = row_of(&p.t, FAIL_LINK, 0);
    assert_close(port->slowdown, 1, 1e-12);
    assert_true(port->count == 2e6 && row_of(&p.t, FAIL_NIC, 0)->count == 2e6);
    assert_close(port->per_year * port->lost_s / YEAR_S, 2e6 * 4 / 1.3e6 / 2, 1e-9); /* 3.1 years a year */
    assert_close(port->lost_frac, 0.5 * (1 - exp(-2e6 * 4 / 1.3e6)), 1e-12);
}

/* A switch that takes all 8 nodes finds one spare too few, and waits for a repair. */
TEST(failures_of_several_nodes_wait_for_as_many_spares)
{
    PLANT(p, OWNED("spare_nodes: 1, tolerates: { planes: false },"));
    const struct fail_row *sw = row_of(&p.t, FAIL_SWITCH, 1), *npu = row_of(&p.t, FAIL_NPU, 0);
    assert_true(sw->stops && sw->npus == 32);
    assert_close(sw->lost_s, 300 + 20 + 450 + 2 * HOUR_S, 1e-9);
    assert_true(npu->lost_s > 300 + 20 + 450 && npu->lost_s < 300 + 20 + 450 + 20);
}

/* Boards of 2x2: an NPU has one link of a row on its board and one to the row's switch. Without the latter
 * half of its bandwidth along the row is left, by way of its neighbour, which passes on what is not its own.
 */
TEST(boards_pass_on_what_a_port_has_lost)
{
    PLANT(p, "network: \"hammingmesh:2x2x4x4@100\"\nmodel: bandwidth\n" ALL);
    for (int32_t d = 0; d < 4; d++) {
        const struct fail_row *link = row_of(&p.t, FAIL_LINK, d);
        assert_true(link->left == 0.5 && link->stops); /* as tolerates.detours says */
    }
    const struct fail_row *row = row_of(&p.t, FAIL_SWITCH, 2);
    assert_true(row->left == 0.5 && row->stops);
    PLANT(on,
          "network: \"hammingmesh:2x2x4x4@100\"\nmodel: bandwidth\n" ALL
          "system: { npu_usd: 1, npu_watt: 1, checkpoint: { size_GB: 1 }, tolerates: { detours: true } }\n");
    row = row_of(&on.t, FAIL_SWITCH, 2);
    assert_true(row->left == 0.5 && !row->stops && row->slowdown > 0);
}

TEST(large_networks_have_closed_forms_alone)
{
    PLANT(p, "network: \"torus:100x100x100@150\"\n" ALL);
    assert_true(isnan(p.t.flow_s) &&
                strstr(p.t.flow_why, "has 1,000,000 NPUs and 3,000,000 links; up to 1,024"));
    assert_true(row_of(&p.t, FAIL_LINK, 2)->slowdown > 0 && p.s.net.n_npus == 1000000);
}

/* Without work nothing is slower, and stops cost what they cost. */
TEST(step_of_no_time_is_not_slower)
{
    PLANT(p, "network: \"switch:16*2@50\"\nworkload: { step: { all-reduce: { size_MB: 0, group: all } } }\n");
    assert_true(p.t.time_s == 0 && row_of(&p.t, FAIL_PLANE, 0)->slowdown == 0);
    assert_true(row_of(&p.t, FAIL_PLANE, 0)->lost_s == 0 && row_of(&p.t, FAIL_NPU, 0)->lost_s > 600);
}

TEST(wrong_shares_are_refused)
{
    static const struct fail_slow wrong[] = {
        { 0, 0.8 }, { 1, 0.8 }, { 0.5, 0 }, { 0.5, 1.5 }, { NAN, 0.8 }
    };
    PLANT(p, "network: \"ring:4@50\"\n" ALL);
    struct fail_table t;
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        FAILS(fail_build(&t, &p.d, &wrong[i], e), ERR_RANGE, "expected above 0 and below 1");
}
