/*
 * weft calibrate --npu with measured steps. One figure is fitted, since a step says little more: the share of
 * the peak that products sustain, in which a step is steepest. The rest of the file stays as it is.
 *
 * The band is a prediction interval of one more step: errors in logarithms e_i about the fit, s^2 = sum e^2 /
 * (n - 1), t(0.95, n - 1) s sqrt(1 + 1/n). It is no narrower than what steps of one kind differ by from plan
 * to plan however well a few of them agree, and of one step, which shows no spread, as wide as kinds that no
 * step was seen of.
 */
#include "cli/calibrate_steps.h"

#include <math.h>
#include <string.h>

#include "base/catalogue.h"
#include "base/num.h"
#include "base/yaml.h"
#include "cli/output.h"
#include "kinds/design/ask/load.h"
#include "kinds/design/explore/solve.h"

/* Mean errors of kinds of rows that had no part in choosing constants: 3 to 8 % where the machine was known,
 * up to 30 % where it was not (docs/validation.md). Assumed as bounds. */
#define LEAST_BAND  0.08
#define UNSEEN_BAND 0.30
#define LEAST_SHARE 0.02

enum { MOST_STEPS = 100, SEARCHES = 40 };

/** One measured step. */
struct measured_step {
    struct text study; /* owned */
    double step_s, got_s;
};

struct step_fit {
    struct measured_step items[MOST_STEPS];
    int32_t n;
    struct text npu;        /* path of its file, owned */
    double share, band;     /* matrix_efficiency; of a step, relative */
    int32_t precision;      /* of the plans, enum topo_precision; -1: not of all the same */
    const char *table_path; /* borrowed */
};

bool calibrate_is_steps(const struct table *t)
{
    return table_find(t, "study") >= 0 && table_find(t, "step_s") >= 0;
}

static int read_steps(struct step_fit *f, const struct table *t, struct err *e)
{
    int32_t study = table_find(t, "study"), time = table_find(t, "step_s");
    if (t->n_rows < 1 || t->n_rows > MOST_STEPS)
        return err_set(e, ERR_RANGE, "%s: has %lld rows, expected 1 to %d steps", f->table_path,
                       (long long)t->n_rows, MOST_STEPS);
    for (int64_t row = 0; row < t->n_rows; row++) {
        struct measured_step *s = &f->items[f->n++];
        struct text cell = { 0 };
        table_cell_text(&s->study, t, row, study);
        table_cell_text(&cell, t, row, time);
        bool good = num_parse_real(text_str(&cell), &s->step_s) && s->step_s > 0;
        int rc = text_check(&cell, e);
        rc = rc ? rc : text_check(&s->study, e);
        if (!rc && !good)
            rc = err_set(e, ERR_PARSE, "%s: row %lld: step_s is \"%.40s\", expected seconds above 0",
                         f->table_path, (long long)row + 1, text_str(&cell));
        text_free(&cell);
        if (rc)
            return rc;
    }
    return 0;
}

/* A searched plan would be another one at each try. */
static int time_step(struct measured_step *step, struct step_fit *f, double share, struct err *e)
{
    char value[NUM_TEXT];
    const struct study_override set[] = { { "network.npu", text_str(&f->npu) },
                                          { "network.npu.matrix_efficiency", num_format(value, share) } };
    struct design_point s = { 0 };
    struct design d = { 0 };
    int rc = design_point_load(&s, text_str(&step->study), set, 2,
                               DESIGN_NEEDS_WORKLOAD | DESIGN_NEEDS_BANDWIDTH, e);
    const struct training *x = rc ? NULL : s.workloads[0].training;
    if (!rc && (!x || x->search >= 0))
        rc = err_set(e, ERR_UNSUP, "%s: expected a model with the plan that ran, in parallel, and no search",
                     text_str(&step->study));
    rc = rc ? rc : design_evaluate(&d, &s, NULL, e);
    step->got_s = rc ? NAN : d.time_s;
    if (!rc)
        f->precision = step == f->items || f->precision == x->plan.precision ? x->plan.precision : -1;
    design_free(&d);
    design_point_free(&s);
    return rc;
}

/* Sum of squares of errors in logarithms at @p share. */
static int miss(double *out, struct step_fit *f, double share, struct err *e)
{
    *out = 0;
    for (int32_t i = 0; i < f->n; i++) {
        int rc = time_step(&f->items[i], f, share, e);
        if (rc)
            return rc;
        double far = log(f->items[i].got_s / f->items[i].step_s);
        *out += far * far;
    }
    return 0;
}

/* Golden section over the logarithm of the share: every step is longer the less of the peak is sustained. */
static int search_share(struct step_fit *f, struct err *e)
{
    const double golden = 0.6180339887498949;
    double low = log(LEAST_SHARE), high = 0, at[2], far[2];
    at[0] = high - golden * (high - low);
    at[1] = low + golden * (high - low);
    int rc = miss(&far[0], f, exp(at[0]), e);
    rc = rc ? rc : miss(&far[1], f, exp(at[1]), e);
    for (int k = 0; k < SEARCHES && !rc; k++) {
        int less = far[1] < far[0], more = !less;
        *(less ? &low : &high) = at[more];
        at[more] = at[less];
        far[more] = far[less];
        at[less] = less ? low + golden * (high - low) : high - golden * (high - low);
        rc = miss(&far[less], f, exp(at[less]), e);
    }
    f->share = exp((low + high) / 2);
    return rc;
}

