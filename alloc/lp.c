/*
 * Rows of the split problem as linear algebra: orthonormal bases and least squares with signs (Lawson and
 * Hanson, Solving Least Squares Problems, 1974, chapter 23), how far a split is outside a row and the way
 * back, linear programmes over bandwidths by GLPK, smallest sets of rows that clash, and a point well inside
 * all rows.
 */
#include "alloc/lp.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/simplex.h"

/* What is left of v beside the vectors taken in, and its parts along them. Returns its length. */
static double split_off(const struct basis *b, const double *v, double *rest, double *r)
{
    for (int32_t d = 0; d < b->n_dims; d++)
        rest[d] = v[d];
    for (int32_t j = 0; j < b->n; j++)
        r[j] = 0;
    /* Twice: after one pass what is left of a nearly dependent vector still leans on the others. */
    for (int pass = 0; pass < 2; pass++)
        for (int32_t j = 0; j < b->n; j++) {
            double along = vector_dot(rest, b->q[j], b->n_dims);
            r[j] += along;
            for (int32_t d = 0; d < b->n_dims; d++)
                rest[d] -= along * b->q[j][d];
        }
    return sqrt(vector_dot(rest, rest, b->n_dims));
}

/* Gram-Schmidt; a vector that depends on those before it (to within BASIS_REL) is refused. */
bool basis_add(struct basis *b, const double *v)
{
    double rest[BASIS_DIMS], r[BASIS_DIMS], whole = sqrt(vector_dot(v, v, b->n_dims));
    if (!(whole > 0) || b->n == b->n_dims)
        return false;
    double left = split_off(b, v, rest, r);
    if (!(left > BASIS_REL * whole))
        return false;
    for (int32_t j = 0; j < b->n; j++)
        b->r[b->n][j] = r[j];
    b->r[b->n][b->n] = left;
    for (int32_t d = 0; d < b->n_dims; d++)
        b->q[b->n][d] = rest[d] / left;
    b->n++;
    return true;
}

void basis_nearest(const struct basis *b, const double *target, double *p)
{
    for (int32_t j = b->n - 1; j >= 0; j--) {
        p[j] = vector_dot(b->q[j], target, b->n_dims);
        for (int32_t k = j + 1; k < b->n; k++)
            p[j] -= p[k] * b->r[k][j];
        p[j] /= b->r[j][j];
    }
}

/* The columns in use, in the order they came. */
struct passive {
    int32_t list[BASIS_DIMS], n;
    struct basis basis;
};

static void take_in(struct passive *in, const double (*columns)[BASIS_DIMS], int32_t i)
{
    if (basis_add(&in->basis, columns[i]))
        in->list[in->n++] = i;
}

static void drop_zeros(struct passive *in, const double (*columns)[BASIS_DIMS], const bool *is_free,
                       const double *p)
{
    struct passive kept = { .basis = { .n_dims = in->basis.n_dims } };
    for (int32_t k = 0; k < in->n; k++)
        if (is_free[in->list[k]] || p[in->list[k]] > 0)
            take_in(&kept, columns, in->list[k]);
    *in = kept;
}

/* Move p towards the fit of the columns in use until it is reached or an entry is 0, which goes. */
static void fit_settle(struct passive *in, const double (*columns)[BASIS_DIMS], const bool *is_free,
                       const double *target, double *p)
{
    for (int32_t most = in->n; most > 0 && in->n; most--) {
        double fit[BASIS_DIMS], step = 1;
        int32_t stop = -1;
        basis_nearest(&in->basis, target, fit);
        for (int32_t k = 0; k < in->n; k++) {
            const int32_t i = in->list[k];
            if (!is_free[i] && fit[k] <= 0 && p[i] <= step * (p[i] - fit[k])) {
                step = p[i] > fit[k] ? p[i] / (p[i] - fit[k]) : 0;
                stop = i;
            }
        }
        for (int32_t k = 0; k < in->n; k++)
            p[in->list[k]] += step * (fit[k] - p[in->list[k]]);
        if (stop < 0)
            return;
        p[stop] = 0;
        for (int32_t k = 0; k < in->n; k++)
            if (!is_free[in->list[k]])
                p[in->list[k]] = fmax(p[in->list[k]], 0);
        drop_zeros(in, columns, is_free, p);
    }
}

