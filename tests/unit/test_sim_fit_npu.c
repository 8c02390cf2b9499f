#include "tests/support.h"

#include "sim/fit_npu.h"
#include "workloads/block.h"

static struct topo_npu known_npu(void)
{
    struct topo_npu npu;
    topo_npu_defaults(&npu);
    npu.peak_flops = 300e12;
    npu.mem_Bps = 2e12;
    npu.mem_efficiency = 0.75;
    npu.matrix_efficiency = 0.9;
    npu.half_out = 150;
    npu.half_in = 80;
    npu.attention = 0.4;
    npu.flash = 0.55;
    npu.kernel_s = 3e-6;
    return npu;
}

/* A table as if measured on `npu`, every second time `noise` too long and the others too short. */
static void measure(struct table *t, const struct topo_npu *npu, double noise)
{
    static const char *const reals[] = { "m", "n", "k", "batch", "bytes", "GFLOP", "time_us" };
    static const double sides[] = { 128, 512, 2048, 8192 };
    double sign = 1;
    *t = (struct table){ 0 };
    table_column(t, "op", TABLE_TEXT);
    for (size_t i = 0; i < COUNT_OF(reals); i++)
        table_column(t, reals[i], TABLE_REAL);
    for (int i = 0; i < 64 + 64 + 8 + 4; i++, sign = -sign) {
        const struct roofline_product p = { sides[i % 4], sides[i / 4 % 4], sides[i / 16 % 4],
                                            i < 64 ? 1 : 16 };
        bool product = i < 128, flash = i >= 136;
        double bytes = pow(10, 4 + i % 8 * 0.7), flop = 1e11 * (i - 134);
        double time_s = product ? roofline_product_s(npu, &p, i < 64 ? 1 : npu->attention)
                        : flash ? roofline_flash_s(npu, flop, 0)
                                : roofline_stream_s(npu, bytes, 1);
        const double cells[] = { product ? p.m : NAN,
                                 product ? p.n : NAN,
                                 product ? p.k : NAN,
                                 product ? p.batch : NAN,
                                 !product && !flash ? bytes : NAN,
                                 flash ? flop / 1e9 : NAN,
                                 time_s * 1e6 * (1 + sign * noise) };
        table_row(t);
        table_put_text(t, i < 64 ? "matrix" : product ? "attention" : flash ? "flash" : "stream");
        for (size_t k = 0; k < COUNT_OF(cells); k++)
            table_put_real(t, cells[k]);
    }
}

static void fit_all(struct fit_npu *f, const struct table *t)
{
    topo_npu_defaults(&f->npu);
    f->npu.peak_flops = 300e12;
    f->npu.mem_Bps = 2e12;
    MUST(fit_npu_read(f, t, NULL, "ops.csv", e));
    MUST(fit_npu(f, e));
}

/* What is written into a file is what was fitted, each once, in the unit of its key. */
static void assert_keys(const struct fit_npu *f, const char *names)
{
    const struct topo_npu *npu = &f->npu;
    const struct {
        const char *key;
        double value;
    } known[] = {
        { "mem_efficiency", npu->mem_efficiency },
        { "kernel_ns", npu->kernel_s * 1e9 },
        { "matrix_efficiency", npu->matrix_efficiency },
        { "matrix_half_out", npu->half_out },
        { "matrix_half_in", npu->half_in },
        { "fp8_share", npu->share[TOPO_FP8] },
        { "group_half_out", npu->group_half_out },
        { "attention_efficiency", npu->attention },
        { "flash_efficiency", npu->flash },
    };
    KEEP(struct text, got, text_free) = { 0 };
    for (int32_t k = 0; k < f->n_keys; k++) {
        text_printf(&got, "%s%s", k ? " " : "", f->keys[k].key);
        for (size_t i = 0; i < COUNT_OF(known); i++)
            if (strcmp(f->keys[k].key, known[i].key) == 0)
                assert_close(f->keys[k].value, known[i].value, 1e-12);
    }
    assert_string_equal(text_str(&got), names);
}

