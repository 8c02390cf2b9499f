/* Servers as they are sold: what studies take from them, published power and racks, mixtures that are told.
 */
#include <unistd.h>

#include "tests/unit/catalogue_files.h"
#include "tests/unit/system_fixture.h"

#define FIGURE(low, typ, high)                                                                               \
    "{ low: " #low ", typ: " #typ ", high: " #high ", grade: D, date: 2026-01, source: a test }"
#define PARTS                                                                                                \
    "parts:\n"                                                                                               \
    "  grade: V\n"                                                                                           \
    "  catalogue:\n"                                                                                         \
    "    - { name: NVL, kind: product, ports: 72, bw_GBps: 900 }\n"                                          \
    "    - { name: box, kind: switch, ports: 2048, bw_GBps: 50, usd: 10000, watt: 100e3 }\n"                 \
    "    - { name: end, kind: link, bw_GBps: 50, usd: 100, watt: 0 }\n"                                      \
    "  build: [ { tier: N, product: NVL }, { tier: P, switch: box, end_link: end } ]\n"
#define NPU_USD     FIGURE(10, 20, 30)
#define SERVER_USD  FIGURE(1, 2, 3)
#define SERVER_WATT FIGURE(400, 500, 600)
#define PUE         FIGURE(1.1, 1.2, 1.3)
#define NODE_H      FIGURE(1e3, 2e3, 3e3)
#define RACK_KW     FIGURE(100, 110, 120)
#define SERVER                                                                                               \
    "{ name: Rack, holds: [GB200, B200 HGX], npus_per_node: 4, npus_per_domain: 72, npus_per_rack: 72, "     \
    "cooling: liquid, npu_usd: " NPU_USD ", server_usd: " SERVER_USD ", server_watt: " SERVER_WATT           \
    ", pue: " PUE ", node_h: " NODE_H ", rack_kW: " RACK_KW                                                  \
    ", items: [ { name: tray, per: npu, count: 0.125, mtbf_h: 1e5, takes_npus: 72 } ] }"
/* %s: of 72; more keys of system. 16 racks. */
#define RACKS                                                                                                \
    "network:\n"                                                                                             \
    "  npu: { name: GB200 x, watt: 1000, server: " SERVER " }\n"                                             \
    "  dims:\n"                                                                                              \
    "    - { name: rack, shape: switch, size: %s, bw_GBps: 900, tier: N }\n"                                 \
    "    - { name: row, shape: switch, size: 16, bw_GBps: 50, tier: P }\n" PARTS STEP                        \
    "system: { checkpoint: { size_GB: 5 }%s }\n"

static void build_racks(struct design_point *s, struct design *d, struct system *x, const char *used,
                        const char *more)
{
    char text[4096];
    snprintf(text, sizeof text, RACKS, used, more);
    build_system(s, d, x, text);
}

