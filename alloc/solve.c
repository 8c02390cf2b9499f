/*
 * alloc_solve(): the split that is best for an objective, with its proof.
 * Time and cost are one convex solve (interior.c). Time times cost, or times any other affine function of the
 * bandwidths (their sum, power, what owning the machine costs), is not convex: its optimum lies on the curve
 * of T against that factor, which is searched by tangents, each with a proof of its own. Then the optimal
 * face is explored: ranges of bandwidths, the cheapest split of it, and of those the most even. Where there
 * is no split, linear programmes say why: rows that clash, a dimension left without bandwidth, or nothing
 * that limits growth.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/bound.h"
#include "alloc/face.h"
#include "alloc/interior.h"
#include "alloc/lp.h"
#include "alloc/problem.h"
#include "base/num.h"
#include "base/work.h"

enum { D = TOPO_MAX_DIMS };

/* Say how a solve ended; the reason reads on from "infeasible: ". */
static void alloc_conclude(struct alloc_answer *out, enum alloc_status status, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(out->reason, sizeof out->reason, fmt, ap);
    va_end(ap);
    out->status = status;
}

/* Least usd_per_Bps.B over the rows, INFINITY when they clash; its proof goes into b. */
static int alloc_least_price(double *least, struct alloc_bound *b, const struct alloc_problem *p,
                             struct err *e)
{
    struct lp lp;
    struct lp_result r;
    lp_init(&lp, p->step->n_dims, p->rows, p->n_rows);
    memcpy(lp.cost, p->usd_per_Bps, sizeof lp.cost);
    int rc = lp_solve(&r, b ? b->row_dual : NULL, &lp, e);
    if (rc)
        return rc;
    *least = r.status == LP_OPTIMAL ? r.value : INFINITY;
    if (b && r.status == LP_OPTIMAL) {
        b->time_weight = 0;
        b->cost_weight = 1;
        alloc_bound_balance(b, p);
        b->value = fmax(alloc_bound_value(b, p), 0);
        *least = b->value;
    }
    return 0;
}

/* Largest B_d over the rows; INFINITY when nothing limits it. */
static int most_bandwidth(double *most, const struct alloc_problem *p, int32_t d, struct err *e)
{
    struct lp lp;
    struct lp_result r;
    lp_init(&lp, p->step->n_dims, p->rows, p->n_rows);
    lp.cost[d] = -1;
    int rc = lp_solve(&r, NULL, &lp, e);
    *most = rc == 0 && r.status == LP_OPTIMAL ? -r.value : INFINITY;
    return rc;
}

/* The smallest set of rows that clash is more use than "infeasible". */
static int diagnose_rows(struct alloc_answer *out, const struct alloc_problem *p, struct err *e)
{
    struct lp lp;
    struct lp_result r;
    lp_init(&lp, p->step->n_dims, p->rows, p->n_rows);
    int rc = lp_solve(&r, NULL, &lp, e);
    if (rc || r.status == LP_OPTIMAL)
        return rc;
    char names[sizeof out->reason - 64];
    rc = lp_name_clash(names, sizeof names, &lp, e);
    if (!rc)
        alloc_conclude(out, ALLOC_INFEASIBLE, "these constraints contradict each other: %s", names);
    return rc;
}

/* A dimension that carries traffic and can get no bandwidth makes every split take forever. */
static int diagnose_starved(struct alloc_answer *out, const struct alloc_problem *p, struct err *e)
{
    for (int32_t d = 0; d < p->step->n_dims; d++) {
        double most;
        if (!alloc_carries_traffic(p->step, d))
            continue;
        int rc = most_bandwidth(&most, p, d, e);
        if (rc)
            return rc;
        if (most < 1e-3) { /* B/s: nothing but rounding */
            alloc_conclude(out, ALLOC_INFEASIBLE,
                           "%s carries traffic, but the constraints leave it no bandwidth", p->dim_names[d]);
            return 0;
        }
    }
    return 0;
}

/*
 * Why interior_solve() found nothing: rows that clash, or leave a dimension with traffic
 * no bandwidth. out->status stays as it is when neither holds.
 */
static int alloc_diagnose(struct alloc_answer *out, const struct alloc_problem *p, struct err *e)
{
    int rc = diagnose_rows(out, p, e);
    if (rc == 0 && out->status == ALLOC_STALLED)
        rc = diagnose_starved(out, p, e);
    return rc;
}

/* Is there an end to B_d: by a row, or (unless only rows count) by its price? */
static int find_limited(bool *limited, const struct alloc_problem *p, bool free_only, struct err *e)
{
    double cap_Bps[D];
    alloc_find_caps(cap_Bps, p); /* decides nearly always, and needs no linear programme */
    for (int32_t d = 0; d < p->step->n_dims; d++) {
        double most = cap_Bps[d];
        limited[d] = isfinite(most) || (free_only && p->usd_per_Bps[d] > 0);
        if (limited[d] || !alloc_carries_traffic(p->step, d))
            continue;
        int rc = most_bandwidth(&most, p, d, e);
        if (rc)
            return rc;
        limited[d] = isfinite(most);
    }
    return 0;
}

/* * A dimension whose growth makes T fall without end: it is the first of a leaf none of whose dimensions a
 * row (or, if free_only, a price) limits; -1 if there is no such leaf. A leaf is as slow as its slowest
 * dimension: one that is limited is enough for it to have a least time. */
static int alloc_find_unbounded(int32_t *dim, const struct alloc_problem *p, bool free_only, struct err *e)
{
    bool limited[D];
    *dim = -1;
    int rc = find_limited(limited, p, free_only, e);
    for (int32_t l = 0; l < p->step->n_leaves && *dim < 0 && !rc; l++) {
        const double *traffic_B = &p->step->traffic_B[(ptrdiff_t)l * D];
        bool has_end = false;
        int32_t first = -1;
        for (int32_t d = p->step->n_dims; d-- > 0;)
            if (traffic_B[d] > 0) {
                has_end = has_end || limited[d];
                first = d;
            }
        *dim = has_end ? -1 : first;
    }
    return rc;
}

enum { MAX_LINES = 400, MAX_DESCENT = 40 };

/* What the search stops at: half of ALLOC_GAP. */
#define TARGET_GAP 5e-10

/*
 * T*(X + fixed), X = price.B, is not convex. But minimising T + mu*X is, and each such solve yields a
 * point (X, T) and multipliers that prove T >= constant + root - rent - mu*X for every feasible
 * B. With prices and row multipliers times any factor they prove as well, and the best factor for X gives the
 * curve T >= constant + root^2 / (4 (mu*X + rent)). Curves for more and more mu close the gap around the best
 * point.
 */
struct solve_line {
    double mu, rel; /* rel: alloc_row_rel() */
    struct alloc_bound_parts part;
    double x, t; /* the point that touches it */
    double bw_Bps[D];
    struct alloc_bound proof;
};

struct split_search {
    const struct alloc_problem *problem;
    struct interior *w;
    struct solve_line *lines; /* by x ascending, mu descending; shape [n] */
    int32_t n, best;
    double least, fixed;
    int32_t iterations;
};

static double product_of(const struct split_search *s, int32_t i)
{
    return s->lines[i].t * (s->lines[i].x + s->fixed);
}

