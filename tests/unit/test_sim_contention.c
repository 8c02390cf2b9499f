#include "sim/batch/batch.h"
#include "tests/unit/batch_fixture.h"

/* d = 1e8 B, w = 4, b = 1.25e9 B/s, G = 5e10 B/s, 32 samples of 1 ms, backward pass 50 ms, overhead 2 ms: by
 * hand 1e8 * 3/4 * (2/1.25e9 + 1/5e10) + .032 + .05 + .002 = .2055 s (the same formula is eq. 1 of arXiv
 * 2202.01158). */
TEST(an_iteration_takes_what_the_formula_gives_by_hand)
{
    const struct contention c = { 1.25e9, 30e9, 5e10, 0.5, 0.5 };
    struct job job = { .gpus = 4, .iterations = 1, .gradient_B = 1e8, .compute_s = 0.084 };
    assert_close(contention_iteration_s(&c, &job, 4, 1), 0.2055, 1e-14);
    /* Overhead of the second to the fourth server. */
    job.server_s = 0.01;
    assert_close(contention_iteration_s(&c, &job, 4, 1), 0.2355, 1e-14);
    /* Six jobs meet: k = 3, f = 3 + .5 * 2 = 4, and 7.5e7 * 2/1.25e9 = .12 becomes .48. */
    assert_close(contention_iteration_s(&c, &job, 4, 6), 0.5955, 1e-14);
    /* On one server b_i counts, and not who else is there: 7.5e7 * (2/3e10 + 1/5e10) + .084. */
    assert_close(contention_iteration_s(&c, &job, 1, 6), 0.0905, 1e-14);
    /* One worker sends nothing. */
    job.gpus = 1;
    assert_true(contention_iteration_s(&c, &job, 1, 0) == 0.084);
}

TEST(contention_begins_where_more_than_one_job_counts)
{
    TABLE_OF(half, int32_t p; double f) = {
        { 0, 1 }, { 1, 1 }, { 2, 1 }, { 3, 1.75 }, { 4, 2.5 }, { 10, 7 },
    };
    const struct contention c = { 1, 1, INFINITY, 0.5, 0.5 }, all = { 1, 1, INFINITY, 1, 0 };
    /* Two workers send 1 B each way: f(k) seconds at 1 B/s. */
    WITH(struct job, job, batch_fixture_job(2, 1), job.gradient_B = 1, job.compute_s = 0);
    for (size_t i = 0; i < COUNT_OF(half); i++)
        assert_true(contention_iteration_s(&c, &job, 2, half[i].p) == half[i].f);
    assert_true(contention_iteration_s(&all, &job, 2, 7) == 7);
}

/* Jobs that send nothing and take 1 s a server: phi is the most servers over the fewest. */
TEST(phi_counts_the_fewest_and_the_most_servers)
{
    static const int32_t servers[] = { 4, 32, 8, 8, 16 };
    CASES(int32_t gpus; double phi) = {
        { 1, 1 },        { 2, 2 },        { 4, 4 },        { 8, 5 },        { 32, 5 },
        { 33, 5 / 2.0 }, { 48, 5 / 2.0 }, { 49, 5 / 3.0 }, { 56, 5 / 3.0 }, { 57, 5 / 4.0 },
        { 64, 5 / 4.0 }, { 65, 1 },       { 68, 1 },
    };
    struct batch_fixture f;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        batch_fixture_cluster(&f, COUNT_OF(servers), servers);
        batch_fixture_add(&f, batch_fixture_job(cases[i].gpus, 1));
        f.jobs[0].server_s = 1;
        assert_close(contention_phi(&f.contention, &f.p), cases[i].phi, 1e-14);
    }
}

/* Two servers of 4: 3 GPUs at best on one (4/3 * 2/10 + 1), at worst on both with p = 4: k = 2, f = 2.5
 * (4/3 * 2 * 2.5 + 1). The other job has no choice. */
TEST(phi_is_that_of_the_job_that_suffers_most)
{
    struct batch_fixture f;
    batch_fixture_cluster(&f, 2, (const int32_t[]){ 4, 4 });
    batch_fixture_add(&f, batch_fixture_job(1, 5));
    batch_fixture_add(&f, batch_fixture_job(3, 5));
    f.jobs[1].gradient_B = 2;
    assert_close(contention_phi(&f.contention, &f.p), (4 / 3.0 * 5 + 1) / (4 / 3.0 / 5 + 1), 1e-14);
}
