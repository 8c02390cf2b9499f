/* Clos networks against NVIDIA's tables and closed forms. */
#include "tests/support.h"
#include "topo/clos.h"

/* NVIDIA DGX SuperPOD RA-11333-001 V11, tables 3 and 4: 64 ports, full bisection; {leaf, spine, core}. */
TEST(superpod_tables_are_reproduced)
{
    static const struct {
        int64_t ends, per_tier[3], end_links, up_links;
        int32_t tiers;
    } cases[] = {
        { 1024, { 32, 16, 0 }, 1024, 1024, 2 },
        { 2048, { 64, 32, 0 }, 2048, 2048, 2 },
        { 8192, { 256, 256, 128 }, 8192, 2 * 8192, 3 },
        { 16384, { 512, 512, 256 }, 16384, 2 * 16384, 3 },
        { 256, { 8, 4, 0 }, 256, 256, 2 },
        { 512, { 16, 8, 0 }, 512, 512, 2 },
        /* The table has 24 + 16: its spine is rounded so that links of a leaf spread evenly; see clos.h. */
        { 768, { 24, 12, 0 }, 768, 768, 2 },
        { 1, { 1, 0, 0 }, 1, 0, 1 }, /* not theirs: the least there is */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_clos c;
        int64_t sum = 0;
        OK(topo_count_clos(&c, cases[i].ends, 64, 1, 1, e));
        for (int t = 0; t < 3; t++) {
            assert_int_equal(c.per_tier[t], cases[i].per_tier[t]);
            sum += cases[i].per_tier[t];
        }
        assert_true(c.tiers == cases[i].tiers && c.switches == sum && c.end_links == cases[i].end_links);
        assert_int_equal(c.up_links, cases[i].up_links);
    }
}

/* Every row of both tables, that of 768 ends too. */
TEST(links_spread_evenly_as_superpods_have_them)
{
    CASES(int64_t ends, per_tier[3]) = {
        { 256, { 8, 4, 0 } },         { 512, { 16, 8, 0 } },   { 768, { 24, 16, 0 } },
        { 1024, { 32, 16, 0 } },      { 2048, { 64, 32, 0 } }, { 8192, { 256, 256, 128 } },
        { 16384, { 512, 512, 256 } }, { 64, { 1, 0, 0 } },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_clos c;
        OK(topo_count_even_clos(&c, cases[i].ends, 64, 1, 1, e));
        for (int t = 0; t < 3; t++)
            assert_int_equal(c.per_tier[t], cases[i].per_tier[t]);
    }
}

/* No box has links that it cannot share out, none has more ports than there are, and no fewer boxes than
 * ports ask for are bought. */
TEST(even_networks_share_links_out)
{
    int built = 0;
    for (int64_t radix = 4; radix <= 64; radix += 6)
        for (int64_t ends = radix + 1; ends < 6000; ends += 37) {
            struct topo_clos even, dense;
            struct err none = { 0 };
            if (topo_count_even_clos(&even, ends, radix, 1, 1, &none) ||
                topo_count_clos(&dense, ends, radix, 1, 1, &none))
                continue;
            int64_t into = even.per_tier[0] * (radix / 2), sum = 0; /* links up from a tier */
            for (int32_t t = 1; t < even.tiers; t++) {
                int64_t ports = t == even.tiers - 1 ? radix : radix / 2;
                assert_true(into % even.per_tier[t] == 0 && into / even.per_tier[t] <= ports);
                sum += into;
            }
            assert_int_equal(even.up_links, sum);
            assert_true(even.switches >= dense.switches);
            built++;
        }
    assert_true(built > 300);
    struct topo_clos c;
    FAILS(topo_count_even_clos(&c, 32 * 67, 64, 1, 1, e), ERR_RANGE,
          "Clos: 67 leaves of 64 ports form no equal pods of at most 32; give other sizes, or even_spread: "
          "false");
}

