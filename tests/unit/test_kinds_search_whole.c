/*
 * Random studies that search the plan, the network and the parts together, against every plan on every whole
 * design: each plan is a study of its own that names it, timed at the bandwidths of each design; each design
 * is a bill; limits and objective are computed here. What is found must be the best of these, and what is
 * said to be proved must be.
 */
#include <omp.h>

#include "kinds/design/explore/search.h"
#include "kinds/design/explore/solve.h"
#include "kinds/design/ask/load.h"
#include "kinds/design/ask/system.h"
#include "tests/unit/draw_text.h"
#include "tests/unit/folder.h"

enum { D = TOPO_MAX_DIMS, MOST_LINKS = 5, MOST_DESIGNS = 125, MOST_PLANS = 2048 };

/* What is searched: bit i of a mask, value i is tried. */
enum { TP, PP, MICRO, ZERO, RECOMPUTE, SEQ_PARALLEL, N_LISTS };
static const struct {
    const char *name, *values[3];
    int n;
} lists[N_LISTS] = { [TP] = { "tp", { "1", "2", "4" }, 3 },
                     [PP] = { "pp", { "1", "2" }, 2 },
                     [MICRO] = { "micro_batch", { "1", "2" }, 2 },
                     [ZERO] = { "zero", { "0", "1", "3" }, 3 },
                     [RECOMPUTE] = { "recompute", { "none", "full" }, 2 },
                     [SEQ_PARALLEL] = { "seq_parallel", { "false", "true" }, 2 } };

/* A study as text, in parts: with the plan or the search, with bandwidths or without. */
struct pair_study {
    const char *objective;
    int32_t n_dims, sizes[3];
    bool open[3], any_order, system;
    double peak_TFLOPS, step_GBps[3], most_usd, most_watt, least_GBps, limit_s;
    unsigned asked[N_LISTS];
    int32_t top;
    char dims[1024], parts[1024], model[256], search[512], more[512];
    int64_t batch;
    struct text text;
};

static void pair_study_free(struct pair_study *x)
{
    text_free(&x->text);
}

/* Links of a ring of two are one; of n > 2 an NPU has two; of a full mesh n - 1; through a switch one. */
static double step_of(const char *shape, int32_t size)
{
    if (strcmp(shape, "ring") == 0)
        return size == 2 ? 10 : 20;
    return strcmp(shape, "full") == 0 ? 10 * (size - 1) : 25;
}

static void draw_dims(struct pair_study *x, struct rng *r)
{
    static const char *const shapes[] = { "ring", "full", "switch" };
    char *to = x->dims, *end = x->dims + sizeof x->dims;
    x->n_dims = 2 + chance(r, 0.25);
    for (int32_t d = 0; d < x->n_dims; d++) {
        const char *shape = d == 0 ? shapes[rng_below(r, 3)] : "switch";
        x->sizes[d] = x->n_dims == 3 ? 2 : 2 << rng_below(r, 2);
        x->open[d] = d > 0 || chance(r, 0.6);
        x->step_GBps[d] = step_of(shape, x->sizes[d]);
        to += snprintf(to, (size_t)(end - to), "    - { name: d%d, shape: %s, size: %d, tier: %s%s", (int)d,
                       shape, (int)x->sizes[d], strcmp(shape, "switch") == 0 ? "Out" : "In",
                       chance(r, 0.5)   ? ", latency_ns: 900"
                       : chance(r, 0.5) ? ", latency_ns: 20000"
                                        : "");
        if (chance(r, 0.4))
            to += snprintf(to, (size_t)(end - to), ", algorithm: auto");
        to += snprintf(to, (size_t)(end - to), "%%s }\n");
    }
}

/* Prices that fill no part evenly: a box of few ports, NICs of two. */
static void draw_parts(struct pair_study *x, struct rng *r)
{
    snprintf(x->parts, sizeof x->parts,
             "parts:\n  catalogue:\n"
             "    - { name: nic, kind: nic, ports: %d, bw_GBps: 25, usd: %d, watt: 20 }\n"
             "    - { name: box, kind: switch, ports: %d, bw_GBps: 25, usd: %d, watt: 300 }\n"
             "    - { name: wire, kind: link, bw_GBps: 25, usd: 110, watt: 6 }\n"
             "    - { name: trace, kind: link, bw_GBps: 10, usd: %d, watt: 1 }\n"
             "  build:\n    - { tier: In, end_link: trace }\n"
             "    - { tier: Out, nic: nic, switch: box, end_link: wire, up_link: wire%s }\n",
             1 + (int)rng_below(r, 2), (int)rng_log_range(r, 100, 4000), 8 << rng_below(r, 2),
             (int)rng_log_range(r, 500, 20000), (int)rng_log_range(r, 5, 500),
             chance(r, 0.3) ? ", rails: 2" : "");
}

