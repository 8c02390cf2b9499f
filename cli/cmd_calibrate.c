/*
 * Latency and efficiency of a dimension from measured collectives, and efficiencies of an NPU from measured
 * operators: the fits are in sim/fit; here they are read, told what is asked, and shown as a table of errors
 * with the YAML to paste, as JSON, as a row a point, or as YAML alone. The YAML names the file it came from
 * with its hash, so that a fitted number can be traced to its measurements.
 *
 * Curves and rows are borrowed from what was read, which lives as long as the command. Files are hashed as
 * they are, byte for byte: a comment that changes makes another hash.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/catalogue.h"
#include "base/vec.h"
#include "base/num.h"
#include "cli/calibrate_steps.h"
#include "cli/filters.h"
#include "cli/output.h"
#include "sim/fit.h"
#include "sim/fit_npu.h"

/* One curve and the dimension that was fitted to it. */
struct calibrated {
    const struct curve *curve; /* borrowed */
    const char *path;          /* of its file, borrowed */
    unsigned long long hash;   /* of the bytes of that file */
    struct fit fit;            /* owned */
};

enum { CALIBRATE_MAX_FILES = 8 };

struct calibration {
    struct curve_list lists[CALIBRATE_MAX_FILES]; /* by file, owned */
    struct calibrated *items;                     /* shape [n], owned; in the order of files and curves */
    int32_t n, cap;
};

/* YAML comes after the formats of tables. */
enum { FORMAT_YAML = TABLE_AS_JSON + 1 };

static const char *const format_words[] = { "text", "csv", "json", "yaml", NULL };

static const struct option dim_rows[] = {
    TEXT_OPTION("name", "NAME", dim_name, "name of the dimension (default: node)"),
    WORD_OPTION("shape", "SHAPE", shape, topo_plain_words, "ring, full, switch or line; without it switch"),
    COUNT_OPTION("size", "N", size, TOPO_MIN_SIZE, TOPO_MAX_SIZE,
                 "members of the dimension (default: the ranks of the curve)"),
    WORD_OPTION("algorithm", "WORD", algorithm, topo_algorithm_words,
                "how its members carry out collectives, see weft keys dims"),
    WORD_OPTION("in-switch", "WORD", in_switch, topo_in_switch_words, "none, sharp or nvls"),
    TEXT_OPTION("bw-GBps", "GBPS", bw_GBps,
                "bandwidth its links have (default: the rate that large sizes approach)"),
};

static const struct option curve_rows[] = {
    WORD_OPTION("collective", "WORD", collective, collective_names, "where the file does not say"),
    COUNT_OPTION("ranks", "N", ranks, 2, CURVE_MAX_RANKS, "where the file does not say"),
    COUNT_OPTION("curve", "N", curve, 1, CURVE_MAX_CURVES,
                 "use only this curve of those in the files, counted from 1"),
    FLAG_OPTION("curves", curves,
                "write all curves as rows of dims.curves, by collective and ranks; needs --bw-GBps"),
    COUNT_OPTION("regimes", "N", regimes, 1, FIT_MAX_REGIMES, "most regimes (default: 9)"),
    REAL_OPTION("scatter", "PERCENT", scatter_percent, 0.01, 100,
                "scatter of repeated measurements, where known (default: as the curve shows)"),
    COUNT_OPTION("seed", "N", seed, 1, INT64_MAX, "of the draws behind ranges (default: 1)"),
};

static const struct option npu_rows[] = {
    TEXT_OPTION("npu", "NPU.yaml", npu,
                "FILE.csv has times of operators: fit the efficiencies of this NPU to them",
                .catalogue = "npus"),
    LIST_OPTION(
        "column", "NAME=COLUMN,..", columns,
        "what the table calls op, pass, precision, recipe, m, n, k, batch, groups, heads, seq, head_dim, "
        "v_head_dim, causal, bytes, GFLOP, time_us or TFLOPS"),
    OPTION_WHERE,
    WORD_OPTION("kernel", "WORD", kernel, topo_kernel_words,
                "what ran the fused attention: fa1, fa2, fa3 or cudnn (default: the NPU's first)"),
    REAL_OPTION("power-W", "W", power_W, 0, 1e9,
                "power limit that the operators ran under (default: npu.power_W, else npu.watt)"),
};

static const struct option format_rows[] = {
    WORD_OPTION("of", "FORMAT", format, format_words,
                "text, csv, json or yaml (default: by the extension of -o, else text)"),
};

static const struct option_group dim_options = OPTION_GROUP("Dimension", dim_rows);
static const struct option_group curve_options = OPTION_GROUP("Measurements", curve_rows);
static const struct option_group npu_options = OPTION_GROUP("Operators", npu_rows);
static const struct option_group format_options = OPTION_GROUP("Output", format_rows);

/* ---- what is fitted ---- */

static void calibration_free(struct calibration *x)
{
    for (int32_t i = 0; i < x->n; i++)
        fit_free(&x->items[i].fit);
    free(x->items);
    for (size_t i = 0; i < sizeof x->lists / sizeof *x->lists; i++)
        curve_list_free(&x->lists[i]);
    *x = (struct calibration){ 0 };
}

