/*
 * A recurrent policy over plans: its cells, the tree of drawn plans, gradients through it, and steps along
 * them.
 */
#include "sim/hetero/policy.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/matrix.h"

/* ---- cells, for one state at a time ---- */

/* Widths of z for each h: 4 (in the order i, f, o, g) or 1. */
static int32_t policy_cell_gates(enum policy_cell cell)
{
    return cell == POLICY_LSTM ? 4 : 1;
}

static void lstm_forward(int32_t n, double *z, const double *c_before, double *c, double *tanh_c, double *h)
{
    const double *in = z, *forget = z + n, *out = z + 2 * (size_t)n, *fresh = z + 3 * (size_t)n;
    elementary_sigmoid(z, 3 * n);
    elementary_tanh(z + 3 * (size_t)n, n);
    for (int32_t j = 0; j < n; j++)
        tanh_c[j] = c[j] = (c_before ? forget[j] * c_before[j] : 0) + in[j] * fresh[j];
    elementary_tanh(tanh_c, n);
    for (int32_t j = 0; j < n; j++)
        h[j] = out[j] * tanh_c[j];
}

/*
 * z, shape [gates * n]: before; becomes i, f, o, g of an LSTM, and stays as tanh(z) of an Elman cell.
 * c_before, c, tanh_c: shape [n], of an LSTM alone; c_before NULL: zero. h, shape [n]: what
 * comes out.
 */
static void policy_cell_forward(enum policy_cell cell, int32_t n, double *z, const double *c_before,
                                double *c, double *tanh_c, double *h)
{
    if (cell == POLICY_LSTM) {
        lstm_forward(n, z, c_before, c, tanh_c, h);
        return;
    }
    elementary_tanh(z, n);
    memcpy(h, z, (size_t)n * sizeof *h);
}

/* What forward left, and where derivatives of the objective go. */
struct policy_cell_back {
    const double *gates;    /* z of forward */
    const double *c_before; /* NULL: zero */
    const double *tanh_c;
    const double *dh;  /* shape [n], by h */
    const double *dc;  /* shape [n], by c through what came later */
    double *dz;        /* out: shape [gates * n] */
    double *dc_before; /* added to: shape [n]; NULL: nobody asks */
};

/* Derivatives of one cell, from dh and dc to its inputs. Gate order: input, forget, output, fresh. Checked
 * against finite differences by the tests. */
static void lstm_backward(int32_t n, const struct policy_cell_back *b)
{
    size_t w = (size_t)n;
    for (size_t j = 0; j < w; j++) {
        double in = b->gates[j], forget = b->gates[w + j], out = b->gates[2 * w + j],
               fresh = b->gates[3 * w + j], t = b->tanh_c[j], before = b->c_before ? b->c_before[j] : 0;
        double dc = b->dc[j] + b->dh[j] * out * (1 - t * t);
        b->dz[j] = dc * fresh * in * (1 - in);
        b->dz[w + j] = dc * before * forget * (1 - forget);
        b->dz[2 * w + j] = b->dh[j] * t * out * (1 - out);
        b->dz[3 * w + j] = dc * in * (1 - fresh * fresh);
        if (b->dc_before)
            b->dc_before[j] += dc * forget;
    }
}

static void policy_cell_backward(enum policy_cell cell, int32_t n, const struct policy_cell_back *b)
{
    if (cell == POLICY_LSTM) {
        lstm_backward(n, b);
        return;
    }
    for (int32_t j = 0; j < n; j++)
        b->dz[j] = b->dh[j] * (1 - b->gates[j] * b->gates[j]);
}

/* ---- building ---- */

