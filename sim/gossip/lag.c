/* LAG: a server steps along the mean of the gradients that workers sent last, and who has little news sends
 * none. Source: Chen et al., arXiv 1805.09965.
 *
 * The server's step is the optimiser that all methods have, momentum included, so that with xi = 0 both are
 * synchronous SGD; the source has no momentum (momentum: 0). A round ends when the server has what it waits
 * for; that a worker has no news is taken as no traffic. Both are this project's choice. The conditions are
 * those of the source, for gradients of all examples: those of batches differ by their noise alone, which
 * does not shrink as the model settles, and then lag-wk sends nearly always. LASG (arXiv 2002.11360) has
 * conditions for that; it is not here. */
#include "sim/gossip/method.h"

#include <math.h>
#include <stdlib.h>

#include "sim/gossip/floats.h"

/* ---- conditions ---- */

void gossip_lag_note(struct gossip_lag_past *p, double change2, double rate)
{
    p->change2[p->n++ % p->depth] = change2 / (rate * rate);
}

double gossip_lag_bound(const struct gossip_lag_past *p, double xi)
{
    double sum = 0;
    for (int64_t d = 0; d < p->depth && d < p->n; d++)
        sum += p->change2[d];
    return xi * sum;
}

bool gossip_lag_is_due(const struct gossip_lag_past *p, double moved2, double xi)
{
    return p->n < p->depth || !(moved2 <= gossip_lag_bound(p, xi));
}

/* ---- server ---- */

enum { THETA, BEFORE, STEP /* mean of gradients */, VELOCITY, N_SHARED };
enum { SENT /* the gradient that the server has of it */, N_OWN };

struct lag_state {
    struct gossip_lag_past past; /* change2 is owned */
    float **sent;                /* shape [n_workers], owned: SENT of each, borrowed */
    struct gossip_memory memory;
};

static bool is_ps(const struct gossip_cluster *c)
{
    return c->method->uses & GOSSIP_FOR_SMOOTH;
}

/* Of the source: 0.1 and 1. */
static double xi_of(const struct gossip_cluster *c)
{
    double xi = c->settings->lag_xi;
    return isnan(xi) ? (is_ps(c) ? 1 : 0.1) : xi;
}

/* LAG's condition compares gradients with steps over the rate, which holds for SGD alone. */
static int lag_check(const struct gossip_settings *s, const struct gossip_setup *setup, struct err *e)
{
    (void)s;
    if (setup->learning.optimizer == GOSSIP_SGD)
        return 0;
    return err_set(e, ERR_RANGE,
                   "optimizer is %s, expected sgd: LAG compares gradients with steps over the rate",
                   gossip_optimizer_words[setup->learning.optimizer]);
}

/* The server knows no gradient yet; the first round sends all. */
static int lag_start(struct gossip_cluster *c, struct err *e)
{
    struct lag_state *s = c->state;
    s->past.depth = c->settings->lag_depth;
    s->past.change2 = ARENA_TAKE(&c->arena, s->past.depth, *s->past.change2);
    s->sent = ARENA_TAKE(&c->arena, c->n_workers, *s->sent);
    int rc = arena_check(&c->arena, "gradients at the server", e);
    if (rc)
        return rc;
    for (int32_t i = 0; i < c->n_workers; i++)
        s->sent[i] = c->workers[i].own[SENT];
    floats_copy(c->shared[THETA], c->workers[0].x, c->n_params);
    s->memory.v = c->shared[VELOCITY];
    return 0;
}

/* How far theta goes in the long run for a gradient of 1: the rate, but for momentum. */
static double lag_reach(const struct gossip_cluster *c, int64_t step)
{
    return gossip_rate(c, step) / (1 - c->setup->learning.momentum);
}

/* The server steps with the mean of the gradients it has, old ones included, and remembers how far it moved.
 */
static void step_server(struct gossip_cluster *c)
{
    struct lag_state *s = c->state;
    const struct gossip_learning *l = &c->setup->learning;
    double rate = gossip_rate(c, s->past.n);
    floats_mean(c->shared[STEP], s->sent, c->n_workers, c->n_params);
    floats_copy(c->shared[BEFORE], c->shared[THETA], c->n_params);
    gossip_optimize(
        c->shared[THETA], c->shared[STEP], &s->memory,
        &(struct gossip_update){
            .kind = l->optimizer, .rate = rate, .momentum = l->momentum, .weight_decay = l->weight_decay },
        c->n_params);
    gossip_lag_note(&s->past, floats_distance2(c->shared[THETA], c->shared[BEFORE], c->n_params),
                    lag_reach(c, s->past.n));
}

