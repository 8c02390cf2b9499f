#include "sim/hetero/policy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/matrix.h"
#include "base/elementary.h"
#include "sim/hetero/policy_parts.h"

/* ---- building ---- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

struct room {
    double **at;
    size_t n;
};

static bool carve_doubles(struct policy *p)
{
    const struct policy_shape *s = &p->shape;
    size_t layers = (size_t)s->n_layers, types = (size_t)s->n_types, hidden = (size_t)s->hidden,
           plans = (size_t)s->n_plans, features = (size_t)s->n_features, params = (size_t)p->n_params,
           gates = (size_t)p->n_gates, out = (size_t)p->n_out, inner = 1 + (layers - 1) * plans;
    const struct room rooms[] = {
        { &p->params, params },
        { &p->gradient, params },
        { &p->gates, inner * gates },
        { &p->c, inner * hidden },
        { &p->tanh_c, inner * hidden },
        { &p->h, inner * hidden },
        { &p->out, inner * out },
        { &p->prob, inner * types },
        { &p->entropy, inner },
        { &p->d_out, inner * out },
        { &p->d_c, inner * hidden },
        { &p->d_h, plans * hidden },
        { &p->d_z, gates },
        { &p->weight, inner + plans },
        { &p->by_layer, layers * gates },
        { &p->flipped, larger(larger(hidden * out, hidden * inner), features * layers) },
    };
    size_t n = 0, n_rooms = sizeof rooms / sizeof rooms[0];
    for (size_t i = 0; i < n_rooms; i++)
        n += rooms[i].n;
    double *at = calloc(n, sizeof *at);
    p->memory[0] = at;
    for (size_t i = 0; i < n_rooms && at; i++) {
        *rooms[i].at = at;
        at += rooms[i].n;
    }
    return at;
}

static bool carve_others(struct policy *p)
{
    size_t layers = (size_t)p->shape.n_layers, plans = (size_t)p->shape.n_plans, n_nodes = 1 + layers * plans,
           n_child = plans * (size_t)p->shape.n_types;
    char *at = calloc(1, n_nodes * sizeof *p->nodes + (layers + 2 + plans + n_child) * sizeof(int32_t));
    p->memory[1] = at;
    if (!at)
        return false;
    p->nodes = (struct policy_node *)(void *)at;
    p->first = (int32_t *)(void *)(at + n_nodes * sizeof *p->nodes);
    p->walkers = p->first + layers + 2;
    p->child = p->walkers + plans;
    return true;
}

int policy_build(struct policy *p, const struct policy_shape *shape, const double *features, struct err *e)
{
    *p = (struct policy){ .shape = *shape, .features = features };
    p->n_gates = policy_cell_gates(shape->cell) * shape->hidden;
    p->n_out = p->n_gates + shape->n_types;
    p->n_params =
        (shape->n_features + shape->n_types + 1) * p->n_gates + shape->hidden * p->n_out + shape->n_types + 1;
    if (!carve_doubles(p) || !carve_others(p)) {
        policy_free(p);
        return err_nomem(e, "a policy");
    }
    return 0;
}

void policy_free(struct policy *p)
{
    free(p->memory[0]);
    free(p->memory[1]);
    *p = (struct policy){ 0 };
}

/* ---- parameters ---- */

struct policy_parts policy_parts(const struct policy *p, double *of)
{
    struct policy_parts x;
    x.input = of;
    x.type = x.input + (size_t)p->shape.n_features * (size_t)p->n_gates;
    x.state = x.type + (size_t)(p->shape.n_types + 1) * (size_t)p->n_gates;
    x.bias = x.state + (size_t)p->shape.hidden * (size_t)p->n_out;
    x.copy = x.bias + p->shape.n_types;
    return x;
}