/* The rule of names in a network file, as the result is pasted into one. */
static int set_name(struct topo_dim *dim, const char *name, struct err *e)
{
    size_t n = strlen(name);
    bool fits = n > 0 && n < sizeof dim->name && (isalpha((unsigned char)*name) || *name == '_');
    for (const char *s = name; *s && fits; s++)
        fits = isalnum((unsigned char)*s) || *s == '_' || *s == '-';
    if (!fits)
        return err_set(e, ERR_USAGE,
                       "option --name is \"%.60s\", expected a letter or _ and then letters, digits, _ or -",
                       name);
    memcpy(dim->name, name, n + 1);
    return 0;
}

/*
 * The dimension as options have it, its size but for that of the curve; the bandwidth apart, NaN when not
 * given. ERR_USAGE: a value out of range, or reduction in the switch of a shape without one. The bandwidth is
 * parsed as decimal text, so that the dimension printed has just the number given.
 */
static int describe_dim(struct topo_dim *dim, double *bw_Bps, const struct options *opt, struct err *e)
{
    double x;
    topo_dim_defaults(dim, 0);
    int rc = set_name(dim, opt->dim_name ? opt->dim_name : "node", e);
    if (rc)
        return rc;
    dim->shape = opt->shape >= 0 ? (enum topo_shape)opt->shape : TOPO_SWITCH;
    dim->size = (int32_t)opt->size;
    dim->algorithm = opt->algorithm >= 0 ? (enum topo_algorithm)opt->algorithm : TOPO_ALGORITHM_SHAPE;
    dim->in_switch = opt->in_switch >= 0 ? (enum topo_in_switch)opt->in_switch : TOPO_IN_SWITCH_NONE;
    *bw_Bps = NAN;
    if (dim->in_switch != TOPO_IN_SWITCH_NONE && !topo_ops(dim)->reduces)
        return err_set(e, ERR_USAGE, "option --in-switch is %s of shape %s, expected shape switch",
                       topo_in_switch_words[dim->in_switch], topo_shape_name(dim->shape));
    if (!opt->bw_GBps)
        return 0;
    if (strlen(opt->bw_GBps) >= NUM_TEXT || !num_parse_real(opt->bw_GBps, &x) ||
        !(x >= TOPO_MIN_BW_GBps && x <= TOPO_MAX_BW_GBps))
        return err_set(e, ERR_USAGE, "option --bw-GBps is \"%.40s\", expected a number from %g to %g",
                       opt->bw_GBps, TOPO_MIN_BW_GBps, TOPO_MAX_BW_GBps);
    *bw_Bps = topo_parse_bw(opt->bw_GBps);
    return 0;
}

static int64_t fit_seed(const struct run *run)
{
    return run->opt.seed ? run->opt.seed : 1;
}

static int add_item(struct calibration *x, struct run *run, const struct topo_dim *dim,
                    const struct fit_settings *s, struct calibrated item, struct err *e)
{
    struct topo_dim sized = *dim;
    if (!vec_reserve(x->items, x->cap, x->n + 1))
        return err_nomem(e, "curves");
    /* The ranks of a curve are the members, unless told otherwise. */
    if (sized.size == 0)
        sized.size = item.curve->ranks;
    struct err inner = { 0 };
    if (topo_check_algorithm(&sized, sized.algorithm, &inner))
        return err_set(e, ERR_USAGE, "option --algorithm %s", inner.msg);
    int rc = fit_curve(&item.fit, &sized, item.curve, s, e);
    if (rc)
        return err_wrap(e, "%s:%lld", item.path, (long long)item.curve->first_line);
    x->items[x->n++] = item;
    if (item.fit.at_limit)
        output_warn(
            run,
            "%s:%lld: measured is faster than --bw-GBps %s allows %s; raise it or choose another algorithm",
            item.path, (long long)item.curve->first_line, run->opt.bw_GBps,
            collective_names[item.curve->collective]);
    return 0;
}

/* Of many curves those too short to fit are left out with a warning; a single one is an error. Curves are
 * numbered over all files. ERR_RANGE: none is left. */
static int fit_all(struct calibration *x, struct run *run, const unsigned long long *hashes, struct err *e)
{
    struct topo_dim dim;
    struct fit_settings s = { .max_regimes = run->opt.regimes ? (int32_t)run->opt.regimes : FIT_MAX_REGIMES,
                              .seed = fit_seed(run),
                              .scatter = run->opt.scatter_percent / 100 };
    int64_t at = 0, n_curves = 0;
    int rc = describe_dim(&dim, &s.bw_Bps, &run->opt, e);
    for (int32_t f = 0; f < run->opt.n_operands; f++)
        n_curves += x->lists[f].n;
    if (!rc && run->opt.curve > n_curves)
        return err_set(e, ERR_USAGE, "option --curve is %lld, expected 1 to %lld", (long long)run->opt.curve,
                       (long long)n_curves);
    for (int32_t f = 0; f < run->opt.n_operands; f++)
        for (int32_t i = 0; i < x->lists[f].n && !rc; i++) {
            const struct curve *c = &x->lists[f].curves[i];
            struct calibrated item = { .curve = c, .path = run->opt.operands[f], .hash = hashes[f] };
            /* Counted in any case; with --curve the others are passed over without a warning. */
            bool asked = run->opt.curve == ++at;
            if (run->opt.curve ? !asked : n_curves > 1 && c->n < FIT_MIN_POINTS) {
                if (!run->opt.curve)
                    output_warn(run, "%s:%lld: curve has %d point%s, expected %d; it is left out", item.path,
                                (long long)c->first_line, (int)c->n, c->n == 1 ? "" : "s", FIT_MIN_POINTS);
                continue;
            }
            rc = add_item(x, run, &dim, &s, item, e);
        }
    if (!rc && x->n == 0)
        return err_set(e, ERR_RANGE, "%s:1: no curve has %d points or more", run->opt.operands[0],
                       FIT_MIN_POINTS);
    return rc;
}

