/* How long layers take to be scheduled on types of resources: a plan, the optimum proved, a search. */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "sim/hetero/search.h"
#include "sim/hetero/oracle.h"
#include "sim/hetero/profile.h"
#include "tests/settings.h"

enum { N_PLANS = 8192, ROUNDS = 5 };

/* Promised. */
#define PLANS_PER_S 2e5
#define ORACLE_S    0.3
#define LARGE_S     30.0

/* A model on drawn types, to be trained at half the largest throughput. */
struct subject {
    struct hetero_profile profile;
    struct hetero_problem problem;
};

/* So that a model has any number of layers: those of @p from once more, again and again. */
static void stretch(struct hetero_profile *p, const struct hetero_profile *from, int32_t n_layers)
{
    struct err e = { 0 };
    const size_t row = (size_t)from->n_types;
    if (hetero_profile_build(p, n_layers, from->n_types, &e))
        bench_stop("%s", e.msg);
    p->batch = from->batch;
    memcpy(p->types, from->types, row * sizeof *p->types);
    for (int32_t l = 0; l < n_layers; l++) {
        const size_t at = (size_t)l * row, other = (size_t)(l % from->n_layers) * row;
        p->layers[l] = from->layers[l % from->n_layers];
        memcpy(&p->compute_s[at], &from->compute_s[other], row * sizeof *p->compute_s);
        memcpy(&p->sync_s[at], &from->sync_s[other], row * sizeof *p->sync_s);
        memcpy(&p->handover_s[at], &from->handover_s[other], row * sizeof *p->handover_s);
    }
}

static void build(struct subject *x, int32_t n_layers, int32_t n_types)
{
    const struct hetero_setup setup = { .overlap = true, .examples = 1e9, .epochs = 1, .server = -1 };
    struct hetero_draw draw = hetero_draw_default();
    struct hetero_profile model;
    struct err e = { 0 };
    double per_s;
    draw.model = HETERO_CTRDNN;
    draw.n_types = n_types;
    draw.seed = 1;
    if (hetero_draw_profile(&model, &draw, &e))
        bench_stop("%s", e.msg);
    stretch(&x->profile, &model, n_layers);
    hetero_profile_free(&model);
    if (hetero_profile_check(&x->profile, &e) || hetero_build(&x->problem, &x->profile, &setup, &e) ||
        hetero_reach(&per_s, NULL, &x->problem, &e))
        bench_stop("%s", e.msg);
    hetero_set_throughput(&x->problem, per_s / 2);
}

static void release(struct subject *x)
{
    hetero_free(&x->problem);
    hetero_profile_free(&x->profile);
}

/* ---- evaluations ---- */

struct plans {
    const struct hetero_problem *problem;
    struct hetero_work work;
    hetero_id *plans; /* shape [N_PLANS][n_layers] */
};

static double evaluate(void *data, int64_t n)
{
    struct plans *x = data;
    const size_t layers = (size_t)x->problem->profile->n_layers;
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        for (size_t k = 0; k < N_PLANS; k++) {
            struct hetero_value v;
            hetero_evaluate(&v, x->problem, &x->plans[k * layers], &x->work);
            sum += v.status == HETERO_OK ? v.usd : v.reach_per_s;
        }
    return sum;
}

/* @p steps moves away from the cheapest plan at most; without one, any plan: each layer by itself. */
static void fill(struct plans *x, const struct subject *of, const hetero_id *cheapest, int64_t steps,
                 struct rng *rng)
{
    const struct hetero_size size = hetero_size_of(&of->problem);
    const size_t layers = (size_t)size.n_layers;
    struct err e = { 0 };
    x->problem = &of->problem;
    x->plans = bench_alloc(N_PLANS * layers * sizeof *x->plans);
    if (hetero_work_build(&x->work, &of->problem, &e))
        bench_stop("%s", e.msg);
    for (size_t k = 0; k < N_PLANS; k++) {
        hetero_id *plan = &x->plans[k * layers];
        for (size_t l = 0; l < layers; l++)
            plan[l] = cheapest ? cheapest[l] : (hetero_id)rng_below(rng, size.n_types);
        for (int64_t left = cheapest ? rng_below(rng, steps + 1) : 0; left > 0; left--)
            hetero_change_plan(plan, size, rng);
    }
}

