/*
 * Bounds of a step's best split, from the prices of the rows at the best split that is known:
 *
 * On the path that decides at some bandwidths b, time is C + sum_d e_d with e_d seconds of dimension d; other
 * bandwidths B make that path, and so the step, take T(B) >= C + sum_d g_d/B_d, g_d = e_d b_d. Weak duality
 * with multipliers mu of the rows A B <= r, scaled by t:
 *     T(B) >= C + sum_d g_d/B_d + t mu.(A B - r) >= C + sqrt(t) R - t mu.r,  R = 2 sum_d sqrt(g_d (mu A)_d),
 * greatest at sqrt(t) = R/(2 mu.r): C + R^2/(4 mu.r). Tight where b is the plan's own best split.
 *
 * Least cost with T <= L: sum_d p_d B_d >= (sum_d sqrt(g_d p_d))^2 / sum_d g_d/B_d by Cauchy and Schwarz, and
 * the last sum is at most L - C; p are prices u alone, or u + mu A, and then mu.r is taken off. Time times
 * cost F + u.B: at least (sqrt(C F) + sum_d sqrt(g_d u_d))^2, likewise; more within the ranges of
 * bandwidths that the rows leave (ranged_product()).
 */
#include "kinds/design/explore/joint.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "alloc/lp.h"
#include "kinds/design/answer/whole.h"

/* ---- one step ---- */

/* In whole parts every dimension that the plan uses has a link, without which products are best at bandwidths
 * of 0. @p rows: owned by the caller. */
static int add_floors(struct alloc_row **rows, struct alloc_problem *problem, const struct joint *j,
                      struct err *e)
{
    int32_t n = problem->n_rows;
    *rows = calloc((size_t)n + TOPO_MAX_DIMS, sizeof **rows);
    if (!*rows)
        return err_nomem(e, "constraints");
    if (n)
        memcpy(*rows, problem->rows, (size_t)n * sizeof **rows);
    problem->rows = *rows;
    problem->n_rows += design_put_floors(*rows + n, j->study, problem);
    return 0;
}

/* The best whole design of the plan in place of its split; value INFINITY where none is worth as little as is
 * looked for. */
static int build_plan(struct search_found *f, struct alloc_problem *problem,
                      const struct alloc_answer *relaxed, const struct joint *j, struct err *e)
{
    double ignored;
    bool may = f->lower_bound <= j->most_value && alloc_has_split(relaxed);
    f->value = f->time_s = INFINITY;
    struct whole_answer *whole = may ? malloc(sizeof *whole) : NULL;
    if (!whole)
        return may ? err_nomem(e, "whole parts") : 0;
    problem->most_value = j->most_value;
    int rc = design_solve_whole(whole, j->study, problem, relaxed, &ignored, e);
    if (!rc && (whole->status == ALLOC_SOLVED || whole->status == ALLOC_STALLED) && isfinite(whole->value)) {
        f->value = whole->value;
        f->time_s = whole->time_s;
        f->lower_bound = fmax(f->lower_bound, whole->lower_bound);
        memcpy(f->bw_Bps, whole->bw_Bps, sizeof f->bw_Bps);
    } else if (!rc && whole->status == ALLOC_INFEASIBLE) {
        f->lower_bound = j->most_value;
    }
    free(whole);
    return rc;
}

int joint_solve(struct search_found *f, struct alloc_answer *answer, const struct step_fn *fn,
                const struct joint *j, struct err *e)
{
    struct alloc_problem problem = j->question.problem;
    struct alloc_row *rows = NULL;
    f->value = f->time_s = INFINITY;
    f->lower_bound = -INFINITY;
    problem.step = fn;
    problem.kept = j->kept;
    int rc = j->floors ? add_floors(&rows, &problem, j, e) : 0;
    if (!rc)
        rc = alloc_solve(answer, &problem, e);
    if (!rc && alloc_has_split(answer)) {
        f->value = answer->value;
        f->time_s = answer->time_s;
        f->lower_bound = answer->lower_bound;
        memcpy(f->bw_Bps, answer->bw_Bps, sizeof f->bw_Bps);
    } else if (!rc && answer->status == ALLOC_INFEASIBLE) {
        f->lower_bound = INFINITY;
    }
    if (!rc && j->most_value > 0)
        rc = build_plan(f, &problem, answer, j, e);
    free(rows);
    return rc;
}

