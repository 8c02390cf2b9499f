/* The bar: for each bucket of the linear columns the most time that a point there, or beyond, may take. */
#include "kinds/design/grid_inner.h"

#include <math.h>
#include <stdlib.h>

/* Places in all: 32 KiB stay in the cache beside the row. By number of columns, for each of them. */
static const int64_t most_buckets[GRID_LINEAR] = { 4096, 64, 16 };

/* Rounding of x/1e9*1e9. */
#define UNIT_REL 1e-15

/* ---- which columns ---- */

static bool is_linear(enum grid_column c)
{
    return c >= GRID_COST && c <= GRID_NIC;
}

static bool asks_for(const struct grid *g, enum grid_column c)
{
    for (int32_t k = 0; k < g->q.n_front; k++)
        if (g->q.front[k] == c)
            return true;
    return g->q.n_top > 0 && g->q.top == c;
}

static bool is_in_front(const struct grid *g, enum grid_column c)
{
    for (int32_t k = 0; k < g->q.n_front; k++)
        if (g->q.front[k] == c)
            return true;
    return false;
}

/* A product that is limited is a limit of time for each price. */
static void choose_columns(struct grid *g)
{
    bool product = asks_for(g, GRID_PRODUCT) || isfinite(g->q.most[GRID_PRODUCT]);
    for (int32_t c = 0; c < GRID_LINEAR; c++)
        if (asks_for(g, (enum grid_column)(GRID_COST + c)) || (c == LINEAR_COST && product))
            g->lookup[g->n_lookup++] = c;
    if (g->n_lookup == 0)
        g->lookup[g->n_lookup++] = LINEAR_COST;
}

