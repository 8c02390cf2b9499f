/* How many proved splits a second. Every answer's gap is looked at: one above 1e-9 breaks the promise. */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/interior.h"
#include "alloc/whole.h"
#include "bench/draw.h"
#include "bench/dual.h"
#include "tests/unit/split_fixture.h"

enum { N_TOTALS = 10, N_RANDOM = 1000, SEED = 20261121 };

/* Problems to solve, all of them in one go, and how their answers were proved. */
struct series {
    const struct alloc_problem *const *problems; /* shape [n] */
    struct interior *work;                       /* of problems[0] */
    double total_Bps;                            /* of problems[0] */
    int64_t n;
    int64_t solved, certified;
    double worst_gap;
};

static double count(struct series *s, double value, double bound)
{
    double gap = (value - bound) / value;
    bool certified = gap <= ALLOC_GAP;
    s->solved++;
    s->certified += certified;
    if (!(gap <= s->worst_gap))
        s->worst_gap = gap;
    return value;
}

/* The same problem again, in the same work space: what a search over mu or over prices does. */
static double run_interior(void *data, int64_t n)
{
    struct series *s = data;
    struct interior_result r;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        interior_solve(s->work, (struct interior_ask){ .time_weight = 1, .limit_s = (double)INFINITY }, &r);
        sum += count(s, r.value, r.bound);
    }
    return sum;
}

/* Another problem every time. A run takes all of them, since some are easier than others. */
static double run_fresh(void *data, int64_t n)
{
    struct series *s = data;
    struct interior_result r;
    struct err e = { 0 };
    double sum = 0;
    for (int64_t i = 0; i < n * s->n; i++) {
        struct interior *work;
        if (interior_build(&work, s->problems[i % s->n], &e))
            bench_stop("%s", e.msg);
        interior_solve(work, (struct interior_ask){ .time_weight = 1, .limit_s = (double)INFINITY }, &r);
        interior_free(work);
        sum += count(s, r.value, r.bound);
    }
    return sum;
}

/* The whole answer: proof, shadow prices, the face of equal optima, the cheapest and most even of them. */
static double run_answer(void *data, int64_t n)
{
    struct series *s = data;
    struct err e = { 0 };
    double sum = 0;
    for (int64_t i = 0; i < n * s->n; i++) {
        struct alloc_answer a;
        if (alloc_solve(&a, s->problems[i % s->n], &e))
            bench_stop("%s", e.msg);
        sum += count(s, a.status == ALLOC_SOLVED ? a.value : (double)NAN, a.lower_bound);
        alloc_answer_free(&a);
    }
    return sum;
}

static double run_dual(void *data, int64_t n)
{
    struct series *s = data;
    struct dual_result r;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        dual_solve(&r, s->problems[0]->step, s->total_Bps, 1e-12);
        sum += count(s, r.time_s, r.bound_s);
    }
    return sum;
}

/* Once through all problems before the race: is every one proved? */
static void check_series(struct bench_runner *r)
{
    struct series *s = r->data;
    r->run(s, 1);
    r->broken = s->certified < s->solved;
}

static void print_proofs(const char *what, const struct series *s)
{
    printf("   %s: %lld of %lld answers certified, largest gap %.0e\n", what, (long long)s->certified,
           (long long)s->solved, s->worst_gap);
}

/* ---- GPT-3 on LIBRA's 4-dimensional network, only the total given ---- */

struct gpt3 {
    struct split splits[N_TOTALS];
    const struct alloc_problem *problems[N_TOTALS];
    struct alloc_problem scaled[N_TOTALS]; /* the same, which share what is kept */
    const struct alloc_problem *shared[N_TOTALS];
    struct alloc_kept kept;
    struct interior *work;
};

