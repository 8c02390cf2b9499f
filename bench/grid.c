/* How fast grids of bandwidths are: T(B) and cost(B) at every point, of which the Pareto front comes out. */
#include "bench/bench.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "bench/draw.h"
#include "kinds/design/explore/grid.h"
#include "tests/unit/split_fixture.h"

enum {
    N_DIMS = 4,
    N_INNER = 200,
    N_OUTER = 48,

    N_TERMS = 20,
    N_UNITS = 16,
    ROUNDS = 41,
    SEED = 20261122
};

/* Promised: with AVX2 and without, of a step of two leaves; of 20 terms, where a loop that keeps 16 points in
 * registers was measured at 241 million, two thirds of that. */
#define AVX2_PER_S     400e6
#define PORTABLE_PER_S 80e6
#define TERMS_PER_S    160e6
#define ROWS_PER_S     1e9
#define TWO_THREADS    1.8

/* Points are all combinations of these. */
struct values {
    int64_t n[N_DIMS];
    double bw_Bps[N_DIMS][N_INNER];
};

struct subject {
    const struct grid *grid;
    const struct values *values;
    const struct step_fn *step;
    int threads;
    int64_t n_found; /* of the last run */
};

/* 5 to 1000 GB/s in equal steps; the last dimension has the most. */
static void set_values(struct values *v, int64_t n_outer)
{
    for (int32_t d = 0; d < N_DIMS; d++) {
        v->n[d] = d == N_DIMS - 1 ? N_INNER : n_outer;
        for (int64_t i = 0; i < v->n[d]; i++)
            v->bw_Bps[d][i] = 5e9 + 995e9 * (double)i / (double)(v->n[d] - 1);
    }
}

static double count(const struct values *v)
{
    double n = 1;
    for (int32_t d = 0; d < N_DIMS; d++)
        n *= (double)v->n[d];
    return n;
}

/* Within the first @p n_rows constraints of the split. */
static struct grid *build_within(const struct values *v, const struct step_fn *step, const struct split *s,
                                 int32_t lanes, bool bound, int32_t n_rows)
{
    struct grid_question q;
    struct grid *g;
    struct err e = { 0 };
    grid_question_init(&q, step);
    for (int32_t d = 0; d < N_DIMS; d++) {
        q.usd_per_Bps[d] = s->problem.usd_per_Bps[d];
        q.axes[d] = (struct grid_axis){ .dim = d, .n = v->n[d], .bw_Bps = v->bw_Bps[d] };
    }
    q.n_axes = N_DIMS;
    q.front[0] = GRID_TIME;
    q.front[1] = GRID_COST;
    q.n_front = 2;
    q.lanes = lanes;
    q.bound = bound;
    q.rows = s->rows.rows;
    q.n_rows = n_rows;
    if (grid_prepare(&g, &q, &e))
        bench_stop("%s", e.msg);
    return g;
}

static struct grid *build(const struct values *v, const struct step_fn *step, const struct split *s,
                          int32_t lanes, bool bound)
{
    return build_within(v, step, s, lanes, bound, 0);
}

static double run_grid(void *data, int64_t n)
{
    struct subject *x = data;
    double sum = 0;
    for (int64_t k = 0; k < n; k++) {
        struct grid_found found = { 0 };
        struct err e = { 0 };
        if (grid_run(x->grid, 0, grid_count(x->grid), NULL, &found, &e))
            bench_stop("%s", e.msg);
        x->n_found = found.n;
        sum += (double)found.n;
        grid_found_free(&found);
    }
    return sum;
}

/* In parts that threads take one by one, as a sweep does. */
static double run_parts(void *data, int64_t n)
{
    const struct subject *x = data;
    int64_t all = grid_count(x->grid), sum = 0;
    for (int64_t k = 0; k < n; k++) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(x->threads) reduction(+ : sum)
        for (int64_t u = 0; u < N_UNITS; u++) {
            int64_t first = all * u / N_UNITS, end = all * (u + 1) / N_UNITS;
            struct grid_found found = { 0 };
            struct err e = { 0 };
            if (grid_run(x->grid, first, end - first, NULL, &found, &e))
                bench_stop("%s", e.msg);
            sum += found.n;
            grid_found_free(&found);
        }
    }
    return (double)sum;
}

