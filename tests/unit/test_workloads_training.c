#include "tests/unit/training_fixture.h"

#include "workloads/step_fn.h"

static const int32_t sizes[] = { 8, 64 };

static int read_text(struct training *x, const struct topo_network *net, const char *text, struct err *e)
{
    KEEP(struct yaml_doc, doc, yaml_free);
    int rc = yaml_read_text(&doc, "w.yaml", text, strlen(text), e);
    if (!rc)
        rc = step_read_training(x, &doc, doc.root, net, e);
    return rc;
}

#define GPT                                                                                                  \
    "model: { name: small, layers: 8, hidden: 1024, heads: 16, vocab: 51200, seq: 1024, attention: "         \
    "unfused, "                                                                                              \
    "tied: true, biases: true, dropout: true }\n"

TEST(a_workload_is_a_model_and_how_it_is_spread)
{
    static struct training x;
    const struct topo_network net = fixture_network(sizes, 2);
    struct plan want = fixture_plan(8, 1, 64, 1, 512);
    KEEP(struct plan_cost *, cost, free_at) = calloc(1, sizeof *cost);
    struct memory memory;
    assert_non_null(cost);
    OK(read_text(&x, &net, "name: mine\n" GPT "parallel: { tp: 8, batch: 512 }\n", e));
    assert_string_equal(x.name, "mine");
    assert_string_equal(x.model.name, "small");
    assert_true(x.plan.degree[PLAN_DP] == 64 && x.place.members[PLAN_GROUP_DP][1] == 64);
    plan_cost(cost, &x.model, &want, &net.npu);
    assert_true(x.cost.n_collectives == cost->n_collectives && x.cost.model_flop == cost->model_flop);
    memory_plan(&memory, &x.model, &want);
    assert_true(x.memory.total_B == memory.total_B);
    OK(read_text(&x, &net, GPT "parallel: { tp: 8, batch: 512 }\n", e));
    assert_string_equal(x.name, "small");
}

TEST(a_fault_is_named_with_its_place)
{
    CASES(const char *text; enum err_code code; const char *message) = {
        { "model: 3\nparallel: { batch: 512 }\n", ERR_PARSE, "w.yaml:1:8: model is 3, expected a map" },
        { "model: { layers: 2 }\nparallel: { batch: 512 }\n", ERR_PARSE, "w.yaml:1:8: model has no hidden" },
        { GPT, ERR_PARSE, "parallel" },
        { "parallel: { batch: 512 }\n", ERR_PARSE, "w.yaml:1:1: " },
        { GPT "parallel: { batch: 512, tp: 3 }\n", ERR_RANGE,
          "w.yaml:2:29: parallel.tp is 3, which does not divide the 512 of 512 NPUs that are left (nearest: "
          "2 or 4)" },
        { GPT "parallel: { batch: 500 }\n", ERR_RANGE,
          "w.yaml:2:20: parallel.batch is 500, expected a multiple of dp, 512" },
        { GPT "parallel: { batch: 512 }\nlayers: []\n", ERR_PARSE, "w.yaml:1:1: " },
        { GPT "parallel: { batch: 512 }\nloop: overlap\n", ERR_PARSE,
          "w.yaml:3:7: loop has no effect on model, only with layers, astra or simai" },
    };
    const struct topo_network net = fixture_network(sizes, 2);
    static struct training x;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        FAILS(read_text(&x, &net, cases[i].text, e), cases[i].code, cases[i].message);
    }
}

TEST(an_NPU_without_peak_or_bandwidth_cannot_train)
{
    static const char text[] = GPT "parallel: { batch: 512 }\n";
    static struct training x;
    WITH(struct topo_network, net, fixture_network(sizes, 2), net.npu.mem_Bps = NAN);
    FAILS(read_text(&x, &net, text, e), ERR_RANGE,
          "w.yaml:1:1: model needs network.npu.mem_GBps, which is not given");
    net.npu.peak_flops = NAN;
    FAILS(read_text(&x, &net, text, e), ERR_RANGE,
          "w.yaml:1:1: model needs network.npu.peak_TFLOPS, which is not given");
}

TEST(another_plan_is_derived_like_one_that_was_read)
{
    static struct training changed, read;
    const struct topo_network net = fixture_network(sizes, 2);
    OK(read_text(&changed, &net, GPT "parallel: { tp: 8, batch: 512 }\n", e));
    OK(read_text(&read, &net, GPT "parallel: { tp: 4, pp: 2, zero: 1, batch: 512 }\n", e));
    changed.plan = read.plan;
    OK(training_derive(&changed, &net, e));
    assert_memory_equal(&changed.place, &read.place, sizeof read.place);
    assert_true(changed.memory.total_B == read.memory.total_B);
    assert_true(changed.cost.model_flop == read.cost.model_flop);
    changed.plan.degree[PLAN_TP] = 3;
    FAILS(training_derive(&changed, &net, e), ERR_RANGE, "tp: is 3, expected a size that divides");
}

