/* The compiled step: the same T(B) as the tree, merged, differentiated, joined, in batches. */
#include "tests/unit/split_random.h"

#include "tests/unit/step_oracle.h"
#include "workloads/step_fn.h"

enum { D = TOPO_MAX_DIMS };

static void random_bandwidths(double *bw_Bps, int32_t n_dims, struct rng *r)
{
    for (int32_t d = 0; d < n_dims; d++)
        bw_Bps[d] = rng_log_range(r, 1e8, 1e13);
}

TEST(the_compiled_step_takes_as_long_as_its_tree)
{
    RNG(r, 71, 0);
    for (int i = 0; i < 2000; i++) {
        double bw_Bps[D];
        RANDOM_SPLIT(s, r, .n_collectives = 24, .compute = true, .overlap = i % 2);
        for (int k = 0; k < 10; k++) {
            random_bandwidths(bw_Bps, s.net.n_dims, r);
            assert_close(step_time(&s.fn, bw_Bps), oracle_time(&s.tree, s.tree.root, bw_Bps), 1e-14);
        }
    }
}

TEST(its_layout_is_the_one_the_header_promises)
{
    RNG(r, 72, 0);
    for (int i = 0; i < 300; i++) {
        RANDOM_SPLIT(s, r, .n_collectives = 24, .compute = true, .overlap = true);
        const struct step_fn *f = &s.fn;
        assert_int_equal(f->leaf_begin[0], 0);
        assert_int_equal(f->leaf_begin[f->n_terms], f->n_leaves);
        assert_int_equal(f->max_begin[f->n_terms], f->n_maxima);
        assert_int_equal(f->term_begin[f->n_maxima], f->n_terms);
        for (int32_t k = 0; k < f->n_terms; k++)
            for (int32_t j = f->max_begin[k]; j < f->max_begin[k + 1]; j++) {
                assert_true(f->term_begin[j] > k);                         /* children after parents */
                assert_true(f->term_begin[j + 1] - f->term_begin[j] >= 2); /* a maximum of one is that one */
            }
        assert_int_equal(f->n_nodes, s.tree.n_nodes);
        for (int32_t node = 0; node < f->n_nodes; node++) {
            assert_in_range(f->leaf_of[node] + 1, 0, f->n_leaves);
            assert_true(s.tree.nodes[node].kind == STEP_COLLECTIVE || s.tree.nodes[node].kind == STEP_MAX ||
                        f->leaf_of[node] == -1);
        }
    }
}

TEST(the_gradient_is_the_slope)
{
    RNG(r, 73, 0);
    for (int i = 0; i < 500; i++) {
        double bw_Bps[D], grad[D];
        RANDOM_SPLIT(s, r, .n_collectives = 24, .compute = true, .overlap = i % 2);
        random_bandwidths(bw_Bps, s.net.n_dims, r);
        double t = step_time_grad(&s.fn, bw_Bps, grad);
        assert_close(t, step_time(&s.fn, bw_Bps), 1e-15);
        for (int32_t d = 0; d < s.net.n_dims; d++) {
            double at = bw_Bps[d], step = 1e-6 * at;
            bw_Bps[d] = at + step;
            double above = step_time(&s.fn, bw_Bps);
            bw_Bps[d] = at - step;
            double below = step_time(&s.fn, bw_Bps);
            bw_Bps[d] = at;
            assert_true(grad[d] <= 0);
            /* Central difference: exact to the third derivative and rounding; a kink within 1e-6 has measure
             * nothing. */
            assert_near((above - below) / (2 * step), grad[d], 1e-5 * fabs(grad[d]) + 1e-9 * t / at);
        }
    }
}

/* T is convex: any tangent lies below it everywhere. */
TEST(tangents_lie_below)
{
    RNG(r, 74, 0);
    for (int i = 0; i < 500; i++) {
        double here[D], there[D], grad[D];
        RANDOM_SPLIT(s, r, .n_collectives = 24, .compute = true, .overlap = true);
        random_bandwidths(here, s.net.n_dims, r);
        double tangent = step_time_grad(&s.fn, here, grad);
        random_bandwidths(there, s.net.n_dims, r);
        for (int32_t d = 0; d < s.net.n_dims; d++)
            tangent += grad[d] * (there[d] - here[d]);
        assert_true(tangent <= step_time(&s.fn, there) * (1 + 1e-12) + 1e-12 * fabs(tangent));
    }
}

