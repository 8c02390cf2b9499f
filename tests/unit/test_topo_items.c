/* Whole parts of a network, counted by hand, and linear prices that never exceed them. */
#include "tests/support.h"
#include "topo/clos.h"
#include "tests/unit/priced.h"

/* Where 50 GB/s ports and 64-port switches fill exactly, the relaxation is the bill itself. */
TEST(relaxed_prices_are_tight_where_nothing_is_rounded)
{
    static const struct {
        const char *spec, *tiers;
    } cases[] = { { "switch:1024@50", "InterPod" },
                  { "switch:64@50", "InterPod" },
                  { "switch:8192@50", "InterPod" },
                  { "ring:8@100", "InterPod" },
                  { "ring:8@100 switch:64@50", "InterNode InterPod" },
                  { "switch:8@100 switch:256@50", "InterNode InterRail" } };
    PARTS_FILE(s, CATALOGUE);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        set_network(&s, cases[i].spec, cases[i].tiers);
        struct linear_bill linear = linear_bill(&s);
        BILL(b, &s);
        assert_close(linear.usd, b.usd.typ, 1e-14);
        assert_close(linear.nic_usd, b.nic_usd, 1e-14);
        assert_close(linear.watt, b.watt, 1e-14);
    }
}

/* Every shape of trouble: two-port NICs, odd radix, rails, planes, slow cables, free watts. */
static const char random_catalogue[] =
    "catalogue:\n"
    "  - { name: nic1, kind: nic, bw_GBps: 50, ports: 1, usd: 1580, watt: 25 }\n"
    "  - { name: nic2, kind: nic, bw_GBps: 25, ports: 2, usd: 900 }\n"
    "  - { name: odd, kind: switch, bw_GBps: 50, ports: 25, usd: 20000, watt: 400 }\n"
    "  - { name: box, kind: switch, bw_GBps: 100, ports: 64, usd: 36000, watt: 747 }\n"
    "  - { name: port, kind: switch, bw_GBps: 1, ports: 1, usd: 13 }\n"
    "  - { name: wire, kind: cable, bw_GBps: 50, usd: 1320, watt: 17 }\n"
    "  - { name: slow, kind: cable, bw_GBps: 12.5, usd: 300 }\n"
    "  - { name: gram, kind: link, bw_GBps: 1, usd: 4 }\n"
    "build:\n"
    "  - { tier: t0, nic: nic1, switch: odd, end_link: wire, up_link: wire }\n"
    "  - { tier: t1, nic: nic2, switch: box, end_link: wire, up_link: slow }\n"
    "  - { tier: t2, nic: nic1, switch: odd, end_link: wire, up_link: wire, rails: 6 }\n"
    "  - { tier: t3, switch: port, end_link: gram }\n"
    "  - { tier: t4, nic: nic2, switch: box, end_link: slow, up_link: slow, rails: 1000 }\n"
    "  - { tier: t5, nic: nic2, switch: box, end_link: slow, up_link: wire, rails: 3, breakout: 4 }\n";

/* One to three random dimensions on random tiers. */
static void draw_network(struct priced *s, struct rng *rng)
{
    topo_network_defaults(&s->net);
    s->net.n_dims = (int32_t)(1 + rng_below(rng, 3));
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        struct topo_dim *dim = &s->net.dims[d];
        topo_dim_defaults(dim, d);
        dim->shape = (enum topo_shape)rng_below(rng, 4);
        dim->size = (int32_t)(2 + rng_below(rng, 15));
        if (dim->shape == TOPO_SWITCH && rng_below(rng, 2))
            dim->fabric.planes = (int32_t)(2 + rng_below(rng, 4));
        /* Only switches have leaves whose ports break out. */
        snprintf(dim->tier, sizeof dim->tier, "t%d", (int)rng_below(rng, dim->shape == TOPO_SWITCH ? 6 : 5));
        s->net.n_npus *= dim->size;
        s->bw_Bps[d] = rng_log_range(rng, 1e-2, 500) * 1e9;
    }
}

TEST(relaxed_prices_never_exceed_the_bill)
{
    int cores = 0, tops = 0;
    PARTS_TEXT(s, random_catalogue);
    RNG(rng, 20260101, 0);
    for (int i = 0; i < 50000; i++) {
        draw_network(&s, rng);
        struct linear_bill linear = linear_bill(&s);
        BILL(b, &s);
        assert_true(linear.usd > 0 && linear.usd <= b.usd.typ * (1 + 2e-9));
        assert_true(linear.nic_usd <= b.nic_usd * (1 + 2e-9) && linear.watt <= b.watt * (1 + 2e-9));
        for (int32_t l = 0; l < b.n_lines; l++) {
            assert_true(b.lines[l].count >= 1 && b.lines[l].count == floor(b.lines[l].count));
            cores += strstr(b.lines[l].item, ", core") != NULL;
            tops += strstr(b.lines[l].item, ", top") != NULL;
        }
    }
    assert_true(cores > 500 && tops > 10); /* the draw reaches networks of 3 and of 4 tiers */
}

/* The same of trees: own and shared spines, planes, NICs that are given; those that cannot be built left out.
 */
