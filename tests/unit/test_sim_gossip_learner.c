/* What is trained: gradients against differences of losses in double; what comes of a few steps. */
#include <float.h>

#include "sim/gossip/learner.h"
#include "tests/support.h"

KEEPS(struct gossip_pass, gossip_pass_free)

/* Examples, a model and room for its gradient. */
struct subject {
    struct gossip_net net;
    struct gossip_data data;
    struct gossip_pass *pass;
    int64_t *batch; /* shape [n]: 0, 1, 2, .. */
    float *x, *g;
};

static void build(struct subject *s, const int32_t *width, int32_t n_layers, int32_t n)
{
    MUST(gossip_net_build(&s->net, width[0], width + 1, n_layers - 1, width[n_layers], e));
    MUST(gossip_data_build(&s->data, n, width[0], width[n_layers], e));
    MUST(gossip_pass_build(&s->pass, &s->net, n, e));
    s->batch = malloc((size_t)n * sizeof *s->batch);
    s->x = calloc((size_t)s->net.n_params, sizeof *s->x);
    s->g = calloc((size_t)s->net.n_params, sizeof *s->g);
    assert_true(s->batch && s->x && s->g);
    for (int32_t i = 0; i < n; i++)
        s->batch[i] = i;
}

static void release(struct subject *s)
{
    gossip_data_free(&s->data);
    gossip_pass_free(s->pass);
    free(s->batch);
    free(s->x);
    free(s->g);
}

#define SUBJECT(v, ...)                                                                                      \
    KEEP(struct subject, v, release);                                                                        \
    build(&v, __VA_ARGS__)

/* Everything normal, biases too; classes at random. */
static void draw(struct subject *s, uint64_t seed)
{
    RNG(r, seed, 0);
    gossip_net_draw(s->x, &s->net, r);
    for (int32_t l = 0; l < s->net.n_layers; l++)
        for (int32_t i = s->net.first[2 * l + 1]; i < s->net.first[2 * l + 2]; i++)
            s->x[i] = (float)(0.3 * rng_normal(r));
    for (int64_t i = 0; i < s->data.n * s->data.n_features; i++)
        s->data.x[i] = (float)rng_normal(r);
    for (int64_t i = 0; i < s->data.n; i++)
        s->data.y[i] = (int32_t)rng_below(r, s->data.n_classes);
}

static double gradient(struct subject *s)
{
    return gossip_gradient(s->g, s->x, &s->net, &s->data, s->batch, (int32_t)s->data.n, s->pass);
}

/* ---- a second construction: losses in double, one example after the other ---- */

enum { WIDEST = 64 };

static double loss_of_one(const double *x, const struct gossip_net *net, const float *features, int32_t y)
{
    double in[WIDEST], out[WIDEST], sum = 1; /* of its own class */
    for (int32_t i = 0; i < net->width[0]; i++)
        in[i] = (double)features[i];
    for (int32_t l = 0; l < net->n_layers; l++) {
        for (int32_t j = 0; j < net->width[l + 1]; j++) {
            out[j] = x[net->first[2 * l + 1] + j];
            for (int32_t i = 0; i < net->width[l]; i++)
                out[j] += in[i] * x[net->first[2 * l] + i * net->width[l + 1] + j];
        }
        for (int32_t j = 0; j < net->width[l + 1]; j++)
            in[j] = l + 1 < net->n_layers && out[j] < 0 ? 0 : out[j];
    }
    for (int32_t k = 0; k < net->width[net->n_layers]; k++)
        sum += k == y ? 0 : exp(in[k] - in[y]);
    return log(sum);
}

static double loss_in_double(const double *x, const struct subject *s)
{
    double sum = 0;
    for (int64_t b = 0; b < s->data.n; b++)
        sum += loss_of_one(x, &s->net, s->data.x + b * s->data.n_features, s->data.y[b]);
    return sum / (double)s->data.n;
}

/* Errors: of the differences about 1e-16 / 1e-6 by rounding and less by curvature; of the gradient up to 100
 * roundings to float32 (sums of at most 33 terms, three layers) of numbers about as large as its largest:
 * 100 / 2^24 = 6e-6 of that. A term left out would be hundreds of times as much. */
