/* Bills of networks: LIBRA's rates to the last bit, published totals, whole parts, grades. */
#include <float.h>

#include "tests/support.h"
#include "tests/unit/priced.h"

/* ---- rates ---- */

TEST(libra_prices_are_the_public_ones_to_one_ulp)
{
    static const struct {
        const char *path, *spec, *tiers;
        double usd_per_GBps[4];
    } cases[] = {
        { LIBRA_4D,
          "ring:4 full:8 ring:4 switch:32",
          "InterChiplet InterPackage InterNode InterPod",
          { 2.00001, 4.00002, 4.00003, 57.40012 } },
        { LIBRA_3D,
          "ring:16 full:8 switch:32",
          "InterPackage InterNode InterPod",
          { 4.00001, 4.00002, 57.40009 } },
        { LIBRA,
          "line:4 full:8 ring:4 switch:32",
          "InterChiplet InterPackage InterNode InterPod",
          { 2, 4, 4, 57.4 } },
        { LIBRA_2022, "ring:8 switch:128", "InterPackage InterPod", { 2, 57.4 } },
        { LIBRA_2022, "ring:8 full:8 switch:16", "InterPackage InterNode InterPod", { 2, 2, 57.4 } },
        { LIBRA_2022,
          "ring:2 full:8 ring:8 switch:8",
          "InterTile InterPackage InterNode InterPod",
          { 1, 2, 2, 57.4 } },
        /* A switch on a tier without NIC price: link + switch, which LIBRA's own code refuses. */
        { LIBRA, "switch:8 switch:16", "InterNode InterPod", { 17, 57.4 } },
        { LIBRA_2022, "switch:8 switch:16", "InterNode InterPod", { 17, 57.4 } },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_dim_price price[TOPO_MAX_DIMS];
        PARTS_FILE(s, cases[i].path);
        set_network(&s, cases[i].spec, cases[i].tiers);
        OK(topo_prices(price, &s.net, &s.parts, e));
        for (int32_t d = 0; d < s.net.n_dims; d++) {
            double want = cases[i].usd_per_GBps[d] / 1e9;
            assert_close(price[d].usd_per_Bps / (double)s.net.n_npus, want, DBL_EPSILON);
            bool pod = d == s.net.n_dims - 1;
            assert_true(price[d].nic_share == pod && price[d].watt_per_Bps == 0);
            assert_close(price[d].nic_usd_per_Bps / (double)s.net.n_npus,
                         pod ? s.parts.rates[s.parts.n_rates - 1].nic.typ : 0, DBL_EPSILON);
        }
    }
}

/* Half of the nodes with two NICs and half with one: all prices of the dimension rise to 1.5 times those of
 * one, and the share of NICs is the same. */
TEST(rates_count_the_nics_that_nodes_have_beyond_the_fewest)
{
    struct topo_dim_price one[TOPO_MAX_DIMS], more[TOPO_MAX_DIMS];
    PARTS_FILE(s, LIBRA_4D);
    set_network(&s, "ring:2 switch:8", "InterNode InterPod");
    s.net.dims[1].fabric.nics = s.net.dims[1].fabric.nics_least = 1;
    OK(topo_prices(one, &s.net, &s.parts, e));
    s.net.dims[1].fabric.nics = 1.5;
    OK(topo_prices(more, &s.net, &s.parts, e));
    assert_close(more[1].usd_per_Bps, 1.5 * one[1].usd_per_Bps, 1e-14);
    assert_close(more[1].nic_usd_per_Bps, 1.5 * one[1].nic_usd_per_Bps, 1e-14);
    assert_true(one[1].nic_usd_per_Bps > 0);
}

/* 4096 NPUs * 250 GB/s * (2.00001 + 4.00002 + 4.00003 + 57.40012), as LIBRA's code prices it. */
TEST(equal_split_of_the_public_4d_network_costs_69_million)
{
    PARTS_FILE(s, LIBRA_4D);
    set_network(&s, "ring:4@250 full:8@250 ring:4@250 switch:32@250",
                "InterChiplet InterPackage InterNode InterPod");
    BILL(b, &s);
    assert_close(b.usd.typ, 69017784.32, 1e-14);
    assert_int_equal(b.n_lines, 6);
    assert_close(count_of(&b, 3, "switch"), 4096 * 250.0, 1e-15);
    assert_string_equal(b.lines[0].count_unit, "GB/s");
    assert_int_equal(b.switches, -1);
    assert_int_equal(b.nics, 4096 * 5); /* 250 GB/s on ports of 50 */
    assert_true(b.nic_Bps == 250e9);
    assert_close(b.nic_usd, 4096 * 250 * 31.60004, 1e-14);
    assert_true(b.n_watt_unknown == 6 && b.watt == 0 && isnan(b.lines[0].watt));
    assert_true(isnan(b.npu_usd) && isnan(b.npu_watt) && b.grade == GRADE_VERIFIED);
}