/* The columns of z in a matrix whose rows are @p width wide. */
static void start_rows(const struct policy *p, double *rows, int32_t n, int32_t width, struct rng *rng)
{
    /* Of n inputs of each z, one of the one-hot type before is there at a time. */
    double bound = 1 / sqrt((double)(p->shape.n_features + p->shape.hidden + 1));
    for (int32_t r = 0; r < n; r++)
        for (int32_t j = 0; j < p->n_gates; j++)
            rows[(size_t)r * (size_t)width + (size_t)j] = rng_range(rng, -bound, bound);
}

void policy_start(struct policy *p, double copy, struct rng *rng)
{
    struct policy_parts x = policy_parts(p, p->params);
    memset(p->params, 0, (size_t)p->n_params * sizeof *p->params);
    start_rows(p, x.input, p->shape.n_features, p->n_gates, rng);
    start_rows(p, x.type, p->shape.n_types + 1, p->n_gates, rng);
    start_rows(p, x.state, p->shape.hidden, p->n_out, rng);
    if (p->shape.cell == POLICY_LSTM)
        for (int32_t j = 0; j < p->shape.hidden; j++)
            x.input[p->shape.hidden + j] += 1;
    if (p->shape.copy_logit)
        *x.copy = copy;
}

/* ---- forward ---- */

/* h of a node from its parent's. */
static void enter_node(struct policy *p, int32_t level, int32_t i)
{
    const struct policy_node *node = &p->nodes[i];
    size_t gates = (size_t)p->n_gates, hidden = (size_t)p->shape.hidden, at = (size_t)i,
           parent = (size_t)node->parent;
    bool root = node->parent < 0;
    double *z = p->gates + at * gates;
    memcpy(z, p->by_layer + (size_t)level * gates, gates * sizeof *z);
    policy_add(z, policy_parts(p, p->params).type + (size_t)node->type * gates, p->n_gates);
    if (!root)
        policy_add(z, p->out + parent * (size_t)p->n_out, p->n_gates);
    policy_cell_forward(p->shape.cell, p->shape.hidden, z, root ? NULL : p->c + parent * hidden,
                        p->c + at * hidden, p->tanh_c + at * hidden, p->h + at * hidden);
}

/* Logits of a node, less the largest of them, into p->prob as well. */
static void finish_logits(struct policy *p, int32_t i)
{
    int32_t n_types = p->shape.n_types;
    struct policy_parts x = policy_parts(p, p->params);
    double *logits = p->out + (size_t)i * (size_t)p->n_out + p->n_gates, most = -INFINITY;
    policy_add(logits, x.bias, n_types);
    if (p->nodes[i].type < n_types)
        logits[p->nodes[i].type] += *x.copy;
    for (int32_t t = 0; t < n_types; t++)
        most = fmax(most, logits[t]);
    for (int32_t t = 0; t < n_types; t++)
        logits[t] -= most;
    memcpy(p->prob + (size_t)i * (size_t)n_types, logits, (size_t)n_types * sizeof *logits);
}

/* p->prob holds exp of the logits: both become probabilities, and their logarithms. */
static void normalise(struct policy *p, int32_t i)
{
    int32_t n_types = p->shape.n_types;
    double *log_p = p->out + (size_t)i * (size_t)p->n_out + p->n_gates,
           *prob = p->prob + (size_t)i * (size_t)n_types, sum = 0, mean = 0;
    for (int32_t t = 0; t < n_types; t++)
        sum += prob[t];
    double log_sum = elementary_log(sum), part = 1 / sum;
    for (int32_t t = 0; t < n_types; t++) {
        prob[t] *= part;
        log_p[t] -= log_sum;
        mean += prob[t] * log_p[t];
    }
    p->entropy[i] = -mean;
}

