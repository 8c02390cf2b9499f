/* What sim/fidelity.h promises beside times: what each link carries, what is remembered, which order is kept,
 * and what it refuses. */
#include "sim/fidelity.h"
#include "tests/unit/step_oracle.h"

struct rig {
    struct topo_network net;
    struct sim_rules rules;
    double bw_Bps[TOPO_MAX_DIMS];
    struct fidelity *x;
};

static void rig_close(struct rig *r)
{
    fidelity_free(r->x);
}

/* The network of a word, one chunk; set up further, then rig_open(). */
static void rig_word(struct rig *r, const char *word)
{
    *r = (struct rig){ .x = NULL };
    MUST(topo_parse_spec(&r->net, word, e));
    topo_get_bandwidths(r->bw_Bps, &r->net);
    sim_rules_default(&r->rules);
    r->rules.stage.chunks = 1;
}

static void rig_open(struct rig *r, enum sim_model model)
{
    fidelity_free(r->x);
    MUST(fidelity_open(&r->x, &(struct sim_way){ &r->net, r->bw_Bps, model, &r->rules }, 0, e));
}

#define RIG(r, word)                                                                                         \
    KEEP(struct rig, r, rig_close);                                                                          \
    rig_word(&r, word)

static struct sim_job job_of(const struct rig *r, enum collective_kind kind, double bytes)
{
    struct sim_job job = { .kind = kind, .bytes = bytes };
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++) {
        job.members[d] = d < r->net.n_dims ? r->net.dims[d].size : 1;
        job.stride[d] = 1;
    }
    return job;
}

static struct fidelity_time time_of(struct rig *r, const struct sim_job *job)
{
    struct fidelity_time t;
    MUST(fidelity_alone(r->x, job, &t, e));
    return t;
}

/* ---- links ---- */

/* Reduce-scatters of 16 NPUs on a switch: each sends and gets 15/16 of S. NPU i < 15 has (i + 1)/16 of 50
 * GB/s, the last all of it; so the hottest are the links of 0, 1, .. 4, the way up of each (which has the
 * lower number) before the way down. */
TEST(every_link_is_accounted_for)
{
    const double S = 16e9, twice_S = 32e9, each = 15 / 16.0;
    const struct fidelity_weight weights[] = { { 0, 3 }, { 1, 5 } };
    struct fidelity_links l;
    RIG(r, "switch:16@50");
    for (int32_t i = 0; i < 15; i++)
        r.rules.slow[i] = (struct sim_slow){ .at = { i }, .dim = i % 2 - 1, .share = (i + 1) / 16.0 };
    r.rules.n_slow = 15;
    for (int all = 0; all < 2; all++) {
        r.rules.keep_links = all;
        rig_open(&r, SIM_FLOW);
        struct sim_job job = job_of(&r, COLLECTIVE_REDUCE_SCATTER, S);
        assert_int_equal(time_of(&r, &job).known, 0);
        job.bytes = twice_S;
        assert_int_equal(time_of(&r, &job).known, 1);
        const double time_s = 100, carried_B = each * (3 * S + 5 * twice_S);
        double sum = 0;
        for (int32_t i = 0; i < 16; i++)
            sum += 2 * carried_B / (50e9 * (i + 1) / 16.0) / time_s;
        OK(fidelity_find_links(&l, r.x, weights, 2, time_s, e));
        assert_true(l.n_arcs == 32 && l.n_used == 32 && l.n_alike == 2 && l.n_hot == FIDELITY_HOTTEST);
        assert_close(l.mean_frac, sum / 32, 1e-6);
        for (int32_t k = 0; k < FIDELITY_HOTTEST; k++) {
            char npu[16];
            snprintf(npu, sizeof npu, "npu%d", (int)k / 2);
            const char *arrow = strstr(l.hot[k].name, " -> ");
            assert_non_null(arrow);
            assert_true(k % 2 ? strcmp(arrow + 4, npu) == 0
                              : strncmp(l.hot[k].name, npu, strlen(npu)) == 0 &&
                                    arrow == l.hot[k].name + strlen(npu));
            assert_int_equal(l.hot[k].dim, 0);
            assert_close(l.hot[k].bytes, carried_B, 1e-6);
            assert_close(l.hot[k].bw_Bps, 50e9 * (k / 2 + 1) / 16.0, 1e-12);
            assert_close(l.hot[k].util_frac, carried_B / l.hot[k].bw_Bps / time_s, 1e-6);
        }
        assert_true((l.all != NULL) == all);
        for (int32_t a = 0; all && a < 32; a++) {
            assert_close(l.all[a].bytes, carried_B, 1e-6);
            assert_close(l.all[a].util_frac, carried_B / l.all[a].bw_Bps / time_s, 1e-6);
            assert_true(strstr(l.all[a].name, " -> ") && l.all[a].dim == 0);
        }
        fidelity_links_free(&l);
        /* Of a step that takes no time, or for ever, or nothing at all, nothing is known. */
        const double none_s[] = { 0, INFINITY };
        for (int k = 0; k < 2; k++) {
            OK(fidelity_find_links(&l, r.x, weights, 2, none_s[k], e));
            assert_true(l.n_arcs == 0 && l.n_hot == 0 && !l.all);
        }
        OK(fidelity_find_links(&l, r.x, weights, 0, time_s, e));
        assert_int_equal(l.n_arcs, 0);
    }
}

