#include "alloc/lp.h"
#include "sim/fidelity.h"
#include "tests/unit/chunk_fixture.h"

/* Dimensions in which a chunk is served, the first @p n of them, in the order of its slices; from 1. */
static void append_dims(char *got, size_t room, const struct chunk_sim *x, int32_t job, int32_t chunk,
                        int32_t n)
{
    int64_t n_slices;
    const struct chunk_slice *slices = chunk_slices(x, &n_slices);
    for (int64_t i = 0; i < n_slices && n > 0; i++)
        if (slices[i].job == job && slices[i].chunk == chunk) {
            snprintf(got + strlen(got), room - strlen(got), "%d", slices[i].stage.dim + 1);
            n--;
        }
}

/* "12,21": orders of the chunks as executed, dimensions from 1. */
static void check_orders(const struct net *n, enum collective_kind kind, double bytes, int32_t chunks,
                         enum sim_order order, const char *want)
{
    struct topo_network net = build(n);
    struct sim_rules rules = rules_of(chunks, SIM_QUEUE_FIFO);
    struct sim_job job = whole(&net, kind, bytes, order);
    KEEP(struct chunk_sim *, x, chunk_free_at) = run_jobs(&net, n->bw_Bps, &rules, &job, 1);
    char got[256] = "";
    for (int32_t c = 0; c < chunks; c++) {
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s", c ? "," : "");
        append_dims(got, sizeof got, x, 0, c, n->n_dims);
    }
    assert_string_equal(got, want);
}

static const struct net v1 = { 2, { 4, 4 }, { 2, 1 }, { 0 } }, v1_late = { 2, { 4, 4 }, { 2, 1 }, { 1, 2 } },
                        v2 = { 3, { 2, 8, 4 }, { 1, 2, 4 }, { 0 } }, v3 = { 2, { 8, 4 }, { 8, 1 }, { 0 } },
                        v4 = { 3, { 4, 2, 4 }, { 8, 4, 2 }, { 0 } };

/* Loads of equal dimensions are sums in another order: a byte more must not choose another order. */
TEST(themis_is_not_decided_by_rounding)
{
    const struct net equal = { 3, { 16, 8, 4 }, { 10e9, 10e9, 10e9 }, { 0 } };
    for (int32_t chunks = 4; chunks <= 64; chunks *= 2) {
        double whole_s =
            time_of(&equal, COLLECTIVE_ALL_REDUCE, 1073741824, chunks, SIM_ORDER_THEMIS, SIM_QUEUE_SMALLEST);
        double more_s =
            time_of(&equal, COLLECTIVE_ALL_REDUCE, 1073741825, chunks, SIM_ORDER_THEMIS, SIM_QUEUE_SMALLEST);
        assert_true(fabs(more_s / whole_s - 1) <= 1e-8);
    }
}

