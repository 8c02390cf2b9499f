#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/bound.h"
#include "alloc/lp.h"
#include "base/array.h"
#include "kinds/design/design.h"
#include "kinds/design/search_run.h"
#include "workloads/step.h"

/*
 * Best plan and split together. A few plans that are fast at an even split are split first. The best of them
 * gives a value that others must beat, and prices of the constraints, which bound from below what any split
 * can make of another plan:
 *
 * On the path that decides at some bandwidths b, time is C + sum_d e_d with e_d seconds of dimension d; other
 * bandwidths B make that path, and so the step, take T(B) >= C + sum_d g_d/B_d, g_d = e_d b_d. Weak duality
 * with multipliers mu of the rows A B <= r, scaled by t:
 *     T(B) >= C + sum_d g_d/B_d + t mu.(A B - r) >= C + sqrt(t) R - t mu.r,  R = 2 sum_d sqrt(g_d (mu A)_d),
 * greatest at sqrt(t) = R/(2 mu.r): C + R^2/(4 mu.r). Tight where b is the plan's own best split.
 *
 * Least cost with T <= L: sum_d p_d B_d >= (sum_d sqrt(g_d p_d))^2 / sum_d g_d/B_d by Cauchy and Schwarz, and
 * the last sum is at most L - C; p are prices u alone, or u + mu A, and then mu.r is taken off. Time times
 * cost F + u.B: at least (sqrt(C F) + sum_d sqrt(g_d u_d))^2, likewise.
 *
 * What is not ruled out is split, most promising first, until the next bound is above the last of the best.
 * Performance per cost has many plans that are nearly as good as others and bounds that are not tight: beyond
 * a number of plans the rest is left open, and counted.
 */

enum { SCOUTS = 48, HOPELESS = 4, BLOCK = 64, MOST_BOUNDED = 1 << 17, MOST_GUESSED = 1 << 10 };

/* What is better by less than this is as good: it covers the gap of a split and the rounding of bounds. Where
 * a price or a time limit makes many plans equal, one of them is enough. */
#define AS_GOOD 1e-8

struct joint {
    const struct search_space *space;
    const struct design_point *study;
    const struct training *base;
    struct design_question question;
    double cap_Bps[TOPO_MAX_DIMS]; /* what the rows allow one dimension at most */
    double ref_Bps[TOPO_MAX_DIMS]; /* the scouts' best split */
    double price[TOPO_MAX_DIMS];   /* (mu A)_d; of least cost u_d + (mu A)_d */
    double rent;                   /* mu.r */
    bool has_prices;
    double least_usd; /* no design costs less */
    bool clash;       /* no bandwidths satisfy the rows */
    double target;    /* what is not below this is as good as the last of the best so far, or worse */
};

/* ---- one plan ---- */

static int compile(struct step_fn *fn, const struct training *x, const struct design_point *s,
                   const double *bw_Bps, struct err *e)
{
    struct step_tree tree, lowered = { 0 };
    int rc = training_build(&tree, x, &s->net, e);
    if (!rc && s->model != SIM_BANDWIDTH)
        rc = step_lower(&lowered, &tree, &s->net, &s->rules.stage, bw_Bps, e);
    if (!rc)
        rc = step_compile(fn, s->model == SIM_BANDWIDTH ? &tree : &lowered, &s->net, e);
    step_free(&tree);
    step_free(&lowered);
    return rc;
}

/* Split for one plan; value INFINITY where there is no split. */
static int solve_plan(struct search_found *f, struct alloc_answer *answer, const struct joint *j,
                      struct err *e)
{
    struct training *x = malloc(sizeof *x);
    struct step_fn fn = { 0 };
    struct alloc_problem problem = j->question.problem;
    if (!x)
        return err_nomem(e, "a search");
    *x = *j->base;
    x->plan = f->plan;
    f->value = f->time_s = INFINITY;
    int rc = training_derive(x, &j->study->net, e);
    if (!rc)
        rc = compile(&fn, x, j->study, j->ref_Bps, e);
    free(x);
    problem.step = &fn;
    if (!rc)
        rc = alloc_solve(answer, &problem, e);
    if (!rc && alloc_has_split(answer)) {
        f->value = answer->value;
        f->time_s = answer->time_s;
        memcpy(f->bw_Bps, answer->bw_Bps, sizeof f->bw_Bps);
    }
    step_fn_free(&fn);
    return rc;
}

/* ---- bounds ---- */

/* T(B) >= constant + sum_d pull[d]/B_d, equal at the reference. */
struct tangent {
    double constant, pull[TOPO_MAX_DIMS], at_ref_s;
};

