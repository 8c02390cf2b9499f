/* Searches of training plans against trying every plan there is, with and without a split of its own. */
#include "kinds/design/ask/load.h"
#include "tests/unit/folder.h"

#include <omp.h>

#include "alloc/bound.h"
#include "kinds/design/explore/clock.h"
#include "kinds/design/explore/solve.h"
#include "kinds/design/explore/search.h"

/* 4 x 2 NPUs that hold little, so that memory decides. */
#define NPU "npu: { peak_TFLOPS: 1, mem_GB: %s, mem_GBps: 100, matrix_half_out: 64, kernel_ns: 1000, usd: 9 }"
#define GIVEN                                                                                                \
    "dims: [ { name: node, shape: ring, size: 4, bw_GBps: 10, latency_ns: 500, tier: N }, "                  \
    "{ name: pod, shape: switch, size: 2, bw_GBps: 2, latency_ns: 2000, tier: P } ]"
#define SLOW                                                                                                 \
    "dims: [ { name: node, shape: ring, size: 4, bw_GBps: 0.3, latency_ns: 500, tier: N }, "                 \
    "{ name: pod, shape: switch, size: 2, bw_GBps: 0.1, latency_ns: 2000, tier: P } ]"
#define OPEN                                                                                                 \
    "dims: [ { name: node, shape: ring, size: 4, latency_ns: 500, tier: N }, "                               \
    "{ name: pod, shape: switch, size: 2, latency_ns: 2000, tier: P } ]"
#define HALF                                                                                                 \
    "dims: [ { name: node, shape: ring, size: 4, bw_GBps: 9, latency_ns: 500, tier: N }, "                   \
    "{ name: pod, shape: switch, size: 2, latency_ns: 2000, tier: P } ]"
#define PARTS                                                                                                \
    "parts: { nic_port_GBps: 5, rates: [ { tier: N, link_usd_per_GBps: 4 }, "                                \
    "{ tier: P, link_usd_per_GBps: 8, switch_usd_per_GBps: 18, nic_usd_per_GBps: 32 } ] }\n"
#define DENSE                                                                                                \
    "{ layers: 4, hidden: 256, heads: 4, vocab: 512, seq: 64, attention: unfused, tied: true, biases: true " \
    "}"
#define EXPERTS                                                                                              \
    "{ layers: 4, hidden: 128, heads: 4, kv_heads: 2, vocab: 512, seq: 64, activation: swiglu, "             \
    "norm: rms-norm, moe: { experts: 4, top_k: 2, ffn: 256, dense_layers: 1 } }"

struct ask {
    const char *mem_GB, *dims, *model, *search, *more;
};

static int load_plan(struct design_point *s, const struct ask *a, const char *parallel, unsigned needs,
                     struct err *e)
{
    char text[4096];
    FOLDER(f);
    snprintf(text, sizeof text,
             "network: { " NPU ", %s }\nworkload: { name: w, model: %s, parallel: %s%s }\n%s", a->mem_GB,
             a->dims, a->model, parallel, a->search, a->more);
    return design_point_load(s, put(&f, "study.yaml", text), NULL, 0, DESIGN_NEEDS_WORKLOAD | needs, e);
}

static int load(struct design_point *s, const struct ask *a, unsigned needs, struct err *e)
{
    return load_plan(s, a, "{ batch: 8 }", needs, e);
}

static int find(struct design_choice *c, struct design_point *s, const struct ask *a, unsigned needs,
                struct err *e)
{
    *c = (struct design_choice){ 0 };
    int rc = load(s, a, needs, e);
    return rc ? rc : design_choose(c, s, e);
}

static const struct search_result *must_find(struct design_choice *c, struct design_point *s,
                                             const struct ask *a, unsigned needs)
{
    MUST(find(c, s, a, needs, e));
    return choice_plans(c, 0);
}

/* ---- another way to find the best: every combination there is, legal or not ---- */

enum { MOST_FIT = 1 << 16 };

struct brute {
    const struct design_point *s;
    bool split;
    double best;
    int64_t n_fit;
    double values[MOST_FIT]; /* shape [n_fit], ascending in the end */
};

static double value_of(const struct brute *b, const struct training *x)
{
    KEEP(struct step_tree, tree, step_free);
    KEEP(struct step_fn, fn, step_fn_free);
    double bw_Bps[TOPO_MAX_DIMS], value;
    MUST(training_build(&tree, x, &b->s->net, e));
    MUST(step_compile(&fn, &tree, &b->s->net, e));
    if (b->split) {
        struct design_question q;
        struct alloc_answer answer;
        design_ask(&q, b->s);
        q.problem.step = &fn;
        MUST(alloc_solve(&answer, &q.problem, e));
        value = alloc_has_split(&answer) ? answer.value : INFINITY;
        alloc_answer_free(&answer);
    } else {
        topo_get_bandwidths(bw_Bps, &b->s->net);
        value = step_time(&fn, bw_Bps);
    }
    return value;
}

/* Axes that have one member lie nowhere: last, in one order, is enough. */
static bool is_plain(const struct plan *p)
{
    for (int i = 0; i + 1 < 4; i++) {
        bool one = p->degree[p->order[i]] == 1, next = p->degree[p->order[i + 1]] == 1;
        if (one && (!next || p->order[i] > p->order[i + 1]))
            return false;
    }
    return true;
}

