/*
 * Random studies, written as text and read as the program reads them: does every one end with a proved split
 * or with a reason, and does no split break what the study says? The families mix what strains numbers: bytes
 * from 1 to 1e15 beside each other, bandwidths and prices over many orders of magnitude, fixed bandwidths,
 * bounds, rows that bind together, and time limits near the least time.
 */
#include "kinds/design/explore/solve.h"
#include "kinds/design/ask/load.h"
#include "tests/unit/draw_text.h"
#include "tests/unit/folder.h"

enum { D = TOPO_MAX_DIMS };

/* One study: what is known of it by construction, and its text. */
struct random_study {
    const char *objective;
    int32_t n_dims, sizes[D];
    double inside_Bps[D]; /* satisfies every row, if is_feasible */
    bool is_feasible;     /* the time limit too */
    double least_B, most_B;
    struct text text;
};

static void study_free_text(struct random_study *s)
{
    text_free(&s->text);
}

static void put_dims(struct random_study *s, struct rng *r)
{
    static const char *const shapes[] = { "ring", "switch", "full" };
    double wide = chance(r, 0.5) ? 1e2 : 1e4; /* how far bandwidths are apart */
    text_printf(&s->text, "network:\n  npu: { usd: 1000 }\n  dims:\n");
    s->n_dims = 1 + (int32_t)rng_below(r, 6);
    for (int32_t d = 0; d < s->n_dims; d++) {
        s->sizes[d] = 2 + (int32_t)rng_below(r, 15);
        s->inside_Bps[d] = rng_log_range(r, 10 / wide, 10 * wide) * 1e9;
        text_printf(&s->text, "    - { name: d%d, shape: %s, size: %d, tier: t%d", (int)d,
                    shapes[rng_below(r, 3)], (int)s->sizes[d], (int)d);
        double GBps = s->inside_Bps[d] / 1e9, what = rng_uniform(r);
        if (what < 0.15)
            text_printf(&s->text, ", bw_GBps: %.17g", GBps);
        if (what >= 0.15 && what < 0.35)
            text_printf(&s->text, ", max_GBps: %.17g", fmin(GBps * rng_range(r, 1, 3), TOPO_MAX_BW_GBps));
        if (what >= 0.25 && what < 0.45)
            text_printf(&s->text, ", min_GBps: %.17g", GBps * rng_range(r, 0.1, 1));
        text_printf(&s->text, " }\n");
    }
    text_printf(&s->text, "parts:\n  rates:\n");
    for (int32_t d = 0; d < s->n_dims; d++)
        text_printf(&s->text, "    - { tier: t%d, link_usd_per_GBps: %.17g, switch_usd_per_GBps: %.17g }\n",
                    (int)d, chance(r, 0.95) ? rng_log_range(r, 1e-2, 1e3) : 0,
                    chance(r, 0.5) ? rng_log_range(r, 1e-2, 1e3) : 0);
}

enum { N_GROUPS = 4 };

/* Groups of a workload, g0 to g3, over one dimension or more. */
static void put_groups(struct random_study *s, struct rng *r)
{
    text_puts(&s->text, "groups: { ");
    for (int32_t g = 0; g < N_GROUPS; g++) {
        bool any = false;
        text_printf(&s->text, "%sg%d: { members: [", g ? ", " : "", (int)g);
        for (int32_t d = 0; d < s->n_dims; d++) {
            bool in = chance(r, 0.6) || (d + 1 == s->n_dims && !any);
            any = any || in;
            text_printf(&s->text, "%s%d", d ? ", " : "", in ? (int)s->sizes[d] : 1);
        }
        text_puts(&s->text, "] }");
    }
    text_puts(&s->text, " }, ");
}

static void put_collective(struct random_study *s, struct rng *r)
{
    static const char *const kinds[] = { "all-reduce", "reduce-scatter", "all-gather", "all-to-all", "send" };
    text_printf(&s->text, "{ %s: { size_MB: %.17g, group: g%d } }", kinds[rng_below(r, 5)],
                floor(rng_log_range(r, s->least_B, s->most_B)) / 1e6, (int)rng_below(r, N_GROUPS));
}

static void put_step(struct random_study *s, struct rng *r, int32_t depth)
{
    double what = rng_uniform(r);
    if (depth == 0 || what < 0.5) {
        const char *kind = depth == 0 || chance(r, 0.5) ? "sum" : "max";
        int32_t n = 1 + (int32_t)rng_below(r, 5);
        text_printf(&s->text, "{ %s: [ ", kind);
        for (int32_t i = 0; i < n; i++) {
            text_puts(&s->text, i ? ", " : "");
            if (depth < 3)
                put_step(s, r, depth + 1);
            else
                put_collective(s, r);
        }
        text_printf(&s->text, " ] }");
    } else if (what < 0.6) {
        text_printf(&s->text, "{ compute_ms: %.17g }", rng_log_range(r, 1e-3, 1e3));
    } else {
        put_collective(s, r);
    }
}

