/*
 * Plans of several workloads that share a split, against every mix of their plans, each split on its own.
 */
#include "base/vec.h"
#include "kinds/design/answer/whole.h"
#include "kinds/design/ask/load.h"
#include "tests/unit/draw_text.h"
#include "tests/unit/folder.h"

#include <omp.h>

#include "kinds/design/explore/search.h"
#include "kinds/design/explore/solve.h"

enum { MOST_SIDES = 3, MOST_MIXES = 400 };

/* ---- studies ---- */

static void draw_search(char *text, struct rng *r)
{
    static const char *const spaces[] = { "tp: [1, 2], pp: [1]", "tp: [1, 2, 4], pp: [1]",
                                          "tp: [1, 2], pp: [2]", "tp: [1, 2, 4, 8], pp: [1]", "pp: [2]" };
    add(text,
        "search: { cp: [1], interleave: [1], recompute: [none], seq_parallel: [false], schedule: [1f1b], "
        "context: [ring], micro_batch: [%d], zero: [%d], ep_overlap: [none], dispatcher: [all-to-all], %s, "
        "top: %d }",
        PICK(r, 1, 2), PICK(r, 0, 1), spaces[rng_below(r, COUNT_OF(spaces))], PICK(r, 1, 3, 20));
}

/* A model with a search or a plan, or a step that is an expression. */
static void draw_workload(char *text, struct rng *r, int i, bool searched)
{
    static const double weights[] = { 1, 1, 3, 1000, 0.001 }; /* also of one that rules, or does not count */
    double weight = weights[rng_below(r, COUNT_OF(weights))];
    if (!searched && chance(r, 0.4)) {
        add(text,
            "  - { weight: %g, workload: { name: w%d, step: { sum: [ { compute_ms: "
            "%.3g }, { all-reduce: { size_MB: %.3g, group: all } } ] } } }\n",
            weight, i, rng_log_range(r, 0.1, 10), rng_log_range(r, 0.1, 10));
        return;
    }
    bool experts = chance(r, 0.4);
    add(text,
        "  - { weight: %g, workload: { name: w%d, model: { layers: %d, hidden: %d, heads: 8, vocab: 512, ",
        weight, i, PICK(r, 2, 4), PICK(r, 64, 128, 256));
    add(text, "seq: %d%s }, parallel: { batch: 16%s }", PICK(r, 16, 64),
        experts ? ", moe: { experts: 4, top_k: 2, ffn: 96 }" : "",
        chance(r, 0.5) ? ", overlap_dp: false" : "");
    if (searched) {
        add(text, ", ");
        draw_search(text, r);
    }
    add(text, " } }\n");
}

/* Prices that fill no part evenly. */
static void draw_parts(char *text, struct rng *r)
{
    add(text,
        "parts:\n  catalogue:\n"
        "    - { name: nic, kind: nic, ports: 2, bw_GBps: 5, usd: %d, watt: 20 }\n"
        "    - { name: box, kind: switch, ports: 8, bw_GBps: 5, usd: %d, watt: 300 }\n"
        "    - { name: wire, kind: link, bw_GBps: 5, usd: 110, watt: 6 }\n"
        "    - { name: trace, kind: link, bw_GBps: 2, usd: %d, watt: 1 }\n"
        "  build:\n    - { tier: T0, end_link: trace }\n"
        "    - { tier: T1, nic: nic, switch: box, end_link: wire, up_link: wire }\n",
        PICK(r, 300, 900), PICK(r, 700, 4000), PICK(r, 20, 200));
}