/* Of two dimensions one is used; fewer links than the list of the hottest has room for. */
TEST(links_that_carry_nothing_are_not_hot)
{
    const struct fidelity_weight one = { 0, 1 };
    struct fidelity_links l;
    RIG(r, "switch:2@50 switch:2@50");
    rig_open(&r, SIM_FLOW);
    struct sim_job job = job_of(&r, COLLECTIVE_REDUCE_SCATTER, 8e9);
    job.members[1] = 1;
    (void)time_of(&r, &job);
    OK(fidelity_find_links(&l, r.x, &one, 1, 1, e));
    assert_true(l.n_arcs == 16 && l.n_used == 8 && l.n_hot == 8 && l.n_alike == 8);
    assert_close(l.mean_frac, 4.0 / 50 * 8 / 16, 1e-6);
    for (int32_t k = 0; k < l.n_hot; k++)
        assert_int_equal(l.hot[k].dim, 0);
    fidelity_links_free(&l);
}

TEST(models_without_links_know_none)
{
    const struct fidelity_weight one = { 0, 1 };
    struct fidelity_links l;
    RIG(r, "switch:4@50");
    rig_open(&r, SIM_CHUNK);
    struct sim_job job = job_of(&r, COLLECTIVE_REDUCE_SCATTER, 8e9);
    (void)time_of(&r, &job);
    OK(fidelity_find_links(&l, r.x, &one, 1, 1, e));
    assert_true(l.n_arcs == 0 && l.n_hot == 0);
}

/* ---- what is remembered ---- */

TEST(the_same_collective_is_timed_once)
{
    RIG(r, "ring:4@50 switch:4@50");
    for (int m = SIM_CHUNK; m <= SIM_FLOW; m++) {
        rig_open(&r, (enum sim_model)m);
        struct sim_job jobs[6];
        for (int i = 0; i < 6; i++)
            jobs[i] = job_of(&r, COLLECTIVE_ALL_TO_ALL, 1e9);
        jobs[1].bytes = 2e9;
        jobs[2].kind = COLLECTIVE_ALL_REDUCE;
        jobs[3].members[1] = 2;
        jobs[4].members[1] = 2;
        jobs[4].stride[1] = 2;
        jobs[5].share[0] = jobs[5].share[1] = 0.5;
        for (int32_t i = 0; i < 12; i++) {
            jobs[i % 6].priority = i;
            assert_int_equal(time_of(&r, &jobs[i % 6]).known, i % 6);
        }
    }
}

/* Halving of four is two rounds of four messages; a step may have no more flows than it is told. */
TEST(flows_of_a_step_are_counted)
{
    struct fidelity_time t;
    RIG(r, "switch:4@50");
    r.rules.max_messages = 8 + 16;
    rig_open(&r, SIM_FLOW);
    struct sim_job job = job_of(&r, COLLECTIVE_REDUCE_SCATTER, 1e9);
    OK(fidelity_alone(r.x, &job, &t, e));
    job.kind = COLLECTIVE_ALL_REDUCE;
    OK(fidelity_alone(r.x, &job, &t, e));
    OK(fidelity_alone(r.x, &job, &t, e)); /* known */
    job.bytes = 2e9;
    FAILS(fidelity_alone(r.x, &job, &t, e), ERR_RANGE, "too many flows to simulate: more than 24 in a step");
}

