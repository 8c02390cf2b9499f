/*
 * Section of docs/validation.md: networks as they are built or published, from their words: counts of
 * DeepSeek's table 3 and what prices fit it, savings of Rail-only, planes of MI455X, full meshes of UB-Mesh,
 * power of the Slim Fly paper, what the twist of a TPU v4 slice gains, what a HammingMesh carries, and
 * counts of the files in configs/networks that describe what can be bought.
 *
 * Every figure of ours comes from topo/, workloads/ and sim/; published ones stand here with their source.
 * Grades of what is published: V read in the source, A in its abstract, R recalled, H recalled or read, but
 * what it counts is our guess.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/simplex.h"
#include "sim/fidelity.h"
#include "tests/support.h"
#include "tests/unit/priced.h"
#include "tests/validate/verdict.h"
#include "topo/clos.h"
#include "topo/metric.h"
#include "workloads/collective.h"

KEEPS(struct fidelity, fidelity_free)
KEEPS(struct simplex, simplex_free)

static struct topo_network network_of(const char *word)
{
    struct topo_network net;
    MUST(topo_parse_spec(&net, word, e));
    return net;
}

static struct topo_metrics metrics_of(const struct topo_network *net)
{
    struct topo_metrics m;
    topo_metrics(&m, net);
    return m;
}

/* ---- DeepSeek, ISCA 2025, arXiv 2505.09343, table 3 ---- */

/* Prices are of the word's last entry alone: what joins the GPUs of a node has none in that table. */
TABLE_OF(deepseek, const char *name, *word, *tiers; int64_t ends, switches, links;
         double million_usd, kusd_per_end, half_digit /* of kusd_per_end */) = {
    { "FT2", "fat-tree:32x64@50", "InterPod InterPod", 2048, 96, 2048, 9, 4.39, 0.005 },
    { "MPFT", "switch:8@450 fat-tree:32x64@50", "InterPackage InterPod InterPod", 16384, 768, 16384, 72, 4.39,
      0.005 },
    { "FT3", "fat-tree:32x32x64@50", "InterPod InterPod InterPod", 65536, 5120, 131072, 491, 7.5, 0.05 },
    { "SF", "slim-fly:21x1568@50", "InterPod InterPod InterPod", 32928, 1568, 32928, 146, 4.4, 0.05 },
    { "DF", "dragonfly:16x32x511^16@50", "InterPod InterPod InterPod", 261632, 16352, 384272, 1522, 5.8,
      0.05 },
};
enum { N_DEEPSEEK = COUNT_OF(deepseek), DRAGONFLY = N_DEEPSEEK - 1 };

/* Of the entry that ends a network: ends, boxes, links between boxes (local: inside a group). */
struct counts {
    int64_t ends, switches, links, local;
    int64_t spare; /**< of links: global ports of a dragonfly without a cable, in pairs */
    bool built;    /**< there is such a graph */
};

/* A dragonfly's global links are ports of routers, also those without a group to lead to, as that table has
 * them. */
static struct counts count_last(const struct topo_network *net)
{
    int32_t last = 0;
    while (topo_after_entry(net->dims, last) < net->n_dims)
        last = topo_after_entry(net->dims, last);
    const struct topo_dim *dim = &net->dims[last];
    struct shape_counts c;
    struct err none = { 0 };
    topo_ops(dim)->counts(&c, dim);
    int64_t groups = net->n_npus / topo_group_size(dim);
    struct counts out = { .ends = net->n_npus, .switches = groups * c.hubs };
    out.built = !topo_ops(dim)->check_graph || !topo_ops(dim)->check_graph(dim, &none);
    for (int32_t k = 1; k < c.n_classes; k++)
        out.links += groups * c.links[k];
    if (dim->shape == TOPO_DRAGONFLY) {
        out.local = groups * c.links[1];
        out.spare = groups * (c.hubs * dim->fabric.links / 2 - c.links[2]);
        out.links = out.local + groups * c.hubs * dim->fabric.links / 2;
    }
    return out;
}

/* Of switches and links at the catalogue's prices, without NICs and what is inside of nodes [k USD]. */
static double catalogue_kusd(const char *word, const char *tiers)
{
    PARTS_FILE(s, CATALOGUE);
    set_network(&s, word, tiers);
    BILL(b, &s);
    double usd = 0;
    for (int32_t i = 0; i < b.n_lines; i++)
        if (b.lines[i].role != BILL_NIC && strcmp(b.lines[i].tier, "InterPod") == 0)
            usd += b.lines[i].usd.typ;
    return usd / 1e3;
}

