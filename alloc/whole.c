/*
 * The best design of a lattice: every block of dimensions takes one of its choices, prices are those of the
 * choices. Branch and bound, blocks one after the other, the one with most choices last.
 *
 * Lower bounds are weak duality, on the lattice instead of the continuum. Multipliers of leaves and maxima
 * (a cut: T(B) >= c + sum_d a_d/B_d for every B), mu >= 0 on what the objective multiplies or counts (W:
 * money, for utilization bandwidth) and lambda on rows prove for every design that satisfies the rows T + mu
 * W >= c - lambda.rhs + sum over blocks of f(choice), f = sum_d a_d/B_d + mu w + lambda.r, where w and r are
 * what the choice adds to W and to the left sides of the rows. The sum separates: blocks that are not chosen
 * yet count with their least f, so a branch is bounded in O(multipliers). No price need be convex or grow
 * with bandwidth: that of a Clos does neither where switches come to be shared. Multipliers come from the
 * relaxation's bounds (alloc/bound.h), with lambda and mu scaled, and from subgradients at good designs.
 *
 * From T + mu W >= phi for several mu: least time is the greatest phi at mu = 0; least W within a time limit
 * (phi - limit)/mu; a product T (W + fixed) is least at a corner of the polygon that the lines bound, for it
 * is concave along every edge. Where failures make the product grow (1 over goodput) so does its bound, by
 * those of the fewest parts that are left to choose.
 *
 * Beside the lines stands what a choice takes with all other blocks at their most. Before branching, choices
 * that are in no design as good as the best so far are left out, which tightens the least sums, which leaves
 * out more.
 *
 * Invariants: a branch is cut off only where its bound exceeds the best value by INCUMBENT_EQUAL_REL, or
 * where it can at best tie and costs more; bounds are lowered by what their sums may have rounded.
 */
#include "alloc/whole.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/incumbent.h"
#include "alloc/lp.h"
#include "base/arena.h"
#include "base/stat.h"
#include "base/work.h"

enum {
    D = TOPO_MAX_DIMS,
    MAX_LINES = 20,
    CHUNK = 256,
    ENUMERATED = 10000, /**< designs that are simply tried, of a step of some hundred numbers */
    MAX_COUNTED = 100000,
    TIMED = 8,     /**< a design that is timed, in bounds of single designs */
    SUMMED = 2000, /**< one whose objective is more than its time and what it spends */
};

/** Rows hold to as much of their largest part. */
#define ROW_REL 1e-12

/** Bounds of single designs, and branches: some seconds. As long as better designs are found the search
 * begins again after FIRST_WORK, and so on, with fewer choices left. */
#define MAX_WORK   300000000LL
#define FIRST_WORK 1000000LL

/** Multipliers, and what they make of every choice. */
struct whole_line {
    double mu, constant;
    double *f[D];       /**< of each block, shape [n] */
    double rest[D + 1]; /**< least sum over blocks from this one on */
};

/** A block with all that is added up, its choices in the order in which they are tried. */
struct whole_price_block {
    const struct whole_block *given;
    int64_t n;      /**< choices that are tried: the first of `order`; those after it are proved worse */
    int64_t *order; /**< shape [given->n]: choices as given */
    double *time_s; /**< no design with this choice takes less: all other blocks at their most */
    double **sum;   /**< shape [n_sums][given->n]: what each choice adds */
    /** Over the choices that are tried: of every line's f and of every sum. */
    double f_least[MAX_LINES], *least, *most;
};

/** What is added up over blocks: what the objective counts, the price, interruptions a second; then the left
 * sides of the rows. */
enum { OF_W, OF_USD, OF_STOPS, OF_ROWS };

/** Sums over the blocks that are chosen. */
struct whole_node {
    double phi[MAX_LINES], time_s;
    double *sum; /**< shape [n_sums] */
};

struct whole {
    const struct alloc_problem *p;
    struct whole_answer *out;
    struct arena arena;
    struct whole_price_block blocks[D];
    int32_t n_blocks, given_at[D]; /**< which one of the lattice a block is */
    struct whole_line lines[MAX_LINES];
    int32_t n_lines;
    int32_t n_sums;
    double *least, *most; /**< shape [n_blocks + 1][n_sums]: what blocks from one on add */
    double *row_slack;    /**< shape [n_rows]: rounding */
    double fixed;         /**< added to W */
    struct whole_node nodes[D + 1];
    int64_t at[D]; /**< choices of the branch, in the order of blocks here */
    int64_t work, most_work;
    bool counting;         /**< second pass: what ties with the best */
    bool failed;           /**< no memory */
    struct incumbent best; /**< price: what it costs in USD; open: branches given up */
    int64_t best_at[D];
};

/* ---- a design ---- */

static void read_bandwidths(double *bw_Bps, const struct whole *s, const int64_t *at)
{
    for (int32_t b = 0; b < s->n_blocks; b++) {
        const struct whole_block *g = s->blocks[b].given;
        for (int32_t d = 0; d < g->n_dims; d++)
            bw_Bps[g->first + d] = g->bw_Bps[s->blocks[b].order[at[b]] * g->n_dims + d];
    }
}

/* By how much failures make the objective grow. */
static double growth_of(const struct whole *s, double stops_per_s)
{
    return s->p->growth ? s->p->growth(s->p->about, stops_per_s) : 1;
}

/* What the objective is at a time and W. */
static double whole_value_of(const struct whole *s, double time_s, double w, double growth)
{
    double value = alloc_value_of(s->p->objective, time_s, w + s->fixed) * growth;
    return alloc_is_late(s->p, time_s) ? (double)INFINITY : value;
}

static double row_over(const struct alloc_row *row, double sum)
{
    double over = sum - row->rhs;
    return row->sense == LINEXPR_LE ? fmax(over, 0) : row->sense == LINEXPR_GE ? fmax(-over, 0) : fabs(over);
}

/* The first row that a design breaks, -1 = none. */
static int32_t broken_row(const struct whole *s, const int64_t *at)
{
    for (int32_t i = 0; i < s->p->n_rows; i++) {
        double sum = 0, size = fabs(s->p->rows[i].rhs);
        for (int32_t b = 0; b < s->n_blocks; b++) {
            double part = s->blocks[b].sum[OF_ROWS + i][at[b]];
            sum += part;
            size = fmax(size, fabs(part));
        }
        if (row_over(&s->p->rows[i], sum) > ROW_REL * size)
            return i;
    }
    return -1;
}

bool alloc_is_late(const struct alloc_problem *p, double time_s)
{
    return alloc_is_limited(p->objective) && !(time_s <= p->time_limit_s * (1 + INCUMBENT_EQUAL_REL));
}

/* One of the sums of a design. */
static double sum_of(const struct whole *s, const int64_t *at, int32_t of)
{
    double sum = of == OF_USD ? s->p->usd_fixed : 0;
    for (int32_t b = 0; b < s->n_blocks; b++)
        sum += s->blocks[b].sum[of][at[b]];
    return sum;
}

