/*
 * The optimal face: all B under the rows with T(B) <= t, t being T at the optimum, and where money counts
 * with X(B) <= x, X being what the objective prices. It is convex, and followed with linear programmes.
 *
 * Where a dimension binds with a positive multiplier, T is strictly convex in it and its bandwidth is the
 * same all over the face: it is held. For the others the time becomes cuts. Not T but 1/T is what they are
 * tangents of. Of sums, maxima and multiples of 1/B_d and constants, 1/T is concave (the least of concave
 * functions is, and so is u v/(u + v) for u, v > 0), and where no compute counts it is straight along every
 * ray: one cut at however small a bandwidth finds what T(B) <= t asks of it, where tangents of T itself
 * double it each time.
 *
 * A product T X is the same all along a ray where no compute counts and nothing is spent beside bandwidth:
 * then only the ratios of the held bandwidths are fixed, and a split of scale s (that of the one with the
 * most pull) is as good if T(B) s <= t and X(B) <= x s. This too is convex, and 1/T gives its cuts.
 *
 * No programme is trusted to end on the face: its answer is pulled towards a point known to be on it as far
 * as need be, and the best of these points counts. So whatever is reported or taken is as good as the answer.
 */
#include "alloc/face.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/bound.h"
#include "alloc/lp.h"

enum { D = TOPO_MAX_DIMS };

/* Cuts of one aim, and of all. */
enum { MAX_CUTS = 60, MAX_FACE_CUTS = 20 * MAX_CUTS };

/* Below this share of all pull a dimension is taken as not binding anywhere; also below this share of
 * the value, which is what a proof's own gap may leave there when compute or cost alone decides. */
#define FREE_SHARE 1e-7
#define NOISE_REL  1e-10
/* A limit on time that is kept with this much to spare has no pull. */
#define SPARE_REL 1e-9
/* What a row says this nearly need not be said again. */
#define CAP_REL 1e-11
/* An aim is met this well. */
#define MET_REL 1e-10
/* Bandwidths nearer than this are level. */
#define LEVEL_REL 1e-9
/* Ranges narrower than this are one point. */
#define UNIQUE_REL 1e-6

struct face {
    const struct alloc_problem *problem;
    struct alloc_row *rows; /* the problem's, what keeps to the face, then cuts; shape [n] */
    int32_t n, cap;
    double time_s, gap;       /* gap: of the answer, relative: T is known no better */
    bool may_hold;            /* false: the limit on time has no multipliers but noise */
    int32_t ref;              /* of a face along rays: the dimension that gives the scale; else -1 */
    double ref_Bps, ratio[D]; /* ratio: to that one, of what is held along rays; else 0 */
    double lo_Bps[D], hi_Bps[D];
    double inside_Bps[D]; /* on the face: the mean of n_inside points */
    int32_t n_inside;
    struct lp_again again; /* its linear programme as last solved; rows are only ever added */
};

static double face_scale(const struct face *f, const double *bw_Bps)
{
    return f->ref >= 0 ? bw_Bps[f->ref] / f->ref_Bps : 1;
}

static bool is_on_face(const struct face *f, const double *bw_Bps, double rel)
{
    return step_time(f->problem->step, bw_Bps) * face_scale(f, bw_Bps) <= f->time_s * (1 + rel);
}

static struct alloc_row *face_add_row(struct face *f, enum linexpr_sense sense)
{
    struct alloc_row *row = &f->rows[f->n++];
    *row = (struct alloc_row){ .sense = sense, .unit = 1 };
    return row;
}

/* What is held, in its place as a multiple of the scale: its slopes may be so large that the programme takes
 * what the others do to T for rounding. */
static void fold_held(const struct face *f, struct alloc_row *cut)
{
    for (int32_t d = 0; d < f->problem->step->n_dims; d++) {
        if (f->ref < 0 && f->lo_Bps[d] == f->hi_Bps[d]) {
            cut->rhs -= cut->coef[d] * f->lo_Bps[d];
            cut->coef[d] = 0;
        } else if (f->ref >= 0 && f->ratio[d] > 0 && d != f->ref) {
            cut->coef[f->ref] += cut->coef[d] * f->ratio[d];
            cut->coef[d] = 0;
        }
    }
}

