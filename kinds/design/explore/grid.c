/*
 * Points that are bandwidths on a grid: which of them can be on a front or among the best few, at some
 * hundred million a second.
 *
 * Times are a closed form of the bandwidths, so a whole row (the innermost axes) is looked at by vectors
 * (grid_tile.h). Above rows the walk goes axis by axis with bounds of what lies below: a part whose best
 * corner is behind the bar (what is known and what was found so far) is left out. What is kept here is a
 * superset by rounding: survivors are evaluated again as all other points are.
 */
#include "kinds/design/explore/grid.h"
#include "kinds/design/answer/columns.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "alloc/incumbent.h"
#include "alloc/lp.h"
#include "base/heap.h"
#include "base/num.h"
#include "base/vec.h"
#include "kinds/design/explore/grid_row.h"

/*
 * What was prepared of a question.
 */

enum { GRID_DIMS = TOPO_MAX_DIMS };

/** The linear columns, GRID_COST to GRID_NIC, count from 0 here. */
enum { LINEAR_COST, LINEAR_TOTAL, LINEAR_NIC };

/** A price [USD] or a bandwidth [B/s] as start + sum_d coef[d]*B[d]; per_unit of it are one of the column. */
struct grid_linear {
    double start, coef[TOPO_MAX_DIMS], per_unit;
};

/**
 * Axes before n_outer are walked one by one; all combinations of the others are a row. The bar (grid_bar) is
 * looked up by linear columns that the front, the best few or limits speak of.
 */
struct grid {
    struct grid_question q;
    int64_t size[TOPO_MAX_DIMS + 1]; /**< combinations of axes i and after */
    int32_t n_outer;
    int32_t axis_of[TOPO_MAX_DIMS];    /**< of a dimension; -1 = none */
    int64_t stride;                    /**< of a row, padded to whole blocks */
    double *inv[TOPO_MAX_DIMS];        /**< shape [axis][n], owned: reciprocals */
    double *sorted[TOPO_MAX_DIMS];     /**< shape [axis][n], owned: bandwidths, ascending */
    double *sorted_usd[TOPO_MAX_DIMS]; /**< shape [axis][n], owned: their prices, where these are whole */
    struct grid_linear linear[GRID_LINEAR];
    double
        *inner[TOPO_MAX_DIMS][GRID_LINEAR]; /**< shape [stride], owned: coef*B over the row; axes in rows */
    double *inner_Bps[TOPO_MAX_DIMS];       /**< shape [stride], owned: bandwidths over the row */
    int64_t n_leaves;                       /**< 0 for a step with maxima: it goes by step_time_batch() */
    double *leaf_s; /**< shape [n_leaves][stride], owned; NULL where row_inv is there */
    double
        *row_inv; /**< shape [stride], owned: reciprocals of a row of one axis with many leaves, else NULL */
    double *slopes;  /**< shape [n_leaves], owned: their traffic on its dimension */
    double *ahead_s; /**< shape [n_outer+1][n_leaves], owned: least that axes i and after leave of a leaf */
    int32_t lookup[GRID_LINEAR], n_lookup; /**< linear columns of the bar */
    struct grid_scale scales[GRID_LINEAR]; /**< shape [n_lookup]; n = 1 beyond */
    int64_t n_bar;
    double *limit_s;    /**< shape [n_bar], owned: most time within the limits */
    double *seed_s;     /**< shape [n_bar], owned: most time that the seeds leave */
    struct front seeds; /**< points of the grid that are good, found before */
    bool sums;          /**< the step has no maxima */
    bool rows_fall;     /**< what satisfies the rows does so with less bandwidth, too */
};

/** A point while it is looked at: where it is on each axis, bandwidths, values. */
struct grid_place {
    int64_t i[TOPO_MAX_DIMS];
    double bw_Bps[TOPO_MAX_DIMS], value[GRID_COLUMNS];
};

/** Least and most of an axis, of combinations that are not walked yet. */
static inline double grid_axis_least(const struct grid *g, int32_t axis)
{
    return g->sorted[axis][0];
}
static inline double grid_axis_most(const struct grid *g, int32_t axis)
{
    return g->sorted[axis][g->q.axes[axis].n - 1];
}

