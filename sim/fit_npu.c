/*
 * Figures of an NPU fitted to tables of measured operators, whoever made them: columns are named by the
 * caller, words of operators and passes are those of common tools.
 *
 * Model: the roofline of workloads/block.h, at the ceiling of a precision (topo_npu_peak()); of grouped
 * products with group_half_out for the rows of a group, which are the inner size of weight gradients; of
 * fused attention topo_npu_attention_rate(). Each kind of operator depends on numbers of its own, so small
 * fits in a fixed order take the place of one of twenty unknowns.
 *
 * What rows cannot tell is not invented: a half size needs sizes that span a factor of SPAN, and an
 * improvement by Schwarz's criterion, n ln(SS/n) + k ln n. Everything kept, left out or not seen is a note.
 */
#include "sim/fit_npu.h"

#include <float.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "workloads/block.h"

const char *const fit_operator_words[N_FIT_OPERATORS + 1] = { "stream",    "matrix", "grouped",
                                                              "attention", "flash",  "fused" };
const char *const fit_pass_words[N_FIT_PASSES + 1] = { "forward", "backward", "weight" };
const char *const fit_heads_words[N_FIT_HEADS] = { "", "low rank", "narrow" };
const char *const fit_column_words[N_FIT_COLUMNS + 1] = {
    "op",    "pass", "precision", "recipe",     "m",      "n",     "k",     "batch",   "groups",
    "heads", "seq",  "head_dim",  "v_head_dim", "causal", "bytes", "GFLOP", "time_us", "TFLOPS",
};

/* Sizes that span less say nothing of a half size. */
#define SPAN 8.0

/* Weight gradients of experts are added to those before in the kernel's own epilogue: two bytes read besides
 * the product's own, and two read and written, as 16-bit gradients of the model take (grad_B: 2). */
#define GROUP_ACCUMULATE_B 6.0

#define FUSED_BACK_FLOP 2.5 /* five products after two */

void fit_npu_free(struct fit_npu *f)
{
    free(f->rows);
    text_free(&f->notes);
    f->rows = NULL;
    f->n = 0;
}

enum fit_heads fit_heads_of(const struct topo_npu_heads *heads)
{
    if (heads->key_dim > heads->v_dim)
        return FIT_LOW_RANK;
    return heads->key_dim <= 64 ? FIT_NARROW : FIT_WIDE;
}

/* ---- reading ---- */

int fit_columns_take(struct fit_columns *c, const char *text, struct err *e)
{
    size_t n;
    for (const char *rest = text; (text = text_next(&rest, ',', &n));) {
        size_t name = strcspn(text, "=,");
        int32_t col = -1;
        if (name == 0 || name + 1 >= n || n - name > FIT_COLUMN_NAME)
            return err_set(e, ERR_USAGE, "option --column is \"%.100s\", expected NAME=COLUMN", text);
        for (int32_t k = 0; k < N_FIT_COLUMNS; k++)
            if (strlen(fit_column_words[k]) == name && strncmp(fit_column_words[k], text, name) == 0)
                col = k;
        if (col < 0) {
            char word[FIT_COLUMN_NAME];
            snprintf(word, sizeof word, "%.*s", (int)name, text);
            err_set(e, ERR_USAGE, "option --column names \"%s\", which no operator has", word);
            return err_suggest(e, text_nearest(word, fit_column_words, N_FIT_COLUMNS));
        }
        snprintf(c->name[col], FIT_COLUMN_NAME, "%.*s", (int)(n - name - 1), text + name + 1);
    }
    return 0;
}

/* Far beyond any operator, and products of four of them are still numbers. */
#define MOST_VALUE 1e18

struct npu_reading {
    const struct table *t;
    const char *name;
    const char *columns[N_FIT_COLUMNS]; /* as the table calls them */
    int32_t at[N_FIT_COLUMNS];          /* -1: not there */
    int64_t row;
    struct {
        char what[64];
        int32_t n;
    } left[FIT_MAX_LEFT];
    int32_t n_left;
};

static int find_columns(struct npu_reading *r, const struct fit_columns *columns, struct err *e)
{
    for (int32_t k = 0; k < N_FIT_COLUMNS; k++) {
        const char *given = columns ? columns->name[k] : "";
        r->columns[k] = *given ? given : fit_column_words[k];
        r->at[k] = table_find(r->t, r->columns[k]);
        if (*given && r->at[k] < 0) {
            err_set(e, ERR_USAGE, "option --column: %s has no column \"%s\"", r->name, given);
            return err_suggest(e,
                               text_nearest(given, (const char *const *)r->t->names, (size_t)r->t->n_cols));
        }
    }
    return 0;
}

/* A cell as the file has it, "" where blank or not there; @p room holds it. */
static const char *cell(struct text *room, const struct npu_reading *r, enum fit_column col)
{
    text_clear(room);
    if (r->at[col] >= 0)
        table_cell_text(room, r->t, r->row, r->at[col]);
    return text_str(room);
}

