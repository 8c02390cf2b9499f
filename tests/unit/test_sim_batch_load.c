#include "sim/batch/batch.h"
#include "tests/settings.h"
#include "tests/unit/batch_fixture.h"

struct bed {
    struct batch_fixture f;
    struct batch_work w;
    struct batch_load load;
};

/* Three servers of 2, 3 and 1 GPUs: GPUs 0 1, 2 3 4, 5. */
static void bed_build(struct bed *b, bool gang)
{
    const struct batch_settings s = batch_settings_default();
    batch_fixture_cluster(&b->f, 3, (const int32_t[]){ 2, 3, 1 });
    batch_fixture_add(&b->f, batch_fixture_job(1, 1));
    MUST(batch_work_build(&b->w, &b->f.p, NULL, &s, e));
    batch_load_build(&b->load, &b->w.g, gang);
    MUST(arena_check(&b->w.g.arena, "loads", e));
}

static void bed_free(struct bed *b)
{
    batch_work_free(&b->w);
}

static bool take(struct bed *b, int32_t *gpus, enum batch_load_way way, int32_t n, double add_s,
                 double limit_s, double lambda)
{
    return batch_load_take(&b->load, gpus, way, &(struct batch_load_ask){ n, add_s, limit_s, lambda });
}

static void assert_gpus(const int32_t *got, int32_t n, const int32_t *want)
{
    for (int32_t i = 0; i < n; i++)
        assert_int_equal(got[i], want[i]);
}

static void assert_loads(const struct batch_load *l, const double want_s[6])
{
    for (int i = 0; i < 6; i++)
        assert_close(l->gpu_s[i], want_s[i], 1e-14);
    assert_close(l->server_s[0], want_s[0] + want_s[1], 1e-14);
    assert_close(l->server_s[1], want_s[2] + want_s[3] + want_s[4], 1e-14);
    assert_close(l->server_s[2], want_s[5], 1e-14);
}

TEST(the_least_loaded_gpus_are_taken_and_of_equals_the_first)
{
    KEEP(struct bed, b, bed_free);
    int32_t gpus[6];
    bed_build(&b, true);
    assert_true(take(&b, gpus, BATCH_LOAD_LEAST, 4, 10, 10, 1));
    assert_gpus(gpus, 4, (const int32_t[]){ 0, 1, 2, 3 });
    assert_true(take(&b, gpus, BATCH_LOAD_LEAST, 1, 3, 10, 1));
    assert_gpus(gpus, 1, (const int32_t[]){ 4 });
    assert_true(take(&b, gpus, BATCH_LOAD_LEAST, 3, 5, 20, 1));
    assert_gpus(gpus, 3, (const int32_t[]){ 0, 4, 5 });
    /* The gang waits for GPU 0 until 10, so all three are busy until 15. */
    assert_loads(&b.load, (const double[]){ 15, 10, 10, 10, 15, 15 });
    batch_load_reset(&b.load);
    assert_loads(&b.load, (const double[6]){ 0 });
}

TEST(without_gangs_each_gpu_adds_up_its_own)
{
    KEEP(struct bed, b, bed_free);
    int32_t gpus[6];
    bed_build(&b, false);
    assert_true(take(&b, gpus, BATCH_LOAD_LEAST, 4, 10, 10, 1));
    assert_true(take(&b, gpus, BATCH_LOAD_LEAST, 3, 5, 20, 1));
    assert_loads(&b.load, (const double[]){ 15, 10, 10, 10, 5, 5 });
}

TEST(packing_fills_servers_that_have_jobs)
{
    KEEP(struct bed, b, bed_free);
    int32_t gpus[6];
    bed_build(&b, true);
    /* One GPU of server 0; the next job takes its other GPU, then the first again, though four are idle. */
    assert_true(take(&b, gpus, BATCH_LOAD_PACKED, 1, 4, 10, 1));
    assert_gpus(gpus, 1, (const int32_t[]){ 0 });
    assert_true(take(&b, gpus, BATCH_LOAD_PACKED, 1, 5, 10, 1));
    assert_gpus(gpus, 1, (const int32_t[]){ 1 });
    assert_true(take(&b, gpus, BATCH_LOAD_PACKED, 1, 5, 10, 1));
    assert_gpus(gpus, 1, (const int32_t[]){ 0 });
    /* 5 + 6 is above 10: another server is opened. */
    assert_true(take(&b, gpus, BATCH_LOAD_PACKED, 1, 6, 10, 1));
    assert_gpus(gpus, 1, (const int32_t[]){ 2 });
    assert_loads(&b.load, (const double[]){ 9, 5, 6, 0, 0, 0 });
}

