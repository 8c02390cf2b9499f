/* Uncertain keys: percentiles of what is linear in them, and draws against studies read with their values. */
#include "kinds/design/ask/load.h"
#include "kinds/design/explore/solve.h"
#include "tests/unit/folder.h"
#include "kinds/design/ask/system.h"
#include "kinds/design/explore/uncertain.h"

/* 4 x 8 NPUs; 12 MB on node, 28 MB on pod in a step, beside 1 ms of compute. */
#define STUDY                                                                                                \
    "network:\n"                                                                                             \
    "  npu: { usd: 1000, peak_TFLOPS: 300, mem_GBps: 2000 }\n"                                               \
    "  dims:\n"                                                                                              \
    "    - { name: node, shape: ring, size: 4, tier: N, latency_ns: 1000 }\n"                                \
    "    - { name: pod, shape: switch, size: 8, tier: P, latency_ns: 2000, efficiency: 0.9 }\n"              \
    "parts:\n"                                                                                               \
    "  rates:\n"                                                                                             \
    "    - { tier: N, link_usd_per_GBps: 4 }\n"                                                              \
    "    - { tier: P, link_usd_per_GBps: 8, switch_usd_per_GBps: { low: 10, typ: 18, high: 30 }, "           \
    "nic_usd_per_GBps: 32 }\n"                                                                               \
    "count_npus: true\n"                                                                                     \
    "seed: 5\n"
#define LOADS                                                                                                \
    "workload: { name: w, groups: { i: { members: [4, 1] }, o: { members: [1, 8] } }, step: { sum: [ "       \
    "{ compute_ms: 1 }, { all-reduce: { size_MB: 8, group: i } }, { all-reduce: { size_MB: 16, group: o } "  \
    "} ] } }\n"
/* 8 nodes of 4; a million tokens a step. */
#define SYSTEM                                                                                               \
    "system: { npus_per_node: 4, npu_watt: 700, server_usd: 5000, step_tokens: 1e6, items: [ { name: "       \
    "disks, per: node, usd: 1000, watt: 100 } ], checkpoint: { size_GB: 200 } }\n"
#define MODEL                                                                                                \
    "workload: { name: m, model: { family: transformer, layers: 4, hidden: 1024, heads: 16, seq: 512, "      \
    "vocab: 32000 }, parallel: { tp: 4, batch: 64 } }\n"

static const char rows[] = "DATA\n1\nlayer -1 5 NONE 0 5 NONE 0 5 ALLREDUCE 8000000 0\n"; /* of ASTRA-sim */

static const double bw_Bps[TOPO_MAX_DIMS] = { 20e9, 10e9 };

/* A study from text, and its design at 20 and 10 GB/s. */
struct opened {
    struct folder f;
    struct design_point s;
    struct uncertain u;
    struct design d;
};

static int open_study_in(struct opened *o, const char *text, const struct study_override *set, int32_t n,
                         struct err *e)
{
    const unsigned needs = DESIGN_NEEDS_WORKLOAD | DESIGN_NEEDS_PARTS | DESIGN_FOR_SPLIT;
    o->u = (struct uncertain){ 0 };
    assert_ok(design_point_load(&o->s, put(&o->f, "study.yaml", text), set, n, needs, e), e);
    assert_ok(design_evaluate(&o->d, &o->s, bw_Bps, e), e);
    return uncertain_read(&o->u, &o->s.doc, yaml_get(&o->s.doc, o->s.doc.root, "uncertain"), o->s.seed, e);
}

static int open_study(struct opened *o, const char *text, const struct study_override *set, int32_t n,
                      struct err *e)
{
    scratch_make(o->f.dir);
    return open_study_in(o, text, set, n, e);
}

static void close_study(struct opened *o)
{
    uncertain_free(&o->u);
    design_free(&o->d);
    design_point_free(&o->s);
    folder_remove(&o->f);
}

