/*
 * Bounds that prove a point worse than a front without solving it.
 *
 * Of every leaf of a step (a collective on a dimension) a multiplier says what part of it each dimension is
 * charged with; with multipliers that add up to 1 in every leaf the step takes at least mu / price of any
 * split (Lagrangian duality of the max in a leaf). A cut of that kind holds whatever the multipliers, so few
 * rounds of moving them suffice: a weak cut is beaten less often, never wrongly.
 */
#include "kinds/design/explore/bound.h"
#include "kinds/design/answer/columns.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/incumbent.h"
#include "alloc/lp.h"

enum { D = TOPO_MAX_DIMS };

/* Of one workload: where its multipliers are in bound.split. */
struct bound_part {
    const struct step_fn *fn;
    double weight;
    double *leaf;  /* shape [n_leaves][n_dims]: a leaf's sum to 1 */
    double *share; /* shape [n_terms]: of the terms of a maximum sum to 1 */
    double *value; /* shape [n_terms]: time, then weight */
};

static size_t part_room(const struct step_fn *f)
{
    return (size_t)f->n_leaves * (size_t)f->n_dims + 2 * (size_t)f->n_terms;
}

static struct bound_part part_at(double *at, const struct design_workload *w)
{
    struct bound_part p = { .fn = &w->fn, .weight = w->weight, .leaf = at };
    p.share = at + (size_t)w->fn.n_leaves * (size_t)w->fn.n_dims;
    p.value = p.share + w->fn.n_terms;
    return p;
}

/* Times of all terms at 1/B = inverse. Children come after parents. */
static void time_terms(const struct bound_part *p, const double *inverse)
{
    const struct step_fn *f = p->fn;
    for (int32_t k = f->n_terms; k-- > 0;) {
        p->value[k] = f->const_s[k];
        for (int32_t l = f->leaf_begin[k]; l < f->leaf_begin[k + 1]; l++) {
            double longest = 0;
            for (int32_t d = 0; d < f->n_dims; d++)
                longest = fmax(longest, f->traffic_B[(ptrdiff_t)l * D + d] * inverse[d]);
            p->value[k] += longest;
        }
        for (int32_t j = f->max_begin[k]; j < f->max_begin[k + 1]; j++) {
            double longest = 0;
            for (int32_t i = f->term_begin[j]; i < f->term_begin[j + 1]; i++)
                longest = fmax(longest, p->value[i]);
            p->value[k] += longest;
        }
    }
}

/* x times what it is to grow by, made to sum to 1 again; left as it is where all would be gone. The product
 * first: it is no more than the sum, so nothing overflows. */
static void grow(double *x, const double *by, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += x[i] * by[i];
    if (!(sum > DBL_MIN && isfinite(sum)))
        return;
    double scale = 1 / sum;
    for (int32_t i = 0; i < n; i++)
        x[i] = x[i] * by[i] * scale;
}

/* Terms of a maximum that take long get more of its weight. By squares: a time falls with the root of its
 * weight, so that lands near the balance at once. */
static void move_terms(const struct bound_part *p, const double *inverse)
{
    const struct step_fn *f = p->fn;
    time_terms(p, inverse);
    for (int32_t j = 0; j < f->n_maxima; j++) {
        int32_t first = f->term_begin[j], n = f->term_begin[j + 1] - first;
        for (int32_t i = first; i < first + n; i++)
            p->value[i] *= p->value[i];
        grow(p->share + first, p->value + first, n);
    }
}

/* The same for the dimensions of each leaf. */
static void move_leaves(const struct bound_part *p, const double *inverse)
{
    const struct step_fn *f = p->fn;
    double by[D];
    for (int32_t l = 0; l < f->n_leaves; l++) {
        for (int32_t d = 0; d < f->n_dims; d++)
            by[d] = f->traffic_B[(ptrdiff_t)l * D + d] * inverse[d];
        grow(p->leaf + (ptrdiff_t)l * f->n_dims, by, f->n_dims);
    }
}