TEST(relaxed_prices_of_trees_never_exceed_the_bill)
{
    static const double nics[] = { 0, 0, 0.5, 1, 2 };
    int built = 0, shared = 0, given = 0;
    PARTS_TEXT(s, random_catalogue);
    RNG(rng, 20260102, 0);
    for (int i = 0; i < 20000; i++) {
        char word[128], planes[16] = "";
        bool share = rng_below(rng, 2);
        int32_t p = (int32_t)(1 + rng_below(rng, 3));
        if (p > 1)
            snprintf(planes, sizeof planes, "*%d", (int)p);
        snprintf(word, sizeof word, "full:%d@50 fat-tree:%dx%d/%g%s%s@50", (int)(2 + rng_below(rng, 6)),
                 (int)(2 + rng_below(rng, 12)), (int)(1 + rng_below(rng, 12)),
                 1 + 0.5 * (double)rng_below(rng, 5), share ? "+shared" : "", planes);
        static const char *const tiers[] = { "t0 t0 t0", "t0 t4 t4", "t0 t5 t5" };
        set_network(&s, word, tiers[rng_below(rng, 3)]);
        s.bw_Bps[1] = rng_log_range(rng, 1, 400) * 1e9;
        s.bw_Bps[2] = s.net.dims[2].tie * s.bw_Bps[1];
        s.net.dims[1].bw_Bps = s.net.dims[2].bw_Bps = (double)NAN;
        struct topo_fabric *f = &s.net.dims[1].fabric;
        f->nics = f->nics_least = nics[rng_below(rng, 5)];
        if (p == 3 && f->nics > 1)
            f->nics = f->nics_least = 3; /* they must divide */
        if (f->nics > 0 && p == 1 && rng_below(rng, 2))
            f->nics *= 1.5; /* half of the nodes have twice as many */
        struct err none = { 0 };
        struct topo_bill b;
        if (topo_build_bill(&b, &s.net, &s.parts, s.bw_Bps, &none))
            continue;
        struct linear_bill linear = linear_bill(&s);
        assert_true(linear.usd > 0 && linear.usd <= b.usd.typ * (1 + 2e-9));
        assert_true(linear.nic_usd <= b.nic_usd * (1 + 2e-9));
        for (int32_t l = 0; l < b.n_lines; l++)
            assert_true(b.lines[l].count >= 1 && fabs(b.lines[l].count - round(b.lines[l].count)) < 1e-6);
        built++;
        shared += share;
        given += f->nics > 0;
        topo_bill_free(&b);
    }
    assert_true(built > 2000 && shared > 500 && given > 100);
}

/* Links and NICs of direct shapes, counted by hand: parts of 50 GB/s, NICs with one and with two ports. */
TEST(direct_links_and_their_nics_are_whole_per_link)
{
    static const char text[] = "catalogue:\n"
                               "  - { name: one, kind: nic, bw_GBps: 50, ports: 1, usd: 1 }\n"
                               "  - { name: two, kind: nic, bw_GBps: 50, ports: 2, usd: 1 }\n"
                               "  - { name: wire, kind: cable, bw_GBps: 50, usd: 1 }\n"
                               "build:\n"
                               "  - { tier: one, nic: one, end_link: wire }\n"
                               "  - { tier: two, nic: two, end_link: wire }\n"
                               "  - { tier: none, end_link: wire }\n";
    static const struct {
        const char *spec;
        double cables, nics_one, nics_two;
    } cases[] = {
        { "ring:2@100", 2, 4, 2 },          /* one link of 100 */
        { "line:2@100", 2, 4, 2 },          /* the same */
        { "ring:4@100", 4, 8, 4 },          /* 4 links of 50 */
        { "ring:4@101", 8, 16, 8 },         /* 4 links of 50.5: two cables each */
        { "line:4@100", 3, 6, 4 },          /* 3 links; ends use one port of their NIC */
        { "full:4@150", 6, 12, 8 },         /* 6 links of 50, 3 ports each */
        { "full:4@10", 6, 12, 8 },          /* a link takes a cable however slow */
        { "ring:4@100.00000001", 4, 8, 4 }, /* rounding of a solver buys nothing */
    };
    PARTS_TEXT(s, text);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        static const char *const tiers[] = { "one", "two", "none" };
        const double nics[] = { cases[i].nics_one, cases[i].nics_two, 0 };
        for (int t = 0; t < 3; t++) {
            set_network(&s, cases[i].spec, tiers[t]);
            BILL(b, &s);
            assert_true(count_of(&b, 0, "wire, direct link") == cases[i].cables);
            assert_true(b.nics == (int64_t)nics[t] && b.nic_Bps == (t < 2 ? s.bw_Bps[0] : 0));
            assert_int_equal(b.switches, 0);
        }
    }
    /* A second dimension repeats the ring in every one of its members. */
    set_network(&s, "ring:4@100 ring:8@100", "none none");
    assert_true(bill_usd(&s) == 8 * 4 + 4 * 8);
}

/*
 * NIC and cable of unlike rates, u the slower. A cable ends in a port, so slow ports take a cable each; a
 * fast port takes as many cables as it carries whole (a breakout). The switch of the tier is not bought, and
 * its rate does not matter.
 */
