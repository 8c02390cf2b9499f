/* Time and memory of the igraph model of a million NPUs, built in a process of its own. */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/unit/split_fixture.h"
#include "topo/graph.h"

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
}