/* The column outside that points most along what is missing; -1 when none does. */
static int32_t find_entering(const struct passive *in, const double (*columns)[BASIS_DIMS], int32_t n,
                             const double *target, const double *p)
{
    const int32_t n_dims = in->basis.n_dims;
    double rest[BASIS_DIMS], most = 1e-15 * sqrt(vector_dot(target, target, n_dims));
    int32_t best = -1;
    for (int32_t d = 0; d < n_dims; d++) {
        rest[d] = target[d];
        for (int32_t k = 0; k < in->n; k++)
            rest[d] -= p[in->list[k]] * columns[in->list[k]][d];
    }
    for (int32_t i = 0; i < n; i++) {
        double along =
            vector_dot(columns[i], rest, n_dims) / sqrt(vector_dot(columns[i], columns[i], n_dims));
        bool inside = false;
        for (int32_t k = 0; k < in->n; k++)
            inside = inside || in->list[k] == i;
        if (!inside && along > most) {
            most = along;
            best = i;
        }
    }
    return best;
}

/* Least squares with sign constraints by active sets (Lawson and Hanson). At most 3 n changes: each makes the
 * residual smaller, rounding aside. */
void basis_fit(double *p, const double (*columns)[BASIS_DIMS], const bool *is_free, int32_t n, int32_t n_dims,
               const double *target)
{
    struct passive in = { .basis = { .n_dims = n_dims } };
    for (int32_t i = 0; i < n; i++) {
        p[i] = 0;
        if (is_free[i])
            take_in(&in, columns, i);
    }
    fit_settle(&in, columns, is_free, target, p);
    for (int32_t most = 3 * n; most > 0; most--) {
        int32_t before = in.n, i = find_entering(&in, columns, n, target, p);
        if (i < 0)
            return;
        take_in(&in, columns, i);
        if (in.n == before)
            return;
        fit_settle(&in, columns, is_free, target, p);
    }
}

enum { MAX_PASSES = 8 };

/* More rows than dimensions may meet in one point, and agree on it only so well. */
#define ACCEPTED_REL 1e-13

/* Distance inside an inequality, relative to its largest part; negative outside. */
static double alloc_room(const struct alloc_row *row, const double *bw_Bps, int32_t n_dims)
{
    double sum = vector_dot(row->coef, bw_Bps, n_dims), size = fabs(row->rhs);
    for (int32_t d = 0; d < n_dims; d++)
        size = fmax(size, fabs(row->coef[d] * bw_Bps[d]));
    return (row->sense == LINEXPR_GE ? sum - row->rhs : row->rhs - sum) / (size > 0 ? size : 1);
}

double alloc_outside(const struct alloc_row *row, const double *bw_Bps, int32_t n_dims)
{
    return alloc_outside_spent(row, bw_Bps, NULL, n_dims);
}

double alloc_outside_spent(const struct alloc_row *row, const double *bw_Bps, const double *spent,
                           int32_t n_dims)
{
    double over = -row->rhs, size = fabs(row->rhs);
    for (int32_t d = 0; d < n_dims; d++) {
        double part = (spent ? row->coef[d] - row->money_coef[d] : row->coef[d]) * bw_Bps[d];
        over += part;
        size = fmax(size, fabs(part));
    }
    for (int32_t j = 0; spent && j < N_ALLOC_SPENT; j++) {
        double part = row->spent_coef[j] != 0 ? row->spent_coef[j] * spent[j] : 0;
        over += part;
        size = fmax(size, fabs(part));
    }
    if ((row->sense == LINEXPR_LE && over < 0) || (row->sense == LINEXPR_GE && over > 0))
        return 0;
    return size > 0 ? over / size : 0;
}

