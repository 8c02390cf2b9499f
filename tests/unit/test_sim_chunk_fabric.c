/*
 * Simulation in chunks on fabrics: one chunk is the closed form with latency, many chunks come down to the
 * class of links that has most to carry, and on trees both are what flows on the real links take.
 */
#include "tests/unit/chunk_fixture.h"

#include "sim/fidelity.h"

static const char *const fabrics[] = {
    "fat-tree:8x4/2@100",
    "fat-tree:4x2x4/2/1.5@100",
    "fat-tree:4x4x2/1/2@100",
    "full:2@300 fat-tree:4x4/2@50",
    "fat-tree:4x4/4*4@50 switch:2*2@50",
    "switch:4@450 fat-tree:4x2/2+shared@50",
    "full:2@300 switch:2@90 fat-tree:4x4+shared@50",
    "switch:4@450 fat-tree:4x2/2+forward@50",
    "dragonfly:2x4x8^2@10",
    "dragonfly:4x3x6^4@10",
    "dragonfly+:2x2x5^2^2@10",
    "slim-fly:2x18@10",
    "torus:4x4x8@300",
    "torus:4x4x8+twist@300",
    "ring:2@90 torus:4x8@80",
    "hyperx:4x8@333.33333333333337",
    "hyperx:4x4^4@10",
    "hammingmesh:2x2x4x4@200",
};

/* A collective on part of a fabric, with latencies and the bandwidth of every class drawn. */
struct tried {
    struct topo_network net;
    double bw_Bps[D];
    struct sim_job job;
};

static void draw_tried(struct tried *t, struct rng *r, bool latency)
{
    static const enum collective_kind kinds[] = { COLLECTIVE_ALL_REDUCE, COLLECTIVE_REDUCE_SCATTER,
                                                  COLLECTIVE_ALL_GATHER, COLLECTIVE_ALL_TO_ALL,
                                                  COLLECTIVE_ALL_REDUCE, COLLECTIVE_SEND };
    static const enum topo_algorithm algorithms[] = { TOPO_ALGORITHM_SHAPE, TOPO_ALGORITHM_SHAPE,
                                                      TOPO_ALGORITHM_RING, TOPO_ALGORITHM_DIRECT,
                                                      TOPO_ALGORITHM_FIXED };
    int32_t n = 1;
    MUST(topo_parse_spec(&t->net, fabrics[rng_below(r, COUNT_OF(fabrics))], e));
    t->job =
        whole(&t->net, kinds[rng_below(r, COUNT_OF(kinds))], rng_log_range(r, 1e6, 1e9), SIM_ORDER_FIXED);
    enum topo_algorithm a = algorithms[rng_below(r, COUNT_OF(algorithms))];
    do {
        n = 1;
        for (int32_t d = 0; d < t->net.n_dims; d++) {
            struct topo_dim *dim = &t->net.dims[d];
            do
                t->job.members[d] = 1 + (int32_t)rng_below(r, dim->size);
            while (dim->size % t->job.members[d]);
            do
                t->job.stride[d] = 1 + (int32_t)rng_below(r, dim->size / t->job.members[d]);
            while (dim->size % (t->job.members[d] * t->job.stride[d]));
            n *= t->job.members[d];
        }
    } while (n < 2);
    for (int32_t d = 0; d < t->net.n_dims; d++) {
        struct topo_dim *dim = &t->net.dims[d];
        struct err none = { 0 };
        dim->lat_s = latency ? rng_log_range(r, 0.1e-6, 5e-6) : 0;
        t->bw_Bps[d] = dim->bw_Bps * rng_log_range(r, 0.3, 3);
        if (topo_is_fabric(dim - dim->level) && !topo_check_algorithm(dim - dim->level, a, &none))
            dim->algorithm = a;
    }
}

static double chunk_time(const struct tried *t, int32_t chunks, const double *bw_Bps, enum sim_queue queue)
{
    struct sim_rules rules = rules_of(chunks, queue);
    KEEP(struct chunk_sim *, x, chunk_free_at) = run_jobs(&t->net, bw_Bps, &rules, &t->job, 1);
    return chunk_result(x, 0)->end_s;
}

static int32_t stages_of(struct stage *stages, const struct tried *t)
{
    return stage_list(stages, t->job.kind, t->job.bytes, t->job.members, t->job.stride, t->job.share, NULL,
                      &(struct collective_way){ &t->net, &stage_rules_plain, t->bw_Bps });
}

/* Without latency nothing but bytes counts, however few: a billionth of them takes a billionth of the time.
 */
