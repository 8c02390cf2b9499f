/* A run from its first step to its result. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "sim/gossip/engine.h"
#include "sim/gossip/vec.h"

/* ---- models together ---- */

static int average(float *mean, const struct gossip_cluster *c, struct err *e)
{
    float **x = malloc((size_t)c->n_workers * sizeof *x);
    if (!x)
        return err_nomem(e, "models of workers");
    for (int32_t i = 0; i < c->n_workers; i++)
        x[i] = c->workers[i].x;
    vec_mean(mean, x, c->n_workers, c->n_params);
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
    float *mean = gossip_room(c);
    int rc = mean ? average(mean, c, e) : err_nomem(e, "a mean of models");
    if (!rc)
        *accuracy = gossip_accuracy(mean, c->net, test_now(c), c->engine->pass);
    free(mean);
    return rc;
}

static int add_point(struct gossip_cluster *c, struct gossip_result *out, bool accuracy, struct err *e)
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
static int note_point(struct gossip_cluster *c, struct gossip_result *out, const struct gossip_wish *wish,
                      struct err *e)
{
    struct gossip_engine *g = c->engine;
    int64_t before = g->noted, now = g->steps_done * GOSSIP_CURVE / g->steps_all;
    if (!wish->curve || now == before || now == GOSSIP_CURVE)
        return 0;
    const int64_t each = GOSSIP_CURVE / GOSSIP_CURVE_TESTS;
    g->noted = now;
    return add_point(c, out, wish->curve_accuracy && now / each > before / each, e);
}

/* ---- the end ---- */

static int test_models(struct gossip_result *out, struct gossip_cluster *c, struct err *e)
{
    float *mean = malloc((size_t)c->n_params * sizeof *mean);
    int rc = mean ? average(mean, c, e) : err_nomem(e, "a mean of models");
    if (!rc && !isfinite(vec_square(mean, c->n_params)))
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
        vec_copy(out->models + (size_t)i * n, c->workers[i].x, c->n_params);
    return 0;
}

static int finish(struct gossip_result *out, struct gossip_cluster *c, const struct gossip_wish *wish,
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
static int check_end(const struct gossip_engine *g, struct err *e)
{
    if (g->steps_done == g->steps_all)
        return 0;
    assert(g->replayed);
    return err_set(e, ERR_UNSUP, "replay: workers wait for each other after %lld of %lld steps",
                   (long long)g->steps_done, (long long)g->steps_all);
}

static int train(struct gossip_cluster *c, struct gossip_result *out, const struct gossip_wish *wish,
                 struct err *e)
{
    struct gossip_engine *g = c->engine;
    int rc = 0;
    for (int32_t i = 0; i < c->n_workers; i++)
        gossip_ready(c, &c->workers[i]);
    rc = gossip_go_ready(c, e);
    while (!rc && g->diverged_step < 0 && (g->clock.n || isfinite(gossip_wire_next_s(c->wire)))) {
        rc = next_event(c, e);
        if (!rc)
            rc = note_point(c, out, wish, e);
    }
    if (rc || g->diverged_step >= 0)
        return rc;
    rc = check_end(g, e);
    return rc || !wish->curve ? rc : add_point(c, out, wish->curve_accuracy, e);
}

int gossip_check(const struct gossip_setup *setup, const struct gossip_settings *settings, struct err *e)
{
    const struct gossip_method *m = gossip_methods[settings->method];
    return m->check ? m->check(settings, setup, e) : 0;
}

int gossip_run_as(struct gossip_result *out, const struct gossip_setup *setup, const struct gossip_how *how,
                  uint64_t seed, const struct gossip_wish *wish, struct err *e)
{
    struct gossip_cluster c;
    *out = (struct gossip_result){ .diverged_step = -1 };
    int rc = gossip_cluster_build_as(&c, setup, how, seed, e);
    if (!rc && wish->curve) {
        out->curve = calloc(GOSSIP_CURVE, sizeof *out->curve);
        rc = out->curve ? 0 : err_nomem(e, "a curve");
    }
    if (!rc)
        rc = train(&c, out, wish, e);
    if (!rc)
        rc = finish(out, &c, wish, e);
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
