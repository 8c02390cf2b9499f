#include "sim/batch/contention.h"

#include <math.h>

int contention_check(const struct contention *c, struct err *e)
{
    if (!(c->outer_Bps > 0 && isfinite(c->outer_Bps)))
        return err_set(e, ERR_RANGE, "outer_Bps: is %g, need above 0 and finite", c->outer_Bps);
    if (!(c->inner_Bps >= c->outer_Bps))
        return err_set(e, ERR_RANGE, "inner_Bps: is %g, need at least outer_Bps, %g", c->inner_Bps,
                       c->outer_Bps);
    if (!(c->reduce_Bps > 0))
        return err_set(e, ERR_RANGE, "reduce_Bps: is %g, need above 0", c->reduce_Bps);
    if (!(c->share_frac > 0 && c->share_frac <= 1))
        return err_set(e, ERR_RANGE, "share_frac: is %g, need above 0, at most 1", c->share_frac);
    if (!(c->alpha >= 0 && isfinite(c->alpha)))
        return err_set(e, ERR_RANGE, "alpha: is %g, need 0 or more", c->alpha);
    return 0;
}

double contention_jobs(const struct contention *c, int32_t p)
{
    return fmax(1, c->share_frac * p);
}

double contention_slowdown(const struct contention *c, double k)
{
    return k + c->alpha * (k - 1);
}

double contention_iteration_s(const struct contention *c, const struct batch_job *job, int32_t n_servers,
                              int32_t p)
{
    double bw_Bps = c->inner_Bps;
    if (n_servers > 1)
        bw_Bps = c->outer_Bps / contention_slowdown(c, contention_jobs(c, p));
    /* Each worker sends 2 (w-1) messages of m/w and adds up w-1 of them. */
    double sent_B = job->gradient_B * (job->gpus - 1) / job->gpus;
    return sent_B * (2 / bw_Bps + 1 / c->reduce_Bps) + job->server_s * (n_servers - 1) + job->compute_s;
}

/* Fewest servers that hold so many GPUs: the largest first. No array of them is sorted: sizes are few, so the
 * next size down is looked for. */
static int32_t fewest_servers(const struct batch_cluster *cluster, int32_t gpus)
{
    int32_t n = 0, size = INT32_MAX;
    while (gpus > 0) {
        int32_t below = 0, count = 0;
        for (int32_t s = 0; s < cluster->n_servers; s++)
            if (cluster->gpus[s] < size && cluster->gpus[s] > below)
                below = cluster->gpus[s];
        if (below == 0)
            break;
        size = below;
        for (int32_t s = 0; s < cluster->n_servers; s++)
            count += cluster->gpus[s] == size;
        int32_t need = (gpus - 1) / size + 1, taken = need < count ? need : count;
        n += taken;
        gpus -= taken < need ? taken * size : gpus;
    }
    return n;
}

double contention_phi(const struct contention *c, const struct batch_problem *p)
{
    int32_t crowd = 1;
    double phi = 1;
    for (int32_t s = 0; s < p->cluster.n_servers; s++)
        if (p->cluster.gpus[s] > crowd)
            crowd = p->cluster.gpus[s];
    for (int32_t i = 0; i < p->n_jobs; i++) {
        const struct batch_job *job = &p->jobs[i];
        int32_t most = job->gpus < p->cluster.n_servers ? job->gpus : p->cluster.n_servers;
        int32_t least = fewest_servers(&p->cluster, job->gpus);
        phi =
            fmax(phi, contention_iteration_s(c, job, most, crowd) / contention_iteration_s(c, job, least, 1));
    }
    return phi;
}
