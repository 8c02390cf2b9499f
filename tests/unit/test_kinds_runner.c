/* Rows of a runner, which keeps what it read, against rows of studies that are read from their files at every
 * point: the same bytes, whatever varies, whatever goes wrong, and whatever the runner did before. */
#include "kinds/design/explore/runner.h"
#include "kinds/design/explore/solve.h"
#include "kinds/design/explore/uncertain.h"
#include "kinds/design/ask/load.h"
#include "tests/unit/designs.h"
#include "tests/unit/folder.h"
#include "tests/unit/table_cells.h"

KEEPS(struct runner, runner_free)

enum { MOST_AXES = 3, MIXES = 60, SEED = 20261121 };

/* ---- files ---- */

static const struct file files[] = {
    { "two.yaml", "name: two\nparts: prices.yaml\nnpu: npu.yaml\ndims:\n"
                  "  - { name: node, shape: ring, size: 4, tier: A, latency_ns: 100 }\n"
                  "  - { name: pod, shape: switch, size: 8, tier: B, max_GBps: 100 }\n" },
    { "three.yaml", "parts: prices.yaml\nnpu: { usd: 1000, peak_TFLOPS: 300, mem_GBps: 2000 }\ndims:\n"
                    "  - { name: chip, shape: ring, size: 2, tier: A, latency_ns: 50, algorithm: auto }\n"
                    "  - { name: node, shape: full, size: 2, tier: A, bw_GBps: 40 }\n"
                    "  - { name: pod, shape: switch, size: 8, tier: B, algorithm: auto }\n" },
    { "given.yaml", "name: given\nparts: prices.yaml\ndims:\n"
                    "  - { name: node, shape: ring, size: 4, tier: A, bw_GBps: 10 }\n"
                    "  - { name: pod, shape: switch, size: 8, tier: B, bw_GBps: 20 }\n" },
    { "broken.yaml", "name: broken\ndims: [ { shape: rung, size: 4 } ]\n" },
    { "npu.yaml", "usd: 1000\npeak_TFLOPS: 300\nmem_GBps: 2000\nmem_GB: 80\n" },
    { "prices.yaml",
      "name: prices\nrates:\n  - { tier: A, link_usd_per_GBps: 4 }\n"
      "  - { tier: B, link_usd_per_GBps: 8, switch_usd_per_GBps: 18, nic_usd_per_GBps: 32 }\n" },
    { "poor.yaml", "name: poor\nrates:\n  - { tier: A, link_usd_per_GBps: 4 }\n" },
    { "a.yaml", "name: A\nstep: { all-reduce: { size_MB: 8, group: all } }\n" },
    { "b.yaml", "name: B\ngroups: { tp: { size: 4 }, dp: { after: tp } }\nstep: { sum: [ { compute_ms: 1 },\n"
                "  { max: [ { compute_ms: 0.2 }, { all-reduce: { size_MB: 80, group: dp } } ] },\n"
                "  { all-to-all: { size_MB: 8, group: tp } } ] }\n" },
    { "c.yaml", "name: C\nmodel: model.yaml\nparallel: { tp: 4, batch: 64 }\n" },
    { "d.yaml", "name: D\nmodel: model.yaml\nparallel: { batch: 64 }\nsearch: {}\n" },
    { "model.yaml", "name: small\nlayers: 4\nhidden: 256\nheads: 8\nvocab: 1000\nseq: 128\n" },
};

FOLDER_OF(files)

/* ---- two ways ---- */

static int solve_afresh(struct table *t, const struct study *w, const struct sweep_point *p, int64_t i,
                        struct design_point *s, struct err *e)
{
    KEEP(struct design_words, words, design_words_free) = { 0 };
    struct design_row row;
    KEEP(struct design, d, design_free) = { 0 };
    design_row_blank(&row);
    assert_ok(design_words_take(&words, s, e), e);
    design_row_ask(&row, s, &words);
    int rc = s->split == DESIGN_GIVEN ? design_for_row(&d, s, e) : design_solve(&d, s, e);
    if (rc) {
        design_row_axes(&row, &w->sweep, p);
        row.status = "error";
        row.message = e->msg;
    } else {
        assert_ok(design_row_answer(&row, &d, e), e);
    }
    study_put_row(t, w, TABLE_ROWS, p, i, &row);
    return rc;
}