/* sum_d g[d] x[d] >= h, or == h: a row over relative changes x of the bandwidths, by its largest part. */
static double over_changes(double *g, const struct alloc_row *row, const double *bw_Bps, int32_t n_dims,
                           bool sharp)
{
    double sign = row->sense == LINEXPR_LE ? -1 : 1, size = fabs(row->rhs);
    struct exact_sum rest = { .hi = row->rhs };
    for (int32_t d = 0; d < n_dims; d++) {
        g[d] = row->coef[d] * bw_Bps[d];
        exact_add_product(&rest, -row->coef[d], bw_Bps[d]);
        size = fmax(size, fabs(g[d]));
    }
    size = size > 0 ? size : 1;
    for (int32_t d = 0; d < n_dims; d++)
        g[d] *= sign / size;
    return sign * (sharp ? rest.hi + rest.lo : rest.hi) / size;
}

/*
 * Shortest x with G x >= h, by the multipliers u >= 0 that bring G^T u nearest to 0 and h.u nearest to 1:
 * x is along what is left (least distance programming, Lawson and Hanson, 1974, chapter 23).
 */
static void shift(const struct alloc_problem *p, double *bw_Bps)
{
    const int32_t n = p->step->n_dims;
    double columns[BASIS_MAX_COLUMNS][BASIS_DIMS], u[BASIS_MAX_COLUMNS], target[BASIS_DIMS] = { 0 };
    bool is_free[BASIS_MAX_COLUMNS] = { false };
    int32_t m = 0;
    for (int32_t i = 0; i < p->n_rows && m < BASIS_MAX_COLUMNS - TOPO_MAX_DIMS; i++, m++) {
        columns[m][n] = over_changes(columns[m], &p->rows[i], bw_Bps, n, p->sharp);
        is_free[m] = p->rows[i].sense == LINEXPR_EQ;
    }
    for (int32_t d = 0; d < n; d++, m++) { /* x_d >= -1 */
        memset(columns[m], 0, sizeof columns[m]);
        columns[m][d] = 1;
        columns[m][n] = -1;
    }
    target[n] = 1;
    basis_fit(u, (const double(*)[BASIS_DIMS])columns, is_free, m, n + 1, target);
    for (int32_t i = 0; i < m; i++)
        for (int32_t d = 0; d <= n; d++)
            target[d] -= u[i] * columns[i][d];
    for (int32_t d = 0; d < n && target[n] > 0; d++)
        bw_Bps[d] = fmax(bw_Bps[d] * (1 - target[d] / target[n]), 0);
}

static double worst_outside(const struct alloc_problem *p, const double *bw_Bps)
{
    double worst = 0;
    for (int32_t i = 0; i < p->n_rows; i++)
        worst = fmax(worst, fabs(alloc_outside(&p->rows[i], bw_Bps, p->step->n_dims)));
    return worst;
}

bool alloc_repair(const struct alloc_problem *p, double *bw_Bps)
{
    for (int32_t d = 0; d < p->step->n_dims; d++)
        bw_Bps[d] = fmax(bw_Bps[d], 0);
    double worst = worst_outside(p, bw_Bps);
    for (int pass = 0; pass < MAX_PASSES && worst > alloc_row_rel(p); pass++) {
        shift(p, bw_Bps);
        worst = worst_outside(p, bw_Bps);
    }
    return worst <= ACCEPTED_REL;
}

/* GLPK works best near 1: bandwidths in GB/s, each row divided by its largest coefficient. */
#define UNIT_Bps 1e9

/* GLPK's own default of 1e-7 would call 50.000001 <= 50 satisfied. */
#define TOLERANCE 1e-9

/* GLPK's default, for what it cannot solve any better. */
#define LOOSE_TOLERANCE 1e-7

enum { MOST_STEPS = 300 };

void lp_init(struct lp *lp, int32_t n_dims, const struct alloc_row *rows, int32_t n_rows)
{
    *lp = (struct lp){ .n_dims = n_dims, .rows = rows, .n_rows = n_rows };
    for (int32_t d = 0; d < n_dims; d++)
        lp->hi_Bps[d] = INFINITY;
}

static double row_size(const struct alloc_row *row, int32_t n_dims)
{
    double size = 0;
    for (int32_t d = 0; d < n_dims; d++)
        size = fmax(size, fabs(row->coef[d]));
    return size > 0 ? size : 1;
}

