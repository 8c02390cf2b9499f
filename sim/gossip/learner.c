/*
 * The small model that is really trained: a multilayer perceptron with ReLU and softmax, in float32, with its
 * gradient by backpropagation and its optimisers (SGD with momentum, AdamW). A model is one vector of
 * parameters, so that exchanging and averaging models are vector operations; first[] says where each layer's
 * weights and biases begin. Products go through kernel.c, whose order of additions is fixed: a run gives the
 * same bits on any machine.
 */
#include "sim/gossip/learner.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/num.h"
#include "sim/gossip/floats.h"

/* `omp simd` is a wish: sanitizers come in its way, and there clang warns of every loop. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* ---- shapes ---- */

/* Tensors of layer @p l. */
static ptrdiff_t weights_of(int32_t l)
{
    return 2 * (ptrdiff_t)l;
}

static ptrdiff_t biases_of(int32_t l)
{
    return weights_of(l) + 1;
}

static int check_width(const char *what, int32_t width, int32_t most, struct err *e)
{
    if (width >= 1 && width <= most)
        return 0;
    return err_set(e, ERR_RANGE, "%s: are %d, expected 1 to %d", what, width, most);
}

/* Lays the tensors out one after the other: weights, then biases, layer by layer. */
int gossip_net_build(struct gossip_net *net, int32_t n_features, const int32_t *hidden, int32_t n_hidden,
                     int32_t n_classes, struct err *e)
{
    int64_t at = 0;
    *net = (struct gossip_net){ 0 };
    if (n_hidden < 0 || n_hidden >= GOSSIP_MAX_LAYERS)
        return err_set(e, ERR_RANGE, "hidden layers: are %d, expected 0 to %d", n_hidden,
                       GOSSIP_MAX_LAYERS - 1);
    int rc = check_width("features", n_features, GOSSIP_MAX_FEATURES, e);
    for (int32_t l = 0; l < n_hidden && !rc; l++)
        rc = check_width("units of a hidden layer", hidden[l], GOSSIP_MAX_WIDTH, e);
    if (!rc)
        rc = check_width("classes", n_classes, GOSSIP_MAX_CLASSES, e);
    if (rc)
        return rc;
    net->n_layers = n_hidden + 1;
    net->n_tensors = 2 * net->n_layers;
    net->width[0] = n_features;
    for (int32_t l = 0; l < n_hidden; l++)
        net->width[l + 1] = hidden[l];
    net->width[net->n_layers] = n_classes;
    for (int32_t l = 0; l < net->n_layers; l++) {
        net->first[weights_of(l)] = (int32_t)at;
        at += (int64_t)net->width[l] * net->width[l + 1];
        if (at > GOSSIP_MAX_PARAMS)
            return err_set(e, ERR_RANGE, "parameters: are %lld, expected at most %d", (long long)at,
                           GOSSIP_MAX_PARAMS);
        net->first[biases_of(l)] = (int32_t)at;
        at += net->width[l + 1];
    }
    net->n_params = net->first[net->n_tensors] = (int32_t)at;
    return 0;
}

void gossip_net_draw(float *x, const struct gossip_net *net, struct rng *r)
{
    memset(x, 0, (size_t)net->n_params * sizeof *x);
    for (int32_t l = 0; l < net->n_layers; l++) {
        double sigma = sqrt((l + 1 < net->n_layers ? 2.0 : 1.0) / net->width[l]);
        for (int32_t i = net->first[weights_of(l)]; i < net->first[biases_of(l)]; i++)
            x[i] = (float)(sigma * rng_normal(r));
    }
}

/* ---- a batch ---- */

/* At least so many examples go through a network together, whatever the batch; and so many at a time through
 * softmax. */
enum { MIN_BATCH = 64, ROWS = 16 };

struct gossip_pass {
    struct arena arena; /* of all arrays */
    int32_t batch;
    float *out[GOSSIP_MAX_LAYERS + 1]; /* shape [batch][width]; out[0]: the examples */
    float *back, *next;                /* shape [batch][largest width] */
    double *power;                     /* shape [ROWS][classes] */
};

/* Activations of one batch; at least MIN_BATCH rows, so that testing runs in large batches too. */
int gossip_pass_build(struct gossip_pass **out, const struct gossip_net *net, int32_t batch, struct err *e)
{
    struct gossip_pass *p = *out = calloc(1, sizeof *p);
    if (!p)
        return err_nomem(e, "a batch");
    size_t widest = 0, rows = (size_t)(batch > MIN_BATCH ? batch : MIN_BATCH);
    for (int32_t l = 0; l <= net->n_layers; l++) {
        size_t width = (size_t)net->width[l];
        p->out[l] = ARENA_TAKE(&p->arena, rows * width, float);
        widest = width > widest ? width : widest;
    }
    p->batch = (int32_t)rows;
    p->back = ARENA_TAKE(&p->arena, rows * widest, float);
    p->next = ARENA_TAKE(&p->arena, rows * widest, float);
    p->power = ARENA_TAKE(&p->arena, ROWS * (size_t)net->width[net->n_layers], *p->power);
    int rc = arena_check(&p->arena, "a batch", e);
    if (rc) {
        gossip_pass_free(p);
        *out = NULL;
    }
    return rc;
}