static void open_gpt3(struct gpt3 *g, enum alloc_objective objective)
{
    const char *workload = "gpt3";
    struct err e = { 0 };
    *g = (struct gpt3){ 0 };
    for (int i = 0; i < N_TOTALS; i++) {
        char row[32];
        split_open(&g->splits[i], "libra-4d-4096", "libra-2024-4d", &workload, 1);
        snprintf(row, sizeof row, "total == %d", 100 * (i + 1));
        split_row(&g->splits[i], row);
        g->splits[i].problem.objective = objective;
        g->problems[i] = &g->splits[i].problem;
        g->scaled[i] = g->splits[i].problem;
        g->scaled[i].kept = &g->kept;
        g->shared[i] = &g->scaled[i];
    }
    if (interior_build(&g->work, g->problems[0], &e))
        bench_stop("%s", e.msg);
}

static void close_gpt3(struct gpt3 *g)
{
    interior_free(g->work);
    alloc_kept_free(&g->kept);
    for (int i = 0; i < N_TOTALS; i++)
        split_free(&g->splits[i]);
}

static void race_gpt3(struct bench *b)
{
    struct gpt3 g;
    struct dual_result plain;
    open_gpt3(&g, ALLOC_TIME);
    const struct series start = { .problems = g.problems, .work = g.work, .total_Bps = 100e9, .n = N_TOTALS };
    struct series dual = start, reused = start, fresh = start, answer = start, scaled = start;
    scaled.problems = g.shared;
    dual_solve(&plain, &g.splits[0].step, 100e9, 1e-12);
    char what[64];
    snprintf(what, sizeof what, "plain dual update, %d iterations", (int)plain.iterations);
    struct bench_runner runners[] = {
        { .what = what, .run = run_dual, .data = &dual, .items = 1, .mark = 'a' },
        { .what = "interior_solve, work space reused",
          .run = run_interior,
          .data = &reused,
          .items = 1,
          .floor_per_s = 100e3 },
        { .what = "interior_build and _solve, total varies",
          .run = run_fresh,
          .data = &fresh,
          .items = N_TOTALS },
        { .what = "alloc_solve, the whole answer, total varies",
          .run = run_answer,
          .data = &answer,
          .items = N_TOTALS,
          .floor_per_s = 100e3 },
        { .what = "alloc_solve, the last split scaled",
          .run = run_answer,
          .data = &scaled,
          .items = N_TOTALS,
          .floor_per_s = 5e6 },
    };
    enum { N = sizeof runners / sizeof runners[0] };
    for (int i = 0; i < N; i++)
        check_series(&runners[i]);
    bench_head(b, "Fastest split, GPT-3, 4 dimensions, total only");
    bench_race(b, runners, N);
    print_proofs("interior_solve", &reused);
    print_proofs("alloc_solve", &answer);
    print_proofs("scaled", &scaled);
    close_gpt3(&g);
}

static void race_ratio(struct bench *b)
{
    struct gpt3 g;
    open_gpt3(&g, ALLOC_PERF_PER_COST);
    struct series answer = { .problems = g.problems, .n = N_TOTALS };
    struct bench_runner runner = {
        .what = "alloc_solve, global, total varies", .run = run_answer, .data = &answer, .items = N_TOTALS
    };
    check_series(&runner);
    bench_head(b, "Best performance per cost, GPT-3, 4 dimensions");
    bench_race(b, &runner, 1);
    print_proofs("alloc_solve", &answer);
    close_gpt3(&g);
}

/* ---- random problems ---- */

struct random {
    struct draw draws[N_RANDOM];
    const struct alloc_problem *problems[N_RANDOM];
};

static struct random *open_random(void)
{
    struct random *r = bench_alloc(sizeof *r);
    struct rng *rng = NULL;
    struct err e = { 0 };
    if (rng_build(&rng, SEED, 1, &e))
        bench_stop("%s", e.msg);
    for (int i = 0; i < N_RANDOM; i++) {
        draw_problem(&r->draws[i], rng);
        r->problems[i] = &r->draws[i].problem;
    }
    rng_free(rng);
    return r;
}

static void close_random(struct random *r)
{
    for (int i = 0; i < N_RANDOM; i++)
        draw_free(&r->draws[i]);
    free(r);
}

