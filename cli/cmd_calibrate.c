#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/num.h"
#include "cli/calibrate.h"
#include "cli/calibrate_npu.h"

/* YAML comes after the formats of tables. */
enum { FORMAT_YAML = TABLE_AS_JSON + 1 };

static const char *const format_words[] = { "text", "csv", "json", "yaml", NULL };

static const struct option dim_rows[] = {
    { .name = "name",
      .value = "NAME",
      .help = "of the dimension; without it node",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct options, dim_name) },
    { .name = "shape",
      .value = "SHAPE",
      .help = "ring, full, switch or line; without it switch",
      .kind = OPTION_WORD,
      .offset = offsetof(struct options, shape),
      .words = topo_shape_words },
    { .name = "size",
      .value = "N",
      .help = "members of the dimension; without it the ranks of the curve",
      .kind = OPTION_COUNT,
      .offset = offsetof(struct options, size),
      .min = TOPO_MIN_SIZE,
      .max = TOPO_MAX_SIZE },
    { .name = "algorithm",
      .value = "WORD",
      .help = "how its members carry out collectives, see weft keys dims",
      .kind = OPTION_WORD,
      .offset = offsetof(struct options, algorithm),
      .words = topo_algorithm_words },
    { .name = "in-switch",
      .value = "WORD",
      .help = "none, sharp or nvls",
      .kind = OPTION_WORD,
      .offset = offsetof(struct options, in_switch),
      .words = topo_in_switch_words },
    { .name = "bw-GBps",
      .value = "GBPS",
      .help = "bandwidth its links have; without it the rate that large sizes approach",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct options, bw_GBps) },
};

static const struct option curve_rows[] = {
    { .name = "collective",
      .value = "WORD",
      .help = "where the file does not say",
      .kind = OPTION_WORD,
      .offset = offsetof(struct options, collective),
      .words = collective_names },
    { .name = "ranks",
      .value = "N",
      .help = "where the file does not say",
      .kind = OPTION_COUNT,
      .offset = offsetof(struct options, ranks),
      .min = 2,
      .max = CURVE_MAX_RANKS },
    { .name = "curve",
      .value = "N",
      .help = "only this one, from 1, of all in the files",
      .kind = OPTION_COUNT,
      .offset = offsetof(struct options, curve),
      .min = 1,
      .max = CURVE_MAX_CURVES },
    { .name = "regimes",
      .value = "N",
      .help = "at most so many; without it 9",
      .kind = OPTION_COUNT,
      .offset = offsetof(struct options, regimes),
      .min = 1,
      .max = FIT_MAX_REGIMES },
};

static const struct option npu_rows[] = {
    { .name = "npu",
      .value = "NPU.yaml",
      .help = "FILE.csv has times of operators: fit the efficiencies of this NPU to them",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct options, npu) },
};

static const struct option format_rows[] = {
    { .name = "of",
      .value = "FORMAT",
      .help = "text, csv, json or yaml; without it by the extension of -o, else text",
      .kind = OPTION_WORD,
      .offset = offsetof(struct options, format),
      .words = format_words },
};

#define GROUP(title, rows)                                                                                   \
    {                                                                                                        \
        title, rows, sizeof(rows) / sizeof *(rows)                                                           \
    }
static const struct option_group dim_options = GROUP("Dimension", dim_rows);
static const struct option_group curve_options = GROUP("Measurements", curve_rows);
static const struct option_group npu_options = GROUP("Operators", npu_rows);
static const struct option_group format_options = GROUP("Output", format_rows);

static int set_name(struct topo_dim *dim, const char *name, struct err *e)
{
    size_t n = strlen(name);
    bool fits = n > 0 && n < sizeof dim->name && (isalpha((unsigned char)*name) || *name == '_');
    for (const char *s = name; *s && fits; s++)
        fits = isalnum((unsigned char)*s) || *s == '_' || *s == '-';
    if (!fits)
        return err_set(e, ERR_USAGE,
                       "option --name is \"%.60s\", need a letter or _ and then letters, digits, _ or -",
                       name);
    memcpy(dim->name, name, n + 1);
    return 0;
}

/* The dimension as options have it, its size but for that of the curve; the bandwidth apart, NaN when not
 * given. */
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
    if (dim->in_switch != TOPO_IN_SWITCH_NONE && dim->shape != TOPO_SWITCH)
        return err_set(e, ERR_USAGE, "option --in-switch is %s of shape %s, need shape switch",
                       topo_in_switch_words[dim->in_switch], topo_shape_name(dim->shape));
    if (!opt->bw_GBps)
        return 0;
    if (strlen(opt->bw_GBps) >= NUM_TEXT || !num_parse_real(opt->bw_GBps, &x) ||
        !(x >= TOPO_MIN_BW_GBps && x <= TOPO_MAX_BW_GBps))
        return err_set(e, ERR_USAGE, "option --bw-GBps is \"%.40s\", need a number from %g to %g",
                       opt->bw_GBps, TOPO_MIN_BW_GBps, TOPO_MAX_BW_GBps);
    *bw_Bps = topo_parse_bw(opt->bw_GBps);
    return 0;
}

