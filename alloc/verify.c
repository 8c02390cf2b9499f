/*
 * A second opinion on an answer: the uncompiled step evaluated at the split, every constraint and the price
 * again, and the lower bound again from the multipliers alone. It shares no code with solver and compiler, on
 * purpose, so that an error in either shows as a disagreement. Formulas: docs/model.md sections 7 to 9. Every
 * design passes it before it is reported (kinds/design/answer/design.c).
 */
#include "alloc/verify.h"

#include <math.h>
#include <stdlib.h>

enum { D = TOPO_MAX_DIMS };

/* Shares no code with the solvers on purpose: even what is the same is written again. */

#define MAX_VIOLATION 1e-12

/* How well a row with @p D parts can hold in double precision, relative to its largest: at worst; and how
 * well a few sums and products that do not cancel. */
#define ROUNDING 4e-15
#define ULPS     4.5e-16

/* hi + lo: a sum, and what its rounding lost (Dekker 1971). */
struct long_sum {
    double hi, lo;
};

static void add_long(struct long_sum *s, double a, double b)
{
    double part = a * b, sum = s->hi + part, back = sum - part;
    s->lo += (s->hi - back) + (part - (sum - back)) + fma(a, b, -part);
    s->hi = sum;
}

/* What is asked, and what each node of the trees sends. */
struct known {
    const struct verify_steps *steps;
    double (*sent_B)[D]; /* shape [nodes of all trees]: bytes on each class of links, over what is reached of
                            it */
};

/* One walk over the trees for one bound. */
struct verify_walk {
    const struct verify_steps *steps;
    const struct step_tree *tree;
    const int32_t *leaf_of;   /* of this tree's nodes */
    double (*sent_B)[D];      /* likewise */
    const double *dual;       /* shape [leaves][D] */
    double constant, pull[D]; /* gathered: constant + sum_d pull_d/B_d lies below weight*T */
};

/* Does it send? */
static bool is_leaf(const struct step_node *node)
{
    return node->kind == STEP_COLLECTIVE || node->kind == STEP_TRANSFER;
}

/* Bytes of a leaf per dimension, from the tree. */
static void own_traffic(double *sent_B, const struct verify_steps *s, const struct step_tree *t,
                        const struct step_node *node)
{
    if (node->kind == STEP_TRANSFER) {
        sent_B[node->dim] = node->bytes;
        return;
    }
    const struct step_group *group = &t->groups[node->group];
    collective_loads(sent_B, node->collective, node->bytes, group->members, group->stride, group->share,
                     s->net);
    for (int32_t d = 0; d < t->n_dims; d++)
        sent_B[d] *= node->times / collective_share(&s->net->dims[d]);
}

/* Of children that share no links each class carries what the one sends that sends most. Children come after
 * their parents. */
static void tree_traffic(double (*sent_B)[D], const struct verify_steps *s, const struct step_tree *t)
{
    for (step_id id = t->n_nodes; id-- > 0;) {
        const struct step_node *node = &t->nodes[id];
        double times = node->kind == STEP_REPEAT ? node->times : 1;
        bool apart = node->kind == STEP_MAX && node->apart;
        if (is_leaf(node))
            own_traffic(sent_B[id], s, t, node);
        for (step_id c = node->first; c >= 0; c = t->nodes[c].next)
            for (int32_t d = 0; d < t->n_dims; d++)
                sent_B[id][d] =
                    apart ? fmax(sent_B[id][d], sent_B[c][d]) : sent_B[id][d] + times * sent_B[c][d];
    }
}

static int find_traffic(struct known *k, const struct verify_steps *s, struct err *e)
{
    size_t nodes = 0;
    for (int32_t i = 0; i < s->n; i++)
        nodes += (size_t)s->trees[i]->n_nodes;
    *k = (struct known){ .steps = s, .sent_B = calloc(nodes + 1, sizeof *k->sent_B) };
    if (!k->sent_B)
        return err_nomem(e, "the traffic of a step");
    nodes = 0;
    for (int32_t i = 0; i < s->n; i++) {
        tree_traffic(k->sent_B + nodes, s, s->trees[i]);
        nodes += (size_t)s->trees[i]->n_nodes;
    }
    return 0;
}

static double own_constant(const struct verify_walk *w, const struct step_node *node)
{
    return w->steps->drop_const || node->kind != STEP_COMPUTE ? 0 : node->seconds;
}