/* Rows are scaled to size 1 and to UNIT_Bps, so that GLPK's absolute tolerances mean something. */
static int load_row(struct simplex *g, const struct alloc_row *row, int32_t n_dims, struct err *e)
{
    int32_t index[TOPO_MAX_DIMS], n = 0;
    double value[TOPO_MAX_DIMS];
    double scale = row_size(row, n_dims), rhs = row->rhs / (scale * UNIT_Bps);
    for (int32_t d = 0; d < n_dims; d++)
        if (row->coef[d] != 0) {
            index[n] = d;
            value[n++] = row->coef[d] / scale;
        }
    double lo = row->sense == LINEXPR_LE ? -INFINITY : rhs, hi = row->sense == LINEXPR_GE ? INFINITY : rhs;
    return simplex_add_row(g, lo, hi, n, index, value, e);
}

/* One more column, which no levelled bandwidth may fall below, is what is made greatest. */
static int load_level(struct simplex *g, const struct lp *lp, struct err *e)
{
    int rc = simplex_add_column(g, -1, 0, INFINITY, 0, NULL, NULL, e);
    for (int32_t d = 0; d < lp->n_dims && !rc; d++) {
        simplex_set_cost(g, d, 0);
        if (!lp->level[d])
            continue;
        const int32_t index[] = { d, lp->n_dims };
        const double value[] = { 1, -1 };
        rc = simplex_add_row(g, 0, INFINITY, 2, index, value, e);
    }
    return rc;
}

/* Rows that are skipped get no place; lp_name_clash() skips them one by one. */
static int lp_load(struct simplex *g, const struct lp *lp, int32_t *place, struct err *e)
{
    int rc = 0;
    int32_t n = 0;
    for (int32_t d = 0; d < lp->n_dims && !rc; d++) {
        double lo = lp->lo_Bps[d] / UNIT_Bps, hi = lp->hi_Bps[d] / UNIT_Bps;
        rc = simplex_add_column(g, lp->cost[d] * UNIT_Bps, lo, hi, 0, NULL, NULL, e);
    }
    for (int32_t i = 0; i < lp->n_rows && !rc; i++) {
        bool skipped = lp->skip && lp->skip[i];
        place[i] = skipped ? -1 : n++;
        if (!skipped)
            rc = load_row(g, &lp->rows[i], lp->n_dims, e);
    }
    return !rc && lp->level ? load_level(g, lp, e) : rc;
}

/* Back to SI, with signs of multipliers as the rest of alloc has them. */
static void unload(struct lp_result *out, double *row_dual, const struct lp *lp, const int32_t *place,
                   const struct simplex *g)
{
    out->value = 0;
    for (int32_t d = 0; d < lp->n_dims; d++) {
        out->bw_Bps[d] = fmax(simplex_value(g, d) * UNIT_Bps, lp->lo_Bps[d]);
        out->value += lp->cost[d] * out->bw_Bps[d];
    }
    if (lp->level)
        out->value = simplex_value(g, lp->n_dims) * UNIT_Bps;
    for (int32_t i = 0; row_dual && i < lp->n_rows; i++) {
        /* The simplex's multiplier is the rise of the value per unit of the row; ours is >= 0 where it
         * pushes. */
        double rise = place[i] >= 0 ? simplex_dual(g, place[i]) : 0;
        double scale = row_size(&lp->rows[i], lp->n_dims) * UNIT_Bps;
        row_dual[i] = (lp->rows[i].sense == LINEXPR_GE ? rise : -rise) / scale;
        if (lp->rows[i].sense != LINEXPR_EQ)
            row_dual[i] = fmax(row_dual[i], 0);
    }
}

/*
 * Try the next way where one fails: nearly parallel rows make a start basis singular, or let the
 * simplex go round in circles, which thousands of steps for so few columns would mean.
 */