/*
 * 1024 NPUs at 1000 GB/s in all, prices and NIC GB/s derived from LIBRA's 2022 artifact: EqualBW, then
 * its time-optimal splits for 17B, 175B and 1T parameters. Millions of USD, published to 0.01.
 */
TEST(costs_and_nic_shares_of_the_2022_splits_are_reproduced)
{
    static const char *const tiers[] = { "InterPackage InterPod", "InterPackage InterNode InterPod",
                                         "InterTile InterPackage InterNode InterPod" };
    static const struct {
        const char *spec;
        double million_usd, nic_GBps;
    } cases[] = {
        { "ring:8@500 switch:128@500", 30.41, 500 },
        { "ring:8@333.3333 full:8@333.3333 switch:16@333.3334", 20.96, 333.3334 },
        { "ring:2@250 full:8@250 ring:8@250 switch:8@250", 15.97, 250 },
        { "ring:8@875.86 switch:128@124.14", 9.09, 124.14 },
        { "ring:8@819.25 switch:128@180.75", 12.30, 180.75 },
        { "ring:8@871.77 switch:128@128.23", 9.32, 128.23 },
        { "ring:8@875.86 full:8@109.48 switch:16@14.66", 2.88, 14.66 },
        { "ring:8@819.25 full:8@137.72 switch:16@43.04", 4.49, 43.04 },
        { "ring:8@780.63 full:8@97.58 switch:16@121.79", 8.96, 121.79 },
        { "ring:2@500.49 full:8@437.93 ring:8@54.74 switch:8@6.84", 1.92, 6.84 },
        { "ring:2@439.63 full:8@384.67 ring:8@156.18 switch:8@19.52", 2.71, 19.52 },
        { "ring:2@442.82 full:8@387.47 ring:8@48.43 switch:8@121.38", 8.48, 121.38 },
    };
    PARTS_FILE(s, LIBRA_2022);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int n_dims = 1;
        for (const char *c = cases[i].spec; *c; c++)
            n_dims += *c == ' ';
        set_network(&s, cases[i].spec, tiers[n_dims - 2]);
        assert_int_equal(s.net.n_npus, 1024);
        BILL(b, &s);
        assert_near(b.usd.typ / 1e6, cases[i].million_usd, 0.0051);
        assert_close(b.nic_Bps / 1e9, cases[i].nic_GBps, 1e-12);
        assert_close(b.nic_usd, 1024 * 31.6 * cases[i].nic_GBps, 1e-12);
        assert_int_equal(b.nics, -1); /* the file gives no NIC size */
    }
}

/* The bill is the sum of its lines and prices times bandwidths, whatever the bands. */
TEST(rates_bill_equals_prices_times_bandwidths)
{
    KEEP(struct topo_bill, b, topo_bill_free);
    struct topo_dim_price price[TOPO_MAX_DIMS];
    PARTS_TEXT(s, "counting: one-way\n"
                  "nic_port_GBps: 25\n"
                  "rates:\n"
                  "  - { tier: a, link_usd_per_GBps: { low: 1, typ: 2 }, grade: V }\n"
                  "  - { tier: b, link_usd_per_GBps: { typ: 3, high: 5 }, switch_usd_per_GBps: 7,\n"
                  "      nic_usd_per_GBps: { low: 11, typ: 13, high: 17 }, grade: V-weak }\n");
    set_network(&s, "full:4@10 switch:8@25.00000000001 switch:2@26", "a b b");
    OK(topo_prices(price, &s.net, &s.parts, e));
    build_bill(&b, &s);
    double sum = 0;
    for (int d = 0; d < 3; d++)
        sum += price[d].usd_per_Bps * s.bw_Bps[d];
    assert_close(b.usd.typ, sum, 1e-14);
    assert_close(b.usd.low, 64 * (10 * 0.5 + 51.00000000001 * (3 + 7 + 11)), 1e-14);
    assert_close(b.usd.typ, 64 * (10 * 1.0 + 51.00000000001 * (3 + 7 + 13)), 1e-14);
    assert_close(b.usd.high, 64 * (10 * 1.0 + 51.00000000001 * (5 + 7 + 17)), 1e-14);
    assert_int_equal(b.nics, 64 * (1 + 2)); /* a solver's 1e-11 is no second NIC; 1 GB/s is */
    assert_int_equal(b.grade, GRADE_WEAK);
    assert_string_equal(b.lines[1].tier, "b");
    assert_int_equal(b.lines[3].role, BILL_NIC);
}