/* Is one of equal value and price more even: its least bandwidth greater, or the next, and so on? */
static bool is_more_even(const struct whole *s, const int64_t *at, const int64_t *than)
{
    double x[D], y[D];
    int32_t n = s->p->step->n_dims;
    read_bandwidths(x, s, at);
    read_bandwidths(y, s, than);
    stat_sort(x, n);
    stat_sort(y, n);
    for (int32_t d = 0; d < n; d++)
        if (x[d] != y[d])
            return x[d] > y[d];
    return false;
}

static void list_tie(struct whole *s, const int64_t *at, double time_s, double usd)
{
    struct whole_answer *out = s->out;
    struct whole_tie tie = { .time_s = time_s, .cost_usd = usd };
    read_bandwidths(tie.bw_Bps, s, at);
    for (int32_t d = 0; d < s->p->step->n_dims; d++) {
        out->lo_Bps[d] = fmin(out->lo_Bps[d], tie.bw_Bps[d]);
        out->hi_Bps[d] = fmax(out->hi_Bps[d], tie.bw_Bps[d]);
    }
    out->n_ties++;
    /* The best itself was put first. */
    if (memcmp(at, s->best_at, (size_t)s->n_blocks * sizeof *at) == 0)
        return;
    int32_t i = out->n_listed;
    if (i == WHOLE_MAX_TIES && usd >= out->ties[i - 1].cost_usd)
        return;
    i = i < WHOLE_MAX_TIES ? out->n_listed++ : i - 1;
    for (; i > 1 && out->ties[i - 1].cost_usd > usd; i--)
        out->ties[i] = out->ties[i - 1];
    out->ties[i] = tie;
}

/* A design whose rows hold: time it, keep it if it is better. */
static void try_design(struct whole *s, const int64_t *at)
{
    double bw_Bps[D];
    s->work += TIMED;
    if (broken_row(s, at) >= 0)
        return;
    read_bandwidths(bw_Bps, s, at);
    double time_s = step_time(s->p->step, bw_Bps);
    double value = whole_value_of(s, time_s, sum_of(s, at, OF_W), growth_of(s, sum_of(s, at, OF_STOPS))),
           usd = sum_of(s, at, OF_USD);
    if (s->p->exact && isfinite(value) && !incumbent_rules_out_priced(&s->best, value, usd)) {
        s->work += SUMMED;
        value = s->p->exact(s->p->about, bw_Bps, time_s);
        s->failed = s->failed || isnan(value);
    }
    s->out->n_evaluated += !s->counting;
    if (!isfinite(value))
        return;
    if (s->counting) {
        if (!incumbent_rules_out(&s->best, value))
            list_tie(s, at, time_s, usd);
        return;
    }
    int worse = incumbent_compare(&s->best, value, usd);
    if (worse > 0 || (worse == 0 && !is_more_even(s, at, s->best_at)))
        return;
    s->best.value = value;
    s->best.price = usd;
    memcpy(s->best_at, at, (size_t)s->n_blocks * sizeof *at);
}

/* ---- bounds of a branch ---- */

/* Lines T + mu_m W >= phi_m over the plane of W and T. */
struct bound_lines {
    const double *mu, *phi; /* shape [n] */
    int32_t n;
};

/* Least product T (W + fixed) where W >= w_least and T >= phi_m - mu_m W for all lines: along their upper
 * envelope from the left, corner by corner. */
static double least_product(const struct bound_lines *l, double fixed, double w_least)
{
    double w = w_least, least = INFINITY;
    int32_t on = 0;
    for (int32_t m = 1; m < l->n; m++) {
        double lift = l->phi[m] - l->mu[m] * w - (l->phi[on] - l->mu[on] * w);
        if (lift > 0 || (lift == 0 && l->mu[m] < l->mu[on]))
            on = m;
    }
    for (int32_t turns = 0; turns <= l->n; turns++) {
        double next = INFINITY;
        int32_t to = -1;
        least = fmin(least, fmax(l->phi[on] - l->mu[on] * w, 0) * (w + fixed));
        for (int32_t m = 0; m < l->n; m++) {
            double fall = l->mu[on] - l->mu[m];
            double cross = fall > 0 ? (l->phi[on] - l->phi[m]) / fall : (double)INFINITY;
            if (cross < next || (cross == next && to >= 0 && l->mu[m] < l->mu[to])) {
                next = cross;
                to = m;
            }
        }
        if (to < 0)
            return least;
        w = fmax(w, next);
        on = to;
    }
    return least;
}

/* The least that the objective can be where the lines hold, W >= w_least. */
static double bound_objective(const struct alloc_problem *p, const struct bound_lines *l, double fixed,
                              double w_least)
{
    double least = 0;
    switch (alloc_objectives[p->objective].form) {
    case ALLOC_FORM_TIME:
        for (int32_t m = 0; m < l->n; m++)
            least = fmax(least, l->phi[m]);
        return least;
    case ALLOC_FORM_LIMITED:
        least = w_least;
        for (int32_t m = 0; m < l->n; m++) {
            double over = l->phi[m] - p->time_limit_s * (1 + INCUMBENT_EQUAL_REL);
            if (over > 0)
                least = l->mu[m] > 0 ? fmax(least, over / l->mu[m]) : (double)INFINITY;
        }
        return least + fixed;
    case ALLOC_FORM_PRODUCT:
        break;
    }
    return least_product(l, fixed, w_least);
}

/* Of all designs below a node, whose phi have the rest added and which take time_s at least: the least value.
 */
static double bound_of(const struct whole *s, double *phi, double time_s, double w_least, double stops_least)
{
    double mu[MAX_LINES];
    if (s->n_lines == 0)
        return 0;
    for (int32_t m = 0; m < s->n_lines; m++) {
        mu[m] = s->lines[m].mu;
        if (mu[m] == 0)
            phi[m] = fmax(phi[m], time_s);
    }
    return bound_objective(s->p, &(struct bound_lines){ mu, phi, s->n_lines }, s->fixed, w_least) *
           growth_of(s, stops_least * (1 - INCUMBENT_EQUAL_REL));
}

/* Where row i holds for no left side from least to most: 1, all are too much; -1, too little. */
static int row_misses(const struct whole *s, int32_t i, double least, double most)
{
    const struct alloc_row *row = &s->p->rows[i];
    bool above = row->sense != LINEXPR_GE && least > row->rhs + s->row_slack[i],
         below = row->sense != LINEXPR_LE && most < row->rhs - s->row_slack[i];
    return above ? 1 : -below;
}

/* Can the rows hold with some choice of blocks from `depth` on? */
static bool rows_can_hold(const struct whole *s, const struct whole_node *n, int32_t depth)
{
    const double *least = &s->least[(ptrdiff_t)depth * s->n_sums],
                 *most = &s->most[(ptrdiff_t)depth * s->n_sums];
    for (int32_t i = 0, at = OF_ROWS; i < s->p->n_rows; i++, at++)
        if (row_misses(s, i, n->sum[at] + least[at], n->sum[at] + most[at]))
            return false;
    return true;
}

/* ---- the search ---- */

static bool is_over(const struct whole *s)
{
    return s->work > s->most_work || (s->counting && s->out->n_ties >= MAX_COUNTED) || work_stopped();
}