/* All equal: of a leaf price times traffic, which is best where it is alone. */
static void begin_part(const struct bound_part *p, const double *price)
{
    const struct step_fn *f = p->fn;
    for (int32_t l = 0; l < f->n_leaves; l++) {
        double *leaf = p->leaf + (ptrdiff_t)l * f->n_dims;
        for (int32_t d = 0; d < f->n_dims; d++)
            leaf[d] = 1.0 / f->n_dims;
        double by[D];
        for (int32_t d = 0; d < f->n_dims; d++)
            by[d] = price[d] * f->traffic_B[(ptrdiff_t)l * D + d];
        grow(leaf, by, f->n_dims);
    }
    for (int32_t j = 0; j < f->n_maxima; j++)
        for (int32_t i = f->term_begin[j]; i < f->term_begin[j + 1]; i++)
            p->share[i] = 1.0 / (f->term_begin[j + 1] - f->term_begin[j]);
}

/* Constant and pulls of the multipliers. */
static void add_pulls(struct alloc_cut *cut, const struct bound_part *p)
{
    const struct step_fn *f = p->fn;
    double *weight = p->value;
    weight[0] = p->weight;
    for (int32_t k = 0; k < f->n_terms; k++) {
        cut->const_s += weight[k] * f->const_s[k];
        for (int32_t l = f->leaf_begin[k]; l < f->leaf_begin[k + 1]; l++)
            for (int32_t d = 0; d < f->n_dims; d++)
                cut->pull_B[d] +=
                    weight[k] * p->leaf[(ptrdiff_t)l * f->n_dims + d] * f->traffic_B[(ptrdiff_t)l * D + d];
        for (int32_t j = f->max_begin[k]; j < f->max_begin[k + 1]; j++)
            for (int32_t i = f->term_begin[j]; i < f->term_begin[j + 1]; i++)
                weight[i] = weight[k] * p->share[i];
    }
}

static void pull(struct bound_cut *cut, const struct bound *b, const struct design_point *s)
{
    double *at = b->split;
    cut->step = (struct alloc_cut){ 0 };
    for (int32_t i = 0; i < s->n_workloads; i++) {
        struct bound_part p = part_at(at, &s->workloads[i]);
        add_pulls(&cut->step, &p);
        at += part_room(p.fn);
    }
}

/* The split that is best for the pulls, B_d = sqrt(a_d/p_d), as shares; what that makes of R. */
static void split_by(struct bound_cut *cut, const double *price, int32_t n_dims)
{
    double root = 0, sum = 0;
    for (int32_t d = 0; d < n_dims; d++) {
        double r = sqrt(cut->step.pull_B[d] * price[d]);
        root += r;
        cut->share[d] = price[d] > 0 ? r / price[d] : 0;
        sum += cut->share[d];
    }
    for (int32_t d = 0; d < n_dims && sum > 0; d++)
        cut->share[d] /= sum;
    cut->root2 = root * root;
}

/* One round of improving the multipliers at a fixed price: move weight between the terms of maxima, then
 * between dimensions of leaves, then find the split at which the bound is least. */
static void round_up(struct bound_cut *cut, const struct bound *b, const struct design_point *s,
                     const double *price)
{
    double inverse[D], *at = b->split;
    for (int32_t d = 0; d < s->net.n_dims; d++)
        inverse[d] = cut->share[d] > 0 ? 1 / (cut->share[d] * b->total_Bps) : 0;
    for (int32_t i = 0; i < s->n_workloads; i++) {
        struct bound_part p = part_at(at, &s->workloads[i]);
        if (p.fn->n_maxima)
            move_terms(&p, inverse);
        move_leaves(&p, inverse);
        at += part_room(p.fn);
    }
    pull(cut, b, s);
    split_by(cut, price, s->net.n_dims);
}