enum { SWITCH_KUSD, END_KUSD, LINK_KUSD, N_PRICES };

/* How many of each a network takes; cables inside of a dragonfly's groups count as end cables where asked. */
static void price_row(double row[N_PRICES], struct counts c, bool local_as_end)
{
    row[SWITCH_KUSD] = (double)c.switches;
    row[END_KUSD] = (double)(c.ends + (local_as_end ? c.local : 0));
    row[LINK_KUSD] = (double)(c.links - (local_as_end ? c.local : 0));
}

/*
 * Linear programme over the prices of a switch, an end cable and a cable between switches [k USD, >= 0] that
 * give the published totals and prices per end of all columns but the dragonfly, within half of their last
 * digits: the least (sign 1) or most (-1) that the dragonfly can cost [million USD].
 */
static double price_dragonfly(double sign, bool local_as_end)
{
    static const struct simplex_way way = { SIMPLEX_FROM_SLACKS, false, 1e-9, INT32_MAX };
    static const int32_t columns[N_PRICES] = { SWITCH_KUSD, END_KUSD, LINK_KUSD };
    KEEP(struct simplex *, lp, simplex_free_at);
    enum simplex_status status;
    double row[N_PRICES], sum = 0;
    MUST(simplex_build(&lp, e));
    for (int k = 0; k < N_PRICES; k++)
        MUST(simplex_add_column(lp, 0, 0, INFINITY, 0, NULL, NULL, e));
    for (int i = 0; i < N_DEEPSEEK; i++) {
        struct topo_network net = network_of(deepseek[i].word);
        struct counts c = count_last(&net);
        price_row(row, c, local_as_end);
        for (int k = 0; k < N_PRICES; k++)
            row[k] /= (double)c.ends;
        if (i == DRAGONFLY)
            break;
        double each = deepseek[i].kusd_per_end, half = deepseek[i].half_digit,
               total = 1e3 / (double)c.ends; /* k USD per end of a million */
        MUST(simplex_add_row(lp, fmax(each - half, (deepseek[i].million_usd - 0.5) * total),
                             fmin(each + half, (deepseek[i].million_usd + 0.5) * total), N_PRICES, columns,
                             row, e));
    }
    for (int k = 0; k < N_PRICES; k++)
        simplex_set_cost(lp, k, sign * row[k]);
    MUST(simplex_solve(&status, lp, &way, 1, e));
    if (status != SIMPLEX_OPTIMAL)
        return NAN;
    for (int k = 0; k < N_PRICES; k++)
        sum += row[k] * simplex_value(lp, k);
    return sum * (double)deepseek[DRAGONFLY].ends / 1e3;
}

static void print_deepseek_prices(void)
{
    double published = deepseek[DRAGONFLY].million_usd, least[2], most[2];
    bool fits = false;
    for (int local_as_end = 0; local_as_end < 2; local_as_end++) {
        least[local_as_end] = price_dragonfly(1, local_as_end);
        most[local_as_end] = price_dragonfly(-1, local_as_end);
        fits |= least[local_as_end] <= published + 0.5 && most[local_as_end] >= published - 0.5;
    }
    printf("\nPrices: switches of 36,000, end links of 1,320 and links between switches of 1,240 USD against "
           "those of that table, which\nrest on a price list that could not be read. Triples of prices that "
           "give the first four columns within half of their last\ndigits make the dragonfly %.0f to %.0f "
           "million USD, or %.0f to %.0f if cables inside of groups cost as end cables: published\nis %.0f, "
           "so %s all five columns (linear programme).\n",
           least[0], most[0], least[1], most[1], published,
           fits ? "some triple fits" : "no triple of prices fits");
}