static int fail_cell(const struct npu_reading *r, enum fit_column col, const char *is, const char *want,
                     struct err *e)
{
    return err_set(e, ERR_PARSE, "%s: row %lld: %s is %.60s, expected %s", r->name, (long long)r->row + 1,
                   r->columns[col], *is ? is : "not given", want);
}

/* Numbers above 0 with ';' between them. @return how many, or -1 after an error; a blank cell is one
 * @p absent, where that is a number. */
static int32_t fit_read_numbers(double out[FIT_MAX_PARTS], const struct npu_reading *r, enum fit_column col,
                                double absent, struct err *e)
{
    struct text room = { 0 };
    const char *text = cell(&room, r, col), *at = text;
    int32_t n = 0;
    if (!*text && !isnan(absent)) {
        out[n++] = absent;
    } else {
        for (bool more = true; more && n < FIT_MAX_PARTS; at++) {
            char *end;
            double x = strtod(at, &end);
            if (end == at || (*end && *end != ';') || !(x > 0 && x <= MOST_VALUE)) {
                fail_cell(r, col, text, "a number above 0", e);
                n = -1;
                break;
            }
            out[n++] = x;
            more = *end == ';';
            at = end;
        }
    }
    text_free(&room);
    return n;
}

static int read_value(double *out, const struct npu_reading *r, enum fit_column col, double absent,
                      struct err *e)
{
    double list[FIT_MAX_PARTS];
    int32_t n = fit_read_numbers(list, r, col, absent, e);
    if (n != 1)
        return n < 0 ? e->code : fail_cell(r, col, "a list", "one number", e);
    *out = list[0];
    return 0;
}

/* A word of some tool for one of ours. */
struct synonym {
    const char *word;
    int32_t is;
};

static int32_t look_up(const char *word, const struct synonym *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(word, list[i].word) == 0)
            return list[i].is;
    return -1;
}

#define LOOK_UP(word, list) look_up(word, list, sizeof(list) / sizeof *(list))

static const struct synonym op_words[] = {
    { "stream", FIT_STREAM },        { "triad", FIT_STREAM },        { "copy", FIT_STREAM },
    { "elementwise", FIT_STREAM },   { "matrix", FIT_MATRIX },       { "gemm", FIT_MATRIX },
    { "matmul", FIT_MATRIX },        { "linear", FIT_MATRIX },       { "grouped", FIT_GROUPED },
    { "grouped_gemm", FIT_GROUPED }, { "group_gemm", FIT_GROUPED },  { "attention", FIT_ATTENTION },
    { "flash", FIT_FLASH },          { "fused", FIT_FUSED },         { "sdpa", FIT_FUSED },
    { "attention_fwd", FIT_FUSED },  { "attention_bwd", FIT_FUSED }, { "flash_attention", FIT_FUSED },
};
static const struct synonym pass_words[] = {
    { "forward", FIT_FORWARD },   { "fwd", FIT_FORWARD },   { "", FIT_FORWARD },
    { "backward", FIT_BACKWARD }, { "bwd", FIT_BACKWARD },  { "dgrad", FIT_BACKWARD },
    { "input", FIT_BACKWARD },    { "weight", FIT_WEIGHT }, { "wgrad", FIT_WEIGHT },
};
static const struct synonym precision_words[] = {
    { "", TOPO_BF16 },       { "bf16", TOPO_BF16 }, { "fp16", TOPO_BF16 },   { "fp8", TOPO_FP8 },
    { "mxfp8", TOPO_MXFP8 }, { "fp4", TOPO_NVFP4 }, { "nvfp4", TOPO_NVFP4 },
};

static bool leave_out(struct npu_reading *r, const char *what)
{
    int32_t i = 0;
    while (i < r->n_left && strcmp(r->left[i].what, what) != 0)
        i++;
    if (i == FIT_MAX_LEFT) /* all others in the last line */
        snprintf(r->left[--i].what, sizeof r->left[i].what, "others");
    else if (i == r->n_left)
        snprintf(r->left[r->n_left++].what, sizeof r->left[i].what, "%s", what);
    r->left[i].n++;
    return false;
}

