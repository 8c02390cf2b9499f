#include "sim/interval/knapsack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/interval/knapsack_work.h"

/* Of the greatest value: finer multiples are lost in the rounding of bounds. */
#define LEAST_GRAIN 1e-5

const char *const knapsack_method_names[N_KNAPSACK_METHODS + 1] = { "exact", "subset" };

struct knapsack_settings knapsack_settings_default(void)
{
    return (struct knapsack_settings){ .method = KNAPSACK_EXACT, .subset = 2, .max_nodes = 200000 };
}

int32_t knapsack_subset_for(int32_t n, int32_t n_rows, double eps)
{
    return (int32_t)fmin(n, ceil(n_rows * (1 - eps) / eps));
}

bool knapsack_fits(const struct knapsack *k, const double *used, int32_t item)
{
    const double *weight = &k->weight[(size_t)item * (size_t)k->n_rows];
    for (int32_t r = 0; r < k->n_rows; r++)
        if (!(used[r] + weight[r] <= k->capacity[r] * (1 + KNAPSACK_SLACK)))
            return false;
    return true;
}

void knapsack_answer_free(struct knapsack_answer *a)
{
    free(a->chosen);
    *a = (struct knapsack_answer){ 0 };
}

bool knapsack_fill(const struct knapsack_work *w, const bool *take, double used[KNAPSACK_MAX_ROWS],
                   double *value)
{
    bool fits = true;
    *value = 0;
    for (int32_t r = 0; r < w->n_rows; r++)
        used[r] = 0;
    for (int32_t j = 0; j < w->n; j++) {
        if (!take[j])
            continue;
        *value += w->lp.value[j];
        for (int32_t r = 0; r < w->n_rows; r++)
            used[r] += knapsack_lp_weight(&w->lp, j)[r];
    }
    for (int32_t r = 0; r < w->n_rows; r++)
        fits = fits && used[r] <= w->lp.capacity[r];
    return fits;
}

/* ---- checks ---- */

static int check_number(const char *name, int32_t at, double x, struct err *e)
{
    if (x >= 0 && isfinite(x))
        return 0;
    return err_set(e, ERR_RANGE, "knapsack: %s[%d]: is %g, need 0 or more", name, (int)at, x);
}

static int check_problem(const struct knapsack *k, const struct knapsack_settings *how, struct err *e)
{
    int rc = 0;
    if (k->n < 0 || k->n > INT32_MAX / 2)
        return err_set(e, ERR_RANGE, "knapsack: items: is %d, need 0 to %d", (int)k->n, INT32_MAX / 2);
    if (k->n_rows < 1 || k->n_rows > KNAPSACK_MAX_ROWS)
        return err_set(e, ERR_RANGE, "knapsack: rows: is %d, need 1 to %d", (int)k->n_rows,
                       KNAPSACK_MAX_ROWS);
    if (how->subset < 0)
        return err_set(e, ERR_RANGE, "knapsack: subset: is %d, need 0 or more", (int)how->subset);
    if (how->max_nodes < 1)
        return err_set(e, ERR_RANGE, "knapsack: max_nodes: is %lld, need 1 or more",
                       (long long)how->max_nodes);
    for (int32_t r = 0; r < k->n_rows && !rc; r++)
        rc = check_number("capacity", r, k->capacity[r], e);
    for (int32_t j = 0; j < k->n && !rc; j++) {
        rc = check_number("value", j, k->value[j], e);
        for (int32_t r = 0; r < k->n_rows && !rc; r++)
            rc = check_number("weight", j, k->weight[(size_t)j * (size_t)k->n_rows + (size_t)r], e);
    }
    return rc;
}

/* ---- work ---- */

/* Greatest x of which all values that count are multiples: of whole numbers their greatest common divisor, of
 * equal ones their value; 0 for others. It rounds bounds down, without which items worth the same are hard to
 * tell. */
