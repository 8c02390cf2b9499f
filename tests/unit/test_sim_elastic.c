#include "tests/settings.h"
#include "tests/unit/slots_fixture.h"

/* ---- a scheduler that does what a script says ---- */

struct move {
    int32_t slot, job, n;
    int32_t servers[3], workers[3];
};

/* A run hands its settings on to the scheduler, and the script with them. */
struct script {
    struct elastic_settings settings;
    const struct move *moves;
    int32_t n;
    int fail_slot; /* no memory in this slot */
};

struct actor {
    const struct script *script;
};

static int actor_build(void **self, const struct cluster *c, const struct elastic_job *jobs, int32_t n_jobs,
                       const struct elastic_settings *settings, struct err *e)
{
    struct actor *x = malloc(sizeof *x);
    (void)c;
    (void)jobs;
    (void)n_jobs;
    (void)e;
    assert_non_null(x);
    x->script = (const struct script *)(const void *)settings;
    *self = x;
    return 0;
}

static int actor_choose(struct elastic_choice *out, struct elastic_note *note, void *self,
                        const struct elastic_slot *slot, struct err *e)
{
    const struct script *s = ((struct actor *)self)->script;
    int rc = s->fail_slot == slot->slot ? err_nomem(e, "a slot") : 0;
    note->bound = 10;
    for (int32_t i = 0; i < s->n && !rc; i++)
        if (s->moves[i].slot == slot->slot)
            rc = elastic_choose(out, s->moves[i].job, s->moves[i].servers, s->moves[i].workers, s->moves[i].n,
                                e);
    return rc;
}

static const struct elastic_scheduler actor = { "actor", "follows a script", actor_build, actor_choose,
                                                free };

/* Two servers of 2 GPUs at a switch, links of 10 B/s. */
static int play(struct elastic_result *r, struct elastic_job *jobs, int32_t n_jobs, const struct move *moves,
                int32_t n, int32_t n_slots, struct err *e)
{
    struct cluster c;
    struct script s = { .settings = elastic_settings_default(), .moves = moves, .n = n };
    s.settings.n_slots = n_slots;
    c = star_of(2, (const double[]){ 2, 2 }, 10);
    int rc = elastic_run(r, &actor, &c, jobs, n_jobs, &s.settings, true, e);
    cluster_free(&c);
    return rc;
}

/* ---- what a run adds up to ---- */

/* Slot 1: a on both servers, 3 workers, 4 B/s out of and into each; slot 2: a on one, b on the other; slot 3:
 * nobody; slot 4: b. a ends with its budget of 4 in slot 2. */
TEST(a_run_adds_up_what_its_slots_did)
{
    static const struct move moves[] = { { 1, 0, 2, { 0, 1 }, { 2, 1 } },
                                         { 2, 0, 1, { 0 }, { 1 } },
                                         { 2, 1, 1, { 1 }, { 2 } },
                                         { 4, 1, 1, { 0 }, { 1 } } };
    struct elastic_job jobs[] = { plain_job("a", 1, 3, 4), plain_job("b", 2, 2, INFINITY) };
    KEEP(struct elastic_result, r, elastic_result_free);
    jobs[0].hop_Bps = 4;
    jobs[1].zeta = 5;
    jobs[1].report.scale = 2;
    OK(play(&r, jobs, 2, moves, COUNT_OF(moves), 4, e));
    static const struct {
        int32_t active, embedded, workers;
        double gpus, reserved_Bps, link_frac, value;
    } want[] = {
        { 1, 1, 3, 3, 16, 0.4, 3 }, { 2, 2, 3, 3, 0, 0, 11 }, { 1, 0, 0, 0, 0, 0, 0 }, { 1, 1, 1, 1, 0, 0, 5 }
    };
    for (int t = 0; t < 4; t++) {
        const struct elastic_slot_result *s = &r.slots[t];
        assert_int_equal(s->active, want[t].active);
        assert_int_equal(s->embedded, want[t].embedded);
        assert_int_equal(s->workers, want[t].workers);
        assert_near(s->gpus, want[t].gpus, 1e-12);
        assert_near(s->gpu_frac, want[t].gpus / 4, 1e-12);
        assert_near(s->reserved_Bps, want[t].reserved_Bps, 1e-12);
        assert_near(s->link_frac, want[t].link_frac, 1e-12);
        assert_near(s->note.value, want[t].value, 1e-12);
        assert_true(s->note.node_over <= 1 && s->note.bound == 10 && isnan(s->note.fixed_bound));
    }
    const struct elastic_job_result *a = &r.jobs[0], *b = &r.jobs[1];
    assert_true(a->first_slot == 1 && a->last_slot == 2 && a->left_slot == 2 && a->slots == 2);
    assert_true(a->used == 4 && a->done == 4 && a->report == 4);
    assert_true(b->first_slot == 2 && b->last_slot == 4 && b->left_slot == 0 && b->slots == 2);
    assert_true(b->used == 3 && b->done == 15 && b->aim == 15 && b->report == 30);
    assert_close(r.utility, 34, 1e-14);
    assert_close(r.aim, 19, 1e-14);
    assert_close(r.gpu_frac, 7. / 16, 1e-14);
    assert_close(r.embedded_frac, (1 + 1 + 0 + 1) / 4., 1e-14);
    assert_close(r.bound_frac, 1.9 / 4, 1e-14);
    for (int arc = 0; arc < r.n_arcs; arc++)
        assert_close(r.arc_frac[arc], 0.1, 1e-12);
    assert_true(r.concave);
    assert_int_equal(workers_of(&r, 1, 0), 3);
}