/* Operator, pass and precision; false for a row that is left out. */
static bool read_words(struct fit_row *row, struct npu_reading *r, const struct topo_npu *npu)
{
    struct text room = { 0 };
    char why[64];
    bool takes = true;
    const char *word = cell(&room, r, FIT_COL_OP);
    int32_t op = LOOK_UP(word, op_words), is;
    if (op < 0) {
        snprintf(why, sizeof why, "op %.40s", *word ? word : "blank");
        takes = leave_out(r, why);
        goto out;
    }
    row->op = (enum fit_operator)op;
    if (strcasecmp(word, "attention_bwd") == 0)
        row->pass = FIT_BACKWARD;
    word = cell(&room, r, FIT_COL_PASS);
    is = LOOK_UP(word, pass_words);
    if (is < 0) {
        snprintf(why, sizeof why, "pass %.40s", word);
        takes = leave_out(r, why);
        goto out;
    }
    if (*word)
        row->pass = (enum fit_pass)is;
    word = cell(&room, r, FIT_COL_PRECISION);
    is = LOOK_UP(word, precision_words);
    if (is == TOPO_FP8 && strcasecmp(cell(&room, r, FIT_COL_RECIPE), "mxfp8") == 0)
        is = TOPO_MXFP8;
    if (is < 0 || isnan(topo_npu_peak(npu, (enum topo_precision)is))) {
        snprintf(why, sizeof why, "precision %.12s, for which the NPU has no peak",
                 is < 0 ? cell(&room, r, FIT_COL_PRECISION) : topo_precision_words[is]);
        takes = leave_out(r, why);
        goto out;
    }
    row->precision = (enum topo_precision)is;
    row->heads.fp8 = row->op == FIT_FUSED && is != TOPO_BF16;
out:
    text_free(&room);
    return takes;
}

/* Lists of equal length, or one value for all. */
static int read_products(struct fit_row *row, const struct npu_reading *r, struct err *e)
{
    double sides[3][FIT_MAX_PARTS], batch;
    int32_t n[3];
    for (int k = 0; k < 3; k++) {
        n[k] = fit_read_numbers(sides[k], r, (enum fit_column)(FIT_COL_M + k), NAN, e);
        if (n[k] < 0)
            return e->code;
        row->n_parts = n[k] > row->n_parts ? n[k] : row->n_parts;
    }
    for (int k = 0; k < 3; k++)
        if (n[k] != 1 && n[k] != row->n_parts)
            return err_set(e, ERR_PARSE,
                           "%s: row %lld: m, n and k are lists of %d, %d and %d numbers, "
                           "expected as many of each",
                           r->name, (long long)r->row + 1, (int)n[0], (int)n[1], (int)n[2]);
    int rc = read_value(&batch, r, row->op == FIT_GROUPED ? FIT_COL_GROUPS : FIT_COL_BATCH,
                        row->op == FIT_GROUPED ? NAN : 1, e);
    for (int32_t i = 0; i < row->n_parts; i++) {
        row->parts[i] = (struct fit_part){ sides[0][n[0] > 1 ? i : 0], sides[1][n[1] > 1 ? i : 0],
                                           sides[2][n[2] > 1 ? i : 0], batch };
        row->flop += 2 * row->parts[i].m * row->parts[i].n * row->parts[i].k * batch;
    }
    return rc;
}

static int read_heads(struct fit_row *row, const struct npu_reading *r, struct err *e)
{
    static const struct synonym yes_no[] = { { "", 1 },       { "1", 1 }, { "true", 1 },  { "yes", 1 },
                                             { "causal", 1 }, { "0", 0 }, { "false", 0 }, { "no", 0 } };
    double batch, heads, seq;
    struct text room = { 0 };
    int rc = 0;
    if (read_value(&batch, r, FIT_COL_BATCH, 1, e) || read_value(&heads, r, FIT_COL_HEADS, NAN, e) ||
        read_value(&seq, r, FIT_COL_SEQ, NAN, e) ||
        read_value(&row->heads.key_dim, r, FIT_COL_HEAD_DIM, NAN, e) ||
        read_value(&row->heads.v_dim, r, FIT_COL_V_HEAD_DIM, row->heads.key_dim, e))
        return e->code;
    const char *word = cell(&room, r, FIT_COL_CAUSAL);
    int32_t causal = LOOK_UP(word, yes_no);
    if (causal < 0)
        rc = fail_cell(r, FIT_COL_CAUSAL, word, "0 or 1", e);
    text_free(&room);
    row->heads.rows = batch * heads * seq;
    row->heads.keys = seq;
    row->causal = causal > 0;
    row->flop = 2 * row->heads.rows * seq * (row->heads.key_dim + row->heads.v_dim) * (causal ? 0.5 : 1) *
                (row->pass == FIT_FORWARD ? 1 : FUSED_BACK_FLOP);
    return rc;
}

/* A time, or a rate over the FLOP of the row. */
static int read_time(struct fit_row *row, const struct npu_reading *r, struct err *e)
{
    double us, tflops;
    bool rate = row->flop > 0 && r->at[FIT_COL_RATE] >= 0;
    if (rate && r->at[FIT_COL_TIME] >= 0) {
        struct text room = { 0 };
        rate = !*cell(&room, r, FIT_COL_TIME);
        text_free(&room);
    }
    int rc = rate ? read_value(&tflops, r, FIT_COL_RATE, NAN, e) : read_value(&us, r, FIT_COL_TIME, NAN, e);
    if (!rc)
        row->time_s = rate ? row->flop / (tflops * 1e12) : us / 1e6;
    return rc;
}