/* The slow way: all files, for every point. Returns how many points were solved or have a proof that there is
 * nothing to solve. */
static int64_t rows_afresh(struct table *t, const struct study *w)
{
    int64_t n = 0;
    study_put_columns(t, w, TABLE_ROWS);
    for (int64_t i = 0; i < w->sweep.n_points; i++) {
        struct sweep_point p;
        struct design_point s;
        struct err e = { 0 };
        sweep_find_point(&p, &w->sweep, i);
        if (design_load(&s, w, &p, &e) == 0) {
            n += solve_afresh(t, w, &p, i, &s, &e) == 0;
            design_point_free(&s);
            continue;
        }
        struct design_row row;
        design_row_blank(&row);
        design_row_axes(&row, &w->sweep, &p);
        row.status = "error";
        row.message = e.msg;
        study_put_row(t, w, TABLE_ROWS, &p, i, &row);
    }
    return n;
}

/* Units in an order of their own, each by one of two runners, rows sorted by point. */
static void rows_by_runners(struct table *out, const struct study *w, int64_t most, struct rng *rng)
{
    KEEP(struct units, o, units_free);
    struct runner *runners[2];
    KEEP(struct table, rows, table_free) = { 0 };
    struct sweep_counts n = { 0 };
    KEEP(int64_t *, row_of, free_at) = calloc((size_t)w->sweep.n_points, sizeof *row_of);
    assert_non_null(row_of);
    MUST(units_build(&o, &w->sweep, most, design_is_quick, e));
    const struct block_job job = { .study = w, .order = &o };
    for (int i = 0; i < 2; i++)
        MUST(runner_build(&runners[i], &job, e));
    int64_t step = 1 + 2 * rng_below(rng, 8), begin = rng_below(rng, o.n_units);
    while (o.n_units % step == 0 && step > 1) /* must have no divisor in common: 3, 5, .. 15 */
        step -= 2;
    KEEP(bool *, done, free_at) = calloc((size_t)o.n_units, sizeof *done);
    assert_non_null(done);
    study_put_columns(&rows, w, TABLE_ROWS);
    for (int64_t k = 0; k < 16 * o.n_units; k++) {
        int64_t u = (begin + k * step + k / o.n_units) % o.n_units;
        struct sweep_unit unit;
        units_find(&unit, &o, u);
        if (!done[u])
            MUST(runner_unit(runners[rng_below(rng, 2)], &unit, &rows, &n, e));
        done[u] = true;
    }
    assert_true(n.seen == w->sweep.n_points && n.solved == n.seen && n.filtered == 0 && n.bounded == 0);
    assert_int_equal(rows.n_rows, w->sweep.n_points);
    for (int64_t i = 0; i < rows.n_rows; i++)
        row_of[table_cell(&rows, i, 0)->count] = i;
    study_put_columns(out, w, TABLE_ROWS);
    for (int64_t i = 0; i < rows.n_rows; i++)
        table_take_row(out, &rows, row_of[i]);
    for (int i = 0; i < 2; i++)
        runner_free(runners[i]);
}

/* Returns how many of *points points could be solved. */
static int64_t compare_ways(struct folder *f, const char *text, const struct study_override *o, int32_t n,
                            struct rng *rng, int64_t *points)
{
    static const int64_t most[] = { 1, 2, 5, 100 };
    struct study w;
    struct err e = { 0 };
    struct table want = { 0 };
    put(f, "study.yaml", text);
    int rc = designs_open(&w, f->path, o, n, &e);
    if (rc) { /* two spellings of one key, drawn together */
        assert_has(e.msg, "vary has \"network.dims.dim1.max_GBps\" and \"network.dims[0].max_GBps\"; use one "
                          "axis for what is one key");
        return 0;
    }
    int64_t solved = rows_afresh(&want, &w);
    for (int i = 0; i < 2; i++) {
        KEEP(struct table, got, table_free) = { 0 };
        rows_by_runners(&got, &w, most[rng_below(rng, COUNT_OF(most))], rng);
        assert_same_csv(&got, &want);
    }
    *points += w.sweep.n_points;
    table_free(&want);
    study_close(&w);
    return solved;
}