/* Multipliers to begin with: best for @p price, shape [n_dims], where every leaf is alone. */
static void bound_begin_cuts(const struct bound *b, const struct design_point *s, const double *price)
{
    double *at = b->split;
    for (int32_t i = 0; i < s->n_workloads; i++) {
        struct bound_part p = part_at(at, &s->workloads[i]);
        begin_part(&p, price);
        at += part_room(p.fn);
    }
}

/* All of @p cut but mu: move the multipliers towards the best for @p price, from where they are, in so many
 * @p rounds. Whatever the rounds, what the cut says holds. O(rounds * leaves * dims). */
static void bound_find_cut(struct bound_cut *cut, const struct bound *b, const struct design_point *s,
                           const double *price, int rounds)
{
    pull(cut, b, s);
    split_by(cut, price, s->net.n_dims);
    for (int i = 0; i < rounds; i++)
        round_up(cut, b, s, price);
}

/* Room for the multipliers of @p s. ERR_NOMEM. */
static int bound_reserve(struct bound *b, const struct design_point *s, struct err *e)
{
    size_t room = 0;
    for (int32_t i = 0; i < s->n_workloads; i++)
        room += part_room(&s->workloads[i].fn);
    if (room <= b->room)
        return 0;
    double *grown = realloc(b->split, room * sizeof *grown);
    if (!grown)
        return err_nomem(e, "lower bounds");
    b->split = grown;
    b->room = room;
    return 0;
}

/*
 * A step is T(B) = sum_k weight_k const_k + leaves, a leaf max_d m_d/B_d. A maximum is at least any mean of
 * what it is over, so multipliers w_ld >= 0 that sum to a leaf's weight give pulls a_d = sum_l w_ld m_ld with
 *     T(B) >= const + sum_d a_d/B_d                    for every B,
 * and by Cauchy and Schwarz, for any prices p_d >= 0,
 *     (T(B) - const) * sum_d p_d B_d >= R,             R = (sum_d sqrt(a_d p_d))^2.
 * With p = 1 and B summing to the total: T >= const + R/total. With p = c + mu for prices c and any mu >=
 * -min c: a design that takes at most t costs
 *     c.B >= R/(t - const) - mu * total,
 * which falls with t. Large mu tells what the fastest designs cost, mu = 0 what a design costs at any total.
 * One a set of pulls is a cut; all hold, so the largest counts. They know nothing of total and objective.
 *
 * Multipliers are found by alternating: B_d = sqrt(a_d/p_d) is best for the pulls, and multipliers move to
 * where m_ld/B_d is large. They need not be the best to hold.
 *
 * What can the answer of a point be? Time is cut in slices. In a slice from..to any design takes `from` at
 * least and costs what the curve says at `to` at least: this corner is below and left of it. If the front
 * dominates the corner, it dominates all designs in the slice, strictly, since it does the corner. Or the
 * slice cannot hold the answer, since a design that is known is better than all in it by the point's
 * objective. A slice that is neither is halved.
 */

enum { FIRST_ROUNDS = 12, NEXT_ROUNDS = 2, MOST_SLICES = 160 };

/* How far rounding and a solver's gap (ALLOC_GAP) can move what is printed. */
#define MARGIN 1e-9
/* By how much an answer may miss its objective: one that stalled is a row as well, with a gap above
 * ALLOC_GAP. */
#define STALLED 1e-6
/* How far a split can be outside its rows, with what design_solve() drops of it. */
#define ROUNDING 1e-11
/* Where no total says how large bandwidths are: 1 TB/s, for steps with maxima only. */
#define UNKNOWN_TOTAL_Bps 1e12

/* ---- columns ---- */

