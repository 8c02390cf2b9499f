/*
 * A run of a method, from workers with equal models to what it comes to.
 *
 * Workers are set up, step, and wait; all that happens at one time happens in one order: steps that end,
 * by worker, before what happens on the wire (exchange.c). Every draw has a stream of its own of the run's
 * seed, so that a method that draws less changes nothing for others.
 * Then logs of runs, the method that does what is in one, and the bandwidth that a run needs, found by such
 * replays.
 */
#include "sim/gossip/run.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/vec.h"
#include "base/work.h"
#include "sim/gossip/replay.h"
#include "sim/gossip/floats.h"

/* Streams of a seed; data and shards have lower ones. */
enum { STREAM_MODEL = 1 << 10, STREAM_WORKERS = 1 << 11 };

/* ---- workers: setting up ---- */

static float *new_vector(struct gossip_cluster *c)
{
    return ARENA_TAKE(&c->arena, c->n_params, float);
}

/* n of them, each zero. */
static float **new_vectors(struct gossip_cluster *c, int32_t n)
{
    float **v = ARENA_TAKE(&c->arena, n, *v);
    for (int32_t i = 0; i < n && v; i++)
        v[i] = new_vector(c);
    return v;
}

/* Streams of random numbers by worker and purpose, so that methods that draw less leave the others as they
 * are. */
static int fill_worker(struct gossip_worker *w, struct gossip_cluster *c, int32_t id, uint64_t seed,
                       struct err *e)
{
    const struct gossip_method *m = c->method;
    bool learns = !m->clock_only;
    int rc = 0;
    w->id = id;
    w->state = arena_take(&c->arena, 1, m->worker_size + 1);
    for (uint64_t k = 0; k < N_GOSSIP_STREAMS && !rc; k++)
        if (learns || k == GOSSIP_DRAW_STEPS)
            rc = rng_build(&w->draws[k], seed, STREAM_WORKERS + (uint64_t)id * N_GOSSIP_STREAMS + k, e);
    if (rc || !learns)
        return rc;
    w->x = new_vector(c);
    w->g = new_vector(c);
    w->given = m->meets ? new_vector(c) : NULL;
    w->memory.v = new_vector(c);
    w->memory.s = new_vector(c);
    w->own = new_vectors(c, m->n_own);
    w->order = c->engine->order + c->setup->shards->first[id];
    w->at = INT64_MAX; /* the first batch begins an epoch */
    return 0;
}

static int build_workers(struct gossip_cluster *c, uint64_t seed, struct err *e)
{
    int rc = 0;
    c->n_workers = c->setup->shards->n_workers;
    for (int32_t i = 0; i < c->n_workers && !rc; i++)
        rc = fill_worker(&c->workers[i], c, i, seed, e);
    return rc ? rc : arena_check(&c->arena, "models of workers", e);
}

/* All workers start from the same model, as the methods assume. */
static int draw_models(struct gossip_cluster *c, uint64_t seed, struct err *e)
{
    struct rng *r;
    int rc = rng_build(&r, seed, STREAM_MODEL, e);
    if (rc)
        return rc;
    gossip_net_draw(c->workers[0].x, c->net, r);
    for (int32_t i = 1; i < c->n_workers; i++)
        floats_copy(c->workers[i].x, c->workers[0].x, c->n_params);
    rng_free(r);
    return 0;
}

static int64_t smallest_shard(const struct gossip_shards *s)
{
    int64_t least = INT64_MAX;
    for (int32_t i = 0; i < s->n_workers; i++)
        least = s->first[i + 1] - s->first[i] < least ? s->first[i + 1] - s->first[i] : least;
    return least;
}

static void count_steps(struct gossip_cluster *c)
{
    const struct gossip_learning *l = &c->setup->learning;
    int64_t shard = smallest_shard(c->setup->shards);
    c->engine->batch_size = (int32_t)(l->batch < shard ? l->batch : shard);
    double n = floor(l->epochs * floor((double)shard / c->engine->batch_size));
    c->n_steps = n < 1 ? 1 : (int64_t)n;
    c->engine->steps_all = c->n_steps * c->setup->shards->n_workers;
}

