#include "sim/pieces.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/stat.h"

/* Time over s_per_B, which is all that the ratio of the two numbers decides. */
static double shape_B(const struct pieces_problem *p, double ratio_B, double bytes)
{
    double least_B = INFINITY;
    for (int32_t j = 0; j < p->n_terms; j++)
        least_B = fmin(least_B, p->terms[j].hops * ratio_B + p->terms[j].load * bytes);
    return least_B;
}

double pieces_time(const struct piece *piece, const struct pieces_problem *p, double bytes)
{
    double least_s = INFINITY;
    for (int32_t j = 0; j < p->n_terms; j++)
        least_s = fmin(least_s, p->terms[j].hops * piece->lat_s + p->terms[j].load * bytes * piece->s_per_B);
    return least_s;
}

/* ---- one line ---- */

/* The search for the line of points first .. first + n - 1. */
struct search {
    const struct pieces_problem *p;
    struct stat_weighted
        *votes; /* shape [p->n]: what each point asks of the scale, and how much it matters */
    struct piece best;
};

/* Loss of the best line with this ratio; it is kept when it is the best so far. */
static double try_ratio(struct search *x, double ratio_B)
{
    const struct pieces_problem *p = x->p;
    struct piece line = x->best;
    for (int32_t k = 0; k < line.n; k++) {
        int32_t i = line.first + k;
        double shape = shape_B(p, ratio_B, p->bytes[i]);
        /* |s shape - t| / t / blur is |s - t/shape| times shape/t/blur. */
        x->votes[k] = (struct stat_weighted){ p->time_s[i] / shape, shape / p->time_s[i] / p->blur[i] };
    }
    line.s_per_B = fmax(p->least_s_per_B, fmin(p->most_s_per_B, stat_weighted_median(x->votes, line.n)));
    line.lat_s = ratio_B * line.s_per_B;
    line.loss = 0;
    for (int32_t k = 0; k < line.n; k++)
        line.loss += fabs(line.s_per_B - x->votes[k].value) * x->votes[k].weight;
    if (line.loss < x->best.loss)
        x->best = line;
    return line.loss;
}

/* Ratios worth a look, as logarithms: from a latency that is a millionth of the fastest transfer to one that
 * is the whole of the longest time. */
static void find_range(double *lo, double *hi, const struct search *x)
{
    const struct pieces_problem *p = x->p;
    double hops[2] = { INFINITY, 0 }, load = INFINITY, longest_s = 0;
    for (int32_t j = 0; j < p->n_terms; j++) {
        hops[0] = fmin(hops[0], p->terms[j].hops);
        hops[1] = fmax(hops[1], p->terms[j].hops);
        load = fmin(load, p->terms[j].load);
    }
    for (int32_t i = x->best.first; i < x->best.first + x->best.n; i++)
        longest_s = fmax(longest_s, p->time_s[i]);
    *lo = log(1e-6 * load * p->bytes[x->best.first] / hops[1]);
    *hi = fmax(*lo + 1, log(longest_s / p->least_s_per_B / hops[0]));
}

/* The loss falls and rises once in the ratio with one term: sets of lines that are no worse than some loss
 * are convex, and rays through the origin meet such a set at ratios without a gap. */