static struct tangent find_tangent(const struct joint *j, const struct search_candidate *c)
{
    struct plan_sum sum;
    search_clock_sum(&sum, &c->clocks[1], c->cost);
    struct tangent t = { .constant = sum.v[0], .at_ref_s = sum.v[0] };
    for (int32_t d = 0; d < j->study->net.n_dims; d++) {
        t.pull[d] = sum.v[1 + d] * j->ref_Bps[d];
        t.constant -= sum.v[1 + d];
    }
    return t;
}

/* sum_d sqrt(g_d p_d), p the prices of the reference. */
static double priced_root(const struct joint *j, const struct tangent *t)
{
    double root = 0;
    for (int32_t d = 0; d < j->study->net.n_dims; d++)
        if (j->price[d] >= 0)
            root += sqrt(t->pull[d] * j->price[d]);
    return root;
}

static double time_bound(const struct joint *j, const struct tangent *t)
{
    double root = priced_root(j, t);
    bool priced = j->has_prices && j->question.problem.objective == ALLOC_TIME && j->rent > 0;
    return t->constant + (priced ? root * root / j->rent : 0);
}

/* (sum_d sqrt(g_d u_d))^2: no bandwidths make sum_d g_d/B_d times their price less. */
static double product_root(const struct joint *j, const struct tangent *t)
{
    double root = 0;
    for (int32_t d = 0; d < j->study->net.n_dims; d++)
        root += sqrt(t->pull[d] * j->question.problem.usd_per_Bps[d]);
    return root;
}

/* No split makes the objective less; @p time_s: no split takes less time. */
static double value_bound(const struct joint *j, const struct tangent *t, double time_s)
{
    const struct alloc_problem *p = &j->question.problem;
    double root = product_root(j, t), left_s = p->time_limit_s - t->constant;
    time_s = fmax(time_s, time_bound(j, t));
    if (p->objective == ALLOC_PERF_PER_COST) {
        double sum = sqrt(t->constant * p->usd_fixed) + root;
        return fmax(time_s * j->least_usd, sum * sum);
    }
    if (p->objective != ALLOC_COST)
        return time_s;
    if (time_s > p->time_limit_s || !(left_s > 0))
        return INFINITY;
    double usd = fmax(j->least_usd, p->usd_fixed + root * root / left_s);
    double priced = priced_root(j, t);
    return j->has_prices ? fmax(usd, p->usd_fixed + priced * priced / left_s - j->rent) : usd;
}

/* Candidates that a bound does not rule out. Of too many the most promising are kept. */
struct survivors {
    const struct joint *joint;
    struct search_found *list; /* shape [n], owned; value: the bound; time_s: what they are kept by */
    int32_t n, cap, most;
    int64_t n_bounded, n_dropped;
    double least_dropped; /* bound */
    bool failed;
};

