/* Two designs: what counts as a difference, what each does alone, and what is left. */
#include "kinds/design/explore/diff.h"
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

static int build_diff(struct diff *d, const char *a, const char *b, const struct study_override *o, int32_t n,
                      struct err *e)
{
    const struct study_source from[] = { { .path = a, .overrides = o, .n = n },
                                         { .path = b, .overrides = o, .n = n } };
    return diff_build(d, from, e);
}

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
    return build_diff(&t->d, path, put(&t->f, "b.yaml", b), NULL, 0, e);
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
    t = (struct two){ 0 };
    scratch_make(t.f.dir);
    put(&t.f, "w.yaml",
        "groups: { o: { members: [1, 8] } }\nstep: { sum: [ { compute_ms: 1 }, { all-reduce: { "
        "size_MB: 16, group: o } } ] }\n");
    snprintf(path, sizeof path, "%s", put(&t.f, "a.yaml", NET("10") "workload: w.yaml\n"));
    OK(build_diff(&t.d, path, put(&t.f, "b.yaml", NET("10") WORK("2")), NULL, 0, e));
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
    OK(build_diff(&d, "ring:4@50", "ring:8@50", NULL, 0, e));
    assert_int_equal(d.n_inputs, 1);
    assert_string_equal(d.inputs[0].path, "network");
    assert_close(output_called(&d, "n_npus")->value[DIFF_B], 8, 0);
    assert_close(output_called(&d, "diameter_hops")->value[DIFF_A], 2, 0);
    assert_null(output_called(&d, "bisection_GBps")); /* two links of a ring, whatever its size */
}

/* 50 GB/s an NPU, of which half go up: what goes up came in. */
TEST(the_total_of_a_fabric_is_what_goes_in)
{
    KEEP(struct diff, d, diff_free);
    OK(build_diff(&d, "fat-tree:8x4/2@50", "switch:4@450 fat-tree:8x4/2@50", NULL, 0, e));
    const struct diff_output *total = output_called(&d, "total_GBps");
    assert_non_null(total);
    assert_close(total->value[DIFF_A], 50, 1e-12);
    assert_close(total->value[DIFF_B], 500, 1e-12);
}

/* A network has no status, and no time: which side lacks them does not matter. */
/* Three NPUs on a switch, by a file of links, against 32. */
TEST(npus_of_a_graph_are_compared_on_either_side)
{
    static const char graph[] = "network: { graph: g.csv, classes: [ { name: x, bw_GBps: 10 } ] }\n";
    for (int b = 0; b < 2; b++) {
        KEEP(struct two, t, close_two) = { .d = { .n_inputs = 0 } };
        char path[SUPPORT_PATH];
        scratch_make(t.f.dir);
        put(&t.f, "g.csv",
            "src,dst,bw_GBps,latency_ns,class\nnpu0,switch0,10,1,x\nnpu1,switch0,10,1,x\n"
            "npu2,switch0,10,1,x\n");
        snprintf(path, sizeof path, "%s", put(&t.f, "a.yaml", b ? NET("10") : graph));
        OK(build_diff(&t.d, path, put(&t.f, "b.yaml", b ? graph : NET("10")), NULL, 0, e));
        const struct diff_output *npus = output_called(&t.d, "n_npus");
        assert_non_null(npus);
        assert_true(npus->value[b] == 3 && npus->value[!b] == 32);
        assert_null(output_called(&t.d, "n_links"));
    }
}

TEST(what_one_side_lacks_is_a_difference)
{
    for (int lacks = DIFF_A; lacks <= DIFF_B; lacks++) {
        KEEP(struct two, t, close_two);
        const char *texts[] = { NET("10") WORK("1"), NET("10") WORK("1") };
        texts[lacks] = NET("10");
        OK(compare_texts(&t, texts[DIFF_A], texts[DIFF_B], e));
        const struct diff_output *status = output_called(&t.d, "status"),
                                 *time = output_called(&t.d, "time_s");
        assert_true(status && time && status->is_word);
        assert_non_null(status->word[1 - lacks]);
        assert_null(status->word[lacks]);
        assert_true(isnan(time->value[lacks]) && time->value[1 - lacks] > 1e-3);
        assert_null(output_called(&t.d, "n_npus"));
    }
}

/* Priced networks without work: 32 NPUs with two links in the node and one NIC, port and cable above. */
TEST(prices_of_networks_are_compared_without_work)
{
    KEEP(struct two, t, close_two);
    OK(compare_texts(&t, NET("10") PARTS("32"), NET("30") PARTS("32"), e));
    const struct diff_output *usd = output_called(&t.d, "cost_usd"),
                             *total = output_called(&t.d, "total_GBps");
    assert_int_equal(t.d.n_inputs, 1);
    assert_close(usd->value[DIFF_A], 32 * (4 * 20 + (8 + 18 + 32) * 10.0), 1e-9);
    assert_close(usd->value[DIFF_B], 32 * (4 * 20 + (8 + 18 + 32) * 30.0), 1e-9);
    assert_close(total->value[DIFF_A], 30, 1e-12);
    assert_close(total->value[DIFF_B], 50, 1e-12);
    const struct diff_output *above = output_called(&t.d, "bw2_GBps");
    assert_non_null(above);
    assert_close(above->value[DIFF_A], 10, 1e-12);
    assert_close(above->value[DIFF_B], 30, 1e-12);
    assert_close(t.d.inputs[0].alone[DIFF_COST], 32 * (8 + 18 + 32) * 20.0, 1e-9);
    assert_null(t.d.inputs[0].why);
    assert_null(output_called(&t.d, "time_s"));
}