/* The loop's own state: logs, order of examples, and the buffers of one batch, which all workers share. */
static int build_engine(struct gossip_cluster *c, const struct gossip_how *how, struct err *e)
{
    size_t n = (size_t)c->setup->train[0]->n;
    struct gossip_engine *g = c->engine = ARENA_TAKE(&c->arena, 1, *g);
    int rc = arena_check(&c->arena, "a run", e);
    if (rc)
        return rc;
    g->diverged_step = -1;
    g->log = how->log;
    g->replayed = how->replayed;
    count_steps(c);
    if (c->method->clock_only)
        return 0;
    g->order = ARENA_TAKE(&c->arena, n, *g->order);
    if ((rc = arena_check(&c->arena, "examples of workers", e)))
        return rc;
    memcpy(g->order, c->setup->shards->order, n * sizeof *g->order);
    return gossip_pass_build(&g->pass, c->net, g->batch_size, e);
}

/* The run that is followed had the same workers and steps. */
static int check_log(const struct gossip_cluster *c, const struct gossip_log *log, struct err *e)
{
    int32_t n = c->setup->shards->n_workers;
    if (log->n_workers == n && log->n_steps == c->n_steps)
        return 0;
    return err_set(e, ERR_RANGE, "log: is of %d workers and %lld steps, expected %d and %lld", log->n_workers,
                   (long long)log->n_steps, n, (long long)c->n_steps);
}

static int begin_log(struct gossip_cluster *c, const struct gossip_how *how, uint64_t seed, struct err *e)
{
    if (how->log)
        gossip_log_begin(how->log, seed, c->setup->shards->n_workers, c->n_steps,
                         gossip_model_B(c, c->n_params));
    return how->replayed ? check_log(c, how->replayed, e) : 0;
}

/* A replay runs the method "replayer", which trains nothing. The method's check comes before any memory is
 * taken. */
int gossip_cluster_build(struct gossip_cluster *c, const struct gossip_setup *setup,
                         const struct gossip_how *how, uint64_t seed, struct err *e)
{
    const struct gossip_settings *settings = how->settings;
    const struct gossip_method *m = how->replayed ? &gossip_replayer : gossip_methods[settings->method];
    *c = (struct gossip_cluster){ .setup = setup,
                                  .settings = settings,
                                  .method = m,
                                  .net = setup->net,
                                  .n_params = setup->net->n_params,
                                  .first_loss = NAN };
    int rc = m->check ? m->check(settings, setup, e) : 0;
    if (!rc)
        rc = build_engine(c, how, e);
    if (!rc)
        rc = begin_log(c, how, seed, e);
    if (rc)
        return rc;
    c->state = arena_take(&c->arena, 1, m->run_size + 1);
    c->shared = new_vectors(c, m->n_shared);
    c->workers = ARENA_TAKE(&c->arena, setup->shards->n_workers, *c->workers);
    c->engine->ready = ARENA_TAKE(&c->arena, setup->shards->n_workers, *c->engine->ready);
    if ((rc = arena_check(&c->arena, "workers", e)))
        return rc;
    rc = build_workers(c, seed, e);
    if (!rc && !m->clock_only)
        rc = draw_models(c, seed, e);
    if (!rc)
        rc = gossip_wire_build(&c->wire, setup->fabric, e);
    return rc || !m->start ? rc : m->start(c, e);
}

/* Safe after a failed build. */
void gossip_cluster_free(struct gossip_cluster *c)
{
    for (int32_t i = 0; i < c->n_workers; i++)
        for (int32_t k = 0; k < N_GOSSIP_STREAMS; k++)
            rng_free(c->workers[i].draws[k]);
    gossip_wire_free(c->wire);
    if (c->engine) {
        free(c->engine->slots);
        free(c->engine->rooms);
        gossip_pass_free(c->engine->pass);
        event_heap_free(&c->engine->clock);
    }
    arena_free(&c->arena);
    *c = (struct gossip_cluster){ 0 };
}

/* ---- steps ---- */

void gossip_ready(struct gossip_cluster *c, struct gossip_worker *w)
{
    if (!w->ready)
        c->engine->ready[c->engine->n_ready++] = w->id;
    w->ready = true;
}

/* (1 + cos(pi t)) / 2 = cos^2(pi t / 2), t in [0, 1], by the series of the cosine: libm's differs in the last
 * bit between processors. Term 13 is below 1e-16. */