/*
 * 1024 GPUs, 400G, 64-port switches, prices of August 2024: 48 switches of 36000; links of 1320 and 1240;
 * NICs of 1580. Watts: 747 per switch, 17 and 16 per link, 25 per NIC.
 */
TEST(bill_of_1024_gpus_is_the_worked_example)
{
    PARTS_FILE(s, CATALOGUE);
    set_network(&s, "switch:1024@50", "InterPod");
    s.net.npu.usd = 38750;
    s.net.npu.power_W = 700;
    BILL(b, &s);
    assert_true(b.usd.typ == 48 * 36000 + 1024 * (1320 + 1240) + 1024 * 1580);
    assert_near(b.usd.typ / 1e6, 5.967, 0.0005);
    assert_true(b.watt == 48 * 747 + 1024 * (17 + 16 + 25));
    assert_near(b.watt / 1e3, 95.3, 0.06);
    assert_true(b.switches == 48 && b.nics == 1024 && b.nic_Bps == 50e9 && b.nic_usd == 1024 * 1580);
    assert_int_equal(b.n_watt_unknown, 0);
    assert_true(count_of(&b, 0, "QM9700 NDR 64x400G, leaf") == 32);
    assert_true(count_of(&b, 0, "QM9700 NDR 64x400G, spine") == 16);
    assert_true(count_of(&b, 0, "NDR link GPU-leaf, optics both ends, end link") == 1024);
    assert_true(count_of(&b, 0, "NDR inter-switch link, optics both ends, up link") == 1024);
    assert_true(count_of(&b, 0, "ConnectX-7 400G NDR") == 1024);
    assert_int_equal(b.n_lines, 5);
    assert_string_equal(b.lines[0].count_unit, "pcs");
    /* The inter-switch link has no band: its typical price stands in. */
    assert_true(b.usd.low == 48 * 35000 + 1024 * (810 + 1240 + 1200));
    assert_true(b.usd.high == 48 * 50000 + 1024 * (1465 + 1240 + 2000));
    assert_true(b.npu_usd == 1024 * 38750.0 && b.npu_watt == 1024 * 700.0);
    /* Typical prices are derived; the NIC's high price and watts are recalled. */
    assert_true(b.grade == GRADE_DERIVED && b.band_grade == GRADE_RECALLED && b.watt_grade == GRADE_RECALLED);
}

TEST(a_bill_on_recalled_prices_says_so)
{
    PARTS_FILE(s, HAMMINGMESH);
    set_network(&s, "switch:1024@800", "InterPlane");
    BILL(b, &s);
    assert_true(b.grade == GRADE_RECALLED && b.n_watt_unknown == b.n_lines && b.nics == 0);
    assert_has(b.lines[0].source, "recalled");
}

/* The worst line decides, each kind of figure for itself. */
TEST(grades_of_a_bill_are_those_of_its_worst_lines)
{
    static const struct {
        const char *tiers;
        enum topo_grade grade, band, watt;
    } cases[] = {
        { "v v", GRADE_VERIFIED, GRADE_VERIFIED, GRADE_VERIFIED },
        { "v w", GRADE_WEAK, GRADE_RECALLED, GRADE_DERIVED },
        { "w v", GRADE_WEAK, GRADE_RECALLED, GRADE_DERIVED },
        { "v dark", GRADE_DERIVED, GRADE_DERIVED, GRADE_VERIFIED }, /* no watts: their grade does not count */
    };
    PARTS_TEXT(s, "catalogue:\n"
                  "  - { name: v, kind: link, bw_GBps: 1, usd: 1, watt: 1, grade: V }\n"
                  "  - { name: w, kind: link, bw_GBps: 1, usd: 1, watt: 1, grade: V-weak, band_grade: R, "
                  "watt_grade: D }\n"
                  "  - { name: dark, kind: link, bw_GBps: 1, usd: 1, grade: D, watt_grade: R }\n"
                  "build:\n"
                  "  - { tier: v, end_link: v }\n"
                  "  - { tier: w, end_link: w }\n"
                  "  - { tier: dark, end_link: dark }\n");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        set_network(&s, "ring:2@1 ring:2@1", cases[i].tiers);
        BILL(b, &s);
        assert_true(b.grade == cases[i].grade && b.band_grade == cases[i].band);
        assert_int_equal(b.watt_grade, cases[i].watt);
    }
}

