/* The walk over a grid: axis by axis down to rows, leaving out what cannot hold anything good. */
#include "kinds/design/grid_inner.h"

#include <math.h>
#include <stdlib.h>

#include "alloc/lp.h"

enum { DIMS = TOPO_MAX_DIMS };

/* Combinations of a row between two looks at what was found: the bar is lower then. */
enum { SEGMENT = 1024 };

/* Where the walk is, and room for what it needs there. */
struct walk {
    const struct grid *g;
    struct grid_sieve sieve;
    int64_t first, end;
    struct grid_place place; /* on axes that were walked; elsewhere what is fixed */
    double *base_s;          /* shape [n_outer+1][n_leaves]: leaves over what is fixed, and the axes walked */
    double *row_Bps[DIMS], *row_s; /* shape [stride]; for steps with maxima */
    struct grid_row row;
    int32_t caps[GRID_LINEAR]; /* which linear columns row.caps are */
    struct grid_hit *hits;
    int64_t (*sift)(const struct grid_row *r, int64_t begin, int64_t end, struct grid_hit *hits);
};

/* ---- what rows have in common ---- */

/* Leaves below axis `level`, once it has value i. */
static void push_axis(struct walk *w, int32_t level, int64_t i)
{
    const struct grid *g = w->g;
    const struct step_fn *f = g->q.step;
    const struct grid_axis *axis = &g->q.axes[level];
    const double *above = w->base_s + level * g->n_leaves, inv = g->inv[level][i];
    double *base = w->base_s + (level + 1) * g->n_leaves;
    w->place.i[level] = i;
    w->place.bw_Bps[axis->dim] = axis->bw_Bps[i];
    for (int32_t l = 0; l < g->n_leaves; l++) {
        double product = f->traffic_B[l * DIMS + axis->dim] * inv;
        base[l] = product > above[l] ? product : above[l];
    }
}

static void begin_base(struct walk *w)
{
    const struct grid *g = w->g;
    const struct step_fn *f = g->q.step;
    memcpy(w->place.bw_Bps, g->q.bw_Bps, sizeof w->place.bw_Bps);
    for (int32_t l = 0; l < g->n_leaves; l++)
        for (int32_t d = 0; d < f->n_dims; d++) {
            double product = f->traffic_B[l * DIMS + d] * (1 / g->q.bw_Bps[d]);
            if (g->axis_of[d] < 0 && product > w->base_s[l])
                w->base_s[l] = product;
        }
}

/* ---- bounds ---- */

/* No combination below takes less: every axis that is not walked has its most. */
static double least_time(const struct walk *w, int32_t level)
{
    const struct grid *g = w->g;
    const double *ahead = g->ahead_s + level * g->n_leaves, *base = w->base_s + level * g->n_leaves;
    if (!g->sums) {
        double bw_Bps[DIMS];
        memcpy(bw_Bps, w->place.bw_Bps, sizeof bw_Bps);
        for (int32_t a = level; a < g->q.n_axes; a++)
            bw_Bps[g->q.axes[a].dim] = grid_axis_most(g, a);
        return step_time(g->q.step, bw_Bps);
    }
    double sum = g->q.step->const_s[0];
    for (int32_t l = 0; l < g->n_leaves; l++)
        sum += ahead[l] > base[l] ? ahead[l] : base[l];
    return sum;
}

/* Rounding is monotonic, and additions have one order: least is no more than what is below, to the bit. */
static bool is_hopeless(const struct walk *w, int32_t level)
{
    const struct grid *g = w->g;
    double bw_Bps[DIMS], x[GRID_LINEAR];
    memcpy(bw_Bps, w->place.bw_Bps, sizeof bw_Bps);
    for (int32_t a = level; a < g->q.n_axes; a++)
        bw_Bps[g->q.axes[a].dim] = grid_axis_least(g, a);
    /* A row that falls with every bandwidth is broken below, where it is broken here. */
    for (int32_t i = 0; i < g->q.n_rows && g->rows_fall; i++)
        if (alloc_outside(&g->q.rows[i], bw_Bps, g->q.step->n_dims) > GRID_TIE_REL)
            return true;
    for (int c = 0; c < GRID_LINEAR; c++) {
        double most = g->q.most[GRID_COST + c] * g->linear[c].per_unit;
        if (most < INFINITY &&
            grid_linear_at(&g->linear[c], bw_Bps, g->q.step->n_dims) > most * (1 + GRID_TIE_REL))
            return true;
    }
    for (int32_t c = 0; c < g->n_lookup; c++)
        x[c] = grid_linear_at(&g->linear[g->lookup[c]], bw_Bps, g->q.step->n_dims);
    return least_time(w, level) > w->sieve.bar_s[grid_bar_at(g, x)];
}