/* Exact rationals computed apart from this program for Themis' published scheduler (ISCA 2022). */
TEST(themis_and_minmax_give_the_known_times)
{
    CASES(const struct net *net; enum collective_kind kind; double bytes; int32_t chunks;
          double fixed, themis_fifo, themis_smallest, minmax_fifo, minmax_smallest /* 0: not given */) = {
        { &v1, COLLECTIVE_ALL_REDUCE, 256, 4, 192, 192, 168, 192, 168 },
        { &v1, COLLECTIVE_REDUCE_SCATTER, 256, 4, 108, 84, 90, 0, 0 },
        { &v1, COLLECTIVE_ALL_GATHER, 16, 4, 108, 84, 84, 0, 0 },
        { &v1, COLLECTIVE_ALL_REDUCE, 256, 64, 192, 160.5, 160.5, 0, 0 },
        { &v1_late, COLLECTIVE_ALL_REDUCE, 256, 4, 216, 243, 216, 0, 0 },
        { &v2, COLLECTIVE_ALL_REDUCE, 512, 8, 512, 194, 194, 194, 194 },
        { &v3, COLLECTIVE_ALL_REDUCE, 256, 4, 63, 141, 132, 63, 63 },
        { &v4, COLLECTIVE_ALL_REDUCE, 512, 8, 96, 121, 101.5, 123, 84 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct {
            double want;
            enum sim_order order;
            enum sim_queue queue;
        } runs[] = {
            { cases[i].fixed, SIM_ORDER_FIXED, SIM_QUEUE_FIFO },
            { cases[i].fixed, SIM_ORDER_FIXED, SIM_QUEUE_SMALLEST },
            { cases[i].themis_fifo, SIM_ORDER_THEMIS, SIM_QUEUE_FIFO },
            { cases[i].themis_smallest, SIM_ORDER_THEMIS, SIM_QUEUE_SMALLEST },
            { cases[i].minmax_fifo, SIM_ORDER_MINMAX, SIM_QUEUE_FIFO },
            { cases[i].minmax_smallest, SIM_ORDER_MINMAX, SIM_QUEUE_SMALLEST },
        };
        for (size_t k = 0; k < COUNT_OF(runs); k++)
            if (runs[k].want > 0) {
                double got = time_of(cases[i].net, cases[i].kind, cases[i].bytes, cases[i].chunks,
                                     runs[k].order, runs[k].queue);
                if (!(fabs(got - runs[k].want) <= 1e-12 * runs[k].want))
                    fail_msg("case %zu, run %zu: %.17g, want %g", i, k, got, runs[k].want);
            }
    }
}

TEST(chunks_take_the_known_orders)
{
    check_orders(&v1, COLLECTIVE_ALL_REDUCE, 256, 4, SIM_ORDER_THEMIS, "12,21,12,12");
    check_orders(&v1, COLLECTIVE_ALL_GATHER, 16, 4, SIM_ORDER_THEMIS, "21,12,21,21");
    check_orders(&v2, COLLECTIVE_ALL_REDUCE, 512, 8, SIM_ORDER_THEMIS, "123,321,321,321,123,321,321,321");
    check_orders(&v3, COLLECTIVE_ALL_REDUCE, 256, 4, SIM_ORDER_THEMIS, "12,12,12,21");
    check_orders(&v4, COLLECTIVE_ALL_REDUCE, 512, 8, SIM_ORDER_THEMIS, "123,231,123,213,123,123,231,123");
    check_orders(&v1, COLLECTIVE_ALL_REDUCE, 256, 4, SIM_ORDER_MINMAX, "12,12,12,21");
    check_orders(&v2, COLLECTIVE_ALL_REDUCE, 512, 8, SIM_ORDER_MINMAX, "321,321,123,321,321,321,123,321");
    check_orders(&v3, COLLECTIVE_ALL_REDUCE, 256, 4, SIM_ORDER_MINMAX, "12,12,12,12");
    check_orders(&v4, COLLECTIVE_ALL_REDUCE, 512, 8, SIM_ORDER_MINMAX, "123,213,123,213,123,123,231,123");
}

/* ---- limits ---- */

/* Two rings, bytes and latency such that both take 6 s for an all-reduce of 16: 24 B at 4 B/s, 6 B at 1 B/s.
 */
static const struct net balanced = { 2, { 4, 4 }, { 4, 1 }, { 0 } };

TEST(chunks_lie_between_the_sum_and_the_largest)
{
    assert_close(time_of(&balanced, COLLECTIVE_ALL_REDUCE, 16, 1, SIM_ORDER_FIXED, SIM_QUEUE_FIFO), 12,
                 1e-15);
    for (int32_t chunks = 2; chunks <= 256; chunks *= 2) {
        double fill = 1 + 1.0 / chunks;
        assert_close(time_of(&balanced, COLLECTIVE_ALL_REDUCE, 16, chunks, SIM_ORDER_FIXED, SIM_QUEUE_FIFO),
                     6 * fill, 1e-13);
        assert_close(
            time_of(&balanced, COLLECTIVE_REDUCE_SCATTER, 16, chunks, SIM_ORDER_FIXED, SIM_QUEUE_FIFO),
            3 * fill, 1e-13);
    }
    assert_close(time_of(&balanced, COLLECTIVE_ALL_REDUCE, 16, 1 << 18, SIM_ORDER_FIXED, SIM_QUEUE_FIFO),
                 6 * (1 + 0x1p-18), 1e-9);
}

/* The closed form is exact for a reduce-scatter and an all-gather, and never above an all-reduce. */
TEST(the_closed_form_is_a_lower_bound_of_the_fixed_order)
{
    RNG(r, 81, 0);
    for (int i = 0; i < repeats(300); i++) {
        struct draw c = draw_case(r, i % 2);
        struct topo_network net = build(&c.net);
        struct stage stages[STAGE_MAX];
        struct stage_row rows[D];
        int32_t members[D] = { 0 };
        double longest_s = 0;
        for (int32_t d = 0; d < net.n_dims; d++)
            members[d] = net.dims[d].size;
        int32_t n = stage_list(stages, c.kind, c.bytes / c.chunks, members, NULL, NULL, NULL,
                               &(struct collective_way){ &net, &stage_rules_plain, NULL });
        int32_t n_rows = stage_rows(rows, stages, n, c.kind, c.chunks);
        for (int32_t k = 0; k < n_rows; k++) {
            double sum_s = 0;
            for (int32_t s = 0; s < n; s++)
                sum_s +=
                    rows[k].count[s] * (stages[s].const_s + stages[s].load_B / c.net.bw_Bps[stages[s].dim]);
            longest_s = fmax(longest_s, sum_s);
        }
        double got_s = time_of(&c.net, c.kind, c.bytes, c.chunks, SIM_ORDER_FIXED, SIM_QUEUE_FIFO);
        if (c.kind == COLLECTIVE_ALL_REDUCE)
            assert_true(got_s >= longest_s * (1 - 1e-12) && got_s <= 1.5 * longest_s);
        else
            assert_close(got_s, longest_s, 1e-11);
    }
}

/* Whatever the order, N NPUs send S (N-1)/N out and as much back over all links together. */
TEST(no_order_beats_all_bytes_over_all_bandwidth)
{
    RNG(r, 82, 0);
    for (int i = 0; i < repeats(200); i++) {
        struct draw c = draw_case(r, false);
        double n_npus = 1, sum_Bps = 0;
        for (int32_t k = 0; k < c.net.n_dims; k++) {
            n_npus *= c.net.size[k];
            sum_Bps += c.net.bw_Bps[k];
        }
        double least_s = c.kind == COLLECTIVE_ALL_GATHER ? c.bytes * (n_npus - 1) / sum_Bps
                                                         : c.bytes * (n_npus - 1) / n_npus / sum_Bps;
        least_s *= c.kind == COLLECTIVE_ALL_REDUCE ? 2 : 1;
        for (int order = SIM_ORDER_FIXED; order < SIM_ORDER_GUARD; order++)
            if (order != SIM_ORDER_GIVEN)
                assert_true(time_of(&c.net, c.kind, c.bytes, c.chunks, (enum sim_order)order,
                                    SIM_QUEUE_SMALLEST) >= least_s * (1 - 1e-12));
    }
}

/* Of more dimensions than all orders are tried of: each chunk crosses each once, and all bytes all bandwidth.
 */
TEST(a_chunk_crosses_each_of_many_dimensions_once)
{
    RNG(r, 84, 0);
    for (int i = 0; i < repeats(20); i++) {
        struct net n = { .n_dims = 5 + (int)rng_below(r, D - 4) };
        double n_npus = 1, sum_Bps = 0;
        for (int32_t d = 0; d < n.n_dims; d++) {
            n.size[d] = 2;
            n.bw_Bps[d] = rng_range(r, 1, 9);
            n_npus *= 2;
            sum_Bps += n.bw_Bps[d];
        }
        for (int order = SIM_ORDER_FIXED; order < SIM_ORDER_GUARD; order++) {
            if (order == SIM_ORDER_GIVEN)
                continue;
            struct topo_network net = build(&n);
            struct sim_rules rules = rules_of(4, SIM_QUEUE_FIFO);
            struct sim_job job = whole(&net, COLLECTIVE_REDUCE_SCATTER, 1e3, (enum sim_order)order);
            KEEP(struct chunk_sim *, x, chunk_free_at) = run_jobs(&net, n.bw_Bps, &rules, &job, 1);
            int32_t crossed[4][D] = { { 0 } };
            int64_t n_slices;
            double end_s = 0;
            const struct chunk_slice *slices = chunk_slices(x, &n_slices);
            for (int64_t k = 0; k < n_slices; k++) {
                crossed[slices[k].chunk][slices[k].stage.dim]++;
                end_s = fmax(end_s, slices[k].end_s);
            }
            for (int32_t c = 0; c < 4; c++)
                for (int32_t d = 0; d < n.n_dims; d++)
                    assert_int_equal(crossed[c][d], 1);
            assert_true(end_s >= 1e3 * (n_npus - 1) / n_npus / sum_Bps * (1 - 1e-12));
        }
    }
}

/* Load of each dimension [s] when all of c goes in this order, over the whole collective. */
static void load_order(double *load_s, const struct draw *c, const int32_t *order)
{
    struct topo_network net = build(&c->net);
    struct stage stages[STAGE_MAX];
    int32_t members[D] = { 0 };
    for (int32_t d = 0; d < net.n_dims; d++)
        members[d] = net.dims[d].size;
    int32_t n = stage_list(stages, c->kind, c->bytes, members, NULL, NULL, order,
                           &(struct collective_way){ &net, &stage_rules_plain, NULL });
    for (int32_t k = 0; k < n; k++)
        load_s[stages[k].dim] += stages[k].load_B / c->net.bw_Bps[stages[k].dim];
}

/* The mix of orders, in any fractions, after which the most loaded dimension has least: a linear programme.
 */
static double least_load(const struct draw *c)
{
    static const int32_t orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                         { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } },
                         pairs[][3] = { { 0, 1 }, { 1, 0 } };
    int32_t n = c->net.n_dims == 2 ? 2 : 6;
    struct alloc_row rows[4] = { { .sense = LINEXPR_EQ, .rhs = 1 } };
    struct lp lp;
    struct lp_result r;
    double unit_s = 0;
    for (int32_t o = 0; o < n; o++) {
        double load_s[D] = { 0 };
        load_order(load_s, c, n == 2 ? pairs[o] : orders[o]);
        unit_s = o == 0 ? load_s[0] : unit_s;
        rows[0].coef[o] = 1;
        for (int32_t d = 0; d < c->net.n_dims; d++)
            rows[1 + d].coef[o] = load_s[d] / unit_s;
    }
    for (int32_t d = 0; d < c->net.n_dims; d++) {
        rows[1 + d].coef[n] = -1;
        rows[1 + d].sense = LINEXPR_LE;
    }
    lp_init(&lp, n + 1, rows, 1 + c->net.n_dims);
    lp.cost[n] = 1;
    MUST(lp_solve(&r, NULL, &lp, e));
    assert_int_equal(r.status, LP_OPTIMAL);
    return r.value * unit_s;
}

