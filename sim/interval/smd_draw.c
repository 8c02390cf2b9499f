#include "sim/interval/smd_draw.h"

#include <math.h>

#include "base/rng.h"

const char *const smd_resource_names[N_SMD_RESOURCES + 1] = { "vCPU", "GPU", "memory", "disk" };

enum { MOST_LAYERS = 100, MOST_FACTOR = 20 };

static const double unit[N_SMD_RESOURCES] = { 3400, 600, 1400, 1200 };

struct smd_draw smd_draw_default(bool sync)
{
    return (struct smd_draw){ .sync = sync,
                              .layers = sync ? SMD_LAYERS_MEAN : SMD_LAYERS_SUM,
                              .overlap = OVERLAP_WAIT_FREE,
                              .instance = { 8, 4, 15, 20 },
                              .whole_factor = true,
                              .seed = 1 };
}

void smd_draw_pool(double capacity[N_SMD_RESOURCES], double units)
{
    for (int r = 0; r < N_SMD_RESOURCES; r++)
        capacity[r] = units * unit[r];
}

static double whole(struct rng *rng, int64_t lo, int64_t hi)
{
    return (double)(lo + rng_below(rng, hi - lo + 1));
}

static int draw_layers(struct smd_job *job, struct rng *rng, const struct smd_draw *how, struct err *e)
{
    double backward_s[MOST_LAYERS], forward_s[MOST_LAYERS], comm_s[MOST_LAYERS];
    const struct overlap_layers layers = { backward_s, forward_s, comm_s,
                                           (int32_t)whole(rng, 10, MOST_LAYERS), 0 };
    for (int32_t j = 0; j < layers.n; j++) {
        backward_s[j] = rng_range(rng, 1e-3, 0.3);
        forward_s[j] = rng_range(rng, 1e-3, 0.5);
        comm_s[j] = rng_range(rng, 0.08, 0.5);
    }
    return smd_set_layers(job, &layers, how->overlap, how->layers, e);
}

/* A server is a worker without GPU. */
static void draw_demands(struct smd_job *job, struct rng *rng)
{
    for (int k = 0; k < 2; k++) {
        double *demand = k == 0 ? job->worker : job->ps;
        demand[SMD_VCPU] = whole(rng, 1, 10);
        demand[SMD_GPU] = k == 0 ? whole(rng, 0, 4) : 0;
        demand[SMD_MEMORY_GB] = whole(rng, 2, 32);
        demand[SMD_DISK_GB] = whole(rng, 5, 10);
    }
}

static void draw_limit(struct smd_job *job, struct rng *rng, const struct smd_draw *how)
{
    do {
        double factor = how->whole_factor ? whole(rng, 1, MOST_FACTOR) : rng_range(rng, 1, MOST_FACTOR);
        for (int r = 0; r < N_SMD_RESOURCES; r++)
            job->limit[r] = factor * how->instance[r];
    } while (!smd_fits(job, N_SMD_RESOURCES, 1, 1));
}

static int draw_job(struct smd_job *job, struct rng *rng, const struct smd_draw *how, struct err *e)
{
    const double hour_s = 3600;
    *job = (struct smd_job){ .sync = how->sync };
    job->iterations = whole(rng, 50, 200);
    job->model_B = rng_range(rng, 30e6, 575e6);
    job->mini_batch = whole(rng, 10, 100);
    job->batch = whole(rng, 1, 100) * job->mini_batch;
    job->ps_Bps = rng_range(rng, 5e9, 20e9) / 8;
    job->per_worker_s = rng_range(rng, 3, 4);
    job->per_ps_s = rng_range(rng, 0, 0.01);
    job->meet_frac = rng_uniform(rng);
    job->utility.worth = rng_range(rng, 1, 100);
    job->utility.slope_per_s = rng_range(rng, 4, 6) / hour_s;
    job->utility.due_s = rng_range(rng, 1, 15) * hour_s;
    draw_demands(job, rng);
    draw_limit(job, rng, how);
    return draw_layers(job, rng, how, e);
}

/* So that no job is drawn for ever: the greatest worker and the greatest server fit 19 instances. */
static int check_instance(const struct smd_draw *how, struct err *e)
{
    static const double most[N_SMD_RESOURCES] = { 20, 4, 64, 20 };
    for (int r = 0; r < N_SMD_RESOURCES; r++)
        if (!(isfinite(how->instance[r]) && how->instance[r] * (MOST_FACTOR - 1) >= most[r]))
            return err_set(e, ERR_RANGE, "instance: %s is %g, need at least %.4g", smd_resource_names[r],
                           how->instance[r], most[r] / (MOST_FACTOR - 1));
    return 0;
}

int smd_draw_jobs(struct smd_job *jobs, int32_t n, const struct smd_draw *how, struct err *e)
{
    int rc = check_instance(how, e);
    if (rc)
        return rc;
    if (n < 0)
        return err_set(e, ERR_RANGE, "jobs: is %d, need 0 or more", (int)n);
    for (int32_t i = 0; i < n && !rc; i++) {
        struct rng *rng;
        rc = rng_build(&rng, how->seed, (uint64_t)i, e);
        if (!rc)
            rc = draw_job(&jobs[i], rng, how, e);
        rng_free(rng);
    }
    return rc;
}
