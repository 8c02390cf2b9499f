#include "sim/cluster/pace.h"

#include "base/rng.h"
#include "tests/settings.h"
#include "tests/unit/cluster_fixture.h"

enum { MAX_JOBS = 24 };

static struct job sender(int32_t gpus, double compute_s, double gradient_B)
{
    struct job job = fixture_job(0, gpus, 1, compute_s);
    job.gradient_B = gradient_B;
    return job;
}

static void open_pace(struct pace *p, const struct cluster *c, const struct job *jobs, int32_t n,
                      const struct pace_graph_settings *s)
{
    MUST(pace_graph_build(p, c, jobs, n, s, e));
}

/* A cluster, and speeds of jobs on it. */
struct road {
    struct topo_network net;
    struct cluster c;
    struct pace_graph_settings s;
    struct pace p;
};

static void road_build(struct road *r, const char *spec, int32_t level, double lat_s, double gpus)
{
    *r = (struct road){ .s = pace_graph_settings_default() };
    fixture_cluster(&r->c, &r->net, spec, level, lat_s, gpus);
}

/* Speeds of these jobs from here on. */
static void road_open(struct road *r, const struct job *jobs, int32_t n)
{
    if (r->p.free)
        r->p.free(r->p.x);
    MUST(pace_graph_build(&r->p, &r->c, jobs, n, &r->s, e));
}

static void road_free(struct road *r)
{
    r->p.free(r->p.x);
    cluster_free(&r->c);
}

static void begin(struct pace *p, int32_t job, int32_t n, const int32_t *servers, const int32_t *gpus)
{
    const struct pace_place place = { n, servers, gpus };
    MUST(p->begin(p->x, job, &place, e));
}

static int32_t settle(struct pace *p)
{
    const int32_t *jobs;
    int32_t n;
    MUST(p->changed(p->x, &jobs, &n, e));
    return n;
}

static const int32_t ones[] = { 1, 1, 1, 1, 1, 1, 1, 1 }, upward[] = { 0, 1, 2, 3, 4, 5, 6, 7 };

/* The check vector of equation 1 of arXiv 2202.01158: d 100 MB, w 4, b 1.25 GB/s, G 50 GB/s, 32 samples of 1
 * ms, backward 50 ms, overhead 2 ms. */
TEST(a_ring_of_single_gpus_takes_what_the_paper_says)
{
    const struct job job = sender(4, 0.032 + 0.05 + 0.002, 1e8);
    KEEP(struct road, r, road_free);
    road_build(&r, "switch:4@1.25", 0, 0, 1);
    r.s.reduce_Bps = 5e10;
    road_open(&r, &job, 1);
    begin(&r.p, 0, 4, upward, ones);
    assert_int_equal(settle(&r.p), 1);
    assert_close(r.p.iteration_s(r.p.x, 0), 0.2055, 1e-14);
}

/* Servers of four GPUs on a ring of 100 GB/s each, a switch of 10 GB/s for each GPU between them. */
TEST(inside_and_between_servers_add_up)
{
    static const int32_t halves[] = { 4, 4 }, uneven[2][2] = { { 2, 4 }, { 4, 2 } }, servers[] = { 0, 2 };
    const double S = 6e9, between_s = 2 * (1.0 / 2) * S / 40e9;
    const struct job jobs[] = { sender(4, 1, S), sender(8, 1, S), sender(6, 1, S), sender(1, 1, S) };
    KEEP(struct road, r, road_free);
    road_build(&r, "ring:4@100 switch:3@10", 1, 0.001, 4);
    r.s.inner = &r.net;
    r.s.level = 1;
    road_open(&r, jobs, 4);
    begin(&r.p, 0, 1, servers, halves);
    settle(&r.p);
    assert_close(r.p.iteration_s(r.p.x, 0), 1 + 2 * 0.75 * S / 100e9, 1e-14);
    r.p.end(r.p.x, 0);
    begin(&r.p, 1, 2, servers, halves);
    settle(&r.p);
    assert_close(r.p.iteration_s(r.p.x, 1), 1 + 2 * 0.75 * S / 100e9 + between_s + 2 * 0.001, 1e-14);
    r.p.end(r.p.x, 1);
    begin(&r.p, 3, 1, upward, ones);
    /* Two of the ring have one link of 50 GB/s, which is slower than all, whichever server comes first. */
    for (int k = 0; k < 2; k++) {
        begin(&r.p, 2, 2, servers, uneven[k]);
        settle(&r.p);
        assert_close(r.p.iteration_s(r.p.x, 2), 1 + 2 * 0.5 * S / 50e9 + between_s + 2 * 0.001, 1e-14);
        r.p.end(r.p.x, 2);
    }
    assert_true(r.p.iteration_s(r.p.x, 3) == 1);
}