/* scale/t <= 1/T(B) from above: scale/t <= 1/T0 - g.(B - B0)/T0^2, times T0^2. */
static bool add_cut(struct face *f, const double *bw_Bps)
{
    const int32_t n = f->problem->step->n_dims;
    double grad[D] = { 0 }, t = step_time_grad(f->problem->step, bw_Bps, grad);
    double rhs = t + vector_dot(grad, bw_Bps, n);
    if (!isfinite(t * t) || f->n == f->cap)
        return false;
    struct alloc_row *cut = face_add_row(f, LINEXPR_LE);
    memcpy(cut->coef, grad, sizeof cut->coef);
    cut->rhs = rhs;
    if (f->ref >= 0)
        cut->coef[f->ref] += t * t / f->time_s / f->ref_Bps;
    else
        cut->rhs -= t * t / f->time_s;
    fold_held(f, cut);
    f->n -= !(vector_largest(cut->coef, n) > 0);
    return f->n > 0 && cut == &f->rows[f->n - 1];
}

/* What is aimed at: the least of cost.B, or the greatest of the least of the levelled bandwidths. */
static double aimed(const struct face *f, const double *cost, const bool *level, const double *bw_Bps)
{
    double least = INFINITY;
    if (!level)
        return vector_dot(cost, bw_Bps, f->problem->step->n_dims);
    for (int32_t d = 0; d < f->problem->step->n_dims; d++)
        least = level[d] ? fmin(least, bw_Bps[d]) : least;
    return -least;
}

/* From @p bw_Bps towards a point on the face until that is reached: T is convex. */
static void pull_onto_face(const struct face *f, const double *on_Bps, double rel, double *bw_Bps)
{
    double from = 0, to = 1, start_Bps[D], mix_Bps[D] = { 0 };
    if (is_on_face(f, bw_Bps, rel))
        return;
    memcpy(start_Bps, bw_Bps, sizeof start_Bps);
    for (int i = 0; i < 60 && to - from > 1e-15 * to; i++) {
        double share = from > 0 ? 0.5 * (from + to) : to / 16;
        for (int32_t d = 0; d < D; d++)
            mix_Bps[d] = start_Bps[d] + share * (on_Bps[d] - start_Bps[d]);
        *(is_on_face(f, mix_Bps, rel) ? &to : &from) = share;
    }
    for (int32_t d = 0; d < D; d++)
        bw_Bps[d] = to < 1 ? start_Bps[d] + to * (on_Bps[d] - start_Bps[d]) : on_Bps[d];
}

static int solve_aim(struct face *f, const double *cost, const bool *level, struct lp_result *r,
                     struct err *e)
{
    struct lp lp;
    lp_init(&lp, f->problem->step->n_dims, f->rows, f->n);
    memcpy(lp.cost, cost, sizeof lp.cost);
    lp.level = level;
    memcpy(lp.lo_Bps, f->lo_Bps, sizeof lp.lo_Bps);
    memcpy(lp.hi_Bps, f->hi_Bps, sizeof lp.hi_Bps);
    memset(r->bw_Bps, 0, sizeof r->bw_Bps);
    return level ? lp_solve(r, NULL, &lp, e) : lp_solve_again(&f->again, r, &lp, e);
}

/*
 * Best point of the face for a linear aim, or the most level one: each answer of the programme that is not on
 * the face is cut off. False when there is no end to it.
 */
static bool aim(struct face *f, const double *cost, const bool *level, struct lp_result *r, struct err *e)
{
    double best_Bps[D], before_Bps[D] = { 0 };
    memcpy(best_Bps, f->inside_Bps, sizeof best_Bps);
    double best = aimed(f, cost, level, best_Bps);
    for (int32_t i = 0; i < MAX_CUTS; i++) {
        double bw_Bps[D];
        int rc = solve_aim(f, cost, level, r, e);
        if (rc == ERR_LIB) /* the simplex failed */
            *e = (struct err){ 0 };
        if (rc && rc != ERR_LIB)
            return false;
        if (rc == 0 && r->status == LP_UNBOUNDED)
            return false;
        if (rc || r->status != LP_OPTIMAL) /* by rounding: there is a point inside */
            break;
        memcpy(bw_Bps, r->bw_Bps, sizeof bw_Bps);
        double bound = aimed(f, cost, level, bw_Bps);
        pull_onto_face(f, f->inside_Bps, FACE_REL, bw_Bps);
        double here = aimed(f, cost, level, bw_Bps);
        if (here < best) {
            best = here;
            memcpy(best_Bps, bw_Bps, sizeof best_Bps);
        }
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): the same solution, bit by bit */
        if (best - bound <= MET_REL * fabs(best) || memcmp(before_Bps, r->bw_Bps, sizeof before_Bps) == 0 ||
            !add_cut(f, r->bw_Bps))
            break;
        memcpy(before_Bps, r->bw_Bps, sizeof before_Bps);
    }
    r->status = LP_OPTIMAL;
    memcpy(r->bw_Bps, best_Bps, sizeof best_Bps);
    r->value = level ? -best : best;
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