/* Solve for one mu and put the line in its place; returns where, or -1 when it brings nothing new. */
static int32_t add_line(struct split_search *s, double mu, struct err *e)
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
    struct solve_line line = { .mu = mu, .rel = alloc_row_rel(s->problem), .x = r.cost_usd, .t = r.time_s };
    memcpy(line.bw_Bps, r.bw_Bps, sizeof line.bw_Bps);
    if (interior_bound(s->w, &line.proof, e))
        return -1;
    line.part = alloc_bound_split(&line.proof, s->problem);
    memmove(&s->lines[at + 1], &s->lines[at], (size_t)(s->n - at) * sizeof *s->lines);
    s->lines[at] = line;
    s->n++;
    s->best += s->best >= at && s->n > 1;
    if (product_of(s, at) < product_of(s, s->best))
        s->best = at;
    return at;
}

/* Where steps of log mu shrink by a nearly constant factor, the last of them is this far away (Aitken); where
 * they do not shrink, no more than a factor of FARTHEST. */
#define FARTHEST 1e3
static double leap_factor(const double *log_mu)
{
    double last = log_mu[2] - log_mu[1], ratio = last / (log_mu[1] - log_mu[0]), far = log(FARTHEST);
    double leap = ratio > 0 && ratio < 1 ? last * ratio / (1 - ratio) : last > 0 ? far : -far;
    return exp(fmin(fmax(leap, -far), far));
}

/* The product is flat where it is least: a rate off by so much moves it by less than 1e-15. */
#define SAME_RATE 1e-8

/* What a step of descent began with and led to, as log mu. */
struct descent_step {
    double from, to;
};

/* The rate that a line's point trades at rises with its mu, so steps go one way and shrink by a nearly
 * constant factor: where they end, by a secant. No finite number where they do not shrink. */
static double secant_end(const struct descent_step *last, const struct descent_step *now)
{
    double ratio = (now->to - last->to) / (now->from - last->from);
    return ratio > 0 && ratio < 1 ? now->from + (now->to - now->from) / (1 - ratio) : (double)NAN;
}

/*
 * log T + log X lies below its tangent: minimising the tangent never makes the product larger, step by step.
 * From two steps a secant says where they end; one that makes the product no smaller is followed by a plain
 * step from the best point, which ends the descent where that is no smaller either. A product that falls
 * nearly as slowly as its scale grows gets there by small steps: if it @p may, every fourth is a leap.
 */
static void product_descend(struct split_search *s, bool may_leap, struct err *e)
{
    double log_mu[3] = { 0 };
    struct descent_step step[2] = { { NAN, NAN }, { NAN, NAN } };
    int32_t n_plain = 0;
    bool may_jump = true;
    for (int32_t i = 0; i < MAX_DESCENT && e->code == ERR_OK; i++) {
        const struct solve_line *best = &s->lines[s->best];
        double mu = best->t / (best->x + s->fixed), before = product_of(s, s->best);
        bool leaps = may_leap && n_plain >= 3;
        log_mu[0] = log_mu[1];
        log_mu[1] = log_mu[2];
        log_mu[2] = log(mu);
        if (best->mu > 0 && log(best->mu) != step[1].from) {
            step[0] = step[1];
            step[1] = (struct descent_step){ log(best->mu), log(mu) };
        }
        double end = secant_end(&step[0], &step[1]);
        if (fabs(end - step[1].from) < SAME_RATE)
            return;
        bool jumps = !leaps && isfinite(end) && fabs(end - log(mu)) < log(FARTHEST) && may_jump;
        n_plain = leaps ? 0 : n_plain + !jumps;
        int32_t at = add_line(s, jumps ? exp(end) : leaps ? mu * leap_factor(log_mu) : mu, e);
        may_jump = at >= 0 && product_of(s, at) < before * (1 - 1e-13);
        if (!leaps && !jumps && !may_jump)
            return;
    }
}

/* T at X is at least this, rounded or not. Where prices and rents sum to less than nothing no feasible B
 * costs X; nor where they sum to nothing, if any traffic is charged. Otherwise compute alone is left (the
 * floor). */
static double curve(const struct solve_line *l, double x)
{
    double price = l->mu * x + l->part.rent + l->rel * (l->mu * x + fabs(l->part.rent));
    if (price > 0)
        return l->part.constant + l->part.root * l->part.root / (4 * price);
    return price < 0 || l->part.root > 0 ? (double)INFINITY : l->part.constant;
}

/*
 * Least of curve * (X + fixed) over from..to. As a function of X that is a straight line plus a hyperbola
 * that rises when rent >= mu*fixed, and else falls and is convex.
 */