/* By -o as elsewhere, with YAML as one more format than tables have. */
static int chosen_format(const struct run *run)
{
    const char *out = run->opt.out;
    if (run->opt.format < 0 && out && (output_ends_with(out, ".yaml") || output_ends_with(out, ".yml")))
        return FORMAT_YAML;
    return run->opt.format == FORMAT_YAML ? FORMAT_YAML : (int)output_format(run);
}

/* ---- how it is shown ---- */

/* Bus bandwidth as nccl-tests define it: size times a factor of the collective over time. */
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

/* Comments of the YAML: where the numbers come from, and how good they are. */
static void put_comments(struct text *out, const struct run *run, const struct calibrated *item)
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
    text_printf(out, "\n# scatter %.3g %%%s; ", 100 * f->scatter,
                !isnan(run->opt.scatter_percent) ? " as stated" : "");
    if (f->at_limit)
        text_puts(out, "no ranges, as measured is faster than the bandwidth allows\n");
    else
        text_printf(out, "ranges hold %g %% of %d draws of it (seed %lld)\n", 100 * FIT_SURE, (int)FIT_DRAWS,
                    (long long)fit_seed(run));
}

static void put_yaml(const struct calibration *x, const struct run *run, struct text *out)
{
    for (int32_t i = 0; i < x->n; i++) {
        put_comments(out, run, &x->items[i]);
        fit_format_dim(out, &x->items[i].fit.dim, x->items[i].fit.sure);
    }
}

/* A point of a curve: measured beside the model. */
struct curve_row {
    const char *file, *curve, *collective, *error;
    int64_t ranks, regime;
    double bytes, time_s, model_s, time_us, model_us, error_frac, busbw_GBps, model_busbw_GBps;
};

/* weft plot calibrate draws the rows of CSV, weft calibrate reads them again. */
static const struct column curve_columns[] = {
    COLUMN_WORD(struct curve_row, file, "that it was read from", .in = IN_CSV),
    COLUMN_WORD(struct curve_row, curve, "its name", .in = IN_CSV),
    COLUMN_WORD(struct curve_row, collective, "that was measured", .in = IN_CSV),
    COLUMN_COUNT(struct curve_row, ranks, "that took part", .in = IN_CSV),
    COLUMN_COUNT(struct curve_row, regime, "of the fit", .in = IN_CSV),
    COLUMN_REAL(struct curve_row, bytes, "of a message", .title = "size", .unit = "B", .digits = 12),
    COLUMN_REAL(struct curve_row, time_s, "measured", .in = IN_TEXT | IN_JSON, .title = "measured",
                .times = 1e6, .as = "us"),
    COLUMN_REAL(struct curve_row, model_s, "of the fit", .in = IN_TEXT | IN_JSON, .times = 1e6, .as = "us"),
    COLUMN_REAL(struct curve_row, time_us, "measured", .in = IN_CSV),
    COLUMN_REAL(struct curve_row, model_us, "of the fit", .in = IN_CSV),
    COLUMN_REAL(struct curve_row, error_frac, "of the fit", .in = IN_DATA),
    COLUMN_WORD(struct curve_row, error, "likewise", .in = IN_TEXT, .as = "%"),
    COLUMN_REAL(struct curve_row, busbw_GBps, "measured", .in = IN_TEXT | IN_CSV, .title = "measured bus",
                .digits = 4),
    COLUMN_REAL(struct curve_row, model_busbw_GBps, "of the fit", .in = IN_TEXT | IN_CSV,
                .title = "model bus", .digits = 4),
    COLUMNS_END,
};

static void put_points(struct report *r, const struct calibrated *item)
{
    const struct curve *c = item->curve;
    char error[SHOW];
    for (int32_t i = 0; i < c->n; i++) {
        double model_s = item->fit.model_s[i];
        snprintf(error, sizeof error, "%+.1f", 100 * error_frac(item, i));
        report_row(r, &(struct curve_row){ .file = item->path,
                                           .curve = c->name,
                                           .collective = collective_names[c->collective],
                                           .error = error,
                                           .ranks = c->ranks,
                                           .regime = regime_at(&item->fit.dim, c->bytes[i]),
                                           .bytes = c->bytes[i],
                                           .time_s = c->time_s[i],
                                           .model_s = model_s,
                                           .time_us = c->time_s[i] * 1e6,
                                           .model_us = model_s * 1e6,
                                           .error_frac = error_frac(item, i),
                                           .busbw_GBps = busbw_GBps(c, i, c->time_s[i]),
                                           .model_busbw_GBps = busbw_GBps(c, i, model_s) });
    }
}