/* Which columns of a front have bounds, and in which direction; the rest make pruning impossible. */
void bound_begin(struct bound *b, const struct keep_column *columns, int32_t n)
{
    static const struct {
        const char *name;
        enum bound_column column;
        bool small, large; /* which way something is known */
    } known[] = {
        { DESIGN_COLUMN(time_s), BOUND_TIME, true, false },
        { DESIGN_COLUMN(cost_usd), BOUND_COST, true, false },
        { DESIGN_COLUMN(nic_GBps), BOUND_NIC, true, false },
        { DESIGN_COLUMN(total_GBps), BOUND_TOTAL, true, true },
        { DESIGN_COLUMN(n_dims), BOUND_DIMS, true, true },
        { DESIGN_COLUMN(speedup), BOUND_SPEEDUP, false, true },
        { DESIGN_COLUMN(perf_per_cost_gain), BOUND_GAIN, false, true },
    };
    *b = (struct bound){ .n_cols = n };
    for (int32_t c = 0; c < n; c++) {
        b->large[c] = columns[c].large;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            if (strcmp(known[i].name, columns[c].name) == 0 &&
                (columns[c].large ? known[i].large : known[i].small))
                b->columns[c] = known[i].column;
    }
}

void bound_free(struct bound *b)
{
    free(b->split);
    *b = (struct bound){ 0 };
}

static bool has_column(const struct bound *b, enum bound_column column)
{
    for (int32_t c = 0; c < b->n_cols; c++)
        if (b->columns[c] == column)
            return true;
    return false;
}

/* ---- curves ---- */

/* Added to prices, in the largest of them. -1: less nearly the smallest, as a total is spent, whatever on;
 * without any price a dimension would have no share. */
static const double added[] = { 300, 30, 5, 1, 0.2, 0, -1 };
#define NEARLY (1 - 1.0 / 1024)

/* Cuts for prices plus mu, mu from large to small: together they bound cost from below at every time. */
static void find_curve(struct bound_curve *c, const struct bound *b, const struct design_point *s)
{
    const int32_t n_dims = s->net.n_dims;
    double largest = 0, smallest = INFINITY, price[D];
    for (int32_t d = 0; d < n_dims; d++) {
        largest = fmax(largest, c->price[d]);
        smallest = fmin(smallest, c->price[d]);
    }
    c->n = 0;
    /* From large to small: the multipliers of one are nearly those of the next. */
    for (size_t i = 0; i < sizeof added / sizeof added[0] && largest > 0; i++) {
        struct bound_cut *cut = &c->cuts[c->n];
        cut->mu = added[i] >= 0 ? added[i] * largest : -smallest * NEARLY;
        if (added[i] < 0 && !(smallest > 0))
            break;
        for (int32_t d = 0; d < n_dims; d++)
            price[d] = c->price[d] + cut->mu;
        bound_find_cut(cut, b, s, price, NEXT_ROUNDS);
        c->n++;
    }
}

/* Time of the step, and price, at the shares of a cut. */
static void measure(struct bound_cut *cut, const struct bound *b, const struct design_point *s,
                    const double *price)
{
    double bw_Bps[D];
    cut->price = 0;
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        bw_Bps[d] = b->total_Bps * cut->share[d];
        cut->price += price[d] * cut->share[d];
    }
    cut->busy_B = (design_point_compiled_s(s, bw_Bps) - b->compute_s) * b->total_Bps;
}

static void find_fastest(struct bound *b, const struct design_point *s)
{
    double price[D];
    for (int32_t d = 0; d < D; d++)
        price[d] = 1;
    bound_begin_cuts(b, s, price);
    bound_find_cut(&b->fastest, b, s, price, FIRST_ROUNDS);
}

/* All cuts of a point. They depend on the total only if steps have maxima; otherwise they are found once. */
static void find_all(struct bound *b, const struct design_point *s)
{
    b->total_Bps = isfinite(s->total_Bps) ? s->total_Bps : UNKNOWN_TOTAL_Bps;
    find_fastest(b, s);
    if (!s->has_parts)
        return;
    measure(&b->fastest, b, s, b->cost.price);
    find_curve(&b->cost, b, s);
    for (int32_t i = 0; i < b->cost.n; i++)
        measure(&b->cost.cuts[i], b, s, b->cost.price);
    if (has_column(b, BOUND_NIC)) {
        find_fastest(b, s); /* multipliers from where they were */
        find_curve(&b->nic, b, s);
    }
}