TEST(direct_links_of_unlike_rates_have_a_port_at_every_cable)
{
    CASES(double nic_GBps, wire_GBps; const char *spec; double wires, nics) = {
        { 12.5, 25, "full:4@75", 12, 24 }, /* 6 links of 25: two slow ports at each end, and not one wire */
        { 12.5, 25, "ring:4@75", 12, 24 }, /* 4 links of 37.5: three */
        { 12.5, 25, "ring:2@25", 2, 4 },   /* one link of 25 */
        { 50, 12.5, "ring:4@75", 12, 8 },  /* a port of 50 as 4 x 12.5, of which three are used */
        { 50, 12.5, "ring:4@100", 16, 8 }, /* all four */
        { 50, 12.5, "ring:4@100.1", 20, 16 },    /* a fifth needs a port more */
        { 100, 50, "ring:4@200", 8, 8 },         /* 800G ports as 2 x 400G */
        { 30, 12.5, "ring:4@75", 12, 16 },       /* two wires to a port: 25 of its 30 GB/s */
        { 24, 12.5, "ring:4@75", 12, 24 },       /* one: no wire has half of its lanes in another port */
        { 100, 100 / 3.0, "ring:4@200", 12, 8 }, /* three, in spite of rounding */
        { 100, 50, "torus:3x3@400", 36, 36 },    /* 18 links of 100 GB/s */
        { 50, 100, "hyperx:3x3@400", 36, 72 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "catalogue:\n"
                 "  - { name: nic, kind: nic, bw_GBps: %.17g, ports: 1, usd: 1 }\n"
                 "  - { name: wire, kind: cable, bw_GBps: %.17g, usd: 1 }\n"
                 "  - { name: slow, kind: switch, bw_GBps: 5, ports: 8, usd: 1 }\n"
                 "build: [{ tier: t, nic: nic, end_link: wire, switch: slow }]\n",
                 cases[i].nic_GBps, cases[i].wire_GBps);
        PARTS_TEXT(s, text);
        set_network(&s, cases[i].spec, "t t");
        for (int32_t d = 1; d < s.net.n_dims; d++)
            s.bw_Bps[d] = s.net.dims[d].tie * s.bw_Bps[d - 1];
        BILL(b, &s);
        double wires = 0;
        for (int32_t d = 0; d < s.net.n_dims; d++)
            wires += count_of(&b, d, "wire, direct link");
        assert_true(wires == cases[i].wires && (double)b.nics == cases[i].nics);
    }
}

/* The same of a switch: a NIC's port has as many links as it carries whole. */
TEST(a_nic_port_of_a_switch_carries_whole_links)
{
    CASES(double nic_GBps, box_GBps; const char *spec; double links, nics) = {
        { 100, 50, "switch:4@200", 16, 8 }, /* a breakout */
        { 75, 50, "switch:4@150", 12, 12 }, /* 3 links of 50 have three ports, though 2 x 75 are 150 */
        { 25, 50, "switch:4@150", 24, 24 },
        { 75, 50, "fat-tree:2x2@150", 12, 12 },
        { 75, 50, "dragonfly:2x2x2^1@150", 24, 24 },
        { 75, 50, "switch:4*3@150", 12, 12 }, /* three planes, a port in each */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "catalogue:\n"
                 "  - { name: nic, kind: nic, bw_GBps: %g, ports: 1, usd: 1 }\n"
                 "  - { name: wire, kind: cable, bw_GBps: 200, usd: 1 }\n"
                 "  - { name: box, kind: switch, bw_GBps: %g, ports: 64, usd: 1 }\n"
                 "build: [{ tier: t, nic: nic, end_link: wire, up_link: wire, switch: box }]\n",
                 cases[i].nic_GBps, cases[i].box_GBps);
        PARTS_TEXT(s, text);
        set_network(&s, cases[i].spec, "t t t");
        for (int32_t d = 1; d < s.net.n_dims; d++)
            s.bw_Bps[d] = s.net.dims[d].tie * s.bw_Bps[d - 1];
        BILL(b, &s);
        assert_true(count_of(&b, 0, "wire, end link") == cases[i].links);
        assert_true((double)b.nics == cases[i].nics);
    }
}

/* NICs that are given carry what their ports do, and the message says why that is less than their rate. */
TEST(nics_that_are_given_carry_whole_links)
{
    KEEP(struct topo_bill, b, topo_bill_free);
    PARTS_TEXT(s, "catalogue:\n"
                  "  - { name: nic, kind: nic, bw_GBps: 75, ports: 2, usd: 1 }\n"
                  "  - { name: wire, kind: cable, bw_GBps: 50, usd: 1 }\n"
                  "  - { name: box, kind: switch, bw_GBps: 50, ports: 64, usd: 1 }\n"
                  "build: [{ tier: t, nic: nic, end_link: wire, switch: box }]\n");
    set_network(&s, "switch:4@150", "t");
    s.net.dims[0].fabric.nics = s.net.dims[0].fabric.nics_least = 1;
    assert_true(topo_nic_limit_Bps(&s.net, 0, &s.parts) == 100e9);
    FAILS(
        topo_build_bill(&b, &s.net, &s.parts, s.bw_Bps, e), ERR_RANGE,
        "a NIC must carry 150 GB/s on 3 ports of 50 GB/s (75, but its links are of 50), expected at most 2");
    s.bw_Bps[0] = s.net.dims[0].bw_Bps = 100e9;
    assert_true(bill_usd(&s) == 4 + 8 + 1);
}