/* ---- bounds ---- */

static double time_bound(const struct joint *j, const struct alloc_cut *t)
{
    double root = alloc_cut_root(t, j->price, j->study->net.n_dims);
    bool priced = j->has_prices && alloc_is_time(j->question.problem.objective) && j->rent > 0;
    return t->const_s + (priced ? root * root / j->rent : 0);
}

/* What rows ask for, and a link where the plan is known to use the dimension. */
static double least_Bps(const struct joint *j, const struct alloc_cut *t, int32_t d)
{
    return fmax(j->ranges.floor_Bps[d], t->pull_B[d] > 0 ? j->link_Bps[d] : 0);
}

/*
 * The least of (C + sum_d g_d/B_d)(F + sum_d u_d B_d) with floor_d <= B_d <= cap_d. Its root is the least of
 * (l T + W/l)/2 over l > 0, where each B_d is sqrt(g_d/u_d) l or at a limit; in log l that is convex (a
 * posynomial: R. Duffin, E. Peterson, C. Zener, Geometric Programming, 1967), so l^2 T = W is found by
 * halving. What is left of l shows in the square only. @param[out] bw_Bps  where it is, shape [n_dims].
 */
static double ranged_product(double *bw_Bps, const struct joint *j, const struct alloc_cut *t)
{
    enum { HALVINGS = 36 };
    const double *u = j->counted.usd_per_Bps;
    double least = -60, most = 60, time_s = 0, spent = 0, root[TOPO_MAX_DIMS], floor_Bps[TOPO_MAX_DIMS];
    for (int32_t d = 0; d < j->study->net.n_dims; d++) {
        floor_Bps[d] = least_Bps(j, t, d);
        root[d] = t->pull_B[d] > 0 ? sqrt(t->pull_B[d] / u[d]) : 0; /* INFINITY: it costs nothing */
    }
    for (int i = 0; i < HALVINGS; i++) {
        double l = exp((least + most) / 2);
        time_s = t->const_s;
        spent = j->counted.usd_fixed;
        for (int32_t d = 0; d < j->study->net.n_dims; d++) {
            bw_Bps[d] = fmax(fmin(l * root[d], j->ranges.cap_Bps[d]), floor_Bps[d]);
            time_s += t->pull_B[d] > 0 ? t->pull_B[d] / bw_Bps[d] : 0;
            spent += u[d] > 0 ? u[d] * bw_Bps[d] : 0;
        }
        *(l * l * time_s < spent ? &least : &most) = (least + most) / 2;
    }
    return time_s * spent * (1 - 1e-9);
}

/* What the least of every bandwidth costs. */
static double floored_usd(const struct joint *j, const struct alloc_cut *t)
{
    double usd = j->counted.usd_fixed;
    for (int32_t d = 0; d < j->study->net.n_dims; d++)
        usd += j->counted.usd_per_Bps[d] * least_Bps(j, t, d);
    return usd;
}

double joint_bound(const struct joint *j, const struct alloc_cut *t, double time_s)
{
    const struct alloc_problem *p = &j->counted;
    double left_s = p->time_limit_s - t->const_s, at_Bps[TOPO_MAX_DIMS];
    time_s = fmax(time_s, time_bound(j, t));
    if (alloc_is_time(p->objective))
        return time_s;
    double root = alloc_cut_root(t, p->usd_per_Bps, j->study->net.n_dims);
    if (alloc_is_product(p->objective)) {
        double sum = sqrt(t->const_s * p->usd_fixed) + root, usd = fmax(j->least_usd, floored_usd(j, t));
        double bound = fmax(time_s * usd, sum * sum);
        return incumbent_rules_out(&j->last, bound) ? bound : fmax(bound, ranged_product(at_Bps, j, t));
    }
    if (time_s > p->time_limit_s || !(left_s > 0))
        return INFINITY;
    double usd = fmax(fmax(j->least_usd, floored_usd(j, t)), p->usd_fixed + root * root / left_s);
    double priced = alloc_cut_root(t, j->price, j->study->net.n_dims);
    return j->has_prices ? fmax(usd, p->usd_fixed + priced * priced / left_s - j->rent) : usd;
}

double joint_timed(const struct joint *j, double time_s)
{
    const struct alloc_problem *p = &j->counted;
    bool late = alloc_is_limited(p->objective) && time_s > p->time_limit_s;
    return late ? (double)INFINITY : alloc_value_of(p->objective, time_s, j->least_usd);
}