TEST(times_of_a_known_npu_give_its_efficiencies_back)
{
    KEEP(struct fit_npu, f, fit_npu_free) = { .n = 0 };
    KEEP(struct table, t, table_free);
    struct topo_npu npu = known_npu();
    measure(&t, &npu, 0);
    fit_all(&f, &t);
    assert_close(f.npu.mem_efficiency, npu.mem_efficiency, 1e-3);
    assert_close(f.npu.kernel_s, npu.kernel_s, 1e-3);
    assert_close(f.npu.matrix_efficiency, npu.matrix_efficiency, 1e-3);
    assert_close(f.npu.half_out, npu.half_out, 1e-3);
    assert_close(f.npu.half_in, npu.half_in, 1e-3);
    assert_close(f.npu.attention, npu.attention, 1e-3);
    assert_close(f.npu.flash, npu.flash, 1e-3);
    assert_keys(&f, "mem_efficiency kernel_ns matrix_efficiency matrix_half_out matrix_half_in "
                    "attention_efficiency flash_efficiency");
    assert_int_equal(f.n_kinds, 4);
    for (int32_t k = 0; k < f.n_kinds; k++)
        assert_true(f.kinds[k].max_frac < 1e-3);
    assert_true(f.kinds[1].op == FIT_MATRIX && f.kinds[1].n == 64);
}

TEST(scatter_of_measurements_is_what_errors_say)
{
    KEEP(struct fit_npu, f, fit_npu_free) = { .n = 0 };
    KEEP(struct table, t, table_free);
    struct topo_npu npu = known_npu();
    measure(&t, &npu, 0.05);
    fit_all(&f, &t);
    assert_near(f.npu.matrix_efficiency, npu.matrix_efficiency, 0.05);
    assert_true(f.kinds[1].op == FIT_MATRIX);
    assert_near(f.kinds[1].mean_frac, 0.05, 0.01);
}

TEST(what_has_no_rows_stays_as_given)
{
    KEEP(struct fit_npu, f, fit_npu_free) = { .n = 0 };
    KEEP(struct table, t, table_free) = { 0 };
    struct topo_npu npu = known_npu();
    f.npu = npu;
    table_column(&t, "op", TABLE_TEXT);
    table_column(&t, "bytes", TABLE_REAL);
    table_column(&t, "time_us", TABLE_REAL);
    for (int i = 1; i <= 3; i++) {
        table_row(&t);
        table_put_text(&t, "stream");
        table_put_real(&t, i * 1e8);
        table_put_real(&t, i * 100.0);
    }
    OK(fit_npu_read(&f, &t, NULL, "ops.csv", e));
    OK(fit_npu(&f, e));
    assert_close(f.npu.mem_efficiency, 0.5, 1e-3); /* 1e8 B in 100 us is half of 2 TB/s */
    assert_close(f.npu.matrix_efficiency, npu.matrix_efficiency, 1e-15);
}

