#include "sim/fit_npu.h"

#include <float.h>
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workloads/block.h"

const char *const fit_operator_words[N_FIT_OPERATORS + 1] = { "stream", "matrix", "attention", "flash" };

void fit_npu_free(struct fit_npu *f)
{
    free(f->rows);
    f->rows = NULL;
    f->n = 0;
}

/* ---- reading ---- */

/* Far beyond any operator, and products of four of them are still numbers. */
#define MOST_VALUE 1e18

struct reading {
    const struct table *t;
    const char *name;
    int64_t row;
};

/* Value of a column; `absent` where it is not there or blank, and NaN makes that an error. */
static int read_value(double *out, const struct reading *r, const char *column, double absent, struct err *e)
{
    int32_t col = table_find(r->t, column);
    double x = col >= 0 ? table_number(r->t, r->row, col) : NAN;
    *out = isnan(x) ? absent : x;
    if ((*out > 0 && *out <= MOST_VALUE) || (*out >= 0 && absent >= 0 && isnan(x)))
        return 0;
    if (*out > MOST_VALUE)
        return err_set(e, ERR_PARSE, "%s: row %lld: %s is %g, need at most %g", r->name,
                       (long long)r->row + 1, column, *out, MOST_VALUE);
    return err_set(e, ERR_PARSE, "%s: row %lld: %s is %s, need a number above 0", r->name,
                   (long long)r->row + 1, column, isnan(*out) ? "not given" : "0 or less");
}

static int read_op(enum fit_operator *out, const struct reading *r, struct err *e)
{
    int32_t col = table_find(r->t, "op");
    const char *word = col >= 0 ? table_cell(r->t, r->row, col)->text : NULL;
    for (int i = 0; i < N_FIT_OPERATORS && word; i++)
        if (strcmp(word, fit_operator_words[i]) == 0) {
            *out = (enum fit_operator)i;
            return 0;
        }
    return err_set(e, ERR_PARSE, "%s: row %lld: op is %.40s, need stream, matrix, attention or flash",
                   r->name, (long long)r->row + 1, word ? word : "not given");
}

static int read_row(struct fit_row *row, const struct reading *r, struct err *e)
{
    double us, gflop = 0;
    *row = (struct fit_row){ .batch = 1 };
    int rc = read_op(&row->op, r, e);
    if (!rc)
        rc = read_value(&us, r, "time_us", NAN, e);
    if (rc)
        return rc;
    row->time_s = us / 1e6;
    if (row->op == FIT_STREAM)
        return read_value(&row->bytes, r, "bytes", NAN, e);
    if (row->op == FIT_FLASH) {
        rc = read_value(&gflop, r, "GFLOP", NAN, e);
        row->flop = gflop * 1e9;
        return rc ? rc : read_value(&row->bytes, r, "bytes", 0, e);
    }
    if ((rc = read_value(&row->m, r, "m", NAN, e)) || (rc = read_value(&row->n, r, "n", NAN, e)) ||
        (rc = read_value(&row->k, r, "k", NAN, e)))
        return rc;
    return read_value(&row->batch, r, "batch", 1, e);
}

int fit_npu_read(struct fit_npu *f, const struct table *t, const char *name, struct err *e)
{
    struct reading r = { t, name, 0 };
    f->n = 0;
    f->rows = calloc((size_t)t->n_rows + 1, sizeof *f->rows);
    if (!f->rows)
        return err_nomem(e, "operators");
    for (r.row = 0; r.row < t->n_rows; r.row++) {
        int rc = read_row(&f->rows[f->n], &r, e);
        if (rc) {
            fit_npu_free(f);
            return rc;
        }
        f->n++;
    }
    return 0;
}

/* ---- fitting ---- */

static double model_time(const struct topo_npu *npu, const struct fit_row *row)
{
    const struct roofline_product p = { row->m, row->n, row->k, row->batch };
    switch (row->op) {
    case FIT_STREAM:
        return roofline_stream_s(npu, row->bytes, 1);
    case FIT_MATRIX:
        return roofline_product_s(npu, &p, 1);
    case FIT_ATTENTION:
        return roofline_product_s(npu, &p, npu->attention);
    case FIT_FLASH:
        return roofline_flash_s(npu, row->flop, row->bytes);
    case N_FIT_OPERATORS:
        break;
    }
    return NAN;
}

enum { MAX_UNKNOWNS = 3 };

enum npu_field { MEM, KERNEL, MATRIX, HALF_OUT, HALF_IN, ATTENTION, FLASH };

static double *field_of(struct topo_npu *npu, enum npu_field f)
{
    double *const fields[] = { &npu->mem_efficiency, &npu->kernel_s, &npu->matrix_efficiency,
                               &npu->half_out,       &npu->half_in,  &npu->attention,
                               &npu->flash };
    return fields[f];
}

/* One thing to fit: a number of the NPU, in a scale where every real number is legal. */
struct unknown {
    enum npu_field field;
    bool share;  /* within (0, 1]: x/(1 + x) of exp; else exp */
    double unit; /* value at 0 */
};