/* ---- a row ---- */

static void set_sum(const struct walk *w, struct grid_sum *s, int32_t column)
{
    const struct grid *g = w->g;
    const struct grid_linear *linear = &g->linear[column];
    s->start = linear->start;
    s->n = 0;
    for (int32_t d = 0; d < g->q.step->n_dims; d++) {
        int32_t a = g->axis_of[d];
        double add = linear->coef[d] * w->place.bw_Bps[d];
        if (a >= g->n_outer && linear->coef[d] > 0)
            s->parts[s->n++] = (struct grid_part){ .inner = g->inner[a][column] };
        else if (a < g->n_outer && s->n == 0)
            s->start += add;
        else if (a < g->n_outer && add > 0)
            s->parts[s->n++] = (struct grid_part){ .add = add };
    }
}

/* The step at each place of the row, where it has maxima. */
static void time_row(struct walk *w)
{
    const struct grid *g = w->g;
    const double *bw_Bps[DIMS];
    for (int32_t d = 0; d < g->q.step->n_dims; d++) {
        int32_t a = g->axis_of[d];
        bw_Bps[d] = a >= g->n_outer ? g->inner_Bps[a] : w->row_Bps[d];
        for (int64_t k = 0; a < g->n_outer && k < g->size[g->n_outer]; k++)
            w->row_Bps[d][k] = w->place.bw_Bps[d];
    }
    step_time_batch(g->q.step, bw_Bps, g->size[g->n_outer], w->row_s);
}

/* What all rows have in common. */
static void begin_row(struct walk *w)
{
    static const double nothing_s[] = { 0 };
    const struct grid *g = w->g;
    struct grid_row *r = &w->row;
    *r = (struct grid_row){ .n_leaves = (int32_t)g->n_leaves,
                            .stride = g->stride,
                            .const_s = g->q.step->const_s[0],
                            .base_s = w->base_s + g->n_outer * g->n_leaves,
                            .leaf_s = g->leaf_s,
                            .inv = g->row_inv,
                            .slopes = g->slopes,
                            .bar = { .n_columns = g->n_lookup, .most_s = w->sieve.bar_s } };
    memcpy(r->bar.scales, g->scales, sizeof r->bar.scales);
    for (int32_t c = 0; c < GRID_LINEAR; c++)
        if (g->q.most[GRID_COST + c] < INFINITY) {
            w->caps[r->n_caps] = c;
            r->most[r->n_caps++] = g->q.most[GRID_COST + c] * g->linear[c].per_unit * (1 + GRID_TIE_REL);
        }
    if (g->sums)
        return;
    /* A step with maxima is a leaf, above which there is nothing. */
    r->n_leaves = 1;
    r->const_s = 0;
    r->base_s = nothing_s;
    r->leaf_s = w->row_s;
}

static void set_row(struct walk *w)
{
    const struct grid *g = w->g;
    if (!g->sums)
        time_row(w);
    for (int32_t c = 0; c < g->n_lookup; c++)
        set_sum(w, &w->row.sums[c], g->lookup[c]);
    for (int32_t c = 0; c < w->row.n_caps; c++)
        set_sum(w, &w->row.caps[c], w->caps[c]);
}

static int offer_hit(struct walk *w, int64_t begin, const struct grid_hit *hit, struct err *e)
{
    const struct grid *g = w->g;
    for (int32_t a = g->n_outer; a < g->q.n_axes; a++) {
        const struct grid_axis *axis = &g->q.axes[a];
        w->place.i[a] = hit->k / g->size[a + 1] % axis->n;
        w->place.bw_Bps[axis->dim] = axis->bw_Bps[w->place.i[a]];
    }
    grid_place_value(g, &w->place, hit->time_s);
    return grid_sieve_offer(&w->sieve, begin + hit->k, &w->place, e);
}