static void try_orders(struct brute *b, struct training *x)
{
    struct err e = { 0 };
    for (int code = 0; code < 256; code++) {
        unsigned seen = 0;
        for (int i = 0; i < 4; i++) {
            x->plan.order[i] = (enum plan_axis)(code >> 2 * i & 3);
            seen |= 1U << x->plan.order[i];
        }
        if (seen != 15 || !is_plain(&x->plan) || training_derive(x, &b->s->net, &e))
            continue;
        assert_true(b->n_fit < MOST_FIT);
        double value = b->values[b->n_fit++] = value_of(b, x);
        b->best = fmin(b->best, value);
    }
}

static void try_plan(struct brute *b, struct training *x)
{
    struct memory memory;
    if (!plan_check(&x->plan, &x->model, b->s->net.n_npus, NULL))
        return;
    memory_plan(&memory, &x->model, &x->plan);
    if (!(1.05 * memory.total_B > b->s->net.npu.mem_B)) /* 5 % are left to the allocator */
        try_orders(b, x);
}

/* What the study leaves open, by asking its space; here by a filter on the plan. */
static bool is_asked(const struct plan *p, const struct search_space *space)
{
    const struct {
        const struct search_values *v;
        int64_t value;
    } rows[] = { { &space->tp, p->degree[PLAN_TP] },
                 { &space->cp, p->degree[PLAN_CP] },
                 { &space->interleave, p->interleave } };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        bool in = rows[i].v->n == 0;
        for (int32_t k = 0; k < rows[i].v->n; k++)
            in = in || rows[i].v->values[k] == rows[i].value;
        if (!in)
            return false;
    }
    return space->zero & 1U << p->zero && space->seq_parallel & 1U << p->seq_parallel;
}

/* Every value of the options; few of them, so that this ends. Schedules share their best split: one is
 * enough. */
static void try_options(struct brute *b, struct training *x, const struct search_space *space)
{
    for (int code = 0; code < 4 * 3 * 3 * 4 * 2 * (b->split ? 1 : 2); code++) {
        struct plan *p = &x->plan;
        int rest = code;
        p->micro = 1 << rest % 4, rest /= 4;
        p->interleave = 1 << rest % 3, rest /= 3;
        p->recompute = rest % 3, rest /= 3;
        p->zero = rest % 4, rest /= 4;
        p->seq_parallel = rest % 2, rest /= 2;
        p->schedule = b->split ? p->schedule : rest % 2;
        if (is_asked(p, space))
            try_plan(b, x);
    }
}

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* All plans, in @p b, which is cleared. */
static double brute_best(struct brute *b, const struct design_point *s, bool split)
{
    struct search_space space;
    KEEP(struct training *, x, free_at) = malloc(sizeof *x);
    assert_non_null(x);
    MUST(schema_read(&space, &search_section, &s->doc, yaml_find(&s->doc, "workload.search"), e));
    *x = *s->workloads[0].training;
    *b = (struct brute){ .s = s, .split = split, .best = INFINITY };
    for (int code = 0; code < 4 * 4 * 4 * 3; code++) {
        int rest = code;
        x->plan.degree[PLAN_TP] = 1 << rest % 4, rest /= 4;
        x->plan.degree[PLAN_CP] = 1 << rest % 4, rest /= 4;
        x->plan.degree[PLAN_PP] = 1 << rest % 4, rest /= 4;
        x->plan.ep = 1 << rest % 3;
        int64_t inner = plan_inner(&x->plan, 8);
        x->plan.degree[PLAN_DP] = 8 / inner;
        if (inner <= 8)
            try_options(b, x, &space);
    }
    qsort(b->values, (size_t)b->n_fit, sizeof *b->values, by_number);
    return b->best;
}

static bool is_same(double x, double y)
{
    return fabs(x - y) <= 1e-8 * fabs(x);
}

/* Whatever is worth less than the last of the list is in it. */
static void assert_list(const struct brute *b, const struct search_result *r)
{
    for (int64_t i = 0, k = 0; i < b->n_fit && isfinite(b->values[i]); i++) {
        while (k < r->n_found && r->found[k].value < b->values[i] &&
               !is_same(r->found[k].value, b->values[i]))
            k++;
        if (k == r->n_found)
            return;
        if (!is_same(r->found[k].value, b->values[i]))
            fail_msg("%.12g is not in the list, which has %.12g there", b->values[i], r->found[k].value);
    }
}

/* ---- tests ---- */

static const struct ask given_cases[] = {
    { "0.02", GIVEN, DENSE, ", search: { context: [ring] }", "" },
    { "0.008", GIVEN, EXPERTS, ", search: { context: [ring] }", "" },
};

TEST(no_plan_is_faster_than_the_one_that_is_found)
{
    for (size_t i = 0; i < COUNT_OF(given_cases); i++) {
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct design_choice, c, choice_free);
        KEEP(struct brute *, b, free_at) = malloc(sizeof *b);
        const struct search_result *r = must_find(&c, &s, &given_cases[i], DESIGN_NEEDS_BANDWIDTH);
        assert_non_null(b);
        double best_s = brute_best(b, c.point, false);
        assert_true(b->n_fit > 0 && r->n_found > 0);
        assert_list(b, r);
        assert_close(r->found[0].time_s, best_s, 1e-12);
        for (int32_t k = 1; k < r->n_found; k++)
            assert_true(r->found[k].time_s >= r->found[k - 1].time_s);
        assert_int_equal(r->n_candidates, r->n_timed + r->n_rejected[SEARCH_MEMORY]);
    }
}

