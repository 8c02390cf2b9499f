/* Section of docs/validation.md: switch counts and prices against published tables. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support.h"
#include "topo/clos.h"
#include "tests/unit/priced.h"

static const char *verdict(bool ok, int *wrong)
{
    *wrong += !ok;
    return ok ? "equal" : "**WRONG**";
}

static struct topo_clos count_clos(int64_t ends, int64_t rails)
{
    struct topo_clos c;
    MUST(topo_count_clos(&c, ends, 64, 1, rails, e));
    return c;
}

/* ---- NVIDIA DGX SuperPOD, RA-11333-001 V11, tables 3 and 4 ---- */

static int print_superpod(void)
{
    TABLE_OF(published, int64_t ends, leaf, spine, core) = {
        { 256, 8, 4, 0 },    { 512, 16, 8, 0 },       { 768, 24, 16, 0 },       { 1024, 32, 16, 0 },
        { 2048, 64, 32, 0 }, { 8192, 256, 256, 128 }, { 16384, 512, 512, 256 },
    };
    int wrong = 0;
    puts("\n## Switches of a full-bisection fabric: NVIDIA DGX SuperPOD\n\n"
         "Leaf + spine + core switches of 64 ports. Published: reference architecture RA-11333-001 V11, "
         "tables 3 and 4; ours: topo/clos,\nlinks spread evenly (`even_spread: true`). Fewest: as few as the "
         "ports allow, the default.\n\n"
         "| ends | published | ours | cables | fewest | verdict |\n|--:|---|---|--:|---|---|");
    for (size_t i = 0; i < COUNT_OF(published); i++) {
        struct topo_clos c, fewest = count_clos(published[i].ends, 1);
        MUST(topo_count_even_clos(&c, published[i].ends, 64, 1, 1, e));
        bool same = c.per_tier[0] == published[i].leaf && c.per_tier[1] == published[i].spine &&
                    c.per_tier[2] == published[i].core;
        printf("| %lld | %lld + %lld + %lld | %lld + %lld + %lld | %lld | %lld + %lld + %lld | %s |\n",
               (long long)published[i].ends, (long long)published[i].leaf, (long long)published[i].spine,
               (long long)published[i].core, (long long)c.per_tier[0], (long long)c.per_tier[1],
               (long long)c.per_tier[2], (long long)c.end_links + c.up_links, (long long)fewest.per_tier[0],
               (long long)fewest.per_tier[1], (long long)fewest.per_tier[2], verdict(same, &wrong));
    }
    puts("\nFor 768 ends the table rounds the spine up so that the 32 links of a leaf spread evenly; 12 "
         "spines "
         "have ports enough.");
    return wrong;
}

/* ---- trees as they were built or drawn ---- */

static int print_trees(void)
{
    static const char parts[] = "catalogue:\n"
                                "  - { name: box, kind: switch, bw_GBps: 50, ports: 64, usd: 1 }\n"
                                "  - { name: th6, kind: switch, bw_GBps: 25, ports: 512, usd: 1 }\n"
                                "  - { name: wire, kind: cable, bw_GBps: 50, usd: 1 }\n"
                                "build:\n"
                                "  - { tier: 400G, switch: box, end_link: wire, up_link: wire }\n"
                                "  - { tier: 200G, switch: th6, end_link: wire, up_link: wire }\n";
    TABLE_OF(published, const char *name, *spec, *tiers; int32_t entry; int64_t switches, up_links) = {
        { "DGX SuperPOD, 128 systems on 8 rails", "full:8@50 fat-tree:32x4+shared@50", "400G 400G 400G", 1,
          48, 1024 },
        { "MI455X: 131,072 NPUs in 8 planes of 200G", "fat-tree:256x512*8@200", "200G 200G", 0, 6144,
          8 * 131072 },
    };
    struct priced s;
    int wrong = 0;
    open_parts_text(&s, parts);
    puts(
        "\n## Switches and links of trees as built\n\n"
        "Published: SuperPOD as above; MI455X: SemiAnalysis, 2026-07, 512 leaves and 256 spines of 512 ports "
        "a plane,\nlinks from that. Ours: the bill of the network in one word.\n\n"
        "| network | word | published | ours | verdict |\n|---|---|--:|--:|---|");
    for (size_t i = 0; i < COUNT_OF(published); i++) {
        struct topo_bill b;
        double switches = 0, links = 0;
        set_network(&s, published[i].spec, published[i].tiers);
        build_bill(&b, &s);
        for (int32_t l = 0; l < b.n_lines; l++) {
            bool tree = b.lines[l].dim >= published[i].entry;
            switches += tree && b.lines[l].role == BILL_SWITCH ? b.lines[l].count : 0;
            links += tree && strstr(b.lines[l].item, "up link") ? b.lines[l].count : 0;
        }
        bool same = switches == (double)published[i].switches && links == (double)published[i].up_links;
        printf("| %s | `%s` | %lld + %lld | %.0f + %.0f | %s |\n", published[i].name, published[i].spec,
               (long long)published[i].switches, (long long)published[i].up_links, switches, links,
               verdict(same, &wrong));
        topo_bill_free(&b);
    }
    close_parts(&s);
    return wrong;
}