/* 32,768 ends on 64 ports: 5N/k in three tiers, 3N/k in two, N/k in one. */
TEST(rails_save_a_tier_once_they_are_small_enough)
{
    static const struct {
        int64_t rails, switches;
        int32_t tiers;
    } cases[] = { { 1, 2560, 3 }, { 8, 2560, 3 }, { 16, 1536, 2 }, { 512, 512, 1 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_clos c;
        OK(topo_count_clos(&c, 32768, 64, 1, cases[i].rails, e));
        assert_true(c.switches == cases[i].switches && c.tiers == cases[i].tiers && c.end_links == 32768);
        assert_int_equal(c.up_links, (cases[i].tiers - 1) * 32768);
    }
}

/* Networks of published tables: trees of HammingMesh (SC 2022), a plane of MI455X, what Rail-only and UB-Mesh
 * are held against (docs/validation.md). */
TEST(published_trees_and_planes_are_counted)
{
    CASES(int64_t ends, radix, down, rails, per_tier[3], up_links) = {
        { 25 * 42, 64, 42, 1, { 25, 9, 0 }, 550 },
        { 391 * 42, 64, 42, 1, { 391, 269, 135 }, 2 * 8602 },
        { 21 * 51, 64, 51, 1, { 21, 5, 0 }, 273 },
        { 322 * 51, 64, 51, 1, { 322, 131, 66 }, 2 * 4186 },
        { 8 * 131072, 512, 256, 8, { 4096, 2048, 0 }, 8 * 131072 },
        { 32768, 128, 64, 1, { 512, 512, 256 }, 2 * 32768 },
        { 32768, 128, 64, 256, { 256, 0, 0 }, 0 },
        { 64 * 8192, 512, 256, 64, { 2048, 1024, 0 }, 64 * 8192 },
        { 256 * 128, 512, 256, 256, { 64, 0, 0 }, 0 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_clos c;
        double taper = (double)cases[i].down / (double)(cases[i].radix - cases[i].down);
        OK(topo_count_clos(&c, cases[i].ends, cases[i].radix, taper, cases[i].rails, e));
        for (int t = 0; t < 3; t++)
            assert_int_equal(c.per_tier[t], cases[i].per_tier[t]);
        assert_int_equal(c.up_links, cases[i].up_links);
    }
}

/* Largest network of 2(k/2)^L ends in L tiers; one end more needs a tier more. */
TEST(reach_of_a_radix_is_that_of_a_fat_tree)
{
    static const struct {
        int64_t radix, most[3];
    } cases[] = { { 40, { 40, 800, 16000 } },
                  { 64, { 64, 2048, 65536 } },
                  { 128, { 128, 8192, 524288 } },
                  { 144, { 144, 10368, 746496 } } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        for (int t = 0; t < 3; t++) {
            struct topo_clos c;
            OK(topo_count_clos(&c, cases[i].most[t], cases[i].radix, 1, 1, e));
            assert_true(c.tiers == t + 1 && c.switches == (2 * t + 1) * cases[i].most[t] / cases[i].radix);
            OK(topo_count_clos(&c, cases[i].most[t] + 1, cases[i].radix, 1, 1, e));
            assert_int_equal(c.tiers, t + 2);
        }
    }
}

/* 2 tiers: N(t+2)/(tk) switches and N/t links up; 3: with no taper above the leaves N(t+4)/(tk) and 2N/t. */
TEST(taper_divides_what_is_above_the_leaves)
{
    static const struct {
        double taper;
        int64_t ends2, factor2_x60, ends3, factor3_x60;
    } cases[] = { { 1, 1800, 180, 54000, 300 },
                  { 2, 2400, 120, 72000, 180 },
                  { 3, 2700, 100, 81000, 140 },
                  { 4, 2880, 90, 86400, 120 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_clos c;
        int64_t t = (int64_t)cases[i].taper;
        /* ends2 = k^2 t/(t+1) and ends3 = k^3 t/(2(t+1)) are also the most that fit. */
        OK(topo_count_clos(&c, cases[i].ends2, 60, cases[i].taper, 1, e));
        assert_true(c.tiers == 2 && c.switches * 60 == cases[i].ends2 * cases[i].factor2_x60 / 60);
        assert_int_equal(c.up_links, cases[i].ends2 / t);
        OK(topo_count_clos(&c, cases[i].ends3, 60, cases[i].taper, 1, e));
        assert_true(c.tiers == 3 && c.switches * 60 == cases[i].ends3 * cases[i].factor3_x60 / 60);
        assert_int_equal(c.up_links, 2 * cases[i].ends3 / t);
        OK(topo_count_clos(&c, cases[i].ends3 + 1, 60, cases[i].taper, 1, e));
        assert_int_equal(c.tiers, 4);
    }
}

/* A taper whose quotient is whole must not cost a port by rounding. */
TEST(fractional_taper_rounds_links_up_per_leaf)
{
    struct topo_clos c;
    /* 21 / 1.4 is 15, in binary a little more: 36 ports hold 21 down and 15 up. */
    OK(topo_count_clos(&c, 210, 36, 1.4, 1, e));
    assert_true(c.per_tier[0] == 10 && c.up_links == 150);
    assert_int_equal(c.per_tier[1], 5); /* 150 / 36 rounded up */
    /* 64 ports, 2:1: 42 down, 21 up, one idle; 100 ends = two full leaves and 16 ends with 8 links. */
    OK(topo_count_clos(&c, 100, 64, 2, 1, e));
    assert_true(c.per_tier[0] == 3 && c.up_links == 50 && c.per_tier[1] == 1);
}

/* Every switch has `radix` ports and every link ends in one: ports suffice on every tier, for any input. */
TEST(ports_suffice_on_every_tier)
{
    static const double tapers[] = { 1, 1.5, 2, 3, 7 };
    for (int64_t radix = 3; radix <= 65; radix += 1) {
        for (int64_t ends = 1; ends < 3000; ends = ends * 5 / 4 + 1) {
            for (size_t i = 0; i < COUNT_OF(tapers); i++) {
                struct topo_clos c;
                if (topo_count_clos(&c, ends, radix, tapers[i], 1, e))
                    continue; /* out of reach of 4 tiers: only small radices */
                int64_t ports = c.switches * radix;
                assert_true(ports >= c.end_links + 2 * c.up_links && c.per_tier[0] * radix >= ends);
                if (c.tiers > 1) { /* enough bandwidth leaves the leaves */
                    double up = (double)c.up_links / (double)(c.tiers - 1);
                    assert_true(up * tapers[i] >= (double)ends * (1 - 1e-9));
                    assert_true(c.per_tier[c.tiers - 1] * radix >= c.up_links / (c.tiers - 1));
                }
            }
        }
    }
}

TEST(small_rails_share_a_switch)
{
    static const struct {
        int64_t ends, rails, switches;
    } cases[] = {
        { 32 * 32, 32, 16 }, /* two rails of 32 fill 64 ports */
        { 40 * 8, 8, 8 },    /* 40 + 40 > 64 */
        { 20 * 7, 7, 3 },    /* three of 20 a switch */
        { 64, 64, 1 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_clos c;
        OK(topo_count_clos(&c, cases[i].ends, 64, 1, cases[i].rails, e));
        assert_true(c.switches == cases[i].switches && c.up_links == 0);
    }
}

TEST(bad_arguments_are_refused_with_the_reason)
{
    static const struct {
        int64_t ends, radix;
        double taper;
        int64_t rails;
        const char *text;
    } cases[] = {
        { 0, 64, 1, 1, "number of ends is 0, expected 1 to 2^56" },
        { ((int64_t)1 << 56) + 1, 64, 1, 1, "expected 1 to 2^56" },
        { 64, 1, 1, 1, "switch radix is 1 ports, expected 2 to 65536" },
        { 64, 65537, 1, 1, "switch radix is 65537 ports" },
        { 64, 64, 0.5, 1, "taper is 0.5, expected 1 to 64" },
        { 64, 64, (double)NAN, 1, "taper is nan, expected 1 to 64" },
        { 64, 64, 1, 0, "number of rails is 0, expected a divisor of the 64 ends" },
        { 64, 64, 1, 5, "number of rails is 5, expected a divisor of the 64 ends" },
        { 2 * 32 * 32 * 32 * 32 + 1, 64, 1, 1,
          "2097153 ends on switches of 64 ports need more than 4 tiers" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_clos c;
        FAILS(topo_count_clos(&c, cases[i].ends, cases[i].radix, cases[i].taper, cases[i].rails, e),
              ERR_RANGE, cases[i].text);
        assert_int_equal(c.switches, 0);
    }
}
