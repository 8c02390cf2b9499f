/*
 * A row is the single run of its point: random studies of every kind with every sort of axis, run in every
 * way there is, each row held byte by byte to two fresh runs of its point alone: a study whose axes have that
 * one value, and the same study with --set. Rows of a rule are those that the rule keeps of all rows.
 */
#include "study/campaign.h"
#include "study/study.h"
#include "tests/unit/designs.h"
#include "tests/unit/draw_text.h"
#include "tests/unit/folder.h"
#include "tests/unit/table_cells.h"

enum { SEED = 20261201, MOST_AXES = 3, MOST_VALUES = 24, MOST_CELLS = 400, SAMPLE = 24 };

/* ---- files ---- */

#define NPU "npu: { usd: 1000, peak_TFLOPS: 300, mem_GBps: 2000, mem_GB: 80, watt: 700 }\n"

static const struct file files[] = {
    { "two.yaml", "name: two\nparts: rates.yaml\n" NPU "dims:\n"
                  "  - { name: node, shape: ring, size: 4, tier: A, latency_ns: 100 }\n"
                  "  - { name: pod, shape: switch, size: 8, tier: B, latency_ns: 900, max_GBps: 200 }\n" },
    { "three.yaml",
      "parts: rates.yaml\n" NPU "dims:\n"
      "  - { name: chip, shape: ring, size: 2, tier: A, latency_ns: 50, algorithm: auto }\n"
      "  - { name: node, shape: full, size: 2, tier: A, bw_GBps: 40 }\n"
      "  - { name: pod, shape: switch, size: 8, tier: B, algorithm: auto, latency_ns: 2000 }\n" },
    { "given.yaml", "parts: rates.yaml\n" NPU "dims:\n"
                    "  - { name: node, shape: ring, size: 4, tier: A, bw_GBps: 100, latency_ns: 300 }\n"
                    "  - { name: pod, shape: switch, size: 8, tier: B, bw_GBps: 20, latency_ns: 1000 }\n" },
    { "tree.yaml", "name: tree\nparts: catalogue.yaml\n" NPU "dims:\n"
                   "  - { name: node, shape: switch, size: 4, tier: C, bw_GBps: 100 }\n"
                   "  - { name: pod, shape: fat-tree, sizes: [4, 4], taper: 2, tier: D }\n" },
    { "board.yaml", "name: board\nparts: catalogue.yaml\n" NPU "dims:\n"
                    "  - { name: node, shape: switch, size: 8, tier: Board }\n"
                    "  - { name: pod, shape: switch, size: 8, tier: D, max_GBps: 200 }\n" },
    { "regimes.yaml", "name: regimes\nparts: rates.yaml\ndims:\n"
                      "  - { name: node, shape: full, size: 8, tier: A, latency_ns: 20000,\n"
                      "      regimes: [ { latency_ns: 100, efficiency: 0.2 } ] }\n"
                      "  - { name: pod, shape: switch, size: 16, tier: B, latency_ns: 50000,\n"
                      "      regimes: [ { latency_ns: 100, efficiency: 0.2 } ] }\n" },
    { "boards.yaml", "parts: catalogue.yaml\n" NPU "dims:\n"
                     "  - { name: node, shape: switch, size: 8, tier: Board }\n"
                     "  - { name: pod, shape: switch, size: 8, tier: D, planes: 2, bw_GBps: 50 }\n" },
    { "open.yaml", "graph: torus.csv\nclasses: [ { name: x }, { name: y, max_GBps: 60 } ]\n" },
    { "torus.yaml",
      "graph: torus.csv\n" NPU "classes: [ { name: x, bw_GBps: 40 }, { name: y, bw_GBps: 20 } ]\n" },
    { "broken.yaml", "name: broken\ndims: [ { shape: rung, size: 4 } ]\n" },
    { "rates.yaml",
      "name: rates\nrates:\n  - { tier: A, link_usd_per_GBps: 4 }\n"
      "  - { tier: B, link_usd_per_GBps: 8, switch_usd_per_GBps: 18, nic_usd_per_GBps: 32 }\n" },
    { "poor.yaml", "name: poor\nrates:\n  - { tier: A, link_usd_per_GBps: 4 }\n" },
    { "catalogue.yaml", "name: shop\ncatalogue:\n"
                        "  - { name: nic, kind: nic, ports: 2, bw_GBps: 25, usd: 900, watt: 20 }\n"
                        "  - { name: box, kind: switch, ports: 16, bw_GBps: 25, usd: 7000, watt: 300 }\n"
                        "  - { name: wire, kind: link, bw_GBps: 25, usd: 110, watt: 6 }\n"
                        "  - { name: trace, kind: link, bw_GBps: 10, usd: 30, watt: 1 }\n"
                        "  - { name: board, kind: product, bw_GBps: 400, watt: 500, ports: 8 }\n"
                        "build:\n  - { tier: C, switch: box, end_link: trace }\n"
                        "  - { tier: D, nic: nic, switch: box, end_link: wire, up_link: wire }\n"
                        "  - { tier: Board, product: board }\n" },
    { "a.yaml", "name: A\nstep: { all-reduce: { size_MB: 8, group: all } }\n" },
    { "b.yaml", "name: B\ngroups: { tp: { size: 4 }, dp: { after: tp } }\nstep: { sum: [ { compute_ms: 1 },\n"
                "  { max: [ { compute_ms: 0.2 }, { all-reduce: { size_MB: 80, group: dp } } ] },\n"
                "  { all-to-all: { size_MB: 8, group: tp } } ] }\n" },
    { "cast.yaml", "name: cast\nstep: { sum: [ { broadcast: { size_MB: 2, group: all } },\n"
                   "  { all-gather: { size_MB: 0.1, group: all } } ] }\n" },
    { "train.yaml", "name: T\nmodel: model.yaml\nparallel: { tp: 4, batch: 64 }\n" },
    { "search.yaml",
      "name: S\nmodel: model.yaml\nparallel: { batch: 64 }\n"
      "search: { tp: [1, 4], cp: [1], zero: [1], recompute: [none], seq_parallel: [false], schedule: [1f1b], "
      "micro_batch: [1, 4] }\n" },
    { "model.yaml", "name: small\nlayers: 4\nhidden: 256\nheads: 8\nvocab: 1000\nseq: 128\n" },
};

/* A torus of 4 x 4, twice: as the graph of a network, and as wires of one. */
static void put_graphs(struct folder *f)
{
    struct text t = { 0 };
    text_puts(&t, "src,dst,bw_GBps,latency_ns,class,usd\n");
    for (int v = 0; v < 16; v++) {
        text_printf(&t, "n%d,n%d,25,1,x,100\n", v, v / 4 * 4 + (v + 1) % 4);
        text_printf(&t, "n%d,n%d,25,1,y,150\n", v, (v + 4) % 16);
    }
    put(f, "torus.csv", text_str(&t));
    text_clear(&t);
    text_puts(&t, "src,dst,bw_GBps,latency_ns\n");
    for (int v = 0; v < 32; v++)
        text_printf(&t, "n%d,n%d,50,100\nn%d,n%d,20,500\n", v, v / 4 * 4 + (v + 1) % 4, v, (v + 4) % 32);
    put(f, "wires.csv", text_str(&t));
    text_free(&t);
}