/* ---- random mixes ---- */

static const struct {
    const char *key, *values[8];
} axes[] = {
    { "total_GBps", { "60", "75.5", "1e2", "0", "~", "x", "400" } },
    { "objective", { "time", "perf_per_cost", "cost", "utilization", "tim" } },
    { "time_limit_s", { "0.01", "1e-9", "-1", "2.5" } },
    { "network",
      { "two.yaml", "three.yaml", "given.yaml", "ring:4@50 switch:8", "broken.yaml", "none.yaml",
        "{ name: own, dims: [ { name: pod, shape: switch, size: 32, tier: B } ] }" } },
    { "workload", { "a.yaml", "b.yaml", "c.yaml", "none.yaml" } },
    { "parts", { "prices.yaml", "poor.yaml" } },
    { "network.dims.pod.max_GBps", { "30", "10.25", "0.0001", "[ 1 ]", "200" } },
    { "network.dims.node.min_GBps", { "5", "20", "150" } },
    { "network.dims.node.bw_GBps", { "25", "12.5", "0" } },
    { "'network.dims[1].bw_GBps'", { "8", "30.125", "'9'" } },
    { "network.dims.pod.name", { "rack", "pod" } },
    { "network.dims.pod.size", { "8", "4", "1" } },
    { "network.npu.usd", { "0", "5000" } },
    { "model", { "bandwidth", "alpha-beta", "chunk" } },
    { "constraints",
      { "[ pod <= 20 ]", "[ usd <= 5e4, pod >= 3 ]", "[ pod <= 5, pod >= 6 ]", "[ rack <= 1 ]" } },
    { "split", { "solve", "given" } },
    { "count_npus", { "true", "false" } },
};

static const char *const bases[] = {
    "network: two.yaml\nworkload: a.yaml\ntotal_GBps: 80\n",
    "network: three.yaml\nworkload: b.yaml\ntotal_GBps: 90\nobjective: perf_per_cost\n",
    "network: two.yaml\nworkloads: [ a.yaml, { workload: b.yaml, weight: 2 } ]\n",
    "network: three.yaml\nworkloads: [a.yaml, b.yaml]\ncombine: regret\ntotal_GBps: 90\nmodel: alpha-beta\n",
    "network: given.yaml\nworkload: b.yaml\nsplit: given\n",
    "network: given.yaml\nworkload: c.yaml\nmodel: alpha-beta\nconstraints: [ pod <= 25 ]\n",
    "network: two.yaml\nworkload: c.yaml\ntotal_GBps: 80\nmodel: alpha-beta\nconstraints: [ node <= 70 ]\n",
};

static int n_values(size_t axis)
{
    int n = 0;
    while (n < (int)COUNT_OF(axes[axis].values) && axes[axis].values[n])
        n++;
    return n;
}

/* One to MOST_AXES different axes, each of some of its values. */
static void add_axes(struct text *out, struct rng *rng)
{
    int64_t n = 1 + rng_below(rng, MOST_AXES);
    bool taken[COUNT_OF(axes)] = { false };
    text_puts(out, "vary:\n");
    for (int64_t k = 0; k < n; k++) {
        size_t axis = (size_t)rng_below(rng, COUNT_OF(axes));
        if (taken[axis])
            continue;
        taken[axis] = true;
        int values = n_values(axis), first = (int)rng_below(rng, values);
        text_printf(out, "  %s: [ ", axes[axis].key);
        for (int i = 0; i < 3 && i < values; i++)
            text_printf(out, "%s%s", i ? ", " : "", axes[axis].values[(first + i) % values]);
        text_puts(out, " ]\n");
    }
}

TEST_WITH(rows_are_those_of_studies_read_afresh, make_folder, remove_folder)
{
    int64_t solved = 0, points = 0;
    RNG(rng, SEED, 1);
    for (int i = 0; i < MIXES; i++) {
        TEXT(text, "%s", bases[rng_below(rng, COUNT_OF(bases))]);
        add_axes(&text, rng);
        solved += compare_ways(*state, text_str(&text), NULL, 0, rng, &points);
    }
    /* Both kinds in number, or little was compared. */
    assert_in_range(solved, points / 4, points * 3 / 4);
}

