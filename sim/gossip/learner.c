#include "sim/gossip/learner.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- shapes ---- */

static int check_width(const char *what, int32_t width, int32_t most, struct err *e)
{
    if (width >= 1 && width <= most)
        return 0;
    return err_set(e, ERR_RANGE, "%s: are %d, need 1 to %d", what, width, most);
}

int gossip_net_build(struct gossip_net *net, int32_t n_features, const int32_t *hidden, int32_t n_hidden,
                     int32_t n_classes, struct err *e)
{
    int64_t at = 0;
    *net = (struct gossip_net){ 0 };
    if (n_hidden < 0 || n_hidden >= GOSSIP_MAX_LAYERS)
        return err_set(e, ERR_RANGE, "hidden layers: are %d, need 0 to %d", n_hidden, GOSSIP_MAX_LAYERS - 1);
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
        net->first[2 * l] = (int32_t)at;
        at += (int64_t)net->width[l] * net->width[l + 1];
        if (at > GOSSIP_MAX_PARAMS)
            return err_set(e, ERR_RANGE, "parameters: are %lld, need at most %d", (long long)at,
                           GOSSIP_MAX_PARAMS);
        net->first[2 * l + 1] = (int32_t)at;
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
        for (int32_t i = net->first[2 * l]; i < net->first[2 * l + 1]; i++)
            x[i] = (float)(sigma * rng_normal(r));
    }
}

/* ---- a batch ---- */

struct gossip_pass {
    int32_t batch;
    float *out[GOSSIP_MAX_LAYERS + 1]; /* shape [batch][width], owned; out[0]: the examples */
    float *back, *next;                /* shape [batch][largest width], owned */
};

int gossip_pass_build(struct gossip_pass **out, const struct gossip_net *net, int32_t batch, struct err *e)
{
    struct gossip_pass *p = calloc(1, sizeof *p);
    bool whole = p != NULL;
    int32_t widest = 0;
    *out = NULL;
    for (int32_t l = 0; l <= net->n_layers && whole; l++) {
        p->out[l] = malloc((size_t)batch * (size_t)net->width[l] * sizeof(float));
        whole = p->out[l] != NULL;
        widest = net->width[l] > widest ? net->width[l] : widest;
    }
    if (whole) {
        p->batch = batch;
        p->back = malloc((size_t)batch * (size_t)widest * sizeof(float));
        p->next = malloc((size_t)batch * (size_t)widest * sizeof(float));
        whole = p->back && p->next;
    }
    if (!whole) {
        gossip_pass_free(p);
        return err_nomem(e, "a batch");
    }
    *out = p;
    return 0;
}

void gossip_pass_free(struct gossip_pass *p)
{
    if (!p)
        return;
    for (int32_t l = 0; l <= GOSSIP_MAX_LAYERS; l++)
        free(p->out[l]);
    free(p->back);
    free(p->next);
    free(p);
}

static void forward(struct gossip_pass *p, const float *x, const struct gossip_net *net, int32_t n)
{
    for (int32_t l = 0; l < net->n_layers; l++) {
        int32_t in = net->width[l], out = net->width[l + 1];
        const float *w = x + net->first[2 * l], *bias = x + net->first[2 * l + 1];
        for (int32_t b = 0; b < n; b++) {
            const float *from = p->out[l] + (size_t)b * (size_t)in;
            float *to = p->out[l + 1] + (size_t)b * (size_t)out;
            memcpy(to, bias, (size_t)out * sizeof *to);
            for (int32_t i = 0; i < in; i++)
                for (int32_t j = 0; j < out; j++)
                    to[j] += from[i] * w[(size_t)i * (size_t)out + (size_t)j];
            for (int32_t j = 0; j < out && l + 1 < net->n_layers; j++)
                to[j] = to[j] > 0 ? to[j] : 0;
        }
    }
}

/* Outputs become probabilities minus the class, over n; returns the sum of losses. */
static double softmax(float *z, const int32_t *y, int32_t n_classes)
{
    float most = z[0];
    double sum = 0;
    for (int32_t k = 1; k < n_classes; k++)
        most = z[k] > most ? z[k] : most;
    double own = (double)z[*y] - (double)most;
    for (int32_t k = 0; k < n_classes; k++) {
        double p = exp((double)z[k] - (double)most);
        z[k] = (float)p;
        sum += p;
    }
    for (int32_t k = 0; k < n_classes; k++)
        z[k] = (float)((double)z[k] / sum);
    z[*y] -= 1;
    return log(sum) - own;
}