/* An answer takes the best plan: what a simulation of it takes is what the search said. */
TEST(the_step_of_the_answer_takes_the_time_of_the_best_plan)
{
    static const char *const models[] = { "model: bandwidth\n",
                                          "model: alpha-beta\nsimulation: { chunks: 3 }\n",
                                          "model: chunk\nsimulation: { chunks: 1, order: fixed }\n" };
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        struct ask a = given_cases[0];
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct design, d, design_free);
        a.more = models[i];
        /* Of simulated models the search times the closed form: equal where nothing meets on a dimension. */
        a.search = i == 2 ? ", search: { zero: [0, 1], cp: [1] }" : a.search;
        OK(load(&s, &a, DESIGN_NEEDS_BANDWIDTH, e));
        OK(design_evaluate(&d, &s, NULL, e));
        assert_close(d.time_s, choice_plans(&d.chosen, 0)->found[0].time_s, 1e-9);
    }
}

/* Every plan of the list, as one study would report it: no class of links is busy for longer than the step,
 * and a simulation of it, in the same order of dimensions, takes no less. Links are slow, so most steps wait
 * for them. */
TEST(links_of_all_plans_that_are_found_carry_what_they_can)
{
    static const struct ask cases[] = {
        { "1", SLOW, EXPERTS,
          ", search: { context: [ring], zero: [1, 3], tp: [1, 2], pp: [1], ep_overlap: [batch], top: 100 }",
          "" },
        { "1", SLOW, DENSE,
          ", search: { context: [ring], zero: [1, 2, 3], pp: [1, 2], interleave: [1], top: 100 }", "" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct design_choice, c, choice_free);
        double bw_Bps[TOPO_MAX_DIMS];
        int64_t n_full = 0;
        const struct search_result *r = must_find(&c, &s, &cases[i], DESIGN_NEEDS_BANDWIDTH);
        s.rules.order = SIM_ORDER_FIXED;
        topo_get_bandwidths(bw_Bps, &s.net);
        assert_true(r->n_found == 100);
        for (int32_t k = 0; k < r->n_found; k++) {
            struct training x = *s.workloads[0].training;
            KEEP(struct step_tree, tree, step_free);
            KEEP(struct sim_step, step, sim_step_free);
            KEEP(struct sim_step, chunks, sim_step_free);
            x.plan = r->found[k].plan;
            OK(training_derive(&x, &s.net, e));
            OK(training_build(&tree, &x, &s.net, e));
            OK(sim_step_build(&step, &tree, &(struct sim_way){ &s.net, bw_Bps, SIM_BANDWIDTH, &s.rules }, e));
            assert_close(step.time_s, r->found[k].time_s, 1e-12);
            for (int32_t d = 0; d < s.net.n_dims; d++) {
                assert_true(step.busy_s[d] <= step.time_s * (1 + 1e-12));
                n_full += step.busy_s[d] > 0.9 * step.time_s;
            }
            OK(sim_step_build(&chunks, &tree, &(struct sim_way){ &s.net, bw_Bps, SIM_CHUNK, &s.rules }, e));
            assert_true(chunks.time_s >= step.time_s * (1 - 1e-9));
        }
        assert_true(n_full > 10);
    }
}

/* A plan's clock at its own bandwidths: the least of one place and the tangent are its time, the tangent is
 * no more at others, and a clock that may stop early is above what it may stop at. */
static void read_clock(int64_t *n_shared, const struct design_point *s, struct training *x,
                       struct search_seen *seen)
{
    struct search_least least = { 0 };
    struct search_clock clock;
    struct search_forms forms;
    double bw_Bps[TOPO_MAX_DIMS], other_Bps[TOPO_MAX_DIMS], at_s;
    MUST(training_derive(x, &s->net, e));
    topo_get_bandwidths(bw_Bps, &s->net);
    for (int32_t d = 0; d < s->net.n_dims; d++)
        other_Bps[d] = bw_Bps[d] * (d ? 3 : 0.7);
    const struct collective_way way = search_way(s, bw_Bps), other = search_way(s, other_Bps);
    search_forms_set(&forms, &way, &x->place);
    search_clock_set(&clock, &way, &forms, seen);
    double time_s = search_clock_time(&clock, &x->cost, INFINITY),
           alone_s = search_clock_time(&clock, &x->cost, 0),
           least_s = search_clock_least(&least, &clock, 1, 1, &x->cost);
    const struct alloc_cut cut = search_tangent(&at_s, &clock, &x->cost, 1),
                           same = search_tangent_at(&way, &x->place, &x->cost, 1);
    assert_close(search_clock_at(&way, &x->place, &x->cost), time_s, 1e-12);
    assert_close(at_s, time_s, 1e-12);
    assert_close(alloc_cut_at(&cut, bw_Bps, s->net.n_dims), time_s, 1e-12);
    assert_close(alloc_cut_at(&same, bw_Bps, s->net.n_dims), time_s, 1e-12);
    const struct alloc_cut of = search_tangent_of(&other, &forms, &x->cost, 1);
    assert_close(alloc_cut_at(&of, other_Bps, s->net.n_dims), search_clock_at(&other, &x->place, &x->cost),
                 1e-12);
    assert_true(alloc_cut_at(&cut, other_Bps, s->net.n_dims) <=
                search_clock_at(&other, &x->place, &x->cost) * (1 + 1e-12));
    assert_close(least_s, alone_s, 1e-12);
    assert_true(alone_s <= time_s);
    /* The clock's own bandwidths are among those that a price allows: no bound is above their time. */
    for (int32_t n = 1; n <= s->net.n_dims; n++) {
        double price[TOPO_MAX_DIMS] = { 0 }, rent = 0;
        for (int32_t d = 0; d < n; d++)
            rent += (price[d] = d + 1) * bw_Bps[d];
        search_clock_set(&clock, &way, &forms, seen);
        clock.price = price;
        clock.rent = rent;
        assert_close(search_clock_time(&clock, &x->cost, INFINITY), time_s, 1e-12);
    }
    assert_close(search_clock_time(&clock, &x->cost, alone_s), time_s, 1e-15);
    *n_shared += alone_s < time_s * (1 - 1e-9);
}