/* How many values of an axis are below a bandwidth. */
static int64_t grid_below(const struct grid *g, int32_t axis, double bw_Bps)
{
    int64_t lo = 0, hi = g->q.axes[axis].n; /* the first that is not lower is among lo..hi */
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (g->sorted[axis][mid] < bw_Bps)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* What a bandwidth adds to a linear column: one of its axis, where the dimension has one. */
static double grid_add(const struct grid *g, int32_t column, int32_t d, double bw_Bps)
{
    int32_t a = g->axis_of[d];
    assert(a < 0 || bw_Bps <= grid_axis_most(g, a));
    if (column != LINEAR_COST || !g->q.whole)
        return g->linear[column].coef[d] * bw_Bps;
    return a < 0 ? g->q.usd[d] : g->sorted_usd[a][grid_below(g, a, bw_Bps)];
}

/* A linear column, its additions in the order of dimensions. */
static double grid_linear_at(const struct grid *g, int32_t column, const double *bw_Bps)
{
    double sum = g->linear[column].start;
    for (int32_t d = 0; d < g->q.step->n_dims; d++)
        sum += grid_add(g, column, d, bw_Bps[d]);
    return sum;
}

/* Values of a point from its bandwidths and its time. */
static void grid_place_value(const struct grid *g, struct grid_place *p, double time_s)
{
    p->value[GRID_TIME] = time_s;
    for (int c = 0; c < GRID_LINEAR; c++)
        p->value[GRID_COST + c] = grid_linear_at(g, c, p->bw_Bps) / g->linear[c].per_unit;
    p->value[GRID_PRODUCT] = time_s * p->value[GRID_COST];
}

static double leaf_time(const struct step_fn *f, int32_t leaf, const double *inv)
{
    double t = 0;
    for (int32_t d = 0; d < f->n_dims; d++) {
        double product = f->traffic_B[leaf * GRID_DIMS + d] * inv[d];
        t = product > t ? product : t;
    }
    return t;
}

/* What is not less than this is not the slowest of any leaf, by more than rounding: then no collective that
 * was merged into one depends on it. */
static void grid_needed(const struct grid *g, const struct grid_place *p, double *least_Bps)
{
    const struct step_fn *f = g->q.step;
    double inv[GRID_DIMS];
    for (int32_t d = 0; d < f->n_dims; d++) {
        inv[d] = 1 / p->bw_Bps[d];
        least_Bps[d] = 0;
    }
    for (int32_t l = 0; l < f->n_leaves; l++) {
        double inv_s = 1 / (leaf_time(f, l, inv) * (1 - GRID_TIE_REL));
        for (int32_t d = 0; d < f->n_dims; d++) {
            double traffic_B = f->traffic_B[l * GRID_DIMS + d];
            if (traffic_B > 0 && !(traffic_B * inv_s <= least_Bps[d]))
                least_Bps[d] = traffic_B * inv_s;
        }
    }
}

/* ---- the sieve ---- */

/** Within the limits, and the rows? */
enum grid_fit { GRID_OUT, GRID_MAYBE, GRID_IN };

/** One of the best few: bits of its value, which are in the order of the numbers, and which it is. */
struct grid_best {
    int64_t bits, at;
};

/** Survivors so far of one run. */
struct grid_sieve {
    const struct grid *g;      /**< borrowed */
    const struct front *known; /**< borrowed, may be NULL */
    struct front front;        /**< of survivors that are within the limits for certain */
    double *front_s, *top_s; /**< shape [n_bar], owned: what front and best few let pass; NULL = not asked */
    double *most_s;          /**< shape [n_bar], owned: both; NULL where there is the front's alone */
    const double *bar_s;     /**< shape [n_bar], borrowed: what points are held against */
    struct grid_best *best;  /**< shape [n_best], owned: the best few, the worst of them first (a heap) */
    struct incumbent last;   /**< the worst of them, once they are n_top */
    int64_t n_best;
    int64_t cap_best, n_news; /**< how often the worst of them changed since top_s was made */
    struct grid_found *out;   /**< borrowed */
    int64_t first, n_next;    /**< points of this run begin there; how many there are when they are swept */
};

/*
 * The bar: for each bucket of the linear columns the most time that a point there, or beyond, may take.
 */

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
static void grid_choose_columns(struct grid *g)
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

/* Places of a bar: values of linear columns (cost, NIC, total) in buckets, finer where fewer columns are
 * looked up. */
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
        int32_t column = g->lookup[c];
        g->scales[c] = (struct grid_scale){ .n = 1 };
        if (c >= g->n_lookup)
            continue;
        set_scale(&g->scales[c], grid_linear_at(g, column, least_Bps), grid_linear_at(g, column, most_Bps),
                  most_buckets[g->n_lookup - 1]);
        g->n_bar *= g->scales[c].n;
    }
}

/* ---- places of the bar ---- */

/* Place in the bar of what has these linear columns (indexed as struct grid's lookup), or more. */
static int64_t grid_bar_at(const struct grid *g, const double *x)
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

/* Most time of those that may be among the best few when the last of them has this value. */
static void grid_bar_top(const struct grid *g, double *most_s, double value)
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

/* A point of the front beats whatever is slower at all places with larger values in the other columns. */
static void grid_bar_lower(const struct grid *g, double *most_s, const double *front_value)
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

