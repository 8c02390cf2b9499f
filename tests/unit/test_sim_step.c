#include "tests/unit/step_oracle.h"

#include "base/rng.h"
#include "sim/fidelity.h"
#include "sim/step.h"
#include "workloads/step.h"
#include "workloads/step_fn.h"

/* A step under a model of communication, that is released where the block ends. */
#define SIM_STEP(v, tree, ...)                                                                               \
    KEEP(struct sim_step, v, sim_step_free);                                                                 \
    OK(sim_step_build(&v, tree, &(struct sim_way){ __VA_ARGS__ }, e))

/* ---- random trees ---- */

struct forest {
    struct rng *rng;
    struct step_tree tree;
    bool overlap; /* may have maxima */
};

static void grow(struct forest *f, step_id parent, int depth)
{
    static const enum step_kind kinds[] = { STEP_COMPUTE, STEP_COLLECTIVE, STEP_COLLECTIVE,
                                            STEP_SUM,     STEP_REPEAT,     STEP_MAX };
    struct step_node node = { .kind = kinds[rng_below(f->rng, f->overlap ? 6 : 5)], .times = 1 };
    if (depth == 0 && node.kind >= STEP_SUM)
        node.kind = STEP_COLLECTIVE;
    if (parent < 0)
        node.kind = STEP_SUM;
    node.phase = (enum step_phase)rng_below(f->rng, STEP_BUBBLE); /* which has a test of its own */
    node.seconds = rng_log_range(f->rng, 1e-6, 1e-2);
    node.bytes = rng_log_range(f->rng, 1e3, 1e9);
    node.collective = (enum collective_kind)rng_below(f->rng, N_COLLECTIVES);
    node.group = (int32_t)rng_below(f->rng, f->tree.n_groups);
    if (node.kind == STEP_COLLECTIVE)
        node.times = (double)(1 + rng_below(f->rng, 5));
    if (node.kind == STEP_REPEAT)
        node.times = rng_range(f->rng, 0.5, 8);
    step_id id = step_add(&f->tree, parent, node);
    if (node.kind >= STEP_SUM)
        for (int64_t n = node.kind == STEP_REPEAT ? 1 : 1 + rng_below(f->rng, 4); n > 0; n--)
            grow(f, id, depth - 1);
}

static const int32_t sizes[] = { 4, 8, 2, 16 };

static struct topo_network random_network(struct rng *rng)
{
    struct topo_network net = oracle_network(sizes, 4);
    for (int d = 0; d < 4; d++) {
        net.dims[d].shape = (enum topo_shape)rng_below(rng, 4);
        net.dims[d].lat_s = rng_log_range(rng, 1e-9, 1e-4);
    }
    return net;
}

static void plant(struct forest *f, const struct topo_network *net, bool overlap)
{
    static const int32_t members[][4] = { { 4, 2, 1, 1 }, { 1, 4, 2, 16 }, { 2, 1, 1, 8 }, { 1, 1, 1, 1 } };
    f->overlap = overlap;
    step_begin(&f->tree, "random", net);
    for (size_t i = 0; i < COUNT_OF(members); i++)
        step_add_group(&f->tree, "g", members[i]);
    grow(f, -1, 4);
}

static double sum_of(const double *x)
{
    return x[0] + x[1] + x[2] + x[3];
}

/* A line of more than two is as fast as its end, which has one of the two links. */
static double reach(const struct topo_dim *dim)
{
    return dim->shape == TOPO_LINE && dim->size > 2 ? 0.5 : 1;
}

static double count_collectives(const struct step_tree *t, step_id id)
{
    const struct step_node *node = &t->nodes[id];
    double n = node->kind == STEP_COLLECTIVE;
    for (step_id c = node->first; c >= 0; c = t->nodes[c].next)
        n += count_collectives(t, c);
    return n * (node->kind == STEP_COLLECTIVE || node->kind == STEP_REPEAT ? node->times : 1);
}