static int print_deepseek(void)
{
    int wrong = 0;
    int64_t spare = 0;
    puts("\n## Counts of networks: DeepSeek's table 3\n\n"
         "Published: ISCA 2025, arXiv 2505.09343, table 3 (V); links are those between switches. Ours: "
         "`weft topo WORD`, boxes of\n64 ports. Prices per end [k USD] are published ones and those of the "
         "links and switches of configs/parts/catalogue-2026.yaml.\n\n"
         "| network | word | ends | switches | links | published | verdict | price per end, published | "
         "ours |\n|---|---|--:|--:|--:|---|---|--:|--:|");
    for (int i = 0; i < N_DEEPSEEK; i++) {
        struct topo_network net = network_of(deepseek[i].word);
        struct counts c = count_last(&net);
        bool same =
            c.ends == deepseek[i].ends && c.switches == deepseek[i].switches && c.links == deepseek[i].links;
        spare += c.spare;
        double kusd = catalogue_kusd(deepseek[i].word, deepseek[i].tiers);
        printf("| %s | `%s` | %lld | %lld | %lld | %lld, %lld, %lld | %s%s | %g | %.3f |\n", deepseek[i].name,
               deepseek[i].word, (long long)c.ends, (long long)c.switches, (long long)c.links,
               (long long)deepseek[i].ends, (long long)deepseek[i].switches, (long long)deepseek[i].links,
               verdict(same, &wrong), c.built ? "" : ", by formula: no such graph", deepseek[i].kusd_per_end,
               kusd / (double)c.ends);
    }
    printf("\nThe slim fly has q = 28, which is no power of a prime: there is no field to build it from, and "
           "its "
           "counts are those of the\nformula. The dragonfly's groups are joined by one cable for every pair, "
           "which leaves "
           "ports without one: the table counts all ports,\nand so does this row, which has %lld links more "
           "than can be "
           "plugged in. Our price is of the cables that there are.\n",
           (long long)spare);
    print_deepseek_prices();
    return wrong;
}

/* ---- Rail-only, arXiv 2307.12169 ---- */

struct saving {
    double switches, transceivers; /* share that is saved */
};

/* 32,768 GPUs in domains of 256, on switches of `radix` ports: a tree over all against 256 rails. */
static struct saving rail_saving(int64_t radix, struct topo_clos out[2])
{
    MUST(topo_count_clos(&out[0], 32768, radix, 1, 1, e));
    MUST(topo_count_clos(&out[1], 32768, radix, 1, 256, e));
    return (struct saving){ 1 - (double)out[1].switches / (double)out[0].switches,
                            1 - (double)(out[1].end_links + out[1].up_links) /
                                    (double)(out[0].end_links + out[0].up_links) };
}

/* Share of what the full network takes that must be the switches' for both published percentages, each within
 * half a percent. */
static bool mix_range(double range[2], const struct saving *s, const double *percent)
{
    range[0] = 0;
    range[1] = 1;
    for (int i = 0; i < 2; i++) {
        double slope = s[i].switches - s[i].transceivers;
        range[0] = fmax(range[0], ((percent[i] - 0.5) / 100 - s[i].transceivers) / slope);
        range[1] = fmin(range[1], ((percent[i] + 0.5) / 100 - s[i].transceivers) / slope);
    }
    return range[0] <= range[1];
}

static int print_rail_only(void)
{
    TABLE_OF(published, const char *what;
             double percent[2]) = { { "cost", { 38, 77 } }, { "power", { 37, 75 } } };
    static const int64_t radix[2] = { 64, 128 };
    struct saving s[2];
    int wrong = 0;
    puts(
        "\n## Savings of rail-only networks\n\n"
        "Published: arXiv 2307.12169, abstract (A): cost 38 to 77 %, power 37 to 75 % less. Ours: topo/clos, "
        "32,768 GPUs in domains\nof 256, one tree over all against 256 rails; two transceivers a link. Which "
        "cases the two ends of the ranges are is our guess (H).\n\n"
        "| switch ports | switches, one tree | rails | less | transceivers, one tree | rails | less |\n"
        "|--:|--:|--:|--:|--:|--:|--:|");
    for (int i = 0; i < 2; i++) {
        struct topo_clos c[2];
        s[i] = rail_saving(radix[i], c);
        printf("| %lld | %lld | %lld | %.1f %% | %lld | %lld | %.1f %% |\n", (long long)radix[i],
               (long long)c[0].switches, (long long)c[1].switches, 100 * s[i].switches,
               (long long)(2 * (c[0].end_links + c[0].up_links)),
               (long long)(2 * (c[1].end_links + c[1].up_links)), 100 * s[i].transceivers);
    }
    puts("\nWhat is saved of a network whose cost is switches and transceivers lies between the two. One "
         "share "
         "of switches must give both\nends of a published range; its unit prices could not be read.\n\n"
         "| | published | share of switches that gives both | grade | verdict |\n|---|---|--:|---|---|");
    for (size_t i = 0; i < COUNT_OF(published); i++) {
        double range[2];
        bool some = mix_range(range, s, published[i].percent);
        printf("| %s | %g to %g %% | %.1f to %.1f %% | A, H | %s |\n", published[i].what,
               published[i].percent[0], published[i].percent[1], 100 * range[0], 100 * range[1],
               verdict(some, &wrong));
    }
    return wrong;
}