TEST(no_order_beats_the_best_mix_of_orders)
{
    double closest = INFINITY;
    RNG(r, 85, 0);
    for (int i = 0; i < 200; i++) {
        WITH(struct draw, c, draw_case(r, false), c.net.n_dims = c.net.n_dims > 3 ? 3 : c.net.n_dims);
        double least_s = least_load(&c);
        for (int order = SIM_ORDER_FIXED; order < SIM_ORDER_GUARD; order++) {
            if (order == SIM_ORDER_GIVEN)
                continue;
            double got_s =
                time_of(&c.net, c.kind, c.bytes, c.chunks, (enum sim_order)order, SIM_QUEUE_SMALLEST);
            assert_true(got_s >= least_s * (1 - 1e-7)); /* to the tolerance of the simplex */
            closest = fmin(closest, got_s / least_s);
        }
    }
    /* The bound is no idle one: some schedule comes close. */
    assert_true(closest < 1.01);
}

TEST(the_guard_is_as_fast_as_the_best_of_three)
{
    int slower = 0;
    RNG(r, 83, 0);
    for (int i = 0; i < 300; i++) {
        struct draw c = draw_case(r, i % 2);
        struct topo_network net = build(&c.net);
        struct sim_rules rules = rules_of(c.chunks, SIM_QUEUE_SMALLEST);
        struct sim_job job = whole(&net, c.kind, c.bytes, SIM_ORDER_GUARD);
        struct fidelity *fidelity;
        struct fidelity_time t;
        double best_s = INFINITY, fixed_s = 0, themis_s = 0;
        for (int order = SIM_ORDER_FIXED; order < SIM_ORDER_GUARD; order++) {
            if (order == SIM_ORDER_GIVEN)
                continue;
            double s = time_of(&c.net, c.kind, c.bytes, c.chunks, (enum sim_order)order, SIM_QUEUE_SMALLEST);
            best_s = fmin(best_s, s);
            fixed_s = order == SIM_ORDER_FIXED ? s : fixed_s;
            themis_s = order == SIM_ORDER_THEMIS ? s : themis_s;
        }
        OK(fidelity_open(&fidelity, &(struct sim_way){ &net, c.net.bw_Bps, SIM_CHUNK, &rules }, 0, e));
        OK(fidelity_alone(fidelity, &job, &t, e));
        assert_close(t.time_s, best_s, 1e-12);
        slower += themis_s > fixed_s * (1 + 1e-9);
        fidelity_free(fidelity);
    }
    /* Themis alone is slower than the fixed order on 23 % of such networks. */
    assert_true(slower > 300 * 0.15 && slower < 300 * 0.32);
}

