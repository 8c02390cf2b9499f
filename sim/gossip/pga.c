/* Gossip with neighbours step by step, and every period the mean of all: Gossip-PGA, and Gossip-AGA, which
 * adapts the period. Source: Chen et al., arXiv 2105.09080. With a period beyond the last step: D-PSGD.
 *
 * Neighbours keep pace: the models that are mixed are those of one round. Without overlap a worker that has
 * ended a step sends its model and waits for those of its neighbours: x <- sum w_ij (x_j - rate g_j). With
 * overlap, as in D-PSGD (Lian et al., arXiv 1705.09056), they are on their way beside the next step:
 * x <- sum w_ij x_j - rate g_i. The mean of all is waited for in either case. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/num.h"
#include "sim/gossip/method.h"
#include "sim/gossip/floats.h"

/* Models that have come and are not mixed yet, by round and neighbour. On a ring a neighbour can be one round
 * ahead, so two rounds are kept; on an exponential graph as many as it has, log2 of the workers, after which
 * a worker depends on all others. */
enum { MAX_ROUNDS = 18, MAX_SLOTS = MAX_ROUNDS * GOSSIP_MAX_NEIGHBOURS };

struct pga_worker {
    float *slots[MAX_SLOTS]; /* shape [n_params]; NULL: nothing has ever come here */
    bool here[MAX_SLOTS];
    struct gossip_mail mail; /* of the last round that it began */
    int64_t rounds;          /* begun */
    int64_t step;            /* steps done when it began the last one */
    bool open;               /* the last round waits for models, or for its own to arrive */
    bool fresh;              /* it is over, but the model has not changed yet */
    bool stuck;              /* the worker waits for it to be over */
};

struct pga_run {
    int64_t next;   /* step of the next mean of all */
    int64_t period; /* until the one after that */
    double loss_sum, warm_sum;
    int64_t loss_n, warm_n; /* batches since the last mean, and of the warm-up */
};

enum { SENT /* its model as a round began */, MEAN /* what the round makes of it */, N_OWN };

/* ---- rounds ---- */

static int32_t pga_slot_of(const struct gossip_cluster *c, int64_t round, int32_t place)
{
    int32_t kept = gossip_rounds(c->settings->graph, c->n_workers) + 1;
    return (int32_t)(round % kept) * GOSSIP_MAX_NEIGHBOURS + place;
}

static bool all_here(const struct gossip_cluster *c, const struct pga_worker *p)
{
    bool here = p->mail.arrived == p->mail.near.n;
    for (int32_t k = 0; k < p->mail.near.n; k++)
        here = here && p->here[pga_slot_of(c, p->rounds - 1, k)];
    return here;
}

/* Mean of the worker's own model, as it was sent, and those of its neighbours of the same round. */
static void pga_average(const struct gossip_cluster *c, struct gossip_worker *w)
{
    struct pga_worker *p = w->state;
    float *others[GOSSIP_MAX_NEIGHBOURS] = { NULL };
    for (int32_t k = 0; k < p->mail.near.n; k++) {
        int32_t slot = pga_slot_of(c, p->rounds - 1, k);
        others[k] = p->slots[slot];
        p->here[slot] = false;
    }
    floats_copy(w->own[MEAN], w->own[SENT], c->n_params);
    gossip_average(w->own[MEAN], others, p->mail.near.n, c->n_params);
}

/* The round moves the model; of a worker that has done a step since, besides that step. */
static void pga_move(const struct gossip_cluster *c, struct gossip_worker *w)
{
    struct pga_worker *p = w->state;
    if (!p->fresh)
        return;
    if (p->step == w->steps)
        floats_copy(w->x, w->own[MEAN], c->n_params);
    else
        floats_add_difference(w->x, 1, w->own[MEAN], w->own[SENT], c->n_params);
    p->fresh = false;
}

static int pga_settle(struct gossip_cluster *c, struct gossip_worker *w, struct err *e);

/* Sends the model as it is now; without overlap, or at the last step, the worker waits for the round. */
static int pga_begin_round(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    struct pga_worker *p = w->state;
    floats_copy(w->own[SENT], w->x, c->n_params);
    p->mail.near = gossip_neighbours(c->settings->graph, c->n_workers, w->id, p->rounds);
    p->mail.what = (struct gossip_transfer){ .from = w->id,
                                             .there_B = gossip_model_B(c, c->n_params),
                                             .number = (double)p->rounds };
    p->rounds++;
    p->step = w->steps;
    p->open = true;
    p->stuck = !c->setup->clock.overlap || w->steps == c->n_steps;
    if (p->stuck)
        gossip_hold(c, w);
    int rc = gossip_mail_send(c, &p->mail, e);
    return rc ? rc : pga_settle(c, w, e);
}

/* The model is that of all rounds before: to the mean of all, or into the next round. */
static int pga_go_on(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    const struct pga_run *run = c->state;
    pga_move(c, w);
    return w->steps == run->next ? gossip_meet(c, w, true, e) : pga_begin_round(c, w, e);
}