TEST(clocks_agree_and_their_bounds_are_reached)
{
    struct ask a = { "1", SLOW, EXPERTS,
                     ", search: { context: [ring], zero: [1, 3], tp: [1, 2], pp: [1], ep_overlap: [batch], "
                     "top: 60 }",
                     "" };
    KEEP(struct search_seen *, seen, free_at) = calloc(1, sizeof *seen);
    int64_t n_shared = 0;
    assert_non_null(seen);
    for (int i = 0; i < 2; i++) {
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct design_choice, c, choice_free);
        a.more = i ? "model: bandwidth\n" : "model: alpha-beta\n";
        const struct search_result *r = must_find(&c, &s, &a, DESIGN_NEEDS_BANDWIDTH);
        for (int32_t k = 0; k < r->n_found; k++) {
            struct training x = *s.workloads[0].training;
            x.plan = r->found[k].plan;
            read_clock(&n_shared, &s, &x, seen);
        }
    }
    assert_true(n_shared > 10);
}

static const struct ask split_cases[] = {
    { "0.02", OPEN, DENSE, ", search: { tp: [1, 2, 4], cp: [1], context: [ring], zero: [0, 1, 3] }",
      "total_GBps: 12\n" },
    { "0.02", OPEN, DENSE, ", search: { tp: [1, 2, 4], cp: [1], context: [ring], zero: [0, 1, 3] }",
      "constraints: [ node + 3*pod <= 20, pod >= 0.1*node, node >= 1 ]\n" },
    { "1", OPEN, EXPERTS, ", search: { cp: [1], zero: [1], seq_parallel: [true] }", "total_GBps: 12\n" },
    { "0.02", OPEN, DENSE, ", search: { cp: [1], zero: [1], interleave: [1] }",
      PARTS "total_GBps: 12\nobjective: perf_per_cost\n" },
    { "0.02", OPEN, DENSE, ", search: { cp: [1], zero: [1], interleave: [1] }",
      PARTS "objective: cost\ntime_limit_s: 0.5\n" },
    { "0.02", OPEN, DENSE, ", search: { cp: [1], zero: [1], interleave: [1] }",
      PARTS
      "total_GBps: 12\nsystem: { npu_usd: 9, npu_watt: 1, npus_per_node: 1 }\nobjective: tco_per_token\n" },
    { "0.02", OPEN, DENSE, ", search: { cp: [1], zero: [1], interleave: [1] }",
      PARTS "count_npus: true\nobjective: perf_per_cost\n" },
    { "0.02", OPEN, DENSE, ", search: { cp: [1], zero: [1], interleave: [1] }",
      PARTS "constraints: [ node == 9, pod == 3 ]\nobjective: perf_per_cost\n" },
    { "0.02", OPEN, DENSE, ", search: { tp: [1, 2, 4], cp: [1], zero: [0, 1, 3], interleave: [1] }",
      PARTS "total_GBps: 1200\n" },
    { "0.02", OPEN, DENSE, ", search: { tp: [1, 2, 4], cp: [1], zero: [0, 1, 3], top: 40 }",
      "constraints: [ node + 3*pod <= 20, pod >= 0.1*node, node >= 1 ]\n" },
    { "0.02", OPEN, DENSE, ", search: { cp: [1], zero: [1], interleave: [1], top: 40 }",
      PARTS "objective: cost\ntime_limit_s: 0.5\n" },
    { "0.02", HALF, DENSE, ", search: { cp: [1], zero: [1], interleave: [1] }",
      PARTS "objective: perf_per_cost\n" },
};

TEST(no_plan_with_its_best_split_is_better_than_what_is_found)
{
    int64_t n_split = 0;
    for (size_t i = 0; i < COUNT_OF(split_cases); i++) {
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct design, d, design_free);
        KEEP(struct brute *, b, free_at) = malloc(sizeof *b);
        assert_non_null(b);
        OK(load(&s, &split_cases[i], DESIGN_FOR_SPLIT, e));
        OK(design_solve(&d, &s, e));
        const struct search_result *r = choice_plans(&d.chosen, 0);
        assert_true(r->n_found > 0);
        double best = brute_best(b, d.chosen.point, true);
        assert_list(b, r);
        assert_close(r->found[0].value, best, 1e-9);
        assert_int_equal(r->n_timed, r->proof.n_ruled_out + r->n_split);
        assert_int_equal(d.answer.status, ALLOC_SOLVED);
        assert_true(d.plans.proved && d.answer.gap <= ALLOC_GAP && d.answer.lower_bound <= best);
        assert_true(r->lower_bound <= best * (1 + 1e-9));
        n_split += r->n_split;
    }
    /* Bounds rule out as much as they did when this was written. */
    assert_in_range(n_split, 1, 612);
}

/* At the bandwidths of the answer, the plan that is printed takes its time to the last bit; and its own best
 * split is that of the answer. */