/* The bar says, for each place, the time above which a point cannot survive: first by the limits alone. */
static int grid_bar_build(struct grid *g, struct err *e)
{
    grid_choose_columns(g);
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

/*
 * Survivors of a run: what no other point proves worse.
 */

/* Points between two sweeps at least; changes of the best few after which their bar is made anew. */
enum { SWEEP_POINTS = 4096, TOP_NEWS = 64 };

/* ---- one point ---- */

static bool has_time(enum grid_column c)
{
    return c == GRID_TIME || c == GRID_PRODUCT;
}

/* Of sums of bandwidths as they are written: where rows of a sweep say so, too
 * (kinds/design/answer/design.c). */
#define ROW_REL 1e-12

/* Limits and rows, with slack for rounding: what is MAYBE inside is decided when the survivor is evaluated
 * again. */
static enum grid_fit grid_fits(const struct grid *g, const struct grid_place *p)
{
    enum grid_fit fit = GRID_IN;
    for (int c = 0; c < GRID_COLUMNS; c++) {
        if (p->value[c] > g->q.most[c] * (1 + GRID_TIE_REL))
            return GRID_OUT;
        if (g->q.most[c] < INFINITY && !(p->value[c] <= g->q.most[c] * (1 - GRID_TIE_REL)))
            fit = GRID_MAYBE;
    }
    for (int32_t i = 0; i < g->q.n_rows; i++)
        if (!(fabs(alloc_outside(&g->q.rows[i], p->bw_Bps, g->q.step->n_dims)) <= ROW_REL))
            return GRID_OUT;
    return fit;
}

/* The columns of q.front, in its order. */
static void grid_front_value(const struct grid *g, const double value[GRID_COLUMNS],
                             double x[FRONT_MAX_COLUMNS])
{
    for (int32_t k = 0; k < g->q.n_front; k++)
        x[k] = value[g->q.front[k]];
}

/* Is the point worse than one that is known, even if it were a little faster? */
static bool is_dominated(const struct grid_sieve *s, const double value[GRID_COLUMNS])
{
    double x[FRONT_MAX_COLUMNS];
    grid_front_value(s->g, value, x);
    for (int32_t k = 0; k < s->g->q.n_front; k++)
        if (has_time(s->g->q.front[k]))
            x[k] *= 1 - GRID_TIE_REL;
    return front_dominates(&s->front, x) || front_dominates(&s->g->seeds, x) ||
           (s->known && front_dominates(s->known, x));
}

/* The next lower bandwidth of an axis; -1 = there is none. */
static double lower_Bps(const struct grid *g, int32_t axis, double bw_Bps)
{
    int64_t below = grid_below(g, axis, bw_Bps);
    return below > 0 ? g->sorted[axis][below - 1] : -1;
}

/* Of two points that take equally long, is the one with less bandwidth less in a column of the front? A
 * product may come out the same but for a price that is less by more than rounding. */
static bool gains(const struct grid *g, const struct grid_place *less, const struct grid_place *p)
{
    for (int32_t k = 0; k < g->q.n_front; k++) {
        enum grid_column c = g->q.front[k];
        if (c != GRID_TIME && less->value[c] < p->value[c] * (c == GRID_PRODUCT ? 1 - GRID_TIE_REL : 1))
            return true;
    }
    return false;
}

/* Could a dimension have less bandwidth for nothing? That point of the grid then is as fast in rows too,
 * however they add up the step, and cheaper. */
static bool is_wasteful(const struct grid *g, const struct grid_place *p)
{
    double least_Bps[TOPO_MAX_DIMS];
    grid_needed(g, p, least_Bps);
    for (int32_t a = 0; a < g->q.n_axes; a++) {
        int32_t d = g->q.axes[a].dim;
        double bw_Bps = lower_Bps(g, a, p->bw_Bps[d]);
        if (bw_Bps < 0 || !(bw_Bps >= least_Bps[d]))
            continue;
        struct grid_place less = *p;
        less.bw_Bps[d] = bw_Bps;
        grid_place_value(g, &less, p->value[GRID_TIME]);
        if (gains(g, &less, p) && grid_fits(g, &less) == GRID_IN)
            return true;
    }
    return false;
}

/* Are there @p n points with lower numbers, and no more of any bandwidth, that take as long in rows too? */
static bool is_repeated(const struct grid *g, const struct grid_place *p, int64_t n)
{
    double least_Bps[TOPO_MAX_DIMS];
    int64_t box = 1;
    grid_needed(g, p, least_Bps);
    for (int32_t a = 0; a < g->q.n_axes && box <= n; a++) {
        const struct grid_axis *axis = &g->q.axes[a];
        const double has_Bps = p->bw_Bps[axis->dim], least = least_Bps[axis->dim];
        int64_t alike = 1;
        for (int64_t i = p->i[a]; least <= has_Bps && i-- > 0 && box * alike <= n;)
            alike += axis->bw_Bps[i] >= least && axis->bw_Bps[i] <= has_Bps;
        box *= alike;
    }
    return box > n;
}

/* ---- the best few: a heap ---- */

static struct grid_best best_of(double value, int64_t at)
{
    struct grid_best b = { .at = at };
    memcpy(&b.bits, &value, sizeof b.bits);
    return b;
}

/* Of equal values the later point. */
static bool grid_is_worse(struct grid_best a, struct grid_best b)
{
    return a.bits != b.bits ? a.bits > b.bits : a.at > b.at;
}

static bool goes_before(const struct grid_best *a, const struct grid_best *b)
{
    return grid_is_worse(*a, *b);
}

HEAP(best_heap, struct grid_best, goes_before)

/* A heap with the worst of the best on top; the bar follows once it is full. */
static int take_best(struct grid_sieve *s, struct grid_best item, struct err *e)
{
    if (s->n_best == s->g->q.n_top) {
        if (grid_is_worse(item, s->best[0]))
            return 0;
        best_heap_replace(s->best, s->n_best, item);
        s->n_news++;
    } else if (vec_reserve(s->best, s->cap_best, s->n_best + 1)) {
        best_heap_push(s->best, s->n_best++, item);
        s->n_news += s->n_best == s->g->q.n_top ? TOP_NEWS : 0;
    } else {
        return err_nomem(e, "the best of a grid");
    }
    if (s->n_best == s->g->q.n_top)
        memcpy(&s->last.value, &s->best[0].bits, sizeof s->last.value);
    return 0;
}

/* Where values are the same in rows, points that come after the best few stay behind. */
static bool is_after(const struct grid_sieve *s, struct grid_best item)
{
    return !has_time(s->g->q.top) && s->n_best == s->g->q.n_top && grid_is_worse(item, s->best[0]);
}

/* ---- the bar ---- */

/* What front or best few let pass, within the limits. */
static void set_bar(struct grid_sieve *s)
{
    const struct grid *g = s->g;
    for (int64_t i = 0; i < g->n_bar; i++) {
        double most_s = s->top_s ? fmin(s->top_s[i], g->limit_s[i]) : g->limit_s[i];
        s->most_s[i] = s->front_s ? fmax(s->front_s[i], most_s) : most_s;
    }
}

/* The bar may be too high at any time, which is only slower. */
static void renew_bar(struct grid_sieve *s)
{
    if (s->n_news < TOP_NEWS)
        return;
    if (s->n_best == s->g->q.n_top)
        grid_bar_top(s->g, s->top_s, s->last.value);
    set_bar(s);
    s->n_news = 0;
}

static int join_front(struct grid_sieve *s, const double value[GRID_COLUMNS], int64_t at, struct err *e)
{
    double x[FRONT_MAX_COLUMNS];
    bool on;
    grid_front_value(s->g, value, x);
    int rc = front_offer(&s->front, x, at, &on, e);
    s->front.n_off = 0;
    if (rc || !on)
        return rc;
    grid_bar_lower(s->g, s->front_s, x);
    s->n_news += s->top_s != NULL;
    return 0;
}

/* ---- the sieve ---- */

/* The front's part of the bar, from what is known before; within the limits already. */
static void begin_front(struct grid_sieve *s)
{
    const struct front *known = s->known;
    for (int64_t i = 0; i < s->g->n_bar; i++)
        s->front_s[i] = fmin(s->g->seed_s[i], s->g->limit_s[i]);
    for (int64_t i = 0; known && i < known->n_sorted; i++)
        grid_bar_lower(s->g, s->front_s, known->x + i * known->n_cols);
}

/* Front and top have bars of their own, the lower of which counts. */
static int grid_sieve_open(struct grid_sieve *s, const struct grid *g, const struct front *known,
                           struct grid_found *out, struct err *e)
{
    size_t size = (size_t)g->n_bar * sizeof *s->most_s;
    bool front = g->q.n_front > 0, top = g->q.n_top > 0;
    *s = (struct grid_sieve){ .g = g, .known = front ? known : NULL, .out = out, .first = out->n };
    s->front.n_cols = g->q.n_front;
    s->last = incumbent_none(has_time(g->q.top) ? GRID_TIE_REL : 0);
    s->n_next = out->n + SWEEP_POINTS;
    s->front_s = front ? malloc(size) : NULL;
    s->top_s = top ? malloc(size) : NULL;
    s->most_s = top || !front ? malloc(size) : NULL;
    if ((front && !s->front_s) || (top && !s->top_s) || ((top || !front) && !s->most_s))
        return err_nomem(e, "a grid of bandwidths");
    for (int64_t i = 0; i < g->n_bar && top; i++)
        s->top_s[i] = INFINITY;
    if (front)
        begin_front(s);
    if (s->most_s)
        set_bar(s);
    /* A front alone lowers its part in place, and that is the bar. */
    s->bar_s = s->most_s ? s->most_s : s->front_s;
    return 0;
}

static void grid_sieve_free(struct grid_sieve *s)
{
    front_free(&s->front);
    free(s->best);
    free(s->front_s);
    free(s->top_s);
    free(s->most_s);
}

static bool is_kept(const struct grid_sieve *s, const struct grid_point *p)
{
    const double *value = p->value;
    const struct grid_question *q = &s->g->q;
    if (!q->n_front && !q->n_top)
        return true;
    if (!isfinite(value[GRID_TIME]))
        return false;
    return (q->n_front && !is_dominated(s, value)) ||
           (q->n_top && !incumbent_rules_out(&s->last, value[q->top]) &&
            !is_after(s, best_of(value[q->top], p->at)));
}

static bool is_on_front(const struct grid_sieve *s, const struct grid_place *p, bool certain)
{
    return s->g->q.n_front && !is_dominated(s, p->value) && !(certain && is_wasteful(s->g, p));
}

static bool is_in_top(const struct grid_sieve *s, const struct grid_place *p, int64_t at, bool certain)
{
    const struct grid_question *q = &s->g->q;
    double value = p->value[q->top];
    if (!q->n_top || incumbent_rules_out(&s->last, value) || is_after(s, best_of(value, at)))
        return false;
    bool tie = certain && s->g->rows_fall && q->top == GRID_TIME && s->n_best == q->n_top;
    return !(tie && is_repeated(s->g, p, q->n_top));
}

/* Take out what came before that which proves it worse. */
static void sweep(struct grid_sieve *s)
{
    struct grid_found *out = s->out;
    int64_t n = s->first;
    for (int64_t i = s->first; i < out->n; i++)
        if (is_kept(s, &out->points[i]))
            out->points[n++] = out->points[i];
    out->n = n;
    s->n_next = s->first + 2 * (n - s->first) + SWEEP_POINTS;
}

/* Survivors so far; they are swept now and then, as the front moves on. */
static int sieve_keep(struct grid_sieve *s, int64_t at, const struct grid_place *p, struct err *e)
{
    struct grid_found *out = s->out;
    if (!vec_reserve(out->points, out->cap, out->n + 1))
        return err_nomem(e, "points of a grid");
    out->points[out->n].at = at;
    memcpy(out->points[out->n++].value, p->value, sizeof p->value);
    if (out->n >= s->n_next)
        sweep(s);
    return 0;
}

/* Points that are only MAYBE inside are kept without raising the bar for others. */
static int grid_sieve_offer(struct grid_sieve *s, int64_t at, const struct grid_place *p, struct err *e)
{
    const struct grid_question *q = &s->g->q;
    enum grid_fit fit = grid_fits(s->g, p);
    if (fit == GRID_OUT)
        return 0;
    if (!q->n_front && !q->n_top)
        return sieve_keep(s, at, p, e);
    if (!isfinite(p->value[GRID_TIME]))
        return 0; /* such a row has no place on a front, nor among the best */
    bool certain = fit == GRID_IN;
    bool front = is_on_front(s, p, certain), top = is_in_top(s, p, at, certain);
    int rc = 0;
    if (front && certain)
        rc = join_front(s, p->value, at, e);
    if (!rc && top && certain)
        rc = take_best(s, best_of(p->value[q->top], at), e);
    if (!rc && (front || top))
        rc = sieve_keep(s, at, p, e);
    renew_bar(s);
    return rc;
}

static int compare_points(const void *a, const void *b)
{
    const struct grid_point *p = a, *q = b;
    return (p->at > q->at) - (p->at < q->at);
}

/* Take out what came before that which proves it worse, and put the rest in order. */
static void grid_sieve_close(struct grid_sieve *s)
{
    sweep(s);
    if (s->out->n > s->first)
        qsort(s->out->points + s->first, (size_t)(s->out->n - s->first), sizeof *s->out->points,
              compare_points);
}

/*
 * Good points of a grid before it is walked: otherwise all of its first rows pass.
 */

/* A seed for so many combinations, and no more than that: they take a few microseconds each. */
enum { PER_SEED = 4096, MOST_SEEDS = 2048 };

/* Seed s is at the fractions s*alpha_a of the axes: the additive recurrence with the least gaps, by powers of
 * the root of x^(n+1) = x + 1 (M. Roberts, "The unreasonable effectiveness of quasirandom sequences", 2018).
 */
static void set_steps(double *alpha, int32_t n)
{
    double root = 2;
    for (int i = 0; i < 64; i++)
        root = pow(1 + root, 1.0 / (n + 1));
    for (int32_t a = 0; a < n; a++)
        alpha[a] = pow(root, -(a + 1));
}

/* Every axis gets the least bandwidth with which the step takes as long. */
static void trim(const struct grid *g, struct grid_place *p)
{
    double least_Bps[TOPO_MAX_DIMS];
    grid_needed(g, p, least_Bps);
    for (int32_t a = 0; a < g->q.n_axes; a++) {
        double *bw_Bps = &p->bw_Bps[g->q.axes[a].dim], least = least_Bps[g->q.axes[a].dim];
        int64_t lo = 0, hi = g->q.axes[a].n - 1;
        while (lo < hi) {
            int64_t mid = lo + (hi - lo) / 2;
            if (g->sorted[a][mid] >= least || g->sorted[a][mid] >= *bw_Bps)
                hi = mid;
            else
                lo = mid + 1;
        }
        *bw_Bps = g->sorted[a][lo];
    }
}

static void place_seed(const struct grid *g, struct grid_place *p, const double *alpha, int64_t s)
{
    memcpy(p->bw_Bps, g->q.bw_Bps, sizeof p->bw_Bps);
    for (int32_t a = 0; a < g->q.n_axes; a++) {
        double at = fmod(0.5 + (double)s * alpha[a], 1);
        int64_t i = (int64_t)(at * (double)g->q.axes[a].n);
        p->bw_Bps[g->q.axes[a].dim] = g->sorted[a][i];
    }
    trim(g, p);
    grid_place_value(g, p, step_time(g->q.step, p->bw_Bps));
}

/* Evaluates a few points spread evenly first: a good front early saves most of the work. */
static int grid_seed(struct grid *g, struct err *e)
{
    double alpha[TOPO_MAX_DIMS], x[FRONT_MAX_COLUMNS];
    int64_t n = g->size[0] / PER_SEED;
    int rc = 0;
    if (!g->q.n_front)
        return 0;
    if (n > MOST_SEEDS)
        n = MOST_SEEDS;
    set_steps(alpha, g->q.n_axes);
    for (int64_t s = 0; s < n && !rc; s++) {
        struct grid_place p;
        bool on = false;
        place_seed(g, &p, alpha, s);
        grid_front_value(g, p.value, x);
        if (grid_fits(g, &p) == GRID_IN)
            rc = front_offer(&g->seeds, x, s, &on, e);
        if (on)
            grid_bar_lower(g, g->seed_s, x);
    }
    return rc;
}

/*
 * The walk over a grid: axis by axis down to rows, leaving out what cannot hold anything good.
 */

/* Combinations of a row between two looks at what was found: the bar is lower then. */
enum { SEGMENT = 1024 };

/* Where the walk is, and room for what it needs there. */
struct grid_walk {
    const struct grid *g;
    struct grid_sieve sieve;
    int64_t first, end;
    struct grid_place place; /* on axes that were walked; elsewhere what is fixed */
    double *base_s;          /* shape [n_outer+1][n_leaves]: leaves over what is fixed, and the axes walked */
    double *row_Bps[GRID_DIMS], *row_s; /* shape [stride]; for steps with maxima */
    struct grid_row row;
    int32_t caps[GRID_LINEAR]; /* which linear columns row.caps are */
    struct grid_hit *hits;
    int64_t (*sift)(const struct grid_row *r, int64_t begin, int64_t end, struct grid_hit *hits);
};

/* ---- what rows have in common ---- */

/* Leaves below axis `level`, once it has value i. */
static void push_axis(struct grid_walk *w, int32_t level, int64_t i)
{
    const struct grid *g = w->g;
    const struct step_fn *f = g->q.step;
    const struct grid_axis *axis = &g->q.axes[level];
    const double *above = w->base_s + level * g->n_leaves, inv = g->inv[level][i];
    double *base = w->base_s + (level + 1) * g->n_leaves;
    w->place.i[level] = i;
    w->place.bw_Bps[axis->dim] = axis->bw_Bps[i];
    for (int32_t l = 0; l < g->n_leaves; l++) {
        double product = f->traffic_B[l * GRID_DIMS + axis->dim] * inv;
        base[l] = product > above[l] ? product : above[l];
    }
}

static void begin_base(struct grid_walk *w)
{
    const struct grid *g = w->g;
    const struct step_fn *f = g->q.step;
    memcpy(w->place.bw_Bps, g->q.bw_Bps, sizeof w->place.bw_Bps);
    for (int32_t l = 0; l < g->n_leaves; l++)
        for (int32_t d = 0; d < f->n_dims; d++) {
            double product = f->traffic_B[l * GRID_DIMS + d] * (1 / g->q.bw_Bps[d]);
            if (g->axis_of[d] < 0 && product > w->base_s[l])
                w->base_s[l] = product;
        }
}

/* ---- bounds ---- */

/* No combination below takes less: every axis that is not walked has its most. */
static double least_time(const struct grid_walk *w, int32_t level)
{
    const struct grid *g = w->g;
    const double *ahead = g->ahead_s + level * g->n_leaves, *base = w->base_s + level * g->n_leaves;
    if (!g->sums) {
        double bw_Bps[GRID_DIMS];
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

/* Is a row broken by all bandwidths from @p least_Bps to @p most_Bps? */
static bool is_broken(const struct alloc_row *row, const double *least_Bps, const double *most_Bps,
                      int32_t n_dims)
{
    double lowest = -row->rhs, highest = lowest, size = fabs(row->rhs);
    for (int32_t d = 0; d < n_dims; d++) {
        const bool falls = row->coef[d] < 0;
        const double most = row->coef[d] * most_Bps[d];
        lowest += falls ? most : row->coef[d] * least_Bps[d];
        highest += falls ? row->coef[d] * least_Bps[d] : most;
        size = fabs(most) > size ? fabs(most) : size;
    }
    return (row->sense != LINEXPR_GE && lowest > GRID_TIE_REL * size) ||
           (row->sense != LINEXPR_LE && highest < -GRID_TIE_REL * size);
}

/* Rounding is monotonic, and additions have one order: least is no more than what is below, to the bit. */
static bool is_hopeless(const struct grid_walk *w, int32_t level)
{
    const struct grid *g = w->g;
    double bw_Bps[GRID_DIMS], most_Bps[GRID_DIMS], x[GRID_LINEAR];
    memcpy(bw_Bps, w->place.bw_Bps, sizeof bw_Bps);
    memcpy(most_Bps, w->place.bw_Bps, sizeof most_Bps);
    for (int32_t a = level; a < g->q.n_axes; a++) {
        bw_Bps[g->q.axes[a].dim] = grid_axis_least(g, a);
        most_Bps[g->q.axes[a].dim] = grid_axis_most(g, a);
    }
    for (int32_t i = 0; i < g->q.n_rows; i++)
        if (is_broken(&g->q.rows[i], bw_Bps, most_Bps, g->q.step->n_dims))
            return true;
    for (int c = 0; c < GRID_LINEAR; c++) {
        double most = g->q.most[GRID_COST + c] * g->linear[c].per_unit;
        if (most < INFINITY && grid_linear_at(g, c, bw_Bps) > most * (1 + GRID_TIE_REL))
            return true;
    }
    for (int32_t c = 0; c < g->n_lookup; c++)
        x[c] = grid_linear_at(g, g->lookup[c], bw_Bps);
    return least_time(w, level) > w->sieve.bar_s[grid_bar_at(g, x)];
}

/* ---- a row ---- */

/* A linear column along the innermost row: a constant, and what inner axes add. */
static void set_sum(const struct grid_walk *w, struct grid_sum *s, int32_t column)
{
    const struct grid *g = w->g;
    const struct grid_linear *linear = &g->linear[column];
    s->start = linear->start;
    s->n = 0;
    for (int32_t d = 0; d < g->q.step->n_dims; d++) {
        int32_t a = g->axis_of[d];
        double add = a < g->n_outer ? grid_add(g, column, d, w->place.bw_Bps[d]) : 0;
        if (a >= g->n_outer && (linear->coef[d] > 0 || (g->q.whole && column == LINEAR_COST)))
            s->parts[s->n++] = (struct grid_part){ .inner = g->inner[a][column] };
        else if (a < g->n_outer && s->n == 0)
            s->start += add;
        else if (a < g->n_outer && add > 0)
            s->parts[s->n++] = (struct grid_part){ .add = add };
    }
}

/* The step at each place of the row, where it has maxima. */
static void time_row(struct grid_walk *w)
{
    const struct grid *g = w->g;
    const double *bw_Bps[GRID_DIMS];
    for (int32_t d = 0; d < g->q.step->n_dims; d++) {
        int32_t a = g->axis_of[d];
        bw_Bps[d] = a >= g->n_outer ? g->inner_Bps[a] : w->row_Bps[d];
        for (int64_t k = 0; a < g->n_outer && k < g->size[g->n_outer]; k++)
            w->row_Bps[d][k] = w->place.bw_Bps[d];
    }
    step_time_batch(g->q.step, bw_Bps, g->size[g->n_outer], w->row_s);
}

/* What all rows have in common. */
static void begin_row(struct grid_walk *w)
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

static void set_row(struct grid_walk *w)
{
    const struct grid *g = w->g;
    if (!g->sums)
        time_row(w);
    for (int32_t c = 0; c < g->n_lookup; c++)
        set_sum(w, &w->row.sums[c], g->lookup[c]);
    for (int32_t c = 0; c < w->row.n_caps; c++)
        set_sum(w, &w->row.caps[c], w->caps[c]);
}

static int offer_hit(struct grid_walk *w, int64_t begin, const struct grid_hit *hit, struct err *e)
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
static int walk_row(struct grid_walk *w, int64_t begin, struct err *e)
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

/* All combinations from `begin` that have the values walked so far. Recursion as deep as there are axes. */
static int walk_axis(struct grid_walk *w, int32_t level, int64_t begin, struct err *e)
{
    const struct grid *g = w->g;
    if (level == g->n_outer)
        return walk_row(w, begin, e);
    const int64_t size = g->size[level + 1], whole = g->q.axes[level].n * size;
    const int64_t first = w->first > begin ? (w->first - begin) / size : 0;
    const int64_t last = (w->end - begin < whole ? w->end - begin - 1 : whole - 1) / size;
    /* Points from all over the axis come first, and others are held against them; from one end to the other
     * each row would be better than those before. */
    const int64_t n = last - first + 1, step = num_golden_step(n);
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

static int walk_reserve(struct grid_walk *w, struct err *e)
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

static void walk_free(struct grid_walk *w)
{
    grid_sieve_free(&w->sieve);
    free(w->base_s);
    free(w->hits);
    free(w->row_s);
    for (int32_t d = 0; d < GRID_DIMS; d++)
        free(w->row_Bps[d]);
}

/* Points first .. first + n - 1. Two or four at a time give the same: lanes only change how many are tried at
 * once. */
int grid_run(const struct grid *g, int64_t first, int64_t n, const struct front *known,
             struct grid_found *out, struct err *e)
{
    struct grid_walk w = { .g = g, .first = first, .end = first + n };
    int32_t lanes = g->q.lanes ? g->q.lanes : grid_has_avx2() ? 4 : 2;
    w.sift = lanes == 4 ? grid_sift_4 : grid_sift_2;
    int rc = grid_sieve_open(&w.sieve, g, known, out, e);
    if (!rc)
        rc = walk_reserve(&w, e);
    if (!rc) {
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

/* Numbers of all arrays that the loop over a row reads: half of a first-level cache of 32 KiB. */
enum { ROW_NUMBERS = 2048, LEAST_ROW = 64 };

enum grid_column grid_column_of(const char *name)
{
    static const char *const names[GRID_COLUMNS] = { DESIGN_COLUMN(time_s), DESIGN_COLUMN(cost_usd),
                                                     DESIGN_COLUMN(total_GBps), DESIGN_COLUMN(nic_GBps),
                                                     "time_cost_usd_s" };
    int c = 0;
    while (c < GRID_COLUMNS && strcmp(name, names[c]) != 0)
        c++;
    return (enum grid_column)c;
}

void grid_question_init(struct grid_question *q, const struct step_fn *step)
{
    *q = (struct grid_question){ .step = step };
    for (int c = 0; c < GRID_COLUMNS; c++)
        q->most[c] = INFINITY;
}

bool grid_has_avx2(void)
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

/* ---- checks ---- */

/* One axis per dimension. */
static int check_axis(const struct grid_question *q, int32_t a, struct err *e)
{
    const struct grid_axis *axis = &q->axes[a];
    if (axis->dim < 0 || axis->dim >= q->step->n_dims)
        return err_set(e, ERR_RANGE, "axis %d: dimension is %d, expected 0 to %d", (int)a, (int)axis->dim,
                       (int)q->step->n_dims - 1);
    for (int32_t b = 0; b < a; b++)
        if (q->axes[b].dim == axis->dim)
            return err_set(e, ERR_RANGE, "axis %d: dimension %d has an axis; choose another one", (int)a,
                           (int)axis->dim);
    if (axis->n < 1)
        return err_set(e, ERR_RANGE, "axis %d: has no values, expected at least 1", (int)a);
    for (int64_t i = 0; i < axis->n; i++)
        if (!(isfinite(axis->bw_Bps[i]) && axis->bw_Bps[i] >= 0))
            return err_set(e, ERR_RANGE, "axis %d: bandwidth is %g B/s, expected 0 or more", (int)a,
                           axis->bw_Bps[i]);
    return 0;
}

/* Axes, and how many combinations there are. */
static int grid_check(struct grid *g, struct err *e)
{
    const int64_t most = INT64_C(1) << 62;
    int rc = 0;
    for (int32_t d = 0; d < GRID_DIMS; d++)
        g->axis_of[d] = -1;
    for (int32_t a = 0; a < g->q.n_axes && !rc; a++) {
        rc = check_axis(&g->q, a, e);
        if (!rc)
            g->axis_of[g->q.axes[a].dim] = a;
    }
    if (rc)
        return rc;
    g->size[g->q.n_axes] = 1;
    for (int32_t a = g->q.n_axes; a-- > 0;)
        if (!num_mul(g->size[a + 1], g->q.axes[a].n, &g->size[a]) || g->size[a] >= most)
            return err_set(e, ERR_RANGE, "a grid of bandwidths has 2^62 combinations or more");
    return 0;
}

/* ---- arrays ---- */

/* Zeros that begin at a cache line, so that no vector lies on two: half of them would, and be slower. */
static double *zeros(int64_t n)
{
    enum { LINE = 64, NUMBERS = LINE / sizeof(double) };
    size_t size = (size_t)(n / NUMBERS + 1) * LINE;
    double *x = aligned_alloc(LINE, size);
    if (x)
        memset(x, 0, size);
    return x;
}

struct priced {
    double bw_Bps, usd;
};

static int compare_priced(const void *a, const void *b)
{
    const struct priced *x = a, *y = b;
    return (x->bw_Bps > y->bw_Bps) - (x->bw_Bps < y->bw_Bps);
}

/* Reciprocals, and values in ascending order with their prices. More bandwidth for less money would turn what
 * is said of a corner around. */
static int prepare_axis(struct grid *g, int32_t a, struct err *e)
{
    const struct grid_axis *axis = &g->q.axes[a];
    struct priced *values = calloc((size_t)axis->n, sizeof *values);
    int rc = 0;
    g->inv[a] = malloc((size_t)axis->n * sizeof *g->inv[a]);
    g->sorted[a] = malloc((size_t)axis->n * sizeof *g->sorted[a]);
    g->sorted_usd[a] = malloc((size_t)axis->n * sizeof *g->sorted_usd[a]);
    if (!g->inv[a] || !g->sorted[a] || !g->sorted_usd[a] || !values) {
        free(values);
        return err_nomem(e, "a grid of bandwidths");
    }
    for (int64_t i = 0; i < axis->n; i++) {
        g->inv[a][i] = 1 / axis->bw_Bps[i];
        values[i] = (struct priced){ axis->bw_Bps[i], g->q.whole ? axis->usd[i] : 0 };
    }
    qsort(values, (size_t)axis->n, sizeof *values, compare_priced);
    for (int64_t i = 0; i < axis->n; i++) {
        g->sorted[a][i] = values[i].bw_Bps;
        g->sorted_usd[a][i] = values[i].usd;
        if (i > 0 && values[i].usd < values[i - 1].usd)
            rc = err_set(e, ERR_RANGE, "axis %d: %g B/s cost less than %g, expected no less", (int)a,
                         values[i].bw_Bps, values[i - 1].bw_Bps);
    }
    free(values);
    return rc;
}

static void set_linear(struct grid *g)
{
    for (int c = 0; c < GRID_LINEAR; c++)
        g->linear[c].per_unit = c == LINEAR_COST ? 1 : 1e9; /* GB/s */
    g->linear[LINEAR_COST].start = g->q.usd_fixed;
    for (int32_t d = 0; d < g->q.step->n_dims; d++) {
        g->linear[LINEAR_COST].coef[d] = g->q.usd_per_Bps[d];
        g->linear[LINEAR_TOTAL].coef[d] = !g->q.inside[d];
        g->linear[LINEAR_NIC].coef[d] = g->q.nic_share[d];
    }
}

/* As many of the last axes as stay in the cache together; the last one in any case. */
static void choose_row(struct grid *g)
{
    int64_t most = ROW_NUMBERS / (g->n_leaves + 1);
    if (most < LEAST_ROW)
        most = LEAST_ROW;
    g->n_outer = g->q.n_axes ? g->q.n_axes - 1 : 0;
    while (g->n_outer > 0 && g->size[g->n_outer - 1] <= most)
        g->n_outer--;
    int64_t row = g->size[g->n_outer];
    g->stride = (row + GRID_BLOCK - 1) / GRID_BLOCK * GRID_BLOCK;
}

/* What axis a adds at each place of the row; zero beyond its end, where nobody looks. */
static int prepare_inner(struct grid *g, int32_t a, struct err *e)
{
    const struct grid_axis *axis = &g->q.axes[a];
    int64_t row = g->size[g->n_outer];
    g->inner_Bps[a] = zeros(g->stride);
    for (int c = 0; c < GRID_LINEAR; c++)
        g->inner[a][c] = zeros(g->stride);
    if (!g->inner_Bps[a] || !g->inner[a][0] || !g->inner[a][1] || !g->inner[a][2])
        return err_nomem(e, "a grid of bandwidths");
    for (int64_t k = 0; k < row; k++) {
        g->inner_Bps[a][k] = axis->bw_Bps[k / g->size[a + 1] % axis->n];
        for (int c = 0; c < GRID_LINEAR; c++)
            g->inner[a][c][k] = grid_add(g, c, axis->dim, g->inner_Bps[a][k]);
    }
    return 0;
}

/* A leaf over the dimensions of the row's axes. NaN (0 bytes over no bandwidth) does not count, as in
 * step_time(). */
static void fill_leaf(struct grid *g, int32_t l)
{
    const struct step_fn *f = g->q.step;
    double *out = g->leaf_s + l * g->stride;
    for (int32_t a = g->n_outer; a < g->q.n_axes; a++) {
        const struct grid_axis *axis = &g->q.axes[a];
        for (int64_t k = 0; k < g->size[g->n_outer]; k++) {
            double product =
                f->traffic_B[l * GRID_DIMS + axis->dim] * g->inv[a][k / g->size[a + 1] % axis->n];
            out[k] = product > out[k] ? product : out[k];
        }
    }
}

/* Leaves inside the row: as arrays, or what makes them where these were more than the cache holds. */
static int prepare_leaves(struct grid *g, struct err *e)
{
    const bool many = g->n_leaves * g->stride > ROW_NUMBERS && g->n_outer + 1 == g->q.n_axes;
    if (many) {
        const struct grid_axis *axis = &g->q.axes[g->n_outer];
        g->row_inv = zeros(g->stride);
        g->slopes = zeros(g->n_leaves);
        if (!g->row_inv || !g->slopes)
            return err_nomem(e, "a grid of bandwidths");
        memcpy(g->row_inv, g->inv[g->n_outer], (size_t)axis->n * sizeof *g->row_inv);
        for (int32_t l = 0; l < g->n_leaves; l++)
            g->slopes[l] = g->q.step->traffic_B[l * GRID_DIMS + axis->dim];
        return 0;
    }
    g->leaf_s = zeros(g->n_leaves * g->stride);
    if (!g->leaf_s)
        return err_nomem(e, "a grid of bandwidths");
    for (int32_t l = 0; l < g->n_leaves; l++)
        fill_leaf(g, l);
    return 0;
}

/* ahead_s[i]: leaves with the most that axes i and after can give. */
static void fill_ahead(struct grid *g)
{
    const struct step_fn *f = g->q.step;
    for (int32_t i = 0; i <= g->n_outer; i++)
        for (int32_t l = 0; l < g->n_leaves; l++)
            for (int32_t a = i; a < g->q.n_axes; a++) {
                double *least = &g->ahead_s[i * g->n_leaves + l];
                double product = f->traffic_B[l * GRID_DIMS + g->q.axes[a].dim] * (1 / grid_axis_most(g, a));
                *least = product > *least ? product : *least;
            }
}

static bool do_rows_fall(const struct grid_question *q)
{
    for (int32_t i = 0; i < q->n_rows; i++)
        for (int32_t d = 0; d < q->step->n_dims; d++)
            if (q->rows[i].sense != LINEXPR_LE || q->rows[i].coef[d] < 0)
                return false;
    return true;
}

/* Tables per axis (1/B, sums, slopes), the bar, and the seeds; after this a grid is read-only and shared by
 * threads. */
static int prepare(struct grid *g, struct err *e)
{
    int rc = 0;
    set_linear(g);
    g->sums = g->q.step->n_terms == 1;
    g->rows_fall = do_rows_fall(&g->q);
    g->n_leaves = g->sums ? g->q.step->n_leaves : 0;
    choose_row(g);
    g->ahead_s = calloc((size_t)(g->n_outer + 1) * (size_t)g->n_leaves + 1, sizeof *g->ahead_s);
    if (!g->ahead_s)
        return err_nomem(e, "a grid of bandwidths");
    for (int32_t a = 0; a < g->q.n_axes && !rc; a++)
        rc = prepare_axis(g, a, e);
    for (int32_t a = g->n_outer; a < g->q.n_axes && !rc; a++)
        rc = prepare_inner(g, a, e);
    if (!rc)
        rc = prepare_leaves(g, e);
    if (rc)
        return rc;
    fill_ahead(g);
    rc = grid_bar_build(g, e);
    return rc ? rc : grid_seed(g, e);
}

/* Checks the question, since rows of a study reach it unchecked. */
int grid_prepare(struct grid **out, const struct grid_question *q, struct err *e)
{
    struct grid *g = calloc(1, sizeof *g);
    *out = NULL;
    if (!g)
        return err_nomem(e, "a grid of bandwidths");
    g->q = *q;
    g->seeds.n_cols = q->n_front;
    int rc = grid_check(g, e);
    if (!rc)
        rc = prepare(g, e);
    if (rc)
        grid_free(g);
    else
        *out = g;
    return rc;
}

/* NULL is legal. */
void grid_free(struct grid *g)
{
    if (!g)
        return;
    for (int32_t a = 0; a < GRID_DIMS; a++) {
        free(g->inv[a]);
        free(g->sorted[a]);
        free(g->sorted_usd[a]);
        free(g->inner_Bps[a]);
        for (int c = 0; c < GRID_LINEAR; c++)
            free(g->inner[a][c]);
    }
    free(g->leaf_s);
    free(g->row_inv);
    free(g->slopes);
    free(g->ahead_s);
    free(g->limit_s);
    free(g->seed_s);
    front_free(&g->seeds);
    free(g);
}

int64_t grid_count(const struct grid *g)
{
    return g->size[0];
}