/* All of the account is the time; what collectives have of it is what groups have. */
static double account_sum(const struct sim_step *s)
{
    double phases_s = 0, exposed_s = 0, collectives_s = 0;
    for (int p = 0; p < N_STEP_PHASES; p++)
        phases_s += s->account.phase_s[p];
    for (int32_t g = 0; g < s->account.n_groups; g++)
        exposed_s += s->account.exposed[g].latency_s + sum_of(s->account.exposed[g].dim_s);
    for (int32_t i = 0; i < s->n_collectives; i++)
        collectives_s += s->collectives[i].exposed_s;
    assert_near(exposed_s, collectives_s, 1e-12 * s->time_s);
    return phases_s + exposed_s;
}

static void check_account(const struct sim_step *s, const struct step_tree *t)
{
    assert_close(account_sum(s), s->time_s, 1e-12);
    for (int p = 0; p < N_STEP_PHASES; p++)
        assert_true(s->account.phase_s[p] <= oracle_compute(t, t->root, (enum step_phase)p) * (1 + 1e-12));
}

/* The walk over the tree and the compiled step agree, and the parts make up the whole. */
static void check_time(const struct sim_step *s, const struct step_tree *compiled,
                       const struct topo_network *net, const double *bw_Bps)
{
    KEEP(struct step_fn, fn, step_fn_free);
    MUST(step_compile(&fn, compiled, net, e));
    assert_close(s->time_s, step_time(&fn, bw_Bps), 1e-12);
    assert_close(s->path.compute_s + s->path.latency_s + sum_of(s->path.wait_s), s->time_s, 1e-12);
    for (int d = 0; d < 4; d++) {
        assert_true(s->path.wait_s[d] <= s->busy_s[d] * (1 + 1e-9));
        assert_true(s->busy_s[d] <= s->time_s * (1 + 1e-12));
    }
    check_account(s, compiled);
}

static void check_bandwidth(const struct forest *f, const struct topo_network *net, const double *bw_Bps)
{
    KEEP(struct sim_step, s, sim_step_free);
    MUST(sim_step_build(&s, &f->tree, &(struct sim_way){ net, bw_Bps, SIM_BANDWIDTH, NULL }, e));
    check_time(&s, &f->tree, net, bw_Bps);
    assert_true(s.path.latency_s == 0);
    for (int d = 0; d < 4; d++) {
        double traffic_B = oracle_traffic(&f->tree, f->tree.root, N_STEP_PHASES, d);
        assert_close(s.traffic_B[d], traffic_B, 1e-12);
        assert_close(s.busy_s[d], traffic_B / net->dims[d].efficiency / reach(&net->dims[d]) / bw_Bps[d],
                     1e-12);
    }
}

static void check_alpha_beta(const struct forest *f, const struct topo_network *net, const double *bw_Bps,
                             int32_t chunks)
{
    KEEP(struct step_tree, lowered, step_free);
    struct sim_rules rules;
    KEEP(struct sim_step, s, sim_step_free);
    sim_rules_default(&rules);
    rules.stage.chunks = chunks;
    MUST(sim_step_build(&s, &f->tree, &(struct sim_way){ net, bw_Bps, SIM_ALPHA_BETA, &rules }, e));
    MUST(step_lower(&lowered, &f->tree, &(struct collective_way){ net, &rules.stage, bw_Bps }, e));
    check_time(&s, &lowered, net, bw_Bps);
}

TEST(parts_add_up_to_the_time_of_the_compiled_step)
{
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct forest f = { 0 };
        double bw_Bps[4];
        OK(rng_build(&f.rng, seed, 0, e));
        struct topo_network net = random_network(f.rng);
        plant(&f, &net, seed % 2);
        for (int d = 0; d < 4; d++)
            bw_Bps[d] = rng_log_range(f.rng, 1e9, 1e12);
        double reached_Bps[4];
        for (int d = 0; d < 4; d++)
            reached_Bps[d] = bw_Bps[d] * reach(&net.dims[d]);
        SIM_STEP(s, &f.tree, &net, bw_Bps, SIM_BANDWIDTH, NULL);
        assert_close(s.time_s, oracle_time(&f.tree, f.tree.root, reached_Bps), 1e-12);
        for (int d = 0; d < 4; d++)
            net.dims[d].efficiency = rng_range(f.rng, 0.3, 1);
        check_bandwidth(&f, &net, bw_Bps);
        check_alpha_beta(&f, &net, bw_Bps, (int32_t[]){ 1, 4, 64 }[seed % 3]);
        step_free(&f.tree);
        rng_free(f.rng);
    }
}

