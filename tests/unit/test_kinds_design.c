/* Designs of one study by hand: what is solved, its parts, its bill and the equal split beside it. */
#include "kinds/design/ask/load.h"
#include "tests/unit/folder.h"
#include "kinds/design/explore/solve.h"

/* 4 x 8 NPUs. "inner" sends 2*8*3/4 = 12 MB in a step on node, "outer" 2*16*7/8 = 28 MB on pod. */
#define NETWORK                                                                                              \
    "network:\n"                                                                                             \
    "  npu: { usd: 1000 }\n"                                                                                 \
    "  dims:\n"                                                                                              \
    "    - { name: node, shape: ring, size: 4, tier: N, latency_ns: 1000 }\n"                                \
    "    - { name: pod, shape: switch, size: 8, tier: P, latency_ns: 2000 }\n"
#define PARTS                                                                                                \
    "parts:\n"                                                                                               \
    "  nic_port_GBps: 5\n"                                                                                   \
    "  rates:\n"                                                                                             \
    "    - { tier: N, link_usd_per_GBps: 4 }\n"                                                              \
    "    - { tier: P, link_usd_per_GBps: 8, switch_usd_per_GBps: 18, nic_usd_per_GBps: 32 }\n"
#define INNER                                                                                                \
    "{ name: inner, groups: { g: { members: [4, 1] } }, step: { sum: [ { compute_ms: 1 }, { all-reduce: { "  \
    "size_MB: 8, group: g } } ] } }"
#define OUTER                                                                                                \
    "{ name: outer, groups: { g: { members: [1, 8] } }, step: { all-reduce: { size_MB: 16, group: g } } }"
#define IDLE                                                                                                 \
    "{ name: idle, groups: { g: { members: [1, 1] } }, step: { all-reduce: { size_MB: 16, group: g } } }"
#define BOTH "workloads: [ { workload: " INNER " }, { workload: " OUTER ", weight: 3 } ]\n"

static void load_text(struct design_point *s, const char *text)
{
    FOLDER(f);
    MUST(design_point_load(s, put(&f, "study.yaml", text), NULL, 0, DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT,
                           e));
}

static void solve_text(struct design_point *s, struct design *d, const char *text)
{
    load_text(s, text);
    MUST(design_solve(d, s, e));
}

/* The study of a text, with its design where it is solved, released where the block ends. */
#define LOADED(s, text)                                                                                      \
    KEEP(struct design_point, s, design_point_free);                                                         \
    load_text(&s, text)
#define DESIGN(s, d, text)                                                                                   \
    KEEP(struct design_point, s, design_point_free);                                                         \
    KEEP(struct design, d, design_free);                                                                     \
    solve_text(&s, &d, text)

/* min a/B1 + w b/B2 with B1 + B2 = B: B1/B2 = sqrt(a/(w b)). */
TEST(a_weighted_sum_splits_by_square_roots)
{
    double a = sqrt(12.0), b = sqrt(3 * 28.0), node = 10 * a / (a + b), pod = 10 * b / (a + b);
    DESIGN(s, d, NETWORK PARTS BOTH "total_GBps: 10\n");
    assert_int_equal(d.answer.status, ALLOC_SOLVED);
    assert_close(d.bw_Bps[0] / 1e9, node, 1e-6);
    assert_close(d.time_s, 1e-3 + 12e-3 / node + 3 * 28e-3 / pod, 1e-9);
    assert_close(d.loads[0].time_s, 1e-3 + 12e-3 / node, 1e-6);
    assert_close(d.loads[1].time_s, 28e-3 / pod, 1e-6);
    assert_close(d.account.compute_s, 1e-3, 1e-15);
    assert_close(d.account.compute_s + d.account.comm_s, d.time_s, 1e-12);
    assert_close(d.account.dim_s[1], 3 * 28e-3 / pod, 1e-6);
    assert_close(d.util_frac[1], 3 * 28e-3 / pod / d.time_s, 1e-6);
    assert_true(isnan(d.regret) && isnan(d.loads[0].best_s));
    /* 32 NPUs at 4 and 58 USD per GB/s. */
    assert_close(d.cost_usd, 32 * (4 * node + 58 * pod), 1e-6);
    assert_close(d.nic_Bps / 1e9, pod, 1e-6);
    assert_close(d.equal.bw_Bps, 5e9, 1e-15);
    assert_close(d.equal.time_s, 1e-3 + 12e-3 / 5 + 3 * 28e-3 / 5, 1e-14);
    assert_close(d.equal.cost_usd, 32 * 5 * 62, 1e-14);
    assert_close(d.speedup, d.equal.time_s / d.time_s, 1e-15);
    assert_close(d.perf_per_cost_gain, d.speedup * d.equal.cost_usd / d.cost_usd, 1e-14);
    assert_true(d.has_bill && d.bill.nics == 64); /* 7.3 GB/s: two of 5 GB/s each */
}