/* Parts of any rates, wires slower or faster than NICs and boxes. */
static void draw_unlike_parts(char text[1024], struct rng *rng)
{
    static const double rates_GBps[] = { 12.5, 25, 37.5, 40, 50, 60, 75, 100, 200 };
    double r[4];
    for (int i = 0; i < 4; i++)
        r[i] = rates_GBps[rng_below(rng, COUNT_OF(rates_GBps))];
    snprintf(text, 1024,
             "catalogue:\n"
             "  - { name: nic, kind: nic, bw_GBps: %g, ports: %d, usd: 100, watt: 20 }\n"
             "  - { name: box, kind: switch, bw_GBps: %g, ports: 512, usd: 1000, watt: 500 }\n"
             "  - { name: wire, kind: cable, bw_GBps: %g, usd: 10, watt: 1 }\n"
             "  - { name: long, kind: cable, bw_GBps: %g, usd: 30, watt: 3 }\n"
             "build: [{ tier: t, %sswitch: box, end_link: wire, up_link: long }]\n",
             r[0], (int)(1 + rng_below(rng, 4)), r[1], r[2], r[3], rng_below(rng, 5) ? "nic: nic, " : "");
}

/* Bandwidth of dimension d, and of the levels that are tied to it. */
static void set_tied(struct priced *s, int32_t d, double bw_Bps)
{
    s->bw_Bps[d] = bw_Bps;
    for (d++; d < s->net.n_dims && s->net.dims[d].level > 0 && s->net.dims[d].tie > 0; d++)
        s->bw_Bps[d] = s->net.dims[d].tie * s->bw_Bps[d - 1];
}

/* What the search in whole parts rests on: nothing between two steps of topo_port_step_Bps() costs less than
 * the upper one. The relaxation stays below. */
TEST(a_bill_changes_at_steps_of_ports_only)
{
    static const char *const words[] = {
        "ring:2",
        "ring:5",
        "line:4",
        "full:6",
        "switch:6",
        "switch:6*2",
        "torus:3x4",
        "torus:2x3x4",
        "torus:4x4x8+ocs",
        "hyperx:4x3",
        "hyperx:4x3^2",
        "dragonfly:2x4x9^2",
        "dragonfly+:2x4x4^2^4",
        "slim-fly:3x50",
        "hammingmesh:2x3x3x4",
        "hammingmesh:2x2x3x3*2",
        "fat-tree:4x6/free",
        "fat-tree:4x6x2/free*2",
    };
    static const double nics[] = { 0.5, 1, 2 };
    int steps = 0, unlike = 0;
    RNG(rng, 20261123, 0);
    for (int i = 0; i < 4000; i++) {
        char text[1024];
        draw_unlike_parts(text, rng);
        PARTS_TEXT(s, text);
        const char *word = words[rng_below(rng, COUNT_OF(words))];
        set_network(&s, word, "t t t t");
        if (strncmp(word, "switch", 6) == 0 && rng_below(rng, 2))
            s.net.dims[0].fabric.nics = s.net.dims[0].fabric.nics_least = nics[rng_below(rng, 3)];
        if (strncmp(word, "switch", 6) == 0 || strncmp(word, "fat-tree", 8) == 0)
            s.parts.recipes[0].breakout = 1 + (int64_t)rng_below(rng, 3);
        for (int32_t d = 0; d < s.net.n_dims; d++) {
            double step_Bps = topo_port_step_Bps(&s.net, d, &s.parts);
            if (step_Bps > 0)
                set_tied(&s, d, step_Bps * (double)(1 + rng_below(rng, 12)));
        }
        for (int32_t d = 0; d < s.net.n_dims; d++) {
            double step_Bps = topo_port_step_Bps(&s.net, d, &s.parts), whole_Bps = s.bw_Bps[d];
            struct topo_spent between = { 0 }, at = { 0 };
            struct err why[2] = { 0 };
            assert_true(step_Bps >= 0);
            if (step_Bps == 0)
                continue;
            set_tied(&s, d, whole_Bps - step_Bps * rng_log_range(rng, 1e-6, 1 - 1e-6));
            int failed = topo_spend(&between, &s.net, &s.parts, 0, s.net.n_dims, s.bw_Bps, &why[0]);
            set_tied(&s, d, whole_Bps);
            assert_int_equal(topo_spend(&at, &s.net, &s.parts, 0, s.net.n_dims, s.bw_Bps, &why[1]), failed);
            if (failed)
                continue;
            assert_true(between.usd == at.usd && between.nic_usd == at.nic_usd && between.watt == at.watt);
            struct linear_bill linear = linear_bill(&s);
            assert_true(linear.usd > 0 && linear.usd <= at.usd * (1 + 1e-9));
            assert_true(linear.nic_usd <= at.nic_usd * (1 + 1e-9));
            steps++;
            unlike += s.parts.recipes[0].nic >= 0 && s.parts.parts[0].bw_Bps != s.parts.parts[2].bw_Bps;
        }
    }
    assert_true(steps > 3000 && unlike > 2000);
}