TEST(dimensions_of_which_a_group_takes_a_part_are_found)
{
    CASES(int32_t members[3]; unsigned split) = {
        { { 4, 4, 2 }, 0 }, { { 1, 1, 1 }, 0 }, { { 2, 4, 1 }, 1 }, { { 4, 3, 1 }, 2 }, { { 2, 2, 2 }, 3 },
    };
    RIG(r, "ring:4@50 switch:4@50 ring:2@50");
    unsigned all = 0;
    struct step_group groups[COUNT_OF(cases)] = { { .name = "" } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        memcpy(groups[i].members, cases[i].members, sizeof cases[i].members);
        struct step_tree t = { .groups = &groups[i], .n_groups = 1 };
        assert_int_equal(fidelity_split_dims(&t, &r.net), cases[i].split);
        all |= cases[i].split;
        t = (struct step_tree){ .groups = groups, .n_groups = (int32_t)i + 1 };
        assert_int_equal(fidelity_split_dims(&t, &r.net), all);
    }
}

/* ---- orders ---- */

/* Twice three all-reduces and a reduce-scatter, beside one larger reduce-scatter. */
static void add_work(struct step_tree *t, step_id nodes[3])
{
    step_id root = step_add(t, -1, (struct step_node){ .kind = STEP_MAX, .times = 1 });
    step_id twice = step_add(t, root, (struct step_node){ .kind = STEP_REPEAT, .times = 2 });
    step_id sum = step_add(t, twice, (struct step_node){ .kind = STEP_SUM, .times = 1 });
    struct step_node c = {
        .kind = STEP_COLLECTIVE, .collective = COLLECTIVE_ALL_REDUCE, .bytes = 6e9, .times = 3
    };
    nodes[0] = step_add(t, sum, c);
    c.times = 1;
    c.collective = COLLECTIVE_REDUCE_SCATTER;
    nodes[1] = step_add(t, sum, c);
    c.bytes = 9e9;
    nodes[2] = step_add(t, root, c);
}

/* The guard keeps the fixed order unless another is faster; means are those of the run that is kept, and
 * bytes those of each execution. */
TEST(the_guard_keeps_the_fastest_order)
{
    static const char *const words[] = { "ring:4@10 switch:4@25", "ring:4@100 switch:4@25 ring:2@5",
                                         "switch:4@30 full:4@10", "ring:8@50",
                                         "switch:2@9 ring:8@20",  "full:4@5 switch:4@20 switch:2@40" };
    static const enum sim_order orders[] = { SIM_ORDER_FIXED, SIM_ORDER_THEMIS, SIM_ORDER_MINMAX };
    int32_t kept[2][N_SIM_ORDERS] = { { 0 } };
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        RIG(r, words[i]);
        STEP_BEGIN(t, "", &r.net);
        step_id nodes[3];
        add_work(&t, nodes);
        r.rules.stage.chunks = 8;
        struct sim_job job = job_of(&r, COLLECTIVE_ALL_REDUCE, 6e9);
        struct fidelity_time alone[4];
        struct fidelity_joint joint[4];
        int32_t best[2] = { 0, 0 };
        for (int k = 0; k < 4; k++) {
            r.rules.order = k < 3 ? orders[k] : SIM_ORDER_GUARD;
            rig_open(&r, SIM_CHUNK);
            alone[k] = time_of(&r, &job);
            OK(fidelity_together(r.x, &t, 0, &joint[k], e));
            assert_int_equal(joint[k].known, 1);
            if (k < 3 && alone[k].time_s < alone[best[0]].time_s * (1 - 1e-12))
                best[0] = k;
            if (k < 3 && joint[k].train.time_s < joint[best[1]].train.time_s * (1 - 1e-12))
                best[1] = k;
        }
        assert_int_equal(alone[3].order, orders[best[0]]);
        assert_true(alone[3].time_s == alone[best[0]].time_s && alone[3].queue_s == alone[best[0]].queue_s);
        assert_int_equal(joint[3].order, orders[best[1]]);
        assert_true(joint[3].train.time_s == joint[best[1]].train.time_s);
        for (int n = 0; n < 3; n++) {
            const struct fidelity_time *got = &joint[3].mean[nodes[n]],
                                       *want = &joint[best[1]].mean[nodes[n]];
            assert_true(got->time_s == want->time_s && got->queue_s == want->queue_s);
            assert_int_equal(got->order, orders[best[1]]);
            for (int32_t d = 0; d < r.net.n_dims; d++)
                assert_true(got->busy_s[d] == want->busy_s[d] && got->sent_B[d] == want->sent_B[d]);
        }
        kept[0][alone[3].order]++;
        kept[1][joint[3].order]++;
        for (int k = 0; k < 4; k++)
            fidelity_joint_free(&joint[k]);
    }
    for (int k = 0; k < 3; k++)
        assert_true(kept[0][orders[k]] > 0 && kept[1][orders[k]] > 0);
}