/* ---- points that are left out ---- */

/* Of 3 networks x 2 totals x 2 bandwidths: those of 32 NPUs alone, and not both large. */
TEST_WITH(points_that_are_left_out_have_no_row, make_folder, remove_folder)
{
    struct folder *f = *state;
    KEEP(struct study, w, study_close);
    KEEP(struct units, o, units_free);
    KEEP(struct runner *, r, runner_free_at);
    KEEP(struct table, rows, table_free) = { 0 };
    struct sweep_counts n = { 0 };
    put(f, "study.yaml",
        "network: two.yaml\nworkload: a.yaml\nwhere: [ n_npus <= 32, total_GBps + max_GBps <= 150 ]\n"
        "vary: { network: [ two.yaml, three.yaml, none.yaml, 'ring:4 switch:16' ], total_GBps: [ 60, 100 ],\n"
        "  network.dims.pod.max_GBps: [ 40, 80 ] }\n");
    OK(designs_open(&w, f->path, NULL, 0, e));
    OK(units_build(&o, &w.sweep, 3, design_is_quick, e));
    const struct block_job job = { .study = &w, .order = &o };
    OK(runner_build(&r, &job, e));
    study_put_columns(&rows, &w, TABLE_ROWS);
    for (int64_t u = 0; u < o.n_units; u++) {
        struct sweep_unit unit;
        units_find(&unit, &o, u);
        OK(runner_unit(r, &unit, &rows, &n, e));
    }
    /* 3 of 4 satisfy the second; two.yaml and three.yaml the first; of a study that cannot be read none is
     * known: no file, and a word has no dims to change. */
    assert_true(n.seen == 16 && n.filtered == 4 && n.solved == 12 && n.bounded == 0 && rows.n_rows == 12);
    for (int64_t i = 0; i < rows.n_rows; i++)
        assert_true((number(&rows, i, "point") < 8) == (strcmp(word(&rows, i, "status"), "solved") == 0));
}

TEST_WITH(a_search_sees_every_change, make_folder, remove_folder)
{
    int64_t points = 0;
    RNG(rng, SEED, 2);
    int64_t solved =
        compare_ways(*state,
                     "workload: d.yaml\nnetwork: { npu: npu.yaml, dims: [ { shape: ring, size: 2 },\n"
                     "  { name: pod, shape: switch, size: 2 } ] }\n"
                     "vary: { total_GBps: [ 20, 50 ], network.dims.pod.max_GBps: [ 5, 40 ] }\n",
                     NULL, 0, rng, &points);
    assert_int_equal(solved, 4);
}

/* Overrides of the command line hold at every point, in `vary` too, and name files from elsewhere. */
TEST_WITH(overrides_are_part_of_what_is_kept, make_folder, remove_folder)
{
    struct folder *f = *state;
    char prices[SUPPORT_PATH];
    int64_t points = 0;
    scratch_path(prices, f->dir, "prices.yaml");
    const struct study_override o[] = { { "vary.total_GBps[1]", "70" },
                                        { "parts", prices },
                                        { "objective", "perf_per_cost" } };
    RNG(rng, SEED, 3);
    int64_t solved = compare_ways(
        f,
        "network: two.yaml\nworkload: a.yaml\nparts: poor.yaml\n"
        "vary: { total_GBps: [ 20, 50 ], objective: [ time, cost ], network: [ two.yaml, three.yaml ] }\n",
        o, COUNT_OF(o), rng, &points);
    assert_true(points == 4 && solved == 4);
}

/* More networks, each in a file, than parsed files are kept, twice over. */
TEST_WITH(more_files_than_are_kept_are_read, make_folder, remove_folder)
{
    enum { NETWORKS = 70 };
    int64_t points = 0;
    TEXT(study, "network: net0.yaml\nvary:\n  workload: [ a.yaml, b.yaml ]\n  network: [ ");
    for (int i = 0; i < NETWORKS; i++) {
        char name[32], text[200];
        snprintf(name, sizeof name, "net%d.yaml", i);
        snprintf(text, sizeof text,
                 "name: n%d\ndims:\n  - { shape: ring, size: 4 }\n  - { shape: ring, size: %d }\n", i, i + 3);
        put(*state, name, text);
        text_printf(&study, "%s%s", i ? ", " : "", name);
    }
    text_puts(&study, " ]\n  total_GBps: [ 10 ]\n");
    RNG(rng, SEED, 4);
    assert_int_equal(compare_ways(*state, text_str(&study), NULL, 0, rng, &points), 2 * NETWORKS);
}

