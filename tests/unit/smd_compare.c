#include "tests/unit/smd_compare.h"

#include <math.h>
#include <stdlib.h>

static double used_frac(const struct smd_result *r)
{
    double sum = 0;
    int32_t n = 0;
    for (int32_t k = 0; k < r->n_resources; k++)
        if (r->reserved[k] > 0) {
            sum += r->used[k] / r->reserved[k];
            n++;
        }
    return n > 0 ? sum / n : 0;
}

static int run_all(struct smd_outcome *out, const struct smd_job *jobs, const struct smd_trial *t,
                   struct err *e)
{
    double capacity[N_SMD_RESOURCES];
    smd_draw_pool(capacity, t->units);
    for (int which = 0; which < N_SMD_SCHEDULERS; which++) {
        struct smd_result r;
        int rc = smd_run(&r, (enum smd_scheduler)which, jobs, t->n_jobs, capacity, N_SMD_RESOURCES,
                         &t->settings, e);
        if (rc)
            return rc;
        out->utility[which] = r.utility;
        if (which == SMD_SMD)
            out->used_frac = used_frac(&r);
        smd_result_free(&r);
    }
    return 0;
}

int smd_compare(struct smd_comparison *out, const struct smd_trial *t, struct err *e)
{
    struct smd_draw draw = t->draw;
    int rc = 0;
    *out = (struct smd_comparison){ 0 };
    if (t->n_seeds < 1)
        return err_set(e, ERR_RANGE, "seeds: is %d, need 1 or more", (int)t->n_seeds);
    if (t->n_jobs < 0)
        return err_set(e, ERR_RANGE, "jobs: is %d, need 0 or more", (int)t->n_jobs);
    struct smd_job *jobs = calloc((size_t)t->n_jobs + 1, sizeof *jobs);
    out->seeds = calloc((size_t)t->n_seeds, sizeof *out->seeds);
    if (!jobs || !out->seeds)
        rc = err_nomem(e, "random jobs");
    for (; out->n_seeds < t->n_seeds && !rc; out->n_seeds++) {
        draw.seed = t->first_seed + (uint64_t)out->n_seeds;
        rc = smd_draw_jobs(jobs, t->n_jobs, &draw, e);
        if (!rc)
            rc = run_all(&out->seeds[out->n_seeds], jobs, t, e);
    }
    free(jobs);
    if (rc)
        smd_comparison_free(out);
    return rc;
}

void smd_comparison_free(struct smd_comparison *c)
{
    free(c->seeds);
    *c = (struct smd_comparison){ 0 };
}

double smd_compare_mean(const struct smd_comparison *c, enum smd_scheduler which)
{
    double sum = 0;
    for (int32_t s = 0; s < c->n_seeds; s++)
        sum += c->seeds[s].utility[which];
    return sum / c->n_seeds;
}

double smd_compare_ratio(const struct smd_comparison *c, enum smd_scheduler a, enum smd_scheduler b,
                         double *least)
{
    double sum = 0;
    *least = INFINITY;
    for (int32_t s = 0; s < c->n_seeds; s++) {
        double ratio = c->seeds[s].utility[a] / c->seeds[s].utility[b];
        sum += ratio;
        *least = fmin(*least, ratio);
    }
    return sum / c->n_seeds;
}

int32_t smd_compare_ordered(const struct smd_comparison *c)
{
    int32_t n = 0;
    for (int32_t s = 0; s < c->n_seeds; s++) {
        const double *u = c->seeds[s].utility;
        n += u[SMD_SMD] > u[SMD_OPTIMUS] && u[SMD_OPTIMUS] >= u[SMD_ESW];
    }
    return n;
}