/* Times of the last block's choices from..from+n-1 as the flat lines bound them; what is left out of time
 * bounds costs nothing. */
static void bound_chunk(double *time_s, const struct whole *s, const struct whole_node *up, int64_t from,
                        int32_t n)
{
    int32_t last = s->n_blocks - 1;
    const double *alone_s = s->blocks[last].time_s + from;
    for (int32_t i = 0; i < n; i++) /* not fmax(): by vectors */
        time_s[i] = up->time_s > alone_s[i] ? up->time_s : alone_s[i];
    for (int32_t m = 0; m < s->n_lines; m++) {
        const double *f = s->lines[m].f[last] + from;
        double phi = up->phi[m];
        if (s->lines[m].mu > 0)
            continue;
        for (int32_t i = 0; i < n; i++)
            time_s[i] = time_s[i] > phi + f[i] ? time_s[i] : phi + f[i];
    }
}

static void try_last(struct whole *s, const struct whole_node *up)
{
    int32_t last = s->n_blocks - 1;
    const struct whole_price_block *b = &s->blocks[last];
    double time_s[CHUNK],
        growth = growth_of(s, (up->sum[OF_STOPS] + b->least[OF_STOPS]) * (1 - INCUMBENT_EQUAL_REL));
    for (int64_t from = 0; from < b->n && !is_over(s); from += CHUNK) {
        int32_t n = b->n - from < CHUNK ? (int32_t)(b->n - from) : CHUNK;
        /* Choices are in the order of the first line. */
        if (s->n_lines && alloc_is_time(s->p->objective) &&
            incumbent_rules_out(&s->best, up->phi[0] + s->lines[0].f[last][from]))
            return;
        s->work += n;
        bound_chunk(time_s, s, up, from, n);
        for (int32_t i = 0; i < n; i++) {
            double value = whole_value_of(s, time_s[i], up->sum[OF_W] + b->sum[OF_W][from + i], growth);
            if (incumbent_rules_out_priced(&s->best, value,
                                           s->p->usd_fixed + up->sum[OF_USD] + b->sum[OF_USD][from + i]))
                continue;
            s->at[last] = from + i;
            try_design(s, s->at);
        }
    }
}

static void choose(struct whole_node *to, const struct whole *s, int32_t depth, int64_t k)
{
    const struct whole_node *up = &s->nodes[depth];
    const struct whole_price_block *b = &s->blocks[depth];
    for (int32_t m = 0; m < s->n_lines; m++)
        to->phi[m] = up->phi[m] + s->lines[m].f[depth][k];
    to->time_s = fmax(up->time_s, b->time_s[k]);
    for (int32_t i = 0; i < s->n_sums; i++)
        to->sum[i] = up->sum[i] + b->sum[i][k];
}

static void branch(struct whole *s, int32_t depth)
{
    if (depth == s->n_blocks - 1) {
        try_last(s, &s->nodes[depth]);
        return;
    }
    for (int64_t k = 0; k < s->blocks[depth].n; k++) {
        struct whole_node *n = &s->nodes[depth + 1];
        const double *rest = &s->least[((ptrdiff_t)depth + 1) * s->n_sums];
        double phi[MAX_LINES];
        choose(n, s, depth, k);
        s->work++;
        for (int32_t m = 0; m < s->n_lines; m++)
            phi[m] = n->phi[m] + s->lines[m].rest[depth + 1];
        if (s->n_lines && alloc_is_time(s->p->objective) && incumbent_rules_out(&s->best, phi[0]))
            return;
        double bound =
            bound_of(s, phi, n->time_s, n->sum[OF_W] + rest[OF_W], n->sum[OF_STOPS] + rest[OF_STOPS]);
        if (incumbent_rules_out_priced(&s->best, bound, s->p->usd_fixed + n->sum[OF_USD] + rest[OF_USD]) ||
            !rows_can_hold(s, n, depth + 1))
            continue;
        if (is_over(s)) {
            incumbent_leave_open(&s->best, bound, 1);
            continue;
        }
        s->at[depth] = k;
        branch(s, depth + 1);
        /* The last block may have been given up half-way. */
        if (is_over(s))
            incumbent_leave_open(&s->best, bound, 1);
    }
}

/* ---- multipliers ---- */

static double f_of(const struct whole *s, const struct alloc_cut *cut, double mu, const double *lambda,
                   int32_t b, int64_t k)
{
    const struct whole_block *g = s->blocks[b].given;
    const double *bw_Bps = &g->bw_Bps[s->blocks[b].order[k] * g->n_dims];
    double f = mu * s->blocks[b].sum[OF_W][k];
    for (int32_t d = 0; d < g->n_dims; d++)
        if (cut->pull_B[g->first + d] > 0)
            f += cut->pull_B[g->first + d] / bw_Bps[d];
    for (int32_t i = 0; lambda && i < s->p->n_rows; i++)
        f += lambda[i] * s->blocks[b].sum[OF_ROWS + i][k];
    return f;
}

/* Fill a line; lowered by what its sums can have rounded. */
static void line_fill(struct whole_line *line, const struct whole *s, const struct alloc_cut *cut, double mu,
                      const double *lambda, double factor, double *scaled)
{
    double size = fabs(cut->const_s);
    line->mu = mu * factor;
    line->constant = cut->const_s;
    for (int32_t i = 0; lambda && i < s->p->n_rows; i++) {
        scaled[i] = lambda[i] * factor;
        line->constant -= scaled[i] * s->p->rows[i].rhs;
        size += fabs(scaled[i] * s->p->rows[i].rhs) + fabs(scaled[i]) * s->row_slack[i] / DBL_EPSILON / 8;
    }
    line->rest[s->n_blocks] = 0;
    for (int32_t b = s->n_blocks; b-- > 0;) {
        double least = INFINITY;
        for (int64_t k = 0; k < s->blocks[b].given->n; k++) {
            double f = f_of(s, cut, line->mu, lambda ? scaled : NULL, b, k);
            line->f[b][k] = f;
            least = fmin(least, f);
        }
        size += fabs(least);
        line->rest[b] = least + line->rest[b + 1];
    }
    line->constant -= 64 * DBL_EPSILON * size;
}

static double line_root(const struct whole_line *line)
{
    return line->constant + line->rest[0];
}

static struct whole_line *line_add(struct whole *s, const struct alloc_cut *cut, double mu,
                                   const double *lambda, double factor, double *scaled)
{
    struct whole_line *line = &s->lines[s->n_lines];
    if (s->n_lines == MAX_LINES)
        return NULL;
    for (int32_t b = 0; b < s->n_blocks; b++)
        if (!line->f[b])
            line->f[b] = ARENA_TAKE(&s->arena, s->blocks[b].given->n, *line->f[b]);
    if (s->arena.failed)
        return NULL;
    line_fill(line, s, cut, mu, lambda, factor, scaled);
    if (!isfinite(line_root(line)))
        return NULL;
    s->n_lines++;
    return line;
}

