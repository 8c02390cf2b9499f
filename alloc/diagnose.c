#include "alloc/work.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "alloc/bound.h"
#include "alloc/lp.h"

enum { D = TOPO_MAX_DIMS };

void alloc_conclude(struct alloc_answer *out, enum alloc_status status, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(out->reason, sizeof out->reason, fmt, ap);
    va_end(ap);
    out->status = status;
}

bool alloc_carries_traffic(const struct step_fn *f, int32_t d)
{
    for (int32_t l = 0; l < f->n_leaves; l++)
        if (f->traffic_B[(ptrdiff_t)l * D + d] > 0)
            return true;
    return false;
}

int alloc_least_price(double *least, struct alloc_bound *b, const struct alloc_problem *p, struct err *e)
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
        alloc_conclude(out, ALLOC_INFEASIBLE, "these constraints cannot hold together: %s", names);
    return rc;
}

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

int alloc_diagnose(struct alloc_answer *out, const struct alloc_problem *p, struct err *e)
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

/* A leaf is as slow as its slowest dimension: one that is limited is enough for it to have a least time. */
int alloc_find_unbounded(int32_t *dim, const struct alloc_problem *p, bool free_only, struct err *e)
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
