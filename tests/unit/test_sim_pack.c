#include "sim/events/pack.h"

#include "tests/unit/cluster_fixture.h"

KEEPS(struct pack, pack_free)

/* Free GPUs of 6 servers, two groups of 3, and what each way gives of them. */
static const double rooms[] = { 2, 4, 1, 0, 4, 3 };

static struct pack *open_pack(const struct cluster *c)
{
    struct pack *p;
    MUST(pack_build(&p, c, 0, e));
    return p;
}

TEST(a_place_is_what_its_way_says)
{
    CASES(enum pack_kind kind; int32_t gpus; int32_t want[6] /* of each server */) = {
        { PACK_FIRST_FIT, 1, { 1 } },
        { PACK_FIRST_FIT, 7, { 2, 4, 1 } },
        { PACK_FIRST_FIT, 9, { 2, 4, 1, 0, 2 } },
        { PACK_PACKED, 1, { 0, 0, 1 } },          /* the tightest */
        { PACK_PACKED, 2, { 2 } },                /* exactly */
        { PACK_PACKED, 4, { 0, 4 } },             /* of equals the first */
        { PACK_PACKED, 5, { 0, 4, 1 } },          /* one full, then the tightest for the rest */
        { PACK_PACKED, 7, { 0, 4, 0, 0, 0, 3 } }, /* 3 is tighter than 4 */
        { PACK_PACKED, 8, { 0, 4, 0, 0, 4 } },
        { PACK_PACKED, 14, { 2, 4, 1, 0, 4, 3 } },
        { PACK_SPREAD, 1, { 0, 1 } },
        { PACK_SPREAD, 3, { 0, 1, 0, 0, 1, 1 } },
        { PACK_SPREAD, 5, { 1, 1, 1, 0, 1, 1 } },
        { PACK_SPREAD, 6, { 1, 2, 1, 0, 1, 1 } }, /* all of them, the emptiest twice */
        { PACK_SPREAD, 13, { 2, 4, 1, 0, 3, 3 } },
        { PACK_TOPOLOGY, 2, { 2 } },
        { PACK_TOPOLOGY, 5, { 0, 4, 1 } },       /* both groups have 7: the first, packed */
        { PACK_TOPOLOGY, 7, { 2, 4, 1 } },       /* one group, where packed alone takes two servers */
        { PACK_TOPOLOGY, 8, { 0, 4, 0, 0, 4 } }, /* no group holds it */
        { PACK_RANDOM, 14, { 2, 4, 1, 0, 4, 3 } },
    };
    KEEP(struct cluster, c, cluster_free);
    fixture_uneven(&c, "switch:3@10 switch:2@10", rooms);
    RNG(rng, 1, 0);
    KEEP(struct pack *, p, pack_free_at) = open_pack(&c);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct pack_place, place, pack_place_free) = { 0 };
        const struct job job = fixture_job(0, cases[i].gpus, 1, 1);
        int32_t got[6] = { 0 };
        assert_true(pack_fits(p, &job));
        OK(pack_find(&place, p, cases[i].kind, &job, rng, e));
        for (int32_t k = 0; k < place.n; k++) {
            got[place.servers[k]] = place.gpus[k];
            assert_true(k == 0 || place.servers[k] > place.servers[k - 1]);
        }
        for (int32_t s = 0; s < 6; s++)
            if (got[s] != cases[i].want[s])
                fail_msg("case %d, server %d: %d GPUs, want %d", (int)i, (int)s, (int)got[s],
                         (int)cases[i].want[s]);
    }
    const struct job large = fixture_job(0, 15, 1, 1);
    assert_false(pack_fits(p, &large));
}

TEST(what_was_taken_is_gone_until_given_back)
{
    KEEP(struct cluster, c, cluster_free);
    KEEP(struct pack_place, first, pack_place_free) = { 0 };
    KEEP(struct pack_place, second, pack_place_free) = { 0 };
    KEEP(struct pack_place, third, pack_place_free) = { 0 };
    const struct job four = fixture_job(0, 4, 1, 1);
    fixture_uneven(&c, "switch:3@10 switch:2@10", rooms);
    KEEP(struct pack *, p, pack_free_at) = open_pack(&c);
    assert_int_equal(pack_idle(p), 14);
    OK(pack_find(&first, p, PACK_PACKED, &four, NULL, e));
    pack_take(p, &four, &first);
    assert_true(first.servers[0] == 1 && pack_idle(p) == 10);
    OK(pack_find(&second, p, PACK_PACKED, &four, NULL, e));
    pack_take(p, &four, &second);
    assert_int_equal(second.servers[0], 4);
    /* 2, 1 and 3 are left: topology finds no group of 4, so two servers of both. */
    OK(pack_find(&third, p, PACK_TOPOLOGY, &four, NULL, e));
    assert_true(third.n == 2 && third.servers[0] == 2 && third.servers[1] == 5);
    pack_give(p, &four, &second);
    OK(pack_find(&third, p, PACK_TOPOLOGY, &four, NULL, e));
    assert_true(third.n == 1 && third.servers[0] == 4);
    pack_give(p, &four, &first);
    assert_int_equal(pack_idle(p), 14);
}