static void evaluate_text(struct design_point *s, struct design *d, const char *text)
{
    const double bw_Bps[] = { 5e9, 5e9 };
    load_text(s, text);
    MUST(design_evaluate(d, s, bw_Bps, e));
}

/* Two steps of one and three of the other take, compute and wait what they do alone, so often. */
TEST(the_account_of_several_is_the_sum_of_each)
{
    struct design_point s[3];
    struct design d[3];
    evaluate_text(&s[0], &d[0], NETWORK "model: alpha-beta\ntotal_GBps: 10\nworkload: " INNER "\n");
    evaluate_text(&s[1], &d[1], NETWORK "model: alpha-beta\ntotal_GBps: 10\nworkload: " OUTER "\n");
    evaluate_text(&s[2], &d[2],
                  NETWORK "model: alpha-beta\ntotal_GBps: 10\nworkloads: [ { workload: " INNER
                          ", weight: 2 }, { workload: " OUTER ", weight: 3 } ]\n");
    const struct account *a = &d[0].account, *b = &d[1].account, *sum = &d[2].account;
    assert_close(a->compute_s, 1e-3, 1e-15);
    assert_close(a->latency_s, 24e-6, 1e-9); /* a ring of 4, 4 chunks: 2 x 3 steps of 1 us each */
    assert_true(b->compute_s == 0 && b->latency_s > 0);
    assert_close(d[2].time_s, 2 * d[0].time_s + 3 * d[1].time_s, 1e-12);
    assert_close(sum->compute_s, 2e-3, 1e-12);
    assert_close(sum->latency_s, 2 * a->latency_s + 3 * b->latency_s, 1e-12);
    assert_close(sum->comm_s, 2 * a->comm_s + 3 * b->comm_s, 1e-12);
    assert_close(sum->compute_s + sum->comm_s, d[2].time_s, 1e-12);
    for (int i = 0; i < 3; i++) {
        design_free(&d[i]);
        design_point_free(&s[i]);
    }
}

/* Of a fat tree the ports count, and its taper gives the rest: the only split there is, which is the equal
 * one. At 5 GB/s between leaves an all-to-all of 16 MB takes 12 MB to others there. */
TEST(a_taper_holds_in_the_equal_split_too)
{
    DESIGN(s, d,
           "network: { dims: [ { name: tree, shape: fat-tree, sizes: [4, 4], taper: 2 } ] }\ntotal_GBps: 10\n"
           "workload: { step: { all-to-all: { size_MB: 16, group: all } } }\n");
    assert_int_equal(d.answer.status, ALLOC_SOLVED);
    assert_close(d.total_Bps, 10e9, 1e-6);
    assert_close(d.bw_Bps[1], 5e9, 1e-6);
    assert_close(d.time_s, 12e6 / 5e9, 1e-6);
    assert_close(d.equal.bw_Bps, 10e9, 1e-12);
    assert_close(d.equal.time_s, 12e6 / 5e9, 1e-12);
    assert_true(d.equal.allowed);
}

/*
 * Alone, a workload gets all 10 GB/s. Together the compute-free one is B/B2 times slower; the other
 * (1 + 12/B1)/(1 + 1.2) times. Both equal r: B2 = 10/r, B1 = 12/(2.2 r - 1), sum 10.
 */