static double half_cosine(double t)
{
    const double quarter = 1.57079632679489661923;
    double square = quarter * t * (quarter * t), term = 1, sum = 1;
    for (int32_t k = 2; k <= 26; k += 2) {
        term *= -square / ((k - 1) * k);
        sum += term;
    }
    return sum * sum;
}

double gossip_rate(const struct gossip_cluster *c, int64_t step)
{
    const struct gossip_learning *l = &c->setup->learning;
    double done = (double)step / (double)c->n_steps, rate = l->rate;
    if (l->schedule == GOSSIP_RATE_COSINE)
        return rate * half_cosine(done);
    for (int32_t i = 0; i < l->n_decays && l->schedule == GOSSIP_RATE_STEPS; i++)
        rate *= done >= l->decay_at[i] ? l->decay : 1;
    return rate;
}

void gossip_update(struct gossip_cluster *c, struct gossip_worker *w)
{
    const struct gossip_learning *l = &c->setup->learning;
    gossip_optimize(w->x, w->g, &w->memory,
                    &(struct gossip_update){ .kind = l->optimizer,
                                             .rate = gossip_rate(c, w->steps),
                                             .momentum = l->momentum,
                                             .weight_decay = l->weight_decay },
                    c->n_params);
}

void gossip_keep_gradient(struct gossip_cluster *c, struct gossip_worker *w)
{
    (void)c;
    (void)w;
}

double gossip_model_B(const struct gossip_cluster *c, double n)
{
    double model_B = c->setup->model_B;
    return model_B > 0 ? model_B * (n / c->n_params) : n * sizeof(float);
}

/* The next examples of a worker; those that do not fill a batch at the end of an epoch are left out. */
static const int64_t *next_batch(struct gossip_cluster *c, struct gossip_worker *w)
{
    const struct gossip_shards *s = c->setup->shards;
    int64_t n = s->first[w->id + 1] - s->first[w->id];
    if (w->at > n - c->engine->batch_size) {
        for (int64_t i = n - 1; i > 0; i--) {
            int64_t k = rng_below(w->draws[GOSSIP_DRAW_BATCHES], i + 1), swap = w->order[i];
            w->order[i] = w->order[k];
            w->order[k] = swap;
        }
        w->at = 0;
    }
    w->at += c->engine->batch_size;
    return w->order + w->at - c->engine->batch_size;
}

static double draw_step_s(const struct gossip_cluster *c, struct gossip_worker *w)
{
    const struct gossip_clock *k = &c->setup->clock;
    struct rng *r = w->draws[GOSSIP_DRAW_STEPS];
    double u = rng_uniform(r), pause = rng_uniform(r);
    double s = k->step_s * (1 - k->jitter - k->jitter * elementary_log(1 - u));
    s *= w->id >= c->n_workers - k->n_slow ? k->slowdown : 1;
    return pause < k->pause_prob ? s * k->pause_factor : s;
}

/* Losses of the window (for curves), of everybody's first step (for AdaComm) and of the last tenth
 * (reported). */
static void note_loss(struct gossip_cluster *c, const struct gossip_worker *w)
{
    struct gossip_engine *g = c->engine;
    g->window_sum += w->loss;
    g->window_n++;
    if (w->steps == 0) {
        g->first_sum += w->loss;
        g->first_n++;
        if (g->first_n == c->n_workers)
            c->first_loss = g->first_sum / (double)g->first_n;
    }
    if (10 * (w->steps + 1) > 9 * c->n_steps) {
        g->tail_sum += w->loss;
        g->tail_n++;
    }
}

/* The gradient of the next batch. False: the loss is no number. */
static bool worker_learn(struct gossip_cluster *c, struct gossip_worker *w)
{
    struct gossip_engine *g = c->engine;
    if (c->method->clock_only)
        return true;
    bool drifted = (double)w->steps >= c->setup->drift_at * (double)c->n_steps;
    w->loss = gossip_gradient(w->g, w->x, c->net, c->setup->train[drifted], next_batch(c, w), g->batch_size,
                              g->pass);
    if (isfinite(w->loss))
        note_loss(c, w);
    else if (g->diverged_step < 0)
        g->diverged_step = w->steps;
    return isfinite(w->loss);
}