static int make_folder(void **state)
{
    folder_begin(state, files, COUNT_OF(files));
    put_graphs(*state);
    return 0;
}

/* ---- what is drawn ---- */

/* Studies without what varies; %FILE is one of the folder. Letters say which keys have a meaning there: d =
 * designs, w = bandwidths are chosen, n = it has dimensions node and pod, f = levels, c = a catalogue, q = a
 * graph, a = steps, t = a model, r = a search, m = a model other than bandwidth, s = system; p, h, g = the
 * other kinds. */
static const struct {
    const char *letters, *text;
} bases[] = {
    { "dwna", "network: %two.yaml\nworkload: %a.yaml\ntotal_GBps: 80\n" },
    { "dwna", "network: %three.yaml\nworkload: %b.yaml\ntotal_GBps: 90\nobjective: perf_per_cost\n" },
    { "dwna",
      "network: %two.yaml\nworkloads: [ %a.yaml, { workload: %b.yaml, weight: 2 } ]\ntotal_GBps: 90\n" },
    { "dwnam", "network: %three.yaml\nworkloads: [ %a.yaml, %b.yaml ]\ncombine: regret\ntotal_GBps: 90\n"
               "model: alpha-beta\n" },
    { "dwna", "network: %two.yaml\nworkload: %b.yaml\ntotal_GBps: 80\nsimulation: { semantics: libra }\n" },
    { "dna", "network: %given.yaml\nworkload: %b.yaml\nsplit: given\n" },
    { "dna", "network: %given.yaml\nworkload: %b.yaml\nsplit: given\nsimulation: { semantics: libra }\n" },
    { "dnam", "network: %given.yaml\nworkload: %cast.yaml\nmodel: alpha-beta\nsplit: given\n"
              "simulation: { algorithms: [ default, ring ] }\n" },
    { "dnam", "network: %given.yaml\nworkload: %b.yaml\nmodel: chunk\nsplit: given\n" },
    { "dnam",
      "network: %given.yaml\nworkload: %a.yaml\nmodel: flow\nsplit: given\nsimulation: { route: ecmp }\n" },
    { "dwnam", "network: %two.yaml\nworkload: %cast.yaml\nmodel: alpha-beta\ntotal_GBps: 60\n"
               "simulation: { algorithms: [ ring, auto ] }\n" },
    { "dwnam", "network: %regimes.yaml\nworkload: %b.yaml\nmodel: alpha-beta\nobjective: cost\n"
               "time_limit_s: 0.02\n" },
    { "dwnam", "network: %regimes.yaml\nworkload: %a.yaml\nmodel: alpha-beta\n"
               "constraints: [ 2*node + 3*pod <= 150 ]\n" },
    { "dwnt", "network: %two.yaml\nworkload: %train.yaml\ntotal_GBps: 80\n" },
    { "dntm", "network: %given.yaml\nworkload: %train.yaml\nmodel: alpha-beta\nsplit: given\n" },
    { "dwntr", "network: %two.yaml\nworkload: %search.yaml\ntotal_GBps: 80\n" },
    { "dntr", "network: %given.yaml\nworkload: %search.yaml\nsplit: given\n" },
    { "dwnfca", "network: %tree.yaml\nworkload: %b.yaml\nconstraints: [ pod <= 150 ]\n" },
    { "dwnca",
      "network: %board.yaml\nworkload: %b.yaml\nobjective: perf_per_cost\nconstraints: [ pod >= 50 ]\n" },
    { "dwncas",
      "network: %board.yaml\nworkload: %b.yaml\nobjective: tco_per_token\nconstraints: [ pod >= 50 ]\n"
      "system: { step_tokens: 1e6, npus_per_node: 8, checkpoint: { size_GB: 100 } }\n" },
    { "dncas", "network: %boards.yaml\nworkload: %a.yaml\nsplit: given\n"
               "system: { step_tokens: 1e6, npus_per_node: 8, checkpoint: { size_GB: 100 } }\n" },
    { "dwnas", "network: %two.yaml\nworkload: %a.yaml\ntotal_GBps: 70\ncount_npus: true\n"
               "system: { step_tokens: 1e6, checkpoint: { size_GB: 10 } }\n" },
    { "dqa", "network: %torus.yaml\nworkload: %b.yaml\nsplit: given\n" },
    { "dwqa", "network: %open.yaml\nworkload: %a.yaml\ntotal_GBps: 70\n" },
    { "dna",
      "network: %given.yaml\nworkload: %b.yaml\nsplit: given\nuncertain: { draws: 9, keys: {\n"
      "  workload.traffic: { uniform: [ 0.5, 1.5 ] }, network.dims.pod.efficiency: { uniform: [ 0.5, 1 ] },\n"
      "  'parts.rates[1].nic_usd_per_GBps': { normal: [ 32, 4 ] } } }\nparts: %rates.yaml\n" },
    { "dnam",
      "network: %given.yaml\nworkload: %b.yaml\nsplit: given\nmodel: alpha-beta\nuncertain: { draws: 5,\n"
      "  keys: { simulation.endpoint_ns: { uniform: [ 0, 900 ] } } }\n"
      "simulation: { algorithms: [ default, ring ] }\n" },
    { "dqa", "network: %torus.yaml\nworkload: %a.yaml\nsplit: given\nuncertain: { draws: 3, keys: {\n"
             "  network.classes.x.efficiency: { uniform: [ 0.8, 0.9 ] } } }\n" },
    { "da", "network: 'ring:4@50 switch:8@20'\nworkload: %b.yaml\nsplit: given\n" },
    { "p", "network: %given.yaml\nmodel: slots\nslots: 12\njobs: { count: 5 }\nseeds: 2\nseed: 11\n"
           "schedulers: [ las, drf ]\n" },
    { "h",
      "model: ctrdnn\ndraw: { types: 4, seed: 3 }\njob: { examples_M: 100 }\nthroughput: { share: 0.3 }\n"
      "schedulers: [ random, greedy ]\nevaluations: 3\nseeds: 2\nseed: 11\n" },
    { "g",
      "network: 'switch:4@0.001'\nlearner: { hidden: 8, batch: 16, epochs: 1 }\nseeds: 2\nseed: 11\n"
      "data: { train: 200, test: 50, features: 8, classes: 4, hidden: 8 }\nmethods: [ all-reduce, pair ]\n" },
};

