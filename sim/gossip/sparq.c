/* SPARQ-SGD: neighbours on a ring keep estimates of each other, and a worker sends a compressed correction of
 * the estimate of itself when that has become wrong enough. Source: Singh et al., arXiv 1910.14280.
 *
 * A round, every period steps: the model moves towards the estimates of the neighbours, by what has come of
 * them so far; then the correction goes out. Nobody waits to hear, so rounds of neighbours differ by what
 * their steps differ in time. While all are in step the estimates that are mixed are those of the round
 * before, which are all of one round, and the mean of models stays; the model has not been mixed between, so
 * this is the published order seen from the correction on. Estimates begin as the model that all begin
 * with. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "sim/gossip/method.h"
#include "sim/gossip/floats.h"

/* A number of a sparse message: value and index, float32 and int32; else the value alone. */
static const double SPARSE_NUMBERS = 2;

struct sparq_run {
    float *change;  /* shape [n_params], owned: what a model is beyond its estimate */
    uint32_t *size; /* shape [n_params], owned: for keep_largest() */
};

struct sparq_worker {
    struct gossip_outbox out;
};

/* SELF: the estimate of itself; NEAR: those of its neighbours. */
enum { SELF, NEAR, N_OWN = NEAR + GOSSIP_MAX_NEIGHBOURS };

/* ---- compression ---- */

/* Bits of |x|: as whole numbers they are ordered as the magnitudes are, and no number too. */
static uint32_t sparq_bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits & UINT32_C(0x7fffffff);
}

/* The k-th largest, k from 1, of a[0..n); a is put in another order. Hoare's FIND, O(n) on average. */
static uint32_t sparq_largest(uint32_t *a, int32_t n, int32_t k)
{
    int32_t lo = 0, hi = n - 1;
    while (lo < hi) {
        uint32_t pivot = a[lo + (hi - lo) / 2];
        int32_t i = lo, j = hi;
        while (i <= j) {
            while (a[i] > pivot)
                i++;
            while (a[j] < pivot)
                j--;
            if (i > j)
                break;
            uint32_t swap = a[i];
            a[i++] = a[j];
            a[j--] = swap;
        }
        if (k - 1 <= j)
            hi = j;
        else if (k - 1 >= i)
            lo = i;
        else
            break;
    }
    return a[k - 1];
}

/* Zero all but the k largest magnitudes of x, of equal ones those that come first. */
static void keep_largest(float *x, uint32_t *size, int32_t n, int32_t k)
{
    for (int32_t i = 0; i < n; i++)
        size[i] = sparq_bits_of(x[i]);
    uint32_t least = sparq_largest(size, n, k);
    int32_t ties = k;
    for (int32_t i = 0; i < n; i++)
        ties -= sparq_bits_of(x[i]) > least;
    for (int32_t i = 0; i < n; i++) {
        uint32_t bits = sparq_bits_of(x[i]);
        if (bits < least || (bits == least && ties-- <= 0))
            x[i] = 0;
    }
}

static int32_t n_kept(const struct gossip_cluster *c)
{
    double n = ceil(c->settings->keep * c->n_params);
    return n < c->n_params ? (int32_t)n : c->n_params;
}

static double message_B(const struct gossip_cluster *c)
{
    int32_t n = n_kept(c);
    return gossip_model_B(c, n) * (n < c->n_params ? SPARSE_NUMBERS : 1);
}

/* ---- rounds ---- */

/* c_t rate^2, c_t = c t^power, t steps done. */
static double sparq_threshold(const struct gossip_cluster *c, const struct gossip_worker *w)
{
    double rate = gossip_rate(c, w->steps - 1);
    double x = c->settings->sparq_power * elementary_log((double)w->steps);
    elementary_exp(&x, 1);
    return c->settings->sparq_c * x * rate * rate;
}

static void sparq_move(const struct gossip_cluster *c, struct gossip_worker *w)
{
    int32_t n = gossip_ring(c->n_workers, w->id).n;
    float share = (float)(c->settings->gamma / (n + 1));
    for (int32_t k = 0; k < n; k++)
        floats_add_difference(w->x, share, w->own[NEAR + k], w->own[SELF], c->n_params);
}

/* Sends the largest entries of the difference between model and estimate, and moves the own estimate by
 * exactly what was sent, as the neighbours do. */
static int correct(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    const struct sparq_run *run = c->state;
    struct sparq_worker *p = w->state;
    int32_t k = n_kept(c);
    floats_copy(run->change, w->x, c->n_params);
    floats_add(run->change, -1, w->own[SELF], c->n_params);
    if (k < c->n_params) {
        keep_largest(run->change, run->size, c->n_params, k);
        floats_add(w->own[SELF], 1, run->change, c->n_params);
    } else {
        floats_copy(w->own[SELF], w->x, c->n_params);
    }
    struct gossip_transfer what = { .from = w->id, .there_B = message_B(c) };
    return gossip_send_around(c, &p->out, &what, e);
}

static int sparq_after(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    if (w->steps % c->settings->period || c->n_workers < 2)
        return 0;
    sparq_move(c, w);
    if (!(floats_distance2(w->x, w->own[SELF], c->n_params) > sparq_threshold(c, w)))
        return 0;
    return correct(c, w, e);
}

/* ---- hooks ---- */

/* Estimates begin at the common first model, so the first corrections are small. */
static int sparq_start(struct gossip_cluster *c, struct err *e)
{
    struct sparq_run *run = c->state;
    run->change = ARENA_TAKE(&c->arena, c->n_params, *run->change);
    run->size = ARENA_TAKE(&c->arena, c->n_params, *run->size);
    int rc = arena_check(&c->arena, "corrections of estimates", e);
    if (rc)
        return rc;
    for (int32_t i = 0; i < c->n_workers; i++)
        for (int32_t k = 0; k < N_OWN; k++)
            floats_copy(c->workers[i].own[k], c->workers[i].x, c->n_params);
    return 0;
}

/* What is carried here is the corrected estimate, which is what the correction makes of the one that the
 * neighbour has; on the wire it counts as the correction. */
static int sparq_begin(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e)
{
    return gossip_carry(c, &t->there, c->workers[t->from].own[SELF], e);
}

/* As it ends, whatever clock.stale is: models change in rounds alone, and a round is to see estimates of one
 * round. */
static int sparq_end(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e)
{
    struct gossip_neighbours near = gossip_ring(c->n_workers, t->to);
    int32_t place = gossip_neighbour_place(&near, t->from);
    struct sparq_worker *p = c->workers[t->from].state;
    floats_copy(c->workers[t->to].own[NEAR + place], t->there, c->n_params);
    return gossip_sent_around(c, &p->out, e);
}

const struct gossip_method gossip_sparq = {
    .name = "sparq",
    .help = "gossip on a ring by estimates; compressed corrections are sent when they are large enough",
    .uses = GOSSIP_FOR_PERIOD | GOSSIP_FOR_SPARQ,
    .run_size = sizeof(struct sparq_run),
    .worker_size = sizeof(struct sparq_worker),
    .n_own = N_OWN,
    .start = sparq_start,
    .after = sparq_after,
    .begin = sparq_begin,
    .end = sparq_end,
};