/* A simulation in chunks, each collective in the order that the closed form takes: no dimension is busy for
 * longer than the step, and the step takes no less than the closed form says. */
TEST(simulated_steps_are_no_faster_than_links_and_closed_form)
{
    int64_t n_later = 0;
    for (uint64_t seed = 1000; seed < 1150; seed++) {
        struct forest f = { 0 };
        double bw_Bps[4];
        struct sim_rules rules;
        OK(rng_build(&f.rng, seed, 0, e));
        struct topo_network net = random_network(f.rng);
        plant(&f, &net, true);
        for (int d = 0; d < 4; d++)
            bw_Bps[d] = rng_log_range(f.rng, 1e9, 1e12);
        sim_rules_default(&rules);
        rules.order = SIM_ORDER_FIXED;
        SIM_STEP(closed, &f.tree, &net, bw_Bps, SIM_BANDWIDTH, NULL);
        SIM_STEP(s, &f.tree, &net, bw_Bps, SIM_CHUNK, &rules);
        assert_true(s.time_s >= closed.time_s * (1 - 1e-9));
        for (int d = 0; d < 4; d++)
            assert_true(s.busy_s[d] <= s.time_s * (1 + 1e-9));
        n_later += s.time_s > closed.time_s * 1.01;
        step_free(&f.tree);
        rng_free(f.rng);
    }
    assert_true(n_later > 50);
}

/* ---- by hand ---- */

/* Ring of 4 at 10 GB/s of which half is reached, switch of 8 at 1 GB/s; latencies 1 us and 2 us. */
static struct topo_network small_network(void)
{
    static const int32_t two[] = { 4, 8 };
    WITH(struct topo_network, net, oracle_network(two, 2), net.dims[0].efficiency = 0.5,
         net.dims[0].lat_s = 1e-6, net.dims[1].shape = TOPO_SWITCH, net.dims[1].lat_s = 2e-6);
    return net;
}

static const double small_bw_Bps[] = { 10e9, 1e9 };

static step_id add_compute(struct step_tree *t, step_id parent, double seconds)
{
    return step_add(t, parent, (struct step_node){ .kind = STEP_COMPUTE, .seconds = seconds, .times = 1 });
}

static step_id add_all_reduce(struct step_tree *t, step_id parent, double bytes, int32_t group, double times)
{
    return step_add(t, parent,
                    (struct step_node){ .kind = STEP_COLLECTIVE,
                                        .collective = COLLECTIVE_ALL_REDUCE,
                                        .bytes = bytes,
                                        .group = group,
                                        .times = times });
}

static step_id add_inner(struct step_tree *t, step_id parent, enum step_kind kind, double times)
{
    return step_add(t, parent, (struct step_node){ .kind = kind, .times = times });
}

static struct sim_rules in_chunks(int32_t chunks)
{
    struct sim_rules rules;
    sim_rules_default(&rules);
    rules.stage.chunks = chunks;
    return rules;
}

/*
 * All-reduce of 32 MB over 4 x 8: ring 2*32*3/4 = 48 MB at 5 GB/s = 9.6 ms, switch 2*32/4*7/8 = 14 MB
 * at 1 GB/s = 14 ms; latency of a chunk 2*3*1 us on the ring, 2*3*2 us (log2 8 = 3) on the switch.
 * One chunk: all of it in sequence. Four: the switch works on all four, the ring on the first before and
 * on the last after: 14 ms + 9.6/4 ms, 4*12 us + 6 us. Three times, in a repeat of 2.
 */
