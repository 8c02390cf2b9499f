#include "alloc/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/lp.h"
#include "alloc/repair.h"
#include "alloc/vector.h"

enum { D = TOPO_MAX_DIMS, MAX_CUTS = 60 };

/* Slack on T and cost that the answer's own rounding needs. */
#define FACE_REL 1e-12
/* Below this share of all pull a dimension is taken as not binding anywhere; also below this share of
 * T, which is what a proof's own gap may leave there when compute alone decides. */
#define FREE_SHARE 1e-7
#define NOISE_REL  1e-10
/* Bandwidths nearer than this are level. */
#define LEVEL_REL 1e-9
/* Ranges narrower than this are one point. */
#define UNIQUE_REL 1e-6

/*
 * The optimal face: all B with T(B) <= T* under the rows. Where a dimension binds with a
 * positive multiplier, T is strictly convex in it and its bandwidth is the same all
 * over the face. The others move, and T(B) <= T* becomes a few tangents: each
 * linear programme over the face adds the tangent of T at its answer until that
 * answer is on the face.
 */
struct face {
    const struct alloc_problem *problem;
    struct alloc_row *rows; /* the problem's, the cost cap, then cuts; shape [n] */
    int32_t n, cap;
    double time_s;
    double lo_Bps[D], hi_Bps[D];
};

/* T(B) <= T* from below: T(B0) + g.(B - B0) <= T*. */
static void add_cut(struct face *f, const double *bw_Bps)
{
    struct alloc_row *cut = &f->rows[f->n++];
    *cut = (struct alloc_row){ .sense = LINEXPR_LE, .unit = 1 };
    double t = step_time_grad(f->problem->step, bw_Bps, cut->coef);
    cut->rhs = f->time_s - t + vector_dot(cut->coef, bw_Bps, f->problem->step->n_dims);
}

/* Best point of the face for a linear aim, or the most level one; false when the programme has no answer
 * there. */
static bool aim(struct face *f, const double *cost, const bool *level, struct lp_result *r, struct err *e)
{
    const int32_t n = f->problem->step->n_dims;
    for (int32_t i = 0; i < MAX_CUTS; i++) {
        struct lp lp;
        lp_init(&lp, n, f->rows, f->n);
        memcpy(lp.cost, cost, sizeof lp.cost);
        lp.level = level;
        memcpy(lp.lo_Bps, f->lo_Bps, sizeof lp.lo_Bps);
        memcpy(lp.hi_Bps, f->hi_Bps, sizeof lp.hi_Bps);
        if (lp_solve(r, NULL, &lp, e) || r->status != LP_OPTIMAL)
            return false;
        if (step_time(f->problem->step, r->bw_Bps) <= f->time_s * (1 + FACE_REL) || f->n == f->cap)
            return true;
        add_cut(f, r->bw_Bps);
    }
    return true;
}

static void find_pull(const struct alloc_problem *p, const struct alloc_bound *b, const double *bw_Bps,
                      double *pull)
{
    for (int32_t d = 0; d < p->step->n_dims; d++) {
        pull[d] = 0;
        for (int32_t l = 0; l < p->step->n_leaves; l++)
            if (bw_Bps[d] > 0)
                pull[d] +=
                    b->leaf_dual[(ptrdiff_t)l * D + d] * p->step->traffic_B[(ptrdiff_t)l * D + d] / bw_Bps[d];
    }
}

/* Hold binding dimensions where they are; returns how many are free to move. */
static int32_t hold_binding(struct face *f, const struct alloc_bound *b, const double *bw_Bps)
{
    const struct step_fn *step = f->problem->step;
    double pull[D], all = 0, total = 0;
    int32_t free_dims = 0;
    find_pull(f->problem, b, bw_Bps, pull);
    for (int32_t d = 0; d < step->n_dims; d++) {
        all += pull[d];
        total += bw_Bps[d];
    }
    double least_pull = FREE_SHARE * all + NOISE_REL * b->time_weight * f->time_s;
    for (int32_t d = 0; d < step->n_dims; d++) {
        if (pull[d] > least_pull) {
            f->lo_Bps[d] = f->hi_Bps[d] = bw_Bps[d];
            continue;
        }
        free_dims++;
        f->hi_Bps[d] = INFINITY;
        /* A leaf that counts has its time fixed, and needs this much here. A start for the cuts. */
        for (int32_t l = 0; l < step->n_leaves; l++) {
            const double *traffic = &step->traffic_B[(ptrdiff_t)l * D];
            const double *dual = &b->leaf_dual[(ptrdiff_t)l * D];
            double t = 0;
            for (int32_t k = 0; k < step->n_dims; k++)
                if (dual[k] * traffic[k] > least_pull * bw_Bps[k])
                    t = fmax(t, traffic[k] / bw_Bps[k]);
            if (t > 0)
                f->lo_Bps[d] = fmax(f->lo_Bps[d], traffic[d] / t * (1 - FACE_REL));
        }
        if (f->lo_Bps[d] == 0 && alloc_carries_traffic(step, d))
            f->lo_Bps[d] = 1e-9 * total;
    }
    return free_dims;
}