TEST(a_bad_table_is_refused_at_its_row)
{
    CASES(const char *csv, *text; int code) = {
        { "op,m,n,k,time_us\nmatix,1,1,1,1\n",
          "x.csv: row 1: op matix, which is no operator of an NPU; expected one of stream, matrix",
          ERR_PARSE },
        { "m,n,k,time_us\n1,1,1,1\n", "row 1: op blank, which is no operator", ERR_PARSE },
        { "op,m,n,k,time_us\nmatrix,1,1,1,1\nmatrix,1,,1,1\n",
          "row 2: n is not given, expected a number above 0", ERR_PARSE },
        { "op,m,n,k,time_us\nmatrix,1,1,1,0\n", "row 1: time_us is 0, expected a number above 0", ERR_PARSE },
        { "op,m,n,k,time_us\nmatrix,1;,1,1,2\n", "row 1: m is 1;, expected a number above 0", ERR_PARSE },
        { "op,m,n,k,time_us\nmatrix,1;2,1;2;3,1,2\n",
          "row 1: m, n and k are lists of 2, 3 and 1 numbers, expected as many of each", ERR_PARSE },
        { "op,bytes,time_us\nstream,-4,1\n", "row 1: bytes is -4, expected a number above 0", ERR_PARSE },
        { "op,bytes,time_us\nstream,1;4,1\n", "row 1: bytes is a list, expected one number", ERR_PARSE },
        { "op,bytes,time_us\nstream,4,1\n", "1 row of stream, expected 2 or more", ERR_RANGE },
        { "op,m,n,k,time_us\ngrouped,1,1,1,1\n", "row 1: groups is not given", ERR_PARSE },
        { "op,heads,seq,time_us\nfused,8,512,1\n", "row 1: head_dim is not given", ERR_PARSE },
        { "op,heads,seq,head_dim,causal,time_us\nfused,8,512,64,maybe,1\n",
          "row 1: causal is maybe, expected 0 or 1", ERR_PARSE },
        { "op,heads,seq,head_dim,time_us\nfused,8,512,128,1\n",
          "rows of fused attention are of a kernel that is not said; give --kernel", ERR_RANGE },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char path[SUPPORT_PATH];
        KEEP(struct table, t, table_free);
        KEEP(struct fit_npu, f, fit_npu_free) = { .n = 0 };
        f.npu = known_npu();
        SCRATCH(dir);
        scratch_file(path, dir, "x.csv", cases[i].csv, strlen(cases[i].csv));
        OK(table_read_csv(&t, path, e));
        int rc = fit_npu_read(&f, &t, NULL, "x.csv", e);
        if (!rc)
            rc = fit_npu(&f, e);
        assert_int_equal(rc, cases[i].code);
        assert_has(e->msg, cases[i].text);
    }
}

TEST(an_npu_without_peaks_is_refused)
{
    struct fit_npu f = { .n = 0 };
    topo_npu_defaults(&f.npu);
    FAILS(fit_npu(&f, e), ERR_RANGE, "NPU has no peak_TFLOPS");
}

/* ---- tables of other layouts ---- */

/* An NPU with all that can be fitted, and the table of its operators as some other tool would write it. */
static struct topo_npu today_npu(void)
{
    struct topo_npu npu = known_npu();
    npu.peak_8bit_flops = 600e12;
    npu.share[TOPO_FP8] = 0.93;
    npu.group_half_out = 180;
    npu.sms = 100;
    npu.n_kernels = 1;
    npu.kernels[0] = (struct topo_npu_attention){
        .kernel = TOPO_CUDNN,
        .flops = { 180e12, 140e12 },
        .half_tiles = { 2, 0.5 },
        .half_seq = 300,
        .low_rank = { 0.75, 0.8 },
        .low_rank_half = { 1, 0.25 },
        .narrow = 0.7,
        .fp8_forward = 1,
    };
    return npu;
}

static void put_gemm(struct text *out, const struct topo_npu *npu, double side, double in,
                     enum topo_precision q)
{
    const struct roofline_product p = { side, 4096, in, 1 };
    double time_s = roofline_precise_s(npu, &p, q, roofline_efficiency(npu, &p), 0);
    text_printf(out, "gemm,fwd,%s,%g,4096,%g,,,,,,,%.17g\n", topo_precision_words[q], side, in,
                roofline_flop(&p) / time_s / 1e12);
}

/* Rows as m, n, k of the forward product, whatever the pass. */
static void put_grouped(struct text *out, const struct topo_npu *npu, double rows, int pass)
{
    const struct roofline_product all[] = { { rows, 2048, 4096, 16 },
                                            { rows, 4096, 2048, 16 },
                                            { 4096, 2048, rows, 16 } };
    const struct roofline_product *p = &all[pass];
    double added_B = pass == 2 ? 6 * p->m * p->n * p->batch : 0;
    double time_s =
        roofline_precise_s(npu, p, TOPO_BF16, roofline_group_efficiency(npu, p, pass == 2), added_B);
    static const char *const words[] = { "fwd", "dgrad", "wgrad" };
    text_printf(out, "grouped_gemm,%s,bf16,%g,2048,4096,16,,,,,,%.17g\n", words[pass], rows,
                roofline_flop(p) / time_s / 1e12);
}