/* Which columns a row needs depends on its operator. */
static int fit_read_row(struct fit_row *row, const struct npu_reading *r, struct err *e)
{
    double gflop;
    int rc = 0;
    switch (row->op) {
    case FIT_STREAM:
        rc = read_value(&row->bytes, r, FIT_COL_BYTES, NAN, e);
        break;
    case FIT_FLASH:
        rc = read_value(&gflop, r, FIT_COL_GFLOP, NAN, e);
        if (!rc) {
            row->flop = gflop * 1e9;
            rc = read_value(&row->bytes, r, FIT_COL_BYTES, 0, e);
        }
        break;
    case FIT_FUSED:
        rc = read_heads(row, r, e);
        break;
    case FIT_MATRIX:
    case FIT_GROUPED:
    case FIT_ATTENTION:
        rc = read_products(row, r, e);
        break;
    case N_FIT_OPERATORS:
        break;
    }
    return rc ? rc : read_time(row, r, e);
}

/* All rows or none: on an error the rows read so far are released. */
int fit_npu_read(struct fit_npu *f, const struct table *t, const struct fit_columns *columns,
                 const char *name, struct err *e)
{
    struct npu_reading r = { .t = t, .name = name };
    f->n = 0;
    int rc = find_columns(&r, columns, e);
    if (rc)
        return rc;
    f->rows = calloc((size_t)t->n_rows + 1, sizeof *f->rows);
    if (!f->rows)
        return err_nomem(e, "operators");
    for (r.row = 0; r.row < t->n_rows && !rc; r.row++) {
        struct fit_row *row = &f->rows[f->n];
        *row = (struct fit_row){ .n_parts = 0 };
        if (read_words(row, &r, &f->npu)) {
            rc = fit_read_row(row, &r, e);
            f->n++;
        }
    }
    for (int32_t i = 0; i < r.n_left; i++)
        text_printf(&f->notes, "left out: %s (%d row%s)\n", r.left[i].what, (int)r.left[i].n,
                    r.left[i].n == 1 ? "" : "s");
    if (!rc && f->n == 0 && t->n_rows > 0)
        rc = err_set(e, ERR_PARSE,
                     "%s: row 1: %s, which is no operator of an NPU; expected one of stream, "
                     "matrix, grouped, attention, flash, fused",
                     name, r.n_left ? r.left[0].what : "");
    if (rc)
        fit_npu_free(f);
    return rc;
}

/* ---- the model ---- */

/* Products at any precision: operands in its bytes, the result in two. */
static double product_time(const struct topo_npu *npu, const struct fit_row *row, const struct fit_part *part)
{
    const bool weight = row->op == FIT_GROUPED && row->pass == FIT_WEIGHT;
    struct roofline_product p = { part->m, part->n, part->k, part->batch };
    if (row->op == FIT_ATTENTION)
        return roofline_product_s(npu, &p, npu->attention);
    if (row->op == FIT_GROUPED && row->pass == FIT_BACKWARD)
        p = (struct roofline_product){ part->m, part->k, part->n, part->batch };
    if (weight)
        p = (struct roofline_product){ part->k, part->n, part->m, part->batch };
    double share =
        row->op == FIT_GROUPED ? roofline_group_efficiency(npu, &p, weight) : roofline_efficiency(npu, &p);
    return roofline_precise_s(npu, &p, row->precision, share,
                              weight ? GROUP_ACCUMULATE_B * p.m * p.n * p.batch : 0);
}

static double fused_time(const struct fit_npu *f, const struct topo_npu *npu, const struct fit_row *row)
{
    for (int32_t i = 0; i < npu->n_kernels; i++)
        if (npu->kernels[i].kernel == f->kernel)
            return row->flop / topo_npu_attention_rate(
                                   npu, &npu->kernels[i],
                                   row->pass == FIT_FORWARD ? TOPO_FORWARD : TOPO_BACKWARD, &row->heads) +
                   npu->kernel_s;
    return NAN;
}

/* The time that the model gives the operator on this NPU, with the figures under trial. */
static double model_time(const struct fit_npu *f, const struct topo_npu *npu, const struct fit_row *row)
{
    double time_s = 0;
    switch (row->op) {
    case FIT_STREAM:
        return roofline_stream_s(npu, row->bytes, 1);
    case FIT_FLASH:
        return roofline_flash_s(npu, row->flop, row->bytes);
    case FIT_FUSED:
        return fused_time(f, npu, row);
    case FIT_MATRIX:
    case FIT_GROUPED:
    case FIT_ATTENTION:
        for (int32_t i = 0; i < row->n_parts; i++)
            time_s += product_time(npu, row, &row->parts[i]);
        return time_s;
    case N_FIT_OPERATORS:
        break;
    }
    return NAN;
}

/* ---- one fit ---- */

enum { MAX_UNKNOWNS = 3 };

/* Which of the sizes of a row a half size is about. */
enum size_of { SIZE_NONE, SIZE_OUT, SIZE_IN, SIZE_TILES, SIZE_KEYS };