/* ---- several jobs ---- */

static const struct net single = { 1, { 4 }, { 3 }, { 0 } };

/* All-reduce of 4 sends 6 B at 3 B/s: 2 s. Of two, the one of higher priority is served first. */
TEST(priority_decides_who_waits)
{
    struct topo_network net = build(&single);
    struct sim_rules rules = rules_of(4, SIM_QUEUE_FIFO);
    struct sim_job jobs[2];
    jobs[0] = jobs[1] = whole(&net, COLLECTIVE_REDUCE_SCATTER, 8, SIM_ORDER_FIXED);
    for (int first = 0; first < 2; first++) {
        jobs[first].priority = 1;
        jobs[1 - first].priority = 0;
        KEEP(struct chunk_sim *, x, chunk_free_at) = run_jobs(&net, single.bw_Bps, &rules, jobs, 2);
        assert_close(chunk_result(x, first)->end_s, 2, 1e-15);
        assert_close(chunk_result(x, 1 - first)->end_s, 4, 1e-15);
    }
}

TEST(last_in_first_out_turns_the_order_of_jobs)
{
    struct topo_network net = build(&single);
    struct sim_rules rules = rules_of(4, SIM_QUEUE_LIFO);
    struct sim_job job = whole(&net, COLLECTIVE_REDUCE_SCATTER, 8, SIM_ORDER_FIXED);
    KEEP(struct chunk_sim *, x, chunk_free_at);
    OK(chunk_open(&x, &(struct sim_way){ &net, single.bw_Bps, SIM_CHUNK, &rules }, 0, 0, e));
    OK(chunk_issue(x, &job, 0, e));
    OK(chunk_advance(x, e));
    OK(chunk_issue(x, &job, 0.1, e));
    run_out(x);
    /* The chunk under way is not interrupted; then the younger goes first. */
    assert_close(chunk_result(x, 1)->end_s, 0.5 + 2, 1e-15);
    assert_close(chunk_result(x, 0)->end_s, 4, 1e-15);
}