static void race_random(struct bench *b)
{
    struct random *r = open_random();
    struct series fresh = { .problems = r->problems, .n = N_RANDOM }, answer = fresh;
    struct bench_runner runners[] = {
        { .what = "interior_build and _solve",
          .run = run_fresh,
          .data = &fresh,
          .items = N_RANDOM,
          .floor_per_s = 10e3 },
        { .what = "alloc_solve, the whole answer",
          .run = run_answer,
          .data = &answer,
          .items = N_RANDOM,
          .floor_per_s = 10e3 },
    };
    check_series(&runners[0]);
    check_series(&runners[1]);
    const struct series once = fresh, once_answer = answer;
    bench_head(b, "Fastest split, 1,000 random problems (<= 6 dims, 20 terms)");
    bench_race(b, runners, 2);
    print_proofs("interior_solve", &once);
    print_proofs("alloc_solve", &once_answer);
    close_random(r);
}

/* ---- a limit of power beside one of money, and their products ---- */

/* USD, or so much power, for each B/s: at a USD a W and other rates, or at the same in MW. */
enum limit { IN_USD, IN_WATT, IN_MW, N_LIMITS };

static void limit_rates(double *rate, const struct alloc_problem *p, enum limit limit)
{
    const int32_t n = p->step->n_dims;
    for (int32_t d = 0; d < n; d++)
        rate[d] = limit == IN_USD    ? p->usd_per_Bps[d]
                  : limit == IN_WATT ? p->usd_per_Bps[(d + 1) % n] / 350
                                     : p->usd_per_Bps[d] / 350e6;
}

/* The least that a step a fifth slower than the fastest needs, and a little more: it holds, and it binds. */
static void add_limit(struct draw *d, enum limit limit)
{
    struct alloc_problem p = d->problem;
    struct alloc_answer a;
    struct err e = { 0 };
    limit_rates(p.usd_per_Bps, &d->problem, limit);
    if (alloc_solve(&a, &p, &e))
        bench_stop("%s", e.msg);
    p.objective = ALLOC_COST;
    p.time_limit_s = 1.2 * a.time_s;
    alloc_answer_free(&a);
    if (alloc_solve(&a, &p, &e))
        bench_stop("%s", e.msg);
    struct alloc_row *row = &d->rows[d->problem.n_rows++];
    *row = (struct alloc_row){ .name = "limit", .sense = LINEXPR_LE, .rhs = 1.02 * a.cost_usd, .unit = 1 };
    memcpy(row->coef, p.usd_per_Bps, sizeof row->coef);
    alloc_answer_free(&a);
}

static void race_limits(struct bench *b)
{
    static const char *const what[] = { "usd <= a limit", "watt <= a limit, other rates",
                                        "site_MW <= a limit" };
    static const char *const products[] = { "perf_per_cost", "perf_per_watt, other rates",
                                            "perf_per_watt, in MW" };
    struct random *r[N_LIMITS];
    struct series series[2][N_LIMITS];
    struct bench_runner runners[2][N_LIMITS];
    for (int product = 0; product < 2; product++) {
        for (int k = 0; k < N_LIMITS; k++) {
            r[k] = open_random();
            for (int i = 0; i < N_RANDOM; i++) {
                struct alloc_problem *p = &r[k]->draws[i].problem;
                if (!product) {
                    add_limit(&r[k]->draws[i], (enum limit)k);
                    continue;
                }
                double scale = k == IN_USD ? 1 : k == IN_WATT ? 1 / 350.0 : 1 / 350e6;
                p->objective = k == IN_USD ? ALLOC_PERF_PER_COST : ALLOC_PERF_PER_WATT;
                p->usd_fixed = 1e6;
                p->factor_fixed = 1e6 * scale;
                limit_rates(p->factor_per_Bps, p, (enum limit)k);
            }
            series[product][k] = (struct series){ .problems = r[k]->problems, .n = N_RANDOM };
            runners[product][k] = (struct bench_runner){ .what = product ? products[k] : what[k],
                                                         .run = run_answer,
                                                         .data = &series[product][k],
                                                         .items = N_RANDOM };
            check_series(&runners[product][k]);
        }
        const struct series once = series[product][IN_WATT], twice = series[product][IN_MW];
        bench_head(b, product ? "Products, 1,000 random problems"
                              : "Fastest split within a limit, 1,000 random problems");
        bench_race(b, runners[product], N_LIMITS);
        print_proofs(runners[product][IN_WATT].what, &once);
        print_proofs(runners[product][IN_MW].what, &twice);
        for (int k = 0; k < N_LIMITS; k++)
            close_random(r[k]);
    }
}

