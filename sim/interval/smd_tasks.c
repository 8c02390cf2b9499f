#include "sim/interval/smd_tasks.h"

#include <math.h>

/* Streams of one seed, one a job: those below 2^32 are what jobs are drawn from (smd_draw.c). */
#define ROUNDING_STREAM (UINT64_C(1) << 32)

static struct smd_point point_at(const struct smd_cost *c, double w, double p)
{
    return (struct smd_point){ w, p, smd_jct_s(c, w, p) };
}

/* The greatest gain of utility is the greatest fall of the completion time, and is seen there also where
 * utilities are so close to 0 or to the worth that they no longer differ. */
static struct smd_point find_optimus(const struct smd_job *job, int32_t n_resources)
{
    const struct smd_cost c = smd_find_cost(job);
    struct smd_point x = point_at(&c, 1, 1);
    for (;;) {
        const struct smd_point next[] = { point_at(&c, x.w + 1, x.p), point_at(&c, x.w, x.p + 1) };
        struct smd_point best = x;
        for (int k = 0; k < 2; k++)
            if (next[k].jct_s < best.jct_s && smd_fits(job, n_resources, next[k].w, next[k].p))
                best = next[k];
        if (!(best.jct_s < x.jct_s))
            return x;
        x = best;
    }
}

static struct smd_point find_esw(const struct smd_job *job, int32_t n_resources, enum smd_esw how)
{
    const struct smd_cost c = smd_find_cost(job);
    struct smd_point x = point_at(&c, 1, 1);
    for (int32_t k = 2; smd_fits(job, n_resources, k, k); k++) {
        struct smd_point next = point_at(&c, k, k);
        if (how == SMD_ESW_LARGEST || next.jct_s < x.jct_s)
            x = next;
    }
    return x;
}

static int find_smd(struct smd_point *out, const struct smd_job *job, int32_t index, int32_t n_resources,
                    const struct smd_settings *how, struct err *e)
{
    struct smd_grid grid;
    struct rng *rng;
    int rc = smd_inner_grid(&grid, job, n_resources, how->eps, e);
    if (!rc)
        rc = rng_build(&rng, how->seed, ROUNDING_STREAM + (uint64_t)index, e);
    if (rc)
        return rc;
    *out = smd_round(&grid.point, job, n_resources, &how->rounding, rng);
    rng_free(rng);
    return 0;
}

int smd_find_tasks(struct smd_point *out, enum smd_scheduler which, const struct smd_job *job, int32_t index,
                   int32_t n_resources, const struct smd_settings *how, struct err *e)
{
    switch (which) {
    case SMD_OPTIMUS:
        *out = find_optimus(job, n_resources);
        return 0;
    case SMD_ESW:
        *out = find_esw(job, n_resources, how->esw);
        return 0;
    case SMD_SMD:
        if (how->inner == SMD_INNER_GRID)
            return find_smd(out, job, index, n_resources, how, e);
        break;
    case SMD_EXACT:
    case N_SMD_SCHEDULERS:
        break;
    }
    *out = smd_inner_exact(job, n_resources);
    return 0;
}