/* A link of 10 GB/s of which messages reach 80 %: a ring of two sends S each way in S/8 GB/s. */
TEST(links_carry_what_their_dimension_reaches)
{
    static const char *const names[] = { "GPUs" };
    static const double gpus = 1;
    const struct cluster_offer offer = { 1, names, &gpus, false };
    const struct pace_graph_settings s = pace_graph_settings_default();
    const struct job job = sender(2, 1, 4e9);
    struct topo_network net;
    KEEP(struct cluster, c, cluster_free);
    struct pace p;
    OK(topo_parse_spec(&net, "switch:3@10", e));
    net.dims[0].efficiency = 0.8;
    OK(cluster_build(&c, &net, 0, &offer, e));
    open_pace(&p, &c, &job, 1, &s);
    begin(&p, 0, 2, upward, ones);
    settle(&p);
    assert_close(p.iteration_s(p.x, 0), 1 + 4e9 / 8e9, 1e-14);
    p.free(p.x);
}

/* Servers of 4 x 2 GPUs, 100 and 10 GB/s. Five fill no more than one ring of four, and reach the second as
 * eight do: its switch passes 2 (1/2) S/4. Parameter servers have both together. */
TEST(one_gpu_more_than_a_ring_has_waits_for_the_second_ring)
{
    static const int32_t four[] = { 4 }, five[] = { 5 }, eight[] = { 8 };
    const double S = 6e9;
    struct job jobs[] = { sender(4, 1, S), sender(5, 1, S), sender(8, 1, S), sender(4, 1, S) };
    KEEP(struct road, r, road_free);
    jobs[3].param_servers = 1;
    road_build(&r, "ring:4@100 switch:2@10 switch:3@1", 2, 0, 8);
    r.s.inner = &r.net;
    r.s.level = 2;
    road_open(&r, jobs, 4);
    begin(&r.p, 0, 1, upward, four);
    begin(&r.p, 1, 1, upward, five);
    begin(&r.p, 2, 1, upward, eight);
    begin(&r.p, 3, 1, upward, four);
    settle(&r.p);
    assert_close(r.p.iteration_s(r.p.x, 0), 1 + 2 * 0.75 * S / 100e9, 1e-14);
    assert_close(r.p.iteration_s(r.p.x, 1), 1 + S / 4 / 10e9, 1e-14);
    assert_close(r.p.iteration_s(r.p.x, 2), 1 + S / 4 / 10e9, 1e-14);
    assert_close(r.p.iteration_s(r.p.x, 3), 1 + 2 * S * 4 / 110e9, 1e-14);
}