/* One thing to fit: a number of the NPU, in a scale where every real number is legal. */
struct unknown {
    const char *key;   /* NULL: of the kernel */
    size_t offset;     /* of a double in struct topo_npu */
    bool share;        /* within (0, 1]: x/(1 + x) of exp; else exp */
    double unit;       /* value at 0 */
    double key_unit;   /* that of the file over SI */
    enum size_of size; /* what it is the half size of; such a one may stay out */
};

/* Rows of one operator, precision, pass and kind of heads, -1: of any, and what they are to tell. */
struct npu_fitting {
    struct fit_npu *f;
    enum fit_operator op;
    int precision, pass, heads;
    struct unknown unknowns[MAX_UNKNOWNS];
    int32_t n;
    bool in[MAX_UNKNOWNS]; /* which are under trial */
};

static bool takes_row(const struct npu_fitting *x, const struct fit_row *row)
{
    return row->op == x->op && (x->precision < 0 || (int)row->precision == x->precision) &&
           (x->pass < 0 || (int)row->pass == x->pass) &&
           (x->heads < 0 || (int)fit_heads_of(&row->heads) == x->heads);
}

static double *field(struct topo_npu *npu, const struct unknown *u)
{
    return (void *)((char *)npu + u->offset);
}

/* A share has the range of its key, a size or a time none but what doubles hold. */
#define LEAST_SHARE 1e-3
#define MOST_SHARE  0.9995

static double value_at(const struct unknown *u, double x)
{
    double y = exp(fmax(fmin(x, 40), -40));
    return u->share ? fmax(y / (1 + y), LEAST_SHARE) : u->unit * y;
}

static void set_values(struct topo_npu *npu, const struct npu_fitting *x, const gsl_vector *at)
{
    size_t k = 0;
    for (int32_t i = 0; i < x->n; i++)
        if (x->in[i])
            *field(npu, &x->unknowns[i]) = value_at(&x->unknowns[i], gsl_vector_get(at, k++));
}

/* Sum of squared logarithms of model over measurement: a factor of two too slow counts as much as one too
 * fast, and short operators as much as long ones. */
static double squares(const struct npu_fitting *x, const struct topo_npu *npu)
{
    double sum = 0;
    for (int32_t i = 0; i < x->f->n; i++) {
        const struct fit_row *row = &x->f->rows[i];
        if (!takes_row(x, row))
            continue;
        double off = log(model_time(x->f, npu, row) / row->time_s);
        sum += off * off;
    }
    return isfinite(sum) ? sum : DBL_MAX / 1e10; /* the method stops the program at what is no number */
}

static double misfit(const gsl_vector *at, void *data)
{
    const struct npu_fitting *x = data;
    struct topo_npu npu = x->f->npu;
    set_values(&npu, x, at);
    return squares(x, &npu);
}

/* Four digits: more than any measurement has. */
static double four_digits(double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.4g", x);
    return strtod(text, NULL);
}

enum { MOST_STEPS = 4000 };

/* Nelder-Mead simplex from a unit step in the unbounded scale of struct unknown, so that shares stay within
 * (0, 1] without constraints. Leaves the result in f->npu. */
static int minimise(struct npu_fitting *x, struct err *e)
{
    size_t n = 0;
    for (int32_t i = 0; i < x->n; i++)
        n += x->in[i];
    /* Its own handler ends the process where memory is short. */
    gsl_error_handler_t *before = gsl_set_error_handler_off();
    gsl_vector *start = gsl_vector_calloc(n), *step = gsl_vector_alloc(n);
    gsl_multimin_fminimizer *search = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, n);
    gsl_multimin_function function = { misfit, n, x };
    int rc = start && step && search ? 0 : err_nomem(e, "a fit");
    if (!rc) {
        gsl_vector_set_all(step, 1);
        gsl_multimin_fminimizer_set(search, &function, start, step);
        for (int i = 0; i < MOST_STEPS && gsl_multimin_fminimizer_size(search) > 1e-7; i++)
            if (gsl_multimin_fminimizer_iterate(search))
                break;
        set_values(&x->f->npu, x, gsl_multimin_fminimizer_x(search));
    }
    if (search)
        gsl_multimin_fminimizer_free(search);
    gsl_vector_free(start);
    gsl_vector_free(step);
    gsl_set_error_handler(before);
    return rc;
}

/* ---- which numbers the rows can tell ---- */

static void widen(double span[2], double size)
{
    span[0] = fmin(span[0], size);
    span[1] = fmax(span[1], size);
}

static void row_sizes(double span[2], const struct fit_row *row, enum size_of size)
{
    for (int32_t i = 0; i < row->n_parts && row->op == FIT_GROUPED; i++)
        widen(span, row->parts[i].m);
    for (int32_t i = 0; i < row->n_parts && row->op != FIT_GROUPED; i++) {
        widen(span, size == SIZE_IN ? row->parts[i].k : row->parts[i].m);
        if (size == SIZE_OUT)
            widen(span, row->parts[i].n);
    }
    if (row->op == FIT_FUSED)
        widen(span, size == SIZE_KEYS ? row->heads.keys : row->heads.rows);
}

