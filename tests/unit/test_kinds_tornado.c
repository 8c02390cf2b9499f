/* Tornado: answers at ends in closed form and as the study with --set has them; decisions made by hand. */
#include "kinds/design/ask/load.h"
#include "kinds/design/explore/solve.h"
#include "kinds/design/explore/tornado.h"
#include "tests/unit/designs.h"
#include "tests/unit/folder.h"

/* 8 servers of 4 NPUs without a network to pay: capital in a straight line, energy, and nothing else. */
#define PLAIN                                                                                                \
    "network: { npu: { peak_TFLOPS: 300 }, dims: [ { name: a, shape: ring, size: 4, tier: N }, "             \
    "{ name: b, shape: switch, size: 8, tier: P } ] }\n"                                                     \
    "workload: { groups: { i: { members: [4, 1] }, o: { members: [1, 8] } }, step: { sum: [ { compute_ms: "  \
    "1 }, { all-reduce: { size_MB: 8, group: i } }, { all-reduce: { size_MB: 16, group: o } } ] } }\n"       \
    "total_GBps: 100\n"
#define OWNED(more)                                                                                          \
    "system: { npu_usd: 20000, npu_watt: 700, server_usd: 0, server_watt: 0, npu_idle: 0, load: 1, "         \
    "capital_rate: 0, support: 0, building_usd_W: 0, pue: 1.25, step_tokens: 1e6, checkpoint: { size_GB: "   \
    "9 }" more " }\n"
#define PARTS                                                                                                \
    "parts:\n"                                                                                               \
    "  rates:\n"                                                                                             \
    "    - { tier: N, link_usd_per_GBps: 4 }\n"                                                              \
    "    - { tier: P, link_usd_per_GBps: 8, switch_usd_per_GBps: { low: 10, typ: 18, high: 30 } }\n"

struct opened {
    struct folder f;
    struct study s;
    struct tornado t;
};

static void close_tornado(struct opened *o)
{
    tornado_free(&o->t);
    study_close(&o->s);
    folder_remove(&o->f);
}

/* Opened as the command does it, with what is asked. */
static int open_tornado(struct opened *o, const char *text, bool all, const char *by, struct err *e)
{
    o->s = (struct study){ 0 };
    o->t = (struct tornado){ 0 };
    scratch_make(o->f.dir);
    const char *path = put(&o->f, "study.yaml", text);
    const struct study_ask ask = { .kind = &design_kind, .from = { .path = path } };
    int rc = strstr(text, "vary:") ? study_open(&o->s, &ask, e) : study_open_point(&o->s, &ask, e);
    if (!rc)
        rc = tornado_build(&o->t, &o->s, all, e);
    return rc ? rc : tornado_ask(&o->t, by, e);
}

static int run_tornado(struct opened *o, const char *text, bool all, const char *by, int32_t threads,
                       struct err *e)
{
    int rc = open_tornado(o, text, all, by, e);
    if (!rc)
        rc = tornado_run_typical(&o->t, threads, e);
    return rc ? rc : tornado_run_ends(&o->t, threads, e);
}

static int32_t input_called(const struct tornado *t, const char *path)
{
    for (int32_t i = 0; i < t->n_inputs; i++)
        if (strcmp(t->inputs[i].path, path) == 0)
            return i;
    return -1;
}

static double value_at(const struct opened *o, const char *path, int end, int32_t answer)
{
    int32_t i = input_called(&o->t, path);
    assert_true(i >= 0);
    return tornado_end(&o->t, i, end, answer)->value;
}

/* 32 NPUs of 700 W all hours: energy is linear in pue, and in nothing else. */
TEST(a_year_moves_by_the_energy_that_pue_multiplies)
{
    KEEP(struct opened, o, close_tornado);
    OK(run_tornado(&o, PLAIN OWNED("") "uncertain: { keys: { system.pue: { uniform: [1.1, 1.4] } } }\n",
                   false, "usd_year,usd_per_Mtoken", 1, e));
    double per_pue = 32 * 0.7 * 8760 * 0.08, as_is = 32 * 20000 / 4.0 + 1.25 * per_pue;
    assert_int_equal(o.t.n_inputs, 1);
    assert_close(o.t.typical[0].value, as_is, 1e-12);
    assert_close(value_at(&o, "system.pue", 0, 0), as_is - 0.15 * per_pue, 1e-12);
    assert_close(value_at(&o, "system.pue", 1, 0), as_is + 0.15 * per_pue, 1e-12);
    assert_close(tornado_swing(&o.t, 0, 0), 0.3 * per_pue, 1e-9);
    /* Tokens cost as much more as the year does. */
    assert_close(value_at(&o, "system.pue", 1, 1) / o.t.typical[1].value, 1 + 0.15 * per_pue / as_is, 1e-12);
    assert_close(o.t.inputs_at[0], 1.1, 0);
    assert_close(o.t.inputs_at[1], 1.25, 0);
    assert_close(o.t.inputs_at[2], 1.4, 0);
}