static void report_errors(struct report *r, const char *key, const struct fit_errors *errors)
{
    report_open(r, key, '{');
    report_json_count(r, "points", errors->n);
    report_json_real(r, "mean_frac", errors->n ? errors->mean_frac : (double)NAN);
    report_json_real(r, "max_frac", errors->n ? errors->max_frac : (double)NAN);
    report_close(r, '}');
}

/* A value and its range. */
static void report_range(struct report *r, const char *const names[3], double x, const double range[2])
{
    report_json_real(r, names[0], x);
    report_json_real(r, names[1], range[0]);
    report_json_real(r, names[2], range[1]);
}

static void report_dim(struct report *r, const struct fit *f)
{
    static const char *const latency[] = { "lat_s", "lat_low_s", "lat_high_s" };
    static const char *const efficiency[] = { "efficiency", "efficiency_low", "efficiency_high" };
    const struct topo_dim *dim = &f->dim;
    report_open(r, "dim", '{');
    report_json_word(r, "name", dim->name);
    report_json_word(r, "shape", topo_shape_name(dim->shape));
    report_json_count(r, "size", dim->size);
    report_json_word(r, "algorithm", topo_algorithm_words[dim->algorithm]);
    report_json_word(r, "in_switch", topo_in_switch_words[dim->in_switch]);
    report_json_real(r, "bw_Bps", dim->bw_Bps);
    report_json_word(r, "latency_per", topo_latency_words[dim->latency_per]);
    report_open(r, "regimes", '[');
    /* The last regime is the dimension's own latency and efficiency, without a limit of size. */
    for (int32_t k = 0; k <= dim->n_regimes; k++) {
        int32_t at = (k + 1) % f->n_regimes;
        const struct topo_regime line = topo_dim_regime(dim, at);
        report_open(r, NULL, '{');
        report_range(r, latency, line.lat_s, f->sure[at].lat_s);
        report_range(r, efficiency, line.efficiency, f->sure[at].efficiency);
        report_json_real(r, "up_to_B", at ? line.up_to_B : (double)NAN);
        report_close(r, '}');
    }
    report_close(r, ']');
    report_close(r, '}');
}

static void report_curve(struct report *r, const struct run *run, const struct calibrated *item)
{
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", item->hash);
    report_open(r, NULL, '{');
    report_json_word(r, "file", item->path);
    report_json_word(r, "hash", hash);
    report_json_word(r, "curve", item->curve->name);
    report_json_word(r, "collective", collective_names[item->curve->collective]);
    report_json_count(r, "ranks", item->curve->ranks);
    report_errors(r, "from_1MiB", &item->fit.large);
    report_errors(r, "below_1MiB", &item->fit.small);
    report_json_real(r, "scatter", item->fit.scatter);
    report_json_real(r, "range_share", FIT_SURE);
    report_json_count(r, "draws", FIT_DRAWS);
    report_json_count(r, "seed", fit_seed(run));
    report_dim(r, &item->fit);
    report_list(r, "points", curve_columns);
    put_points(r, item);
    report_list_end(r);
    report_close(r, '}');
    report_line(r, "\n");
    if (report_is(r, IN_TEXT)) {
        put_comments(&r->out, run, item);
        fit_format_dim(&r->out, &item->fit.dim, item->fit.sure);
    }
}

static void report_curve_rows(struct report *r, const struct calibration *x)
{
    report_list(r, NULL, curve_columns);
    for (int32_t n = 0; n < x->n; n++)
        put_points(r, &x->items[n]);
    report_list_end(r);
}

/* ---- a file of curves ---- */

static int measured_of(enum collective_kind kind)
{
    for (int k = 0; topo_measured_words[k]; k++)
        if (strcmp(topo_measured_words[k], collective_names[kind]) == 0)
            return k;
    return -1;
}

/* What dims.curves can hold: its collectives, each number of ranks once, and no more rows than it has. */
static int check_curves(const struct calibration *x, struct err *e)
{
    int32_t n_rows = 0;
    for (int32_t i = 0; i < x->n; i++) {
        const struct curve *c = x->items[i].curve;
        n_rows += x->items[i].fit.n_regimes;
        if (measured_of(c->collective) < 0)
            return err_set(e, ERR_UNSUP,
                           "%s:%lld: %s is no collective of dims.curves, expected all-reduce, "
                           "reduce-scatter or all-gather",
                           x->items[i].path, (long long)c->first_line, collective_names[c->collective]);
        for (int32_t k = 0; k < i; k++)
            if (x->items[k].curve->collective == c->collective && x->items[k].curve->ranks == c->ranks)
                return err_set(e, ERR_RANGE,
                               "%s:%lld: %s among %d ranks is there twice; choose files with one",
                               x->items[i].path, (long long)c->first_line, collective_names[c->collective],
                               (int)c->ranks);
    }
    return n_rows <= TOPO_MAX_CURVES
               ? 0
               : err_set(e, ERR_RANGE, "%d rows of curves, expected at most %d; use --regimes", (int)n_rows,
                         TOPO_MAX_CURVES);
}

