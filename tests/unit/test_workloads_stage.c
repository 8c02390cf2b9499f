#include "tests/support.h"

#include "workloads/step.h"
#include "workloads/step_fn.h"

/* One dimension of half a second a hop and 1 B/s. */
static struct topo_network one_dim(enum topo_shape shape, int32_t size)
{
    struct topo_network net = { .n_dims = 1, .n_npus = size };
    net.dims[0] = (struct topo_dim){
        .shape = shape, .size = size, .lat_s = 0.5, .efficiency = 1, .bw_Bps = 1, .in_switch_min = 2
    };
    return net;
}

/* A pass over its dimension, of which the bandwidth is known. */
static void fill_alone(struct stage *s, enum pass pass, double full_B, int32_t members,
                       const struct topo_network *net, const struct stage_rules *rules)
{
    stage_fill(s, 0, pass, full_B, members, 1, &(struct collective_way){ net, rules, &net->dims[0].bw_Bps });
}

static double latency_of(enum collective_kind kind, const struct topo_network *net, const int32_t *members)
{
    struct stage s[STAGE_MAX];
    double sum = 0;
    int32_t n = stage_list(s, kind, 1, members, NULL, NULL, NULL,
                           &(struct collective_way){ net, &stage_rules_plain, NULL });
    for (int32_t i = 0; i < n; i++)
        sum += s[i].const_s;
    return sum;
}

