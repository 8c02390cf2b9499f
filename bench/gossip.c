/* How long workers take to be trained: products of matrices beside GSL's BLAS, a batch, whole runs, a study.
 */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <gsl/gsl_cblas.h>

#include "base/rng.h"
#include "kinds/gossip/gossip.h"
#include "sim/gossip/gossip.h"
#include "sim/gossip/learner.h"
#include "study/campaign.h"
#include "tests/gossip_fixture.h"
#include "tests/settings.h"

enum { BATCH = 32, FEATURES = 32, HIDDEN = 64, CLASSES = 10, ROUNDS = 5 };

/* Promised, on one core. */
#define RUN_S 1.5
/* On two cores. */
#define STUDY_S 120.0

#define STUDY "configs/studies/gossip.yaml"
enum { STUDY_THREADS = 2, STUDY_ROWS = 2 * 16 };

static void check(int rc, const struct err *e)
{
    if (rc)
        bench_stop("%s", e->msg);
}

/* ---- products ---- */

/* One of those of a step; @p a and @p b as they lie in memory, transposed or not. */
struct product {
    const char *what;
    int32_t m, n, k;
    bool a_transposed, b_transposed;
    float *a, *b, *c; /* shapes [m k], [k n], [m n] */
};

static double by_kernel(void *data, int64_t n)
{
    struct product *p = data;
    const struct kernel_matrix a = { p->a, p->a_transposed ? 1 : p->k, p->a_transposed ? p->m : 1 };
    const struct kernel_matrix b = { p->b, p->b_transposed ? 1 : p->n, p->b_transposed ? p->k : 1 };
    for (int64_t i = 0; i < n; i++)
        kernel_product(p->c, a, b, p->m, p->n, p->k, false);
    return (double)p->c[0];
}

static double by_gsl(void *data, int64_t n)
{
    struct product *p = data;
    for (int64_t i = 0; i < n; i++)
        cblas_sgemm(CblasRowMajor, p->a_transposed ? CblasTrans : CblasNoTrans,
                    p->b_transposed ? CblasTrans : CblasNoTrans, p->m, p->n, p->k, 1, p->a,
                    p->a_transposed ? p->m : p->k, p->b, p->b_transposed ? p->k : p->n, 0, p->c, p->n);
    return (double)p->c[0];
}

static float *draw(int32_t n, struct rng *r)
{
    float *x = bench_alloc((size_t)n * sizeof *x);
    for (int32_t i = 0; i < n; i++)
        x[i] = (float)rng_normal(r);
    return x;
}

/* Products alike but for rounding, which each does in its own order. */
static bool agree(struct product *p)
{
    double most = 0, apart = 0;
    const size_t n = (size_t)p->m * (size_t)p->n;
    float *other = bench_alloc(n * sizeof *other), *own = p->c;
    by_kernel(p, 1);
    p->c = other;
    by_gsl(p, 1);
    p->c = own;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs((double)own[i]));
        apart = fmax(apart, fabs((double)own[i] - (double)other[i]));
    }
    free(other);
    return apart <= 1e-5 * most;
}

static void bench_products(struct bench *b)
{
    struct product products[] = {
        { .what = "examples by weights", .m = BATCH, .n = HIDDEN, .k = FEATURES },
        { .what = "hidden by weights", .m = BATCH, .n = CLASSES, .k = HIDDEN },
        { .what = "gradient of the last weights",
          .m = HIDDEN,
          .n = CLASSES,
          .k = BATCH,
          .a_transposed = true },
        { .what = "back to the hidden", .m = BATCH, .n = HIDDEN, .k = CLASSES, .b_transposed = true },
        { .what = "gradient of the first weights",
          .m = FEATURES,
          .n = HIDDEN,
          .k = BATCH,
          .a_transposed = true },
    };
    struct rng *r;
    struct err e = { 0 };
    check(rng_build(&r, 1, 0, &e), &e);
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
        struct product *p = &products[i];
        const double flops = 2.0 * p->m * p->n * p->k;
        p->a = draw(p->m * p->k, r);
        p->b = draw(p->k * p->n, r);
        p->c = draw(p->m * p->n, r);
        printf("   %s: %d x %d x %d, additions and products\n", p->what, p->m, p->k, p->n);
        struct bench_runner runners[] = {
            { "sim/gossip/kernel", by_kernel, p, flops, 0, 0, !agree(p) },
            { "GSL BLAS, cblas_sgemm", by_gsl, p, flops, 0, 'G', false },
        };
        bench_race(b, runners, 2);
        free(p->a);
        free(p->b);
        free(p->c);
    }
    rng_free(r);
}