/* A number of a range, or one of some values. `letters`: those that a base must have. */
static const struct axis {
    const char *key, *letters;
    double low, high;
    const char *values[8];
} axes[] = {
    { "total_GBps", "w", 20, 400, { NULL } },
    { "time_limit_s", "w", 1e-3, 3e-2, { NULL } },
    { "objective", "w", 0, 0, { "time", "perf_per_cost", "cost", "utilization", "tim", "perf_per_watt" } },
    { "constraints",
      "wn",
      0,
      0,
      { "[ pod <= 20 ]", "[ usd <= 5e4, pod >= 3 ]", "[ pod <= 5, pod >= 6 ]", "[]" } },
    { "network.dims.pod.max_GBps", "wn", 10, 300, { NULL } },
    { "network.dims.pod.min_GBps", "wn", 1, 40, { NULL } },
    { "network.dims.node.max_GBps", "wn", 20, 300, { NULL } },
    { "'network.dims[0].min_GBps'", "wn", 1, 60, { NULL } },
    { "network.dims.node.bw_GBps", "n", 20, 300, { NULL } },
    { "network.dims.pod.bw_GBps", "n", 10, 200, { NULL } },
    { "'network.dims[1].bw_GBps'", "n", 25, 200, { NULL } },
    { "network.dims.pod.size", "n", 0, 0, { "8", "4", "16", "1", "6" } },
    { "network.dims.pod.latency_ns", "n", 10, 1e5, { NULL } },
    { "network.dims.node.efficiency", "n", 0.2, 1, { NULL } },
    { "network.dims.pod.algorithm", "n", 0, 0, { "auto", "ring", "direct", "halving-doubling", "default" } },
    { "network.dims.pod.in_switch", "n", 0, 0, { "none", "sharp", "nvls" } },
    { "network.dims.pod.planes", "n", 0, 0, { "1", "2", "4" } },
    { "network.dims.pod.taper", "f", 1, 4, { NULL } },
    { "network.dims",
      "n",
      0,
      0,
      { "[ { name: pod, shape: switch, size: 8, bw_GBps: 50, tier: B } ]",
        "[ { name: node, shape: ring, size: 4, bw_GBps: 90, tier: A }, { name: pod, shape: full, size: 4, "
        "bw_GBps: 30, tier: B } ]" } },
    { "network.npu.usd", "n", 0, 5000, { NULL } },
    { "network.npu.peak_TFLOPS", "t", 50, 900, { NULL } },
    { "network.npu.mem_GB", "t", 0.1, 80, { NULL } },
    { "network",
      "d",
      0,
      0,
      { "%two.yaml", "%three.yaml", "%given.yaml", "'ring:4@50 switch:8@25'", "%broken.yaml", "%none.yaml",
        "%board.yaml",
        "{ name: own, dims: [ { name: pod, shape: switch, size: 32, tier: B, bw_GBps: 30 } ] }" } },
    { "parts", "n", 0, 0, { "%rates.yaml", "%poor.yaml", "%catalogue.yaml" } },
    { "pricing", "c", 0, 0, { "whole", "fraction" } },
    { "workload", "a", 0, 0, { "%a.yaml", "%b.yaml", "%cast.yaml", "%train.yaml", "%none.yaml" } },
    { "workload.traffic", "d", 0.5, 2, { NULL } },
    { "workload.parallel.tp", "t", 0, 0, { "1", "2", "4", "3", "8" } },
    { "workload.parallel.batch", "t", 0, 0, { "32", "64", "128" } },
    { "workload.parallel.zero", "t", 0, 0, { "0", "1", "2", "3" } },
    { "workload.parallel.precision", "t", 0, 0, { "bf16", "fp8" } },
    { "workload.parallel.software", "t", 0, 0, { "megatron", "compiled", "eager", "none" } },
    { "workload.model.layers", "t", 0, 0, { "2", "4", "8" } },
    { "workload.search.tp", "r", 0, 0, { "[ 1 ]", "[ 4 ]", "[ 1, 2, 4 ]" } },
    { "workload.search.pp", "r", 0, 0, { "[ 1 ]", "[ 1, 2 ]" } },
    { "workload.search",
      "t",
      0,
      0,
      { "{ tp: [ 1, 4 ], pp: [ 1 ], cp: [ 1 ], zero: [ 1 ], micro_batch: [ 2 ] }" } },
    { "combine", "w", 0, 0, { "sum", "regret" } },
    { "split", "n", 0, 0, { "solve", "given" } },
    { "count_npus", "d", 0, 0, { "true", "false" } },
    { "seed", "m", 0, 0, { "1", "2", "9" } },
    { "model", "d", 0, 0, { "bandwidth", "alpha-beta", "chunk" } },
    { "simulation", "n", 0, 0, { "{ semantics: libra }", "{ algorithms: [ ring, auto ] }", "{}" } },
    { "simulation.semantics", "n", 0, 0, { "physical", "libra", "astra-sim-2", "astra-sim-2-aware" } },
    { "simulation.chunks", "m", 0, 0, { "1", "3", "8" } },
    { "simulation.algorithms",
      "n",
      0,
      0,
      { "[ ring, ring ]", "[ default, direct ]", "[ auto, auto ]", "[ ring ]",
        "[ default, double-binary-tree ]" } },
    { "simulation.endpoint_ns", "m", 0, 5000, { NULL } },
    { "simulation.reduction", "m", 0, 0, { "free", "memory" } },
    { "simulation.order", "m", 0, 0, { "fixed", "themis", "minmax", "guard", "given" } },
    { "simulation.dims_order", "m", 0, 0, { "[ pod, node ]", "[ node, pod ]" } },
    { "simulation.queue", "m", 0, 0, { "fifo", "lifo", "smallest-first" } },
    { "simulation.active_chunks", "m", 0, 0, { "1", "2", "5" } },
    { "simulation.route", "m", 0, 0, { "dimension", "shortest", "ecmp", "detour" } },
    { "simulation.graph", "m", 0, 0, { "%wires.csv", "%none.csv", "%torus.csv" } },
    { "simulation.links",
      "m",
      0,
      0,
      { "[ { dim: pod, share: 0.5 } ]", "[]", "[ { dim: none, share: 1 } ]" } },
    { "simulation.slow",
      "m",
      0,
      0,
      { "[ { at: [ 1, 2 ], share: 0.5 } ]", "[ { at: [ '*', 0 ], late_us: 30 } ]" } },
    { "network.classes.x.bw_GBps", "q", 10, 90, { NULL } },
    { "'network.classes[1].efficiency'", "q", 0.5, 1, { NULL } },
    { "network.classes.y.max_GBps", "wq", 5, 60, { NULL } },
    { "system.npu_usd", "s", 1e3, 5e4, { NULL } },
    { "system.npus_per_node", "s", 0, 0, { "8", "4", "1" } },
    { "system.checkpoint.interval_s", "s", 60, 6000, { NULL } },
    { "system.pue", "s", 1, 2, { NULL } },
    { "system.mtbf.npu_h", "s", 1e4, 1e6, { NULL } },
    { "jobs.count", "p", 0, 0, { "3", "6", "0" } },
    { "slots", "p", 0, 0, { "8", "14" } },
    { "schedulers", "p", 0, 0, { "[ drf ]", "[ las, drf, fifo ]", "[ fifa ]" } },
    { "network.dims.node.size", "p", 0, 0, { "4", "8" } },
    { "throughput.share", "h", 0.1, 0.6, { NULL } },
    { "overlap", "h", 0, 0, { "true", "false" } },
    { "draw.types", "h", 0, 0, { "2", "4", "0" } },
    { "job.examples_M", "h", 10, 500, { NULL } },
    { "learner.rate", "g", 0.01, 90, { NULL } },
    { "learner.batch", "g", 0, 0, { "8", "16", "0" } },
    { "clock.jitter", "g", 0, 0.5, { NULL } },
    { "methods", "g", 0, 0, { "[ pair ]", "[ all-reduce, { method: pair, period: 4 } ]" } },
};