static void put_workloads(struct random_study *s, struct rng *r)
{
    static const struct {
        double least_B, most_B;
    } scales[] = { { 1e6, 1e10 }, { 1, 1e15 }, { 1, 1e3 }, { 1e12, 1e15 }, { 1e3, 1e11 } };
    int64_t scale = rng_below(r, (int64_t)COUNT_OF(scales));
    s->least_B = scales[scale].least_B;
    s->most_B = scales[scale].most_B;
    int32_t n = chance(r, 0.7) ? 1 : 2 + (int32_t)rng_below(r, 2);
    if (n > 1 && strcmp(s->objective, "time") == 0 && chance(r, 0.7))
        text_printf(&s->text, "combine: regret\n");
    text_printf(&s->text, "workloads:\n");
    for (int32_t i = 0; i < n; i++) {
        text_printf(&s->text, "  - { weight: %.17g, workload: { name: w%d, ", rng_log_range(r, 0.1, 10),
                    (int)i);
        put_groups(s, r);
        text_puts(&s->text, "step: ");
        put_step(s, r, 0);
        text_printf(&s->text, " } }\n");
    }
}

static void put_constraints(struct random_study *s, struct rng *r)
{
    double total = 0;
    for (int32_t d = 0; d < s->n_dims; d++)
        total += s->inside_Bps[d] / 1e9;
    if (chance(r, 0.4))
        text_printf(&s->text, "total_GBps: %.17g\n", total);
    text_printf(&s->text, "constraints: [");
    int32_t n = chance(r, 0.5) ? 0 : 1 + (int32_t)rng_below(r, 3);
    for (int32_t i = 0; i < n; i++) {
        static const double choice[] = { 0, 0, 1, 1, 2, -1 };
        double sum = 0, coef;
        bool any = false;
        text_printf(&s->text, "%s\"", i ? ", " : "");
        for (int32_t d = 0; d < s->n_dims; d++) {
            coef = choice[rng_below(r, (int64_t)COUNT_OF(choice))];
            if (d + 1 == s->n_dims && !any && coef == 0)
                coef = 1;
            sum += coef * s->inside_Bps[d] / 1e9;
            any = any || coef != 0;
            if (coef != 0)
                text_printf(&s->text, " %+g*d%d", coef, (int)d);
        }
        double room = rng_uniform(r) * fabs(sum);
        switch (rng_below(r, 5)) {
        case 0:
            text_printf(&s->text, " == %.17g\"", sum);
            break;
        case 1:
        case 2:
            text_printf(&s->text, " >= %.17g\"", sum - room);
            break;
        default:
            text_printf(&s->text, " <= %.17g\"", sum + room);
        }
    }
    text_printf(&s->text, "]\n");
}

static void write_study(struct random_study *s, struct rng *r)
{
    static const char *const objectives[] = { "cost",        "time", "perf_per_cost",
                                              "utilization", "cost", "tco_per_token" };
    *s = (struct random_study){ .objective = objectives[rng_below(r, 6)], .is_feasible = true };
    put_dims(s, r);
    text_printf(&s->text, "objective: %s\ntime_limit_s: 1\n", s->objective);
    if (chance(r, 0.3))
        text_printf(&s->text, "count_npus: true\n");
    if (strcmp(s->objective, "tco_per_token") == 0)
        text_printf(
            &s->text,
            "system: { npu_usd: %.17g, npu_watt: 700, npus_per_node: %d, step_tokens: 1e6, checkpoint: { "
            "size_GB: 1 } }\n",
            rng_log_range(r, 1, 1e5), chance(r, 0.5) ? 1 : 4);
    put_workloads(s, r);
    put_constraints(s, r);
}

/* How a study ended, by objective. */
struct ends {
    int32_t n[N_ALLOC_OBJECTIVES], stalled[N_ALLOC_OBJECTIVES], solved;
};