/* The rows, ready as a file that dims.curves names. */
static void put_curves(const struct calibration *x, const struct run *run, struct text *out)
{
    const struct topo_dim *first = &x->items[0].fit.dim;
    text_printf(out, "# of a dimension with bw_GBps: %s", run->opt.bw_GBps);
    if (first->algorithm != TOPO_ALGORITHM_SHAPE)
        text_printf(out, ", algorithm: %s", topo_algorithm_words[first->algorithm]);
    if (first->in_switch != TOPO_IN_SWITCH_NONE)
        text_printf(out, ", in_switch: %s", topo_in_switch_words[first->in_switch]);
    text_printf(out, ", shape: %s\n", topo_shape_name(first->shape));
    for (int32_t i = 0; i < x->n; i++) {
        const struct calibrated *item = &x->items[i];
        put_comments(out, run, item);
        for (int32_t k = 1; k <= item->fit.n_regimes; k++) {
            /* The dimension's own numbers are those of the largest sizes: last. */
            struct topo_regime r = topo_dim_regime(&item->fit.dim, k % item->fit.n_regimes);
            char room[64];
            snprintf(room, sizeof room, "- { collective: %s, members: %d, ",
                     collective_names[item->curve->collective], (int)item->curve->ranks);
            fit_format_regime(out, &r, room);
            fit_format_sure(out, &item->fit.sure[k % item->fit.n_regimes]);
        }
    }
}

static void report_calibration(struct report *r, const struct calibration *x, const struct run *run)
{
    if (report_is(r, IN_CSV))
        report_curve_rows(r, x);
    report_open(r, "curves", '[');
    for (int32_t i = 0; i < x->n && !report_is(r, IN_CSV); i++) {
        report_line(r, "%s", i > 0 ? "\n" : "");
        if (x->n > 1)
            report_line(r, "curve %d\n", (int)i + 1);
        report_curve(r, run, &x->items[i]);
    }
    report_close(r, ']');
    if (run->opt.curves && report_is(r, IN_TEXT)) {
        report_line(r, "\ncurves:\n");
        put_curves(x, run, &r->out);
    }
}

/* Of one curve alone: entries for several would be a network that nobody asked for. */
static int write_yaml(const struct calibration *x, const struct run *run, struct err *e)
{
    struct text out = { 0 };
    if (x->n > 1 && !run->opt.curves)
        return err_set(e, ERR_USAGE, "files have %d curves; use --curve for one dimension, --curves for all",
                       (int)x->n);
    text_puts(&out, "# ");
    text_puts(&out, run->recorded);
    text_puts(&out, "\n");
    if (run->opt.curves)
        put_curves(x, run, &out);
    else
        put_yaml(x, run, &out);
    int rc = output_write(run, &out, e);
    text_free(&out);
    return rc;
}

static int write_calibration(const struct calibration *x, const struct run *run, struct err *e)
{
    const struct origin from = { .known = false };
    struct report r = { 0 };
    if (chosen_format(run) == FORMAT_YAML)
        return write_yaml(x, run, e);
    output_begin(&r, run, from);
    report_calibration(&r, x, run);
    return output_report(&r, run, from, e);
}

/* ---- operators of an NPU ---- */

/* A kernel's rates as an entry of attention_kernels; what is as without the key is left out. */
static void put_kernel(struct text *out, const struct topo_npu_attention *row)
{
    const struct {
        const char *key;
        double value, usual;
    } keys[] = {
        { "half_tiles_forward", row->half_tiles[TOPO_FORWARD], 0 },
        { "half_tiles_backward", row->half_tiles[TOPO_BACKWARD], 0 },
        { "half_seq", row->half_seq, 0 },
        { "low_rank_forward", row->low_rank[TOPO_FORWARD], 1 },
        { "low_rank_backward", row->low_rank[TOPO_BACKWARD], 1 },
        { "low_rank_half_forward", row->low_rank_half[TOPO_FORWARD], row->half_tiles[TOPO_FORWARD] },
        { "low_rank_half_backward", row->low_rank_half[TOPO_BACKWARD], row->half_tiles[TOPO_BACKWARD] },
        { "narrow", row->narrow, 1 },
        { "fp8_forward", row->fp8_forward, 1 },
    };
    text_printf(out, "  - { kernel: %s, forward_TFLOPS: %.4g, backward_TFLOPS: %.4g",
                topo_kernel_words[row->kernel], row->flops[TOPO_FORWARD] / 1e12,
                row->flops[TOPO_BACKWARD] / 1e12);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (fabs(keys[i].value - keys[i].usual) > 0)
            text_printf(out, ",%s%s: %.4g", i % 4 == 3 ? "\n      " : " ", keys[i].key, keys[i].value);
    text_puts(out, " }\n");
}

/* Keys without a row to fit them by are left out: they are still the file's. Of attention_kernels all rows
 * are written, for the key is one list. */
static void put_npu_keys(const struct fit_npu *f, struct text *out)
{
    for (int32_t i = 0; i < f->n_keys; i++)
        text_printf(out, "%s: %.4g\n", f->keys[i].key, f->keys[i].value);
    if (f->kernel_fitted)
        text_puts(out, "attention_kernels:\n");
    for (int32_t i = 0; i < f->npu.n_kernels && f->kernel_fitted; i++)
        put_kernel(out, &f->npu.kernels[i]);
}

/* Of streams there is no precision, and no pass. */
struct kind_row {
    struct fit_kind of;
    int32_t precision, pass;
};