/* ---- HammingMesh, SC'22, arXiv 2209.01346: table of network costs ---- */

struct mesh_prices {
    double box, dac, aoc; /* USD */
};

static double usd_of(const struct topo_parts *p, const char *name)
{
    int32_t i = topo_find_part(p, name);
    assert_true(i >= 0);
    return p->parts[i].usd.typ;
}

/*
 * side x side accelerators on boards of b x b, 4 planes of links of 50 GB/s. Every row of accelerators is one
 * network with two ports per board, every column likewise: 400 GB/s along each of two axes. Cables of rows
 * are DAC, of columns optical, as is what joins switches.
 */
static double hamming_mesh_usd(struct priced *s, int64_t side, int64_t b)
{
    char spec[64];
    snprintf(spec, sizeof spec, "hammingmesh:%dx%dx%dx%d*4@800", (int)b, (int)b, (int)(side / b),
             (int)(side / b));
    set_network(s, spec, "InterPlane InterPlane InterPlane InterPlane");
    return bill_usd(s);
}

/* Boards of 2 x 2: half of a torus's 2N links leave a board and are optical, in each of 4 planes. */
static double torus_usd(const struct mesh_prices *u, int64_t side)
{
    return 4 * (double)(side * side) * u->aoc;
}

/* 16 ports of 50 GB/s per accelerator, a plane each. */
static double fat_tree_usd(struct priced *s, int64_t side)
{
    char spec[32];
    snprintf(spec, sizeof spec, "switch:%d@800", (int)(side * side));
    set_network(s, spec, "InterPlane");
    return bill_usd(s);
}

/* Leaves of `down` ends and the links up that are left of 64 ports, bought as full leaves, in 16 planes. */
static double tapered_tree_usd(const struct mesh_prices *u, int64_t side, int64_t down)
{
    struct topo_clos c;
    int64_t leaves = (side * side + down - 1) / down;
    MUST(topo_count_clos(&c, leaves * down, 64, (double)down / (double)(64 - down), 1, e));
    return 16 * ((double)c.switches * u->box + (double)c.end_links * u->dac + (double)c.up_links * u->aoc);
}

/*
 * 16 planes of a dragonfly, every port of its routers cabled: ends and links inside of groups by DAC, global
 * ones by AoC. `per_box` routers share a box and need no cable between them.
 */
static double dragonfly_usd(const struct mesh_prices *u, const char *word, int64_t per_box)
{
    struct topo_network net;
    struct shape_counts c;
    MUST(topo_parse_spec(&net, word, e));
    topo_ops(net.dims)->counts(&c, net.dims);
    int64_t boxes = c.hubs / per_box, inside = boxes * per_box * (per_box - 1) / 2;
    assert_true(c.ports * per_box <= 64);
    return 16 * ((double)boxes * u->box + (double)(c.links[0] + c.links[1] - inside) * u->dac +
                 (double)(c.hubs * net.dims[0].fabric.links / 2) * u->aoc);
}