/* Fabrics by hand: 64 NPUs in nodes of 8, boxes of 16 ports of 50 GB/s. */
TEST(a_switch_dimension_is_one_fabric_per_outer_address_dealt_to_rails)
{
    static const char text[] = "catalogue:\n"
                               "  - { name: box, kind: switch, bw_GBps: 50, ports: 16, usd: 1 }\n"
                               "  - { name: wire, kind: cable, bw_GBps: 50, usd: 1 }\n"
                               "build:\n"
                               "  - { tier: r1, switch: box, end_link: wire, up_link: wire }\n"
                               "  - { tier: r3, switch: box, end_link: wire, up_link: wire, rails: 3 }\n"
                               "  - { tier: r8, switch: box, end_link: wire, up_link: wire, rails: 8 }\n"
                               "  - { tier: r99, switch: box, end_link: wire, up_link: wire, rails: 99 }\n";
    static const struct {
        const char *spec, *tiers;
        int32_t dim;
        int64_t boxes;
        double end_links, up_links;
    } cases[] = {
        /* Inner switch: 8 nodes, each one box of 8 ends. Outer: 64 ends = 8 leaves + 4 spines. */
        { "switch:8@50 switch:8@50", "r1 r1", 0, 8 + 12, 64, 0 },
        { "switch:8@50 switch:8@50", "r1 r1", 1, 8 + 12, 64, 64 },
        /* 8 rails of 8 ends, two to a box. */
        { "switch:8@50 switch:8@50", "r1 r8", 1, 8 + 4, 64, 0 },
        /* 3 rails for 8 columns: 3, 3, 2 of 8 ends; 24 ends = 3 leaves + 2 spines; 16 ends = one box. */
        { "switch:8@50 switch:8@50", "r1 r3", 1, 8 + 2 * 5 + 1, 64, 48 },
        /* More rails than columns: a rail each. */
        { "switch:8@50 switch:8@50", "r1 r99", 1, 8 + 4, 64, 0 },
        /* Two links per NPU: 16 columns of 8 ends on 8 rails, one box each. */
        { "switch:8@50 switch:8@100", "r1 r8", 1, 8 + 8, 128, 0 },
        { "switch:8@50 switch:8@50.5", "r1 r8", 1, 8 + 8, 128, 0 },
    };
    PARTS_TEXT(s, text);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        set_network(&s, cases[i].spec, cases[i].tiers);
        BILL(b, &s);
        assert_int_equal(b.switches, cases[i].boxes);
        assert_true(count_of(&b, cases[i].dim, "wire, end link") == cases[i].end_links);
        assert_true(count_of(&b, cases[i].dim, "wire, up link") == cases[i].up_links);
    }
}

/*
 * Published counts of switches and of links between them. SuperPOD: RA-11333-001 V11 table 3. Trees of 8
 * planes: arXiv 2505.09343 table 3, as rails with trees of their own and as NICs of 8 ports. MI455X: 131,072
 * NPUs in 8 planes of 512 leaves and 256 spines of 512 ports of 200G (SemiAnalysis, 2026-07).
 */
TEST(trees_as_built_have_their_published_counts)
{
    static const char text[] = "catalogue:\n"
                               "  - { name: box, kind: switch, bw_GBps: 50, ports: 64, usd: 1 }\n"
                               "  - { name: th6, kind: switch, bw_GBps: 25, ports: 512, usd: 1 }\n"
                               "  - { name: wire, kind: cable, bw_GBps: 50, usd: 1 }\n"
                               "build:\n"
                               "  - { tier: t, switch: box, end_link: wire, up_link: wire }\n"
                               "  - { tier: q, switch: th6, end_link: wire, up_link: wire }\n";
    static const struct {
        const char *spec, *tiers;
        int32_t entry;
        double leaves, spines, up_links;
    } cases[] = {
        { "switch:8@50 fat-tree:32x4+shared@50", "t t t", 1, 32, 16, 1024 },
        { "switch:8@50 fat-tree:32x4/2+shared@50", "t t t", 1, 32, 8, 512 },
        { "switch:8@50 fat-tree:32x8@50", "t t t", 1, 64, 32, 2048 },
        { "switch:8@50 fat-tree:32x64@50", "t t t", 1, 512, 256, 16384 },
        { "fat-tree:32x64*8@400", "t t", 0, 512, 256, 16384 },
        { "fat-tree:256x512*8@200", "q q", 0, 8 * 512, 8 * 256, 8 * 131072 },
    };
    PARTS_TEXT(s, text);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int32_t d = cases[i].entry;
        set_network(&s, cases[i].spec, cases[i].tiers);
        BILL(b, &s);
        const char *part = cases[i].tiers[0] == 'q' ? "th6" : "box";
        char leaf[32], spine[32];
        snprintf(leaf, sizeof leaf, "%s, leaf", part);
        snprintf(spine, sizeof spine, "%s, spine", part);
        assert_true(count_of(&b, d, leaf) == cases[i].leaves);
        assert_true(count_of(&b, d + 1, spine) == cases[i].spines);
        assert_true(count_of(&b, d + 1, "wire, up link") == cases[i].up_links);
    }
}

/* What a technician would count: every NPU cabled to the leaf of its rail, every leaf's links up dealt out to
 * the spines in turn. Of each box the ports in use, shape [n]; a port of a leaf has room for `each` ends. */
struct wiring {
    int32_t leaves, spines, up, most_down; /* most_down: ports of a leaf with ends */
    int64_t end_links, up_links;
};