/* ---- whole parts: the fastest step that a budget buys ---- */

enum { WHOLE_DIMS = 4 };

/* A lattice of n values for each of GPT-3's four dimensions. Every fourth value needs a part more. */
struct whole_race {
    struct split split;
    double *bw_Bps[WHOLE_DIMS], *price[WHOLE_DIMS];
    struct whole_block blocks[WHOLE_DIMS];
    struct whole_lattice lattice;
    struct alloc_answer relaxed;
    int64_t unproved;
};

static void open_whole(struct whole_race *w, int n)
{
    static const double share[WHOLE_DIMS] = { 0.6, 0.2, 0.15, 0.05 };
    const char *workload = "gpt3";
    struct err e = { 0 };
    *w = (struct whole_race){ .lattice = { .blocks = w->blocks, .n_blocks = WHOLE_DIMS } };
    split_open(&w->split, "libra-4d-4096", "libra-2024-4d", &workload, 1);
    split_row(&w->split, "usd <= 10e6");
    for (int d = 0; d < WHOLE_DIMS; d++) {
        w->bw_Bps[d] = bench_alloc((size_t)n * sizeof(double));
        w->price[d] = bench_alloc((size_t)n * sizeof(double));
        for (int k = 0; k < n; k++) {
            w->bw_Bps[d][k] = 800e9 * share[d] * (k + 1) / n;
            int bought = k - k % 4 + 4;
            w->price[d][k] = w->split.problem.usd_per_Bps[d] * 800e9 * share[d] * bought / n;
        }
        w->blocks[d] = (struct whole_block){
            .first = d, .n_dims = 1, .n = n, .bw_Bps = w->bw_Bps[d], .spent = { w->price[d] }
        };
    }
    if (alloc_solve(&w->relaxed, &w->split.problem, &e))
        bench_stop("%s", e.msg);
}

static void close_whole(struct whole_race *w)
{
    for (int d = 0; d < WHOLE_DIMS; d++) {
        free(w->bw_Bps[d]);
        free(w->price[d]);
    }
    alloc_answer_free(&w->relaxed);
    split_free(&w->split);
}

static double run_whole(void *data, int64_t n)
{
    struct whole_race *w = data;
    struct whole_answer a;
    struct err e = { 0 };
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        if (alloc_solve_whole(&a, &w->split.problem, &w->lattice, &w->relaxed, &e))
            bench_stop("%s", e.msg);
        w->unproved += a.status != ALLOC_SOLVED;
        sum += a.value;
    }
    return sum;
}

static void race_whole(struct bench *b)
{
    struct whole_race few, many;
    open_whole(&few, 10);
    open_whole(&many, 56);
    struct bench_runner runners[] = {
        { .what = "10^4 designs", .run = run_whole, .data = &few, .items = 1, .floor_per_s = 100 },
        { .what = "10^7 designs", .run = run_whole, .data = &many, .items = 1, .floor_per_s = 1 },
    };
    for (int i = 0; i < 2; i++) {
        runners[i].run(runners[i].data, 1);
        runners[i].broken = ((struct whole_race *)runners[i].data)->unproved > 0;
    }
    bench_head(b, "Best whole design within a budget, GPT-3, 4 dimensions");
    bench_race(b, runners, 2);
    close_whole(&few);
    close_whole(&many);
}

void bench_split(struct bench *b)
{
    race_gpt3(b);
    race_random(b);
    race_limits(b);
    race_ratio(b);
    race_whole(b);
}