TEST(time_is_proportional_to_bytes)
{
    RNG(r, 18, 33);
    for (int i = 0; i < repeats(200); i++) {
        struct tried t;
        draw_tried(&t, r, false);
        double many_s = chunk_time(&t, 4, t.bw_Bps, SIM_QUEUE_FIFO);
        t.job.bytes *= 0x1p-40;
        assert_close(chunk_time(&t, 4, t.bw_Bps, SIM_QUEUE_FIFO), many_s * 0x1p-40, 1e-12);
    }
}

/* Parts of the least number above 0 are nothing, ask for no link, and end. */
TEST(what_is_too_little_to_be_cut_takes_no_time)
{
    RNG(r, 18, 34);
    for (int i = 0; i < 40; i++) {
        struct tried t;
        draw_tried(&t, r, false);
        t.job.bytes = ldexp(1, -1074 + i % 9); /* 1 to 256 times it, in 64 parts */
        assert_true(chunk_time(&t, 64, t.bw_Bps, SIM_QUEUE_FIFO) <= 1e-300);
    }
}

TEST(one_chunk_takes_its_stages_one_after_the_other)
{
    RNG(r, 18, 30);
    for (int i = 0; i < repeats(600); i++) {
        struct tried t;
        struct stage stages[STAGE_MAX];
        struct collective_time closed;
        double sum_s = 0;
        draw_tried(&t, r, i % 2);
        int32_t n = stages_of(stages, &t);
        for (int32_t k = 0; k < n; k++)
            sum_s += stages[k].const_s + stage_transfer_s(&stages[k], t.bw_Bps);
        const struct collective_way way = { &t.net, &stage_rules_plain, t.bw_Bps };
        collective_time(&closed, t.job.kind, t.job.bytes, t.job.members, t.job.stride, t.job.share, &way);
        double got_s = chunk_time(&t, 1, t.bw_Bps, SIM_QUEUE_FIFO);
        assert_close(got_s, sum_s, 1e-12);
        assert_close(got_s, closed.time_s, 1e-12);
    }
}

/* What the class with most to carry takes, without latency. */
static double bound_s(const struct tried *t, double *alone_s)
{
    struct stage stages[STAGE_MAX];
    double sent_B[D] = { 0 }, busy_s[D] = { 0 }, most_s = 0;
    int32_t n = stages_of(stages, t);
    *alone_s = 0;
    for (int32_t k = 0; k < n; k++) {
        stage_tally(&stages[k], 1, t->bw_Bps, sent_B, busy_s);
        *alone_s += stage_transfer_s(&stages[k], t->bw_Bps);
    }
    for (int32_t d = 0; d < t->net.n_dims; d++)
        most_s = fmax(most_s, busy_s[d]);
    return most_s;
}

/* Fair shares of other classes may keep a stage from filling the class that decides, as they do in flows: one
 * case in twenty stays above by more than a hundredth. */
TEST(many_chunks_come_down_to_the_class_that_has_most_to_carry)
{
    RNG(r, 18, 31);
    int n = 0, n_near = 0;
    for (int i = 0; i < repeats(1500); i++) {
        struct tried t;
        double alone_s;
        enum sim_queue queue = i % 2 ? SIM_QUEUE_FIFO : SIM_QUEUE_SMALLEST;
        draw_tried(&t, r, false);
        double most_s = bound_s(&t, &alone_s);
        for (int32_t chunks = 2; chunks <= 128; chunks *= 4) {
            double got_s = chunk_time(&t, chunks, t.bw_Bps, queue);
            assert_true(got_s >= most_s * (1 - 1e-9));
            assert_true(got_s <= alone_s * (1 + 1e-9));
            if (t.net.n_dims == 2 && t.net.dims[0].shape == TOPO_FAT_TREE) /* filled and drained once */
                assert_true(got_s <= most_s + alone_s / chunks * (1 + 1e-9));
        }
        if (alone_s > most_s * 1.01) {
            n++;
            n_near += chunk_time(&t, 256, t.bw_Bps, queue) <= most_s * 1.01;
        }
    }
    assert_in_range(n_near, n * 9 / 10, n);
}