static struct wiring wire_rails(int32_t node, int32_t rails, int32_t nodes_of_leaf, int32_t per_rail,
                                int32_t taper, int32_t radix, int32_t each)
{
    enum { MOST = 1 << 14 };
    static int32_t leaf[MOST], room[MOST], spine[MOST];
    struct wiring w = { .leaves = rails * per_rail };
    int32_t ends = nodes_of_leaf * (node / rails);
    assert_true(w.leaves <= MOST);
    memset(leaf, 0, sizeof leaf);
    memset(room, 0, sizeof room);
    memset(spine, 0, sizeof spine);
    for (int32_t v = 0; v < nodes_of_leaf * per_rail; v++)
        for (int32_t i = 0; i < node; i++, w.end_links++) {
            int32_t box = v / nodes_of_leaf * rails + i % rails;
            leaf[box] += room[box] == 0;
            room[box] = (room[box] ? room[box] : each) - 1;
        }
    for (int32_t k = 0; k < w.leaves; k++)
        w.most_down = leaf[k] > w.most_down ? leaf[k] : w.most_down;
    /* A link up for every `each` ends that the taper leaves. */
    while (w.up * taper * each < ends)
        w.up++;
    w.up_links = (int64_t)w.up * w.leaves;
    w.spines = (int32_t)((w.up_links + radix - 1) / radix);
    for (int64_t c = 0; c < w.up_links && w.spines <= MOST; c++)
        assert_true(++spine[c % w.spines] <= radix);
    return w;
}

TEST(rails_are_billed_as_every_cable_is_placed)
{
    static const char text[] =
        "catalogue:\n"
        "  - { name: b64, kind: switch, bw_GBps: 50, ports: 64, usd: 1 }\n"
        "  - { name: b144, kind: switch, bw_GBps: 50, ports: 144, usd: 1 }\n"
        "  - { name: wire, kind: cable, bw_GBps: 50, usd: 1 }\n"
        "  - { name: half, kind: cable, bw_GBps: 25, usd: 1 }\n"
        "  - { name: third, kind: cable, bw_GBps: 16.6666666666666667, usd: 1 }\n"
        "build:\n"
        "  - { tier: n, end_link: wire, switch: b64, up_link: wire }\n"
        "  - { tier: s1, switch: b64, end_link: wire, up_link: wire }\n"
        "  - { tier: l1, switch: b144, end_link: wire, up_link: wire }\n"
        "  - { tier: s2, switch: b64, end_link: half, up_link: wire, breakout: 2 }\n"
        "  - { tier: l2, switch: b144, end_link: half, up_link: wire, breakout: 2 }\n"
        "  - { tier: s3, switch: b64, end_link: third, up_link: wire, breakout: 3 }\n"
        "  - { tier: l3, switch: b144, end_link: third, up_link: wire, breakout: 3 }\n";
    static const int32_t nodes[] = { 4, 8, 18, 72 }, rails[] = { 1, 2, 4, 8, 12, 18, 72 },
                         tapers[] = { 1, 2, 4 };
    int built = 0, refused = 0, broken_out = 0;
    PARTS_TEXT(s, text);
    RNG(rng, 20261128, 0);
    for (int i = 0; i < repeats(1000);) {
        int32_t node = nodes[rng_below(rng, COUNT_OF(nodes))], r = rails[rng_below(rng, COUNT_OF(rails))];
        if (node % r)
            continue;
        i++;
        int32_t m = 2 + (int32_t)rng_below(rng, 23), per_rail = 1 + (int32_t)rng_below(rng, 6);
        int32_t taper = tapers[rng_below(rng, COUNT_OF(tapers))], radix = rng_below(rng, 2) ? 64 : 144;
        int32_t each = 1 + (int32_t)rng_below(rng, 3);
        static const char *const links[] = { "", "wire, end link", "half, end link", "third, end link" };
        char word[96], tiers[32];
        struct topo_bill b;
        struct err none = { 0 };
        snprintf(word, sizeof word, "full:%d@50 fat-tree:%dx%d/%d+rails%d@50", (int)node, (int)m,
                 (int)per_rail, (int)taper, (int)r);
        snprintf(tiers, sizeof tiers, "n %c%d %c%d", radix == 64 ? 's' : 'l', (int)each,
                 radix == 64 ? 's' : 'l', (int)each);
        set_network(&s, word, tiers);
        s.bw_Bps[1] /= each;
        s.bw_Bps[2] = s.bw_Bps[1] / taper;
        struct wiring w = wire_rails(node, r, m, per_rail, taper, radix, each);
        bool fits = w.most_down + w.up <= radix && w.spines <= w.up;
        assert_int_equal(topo_build_bill(&b, &s.net, &s.parts, s.bw_Bps, &none) == 0, fits);
        refused += !fits;
        if (!fits)
            continue;
        built++;
        assert_true(count_of(&b, 1, radix == 64 ? "b64, leaf" : "b144, leaf") == w.leaves);
        assert_true(count_of(&b, 1, links[each]) == (double)w.end_links);
        broken_out += each > 1;
        assert_true(count_of(&b, 2, radix == 64 ? "b64, spine" : "b144, spine") == w.spines);
        assert_true(count_of(&b, 2, "wire, up link") == (double)w.up_links);
        topo_bill_free(&b);
    }
    assert_true(built > repeats(1000) / 5 && refused > repeats(1000) / 10);
    assert_true(broken_out > repeats(1000) / 10);
}

/*
 * A Clos whose leaves serve three ends of 50 GB/s with each port of 150 has the boxes and links up of one
 * with a third of the ends, at 150; by hand 192 ends are one box of 64 ports, 576 are 6 leaves and 3 spines.
 * A shape without leaves is refused.
 */