static const double no_bandwidth_limit[D] = { INFINITY, INFINITY, INFINITY, INFINITY,
                                              INFINITY, INFINITY, INFINITY, INFINITY };

/* As long as the class of links that is busiest with what a node sends. */
static double busiest(const struct verify_walk *w, step_id id, const double *bw_Bps)
{
    double most = 0;
    for (int32_t d = 0; d < w->tree->n_dims; d++)
        if (w->sent_B[id][d] > 0)
            most = fmax(most, w->sent_B[id][d] / bw_Bps[d]);
    return most;
}

/* Plain recursion over the tree, as one would write it down: what runs side by side shares its links. */
static double verify_time(const struct verify_walk *w, step_id id, const double *bw_Bps)
{
    const struct step_node *node = &w->tree->nodes[id];
    double sum = 0, most = 0;
    if (node->kind == STEP_COMPUTE)
        return own_constant(w, node);
    if (is_leaf(node))
        return busiest(w, id, bw_Bps);
    for (step_id c = node->first; c >= 0; c = w->tree->nodes[c].next) {
        double t = verify_time(w, c, bw_Bps);
        sum += t;
        most = fmax(most, t);
    }
    if (node->kind != STEP_MAX)
        return node->kind == STEP_REPEAT ? node->times * sum : sum;
    return node->apart ? most : fmax(most, busiest(w, id, bw_Bps));
}

static double dual_sum(const struct verify_walk *w, step_id id)
{
    double sum = 0;
    for (int32_t d = 0; w->leaf_of[id] >= 0 && d < w->tree->n_dims; d++)
        sum += fmax(w->dual[(ptrdiff_t)w->leaf_of[id] * D + d], 0);
    return sum;
}

/* The weight a node must have for the multipliers below it to be covered. */
static double weight_needed(const struct verify_walk *w, step_id id)
{
    const struct step_node *node = &w->tree->nodes[id];
    double need = dual_sum(w, id); /* 0 where no leaf is its own */
    for (step_id c = node->first; c >= 0; c = w->tree->nodes[c].next) {
        double below = weight_needed(w, c);
        need = node->kind == STEP_MAX ? need + below : fmax(need, below);
    }
    return need;
}

static void verify_gather_duals(struct verify_walk *w, step_id id, double weight, double scale);

/* The multipliers of what a node sends, @p share of them. */
static void gather_sent(struct verify_walk *w, step_id id, double share, double scale)
{
    for (int32_t d = 0; w->leaf_of[id] >= 0 && d < w->tree->n_dims; d++)
        w->pull[d] += share * fmax(w->dual[(ptrdiff_t)w->leaf_of[id] * D + d], 0) * scale * w->sent_B[id][d];
}

/* Give each term what it needs, scaled down if that is too much; what is left goes to the longest compute. Of
 * children that share links all that they send is a term of its own. */
static void gather_max(struct verify_walk *w, step_id id, double weight, double scale)
{
    double need = weight_needed(w, id), longest = -1;
    double share = need > weight ? weight / need : 1;
    step_id rest = -1;
    gather_sent(w, id, share, scale);
    for (step_id c = w->tree->nodes[id].first; c >= 0; c = w->tree->nodes[c].next) {
        double compute_s = verify_time(w, c, no_bandwidth_limit);
        if (compute_s > longest) {
            longest = compute_s;
            rest = c;
        }
    }
    for (step_id c = w->tree->nodes[id].first; c >= 0; c = w->tree->nodes[c].next) {
        double own = share * weight_needed(w, c);
        verify_gather_duals(w, c, c == rest ? own + fmax(weight - need, 0) : own, scale);
    }
}

/* Sums up what the multipliers prove: constants and pulls per dimension. A leaf whose multipliers sum to more
 * than its weight is scaled back, so that the bound stays true. */
static void verify_gather_duals(struct verify_walk *w, step_id id, double weight, double scale)
{
    const struct step_node *node = &w->tree->nodes[id];
    if (node->kind == STEP_MAX) {
        gather_max(w, id, weight, scale);
        return;
    }
    if (node->kind != STEP_COMPUTE && !is_leaf(node)) {
        if (node->kind == STEP_REPEAT)
            scale *= node->times;
        for (step_id c = node->first; c >= 0; c = w->tree->nodes[c].next)
            verify_gather_duals(w, c, weight, scale);
        return;
    }
    w->constant += weight * scale * own_constant(w, node);
    double sum = dual_sum(w, id);
    if (sum > 0)
        gather_sent(w, id, sum > weight ? weight / sum : 1, scale);
}