/* All that the network says of the nodes of a level. */
static void enter_level(struct policy *p, int32_t level)
{
    int32_t from = p->first[level], end = p->first[level + 1];
    for (int32_t i = from; i < end; i++)
        enter_node(p, level, i);
    matrix_product(p->out + (size_t)from * (size_t)p->n_out, p->h + (size_t)from * (size_t)p->shape.hidden,
                   policy_parts(p, p->params).state, end - from, p->n_out, p->shape.hidden, false);
    for (int32_t i = from; i < end; i++)
        finish_logits(p, i);
    elementary_exp(p->prob + (size_t)from * (size_t)p->shape.n_types, (end - from) * p->shape.n_types);
    for (int32_t i = from; i < end; i++)
        normalise(p, i);
}

/* ---- growing the tree ---- */

/* How a walker chooses: what @p plans say, else at random, else what is most probable. */
struct choice {
    const hetero_id *plans;
    struct rng *rng;
};

static int32_t draw_type(const double *prob, int32_t n, struct rng *rng)
{
    double u = rng_uniform(rng), sum = 0;
    for (int32_t t = 0; t < n - 1; t++) {
        sum += prob[t];
        if (u < sum)
            return t;
    }
    return n - 1;
}

static int32_t choose(const struct policy *p, const struct choice *how, int32_t walker, int32_t level)
{
    int32_t n = p->shape.n_types, best = 0;
    const double *prob = p->prob + (size_t)p->walkers[walker] * (size_t)n;
    if (how->plans)
        return how->plans[(size_t)walker * (size_t)p->shape.n_layers + (size_t)level];
    if (how->rng)
        return draw_type(prob, n, how->rng);
    for (int32_t t = 1; t < n; t++)
        if (prob[t] > prob[best])
            best = t;
    return best;
}

/* Each walker goes one level down; a node is added where none went before. */
static void descend(struct policy *p, int32_t level, int32_t n_walkers, const struct choice *how)
{
    int32_t from = p->first[level], n = p->first[level + 1], n_types = p->shape.n_types;
    memset(p->child, 0, (size_t)(n - from) * (size_t)n_types * sizeof *p->child);
    for (int32_t w = 0; w < n_walkers; w++) {
        int32_t node = p->walkers[w], type = choose(p, how, w, level);
        int32_t *child = &p->child[(size_t)(node - from) * (size_t)n_types + (size_t)type];
        if (*child == 0) { /* node 0 is the root, nobody's child */
            *child = n;
            p->nodes[n++] = (struct policy_node){ .parent = node, .type = type };
        }
        p->nodes[*child].count++;
        p->walkers[w] = *child;
    }
    p->first[level + 2] = n;
}

static void grow(struct policy *p, int32_t n_walkers, const struct choice *how)
{
    const struct policy_shape *s = &p->shape;
    matrix_product(p->by_layer, p->features, policy_parts(p, p->params).input, s->n_layers, p->n_gates,
                   s->n_features, false);
    p->nodes[0] = (struct policy_node){ .parent = -1, .type = s->n_types, .count = n_walkers };
    p->first[0] = 0;
    p->first[1] = 1;
    memset(p->walkers, 0, (size_t)n_walkers * sizeof *p->walkers);
    for (int32_t level = 0; level < s->n_layers; level++) {
        enter_level(p, level);
        descend(p, level, n_walkers, how);
    }
}

void policy_sample(struct policy *p, int32_t n, struct rng *rng)
{
    grow(p, n, &(struct choice){ .rng = rng });
}

void policy_follow(struct policy *p, int32_t n, const hetero_id *plans)
{
    grow(p, n, &(struct choice){ .plans = plans });
}

void policy_decode(struct policy *p)
{
    grow(p, 1, &(struct choice){ 0 });
}

int32_t policy_plan(const struct policy *p, int32_t leaf, hetero_id *plan)
{
    int32_t i = p->first[p->shape.n_layers] + leaf;
    for (int32_t l = p->shape.n_layers - 1; l >= 0; l--) {
        plan[l] = (hetero_id)p->nodes[i].type;
        i = p->nodes[i].parent;
    }
    return policy_count(p, leaf);
}