TEST(a_ring_without_a_network_inside_runs_at_the_given_rate)
{
    static const int32_t four[] = { 4 };
    struct job jobs[] = { sender(4, 1, 8e9), sender(4, 1, 8e9) };
    KEEP(struct road, r, road_free);
    jobs[1].hidden_s = 0.1;
    road_build(&r, "switch:2@10", 0, 0, 8);
    r.s.inner_Bps = 50e9;
    r.s.reduce_Bps = 100e9;
    road_open(&r, jobs, 2);
    begin(&r.p, 0, 1, upward, four);
    begin(&r.p, 1, 1, upward, four);
    settle(&r.p);
    assert_close(r.p.iteration_s(r.p.x, 0), 1 + 0.75 * 8e9 * (2 / 50e9 + 1 / 100e9), 1e-14);
    assert_close(r.p.iteration_s(r.p.x, 1), r.p.iteration_s(r.p.x, 0) - 0.1, 1e-14);
}

/* Three servers at a switch, a link of 10 GB/s each; rings over 0-1 and 1-2 meet at server 1. */
TEST(two_rings_over_one_link_get_half_each)
{
    const double S = 5e9;
    const struct job jobs[] = { sender(2, 0.25, S), sender(2, 0.5, S) };
    KEEP(struct road, r, road_free);
    road_build(&r, "switch:3@10", 0, 0, 2);
    road_open(&r, jobs, 2);
    begin(&r.p, 0, 2, upward, ones);
    settle(&r.p);
    assert_close(r.p.iteration_s(r.p.x, 0), 0.25 + 0.5, 1e-14);
    begin(&r.p, 1, 2, upward + 1, ones);
    assert_int_equal(settle(&r.p), 2);
    assert_close(r.p.iteration_s(r.p.x, 0), 0.25 + 1, 1e-14);
    assert_close(r.p.iteration_s(r.p.x, 1), 0.5 + 1, 1e-14);
    assert_close(pace_graph_alone_s(pace_graph_of(&r.p), 1), 0.5 + 0.5, 1e-14);
    r.p.end(r.p.x, 0);
    assert_int_equal(settle(&r.p), 1);
    assert_close(r.p.iteration_s(r.p.x, 1), 0.5 + 0.5, 1e-14);
    r.s.contention = PACE_CONTENTION_NONE;
    road_open(&r, jobs, 2);
    begin(&r.p, 0, 2, upward, ones);
    begin(&r.p, 1, 2, upward + 1, ones);
    settle(&r.p);
    assert_close(r.p.iteration_s(r.p.x, 0), 0.25 + 0.5, 1e-14);
    assert_close(r.p.iteration_s(r.p.x, 1), 0.5 + 0.5, 1e-14);
}

/* Rings of servers of their own, whose racks are joined by 10 GB/s. */
TEST(rings_meet_between_racks_too)
{
    static const int32_t rack[] = { 0, 0, 1, 1 }, first[] = { 0, 2 }, second[] = { 1, 3 },
                         third[] = { 0, 2, 1 };
    static const double server_Bps[] = { 100e9, 100e9, 100e9, 100e9 }, rack_Bps[] = { 10e9 }, gpus[] = { 1 };
    static const char *const names[] = { "GPUs" };
    const struct cluster_racks racks = { 4, 2, rack, server_Bps, rack_Bps, 0.001 };
    const struct cluster_offer offer = { 1, names, gpus, false };
    const struct job jobs[] = { sender(2, 1, 5e9), sender(2, 1, 5e9), sender(3, 1, 5e9) };
    const struct pace_graph_settings s = pace_graph_settings_default();
    KEEP(struct cluster, c, cluster_free);
    struct pace p;
    OK(cluster_build_racks(&c, &racks, &offer, e));
    open_pace(&p, &c, jobs, 3, &s);
    begin(&p, 0, 2, first, ones);
    settle(&p);
    /* Two steps over three links each. */
    assert_close(p.iteration_s(p.x, 0), 1 + 0.5 + 2 * 0.003, 1e-14);
    begin(&p, 1, 2, second, ones);
    assert_int_equal(settle(&p), 2);
    for (int32_t i = 0; i < 2; i++)
        assert_close(p.iteration_s(p.x, i), 1 + 1 + 2 * 0.003, 1e-14);
    p.end(p.x, 0);
    p.end(p.x, 1);
    /* Three in a ring, of which two lie side by side: each step waits for the longest way, wherever it is. */
    begin(&p, 2, 3, third, ones);
    settle(&p);
    assert_close(p.iteration_s(p.x, 2), 1 + 2 * (2.0 / 3) * 5e9 / 10e9 + 4 * 0.003, 1e-14);
    p.free(p.x);
}

