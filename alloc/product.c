#include "alloc/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/bound.h"
#include "alloc/repair.h"
#include "alloc/vector.h"

enum { D = TOPO_MAX_DIMS, MAX_LINES = 400, MAX_DESCENT = 40 };

/* What the search stops at: half of ALLOC_GAP. */
#define TARGET_GAP 5e-10

/*
 * T*(X + fixed), X = price.B, is not convex. But minimising T + mu*X is, and each such solve yields a
 * point (X, T) and multipliers that prove T >= constant + root - rent - mu*X for every feasible
 * B. With prices and row multipliers times any factor they prove as well, and the best factor for X gives the
 * curve T >= constant + root^2 / (4 (mu*X + rent)). Curves for more and more mu close the gap around the best
 * point.
 */
struct line {
    double mu;
    struct alloc_bound_parts part;
    double x, t; /* the point that touches it */
    double bw_Bps[D];
    struct alloc_bound proof;
};

struct search {
    const struct alloc_problem *problem;
    struct interior *w;
    struct line *lines; /* by x ascending, mu descending; shape [n] */
    int32_t n, best;
    double least, fixed;
    int32_t iterations;
};

static double product(const struct search *s, int32_t i)
{
    return s->lines[i].t * (s->lines[i].x + s->fixed);
}

/* Solve for one mu and put the line in its place; returns where, or -1 when it brings nothing new. */
static int32_t add_line(struct search *s, double mu, struct err *e)
{
    struct interior_result r;
    interior_solve(s->w, (struct interior_ask){ .time_weight = 1, .cost_weight = mu, .limit_s = INFINITY },
                   &r);
    s->iterations += r.iterations;
    if (!isfinite(r.value) || !isfinite(r.bound) || s->n == MAX_LINES)
        return -1;
    int32_t at = 0;
    while (at < s->n && s->lines[at].mu > mu)
        at++;
    if (at < s->n && s->lines[at].mu == mu)
        return -1;
    struct line line = { .mu = mu, .x = r.cost_usd, .t = r.time_s };
    memcpy(line.bw_Bps, r.bw_Bps, sizeof line.bw_Bps);
    if (interior_bound(s->w, &line.proof, e))
        return -1;
    line.part = alloc_bound_split(&line.proof, s->problem);
    memmove(&s->lines[at + 1], &s->lines[at], (size_t)(s->n - at) * sizeof *s->lines);
    s->lines[at] = line;
    s->n++;
    s->best += s->best >= at && s->n > 1;
    if (product(s, at) < product(s, s->best))
        s->best = at;
    return at;
}

/* log T + log X lies below its tangent: minimising the tangent never makes the product larger. */
static void descend(struct search *s, struct err *e)
{
    for (int32_t i = 0; i < MAX_DESCENT && e->code == ERR_OK; i++) {
        const struct line *best = &s->lines[s->best];
        double mu = best->t / (best->x + s->fixed), before = product(s, s->best);
        int32_t at = add_line(s, mu, e);
        if (at < 0 || product(s, at) >= before * (1 - 1e-13))
            return;
    }
}

/* T at X is at least this, rounded or not. Where prices and rents sum to nothing no feasible B costs X. */
static double curve(const struct line *l, double x)
{
    double price = l->mu * x + l->part.rent + ALLOC_FEASIBLE_REL * (l->mu * x + fabs(l->part.rent));
    return price > 0 ? l->part.constant + l->part.root * l->part.root / (4 * price) : (double)INFINITY;
}

/*
 * Least of curve * (X + fixed) over from..to. As a function of X that is a straight line plus a hyperbola
 * that rises when rent >= mu*fixed, and else falls and is convex.
 */
static double least_on_curve(const struct line *l, double fixed, double from, double to)
{
    double at = from, falls = l->mu * fixed - l->part.rent;
    if (falls > 0 && l->mu > 0) {
        double stop = l->part.root * 0.5 * sqrt(falls / l->part.constant);
        at = fmin(fmax((stop - l->part.rent) / l->mu, from), to);
    }
    return isfinite(at) ? curve(l, at) * (at + fixed) : l->part.root * l->part.root / (4 * l->mu);
}