/* w has nothing that holds it: begin its next step, if there is one. */
static int worker_go(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    if (w->holds > 0 || w->computes)
        return 0;
    w->wait_s += c->now_s - w->idle_s;
    w->idle_s = c->now_s;
    if (w->steps >= c->n_steps || (c->setup->clock.stale && !worker_learn(c, w)))
        return 0;
    double step_s = draw_step_s(c, w);
    w->computes = true;
    w->compute_s += step_s;
    return event_heap_set(&c->engine->clock, w->id, c->now_s + step_s, e);
}

/* Workers that may compute start here and not where they were freed, so that all that happens at an instant
 * is settled first. */
int gossip_go_ready(struct gossip_cluster *c, struct err *e)
{
    struct gossip_engine *g = c->engine;
    int rc = 0;
    for (int32_t i = 0; i < g->n_ready && !rc; i++) {
        struct gossip_worker *w = &c->workers[g->ready[i]];
        w->ready = false;
        rc = worker_go(c, w, e);
    }
    g->n_ready = 0;
    return rc;
}

/* A step of compute is over: learn, let the method act on the step, then perhaps exchange. */
int gossip_step_done(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    w->computes = false;
    w->idle_s = c->now_s;
    if (!c->setup->clock.stale && !worker_learn(c, w))
        return 0;
    c->engine->cause = (struct gossip_cause){ GOSSIP_AT_STEP, w->id, w->steps + 1 };
    if (c->method->step)
        c->method->step(c, w);
    else
        gossip_update(c, w);
    w->steps++;
    c->engine->steps_done++;
    gossip_ready(c, w);
    return c->method->after ? c->method->after(c, w, e) : 0;
}

/* ---- models together ---- */

static int models_average(float *mean, const struct gossip_cluster *c, struct err *e)
{
    float **x = malloc((size_t)c->n_workers * sizeof *x);
    if (!x)
        return err_nomem(e, "models of workers");
    for (int32_t i = 0; i < c->n_workers; i++)
        x[i] = c->workers[i].x;
    floats_mean(mean, x, c->n_workers, c->n_params);
    free(x);
    return 0;
}

/* Of the concept that the workers see now, by the mean of their steps. */
static const struct gossip_data *test_now(const struct gossip_cluster *c)
{
    double at = c->setup->drift_at;
    bool drifted = at < 1 && (double)c->engine->steps_done >= at * (double)c->engine->steps_all;
    return c->setup->test[drifted];
}

/* ---- what is noted on the way ---- */

static int average_accuracy(double *accuracy, struct gossip_cluster *c, struct err *e)
{
    float *mean = malloc((size_t)c->n_params * sizeof *mean);
    int rc = mean ? models_average(mean, c, e) : err_nomem(e, "a mean of models");
    if (!rc)
        *accuracy = gossip_accuracy(mean, c->net, test_now(c), c->engine->pass);
    free(mean);
    return rc;
}

/* A point of the learning curve. Accuracy is measured for every fifth only, as it costs a pass over the test
 * set. */
static int curve_add_point(struct gossip_cluster *c, struct gossip_result *out, bool accuracy, struct err *e)
{
    struct gossip_engine *g = c->engine;
    double last_loss = out->n_curve ? out->curve[out->n_curve - 1].loss : (double)NAN;
    struct gossip_curve_point *p = &out->curve[out->n_curve++];
    *p = (struct gossip_curve_point){ .time_s = c->now_s,
                                      .steps = g->steps_done,
                                      .loss = g->window_n ? g->window_sum / (double)g->window_n : last_loss,
                                      .exchanges = g->exchanges,
                                      .sent_B = gossip_wire_sent_B(c->wire),
                                      .accuracy = NAN };
    g->window_sum = 0;
    g->window_n = 0;
    return accuracy ? average_accuracy(&p->accuracy, c, e) : 0;
}

/* After the steps that make another hundredth of all; the last point waits for the end of the run. */
static int curve_note_point(struct gossip_cluster *c, struct gossip_result *out,
                            const struct gossip_wish *wish, struct err *e)
{
    struct gossip_engine *g = c->engine;
    int64_t before = g->noted, now = g->steps_done * GOSSIP_CURVE / g->steps_all;
    if (!wish->curve || now == before || now == GOSSIP_CURVE)
        return 0;
    const int64_t each = GOSSIP_CURVE / GOSSIP_CURVE_TESTS;
    g->noted = now;
    return curve_add_point(c, out, wish->curve_accuracy && now / each > before / each, e);
}

/* ---- the end ---- */

