#include "alloc/verify.h"

#include <math.h>
#include <stdlib.h>

enum { D = TOPO_MAX_DIMS };

/* Shares no code with the solvers on purpose: even what is the same is written again. */

#define MAX_VIOLATION 1e-12

/* One walk over the trees for one bound. */
struct walk {
    const struct verify_steps *steps;
    const struct step_tree *tree;
    const int32_t *leaf_of;   /* of this tree's nodes */
    const double *dual;       /* shape [leaves][D] */
    double constant, pull[D]; /* gathered: constant + sum_d pull_d/B_d lies below weight*T */
};

static double own_traffic(const struct walk *w, const struct step_node *node, double *traffic_B)
{
    double all = 0;
    const int32_t *members = w->tree->groups[node->group].members;
    collective_traffic(traffic_B, node->collective, node->bytes, members, w->tree->n_dims);
    for (int32_t d = 0; d < w->tree->n_dims; d++) {
        traffic_B[d] *= node->times / w->steps->net->dims[d].efficiency;
        all += traffic_B[d];
    }
    return all;
}

static double own_constant(const struct walk *w, const struct step_node *node)
{
    if (w->steps->drop_const)
        return 0;
    if (node->kind == STEP_COMPUTE)
        return node->seconds;
    if (w->steps->model != STEP_ALPHA_BETA || !(node->bytes > 0))
        return 0;
    const int32_t *members = w->tree->groups[node->group].members;
    return node->times * collective_latency_s(node->collective, members, w->steps->net);
}

static double time_of(const struct walk *w, step_id id, const double *bw_Bps)
{
    const struct step_node *node = &w->tree->nodes[id];
    double traffic_B[D] = { 0 }, sum = 0, most = 0;
    switch (node->kind) {
    case STEP_COMPUTE:
        return own_constant(w, node);
    case STEP_COLLECTIVE:
        own_traffic(w, node, traffic_B);
        for (int32_t d = 0; d < w->tree->n_dims; d++)
            if (traffic_B[d] > 0)
                most = fmax(most, traffic_B[d] / bw_Bps[d]);
        return own_constant(w, node) + most;
    default:
        for (step_id c = node->first; c >= 0; c = w->tree->nodes[c].next) {
            double t = time_of(w, c, bw_Bps);
            sum += t;
            most = fmax(most, t);
        }
        return node->kind == STEP_MAX ? most : node->kind == STEP_REPEAT ? node->times * sum : sum;
    }
}

static double dual_sum(const struct walk *w, step_id id)
{
    double sum = 0;
    for (int32_t d = 0; w->leaf_of[id] >= 0 && d < w->tree->n_dims; d++)
        sum += fmax(w->dual[(ptrdiff_t)w->leaf_of[id] * D + d], 0);
    return sum;
}

/* The weight a node must have for the multipliers below it to be covered. */
static double weight_needed(const struct walk *w, step_id id)
{
    const struct step_node *node = &w->tree->nodes[id];
    double need = node->kind == STEP_COLLECTIVE ? dual_sum(w, id) : 0;
    for (step_id c = node->first; c >= 0; c = w->tree->nodes[c].next) {
        double below = weight_needed(w, c);
        need = node->kind == STEP_MAX ? need + below : fmax(need, below);
    }
    return need;
}

static void gather(struct walk *w, step_id id, double weight, double scale);

/* Give each term what it needs, scaled down if that is too much; what is left goes to the longest compute. */
static void gather_max(struct walk *w, step_id id, double weight, double scale)
{
    static const double no_bandwidth_limit[D] = { INFINITY, INFINITY, INFINITY, INFINITY,
                                                  INFINITY, INFINITY, INFINITY, INFINITY };
    double need = weight_needed(w, id), longest = -1;
    double share = need > weight ? weight / need : 1;
    step_id rest = -1;
    for (step_id c = w->tree->nodes[id].first; c >= 0; c = w->tree->nodes[c].next) {
        double compute_s = time_of(w, c, no_bandwidth_limit);
        if (compute_s > longest) {
            longest = compute_s;
            rest = c;
        }
    }
    for (step_id c = w->tree->nodes[id].first; c >= 0; c = w->tree->nodes[c].next) {
        double own = share * weight_needed(w, c);
        gather(w, c, c == rest ? own + fmax(weight - need, 0) : own, scale);
    }
}

