#include "sim/interval/smd_round.h"

#include <math.h>

double smd_round_scale(const struct smd_job *job, int32_t n_resources, double delta)
{
    double room = INFINITY;
    for (int32_t r = 0; r < n_resources; r++) {
        if (job->worker[r] > 0)
            room = fmin(room, job->limit[r] / job->worker[r]);
        if (job->ps[r] > 0)
            room = fmin(room, job->limit[r] / job->ps[r]);
    }
    if (!(room > 0))
        return 0;
    /* 1 + A - sqrt(A^2 + 2A), without the difference of two large numbers. */
    double A = 3 * log(2 * n_resources / delta) / (2 * room);
    return 1 / (1 + A + sqrt(A * A + 2 * A));
}

static double round_one(double x, struct rng *rng)
{
    double down = floor(x);
    return fmax(rng_uniform(rng) < x - down ? down + 1 : down, 1);
}

struct smd_point smd_round(const struct smd_point *x, const struct smd_job *job, int32_t n_resources,
                           const struct smd_rounding *how, struct rng *rng)
{
    const struct smd_cost cost = smd_find_cost(job);
    double scale = how->scale == SMD_SCALE_LITERAL ? smd_round_scale(job, n_resources, how->delta) : 1;
    struct smd_point best = { 1, 1, INFINITY };
    for (int32_t i = 0; i < how->tries; i++) {
        double w = round_one(scale * x->w, rng), p = round_one(scale * x->p, rng);
        double jct_s = smd_jct_s(&cost, w, p);
        if (!(jct_s < best.jct_s) || !smd_fits(job, n_resources, w, p))
            continue;
        best = (struct smd_point){ w, p, jct_s };
        if (how->keep == SMD_KEEP_FIRST)
            break;
    }
    if (isfinite(best.jct_s))
        return best;
    double w = fmax(floor(x->w), 1), p = fmax(floor(x->p), 1);
    if (!smd_fits(job, n_resources, w, p))
        w = p = 1;
    return (struct smd_point){ w, p, smd_jct_s(&cost, w, p) };
}