TEST(work_of_nothing_ends_when_it_is_issued)
{
    struct topo_network net = build(&single);
    struct sim_rules rules = rules_of(4, SIM_QUEUE_FIFO);
    struct sim_job job = whole(&net, COLLECTIVE_ALL_REDUCE, 0, SIM_ORDER_FIXED);
    KEEP(struct chunk_sim *, x, chunk_free_at);
    int32_t n;
    OK(chunk_open(&x, &(struct sim_way){ &net, single.bw_Bps, SIM_CHUNK, &rules }, 0, 0, e));
    OK(chunk_issue(x, &job, 7, e));
    chunk_ended(x, &n);
    assert_true(n == 1 && chunk_result(x, 0)->end_s == 7 && isinf(chunk_next(x)));
}

/* Orders of the chunks of the second of two jobs, the first in the fixed order, issued `apart_s` later. */
static void second_orders(char got[64], int32_t chunks, double first_B, double start_s, double apart_s)
{
    struct topo_network net = build(&v1);
    struct sim_rules rules = rules_of(chunks, SIM_QUEUE_FIFO);
    struct sim_job first = whole(&net, COLLECTIVE_ALL_REDUCE, first_B, SIM_ORDER_FIXED),
                   second = whole(&net, COLLECTIVE_ALL_REDUCE, 256, SIM_ORDER_MINMAX);
    KEEP(struct chunk_sim *, x, chunk_free_at);
    MUST(chunk_open(&x, &(struct sim_way){ &net, v1.bw_Bps, SIM_CHUNK, &rules }, 0, INT32_MAX, e));
    MUST(chunk_issue(x, &first, start_s, e));
    MUST(chunk_issue(x, &second, start_s + apart_s, e));
    run_out(x);
    got[0] = '\0';
    for (int32_t c = 0; c < chunks; c++)
        append_dims(got, 64, x, 1, c, 1);
}