/* Stated by the study: at the distribution; published: at the key that the study gives. */
TEST(a_range_beside_the_base_has_a_place)
{
    CASES(const char *more, *range, *want) = {
        { "", "uncertain: { keys: { system.pue: { uniform: [1.1, 1.2] } } }\n", "study.yaml:5:22" },
        { "", "uncertain: { keys: { system.pue: { triangular: [1.3, 1.4, 1.5] } } }\n", "study.yaml:5:22" },
        { "", "uncertain: { keys: { system.pue: { uniform: [1.1, 1.25] } } }\n", NULL },
        { "", "uncertain: { keys: { system.pue: { uniform: [0.9, 0.99], relative: true } } }\n",
          "study.yaml:5:22" },
        { ", energy_usd_kWh: 0.2", "", "study.yaml:4:216" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct opened, o, close_tornado);
        char text[4096], place[400];
        bool stated = cases[i].range[0];
        snprintf(text, sizeof text, PLAIN OWNED("%s") "%s", cases[i].more, cases[i].range);
        OK(run_tornado(&o, text, !stated, "usd_year", 1, e));
        int32_t in = input_called(&o.t, stated ? "system.pue" : "system.energy_usd_kWh");
        assert_true(tornado_misses_base(&o.t, in, 0) == (cases[i].want != NULL));
        if (!cases[i].want)
            continue;
        OK(tornado_base_place(place, sizeof place, &o.t, in, 0, e));
        assert_has(place, cases[i].want);
    }
}

/* Of a server's parts what is open is an input: 8 trays of 4 NPUs, one each, that stop the job. */
TEST(how_often_parts_of_a_server_fail_is_an_input)
{
    KEEP(struct opened, o, close_tornado);
    OK(run_tornado(&o,
                   PLAIN OWNED(", server: { name: S, holds: [x], npus_per_node: 4, items: [ { name: pump, "
                               "per: node, mtbf_h: 1000, mtbf_low_h: 100, mtbf_high_h: 4000, grade: R } ] }"),
                   true, "max:mtbi_h", 1, e));
    int32_t i = input_called(&o.t, "system.server.items[0].mtbf_h");
    assert_true(i >= 0 && o.t.inputs[i].grade == GRADE_RECALLED);
    assert_string_equal(o.t.inputs[i].label, "pump mtbf_h");
    double others = 1 / o.t.typical[0].value - 8 / 1000.0;
    assert_close(1 / tornado_end(&o.t, i, 0, 0)->value, others + 8 / 100.0, 1e-12);
    assert_close(1 / tornado_end(&o.t, i, 1, 0)->value, others + 8 / 4000.0, 1e-12);
}

static double crf(double w, double y)
{
    return w > 0 ? w * pow(1 + w, y) / (pow(1 + w, y) - 1) : 1 / y;
}

/* Published: 0 to 0.1, around 0 in this study; 3 to 5 years around 4. */
TEST(published_ranges_move_capital_by_its_recovery_factor)
{
    KEEP(struct opened, o, close_tornado);
    OK(run_tornado(&o, PLAIN OWNED(""), true, "usd_year", 2, e));
    double price = 32 * 20000.0, energy = 32 * 0.7 * 8760 * 0.08 * 1.25;
    assert_close(value_at(&o, "system.capital_rate", 0, 0), price / 4 + energy, 1e-12);
    assert_close(value_at(&o, "system.capital_rate", 1, 0), price * crf(0.1, 4) + energy, 1e-12);
    assert_close(value_at(&o, "system.life_years", 0, 0), price / 3 + energy, 1e-12);
    assert_close(value_at(&o, "system.server_usd", 1, 0), price * 1.64 / 4 + energy, 1e-12);
    assert_close(tornado_swing(&o.t, input_called(&o.t, "system.rack_kW"), 0), 0, 0);
    /* Beside a size nothing is left to say by the parameter. */
    assert_int_equal(input_called(&o.t, "system.checkpoint.bytes_per_param"), -1);
    assert_true(strcmp(tornado_range_words[o.t.inputs[0].range], "published") == 0);
}