static int by_promise(const void *a, const void *b)
{
    const struct search_found *x = a, *y = b;
    if (x->time_s < y->time_s || x->time_s > y->time_s)
        return x->time_s < y->time_s ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static void keep_most(struct survivors *s)
{
    if (s->n <= s->most)
        return;
    qsort(s->list, (size_t)s->n, sizeof *s->list, by_promise);
    for (int32_t i = s->most; i < s->n; i++)
        s->least_dropped = fmin(s->least_dropped, s->list[i].value);
    s->n_dropped += s->n - s->most;
    s->n = s->most;
}

static void take_survivor(void *mine, const struct search_candidate *c)
{
    struct survivors *s = mine;
    const struct joint *j = s->joint;
    /* The cheap bound first: time with all that the rows allow every dimension at once. */
    double time_s = search_clock_time(&c->clocks[0], c->cost), bound = time_s;
    if (j->question.problem.objective != ALLOC_TIME || time_s < j->target) {
        struct tangent t = find_tangent(j, c);
        bound = value_bound(j, &t, time_s);
        time_s = j->question.problem.objective == ALLOC_TIME ? bound : t.at_ref_s;
    }
    if (s->failed || !(bound < j->target)) {
        s->n_bounded++;
        return;
    }
    if (s->n == 4 * (int64_t)s->most)
        keep_most(s);
    struct search_found *grown = array_grow(s->list, s->n, &s->cap, sizeof *grown);
    s->failed = !grown;
    if (!grown)
        return;
    s->list = grown;
    s->list[s->n] = search_found_of(c);
    s->list[s->n].time_s = time_s;
    s->list[s->n++].value = bound;
}

static int by_bound(const void *a, const void *b)
{
    const struct search_found *x = a, *y = b;
    return search_is_better(x, y) ? -1 : search_is_better(y, x);
}

/* All threads' survivors in one list, most promising first. What no thread would keep, all together do not.
 */
static int gather(struct survivors *all, struct survivors *parts, int32_t n, struct err *e)
{
    int64_t sum = 0;
    all->least_dropped = INFINITY;
    all->most = parts[0].most;
    for (int32_t t = 0; t < n; t++) {
        sum += parts[t].n;
        all->n_bounded += parts[t].n_bounded;
        all->n_dropped += parts[t].n_dropped;
        all->least_dropped = fmin(all->least_dropped, parts[t].least_dropped);
        all->failed = all->failed || parts[t].failed;
    }
    all->list = calloc((size_t)sum + 1, sizeof *all->list);
    if (!all->list || all->failed || sum > INT32_MAX)
        return err_nomem(e, "a search");
    for (int32_t t = 0; t < n; t++) {
        if (parts[t].n)
            memcpy(all->list + all->n, parts[t].list, (size_t)parts[t].n * sizeof *all->list);
        all->n += parts[t].n;
    }
    keep_most(all);
    qsort(all->list, (size_t)all->n, sizeof *all->list, by_bound);
    return 0;
}

static int find_survivors(struct survivors *all, struct search_result *out, const struct joint *j,
                          struct err *e)
{
    int32_t n = search_threads();
    struct survivors *parts = calloc((size_t)n, sizeof *parts);
    void **mine = calloc((size_t)n, sizeof *mine);
    int rc = parts && mine ? 0 : err_nomem(e, "a search");
    bool tight = j->question.problem.objective != ALLOC_PERF_PER_COST;
    for (int32_t t = 0; t < n && !rc; t++) {
        parts[t].joint = j;
        parts[t].most = tight ? MOST_BOUNDED : MOST_GUESSED;
        parts[t].least_dropped = INFINITY;
        mine[t] = &parts[t];
    }
    const struct search_run run = { .space = j->space,
                                    .study = j->study,
                                    .base = j->base,
                                    .ways = { search_way(j->study, j->cap_Bps),
                                              search_way(j->study, j->ref_Bps) },
                                    .n_ways = 2,
                                    .take = take_survivor,
                                    .mine = mine,
                                    .n_threads = n };
    if (!rc)
        rc = search_run(out, &run, e);
    if (!rc)
        rc = gather(all, parts, n, e);
    for (int32_t t = 0; parts && t < n; t++)
        free(parts[t].list);
    free(parts);
    free(mine);
    return rc;
}

/* ---- scouts ---- */

/* What the rows cost at the scouts' best split. */
static void take_prices(struct joint *j, const struct alloc_answer *a)
{
    const struct alloc_problem *p = &j->question.problem;
    const struct alloc_bound *b = a->n_bounds ? &a->bounds[a->best_bound] : NULL;
    bool by_cost = p->objective == ALLOC_COST;
    double weight = !b ? 0 : by_cost ? b->cost_weight : b->time_weight;
    memcpy(j->ref_Bps, a->bw_Bps, sizeof j->ref_Bps);
    j->has_prices = weight > 0 && (by_cost || p->objective == ALLOC_TIME);
    j->rent = 0;
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++)
        j->price[d] = by_cost ? p->usd_per_Bps[d] : 0;
    for (int32_t i = 0; i < p->n_rows && j->has_prices; i++) {
        double dual = (p->rows[i].sense == LINEXPR_GE ? -b->row_dual[i] : b->row_dual[i]) / weight;
        j->rent += dual * p->rows[i].rhs;
        for (int32_t d = 0; d < j->study->net.n_dims; d++)
            j->price[d] += dual * p->rows[i].coef[d];
    }
    /* A price below zero, of a row that asks for more, is paid at most on the cap. */
    for (int32_t d = 0; d < j->study->net.n_dims; d++) {
        if (!(j->price[d] < 0))
            continue;
        j->rent -= j->price[d] * j->cap_Bps[d];
        j->has_prices = j->has_prices && isfinite(j->cap_Bps[d]);
    }
}

/* An even split of what the rows allow at most. */
static void even_split(struct joint *j)
{
    int32_t n = j->study->net.n_dims;
    for (int32_t d = 0; d < n; d++)
        j->ref_Bps[d] = isfinite(j->cap_Bps[d]) && j->cap_Bps[d] > 0 ? j->cap_Bps[d] / n : 1e11;
}

static double last_value(const struct search_best *best)
{
    return best->n == best->most ? (1 - AS_GOOD) * best->found[best->n - 1].value : INFINITY;
}

