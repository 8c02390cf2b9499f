/* The last number of each range is taken, and the next one is not: where a range ends is part of what a key
 * says. Messages are held elsewhere, by the suite of each file. */
#include <float.h>

#include "sim/cluster/job.h"
#include "sim/gossip/method.h"
#include "sim/interval/interval.h"
#include "tests/settings.h"
#include "tests/unit/batch_fixture.h"
#include "tests/unit/flow_plant.h"
#include "tests/unit/hetero_fixture.h"
#include "tests/unit/slots_fixture.h"

/* The least number above 0, and the largest there is. */
#define LEAST DBL_TRUE_MIN
#define MOST  DBL_MAX

/* Field @p name of what is checked: @p in is taken, @p out is not. NAN never is. */
struct edge {
    size_t offset;
    double in, out;
};

typedef int check_one(void *x, struct err *e);

static void check_edges(check_one *check, const void *good, size_t size, const struct edge *edges, size_t n)
{
    unsigned char x[1024];
    assert_true(size <= sizeof x);
    for (size_t i = 0; i < n; i++) {
        const double values[] = { edges[i].in, edges[i].out, NAN };
        for (int k = 0; k < 3; k++) {
            struct err e = { 0 };
            memcpy(x, good, size);
            memcpy(x + edges[i].offset, &values[k], sizeof values[k]);
            int rc = check(x, &e);
            if (rc != (k ? ERR_RANGE : 0))
                print_error("edge %d, %g: %s\n", (int)i, values[k], rc ? e.msg : "is taken");
            assert_int_equal(rc, k ? ERR_RANGE : 0);
        }
    }
}
#define EDGES(check, good, type, ...)                                                                        \
    do {                                                                                                     \
        const struct edge edges[] = { __VA_ARGS__ };                                                         \
        check_edges(check, &(good), sizeof(type), edges, COUNT_OF(edges));                                   \
    } while (0)

/* ---- jobs of a queue ---- */

static struct cluster pool;
static double pool_gpus;

static int check_job(void *job, struct err *e)
{
    return job_check(job, 0, &pool, pool_gpus, e);
}

static struct cluster pool_of(void)
{
    static const char *const names[] = { "GPUs", "CPUs" };
    static const double per_server[] = { 4, MOST };
    const struct cluster_offer offer = { 2, names, per_server, false };
    struct topo_network net;
    struct cluster c;
    MUST(topo_parse_spec(&net, "switch:2@10", e));
    MUST(cluster_build(&c, &net, 0, &offer, e));
    return c;
}

TEST(fields_of_a_job)
{
    struct job job = fixture_job(0, 1, 1, 1), timed = job;
    pool = pool_of();
    pool_gpus = 8;
#define F(name, in, out) { offsetof(struct job, name), in, out }
    EDGES(check_job, job, struct job, F(submit_s, 0, -LEAST), F(submit_s, MOST, INFINITY),
          F(iterations, LEAST, 0), F(compute_s, LEAST, 0), F(gradient_B, 0, -LEAST),
          F(gradient_B, MOST, INFINITY), F(weight, LEAST, 0), F(demand[1], 0, -LEAST), F(hidden_s, 0, -LEAST),
          F(hidden_s, 1, 1 + DBL_EPSILON));
    timed.iterations = NAN;
    timed.runtime_s = 1;
    EDGES(check_job, timed, struct job, F(runtime_s, LEAST, 0), F(runtime_s, MOST, INFINITY));
#undef F
    CASES(int32_t gpus, tenant, param_servers; double pool; bool fits) = {
        { 1, -1, 0, 8, true },
        { 0, -1, 0, 8, false },
        { 8, -1, 0, 8, true },
        { 9, -1, 0, 8, false },
        { JOB_MAX_GPUS, -1, 0, 1e9, true },
        { JOB_MAX_GPUS + 1, -1, 0, 1e9, false },
        { 1, -2, 0, 8, false },
        { 1, 0, 0, 8, true },
        { 1, -1, -1, 8, false },
        { 1, -1, JOB_MAX_STREAMS, 8, true },
        { 2, -1, JOB_MAX_STREAMS / 2, 8, true },
        { 2, -1, JOB_MAX_STREAMS / 2 + 1, 8, false },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        job.gpus = cases[i].gpus;
        job.tenant = cases[i].tenant;
        job.param_servers = cases[i].param_servers;
        pool_gpus = cases[i].pool;
        assert_int_equal(check_job(&job, e), cases[i].fits ? 0 : ERR_RANGE);
    }
    cluster_free(&pool);
}

/* A batch of it alone, on one server. */
static int check_batch(void *job, struct err *e)
{
    const struct job *one = job;
    int32_t gpus = 4;
    const struct batch_problem p = { .cluster = { 1, &gpus }, .jobs = one, .n_jobs = 1 };
    return batch_check(&p, e);
}