/* Bounds hold for closed forms without a choice of algorithm by size: then T(B) is a fixed convex function.
 */
int bound_prepare(struct bound *b, const struct design_point *s, struct err *e)
{
    double endless[D];
    b->possible = s->n_workloads > 0 && (s->model == SIM_BANDWIDTH || s->model == SIM_ALPHA_BETA) &&
                  !design_point_has_choice(s) && !topo_has_fabric(&s->net); /* whose levels no total holds */
    b->cost.n = b->nic.n = b->cheapest = 0;
    int rc = bound_reserve(b, s, e);
    if (rc || !b->possible)
        return rc;
    b->scaled = false;
    for (int32_t i = 0; i < s->n_workloads; i++)
        b->scaled = b->scaled || s->workloads[i].fn.n_maxima > 0;
    for (int32_t d = 0; d < D; d++)
        endless[d] = INFINITY;
    b->compute_s = design_point_compiled_s(s, endless);
    b->cost.fixed = design_point_fixed_usd(s);
    for (int32_t d = 0; d < s->net.n_dims && s->has_parts; d++) {
        b->cost.price[d] = s->prices[d].usd_per_Bps;
        b->nic.price[d] = s->prices[d].nic_share;
        if (b->cost.price[d] < b->cost.price[b->cheapest])
            b->cheapest = d;
    }
    find_all(b, s);
    return 0;
}

static bool is_total(const struct alloc_row *row, int32_t n_dims)
{
    for (int32_t d = 0; d < n_dims; d++)
        if (row->coef[d] != 1)
            return false;
    return true;
}

/* The least total that the study allows: all of it, in whole parts less by less than a port. */
static double least_total(const struct design_point *s)
{
    double least = s->total_Bps;
    for (int32_t i = 0; i < s->rows.n && s->pricing == DESIGN_WHOLE; i++)
        if (s->rows.rows[i].sense == LINEXPR_GE && is_total(&s->rows.rows[i], s->net.n_dims))
            least = fmin(least, s->rows.rows[i].rhs);
    return least;
}

/* What the cuts say of the price of what takes time_s or less. Whole parts cost more than that, or as much.
 */
static double curve_at(const struct bound_curve *c, const struct design_point *s, double time_s)
{
    double most = 0, total_Bps = s->total_Bps, least_Bps = least_total(s);
    for (int32_t i = 0; i < c->n; i++) {
        const struct bound_cut *cut = &c->cuts[i];
        double left_s = time_s - cut->step.const_s * (1 - ROUNDING);
        if (!(left_s > 0))
            return INFINITY;
        if (isnan(total_Bps) && cut->mu != 0)
            continue;
        double spent = cut->mu * (cut->mu > 0 ? total_Bps : least_Bps);
        most = fmax(most, cut->root2 / left_s - (cut->mu != 0 ? spent + ROUNDING * fabs(spent) : 0));
    }
    return (c->fixed + most) * (1 - MARGIN);
}

double bound_cost_usd(const struct bound *b, const struct design_point *s, double time_s)
{
    return b->possible && s->has_parts ? curve_at(&b->cost, s, time_s) : -INFINITY;
}

double bound_nic_Bps(const struct bound *b, const struct design_point *s, double time_s)
{
    return b->possible && b->nic.n ? curve_at(&b->nic, s, time_s) : -INFINITY;
}

/* ---- time ---- */

/* sum_d coef_d B_d <= rhs with no coefficient below 0: a price of its own. */
static bool is_limit(const struct alloc_row *row, int32_t n_dims)
{
    for (int32_t d = 0; d < n_dims; d++)
        if (row->coef[d] < 0)
            return false;
    return row->sense != LINEXPR_GE && row->rhs > 0;
}