TEST(balancing_offers_as_many_servers_as_have_the_room)
{
    KEEP(struct bed, b, bed_free);
    int32_t gpus[6];
    bed_build(&b, true);
    /* Mean loads 2, 1, 0 a GPU: server 2, then 1, then 0. */
    assert_true(take(&b, gpus, BATCH_LOAD_LEAST, 2, 2, 10, 1));
    assert_true(take(&b, gpus, BATCH_LOAD_LEAST, 1, 3, 10, 1));
    assert_loads(&b.load, (const double[]){ 2, 2, 3, 0, 0, 0 });
    /* Servers 2 and 1 have room for 4: GPU 2 is taken although GPUs 0 and 1 are loaded less. */
    assert_true(take(&b, gpus, BATCH_LOAD_BALANCED, 4, 1, 10, 1));
    assert_gpus(gpus, 4, (const int32_t[]){ 2, 3, 4, 5 });
    assert_loads(&b.load, (const double[]){ 2, 2, 4, 4, 4, 4 });
    /* Server 0 (mean 2) alone has room for 2; with lambda 2 server 1 is offered too, but its GPUs have more.
     */
    assert_true(take(&b, gpus, BATCH_LOAD_BALANCED, 2, 9, 11, 1));
    assert_gpus(gpus, 2, (const int32_t[]){ 0, 1 });
    /* Now those two have 11: the limit leaves too few on servers 1 and 2 for lambda 1 and 5 GPUs. */
    assert_false(take(&b, gpus, BATCH_LOAD_BALANCED, 5, 7, 11, 1));
    assert_true(take(&b, gpus, BATCH_LOAD_BALANCED, 3, 7, 11, 100));
    assert_gpus(gpus, 3, (const int32_t[]){ 2, 3, 4 });
}

TEST(first_fit_takes_the_lowest_numbers_within_the_limit)
{
    KEEP(struct bed, b, bed_free);
    int32_t gpus[6];
    bed_build(&b, true);
    assert_true(take(&b, gpus, BATCH_LOAD_FIRST, 2, 6, 10, 1));
    assert_gpus(gpus, 2, (const int32_t[]){ 0, 1 });
    assert_true(take(&b, gpus, BATCH_LOAD_FIRST, 2, 4, 10, 1));
    assert_gpus(gpus, 2, (const int32_t[]){ 0, 1 });
    assert_true(take(&b, gpus, BATCH_LOAD_FIRST, 2, 4, 10, 1));
    assert_gpus(gpus, 2, (const int32_t[]){ 2, 3 });
}

TEST(too_few_gpus_within_the_limit_change_nothing)
{
    static const double before_s[] = { 6, 6, 6, 6, 0, 0 };
    KEEP(struct bed, b, bed_free);
    int32_t gpus[6];
    bed_build(&b, true);
    assert_true(take(&b, gpus, BATCH_LOAD_FIRST, 4, 6, 10, 1));
    for (int way = BATCH_LOAD_LEAST; way <= BATCH_LOAD_FIRST; way++)
        assert_false(take(&b, gpus, (enum batch_load_way)way, 3, 5, 10, 1));
    assert_loads(&b.load, before_s);
    assert_false(b.load.open[2]);
}

/* Servers of 2, 3 and 1 GPUs by load per GPU, of equals the first: a third on each, then the least. */
TEST(balanced_jobs_get_the_servers_loaded_least_and_of_equals_the_first)
{
    CASES(double load_s[6]; int32_t n; int32_t want[3]) = {
        { { 0 }, 1, { 0 } },
        { { 0 }, 2, { 0, 1 } },
        { { 0 }, 3, { 0, 1, 2 } },
        { { 1, 1, 0, 0, 0, 1 }, 1, { 2 } },
        { { 1, 1, 1, 1, 1, 0 }, 1, { 5 } },
        { { 2, 0, 3, 0, 0, 1 }, 2, { 1, 0 } }, /* one of each: the first, and in it the least loaded first */
        { { 3, 3, 2, 2, 2, 2 }, 3, { 2, 3, 4 } },
        { { 3, 3, 2, 2, 2, 1 }, 2, { 5, 2 } },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct bed, b, bed_free);
        int32_t gpus[6], got = 0;
        bed_build(&b, true);
        for (int32_t gpu = 0; gpu < 6; gpu++) {
            int32_t server = gpu < 2 ? 0 : gpu < 5 ? 1 : 2;
            b.load.gpu_s[gpu] = cases[i].load_s[gpu];
            b.load.server_s[server] += cases[i].load_s[gpu];
        }
        assert_true(take(&b, gpus, BATCH_LOAD_BALANCED, cases[i].n, 1, INFINITY, 1));
        for (int32_t k = 0; k < cases[i].n; k++)
            for (int32_t j = 0; j < cases[i].n; j++)
                got += gpus[k] == cases[i].want[j];
        assert_int_equal(got, cases[i].n);
    }
}

/* Against sorting all GPUs. */
TEST(the_choice_is_that_of_a_full_sort)
{
    KEEP(struct bed, b, bed_free);
    int32_t gpus[6];
    RNG(r, 3, 0);
    bed_build(&b, true);
    for (int round = 0; round < 500; round++) {
        bool taken[6] = { false };
        int32_t n = 1 + (int32_t)rng_below(r, 6);
        for (int i = 0; i < 6; i++)
            b.load.gpu_s[i] = (double)rng_below(r, 4);
        for (int32_t i = 0; i < n; i++) {
            int best = -1;
            for (int k = 0; k < 6; k++)
                if (!taken[k] && (best < 0 || b.load.gpu_s[k] < b.load.gpu_s[best]))
                    best = k;
            taken[best] = true;
        }
        assert_true(take(&b, gpus, BATCH_LOAD_LEAST, n, 1, INFINITY, 1));
        for (int32_t i = 0; i < n; i++)
            assert_true(taken[gpus[i]] && (i == 0 || gpus[i] > gpus[i - 1]));
    }
}