static void put_fused(struct text *out, const struct topo_npu *npu, double heads, double seq, double key_dim,
                      double v_dim, int pass)
{
    const struct topo_npu_heads shape = { heads * seq, seq, key_dim, v_dim, false };
    double flop = heads * seq * seq * (key_dim + v_dim) * (pass ? 2.5 : 1);
    double time_s =
        flop / topo_npu_attention_rate(npu, &npu->kernels[0], (enum topo_pass)pass, &shape) + npu->kernel_s;
    text_printf(out, "attention_%s,,bf16,,,,,%g,%g,%g,%g,1,%.17g\n", pass ? "bwd" : "fwd", heads, seq,
                key_dim, v_dim, flop / time_s / 1e12);
}

static void put_today(struct text *out, const struct topo_npu *npu)
{
    static const double sides[] = { 64, 256, 1024, 4096, 16384 };
    text_puts(out, "kind,pass,precision,M,N,K,groups,heads,seq,head_dim,v_head_dim,causal,rate\n");
    for (size_t i = 0; i < COUNT_OF(sides); i++)
        for (size_t k = 0; k < COUNT_OF(sides); k++) {
            put_gemm(out, npu, sides[i], sides[k], TOPO_BF16);
            put_gemm(out, npu, sides[i], sides[k], TOPO_FP8);
            for (int pass = 0; pass < 2; pass++) {
                put_fused(out, npu, sides[i] / 16, 64 * sides[k] / 16, 128, 128, pass);
                put_fused(out, npu, sides[i] / 16, 4096, 192, 128, pass);
                put_fused(out, npu, 64, sides[k], 64, 64, pass);
            }
        }
    for (size_t i = 0; i < COUNT_OF(sides); i++)
        for (int pass = 0; pass < 3; pass++)
            put_grouped(out, npu, sides[i], pass);
    text_puts(out, "allreduce,,,,,,,,,,,,5\nallreduce,,,,,,,,,,,,6\ngemm,fwd,nvfp4,1,1,1,,,,,,,7\n");
}

static int read_today(struct fit_npu *f, const char *text, const char *names, struct err *e)
{
    char path[SUPPORT_PATH];
    KEEP(struct table, t, table_free);
    struct fit_columns columns = { 0 };
    SCRATCH(dir);
    scratch_file(path, dir, "x.csv", text, strlen(text));
    int rc = table_read_csv(&t, path, e);
    if (!rc)
        rc = fit_columns_take(&columns, names, e);
    if (!rc)
        rc = fit_npu_read(f, &t, &columns, "x.csv", e);
    return rc ? rc : fit_npu(f, e);
}

