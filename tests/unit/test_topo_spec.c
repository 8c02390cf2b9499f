/* Networks as words such as ring:4@50: both ways, at random, and what is wrong by column. */
#include "tests/support.h"
#include "base/num.h"
#include "topo/network.h"

TEST(word_gives_shapes_sizes_and_bandwidths)
{
    struct topo_network net;
    OK(topo_parse_spec(&net, "ring:4@250 full:8 switch:32@12.5 line:3@0.7", e));
    assert_true(net.n_dims == 4 && net.n_npus == 4 * 8 * 32 * 3 && net.parts == -1);
    static const enum topo_shape shapes[] = { TOPO_RING, TOPO_FULL, TOPO_SWITCH, TOPO_LINE };
    static const int sizes[] = { 4, 8, 32, 3 };
    static const char *const names[] = { "dim1", "dim2", "dim3", "dim4" };
    for (int d = 0; d < 4; d++) {
        assert_true(net.dims[d].shape == shapes[d] && net.dims[d].size == sizes[d]);
        assert_string_equal(net.dims[d].name, names[d]);
        assert_true(net.dims[d].efficiency == 1 && net.dims[d].lat_s == 0 && net.dims[d].min_Bps == 0);
        assert_true(isinf(net.dims[d].max_Bps));
    }
    assert_true(net.dims[0].bw_Bps == 250e9 && isnan(net.dims[1].bw_Bps) && net.dims[2].bw_Bps == 12.5e9);
    assert_true(net.dims[3].bw_Bps == 0.7e9);
}

/* As long as the word of an entry gets. */
#define LONGEST                                                                                              \
    "fat-tree:1000x100x10x10/1.2345678901234567/1.2345678901234567/1.2345678901234567^1000^1000^1000*1024"   \
    "@1.2345678901234568e-05"

/* Extra blanks and other spellings of a number are read; one spelling is written. */
TEST(word_is_written_in_its_canonical_form)
{
    static const struct {
        const char *word, *canonical;
    } cases[] = {
        { "ring:4@250 full:8 switch:32@50", "ring:4@250 full:8 switch:32@50" },
        { "  line:2\t ring:3 ", "line:2 ring:3" },
        { "switch:16777216@1000000", "switch:16777216@1000000" },
        { "ring:2@2.50e1", "ring:2@25" },
        { "ring:2@0.10", "ring:2@0.1" },
        { "full:8@47.123", "full:8@47.123" },
        { "full:8@1e-6", "full:8@1e-06" },
        { "ring:5@0.30000000000000004", "ring:5@0.30000000000000004" },
        { "ring:2 ring:2 ring:2 ring:2 ring:2 ring:2 ring:2 ring:2",
          "ring:2 ring:2 ring:2 ring:2 ring:2 ring:2 ring:2 ring:2" },
        { "switch:8@450 fat-tree:32x2/2+rails4@50", "switch:8@450 fat-tree:32x2/2+rails4@50" },
        { "switch:8@450 fat-tree:32x2/2+rails4+forward@50",
          "switch:8@450 fat-tree:32x2/2+rails4+forward@50" },
        { "switch:8@450 fat-tree:32x2/2.0^20+shared@50", "switch:8@450 fat-tree:32x2/2^20+shared@50" },
        { "full:4 fat-tree:4x2x2/2/1+forward*8@50", "full:4 fat-tree:4x2x2/2/1+forward*8@50" },
        { "torus:4x4x8+ocs+twist@150", "torus:4x4x8+twist+ocs@150" },
        { "ring:3 torus:4x8+twist", "ring:3 torus:4x8+twist" },
        { "hyperx:8x8@140 hyperx:22x22^22+minimal@5", "hyperx:8x8+adaptive@140 hyperx:22x22^22+minimal@5" },
        { "hammingmesh:2x2x16x16*4@1600", "hammingmesh:2x2x16x16*4@1600" },
        { "switch:72*18@900", "switch:72*18@900" },
        { "dragonfly:16x32x32^16@50 ring:2", "dragonfly:16x32x32^16+adaptive@50 ring:2" },
        { "dragonfly+:32x32x16^32^31@50", "dragonfly+:32x32x16^32^31+adaptive@50" },
        { "ring:2 slim-fly:21x1682@5e1", "ring:2 slim-fly:21x1682+adaptive@50" },
        { LONGEST, LONGEST },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net;
        char buf[TOPO_SPEC];
        OK(topo_parse_spec(&net, cases[i].word, e));
        assert_string_equal(topo_format_spec(buf, &net), cases[i].canonical);
    }
}