/* With several chunks more bandwidth may lead to a worse order of service, as in any list of jobs. */
TEST(a_wider_class_never_takes_longer_in_one_chunk_nor_on_two_levels)
{
    RNG(r, 18, 32);
    for (int i = 0; i < repeats(600); i++) {
        struct tried t;
        double wide_Bps[D];
        draw_tried(&t, r, i % 2);
        int32_t d = (int32_t)rng_below(r, t.net.n_dims), chunks = 1 + (int32_t)rng_below(r, 16);
        memcpy(wide_Bps, t.bw_Bps, sizeof wide_Bps);
        wide_Bps[d] *= rng_log_range(r, 1, 4);
        bool tree = t.net.n_dims == 2 && t.net.dims[0].shape == TOPO_FAT_TREE;
        for (int32_t c = 1; c <= (tree ? chunks : 1); c++)
            assert_true(chunk_time(&t, c, wide_Bps, SIM_QUEUE_FIFO) <=
                        chunk_time(&t, c, t.bw_Bps, SIM_QUEUE_FIFO) * (1 + 1e-9));
    }
}

/* Every order of levels is a way to do it: none beats the bytes of the class that has least choice. */
TEST(chunks_may_take_the_levels_in_any_order)
{
    static const enum sim_order orders[] = { SIM_ORDER_THEMIS, SIM_ORDER_MINMAX };
    RNG(r, 18, 34);
    for (int i = 0; i < repeats(600); i++) {
        struct tried t;
        double alone_s, most_s, busy_s = 0;
        draw_tried(&t, r, i % 2);
        t.job.order = orders[i / 2 % 2];
        int32_t chunks = 1 + (int32_t)rng_below(r, 40);
        struct sim_rules rules = rules_of(chunks, SIM_QUEUE_SMALLEST);
        KEEP(struct chunk_sim *, x, chunk_free_at) = run_jobs(&t.net, t.bw_Bps, &rules, &t.job, 1);
        const struct sim_job_result *got = chunk_result(x, 0);
        for (int32_t d = 0; d < t.net.n_dims; d++)
            busy_s = fmax(busy_s, got->busy_s[d]);
        assert_true(got->end_s >= busy_s * (1 - 1e-9));
        most_s = bound_s(&t, &alone_s);
        if (t.job.kind > COLLECTIVE_ALL_GATHER) /* one way */
            assert_close(busy_s, most_s, 1e-9);
    }
}

/* ---- beside flows ---- */

KEEPS(struct fidelity, fidelity_free)

static double flow_time(const struct tried *t, int32_t chunks)
{
    KEEP(struct fidelity *, x, fidelity_free_at);
    struct fidelity_time flow;
    struct sim_rules rules = rules_of(chunks, SIM_QUEUE_FIFO);
    rules.order = SIM_ORDER_FIXED;
    MUST(fidelity_open(&x, &(struct sim_way){ &t->net, t->bw_Bps, SIM_FLOW, &rules }, 0, e));
    MUST(fidelity_alone(x, &t->job, &flow, e));
    return flow.time_s;
}

TEST(chunks_take_what_flows_on_the_links_take)
{
    static const char *const words[] = { "fat-tree:8x4/2@100",
                                         "fat-tree:4x2x4/2/1.5@100",
                                         "full:2@300 fat-tree:4x4/2@50",
                                         "switch:4@450 fat-tree:4x2/2+forward@50",
                                         "hyperx:4x8@333.33333333333337",
                                         "hyperx:4x4^4@10" };
    RNG(r, 18, 33);
    for (int i = 0; i < repeats(200); i++) {
        struct tried t;
        OK(topo_parse_spec(&t.net, words[rng_below(r, COUNT_OF(words))], e));
        t.job =
            whole(&t.net, (enum collective_kind)rng_below(r, COLLECTIVE_ALL_TO_ALL), 1e9, SIM_ORDER_FIXED);
        for (int32_t d = 0; d < t.net.n_dims; d++)
            t.bw_Bps[d] = t.net.dims[d].bw_Bps * rng_log_range(r, 0.3, 3);
        int32_t chunks = 1 + (int32_t)rng_below(r, 12);
        assert_close(chunk_time(&t, chunks, t.bw_Bps, SIM_QUEUE_FIFO), flow_time(&t, chunks), 1e-6);
    }
}

/* 1,024 NPUs, leaves of 32, taper 2, S/B = 20 ms: 31/32 of it inside and 31/512 above; half of all pairs
 * cross a leaf's links 31/32 of the time. */