TEST(a_plan_that_is_found_with_a_split_runs_as_it_is_printed)
{
    for (size_t i = 0; i < COUNT_OF(split_cases); i++) {
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct design_point, given, design_point_free);
        KEEP(struct design, best, design_free);
        KEEP(struct design, at, design_free);
        KEEP(struct design, own, design_free);
        KEEP(struct text, map, text_free) = { 0 };
        struct json j = { .out = &map };
        struct ask a = split_cases[i];
        OK(load(&s, &a, DESIGN_FOR_SPLIT, e));
        OK(design_solve(&best, &s, e));
        json_open(&j, NULL, '{');
        schema_write(&j, &plan_section, &best.chosen.point->workloads[0].training->plan, true);
        json_close(&j, '}');
        a.search = "";
        OK(load_plan(&given, &a, text_str(&map), DESIGN_FOR_SPLIT, e));
        OK(design_evaluate(&at, &given, best.bw_Bps, e));
        assert_memory_equal(&at.time_s, &best.time_s, sizeof at.time_s);
        OK(design_solve(&own, &given, e));
        assert_close(own.answer.value, best.answer.value, 1e-8);
    }
}

/* A node fixed at 450 GB/s of 500 leaves 50 to the rails, and so to the spine above them. */
TEST(a_fixed_bandwidth_caps_the_others_of_a_total)
{
    KEEP(struct design_point, s, design_point_free);
    struct design_question q;
    double cap_Bps[TOPO_MAX_DIMS];
    OK(design_point_load(&s, "configs/studies/llm-1t-8192.yaml", NULL, 0, DESIGN_FOR_SPLIT, e));
    const struct step_fn shape = { .n_dims = s.net.n_dims };
    design_ask(&q, &s);
    q.problem.step = &shape;
    alloc_find_caps(cap_Bps, &q.problem);
    assert_int_equal(s.net.n_dims, 4);
    assert_close(cap_Bps[0], 450e9, 1e-12);
    for (int32_t d = 1; d < s.net.n_dims; d++)
        assert_close(cap_Bps[d], 50e9, 1e-12);
}

/* What is given is not free in the bound of a product: 27 splits, where 454 were needed if it was. */
TEST(products_are_bounded_within_what_rows_leave)
{
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct design_choice, c, choice_free);
    const struct search_result *r =
        must_find(&c, &s, &split_cases[COUNT_OF(split_cases) - 1], DESIGN_FOR_SPLIT);
    assert_true(r->proof.n_open == 0 && r->n_timed > 500);
    assert_in_range(r->n_split, 1, 60);
}

/* Bounds are there to rule plans out: those that are sharpened leave few more than are listed (10). */
TEST(bounds_leave_few_plans_to_split)
{
    const size_t sharpened[] = { 0, 1, COUNT_OF(split_cases) - 1 };
    for (size_t i = 0; i < COUNT_OF(sharpened); i++) {
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct design_choice, c, choice_free);
        const struct search_result *r = must_find(&c, &s, &split_cases[sharpened[i]], DESIGN_FOR_SPLIT);
        assert_in_range(r->n_split, 1, 14);
    }
}

static void assert_same_result(const struct search_result *a, const struct search_result *b)
{
    assert_true(a->n_found == b->n_found && a->n_candidates == b->n_candidates && a->n_timed == b->n_timed);
    assert_true(a->proof.n_ruled_out == b->proof.n_ruled_out && a->n_split == b->n_split);
    assert_memory_equal(a->n_rejected, b->n_rejected, sizeof a->n_rejected);
    for (int32_t i = 0; i < a->n_found; i++) {
        assert_int_equal(a->found[i].rank, b->found[i].rank);
        assert_memory_equal(&a->found[i].value, &b->found[i].value, sizeof a->found[i].value);
        assert_memory_equal(a->found[i].bw_Bps, b->found[i].bw_Bps, sizeof a->found[i].bw_Bps);
    }
}

/* A search of at most @p most notes. */
static void search_noted(struct search_result *out, const struct design_point *s, bool split, int64_t most,
                         bool counts)
{
    struct search_space space;
    struct search_book book;
    const struct training *base = s->workloads[0].training;
    const double bw_Bps[] = { 10e9, 2e9 };
    MUST(schema_read(&space, &search_section, &s->doc, base->search, e));
    MUST(search_book_build(&book, &space, s, base, most, counts, e));
    assert_true(!counts || (search_book_kept(&book) > 0 ? search_book_kept(&book) <= most : most < 100));
    if (split)
        MUST(search_split(out, &book, e));
    else
        MUST(search_given(out, &book, bw_Bps, e));
    assert_in_range(search_book_kept(&book), most > 0, most); /* what was read is not written again */
    search_book_free(&book);
}

TEST(plans_that_are_not_noted_are_found_too)
{
    static const int64_t mosts[] = { 0, 1, 5, 40 };
    for (int split = 0; split < 2; split++) {
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct search_result, all, search_free);
        OK(load(&s, split ? &split_cases[0] : &given_cases[0], split ? DESIGN_FOR_SPLIT : 0, e));
        search_noted(&all, &s, split, SEARCH_MOST_NOTED, true);
        assert_true(all.n_found > 0);
        for (size_t i = 0; i < COUNT_OF(mosts); i++) {
            KEEP(struct search_result, few, search_free);
            search_noted(&few, &s, split, mosts[i], true);
            assert_same_result(&few, &all);
        }
        /* Nobody counts: the same plans, and no numbers of others. */
        KEEP(struct search_result, bare, search_free);
        search_noted(&bare, &s, split, SEARCH_MOST_NOTED, false);
        assert_int_equal(bare.n_candidates + bare.n_timed, 0);
        assert_int_equal(bare.n_found, all.n_found);
        assert_int_equal(bare.found[0].rank, all.found[0].rank);
    }
}