TEST(fault_in_a_word_is_named_with_its_column)
{
    static const struct refusal cases[] = {
        { "", ERR_PARSE, "col 1: no dimension" },
        { "   ", ERR_PARSE, "col 1: no dimension" },
        { "tarus:4", ERR_PARSE, "col 1: is \"tarus:4\", expected SHAPE:SIZE[@GBps]; did you mean torus?" },
        { "ring:4 Ring:4", ERR_PARSE, "col 8: is \"Ring:4\", expected SHAPE" },
        { "ring", ERR_PARSE, "col 1: is \"ring\", expected SHAPE" },
        { "ring:", ERR_PARSE, "col 6: is \"\", expected a whole number" },
        { "ring:4,full:8", ERR_PARSE, "col 6: is \"4,full:8\", expected a whole number" },
        { "ring:4 full:x", ERR_PARSE, "col 13: is \"x\", expected a whole number" },
        { "ring:4 full:08", ERR_PARSE, "col 13: is \"08\", expected a whole number" },
        { "ring:99999999999999999999999999999999999999", ERR_PARSE, "col 6: is \"9999" },
        { "ring:1", ERR_RANGE, "col 6: size is 1, expected 2 to 16777216" },
        { "ring:16777217", ERR_RANGE, "col 6: size is 16777217, expected 2 to 16777216" },
        { "ring:4@", ERR_PARSE, "col 8: is \"\", expected a bandwidth in GB/s" },
        { "ring:4@5@6", ERR_PARSE, "col 8: is \"5@6\", expected a bandwidth in GB/s" },
        { "ring:4@50GB", ERR_PARSE, "col 8: is \"50GB\", expected a bandwidth in GB/s" },
        { "ring:4@0x10", ERR_PARSE, "col 8: is \"0x10\", expected a bandwidth in GB/s" },
        { "ring:4@nan", ERR_PARSE, "col 8: is \"nan\", expected a bandwidth in GB/s" },
        { "ring:4@0", ERR_RANGE, "col 8: bandwidth is 0 GB/s, expected 1e-06 to 1e+06" },
        { "ring:4@-3", ERR_RANGE, "col 8: bandwidth is -3 GB/s" },
        { "ring:4@1e7", ERR_RANGE, "col 8: bandwidth is 1e7 GB/s, expected 1e-06 to 1e+06" },
        { "ring:65536 ring:16384 ring:2", ERR_RANGE,
          "col 23: size 2 makes 2147483648 NPUs, expected at most 1073741824" },
        { "ring:16777216 ring:16777216", ERR_RANGE, "col 15: size 16777216 makes 281474976710656 NPUs" },
        { "ring:2 ring:2 ring:2 ring:2 ring:2 ring:2 ring:2 ring:2 ring:2", ERR_RANGE,
          "col 57: more than 8 dimensions" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net;
        FAILS(topo_parse_spec(&net, cases[i].text, e), cases[i].code, cases[i].message);
    }
}

/* At each limit and one beyond it; NULL: there is such a fabric. */
TEST(fabrics_are_built_up_to_their_limits)
{
    CASES(const char *word, *message) = {
        { "dragonfly:1x1000x2^24", NULL },
        { "dragonfly:1x1000x2^25", "col 1: has routers of 1025 ports, expected at most 1024" },
        { "dragonfly:1x4x9^2", NULL },
        { "dragonfly:1x4x10^2",
          "col 1: has 10 groups, expected at most 9: 4 routers with 2 links to other groups" },
        { "dragonfly:1x1x2^1", "col 1: is a dragonfly; give 3 sizes: NPUs of a router, routers of a group (2 "
                               "or more), groups (2 or more)" },
        { "dragonfly:2x4", "col 1: is a dragonfly; give 3 sizes: NPUs of a router, routers of a group (2 or "
                           "more), groups (2 or more)" },
        { "dragonfly:2x4x3",
          "col 1: is a dragonfly without links; give links, those of a router to other groups" },
        { "dragonfly:1x2x2^1 ring:2 ring:2 ring:2 ring:2 ring:2", NULL },
        { "dragonfly:1x2x2^1 ring:2 ring:2 ring:2 ring:2 ring:2 ring:2", "col 54: more than 8 dimensions" },
        { "ring:2 ring:2 ring:2 ring:2 ring:2 dragonfly:1x2x2^1", NULL },
        { "ring:2 ring:2 ring:2 ring:2 ring:2 ring:2 dragonfly:1x2x2^1",
          "col 43: has 3 levels, expected at most 2: a network has 8 dimensions" },
        { "dragonfly:2x4x3^1^2", "col 11: is \"2x4x3^1^2\", expected no taper, and fewer numbers after ^" },
        { "dragonfly:2x4x3/2^1", "col 11: is \"2x4x3/2^1\", expected no taper, and fewer numbers after ^" },
        { "dragonfly:2x4x3^1*2",
          "col 19: is \"2\", expected no planes: only a switch, fat-tree or hammingmesh has them" },
        { "dragonfly:2x4x3^1+twist", "col 19: is \"twist\", expected minimal, valiant or adaptive" },
        { "dragonfly+:1x1x2^1023^1", NULL },
        { "dragonfly+:1x1x2^1024^1", "col 1: has leaves of 1025 ports, expected at most 1024" },
        { "dragonfly+:1x1000x2^1^24", NULL },
        { "dragonfly+:1x1000x2^1^25", "col 1: has spines of 1025 ports, expected at most 1024" },
        { "dragonfly+:1x2x7^2^3", NULL },
        { "dragonfly+:1x2x8^2^3",
          "col 1: has 8 groups, expected at most 7: 2 spines with 3 links to other groups" },
        { "dragonfly+:1x2x1^2^3",
          "col 1: is a dragonfly+; give 3 sizes: NPUs of a leaf, leaves of a group, groups (2 or more)" },
        { "dragonfly+:1x2x2", "col 1: has no spines; give those of a group" },
        { "dragonfly+:1x2x2^2", "col 1: has no links; give the links of a spine to other groups" },
        { "ring:2 ring:2 ring:2 ring:2 ring:2 dragonfly+:1x2x2^1^1", NULL },
        { "ring:2 ring:2 ring:2 ring:2 ring:2 ring:2 dragonfly+:1x2x2^1^1",
          "col 43: has 3 levels, expected at most 2: a network has 8 dimensions" },
        { "slim-fly:4", "col 1: is a slim-fly; give 2 sizes, NPUs of a router and routers, or hosts and q" },
        { "slim-fly:4x1", "col 1: has 1 routers, expected 2 q^2 with q = 4 w - 1, 4 w or 4 w + 1 (q 3: 18)" },
        { "slim-fly:4x72",
          "col 1: has 72 routers, expected 2 q^2 with q = 4 w - 1, 4 w or 4 w + 1 (q 7: 98)" },
        { "slim-fly:1019x18", NULL },
        { "slim-fly:1020x18", "col 1: has routers of 1025 ports, expected at most 1024" },
        { "ring:2 ring:2 ring:2 ring:2 ring:2 slim-fly:1x18", NULL },
        { "ring:2 ring:2 ring:2 ring:2 ring:2 ring:2 slim-fly:1x18",
          "col 43: has 3 levels, expected at most 2: a network has 8 dimensions" },
        { "fat-tree:4", "col 1: has 1 size, expected 2 to 4 of a fat-tree, innermost first" },
        { "fat-tree:4x2x2x2", NULL },
        { "fat-tree:2x2x2x2x2", "col 18: is \"2\", expected fewer levels" },
        { "fat-tree:4x2/1/2", "col 1: has more entries in taper than 1, one for each level above the leaf" },
        { "fat-tree:4x2/65537", "col 14: is \"65537\", expected a taper of 1 to 65536, or free" },
        { "fat-tree:4x2/64", NULL },
        { "fat-tree:4x2/0.5", "col 14: is \"0.5\", expected a taper of 1 to 65536, or free" },
        { "fat-tree:4x2x2/2/free", NULL },
        { "fat-tree:4x2^2^2", "col 1: has more entries in up than 1, one for each level above the leaf" },
        { "fat-tree:4x2^65536", NULL },
        { "fat-tree:4x2^65537", "col 14: size is 65537, expected 1 to 65536" },
        { "fat-tree:2x2x2^32768^32768", NULL },
        { "fat-tree:2x2x2^32768^32769",
          "col 1: has 1.07377e+09 boxes at the top, expected at most 1073741824" },
        { "switch:6 fat-tree:4x2+rails4", "col 10: has 4 rails below nodes of 6 NPUs, expected a number that "
                                          "divides them evenly: 1, 2, 3, 6" },
        { "switch:4 switch:6 fat-tree:4x2+rails6", "col 19: has 6 rails below nodes of 24 NPUs, expected a "
                                                   "number that divides them evenly: 1, 2, 4, 8, "
                                                   "12, 24" },
        { "switch:6 fat-tree:4x2+rails0", "col 28: size is 0, expected 1 to 16777216" },
        { "switch:6 fat-tree:4x2+rails",
          "col 23: is \"rails\", expected shared, forward or rails4: rails with one "
          "spine" },
        { "fat-tree:4x2+shared",
          "col 1: has a spine shared across one rail, expected the dimensions of a node before it" },
        { "ring:4 fat-tree:4x2+shared",
          "col 8: has a spine shared across dim1, a ring; expected a switch, full or fat-tree" },
        { "ring:3 fat-tree:4x2+shared", NULL },
        { "line:2 fat-tree:4x2+shared", NULL },
        { "line:3 fat-tree:4x2+shared",
          "col 8: has a spine shared across dim1, a line; expected a switch, full or fat-tree" },
        { "torus:2x2 fat-tree:4x2+shared",
          "col 11: has a spine shared across dim1, a torus; expected a switch, full or fat-tree" },
        { "full:16777216 fat-tree:2x2+shared", NULL },
        { "full:8388608 full:4 fat-tree:2x2+shared",
          "col 21: has a spine shared across 33554432 NPUs of a node, expected at most 16777216" },
        { "fat-tree:4x2+twist",
          "col 14: is \"twist\", expected shared, forward or rails4: rails with one spine" },
        { "switch:4+shared", "col 8: is \"4+shared\", expected a whole number of members" },
        { "fat-tree:4x2*1025", "col 14: size is 1025, expected 2 to 1024" },
        { "fat-tree:4x2*1024", NULL },
        { "fat-tree:4x2*1", "col 14: size is 1, expected 2 to 1024" },
        { "ring:4*2",
          "col 8: is \"2\", expected no planes: only a switch, fat-tree or hammingmesh has them" },
        { "torus:4", "col 1: has 1 size, expected 2 to 4 of a torus" },
        { "torus:4x1", "col 1: has an axis of 1, expected 2 or more members" },
        { "torus:2x2x2x2", NULL },
        { "torus:2x2x2x2x2", "col 15: is \"2\", expected fewer levels" },
        { "torus:4x8+ocs",
          "col 1: is joined by ocs, expected three sizes that are multiples of 4: cubes of 4 x 4 x 4" },
        { "torus:4x4x6+ocs",
          "col 1: is joined by ocs, expected three sizes that are multiples of 4: cubes of 4 x 4 x 4" },
        { "torus:4x4x8+ocs", NULL },
        { "torus:4x9+twist",
          "col 1: has a twist, expected sizes k x 2k, k x k x 2k or k x 2k x 2k, as in [4, 4, 8]" },
        { "torus:4x4x4+twist",
          "col 1: has a twist, expected sizes k x 2k, k x k x 2k or k x 2k x 2k, as in [4, 4, 8]" },
        { "torus:4x8x8+twist", NULL },
        { "torus:4x4x4x8+twist",
          "col 1: has a twist, expected sizes k x 2k, k x k x 2k or k x 2k x 2k, as in [4, 4, 8]" },
        { "torus:1024x2048+twist", NULL },
        { "torus:1025x2050+twist", "col 1: has a twist of 1025, expected at most 1024" },
        { "torus:4x4+shared", "col 11: is \"shared\", expected twist or ocs" },
        { "hyperx:4", "col 1: has 1 size, expected 2 to 4 of a hyperx" },
        { "hyperx:4^1", NULL },
        { "hyperx:2x2x2x2", NULL },
        { "hyperx:2x2x2^4", NULL },
        { "hyperx:2x2x2x2^4", "col 1: has 4 sizes, expected 1 to 3 of a hyperx with hosts" },
        { "hyperx:4x1", "col 1: has a row of 1, expected 2 or more routers" },
        { "hammingmesh:2x2x2", "col 1: is a hammingmesh; give 4 sizes: NPUs of a board's row and column (1 "
                               "to 64), boards of a row and column (2 or more)" },
        { "hammingmesh:2x2x1x2", "col 1: is a hammingmesh; give 4 sizes: NPUs of a board's row and column (1 "
                                 "to 64), boards of a row and column (2 or more)" },
        { "hammingmesh:2x2x2x1", "col 1: is a hammingmesh; give 4 sizes: NPUs of a board's row and column (1 "
                                 "to 64), boards of a row and column (2 or more)" },
        { "hammingmesh:16x2x2x2", NULL },
        { "hammingmesh:64x64x2x2", NULL },
        { "hammingmesh:65x2x2x2", "col 1: is a hammingmesh; give 4 sizes: NPUs of a board's row and column "
                                  "(1 to 64), boards of a row and column (2 or more)" },
        { "fat-tree:16777216x64", NULL },
        { "fat-tree:16777216x65", "col 1: has sizes that make too many NPUs, expected 2 to 1073741824" },
        { "dragonfly+:1x1x2^1^1", NULL },
        { "hyperx:1x1^1", "col 1: has a row of 1, expected 2 or more routers" },
        { "slim-fly:1x18^2", "col 10: is \"1x18^2\", expected no taper, and fewer numbers after ^" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net;
        struct err why = { 0 };
        int rc = topo_parse_spec(&net, cases[i].word, &why);
        if (cases[i].message)
            assert_fails(rc, &why, why.code, cases[i].message);
        else
            assert_ok(rc, &why);
    }
}

TEST(words_are_told_from_paths)
{
    assert_true(topo_is_spec("ring:4@250"));
    assert_true(topo_is_spec("  tarus:4")); /* of no shape there is: an error about shapes helps */
    assert_true(topo_is_spec("ring:-0@5") && topo_is_spec("dragonfly+:x")); /* what is wrong is in the word */
    assert_true(!topo_is_spec("net:x") && !topo_is_spec("configs/networks/pod.yaml"));
    assert_true(!topo_is_spec("ring/pod.yaml") && !topo_is_spec("./ring:4"));
    assert_true(topo_is_spec("rings:4"));
    assert_false(topo_is_spec(""));
}

static bool same_dim(const struct topo_dim *a, const struct topo_dim *b)
{
    return strcmp(a->name, b->name) == 0 && a->shape == b->shape && a->size == b->size &&
           (a->bw_Bps == b->bw_Bps || (isnan(a->bw_Bps) && isnan(b->bw_Bps))) && a->lat_s == b->lat_s &&
           a->min_Bps == b->min_Bps && a->max_Bps == b->max_Bps && a->efficiency == b->efficiency &&
           strcmp(a->tier, b->tier) == 0;
}

static void draw_network(struct topo_network *net, struct rng *rng)
{
    topo_network_defaults(net);
    int32_t want = 1 + (int32_t)rng_below(rng, TOPO_MAX_DIMS);
    while (net->n_dims < want) {
        struct topo_dim *dim = &net->dims[net->n_dims];
        topo_dim_defaults(dim, net->n_dims++);
        dim->shape = (enum topo_shape)rng_below(rng, 4);
        dim->size =
            want == 1 ? 2 + (int32_t)rng_below(rng, TOPO_MAX_SIZE - 1) : 2 + (int32_t)rng_below(rng, 12);
        net->n_npus *= dim->size;
        double bw_Bps = rng_log_range(rng, 1e3, 1e15);
        if (rng_below(rng, 2)) /* as people write it: few digits */
            bw_Bps = 1e6 * (double)(1 + rng_below(rng, 1000000));
        if (rng_below(rng, 4))
            dim->bw_Bps = bw_Bps;
    }
}

/* Bandwidths are any double, as an allocator gives them, so this holds to the last bit. */
TEST(parsing_and_formatting_are_inverse_on_random_networks)
{
    RNG(rng, 20261120, 0);
    for (int i = 0; i < 20000; i++) {
        struct topo_network net, again;
        char word[TOPO_SPEC], word_again[TOPO_SPEC];
        draw_network(&net, rng);
        topo_format_spec(word, &net);
        OK(topo_parse_spec(&again, word, e));
        assert_true(again.n_dims == net.n_dims && again.n_npus == net.n_npus);
        for (int32_t d = 0; d < net.n_dims; d++)
            if (!same_dim(&net.dims[d], &again.dims[d]))
                fail_msg("%s: dimension %d differs", word, d);
        assert_string_equal(topo_format_spec(word_again, &again), word);
    }
}
