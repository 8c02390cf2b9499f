#include "alloc/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/lp.h"
#include "alloc/repair.h"
#include "alloc/vector.h"

enum { D = TOPO_MAX_DIMS };

/* A row that its own linear programme cannot leave by this share of its largest part holds with equality. */
#define IMPLIED_REL 1e-9

/* Keeping this share clear is inside enough; no programme is spent on it. */
#define CLEAR_REL 1e-2

struct search {
    const struct alloc_problem *problem;
    struct lp lp;
    double sum_Bps[D]; /* of the vertices found */
    int32_t n;
};

static void mean_of(const struct search *s, double *bw_Bps)
{
    for (int32_t d = 0; d < s->lp.n_dims; d++)
        bw_Bps[d] = s->sum_Bps[d] / s->n;
}

/* One more vertex, the farthest along -cost; false when the programme has none. */
static bool add_vertex(struct search *s, struct lp_result *r, struct err *e)
{
    if (lp_solve(r, NULL, &s->lp, e) || r->status != LP_OPTIMAL)
        return false;
    for (int32_t d = 0; d < s->lp.n_dims; d++)
        s->sum_Bps[d] += r->bw_Bps[d];
    s->n++;
    return true;
}

static void visit_row(struct search *s, struct alloc_inside *out, int32_t i, struct err *e)
{
    const struct alloc_row *row = &s->problem->rows[i];
    struct lp_result r;
    double mean[D] = { 0 };
    mean_of(s, mean);
    if (row->sense == LINEXPR_EQ || vector_largest(row->coef, s->lp.n_dims) == 0 ||
        alloc_room(row, mean, s->lp.n_dims) > CLEAR_REL)
        return;
    for (int32_t d = 0; d < s->lp.n_dims; d++)
        s->lp.cost[d] = row->sense == LINEXPR_GE ? -row->coef[d] : row->coef[d];
    if (add_vertex(s, &r, e))
        out->implied[i] = alloc_room(row, r.bw_Bps, s->lp.n_dims) < IMPLIED_REL;
}

static void visit_dim(struct search *s, int32_t dim, struct err *e)
{
    double mean[D] = { 0 };
    struct lp_result r;
    mean_of(s, mean);
    if (mean[dim] > CLEAR_REL * vector_largest(mean, s->lp.n_dims))
        return;
    for (int32_t d = 0; d < s->lp.n_dims; d++)
        s->lp.cost[d] = d == dim ? -1 : 0;
    add_vertex(s, &r, e);
}

/* A tenth of the room there is, or a thousandth of the row; and no bandwidth gone to nothing. */
static bool stays_clear(const struct alloc_inside *in, const struct alloc_problem *p, const double *bw_Bps,
                        const double *guess_Bps)
{
    const int32_t n = p->step->n_dims;
    for (int32_t i = 0; i < p->n_rows; i++)
        if (p->rows[i].sense != LINEXPR_EQ && !in->implied[i] &&
            alloc_room(&p->rows[i], bw_Bps, n) < fmin(1e-3, 0.1 * alloc_room(&p->rows[i], in->bw_Bps, n)))
            return false;
    for (int32_t d = 0; d < n; d++)
        if (!(bw_Bps[d] > 1e-3 * fmin(guess_Bps[d], in->bw_Bps[d])))
            return false;
    return true;
}

int alloc_find_inside(struct alloc_inside *out, const struct alloc_problem *p, struct err *e)
{
    const int32_t n = p->step->n_dims;
    struct search s = { .problem = p };
    struct lp_result r;
    *out = (struct alloc_inside){ .implied = calloc((size_t)p->n_rows + 1, sizeof *out->implied) };
    if (!out->implied)
        return err_nomem(e, "a point inside the constraints");
    lp_init(&s.lp, n, p->rows, p->n_rows);
    double most = 1;
    if (add_vertex(&s, &r, e)) {
        /* Far enough for what has no end. */
        for (int32_t i = 0; i < p->n_rows; i++)
            most = fmax(most, fabs(p->rows[i].rhs) / fmax(vector_largest(p->rows[i].coef, n), 1e-300));
        for (int32_t d = 0; d < n; d++)
            s.lp.hi_Bps[d] = 1e3 * most;
        for (int32_t i = 0; i < p->n_rows; i++)
            visit_row(&s, out, i, e);
        for (int32_t d = 0; d < n; d++)
            visit_dim(&s, d, e);
        mean_of(&s, out->bw_Bps);
        out->found = alloc_repair(p, out->bw_Bps);
    }
    return e->code;
}

void alloc_approach(double *bw_Bps, const struct alloc_inside *in, const struct alloc_problem *p,
                    const double *guess_Bps)
{
    static const double shares[] = { 1, 1 - 1e-9, 1 - 1e-6, 0.999, 0.9, 0.5, 0 };
    const int32_t n = p->step->n_dims;
    double goal_Bps[D] = { 0 };
    memcpy(goal_Bps, guess_Bps, (size_t)n * sizeof *goal_Bps);
    bool feasible = alloc_repair(p, goal_Bps), clear = false;
    for (size_t k = feasible ? 0 : sizeof shares / sizeof shares[0] - 1; !clear; k++) {
        for (int32_t d = 0; d < n; d++)
            bw_Bps[d] = in->bw_Bps[d] + shares[k] * (goal_Bps[d] - in->bw_Bps[d]);
        clear = shares[k] == 0 || stays_clear(in, p, bw_Bps, guess_Bps);
    }
}

void alloc_inside_free(struct alloc_inside *in)
{
    free(in->implied);
    *in = (struct alloc_inside){ 0 };
}