/* ---- bounds of one plan, sharpened ---- */

enum { NARROWINGS = 10 };

/* An even split of what the rows allow at most, and no less than they ask for. */
static double even_Bps(const struct joint *j, int32_t d)
{
    double cap_Bps = j->ranges.cap_Bps[d], even = cap_Bps / j->study->net.n_dims;
    return fmax(isfinite(cap_Bps) && cap_Bps > 0 ? even : 1e11, j->ranges.floor_Bps[d]);
}

double joint_usable_Bps(const struct joint *j, int32_t d, double bw_Bps)
{
    return fmax(fmin(bw_Bps, j->ranges.cap_Bps[d]), even_Bps(j, d) / 1000);
}

static double row_at(const struct alloc_row *row, const double *bw_Bps, int32_t n_dims)
{
    double sum = 0;
    for (int32_t d = 0; d < n_dims; d++)
        sum += row->coef[d] * bw_Bps[d];
    return sum;
}

/* B_d ~ sqrt(g_d/price_d). */
void joint_foot(double *bw_Bps, const struct joint *j, const struct alloc_cut *t)
{
    int32_t n = j->study->net.n_dims;
    double root = alloc_cut_root(t, j->price, n), left_s = j->counted.time_limit_s - t->const_s;
    if (alloc_is_product(j->counted.objective)) {
        ranged_product(bw_Bps, j, t);
    } else {
        double length = alloc_is_time(j->counted.objective) ? j->rent / root : root / left_s;
        for (int32_t d = 0; d < n; d++)
            bw_Bps[d] = length * sqrt(t->pull_B[d] / j->price[d]);
    }
    for (int32_t d = 0; d < n; d++)
        bw_Bps[d] = joint_usable_Bps(j, d, bw_Bps[d]);
}

struct mixing {
    const struct alloc_cut *of, *add;
    const struct joint *joint;
};

static double bound_mixed(const void *with, double share_of_add)
{
    const struct mixing *x = with;
    struct alloc_cut mixed = alloc_cut_mean(x->of, x->add, share_of_add);
    return joint_bound(x->joint, &mixed, 0);
}

double joint_mix(struct alloc_cut *t, double *share_of_add, const struct alloc_cut *add,
                 const struct joint *j)
{
    const struct mixing x = { t, add, j };
    double bound = num_golden_greatest(share_of_add, bound_mixed, &x, 1, NARROWINGS);
    *t = alloc_cut_mean(t, add, *share_of_add);
    return bound;
}

/*
 * A mean of cuts is a cut, and what it proves is concave in the weights (the objective is linear in the cut
 * for every split, the least of which counts). So: touch T where the bound is found, mix that cut in, again
 * (M. Frank, P. Wolfe, An algorithm for quadratic programming, 1956). That takes a few microseconds, a split
 * several hundred.
 */
void joint_sharpen(struct joint_touched *t, const struct joint *j, struct joint_goal goal, joint_touch touch,
                   const void *with)
{
    const int32_t n = j->study->net.n_dims;
    const bool for_time = alloc_is_time(j->counted.objective);
    t->time_s = INFINITY;
    for (t->n = 0; t->n < goal.most_cuts && !(t->bound > goal.most || t->bound > DBL_MAX);) {
        joint_foot(t->at_Bps, j, &t->cut);
        joint_shrink(t->at_Bps, j);
        const struct alloc_cut add = touch(with, t->at_Bps);
        double at_s = alloc_cut_at(&add, t->at_Bps, n);
        if (at_s < t->time_s && joint_allows(j, t->at_Bps)) {
            t->time_s = at_s;
            memcpy(t->bw_Bps, t->at_Bps, sizeof t->bw_Bps);
        }
        t->bound = fmax(t->bound, joint_mix(&t->cut, &t->share[t->n++], &add, j));
        if (for_time && t->time_s <= t->bound * (1 + goal.gap_rel))
            break;
    }
}

bool joint_is_priced(const struct joint *j)
{
    return !alloc_is_time(j->counted.objective) || (j->has_prices && j->rent > 0);
}

/* ---- the split that is known ---- */

void joint_note_why(struct joint *j, const struct alloc_answer *a)
{
    if (!alloc_has_split(a) && a->status != ALLOC_INFEASIBLE && !j->why[0])
        snprintf(j->why, sizeof j->why, "%s: %.300s", alloc_status_names[a->status], a->reason);
}