/* The design that a line finds best on its own, if the rows allow it, then moved block by block. */
static void try_least(struct whole *s, const struct whole_line *line)
{
    int64_t at[D] = { 0 };
    for (int32_t b = 0; b < s->n_blocks; b++)
        for (int64_t k = 1; k < s->blocks[b].given->n; k++)
            if (line->f[b][k] < line->f[b][at[b]])
                at[b] = k;
    try_design(s, at);
}

enum { MAX_MOVES = 20, MAX_TRIED = 4096, MAX_HALVINGS = 50 };

/* Is a design known, or only what it has to beat? */
static bool has_design(const struct whole *s)
{
    return isfinite(s->best.price);
}

/* Blocks one at a time, as long as that helps. */
static void improve(struct whole *s)
{
    for (int32_t moves = 0; moves < MAX_MOVES && has_design(s); moves++) {
        double before = s->best.value, usd = s->best.price;
        for (int32_t b = 0; b < s->n_blocks; b++) {
            int64_t at[D], n = s->blocks[b].given->n, by = n / MAX_TRIED + 1;
            memcpy(at, s->best_at, sizeof at);
            for (at[b] = 0; at[b] < n; at[b] += by)
                try_design(s, at);
        }
        if (s->best.value == before && s->best.price == usd)
            return;
    }
}

/* Multipliers of rows and W at several factors: those of the relaxation are too small where whole parts cost
 * more. The best few of each cut are kept. */
static void add_scaled(struct whole *s, const struct alloc_cut *cut, double mu, const double *lambda,
                       double *scaled)
{
    static const double factors[] = { 1, 0.8, 0.65, 0.5, 0.25, 1.25, 1.6, 2, 4 };
    bool product = alloc_is_product(s->p->objective);
    int32_t first = s->n_lines, keep = product ? 4 : 2;
    for (size_t i = 0; i < sizeof factors / sizeof *factors && s->n_lines < MAX_LINES; i++) {
        struct whole_line *line = line_add(s, cut, mu, lambda, factors[i], scaled);
        if (!line || s->n_lines <= first + keep)
            continue;
        if (product) { /* each mu bounds another stretch of W */
            s->n_lines--;
            break;
        }
        /* The weakest makes room. */
        int32_t weakest = first;
        double at_weakest = INFINITY;
        for (int32_t m = first; m < s->n_lines; m++) {
            double root = line_root(&s->lines[m]);
            if (alloc_is_limited(s->p->objective))
                root = (root - s->p->time_limit_s) / s->lines[m].mu;
            if (root < at_weakest) {
                at_weakest = root;
                weakest = m;
            }
        }
        struct whole_line last = s->lines[s->n_lines - 1];
        s->lines[s->n_lines - 1] = s->lines[weakest];
        s->lines[weakest] = last;
        s->n_lines--;
    }
}

/* Prices of rows where time counts once; is any of them not 0? */
static bool read_duals(double *lambda, const struct alloc_bound *b, const struct alloc_problem *p)
{
    bool any = false;
    for (int32_t i = 0; i < p->n_rows; i++) {
        lambda[i] = (p->rows[i].sense == LINEXPR_GE ? -b->row_dual[i] : b->row_dual[i]) / b->time_weight;
        any = any || lambda[i] != 0;
    }
    return any;
}

/* Lines from one bound of the relaxation. */
static int add_bound(struct whole *s, const struct alloc_bound *b, double *lambda, double *scaled,
                     struct err *e)
{
    struct alloc_cut cut;
    if (!(b->time_weight > 0))
        return 0;
    int rc = alloc_cut_of_bound(&cut, b, s->p, e);
    double mu = b->cost_weight / b->time_weight;
    bool prices = read_duals(lambda, b, s->p) || mu > 0;
    if (rc)
        return rc;
    line_add(s, &cut, 0, NULL, 1, scaled);
    if (prices)
        add_scaled(s, &cut, mu, lambda, scaled);
    return 0;
}

/* Of a product: lines that touch its hyperbola near the best design. */
static void add_tangents(struct whole *s, const struct alloc_cut *cut, const double *bw_Bps, double *scaled)
{
    static const double factors[] = { 1, 0.5, 2 };
    double w = s->fixed + sum_of(s, s->best_at, OF_W), time_s = step_time(s->p->step, bw_Bps);
    if (!alloc_is_product(s->p->objective) || !(w > 0))
        return;
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        line_add(s, cut, time_s / w, NULL, factors[i], scaled);
}

/* The cut at the best design with the relaxation's prices of rows. */
static void add_duals(struct whole *s, const struct alloc_cut *cut, const struct alloc_bound *b,
                      double *lambda, double *scaled)
{
    if (!b || !(b->time_weight > 0))
        return;
    read_duals(lambda, b, s->p);
    line_add(s, cut, b->cost_weight / b->time_weight, lambda, 1, scaled);
}

/* Least times of every choice: step_time() with all other blocks at the most of each bandwidth. */
static void time_choices(struct whole *s)
{
    double most[D] = { 0 }, bw_Bps[D];
    for (int32_t b = 0; b < s->n_blocks; b++) {
        const struct whole_block *g = s->blocks[b].given;
        for (int64_t k = 0; k < g->n * g->n_dims; k++)
            most[g->first + k % g->n_dims] = fmax(most[g->first + k % g->n_dims], g->bw_Bps[k]);
    }
    for (int32_t b = 0; b < s->n_blocks; b++) {
        struct whole_price_block *x = &s->blocks[b];
        memcpy(bw_Bps, most, sizeof bw_Bps);
        for (int64_t k = 0; k < x->given->n; k++) {
            memcpy(&bw_Bps[x->given->first], &x->given->bw_Bps[x->order[k] * x->given->n_dims],
                   (size_t)x->given->n_dims * sizeof *bw_Bps);
            x->time_s[k] = step_time(s->p->step, bw_Bps) * (1 - 8 * DBL_EPSILON);
        }
    }
}

/* Of every block the cheapest choice that is no slower on its own than a limit; the least limit for which
 * that is allowed, by halving. Best where one block decides the time. */
static void try_limits(struct whole *s)
{
    double low_s = 0, high_s = 0;
    for (int32_t b = 0; b < s->n_blocks; b++)
        for (int64_t k = 0; k < s->blocks[b].n; k++)
            if (isfinite(s->blocks[b].time_s[k]))
                high_s = fmax(high_s, s->blocks[b].time_s[k]);
    for (int32_t i = 0; i < MAX_HALVINGS; i++) {
        double limit_s = i ? (low_s + high_s) / 2 : high_s;
        int64_t at[D];
        bool all = true;
        for (int32_t b = 0; b < s->n_blocks && all; b++) {
            const struct whole_price_block *x = &s->blocks[b];
            at[b] = -1;
            for (int64_t k = 0; k < x->n; k++)
                if (x->time_s[k] <= limit_s && (at[b] < 0 || x->sum[OF_USD][k] < x->sum[OF_USD][at[b]]))
                    at[b] = k;
            all = at[b] >= 0;
        }
        all = all && broken_row(s, at) < 0;
        if (all)
            try_design(s, at);
        *(all ? &high_s : &low_s) = limit_s;
    }
}

