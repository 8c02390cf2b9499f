/* Gossip between two workers: when it exchanges, what it sends, how long it takes, and what it keeps. */
#include "sim/gossip/floats.h"
#include "tests/gossip_fixture.h"

static const char *const methods[] = { "pair", "pull", "push" };
enum { PAIR, PULL, PUSH, N_METHODS };

/* ---- traffic and time ---- */

/* One exchange after every `period` steps of a worker: a model each way, or one way. */
TEST(a_fixed_period_sends_its_share)
{
    GOSSIP_FIXTURE(f, 4, GOSSIP_SKEW);
    for (int m = 0; m < N_METHODS; m++)
        for (int64_t period = 1; period <= 64; period *= 4) {
            GOSSIP_SETTINGS(s, methods[m], s.period = period);
            struct gossip_result r = gossip_fixture_numbers(&f, &s);
            assert_int_equal(r.steps, FIXTURE_STEPS);
            assert_int_equal(r.exchanges, 4 * (FIXTURE_STEPS / period));
            assert_true(r.sent_B == (double)r.exchanges * (m == PAIR ? 2 : 1) * gossip_fixture_model_B(&f));
        }
}

/* Two workers that step at the same time. A pair needs both directions of both ports: worker 1 waits for the
 * exchange of worker 0 once, and comes 6 ms after it from then on. Pulls and pushes cross without waiting. */
TEST(an_initiator_waits_for_ports_and_message)
{
    GOSSIP_FIXTURE_WITH(f, 2, GOSSIP_IID, clock->jitter = 0);
    for (int m = 0; m < N_METHODS; m++) {
        struct gossip_settings s = gossip_fixture_settings(methods[m]);
        struct gossip_result r = gossip_fixture_numbers(&f, &s);
        double cycle_s = FIXTURE_STEP_S + FIXTURE_MODEL_S, first_s = m == PAIR ? FIXTURE_MODEL_S : 0;
        assert_close(r.time_s, FIXTURE_STEPS * cycle_s + first_s, 1e-9);
        assert_close(r.compute_s, FIXTURE_STEPS * FIXTURE_STEP_S, 1e-9);
        assert_int_equal(r.exchanges, 2 * FIXTURE_STEPS);
    }
}

/* With overlap a message of 6 ms hides under the step of 10 ms after it, but for the last one. */
TEST(overlap_hides_a_message_under_a_step)
{
    GOSSIP_FIXTURE_WITH(f, 2, GOSSIP_IID, clock->jitter = 0, clock->overlap = true);
    for (int m = PULL; m < N_METHODS; m++) {
        struct gossip_settings s = gossip_fixture_settings(methods[m]);
        struct gossip_result r = gossip_fixture_numbers(&f, &s);
        assert_close(r.time_s, FIXTURE_STEPS * FIXTURE_STEP_S + FIXTURE_MODEL_S, 1e-9);
        assert_near(r.wait_s, 0, 1e-12);
    }
}

TEST(one_worker_alone_learns_and_sends_nothing)
{
    KEEP(struct gossip_result, local, gossip_result_free);
    struct gossip_settings s = gossip_fixture_settings("local");
    GOSSIP_FIXTURE(f, 1, GOSSIP_IID);
    s.period = 2 * FIXTURE_STEPS; /* never */
    gossip_fixture_run(&local, &f, &s);
    assert_true(local.loss < log(4));
    for (int m = 0; m < N_METHODS; m++)
        for (int rule = 0; rule < N_GOSSIP_RULES; rule++) {
            s = gossip_fixture_settings(methods[m]);
            s.rule = (enum gossip_rule)rule;
            GOSSIP_RUN(r, &f, &s);
            assert_true(r.exchanges == 0 && r.sent_B == 0);
            gossip_fixture_assert_same(&r, &local, &f);
        }
}

/* ---- what becomes of models ---- */

static float *copy_models(const struct gossip_cluster *c)
{
    size_t n = (size_t)c->n_params;
    float *x = malloc((size_t)c->n_workers * n * sizeof *x);
    assert_non_null(x);
    for (int32_t i = 0; i < c->n_workers; i++)
        floats_copy(x + (size_t)i * n, c->workers[i].x, c->n_params);
    return x;
}

/* Worker @p i has moved by @p share towards what @p other was; 0: not at all, to the last bit. */
static void assert_moved(const struct gossip_cluster *c, const float *before, int32_t i, int32_t other,
                         double share)
{
    size_t n = (size_t)c->n_params;
    const float *own = before + (size_t)i * n, *others = before + (size_t)other * n;
    if (share == 0)
        assert_memory_equal(c->workers[i].x, own, n * sizeof *own);
    for (size_t k = 0; k < n && share > 0; k++)
        assert_near((double)c->workers[i].x[k], (1 - share) * (double)own[k] + share * (double)others[k],
                    1e-6);
}