TEST(random_places_take_every_gpu_with_the_same_chance)
{
    enum { DRAWS = 14000 };
    KEEP(struct cluster, c, cluster_free);
    double sum[6] = { 0 };
    const struct job job = fixture_job(0, 4, 1, 1);
    fixture_uneven(&c, "switch:3@10 switch:2@10", rooms);
    RNG(rng, 5, 0);
    KEEP(struct pack *, p, pack_free_at) = open_pack(&c);
    KEEP(struct pack_place, place, pack_place_free) = { 0 };
    for (int32_t i = 0; i < DRAWS; i++) {
        int32_t gpus = 0;
        OK(pack_find(&place, p, PACK_RANDOM, &job, rng, e));
        for (int32_t k = 0; k < place.n; k++) {
            assert_true(place.gpus[k] <= rooms[place.servers[k]]);
            sum[place.servers[k]] += place.gpus[k];
            gpus += place.gpus[k];
        }
        assert_int_equal(gpus, 4);
    }
    /* 4 of 14 each time; five standard deviations of a sum of DRAWS. */
    for (int32_t s = 0; s < 6; s++)
        assert_near(sum[s], DRAWS * 4 * rooms[s] / 14, 5 * sqrt(DRAWS * rooms[s]));
}

/* 2 servers of 4 GPUs and 8 CPUs. */
TEST(other_resources_limit_what_a_server_offers)
{
    static const char *const names[] = { "GPUs", "CPUs" };
    static const double per_server[] = { 4, 8 };
    const struct cluster_offer offer = { 2, names, per_server, false };
    struct topo_network net;
    KEEP(struct cluster, c, cluster_free);
    OK(topo_parse_spec(&net, "switch:2@10", e));
    OK(cluster_build(&c, &net, 0, &offer, e));
    KEEP(struct pack *, p, pack_free_at) = open_pack(&c);
    struct job job = fixture_job(0, 4, 1, 1);
    job.demand[1] = 3; /* so two GPUs a server */
    KEEP(struct pack_place, place, pack_place_free) = { 0 };
    for (int kind = 0; kind < PACK_RANDOM; kind++) {
        assert_true(pack_fits(p, &job));
        OK(pack_find(&place, p, (enum pack_kind)kind, &job, NULL, e));
        assert_true(place.n == 2 && place.gpus[0] == 2 && place.gpus[1] == 2);
    }
    pack_take(p, &job, &place);
    struct job next = fixture_job(0, 2, 1, 1);
    next.demand[1] = 2.0 / 3; /* 2 CPUs are left of each server: three times as much */
    assert_true(pack_fits(p, &next));
    next.demand[1] = 3;
    assert_true(!pack_fits(p, &next) && pack_idle(p) == 4);
    pack_give(p, &job, &place);
    assert_true(pack_fits(p, &next));
}

/* Racks whose servers are not numbered through: the ring visits one rack after the other. */
TEST(a_ring_visits_near_servers_one_after_the_other)
{
    static const int32_t rack[] = { 0, 1, 0, 1, 2, 0 };
    static const double gpus[] = { 1, 1, 1, 1, 1, 1 };
    static const int32_t want[] = { 0, 2, 5, 1, 3, 4 };
    KEEP(struct cluster, c, cluster_free);
    fixture_racks(&c, 6, rack, gpus, 1, 1);
    KEEP(struct pack *, p, pack_free_at) = open_pack(&c);
    const struct job six = fixture_job(0, 6, 1, 1), three = fixture_job(0, 3, 1, 1);
    KEEP(struct pack_place, place, pack_place_free) = { 0 };
    OK(pack_find(&place, p, PACK_SPREAD, &six, NULL, e));
    for (int32_t k = 0; k < 6; k++)
        assert_int_equal(place.servers[k], want[k]);
    OK(pack_find(&place, p, PACK_TOPOLOGY, &three, NULL, e));
    for (int32_t k = 0; k < 3; k++)
        assert_int_equal(place.servers[k], want[k]);
}

TEST(servers_must_have_whole_gpus)
{
    static const double halves[] = { 1, 2.5 }, many[] = { 1, PACK_MAX_GPUS + 1 };
    KEEP(struct cluster, c, cluster_free);
    KEEP(struct pack *, p, pack_free_at);
    fixture_uneven(&c, "switch:2@10", halves);
    FAILS(pack_build(&p, &c, 0, e), ERR_RANGE, "server 1 has 2.5 GPUs, expected a whole number up to 4096");
    assert_null(p);
    cluster_free(&c);
    fixture_uneven(&c, "switch:2@10", many);
    FAILS(pack_build(&p, &c, 0, e), ERR_RANGE, "server 1 has 4097 GPUs");
}
