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

/* Data sheets: dense bf16 (V100: fp16) TFLOP/s, GB, GB/s, W. */
TEST(presets_carry_the_figures_of_their_data_sheets)
{
    static const struct {
        const char *name;
        double tflops, mem_GB, mem_GBps, watt;
    } cases[] = {
        { "a100-80gb", 312, 80, 2039, 400 }, { "h100-80gb", 989, 80, 3350, 700 },
        { "h200", 989, 141, 4800, 700 },     { "b200", 2250, 180, 8000, 1000 },
        { "mi300x", 1307, 192, 5300, 750 },  { "v100-32gb", 125, 32, 900, 300 },
        { "tpu-v4", 275, 34.36, 1200, 192 }, /* 32 GiB */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_npu npu = fixture_npu(cases[i].name);
        assert_close(npu.peak_flops, cases[i].tflops * 1e12, 1e-15);
        assert_close(npu.mem_B, cases[i].mem_GB * 1e9, 1e-15);
        assert_close(npu.mem_Bps, cases[i].mem_GBps * 1e9, 1e-15);
        assert_true(npu.watt == cases[i].watt);
        assert_true(npu.matrix_efficiency < 1 && npu.flash < npu.matrix_efficiency && npu.mem_efficiency < 1);
    }
}