TEST(the_taper_of_a_tree_takes_its_time)
{
    CASES(enum collective_kind kind; int32_t inside; int32_t chunks; double want_ms) = {
        { COLLECTIVE_REDUCE_SCATTER, 32, 1, 20. * 31 / 32 + 40. * 31 / 1024 },
        { COLLECTIVE_REDUCE_SCATTER, 32, 1 << 16, 20. * 1023 / 1024 },
        { COLLECTIVE_REDUCE_SCATTER, 1, 8, 38.75 },
        { COLLECTIVE_ALL_TO_ALL, 32, 8, 38.75 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct tried t;
        OK(topo_parse_spec(&t.net, "fat-tree:32x32/2@50", e));
        t.job = whole(&t.net, cases[i].kind, 1e9, SIM_ORDER_FIXED);
        t.job.members[0] = cases[i].inside;
        for (int32_t d = 0; d < 2; d++)
            t.bw_Bps[d] = t.net.dims[d].bw_Bps;
        assert_close(chunk_time(&t, cases[i].chunks, t.bw_Bps, SIM_QUEUE_FIFO), cases[i].want_ms / 1e3, 1e-5);
    }
}

/* ---- several at once, and slow ones ---- */

/* Leaves of 4, 100 GB/s to each NPU and 50 up. */
static struct topo_network small_tree(double bw_Bps[2])
{
    struct topo_network net;
    MUST(topo_parse_spec(&net, "fat-tree:4x4/2@100", e));
    bw_Bps[0] = 100e9;
    bw_Bps[1] = 50e9;
    return net;
}

/* Of 16 GB a reduce-scatter between leaves puts 12 on both classes, an all-to-all 15 inside and 12 above,
 * where they meet: f + 12/15 f = 50 GB/s until the first has sent its 12, and 24 GB at 50 GB/s in all. */
TEST(stages_of_two_levels_share_the_links_that_both_load)
{
    double bw_Bps[2];
    struct topo_network net = small_tree(bw_Bps);
    struct sim_rules rules = rules_of(1, SIM_QUEUE_FIFO);
    struct sim_job jobs[] = { whole(&net, COLLECTIVE_REDUCE_SCATTER, 16e9, SIM_ORDER_FIXED),
                              whole(&net, COLLECTIVE_ALL_TO_ALL, 16e9, SIM_ORDER_FIXED) };
    jobs[0].members[0] = 1;
    KEEP(struct chunk_sim *, x, chunk_free_at) = run_jobs(&net, bw_Bps, &rules, jobs, 2);
    assert_close(chunk_result(x, 0)->end_s, 12 * 1.8 / 50, 1e-12);
    assert_close(chunk_result(x, 1)->end_s, 24. / 50, 1e-12);
    assert_close(chunk_result(x, 1)->busy_s[0], 0.15, 1e-12);
    assert_close(chunk_result(x, 1)->busy_s[1], 0.24, 1e-12);
}

/* Its own links are slow, not those above its leaf: 12 GB inside and then 3 on both classes, or by a ring
 * over all 15 inside and 3.75 above at once. Late by a second it delays its leaf, and all others with it. */
TEST(a_slow_npu_holds_up_its_team_on_every_level)
{
    CASES(double share, late_s; enum topo_algorithm a; double want_s) = {
        { 0.25, 0, TOPO_ALGORITHM_SHAPE, 12. / 25 + 3. / 25 },
        { 0.6, 0, TOPO_ALGORITHM_SHAPE, 12. / 60 + 3. / 50 },
        { 1, 1, TOPO_ALGORITHM_SHAPE, 1 + 12. / 100 + 3. / 50 },
        { 0.25, 0, TOPO_ALGORITHM_RING, 15. / 25 },
        { 1, 1, TOPO_ALGORITHM_RING, 1 + 15. / 100 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (unsigned split_dims = 0; split_dims < 4; split_dims++) {
            double bw_Bps[2];
            struct topo_network net = small_tree(bw_Bps);
            struct sim_job job = whole(&net, COLLECTIVE_REDUCE_SCATTER, 16e9, SIM_ORDER_FIXED);
            struct sim_rules rules = rules_of(1, SIM_QUEUE_FIFO);
            KEEP(struct chunk_sim *, x, chunk_free_at);
            net.dims[0].algorithm = cases[i].a;
            rules.n_slow = 1;
            rules.slow[0] = (struct sim_slow){
                .at = { 1, 2 }, .dim = -1, .share = cases[i].share, .late_s = cases[i].late_s
            };
            OK(chunk_open(&x, &(struct sim_way){ &net, bw_Bps, SIM_CHUNK, &rules }, split_dims, 0, e));
            OK(chunk_issue(x, &job, 0, e));
            run_out(x);
            assert_close(chunk_result(x, 0)->end_s, cases[i].want_s, 1e-12);
        }
}
