#include "alloc/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/bound.h"
#include "alloc/lp.h"
#include "alloc/vector.h"
#include "alloc/work.h"

enum { D = TOPO_MAX_DIMS };

const char *const alloc_objective_names[] = { "time", "utilization", "perf_per_cost", "cost", NULL };
const char *const alloc_status_names[] = {
    "solved", "infeasible", "unbounded", "ill-posed", "stalled", NULL
};

double alloc_cost_usd(const struct alloc_problem *p, const double *bw_Bps)
{
    return p->usd_fixed + vector_dot(p->usd_per_Bps, bw_Bps, p->step->n_dims);
}

bool alloc_has_split(const struct alloc_answer *a)
{
    return a->status == ALLOC_SOLVED || (a->status == ALLOC_STALLED && isfinite(a->value));
}

void alloc_answer_free(struct alloc_answer *a)
{
    for (int32_t i = 0; i < a->n_bounds; i++)
        alloc_bound_free(&a->bounds[i]);
    free(a->bounds);
    free(a->shadow);
    *a = (struct alloc_answer){ 0 };
}

static int keep_bound(struct alloc_answer *out, const struct interior *w, struct err *e)
{
    out->bounds = calloc(1, sizeof *out->bounds);
    if (!out->bounds)
        return err_nomem(e, "a lower bound");
    int rc = interior_bound(w, &out->bounds[0], e);
    out->n_bounds = rc == 0;
    return rc;
}