/* What two neighbouring curves prove between their points: the first up to where they cross, then the other.
 */
static double between(const struct search *s, int32_t i)
{
    const struct line *a = &s->lines[i], *b = &s->lines[i + 1];
    double from = a->x, to = b->x;
    if (!isfinite(to)) /* the floor, which touches nothing: far out it is the higher */
        for (to = 2 * from + s->fixed; isfinite(to) && curve(a, to) > curve(b, to);)
            to *= 2;
    for (int32_t k = 0; k < 60 && to > from * (1 + 1e-15); k++) {
        double middle = 0.5 * (from + to);
        if (curve(a, middle) > curve(b, middle))
            from = middle;
        else
            to = middle;
    }
    return fmin(least_on_curve(a, s->fixed, a->x, to), least_on_curve(b, s->fixed, to, b->x));
}

/* The weakest spot: -1 left of all points, n-1 right of them, i between i and i+1. */
static double weakest(const struct search *s, int32_t *where)
{
    const struct line *first = &s->lines[0], *last = &s->lines[s->n - 1];
    double bound = INFINITY;
    *where = s->best;
    if (first->x > s->least) {
        bound = least_on_curve(first, s->fixed, s->least, first->x);
        *where = -1;
    }
    for (int32_t i = 0; i + 1 < s->n; i++) {
        double here = between(s, i);
        if (here < bound) {
            bound = here;
            *where = i;
        }
    }
    double right = isfinite(last->x) ? least_on_curve(last, s->fixed, last->x, INFINITY) : (double)INFINITY;
    if (right < bound) {
        bound = right;
        *where = s->n - 1;
    }
    return bound;
}

/* A mu that splits the weakest spot; 0 when it cannot be split. */
static double next_mu(const struct search *s, int32_t where)
{
    if (where < 0)
        return 8 * s->lines[0].mu;
    if (where == s->n - 1)
        return 0;
    const struct line *a = &s->lines[where], *b = &s->lines[where + 1];
    double chord = (a->t - b->t) / (b->x - a->x);
    if (!(chord < a->mu * (1 - 1e-14) && chord > b->mu * (1 + 1e-14)))
        chord = b->mu > 0 ? sqrt(a->mu * b->mu) : a->mu / 16;
    return chord < a->mu && chord > b->mu ? chord : 0;
}

static double certify(struct search *s, struct err *e)
{
    for (;;) {
        int32_t where;
        double bound = weakest(s, &where), best = product(s, s->best);
        if (best - bound <= TARGET_GAP * best)
            return bound;
        double mu = next_mu(s, where);
        if (!(mu > 0) || add_line(s, mu, e) < 0)
            return bound;
        if (product(s, s->best) < best)
            descend(s, e);
    }
}

/* Bandwidth without end leaves compute: T >= v for every X. Stands right of all points. */
static int add_floor(struct search *s, struct err *e)
{
    struct line *line = &s->lines[0];
    *line = (struct line){ .x = INFINITY, .t = INFINITY };
    int rc = alloc_bound_build(&line->proof, s->problem, e);
    if (rc)
        return rc;
    line->proof.time_weight = 1;
    alloc_bound_balance(&line->proof, s->problem);
    line->part = alloc_bound_split(&line->proof, s->problem);
    line->proof.value = alloc_bound_value(&line->proof, s->problem);
    s->n = 1;
    return 0;
}

/* Seconds per dollar at which both weigh the same when every dimension has 1 GB/s. */
static double first_mu(const struct alloc_problem *p)
{
    double bw_Bps[D], compute_s, usd;
    for (int32_t d = 0; d < D; d++)
        bw_Bps[d] = INFINITY;
    compute_s = step_time(p->step, bw_Bps);
    for (int32_t d = 0; d < D; d++)
        bw_Bps[d] = 1e9;
    usd = vector_dot(p->usd_per_Bps, bw_Bps, p->step->n_dims);
    return (step_time(p->step, bw_Bps) - compute_s) / usd;
}