/* Accuracy of the workers' own models and of their mean. A mean that is no number is divergence. */
static int test_models(struct gossip_result *out, struct gossip_cluster *c, struct err *e)
{
    float *mean = malloc((size_t)c->n_params * sizeof *mean);
    int rc = mean ? models_average(mean, c, e) : err_nomem(e, "a mean of models");
    if (!rc && !isfinite(floats_square(mean, c->n_params)))
        out->diverged_step = c->n_steps;
    if (!rc && out->diverged_step < 0) {
        double sum = 0;
        for (int32_t i = 0; i < c->n_workers; i++)
            sum += gossip_accuracy(c->workers[i].x, c->net, test_now(c), c->engine->pass);
        out->accuracy = sum / c->n_workers;
        out->average_accuracy = gossip_accuracy(mean, c->net, test_now(c), c->engine->pass);
        out->loss = c->engine->tail_n ? c->engine->tail_sum / (double)c->engine->tail_n : (double)NAN;
    }
    free(mean);
    return rc;
}

static int keep_arcs(struct gossip_result *out, const struct gossip_cluster *c, struct err *e)
{
    out->n_arcs = gossip_wire_n_arcs(c->wire);
    out->arc_B = malloc((size_t)out->n_arcs * sizeof *out->arc_B + 1);
    if (!out->arc_B)
        return err_nomem(e, "bytes of links");
    for (int32_t a = 0; a < out->n_arcs; a++)
        out->arc_B[a] = gossip_wire_arc_B(c->wire, a);
    return 0;
}

static int keep_models(struct gossip_result *out, const struct gossip_cluster *c, struct err *e)
{
    size_t n = (size_t)c->n_params;
    out->models = malloc((size_t)c->n_workers * n * sizeof *out->models);
    if (!out->models)
        return err_nomem(e, "models of workers");
    for (int32_t i = 0; i < c->n_workers; i++)
        floats_copy(out->models + (size_t)i * n, c->workers[i].x, c->n_params);
    return 0;
}

/* Sums up the run; the all-reduce that would form the mean model is reported apart, as no method needs it. */
static int run_finish(struct gossip_result *out, struct gossip_cluster *c, const struct gossip_wish *wish,
                      struct err *e)
{
    double model_B = gossip_model_B(c, c->n_params);
    out->diverged_step = c->engine->diverged_step;
    out->steps = c->n_steps;
    out->time_s = c->now_s;
    for (int32_t i = 0; i < c->n_workers; i++) {
        out->compute_s += c->workers[i].compute_s / c->n_workers;
        out->wait_s += c->workers[i].wait_s / c->n_workers;
    }
    out->accuracy = out->average_accuracy = out->loss = NAN;
    out->exchanges = c->engine->exchanges;
    out->sent_B = gossip_wire_sent_B(c->wire);
    for (int32_t d = 0; d < c->setup->fabric->net.n_dims; d++)
        out->dim_B[d] = gossip_wire_dim_B(c->wire, d);
    out->average_B = 2 * (c->n_workers - 1.0) * model_B;
    int rc = gossip_wire_collective_s(&out->average_s, c->wire, COLLECTIVE_ALL_REDUCE, model_B, e);
    if (!rc && out->diverged_step < 0 && !c->method->clock_only)
        rc = test_models(out, c, e);
    if (!rc && wish->arcs)
        rc = keep_arcs(out, c, e);
    return rc || !wish->models ? rc : keep_models(out, c, e);
}

/* ---- the run ---- */

/* Steps that end come before what happens on the wire at the same time. */
static int next_event(struct gossip_cluster *c, struct err *e)
{
    struct gossip_engine *g = c->engine;
    double step_s = event_heap_time(&g->clock), wire_s = gossip_wire_next_s(c->wire);
    int rc;
    c->now_s = step_s <= wire_s ? step_s : wire_s;
    if (step_s <= wire_s) {
        struct gossip_worker *w = &c->workers[event_heap_first(&g->clock)];
        event_heap_remove(&g->clock, w->id);
        rc = gossip_step_done(c, w, e);
    } else {
        rc = gossip_wire_turn(c, e);
    }
    return rc ? rc : gossip_go_ready(c, e);
}

/* Nobody waits for ever, but in a replay. */
static int run_check_end(const struct gossip_engine *g, struct err *e)
{
    if (g->steps_done == g->steps_all)
        return 0;
    assert(g->replayed);
    return err_set(e, ERR_UNSUP, "replay: workers wait for each other after %lld of %lld steps",
                   (long long)g->steps_done, (long long)g->steps_all);
}