static bool has_letters(const char *letters, const char *need)
{
    for (; *need; need++)
        if (!strchr(letters, *need))
            return false;
    return true;
}

/* ---- a study as text ---- */

struct draw {
    const char *dir, *letters;
    struct text base, vary, more; /* the study, what varies, and what of it is left out or kept */
    const struct axis *taken[16];
    int32_t n_taken;
    bool kept, grid;
};

static void draw_free(struct draw *d)
{
    text_free(&d->base);
    text_free(&d->vary);
    text_free(&d->more);
}

/* Files with their folder: --set and studies count names from different ones. */
static void put_text(struct text *out, const char *dir, const char *from)
{
    for (; *from; from++)
        if (*from == '%')
            text_printf(out, "%s/", dir);
        else
            text_add(out, from, 1);
}

static bool is_number(const struct axis *a)
{
    return a->high > a->low;
}

static double number_of(const struct axis *a, struct rng *r)
{
    return a->low > 0 ? rng_log_range(r, a->low, a->high) : rng_range(r, a->low, a->high);
}

static void put_value(struct text *out, const struct draw *d, const struct axis *a, struct rng *r, int64_t i)
{
    int64_t n = 0;
    while (n < (int64_t)COUNT_OF(a->values) && a->values[n])
        n++;
    if (is_number(a))
        text_printf(out, "%.6g", number_of(a, r));
    else
        put_text(out, d->dir, a->values[i % n]);
}

/* So many values of a key, in one of the ways to write them. */
static void put_values(struct draw *d, const struct axis *a, struct rng *r, int64_t n)
{
    int64_t first = rng_below(r, 8), how = is_number(a) && n > 1 ? rng_below(r, 4) : 0;
    double x = number_of(a, r), y = number_of(a, r);
    double low = fmin(x, y), high = fmax(x, y) + 1e-3 * a->high;
    if (n > 9 && how == 0)
        how = 1;
    text_printf(&d->vary, "%s: ", a->key);
    if (how == 0) {
        for (int64_t i = 0; i < n; i++) {
            text_puts(&d->vary, i ? ", " : "[ ");
            put_value(&d->vary, d, a, r, first + i);
        }
        text_puts(&d->vary, " ]");
    } else if (how < 3) {
        text_printf(&d->vary, "{ from: %.6g, to: %.6g, points: %d%s }", low, high, (int)n,
                    how == 2 && low > 0 ? ", scale: log" : "");
    } else {
        /* The last of n steps may be beyond the end by rounding; n of them are not needed where that is all.
         */
        text_printf(&d->vary, "{ from: %.3f, to: %.3f, step: %.3f }", low, low + (double)n * 0.125, 0.125);
    }
}

/* A key that has a meaning in the study and was not taken; NULL: none was found. */
static const struct axis *draw_axis(struct draw *d, struct rng *r, bool number)
{
    for (int i = 0; i < 200; i++) {
        const struct axis *a = &axes[rng_below(r, COUNT_OF(axes))];
        bool taken = d->n_taken == (int32_t)COUNT_OF(d->taken);
        for (int32_t k = 0; k < d->n_taken; k++)
            taken = taken || d->taken[k] == a;
        if (taken || !has_letters(d->letters, a->letters) || (number && !is_number(a)))
            continue;
        d->taken[d->n_taken++] = a;
        return a;
    }
    return NULL;
}

static int64_t n_values(struct rng *r)
{
    return 2 + rng_below(r, 2);
}

static void put_axis(struct draw *d, struct rng *r)
{
    const struct axis *a = draw_axis(d, r, false);
    if (a)
        put_values(d, a, r, n_values(r));
}

/* Two keys that move together. */
static void put_zip(struct draw *d, struct rng *r)
{
    int64_t n = n_values(r);
    text_puts(&d->vary, "zip: { ");
    for (int k = 0; k < 2; k++) {
        const struct axis *a = draw_axis(d, r, false);
        int64_t first = rng_below(r, 8);
        if (!a)
            continue;
        text_printf(&d->vary, "%s%s: [ ", k ? ", " : "", a->key);
        for (int64_t i = 0; i < n; i++) {
            text_puts(&d->vary, i ? ", " : "");
            put_value(&d->vary, d, a, r, first + i);
        }
        text_puts(&d->vary, " ]");
    }
    text_puts(&d->vary, " }");
}

static void put_samples(struct draw *d, struct rng *r)
{
    text_printf(&d->vary, "sobol: { points: %d, keys: { ", 3 + (int)rng_below(r, 5));
    for (int k = 0; k < 2; k++) {
        const struct axis *a = draw_axis(d, r, true);
        if (a)
            text_printf(&d->vary, "%s%s: { from: %g, to: %g }", k ? ", " : "", a->key, a->low, a->high);
    }
    text_puts(&d->vary, " } }");
}

static void put_union(struct draw *d, struct rng *r)
{
    text_puts(&d->vary, "union: [ { ");
    put_axis(d, r);
    text_puts(&d->vary, " }, { ");
    put_axis(d, r);
    text_puts(&d->vary, " } ]");
}

/* More points than a unit has: a long axis of bandwidths or totals beside what else varies. */
static void put_long(struct draw *d, struct rng *r)
{
    static const char *const quick[] = { "total_GBps",
                                         "network.dims.pod.max_GBps",
                                         "network.dims.node.bw_GBps",
                                         "network.dims.pod.bw_GBps",
                                         "network.dims.pod.min_GBps",
                                         "time_limit_s",
                                         "network.classes.x.bw_GBps" };
    const char *key = quick[rng_below(r, COUNT_OF(quick))];
    for (size_t i = 0; i < COUNT_OF(axes); i++)
        if (strcmp(axes[i].key, key) == 0 && has_letters(d->letters, axes[i].letters)) {
            d->taken[d->n_taken++] = &axes[i];
            put_values(d, &axes[i], r, 65 + rng_below(r, 40));
            return;
        }
    put_axis(d, r);
}

/* Bandwidths on a grid, of which a rule keeps some. */
static void put_grid(struct draw *d, struct rng *r)
{
    int n = 14 + (int)rng_below(r, 8);
    text_printf(&d->vary,
                "network.dims.node.bw_GBps: { from: %.4g, to: 300, points: %d, scale: log }\n"
                "  network.dims.pod.bw_GBps: { from: %.4g, to: 150, points: %d }",
                rng_range(r, 20, 60), n, rng_range(r, 10, 20), n + 6);
    d->grid = true;
}

static void put_factor(struct draw *d)
{
    text_puts(&d->vary, "network: { factor: { npus: 16, dims: { from: 1, to: 2 }, tier: A } }");
}

static void put_rule(struct draw *d, struct rng *r)
{
    static const char *const rules[] = {
        "keep: { front: [ time_s, cost_usd ] }\n",
        "keep: { front: [ time_s, total_GBps ] }\n",
        "keep: { front: [ time_s, cost_usd ], prune: true }\n",
        "keep: { top: { by: time_s, n: 3 } }\n",
        "keep: { top: { by: 'max:speedup', n: 2 }, per: [ objective ] }\n",
        "keep: { where: [ 'time_s <= 0.005' ], front: [ time_s, nic_GBps ] }\n",
        "keep: { where: [ 'total_GBps <= 150' ] }\n",
    };
    text_puts(&d->more, rules[rng_below(r, COUNT_OF(rules))]);
    d->kept = true;
}