static int search(struct search *s, bool bounded, struct err *e)
{
    s->lines = calloc(MAX_LINES + 1, sizeof *s->lines);
    if (!s->lines)
        return err_nomem(e, "the split");
    if (bounded) {
        add_line(s, 0, e);
    } else {
        if (add_floor(s, e))
            return e->code;
        add_line(s, first_mu(s->problem), e);
    }
    if (e->code == ERR_OK && s->n && isfinite(s->lines[s->best].x))
        descend(s, e);
    return e->code;
}

/* The line whose mu is the rate at which the best point trades time for money: its multipliers are the
 * slopes of the product. Where several lines touch that point the others' are not. */
static int32_t find_prices(const struct search *s)
{
    const struct line *best = &s->lines[s->best];
    double rate = best->t / (best->x + s->fixed);
    int32_t found = s->best;
    for (int32_t i = 0; i < s->n; i++)
        if (fabs(s->lines[i].mu - rate) < fabs(s->lines[found].mu - rate))
            found = i;
    return found;
}

static int hand_over(struct alloc_answer *out, struct search *s, struct alloc_bound *least, struct err *e)
{
    out->lower_bound = certify(s, e);
    if (e->code)
        return e->code;
    const struct line *best = &s->lines[s->best];
    memcpy(out->bw_Bps, best->bw_Bps, sizeof best->bw_Bps);
    out->value = product(s, s->best);
    out->best_bound = find_prices(s);
    out->bounds = calloc((size_t)s->n + 1, sizeof *out->bounds);
    if (!out->bounds)
        return err_nomem(e, "lower bounds");
    for (int32_t i = 0; i < s->n; i++) {
        out->bounds[i] = s->lines[i].proof;
        s->lines[i].proof = (struct alloc_bound){ 0 };
    }
    out->bounds[s->n] = *least;
    *least = (struct alloc_bound){ 0 };
    out->n_bounds = s->n + 1;
    return 0;
}

static bool is_ill_posed(struct alloc_answer *out, const struct search *s, int32_t unbounded)
{
    const struct alloc_problem *p = s->problem;
    double bw_Bps[D];
    for (int32_t d = 0; d < D; d++)
        bw_Bps[d] = INFINITY;
    double compute_s = step_time(p->step, bw_Bps);
    if (s->least + s->fixed <= 0)
        alloc_conclude(
            out, ALLOC_ILL_POSED,
            "%s, so there is no best split; need a floor: a total, a minimum bandwidth or a fixed cost",
            compute_s > 0 ? "the objective keeps falling as all bandwidths go to zero together"
                          : "the objective is the same at every scale of the bandwidths");
    else if (unbounded >= 0 && !(compute_s > 0))
        alloc_conclude(out, ALLOC_ILL_POSED,
                       "the objective keeps falling as %s grows, so there is no best split; need a limit",
                       p->dim_names[unbounded]);
    return out->status == ALLOC_ILL_POSED;
}

int alloc_solve_product(struct alloc_answer *out, const struct alloc_problem *p, struct interior *w,
                        struct err *e)
{
    struct search s = { .problem = p, .w = w, .fixed = p->usd_fixed };
    struct alloc_bound least = { 0 };
    int32_t unbounded = -1;
    int rc = alloc_bound_build(&least, p, e);
    if (!rc)
        rc = alloc_least_price(&s.least, &least, p, e);
    if (!rc)
        rc = alloc_find_unbounded(&unbounded, p, false, e);
    if (rc)
        goto out;
    if (isfinite(s.least) && is_ill_posed(out, &s, unbounded))
        goto out;
    rc = isfinite(s.least) ? search(&s, unbounded < 0, e) : 0;
    if (!rc && s.n && isfinite(s.lines[s.best].x))
        rc = hand_over(out, &s, &least, e);
    out->iterations = s.iterations;
out:
    for (int32_t i = 0; i < s.n; i++)
        alloc_bound_free(&s.lines[i].proof);
    free(s.lines);
    alloc_bound_free(&least);
    return rc;
}