/* The source has a step of 1 / L in all. */
static double smooth_of(const struct gossip_cluster *c)
{
    double smooth = c->settings->lag_smooth;
    return isnan(smooth) ? 1 / lag_reach(c, 0) : smooth;
}

/* lag-wk tells everybody. lag-ps tells those whose gradient must have changed, by how far theta has gone from
 * where they took it; and everybody in the end, so that all have what was learned. */
static bool is_told(const struct gossip_cluster *c, const struct gossip_worker *w)
{
    const struct lag_state *s = c->state;
    if (!is_ps(c) || s->past.n == c->n_steps)
        return true;
    double smooth = smooth_of(c);
    return gossip_lag_is_due(
        &s->past, smooth * smooth * floats_distance2(w->x, c->shared[THETA], c->n_params), xi_of(c));
}

static bool is_any_told(const struct gossip_cluster *c)
{
    for (int32_t i = 0; i < c->n_workers; i++)
        if (is_told(c, &c->workers[i]))
            return true;
    return false;
}

static void skip_all(struct gossip_cluster *c)
{
    for (int32_t i = 0; i < c->n_workers; i++)
        gossip_skip(c, &c->workers[i]);
}

static int lag_tell(struct gossip_cluster *c, int32_t worker, struct err *e)
{
    return gossip_send(c,
                       &(struct gossip_transfer){
                           .from = GOSSIP_SERVER, .to = worker, .there_B = gossip_model_B(c, c->n_params) },
                       e);
}

/* The server has what it waits for. An iteration in which nobody is told takes no time; who is not told is
 * there for the next one already. */
static int lag_meet(struct gossip_cluster *c, struct err *e)
{
    int rc = gossip_part(c, e);
    for (step_server(c); !is_any_told(c); step_server(c))
        skip_all(c);
    for (int32_t i = 0; i < c->n_workers && !rc; i++) {
        struct gossip_worker *w = &c->workers[i];
        if (is_told(c, w)) {
            rc = lag_tell(c, i, e);
        } else {
            gossip_skip(c, w);
            rc = gossip_meet(c, w, false, e);
        }
    }
    return rc;
}

/* ---- workers ---- */

/* It is held until it has theta; nothing is beside a step, with `overlap` or without. */
static int lag_after(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    const struct lag_state *s = c->state;
    gossip_hold(c, w);
    double moved2 = floats_distance2(w->g, w->own[SENT], c->n_params);
    if (!is_ps(c) && !gossip_lag_is_due(&s->past, moved2, xi_of(c)))
        return gossip_meet(c, w, false, e);
    floats_copy(w->own[SENT], w->g, c->n_params);
    return gossip_send(c,
                       &(struct gossip_transfer){
                           .from = w->id, .to = GOSSIP_SERVER, .there_B = gossip_model_B(c, c->n_params) },
                       e);
}

/* Of what goes up the worker has kept a copy already. */
static int lag_begin(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e)
{
    return t->to == GOSSIP_SERVER ? 0 : gossip_take(c, t, e);
}

static int lag_end(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e)
{
    if (t->to == GOSSIP_SERVER)
        return gossip_meet(c, &c->workers[t->from], false, e);
    floats_copy(c->workers[t->to].x, t->there, c->n_params);
    gossip_release(c, &c->workers[t->to]);
    return 0;
}

const struct gossip_method gossip_lag_wk = {
    .name = "lag-wk",
    .help = "a server with the last gradients; workers send those that changed",
    .uses = GOSSIP_FOR_LAG | GOSSIP_FOR_SERVER,
    .meets = true,
    .run_size = sizeof(struct lag_state),
    .n_shared = N_SHARED,
    .n_own = N_OWN,
    .check = lag_check,
    .start = lag_start,
    .step = gossip_keep_gradient,
    .after = lag_after,
    .meet = lag_meet,
    .begin = lag_begin,
    .end = lag_end,
};

const struct gossip_method gossip_lag_ps = {
    .name = "lag-ps",
    .help = "a server with the last gradients; it asks for those that must have changed",
    .uses = GOSSIP_FOR_LAG | GOSSIP_FOR_SMOOTH | GOSSIP_FOR_SERVER,
    .meets = true,
    .run_size = sizeof(struct lag_state),
    .n_shared = N_SHARED,
    .n_own = N_OWN,
    .check = lag_check,
    .start = lag_start,
    .step = gossip_keep_gradient,
    .after = lag_after,
    .meet = lag_meet,
    .begin = lag_begin,
    .end = lag_end,
};
