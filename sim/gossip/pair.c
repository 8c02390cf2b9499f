/* Gossip between two workers: pull, push and symmetric pairs, by a fixed period or by the change of the
 * model. Source: Jin et al., arXiv 1611.04581; the rules are this project's reading of
 * DOI 10.1109/CCGRID.2018.00043. */
#include <math.h>

#include "sim/gossip/method.h"
#include "sim/gossip/floats.h"

struct pair_state {
    int64_t since;  /* steps since the last exchange that it began */
    int64_t period; /* of rule control */
};

enum { REF /* parameters after the last exchange, its own or another's; of rule B its own */, N_OWN };

static double drift(const struct gossip_cluster *c, const struct gossip_worker *w)
{
    return sqrt(floats_distance2(w->x, w->own[REF], c->n_params)) /
           (sqrt(floats_square(w->own[REF], c->n_params)) + 1e-12);
}

/* Rate of the step just done over the first one's. */
static double rate_left(const struct gossip_cluster *c, const struct gossip_worker *w)
{
    double first = gossip_rate(c, 0);
    return first > 0 ? gossip_rate(c, w->steps - 1) / first : 1;
}

/* Whether a worker exchanges now: after its period, or once its model has drifted by theta. The cap bounds
 * how long a rule may stay silent; drift is looked at every `check` steps, as it costs a pass over the model.
 */
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
        theta *= rate_left(c, w);
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
    p->period = gossip_cut_period(period, c->settings->cap);
}

static void refer(const struct gossip_cluster *c, struct gossip_worker *w)
{
    floats_copy(w->own[REF], w->x, c->n_params);
}

static int pair_start(struct gossip_cluster *c, struct err *e)
{
    (void)e;
    for (int32_t i = 0; i < c->n_workers; i++) {
        struct pair_state *p = c->workers[i].state;
        p->period = 1;
        refer(c, &c->workers[i]);
    }
    return 0;
}

/* Exchange with a random other, if it is time: what @p w sends, and what it gets. */
static int meet_other(struct gossip_cluster *c, struct gossip_worker *w, bool sends, bool gets, struct err *e)
{
    struct pair_state *p = w->state;
    double model_B = gossip_model_B(c, c->n_params);
    p->since++;
    if (c->n_workers < 2 || !due(c, w))
        return 0;
    if (c->settings->rule == GOSSIP_RULE_CONTROL)
        control(c, w);
    p->since = 0;
    struct gossip_transfer t = { .from = w->id,
                                 .to = gossip_peer(c, w),
                                 .there_B = sends ? model_B : 0,
                                 .back_B = gets ? model_B : 0,
                                 .holds_from = true };
    return gossip_send(c, &t, e);
}

/* Rule B sets its period by the drift over a whole period, so exchanges that others begin do not cut it
 * short. */
static void refer_both(const struct gossip_cluster *c, const struct gossip_transfer *t)
{
    refer(c, &c->workers[t->from]);
    if (c->settings->rule != GOSSIP_RULE_CONTROL)
        refer(c, &c->workers[t->to]);
}

/* ---- pair ---- */

static int after_pair(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    return meet_other(c, w, true, true, e);
}

/* Both move towards each other by the same vector, so the sum of models stays. */
static void mix_pair(struct gossip_cluster *c, struct gossip_transfer *t)
{
    float share = (float)c->settings->mix;
    floats_add_difference(c->workers[t->from].x, share, t->back, t->there, c->n_params);
    floats_add_difference(c->workers[t->to].x, share, t->there, t->back, c->n_params);
    refer_both(c, t);
}

const struct gossip_method gossip_pair = {
    .name = "pair",
    .help = "gossip: a worker and a random other move to the mean of their models",
    .uses = GOSSIP_FOR_RULE | GOSSIP_FOR_MIX,
    .worker_size = sizeof(struct pair_state),
    .n_own = N_OWN,
    .start = pair_start,
    .after = after_pair,
    .mix = mix_pair,
};

/* ---- pull ---- */

static int after_pull(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    return meet_other(c, w, false, true, e);
}

/* Into what the model has become meanwhile, not into what it was when asked for. */
static void mix_pull(struct gossip_cluster *c, struct gossip_transfer *t)
{
    float *x = c->workers[t->from].x;
    floats_add_difference(x, (float)c->settings->mix, t->back, x, c->n_params);
    refer_both(c, t);
}

const struct gossip_method gossip_pull = {
    .name = "pull",
    .help = "gossip: a worker takes the mean of its model and a random other's",
    .uses = GOSSIP_FOR_RULE | GOSSIP_FOR_MIX,
    .worker_size = sizeof(struct pair_state),
    .n_own = N_OWN,
    .start = pair_start,
    .after = after_pull,
    .mix = mix_pull,
};

/* ---- push ---- */

static int after_push(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    return meet_other(c, w, true, false, e);
}

/* One message at a time: of several that arrive between two steps the last weighs most. This project's
 * choice; the paper takes the mean of all of them. */
static void mix_push(struct gossip_cluster *c, struct gossip_transfer *t)
{
    float *x = c->workers[t->to].x;
    floats_add_difference(x, (float)c->settings->mix, t->there, x, c->n_params);
    refer_both(c, t);
}

const struct gossip_method gossip_push = {
    .name = "push",
    .help = "gossip: a worker sends its model to a random other, which takes the mean",
    .uses = GOSSIP_FOR_RULE | GOSSIP_FOR_MIX,
    .worker_size = sizeof(struct pair_state),
    .n_own = N_OWN,
    .start = pair_start,
    .after = after_push,
    .mix = mix_push,
};