/* ---- planes of MI455X, full meshes of UB-Mesh ---- */

static void print_count(const char *what, double published, const char *unit, double ours, double within,
                        const char *grade, int *wrong)
{
    printf("| %s | %g%s | %.6g%s | %s | %s |\n", what, published, unit, ours, unit,
           verdict(fabs(ours - published) <= within, wrong), grade);
}

static int print_planes(void)
{
    KEEP(struct yaml_doc, doc, yaml_free);
    struct topo_network net, pod = network_of("full:8@50 full:8@50 full:4@50 full:4@50"),
                             rack = network_of("full:8@50 full:8@50");
    struct topo_clos tree, mesh_tree;
    int wrong = 0;
    MUST(yaml_read_file(&doc, "configs/networks/mi455x-131072.yaml", e));
    MUST(topo_read_network(&net, &doc, doc.root, e));
    struct topo_metrics m = metrics_of(&net), mesh = metrics_of(&pod), in_rack = metrics_of(&rack);
    double planes = topo_planes(net.dims), gpus = (double)m.n_npus;
    int64_t leaves = net.dims[1].size;
    double end_links = (double)topo_class_links(&net, 0) / gpus,
           up = (double)topo_class_links(&net, 1) / gpus;
    /* 64 lanes of an NPU in planes of their own; 256 lanes of a rack likewise. */
    MUST(topo_count_clos(&tree, 8192 * 64, 512, 1, 64, e));
    MUST(topo_count_clos(&mesh_tree, 8192 / 64 * 256, 512, 1, 256, e));
    puts("\n## Counts of planes and full meshes\n\n"
         "MI455X: `weft topo configs/networks/mi455x-131072.yaml`; published: SemiAnalysis 2026-07. At the "
         "GPU "
         "a module of 800G carries\nfour links of 200G, at a switch one of 1.6T eight. UB-Mesh: "
         "`weft topo \"full:8@50 full:8@50 full:4@50 full:4@50\"` and the\nrack alone; arXiv 2503.20377v3 "
         "and retold by emergentmind.com. Its 98 % fewer high-radix switches are held against 8,192 NPUs\n"
         "with 64 lanes each in planes of two tiers of 512-port switches, and 256 lanes of each rack of 64 "
         "likewise: our guess.\n\n"
         "| what | published | ours | verdict | grade |\n|---|--:|--:|---|---|");
    print_count("MI455X, leaves of a plane", 512, "", (double)leaves, 0, "V", &wrong);
    print_count("MI455X, spines of a plane", 256, "", (double)m.n_switches / planes - (double)leaves, 0, "V",
                &wrong);
    print_count("MI455X, modules of 800G, each GPU", 2, "", end_links / 4, 0, "V", &wrong);
    print_count("MI455X, modules of 1.6T, each GPU", 3, "", (end_links + 2 * up) / 8, 0, "V", &wrong);
    print_count("UB-Mesh, NPUs of a pod", 1024, "", (double)mesh.n_npus, 0, "R", &wrong);
    print_count("UB-Mesh, NPUs of a rack", 64, "", (double)in_rack.n_npus, 0, "R", &wrong);
    print_count("UB-Mesh, fewer high-radix switches", 98, " %",
                100 * (1 - (double)mesh_tree.switches / (double)tree.switches), 0.5, "R, H", &wrong);
    printf(
        "\nLinks, which are not published: %lld of a pod, one for every pair of NPUs of a row, and %lld of "
        "a rack. Not reproduced: its\n2.04 times cost-efficiency (prices unpublished) and 93 %% fewer "
        "optical modules.\n",
        (long long)mesh.n_links, (long long)in_rack.n_links);
    return wrong;
}

/* ---- power of the Slim Fly paper, SC 2014 ---- */