TEST(one_collective_costs_what_a_hand_computes)
{
    CASES(int32_t chunks; double wait_s[2], latency_s) = {
        { 1, { 9.6e-3, 14e-3 }, 18e-6 },
        { 4, { 2.4e-3, 14e-3 }, 54e-6 },
    };
    struct topo_network net = small_network();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct sim_rules rules = in_chunks(cases[i].chunks);
        double once_s = cases[i].wait_s[0] + cases[i].wait_s[1] + cases[i].latency_s;
        STEP_BEGIN(t, "by hand", &net);
        step_id root = add_inner(&t, -1, STEP_SUM, 1);
        add_compute(&t, root, 0.25);
        add_all_reduce(&t, add_inner(&t, root, STEP_REPEAT, 2), 32e6, 0, 3);
        SIM_STEP(s, &t, &net, small_bw_Bps, SIM_ALPHA_BETA, &rules);
        assert_int_equal(s.n_collectives, 1);
        const struct sim_collective *c = &s.collectives[0];
        assert_int_equal(c->node, 3);
        assert_true(c->times == 6 && c->bytes == 32e6 && c->critical);
        assert_close(c->traffic_B[0], 48e6, 1e-15);
        assert_close(c->traffic_B[1], 14e6, 1e-15);
        assert_close(c->busy_s[0], 9.6e-3, 1e-14);
        assert_close(c->busy_s[1], 14e-3, 1e-14);
        assert_close(c->latency_s, cases[i].latency_s, 1e-14);
        assert_close(c->time_s, once_s, 1e-14);
        assert_true(c->n_binds == 1 && c->binds[1]);
        assert_close(s.time_s, 0.25 + 6 * once_s, 1e-14);
        assert_true(s.path.compute_s == 0.25);
        for (int d = 0; d < 2; d++)
            assert_close(s.path.wait_s[d], 6 * cases[i].wait_s[d], 1e-14);
        assert_close(s.path.latency_s, 6 * cases[i].latency_s, 1e-14);
        assert_close(s.busy_s[0], 57.6e-3, 1e-14);
        assert_close(s.traffic_B[1], 84e6, 1e-15);
    }
}

TEST(of_a_maximum_only_the_longest_term_is_critical)
{
    CASES(double compute_s; /* beside an all-reduce of 14 ms on the switch */ bool exchange_critical;
          double want_compute_s, want_exposed_s) = {
        { 20e-3, false, 20e-3, 0 },
        { 1e-3, true, 0, 14e-3 },
        { 14e-3, false, 14e-3, 0 }, /* a tie goes to the first */
    };
    struct topo_network net = small_network();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        STEP_BEGIN(t, "overlap", &net);
        step_id root = add_inner(&t, -1, STEP_MAX, 1);
        add_compute(&t, root, cases[i].compute_s);
        add_all_reduce(&t, root, 32e6, 0, 1);
        SIM_STEP(s, &t, &net, small_bw_Bps, SIM_BANDWIDTH, NULL);
        assert_int_equal(s.collectives[0].critical, cases[i].exchange_critical);
        assert_close(s.path.compute_s, cases[i].want_compute_s, 1e-15);
        assert_close(s.path.wait_s[1], cases[i].want_exposed_s, 1e-15);
        assert_close(s.busy_s[1], 14e-3, 1e-15);
    }
}

/* 20 ms of compute and then 14 ms of bytes on the switch, beside two more such exchanges: the switch is busy
 * for 42 ms, and all of that is waited for. The ring, which all use as well, is busy for 28.8 ms. */
TEST(links_that_all_share_are_waited_for)
{
    struct topo_network net = small_network();
    STEP_BEGIN(t, "shared", &net);
    step_id root = add_inner(&t, -1, STEP_MAX, 1), work = add_inner(&t, root, STEP_SUM, 1);
    add_compute(&t, work, 20e-3);
    add_all_reduce(&t, work, 32e6, 0, 1);
    add_all_reduce(&t, root, 32e6, 0, 2);
    SIM_STEP(s, &t, &net, small_bw_Bps, SIM_BANDWIDTH, NULL);
    assert_close(s.time_s, 42e-3, 1e-14);
    assert_close(s.busy_s[0], 28.8e-3, 1e-14);
    assert_close(s.path.wait_s[1], 42e-3, 1e-14);
    assert_true(s.path.compute_s == 0 && s.path.wait_s[0] == 0 && s.path.latency_s == 0);
    assert_true(s.collectives[0].critical && s.collectives[1].critical);
    /* The account: compute and what follows it whole, then what the other two take of the switch beyond. */
    assert_close(account_sum(&s), 42e-3, 1e-12);
    assert_close(s.account.exposed[0].dim_s[1], 22e-3, 1e-12);
    assert_close(s.collectives[1].exposed_s, 8e-3, 1e-12);
}

