#include "cli/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/sheet.h"

void calibration_free(struct calibration *x)
{
    for (int32_t i = 0; i < x->n; i++)
        fit_free(&x->items[i].fit);
    free(x->items);
    for (size_t i = 0; i < sizeof x->lists / sizeof *x->lists; i++)
        curve_list_free(&x->lists[i]);
    *x = (struct calibration){ 0 };
}

static double busbw_GBps(const struct curve *c, int32_t i, double time_s)
{
    return c->bytes[i] * curve_bus_factor(c->collective, c->ranks) / time_s / 1e9;
}

static double error_frac(const struct calibrated *item, int32_t i)
{
    return item->fit.model_s[i] / item->curve->time_s[i] - 1;
}

/* From 1, by growing size: limits grow from one to the next. */
static int32_t regime_at(const struct topo_dim *dim, double bytes)
{
    int32_t r = 0;
    while (r < dim->n_regimes && bytes > dim->regimes[r].up_to_B)
        r++;
    return r + 1;
}

/* ---- YAML ---- */

/* Text of a file name or curve for a comment: one line, no control characters. */
static void put_plain(struct text *out, const char *s)
{
    for (; *s; s++)
        text_add(out, (unsigned char)*s < 0x20 || *s == 0x7f ? "?" : s, 1);
}

static void put_errors(struct text *out, const char *where, const struct fit_errors *errors)
{
    if (errors->n > 0)
        text_printf(out, "%s: mean error %.1f %%, largest %.1f %% (%d point%s)", where,
                    100 * errors->mean_frac, 100 * errors->max_frac, (int)errors->n,
                    errors->n == 1 ? "" : "s");
}

static void put_comments(struct text *out, const struct calibrated *item)
{
    const struct fit *f = &item->fit;
    text_puts(out, "# measured: ");
    put_plain(out, item->path);
    text_printf(out, " (hash %016llx), ", item->hash);
    if (*item->curve->name) {
        put_plain(out, item->curve->name);
        text_puts(out, ", ");
    }
    text_printf(out, "%s among %d ranks, %d points\n# ", collective_names[item->curve->collective],
                (int)item->curve->ranks, (int)f->n);
    put_errors(out, "from 1 MiB", &f->large);
    text_puts(out, f->large.n > 0 && f->small.n > 0 ? "; " : "");
    put_errors(out, "below 1 MiB", &f->small);
    text_puts(out, "\n");
}

void calibrate_yaml(const struct calibration *x, struct text *out)
{
    for (int32_t i = 0; i < x->n; i++) {
        put_comments(out, &x->items[i]);
        fit_format_dim(out, &x->items[i].fit.dim);
    }
}

/* ---- text ---- */

static int put_sheet(struct text *out, const struct calibrated *item, struct err *e)
{
    struct sheet s = { 0 };
    sheet_column(&s, "size", "B", SHEET_POINT);
    sheet_column(&s, "measured", "us", SHEET_POINT);
    sheet_column(&s, "model", "us", SHEET_POINT);
    sheet_column(&s, "error", "%", SHEET_POINT);
    sheet_column(&s, "measured bus", "GB/s", SHEET_POINT);
    sheet_column(&s, "model bus", "GB/s", SHEET_POINT);
    for (int32_t i = 0; i < item->fit.n; i++) {
        double measured_s = item->curve->time_s[i], model_s = item->fit.model_s[i];
        sheet_real(&s, item->curve->bytes[i], 12);
        sheet_real(&s, measured_s * 1e6, 5);
        sheet_real(&s, model_s * 1e6, 5);
        sheet_put(&s, "%+.1f", 100 * error_frac(item, i));
        sheet_real(&s, busbw_GBps(item->curve, i, measured_s), 4);
        sheet_real(&s, busbw_GBps(item->curve, i, model_s), 4);
    }
    int rc = sheet_write(&s, out, e);
    sheet_free(&s);
    return rc;
}

int calibrate_text(const struct calibration *x, struct text *out, struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < x->n && !rc; i++) {
        const struct calibrated *item = &x->items[i];
        text_puts(out, i > 0 ? "\n" : "");
        if (x->n > 1)
            text_printf(out, "curve %d\n", (int)i + 1);
        rc = put_sheet(out, item, e);
        text_puts(out, "\n");
        put_comments(out, item);
        fit_format_dim(out, &item->fit.dim);
    }
    return rc;
}

/* ---- JSON and CSV ---- */