TEST(a_batch_is_bit_for_bit_its_points)
{
    enum { N = 37 }; /* whole vectors and a rest */
    RNG(r, 75, 0);
    for (int i = 0; i < 300; i++) {
        double columns[D][N], out_s[N];
        const double *bw_Bps[D];
        RANDOM_SPLIT(s, r, .n_dims = 1 + i % D, .n_collectives = 24, .compute = true, .overlap = i % 2);
        for (int32_t d = 0; d < s.net.n_dims; d++) {
            bw_Bps[d] = columns[d];
            for (int k = 0; k < N; k++)
                columns[d][k] = k == 5 ? 0 : rng_log_range(r, 1e8, 1e13);
        }
        int n = i % (N + 1);
        step_time_batch(&s.fn, bw_Bps, n, out_s);
        for (int k = 0; k < n; k++) {
            double point[D], t;
            for (int32_t d = 0; d < s.net.n_dims; d++)
                point[d] = columns[d][k];
            t = step_time(&s.fn, point);
            assert_memory_equal(&out_s[k], &t, sizeof t);
        }
    }
}

/* GPT-3's step as ASTRA-sim has it: 11 collectives, but two communicators, so two directions of traffic. */
TEST(collectives_of_one_group_are_one_leaf)
{
    static const int32_t sizes[] = { 4, 8, 4, 32 }, tensor[] = { 4, 4, 1, 1 }, data[] = { 1, 2, 4, 32 };
    struct topo_network net = oracle_network(sizes, 4);
    KEEP(struct step_tree, t, step_free) = { .root = -1 };
    KEEP(struct step_fn, f, step_fn_free);
    step_begin(&t, "GPT-3", &net);
    int32_t tp = step_add_group(&t, "tp", tensor), dp = step_add_group(&t, "dp", data);
    step_id root = step_add(&t, -1, (struct step_node){ .kind = STEP_SUM });
    step_add(&t, root, (struct step_node){ .kind = STEP_COMPUTE, .seconds = 0.684448242 });
    const struct {
        enum collective_kind kind;
        double bytes, times;
        int32_t group;
    } collectives[] = {
        { COLLECTIVE_ALL_REDUCE, 805306368, 4, tp }, { COLLECTIVE_ALL_REDUCE, 805306368, 4, tp },
        { COLLECTIVE_ALL_GATHER, 50331648, 2, tp },  { COLLECTIVE_REDUCE_SCATTER, 452984832, 1, dp },
        { COLLECTIVE_ALL_REDUCE, 452984832, 1, dp },
    };
    for (size_t i = 0; i < COUNT_OF(collectives); i++)
        step_add(&t, root,
                 (struct step_node){ .kind = STEP_COLLECTIVE,
                                     .collective = collectives[i].kind,
                                     .bytes = collectives[i].bytes,
                                     .times = collectives[i].times,
                                     .group = collectives[i].group });
    OK(step_compile(&f, &t, &net, e));
    assert_true(f.n_leaves == 2 && f.n_terms == 1);
    for (int32_t d = 0; d < 4; d++)
        assert_close(f.traffic_B[0 * D + d] + f.traffic_B[1 * D + d],
                     oracle_traffic(&t, root, N_STEP_PHASES, d), 1e-14);
    assert_int_equal(f.leaf_of[2], f.leaf_of[4]);
    assert_int_equal(f.leaf_of[5], f.leaf_of[6]);
    assert_int_not_equal(f.leaf_of[2], f.leaf_of[5]);
}

/* max over { what, each time a little more } of one collective and compute, on links of their own. */
static void compile_max(struct step_fn *f, const double (*cases)[2], int n)
{
    static const int32_t sizes[] = { 4, 8 };
    struct topo_network net = oracle_network(sizes, 2);
    KEEP(struct step_tree, t, step_free) = { .root = -1 };
    step_begin(&t, "max", &net);
    step_id max = step_add(&t, -1, (struct step_node){ .kind = STEP_MAX, .apart = true });
    for (int i = 0; i < n; i++) {
        step_id sum = step_add(&t, max, (struct step_node){ .kind = STEP_SUM });
        step_add(&t, sum, (struct step_node){ .kind = STEP_COMPUTE, .seconds = cases[i][0] });
        step_add(&t, sum, (struct step_node){ .kind = STEP_COLLECTIVE, .bytes = cases[i][1], .times = 1 });
    }
    MUST(step_compile(f, &t, &net, e));
}