static void gather(struct walk *w, step_id id, double weight, double scale)
{
    const struct step_node *node = &w->tree->nodes[id];
    if (node->kind == STEP_MAX) {
        gather_max(w, id, weight, scale);
        return;
    }
    if (node->kind != STEP_COMPUTE && node->kind != STEP_COLLECTIVE) {
        if (node->kind == STEP_REPEAT)
            scale *= node->times;
        for (step_id c = node->first; c >= 0; c = w->tree->nodes[c].next)
            gather(w, c, weight, scale);
        return;
    }
    w->constant += weight * scale * own_constant(w, node);
    double sum = node->kind == STEP_COLLECTIVE ? dual_sum(w, id) : 0, traffic_B[D] = { 0 };
    if (!(sum > 0) || !(own_traffic(w, node, traffic_B) > 0))
        return;
    double share = sum > weight ? weight / sum : 1;
    for (int32_t d = 0; d < w->tree->n_dims; d++)
        w->pull[d] += share * fmax(w->dual[(ptrdiff_t)w->leaf_of[id] * D + d], 0) * scale * traffic_B[d];
}

/* Both walks over all trees: each starts at its place in the joined leaf_of. */
static double total_time(const struct verify_steps *s, const double *bw_Bps)
{
    double sum = 0, most = 0;
    for (int32_t i = 0; i < s->n; i++) {
        const struct walk w = { .steps = s, .tree = s->trees[i] };
        double t = s->scale[i] * time_of(&w, s->trees[i]->root, bw_Bps);
        sum += t;
        most = fmax(most, t);
    }
    return s->take_max ? most : sum;
}

static void gather_all(struct walk *w, const struct alloc_bound *b, const struct alloc_problem *p)
{
    const struct verify_steps *s = w->steps;
    const int32_t *leaf_of = p->step->leaf_of;
    double need = 0;
    w->dual = b->leaf_dual;
    for (int pass = s->take_max ? 0 : 1; pass < 2; pass++) {
        leaf_of = p->step->leaf_of;
        for (int32_t i = 0; i < s->n; i++) {
            w->tree = s->trees[i];
            w->leaf_of = leaf_of;
            leaf_of += s->trees[i]->n_nodes;
            double own = s->take_max ? weight_needed(w, w->tree->root) : b->time_weight;
            if (pass == 0)
                need += own;
            else
                gather(w, w->tree->root,
                       s->take_max && need > b->time_weight ? own * b->time_weight / need : own, s->scale[i]);
        }
    }
}

/* Most B_d can be, by one row alone. */
static double cap_of(const struct alloc_problem *p, int32_t d)
{
    double cap = INFINITY;
    for (int32_t i = 0; i < p->n_rows; i++) {
        bool alone = p->rows[i].sense != LINEXPR_GE && p->rows[i].coef[d] > 0;
        for (int32_t k = 0; k < p->step->n_dims && alone; k++)
            alone = p->rows[i].coef[k] >= 0;
        if (alone)
            cap = fmin(cap, p->rows[i].rhs / p->rows[i].coef[d]);
    }
    return cap;
}

/* v such that time_weight*T + cost_weight*X >= v everywhere. */
static double prove(const struct alloc_bound *b, const struct alloc_problem *p, const struct verify_steps *s)
{
    struct walk w = { .steps = s };
    if (b->time_weight > 0)
        gather_all(&w, b, p);
    double v = w.constant;
    for (int32_t i = 0; i < p->n_rows; i++) {
        if (p->rows[i].sense != LINEXPR_EQ && b->row_dual[i] < 0)
            return -INFINITY;
        v -= (p->rows[i].sense == LINEXPR_GE ? -1 : 1) * b->row_dual[i] * p->rows[i].rhs;
    }
    for (int32_t d = 0; d < p->step->n_dims; d++) {
        double push = b->cost_weight * p->usd_per_Bps[d];
        for (int32_t i = 0; i < p->n_rows; i++)
            push += (p->rows[i].sense == LINEXPR_GE ? -1 : 1) * b->row_dual[i] * p->rows[i].coef[d];
        if (push >= 0)
            v += 2 * sqrt(w.pull[d]) * sqrt(push);
        else
            v += push * cap_of(p, d);
    }
    return v;
}

/* X * the highest line there, and the least of it over X >= least. */
static double envelope(const double *v, const double *mu, int32_t n, double x, double fixed)
{
    double most = 0;
    for (int32_t i = 0; i < n; i++)
        most = fmax(most, v[i] - mu[i] * x);
    return most * (x + fixed);
}

