/* Two designs: what counts as a difference, what each does alone, and what is left. */
#include "kinds/design/diff.h"
#include "tests/unit/folder.h"

/* 32 NPUs; link, NIC and switch of dimension b cost 8, 32 and 18 USD per GB/s. Bandwidths are given. */
#define NET(b_GBps)                                                                                          \
    "network: { npu: { peak_TFLOPS: 300 }, dims: [ { name: a, shape: ring, size: 4, tier: N, bw_GBps: 20 "   \
    "}, "                                                                                                    \
    "{ name: b, shape: switch, size: 8, tier: P, bw_GBps: " b_GBps " } ] }\n"
#define PARTS(nic)                                                                                           \
    "parts: { rates: [ { tier: N, link_usd_per_GBps: 4 }, { tier: P, link_usd_per_GBps: 8, "                 \
    "switch_usd_per_GBps: 18, nic_usd_per_GBps: " nic " } ] }\n"
#define WORK(ms)                                                                                             \
    "workload: { groups: { o: { members: [1, 8] } }, step: { sum: [ { compute_ms: " ms " }, { all-reduce: "  \
    "{ size_MB: 16, group: o } } ] } }\n"
#define SYSTEM(more)                                                                                         \
    "system: { npu_usd: 20000, npu_watt: 700, server_usd: 0, server_watt: 0, npu_idle: 0, load: 1, "         \
    "capital_rate: 0, support: 0, building_usd_W: 0, step_tokens: 1e6, network_life_years: 4, checkpoint: "  \
    "{ size_GB: 9 }" more " }\n"

struct two {
    struct folder f;
    struct diff d;
};

static void close_two(struct two *t)
{
    diff_free(&t->d);
    folder_remove(&t->f);
}

static int compare_texts(struct two *t, const char *a, const char *b, struct err *e)
{
    char path[SUPPORT_PATH];
    t->d = (struct diff){ 0 };
    scratch_make(t->f.dir);
    snprintf(path, sizeof path, "%s", put(&t->f, "a.yaml", a));
    return diff_build(&t->d, path, put(&t->f, "b.yaml", b), NULL, 0, e);
}

static const struct diff_input *input_called(const struct diff *d, const char *path)
{
    for (int32_t i = 0; i < d->n_inputs; i++)
        if (strcmp(d->inputs[i].path, path) == 0)
            return &d->inputs[i];
    fail_msg("no difference %s", path);
    return NULL;
}

static const struct diff_output *output_called(const struct diff *d, const char *name)
{
    for (int32_t i = 0; i < d->n_outputs; i++)
        if (strcmp(d->outputs[i].name, name) == 0)
            return &d->outputs[i];
    return NULL;
}

TEST(what_reads_the_same_is_no_difference)
{
    static const char *const pairs[][2] = {
        { NET("10") WORK("1"), NET("10.0") WORK("1.00") },
        { NET("10") WORK("1"), WORK("1") NET("1e1") "source: elsewhere\n" },
        { NET("10") WORK("1"), NET("10") WORK("1") "seed: 1\nobjective: time\ncount_npus: false\n" },
        { NET("10") WORK("1") SYSTEM(""), NET("10") WORK("1") SYSTEM(", pue: 1.25, mtbf: { npu_h: 79000 }") },
    };
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        KEEP(struct two, t, close_two);
        OK(compare_texts(&t, pairs[i][0], pairs[i][1], e));
        assert_int_equal(t.d.n_inputs, 0);
        assert_int_equal(t.d.n_outputs, 0);
    }
}

/* A file and the map that it holds. */
TEST(a_file_is_what_is_in_it)
{
    KEEP(struct two, t, close_two);
    char path[SUPPORT_PATH];
    t.d = (struct diff){ 0 };
    scratch_make(t.f.dir);
    put(&t.f, "w.yaml",
        "groups: { o: { members: [1, 8] } }\nstep: { sum: [ { compute_ms: 1 }, { all-reduce: { "
        "size_MB: 16, group: o } } ] }\n");
    snprintf(path, sizeof path, "%s", put(&t.f, "a.yaml", NET("10") "workload: w.yaml\n"));
    OK(diff_build(&t.d, path, put(&t.f, "b.yaml", NET("10") WORK("2")), NULL, 0, e));
    assert_int_equal(t.d.n_inputs, 1);
    assert_string_equal(t.d.inputs[0].path, "workload.step.sum[0].compute_ms");
    assert_string_equal(t.d.inputs[0].text[DIFF_A], "1");
    assert_string_equal(t.d.inputs[0].text[DIFF_B], "2");
    assert_close(t.d.inputs[0].alone[DIFF_TIME], 1e-3, 1e-9);
    assert_close(output_called(&t.d, "compute_s")->value[DIFF_B], 2e-3, 1e-12);
    assert_close(diff_change(1e-3, 2e-3), 1, 1e-12);
}