static void draw_search(struct pair_study *x, struct rng *r)
{
    char *to = x->search, *end = x->search + sizeof x->search;
    x->any_order = chance(r, 0.15);
    x->top = chance(r, 0.5) ? 1 : 4;
    to +=
        snprintf(to, (size_t)(end - to),
                 "search: { top: %d, order: %s, cp: [1], interleave: [1], context: [ring], schedule: [1f1b]",
                 (int)x->top, x->any_order ? "any" : "given");
    for (int i = 0; i < N_LISTS; i++) {
        x->asked[i] = 1 + (unsigned)rng_below(r, (1 << lists[i].n) - 1);
        to += snprintf(to, (size_t)(end - to), ", %s: [", lists[i].name);
        for (int k = 0, any = 0; k < lists[i].n; k++)
            if (x->asked[i] & 1U << k)
                to += snprintf(to, (size_t)(end - to), "%s%s", any++ ? ", " : "", lists[i].values[k]);
        to += snprintf(to, (size_t)(end - to), "]");
    }
    snprintf(to, (size_t)(end - to), " }");
}

/* Limits are drawn around what the objective would choose freely: some bind, some forbid everything. */
static void draw_question(struct pair_study *x, struct rng *r)
{
    static const char *const objectives[] = { "perf_per_cost", "time", "cost", "perf_per_watt",
                                              "tco_per_token" };
    char *to = x->more, *end = x->more + sizeof x->more;
    x->objective = objectives[chance(r, 0.4) ? 0 : rng_below(r, 5)];
    x->system = strcmp(x->objective, "tco_per_token") == 0;
    x->most_usd = x->most_watt = x->limit_s = INFINITY;
    x->least_GBps = 0;
    to += snprintf(to, (size_t)(end - to), "objective: %s\nmodel: %s\n", x->objective,
                   chance(r, 0.5) ? "bandwidth" : "alpha-beta");
    bool is_time = strcmp(x->objective, "time") == 0;
    if (is_time || chance(r, 0.2))
        x->most_usd = floor(rng_log_range(r, 1e4, 1e6));
    if (chance(r, 0.15))
        x->most_watt = floor(rng_log_range(r, 700, 2e4));
    if (chance(r, 0.2))
        x->least_GBps = floor(rng_range(r, 1, 60));
    if (strcmp(x->objective, "cost") == 0) {
        x->limit_s = rng_log_range(r, 5e-4, 3e-2) * 20 / x->peak_TFLOPS;
        to += snprintf(to, (size_t)(end - to), "time_limit_s: %.17g\n", x->limit_s);
    }
    if (x->system)
        to += snprintf(to, (size_t)(end - to),
                       "system: { npu_usd: 900, npu_watt: 500, npus_per_node: %d, step_tokens: 1e4 }\n",
                       (int)x->sizes[0]);
    to += snprintf(to, (size_t)(end - to), "constraints: [ d0 <= 1e4");
    if (isfinite(x->most_usd))
        to += snprintf(to, (size_t)(end - to), ", usd <= %.17g", x->most_usd);
    if (isfinite(x->most_watt))
        to += snprintf(to, (size_t)(end - to), ", watt <= %.17g", x->most_watt);
    if (x->least_GBps > 0)
        to += snprintf(to, (size_t)(end - to), ", d1 >= %.17g", x->least_GBps);
    snprintf(to, (size_t)(end - to), " ]\n");
}

static void draw_study(struct pair_study *x, struct rng *r)
{
    draw_dims(x, r);
    draw_parts(x, r);
    draw_search(x, r);
    x->peak_TFLOPS = chance(r, 0.5) ? 20 : chance(r, 0.5) ? 1 : 0.1; /* wires decide, or compute */
    draw_question(x, r);
    x->batch = 16LL << rng_below(r, 2);
    snprintf(x->model, sizeof x->model,
             "{ layers: 4, hidden: %d, heads: 4, vocab: 512, seq: %d, attention: unfused }",
             128 << (int)rng_below(r, 3), 64 << (int)rng_below(r, 2));
}

