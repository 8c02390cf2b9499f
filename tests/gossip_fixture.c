#include "tests/gossip_fixture.h"
#include "tests/settings.h"

#include "sim/gossip/replay.h"

static void build_fabric(struct gossip_fixture *f, int32_t n_workers)
{
    char spec[64];
    snprintf(spec, sizeof spec, "switch:%d@1", n_workers + 1);
    f->fabric = (struct gossip_fabric){ .n_workers = n_workers,
                                        .server = n_workers,
                                        .members = { n_workers },
                                        .rules = stage_rules_plain,
                                        .fidelity = GOSSIP_CLOSED,
                                        .share = 1 };
    topo_graph_init();
    MUST(topo_parse_spec(&f->fabric.net, spec, e));
    f->fabric.net.dims[0].bw_Bps = gossip_fixture_model_B(f) / FIXTURE_MODEL_S;
    f->fabric.net.dims[0].lat_s = 0;
    MUST(topo_build_graph(&f->graph, &f->fabric.net, NULL, e));
    f->fabric.graph = f->graph;
}

static void build_setup(struct gossip_fixture *f)
{
    f->setup = (struct gossip_setup){
        .net = &f->net,
        .train = { &f->train, &f->train },
        .test = { &f->test, &f->test },
        .drift_at = 1,
        .shards = &f->shards,
        .learning = gossip_learning_default(),
        .clock = { .step_s = FIXTURE_STEP_S, .jitter = 0.1, .slowdown = 1, .pause_factor = 1 },
        .fabric = &f->fabric,
    };
    f->setup.learning.batch = 4;
    f->setup.learning.epochs = 4;
    f->setup.learning.schedule = GOSSIP_RATE_CONSTANT;
}

struct gossip_teacher gossip_fixture_teacher(void)
{
    return (struct gossip_teacher){ .n_features = 32,
                                    .hidden = 48,
                                    .n_classes = 10,
                                    .gain = 1.5,
                                    .noise = 0.05,
                                    .n_train = 20000,
                                    .n_test = 5000,
                                    .seed = 1 };
}

void gossip_fixture_build(struct gossip_fixture *f, int32_t n_workers, enum gossip_sharding how)
{
    struct gossip_teacher t = { .n_features = 8,
                                .hidden = 8,
                                .n_classes = 4,
                                .gain = 1.5,
                                .n_train = 40 * (int64_t)n_workers,
                                .n_test = 200,
                                .seed = 1 };
    const int32_t hidden[] = { 8 };
    MUST(gossip_teach(&f->train, &f->test, &t, e));
    MUST(gossip_net_build(&f->net, t.n_features, hidden, 1, t.n_classes, e));
    MUST(gossip_shards_build(&f->shards, &f->train, n_workers, how, t.seed, e));
    build_fabric(f, n_workers);
    build_setup(f);
}

void gossip_fixture_free(struct gossip_fixture *f)
{
    gossip_data_free(&f->train);
    gossip_data_free(&f->test);
    gossip_shards_free(&f->shards);
    topo_graph_free(f->graph);
}

struct gossip_settings gossip_fixture_settings(const char *name)
{
    struct gossip_settings s = gossip_settings_default();
    s.method = gossip_find_method(name);
    assert_in_range(s.method, 0, gossip_n_methods - 1);
    return s;
}

struct gossip_settings gossip_fixture_alone(void)
{
    struct gossip_settings s = gossip_fixture_settings("local");
    s.period = INT64_MAX;
    return s;
}

struct gossip_settings gossip_fixture_every_step(const char *name)
{
    struct gossip_settings s = gossip_fixture_settings(name);
    s.period = 1;
    return s;
}

void gossip_fixture_run(struct gossip_result *r, const struct gossip_fixture *f,
                        const struct gossip_settings *s)
{
    const struct gossip_wish wish = { .models = true };
    MUST(gossip_run(r, &f->setup, s, 1, &wish, e));
}

/* Frees the arrays and leaves the numbers. */
static struct gossip_result keep_numbers(struct gossip_result *r)
{
    struct gossip_result numbers = *r;
    gossip_result_free(r);
    numbers.curve = NULL;
    numbers.arc_B = NULL;
    numbers.models = NULL;
    return numbers;
}

struct gossip_result gossip_fixture_numbers(const struct gossip_fixture *f, const struct gossip_settings *s)
{
    struct gossip_result r;
    gossip_fixture_run(&r, f, s);
    return keep_numbers(&r);
}