void joint_take_prices(struct joint *j, const struct alloc_answer *a)
{
    const struct alloc_problem *p = &j->question.problem;
    const struct alloc_bound *b = a->n_bounds ? &a->bounds[a->best_bound] : NULL;
    bool by_cost = alloc_is_limited(p->objective);
    double weight = !b ? 0 : by_cost ? b->cost_weight : b->time_weight;
    memcpy(j->ref_Bps, a->bw_Bps, sizeof j->ref_Bps);
    j->has_prices = weight > 0 && !alloc_is_product(p->objective);
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
        j->rent -= j->price[d] * j->ranges.cap_Bps[d];
        j->has_prices = j->has_prices && isfinite(j->ranges.cap_Bps[d]);
    }
}

bool joint_price_total(struct joint *j)
{
    const struct alloc_problem *p = &j->question.problem;
    bool is = j->study->total_Bps > 0; /* NaN: not given */
    for (int32_t d = 0; d < j->study->net.n_dims && is; d++)
        j->price[d] = topo_in_total(&j->study->net.dims[d]) ? 1 : 0;
    j->rent = is ? j->study->total_Bps : 0;
    j->has_prices = is;
    return is && p->n_rows == 1;
}

void joint_shrink(double *bw_Bps, const struct joint *j)
{
    const struct alloc_problem *p = &j->question.problem;
    double by = 1;
    for (int32_t i = 0; i < p->n_rows; i++) {
        double sum = row_at(&p->rows[i], bw_Bps, j->study->net.n_dims);
        if (p->rows[i].sense != LINEXPR_GE && sum > p->rows[i].rhs && p->rows[i].rhs > 0)
            by = fmin(by, p->rows[i].rhs / sum);
    }
    for (int32_t d = 0; d < j->study->net.n_dims; d++)
        bw_Bps[d] *= by;
}

bool joint_allows(const struct joint *j, const double *bw_Bps)
{
    const struct alloc_problem *p = &j->question.problem;
    for (int32_t i = 0; i < p->n_rows; i++) {
        enum linexpr_sense sense = p->rows[i].sense;
        double slack = p->rows[i].rhs - row_at(&p->rows[i], bw_Bps, j->study->net.n_dims);
        slack = sense == LINEXPR_LE ? slack : sense == LINEXPR_GE ? -slack : -fabs(slack);
        if (!(slack >= -ALLOC_FEASIBLE_REL * fabs(p->rows[i].rhs)))
            return false;
    }
    return true;
}

static void even_split(struct joint *j)
{
    for (int32_t d = 0; d < j->study->net.n_dims; d++)
        j->ref_Bps[d] = even_Bps(j, d);
}

/* Of any bandwidths that the rows allow. */
static int find_least_usd(struct joint *j, struct err *e)
{
    const struct alloc_problem *p = &j->counted;
    struct lp lp;
    struct lp_result result;
    lp_init(&lp, j->study->net.n_dims, p->rows, p->n_rows);
    memcpy(lp.cost, p->usd_per_Bps, sizeof lp.cost);
    int rc = lp_solve(&result, NULL, &lp, e);
    j->least_usd = p->usd_fixed + (!rc && result.status == LP_OPTIMAL ? result.value : 0);
    j->clash = !rc && result.status == LP_INFEASIBLE;
    return rc;
}

int joint_begin(struct joint *j, const struct design_point *s, struct err *e)
{
    struct step_fn shape = { .n_dims = s->net.n_dims };
    *j = (struct joint){ .study = s, .floors = s->pricing == DESIGN_WHOLE, .last = incumbent_none(0) };
    for (int32_t d = 0; d < s->net.n_dims && j->floors; d++) {
        double step_Bps = topo_port_step_Bps(&s->net, d, &s->parts);
        j->link_Bps[d] = isnan(s->net.dims[d].bw_Bps) && step_Bps > 0 ? step_Bps : 0;
    }
    design_ask(&j->question, s);
    j->question.problem.step = &shape; /* alloc_find_ranges() asks it for the number of dimensions */
    j->counted = alloc_with_factor(&j->question.problem);
    j->ranges = alloc_find_ranges(&j->question.problem);
    j->question.problem.step = NULL;
    even_split(j);
    return find_least_usd(j, e);
}
