#include "tests/unit/batch_fixture.h"

struct job batch_fixture_job(int32_t gpus, int64_t iterations)
{
    struct job job = job_default();
    job.gpus = gpus;
    job.iterations = job.expected_s = (double)iterations;
    job.compute_s = 1;
    return job;
}

void batch_fixture_cluster(struct batch_fixture *f, int32_t n_servers, const int32_t *gpus)
{
    *f = (struct batch_fixture){ .contention = { .outer_Bps = 1,
                                                 .inner_Bps = 10,
                                                 .reduce_Bps = INFINITY,
                                                 .share_frac = 0.5,
                                                 .alpha = 0.5 } };
    assert_in_range(n_servers, 1, BATCH_FIXTURE_SERVERS);
    memcpy(f->gpus, gpus, (size_t)n_servers * sizeof *gpus);
    f->p = (struct batch_problem){ 0, f->jobs, { n_servers, f->gpus } };
}

void batch_fixture_add(struct batch_fixture *f, struct job job)
{
    assert_in_range(f->p.n_jobs, 0, BATCH_FIXTURE_JOBS - 1);
    f->jobs[f->p.n_jobs++] = job;
}

void batch_fixture_pace(struct batch_fixture *f)
{
    MUST(pace_paper_build(&f->pace, &f->contention, &f->p, e));
}

void batch_fixture_free(struct batch_fixture *f)
{
    if (f->pace.free)
        f->pace.free(f->pace.x);
}

void batch_fixture_random(struct batch_fixture *f, struct rng *r, int32_t n_servers, int32_t max_total,
                          int32_t n_jobs)
{
    int32_t gpus[BATCH_FIXTURE_SERVERS], total = 0;
    for (int32_t s = 0; s < n_servers; s++) {
        int32_t spare = max_total - total - (n_servers - 1 - s);
        gpus[s] = 1 + (int32_t)rng_below(r, spare);
        total += gpus[s];
    }
    batch_fixture_cluster(f, n_servers, gpus);
    for (int32_t i = 0; i < n_jobs; i++) {
        struct job job = batch_fixture_job(1, 5 + rng_below(r, 40));
        if (rng_below(r, 2) == 0)
            job.gpus = 1 + (int32_t)rng_below(r, total);
        job.compute_s = rng_range(r, 0.2, 1);
        job.gradient_B = rng_range(r, 0, 0.3);
        job.server_s = rng_range(r, 0, 0.05);
        job.expected_s = job.compute_s * (double)job.iterations * rng_range(r, 0.9, 1.1);
        batch_fixture_add(f, job);
    }
    batch_fixture_pace(f);
}

static void assert_span(const struct batch_span *span, const struct job *job, bool slots)
{
    double run_s = span->end_s - span->start_s, n = (double)job->iterations;
    assert_true(span->start_s >= job->submit_s);
    assert_true(span->fastest_s > 0 && span->fastest_s <= span->slowest_s);
    assert_true(run_s >= n * span->fastest_s * (1 - 1e-12));
    if (!slots)
        assert_true(run_s <= n * span->slowest_s * (1 + 1e-12));
}

/* Two spans on one GPU do not meet. */
static void assert_apart(const struct batch_result *r, const struct batch_problem *p, int32_t a, int32_t b)
{
    const struct batch_span *x = &r->jobs[a], *y = &r->jobs[b];
    if (x->end_s <= y->start_s || y->end_s <= x->start_s)
        return;
    for (int32_t i = 0; i < p->jobs[a].gpus; i++)
        for (int32_t k = 0; k < p->jobs[b].gpus; k++)
            assert_int_not_equal(r->gpus[x->first_gpu + i], r->gpus[y->first_gpu + k]);
}

void assert_batch(const struct batch_result *r, const struct batch_problem *p, bool slots)
{
    double end_s = 0, jct_s = 0, busy_s = 0;
    assert_int_equal(r->status, BATCH_DONE);
    assert_int_equal(r->n_jobs, p->n_jobs);
    for (int32_t i = 0; i < p->n_jobs; i++) {
        const struct batch_span *span = &r->jobs[i];
        const int32_t *gpus = r->gpus + span->first_gpu;
        int32_t n_servers = 1;
        assert_span(span, &p->jobs[i], slots);
        assert_in_range(gpus[0], 0, r->n_gpus - 1);
        for (int32_t k = 1; k < p->jobs[i].gpus; k++) {
            assert_in_range(gpus[k], gpus[k - 1] + 1, r->n_gpus - 1);
            n_servers += r->gpu_server[gpus[k]] != r->gpu_server[gpus[k - 1]];
        }
        assert_int_equal(span->n_servers, n_servers);
        for (int32_t k = 0; k < i; k++)
            assert_apart(r, p, i, k);
        end_s = fmax(end_s, span->end_s);
        jct_s += span->end_s - p->jobs[i].submit_s;
        busy_s += p->jobs[i].gpus * (span->end_s - span->start_s);
    }
    assert_true(r->makespan_s == end_s);
    assert_close(r->mean_jct_s, jct_s / p->n_jobs, 1e-12);
    assert_close(r->busy_frac, busy_s / (end_s * r->n_gpus), 1e-12);
    assert_true(r->busy_frac <= 1 + 1e-12);
}
