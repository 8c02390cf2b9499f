/* Axes, notes and rows of a sweep: clean values, faults at their place, what a row says. */
#include "study/campaign.h"
#include "tests/unit/designs.h"
#include "tests/unit/folder.h"
#include "tests/unit/table_cells.h"

/* ---- a study with its files below a folder of its own ---- */

static const struct file files[] = {
    { "two.yaml",
      "name: two\ndims: [ { name: node, shape: ring, size: 4 }, { name: pod, shape: switch, size: 8 } ]\n" },
    { "three.yaml",
      "name: three\n"
      "dims: [ { shape: ring, size: 4 }, { shape: full, size: 2 }, { shape: ring, size: 4 } ]\n" },
    { "a.yaml", "name: A\nstep: { all-reduce: { size_MB: 8, group: all } }\n" },
    { "b.yaml",
      "name: B\nstep: { sum: [ { compute_ms: 1 }, { all-to-all: { size_MB: 8, group: all } } ] }\n" },
};

FOLDER_OF(files)

static int read_with(struct folder *f, struct study *w, const char *text, const struct study_override *o,
                     int32_t n, struct err *e)
{
    return designs_open(w, put(f, "study.yaml", text), o, n, e);
}

#define BASE "network: two.yaml\nworkload: a.yaml\n"

/* ---- axes ---- */

TEST(ranges_and_lists_give_clean_values)
{
    static const struct {
        const char *axis, *values; /* joined by blanks */
    } cases[] = {
        { "{ from: 100, to: 1000, step: 100 }", "100 200 300 400 500 600 700 800 900 1000" },
        { "{ from: 0.1, to: 0.7, step: 0.1 }", "0.1 0.2 0.3 0.4 0.5 0.6 0.7" },
        { "{ from: 1, to: 2, step: 0.3 }", "1 1.3 1.6 1.9" },
        { "{ from: -1, to: 1, step: 0.4 }", "-1 -0.6 -0.2 0.2 0.6 1" },
        { "{ from: -1, to: 1, step: 1 }", "-1 0 1" },
        { "{ from: 1e6, to: 3e6, step: 1e6 }", "1000000 2000000 3000000" },
        { "{ from: 0.001, to: 0.002, points: 3 }", "0.001 0.0015 0.002" },
        { "{ from: 1, to: 2, points: 4, scale: linear }", "1 1.33333333333333 1.66666666666667 2" },
        { "{ from: 0, to: 1e9, points: 4 }", "0 333333333.33333 666666666.66667 1000000000" },
        { "{ from: 1, to: 1000, points: 4, scale: log }", "1 10 100 1000" },
        { "{ from: 0.1, to: 0.4, points: 3, scale: log }", "0.1 0.2 0.4" },
        { "{ from: 5, to: 6, step: 10 }", "5" },
        { "[ 50, 0x, ~, 'a, b', true ]", "50 0x ~ \"a, b\" true" },
        { "[ [ two.yaml, ring:4@50 full:8 ], { a: [ 1, '2' ], b c: ~ } ]",
          "[two.yaml, \"ring:4@50 full:8\"] {\"a\": [1, \"2\"], \"b c\": ~}" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct study, w, study_close);
        KEEP(struct text, text, text_free) = { 0 };
        KEEP(struct text, values, text_free) = { 0 };
        text_printf(&text, BASE "vary: { total_GBps: %s }\n", cases[i].axis);
        OK(read_with(*state, &w, text_str(&text), NULL, 0, e));
        assert_int_equal(w.sweep.n_axes, 1);
        assert_string_equal(w.sweep.keys[0].path, "total_GBps");
        assert_int_equal(w.sweep.n_points, w.sweep.axes[0].n);
        for (int64_t k = 0; k < w.sweep.axes[0].n; k++)
            text_printf(&values, "%s%s", k ? " " : "", w.sweep.axes[0].values[k]);
        assert_string_equal(text_str(&values), cases[i].values);
    }
}