/* 8 chunks of 64 B in the fixed order load the rings by 384 and 192 s. Chunks of 32 B add 24 and 12 s, or 6
 * and 48 s with the second ring first: four go that way, and the fifth, to 432 s either way, the fixed one.
 */
TEST(every_chunk_of_a_fixed_order_is_booked)
{
    char got[64];
    second_orders(got, 8, 512, 0, 0);
    assert_string_equal(got, "22221211");
}

TEST(jobs_a_rounding_apart_share_their_loads)
{
    char same[64], rounded[64], later[64];
    second_orders(same, 8, 512, 1000, 0);
    second_orders(rounded, 8, 512, 1000, 2e-13 * 1000);
    second_orders(later, 8, 512, 1000, 1);
    assert_string_equal(rounded, same);
    assert_string_not_equal(later, same);
}

/* ---- several chunks at a time ---- */

/* Bandwidth is shared: two chunks at once take as long as one after the other. Latency is not: it overlaps.
 */
TEST(chunks_at_a_time_share_bandwidth_and_hide_latency)
{
    static const struct net late = { 1, { 2 }, { 1 }, { 3 } };
    struct topo_network plain = build(&single), net = build(&late);
    WITH(struct sim_rules, rules, rules_of(4, SIM_QUEUE_FIFO), rules.active = 2);
    struct sim_job job = whole(&plain, COLLECTIVE_REDUCE_SCATTER, 8, SIM_ORDER_FIXED);
    struct chunk_sim *x = run_jobs(&plain, single.bw_Bps, &rules, &job, 1);
    assert_close(chunk_result(x, 0)->end_s, 2, 1e-15);
    chunk_free(x);
    /* 4 chunks of 1 s of bytes and 3 s of latency; alone 16 s. Two at once: 3 + 2, twice. */
    job = whole(&net, COLLECTIVE_REDUCE_SCATTER, 8, SIM_ORDER_FIXED);
    x = run_jobs(&net, late.bw_Bps, &rules, &job, 1);
    assert_close(chunk_result(x, 0)->end_s, 10, 1e-15);
    int64_t n;
    chunk_slices(x, &n);
    assert_int_equal(n, 4);
    chunk_free(x);
}