/* Is the round over? */
static int pga_settle(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    struct pga_worker *p = w->state;
    int rc = 0;
    if (!p->open || !all_here(c, p))
        return 0;
    pga_average(c, w);
    p->open = false;
    p->fresh = true;
    if (!p->stuck)
        return 0;
    p->stuck = false;
    if (p->step == w->steps)
        pga_move(c, w);
    else
        rc = pga_go_on(c, w, e);
    gossip_release(c, w);
    return rc;
}

/* ---- hooks ---- */

static int pga_start(struct gossip_cluster *c, struct err *e)
{
    struct pga_run *run = c->state;
    (void)e;
    run->next = run->period = c->settings->period;
    return 0;
}

/* A step done while a round is open holds the worker until the round ends. */
static int pga_after(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    struct pga_worker *p = w->state;
    struct pga_run *run = c->state;
    run->loss_sum += w->loss;
    run->loss_n++;
    if (!p->open)
        return pga_go_on(c, w, e);
    p->stuck = true;
    gossip_hold(c, w);
    return 0;
}

/* What a round sends is the model it began with, however long the way was taken. */
static int pga_begin(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e)
{
    if (t->to == GOSSIP_ALL)
        return gossip_take(c, t, e);
    return gossip_carry(c, &t->there, c->workers[t->from].own[SENT], e);
}

/* Keep what has come, and give its room for what was there before. */
static void pga_keep(const struct gossip_cluster *c, struct gossip_transfer *t)
{
    struct pga_worker *p = c->workers[t->to].state;
    int64_t round = (int64_t)t->number;
    struct gossip_neighbours near = gossip_neighbours(c->settings->graph, c->n_workers, t->to, round);
    int32_t slot = pga_slot_of(c, round, gossip_neighbour_place(&near, t->from));
    float *room = p->slots[slot];
    assert(!p->here[slot]);
    p->slots[slot] = t->there;
    p->here[slot] = true;
    t->there = room;
}

/* A neighbour's model may be the last one that either side was waiting for. */
static int pga_end(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e)
{
    if (t->to == GOSSIP_ALL)
        return 0;
    struct gossip_worker *from = &c->workers[t->from], *to = &c->workers[t->to];
    struct pga_worker *sender = from->state;
    pga_keep(c, t);
    int rc = gossip_mail_arrived(c, &sender->mail, e);
    if (!rc)
        rc = pga_settle(c, from, e);
    return rc ? rc : pga_settle(c, to, e);
}

static int gather_every_period(struct gossip_cluster *c, struct err *e)
{
    struct pga_run *run = c->state;
    run->next = gossip_step_after(run->next, run->period);
    return gossip_gather(c, c->n_params, 0, e);
}

const struct gossip_method gossip_pga = {
    .name = "gossip-pga",
    .help = "gossip with neighbours every step, and the mean of all models every period",
    .uses = GOSSIP_FOR_PERIOD | GOSSIP_FOR_GRAPH,
    .period = 16,
    .meets = true,
    .run_size = sizeof(struct pga_run),
    .worker_size = sizeof(struct pga_worker),
    .n_own = N_OWN,
    .start = pga_start,
    .after = pga_after,
    .meet = gather_every_period,
    .begin = pga_begin,
    .end = pga_end,
};

/* ---- the adaptive period ---- */

/* ceil((first / loss)^power * period), cut to 1 .. cap. */
static int64_t adapted(const struct gossip_settings *s, double first, double loss)
{
    double x = s->power * elementary_log(fmin(fmax(first / fmax(loss, 1e-300), 1e-300), 1e300));
    elementary_exp(&x, 1);
    return gossip_cut_period(ceil(x * (double)s->period), s->cap);
}

/* The loss is that of all batches since the last mean of models, and the first loss that of all batches of
 * the warm-up, which ends at the first mean after switch_frac of the steps; both are this project's
 * choice. */
static int gather_adapted(struct gossip_cluster *c, struct err *e)
{
    const struct gossip_settings *s = c->settings;
    struct pga_run *run = c->state;
    if (!run->warm_n || (double)run->next <= s->switch_frac * (double)c->n_steps) {
        run->warm_sum += run->loss_sum;
        run->warm_n += run->loss_n;
    } else {
        run->period = adapted(s, run->warm_sum / (double)run->warm_n, run->loss_sum / (double)run->loss_n);
    }
    run->loss_sum = 0;
    run->loss_n = 0;
    return gather_every_period(c, e);
}

const struct gossip_method gossip_aga = {
    .name = "gossip-aga",
    .help = "gossip-pga whose period grows as the loss falls",
    .uses = GOSSIP_FOR_PERIOD | GOSSIP_FOR_GRAPH | GOSSIP_FOR_CAP | GOSSIP_FOR_SWITCH | GOSSIP_FOR_POWER,
    .period = 4,
    .meets = true,
    .run_size = sizeof(struct pga_run),
    .worker_size = sizeof(struct pga_worker),
    .n_own = N_OWN,
    .check = gossip_check_cap,
    .start = pga_start,
    .after = pga_after,
    .meet = gather_adapted,
    .begin = pga_begin,
    .end = pga_end,
};