static void compare_with_differences(struct subject *s)
{
    enum { MOST = 4096 };
    const double h = 1e-6;
    double x[MOST] = { 0 }, most = 0, loss = gradient(s);
    assert_true(s->net.n_params <= MOST);
    for (int32_t i = 0; i < s->net.n_params; i++) {
        x[i] = (double)s->x[i];
        most = fmax(most, fabs((double)s->g[i]));
    }
    assert_close(loss, loss_in_double(x, s), 1e-6);
    for (int32_t i = 0; i < s->net.n_params; i++) {
        double at = x[i];
        x[i] = at + h;
        double above = loss_in_double(x, s);
        x[i] = at - h;
        assert_near(s->g[i], (above - loss_in_double(x, s)) / (2 * h), 6e-6 * most + 1e-9);
        x[i] = at;
    }
}

TEST(a_gradient_is_the_slope_of_the_loss_by_every_parameter)
{
    TABLE_OF(nets, int32_t n_layers, width[4]) = {
        { 1, { 7, 3 } },        { 2, { 7, 5, 3 } },     { 1, { 33, 10 } },  { 2, { 33, 17, 10 } },
        { 3, { 9, 12, 7, 4 } }, { 3, { 8, 16, 8, 2 } }, { 2, { 1, 1, 2 } },
    };
    static const int32_t batches[] = { 1, 5, 32 };
    for (size_t i = 0; i < COUNT_OF(nets); i++)
        for (size_t k = 0; k < COUNT_OF(batches); k++) {
            SUBJECT(s, nets[i].width, nets[i].n_layers, batches[k]);
            draw(&s, 10 * i + k);
            compare_with_differences(&s);
        }
}

/* ---- losses ---- */

TEST(a_model_of_zeros_loses_the_logarithm_of_its_classes)
{
    static const int32_t classes[] = { 2, 3, 10, 61 };
    for (size_t i = 0; i < COUNT_OF(classes); i++) {
        SUBJECT(s, (int32_t[]){ 6, 5, classes[i] }, 2, 23);
        draw(&s, 1);
        memset(s.x, 0, (size_t)s.net.n_params * sizeof *s.x);
        assert_close(gradient(&s), log(classes[i]), 1e-14);
    }
}

/* Outputs 0 and z, by the bias: log(1 + exp(z)) is z when exp(-z) is nothing beside 1. */
TEST(a_loss_is_right_where_exponentials_are_out_of_range)
{
    static const float z[] = { 50, 1000, 1e6F, 1e30F };
    SUBJECT(s, (int32_t[]){ 1, 2 }, 1, 1);
    for (size_t i = 0; i < COUNT_OF(z); i++) {
        s.x[s.net.first[1] + 1] = z[i];
        s.data.y[0] = 0;
        assert_close(gradient(&s), z[i], 1e-15);
        assert_true(s.g[s.net.first[1]] == -1 && s.g[s.net.first[1] + 1] == 1);
        s.data.y[0] = 1;
        assert_true(gradient(&s) >= 0 && gradient(&s) < 1e-15);
    }
}

static void assert_none(struct subject *s)
{
    assert_true(isnan(gradient(s)));
    for (int32_t i = 0; i < s->net.n_params; i++)
        assert_true(isnan(s->g[i]));
}

/* Whichever number it is, also where a ReLU would make 0 of it. */
TEST(one_number_out_of_range_makes_the_loss_none)
{
    static const float strange[] = { NAN, INFINITY, -INFINITY };
    SUBJECT(s, (int32_t[]){ 6, 9, 5, 3 }, 3, 5);
    draw(&s, 2);
    assert_true(isfinite(gradient(&s)));
    for (size_t kind = 0; kind < COUNT_OF(strange); kind++) {
        for (int32_t i = 0; i < s.net.n_params; i++) {
            float was = s.x[i];
            s.x[i] = strange[kind];
            assert_none(&s);
            s.x[i] = was;
        }
        for (int64_t i = 0; i < s.data.n * s.data.n_features; i++) {
            float was = s.data.x[i];
            s.data.x[i] = strange[kind];
            assert_none(&s);
            s.data.x[i] = was;
        }
    }
    assert_true(isfinite(gradient(&s)));
}

/* Weights of 3e38 are numbers; a sum of two of them is none, nor is one that ReLU makes 0 of. */
TEST(a_model_that_overflows_on_the_way_has_no_loss)
{
    static const float signs[] = { 1, -1 };
    for (size_t k = 0; k < COUNT_OF(signs); k++) {
        SUBJECT(s, (int32_t[]){ 2, 4, 2 }, 2, 3);
        for (int32_t i = 0; i < s.net.n_params; i++)
            s.x[i] = signs[k] * 3e38F;
        for (int64_t i = 0; i < 6; i++)
            s.data.x[i] = 1;
        assert_none(&s);
    }
}

