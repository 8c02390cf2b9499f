/* EventGraD: a worker sends a tensor to its neighbours on the ring when the norm of that tensor has changed
 * enough, and mixes what it last had from them. Source: Ghosh et al., arXiv 2103.07454.
 *
 * After a step a worker first sends, then averages right before it goes on to the next gradient; so what is
 * sent is the model before it is averaged, and the gradient is that of the averaged one. (The published code
 * takes the gradient just before the average and applies it after that.) Nobody waits to hear. A worker waits
 * until its own messages have arrived, as that code does, and averages then: while all are in step it has
 * models of the same step by that time, and with horizon 0 this is D-PSGD. With overlap it averages at once,
 * with models of the step before, and waits only while it has messages of two steps. */
#include "sim/gossip/method.h"

#include <math.h>

#include "sim/gossip/floats.h"

struct event_worker {
    struct gossip_event events[GOSSIP_MAX_TENSORS];
    struct gossip_outbox out;
};

/* LAST: what its neighbours last had of it, or have on the way; NEAR: what it last had of each of them. */
enum { LAST, NEAR, N_OWN = NEAR + GOSSIP_MAX_NEIGHBOURS };

/* The threshold shrinks by `horizon` every step and is set to the mean slope of the last two sends, so that
 * how often a tensor is sent follows how fast its norm moves. */
bool gossip_event_fires(struct gossip_event *v, double norm, int64_t step, const struct gossip_settings *s)
{
    double change = fabs(norm - v->norm);
    v->threshold *= s->horizon;
    if (!(change >= v->threshold) && step > s->warmup)
        return false;
    double slope = change / (double)(step - v->step);
    v->threshold = (slope + v->slope) / 2;
    v->slope = slope;
    v->norm = norm;
    v->step = step;
    return true;
}

static double norm_of(const struct gossip_cluster *c, const float *x, int32_t tensor)
{
    int32_t first = c->net->first[tensor];
    return sqrt(floats_square(x + first, c->net->first[tensor + 1] - first));
}

/* Tensors whose bit is set in @p mask; returns how many numbers they have. */
static int32_t copy_tensors(const struct gossip_cluster *c, float *to, const float *from, int32_t mask)
{
    int32_t n = 0;
    for (int32_t t = 0; t < c->net->n_tensors; t++) {
        int32_t first = c->net->first[t], size = c->net->first[t + 1] - first;
        if (!(mask >> t & 1))
            continue;
        floats_copy(to + first, from + first, size);
        n += size;
    }
    return n;
}

/* Everyone knows everyone's first model. */
static int eventgrad_start(struct gossip_cluster *c, struct err *e)
{
    (void)e;
    for (int32_t i = 0; i < c->n_workers; i++) {
        struct gossip_worker *w = &c->workers[i];
        struct event_worker *p = w->state;
        for (int32_t t = 0; t < c->net->n_tensors; t++)
            p->events[t].norm = norm_of(c, w->x, t);
        for (int32_t k = 0; k < N_OWN; k++)
            floats_copy(w->own[k], w->x, c->n_params);
    }
    return 0;
}

/* Tensors whose norm has moved enough go in one message; the mask says which. */
static int send_tensors(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    struct event_worker *p = w->state;
    int32_t mask = 0;
    for (int32_t t = 0; t < c->net->n_tensors; t++)
        if (gossip_event_fires(&p->events[t], norm_of(c, w->x, t), w->steps, c->settings))
            mask |= INT32_C(1) << t;
    if (!mask)
        return 0;
    int32_t n = copy_tensors(c, w->own[LAST], w->x, mask);
    struct gossip_transfer what = { .from = w->id, .there_B = gossip_model_B(c, n), .tag = mask };
    return gossip_send_around(c, &p->out, &what, e);
}

static void eventgrad_average(const struct gossip_cluster *c, struct gossip_worker *w)
{
    int32_t n = gossip_ring(c->n_workers, w->id).n;
    gossip_average(w->x, &w->own[NEAR], n, c->n_params);
}

static int eventgrad_after(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    const struct event_worker *p = w->state;
    int rc = send_tensors(c, w, e);
    if (!p->out.held)
        eventgrad_average(c, w);
    return rc;
}

/* Only the tensors of the message are read. */
static int eventgrad_begin(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e)
{
    return gossip_carry(c, &t->there, c->workers[t->from].own[LAST], e);
}

static void eventgrad_mix(struct gossip_cluster *c, struct gossip_transfer *t)
{
    struct gossip_neighbours near = gossip_ring(c->n_workers, t->to);
    int32_t place = gossip_neighbour_place(&near, t->from);
    copy_tensors(c, c->workers[t->to].own[NEAR + place], t->there, t->tag);
}

static int eventgrad_end(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e)
{
    struct gossip_worker *w = &c->workers[t->from];
    struct event_worker *p = w->state;
    bool held = p->out.held;
    int rc = gossip_sent_around(c, &p->out, e);
    if (held && !p->out.held)
        eventgrad_average(c, w);
    return rc;
}

const struct gossip_method gossip_eventgrad = {
    .name = "eventgrad",
    .help = "gossip on a ring; a tensor is sent when its norm has changed enough",
    .uses = GOSSIP_FOR_EVENT,
    .worker_size = sizeof(struct event_worker),
    .n_own = N_OWN,
    .start = eventgrad_start,
    .after = eventgrad_after,
    .begin = eventgrad_begin,
    .mix = eventgrad_mix,
    .end = eventgrad_end,
};
