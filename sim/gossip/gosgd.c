/* GoSGD: models travel with weights. A worker sends to a random other now and then, with half of its weight,
 * and waits for nothing but its own sending. Source: Blot et al., arXiv 1611.09726 and 1804.01852. */
#include "sim/gossip/method.h"
#include "sim/gossip/floats.h"

/* `state` of a worker is its weight, a double. Weights of workers and of messages on their way sum to 1. */
static double *weight_of(const struct gossip_worker *w)
{
    return w->state;
}

static int gosgd_start(struct gossip_cluster *c, struct err *e)
{
    (void)e;
    for (int32_t i = 0; i < c->n_workers; i++)
        *weight_of(&c->workers[i]) = 1.0 / c->n_workers;
    return 0;
}

static int gosgd_after(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    if (c->n_workers < 2 || rng_uniform(w->draws[GOSSIP_DRAW_PEERS]) >= c->settings->prob)
        return 0;
    struct gossip_transfer t = {
        .from = w->id, .to = gossip_peer(c, w), .there_B = gossip_model_B(c, c->n_params), .holds_from = true
    };
    return gossip_send(c, &t, e);
}

/* Model and weight leave together: a message that waits for its port takes what both are when it begins. */
static int gosgd_begin(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e)
{
    double *weight = weight_of(&c->workers[t->from]);
    *weight /= 2;
    t->number = *weight;
    return gossip_take(c, t, e);
}

static void gosgd_mix(struct gossip_cluster *c, struct gossip_transfer *t)
{
    struct gossip_worker *w = &c->workers[t->to];
    double *weight = weight_of(w), sum = *weight + t->number;
    /* After a thousand halvings both may be 0. */
    float share = (float)(sum > 0 ? t->number / sum : 0);
    floats_add_difference(w->x, share, t->there, w->x, c->n_params);
    *weight = sum;
}

const struct gossip_method gossip_gosgd = {
    .name = "gosgd",
    .help = "gossip: after a step, by chance, the model goes to a random other with half of its weight",
    .uses = GOSSIP_FOR_PROB,
    .worker_size = sizeof(double),
    .start = gosgd_start,
    .after = gosgd_after,
    .begin = gosgd_begin,
    .mix = gosgd_mix,
};