/* Both walks over all trees: each starts at its place in the joined leaf_of. */
static double total_time(const struct known *k, const double *bw_Bps)
{
    const struct verify_steps *s = k->steps;
    double sum = 0, most = 0;
    size_t at = 0;
    for (int32_t i = 0; i < s->n; i++) {
        const struct verify_walk w = { .steps = s, .tree = s->trees[i], .sent_B = k->sent_B + at };
        at += (size_t)s->trees[i]->n_nodes;
        double t = s->scale[i] * verify_time(&w, s->trees[i]->root, bw_Bps);
        sum += t;
        most = fmax(most, t);
    }
    return s->take_max ? most : sum;
}

/* With a maximum over workloads their weights must sum to that of the whole: a first pass measures them, and
 * what is left goes to the longest compute, as in any maximum. */
static void gather_all(struct verify_walk *w, const struct known *k, const struct alloc_bound *b,
                       const struct alloc_problem *p)
{
    const struct verify_steps *s = k->steps;
    double need = 0, longest_s = -1;
    int32_t rest = -1;
    w->dual = b->leaf_dual;
    for (int pass = s->take_max ? 0 : 1; pass < 2; pass++) {
        size_t at = 0;
        double share = need > b->time_weight ? b->time_weight / need : 1;
        for (int32_t i = 0; i < s->n; i++) {
            w->tree = s->trees[i];
            w->leaf_of = p->step->leaf_of + at;
            w->sent_B = k->sent_B + at;
            at += (size_t)s->trees[i]->n_nodes;
            double own = s->take_max ? weight_needed(w, w->tree->root) : b->time_weight;
            if (pass == 0) {
                double compute_s = s->scale[i] * verify_time(w, w->tree->root, no_bandwidth_limit);
                need += own;
                rest = compute_s > longest_s ? i : rest;
                longest_s = fmax(longest_s, compute_s);
            } else {
                own = i == rest ? share * own + fmax(b->time_weight - need, 0) : share * own;
                verify_gather_duals(w, w->tree->root, own, s->scale[i]);
            }
        }
    }
}

/* A row read as sum_d sign*coef[d]*B_d <= sign*rhs: how much B_d can be when the others are at their least.
 */
static double limit_of(const struct alloc_row *row, double sign, const double *most_Bps, int32_t n_dims,
                       int32_t d)
{
    double left = sign * row->rhs, sizes = fabs(left);
    for (int32_t k = 0; k < n_dims; k++)
        if (sign * row->coef[k] < 0) {
            left -= sign * row->coef[k] * most_Bps[k];
            sizes += fabs(row->coef[k] * most_Bps[k]);
        }
    left += ROUNDING * sizes;
    return sign * row->coef[d] > 0 ? fmax(left / (sign * row->coef[d]), 0) : INFINITY;
}

/* Most that any B_d can be, row by row; a limit on one may limit the next. */
static void find_most(const struct alloc_problem *p, double *most_Bps)
{
    const int32_t n = p->step->n_dims;
    for (int32_t d = 0; d < n; d++)
        most_Bps[d] = INFINITY;
    for (int32_t round = 0; round < n; round++)
        for (int32_t i = 0; i < p->n_rows; i++)
            for (int32_t d = 0; d < n; d++) {
                const struct alloc_row *row = &p->rows[i];
                if (row->sense != LINEXPR_GE)
                    most_Bps[d] = fmin(most_Bps[d], limit_of(row, 1, most_Bps, n, d));
                if (row->sense != LINEXPR_LE)
                    most_Bps[d] = fmin(most_Bps[d], limit_of(row, -1, most_Bps, n, d));
            }
}

/* For every factor g >= 0: time_weight*T + g*cost_weight*X >= fixed + root*sqrt(g) - slope*g. */
struct proved {
    double fixed, root, slope;
};

/* Add the least of pull/B + push*B over 0 <= B <= most, when push, a sum of parts of such sizes, is known to
 * @p play of them. */