/* What an equality leaves no choice stays too: a tied level of a fabric, or the last part of a total. Returns
 * how many were held. */
static int32_t hold_tied(struct face *f, const double *bw_Bps)
{
    const struct alloc_problem *p = f->problem;
    int32_t n_held = 0;
    for (int32_t i = 0; i < p->n_rows; i++) {
        int32_t n_free = 0, last = -1;
        for (int32_t d = 0; d < p->step->n_dims; d++)
            if (p->rows[i].coef[d] != 0 && f->lo_Bps[d] < f->hi_Bps[d]) {
                n_free++;
                last = d;
            }
        if (p->rows[i].sense != LINEXPR_EQ || n_free != 1)
            continue;
        f->lo_Bps[last] = f->hi_Bps[last] = bw_Bps[last];
        n_held++;
        i = -1; /* earlier rows may have one left now */
    }
    return n_held;
}

/* What every split on the face gives dimension @p d, at scale 1: no leaf takes longer than all, and one that
 * counts has its time fixed by what binds in it. */
static double least_needed(const struct face *f, const struct alloc_bound *b, double least_pull,
                           const double *bw_Bps, int32_t d)
{
    const struct step_fn *step = f->problem->step;
    double least_Bps = 0;
    for (int32_t l = 0; l < step->n_leaves; l++) {
        const double *traffic_B = &step->traffic_B[(ptrdiff_t)l * D], *dual = &b->leaf_dual[(ptrdiff_t)l * D];
        double t = 0;
        for (int32_t k = 0; k < step->n_dims; k++)
            if (f->may_hold && dual[k] * traffic_B[k] > least_pull * bw_Bps[k])
                t = fmax(t, traffic_B[k] / bw_Bps[k]);
        least_Bps = fmax(least_Bps, traffic_B[d] / (t > 0 ? t : f->time_s) * (1 - FACE_REL));
    }
    return least_Bps;
}

/* Hold binding dimensions where they are; returns how many are free to move. */
static int32_t hold_binding(struct face *f, const struct alloc_bound *b, const double *pull,
                            double least_pull, const double *bw_Bps)
{
    const struct step_fn *step = f->problem->step;
    int32_t free_dims = 0;
    for (int32_t d = 0; d < step->n_dims; d++) {
        if (pull[d] > least_pull) {
            f->lo_Bps[d] = f->hi_Bps[d] = bw_Bps[d];
            continue;
        }
        free_dims++;
        f->hi_Bps[d] = INFINITY;
        f->lo_Bps[d] = least_needed(f, b, least_pull, bw_Bps, d);
    }
    return free_dims - hold_tied(f, bw_Bps);
}

/* Along rays binding dimensions keep their ratio, and nothing else is held. */
static void hold_ratios(struct face *f, const struct alloc_bound *b, const double *pull, double least_pull,
                        const double *bw_Bps)
{
    for (int32_t d = 0; d < f->problem->step->n_dims; d++) {
        f->hi_Bps[d] = INFINITY;
        f->ratio[d] = pull[d] > least_pull ? bw_Bps[d] / f->ref_Bps : 0;
        double least_Bps = f->ratio[d] > 0 ? bw_Bps[d] : least_needed(f, b, least_pull, bw_Bps, d);
        if (d == f->ref || !(least_Bps > 0))
            continue;
        struct alloc_row *row = face_add_row(f, f->ratio[d] > 0 ? LINEXPR_EQ : LINEXPR_GE);
        row->coef[d] = 1;
        row->coef[f->ref] = -least_Bps / f->ref_Bps;
    }
}

/* Is the product of T and X the same for half of all bandwidths? Compute that does not count there counts
 * nowhere between. */
