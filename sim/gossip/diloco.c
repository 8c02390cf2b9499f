/* DiLoCo: workers step by themselves for a period; the mean of what that has changed is the gradient of an
 * outer optimiser, Nesterov's momentum, on one global model that all begin the next period from. Sources:
 * Douillard et al., arXiv 2311.08105; in fragments, and beside steps: Streaming DiLoCo, arXiv 2501.18512.
 *
 * Fragment f of F is exchanged after the steps s where s + floor(f H / F) is a multiple of the period H, so
 * the last fragment is first. The exchange goes beside the next `delay` steps; then the worker takes the
 * global fragment, and waits for it if need be. No exchange begins that could not be taken any more before
 * the last step is over. Exchanges are one after the other: a worker that comes to the next one before the
 * last one is over waits. The delay is all that overlaps here: clock.overlap makes no difference. */
#include <math.h>

#include "sim/gossip/method.h"
#include "sim/gossip/floats.h"

struct diloco_run {
    int64_t begun, over; /* exchanges */
};

struct diloco_worker {
    int64_t taken; /* exchanges of which it has what they brought */
    bool stuck;    /* it waits for the next of them */
};

enum { GLOBAL, MOMENTUM, N_SHARED };

/* ---- which fragment, when ---- */

/* Is any exchanged after step @p step (from 1)? Fragments are no more than steps of a period, so that it is
 * one at most: f = ceil(r F / H) is the only one that can have floor(f H / F) = r. H F is in range. */
static bool diloco_is_due(const struct gossip_settings *s, int64_t step)
{
    if (step < 1)
        return false;
    int64_t r = (s->period - step % s->period) % s->period;
    int64_t f = r * s->fragments / s->period + (r * s->fragments % s->period > 0);
    return f < s->fragments && f * s->period / s->fragments == r;
}

/* Of exchange number @p k, from 0. */
static int32_t fragment_of(const struct gossip_settings *s, int64_t k)
{
    return (int32_t)(s->fragments - 1 - k % s->fragments);
}

static int32_t first_of(const struct gossip_cluster *c, int32_t fragment)
{
    return (int32_t)((int64_t)fragment * c->n_params / c->settings->fragments);
}

/* ---- the outer step ---- */

/* G = theta - mean; m <- mu m + G; theta <- theta - rate (mu m + G). */
static void step_outer(struct gossip_cluster *c, struct gossip_transfer *t)
{
    float *theta = c->shared[GLOBAL], *m = c->shared[MOMENTUM];
    float mu = (float)c->settings->outer_momentum, rate = (float)c->settings->outer_rate;
    for (int32_t i = first_of(c, t->tag); i < first_of(c, t->tag + 1); i++) {
        float g = theta[i] - t->there[i];
        m[i] = mu * m[i] + g;
        theta[i] -= rate * (mu * m[i] + g);
    }
}

/* x <- (1 - mix) theta + mix x, on the fragment of the exchange. All have taken it before it is exchanged
 * again, as delay < period. */
static void take_global(const struct gossip_cluster *c, struct gossip_worker *w)
{
    struct diloco_worker *p = w->state;
    int32_t fragment = fragment_of(c->settings, p->taken), first = first_of(c, fragment);
    int32_t n = first_of(c, fragment + 1) - first;
    float mix = (float)c->settings->outer_mix;
    floats_scale(w->x + first, mix, n);
    floats_add(w->x + first, 1 - mix, c->shared[GLOBAL] + first, n);
    p->taken++;
    p->stuck = false;
}

/* ---- hooks ---- */

static int diloco_start(struct gossip_cluster *c, struct err *e)
{
    (void)e;
    floats_copy(c->shared[GLOBAL], c->workers[0].x, c->n_params);
    return 0;
}

/* Where it is not the optimiser of all, whose rate says nothing of it. This project's choice. */
static const double SGD_RATE = 0.05, ADAMW_RATE = 1e-3;