/* What the figure of 241 million was measured with: sums over terms of the slowest dimension, 16 points at a
 * time in registers, reciprocals once for each axis; only the least time is kept. */
#ifdef __x86_64__
static inline double larger(double x, double y)
{
    return x > y ? x : y;
}

__attribute__((target("avx2"))) static double row_of_blocks(const struct step_fn *f, const double *outer_inv,
                                                            const double *inv)
{
    __m256d least = _mm256_set1_pd(INFINITY);
    for (int64_t i = 0; i + 16 <= N_INNER; i += 16) {
        __m256d a = _mm256_set1_pd(f->const_s[0]), b = a, c = a, d = a;
        for (const double *m = f->traffic_B; m < f->traffic_B + (ptrdiff_t)f->n_leaves * TOPO_MAX_DIMS;
             m += TOPO_MAX_DIMS) {
            double slow_s = larger(larger(m[0] * outer_inv[0], m[1] * outer_inv[1]), m[2] * outer_inv[2]);
            const __m256d base = _mm256_set1_pd(slow_s), last = _mm256_set1_pd(m[3]);
            a = _mm256_add_pd(a, _mm256_max_pd(_mm256_mul_pd(last, _mm256_loadu_pd(inv + i)), base));
            b = _mm256_add_pd(b, _mm256_max_pd(_mm256_mul_pd(last, _mm256_loadu_pd(inv + i + 4)), base));
            c = _mm256_add_pd(c, _mm256_max_pd(_mm256_mul_pd(last, _mm256_loadu_pd(inv + i + 8)), base));
            d = _mm256_add_pd(d, _mm256_max_pd(_mm256_mul_pd(last, _mm256_loadu_pd(inv + i + 12)), base));
        }
        least = _mm256_min_pd(least, _mm256_min_pd(_mm256_min_pd(a, b), _mm256_min_pd(c, d)));
    }
    double x[4];
    _mm256_storeu_pd(x, least);
    return fmin(fmin(x[0], x[1]), fmin(x[2], x[3]));
}
#else
static double row_of_blocks(const struct step_fn *f, const double *outer_inv, const double *inv)
{
    bench_stop("the prototype of grids is for x86-64, this is not: %p %p %p", (const void *)f,
               (const void *)outer_inv, (const void *)inv);
}
#endif

static double run_prototype(void *data, int64_t n)
{
    const struct subject *x = data;
    const struct values *v = x->values;
    double inv[N_DIMS][N_INNER], sum = 0;
    for (int64_t k = 0; k < n; k++) {
        for (int32_t d = 0; d < N_DIMS; d++)
            for (int64_t i = 0; i < v->n[d]; i++)
                inv[d][i] = 1 / v->bw_Bps[d][i];
        for (int64_t a = 0; a < v->n[0]; a++)
            for (int64_t b = 0; b < v->n[1]; b++)
                for (int64_t c = 0; c < v->n[2]; c++) {
                    const double outer[] = { inv[0][a], inv[1][b], inv[2][c] };
                    sum += row_of_blocks(x->step, outer, inv[N_DIMS - 1]);
                }
    }
    return sum;
}

/* Every way finds the same number of points; or nothing here means anything. */
static bool agree(struct subject *x, int n)
{
    bool same = true;
    for (int i = 0; i < n; i++) {
        run_grid(&x[i], 1);
        same = same && x[i].n_found == x[0].n_found;
    }
    return same && x[0].n_found > 10;
}