/* Student's 0.95 quantile, by degrees of freedom from 1; beyond ten by 1.645 + 1.6/n. */
static double student(int32_t freedom)
{
    static const double quantiles[] = {
        6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812
    };
    const int32_t n = sizeof quantiles / sizeof *quantiles;
    return freedom <= n ? quantiles[freedom - 1] : 1.645 + 1.6 / freedom;
}

static int fit_steps(struct step_fit *f, struct err *e)
{
    double squares;
    int rc = search_share(f, e);
    f->share = round(f->share * 1000) / 1000;
    rc = rc ? rc : miss(&squares, f, f->share, e);
    if (rc)
        return rc;
    double off = exp(sqrt(squares / f->n)) - 1;
    if ((f->share >= 1 || f->share <= LEAST_SHARE) && off > UNSEEN_BAND)
        return err_set(e, ERR_RANGE,
                       "%s: no share of the peak from %g to 1 comes nearer to the steps than %.0f %%; check "
                       "seconds, NPU and plans",
                       f->table_path, LEAST_SHARE, 100 * off);
    f->band = UNSEEN_BAND;
    if (f->n > 1)
        f->band = exp(student(f->n - 1) * sqrt(squares / (f->n - 1)) * sqrt(1 + 1.0 / f->n)) - 1;
    f->band = fmax(f->band, LEAST_BAND);
    return 0;
}

static void put_comments(struct text *out, const struct step_fit *f)
{
    text_printf(out, "# matrix_efficiency, F: %.3g, chosen by weft calibrate on %d measured step%s of %s:\n",
                f->share, (int)f->n, f->n == 1 ? "" : "s", f->table_path);
    for (int32_t i = 0; i < f->n; i++)
        text_printf(out, "#   %s: measured %.6g s, weft %.6g s, %+.1f %%\n", text_str(&f->items[i].study),
                    f->items[i].step_s, f->items[i].got_s,
                    100 * (f->items[i].got_s / f->items[i].step_s - 1));
    text_printf(out, "# Expect 9 of 10 steps of this machine within %.0f %%%s.\n", 100 * f->band,
                f->n == 1 ? ": one step shows no spread, so the band is assumed" : "");
}

/* What predictions read. */
static void put_band(struct text *out, const struct step_fit *f)
{
    text_printf(out, "step_band: %.3g\nstep_band_rows: %d\n", f->band, (int)f->n);
    if (f->precision >= 0)
        text_printf(out, "step_band_precision: %s\n", topo_precision_words[f->precision]);
}

/* A line as it is; but a server beside the catalogue's file is named, for the new file lies elsewhere. */
static void put_line(struct text *out, const char *s, size_t n)
{
    static const char beside[] = "server: ../servers/";
    size_t begin = sizeof beside - 1;
    if (strncmp(s, beside, begin) == 0)
        text_printf(out, "server: %.*s\n", (int)strcspn(s + begin, ".\n"), s + begin);
    else
        text_printf(out, "%.*s\n", (int)n, s);
}

/* What was written by lines is read again: a map in braces, say, has no line of its own for a key. */
static int check_npu_map(const struct text *out, const struct step_fit *f, struct err *e)
{
    struct yaml_doc doc = { .root = -1 };
    struct err why = { 0 };
    int rc = text_check(out, e);
    if (!rc && (rc = yaml_read_text(&doc, text_str(&f->npu), text_str(out), out->n, &why)))
        rc = rc == ERR_NOMEM
                 ? err_nomem(e, text_str(&f->npu))
                 : err_set(e, ERR_PARSE,
                           "%s: is not a map with a line for each key; write it so, not in braces",
                           text_str(&f->npu));
    yaml_free(&doc);
    return rc;
}

/* The file with its figure replaced, or with one more key; and with its band, in place of an older one. */
static int put_file(struct text *out, const struct step_fit *f, struct err *e)
{
    static const char key[] = "matrix_efficiency:", band[] = "step_band";
    struct text file = { 0 };
    bool put = false;
    int rc = text_read_file(&file, text_str(&f->npu), YAML_MAX_BYTES, e);
    size_t n;
    for (const char *rest = text_str(&file), *s; !rc && (s = text_next(&rest, '\n', &n));) {
        bool own = strncmp(s, key, sizeof key - 1) == 0;
        if (own)
            text_printf(out, "%s %.3g\n", key, f->share);
        else if (strncmp(s, band, sizeof band - 1) != 0)
            put_line(out, s, n);
        put = put || own;
    }
    if (!rc && !put)
        text_printf(out, "%s %.3g\n", key, f->share);
    put_band(out, f);
    text_free(&file);
    return rc ? rc : check_npu_map(out, f, e);
}

int calibrate_steps(struct text *out, struct run *run, const struct table *t, const char *path, struct err *e)
{
    struct step_fit f = { .table_path = path };
    catalogue_path(&f.npu, "npus", run->opt.npu);
    int rc = text_check(&f.npu, e);
    rc = rc ? rc : read_steps(&f, t, e);
    rc = rc ? rc : fit_steps(&f, e);
    if (!rc) {
        put_comments(out, &f);
        rc = put_file(out, &f, e);
    }
    if (!rc && f.share >= 0.999)
        output_warn(run,
                    "%s: the steps are faster than products at the peak: matrix_efficiency is at its bound",
                    path);
    if (!rc && f.n == 1)
        output_warn(run, "%s: one step fits any figure; more of them, of other plans, tell whether it holds",
                    path);
    for (int32_t i = 0; i < f.n; i++)
        text_free(&f.items[i].study);
    text_free(&f.npu);
    return rc;
}