TEST(the_expression_takes_as_long_as_the_plan)
{
    static struct training x;
    const struct topo_network net = fixture_network(sizes, 2);
    double bw_Bps[2] = { net.dims[0].bw_Bps, net.dims[1].bw_Bps };
    KEEP(struct step_tree, t, step_free);
    KEEP(struct step_fn, f, step_fn_free);
    OK(read_text(&x, &net, "name: mine\n" GPT "parallel: { tp: 8, pp: 4, batch: 512 }\n", e));
    OK(training_build(&t, &x, &net, e));
    assert_string_equal(t.name, "mine");
    for (int g = 0; g < PLAN_GROUP_SHARD; g++)
        assert_memory_equal(oracle_members(&t, plan_group_words[g]), x.place.members[g], 2 * sizeof(int32_t));
    OK(step_compile(&f, &t, &net, e));
    assert_close(step_time(&f, bw_Bps), fixture_time(&x.model, &x.plan, &net), 1e-12);
}

/* One NPU that only multiplies, at full rate: its utilisation is what is not done twice. */
TEST(utilization_is_useful_products_over_what_all_NPUs_could_do)
{
    static struct training x;
    WITH(struct topo_network, net, fixture_network(sizes, 2), net.npu.peak_flops = 312e12);
    OK(read_text(&x, &net, GPT "parallel: { tp: 8, batch: 512 }\n", e));
    double s = 1024, h = 1024, L = 8, V = 51200, B = 512;
    double flop = 72 * B * s * L * h * h * (1 + s / (6 * h) + V / (12 * L * h));
    assert_close(training_mfu(&x, &net, 0.25), flop / (512 * 312e12 * 0.25), 1e-12);
    assert_true(training_tokens(&x) == 512 * 1024);
}

TEST(samples_are_counted_where_there_are_no_sequences)
{
    static struct training x;
    const struct topo_network net = fixture_network(sizes, 2);
    OK(read_text(&x, &net,
                 "model: { family: cnn, cnn: { features: 4, classes: 2, convs: [ { in: 3, out: 4, kernel: "
                 "3, size: 8 } ] } }\nparallel: { batch: 1024 }\n",
                 e));
    assert_true(training_tokens(&x) == 1024);
}

TEST(memory_that_is_missing_is_what_the_NPU_lacks)
{
    static struct training x;
    struct topo_network net = fixture_network(sizes, 2);
    OK(read_text(&x, &net, GPT "parallel: { tp: 8, batch: 512 }\n", e));
    assert_close(training_missing_B(&x, &net), x.memory.total_B - 85.9e9, 1e-15);
    assert_true(training_missing_B(&x, &net) < 0);
    net.npu.mem_B = 1e6;
    assert_true(training_missing_B(&x, &net) > 0);
    net.npu.mem_B = NAN;
    assert_true(isnan(training_missing_B(&x, &net)));
}

/* Each preset trains on the network of 512 A100 in some way; numbers that are held elsewhere are not held
 * here. */
TEST(every_preset_trains_somehow)
{
    CASES(const char *name; int64_t tp, pp, ep, batch) = {
        { "gpt3-175b", 8, 8, 1, 512 },      { "megatron-22b", 8, 1, 1, 512 },
        { "megatron-530b", 8, 35, 1, 0 },   { "megatron-1t", 8, 64, 1, 512 },
        { "turing-nlg-17b", 4, 2, 1, 512 }, { "llama3-8b", 1, 1, 1, 512 },
        { "llama3-70b", 8, 4, 1, 512 },     { "llama3-405b", 8, 2, 1, 512 },
        { "mixtral-8x7b", 2, 1, 8, 512 },   { "deepseek-v3", 8, 1, 64, 512 },
        { "dlrm-dcnv2", 1, 1, 1, 65536 },   { "resnet50", 1, 1, 1, 65536 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const int32_t other[] = { 8, 35 };
        struct topo_network net = fixture_network(cases[i].batch ? sizes : other, 2);
        struct plan p = fixture_plan(cases[i].tp, 1, net.n_npus / (cases[i].tp * cases[i].pp), cases[i].pp,
                                     cases[i].batch ? cases[i].batch : 280);
        p.ep = cases[i].ep;
        p.seq_parallel = p.degree[PLAN_TP] > 1;
        struct model m = fixture_model(cases[i].name);
        double time_s = fixture_time(&m, &p, &net);
        assert_true(isfinite(time_s) && time_s > 0);
    }
}