void gossip_fixture_start(struct gossip_cluster *c, const struct gossip_fixture *f,
                          const struct gossip_settings *s)
{
    MUST(gossip_cluster_build(c, &f->setup, &(struct gossip_how){ .settings = s }, 1, e));
    for (int32_t i = 0; i < c->n_workers; i++)
        gossip_ready(c, &c->workers[i]);
    MUST(gossip_go_ready(c, e));
}

/* As sim/gossip/run.c has it: steps that end come first. */
bool gossip_fixture_turn(struct gossip_cluster *c)
{
    struct event_heap *clock = &c->engine->clock;
    double step_s = event_heap_time(clock), wire_s = gossip_wire_next_s(c->wire);
    if (c->engine->diverged_step >= 0 || !isfinite(fmin(step_s, wire_s)))
        return false;
    c->now_s = fmin(step_s, wire_s);
    if (step_s <= wire_s) {
        struct gossip_worker *w = &c->workers[event_heap_first(clock)];
        event_heap_remove(clock, w->id);
        MUST(gossip_step_done(c, w, e));
    } else {
        MUST(gossip_wire_turn(c, e));
    }
    MUST(gossip_go_ready(c, e));
    return true;
}

void gossip_fixture_finish(struct gossip_cluster *c)
{
    while (gossip_fixture_turn(c))
        continue;
}

void gossip_fixture_scatter(struct gossip_cluster *c)
{
    RNG(r, 7, 0);
    for (int32_t i = 0; i < c->n_workers; i++)
        for (int32_t k = 0; k < c->n_params; k++)
            c->workers[i].x[k] = (float)rng_range(r, -1, 1);
}

double gossip_fixture_model_B(const struct gossip_fixture *f)
{
    return f->net.n_params * (double)sizeof(float);
}

void gossip_fixture_assert_same(const struct gossip_result *a, const struct gossip_result *b,
                                const struct gossip_fixture *f)
{
    size_t n = (size_t)f->fabric.n_workers * (size_t)f->net.n_params;
    assert_true(a->time_s == b->time_s);
    assert_true(a->sent_B == b->sent_B);
    assert_int_equal(a->exchanges, b->exchanges);
    assert_memory_equal(a->models, b->models, n * sizeof *a->models);
}

struct gossip_result gossip_fixture_assert_same_run(const struct gossip_fixture *f,
                                                    const struct gossip_settings *s,
                                                    const struct gossip_settings *t)
{
    struct gossip_result a;
    KEEP(struct gossip_result, b, gossip_result_free);
    gossip_fixture_run(&a, f, s);
    gossip_fixture_run(&b, f, t);
    gossip_fixture_assert_same(&a, &b, f);
    return keep_numbers(&a);
}

double gossip_fixture_apart(const struct gossip_result *a, const struct gossip_result *b,
                            const struct gossip_fixture *f)
{
    double most = 0;
    for (int32_t i = 0; i < f->fabric.n_workers * f->net.n_params; i++)
        most = fmax(most, fabs((double)a->models[i] - (double)b->models[i]));
    return most;
}

void gossip_fixture_assert_same_clock(const struct gossip_result *a, const struct gossip_result *b)
{
    assert_true(a->time_s == b->time_s && a->compute_s == b->compute_s && a->wait_s == b->wait_s);
    assert_true(a->sent_B == b->sent_B && a->dim_B[0] == b->dim_B[0]);
    assert_int_equal(a->exchanges, b->exchanges);
    assert_int_equal(a->steps, b->steps);
}

void gossip_fixture_assert_replays(struct gossip_fixture *f, const struct gossip_settings *s, double share)
{
    KEEP(struct gossip_log, log, gossip_log_free) = { 0 };
    const struct gossip_wish wish = { .log = &log };
    KEEP(struct gossip_result, here, gossip_result_free);
    KEEP(struct gossip_result, there, gossip_result_free);
    KEEP(struct gossip_result, replayed, gossip_result_free);
    f->fabric.share = 1;
    MUST(gossip_run(&here, &f->setup, s, 1, &wish, e));
    f->fabric.share = share;
    gossip_fixture_run(&there, f, s);
    MUST(gossip_replay(&replayed, &log, &f->setup, e));
    gossip_fixture_assert_same_clock(&replayed, &there);
    assert_true(there.exchanges > 0);
    f->fabric.share = 1;
}

void gossip_fixture_assert_refused(const struct gossip_fixture *f, const struct gossip_settings *s,
                                   const char *text)
{
    const struct gossip_wish wish = { 0 };
    KEEP(struct gossip_result, r, gossip_result_free);
    struct err e = { 0 };
    assert_fails(gossip_run(&r, &f->setup, s, 1, &wish, &e), &e, ERR_RANGE, text);
}
