/* Dynamic averaging: workers meet only when one of them has gone too far from the last average of all.
 * Source: Kamp et al., arXiv 1807.03210, algorithm 1.
 *
 * Every `check` steps all look at |x - reference|^2 <= delta. Those for whom it is false send their models to
 * the server, which asks random others, one after the other, until the mean of what it has is near the
 * reference again, or it has all. That mean goes back to those who sent. As in the source the looks are
 * rounds: nobody goes on before the round is over. That somebody is asked, or has nothing to say, is taken
 * as no traffic, and `overlap` changes nothing: this project's choice. */
#include <stdlib.h>

#include "sim/gossip/method.h"
#include "sim/gossip/floats.h"

enum { MEAN /* what the server sends */, REFERENCE /* the last average of all */, N_SHARED };

struct dynamic_state {
    bool *sent;     /* shape [n_workers]: whose model the server has in this round */
    float **models; /* shape [n_workers]; n_sent of them, borrowed */
    int32_t n_sent;
    int32_t n_moving;     /* models on their way */
    int64_t n_violations; /* since all were last called for having had too many */
};

static int dynamic_start(struct gossip_cluster *c, struct err *e)
{
    struct dynamic_state *s = c->state;
    s->sent = ARENA_TAKE(&c->arena, c->n_workers, *s->sent);
    s->models = ARENA_TAKE(&c->arena, c->n_workers, *s->models);
    int rc = arena_check(&c->arena, "models at the server", e);
    if (rc)
        return rc;
    floats_copy(c->shared[REFERENCE], c->workers[0].x, c->n_params);
    return 0;
}

static int dynamic_after(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    return w->steps % c->settings->check ? 0 : gossip_meet(c, w, true, e);
}

/* A distance that is no number is none that is kept. */
static bool is_near(const struct gossip_cluster *c, const float *x)
{
    return floats_distance2(x, c->shared[REFERENCE], c->n_params) <= c->settings->delta;
}

static int send_up(struct gossip_cluster *c, int32_t worker, struct err *e)
{
    struct dynamic_state *s = c->state;
    s->sent[worker] = true;
    s->n_sent++;
    s->n_moving++;
    return gossip_send(c,
                       &(struct gossip_transfer){
                           .from = worker, .to = GOSSIP_SERVER, .there_B = gossip_model_B(c, c->n_params) },
                       e);
}

static int send_down(struct gossip_cluster *c, int32_t worker, struct err *e)
{
    struct dynamic_state *s = c->state;
    s->n_moving++;
    return gossip_send(c,
                       &(struct gossip_transfer){
                           .from = GOSSIP_SERVER, .to = worker, .there_B = gossip_model_B(c, c->n_params) },
                       e);
}

/* All have looked: a round begins. Those who violate count for the next rounds too: as many as there are
 * workers, and all are called. */
static int dynamic_meet(struct gossip_cluster *c, struct err *e)
{
    struct dynamic_state *s = c->state;
    int rc = 0;
    int32_t n = 0;
    s->n_sent = 0;
    for (int32_t i = 0; i < c->n_workers; i++) {
        s->sent[i] = !is_near(c, c->workers[i].x);
        n += s->sent[i];
    }
    s->n_violations += n;
    bool all = s->n_violations >= c->n_workers;
    if (all)
        s->n_violations = 0;
    for (int32_t i = 0; i < c->n_workers && !rc; i++)
        if (s->sent[i] || all)
            rc = send_up(c, i, e);
    return rc || n ? rc : gossip_part(c, e);
}

/* One of those whose model the server lacks, uniformly. The server draws from a stream of worker 0, which
 * needs none for itself. */
static int ask_another(struct gossip_cluster *c, struct err *e)
{
    const struct dynamic_state *s = c->state;
    int64_t skip = rng_below(c->workers[0].draws[GOSSIP_DRAW_PEERS], c->n_workers - s->n_sent);
    int32_t i = 0;
    while (s->sent[i] || skip-- > 0)
        i++;
    return send_up(c, i, e);
}

/* The server has all that it asked for. */
static int weigh(struct gossip_cluster *c, struct err *e)
{
    struct dynamic_state *s = c->state;
    int32_t n = 0;
    int rc = 0;
    for (int32_t i = 0; i < c->n_workers; i++)
        if (s->sent[i])
            s->models[n++] = c->workers[i].x;
    floats_mean(c->shared[MEAN], s->models, n, c->n_params);
    if (n < c->n_workers && !is_near(c, c->shared[MEAN]))
        return ask_another(c, e);
    if (n == c->n_workers)
        floats_copy(c->shared[REFERENCE], c->shared[MEAN], c->n_params);
    for (int32_t i = 0; i < c->n_workers && !rc; i++)
        if (s->sent[i])
            rc = send_down(c, i, e);
    return rc;
}

/* Nobody steps during a round, so models are the same as they begin to move and as they arrive. */
static int dynamic_end(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e)
{
    struct dynamic_state *s = c->state;
    bool last = --s->n_moving == 0;
    if (t->to == GOSSIP_SERVER)
        return last ? weigh(c, e) : 0;
    floats_copy(c->workers[t->to].x, t->there, c->n_params);
    return last ? gossip_part(c, e) : 0;
}

const struct gossip_method gossip_dynamic = {
    .name = "dynamic",
    .help = "averages of those who have gone too far, and of others",
    .uses = GOSSIP_FOR_CHECK | GOSSIP_FOR_DELTA | GOSSIP_FOR_SERVER,
    .meets = true,
    .run_size = sizeof(struct dynamic_state),
    .n_shared = N_SHARED,
    .start = dynamic_start,
    .after = dynamic_after,
    .meet = dynamic_meet,
    .end = dynamic_end,
};