static void draw_question(char *text, struct rng *r, bool *regret)
{
    *regret = chance(r, 0.35);
    if (*regret)
        add(text, "combine: regret\n");
    if (chance(r, 0.15)) {
        draw_parts(text, r);
        if (*regret || chance(r, 0.6))
            add(text, "constraints: [ usd <= %.4g ]\n", rng_log_range(r, 1e4, 1e5));
        else
            add(text, "objective: perf_per_cost\nconstraints: [ d1 <= 20, d0 <= 12 ]\n");
        return;
    }
    if (!*regret && chance(r, 0.55)) {
        add(text,
            "parts: { nic_port_GBps: 5, rates: [ { tier: T0, link_usd_per_GBps: %d }, { tier: T1, "
            "link_usd_per_GBps: 8, switch_usd_per_GBps: 18, nic_usd_per_GBps: 32 } ] }\n",
            PICK(r, 4, 20));
        if (chance(r, 0.5)) {
            add(text, "objective: cost\ntime_limit_s: %.4g\n", rng_log_range(r, 0.005, 0.1));
            return;
        }
        add(text, "objective: perf_per_cost\n");
        if (chance(r, 0.5)) { /* no row binds */
            add(text, "count_npus: true\nconstraints: [ d0 <= 1000 ]\n");
            return;
        }
    }
    if (chance(r, 0.6))
        add(text, "total_GBps: %.4g\n", rng_log_range(r, 0.5, 20));
    else
        add(text, "constraints: [ d0 + %d*d1 <= %.4g, d1 >= 0.1*d0 ]\n", PICK(r, 1, 3),
            rng_log_range(r, 0.5, 20));
}

static void draw_study(char *text, struct rng *r, bool *regret)
{
    int n = PICK(r, 2, 2, 3), searched = PICK(r, 1, 2, 2, 3);
    bool square = chance(r, 0.5);
    *text = '\0';
    add(text,
        "network: { npu: { peak_TFLOPS: 1, mem_GBps: 100, kernel_ns: 1000, usd: 30 }, dims: [ { name: d0, "
        "shape: "
        "%s, size: %d, tier: T0, latency_ns: 500 }, { name: d1, shape: switch, size: %d, tier: T1, "
        "latency_ns: 900 } ] }\n",
        chance(r, 0.5) ? "ring" : "full", square ? 4 : 2, square ? 2 : 4);
    if (chance(r, 0.2))
        add(text, "model: alpha-beta\n");
    add(text, "workloads:\n");
    for (int i = 0; i < n; i++)
        draw_workload(text, r, i, i < searched);
    draw_question(text, r, regret);
}

/* ---- all mixes ---- */

/* Every plan of a workload, each in every place, compiled. */
struct side {
    struct design_workload own;
    struct design_point point;
    struct step_fn *fns; /* shape [n], owned */
    int32_t n, cap;
    double scale;
};

static bool skip_nothing(void *with, double least_s)
{
    (void)with;
    return isinf(least_s);
}

static void take_all(void *with, const struct search_candidate *c)
{
    static const double bw_Bps[] = { 1e9, 1e9 };
    struct side *side = with;
    struct plan plan = *c->plan;
    memcpy(plan.order, c->order, sizeof plan.order);
    assert_true(vec_reserve(side->fns, side->cap, side->n + 1));
    MUST(search_compile_plan(&side->fns[side->n], &plan, side->own.training, &side->point, bw_Bps, e));
    side->n++;
}

static void list_plans(struct side *side, const struct design_point *s, int32_t i)
{
    struct search_space space = { 0 };
    struct search_book book;
    double bw_Bps[] = { 1e9, 1e9 };
    *side = (struct side){ .own = s->workloads[i], .point = *s, .scale = s->workloads[i].weight };
    side->own.weight = 1;
    side->point.workloads = &side->own;
    side->point.n_workloads = 1;
    if (!design_point_is_searched(&s->workloads[i])) {
        assert_true(vec_reserve(side->fns, side->cap, 1));
        side->fns[side->n++] = side->own.fn;
        return;
    }
    MUST(search_read_space(&space, s, side->own.training->search, false, e));
    MUST(search_book_build(&book, &space, &side->point, side->own.training, 1 << 20, false, e));
    const struct search_pass pass = { .ways = { search_way(&side->point, bw_Bps) },
                                      .n_ways = 1,
                                      .skip = skip_nothing,
                                      .take = take_all,
                                      .with = side };
    MUST(search_book_pass(&book, &pass, e));
    search_book_free(&book);
}

static void free_side(struct side *side)
{
    for (int32_t k = 0; k < side->n && design_point_is_searched(&side->own); k++)
        step_fn_free(&side->fns[k]);
    free(side->fns);
}