/* At most this many of the relaxation's bounds, nearest to the one that touches its answer. */
enum { MAX_BOUNDS = 3 };

static int32_t first_bound(const struct alloc_answer *relaxed)
{
    int32_t from = relaxed->best_bound - MAX_BOUNDS / 2, last = relaxed->n_bounds - MAX_BOUNDS;
    from = from > last ? last : from;
    return from > 0 ? from : 0;
}

static int find_lines(struct whole *s, const struct alloc_answer *relaxed, struct err *e)
{
    double *lambda = ARENA_TAKE(&s->arena, 2 * s->p->n_rows + 1, *lambda), *scaled = lambda + s->p->n_rows;
    struct alloc_cut cut;
    double bw_Bps[D];
    int rc = arena_check(&s->arena, "multipliers", e);
    int32_t n = relaxed ? relaxed->n_bounds : 0, from = n ? first_bound(relaxed) : 0;
    for (int32_t i = from; i < n && i < from + MAX_BOUNDS && !rc; i++)
        rc = add_bound(s, &relaxed->bounds[i], lambda, scaled, e);
    for (int32_t m = 0; m < s->n_lines && !rc; m++)
        try_least(s, &s->lines[m]);
    time_choices(s);
    try_limits(s);
    improve(s);
    /* What the step is near the best so far, and near the relaxation's split. */
    if (!rc && relaxed && isfinite(relaxed->value)) {
        cut = alloc_cut_touching(s->p->step, relaxed->bw_Bps);
        line_add(s, &cut, 0, NULL, 1, scaled);
    }
    if (!rc && has_design(s)) {
        read_bandwidths(bw_Bps, s, s->best_at);
        cut = alloc_cut_touching(s->p->step, bw_Bps);
        line_add(s, &cut, 0, NULL, 1, scaled);
        add_tangents(s, &cut, bw_Bps, scaled);
        add_duals(s, &cut, n ? &relaxed->bounds[relaxed->best_bound] : NULL, lambda, scaled);
    }
    if (!rc && s->n_lines == 0) { /* no traffic at all, or no relaxation: what compute takes */
        for (int32_t d = 0; d < s->p->step->n_dims; d++)
            bw_Bps[d] = INFINITY;
        cut = (struct alloc_cut){ .const_s = step_time(s->p->step, bw_Bps) };
        line_add(s, &cut, 0, NULL, 1, scaled);
    }
    return rc ? rc : arena_check(&s->arena, "multipliers", e);
}

/* ---- boxes of bandwidths ---- */

/* Is W money: what is spent beyond linear prices is then known? */
static bool counts_usd(const struct alloc_problem *p)
{
    return alloc_objectives[p->objective].counted == ALLOC_COUNTED_USD;
}

static bool counts_bandwidth(const struct alloc_problem *p)
{
    return alloc_objectives[p->objective].counted == ALLOC_COUNTED_BANDWIDTH;
}

static double w_per_Bps(const struct alloc_problem *p, int32_t d)
{
    return counts_bandwidth(p)              ? 1
           : alloc_has_factor(p->objective) ? p->factor_per_Bps[d]
                                            : p->usd_per_Bps[d];
}

/* What W is beside what is chosen. */
static double w_fixed(const struct alloc_problem *p)
{
    return counts_bandwidth(p) ? 0 : alloc_has_factor(p->objective) ? p->factor_fixed : p->usd_fixed;
}

/* What a choice adds to W. */
static double w_of_choice(const struct alloc_problem *p, const struct whole_block *b, int64_t k)
{
    double total = 0;
    if (alloc_has_factor(p->objective))
        return p->factor_unit * b->spent[p->factor][k];
    for (int32_t d = 0; d < b->n_dims; d++)
        total += b->bw_Bps[k * b->n_dims + d];
    return counts_bandwidth(p) ? total : b->spent[ALLOC_USD][k];
}

/* What a cut is with the rows' prices, all scaled. Rows that forbid to spend too little get no price: linear
 * prices say what is spent at least. */
static void cuts_add(struct whole_cuts *c, const struct alloc_cut *cut, double mu, const double *lambda,
                     double factor)
{
    const struct alloc_problem *p = c->p;
    int32_t m = c->n;
    if (m == WHOLE_CUTS)
        return;
    double size = fabs(cut->const_s);
    c->mu[m] = mu * factor;
    c->usd_weight[m] = counts_usd(p) ? c->mu[m] : 0;
    c->cut[m] = *cut;
    for (int32_t d = 0; d < p->step->n_dims; d++)
        c->q[m][d] = c->mu[m] * w_per_Bps(p, d);
    for (int32_t i = 0; i < p->n_rows; i++) {
        const struct alloc_row *row = &p->rows[i];
        double l = lambda[i] * factor;
        bool valid = true;
        for (int32_t j = 0; j < N_ALLOC_SPENT; j++)
            valid = valid && l * row->spent_coef[j] >= 0;
        if (l == 0 || !valid)
            continue;
        c->usd_weight[m] += l * row->spent_coef[ALLOC_USD];
        c->cut[m].const_s -= l * row->rhs;
        size += fabs(l * row->rhs);
        for (int32_t d = 0; d < p->step->n_dims; d++)
            c->q[m][d] += l * row->coef[d];
    }
    c->cut[m].const_s -= 64 * DBL_EPSILON * size;
    for (int32_t d = 0; d < p->step->n_dims; d++)
        c->best_Bps[m][d] = c->q[m][d] > 0 ? sqrt(c->cut[m].pull_B[d] / c->q[m][d]) : (double)INFINITY;
    c->n++;
}

/* At several factors: where whole parts cost more than fractions, money is scarcer than the relaxation says.
 */
static void cuts_add_scaled(struct whole_cuts *c, const struct alloc_cut *cut, double mu,
                            const double *lambda)
{
    static const double factors[] = { 1, 0, 1.5, 0.6, 2.5, 4, 8 };
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        cuts_add(c, cut, mu, lambda, factors[i]);
}

int whole_cuts_build(struct whole_cuts *c, const struct alloc_problem *p, const struct alloc_answer *relaxed,
                     const double *good_Bps, struct err *e)
{
    struct alloc_cut cut;
    int rc = 0;
    *c = (struct whole_cuts){ .p = p };
    double *lambda = calloc((size_t)p->n_rows + 1, sizeof *lambda), mu = 0;
    if (!lambda)
        return err_nomem(e, "multipliers");
    int32_t n = relaxed->n_bounds, from = first_bound(relaxed);
    for (int32_t i = from; i < n && i < from + MAX_BOUNDS && !rc; i++) {
        const struct alloc_bound *b = &relaxed->bounds[i];
        if (!(b->time_weight > 0))
            continue;
        rc = alloc_cut_of_bound(&cut, b, p, e);
        read_duals(lambda, b, p);
        mu = b->cost_weight / b->time_weight;
        if (!rc)
            cuts_add_scaled(c, &cut, mu, lambda);
    }
    if (!rc && good_Bps) {
        cut = alloc_cut_touching(p->step, good_Bps);
        cuts_add_scaled(c, &cut, mu, lambda);
    }
    free(lambda);
    return rc;
}