/* Two workers with models of their own that do not learn: after the first step, of worker 0. */
TEST(a_pull_moves_its_puller_a_push_its_receiver_a_pair_both)
{
    const double share[N_METHODS][2] = { { 0.25, 0.25 }, { 0.25, 0 }, { 0, 0.25 } };
    GOSSIP_FIXTURE_WITH(f, 2, GOSSIP_IID, learning->rate = 0, clock->jitter = 0);
    for (int m = 0; m < N_METHODS; m++) {
        GOSSIP_SETTINGS(s, methods[m], s.mix = 0.25);
        GOSSIP_SCATTERED(c, &f, &s);
        KEEP(float *, before, free_at) = copy_models(&c);
        assert_true(gossip_fixture_turn(&c) && c.workers[0].steps == 1);
        for (int32_t i = 0; i < 2; i++)
            assert_moved(&c, before, i, 1 - i, share[m][i]);
    }
}

/* With stale models it is the end of the message that changes them: worker 0 steps, then worker 1. */
TEST(what_arrives_changes_a_model_no_earlier)
{
    GOSSIP_FIXTURE_WITH(f, 2, GOSSIP_IID, learning->rate = 0, clock->jitter = 0, clock->stale = true);
    for (int m = 0; m < N_METHODS; m++) {
        struct gossip_settings s = gossip_fixture_settings(methods[m]);
        GOSSIP_SCATTERED(c, &f, &s);
        KEEP(float *, before, free_at) = copy_models(&c);
        for (int step = 0; step < 2; step++) {
            assert_true(gossip_fixture_turn(&c));
            assert_moved(&c, before, 0, 1, 0);
            assert_moved(&c, before, 1, 0, 0);
        }
        assert_true(gossip_fixture_turn(&c));
        assert_close(c.now_s, FIXTURE_STEP_S + FIXTURE_MODEL_S, 1e-9);
        assert_moved(&c, before, 0, 1, 0.5); /* by its own exchange, or by that of worker 1 */
    }
}

static double sum_of_models(const struct gossip_cluster *c)
{
    double sum = 0;
    for (int32_t i = 0; i < c->n_workers; i++)
        for (int32_t k = 0; k < c->n_params; k++)
            sum += (double)c->workers[i].x[k];
    return sum;
}

/* Greatest distance of a model from the first one. */
static double apart_of_models(const struct gossip_cluster *c)
{
    double most = 0;
    for (int32_t i = 1; i < c->n_workers; i++)
        most = fmax(most, sqrt(floats_distance2(c->workers[i].x, c->workers[0].x, c->n_params)));
    return most;
}

/* To rounding: sums in double of numbers of about 1. */
TEST(symmetric_pairs_keep_the_sum_of_models)
{
    struct gossip_settings s = gossip_fixture_settings("pair");
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_SKEW, learning->rate = 0);
    for (int kind = 0; kind < 4; kind++) {
        f.setup.clock.stale = kind % 2;
        f.setup.clock.overlap = kind / 2;
        GOSSIP_SCATTERED(c, &f, &s);
        double before = sum_of_models(&c), apart = apart_of_models(&c);
        while (gossip_fixture_turn(&c))
            assert_near(sum_of_models(&c), before, 1e-4);
        assert_true(apart_of_models(&c) < 1e-3 * apart);
    }
}

/* ---- rules ---- */

/* Runs with rule and with a fixed period are the same to the last bit. */
static void assert_as_fixed(const struct gossip_settings *rule, int64_t period)
{
    struct gossip_settings fixed = *rule;
    fixed.rule = GOSSIP_RULE_FIXED;
    fixed.period = period;
    for (int how = 0; how < N_GOSSIP_SHARDINGS; how++) {
        KEEP(struct gossip_fixture, f, gossip_fixture_free);
        gossip_fixture_build(&f, 4, (enum gossip_sharding)how);
        f.setup.learning.schedule = GOSSIP_RATE_STEPS;
        struct gossip_result r = gossip_fixture_assert_same_run(&f, rule, &fixed);
        assert_int_equal(r.exchanges, 4 * (FIXTURE_STEPS / period));
    }
}

TEST(theta_0_is_an_exchange_every_step)
{
    for (int m = 0; m < N_METHODS; m++)
        for (int rule = GOSSIP_RULE_DRIFT; rule < N_GOSSIP_RULES; rule++) {
            GOSSIP_SETTINGS(s, methods[m], s.rule = (enum gossip_rule)rule, s.theta = 0);
            assert_as_fixed(&s, 1);
        }
}

TEST(an_infinite_theta_leaves_the_cap)
{
    for (int m = 0; m < N_METHODS; m++)
        for (int64_t cap = 1; cap <= 7; cap += 3)
            for (int rule = GOSSIP_RULE_DRIFT; rule < N_GOSSIP_RULES; rule++) {
                GOSSIP_SETTINGS(s, methods[m], s.rule = (enum gossip_rule)rule, s.theta = INFINITY,
                                s.cap = cap);
                if (rule != GOSSIP_RULE_CONTROL)
                    assert_as_fixed(&s, cap);
            }
}