/* ---- batches ---- */

/* A batch of 32 is rounded 32 times on the way; in its mean each example has the same share. */
TEST(the_order_of_a_batch_matters_to_rounding_alone)
{
    float most = 0;
    SUBJECT(s, (int32_t[]){ 33, 17, 10 }, 2, 32);
    draw(&s, 3);
    double loss = gradient(&s);
    KEEP(float *, g, free_at) = malloc((size_t)s.net.n_params * sizeof *g);
    assert_non_null(g);
    memcpy(g, s.g, (size_t)s.net.n_params * sizeof *g);
    for (int32_t i = 0; i < s.net.n_params; i++)
        most = fmaxf(most, fabsf(g[i]));
    for (int32_t i = 0; i < 32; i++)
        s.batch[i] = 31 - i;
    assert_close(gradient(&s), loss, 1e-14);
    for (int32_t i = 0; i < s.net.n_params; i++)
        assert_near(s.g[i], g[i], 32 * (double)(most * FLT_EPSILON));
}

/* Sums go from example to example, whatever room there is for more of them. */
TEST(room_for_more_examples_does_not_change_a_bit)
{
    KEEP(struct gossip_pass *, large, gossip_pass_free_at);
    SUBJECT(s, (int32_t[]){ 12, 20, 10 }, 2, 21);
    draw(&s, 4);
    double loss = gradient(&s);
    KEEP(float *, g, free_at) = malloc((size_t)s.net.n_params * sizeof *g);
    assert_non_null(g);
    OK(gossip_pass_build(&large, &s.net, 500, e));
    assert_true(gossip_gradient(g, s.x, &s.net, &s.data, s.batch, 21, large) == loss);
    assert_memory_equal(g, s.g, (size_t)s.net.n_params * sizeof *g);
    assert_true(gossip_accuracy(s.x, &s.net, &s.data, large) ==
                gossip_accuracy(s.x, &s.net, &s.data, s.pass));
}

/* ---- accuracy ---- */

/* Three features, three classes, weights that say: the largest feature. 200 examples, more than go through
 * together, and no multiple of that. */
TEST(accuracy_counts_where_the_largest_output_is)
{
    SUBJECT(s, (int32_t[]){ 3, 3 }, 1, 200);
    for (int32_t k = 0; k < 3; k++)
        s.x[4 * k] = 1;
    for (int32_t i = 0; i < 200; i++) {
        s.data.x[3 * i + i % 3] = 2;
        s.data.x[3 * i + (i + 1) % 3] = 1.5F;
        s.data.y[i] = i < 130 ? i % 3 : (i + 1) % 3;
    }
    assert_true(gossip_accuracy(s.x, &s.net, &s.data, s.pass) == 130.0 / 200);
    /* Biases turn all to class 2: every third of the first 130, and of the others those with i % 3 == 1. */
    s.x[s.net.first[1] + 2] = 10;
    assert_true(gossip_accuracy(s.x, &s.net, &s.data, s.pass) == (43 + 24) / 200.0);
}

TEST(of_equal_outputs_the_first_counts)
{
    SUBJECT(s, (int32_t[]){ 2, 3, 4 }, 2, 100);
    for (int32_t i = 0; i < 100; i++)
        s.data.y[i] = i < 17 ? 0 : 1 + i % 3;
    assert_true(gossip_accuracy(s.x, &s.net, &s.data, s.pass) == 0.17);
}

/* ---- learning ---- */

static double learn(struct subject *s, enum gossip_optimizer kind, double rate, int32_t steps)
{
    const struct gossip_update u = { .kind = kind, .rate = rate, .momentum = 0.9 };
    struct gossip_memory m = { .v = calloc((size_t)s->net.n_params, sizeof(float)),
                               .s = calloc((size_t)s->net.n_params, sizeof(float)) };
    assert_true(m.v && m.s);
    for (int32_t t = 0; t < steps; t++) {
        assert_true(isfinite(gradient(s)));
        gossip_optimize(s->x, s->g, &m, &u, s->net.n_params);
    }
    free(m.v);
    free(m.s);
    return gossip_accuracy(s->x, &s->net, &s->data, s->pass);
}

