#include "tests/unit/slots_fixture.h"

struct bed {
    struct cluster c;
    struct elastic_room room;
};

static void bed_open(struct bed *b)
{
    MUST(elastic_room_build(&b->room, &b->c, e));
}

static void bed_free(struct bed *b)
{
    elastic_room_free(&b->room);
    cluster_free(&b->c);
}

TEST(room_is_taken_and_given_back)
{
    KEEP(struct bed, b, bed_free);
    struct elastic_job j = plain_job("a", 1, 9, 9);
    const int32_t servers[] = { 0, 2 }, workers[] = { 2, 1 };
    b.c = star_of(3, (const double[]){ 2, 4, 8 }, 10);
    bed_open(&b);
    j.hop_Bps = 4;
    assert_int_equal(elastic_room_workers(&b.room, &j, 2), 8);
    assert_true(ring_fits(&b.room, &j, servers, workers, 2));
    ring_take(&b.room, &j, servers, workers, 2, 1);
    assert_int_equal(elastic_room_workers(&b.room, &j, 0), 0);
    assert_int_equal(elastic_room_workers(&b.room, &j, 2), 7);
    for (int32_t arc = 0; arc < b.c.n_arcs; arc++) /* both ways of the links of servers 0 and 2 */
        assert_near(b.room.left_Bps[arc], arc / 2 == 1 ? 10 : 6, 1e-12);
    ring_take(&b.room, &j, servers, workers, 2, -1);
    for (int32_t arc = 0; arc < b.c.n_arcs; arc++)
        assert_near(b.room.left_Bps[arc], 10, 1e-12);
    assert_int_equal(elastic_room_workers(&b.room, &j, 0), 2);
    j.demand[0] = 0.1; /* 2 / 0.1 and 4 / 0.1, whatever rounding makes of them */
    assert_int_equal(elastic_room_workers(&b.room, &j, 0), 20);
    assert_int_equal(elastic_room_workers(&b.room, &j, 1), 40);
    j.demand[0] = 1e-3;
    assert_int_equal(elastic_room_workers(&b.room, &j, 2), ELASTIC_MAX_WORKERS);
}

/* A ring of 4 servers in a row, visited 0 2 1 3: each hop of two links, links used by several hops. */
TEST(hops_of_one_ring_add_up_on_a_link)
{
    static const int32_t order[] = { 0, 2, 1, 3 }, ones[] = { 1, 1, 1, 1 };
    struct topo_network net;
    KEEP(struct bed, b, bed_free);
    struct elastic_job j = plain_job("a", 1, 9, 9);
    static const char *const names[] = { "gpu" };
    static const double one = 1;
    const struct cluster_offer offer = { 1, names, &one, false };
    topo_network_defaults(&net);
    OK(topo_parse_spec(&net, "line:4@20", e)); /* 10 GB/s a link */
    OK(cluster_build(&b.c, &net, 0, &offer, e));
    bed_open(&b);
    /* 0-2, 2-1, 1-3, 3-0: the middle link is crossed by 0>2 and 1>3 one way, by 2>1 and 3>0 the other. */
    j.hop_Bps = 5e9;
    assert_true(ring_fits(&b.room, &j, order, ones, 4));
    j.hop_Bps = 5.1e9;
    assert_false(ring_fits(&b.room, &j, order, ones, 4));
    for (int32_t arc = 0; arc < b.c.n_arcs; arc++) /* a question takes nothing */
        assert_close(b.room.left_Bps[arc], 10e9, 1e-12);
    assert_true(ring_fits(&b.room, &j, (const int32_t[]){ 0, 1, 2, 3 }, ones, 4));
}

/* What is left of the budget in whole worker-slots, at most max_workers. */
TEST(the_most_of_a_job_is_bounded_by_its_budget)
{
    CASES(double budget, used; int32_t most) = {
        { 9, 0, 4 },   { 9, 5, 4 },          { 9, 6, 3 }, { 9, 9, 0 },     { 9.9, 9, 0 },
        { 2.5, 0, 2 }, { INFINITY, 1e9, 4 }, { 1, 2, 0 }, { 0.3, -0.7, 1 }
    }; /* 1 but for a rounding error */
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct elastic_job j = plain_job("a", 1, 4, cases[i].budget);
        const struct elastic_slot s = { .jobs = &j, .n_jobs = 1, .used = &cases[i].used };
        assert_int_equal(elastic_most(&s, 0), cases[i].most);
    }
}

TEST(rings_of_a_choice_stand_one_after_the_other)
{
    struct elastic_choice x = { 0 };
    for (int32_t i = 0; i < 100; i++)
        OK(elastic_choose(&x, i, (const int32_t[]){ i, i + 1 }, (const int32_t[]){ 1, i + 1 }, 1 + i % 2, e));
    assert_true(x.n_rings == 100 && x.n_servers == 150);
    for (int32_t i = 0; i < 100; i++) {
        assert_int_equal(x.rings[i].first, i + i / 2);
        assert_int_equal(x.rings[i].workers_total, i % 2 ? i + 2 : 1);
        assert_int_equal(x.servers[x.rings[i].first], i);
    }
    elastic_choice_clear(&x);
    assert_true(x.n_rings == 0 && x.n_servers == 0);
    elastic_choice_free(&x);
    elastic_choice_free(&x);
}