#define SERVER(low, typ, high)                                                                               \
    ", server: { name: S, holds: [x], npus_per_node: 4, npu_usd: { low: " #low ", typ: " #typ                \
    ", high: " #high ", grade: D, date: 2026-01, source: a test } }"

/* Prices of NPUs by their server, at low, at high, and beside the base; what is left has its share. */
TEST(the_range_of_a_server_moves_the_price_of_its_npus)
{
    KEEP(struct opened, o, close_tornado);
    OK(run_tornado(&o, PLAIN OWNED(SERVER(15000, 16000, 25000)), true, "usd_year,usd_per_Mtoken", 2, e));
    double energy = 32 * 0.7 * 8760 * 0.08 * 1.25;
    int32_t i = input_called(&o.t, "system.npu_usd"), n;
    assert_close(value_at(&o, "system.npu_usd", 0, 0), 32 * 15000 / 4.0 + energy, 1e-12);
    assert_close(value_at(&o, "system.npu_usd", 1, 0), 32 * 25000 / 4.0 + energy, 1e-12);
    assert_true(o.t.inputs[i].grade == GRADE_DERIVED && !tornado_misses_base(&o.t, i, 0));
    struct tornado_fixed fixed[4];
    OK(tornado_find_fixed(fixed, 4, &n, &o.t, 0, e));
    assert_int_equal(n, 0); /* servers and network are free */
    OK(tornado_find_fixed(fixed, 4, &n, &o.t, 1, e));
    assert_true(n == 1 && strcmp(fixed[0].what, "time of a step") == 0 && fixed[0].frac == 1);
    KEEP(struct opened, o2, close_tornado);
    OK(run_tornado(&o2, PLAIN OWNED(SERVER(15000, 16000, 19000)), true, "usd_year", 2, e));
    assert_true(tornado_misses_base(&o2.t, input_called(&o2.t, "system.npu_usd"), 0));
    KEEP(struct opened, o3, close_tornado);
    OK(run_tornado(&o3, PLAIN OWNED(""), true, "usd_year", 2, e));
    OK(tornado_find_fixed(fixed, 4, &n, &o3.t, 0, e));
    double price = 32 * 20000 / 4.0;
    assert_true(n == 1 && strcmp(fixed[0].what, "price of NPUs") == 0);
    assert_close(fixed[0].frac, price / (price + energy), 1e-12);
}

/* Each point has the range of its own server. */
TEST(points_of_other_servers_have_other_ranges)
{
    KEEP(struct opened, o, close_tornado);
    OK(run_tornado(
        &o, PLAIN OWNED(SERVER(15000, 16000, 25000)) "vary: { system.server.npu_usd.high: [25000, 22000] }\n",
        true, "max:usd_year,usd_year", 1, e));
    double energy = 32 * 0.7 * 8760 * 0.08 * 1.25;
    assert_close(value_at(&o, "system.npu_usd", 1, 0), 32 * 25000 / 4.0 + energy, 1e-12);
    int32_t i = input_called(&o.t, "system.npu_usd");
    assert_int_equal(tornado_end(&o.t, i, 1, 1)->best.point, 1);
    assert_close(tornado_end(&o.t, i, 1, 1)->best.value, 32 * 22000 / 4.0 + energy, 1e-12);
}

TEST(published_ranges_hold_their_defaults_and_are_keys)
{
    struct own_system s;
    schema_defaults(&s, &own_system_section);
    s.npu_usd = s.npu_watt = 100;
    for (int32_t i = 0; i < own_n_ranges; i++) {
        const struct own_range *r = &own_ranges[i];
        double x = own_value(&s, r->key);
        assert_true(r->low < r->high && r->source[0]);
        /* Those of other keys' values have no default of their own. */
        if (!r->of && strcmp(r->key, "checkpoint.stall_s") != 0)
            assert_true(x >= r->low && x <= r->high);
    }
    assert_true(isnan(own_value(&s, "items")) && isnan(own_value(&s, "pue.x")) && isnan(own_value(&s, "")));
}