static int add_item(struct calibration *x, struct run *run, const struct topo_dim *dim, double bw_Bps,
                    struct calibrated item, struct err *e)
{
    struct fit_settings s = { bw_Bps, run->opt.regimes ? (int32_t)run->opt.regimes : FIT_MAX_REGIMES };
    struct topo_dim sized = *dim;
    struct calibrated *grown = array_grow(x->items, x->n, &x->cap, sizeof *grown);
    if (!grown)
        return err_nomem(e, "curves");
    x->items = grown;
    if (sized.size == 0)
        sized.size = item.curve->ranks;
    struct err inner = { 0 };
    if (topo_check_algorithm(&sized, sized.algorithm, &inner))
        return err_set(e, ERR_USAGE, "option --algorithm %s", inner.msg);
    int rc = fit_curve(&item.fit, &sized, item.curve, &s, e);
    if (rc)
        return err_wrap(e, "%s:%lld", item.path, (long long)item.curve->first_line);
    x->items[x->n++] = item;
    if (item.fit.at_limit)
        output_warn(run,
                    "%s:%lld: measured is faster than --bw-GBps %s allows %s, need more or another algorithm",
                    item.path, (long long)item.curve->first_line, run->opt.bw_GBps,
                    collective_names[item.curve->collective]);
    return 0;
}

/* Of many curves those too short to fit are left out with a warning; a single one is an error. */
static int fit_all(struct calibration *x, struct run *run, const unsigned long long *hashes, struct err *e)
{
    struct topo_dim dim;
    double bw_Bps = NAN;
    int64_t at = 0, n_curves = 0;
    int rc = describe_dim(&dim, &bw_Bps, &run->opt, e);
    for (int32_t f = 0; f < run->opt.n_operands; f++)
        n_curves += x->lists[f].n;
    if (!rc && run->opt.curve > n_curves)
        return err_set(e, ERR_USAGE, "option --curve is %lld, need 1 to %lld", (long long)run->opt.curve,
                       (long long)n_curves);
    for (int32_t f = 0; f < run->opt.n_operands; f++)
        for (int32_t i = 0; i < x->lists[f].n && !rc; i++) {
            const struct curve *c = &x->lists[f].curves[i];
            struct calibrated item = { .curve = c, .path = run->opt.operands[f], .hash = hashes[f] };
            bool asked = run->opt.curve == ++at;
            if (run->opt.curve ? !asked : n_curves > 1 && c->n < FIT_MIN_POINTS) {
                if (!run->opt.curve)
                    output_warn(run, "%s:%lld: curve has %d point%s, need %d; it is left out", item.path,
                                (long long)c->first_line, (int)c->n, c->n == 1 ? "" : "s", FIT_MIN_POINTS);
                continue;
            }
            rc = add_item(x, run, &dim, bw_Bps, item, e);
        }
    if (!rc && x->n == 0)
        return err_set(e, ERR_RANGE, "%s:1: no curve has %d points or more", run->opt.operands[0],
                       FIT_MIN_POINTS);
    return rc;
}

static int chosen_format(const struct run *run)
{
    const char *dot = run->opt.out ? strrchr(run->opt.out, '.') : NULL;
    if (run->opt.format < 0 && dot && (strcasecmp(dot, ".yaml") == 0 || strcasecmp(dot, ".yml") == 0))
        return FORMAT_YAML;
    return run->opt.format == FORMAT_YAML ? FORMAT_YAML : (int)output_format(run);
}

static int write_result(const struct calibration *x, const struct run *run, struct err *e)
{
    struct text out = { 0 };
    struct table t = { 0 };
    int rc = 0;
    switch (chosen_format(run)) {
    case TABLE_AS_TEXT:
        rc = calibrate_text(x, &out, e);
        break;
    case TABLE_AS_JSON:
        calibrate_json(x, run, &out);
        break;
    case TABLE_AS_CSV:
        calibrate_table(x, &t);
        rc = output_table(run, &t, (struct origin){ .known = false }, e);
        table_free(&t);
        return rc;
    default:
        if (x->n > 1)
            return err_set(e, ERR_USAGE, "files have %d curves, need --curve for one dimension", (int)x->n);
        text_puts(&out, "# ");
        text_puts(&out, run->recorded);
        text_puts(&out, "\n");
        calibrate_yaml(x, &out);
    }
    if (!rc)
        rc = output_write(run, &out, e);
    text_free(&out);
    return rc;
}

static int run_calibrate(struct run *run, struct err *e)
{
    struct calibration x = { 0 };
    unsigned long long hashes[CALIBRATE_MAX_FILES] = { 0 };
    struct curve_defaults dflt = { run->opt.collective, (int32_t)run->opt.ranks };
    int rc = output_check(run, NULL, e);
    if (!rc && run->opt.npu)
        return run->opt.n_operands == 1
                   ? calibrate_npu(run, chosen_format(run), e)
                   : err_set(e, ERR_USAGE, "option --npu is given with %d files, need one",
                             (int)run->opt.n_operands);
    for (int32_t f = 0; f < run->opt.n_operands && !rc; f++) {
        const char *path = run->opt.operands[f];
        rc = curve_read_file(&x.lists[f], strcmp(path, "-") == 0 ? "/dev/stdin" : path, dflt, &hashes[f], e);
        output_notes(run, &x.lists[f].notes);
    }
    if (!rc)
        rc = fit_all(&x, run, hashes, e);
    if (!rc)
        rc = write_result(&x, run, e);
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
        "With --npu, FILE is a table of measured operators: columns op (matrix, attention, stream, flash),\n"
        "m, n, k, batch, bytes, GFLOP as the op has them, and time_us.\n",
    .scope = SCOPE(1, CALIBRATE_MAX_FILES, "FILE...", &dim_options, &curve_options, &npu_options,
                   &format_options, &options_files),
    .run = run_calibrate,
};
