#include "tests/support.h"

#include "sim/chunk/chunk.h"
#include "sim/fidelity.h"
#include "sim/step.h"

/* A step under a model of communication, that is released where the block ends. */
#define SIM_STEP(v, tree, ...)                                                                               \
    KEEP(struct sim_step, v, sim_step_free);                                                                 \
    OK(sim_step_build(&v, tree, &(struct sim_way){ __VA_ARGS__ }, e))

/* One ring of 4 at 3 B/s: a reduce-scatter of 8 B takes 2 s, in 4 chunks of 0.5 s. */
struct fixture {
    struct topo_network net;
    struct sim_rules rules;
    struct step_tree tree;
    double bw_Bps[1];
};

static void open_fixture(struct fixture *f)
{
    f->net = (struct topo_network){ .n_dims = 1, .n_npus = 4 };
    f->net.dims[0] = (struct topo_dim){ .shape = TOPO_RING, .size = 4, .efficiency = 1 };
    f->bw_Bps[0] = 3;
    sim_rules_default(&f->rules);
    step_begin(&f->tree, "", &f->net);
}

static void close_fixture(struct fixture *f)
{
    step_free(&f->tree);
}

/* Both are released where the block ends. */
#define FIXTURE(f)                                                                                           \
    KEEP(struct fixture, f, close_fixture);                                                                  \
    open_fixture(&f)
#define EVALUATE(s, f) KEEP(struct sim_step, s, sim_step_free) = evaluate(f)

static step_id inner(struct fixture *f, step_id parent, enum step_kind kind, double times)
{
    return step_add(&f->tree, parent, (struct step_node){ .kind = kind, .times = times });
}

static step_id compute(struct fixture *f, step_id parent, double seconds)
{
    return step_add(&f->tree, parent,
                    (struct step_node){ .kind = STEP_COMPUTE, .seconds = seconds, .times = 1 });
}

static step_id scatter(struct fixture *f, step_id parent, double bytes, double times)
{
    return step_add(&f->tree, parent,
                    (struct step_node){ .kind = STEP_COLLECTIVE,
                                        .collective = COLLECTIVE_REDUCE_SCATTER,
                                        .bytes = bytes,
                                        .times = times });
}

static struct sim_step evaluate(struct fixture *f)
{
    struct sim_step s;
    MUST(sim_step_build(&s, &f->tree, &(struct sim_way){ &f->net, f->bw_Bps, SIM_CHUNK, &f->rules }, e));
    assert_close(s.path.compute_s + s.path.wait_s[0] + s.path.latency_s, s.time_s, 1e-12);
    return s;
}

/* Two at once share the ring: 4 s, not 2. The closed forms know how long it is busy. */
TEST(collectives_side_by_side_share_the_network)
{
    FIXTURE(f);
    step_id both = inner(&f, -1, STEP_MAX, 1);
    scatter(&f, both, 8, 1);
    scatter(&f, both, 8, 1);
    EVALUATE(s, &f);
    assert_close(s.time_s, 4, 1e-15);
    assert_true(s.collectives[0].critical != s.collectives[1].critical);
    sim_step_free(&s);
    OK(sim_step_build(&s, &f.tree, &(struct sim_way){ &f.net, f.bw_Bps, SIM_ALPHA_BETA, &f.rules }, e));
    assert_close(s.time_s, 4, 1e-15);
}

/* max( 1 s compute then 2 s of bytes, 2 s of bytes then 1 s compute ): the ring is busy from 0 to 4. */
TEST(compute_hides_what_others_send)
{
    FIXTURE(f);
    step_id both = inner(&f, -1, STEP_MAX, 1), a = inner(&f, both, STEP_SUM, 1),
            b = inner(&f, both, STEP_SUM, 1);
    compute(&f, a, 1);
    scatter(&f, a, 8, 1);
    scatter(&f, b, 8, 1);
    compute(&f, b, 1);
    EVALUATE(s, &f);
    assert_close(s.time_s, 4, 1e-15);
}

/* Beside two collectives that share the ring, 4 s, runs work that sends nothing: c + 2 * max(1, 2) + 0.5 s.
 * What takes longer counts: as compute, or as exposed bytes. */