/* Energy of 32 NPUs of 700 W, over capital in a straight line and that energy. */
TEST(a_default_is_a_value_and_moves_what_it_moves)
{
    KEEP(struct two, t, close_two);
    OK(compare_texts(&t, NET("10") WORK("1") SYSTEM(""), NET("10") WORK("1") SYSTEM(", pue: 1.1"), e));
    const struct diff_input *in = input_called(&t.d, "system.pue");
    double energy = 32 * 0.7 * 8760 * 0.08, year = 32 * 20000 / 4.0 + 1.25 * energy;
    assert_true(in->is_default[DIFF_A] && !in->is_default[DIFF_B]);
    assert_string_equal(in->text[DIFF_A], "1.25");
    assert_true(in->alone[DIFF_TIME] == 0 && isnan(in->alone[DIFF_COST]));
    assert_close(in->alone[DIFF_TOKENS] / t.d.answers[DIFF_A][DIFF_TOKENS], -0.15 * energy / year, 1e-9);
    assert_close(output_called(&t.d, "usd_year")->value[DIFF_B], year - 0.15 * energy, 1e-12);
    assert_near(diff_together(&t.d, DIFF_TOKENS), 0, 1e-15);
    assert_null(output_called(&t.d, "time_s"));
}

/* 32 NPUs at 10 or 30 GB/s, NICs of 32 or 40 USD: 32 (40 - 32) (30 - 10) is of both together. */
TEST(what_effects_do_not_add_up_to_is_how_they_act_together)
{
    KEEP(struct two, t, close_two);
    OK(compare_texts(&t, NET("10") PARTS("32") WORK("1"), NET("30") PARTS("40") WORK("1"), e));
    assert_int_equal(t.d.n_inputs, 2);
    assert_string_equal(t.d.inputs[0].path, "network.dims.b.bw_GBps"); /* moves most */
    assert_close(t.d.inputs[0].alone[DIFF_COST], 32 * (8 + 18 + 32) * 20.0, 1e-9);
    assert_close(input_called(&t.d, "parts.rates[1].nic_usd_per_GBps")->alone[DIFF_COST], 32 * 8 * 10.0,
                 1e-9);
    assert_close(diff_together(&t.d, DIFF_COST), 32 * 8 * 20.0, 1e-9);
    assert_close(output_called(&t.d, "cost_usd")->value[DIFF_B], 32 * (4 * 20 + (8 + 18 + 40) * 30.0), 1e-9);
    /* Largest change first: bandwidth three times, then time, then cost. */
    for (int32_t i = 1; i < t.d.n_outputs && !t.d.outputs[i].is_word; i++) {
        double x = t.d.outputs[i - 1].value[1] / t.d.outputs[i - 1].value[0];
        double y = t.d.outputs[i].value[1] / t.d.outputs[i].value[0];
        assert_true(isnan(y) || isinf(y) || fabs(log(x)) >= fabs(log(y)) * (1 - 1e-12) || isnan(x));
    }
}

TEST(what_cannot_be_alone_says_why)
{
    KEEP(struct two, t, close_two);
    OK(compare_texts(
        &t, NET("10") WORK("1") "name: x\n",
        "network: { npu: { peak_TFLOPS: 300 }, dims: [ { name: a, shape: ring, size: 4, tier: N, "
        "bw_GBps: 20, latency_ns: 5 }, { name: b, shape: switch, size: 16, tier: P, bw_GBps: 10 } ] }\n"
        "workload: { groups: { o: { members: [1, 16] } }, step: { sum: [ { compute_ms: 1 }, { "
        "all-reduce: { size_MB: 16, group: o } } ] } }\nvary: { total_GBps: [1, 2] }\n",
        e));
    assert_has(input_called(&t.d, "workload.groups.o.members[1]")->why, "is 16, expected a divisor of 8");
    assert_false(input_called(&t.d, "vary")->of_design);
    assert_null(input_called(&t.d, "vary")->why);
    assert_false(input_called(&t.d, "name")->of_design);
    /* Latency counts in no time of model bandwidth; a size of which half is used does nothing either. */
    assert_true(input_called(&t.d, "network.dims.a.latency_ns")->alone[DIFF_TIME] == 0);
    assert_close(output_called(&t.d, "n_npus")->value[DIFF_B], 64, 0);
    assert_int_equal(t.d.inputs[t.d.n_inputs - 1].of_design, false);
}

TEST(a_key_that_b_lacks_is_taken_out)
{
    KEEP(struct two, t, close_two);
    OK(compare_texts(&t,
                     NET("10") WORK("1") SYSTEM(", run_steps: 5, items: [ { name: x, usd: "
                                                "1e6 } ]"),
                     NET("10") WORK("1") SYSTEM(""), e));
    const struct diff_input *items = input_called(&t.d, "system.items");
    assert_null(items->text[DIFF_B]);
    assert_null(items->why);
    /* A million over four years, and the million's support is none. */
    double year = output_called(&t.d, "usd_year")->value[DIFF_A];
    assert_close(items->alone[DIFF_TOKENS] / t.d.answers[DIFF_A][DIFF_TOKENS], -250000 / year, 1e-9);
    assert_true(isnan(output_called(&t.d, "usd_run")->value[DIFF_B]));
}

TEST(networks_alone_and_words_are_compared)
{
    KEEP(struct diff, d, diff_free);
    OK(diff_build(&d, "ring:4@50", "ring:8@50", NULL, 0, e));
    assert_int_equal(d.n_inputs, 1);
    assert_string_equal(d.inputs[0].path, "network");
    assert_close(output_called(&d, "n_npus")->value[DIFF_B], 8, 0);
    assert_close(output_called(&d, "diameter_hops")->value[DIFF_A], 2, 0);
    assert_null(output_called(&d, "bisection_GBps")); /* two links of a ring, whatever its size */
}

TEST(sides_that_cannot_be_read_are_refused)
{
    KEEP(struct two, t, close_two);
    FAILS(compare_texts(&t, NET("10") WORK("1"), NET("-10") WORK("1"), e), ERR_RANGE, "b.yaml:1:");
}