/* Least a/B + q B for B between both; a, q >= 0 or most finite. */
static double cuts_least(const struct whole_cuts *c, int32_t m, int32_t d, double lo_Bps, double hi_Bps)
{
    double a = c->cut[m].pull_B[d], q = c->q[m][d], bw_Bps = fmin(fmax(c->best_Bps[m][d], lo_Bps), hi_Bps);
    return (a > 0 ? a / bw_Bps : 0) + (q != 0 ? q * bw_Bps : 0);
}

static double linear_usd(const struct alloc_problem *p, int32_t first, int32_t n_dims, const double *bw_Bps)
{
    double usd = 0;
    for (int32_t d = 0; d < n_dims; d++)
        usd += p->usd_per_Bps[first + d] * bw_Bps[d];
    return usd;
}

/* Least that a block's choices add to every line and to W. */
static void cuts_take_block(struct whole_cuts *c, const struct whole_block *b)
{
    double least[WHOLE_CUTS], w = INFINITY;
    for (int32_t m = 0; m < c->n; m++)
        least[m] = INFINITY;
    for (int64_t k = 0; k < b->n; k++) {
        const double *bw_Bps = &b->bw_Bps[k * b->n_dims];
        double more_usd = fmax(b->spent[ALLOC_USD][k] - linear_usd(c->p, b->first, b->n_dims, bw_Bps), 0);
        w = fmin(w, w_of_choice(c->p, b, k));
        for (int32_t m = 0; m < c->n; m++) {
            double f = c->usd_weight[m] * more_usd;
            for (int32_t d = 0; d < b->n_dims; d++)
                f += cuts_least(c, m, b->first + d, bw_Bps[d], bw_Bps[d]);
            least[m] = fmin(least[m], f);
        }
    }
    for (int32_t m = 0; m < c->n; m++)
        c->rest[m] += least[m];
    c->rest_w += w;
}

void whole_cuts_rest(struct whole_cuts *c, const struct whole_box *box, const struct whole_block *blocks,
                     int32_t n_blocks)
{
    bool known[D] = { false };
    c->rest_w = 0;
    for (int32_t m = 0; m < c->n; m++)
        c->rest[m] = 0;
    for (int32_t b = 0; b < n_blocks; b++) {
        if (blocks[b].n == 0 || blocks[b].first == box->first)
            continue;
        cuts_take_block(c, &blocks[b]);
        for (int32_t d = 0; d < blocks[b].n_dims; d++)
            known[blocks[b].first + d] = true;
    }
    for (int32_t d = 0; d < c->p->step->n_dims; d++)
        for (int32_t m = 0; m < c->n && !known[d] && (d < box->first || d >= box->first + box->n_dims); m++)
            c->rest[m] += cuts_least(c, m, d, box->lo_Bps[d], box->hi_Bps[d]);
}

double whole_cuts_bound(const struct whole_cuts *c, const struct whole_box *box)
{
    const struct alloc_problem *p = c->p;
    double phi[WHOLE_CUTS], w = c->rest_w, time_s = step_time(p->step, box->hi_Bps) * (1 - 8 * DBL_EPSILON);
    for (int32_t d = box->first; d < box->first + box->n_dims; d++)
        w += w_per_Bps(p, d) * box->lo_Bps[d];
    w += counts_usd(p) ? box->more_usd : 0;
    for (int32_t m = 0; m < c->n; m++) {
        phi[m] = c->cut[m].const_s + c->rest[m] + c->usd_weight[m] * box->more_usd;
        for (int32_t d = box->first; d < box->first + box->n_dims; d++)
            phi[m] += cuts_least(c, m, d, box->lo_Bps[d], box->hi_Bps[d]);
        if (c->mu[m] == 0)
            phi[m] = fmax(phi[m], time_s);
    }
    return c->n ? bound_objective(p, &(struct bound_lines){ c->mu, phi, c->n }, w_fixed(p),
                                  w * (1 - INCUMBENT_EQUAL_REL))
                : 0;
}

/* ---- setting up ---- */

static void fill_block(struct whole *s, int32_t b)
{
    const struct alloc_problem *p = s->p;
    struct whole_price_block *to = &s->blocks[b];
    const struct whole_block *g = to->given;
    for (int64_t k = 0; k < g->n; k++) {
        const double *bw_Bps = &g->bw_Bps[to->order[k] * g->n_dims];
        to->sum[OF_USD][k] = g->spent[ALLOC_USD][to->order[k]];
        to->sum[OF_W][k] = w_of_choice(p, g, to->order[k]);
        to->sum[OF_STOPS][k] = p->growth ? g->spent[ALLOC_STOPS][to->order[k]] : 0;
        for (int32_t i = 0; i < p->n_rows; i++) {
            const struct alloc_row *row = &p->rows[i];
            double sum = 0;
            for (int32_t d = 0; d < g->n_dims; d++)
                sum += (row->coef[g->first + d] - row->money_coef[g->first + d]) * bw_Bps[d];
            for (int32_t j = 0; j < N_ALLOC_SPENT; j++)
                if (row->spent_coef[j] != 0)
                    sum += row->spent_coef[j] * g->spent[j][to->order[k]];
            to->sum[OF_ROWS + i][k] = sum;
        }
    }
}

/* Least and most of what blocks from each one on can add. */
static void sum_rests(struct whole *s)
{
    int32_t n_rows = s->p->n_rows, n = s->n_sums;
    for (int32_t i = 0; i < n; i++)
        s->least[s->n_blocks * n + i] = s->most[s->n_blocks * n + i] = 0;
    for (int32_t i = 0; i < n_rows; i++)
        s->row_slack[i] = fabs(s->p->rows[i].rhs);
    for (int32_t b = s->n_blocks; b-- > 0;) {
        struct whole_price_block *x = &s->blocks[b];
        for (int32_t i = 0; i < n; i++) {
            double least = INFINITY, most = -INFINITY;
            for (int64_t k = 0; k < x->n; k++) {
                least = fmin(least, x->sum[i][k]);
                most = fmax(most, x->sum[i][k]);
            }
            x->least[i] = least;
            x->most[i] = most;
            s->least[b * n + i] = least + s->least[(b + 1) * n + i];
            s->most[b * n + i] = most + s->most[(b + 1) * n + i];
            if (i >= OF_ROWS)
                s->row_slack[i - OF_ROWS] += fmax(fabs(least), fabs(most));
        }
    }
    for (int32_t i = 0; i < n_rows; i++)
        s->row_slack[i] *= ROW_REL;
}

