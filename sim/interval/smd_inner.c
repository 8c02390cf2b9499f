#include "sim/interval/smd_inner.h"

#include <math.h>
#include <stddef.h>

/* ---- polygons ---- */

enum {
    N_TERMS = 6,
    /* A box, clipped once per resource and once per term. A cut adds one vertex; rounding may add another. */
    MAX_VERTICES = 4 + 2 * (SMD_MAX_RESOURCES + N_TERMS),
};

struct vertex {
    double w, p;
};

/* Convex, vertices in order; possibly a segment or a point. */
struct polygon {
    struct vertex at[MAX_VERTICES];
    int32_t n;
};

/* num[0] + num[1] w + num[2] p, likewise den; den > 0 where w, p >= 1. */
struct ratio {
    double num[3], den[3];
};

static double linear(const double a[3], struct vertex x)
{
    return a[0] + a[1] * x.w + a[2] * x.p;
}

static void add_vertex(struct polygon *y, struct vertex x)
{
    if (y->n < MAX_VERTICES)
        y->at[y->n++] = x;
}

enum side { BELOW, ABOVE };

/* Keep where num / den is below (or above) a bound. What lies on the line but for rounding counts as on it:
 * the bound is often the least value over the polygon, and must leave its vertex. */
static void clip(struct polygon *out, const struct polygon *in, const struct ratio *z, enum side side,
                 double bound)
{
    const double sign = side == BELOW ? 1 : -1;
    double over[MAX_VERTICES]; /* by how much a vertex is outside */
    out->n = 0;
    for (int32_t i = 0; i < in->n; i++) {
        double limit = bound * linear(z->den, in->at[i]);
        over[i] = sign * (linear(z->num, in->at[i]) - limit);
        if (fabs(over[i]) <= 1e-13 * limit)
            over[i] = 0;
    }
    for (int32_t i = 0; i < in->n; i++) {
        int32_t j = i + 1 < in->n ? i + 1 : 0;
        if (over[i] <= 0)
            add_vertex(out, in->at[i]);
        if ((over[i] < 0 && over[j] > 0) || (over[i] > 0 && over[j] < 0)) {
            double t = over[i] / (over[i] - over[j]);
            struct vertex a = in->at[i], b = in->at[j];
            add_vertex(out, (struct vertex){ a.w + t * (b.w - a.w), a.p + t * (b.p - a.p) });
        }
    }
}

/* w, p >= 1 within the limit. (1, 1) fits, so this is not empty. */
static struct polygon limit_polygon(const struct smd_job *job, int32_t n_resources)
{
    double w = fmax(smd_most_workers(job, n_resources, 1), 1);
    double p = fmax(smd_most_servers(job, n_resources, 1), 1);
    struct polygon omega = { { { 1, 1 }, { w, 1 }, { w, p }, { 1, p } }, 4 };
    for (int32_t r = 0; r < n_resources; r++) {
        const struct ratio use = { { 0, job->worker[r], job->ps[r] }, { 1, 0, 0 } };
        struct polygon whole = omega;
        if (job->worker[r] > 0 || job->ps[r] > 0)
            clip(&omega, &whole, &use, BELOW, job->limit[r] * (1 + SMD_LIMIT_SLACK));
    }
    return omega;
}

/* ---- the grid ---- */

#define COARSE_EPS 0.3

struct range {
    double least, most;
};

struct search {
    const struct smd_cost *cost;
    struct ratio terms[N_TERMS]; /* the last one is left out of the grid */
    int32_t n_terms;
    double eps;
    struct smd_grid *best;
};

static struct range range_of(const struct ratio *z, const struct polygon *over)
{
    struct range r = { INFINITY, 0 };
    for (int32_t i = 0; i < over->n; i++) {
        double value = linear(z->num, over->at[i]) / linear(z->den, over->at[i]);
        r.least = fmin(r.least, value);
        r.most = fmax(r.most, value);
    }
    return r;
}

/* Least that the terms from `from` on can add up to over a polygon. */
static double least_rest(const struct search *s, int32_t from, const struct polygon *over)
{
    double sum = 0;
    for (int32_t k = from; k < s->n_terms; k++)
        sum += range_of(&s->terms[k], over).least;
    return sum;
}

/* One term of the grid and what the bounds on those before it leave. */
struct level {
    int32_t k;
    const struct polygon *over;
    struct range range; /* of term k over the polygon */
    double bounds_s;    /* sum of the bounds on terms before k */
};

/* The i-th bound of the sequence. */
static double bound_at(const struct search *s, const struct level *l, int32_t i)
{
    return fmin(l->range.least * pow(1 + s->eps, i), l->range.most);
}

static void search_term(struct search *s, int32_t k, const struct polygon *over, double bounds_s);

/*
 * Bounds first..last on a term. A point belongs to the first bound that it is below, so they stand for a slab
 * of the polygon, and together they are left when bounds and least values promise nothing. The cell of the
 * optimum promises at most 1 + eps times the optimum; so does each slab around it; so, when it is left, what
 * was found is as good.
 */