/* What a book keeps of one network, notes and the best plans, changes nothing of the next. */
TEST(a_book_that_was_read_finds_the_same_plans)
{
    static const double networks_Bps[][2] = { { 10e9, 2e9 }, { 1e9, 2e9 }, { 90e9, 0.1e9 }, { 10e9, 2e9 } };
    struct search_space space;
    KEEP(struct search_book, book, search_book_free) = { 0 };
    KEEP(struct design_point, s, design_point_free);
    OK(load(&s, &given_cases[0], 0, e));
    const struct training *base = s.workloads[0].training;
    OK(schema_read(&space, &search_section, &s.doc, base->search, e));
    OK(search_book_build(&book, &space, &s, base, SEARCH_MOST_NOTED, true, e));
    for (size_t i = 0; i < COUNT_OF(networks_Bps); i++) {
        KEEP(struct search_book, fresh, search_book_free) = { 0 };
        KEEP(struct search_result, one, search_free);
        KEEP(struct search_result, other, search_free);
        OK(search_book_build(&fresh, &space, &s, base, SEARCH_MOST_NOTED, true, e));
        OK(search_given(&one, &book, networks_Bps[i], e));
        OK(search_given(&other, &fresh, networks_Bps[i], e));
        assert_same_result(&one, &other);
        for (int32_t k = 0; k < one.n_found; k++)
            assert_int_equal(one.found[k].alike, other.found[k].alike);
    }
    assert_true(search_book_kept(&book) > 0);
}

static void assert_same_book(const struct search_book *a, const struct search_book *b)
{
    static const double bw_Bps[] = { 5e9, 5e9 };
    KEEP(struct search_result, one, search_free);
    KEEP(struct search_result, other, search_free);
    MUST(search_given(&one, a, bw_Bps, e));
    MUST(search_given(&other, b, bw_Bps, e));
    assert_same_result(&one, &other);
    assert_true(one.n_found > 0);
    for (int32_t most = 2; most <= 32; most *= 2) {
        KEEP(struct search_best, fast, search_best_free);
        KEEP(struct search_best, fast_too, search_best_free);
        MUST(search_fastest(&fast, a, bw_Bps, most, e));
        MUST(search_fastest(&fast_too, b, bw_Bps, most, e));
        assert_int_equal(fast.n, fast_too.n);
        for (int32_t k = 0; k < fast.n; k++)
            assert_int_equal(fast.found[k].rank, fast_too.found[k].rank);
    }
}

/* Nor does it of a network of other dimensions, where orders come to the same, or experts are on fewer nodes
 * than a rule of the plan needs. */
TEST(a_book_of_another_network_finds_the_same_plans)
{
    enum { NETWORKS = 4 };
    static const int sizes[][NETWORKS][2] = { { { 4, 4 }, { 8, 2 }, { 2, 8 }, { 4, 4 } },
                                              { { 2, 12 }, { 8, 3 }, { 3, 8 }, { 4, 6 } } };
    static const char *const asks[][2] = {
        { "{ batch: 16, dispatcher: merged, node_limit: 2 }",
          ", search: { cp: [1], zero: [1], ep: [4], dispatcher: [merged], top: 3 }" },
        { "{ batch: 24 }", ", search: { zero: [1], context: [ring], top: 3 }" }
    };
    for (size_t a = 0; a < COUNT_OF(asks); a++) {
        struct design_point points[NETWORKS];
        struct search_space space = { 0 };
        KEEP(struct search_book, book, search_book_free) = { 0 };
        for (int i = 0; i < NETWORKS; i++) {
            char dims[256];
            snprintf(
                dims, sizeof dims,
                "dims: [ { name: node, shape: switch, size: %d, bw_GBps: 5 }, { name: pod, shape: switch, "
                "size: %d, bw_GBps: 5 } ]",
                sizes[a][i][0], sizes[a][i][1]);
            const struct ask ask = { "1", dims, EXPERTS, asks[a][1], "" };
            OK(load_plan(&points[i], &ask, asks[a][0], 0, e));
            const struct training *base = points[i].workloads[0].training;
            KEEP(struct search_book, fresh, search_book_free) = { 0 };
            OK(schema_read(&space, &search_section, &points[i].doc, base->search, e));
            OK(search_book_build(&fresh, &space, &points[i], base, SEARCH_MOST_NOTED, false, e));
            if (i == 0)
                OK(search_book_build(&book, &space, &points[i], base, SEARCH_MOST_NOTED, false, e));
            book.study = &points[i];
            book.base = base;
            assert_same_book(&book, &fresh);
        }
        for (int i = 0; i < NETWORKS; i++)
            design_point_free(&points[i]);
    }
}

#define LIKE "dims: [ { name: node, shape: switch, size: 4 }, { name: pod, shape: switch, size: 4 } ]"

/* A row of a sweep begins from plans of the rows before it, and keeps no list; both change nothing of the
 * best, nor do ties, of which two like dimensions have many. */