TEST(bad_axes_are_refused_at_their_place)
{
    static const struct refusal cases[] = {
        { "", ERR_PARSE, "study.yaml:1:1: document has no vary" },
        { "vary: 5\n", ERR_PARSE, "study.yaml:3:7: vary is 5, expected a map" },
        { "vary: {}\n", ERR_PARSE, "study.yaml:3:7: vary is empty, expected at least one axis" },
        { "vary: { total_GBps: [] }\n", ERR_PARSE,
          "study.yaml:3:21: vary.total_GBps is empty, expected at least one value" },
        { "vary: { total_GBps: 5 }\n", ERR_PARSE,
          "study.yaml:3:21: vary.total_GBps is 5, expected a list of values or a range" },
        { "vary: { totl_GBps: [5] }\n", ERR_PARSE,
          "study.yaml:3:9: unknown key \"vary.totl_GBps\" (\"totl_GBps\" is no key of study); did you mean "
          "\"total_GBps\"?" },
        { "vary: { network.dims.pod.max_GBsp: [5] }\n", ERR_PARSE,
          "(\"max_GBsp\" is no key of dims); did you mean \"max_GBps\"?" },
        { "vary: { 'network.dims[1].zzzzzz': [5] }\n", ERR_PARSE, "(\"zzzzzz\" is no key of dims)" },
        { "vary: { network.npu.dollar: [5] }\n", ERR_PARSE, "(\"dollar\" is no key of npu)" },
        { "vary: { 'workloads[0].wait': [5] }\n", ERR_PARSE, "(\"wait\" is no key of workloads[])" },
        { "vary: { budget.nisc: [5] }\n", ERR_PARSE, "(\"nisc\" is no key of budget); did you mean" },
        { "vary: { name: [x, y] }\n", ERR_PARSE, "study.yaml:3:9: vary.name cannot vary" },
        { "vary: { uncertain.draws: [1, 2] }\n", ERR_PARSE,
          "study.yaml:3:9: vary.uncertain.draws cannot vary: it is about all points together" },
        { "vary: { keep: [a, b] }\n", ERR_PARSE, "study.yaml:3:9: vary.keep cannot vary: it is about all" },
        { "vary: { 'where[0]': [ 'n_dims <= 2' ] }\n", ERR_PARSE,
          "study.yaml:3:9: vary.where[0] cannot vary" },
        { "vary: { seed: [1, 2] }\nuncertain: { draws: 2, keys: { workload.traffic: { uniform: [1, 2] } } "
          "}\n",
          ERR_PARSE,
          "study.yaml:3:9: vary.seed cannot vary: uncertain draws from it, for all points the same; give "
          "uncertain.seed" },
        { "vary: { network.dims.pod.max_GBps: [5], 'network.dims[1].max_GBps': [6] }\n", ERR_RANGE,
          "study.yaml:3:7: vary has \"network.dims.pod.max_GBps\" and \"network.dims[1].max_GBps\"; use one "
          "axis for what is one key" },
        { "vary: { total_GBps: { from: 1, step: 1 } }\n", ERR_PARSE, "vary.total_GBps has no to" },
        { "vary: { total_GBps: { from: 1, to: 2 } }\n", ERR_PARSE,
          "study.yaml:3:21: vary.total_GBps has neither; give one of step and points" },
        { "vary: { total_GBps: { from: 1, to: 2, step: 1, points: 2 } }\n", ERR_PARSE,
          "has both; give one of step and points" },
        { "vary: { total_GBps: { from: 2, to: 1, step: 1 } }\n", ERR_RANGE,
          "study.yaml:3:36: vary.total_GBps.to is 1, expected more than from, 2" },
        { "vary: { total_GBps: { from: 1, to: 2, step: 0 } }\n", ERR_RANGE,
          "vary.total_GBps.step is 0, expected" },
        { "vary: { total_GBps: { from: 1, to: 2, step: 1, scale: log } }\n", ERR_PARSE,
          "vary.total_GBps.scale has no effect with step, only with points" },
        { "vary: { total_GBps: { from: 0, to: 2, points: 3, scale: log } }\n", ERR_RANGE,
          "vary.total_GBps.from is 0, expected more than 0 with scale log" },
        { "vary: { total_GBps: { from: 1, to: 2, points: 1 } }\n", ERR_RANGE,
          "points is 1, expected 2 to 1000000" },
        { "vary: { total_GBps: { from: 1, to: 1e8, step: 1 } }\n", ERR_RANGE,
          "study.yaml:3:21: vary.total_GBps has 100000000 values, expected at most 1000000" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct study, w, study_close);
        char text[500];
        snprintf(text, sizeof text, BASE "%s", cases[i].text);
        FAILS(read_with(*state, &w, text, NULL, 0, e), cases[i].code, cases[i].message);
        assert_true(w.sweep.n_axes == 0 && w.sweep.n_points == 0);
    }
}

TEST(more_keys_than_fit_are_refused)
{
    struct study w;
    TEXT(text, BASE "vary:\n");
    for (int i = 0; i < 17; i++)
        text_printf(&text, "  workload.groups.g%d.size: [1]\n", i);
    FAILS(read_with(*state, &w, text_str(&text), NULL, 0, e), ERR_RANGE,
          "study.yaml:20:3: vary.workload.groups.g16.size is key number 17 that varies, expected at most 16");
}

/* ---- notes ---- */

