#include "sim/interval/knapsack_lp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Capacities and values are about 1; what is farther off than this is not rounding. */
#define FEASIBLE    1e-10
#define LEAST_PIVOT 1e-9

int knapsack_lp_build(struct knapsack_lp *lp, int32_t n, int32_t n_rows, struct err *e)
{
    const size_t n_vars = (size_t)n + (size_t)n_rows;
    *lp = (struct knapsack_lp){ .n = n, .n_rows = n_rows };
    lp->value = calloc(n_vars, sizeof *lp->value);
    lp->weight = calloc(n_vars, (size_t)n_rows * sizeof *lp->weight);
    lp->fix = malloc(n_vars);
    lp->x = calloc(n_vars, sizeof *lp->x);
    lp->reduced = calloc(n_vars, sizeof *lp->reduced);
    lp->at_upper = calloc(n_vars, 1);
    lp->basic = calloc(n_vars, sizeof *lp->basic);
    lp->slope = calloc(n_vars, sizeof *lp->slope);
    if (!lp->value || !lp->weight || !lp->fix || !lp->x || !lp->reduced || !lp->at_upper || !lp->basic ||
        !lp->slope) {
        knapsack_lp_free(lp);
        return err_nomem(e, "a knapsack");
    }
    memset(lp->fix, KNAPSACK_FREE, n_vars);
    for (int32_t i = 0; i < n_rows; i++) {
        lp->capacity[i] = 1;
        lp->basis[i] = n + i;
        lp->basic[n + i] = true;
    }
    return 0;
}

void knapsack_lp_free(struct knapsack_lp *lp)
{
    free(lp->value);
    free(lp->weight);
    free(lp->fix);
    free(lp->x);
    free(lp->reduced);
    free(lp->at_upper);
    free(lp->basic);
    free(lp->slope);
    *lp = (struct knapsack_lp){ 0 };
}

/* ---- variables ---- */

static double lower_of(const struct knapsack_lp *lp, int32_t j)
{
    return j < lp->n && lp->fix[j] == KNAPSACK_IN ? 1 : 0;
}

/* weight >= 0 and x >= 0, so a slack is at most its capacity. */
static double upper_of(const struct knapsack_lp *lp, int32_t j)
{
    if (j >= lp->n)
        return lp->capacity[j - lp->n];
    return lp->fix[j] == KNAPSACK_OUT ? 0 : 1;
}

static double entry(const struct knapsack_lp *lp, int32_t row, int32_t j)
{
    if (j >= lp->n)
        return j - lp->n == row ? 1 : 0;
    return knapsack_lp_weight(lp, j)[row];
}

/* a . column j, for a over rows. */
static double dot_column(const struct knapsack_lp *lp, const double *a, int32_t j)
{
    if (j >= lp->n)
        return a[j - lp->n];
    const double *w = knapsack_lp_weight(lp, j);
    double sum = 0;
    for (int32_t i = 0; i < lp->n_rows; i++)
        sum += a[i] * w[i];
    return sum;
}

/* ---- the basis ---- */

