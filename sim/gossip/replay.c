/*
 * Logs of runs, the method that does what is in one, and the bandwidth that a run needs, found by such
 * replays.
 */
#include "sim/gossip/replay.h"

#include <math.h>
#include <stdlib.h>

#include "base/vec.h"
#include "sim/gossip/run.h"

/* ---- logs ---- */

/* Start, then workers, then beginning, end and meeting of each number. */
static int64_t number_of(const struct gossip_log *log, const struct gossip_cause *why)
{
    switch (why->kind) {
    case GOSSIP_AT_START:
        return 0;
    case GOSSIP_AT_STEP:
        return 1 + why->id;
    case GOSSIP_AT_BEGIN:
    case GOSSIP_AT_END:
    case GOSSIP_AT_MEETING:
        break;
    }
    return 1 + log->n_workers + 3 * (int64_t)why->id + ((int64_t)why->kind - GOSSIP_AT_BEGIN);
}

static int64_t n_causes(const struct gossip_log *log)
{
    int32_t n = log->n_exchanges > log->n_meetings ? log->n_exchanges : log->n_meetings;
    return number_of(log, &(struct gossip_cause){ .kind = GOSSIP_AT_BEGIN, .id = n });
}

void gossip_log_begin(struct gossip_log *log, uint64_t seed, int32_t n_workers, int64_t n_steps,
                      double model_B)
{
    log->seed = seed;
    log->n_workers = n_workers;
    log->n_steps = n_steps;
    log->model_B = model_B;
}

/* Lack of memory is remembered and reported at the end: logging happens in the middle of hooks. */
void gossip_log_add(struct gossip_log *log, const struct gossip_cause *why, const struct gossip_ask *ask)
{
    if (log->no_memory)
        return;
    if (!vec_reserve(log->asks, log->cap, log->n + 1)) {
        log->no_memory = true;
        return;
    }
    struct gossip_ask *a = &log->asks[log->n++];
    *a = *ask;
    a->cause = number_of(log, why);
    a->step = why->step;
    a->next = -1;
}

/* Requests are chained by their cause, in order: a replay asks for what a cause led to. */
int gossip_log_end(struct gossip_log *log, struct err *e)
{
    int64_t n = n_causes(log);
    log->first = log->no_memory ? NULL : malloc((size_t)n * sizeof *log->first);
    if (!log->first)
        return err_nomem(e, "a log of exchanges");
    for (int64_t i = 0; i < n; i++)
        log->first[i] = -1;
    for (int64_t i = log->n - 1; i >= 0; i--) {
        struct gossip_ask *a = &log->asks[i];
        a->next = log->first[a->cause];
        log->first[a->cause] = i;
    }
    log->whole = true;
    return 0;
}

void gossip_log_free(struct gossip_log *log)
{
    free(log->asks);
    free(log->first);
    *log = (struct gossip_log){ 0 };
}

/* ---- the method ---- */

struct replay {
    int64_t *at;    /* shape [n_workers], owned: next ask of each worker's steps, -1: none */
    int64_t *late;  /* shape [n_workers], owned: first ask whose cause has come before its worker's steps */
    int64_t *later; /* shape [n asks], owned: the one behind it, -1: none */
    double scale;   /* bytes per byte of the run */
    int32_t n_met;
};

/* The same request with bytes scaled to the model that is asked about. */
static int ask_again(struct gossip_cluster *c, const struct gossip_ask *a, struct err *e)
{
    const struct replay *r = c->state;
    switch (a->kind) {
    case GOSSIP_ASK_SEND:
        return gossip_send(c,
                           &(struct gossip_transfer){ .from = a->from,
                                                      .to = a->to,
                                                      .there_B = a->there_B * r->scale,
                                                      .back_B = a->back_B * r->scale,
                                                      .holds_from = a->holds_from,
                                                      .holds_to = a->holds_to,
                                                      .always_holds = a->always_holds,
                                                      .tag = a->serial },
                           e);
    case GOSSIP_ASK_MEET:
        return gossip_meet(c, &c->workers[a->from], a->waits, e);
    case GOSSIP_ASK_GATHER:
        return gossip_gather(c, a->there_B, a->serial, e);
    case GOSSIP_ASK_PART:
        return gossip_part(c, e);
    case GOSSIP_ASK_HOLD:
        gossip_hold(c, &c->workers[a->from]);
        break;
    case GOSSIP_ASK_RELEASE:
        gossip_release(c, &c->workers[a->from]);
        break;
    case GOSSIP_ASK_SKIP:
        gossip_skip(c, &c->workers[a->from]);
        break;
    }
    return 0;
}

