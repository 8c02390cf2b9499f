/* How fast plans of parallelism are searched: GPT-3 175B on 4,096 NPUs of LIBRA's 4D network, and DeepSeek-V3
 * (experts, three precisions) on 256 GB300. */
#include "bench/bench.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>

#include "kinds/design/ask/load.h"
#include "kinds/design/explore/search.h"

#define STUDY   "configs/studies/llm-gpt3-libra.yaml"
#define EXPERTS "configs/studies/deepseek-v3-gb300.yaml"

enum { ROUNDS = 5 };

/* Promised. Others, on one core of a machine with two: Calculon 226 configurations per CPU second,
 * SimuMax 23. */
#define LEAST_PER_S      8e6
#define LIMIT_S          60.0
#define LEAST_CANDIDATES 7000000
#define BUDGETS_CPU_S    3.0
#define NETWORK_CPU_S    0.020

enum { N_BUDGETS = 8, N_MORE = 10 };

struct searched {
    double wall_s, spread, cpu_s;
    int64_t n_candidates, n_timed, n_split;
    double best_s;
    int64_t best_rank;
};

/* An even split where the study gives a total: bandwidths do not change how long a search takes. */
static void search_once(struct search_result *r, const struct design_point *s, bool split)
{
    double bw_Bps[TOPO_MAX_DIMS];
    struct search_space space;
    struct err e = { 0 };
    schema_defaults(&space, &search_section);
    if (s->workloads[0].training->model.moe.experts) {
        space.precision = SEARCH_ASKED | 1U << TOPO_BF16 | 1U << TOPO_FP8 | 1U << TOPO_MXFP8;
        space.pp = (struct search_values){ .values = { 2, 4 }, .n = 2 };
    }
    topo_get_bandwidths(bw_Bps, &s->net);
    for (int32_t d = 0; d < s->net.n_dims && s->total_Bps > 0; d++)
        bw_Bps[d] = s->total_Bps / s->net.n_dims;
    const struct training *base = s->workloads[0].training;
    struct search_book book;
    if (search_book_build(&book, &space, s, base, SEARCH_MOST_NOTED, true, &e) ||
        (split ? search_split(r, &book, &e) : search_given(r, &book, bw_Bps, &e)))
        bench_stop("%s", e.msg);
    search_book_free(&book);
}

static void measure(struct searched *out, const struct design_point *s, int threads, bool split)
{
    double wall_s[ROUNDS];
    omp_set_num_threads(threads);
    out->cpu_s = INFINITY;
    for (int i = 0; i < ROUNDS; i++) {
        struct search_result r;
        struct bench_time before = bench_now();
        search_once(&r, s, split);
        struct bench_time after = bench_now();
        wall_s[i] = after.wall_s - before.wall_s;
        out->cpu_s = fmin(out->cpu_s, after.cpu_s - before.cpu_s);
        out->n_candidates = r.n_candidates;
        out->n_timed = r.n_timed;
        out->n_split = r.n_split;
        out->best_s = r.found[0].time_s;
        out->best_rank = r.found[0].rank;
        search_free(&r);
    }
    double median = bench_median(wall_s, ROUNDS);
    out->wall_s = wall_s[0];
    out->spread = median / wall_s[0] - 1;
}

static void print(struct bench *b, const char *what, const char *required, const struct searched *x, bool met)
{
    char best[BENCH_CELL], spread[BENCH_CELL], cpu[BENCH_CELL];
    snprintf(best, sizeof best, "%.2f s", x->wall_s);
    snprintf(spread, sizeof spread, "+%.0f %%", 100 * x->spread);
    snprintf(cpu, sizeof cpu, "%.2f s", x->cpu_s);
    bench_keep_speed(b, what, 1 / x->cpu_s);
    bench_print(b, &(struct bench_line){ what, required, best, spread, cpu, NULL },
                met ? BENCH_MET : BENCH_MISSED);
}

/* Plan and split together at budgets that share a book: one thread. */
static struct bench_time split_budgets(struct search_shelf *shelf, const int *totals_GBps, int n)
{
    struct search_space space;
    struct err e = { 0 };
    struct bench_time spent = { 0 };
    schema_defaults(&space, &search_section);
    for (int i = 0; i < n; i++) {
        char total[BENCH_CELL];
        struct design_point point;
        struct search_result r;
        struct search_book book;
        snprintf(total, sizeof total, "%d", totals_GBps[i]);
        const struct study_override given = { "total_GBps", total };
        if (design_point_load(&point, STUDY, &given, 1, DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT, &e))
            bench_stop("%s", e.msg);
        struct bench_time before = bench_now();
        if (search_book_open(&book, shelf, &space, &point, point.workloads[0].training, &e) ||
            search_split(&r, &book, &e))
            bench_stop("%s", e.msg);
        struct bench_time after = bench_now();
        spent.wall_s += after.wall_s - before.wall_s;
        spent.cpu_s += after.cpu_s - before.cpu_s;
        search_free(&r);
        search_book_close(&book, shelf);
        design_point_free(&point);
    }
    return spent;
}

