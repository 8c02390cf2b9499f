#include "sim/interval/interval.h"
#include "tests/settings.h"
#include "tests/support.h"

enum { N_JOBS = 2000 };

static struct smd_job *draw(const struct smd_draw *how, int32_t n)
{
    struct smd_job *jobs = calloc((size_t)n, sizeof *jobs);
    assert_non_null(jobs);
    MUST(smd_draw_jobs(jobs, n, how, e));
    return jobs;
}

static void assert_within(double x, double lo, double hi, bool whole)
{
    assert_true(x >= lo && x <= hi && (!whole || x == floor(x)));
}

/* arXiv 2105.13855 section VII. */
TEST(every_number_is_in_the_papers_range)
{
    for (int sync = 0; sync < 2; sync++) {
        const struct smd_draw how = smd_draw_default(sync);
        struct smd_job *jobs = draw(&how, N_JOBS);
        for (int32_t i = 0; i < N_JOBS; i++) {
            const struct smd_job *j = &jobs[i];
            OK(smd_check_job(j, N_SMD_RESOURCES, e));
            assert_int_equal(j->sync, sync);
            assert_within(j->iterations, 50, 200, true);
            assert_within(j->mini_batch, 10, 100, true);
            assert_within(j->batch / j->mini_batch, 1, 100, true);
            assert_within(j->model_B, 30e6, 575e6, false);
            assert_within(j->ps_Bps, 5e9 / 8, 20e9 / 8, false);
            assert_within(j->per_worker_s, 3, 4, false);
            assert_within(j->per_ps_s, 0, 0.01, false);
            assert_within(j->meet_frac, 0, 1, false);
            assert_within(j->utility.worth, 1, 100, false);
            assert_within(j->utility.slope_per_s * 3600, 4, 6 + 1e-9, false);
            assert_within(j->utility.due_s / 3600, 1, 15, false);
            assert_within(j->worker[SMD_VCPU], 1, 10, true);
            assert_within(j->worker[SMD_GPU], 0, 4, true);
            assert_within(j->worker[SMD_MEMORY_GB], 2, 32, true);
            assert_within(j->ps[SMD_DISK_GB], 5, 10, true);
            assert_true(j->ps[SMD_GPU] == 0);
            assert_within(j->limit[SMD_GPU] / 4, 1, 20, true);
            assert_true(j->limit[SMD_VCPU] == 2 * j->limit[SMD_GPU]);
            assert_true(j->limit[SMD_DISK_GB] == 5 * j->limit[SMD_GPU]);
            assert_true(smd_fits(j, N_SMD_RESOURCES, 1, 1));
            assert_within(j->forward_s, sync ? 0.05 : 0.5, sync ? 0.45 : 50, false);
        }
        free(jobs);
    }
}

/* Mean and range of what is drawn uniformly: within 4 standard deviations of the mean of 2000. */
TEST(draws_have_the_mean_of_their_range)
{
    const struct smd_draw how = smd_draw_default(true);
    struct smd_job *jobs = draw(&how, N_JOBS);
    double iterations = 0, gpu = 0, worth = 0, forward_s = 0;
    for (int32_t i = 0; i < N_JOBS; i++) {
        iterations += jobs[i].iterations / N_JOBS;
        gpu += jobs[i].worker[SMD_GPU] / N_JOBS;
        worth += jobs[i].utility.worth / N_JOBS;
        forward_s += jobs[i].forward_s / N_JOBS;
    }
    assert_near(iterations, 125, 3.9);
    assert_near(gpu, 2, 0.13);
    assert_near(worth, 50.5, 2.6);
    assert_near(forward_s, 0.2505, 0.003);
    free(jobs);
}

TEST(a_job_does_not_depend_on_the_length_of_the_list)
{
    struct smd_draw how = smd_draw_default(false);
    struct smd_job *few = draw(&how, 10), *many = draw(&how, 40);
    for (int i = 0; i < 10; i++)
        assert_true(few[i].model_B == many[i].model_B && few[i].limit[0] == many[i].limit[0] &&
                    few[i].forward_s == many[i].forward_s);
    how.seed = 2;
    struct smd_job *other = draw(&how, 10);
    assert_true(other[0].model_B != few[0].model_B);
    free(few);
    free(many);
    free(other);
}

/* The bytes of a NaN where the next function has its arrays. */
static void fill_stack(void)
{
    volatile unsigned char room[1 << 14];
    for (size_t i = 0; i < sizeof room; i++)
        room[i] = 0xff;
}

TEST(every_layer_is_drawn)
{
    for (int32_t i = 0; i < 50; i++) {
        struct smd_job job;
        struct smd_draw how = smd_draw_default(true);
        how.seed = (uint64_t)i;
        fill_stack();
        OK(smd_draw_jobs(&job, 1, &how, e));
        assert_true(job.forward_s > 0 && job.shares.backward > 0 && job.shares.comm > 0);
    }
}

TEST(choices_change_what_they_name)
{
    struct smd_draw how = smd_draw_default(true);
    struct smd_job *mean = draw(&how, 50);
    how.layers = SMD_LAYERS_SUM;
    struct smd_job *sum = draw(&how, 50);
    how.overlap = OVERLAP_SEQUENTIAL;
    how.whole_factor = false;
    how.instance[SMD_DISK_GB] = 80;
    struct smd_job *other = draw(&how, 50);
    bool fraction = false;
    for (int i = 0; i < 50; i++) {
        double n = sum[i].forward_s / mean[i].forward_s;
        assert_near(n, round(n), 1e-9);
        assert_within(round(n), 10, 100, true);
        assert_true(sum[i].shares.comm == mean[i].shares.comm && mean[i].shares.comm < 1);
        assert_true(other[i].shares.comm == 1 && other[i].shares.backward == 1);
        fraction = fraction || other[i].limit[SMD_GPU] != floor(other[i].limit[SMD_GPU]);
        assert_close(other[i].limit[SMD_DISK_GB], 20 * other[i].limit[SMD_GPU], 1e-14);
    }
    assert_true(fraction);
    free(mean);
    free(sum);
    free(other);
}

TEST(a_unit_of_the_pool_is_the_papers)
{
    double capacity[N_SMD_RESOURCES];
    smd_draw_pool(capacity, 2);
    assert_true(capacity[SMD_VCPU] == 6800 && capacity[SMD_GPU] == 1200);
    assert_true(capacity[SMD_MEMORY_GB] == 2800 && capacity[SMD_DISK_GB] == 2400);
}

TEST(an_instance_without_room_is_refused)
{
    struct smd_draw how = smd_draw_default(true);
    struct smd_job job;
    how.instance[SMD_GPU] = 0.1;
    FAILS(smd_draw_jobs(&job, 1, &how, e), ERR_RANGE, "instance: GPU is 0.1, expected at least 0.2105");
    how.instance[SMD_GPU] = 4 / 19.5; /* 19 times it are too few, 20 would do */
    FAILS(smd_draw_jobs(&job, 1, &how, e), ERR_RANGE, "instance: GPU is 0.205");
    how.instance[SMD_GPU] = NAN;
    FAILS(smd_draw_jobs(&job, 1, &how, e), ERR_RANGE, "instance: GPU is nan");
    how.instance[SMD_GPU] = 4 / 18.9;
    OK(smd_draw_jobs(&job, 1, &how, e));
}
