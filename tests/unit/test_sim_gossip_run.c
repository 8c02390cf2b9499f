/* The engine: how long runs take, who waits, what is learned and what is noted. Times are worked out by hand.
 */
#include "tests/gossip_fixture.h"

static void run(struct gossip_result *r, const struct gossip_fixture *f, const struct gossip_settings *s,
                uint64_t seed)
{
    const struct gossip_wish all = { .curve = true, .curve_accuracy = true, .arcs = true, .models = true };
    MUST(gossip_run(r, &f->setup, s, seed, &all, e));
}

/* A run that is released where the block ends. */
#define RUN(v, ...)                                                                                          \
    KEEP(struct gossip_result, v, gossip_result_free);                                                       \
    run(&v, __VA_ARGS__)

/* ---- same input, same bytes ---- */

static void assert_same_curves(const struct gossip_result *a, const struct gossip_result *b)
{
    assert_int_equal(a->n_curve, b->n_curve);
    for (int32_t i = 0; i < a->n_curve; i++) {
        const struct gossip_curve_point *p = &a->curve[i], *q = &b->curve[i];
        assert_true(p->time_s == q->time_s && p->loss == q->loss && p->sent_B == q->sent_B);
        assert_true(p->steps == q->steps && p->exchanges == q->exchanges);
        assert_true(p->accuracy == q->accuracy || (isnan(p->accuracy) && isnan(q->accuracy)));
    }
}

static void assert_same(const struct gossip_result *a, const struct gossip_result *b,
                        const struct gossip_fixture *f)
{
    gossip_fixture_assert_same(a, b, f);
    assert_true(a->compute_s == b->compute_s && a->wait_s == b->wait_s && a->loss == b->loss);
    assert_true(a->accuracy == b->accuracy && a->average_accuracy == b->average_accuracy);
    assert_int_equal(a->n_arcs, b->n_arcs);
    assert_memory_equal(a->arc_B, b->arc_B, (size_t)a->n_arcs * sizeof *a->arc_B);
    assert_same_curves(a, b);
}

/* By every method, with stale models and not, beside steps and between them; pairs by rule too. */
TEST(same_seed_gives_same_bytes_of_everything)
{
    GOSSIP_FIXTURE(f, 4, GOSSIP_SKEW);
    for (int kind = 0; kind < 4 * gossip_n_methods; kind++) {
        struct gossip_settings s = gossip_fixture_settings(gossip_method_name(kind / 4));
        f.setup.clock.stale = kind % 2;
        f.setup.clock.overlap = kind / 2 % 2;
        s.prob = 0.5;
        s.rule = kind % 2 ? GOSSIP_RULE_FIXED : GOSSIP_RULE_DRIFT;
        RUN(a, &f, &s, 1);
        RUN(b, &f, &s, 1);
        RUN(other, &f, &s, 2);
        assert_same(&a, &b, &f);
        assert_false(a.time_s == other.time_s);
        /* Up and down of the workers and the server at the switch; a method may send nothing. */
        double sum_B = 0;
        assert_int_equal(a.n_arcs, 10);
        for (int32_t arc = 0; arc < a.n_arcs; arc++)
            sum_B += a.arc_B[arc];
        assert_true((sum_B > 0) == (a.sent_B > 0) && a.models && a.curve && a.n_curve > 1);
    }
}

TEST(what_nobody_wishes_is_not_kept)
{
    static const struct gossip_wish wishes[] = {
        { .curve = false }, { .curve = true }, { .arcs = true }, { .models = true }
    };
    const struct gossip_settings s = gossip_fixture_settings("pair");
    GOSSIP_FIXTURE(f, 4, GOSSIP_SKEW);
    for (size_t i = 0; i < COUNT_OF(wishes); i++) {
        KEEP(struct gossip_result, r, gossip_result_free);
        OK(gossip_run(&r, &f.setup, &s, 1, &wishes[i], e));
        assert_true((r.n_curve > 0) == wishes[i].curve);
        assert_true((r.arc_B != NULL) == wishes[i].arcs && (r.n_arcs > 0) == wishes[i].arcs);
        assert_true((r.models != NULL) == wishes[i].models);
    }
}

/* ---- the clock ---- */

/* Jitter j is j times an exponential of deviation 1. */
TEST(steps_take_their_mean_within_five_deviations)
{
    const double jitters[] = { 0, 0.3, 1 };
    struct gossip_settings s = gossip_fixture_alone();
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_IID, learning->epochs = 200);
    for (size_t i = 0; i < COUNT_OF(jitters); i++) {
        f.setup.clock.jitter = jitters[i];
        RUN(r, &f, &s, 3);
        double n = (double)r.steps, deviation = jitters[i] * FIXTURE_STEP_S / sqrt(4 * n);
        assert_int_equal(r.steps, 2000);
        assert_near(r.compute_s / n, FIXTURE_STEP_S, 5 * deviation + 1e-12);
        assert_true(jitters[i] == 0 || r.compute_s / n != FIXTURE_STEP_S);
    }
}