static double span_of(const struct npu_fitting *x, enum size_of size)
{
    double span[2] = { INFINITY, 0 };
    for (int32_t i = 0; i < x->f->n; i++)
        if (takes_row(x, &x->f->rows[i]))
            row_sizes(span, &x->f->rows[i], size);
    return span[1] / span[0];
}

static int32_t count_rows(const struct npu_fitting *x)
{
    int32_t n = 0;
    for (int32_t i = 0; i < x->f->n; i++)
        n += takes_row(x, &x->f->rows[i]);
    return n;
}

/* What the file calls it, also of a kernel. */
static const char *key_of(const struct npu_fitting *x, int32_t i)
{
    static const char *const names[][2] = { { "half_tiles_forward", "half_tiles_backward" },
                                            { "half_seq", "half_seq" } };
    const struct unknown *u = &x->unknowns[i];
    return u->key ? u->key : names[u->size == SIZE_KEYS][x->pass == FIT_BACKWARD];
}

/* Which half sizes may be looked for; of the others a note says why not. */
static void find_candidates(const struct npu_fitting *x, int32_t n_rows, bool may[MAX_UNKNOWNS])
{
    for (int32_t i = 0; i < x->n; i++) {
        const struct unknown *u = &x->unknowns[i];
        may[i] = true;
        if (u->size == SIZE_NONE)
            continue;
        double span = span_of(x, u->size);
        if (u->size == SIZE_TILES && !x->f->npu.sms) {
            may[i] = false;
            text_printf(&x->f->notes, "not seen: %s, for the NPU does not give sms\n", key_of(x, i));
        } else if (span < SPAN) {
            may[i] = false;
            text_printf(&x->f->notes, "kept as given: %s, %.4g: sizes span a factor of %.3g, %g tell\n",
                        key_of(x, i), *field(&x->f->npu, u), span, SPAN);
        } else if (n_rows < 2 * x->n) {
            may[i] = false;
            text_printf(&x->f->notes, "kept as given: %s, %.4g: %d row%s, %d tell\n", key_of(x, i),
                        *field(&x->f->npu, u), (int)n_rows, n_rows == 1 ? "" : "s", (int)(2 * x->n));
        }
    }
}

/* The least score of all sets of half sizes: n ln(SS/n) + k ln n. What exact rows leave is rounding. */
static int choose_set(struct npu_fitting *x, int32_t n_rows, const bool may[MAX_UNKNOWNS], struct err *e)
{
    const double exact = 1e-12;
    struct topo_npu best = x->f->npu, given = x->f->npu;
    double least = INFINITY;
    bool chosen[MAX_UNKNOWNS] = { false };
    for (uint32_t set = 0; set < 1U << x->n; set++) {
        bool legal = true;
        int32_t k = 0;
        x->f->npu = given;
        for (int32_t i = 0; i < x->n; i++) {
            x->in[i] = set >> i & 1;
            k += x->in[i];
            legal = legal && (x->in[i] ? may[i] : x->unknowns[i].size != SIZE_NONE);
            if (!x->in[i] && may[i])
                *field(&x->f->npu, &x->unknowns[i]) = 0;
        }
        if (!legal)
            continue;
        int rc = minimise(x, e);
        if (rc)
            return rc;
        double score = n_rows * log(squares(x, &x->f->npu) / n_rows + exact) + k * log(n_rows);
        if (score < least) {
            least = score;
            best = x->f->npu;
            memcpy(chosen, x->in, sizeof chosen);
        }
    }
    x->f->npu = best;
    memcpy(x->in, chosen, sizeof chosen);
    return 0;
}

/* Fit what the rows can tell, round it, and write down what was found. */
static int fit_one(struct npu_fitting *x, struct err *e)
{
    struct fit_npu *f = x->f;
    bool may[MAX_UNKNOWNS];
    int32_t n_rows = count_rows(x);
    if (n_rows == 0)
        return 0;
    if (x->op == FIT_STREAM && n_rows < x->n)
        return err_set(e, ERR_RANGE, "%d row of stream, expected 2 or more", (int)n_rows);
    find_candidates(x, n_rows, may);
    int rc = choose_set(x, n_rows, may, e);
    for (int32_t i = 0; i < x->n && !rc; i++) {
        double *value = field(&f->npu, &x->unknowns[i]);
        if (!may[i])
            continue;
        if (!x->in[i])
            text_printf(&f->notes, "not seen: %s, so 0: sizes span a factor of %.3g\n", key_of(x, i),
                        span_of(x, x->unknowns[i].size));
        *value = four_digits(*value);
        if (x->unknowns[i].share && *value >= MOST_SHARE)
            text_printf(&f->notes, "at its limit: %s, %.4g: the rows are faster than the NPU's peak allows\n",
                        key_of(x, i), *value);
        if (x->unknowns[i].key && f->n_keys < FIT_MAX_KEYS) {
            f->keys[f->n_keys].key = x->unknowns[i].key;
            f->keys[f->n_keys++].value = *value / x->unknowns[i].key_unit;
        } else {
            f->kernel_fitted = true;
        }
    }
    return rc;
}

