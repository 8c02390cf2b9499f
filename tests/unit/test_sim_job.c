/* What cannot be is in test_sim_events.c, which meets all of it. */
#include "sim/cluster/job.h"

#include "tests/unit/cluster_fixture.h"

TEST(room_is_what_the_scarcest_resource_leaves)
{
    static const double left[] = { 8, 10, 100 };
    struct job job = job_default();
    assert_int_equal(job_room(&job, left, 3), 8);
    job.demand[1] = 3;
    assert_int_equal(job_room(&job, left, 3), 3);
    job.demand[2] = 40;
    assert_true(job_room(&job, left, 3) == 2 && job_room(&job, left, 1) == 8);
    /* Ten times a tenth, as it is left after rounding. */
    const double rounded[] = { 8, 0.1 + 0.1 + 0.1, 0 };
    job = job_default();
    job.demand[1] = 0.1;
    assert_int_equal(job_room(&job, rounded, 2), 3);
    const double nearly[] = { 8, 1 - 9 * 0.1, 0 };
    assert_true(nearly[1] < 0.1 && job_room(&job, nearly, 2) == 1);
    const double below[] = { 8, -1e-17, 0 };
    assert_int_equal(job_room(&job, below, 2), 0);
}

TEST(a_job_is_called_by_its_id_or_number)
{
    char buf[JOB_NAME];
    struct job job = job_default();
    assert_string_equal(job_name(buf, &job, 12), "job12");
    job.id = "application_1506638472019_10238";
    assert_string_equal(job_name(buf, &job, 12), "application_1506638472019_10238");
}

TEST(a_job_is_mixed_by_what_the_cluster_counts)
{
    struct job job = job_default();
    const struct cluster gpus = { .n_resources = 1 }, both = { .n_resources = 2 };
    assert_false(job_is_mixed(&job, &both));
    job.demand[1] = 1;
    assert_true(job_is_mixed(&job, &both) && !job_is_mixed(&job, &gpus));
}