/* No split breaks a row, a limit, or the range of the key; each without a proof says what to change. */
static void judge(struct ends *ends, const struct random_study *x, const struct design_point *s,
                  const struct design *d)
{
    const enum alloc_status status = d->answer.status;
    double most_Bps = 0;
    ends->n[s->objective]++;
    ends->stalled[s->objective] += status == ALLOC_STALLED;
    ends->solved += status == ALLOC_SOLVED;
    assert_true(status == ALLOC_SOLVED || strlen(d->answer.reason) > 20);
    assert_true(status != ALLOC_STALLED || strstr(d->answer.reason, "; "));
    assert_false(x->is_feasible && status == ALLOC_INFEASIBLE);
    if (!alloc_has_split(&d->answer))
        return;
    assert_int_equal(system_broken_row(s, d->bw_Bps, 1e-12), -1);
    for (int32_t k = 0; k < d->n_dims; k++) {
        const struct topo_dim *dim = &s->net.dims[k];
        most_Bps = fmax(most_Bps, d->bw_Bps[k]);
        if (!isnan(dim->bw_Bps))
            assert_close(d->bw_Bps[k], dim->bw_Bps, 1e-12);
        assert_true(d->bw_Bps[k] >= dim->min_Bps * (1 - 1e-12) && d->bw_Bps[k] <= dim->max_Bps * (1 + 1e-12));
    }
    assert_true(most_Bps <= TOPO_MAX_BW_GBps * 1e9 * (1 + 1e-12));
    if (s->objective == ALLOC_COST)
        assert_true(d->time_s <= s->time_limit_s * (1 + 1e-12));
    if (status == ALLOC_SOLVED)
        assert_true(d->verified);
}

static void solve_random(struct ends *ends, struct folder *f, uint64_t seed, int32_t i)
{
    struct err e = { 0 };
    RNG(r, seed, (uint64_t)i);
    KEEP(struct random_study, x, study_free_text);
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct design, d, design_free);
    write_study(&x, r);
    assert_ok(design_point_load(&s, put(f, "study.yaml", x.text.s), NULL, 0,
                                DESIGN_NEEDS_WORKLOAD | DESIGN_NEEDS_PARTS | DESIGN_FOR_SPLIT, &e),
              &e);
    double time_s, slack = chance(r, 0.6) ? rng_range(r, 1, 3) : rng_log_range(r, 1e-3, 1e3);
    assert_ok(design_time(&time_s, &s, x.inside_Bps, &e), &e);
    s.time_limit_s = time_s * slack;
    x.is_feasible = s.objective != ALLOC_COST || slack >= 1;
    assert_ok(design_solve(&d, &s, &e), &e);
    if (d.answer.status == ALLOC_STALLED)
        print_message("study %d of seed %d, %s: %s\n", (int)i, (int)seed, x.objective, d.answer.reason);
    judge(ends, &x, &s, &d);
}

/* In double precision the simplex method finds no answer to a linear programme of this one, whatever its
 * start. */
TEST(rational_numbers_solve_what_defeats_the_simplex_method)
{
    FOLDER(f);
    struct ends ends = { 0 };
    solve_random(&ends, &f, 7, 4402);
    assert_int_equal(ends.solved, 1);
}

/* Equalities that leave far more room than any traffic can use. */
TEST(bandwidths_that_only_the_key_limits_are_split)
{
    static const struct {
        uint64_t seed;
        int32_t i;
    } those[] = { { 2026, 4403 }, { 2026, 9614 }, { 7, 13898 }, { 8, 12938 } };
    FOLDER(f);
    struct ends ends = { 0 };
    for (size_t i = 0; i < COUNT_OF(those); i++)
        solve_random(&ends, &f, those[i].seed, those[i].i);
    assert_int_equal(ends.solved, (int)COUNT_OF(those));
}

/* SOAK: 20,000 of each of three seeds. */
TEST(random_studies_are_solved_or_say_why_and_break_nothing)
{
    FOLDER(f);
    static const uint64_t seeds[] = { 2026, 7, 8 };
    struct ends ends = { 0 };
    const int32_t n_seeds = getenv("SOAK") ? (int32_t)COUNT_OF(seeds) : 1;
    const int32_t each = getenv("SOAK") ? 20000 : repeats(2000), n = n_seeds * each;
    for (int32_t i = 0; i < n; i++)
        solve_random(&ends, &f, seeds[i / each], i % each);
    /* Not power: rates do not say what parts draw. */
    static const enum alloc_objective drawn[] = { ALLOC_TIME, ALLOC_UTILIZATION, ALLOC_PERF_PER_COST,
                                                  ALLOC_COST, ALLOC_TCO_PER_TOKEN };
    int32_t stalled = 0;
    for (int32_t o = 0; o < N_ALLOC_OBJECTIVES; o++)
        stalled += ends.stalled[o];
    for (size_t o = 0; o < COUNT_OF(drawn) && repeats_all(2000); o++)
        assert_true(ends.n[drawn[o]] > n / 8);
    assert_true(ends.solved > n / 2);
    assert_true(stalled <= n / 1000 + (n_seeds == 1 ? 2 : 0)); /* 30 of 60,000, 3 of the first 2,000 */
}