static void print_budgets(struct bench *b, const char *name, const char *required, struct bench_time spent,
                          double most_s)
{
    char what[2 * BENCH_CELL], wall[BENCH_CELL], cpu[BENCH_CELL];
    snprintf(what, sizeof what, "   %s, one thread", name);
    snprintf(wall, sizeof wall, "%.3f s", spent.wall_s);
    snprintf(cpu, sizeof cpu, "%.3f s", spent.cpu_s);
    bench_keep_speed(b, name, 1 / spent.cpu_s);
    bench_print(b, &(struct bench_line){ what, required, wall, NULL, cpu, NULL },
                spent.cpu_s <= most_s ? BENCH_MET : BENCH_MISSED);
}

static void time_budgets(struct bench *b)
{
    static const int totals[N_BUDGETS] = { 100, 200, 300, 400, 500, 600, 800, 1000 };
    struct search_shelf *shelf = search_shelf_new();
    int more[N_MORE];
    if (!shelf)
        bench_stop("no memory");
    for (int i = 0; i < N_MORE; i++)
        more[i] = 501 + i;
    print_budgets(b, "eight budgets", "<= 3 s CPU", split_budgets(shelf, totals, N_BUDGETS), BUDGETS_CPU_S);
    struct bench_time spent = split_budgets(shelf, more, N_MORE);
    spent.wall_s /= N_MORE;
    spent.cpu_s /= N_MORE;
    print_budgets(b, "another near 500 GB/s", "<= 0.02 s CPU", spent, NETWORK_CPU_S);
    search_shelf_free(shelf);
}

static void print_rate(struct bench *b, const char *what, const struct searched *x)
{
    char rate[BENCH_CELL], least[BENCH_CELL];
    double per_s = (double)x->n_timed / x->cpu_s;
    bench_keep_speed(b, what, per_s);
    bench_print(b,
                &(struct bench_line){ what, bench_rate(least, LEAST_PER_S), bench_rate(rate, per_s), NULL,
                                      NULL, NULL },
                per_s >= LEAST_PER_S ? BENCH_MET : BENCH_MISSED);
}

static void time_experts(struct bench *b)
{
    struct design_point s;
    struct err e = { 0 };
    struct searched x;
    if (design_point_load(&s, EXPERTS, NULL, 0, DESIGN_NEEDS_WORKLOAD, &e))
        bench_stop("%s", e.msg);
    measure(&x, &s, 1, false);
    print_rate(b, "   DeepSeek-V3, timed per second and core", &x);
    design_point_free(&s);
}

void bench_search(struct bench *b)
{
    struct design_point s;
    struct err e = { 0 };
    struct searched one, two, joint;
    int threads = omp_get_max_threads();
    if (design_point_load(&s, STUDY, NULL, 0, DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT, &e))
        bench_stop("%s", e.msg);
    measure(&one, &s, 1, false);
    measure(&two, &s, 2, false);
    measure(&joint, &s, 2, true);
    omp_set_num_threads(threads);
    if (one.best_rank != two.best_rank || one.best_s < two.best_s || one.best_s > two.best_s)
        bench_stop("one thread finds plan %lld, two %lld", (long long)one.best_rank,
                   (long long)two.best_rank);
    bench_head(b, "plans of parallelism, GPT-3 175B on 4,096 NPUs");
    printf("   %lld candidates, of which %lld fit in memory and are timed\n", (long long)two.n_candidates,
           (long long)two.n_timed);
    print_rate(b, "timed per second and core", &one);
    time_experts(b);
    bool many = two.n_candidates >= LEAST_CANDIDATES;
    print(b, "the whole search, two threads", "<= 60 s", &two, many && two.wall_s <= LIMIT_S);
    print(b, "   bandwidths chosen too, the best pair proved", "<= 60 s", &joint,
          many && joint.wall_s <= LIMIT_S);
    printf("     %lld plans split on their own; their best takes %.4g s a step\n", (long long)joint.n_split,
           joint.best_s);
    omp_set_num_threads(1);
    time_budgets(b);
    omp_set_num_threads(threads);
    design_point_free(&s);
}