static double inner_rate(const struct gossip_cluster *c, enum gossip_optimizer kind)
{
    const struct gossip_learning *l = &c->setup->learning;
    if (!isnan(c->settings->inner_rate))
        return c->settings->inner_rate;
    if (kind == l->optimizer)
        return l->rate;
    return kind == GOSSIP_ADAMW ? ADAMW_RATE : SGD_RATE;
}

/* The rate goes down with that of all. */
static void step_inner(struct gossip_cluster *c, struct gossip_worker *w)
{
    const struct gossip_learning *l = &c->setup->learning;
    enum gossip_optimizer kind = c->settings->inner;
    if (kind == N_GOSSIP_OPTIMIZERS)
        kind = l->optimizer;
    double left = l->rate > 0 ? gossip_rate(c, w->steps) / l->rate : 0;
    gossip_optimize(w->x, w->g, &w->memory,
                    &(struct gossip_update){ .kind = kind,
                                             .rate = inner_rate(c, kind) * left,
                                             .momentum = l->momentum,
                                             .weight_decay = l->weight_decay },
                    c->n_params);
}

/* A worker meets after each period; with a delay it goes on meanwhile and takes the result `delay` steps
 * later, waiting only if that is not there yet. */
static int diloco_after(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    const struct gossip_settings *s = c->settings;
    const struct diloco_run *run = c->state;
    struct diloco_worker *p = w->state;
    if (s->delay > 0 && diloco_is_due(s, w->steps - s->delay)) {
        if (run->over > p->taken) {
            take_global(c, w);
        } else {
            p->stuck = true;
            gossip_hold(c, w);
        }
    }
    if (!diloco_is_due(s, w->steps) || w->steps + s->delay > c->n_steps)
        return 0;
    return gossip_meet(c, w, s->delay == 0, e);
}

static int gather_fragment(struct gossip_cluster *c, struct err *e)
{
    struct diloco_run *run = c->state;
    int32_t fragment = fragment_of(c->settings, run->begun++);
    return gossip_gather(c, first_of(c, fragment + 1) - first_of(c, fragment), fragment, e);
}

/* The outer step is over: whoever waited for it takes the result and goes on. */
static int diloco_end(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e)
{
    struct diloco_run *run = c->state;
    (void)t;
    (void)e;
    run->over++;
    for (int32_t i = 0; i < c->n_workers; i++) {
        struct gossip_worker *w = &c->workers[i];
        struct diloco_worker *p = w->state;
        bool stuck = p->stuck;
        if (stuck || c->settings->delay == 0)
            take_global(c, w);
        if (stuck)
            gossip_release(c, w);
    }
    return 0;
}

/* Each fragment must be exchanged once in a period, and a delay must end before the next exchange. */
static int diloco_check(const struct gossip_settings *s, const struct gossip_setup *setup, struct err *e)
{
    int64_t most = s->period < setup->net->n_params ? s->period : setup->net->n_params;
    if (s->fragments > most)
        return err_set(e, ERR_RANGE, "fragments is %lld, expected 1 to %lld: at most %s",
                       (long long)s->fragments, (long long)most,
                       most == s->period ? "the period" : "the parameters");
    if (s->period > INT64_MAX / s->fragments)
        return err_set(e, ERR_RANGE, "period is %lld, expected at most %lld with %lld fragments",
                       (long long)s->period, (long long)(INT64_MAX / s->fragments), (long long)s->fragments);
    if (s->delay >= s->period)
        return err_set(e, ERR_RANGE, "delay is %lld, expected 0 to %lld, less than the period",
                       (long long)s->delay, (long long)s->period - 1);
    return 0;
}

const struct gossip_method gossip_diloco = {
    .name = "diloco",
    .help = "every period an outer step, with momentum, along the mean of what all have changed",
    .uses = GOSSIP_FOR_PERIOD | GOSSIP_FOR_DILOCO,
    .period = 50,
    .meets = true,
    .run_size = sizeof(struct diloco_run),
    .worker_size = sizeof(struct diloco_worker),
    .n_shared = N_SHARED,
    .check = diloco_check,
    .start = diloco_start,
    .step = step_inner,
    .after = diloco_after,
    .meet = gather_fragment,
    .mix = step_outer,
    .end = diloco_end,
};
