/* Flows by classes (sim/flow/flow_classes.h) against flows one by one, which share no code but the solver. */
#include "tests/unit/flow_plant.h"

/* Shapes that have an exchange between all members, up to 128 NPUs; chains as well, which are little alike.
 */
static const char *const net_words[] = {
    "torus:4x4x4@300",
    "torus:8x4x2@300",
    "torus:4x8+twist@100",
    "torus:6x5@100",
    "ring:16@50",
    "full:12@50",
    "switch:48@50",
    "line:9@50",
    "dragonfly:2x4x9^2@50",
    "dragonfly:2x4x5^1@50",
    "dragonfly+:2x2x5^2^2@50",
    "slim-fly:2x18@50",
    "hyperx:4x6^2@50",
    "hyperx:2x6x4@50",
    "hammingmesh:2x2x2x4@200",
    "fat-tree:8x4/2@100",
    "fat-tree:4x4x4@100",
    "ring:4@50 switch:16@25",
    "switch:8@100 torus:3x4@50",
    "full:4@100 full:3@40 ring:5@20",
};

struct draw {
    const char *word;
    enum collective_kind kind;
    int32_t slow_link;
    struct stage_rules rules;
    int32_t active;
    double lat_s, bytes;
};

static struct draw draw_case(struct rng *rng)
{
    static const enum collective_kind kinds[] = { COLLECTIVE_ALL_TO_ALL, COLLECTIVE_ALL_TO_ALL,
                                                  COLLECTIVE_ALL_REDUCE, COLLECTIVE_ALL_GATHER,
                                                  COLLECTIVE_SEND };
    struct draw d = { .word = net_words[rng_below(rng, COUNT_OF(net_words))],
                      .kind = kinds[rng_below(rng, COUNT_OF(kinds))],
                      .slow_link = rng_below(rng, 4) ? -1 : (int32_t)rng_below(rng, 4),
                      .rules = stage_rules_plain };
    d.rules.chunks = 1 + (int32_t)rng_below(rng, 3);
    d.rules.endpoint_s = rng_below(rng, 2) ? 0 : rng_range(rng, 1e-8, 1e-6);
    d.active = 1 + (int32_t)rng_below(rng, 2);
    d.lat_s = rng_below(rng, 4) ? rng_range(rng, 1e-7, 1e-5) : 0;
    d.bytes = rng_log_range(rng, 1e5, 1e9);
    return d;
}

static double fly(struct plant *p, const struct draw *d, bool alone)
{
    int32_t id, g;
    plant_word(p, d->word, d->lat_s);
    p->rules.stage = d->rules;
    p->rules.active = d->active;
    for (int32_t k = 0; k < p->net.n_dims; k++)
        if (d->kind != COLLECTIVE_ALL_TO_ALL && d->kind != COLLECTIVE_SEND &&
            !topo_is_fabric(&p->net.dims[k]))
            p->net.dims[k].algorithm = TOPO_ALGORITHM_DIRECT;
    plant_open(p);
    if (d->slow_link >= 0)
        MUST(topo_routes_set_share(&p->routes, d->slow_link, 0.5, e));
    flow_sim_free(p->sim);
    MUST(flow_sim_build(&p->sim, &p->routes, &p->rules, e));
    g = group(p, &p->all);
    if (alone)
        MUST(flow_sim_issue_alone(p->sim, g, d->kind, d->bytes, &id, e));
    else
        id = issue(p, g, d->kind, d->bytes, 0);
    run(p);
    return flow_sim_finish_s(p->sim, id);
}

/* Time and bytes of every arc; returns whether there were fewer classes than flows. */
static bool compare(const struct draw *d)
{
    KEEP(struct plant, by_class, plant_close);
    KEEP(struct plant, one_by_one, plant_close);
    double time_s = fly(&one_by_one, d, false);
    assert_close(fly(&by_class, d, true), time_s, 1e-9);
    for (int32_t a = 0; a < by_class.routes.n_arcs; a++) {
        double bytes = flow_sim_arc_use(one_by_one.sim, a).bytes;
        assert_near(flow_sim_arc_use(by_class.sim, a).bytes, bytes, 1e-9 * (bytes + 1));
    }
    return flow_count(flow_sim_net(by_class.sim)).done < flow_count(flow_sim_net(one_by_one.sim)).done / 2;
}

TEST(classes_of_flows_end_when_flows_one_by_one_do)
{
    RNG(rng, 36, 4);
    int32_t n_fewer = 0, n = getenv("SOAK") ? 500 : repeats(100);
    for (int32_t i = 0; i < n; i++) {
        struct draw d = draw_case(rng);
        n_fewer += compare(&d);
    }
    assert_true(n_fewer > n / 3);
}

/* A class for each number of hops along each axis: the links of an axis carry as much as the closed form says
 * where latency is none. One by one this would be 16.7 million flows. */