TEST(terms_that_never_win_are_dropped)
{
    static const double below[][2] = { { 1, 1e9 }, { 0.5, 1e9 }, { 1, 0.5e9 } };
    static const double apart[][2] = { { 1, 1e9 }, { 0.5, 2e9 }, { 0.4, 1.5e9 } };
    static const double twins[][2] = { { 1, 1e9 }, { 1, 1e9 } };
    KEEP(struct step_fn, f, step_fn_free);
    compile_max(&f, below, 3);
    assert_true(f.n_maxima == 0 && f.n_terms == 1 && f.n_leaves == 1);
    assert_close(f.const_s[0], 1, 1e-15);
    step_fn_free(&f);
    compile_max(&f, apart, 3);
    assert_int_equal(f.n_maxima, 1);
    assert_int_equal(f.n_terms, 3); /* the root and two of three */
    step_fn_free(&f);
    compile_max(&f, twins, 2);
    assert_int_equal(f.n_terms, 1); /* one of two that are the same stays */
    assert_int_equal(f.n_leaves, 1);
}

/* 1 s and then 6 s of bytes, beside 2 s and 3 s: both send over the first dimension, 6 s and 3 s, the second
 * is one's own. All of the first is 9 s. */
TEST(what_runs_side_by_side_shares_its_links)
{
    static const int32_t sizes[] = { 4, 2 }, inner[] = { 4, 1 }, outer[] = { 2, 2 };
    struct topo_network net = oracle_network(sizes, 2);
    for (int apart = 0; apart < 2; apart++) {
        double bw_Bps[] = { 1e9, 1e9 };
        STEP_BEGIN(t, "two", &net);
        KEEP(struct step_fn, f, step_fn_free);
        step_id max = step_add(&t, -1, (struct step_node){ .kind = STEP_MAX, .apart = apart });
        for (int i = 0; i < 2; i++) {
            step_id sum = step_add(&t, max, (struct step_node){ .kind = STEP_SUM });
            step_id again = step_add(&t, sum, (struct step_node){ .kind = STEP_REPEAT, .times = 3 - i });
            step_add(&t, sum, (struct step_node){ .kind = STEP_COMPUTE, .seconds = 1 + i });
            step_add(&t, again,
                     (struct step_node){ .kind = STEP_COLLECTIVE,
                                         .collective = COLLECTIVE_ALL_TO_ALL,
                                         .bytes = i ? 3e9 : 8e9 / 3,
                                         .group = step_add_group(&t, "g", i ? outer : inner),
                                         .times = 1 });
        }
        OK(step_compile(&f, &t, &net, e));
        assert_close(step_time(&f, bw_Bps), apart ? 7 : 9, 1e-15);
        assert_close(oracle_time(&t, t.root, bw_Bps), apart ? 7 : 9, 1e-15);
        bw_Bps[0] = 1e12; /* what is left is compute and the second dimension, 3 s */
        assert_close(step_time(&f, bw_Bps), 5, 1e-2);
        bw_Bps[0] = 1e9, bw_Bps[1] = 0.25e9;
        assert_close(step_time(&f, bw_Bps), 14, 1e-15); /* 2 s and 12 s, more than what is shared */
    }
}

/* No class of links is busy for longer than the step, and sharing never takes longer than taking turns. */
TEST(a_step_is_never_shorter_than_its_links_are_busy)
{
    int64_t n_shared = 0;
    RNG(r, 79, 0);
    for (int i = 0; i < 2000; i++) {
        double bw_Bps[D], most_s = 0;
        RANDOM_SPLIT(s, r, .n_collectives = 24, .compute = true, .overlap = true);
        random_bandwidths(bw_Bps, s.net.n_dims, r);
        double time_s = step_time(&s.fn, bw_Bps);
        for (int32_t d = 0; d < s.net.n_dims; d++)
            most_s = fmax(most_s, oracle_busy(&s.tree, s.tree.root, bw_Bps, d));
        for (step_id id = 0; id < s.tree.n_nodes; id++)
            s.tree.nodes[id].apart = s.tree.nodes[id].kind == STEP_MAX;
        double apart_s = oracle_time(&s.tree, s.tree.root, bw_Bps);
        for (step_id id = 0; id < s.tree.n_nodes; id++)
            if (s.tree.nodes[id].kind == STEP_MAX)
                s.tree.nodes[id].kind = STEP_SUM;
        double turns_s = oracle_time(&s.tree, s.tree.root, bw_Bps);
        assert_true(time_s >= most_s * (1 - 1e-13) && time_s >= apart_s * (1 - 1e-13));
        assert_true(time_s <= turns_s * (1 + 1e-13));
        n_shared += most_s > apart_s * (1 + 1e-9);
    }
    assert_true(n_shared > 100); /* steps that would be shorter than their links are busy */
}