static int print_slim_fly_power(void)
{
    TABLE_OF(rows, const char *name, *word; int64_t radix /* 0: as many ports as are used */;
             double published /* 0: none */, last_digit) = {
        { "slim fly, as published", "slim-fly:15x722@50", 43, 8.02, 0.01 },
        { "slim fly, as built", "slim-fly:15x722@50", 0, 0, 0 },
        { "dragonfly", "dragonfly:7x14x99^7@50", 0, 10.8, 0.1 },
        { "dragonfly, 990 routers", "dragonfly:11x22x45^11@50", 43, 10.9, 0.1 },
        { "fat tree of 3 tiers", "fat-tree:18x18x36@50", 0, 14.0, 0.1 },
    };
    const double port_W = 2.8;
    int wrong = 0;
    puts("\n## Power of low-diameter networks [W per node]\n\n"
         "2.8 W for every port of every router, as many as published or as are in use. Published: Slim Fly, "
         "SC "
         "2014 (arXiv 1912.08968),\nrecalled and checked by arithmetic (R+A). Within one of the last digit: "
         "the "
         "paper cuts where we round.\n\n"
         "| network | word | nodes | routers | ports | published | ours | verdict |\n"
         "|---|---|--:|--:|--:|--:|--:|---|");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct topo_network net = network_of(rows[i].word);
        struct shape_counts c;
        char published[16] = "-";
        topo_ops(net.dims)->counts(&c, net.dims);
        int64_t radix = rows[i].radix ? rows[i].radix : c.ports;
        double each_W = (double)(c.hubs * radix) * port_W / (double)net.n_npus;
        if (rows[i].published > 0)
            snprintf(published, sizeof published, "%g", rows[i].published);
        bool same = fabs(each_W - rows[i].published) < rows[i].last_digit;
        printf("| %s | `%s` | %lld | %lld | %lld | %s | %.3f | %s |\n", rows[i].name, rows[i].word,
               (long long)net.n_npus, (long long)c.hubs, (long long)radix, published, each_W,
               rows[i].published > 0 ? verdict(same, &wrong) : "-");
    }
    puts("\nThe slim fly's published figure is that of routers of 43 ports; 15 nodes and 29 links to others "
         "(q = 19) "
         "need 44. Routers of the\nsecond dragonfly have 43 ports and use 42: 242 global ports of a group "
         "give 5 "
         "cables to each of the 44 others. The published\ntree has 35 ports a switch, which is odd: ours has "
         "36; "
         "five ports a node in either. Prices of that paper do not follow from the\nformulas that are "
         "recalled of it "
         "and are left out.");
    return wrong;
}

/* ---- twisted slices of TPU v4 ---- */

static double uniform_Bps(const char *word)
{
    struct topo_network net = network_of(word);
    struct collective_uniform u;
    collective_find_uniform(&u, &net);
    return u.rate_Bps;
}

/* An all-to-all over all NPUs in model flow, every message on one way [s]. */
static double flow_s(const char *word)
{
    struct topo_network net = network_of(word);
    KEEP(struct fidelity *, fidelity, fidelity_free_at);
    struct sim_rules rules;
    struct fidelity_time t;
    double bw_Bps[TOPO_MAX_DIMS];
    struct sim_job job = { .kind = COLLECTIVE_ALL_TO_ALL, .bytes = 1e9 };
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++) {
        bw_Bps[d] = d < net.n_dims ? net.dims[d].bw_Bps : NAN;
        job.members[d] = d < net.n_dims ? net.dims[d].size : 1;
        job.stride[d] = 1;
    }
    sim_rules_default(&rules);
    rules.stage.chunks = 1;
    MUST(fidelity_open(&fidelity, &(struct sim_way){ &net, bw_Bps, SIM_FLOW, &rules }, 0, e));
    MUST(fidelity_alone(fidelity, &job, &t, e));
    return t.time_s;
}