static double row_time(const struct bound_cut *cut, const struct alloc_row *row, int32_t n_dims)
{
    double root = alloc_cut_root(&cut->step, row->coef, n_dims);
    return cut->step.const_s + root * root / row->rhs;
}

/* The least time under every limit on bandwidth or money; MARGIN allows for the solver's gap and rounding. */
double bound_time_s(const struct bound *b, const struct design_point *s)
{
    double least = b->fastest.step.const_s;
    if (!b->possible)
        return -INFINITY;
    for (int32_t i = 0; i < s->rows.n; i++) {
        const struct alloc_row *row = &s->rows.rows[i];
        if (!is_limit(row, s->net.n_dims))
            continue;
        least = fmax(least, row_time(&b->fastest, row, s->net.n_dims));
        /* Of a limit of money the cuts by price know more. */
        for (int32_t k = 0; k < b->cost.n && !is_total(row, s->net.n_dims); k++)
            least = fmax(least, row_time(&b->cost.cuts[k], row, s->net.n_dims));
    }
    return least * (1 - MARGIN);
}

/* ---- what is known of the answer ---- */

/* A point that is asked about. */
struct bound_ask {
    const struct bound *b;
    const struct design_point *s;
    const struct front *known;
    struct incumbent best;     /* what a split certainly reaches */
    double equal_s, equal_usd; /* the even split; NaN = not known */
    int left;                  /* slices that may still be looked at */
};

static double cost_at(const struct bound *b, const double *bw_Bps, int32_t n_dims)
{
    double usd = b->cost.fixed;
    for (int32_t d = 0; d < n_dims; d++)
        usd += b->cost.price[d] * bw_Bps[d];
    return usd;
}

/* The most of these shares that the rows allow; INFINITY where they set no limit. */
static double most_of(const double *share, const struct design_point *s)
{
    double most = INFINITY;
    for (int32_t i = 0; i < s->rows.n; i++) {
        const struct alloc_row *row = &s->rows.rows[i];
        double used = 0;
        for (int32_t d = 0; d < s->net.n_dims; d++)
            used += row->coef[d] * share[d];
        if (row->sense != LINEXPR_GE && used > 0)
            most = fmin(most, row->rhs / used);
    }
    return most;
}

static bool is_allowed(const double *bw_Bps, const struct design_point *s)
{
    for (int32_t i = 0; i < s->rows.n; i++)
        if (fabs(alloc_outside(&s->rows.rows[i], bw_Bps, s->net.n_dims)) > 1e-12)
            return false;
    return true;
}

/* So much of a cut's shares, and the rest where it costs least. */
struct bound_mix {
    const struct bound_cut *cut;
    double used_Bps, rest_Bps;
};

/* The objective at one split; INFINITY where the rows forbid it. The answer's is no more. */
static double value_at(const struct bound_ask *a, struct bound_mix m)
{
    const struct design_point *s = a->s;
    double bw_Bps[D];
    if (!m.cut || !(m.used_Bps > 0 && isfinite(m.used_Bps)))
        return INFINITY;
    for (int32_t d = 0; d < s->net.n_dims; d++)
        bw_Bps[d] = m.used_Bps * m.cut->share[d];
    bw_Bps[a->b->cheapest] += m.rest_Bps;
    if (!is_allowed(bw_Bps, s))
        return INFINITY;
    double time_s = design_point_compiled_s(s, bw_Bps), usd = cost_at(a->b, bw_Bps, s->net.n_dims);
    bool late = alloc_is_limited(s->objective) && !(time_s <= s->time_limit_s);
    return late ? (double)INFINITY : alloc_value_of(s->objective, time_s, usd);
}

/*
 * How much of the shares is best, when the rest of a total is spent where it costs least: time compute + L/x
 * times cost A + x q is least at x = sqrt(A L/(compute q)); a time limit leaves x = L/(limit - compute).
 * *value is what comes out where that is so: exact but for maxima.
 */
