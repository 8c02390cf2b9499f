/*
 * How fast flows are simulated: an all-reduce over 16 x 256 NPUs, rings inside and switches outside, as
 * collectives on the graph, and as the same flows begun step by step, which SimGrid runs too where it is
 * installed; all-to-alls with latency over fabrics, whose flows go by classes, and over a line, where all
 * differ; and the failures of a study.
 */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kinds/design/answer/fail.h"
#include "kinds/design/ask/load.h"
#include "kinds/design/explore/solve.h"
#include "tests/unit/flow_cases.h"

enum { ROUNDS = 5, N_FLOWS = 311296 };

#define WORD  "ring:16@50 switch:256@50"
#define BYTES 4294967296.0

#define LIMIT_S 1.0

/* What a child reports. */
struct flown {
    struct bench_time took;
    double peak_B, time_s;
    int64_t flows, events;
};

static void check(int rc, const struct err *e)
{
    if (rc)
        bench_stop("%s", e->msg);
}

static void note_end(struct flown *out, struct bench_time begin)
{
    struct bench_time end = bench_now();
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    out->took = (struct bench_time){ end.wall_s - begin.wall_s, end.cpu_s - begin.cpu_s };
    out->peak_B = 1024.0 * (double)use.ru_maxrss; /* Linux counts in KiB */
}

/* From the word to the time: graph, routes, groups, flows. */
static void fly_collective(const void *none, void *result)
{
    struct flown *out = result;
    const struct flow_rules rules = { stage_rules_plain, TOPO_ROUTE_DIMENSION, 1, 0 };
    struct topo_network net;
    struct topo_graph *graph;
    struct topo_routes routes;
    struct flow_sim *sim;
    struct err e = { 0 };
    int32_t group, id;
    (void)none;
    struct bench_time begin = bench_now();
    check(topo_parse_spec(&net, WORD, &e), &e);
    check(topo_build_graph(&graph, &net, NULL, &e), &e);
    check(topo_routes_build(&routes, graph, &e), &e);
    check(flow_sim_build(&sim, &routes, &rules, &e), &e);
    check(flow_sim_group(sim, &(struct flow_group_spec){ .members = { 16, 256 } }, &group, &e), &e);
    check(flow_sim_issue(sim, group, COLLECTIVE_ALL_REDUCE, BYTES, 0, 0, &id, &e), &e);
    check(flow_sim_run(sim, &e), &e);
    note_end(out, begin);
    out->time_s = flow_sim_finish_s(sim, id);
    out->flows = flow_count(flow_sim_net(sim)).done - 1; /* one is the clock that begins it */
    out->events = flow_count(flow_sim_net(sim)).events - 2;
    flow_sim_free(sim);
    topo_routes_free(&routes);
    topo_graph_free(graph);
}

/* The flows are listed beforehand, as SimGrid's are. */
static void fly_steps(const void *none, void *result)
{
    struct flown *out = result;
    (void)none;
    struct flow_case c;
    flow_case_all_reduce(&c, WORD, 0, BYTES);
    struct bench_time begin = bench_now();
    flow_case_run(&c);
    note_end(out, begin);
    out->time_s = c.phases[c.n_phases - 1].finish_s;
    out->flows = c.n_flows;
    out->events = 2 * (int64_t)c.n_flows;
    flow_case_free(&c);
}

/* SimGrid's seconds and peak memory for the same flows; false where its program is not. */
static bool fly_simgrid(double *wall_s, double *peak_B)
{
    const char *program = getenv("SIMGRID");
    const char *parent = getenv("TMPDIR");
    char path[256], command[512];
    struct flow_case c;
    if (!program || access(program, X_OK))
        return false;
    int n = snprintf(path, sizeof path, "%s/weft-bench-XXXXXX", parent && *parent ? parent : "/tmp");
    int file = n < (int)sizeof path ? mkstemp(path) : -1;
    FILE *out = file < 0 ? NULL : fdopen(file, "w");
    flow_case_all_reduce(&c, WORD, 0, BYTES);
    if (out)
        flow_case_write(&c, out);
    flow_case_free(&c);
    if (!out || fclose(out))
        bench_stop("SimGrid's input was not written");
    snprintf(command, sizeof command, "'%s' -t <%s", program, path);
    FILE *in = popen(command, "r");
    char line[128] = "", *end = line;
    bool read = in && fgets(line, sizeof line, in);
    *wall_s = strtod(line, &end);
    *peak_B = 1024 * strtod(end, NULL);
    if (!read || pclose(in) || !(*wall_s > 0) || !(*peak_B > 0))
        bench_stop("SimGrid did not run");
    remove(path);
    return true;
}