static int print_twists(void)
{
    TABLE_OF(rows, const char *plain, *twisted; double published) = {
        { "torus:4x4x8@300", "torus:4x4x8+twist@300", 1.63 },
        { "torus:4x8x8@300", "torus:4x8x8+twist@300", 1.31 },
    };
    int wrong = 0;
    puts("\n## What the twist of a TPU v4 slice gains in all-to-all\n\n"
         "Published, measured: TPU v4, ISCA 2023, arXiv 2304.01433 (R). Ours: rates of uniform traffic "
         "(ideal, "
         "which bounds what can\nbe measured), and all-to-alls of 1 GB in model `flow`, every message on one "
         "shortest way. The wraps that are twisted are the best\nof all translations by whole cubes, for the "
         "paper's drawing could not be read.\n\n"
         "| slice | ideal | measured | measured is less | flow | off measured |\n|---|--:|--:|---|--:|--:|");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double ideal = uniform_Bps(rows[i].twisted) / uniform_Bps(rows[i].plain),
               flow = flow_s(rows[i].plain) / flow_s(rows[i].twisted);
        printf("| `%s` | %.4f | %.2f | %s | %.3f | %+.1f %% |\n", rows[i].twisted, ideal, rows[i].published,
               verdict(rows[i].published <= ideal, &wrong), flow, 100 * (flow / rows[i].published - 1));
    }
    return wrong;
}

/* ---- uniform traffic on HammingMesh, SC 2022 ---- */

static int print_uniform(void)
{
    TABLE_OF(rows, const char *name, *word; double published_pct) = {
        { "Hx2", "hammingmesh:2x2x16x16*4@800", 25.4 },
        { "Hx4", "hammingmesh:4x4x8x8*4@800", 11.3 },
    };
    const double ports_Bps = 4 * 4 * 50e9; /* of an accelerator: four in each of 4 planes */
    int wrong = 0;
    puts("\n## What a HammingMesh of 1,024 carries of uniform traffic\n\n"
         "Share of what the four ports of an accelerator carry. Published: simulated, SC 2022, arXiv "
         "2209.01346 "
         "(R). Ours: the most that any\nrouting carries, which bounds it.\n\n"
         "| network | word | ours, % | published, % | published is less |\n|---|---|--:|--:|---|");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double ideal_pct = 100 * uniform_Bps(rows[i].word) / ports_Bps;
        printf("| %s | `%s` | %.1f | %.1f | %s |\n", rows[i].name, rows[i].word, ideal_pct,
               rows[i].published_pct, verdict(rows[i].published_pct <= ideal_pct, &wrong));
    }
    return wrong;
}

/* ---- networks that can be bought, from their files ---- */

/* A network file, with its parts and npu in place and one key set otherwise, and what it is built from. */
static void open_built(struct priced *s, const char *file, const char *key, const char *value)
{
    static const char *const refs[] = { "parts", "npu" };
    char path[128];
    snprintf(path, sizeof path, "configs/networks/%s.yaml", file);
    MUST(yaml_read_file(&s->doc, path, e));
    for (size_t i = 0; i < COUNT_OF(refs); i++) {
        KEEP(struct text, named, text_free) = { 0 };
        yaml_id at = yaml_get(&s->doc, s->doc.root, refs[i]);
        if (at >= 0 && yaml_names_file(&named, &s->doc, at))
            MUST(yaml_graft_file(&s->doc, at, text_str(&named), e));
    }
    if (key)
        MUST(yaml_set(&s->doc, key, value, e));
    MUST(topo_read_network(&s->net, &s->doc, s->doc.root, e));
    for (int32_t d = 0; d < s->net.n_dims; d++)
        s->bw_Bps[d] = s->net.dims[d].bw_Bps;
    yaml_id parts = yaml_get(&s->doc, s->doc.root, "parts");
    if (parts >= 0)
        MUST(topo_read_parts(&s->parts, &s->doc, parts, e));
}

/* Pieces of the bill whose items end so. */
static double count_pieces(struct priced *s, const char *ending)
{
    BILL(b, s);
    double n = 0;
    for (int32_t i = 0; i < b.n_lines; i++) {
        size_t item = strlen(b.lines[i].item), end = strlen(ending);
        if (item >= end && strcmp(b.lines[i].item + item - end, ending) == 0)
            n += b.lines[i].count;
    }
    return n;
}

/* Bandwidth of the last entry's classes: what the first has over what the last has. */
static double taper_of(const struct topo_network *net)
{
    int32_t last = net->n_dims - 1;
    return net->dims[last - net->dims[last].level].bw_Bps / net->dims[last].bw_Bps;
}