static int face_build(struct face *f, const struct alloc_problem *p, double usd, struct err *e)
{
    f->cap = p->n_rows + 1 + MAX_CUTS * 4;
    f->rows = calloc((size_t)f->cap, sizeof *f->rows);
    if (!f->rows)
        return err_nomem(e, "the optimal face");
    if (p->n_rows)
        memcpy(f->rows, p->rows, (size_t)p->n_rows * sizeof *f->rows);
    f->n = p->n_rows;
    if (isfinite(usd)) {
        f->rows[f->n] = (struct alloc_row){ .sense = LINEXPR_LE, .rhs = usd * (1 + FACE_REL), .unit = 1 };
        memcpy(f->rows[f->n++].coef, p->usd_per_Bps, sizeof p->usd_per_Bps);
    }
    return 0;
}

static int find_ranges(struct face *f, struct alloc_answer *out, struct err *e)
{
    const int32_t n = f->problem->step->n_dims;
    double total = 0;
    for (int32_t d = 0; d < n; d++)
        total += out->bw_Bps[d];
    for (int32_t d = 0; d < n && e->code == ERR_OK; d++) {
        struct lp_result r;
        double cost[D] = { 0 };
        if (f->lo_Bps[d] == f->hi_Bps[d])
            continue;
        cost[d] = 1;
        if (aim(f, cost, NULL, &r, e))
            out->lo_Bps[d] = fmin(r.bw_Bps[d], out->bw_Bps[d]);
        cost[d] = -1;
        bool found = aim(f, cost, NULL, &r, e);
        if (found || (e->code == ERR_OK && r.status == LP_UNBOUNDED))
            out->hi_Bps[d] = found ? fmax(r.bw_Bps[d], out->bw_Bps[d]) : INFINITY;
        if (out->hi_Bps[d] - out->lo_Bps[d] > UNIQUE_REL * total)
            out->unique = false;
    }
    return e->code;
}

/* Cap the face at the least of an aim, and at most @p more of it: cheapest, then next aim. */
static bool narrow(struct face *f, const double *cost, struct lp_result *r, struct err *e)
{
    if (!aim(f, cost, NULL, r, e) || f->n == f->cap)
        return false;
    struct alloc_row *row = &f->rows[f->n++];
    *row = (struct alloc_row){ .sense = LINEXPR_LE, .unit = 1 };
    memcpy(row->coef, cost, D * sizeof *cost);
    row->rhs = r->value + fabs(r->value) * FACE_REL;
    return true;
}

/* Which of the levelled bandwidths cannot rise above @p least? They stay where they are. */
static bool hold_stuck(struct face *f, bool *level, double least, struct err *e)
{
    bool any = false, stuck[D] = { false };
    for (int32_t d = 0; d < f->problem->step->n_dims; d++) {
        struct lp_result r;
        double cost[D] = { 0 };
        cost[d] = -1;
        stuck[d] = level[d] && aim(f, cost, NULL, &r, e) && r.bw_Bps[d] <= least * (1 + LEVEL_REL);
        any = any || stuck[d];
    }
    for (int32_t d = 0; d < f->problem->step->n_dims; d++)
        level[d] = level[d] && !stuck[d];
    return any;
}

/* Most even: raise the least bandwidth as far as it goes, hold what cannot rise any further, go on with the
 * rest. */
static void level_out(struct face *f, struct lp_result *r, struct err *e)
{
    const int32_t n = f->problem->step->n_dims;
    const double none[D] = { 0 };
    bool level[D], more = true;
    for (int32_t d = 0; d < n; d++)
        level[d] = f->lo_Bps[d] < f->hi_Bps[d];
    for (int32_t round = 0; round < n && more; round++) {
        struct lp_result trial;
        if (!aim(f, none, level, &trial, e))
            return;
        *r = trial;
        for (int32_t d = 0; d < n; d++)
            if (level[d])
                f->lo_Bps[d] = fmax(f->lo_Bps[d], trial.value * (1 - FACE_REL));
        more = hold_stuck(f, level, trial.value, e);
        for (int32_t d = 0, left = 0; d < n; d++) {
            left += level[d];
            more = more && (d + 1 < n || left > 0);
        }
    }
}

/* Take the point if rounding in the programmes left it feasible and as good as before. */
static void move_to(struct alloc_answer *out, const struct alloc_problem *p, double time_s,
                    const double *bw_Bps)
{
    double moved[D] = { 0 };
    memcpy(moved, bw_Bps, (size_t)p->step->n_dims * sizeof *moved);
    if (alloc_repair(p, moved) && step_time(p->step, moved) <= time_s * (1 + 10 * FACE_REL))
        memcpy(out->bw_Bps, moved, sizeof moved);
}

int alloc_explore_face(struct alloc_answer *out, const struct alloc_problem *p, const struct alloc_bound *b,
                       double time_s, double usd, struct err *e)
{
    struct face f = { .problem = p, .time_s = time_s };
    struct lp_result r;
    out->unique = true;
    memcpy(out->lo_Bps, out->bw_Bps, sizeof out->lo_Bps);
    memcpy(out->hi_Bps, out->bw_Bps, sizeof out->hi_Bps);
    if (hold_binding(&f, b, out->bw_Bps) == 0)
        return 0;
    int rc = face_build(&f, p, usd, e);
    if (!rc)
        rc = find_ranges(&f, out, e);
    if (!rc && !out->unique && narrow(&f, p->usd_per_Bps, &r, e)) {
        level_out(&f, &r, e);
        move_to(out, p, time_s, r.bw_Bps);
    }
    free(f.rows);
    return e->code;
}