static bool is_ray(const struct alloc_problem *p, const double *bw_Bps, double time_s, double spent)
{
    double half_Bps[D] = { 0 };
    for (int32_t d = 0; d < p->step->n_dims; d++)
        half_Bps[d] = 0.5 * bw_Bps[d];
    double half = step_time(p->step, half_Bps) * (0.5 * spent + p->usd_fixed);
    double whole = time_s * (spent + p->usd_fixed);
    return alloc_is_product(p->objective) && whole > 0 && fabs(half - whole) <= FACE_REL * whole;
}

/* By what the row is @p coef times; 0 when it is no multiple of it. */
static double multiple_of(const struct alloc_row *row, const double *coef)
{
    double by = 0;
    for (int32_t d = 0; d < D; d++)
        by = fabs(row->coef[d]) > fabs(by) * fabs(coef[d]) && coef[d] != 0 ? row->coef[d] / coef[d] : by;
    for (int32_t d = 0; d < D; d++)
        if (fabs(row->coef[d] - by * coef[d]) > FACE_REL * fabs(row->coef[d]))
            return 0;
    return by;
}

/*
 * coef.B <= most, what is on the face being @p at: as a row of its own only where no other says so. Between
 * two that are parallel and hardly apart the simplex may find no room.
 */
static void face_cap(struct face *f, const double *coef, double at)
{
    const double most = at + fabs(at) * FACE_REL;
    if (!(vector_largest(coef, D) > 0) || f->n == f->cap)
        return;
    for (int32_t i = 0; i < f->n; i++) {
        struct alloc_row *row = &f->rows[i];
        double by = multiple_of(row, coef);
        bool near = by != 0 && fabs(row->rhs / by - at) <= CAP_REL * fabs(at);
        if (!near)
            continue;
        if (row->sense != LINEXPR_EQ && (row->sense == LINEXPR_GE) == (by > 0)) {
            row->sense = LINEXPR_EQ;
            lp_again_free(&f->again);
        }
        return;
    }
    struct alloc_row *row = face_add_row(f, LINEXPR_LE);
    memcpy(row->coef, coef, sizeof row->coef);
    row->rhs = most;
}

/* The problem's rows, and that no more is spent: X(B) <= X* times the scale. */
static int face_build(struct face *f, double spent, struct err *e)
{
    const struct alloc_problem *p = f->problem;
    f->cap = p->n_rows + D + 8 + MAX_FACE_CUTS;
    f->rows = calloc((size_t)f->cap, sizeof *f->rows);
    if (!f->rows)
        return err_nomem(e, "the optimal face");
    if (p->n_rows)
        memcpy(f->rows, p->rows, (size_t)p->n_rows * sizeof *f->rows);
    f->n = p->n_rows;
    if (isfinite(spent) && f->ref < 0) {
        face_cap(f, p->usd_per_Bps, spent);
    } else if (isfinite(spent)) {
        struct alloc_row *row = face_add_row(f, LINEXPR_LE);
        memcpy(row->coef, p->usd_per_Bps, sizeof row->coef);
        row->coef[f->ref] -= spent * (1 + FACE_REL) / f->ref_Bps;
    }
    return 0;
}

/* One more point on the face: pulling towards the mean of many leaves it early. */
static void note_inside(struct face *f, const double *bw_Bps)
{
    f->n_inside++;
    for (int32_t d = 0; d < D; d++)
        f->inside_Bps[d] += (bw_Bps[d] - f->inside_Bps[d]) / f->n_inside;
}

static void restart_inside(struct face *f, const double *bw_Bps)
{
    f->n_inside = 0;
    note_inside(f, bw_Bps);
}

/* How far each bandwidth may move within the optimal face: two linear programmes per dimension. */
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
        if (aim(f, cost, NULL, &r, e)) {
            out->lo_Bps[d] = fmin(r.bw_Bps[d], out->bw_Bps[d]);
            note_inside(f, r.bw_Bps);
        }
        cost[d] = -1;
        bool found = e->code == ERR_OK && aim(f, cost, NULL, &r, e);
        if (found || (e->code == ERR_OK && r.status == LP_UNBOUNDED))
            out->hi_Bps[d] = found ? fmax(r.bw_Bps[d], out->bw_Bps[d]) : INFINITY;
        if (found)
            note_inside(f, r.bw_Bps);
        if (out->hi_Bps[d] - out->lo_Bps[d] > UNIQUE_REL * total)
            out->unique = false;
    }
    return e->code;
}