#define KIND(kind, field, called, ...) COLUMN_AT(struct kind_row, field, called, TABLE_##kind, __VA_ARGS__)
static void report_kinds(struct report *r, const struct fit_npu *f)
{
    static const struct column columns[] = {
        KIND(COUNT, of.op, "op", "what the rows measure", .title = "operator", .words = fit_operator_words),
        KIND(COUNT, precision, "precision", "blank of streams", .words = topo_precision_words,
             .flags = COLUMN_EMPTY),
        KIND(COUNT, pass, "pass", "likewise", .words = fit_pass_words, .flags = COLUMN_EMPTY),
        KIND(COUNT, of.heads, "heads", "of attention", .words = fit_heads_words),
        KIND(COUNT, of.n, "rows", "that were fitted"),
        KIND(REAL, of.mean_frac, "mean_frac", "of errors", .title = "mean error", .digits = 3, .times = 100,
             .as = "%"),
        KIND(REAL, of.max_frac, "max_frac", "of errors", .title = "largest", .digits = 3, .times = 100,
             .as = "%"),
        COLUMNS_END,
    };
    report_list(r, "errors", columns);
    for (int32_t k = 0; k < f->n_kinds; k++) {
        struct kind_row row = { f->kinds[k], (int32_t)f->kinds[k].precision, (int32_t)f->kinds[k].pass };
        if (row.of.op == FIT_STREAM)
            row.precision = row.pass = -1;
        report_row(r, &row);
    }
    report_list_end(r);
}

static void report_unseen(struct report *r, const struct fit_npu *f)
{
    const char *notes = text_str(&f->notes);
    size_t n;
    if (*notes)
        report_line(r, "\n%s", notes);
    report_open(r, "notes", '[');
    for (const char *at; report_is(r, IN_JSON) && (at = text_next(&notes, '\n', &n));) {
        char line[256];
        snprintf(line, sizeof line, "%.*s", (int)n, at);
        report_open(r, NULL, '{');
        report_json_word(r, "note", line);
        report_close(r, '}');
    }
    report_close(r, ']');
}

static void report_npu(struct report *r, const struct fit_npu *f)
{
    report_open(r, "npu", '{');
    for (int32_t i = 0; i < f->n_keys; i++)
        report_json_real(r, f->keys[i].key, f->keys[i].value);
    if (f->kernel_fitted) {
        report_open(r, "attention_kernels", '[');
        for (int32_t i = 0; i < f->npu.n_kernels && report_is(r, IN_JSON); i++) {
            json_open(&r->json, NULL, '{');
            schema_write(&r->json, &topo_npu_attention_section, &f->npu.kernels[i], true);
            json_close(&r->json, '}');
        }
        report_close(r, ']');
    }
    report_close(r, '}');
    report_kinds(r, f);
    report_unseen(r, f);
    report_line(r, "\nnpu:\n");
    if (report_is(r, IN_TEXT))
        put_npu_keys(f, &r->out);
}

/* A side of all products that the row sums, "15872;15872"; blank of other operators. */
static const char *put_sides(struct text *out, const struct fit_row *row, size_t side)
{
    char number[NUM_TEXT];
    for (int32_t i = 0; i < row->n_parts; i++) {
        const struct fit_part *part = &row->parts[i];
        const double sides[] = { part->m, part->n, part->k };
        text_printf(out, "%s%s", i ? ";" : "", num_format(number, sides[side]));
    }
    return text_str(out);
}

struct npu_row {
    const char *op, *pass, *precision, *side[3];
    double batch, groups, heads[5], GFLOP, bytes, time_us, model_us, error_frac;
};

/* Columns that mean nothing for an operator stay blank, as in the file that was read. */
static const struct column npu_columns[] = {
    COLUMN_WORD(struct npu_row, op, "operator"),
    COLUMN_WORD(struct npu_row, pass, "forward or backward"),
    COLUMN_WORD(struct npu_row, precision, "of its numbers"),
    COLUMN_AT(struct npu_row, side[0], "m", TABLE_TEXT, "of each product"),
    COLUMN_AT(struct npu_row, side[1], "n", TABLE_TEXT, "likewise"),
    COLUMN_AT(struct npu_row, side[2], "k", TABLE_TEXT, "likewise"),
    COLUMN_REAL(struct npu_row, batch, "products"),
    COLUMN_REAL(struct npu_row, groups, "of grouped products"),
    /* Of all sequences: the model sees their product alone. */
    COLUMN_AT(struct npu_row, heads[0], "heads", TABLE_REAL, "of fused attention"),
    COLUMN_AT(struct npu_row, heads[1], "seq", TABLE_REAL, "likewise"),
    COLUMN_AT(struct npu_row, heads[2], "head_dim", TABLE_REAL, "likewise"),
    COLUMN_AT(struct npu_row, heads[3], "v_head_dim", TABLE_REAL, "likewise"),
    COLUMN_AT(struct npu_row, heads[4], "causal", TABLE_REAL, "likewise"),
    COLUMN_REAL(struct npu_row, GFLOP, "of attention that is measured so"),
    COLUMN_REAL(struct npu_row, bytes, "that are moved", .unit = "B"),
    COLUMN_REAL(struct npu_row, time_us, "measured"),
    COLUMN_REAL(struct npu_row, model_us, "of the fit"),
    COLUMN_REAL(struct npu_row, error_frac, "of the fit"),
    COLUMNS_END,
};