/* The row that begins at combination `begin`, as far as it is in the range. */
static int walk_row(struct walk *w, int64_t begin, struct err *e)
{
    const struct grid *g = w->g;
    int64_t from = w->first > begin ? w->first - begin : 0;
    int64_t to = w->end - begin < g->size[g->n_outer] ? w->end - begin : g->size[g->n_outer];
    int rc = 0;
    set_row(w);
    w->sieve.out->evaluated += to - from;
    for (int64_t at = from; at < to && !rc; at += SEGMENT) {
        int64_t end = at + SEGMENT < to ? at + SEGMENT : to;
        int64_t n = w->sift(&w->row, at, end, w->hits);
        for (int64_t i = 0; i < n && !rc; i++)
            if (w->hits[i].k >= at && w->hits[i].k < end)
                rc = offer_hit(w, begin, &w->hits[i], e);
    }
    return rc;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* An axis is walked in steps of about the golden section: points from all over it come first, and others are
 * held against them. From one end to the other each row would be better than those before. */
static int64_t choose_step(int64_t n)
{
    int64_t step = (int64_t)(0.6180339887498949 * (double)n);
    if (step < 1)
        step = 1;
    while (common_divisor(n, step) != 1)
        step++;
    return step;
}

/* All combinations from `begin` that have the values walked so far. Recursion as deep as there are axes. */
static int walk_axis(struct walk *w, int32_t level, int64_t begin, struct err *e)
{
    const struct grid *g = w->g;
    if (level == g->n_outer)
        return walk_row(w, begin, e);
    const int64_t size = g->size[level + 1], whole = g->q.axes[level].n * size;
    const int64_t first = w->first > begin ? (w->first - begin) / size : 0;
    const int64_t last = (w->end - begin < whole ? w->end - begin - 1 : whole - 1) / size;
    const int64_t n = last - first + 1, step = choose_step(n);
    int rc = 0;
    for (int64_t k = 0, i = 0; k < n && !rc; k++, i = (i + step) % n) {
        int64_t from = begin + (first + i) * size, to = from + size;
        push_axis(w, level, first + i);
        if (g->q.bound && is_hopeless(w, level + 1))
            w->sieve.out->bounded += (to < w->end ? to : w->end) - (from > w->first ? from : w->first);
        else
            rc = walk_axis(w, level + 1, from, e);
    }
    return rc;
}

/* ---- a run ---- */

static int reserve(struct walk *w, struct err *e)
{
    const struct grid *g = w->g;
    size_t stride = (size_t)g->stride;
    w->base_s = calloc((size_t)(g->n_outer + 1) * (size_t)g->n_leaves + 1, sizeof *w->base_s);
    w->hits = malloc((SEGMENT + 2 * GRID_BLOCK) * sizeof *w->hits);
    w->row_s = calloc(stride, sizeof *w->row_s);
    bool missing = !w->base_s || !w->hits || !w->row_s;
    for (int32_t d = 0; d < g->q.step->n_dims && !g->sums; d++) {
        w->row_Bps[d] = calloc(stride, sizeof *w->row_Bps[d]);
        missing = missing || !w->row_Bps[d];
    }
    return missing ? err_nomem(e, "a grid of bandwidths") : 0;
}

static void walk_free(struct walk *w)
{
    grid_sieve_free(&w->sieve);
    free(w->base_s);
    free(w->hits);
    free(w->row_s);
    for (int32_t d = 0; d < DIMS; d++)
        free(w->row_Bps[d]);
}

int grid_run(const struct grid *g, int64_t first, int64_t n, const struct front *known,
             struct grid_found *out, struct err *e)
{
    struct walk w = { .g = g, .first = first, .end = first + n };
    int32_t lanes = g->q.lanes ? g->q.lanes : grid_has_avx2() ? 4 : 2;
    w.sift = lanes == 4 ? grid_sift_4 : grid_sift_2;
    int rc = grid_sieve_open(&w.sieve, g, known, out, e);
    if (!rc)
        rc = reserve(&w, e);
    if (!rc && n > 0) {
        begin_base(&w);
        begin_row(&w);
        rc = walk_axis(&w, 0, 0, e);
    }
    if (!rc)
        grid_sieve_close(&w.sieve);
    walk_free(&w);
    return rc;
}

void grid_found_free(struct grid_found *f)
{
    free(f->points);
    *f = (struct grid_found){ 0 };
}