static void bench_plans(struct bench *b)
{
    struct subject x;
    struct plans good, any;
    struct hetero_oracle o;
    struct rng *rng;
    struct err e = { 0 };
    build(&x, 16, 16);
    if (rng_build(&rng, 1, 0, &e) || hetero_oracle(&o, &x.problem, &e))
        bench_stop("%s", e.msg);
    if (!o.plan)
        bench_stop("no plan of 16 layers on 16 types");
    fill(&good, &x, o.plan, 4, rng);
    fill(&any, &x, NULL, 0, rng);
    struct bench_runner runners[] = {
        { "up to 4 moves away from the cheapest", evaluate, &good, N_PLANS, PLANS_PER_S, 0, false },
        { "each layer drawn by itself", evaluate, &any, N_PLANS, PLANS_PER_S, 0, false },
    };
    bench_race(b, runners, 2);
    free(good.plans);
    free(any.plans);
    hetero_work_free(&good.work);
    hetero_work_free(&any.work);
    hetero_oracle_free(&o);
    rng_free(rng);
    release(&x);
}

/* ---- what takes a while ---- */

/* @p wall_s is sorted on return; a @p limit_s of 0 promises nothing. */
static void print(struct bench *b, const char *what, const char *required, double *wall_s, int n,
                  double cpu_s, double limit_s, bool right)
{
    char best[BENCH_CELL], spread[BENCH_CELL], cpu[BENCH_CELL];
    double median_s = bench_median(wall_s, n);
    snprintf(best, sizeof best, "%.2f ms", 1e3 * wall_s[0]);
    snprintf(spread, sizeof spread, "+%.0f %%", 100 * (median_s / wall_s[0] - 1));
    snprintf(cpu, sizeof cpu, "%.2f ms", 1e3 * cpu_s);
    bench_print(b, &(struct bench_line){ what, required, best, n > 1 ? spread : NULL, cpu, NULL },
                !(limit_s > 0)                  ? BENCH_INFO
                : right && wall_s[0] <= limit_s ? BENCH_MET
                                                : BENCH_MISSED);
}

static void bench_oracle(struct bench *b, const char *what, const char *required, int32_t n, int rounds,
                         double limit_s)
{
    double wall_s[ROUNDS], cpu_s = (double)INFINITY;
    struct subject x;
    bool proved = true;
    build(&x, n, n);
    for (int i = 0; i < rounds; i++) {
        struct hetero_oracle o;
        struct err e = { 0 };
        struct bench_time begin = bench_now();
        if (hetero_oracle(&o, &x.problem, &e))
            bench_stop("%s", e.msg);
        struct bench_time end = bench_now();
        wall_s[i] = end.wall_s - begin.wall_s;
        cpu_s = fmin(cpu_s, end.cpu_s - begin.cpu_s);
        proved = proved && o.proof == HETERO_OPTIMAL;
        hetero_oracle_free(&o);
    }
    release(&x);
    print(b, what, required, wall_s, rounds, cpu_s, limit_s, proved);
}

/* A run of one scheduler with its default settings: 25,600 evaluations. */
static void bench_schedule(struct bench *b, const char *what, const char *required, const char *name,
                           double limit_s)
{
    const struct hetero_settings settings = hetero_settings_default();
    double wall_s[ROUNDS], cpu_s = (double)INFINITY;
    struct subject x;
    int32_t which = 0;
    while (which < n_hetero_schedulers && strcmp(hetero_schedulers[which].name, name) != 0)
        which++;
    if (which == n_hetero_schedulers)
        bench_stop("no scheduler '%s'", name);
    build(&x, 16, 16);
    for (int i = 0; i < ROUNDS; i++) {
        struct hetero_search s;
        struct err e = { 0 };
        struct bench_time begin = bench_now();
        if (hetero_schedule(&s, &x.problem, which, &settings, (uint64_t)i + 1, &e))
            bench_stop("%s", e.msg);
        struct bench_time end = bench_now();
        wall_s[i] = end.wall_s - begin.wall_s;
        cpu_s = fmin(cpu_s, end.cpu_s - begin.cpu_s);
        hetero_search_free(&s);
    }
    release(&x);
    print(b, what, required, wall_s, ROUNDS, cpu_s, limit_s, true);
}

void bench_hetero(struct bench *b)
{
    bench_head(b, "layers on types of resources");
    printf("   plans evaluated, 16 layers on 16 types, exact units\n");
    bench_plans(b);
    bench_oracle(b, "optimum proved, 16 layers on 16 types", "<= 0.3 s", 16, ROUNDS, ORACLE_S);
    bench_oracle(b, "   64 layers on 64 types", "<= 30 s", 64, 1, LARGE_S);
    bench_schedule(b, "learning: RL-LSTM, 25,600 evaluations, 16 layers on 16 types", "<= 4 s", "rl-lstm", 4);
    bench_schedule(b, "   annealing, 25,600 evaluations, 16 layers on 16 types", NULL, "anneal", 0);
}