TEST(a_table_of_any_layout_gives_ceilings_shares_groups_and_kernels_back)
{
    KEEP(struct fit_npu, f, fit_npu_free) = { .n = 0 };
    KEEP(struct text, text, text_free) = { 0 };
    struct topo_npu npu = today_npu();
    put_today(&text, &npu);
    f.npu = npu; /* what is to be fitted is wrong in it */
    f.npu.matrix_efficiency = 0.3;
    f.npu.half_out = f.npu.half_in = f.npu.group_half_out = 7;
    f.npu.share[TOPO_FP8] = 0.5;
    f.npu.kernels[0] = (struct topo_npu_attention){
        .kernel = TOPO_CUDNN, .flops = { 1e12, 1e12 }, .low_rank = { 1, 1 }, .narrow = 1, .fp8_forward = 1
    };
    OK(read_today(&f, text_str(&text), "op=kind,m=M,n=N,k=K,TFLOPS=rate", e));
    assert_close(f.npu.matrix_efficiency, npu.matrix_efficiency, 2e-3);
    assert_close(f.npu.half_out, npu.half_out, 2e-3);
    assert_close(f.npu.half_in, npu.half_in, 2e-3);
    assert_close(f.npu.share[TOPO_FP8], npu.share[TOPO_FP8], 2e-3);
    assert_close(f.npu.group_half_out, npu.group_half_out, 2e-3);
    for (int pass = 0; pass < 2; pass++) {
        const struct topo_npu_attention *got = &f.npu.kernels[0], *want = &npu.kernels[0];
        assert_close(got->flops[pass], want->flops[pass], 2e-3);
        assert_close(got->half_tiles[pass], want->half_tiles[pass], 5e-3);
        assert_close(got->low_rank[pass], want->low_rank[pass], 2e-3);
        assert_close(got->low_rank_half[pass], want->low_rank_half[pass], 1e-2);
    }
    assert_close(f.npu.kernels[0].half_seq, 300, 5e-3);
    assert_close(f.npu.kernels[0].narrow, 0.7, 2e-3);
    assert_keys(&f, "matrix_efficiency matrix_half_out matrix_half_in fp8_share group_half_out");
    static const struct fit_kind kinds[] = {
        { FIT_MATRIX, TOPO_BF16, FIT_FORWARD, FIT_WIDE, 25, 0, 0 },
        { FIT_MATRIX, TOPO_FP8, FIT_FORWARD, FIT_WIDE, 25, 0, 0 },
        { FIT_GROUPED, TOPO_BF16, FIT_FORWARD, FIT_WIDE, 5, 0, 0 },
        { FIT_GROUPED, TOPO_BF16, FIT_BACKWARD, FIT_WIDE, 5, 0, 0 },
        { FIT_GROUPED, TOPO_BF16, FIT_WEIGHT, FIT_WIDE, 5, 0, 0 },
        { FIT_FUSED, TOPO_BF16, FIT_FORWARD, FIT_WIDE, 25, 0, 0 },
        { FIT_FUSED, TOPO_BF16, FIT_BACKWARD, FIT_WIDE, 25, 0, 0 },
        { FIT_FUSED, TOPO_BF16, FIT_FORWARD, FIT_LOW_RANK, 25, 0, 0 },
        { FIT_FUSED, TOPO_BF16, FIT_BACKWARD, FIT_LOW_RANK, 25, 0, 0 },
        { FIT_FUSED, TOPO_BF16, FIT_FORWARD, FIT_NARROW, 25, 0, 0 },
        { FIT_FUSED, TOPO_BF16, FIT_BACKWARD, FIT_NARROW, 25, 0, 0 },
    };
    assert_int_equal(f.n_kinds, COUNT_OF(kinds));
    for (int32_t k = 0; k < f.n_kinds; k++) {
        const struct fit_kind *got = &f.kinds[k], *want = &kinds[k];
        assert_true(got->op == want->op && got->precision == want->precision);
        assert_true(got->pass == want->pass && got->heads == want->heads && got->n == want->n);
        assert_true(got->mean_frac <= got->max_frac && got->max_frac < 5e-3);
    }
    assert_has(text_str(&f.notes), "left out: op allreduce (2 rows)");
    assert_has(text_str(&f.notes), "left out: precision nvfp4, for which the NPU has no peak (1 row)");
    assert_has(text_str(&f.notes), "kept as given: mem_efficiency and kernel_ns (no streams)");
}

/* A row of each word of other tools, in letters of any size: "op,pass,precision,recipe,causal". FLOP by hand:
 * 2 * 2 * 3 * 4 * 5 of products; 2 * 5 * 42 * 5 * 5 * (8 + 9) of a batch of 42
 * heads, half of it causal, 5/2 of it back. */
