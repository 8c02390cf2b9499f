#include "sim/gossip/data.h"

#include <math.h>
#include <stdlib.h>

#include "base/elementary.h"
#include "base/num.h"
#include "base/rng.h"

const char *const gossip_sharding_words[] = { "iid", "label-skew", NULL };

/* Streams of one seed. */
enum { STREAM_EXAMPLES = 1, STREAM_NOISE, STREAM_SHUFFLE, STREAM_WEIGHTS = 16 /* and the version */ };

/* ---- examples ---- */

int gossip_data_build(struct gossip_data *d, int64_t n, int32_t n_features, int32_t n_classes, struct err *e)
{
    int64_t cells;
    *d = (struct gossip_data){ 0 };
    if (n < 1)
        return err_set(e, ERR_RANGE, "examples: are %lld, need at least 1", (long long)n);
    if (n_features < 1 || n_features > GOSSIP_MAX_FEATURES)
        return err_set(e, ERR_RANGE, "features: are %d, need 1 to %d", n_features, GOSSIP_MAX_FEATURES);
    if (n_classes < 2 || n_classes > GOSSIP_MAX_CLASSES)
        return err_set(e, ERR_RANGE, "classes: are %d, need 2 to %d", n_classes, GOSSIP_MAX_CLASSES);
    if (!num_mul(n, n_features, &cells))
        return err_set(e, ERR_RANGE, "examples: are %lld of %d features, need fewer", (long long)n,
                       n_features);
    *d = (struct gossip_data){ .n_features = n_features, .n_classes = n_classes, .n = n };
    d->x = calloc((size_t)cells, sizeof *d->x);
    d->y = calloc((size_t)n, sizeof *d->y);
    if (d->x && d->y)
        return 0;
    gossip_data_free(d);
    return err_nomem(e, "examples");
}

void gossip_data_free(struct gossip_data *d)
{
    free(d->x);
    free(d->y);
    *d = (struct gossip_data){ 0 };
}

/* ---- the teacher ---- */

struct gossip_teacher gossip_teacher_default(void)
{
    return (struct gossip_teacher){ .n_features = 32,
                                    .hidden = 48,
                                    .n_classes = 10,
                                    .gain = 1.5,
                                    .noise = 0.05,
                                    .n_train = 20000,
                                    .n_test = 5000,
                                    .seed = 1 };
}

struct weights {
    double *w1, *w2; /* shape [n_features][hidden], [hidden][n_classes] */
    double *h;       /* shape [hidden] */
};

static void weights_free(struct weights *w)
{
    free(w->w1);
    free(w->w2);
    free(w->h);
}

static int draw_weights(struct weights *w, const struct gossip_teacher *t, struct err *e)
{
    size_t n1 = (size_t)t->n_features * (size_t)t->hidden, n2 = (size_t)t->hidden * (size_t)t->n_classes;
    double sigma = t->gain / sqrt(t->n_features);
    struct rng *r = NULL;
    *w = (struct weights){ malloc(n1 * sizeof(double)), malloc(n2 * sizeof(double)),
                           malloc((size_t)t->hidden * sizeof(double)) };
    if (!w->w1 || !w->w2 || !w->h)
        return err_nomem(e, "a teacher");
    int rc = rng_build(&r, t->seed, STREAM_WEIGHTS + (uint64_t)t->version, e);
    if (rc)
        return rc;
    for (size_t i = 0; i < n1; i++)
        w->w1[i] = sigma * rng_normal(r);
    for (size_t i = 0; i < n2; i++)
        w->w2[i] = rng_normal(r);
    rng_free(r);
    return 0;
}

/* The class of one example. */
static int32_t ask(const struct weights *w, const struct gossip_teacher *t, const float *x)
{
    int32_t best = 0;
    double most = -INFINITY;
    for (int32_t j = 0; j < t->hidden; j++) {
        double z = 0;
        for (int32_t i = 0; i < t->n_features; i++)
            z += (double)x[i] * w->w1[i * t->hidden + j];
        w->h[j] = z;
    }
    elementary_tanh(w->h, t->hidden);
    for (int32_t k = 0; k < t->n_classes; k++) {
        double score = 0;
        for (int32_t j = 0; j < t->hidden; j++)
            score += w->h[j] * w->w2[j * t->n_classes + k];
        if (score > most) {
            most = score;
            best = k;
        }
    }
    return best;
}

static void fill(struct gossip_data *d, const struct weights *w, const struct gossip_teacher *t,
                 struct rng *examples)
{
    for (int64_t i = 0; i < d->n; i++) {
        float *x = d->x + i * d->n_features;
        for (int32_t k = 0; k < d->n_features; k++)
            x[k] = (float)rng_normal(examples);
        d->y[i] = ask(w, t, x);
    }
}