/* Cap the face at the least of an aim that was found: cheapest, then next aim. */
static bool narrow(struct face *f, const double *cost, struct lp_result *r, struct err *e)
{
    if (!aim(f, cost, NULL, r, e))
        return false;
    face_cap(f, cost, r->value);
    restart_inside(f, r->bw_Bps);
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
        restart_inside(f, trial.bw_Bps);
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

/* Take the point, as far as rounding in the programmes leaves it feasible and as good as before. */
static void face_move_to(struct alloc_answer *out, const struct face *f, const double *bw_Bps)
{
    const struct alloc_problem *p = f->problem;
    const double rel = alloc_is_limited(p->objective) ? 0.9 * FACE_REL : fmax(10 * FACE_REL, f->gap);
    double moved[D] = { 0 };
    memcpy(moved, bw_Bps, (size_t)p->step->n_dims * sizeof *moved);
    if (!alloc_repair(p, moved))
        return;
    pull_onto_face(f, out->bw_Bps, 0.5 * rel, moved);
    if (alloc_repair(p, moved) && is_on_face(f, moved, rel))
        memcpy(out->bw_Bps, moved, sizeof moved);
}

/* The cheapest, where prices are what is priced twice the same; then the most even. */
static void choose(struct face *f, struct alloc_answer *out, struct err *e)
{
    const struct alloc_problem *p = f->problem;
    struct lp_result r;
    if (!narrow(f, p->tie_usd_per_Bps ? p->tie_usd_per_Bps : p->usd_per_Bps, &r, e))
        return;
    if (f->ref >= 0 && !narrow(f, p->usd_per_Bps, &r, e))
        return;
    level_out(f, &r, e);
    if (e->code == ERR_OK)
        face_move_to(out, f, r.bw_Bps);
}

int alloc_explore_face(struct alloc_answer *out, const struct alloc_problem *p, const struct alloc_bound *b,
                       double gap, struct err *e)
{
    const int32_t n = p->step->n_dims;
    const bool limited = alloc_is_limited(p->objective);
    double time_s = step_time(p->step, out->bw_Bps), spent = vector_dot(p->usd_per_Bps, out->bw_Bps, n);
    double pull[D] = { 0 }, all = 0;
    struct face f = { .problem = p,
                      .time_s = limited ? fmax(time_s, p->time_limit_s) : time_s,
                      .gap = fmin(gap, ALLOC_GAP),
                      .ref = -1 };
    out->unique = true;
    memcpy(out->lo_Bps, out->bw_Bps, sizeof out->lo_Bps);
    memcpy(out->hi_Bps, out->bw_Bps, sizeof out->hi_Bps);
    f.may_hold = !limited || time_s > p->time_limit_s * (1 - SPARE_REL);
    if (f.may_hold)
        find_pull(p, b, out->bw_Bps, pull);
    for (int32_t d = 0; d < n; d++) {
        all += pull[d];
        f.ref = f.ref < 0 || pull[d] > pull[f.ref] ? d : f.ref;
    }
    double least_pull = FREE_SHARE * all +
                        fmax(NOISE_REL, f.gap) * (limited ? b->cost_weight * spent : b->time_weight * time_s);
    if (!(pull[f.ref] > least_pull) || !is_ray(p, out->bw_Bps, time_s, spent))
        f.ref = -1;
    else
        f.ref_Bps = out->bw_Bps[f.ref];
    if (f.ref < 0 && hold_binding(&f, b, pull, least_pull, out->bw_Bps) == 0)
        return 0;
    bool free_of_cost = alloc_is_time(p->objective) || (!limited && !(time_s > 0));
    int rc = face_build(&f, free_of_cost ? (double)INFINITY : spent, e);
    if (!rc && f.ref >= 0)
        hold_ratios(&f, b, pull, least_pull, out->bw_Bps);
    restart_inside(&f, out->bw_Bps);
    if (!rc)
        rc = find_ranges(&f, out, e);
    if (!rc && !out->unique)
        choose(&f, out, e);
    for (int32_t d = 0; d < n; d++) {
        out->lo_Bps[d] = fmin(out->lo_Bps[d], out->bw_Bps[d]);
        out->hi_Bps[d] = fmax(out->hi_Bps[d], out->bw_Bps[d]);
    }
    lp_again_free(&f.again);
    free(f.rows);
    return e->code;
}