TEST(each_word_of_a_table_is_read_as_what_it_stands_for)
{
    enum { ONE = 2 * 2 * 3 * 4 * 5, ALL = 2 * 5 * 42 * 5 * 5 * (8 + 9) };
    CASES(const char *words; enum fit_operator op; enum fit_pass pass; enum topo_precision precision;
          double flop) = {
        { "stream,,,,", FIT_STREAM, FIT_FORWARD, TOPO_BF16, 0 },
        { "Triad,,,,", FIT_STREAM, FIT_FORWARD, TOPO_BF16, 0 },
        { "copy,,,,", FIT_STREAM, FIT_FORWARD, TOPO_BF16, 0 },
        { "elementwise,,,,", FIT_STREAM, FIT_FORWARD, TOPO_BF16, 0 },
        { "matrix,forward,bf16,,", FIT_MATRIX, FIT_FORWARD, TOPO_BF16, ONE },
        { "GEMM,fwd,fp16,,", FIT_MATRIX, FIT_FORWARD, TOPO_BF16, ONE },
        { "matmul,backward,fp8,,", FIT_MATRIX, FIT_BACKWARD, TOPO_FP8, ONE },
        { "linear,bwd,mxfp8,,", FIT_MATRIX, FIT_BACKWARD, TOPO_MXFP8, ONE },
        { "matrix,dgrad,fp8,MXFP8,", FIT_MATRIX, FIT_BACKWARD, TOPO_MXFP8, ONE },
        { "matrix,input,fp8,delayed,", FIT_MATRIX, FIT_BACKWARD, TOPO_FP8, ONE },
        { "grouped,weight,fp4,mxfp8,", FIT_GROUPED, FIT_WEIGHT, TOPO_NVFP4, ONE / 5 * 10 },
        { "grouped_gemm,WGRAD,nvfp4,,", FIT_GROUPED, FIT_WEIGHT, TOPO_NVFP4, ONE / 5 * 10 },
        { "group_gemm,,,,", FIT_GROUPED, FIT_FORWARD, TOPO_BF16, ONE / 5 * 10 },
        { "attention,,,,", FIT_ATTENTION, FIT_FORWARD, TOPO_BF16, ONE },
        { "flash,,,,", FIT_FLASH, FIT_FORWARD, TOPO_BF16, 3e9 },
        { "fused,,,,", FIT_FUSED, FIT_FORWARD, TOPO_BF16, ALL / 2 },
        { "sdpa,,,,1", FIT_FUSED, FIT_FORWARD, TOPO_BF16, ALL / 2 },
        { "attention_fwd,,,,true", FIT_FUSED, FIT_FORWARD, TOPO_BF16, ALL / 2 },
        { "Attention_Bwd,,,,yes", FIT_FUSED, FIT_BACKWARD, TOPO_BF16, ALL / 2 * 2.5 },
        { "attention_bwd,forward,,,causal", FIT_FUSED, FIT_FORWARD, TOPO_BF16, ALL / 2 },
        { "flash_attention,bwd,,,0", FIT_FUSED, FIT_BACKWARD, TOPO_BF16, ALL * 2.5 },
        { "fused,,,,False", FIT_FUSED, FIT_FORWARD, TOPO_BF16, ALL },
        { "fused,,fp8,,no", FIT_FUSED, FIT_FORWARD, TOPO_FP8, ALL },
    };
    char path[SUPPORT_PATH];
    KEEP(struct fit_npu, f, fit_npu_free) = { .n = 0 };
    KEEP(struct table, t, table_free);
    KEEP(struct text, text, text_free) = { 0 };
    SCRATCH(dir);
    text_puts(&text, "op,pass,precision,recipe,causal,m,n,k,batch,groups,heads,seq,head_dim,v_head_dim,bytes,"
                     "GFLOP,time_us\n");
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        text_printf(&text, "%s,2,3,4,5,10,%d,%d,8,9,11,3,%d\n", cases[i].words, 42, 5, (int)i + 1);
    scratch_file(path, dir, "x.csv", text_str(&text), text.n);
    OK(table_read_csv(&t, path, e));
    f.npu = today_npu();
    f.npu.peak_4bit_flops = 1200e12;
    OK(fit_npu_read(&f, &t, NULL, "x.csv", e));
    assert_int_equal(f.n, COUNT_OF(cases));
    for (int32_t i = 0; i < f.n; i++) {
        const struct fit_row *row = &f.rows[i];
        if (row->op != cases[i].op || row->pass != cases[i].pass || row->precision != cases[i].precision)
            fail_msg("%s: %d %d %d", cases[i].words, (int)row->op, (int)row->pass, (int)row->precision);
        assert_close(row->flop, cases[i].flop, 1e-12);
        assert_true(row->bytes == (row->op == FIT_STREAM || row->op == FIT_FLASH ? 11 : 0));
        assert_close(row->time_s, 1e-6 * (i + 1), 1e-12);
        assert_true(row->heads.fp8 == (row->op == FIT_FUSED && row->precision == TOPO_FP8));
    }
}