/* Twice three times in a row, each execution is what it is alone. */
TEST(a_mean_is_that_of_one_execution)
{
    for (int m = SIM_CHUNK; m <= SIM_FLOW; m++) {
        RIG(r, "ring:4@10 switch:4@25");
        STEP_BEGIN(t, "", &r.net);
        struct fidelity_joint joint;
        r.rules.stage.chunks = 4;
        r.rules.order = SIM_ORDER_FIXED;
        rig_open(&r, (enum sim_model)m);
        step_id root = step_add(&t, -1, (struct step_node){ .kind = STEP_REPEAT, .times = 2 });
        step_id node = step_add(
            &t, root,
            (struct step_node){
                .kind = STEP_COLLECTIVE, .collective = COLLECTIVE_ALL_REDUCE, .bytes = 6e9, .times = 3 });
        struct sim_job job = job_of(&r, COLLECTIVE_ALL_REDUCE, 6e9);
        struct fidelity_time alone = time_of(&r, &job);
        OK(fidelity_together(r.x, &t, root, &joint, e));
        assert_close(joint.train.time_s, 6 * alone.time_s, 1e-9);
        assert_close(joint.mean[node].time_s, alone.time_s, 1e-9);
        assert_near(joint.mean[node].queue_s, alone.queue_s, 1e-9 * alone.time_s);
        for (int32_t d = 0; d < 2; d++) {
            assert_close(joint.mean[node].sent_B[d], alone.sent_B[d], 1e-9);
            assert_close(joint.mean[node].busy_s[d], alone.busy_s[d], 1e-9);
        }
        assert_close(alone.sent_B[0], 6e9 * 1.5, 1e-12);
        assert_close(alone.sent_B[1], 6e9 / 4 * 1.5, 1e-12);
        fidelity_joint_free(&joint);
    }
}

/* ---- what is refused ---- */

TEST(links_that_are_not_there_are_named)
{
    CASES(struct sim_links link; struct sim_slow slow; const char *text) = {
        { { "npu0", "npu7", -1, 0.5, 0 }, { .share = 1 }, "links[0]: \"npu7\" is no vertex of the graph" },
        { { "npu7", "npu0", -1, 0.5, 0 }, { .share = 1 }, "links[0]: \"npu7\" is no vertex of the graph" },
        { { "", "", 0, 0.5, 0 }, { .share = 1 }, "links[0]: no link of that dimension, expected one of the" },
        { { "npu0", "npu2", -1, 0.5, 0 }, { .share = 1 }, "links[0]: no link npu0 - npu2, expected one of" },
        { { "npu0", "npu1", -1, 0.5, 0 },
          { .dim = 0, .share = 0.5 },
          "slow[0]: names a dimension, expected none on a graph of its own" },
    };
    static const char wires[] =
        "src,dst,bw_GBps,latency_ns\nnpu0,npu1,10,0\nnpu1,npu2,10,0\nnpu2,npu3,10,0\n";
    char path[SUPPORT_PATH];
    SCRATCH(dir);
    scratch_file(path, dir, "wires.csv", wires, sizeof wires - 1);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fidelity_time t;
        struct sim_links link = cases[i].link;
        RIG(r, "line:4@20");
        snprintf(r.rules.graph, sizeof r.rules.graph, "%s", path);
        r.rules.route = SIM_ROUTE_SHORTEST;
        r.rules.links = &link;
        r.rules.n_links = r.rules.n_slow = 1;
        r.rules.slow[0] = cases[i].slow;
        rig_open(&r, SIM_FLOW);
        struct sim_job job = job_of(&r, COLLECTIVE_REDUCE_SCATTER, 1e9);
        enum err_code code = cases[i].slow.share < 1 ? ERR_UNSUP : ERR_RANGE;
        FAILS(fidelity_alone(r.x, &job, &t, e), code, cases[i].text);
        FAILS(fidelity_alone(r.x, &job, &t, e), code, cases[i].text); /* nothing is left of the first */
    }
}