TEST(rows_that_share_a_book_have_the_best_of_a_list)
{
    static const char *const spaces[] = { ", search: { zero: [0, 1, 3], context: [ring] }",
                                          ", search: { zero: [0, 1], context: [ring], top: 1 }" };
    static const char *const totals[] = { "total_GBps: 12\n", "total_GBps: 0.5\n", "total_GBps: 3\n",
                                          "total_GBps: 800\n", "total_GBps: 12\n" };
    for (size_t a = 0; a < COUNT_OF(spaces) * COUNT_OF(totals); a += COUNT_OF(totals)) {
        struct search_shelf *shelf = search_shelf_new();
        for (size_t i = 0; i < COUNT_OF(totals); i++) {
            const struct ask ask = { "0.02", LIKE, DENSE, spaces[a / COUNT_OF(totals)], totals[i] };
            struct search_space space = { 0 };
            struct search_book row, whole;
            KEEP(struct design_point, s, design_point_free);
            KEEP(struct search_result, one, search_free);
            KEEP(struct search_result, list, search_free);
            OK(load(&s, &ask, DESIGN_FOR_SPLIT, e));
            const struct training *base = s.workloads[0].training;
            OK(schema_read(&space, &search_section, &s.doc, base->search, e));
            OK(search_book_open(&row, shelf, &space, &s, base, e));
            OK(search_book_build(&whole, &space, &s, base, SEARCH_MOST_NOTED, true, e));
            OK(search_split(&one, &row, e));
            OK(search_split(&list, &whole, e));
            assert_true(one.proved && list.proved && one.unique == list.unique);
            assert_int_equal(one.found[0].rank, list.found[0].rank);
            assert_close(one.found[0].value, list.found[0].value, 0);
            search_book_close(&row, shelf);
            search_book_free(&whole);
        }
        search_shelf_free(shelf);
    }
}

/* A shelf knows the plans of a network that it has seen, whatever its tiers and planes: what it says is what
 * a search finds, also of a network that differs in one thing. */
TEST(what_a_shelf_knows_of_a_network_is_what_a_search_finds)
{
    static const struct ask ask = { "0.02", GIVEN, DENSE,
                                    ", search: { zero: [0, 1], context: [ring], top: 3 }",
                                    "model: alpha-beta\n" };
    static const double most_s[] = { INFINITY, 1e-9, 1, 1e-9 };
    struct search_shelf *shelf = search_shelf_new();
    for (int i = 0; i < 7; i++) {
        KEEP(struct design_point, s, design_point_free);
        OK(load(&s, &ask, DESIGN_NEEDS_BANDWIDTH, e));
        struct topo_dim *dim = &s.net.dims[1];
        double bw_Bps[TOPO_MAX_DIMS], least_s;
        snprintf(dim->tier, sizeof dim->tier, "%s", i == 1 ? "other" : "");
        dim->fabric.planes = i == 2 ? 4 : 1;
        dim->lat_s = i == 3 ? 1e-3 : dim->lat_s;
        dim->efficiency = i == 4 ? 0.01 : dim->efficiency;
        s.model = i == 5 ? SIM_BANDWIDTH : s.model;
        topo_get_bandwidths(bw_Bps, &s.net);
        bw_Bps[0] *= i == 6 ? 0.01 : 1;
        for (int k = 0; k < 2; k++) {
            KEEP(struct design_choice, one, choice_free) = { 0 };
            KEEP(struct design_choice, other, choice_free) = { 0 };
            OK(choice_begin(&one, &s, e));
            OK(choice_begin(&other, &s, e));
            OK(search_plans(&one, bw_Bps, shelf, e));
            OK(search_plans(&other, bw_Bps, NULL, e));
            const struct search_result *x = choice_plans(&one, 0), *y = choice_plans(&other, 0);
            assert_int_equal(x->n_found, y->n_found);
            for (int32_t f = 0; f < x->n_found; f++)
                assert_true(x->found[f].rank == y->found[f].rank &&
                            x->found[f].time_s == y->found[f].time_s &&
                            x->found[f].alike == y->found[f].alike);
        }
        for (size_t k = 0; k < COUNT_OF(most_s); k++) {
            double alone_s;
            OK(search_least(&least_s, &s, 0, bw_Bps, most_s[k], shelf, e));
            OK(search_least(&alone_s, &s, 0, bw_Bps, most_s[k], NULL, e));
            assert_close(least_s, alone_s, 0);
        }
    }
    search_shelf_free(shelf);
}

TEST(the_number_of_threads_changes_nothing)
{
    const struct ask *const asks[] = { &given_cases[0], &split_cases[0] };
    int threads = omp_get_max_threads();
    for (int i = 0; i < 2; i++) {
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct design_choice, one, choice_free);
        struct design_choice more;
        omp_set_num_threads(1);
        const struct search_result *r =
            must_find(&one, &s, asks[i], i ? DESIGN_FOR_SPLIT : DESIGN_NEEDS_BANDWIDTH);
        for (int n = 2; n <= 5; n += 3) {
            omp_set_num_threads(n);
            OK(design_choose(&more, &s, e));
            assert_same_result(r, choice_plans(&more, 0));
            choice_free(&more);
        }
    }
    omp_set_num_threads(threads);
}