static void add_least(struct proved *v, struct long_sum *slope, double pull, double push, double sizes,
                      double play, double most_Bps)
{
    double q = push - play * sizes;
    if (q < 0 && isinf(most_Bps) && push >= -ROUNDING * sizes) /* cancels to rounding, and B_d has no end */
        q = 0;
    if (q >= 0)
        v->root += 2 * sqrt(pull) * sqrt(q);
    else if (isinf(most_Bps))
        v->slope = INFINITY;
    else
        add_long(slope, -q, most_Bps);
}

/* What is left on the right of a row when given bandwidths are put in. @p only: its one other dimension, -1
 * where it has none, -2 where it has several. */
static struct long_sum put_in(const struct alloc_row *row, const double *given_Bps, int32_t n_dims,
                              int32_t *only)
{
    struct long_sum left = { .hi = row->rhs };
    *only = -1;
    for (int32_t d = 0; d < n_dims; d++)
        if (!isnan(given_Bps[d]))
            add_long(&left, -row->coef[d], given_Bps[d]);
        else if (row->coef[d] != 0)
            *only = *only == -1 ? d : -2;
    return left;
}

/* Bandwidths that equalities give, one after the other; NaN where none does. */
static void find_given(double *given_Bps, const struct alloc_problem *p)
{
    const int32_t n = p->step->n_dims;
    for (int32_t d = 0; d < n; d++)
        given_Bps[d] = NAN;
    for (int32_t round = 0; round < n; round++)
        for (int32_t i = 0; i < p->n_rows; i++) {
            int32_t d;
            struct long_sum left = put_in(&p->rows[i], given_Bps, n, &d);
            if (p->rows[i].sense == LINEXPR_EQ && d >= 0)
                given_Bps[d] = (left.hi + left.lo) / p->rows[i].coef[d];
        }
}

/*
 * Holds for every B that satisfies the rows to @p play of their parts: multipliers that are huge and cancel
 * must not prove more than the rows hold. Given bandwidths are put into all rows, so that what is small
 * beside them keeps its digits; sums in which parts cancel are exact.
 */
static struct proved prove_parts(const struct alloc_bound *b, const struct alloc_problem *p,
                                 const struct known *k, double play)
{
    const int32_t n = p->step->n_dims;
    struct verify_walk w = { .steps = k->steps };
    struct proved v = { 0 };
    struct long_sum slope = { 0 }, push[D];
    double most_Bps[D], given_Bps[D], sizes[D];
    find_given(given_Bps, p);
    find_most(p, most_Bps);
    if (b->time_weight > 0)
        gather_all(&w, k, b, p);
    v.fixed = w.constant * (1 - ROUNDING);
    for (int32_t d = 0; d < n; d++) {
        sizes[d] = b->cost_weight * p->usd_per_Bps[d];
        push[d] = (struct long_sum){ .hi = sizes[d] };
    }
    for (int32_t i = 0; i < p->n_rows; i++) {
        const struct alloc_row *row = &p->rows[i];
        double dual = (row->sense == LINEXPR_GE ? -1 : 1) * b->row_dual[i];
        int32_t only;
        struct long_sum left = put_in(row, given_Bps, n, &only);
        if (row->sense == LINEXPR_EQ && only == -1) /* gives a bandwidth, or follows from those that do */
            continue;
        if (row->sense != LINEXPR_EQ && !(b->row_dual[i] >= 0))
            v.slope = INFINITY;
        add_long(&slope, dual, left.hi);
        add_long(&slope, dual, left.lo);
        slope.lo += play * fabs(dual * left.hi);
        for (int32_t d = 0; d < n; d++) {
            add_long(&push[d], dual, row->coef[d]);
            sizes[d] += fabs(dual * row->coef[d]);
        }
    }
    for (int32_t d = 0; d < n; d++) {
        if (isnan(given_Bps[d])) {
            add_least(&v, &slope, w.pull[d], push[d].hi + push[d].lo, sizes[d], play, most_Bps[d]);
        } else {
            double usd = b->cost_weight * p->usd_per_Bps[d] * given_Bps[d];
            v.fixed += w.pull[d] > 0 ? w.pull[d] / given_Bps[d] * (1 - ROUNDING) : 0;
            add_long(&slope, -usd, 1 - ROUNDING);
        }
    }
    v.slope += slope.hi + slope.lo;
    v.root *= 1 - ROUNDING;
    return v;
}