static const struct simplex_way ways[] = { { SIMPLEX_FROM_ADVANCED, false, TOLERANCE, MOST_STEPS },
                                           { SIMPLEX_FROM_SLACKS, false, TOLERANCE, MOST_STEPS },
                                           { SIMPLEX_FROM_SLACKS, true, TOLERANCE, MOST_STEPS },
                                           { SIMPLEX_FROM_SLACKS, false, LOOSE_TOLERANCE, MOST_STEPS },
                                           { SIMPLEX_FROM_SCALED, false, LOOSE_TOLERANCE, MOST_STEPS },
                                           { SIMPLEX_FROM_SCALED, true, LOOSE_TOLERANCE, MOST_STEPS },
                                           { SIMPLEX_EXACT, false, TOLERANCE, MOST_STEPS } };

/* Several ways of solving are tried in turn (base/simplex), as scaled problems may defeat one of them. */
int lp_solve(struct lp_result *out, double *row_dual, const struct lp *lp, struct err *e)
{
    enum simplex_status status;
    struct simplex *g = NULL;
    int32_t *place = calloc((size_t)lp->n_rows + 1, sizeof *place);
    int rc = place ? simplex_build(&g, e) : err_nomem(e, "a linear programme");
    if (!rc)
        rc = lp_load(g, lp, place, e);
    if (!rc)
        rc = simplex_solve(&status, g, ways, sizeof ways / sizeof ways[0], e);
    if (!rc) {
        out->status = status == SIMPLEX_OPTIMAL     ? LP_OPTIMAL
                      : status == SIMPLEX_UNBOUNDED ? LP_UNBOUNDED
                                                    : LP_INFEASIBLE;
        unload(out, row_dual, lp, place, g);
    }
    simplex_free(g);
    free(place);
    return rc;
}

void lp_again_free(struct lp_again *again)
{
    simplex_free(again->simplex);
    *again = (struct lp_again){ 0 };
}

/* Cost, bounds and rows that came since; the basis stays. */
static int lp_reload(struct lp_again *again, const struct lp *lp, struct err *e)
{
    for (int32_t d = 0; d < lp->n_dims; d++) {
        simplex_set_cost(again->simplex, d, lp->cost[d] * UNIT_Bps);
        simplex_set_bounds(again->simplex, d, lp->lo_Bps[d] / UNIT_Bps, lp->hi_Bps[d] / UNIT_Bps);
    }
    for (; again->n_rows < lp->n_rows; again->n_rows++) {
        int rc = load_row(again->simplex, &lp->rows[again->n_rows], lp->n_dims, e);
        if (rc)
            return rc;
    }
    return 0;
}

/* What the basis cannot do is done from the start: the answer does not hang on how the last one ended. */
int lp_solve_again(struct lp_again *again, struct lp_result *out, const struct lp *lp, struct err *e)
{
    static const struct simplex_way warm = { SIMPLEX_FROM_BASIS, false, TOLERANCE, MOST_STEPS };
    enum simplex_status status = SIMPLEX_INFEASIBLE;
    struct err cold = { 0 };
    bool first = !again->simplex;
    assert(!lp->skip && !lp->level);
    int rc = first ? simplex_build(&again->simplex, e) : 0;
    for (int32_t d = 0; d < lp->n_dims && first && !rc; d++)
        rc = simplex_add_column(again->simplex, 0, 0, 1, 0, NULL, NULL, e);
    if (!rc)
        rc = lp_reload(again, lp, e);
    if (rc) { /* what is half loaded is not solved again */
        lp_again_free(again);
        return rc;
    }
    if (first)
        rc = simplex_solve(&status, again->simplex, ways, sizeof ways / sizeof ways[0], &cold);
    else
        rc = simplex_solve(&status, again->simplex, &warm, 1, &cold);
    if (rc || status != SIMPLEX_OPTIMAL) {
        lp_again_free(again);
        return lp_solve(out, NULL, lp, e);
    }
    out->status = LP_OPTIMAL;
    unload(out, NULL, lp, NULL, again->simplex);
    return 0;
}

/* An irreducible set of rows that cannot hold together: every row whose absence leaves the rest infeasible is
 * dropped for good. */
