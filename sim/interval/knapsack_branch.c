#include <math.h>
#include <stdlib.h>

#include "sim/interval/knapsack_work.h"

/* Values are at most 1; a bound this close to the best is the best. */
#define EQUAL 1e-11

struct branch {
    int32_t item;
    int32_t trail;      /* items fixed before it */
    int32_t followed;   /* of these, those whose consequences are among them */
    unsigned char next; /* what to try second, KNAPSACK_FREE when done */
    double bound;       /* of the node */
};

struct rank {
    double reduced;
    int32_t item;
};

struct tree {
    struct knapsack_work *w;
    struct rank *order; /* shape [n], owned: by reduced cost at the root; so room is filled */
    int32_t *trail;     /* shape [n], owned: items fixed, in order */
    int32_t n_trail;
    int32_t followed;    /* items of the trail whose consequences are drawn */
    struct branch *open; /* shape [n], owned: from the root to here */
    int32_t n_open;
    bool *take; /* shape [n], owned: scratch */
};

static int by_reduced_cost(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    if (x->reduced != y->reduced)
        return x->reduced > y->reduced ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

static void fix(struct tree *t, int32_t item, unsigned char how)
{
    t->w->lp.fix[item] = how;
    t->trail[t->n_trail++] = item;
}

static void undo(struct tree *t, int32_t n_trail)
{
    while (t->n_trail > n_trail)
        t->w->lp.fix[t->trail[--t->n_trail]] = KNAPSACK_FREE;
}

static bool fits_beside(const struct knapsack_work *w, const double *used, int32_t item)
{
    const double *weight = knapsack_lp_weight(&w->lp, item);
    for (int32_t r = 0; r < w->n_rows; r++)
        if (!(used[r] + weight[r] <= w->lp.capacity[r]))
            return false;
    return true;
}

/* Worth as much, and as light in every row; of equal items the first. */
static bool is_better(const struct knapsack_work *w, int32_t a, int32_t b)
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
static void follow(struct tree *t)
{
    struct knapsack_work *w = t->w;
    for (; t->followed < t->n_trail; t->followed++) {
        int32_t i = t->trail[t->followed];
        bool in = w->lp.fix[i] == KNAPSACK_IN;
        for (int32_t j = 0; j < w->n; j++)
            if (w->lp.fix[j] == KNAPSACK_FREE && (in ? is_better(w, j, i) : is_better(w, i, j)))
                fix(t, j, in ? KNAPSACK_IN : KNAPSACK_OUT);
    }
}

/* What is in must fit; what then does not fit beside it is out. */
static bool propagate(struct tree *t)
{
    struct knapsack_work *w = t->w;
    double used[KNAPSACK_MAX_ROWS], value;
    follow(t);
    for (int32_t j = 0; j < w->n; j++)
        t->take[j] = w->lp.fix[j] == KNAPSACK_IN;
    if (!knapsack_fill(w, t->take, used, &value))
        return false;
    for (int32_t j = 0; j < w->n; j++)
        if (w->lp.fix[j] == KNAPSACK_FREE && !fits_beside(w, used, j))
            fix(t, j, KNAPSACK_OUT);
    return true;
}

/* The vertex rounded down, then what room is left, filled. Kept if it is the best so far. */
static void round_and_fill(struct tree *t, bool vertex)
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
        int32_t j = t->order[i].item;
        if (t->take[j] || w->lp.fix[j] == KNAPSACK_OUT || !fits_beside(w, used, j))
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
static bool is_closed(struct knapsack_work *w, double bound)
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
static void fix_by_cost(struct tree *t)
{
    struct knapsack_lp *lp = &t->w->lp;
    for (int32_t j = 0; j < lp->n; j++)
        if (lp->fix[j] == KNAPSACK_FREE && !lp->basic[j] && is_closed(t->w, lp->bound - fabs(lp->reduced[j])))
            fix(t, j, lp->reduced[j] > 0 ? KNAPSACK_IN : KNAPSACK_OUT);
}

/* The fraction closest to a half; without a vertex the first free item; -1: none. */
static int32_t pick_item(const struct tree *t, bool vertex)
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
        if (lp->fix[t->order[i].item] == KNAPSACK_FREE)
            best = t->order[i].item;
    return best;
}

/* Look at the node that lp.fix describes; true if it has to be divided, and then it is. */
static bool visit(struct tree *t)
{
    struct knapsack_work *w = t->w;
    struct knapsack_lp *lp = &w->lp;
    w->nodes++;
    if (!propagate(t))
        return false;
    bool vertex = knapsack_lp_solve(lp);
    if (is_closed(w, lp->bound))
        return false;
    round_and_fill(t, vertex);
    if (is_closed(w, lp->bound))
        return false;
    fix_by_cost(t);
    int32_t item = pick_item(t, vertex);
    if (item < 0) {
        w->bound = fmax(w->bound, vertex ? lp->bound : w->best);
        return false;
    }
    bool in = !vertex || lp->x[item] >= 0.5;
    t->open[t->n_open++] =
        (struct branch){ item, t->n_trail, t->followed, in ? KNAPSACK_OUT : KNAPSACK_IN, lp->bound };
    fix(t, item, in ? KNAPSACK_IN : KNAPSACK_OUT);
    return true;
}

/* On to the nearest node that is not looked at yet; false: there is none. */
static bool go_back(struct tree *t)
{
    while (t->n_open > 0) {
        struct branch *b = &t->open[t->n_open - 1];
        undo(t, b->trail);
        t->followed = b->followed;
        if (b->next != KNAPSACK_FREE && !is_closed(t->w, b->bound)) {
            fix(t, b->item, b->next);
            b->next = KNAPSACK_FREE;
            return true;
        }
        t->n_open--;
    }
    return false;
}

/* What was not looked at is not bounded by more than its nodes. */
static void stop_early(struct tree *t)
{
    t->w->complete = false;
    for (int32_t i = 0; i < t->n_open; i++)
        t->w->bound = fmax(t->w->bound, t->open[i].bound);
}

static void walk(struct tree *t)
{
    struct knapsack_work *w = t->w;
    for (int32_t j = 0; j < w->n; j++)
        t->order[j] = (struct rank){ w->lp.reduced[j], j };
    qsort(t->order, (size_t)w->n, sizeof *t->order, by_reduced_cost);
    for (bool more = true; more;) {
        more = visit(t) || go_back(t);
        if (more && w->nodes >= w->max_nodes) {
            stop_early(t);
            return;
        }
    }
}

int knapsack_branch(struct knapsack_work *w, struct err *e)
{
    const size_t n = (size_t)w->n + 1;
    struct tree t = { .w = w };
    int rc = 0;
    t.order = calloc(n, sizeof *t.order);
    t.trail = calloc(n, sizeof *t.trail);
    t.open = calloc(n, sizeof *t.open);
    t.take = calloc(n, sizeof *t.take);
    if (t.order && t.trail && t.open && t.take)
        walk(&t);
    else
        rc = err_nomem(e, "a branch and bound");
    free(t.order);
    free(t.trail);
    free(t.open);
    free(t.take);
    return rc;
}