/* ---- all of them, in order ---- */

#define NPU(field) offsetof(struct topo_npu, field)

/* @p of but for its unknowns. */
static int fit_rows(struct npu_fitting of, const struct unknown *unknowns, int32_t n, struct err *e)
{
    memcpy(of.unknowns, unknowns, (size_t)n * sizeof *unknowns);
    of.n = n;
    return fit_one(&of, e);
}

/* Rows of any pass and any heads; precision -1: of any. */
static int fit_operator(struct fit_npu *f, enum fit_operator op, int precision,
                        const struct unknown *unknowns, int32_t n, struct err *e)
{
    const struct npu_fitting of = { .f = f, .op = op, .precision = precision, .pass = -1, .heads = -1 };
    return fit_rows(of, unknowns, n, e);
}

static int fit_products(struct fit_npu *f, struct err *e)
{
    static const char *const keys[N_TOPO_PRECISIONS] = { NULL, "fp8_share", "mxfp8_share", "nvfp4_share" };
    const struct unknown matrix[] = { { "matrix_efficiency", NPU(matrix_efficiency), true, 1, 1, SIZE_NONE },
                                      { "matrix_half_out", NPU(half_out), false, 50, 1, SIZE_OUT },
                                      { "matrix_half_in", NPU(half_in), false, 50, 1, SIZE_IN } },
                         grouped = { "group_half_out", NPU(group_half_out), false, 50, 1, SIZE_NONE };
    int rc = fit_operator(f, FIT_MATRIX, TOPO_BF16, matrix, 3, e);
    for (int q = TOPO_FP8; q < N_TOPO_PRECISIONS && !rc; q++) {
        const struct unknown share = {
            keys[q], NPU(share) + (size_t)q * sizeof(double), true, 1, 1, SIZE_NONE
        };
        rc = fit_operator(f, FIT_MATRIX, q, &share, 1, e);
    }
    return rc ? rc : fit_operator(f, FIT_GROUPED, -1, &grouped, 1, e);
}

static int32_t count_op(const struct fit_npu *f, enum fit_operator op)
{
    int32_t n = 0;
    for (int32_t i = 0; i < f->n; i++)
        n += f->rows[i].op == op;
    return n;
}

/* The row of the kernel's rates; a new one where the NPU has none, or ERR_RANGE. */
static int find_kernel(struct fit_npu *f, int32_t *at, struct err *e)
{
    struct topo_npu *npu = &f->npu;
    if (!f->kernel_given && npu->n_kernels == 0)
        return err_set(e, ERR_RANGE,
                       "rows of fused attention are of a kernel that is not said; give --kernel");
    if (!f->kernel_given)
        f->kernel = npu->kernels[0].kernel;
    for (*at = 0; *at < npu->n_kernels; ++*at)
        if (npu->kernels[*at].kernel == f->kernel)
            return 0;
    npu->kernels[npu->n_kernels++] = (struct topo_npu_attention){
        .kernel = f->kernel,
        .flops = { npu->peak_flops / 2, npu->peak_flops / 2 },
        .low_rank = { 1, 1 },
        .narrow = 1,
        .fp8_forward = 1,
    };
    return 0;
}

#define KERNEL(field)  (base + offsetof(struct topo_npu_attention, field))
#define OF_PASS(field) (KERNEL(field) + (size_t)pass * sizeof(double))

/* Wide heads give rates and half sizes, the others factors on those. half_seq is of both passes: forward rows
 * tell it. */
static int fit_kernel(struct fit_npu *f, struct err *e)
{
    int32_t at = 0;
    int rc = find_kernel(f, &at, e);
    size_t base = NPU(kernels) + (size_t)at * sizeof f->npu.kernels[0];
    double unit = f->npu.peak_flops / 2;
    struct npu_fitting of = { .f = f, .op = FIT_FUSED, .precision = TOPO_BF16 };
    for (int pass = 0; pass < N_TOPO_PASSES && !rc; pass++) {
        const struct unknown wide[] = { { NULL, OF_PASS(flops), false, unit, 1, SIZE_NONE },
                                        { NULL, OF_PASS(half_tiles), false, 1, 1, SIZE_TILES },
                                        { NULL, KERNEL(half_seq), false, 100, 1, SIZE_KEYS } },
                             low_rank[] = { { NULL, OF_PASS(low_rank), false, 1, 1, SIZE_NONE },
                                            { NULL, OF_PASS(low_rank_half), false, 1, 1, SIZE_TILES } };
        of.pass = pass;
        of.heads = FIT_WIDE;
        rc = fit_rows(of, wide, pass ? 2 : 3, e);
        of.heads = FIT_LOW_RANK;
        if (!rc)
            rc = fit_rows(of, low_rank, 2, e);
    }
    const struct unknown narrow = { NULL, KERNEL(narrow), false, 1, 1, SIZE_NONE },
                         fp8 = { NULL, KERNEL(fp8_forward), false, 1, 1, SIZE_NONE };
    of.pass = -1;
    of.heads = FIT_NARROW;
    if (!rc)
        rc = fit_rows(of, &narrow, 1, e);
    of.precision = TOPO_FP8;
    of.pass = FIT_FORWARD;
    of.heads = -1;
    return rc ? rc : fit_rows(of, &fp8, 1, e);
}