static double least_on_curve(const struct solve_line *l, double fixed, double from, double to)
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
static double between(const struct split_search *s, int32_t i)
{
    const struct solve_line *a = &s->lines[i], *b = &s->lines[i + 1];
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

/* What is proved over from..to, where the curves at home there prove @p near. Every curve holds everywhere:
 * at a kink several have one home, where the steep ones know little of X beside a price that rows fix, and a
 * flat one proves more. */
static double over_stretch(const struct split_search *s, double near, double from, double to)
{
    double enough = product_of(s, s->best) * (1 - TARGET_GAP);
    for (int32_t i = 0; i < s->n && near < enough; i++)
        near = fmax(near, least_on_curve(&s->lines[i], s->fixed, from, to));
    return near;
}

/* The weakest spot: -1 left of all points, n-1 right of them, i between i and i+1. */
static double weakest(const struct split_search *s, int32_t *where)
{
    const struct solve_line *first = &s->lines[0], *last = &s->lines[s->n - 1];
    double bound = INFINITY;
    *where = s->best;
    if (first->x > s->least) {
        bound = over_stretch(s, least_on_curve(first, s->fixed, s->least, first->x), s->least, first->x);
        *where = -1;
    }
    for (int32_t i = 0; i + 1 < s->n; i++) {
        double here = over_stretch(s, between(s, i), s->lines[i].x, s->lines[i + 1].x);
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
static double next_mu(const struct split_search *s, int32_t where)
{
    if (where < 0)
        return 8 * s->lines[0].mu;
    if (where == s->n - 1)
        return 0;
    const struct solve_line *a = &s->lines[where], *b = &s->lines[where + 1];
    double chord = (a->t - b->t) / (b->x - a->x);
    if (!(chord < a->mu * (1 - 1e-14) && chord > b->mu * (1 + 1e-14)))
        chord = b->mu > 0 ? sqrt(a->mu * b->mu) : a->mu / 16;
    return chord < a->mu && chord > b->mu ? chord : 0;
}

/* Adds tangents where the lower envelope of proved lines is weakest, until the product of time and cost is
 * proved to TARGET_GAP. */
static double certify(struct split_search *s, struct err *e)
{
    for (;;) {
        int32_t where;
        double bound = weakest(s, &where), best = product_of(s, s->best);
        if (best - bound <= TARGET_GAP * best)
            return bound;
        double mu = next_mu(s, where);
        if (!(mu > 0) || add_line(s, mu, e) < 0)
            return bound;
        if (product_of(s, s->best) < best)
            product_descend(s, true, e);
    }
}

/* Bandwidth without end leaves compute: T >= v for every X. Stands right of all points. */
static int add_floor(struct split_search *s, struct err *e)
{
    struct solve_line *line = &s->lines[0];
    *line = (struct solve_line){ .rel = alloc_row_rel(s->problem), .x = INFINITY, .t = INFINITY };
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

/* Seconds per dollar at which both weigh the same when every dimension has 1 GB/s, or so much less that
 * traffic shows beside what it is hidden behind. */
static double first_mu(const struct alloc_problem *p)
{
    static const double least_Bps = 1e-3;
    double bw_Bps[D], compute_s, saved_s, each_Bps = 1e9;
    for (int32_t d = 0; d < D; d++)
        bw_Bps[d] = INFINITY;
    compute_s = step_time(p->step, bw_Bps);
    do {
        for (int32_t d = 0; d < D; d++)
            bw_Bps[d] = each_Bps;
        saved_s = step_time(p->step, bw_Bps) - compute_s;
        each_Bps /= 8;
    } while (!(saved_s > 0) && each_Bps > least_Bps);
    return saved_s / vector_dot(p->usd_per_Bps, bw_Bps, p->step->n_dims);
}

/* Time times cost along the curve of T against cost: first a line with no weight on cost (or a floor), then
 * descent. */
static int product_search(struct split_search *s, bool bounded, struct err *e)
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
        product_descend(s, false, e);
    return e->code;
}

/* The line whose mu is the rate at which the best point trades time for money: its multipliers are the
 * slopes of the product. Where several lines touch that point the others' are not. */
static int32_t find_prices(const struct split_search *s)
{
    const struct solve_line *best = &s->lines[s->best];
    double rate = best->t / (best->x + s->fixed);
    int32_t found = s->best;
    for (int32_t i = 0; i < s->n; i++)
        if (fabs(s->lines[i].mu - rate) < fabs(s->lines[found].mu - rate))
            found = i;
    return found;
}

/* Every line's proof goes along: the verifier checks their envelope by itself. */
static int hand_over(struct alloc_answer *out, struct split_search *s, struct alloc_bound *least,
                     struct err *e)
{
    out->lower_bound = certify(s, e);
    if (e->code)
        return e->code;
    const struct solve_line *best = &s->lines[s->best];
    memcpy(out->bw_Bps, best->bw_Bps, sizeof best->bw_Bps);
    out->value = product_of(s, s->best);
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

/* Objectives without a best split: everything to zero, or one bandwidth without end. */
static bool is_ill_posed(struct alloc_answer *out, const struct split_search *s, int32_t unbounded)
{
    const struct alloc_problem *p = s->problem;
    double bw_Bps[D];
    for (int32_t d = 0; d < D; d++)
        bw_Bps[d] = INFINITY;
    double compute_s = step_time(p->step, bw_Bps);
    if (s->least + s->fixed <= 0)
        alloc_conclude(
            out, ALLOC_ILL_POSED,
            "%s, so there is no best split; give a floor: a total, a minimum bandwidth or a fixed cost",
            compute_s > 0 ? "the objective keeps falling as all bandwidths go to zero together"
                          : "the objective is the same at every scale of the bandwidths");
    else if (unbounded >= 0 && !(compute_s > 0))
        alloc_conclude(out, ALLOC_ILL_POSED,
                       "the objective keeps falling as %s grows, so there is no best split; give a limit",
                       p->dim_names[unbounded]);
    return out->status == ALLOC_ILL_POSED;
}

/* A dimension whose growth makes T fall without end, however little may be spent; -1: there is none. Prices
 * count with rows, which may tie what costs nothing to what does. */
static int find_unpaid(int32_t *dim, const struct split_search *s, struct err *e)
{
    struct alloc_problem paid = *s->problem;
    struct alloc_row *rows = calloc((size_t)paid.n_rows + 1, sizeof *rows);
    if (!rows)
        return err_nomem(e, "constraints");
    if (paid.n_rows)
        memcpy(rows, paid.rows, (size_t)paid.n_rows * sizeof *rows);
    struct alloc_row *spend = &rows[paid.n_rows++];
    *spend = (struct alloc_row){ .sense = LINEXPR_LE, .rhs = 2 * (s->least + s->fixed), .unit = 1 };
    memcpy(spend->coef, paid.usd_per_Bps, sizeof spend->coef);
    paid.rows = rows;
    int rc = alloc_find_unbounded(dim, &paid, false, e);
    free(rows);
    return rc;
}

/* Least T(B) * (usd_per_Bps.B + usd_fixed), proved over the whole range of prices. */
static int alloc_solve_product(struct alloc_answer *out, const struct alloc_problem *p, struct interior *w,
                               struct err *e)
{
    struct split_search s = { .problem = p, .w = w, .fixed = p->usd_fixed };
    struct alloc_bound least = { 0 };
    int32_t unbounded = -1, unpaid = -1;
    int rc = alloc_bound_build(&least, p, e);
    if (!rc)
        rc = alloc_least_price(&s.least, &least, p, e);
    if (!rc)
        rc = alloc_find_unbounded(&unbounded, p, false, e);
    if (!rc && unbounded >= 0 && isfinite(s.least))
        rc = find_unpaid(&unpaid, &s, e);
    if (rc)
        goto out;
    if (isfinite(s.least) && is_ill_posed(out, &s, unbounded))
        goto out;
    if (isfinite(s.least) && unpaid >= 0) {
        alloc_conclude(out, ALLOC_UNBOUNDED,
                       "more bandwidth on %s always helps, adds nothing to what time is multiplied with, and "
                       "nothing limits it; give a total, a maximum or a budget",
                       p->dim_names[unpaid]);
        goto out;
    }
    rc = isfinite(s.least) ? product_search(&s, unbounded < 0, e) : 0;
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

const char *const alloc_status_names[] = { "solved",  "infeasible", "unbounded", "ill-posed",
                                           "stalled", "unproved",   NULL };

double alloc_cost_usd(const struct alloc_problem *p, const double *bw_Bps)
{
    return p->usd_fixed + vector_dot(p->usd_per_Bps, bw_Bps, p->step->n_dims);
}

bool alloc_has_split(const struct alloc_answer *a)
{
    return a->status == ALLOC_SOLVED || a->status == ALLOC_UNPROVED ||
           (a->status == ALLOC_STALLED && isfinite(a->value));
}

void alloc_answer_free(struct alloc_answer *a)
{
    for (int32_t i = 0; i < a->n_bounds; i++)
        alloc_bound_free(&a->bounds[i]);
    free(a->bounds);
    free(a->shadow);
    *a = (struct alloc_answer){ 0 };
}

/*
 * Cost under a limit on time where the interior method does not get to a proof: the same by trading time for
 * money. Minimising T + mu X has no limit to cling to; its T rises with mu, and every solve proves
 * X >= (value - limit) / mu. Between a split that is fast enough and one that is not lies one that takes the
 * limit exactly, and at a kink of the least time, where one mu has both, it is the answer.
 */
struct trade {
    const struct alloc_problem *problem;
    struct interior *w;
    double fast_Bps[D], slow_Bps[D];       /* T <= limit; above it */
    double fast_mu, slow_mu;               /* 0 and INFINITY: not found so far */
    double fast_s, slow_s;                 /* their T */
    double cost_usd, bound_usd, bw_Bps[D]; /* the best so far */
    struct alloc_bound proof;
};

/* Time on the way from the fast split to the slow one, which is at @p bw_Bps. */
static double trade_mix(const struct trade *t, double share, double *bw_Bps)
{
    for (int32_t d = 0; d < D; d++)
        bw_Bps[d] = t->fast_Bps[d] + share * (t->slow_Bps[d] - t->fast_Bps[d]);
    return step_time(t->problem->step, bw_Bps);
}

/* As far from the fast split towards the slow one as the limit allows: T is convex, and X falls all the way.
 */
static void trade_take(struct trade *t)
{
    const struct alloc_problem *p = t->problem;
    double bw_Bps[D] = { 0 }, from = 0, to = isfinite(t->slow_mu) ? 1 : 0;
    for (int i = 0; i < 60 && to > 0; i++) {
        double middle = 0.5 * (from + to);
        *(trade_mix(t, middle, bw_Bps) <= p->time_limit_s ? &from : &to) = middle;
    }
    if (to > 0)
        trade_mix(t, from, bw_Bps);
    else
        memcpy(bw_Bps, t->fast_Bps, sizeof bw_Bps);
    double usd = vector_dot(p->usd_per_Bps, bw_Bps, p->step->n_dims);
    if (usd < t->cost_usd && alloc_repair(p, bw_Bps) && step_time(p->step, bw_Bps) <= p->time_limit_s) {
        t->cost_usd = vector_dot(p->usd_per_Bps, bw_Bps, p->step->n_dims);
        memcpy(t->bw_Bps, bw_Bps, sizeof bw_Bps);
    }
}

/* One solve; false when it finds nothing. */
static bool trade_at(struct trade *t, double mu, int32_t *iterations, struct err *e)
{
    struct interior_result r;
    double limit_s = t->problem->time_limit_s;
    interior_solve(t->w, (struct interior_ask){ .time_weight = 1, .cost_weight = mu, .limit_s = INFINITY },
                   &r);
    *iterations += r.iterations;
    if (!isfinite(r.value) || !isfinite(r.bound))
        return false;
    bool fast = r.time_s <= limit_s;
    memcpy(fast ? t->fast_Bps : t->slow_Bps, r.bw_Bps, sizeof r.bw_Bps);
    *(fast ? &t->fast_mu : &t->slow_mu) = mu;
    *(fast ? &t->fast_s : &t->slow_s) = r.time_s;
    if ((r.bound - limit_s) / mu > t->bound_usd) {
        alloc_bound_free(&t->proof);
        if (interior_bound(t->w, &t->proof, e))
            return false;
        t->bound_usd = (r.bound - limit_s) / mu;
    }
    if (t->fast_mu > 0)
        trade_take(t);
    return true;
}

/* The next mu: a factor further while one side is unknown, then where the line through both crosses the
 * limit, and every other time half way, in logarithms. */
static double trade_next(const struct trade *t, int32_t i, double known_mu)
{
    static const double factor = 64;
    if (!(t->fast_mu > 0))
        return known_mu / factor;
    if (isinf(t->slow_mu))
        return known_mu * factor;
    double part = 0.5, limit_s = t->problem->time_limit_s;
    if (i % 2)
        part = fmin(fmax(log(limit_s / t->fast_s) / log(t->slow_s / t->fast_s), 0.01), 0.99);
    return t->fast_mu * pow(t->slow_mu / t->fast_mu, part);
}

enum { MAX_TRADES = 120 };

/* out->value stays NaN where there is nothing to find. */
static int cost_by_trade(struct alloc_answer *out, const struct alloc_problem *p, struct interior *w,
                         struct err *e)
{
    struct trade t = { .problem = p, .w = w, .slow_mu = INFINITY, .cost_usd = INFINITY };
    double mu = first_mu(p);
    int rc = alloc_bound_build(&t.proof, p, e);
    if (!rc)
        rc = alloc_least_price(&t.bound_usd, &t.proof, p, e);
    if (!(mu > 0 && isfinite(mu))) /* no prices, or no traffic where 1 GB/s would tell */
        mu = 1;
    for (int32_t i = 0; i < MAX_TRADES && !rc && trade_at(&t, mu, &out->iterations, e); i++) {
        if (isfinite(t.cost_usd) && t.cost_usd - t.bound_usd <= TARGET_GAP * (t.cost_usd + p->usd_fixed))
            break;
        mu = trade_next(&t, i, mu);
        if (t.fast_mu > 0 && !(mu > t.fast_mu * (1 + 1e-15) && mu < t.slow_mu * (1 - 1e-15)))
            break;
    }
    double gap = t.cost_usd - t.bound_usd;
    if (!rc && e->code == ERR_OK && isfinite(gap) && !(gap > out->value - out->lower_bound)) {
        alloc_bound_free(&out->bounds[0]);
        alloc_bound_scale(&t.proof, p, 1 / t.proof.cost_weight);
        out->bounds[0] = t.proof;
        out->n_bounds = 1;
        memcpy(out->bw_Bps, t.bw_Bps, sizeof t.bw_Bps);
        out->value = t.cost_usd + p->usd_fixed;
        out->lower_bound = t.bound_usd + p->usd_fixed;
        return 0;
    }
    alloc_bound_free(&t.proof);
    return rc ? rc : (int)e->code;
}

/* Time alone, or cost alone under a limit on time: one convex problem. */
static int solve_convex(struct alloc_answer *out, const struct alloc_problem *p, struct interior *w,
                        struct err *e)
{
    bool cost = alloc_is_limited(p->objective);
    int32_t unbounded;
    int rc = alloc_find_unbounded(&unbounded, p, cost, e);
    if (rc)
        return rc;
    if (unbounded >= 0) {
        alloc_conclude(out, ALLOC_UNBOUNDED,
                       cost ? "%s has no price and nothing limits its bandwidth"
                            : "more bandwidth on %s always helps and nothing limits it; give a total, a "
                              "maximum or a budget",
                       p->dim_names[unbounded]);
        return 0;
    }
    struct interior_result r;
    struct interior_ask ask = { .time_weight = !cost,
                                .cost_weight = cost,
                                .limit_s = cost ? p->time_limit_s : (double)INFINITY };
    interior_solve(w, ask, &r);
    out->iterations = r.iterations;
    out->bounds = calloc(1, sizeof *out->bounds);
    if (!out->bounds)
        return err_nomem(e, "a lower bound");
    if (isfinite(r.value) && isfinite(r.bound)) {
        memcpy(out->bw_Bps, r.bw_Bps, sizeof out->bw_Bps);
        out->value = r.value + (cost ? p->usd_fixed : 0);
        out->lower_bound = r.bound + (cost ? p->usd_fixed : 0);
        rc = interior_bound(w, &out->bounds[0], e);
        out->n_bounds = rc == 0;
    }
    if (cost && !rc && !(out->value - out->lower_bound <= ALLOC_GAP * out->value))
        rc = cost_by_trade(out, p, w, e);
    if (out->n_bounds == 0) { /* solve_capped() may come after */
        free(out->bounds);
        out->bounds = NULL;
    }
    return rc;
}

/* To nine digits, upwards: advice that can be followed, where rounding is let pass as in a limit that is
 * kept. */
static const char *show_at_least(char buf[NUM_TEXT], double x)
{
    snprintf(buf, NUM_TEXT, "%.9g", x);
    if (strtod(buf, NULL) < x * (1 - 0.1 * FACE_REL))
        snprintf(buf, NUM_TEXT, "%.9g", x * (1 + 1e-8));
    return buf;
}

/* A limit on time below what the rows allow is the one clash linear programmes do not see. */
static int diagnose_limit(struct alloc_answer *out, const struct alloc_problem *p, struct err *e)
{
    struct alloc_problem fastest = *p;
    struct alloc_answer a;
    fastest.objective = ALLOC_TIME;
    int rc = alloc_solve(&a, &fastest, e);
    if (rc)
        return rc;
    char limit[NUM_TEXT], least[NUM_TEXT];
    double bw_Bps[D], least_s = a.time_s;
    bool limited = a.status == ALLOC_SOLVED;
    alloc_find_caps(bw_Bps, p); /* at most what these allow; without end where they say nothing */
    for (int32_t d = 0; d < p->step->n_dims; d++)
        limited = limited || isfinite(bw_Bps[d]);
    if (a.status == ALLOC_UNBOUNDED)
        least_s = step_time(p->step, bw_Bps);
    if ((a.status == ALLOC_SOLVED && least_s > p->time_limit_s) ||
        (a.status == ALLOC_UNBOUNDED && least_s >= p->time_limit_s))
        alloc_conclude(out, ALLOC_INFEASIBLE, "time_limit_s is %s, expected %s %s, the least time %s",
                       num_format(limit, p->time_limit_s),
                       a.status == ALLOC_SOLVED ? "at least" : "more than", show_at_least(least, least_s),
                       limited ? "under the constraints" : "at any bandwidth");
    alloc_answer_free(&a);
    return 0;
}

/* No collective sends anything: the cheapest split the rows allow, by linear programme. */
static int solve_idle(struct alloc_answer *out, const struct alloc_problem *p, struct err *e)
{
    struct lp lp;
    struct lp_result r;
    char limit[NUM_TEXT], least[NUM_TEXT];
    const double none[D] = { 0 };
    double time_s = step_time(p->step, none);
    lp_init(&lp, p->step->n_dims, p->rows, p->n_rows);
    memcpy(lp.cost, p->usd_per_Bps, sizeof lp.cost);
    /* Two proofs: T >= its constant, and the least price; the objective says which counts first. */
    out->bounds = calloc(2, sizeof *out->bounds);
    if (!out->bounds)
        return err_nomem(e, "a lower bound");
    for (; out->n_bounds < 2; out->n_bounds++) {
        int rc = alloc_bound_build(&out->bounds[out->n_bounds], p, e);
        if (rc)
            return rc;
    }
    int32_t money = alloc_is_time(p->objective);
    int rc = lp_solve(&r, out->bounds[money].row_dual, &lp, e);
    if (rc || r.status != LP_OPTIMAL)
        return rc;
    alloc_repair(p, r.bw_Bps); /* the simplex keeps rows to its own tolerance */
    memcpy(out->bw_Bps, r.bw_Bps, sizeof out->bw_Bps);
    out->bounds[money].cost_weight = 1;
    out->bounds[money].value = r.value;
    out->bounds[!money].time_weight = 1;
    alloc_bound_balance(&out->bounds[!money], p);
    out->bounds[!money].value = time_s;
    out->value = alloc_value_of(p->objective, time_s, p->usd_fixed + r.value);
    out->lower_bound = out->value;
    if (alloc_is_limited(p->objective) && time_s > p->time_limit_s)
        alloc_conclude(out, ALLOC_INFEASIBLE,
                       "time_limit_s is %s, expected at least %s, which is compute alone",
                       num_format(limit, p->time_limit_s), show_at_least(least, time_s));
    return 0;
}

/* How far a value is above its bound, relative; 0 is as low as any value goes. */
static double relative_gap(double value, double bound)
{
    return value != 0 ? (value - bound) / value : bound == 0 ? 0 : (double)INFINITY;
}

/* What the objective gains per unit of the bound's rows: for a product, times the factor the row leaves
 * alone. */
static double shadow_scale(const struct alloc_answer *a, const struct alloc_problem *p)
{
    if (!alloc_is_product(p->objective))
        return 1;
    return p->step->n_leaves == 0 ? a->time_s : a->cost_usd;
}

/* What a convex problem is solved to, as a share of its value. */
#define CONVERGED_SHARE 1e-12

/*
 * A value V known to a share g of itself says of its slope in b what V'' leaves open: with V'' of the order
 * of V/b^2 that is sqrt(g) V/b. A product is searched to TARGET_GAP, and what a row gains in time and loses
 * in money cancel near its best; times and costs are solved to rounding, with multipliers as sharp.
 */
static double price_play(const struct alloc_answer *out, const struct alloc_problem *p, int32_t row)
{
    const struct alloc_row *r = &p->rows[row];
    double size = fabs(r->rhs);
    for (int32_t d = 0; d < p->step->n_dims; d++)
        size = fmax(size, fabs(r->coef[d] * out->bw_Bps[d]));
    return size > 0 ? (alloc_is_product(p->objective) ? sqrt(TARGET_GAP) : CONVERGED_SHARE) *
                          fabs(out->value) / size
                    : 0;
}

/* Parts of a constraint that are this far apart lose digits that a proof needs. */
#define FAR_APART 1e4

/* What to change: digits are lost where a constraint leaves a small bandwidth as the difference of large
 * ones, else where traffic is many orders of magnitude apart. */
void alloc_say_stalled(struct alloc_answer *out, const struct alloc_problem *p)
{
    double widest = FAR_APART, least_B = INFINITY, most_B = 0;
    int32_t row = -1, dim = -1;
    out->status = ALLOC_STALLED;
    for (int32_t i = 0; i < p->n_rows; i++) {
        double size = fabs(p->rows[i].rhs);
        for (int32_t d = 0; d < p->step->n_dims; d++)
            size = fmax(size, fabs(p->rows[i].coef[d] * out->bw_Bps[d]));
        for (int32_t d = 0; d < p->step->n_dims; d++) {
            double part = fabs(p->rows[i].coef[d] * out->bw_Bps[d]);
            if (part > 0 && size / part > widest && alloc_carries_traffic(p->step, d)) {
                widest = size / part;
                row = i;
                dim = d;
            }
        }
    }
    for (int32_t i = 0; i < p->step->n_leaves * D; i++)
        if (p->step->traffic_B[i] > 0) {
            least_B = fmin(least_B, p->step->traffic_B[i]);
            most_B = fmax(most_B, p->step->traffic_B[i]);
        }
    if (row >= 0)
        alloc_conclude(
            out, ALLOC_STALLED,
            "the split is feasible, but proved only to within %.2g of the optimum: \"%s\" has parts %.1g "
            "times as large as that of %s; give %s a constraint of its own",
            out->gap, p->rows[row].name, widest, p->dim_names[dim], p->dim_names[dim]);
    else
        alloc_conclude(
            out, ALLOC_STALLED,
            "the split is feasible, but proved only to within %.2g of the optimum: traffic is from %.3g to "
            "%.3g B; leave out what is too small to matter",
            out->gap, least_B, most_B);
}

/* Time, cost, gap and shadow prices of exactly the split that @p out has, beside its bounds; @p before_usd is
 * what the split of the best bound costs. */
static void evaluate(struct alloc_answer *out, const struct alloc_problem *p, double before_usd)
{
    const struct alloc_bound *b = &out->bounds[out->best_bound];
    out->time_s = step_time(p->step, out->bw_Bps);
    out->cost_usd = alloc_cost_usd(p, out->bw_Bps);
    out->value = alloc_value_of(p->objective, out->time_s, out->cost_usd);
    double gap = relative_gap(out->value, out->lower_bound);
    /* Where small bandwidths hang on how well a row of large ones holds, a split may seem to beat its bound.
     */
    out->gap = gap < -ALLOC_GAP ? -gap : fmax(gap, 0);
    out->status = fabs(gap) <= ALLOC_GAP ? ALLOC_SOLVED : ALLOC_STALLED;
    if (out->status == ALLOC_STALLED)
        alloc_say_stalled(out, p);
    double scale = shadow_scale(out, p), along = before_usd / out->cost_usd;
    if (alloc_is_product(p->objective) && isfinite(along))
        scale *= along * along; /* moved along a ray, where time is traded for money at another rate */
    for (int32_t i = 0; i < p->n_rows; i++) {
        double price = scale * (p->rows[i].sense == LINEXPR_GE ? -b->row_dual[i] : b->row_dual[i]);
        out->shadow_play[i] = price_play(out, p, i);
        out->shadow[i] = fabs(price) > out->shadow_play[i] ? price : 0;
    }
}

/* Chooses the split within the optimal face. */
static int solve_finish(struct alloc_answer *out, const struct alloc_problem *p, struct err *e)
{
    const struct alloc_bound *b = &out->bounds[out->best_bound];
    double before_usd = alloc_cost_usd(p, out->bw_Bps);
    int rc = alloc_explore_face(out, p, b, fabs(relative_gap(out->value, out->lower_bound)), e);
    if (!rc)
        evaluate(out, p, before_usd);
    return rc;
}

/* One objective, one method; a step without traffic needs no solver. */
static int solve(struct alloc_answer *out, const struct alloc_problem *p, struct err *e)
{
    struct interior *w = NULL;
    int rc = interior_build(&w, p, e);
    if (rc)
        return rc;
    rc = p->step->n_leaves == 0           ? solve_idle(out, p, e)
         : alloc_is_product(p->objective) ? alloc_solve_product(out, p, w, e)
                                          : solve_convex(out, p, w, e);
    interior_free(w);
    return rc;
}

/* Utilization is T_comm * total: the same product with every price 1. */
struct alloc_problem alloc_with_factor(const struct alloc_problem *p)
{
    struct alloc_problem q = *p;
    bool total = alloc_objectives[p->objective].counted == ALLOC_COUNTED_BANDWIDTH;
    if (!total && !alloc_has_factor(p->objective))
        return q;
    q.usd_fixed = total ? 0 : p->factor_fixed;
    for (int32_t d = 0; d < D; d++)
        q.usd_per_Bps[d] = total ? 1 : p->factor_per_Bps[d];
    return q;
}

/* How much of a bandwidth without end can be of use: beside the slowest that a limited dimension of the same
 * leaf can be, far above. 0: there is no such leaf. */
static double useful_Bps(const struct alloc_problem *p, const double *cap_Bps)
{
    static const double far = 1e4;
    double most = 0;
    for (int32_t l = 0; l < p->step->n_leaves; l++) {
        const double *traffic_B = &p->step->traffic_B[(ptrdiff_t)l * D];
        double least_s = 0, largest_B = 0;
        for (int32_t d = 0; d < p->step->n_dims; d++) {
            least_s = fmax(least_s, isfinite(cap_Bps[d]) ? traffic_B[d] / cap_Bps[d] : 0);
            largest_B = fmax(largest_B, isinf(cap_Bps[d]) ? traffic_B[d] : 0);
        }
        most = fmax(most, least_s > 0 ? largest_B / least_s : 0);
    }
    return far * most;
}

/* How much rows may ask for, of whatever use. */
static double asked_Bps(const struct alloc_problem *p)
{
    double asked = 0;
    for (int32_t i = 0; i < p->n_rows; i++) {
        double least = INFINITY;
        for (int32_t d = 0; d < p->step->n_dims; d++)
            least = p->rows[i].coef[d] != 0 ? fmin(least, fabs(p->rows[i].coef[d])) : least;
        asked += fabs(p->rows[i].rhs) / least;
    }
    return 4 * asked;
}

static double signed_dual(const struct alloc_problem *p, const double *row_dual, int32_t i)
{
    return p->rows[i].sense == LINEXPR_GE ? -row_dual[i] : row_dual[i];
}

/* Where a bandwidth has no end and costs nothing, nothing is gained by it: multipliers of rows that it is in
 * are rounding, and prove nothing once the end is gone that it was given. In products of time and money they
 * may tell rows from each other, and stay where their sum, which must not be below 0, is not. */
static void drop_endless(struct alloc_answer *out, struct alloc_bound *b, const struct alloc_problem *p,
                         const double *cap_Bps)
{
    for (int32_t d = 0; d < p->step->n_dims; d++) {
        double push = b->cost_weight * p->usd_per_Bps[d];
        bool is_free = push == 0;
        for (int32_t i = 0; i < p->n_rows; i++)
            push += signed_dual(p, b->row_dual, i) * p->rows[i].coef[d];
        if (isfinite(cap_Bps[d]) || !is_free || (push >= 0 && !alloc_is_time(p->objective)))
            continue;
        for (int32_t i = 0; i < p->n_rows; i++)
            if (p->rows[i].coef[d] != 0)
                b->row_dual[i] = 0;
    }
    b->value = alloc_bound_value(b, p);
    if (alloc_is_time(p->objective))
        out->lower_bound = b->value;
}

/* Bandwidths that are infinite in @p cap_Bps get an end. */
static int solve_with_end(struct alloc_answer *out, const struct alloc_problem *p, const double *cap_Bps,
                          double most_Bps, struct err *e)
{
    struct alloc_problem capped = *p;
    struct alloc_row *rows = calloc((size_t)p->n_rows + D, sizeof *rows);
    if (!rows)
        return err_nomem(e, "constraints");
    memcpy(rows, p->rows, (size_t)p->n_rows * sizeof *rows);
    for (int32_t d = 0; d < p->step->n_dims; d++)
        if (isinf(cap_Bps[d])) {
            struct alloc_row row = { .sense = LINEXPR_LE, .rhs = most_Bps, .unit = 1e9 };
            row.coef[d] = 1;
            rows[capped.n_rows++] = row;
        }
    capped.rows = rows;
    int rc = capped.n_rows > p->n_rows ? solve(out, &capped, e) : 0;
    free(rows);
    for (int32_t i = 0; i < out->n_bounds && !rc; i++)
        drop_endless(out, &out->bounds[i], p, cap_Bps);
    return rc;
}

/* Bandwidths that rows tie to each other and nothing limits: the least time is reached on a ray without end,
 * along which the interior method runs away. Once more with an end to it that cannot bind; the second is for
 * rows that ask for more than that. */
static int solve_capped(struct alloc_answer *out, const struct alloc_problem *p, struct err *e)
{
    double cap_Bps[D];
    alloc_find_caps(cap_Bps, p);
    double most_Bps = useful_Bps(p, cap_Bps);
    if (!(most_Bps > 0))
        return 0;
    int rc = solve_with_end(out, p, cap_Bps, most_Bps, e);
    if (!rc && out->status == ALLOC_STALLED && isnan(out->value))
        rc = solve_with_end(out, p, cap_Bps, most_Bps + asked_Bps(p), e);
    return rc;
}

static int build_shadows(struct alloc_answer *out, const struct alloc_problem *p, struct err *e)
{
    out->shadow = calloc(2 * (size_t)p->n_rows + 1, sizeof *out->shadow);
    if (!out->shadow)
        return err_nomem(e, "shadow prices");
    out->shadow_play = out->shadow + p->n_rows;
    return 0;
}

/* Solve, else find out why there is no answer. STALLED is only what is left when no reason was found or a
 * proof falls short. */
static int solve_as_given(struct alloc_answer *out, const struct alloc_problem *p, struct err *e)
{
    *out = (struct alloc_answer){ .status = ALLOC_STALLED, .n_rows = p->n_rows, .value = NAN };
    int rc = build_shadows(out, p, e);
    rc = rc ? rc : solve(out, p, e);
    if (!rc && out->status == ALLOC_STALLED && isnan(out->value) && !alloc_is_limited(p->objective))
        rc = solve_capped(out, p, e);
    if (!rc && out->status == ALLOC_STALLED && !isnan(out->value))
        rc = solve_finish(out, p, e);
    else if (!rc && out->status == ALLOC_STALLED)
        rc = alloc_diagnose(out, p, e);
    if (!rc && out->status == ALLOC_STALLED && isnan(out->value) && alloc_is_limited(p->objective))
        rc = diagnose_limit(out, p, e);
    if (!rc && out->status == ALLOC_STALLED && !out->reason[0])
        alloc_conclude(
            out, ALLOC_STALLED,
            "no split was found that satisfies the constraints, which leave hardly any room; widen one");
    if (rc)
        alloc_answer_free(out);
    return rc;
}

/* ---- given bandwidths put in ---- */

/* The one dimension of an equality; -1: it has none or several, or is an inequality. */
static int32_t find_only_dim(const struct alloc_row *row, int32_t n_dims)
{
    int32_t found = -1;
    for (int32_t d = 0; d < n_dims; d++)
        if (row->coef[d] != 0) {
            if (found >= 0)
                return -1;
            found = d;
        }
    return row->sense == LINEXPR_EQ ? found : -1;
}

struct given {
    int32_t dim, row;
};

/*
 * The same problem with bandwidths that an equality gives put into all other rows, one after the other: what
 * is small beside them in a row keeps its digits. Returns how many, in their order; rows, of as many as p
 * has, are changed.
 */
static int32_t put_given_in(struct given *given, struct alloc_row *rows, const struct alloc_problem *p)
{
    const int32_t n_dims = p->step->n_dims;
    bool done[D] = { false };
    int32_t n = 0;
    for (int32_t i = 0; i < p->n_rows; i++) {
        int32_t d = find_only_dim(&rows[i], n_dims);
        if (d < 0 || done[d])
            continue;
        double bw_Bps = rows[i].rhs / rows[i].coef[d];
        for (int32_t k = 0; k < p->n_rows; k++)
            if (k != i) {
                rows[k].rhs -= rows[k].coef[d] * bw_Bps;
                rows[k].coef[d] = 0;
            }
        given[n++] = (struct given){ d, i };
        done[d] = true;
        i = -1;
    }
    return n;
}

/* Multipliers of the rows as they were: those of given bandwidths make up for what was put in. */
static void take_given_out(double *row_dual, const struct alloc_problem *p, const struct given *given,
                           int32_t n)
{
    while (n-- > 0) {
        const struct given *g = &given[n];
        for (int32_t i = 0; i < p->n_rows; i++)
            if (i != g->row)
                row_dual[g->row] -=
                    signed_dual(p, row_dual, i) * p->rows[i].coef[g->dim] / p->rows[g->row].coef[g->dim];
    }
}

/* Once more, with given bandwidths put in, and where that does not do with exact sums: take what is proved
 * better. */
static int solve_once_more(struct alloc_answer *out, const struct alloc_problem *p, struct err *e)
{
    struct given given[D];
    struct alloc_problem q = *p;
    struct alloc_row *rows = calloc((size_t)p->n_rows + 1, sizeof *rows);
    if (!rows)
        return err_nomem(e, "constraints");
    if (p->n_rows)
        memcpy(rows, p->rows, (size_t)p->n_rows * sizeof *rows);
    q.rows = rows;
    int32_t n = put_given_in(given, rows, p);
    int rc = 0;
    for (int sharp = n ? 0 : 1; sharp < 2 && !rc && out->status == ALLOC_STALLED; sharp++) {
        struct alloc_answer again;
        q.sharp = sharp;
        rc = solve_as_given(&again, &q, e);
        if (rc)
            break;
        if (alloc_has_split(&again) &&
            (again.status == ALLOC_SOLVED || !alloc_has_split(out) || again.gap < out->gap)) {
            struct alloc_answer swap = *out;
            for (int32_t i = 0; i < again.n_bounds; i++)
                take_given_out(again.bounds[i].row_dual, p, given, n);
            *out = again;
            again = swap;
        }
        alloc_answer_free(&again);
    }
    free(rows);
    return rc;
}

/* ---- one split for every total ---- */

/*
 * Where one row alone has a right-hand side (a total) and T is compute plus terms that bandwidth divides, the
 * best split for another right-hand side is the same, scaled by s = rhs / UNIT: terms are divided by s,
 * multipliers of rows by s^2. It is solved at UNIT and without compute, beside which it would be less sharp.
 * Its bound is taken again in the problem itself; only a split that this proves to CONVERGED_SHARE counts.
 */
#define UNIT 1e12

/* The row; -1: the problem does not scale. */
static int32_t find_scaled_row(const struct alloc_problem *p)
{
    int32_t found = -1;
    if (!alloc_is_time(p->objective) || p->step->n_terms != 1 || p->step->n_maxima || !p->step->n_leaves)
        return -1;
    for (int32_t i = 0; i < p->n_rows; i++)
        if (p->rows[i].rhs != 0) {
            if (found >= 0)
                return -1;
            found = i;
        }
    return found >= 0 && p->rows[found].rhs > 0 ? found : -1;
}

/* All that the split at UNIT depends on, as numbers, into k->asked: how many; 0: no memory. */
static size_t list_question(struct alloc_kept *k, const struct alloc_problem *p)
{
    const size_t leaves = (size_t)p->step->n_leaves * D, of_row = D + 2;
    const size_t n = leaves + (size_t)p->n_rows * of_row + 2 * (size_t)D + 3;
    if (k->cap < n) {
        free(k->asked);
        k->asked = malloc(n * sizeof *k->asked);
        k->cap = k->asked ? n : 0;
    }
    double *to = k->asked;
    if (!to)
        return 0;
    *to++ = p->objective;
    *to++ = p->step->n_dims;
    *to++ = p->step->n_leaves;
    memcpy(to, p->step->traffic_B, leaves * sizeof *to);
    to += leaves;
    memcpy(to, p->usd_per_Bps, sizeof p->usd_per_Bps);
    to += D;
    memcpy(to, p->tie_usd_per_Bps, sizeof p->usd_per_Bps);
    to += D;
    for (int32_t i = 0; i < p->n_rows; i++, to += of_row) {
        memcpy(to, p->rows[i].coef, sizeof p->rows[i].coef);
        to[D] = p->rows[i].sense;
        to[D + 1] = p->rows[i].rhs != 0;
    }
    return n;
}

static int solve_at_unit(struct alloc_answer *out, const struct alloc_problem *p, int32_t row, struct err *e)
{
    struct step_fn step = *p->step;
    double no_compute_s = 0;
    struct alloc_problem q = *p;
    struct alloc_row *rows = malloc((size_t)p->n_rows * sizeof *rows);
    if (!rows)
        return err_nomem(e, "constraints");
    memcpy(rows, p->rows, (size_t)p->n_rows * sizeof *rows);
    rows[row].rhs = UNIT;
    step.const_s = &no_compute_s;
    q.step = &step;
    q.rows = rows;
    int rc = solve_as_given(out, &q, e);
    free(rows);
    return rc;
}

/* The room for what is asked stays. */
static void drop_kept(struct alloc_kept *k)
{
    if (k->question)
        alloc_answer_free(&k->answer);
    free(k->question);
    k->question = NULL;
}

static void drop_asked(struct alloc_asked *a)
{
    if (a->question)
        alloc_answer_free(&a->answer);
    free(a->question);
    *a = (struct alloc_asked){ 0 };
}

void alloc_kept_free(struct alloc_kept *k)
{
    drop_kept(k);
    for (int i = 0; i < ALLOC_KEPT_LAST; i++)
        drop_asked(&k->last[i]);
    free(k->asked);
    *k = (struct alloc_kept){ 0 };
}

/* The split at UNIT, which @p k holds then. */
static int find_at_unit(struct alloc_kept *k, const struct alloc_problem *p, int32_t row, struct err *e)
{
    size_t n = list_question(k, p);
    if (!n)
        return err_nomem(e, "a split");
    if (k->question && k->n == n && memcmp(k->question, k->asked, n * sizeof *k->asked) == 0)
        return 0;
    drop_kept(k);
    int rc = solve_at_unit(&k->answer, p, row, e);
    if (rc)
        return rc;
    k->question = k->asked;
    k->n = n;
    k->asked = NULL;
    k->cap = 0;
    return 0;
}

/* @p unit, which is solved, at a right-hand side of @p s times UNIT. */
static int take_scaled(struct alloc_answer *out, const struct alloc_answer *unit,
                       const struct alloc_problem *p, double s, struct err *e)
{
    *out = (struct alloc_answer){
        .n_rows = p->n_rows, .value = NAN, .unique = unit->unique, .iterations = unit->iterations
    };
    out->bounds = calloc(1, sizeof *out->bounds);
    int rc = out->bounds ? build_shadows(out, p, e) : err_nomem(e, "a split");
    rc = rc ? rc : alloc_bound_copy(&out->bounds[0], &unit->bounds[unit->best_bound], p, e);
    if (rc) {
        alloc_answer_free(out);
        return rc;
    }
    out->n_bounds = 1;
    for (int32_t d = 0; d < p->step->n_dims; d++) {
        out->bw_Bps[d] = s * unit->bw_Bps[d];
        out->lo_Bps[d] = s * unit->lo_Bps[d];
        out->hi_Bps[d] = s * unit->hi_Bps[d];
    }
    for (int32_t i = 0; i < p->n_rows; i++)
        out->bounds[0].row_dual[i] /= s * s;
    out->lower_bound = out->bounds[0].value = alloc_bound_value(&out->bounds[0], p);
    evaluate(out, p, 0);
    return 0;
}

/* ---- the same question again ---- */

static double *put_numbers(double *to, const double *from, int32_t n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
    return to + n;
}

static double *put_counts(double *to, const int32_t *from, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        *to++ = from[i];
    return to;
}

/* All that the split of least time depends on; NULL: no memory. */
static double *list_whole(size_t *n, const struct alloc_problem *p)
{
    const struct step_fn *f = p->step;
    size_t rows = (size_t)p->n_rows * (D + 2), of_step = 3 * (size_t)f->n_terms + (size_t)f->n_maxima + 3;
    double *all = malloc((rows + of_step + ((size_t)f->n_leaves + 2) * D + 4) * sizeof *all), *to = all;
    const int32_t counts[] = { f->n_dims, f->n_terms, f->n_leaves, f->n_maxima };
    if (!all)
        return NULL;
    to = put_counts(to, counts, 4);
    to = put_numbers(to, f->const_s, f->n_terms);
    to = put_counts(to, f->leaf_begin, f->n_terms + 1);
    to = put_counts(to, f->max_begin, f->n_terms + 1);
    to = put_counts(to, f->term_begin, f->n_maxima + 1);
    to = put_numbers(to, f->traffic_B, f->n_leaves * D);
    to = put_numbers(to, p->usd_per_Bps, D);
    to = put_numbers(to, p->tie_usd_per_Bps, D);
    for (int32_t i = 0; i < p->n_rows; i++) {
        to = put_numbers(to, p->rows[i].coef, D);
        *to++ = p->rows[i].rhs;
        *to++ = p->rows[i].sense;
    }
    *n = (size_t)(to - all);
    return all;
}

static int copy_answer(struct alloc_answer *out, const struct alloc_answer *a, const struct alloc_problem *p,
                       struct err *e)
{
    *out = *a;
    out->bounds = calloc((size_t)a->n_bounds + 1, sizeof *out->bounds);
    out->n_bounds = 0;
    out->shadow = NULL;
    int rc = out->bounds ? build_shadows(out, p, e) : err_nomem(e, "a split");
    for (int32_t i = 0; i < a->n_bounds && !rc; i++) {
        rc = alloc_bound_copy(&out->bounds[i], &a->bounds[i], p, e);
        out->n_bounds += !rc;
    }
    if (rc)
        alloc_answer_free(out);
    else
        memcpy(out->shadow, a->shadow, 2 * (size_t)p->n_rows * sizeof *out->shadow);
    return rc;
}

/* solve_as_given(), or its answer, if it is among the last; what is solved is one of the last then. */
static int solve_or_recall(struct alloc_answer *out, const struct alloc_problem *p, struct err *e)
{
    struct alloc_kept *k = p->kept;
    if (!k || p->objective != ALLOC_TIME || p->sharp)
        return solve_as_given(out, p, e);
    struct alloc_asked asked = { .question = list_whole(&asked.n, p) };
    if (!asked.question)
        return err_nomem(e, "a split");
    for (int i = 0; i < ALLOC_KEPT_LAST; i++)
        if (k->last[i].question && k->last[i].n == asked.n &&
            memcmp(k->last[i].question, asked.question, asked.n * sizeof *asked.question) == 0) {
            free(asked.question);
            return copy_answer(out, &k->last[i].answer, p, e);
        }
    int rc = solve_as_given(out, p, e);
    bool is_kept = !rc && out->status == ALLOC_SOLVED;
    if (is_kept)
        rc = copy_answer(&asked.answer, out, p, e);
    if (rc || !is_kept) {
        free(asked.question);
        return rc;
    }
    drop_asked(&k->last[k->next]);
    k->last[k->next] = asked;
    k->next = (k->next + 1) % ALLOC_KEPT_LAST;
    return 0;
}

/* ---- any question ---- */

/* @p done: @p out is the answer, by a split that scales; else there is nothing to free. */
static int solve_scaled(struct alloc_answer *out, bool *done, struct alloc_kept *kept,
                        const struct alloc_problem *p, struct err *e)
{
    int32_t row = find_scaled_row(p);
    if (row < 0)
        return 0;
    int rc = find_at_unit(kept, p, row, e);
    if (rc)
        *out = (struct alloc_answer){ 0 };
    if (rc || kept->answer.status != ALLOC_SOLVED)
        return rc;
    rc = take_scaled(out, &kept->answer, p, p->rows[row].rhs / UNIT, e);
    *done = !rc && out->status == ALLOC_SOLVED && out->gap <= CONVERGED_SHARE;
    if (!rc && !*done)
        alloc_answer_free(out);
    return rc;
}

/* The same where nobody keeps anything. */
static int solve_scaled_once(struct alloc_answer *out, bool *done, const struct alloc_problem *p,
                             struct err *e)
{
    struct alloc_kept own = { 0 };
    int rc = solve_scaled(out, done, &own, p, e);
    alloc_kept_free(&own);
    return rc;
}

int alloc_solve(struct alloc_answer *out, const struct alloc_problem *p, struct err *e)
{
    struct alloc_problem q = alloc_with_factor(p);
    bool done = false;
    q.tie_usd_per_Bps = p->usd_per_Bps;
    int rc = q.kept ? solve_scaled(out, &done, q.kept, &q, e) : solve_scaled_once(out, &done, &q, e);
    if (!rc && !done)
        rc = solve_or_recall(out, &q, e);
    if (!rc && !done && out->status == ALLOC_STALLED)
        rc = solve_once_more(out, &q, e);
    if (!rc && alloc_has_split(out))
        out->cost_usd = alloc_cost_usd(p, out->bw_Bps);
    if (!rc)
        rc = work_check(e);
    if (rc)
        alloc_answer_free(out);
    return rc;
}