/* Numbers of a row of `system`, in the order of its columns; NULL: there are no more. */
static const struct column *of_system(int32_t k)
{
    for (const struct column *c = system_columns; c->name; c++)
        if (c->kind == TABLE_REAL && k-- == 0)
            return c;
    return NULL;
}

static int32_t n_of_system(void)
{
    int32_t n = 0;
    while (of_system(n))
        n++;
    return n;
}

static void assert_close_or_both_nan(double a, double b, double rel)
{
    if (isnan(a) || isnan(b))
        assert_true(isnan(a) && isnan(b));
    else
        assert_close(a, b, rel);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void percentiles(double *values, const char *text)
{
    KEEP(struct opened, o, close_study);
    MUST(open_study(&o, text, NULL, 0, e));
    MUST(uncertain_fill(values, &o.u, &o.d, e));
}

/* Cost: 32 NPUs of 1000 USD, 4*20 + (8 + 18 + 32)*10 USD each; a USD per GB/s more of the NIC is 320 USD. Of
 * 4000 draws a percentile is known to two hundredths of a standard deviation. */
TEST(cost_has_the_percentiles_of_the_price_it_is_linear_in)
{
    static const struct {
        const char *distribution;
        double low, middle, high; /* 10th, 50th, 90th percentile of the price */
        double unsure;
    } cases[] = {
        { "{ normal: [32, 4] }", 32 - 4 * 1.2815515655446004, 32, 32 + 4 * 1.2815515655446004, 0.5 },
        { "{ normal: [1, 0.125], relative: true }", 32 - 4 * 1.2815515655446004, 32,
          32 + 4 * 1.2815515655446004, 0.5 },
        { "{ uniform: [20, 60] }", 24, 40, 56, 1.6 },
        { "{ lognormal: [32, 1.5] }", 19.0323, 32, 53.8035, 2 }, /* 32 * 1.5^(-+1.28155) */
        /* low + sqrt(p (high - low)(typ - low)), and from above. */
        { "{ triangular: [20, 30, 60] }", 20 + 6.324555320336759, 60 - 24.49489742783178,
          60 - 10.954451150103322, 1 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[4096];
        double v[6], base = 32 * (1000 + 4 * 20.0 + (8 + 18) * 10);
        snprintf(text, sizeof text,
                 "%suncertain: { draws: 4000, keys: { \"parts.rates[1].nic_usd_per_GBps\": %s } }\n",
                 STUDY LOADS, cases[i].distribution);
        percentiles(v, text);
        assert_near((v[3] - base) / 320, cases[i].low, cases[i].unsure);
        assert_near((v[4] - base) / 320, cases[i].middle, cases[i].unsure);
        assert_near((v[5] - base) / 320, cases[i].high, cases[i].unsure);
        for (int k = 0; k < 3; k++) /* 1 ms, 12 MB at 20, 28 MB at 0.9 of 10 GB/s */
            assert_close(v[k], 1e-3 + 12e6 / 20e9 + 28e6 / 9e9, 1e-12);
    }
}

/* Half to one and a half times the bytes: what is no compute is as much. */
TEST(time_has_the_percentiles_of_the_traffic_it_is_linear_in)
{
    double v[6], sent_s = 12e6 / 20e9 + 28e6 / 9e9;
    percentiles(v, STUDY LOADS
                "uncertain: { draws: 4000, keys: { workload.traffic: { uniform: [0.5, 1.5] } } }\n");
    assert_near((v[0] - 1e-3) / sent_s, 0.6, 0.04);
    assert_near((v[1] - 1e-3) / sent_s, 1, 0.04);
    assert_near((v[2] - 1e-3) / sent_s, 1.4, 0.04);
    assert_true(v[3] == v[5]);
}

/* Read from its files with the drawn values set, the study says the same of the design. */
TEST(a_draw_is_the_study_with_these_values)
{
    static const char *const texts[] = {
        STUDY LOADS "uncertain: { draws: 1, percentiles: [50], keys: { network.dims.pod.efficiency: { "
                    "uniform: [0.5, 0.7] }, workload.traffic: { uniform: [2, 3] } } }\n",
        STUDY LOADS
        "model: alpha-beta\nuncertain: { draws: 1, percentiles: [50], keys: { network.dims.pod.latency_ns: { "
        "uniform: [3000, 9000] }, workload.traffic: { uniform: [2, 3] } } }\n",
        STUDY LOADS "uncertain: { draws: 1, percentiles: [50], keys: { network.npu.usd: { normal: [3000, "
                    "200] }, \"parts.rates[1].switch_usd_per_GBps\": { triangular: [5, 9, 99] } } }\n",
        STUDY LOADS "uncertain: { draws: 1, percentiles: [50], keys: { \"workload.step.sum[0].compute_ms\": "
                    "{ lognormal: [3, 2] } } }\n",
        STUDY MODEL "uncertain: { draws: 1, percentiles: [50], keys: { network.npu.peak_TFLOPS: { uniform: "
                    "[100, 200] }, network.npu.matrix_efficiency: { uniform: [0.4, 0.6] } } }\n",
        STUDY MODEL "model: alpha-beta\nuncertain: { draws: 1, percentiles: [50], keys: { workload.traffic: "
                    "{ uniform: [1.5, 2] } } }\n",
        STUDY LOADS SYSTEM "uncertain: { draws: 1, percentiles: [50], keys: { network.npu.usd: { uniform: "
                           "[2000, 3000] }, system.items.disks.watt: { uniform: [200, 300] }, "
                           "system.mtbf.npu_h: { lognormal: [9000, 2] }, system.checkpoint.restart_s: { "
                           "normal: [900, 30] }, system.energy_usd_kWh: { uniform: [0.1, 0.2] } } }\n",
        STUDY MODEL SYSTEM "uncertain: { draws: 1, percentiles: [50], keys: { workload.traffic: { uniform: "
                           "[2, 3] }, \"parts.rates[1].nic_usd_per_GBps\": { uniform: [90, 99] }, "
                           "network.npu.matrix_efficiency: { uniform: [0.1, 0.2] } } }\n",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        KEEP(struct opened, set, close_study);
        KEEP(struct opened, o, close_study);
        struct study_override values[UNCERTAIN_MAX_KEYS];
        char number[UNCERTAIN_MAX_KEYS][64];
        double v[UNCERTAIN_MAX_QUANTITIES];
        struct system_row row;
        OK(open_study(&o, texts[i], NULL, 0, e));
        OK(uncertain_fill(v, &o.u, &o.d, e));
        for (int32_t k = 0; k < o.u.n_keys; k++) {
            snprintf(number[k], sizeof number[k], "%.17g", o.u.drawn[k]);
            values[k] = (struct study_override){ o.u.keys[k].path, number[k] };
        }
        OK(open_study(&set, texts[i], values, o.u.n_keys, e));
        assert_close(v[0], set.d.time_s, 1e-12);
        assert_close(v[1], set.d.cost_usd, 1e-12);
        assert_true(v[0] != o.d.time_s || v[1] != o.d.cost_usd);
        assert_int_equal(uncertain_n_columns(&o.u), o.s.has_system ? 2 + n_of_system() : 2);
        if (!o.s.has_system)
            continue;
        OK(system_row_fill(&row, &set.s, design_owned(&set.d), e));
        for (int32_t k = 0; k < n_of_system(); k++)
            assert_close_or_both_nan(
                v[2 + k], *(const double *)(const void *)((const char *)&row + of_system(k)->offset), 1e-12);
    }
}

/* A year costs a part and the price of energy times pue; 101 draws have one in the middle. */
TEST(a_year_has_the_percentiles_of_the_pue_that_its_energy_is_linear_in)
{
    KEEP(struct opened, o, close_study);
    double v[3 * UNCERTAIN_MAX_QUANTITIES], draws[101];
    OK(open_study(&o,
                  STUDY LOADS SYSTEM "uncertain: { draws: 101, percentiles: [0, 50, 100], keys: { "
                                     "system.pue: { uniform: [1.1, 1.4] } } }\n",
                  NULL, 0, e));
    OK(uncertain_fill(v, &o.u, &o.d, e));
    memcpy(draws, o.u.drawn, sizeof draws);
    qsort(draws, 101, sizeof *draws, ascending);
    const double picked[] = { draws[0], draws[50], draws[100] };
    /* NPUs 70 W at rest, the rest of servers half of 550 W, disks always 100 W: load 0.75. Prices by the GB/s
     * have no watts. */
    double mean_W = 32 * (70 + 0.75 * 630) + 32 * (275 + 0.75 * 275) + 8 * 100;
    double usd_per_pue = mean_W / 1000 * 8760 * 0.08;
    struct system_row row;
    OK(system_row_fill(&row, &o.s, design_owned(&o.d), e));
    for (int k = 0; k < 3; k++) {
        assert_close(v[2 * 3 + k] - row.usd_year, (picked[k] - 1.25) * usd_per_pue, 1e-9);
        assert_close(v[2 * 3 + k], row.usd_year + (picked[k] - 1.25) * usd_per_pue, 1e-12);
        assert_close(v[k], o.d.time_s, 1e-12);
    }
}

/* No work is left of some draws, and of these no price of a token is finite; what is not known is blank. */
TEST(quantities_that_a_draw_does_not_have_are_blank)
{
    KEEP(struct opened, o, close_study);
    double v[UNCERTAIN_MAX_COLUMNS];
    OK(open_study(&o,
                  STUDY LOADS "system: { npus_per_node: 4, npu_watt: 700, checkpoint: { size_GB: 200 } }\n"
                              "uncertain: { keys: { system.checkpoint.stall_s: { uniform: [0, 9] } } }\n",
                  NULL, 0, e));
    OK(uncertain_fill(v, &o.u, &o.d, e));
    for (int32_t i = 0; i < uncertain_n_columns(&o.u); i++) {
        struct made_column made;
        uncertain_column(&made, &o.u, i);
        bool blank =
            strncmp(made.of.name, "usd_per_Mtoken", 14) == 0 || strncmp(made.of.name, "usd_run", 7) == 0;
        assert_true(isnan(v[i]) == blank);
    }
}

/* Of every kind of workload: each time as many bytes more take as much time more. */
TEST(traffic_scales_all_bytes_of_a_workload)
{
    static const char *const workloads[] = {
        LOADS,
        "workload: { layers: [ { name: a, forward: { compute_ms: 1, collectives: [ { kind: all-reduce, "
        "size_MB: 8, group: all } ] } } ] }\n",
        "workload: { astra: w.txt }\n",
        "model: alpha-beta\nworkload: { layers: [ { name: a, forward: { collectives: [ { kind: all-to-all, "
        "size_MB: 900, group: all } ] } } ] }\n",
        MODEL,
    };
    for (size_t i = 0; i < COUNT_OF(workloads); i++) {
        double time_s[3];
        for (int k = 0; k < 3; k++) {
            const double factor[] = { 1, 2, 3 };
            char text[4096], number[16];
            FOLDER(f);
            struct study_override set = { "workload.traffic", number };
            KEEP(struct design_point, s, design_point_free);
            snprintf(number, sizeof number, "%g", factor[k]);
            snprintf(text, sizeof text, "%s%s", STUDY, workloads[i]);
            put(&f, "w.txt", rows);
            OK(design_point_load(&s, put(&f, "study.yaml", text), &set, 1, DESIGN_NEEDS_WORKLOAD, e));
            OK(design_time(&time_s[k], &s, bw_Bps, e));
        }
        double more_s = time_s[1] - time_s[0], again_s = time_s[2] - time_s[1];
        assert_true(more_s > 0);
        /* Where collectives run beside compute, as in a model, the time is convex in the bytes. */
        if (i + 1 == COUNT_OF(workloads))
            assert_true(again_s > more_s * (1 - 1e-9));
        else
            assert_close(again_s, more_s, 1e-9);
    }
}

/* A workload from another program's file is not read again: the file may be gone. */
TEST(draws_read_no_file)
{
    static const char text[] = STUDY "workload: { astra: w.txt, traffic: 2 }\nuncertain: { draws: 5, keys: { "
                                     "workload.traffic: { uniform: [4, 4] } } }\n";
    KEEP(struct opened, o, close_study) = { 0 };
    char study[SUPPORT_PATH];
    double v[6];
    scratch_make(o.f.dir);
    scratch_file(study, o.f.dir, "study.yaml", text, sizeof text - 1);
    put(&o.f, "w.txt", rows);
    OK(design_point_load(&o.s, study, NULL, 0, DESIGN_NEEDS_WORKLOAD, e));
    assert_int_equal(remove(o.f.path), 0);
    OK(design_evaluate(&o.d, &o.s, bw_Bps, e));
    OK(uncertain_read(&o.u, &o.s.doc, yaml_get(&o.s.doc, o.s.doc.root, "uncertain"), 1, e));
    OK(uncertain_fill(v, &o.u, &o.d, e));
    assert_close(v[1] - o.d.account.compute_s, 2 * (o.d.time_s - o.d.account.compute_s), 1e-9);
}

TEST(draws_depend_on_seed_and_path_alone)
{
    KEEP(struct opened, a, close_study);
    KEEP(struct opened, b, close_study);
    KEEP(struct opened, c, close_study);
    double va[6], again[6];
    OK(open_study(&a, STUDY LOADS "uncertain: { keys: { workload.traffic: { uniform: [1, 2] } } }\n", NULL, 0,
                  e));
    OK(open_study(&b,
                  STUDY LOADS "uncertain: { keys: { network.npu.usd: { uniform: [1, 2] }, "
                              "workload.traffic: { uniform: [1, 2] } } }\n",
                  NULL, 0, e));
    OK(open_study(&c, STUDY LOADS "uncertain: { seed: 6, keys: { workload.traffic: { uniform: [1, 2] } } }\n",
                  NULL, 0, e));
    int equal = 0;
    for (int64_t i = 0; i < a.u.draws; i++) {
        assert_true(a.u.drawn[i] == b.u.drawn[2 * i + 1] && b.u.drawn[2 * i] != b.u.drawn[2 * i + 1]);
        equal += a.u.drawn[i] == c.u.drawn[i];
    }
    assert_true(a.u.draws == 1000 && equal == 0);
    /* Asked in another order, a point says the same. */
    OK(uncertain_fill(va, &a.u, &a.d, e));
    OK(uncertain_fill(again, &b.u, &b.d, e));
    assert_true(again[0] == va[0] && again[2] == va[2]);
    OK(uncertain_fill(again, &a.u, &a.d, e));
    assert_memory_equal(va, again, sizeof va);
}

TEST(columns_are_named_by_percentile)
{
    static const char *const want[] = { "time_p2.5_s", "time_p50_s", "cost_p2.5_usd", "cost_p50_usd" };
    KEEP(struct opened, o, close_study);
    OK(open_study(&o,
                  STUDY LOADS "uncertain: { draws: 1, percentiles: [2.5, 50], keys: { workload.traffic: "
                              "{ uniform: [1, 2] } } }\n",
                  NULL, 0, e));
    assert_int_equal(uncertain_n_columns(&o.u), 4);
    for (int i = 0; i < 4; i++) {
        struct made_column made;
        uncertain_column(&made, &o.u, i);
        assert_string_equal(made.of.name, want[i]);
    }
    KEEP(struct opened, with, close_study);
    struct made_column made;
    OK(open_study(
        &with,
        STUDY LOADS SYSTEM
        "uncertain: { draws: 1, percentiles: [2.5, 50], keys: { system.pue: { uniform: [1, 2] } } }\n",
        NULL, 0, e));
    assert_int_equal(uncertain_n_columns(&with.u), 2 * (2 + n_of_system()));
    uncertain_column(&made, &with.u, 5);
    assert_string_equal(made.of.name, "usd_year_p50");
    assert_true(n_of_system() >= 9);
    uncertain_column(&made, &with.u, 2 * (2 + 9));
    assert_string_equal(made.of.name, "goodput_p2.5");
    /* Its title is that of what it is a percentile of. */
    uncertain_column(&made, &with.u, 1);
    assert_string_equal(made.of.title, "step p50");
}

TEST(what_is_wrong_with_system_keys_is_said_with_their_place)
{
    static const struct {
        const char *key, *text;
    } cases[] = {
        { "system.pue: { uniform: [0.9, 1.4] }", "system.pue can be 0.9: " },
        { "system.npus_per_node: { uniform: [4, 8] }", "system.npus_per_node can be 5.5: " },
        { "system.rent_usd_kW_month: { uniform: [100, 200] }, system.building_usd_W: { uniform: [10, 13] }",
          "is given together with building_usd_W" },
        { "system.items.tape.usd: { uniform: [4, 8] }", "tape" },
        { "system.colour: { uniform: [4, 8] }", "system.colour can be 4: " },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct opened, o, close_study);
        char text[4096];
        double v[UNCERTAIN_MAX_COLUMNS];
        snprintf(text, sizeof text, "%suncertain: { keys: { %s } }\n", STUDY LOADS SYSTEM, cases[i].key);
        OK(open_study(&o, text, NULL, 0, e));
        assert_int_not_equal(uncertain_fill(v, &o.u, &o.d, e), 0);
        assert_has(e->msg, cases[i].text);
    }
}

TEST(what_is_wrong_is_said_with_its_place)
{
    static const struct {
        const char *uncertain;
        int code;
        const char *text;
        bool filled; /* read, but wrong at a point */
    } cases[] = {
        { "{ draws: 5 }", ERR_PARSE, "uncertain has no keys; give keys, or model: true", false },
        { "modle", ERR_PARSE, "uncertain is modle", false },
        { "{ keys: {} }", ERR_PARSE, "uncertain.keys is empty, expected at least one key", false },
        { "{ keys: { workload.traffic: {} } }", ERR_PARSE, "has 0 distributions, expected one of normal",
          false },
        { "{ keys: { workload.traffic: { normal: [1] } } }", ERR_PARSE, "has 1 numbers, expected 2", false },
        { "{ keys: { workload.traffic: { uniform: [2, 1] } } }", ERR_RANGE,
          "is 2 to 1, expected lowest <= highest", false },
        { "{ keys: { workload.traffic: { normal: [1, -1] } } }", ERR_RANGE, "standard deviation -1", false },
        { "{ keys: { workload.traffic: { lognormal: [0, 2] } } }", ERR_RANGE, "is median 0, factor 2",
          false },
        { "{ keys: { workload.traffic: { triangular: [1, 3, 2] } } }", ERR_RANGE,
          "expected lowest <= typical <= highest", false },
        { "{ percentiles: [50, 10], keys: { workload.traffic: { uniform: [1, 2] } } }", ERR_RANGE,
          "has 10 as number 2, expected 0 to 100 in ascending order", false },
        { "{ percentiles: [10, 50, 50], keys: { workload.traffic: { uniform: [1, 2] } } }", ERR_RANGE,
          "has 50 as number 3, expected 0 to 100 in ascending order", false },
        { "{ keys: { total_GBps: { uniform: [1, 2] } } }", ERR_PARSE,
          "cannot be uncertain, expected a key below", false },
        { "{ keys: { network.dims.pod.size: { uniform: [1, 2] } } }", ERR_PARSE, "choose another key",
          false },
        { "{ keys: { workload.traffic: { normal: [1, 0.5] } } }", ERR_RANGE,
          "uncertain.keys.workload.traffic can be -1: ", true },
        { "{ keys: { network.npu.memory: { uniform: [1, 2] } } }", ERR_PARSE,
          "uncertain.keys.network.npu.memory can be 1: ", true },
        { "{ keys: { network.dims.pod.shape: { uniform: [1, 2] } } }", ERR_RANGE,
          "is switch in the study, expected a number there", true },
        { "{ keys: { workload.traffic: { uniform: [1, 2], relative: true } } }", ERR_RANGE,
          "is relative to a key that is not given", true },
        { "{ keys: { system.pue: { uniform: [1, 2] } } }", ERR_RANGE, "is a key of system; give system",
          true },
        { "{ keys: { \"workload.groups.i.members[0]\": { uniform: [1, 4] } } }", ERR_PARSE,
          "members[0] can be 2.125: ", true },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct opened, o, close_study);
        char text[4096];
        double v[UNCERTAIN_MAX_COLUMNS];
        snprintf(text, sizeof text, "%suncertain: %s\n", STUDY LOADS, cases[i].uncertain);
        int rc = open_study(&o, text, NULL, 0, e);
        if (cases[i].filled) {
            OK(rc);
            rc = uncertain_fill(v, &o.u, &o.d, e);
        }
        FAILS(rc, cases[i].code, cases[i].text);
        assert_has(e->msg, "study.yaml:13:");
    }
}