static int whole_build(struct whole *s, const struct whole_lattice *l, struct err *e)
{
    struct arena *a = &s->arena;
    int32_t n_rows = s->p->n_rows, n_sums = s->n_sums = OF_ROWS + n_rows;
    s->n_blocks = l->n_blocks;
    s->out->n_points = 1;
    for (int32_t b = 0; b < l->n_blocks; b++) {
        int32_t at = b;
        for (; at > 0 && s->blocks[at - 1].given->n > l->blocks[b].n; at--)
            s->blocks[at] = s->blocks[at - 1];
        s->blocks[at].given = &l->blocks[b];
        s->out->n_points *= (double)l->blocks[b].n;
    }
    for (int32_t b = 0; b < s->n_blocks; b++) {
        struct whole_price_block *x = &s->blocks[b];
        s->given_at[b] = (int32_t)(x->given - l->blocks);
        x->order = ARENA_TAKE(a, x->given->n, *x->order);
        x->n = x->given->n;
        x->time_s = ARENA_TAKE(a, x->given->n, *x->time_s);
        x->sum = ARENA_TAKE(a, n_sums, *x->sum);
        x->least = ARENA_TAKE(a, n_sums, *x->least);
        x->most = ARENA_TAKE(a, n_sums, *x->most);
        for (int32_t i = 0; i < n_sums && !a->failed; i++)
            x->sum[i] = ARENA_TAKE(a, x->given->n, *x->sum[i]);
        for (int64_t k = 0; k < x->given->n && !a->failed; k++)
            x->order[k] = k;
    }
    for (int32_t b = 0; b <= s->n_blocks; b++)
        s->nodes[b].sum = ARENA_TAKE(a, n_sums, *s->nodes[b].sum);
    s->least = ARENA_TAKE(a, (s->n_blocks + 1) * n_sums, *s->least);
    s->most = ARENA_TAKE(a, (s->n_blocks + 1) * n_sums, *s->most);
    s->row_slack = ARENA_TAKE(a, n_rows, *s->row_slack);
    int rc = arena_check(a, "a lattice of whole parts", e);
    if (rc)
        return rc;
    for (int32_t b = 0; b < s->n_blocks; b++)
        fill_block(s, b);
    sum_rests(s);
    return 0;
}

/* Is a choice of block b in no design that is as good as the best: by its bound, with the least that all
 * other blocks add, or because no row can hold? */
static bool is_useless(struct whole *s, int32_t b, int64_t k)
{
    const struct whole_price_block *x = &s->blocks[b];
    struct whole_node *alone = &s->nodes[0];
    for (int32_t m = 0; m < s->n_lines; m++)
        alone->phi[m] = line_root(&s->lines[m]) - x->f_least[m] + s->lines[m].f[b][k];
    double w = s->least[OF_W] - x->least[OF_W] + x->sum[OF_W][k],
           stops = s->least[OF_STOPS] - x->least[OF_STOPS] + x->sum[OF_STOPS][k];
    if (incumbent_rules_out(&s->best,
                            bound_of(s, alone->phi, x->time_s[k], w * (1 - INCUMBENT_EQUAL_REL), stops)))
        return true;
    for (int32_t i = 0; i < s->p->n_rows; i++) {
        int32_t at = OF_ROWS + i;
        double least = s->least[at] - x->least[at] + x->sum[at][k],
               most = s->most[at] - x->most[at] + x->sum[at][k];
        if (row_misses(s, i, least, most))
            return true;
    }
    return false;
}

/* Put the choices of a block that are tried in the order of the first line, which is the strongest at the
 * root, and useless ones after them; all that was found moves along. */
static void sort_block(struct whole *s, int32_t b, struct stat_rank *rank, double *moved, int64_t *order)
{
    struct whole_price_block *x = &s->blocks[b];
    int64_t n = x->n, best = s->best_at[b], left = 0;
    for (int64_t k = 0; k < n; k++) {
        bool useless = isfinite(s->best.value) && k != best && is_useless(s, b, k);
        rank[k] = (struct stat_rank){ useless ? (double)INFINITY : s->lines[0].f[b][k], k };
        left += !useless;
    }
    stat_sort_ranks(rank, n);
    for (int64_t k = 0; k < n; k++) {
        order[k] = x->order[rank[k].at];
        moved[k] = x->time_s[rank[k].at];
        if (rank[k].at == best)
            s->best_at[b] = k;
    }
    memcpy(x->order, order, (size_t)n * sizeof *order);
    memcpy(x->time_s, moved, (size_t)n * sizeof *moved);
    for (int32_t m = 0; m < s->n_lines; m++) {
        for (int64_t k = 0; k < n; k++)
            moved[k] = s->lines[m].f[b][rank[k].at];
        memcpy(s->lines[m].f[b], moved, (size_t)n * sizeof *moved);
    }
    fill_block(s, b);
    x->n = left;
}

/* Sums of what is left: lines and rows know more the fewer choices there are. */
static void sum_again(struct whole *s)
{
    sum_rests(s);
    for (int32_t m = 0; m < s->n_lines; m++) {
        struct whole_line *line = &s->lines[m];
        line->rest[s->n_blocks] = 0;
        for (int32_t b = s->n_blocks; b-- > 0;) {
            double least = INFINITY;
            for (int64_t k = 0; k < s->blocks[b].n; k++)
                least = fmin(least, line->f[b][k]);
            s->blocks[b].f_least[m] = least;
            line->rest[b] = least + line->rest[b + 1];
        }
    }
}

/* Rounds of leaving out choices, each of which tightens what the next one knows. */
enum { MAX_ROUNDS = 8 };

static int sort_choices(struct whole *s, struct err *e)
{
    int64_t longest = 0;
    for (int32_t b = 0; b < s->n_blocks; b++)
        longest = s->blocks[b].n > longest ? s->blocks[b].n : longest;
    struct stat_rank *rank = ARENA_TAKE(&s->arena, longest, *rank);
    double *moved = ARENA_TAKE(&s->arena, longest, *moved);
    int64_t *order = ARENA_TAKE(&s->arena, longest, *order);
    int rc = arena_check(&s->arena, "the order of choices", e);
    if (rc)
        return rc;
    for (int32_t m = 1; m < s->n_lines; m++)
        if (alloc_is_time(s->p->objective) && line_root(&s->lines[m]) > line_root(&s->lines[0])) {
            struct whole_line first = s->lines[0];
            s->lines[0] = s->lines[m];
            s->lines[m] = first;
        }
    for (int32_t round = 0, dropped = 1; round < MAX_ROUNDS && dropped; round++) {
        dropped = 0;
        sum_again(s);
        for (int32_t b = 0; b < s->n_blocks; b++) {
            int64_t before = s->blocks[b].n;
            sort_block(s, b, rank, moved, order);
            dropped |= s->blocks[b].n < before;
        }
    }
    sum_again(s);
    return 0;
}

static void start(struct whole *s)
{
    struct whole_node *root = &s->nodes[0];
    s->work = 0;
    root->time_s = 0;
    for (int32_t m = 0; m < s->n_lines; m++)
        root->phi[m] = s->lines[m].constant;
    for (int32_t i = 0; i < s->n_sums; i++)
        root->sum[i] = 0;
    if (rows_can_hold(s, root, 0))
        branch(s, 0);
}

/* ---- what is said of the best ---- */