TEST(work_without_messages_beside_shared_collectives_counts_when_it_takes_longest)
{
    static const double cases[] = { 3, 2, 0 };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        FIXTURE(f);
        step_id all = inner(&f, -1, STEP_MAX, 1);
        scatter(&f, all, 8, 1);
        step_id work = inner(&f, all, STEP_SUM, 1);
        compute(&f, work, cases[i]);
        step_id again = inner(&f, work, STEP_REPEAT, 2), both = inner(&f, again, STEP_MAX, 1);
        compute(&f, both, 1);
        compute(&f, both, 2);
        compute(&f, work, 0.5);
        scatter(&f, all, 8, 1);
        double work_s = cases[i] + 4 + 0.5;
        EVALUATE(s, &f);
        assert_close(s.time_s, work_s, 1e-15);
        assert_close(s.path.compute_s, work_s, 1e-15);
        assert_near(s.path.wait_s[0], 0, 1e-15);
    }
    FIXTURE(f);
    step_id all = inner(&f, -1, STEP_MAX, 1), work = inner(&f, all, STEP_SUM, 1);
    compute(&f, work, 3);
    scatter(&f, all, 8, 1);
    scatter(&f, all, 8, 1);
    EVALUATE(s, &f);
    assert_close(s.time_s, 4, 1e-15);
    assert_close(s.path.wait_s[0] + s.path.latency_s, 4, 1e-15);
    assert_true(s.path.compute_s == 0);
}

TEST(what_runs_one_after_the_other_adds_up)
{
    FIXTURE(f);
    step_id all = inner(&f, -1, STEP_SUM, 1);
    compute(&f, all, 5);
    scatter(&f, all, 8, 3);
    step_id again = inner(&f, all, STEP_REPEAT, 2.5);
    scatter(&f, again, 4, 1);
    EVALUATE(s, &f);
    assert_close(s.time_s, 5 + 3 * 2 + 2.5 * 1, 1e-15);
    assert_close(s.path.compute_s, 5, 1e-15);
    assert_close(s.busy_s[0], 8.5, 1e-15);
}

/* The same below a maximum, where every execution is simulated: the last repeat does half of the work. */
TEST(a_fraction_of_a_repeat_does_that_part)
{
    FIXTURE(f);
    step_id both = inner(&f, -1, STEP_MAX, 1);
    step_id again = inner(&f, both, STEP_REPEAT, 2.5), work = inner(&f, again, STEP_SUM, 1);
    scatter(&f, work, 4, 1);
    compute(&f, work, 2);
    scatter(&f, both, 1e-9, 1);
    EVALUATE(s, &f);
    assert_close(s.time_s, 2.5 * 3, 1e-9);
}

/* 50,000 times one and 50,000.5 times another, the half being one more; at most 100,000 fit. The network
 * carries nothing: it would not matter how many there are, had any begun. */
TEST(steps_of_too_many_collectives_are_refused_before_they_run)
{
    FIXTURE(f);
    f.bw_Bps[0] = 0;
    step_id both = inner(&f, -1, STEP_MAX, 1);
    scatter(&f, inner(&f, both, STEP_REPEAT, 50000), 8, 1);
    step_id last = scatter(&f, both, 8, 50000.5);
    struct sim_step s;
    FAILS(sim_step_build(&s, &f.tree, &(struct sim_way){ &f.net, f.bw_Bps, SIM_CHUNK, &f.rules }, e),
          ERR_RANGE, "step: has 100001 collectives that run beside others, expected at most 100000");
    f.tree.nodes[last].times = 50000 + 1e-11; /* by rounding */
    OK(sim_step_build(&s, &f.tree, &(struct sim_way){ &f.net, f.bw_Bps, SIM_CHUNK, &f.rules }, e));
    assert_true(isinf(s.time_s));
    sim_step_free(&s);
}

/* A collective of nothing ends as it is issued, also when a timer issues it at the moment the engine has
 * events. */
TEST(what_sends_nothing_does_not_hold_up_the_step)
{
    FIXTURE(f);
    step_id both = inner(&f, -1, STEP_MAX, 1), a = inner(&f, both, STEP_SUM, 1);
    compute(&f, a, 0);
    scatter(&f, a, 0, 1);
    compute(&f, a, 0.5);
    scatter(&f, a, 0, 2);
    scatter(&f, both, 8, 1);
    EVALUATE(s, &f);
    assert_close(s.time_s, 2, 1e-15);
}

TEST(a_step_without_end_is_infinite)
{
    FIXTURE(f);
    f.bw_Bps[0] = 0;
    step_id both = inner(&f, -1, STEP_MAX, 1);
    scatter(&f, both, 8, 1);
    scatter(&f, both, 8, 1);
    SIM_STEP(s, &f.tree, &f.net, f.bw_Bps, SIM_CHUNK, &f.rules);
    assert_true(isinf(s.time_s));
}