TEST(a_note_is_what_all_neighbours_have_in_common)
{
    static const struct {
        const char *text, *notes;
    } cases[] = {
        { BASE "vary: { total_GBps: [ 10, 20 ] }\n", "" },
        /* The limit counts at one of the two objectives. */
        { BASE "total_GBps: 10\ntime_limit_s: 1\nparts: prices.yaml\nvary: { objective: [ time, cost ] }\n",
          "" },
        { BASE "time_limit_s: 1\nvary: { total_GBps: [ 10, 20 ] }\n",
          "study.yaml:3:1: time_limit_s has no effect here, it is used only with objective cost\n" },
        /* An axis without effect, whatever its value. */
        { BASE "total_GBps: 10\nvary: { time_limit_s: [ 1, 2 ] }\n",
          "--set time_limit_s=1:1:1: time_limit_s has no effect here, it is used only with objective "
          "cost\n" },
        { BASE "combine: sum\nseed: 2\nvary: { total_GBps: [ -1, 20 ] }\n",
          "study.yaml:3:1: combine has no effect here, there is one workload\n"
          "study.yaml:4:1: seed has no effect here, nothing in it is drawn at random\n" },
    };
    struct folder *f = *state;
    put(f, "prices.yaml", "rates: [ { tier: T, link_usd_per_GBps: 1, switch_usd_per_GBps: 1 } ]\n");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct study, w, study_close);
        const struct study_override tiers[] = { { "network.dims.node.tier", "T" },
                                                { "network.dims.pod.tier", "T" } };
        KEEP(struct text, notes, text_free) = { 0 };
        OK(read_with(f, &w, cases[i].text, tiers, i == 1 ? 2 : 0, e));
        for (const char *line = text_str(&w.notes); *line; line = strchr(line, '\n') + 1) {
            const char *start = strncmp(line, f->dir, strlen(f->dir)) == 0 ? line + strlen(f->dir) + 1 : line;
            text_add(&notes, start, (size_t)(strchr(start, '\n') - start) + 1);
        }
        assert_string_equal(text_str(&notes), cases[i].notes);
    }
}

/* ---- rows ---- */

static void run_text(struct folder *f, struct table *t, const char *text, const struct study_override *o,
                     int32_t n)
{
    KEEP(struct study, w, study_close);
    memset(t, 0, sizeof *t);
    MUST(read_with(f, &w, text, o, n, e));
    designs_rows(t, &w);
}

static void assert_columns(const struct table *t, const char *want)
{
    KEEP(struct text, names, text_free) = { 0 };
    for (int32_t i = 0; i < t->n_cols; i++)
        text_printf(&names, "%s%s", i ? " " : "", t->names[i]);
    assert_string_equal(text_str(&names), want);
}

TEST(rows_come_in_order_with_the_columns_that_figures_read)
{
    KEEP(struct table, t, table_free);
    run_text(*state, &t,
             "vary:\n"
             "  network: [ two.yaml, three.yaml ]\n"
             "  workloads: [ [ a.yaml ], [ a.yaml, { workload: b.yaml, weight: 2 } ] ]\n"
             "  combine: [ sum ]\n"
             "  total_GBps: { from: 10, to: 20, step: 10 }\n",
             NULL, 0);
    assert_columns(
        &t, "point combine network n_dims dims workload objective total_GBps status time_s compute_s comm_s "
            "cost_usd equal_time_s equal_cost_usd speedup perf_per_cost_gain nic_GBps gap unique bw1_GBps "
            "bw2_GBps bw3_GBps util1 util2 util3 exposed1_s exposed2_s exposed3_s message");
    assert_int_equal(t.n_rows, 8);
    for (int64_t i = 0; i < 8; i++) {
        assert_true(number(&t, i, "point") == (double)i);
        assert_string_equal(word(&t, i, "network"), i < 4 ? "two" : "three");
        assert_string_equal(word(&t, i, "dims"), i < 4 ? "node|pod" : "dim1|dim2|dim3");
        assert_string_equal(word(&t, i, "workload"), i / 2 % 2 ? "A+2*B" : "A");
        assert_string_equal(word(&t, i, "combine"), "sum");
        assert_string_equal(word(&t, i, "objective"), "time");
        assert_string_equal(word(&t, i, "status"), "solved");
        assert_true(number(&t, i, "total_GBps") == (i % 2 ? 20 : 10));
        assert_true(isnan(number(&t, i, "cost_usd")) && isnan(number(&t, i, "nic_GBps")));
        assert_true(isnan(number(&t, i, "bw3_GBps")) == (i < 4));
        assert_true(is_blank(&t, i, "message"));
    }
    /* A alone: bytes are fixed by the group, so T = sum of bytes / total: 12 + 3.5 MB in 10 GB/s. */
    assert_close(number(&t, 0, "time_s"), 15.5e6 / 10e9, 1e-9);
    assert_close(number(&t, 0, "bw1_GBps"), 10 * 12 / 15.5, 1e-6);
    assert_close(number(&t, 0, "equal_time_s"), 12e6 / 5e9, 1e-12);
    assert_close(number(&t, 0, "speedup"), 2.4 / 1.55, 1e-9);
    assert_string_equal(word(&t, 0, "unique"), "yes");
}