/* 10th and 90th percentile of what has no ends. */
TEST(distributions_without_ends_are_taken_at_their_percentiles)
{
    KEEP(struct opened, o, close_tornado);
    OK(open_tornado(&o,
                    PLAIN OWNED("") "uncertain: { keys: { system.energy_usd_kWh: { normal: [0.1, 0.01] }, "
                                    "system.pue: { lognormal: [1.3, 1.1] }, workload.traffic: { triangular: "
                                    "[1, 2, 3] } } }\n",
                    false, "time_s", e));
    assert_close(o.t.inputs[0].x[0], 0.1 - 0.01 * 1.2815515655446004, 1e-12);
    assert_close(o.t.inputs[1].x[1], 1.3 * pow(1.1, 1.2815515655446004), 1e-12);
    assert_int_equal(o.t.inputs[0].range, TORNADO_P10_P90);
    assert_int_equal(o.t.inputs[2].range, TORNADO_ENDS);
    assert_true(o.t.inputs[2].x[0] == 1 && o.t.inputs[2].x[1] == 3);
}

/* Cheap NPUs that draw much, dear ones that draw little: equal at the price of energy where
 * 32 (30000 - 20000)/4 = 32 (2 - 0.5) 8760 1.25 e: e = 0.1522 USD/kWh. */
TEST(the_best_point_changes_where_energy_makes_up_for_the_price)
{
    static const char text[] = PLAIN OWNED(
        "") "vary: { zip: { system.npu_usd: [20000, 30000], system.npu_watt: [2000, 500] } }\n"
            "uncertain: { keys: { system.energy_usd_kWh: { uniform: [0.152, %s] }, system.support: { "
            "uniform: [0, 0.01] } } }\n";
    const double even = 10000 / 4.0 / (1.5 * 8760 * 1.25);
    assert_near(even, 0.1522, 5e-5);
    for (int k = 0; k < 2; k++) {
        KEEP(struct opened, o, close_tornado);
        char now[2048];
        snprintf(now, sizeof now, text, k ? "0.1523" : "0.1521");
        OK(run_tornado(&o, now, false, "usd_year", 1 + 2 * k, e));
        assert_int_equal(o.t.typical[0].point, 0);
        assert_int_equal(tornado_end(&o.t, 0, 0, 0)->best.point, 0);
        assert_int_equal(tornado_end(&o.t, 0, 1, 0)->best.point, k);
        assert_int_equal(tornado_end(&o.t, 1, 1, 0)->best.point, 0);
        /* Point 0 all the same, and what the best one saves. */
        double e_high = k ? 0.1523 : 0.1521;
        assert_close(tornado_end(&o.t, 0, 1, 0)->value, 32 * (5000 + 2 * 8760 * 1.25 * e_high), 1e-12);
        if (k)
            assert_close(tornado_end(&o.t, 0, 1, 0)->best.value, 32 * (7500 + 0.5 * 8760 * 1.25 * e_high),
                         1e-12);
    }
}

/* Beyond a limit of keep no point is chosen, but its value is shown: 32 NPUs of 700 W are 22.4 kW of power.
 */
TEST(points_beyond_a_limit_are_not_chosen)
{
    KEEP(struct opened, o, close_tornado);
    OK(run_tornado(
        &o,
        PLAIN OWNED("") "vary: { system.npu_usd: [20000, 30000] }\nkeep: { where: [ \"watt_peak <= "
                        "23000\" ] }\nuncertain: { keys: { system.server_watt: { uniform: [0, 100] "
                        "} } }\n",
        false, "usd_year,max:goodput", 2, e));
    assert_int_equal(tornado_end(&o.t, 0, 0, 0)->best.point, 0);
    assert_int_equal(tornado_end(&o.t, 0, 1, 0)->best.point, -1);
    assert_true(tornado_end(&o.t, 0, 1, 0)->value > o.t.typical[0].value);
    assert_int_equal(o.t.typical[1].point, 0); /* equal: the first */
}