TEST(a_dimension_without_traffic_may_have_no_bandwidth)
{
    static const double m[2][D] = { { 2, 0, 0, 3 }, { 4 } };
    PLAIN_SPLIT(s, 4, m, 2, 0.5);
    const double bw_Bps[D] = { 1e9, 0, 0, 1e9 }, starved[D] = { 1e9, 1e9, 1e9, 0 };
    double grad[D];
    assert_close(step_time(&s.fn, bw_Bps), 0.5 + 3 + 4, 1e-15);
    assert_close(step_time_grad(&s.fn, bw_Bps, grad), 7.5, 1e-15);
    assert_true(grad[1] == 0 && grad[2] == 0 && isinf(step_time(&s.fn, starved)));
}

TEST(efficiency_divides_the_bandwidth)
{
    RNG(r, 77, 0);
    for (int i = 0; i < 100; i++) {
        KEEP(struct step_fn, slow, step_fn_free);
        double bw_Bps[D], less[D];
        RANDOM_SPLIT(s, r, .n_collectives = 24, .compute = true, .overlap = true);
        random_bandwidths(bw_Bps, s.net.n_dims, r);
        for (int32_t d = 0; d < s.net.n_dims; d++) {
            s.net.dims[d].efficiency = rng_range(r, 0.1, 1);
            less[d] = bw_Bps[d] * s.net.dims[d].efficiency;
        }
        OK(step_compile(&slow, &s.tree, &s.net, e));
        assert_close(step_time(&slow, bw_Bps), step_time(&s.fn, less), 1e-13);
    }
}

TEST(joining_adds_or_takes_the_largest)
{
    RNG(r, 78, 0);
    for (int i = 0; i < 400; i++) {
        enum { N = 3 };
        struct random_split s[N];
        const struct step_fn *fns[N];
        double scale[N], bw_Bps[D], sum = 0, most = 0, no_end[D];
        struct random_kind kind = { .n_dims = 4, .n_collectives = 24, .overlap = true };
        KEEP(struct step_fn, joined, step_fn_free);
        const struct step_join how = { .take_max = i % 2, .drop_const = i % 4 > 1 };
        kind.compute = !how.drop_const; /* the oracle for what is left without compute */
        random_bandwidths(bw_Bps, 4, r);
        for (int k = 0; k < N; k++) {
            random_split_open(&s[k], r, kind);
            fns[k] = &s[k].fn;
            scale[k] = rng_log_range(r, 0.1, 10);
            double t = scale[k] * oracle_time(&s[k].tree, s[k].tree.root, bw_Bps);
            sum += t;
            most = fmax(most, t);
        }
        if (how.drop_const) /* compute that must not count */
            for (int k = 0; k < N; k++)
                s[k].fn.const_s[0] += 1;
        OK(step_fn_join(&joined, fns, scale, N, how, e));
        assert_close(step_time(&joined, bw_Bps), how.take_max ? most : sum, 1e-13);
        for (int32_t d = 0; d < D; d++)
            no_end[d] = INFINITY;
        assert_true(!how.drop_const || step_time(&joined, no_end) == 0);

        int32_t at = 0;
        for (int k = 0; k < N; k++)
            for (int32_t node = 0; node < s[k].fn.n_nodes; node++, at++) {
                int32_t from = s[k].fn.leaf_of[node], to = joined.leaf_of[at];
                assert_int_equal(from < 0, to < 0);
                for (int32_t d = 0; from >= 0 && d < 4; d++)
                    assert_close(joined.traffic_B[to * D + d], scale[k] * s[k].fn.traffic_B[from * D + d],
                                 1e-15);
            }
        assert_int_equal(at, joined.n_nodes);
        for (int k = 0; k < N; k++)
            random_split_close(&s[k]);
    }
}
