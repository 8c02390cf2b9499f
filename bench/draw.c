#include "bench/draw.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"

enum { DIMS = TOPO_MAX_DIMS };

void draw_step(struct step_fn *f, int32_t n_dims, int32_t n_leaves, struct rng *rng)
{
    *f = (struct step_fn){ .n_dims = n_dims, .n_terms = 1, .n_leaves = n_leaves };
    f->const_s = bench_alloc(sizeof *f->const_s);
    f->leaf_begin = bench_alloc(2 * sizeof *f->leaf_begin);
    f->max_begin = bench_alloc(2 * sizeof *f->max_begin);
    f->term_begin = bench_alloc(sizeof *f->term_begin);
    f->leaf_of = bench_alloc(sizeof *f->leaf_of);
    f->traffic_B = bench_alloc((size_t)n_leaves * DIMS * sizeof *f->traffic_B);
    f->const_s[0] = rng_log_range(rng, 1e-3, 1);
    f->leaf_begin[1] = n_leaves;
    for (int32_t l = 0; l < n_leaves; l++) {
        int32_t always = (int32_t)rng_below(rng, n_dims);
        for (int32_t d = 0; d < n_dims; d++)
            if (d == always || rng_uniform(rng) < 0.7)
                f->traffic_B[l * DIMS + d] = rng_log_range(rng, 1e6, 1e10);
    }
}

/* sum coef*B  sense  rhs, where rhs leaves @p at some room, or none for an equality. */
static void close_row(struct alloc_row *row, const double *at, int32_t n_dims, struct rng *rng)
{
    double value = 0, size = 0;
    for (int32_t d = 0; d < n_dims; d++) {
        value += row->coef[d] * at[d];
        size += row->coef[d] < 0 ? -row->coef[d] * at[d] : row->coef[d] * at[d];
    }
    double room = size * rng_log_range(rng, 1e-3, 1);
    row->rhs = row->sense == LINEXPR_LE ? value + room : row->sense == LINEXPR_GE ? value - room : value;
    row->unit = 1e9;
}

/* a range, an order, a sum or a weighted sum */
static void draw_coefficients(struct alloc_row *row, int32_t n_dims, struct rng *rng)
{
    int32_t one = (int32_t)rng_below(rng, n_dims);
    int32_t other = (one + 1 + (int32_t)rng_below(rng, n_dims - 1)) % n_dims;
    row->sense = rng_uniform(rng) < 0.5 ? LINEXPR_LE : LINEXPR_GE;
    row->coef[one] = 1;
    switch (rng_below(rng, 4)) {
    case 0:
        break;
    case 1:
        row->coef[other] = -1;
        break;
    case 2:
        row->coef[other] = 1;
        break;
    default:
        for (int32_t d = 0; d < n_dims; d++)
            row->coef[d] = rng_log_range(rng, 0.1, 10);
    }
}

void draw_problem(struct draw *p, struct rng *rng)
{
    static const char *const names[] = { "a", "b", "c", "d", "e", "f" };
    int32_t n_dims = (int32_t)(2 + rng_below(rng, 5)), n_rows = (int32_t)(1 + rng_below(rng, 7));
    double at[DIMS] = { 0 };
    *p = (struct draw){ 0 };
    draw_step(&p->step, n_dims, (int32_t)(1 + rng_below(rng, 20)), rng);
    p->problem = (struct alloc_problem){
        .step = &p->step, .objective = ALLOC_TIME, .rows = p->rows, .n_rows = n_rows, .dim_names = p->names
    };
    for (int32_t d = 0; d < n_dims; d++) {
        at[d] = rng_log_range(rng, 1e9, 1e12);
        p->names[d] = names[d];
        p->problem.usd_per_Bps[d] = rng_log_range(rng, 1e-6, 1e-4);
        p->rows[0].coef[d] = 1;
    }
    p->rows[0].sense = rng_uniform(rng) < 0.5 ? LINEXPR_EQ : LINEXPR_LE;
    for (int32_t i = 0; i < n_rows; i++) {
        if (i > 0)
            draw_coefficients(&p->rows[i], n_dims, rng);
        snprintf(p->rows[i].name, sizeof p->rows[i].name, "row %d", (int)i + 1);
        close_row(&p->rows[i], at, n_dims, rng);
    }
}

void draw_free(struct draw *p)
{
    step_fn_free(&p->step);
    *p = (struct draw){ 0 };
}