/* Of bounded distributions the ends, which is what true says; of the others the 10th and 90th percentile. */
TEST(low_and_high_of_each_distribution)
{
    const double z = 1.2815515655446004;
    const struct {
        struct uncertain_key key;
        double low, high;
        bool ends;
    } cases[] = {
        { { .kind = UNCERTAIN_UNIFORM, .x = { 3, 7 } }, 3, 7, true },
        { { .kind = UNCERTAIN_TRIANGULAR, .x = { 2, 3, 11 } }, 2, 11, true },
        { { .kind = UNCERTAIN_NORMAL, .x = { 10, 2 } }, 10 - 2 * z, 10 + 2 * z, false },
        { { .kind = UNCERTAIN_LOGNORMAL, .x = { 10, 2 } }, 10 * pow(2, -z), 10 * pow(2, z), false },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double x[2];
        assert_int_equal(uncertain_low_high(x, &cases[i].key), cases[i].ends);
        assert_close(x[0], cases[i].low, 1e-12);
        assert_close(x[1], cases[i].high, 1e-12);
    }
}

/* Two NPUs and one class of links, at bandwidths that are given: of the ends of a key a row says what studies
 * with that value do. A pair sends S at efficiency * B. */
TEST(on_a_graph_classes_and_npu_may_be_uncertain)
{
    static const struct {
        const char *key;
        double at, time_s;
    } cases[] = {
        { "network.classes.x.efficiency", 0.5, 1e-3 + 0.4e9 / (0.5 * 20e9) },
        { "network.classes[0].efficiency", 1, 1e-3 + 0.4e9 / 20e9 },
        { "network.npu.peak_TFLOPS", 1, 1e-3 + 0.4e9 / 20e9 },
        { "workload.traffic", 0.25, 1e-3 + 0.1e9 / 20e9 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[4096];
        double v[6];
        KEEP(struct opened, o, close_study) = { 0 };
        scratch_make(o.f.dir);
        snprintf(
            text, sizeof text,
            "network: { npu: { peak_TFLOPS: 10 }, graph: pair.csv, classes: [ { name: x } ] }\n"
            "workload: { name: w, step: { sum: [ { compute_ms: 1 }, { send: { size_MB: 400, group: all } "
            "} ] } }\n"
            "uncertain: { draws: 3, keys: { '%s': { uniform: [ %.17g, %.17g ] } } }\n",
            cases[i].key, cases[i].at, cases[i].at);
        put(&o.f, "pair.csv", "src,dst,bw_GBps,latency_ns,class,usd\na,b,10,1,x,100\n");
        OK(open_study_in(&o, text, NULL, 0, e));
        OK(uncertain_fill(v, &o.u, &o.d, e));
        for (int k = 0; k < 3; k++) {
            assert_close(v[k], cases[i].time_s, 1e-12);
            assert_close(v[3 + k], o.d.cost_usd, 1e-12);
        }
    }
}