static bool same_kind(const struct fit_kind *kind, const struct fit_row *row)
{
    return kind->op == row->op && kind->precision == row->precision && kind->pass == row->pass &&
           kind->heads == (int)(row->op == FIT_FUSED ? fit_heads_of(&row->heads) : FIT_WIDE);
}

/* Operator first, then precision, heads, pass. */
static int kind_rank(const struct fit_kind *k)
{
    return (((int)k->op * 8 + (int)k->precision) * 8 + k->heads) * 8 + (int)k->pass;
}

static int by_field(const void *a, const void *b)
{
    return kind_rank(a) - kind_rank(b);
}

/* Errors of the rounded values, as a file with them would have. */
static void count_errors(struct fit_npu *f)
{
    f->n_kinds = 0;
    for (int32_t i = 0; i < f->n; i++) {
        struct fit_row *row = &f->rows[i];
        int32_t k = 0;
        row->model_s = model_time(f, &f->npu, row);
        double off = fabs(row->model_s / row->time_s - 1);
        while (k < f->n_kinds && !same_kind(&f->kinds[k], row))
            k++;
        if (k == f->n_kinds && k < FIT_MAX_KINDS) {
            int heads = row->op == FIT_FUSED ? (int)fit_heads_of(&row->heads) : FIT_WIDE;
            f->kinds[f->n_kinds++] = (struct fit_kind){ row->op, row->precision, row->pass, heads, 0, 0, 0 };
        }
        if (k == FIT_MAX_KINDS)
            continue;
        f->kinds[k].mean_frac += (off - f->kinds[k].mean_frac) / ++f->kinds[k].n;
        f->kinds[k].max_frac = fmax(f->kinds[k].max_frac, off);
    }
    qsort(f->kinds, (size_t)f->n_kinds, sizeof f->kinds[0], by_field);
}

/* Operators without a row, in one line. */
static void note_unseen(struct fit_npu *f)
{
    static const char *const what[N_FIT_OPERATORS] = {
        "mem_efficiency and kernel_ns (no streams)", "matrix_efficiency and its half sizes (no products)",
        "group_half_out (no grouped products)",      "attention_efficiency (no unfused attention)",
        "flash_efficiency (no FLOP of flash)",       "attention_kernels (no shapes of fused attention)",
    };
    int32_t n = 0;
    for (int k = 0; k < N_FIT_OPERATORS; k++)
        if (count_op(f, (enum fit_operator)k) == 0)
            text_printf(&f->notes, "%s%s", n++ ? ", " : "kept as given: ", what[k]);
    text_puts(&f->notes, n ? "\n" : "");
}

/* Streams come first, since all others use what they find. */
int fit_npu(struct fit_npu *f, struct err *e)
{
    static const struct unknown stream[] = {
        { "mem_efficiency", NPU(mem_efficiency), true, 1, 1, SIZE_NONE },
        { "kernel_ns", NPU(kernel_s), false, 1e-6, 1e-9, SIZE_NONE },
    };
    static const struct unknown attention = { "attention_efficiency", NPU(attention), true, 1, 1, SIZE_NONE },
                                flash = { "flash_efficiency", NPU(flash), true, 1, 1, SIZE_NONE };
    if (!(f->npu.peak_flops > 0) || !(f->npu.mem_Bps > 0))
        return err_set(e, ERR_RANGE, "NPU has no %s", f->npu.peak_flops > 0 ? "mem_GBps" : "peak_TFLOPS");
    if (f->n == 0)
        return err_set(e, ERR_RANGE, "0 rows, expected operators to fit to");
    if (count_op(f, FIT_MATRIX))
        f->npu.n_sizes = 0; /* half sizes take their place */
    f->n_keys = 0;
    int rc = fit_operator(f, FIT_STREAM, -1, stream, 2, e);
    if (!rc)
        rc = fit_products(f, e);
    if (!rc)
        rc = fit_operator(f, FIT_ATTENTION, -1, &attention, 1, e);
    if (!rc)
        rc = fit_operator(f, FIT_FLASH, -1, &flash, 1, e);
    if (!rc && count_op(f, FIT_FUSED))
        rc = fit_kernel(f, e);
    if (!rc) {
        note_unseen(f);
        count_errors(f);
    }
    return rc;
}
