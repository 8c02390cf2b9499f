/* Local SGD whose period changes as it goes: AdaComm by the loss, ADPSGD by how far workers are apart.
 *
 * What a choice needs, a number of each worker, is taken as sent along with the average: no traffic is
 * counted for it. With overlap a worker may be on its way to the meeting after the one that averages now, so
 * a choice is for the period after that: all workers meet after the same steps. Both are this project's
 * choice. */
#include "sim/gossip/method.h"

#include <math.h>

#include "sim/gossip/floats.h"

/* ---- rules ---- */

int64_t gossip_cut_period(double period, int64_t cap)
{
    return period < (double)cap ? (int64_t)fmax(period, 1) : cap;
}

int64_t gossip_step_after(int64_t step, int64_t period)
{
    return period > INT64_MAX - step ? INT64_MAX : step + period;
}

int64_t gossip_adacomm_period(const struct gossip_adacomm *a, int64_t cap)
{
    double period = ceil(sqrt(a->rate_0 / a->rate * (a->loss / a->loss_0)) * (double)a->period_0);
    bool same_rate = a->rate == a->rate_before;
    if (isnan(period) || (same_rate && period >= (double)a->period))
        period = ceil((double)a->period / 2);
    return gossip_cut_period(period, cap);
}

int64_t gossip_variance_period(int64_t period, double spread, double target, int64_t cap)
{
    int64_t change = (spread < 0.7 * target) - (spread > 1.3 * target);
    return gossip_cut_period((double)(period + change), cap);
}

/* ---- meetings ---- */

struct adapt_state {
    int64_t period;
    int64_t at;   /* steps after which workers meet; all have met before that */
    int64_t next; /* and after that, where it is known already: with overlap */
    double due_s; /* adacomm: when the period is to change */
    double rate;  /* adacomm: when it was chosen last */
    double sum;   /* adacomm: of losses since the last average; variance: of spreads during warm-up */
    int64_t n;
};

static int adapt_start(struct gossip_cluster *c, struct err *e)
{
    struct adapt_state *s = c->state;
    (void)e;
    s->period = s->at = c->settings->period;
    s->next = gossip_step_after(s->at, s->period);
    return 0;
}

static int adapt_after(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    const struct adapt_state *s = c->state;
    bool overlap = c->setup->clock.overlap;
    if (w->steps != s->at && !(overlap && w->steps == s->next))
        return 0;
    return gossip_meet(c, w, !overlap, e);
}

static int adapt_meet(struct gossip_cluster *c, struct err *e)
{
    return gossip_gather(c, c->n_params, 0, e);
}

/* The period has been chosen, and the average of this meeting is on its way. */
static void schedule(struct gossip_cluster *c)
{
    struct adapt_state *s = c->state;
    if (c->setup->clock.overlap) {
        s->at = s->next;
        s->next = gossip_step_after(s->next, s->period);
    } else {
        s->at = gossip_step_after(s->at, s->period);
    }
}

/* ---- AdaComm ---- */

static double interval_s(const struct gossip_cluster *c)
{
    double given_s = c->settings->interval_s;
    return isnan(given_s) ? (double)c->n_steps * c->setup->clock.step_s / 20 : given_s;
}

static int start_adacomm(struct gossip_cluster *c, struct err *e)
{
    struct adapt_state *s = c->state;
    s->due_s = interval_s(c);
    s->rate = gossip_rate(c, 0);
    return adapt_start(c, e);
}

static int after_adacomm(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    struct adapt_state *s = c->state;
    s->sum += w->loss;
    s->n++;
    return adapt_after(c, w, e);
}

/* Of all batches since the average before: one batch of each worker would be noise, a whole interval would be
 * late. This project's choice. */
static double recent_loss(struct gossip_cluster *c)
{
    struct adapt_state *s = c->state;
    double mean = s->sum / (double)s->n;
    s->sum = 0;
    s->n = 0;
    return mean;
}

/* At the first average after each interval of simulated time. (Paddle's adaptive_localsgd, which has the
 * same source, chooses at every average and has the first period inside the root.) */
static int begin_adacomm(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e)
{
    struct adapt_state *s = c->state;
    double loss = recent_loss(c), rate = gossip_rate(c, s->at);
    if (c->now_s >= s->due_s) {
        s->period = gossip_adacomm_period(&(struct gossip_adacomm){ .period_0 = c->settings->period,
                                                                    .period = s->period,
                                                                    .rate_0 = gossip_rate(c, 0),
                                                                    .rate_before = s->rate,
                                                                    .rate = rate,
                                                                    .loss_0 = c->first_loss,
                                                                    .loss = loss },
                                          c->settings->cap);
        s->rate = rate;
        s->due_s = fmax(s->due_s + interval_s(c), c->now_s);
    }
    schedule(c);
    return gossip_take(c, t, e);
}

const struct gossip_method gossip_adacomm = {
    .name = "adacomm",
    .help = "local SGD that meets more often as the loss falls",
    .uses = GOSSIP_FOR_PERIOD | GOSSIP_FOR_CAP | GOSSIP_FOR_INTERVAL,
    .period = 16,
    .meets = true,
    .run_size = sizeof(struct adapt_state),
    .check = gossip_check_cap,
    .start = start_adacomm,
    .after = after_adacomm,
    .meet = adapt_meet,
    .begin = begin_adacomm,
};

/* ---- variance ---- */

/* Mean over workers of |x - mean|^2, of what they brought. */
static double model_spread(const struct gossip_cluster *c, const float *mean)
{
    double sum = 0;
    for (int32_t i = 0; i < c->n_workers; i++)
        sum += floats_distance2(c->workers[i].given, mean, c->n_params);
    return sum / c->n_workers;
}

/* The period stays during the first switch_frac of the steps, which say what spread is usual. */
static int begin_variance(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e)
{
    struct adapt_state *s = c->state;
    int rc = gossip_take(c, t, e);
    if (rc)
        return rc;
    double spread = model_spread(c, t->there) / gossip_rate(c, s->at - 1);
    bool warm = s->n > 0 && (double)s->at > c->settings->switch_frac * (double)c->n_steps;
    if (warm) {
        s->period = gossip_variance_period(s->period, spread, s->sum / (double)s->n, c->settings->cap);
    } else {
        s->sum += spread;
        s->n++;
    }
    schedule(c);
    return 0;
}

const struct gossip_method gossip_variance = {
    .name = "variance",
    .help = "local SGD that keeps the variance of models over the rate",
    .uses = GOSSIP_FOR_PERIOD | GOSSIP_FOR_CAP | GOSSIP_FOR_SWITCH,
    .period = 4,
    .meets = true,
    .run_size = sizeof(struct adapt_state),
    .check = gossip_check_cap,
    .start = adapt_start,
    .after = adapt_after,
    .meet = adapt_meet,
    .begin = begin_variance,
};