/* ---- errors ---- */

#define TWO_RATES                                                                                            \
    "name: two\n"                                                                                            \
    "rates:\n"                                                                                               \
    "  - { tier: direct, link_usd_per_GBps: 1 }\n"                                                           \
    "  - { tier: odd, switch_usd_per_GBps: 1 }\n"
#define SMALL_PARTS                                                                                          \
    "name: small\n"                                                                                          \
    "catalogue:\n"                                                                                           \
    "  - { name: box, kind: switch, bw_GBps: 50, ports: 4, usd: 1 }\n"                                       \
    "  - { name: wire, kind: cable, bw_GBps: 50, usd: 1 }\n"                                                 \
    "build:\n"                                                                                               \
    "  - { tier: direct, end_link: wire }\n"                                                                 \
    "  - { tier: one, switch: box, end_link: wire }\n"                                                       \
    "  - { tier: many, switch: box, end_link: wire, up_link: wire }\n"

TEST(what_has_no_price_is_refused_by_name)
{
    static const struct {
        const char *parts, *spec, *tiers, *text;
    } cases[] = {
        { TWO_RATES, "ring:4@1 ring:4@1", "direct",
          "dimension \"dim2\": tier is not given, expected one priced by two: direct, odd" },
        { TWO_RATES, "ring:4@1", "InterPod",
          "tier is \"InterPod\", expected one priced by two: direct, odd" },
        { TWO_RATES, "switch:4@1", "direct",
          "tier \"direct\" has no switch price in two, expected one for a switch" },
        { TWO_RATES, "ring:4@1", "odd", "tier \"odd\" has no link price in two, expected one for a ring" },
        { SMALL_PARTS, "ring:4@1", "odd",
          "tier is \"odd\", expected one priced by small: direct, one, many" },
        { SMALL_PARTS, "ring:4@1 switch:4@1", "direct direct",
          "dimension \"dim2\": tier \"direct\" is built without a switch" },
        { SMALL_PARTS, "switch:5@1", "one",
          "dimension \"dim1\": tier \"one\" is built without up_link, expected one: a Clos of 2 tiers" },
        { SMALL_PARTS, "switch:33@1", "many",
          "dimension \"dim1\": Clos: 33 ends on switches of 4 ports need more than 4 tiers" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct topo_bill, b, topo_bill_free);
        struct topo_dim_price price[TOPO_MAX_DIMS];
        PARTS_TEXT(s, cases[i].parts);
        set_network(&s, cases[i].spec, cases[i].tiers);
        FAILS(topo_prices(price, &s.net, &s.parts, e), ERR_RANGE, cases[i].text);
        *e = (struct err){ 0 };
        FAILS(topo_build_bill(&b, &s.net, &s.parts, s.bw_Bps, e), ERR_RANGE, cases[i].text);
        assert_null(b.lines);
    }
}

/* Dropping a dimension's bandwidth to nothing takes just its lines away. */
TEST(a_dimension_without_bandwidth_has_no_lines)
{
    static const char *const files[] = { LIBRA, CATALOGUE };
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        double kept = 0;
        PARTS_FILE(s, files[i]);
        set_network(&s, "ring:4@100 switch:8@50", "InterNode InterPod");
        BILL(all, &s);
        s.bw_Bps[1] = 0;
        BILL(part, &s);
        for (int32_t k = 0; k < all.n_lines; k++)
            kept += all.lines[k].dim == 0 ? all.lines[k].usd.typ : 0;
        assert_true(part.n_lines > 0 && part.n_lines < all.n_lines);
        assert_close(part.usd.typ, kept, 1e-15);
        assert_true(part.nics == 0 && part.nic_Bps == 0);
    }
}

TEST(bandwidths_that_cannot_be_bought_are_refused)
{
    static const struct {
        const char *path, *tier;
        double bw_GBps;
        const char *text;
    } cases[] = {
        { LIBRA, "InterPod", -1, "dimension \"dim1\": bandwidth is -1 GB/s, expected 0 to 1e+06" },
        { LIBRA, "InterPod", (double)NAN, "bandwidth is nan GB/s" },
        { CATALOGUE, "InterPod", (double)INFINITY, "bandwidth is inf GB/s" },
        { CATALOGUE, "InterPod", 1000001, "expected 0 to 1e+06" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct topo_bill, b, topo_bill_free);
        PARTS_FILE(s, cases[i].path);
        set_network(&s, "switch:64", cases[i].tier);
        s.bw_Bps[0] = cases[i].bw_GBps * 1e9;
        FAILS(topo_build_bill(&b, &s.net, &s.parts, s.bw_Bps, e), ERR_RANGE, cases[i].text);
    }
}

