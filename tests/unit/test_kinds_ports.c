/* What one NPU's part of a network costs: the cheapest whole design that has a bandwidth. */
#include "base/rng.h"
#include "kinds/design/ask/ports.h"
#include "tests/unit/study_folder.h"

/* A link of 25 GB/s each; a box joins 8 of them; two levels of a tree, a mesh in the middle. */
#define TIERS                                                                                                \
    "parts: { name: p, grade: V, catalogue: [\n"                                                             \
    "  { name: nic, kind: nic, ports: 2, bw_GBps: 25, usd: 500, watt: 20 },\n"                               \
    "  { name: box, kind: switch, ports: 8, bw_GBps: 25, usd: 4000, watt: 300 },\n"                          \
    "  { name: end, kind: link, bw_GBps: 25, usd: 100, watt: 5, reach_m: 400 },\n"                           \
    "  { name: dark, kind: link, bw_GBps: 25, usd: 100, reach_m: 400 },\n"                                   \
    "  { name: fabric, kind: product, bw_GBps: 450, ports: 8, watt: 100 } ], build: [\n"                     \
    "  { tier: In, product: fabric }, { tier: Mesh, end_link: end }, { tier: Dark, end_link: dark },\n"      \
    "  { tier: Out, nic: nic, switch: box, end_link: end, up_link: end } ] }\n"

static void price(struct ports_share *out, struct folder *dir, const char *dims, const double *need_GBps)
{
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct design_point, asked, design_point_free);
    double need_Bps[TOPO_MAX_DIMS];
    char text[4096];
    snprintf(text, sizeof text, TIERS "network: { dims: [ %s ] }\n", dims);
    MUST(load(dir, &s, text, DESIGN_NEEDS_NETWORK, e));
    MUST(ports_ask(&asked, &s.doc, s.own_source, e));
    for (int32_t d = 0; d < asked.net.n_dims; d++)
        need_Bps[d] = need_GBps[d] * 1e9;
    MUST(ports_price(out, NULL, &asked, need_Bps, e));
}

/* By hand: 4 NPUs on one box, each with a NIC and a link; and links of a mesh. */
TEST_WITH(a_share_is_the_bill_over_all_npus, make_folder, remove_folder)
{
    static const struct {
        const char *dims;
        double need_GBps[2], links, usd, watt;
    } cases[] = {
        { "{ shape: switch, size: 4, tier: Out, bw_GBps: 1 }",
          { 1 },
          1,
          (4 * 500 + 4 * 100 + 4000) / 4.0,
          (4 * 20 + 4 * 5 + 300) / 4.0 },
        { "{ shape: switch, size: 4, tier: Out, bw_GBps: 1 }",
          { 25 },
          1,
          (4 * 500 + 4 * 100 + 4000) / 4.0,
          (4 * 20 + 4 * 5 + 300) / 4.0 },
        /* A mesh of 4: a link of 25 to each of 3 others, or two where an NPU needs more than 75. */
        { "{ shape: full, size: 4, tier: Mesh, bw_GBps: 1 }", { 70 }, 3, 6 * 100 / 4.0, 6 * 5 / 4.0 },
        { "{ shape: full, size: 4, tier: Mesh, bw_GBps: 1 }", { 80 }, 6, 12 * 100 / 4.0, 12 * 5 / 4.0 },
        { "{ shape: full, size: 4, tier: Dark, bw_GBps: 1 }", { 70 }, 3, 6 * 100 / 4.0, NAN },
        /* What servers bring is not bought again, however little of it is needed. */
        { "{ shape: switch, size: 8, tier: In, bw_GBps: 450 }, { shape: full, size: 2, tier: Mesh, bw_GBps: "
          "1 }",
          { 3, 20 },
          1,
          100 / 2.0,
          NAN },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct ports_share x;
        price(&x, *state, cases[i].dims, cases[i].need_GBps);
        assert_close(x.links, cases[i].links, 1e-12);
        assert_close(x.usd, cases[i].usd, 1e-12);
        if (i != 4 && i != 5)
            assert_close(x.watt, cases[i].watt, 1e-12);
        assert_true(i != 4 || isnan(x.watt));
    }
}

/* No whole design that has the bandwidth is cheaper, on drawn trees and meshes. */
TEST_WITH(no_design_that_has_the_bandwidth_is_cheaper, make_folder, remove_folder)
{
    RNG(rng, 37, 7);
    for (int k = 0; k < 60; k++) {
        char dims[400];
        snprintf(dims, sizeof dims,
                 "{ shape: %s, size: %d, tier: Mesh, bw_GBps: 1 }, { shape: fat-tree, sizes: [%d, 2], taper: "
                 "%d, tier: Out, bw_GBps: 1 }",
                 rng_below(rng, 2) ? "full" : "ring", 3 + (int)rng_below(rng, 3), 2 + (int)rng_below(rng, 3),
                 1 << rng_below(rng, 2));
        double need[3] = { rng_range(rng, 1, 150), rng_range(rng, 1, 150), 0 }, step[3];
        struct ports_share x, y;
        need[2] = need[1];
        price(&x, *state, dims, need);
        for (int tries = 0; tries < 20; tries++) {
            for (int d = 0; d < 2; d++)
                step[d] = need[d] + rng_range(rng, 0, 200);
            step[2] = step[1];
            price(&y, *state, dims, step);
            assert_true(y.usd >= x.usd * (1 - 1e-12) && y.links >= x.links);
        }
    }
}

TEST_WITH(what_no_parts_have_is_refused, make_folder, remove_folder)
{
    KEEP(struct design_point, s, design_point_free);
    struct ports_share x;
    const double need_Bps[] = { 500e9 };
    OK(load(*state, &s, TIERS "network: { dims: [ { shape: switch, size: 8, tier: In, bw_GBps: 450 } ] }\n",
            DESIGN_NEEDS_PARTS, e));
    FAILS(ports_price(&x, NULL, &s, need_Bps, e), ERR_RANGE,
          "dimension \"dim1\": 500 GB/s are needed, fabric has 450");
}
