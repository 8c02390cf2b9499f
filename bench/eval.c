/* How fast the closed form is: T(B) of GPT-3 on LIBRA's 4-dimensional network, on one core. */
#include "bench/bench.h"

#include <math.h>
#include <stdlib.h>

#include "bench/draw.h"
#include "tests/unit/split_fixture.h"

enum { N_DIMS = 4, N_POINTS = 4096, MAX_PLAIN = 32, SEED = 20261121 };

/* Splits to evaluate, laid out for both interfaces; 4096 of them stay in the second-level cache. */
struct points {
    double by_point[N_POINTS][N_DIMS];
    double by_dim[N_DIMS][N_POINTS];
    double out_s[N_POINTS];
};

/* The step as one first writes it down: every collective for itself. */
struct plain {
    int32_t n_dims, n;
    double compute_s, traffic_B[MAX_PLAIN][N_DIMS];
};

struct entry {
    struct points *points;
    const struct step_fn *fn;
    const struct plain *plain;
};

static double plain_time(const struct plain *p, const double *bw_Bps)
{
    double sum = p->compute_s;
    for (int32_t i = 0; i < p->n; i++) {
        double slowest = 0;
        for (int32_t d = 0; d < p->n_dims; d++)
            slowest = fmax(slowest, p->traffic_B[i][d] / bw_Bps[d]);
        sum += slowest;
    }
    return sum;
}

static double run_plain(void *data, int64_t n)
{
    const struct entry *e = data;
    double sum = 0;
    for (int64_t k = 0; k < n; k++)
        for (int32_t i = 0; i < N_POINTS; i++)
            sum += plain_time(e->plain, e->points->by_point[i]);
    return sum;
}

static double run_single(void *data, int64_t n)
{
    const struct entry *e = data;
    double sum = 0;
    for (int64_t k = 0; k < n; k++)
        for (int32_t i = 0; i < N_POINTS; i++)
            sum += step_time(e->fn, e->points->by_point[i]);
    return sum;
}

static double run_batch(void *data, int64_t n)
{
    const struct entry *e = data;
    const double *bw_Bps[N_DIMS];
    double sum = 0;
    for (int32_t d = 0; d < N_DIMS; d++)
        bw_Bps[d] = e->points->by_dim[d];
    for (int64_t k = 0; k < n; k++) {
        step_time_batch(e->fn, bw_Bps, N_POINTS, e->points->out_s);
        sum += e->points->out_s[k % N_POINTS];
    }
    return sum;
}

static void draw_points(struct points *p, struct rng *rng)
{
    for (int32_t i = 0; i < N_POINTS; i++)
        for (int32_t d = 0; d < N_DIMS; d++)
            p->by_dim[d][i] = p->by_point[i][d] = rng_log_range(rng, 1e9, 1e12);
}

/* Each collective as often as it occurs. GPT-3's loop has no overlap: all is summed. */
static void list_collectives(struct plain *p, const struct step_tree *t)
{
    *p = (struct plain){ .n_dims = t->n_dims };
    for (step_id i = 0; i < t->n_nodes; i++) {
        const struct step_node *node = &t->nodes[i];
        if (node->kind == STEP_MAX || node->kind == STEP_REPEAT)
            bench_stop("the plain loop is for sums of collectives");
        if (node->kind == STEP_COMPUTE)
            p->compute_s += node->seconds;
        int32_t times = node->kind == STEP_COLLECTIVE ? (int32_t)node->times : 0;
        for (int32_t k = 0; k < times && p->n < MAX_PLAIN; k++)
            collective_traffic(p->traffic_B[p->n++], node->collective, node->bytes,
                               t->groups[node->group].members, t->n_dims);
    }
}

static void list_leaves(struct plain *p, const struct step_fn *f)
{
    *p = (struct plain){ .n_dims = f->n_dims, .n = f->n_leaves, .compute_s = f->const_s[0] };
    for (int32_t l = 0; l < f->n_leaves; l++)
        for (int32_t d = 0; d < f->n_dims; d++)
            p->traffic_B[l][d] = f->traffic_B[l * TOPO_MAX_DIMS + d];
}

/* What is compared must be the same figure: to rounding, and between our two bit for bit. */
static void check_entry(struct entry *e)
{
    run_batch(e, 1);
    for (int32_t i = 0; i < N_POINTS; i++) {
        const double *bw_Bps = e->points->by_point[i];
        double want = plain_time(e->plain, bw_Bps), got = step_time(e->fn, bw_Bps);
        if (!(fabs(got - want) <= 1e-13 * want) || got != e->points->out_s[i])
            bench_stop("T(B) is %.17g one at a time, %.17g in a batch, %.17g by the plain loop", got,
                       e->points->out_s[i], want);
    }
}

static void race_gpt3(struct bench *b, struct points *points)
{
    const char *workload = "gpt3";
    struct split s = { 0 };
    struct plain each, merged;
    split_open(&s, "libra-4d-4096", "libra-2024-4d", &workload, 1);
    list_collectives(&each, &s.trees[0]);
    list_leaves(&merged, &s.step);
    if (each.n != 11 || merged.n != 2)
        bench_stop("GPT-3 has %d collectives, merged to %d, expected 11 and 2", (int)each.n, (int)merged.n);
    struct entry e11 = { points, &s.step, &each }, e2 = { points, &s.step, &merged };
    check_entry(&e11);
    check_entry(&e2);
    struct bench_runner runners[] = {
        { .what = "plain loop, 11 collectives",
          .run = run_plain,
          .data = &e11,
          .items = N_POINTS,
          .mark = 'a' },
        { .what = "plain loop, merged to 2", .run = run_plain, .data = &e2, .items = N_POINTS, .mark = 'b' },
        { .what = "step_time, one at a time",
          .run = run_single,
          .data = &e2,
          .items = N_POINTS,
          .floor_per_s = 60e6 },
        { .what = "step_time_batch", .run = run_batch, .data = &e2, .items = N_POINTS, .floor_per_s = 300e6 },
    };
    bench_head(b, "T(B) of GPT-3, 4 dimensions");
    bench_race(b, runners, sizeof runners / sizeof runners[0]);
    split_free(&s);
}

static void race_unmerged(struct bench *b, struct points *points, struct rng *rng)
{
    struct step_fn fn;
    struct plain plain;
    draw_step(&fn, N_DIMS, 20, rng);
    list_leaves(&plain, &fn);
    struct entry e = { points, &fn, &plain };
    check_entry(&e);
    struct bench_runner runners[] = {
        { .what = "plain loop", .run = run_plain, .data = &e, .items = N_POINTS, .mark = 'a' },
        { .what = "step_time, one at a time", .run = run_single, .data = &e, .items = N_POINTS },
        { .what = "step_time_batch", .run = run_batch, .data = &e, .items = N_POINTS },
    };
    bench_head(b, "T(B) of 20 collectives that do not merge");
    bench_race(b, runners, sizeof runners / sizeof runners[0]);
    step_fn_free(&fn);
}

void bench_eval(struct bench *b)
{
    struct points *points = bench_alloc(sizeof *points);
    struct rng *rng = NULL;
    struct err e = { 0 };
    if (rng_build(&rng, SEED, 0, &e))
        bench_stop("%s", e.msg);
    draw_points(points, rng);
    race_gpt3(b, points);
    race_unmerged(b, points, rng);
    rng_free(rng);
    free(points);
}
