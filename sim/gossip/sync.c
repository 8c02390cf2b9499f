/* Methods in which all workers meet: gradients averaged every step, or models every H. */
#include "sim/gossip/method.h"
#include "sim/gossip/floats.h"

/* ---- all-reduce: synchronous SGD ---- */

static int meet_always(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    return gossip_meet(c, w, true, e);
}

static int gather_model(struct gossip_cluster *c, struct err *e)
{
    return gossip_gather(c, c->n_params, 0, e);
}

/* What travels is the mean of gradients. */
static int mean_gradient(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e)
{
    for (int32_t i = 0; i < c->n_workers; i++)
        floats_copy(c->workers[i].given, c->workers[i].g, c->n_params);
    return gossip_take(c, t, e);
}

static void step_along_mean(struct gossip_cluster *c, struct gossip_transfer *t)
{
    for (int32_t i = 0; i < c->n_workers; i++) {
        struct gossip_worker *w = &c->workers[i];
        floats_copy(w->g, t->there, c->n_params);
        w->steps--; /* the rate is that of the step just done */
        gossip_update(c, w);
        w->steps++;
    }
}

const struct gossip_method gossip_all_reduce = {
    .name = "all-reduce",
    .help = "synchronous SGD: the mean of all gradients, every step",
    .meets = true,
    .step = gossip_keep_gradient,
    .after = meet_always,
    .meet = gather_model,
    .begin = mean_gradient,
    .mix = step_along_mean,
};

/* ---- local SGD ---- */

static int meet_every_period(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    if (w->steps % c->settings->period)
        return 0;
    return gossip_meet(c, w, !c->setup->clock.overlap, e);
}

const struct gossip_method gossip_local = {
    .name = "local",
    .help = "local SGD: the mean of all models, every period",
    .uses = GOSSIP_FOR_PERIOD,
    .period = 16,
    .meets = true,
    .after = meet_every_period,
    .meet = gather_model,
};

/* Every step until the switch, then every period. Source: Lin et al., arXiv 1808.07217. */
static int meet_after_switch(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    int64_t from = (int64_t)(c->settings->switch_frac * (double)c->n_steps);
    if (w->steps > from && (w->steps - from) % c->settings->period)
        return 0;
    return gossip_meet(c, w, !c->setup->clock.overlap, e);
}

const struct gossip_method gossip_post_local = {
    .name = "post-local",
    .help = "local SGD with period 1 until the switch",
    .uses = GOSSIP_FOR_PERIOD | GOSSIP_FOR_SWITCH,
    .period = 16,
    .meets = true,
    .after = meet_after_switch,
    .meet = gather_model,
};