void gossip_pass_free(struct gossip_pass *p)
{
    if (!p)
        return;
    arena_free(&p->arena);
    free(p);
}

/* Numbers row by row, without gaps. */
static struct kernel_matrix rows_of(const float *x, int32_t width)
{
    return (struct kernel_matrix){ x, width, 1 };
}

static struct kernel_matrix transposed(const float *x, int32_t width)
{
    return (struct kernel_matrix){ x, 1, width };
}

/* 0 if all of @p z are finite, else NaN: the order of additions does not matter for that. */
static float out_of_range(const float *z, int64_t n)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += z[i] - z[i];
    return sum;
}

/* Numbers below 0 become 0; NaN stays. */
static void rectify(float *z, int64_t n)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        z[i] = z[i] < 0 ? 0 : z[i];
}

/* 0, or NaN where a unit was out of range: behind a ReLU its loss need not tell. */
static float forward(struct gossip_pass *p, const float *x, const struct gossip_net *net, int32_t n)
{
    float wrong = 0;
    for (int32_t l = 0; l < net->n_layers; l++) {
        int32_t in = net->width[l], out = net->width[l + 1];
        float *z = p->out[l + 1];
        for (int32_t b = 0; b < n; b++)
            floats_copy(z + (size_t)b * (size_t)out, x + net->first[biases_of(l)], out);
        kernel_product(z, rows_of(p->out[l], in), rows_of(x + net->first[weights_of(l)], out), n, out, in,
                       true);
        wrong += out_of_range(z, (int64_t)n * out);
        if (l + 1 < net->n_layers)
            rectify(z, (int64_t)n * out);
    }
    return wrong;
}

static int32_t learner_largest(const float *z, int32_t n)
{
    int32_t best = 0;
    for (int32_t k = 1; k < n; k++)
        best = z[k] > z[best] ? k : best;
    return best;
}

/* From outputs @p z of @p rows examples of classes @p y: @p back, the gradient of the mean loss of @p n by
 * them, probabilities minus the class, over n. Returns the sum of losses. */
static double softmax(float *back, double *power, const float *z, const int32_t *y, int32_t rows,
                      int32_t classes, int32_t n)
{
    double loss = 0;
    for (int32_t b = 0; b < rows; b++) {
        const float *out = z + (size_t)b * (size_t)classes;
        double *above = power + (size_t)b * (size_t)classes,
               most = (double)out[learner_largest(out, classes)];
        for (int32_t k = 0; k < classes; k++)
            above[k] = (double)out[k] - most;
        loss -= above[y[b]];
    }
    elementary_exp(power, rows * classes);
    for (int32_t b = 0; b < rows; b++) {
        const double *own = power + (size_t)b * (size_t)classes;
        float *to = back + (size_t)b * (size_t)classes;
        double sum = 0;
        for (int32_t k = 0; k < classes; k++)
            sum += own[k];
        loss += elementary_log(sum);
        const double share = 1 / (sum * n);
        for (int32_t k = 0; k < classes; k++)
            to[k] = (float)(own[k] * share - (k == y[b] ? 1.0 / n : 0));
    }
    return loss;
}

/* The gradient by outputs in p->back; returns the sum of losses. */
static double learner_judge(struct gossip_pass *p, const struct gossip_net *net,
                            const struct gossip_data *data, const int64_t *batch, int32_t n)
{
    int32_t classes = net->width[net->n_layers];
    double loss = 0;
    for (int32_t from = 0; from < n; from += ROWS) {
        int32_t y[ROWS] = { 0 }, rows = n - from < ROWS ? n - from : ROWS;
        size_t first = (size_t)from * (size_t)classes;
        for (int32_t b = 0; b < rows; b++)
            y[b] = data->y[batch[from + b]];
        loss += softmax(p->back + first, p->power, p->out[net->n_layers] + first, y, rows, classes, n);
    }
    return loss;
}

static void fetch(struct gossip_pass *p, const struct gossip_data *data, const int64_t *batch, int32_t n)
{
    for (int32_t b = 0; b < n; b++)
        floats_copy(p->out[0] + (int64_t)b * data->n_features, data->x + batch[b] * data->n_features,
                    data->n_features);
}