/* The same place: a link that is needed half of the time by each is enough; one that is needed for more gives
 * half. */
TEST(interleaved_jobs_need_only_their_mean_rate)
{
    CASES(double compute_s, want_s) = {
        { 0.5, 1 },     /* sends half of the time: both fit */
        { 0.75, 1.25 }, /* less */
        { 0.25, 1 },    /* two thirds: the link needs 2 x 0.5 s for both */
    };
    KEEP(struct road, r, road_free);
    road_build(&r, "switch:3@10", 0, 0, 2);
    r.s.duty = PACE_DUTY_INTERLEAVED;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct job jobs[] = { sender(2, cases[i].compute_s, 5e9), sender(2, cases[i].compute_s, 5e9) };
        road_open(&r, jobs, 2);
        begin(&r.p, 0, 2, upward, ones);
        settle(&r.p);
        assert_true(r.p.iteration_s(r.p.x, 0) == cases[i].compute_s + 0.5);
        begin(&r.p, 1, 2, upward + 1, ones);
        settle(&r.p);
        for (int32_t k = 0; k < 2; k++)
            assert_close(r.p.iteration_s(r.p.x, k), cases[i].want_s, 1e-14);
    }
    /* A fifth and two thirds fit too, though the second needs more than half. */
    const struct job unlike[] = { sender(2, 2, 5e9), sender(2, 0.25, 5e9) };
    road_open(&r, unlike, 2);
    begin(&r.p, 0, 2, upward, ones);
    begin(&r.p, 1, 2, upward + 1, ones);
    settle(&r.p);
    for (int32_t k = 0; k < 2; k++)
        assert_close(r.p.iteration_s(r.p.x, k), unlike[k].compute_s + 0.5, 1e-14);
}

/* Workers on servers of their own at a switch of B: with p parameter servers on the first p of w servers, w-1
 * streams of S/p come to each, or to every server when p = w, at first and go back later. */
TEST(parameter_servers_take_two_passes_over_their_link)
{
    const double S = 4e9, B = 10e9;
    KEEP(struct road, r, road_free);
    road_build(&r, "switch:4@10", 0, 0.01, 4);
    for (int32_t p_servers = 1; p_servers <= 8; p_servers *= 2) {
        struct job job = sender(4, 1, S);
        job.param_servers = p_servers;
        road_open(&r, &job, 1);
        begin(&r.p, 0, 4, upward, ones);
        settle(&r.p);
        int32_t each = p_servers <= 4 ? 1 : p_servers / 4;
        assert_close(r.p.iteration_s(r.p.x, 0), 1 + 2 * 0.01 + 2 * (S / p_servers) / (B / (3 * each)), 1e-14);
    }
    /* On one server: as fast as the link of the busiest, here the one parameter server of four workers. */
    static const int32_t four[] = { 4 };
    struct job job = sender(4, 1, S);
    job.param_servers = 1;
    r.s.inner_Bps = 20e9;
    road_open(&r, &job, 1);
    begin(&r.p, 0, 1, upward, four);
    settle(&r.p);
    assert_close(r.p.iteration_s(r.p.x, 0), 1 + 2 * S * 4 / 20e9, 1e-14);
}

/* Two jobs with a worker and a parameter server each; one has its server where the other's worker is. What
 * goes to the one and what comes back to the other share a link in either direction: half of it each. */