/* ---- runs ---- */

/* What a run needs, of a switch between its workers on which a model takes 0.6 of a step. */
struct subject {
    struct gossip_data train, test;
    struct gossip_net net;
    struct gossip_shards shards;
    struct gossip_fabric fabric;
    struct topo_graph *graph;
    struct gossip_setup setup;
};

static void build(struct subject *s, int32_t n_workers, int64_t n_train, double epochs)
{
    const int32_t hidden[] = { HIDDEN };
    struct gossip_teacher t = gossip_fixture_teacher();
    struct err e = { 0 };
    char spec[32];
    t.n_train = n_train;
    t.seed = 1;
    check(gossip_teach(&s->train, &s->test, &t, &e), &e);
    check(gossip_net_build(&s->net, FEATURES, hidden, 1, CLASSES, &e), &e);
    check(gossip_shards_build(&s->shards, &s->train, n_workers, GOSSIP_IID, 1, &e), &e);
    s->fabric = (struct gossip_fabric){
        .n_workers = n_workers, .members = { n_workers }, .rules = stage_rules_plain, .share = 1
    };
    snprintf(spec, sizeof spec, "switch:%d@1", (int)n_workers);
    check(topo_parse_spec(&s->fabric.net, spec, &e), &e);
    s->fabric.net.dims[0].bw_Bps = 4.0 * s->net.n_params / 6e-3;
    check(topo_build_graph(&s->graph, &s->fabric.net, NULL, &e), &e);
    s->fabric.graph = s->graph;
    s->setup =
        (struct gossip_setup){ .net = &s->net,
                               .train = { &s->train, &s->train },
                               .test = { &s->test, &s->test },
                               .drift_at = 1,
                               .shards = &s->shards,
                               .learning = gossip_learning_default(),
                               .clock = { .step_s = 0.01, .jitter = 0.1, .slowdown = 1, .pause_factor = 1 },
                               .fabric = &s->fabric };
    s->setup.learning.epochs = epochs;
}

static void release(struct subject *s)
{
    topo_graph_free(s->graph);
    gossip_shards_free(&s->shards);
    gossip_data_free(&s->train);
    gossip_data_free(&s->test);
}

/* A batch as a worker takes it. */
struct batch {
    const struct subject *subject;
    struct gossip_pass *pass;
    float *x, *g;
};

static double one_batch(void *data, int64_t n)
{
    const struct batch *x = data;
    const struct subject *s = x->subject;
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += gossip_gradient(x->g, x->x, &s->net, &s->train, s->shards.order, BATCH, x->pass);
    return sum;
}

static void bench_batch(struct bench *b, const struct subject *s)
{
    struct batch x = { .subject = s };
    struct rng *r;
    struct err e = { 0 };
    check(rng_build(&r, 1, 0, &e), &e);
    check(gossip_pass_build(&x.pass, &s->net, BATCH, &e), &e);
    x.x = draw(s->net.n_params, r);
    x.g = draw(s->net.n_params, r);
    gossip_net_draw(x.x, &s->net, r);
    struct bench_runner runner = {
        "gradients of a batch of 32, network 32-64-10", one_batch, &x, 1, 0, 0, false
    };
    bench_race(b, &runner, 1);
    free(x.x);
    free(x.g);
    gossip_pass_free(x.pass);
    rng_free(r);
}