static double least_product(const double *v, const double *mu, int32_t n, double least, double fixed)
{
    double bound = envelope(v, mu, n, least, fixed);
    bool flat = false;
    for (int32_t i = 0; i < n; i++) {
        flat = flat || (mu[i] == 0 && v[i] > 0);
        for (int32_t k = 0; k < i; k++) {
            double x = (v[i] - v[k]) / (mu[i] - mu[k]);
            if (x > least && isfinite(x))
                bound = fmin(bound, envelope(v, mu, n, x, fixed));
        }
    }
    /* Without a level line the highest one sinks to nothing as X grows. */
    return flat ? bound : 0;
}

static int prove_product(double *bound, const struct alloc_answer *a, const struct alloc_problem *p,
                         const struct verify_steps *s, struct err *e)
{
    double *v = calloc(2 * (size_t)a->n_bounds + 1, sizeof *v), *mu = v + a->n_bounds, least = 0;
    int32_t n = 0;
    if (!v)
        return err_nomem(e, "a lower bound");
    for (int32_t i = 0; i < a->n_bounds; i++) {
        const struct alloc_bound *b = &a->bounds[i];
        double value = prove(b, p, s);
        if (b->time_weight > 0) {
            v[n] = value / b->time_weight;
            mu[n++] = b->cost_weight / b->time_weight;
        } else if (b->cost_weight > 0) {
            least = fmax(least, value / b->cost_weight);
        }
    }
    *bound = least_product(v, mu, n, least, p->usd_fixed);
    free(v);
    return 0;
}

static double worst_violation(const struct alloc_problem *p, const double *bw_Bps)
{
    double worst = 0;
    for (int32_t i = 0; i < p->n_rows; i++) {
        double sum = 0, size = fabs(p->rows[i].rhs);
        for (int32_t d = 0; d < p->step->n_dims; d++) {
            sum += p->rows[i].coef[d] * bw_Bps[d];
            size = fmax(size, fabs(p->rows[i].coef[d] * bw_Bps[d]));
        }
        double over = p->rows[i].sense == LINEXPR_GE   ? p->rows[i].rhs - sum
                      : p->rows[i].sense == LINEXPR_LE ? sum - p->rows[i].rhs
                                                       : fabs(sum - p->rows[i].rhs);
        if (over > 0)
            worst = fmax(worst, over / size);
    }
    for (int32_t d = 0; d < p->step->n_dims; d++)
        if (!(bw_Bps[d] >= 0))
            worst = INFINITY;
    return worst;
}

int alloc_verify(struct verify_report *out, const struct alloc_answer *a, const struct alloc_problem *p,
                 const struct verify_steps *steps, struct err *e)
{
    struct alloc_problem q = *p;
    if (p->objective == ALLOC_UTILIZATION) { /* least T_comm * sum of bandwidths */
        q.usd_fixed = 0;
        for (int32_t d = 0; d < p->step->n_dims; d++)
            q.usd_per_Bps[d] = 1;
    }
    *out = (struct verify_report){ .violation = worst_violation(&q, a->bw_Bps), .usd = q.usd_fixed };
    out->time_s = total_time(steps, a->bw_Bps);
    for (int32_t d = 0; d < p->step->n_dims; d++)
        out->usd += q.usd_per_Bps[d] * a->bw_Bps[d];

    int rc = 0;
    if (a->n_bounds == 0) {
        out->lower_bound = -INFINITY;
    } else if (p->objective == ALLOC_TIME) {
        out->value = out->time_s;
        out->lower_bound = prove(&a->bounds[0], &q, steps) / a->bounds[0].time_weight;
    } else if (p->objective == ALLOC_COST) {
        const struct alloc_bound *b = &a->bounds[0];
        out->value = out->usd;
        out->lower_bound =
            (prove(b, &q, steps) - b->time_weight * p->time_limit_s) / b->cost_weight + q.usd_fixed;
        out->violation = fmax(out->violation, out->time_s / p->time_limit_s - 1);
    } else {
        out->value = out->time_s * out->usd;
        rc = prove_product(&out->lower_bound, a, &q, steps, e);
    }
    out->gap = fmax((out->value - out->lower_bound) / out->value, 0);
    out->ok = out->violation <= MAX_VIOLATION && out->gap <= ALLOC_GAP;
    return rc;
}