/* Worked out by hand: on one switch, 2 B/s; a send of 2 x bytes takes x seconds. Of two side by side the one
 * that computes most counts whole, then what of the longest lasts beyond it. */
TEST(compute_counts_whole_and_communication_as_far_as_it_sticks_out)
{
    struct topo_network net;
    const double bw_Bps[] = { 2 };
    CASES(double compute_s[2], send_s[2], want_compute_s, want_s[2]) = {
        { { 5, 0 }, { 0, 7 }, 5, { 0, 2 } },
        { { 0, 5 }, { 7, 0 }, 5, { 2, 0 } },
        { { 5, 0 }, { 0, 3 }, 5, { 0, 0 } },
        { { 3, 2 }, { 1, 5 }, 3, { 1, 3 } },
        /* The link is busy for longer than either. */
        { { 3, 2 }, { 9, 5 }, 3, { 9, 2 } },
        { { 0, 0 }, { 4, 6 }, 0, { 4, 6 } },
        { { 1, 1 }, { 2, 2 }, 1, { 2, 1 } },
    };
    OK(topo_parse_spec(&net, "switch:2@1", e));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const int32_t members[] = { 2 };
        STEP_BEGIN(t, "beside", &net);
        step_add_group(&t, "one", members);
        step_add_group(&t, "two", members);
        step_id root = add_inner(&t, add_inner(&t, -1, STEP_REPEAT, 3), STEP_MAX, 1);
        for (int k = 0; k < 2; k++) {
            step_id sum = add_inner(&t, root, STEP_SUM, 1);
            add_compute(&t, sum, cases[i].compute_s[k]);
            step_add(&t, sum,
                     (struct step_node){ .kind = STEP_COLLECTIVE,
                                         .collective = COLLECTIVE_SEND,
                                         .bytes = 2 * cases[i].send_s[k],
                                         .group = k + 1,
                                         .times = 1 });
        }
        SIM_STEP(s, &t, &net, bw_Bps, SIM_BANDWIDTH, NULL);
        double compute_s = 0;
        for (int p = 0; p < N_STEP_PHASES; p++)
            compute_s += s.account.phase_s[p];
        assert_near(compute_s, 3 * cases[i].want_compute_s, 1e-12);
        for (int k = 0; k < 2; k++)
            assert_near(s.account.exposed[k + 1].dim_s[0], 3 * cases[i].want_s[k], 1e-12);
        assert_close(account_sum(&s), s.time_s, 1e-12);
    }
}

/* The host's launches last 5 s, what they start 3: 2 s are overhead. Of what a stage waits for all is bubble.
 */
TEST(launches_count_as_far_as_they_stick_out_and_waiting_is_bubble)
{
    struct topo_network net = small_network();
    STEP_BEGIN(t, "launches", &net);
    step_id root = add_inner(&t, -1, STEP_SUM, 1), most = add_inner(&t, root, STEP_MAX, 1);
    step_add(&t, most, (struct step_node){ .kind = STEP_COMPUTE, .phase = STEP_OVERHEAD, .seconds = 5 });
    add_compute(&t, most, 3);
    most = add_inner(&t, root, STEP_MAX, 1);
    step_add(&t, most, (struct step_node){ .kind = STEP_COMPUTE, .phase = STEP_BUBBLE, .seconds = 1e-3 });
    step_id late = add_all_reduce(&t, most, 32e6, 0, 1);
    t.nodes[late].phase = STEP_BUBBLE;
    SIM_STEP(s, &t, &net, small_bw_Bps, SIM_BANDWIDTH, NULL);
    assert_close(s.account.phase_s[STEP_OVERHEAD], 2, 1e-12);
    assert_close(s.account.phase_s[STEP_BUBBLE], 14e-3, 1e-12);
    assert_close(account_sum(&s), s.time_s, 1e-12);
    assert_true(s.collectives[0].exposed_s == 0);
}