/* The text of the study with @p how for the workload, and bandwidths, shape [n_dims], of its dimensions: of
 * those that are given in any case two links; NULL: none of the others. */
static const char *study_text(struct pair_study *x, const char *how, const double *bw_Bps)
{
    char bw[3][64] = { "", "", "" };
    for (int32_t d = 0; d < x->n_dims; d++)
        if (!x->open[d] || bw_Bps)
            snprintf(bw[d], sizeof bw[d], ", bw_GBps: %.17g",
                     x->open[d] ? bw_Bps[d] / 1e9 : 2 * x->step_GBps[d]);
    text_clear(&x->text);
    text_printf(
        &x->text,
        "network:\n  npu: { peak_TFLOPS: %g, mem_GB: 0.06, mem_GBps: 400, usd: 900, watt: 500 }\n  dims:\n",
        x->peak_TFLOPS);
    text_printf(&x->text, x->dims, bw[0], bw[1], bw[2]);
    text_printf(&x->text, "%sworkload: { name: w, model: %s, %s }\n%s", x->parts, x->model, how, x->more);
    return text_str(&x->text);
}

/* ---- every plan on every design ---- */

struct brute {
    struct pair_study *x;
    struct folder *f;
    int32_t n_designs;
    double bw_Bps[MOST_DESIGNS][D], usd[MOST_DESIGNS], watt[MOST_DESIGNS];
    double best[MOST_PLANS], best_of[MOST_DESIGNS]; /* of each plan; of each design */
    int32_t n_plans;
    bool counted;
};

/* Links from 1 to MOST_LINKS in every dimension that is open: what is bought, and whether limits allow it. */
static void count_designs(struct brute *b, const struct design_point *s)
{
    const struct pair_study *x = b->x;
    int64_t n = 1;
    for (int32_t d = 0; d < x->n_dims; d++)
        n *= x->open[d] ? MOST_LINKS : 1;
    for (int64_t code = 0; code < n; code++) {
        double bw_Bps[D] = { 0 };
        int64_t rest = code;
        for (int32_t d = 0; d < x->n_dims; d++) {
            bw_Bps[d] = 1e9 * x->step_GBps[d] * (double)(x->open[d] ? 1 + rest % MOST_LINKS : 2);
            rest /= x->open[d] ? MOST_LINKS : 1;
        }
        struct topo_bill bill;
        struct err ignored = { 0 };
        if (topo_build_bill(&bill, &s->net, &s->parts, bw_Bps, &ignored))
            continue;
        if (bill.usd.typ <= x->most_usd && bill.watt <= x->most_watt && bw_Bps[1] >= x->least_GBps * 1e9) {
            memcpy(b->bw_Bps[b->n_designs], bw_Bps, sizeof bw_Bps);
            b->best_of[b->n_designs] = INFINITY;
            b->usd[b->n_designs] = bill.usd.typ;
            b->watt[b->n_designs++] = bill.watt;
        }
        topo_bill_free(&bill);
    }
}

static double value_of(const struct brute *b, const struct design_point *s, int32_t k, double time_s)
{
    const struct pair_study *x = b->x;
    if (strcmp(x->objective, "time") == 0)
        return time_s;
    if (strcmp(x->objective, "cost") == 0)
        return time_s <= x->limit_s ? b->usd[k] : (double)INFINITY;
    if (strcmp(x->objective, "perf_per_cost") == 0)
        return time_s * b->usd[k];
    if (strcmp(x->objective, "perf_per_watt") == 0)
        return time_s * (b->watt[k] + 500 * (double)s->net.n_npus);
    struct system own;
    MUST(system_build(&own, s, (struct system_of){ .bw_Bps = b->bw_Bps[k], .time_s = time_s }, e));
    double value = own.usd_per_Mtoken;
    system_free(&own);
    return value;
}