static void race_gpt3(struct bench *b, const struct split *s)
{
    struct values *v = bench_alloc(sizeof *v);
    set_values(v, N_OUTER);
    struct grid *avx2 = build(v, &s->step, s, grid_has_avx2() ? 4 : 2, false);
    struct grid *portable = build(v, &s->step, s, 2, false), *bound = build(v, &s->step, s, 0, true);
    struct grid *rows = build_within(v, &s->step, s, 0, true, s->rows.n);
    struct subject x[] = { { .grid = avx2 }, { .grid = portable }, { .grid = bound }, { .grid = rows } };
    bool broken = !agree(x, 3);
    struct bench_runner runners[] = {
        { "every point, AVX2", run_grid, &x[0], count(v), AVX2_PER_S, 'a', broken },
        { "every point, without AVX2", run_grid, &x[1], count(v), PORTABLE_PER_S, 0, broken },
        { "rows that are worse left out", run_grid, &x[2], count(v), 0, 0, broken },
        { "the same within two constraints", run_grid, &x[3], count(v), ROWS_PER_S, 0, false },
    };
    bench_head(b, "front over time and cost, GPT-3, 48 x 48 x 48 x 200 points");
    bench_race(b, runners, sizeof runners / sizeof runners[0]);
    grid_free(avx2);
    grid_free(portable);
    grid_free(bound);
    grid_free(rows);
    free(v);
}

/* In turns, like a race, but it is the ratio that is promised. */
static void race_threads(struct bench *b, const struct split *s)
{
    struct values *v = bench_alloc(sizeof *v);
    set_values(v, N_OUTER);
    struct grid *g = build(v, &s->step, s, 0, false);
    double best_s[3] = { 0, INFINITY, INFINITY };
    for (int round = 0; round < ROUNDS || (round < 5 * ROUNDS && best_s[1] < TWO_THREADS * best_s[2]);
         round++)
        for (int threads = 1; threads <= 2; threads++) {
            struct subject x = { .grid = g, .threads = threads };
            struct bench_time before = bench_now();
            run_parts(&x, 1);
            best_s[threads] = fmin(best_s[threads], bench_now().wall_s - before.wall_s);
        }
    char best[BENCH_CELL], ratio[BENCH_CELL];
    double times = best_s[1] / best_s[2];
    snprintf(ratio, sizeof ratio, "%.2f x one thread", times);
    bench_print(b,
                &(struct bench_line){ "   every point, 2 threads", "1.8 x",
                                      bench_rate(best, count(v) / best_s[2]), NULL, NULL, ratio },
                times >= TWO_THREADS ? BENCH_MET : BENCH_MISSED);
    grid_free(g);
    free(v);
}

static void race_terms(struct bench *b, const struct split *s)
{
    struct values *v = bench_alloc(sizeof *v);
    struct step_fn step;
    struct rng *rng;
    struct err e = { 0 };
    if (rng_build(&rng, SEED, 0, &e))
        bench_stop("%s", e.msg);
    draw_step(&step, N_DIMS, N_TERMS, rng);
    rng_free(rng);
    set_values(v, N_OUTER);
    struct grid *avx2 = build(v, &step, s, grid_has_avx2() ? 4 : 2, false);
    struct grid *portable = build(v, &step, s, 2, false);
    struct subject x[] = { { .grid = avx2 }, { .grid = portable } };
    struct subject plain = { .values = v, .step = &step };
    bool broken = !agree(x, 2);
    struct bench_runner runners[] = {
        { "prototype: blocks of 16 points, least time alone", run_prototype, &plain, count(v), 0, 'p',
          false },
        { "every point, AVX2", run_grid, &x[0], count(v), TERMS_PER_S, 0, broken },
        { "every point, without AVX2", run_grid, &x[1], count(v), 0, 0, broken },
    };
    bench_head(b, "the same, 20 terms that do not merge, 48 x 48 x 48 x 200 points");
    const int skipped = grid_has_avx2() ? 0 : 1; /* the prototype needs it */
    bench_race(b, runners + skipped, (int)(sizeof runners / sizeof runners[0]) - skipped);
    grid_free(avx2);
    grid_free(portable);
    step_fn_free(&step);
    free(v);
}

void bench_grid(struct bench *b)
{
    const char *workload = "gpt3";
    struct split s = { 0 };
    split_open(&s, "libra-4d-4096", "libra-2024-4d", &workload, 1);
    split_row(&s, "chiplet + package <= 900");
    split_row(&s, "chiplet >= package");
    race_gpt3(b, &s);
    race_threads(b, &s);
    race_terms(b, &s);
    split_free(&s);
}
