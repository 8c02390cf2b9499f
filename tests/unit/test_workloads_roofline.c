#include "tests/unit/training_fixture.h"
#include "workloads/block.h"

TEST(a_product_has_2mnk_operations)
{
    CASES(struct roofline_product p; double flop) = {
        { { 1, 1, 1, 1 }, 2 },
        { { 2, 3, 5, 7 }, 420 },
        { { 8192, 8192, 8192, 1 }, 1099511627776.0 }, /* 2^40 */
        { { 0.5, 4, 2, 3 }, 24 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_close(roofline_flop(&cases[i].p), cases[i].flop, 1e-15);
}

/* Values of the fit itself, to the digits that were written down with it; the gap of a kernel is in them. */
TEST(the_A100_reaches_what_its_fit_says)
{
    CASES(double m, n, k, efficiency) = {
        { 2048, 2304, 6144, 0.747 },
        { 8192, 2304, 6144, 0.810 },
        { 2048, 6144, 12288, 0.803 },
        { 8192, 8192, 8192, 0.865 },
    };
    struct topo_npu npu = fixture_npu("a100-80gb");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct roofline_product p = { cases[i].m, cases[i].n, cases[i].k, 1 };
        assert_near(roofline_flop(&p) / (npu.peak_flops * roofline_product_s(&npu, &p, 1)),
                    cases[i].efficiency, 6e-4);
    }
}

/* Largest rate measured over all shapes (stas00/ml-engineering@744d01e compute/accelerator); of the B200 what
 * SimuMax@4dcaae5 measured in training, 0.47 to 0.55 of 2250. */
TEST(a_large_square_product_reaches_what_was_measured)
{
    CASES(const char *npu; double tflops, off) = {
        { "a100-80gb", 271.2, 0.01 },
        { "b200", 0.51 * 2250, 0.08 },
    };
    const struct roofline_product square = { 8192, 8192, 8192, 1 };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_npu npu = fixture_npu(cases[i].npu);
        double reached = npu.peak_flops * roofline_efficiency(&npu, &square);
        assert_close(reached, cases[i].tflops * 1e12, cases[i].off);
    }
}

/* One layer's four linear products of 15,872 tokens, all three passes, operands quantised before: sums that
 * NVIDIA/TransformerEngine@d0067d0 docs/examples/gemm_profiling prints, H200 NVL at 600 W and B300. */
TEST(products_of_a_layer_take_what_was_measured_at_each_precision)
{
    CASES(const char *npu; double watt; enum topo_precision precision; double ms, off) = {
        { "h200", 600, TOPO_BF16, 10.632 + 10.747 + 10.530, 0.03 },
        { "h200", 600, TOPO_FP8, 5.577 + 5.661 + 5.547, 0.03 },
        { "b300", 1100, TOPO_BF16, 4.196 + 4.290 + 4.272, 0.03 },
        { "b300", 1100, TOPO_FP8, 2.158 + 2.329 + 2.325, 0.03 },
        { "b300", 1100, TOPO_MXFP8, 2.365 + 2.397 + 2.400, 0.03 },
        { "b300", 1100, TOPO_NVFP4, 1.254 + 1.305 + 1.205, 0.03 },
    };
    static const double shapes[][2] = { { 12288, 4096 }, { 4096, 4096 }, { 16384, 4096 }, { 4096, 16384 } };
    const double tokens = 15872;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_npu npu = fixture_npu(cases[i].npu);
        double time_s = 0;
        npu.power_share = pow((cases[i].watt - 150) / (npu.watt - 150), 0.375);
        for (size_t k = 0; k < COUNT_OF(shapes); k++) {
            double n = shapes[k][0], in = shapes[k][1];
            const struct roofline_product passes[] = { { tokens, n, in, 1 },
                                                       { tokens, in, n, 1 },
                                                       { in, n, tokens, 1 } };
            for (size_t pass = 0; pass < COUNT_OF(passes); pass++)
                time_s += roofline_flop(&passes[pass]) / topo_npu_peak(&npu, cases[i].precision) /
                          roofline_efficiency(&npu, &passes[pass]);
        }
        assert_close(time_s * 1e3, cases[i].ms, cases[i].off);
    }
}