static size_t policy_larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* In the order of use, so that what is used together lies together. */
static void take_arrays(struct policy *p)
{
    const struct policy_shape *s = &p->shape;
    size_t layers = (size_t)s->n_layers, types = (size_t)s->n_types, hidden = (size_t)s->hidden,
           plans = (size_t)s->n_plans, features = (size_t)s->n_features, gates = (size_t)p->n_gates,
           out = (size_t)p->n_out, inner = 1 + (layers - 1) * plans;
    size_t flipped = policy_larger(policy_larger(hidden * out, hidden * inner), features * layers);
    struct arena *a = &p->arena;
    p->params = ARENA_TAKE(a, p->n_params, *p->params);
    p->gradient = ARENA_TAKE(a, p->n_params, *p->gradient);
    p->gates = ARENA_TAKE(a, inner * gates, *p->gates);
    p->c = ARENA_TAKE(a, inner * hidden, *p->c);
    p->tanh_c = ARENA_TAKE(a, inner * hidden, *p->tanh_c);
    p->h = ARENA_TAKE(a, inner * hidden, *p->h);
    p->out = ARENA_TAKE(a, inner * out, *p->out);
    p->prob = ARENA_TAKE(a, inner * types, *p->prob);
    p->entropy = ARENA_TAKE(a, inner, *p->entropy);
    p->d_out = ARENA_TAKE(a, inner * out, *p->d_out);
    p->d_c = ARENA_TAKE(a, inner * hidden, *p->d_c);
    p->d_h = ARENA_TAKE(a, plans * hidden, *p->d_h);
    p->d_z = ARENA_TAKE(a, gates, *p->d_z);
    p->weight = ARENA_TAKE(a, inner + plans, *p->weight);
    p->by_layer = ARENA_TAKE(a, layers * gates, *p->by_layer);
    p->flipped = ARENA_TAKE(a, flipped, *p->flipped);
    p->nodes = ARENA_TAKE(a, 1 + layers * plans, *p->nodes);
    p->first = ARENA_TAKE(a, layers + 2, *p->first);
    p->walkers = ARENA_TAKE(a, plans, *p->walkers);
    p->child = ARENA_TAKE(a, plans * types, *p->child);
}

/* Parameters are inputs by layer features and by the type before, the recurrent state, logits, and one copy
 * logit that favours the type of the layer before. */
int policy_build(struct policy *p, const struct policy_shape *shape, const double *features, struct err *e)
{
    *p = (struct policy){ .shape = *shape, .features = features };
    p->n_gates = policy_cell_gates(shape->cell) * shape->hidden;
    p->n_out = p->n_gates + shape->n_types;
    p->n_params =
        (shape->n_features + shape->n_types + 1) * p->n_gates + shape->hidden * p->n_out + shape->n_types + 1;
    take_arrays(p);
    int rc = arena_check(&p->arena, "a policy", e);
    if (rc)
        policy_free(p);
    return rc;
}