static void fetch(struct gossip_pass *p, const struct gossip_data *data, const int64_t *batch, int32_t n)
{
    size_t f = (size_t)data->n_features;
    for (int32_t b = 0; b < n; b++)
        memcpy(p->out[0] + (size_t)b * f, data->x + (size_t)batch[b] * f, f * sizeof(float));
}

static void backward(float *g, struct gossip_pass *p, const float *x, const struct gossip_net *net, int32_t n)
{
    memset(g, 0, (size_t)net->n_params * sizeof *g);
    for (int32_t l = net->n_layers - 1; l >= 0; l--) {
        int32_t in = net->width[l], out = net->width[l + 1];
        const float *w = x + net->first[2 * l];
        float *gw = g + net->first[2 * l], *gb = g + net->first[2 * l + 1];
        for (int32_t b = 0; b < n; b++) {
            const float *z = p->back + (size_t)b * (size_t)out, *from = p->out[l] + (size_t)b * (size_t)in;
            float *to = p->next + (size_t)b * (size_t)in;
            for (int32_t j = 0; j < out; j++)
                gb[j] += z[j];
            for (int32_t i = 0; i < in; i++) {
                float sum = 0;
                for (int32_t j = 0; j < out; j++) {
                    gw[(size_t)i * (size_t)out + (size_t)j] += from[i] * z[j];
                    sum += w[(size_t)i * (size_t)out + (size_t)j] * z[j];
                }
                to[i] = from[i] > 0 ? sum : 0;
            }
        }
        float *swap = p->back;
        p->back = p->next;
        p->next = swap;
    }
}

double gossip_gradient(float *g, const float *x, const struct gossip_net *net, const struct gossip_data *data,
                       const int64_t *batch, int32_t n, struct gossip_pass *p)
{
    int32_t classes = net->width[net->n_layers];
    double loss = 0;
    fetch(p, data, batch, n);
    forward(p, x, net, n);
    for (int32_t b = 0; b < n; b++) {
        float *z = p->out[net->n_layers] + (size_t)b * (size_t)classes;
        loss += softmax(z, &data->y[batch[b]], classes);
        for (int32_t k = 0; k < classes; k++)
            p->back[(size_t)b * (size_t)classes + (size_t)k] = z[k] / (float)n;
    }
    backward(g, p, x, net, n);
    return loss / n;
}

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
            int32_t best = 0;
            for (int32_t k = 1; k < classes; k++)
                best = z[k] > z[best] ? k : best;
            right += best == data->y[from + b];
        }
    }
    return (double)right / (double)data->n;
}

/* ---- optimisers ---- */

const char *const gossip_optimizer_words[] = { "sgd", "adamw", NULL };

static void sgd(float *x, const float *g, float *v, const struct gossip_update *u, int32_t n)
{
    float rate = (float)u->rate, momentum = (float)u->momentum, decay = (float)u->weight_decay;
    for (int32_t i = 0; i < n; i++) {
        v[i] = momentum * v[i] - rate * (g[i] + decay * x[i]);
        x[i] += v[i];
    }
}

static void adamw(float *x, const float *g, struct gossip_memory *m, const struct gossip_update *u, int32_t n)
{
    const float b1 = 0.9F, b2 = 0.999F;
    double t = (double)m->steps;
    float c1 = (float)(1 / (1 - pow(0.9, t))), c2 = (float)(1 / (1 - pow(0.999, t)));
    float rate = (float)u->rate, keep = (float)(1 - u->rate * u->weight_decay);
    for (int32_t i = 0; i < n; i++) {
        m->v[i] = b1 * m->v[i] + (1 - b1) * g[i];
        m->s[i] = b2 * m->s[i] + (1 - b2) * g[i] * g[i];
        x[i] = keep * x[i] - rate * (c1 * m->v[i]) / (sqrtf(c2 * m->s[i]) + 1e-8F);
    }
}

void gossip_optimize(float *x, const float *g, struct gossip_memory *m, const struct gossip_update *u,
                     int32_t n)
{
    m->steps++;
    if (u->kind == GOSSIP_ADAMW)
        adamw(x, g, m, u, n);
    else
        sgd(x, g, m->v, u, n);
}