TEST(a_search_without_result_says_why)
{
    static const struct {
        struct ask ask;
        unsigned needs;
        const char *text;
    } cases[] = {
        { { "0.001", GIVEN, DENSE, ", search: { context: [ring] }", "" },
          DESIGN_NEEDS_BANDWIDTH,
          "because memory does not suffice (need at least 0.00" },
        { { "1", GIVEN, DENSE, ", search: { tp: [3], pp: [5] }", "" },
          DESIGN_NEEDS_BANDWIDTH,
          "workload.search finds no plan; rejected 7 by tp" },
        { { "1", OPEN, DENSE, ", search: { tp: [1], cp: [1], pp: [1] }",
            "total_GBps: 12\nconstraints: [ node >= 10, pod >= 10 ]\n" },
          DESIGN_FOR_SPLIT,
          "finds no plan: the constraints contradict each other, no split satisfies them" },
        { { "1", OPEN, DENSE, ", search: { tp: [1], cp: [1], pp: [1] }",
            "total_GBps: 12\nconstraints: [ pod <= 0 ]\n" },
          DESIGN_FOR_SPLIT,
          "because no split satisfies the constraints" },
        { { "1", OPEN, DENSE, ", search: { tp: [1], cp: [1], pp: [1] }", PARTS "objective: perf_per_cost\n" },
          DESIGN_FOR_SPLIT,
          "because no split is best: ill-posed: " },
        { { "1", OPEN, DENSE, ", search: { tp: [1], cp: [1], pp: [1] }", PARTS },
          DESIGN_FOR_SPLIT,
          "because no split is best: unbounded: " },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct design_choice, c, choice_free);
        assert_int_equal(find(&c, &s, &cases[i].ask, cases[i].needs, e), ERR_NO_DESIGN);
        assert_has(e->msg, cases[i].text);
    }
}

TEST(a_bad_search_is_refused_at_its_place)
{
    static const struct refusal cases[] = {
        { ", search: { tp: 4 }", ERR_PARSE, "workload.search.tp is 4, expected a list" },
        { ", search: { tp: [0] }", ERR_RANGE, "workload.search.tp[0] is 0, expected 1 or more" },
        { ", search: { tp: [] }", ERR_RANGE, "workload.search.tp has 0 entries, expected 1 to 64" },
        { ", search: { zero: [4] }", ERR_PARSE, "workload.search.zero[0] is 4, expected one of 0, 1, 2, 3" },
        { ", search: { recompute: [half] }", ERR_PARSE, "is half, expected one of none, selective, full" },
        { ", search: { top: 0 }", ERR_RANGE, "workload.search.top is 0, expected 1 to 1000" },
        { ", search: { tpp: [1] }", ERR_PARSE, "unknown key \"workload.search.tpp\"" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct ask a = given_cases[0];
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct design_choice, c, choice_free);
        a.search = cases[i].text;
        assert_int_equal(find(&c, &s, &a, DESIGN_NEEDS_BANDWIDTH, e), cases[i].code);
        assert_has(e->msg, cases[i].message);
    }
}

/* Two dimensions that are alike: with the axes the other way round, another split is as good. */
TEST(a_split_is_unique_over_all_plans)
{
    static const char *const orders[] = { "given", "any" };
    for (int i = 0; i < 2; i++) {
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct design, d, design_free);
        char search[256];
        snprintf(search, sizeof search,
                 ", search: { tp: [2], cp: [1], pp: [1], zero: [1], micro_batch: [1], recompute: [none], "
                 "seq_parallel: [false], order: %s }",
                 orders[i]);
        struct ask a = { "1",
                         "dims: [ { name: a, shape: switch, size: 2, tier: N }, "
                         "{ name: b, shape: switch, size: 2, tier: N } ]",
                         DENSE, search, "total_GBps: 12\n" };
        OK(load(&s, &a, DESIGN_FOR_SPLIT, e));
        OK(design_solve(&d, &s, e));
        assert_int_equal(d.answer.status, ALLOC_SOLVED);
        assert_int_equal(d.answer.unique, i == 0);
        const struct search_result *r = choice_plans(&d.chosen, 0);
        assert_int_equal(r->n_found, i + 1);
        if (i == 1)
            assert_close(r->found[0].bw_Bps[0], r->found[1].bw_Bps[1], 1e-6);
    }
}

/* The step over the best step of the same plan is 1 for every plan: that rules none out. */
TEST(least_regret_of_one_workload_takes_the_plan_of_its_least_time)
{
    static const char *const combines[] = { "sum", "regret" };
    struct plan plan[2];
    double time_s[2];
    for (int i = 0; i < 2; i++) {
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct design, d, design_free);
        char more[64];
        snprintf(more, sizeof more, "total_GBps: 12\ncombine: %s\n", combines[i]);
        struct ask a = { "1",
                         "dims: [ { name: a, shape: switch, size: 4, tier: N }, "
                         "{ name: b, shape: switch, size: 2, tier: N } ]",
                         DENSE, ", search: { cp: [1], pp: [1], zero: [1], recompute: [none] }", more };
        OK(load(&s, &a, DESIGN_FOR_SPLIT, e));
        OK(design_solve(&d, &s, e));
        assert_int_equal(d.answer.status, ALLOC_SOLVED);
        assert_true(d.plans.proved && d.plans.tried > 1);
        assert_close(d.answer.value, i ? 1 : d.time_s, 1e-9);
        assert_true(d.answer.lower_bound <= d.answer.value && d.answer.gap <= ALLOC_GAP);
        time_s[i] = d.time_s;
        plan[i] = d.chosen.point->workloads[0].training->plan;
    }
    assert_close(time_s[1], time_s[0], 1e-9);
    for (int axis = 0; axis < N_PLAN_AXES; axis++)
        assert_int_equal(plan[1].degree[axis], plan[0].degree[axis]);
}