/* Events of compute and network in order of time, until both are done or a loss is no number. */
static int run_train(struct gossip_cluster *c, struct gossip_result *out, const struct gossip_wish *wish,
                     struct err *e)
{
    struct gossip_engine *g = c->engine;
    struct work work;
    int rc = 0;
    for (int32_t i = 0; i < c->n_workers; i++)
        gossip_ready(c, &c->workers[i]);
    work_begin(&work, "steps", g->steps_all);
    rc = gossip_go_ready(c, e);
    while (!rc && g->diverged_step < 0 && (g->clock.n || isfinite(gossip_wire_next_s(c->wire)))) {
        int64_t done = g->steps_done;
        rc = next_event(c, e);
        work_step(&work, g->steps_done - done);
        if (!rc)
            rc = curve_note_point(c, out, wish, e);
        if (!rc)
            rc = work_check(e);
    }
    work_end(&work);
    if (rc || g->diverged_step >= 0)
        return rc;
    rc = run_check_end(g, e);
    return rc || !wish->curve ? rc : curve_add_point(c, out, wish->curve_accuracy, e);
}

int gossip_check(const struct gossip_setup *setup, const struct gossip_settings *settings, struct err *e)
{
    const struct gossip_method *m = gossip_methods[settings->method];
    return m->check ? m->check(settings, setup, e) : 0;
}

/* One run from start to end; the log is closed only for runs that did not diverge. */
int gossip_run_as(struct gossip_result *out, const struct gossip_setup *setup, const struct gossip_how *how,
                  uint64_t seed, const struct gossip_wish *wish, struct err *e)
{
    struct gossip_cluster c;
    *out = (struct gossip_result){ .diverged_step = -1 };
    int rc = gossip_cluster_build(&c, setup, how, seed, e);
    if (!rc && wish->curve) {
        out->curve = calloc(GOSSIP_CURVE, sizeof *out->curve);
        rc = out->curve ? 0 : err_nomem(e, "a curve");
    }
    if (!rc)
        rc = run_train(&c, out, wish, e);
    if (!rc)
        rc = run_finish(out, &c, wish, e);
    if (!rc && how->log && out->diverged_step < 0)
        rc = gossip_log_end(how->log, e);
    gossip_cluster_free(&c);
    if (rc)
        gossip_result_free(out);
    return rc;
}

int gossip_run(struct gossip_result *out, const struct gossip_setup *setup,
               const struct gossip_settings *settings, uint64_t seed, const struct gossip_wish *wish,
               struct err *e)
{
    return gossip_run_as(out, setup, &(struct gossip_how){ .settings = settings, .log = wish->log }, seed,
                         wish, e);
}

void gossip_result_free(struct gossip_result *r)
{
    free(r->curve);
    free(r->arc_B);
    free(r->models);
    *r = (struct gossip_result){ .diverged_step = -1 };
}

/* ---- logs, replays, the bandwidth that is needed ---- */

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
    r->at = ARENA_TAKE(&c->arena, c->n_workers, *r->at);
    r->late = ARENA_TAKE(&c->arena, c->n_workers, *r->late);
    r->later = ARENA_TAKE(&c->arena, log->n, *r->later);
    int rc = arena_check(&c->arena, "a replay", e);
    if (rc)
        return rc;
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
};

int gossip_replay(struct gossip_result *out, const struct gossip_log *log, const struct gossip_setup *setup,
                  struct err *e)
{
    const struct gossip_wish nothing = { 0 };
    *out = (struct gossip_result){ .diverged_step = -1 };
    if (!log->whole)
        return err_set(e, ERR_RANGE, "log: has no whole run, expected one that did not diverge");
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
        return err_set(e, ERR_RANGE, "wait_frac is %g, expected > 0", wait_frac);
    int rc = replay_time_at(&out->free_s, ENDLESS, log, setup, e);
    out->limit_s = (1 + wait_frac) * out->free_s;
    if (!rc)
        rc = find_share(out, log, setup, e);
    for (int32_t d = 0; d < f->net.n_dims && !rc; d++)
        if (gossip_fabric_shares(f, d))
            out->bw_Bps += f->net.dims[d].bw_Bps * out->share;
    return rc;
}