static struct piece fit_line(const struct pieces_problem *p, struct stat_weighted *votes, int32_t first,
                             int32_t n)
{
    enum { GRID = 40, ROUNDS = 55 };
    const double golden = 0.6180339887498949;
    struct search x = { p, votes, { .first = first, .n = n, .loss = INFINITY } };
    double lo, hi, least = INFINITY, at;
    find_range(&lo, &hi, &x);
    double step = (hi - lo) / GRID;
    at = lo;
    for (int k = 0; k <= GRID; k++) {
        double loss = try_ratio(&x, exp(lo + k * step));
        if (loss < least) {
            least = loss;
            at = lo + k * step;
        }
    }
    lo = at - step;
    hi = at + step;
    double left = hi - golden * (hi - lo), right = lo + golden * (hi - lo);
    double at_left = try_ratio(&x, exp(left)), at_right = try_ratio(&x, exp(right));
    for (int k = 0; k < ROUNDS; k++) {
        if (at_left <= at_right) {
            hi = right;
            right = left;
            at_right = at_left;
            left = hi - golden * (hi - lo);
            at_left = try_ratio(&x, exp(left));
        } else {
            lo = left;
            left = right;
            at_left = at_right;
            right = lo + golden * (hi - lo);
            at_right = try_ratio(&x, exp(right));
        }
    }
    try_ratio(&x, 0);
    return x.best;
}

/* ---- where ranges meet ---- */

/* Ranges from cut a to cut b, and the least loss of k of them that end at cut b. */
struct table {
    int32_t n_cuts, cuts[PIECES_MAX_CUTS + 1]; /* points before each cut: 0 first, all of them last */
    struct piece *lines;                       /* shape [n_cuts][n_cuts], owned; n 0 where there is none */
    double loss[PIECES_MAX][PIECES_MAX_CUTS + 1];
    int32_t from[PIECES_MAX][PIECES_MAX_CUTS + 1];
};

static int build_table(struct table *t, const struct pieces_problem *p, struct err *e)
{
    int32_t step = (p->n + PIECES_MAX_CUTS - 1) / PIECES_MAX_CUTS;
    for (int32_t at = 0; at < p->n; at += step)
        t->cuts[t->n_cuts++] = at;
    t->cuts[t->n_cuts++] = p->n;
    size_t n = (size_t)t->n_cuts;
    struct stat_weighted *votes = malloc((size_t)p->n * sizeof *votes);
    t->lines = calloc(n * n, sizeof *t->lines);
    if (!votes || !t->lines) {
        free(votes);
        return err_nomem(e, "a fit");
    }
    for (int32_t a = 0; a < t->n_cuts; a++)
        for (int32_t b = a + 1; b < t->n_cuts; b++)
            if (t->cuts[b] - t->cuts[a] >= PIECES_MIN_POINTS)
                t->lines[a * t->n_cuts + b] = fit_line(p, votes, t->cuts[a], t->cuts[b] - t->cuts[a]);
    free(votes);
    return 0;
}

static void sum_losses(struct table *t, int32_t most)
{
    for (int32_t k = 0; k < most; k++)
        for (int32_t b = 0; b < t->n_cuts; b++) {
            t->loss[k][b] = INFINITY;
            for (int32_t a = 0; a < (k == 0 ? 1 : b); a++) {
                const struct piece *line = &t->lines[a * t->n_cuts + b];
                double loss = line->n == 0 ? INFINITY : line->loss + (k == 0 ? 0 : t->loss[k - 1][a]);
                if (loss < t->loss[k][b]) {
                    t->loss[k][b] = loss;
                    t->from[k][b] = a;
                }
            }
        }
}

static void trace(struct pieces *v, const struct table *t, int32_t n)
{
    int32_t b = t->n_cuts - 1;
    *v = (struct pieces){ .n = n, .loss = t->loss[n - 1][b] };
    for (int32_t k = n; k-- > 0;) {
        int32_t a = t->from[k][b];
        v->list[k] = t->lines[a * t->n_cuts + b];
        b = a;
    }
}

int pieces_fit(struct pieces all[PIECES_MAX], const struct pieces_problem *p, int32_t most, struct err *e)
{
    struct table t = { 0 };
    assert(most >= 1 && most <= PIECES_MAX && most * PIECES_MIN_POINTS <= p->n && p->n_terms >= 1);
    int rc = build_table(&t, p, e);
    if (!rc) {
        sum_losses(&t, most);
        for (int32_t k = 0; k < most; k++)
            trace(&all[k], &t, k + 1);
    }
    free(t.lines);
    return rc;
}