static int64_t bits_of(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Buckets from the least to the most that the column takes on the grid; fewer to an octave until they are no
 * more than @p most. */
static void set_scale(struct grid_scale *s, double least, double most, int64_t n)
{
    enum { MANTISSA = 52 };
    /* Less than a millionth of the most is one bucket. */
    if (least < most * 1e-6)
        least = most * 1e-6;
    for (s->shift = 0; s->shift < MANTISSA + 10; s->shift++)
        if ((bits_of(most) >> s->shift) - (bits_of(least) >> s->shift) < n)
            break;
    s->base = bits_of(least) >> s->shift;
    s->n = (bits_of(most) >> s->shift) - s->base + 1;
}

static void set_scales(struct grid *g)
{
    double least_Bps[TOPO_MAX_DIMS], most_Bps[TOPO_MAX_DIMS];
    for (int32_t d = 0; d < g->q.step->n_dims; d++) {
        int32_t a = g->axis_of[d];
        least_Bps[d] = a < 0 ? g->q.bw_Bps[d] : grid_axis_least(g, a);
        most_Bps[d] = a < 0 ? g->q.bw_Bps[d] : grid_axis_most(g, a);
    }
    g->n_bar = 1;
    for (int32_t c = 0; c < GRID_LINEAR; c++) {
        const struct grid_linear *linear = &g->linear[g->lookup[c]];
        g->scales[c] = (struct grid_scale){ .n = 1 };
        if (c >= g->n_lookup)
            continue;
        set_scale(&g->scales[c], grid_linear_at(linear, least_Bps, g->q.step->n_dims),
                  grid_linear_at(linear, most_Bps, g->q.step->n_dims), most_buckets[g->n_lookup - 1]);
        g->n_bar *= g->scales[c].n;
    }
}

/* ---- places of the bar ---- */

int64_t grid_bar_at(const struct grid *g, const double *x)
{
    int64_t at = 0;
    for (int32_t c = 0; c < g->n_lookup; c++)
        at = at * g->scales[c].n + grid_bucket(&g->scales[c], x[c]);
    return at;
}

/* Least of lookup column c at a place of the bar. */
static double edge_of(const struct grid *g, int64_t at, int32_t c)
{
    for (int32_t k = GRID_LINEAR - 1; k > c; k--)
        at /= g->scales[k].n;
    return grid_bucket_edge(&g->scales[c], at % g->scales[c].n);
}

/* Most time where the product of time and price is at most this. The price is column 0 of the bar. */
static double time_of_product(const struct grid *g, double product, int64_t at)
{
    double usd = edge_of(g, at, 0);
    return usd > 0 ? product * (1 + GRID_TIE_REL) / usd : INFINITY;
}

/* Most time where column @p c is at most @p most. */
static double time_of_most(const struct grid *g, enum grid_column c, double most, int64_t at)
{
    if (most == INFINITY)
        return INFINITY;
    if (c == GRID_TIME)
        return most * (1 + GRID_TIE_REL);
    if (c == GRID_PRODUCT)
        return time_of_product(g, most, at);
    for (int32_t k = 0; k < g->n_lookup; k++)
        if (g->lookup[k] == (int32_t)c - GRID_COST &&
            edge_of(g, at, k) > most * g->linear[g->lookup[k]].per_unit * (1 + GRID_TIE_REL))
            return -1;
    return INFINITY;
}

void grid_bar_top(const struct grid *g, double *most_s, double value)
{
    for (int64_t at = 0; at < g->n_bar; at++)
        most_s[at] = time_of_most(g, g->q.top, value, at);
}

/* ---- a point of the front ---- */

/* Most time of what a point with these values does not dominate, at a place where all linear columns of the
 * front are above the point's: it must be better in time, or in the product. */
static double time_left(const struct grid *g, const double *front_value, int64_t at)
{
    double most_s = -1;
    for (int32_t k = 0; k < g->q.n_front; k++)
        if (!is_linear(g->q.front[k]))
            most_s = fmax(most_s, time_of_most(g, g->q.front[k], front_value[k], at));
    return most_s;
}

/* First bucket of each column that is wholly above the point; 0 where the front does not look at it. */
static void find_corner(const struct grid *g, const double *front_value, int64_t corner[GRID_LINEAR])
{
    for (int32_t c = 0; c < GRID_LINEAR; c++)
        corner[c] = 0;
    for (int32_t k = 0; k < g->q.n_front; k++)
        for (int32_t c = 0; c < g->n_lookup; c++)
            if ((int32_t)g->q.front[k] == GRID_COST + g->lookup[c]) {
                double unit = g->linear[g->lookup[c]].per_unit;
                double x = front_value[k] * unit * (1 + (unit > 1 ? UNIT_REL : 0));
                /* The last bucket is never above: it may hold what is beyond the scale. */
                corner[c] = grid_bucket(&g->scales[c], x) + 1;
            }
}

void grid_bar_lower(const struct grid *g, double *most_s, const double *front_value)
{
    int64_t corner[GRID_LINEAR];
    const bool flat = !is_in_front(g, GRID_PRODUCT); /* the same for all places */
    double left_s = time_left(g, front_value, 0);
    find_corner(g, front_value, corner);
    for (int64_t i = corner[0]; i < g->scales[0].n; i++)
        for (int64_t j = corner[1]; j < g->scales[1].n; j++)
            for (int64_t k = corner[2]; k < g->scales[2].n; k++) {
                int64_t at = (i * g->scales[1].n + j) * g->scales[2].n + k;
                if (!flat)
                    left_s = time_left(g, front_value, at);
                if (left_s < most_s[at])
                    most_s[at] = left_s;
                else if (flat && g->n_lookup == 1)
                    return; /* and so it is from here on */
            }
}

int grid_bar_build(struct grid *g, struct err *e)
{
    choose_columns(g);
    set_scales(g);
    g->limit_s = malloc((size_t)g->n_bar * sizeof *g->limit_s);
    g->seed_s = malloc((size_t)g->n_bar * sizeof *g->seed_s);
    if (!g->limit_s || !g->seed_s)
        return err_nomem(e, "a grid of bandwidths");
    for (int64_t at = 0; at < g->n_bar; at++) {
        g->seed_s[at] = INFINITY;
        g->limit_s[at] = INFINITY;
        for (int c = 0; c < GRID_COLUMNS; c++)
            g->limit_s[at] = fmin(g->limit_s[at], time_of_most(g, (enum grid_column)c, g->q.most[c], at));
    }
    return 0;
}