#define BUILT(s, x, used, more)                                                                              \
    KEEP(struct design_point, s, design_point_free);                                                         \
    KEEP(struct design, x##_design, design_free);                                                            \
    KEEP(struct system, x, system_free);                                                                     \
    build_racks(&s, &x##_design, &x, used, more)

TEST(what_a_study_does_not_say_its_server_does)
{
    BUILT(s, x, "72", "");
    const struct own_system *own = &s.system;
    assert_true(own->npus_per_node == 4 && own->npus_per_rack == 72);
    assert_true(own->npu_usd == 20 && own->server_usd == 2 && own->server_watt == 500);
    assert_close(own->terms.pue, 1.2, 0);
    assert_close(own->mtbf.node_s, 2e3 * 3600, 1e-15);
    assert_close(own->server_idle, 0.5, 0); /* of which the product says nothing */
    assert_close(x.cost.watt_peak, 1152 * 1500 + 100e3, 1e-12);
    BUILT(s2, x2, "72", ", npu_usd: 7, server_watt: 9, pue: 1.5, npus_per_rack: 36, mtbf: { node_h: 5 }");
    own = &s2.system;
    assert_true(own->npu_usd == 7 && own->server_watt == 9 && own->npus_per_rack == 36);
    assert_close(own->terms.pue, 1.5, 0);
    assert_close(own->mtbf.node_s, 5 * 3600, 1e-15);
    BUILT(s3, x3, "72", ", mtbf: { npu_h: 5 }"); /* beside another key of the map */
    assert_close(s3.system.mtbf.node_s, 2e3 * 3600, 1e-15);
}

/* 1,152 / 8 switch trays: each stops the job, and takes a rack. */
TEST(parts_of_a_server_fail)
{
    BUILT(s, x, "72", "");
    const struct reliability_line *tray = NULL;
    for (int32_t i = 0; i < x.n_fails; i++)
        if (strcmp(x.fails[i].name, "tray") == 0)
            tray = &x.fails[i];
    assert_non_null(tray);
    assert_close(tray->n, 144, 1e-12);
    assert_close(tray->npus, 72, 0);
    assert_close(tray->mtbf_s, 1e5 * 3600, 1e-15);
}

/* Their ranges are ranges of the time between stops, and rates of no source are told from others. */
TEST(parts_of_a_server_leave_open_how_often_they_fail)
{
    BUILT(
        s, x, "72",
        ", mtbf: { npu_h: 5e4, node_h: 5e3, nic_h: 3e6, link_h: 1e6, switch_h: 1e6 }, items: [ { name: pump, "
        "per: system, count: 2, mtbf_h: 1e4, mtbf_low_h: 1e3, mtbf_high_h: 1e5, grade: R } ]");
    double rest = 1 / x.mtbi_s - 2 / (1e4 * 3600);
    assert_close(1 / x.mtbi_low_s, rest + 2 / (1e3 * 3600), 1e-12);
    assert_close(1 / x.mtbi_high_s, rest + 2 / (1e5 * 3600), 1e-12);
    for (int32_t i = 0; i < x.n_fails; i++)
        assert_true(x.fails[i].recalled == (strcmp(x.fails[i].name, "pump") == 0));
}

/* A box of 100 kW takes three racks of 40. */
TEST(a_domain_that_is_a_rack_is_one_however_full)
{
    CASES(const char *used, *more; double racks, rest) = {
        { "72", "", 16, 3 },
        { "64", "", 16, 3 },
        { "36", "", 16, 3 },
        { "72", ", spare_nodes: 18", 17, 3 },
        { "72", ", spare_nodes: 19", 18, 3 },
        { "72", ", rack_kW: 100", 16, 1 },
        { "72", ", rack_kW: 99", 16, 2 },
        { "72", ", npus_per_rack: 36", 32, 3 },
        { "72", ", items: [ { name: fan, per: node, watt: 100 } ]", 16, 4 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        BUILT(s, x, cases[i].used, cases[i].more);
        assert_close(x.racks, cases[i].racks, 0);
        assert_close(x.racks_network, cases[i].rest, 0);
    }
}

/* Four servers of 8 in a rack, which their fabric does not fill: 9 servers are three racks. */
TEST(racks_of_several_servers_hold_whole_ones)
{
    static const char text[] =
        "network: { npu: { usd: 1, watt: 700 }, dims: [ { name: node, shape: switch, size: 8, bw_GBps: 450 "
        "}, { name: pod, shape: ring, size: 9, bw_GBps: 50 } ] }\n" STEP
        "system: { checkpoint: { size_GB: 5 }, npus_per_rack: 39, items: [ { name: door, per: rack, usd: "
        "100 } ] }\n";
    SYSTEM(s, d, x, text);
    assert_close(x.racks, 3, 0);
    double doors = 0;
    for (int32_t i = 0; i < x.n_items; i++)
        doors += strcmp(x.items[i].name, "door") == 0 ? x.items[i].count : 0;
    assert_close(doors, 3, 0);
}

TEST(products_that_do_not_belong_together_are_told)
{
    CASES(const char *more, *note) = {
        { "", NULL },
        { ", npus_per_node: 8", "system.npus_per_node is 8, and Rack has servers of 4" },
        { ", npu_usd: 1, server: { name: HGX, holds: [GB200], npus_per_node: 8, npus_per_domain: 8 }",
          "system has servers HGX, whose fabric joins 8 NPUs, and NVL joins 72" },
        { ", server_watt: 700", "system makes a rack of 72 NPUs take 122.4 kW, more than the 120 of Rack" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        BUILT(s, x, "72", cases[i].more);
        if (cases[i].note)
            assert_has(text_str(&s.notes), cases[i].note);
        else
            assert_null(strstr(text_str(&s.notes), "Rack"));
    }
    SYSTEM(s, d, x,
           "network: { npu: { usd: 1, watt: 700 }, dims: [ { name: rack, shape: switch, size: 72, bw_GBps: "
           "900, tier: N } ] }\n" PARTS STEP "system: { checkpoint: { size_GB: 5 } }\n");
    assert_has(text_str(&s.notes), "has nodes of 8 by default, and NVL joins 72 NPUs; give system.server");
}

/* ---- spares of a rack, and others' numbers ---- */

static double down_at_most(double n, int most, double u)
{
    double sum = 0, ways = 1;
    for (int k = 0; k <= most; k++) {
        sum += ways * pow(u, k) * pow(1 - u, n - k);
        ways *= (n - k) / (k + 1);
    }
    return sum;
}

static const struct own_item *item_called(const struct system *x, const char *name)
{
    for (int32_t i = 0; i < x->n_items; i++)
        if (strcmp(x->items[i].name, name) == 0)
            return &x->items[i];
    return NULL;
}

/* 64 of 72: two trays of 18 stand by in each of 16 racks, are paid, and take the place of up to two that are
 * down there; a rack whose fabric fails has none to go on with. */
TEST(a_rack_keeps_its_own_spares)
{
    BUILT(s, x, "64", ", spares_per_domain: 8, repair_h: 4");
    const struct own_item *spare = item_called(&x, "spare servers with their NPUs");
    assert_non_null(spare);
    assert_true(spare->count == 32 && spare->usd == 4 * 22);
    assert_close(x.racks, 16, 0);
    /* The spares hang on the network as the others do. */
    assert_close(x.cost.price, 1152 * 22 + (10000 + 100 * 1024) * 72 / 64., 1e-12);
    assert_close(x.cost.watt_peak, 1152 * 1500 + 100e3 * 72 / 64., 1e-12);
    assert_close(x.spares_enough, pow(down_at_most(18, 2, x.nodes_down), 16), 1e-12);
    assert_close(system_wait_s(&x, &s, 4, -1), (1 - down_at_most(17, 1, x.nodes_down)) * 4 * 3600, 1e-9);
    assert_close(system_wait_s(&x, &s, 64, -1), 4 * 3600, 1e-12);
    /* A leaf that 16 trays hang on, each in a rack of its own. */
    assert_close(system_wait_s(&x, &s, 64, 1), (1 - pow(down_at_most(17, 1, x.nodes_down), 16)) * 4 * 3600,
                 1e-9);
    assert_close(down_at_most(18, 0, 4 / 12004.), 0.9940, 1e-4); /* shared arithmetic: a tray of 12,000 h */
    assert_close(spares_enough(17, 1, 4 / 12004.), 0.99998, 1e-5);
    /* All 144 trays fail, those of the spares too. */
    for (int32_t i = 0; i < x.n_fails; i++)
        if (strcmp(x.fails[i].name, "tray") == 0)
            assert_close(x.fails[i].n, 144, 1e-12);
    BUILT(unsaid, y, "64", "");
    assert_has(text_str(&unsaid.notes),
               "pays for 64 of the 72 NPUs of each Rack; spares_per_domain is for the others");
    assert_null(strstr(text_str(&s.notes), "spares_per_domain"));
}

/* 64 + 1 of UB-Mesh: two full meshes and a spare, wired as they are, in a rack of the catalogue. */
TEST(a_rack_of_full_meshes_has_a_spare)
{
    char text[2048], here[512];
    assert_non_null(getcwd(here, sizeof here));
    snprintf(text, sizeof text,
             "network: { npu: { name: UB-Mesh }, parts: %s/configs/parts/libra-2024.yaml, dims: [ "
             "{ name: board, shape: full, size: 8, tier: InterPackage, bw_GBps: 70 }, "
             "{ name: rack, shape: full, size: 8, tier: InterPackage, bw_GBps: 70 }, "
             "{ name: row, shape: full, size: 4, tier: InterNode, bw_GBps: 30 } ] }\n" STEP
             "system: { server: %s/configs/servers/ub-mesh-rack.yaml, spares_per_domain: 1, npu_usd: 1000, "
             "npu_watt: 500, checkpoint: { size_GB: 5 } }\n",
             here, here);
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct design, d, design_free);
    KEEP(struct system, x, system_free);
    FOLDER(f);
    OK(design_point_load(&s, put(&f, "study.yaml", text), NULL, 0,
                         DESIGN_NEEDS_WORKLOAD | DESIGN_NEEDS_BANDWIDTH, e));
    OK(design_evaluate(&d, &s, NULL, e));
    OK(system_build(&x, &s, design_owned(&d), e));
    assert_close(x.cost.price, (256 * (1000 + s.system.server_usd) + d.cost_usd) * 65 / 64., 1e-12);
    assert_close(item_called(&x, "network of the spare NPUs")->count, 4, 0);
    assert_close(system_wait_s(&x, &s, 1, -1) / s.system.repair_s, 1 - down_at_most(64, 0, x.nodes_down),
                 1e-9);
}

#define FIG(key, low, typ, high)                                                                             \
    "{ key: " #key ", low: " #low ", typ: " #typ ", high: " #high                                            \
    ", grade: D, date: 2026-01, source: a test }"
#define LIKE(figures) ", like: { name: Fleet, figures: [ " figures " ] }"

/* The study before whom it is like, and that before the server; what nobody says has the public ranges. */
TEST(numbers_of_others_go_before_the_servers)
{
    BUILT(s, x, "72",
          LIKE(FIG(mtbf.node_h, 500, 1000, 4000) ", " FIG(load, 0.1, 0.5, 0.9) ", " FIG(pue, 1, 1.5,
                                                                                        2)) ", pue: 1.1");
    assert_close(s.system.mtbf.node_s, 1000 * 3600, 1e-15);
    assert_close(s.system.terms.load, 0.5, 0);
    assert_close(s.system.terms.pue, 1.1, 0);
    assert_close(s.system.server_watt, 500, 0);
    double rate = 0, low = 0, high = 0;
    for (int32_t i = 0; i < x.n_fails; i++) {
        const struct reliability_line *line = &x.fails[i];
        double n = line->tolerated ? 0 : line->n / 3600;
        bool npu = strcmp(line->name, "NPUs") == 0, node = strcmp(line->name, "nodes") == 0,
             link = strcmp(line->name, "end, end link") == 0, tray = strcmp(line->name, "tray") == 0;
        assert_true(npu || node || link || tray || line->tolerated || strncmp(line->name, "box", 3) == 0);
        rate += n / (line->mtbf_s / 3600);
        low += n / (npu ? 50000 : node ? 500 : link ? 5e4 : tray ? 1e5 : 3e5);
        high += n / (npu ? 79000 : node ? 4000 : link ? 1.3e6 : tray ? 1e5 : 1.43e6);
    }
    assert_close(x.mtbi_s, 1 / rate, 1e-12);
    assert_close(x.mtbi_low_s, 1 / low, 1e-12);
    assert_close(x.mtbi_high_s, 1 / high, 1e-12);
    BUILT(own, y, "72", ", mtbf: { npu_h: 5, node_h: 6, nic_h: 7, link_h: 8, switch_h: 9 }");
    assert_close(y.mtbi_low_s, y.mtbi_s, 1e-12);
    assert_close(y.mtbi_high_s, y.mtbi_s, 1e-12);
}

#define KEYED(more)                                                                                          \
    "network:\n  npu: { name: GB200 x, watt: 1000, server: " SERVER                                          \
    " }\n  dims: [ { name: rack, shape: switch, size: 64, bw_GBps: 900 }, { name: row, shape: switch, "      \
    "size: "                                                                                                 \
    "16, bw_GBps: 50 } ]\n" STEP "system: { checkpoint: { size_GB: 5 }, " more " }\n"
#define BAD(keys) "network: \"ring:4@9\"\n" STEP "system: { npu_watt: 5, server: { name: X, " keys " } }\n"

TEST(servers_that_cannot_be_are_refused)
{
    static const struct refusal cases[] = {
        { BAD("holds: [A], npus_per_node: 4, npu_usd: " FIGURE(5, 4, 6)), ERR_RANGE,
          "system.server.npu_usd.typ is 4, expected low to high, 5 to 6" },
        { BAD("holds: [A], npus_per_node: 4, npu_usd: " FIGURE(5, 7, 6)), ERR_RANGE, "typ is 7" },
        { BAD("holds: [A], npus_per_node: 4, npu_usd: { typ: 5 }"), ERR_PARSE, "npu_usd has no low" },
        { BAD("holds: [A], npus_per_node: 4, npu_usd: 5"), ERR_PARSE, "npu_usd is" },
        { BAD("holds: [], npus_per_node: 4"), ERR_RANGE, "holds has 0 names" },
        { BAD("holds: [A]"), ERR_PARSE, "has no npus_per_node" },
        { "network: { npu: { name: GB2001, watt: 5 }, dims: [ { name: a, shape: ring, size: 4, bw_GBps: 1 } "
          "] }\n" STEP "system: { server: " SERVER ", checkpoint: { size_GB: 1 } }\n",
          ERR_RANGE, "study.yaml:3:11: system.server is Rack, which does not hold GB2001" },
        { KEYED("items: [ { name: a, mtbf_low_h: 3 } ]"), ERR_PARSE,
          "system.items[0].mtbf_low_h is given without mtbf_h; give both" },
        { KEYED("items: [ { name: a, mtbf_h: 2, mtbf_low_h: 3 } ]"), ERR_RANGE,
          "system.items[0].mtbf_h is 2, expected mtbf_low_h to mtbf_high_h, 3 to" },
        { KEYED("items: [ { name: a, mtbf_h: 9, mtbf_high_h: 3 } ]"), ERR_RANGE, "is 9, expected" },
        { KEYED("spares_per_domain: 7"), ERR_RANGE,
          "system.spares_per_domain is 7, expected whole servers of 4, at most 8: the job uses 64 of 72" },
        { KEYED("spares_per_domain: 12"), ERR_RANGE, "is 12, expected whole servers of 4, at most 8" },
        { KEYED("spares_per_domain: 8, spare_nodes: 1"), ERR_PARSE, "is given together with spare_nodes" },
        { "network: \"ring:4@9\"\n" STEP
          "system: { npu_usd: 1, npu_watt: 1, spares_per_domain: 8, checkpoint: { size_GB: 1 } }\n",
          ERR_RANGE, "spares_per_domain is given without a scale-up domain of whole servers" },
        { KEYED("pue: 1.1" LIKE(FIG(mtbf.rack_h, 1, 2, 3))), ERR_RANGE,
          "figures[0].key is \"mtbf.rack_h\", expected a number of system, such as mtbf.node_h" },
        { KEYED("pue: 1.1" LIKE(FIG(npus_per_node, 1, 2, 3))), ERR_RANGE, "expected a number of system" },
        { KEYED("repair_h: 1" LIKE(FIG(load, 0.1, 0.2, 1.5))), ERR_RANGE,
          "is load from 0.1 to 1.5, expected 0 to 1" },
        { KEYED("repair_h: 1" LIKE(FIG(load, 0.3, 0.2, 0.5))), ERR_RANGE,
          "typ is 0.2, expected low to high" },
        { KEYED("pue: 1.1" LIKE(FIG(pue, 1.1, 1.2, 1.3))), ERR_RANGE,
          "system.like is Fleet, of whose numbers system gives every one; take it out" },
        { "network: \"ring:4@9\"\n" STEP "system: { server: no-such-server }\n", ERR_PARSE,
          "system.server is no-such-server, which cannot be read" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct design_point s;
        FOLDER(f);
        FAILS(design_point_load(&s, put(&f, "study.yaml", cases[i].text), NULL, 0, DESIGN_NEEDS_WORKLOAD, e),
              cases[i].code, cases[i].message);
    }
}

/* ---- the catalogue ---- */

/* A network of the catalogue with 16 groups of the second dimension. Names in @p x are those of the bill of
 * @p d. */
static void build_product(struct design_point *s, struct design *d, struct system *x, const char *network)
{
    char text[1024], here[512];
    assert_non_null(getcwd(here, sizeof here));
    snprintf(text, sizeof text,
             "network: %s/configs/networks/%s.yaml\n" STEP "system: { checkpoint: { size_GB: 5 } }\n", here,
             network);
    FOLDER(f);
    const struct study_override set[] = { { "network.dims[1].size", "16" } };
    MUST(design_point_load(s, put(&f, "study.yaml", text), set, 1,
                           DESIGN_NEEDS_WORKLOAD | DESIGN_NEEDS_BANDWIDTH, e));
    MUST(design_evaluate(d, s, NULL, e));
    MUST(system_build(x, s, design_owned(d), e));
}

/* SemiAnalysis InferenceX, code of 2026-04-03: all-in power at the meter of a GPU. */
TEST(power_at_the_meter_is_within_5_percent_of_what_is_published)
{
    CASES(const char *network; double kW, racks) = {
        { "hgx-h100", 1.73, 4 },
        { "hgx-b200", 2.17, 4 },
        { "gb200-nvl72", 2.10, 16 },
        { "mi355x-1024", 2.65, 4 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct design, d, design_free);
        KEEP(struct system, x, system_free);
        build_product(&s, &d, &x, cases[i].network);
        double kW = x.cost.watt_peak * s.system.terms.pue / (double)s.net.n_npus / 1e3;
        assert_close(kW, cases[i].kW, 0.05);
        assert_close(x.racks, cases[i].racks, 0);
    }
}

/* Racks as sold: 120 to 132 and 132 to 142 kW of NVL72, 41 of four DGX H100, 57 of four DGX B200. */
TEST(racks_draw_what_their_makers_say)
{
    static const char *const networks[] = { "hgx-h100",    "hgx-h200",    "hgx-b200",   "hgx-b300",
                                            "gb200-nvl72", "gb300-nvl72", "mi355x-1024" };
    static const double nic_W[] = { 25, 25, 25, 35, 25, 35, 25 };
    for (size_t i = 0; i < COUNT_OF(networks); i++) {
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct design, d, design_free);
        KEEP(struct system, x, system_free);
        build_product(&s, &d, &x, networks[i]);
        const struct own_system *own = &s.system;
        double kW = (double)own->npus_per_rack * (own->npu_watt + own->server_watt + nic_W[i]) / 1e3;
        assert_true(kW >= s.server.rack_kW.low && kW <= s.server.rack_kW.high);
        assert_null(strstr(text_str(&s.notes), "system"));
    }
}

/* Eight rails deal 72 places out, so the leaf of one has ends in one NPU of a tray of 4, at two ports each:
 * 64 ends are as many trays at most. Boxes that hold four rails of nodes of 8 have four NPUs of each. */
TEST(a_leaf_takes_the_trays_that_hang_on_it)
{
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct design, d, design_free);
    KEEP(struct system, x, system_free);
    build_product(&s, &d, &x, "gb300-nvl72");
    struct topo_loss leaf = { .npus = 64, .columns = 9 }, four = { .npus = 64, .columns = 36 };
    assert_close(system_npus_taken(&s, 1, &leaf), 256, 0);
    assert_close(system_npus_taken(&s, 1, &four), 128, 0);
    for (int32_t i = 0; i < x.n_fails; i++)
        if (strstr(x.fails[i].name, "leaf"))
            assert_close(x.fails[i].npus, 256, 0);
}

static void assert_operator(const char *path, const struct yaml_doc *doc, struct err *e)
{
    struct own_like like;
    (void)path;
    OK(own_read_like(&like, doc, doc->root, e));
}

TEST(every_operator_of_the_catalogue_is_one)
{
    each_catalogue_file("systems", 5, assert_operator);
}

static void assert_server(const char *path, const struct yaml_doc *doc, struct err *e)
{
    struct own_server server;
    (void)path;
    OK(own_read_server(&server, doc, doc->root, e));
    assert_true(server.n_holds > 0 &&
                (server.npus_per_rack < 0 || server.npus_per_rack % server.npus_per_node == 0));
}

TEST(every_server_of_the_catalogue_is_a_server)
{
    each_catalogue_file("servers", 8, assert_server);
}
