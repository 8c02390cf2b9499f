/* NPUs as files, and presets against their data sheets. */
#include "tests/unit/training_fixture.h"
#include "tests/unit/folder.h"

static int read_text(struct topo_npu *npu, const char *text, struct err *e)
{
    KEEP(struct yaml_doc, doc, yaml_free);
    int rc = yaml_read_text(&doc, "npu.yaml", text, strlen(text), e);
    if (!rc)
        rc = topo_read_npu(npu, &doc, doc.root, e);
    return rc;
}

TEST(every_figure_is_read_in_SI_units)
{
    struct topo_npu npu;
    OK(read_text(&npu,
                 "name: X\nsource: here\npeak_TFLOPS: 312\nvector_TFLOPS: 39\nmem_GB: 80\n"
                 "mem_GBps: 2039\nmem_efficiency: 0.75\nmatrix_efficiency: 0.5\n"
                 "matrix_half_out: 200\nmatrix_half_in: 100\nattention_efficiency: 0.25\n"
                 "flash_efficiency: 0.375\nkernel_ns: 4000\nusd: 15000\nwatt: 400\n",
                 e));
    assert_close(npu.peak_flops, 312e12, 1e-15);
    assert_close(npu.vector_flops, 39e12, 1e-15);
    assert_close(npu.mem_B, 80e9, 1e-15);
    assert_close(npu.mem_Bps, 2039e9, 1e-15);
    assert_close(npu.kernel_s, 4e-6, 1e-15);
    assert_true(npu.mem_efficiency == 0.75 && npu.matrix_efficiency == 0.5);
    assert_true(npu.half_out == 200 && npu.half_in == 100 && npu.attention == 0.25 && npu.flash == 0.375);
    assert_true(npu.usd == 15000 && npu.watt == 400 && npu.n_sizes == 0);
}

TEST(what_is_absent_is_unknown_or_the_best_there_could_be)
{
    struct topo_npu read, defaults;
    OK(read_text(&read, "name: nothing\n", e));
    topo_npu_defaults(&defaults);
    const struct topo_npu *const both[] = { &read, &defaults };
    for (int i = 0; i < 2; i++) {
        const struct topo_npu *npu = both[i];
        assert_true(isnan(npu->peak_flops) && isnan(npu->mem_B) && isnan(npu->mem_Bps));
        assert_true(isnan(npu->usd) && isnan(npu->watt));
        assert_true(isinf(npu->vector_flops) && npu->mem_efficiency == 1 && npu->matrix_efficiency == 1);
        assert_true(npu->half_out == 0 && npu->half_in == 0 && npu->attention == 1 && npu->flash == 1);
        assert_true(npu->kernel_s == 0 && npu->n_sizes == 0);
    }
}

TEST(fused_attention_reaches_what_products_do_unless_given)
{
    struct topo_npu npu;
    OK(read_text(&npu, "matrix_efficiency: 0.7\n", e));
    assert_true(npu.flash == 0.7);
    OK(read_text(&npu, "{ matrix_efficiency: 0.7, flash_efficiency: 0.4 }\n", e));
    assert_true(npu.flash == 0.4);
}

TEST(sizes_of_products_are_read_in_order)
{
    struct topo_npu npu;
    OK(read_text(&npu,
                 "matrix_sizes:\n"
                 "  - { from_GFLOP: 0, efficiency: 0.1 }\n"
                 "  - { from_GFLOP: 1, efficiency: 0.6 }\n"
                 "  - { from_GFLOP: 16.5, efficiency: 0.9 }\n",
                 e));
    assert_true(npu.n_sizes == 3 && npu.sizes[0].from_flop == 0 && npu.sizes[0].efficiency == 0.1);
    assert_true(npu.sizes[1].from_flop == 1e9 && npu.sizes[1].efficiency == 0.6);
    assert_true(npu.sizes[2].from_flop == 16.5e9 && npu.sizes[2].efficiency == 0.9);
}