/* Counts of a bill, file by file. `ending`: of the bill's items; NULL: NPUs. */
static int print_built_counts(void)
{
    TABLE_OF(rows, const char *file, *key, *value, *what, *ending; double published; const char *grade) = {
        { "dgx-h100-superpod", NULL, NULL, "leaves", ", leaf", 32, "V" },
        { "dgx-h100-superpod", NULL, NULL, "spines", ", spine", 16, "V" },
        { "dgx-h100-superpod-127", NULL, NULL, "GPUs", NULL, 1016, "V" },
        { "dgx-h100-superpod-127", NULL, NULL, "leaves", ", leaf", 32, "V" },
        { "dgx-h100-superpod-127", NULL, NULL, "spines", ", spine", 16, "V" },
        { "dgx-h100-superpod-127", NULL, NULL, "cables to leaves but 4 of managers", ", end link", 1016,
          "V" },
        { "dgx-h100-superpod-127", NULL, NULL, "cables between switches", ", up link", 1024, "V" },
        { "dgx-b300-spectrum-x-su", NULL, NULL, "leaves", ", leaf", 16, "V" },
        { "dgx-b300-spectrum-x-su", NULL, NULL, "spines", ", spine", 8, "V" },
        { "dgx-b300-spectrum-x-su", "dims[1].sizes", "[64, 4]", "leaves", ", leaf", 64, "V" },
        { "dgx-b300-spectrum-x-su", "dims[1].sizes", "[64, 4]", "spines", ", spine", 32, "V" },
        { "dgx-b300-spectrum-x-su", "dims[1].sizes", "[64, 16]", "leaves", ", leaf", 256, "V" },
        { "dgx-b300-spectrum-x-su", "dims[1].sizes", "[64, 16]", "spines", ", spine", 128, "V" },
        { "dgx-b300-superpod-xdr", "dims[1].sizes", "[72, 1]", "leaves", ", leaf", 8, "V" },
        { "dgx-b300-superpod-xdr", "dims[1].sizes", "[72, 1]", "spines", ", spine", 4, "V" },
        { "dgx-b300-superpod-xdr", NULL, NULL, "leaves", ", leaf", 32, "V" },
        { "dgx-b300-superpod-xdr", NULL, NULL, "spines", ", spine", 18, "V" },
        { "dgx-b300-superpod-xdr", NULL, NULL, "cables up", ", up link", 2304, "V" },
        { "dgx-b300-superpod-xdr", "dims[1].sizes", "[72, 8]", "leaves", ", leaf", 64, "V" },
        { "dgx-b300-superpod-xdr", "dims[1].sizes", "[72, 8]", "spines", ", spine", 36, "V" },
        { "gb200-nvl72-row", NULL, NULL, "GPUs", NULL, 576, "V" },
        { "gb200-nvl72-row", NULL, NULL, "leaves", ", leaf", 32, "V-weak" },
        { "gb300-nvl72-row", NULL, NULL, "leaves", ", leaf", 16, "V, H" },
        { "gb300-nvl72-row", NULL, NULL, "spines", ", spine", 8, "V, H" },
        { "nvl576-blackwell", NULL, NULL, "GPUs", NULL, 576, "V" },
        { "alibaba-hpn-pod", NULL, NULL, "GPUs", NULL, 15360, "V-weak" },
        { "alibaba-hpn-pod", "dims[1].sizes", "[128, 1]", "ToRs of a segment", ", leaf", 16, "D" },
        { "alibaba-hpn-pod", NULL, NULL, "links of 200G to ToRs", ", end link", 30720, "D" },
        { "alibaba-hpn-pod", NULL, NULL, "links of 400G up", ", up link", 14400, "D" },
        { "alibaba-hpn-pod", NULL, NULL, "aggregation switches", ", spine", 120, "D" },
        { "cloudmatrix384", NULL, NULL, "NPUs", NULL, 384, "V-weak" },
        { "cloudmatrix384", NULL, NULL, "chips of nodes", ", leaf", 336, "V-weak" },
        { "cloudmatrix384", NULL, NULL, "chips above", ", spine", 112, "V-weak" },
        { "frontier-slingshot", NULL, NULL, "switches", ", router", 2368, "V-weak" },
        { "tpu-v5p-6144", NULL, NULL, "chips", NULL, 6144, "V" },
        { "tpu-v7-9216", NULL, NULL, "chips", NULL, 9216, "V" },
        { "trn2-ultraserver", NULL, NULL, "chips", NULL, 64, "V" },
        { "ub-mesh-8192", NULL, NULL, "NPUs", NULL, 8192, "A" },
    };
    int wrong = 0;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        KEEP(struct priced, s, close_parts) = { 0 };
        char what[128];
        open_built(&s, rows[i].file, rows[i].key, rows[i].value);
        snprintf(what, sizeof what, "`%s`%s%s, %s", rows[i].file, rows[i].key ? " of sizes " : "",
                 rows[i].key ? rows[i].value : "", rows[i].what);
        double ours = rows[i].ending ? count_pieces(&s, rows[i].ending) : (double)s.net.n_npus;
        print_count(what, rows[i].published, "", ours, 0, rows[i].grade, &wrong);
    }
    return wrong;
}