TEST(what_parameter_servers_send_back_takes_its_link_too)
{
    static const int32_t places[2][2] = { { 0, 1 }, { 2, 0 } };
    const double S = 4e9, B = 10e9;
    struct job jobs[] = { sender(2, 1, S), sender(2, 1, S) };
    KEEP(struct road, r, road_free);
    road_build(&r, "switch:3@10", 0, 0.01, 4);
    jobs[0].param_servers = jobs[1].param_servers = 1;
    road_open(&r, jobs, 2);
    begin(&r.p, 0, 2, places[0], ones);
    settle(&r.p);
    assert_close(r.p.iteration_s(r.p.x, 0), 1 + 2 * 0.01 + 2 * S / B, 1e-14);
    begin(&r.p, 1, 2, places[1], ones);
    settle(&r.p);
    for (int k = 0; k < 2; k++)
        assert_close(r.p.iteration_s(r.p.x, k), 1 + 2 * 0.01 + 2 * S / (B / 2), 1e-14);
}

/* All bytes that leave servers: of a ring 2 (w-1) S, with parameter servers what is not at home. */
TEST(bytes_on_links_are_those_of_the_algorithm)
{
    static const int32_t twos[] = { 2, 2, 2, 2 };
    const double S = 3e9;
    struct job jobs[] = { sender(4, 1, S), sender(4, 1, S), sender(8, 1, S) };
    KEEP(struct road, r, road_free);
    jobs[1].param_servers = jobs[2].param_servers = 2;
    road_build(&r, "switch:4@10", 0, 0, 4);
    for (int32_t k = 0; k < 3; k++) {
        double sum_B = 0;
        road_open(&r, jobs, 3);
        begin(&r.p, k, 4, upward, k < 2 ? ones : twos);
        settle(&r.p);
        pace_graph_count(pace_graph_of(&r.p), k, 10);
        for (int32_t a = 0; a < r.c.n_arcs; a++)
            sum_B += pace_graph_arc(pace_graph_of(&r.p), a).bytes / 2; /* up and down */
        assert_close(sum_B, 10 * 2 * 3 * S * (k < 2 ? 1 : 2), 1e-14);
        pace_graph_reset(pace_graph_of(&r.p));
        assert_true(pace_graph_arc(pace_graph_of(&r.p), 0).bytes == 0);
    }
}

/* ---- many jobs ---- */

static void draw_place(int32_t *servers, int32_t *gpus, int32_t *n, int32_t n_servers, struct rng *rng)
{
    bool in[64] = { 0 };
    *n = 0;
    for (int32_t k = 0; k < 6; k++)
        in[rng_below(rng, n_servers)] = true;
    for (int32_t s = 0; s < n_servers; s++)
        if (in[s]) {
            servers[*n] = s;
            gpus[(*n)++] = 1;
        }
}

/* Speeds after a walk are those of a model to which the same jobs come at once; changed() told of every
 * change. */