/* Split the plans that are fastest at ref_Bps; the best of them sets target, reference and prices. */
static int scout(struct search_best *best, struct search_result *counts, struct joint *j, struct err *e)
{
    int rc = search_fastest(counts, j->space, j->study, j->base, j->ref_Bps, SCOUTS + j->space->top, e);
    double least = INFINITY;
    /* Where several have no split, rows starve a dimension that every plan uses; bounds will tell. */
    for (int32_t i = 0; i < counts->n_found && !rc && (best->n || i < HOPELESS); i++) {
        struct alloc_answer answer = { 0 };
        struct search_found f = counts->found[i];
        rc = solve_plan(&f, &answer, j, e);
        if (!rc && isfinite(f.value)) {
            search_best_add(best, &f);
            if (f.value < least) {
                least = f.value;
                take_prices(j, &answer);
            }
        }
        alloc_answer_free(&answer);
    }
    j->target = last_value(best);
    return rc;
}

/* ---- all of it ---- */

static int solve_block(struct search_best *best, struct search_found *block, int32_t n, const struct joint *j,
                       struct err *e)
{
    int rc = 0;
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t i = 0; i < n; i++) {
        struct err own = { 0 };
        struct alloc_answer answer = { 0 };
        int failed = solve_plan(&block[i], &answer, j, &own);
        alloc_answer_free(&answer);
        if (failed) {
#pragma omp critical
            {
                rc = failed;
                *e = own;
            }
        }
    }
    for (int32_t i = 0; i < n && !rc; i++)
        if (isfinite(block[i].value))
            search_best_add(best, &block[i]);
    return rc;
}

/* In blocks of one size, so that threads do not change what is split. */
static int solve_survivors(struct search_best *best, struct search_result *out, const struct survivors *s,
                           const struct joint *j, struct err *e)
{
    int rc = 0;
    int32_t i = 0;
    while (i < s->n && !rc && s->list[i].value < last_value(best)) {
        int32_t n = s->n - i < BLOCK ? s->n - i : BLOCK;
        rc = solve_block(best, s->list + i, n, j, e);
        i += n;
    }
    out->n_split += i;
    out->n_bounded += s->n - i;
    if (s->least_dropped < last_value(best))
        out->n_open += s->n_dropped;
    else
        out->n_bounded += s->n_dropped;
    return rc;
}

/* Of any bandwidths that the rows allow. */
static int find_least_usd(struct joint *j, struct err *e)
{
    const struct alloc_problem *p = &j->question.problem;
    struct lp lp;
    struct lp_result result;
    lp_init(&lp, j->study->net.n_dims, p->rows, p->n_rows);
    memcpy(lp.cost, p->usd_per_Bps, sizeof lp.cost);
    int rc = lp_solve(&result, NULL, &lp, e);
    j->least_usd = p->usd_fixed + (!rc && result.status == LP_OPTIMAL ? result.value : 0);
    j->clash = !rc && result.status == LP_INFEASIBLE;
    return rc;
}

static int begin(struct joint *j, const struct search_space *space, const struct design_point *s,
                 const struct training *base, struct err *e)
{
    struct step_fn shape = { .n_dims = s->net.n_dims };
    *j = (struct joint){ .space = space, .study = s, .base = base };
    design_ask(&j->question, s);
    j->question.problem.step = &shape; /* alloc_find_caps() asks it for the number of dimensions */
    alloc_find_caps(j->cap_Bps, &j->question.problem);
    j->question.problem.step = NULL;
    even_split(j);
    return find_least_usd(j, e);
}

int search_split(struct search_result *out, const struct search_space *space, const struct design_point *s,
                 const struct training *base, struct err *e)
{
    struct joint *j = malloc(sizeof *j);
    struct search_best best = { 0 };
    struct survivors survivors = { 0 };
    *out = (struct search_result){ 0 };
    int rc = j ? search_best_reserve(&best, space->top, e) : err_nomem(e, "a search");
    if (!rc)
        rc = begin(j, space, s, base, e);
    /* Twice: the second time at a split that suits, instead of an even one. */
    for (int round = 0; round < 2 && !rc && !j->clash; round++) {
        search_free(out);
        rc = scout(&best, out, j, e);
    }
    search_free(out);
    if (!rc && !j->clash)
        rc = find_survivors(&survivors, out, j, e);
    if (!rc) {
        out->n_bounded = survivors.n_bounded;
        rc = solve_survivors(&best, out, &survivors, j, e);
    }
    out->found = best.found;
    out->n_found = best.n;
    out->clash = j && j->clash;
    free(survivors.list);
    free(j);
    return rc;
}