static double split(const struct design_point *s, const struct step_fn *fn)
{
    struct design_question q;
    struct alloc_answer answer;
    design_ask(&q, s);
    q.problem.step = fn;
    MUST(alloc_solve(&answer, &q.problem, e));
    double value = alloc_has_split(&answer) ? answer.value : (double)INFINITY;
    if (s->pricing == DESIGN_WHOLE && (isfinite(value) || answer.status == ALLOC_ILL_POSED)) {
        static struct whole_answer whole;
        double ignored;
        MUST(design_solve_whole(&whole, s, &q.problem, &answer, &ignored, e));
        value = whole.status == ALLOC_SOLVED ? whole.value : (double)INFINITY;
    }
    alloc_answer_free(&answer);
    return value;
}

static double mix_value(const struct design_point *s, const struct side *sides, const int32_t *at,
                        bool regret)
{
    KEEP(struct step_fn, joined, step_fn_free);
    const struct step_fn *fns[MOST_SIDES];
    double scale[MOST_SIDES];
    for (int32_t i = 0; i < s->n_workloads; i++) {
        fns[i] = &sides[i].fns[at[i]];
        scale[i] = sides[i].scale;
    }
    MUST(step_fn_join(&joined, fns, scale, s->n_workloads, (struct step_join){ .take_max = regret }, e));
    double value = split(s, &joined);
    for (int32_t i = 0; i < s->n_workloads && regret;
         i++) /* without one of its own it is held against nothing */
        value = scale[i] > 0 ? value : (double)INFINITY;
    return value;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void assert_found(const struct design_point *s, const struct design *d, const double *values,
                         int32_t n)
{
    while (isinf(values[n - 1]))
        n--;
    for (int32_t i = 0; i < s->n_workloads; i++) {
        const struct search_result *r = choice_plans(&d->chosen, i);
        if (!r)
            continue;
        assert_true(r->n_mixes > 0 && r->n_found > 0);
        for (int32_t k = 0; k < r->n_found; k++)
            assert_close(r->found[k].value, values[k], 3e-9);
        assert_true(r->n_found == n || isfinite(r->proof.value));
    }
}

/* What searches did. */
struct effort {
    int64_t tried, mixes, split;
};

/* Returns whether the study was one to compare. */
static bool test_one(struct effort *effort, uint64_t seed)
{
    char text[TEXT];
    bool regret;
    struct side sides[MOST_SIDES];
    double values[MOST_MIXES];
    int32_t most = MOST_MIXES;
    int32_t n = 1;
    struct err why = { 0 };
    FOLDER(f);
    RNG(r, 91, seed);
    KEEP(struct design_point, s, design_point_free);
    draw_study(text, r, &regret);
    MUST(design_point_load(&s, put(&f, "study.yaml", text), NULL, 0, DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT,
                           e));
    if (s.pricing == DESIGN_WHOLE) /* which takes longer */
        most = MOST_MIXES / 8;
    for (int32_t i = 0; i < s.n_workloads; i++) {
        list_plans(&sides[i], &s, i);
        n = n * sides[i].n <= most ? n * sides[i].n : most + 1;
    }
    for (int32_t i = 0; i < s.n_workloads && regret && n <= most; i++) {
        double best_s = INFINITY;
        for (int32_t k = 0; k < sides[i].n; k++)
            best_s = fmin(best_s, split(&s, &sides[i].fns[k]));
        sides[i].scale = 1 / best_s;
    }
    for (int32_t m = 0; m < n && n > 1 && n <= most; m++) {
        int32_t at[MOST_SIDES], rest = m;
        for (int32_t i = 0; i < s.n_workloads; i++) {
            at[i] = rest % sides[i].n;
            rest /= sides[i].n;
        }
        values[m] = mix_value(&s, sides, at, regret);
    }
    bool is = n > 1 && n <= most;
    if (is) {
        KEEP(struct design, d, design_free);
        qsort(values, (size_t)n, sizeof *values, by_size);
        int rc = design_solve(&d, &s, &why);
        if (isinf(values[0])) {
            assert_true(rc == ERR_NO_DESIGN || (s.pricing == DESIGN_WHOLE && !alloc_has_split(&d.answer)));
        } else {
            assert_ok(rc, &why);
            assert_found(&s, &d, values, n);
            effort->tried += d.plans.tried;
            for (int32_t i = 0; i < s.n_workloads; i++) {
                const struct search_result *of = choice_plans(&d.chosen, i);
                effort->mixes += of ? of->n_mixes : 0;
                effort->split += of ? of->n_split : 0;
            }
            assert_int_equal(d.answer.status, ALLOC_SOLVED);
            assert_true(d.plans.proved && d.verified);
            assert_close(d.answer.value, values[0], 3e-9);
            assert_true(d.answer.lower_bound <= values[0] * (1 + 1e-11));
            assert_true(!regret || fabs(d.regret - values[0]) <= 1e-8 * values[0]);
        }
    }
    for (int32_t i = 0; i < s.n_workloads; i++)
        free_side(&sides[i]);
    return is;
}

/* SOAK: 3,000. */
TEST(a_mix_is_the_best_of_all_mixes_of_plans)
{
    omp_set_num_threads(1); /* the searches are small */
    int want = getenv("SOAK") ? 3000 : repeats(60), n = 0;
    struct effort sum = { 0 };
    for (uint64_t seed = 0; n < want; seed++)
        n += test_one(&sum, seed);
    /* Bounds rule out as much as they did when this was written. */
    if (want == 60)
        assert_true(sum.tried <= 1890 && sum.mixes <= 3830 && sum.split <= 376);
}

/* ---- one study, in several ways ---- */

#define NETWORK                                                                                              \
    "network: { npu: { peak_TFLOPS: 1, mem_GB: %s, mem_GBps: 100, kernel_ns: 1000 }, dims: [ { name: node, " \
    "shape: ring, size: 4, latency_ns: 500, tier: N }, { name: pod, shape: switch, size: 2, latency_ns: "    \
    "2000, tier: P } ] }\n"
#define DENSE                                                                                                \
    "{ name: dense, model: { layers: 4, hidden: 256, heads: 4, vocab: 512, seq: 64 }, parallel: { batch: 8 " \
    "}, search: { cp: [1], zero: [1], interleave: [1], top: 2 } }"
#define EXPERTS                                                                                              \
    "{ name: experts, model: { layers: 4, hidden: 128, heads: 4, vocab: 512, seq: 64, moe: { experts: 4, "   \
    "top_k: 2, ffn: 256 } }, parallel: { batch: 8 }, search: { cp: [1], zero: [1], top: 2 } }"
#define BOTH "{ weight: 2, workload: " DENSE " }, { workload: " EXPERTS " }"
#define ONE  "{ workload: " DENSE " }"

static int solve(struct design *d, struct design_point *s, const char *mem_GB, const char *workloads,
                 const char *more, struct err *e)
{
    char text[TEXT];
    FOLDER(f);
    *d = (struct design){ 0 };
    snprintf(text, sizeof text, NETWORK "workloads: [ %s ]\n%s", mem_GB, workloads, more);
    int rc = design_point_load(s, put(&f, "study.yaml", text), NULL, 0,
                               DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT, e);
    return rc ? rc : design_solve(d, s, e);
}

/* Of 806,412 mixes. */
TEST(bounds_leave_few_mixes_to_split)
{
    static const char *const asked[] = { "total_GBps: 12\n", "total_GBps: 12\ncombine: regret\n" };
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct design, d, design_free);
        OK(solve(&d, &s, "1", BOTH, asked[i], e));
        const struct search_result *a = choice_plans(&d.chosen, 0), *b = choice_plans(&d.chosen, 1);
        assert_true(d.plans.proved && d.answer.status == ALLOC_SOLVED);
        assert_true((double)a->n_timed * (double)b->n_timed > 5e5);
        assert_in_range(d.plans.tried, 1, 40);
        assert_int_equal(a->n_timed, a->proof.n_ruled_out + a->n_split);
        assert_int_equal(a->n_mixes, b->n_mixes);
    }
}