void policy_free(struct policy *p)
{
    arena_free(&p->arena);
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

/* Uniform within one over the root of the number of inputs; the forget gate starts open (bias 1), so that a
 * plan's beginning is remembered. */
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

/* x, shape [n], on top of `to`. */
static void policy_add(double *to, const double *x, int32_t n)
{
    for (int32_t j = 0; j < n; j++)
        to[j] += x[j];
}

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

/* A walker's type: at random, without a generator the most probable one. */
static int32_t policy_choose(const struct policy *p, int32_t walker, struct rng *rng)
{
    int32_t n = p->shape.n_types, best = 0;
    const double *prob = p->prob + (size_t)p->walkers[walker] * (size_t)n;
    if (rng)
        return draw_type(prob, n, rng);
    for (int32_t t = 1; t < n; t++)
        if (prob[t] > prob[best])
            best = t;
    return best;
}

/* Each walker goes one level down; a node is added where none went before. */
static void policy_descend(struct policy *p, int32_t level, int32_t n_walkers, struct rng *rng)
{
    int32_t from = p->first[level], n = p->first[level + 1], n_types = p->shape.n_types;
    memset(p->child, 0, (size_t)(n - from) * (size_t)n_types * sizeof *p->child);
    for (int32_t w = 0; w < n_walkers; w++) {
        int32_t node = p->walkers[w], type = policy_choose(p, w, rng);
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

/* Plans sampled together share beginnings: a tree of prefixes, in which each node is computed once for all
 * plans that pass through it. */
static void policy_grow(struct policy *p, int32_t n_walkers, struct rng *rng)
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
        policy_descend(p, level, n_walkers, rng);
    }
}

void policy_sample(struct policy *p, int32_t n, struct rng *rng)
{
    policy_grow(p, n, rng);
}

void policy_decode(struct policy *p)
{
    policy_grow(p, 1, NULL);
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

/* ---- derivatives by logits ---- */

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

/* Gradient of the weighted log-probabilities plus @p bonus times the entropy, backwards through the tree. The
 * products with features and states are matrix products over all nodes at once. */
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

/* ---- Adam ---- */

/* The paper's recommended values. */
#define BETA_1  0.9
#define BETA_2  0.999
#define EPSILON 1e-8

int adam_build(struct adam *a, int32_t n, struct err *e)
{
    *a = (struct adam){ .n = n };
    a->mean = calloc(2 * (size_t)n, sizeof *a->mean);
    if (!a->mean)
        return err_nomem(e, "steps of a policy");
    a->square = a->mean + n;
    adam_restart(a);
    return 0;
}

void adam_free(struct adam *a)
{
    free(a->mean);
    *a = (struct adam){ 0 };
}

void adam_restart(struct adam *a)
{
    memset(a->mean, 0, 2 * (size_t)a->n * sizeof *a->mean);
    a->mean_decay = a->square_decay = 1;
}

/* Ascends: gradients are of rewards. Decays are kept as products rather than powers, so results do not depend
 * on a machine's pow(). */
void adam_step(struct adam *a, double *x, const double *gradient, double rate)
{
    a->mean_decay *= BETA_1;
    a->square_decay *= BETA_2;
    double of_mean = rate / (1 - a->mean_decay), of_square = 1 / (1 - a->square_decay);
    for (int32_t i = 0; i < a->n; i++) {
        double g = gradient[i];
        a->mean[i] = BETA_1 * a->mean[i] + (1 - BETA_1) * g;
        a->square[i] = BETA_2 * a->square[i] + (1 - BETA_2) * g * g;
        x[i] += of_mean * a->mean[i] / (sqrt(of_square * a->square[i]) + EPSILON);
    }
}

/* ---- features of layers ---- */

/* 1, the place in the model, then kinds, numbers, two sizes, two seconds of each type. */
enum { PLAIN = 2, SIZES = 2, SECONDS = 2 };

int32_t policy_n_features(const struct hetero_profile *p)
{
    return PLAIN + N_HETERO_KINDS + p->n_layers + SIZES + SECONDS * p->n_types;
}

/* Mean 0 and variance 1 of a column. */
static void standardise(double *x, int32_t rows, int32_t width)
{
    double mean = 0, square = 0;
    for (int32_t r = 0; r < rows; r++)
        mean += x[(size_t)r * (size_t)width] / rows;
    for (int32_t r = 0; r < rows; r++) {
        double *cell = &x[(size_t)r * (size_t)width];
        *cell -= mean;
        square += *cell * *cell / rows;
    }
    for (int32_t r = 0; r < rows; r++)
        x[(size_t)r * (size_t)width] *= square > 1e-12 ? 1 / sqrt(square) : 0;
}

/* Logarithm of a size or time, @p least more so that 0 has one. What nobody checks may be beyond numbers. */
static double log_of(double x, double least)
{
    return elementary_log(fmin(fmax(x, 0), DBL_MAX / 2) + least);
}

static void fill_measures(double *x, const struct hetero_profile *p, int32_t layer)
{
    const struct hetero_layer *l = &p->layers[layer];
    *x++ = log_of(l->in_B, 1);
    *x++ = log_of(l->weight_B, 1);
    for (int32_t t = 0; t < p->n_types; t++) {
        size_t at = (size_t)layer * (size_t)p->n_types + (size_t)t;
        *x++ = log_of(p->compute_s[at], 1e-9);
        *x++ = log_of(p->sync_s[at] + p->handover_s[at], 1e-9);
    }
}

/* A constant, the place in the model, kind and number of the layer, then its measures on every type,
 * standardised over the layers. */
void policy_features(double *x, const struct hetero_profile *p)
{
    int32_t n = policy_n_features(p), measures = PLAIN + N_HETERO_KINDS + p->n_layers;
    memset(x, 0, (size_t)p->n_layers * (size_t)n * sizeof *x);
    for (int32_t l = 0; l < p->n_layers; l++) {
        double *row = x + (size_t)l * (size_t)n;
        row[0] = 1;
        row[1] = (l + 0.5) / p->n_layers - 0.5;
        row[PLAIN + p->layers[l].kind] = 1;
        row[PLAIN + N_HETERO_KINDS + l] = 1;
        fill_measures(row + measures, p, l);
    }
    for (int32_t j = measures; j < n; j++)
        standardise(x + j, p->n_layers, n);
}