static double prove(const struct alloc_bound *b, const struct alloc_problem *p, const struct known *k,
                    double play)
{
    struct proved v = prove_parts(b, p, k, play);
    return v.fixed + v.root - v.slope;
}

/* Over the factor g the best bound of T at a given X: T >= fixed + root^2/4 / (mu*X + slope). */
struct verify_curve {
    double mu;
    struct proved v;
};

static double height(const struct verify_curve *c, double x)
{
    double price = c->mu * x + c->v.slope + ULPS * (c->mu * x + fabs(c->v.slope));
    if (c->v.root == 0) /* no multiplier on traffic: compute alone */
        return c->v.fixed;
    return price > 0 ? c->v.fixed + c->v.root * c->v.root / 4 / price : (double)INFINITY;
}

/* Least (X + fixed)*height over from..to: at an end, or where the derivative is 0 (there is one such X at
 * most). */
static double least_along(const struct verify_curve *c, double from, double to, double fixed)
{
    double least = height(c, from) * (from + fixed), quarter = c->v.root * c->v.root / 4;
    double end = isfinite(to)                     ? height(c, to) * (to + fixed)
                 : c->v.fixed > 0 || !(c->mu > 0) ? (double)INFINITY
                                                  : quarter / c->mu;
    double price = sqrt(quarter * (c->mu * fixed - c->v.slope) / c->v.fixed);
    double x = (price - c->v.slope) / c->mu;
    if (x > from && x < to)
        end = fmin(end, height(c, x) * (x + fixed));
    return fmin(least, end);
}

/* X at which the factor 1 is the best: there the multipliers were found. */
static double verify_home(const struct verify_curve *c)
{
    return c->mu > 0 ? (c->v.root / 2 - c->v.slope) / c->mu : (double)INFINITY;
}

/* Where curve b, at home at the end of from..to, rises above a. Any X makes a valid proof; this one the best.
 */
static double crossing(const struct verify_curve *a, const struct verify_curve *b, double from, double to)
{
    if (isinf(to))
        for (to = fmax(2 * from, 1); isfinite(to) && height(a, to) > height(b, to);)
            to *= 2;
    for (int i = 0; i < 200 && to - from > 1e-16 * to && isfinite(to); i++) {
        double x = from + (to - from) / 2;
        if (height(a, x) > height(b, x))
            from = x;
        else
            to = x;
    }
    return to;
}

static int by_mu_falling(const void *a, const void *b)
{
    const struct verify_curve *x = a, *y = b;
    return (x->mu < y->mu) - (x->mu > y->mu);
}

/* At a kink of the least time several curves have one home, each to the digits of its own multipliers. */
#define HOME_PLAY 1e-6

/* Each curve in turn proves its stretch of X >= least; dear ones first, for they are the steep ones. Where
 * that is less than @p enough another may prove more, as all hold everywhere. */
static double least_product(struct verify_curve *curves, int32_t n, double least, double fixed, double enough)
{
    double bound = INFINITY, from = least;
    qsort(curves, (size_t)n, sizeof *curves, by_mu_falling);
    for (int32_t i = 0; i < n; i++) {
        double to = INFINITY;
        if (i + 1 < n) {
            double here = verify_home(&curves[i]), next = verify_home(&curves[i + 1]);
            to = crossing(&curves[i], &curves[i + 1], fmax(from, fmin(here, next) * (1 - HOME_PLAY)),
                          fmax(from, fmax(here, next) * (1 + HOME_PLAY)));
        }
        double proved = least_along(&curves[i], from, to, fixed);
        for (int32_t k = 0; k < n && proved < enough; k++)
            proved = fmax(proved, least_along(&curves[k], from, to, fixed));
        bound = fmin(bound, proved);
        from = to;
    }
    return n ? bound : 0;
}

/* Each proof is a line in the plane of time and cost; the least product over their envelope is the bound. */
static int prove_product(double *bound, double enough, const struct alloc_answer *a,
                         const struct alloc_problem *p, const struct known *k, double play, struct err *e)
{
    struct verify_curve *curves = calloc((size_t)a->n_bounds + 1, sizeof *curves);
    double least = 0;
    int32_t n = 0;
    if (!curves)
        return err_nomem(e, "a lower bound");
    for (int32_t i = 0; i < a->n_bounds; i++) {
        struct alloc_bound b = a->bounds[i];
        if (b.time_weight > 0) {
            curves[n].mu = b.cost_weight / b.time_weight;
            curves[n].v = prove_parts(&b, p, k, play);
            curves[n].v.fixed /= b.time_weight;
            curves[n].v.root /= b.time_weight;
            curves[n++].v.slope /= b.time_weight;
        } else if (b.cost_weight > 0) {
            least = fmax(least, prove(&b, p, k, play) / b.cost_weight);
        }
    }
    *bound = least_product(curves, n, least, p->usd_fixed, enough);
    free(curves);
    return 0;
}

