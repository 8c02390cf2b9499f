#include "tests/unit/step_oracle.h"

#include "base/rng.h"
#include "sim/flow/flow_collective.h"
#include "sim/step.h"
#include "topo/graph.h"
#include "topo/route.h"

KEEPS(struct fidelity, fidelity_free)

/* A step under a model of communication, that is released where the block ends. */
#define SIM_STEP(v, tree, ...)                                                                               \
    KEEP(struct sim_step, v, sim_step_free);                                                                 \
    OK(sim_step_build(&v, tree, &(struct sim_way){ __VA_ARGS__ }, e))

/* Two switches of four NPUs each over a link: "trunk" GB/s between them, 50 to each NPU. */
static void write_wires(char path[SUPPORT_PATH], const char *dir, double trunk_GBps)
{
    char text[1024];
    snprintf(
        text, sizeof text,
        "src,dst,bw_GBps,latency_ns\na,switch0,50,500\nb,switch0,50,500\nc,switch1,50,500\nd,switch1,50,500\n"
        "switch0,switch1,%g,500\n",
        trunk_GBps);
    scratch_file(path, dir, "wires.csv", text, strlen(text));
}

/* The defaults; in so many chunks unless 0. */
static struct sim_rules rules_of(int32_t chunks)
{
    struct sim_rules rules;
    sim_rules_default(&rules);
    rules.stage.chunks = chunks ? chunks : rules.stage.chunks;
    return rules;
}

static struct topo_network network_of(const char *word)
{
    struct topo_network net;
    MUST(topo_parse_spec(&net, word, e));
    return net;
}

static struct sim_job all_of(const struct topo_network *net, enum collective_kind kind, double bytes)
{
    struct sim_job job = { .kind = kind, .bytes = bytes };
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++) {
        job.members[d] = d < net->n_dims ? net->dims[d].size : 1;
        job.stride[d] = 1;
    }
    return job;
}

static int time_job(struct fidelity_time *t, const struct topo_network *net, const struct sim_rules *rules,
                    enum sim_model model, const struct sim_job *job, struct err *e)
{
    KEEP(struct fidelity *, fidelity, fidelity_free_at);
    double bw_Bps[TOPO_MAX_DIMS];
    topo_get_bandwidths(bw_Bps, net);
    assert_ok(fidelity_open(&fidelity, &(struct sim_way){ net, bw_Bps, model, rules }, 0, e), e);
    return fidelity_alone(fidelity, job, t, e);
}

/* What @p job takes by model @p m [ms]. */
static double model_ms(const struct topo_network *net, const struct sim_rules *rules, int m,
                       const struct sim_job *job)
{
    double bw_Bps[TOPO_MAX_DIMS];
    const struct collective_way way = { net, m ? &rules->stage : NULL, bw_Bps };
    struct collective_time closed;
    struct fidelity_time t;
    topo_get_bandwidths(bw_Bps, net);
    if (m <= SIM_ALPHA_BETA) {
        collective_time(&closed, job->kind, job->bytes, job->members, job->stride, job->share, &way);
        return 1e3 * closed.time_s;
    }
    MUST(time_job(&t, net, rules, (enum sim_model)m, job, e));
    return 1e3 * t.time_s;
}

static double flow_time(const struct topo_network *net, const struct sim_rules *rules,
                        const struct sim_job *job)
{
    struct fidelity_time t;
    MUST(time_job(&t, net, rules, SIM_FLOW, job, e));
    return t.time_s;
}

