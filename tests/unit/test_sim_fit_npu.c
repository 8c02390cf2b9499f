#include "tests/support.h"

#include "sim/fit.h"
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
    MUST(fit_npu_read(f, t, "ops.csv", e));
    MUST(fit_npu(f, e));
}

TEST(times_of_a_known_npu_give_its_efficiencies_back)
{
    KEEP(struct fit_npu, f, fit_npu_free);
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
    for (int k = 0; k < N_FIT_OPERATORS; k++)
        assert_true(f.kinds[k].max_frac < 1e-3);
    assert_int_equal(f.kinds[FIT_MATRIX].n, 64);
}

TEST(scatter_of_measurements_is_what_errors_say)
{
    KEEP(struct fit_npu, f, fit_npu_free);
    KEEP(struct table, t, table_free);
    struct topo_npu npu = known_npu();
    measure(&t, &npu, 0.05);
    fit_all(&f, &t);
    assert_near(f.npu.matrix_efficiency, npu.matrix_efficiency, 0.05);
    assert_near(f.kinds[FIT_MATRIX].mean_frac, 0.05, 0.01);
}

TEST(what_has_no_rows_stays_as_given)
{
    KEEP(struct fit_npu, f, fit_npu_free);
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
    OK(fit_npu_read(&f, &t, "ops.csv", e));
    OK(fit_npu(&f, e));
    assert_close(f.npu.mem_efficiency, 0.5, 1e-3); /* 1e8 B in 100 us is half of 2 TB/s */
    assert_close(f.npu.matrix_efficiency, npu.matrix_efficiency, 1e-15);
}

TEST(a_bad_table_is_refused_at_its_row)
{
    CASES(const char *csv, *text; int code) = {
        { "op,m,n,k,time_us\nmatmul,1,1,1,1\n", "x.csv: row 1: op is matmul, expected stream, matrix",
          ERR_PARSE },
        { "m,n,k,time_us\n1,1,1,1\n", "row 1: op is not given", ERR_PARSE },
        { "op,m,n,k,time_us\nmatrix,1,1,1,1\nmatrix,1,,1,1\n",
          "row 2: n is not given, expected a number above 0", ERR_PARSE },
        { "op,m,n,k,time_us\nmatrix,1,1,1,0\n", "row 1: time_us is 0 or less", ERR_PARSE },
        { "op,bytes,time_us\nstream,-4,1\n", "row 1: bytes is 0 or less", ERR_PARSE },
        { "op,m,n,k,time_us\nmatrix,1,1,1,1\nmatrix,9,9,9,1\n", "2 rows of matrix, expected 3 or more",
          ERR_RANGE },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char path[SUPPORT_PATH];
        KEEP(struct table, t, table_free);
        KEEP(struct fit_npu, f, fit_npu_free);
        f.npu = known_npu();
        SCRATCH(dir);
        scratch_file(path, dir, "x.csv", cases[i].csv, strlen(cases[i].csv));
        OK(table_read_csv(&t, path, e));
        int rc = fit_npu_read(&f, &t, "x.csv", e);
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