static void put_npu_row(struct report *r, const struct fit_row *row)
{
    bool fused = row->op == FIT_FUSED, grouped = row->op == FIT_GROUPED;
    double batch = row->n_parts ? row->parts[0].batch : NAN;
    const double heads[] = { row->heads.rows / row->heads.keys, row->heads.keys, row->heads.key_dim,
                             row->heads.v_dim, row->causal };
    struct text sides[3] = { 0 };
    struct npu_row out = { .op = fit_operator_words[row->op],
                           .pass = fit_pass_words[row->pass],
                           .precision = topo_precision_words[row->precision],
                           .batch = grouped ? (double)NAN : batch,
                           .groups = grouped ? batch : (double)NAN,
                           .GFLOP = row->op == FIT_FLASH ? row->flop / 1e9 : (double)NAN,
                           .bytes = row->bytes > 0 ? row->bytes : (double)NAN,
                           .time_us = row->time_s * 1e6,
                           .model_us = row->model_s * 1e6,
                           .error_frac = row->model_s / row->time_s - 1 };
    for (size_t k = 0; k < 3; k++)
        out.side[k] = put_sides(&sides[k], row, k);
    for (size_t k = 0; k < 5; k++)
        out.heads[k] = fused ? heads[k] : (double)NAN;
    report_row(r, &out);
    for (size_t k = 0; k < 3; k++)
        text_free(&sides[k]);
}

/* What was read and what the fit makes of it; weft calibrate reads it again. */
static void report_npu_rows(struct report *r, const struct fit_npu *f)
{
    report_list(r, NULL, npu_columns);
    for (int32_t i = 0; i < f->n; i++)
        put_npu_row(r, &f->rows[i]);
    report_list_end(r);
}

enum { NEAR_VALUES = 64 };

/* A --where whose value no row has: a slip of writing more often than an empty table. */
static int fail_where(const struct table *t, const struct filters *filters, const char *path, struct err *e)
{
    for (int32_t i = 0; i < filters->n; i++) {
        const struct plot_where *where = &filters->where[i];
        struct text values[NEAR_VALUES] = { 0 };
        const char *words[NEAR_VALUES];
        size_t n = 0;
        bool there = false;
        for (int64_t row = 0; row < t->n_rows && !there; row++) {
            struct text value = { 0 };
            table_cell_text(&value, t, row, table_find(t, where->column));
            there = strcmp(text_str(&value), where->value) == 0;
            bool known = n == NEAR_VALUES || text_str(&value)[0] == 0;
            for (size_t k = 0; k < n && !known; k++)
                known = strcmp(words[k], text_str(&value)) == 0;
            if (known) {
                text_free(&value);
            } else {
                values[n] = value;
                words[n] = text_str(&values[n]);
                n++;
            }
        }
        if (!there) {
            err_set(e, ERR_RANGE, "%s: no row has %s=%s", path, where->column, where->value);
            err_suggest(e, text_nearest(where->value, words, n));
        }
        for (size_t k = 0; k < n; k++)
            text_free(&values[k]);
        if (!there)
            return e->code;
    }
    return err_set(e, ERR_RANGE, "%s: no row passes --where", path);
}

static int keep_rows(struct table *t, const struct filters *filters, const char *path, struct err *e)
{
    bool any = false;
    if (filters->n == 0)
        return 0;
    for (int64_t row = 0; row < t->n_rows && !any; row++)
        any = filters_pass_row(filters, t, row);
    if (!any)
        return fail_where(t, filters, path, e);
    filters_keep(filters, t);
    return 0;
}

/* Columns by --column, rows by --where. */
static int read_rows(struct fit_npu *f, const struct run *run, struct err *e)
{
    struct table t = { 0 };
    struct filters filters = { 0 };
    struct fit_columns columns = { 0 };
    const char *path = run->opt.operands[0];
    int rc = table_read_csv(&t, path, e);
    for (int32_t i = 0; i < run->opt.columns.n && !rc; i++)
        rc = fit_columns_take(&columns, run->opt.columns.items[i], e);
    if (!rc)
        rc = filters_read(&filters, &run->opt.where, e);
    if (!rc)
        rc = filters_check(&filters, &t, e);
    if (!rc)
        rc = keep_rows(&t, &filters, path, e);
    if (!rc)
        rc = fit_npu_read(f, &t, &columns, path, e);
    filters_free(&filters);
    table_free(&t);
    return rc;
}

static int read_npu(struct fit_npu *f, const struct run *run, struct err *e)
{
    struct yaml_doc doc;
    struct text path = { 0 };
    catalogue_path(&path, "npus", run->opt.npu);
    int rc = text_check(&path, e);
    rc = rc ? rc : yaml_read_file(&doc, text_str(&path), e);
    text_free(&path);
    if (rc)
        return rc;
    rc = yaml_need(&doc, doc.root, YAML_MAP, e);
    if (!rc)
        rc = topo_read_npu(&f->npu, &doc, doc.root, e);
    yaml_free(&doc);
    f->kernel_given = run->opt.kernel >= 0;
    if (f->kernel_given)
        f->kernel = (enum topo_kernel)run->opt.kernel;
    if (rc || isnan(run->opt.power_W))
        return rc;
    if (isnan(f->npu.watt))
        return err_set(e, ERR_USAGE, "option --power-W is a limit below watt, which %s does not give",
                       run->opt.npu);
    return topo_npu_limit(&f->npu, run->opt.power_W, e) ? err_wrap(e, "option --power-W") : 0;
}