/* What came out of a ReLU as 0 passes nothing back. */
static void pass_positive(float *back, const float *out, int64_t n)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        back[i] = out[i] > 0 ? back[i] : 0;
}

/* From the loss to each layer's weights and biases; the gradient with respect to the input is not needed. */
static void backward(float *g, struct gossip_pass *p, const float *x, const struct gossip_net *net, int32_t n)
{
    for (int32_t l = net->n_layers - 1; l >= 0; l--) {
        int32_t in = net->width[l], out = net->width[l + 1];
        const float *w = x + net->first[weights_of(l)];
        float *gw = g + net->first[weights_of(l)], *gb = g + net->first[biases_of(l)];
        kernel_product(gw, transposed(p->out[l], in), rows_of(p->back, out), in, out, n, false);
        floats_copy(gb, p->back, out);
        for (int32_t b = 1; b < n; b++)
            floats_add(gb, 1, p->back + (size_t)b * (size_t)out, out);
        if (l == 0)
            break;
        kernel_product(p->next, rows_of(p->back, out), transposed(w, out), n, in, out, false);
        pass_positive(p->next, p->out[l], (int64_t)n * in);
        float *swap = p->back;
        p->back = p->next;
        p->next = swap;
    }
}

/* Gradient of the mean loss over the batch. A model that is no number yields NaN throughout, so that the run
 * can stop. */
double gossip_gradient(float *g, const float *x, const struct gossip_net *net, const struct gossip_data *data,
                       const int64_t *batch, int32_t n, struct gossip_pass *p)
{
    fetch(p, data, batch, n);
    if (isnan(forward(p, x, net, n))) {
        for (int32_t i = 0; i < net->n_params; i++)
            g[i] = NAN;
        return NAN;
    }
    double loss = learner_judge(p, net, data, batch, n);
    backward(g, p, x, net, n);
    return loss / n;
}

/* Share of examples whose largest logit is that of their class. */
double gossip_accuracy(const float *x, const struct gossip_net *net, const struct gossip_data *data,
                       struct gossip_pass *p)
{
    int32_t classes = net->width[net->n_layers];
    int64_t right = 0;
    for (int64_t from = 0; from < data->n; from += p->batch) {
        int32_t n = (int32_t)(data->n - from < p->batch ? data->n - from : p->batch);
        memcpy(p->out[0], data->x + from * data->n_features,
               (size_t)n * (size_t)data->n_features * sizeof(float));
        forward(p, x, net, n);
        for (int32_t b = 0; b < n; b++) {
            const float *z = p->out[net->n_layers] + (size_t)b * (size_t)classes;
            right += learner_largest(z, classes) == data->y[from + b];
        }
    }
    return (double)right / (double)data->n;
}

/* ---- optimisers ---- */

const char *const gossip_optimizer_words[] = { "sgd", "adamw", NULL };

static void sgd(float *x, const float *g, float *v, const struct gossip_update *u, int32_t n)
{
    const float rate = (float)u->rate, momentum = (float)u->momentum, decay = (float)u->weight_decay;
#pragma omp simd
    for (int32_t i = 0; i < n; i++) {
        v[i] = momentum * v[i] - rate * (g[i] + decay * x[i]);
        x[i] += v[i];
    }
}

/* The paper's recommended values, those of Adam (arXiv 1412.6980). */
#define BETA_1  0.9
#define BETA_2  0.999
#define EPSILON 1e-8

/* Decoupled weight decay (arXiv 1711.05101). Corrections of the bias are folded into two factors. */
static void adamw(float *x, const float *g, struct gossip_memory *m, const struct gossip_update *u, int32_t n)
{
    const float b1 = (float)BETA_1, of_g = (float)(1 - BETA_1);
    const float b2 = (float)BETA_2, of_square = (float)(1 - BETA_2), epsilon = (float)EPSILON;
    float *v = m->v, *s = m->s;
    m->v_left *= BETA_1;
    m->s_left *= BETA_2;
    const float c1 = (float)(u->rate / (1 - m->v_left)), c2 = (float)(1 / (1 - m->s_left));
    const float keep = (float)(1 - u->rate * u->weight_decay);
#pragma omp simd
    for (int32_t i = 0; i < n; i++) {
        v[i] = b1 * v[i] + of_g * g[i];
        s[i] = b2 * s[i] + of_square * (g[i] * g[i]);
        x[i] = keep * x[i] - c1 * v[i] / (sqrtf(c2 * s[i]) + epsilon);
    }
}

void gossip_optimize(float *x, const float *g, struct gossip_memory *m, const struct gossip_update *u,
                     int32_t n)
{
    if (m->steps == 0)
        m->v_left = m->s_left = 1;
    m->steps++;
    if (u->kind == GOSSIP_ADAMW)
        adamw(x, g, m, u, n);
    else
        sgd(x, g, m->v, u, n);
}