TEST(a_row_may_be_the_sum_of_several_products)
{
    KEEP(struct fit_npu, f, fit_npu_free) = { .n = 0 };
    struct topo_npu npu = known_npu();
    const struct roofline_product one = { 4096, 8192, 1024, 1 }, two = { 4096, 1024, 8192, 1 };
    double ms = 1e3 * (roofline_product_s(&npu, &one, 1) + roofline_product_s(&npu, &two, 1));
    char text[256];
    snprintf(text, sizeof text, "op,m,n,k,time_us\nmatrix,4096,8192;1024,1024;8192,%.17g\n", ms * 1e3);
    f.npu = npu;
    f.npu.matrix_efficiency = 0.1;
    OK(read_today(&f, text, "", e));
    assert_close(f.npu.matrix_efficiency, npu.matrix_efficiency, 1e-3);
    /* Half sizes cannot be told from one row: as given, and it is said. */
    assert_true(f.npu.half_out == npu.half_out && f.npu.half_in == npu.half_in);
    assert_has(text_str(&f.notes), "kept as given: matrix_half_out, 150: 1 row, 6 tell");
}

TEST(products_that_do_not_depend_on_size_get_no_half_size)
{
    KEEP(struct fit_npu, f, fit_npu_free) = { .n = 0 };
    KEEP(struct text, text, text_free) = { 0 };
    WITH(struct topo_npu, npu, today_npu(), npu.half_out = 0, npu.half_in = 0, npu.kernel_s = 0);
    double off = 1.01;
    text_puts(&text, "op,m,n,k,TFLOPS\n");
    for (double m = 512; m < 20000; m *= 2)
        for (double k = 512; k < 20000; k *= 2, off = 2 - off)
            text_printf(&text, "matrix,%g,8192,%g,%.17g\n", m, k, 270 * off);
    f.npu = npu;
    OK(read_today(&f, text_str(&text), "", e));
    assert_near(f.npu.matrix_efficiency, 0.9, 0.01);
    assert_true(f.npu.half_out == 0 && f.npu.half_in == 0);
    assert_has(text_str(&f.notes), "not seen: matrix_half_in, so 0: sizes span a factor of 32");
}

TEST(a_table_that_is_faster_than_the_peak_is_said_to_be)
{
    KEEP(struct fit_npu, f, fit_npu_free) = { .n = 0 };
    f.npu = known_npu();
    OK(read_today(&f, "op,m,n,k,TFLOPS\nmatrix,8192,8192,8192,400\n", "", e));
    assert_close(f.npu.matrix_efficiency, 1, 1e-3);
    assert_has(text_str(&f.notes), "at its limit: matrix_efficiency, 1: the rows are faster");
}

TEST(columns_that_are_not_there_are_named)
{
    CASES(const char *names, *message) = {
        { "op", "option --column is \"op\", expected NAME=COLUMN" },
        { "=x", "option --column is \"=x\", expected NAME=COLUMN" },
        { "op=kind,m=", "option --column is \"m=\", expected NAME=COLUMN" },
        { "ops=kind", "option --column names \"ops\", which no operator has; did you mean op?" },
        { "op=knd", "option --column: x.csv has no column \"knd\"; did you mean kind?" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct fit_npu, f, fit_npu_free) = { .n = 0 };
        f.npu = known_npu();
        FAILS(read_today(&f, "kind,m,n,k,time_us\nmatrix,1,1,1,1\n", cases[i].names, e), ERR_USAGE,
              cases[i].message);
    }
}

TEST(a_columns_name_has_a_longest_length)
{
    char names[FIT_COLUMN_NAME + 8];
    for (int n = FIT_COLUMN_NAME - 1; n <= FIT_COLUMN_NAME; n++) {
        KEEP(struct fit_npu, f, fit_npu_free) = { .n = 0 };
        f.npu = known_npu();
        snprintf(names, sizeof names, "op=%0*d", n, 0);
        FAILS(read_today(&f, "kind,m,n,k,time_us\nmatrix,1,1,1,1\n", names, e), ERR_USAGE,
              n < FIT_COLUMN_NAME ? "x.csv has no column \"000" : "expected NAME=COLUMN");
    }
}
