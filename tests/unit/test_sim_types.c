/* Clusters of several types of NPU: who runs on which, by hand. Orders themselves: test_sim_order.c. */
#include "sim/cluster/pace.h"
#include "sim/events/events.h"
#include "tests/unit/cluster_fixture.h"

/* Servers of a GPU each, fast[0] of type 0 and fast[1] of type 1. */
static void fixture_types(struct cluster *c, const int32_t *servers)
{
    static const double one[] = { 1, 1, 1, 1 };
    char spec[32];
    snprintf(spec, sizeof spec, "switch:%d@10", (int)(servers[0] + servers[1]));
    fixture_uneven(c, spec, one);
    MUST(cluster_set_types(c, servers, 2, e));
}

static int try_run(struct events_result *r, const struct cluster *c, const struct job *jobs, int32_t n,
                   const struct events_settings *s, struct err *why)
{
    const struct pace_graph_settings speed = pace_graph_settings_default();
    struct pace pace;
    MUST(pace_graph_build(&pace, c, jobs, n, &speed, e));
    const struct events_problem p = { c, jobs, n, &pace };
    int rc = events_run(r, &p, s, why);
    pace.free(pace.x);
    return rc;
}

/* A job "submit gpus iterations fast slow: start end stops", an iteration taking 1 s over its speed on each
 * type. */
static int32_t read_jobs(struct job *jobs, double (*want)[3], const char *text)
{
    int32_t n = 0;
    for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL, n++) {
        double submit_s, gpus, iterations, speed[2];
        assert_in_range(n, 0, 4);
        assert_int_equal(sscanf(at, "%lf %lf %lf %lf %lf: %lf %lf %lf", &submit_s, &gpus, &iterations,
                                &speed[0], &speed[1], &want[n][0], &want[n][1], &want[n][2]),
                         8);
        jobs[n] = fixture_job(submit_s, (int32_t)gpus, iterations, 1);
        memcpy(jobs[n].speed, speed, sizeof speed);
    }
    return n;
}

static void schedule(const struct events_settings *s, int32_t fast, int32_t slow, const char *text)
{
    struct job jobs[5];
    double want[5][3];
    int32_t n = read_jobs(jobs, want, text);
    KEEP(struct cluster, c, cluster_free);
    KEEP(struct events_result, r, events_result_free);
    fixture_types(&c, (int32_t[]){ fast, slow });
    MUST(try_run(&r, &c, jobs, n, s, e));
    for (int32_t i = 0; i < n; i++) {
        assert_near(r.jobs[i].start_s, want[i][0], 1e-9);
        assert_near(r.jobs[i].end_s, want[i][1], 1e-9);
        assert_int_equal(r.jobs[i].stops, (int)want[i][2]);
    }
}

static struct events_settings with(enum events_order order)
{
    WITH(struct events_settings, s, events_settings_default(), s.order = order);
    return s;
}

TEST(jobs_take_the_fastest_type_that_has_room)
{
    for (int order = EVENTS_FIFO; order <= EVENTS_DRF; order++) {
        const struct events_settings s = with((enum events_order)order);
        schedule(&s, 2, 2,
                 "0 1 8 2 1: 0 4 0, 0 1 8 2 1: 0 4 0, 0 1 8 2 1: 0 8 0, 0 1 8 2 1: 0 8 0, 0 1 8 2 1: 4 8 0");
        /* What is fast for one is slow for another. */
        schedule(&s, 1, 1, "0 1 8 1 2: 0 4 0, 0 1 8 2 1: 0 4 0");
        /* One of each is free, which is no place for two; the last one runs on type 1 alone. */
        schedule(&s, 2, 2, "0 1 8 2 1: 0 4 0, 0 1 6 0 1: 0 6 0, 1 2 12 2 1: 4 10 0");
    }
}

TEST(backfilling_keeps_the_type_that_the_first_waits_for)
{
    WITH(struct events_settings, s, with(EVENTS_FIFO), s.backfill = true);
    /* Two fast ones from 10 on are the second's: the third is done by then, the fourth takes the slow one,
     * the fifth would end at 15 and waits. */
    schedule(&s, 2, 1,
             "0 1 20 2 1: 0 10 0, 1 2 10 2 1: 10 15 0, 2 1 4 2 1: 2 4 0, 3 1 20 2 1: 3 23 0, "
             "5 1 20 2 1: 15 25 0");
    /* The slow ones are free first, at 4, where it waits for them: until then nobody gets them who does not
     * end. */
    schedule(&s, 2, 2, "0 2 40 2 1: 0 20 0, 0 1 4 0 1: 0 4 0, 1 2 8 2 1: 4 12 0, 2 1 3 2 1: 12 15 0");
}

TEST(who_is_stopped_goes_on_where_there_is_room)
{
    const struct events_settings s = with(EVENTS_SRTF);
    /* At 2 the second has 2 s left and the first 8: it goes to the slow one, and stays there. */
    schedule(&s, 1, 1, "0 1 20 2 1: 0 18 1, 2 1 4 2 1: 2 4 0");
    /* It does not run there: it waits. */
    schedule(&s, 1, 1, "0 1 20 2 0: 0 12 1, 2 1 4 2 0: 2 4 0");
}

TEST(gpu_seconds_are_counted_by_type)
{
    struct job jobs[5];
    double want[5][3];
    const struct events_settings s = with(EVENTS_SRTF);
    int32_t n = read_jobs(jobs, want, "0 1 20 2 1: 0 18 1, 2 1 4 2 1: 2 4 0");
    KEEP(struct cluster, c, cluster_free);
    KEEP(struct events_result, r, events_result_free);
    fixture_types(&c, (int32_t[]){ 1, 1 });
    MUST(try_run(&r, &c, jobs, n, &s, e));
    assert_near(r.gpu_s[0], 4, 1e-9);
    assert_near(r.gpu_s[1], 16, 1e-9);
    assert_near(r.gpu_frac, 20 / 36.0, 1e-9);
}

TEST(a_job_that_no_type_takes_is_named)
{
    struct job jobs[5];
    double want[5][3];
    const struct events_settings s = with(EVENTS_FIFO);
    KEEP(struct cluster, c, cluster_free);
    fixture_types(&c, (int32_t[]){ 2, 2 });
    int32_t n = read_jobs(jobs, want, "0 1 1 1 1: 0 0 0, 0 3 8 2 1: 0 0 0");
    struct events_result r;
    FAILS(try_run(&r, &c, jobs, n, &s, e), ERR_RANGE,
          "job job1: runs on no type of NPU of the cluster, expected one that it fits with 3 GPUs");
    events_result_free(&r);
    jobs[1] = jobs[0];
    jobs[1].speed[0] = jobs[1].speed[1] = 0;
    FAILS(try_run(&r, &c, jobs, n, &s, e), ERR_RANGE, "job job1: runs on no type of NPU");
    events_result_free(&r);
    jobs[1].speed[1] = -1;
    FAILS(try_run(&r, &c, jobs, n, &s, e), ERR_RANGE, "job job1: speed is -1, expected a number >= 0");
    events_result_free(&r);
    FAILS(cluster_set_types(&c, (int32_t[]){ 2, 3 }, 2, e), ERR_RANGE,
          "cluster: 2 types of NPU have 5 servers, expected 1 to 8 with 4");
}