/* Over keys that vary, all of numbers, and the network's. */
static void put_where(struct draw *d, struct rng *r)
{
    static const char *const facts[] = { "n_npus <= 32", "n_dims <= 2", "size1 <= 4" };
    bool designs = strchr(d->letters, 'd') != NULL;
    for (int32_t k = 0; k < d->n_taken; k++)
        if (is_number(d->taken[k]) && d->taken[k]->key[0] != '\'') {
            text_printf(&d->more, "where: [ %s <= %.6g ]\n", d->taken[k]->key, number_of(d->taken[k], r));
            return;
        }
    if (designs)
        text_printf(&d->more, "where: [ %s ]\n", facts[rng_below(r, COUNT_OF(facts))]);
}

static void draw_vary(struct draw *d, struct rng *r)
{
    bool designs = strchr(d->letters, 'd') != NULL, given = strcmp(d->letters, "dna") == 0;
    bool searched = strchr(d->letters, 'r') != NULL; /* takes long */
    int64_t form = rng_below(r, given ? 11 : 10), more = searched ? 0 : rng_below(r, MOST_AXES);
    text_puts(&d->vary, "vary:\n  ");
    if (form == 0)
        put_zip(d, r);
    else if (form == 1)
        put_samples(d, r);
    else if (form == 2 && !searched)
        put_union(d, r);
    else if (form <= 4 && designs && !searched)
        put_long(d, r);
    else if (form == 5 && strchr(d->letters, 'w') && strchr(d->letters, 'a'))
        put_factor(d);
    else if (form == 10)
        put_grid(d, r);
    else
        put_axis(d, r);
    for (int64_t k = d->grid ? 1 : 0; k < more; k++) {
        text_puts(&d->vary, "\n  ");
        put_axis(d, r);
    }
    text_puts(&d->vary, "\n");
}

static void draw_study(struct draw *d, const char *dir, struct rng *r)
{
    size_t base = (size_t)rng_below(r, COUNT_OF(bases));
    *d = (struct draw){ .dir = dir, .letters = bases[base].letters };
    put_text(&d->base, dir, bases[base].text);
    draw_vary(d, r);
    if (strchr(d->letters, 'd') && (d->grid || chance(r, 0.2)))
        put_rule(d, r);
    if (!d->grid && chance(r, 0.2))
        put_where(d, r);
    assert_true(!d->base.failed && !d->vary.failed && !d->more.failed);
}

/* ---- ways to run it ---- */

enum { MOST_SHARDS = 3 };

struct way {
    int32_t threads, n_shards;
    bool store, stop;
};

static bool never(void *context, const struct campaign_state *state)
{
    (void)context, (void)state;
    return false;
}

static const char *store_path(char buf[SUPPORT_PATH], const struct folder *f, int i)
{
    char name[16];
    snprintf(name, sizeof name, "s%d.db", i);
    return scratch_path(buf, f->dir, name);
}

static void read_rows(struct table *out, struct store *s, const struct study_kind *kind)
{
    struct store_walk walk = store_walk_all(STORE_RESULTS, false);
    MUST(study_trim_store(s, kind, false, e));
    MUST(store_next(s, &walk, INT64_MAX, out, e));
}

/* One shard, once; rows into @p out unless NULL. */
static void run_share(struct table *out, const struct study *w, const char *store, const struct way *way,
                      int32_t shard, bool all, bool stop)
{
    KEEP(struct campaign, c, campaign_close);
    const struct campaign_ask ask = { .study = w,
                                      .all = all,
                                      .store = store,
                                      .shard = shard,
                                      .n_shards = way->n_shards,
                                      .threads = way->threads,
                                      .command = "",
                                      .version = "1",
                                      .progress = stop ? never : NULL };
    MUST(campaign_open(&c, &ask, e));
    MUST(campaign_run(&c, e));
    assert_true(stop || c.complete);
    if (out)
        read_rows(out, c.store, w->kind);
}

/* All rows of a study, or those that its rule keeps. */
static void run_study(struct table *out, const struct folder *f, const struct study *w, const struct way *way,
                      bool all)
{
    char paths[MOST_SHARDS + 1][SUPPORT_PATH];
    const char *given[MOST_SHARDS];
    struct store *s;
    for (int32_t i = 0; i <= way->n_shards; i++)
        store_path(paths[i], f, i);
    for (int32_t i = 1; i <= way->n_shards; i++) {
        const char *store = way->store ? paths[i] : NULL;
        if (way->stop)
            run_share(NULL, w, store, way, i, all, true);
        run_share(way->n_shards == 1 ? out : NULL, w, store, way, i, all, false);
        given[i - 1] = paths[i];
    }
    if (way->n_shards > 1) {
        MUST(store_merge(paths[0], given, way->n_shards, w->kind->blocks ? NULL : study_reduce_store, NULL,
                         e));
        MUST(store_read(&s, paths[0], e));
        read_rows(out, s, w->kind);
        store_close(s);
        assert_int_equal(remove(paths[0]), 0);
    }
    for (int32_t i = 1; i <= way->n_shards && way->store; i++)
        assert_int_equal(remove(paths[i]), 0);
}

static struct way draw_way(struct rng *r)
{
    struct way way = { .threads = 1, .n_shards = 1, .store = chance(r, 0.2) };
    if (chance(r, 0.4))
        way.threads = 2 + 2 * (int32_t)rng_below(r, 2);
    way.stop = way.store && chance(r, 0.5);
    if (way.store && chance(r, 0.3))
        way.n_shards = 2 + (int32_t)rng_below(r, MOST_SHARDS - 1);
    return way;
}

/* ---- rows ---- */

/* A cell as CSV has it; "" for one without a value, and where there is no column. */
static const char *cell(char buf[64], const struct table *t, int64_t row, const char *name)
{
    int32_t col = table_find(t, name);
    const char *text = col >= 0 && t->kinds[col] == TABLE_TEXT ? table_text(t, row, col) : NULL;
    buf[0] = '\0';
    if (col < 0 || t->kinds[col] == TABLE_TEXT)
        return text ? text : "";
    if (t->kinds[col] == TABLE_COUNT && table_count(t, row, col) >= 0)
        snprintf(buf, 64, "%lld", (long long)table_count(t, row, col));
    if (t->kinds[col] == TABLE_REAL && !isnan(table_number(t, row, col)))
        snprintf(buf, 64, "%.17g", table_number(t, row, col));
    return buf;
}

/* Behind the place that a message begins with: --set is another one. */
static const char *behind_place(const char *text)
{
    const char *at = text;
    for (const char *c = strchr(text, ':'); c; c = strchr(c + 1, ':')) {
        int n = 0, line, column;
        if (sscanf(c, ":%d:%d:%n", &line, &column, &n) == 2 && n)
            at = c + n;
    }
    return at;
}