/* Overlapping collectives slow each other down, and the longest changes by turns: all of that is exposed. */
TEST(simulated_steps_are_accounted_for_in_full)
{
    int32_t n_joint = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct forest f = { 0 };
        double bw_Bps[4];
        struct sim_rules rules;
        OK(rng_build(&f.rng, seed, 1, e));
        struct topo_network net = random_network(f.rng);
        plant(&f, &net, true);
        for (int d = 0; d < 4; d++)
            bw_Bps[d] = rng_log_range(f.rng, 1e9, 1e12);
        sim_rules_default(&rules);
        rules.stage.chunks = 2;
        if (count_collectives(&f.tree, f.tree.root) < 3000) {
            SIM_STEP(s, &f.tree, &net, bw_Bps, SIM_CHUNK, &rules);
            assert_close(account_sum(&s), s.time_s, 1e-12);
            n_joint++;
        }
        step_free(&f.tree);
        rng_free(f.rng);
    }
    assert_true(n_joint > 20);
}

TEST(below_a_term_that_is_not_critical_nothing_is)
{
    struct topo_network net = small_network();
    STEP_BEGIN(t, "hidden", &net);
    step_id root = add_inner(&t, -1, STEP_MAX, 1);
    step_id hidden = add_inner(&t, root, STEP_SUM, 1);
    add_compute(&t, root, 1);
    add_compute(&t, hidden, 0.1);
    add_all_reduce(&t, hidden, 32e6, 0, 1);
    const struct sim_rules rules = in_chunks(4);
    SIM_STEP(s, &t, &net, small_bw_Bps, SIM_ALPHA_BETA, &rules);
    assert_true(s.time_s == 1 && s.path.compute_s == 1 && s.path.latency_s == 0 &&
                sum_of(s.path.wait_s) == 0);
    assert_false(s.collectives[0].critical);
}

TEST(dimensions_that_tie_share_what_is_exposed)
{
    CASES(double bw_Bps[2]; bool binds[2]) = {
        { { 96e9, 14e9 }, { true, true } },
        { { 96e9, 14e9 * (1 - 1e-12) }, { true, true } }, /* rounding of a solver */
        { { 96e9, 14e9 * (1 - 1e-5) }, { false, true } },
        { { 96e9 * (1 - 1e-5), 14e9 }, { true, false } },
    };
    struct topo_network net = small_network();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        STEP_BEGIN(t, "tie", &net);
        add_all_reduce(&t, -1, 32e6, 0, 1);
        SIM_STEP(s, &t, &net, cases[i].bw_Bps, SIM_BANDWIDTH, NULL);
        assert_int_equal(s.collectives[0].n_binds, cases[i].binds[0] + cases[i].binds[1]);
        for (int d = 0; d < 2; d++) {
            assert_int_equal(s.collectives[0].binds[d], cases[i].binds[d]);
            assert_true(s.path.wait_s[d] == (cases[i].binds[d] ? s.time_s / s.collectives[0].n_binds : 0));
        }
        assert_true(s.time_s == fmax(s.busy_s[0], s.busy_s[1]));
    }
}

TEST(a_dimension_without_bandwidth_matters_only_where_it_is_used)
{
    static const double bw_Bps[] = { 10e9, 0 };
    static const int32_t inner[] = { 4, 1 };
    struct topo_network net = small_network();
    STEP_BEGIN(t, "unused", &net);
    step_id root = add_inner(&t, -1, STEP_SUM, 1);
    add_all_reduce(&t, root, 32e6, step_add_group(&t, "inner", inner), 1);
    SIM_STEP(s, &t, &net, bw_Bps, SIM_BANDWIDTH, NULL);
    assert_close(s.time_s, 9.6e-3, 1e-15);
    assert_true(s.busy_s[1] == 0 && s.collectives[0].traffic_B[1] == 0);
    sim_step_free(&s);

    add_all_reduce(&t, root, 32e6, 0, 1);
    OK(sim_step_build(&s, &t, &(struct sim_way){ &net, bw_Bps, SIM_BANDWIDTH, NULL }, e));
    assert_true(isinf(s.time_s) && isinf(s.path.wait_s[1]));
}

TEST(a_collective_of_one_member_costs_nothing)
{
    static const int32_t alone[] = { 1, 1 };
    struct topo_network net = small_network();
    STEP_BEGIN(t, "alone", &net);
    add_all_reduce(&t, -1, 32e6, step_add_group(&t, "alone", alone), 1);
    const struct sim_rules rules = in_chunks(4);
    SIM_STEP(s, &t, &net, small_bw_Bps, SIM_ALPHA_BETA, &rules);
    assert_true(s.collectives[0].n_binds == 0 && s.time_s == 0 && s.path.latency_s == 0);
    sim_step_free(&s);
}