static void try_plan(struct brute *b, const char *plan)
{
    KEEP(struct design_point, s, design_point_free);
    struct err e = { 0 };
    char how[512];
    snprintf(how, sizeof how, "parallel: { batch: %lld%s }", (long long)b->x->batch, plan);
    if (design_point_load(&s, put(b->f, "plan.yaml", study_text(b->x, how, NULL)), NULL, 0,
                          DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT, &e))
        return; /* not legal */
    if (!b->counted)
        count_designs(b, &s);
    b->counted = true;
    if (1.05 * s.workloads[0].training->memory.total_B > s.net.npu.mem_B) /* 5 % are left to the allocator */
        return;
    double best = INFINITY;
    for (int32_t k = 0; k < b->n_designs; k++) {
        double time_s;
        assert_ok(design_time(&time_s, &s, b->bw_Bps[k], &e), &e);
        double value = value_of(b, &s, k, time_s);
        best = fmin(best, value);
        b->best_of[k] = fmin(b->best_of[k], value);
    }
    assert_true(b->n_plans < MOST_PLANS);
    b->best[b->n_plans++] = best;
}

/* The axes that may have several members, in any order; cp has one, and lies last. */
static void try_orders(struct brute *b, const char *plan)
{
    static const char *const orders[] = { "tp, dp, pp", "tp, pp, dp", "dp, tp, pp",
                                          "dp, pp, tp", "pp, tp, dp", "pp, dp, tp" };
    for (size_t i = 0; i < COUNT_OF(orders); i++) {
        char text[256];
        snprintf(text, sizeof text, "%s, order: [%s, cp]", plan,
                 b->x->any_order ? orders[i] : "tp, cp, dp, pp");
        if (!b->x->any_order)
            snprintf(text, sizeof text, "%s", plan);
        if (i == 0 || b->x->any_order)
            try_plan(b, text);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Where an axis has one member, what it would do is not asked: zero needs dp, seq_parallel tp. */
static void try_all(struct brute *b)
{
    int n_npus = 1;
    for (int32_t d = 0; d < b->x->n_dims; d++)
        n_npus *= b->x->sizes[d];
    for (int code = 0; code < 3 * 2 * 2 * 3 * 2 * 2; code++) {
        int at[N_LISTS], rest = code;
        char plan[200] = "";
        bool asked = true;
        for (int i = 0; i < N_LISTS; i++) {
            at[i] = rest % lists[i].n;
            rest /= lists[i].n;
        }
        int tp = 1 << at[TP], pp = 1 << at[PP];
        for (int i = 0; i < N_LISTS; i++) {
            bool alone = (i == ZERO && tp * pp == n_npus) || (i == SEQ_PARALLEL && tp == 1);
            asked = asked && (alone ? at[i] == 0 : b->x->asked[i] >> at[i] & 1);
            snprintf(plan + strlen(plan), sizeof plan - strlen(plan), ", %s: %s", lists[i].name,
                     lists[i].values[at[i]]);
        }
        if (asked)
            try_orders(b, plan);
    }
    qsort(b->best, (size_t)b->n_plans, sizeof *b->best, by_value);
}

/* ---- what is found ---- */

struct ends {
    int32_t solved, unproved, none, outside, listed, ties; /* outside: more than MOST_LINKS links */
    int32_t built;                                         /* proved by plans that are built one by one */
    int64_t tried, split;                                  /* plans: of all designs at once, and one by one */
};

static bool is_counted(const struct pair_study *x, const double *bw_Bps)
{
    for (int32_t d = 0; d < x->n_dims; d++)
        if (x->open[d] && bw_Bps[d] > 1e9 * x->step_GBps[d] * (MOST_LINKS + 0.5))
            return false;
    return true;
}

/* The answer again, as a study of its own plan at its own bandwidths. */
static void run_alone(const struct brute *b, const struct design *d)
{
    KEEP(struct design_point, alone, design_point_free);
    KEEP(struct design, again, design_free);
    static const char *const axes[] = {
        [PLAN_TP] = "tp", [PLAN_CP] = "cp", [PLAN_DP] = "dp", [PLAN_PP] = "pp"
    };
    const struct plan *p = &d->chosen.point->workloads[0].training->plan;
    char how[512];
    snprintf(how, sizeof how,
             "parallel: { batch: %lld, tp: %lld, pp: %lld, micro_batch: %lld, zero: %d, recompute: %s, "
             "seq_parallel: %s, order: [%s, %s, %s, %s] }",
             (long long)b->x->batch, (long long)p->degree[PLAN_TP], (long long)p->degree[PLAN_PP],
             (long long)p->micro, (int)p->zero, plan_recompute_words[p->recompute],
             p->seq_parallel ? "true" : "false", axes[p->order[0]], axes[p->order[1]], axes[p->order[2]],
             axes[p->order[3]]);
    MUST(design_point_load(&alone, put(b->f, "alone.yaml", study_text(b->x, how, d->bw_Bps)), NULL, 0,
                           DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT, e));
    MUST(design_evaluate(&again, &alone, d->bw_Bps, e));
    assert_close(again.time_s, d->time_s, 1e-12);
    assert_close(again.cost_usd, d->cost_usd, 1e-12);
    assert_close(d->cost_usd, d->bill.usd.typ, 1e-12);
}

static void judge_solved(struct ends *ends, const struct brute *b, const struct design *d)
{
    const struct search_result *r = choice_plans(&d->chosen, 0);
    double best = b->n_plans ? b->best[0] : (double)INFINITY;
    bool counted = is_counted(b->x, d->bw_Bps);
    ends->solved++;
    ends->outside += !counted;
    if (!(d->answer.value <= best * (1 + 1e-9)) || (counted && d->answer.value < best * (1 - 1e-9)))
        fail_msg("%.17g at %g %g %g GB/s; trying all %d plans on %d designs %.17g\n%s", d->answer.value,
                 d->bw_Bps[0] / 1e9, d->bw_Bps[1] / 1e9, d->bw_Bps[2] / 1e9, (int)b->n_plans,
                 (int)b->n_designs, best, study_text(b->x, b->x->search, NULL));
    assert_true(d->answer.gap <= ALLOC_GAP && d->answer.lower_bound <= best * (1 + 1e-12));
    assert_true(d->verified && d->plans.proved && r->whole);
    assert_close(r->found[0].time_s, d->time_s, 1e-15);
    for (int32_t i = 0; i < r->n_found && !b->x->any_order && is_counted(b->x, r->found[i].bw_Bps); i++) {
        if (!(fabs(r->found[i].value - b->best[i]) <= 1e-9 * b->best[i]))
            fail_msg("plan %d of the list: %.17g, %.17g can be had\n%s", (int)i, r->found[i].value,
                     b->best[i], study_text(b->x, b->x->search, NULL));
        ends->listed += i > 0;
    }
    int32_t n_best = 0;
    for (int32_t k = 0; k < b->n_designs; k++)
        n_best += b->best_of[k] <= best * (1 + 1e-12);
    assert_true(!d->answer.unique || !counted || n_best == 1);
    ends->ties += !d->answer.unique;
    run_alone(b, d);
}

/* As where there are more designs than can be listed: every plan has its own searched. */
static void build_each(struct ends *ends, const struct brute *b, const struct design_point *s)
{
    KEEP(struct search_result, r, search_free) = { 0 };
    KEEP(struct search_book, book, search_book_free) = { 0 };
    struct search_space space = { 0 };
    const struct training *base = s->workloads[0].training;
    const double best = b->n_plans ? b->best[0] : (double)INFINITY;
    MUST(schema_read(&space, &search_section, &s->doc, base->search, e));
    MUST(search_book_build(&book, &space, s, base, SEARCH_MOST_NOTED, true, e));
    MUST(search_split(&r, &book, e));
    if (!r.whole) {
        assert_true(isinf(best) && !r.proved);
        return;
    }
    const struct search_found *f = &r.found[0];
    bool counted = is_counted(b->x, f->bw_Bps);
    if ((counted && f->value < best * (1 - 1e-9)) || (r.proved && !(f->value <= best * (1 + 2e-9))))
        fail_msg("%.17g at %g %g %g GB/s; trying all %d plans on %d designs %.17g\n%s", f->value,
                 f->bw_Bps[0] / 1e9, f->bw_Bps[1] / 1e9, f->bw_Bps[2] / 1e9, (int)b->n_plans,
                 (int)b->n_designs, best, study_text(b->x, b->x->search, NULL));
    assert_true(isnan(r.lower_bound) || r.lower_bound <= best * (1 + ALLOC_GAP));
    ends->built += r.proved;
    ends->split += r.n_split;
}

static void solve_random(struct ends *ends, struct folder *f, uint64_t seed, int32_t i)
{
    KEEP(struct pair_study, x, pair_study_free) = { 0 };
    KEEP(struct brute *, b, free_at) = calloc(1, sizeof *b);
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct design, d, design_free);
    struct err e = { 0 };
    RNG(r, seed, (uint64_t)i);
    char how[700];
    assert_non_null(b);
    draw_study(&x, r);
    *b = (struct brute){ .x = &x, .f = f };
    try_all(b);
    snprintf(how, sizeof how, "parallel: { batch: %lld }, %s", (long long)x.batch, x.search);
    assert_ok(design_point_load(&s, put(f, "study.yaml", study_text(&x, how, NULL)), NULL, 0,
                                DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT, &e),
              &e);
    int rc = design_solve(&d, &s, &e);
    ends->tried += rc ? 0 : d.plans.tried;
    if (rc && rc != ERR_NO_DESIGN)
        fail_msg("%s\n%s", e.msg, study_text(&x, how, NULL));
    if (rc || d.answer.status == ALLOC_INFEASIBLE) {
        ends->none++;
        if (b->n_plans && isfinite(b->best[0]))
            fail_msg("%s %s, but %.17g can be had\n%s", e.msg, rc ? "" : d.answer.reason, b->best[0],
                     study_text(&x, how, NULL));
    } else if (d.answer.status == ALLOC_UNPROVED) {
        ends->unproved++;
        assert_true(!(d.answer.lower_bound > (b->n_plans ? b->best[0] : 0) * (1 + 1e-12)));
        assert_true(!d.verified && !d.answer.unique);
    } else {
        if (d.answer.status != ALLOC_SOLVED)
            fail_msg("%s: %s\n%s", alloc_status_names[d.answer.status], d.answer.reason,
                     study_text(&x, how, NULL));
        judge_solved(ends, b, &d);
    }
    build_each(ends, b, &s);
}

/* SOAK: 2,000. */
TEST(the_best_pair_is_that_of_every_plan_on_every_design)
{
    FOLDER(f);
    struct ends ends = { 0 };
    const int threads = omp_get_max_threads();
    omp_set_num_threads(1); /* studies are small */
    const int32_t n = getenv("SOAK") ? 2000 : repeats(200);
    for (int32_t i = 0; i < n; i++)
        solve_random(&ends, &f, 2026, i);
    omp_set_num_threads(threads);
    if (!repeats_all(200))
        return;
    /* Bounds rule out as much as they did when this was written. */
    assert_true(n > 200 || (ends.tried <= 725 && ends.split <= 618));
    assert_true(ends.solved > n / 2 && ends.none > n / 50 && ends.listed > n / 4 && ends.built > n / 4);
    assert_true(ends.unproved <= n / 50 && ends.outside < ends.solved / 3 && ends.ties < ends.solved / 4);
}

/* A tree with free tapers, of more designs than are listed: plans are compared by fractions first. Each plan
 * alone has its best whole design by another way, with proof. */
#define TREE                                                                                                 \
    "network:\n  npu: { peak_TFLOPS: 20, mem_GB: 4, mem_GBps: 400 }\n  dims:\n"                              \
    "    - { name: b, shape: fat-tree, sizes: [4, 4, 4], taper: free, max_GBps: 700, tier: Big }\n"          \
    "parts:\n  catalogue:\n"                                                                                 \
    "    - { name: nic, kind: nic, ports: 2, bw_GBps: 25, usd: 900, watt: 20 }\n"                            \
    "    - { name: box, kind: switch, ports: 48, bw_GBps: 25, usd: 27000, watt: 900 }\n"                     \
    "    - { name: wire, kind: link, bw_GBps: 25, usd: 110, watt: 6 }\n"                                     \
    "  build:\n    - { tier: Big, nic: nic, switch: box, end_link: wire, up_link: wire }\n"                  \
    "workload: { name: w, model: { layers: 4, hidden: 512, heads: 4, vocab: 512, seq: 256, attention: "      \
    "unfused }, %s }\n%s"

TEST(plans_of_too_many_designs_are_compared_by_their_own_best)
{
    static const char *const questions[] = { "constraints: [ usd <= 6e6 ]\n", "objective: perf_per_cost\n",
                                             "objective: cost\ntime_limit_s: 0.004\n" };
    static const char *const degrees[] = { "tp: 1, pp: 1", "tp: 1, pp: 2", "tp: 2, pp: 1",
                                           "tp: 2, pp: 2", "tp: 4, pp: 1", "tp: 4, pp: 2" };
    for (int32_t q = 0; q < repeats(COUNT_OF(questions)); q++) {
        FOLDER(f);
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct design, d, design_free);
        char text[4096], how[256];
        double best = INFINITY;
        for (size_t i = 0; i < COUNT_OF(degrees); i++) {
            KEEP(struct design_point, one, design_point_free);
            KEEP(struct design, alone, design_free);
            snprintf(how, sizeof how, "parallel: { batch: 64, %s }", degrees[i]);
            snprintf(text, sizeof text, TREE, how, questions[q]);
            OK(design_point_load(&one, put(&f, "one.yaml", text), NULL, 0,
                                 DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT, e));
            OK(design_solve(&alone, &one, e));
            assert_int_equal(alone.answer.status, ALLOC_SOLVED);
            best = fmin(best, alone.answer.value);
        }
        snprintf(text, sizeof text, TREE,
                 "parallel: { batch: 64 }, search: { order: given, tp: [1, 2, 4], pp: [1, 2], cp: [1], "
                 "micro_batch: [1], zero: [0], recompute: [none], seq_parallel: [false], schedule: [1f1b], "
                 "interleave: [1] }",
                 questions[q]);
        OK(design_point_load(&s, put(&f, "all.yaml", text), NULL, 0, DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT,
                             e));
        OK(design_solve(&d, &s, e));
        assert_close(d.answer.value, best, 1e-9);
        const struct search_result *r = choice_plans(&d.chosen, 0);
        assert_true(r->whole && (q == 2 || r->n_found == 6));
        assert_close(r->found[0].value, best, 1e-9);
        assert_true(d.answer.status == ALLOC_SOLVED && d.answer.gap <= ALLOC_GAP && r->proved);
    }
}