TEST(fields_of_a_job_of_a_batch)
{
    const double most = 1e15, more = nextafter(1e15, INFINITY);
    struct job job = batch_fixture_job(4, 1);
#define F(name, in, out) { offsetof(struct job, name), in, out }
    EDGES(check_batch, job, struct job, F(iterations, 1, 0.999), F(iterations, most, more),
          F(submit_s, 0, -LEAST), F(submit_s, most, more), F(expected_s, LEAST, 0), F(expected_s, most, more),
          F(compute_s, LEAST, 0), F(compute_s, most, more), F(gradient_B, 0, -LEAST),
          F(gradient_B, most, more), F(server_s, 0, -LEAST), F(server_s, most, more));
#undef F
    job.gpus = 5;
    assert_int_equal(check_batch(&job, e), ERR_RANGE);
    job.gpus = 1;
    OK(check_batch(&job, e));
}

/* ---- elastic jobs in slots ---- */

static int check_elastic(void *job, struct err *e)
{
    return elastic_check_job(job, &pool, e);
}

TEST(fields_of_an_elastic_job)
{
    struct elastic_job job = plain_job("a", 1, 2, 9);
    pool = pool_of();
#define F(name, in, out) { offsetof(struct elastic_job, name), in, out }
    EDGES(check_elastic, job, struct elastic_job, F(demand[0], LEAST, 0), F(demand[0], 4, 4.0001),
          F(demand[1], 0, -LEAST), F(budget, 0, -LEAST), F(hop_Bps, 0, -LEAST), F(hop_Bps, MOST, INFINITY),
          F(zeta, 0, -LEAST), F(leave_frac, 0, -LEAST));
#undef F
    job.budget = job.leave_frac = INFINITY;
    OK(check_elastic(&job, e));
    CASES(int32_t arrival, most, fixed; bool fits) = {
        { 1, 1, 1, true },
        { 0, 1, 1, false },
        { 1, 0, 1, false },
        { 1, ELASTIC_MAX_WORKERS, 1, true },
        { 1, ELASTIC_MAX_WORKERS + 1, 1, false },
        { 1, 1, ELASTIC_MAX_WORKERS, true },
        { 1, 1, ELASTIC_MAX_WORKERS + 1, false },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        job.arrival = cases[i].arrival;
        job.max_workers = cases[i].most;
        job.fixed_workers = cases[i].fixed;
        assert_int_equal(check_elastic(&job, e), cases[i].fits ? 0 : ERR_RANGE);
    }
    cluster_free(&pool);
}

TEST(numbers_of_a_utility)
{
    CASES(double scale, slope, middle, most; bool fits) = {
        { 0, LEAST, 0, 0, true },     { -LEAST, 1, 0, 1, false }, { INFINITY, 1, 0, 1, false },
        { MOST, 1, 0, 1, true },      { 1, 0, 0, 1, false },      { 1, INFINITY, 0, 1, false },
        { 1, 1, INFINITY, 1, false }, { 1, 1, NAN, 1, false },    { 1, 1, 5, INFINITY, true },
        { 1, 1, 5, -LEAST, false },   { 1, 1, 5, NAN, false },    { 1, 1, 5, 0, true },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct utility u;
        int rc = utility_build(&u, UTILITY_SIGMOID_ENVELOPE, cases[i].scale, cases[i].slope, cases[i].middle,
                               cases[i].most, e);
        assert_int_equal(rc, cases[i].fits ? 0 : ERR_RANGE);
    }
}

/* ---- jobs of an interval, layers ---- */

TEST(room_for_tasks_of_a_job_in_an_interval)
{
    struct smd_job job = { .worker = { 1 }, .ps = { 1 }, .limit = { SMD_MAX_TASKS } };
    OK(smd_check_job(&job, 2, e));
    job.limit[0] += 0.001;
    FAILS(smd_check_job(&job, 2, e), ERR_RANGE, "worker: is so small that the limit has room for");
}

/* ---- what methods of gossip share ---- */

TEST(periods_and_their_cap)
{
    struct gossip_settings s = gossip_settings_default();
    s.period = s.cap = 9;
    OK(gossip_check_cap(&s, NULL, e));
    s.period = 10;
    FAILS(gossip_check_cap(&s, NULL, e), ERR_RANGE, "period is 10, expected at most the cap, 9");
}

/* ---- flows ---- */

TEST(npus_that_are_late)
{
    CASES(int64_t npu; double late_s; bool fits) = {
        { 0, 0, true },       { 3, MOST, true },      { -1, 0, false },  { 4, 0, false },
        { 0, -LEAST, false }, { 0, INFINITY, false }, { 0, NAN, false },
    };
    PLANT(p, "ring:4@50", 0);
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(flow_sim_set_late(p.sim, cases[i].npu, cases[i].late_s, e),
                         cases[i].fits ? 0 : ERR_RANGE);
}