static int print_hamming_mesh(void)
{
    enum {
        TORUS = 0,
        FAT_TREE = -1,
        DRAGONFLY = -2
    }; /* otherwise board is its side; -down of tapered leaves */
    TABLE_OF(published, const char *name; int64_t side; double million_usd;
             /* published */ int decimals, board) = {
        { "fat tree", 32, 25.3, 1, FAT_TREE },   { "fat tree", 128, 680, 0, FAT_TREE },
        { "tree, 50 %", 32, 17.6, 1, -42 },      { "tree, 50 %", 128, 419, 0, -42 },
        { "tree, 75 %", 32, 13.2, 1, -51 },      { "tree, 75 %", 128, 271, 0, -51 },
        { "dragonfly", 32, 27.9, 1, DRAGONFLY }, { "dragonfly", 128, 429, 0, DRAGONFLY },
        { "HammingMesh 1x1", 32, 10.8, 1, 1 },   { "HammingMesh 1x1", 128, 448, 0, 1 },
        { "HammingMesh 2x2", 32, 5.4, 1, 2 },    { "HammingMesh 2x2", 128, 224, 0, 2 },
        { "HammingMesh 4x4", 32, 2.7, 1, 4 },    { "HammingMesh 4x4", 128, 43.3, 1, 4 },
        { "2D torus 2x2", 32, 2.5, 1, TORUS },   { "2D torus 2x2", 128, 39.5, 1, TORUS },
    };
    struct priced s;
    int wrong = 0;
    open_parts_file(&s, HAMMINGMESH);
    const struct mesh_prices u = { usd_of(&s.parts, "HammingMesh 64-port switch"),
                                   usd_of(&s.parts, "HammingMesh DAC 5 m"),
                                   usd_of(&s.parts, "HammingMesh AoC 20 m") };
    puts(
        "\n## Network prices of the HammingMesh paper [million USD]\n\n"
        "Published: SC'22, arXiv 2209.01346. Ours: switches and cables counted by topo/clos and topo/bill at "
        "that paper's unit prices.\nThe unit prices are recalled, not read, and so is how trees and "
        "dragonflies were "
        "bought: that all 16 totals come out is what speaks\nfor them. Tapered trees have leaves of 42 and "
        "51 ends, all of "
        "them full. Dragonflies: p 8, a 16, h 8, g 8, two routers to a box;\np 17, a 32, h 16, g 30 (16,320 "
        "ends); a cable at every "
        "port.\n\n"
        "| network | accelerators | published | ours | verdict |\n|---|--:|--:|--:|---|");
    for (size_t i = 0; i < COUNT_OF(published); i++) {
        int64_t side = published[i].side, n = side * side;
        double usd = published[i].board == FAT_TREE ? fat_tree_usd(&s, side)
                     : published[i].board == TORUS  ? torus_usd(&u, side)
                     : published[i].board == DRAGONFLY
                         ? (side == 32 ? dragonfly_usd(&u, "dragonfly:8x16x8^8", 2)
                                       : dragonfly_usd(&u, "dragonfly:17x32x30^16", 1))
                     : published[i].board < 0 ? tapered_tree_usd(&u, side, -published[i].board)
                                              : hamming_mesh_usd(&s, side, published[i].board);
        /* equal as printed: within half of the last digit */
        bool same =
            fabs(usd / 1e6 - published[i].million_usd) <= 0.5 * pow(10, -published[i].decimals) + 1e-9;
        printf("| %s | %lld | %.*f | %.3f | %s |\n", published[i].name, (long long)n, published[i].decimals,
               published[i].million_usd, usd / 1e6, verdict(same, &wrong));
    }
    close_parts(&s);
    return wrong;
}

/* ---- the bill of 1,024 GPUs ---- */

static int print_bill(void)
{
    struct priced s;
    KEEP(struct topo_bill, b, topo_bill_free);
    int wrong = 0;
    open_parts_file(&s, CATALOGUE);
    set_network(&s, "switch:1024@50", "InterPod");
    build_bill(&b, &s);
    puts(
        "\n## The bill of 1,024 GPUs\n\n"
        "One 400G NDR port (50 GB/s) per GPU, 64-port switches, full bisection; prices of August 2024 from "
        "configs/parts/catalogue-2026.yaml.\nBy hand: 48 switches x 36,000 + 1,024 links x (1,320 + 1,240) + "
        "1,024 NICs x 1,580 USD; 48 x 747 + 1,024 x (17 + 16 + 25) W.\n\n"
        "| item | count | USD | W |\n|---|--:|--:|--:|");
    for (int32_t i = 0; i < b.n_lines; i++)
        printf("| %s | %.0f | %.0f | %.0f |\n", b.lines[i].item, b.lines[i].count, b.lines[i].usd.typ,
               b.lines[i].watt);
    bool usd = b.usd.typ == 48 * 36000 + 1024 * (1320 + 1240) + 1024 * 1580;
    bool watt = b.watt == 48 * 747 + 1024 * (17 + 16 + 25);
    bool counts = b.switches == 48 && b.nics == 1024;
    printf("| **sum** | | %.0f | %.0f |\n\n| figure | by hand | ours | verdict |\n|---|--:|--:|---|\n",
           b.usd.typ, b.watt);
    printf("| price [USD] | 5967360 | %.0f | %s |\n", b.usd.typ, verdict(usd, &wrong));
    printf("| power [W] | 95248 | %.0f | %s |\n", b.watt, verdict(watt, &wrong));
    printf("| switches, NICs | 48, 1024 | %lld, %lld | %s |\n", (long long)b.switches, (long long)b.nics,
           verdict(counts, &wrong));
    close_parts(&s);
    return wrong;
}

int main(void)
{
    int wrong = print_superpod() + print_trees() + print_hamming_mesh() + print_bill();
    return wrong > 0;
}