/* Rows of tests/reference/astra_allreduce.csv as a study gives them: B of one NPU, in 1e9 B/s. */
TEST(semantics_of_astra_sim_are_there_for_a_network)
{
    CASES(const char *word; enum topo_algorithm a; enum sim_semantics semantics; double lat_s;
          int64_t want_ns) = {
        { "ring:8@107.3741824", TOPO_ALGORITHM_RING, SIM_ASTRA2, 500e-9, 35007150 },
        { "switch:8@53.6870912", TOPO_ALGORITHM_HALVING, SIM_ASTRA2, 1000e-9, 35006070 },
        { "switch:8@53.6870912", TOPO_ALGORITHM_HALVING, SIM_ASTRA2_AWARE, 1000e-9, 70006070 },
        { "full:8@375.8096384", TOPO_ALGORITHM_DIRECT, SIM_ASTRA2_AWARE, 500e-9, 5001030 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net = network_of(cases[i].word);
        struct sim_job job = all_of(&net, COLLECTIVE_ALL_REDUCE, 1073741824);
        struct fidelity_time t;
        WITH(struct sim_rules, rules, rules_of(1), rules.stage.endpoint_s = 10e-9,
             rules.semantics = cases[i].semantics);
        net.dims[0].algorithm = cases[i].a;
        net.dims[0].lat_s = cases[i].lat_s;
        OK(time_job(&t, &net, &rules, SIM_CHUNK, &job, e));
        assert_int_equal(llround(t.time_s * 1e9), cases[i].want_ns);
    }
    struct topo_network two = network_of("ring:2@50 ring:2@50");
    struct sim_job job = all_of(&two, COLLECTIVE_ALL_REDUCE, 1e6);
    struct fidelity_time t;
    WITH(struct sim_rules, rules, rules_of(0), rules.semantics = SIM_ASTRA2_AWARE);
    assert_true(time_job(&t, &two, &rules, SIM_CHUNK, &job, e) == ERR_UNSUP);
}

/* Where nothing is shared the links confirm the closed form: bytes over bandwidth plus hops. */
TEST(flows_take_what_the_stages_say_on_every_shape)
{
    static const char *const words[] = { "ring:8@50",
                                         "full:8@70",
                                         "switch:8@50",
                                         "line:4@50",
                                         "switch:6@50",
                                         "ring:4@100 full:8@70",
                                         "ring:2@50 switch:4@25",
                                         "ring:4@8 switch:4@2 line:2@1" };
    static const enum collective_kind kinds[] = { COLLECTIVE_ALL_REDUCE, COLLECTIVE_REDUCE_SCATTER,
                                                  COLLECTIVE_ALL_GATHER, COLLECTIVE_ALL_TO_ALL };
    for (size_t i = 0; i < COUNT_OF(words); i++)
        for (size_t k = 0; k < COUNT_OF(kinds); k++) {
            struct topo_network net = network_of(words[i]);
            struct sim_job job = all_of(&net, kinds[k], 1e8);
            struct stage stages[STAGE_MAX];
            double sum_s = 0, hops_s = 0;
            struct sim_rules rules = rules_of(1);
            for (int32_t d = 0; d < net.n_dims; d++)
                net.dims[d].lat_s = 1e-6;
            int32_t n = stage_list(stages, kinds[k], 1e8, job.members, NULL, NULL, NULL,
                                   &(struct collective_way){ &net, &rules.stage, NULL });
            for (int32_t s = 0; s < n; s++) {
                hops_s += stages[s].const_s;
                sum_s += stages[s].const_s + stages[s].load_B / net.dims[stages[s].dim].bw_Bps;
            }
            double got_s = flow_time(&net, &rules, &job);
            /* Messages of an all-to-all that go less far fill the links before the farthest come. */
            if (kinds[k] == COLLECTIVE_ALL_TO_ALL)
                assert_true(got_s <= sum_s * (1 + 1e-12) && got_s >= sum_s - hops_s);
            else
                assert_close(got_s, sum_s, 1e-9);
        }
}

/* Dispatch of tokens on 2 nodes of 4: 6 copies of 8 inside, 1.9 between; each model has the bytes of both
 * steps, and without latency their sum as time. */
TEST(merged_copies_take_as_long_in_every_model_that_has_steps)
{
    struct topo_network net = network_of("switch:4@100 switch:2@20");
    struct sim_job job = all_of(&net, COLLECTIVE_ALL_TO_ALL, 8e8);
    struct sim_rules rules = rules_of(1);
    const double bw_Bps[] = { 100e9, 20e9 }, want_s = 6e8 * 3 / 4 / 100e9 + 1.9e8 / 2 / 20e9;
    const struct collective_way way = { &net, &rules.stage, bw_Bps }, plain = { &net, NULL, bw_Bps };
    struct collective_time closed;
    job.share[0] = 6 / 8.0;
    job.share[1] = 1.9 / 8;
    collective_time(&closed, job.kind, job.bytes, job.members, job.stride, job.share, &way);
    assert_close(closed.time_s, want_s, 1e-12);
    collective_time(&closed, job.kind, job.bytes, job.members, job.stride, job.share, &plain);
    assert_close(closed.time_s, 1.9e8 / 2 / 20e9, 1e-12);
    for (int m = SIM_ALPHA_BETA + 1; m < N_SIM_MODELS; m++) {
        struct fidelity_time t = { 0 };
        OK(time_job(&t, &net, &rules, (enum sim_model)m, &job, e));
        assert_close(t.time_s, want_s, 1e-9);
        assert_close(t.sent_B[0], 6e8 * 3 / 4, 1e-12);
        assert_close(t.sent_B[1], 1.9e8 / 2, 1e-12);
    }
}

/* 7/8 of 1 GB at 0.5 of 100 GB/s where copies are merged, 0.8 where not; an all-gather has all of it. */
TEST(exchanges_have_an_efficiency_of_their_own_in_every_model)
{
    CASES(const char *word; enum collective_kind kind; double share, ms) = {
        { "switch:8@100", COLLECTIVE_ALL_TO_ALL, 0, 8.75 / 0.8 },
        { "switch:8@100", COLLECTIVE_ALL_TO_ALL, 1, 8.75 / 0.5 },
        { "switch:8@100", COLLECTIVE_REDUCE_SCATTER, 0, 8.75 },
        { "switch:8@100", COLLECTIVE_REDUCE_SCATTER, 1, 8.75 },
        { "fat-tree:2x4/1@100", COLLECTIVE_ALL_TO_ALL, 0, 8.75 / 0.8 },
        { "fat-tree:2x4/1@100", COLLECTIVE_ALL_TO_ALL, 1, 8.75 / 0.5 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net = network_of(cases[i].word);
        struct sim_job job = all_of(&net, cases[i].kind, 1e9);
        struct sim_rules rules = rules_of(1);
        net.dims[0].all_to_all = 0.8;
        net.dims[0].dispatch = 0.5;
        for (int32_t d = 0; d < net.n_dims; d++)
            job.share[d] = cases[i].share;
        for (int m = 0; m < N_SIM_MODELS; m++)
            assert_close(model_ms(&net, &rules, m, &job), cases[i].ms, 1e-9);
    }
}

/* Of 1 GB on 100 GB/s: 10 ms times what section 3 of docs/model.md has for the links of the group. */
TEST(part_of_a_dimension_takes_as_long_in_every_model)
{
    CASES(const char *word; int32_t members, stride; bool detour; enum collective_kind kind; double ms) = {
        { "full:8@100", 2, 1, false, COLLECTIVE_REDUCE_SCATTER, 35 },
        { "full:8@100", 4, 2, false, COLLECTIVE_ALL_REDUCE, 35 },
        { "full:8@100", 4, 1, false, COLLECTIVE_ALL_TO_ALL, 17.5 },
        { "full:8@100", 8, 1, false, COLLECTIVE_ALL_TO_ALL, 8.75 },
        { "full:8@100", 2, 4, true, COLLECTIVE_REDUCE_SCATTER, 8.75 },
        { "full:8@100", 4, 1, true, COLLECTIVE_ALL_TO_ALL, 10.5 },
        { "full:8@100", 8, 1, true, COLLECTIVE_ALL_TO_ALL, 8.75 },
        { "ring:8@100", 2, 1, false, COLLECTIVE_REDUCE_SCATTER, 10 },
        { "ring:8@100", 4, 1, false, COLLECTIVE_REDUCE_SCATTER, 15 },
        { "ring:8@100", 4, 2, false, COLLECTIVE_ALL_GATHER, 15 },
        { "ring:8@100", 2, 4, false, COLLECTIVE_REDUCE_SCATTER, 20 },
        { "ring:8@100", 2, 4, false, COLLECTIVE_ALL_TO_ALL, 20 },
        { "ring:8@100", 8, 1, false, COLLECTIVE_ALL_TO_ALL, 20 },
        { "ring:8@100", 4, 1, false, COLLECTIVE_ALL_TO_ALL, 20 },
        { "ring:8@100", 4, 1, false, COLLECTIVE_SEND, 20 },
        { "line:8@100", 4, 1, false, COLLECTIVE_REDUCE_SCATTER, 15 },
        { "switch:8@100", 4, 2, false, COLLECTIVE_REDUCE_SCATTER, 7.5 },
        { "ring:4@100 ring:4@100 ring:8@100", 0, 1, false, COLLECTIVE_ALL_TO_ALL, 20 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net = network_of(cases[i].word);
        struct sim_job job = all_of(&net, cases[i].kind, 1e9);
        struct sim_rules rules = rules_of(1);
        double bw_Bps[TOPO_MAX_DIMS];
        /* Stages follow each other in all models but bandwidth. */
        int models = cases[i].members ? N_SIM_MODELS : 1;
        net.dims[0].detour = cases[i].detour;
        topo_get_bandwidths(bw_Bps, &net);
        if (cases[i].members) {
            job.members[0] = cases[i].members;
            job.stride[0] = cases[i].stride;
        }
        if (job.kind == COLLECTIVE_ALL_GATHER)
            job.bytes /= job.members[0];
        for (int m = 0; m < models; m++) {
            double got_ms = model_ms(&net, &rules, m, &job);
            if (!(fabs(got_ms - cases[i].ms) <= 1e-9 * cases[i].ms))
                print_error("%s: %d of it, stride %d, %s, model %s: %g ms, want %g\n", cases[i].word,
                            (int)cases[i].members, (int)cases[i].stride, collective_names[job.kind],
                            sim_model_words[m], got_ms, cases[i].ms);
            assert_close(got_ms, cases[i].ms, 1e-9);
        }
        /* Hops of a part: what is passed on goes along its line, not back to its other end. */
        if (models == 1 || job.kind == COLLECTIVE_ALL_TO_ALL || cases[i].detour)
            continue;
        struct collective_time late;
        const struct collective_way way = { &net, &rules.stage, bw_Bps };
        net.dims[0].lat_s = 1e-4;
        collective_time(&late, job.kind, job.bytes, job.members, job.stride, job.share, &way);
        assert_true(late.time_s * 1e3 > cases[i].ms + 0.09);
        assert_close(flow_time(&net, &rules, &job), late.time_s, 1e-9);
    }
}

/* Inside the switches 50 ms out and back; across, two NPUs of a side share the trunk. */
TEST(a_graph_of_its_own_shows_what_the_dimensions_hide)
{
    char path[SUPPORT_PATH];
    struct topo_network net = network_of("switch:2@50 switch:2@50");
    struct sim_job job = all_of(&net, COLLECTIVE_ALL_REDUCE, 1e9);
    struct sim_rules rules = rules_of(1);
    SCRATCH(dir);
    double alone_s = flow_time(&net, &rules, &job);
    assert_close(alone_s, 2 * (0.5e9 + 0.25e9) / 50e9, 1e-12);
    for (int narrow = 0; narrow < 2; narrow++) {
        write_wires(path, dir, narrow ? 25 : 100);
        snprintf(rules.graph, sizeof rules.graph, "%s", path);
        rules.route = SIM_ROUTE_SHORTEST;
        /* Outer dimension: 0.25 GB each way, over 25 GB/s for two. Latency: 1 us within, 1.5 us across. */
        double outer_s = narrow ? 0.25e9 / 12.5e9 : 0.25e9 / 50e9;
        assert_close(flow_time(&net, &rules, &job), 2 * (0.5e9 / 50e9 + outer_s) + 2 * 1e-6 + 2 * 1.5e-6,
                     1e-12);
    }
}

TEST(failed_and_slow_links_are_felt)
{
    struct topo_network net = network_of("ring:4@50");
    struct sim_job job = all_of(&net, COLLECTIVE_REDUCE_SCATTER, 1e9);
    struct sim_links links[1] = { { .from = "npu1", .to = "npu2", .dim = -1, .share = 0.5 } };
    struct fidelity_time t;
    struct sim_rules rules = rules_of(1);
    double whole_s = flow_time(&net, &rules, &job);
    rules.links = links;
    rules.n_links = 1;
    assert_close(flow_time(&net, &rules, &job), 2 * whole_s, 1e-12);
    links[0].share = 0;
    FAILS(time_job(&t, &net, &rules, SIM_FLOW, &job, e), ERR_RANGE, "link 1 (npu1 -> npu2) has failed");
    /* The other way round: three links, and the neighbours' links carry it besides their own. */
    rules.route = SIM_ROUTE_SHORTEST;
    assert_true(flow_time(&net, &rules, &job) > 1.9 * whole_s);
    links[0] = (struct sim_links){ .from = "npu1", .to = "npu7", .dim = -1, .share = 0.5 };
    FAILS(time_job(&t, &net, &rules, SIM_FLOW, &job, e), ERR_RANGE, "\"npu7\" is no vertex");
    links[0] = (struct sim_links){ .from = "npu0", .to = "npu2", .dim = -1, .share = 0.5 };
    FAILS(time_job(&t, &net, &rules, SIM_FLOW, &job, e), ERR_RANGE, "no link npu0 - npu2");
    links[0] = (struct sim_links){ .dim = 0, .share = 0.25 };
    assert_close(flow_time(&net, &rules, &job), 4 * whole_s, 1e-12);
    links[0].share = 0;
    assert_true(time_job(&t, &net, &rules, SIM_FLOW, &job, e) == ERR_RANGE);
}

TEST(slow_and_late_npus_hold_up_their_ring)
{
    struct topo_network net = network_of("ring:4@50");
    struct sim_job job = all_of(&net, COLLECTIVE_REDUCE_SCATTER, 1e9);
    struct sim_rules rules = rules_of(1);
    double whole_s = flow_time(&net, &rules, &job);
    rules.n_slow = 1;
    rules.slow[0] = (struct sim_slow){ .at = { 2 }, .dim = -1, .share = 0.5 };
    assert_close(flow_time(&net, &rules, &job), 2 * whole_s, 1e-12);
    rules.slow[0] = (struct sim_slow){ .at = { 2 }, .dim = -1, .share = 1, .late_s = 7 };
    assert_close(flow_time(&net, &rules, &job), 7 + whole_s, 1e-12);
}

TEST(what_cannot_end_is_infinite_and_what_is_huge_is_refused)
{
    struct topo_network net = network_of("ring:4@50 ring:4@50"),
                        huge = network_of("ring:65536@50 switch:64@50");
    struct sim_job job = all_of(&net, COLLECTIVE_ALL_REDUCE, 1e9), inner = job;
    struct fidelity_time t;
    struct sim_rules rules = rules_of(0);
    net.dims[1].bw_Bps = 0;
    assert_true(isinf(flow_time(&net, &rules, &job)));
    inner.members[1] = 1;
    assert_true(isfinite(flow_time(&net, &rules, &inner)));
    job = all_of(&huge, COLLECTIVE_ALL_REDUCE, 1e9);
    FAILS(time_job(&t, &huge, &rules, SIM_FLOW, &job, e), ERR_RANGE, "at most 1e+08 in a run");
}

/* The switch has no bandwidth. */
TEST(overlapping_work_that_cannot_end_is_infinite)
{
    struct topo_network net = network_of("ring:8@16 switch:4@2");
    static const double bw_Bps[] = { 16e9, 0 };
    struct sim_rules rules = rules_of(0);
    STEP_BEGIN(t, "", &net);
    step_id root = step_add(&t, -1, (struct step_node){ .kind = STEP_MAX });
    for (int i = 0; i < 2; i++)
        step_add(
            &t, root,
            (struct step_node){
                .kind = STEP_COLLECTIVE, .collective = COLLECTIVE_ALL_REDUCE, .bytes = 8e9, .times = 1 });
    SIM_STEP(s, &t, &net, bw_Bps, SIM_FLOW, &rules);
    assert_true(isinf(s.time_s));
}

/* Two side by side on the same links, in chunks and in flows: twice what one takes of the busiest dimension,
 * which is what the closed form says. */
TEST(overlapping_collectives_share_links_in_all_models)
{
    struct topo_network net = network_of("ring:4@16 switch:2@2");
    static const double bw_Bps[] = { 16e9, 2e9 };
    struct sim_rules rules = rules_of(0);
    STEP_BEGIN(t, "", &net);
    step_id root = step_add(&t, -1, (struct step_node){ .kind = STEP_MAX });
    for (int i = 0; i < 2; i++)
        step_add(
            &t, root,
            (struct step_node){
                .kind = STEP_COLLECTIVE, .collective = COLLECTIVE_ALL_REDUCE, .bytes = 8e9, .times = 1 });
    SIM_STEP(closed, &t, &net, bw_Bps, SIM_BANDWIDTH, NULL);
    /* 2 * 8 GB * 3/4 at 16 GB/s on the ring; 2 * 2 GB / 2 at 2 GB/s on the switch, 1 s: twice that. */
    assert_close(closed.time_s, 2, 1e-12);
    for (int model = SIM_CHUNK; model <= SIM_FLOW; model++) {
        SIM_STEP(s, &t, &net, bw_Bps, (enum sim_model)model, &rules);
        assert_true(s.time_s >= closed.time_s * (1 - 1e-9) && s.time_s < closed.time_s * 1.5);
        for (int d = 0; d < 2; d++)
            assert_close(s.busy_s[d], closed.busy_s[d], 1e-9);
    }
}

/* Three collectives over all of @p net: the first at 0, the second at wait_s[0], the third wait_s[1] after
 * the end of the second. When all have ended, on one engine of flows that hears of each. */
static double flows_of_three(const struct topo_network *net, const struct sim_rules *rules,
                             const double *bytes, const double *wait_s)
{
    const struct flow_rules own = { rules->stage, TOPO_ROUTE_DIMENSION, rules->active, 0 };
    struct flow_group_spec all = { .members = { 0 } };
    struct topo_graph *graph;
    struct topo_routes routes;
    struct flow_sim *sim;
    int32_t group, id[3];
    double end_s = 0;
    for (int32_t d = 0; d < net->n_dims; d++)
        all.members[d] = net->dims[d].size;
    MUST(topo_build_graph(&graph, net, NULL, e));
    MUST(topo_routes_build(&routes, graph, e));
    MUST(flow_sim_build(&sim, &routes, &own, e));
    MUST(flow_sim_group(sim, &all, &group, e));
    MUST(flow_sim_issue(sim, group, COLLECTIVE_ALL_TO_ALL, bytes[0], 0, 0, &id[0], e));
    MUST(flow_sim_issue(sim, group, COLLECTIVE_ALL_REDUCE, bytes[1], wait_s[0], 0, &id[1], e));
    while (isnan(flow_sim_finish_s(sim, id[1])))
        MUST(flow_sim_advance(sim, e));
    MUST(flow_sim_issue(sim, group, COLLECTIVE_ALL_REDUCE, bytes[2],
                        flow_sim_finish_s(sim, id[1]) + wait_s[1], 0, &id[2], e));
    MUST(flow_sim_run(sim, e));
    for (int i = 0; i < 3; i++)
        end_s = fmax(end_s, flow_sim_finish_s(sim, id[i]));
    flow_sim_free(sim);
    topo_routes_free(&routes);
    topo_graph_free(graph);
    return end_s;
}

/* Those that overlap and those that do not: a collective that nobody else joins is not simulated again. */
TEST(collectives_one_after_another_take_as_long_as_flows_that_all_know_of_each_other)
{
    static const char *const words[] = { "ring:4@16", "ring:4@16 switch:2@2", "full:3@5 ring:4@8",
                                         "switch:8@4" };
    struct sim_rules rules = rules_of(2);
    RNG(rng, 36, 4);
    for (int32_t i = 0; i < repeats(80); i++) {
        struct topo_network net = network_of(words[i % 4]);
        double bw_Bps[TOPO_MAX_DIMS], bytes[3], wait_s[2];
        topo_get_bandwidths(bw_Bps, &net);
        for (int k = 0; k < 3; k++)
            bytes[k] = rng_log_range(rng, 1e7, 1e10);
        for (int k = 0; k < 2; k++)
            wait_s[k] = rng_below(rng, 5) ? rng_log_range(rng, 1e-3, 10) : 0;
        STEP_BEGIN(t, "", &net);
        step_id root = step_add(&t, -1, (struct step_node){ .kind = STEP_MAX });
        step_add(&t, root,
                 (struct step_node){ .kind = STEP_COLLECTIVE,
                                     .collective = COLLECTIVE_ALL_TO_ALL,
                                     .bytes = bytes[0],
                                     .times = 1 });
        step_id row = step_add(&t, root, (struct step_node){ .kind = STEP_SUM });
        for (int k = 0; k < 2; k++) {
            step_add(&t, row, (struct step_node){ .kind = STEP_COMPUTE, .seconds = wait_s[k] });
            step_add(&t, row,
                     (struct step_node){ .kind = STEP_COLLECTIVE,
                                         .collective = COLLECTIVE_ALL_REDUCE,
                                         .bytes = bytes[1 + k],
                                         .times = 1 });
        }
        SIM_STEP(s, &t, &net, bw_Bps, SIM_FLOW, &rules);
        assert_close(s.time_s, flows_of_three(&net, &rules, bytes, wait_s), 1e-9);
    }
}

TEST(the_ten_hottest_links_are_those_that_carry_most)
{
    struct topo_network net = network_of("ring:8@16 switch:4@2");
    static const double bw_Bps[] = { 16e9, 2e9 };
    struct sim_rules rules = rules_of(0);
    STEP_BEGIN(t, "", &net);
    step_id root = step_add(&t, -1, (struct step_node){ .kind = STEP_SUM });
    step_add(&t, root, (struct step_node){ .kind = STEP_COMPUTE, .seconds = 1 });
    step_add(&t, root,
             (struct step_node){
                 .kind = STEP_COLLECTIVE, .collective = COLLECTIVE_ALL_REDUCE, .bytes = 8e9, .times = 3 });
    SIM_STEP(s, &t, &net, bw_Bps, SIM_FLOW, &rules);
    /* 2 * 8 GB * 7/8 = 14 GB a ring member and time, 7 GB a link; the switch 2 * 1 GB * 3/4 = 1.5 GB. */
    assert_int_equal(s.links.n_arcs, 2 * (32 + 32));
    assert_int_equal(s.links.n_used, s.links.n_arcs);
    assert_int_equal(s.links.n_hot, FIDELITY_HOTTEST);
    for (int i = 0; i < FIDELITY_HOTTEST; i++) {
        assert_int_equal(s.links.hot[i].dim, 0);
        assert_close(s.links.hot[i].bytes, 3 * 7e9, 1e-6);
        assert_close(s.links.hot[i].util_frac, 3 * 7e9 / 8e9 / s.time_s, 1e-6);
    }
    assert_string_equal(s.links.hot[0].name, "npu0 -> npu1");
}

/* In closed form each dimension that is busy has one event; the busiest, or the first that has members, lasts
 * to the end. */
TEST(closed_forms_have_an_event_of_each_busy_dimension)
{
    CASES(int32_t members[4]; double busy_s[4]; int n; int dims[3]; double ends_s[3]) = {
        { { 1, 4, 2, 8 }, { 0, 2, 1, 0 }, 2, { 1, 2 }, { 13, 11 } },
        { { 1, 4, 2, 8 }, { 0, 1, 0, 2 }, 2, { 1, 3 }, { 11, 13 } },
        { { 2, 4, 2, 8 }, { 1, 2, 2, 0 }, 3, { 0, 1, 2 }, { 11, 13, 12 } },
        { { 2, 4, 2, 8 }, { 2, 1, 0, 0 }, 2, { 0, 1 }, { 13, 11 } },
        { { 1, 4, 2, 8 }, { 0, 5, 0, 4 }, 2, { 1, 3 }, { 13, 13 } },
        { { 1, 4, 2, 8 }, { 0, 0, 0.5, 0 }, 1, { 2 }, { 13 } },
        { { 1, 2, 8, 8 }, { 0, 0, 0, 0 }, 1, { 1 }, { 13 } },
        { { 4, 2, 8, 8 }, { 0, 0, 0, 0 }, 1, { 0 }, { 13 } },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct sim_event got[TOPO_MAX_DIMS];
        const double sent_B[] = { 10, 20, 30, 40 };
        assert_int_equal(sim_events_of(got, sent_B, cases[i].busy_s, cases[i].members, 4, 10, 13),
                         cases[i].n);
        for (int k = 0; k < cases[i].n; k++) {
            assert_int_equal(got[k].dim, cases[i].dims[k]);
            assert_true(got[k].lead && got[k].chunk == -1);
            assert_true(got[k].start_s == 10 && got[k].ready_s == 10 && got[k].end_s == cases[i].ends_s[k]);
            assert_true(got[k].bytes == sent_B[got[k].dim] && got[k].busy_s == cases[i].busy_s[got[k].dim]);
        }
    }
}