/* A rule told again: models are watched from outside, as exchanges end only after steps. */
struct watch {
    float *ref, *x;
    int64_t steps, since, tau, early;
    bool held;
};

static double drift_of(const struct gossip_cluster *c, const struct gossip_worker *w, const struct watch *u)
{
    double moved = 0, was = 0;
    for (int32_t k = 0; k < c->n_params; k++) {
        moved += ((double)w->x[k] - (double)u->ref[k]) * ((double)w->x[k] - (double)u->ref[k]);
        was += (double)u->ref[k] * (double)u->ref[k];
    }
    return sqrt(moved / was);
}

/* Whether @p w should exchange after the step just done. */
static bool should(const struct gossip_cluster *c, const struct gossip_worker *w, struct watch *u)
{
    const struct gossip_settings *s = c->settings;
    double drift = drift_of(c, w, u);
    double left = w->steps > FIXTURE_STEPS / 2 ? c->setup->learning.decay : 1;
    u->since++;
    if (s->rule == GOSSIP_RULE_CONTROL) {
        if (u->since < u->tau)
            return false;
        double tau = floor((double)u->tau * fmin(2, fmax(0.5, s->theta / drift)) + 0.5);
        u->tau = (int64_t)fmin(fmax(1, tau), (double)s->cap);
        return true;
    }
    if (s->rule == GOSSIP_RULE_DRIFT)
        left = 1;
    return u->since == s->cap || (u->since % s->check == 0 && drift >= s->theta * left);
}

static void watch_worker(struct watch *u, const struct gossip_cluster *c, const struct gossip_worker *w)
{
    size_t bytes = (size_t)c->n_params * sizeof *w->x;
    bool held = w->holds > 0, stepped = w->steps > u->steps;
    if (stepped) {
        bool due = should(c, w, u);
        assert_int_equal(held, due);
        u->early += due && u->since > 1 && u->since < c->settings->cap;
        u->since = due ? 0 : u->since;
    } else if (c->settings->rule == GOSSIP_RULE_CONTROL ? u->held && !held : memcmp(w->x, u->x, bytes) != 0) {
        memcpy(u->ref, w->x, bytes); /* an exchange is over; of rule B one that it began */
    }
    u->held = held;
    u->steps = w->steps;
    memcpy(u->x, w->x, bytes);
}

/* Go through a run; returns how many exchanges came after more than one step and before the cap. */
static int64_t watch_rule(const struct gossip_fixture *f, const struct gossip_settings *s)
{
    struct watch watch[4];
    int64_t early = 0;
    GOSSIP_START(c, f, s);
    for (int i = 0; i < 4; i++) {
        watch[i] = (struct watch){ .ref = malloc((size_t)c.n_params * sizeof(float)),
                                   .x = malloc((size_t)c.n_params * sizeof(float)),
                                   .tau = 1 };
        assert_true(watch[i].ref && watch[i].x);
        floats_copy(watch[i].ref, c.workers[i].x, c.n_params);
        floats_copy(watch[i].x, c.workers[i].x, c.n_params);
    }
    while (gossip_fixture_turn(&c))
        for (int i = 0; i < 4; i++)
            watch_worker(&watch[i], &c, &c.workers[i]);
    for (int i = 0; i < 4; i++) {
        early += watch[i].early;
        free(watch[i].ref);
        free(watch[i].x);
    }
    return early;
}

TEST(a_worker_exchanges_as_its_model_changes)
{
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_SKEW, clock->stale = true, learning->schedule = GOSSIP_RATE_STEPS,
                        learning->n_decays = 1);
    for (int rule = GOSSIP_RULE_DRIFT; rule < N_GOSSIP_RULES; rule++)
        for (int64_t check = 1; check <= 3; check += 2) {
            GOSSIP_SETTINGS(s, "pair", s.rule = (enum gossip_rule)rule,
                            s.theta = rule == GOSSIP_RULE_DRIFT ? 0.05 : 0.2, s.cap = 10, s.check = check);
            assert_true(watch_rule(&f, &s) > 10);
        }
}

/* The rate grows twentyfold: drift is far below theta at first, and far above it later. */
TEST(control_at_most_halves_or_doubles_a_period)
{
    GOSSIP_SETTINGS(s, "pair", s.rule = GOSSIP_RULE_CONTROL, s.cap = 20);
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_SKEW, clock->stale = true, learning->rate = 0.005,
                        learning->schedule = GOSSIP_RATE_STEPS, learning->n_decays = 1, learning->decay = 20);
    assert_true(watch_rule(&f, &s) > 10);
}