TEST(a_half_size_is_where_half_of_the_rate_is_lost)
{
    WITH(struct topo_npu, npu, fixture_counter(false), npu.matrix_efficiency = 0.8, npu.half_out = 200,
         npu.half_in = 50);
    const double far = 1e15;
    const struct roofline_product cases[] = { { 200, far, far, 1 },
                                              { far, 200, far, 1 },
                                              { far, far, 50, 1 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_close(roofline_efficiency(&npu, &cases[i]), 0.4, 1e-9);
    assert_close(roofline_efficiency(&npu, &(struct roofline_product){ 200, 200, 50, 9 }), 0.1, 1e-12);
}

/* GPT-OSS's width of 2880 takes the time of 3072 on units 256 wide, in each of the sizes. */
TEST(sizes_are_filled_up_to_whole_tiles)
{
    WITH(struct topo_npu, npu, fixture_counter(false), npu.peak_flops = 100e12, npu.matrix_tile = 256);
    const struct roofline_product own = { 2880, 2880, 2880, 3 }, filled = { 3072, 3072, 3072, 3 },
                                  whole = { 512, 1024, 256, 3 };
    assert_close(roofline_product_s(&npu, &own, 1), roofline_flop(&filled) / 100e12, 1e-12);
    assert_close(roofline_product_s(&npu, &whole, 1), roofline_flop(&whole) / 100e12, 1e-12);
    npu.matrix_tile = 1;
    assert_close(roofline_product_s(&npu, &own, 1), roofline_flop(&own) / 100e12, 1e-12);
}

/* The steps of calculon-ai/calculon@caa4b11 systems/a100_80g.json, matrix fp16. */
TEST(sizes_decide_by_the_whole_product)
{
    CASES(double gflop, efficiency) = {
        { 0.001, 0.1 }, { 0.999, 0.1 }, { 1, 0.6 },    { 15.9, 0.6 },
        { 16, 0.9 },    { 127, 0.9 },   { 128, 0.95 }, { 1e6, 0.95 },
    };
    WITH(struct topo_npu, npu, fixture_counter(false), npu.n_sizes = 4);
    npu.sizes[0] = (struct topo_npu_size){ 0, 0.1 };
    npu.sizes[1] = (struct topo_npu_size){ 1e9, 0.6 };
    npu.sizes[2] = (struct topo_npu_size){ 16e9, 0.9 };
    npu.sizes[3] = (struct topo_npu_size){ 128e9, 0.95 };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct roofline_product p = { 1000, 1000, 500, cases[i].gflop };
        assert_true(roofline_efficiency(&npu, &p) == cases[i].efficiency);
    }
    npu.sizes[0].from_flop = 0.5e9; /* the smallest also stands for what is below it */
    assert_true(roofline_efficiency(&npu, &(struct roofline_product){ 1, 1, 1, 1 }) == 0.1);
}

TEST(a_product_takes_the_longer_of_arithmetic_and_memory)
{
    WITH(struct topo_npu, npu, fixture_counter(false), npu.peak_flops = 100e12, npu.mem_Bps = 1e12,
         npu.mem_efficiency = 0.5, npu.matrix_efficiency = 0.8, npu.kernel_s = 4e-6);
    /* 2^31 FLOP in 2^31/80e12 s = 26.8 us; 3 * 2^21 bytes in 12.6 us. */
    const struct roofline_product square = { 1024, 1024, 1024, 1 };
    assert_close(roofline_product_s(&npu, &square, 1), 2147483648.0 / 80e12 + 4e-6, 1e-14);
    assert_close(roofline_product_s(&npu, &square, 0.5), 2147483648.0 / 40e12 + 4e-6, 1e-14);
    /* A matrix and a vector: 2 (2^20 + 2^11) bytes decide. */
    const struct roofline_product vector = { 1024, 1, 1024, 1 };
    assert_close(roofline_product_s(&npu, &vector, 1), 2 * (1048576.0 + 2048) / 0.5e12 + 4e-6, 1e-14);
    /* One kernel, whatever the batch. */
    const struct roofline_product batch = { 1024, 1024, 1024, 10 };
    assert_close(roofline_product_s(&npu, &batch, 1), 21474836480.0 / 80e12 + 4e-6, 1e-14);
}

TEST(a_stream_takes_its_bytes_and_a_gap_per_kernel)
{
    WITH(struct topo_npu, npu, fixture_counter(true), npu.mem_Bps = 2e12, npu.mem_efficiency = 0.8,
         npu.kernel_s = 4e-6);
    assert_close(roofline_stream_s(&npu, 1.6e9, 0), 1e-3, 1e-14);
    assert_close(roofline_stream_s(&npu, 1.6e9, 3), 1e-3 + 12e-6, 1e-14);
    npu.vector_flops = 1.6e12; /* two operations per byte: 2 ms */
    assert_close(roofline_stream_s(&npu, 1.6e9, 1), 2e-3 + 4e-6, 1e-14);
}

TEST(no_preset_is_bound_by_elementwise_arithmetic)
{
    static const char *const npus[] = { "a100-80gb", "a100-40gb", "h100-80gb", "h100-96gb-500w", "h200",
                                        "b200",      "b300",      "gb200",     "gb300",          "mi300x",
                                        "mi325x",    "mi355x",    "v100-32gb", "tpu-v4" };
    for (size_t i = 0; i < COUNT_OF(npus); i++) {
        struct topo_npu endless;
        struct topo_npu npu = fixture_npu(npus[i]);
        endless = npu;
        endless.vector_flops = INFINITY;
        assert_true(roofline_stream_s(&npu, 1e9, 1) == roofline_stream_s(&endless, 1e9, 1));
    }
}

TEST(fused_attention_has_its_own_share_of_the_peak)
{
    WITH(struct topo_npu, npu, fixture_counter(false), npu.peak_flops = 100e12, npu.flash = 0.5,
         npu.mem_Bps = 1e12, npu.mem_efficiency = 0.8, npu.kernel_s = 1e-6);
    assert_close(roofline_flash_s(&npu, 1e12, 1e6), 0.02 + 1e-6, 1e-14);
    assert_close(roofline_flash_s(&npu, 1e6, 1.6e9), 2e-3 + 1e-6, 1e-14);
}