TEST(an_all_to_all_of_512_takes_a_few_hundred_classes)
{
    KEEP(struct plant, p, plant_close);
    int32_t id;
    int64_t done;
    plant_word(&p, "torus:8x8x8@300", 1e-6);
    plant_open(&p);
    OK(flow_sim_issue_alone(p.sim, group(&p, &p.all), COLLECTIVE_ALL_TO_ALL, S_B, &id, e));
    run(&p);
    done = flow_count(flow_sim_net(p.sim)).done;
    assert_true(done > 12 && done < 400);
    /* Half of the bytes to each half of an axis: 8 / 4 hops on average over one link each way of 50 GB/s. */
    assert_close(flow_sim_finish_s(p.sim, id), S_B * 8 / 8 / 50e9, 1e-3);
    for (int32_t a = 0; a < p.routes.n_arcs; a++)
        assert_close(flow_sim_arc_use(p.sim, a).bytes, S_B * 8 / 8, 1e-9);
}

/* Without classes nothing is lost: a chain of links that all differ. */
TEST(flows_that_differ_go_one_by_one)
{
    KEEP(struct plant, p, plant_close);
    int32_t id;
    plant_word(&p, "ring:5@50", 1e-6);
    plant_open(&p);
    for (int32_t l = 0; l < 5; l++)
        OK(topo_routes_set_share(&p.routes, l, 0.5 + 0.05 * l, e));
    flow_sim_free(p.sim);
    OK(flow_sim_build(&p.sim, &p.routes, &p.rules, e));
    OK(flow_sim_issue_alone(p.sim, group(&p, &p.all), COLLECTIVE_ALL_TO_ALL, S_B, &id, e));
    run(&p);
    assert_int_equal(flow_count(flow_sim_net(p.sim)).done, 5 * 4 + 1);
}

/* An all-to-all on links that all differ, in rounds and exact: time, and that bytes are those asked for. */
static double compare_rounds(struct rng *rng, double round, double *saved)
{
    double time_s[2];
    int64_t n[2];
    struct draw d = draw_case(rng);
    double shares[64];
    d.kind = COLLECTIVE_ALL_TO_ALL;
    for (int k = 0; k < 64; k++)
        shares[k] = rng_range(rng, 0.3, 1);
    for (int k = 0; k < 2; k++) {
        KEEP(struct plant, p, plant_close);
        int32_t id;
        int64_t instants = 0;
        plant_word(&p, d.word, d.lat_s);
        p.rules.stage = d.rules;
        p.rules.active = d.active;
        p.rules.round = k ? round : 0;
        plant_open(&p);
        for (int32_t l = 0; l < p.routes.n_arcs / 2; l++)
            MUST(topo_routes_set_share(&p.routes, l, shares[l * 7 % 64], e));
        flow_sim_free(p.sim);
        MUST(flow_sim_build(&p.sim, &p.routes, &p.rules, e));
        MUST(flow_sim_issue_alone(p.sim, group(&p, &p.all), d.kind, d.bytes, &id, e));
        for (; isfinite(flow_sim_next_s(p.sim)); instants++)
            MUST(flow_sim_advance(p.sim, e));
        time_s[k] = flow_sim_finish_s(p.sim, id);
        n[k] = instants;
    }
    *saved += (double)n[0] / (double)n[1];
    return time_s[1] / time_s[0] - 1;
}

/* Flows of one dragonfly with 32 cables between groups: alike by groups and by NPUs of a router only. */
static double fly_cables(double round, int64_t *instants)
{
    KEEP(struct plant, p, plant_close);
    int32_t id;
    plant_word(&p, "dragonfly:2x16x9^16+minimal@50", 5e-7);
    p.rules.stage.chunks = 1;
    p.rules.round = round;
    plant_open(&p);
    MUST(flow_sim_issue_alone(p.sim, group(&p, &p.all), COLLECTIVE_ALL_TO_ALL, S_B, &id, e));
    assert_in_range(flow_sim_class_flows(p.sim), 513, 2000);
    for (*instants = 0; isfinite(flow_sim_next_s(p.sim)); ++*instants)
        MUST(flow_sim_advance(p.sim, e));
    return flow_sim_finish_s(p.sim, id);
}

TEST(many_classes_go_in_rounds_too)
{
    int64_t exact, rounded;
    double time_s = fly_cables(0, &exact), late = fly_cables(0.01, &rounded) / time_s - 1;
    assert_true(late > -1e-4 && late < 0.01);
    assert_true(rounded < exact / 2);
}

TEST(rounds_end_late_by_no_more_than_they_may)
{
    RNG(rng, 36, 8);
    int n = getenv("SOAK") ? 500 : repeats(40);
    double saved = 0, worst = 0, least = 0;
    for (int i = 0; i < n; i++) {
        double round = rng_below(rng, 2) ? 0.01 : 0.05, late = compare_rounds(rng, round, &saved);
        worst = fmax(worst, late / round);
        least = fmin(least, late / round);
    }
    assert_true(worst < 1 && least > -0.1);
    assert_true(saved / n > 2);
}
