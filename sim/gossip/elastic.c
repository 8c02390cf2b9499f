/* EASGD: a server holds a centre, and springs draw workers and centre towards each other. Asynchronous: each
 * worker counts its own steps, pulls the centre and pushes its difference. Source: Zhang et al.,
 * arXiv 1412.6651, algorithm 1. */
#include <math.h>

#include "sim/gossip/method.h"
#include "sim/gossip/floats.h"

enum { CENTRE }; /* shared */

/* alpha (x - centre), from the end of the pull to the beginning of the push. Two of them: with overlap a push
 * may still wait for its port as the next pull ends; then the worker waits for that. */
enum { PUSHED, PUSHED_NEXT, N_OWN };

/* Tags: a pull, or what is pushed. */
enum { PULL = -1 };

struct elastic_state {
    int32_t slot; /* of the next push */
};

/* The paper's: beta = 0.9 is the sum over workers. */
static double strength(const struct gossip_cluster *c)
{
    double alpha = c->settings->alpha;
    return isnan(alpha) ? 0.9 / c->n_workers : alpha;
}

static int elastic_start(struct gossip_cluster *c, struct err *e)
{
    (void)e;
    floats_copy(c->shared[CENTRE], c->workers[0].x, c->n_params);
    return 0;
}

static int elastic_after(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    if (w->steps % c->settings->period)
        return 0;
    struct gossip_transfer pull = { .from = w->id,
                                    .to = GOSSIP_SERVER,
                                    .back_B = gossip_model_B(c, c->n_params),
                                    .holds_from = true,
                                    .tag = PULL };
    return gossip_send(c, &pull, e);
}

static int elastic_begin(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e)
{
    return t->tag == PULL ? gossip_take(c, t, e)
                          : gossip_carry(c, &t->there, c->workers[t->from].own[t->tag], e);
}

/* A pull draws the worker, a push the centre, by the same vector: what both are together stays. */
static void elastic_mix(struct gossip_cluster *c, struct gossip_transfer *t)
{
    struct gossip_worker *w = &c->workers[t->from];
    struct elastic_state *s = w->state;
    if (t->tag != PULL) {
        floats_add(c->shared[CENTRE], 1, t->there, c->n_params);
        return;
    }
    float *pushed = w->own[s->slot];
    floats_copy(pushed, w->x, c->n_params);
    floats_add(pushed, -1, t->back, c->n_params);
    floats_scale(pushed, (float)strength(c), c->n_params);
    floats_add(w->x, -1, pushed, c->n_params);
}

/* The centre has arrived at the worker; now the worker's own model goes to the centre. Buffers take turns, as
 * an earlier push may still be under way. */
static int elastic_end(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e)
{
    struct elastic_state *s = c->workers[t->from].state;
    if (t->tag != PULL)
        return 0;
    struct gossip_transfer push = { .from = t->from,
                                    .to = GOSSIP_SERVER,
                                    .there_B = gossip_model_B(c, c->n_params),
                                    .holds_from = true,
                                    .tag = s->slot };
    s->slot = (s->slot + 1) % N_OWN;
    return gossip_send(c, &push, e);
}

const struct gossip_method gossip_elastic = {
    .name = "elastic",
    .help = "EASGD: every period a worker and a centre at a server draw each other closer",
    .uses = GOSSIP_FOR_PERIOD | GOSSIP_FOR_ALPHA | GOSSIP_FOR_SERVER,
    .period = 10,
    .n_shared = CENTRE + 1,
    .worker_size = sizeof(struct elastic_state),
    .n_own = N_OWN,
    .start = elastic_start,
    .after = elastic_after,
    .begin = elastic_begin,
    .mix = elastic_mix,
    .end = elastic_end,
};
