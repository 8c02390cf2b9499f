/* Time and memory of the igraph model of a million NPUs, built in a process of its own; uniform traffic of
 * random graphs. */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/rng.h"
#include "tests/unit/split_fixture.h"
#include "topo/theta.h"

enum { ROUNDS = 5, POD = 8192 };

#define LIMIT_S  3.0
#define LIMIT_MB 900.0

/* What the child reports. */
struct built {
    struct bench_time took;
    double peak_B;
    int64_t npus, vertices, links;
};

/* LIBRA's network with pods of 8,192 instead of 32, priced, and bandwidths as an equal split of 1 TB/s. */
static void enlarge(struct split *s)
{
    const char *workload = "gpt3";
    split_open(s, "libra-4d-4096", "libra-2024-4d", &workload, 1);
    s->net.n_npus = s->net.n_npus / s->net.dims[3].size * POD;
    s->net.dims[3].size = POD;
    for (int32_t d = 0; d < s->net.n_dims; d++)
        s->net.dims[d].bw_Bps = 250e9;
}

static void build(const void *data, void *out)
{
    const struct split *s = data;
    struct topo_graph *g;
    struct err e = { 0 };
    struct rusage use;
    struct bench_time begin = bench_now();
    if (topo_build_graph(&g, &s->net, s->problem.usd_per_Bps, &e))
        bench_stop("%s", e.msg);
    struct bench_time end = bench_now();
    getrusage(RUSAGE_SELF, &use);
    *(struct built *)out = (struct built){ { end.wall_s - begin.wall_s, end.cpu_s - begin.cpu_s },
                                           1024.0 * (double)use.ru_maxrss, /* Linux counts in KiB */
                                           topo_graph_npus(g),
                                           topo_graph_vertices(g),
                                           topo_graph_links(g) };
    topo_graph_free(g);
}

static void print_limit(struct bench *b, const char *what, double *all, const char *unit, double limit,
                        double cpu_s)
{
    char required[BENCH_CELL], best[BENCH_CELL], spread[BENCH_CELL], cpu[BENCH_CELL] = "";
    double median = bench_median(all, ROUNDS), least = all[0];
    snprintf(required, sizeof required, "<= %.0f %s", limit, unit);
    snprintf(best, sizeof best, "%.*f %s", least < 10 ? 2 : 0, least, unit);
    snprintf(spread, sizeof spread, "+%.0f %%", 100 * (median / least - 1));
    if (cpu_s > 0)
        snprintf(cpu, sizeof cpu, "%.2f s", cpu_s);
    bench_print(b, &(struct bench_line){ what, required, best, spread, cpu, NULL },
                least <= limit ? BENCH_MET : BENCH_MISSED);
}

/* ---- uniform traffic of random graphs ---- */

/* What the child reports. */
struct traffic {
    struct bench_time took;
    double peak_B, rate_Bps;
};

enum { CYCLES = 3 /* a vertex has twice as many links */ };

/* Random cycles through all NPUs, one on the other. */
static void draw_wires(struct topo_wires *w, int32_t n)
{
    struct err e = { 0 };
    struct rng *rng;
    int32_t *at = bench_alloc((size_t)n * sizeof *at);
    if (rng_build(&rng, (uint64_t)n, 0, &e))
        bench_stop("%s", e.msg);
    *w = (struct topo_wires){ .n_npus = n, .n_vertices = n, .n_links = CYCLES * n };
    w->links = bench_alloc((size_t)w->n_links * sizeof *w->links);
    for (int32_t c = 0; c < CYCLES; c++) {
        for (int32_t i = 0; i < n; i++) {
            int32_t k = (int32_t)rng_below(rng, i + 1);
            at[i] = at[k];
            at[k] = i;
        }
        for (int32_t i = 0; i < n; i++) {
            int32_t a = at[i], b = at[(i + 1) % n];
            w->links[c * n + i] =
                (struct topo_link){ .src = a < b ? a : b, .dst = a < b ? b : a, .bw_Bps = 50e9 };
        }
    }
    rng_free(rng);
    free(at);
}

static void find_traffic(const void *data, void *out)
{
    struct traffic *t = out;
    struct topo_wires w;
    struct err e = { 0 };
    struct rusage use;
    draw_wires(&w, *(const int32_t *)data);
    struct bench_time begin = bench_now();
    if (theta_uniform(&t->rate_Bps, &w, &e))
        bench_stop("%s", e.msg);
    struct bench_time end = bench_now();
    getrusage(RUSAGE_SELF, &use);
    t->took = (struct bench_time){ end.wall_s - begin.wall_s, end.cpu_s - begin.cpu_s };
    t->peak_B = 1024.0 * (double)use.ru_maxrss;
    free(w.links);
}

/* Each answer is held between a routing and a cut, THETA_LOOSE apart at most; else it is NaN. */
static void print_traffic(struct bench *b, int32_t n, double limit_s)
{
    struct traffic t;
    char what[2 * BENCH_CELL], required[BENCH_CELL], best[BENCH_CELL], cpu[BENCH_CELL], memory[BENCH_CELL];
    bench_apart(find_traffic, &n, &t, sizeof t);
    snprintf(what, sizeof what, "   %d NPUs, exact to 1e-6", (int)n);
    snprintf(required, sizeof required, "<= %.0f s", limit_s);
    snprintf(best, sizeof best, "%.2f s", t.took.wall_s);
    snprintf(cpu, sizeof cpu, "%.2f s", t.took.cpu_s);
    snprintf(memory, sizeof memory, "%.0f MB", t.peak_B / 1e6);
    bench_print(b, &(struct bench_line){ what, required, best, NULL, cpu, memory },
                t.took.cpu_s <= limit_s && t.rate_Bps > 0 ? BENCH_MET : BENCH_MISSED);
}

static void race_traffic(struct bench *b)
{
    bench_head(b, "uniform traffic by any paths, random graphs of degree 6");
    print_traffic(b, 64, 1);
    print_traffic(b, 256, 5);
    print_traffic(b, 1024, 60);
}

void bench_graph(struct bench *b)
{
    struct split s = { 0 };
    struct built one = { 0 };
    double wall_s[ROUNDS], peak_MB[ROUNDS], cpu_s = (double)INFINITY;
    enlarge(&s);
    for (int i = 0; i < ROUNDS; i++) {
        bench_apart(build, &s, &one, sizeof one);
        wall_s[i] = one.took.wall_s;
        peak_MB[i] = one.peak_B / 1e6;
        cpu_s = fmin(cpu_s, one.took.cpu_s);
    }
    /* Links per NPU by hand: ring 1, full 7/2, ring 1, switch 1; one switch per address of the inner three.
     */
    if (one.npus != 1048576 || one.vertices != 1048576 + 128 || 2 * one.links != 13 * one.npus)
        bench_stop("the graph has %lld NPUs, %lld vertices, %lld links", (long long)one.npus,
                   (long long)one.vertices, (long long)one.links);
    bench_head(b, "igraph model of 1,048,576 NPUs, 4 dimensions, 6.8 M links");
    print_limit(b, "   build with bandwidth, latency, dimension and price", wall_s, "s", LIMIT_S, cpu_s);
    print_limit(b, "   peak memory of the process", peak_MB, "MB", LIMIT_MB, 0);
    split_free(&s);
    race_traffic(b);
}