static struct bound_mix mix_of(const struct bound_ask *a, const struct bound_cut *cut, double *value)
{
    const struct bound *b = a->b;
    const struct design_point *s = a->s;
    bool spent = !isnan(s->total_Bps);
    double most = most_of(cut->share, s), least_price = spent ? b->cost.price[b->cheapest] : 0;
    double fixed = b->cost.fixed + (spent ? most * least_price : 0), more = cut->price - least_price;
    double x = alloc_is_limited(s->objective) ? cut->busy_B / (s->time_limit_s - b->compute_s) * (1 + MARGIN)
                                              : sqrt(fixed * cut->busy_B / (b->compute_s * more));
    if (!(x > 0 && x < most))
        x = most;
    *value = fixed + x * more;
    if (alloc_is_product(s->objective))
        *value *= b->compute_s + cut->busy_B / x;
    return (struct bound_mix){ cut, x, spent ? fmax(most - x, 0) : 0 };
}

/* The same without a rest: no maximum is passed on the way from the total it was measured at. */
static struct bound_mix whole_of(const struct bound_ask *a, const struct bound_cut *cut, double *value)
{
    const struct bound *b = a->b;
    double most = most_of(cut->share, a->s), usd = b->cost.fixed + most * cut->price;
    *value = alloc_value_of(a->s->objective, b->compute_s + cut->busy_B / most, usd);
    return (struct bound_mix){ cut, most, 0 };
}

/* An objective value that some split certainly reaches: the solver can only do better, so slices above it are
 * empty. */
static double value_known(const struct bound_ask *a)
{
    const struct bound *b = a->b;
    const struct design_point *s = a->s;
    struct bound_mix best[2] = { { 0 } };
    double least[2] = { INFINITY, INFINITY };
    /* A split in fractions is none of whole parts. */
    if (s->combine == DESIGN_REGRET || alloc_objectives[s->objective].counted != ALLOC_COUNTED_USD ||
        s->pricing == DESIGN_WHOLE)
        return INFINITY;
    if (alloc_is_time(s->objective))
        best[0] = (struct bound_mix){ &b->fastest, most_of(b->fastest.share, s), 0 };
    for (int32_t i = -1; i < b->cost.n && !alloc_is_time(s->objective); i++) {
        const struct bound_cut *cut = i < 0 ? &b->fastest : &b->cost.cuts[i];
        for (int k = 0; k < (b->scaled ? 2 : 1); k++) {
            double value;
            struct bound_mix m = k ? whole_of(a, cut, &value) : mix_of(a, cut, &value);
            if (value < least[k]) {
                least[k] = value;
                best[k] = m;
            }
        }
    }
    return fmin(value_at(a, best[0]), value_at(a, best[1]));
}

/* ---- slices ---- */

/* Is the answer none of what takes from_s to to_s? */
static bool is_empty(const struct bound_ask *a, double from_s, double to_s)
{
    const enum alloc_objective o = a->s->objective;
    double usd = alloc_is_time(o) ? NAN : bound_cost_usd(a->b, a->s, to_s);
    return incumbent_rules_out(&a->best, alloc_value_of(o, from_s, usd)) ||
           (alloc_is_limited(o) && from_s > a->s->time_limit_s * (1 + MARGIN));
}

static double total_GBps(const struct bound_ask *a, double to_s)
{
    const struct bound_cut *f = &a->b->fastest;
    if (!isnan(a->s->total_Bps))
        return a->s->total_Bps / 1e9; /* to the bit what the row says */
    double left_s = to_s - f->step.const_s * (1 - ROUNDING);
    return left_s > 0 ? f->root2 / left_s * (1 - MARGIN) / 1e9 : INFINITY;
}