static void json_errors(struct json *j, const char *key, const struct fit_errors *errors)
{
    json_open(j, key, '{');
    json_count(j, "points", errors->n);
    json_real(j, "mean_frac", errors->n ? errors->mean_frac : (double)NAN);
    json_real(j, "max_frac", errors->n ? errors->max_frac : (double)NAN);
    json_close(j, '}');
}

static void json_regime(struct json *j, double lat_s, double efficiency, double up_to_B)
{
    json_open(j, NULL, '{');
    json_real(j, "lat_s", lat_s);
    json_real(j, "efficiency", efficiency);
    json_real(j, "up_to_B", up_to_B);
    json_close(j, '}');
}

static void json_dim(struct json *j, const struct topo_dim *dim)
{
    json_open(j, "dim", '{');
    json_text(j, "name", dim->name);
    json_text(j, "shape", topo_shape_name(dim->shape));
    json_count(j, "size", dim->size);
    json_text(j, "algorithm", topo_algorithm_words[dim->algorithm]);
    json_text(j, "in_switch", topo_in_switch_words[dim->in_switch]);
    json_real(j, "bw_Bps", dim->bw_Bps);
    json_open(j, "regimes", '[');
    for (int32_t r = 0; r < dim->n_regimes; r++)
        json_regime(j, dim->regimes[r].lat_s, dim->regimes[r].efficiency, dim->regimes[r].up_to_B);
    json_regime(j, dim->lat_s, dim->efficiency, (double)NAN);
    json_close(j, ']');
    json_close(j, '}');
}

static void json_item(struct json *j, const struct calibrated *item)
{
    char hash[20];
    const struct fit *f = &item->fit;
    snprintf(hash, sizeof hash, "%016llx", item->hash);
    json_open(j, NULL, '{');
    json_text(j, "file", item->path);
    json_text(j, "hash", hash);
    json_text(j, "curve", item->curve->name);
    json_text(j, "collective", collective_names[item->curve->collective]);
    json_count(j, "ranks", item->curve->ranks);
    json_errors(j, "from_1MiB", &f->large);
    json_errors(j, "below_1MiB", &f->small);
    json_dim(j, &f->dim);
    json_open(j, "points", '[');
    for (int32_t i = 0; i < f->n; i++) {
        json_open(j, NULL, '{');
        json_real(j, "bytes", item->curve->bytes[i]);
        json_real(j, "time_s", item->curve->time_s[i]);
        json_real(j, "model_s", f->model_s[i]);
        json_real(j, "error_frac", error_frac(item, i));
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

void calibrate_json(const struct calibration *x, const struct run *run, struct text *out)
{
    struct json j = { .out = out };
    json_open(&j, NULL, '{');
    output_json_head(&j, run, (struct origin){ .known = false });
    json_open(&j, "curves", '[');
    for (int32_t i = 0; i < x->n; i++)
        json_item(&j, &x->items[i]);
    json_close(&j, ']');
    json_close(&j, '}');
    text_puts(out, "\n");
}

void calibrate_table(const struct calibration *x, struct table *t)
{
    static const char *const reals[] = { "bytes",      "time_us",    "model_us",
                                         "error_frac", "busbw_GBps", "model_busbw_GBps" };
    table_column(t, "file", TABLE_TEXT);
    table_column(t, "curve", TABLE_TEXT);
    table_column(t, "collective", TABLE_TEXT);
    table_column(t, "ranks", TABLE_COUNT);
    table_column(t, "regime", TABLE_COUNT);
    for (size_t k = 0; k < sizeof reals / sizeof *reals; k++)
        table_column(t, reals[k], TABLE_REAL);
    for (int32_t n = 0; n < x->n; n++) {
        const struct calibrated *item = &x->items[n];
        const struct curve *c = item->curve;
        for (int32_t i = 0; i < c->n; i++) {
            double model_s = item->fit.model_s[i];
            const double values[] = { c->bytes[i],
                                      c->time_s[i] * 1e6,
                                      model_s * 1e6,
                                      error_frac(item, i),
                                      busbw_GBps(c, i, c->time_s[i]),
                                      busbw_GBps(c, i, model_s) };
            table_row(t);
            table_put_text(t, item->path);
            table_put_text(t, c->name);
            table_put_text(t, collective_names[c->collective]);
            table_put_count(t, c->ranks);
            table_put_count(t, regime_at(&item->fit.dim, c->bytes[i]));
            for (size_t k = 0; k < sizeof values / sizeof *values; k++)
                table_put_real(t, values[k]);
        }
    }
}