/* Members are called by their names where both lists have the same in the same order, else by position; lists
 * of different length are one difference. */
TEST(members_of_lists_are_called_as_paths_can)
{
#define DIM(name, size) "{ name: " name ", shape: ring, size: " size ", bw_GBps: 20 }"
#define DIMS(a, b)      "network: { dims: [ " a ", " b " ] }\n"
    static const struct {
        const char *a, *b, *path;
        int32_t n;
    } cases[] = {
        { DIMS(DIM("x", "4"), DIM("y", "5")), DIMS(DIM("x", "4"), DIM("y", "6")), "network.dims.y.size", 1 },
        { DIMS(DIM("x", "4"), DIM("y", "5")), DIMS(DIM("x", "6"), DIM("y", "5")), "network.dims.x.size", 1 },
        { DIMS(DIM("x", "4"), DIM("y", "5")), DIMS(DIM("y", "4"), DIM("x", "5")), "network.dims[0].name", 2 },
        { DIMS(DIM("x", "4"), DIM("y", "5")), DIMS(DIM("x", "4"), DIM("z", "6")), "network.dims[1].size", 2 },
        { "network: { dims: [ " DIM("x", "4") " ] }\n", DIMS(DIM("x", "4"), DIM("y", "5")), "network.dims",
          1 },
        { DIMS(DIM("x", "4"), DIM("y", "5")), "network: { dims: [ " DIM("x", "4") " ] }\n", "network.dims",
          1 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct two, t, close_two);
        OK(compare_texts(&t, cases[i].a, cases[i].b, e));
        assert_non_null(input_called(&t.d, cases[i].path));
        assert_int_equal(t.d.n_inputs, cases[i].n);
    }
#undef DIM
#undef DIMS
}

/* A map that is not given holds the defaults of its keys, on either side. */
TEST(a_map_of_defaults_is_no_difference)
{
    for (int given = DIFF_A; given <= DIFF_B; given++) {
        KEEP(struct two, t, close_two);
        const char *texts[] = { NET("10") WORK("1") SYSTEM(""), NET("10") WORK("1") SYSTEM("") };
        texts[given] = NET("10") WORK("1") SYSTEM(", tolerates: { planes: true, detours: true }");
        OK(compare_texts(&t, texts[DIFF_A], texts[DIFF_B], e));
        assert_int_equal(t.d.n_inputs, 1);
        assert_string_equal(t.d.inputs[0].path, "system.tolerates.detours");
        assert_string_equal(t.d.inputs[0].text[given], "true");
        assert_string_equal(t.d.inputs[0].text[1 - given], "false");
        assert_true(t.d.inputs[0].is_default[1 - given] && !t.d.inputs[0].is_default[given]);
        assert_null(t.d.inputs[0].why);
    }
}

/* Values that are set hold for both sides and for each key alone; 16 MB among 8 take 28 MB's time at 40 GB/s.
 */
TEST(what_is_set_holds_for_each_key_alone)
{
    const struct study_override o[] = { { "network.dims.b.bw_GBps", "40" }, { "model", "bandwidth" } };
    struct folder f;
    char path[SUPPORT_PATH];
    KEEP(struct two, t, close_two);
    t = (struct two){ 0 };
    scratch_make(t.f.dir);
    f = t.f;
    snprintf(path, sizeof path, "%s", put(&f, "a.yaml", NET("10") WORK("1") "model: alpha-beta\n"));
    OK(build_diff(&t.d, path, put(&f, "b.yaml", NET("30") WORK("4") "seed: 7\n"), o, (int32_t)COUNT_OF(o),
                  e));
    double comm_s = 2 * 7 / 8. * 16e6 / 40e9;
    assert_int_equal(t.d.n_inputs, 2);
    assert_string_equal(t.d.inputs[0].path, "workload.step.sum[0].compute_ms");
    assert_close(t.d.answers[DIFF_A][DIFF_TIME], 1e-3 + comm_s, 1e-9);
    assert_close(t.d.inputs[0].alone[DIFF_TIME], 3e-3, 1e-9);
    assert_true(t.d.inputs[1].alone[DIFF_TIME] == 0);
    assert_true(diff_together(&t.d, DIFF_TIME) == 0);
    const struct diff_output *time = output_called(&t.d, "time_s");
    assert_close(time->value[DIFF_A], 1e-3 + comm_s, 1e-9);
    assert_close(time->value[DIFF_B], 4e-3 + comm_s, 1e-9);
    /* Nothing of the network differs any more. */
    assert_null(output_called(&t.d, "total_GBps"));
    assert_null(output_called(&t.d, "bisection_GBps"));
}

TEST(a_change_from_nothing_has_no_share)
{
    assert_true(isnan(diff_change(0, 5)));
    assert_close(diff_change(4, 5), 0.25, 1e-15);
    assert_close(diff_change(-4, -5), 0.25, 1e-15);
    assert_close(diff_change(4, 0), -1, 1e-15);
}

TEST(sides_that_cannot_be_read_are_refused)
{
    KEEP(struct two, t, close_two);
    FAILS(compare_texts(&t, NET("10") WORK("1"), NET("-10") WORK("1"), e), ERR_RANGE, "b.yaml:1:");
}