TEST(regret_makes_all_workloads_equally_sorry)
{
    double lo = 1, hi = 10;
    for (int i = 0; i < 200; i++) {
        double r = (lo + hi) / 2;
        *(10 / r + 12 / (2.2 * r - 1) > 10 ? &lo : &hi) = r;
    }
    DESIGN(s, d, NETWORK PARTS BOTH "total_GBps: 10\ncombine: regret\n");
    assert_int_equal(d.answer.status, ALLOC_SOLVED);
    assert_close(d.loads[0].best_s, 1e-3 + 1.2e-3, 1e-9);
    assert_close(d.loads[1].best_s, 2.8e-3, 1e-9);
    assert_close(d.regret, lo, 1e-9);
    assert_close(d.answer.value, lo, 1e-9);
    assert_close(d.loads[0].time_s / d.loads[0].best_s, lo, 1e-6);
    assert_close(d.loads[1].time_s / d.loads[1].best_s, lo, 1e-6);
    assert_close(d.time_s, d.loads[0].time_s + 3 * d.loads[1].time_s, 1e-14);
}

/* All three ratios are 1 at the one split there is: the proof may stand on compute alone as well. */
TEST(regret_is_proved_where_a_workload_only_computes)
{
    DESIGN(
        s, d,
        "network: { dims: [ { name: d, shape: ring, size: 4, bw_GBps: 10 } ] }\n"
        "combine: regret\n"
        "workloads: [ { workload: { step: { sum: [ { compute_ms: 7 } ] } } }, { workload: { step: { sum: [ { "
        "compute_ms: 1 }, { all-reduce: { size_MB: 8, group: all } } ] } } } ]\n");
    assert_int_equal(d.answer.status, ALLOC_SOLVED);
    assert_true(d.verified);
    assert_close(d.regret, 1, 1e-12);
}

TEST(regret_without_an_answer_says_for_which_workload)
{
    DESIGN(s, d, NETWORK BOTH "combine: regret\n");
    assert_int_equal(d.answer.status, ALLOC_UNBOUNDED);
    assert_has(d.answer.reason, "inner alone: more bandwidth on node always helps");
    assert_true(d.time_s == 0 && d.n_dims == 2);
    design_free(&d);

    LOADED(idle, NETWORK "workloads: [ { workload: " OUTER " }, { workload: " IDLE
                         " } ]\ntotal_GBps: 10\ncombine: regret\n");
    FAILS(design_solve(&d, &idle, e), ERR_RANGE,
          "workload \"idle\": best time is 0 s, expected work that takes time for regret");
    assert_null(d.loads);
}

/* Over both dimensions 2*8*3/4 = 12 and 2*8/4*7/8 = 3.5 MB. */
#define WHOLE                                                                                                \
    "workload: { step: { sum: [ { compute_ms: 1 }, { all-reduce: { size_MB: 8, group: all } } ] } }\n"

/* T_comm * sum B is least, the sum of all bytes, where no dimension waits: B in proportion to traffic. */
TEST(utilization_counts_communication_alone)
{
    DESIGN(s, d, NETWORK WHOLE "total_GBps: 31\nobjective: utilization\n");
    assert_int_equal(d.answer.status, ALLOC_SOLVED);
    assert_close(d.answer.value, 15.5e6, 1e-9);
    assert_close(d.bw_Bps[0], 24e9, 1e-6);
    assert_close(d.time_s, 1.5e-3, 1e-9);
    assert_close(d.util_frac[0], 1.0 / 3, 1e-6);
    assert_close(d.util_frac[1], 1.0 / 3, 1e-6);
    assert_true(isnan(d.cost_usd) && isnan(d.nic_Bps) && isnan(d.perf_per_cost_gain) && !d.has_bill);
}