/* The split is solved again, a factor is one of the point's own value, and the key goes before an axis. */
TEST(an_end_is_the_study_with_that_value)
{
    static const char text[] =
        PLAIN PARTS "objective: perf_per_cost\n"
                    "vary: { workload.traffic: [1, 3] }\n"
                    "uncertain: { keys: { \"parts.rates[1].switch_usd_per_GBps\": { uniform: [0.5, 2], "
                    "relative: true }, workload.traffic: { uniform: [2, 4] } } }\n";
    static const char *const keys[] = { "parts.rates[1].switch_usd_per_GBps", "workload.traffic" };
    static const char *const values[2][2] = { { "9", "36" }, { "2", "4" } };
    KEEP(struct opened, o, close_tornado);
    OK(run_tornado(&o, text, false, "time_s,perf_per_cost_gain,min:bw2_GBps", 3, e));
    bool moved = false;
    for (int k = 0; k < 2; k++)
        for (int end = 0; end < 2; end++) {
            /* Answer 0 is best at point 0, of traffic 1. */
            const struct study_override set[] = { { "workload.traffic", "1" }, { keys[k], values[k][end] } };
            KEEP(struct design_point, s, design_point_free);
            KEEP(struct design, d, design_free);
            OK(design_point_load(&s, o.f.path, set, 2, DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT, e));
            OK(design_for_row(&d, &s, e));
            assert_int_equal(o.t.typical[0].point, 0);
            assert_close(tornado_end(&o.t, k, end, 0)->value, d.time_s, 1e-12);
            if (o.t.typical[2].point == 0)
                assert_close(tornado_end(&o.t, k, end, 2)->value, d.bw_Bps[1] / 1e9, 1e-12);
            moved = moved || tornado_swing(&o.t, k, 2) > 0;
        }
    assert_true(moved);
    /* As both points have the value that the axis varies, both are as good. */
    assert_int_equal(tornado_end(&o.t, 1, 0, 0)->best.point, 0);
    assert_close(tornado_end(&o.t, 1, 0, 0)->best.value, tornado_end(&o.t, 1, 0, 0)->value, 0);
}

/* A model whose plan is searched, at given bandwidths or with the split. Points differ in a bandwidth, inputs
 * are two prices, and a speed between them that other plans may suit. */
#define SEARCHED(bw, more)                                                                                   \
    "network: { npu: { peak_TFLOPS: 100, mem_GB: 0.02, mem_GBps: 1000 }, dims: [ { name: node, shape: "      \
    "ring, size: 4, tier: N" bw ", latency_ns: 500 }, { name: pod, shape: switch, size: 2, tier: P" bw       \
    ", latency_ns: 2000 } ] }\n"                                                                             \
    "workload: { name: w, model: { layers: 4, hidden: 256, heads: 4, vocab: 512, seq: 64, attention: "       \
    "unfused, tied: true, biases: true }, parallel: { batch: 8 }, search: { context: [ring], zero: [1], "    \
    "recompute: [none] } }\n"                                                                                \
    "model: alpha-beta\n" PARTS more "uncertain: { keys: { \"parts.rates[1].switch_usd_per_GBps\": { "       \
    "uniform: [0.5, 40] }, network.npu.peak_TFLOPS: { uniform: [2, 300] }, "                                 \
    "\"parts.rates[0].link_usd_per_GBps\": { uniform: [1, 90] } } }\n"

/* Answers whose typical point this is are, at an end of input @p i, those of a study of its own. */
static void assert_end_is_study(const struct opened *o, int i, int end, int64_t point,
                                const struct study_override set[2])
{
    struct err failed = { 0 }, *e = &failed;
    bool is_typical = false;
    for (int32_t a = 0; a < o->t.n_answers; a++)
        is_typical |= o->t.typical[a].point == point;
    if (!is_typical)
        return;
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct design, d, design_free);
    OK(design_point_load(&s, o->f.path, set, 2, DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT, e));
    OK(design_for_row(&d, &s, e));
    const struct plan *plan = &d.chosen.point->workloads[0].training->plan;
    const double want[] = { d.time_s, d.cost_usd, (double)plan->degree[PLAN_TP],
                            (double)plan->degree[PLAN_PP] };
    for (int32_t a = 0; a < o->t.n_answers; a++)
        if (o->t.typical[a].point == point)
            assert_close(tornado_end(&o->t, i, end, a)->value, want[a], 0);
}

