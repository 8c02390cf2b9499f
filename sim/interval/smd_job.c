#include "sim/interval/smd_job.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Products of four of them are still numbers. */
#define MOST_VALUE 1e18

/* ---- checks ---- */

struct field {
    const char *name;
    size_t offset;
    double most;
    bool zero; /* may it be 0? */
};

#define FIELD(name, most, zero)                                                                              \
    {                                                                                                        \
#name, offsetof(struct smd_job, name), most, zero                                                    \
    }

static int check_field(const struct smd_job *job, const struct field *f, struct err *e)
{
    double x;
    memcpy(&x, (const char *)job + f->offset, sizeof x);
    if (x <= f->most && (f->zero ? x >= 0 : x > 0))
        return 0;
    return err_set(e, ERR_RANGE, "%s: is %g, need %s 0, at most %g", f->name, x,
                   f->zero ? "at least" : "above", f->most);
}

static int check_demand(const char *name, const double *demand, const double *limit, int32_t n_resources,
                        struct err *e)
{
    double most = INFINITY;
    for (int32_t r = 0; r < n_resources; r++) {
        if (!(demand[r] >= 0 && demand[r] <= MOST_VALUE))
            return err_set(e, ERR_RANGE, "%s[%d]: is %g, need 0 to %g", name, (int)r, demand[r], MOST_VALUE);
        if (!(limit[r] >= 0 && limit[r] <= MOST_VALUE))
            return err_set(e, ERR_RANGE, "limit[%d]: is %g, need 0 to %g", (int)r, limit[r], MOST_VALUE);
        if (demand[r] > 0)
            most = fmin(most, limit[r] / demand[r]);
    }
    if (!isfinite(most))
        return err_set(e, ERR_RANGE, "%s: is 0 of every resource, need some of one", name);
    if (!(most <= SMD_MAX_TASKS))
        return err_set(e, ERR_RANGE, "%s: is so small that the limit has room for %g, need at most %d", name,
                       most, SMD_MAX_TASKS);
    return 0;
}

int smd_check_job(const struct smd_job *job, int32_t n_resources, struct err *e)
{
    static const struct field fields[] = {
        FIELD(iterations, MOST_VALUE, false),
        FIELD(batch, MOST_VALUE, false),
        FIELD(mini_batch, MOST_VALUE, false),
        FIELD(model_B, MOST_VALUE, true),
        FIELD(ps_Bps, MOST_VALUE, false),
        FIELD(forward_s, MOST_VALUE, true),
        FIELD(backward_s, MOST_VALUE, true),
        FIELD(shares.forward, 1, true),
        FIELD(shares.backward, 1, true),
        FIELD(shares.comm, 1, true),
        FIELD(per_worker_s, MOST_VALUE, true),
        FIELD(per_ps_s, MOST_VALUE, true),
        FIELD(meet_frac, 1, true),
        FIELD(utility.worth, MOST_VALUE, true),
        FIELD(utility.slope_per_s, MOST_VALUE, true),
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        int rc = check_field(job, &fields[i], e);
        if (rc)
            return rc;
    }
    if (!isfinite(job->utility.due_s))
        return err_set(e, ERR_RANGE, "utility.due_s: is %g, need a finite number", job->utility.due_s);
    int rc = check_demand("worker", job->worker, job->limit, n_resources, e);
    return rc ? rc : check_demand("ps", job->ps, job->limit, n_resources, e);
}

/* ---- what it is made of ---- */

int smd_set_layers(struct smd_job *job, const struct overlap_layers *layers, enum overlap_mode mode,
                   enum smd_layers how, struct err *e)
{
    int rc = overlap_check(layers, e);
    if (rc)
        return rc;
    double forward_s = 0, backward_s = 0;
    for (int32_t j = 0; j < layers->n; j++) {
        forward_s += layers->forward_s[j];
        backward_s += layers->backward_s[j];
    }
    double parts = how == SMD_LAYERS_MEAN ? layers->n : 1;
    job->forward_s = forward_s / parts;
    job->backward_s = backward_s / parts;
    job->shares = overlap_find_shares(layers, mode);
    return 0;
}

/* ---- how fast it runs ---- */

struct smd_cost smd_find_cost(const struct smd_job *job)
{
    const double E = job->iterations, push_s = 2 * E * job->shares.comm * (job->model_B / job->ps_Bps);
    const double backward_s = E * job->shares.backward * job->backward_s;
    const double forward_s = E * job->shares.forward * job->forward_s;
    if (job->sync)
        return (struct smd_cost){ .fixed_s = backward_s,
                                  .w_s = E * job->per_worker_s,
                                  .p_s = E * job->per_ps_s,
                                  .w_over_p_s = push_s,
                                  .over_w_s = forward_s * job->batch };
    return (struct smd_cost){ .fixed_s = E * job->per_worker_s,
                              .p_over_w_s = E * job->per_ps_s,
                              .over_w_s = forward_s * job->mini_batch + backward_s,
                              .over_p_s = push_s * job->meet_frac };
}

double smd_jct_s(const struct smd_cost *c, double w, double p)
{
    return c->fixed_s + c->w_s * w + c->p_s * p + c->w_over_p_s * (w / p) + c->p_over_w_s * (p / w) +
           c->over_w_s / w + c->over_p_s / p;
}

double smd_speed(const struct smd_job *job, double w, double p)
{
    const struct overlap_shares *e = &job->shares;
    /* All workers push to a server at once, or the share of them that meets there. */
    double rate_Bps = job->ps_Bps / (job->sync ? w : job->meet_frac * w);
    double samples = job->sync ? job->batch / w : job->mini_batch;
    double turn_s = e->forward * samples * job->forward_s + e->backward * job->backward_s +
                    2 * e->comm * (job->model_B / p) / rate_Bps + job->per_worker_s * w + job->per_ps_s * p;
    return (job->sync ? 1 : w) / turn_s;
}

/* exp() of what is late by a lot is infinite, and the worth then 0, as it should be. */
double smd_worth(const struct smd_utility *u, double jct_s)
{
    return u->worth / (1 + exp(u->slope_per_s * (jct_s - u->due_s)));
}

/* ---- what it may use ---- */

bool smd_fits(const struct smd_job *job, int32_t n_resources, double w, double p)
{
    for (int32_t r = 0; r < n_resources; r++)
        if (!(job->worker[r] * w + job->ps[r] * p <= job->limit[r] * (1 + SMD_LIMIT_SLACK)))
            return false;
    return true;
}

/* Most of what demands `each`, beside `n` of what demands `other`. */
static double most_beside(const double *each, const double *other, double n, const double *limit,
                          int32_t n_resources)
{
    double most = INFINITY;
    for (int32_t r = 0; r < n_resources; r++)
        if (each[r] > 0)
            most = fmin(most, (limit[r] * (1 + SMD_LIMIT_SLACK) - other[r] * n) / each[r]);
    return most;
}

double smd_most_workers(const struct smd_job *job, int32_t n_resources, double p)
{
    return most_beside(job->worker, job->ps, p, job->limit, n_resources);
}

double smd_most_servers(const struct smd_job *job, int32_t n_resources, double w)
{
    return most_beside(job->ps, job->worker, w, job->limit, n_resources);
}