/* Put it behind others that wait for steps of its worker. */
static void put_off(struct replay *r, int64_t i, int32_t worker)
{
    int64_t *link = &r->late[worker];
    while (*link >= 0)
        link = &r->later[*link];
    *link = i;
    r->later[i] = -1;
}

static int ask_if_done(struct gossip_cluster *c, int64_t i, struct err *e)
{
    const struct gossip_ask *a = &c->engine->replayed->asks[i];
    if (a->from < 0 || c->workers[a->from].steps >= a->done)
        return ask_again(c, a, e);
    put_off(c->state, i, a->from);
    return 0;
}

/* What waits for the step that @p w has done. */
static int ask_late(struct gossip_cluster *c, const struct gossip_worker *w, struct err *e)
{
    const struct gossip_log *log = c->engine->replayed;
    struct replay *r = c->state;
    int64_t *link = &r->late[w->id];
    int rc = 0;
    while (*link >= 0 && !rc) {
        int64_t i = *link;
        if (log->asks[i].done > w->steps) {
            link = &r->later[i];
            continue;
        }
        *link = r->later[i];
        rc = ask_again(c, &log->asks[i], e);
        link = &r->late[w->id]; /* what was asked may have put off more */
    }
    return rc;
}

static int ask_all(struct gossip_cluster *c, enum gossip_cause_kind kind, int32_t id, struct err *e)
{
    const struct gossip_log *log = c->engine->replayed;
    int64_t i = log->first[number_of(log, &(struct gossip_cause){ .kind = kind, .id = id })];
    int rc = 0;
    for (; i >= 0 && !rc; i = log->asks[i].next)
        rc = ask_if_done(c, i, e);
    return rc;
}

/* No model is trained: steps take their time, causes trigger their requests. */
static int replay_start(struct gossip_cluster *c, struct err *e)
{
    const struct gossip_log *log = c->engine->replayed;
    struct replay *r = c->state;
    r->scale = gossip_model_B(c, c->n_params) / log->model_B;
    r->at = malloc((size_t)c->n_workers * sizeof *r->at);
    r->late = malloc((size_t)c->n_workers * sizeof *r->late);
    r->later = malloc((size_t)log->n * sizeof *r->later + 1);
    if (!r->at || !r->late || !r->later)
        return err_nomem(e, "a replay");
    for (int32_t i = 0; i < c->n_workers; i++) {
        r->late[i] = -1;
        r->at[i] = log->first[number_of(log, &(struct gossip_cause){ .kind = GOSSIP_AT_STEP, .id = i })];
    }
    return ask_all(c, GOSSIP_AT_START, 0, e);
}

static void learn_nothing(struct gossip_cluster *c, struct gossip_worker *w)
{
    (void)c;
    (void)w;
}

/* What a step led to in the original run, unless something it waited for is still under way. */
static int replay_after(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    const struct gossip_log *log = c->engine->replayed;
    int64_t *at = &((struct replay *)c->state)->at[w->id];
    int rc = 0;
    while (*at >= 0 && log->asks[*at].step == w->steps && !rc) {
        int64_t i = *at;
        *at = log->asks[i].next;
        rc = ask_if_done(c, i, e);
    }
    return rc ? rc : ask_late(c, w, e);
}

static int replay_meet(struct gossip_cluster *c, struct err *e)
{
    struct replay *r = c->state;
    return ask_all(c, GOSSIP_AT_MEETING, r->n_met++, e);
}

static int replay_begin(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e)
{
    return ask_all(c, GOSSIP_AT_BEGIN, t->tag, e);
}

