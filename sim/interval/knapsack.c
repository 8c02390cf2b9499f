/*
 * The knapsack of several rows that admits jobs: its linear relaxation, a simplex over items with bounds 0
 * and 1 and few rows; the exact optimum by branch and bound over that, warm from node to node; and the
 * paper's scheme of subsets. Numbers are scaled to 1 inside; bounds are of the given numbers and hold
 * whatever was given up early.
 */
#include "base/work.h"
#include "base/stat.h"
#include "sim/interval/interval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What both methods work on. */

/** Numbers are scaled: greatest value 1, capacities 1. */
struct knapsack_work {
    int32_t n, n_rows;
    struct knapsack_lp lp; /**< the items; at the start, those are out that never come in */
    bool *chosen;          /**< shape [n], borrowed: best so far */
    double grain;          /**< every sum of values is a multiple of it; 0: not known */
    double best;           /**< its value */
    double bound;          /**< greatest bound of what was left unseen */
    int64_t nodes, max_nodes;
    struct work work; /* counts nodes */
    bool complete;
};

/* Of the greatest value: finer multiples are lost in the rounding of bounds. */
#define LEAST_GRAIN 1e-5

const char *const knapsack_method_names[N_KNAPSACK_METHODS + 1] = { "exact", "subset" };

struct knapsack_settings knapsack_settings_default(void)
{
    return (struct knapsack_settings){ .method = KNAPSACK_EXACT, .subset = 2, .max_nodes = 200000 };
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

/* Room taken by the items that take says, and its value. False: they do not fit. */
static bool knapsack_fill(const struct knapsack_work *w, const bool *take, double used[KNAPSACK_MAX_ROWS],
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

/* Capacities and values are about 1; what is farther off than this is not rounding. */
#define FEASIBLE    1e-10
#define LEAST_PIVOT 1e-9

int knapsack_lp_build(struct knapsack_lp *lp, int32_t n, int32_t n_rows, struct err *e)
{
    const size_t n_vars = (size_t)n + (size_t)n_rows;
    *lp = (struct knapsack_lp){ .n = n, .n_rows = n_rows };
    lp->value = ARENA_TAKE(&lp->arena, n_vars, *lp->value);
    lp->weight = ARENA_TAKE(&lp->arena, n_vars * (size_t)n_rows, *lp->weight);
    lp->fix = ARENA_TAKE(&lp->arena, n_vars, *lp->fix);
    lp->x = ARENA_TAKE(&lp->arena, n_vars, *lp->x);
    lp->reduced = ARENA_TAKE(&lp->arena, n_vars, *lp->reduced);
    lp->at_upper = ARENA_TAKE(&lp->arena, n_vars, *lp->at_upper);
    lp->basic = ARENA_TAKE(&lp->arena, n_vars, *lp->basic);
    lp->slope = ARENA_TAKE(&lp->arena, n_vars, *lp->slope);
    if (lp->arena.failed) {
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
    arena_free(&lp->arena);
    *lp = (struct knapsack_lp){ 0 };
}

/* ---- variables ---- */

static double lp_lower(const struct knapsack_lp *lp, int32_t j)
{
    return j < lp->n && lp->fix[j] == KNAPSACK_IN ? 1 : 0;
}

/* weight >= 0 and x >= 0, so a slack is at most its capacity. */
static double lp_upper(const struct knapsack_lp *lp, int32_t j)
{
    if (j >= lp->n)
        return lp->capacity[j - lp->n];
    return lp->fix[j] == KNAPSACK_OUT ? 0 : 1;
}

static double lp_entry(const struct knapsack_lp *lp, int32_t row, int32_t j)
{
    if (j >= lp->n)
        return j - lp->n == row ? 1 : 0;
    return knapsack_lp_weight(lp, j)[row];
}

/* a . column j, for a over rows. */
static double lp_dot_column(const struct knapsack_lp *lp, const double *a, int32_t j)
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

static void lp_swap_rows(double *a, double *b, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        double kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

/* Gauss-Jordan with partial pivoting; false: singular to rounding. */
static bool lp_invert_basis(struct knapsack_lp *lp)
{
    double a[KNAPSACK_MAX_ROWS][KNAPSACK_MAX_ROWS];
    const int32_t m = lp->n_rows;
    for (int32_t i = 0; i < m; i++)
        for (int32_t k = 0; k < m; k++) {
            a[i][k] = lp_entry(lp, i, lp->basis[k]);
            lp->inverse[i][k] = i == k;
        }
    for (int32_t k = 0; k < m; k++) {
        int32_t pivot = k;
        for (int32_t i = k + 1; i < m; i++)
            if (fabs(a[i][k]) > fabs(a[pivot][k]))
                pivot = i;
        if (!(fabs(a[pivot][k]) > LEAST_PIVOT * LEAST_PIVOT))
            return false;
        lp_swap_rows(a[k], a[pivot], m);
        lp_swap_rows(lp->inverse[k], lp->inverse[pivot], m);
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

static void lp_use_slack_basis(struct knapsack_lp *lp)
{
    for (int32_t j = 0; j < lp->n + lp->n_rows; j++)
        lp->basic[j] = j >= lp->n;
    for (int32_t i = 0; i < lp->n_rows; i++)
        lp->basis[i] = lp->n + i;
    (void)lp_invert_basis(lp); /* the identity */
}

/* Multipliers, not yet cut to >= 0. */
static void lp_find_prices(struct knapsack_lp *lp)
{
    for (int32_t i = 0; i < lp->n_rows; i++) {
        lp->price[i] = 0;
        for (int32_t k = 0; k < lp->n_rows; k++)
            if (lp->basis[k] < lp->n)
                lp->price[i] += lp->value[lp->basis[k]] * lp->inverse[k][i];
    }
}

static double lp_reduced_cost(const struct knapsack_lp *lp, int32_t j)
{
    return (j < lp->n ? lp->value[j] : 0) - lp_dot_column(lp, lp->price, j);
}

/* Each free variable to the bound that its reduced cost asks for: the basis is dual feasible. */
static void lp_place_variables(struct knapsack_lp *lp)
{
    for (int32_t j = 0; j < lp->n + lp->n_rows; j++)
        if (!lp->basic[j])
            lp->at_upper[j] = lp_reduced_cost(lp, j) > 0;
}

static double lp_place(const struct knapsack_lp *lp, int32_t j)
{
    return lp->at_upper[j] ? lp_upper(lp, j) : lp_lower(lp, j);
}

static void lp_find_levels(struct knapsack_lp *lp)
{
    double left[KNAPSACK_MAX_ROWS];
    memcpy(left, lp->capacity, sizeof left);
    for (int32_t j = 0; j < lp->n + lp->n_rows; j++) {
        double x = lp->basic[j] ? 0 : lp_place(lp, j);
        if (x > 0)
            for (int32_t i = 0; i < lp->n_rows; i++)
                left[i] -= x * lp_entry(lp, i, j);
    }
    for (int32_t k = 0; k < lp->n_rows; k++) {
        lp->level[k] = 0;
        for (int32_t i = 0; i < lp->n_rows; i++)
            lp->level[k] += lp->inverse[k][i] * left[i];
    }
}

/* ---- pivots ---- */

/* How far a basic variable is outside its bounds: > 0 above, < 0 below. */
static double lp_excess(const struct knapsack_lp *lp, int32_t k)
{
    double above = lp->level[k] - lp_upper(lp, lp->basis[k]);
    double below = lp->level[k] - lp_lower(lp, lp->basis[k]);
    return above > FEASIBLE ? above : below < -FEASIBLE ? below : 0;
}

static int32_t lp_find_leaving(const struct knapsack_lp *lp)
{
    int32_t worst = -1;
    double most = 0;
    for (int32_t k = 0; k < lp->n_rows; k++)
        if (fabs(lp_excess(lp, k)) > most) {
            most = fabs(lp_excess(lp, k));
            worst = k;
        }
    return worst;
}

/* Can moving j off its bound bring the leaving variable back? slope[j] is its row's entry, turned so that
 * an increase of j helps when it is positive. */
static bool lp_can_enter(const struct knapsack_lp *lp, int32_t j)
{
    if (lp->basic[j] || !(lp_upper(lp, j) > lp_lower(lp, j)))
        return false;
    return lp->at_upper[j] ? lp->slope[j] < -LEAST_PIVOT : lp->slope[j] > LEAST_PIVOT;
}

/*
 * The entering variable, -1 if there is none. A long step: as long as the leaving variable would still be
 * outside with j at its other bound, j goes there and the next ratio is looked at. Flipped ones are counted
 * out by turning at_upper, which turns the sign that can_enter() asks for.
 */
static int32_t lp_find_entering(struct knapsack_lp *lp, double excess)
{
    double left = fabs(excess);
    for (;;) {
        int32_t best = -1;
        double least = INFINITY;
        for (int32_t j = 0; j < lp->n + lp->n_rows; j++) {
            if (!lp_can_enter(lp, j))
                continue;
            double ratio = fabs(lp_reduced_cost(lp, j)) / fabs(lp->slope[j]);
            /* Of equal ones the larger pivot. */
            if (ratio < least || (ratio == least && fabs(lp->slope[j]) > fabs(lp->slope[best]))) {
                least = ratio;
                best = j;
            }
        }
        if (best < 0)
            return -1;
        left -= fabs(lp->slope[best]) * (lp_upper(lp, best) - lp_lower(lp, best));
        if (!(left > 0))
            return best;
        lp->at_upper[best] ^= 1;
    }
}

/* Row k of the tableau, turned so that the leaving variable moves towards its bound. */
static void lp_find_slopes(struct knapsack_lp *lp, int32_t k, double excess)
{
    double row[KNAPSACK_MAX_ROWS];
    for (int32_t i = 0; i < lp->n_rows; i++)
        row[i] = excess > 0 ? lp->inverse[k][i] : -lp->inverse[k][i];
    for (int32_t j = 0; j < lp->n + lp->n_rows; j++)
        lp->slope[j] = lp_dot_column(lp, row, j);
}

static bool lp_exchange(struct knapsack_lp *lp, int32_t k, int32_t entering, double excess)
{
    int32_t leaving = lp->basis[k];
    lp->at_upper[leaving] = excess > 0;
    lp->basic[leaving] = false;
    lp->basic[entering] = true;
    lp->basis[k] = entering;
    lp->pivots++;
    return lp_invert_basis(lp);
}

/* ---- the answer ---- */

static void knapsack_lp_read_answer(struct knapsack_lp *lp)
{
    lp->n_fractions = 0;
    for (int32_t j = 0; j < lp->n; j++)
        lp->x[j] = lp->basic[j] ? 0 : lp_place(lp, j);
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
static void lp_find_bound(struct knapsack_lp *lp)
{
    lp->bound = 0;
    for (int32_t i = 0; i < lp->n_rows; i++) {
        lp->price[i] = fmax(lp->price[i], 0);
        lp->bound += lp->price[i] * lp->capacity[i];
    }
    for (int32_t j = 0; j < lp->n; j++) {
        lp->reduced[j] = lp_reduced_cost(lp, j);
        if (lp->fix[j] == KNAPSACK_IN || (lp->fix[j] == KNAPSACK_FREE && lp->reduced[j] > 0))
            lp->bound += lp->reduced[j];
    }
}

bool knapsack_lp_solve(struct knapsack_lp *lp)
{
    /* Some pivots per row are usual; this many only where rounding goes in circles. */
    const int32_t most_pivots = 100 + 20 * lp->n_rows + lp->n;
    bool solved = false;
    if (!lp_invert_basis(lp))
        lp_use_slack_basis(lp);
    lp_find_prices(lp);
    lp_place_variables(lp);
    for (int32_t i = 0; i < most_pivots; i++) {
        lp_find_levels(lp);
        int32_t k = lp_find_leaving(lp);
        solved = k < 0;
        if (solved)
            break;
        double excess = lp_excess(lp, k);
        lp_find_slopes(lp, k, excess);
        int32_t entering = lp_find_entering(lp, excess);
        if (entering < 0)
            break; /* what is in fits, so only slopes too small to pivot on are left */
        if (!lp_exchange(lp, k, entering, excess))
            lp_use_slack_basis(lp);
        lp_find_prices(lp);
        if (lp->basis[k] != entering)
            lp_place_variables(lp);
    }
    knapsack_lp_read_answer(lp);
    lp_find_bound(lp);
    return solved;
}

/* Values are at most 1; a bound this close to the best is the best. */
#define EQUAL 1e-11

struct knapsack_branch {
    int32_t item;
    int32_t trail;      /* items fixed before it */
    int32_t followed;   /* of these, those whose consequences are among them */
    unsigned char next; /* what to try second, KNAPSACK_FREE when done */
    double bound;       /* of the node */
};

struct knapsack_tree {
    struct knapsack_work *w;
    struct stat_rank
        *order;     /* shape [n], owned: by reduced cost at the root, the largest first; so room is filled */
    int32_t *trail; /* shape [n], owned: items fixed, in order */
    int32_t n_trail;
    int32_t followed;             /* items of the trail whose consequences are drawn */
    struct knapsack_branch *open; /* shape [n], owned: from the root to here */
    int32_t n_open;
    bool *take; /* shape [n], owned: scratch */
};

static void branch_fix(struct knapsack_tree *t, int32_t item, unsigned char how)
{
    t->w->lp.fix[item] = how;
    t->trail[t->n_trail++] = item;
}

static void branch_undo(struct knapsack_tree *t, int32_t n_trail)
{
    while (t->n_trail > n_trail)
        t->w->lp.fix[t->trail[--t->n_trail]] = KNAPSACK_FREE;
}

static bool branch_fits_beside(const struct knapsack_work *w, const double *used, int32_t item)
{
    const double *weight = knapsack_lp_weight(&w->lp, item);
    for (int32_t r = 0; r < w->n_rows; r++)
        if (!(used[r] + weight[r] <= w->lp.capacity[r]))
            return false;
    return true;
}

/* Worth as much, and as light in every row; of equal items the first. */
static bool branch_is_better(const struct knapsack_work *w, int32_t a, int32_t b)
{
    const double *x = knapsack_lp_weight(&w->lp, a), *y = knapsack_lp_weight(&w->lp, b);
    bool same = w->lp.value[a] == w->lp.value[b];
    if (!(w->lp.value[a] >= w->lp.value[b]))
        return false;
    for (int32_t r = 0; r < w->n_rows; r++) {
        if (!(x[r] <= y[r]))
            return false;
        same = same && x[r] == y[r];
    }
    return !same || a < b;
}

/* Some optimal choice takes no item without all that are better: a better one could take its place. So with
 * an item all better ones are in, without it all worse ones out. */
static void branch_follow(struct knapsack_tree *t)
{
    struct knapsack_work *w = t->w;
    for (; t->followed < t->n_trail; t->followed++) {
        int32_t i = t->trail[t->followed];
        bool in = w->lp.fix[i] == KNAPSACK_IN;
        for (int32_t j = 0; j < w->n; j++)
            if (w->lp.fix[j] == KNAPSACK_FREE && (in ? branch_is_better(w, j, i) : branch_is_better(w, i, j)))
                branch_fix(t, j, in ? KNAPSACK_IN : KNAPSACK_OUT);
    }
}

/* What is in must fit; what then does not fit beside it is out. */
static bool branch_propagate(struct knapsack_tree *t)
{
    struct knapsack_work *w = t->w;
    double used[KNAPSACK_MAX_ROWS], value;
    branch_follow(t);
    for (int32_t j = 0; j < w->n; j++)
        t->take[j] = w->lp.fix[j] == KNAPSACK_IN;
    if (!knapsack_fill(w, t->take, used, &value))
        return false;
    for (int32_t j = 0; j < w->n; j++)
        if (w->lp.fix[j] == KNAPSACK_FREE && !branch_fits_beside(w, used, j))
            branch_fix(t, j, KNAPSACK_OUT);
    return true;
}

/* The vertex rounded down, then what room is left, filled. Kept if it is the best so far. */
static void branch_round_and_fill(struct knapsack_tree *t, bool vertex)
{
    struct knapsack_work *w = t->w;
    double used[KNAPSACK_MAX_ROWS], value;
    for (int32_t j = 0; j < w->n; j++)
        t->take[j] = w->lp.fix[j] == KNAPSACK_IN || (vertex && w->lp.x[j] >= 1);
    bool fits = knapsack_fill(w, t->take, used, &value);
    /* A whole vertex may be over a capacity by what the LP takes for rounding. */
    if (!fits && !(vertex && w->lp.n_fractions == 0))
        return;
    for (int32_t i = 0; i < w->n && fits; i++) {
        int32_t j = (int32_t)t->order[i].at;
        if (t->take[j] || w->lp.fix[j] == KNAPSACK_OUT || !branch_fits_beside(w, used, j))
            continue;
        t->take[j] = true;
        value += w->lp.value[j];
        for (int32_t r = 0; r < w->n_rows; r++)
            used[r] += knapsack_lp_weight(&w->lp, j)[r];
    }
    if (!(value > w->best))
        return;
    w->best = value;
    for (int32_t j = 0; j < w->n; j++)
        w->chosen[j] = t->take[j];
}

/* Nothing below this bound can be better; true if so. */
static bool branch_is_closed(struct knapsack_work *w, double bound)
{
    /* Rounding leaves a bound short of its multiple by far less than a thousandth of one. */
    if (w->grain > 0)
        bound = fmin(bound, w->grain * floor(bound / w->grain + 1e-3));
    if (bound > w->best + EQUAL)
        return false;
    w->bound = fmax(w->bound, bound);
    return true;
}

/* Turning an item round costs its reduced cost: fix those that the best choice forbids to turn. */
static void branch_fix_by_cost(struct knapsack_tree *t)
{
    struct knapsack_lp *lp = &t->w->lp;
    for (int32_t j = 0; j < lp->n; j++)
        if (lp->fix[j] == KNAPSACK_FREE && !lp->basic[j] &&
            branch_is_closed(t->w, lp->bound - fabs(lp->reduced[j])))
            branch_fix(t, j, lp->reduced[j] > 0 ? KNAPSACK_IN : KNAPSACK_OUT);
}

/* The fraction closest to a half; without a vertex the first free item; -1: none. */
static int32_t branch_pick_item(const struct knapsack_tree *t, bool vertex)
{
    const struct knapsack_lp *lp = &t->w->lp;
    int32_t best = -1;
    double least = INFINITY;
    for (int32_t i = 0; i < lp->n_fractions && vertex; i++) {
        int32_t j = lp->fraction[i];
        double off = fabs(lp->x[j] - 0.5);
        if (off < least || (off == least && j < best)) {
            least = off;
            best = j;
        }
    }
    for (int32_t i = 0; i < lp->n && best < 0 && !vertex; i++)
        if (lp->fix[t->order[i].at] == KNAPSACK_FREE)
            best = (int32_t)t->order[i].at;
    return best;
}

/* Look at the node that lp.fix describes; true if it has to be divided, and then it is. */
static bool branch_visit(struct knapsack_tree *t)
{
    struct knapsack_work *w = t->w;
    struct knapsack_lp *lp = &w->lp;
    w->nodes++;
    work_step(&w->work, 1);
    if (!branch_propagate(t))
        return false;
    bool vertex = knapsack_lp_solve(lp);
    if (branch_is_closed(w, lp->bound))
        return false;
    branch_round_and_fill(t, vertex);
    if (branch_is_closed(w, lp->bound))
        return false;
    branch_fix_by_cost(t);
    int32_t item = branch_pick_item(t, vertex);
    if (item < 0) {
        w->bound = fmax(w->bound, vertex ? lp->bound : w->best);
        return false;
    }
    bool in = !vertex || lp->x[item] >= 0.5;
    t->open[t->n_open++] =
        (struct knapsack_branch){ item, t->n_trail, t->followed, in ? KNAPSACK_OUT : KNAPSACK_IN, lp->bound };
    branch_fix(t, item, in ? KNAPSACK_IN : KNAPSACK_OUT);
    return true;
}

/* On to the nearest node that is not looked at yet; false: there is none. */
static bool branch_go_back(struct knapsack_tree *t)
{
    while (t->n_open > 0) {
        struct knapsack_branch *b = &t->open[t->n_open - 1];
        branch_undo(t, b->trail);
        t->followed = b->followed;
        if (b->next != KNAPSACK_FREE && !branch_is_closed(t->w, b->bound)) {
            branch_fix(t, b->item, b->next);
            b->next = KNAPSACK_FREE;
            return true;
        }
        t->n_open--;
    }
    return false;
}

/* What was not looked at is not bounded by more than its nodes. */
static void branch_stop_early(struct knapsack_tree *t)
{
    t->w->complete = false;
    for (int32_t i = 0; i < t->n_open; i++)
        t->w->bound = fmax(t->w->bound, t->open[i].bound);
}

static void branch_walk(struct knapsack_tree *t)
{
    struct knapsack_work *w = t->w;
    for (int32_t j = 0; j < w->n; j++)
        t->order[j] = (struct stat_rank){ -w->lp.reduced[j], j };
    stat_sort_ranks(t->order, w->n);
    for (bool more = true; more;) {
        more = branch_visit(t) || branch_go_back(t);
        if (more && (w->nodes >= w->max_nodes || work_stopped())) {
            branch_stop_early(t);
            return;
        }
    }
}

/* Branch and bound; the root LP is solved. ERR_NOMEM. */
static int knapsack_branch(struct knapsack_work *w, struct err *e)
{
    struct arena arena = { 0 };
    struct knapsack_tree t = { .w = w };
    t.order = ARENA_TAKE(&arena, w->n, *t.order);
    t.trail = ARENA_TAKE(&arena, w->n, *t.trail);
    t.open = ARENA_TAKE(&arena, w->n + 1, *t.open);
    t.take = ARENA_TAKE(&arena, w->n, *t.take);
    int rc = arena_check(&arena, "a branch and bound", e);
    if (!rc)
        branch_walk(&t);
    arena_free(&arena);
    return rc;
}

struct subsets {
    struct knapsack_work *w;
    unsigned char *start; /* shape [n], owned: what is out from the beginning */
    int32_t *set;         /* shape [k], owned: indices, rising */
    bool *take;           /* shape [n], owned: scratch */
};

/* The set in, what is worth more than the least of it out. False: the set does not fit. */
static bool subset_fix(struct subsets *s, int32_t size)
{
    struct knapsack_work *w = s->w;
    double least = INFINITY, used[KNAPSACK_MAX_ROWS], value;
    memset(s->take, 0, (size_t)w->n * sizeof *s->take);
    for (int32_t i = 0; i < size; i++) {
        if (s->start[s->set[i]] == KNAPSACK_OUT)
            return false;
        s->take[s->set[i]] = true;
        least = fmin(least, w->lp.value[s->set[i]]);
    }
    if (!knapsack_fill(w, s->take, used, &value))
        return false;
    for (int32_t j = 0; j < w->n; j++)
        w->lp.fix[j] = s->take[j] ? KNAPSACK_IN : w->lp.value[j] > least ? KNAPSACK_OUT : s->start[j];
    return true;
}

/* The vertex has at most n_rows fractions; rounded down it is the scheme's choice for this set. */
static void subset_try(struct subsets *s, int32_t size)
{
    struct knapsack_work *w = s->w;
    double used[KNAPSACK_MAX_ROWS], value;
    if (!subset_fix(s, size))
        return;
    w->nodes++;
    work_step(&w->work, 1);
    bool vertex = knapsack_lp_solve(&w->lp);
    for (int32_t j = 0; j < w->n; j++)
        s->take[j] = w->lp.fix[j] == KNAPSACK_IN || (vertex && w->lp.x[j] >= 1);
    bool fits = knapsack_fill(w, s->take, used, &value);
    if (value > w->best && (fits || (vertex && w->lp.n_fractions == 0))) {
        w->best = value;
        memcpy(w->chosen, s->take, (size_t)w->n * sizeof *s->take);
    }
}

/* The next set of this size in lexicographic order; false after the last. */
static bool subset_next(struct subsets *s, int32_t size)
{
    int32_t i = size - 1;
    while (i >= 0 && s->set[i] == s->w->n - size + i)
        i--;
    if (i < 0)
        return false;
    s->set[i]++;
    for (i++; i < size; i++)
        s->set[i] = s->set[i - 1] + 1;
    return true;
}

static void subset_try_all(struct subsets *s, int32_t most)
{
    struct knapsack_work *w = s->w;
    memcpy(s->start, w->lp.fix, (size_t)w->n);
    for (int32_t size = 0; size <= most; size++) {
        for (int32_t i = 0; i < size; i++)
            s->set[i] = i;
        do {
            if (w->nodes >= w->max_nodes || work_stopped()) {
                w->complete = false;
                return;
            }
            subset_try(s, size);
        } while (subset_next(s, size));
    }
}

/* The subset scheme. ERR_NOMEM. */
static int knapsack_subsets(struct knapsack_work *w, int32_t k, struct err *e)
{
    const int32_t most = k < w->n ? k : w->n;
    struct arena arena = { 0 };
    struct subsets s = { .w = w };
    s.start = ARENA_TAKE(&arena, w->n, *s.start);
    s.set = ARENA_TAKE(&arena, most, *s.set);
    s.take = ARENA_TAKE(&arena, w->n, *s.take);
    int rc = arena_check(&arena, "subsets", e);
    if (!rc)
        subset_try_all(&s, most);
    arena_free(&arena);
    return rc;
}

/* ---- checks ---- */

static int knapsack_check_number(const char *name, int32_t at, double x, struct err *e)
{
    if (x >= 0 && isfinite(x))
        return 0;
    return err_set(e, ERR_RANGE, "knapsack: %s[%d]: is %g, expected 0 or more", name, (int)at, x);
}

static int knapsack_check_problem(const struct knapsack *k, struct err *e)
{
    int rc = 0;
    if (k->n < 0 || k->n > INT32_MAX / 2)
        return err_set(e, ERR_RANGE, "knapsack: items: is %d, expected 0 to %d", (int)k->n, INT32_MAX / 2);
    if (k->n_rows < 1 || k->n_rows > KNAPSACK_MAX_ROWS)
        return err_set(e, ERR_RANGE, "knapsack: rows: is %d, expected 1 to %d", (int)k->n_rows,
                       KNAPSACK_MAX_ROWS);
    for (int32_t r = 0; r < k->n_rows && !rc; r++)
        rc = knapsack_check_number("capacity", r, k->capacity[r], e);
    for (int32_t j = 0; j < k->n && !rc; j++) {
        rc = knapsack_check_number("value", j, k->value[j], e);
        for (int32_t r = 0; r < k->n_rows && !rc; r++)
            rc = knapsack_check_number("weight", j, k->weight[(size_t)j * (size_t)k->n_rows + (size_t)r], e);
    }
    return rc;
}

/* ---- work ---- */

/* Greatest x of which all values that count are multiples: of whole numbers their greatest common divisor, of
 * equal ones their value; 0 for others. It rounds bounds down, without which items worth the same are hard to
 * tell. */
static double knapsack_find_grain(const struct knapsack *k, const struct knapsack_lp *lp)
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
static void knapsack_scale_item(struct knapsack_work *w, const struct knapsack *k, int32_t j, double greatest)
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

static int knapsack_work_build(struct knapsack_work *w, const struct knapsack *k, double greatest,
                               struct err *e)
{
    int rc = knapsack_lp_build(&w->lp, k->n, k->n_rows, e);
    if (rc)
        return rc;
    for (int32_t r = 0; r < k->n_rows; r++)
        w->lp.capacity[r] = 1 + KNAPSACK_SLACK;
    for (int32_t j = 0; j < k->n; j++)
        knapsack_scale_item(w, k, j, greatest);
    w->grain = knapsack_find_grain(k, &w->lp) / greatest;
    if (w->grain < LEAST_GRAIN)
        w->grain = 0;
    return 0;
}

/* Back to the caller's units. */
static void knapsack_read_answer(struct knapsack_answer *out, const struct knapsack_work *w,
                                 const struct knapsack *k, double greatest)
{
    for (int32_t j = 0; j < k->n; j++)
        if (out->chosen[j])
            out->value += k->value[j];
    out->bound = fmax(fmax(w->bound, w->best) * greatest, out->value);
    out->lp_bound = fmax(out->lp_bound * greatest, out->value);
    out->nodes = w->nodes;
    out->complete = w->complete;
}

static int knapsack_solve_scaled(struct knapsack_answer *out, struct knapsack_work *w,
                                 const struct knapsack *k, const struct knapsack_settings *how,
                                 double greatest, struct err *e)
{
    int rc = knapsack_work_build(w, k, greatest, e);
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
    int rc = knapsack_check_problem(k, e);
    if (rc)
        return rc;
    out->chosen = calloc((size_t)k->n + 1, sizeof *out->chosen);
    if (!out->chosen)
        return err_nomem(e, "a knapsack");
    w.chosen = out->chosen;
    for (int32_t j = 0; j < k->n; j++)
        greatest = fmax(greatest, k->value[j]);
    if (greatest > 0) {
        work_begin(&w.work, "nodes of the choice, at most", how->max_nodes);
        rc = knapsack_solve_scaled(out, &w, k, how, greatest, e);
        work_end(&w.work);
        if (!rc)
            knapsack_read_answer(out, &w, k, greatest);
        knapsack_lp_free(&w.lp);
    }
    if (rc)
        knapsack_answer_free(out);
    return rc;
}