TEST(speeds_do_not_depend_on_what_was_before)
{
    static const char *const specs[] = { "switch:6@10 ring:4@20", "ring:8@10 switch:3@5", "switch:24@10" };
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct job jobs[MAX_JOBS];
        int32_t servers[MAX_JOBS][8], gpus[MAX_JOBS][8], n[MAX_JOBS] = { 0 };
        double told_s[MAX_JOBS];
        struct pace_graph_settings s = pace_graph_settings_default();
        struct pace p, fresh;
        s.duty = seed % 2 ? PACE_DUTY_INTERLEAVED : PACE_DUTY_ALWAYS;
        KEEP(struct cluster, c, cluster_free) = cluster_of(specs[seed % COUNT_OF(specs)], 0, 1e-6, 64);
        RNG(rng, seed, 3);
        for (int32_t i = 0; i < MAX_JOBS; i++)
            jobs[i] = sender(1, rng_range(rng, 0.1, 1), rng_log_range(rng, 1e8, 1e10));
        open_pace(&p, &c, jobs, MAX_JOBS, &s);
        for (int32_t round = 0; round < 200; round++) {
            const int32_t *changed;
            int32_t i = (int32_t)rng_below(rng, MAX_JOBS), n_changed;
            if (n[i] > 0)
                p.end(p.x, i);
            draw_place(servers[i], gpus[i], &n[i], c.n_servers, rng);
            jobs[i].gpus = n[i];
            begin(&p, i, n[i], servers[i], gpus[i]);
            OK(p.changed(p.x, &changed, &n_changed, e));
            for (int32_t k = 0; k < n_changed; k++)
                told_s[changed[k]] = p.iteration_s(p.x, changed[k]);
        }
        open_pace(&fresh, &c, jobs, MAX_JOBS, &s);
        for (int32_t i = 0; i < MAX_JOBS; i++)
            if (n[i] > 0)
                begin(&fresh, i, n[i], servers[i], gpus[i]);
        settle(&fresh);
        for (int32_t i = 0; i < MAX_JOBS; i++)
            if (n[i] > 0) {
                assert_close(p.iteration_s(p.x, i), fresh.iteration_s(fresh.x, i), 1e-10);
                assert_true(told_s[i] == p.iteration_s(p.x, i));
                assert_true(p.iteration_s(p.x, i) >= pace_graph_alone_s(pace_graph_of(&p), i) * (1 - 1e-12));
            }
        for (int32_t a = 0; a < c.n_arcs; a++)
            assert_true(pace_graph_arc(pace_graph_of(&p), a).peak_frac <= 1 + 1e-10);
        p.free(p.x);
        fresh.free(fresh.x);
    }
}

TEST(places_and_settings_that_cannot_be_are_refused)
{
    static const int32_t twice[] = { 1, 1 }, beyond[] = { 0, 4 };
    const struct job job = sender(2, 1, 1e9);
    const struct pace_place few = { 1, upward, ones }, doubled = { 2, twice, ones },
                            outside = { 2, beyond, ones };
    struct pace_graph_settings s = pace_graph_settings_default();
    struct topo_network net;
    KEEP(struct cluster, c, cluster_free);
    struct pace p;
    fixture_cluster(&c, &net, "ring:4@100 switch:4@10", 1, 0, 5);
    open_pace(&p, &c, &job, 1, &s);
    FAILS(p.begin(p.x, 0, &few, e), ERR_RANGE, "job job0: its place holds 1 GPUs on 1 servers, expected 2");
    FAILS(p.begin(p.x, 0, &doubled, e), ERR_RANGE, "one twice");
    FAILS(p.begin(p.x, 0, &outside, e), ERR_RANGE, "holds 1 GPUs on 1 servers");
    begin(&p, 0, 2, upward, ones);
    p.free(p.x);
    s.inner = &net;
    s.level = 1;
    FAILS(pace_graph_build(&p, &c, &job, 1, &s, e), ERR_RANGE,
          "server 0 has 5 GPUs, expected at most the 4 that its network joins");
    p.free(p.x);
    s.level = 2;
    FAILS(pace_graph_build(&p, &c, &job, 1, &s, e), ERR_RANGE, "level of servers is 2, expected 0 to 1");
    p.free(p.x);
}

/* Three GPUs of four that a network joins by halving and doubling, which three cannot do. */
TEST(a_part_of_a_server_finds_an_algorithm)
{
    static const int32_t three[] = { 3 };
    const struct job job = sender(3, 1, 3e9);
    KEEP(struct road, r, road_free);
    road_build(&r, "switch:4@100 switch:2@10", 1, 0, 4);
    r.net.dims[0].algorithm = TOPO_ALGORITHM_HALVING;
    r.s.inner = &r.net;
    r.s.level = 1;
    r.s.rules = &stage_rules_plain;
    road_open(&r, &job, 1);
    begin(&r.p, 0, 1, upward, three);
    settle(&r.p);
    assert_close(r.p.iteration_s(r.p.x, 0), 1 + 2 * (2.0 / 3) * 3e9 / 100e9, 1e-14);
}