/* 8 MB to all of 4 x 8: a ring of 4 passes on 2 * 3/4 of it, a switch of 8 at least a tenth as fast is never
 * waited for, with 2 * 7/8 of the quarter that is left. */
TEST_WITH(given_bandwidths_are_evaluated_and_not_solved, make_folder, remove_folder)
{
    static const struct {
        double node_GBps, pod_GBps, total_GBps;
        const char *status, *message;
    } cases[] = {
        { 10, 20, 30, "solved", "" },
        { 290, 80, 370, "infeasible", "the bandwidths of the network do not satisfy \"pod <= 40\"" },
        { 10, 20, 31, "infeasible", "the bandwidths of the network do not satisfy \"total_GBps\"" },
        { 12.5, 30.1, 42.6, "solved", "" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct study, w, study_close);
        KEEP(struct table, t, table_free) = { 0 };
        char text[500];
        struct folder *f = *state;
        snprintf(text, sizeof text,
                 "network: given.yaml\nworkload: a.yaml\nsplit: given\nconstraints: [ pod <= 40 ]\n"
                 "vary: { total_GBps: [ %.15g ], network.dims.node.bw_GBps: [ %.15g ], "
                 "network.dims.pod.bw_GBps: [ %.15g ] }\n",
                 cases[i].total_GBps, cases[i].node_GBps, cases[i].pod_GBps);
        put(f, "study.yaml", text);
        OK(designs_open(&w, f->path, NULL, 0, e));
        designs_rows(&t, &w);
        assert_string_equal(word(&t, 0, "status"), cases[i].status);
        assert_string_equal(word(&t, 0, "message"), cases[i].message);
        assert_row(&t, 0, "network=given dims=node|pod workload=A objective=time unique= gap=");
        if (cases[i].message[0] == '\0') {
            assert_close(number(&t, 0, "time_s"), 2 * 0.75 * 8e6 / (cases[i].node_GBps * 1e9), 1e-12);
            assert_close(number(&t, 0, "bw2_GBps"), cases[i].pod_GBps, 1e-15);
            /* Equal: half of the total on the ring. */
            assert_close(number(&t, 0, "equal_time_s"), 2 * 0.75 * 8e6 / (cases[i].total_GBps / 2 * 1e9),
                         1e-12);
        } else {
            assert_true(isnan(number(&t, 0, "time_s")));
        }
    }
}

TEST_WITH(given_without_bandwidths_is_said, make_folder, remove_folder)
{
    KEEP(struct study, w, study_close);
    KEEP(struct table, t, table_free) = { 0 };
    struct folder *f = *state;
    put(f, "study.yaml", "network: two.yaml\nworkload: a.yaml\nsplit: given\nvary: { total_GBps: [ 5 ] }\n");
    OK(designs_open(&w, f->path, NULL, 0, e));
    designs_rows(&t, &w);
    assert_string_equal(word(&t, 0, "status"), "error");
    assert_has(word(&t, 0, "message"), "two.yaml:5:5: network.dims[0] has no bw_GBps");
}

/* ---- columns ---- */