/* Class k lies around the k-th corner of a square, the others well apart. */
TEST(separable_classes_are_all_learned)
{
    static const int32_t widths[2][3] = { { 2, 4 }, { 2, 13, 4 } };
    for (int32_t n_layers = 1; n_layers <= 2; n_layers++)
        for (int kind = 0; kind < N_GOSSIP_OPTIMIZERS; kind++) {
            SUBJECT(s, widths[n_layers - 1], n_layers, 90);
            draw(&s, 6);
            for (int32_t i = 0; i < 90; i++) {
                s.data.y[i] = i % 4;
                s.data.x[2 * i] = 0.1F * s.data.x[2 * i] + (i & 1 ? 1 : -1);
                s.data.x[2 * i + 1] = 0.1F * s.data.x[2 * i + 1] + (i & 2 ? 1 : -1);
            }
            assert_true(learn(&s, (enum gossip_optimizer)kind, 0.05, 200) == 1 && gradient(&s) < 0.1);
        }
}

/* Exclusive or: no straight line has more than three of its four points right. */
TEST(a_hidden_layer_learns_what_softmax_regression_cannot)
{
    static const int32_t widths[2][3] = { { 2, 2 }, { 2, 16, 2 } };
    for (int32_t n_layers = 1; n_layers <= 2; n_layers++) {
        SUBJECT(s, widths[n_layers - 1], n_layers, 4);
        draw(&s, 7);
        for (int32_t i = 0; i < 4; i++) {
            s.data.x[2 * i] = i & 1 ? 1 : -1;
            s.data.x[2 * i + 1] = i & 2 ? 1 : -1;
            s.data.y[i] = i == 1 || i == 2;
        }
        double right = learn(&s, GOSSIP_SGD, 0.1, 300);
        assert_true(n_layers == 2 ? right == 1 : right <= 0.75);
    }
}

/* ---- shapes ---- */

TEST(tensors_lie_one_behind_the_other)
{
    static const int32_t first[] = { 0, 32 * 64, 33 * 64, 33 * 64 + 640, 2762 };
    struct gossip_net net;
    OK(gossip_net_build(&net, 32, (int32_t[]){ 64 }, 1, 10, e));
    assert_true(net.n_layers == 2 && net.n_tensors == 4);
    assert_memory_equal(net.first, first, sizeof first);
    assert_int_equal(net.n_params, 2762);
    OK(gossip_net_build(&net, 32, NULL, 0, 10, e));
    assert_true(net.n_layers == 1 && net.n_params == 330);
}

/* Variance 2 / width in, of the last layer 1 / width in, each within five deviations of its estimate. */
TEST(drawn_weights_have_the_variance_of_their_layer)
{
    struct gossip_net net;
    OK(gossip_net_build(&net, 50, (int32_t[]){ 80, 60 }, 2, 40, e));
    KEEP(float *, x, free_at) = malloc((size_t)net.n_params * sizeof *x);
    assert_non_null(x);
    RNG(r, 8, 0);
    gossip_net_draw(x, &net, r);
    for (int32_t l = 0; l < 3; l++) {
        double square = 0, n = net.first[2 * l + 1] - net.first[2 * l];
        for (int32_t i = net.first[2 * l]; i < net.first[2 * l + 1]; i++)
            square += (double)x[i] * (double)x[i];
        double variance = (l < 2 ? 2.0 : 1.0) / net.width[l];
        assert_near(square / n / variance, 1, 5 * sqrt(2 / n));
        for (int32_t i = net.first[2 * l + 1]; i < net.first[2 * l + 2]; i++)
            assert_true(x[i] == 0);
    }
}

TEST(shapes_that_no_network_has_are_refused)
{
    CASES(int32_t features, hidden[8], n_hidden, classes; const char *says) = {
        { 0, { 0 }, 0, 2, "features: are 0, expected 1 to 65536" },
        { 65537, { 0 }, 0, 2, "features: are 65537, expected 1 to 65536" },
        { 4, { 3, 0 }, 2, 2, "units of a hidden layer: are 0, expected 1 to 16384" },
        { 4, { 16385 }, 1, 2, "units of a hidden layer: are 16385, expected 1 to 16384" },
        { 4, { 0 }, 0, 4097, "classes: are 4097, expected 1 to 4096" },
        { 4, { 0 }, -1, 2, "hidden layers: are -1, expected 0 to 7" },
        { 4, { 1, 1, 1, 1, 1, 1, 1, 1 }, 8, 2, "hidden layers: are 8, expected 0 to 7" },
        { 65536, { 16384 }, 1, 2, "parameters: are 1073741824, expected at most 67108864" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct gossip_net net;
        FAILS(gossip_net_build(&net, cases[i].features, cases[i].hidden, cases[i].n_hidden, cases[i].classes,
                               e),
              ERR_RANGE, cases[i].says);
    }
}