/* Two stages of a pipeline on different NPUs, the second slower; then the first waits for it. */
TEST(what_other_stages_send_is_not_sent_by_this_one)
{
    struct topo_network net;
    const double bw_Bps[] = { 1e9 };
    OK(topo_parse_spec(&net, "switch:2@1", e));
    STEP_BEGIN(t, "stages", &net);
    step_id root = step_add(&t, -1, (struct step_node){ .kind = STEP_SUM, .times = 1 });
    step_id most = step_add(&t, root, (struct step_node){ .kind = STEP_MAX, .times = 1, .apart = true });
    const struct step_node send = {
        .kind = STEP_COLLECTIVE, .collective = COLLECTIVE_SEND, .bytes = 1e9, .times = 1
    };
    struct step_node slow = send, idle = send;
    slow.bytes = 3e9;
    idle.bytes = 5e9;
    idle.phase = STEP_BUBBLE;
    step_add(&t, most, send);
    step_add(&t, most, slow);
    step_add(&t, root, idle);
    for (int model = SIM_BANDWIDTH; model <= SIM_FLOW; model++) {
        struct sim_rules rules;
        sim_rules_default(&rules);
        KEEP(struct sim_step, s, sim_step_free);
        OK(sim_step_build(&s, &t, &(struct sim_way){ &net, bw_Bps, (enum sim_model)model, &rules }, e));
        assert_close(s.time_s, 8, 1e-12); /* the slower stage, and what is waited for; nothing meets */
        assert_close(s.traffic_B[0], 3e9, 1e-12);
        assert_close(s.busy_s[0], 3, 1e-12);
        assert_close(s.path.wait_s[0], 8, 1e-12);
    }
}

/* Of two stages the second sends longer: 4 (32 + 16) MB for 4 (32 + 8). What only part of a dimension does is
 * told of each. */
TEST(the_longer_stage_sends_in_as_many_dimensions_as_there_can_be)
{
    int32_t size[TOPO_MAX_DIMS], half[TOPO_MAX_DIMS];
    double bw_Bps[TOPO_MAX_DIMS];
    for (int d = 0; d < TOPO_MAX_DIMS; d++) {
        size[d] = half[d] = 2;
        bw_Bps[d] = 1e9;
    }
    struct topo_network net = oracle_network(size, TOPO_MAX_DIMS);
    STEP_BEGIN(t, "deep", &net);
    step_id root = step_add(&t, -1, (struct step_node){ .kind = STEP_SUM, .times = 1 });
    step_id most = step_add(&t, root, (struct step_node){ .kind = STEP_MAX, .times = 1, .apart = true });
    for (int stage = 0; stage < 2; stage++) {
        step_id sum = step_add(&t, most, (struct step_node){ .kind = STEP_SUM, .times = 1 });
        for (int d = 0; d < TOPO_MAX_DIMS; d++) {
            int32_t members[TOPO_MAX_DIMS];
            for (int k = 0; k < TOPO_MAX_DIMS; k++)
                members[k] = k == d ? 2 : 1;
            add_all_reduce(&t, sum, d % 2 == stage ? 32e6 : 8e6 * (1 + stage),
                           step_add_group(&t, "pair", members), 1);
        }
    }
    for (int model = SIM_BANDWIDTH; model <= SIM_CHUNK; model++) {
        const struct sim_rules rules = in_chunks(2);
        SIM_STEP(s, &t, &net, bw_Bps, (enum sim_model)model, &rules);
        assert_close(s.time_s, 4 * (32e6 + 16e6) / 1e9, 1e-9);
        for (int d = 0; d < TOPO_MAX_DIMS; d++)
            assert_close(s.traffic_B[d], d % 2 ? 32e6 : 16e6, 1e-12);
    }
    step_add_group(&t, "halves", half);
    for (int d = 0; d < TOPO_MAX_DIMS; d += 2)
        net.dims[d].size = 4;
    assert_int_equal(fidelity_split_dims(&t, &net), 0x55);
}