static void assert_ends_are_studies(const char *text, const char *axis, const char *const values[2])
{
    static const char *const ends[3][2] = { { "0.5", "40" }, { "2", "300" }, { "1", "90" } };
    struct err failed = { 0 }, *e = &failed;
    KEEP(struct opened, o, close_tornado);
    OK(run_tornado(&o, text, false, "time_s,cost_usd,min:tp,min:pp", 2, e));
    assert_int_equal(o.t.n_inputs, 3);
    for (int i = 0; i < 3; i++)
        for (int end = 0; end < 2; end++)
            for (int64_t point = 0; point < 2; point++)
                assert_end_is_study(&o, i, end, point,
                                    (const struct study_override[]){ { axis, values[point] },
                                                                     { o.t.inputs[i].path, ends[i][end] } });
    assert_true(tornado_swing(&o.t, 1, 0) > 0 && tornado_swing(&o.t, 0, 1) > 0);
}

TEST(plans_that_are_kept_are_those_that_are_searched_again)
{
    static const char *const bws[] = { "10", "0.3" }, *const totals[] = { "20", "1" };
    assert_ends_are_studies(SEARCHED(", bw_GBps: 10", "vary: { \"network.dims[0].bw_GBps\": [10, 0.3] }\n"),
                            "network.dims[0].bw_GBps", bws);
    assert_ends_are_studies(SEARCHED("", "vary: { total_GBps: [20, 1] }\nobjective: perf_per_cost\n"),
                            "total_GBps", totals);
}

TEST(prices_are_inputs_where_nothing_else_is)
{
    KEEP(struct opened, o, close_tornado);
    OK(run_tornado(&o, PLAIN PARTS, false, NULL, 1, e));
    assert_int_equal(o.t.n_inputs, 1);
    assert_string_equal(o.t.inputs[0].path, "parts.rates[1].switch_usd_per_GBps");
    assert_string_equal(o.t.inputs[0].label, "P switch_usd_per_GBps");
    assert_int_equal(o.t.n_answers, 2); /* time and cost: there is no system */
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct design, d, design_free);
    OK(design_point_load(&s, o.f.path, NULL, 0, DESIGN_NEEDS_WORKLOAD | DESIGN_FOR_SPLIT, e));
    OK(design_for_row(&d, &s, e));
    /* 32 NPUs at so many GB/s on b, each 8 USD more or 12 less than 18. */
    double Bps = d.bw_Bps[1] / 1e9;
    assert_close(value_at(&o, "parts.rates[1].switch_usd_per_GBps", 0, 1), d.cost_usd - 32 * 8 * Bps, 1e-9);
    assert_close(value_at(&o, "parts.rates[1].switch_usd_per_GBps", 1, 1), d.cost_usd + 32 * 12 * Bps, 1e-9);
}

/* Nothing is kept, and no price of a token is finite: that is no small swing. */
TEST(an_end_without_a_value_swings_without_bound)
{
    KEEP(struct opened, o, close_tornado);
    OK(run_tornado(&o,
                   PLAIN OWNED("") "uncertain: { keys: { system.checkpoint.stall_s: { uniform: [1, 1e9] }, "
                                   "system.pue: { uniform: [1, 2] } } }\n",
                   false, "usd_per_Mtoken,usd_year", 1, e));
    assert_true(isnan(value_at(&o, "system.checkpoint.stall_s", 1, 0)) && isinf(tornado_swing(&o.t, 0, 0)));
    assert_int_equal(tornado_end(&o.t, 0, 1, 0)->best.point, -1);
    assert_true(tornado_swing(&o.t, 0, 1) == 0 && isfinite(tornado_swing(&o.t, 1, 0)));
}

TEST(the_objective_is_the_first_answer)
{
    static const struct {
        const char *more, *want[3];
    } cases[] = {
        { "", { "time_s", "cost_usd", "usd_per_Mtoken" } },
        { "objective: cost\ntime_limit_s: 1\n", { "cost_usd", "time_s", "usd_per_Mtoken" } },
        { "objective: tco_per_token\n", { "usd_per_Mtoken", "time_s", "cost_usd" } },
        { "objective: perf_per_cost\n", { "time_s", "cost_usd", "usd_per_Mtoken" } },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct opened, o, close_tornado);
        char text[4096];
        snprintf(text, sizeof text, "%s%s", PLAIN PARTS OWNED(""), cases[i].more);
        OK(open_tornado(&o, text, true, NULL, e));
        assert_int_equal(o.t.n_answers, 3);
        for (int a = 0; a < 3; a++)
            assert_string_equal(o.t.answers[a].name, cases[i].want[a]);
    }
}