TEST(a_bad_point_is_a_row_with_its_reason)
{
    KEEP(struct table, t, table_free);
    run_text(*state, &t,
             BASE "constraints: [ pod >= 15 ]\nvary:\n  total_GBps: [ 10, -1, 20 ]\n"
                  "  network: [ two.yaml, gone.yaml ]\n",
             NULL, 0);
    assert_int_equal(t.n_rows, 6);
    assert_string_equal(word(&t, 0, "status"), "infeasible");
    assert_string_equal(word(&t, 0, "network"), "two");
    assert_true(number(&t, 0, "total_GBps") == 10 && isnan(number(&t, 0, "time_s")));
    assert_has(word(&t, 0, "message"), "pod >= 15");
    assert_true(is_blank(&t, 0, "unique"));
    assert_string_equal(word(&t, 1, "status"), "error");
    assert_has(word(&t, 1, "message"),
               "study.yaml vary.network:1:1: network is gone.yaml, which cannot be read");
    assert_string_equal(word(&t, 2, "status"), "error");
    assert_has(word(&t, 2, "message"), "study.yaml vary.total_GBps:1:1: total_GBps is -1, expected");
    assert_string_equal(word(&t, 2, "network"), "two.yaml");
    assert_true(isnan(number(&t, 2, "n_dims")) && number(&t, 2, "total_GBps") == -1);
    assert_string_equal(word(&t, 4, "status"), "solved");
    assert_true(number(&t, 4, "bw2_GBps") >= 15 * (1 - 1e-9));
}

TEST(overrides_hold_at_every_point)
{
    struct folder *f = *state;
    KEEP(struct table, t, table_free);
    char three[SUPPORT_PATH];
    const struct study_override o[] = {
        { "network.dims[0].max_GBps", "2" },
        { "total_GBps", "40" }, /* an axis: its one value */
        { "network", scratch_path(three, f->dir, "three.yaml") },
    };
    run_text(f, &t,
             "workload: a.yaml\nvary:\n  total_GBps: [ 10, 20, 30 ]\n  network: [ two.yaml ]\n"
             "  network.dims[1].max_GBps: [ 4, 8 ]\n",
             o, COUNT_OF(o));
    assert_int_equal(t.n_rows, 2);
    for (int64_t i = 0; i < 2; i++) {
        assert_string_equal(word(&t, i, "network"), "three");
        assert_string_equal(word(&t, i, "network.dims[1].max_GBps"), i ? "8" : "4");
        assert_true(number(&t, i, "total_GBps") == 40);
        assert_close(number(&t, i, "bw1_GBps"), 2, 1e-9);
        assert_true(number(&t, i, "bw2_GBps") <= (i ? 8 : 4) * (1 + 1e-9));
    }
}

/* A workload made up in the study finds its own file from there. */
TEST(names_in_values_count_from_the_study)
{
    struct folder *f = *state;
    KEEP(struct table, t, table_free);
    put(f, "w.txt", "DATA\n1\nlayer -1 5 NONE 0 5 NONE 0 5 ALLREDUCE 8000000 0\n");
    run_text(f, &t,
             "network: two.yaml\nvary: { workload: [ { name: text, astra: w.txt } ], total_GBps: [ 10 ] }\n",
             NULL, 0);
    assert_string_equal(word(&t, 0, "status"), "solved");
    assert_string_equal(word(&t, 0, "workload"), "text");
    assert_close(number(&t, 0, "comm_s"), 15.5e6 / 10e9, 1e-9);
}

TEST(the_study_of_the_example_is_solved_at_every_point)
{
    KEEP(struct study, w, study_close);
    KEEP(struct table, t, table_free) = { 0 };
    OK(designs_open(&w, "configs/studies/main.yaml", NULL, 0, e));
    assert_int_equal(w.sweep.n_points, 240);
    assert_string_equal(text_str(&w.notes), "");
    OK(campaign_rows(&t, &w, 2, e));
    for (int64_t i = 0; i < t.n_rows; i++) {
        assert_string_equal(word(&t, i, "status"), "solved");
        assert_true(number(&t, i, "gap") <= ALLOC_GAP && number(&t, i, "nic_GBps") > 0);
    }
}

SUITE(make_folder, remove_folder)