#define SIZE "{ from_GFLOP: 1, efficiency: 0.5 }"

TEST(a_fault_is_named_with_its_place)
{
    static const struct refusal cases[] = {
        { "4", ERR_PARSE, "npu.yaml:1:1: document is 4, expected a map" },
        { "peak_TFLOP: 1", ERR_PARSE, "npu.yaml:1:1: unknown key \"peak_TFLOP\"" },
        { "peak_TFLOPS: 0", ERR_RANGE, "npu.yaml:1:14: peak_TFLOPS is 0, expected 0.001 to" },
        { "peak_TFLOPS: fast", ERR_PARSE, "peak_TFLOPS is" },
        { "vector_TFLOPS: -1", ERR_RANGE, "vector_TFLOPS is -1, expected" },
        { "mem_GB: 0", ERR_RANGE, "mem_GB is 0, expected" },
        { "mem_GBps: 2e12", ERR_RANGE, "mem_GBps is 2e12, expected" },
        { "mem_efficiency: 1.5", ERR_RANGE, "mem_efficiency is 1.5, expected 0.001 to 1" },
        { "matrix_efficiency: 0", ERR_RANGE, "matrix_efficiency is 0, expected 0.001 to 1" },
        { "matrix_half_out: -1", ERR_RANGE, "matrix_half_out is -1, expected 0 to" },
        { "attention_efficiency: 2", ERR_RANGE, "attention_efficiency is 2, expected" },
        { "flash_efficiency: 2", ERR_RANGE, "flash_efficiency is 2, expected" },
        { "kernel_ns: -4", ERR_RANGE, "kernel_ns is -4, expected 0 to" },
        { "matrix_sizes: 3", ERR_PARSE, "matrix_sizes is 3, expected a list" },
        { "matrix_sizes: []", ERR_RANGE, "matrix_sizes has 0 sizes, expected 1 to 16" },
        { "matrix_sizes: [ { from_GFLOP: 1 } ]", ERR_PARSE, "efficiency" },
        { "matrix_sizes: [ { efficiency: 1 } ]", ERR_PARSE, "from_GFLOP" },
        { "matrix_sizes: [ " SIZE ", " SIZE " ]", ERR_RANGE,
          "matrix_sizes[1].from_GFLOP is 1, expected more than 1, the one before" },
        { "matrix_sizes: [ " SIZE ", { from_GFLOP: 0.5, efficiency: 0.5 } ]", ERR_RANGE,
          "matrix_sizes[1].from_GFLOP is 0.5, expected more than 1" },
        { "matrix_sizes: [ " SIZE " ]\nmatrix_efficiency: 0.9", ERR_PARSE,
          "npu.yaml:2:1: matrix_efficiency is given together with matrix_sizes; give one of them" },
        { "matrix_half_in: 1\nmatrix_sizes: [ " SIZE " ]", ERR_PARSE,
          "npu.yaml:1:1: matrix_half_in is given together with matrix_sizes" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_npu npu;
        FAILS(read_text(&npu, cases[i].text, e), cases[i].code, cases[i].message);
    }
}

TEST(more_sizes_than_fit_are_refused)
{
    struct topo_npu npu;
    TEXT(text, "matrix_sizes:\n");
    for (int i = 0; i < TOPO_MAX_SIZES; i++)
        text_printf(&text, "  - { from_GFLOP: %d, efficiency: 0.5 }\n", i);
    OK(read_text(&npu, text_str(&text), e));
    assert_int_equal(npu.n_sizes, TOPO_MAX_SIZES);
    text_puts(&text, "  - { from_GFLOP: 99, efficiency: 0.5 }\n");
    FAILS(read_text(&npu, text_str(&text), e), ERR_RANGE, "has 17 sizes, expected 1 to 16");
}

#define HOPPER                                                                                               \
    "peak_TFLOPS: 1000\npeak_8bit_TFLOPS: 2000\nfp8_share: 0.9\nmxfp8_share: 0\nmatrix_efficiency: 0.65\n"   \
    "watt: 700\nsms: 100\n"
#define KERNELS                                                                                              \
    "attention_kernels:\n"                                                                                   \
    "  - { kernel: cudnn, forward_TFLOPS: 600, backward_TFLOPS: 500, half_tiles_forward: 0.5, half_seq: "    \
    "250,"                                                                                                   \
    " low_rank_forward: 0.75, low_rank_half_forward: 0.25, narrow: 0.8, fp8_forward: 2 }\n"                  \
    "  - { kernel: fa2, forward_TFLOPS: 300, backward_TFLOPS: 250, narrow: 0.9 }\n"

TEST(a_precision_has_the_peak_of_its_width_and_its_own_share)
{
    struct topo_npu npu;
    OK(read_text(&npu, HOPPER, e));
    assert_close(topo_npu_ceiling(&npu, TOPO_BF16), 650e12, 1e-15);
    assert_close(topo_npu_ceiling(&npu, TOPO_FP8), 0.65 * 0.9 * 2e15, 1e-15);
    assert_close(topo_npu_peak(&npu, TOPO_FP8), 0.9 * 2e15, 1e-15);
    assert_true(isnan(topo_npu_ceiling(&npu, TOPO_MXFP8)) && isnan(topo_npu_ceiling(&npu, TOPO_NVFP4)));
    OK(read_text(&npu, "{ peak_TFLOPS: 100, peak_4bit_TFLOPS: 400, matrix_half_out: 30 }", e));
    assert_close(topo_npu_ceiling(&npu, TOPO_NVFP4), 400e12, 1e-15);
    assert_true(npu.group_half_out == 30 && npu.power_share == 1 && isnan(npu.power_W));
    OK(read_text(&npu, "{ matrix_half_out: 30, group_half_out: 0, watt: 400 }", e));
    assert_true(npu.group_half_out == 0 && npu.power_W == 400);
}

TEST(an_npu_inside_a_network_has_the_peak_of_its_file)
{
    static const char text[] = "npu: { peak_TFLOPS: 300, mem_GBps: 2000 }\n"
                               "dims: [ { shape: ring, size: 4 } ]\n";
    KEEP(struct yaml_doc, doc, yaml_free);
    struct topo_network net;
    OK(yaml_read_text(&doc, "network.yaml", text, strlen(text), e));
    OK(topo_read_network(&net, &doc, doc.root, e));
    assert_close(topo_npu_peak(&net.npu, TOPO_BF16), 300e12, 1e-15);
    assert_close(topo_npu_attention_power(&net.npu), 1, 1e-15);
}

TEST(the_ceiling_of_a_list_of_sizes_is_that_of_the_largest)
{
    struct topo_npu npu;
    OK(read_text(&npu, "peak_TFLOPS: 100\nmatrix_sizes: [ " SIZE ", { from_GFLOP: 9, efficiency: 0.8 } ]",
                 e));
    assert_close(topo_npu_ceiling(&npu, TOPO_BF16), 80e12, 1e-15);
}

/* H200 NVL at 600 W by the law from 700 W: 0.65 (450/550)^0.375 = 0.603; Transformer Engine's table, 19.17
 * TFLOP in 31.97 ms of a peak of 989, gives 0.606. */
TEST(a_power_limit_scales_products_and_half_as_much_attention)
{
    struct topo_npu npu;
    struct topo_npu_attention row;
    const struct topo_npu_heads long_heads = { 1e15, 1e12, 128, 128, false };
    OK(read_text(&npu, HOPPER KERNELS "power_W: 600\n", e));
    assert_near(topo_npu_ceiling(&npu, TOPO_BF16) / 1e15, 0.603, 0.0005);
    assert_near(topo_npu_ceiling(&npu, TOPO_BF16) / 1e15, 19.17 / 31.97e-3 / 989, 0.005);
    assert_true(topo_npu_find_kernel(&row, &npu, TOPO_CUDNN));
    double lost = 1 - topo_npu_peak(&npu, TOPO_BF16) / npu.peak_flops;
    assert_close(topo_npu_attention_rate(&npu, &row, TOPO_FORWARD, &long_heads), 600e12 * (1 - lost / 2),
                 1e-9);
    OK(read_text(&npu, HOPPER "power_W: 700\n", e));
    assert_true(npu.power_share == 1);
}

TEST(attention_has_a_rate_by_kernel_pass_and_heads)
{
    struct topo_npu npu;
    struct topo_npu_attention cudnn, fa1;
    OK(read_text(&npu, HOPPER KERNELS, e));
    assert_true(npu.n_kernels == 2 && npu.kernels[0].kernel == TOPO_CUDNN);
    assert_close(npu.flash, 3.5 / (1 / 600.0 + 2.5 / 500) / 1000, 1e-15);
    assert_true(topo_npu_find_kernel(&cudnn, &npu, TOPO_CUDNN) && topo_npu_find_kernel(&fa1, &npu, TOPO_FA1));
    assert_false(topo_npu_find_kernel(&cudnn, &npu, TOPO_FA3));
    /* One tile an SM: 1/(1 + 0.5); 250 keys of 1000: 1/1.25. */
    struct topo_npu_heads heads = { 25600, 1000, 128, 128, false };
    assert_close(topo_npu_attention_rate(&npu, &cudnn, TOPO_FORWARD, &heads), 600e12 / 1.5 / 1.25, 1e-15);
    assert_close(topo_npu_attention_rate(&npu, &cudnn, TOPO_BACKWARD, &heads), 500e12 / 1.25, 1e-15);
    assert_close(topo_npu_attention_rate(&npu, &fa1, TOPO_FORWARD, &heads), 0.6 * 300e12, 1e-15);
    heads.fp8 = true;
    assert_close(topo_npu_attention_rate(&npu, &cudnn, TOPO_FORWARD, &heads), 1200e12 / 1.5 / 1.25, 1e-15);
    assert_close(topo_npu_attention_rate(&npu, &cudnn, TOPO_BACKWARD, &heads), 500e12 / 1.25, 1e-15);
    heads = (struct topo_npu_heads){ 25600, 1000, 192, 128, false };
    assert_close(topo_npu_attention_rate(&npu, &cudnn, TOPO_FORWARD, &heads), 450e12 / 1.25 / 1.25, 1e-15);
    assert_close(topo_npu_attention_rate(&npu, &cudnn, TOPO_BACKWARD, &heads), 500e12 / 1.25, 1e-15);
    heads = (struct topo_npu_heads){ 25600, 1000, 64, 64, false };
    assert_close(topo_npu_attention_rate(&npu, &cudnn, TOPO_FORWARD, &heads), 480e12 / 1.5 / 1.25, 1e-15);
    assert_close(topo_npu_attention_rate(&npu, &fa1, TOPO_FORWARD, &heads), 0.6 * 300e12, 1e-15);
    OK(read_text(&npu, "peak_TFLOPS: 1\n", e));
    assert_false(topo_npu_find_kernel(&fa1, &npu, TOPO_FA1));
}

#define ROW "{ kernel: fa2, forward_TFLOPS: 1, backward_TFLOPS: 1 }"

TEST(faults_of_precisions_power_and_kernels_are_named)
{
    static const struct refusal cases[] = {
        { "peak_8bit_TFLOPS: 0", ERR_RANGE, "peak_8bit_TFLOPS is 0, expected" },
        { "fp8_share: 1.1", ERR_RANGE, "fp8_share is 1.1, expected 0 to 1" },
        { "sms: 0", ERR_RANGE, "sms is 0, expected 1 to" },
        { "group_half_out: -1", ERR_RANGE, "group_half_out is -1, expected 0 to" },
        { "power_W: 300", ERR_PARSE, "npu.yaml:1:1: power_W is a limit below watt; give watt" },
        { "{ watt: 400, power_W: 401 }", ERR_RANGE,
          "power_W is 401, expected more than 150 and at most 400" },
        { "{ watt: 400, power_W: 150 }", ERR_RANGE, "power_W is 150, expected more than 150" },
        { "attention_kernels: []", ERR_RANGE, "attention_kernels has 0 kernels, expected 1 to 6" },
        { "attention_kernels: [ { kernel: fa2, forward_TFLOPS: 1 } ]", ERR_PARSE, "backward_TFLOPS" },
        { "attention_kernels: [ { kernel: fa4, forward_TFLOPS: 1, backward_TFLOPS: 1 } ]", ERR_PARSE,
          "kernel is fa4, expected one of fa1, fa2, fa3, cudnn" },
        { "attention_kernels: [ " ROW ", " ROW " ]", ERR_PARSE,
          "attention_kernels[1].kernel is fa2 twice, expected once" },
        { "flash_efficiency: 0.5\nattention_kernels: [ " ROW " ]", ERR_PARSE,
          "npu.yaml:1:1: flash_efficiency is given together with attention_kernels; give one of them" },
        { "attention_kernels: [ { kernel: fa2, forward_TFLOPS: 1, backward_TFLOPS: 1, half_tiles_backward: 1 "
          "} ]",
          ERR_PARSE, "attention_kernels[0] counts tiles by SM; give npu.sms" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_npu npu;
        FAILS(read_text(&npu, cases[i].text, e), cases[i].code, cases[i].message);
    }
}

/* Data sheets: dense bf16 (V100: fp16) TFLOP/s, memory that the device offers [GB], GB/s, W. */
TEST(presets_carry_the_figures_of_their_data_sheets)
{
    static const struct {
        const char *name;
        double tflops, mem_GB, mem_GBps, watt;
    } cases[] = {
        { "a100-80gb", 312, 85.9, 2039, 400 },  { "a100-40gb", 312, 42.95, 1555, 400 },
        { "h100-80gb", 989, 85.52, 3350, 700 }, { "h100-96gb-500w", 989, 102, 2400, 700 },
        { "h800", 989, 85.52, 3350, 700 },      { "h200", 989, 150.75, 4800, 700 },
        { "b200", 2250, 192.27, 8000, 1000 },   { "b300", 2250, 288.4, 8000, 1100 },
        { "gb200", 2500, 198.7, 8000, 1200 },   { "gb300", 2500, 298, 8000, 1400 },
        { "mi300x", 1307, 206.14, 5300, 750 },  { "mi325x", 1307, 274.9, 6000, 1000 },
        { "mi355x", 2500, 309.2, 8000, 1400 },  { "v100-32gb", 125, 32, 900, 300 },
        { "tpu-v4", 275, 34.36, 1200, 192 },    { "tpu-v5p", 459, 102, 2765, NAN },
        { "tpu-v7", 2307, 206.2, 7380, NAN },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_npu npu = fixture_npu(cases[i].name);
        assert_close(npu.peak_flops, cases[i].tflops * 1e12, 1e-15);
        assert_close(npu.mem_B, cases[i].mem_GB * 1e9, 1e-15);
        assert_close(npu.mem_Bps, cases[i].mem_GBps * 1e9, 1e-15);
        assert_true(isnan(cases[i].watt) ? isnan(npu.watt) : npu.watt == cases[i].watt);
        /* Lower precision is faster where it is there at all, and never beyond its own data sheet. */
        for (enum topo_precision q = TOPO_FP8; q < N_TOPO_PRECISIONS; q++)
            assert_true(isnan(topo_npu_ceiling(&npu, q)) ||
                        topo_npu_ceiling(&npu, q) > 1.5 * topo_npu_ceiling(&npu, TOPO_BF16));
        assert_true(npu.matrix_efficiency < 1 && npu.flash < npu.matrix_efficiency && npu.mem_efficiency < 1);
    }
}