TEST(slow_workers_take_so_many_times_as_long)
{
    struct gossip_settings s = gossip_fixture_alone();
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_IID, clock->jitter = 0, clock->n_slow = 1, clock->slowdown = 3);
    RUN(r, &f, &s, 1);
    assert_close(r.time_s, 3 * FIXTURE_STEPS * FIXTURE_STEP_S, 1e-12);
    assert_close(r.compute_s, (3 + 3) / 4.0 * FIXTURE_STEPS * FIXTURE_STEP_S, 1e-12);
    assert_near(r.wait_s, 0, 0);
}

/* A tenth of the steps takes five times as long: 1.4 on average, deviation 4 sqrt(0.1 * 0.9). */
TEST(pauses_lengthen_their_share_of_the_steps)
{
    struct gossip_settings s = gossip_fixture_alone();
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_IID, learning->epochs = 200, clock->jitter = 0, clock->pause_prob = 0.1,
                        clock->pause_factor = 5);
    RUN(r, &f, &s, 1);
    double n = 4.0 * 2000;
    assert_near(r.compute_s / 2000 / FIXTURE_STEP_S, 1.4, 5 * 4 * sqrt(0.1 * 0.9 / n));
}

/* All end with the last all-reduce, so time is compute and waiting. */
TEST(where_all_end_together_compute_and_waiting_fill_the_time)
{
    const char *const methods[] = { "all-reduce", "local" };
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_IID, clock->jitter = 0.5);
    for (size_t i = 0; i < COUNT_OF(methods); i++) {
        struct gossip_settings s = gossip_fixture_every_step(methods[i]);
        RUN(r, &f, &s, 1);
        assert_close(r.compute_s + r.wait_s, r.time_s, 1e-12);
        assert_true(r.wait_s > FIXTURE_STEPS * 1.5 * FIXTURE_MODEL_S);
    }
}

/* 2 (N - 1) / N of a model for N = 4, after every step. */
TEST(an_all_reduce_adds_its_time_to_every_step)
{
    struct gossip_settings s = gossip_fixture_every_step("all-reduce");
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_IID, clock->jitter = 0);
    RUN(r, &f, &s, 1);
    assert_close(r.time_s, FIXTURE_STEPS * (FIXTURE_STEP_S + 1.5 * FIXTURE_MODEL_S), 1e-12);
    assert_close(r.sent_B, FIXTURE_STEPS * 6 * gossip_fixture_model_B(&f), 1e-12);
    assert_close(r.average_s, 1.5 * FIXTURE_MODEL_S, 1e-12);
}

/* ---- what is learned ---- */

/* SGD with momentum as textbooks have it, each batch the whole of the 40 examples. @p x: in and out. */
static void plain_sgd(float *x, const struct gossip_fixture *f, int64_t steps)
{
    const struct gossip_learning *l = &f->setup.learning;
    int64_t batch[40];
    KEEP(float *, g, free_at) = calloc((size_t)f->net.n_params, sizeof *g);
    KEEP(float *, v, free_at) = calloc((size_t)f->net.n_params, sizeof *v);
    KEEP(struct gossip_pass *, pass, gossip_pass_free_at);
    MUST(gossip_pass_build(&pass, &f->net, 40, e));
    for (int64_t i = 0; i < 40; i++)
        batch[i] = i;
    for (int64_t step = 0; step < steps; step++) {
        double done = (double)step / (double)steps;
        double rate = done < 0.5 ? l->rate : l->rate * l->decay;
        gossip_gradient(g, x, &f->net, f->setup.train[done >= f->setup.drift_at], batch, 40, pass);
        for (int32_t i = 0; i < f->net.n_params; i++) {
            v[i] = (float)(l->momentum * (double)v[i] - rate * (double)g[i]);
            x[i] += v[i];
        }
    }
}

/* Every step sees all examples, so their order matters to rounding only. */
TEST(one_worker_is_plain_sgd_also_through_decay_and_drift)
{
    struct gossip_settings s = gossip_fixture_alone();
    KEEP(struct gossip_data, train, gossip_data_free);
    KEEP(struct gossip_data, test, gossip_data_free);
    struct gossip_teacher t = { .n_features = 8,
                                .hidden = 8,
                                .n_classes = 4,
                                .gain = 1.5,
                                .n_train = 40,
                                .n_test = 200,
                                .seed = 1,
                                .version = 1 };
    GOSSIP_FIXTURE(f, 1, GOSSIP_IID);
    OK(gossip_teach(&train, &test, &t, e));
    f.setup.train[1] = &train;
    f.setup.test[1] = &test;
    f.setup.learning.batch = 40;
    f.setup.learning.epochs = 50;
    f.setup.learning.schedule = GOSSIP_RATE_STEPS;
    f.setup.learning.n_decays = 1;
    for (int stale = 0; stale < 2; stale++) {
        KEEP(struct gossip_pass *, pass, gossip_pass_free_at);
        f.setup.drift_at = stale ? 0.6 : 1;
        f.setup.clock.stale = stale;
        GOSSIP_START(c, &f, &s);
        RUN(r, &f, &s, 1);
        assert_int_equal(r.steps, 50);
        plain_sgd(c.workers[0].x, &f, 50);
        for (int32_t i = 0; i < f.net.n_params; i++)
            assert_near(r.models[i], c.workers[0].x[i], 1e-4);
        OK(gossip_pass_build(&pass, &f.net, 40, e));
        assert_true(r.accuracy == gossip_accuracy(r.models, &f.net, stale ? &test : &f.test, pass));
        assert_true(r.accuracy == r.average_accuracy);
    }
}