TEST(ports_of_leaves_break_out)
{
    static const char text[] = "catalogue:\n"
                               "  - { name: box, kind: switch, bw_GBps: 150, ports: 64, usd: 1 }\n"
                               "  - { name: thin, kind: cable, bw_GBps: 50, usd: 1 }\n"
                               "  - { name: thick, kind: cable, bw_GBps: 150, usd: 1 }\n"
                               "build:\n"
                               "  - { tier: out, switch: box, end_link: thin, up_link: thick, breakout: 3 }\n"
                               "  - { tier: plain, switch: box, end_link: thick, up_link: thick }\n";
    static const struct {
        int32_t ends;
        double leaves, spines, up;
    } hand[] = { { 192, 0, 0, 0 }, { 193, 3, 2, 65 }, { 576, 6, 3, 192 } };
    PARTS_TEXT(s, text);
    for (int32_t n = 2; n < 4000; n += 13) {
        char word[32];
        snprintf(word, sizeof word, "switch:%d@50", (int)n);
        set_network(&s, word, "out");
        BILL(thin, &s);
        snprintf(word, sizeof word, "switch:%d@150", (int)(n > 3 ? (n + 2) / 3 : 2));
        set_network(&s, word, "plain");
        BILL(thick, &s);
        assert_int_equal(thin.switches, thick.switches);
        assert_true(count_of(&thin, 0, "thin, end link") == n);
        assert_true(count_of(&thin, 0, "thick, up link") == count_of(&thick, 0, "thick, up link"));
    }
    for (size_t i = 0; i < COUNT_OF(hand); i++) {
        char word[32];
        snprintf(word, sizeof word, "switch:%d@50", (int)hand[i].ends);
        set_network(&s, word, "out");
        BILL(b, &s);
        assert_true(count_of(&b, 0, "box, leaf") == hand[i].leaves);
        assert_true(count_of(&b, 0, "box, switch") == (hand[i].leaves > 0 ? 0 : 1));
        assert_true(count_of(&b, 0, "box, spine") == hand[i].spines);
        assert_true(count_of(&b, 0, "thick, up link") == hand[i].up);
    }
    KEEP(struct topo_bill, none, topo_bill_free);
    /* 12 ends of 50 GB/s fill 4 cables up of 150: more links up than that are refused. */
    for (int32_t up = 1; up <= 6; up++) {
        set_network(&s, "fat-tree:12x4/1@50", "out out");
        s.net.dims[0].fabric.up[0] = up;
        s.net.dims[0].fabric.n_up = 1;
        struct err why = { 0 };
        int rc = topo_build_bill(&none, &s.net, &s.parts, s.bw_Bps, &why);
        assert_int_equal(rc, up > 4 ? ERR_RANGE : 0);
        if (rc)
            assert_has(why.msg,
                       "links up in tier 1, and what goes up fills 4 cables of 150 GB/s (breakout: 3)");
        topo_bill_free(&none);
    }
    set_network(&s, "ring:4@50", "out");
    FAILS(topo_build_bill(&none, &s.net, &s.parts, s.bw_Bps, e), ERR_RANGE,
          "tier \"out\" has breakout: 3, but a ring has no leaves whose ports break out");
}

/* LIBRA's 13 USD per GB/s has no box: one per end and GB/s, and no number of switches. */
TEST(switches_sold_by_the_port_are_counted_per_end)
{
    PARTS_FILE(s, CATALOGUE);
    set_network(&s, "switch:8@450 switch:128@50", "InterNode InterPod");
    BILL(b, &s);
    assert_true(count_of(&b, 0, "LIBRA package/node switch per 1 GB/s, port") == 1024 * 450);
    assert_true(count_of(&b, 0, "LIBRA package/node link per 1 GB/s, end link") == 1024 * 450);
    assert_true(b.usd.typ == 1024 * 450 * 17.0 + 5967360 && b.switches == -1 && b.n_watt_unknown == 2);
    assert_true(b.watt == 48 * 747 + 1024 * 58);
}

/* Ring and full, bought by the full-duplex link, cost what the 2022 rates say: half of the two-way count. */
TEST(direct_links_by_the_GBps_equal_the_one_way_rates)
{
    static const char spec[] = "ring:4@100 full:8@70 ring:4@20";
    PARTS_FILE(whole, CATALOGUE);
    PARTS_FILE(rates, LIBRA_2022);
    set_network(&whole, spec, "InterChiplet InterPackage InterNode");
    set_network(&rates, spec, "InterTile InterPackage InterNode");
    assert_close(bill_usd(&whole), bill_usd(&rates), 1e-14);
}

TEST(more_than_a_million_links_per_npu_are_refused)
{
    KEEP(struct topo_bill, b, topo_bill_free);
    PARTS_TEXT(s, "catalogue: [{ name: hair, kind: link, bw_GBps: 0.01, usd: 0.1 }]\n"
                  "build: [{ tier: t, end_link: hair }]\n");
    set_network(&s, "ring:4@20000", "t");
    FAILS(topo_build_bill(&b, &s.net, &s.parts, s.bw_Bps, e), ERR_RANGE,
          "bandwidth is 20000 GB/s, 2e+06 links per NPU, expected at most 1e+06");
}

/* ---- networks of routers of 64 ports, by the prices of the catalogue, without NICs ---- */

/* Counts by hand (a (a-1)/2 local links of a group and so on), USD and W of one end from them; what is
 * relaxed is no more, and only spare ports less. */