static void mix_nothing(struct gossip_cluster *c, struct gossip_transfer *t)
{
    (void)c;
    (void)t;
}

static int replay_end(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e)
{
    return ask_all(c, GOSSIP_AT_END, t->tag, e);
}

static void free_replay(struct gossip_cluster *c)
{
    struct replay *r = c->state;
    free(r->at);
    free(r->late);
    free(r->later);
}

const struct gossip_method gossip_replayer = {
    .name = "replay",
    .help = "what a run asked of the network",
    .clock_only = true,
    .run_size = sizeof(struct replay),
    .start = replay_start,
    .step = learn_nothing,
    .after = replay_after,
    .meet = replay_meet,
    .begin = replay_begin,
    .mix = mix_nothing,
    .end = replay_end,
    .free = free_replay,
};

int gossip_replay(struct gossip_result *out, const struct gossip_log *log, const struct gossip_setup *setup,
                  struct err *e)
{
    const struct gossip_wish nothing = { 0 };
    *out = (struct gossip_result){ .diverged_step = -1 };
    if (!log->whole)
        return err_set(e, ERR_RANGE, "log: has no whole run, need one that did not diverge");
    return gossip_run_as(out, setup, &(struct gossip_how){ .replayed = log }, log->seed, &nothing, e);
}

static const double LEAST = 1e-6, MOST = 1e6, ENDLESS = 1e12, WIDTH = 1.01;

/* The run's time if every dimension had @p share of its bandwidth. */
static int replay_time_at(double *time_s, double share, const struct gossip_log *log,
                          const struct gossip_setup *setup, struct err *e)
{
    struct gossip_fabric fabric = *setup->fabric;
    struct gossip_setup there = *setup;
    struct gossip_result r;
    fabric.share = share;
    there.fabric = &fabric;
    int rc = gossip_replay(&r, log, &there, e);
    *time_s = r.time_s;
    gossip_result_free(&r);
    return rc;
}

/* out->share is too much or just enough, and `low` too little. */
static int replay_bisect(struct gossip_need *out, double low, const struct gossip_log *log,
                         const struct gossip_setup *setup, struct err *e)
{
    int rc = 0;
    while (out->share > WIDTH * low && !rc) {
        double share = sqrt(low * out->share), time_s;
        rc = replay_time_at(&time_s, share, log, setup, e);
        if (time_s <= out->limit_s) {
            out->share = share;
            out->time_s = time_s;
        } else {
            low = share;
        }
    }
    return rc;
}

static int find_share(struct gossip_need *out, const struct gossip_log *log, const struct gossip_setup *setup,
                      struct err *e)
{
    int rc = replay_time_at(&out->time_s, LEAST, log, setup, e);
    if (rc || out->time_s <= out->limit_s)
        return rc; /* share 0 */
    rc = replay_time_at(&out->time_s, MOST, log, setup, e);
    out->share = out->time_s <= out->limit_s ? MOST : (double)INFINITY;
    return rc || isinf(out->share) ? rc : replay_bisect(out, LEAST, log, setup, e);
}

/* The bandwidth at which the run takes wait_frac longer than with endless bandwidth. Which exchanges happen
 * is kept from the logged run; only their times change. */
int gossip_need(struct gossip_need *out, const struct gossip_log *log, const struct gossip_setup *setup,
                double wait_frac, struct err *e)
{
    const struct gossip_fabric *f = setup->fabric;
    *out = (struct gossip_need){ 0 };
    if (!(wait_frac > 0 && isfinite(wait_frac)))
        return err_set(e, ERR_RANGE, "wait_frac is %g, need > 0", wait_frac);
    int rc = replay_time_at(&out->free_s, ENDLESS, log, setup, e);
    out->limit_s = (1 + wait_frac) * out->free_s;
    if (!rc)
        rc = find_share(out, log, setup, e);
    for (int32_t d = 0; d < f->net.n_dims && !rc; d++)
        if (gossip_fabric_shares(f, d))
            out->bw_Bps += f->net.dims[d].bw_Bps * out->share;
    return rc;
}