TEST(the_cosine_goes_from_the_rate_to_nothing)
{
    struct gossip_settings s = gossip_fixture_alone();
    GOSSIP_FIXTURE_WITH(f, 1, GOSSIP_IID, learning->schedule = GOSSIP_RATE_COSINE);
    GOSSIP_START(c, &f, &s);
    for (int64_t step = 0; step <= c.n_steps; step++) {
        double angle = acos(-1) * (double)step / (double)c.n_steps;
        assert_near(gossip_rate(&c, step), f.setup.learning.rate * (1 + cos(angle)) / 2, 1e-15);
    }
}

/* Shards of 10 and 11 examples: a batch of 16 is one of 10 for all, and an epoch is a step. */
TEST(uneven_shards_make_the_steps_of_the_smallest)
{
    struct gossip_settings s = gossip_fixture_every_step("local");
    GOSSIP_FIXTURE(f, 4, GOSSIP_IID);
    gossip_shards_free(&f.shards);
    f.train.n = 43;
    OK(gossip_shards_build(&f.shards, &f.train, 4, GOSSIP_SKEW, 1, e));
    f.setup.learning.batch = 16;
    f.setup.learning.epochs = 7;
    RUN(r, &f, &s, 1);
    assert_true(r.steps == 7 && isfinite(r.loss));
    gossip_result_free(&r);
    f.setup.learning.epochs = 0.01;
    run(&r, &f, &s, 1);
    assert_true(r.steps == 1 && isfinite(r.loss) && r.accuracy > 0 && r.n_curve == 4);
}

TEST(a_rate_beyond_reason_diverges_and_says_when)
{
    struct gossip_settings s = gossip_fixture_every_step("local");
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_IID, learning->rate = 1e30);
    for (int stale = 0; stale < 2; stale++) {
        f.setup.clock.stale = stale;
        RUN(r, &f, &s, 1);
        assert_in_range(r.diverged_step, 0, FIXTURE_STEPS - 1);
        assert_true(isnan(r.accuracy) && isnan(r.average_accuracy) && isnan(r.loss));
        assert_true(r.time_s < FIXTURE_STEPS * FIXTURE_STEP_S);
    }
}

/* ---- the curve ---- */

TEST(the_curve_has_a_point_per_hundredth_and_ends_with_the_totals)
{
    struct gossip_settings s = gossip_fixture_every_step("pair");
    int tested = 0;
    GOSSIP_FIXTURE(f, 4, GOSSIP_IID);
    RUN(r, &f, &s, 1);
    assert_int_equal(r.n_curve, GOSSIP_CURVE);
    for (int32_t i = 0; i < r.n_curve; i++) {
        const struct gossip_curve_point *p = &r.curve[i], *before = i ? p - 1 : p;
        assert_true(p->time_s >= before->time_s && p->exchanges >= before->exchanges);
        assert_true(p->sent_B >= before->sent_B && isfinite(p->loss));
        assert_int_equal(p->steps, (int)ceil((i + 1) * 4 * FIXTURE_STEPS / 100.0));
        assert_true(isnan(p->accuracy) == ((i + 1) % 5 != 0));
        tested += !isnan(p->accuracy);
    }
    const struct gossip_curve_point *last = &r.curve[GOSSIP_CURVE - 1];
    assert_true(tested == GOSSIP_CURVE_TESTS && last->time_s == r.time_s && last->sent_B == r.sent_B);
    assert_int_equal(last->exchanges, r.exchanges);
    assert_true(last->accuracy == r.average_accuracy);
}

/* Of one worker: the model halfway is that of a run of half the epochs. */
TEST(the_curve_tests_the_model_of_its_time)
{
    struct gossip_settings s = gossip_fixture_alone();
    GOSSIP_FIXTURE_WITH(f, 1, GOSSIP_IID, learning->epochs = 50);
    RUN(half, &f, &s, 1);
    f.setup.learning.epochs = 100;
    RUN(whole, &f, &s, 1);
    assert_true(whole.curve[49].accuracy == half.average_accuracy);
    assert_true(whole.curve[4].accuracy != whole.average_accuracy);
}