TEST_WITH(columns_that_no_row_needs_are_trimmed, make_folder, remove_folder)
{
    static const struct {
        const char *study, *has, *lacks;
    } cases[] = {
        { "network: two.yaml\nworkload: a.yaml\nvary: { total_GBps: [ 5 ] }\n", "bw2_GBps", "bw3_GBps" },
        { "network: two.yaml\nworkload: a.yaml\nvary: { total_GBps: [ 5 ] }\n", "exposed2_s", "plan" },
        { "network: two.yaml\nworkload: a.yaml\nvary: { network: [ two.yaml, three.yaml ] }\n", "util3",
          "util4" },
        { "network: two.yaml\nworkload: c.yaml\nvary: { total_GBps: [ 5 ] }\n", "tokens_per_s", "util3" },
        { "network: none.yaml\nworkload: c.yaml\nvary: { total_GBps: [ 5 ] }\n", "message", "bw1_GBps" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct study, w, study_close);
        KEEP(struct table, t, table_free) = { 0 };
        struct folder *f = *state;
        put(f, "study.yaml", cases[i].study);
        OK(designs_open(&w, f->path, NULL, 0, e));
        designs_rows(&t, &w);
        assert_true(table_find(&t, cases[i].has) >= 0 && table_find(&t, cases[i].lacks) == -1);
        assert_int_equal(table_find(&t, "message"), t.n_cols - 1);
    }
}

/* In the study, by --set, as a whole or a key of it, and as what varies. */
TEST_WITH(what_a_system_costs_has_percentiles_wherever_it_is_given, make_folder, remove_folder)
{
#define UNCERTAIN                                                                                            \
    "network: two.yaml\nworkload: c.yaml\nuncertain: { draws: 3, percentiles: [50], keys: {\n"               \
    "  network.npu.usd: { uniform: [2000, 3000] } } }\n"
    CASES(const char *study; struct study_override o; bool has) = {
        { UNCERTAIN "vary: { total_GBps: [ 5 ] }\n", { "seed", "2" }, false },
        { UNCERTAIN "vary: { total_GBps: [ 5 ] }\nsystem: { npu_watt: 700 }\n", { "seed", "2" }, true },
        { UNCERTAIN "vary: { total_GBps: [ 5 ] }\n", { "system", "{ npu_watt: 700 }" }, true },
        { UNCERTAIN "vary: { total_GBps: [ 5 ] }\n", { "system.npu_watt", "700" }, true },
        { UNCERTAIN "vary: { system: [ { npu_watt: 700 }, { npu_watt: 800 } ] }\n", { "seed", "2" }, true },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct study, w, study_close);
        struct folder *f = *state;
        put(f, "study.yaml", cases[i].study);
        OK(designs_open(&w, f->path, &cases[i].o, 1, e));
        assert_int_equal(((const struct design_own *)w.own)->uncertain.of_system, cases[i].has);
    }
}

static unsigned long long file_hash(struct folder *f, const char *text)
{
    KEEP(struct study, s, study_close);
    const struct study_ask ask = { .from = { .path = put(f, "sweep.yaml", text) } };
    MUST(study_open(&s, &ask, e));
    MUST(study_find_hash(&s, e));
    return s.hash;
}

/* Shards of other contents must not merge: of each file that any point names, and of no other. */
TEST(the_hash_of_a_sweep_is_of_all_files_that_its_points_name)
{
#define NAMED "network: { dims: [ { shape: ring, size: 4 } ] }\nworkload: a.yaml\n"
    static const char step[] = "step: { all-reduce: { size_MB: 8, group: all } }\n",
                      other[] = "step: { all-reduce: { size_MB: 9, group: all } }\n";
    CASES(const char *text; bool follows[3]) = {
        /* of a.yaml, b.yaml, c.yaml */
        { NAMED "vary: { total_GBps: [1, 2] }\n", { true, false, false } },
        { NAMED "vary: { workload: [a.yaml, b.yaml] }\n", { true, true, false } },
        { NAMED "vary: { total_GBps: [1, 2], workload: [c.yaml, b.yaml] }\n", { false, true, true } },
        { NAMED "vary: [ { total_GBps: [1, 2] }, { total_GBps: [1], workload: [b.yaml] } ]\n",
          { true, true, false } },
    };
    static const char *const names[] = { "a.yaml", "b.yaml", "c.yaml" };
    FOLDER(f);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        for (int k = 0; k < 3; k++)
            put(&f, names[k], step);
        unsigned long long before = file_hash(&f, cases[i].text);
        for (int k = 0; k < 3; k++) {
            put(&f, names[k], other);
            if ((file_hash(&f, cases[i].text) != before) != cases[i].follows[k])
                fail_msg("case %d, %s", (int)i, names[k]);
            put(&f, names[k], step);
        }
        assert_true(file_hash(&f, cases[i].text) == before);
    }
}