/* @p limit_s 0: nothing is promised, and once is enough. */
static void bench_run(struct bench *b, const char *what, const struct subject *s, const char *method,
                      int64_t period, double limit_s)
{
    struct gossip_settings settings = gossip_settings_default();
    double wall_s[ROUNDS], cpu_s = (double)INFINITY;
    char required[BENCH_CELL], best[BENCH_CELL], spread[BENCH_CELL], cpu[BENCH_CELL];
    const int rounds = limit_s > 0 ? ROUNDS : 1;
    bool right = true;
    settings.method = gossip_find_method(method);
    settings.period = period;
    if (settings.method < 0)
        bench_stop("no method '%s'", method);
    for (int i = 0; i < rounds; i++) {
        struct gossip_result r;
        struct err e = { 0 };
        struct bench_time begin = bench_now();
        check(gossip_run(&r, &s->setup, &settings, 1, &(struct gossip_wish){ 0 }, &e), &e);
        struct bench_time end = bench_now();
        wall_s[i] = end.wall_s - begin.wall_s;
        cpu_s = fmin(cpu_s, end.cpu_s - begin.cpu_s);
        /* Of ten classes; a model that has learned nothing has one in ten right. */
        right = right && r.average_accuracy > 0.5;
        gossip_result_free(&r);
    }
    double median_s = bench_median(wall_s, rounds);
    snprintf(required, sizeof required, "<= %.1f s", limit_s);
    snprintf(best, sizeof best, "%.3f s", wall_s[0]);
    snprintf(spread, sizeof spread, "+%.0f %%", 100 * (median_s / wall_s[0] - 1));
    snprintf(cpu, sizeof cpu, "%.3f s", cpu_s);
    bench_print(b,
                &(struct bench_line){ what, limit_s > 0 ? required : NULL, best, rounds > 1 ? spread : NULL,
                                      cpu, NULL },
                !(limit_s > 0)                  ? BENCH_INFO
                : right && wall_s[0] <= limit_s ? BENCH_MET
                                                : BENCH_MISSED);
}

/* ---- a whole table ---- */

/* 16 rules, 5 seeds, 2 ways to deal out examples. */
static void bench_study(struct bench *b)
{
    struct study study;
    struct table rows = { 0 };
    struct err e = { 0 };
    char best[BENCH_CELL], cpu[BENCH_CELL];
    const struct study_ask ask = { .from = { .path = STUDY }, .kind = &gossip_kind };
    struct bench_time begin = bench_now();
    check(study_open(&study, &ask, &e), &e);
    check(campaign_rows(&rows, &study, STUDY_THREADS, &e), &e);
    struct bench_time end = bench_now();
    const double wall_s = end.wall_s - begin.wall_s;
    const bool right = rows.n_rows == STUDY_ROWS && !rows.failed;
    snprintf(best, sizeof best, "%.1f s", wall_s);
    snprintf(cpu, sizeof cpu, "%.1f s", end.cpu_s - begin.cpu_s);
    bench_print(b, &(struct bench_line){ STUDY ", 160 runs on 2 threads", "<= 120 s", best, NULL, cpu, NULL },
                right && wall_s <= STUDY_S ? BENCH_MET : BENCH_MISSED);
    table_free(&rows);
    study_close(&study);
}

void bench_gossip(struct bench *b)
{
    struct subject small, large;
    bench_head(b, "training with little communication");
    bench_products(b);
    build(&small, 8, 20000, 20);
    bench_batch(b, &small);
    bench_run(b, "a run: 8 workers, 20 epochs, 12,480 steps, pairs each step", &small, "pair", 1, RUN_S);
    bench_run(b, "   the same, all-reduce each step", &small, "all-reduce", 1, RUN_S);
    release(&small);
    build(&large, 1024, 65536, 16);
    bench_run(b, "   1,024 workers, 32,768 steps, pairs every 4", &large, "pair", 4, 0);
    bench_run(b, "   the same, local SGD, models averaged every 4", &large, "local", 4, 0);
    release(&large);
    bench_study(b);
}