static int read_operators(struct fit_npu *f, const struct run *run, struct err *e)
{
    int rc = read_npu(f, run, e);
    if (!rc)
        rc = read_rows(f, run, e);
    if (!rc && fit_npu(f, e))
        rc = err_wrap(e, "%s", run->opt.operands[0]);
    return rc;
}

/* A table that names studies and their measured steps; *is says whether it is one. */
static int try_steps(bool *is, struct run *run, struct err *e)
{
    struct table t = { 0 };
    struct text out = { 0 };
    const char *path = run->opt.operands[0];
    int rc = table_read_csv(&t, path, e);
    *is = !rc && calibrate_is_steps(&t);
    if (*is && run->opt.format >= 0 && run->opt.format != FORMAT_YAML)
        rc = err_set(e, ERR_USAGE, "option --of is %s, expected yaml: steps give a file of the NPU",
                     format_words[run->opt.format]);
    if (*is && !rc)
        rc = calibrate_steps(&out, run, &t, path, e);
    if (*is && !rc)
        rc = output_write(run, &out, e);
    text_free(&out);
    table_free(&t);
    return rc;
}

static int calibrate_npu(struct run *run, struct err *e)
{
    const struct origin from = { .known = false };
    bool steps;
    int tried = try_steps(&steps, run, e);
    if (tried || steps)
        return tried;
    struct fit_npu f = { .n = 0 };
    struct report r = { 0 };
    int rc = read_operators(&f, run, e);
    if (!rc && chosen_format(run) == FORMAT_YAML) {
        put_npu_keys(&f, &r.out);
        rc = output_write(run, &r.out, e);
    } else if (!rc) {
        output_begin(&r, run, from);
        if (report_is(&r, IN_CSV))
            report_npu_rows(&r, &f);
        else
            report_npu(&r, &f);
        rc = output_report(&r, run, from, e);
    }
    report_free(&r);
    fit_npu_free(&f);
    return rc;
}

/* Options about operators have no effect on curves. */
static int check_no_npu(const struct options *opt, struct err *e)
{
    const struct option *given = options_given(opt, &npu_options, 0);
    return given ? err_set(e, ERR_USAGE, "option --%s is for operators; give --npu", given->name) : 0;
}

/* ---- the command ---- */

static int run_calibrate(struct run *run, struct err *e)
{
    struct calibration x = { 0 };
    unsigned long long hashes[CALIBRATE_MAX_FILES] = { 0 };
    struct curve_defaults dflt = { run->opt.collective, (int32_t)run->opt.ranks };
    int rc = output_check_as(run, run->opt.format < 0 ? ".yaml .yml .csv .json .jsonl .txt" : NULL, true, e);
    if (!rc && run->opt.npu)
        return run->opt.n_operands == 1
                   ? calibrate_npu(run, e)
                   : err_set(e, ERR_USAGE, "option --npu is given with %d files, expected one",
                             (int)run->opt.n_operands);
    if (!rc)
        rc = check_no_npu(&run->opt, e);
    if (!rc && run->opt.curves && !run->opt.bw_GBps)
        rc = err_set(e, ERR_USAGE, "option --curves writes shares of one bandwidth; give --bw-GBps");
    for (int32_t f = 0; f < run->opt.n_operands && !rc; f++) {
        const char *path = run->opt.operands[f];
        /* Its notes are said even after a failure: they may tell why. */
        rc = curve_read_file(&x.lists[f], strcmp(path, "-") == 0 ? "/dev/stdin" : path, dflt, &hashes[f], e);
        output_notes(run, &x.lists[f].notes);
    }
    if (!rc)
        rc = fit_all(&x, run, hashes, e);
    if (!rc && run->opt.curves)
        rc = check_curves(&x, e);
    if (!rc)
        rc = write_calibration(&x, run, e);
    calibration_free(&x);
    return rc;
}

const struct command cmd_calibrate = {
    .group = "Measurements",
    .name = "calibrate",
    .help = "latency and efficiency of a dimension from measured collectives",
    .about =
        "Fit a dimension to times of a collective by size: FILE is what nccl-tests prints, or CSV with "
        "columns\n"
        "bytes and time_us or busbw_GBps; - reads standard input. The dimension is written as an entry of\n"
        "dims, with a regime and size limit per protocol that the measurements tell apart.\n"
        "With --npu, FILE is a table of measured operators in any layout: columns op (stream, matrix,\n"
        "grouped, attention, flash, fused; also words of other tools, as gemm), pass, precision and the "
        "sizes\n"
        "that the op has, with time_us or TFLOPS. --column says what the table calls them, --where which "
        "rows\n"
        "count. What the rows do not show stays as the file has it, and is listed.\n"
        "Or FILE has columns study and step_s, measured steps of studies: the NPU's file with the\n"
        "matrix_efficiency that they ask for, and the band within which to expect others.\n",
    .scope = SCOPE(1, CALIBRATE_MAX_FILES, "FILE...", &dim_options, &curve_options, &npu_options,
                   &format_options, &options_files),
    .run = run_calibrate,
};