/* Why no design is allowed: a row that none satisfies on its own, or all together. */
static void say_clash(struct whole *s)
{
    struct whole_answer *out = s->out;
    out->status = ALLOC_INFEASIBLE;
    for (int32_t i = 0; i < s->p->n_rows; i++) {
        const struct alloc_row *row = &s->p->rows[i];
        double least = s->least[OF_ROWS + i], most = s->most[OF_ROWS + i];
        int misses = row_misses(s, i, least, most);
        bool above = misses > 0;
        if (misses) {
            snprintf(
                out->reason, sizeof out->reason,
                "in whole parts \"%s\" cannot hold: its left side comes to %s %.9g%s%s, expected %s %.9g",
                row->name, above ? "at least" : "at most", ((above ? least : most) + row->fixed) / row->unit,
                row->unit_name ? " " : "", row->unit_name ? row->unit_name : "",
                above ? "at most" : "at least", (row->rhs + row->fixed) / row->unit);
            return;
        }
    }
    if (alloc_is_limited(s->p->objective))
        snprintf(out->reason, sizeof out->reason,
                 "no design in whole parts satisfies all constraints within %.9g s; the relaxation in "
                 "fractions does",
                 s->p->time_limit_s);
    else
        snprintf(
            out->reason, sizeof out->reason,
            "no design in whole parts satisfies all constraints together; the relaxation in fractions does");
}

/* Next choice of a block that differs in one dimension: the nearest above (or below) there, equal in others
 * but for what is tied. */
static int64_t neighbour(const struct whole_price_block *b, int64_t at, int32_t d, bool up)
{
    const struct whole_block *g = b->given;
    const double *here = &g->bw_Bps[b->order[at] * g->n_dims];
    int64_t found = -1;
    for (int64_t k = 0; k < g->n; k++) {
        const double *there = &g->bw_Bps[b->order[k] * g->n_dims];
        bool same = up ? there[d] > here[d] : there[d] < here[d];
        for (int32_t i = 0; i < g->n_dims && same; i++)
            same = i == d || (g->tied >> i & 1) || there[i] == here[i];
        if (!same)
            continue;
        double best = found < 0 ? 0 : g->bw_Bps[b->order[found] * g->n_dims + d];
        if (found < 0 || (up ? there[d] < best : there[d] > best))
            found = k;
    }
    return found;
}

static void whole_find_step(struct whole_step *step, const struct whole *s, int32_t b, int32_t d, bool up)
{
    int64_t at[D];
    double bw_Bps[D];
    memcpy(at, s->best_at, sizeof at);
    *step = (struct whole_step){ .broken = -1 };
    int64_t k = neighbour(&s->blocks[b], at[b], d, up);
    if (k < 0)
        return;
    at[b] = k;
    read_bandwidths(bw_Bps, s, at);
    step->there = true;
    step->bw_Bps = bw_Bps[s->blocks[b].given->first + d];
    step->time_s = step_time(s->p->step, bw_Bps);
    step->cost_usd = sum_of(s, at, OF_USD);
    step->broken = broken_row(s, at);
    step->late = alloc_is_late(s->p, step->time_s);
}

static void describe(struct whole *s)
{
    struct whole_answer *out = s->out;
    read_bandwidths(out->bw_Bps, s, s->best_at);
    out->time_s = step_time(s->p->step, out->bw_Bps);
    out->cost_usd = s->best.price;
    out->value = s->best.value;
    out->lower_bound = fmin(s->best.open, out->value);
    out->gap = out->value > 0 ? (out->value - out->lower_bound) / out->value : 0;
    out->status = out->gap <= ALLOC_GAP ? ALLOC_SOLVED : ALLOC_STALLED;
    if (out->status == ALLOC_STALLED)
        snprintf(out->reason, sizeof out->reason,
                 "%.3g designs of whole parts are too many: the best found is proved to within %.2g of the "
                 "optimum",
                 out->n_points, out->gap);
    for (int32_t b = 0; b < s->n_blocks; b++) {
        const struct whole_block *g = s->blocks[b].given;
        out->at[s->given_at[b]] = s->blocks[b].order[s->best_at[b]];
        for (int32_t d = 0; d < g->n_dims; d++) {
            out->up[g->first + d] = out->down[g->first + d] = (struct whole_step){ .broken = -1 };
            if (g->tied >> d & 1)
                continue;
            whole_find_step(&out->up[g->first + d], s, b, d, true);
            whole_find_step(&out->down[g->first + d], s, b, d, false);
        }
    }
}

/* Designs of the same value: a second pass that cuts off only what is worse. */
static void count_ties(struct whole *s)
{
    struct whole_answer *out = s->out;
    for (int32_t d = 0; d < s->p->step->n_dims; d++)
        out->lo_Bps[d] = out->hi_Bps[d] = out->bw_Bps[d];
    out->ties[0] = (struct whole_tie){ .time_s = out->time_s, .cost_usd = out->cost_usd };
    memcpy(out->ties[0].bw_Bps, out->bw_Bps, sizeof out->bw_Bps);
    out->n_listed = 1;
    out->n_ties = s->p->most_value > 0; /* who gives that does not ask for others */
    if (out->n_ties)
        return;
    s->counting = true;
    s->best.price = INFINITY; /* ties that cost more count as well */
    start(s);
    s->counting = false;
    out->ties_counted = s->work <= s->most_work && out->n_ties < MAX_COUNTED;
    if (out->n_ties == 0) /* given up before it was met again */
        out->n_ties = 1;
}

int alloc_solve_whole(struct whole_answer *out, const struct alloc_problem *p, const struct whole_lattice *l,
                      const struct alloc_answer *relaxed, struct err *e)
{
    struct whole s = { .p = p, .out = out, .best = incumbent_none(INCUMBENT_EQUAL_REL) };
    *out = (struct whole_answer){ .status = ALLOC_STALLED };
    s.fixed = w_fixed(p);
    s.best.value = p->most_value > 0 ? p->most_value : (double)INFINITY;
    int rc = whole_build(&s, l, e);
    out->enumerated = !l->branch && out->n_points * (1 + p->step->n_leaves / 32.0) <= ENUMERATED;
    if (!rc && !out->enumerated)
        rc = find_lines(&s, relaxed, e);
    double before = INFINITY;
    s.most_work = s.n_lines ? FIRST_WORK : MAX_WORK;
    for (bool again = true; again && !rc;) {
        before = s.best.value;
        s.best.open = INFINITY;
        if (s.n_lines)
            rc = sort_choices(&s, e);
        if (!rc)
            start(&s);
        again = s.work > s.most_work && s.most_work < MAX_WORK;
        s.most_work = !again ? s.most_work : s.best.value < before ? s.most_work * 4 : MAX_WORK;
    }
    s.most_work = MAX_WORK;
    if (!rc) {
        if (!has_design(&s) && isinf(s.best.open))
            say_clash(&s);
        else if (has_design(&s)) {
            describe(&s);
            count_ties(&s);
        } else
            snprintf(out->reason, sizeof out->reason, "no allowed design was found among %.3g of whole parts",
                     out->n_points);
    }
    arena_free(&s.arena);
    if (!rc && s.failed)
        rc = err_nomem(e, "a design in whole parts");
    return rc ? rc : work_check(e);
}