TEST(latency_counts_the_steps_of_each_shape)
{
    CASES(enum topo_shape shape; int32_t size, members; double all_reduce, pass, all_to_all /* steps */) = {
        { TOPO_RING, 8, 8, 14, 7, 4 },     { TOPO_RING, 8, 4, 6, 3, 3 },    { TOPO_RING, 5, 5, 8, 4, 2 },
        { TOPO_RING, 2, 2, 2, 1, 1 },      { TOPO_LINE, 8, 8, 14, 7, 7 },   { TOPO_FULL, 8, 8, 2, 1, 1 },
        { TOPO_SWITCH, 32, 32, 10, 5, 1 }, { TOPO_SWITCH, 32, 2, 2, 1, 1 }, { TOPO_SWITCH, 24, 24, 10, 5, 1 },
        { TOPO_SWITCH, 24, 8, 6, 3, 1 },   { TOPO_RING, 8, 1, 0, 0, 0 },    { TOPO_SWITCH, 8, 1, 0, 0, 0 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net = one_dim(cases[i].shape, cases[i].size);
        const int32_t members[] = { cases[i].members };
        assert_close(latency_of(COLLECTIVE_ALL_REDUCE, &net, members), 0.5 * cases[i].all_reduce, 0);
        assert_close(latency_of(COLLECTIVE_REDUCE_SCATTER, &net, members), 0.5 * cases[i].pass, 0);
        assert_close(latency_of(COLLECTIVE_ALL_GATHER, &net, members), 0.5 * cases[i].pass, 0);
        assert_close(latency_of(COLLECTIVE_ALL_TO_ALL, &net, members), 0.5 * cases[i].all_to_all, 0);
    }
}

/* The table of algorithms: R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, and counting links. */
TEST(every_algorithm_costs_its_hops_and_its_busiest_link)
{
    CASES(enum topo_algorithm a; enum pass pass; enum topo_shape shape; int32_t n;
          double hops, messages, load) = {
        { TOPO_ALGORITHM_RING, PASS_REDUCE_SCATTER, TOPO_RING, 8, 7, 7, 7. / 8 },
        { TOPO_ALGORITHM_RING, PASS_ALL_GATHER, TOPO_SWITCH, 6, 5, 5, 5. / 6 },
        { TOPO_ALGORITHM_RING, PASS_REDUCE_SCATTER, TOPO_FULL, 8, 7, 7, 49. / 8 },
        { TOPO_ALGORITHM_DIRECT, PASS_REDUCE_SCATTER, TOPO_FULL, 8, 1, 7, 7. / 8 },
        { TOPO_ALGORITHM_DIRECT, PASS_REDUCE_SCATTER, TOPO_SWITCH, 8, 1, 7, 7. / 8 },
        { TOPO_ALGORITHM_DIRECT, PASS_ALL_GATHER, TOPO_RING, 8, 4, 7, 2 },
        { TOPO_ALGORITHM_DIRECT, PASS_ALL_TO_ALL, TOPO_RING, 5, 2, 4, 24. / 20 },
        { TOPO_ALGORITHM_DIRECT, PASS_ALL_TO_ALL, TOPO_RING, 2, 1, 1, 0.5 },
        { TOPO_ALGORITHM_DIRECT, PASS_ALL_TO_ALL, TOPO_LINE, 4, 3, 3, 1 },
        { TOPO_ALGORITHM_HALVING, PASS_REDUCE_SCATTER, TOPO_SWITCH, 8, 3, 3, 7. / 8 },
        { TOPO_ALGORITHM_HALVING, PASS_REDUCE_SCATTER, TOPO_FULL, 8, 3, 3, 49. / 8 },
        { TOPO_ALGORITHM_HALVING, PASS_REDUCE_SCATTER, TOPO_RING, 8, 7, 3, 3 },
        { TOPO_ALGORITHM_BRUCK, PASS_ALL_GATHER, TOPO_SWITCH, 24, 5, 5, 23. / 24 },
        { TOPO_ALGORITHM_TREE, PASS_ALL_REDUCE, TOPO_SWITCH, 8, 6, 6, 6 },
        { TOPO_ALGORITHM_SWITCH, PASS_ALL_REDUCE, TOPO_SWITCH, 8, 2, 2, 1 },
        { TOPO_ALGORITHM_SWITCH, PASS_REDUCE_SCATTER, TOPO_SWITCH, 8, 1, 1, 7. / 8 },
        { TOPO_ALGORITHM_SWITCH, PASS_BROADCAST, TOPO_SWITCH, 8, 1, 1, 1 },
        { TOPO_ALGORITHM_RING, PASS_BROADCAST, TOPO_RING, 8, 7, 7, 7 },
        { TOPO_ALGORITHM_HALVING, PASS_BROADCAST, TOPO_SWITCH, 8, 6, 6, 14. / 8 },
        { TOPO_ALGORITHM_DIRECT, PASS_BROADCAST, TOPO_FULL, 8, 2, 14, 14. / 8 },
        { TOPO_ALGORITHM_DIRECT, PASS_SEND, TOPO_RING, 8, 1, 1, 2 },
        { TOPO_ALGORITHM_DIRECT, PASS_SEND, TOPO_FULL, 8, 1, 1, 7 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net = one_dim(cases[i].shape, cases[i].n);
        struct algorithm_cost c;
        net.dims[0].in_switch = TOPO_IN_SWITCH_SHARP;
        assert_true(algorithm_cost(&c, cases[i].a, cases[i].pass, &net.dims[0], cases[i].n, 1));
        assert_close(c.hops, cases[i].hops, 0);
        assert_close(c.messages, cases[i].messages, 0);
        assert_close(c.load, cases[i].load, 1e-15);
    }
}

/* An all-reduce in the one dimension of @p net, at 1 B/s. */
static int32_t turn_of(struct stage s[STAGE_MAX], double bytes, int32_t members,
                       const struct topo_network *net)
{
    const double bw_Bps = 1;
    return stage_list(s, COLLECTIVE_ALL_REDUCE, bytes, &members, NULL, NULL, NULL,
                      &(struct collective_way){ net, &stage_rules_plain, &bw_Bps });
}

/* Segments trade steps for bytes: log2(n) + k - 1 steps of S/k, up and down. */
TEST(segments_make_a_tree_pipelined)
{
    struct topo_network net = one_dim(TOPO_SWITCH, 16);
    struct algorithm_cost c;
    assert_true(algorithm_cost(&c, TOPO_ALGORITHM_TREE, PASS_ALL_REDUCE, &net.dims[0], 16, 64));
    assert_close(c.hops, 2 * (4 + 63), 0);
    assert_close(c.load, 2 * 67. / 64, 1e-15);
    struct stage s[STAGE_MAX];
    net.dims[0].algorithm = TOPO_ALGORITHM_TREE;
    /* Few bytes go in one piece, many in many. */
    assert_int_equal(turn_of(s, 1e-3, 16, &net), 1);
    assert_int_equal(s[0].choice.segments, 1);
    assert_int_equal(turn_of(s, 1e6, 16, &net), 1);
    assert_int_equal(s[0].choice.segments, STAGE_MAX_SEGMENTS);
}

TEST(a_switch_reduces_for_groups_that_are_large_enough)
{
    WITH(struct topo_network, net, one_dim(TOPO_SWITCH, 8), net.dims[0].in_switch = TOPO_IN_SWITCH_NVLS,
         net.dims[0].in_switch_min = 4);
    struct stage s[STAGE_MAX];
    assert_int_equal(turn_of(s, 16, 8, &net), 1);
    assert_int_equal(s[0].choice.algorithm, TOPO_ALGORITHM_SWITCH);
    assert_close(s[0].load_B, 16 * 9. / 8, 1e-15);
    assert_int_equal(turn_of(s, 16, 2, &net), 2);
    assert_int_equal(s[0].choice.algorithm, TOPO_ALGORITHM_HALVING);
}

/* Against trying all by hand: with overhead per message, direct costs n-1 of them and halving log2 n. */
TEST(auto_takes_the_fastest_for_the_size)
{
    CASES(double bytes, endpoint_s; enum topo_algorithm want) = {
        { 1, 0, TOPO_ALGORITHM_DIRECT },  /* one latency */
        { 1, 1, TOPO_ALGORITHM_HALVING }, /* 3*(0.5+1) against 0.5+7*1 */
        { 1e9, 1e-9, TOPO_ALGORITHM_DIRECT },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net = one_dim(TOPO_SWITCH, 8);
        struct stage_rules rules = stage_rules_plain;
        struct stage s;
        net.dims[0].algorithm = TOPO_ALGORITHM_AUTO;
        rules.endpoint_s = cases[i].endpoint_s;
        fill_alone(&s, PASS_REDUCE_SCATTER, cases[i].bytes, 8, &net, &rules);
        assert_int_equal(s.choice.algorithm, cases[i].want);
    }
}

/* Two protocols: 0.1 s and half of the bandwidth, or 0.5 s a hop and all of it. */
/* Links that carry nothing yet, as in a split under way, choose as those whose bandwidth is not known: by
 * what they are asked to carry. */
TEST(without_bandwidth_the_load_decides)
{
    static const double nothing[] = { 0, NAN };
    static const enum collective_kind kinds[] = { COLLECTIVE_ALL_REDUCE, COLLECTIVE_REDUCE_SCATTER,
                                                  COLLECTIVE_ALL_GATHER, COLLECTIVE_BROADCAST };
    static const enum topo_shape shapes[] = { TOPO_RING, TOPO_FULL, TOPO_SWITCH };
    for (size_t i = 0; i < COUNT_OF(kinds) * COUNT_OF(shapes) * COUNT_OF(nothing); i++) {
        enum collective_kind kind = kinds[i % COUNT_OF(kinds)];
        struct topo_network net = one_dim(shapes[i / COUNT_OF(kinds) % COUNT_OF(shapes)], 8);
        const int32_t members = 8;
        struct stage want[STAGE_MAX], got[STAGE_MAX];
        struct collective_way way = { &net, &stage_rules_plain, NULL };
        net.dims[0].algorithm = TOPO_ALGORITHM_AUTO;
        int32_t n = stage_list(want, kind, 100, &members, NULL, NULL, NULL, &way);
        way.bw_Bps = &nothing[i % COUNT_OF(nothing)];
        assert_int_equal(stage_list(got, kind, 100, &members, NULL, NULL, NULL, &way), n);
        for (int32_t k = 0; k < n; k++) {
            assert_int_equal(got[k].pass, want[k].pass);
            assert_true(got[k].const_s == want[k].const_s && got[k].load_B == want[k].load_B);
        }
    }
}

TEST(the_faster_regime_is_taken_by_size)
{
    struct topo_network net = one_dim(TOPO_FULL, 2);
    struct stage s;
    net.dims[0].regimes[net.dims[0].n_regimes++] =
        (struct topo_regime){ .lat_s = 0.1, .efficiency = 0.5, .up_to_B = INFINITY };
    fill_alone(&s, PASS_ALL_TO_ALL, 0.2, 2, &net, &stage_rules_plain);
    assert_int_equal(s.choice.regime, 1);
    assert_close(s.const_s + s.load_B, 0.1 + 0.2, 1e-15);
    fill_alone(&s, PASS_ALL_TO_ALL, 2, 2, &net, &stage_rules_plain);
    assert_int_equal(s.choice.regime, 0);
    assert_close(s.const_s + s.load_B, 0.5 + 1, 1e-15);
}

/* A table by size: up to 1 B, up to 5 B, up to 10 B, and beyond; what is faster does not matter. */
TEST(limits_decide_by_size)
{
    CASES(double bytes; int32_t regime) = {
        { 0.5, 2 }, { 1, 2 }, { 1.1, 3 }, { 5, 3 }, { 5.1, 1 }, { 10, 1 }, { 11, 0 },
    };
    struct topo_network net = one_dim(TOPO_FULL, 2);
    net.dims[0].regimes[net.dims[0].n_regimes++] =
        (struct topo_regime){ .lat_s = 9, .efficiency = 0.5, .up_to_B = 10 };
    net.dims[0].regimes[net.dims[0].n_regimes++] =
        (struct topo_regime){ .lat_s = 5, .efficiency = 0.1, .up_to_B = 1 };
    net.dims[0].regimes[net.dims[0].n_regimes++] =
        (struct topo_regime){ .lat_s = 7, .efficiency = 0.3, .up_to_B = 5 };
    for (int32_t chunks = 1; chunks <= 4; chunks *= 4)
        for (size_t i = 0; i < COUNT_OF(cases); i++) {
            struct stage_rules rules = stage_rules_plain;
            struct stage s;
            rules.chunks = chunks; /* it is the size of the whole buffer that counts */
            fill_alone(&s, PASS_ALL_TO_ALL, cases[i].bytes / chunks, 2, &net, &rules);
            assert_int_equal(s.choice.regime, cases[i].regime);
        }
}

static void add_curve(struct topo_dim *dim, enum topo_measured collective, int32_t members, double lat_s,
                      double efficiency, double up_to_B)
{
    dim->curves[dim->n_curves++] = (struct topo_curve){ collective, members, { lat_s, efficiency, up_to_B } };
}

/* By the collective's members: the least number measured that is not below, else the largest. */
TEST(a_measured_curve_stands_in_for_what_the_dimension_says)
{
    CASES(enum pass pass; int32_t members; double bytes; double lat_s, efficiency) = {
        {
            PASS_REDUCE_SCATTER,
            2,
            5,
            11,
            0.25,
        },
        { PASS_REDUCE_SCATTER, 3, 5, 12, 0.5 },
        { PASS_REDUCE_SCATTER, 4, 5, 12, 0.5 },
        { PASS_REDUCE_SCATTER, 8, 5, 12, 0.5 },
        { PASS_REDUCE_SCATTER, 2, 50, 1, 0.75 },
        { PASS_ALL_GATHER, 4, 5, 0.5, 1 },
        { PASS_ALL_TO_ALL, 4, 5, 0.5, 1 },
    };
    struct topo_network net = one_dim(TOPO_FULL, 8);
    struct topo_dim *dim = &net.dims[0];
    dim->regimes[dim->n_regimes++] = (struct topo_regime){ 100, 0.125, INFINITY }; /* never fastest */
    add_curve(dim, TOPO_MEASURED_REDUCE_SCATTER, 2, 1, 0.75, INFINITY);
    add_curve(dim, TOPO_MEASURED_REDUCE_SCATTER, 4, 12, 0.5, INFINITY);
    add_curve(dim, TOPO_MEASURED_REDUCE_SCATTER, 2, 11, 0.25, 10);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct algorithm_cost cost;
        struct stage s;
        fill_alone(&s, cases[i].pass, cases[i].bytes, cases[i].members, &net, &stage_rules_plain);
        assert_true(algorithm_cost(&cost, s.choice.algorithm, cases[i].pass, dim, cases[i].members, 1));
        assert_close(s.const_s, cost.hops * cases[i].lat_s, 1e-14);
        assert_close(s.load_B, cost.load * cases[i].bytes / cases[i].efficiency, 1e-14);
    }
    assert_true(stage_has_choice(&net));
    /* Other collectives than the one with stretches are still lines. */
    const struct collective_way way = { .net = &net, .rules = &stage_rules_plain, .bw_Bps = &dim->bw_Bps };
    dim->n_regimes = 0;
    assert_false(collective_is_linear(COLLECTIVE_REDUCE_SCATTER, &way));
    assert_false(collective_is_linear(COLLECTIVE_ALL_REDUCE, &way));
    assert_true(collective_is_linear(COLLECTIVE_ALL_GATHER, &way));
}

/* Both halves of an all-reduce are of the all-reduce that was measured; inside the last dimension they are a
 * reduce-scatter and an all-gather. */
TEST(halves_of_an_all_reduce_have_its_curve)
{
    struct topo_network net = one_dim(TOPO_RING, 4);
    struct stage stages[STAGE_MAX];
    const int32_t members[] = { 4, 4 };
    const double bw_Bps[] = { 1, 1 };
    net.dims[1] = net.dims[0];
    net.n_dims = 2;
    for (int d = 0; d < 2; d++) {
        add_curve(&net.dims[d], TOPO_MEASURED_ALL_REDUCE, 0, 3, 0.5, INFINITY);
        add_curve(&net.dims[d], TOPO_MEASURED_ALL_GATHER, 0, 7, 0.5, INFINITY);
    }
    assert_false(stage_has_choice(&net)); /* a line each */
    int32_t n = stage_list(stages, COLLECTIVE_ALL_REDUCE, 16, members, NULL, NULL, NULL,
                           &(struct collective_way){ &net, &stage_rules_plain, bw_Bps });
    assert_int_equal(n, 4);
    assert_close(stages[0].const_s, 3 * net.dims[0].lat_s, 1e-15); /* no curve of a reduce-scatter */
    assert_close(stages[1].const_s, 3 * 3, 1e-15);
    assert_close(stages[2].const_s, 3 * 3, 1e-15);
    assert_close(stages[3].const_s, 3 * 7, 1e-15);
}

TEST(reductions_pass_the_memory_three_times)
{
    WITH(struct topo_network, net, one_dim(TOPO_RING, 4), net.dims[0].lat_s = 0);
    struct stage_rules rules = stage_rules_plain;
    struct stage s;
    rules.mem_Bps = 2;
    fill_alone(&s, PASS_REDUCE_SCATTER, 8, 4, &net, &rules);
    assert_close(s.const_s, 3 * 6 / 2., 1e-15);
    fill_alone(&s, PASS_ALL_GATHER, 8, 4, &net, &rules);
    assert_true(s.const_s == 0);
}

static struct topo_network two_dims(void)
{
    WITH(struct topo_network, net, one_dim(TOPO_RING, 4), net.n_dims = 2, net.n_npus = 16,
         net.dims[0].lat_s = 0, net.dims[1] = net.dims[0]);
    return net;
}

TEST(an_all_reduce_goes_out_turns_and_comes_back)
{
    static const int32_t members[] = { 4, 4 }, order[] = { 1, 0 };
    TABLE_OF(want, int32_t dim; enum pass pass; double full_B) = {
        { 1, PASS_REDUCE_SCATTER, 16 },
        { 0, PASS_REDUCE_SCATTER, 4 },
        { 0, PASS_ALL_GATHER, 4 },
        { 1, PASS_ALL_GATHER, 16 },
    };
    struct topo_network net = two_dims();
    struct stage s[STAGE_MAX];
    assert_int_equal(stage_list(s, COLLECTIVE_ALL_REDUCE, 16, members, NULL, NULL, order,
                                &(struct collective_way){ &net, &stage_rules_plain, NULL }),
                     4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(s[i].dim, want[i].dim);
        assert_int_equal(s[i].pass, want[i].pass);
        assert_close(s[i].full_B, want[i].full_B, 0);
    }
}

static double pipeline_time(enum collective_kind kind, const struct topo_network *net, double bytes,
                            int32_t chunks, const double *bw_Bps)
{
    static const int32_t members[] = { 4, 4 };
    struct stage s[STAGE_MAX];
    struct stage_row rows[TOPO_MAX_DIMS];
    double longest = 0;
    int32_t n = stage_list(s, kind, bytes / chunks, members, NULL, NULL, NULL,
                           &(struct collective_way){ net, &stage_rules_plain, bw_Bps });
    int32_t n_rows = stage_rows(rows, s, n, kind, chunks);
    for (int32_t r = 0; r < n_rows; r++) {
        double sum = 0;
        for (int32_t k = 0; k < n; k++)
            sum += rows[r].count[k] * (s[k].const_s + s[k].load_B / bw_Bps[s[k].dim]);
        longest = fmax(longest, sum);
    }
    return longest;
}

/* Balanced: RS 12 B at 4 B/s and 3 B at 1 B/s. C chunks take (1 + 1/C) of what endlessly many do. */
TEST(chunks_fill_and_drain_a_balanced_pipeline)
{
    static const double bw_Bps[] = { 4, 1 };
    struct topo_network net = two_dims();
    for (int32_t chunks = 1; chunks <= 1024; chunks *= 2) {
        double fill = 1 + 1.0 / chunks;
        assert_close(pipeline_time(COLLECTIVE_REDUCE_SCATTER, &net, 16, chunks, bw_Bps), 3 * fill, 1e-14);
        assert_close(pipeline_time(COLLECTIVE_ALL_REDUCE, &net, 16, chunks, bw_Bps), 6 * fill, 1e-14);
    }
}