static double find_grain(const struct knapsack *k, const struct knapsack_lp *lp)
{
    const double most_whole = 9007199254740992; /* 2^53 */
    double grain = 0;
    bool equal = true;
    for (int32_t j = 0; j < k->n; j++) {
        double a = k->value[j], b = grain;
        if (lp->fix[j] != KNAPSACK_FREE)
            continue;
        equal = grain == 0 || (equal && a == grain);
        if (!equal && !(a == floor(a) && grain == floor(grain) && a <= most_whole && grain <= most_whole))
            return 0;
        while (b > 0 && !equal) {
            double rest = fmod(a, b);
            a = b;
            b = rest;
        }
        grain = a;
    }
    return grain;
}

/* Scale item j; what cannot be chosen, or is worth nothing, is out. */
static void scale_item(struct knapsack_work *w, const struct knapsack *k, int32_t j, double greatest)
{
    const double none[KNAPSACK_MAX_ROWS] = { 0 };
    const size_t at = (size_t)j * (size_t)k->n_rows;
    w->lp.value[j] = k->value[j] / greatest;
    if (!knapsack_fits(k, none, j) || !(w->lp.value[j] > 0))
        w->lp.fix[j] = KNAPSACK_OUT;
    for (int32_t r = 0; r < k->n_rows; r++) {
        bool counts = w->lp.fix[j] == KNAPSACK_FREE && k->capacity[r] > 0;
        w->lp.weight[at + (size_t)r] = counts ? k->weight[at + (size_t)r] / k->capacity[r] : 0;
    }
}

static int work_build(struct knapsack_work *w, const struct knapsack *k, double greatest, struct err *e)
{
    int rc = knapsack_lp_build(&w->lp, k->n, k->n_rows, e);
    if (rc)
        return rc;
    for (int32_t r = 0; r < k->n_rows; r++)
        w->lp.capacity[r] = 1 + KNAPSACK_SLACK;
    for (int32_t j = 0; j < k->n; j++)
        scale_item(w, k, j, greatest);
    w->grain = find_grain(k, &w->lp) / greatest;
    if (w->grain < LEAST_GRAIN)
        w->grain = 0;
    return 0;
}

/* Back to the caller's units. */
static void read_answer(struct knapsack_answer *out, const struct knapsack_work *w, const struct knapsack *k,
                        double greatest)
{
    for (int32_t j = 0; j < k->n; j++)
        if (out->chosen[j])
            out->value += k->value[j];
    out->bound = fmax(fmax(w->bound, w->best) * greatest, out->value);
    out->lp_bound = fmax(out->lp_bound * greatest, out->value);
    out->gap_frac = out->bound > 0 ? (out->bound - out->value) / out->bound : 0;
    out->nodes = w->nodes;
    out->complete = w->complete;
}

static int solve_scaled(struct knapsack_answer *out, struct knapsack_work *w, const struct knapsack *k,
                        const struct knapsack_settings *how, double greatest, struct err *e)
{
    int rc = work_build(w, k, greatest, e);
    if (rc)
        return rc;
    knapsack_lp_solve(&w->lp);
    out->lp_bound = w->lp.bound;
    for (int32_t r = 0; r < k->n_rows; r++)
        out->price[r] = k->capacity[r] > 0 ? w->lp.price[r] * greatest / k->capacity[r] : 0;
    if (how->method == KNAPSACK_EXACT)
        return knapsack_branch(w, e);
    w->bound = w->lp.bound;
    return knapsack_subsets(w, how->subset, e);
}

int knapsack_solve(struct knapsack_answer *out, const struct knapsack *k, const struct knapsack_settings *how,
                   struct err *e)
{
    struct knapsack_work w = {
        .n = k->n, .n_rows = k->n_rows, .max_nodes = how->max_nodes, .complete = true
    };
    double greatest = 0;
    *out = (struct knapsack_answer){ .complete = true };
    int rc = check_problem(k, how, e);
    if (rc)
        return rc;
    out->chosen = calloc((size_t)k->n + 1, sizeof *out->chosen);
    if (!out->chosen)
        return err_nomem(e, "a knapsack");
    w.chosen = out->chosen;
    for (int32_t j = 0; j < k->n; j++)
        greatest = fmax(greatest, k->value[j]);
    if (greatest > 0) {
        rc = solve_scaled(out, &w, k, how, greatest, e);
        if (!rc)
            read_answer(out, &w, k, greatest);
        knapsack_lp_free(&w.lp);
    }
    if (rc)
        knapsack_answer_free(out);
    return rc;
}