struct fitting {
    struct fit_npu *f;
    enum fit_operator op;
    const struct unknown *unknowns;
    size_t n;
};

/* A share has the range of its key, a size or a time none but what doubles hold. */
#define LEAST_SHARE 1e-3

static double value_at(const struct unknown *u, double x)
{
    double y = exp(fmax(fmin(x, 40), -40));
    return u->share ? fmax(y / (1 + y), LEAST_SHARE) : u->unit * y;
}

static void set_values(struct topo_npu *npu, const struct fitting *x, const gsl_vector *at)
{
    for (size_t i = 0; i < x->n; i++)
        *field_of(npu, x->unknowns[i].field) = value_at(&x->unknowns[i], gsl_vector_get(at, i));
}

static double misfit(const gsl_vector *at, void *data)
{
    const struct fitting *x = data;
    struct topo_npu npu = x->f->npu;
    double sum = 0;
    set_values(&npu, x, at);
    for (int32_t i = 0; i < x->f->n; i++) {
        const struct fit_row *row = &x->f->rows[i];
        if (row->op != x->op)
            continue;
        double off = log(model_time(&npu, row) / row->time_s);
        sum += off * off;
    }
    return isfinite(sum) ? sum : DBL_MAX / 1e10; /* the method stops the program at what is no number */
}

/* Four digits: more than any measurement has. */
static double rounded(double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.4g", x);
    return strtod(text, NULL);
}

enum { MOST_STEPS = 4000 };

static int minimise(struct fitting *x, struct err *e)
{
    gsl_vector *start = gsl_vector_calloc(x->n), *step = gsl_vector_alloc(x->n);
    gsl_multimin_fminimizer *search = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, x->n);
    gsl_multimin_function function = { misfit, x->n, x };
    int rc = start && step && search ? 0 : err_nomem(e, "a fit");
    if (!rc) {
        gsl_vector_set_all(step, 1);
        gsl_multimin_fminimizer_set(search, &function, start, step);
        for (int i = 0; i < MOST_STEPS && gsl_multimin_fminimizer_size(search) > 1e-7; i++)
            if (gsl_multimin_fminimizer_iterate(search))
                break;
        set_values(&x->f->npu, x, gsl_multimin_fminimizer_x(search));
        for (size_t i = 0; i < x->n; i++) {
            double *value = field_of(&x->f->npu, x->unknowns[i].field);
            *value = rounded(*value);
        }
    }
    if (search)
        gsl_multimin_fminimizer_free(search);
    gsl_vector_free(start);
    gsl_vector_free(step);
    return rc;
}

static void count_errors(struct fit_npu *f)
{
    for (int k = 0; k < N_FIT_OPERATORS; k++)
        f->kinds[k].mean_frac = f->kinds[k].max_frac = 0;
    for (int32_t i = 0; i < f->n; i++) {
        struct fit_row *row = &f->rows[i];
        row->model_s = model_time(&f->npu, row);
        double off = fabs(row->model_s / row->time_s - 1);
        f->kinds[row->op].mean_frac += off / f->kinds[row->op].n;
        f->kinds[row->op].max_frac = fmax(f->kinds[row->op].max_frac, off);
    }
}

int fit_npu(struct fit_npu *f, struct err *e)
{
    static const struct unknown stream[] = { { MEM, true, 1 }, { KERNEL, false, 1e-6 } };
    static const struct unknown matrix[] = { { MATRIX, true, 1 },
                                             { HALF_OUT, false, 50 },
                                             { HALF_IN, false, 50 } };
    static const struct unknown attention[] = { { ATTENTION, true, 1 } };
    static const struct unknown flash[] = { { FLASH, true, 1 } };
    struct fitting fits[N_FIT_OPERATORS] = { { f, FIT_STREAM, stream, 2 },
                                             { f, FIT_MATRIX, matrix, 3 },
                                             { f, FIT_ATTENTION, attention, 1 },
                                             { f, FIT_FLASH, flash, 1 } };
    if (!(f->npu.peak_flops > 0) || !(f->npu.mem_Bps > 0))
        return err_set(e, ERR_RANGE, "NPU has no %s, need it",
                       f->npu.peak_flops > 0 ? "mem_GBps" : "peak_TFLOPS");
    if (f->n == 0)
        return err_set(e, ERR_RANGE, "0 rows, need operators to fit to");
    f->npu.n_sizes = 0; /* half sizes take their place */
    for (int k = 0; k < N_FIT_OPERATORS; k++)
        f->kinds[k].n = 0;
    for (int32_t i = 0; i < f->n; i++)
        f->kinds[f->rows[i].op].n++;
    for (int k = 0; k < N_FIT_OPERATORS; k++) {
        if (f->kinds[k].n == 0)
            continue;
        if ((size_t)f->kinds[k].n < fits[k].n)
            return err_set(e, ERR_RANGE, "%d rows of %s, need %d or more", (int)f->kinds[k].n,
                           fit_operator_words[k], (int)fits[k].n);
        int rc = minimise(&fits[k], e);
        if (rc)
            return rc;
    }
    count_errors(f);
    return 0;
}