/* Of a budget of 2.5 worker-slots two can be used. */
TEST(a_job_leaves_when_no_worker_is_left_in_its_budget)
{
    static const struct move moves[] = { { 1, 0, 1, { 0 }, { 1 } }, { 2, 0, 1, { 0 }, { 1 } } };
    struct elastic_job jobs[] = { plain_job("a", 1, 1, 2.5), plain_job("none", 1, 1, 0.5) };
    KEEP(struct elastic_result, r, elastic_result_free);
    OK(play(&r, jobs, 2, moves, COUNT_OF(moves), 3, e));
    assert_int_equal(r.jobs[0].left_slot, 2);
    assert_int_equal(r.slots[0].active, 1); /* "none" is never offered */
    assert_int_equal(r.slots[2].active, 0);
}

/* A sigmoid of middle 2 and slope 1 is at 1 / (1 + 1/e) = .731 after three iterations, at .881 after four. */
TEST(a_job_leaves_at_its_share_of_a_sigmoid)
{
    static const struct move moves[] = { { 1, 0, 1, { 0 }, { 2 } },
                                         { 2, 0, 1, { 0 }, { 1 } },
                                         { 3, 0, 1, { 0 }, { 1 } } };
    struct elastic_job job = plain_job("a", 1, 2, INFINITY);
    struct elastic_result r;
    OK(utility_build(&job.report, UTILITY_SIGMOID, 7, 1, 2, INFINITY, e));
    job.aim = job.report;
    job.leave_frac = 0.8;
    OK(play(&r, &job, 1, moves, 3, 5, e));
    assert_int_equal(r.jobs[0].left_slot, 3);
    assert_close(r.utility, 7 / (1 + exp(-2)), 1e-14);
    assert_false(r.concave);
    elastic_result_free(&r);
    /* An aim that is concave does not make what is reported so. */
    OK(utility_build(&job.aim, UTILITY_LINEAR, 1, 0, 0, INFINITY, e));
    OK(play(&r, &job, 1, moves, 3, 5, e));
    assert_false(r.concave);
    elastic_result_free(&r);
    job.aim = job.report;
    job.leave_frac = 0.73;
    OK(play(&r, &job, 1, moves, 2, 5, e));
    assert_int_equal(r.jobs[0].left_slot, 2);
    elastic_result_free(&r);
}

/* gain[w] in place of zeta w. */
TEST(a_table_of_gains_is_what_a_slot_gives)
{
    static const double gain[] = { 0, 5, 6, 6.5 };
    static const struct move moves[] = { { 1, 0, 2, { 0, 1 }, { 2, 1 } }, { 2, 0, 1, { 0 }, { 2 } } };
    struct elastic_job job = plain_job("a", 1, 3, INFINITY);
    KEEP(struct elastic_result, r, elastic_result_free);
    job.gain = gain;
    assert_close(elastic_gain(&job, 1, ELASTIC_FULL), 5, 1e-15);
    OK(play(&r, &job, 1, moves, 2, 2, e));
    assert_close(r.jobs[0].done, 12.5, 1e-15);
    assert_close(r.jobs[0].used, 5, 1e-15);
}