/* Of rows that are to be equal. */
struct pair {
    const struct table *a, *b;
    int64_t i, j;
    bool set;   /* the places of messages may differ: b is of --set, or a map is made by another axis */
    bool alone; /* b is of a study of this point */
    const char *what;
    int64_t *n_bad;
};

/* All differences are told, some of each draw. */
__attribute__((format(printf, 2, 3))) static void say_bad(int64_t *n_bad, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (++*n_bad <= 3) {
        vprint_error(format, args);
        print_error("\n");
    }
    va_end(args);
}

/* A placement is compared with the first point of its study, which it is itself when it runs alone. */
static bool is_against_others(const char *name)
{
    return strcmp(name, "base") == 0 || strncmp(name, "vs_base", 7) == 0 || strcmp(name, "wins") == 0;
}

static void compare_cells(const struct pair *p, const struct table *of)
{
    char x[64], y[64];
    for (int32_t c = 0; c < of->n_cols; c++) {
        const char *name = of->names[c];
        const char *a = cell(x, p->a, p->i, name), *b = cell(y, p->b, p->j, name);
        if (strcmp(name, "point") == 0 || (p->alone && is_against_others(name)))
            continue;
        bool said = p->set && strcmp(name, "message") == 0;
        if (strcmp(said ? behind_place(a) : a, said ? behind_place(b) : b) != 0)
            say_bad(p->n_bad, "%s: %s is \"%s\" in row %lld of the sweep, \"%s\" alone", p->what, name, a,
                    (long long)p->i, b);
    }
}

/* Each column of either. */
static void compare_rows(const struct pair *p)
{
    compare_cells(p, p->a);
    compare_cells(p, p->b);
}

/* The first row of a point at @p from or behind it; as many as there are. */
static int64_t rows_of(int64_t *n, const struct table *t, int64_t point)
{
    int64_t low = 0, high = t->n_rows;
    int32_t col = table_find(t, "point");
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        if (table_count(t, mid, col) < point)
            low = mid + 1;
        else
            high = mid;
    }
    for (*n = 0; low + *n < t->n_rows && table_count(t, low + *n, col) == point;)
        ++*n;
    return low;
}

/* ---- held to single runs ---- */

/* What is known of a sweep, and how much was looked at. */
struct subject {
    struct draw d;
    struct folder *f;
    struct study w;
    struct table all;
    int64_t points, rows, solved, n_bad;
};

static void put_study(struct folder *f, const struct draw *d, const char *vary)
{
    struct text t = { 0 };
    text_printf(&t, "%s%s%s", text_str(&d->base), text_str(&d->more), vary);
    assert_false(t.failed);
    put(f, "study.yaml", text_str(&t));
    text_free(&t);
}

static int open_study(struct study *w, const struct folder *f, const struct study_override *o, int32_t n,
                      struct err *e)
{
    const struct study_ask ask = { .from = { .path = f->path, .overrides = o, .n = n } };
    return study_open(w, &ask, e);
}

/* Rows of point @p q of @p w against those of point @p point of the sweep. */
static void compare_point(struct subject *x, int64_t point, const struct study *w, int64_t q, bool set)
{
    KEEP(struct table, rows, table_free) = { 0 };
    int64_t n, m, first = rows_of(&n, &x->all, point);
    if (w->kind->blocks && point % 8)
        designs_rows(&rows, w); /* without a store, which takes longer than the row */
    else
        MUST(campaign_rows(&rows, w, 1, e));
    struct pair p = { .a = &x->all, .b = &rows, .set = set, .alone = true, .n_bad = &x->n_bad };
    p.what = set ? "--set" : "a study of one point";
    p.j = rows_of(&m, &rows, q);
    if (n != m)
        say_bad(&x->n_bad, "%s: point %lld has %d rows in the sweep, %d alone", p.what, (long long)point,
                (int)n, (int)m);
    for (int64_t k = 0; k < n && n == m; k++) {
        p.i = first + k;
        compare_rows(&p);
        p.j++;
    }
}

/* Alone a point that cannot be read is no study, in a sweep it is a row. */
static void compare_refused(struct subject *x, int64_t point, const struct sweep_point *p,
                            const struct err *e, bool set)
{
    int64_t n, row = rows_of(&n, &x->all, point);
    char buf[64];
    const char *got = n ? cell(buf, &x->all, row, "message") : "";
    if (!sweep_passes(&x->w.sweep, p, NULL))
        return; /* nor is it read in the sweep */
    if (n != 1 || strcmp(cell(buf, &x->all, row, "status"), "error") != 0 ||
        strcmp(set ? behind_place(got) : got, set ? behind_place(e->msg) : e->msg) != 0)
        say_bad(&x->n_bad, "%d rows of point %lld say \"%s\", alone \"%s\"", (int)n, (long long)point, got,
                e->msg);
}

/* A study with these values alone. */
static void compare_alone(struct subject *x, int64_t point, const struct sweep_point *p)
{
    struct text vary = { 0 };
    struct err e = { 0 };
    struct study w;
    bool all = true;
    for (int32_t k = 0; k < x->w.sweep.n_keys; k++) {
        const char *value = sweep_value(&x->w.sweep, p, k);
        all = all && value;
        if (value)
            text_printf(&vary, "%s  '%s': [ %s ]\n", vary.n ? "" : "vary:\n", x->w.sweep.keys[k].path, value);
    }
    if (!all && x->w.sweep.where) { /* which may speak of keys that vary alone */
        text_free(&vary);
        return;
    }
    put_study(x->f, &x->d, text_str(&vary));
    text_free(&vary);
    if (open_study(&w, x->f, NULL, 0, &e)) {
        compare_refused(x, point, p, &e, false);
        return;
    }
    compare_point(x, point, &w, 0, false);
    study_close(&w);
}

static void compare_set(struct subject *x, int64_t point, const struct sweep_point *p)
{
    struct study_override o[SWEEP_MAX_KEYS];
    struct study w;
    struct err e = { 0 };
    int32_t n = sweep_point_overrides(o, &x->w.sweep, p);
    if (open_study(&w, x->f, o, n, &e)) {
        compare_refused(x, point, p, &e, true);
        return;
    }
    assert_int_equal(w.sweep.grids[p->grid].n_points, 1);
    compare_point(x, point, &w, w.sweep.grids[p->grid].first, true);
    study_close(&w);
}

static void compare_points(struct subject *x, struct rng *r, bool set)
{
    bool some = x->w.sweep.n_points > 200;
    int64_t n = some ? SAMPLE : x->w.sweep.n_points;
    for (int64_t i = 0; i < n; i++) {
        struct sweep_point p;
        int64_t point = some ? rng_below(r, x->w.sweep.n_points) : i;
        sweep_find_point(&p, &x->w.sweep, point);
        if (set)
            compare_set(x, point, &p);
        else
            compare_alone(x, point, &p);
        x->points += set;
    }
}