/* Time alone, or cost alone under a limit on time: one convex problem. */
static int solve_convex(struct alloc_answer *out, const struct alloc_problem *p, struct interior *w,
                        struct err *e)
{
    bool cost = p->objective == ALLOC_COST;
    int32_t unbounded;
    int rc = alloc_find_unbounded(&unbounded, p, cost, e);
    if (rc)
        return rc;
    if (unbounded >= 0) {
        alloc_conclude(out, ALLOC_UNBOUNDED,
                       cost ? "%s has no price and nothing limits its bandwidth"
                            : "more bandwidth on %s always helps and nothing limits it; need a total, a "
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
    if (!isfinite(r.value) || !isfinite(r.bound))
        return 0;
    memcpy(out->bw_Bps, r.bw_Bps, sizeof out->bw_Bps);
    out->value = r.value + (cost ? p->usd_fixed : 0);
    out->lower_bound = r.bound + (cost ? p->usd_fixed : 0);
    return keep_bound(out, w, e);
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
    double bw_Bps[D], least_s = a.time_s;
    for (int32_t d = 0; d < D; d++)
        bw_Bps[d] = INFINITY;
    if (a.status == ALLOC_UNBOUNDED)
        least_s = step_time(p->step, bw_Bps);
    if ((a.status == ALLOC_SOLVED && least_s > p->time_limit_s) ||
        (a.status == ALLOC_UNBOUNDED && least_s >= p->time_limit_s))
        alloc_conclude(out, ALLOC_INFEASIBLE, "time_limit_s is %.9g, need more than %.9g, the least time %s",
                       p->time_limit_s, least_s,
                       a.status == ALLOC_SOLVED ? "under the constraints" : "at any bandwidth");
    alloc_answer_free(&a);
    return 0;
}

/* No collective sends anything: the cheapest split the rows allow, by linear programme. */
static int solve_idle(struct alloc_answer *out, const struct alloc_problem *p, struct err *e)
{
    struct lp lp;
    struct lp_result r;
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
    int32_t money = p->objective == ALLOC_TIME;
    int rc = lp_solve(&r, out->bounds[money].row_dual, &lp, e);
    if (rc || r.status != LP_OPTIMAL)
        return rc;
    memcpy(out->bw_Bps, r.bw_Bps, sizeof out->bw_Bps);
    out->bounds[money].cost_weight = 1;
    out->bounds[money].value = r.value;
    out->bounds[!money].time_weight = 1;
    alloc_bound_balance(&out->bounds[!money], p);
    out->bounds[!money].value = time_s;
    double usd = p->usd_fixed + r.value;
    out->value = p->objective == ALLOC_COST ? usd : p->objective == ALLOC_TIME ? time_s : time_s * usd;
    out->lower_bound = out->value;
    if (p->objective == ALLOC_COST && time_s > p->time_limit_s)
        alloc_conclude(out, ALLOC_INFEASIBLE,
                       "time_limit_s is %.9g, need at least %.9g, which is compute alone", p->time_limit_s,
                       time_s);
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
    if (p->objective != ALLOC_PERF_PER_COST && p->objective != ALLOC_UTILIZATION)
        return 1;
    return p->step->n_leaves == 0 ? a->time_s : a->cost_usd;
}

static int finish(struct alloc_answer *out, const struct alloc_problem *p, struct err *e)
{
    double time_s = step_time(p->step, out->bw_Bps);
    double usd = vector_dot(p->usd_per_Bps, out->bw_Bps, p->step->n_dims);
    bool money = p->objective != ALLOC_TIME;
    const struct alloc_bound *b = &out->bounds[out->best_bound];
    int rc = alloc_explore_face(out, p, b, p->objective == ALLOC_COST ? p->time_limit_s : time_s,
                                money ? usd : (double)INFINITY, e);
    if (rc)
        return rc;
    out->time_s = step_time(p->step, out->bw_Bps);
    out->cost_usd = alloc_cost_usd(p, out->bw_Bps);
    out->value = p->objective == ALLOC_TIME   ? out->time_s
                 : p->objective == ALLOC_COST ? out->cost_usd
                                              : out->time_s * out->cost_usd;
    double gap = relative_gap(out->value, out->lower_bound);
    out->gap = fmax(gap, 0);
    out->status = fabs(gap) <= ALLOC_GAP ? ALLOC_SOLVED : ALLOC_STALLED;
    if (out->status == ALLOC_STALLED)
        alloc_conclude(out, ALLOC_STALLED,
                       "the split is feasible, its distance from the optimum is proved to %.2g only",
                       out->gap);
    double scale = shadow_scale(out, p);
    for (int32_t i = 0; i < p->n_rows; i++)
        out->shadow[i] = scale * (p->rows[i].sense == LINEXPR_GE ? -b->row_dual[i] : b->row_dual[i]);
    return 0;
}

static int solve(struct alloc_answer *out, const struct alloc_problem *p, struct err *e)
{
    struct interior *w = NULL;
    int rc = interior_build(&w, p, e);
    if (rc)
        return rc;
    bool product = p->objective == ALLOC_PERF_PER_COST || p->objective == ALLOC_UTILIZATION;
    rc = p->step->n_leaves == 0 ? solve_idle(out, p, e)
         : product              ? alloc_solve_product(out, p, w, e)
                                : solve_convex(out, p, w, e);
    interior_free(w);
    return rc;
}

/* Utilization is T_comm * total: the same product with every price 1. */
static struct alloc_problem with_prices(const struct alloc_problem *p)
{
    struct alloc_problem q = *p;
    if (p->objective == ALLOC_UTILIZATION) {
        q.usd_fixed = 0;
        for (int32_t d = 0; d < p->step->n_dims; d++)
            q.usd_per_Bps[d] = 1;
    }
    return q;
}

int alloc_solve(struct alloc_answer *out, const struct alloc_problem *p, struct err *e)
{
    *out = (struct alloc_answer){ .status = ALLOC_STALLED, .n_rows = p->n_rows, .value = NAN };
    out->shadow = calloc((size_t)p->n_rows + 1, sizeof *out->shadow);
    if (!out->shadow)
        return err_nomem(e, "shadow prices");

    struct alloc_problem q = with_prices(p);
    int rc = solve(out, &q, e);
    if (!rc && out->status == ALLOC_STALLED && !isnan(out->value))
        rc = finish(out, &q, e);
    else if (!rc && out->status == ALLOC_STALLED)
        rc = alloc_diagnose(out, &q, e);
    if (!rc && out->status == ALLOC_STALLED && isnan(out->value) && q.objective == ALLOC_COST)
        rc = diagnose_limit(out, &q, e);
    if (!rc && out->status == ALLOC_STALLED && !out->reason[0])
        alloc_conclude(out, ALLOC_STALLED, "no feasible split was found");
    if (!rc && p->objective == ALLOC_UTILIZATION && out->status == ALLOC_SOLVED)
        out->cost_usd = alloc_cost_usd(p, out->bw_Bps);
    if (rc)
        alloc_answer_free(out);
    return rc;
}