/* Relative to the size of the row's largest term. */
static double worst_violation(const struct alloc_problem *p, const double *bw_Bps)
{
    double worst = 0;
    for (int32_t i = 0; i < p->n_rows; i++) {
        struct long_sum sum = { .hi = -p->rows[i].rhs };
        double size = fabs(p->rows[i].rhs);
        for (int32_t d = 0; d < p->step->n_dims; d++) {
            add_long(&sum, p->rows[i].coef[d], bw_Bps[d]);
            size = fmax(size, fabs(p->rows[i].coef[d] * bw_Bps[d]));
        }
        double above = sum.hi + sum.lo;
        double over = p->rows[i].sense == LINEXPR_GE   ? -above
                      : p->rows[i].sense == LINEXPR_LE ? above
                                                       : fabs(above);
        if (over > 0)
            worst = fmax(worst, over / size);
    }
    for (int32_t d = 0; d < p->step->n_dims; d++)
        if (!(bw_Bps[d] >= 0))
            worst = INFINITY;
    return worst;
}

/* Value, bound and violation by the formula of the objective's form, compared with what the answer claims. */
int alloc_verify(struct verify_report *out, const struct alloc_answer *a, const struct alloc_problem *p,
                 const struct verify_steps *steps, struct err *e)
{
    struct alloc_problem q = *p;
    struct known known;
    int rc = find_traffic(&known, steps, e);
    if (rc)
        return rc;
    const struct alloc_objective_row *asked = &alloc_objectives[p->objective];
    if (asked->counted == ALLOC_COUNTED_BANDWIDTH) { /* least T_comm * sum of bandwidths */
        q.usd_fixed = 0;
        for (int32_t d = 0; d < p->step->n_dims; d++)
            q.usd_per_Bps[d] = 1;
    } else if (asked->counted == ALLOC_COUNTED_FACTOR) {
        q.usd_fixed = p->factor_fixed; /* least T * power, or T * what a second costs */
        for (int32_t d = 0; d < p->step->n_dims; d++)
            q.usd_per_Bps[d] = p->factor_per_Bps[d];
    }
    *out = (struct verify_report){ .violation = worst_violation(&q, a->bw_Bps), .usd = q.usd_fixed };
    /* As well as the answer keeps the rows, all it is compared with may. */
    const double play = fmin(out->violation, ROUNDING);
    out->time_s = total_time(&known, a->bw_Bps);
    for (int32_t d = 0; d < p->step->n_dims; d++)
        out->usd += q.usd_per_Bps[d] * a->bw_Bps[d];

    if (a->n_bounds == 0) {
        out->lower_bound = -INFINITY;
    } else if (asked->form == ALLOC_FORM_TIME) {
        out->value = out->time_s;
        out->lower_bound = prove(&a->bounds[0], &q, &known, play) / a->bounds[0].time_weight;
    } else if (asked->form == ALLOC_FORM_LIMITED) {
        const struct alloc_bound *b = &a->bounds[0];
        out->value = out->usd;
        out->lower_bound =
            (prove(b, &q, &known, play) - b->time_weight * p->time_limit_s) / b->cost_weight + q.usd_fixed;
        out->violation = fmax(out->violation, out->time_s / p->time_limit_s - 1);
    } else {
        out->value = out->time_s * out->usd;
        rc = prove_product(&out->lower_bound, out->value * (1 - ALLOC_GAP), a, &q, &known, play, e);
    }
    double gap = out->value == 0 && out->lower_bound == 0 ? 0 : (out->value - out->lower_bound) / out->value;
    /* A bound far above the value would contradict it: then one of the two is wrong, or rows hold too badly.
     */
    out->gap = gap < -ALLOC_GAP ? -gap : fmax(gap, 0);
    out->ok = out->violation <= MAX_VIOLATION && fabs(gap) <= ALLOC_GAP;
    free(known.sent_B);
    return rc;
}