/* What a rule keeps of rows that it is offered all at once. */
static void compare_kept(struct subject *x, struct rng *r)
{
    KEEP(struct table, kept, table_free) = { 0 };
    KEEP(struct table, want, table_free) = { 0 };
    struct campaign_plan plan;
    struct keep *keep;
    const int64_t *gone;
    int64_t n_gone;
    const struct way way = draw_way(r);
    run_study(&kept, x->f, &x->w, &way, false);
    MUST(campaign_plan_make(&plan, &x->w, false, e));
    MUST(keep_build(&keep, &plan.rule, &plan.columns, e));
    MUST(keep_offer(keep, &x->all, e));
    MUST(keep_changes(keep, &want, &gone, &n_gone, e));
    struct pair p = { .a = &kept, .b = &x->all, .what = "what is kept", .n_bad = &x->n_bad };
    int32_t col = table_find(&kept, "point");
    for (; p.i < kept.n_rows; p.i++) {
        int64_t n;
        p.j = rows_of(&n, &x->all, table_count(&kept, p.i, col));
        assert_int_equal(n, 1);
        compare_rows(&p);
    }
    for (int64_t i = 0; i < want.n_rows; i++) {
        int64_t n, point = table_count(&want, i, table_find(&want, "point"));
        rows_of(&n, &kept, point);
        if (n != 1)
            say_bad(&x->n_bad, "what is kept lacks point %lld", (long long)point);
    }
    if (kept.n_rows > want.n_rows)
        say_bad(&x->n_bad, "%d rows are kept, not %d", (int)kept.n_rows, (int)want.n_rows);
    keep_free(keep);
    campaign_plan_free(&plan);
}

/* One axis a line, the last one first. */
static void put_reversed(struct text *out, const char *lines)
{
    size_t n = strcspn(lines, "\n");
    if (!lines[n])
        return;
    put_reversed(out, lines + n + 1);
    text_printf(out, "%.*s\n", (int)n, lines);
}

/* The point of the sweep with the values of point @p i of @p w; of several, which are alike, the first. */
static int64_t find_point(const struct subject *x, const struct study *w, int64_t i)
{
    struct sweep_point p, q;
    sweep_find_point(&q, &w->sweep, i);
    for (int64_t k = 0; k < x->w.sweep.n_points; k++) {
        bool same = true;
        sweep_find_point(&p, &x->w.sweep, k);
        for (int32_t a = 0; a < w->sweep.n_keys && same; a++) {
            const char *value = sweep_value(&w->sweep, &q, a), *other = NULL;
            for (int32_t b = 0; b < x->w.sweep.n_keys; b++)
                if (strcmp(x->w.sweep.keys[b].path, w->sweep.keys[a].path) == 0)
                    other = sweep_value(&x->w.sweep, &p, b);
            same = !value == !other && (!value || strcmp(value, other) == 0);
        }
        if (same)
            return k;
    }
    fail_msg("point %lld has no other", (long long)i);
    return -1;
}

/* Two spellings of one key, a table without a column that the rule is about, and the like: no study. */
static bool open_drawn(struct subject *x)
{
    struct err e = { 0 };
    put_study(x->f, &x->d, text_str(&x->d.vary));
    if (open_study(&x->w, x->f, NULL, 0, &e) == 0)
        return true;
    assert_true(strlen(e.msg) > 20);
    return false;
}

static void count_solved(struct subject *x)
{
    int32_t col = table_find(&x->all, "status");
    x->rows += x->all.n_rows;
    for (int64_t i = 0; i < x->all.n_rows; i++)
        x->solved += strcmp(table_text(&x->all, i, col), "error") != 0;
}

/* An axis that is another's map or list replaces it, or is changed by it, as they come. */
static bool depends_on_order(const struct sweep *w)
{
    for (int32_t a = 0; a < w->n_keys; a++)
        for (int32_t b = 0; b < w->n_keys; b++) {
            size_t n = strlen(w->keys[a].path);
            if (a != b && strncmp(w->keys[b].path, w->keys[a].path, n) == 0)
                return true;
        }
    return false;
}

/* The axes the other way round: other points stand beside each other. */
static void compare_permuted(struct subject *x, struct rng *r)
{
    KEEP(struct table, rows, table_free) = { 0 };
    struct text vary = { 0 };
    struct pair pair = { .a = &x->all, .b = &rows, .set = true, .n_bad = &x->n_bad };
    pair.what = "with its axes reversed";
    struct study w;
    text_puts(&vary, "vary:\n");
    put_reversed(&vary, text_str(&x->d.vary) + strlen("vary:\n"));
    put_study(x->f, &x->d, text_str(&vary));
    text_free(&vary);
    MUST(open_study(&w, x->f, NULL, 0, e));
    const struct way way = draw_way(r);
    run_study(&rows, x->f, &w, &way, true);
    for (int64_t i = 0; i < w.sweep.n_points; i++) {
        int64_t n, m, first = rows_of(&n, &x->all, find_point(x, &w, i));
        pair.j = rows_of(&m, &rows, i);
        assert_int_equal(n, m);
        for (pair.i = first; pair.i < first + n; pair.i++, pair.j++)
            compare_rows(&pair);
    }
    study_close(&w);
}

/* False: something differs. */
static bool check_draw(struct subject *x, int number, struct rng *r)
{
    KEEP(struct draw, d, draw_free);
    draw_study(&d, x->f->dir, r);
    x->d = d;
    x->n_bad = 0;
    if (!open_drawn(x))
        return true;
    const struct way way = draw_way(r);
    run_study(&x->all, x->f, &x->w, &way, true);
    count_solved(x);
    if (d.kept)
        compare_kept(x, r);
    compare_points(x, r, true);
    compare_points(x, r, false);
    if (x->w.sweep.n_points <= 200 && chance(r, 0.3) && !depends_on_order(&x->w.sweep))
        compare_permuted(x, r);
    table_free(&x->all);
    study_close(&x->w);
    if (x->n_bad)
        print_error("draw %d: %lld cells differ:\n%s%s%s\n", number, (long long)x->n_bad, text_str(&d.base),
                    text_str(&d.more), text_str(&d.vary));
    return x->n_bad == 0;
}

/* ---- draws ---- */

/* A key that may be uncertain, and a number for it; false: it is none. */
static bool draw_number(double *x, const struct axis *a, struct rng *r)
{
    static const char *const maps[] = { "network.", "workload.", "simulation.", "system." };
    bool known = false;
    for (size_t i = 0; i < COUNT_OF(maps); i++)
        known = known || strncmp(a->key, maps[i], strlen(maps[i])) == 0;
    if (!known || strstr(a->key, "_GBps") || strstr(a->key, ".size"))
        return false;
    *x = is_number(a) ? number_of(a, r) : 0;
    return is_number(a) || (a->values[1] && num_parse_real(a->values[rng_below(r, 2)], x));
}

/* Numbers agree to rounding: times add up in another order. */
static void compare_number(struct subject *x, const struct table *drawn, const char *column,
                           const struct table *set, const char *of)
{
    double a = table_find(drawn, column) < 0 ? NAN : number(drawn, 0, column);
    double b = table_find(set, of) < 0 ? NAN : number(set, 0, of);
    if (!(isnan(a) && isnan(b)) && !(fabs(a - b) <= 1e-12 * fabs(b)))
        say_bad(&x->n_bad, "%s is %.17g, %s with --set %.17g", column, a, of, b);
}