/* 2 ms of which 1 compute: 12 and 3.5 GB/s do it. NPUs cost 32,000 USD more. */
TEST(the_least_cost_meets_the_time_limit)
{
    static const struct {
        const char *text;
        double usd;
    } cases[] = {
        { NETWORK PARTS WHOLE "objective: cost\ntime_limit_s: 0.002\n", 32 * (4 * 12 + 58 * 3.5) },
        { NETWORK PARTS WHOLE "objective: cost\ntime_limit_s: 0.002\ncount_npus: true\n",
          32 * (4 * 12 + 58 * 3.5) + 32000 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        DESIGN(s, d, cases[i].text);
        assert_int_equal(d.answer.status, ALLOC_SOLVED);
        assert_close(d.answer.value, cases[i].usd, 1e-9);
        assert_close(d.cost_usd, cases[i].usd, 1e-9);
        assert_close(d.time_s, 2e-3, 1e-9);
        assert_close(d.bill.usd.typ, 32 * (4 * 12 + 58 * 3.5), 1e-9);
        /* The study names no total: the baseline spends as much bandwidth as the answer. */
        assert_close(d.equal.bw_Bps, 7.75e9, 1e-9);
        assert_close(d.equal.cost_usd - cases[i].usd, 32 * 62 * 7.75 - 32 * (4 * 12 + 58 * 3.5), 1e-6);
    }
}

/* Ring of 4: 2*3 steps of 1 us; switch of 8: 2*3 of 2 us. */
TEST(latency_counts_where_the_model_has_it)
{
    static const double bw_Bps[] = { 12e9, 3.5e9 };
    KEEP(struct design, d, design_free);
    LOADED(s, NETWORK WHOLE "model: alpha-beta\n");
    OK(design_evaluate(&d, &s, bw_Bps, e));
    /* Compute, and 1 ms on either dimension: 4 chunks keep the switch busy, the ring fills and drains with
     * one. */
    assert_close(d.account.latency_s, 4 * 12e-6 + 6e-6, 1e-14);
    assert_close(d.time_s, 1e-3 + 1e-3 + 0.25e-3 + 54e-6, 1e-14);
    assert_close(d.answer.time_s, d.time_s, 0);
    assert_true(isnan(d.answer.gap) && isnan(d.answer.lower_bound) && d.answer.status == ALLOC_SOLVED);
    assert_true(d.total_Bps == 15.5e9 && d.equal.bw_Bps == 7.75e9);
}

/*
 * A broadcast in segments, whose number depends on the bandwidth, beside an all-reduce: the split found by
 * choosing and solving in turns is as good as any on a fine grid, each timed with its own choices.
 */
TEST(choices_are_made_again_at_the_split)
{
    struct design trial;
    double best_s = INFINITY;
    DESIGN(
        s, d,
        "network: { dims: [ { name: a, shape: ring, size: 8, latency_ns: 10000 },\n"
        "  { name: b, shape: ring, size: 8, latency_ns: 10000 } ] }\n"
        "total_GBps: 200\nmodel: alpha-beta\nsimulation: { chunks: 1 }\n"
        "workload: { groups: { ga: { size: 8 }, gb: { after: ga } }, step: { max: [\n"
        "  { broadcast: { size_MB: 10, group: ga } }, { all-reduce: { size_MB: 100, group: gb } } ] } }\n");
    assert_int_equal(d.answer.status, ALLOC_SOLVED);
    for (int i = 1; i < 2000; i++) {
        const double bw_Bps[] = { i * 1e8, 200e9 - i * 1e8 };
        OK(design_evaluate(&trial, &s, bw_Bps, e));
        best_s = fmin(best_s, trial.time_s);
        design_free(&trial);
    }
    assert_true(d.time_s <= best_s * (1 + 1e-9));
}

TEST(a_study_without_an_answer_has_a_status)
{
    static const struct {
        const char *text;
        enum alloc_status status;
    } cases[] = {
        { NETWORK WHOLE "total_GBps: 10\nconstraints: [ pod >= 20 ]\n", ALLOC_INFEASIBLE },
        { NETWORK WHOLE "constraints: [ pod >= 20 ]\n", ALLOC_UNBOUNDED },
        { NETWORK PARTS WHOLE "objective: perf_per_cost\n", ALLOC_ILL_POSED },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        DESIGN(s, d, cases[i].text);
        assert_true(d.answer.status == cases[i].status && d.answer.reason[0] != '\0');
        assert_true(d.time_s == 0 && d.total_Bps == 0 && !d.has_bill);
    }
}

/* ---- bills ---- */

TEST(an_unused_dimension_is_not_billed)
{
    DESIGN(s, d, NETWORK PARTS "workload: " INNER "\ntotal_GBps: 10\n");
    assert_true(d.answer.status == ALLOC_SOLVED && d.bw_Bps[1] == 0 && d.has_bill && d.bill.n_lines == 1);
    assert_close(d.bill.usd.typ, 32 * 4 * 10, 1e-9);
    assert_true(d.bill.nics == 0 && d.bill.nic_Bps == 0 && d.bill.nic_usd == 0 && d.nic_Bps == 0);
    assert_int_equal(d.bill.n_watt_unknown, 1);
}

/* Compute alone, or nothing at all: solved, proved, the cheapest split, no price on a row of bandwidth. */
TEST(work_without_traffic_is_solved)
{
    static const struct {
        const char *asked;
        double time_s, value;
    } cases[] = {
        /* node costs 128 USD per GB/s: 10 GB/s of it is the cheapest way to the total */
        { "objective: time\n", 5e-3, 5e-3 },
        { "objective: utilization\n", 5e-3, 0 },
        { "objective: perf_per_cost\n", 5e-3, 5e-3 * 1280 },
        { "objective: cost\ntime_limit_s: 0.006\n", 5e-3, 1280 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        TEXT(t, "%stotal_GBps: 10\n%s", NETWORK PARTS "workload: { name: w, step: { compute_ms: 5 } }\n",
             cases[i].asked);
        DESIGN(s, d, text_str(&t));
        assert_true(d.answer.status == ALLOC_SOLVED && d.verified && d.answer.gap == 0);
        assert_close(d.time_s, cases[i].time_s, 1e-15);
        assert_close(d.answer.value, cases[i].value, 1e-9);
    }
}

TEST(an_equal_split_that_breaks_a_constraint_is_marked)
{
    static const struct {
        const char *row;
        bool allowed;
    } cases[] = {
        { "pod <= 5", true }, { "pod <= 4.9", false }, { "node >= 5", true }, { "node == 6", false }
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        TEXT(t, "%stotal_GBps: 10\nconstraints: [ '%s' ]\n", NETWORK PARTS BOTH, cases[i].row);
        DESIGN(s, d, text_str(&t));
        assert_true(d.answer.status == ALLOC_SOLVED && d.equal.allowed == cases[i].allowed);
    }
}

/* At 5 GB/s each: 1 ms, 12/5 ms and three times 28/5 ms. */
TEST(an_equal_split_beyond_the_limit_on_time_is_marked)
{
    static const struct {
        const char *limit;
        bool allowed;
    } cases[] = { { "0.0203", true }, { "0.0202", true }, { "0.0201", false } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        TEXT(t, "%stotal_GBps: 10\nobjective: cost\ntime_limit_s: %s\n", NETWORK PARTS BOTH, cases[i].limit);
        DESIGN(s, d, text_str(&t));
        assert_close(d.equal.time_s, 0.0202, 1e-14);
        assert_true(d.answer.status == ALLOC_SOLVED && d.equal.allowed == cases[i].allowed);
    }
}

TEST(a_bill_that_cannot_be_made_says_why)
{
    static const double bw_Bps[] = { 450e9, 2e15 };
    static const struct study_override o = { "workload", "{ step: { compute_ms: 1 } }" };
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct design, d, design_free);
    OK(design_point_load(&s, "configs/networks/dgx-h100-pod.yaml", &o, 1, DESIGN_NEEDS_WORKLOAD, e));
    OK(design_evaluate(&d, &s, bw_Bps, e));
    assert_false(d.has_bill);
    assert_has(d.bill_reason, "dimension \"pod\": bandwidth is 2e+06 GB/s, expected 0 to 1e+06");
    assert_true(d.cost_usd > 0 && d.bill.n_lines == 0);
}