/* What follows from a published count, or is a ratio of counts. */
static int print_built_ratios(void)
{
    KEEP(struct priced, frontier, close_parts) = { 0 };
    KEEP(struct priced, rubin, close_parts) = { 0 };
    KEEP(struct priced, planes, close_parts) = { 0 };
    KEEP(struct priced, tpu, close_parts) = { 0 };
    KEEP(struct priced, v5p, close_parts) = { 0 };
    struct topo_clos tree;
    int wrong = 0;
    open_built(&frontier, "frontier-slingshot", NULL, NULL);
    open_built(&rubin, "nvl144-vera-rubin", NULL, NULL);
    open_built(&planes, "multi-plane-200g-32768", NULL, NULL);
    open_built(&tpu, "tpu-v7-9216", NULL, NULL);
    open_built(&v5p, "tpu-v5p-6144", NULL, NULL);
    /* One plane of 800G on boxes of 64 ports takes three tiers. */
    MUST(topo_count_clos(&tree, planes.net.n_npus, 64, 1, 1, e));
    double boxes = count_pieces(&planes, ", leaf") + count_pieces(&planes, ", spine"),
           cages = (count_pieces(&planes, ", end link") + count_pieces(&planes, ", up link")) / 4;
    /* Of a cube, 144 links stay inside. */
    double chips = (double)tpu.net.n_npus,
           outside = (double)(topo_class_links(&tpu.net, 0) + topo_class_links(&tpu.net, 1) +
                              topo_class_links(&tpu.net, 2)) -
                     chips / 64 * 144;
    print_count("`frontier-slingshot`, blocking factor", 1.753, "", taper_of(&frontier.net), 0.0005, "V-weak",
                &wrong);
    print_count("`nvl144-vera-rubin`, NVLink of a rack, both ways", 260, " TB/s",
                2 * 72 * rubin.bw_Bps[0] / 1e12, 1, "V-weak", &wrong);
    print_count("`nvl144-vera-rubin`, ports of NICs of a rack, both ways", 28.8, " TB/s",
                2 * 72 * rubin.bw_Bps[1] / 1e12, 0.05, "R", &wrong);
    print_count("`multi-plane-200g-32768`, switches over those of three tiers", 0.6, "",
                boxes / (double)tree.switches, 0.005, "V-weak", &wrong);
    print_count("`multi-plane-200g-32768`, optics over those of three tiers", 2.0 / 3, "",
                cages / (double)(tree.end_links + tree.up_links), 0.005, "V-weak", &wrong);
    print_count("`tpu-v5p-6144`, links of a chip, both ways", 1200, " GB/s",
                2 * topo_all_links(v5p.net.dims) * v5p.bw_Bps[0] / 1e9, 0, "V", &wrong);
    print_count("`tpu-v7-9216`, ports of optical switches, each chip", 1.5, "", 2 * outside / chips, 0,
                "V-weak", &wrong);
    return wrong;
}

static int print_built(void)
{
    puts("\n## Counts of networks that can be bought\n\n"
         "Ours: `weft topo FILE --bill` of files in `configs/networks`, which name their sources (read "
         "2026-11-29). H: published of a\nnetwork of the same size and boxes. The row of GB200 has 9 spines, "
         "where its reference architecture has 24 that belong to a rail and\na third tier, which grow with "
         "it. "
         "Prices are not compared: none of these is sold at a published one.\n\n"
         "| what | published | ours | verdict | grade |\n|---|--:|--:|---|---|");
    return print_built_counts() + print_built_ratios();
}

int main(void)
{
    int wrong = print_deepseek() + print_rail_only() + print_planes() + print_slim_fly_power() +
                print_twists() + print_uniform() + print_built();
    return wrong > 0;
}