/* ---- schedulers that cheat ---- */

TEST(a_scheduler_that_cheats_is_told_so)
{
    CASES(struct move moves[2]; const char *text) = {
        { { { 1, 0, 2, { 0, 1 }, { 2, 2 } } }, "slot 1: job a has more workers than it may have" },
        { { { 1, 1, 1, { 0 }, { 2 } } }, "slot 1: job b has more workers than it may have" },
        { { { 1, 0, 2, { 1, 1 }, { 1, 1 } } }, "slot 1: job a has a server twice, or without a worker" },
        { { { 1, 0, 2, { 0, 1 }, { 1, 0 } } }, "slot 1: job a has a server twice, or without a worker" },
        { { { 1, 0, 1, { 2 }, { 1 } } }, "slot 1: job a has a server that does not exist" },
        { { { 1, 0, 1, { -1 }, { 1 } } }, "slot 1: job a has a server that does not exist" },
        { { { 1, 0, 0, { 0 }, { 0 } } }, "slot 1: job a has a ring without servers" },
        { { { 1, 0, 1, { 0 }, { 3 } } }, "slot 1 is overloaded" },
        { { { 1, 0, 1, { 0 }, { 2 } }, { 1, 1, 1, { 0 }, { 1 } } }, "slot 1 is overloaded" },
        { { { 1, 0, 1, { 0 }, { 1 } }, { 1, 0, 1, { 1 }, { 1 } } }, "slot 1: job a has two rings" },
        { { { 1, 1, 1, { 0 }, { 1 } }, { 1, 1, 1, { 1 }, { 1 } } }, "slot 1: job b has two rings" },
        { { { 1, 1, 1, { 0 }, { 1 } }, { 2, 1, 1, { 0 }, { 1 } } },
          "slot 2 has workers for job number 1, which is not active" },
        { { { 2, 2, 1, { 0 }, { 1 } } }, "slot 2 has workers for job number 2, which is not active" },
        { { { 1, 3, 1, { 0 }, { 1 } } }, "slot 1 has workers for job number 3, which is not active" },
        { { { 1, 9, 1, { 0 }, { 1 } } }, "slot 1 has workers for job number 9, which is not active" },
        { { { 1, -1, 1, { 0 }, { 1 } } }, "slot 1 has workers for job number -1, which is not active" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct elastic_job jobs[] = { plain_job("a", 1, 3, 9), plain_job("b", 1, 2, 1),
                                      plain_job("later", 3, 1, 9), plain_job("none", 1, 1, 0) };
        KEEP(struct elastic_result, r, elastic_result_free);
        int32_t n = cases[i].moves[1].slot ? 2 : 1;
        FAILS(play(&r, jobs, 4, cases[i].moves, n, 3, e), ERR_RANGE, cases[i].text);
        assert_has(e->msg, "scheduler actor: ");
        assert_null(r.jobs);
    }
}

/* Links of 10 B/s: two rings of 6 B/s over both servers. */
TEST(links_are_watched_too)
{
    static const struct move moves[] = { { 1, 0, 2, { 0, 1 }, { 1, 1 } }, { 1, 1, 2, { 1, 0 }, { 1, 1 } } };
    struct elastic_job jobs[] = { plain_job("a", 1, 2, 9), plain_job("b", 1, 2, 9) };
    KEEP(struct elastic_result, r, elastic_result_free);
    jobs[0].hop_Bps = jobs[1].hop_Bps = 6;
    FAILS(play(&r, jobs, 2, moves, 2, 1, e), ERR_RANGE, "slot 1 is overloaded");
    jobs[1].hop_Bps = 4;
    *e = (struct err){ 0 };
    OK(play(&r, jobs, 2, moves, 2, 1, e));
    assert_close(r.slots[0].link_frac, 1, 1e-12);
}

/* A server without GPUs has no share that could be above 1. */
TEST(a_worker_where_no_gpu_is_is_an_overload)
{
    static const struct move moves[] = { { 1, 0, 1, { 1 }, { 1 } } };
    struct elastic_job job = plain_job("a", 1, 1, 9);
    struct script s = { .settings = elastic_settings_default(), .moves = moves, .n = 1 };
    struct elastic_result r;
    s.settings.n_slots = 1;
    KEEP(struct cluster, c, cluster_free) = star_of(2, (const double[]){ 1, 0 }, 10);
    FAILS(elastic_run(&r, &actor, &c, &job, 1, &s.settings, false, e), ERR_RANGE, "slot 1 is overloaded");
    s.settings.paper_rounding = true;
    *e = (struct err){ 0 };
    OK(elastic_run(&r, &actor, &c, &job, 1, &s.settings, false, e));
    assert_true(isinf(r.slots[0].note.node_over));
    elastic_result_free(&r);
    s.fail_slot = 1;
    *e = (struct err){ 0 };
    FAILS(elastic_run(&r, &actor, &c, &job, 1, &s.settings, true, e), ERR_NOMEM, "a slot");
}

/* ---- jobs that cannot be ---- */

TEST(a_job_that_cannot_be_is_an_error)
{
    static const double wrong_gain[] = { 0, 1, NAN };
    static const char *const texts[] = {
        "job a: arrival is slot 0, expected 1 or later",
        "job a: has up to 0 workers, expected 1 to 256",
        "job a: has up to 257 workers, expected 1 to 256",
        "job a: gpu is -1, expected a number >= 0",
        "job a: a worker takes 0 of gpu, expected more than 0",
        "job a: budget is nan, expected a number >= 0",
        "job a: hop bandwidth is inf, expected a number >= 0",
        "job a: progress of a slot is nan, expected a number >= 0",
        "job a: leave_frac is -1, expected a number >= 0",
        "job a: one worker takes 3 of gpu, expected at most 2, what the largest server has",
        "job a: arrival is slot 6, expected one of the run's 5 slots",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct elastic_job j = plain_job("a", 1, 2, 9);
        struct elastic_result r;
        j.arrival = i == 0 ? 0 : i == 10 ? 6 : 1;
        j.max_workers = i == 1 ? 0 : 2;
        j.fixed_workers = i == 2 ? 257 : 2;
        j.demand[0] = i == 3 ? -1 : i == 4 ? 0 : i == 9 ? 3 : 1;
        j.budget = i == 5 ? (double)NAN : 9;
        j.hop_Bps = i == 6 ? INFINITY : 0;
        j.gain = i == 7 ? wrong_gain : NULL;
        j.leave_frac = i == 8 ? -1 : INFINITY;
        FAILS(play(&r, &j, 1, NULL, 0, 5, e), ERR_RANGE, texts[i]);
        elastic_result_free(&r);
    }
    struct elastic_result r;
    OK(play(&r, NULL, 0, NULL, 0, 2, e));
    assert_true(r.utility == 0 && isnan(r.embedded_frac) && isnan(r.bound_frac));
    elastic_result_free(&r);
}

/* gpu 4, mem 8 on one server, gpu 1, mem 100 on the other. */
TEST(the_resource_that_is_short_is_named)
{
    static const char *const names[] = { "gpu", "mem" };
    static const double each[] = { 4, 8, 1, 100 }, Bps[] = { 10, 10 };
    static const int32_t rack[] = { 0, 0 };
    static const struct {
        double gpu, mem;
        const char *text; /* NULL: fits */
    } cases[] = {
        { 4, 8, NULL },
        { 1, 100, NULL },
        { 5, 1, "one worker takes 5 of gpu, expected at most 4, what the largest server has" },
        { 1, 101, "one worker takes 101 of mem, expected at most 100, what the largest server has" },
        { 2, 9, "no server has all that one worker takes" },
    };
    const struct cluster_racks racks = { 2, 1, rack, Bps, Bps, 0 };
    const struct cluster_offer offer = { 2, names, each, true };
    KEEP(struct cluster, c, cluster_free);
    OK(cluster_build_racks(&c, &racks, &offer, e));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct elastic_job j = plain_job("a", 1, 1, 1);
        j.demand[0] = cases[i].gpu;
        j.demand[1] = cases[i].mem;
        *e = (struct err){ 0 };
        if (cases[i].text)
            FAILS(elastic_check_job(&j, &c, e), ERR_RANGE, cases[i].text);
        else
            OK(elastic_check_job(&j, &c, e));
    }
}
