#include "cli/calibrate_npu.h"

#include <math.h>

#include "base/json.h"
#include "base/sheet.h"
#include "sim/fit_npu.h"

/* The keys that are fitted, as a network file has them. */
struct fitted_key {
    const char *key;
    double value;
    enum fit_operator from;
};

enum { N_KEYS = 7 };

static void list_keys(struct fitted_key keys[N_KEYS], const struct topo_npu *npu)
{
    const struct fitted_key list[N_KEYS] = {
        { "matrix_efficiency", npu->matrix_efficiency, FIT_MATRIX },
        { "matrix_half_out", npu->half_out, FIT_MATRIX },
        { "matrix_half_in", npu->half_in, FIT_MATRIX },
        { "attention_efficiency", npu->attention, FIT_ATTENTION },
        { "flash_efficiency", npu->flash, FIT_FLASH },
        { "mem_efficiency", npu->mem_efficiency, FIT_STREAM },
        { "kernel_ns", npu->kernel_s * 1e9, FIT_STREAM },
    };
    for (int i = 0; i < N_KEYS; i++)
        keys[i] = list[i];
}

static void put_yaml(const struct fit_npu *f, struct text *out)
{
    struct fitted_key keys[N_KEYS];
    list_keys(keys, &f->npu);
    for (int i = 0; i < N_KEYS; i++)
        if (f->kinds[keys[i].from].n)
            text_printf(out, "%s: %.4g\n", keys[i].key, keys[i].value);
}

static int put_text(const struct fit_npu *f, struct text *out, struct err *e)
{
    struct sheet s = { 0 };
    sheet_column(&s, "operator", "", SHEET_LEFT);
    sheet_column(&s, "rows", "", SHEET_POINT);
    sheet_column(&s, "mean error", "%", SHEET_POINT);
    sheet_column(&s, "largest", "%", SHEET_POINT);
    for (int k = 0; k < N_FIT_OPERATORS; k++) {
        if (!f->kinds[k].n)
            continue;
        sheet_put(&s, "%s", fit_operator_words[k]);
        sheet_count(&s, f->kinds[k].n);
        sheet_real(&s, 100 * f->kinds[k].mean_frac, 3);
        sheet_real(&s, 100 * f->kinds[k].max_frac, 3);
    }
    int rc = sheet_write(&s, out, e);
    sheet_free(&s);
    text_puts(out, "\nnpu:\n");
    put_yaml(f, out);
    return rc;
}

static void put_json(const struct fit_npu *f, const struct run *run, struct text *out)
{
    struct fitted_key keys[N_KEYS];
    struct json j = { .out = out };
    list_keys(keys, &f->npu);
    json_open(&j, NULL, '{');
    output_json_head(&j, run, (struct origin){ .known = false });
    json_open(&j, "npu", '{');
    for (int i = 0; i < N_KEYS; i++)
        if (f->kinds[keys[i].from].n)
            json_real(&j, keys[i].key, keys[i].value);
    json_close(&j, '}');
    json_open(&j, "errors", '[');
    for (int k = 0; k < N_FIT_OPERATORS; k++) {
        json_open(&j, NULL, '{');
        json_text(&j, "op", fit_operator_words[k]);
        json_count(&j, "rows", f->kinds[k].n);
        json_real(&j, "mean_frac", f->kinds[k].mean_frac);
        json_real(&j, "max_frac", f->kinds[k].max_frac);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    text_puts(out, "\n");
}

/* What was read and what the fit makes of it; weft calibrate reads it again. */
static void put_table(const struct fit_npu *f, struct table *t)
{
    static const char *const reals[] = { "m",     "n",       "k",        "batch",     "GFLOP",
                                         "bytes", "time_us", "model_us", "error_frac" };
    table_column(t, "op", TABLE_TEXT);
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        table_column(t, reals[i], TABLE_REAL);
    for (int32_t i = 0; i < f->n; i++) {
        const struct fit_row *row = &f->rows[i];
        bool product = row->op == FIT_MATRIX || row->op == FIT_ATTENTION;
        const double sizes[] = { row->m, row->n, row->k, row->batch };
        table_row(t);
        table_put_text(t, fit_operator_words[row->op]);
        for (int k = 0; k < 4; k++)
            table_put_real(t, product ? sizes[k] : NAN);
        table_put_real(t, row->op == FIT_FLASH ? row->flop / 1e9 : NAN);
        table_put_real(t, row->bytes > 0 ? row->bytes : NAN);
        table_put_real(t, row->time_s * 1e6);
        table_put_real(t, row->model_s * 1e6);
        table_put_real(t, row->model_s / row->time_s - 1);
    }
}

static int read_all(struct fit_npu *f, const struct run *run, struct err *e)
{
    struct yaml_doc doc;
    struct table t = { 0 };
    const char *path = run->opt.operands[0];
    int rc = yaml_read_file(&doc, run->opt.npu, e);
    if (rc)
        return rc;
    rc = yaml_need(&doc, doc.root, YAML_MAP, e);
    if (!rc)
        rc = topo_read_npu(&f->npu, &doc, doc.root, e);
    if (!rc)
        rc = table_read_csv(&t, path, e);
    if (!rc)
        rc = fit_npu_read(f, &t, path, e);
    table_free(&t);
    yaml_free(&doc);
    if (!rc && fit_npu(f, e))
        rc = err_wrap(e, "%s", path);
    return rc;
}

int calibrate_npu(const struct run *run, int format, struct err *e)
{
    struct fit_npu f = { .n = 0 };
    struct text out = { 0 };
    struct table t = { 0 };
    int rc = read_all(&f, run, e);
    if (!rc && format == TABLE_AS_CSV) {
        put_table(&f, &t);
        rc = output_table(run, &t, (struct origin){ .known = false }, e);
    } else if (!rc) {
        if (format == TABLE_AS_TEXT)
            rc = put_text(&f, &out, e);
        else if (format == TABLE_AS_JSON)
            put_json(&f, run, &out);
        else
            put_yaml(&f, &out);
        if (!rc)
            rc = output_write(run, &out, e);
    }
    table_free(&t);
    text_free(&out);
    fit_npu_free(&f);
    return rc;
}
