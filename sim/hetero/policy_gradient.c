/* What drawn plans are worth to the parameters of a policy: the objective and its gradient. */
#include <string.h>

#include "base/matrix.h"
#include "sim/hetero/policy.h"
#include "sim/hetero/policy_parts.h"

/* log P of a plan is a sum over edges of the tree: each node weighs what the plans through it weigh. */
static void weigh_nodes(struct policy *p, const double *weights)
{
    int32_t leaves = p->first[p->shape.n_layers], n = p->first[p->shape.n_layers + 1];
    memset(p->weight, 0, (size_t)leaves * sizeof *p->weight);
    for (int32_t i = n - 1; i > 0; i--) {
        if (i >= leaves)
            p->weight[i] = p->nodes[i].count * weights[i - leaves];
        p->weight[p->nodes[i].parent] += p->weight[i];
    }
}

static double *log_p_of(const struct policy *p, int32_t node)
{
    return p->out + (size_t)node * (size_t)p->n_out + p->n_gates;
}

double policy_objective(struct policy *p, const double *weights, double bonus)
{
    int32_t leaves = p->first[p->shape.n_layers], n = p->first[p->shape.n_layers + 1];
    double sum = 0;
    weigh_nodes(p, weights);
    for (int32_t i = 1; i < n; i++)
        sum += p->weight[i] * log_p_of(p, p->nodes[i].parent)[p->nodes[i].type];
    for (int32_t i = 0; i < leaves; i++)
        sum += bonus * p->nodes[i].count * p->entropy[i];
    return sum;
}

/* ---- derivatives by logits ---- */

/* Of weight * log p_t: weight ([t = j] - p_j) by logit j. Of the entropy H: -p_j (log p_j + H). */
static void by_logits(struct policy *p, double bonus)
{
    int32_t leaves = p->first[p->shape.n_layers], n = p->first[p->shape.n_layers + 1];
    memset(p->d_out, 0, (size_t)leaves * (size_t)p->n_out * sizeof *p->d_out);
    for (int32_t i = 1; i < n; i++) {
        size_t row = (size_t)p->nodes[i].parent * (size_t)p->n_out + (size_t)p->n_gates;
        p->d_out[row + (size_t)p->nodes[i].type] += p->weight[i];
    }
    for (int32_t i = 0; i < leaves; i++) {
        const double *log_p = log_p_of(p, i), *prob = p->prob + (size_t)i * (size_t)p->shape.n_types;
        double *d = p->d_out + (size_t)i * (size_t)p->n_out + p->n_gates;
        double each = bonus * p->nodes[i].count;
        for (int32_t t = 0; t < p->shape.n_types; t++)
            d[t] -= prob[t] * (p->weight[i] + each * (log_p[t] + p->entropy[i]));
    }
}

/* ---- back through the layers ---- */

/* A node gives what it owes to its parent, to its layer and to the type before it. */
static void leave_node(struct policy *p, int32_t level, int32_t i, const struct policy_parts *to)
{
    const struct policy_node *node = &p->nodes[i];
    size_t gates = (size_t)p->n_gates, hidden = (size_t)p->shape.hidden, at = (size_t)i,
           parent = (size_t)node->parent;
    bool root = node->parent < 0;
    double *layer = p->by_layer + (size_t)level * gates, *d_logits = p->d_out + at * (size_t)p->n_out + gates;
    const struct policy_cell_back back = { .gates = p->gates + at * gates,
                                           .c_before = root ? NULL : p->c + parent * hidden,
                                           .tanh_c = p->tanh_c + at * hidden,
                                           .dh = p->d_h + (size_t)(i - p->first[level]) * hidden,
                                           .dc = p->d_c + at * hidden,
                                           .dz = p->d_z,
                                           .dc_before = root ? NULL : p->d_c + parent * hidden };
    policy_cell_backward(p->shape.cell, p->shape.hidden, &back);
    if (!root)
        policy_add(p->d_out + parent * (size_t)p->n_out, p->d_z, p->n_gates);
    policy_add(to->type + (size_t)node->type * gates, p->d_z, p->n_gates);
    policy_add(layer, p->d_z, p->n_gates);
    policy_add(to->bias, d_logits, p->shape.n_types);
    if (p->shape.copy_logit && node->type < p->shape.n_types)
        *to->copy += d_logits[node->type];
}

/* From the last level up; the derivatives by h of a level come from those by out, which its children and its
 * own choice have filled by then. */
static void back_through(struct policy *p, const struct policy_parts *to)
{
    int32_t hidden = p->shape.hidden;
    memset(p->d_c, 0, (size_t)p->first[p->shape.n_layers] * (size_t)hidden * sizeof *p->d_c);
    memset(p->by_layer, 0, (size_t)p->shape.n_layers * (size_t)p->n_gates * sizeof *p->by_layer);
    matrix_transpose(p->flipped, policy_parts(p, p->params).state, hidden, p->n_out);
    for (int32_t level = p->shape.n_layers - 1; level >= 0; level--) {
        int32_t from = p->first[level], end = p->first[level + 1];
        matrix_product(p->d_h, p->d_out + (size_t)from * (size_t)p->n_out, p->flipped, end - from, hidden,
                       p->n_out, false);
        for (int32_t i = from; i < end; i++)
            leave_node(p, level, i, to);
    }
}

void policy_differentiate(struct policy *p, const double *weights, double bonus)
{
    const struct policy_shape *s = &p->shape;
    struct policy_parts to = policy_parts(p, p->gradient);
    int32_t inner = p->first[s->n_layers];
    memset(p->gradient, 0, (size_t)p->n_params * sizeof *p->gradient);
    weigh_nodes(p, weights);
    by_logits(p, bonus);
    back_through(p, &to);
    matrix_transpose(p->flipped, p->h, inner, s->hidden);
    matrix_product(to.state, p->flipped, p->d_out, s->hidden, p->n_out, inner, false);
    matrix_transpose(p->flipped, p->features, s->n_layers, s->n_features);
    matrix_product(to.input, p->flipped, p->by_layer, s->n_features, p->n_gates, s->n_layers, false);
}