static void swap_rows(double *a, double *b, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        double kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

/* Gauss-Jordan with partial pivoting; false: singular to rounding. */
static bool invert_basis(struct knapsack_lp *lp)
{
    double a[KNAPSACK_MAX_ROWS][KNAPSACK_MAX_ROWS];
    const int32_t m = lp->n_rows;
    for (int32_t i = 0; i < m; i++)
        for (int32_t k = 0; k < m; k++) {
            a[i][k] = entry(lp, i, lp->basis[k]);
            lp->inverse[i][k] = i == k;
        }
    for (int32_t k = 0; k < m; k++) {
        int32_t pivot = k;
        for (int32_t i = k + 1; i < m; i++)
            if (fabs(a[i][k]) > fabs(a[pivot][k]))
                pivot = i;
        if (!(fabs(a[pivot][k]) > LEAST_PIVOT * LEAST_PIVOT))
            return false;
        swap_rows(a[k], a[pivot], m);
        swap_rows(lp->inverse[k], lp->inverse[pivot], m);
        double scale = 1 / a[k][k];
        for (int32_t c = 0; c < m; c++) {
            a[k][c] *= scale;
            lp->inverse[k][c] *= scale;
        }
        for (int32_t i = 0; i < m; i++) {
            double times = a[i][k];
            if (i == k || times == 0)
                continue;
            for (int32_t c = 0; c < m; c++) {
                a[i][c] -= times * a[k][c];
                lp->inverse[i][c] -= times * lp->inverse[k][c];
            }
        }
    }
    return true;
}

static void use_slack_basis(struct knapsack_lp *lp)
{
    for (int32_t j = 0; j < lp->n + lp->n_rows; j++)
        lp->basic[j] = j >= lp->n;
    for (int32_t i = 0; i < lp->n_rows; i++)
        lp->basis[i] = lp->n + i;
    (void)invert_basis(lp); /* the identity */
}

/* Multipliers, not yet cut to >= 0. */
static void find_prices(struct knapsack_lp *lp)
{
    for (int32_t i = 0; i < lp->n_rows; i++) {
        lp->price[i] = 0;
        for (int32_t k = 0; k < lp->n_rows; k++)
            if (lp->basis[k] < lp->n)
                lp->price[i] += lp->value[lp->basis[k]] * lp->inverse[k][i];
    }
}

static double reduced_cost(const struct knapsack_lp *lp, int32_t j)
{
    return (j < lp->n ? lp->value[j] : 0) - dot_column(lp, lp->price, j);
}

/* Each free variable to the bound that its reduced cost asks for: the basis is dual feasible. */
static void place_variables(struct knapsack_lp *lp)
{
    for (int32_t j = 0; j < lp->n + lp->n_rows; j++)
        if (!lp->basic[j])
            lp->at_upper[j] = reduced_cost(lp, j) > 0;
}

static double place_of(const struct knapsack_lp *lp, int32_t j)
{
    return lp->at_upper[j] ? upper_of(lp, j) : lower_of(lp, j);
}

static void find_levels(struct knapsack_lp *lp)
{
    double left[KNAPSACK_MAX_ROWS];
    memcpy(left, lp->capacity, sizeof left);
    for (int32_t j = 0; j < lp->n + lp->n_rows; j++) {
        double x = lp->basic[j] ? 0 : place_of(lp, j);
        if (x > 0)
            for (int32_t i = 0; i < lp->n_rows; i++)
                left[i] -= x * entry(lp, i, j);
    }
    for (int32_t k = 0; k < lp->n_rows; k++) {
        lp->level[k] = 0;
        for (int32_t i = 0; i < lp->n_rows; i++)
            lp->level[k] += lp->inverse[k][i] * left[i];
    }
}

/* ---- pivots ---- */

/* How far a basic variable is outside its bounds: > 0 above, < 0 below. */
static double excess_of(const struct knapsack_lp *lp, int32_t k)
{
    double above = lp->level[k] - upper_of(lp, lp->basis[k]);
    double below = lp->level[k] - lower_of(lp, lp->basis[k]);
    return above > FEASIBLE ? above : below < -FEASIBLE ? below : 0;
}

static int32_t find_leaving(const struct knapsack_lp *lp)
{
    int32_t worst = -1;
    double most = 0;
    for (int32_t k = 0; k < lp->n_rows; k++)
        if (fabs(excess_of(lp, k)) > most) {
            most = fabs(excess_of(lp, k));
            worst = k;
        }
    return worst;
}

/* Can moving j off its bound bring the leaving variable back? slope[j] is its row's entry, turned so that
 * an increase of j helps when it is positive. */
static bool can_enter(const struct knapsack_lp *lp, int32_t j)
{
    if (lp->basic[j] || !(upper_of(lp, j) > lower_of(lp, j)))
        return false;
    return lp->at_upper[j] ? lp->slope[j] < -LEAST_PIVOT : lp->slope[j] > LEAST_PIVOT;
}

/*
 * The entering variable, -1 if there is none. A long step: as long as the leaving variable would still be
 * outside with j at its other bound, j goes there and the next ratio is looked at. Flipped ones are counted
 * out by turning at_upper, which turns the sign that can_enter() asks for.
 */
static int32_t find_entering(struct knapsack_lp *lp, double excess)
{
    double left = fabs(excess);
    for (;;) {
        int32_t best = -1;
        double least = INFINITY;
        for (int32_t j = 0; j < lp->n + lp->n_rows; j++) {
            if (!can_enter(lp, j))
                continue;
            double ratio = fabs(reduced_cost(lp, j)) / fabs(lp->slope[j]);
            /* Of equal ones the larger pivot. */
            if (ratio < least || (ratio == least && fabs(lp->slope[j]) > fabs(lp->slope[best]))) {
                least = ratio;
                best = j;
            }
        }
        if (best < 0)
            return -1;
        left -= fabs(lp->slope[best]) * (upper_of(lp, best) - lower_of(lp, best));
        if (!(left > 0))
            return best;
        lp->at_upper[best] ^= 1;
    }
}

/* Row k of the tableau, turned so that the leaving variable moves towards its bound. */
static void find_slopes(struct knapsack_lp *lp, int32_t k, double excess)
{
    double row[KNAPSACK_MAX_ROWS];
    for (int32_t i = 0; i < lp->n_rows; i++)
        row[i] = excess > 0 ? lp->inverse[k][i] : -lp->inverse[k][i];
    for (int32_t j = 0; j < lp->n + lp->n_rows; j++)
        lp->slope[j] = dot_column(lp, row, j);
}

static bool exchange(struct knapsack_lp *lp, int32_t k, int32_t entering, double excess)
{
    int32_t leaving = lp->basis[k];
    lp->at_upper[leaving] = excess > 0;
    lp->basic[leaving] = false;
    lp->basic[entering] = true;
    lp->basis[k] = entering;
    lp->pivots++;
    return invert_basis(lp);
}

/* ---- the answer ---- */

static void read_answer(struct knapsack_lp *lp)
{
    lp->n_fractions = 0;
    for (int32_t j = 0; j < lp->n; j++)
        lp->x[j] = lp->basic[j] ? 0 : place_of(lp, j);
    for (int32_t k = 0; k < lp->n_rows; k++) {
        int32_t j = lp->basis[k];
        if (j >= lp->n)
            continue;
        lp->x[j] = fmin(fmax(lp->level[k], 0), 1);
        if (lp->x[j] <= FEASIBLE || lp->x[j] >= 1 - FEASIBLE)
            lp->x[j] = round(lp->x[j]);
        else
            lp->fraction[lp->n_fractions++] = j;
    }
}

/* From the multipliers alone, whatever the basis is worth. */
static void find_bound(struct knapsack_lp *lp)
{
    lp->bound = 0;
    for (int32_t i = 0; i < lp->n_rows; i++) {
        lp->price[i] = fmax(lp->price[i], 0);
        lp->bound += lp->price[i] * lp->capacity[i];
    }
    for (int32_t j = 0; j < lp->n; j++) {
        lp->reduced[j] = reduced_cost(lp, j);
        if (lp->fix[j] == KNAPSACK_IN || (lp->fix[j] == KNAPSACK_FREE && lp->reduced[j] > 0))
            lp->bound += lp->reduced[j];
    }
}

bool knapsack_lp_solve(struct knapsack_lp *lp)
{
    /* Some pivots per row are usual; this many only where rounding goes in circles. */
    const int32_t most_pivots = 100 + 20 * lp->n_rows + lp->n;
    bool solved = false;
    if (!invert_basis(lp))
        use_slack_basis(lp);
    find_prices(lp);
    place_variables(lp);
    for (int32_t i = 0; i < most_pivots; i++) {
        find_levels(lp);
        int32_t k = find_leaving(lp);
        solved = k < 0;
        if (solved)
            break;
        double excess = excess_of(lp, k);
        find_slopes(lp, k, excess);
        int32_t entering = find_entering(lp, excess);
        if (entering < 0)
            break; /* what is in fits, so only slopes too small to pivot on are left */
        if (!exchange(lp, k, entering, excess))
            use_slack_basis(lp);
        find_prices(lp);
        if (lp->basis[k] != entering)
            place_variables(lp);
    }
    read_answer(lp);
    find_bound(lp);
    return solved;
}
