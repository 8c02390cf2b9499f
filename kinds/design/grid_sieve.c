/* Survivors of a run: what no other point proves worse. */
#include "kinds/design/grid_inner.h"

#include <math.h>
#include <stdlib.h>

#include "alloc/lp.h"

/* Points between two sweeps at least; changes of the best few after which their bar is made anew. */
enum { SWEEP_POINTS = 4096, TOP_NEWS = 64 };

/* ---- one point ---- */

static bool has_time(enum grid_column c)
{
    return c == GRID_TIME || c == GRID_PRODUCT;
}

/* Of sums of bandwidths as they are written: where rows of a sweep say so, too (kinds/design/design.c). */
#define ROW_REL 1e-12

enum grid_fit grid_fits(const struct grid *g, const struct grid_place *p)
{
    enum grid_fit fit = GRID_IN;
    for (int c = 0; c < GRID_COLUMNS; c++) {
        const double slack = has_time((enum grid_column)c) ? GRID_TIE_REL : 0;
        if (p->value[c] > g->q.most[c] * (1 + slack))
            return GRID_OUT;
        if (g->q.most[c] < INFINITY && !(p->value[c] <= g->q.most[c] * (1 - slack)))
            fit = GRID_MAYBE;
    }
    for (int32_t i = 0; i < g->q.n_rows; i++)
        if (!(fabs(alloc_outside(&g->q.rows[i], p->bw_Bps, g->q.step->n_dims)) <= ROW_REL))
            return GRID_OUT;
    return fit;
}

void grid_front_value(const struct grid *g, const double value[GRID_COLUMNS], double x[FRONT_MAX_COLUMNS])
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
    int64_t lo = 0, hi = g->q.axes[axis].n; /* the first that is not lower is among lo..hi */
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (g->sorted[axis][mid] < bw_Bps)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > 0 ? g->sorted[axis][lo - 1] : -1;
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
static bool is_worse(struct grid_best a, struct grid_best b)
{
    return a.bits != b.bits ? a.bits > b.bits : a.at > b.at;
}

static double worst_best(const struct grid_sieve *s)
{
    double x;
    memcpy(&x, &s->best[0].bits, sizeof x);
    return x;
}

static void sink(struct grid_best *heap, int64_t n)
{
    const struct grid_best item = heap[0];
    int64_t at = 0;
    for (int64_t child; (child = 2 * at + 1) < n; at = child) {
        child += child + 1 < n && is_worse(heap[child + 1], heap[child]);
        if (!is_worse(heap[child], item))
            break;
        heap[at] = heap[child];
    }
    heap[at] = item;
}

static void rise(struct grid_best *heap, int64_t at)
{
    const struct grid_best item = heap[at];
    for (; at > 0 && is_worse(item, heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = item;
}

static int take_best(struct grid_sieve *s, struct grid_best item, struct err *e)
{
    if (s->n_best == s->g->q.n_top) {
        if (is_worse(item, s->best[0]))
            return 0;
        s->best[0] = item;
        sink(s->best, s->n_best);
        s->n_news++;
        return 0;
    }
    if (s->n_best == s->cap_best) {
        int64_t cap = s->cap_best ? 2 * s->cap_best : 64;
        struct grid_best *grown = realloc(s->best, (size_t)cap * sizeof *grown);
        if (!grown)
            return err_nomem(e, "the best of a grid");
        s->best = grown;
        s->cap_best = cap;
    }
    s->best[s->n_best] = item;
    rise(s->best, s->n_best++);
    s->n_news += s->n_best == s->g->q.n_top ? TOP_NEWS : 0;
    return 0;
}

/* Can the value be among the best few? */
static bool is_among_best(const struct grid_sieve *s, double value)
{
    double slack = has_time(s->g->q.top) ? 1 + GRID_TIE_REL : 1;
    return s->n_best < s->g->q.n_top || value <= worst_best(s) * slack;
}

/* Where values are the same in rows, points that come after the best few stay behind. */
static bool is_after(const struct grid_sieve *s, struct grid_best item)
{
    return !has_time(s->g->q.top) && s->n_best == s->g->q.n_top && is_worse(item, s->best[0]);
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
        grid_bar_top(s->g, s->top_s, worst_best(s));
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

int grid_sieve_open(struct grid_sieve *s, const struct grid *g, const struct front *known,
                    struct grid_found *out, struct err *e)
{
    size_t size = (size_t)g->n_bar * sizeof *s->most_s;
    bool front = g->q.n_front > 0, top = g->q.n_top > 0;
    *s = (struct grid_sieve){ .g = g, .known = front ? known : NULL, .out = out, .first = out->n };
    s->front.n_cols = g->q.n_front;
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

void grid_sieve_free(struct grid_sieve *s)
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
           (q->n_top && is_among_best(s, value[q->top]) && !is_after(s, best_of(value[q->top], p->at)));
}

static bool is_on_front(const struct grid_sieve *s, const struct grid_place *p, bool certain)
{
    return s->g->q.n_front && !is_dominated(s, p->value) && !(certain && is_wasteful(s->g, p));
}

static bool is_in_top(const struct grid_sieve *s, const struct grid_place *p, int64_t at, bool certain)
{
    const struct grid_question *q = &s->g->q;
    double value = p->value[q->top];
    if (!q->n_top || !is_among_best(s, value) || is_after(s, best_of(value, at)))
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

static int keep(struct grid_sieve *s, int64_t at, const struct grid_place *p, struct err *e)
{
    struct grid_found *out = s->out;
    if (out->n == out->cap) {
        int64_t cap = out->cap ? 2 * out->cap : 256;
        struct grid_point *grown = realloc(out->points, (size_t)cap * sizeof *grown);
        if (!grown)
            return err_nomem(e, "points of a grid");
        out->points = grown;
        out->cap = cap;
    }
    out->points[out->n].at = at;
    memcpy(out->points[out->n++].value, p->value, sizeof p->value);
    if (out->n >= s->n_next)
        sweep(s);
    return 0;
}

int grid_sieve_offer(struct grid_sieve *s, int64_t at, const struct grid_place *p, struct err *e)
{
    const struct grid_question *q = &s->g->q;
    enum grid_fit fit = grid_fits(s->g, p);
    if (fit == GRID_OUT)
        return 0;
    if (!q->n_front && !q->n_top)
        return keep(s, at, p, e);
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
        rc = keep(s, at, p, e);
    renew_bar(s);
    return rc;
}

static int compare_points(const void *a, const void *b)
{
    const struct grid_point *p = a, *q = b;
    return (p->at > q->at) - (p->at < q->at);
}

void grid_sieve_close(struct grid_sieve *s)
{
    sweep(s);
    if (s->out->n > s->first)
        qsort(s->out->points + s->first, (size_t)(s->out->n - s->first), sizeof *s->out->points,
              compare_points);
}