static void print_ours(struct bench *b, const char *what, void (*fly)(const void *none, void *result),
                       double simgrid_s, double simgrid_B)
{
    struct flown one;
    double wall_s[ROUNDS], cpu_s = (double)INFINITY, peak_B = 0;
    char best[BENCH_CELL], spread[BENCH_CELL], cpu[BENCH_CELL], ratio[2 * BENCH_CELL] = "", rate[BENCH_CELL];
    /* By hand: 2 (n_d - 1) / (n_1 ... n_d) of the bytes in dimension d, both of 50 GB/s. */
    const double want_s = 2 * BYTES / 50e9 * (15 / 16. + 255 / 4096.);
    for (int i = 0; i < ROUNDS; i++) {
        bench_apart(fly, NULL, &one, sizeof one);
        wall_s[i] = one.took.wall_s;
        cpu_s = fmin(cpu_s, one.took.cpu_s);
        peak_B = fmax(peak_B, one.peak_B);
    }
    if (!(fabs(one.time_s / want_s - 1) <= 1e-9) || one.flows != N_FLOWS)
        bench_stop("%lld flows took %.17g s, expected %d in %.17g s", (long long)one.flows, one.time_s,
                   N_FLOWS, want_s);
    double median = bench_median(wall_s, ROUNDS);
    snprintf(best, sizeof best, "%.3f s", wall_s[0]);
    snprintf(spread, sizeof spread, "+%.0f %%", 100 * (median / wall_s[0] - 1));
    snprintf(cpu, sizeof cpu, "%.3f s", cpu_s);
    if (simgrid_s > 0)
        snprintf(ratio, sizeof ratio, "%.0f x S", simgrid_s / wall_s[0]);
    bench_print(b, &(struct bench_line){ what, "<= 1 s", best, spread, cpu, ratio },
                wall_s[0] <= LIMIT_S ? BENCH_MET : BENCH_MISSED);
    printf("     %lld flows, %lld events, %s events; peak memory %.0f MB\n", (long long)one.flows,
           (long long)one.events, bench_rate(rate, (double)one.events / wall_s[0]), peak_B / 1e6);
    if (simgrid_B > 0) {
        snprintf(best, sizeof best, "%.0f %%", 100 * peak_B / simgrid_B);
        bench_print(
            b, &(struct bench_line){ "   its peak memory, of SimGrid's", "<= 50 %", best, NULL, NULL, NULL },
            peak_B <= simgrid_B / 2 ? BENCH_MET : BENCH_MISSED);
    }
}

/* ---- all-to-all by classes ---- */

struct exchange {
    const char *word;
    double bytes;
    bool alone;   /* by classes where that is possible */
    double round; /* flow_rules.round */
};

/* From the word to the time of an all-to-all over all NPUs, with 500 ns a link. */
static void fly_exchange(const void *data, void *result)
{
    const struct exchange *x = data;
    struct flown *out = result;
    const struct flow_rules rules = { stage_rules_plain, TOPO_ROUTE_DIMENSION, 1, x->round };
    struct flow_group_spec spec = { .order = NULL };
    struct topo_network net;
    struct topo_graph *graph;
    struct topo_routes routes;
    struct flow_sim *sim;
    struct err e = { 0 };
    int32_t group, id;
    struct bench_time begin = bench_now();
    check(topo_parse_spec(&net, x->word, &e), &e);
    for (int32_t d = 0; d < net.n_dims; d++) {
        net.dims[d].lat_s = 500e-9;
        spec.members[d] = net.dims[d].size;
    }
    check(topo_build_graph(&graph, &net, NULL, &e), &e);
    check(topo_routes_build(&routes, graph, &e), &e);
    check(flow_sim_build(&sim, &routes, &rules, &e), &e);
    check(flow_sim_group(sim, &spec, &group, &e), &e);
    if (x->alone)
        check(flow_sim_issue_alone(sim, group, COLLECTIVE_ALL_TO_ALL, x->bytes, &id, &e), &e);
    else
        check(flow_sim_issue(sim, group, COLLECTIVE_ALL_TO_ALL, x->bytes, 0, 0, &id, &e), &e);
    check(flow_sim_run(sim, &e), &e);
    note_end(out, begin);
    out->time_s = flow_sim_finish_s(sim, id);
    out->flows = (int64_t)flow_messages(&net, &spec, &rules, COLLECTIVE_ALL_TO_ALL, x->bytes);
    out->events = flow_count(flow_sim_net(sim)).events - 2;
    flow_sim_free(sim);
    topo_routes_free(&routes);
    topo_graph_free(graph);
}

#define EXCHANGE_B  100e6
#define EXCHANGE_MB 350.0

/* A limit of processor time, and one of memory that holds for all. */
static void print_exchange(struct bench *b, const char *word, double round, double limit_s)
{
    const struct exchange x = { word, EXCHANGE_B, true, round };
    struct flown one;
    char what[2 * BENCH_CELL], required[BENCH_CELL], best[BENCH_CELL], cpu[BENCH_CELL], memory[BENCH_CELL];
    bench_apart(fly_exchange, &x, &one, sizeof one);
    snprintf(what, sizeof what, "   %s%s", word, round > 0 ? ", rounds" : "");
    snprintf(required, sizeof required, "<= %.0f s", limit_s);
    snprintf(best, sizeof best, "%.2f s", one.took.wall_s);
    snprintf(cpu, sizeof cpu, "%.2f s", one.took.cpu_s);
    snprintf(memory, sizeof memory, "%.0f MB", one.peak_B / 1e6);
    bench_print(b, &(struct bench_line){ what, required, best, NULL, cpu, memory },
                one.took.cpu_s <= limit_s && one.peak_B <= 1e6 * EXCHANGE_MB ? BENCH_MET : BENCH_MISSED);
    printf("     %lld flows, %lld events\n", (long long)one.flows, (long long)one.events);
}