/* One workload is nearly all of the time: without a better mix of its plans than the scouts', none of
 * another's is ruled out. */
TEST(a_workload_that_rules_leaves_few_mixes_to_split)
{
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct design, d, design_free);
    OK(solve(&d, &s, "1",
             "{ weight: 1000, workload: " DENSE " }, { workload: " EXPERTS
             " }, { weight: 0.001, workload: " DENSE " }",
             "total_GBps: 12\n", e));
    assert_true(d.plans.proved && d.answer.status == ALLOC_SOLVED);
    assert_in_range(choice_plans(&d.chosen, 0)->n_mixes, 1, 100);
}

/* No plan of either is better at the split of the mix, and none of them alone has a better one than what
 * regret holds it against. */
TEST(no_plan_of_a_mix_can_be_put_in_place_of_another)
{
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct design, d, design_free);
    OK(solve(&d, &s, "1", BOTH, "total_GBps: 12\n", e));
    struct design_choice c;
    OK(choice_begin(&c, &s, e));
    OK(search_plans(&c, d.bw_Bps, NULL, e));
    for (int32_t i = 0; i < 2; i++)
        assert_close(choice_plans(&c, i)->found[0].time_s, d.loads[i].time_s, 1e-9);
    choice_free(&c);
}

TEST(a_mix_without_plans_says_of_which_workload)
{
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct design, d, design_free);
    KEEP(struct design_point, contrary, design_point_free);
    FAILS(solve(&d, &s, "0.001", BOTH, "total_GBps: 12\n", e), ERR_NO_DESIGN, "memory does not suffice");
    KEEP(struct design_point, many, design_point_free);
    FAILS(solve(&d, &many, "1", ONE "," ONE "," ONE "," ONE "," ONE "," ONE "," ONE "," ONE "," ONE,
                "total_GBps: 12\n", e),
          ERR_RANGE,
          "workloads[0].workload.search is given together with 8 other workloads, expected at most 7");
    FAILS(solve(&d, &contrary, "1", BOTH, "constraints: [ node <= 1, node >= 2 ]\n", e), ERR_NO_DESIGN,
          "the constraints contradict each other");
    KEEP(struct design_point, endless, design_point_free);
    FAILS(solve(&d, &endless, "1", BOTH, "constraints: [ node <= 5 ]\n", e), ERR_NO_DESIGN,
          "no split is best: unbounded: more bandwidth on pod always helps");
}