/* The only draw of a row, and the row of the study with --set. */
static void compare_draw(struct subject *x, const struct table *drawn, const struct table *set)
{
    bool error = strcmp(word(set, 0, "status"), "solved") != 0;
    if (error != (strcmp(word(drawn, 0, "status"), "solved") != 0))
        say_bad(&x->n_bad, "%s: %s; with --set %s: %s", word(drawn, 0, "status"), word(drawn, 0, "message"),
                word(set, 0, "status"), word(set, 0, "message"));
    if (error)
        return;
    compare_number(x, drawn, "time_p50_s", set, "time_s");
    compare_number(x, drawn, "cost_p50_usd", set, "cost_usd");
    for (const struct column *c = system_columns; c->name; c++) {
        char name[COLUMN_NAME];
        snprintf(name, sizeof name, "%s_p50", c->name);
        if (c->kind == TABLE_REAL)
            compare_number(x, drawn, name, set, c->name);
    }
    x->points++;
}

static void run_one(struct table *out, struct folder *f, const struct draw *d, const char *more,
                    const struct study_override *o, int32_t n)
{
    struct study w;
    put_study(f, d, more);
    MUST(open_study(&w, f, o, n, e));
    designs_rows(out, &w);
    study_close(&w);
}

/* One to three keys at values of their own, all else as the study has it. */
static void check_uncertain(struct subject *x, int number, struct rng *r)
{
    static const char vary[] = "vary: { count_npus: [ true ] }\n";
    char values[3][32], paths[3][64];
    struct study_override o[3];
    int32_t n = 0;
    KEEP(struct draw, d, draw_free) = { .dir = x->f->dir };
    KEEP(struct table, drawn, table_free) = { 0 };
    KEEP(struct table, set, table_free) = { 0 };
    KEEP(struct text, keys, text_free) = { 0 };
    size_t base = (size_t)rng_below(r, COUNT_OF(bases));
    while (!strstr(bases[base].text, "split: given") || strstr(bases[base].text, "uncertain") ||
           strchr(bases[base].letters, 'r')) /* a plan that was found stays */
        base = (base + 1) % COUNT_OF(bases);
    d.letters = bases[base].letters;
    put_text(&d.base, d.dir, bases[base].text);
    for (int i = 0; i < 8 && n < 3; i++) {
        double value;
        const struct axis *a = draw_axis(&d, r, false);
        if (!a || !draw_number(&value, a, r))
            continue;
        num_format(values[n], value);
        o[n].value = values[n];
        snprintf(paths[n], sizeof paths[n], "%.*s", (int)strcspn(a->key + (*a->key == '\''), "'"),
                 a->key + (*a->key == '\''));
        o[n].path = paths[n];
        n++;
        text_printf(&keys, "%s %s: { uniform: [ %s, %s ] }", keys.n ? "," : "", a->key, values[n - 1],
                    values[n - 1]);
    }
    TEXT(uncertain, "%suncertain: { draws: 1, percentiles: [ 50 ], keys: {%s } }\n", vary, text_str(&keys));
    x->n_bad = 0;
    if (n == 0)
        return;
    run_one(&drawn, x->f, &d, text_str(&uncertain), NULL, 0);
    run_one(&set, x->f, &d, vary, o, n);
    compare_draw(x, &drawn, &set);
    if (x->n_bad)
        print_error("draw %d:\n%s%s\n", number, text_str(&d.base), text_str(&uncertain));
}

/* SOAK: 20,000. */
TEST_WITH(a_draw_is_the_run_with_its_values, make_folder, remove_folder)
{
    const int n = getenv("SOAK") ? 20000 : repeats(500);
    struct subject x = { .f = *state };
    int n_bad = 0;
    for (int draw = 0; draw < n; draw++) {
        RNG(r, SEED + 1, (uint64_t)draw);
        check_uncertain(&x, draw, r);
        n_bad += x.n_bad > 0;
    }
    print_message("%d of %d draws differ, %lld have times\n", n_bad, n, (long long)x.points);
    assert_int_equal(n_bad, 0);
    assert_true(x.points > n / 2);
}

/* Of a point that cannot be read too, whatever the quotes. */
TEST_WITH(words_of_a_row_have_no_quotes_of_yaml, make_folder, remove_folder)
{
    struct folder *f = *state;
    KEEP(struct table, rows, table_free) = { 0 };
    KEEP(struct study, w, study_close);
    put(f, "study.yaml",
        "workload: a.yaml\nsplit: given\n"
        "vary: { network: [ 'ring:4@50 switch:8@20', \"rung:4\", 'a \"b\"' ], objective: [ \"tim\" ] }\n");
    OK(open_study(&w, f, NULL, 0, e));
    OK(campaign_rows(&rows, &w, 1, e));
    assert_int_equal(rows.n_rows, 3);
    assert_string_equal(word(&rows, 0, "network"), "ring:4@50 switch:8@20");
    assert_string_equal(word(&rows, 1, "network"), "rung:4");
    assert_string_equal(word(&rows, 2, "network"), "a \"b\"");
    for (int i = 0; i < 3; i++)
        assert_row(&rows, i, "status=error objective=tim");
}

/* A network that cannot be built has no sums, and says so in the column beside them. */
TEST_WITH(a_column_is_shown_for_what_it_says_itself, make_folder, remove_folder)
{
    struct folder *f = *state;
    for (int store = 0; store < 2; store++) {
        KEEP(struct table, rows, table_free) = { 0 };
        KEEP(struct study, w, study_close);
        put(f, "study.yaml",
            "network: boards.yaml\nworkload: a.yaml\nsplit: given\n"
            "system: { step_tokens: 1e6, npus_per_node: 8, checkpoint: { size_GB: 100 } }\n"
            "vary: { network.dims.pod.bw_GBps: [ 75 ] }\n");
        OK(open_study(&w, f, NULL, 0, e));
        if (store)
            OK(campaign_rows(&rows, &w, 1, e));
        else
            designs_rows(&rows, &w);
        assert_row(&rows, 0, "point=0 watt_peak=");
        assert_has(word(&rows, 0, "system_omits"), "everything: the network cannot be built");
        assert_true(table_find(&rows, "plan") < 0);
    }
}

/*
 * SOAK=1: 10^5 points in place of 2,000; SOAK=n: n. DRAW=n: from that one on. A study that differs is shown,
 * and can be run by itself as DRAW=n SOAK=2.
 */
TEST_WITH(a_row_is_the_single_run_of_its_point, make_folder, remove_folder)
{
    const char *soak = getenv("SOAK"), *first = getenv("DRAW");
    const int64_t want = !soak ? repeats(2000) : atoll(soak) > 1 ? atoll(soak) : 100000;
    struct subject x = { .f = *state };
    int draw = first ? atoi(first) : 0, n_bad = 0;
    for (; x.points < want; draw++) {
        RNG(r, SEED, (uint64_t)draw);
        n_bad += !check_draw(&x, draw, r);
    }
    print_message("%d studies differ; draws up to %d, %lld points, of %lld rows %lld are no errors\n", n_bad,
                  draw, (long long)x.points, (long long)x.rows, (long long)x.solved);
    assert_int_equal(n_bad, 0);
    assert_true(x.solved > x.rows / 2);
}