static void search_bounds(struct search *s, const struct level *l, int32_t first, int32_t last)
{
    const struct ratio *z = &s->terms[l->k];
    double bounds_s = l->bounds_s + bound_at(s, l, first);
    struct polygon below, slab;
    clip(&below, l->over, z, BELOW, bound_at(s, l, last));
    if (first > 0)
        clip(&slab, &below, z, ABOVE, bound_at(s, l, first - 1));
    const struct polygon *left = first > 0 ? &slab : &below;
    if (!(bounds_s + least_rest(s, l->k + 1, left) < s->best->point.jct_s))
        return;
    if (first == last) {
        search_term(s, l->k + 1, left, bounds_s);
        return;
    }
    int32_t middle = first + (last - first) / 2;
    search_bounds(s, l, first, middle);
    search_bounds(s, l, middle + 1, last);
}

/* All but the last term are bounded one after the other. Then the least of the last lies at a vertex; the
 * true sum is looked at in all of them. */
static void search_term(struct search *s, int32_t k, const struct polygon *over, double bounds_s)
{
    if (k < s->n_terms - 1) {
        struct level l = { k, over, range_of(&s->terms[k], over), bounds_s };
        double n = ceil(log(l.range.most / l.range.least) / log1p(s->eps));
        search_bounds(s, &l, 0, (int32_t)fmax(n, 0));
        return;
    }
    s->best->cells++;
    for (int32_t i = 0; i < over->n; i++) {
        double jct_s = smd_jct_s(s->cost, over->at[i].w, over->at[i].p);
        if (jct_s < s->best->point.jct_s)
            s->best->point = (struct smd_point){ over->at[i].w, over->at[i].p, jct_s };
    }
}

/* The terms that are there, the widest over the polygon last. */
static void find_terms(struct search *s, const struct polygon *omega)
{
    const struct smd_cost *c = s->cost;
    const struct ratio all[N_TERMS] = {
        { { 0, c->w_s, 0 }, { 1, 0, 0 } },        { { 0, 0, c->p_s }, { 1, 0, 0 } },
        { { 0, c->w_over_p_s, 0 }, { 0, 0, 1 } }, { { 0, 0, c->p_over_w_s }, { 0, 1, 0 } },
        { { c->over_w_s, 0, 0 }, { 0, 1, 0 } },   { { c->over_p_s, 0, 0 }, { 0, 0, 1 } },
    };
    double widest = 0;
    s->n_terms = 0;
    for (int32_t k = 0; k < N_TERMS; k++) {
        struct range r = range_of(&all[k], omega);
        if (!(r.most > 0))
            continue;
        int32_t last = s->n_terms++;
        s->terms[last] = all[k];
        if (last > 0 && r.most / r.least < widest) {
            s->terms[last] = s->terms[last - 1];
            s->terms[last - 1] = all[k];
        } else {
            widest = r.most / r.least;
        }
    }
}

int smd_inner_grid(struct smd_grid *out, const struct smd_job *job, int32_t n_resources, double eps,
                   struct err *e)
{
    *out = (struct smd_grid){ .point = { 1, 1, INFINITY } };
    if (!(eps >= 1e-4 && eps <= 1))
        return err_set(e, ERR_RANGE, "eps: is %g, need 0.0001 to 1", eps);
    const struct smd_cost cost = smd_find_cost(job);
    const struct polygon omega = limit_polygon(job, n_resources);
    struct search s = { .cost = &cost, .eps = COARSE_EPS, .best = out };
    find_terms(&s, &omega);
    /* What a coarse grid finds lets most of the fine one be left at once. */
    if (eps < COARSE_EPS)
        search_term(&s, 0, &omega, cost.fixed_s);
    s.eps = eps;
    search_term(&s, 0, &omega, cost.fixed_s);
    out->bound_s = out->point.jct_s / (1 + eps);
    return 0;
}

/* ---- whole numbers ---- */

static void keep_better(struct smd_point *best, const struct smd_cost *c, double w, double p)
{
    double jct_s = smd_jct_s(c, w, p);
    if (jct_s < best->jct_s)
        *best = (struct smd_point){ w, p, jct_s };
}

struct smd_point smd_inner_exact(const struct smd_job *job, int32_t n_resources)
{
    const struct smd_cost c = smd_find_cost(job);
    struct smd_point best = { 1, 1, smd_jct_s(&c, 1, 1) };
    for (int32_t w = 1; smd_fits(job, n_resources, w, 1); w++) {
        double most = fmax(floor(smd_most_servers(job, n_resources, w)), 1);
        double rising_s = c.p_s + c.p_over_w_s / w, falling_s = c.w_over_p_s * w + c.over_p_s;
        /* Without a cost per server, as many as fit; with neither cost nor gain, one. */
        double p = rising_s > 0 ? sqrt(falling_s / rising_s) : falling_s > 0 ? most : 1;
        p = fmin(fmax(floor(p), 1), most);
        keep_better(&best, &c, w, p);
        keep_better(&best, &c, w, fmin(p + 1, most));
    }
    return best;
}