int lp_name_clash(char *text, size_t n, const struct lp *lp, struct err *e)
{
    bool *skip = calloc((size_t)lp->n_rows + 1, sizeof *skip);
    if (!skip)
        return err_nomem(e, "a linear programme");
    struct lp trial = *lp;
    struct lp_result r;
    int rc = 0;
    trial.skip = skip;
    memset(trial.cost, 0, sizeof trial.cost);
    /* Whatever can go without making the rest feasible is no part of the clash. */
    for (int32_t i = 0; i < lp->n_rows && !rc; i++) {
        skip[i] = true;
        rc = lp_solve(&r, NULL, &trial, e);
        skip[i] = !rc && r.status == LP_INFEASIBLE;
    }
    size_t used = 0;
    text[0] = '\0';
    for (int32_t i = 0; i < lp->n_rows && !rc && used < n; i++) {
        const char *gap = used ? "; " : "";
        /* Whole names: a list that is too long ends with "; ...". */
        bool fits = used + strlen(gap) + strlen(lp->rows[i].name) + sizeof "; ..." <= n;
        if (skip[i])
            continue;
        used += (size_t)snprintf(text + used, n - used, "%s%s", gap, fits ? lp->rows[i].name : "...");
        used = fits ? used : n;
    }
    free(skip);
    return rc;
}

/* A row that its own linear programme cannot leave by this share of its largest part holds with equality. */
#define IMPLIED_REL 1e-9

/* Keeping this share clear is inside enough; no programme is spent on it. */
#define CLEAR_REL 1e-2

struct lp_search {
    const struct alloc_problem *problem;
    struct lp lp;
    double sum_Bps[TOPO_MAX_DIMS]; /* of the vertices found */
    int32_t n;
};

static void mean_of(const struct lp_search *s, double *bw_Bps)
{
    for (int32_t d = 0; d < s->lp.n_dims; d++)
        bw_Bps[d] = s->sum_Bps[d] / s->n;
}

/* One more vertex, the farthest along -cost; false when the programme has none. */
static bool add_vertex(struct lp_search *s, struct lp_result *r, struct err *e)
{
    if (lp_solve(r, NULL, &s->lp, e) || r->status != LP_OPTIMAL)
        return false;
    for (int32_t d = 0; d < s->lp.n_dims; d++)
        s->sum_Bps[d] += r->bw_Bps[d];
    s->n++;
    return true;
}

/* A vertex as far from this row as possible. If none is off the row, it is implied to be tight. */
static void visit_row(struct lp_search *s, struct alloc_inside *out, int32_t i, struct err *e)
{
    const struct alloc_row *row = &s->problem->rows[i];
    struct lp_result r;
    double mean[TOPO_MAX_DIMS] = { 0 };
    mean_of(s, mean);
    if (row->sense == LINEXPR_EQ || vector_largest(row->coef, s->lp.n_dims) == 0 ||
        alloc_room(row, mean, s->lp.n_dims) > CLEAR_REL)
        return;
    for (int32_t d = 0; d < s->lp.n_dims; d++)
        s->lp.cost[d] = row->sense == LINEXPR_GE ? -row->coef[d] : row->coef[d];
    if (add_vertex(s, &r, e))
        out->implied[i] = alloc_room(row, r.bw_Bps, s->lp.n_dims) < IMPLIED_REL;
}

static void visit_dim(struct lp_search *s, int32_t dim, struct err *e)
{
    double mean[TOPO_MAX_DIMS] = { 0 };
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

/* The mean of vertices that are far from each row and each axis lies well inside all rows that can be slack.
 */
int alloc_find_inside(struct alloc_inside *out, const struct alloc_problem *p, struct err *e)
{
    const int32_t n = p->step->n_dims;
    struct lp_search s = { .problem = p };
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

/* Between the point inside and a guess: as close to the guess as keeps clear of all rows. */
void alloc_approach(double *bw_Bps, const struct alloc_inside *in, const struct alloc_problem *p,
                    const double *guess_Bps)
{
    static const double shares[] = { 1, 1 - 1e-9, 1 - 1e-6, 0.999, 0.9, 0.5, 0 };
    const int32_t n = p->step->n_dims;
    double goal_Bps[TOPO_MAX_DIMS] = { 0 };
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