/* ---- what comes with servers ---- */

/* 9 trays of 400 W in each of 8 racks; no USD, and nothing by the GB/s. 64 of 72 NPUs take a rack as well. */
TEST(fabric_of_a_product_is_in_the_price_of_its_servers)
{
    struct topo_dim_price price[TOPO_MAX_DIMS];
    static const char *const specs[] = { "switch:72@900 switch:8@50", "switch:64@900 switch:8@50" };
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        PARTS_FILE(s, CATALOGUE);
        set_network(&s, specs[i], "NVL72 InterRail");
        BILL(b, &s);
        const struct topo_bill_line *line = &b.lines[0];
        assert_string_equal(line->item, "NVLink 5 of an NVL72 (GB200, GB300), in the servers' price");
        assert_true(line->in_server && line->count == 8 && line->usd.low == 0 && line->usd.high == 0);
        assert_true(line->watt == 8 * 9 * 400 && !b.lines[1].in_server && b.n_watt_unknown == 0);
        assert_true(b.nic_Bps == 50e9 && b.nics == s.net.n_npus);
        OK(topo_prices(price, &s.net, &s.parts, e));
        assert_true(price[0].usd_per_Bps == 0 && price[0].in_server && price[0].nic_share == 0 &&
                    !price[1].in_server);
        assert_close(price[0].watt_per_Bps * 900e9, line->watt, 1e-14);
    }
}

TEST(bandwidth_of_a_product_is_its_own)
{
    PARTS_FILE(s, CATALOGUE);
    set_network(&s, "switch:8 switch:8", "HGX-B200 InterPod");
    assert_true(topo_take_products(&s.net, &s.parts));
    assert_true(s.net.dims[0].bw_Bps == 900e9 && isnan(s.net.dims[1].bw_Bps));
    set_network(&s, "switch:8 switch:8", "InterNode InterPod");
    assert_false(topo_take_products(&s.net, &s.parts));
}

TEST(dimension_must_be_what_its_product_is)
{
    CASES(const char *spec, *tiers; double nics, max_GBps; const char *text) = {
        { "switch:8@400 switch:8@50", "HGX-H100 InterPod", 0, INFINITY,
          "dimension \"dim1\": bandwidth is 400 GB/s, expected the 450 of \"NVLink 4 of an HGX H100 or "
          "H200\", which is "
          "not sold by the GB/s" },
        { "switch:8 switch:8@50", "HGX-H100 InterPod", 0, 300, "bandwidth is 300 GB/s, expected the 450" },
        { "switch:16@450 switch:8@50", "HGX-H100 InterPod", 0, INFINITY,
          "16 NPUs are joined, expected at most the 8" },
        { "switch:4@450 switch:4@450", "HGX-H100 HGX-H100", 0, INFINITY,
          "dimension \"dim2\": 16 NPUs are joined" },
        { "switch:8@450 switch:8@50", "HGX-H100 InterPod", 1, INFINITY,
          "expected a plain dimension without nics" },
        { "torus:2x2@900 switch:8@50", "HGX-H100 HGX-H100 InterPod", 0, INFINITY, "not a fabric" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_dim_price price[TOPO_MAX_DIMS];
        PARTS_FILE(s, CATALOGUE);
        set_network(&s, cases[i].spec, cases[i].tiers);
        s.net.dims[0].fabric.nics = cases[i].nics;
        s.net.dims[0].max_Bps = cases[i].max_GBps * 1e9;
        FAILS(topo_prices(price, &s.net, &s.parts, e), ERR_RANGE, cases[i].text);
    }
}

/* Eight NICs of a port each in four planes, two in each: what eight of one network carry. */
TEST(a_nic_of_its_own_plane_needs_no_port_in_others)
{
    PARTS_FILE(s, CATALOGUE);
    set_network(&s, "switch:8@450 switch:8@50", "HGX-H100 InterPod");
    struct topo_fabric *f = &s.net.dims[1].fabric;
    const struct topo_recipe *r = topo_find_recipe(&s.parts, "InterPod");
    s.parts.parts[r->nic].ports = 1;
    f->nics = f->nics_least = 8;
    double one_Bps = topo_nic_limit_Bps(&s.net, 1, &s.parts);
    assert_true(one_Bps > 0 && isfinite(one_Bps));
    f->planes = 4;
    assert_close(topo_nic_limit_Bps(&s.net, 1, &s.parts), one_Bps, 0);
}