TEST(threads_change_nothing)
{
    static const char text[] = PLAIN PARTS OWNED(
        "") "vary: { total_GBps: { from: 50, to: 400, points: 15 }, objective: [time, perf_per_cost] }\n"
            "uncertain: { keys: { system.pue: { uniform: [1, 2] }, workload.traffic: { "
            "lognormal: [1, 2] }, network.dims.b.efficiency: { uniform: [0.5, 1] } } }\n";
    KEEP(struct opened, a, close_tornado);
    KEEP(struct opened, b, close_tornado);
    OK(run_tornado(&a, text, true, "time_s,cost_usd,usd_per_Mtoken", 1, e));
    OK(run_tornado(&b, text, true, "time_s,cost_usd,usd_per_Mtoken", 4, e));
    assert_true(a.t.n_inputs > 20 && a.t.n_inputs == b.t.n_inputs);
    assert_memory_equal(a.t.typical, b.t.typical, 3 * sizeof *a.t.typical);
    for (int32_t i = 0; i < a.t.n_inputs; i++)
        for (int k = 0; k < 6; k++) {
            const struct tornado_end *x = tornado_end(&a.t, i, k / 3, k % 3),
                                     *y = tornado_end(&b.t, i, k / 3, k % 3);
            assert_true(x->best.point == y->best.point && x->best.value == y->best.value);
            assert_true(x->value == y->value || (isnan(x->value) && isnan(y->value)));
        }
}

TEST(points_that_cannot_be_read_are_passed_over)
{
    KEEP(struct opened, o, close_tornado);
    OK(run_tornado(&o,
                   PLAIN OWNED("") "vary: { system.load: [2, 1, 0.5] }\n"
                                   "uncertain: { keys: { system.pue: { uniform: [1, 2] } } }\n",
                   false, "usd_year", 2, e));
    assert_int_equal(o.t.n_failed, 1);
    assert_has(o.t.why.msg, "system.load is 2, expected 0 to 1");
    assert_int_equal(o.t.typical[0].point, 2);
    assert_int_equal(tornado_end(&o.t, 0, 1, 0)->best.point, 2);
}

TEST(what_cannot_be_asked_is_refused)
{
    static const struct {
        const char *text;
        bool all;
        const char *by;
        int code;
        const char *message;
    } cases[] = {
        { PLAIN, false, NULL, ERR_RANGE,
          "nothing is uncertain: no uncertain.keys, no price with low and high" },
        { PLAIN, true, NULL, ERR_RANGE, "no system" },
        { PLAIN OWNED(""), true, "time", ERR_USAGE, "option --by" },
        { PLAIN OWNED(""), true, "network", ERR_USAGE, "option --by" },
        { PLAIN OWNED(""), true, "", ERR_USAGE, "option --by" },
        { PLAIN OWNED(""), true, "time_s,time_s,time_s,time_s,time_s,time_s,time_s,time_s,time_s", ERR_USAGE,
          "has more than 8 columns" },
        { PLAIN OWNED("") "vary: { total_GBps: { from: 1, to: 500000, step: 1 } }\n", true, "time_s",
          ERR_RANGE, "designs, expected at most 10000000" },
        { PLAIN OWNED("") "uncertain: { keys: { system.pue: { uniform: [0.5, 1.4] } } }\n", false, "usd_year",
          ERR_RANGE, "study.yaml:5:22: uncertain.keys.system.pue at its low 0.5: " },
        { PLAIN OWNED(
              "") "uncertain: { keys: { network.dims.b.latency_ns: { uniform: [0.5, 2], relative: true "
                  "} } }\n",
          false, "usd_year", ERR_RANGE, "is relative to a key that is not given" },
        { PLAIN OWNED("") "uncertain: { keys: { system.colour: { uniform: [0.5, 1.4] } } }\n", false,
          "usd_year", ERR_PARSE, "system.colour" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct opened, o, close_tornado);
        FAILS(run_tornado(&o, cases[i].text, cases[i].all, cases[i].by, 2, e), cases[i].code,
              cases[i].message);
    }
}
