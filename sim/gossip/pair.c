/* Gossip between two workers: pull, push and symmetric pairs, by a fixed period or by the change of the
 * model. Source: Jin et al., arXiv 1611.04581; the rules are this project's reading of
 * DOI 10.1109/CCGRID.2018.00043. */
#include <math.h>

#include "sim/gossip/method.h"
#include "sim/gossip/vec.h"

struct pair_state {
    int64_t since;  /* steps since the last exchange that it began */
    int64_t period; /* of rule control */
};

enum { REF /* parameters after the last exchange */, N_OWN };

static double drift(const struct gossip_cluster *c, const struct gossip_worker *w)
{
    return sqrt(vec_distance2(w->x, w->own[REF], c->n_params)) /
           (sqrt(vec_square(w->own[REF], c->n_params)) + 1e-12);
}

static bool due(const struct gossip_cluster *c, struct gossip_worker *w)
{
    const struct gossip_settings *s = c->settings;
    const struct pair_state *p = w->state;
    double theta = s->theta;
    switch (s->rule) {
    case GOSSIP_RULE_FIXED:
        return p->since >= s->period;
    case GOSSIP_RULE_CONTROL:
        return p->since >= p->period;
    case GOSSIP_RULE_RATE:
        theta *= gossip_rate(c, w->steps - 1) / gossip_rate(c, 0);
        break;
    case GOSSIP_RULE_DRIFT:
    case N_GOSSIP_RULES:
        break;
    }
    if (p->since >= s->cap)
        return true;
    return p->since % s->check == 0 && drift(c, w) >= theta;
}

/* tau <- tau * theta / drift, between half and twice. */
static void control(const struct gossip_cluster *c, struct gossip_worker *w)
{
    struct pair_state *p = w->state;
    double times = c->settings->theta / drift(c, w);
    double period = round((double)p->period * fmin(fmax(times, 0.5), 2));
    p->period = (int64_t)fmin(fmax(period, 1), (double)c->settings->cap);
}

static void refer(const struct gossip_cluster *c, struct gossip_worker *w)
{
    vec_copy(w->own[REF], w->x, c->n_params);
}

static int start(struct gossip_cluster *c, struct err *e)
{
    (void)e;
    for (int32_t i = 0; i < c->n_workers; i++) {
        struct pair_state *p = c->workers[i].state;
        p->period = 1;
        refer(c, &c->workers[i]);
    }
    return 0;
}

static int after(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    struct pair_state *p = w->state;
    p->since++;
    if (c->n_workers < 2 || !due(c, w))
        return 0;
    if (c->settings->rule == GOSSIP_RULE_CONTROL)
        control(c, w);
    p->since = 0;
    double model_B = gossip_model_B(c, c->n_params);
    struct gossip_transfer t = {
        .from = w->id, .to = gossip_peer(c, w), .there_B = model_B, .back_B = model_B, .holds_from = true
    };
    return gossip_send(c, &t, e);
}

/* Both move towards each other by the same vector, so the sum of models stays. */
static void mix(struct gossip_cluster *c, struct gossip_transfer *t)
{
    struct gossip_worker *a = &c->workers[t->from], *b = &c->workers[t->to];
    float share = (float)c->settings->mix;
    vec_add_difference(a->x, share, t->back, t->there, c->n_params);
    vec_add_difference(b->x, share, t->there, t->back, c->n_params);
    refer(c, a);
    refer(c, b);
}

const struct gossip_method gossip_pair = {
    .name = "pair",
    .help = "gossip: a worker and a random other move to the mean of their models",
    .uses = USE_GOSSIP_RULE | USE_GOSSIP_MIX,
    .worker_size = sizeof(struct pair_state),
    .n_own = N_OWN,
    .start = start,
    .after = after,
    .mix = mix,
};