/* The same flows one by one and by classes. */
static void print_gain(struct bench *b, const char *word, double limit)
{
    struct flown apart, classes;
    char best[BENCH_CELL], cpu[BENCH_CELL], ratio[BENCH_CELL], required[BENCH_CELL];
    bench_apart(fly_exchange, &(struct exchange){ word, EXCHANGE_B, false, 0 }, &apart, sizeof apart);
    bench_apart(fly_exchange, &(struct exchange){ word, EXCHANGE_B, true, 0 }, &classes, sizeof classes);
    if (!(fabs(classes.time_s / apart.time_s - 1) <= 1e-9))
        bench_stop("%s takes %.17g s by classes, %.17g s flow by flow", word, classes.time_s, apart.time_s);
    double gain = apart.took.cpu_s / classes.took.cpu_s;
    snprintf(required, sizeof required, ">= %.0f x", limit);
    snprintf(best, sizeof best, "%.3f s", classes.took.wall_s);
    snprintf(cpu, sizeof cpu, "%.3f s", classes.took.cpu_s);
    snprintf(ratio, sizeof ratio, "%.0f x", gain);
    bench_print(
        b, &(struct bench_line){ "   torus:8x4x4@300, of flow by flow", required, best, NULL, cpu, ratio },
        gain >= limit ? BENCH_MET : BENCH_MISSED);
}

static void race_exchanges(struct bench *b)
{
    bench_head(b, "all-to-alls as flows, by classes");
    print_gain(b, "torus:8x4x4@300", 5);
    print_exchange(b, "torus:8x8x8@300", 0, 1);
    print_exchange(b, "torus:16x16x16@300", 0, 20);
    print_exchange(b, "dragonfly:4x8x33^4@50", 0, 10);
    print_exchange(b, "dragonfly:8x16x9^16+minimal@50", 0.01, 10);
    print_exchange(b, "fat-tree:16x16x16@50", 0, 10);
    print_exchange(b, "switch:4096@50", 0, 10);
    print_exchange(b, "line:64@50", 0, 2);
}

/* ---- failures ---- */

/* Each single failure of a study, timed by flow where it leaves something to run on. */
static void fly_failures(const void *data, void *result)
{
    struct flown *out = result;
    const struct fail_slow slow = { .link = 0.5, .npu = 0.8 };
    struct design_point s;
    struct design d;
    struct fail_table t;
    struct err e = { 0 };
    struct bench_time begin = bench_now();
    check(design_point_load(&s, data, NULL, 0, DESIGN_NEEDS_BANDWIDTH | DESIGN_NEEDS_WORKLOAD, &e), &e);
    check(design_evaluate(&d, &s, NULL, &e), &e);
    check(fail_build(&t, &d, &slow, &e), &e);
    note_end(out, begin);
    out->time_s = t.flow_s;
    fail_free(&t);
    design_free(&d);
    design_point_free(&s);
}

#define FAILURES_S 1.0

static void race_failures(struct bench *b)
{
    struct flown one;
    char best[BENCH_CELL], cpu[BENCH_CELL];
    bench_apart(fly_failures, "configs/studies/rails-taper.yaml", &one, sizeof one);
    if (!(one.time_s > 0))
        bench_stop("the failures of rails-taper were not timed by flow");
    snprintf(best, sizeof best, "%.2f s", one.took.wall_s);
    snprintf(cpu, sizeof cpu, "%.2f s", one.took.cpu_s);
    bench_head(b, "single failures of a study, by flow");
    bench_print(b, &(struct bench_line){ "   rails-taper, 512 NPUs", "<= 1 s", best, NULL, cpu, NULL },
                one.took.cpu_s <= FAILURES_S ? BENCH_MET : BENCH_MISSED);
}

void bench_flow(struct bench *b)
{
    double simgrid_s = 0, simgrid_B = 0;
    char best[BENCH_CELL], memory[BENCH_CELL];
    bench_head(b, "flows of an all-reduce, 16 x 256 NPUs");
    if (fly_simgrid(&simgrid_s, &simgrid_B)) {
        snprintf(best, sizeof best, "%.2f s", simgrid_s);
        snprintf(memory, sizeof memory, "%.0f MB", simgrid_B / 1e6);
        bench_print(
            b, &(struct bench_line){ "S: SimGrid, steps listed beforehand", NULL, best, NULL, NULL, memory },
            BENCH_INFO);
    } else {
        puts("   SimGrid is not installed (libsimgrid-dev, g++): nothing to compare with");
    }
    print_ours(b, "   collective on the graph, from the network's word on", fly_collective, simgrid_s,
               simgrid_B);
    print_ours(b, "   steps listed beforehand", fly_steps, simgrid_s, simgrid_B);
    race_exchanges(b);
    race_failures(b);
}
