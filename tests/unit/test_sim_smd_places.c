#include "sim/interval/places.h"
#include "tests/unit/cluster_fixture.h"

enum { MOST = 5 };

/* Ten iterations of 1 s beside the exchange of 4 bytes: with B = 8, w = 2, p = 1 a job takes 10 + 10 * 2 *
 * 4/(8/2) = 30 s in a pool. A task of either kind takes a GPU. */
static struct smd_job plain(void)
{
    return (struct smd_job){ .iterations = 10,
                             .batch = 1,
                             .model_B = 4,
                             .ps_Bps = 8,
                             .backward_s = 1,
                             .shares = { 1, 1, 1 },
                             .sync = true,
                             .worker = { 1 },
                             .ps = { 1 },
                             .utility = { 10, 0, 0 } };
}

struct admitted {
    struct smd_job jobs[MOST];
    struct smd_decision decisions[MOST];
    struct smd_result r;
    struct smd_places x;
};

/* @p n such jobs, all admitted with @p w workers and @p p parameter servers. */
static void admit(struct admitted *a, int32_t n, int32_t w, int32_t p)
{
    a->r = (struct smd_result){ .jobs = a->decisions, .n_jobs = n };
    for (int32_t i = 0; i < n; i++) {
        a->jobs[i] = plain();
        struct smd_cost cost = smd_find_cost(&a->jobs[i]);
        a->decisions[i] = (struct smd_decision){ SMD_RUNS, w, p, smd_jct_s(&cost, w, p), 5 };
    }
}

static void place(struct admitted *a, int32_t n_servers, const double *gpus, double link)
{
    static const int32_t of[] = { 0 };
    KEEP(struct cluster, c, cluster_free);
    fixture_racks(&c, n_servers, NULL, gpus, link, 0);
    MUST(smd_places_find(&a->x, &a->r, a->jobs, &c, of, e));
}

/*
 * One job on servers of two GPUs: a worker and the parameter server on the first, a worker on the second,
 * whose pair gets min(B/w, link). Two jobs on three servers: the second workers of both share a server and
 * its link. On servers of three nothing is sent.
 */
TEST(places_cost_what_links_take_from_a_pair)
{
    CASES(int32_t jobs, servers; double gpus, link, jct_s) = {
        { 1, 2, 2, 8, 30 },  /* B/w = 4 is less */
        { 1, 2, 2, 1, 90 },  /* 10 + 10 * 8/1 */
        { 2, 3, 2, 1, 170 }, /* a half each */
        { 2, 3, 2, 8, 30 },  { 2, 2, 3, 1, 30 },
    };
    static const double at_most[] = { 3, 3, 3 };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct admitted a;
        double gpus[3];
        for (int k = 0; k < 3; k++)
            gpus[k] = fmin(cases[i].gpus, at_most[k]);
        admit(&a, cases[i].jobs, 2, 1);
        assert_close(a.decisions[0].jct_s, 30, 1e-12);
        place(&a, cases[i].servers, gpus, cases[i].link);
        assert_int_equal(a.x.n_placed, cases[i].jobs);
        for (int32_t k = 0; k < cases[i].jobs; k++)
            assert_close(a.x.jobs[k].jct_s, cases[i].jct_s, 1e-9);
        assert_close(a.x.stretch, cases[i].jct_s / 30, 1e-9);
        assert_close(a.x.utility, 5.0 * cases[i].jobs, 1e-12);
        smd_places_free(&a.x);
    }
}

/* Five GPUs: the first job has three, the second finds two and holds none, and the third, of two tasks, runs.
 */
TEST(a_job_without_room_for_all_its_tasks_holds_none)
{
    static const double gpus[] = { 3, 1, 1 };
    struct admitted a;
    admit(&a, 3, 2, 1);
    a.decisions[2].w = 1;
    place(&a, 3, gpus, 1);
    assert_int_equal(a.x.n_placed, 2);
    assert_int_equal(a.x.jobs[1].n, 0);
    assert_true(isnan(a.x.jobs[1].jct_s) && a.x.jobs[1].utility == 0);
    assert_int_equal(a.x.jobs[2].n, 2);
    assert_int_equal(a.x.n_seats, 3);
    smd_places_free(&a.x);
    /* Jobs that were not admitted are not placed. */
    a.decisions[0].fate = SMD_LEFT_OUT;
    place(&a, 3, gpus, 1);
    assert_int_equal(a.x.jobs[0].n, 0);
    assert_int_equal(a.x.jobs[1].n, 1);
    smd_places_free(&a.x);
}

/* Drawn jobs on drawn servers: every server keeps within its GPUs, all tasks of a placed job have a seat, no
 * place is faster than the pool, and a wide link costs nothing. */
TEST(drawn_places_hold_all_tasks_and_are_never_faster)
{
    int32_t apart = 0;
    for (int32_t number = 0; number < 300; number++) {
        struct admitted a;
        struct rng *rng;
        double gpus[4], used[4] = { 0 };
        OK(rng_build(&rng, (uint64_t)number, 1, e));
        for (int s = 0; s < 4; s++)
            gpus[s] = (double)(1 + rng_below(rng, 6));
        admit(&a, MOST, (int32_t)(1 + rng_below(rng, 4)), (int32_t)(1 + rng_below(rng, 3)));
        bool wide = number % 3 == 0;
        place(&a, 4, gpus, wide ? 1e6 : rng_range(rng, 0.1, 8));
        for (int32_t i = 0; i < MOST; i++) {
            const struct smd_placed *at = &a.x.jobs[i];
            int32_t w = 0, p = 0;
            for (int32_t k = at->first; k < at->first + at->n; k++) {
                w += a.x.seats[k].w;
                p += a.x.seats[k].p;
                used[a.x.seats[k].server] += a.x.seats[k].w + a.x.seats[k].p;
            }
            assert_true(at->n == 0 || (w == a.decisions[i].w && p == a.decisions[i].p));
            assert_true(at->n == 0 || at->jct_s >= a.decisions[i].jct_s * (1 - 1e-12));
            if (at->n && (wide || at->n == 1))
                assert_close(at->jct_s, a.decisions[i].jct_s, 1e-12);
            apart += at->n > 1;
        }
        for (int s = 0; s < 4; s++)
            assert_true(used[s] <= gpus[s]);
        smd_places_free(&a.x);
        rng_free(rng);
    }
    assert_true(apart > 200);
}