TEST(networks_of_routers_cost_what_their_counts_do)
{
    static const struct {
        const char *word;
        double ends, routers, links, usd, watt;
    } cases[] = {
        { "dragonfly:16x32x32^16@50", 16384, 1024, 15872 + 7936, 5372, 86.9 },
        { "dragonfly+:32x32x16^32^32@50", 16384, 1024, 16384 + 8160, 5427.6, 87.7 },
        { "slim-fly:18x1058@50", 19044, 1058, 18515, 4525.6, 74.1 },
        { "slim-fly:21x1458@50", 30618, 1458, 29889, 4244.8, 68.2 },
    };
    PARTS_FILE(s, CATALOGUE);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double links = 0;
        set_network(&s, cases[i].word, "InterPod InterPod InterPod");
        BILL(b, &s);
        for (int32_t k = 0; k < b.n_lines; k++)
            links += strstr(b.lines[k].item, "inter-switch") ? b.lines[k].count : 0;
        assert_true((double)s.net.n_npus == cases[i].ends && links == cases[i].links);
        assert_true((double)b.switches == cases[i].routers);
        assert_in_range((long)fabs((b.usd.typ - b.nic_usd) / cases[i].ends - cases[i].usd), 0, 0);
        assert_true(fabs(b.watt / cases[i].ends - 25 - cases[i].watt) < 0.06); /* a NIC takes 25 W */
        struct linear_bill linear = linear_bill(&s);
        assert_true(linear.usd <= b.usd.typ * (1 + 1e-12) && linear.usd > 0.9 * b.usd.typ);
    }
}

/* ---- HammingMesh, SC'22, table of network costs ---- */

/* Prices from the parts file. */
struct mesh_prices {
    double box, dac, aoc;
};

static double usd_of(const struct topo_parts *p, const char *name)
{
    int32_t i = topo_find_part(p, name);
    assert_true(i >= 0);
    return p->parts[i].usd.typ;
}

/* Switches and cables of `lines` networks of `ends` ports each: rows or columns of a HammingMesh plane. */
static double lines_usd(const struct mesh_prices *u, int64_t lines, int64_t ends)
{
    struct topo_clos c;
    MUST(topo_count_clos(&c, lines * ends, 64, 1, lines, e));
    return (double)c.switches * u->box + (double)c.up_links * u->aoc +
           (double)c.end_links * (u->dac + u->aoc) / 2;
}

/*
 * side x side accelerators on boards of b x b, 4 planes. Every accelerator row is one network with two ports
 * per board, every column likewise. End cables: half DAC, half optical; what joins switches is optical.
 */
static double hamming_mesh_usd(const struct mesh_prices *u, int64_t side, int64_t b)
{
    return 4 * 2 * lines_usd(u, side, 2 * (side / b));
}

/* 2D torus of boards of 2 x 2: half of its 2N links leave a board and are optical, in each of 4 planes. */
static double torus_usd(const struct mesh_prices *u, int64_t side)
{
    return 4 * (double)(side * side) * u->aoc;
}

TEST(network_totals_of_hamming_mesh_are_reproduced)
{
    /* Otherwise the side of a board, or a small tree with so many ends to a leaf and all other ports up. */
    enum { TORUS = 0, FAT_TREE = -1, TAPERED = 8 };
    static const struct {
        int board;
        int64_t side;
        double million_usd, digit; /* published, and its last digit */
    } cases[] = {
        { FAT_TREE, 32, 25.3, 0.1 }, { FAT_TREE, 128, 680, 1 }, { 1, 32, 10.8, 0.1 },  { 1, 128, 448, 1 },
        { 2, 32, 5.4, 0.1 },         { 2, 128, 224, 1 },        { 4, 32, 2.7, 0.1 },   { 4, 128, 43.3, 0.1 },
        { TORUS, 32, 2.5, 0.1 },     { TORUS, 128, 39.5, 0.1 }, { 42, 32, 17.6, 0.1 }, { 51, 32, 13.2, 0.1 },
    };
    PARTS_FILE(s, HAMMINGMESH);
    const struct mesh_prices u = {
        .box = usd_of(&s.parts, "HammingMesh 64-port switch"),
        .dac = usd_of(&s.parts, "HammingMesh DAC 5 m"),
        .aoc = usd_of(&s.parts, "HammingMesh AoC 20 m"),
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double usd;
        if (cases[i].board == FAT_TREE) { /* 16 ports of 50 GB/s per accelerator, a plane each */
            set_network(&s, cases[i].side == 32 ? "switch:1024@800" : "switch:16384@800", "InterPlane");
            usd = bill_usd(&s);
        } else if (cases[i].board == TORUS) {
            usd = torus_usd(&u, cases[i].side);
        } else if (cases[i].board > TAPERED) { /* ends are bought as whole leaves */
            set_network(&s, cases[i].board == 42 ? "fat-tree:42x25^22*16@800" : "fat-tree:51x21^13*16@800",
                        "InterPlane InterPlane");
            usd = bill_usd(&s);
        } else {
            char word[64];
            int b = cases[i].board, boards = (int)cases[i].side / b;
            snprintf(word, sizeof word, "hammingmesh:%dx%dx%dx%d*4@800", b, b, boards, boards);
            set_network(&s, word, "InterPlane InterPlane InterPlane InterPlane");
            usd = bill_usd(&s);
            assert_near(usd, hamming_mesh_usd(&u, cases[i].side, b), 1e-6);
        }
        assert_near(usd / 1e6, cases[i].million_usd, 0.5 * cases[i].digit * (1 + 1e-9));
    }
}