/* More bandwidth on d2 always helps the fastest plans, but not all of them. */
TEST(a_mix_is_found_where_the_first_ones_have_no_best_split)
{
    static const char text[] =
        "network: { npu: { peak_TFLOPS: 10, mem_GBps: 500, kernel_ns: 1000 }, dims: [ { name: d0, shape: "
        "full, "
        "size: 4 }, { name: d1, shape: full, size: 4 }, { name: d2, shape: full, size: 2 } ] }\n"
        "workloads:\n"
        "  - { workload: { name: w0, model: { layers: 4, hidden: 512, heads: 8, vocab: 4096, seq: 512, moe: "
        "{ "
        "experts: 8, top_k: 2, ffn: 512 } }, parallel: { batch: 32, overlap_dp: false }, search: { cp: [1], "
        "interleave: [1], recompute: [none], context: [ring], pp: [1], top: 2 } } }\n"
        "  - { weight: 1000, workload: { name: w1, step: { sum: [ { compute_ms: 5.76 }, { all-reduce: { "
        "size_MB: 1.87, group: all } } ] } } }\n"
        "constraints: [ d0 + 2*d1 <= 3.42, d1 >= 0.3*d0 ]\n";
    FOLDER(f);
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct design, d, design_free);
    OK(design_point_load(&s, put(&f, "study.yaml", text), NULL, 0, DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT,
                         e));
    OK(design_solve(&d, &s, e));
    assert_true(alloc_has_split(&d.answer));
    assert_true(!d.plans.proved && d.answer.status != ALLOC_SOLVED);
}