/* What no design that takes from_s to to_s is below in a column; its sign changed where large is better. */
static double corner(const struct bound_ask *a, int32_t c, double from_s, double to_s)
{
    const struct bound *b = a->b;
    double usd;
    switch (b->columns[c]) {
    case BOUND_TIME:
        return from_s;
    case BOUND_COST:
        return bound_cost_usd(b, a->s, to_s);
    case BOUND_NIC:
        return bound_nic_Bps(b, a->s, to_s) / 1e9;
    case BOUND_TOTAL:
        if (b->large[c])
            return isnan(a->s->total_Bps) ? -INFINITY : -a->s->total_Bps / 1e9;
        return total_GBps(a, to_s);
    case BOUND_DIMS:
        return b->large[c] ? -a->s->net.n_dims : a->s->net.n_dims;
    case BOUND_SPEEDUP:
        return -a->equal_s / from_s * (1 + MARGIN);
    case BOUND_GAIN:
        usd = bound_cost_usd(b, a->s, to_s);
        return -a->equal_s * a->equal_usd / (from_s * usd) * (1 + MARGIN);
    default:
        return -INFINITY;
    }
}

static bool bound_is_worse(const struct bound_ask *a, double from_s, double to_s)
{
    double x[FRONT_MAX_COLUMNS];
    for (int32_t c = 0; c < a->b->n_cols; c++) {
        x[c] = corner(a, c, from_s, to_s);
        if (isnan(x[c]) || x[c] == (double)-INFINITY)
            return false;
    }
    return front_dominates(a->known, x);
}

/* Slices thinner than this tell no more. */
#define THINNEST 1e-6

static bool is_out(struct bound_ask *a, double from_s, double to_s)
{
    if (is_empty(a, from_s, to_s) || bound_is_worse(a, from_s, to_s))
        return true;
    if (a->left-- <= 0 || !(to_s > from_s * (1 + THINNEST)))
        return false;
    double middle = isfinite(to_s) ? sqrt(from_s * to_s) : 2 * from_s;
    return is_out(a, from_s, middle) && is_out(a, middle, to_s);
}

static double longest(const struct bound_ask *a)
{
    if (alloc_is_limited(a->s->objective))
        return a->s->time_limit_s * (1 + MARGIN);
    if (alloc_is_time(a->s->objective) || isinf(a->best.value)) /* nothing is known of W but of prices */
        return incumbent_limit(&a->best);
    return incumbent_limit(&a->best) / bound_cost_usd(a->b, a->s, INFINITY);
}

static void look_at_equal(struct bound_ask *a)
{
    const struct design_point *s = a->s;
    double bw_Bps[D];
    a->equal_s = a->equal_usd = NAN;
    if (isnan(s->total_Bps) || s->pricing == DESIGN_WHOLE ||
        !(has_column(a->b, BOUND_SPEEDUP) || has_column(a->b, BOUND_GAIN)))
        return; /* of whole parts it is one that constraints leave: not known before */
    for (int32_t d = 0; d < s->net.n_dims; d++)
        bw_Bps[d] = s->total_Bps / s->net.n_dims;
    a->equal_s = design_point_compiled_s(s, bw_Bps);
    a->equal_usd = s->has_parts ? cost_at(a->b, bw_Bps, s->net.n_dims) : (double)NAN;
}

/* Cheap tests first: the corner without further knowledge, then the walk through slices of time. */
bool bound_beaten(struct bound *b, const struct design_point *s, const struct front *known)
{
    struct bound_ask a = {
        .b = b, .s = s, .known = known, .best = incumbent_none(STALLED), .left = MOST_SLICES
    };
    if (!b->possible || s->split == DESIGN_GIVEN || !known || !known->n || has_column(b, BOUND_UNKNOWN))
        return false;
    if (b->scaled && isfinite(s->total_Bps) && s->total_Bps != b->total_Bps)
        find_all(b, s);
    double from_s = bound_time_s(b, s);
    look_at_equal(&a);
    /* First without knowing more: many points are far from the front. */
    if (bound_is_worse(&a, from_s, INFINITY))
        return true;
    a.best.value = value_known(&a);
    double to_s = longest(&a);
    return from_s > 0 && to_s >= from_s && is_out(&a, from_s, to_s);
}
