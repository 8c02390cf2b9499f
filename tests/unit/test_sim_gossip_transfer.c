/* Exchanges and meetings: who waits for them, with and without overlap. Times are worked out by hand. */
#include "tests/gossip_fixture.h"

/* Workers that exchange after every step, all steps of the same length. */
struct even {
    const char *method;
    int32_t n_workers;
    bool overlap;
    double model_s;  /* of a model over a link; 0: the fixture's */
    double slowdown; /* of one of them; 0: none is slow */
};

static struct gossip_result run_even(const struct even *how)
{
    struct gossip_settings s = gossip_fixture_every_step(how->method);
    GOSSIP_FIXTURE_WITH(f, how->n_workers, GOSSIP_IID, clock->jitter = 0, clock->overlap = how->overlap);
    f.setup.model_B = how->model_s * f.fabric.net.dims[0].bw_Bps;
    if (how->slowdown > 0) {
        f.setup.clock.n_slow = 1;
        f.setup.clock.slowdown = how->slowdown;
    }
    return gossip_fixture_numbers(&f, &s);
}

/* ---- overlap ---- */

/* Worker 1 queues behind worker 0 once, for 6 ms; then each exchanges while the other one computes. */
TEST(pairs_without_overlap_wait_for_what_they_began)
{
    struct gossip_result r = run_even(&(struct even){ .method = "pair", .n_workers = 2 });
    assert_close(r.time_s, FIXTURE_STEPS * (FIXTURE_STEP_S + FIXTURE_MODEL_S) + FIXTURE_MODEL_S, 1e-9);
}

/* 12 ms of exchanges for 10 ms of compute: from the first step on the link is never idle. A worker that
 * waited for its second exchange to end, and not only its first, would leave gaps. */
TEST(pairs_with_overlap_compute_beside_one_exchange)
{
    struct gossip_result r = run_even(&(struct even){ .method = "pair", .n_workers = 2, .overlap = true });
    assert_close(r.time_s, FIXTURE_STEP_S + 2 * FIXTURE_STEPS * FIXTURE_MODEL_S, 1e-9);
}

TEST(pairs_with_overlap_take_no_time_where_compute_is_longer)
{
    const struct even how = { .method = "pair", .n_workers = 2, .overlap = true, .model_s = 0.004 };
    struct gossip_result r = run_even(&how);
    assert_close(r.time_s, FIXTURE_STEPS * FIXTURE_STEP_S + 2 * 0.004, 1e-9);
    assert_near(r.wait_s, 0, 1e-12);
}

/* An all-reduce of 24 ms beside steps of 10 ms: who has done its step comes early to the next one. */
TEST(who_comes_early_to_a_meeting_waits_for_the_last_one_to_end)
{
    const struct even how = { .method = "local", .n_workers = 4, .overlap = true, .model_s = 0.024 / 1.5 };
    struct gossip_result r = run_even(&how);
    assert_int_equal(r.exchanges, FIXTURE_STEPS);
    assert_close(r.time_s, FIXTURE_STEP_S + FIXTURE_STEPS * 0.024, 1e-9);
}

/* A worker that takes three times as long decides when all have met; nobody meets twice for it once. */
TEST(who_comes_again_before_others_came_at_all_counts_once)
{
    const struct even how = { .method = "local", .n_workers = 4, .overlap = true, .slowdown = 3 };
    struct gossip_result r = run_even(&how);
    assert_int_equal(r.exchanges, FIXTURE_STEPS);
    assert_close(r.time_s, FIXTURE_STEPS * 3 * FIXTURE_STEP_S + 1.5 * FIXTURE_MODEL_S, 1e-9);
}

/* ---- hooks ---- */

enum { HOOK_WORKERS = 40 };

static int send_to_next(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    const struct gossip_transfer t = { .from = w->id, .to = (w->id + 1) % c->n_workers, .there_B = 100 };
    return gossip_send(c, &t, e);
}

/* Three more follow from each that a step began. */
static int send_three(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e)
{
    int rc = 0;
    for (int32_t i = 1; i <= 3 && t->tag == 0 && !rc; i++)
        rc = gossip_send(c,
                         &(struct gossip_transfer){
                             .from = t->from, .to = (t->from + i) % c->n_workers, .there_B = 1, .tag = 1 },
                         e);
    return rc;
}

static void leave_models(struct gossip_cluster *c, struct gossip_transfer *t)
{
    (void)c;
    (void)t;
}

/* All steps end at once, so many exchanges end at once, and each hook sends more than there was room for. */
TEST(hooks_may_send_while_others_end)
{
    static const struct gossip_method chatty = {
        .meets = true, .after = send_to_next, .end = send_three, .mix = leave_models
    };
    struct gossip_settings s = gossip_fixture_alone();
    GOSSIP_FIXTURE_WITH(f, HOOK_WORKERS, GOSSIP_IID, clock->jitter = 0);
    GOSSIP_START(c, &f, &s);
    c.method = &chatty;
    gossip_fixture_finish(&c);
    assert_int_equal(c.engine->exchanges, 4 * HOOK_WORKERS * FIXTURE_STEPS);
}

static int hold_the_other_at_the_end(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    if (w->id == 0 || w->steps < c->n_steps)
        return 0;
    const struct gossip_transfer t = {
        .from = 1, .to = 0, .there_B = gossip_model_B(c, c->n_params), .holds_to = true
    };
    return gossip_send(c, &t, e);
}

/* It was done long before: of that time only the exchange is waiting. */
TEST(a_worker_that_is_done_waits_only_while_something_holds_it)
{
    static const struct gossip_method late = { .meets = true,
                                               .after = hold_the_other_at_the_end,
                                               .mix = leave_models };
    struct gossip_settings s = gossip_fixture_alone();
    GOSSIP_FIXTURE_WITH(f, 2, GOSSIP_IID, clock->jitter = 0, clock->n_slow = 1, clock->slowdown = 3);
    GOSSIP_START(c, &f, &s);
    c.method = &late;
    gossip_fixture_finish(&c);
    assert_close(c.workers[0].wait_s, FIXTURE_MODEL_S, 1e-9);
    assert_near(c.workers[1].wait_s, 0, 0);
}