static void mislabel(struct gossip_data *d, double share, struct rng *r)
{
    for (int64_t i = 0; i < d->n; i++)
        if (rng_uniform(r) < share)
            d->y[i] = (int32_t)rng_below(r, d->n_classes);
}

static int check_teacher(const struct gossip_teacher *t, struct err *e)
{
    if (t->hidden < 1 || t->hidden > GOSSIP_MAX_FEATURES)
        return err_set(e, ERR_RANGE, "teacher: has %d hidden units, need 1 to %d", t->hidden,
                       GOSSIP_MAX_FEATURES);
    if (!(isfinite(t->gain) && t->gain > 0))
        return err_set(e, ERR_RANGE, "teacher: gain is %g, need > 0", t->gain);
    if (!(t->noise >= 0 && t->noise <= 1))
        return err_set(e, ERR_RANGE, "teacher: noise is %g, need 0 to 1", t->noise);
    if (t->version < 0)
        return err_set(e, ERR_RANGE, "teacher: version is %d, need >= 0", t->version);
    return 0;
}

int gossip_teach(struct gossip_data *train, struct gossip_data *test, const struct gossip_teacher *t,
                 struct err *e)
{
    struct weights w = { 0 };
    struct rng *examples = NULL, *noise = NULL;
    *train = *test = (struct gossip_data){ 0 };
    int rc = check_teacher(t, e);
    if (!rc)
        rc = gossip_data_build(train, t->n_train, t->n_features, t->n_classes, e);
    if (!rc)
        rc = gossip_data_build(test, t->n_test, t->n_features, t->n_classes, e);
    if (!rc)
        rc = draw_weights(&w, t, e);
    if (!rc)
        rc = rng_build(&examples, t->seed, STREAM_EXAMPLES, e);
    if (!rc)
        rc = rng_build(&noise, t->seed, STREAM_NOISE, e);
    if (!rc) {
        fill(train, &w, t, examples);
        fill(test, &w, t, examples);
        mislabel(train, t->noise, noise);
    } else {
        gossip_data_free(train);
        gossip_data_free(test);
    }
    weights_free(&w);
    rng_free(examples);
    rng_free(noise);
    return rc;
}

/* ---- shards ---- */

/* Fisher and Yates. */
static void shuffle(int64_t *order, int64_t n, struct rng *r)
{
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t k = rng_below(r, i + 1), swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
}

/* By class, equals in the order they had: counting sort. */
static int sort_by_class(int64_t *order, const struct gossip_data *d, struct err *e)
{
    int64_t *at = calloc((size_t)d->n_classes + 1, sizeof *at);
    int64_t *sorted = malloc((size_t)d->n * sizeof *sorted);
    if (at && sorted) {
        for (int64_t i = 0; i < d->n; i++)
            at[d->y[i] + 1]++;
        for (int32_t k = 0; k < d->n_classes; k++)
            at[k + 1] += at[k];
        for (int64_t i = 0; i < d->n; i++)
            sorted[at[d->y[order[i]]]++] = order[i];
        for (int64_t i = 0; i < d->n; i++)
            order[i] = sorted[i];
    }
    int rc = at && sorted ? 0 : err_nomem(e, "examples by class");
    free(at);
    free(sorted);
    return rc;
}

int gossip_shards_build(struct gossip_shards *s, const struct gossip_data *d, int32_t n_workers,
                        enum gossip_sharding how, uint64_t seed, struct err *e)
{
    struct rng *r = NULL;
    *s = (struct gossip_shards){ 0 };
    if (n_workers < 1 || n_workers > d->n)
        return err_set(e, ERR_RANGE, "workers: are %d for %lld examples, need 1 to that many", n_workers,
                       (long long)d->n);
    int rc = rng_build(&r, seed, STREAM_SHUFFLE, e);
    if (rc)
        return rc;
    s->n_workers = n_workers;
    s->order = malloc((size_t)d->n * sizeof *s->order);
    s->first = malloc(((size_t)n_workers + 1) * sizeof *s->first);
    if (!s->order || !s->first)
        rc = err_nomem(e, "shards");
    if (!rc) {
        for (int64_t i = 0; i < d->n; i++)
            s->order[i] = i;
        shuffle(s->order, d->n, r);
        for (int32_t w = 0; w <= n_workers; w++)
            s->first[w] = d->n / n_workers * w + (d->n % n_workers) * w / n_workers;
        if (how == GOSSIP_SKEW)
            rc = sort_by_class(s->order, d, e);
    }
    rng_free(r);
    if (rc)
        gossip_shards_free(s);
    return rc;
}

void gossip_shards_free(struct gossip_shards *s)
{
    free(s->order);
    free(s->first);
    *s = (struct gossip_shards){ 0 };
}