/* Whole ports have no 33 GB/s, whatever the plan. */
TEST(where_no_design_is_built_it_is_told_how_many_plans_were_tried)
{
    FOLDER(f);
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct design, d, design_free);
    char text[4096];
    snprintf(
        text, sizeof text, TREE,
        "parallel: { batch: 64 }, search: { order: given, tp: [1, 2], pp: [1, 2], cp: [1], micro_batch: [1], "
        "zero: [0], recompute: [none], seq_parallel: [false], schedule: [1f1b], interleave: [1] }",
        "constraints: [ b == 33 ]\nobjective: perf_per_cost\n");
    OK(design_point_load(&s, put(&f, "study.yaml", text), NULL, 0, DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT,
                         e));
    OK(design_solve(&d, &s, e));
    assert_int_equal(d.answer.status, ALLOC_INFEASIBLE);
    assert_has(d.answer.reason, "in whole parts satisfies all constraints together");
    assert_has(d.answer.reason, "; 4 plans were tried, all that fit");
}

TEST(threads_change_nothing_of_pairs)
{
    const int threads = omp_get_max_threads();
    FOLDER(f);
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct design_choice, one, choice_free);
    const bool soaks = getenv("SOAK");
    char text[4096];
    snprintf(
        text, sizeof text, TREE,
        soaks ? "parallel: { batch: 64 }, search: { order: any, cp: [1] }"
              : "parallel: { batch: 64 }, search: { order: any, tp: [1, 2], pp: [1, 2], cp: [1], "
                "micro_batch: [1, 2], interleave: [1], zero: [0, 1], recompute: [none], schedule: [1f1b] }",
        "objective: perf_per_cost\n");
    OK(design_point_load(&s, put(&f, "study.yaml", text), NULL, 0, DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT,
                         e));
    for (int n = 1; n < (soaks ? 6 : 4); n += 2) {
        struct design_choice more;
        omp_set_num_threads(n);
        OK(design_choose(n == 1 ? &one : &more, &s, e));
        if (n == 1)
            continue;
        const struct search_result *a = choice_plans(&one, 0), *b = choice_plans(&more, 0);
        assert_true(a->n_found == 10 && b->n_found == 10 && a->n_split == b->n_split &&
                    a->proved == b->proved);
        for (int32_t i = 0; i < 10; i++) {
            assert_true(a->found[i].rank == b->found[i].rank && a->found[i].value == b->found[i].value);
            assert_memory_equal(a->found[i].bw_Bps, b->found[i].bw_Bps, sizeof a->found[i].bw_Bps);
        }
        choice_free(&more);
    }
    omp_set_num_threads(threads);
}
