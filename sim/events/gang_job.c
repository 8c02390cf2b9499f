#include "sim/events/gang_job.h"

#include <math.h>
#include <stdio.h>

/* What is left of a resource is a sum of what was taken and given back: so much rounding is forgiven. */
#define SLACK 1e-9

struct gang_job gang_job_default(void)
{
    return (struct gang_job){
        .gpus = 1, .tenant = -1, .weight = 1, .iterations = NAN, .runtime_s = NAN, .compute_s = NAN
    };
}

const char *gang_job_name(char buf[GANG_NAME], const struct gang_job *job, int32_t number)
{
    if (job->id)
        return job->id;
    snprintf(buf, GANG_NAME, "job%d", (int)number);
    return buf;
}

bool gang_job_is_mixed(const struct gang_job *job, const struct cluster *c)
{
    for (int32_t r = 1; r < c->n_resources; r++)
        if (job->demand[r] > 0)
            return true;
    return false;
}

int32_t gang_job_room(const struct gang_job *job, const double *left, int32_t n_resources)
{
    double room = left[0];
    for (int32_t r = 1; r < n_resources; r++)
        if (job->demand[r] > 0)
            room = fmin(room, left[r] / job->demand[r]);
    return (int32_t)floor(fmax(0, room) * (1 + SLACK));
}

/* A field must be finite, and at least 0 or more than it. */
static int check_field(const char *name, const char *field, double value, bool zero, struct err *e)
{
    if (isfinite(value) && (zero ? value >= 0 : value > 0))
        return 0;
    return err_set(e, ERR_RANGE, "job %s: %s is %g, need a number %s 0", name, field, value,
                   zero ? ">=" : ">");
}

static int check_length(const char *name, const struct gang_job *job, struct err *e)
{
    bool counted = !isnan(job->iterations), timed = !isnan(job->runtime_s);
    if (counted == timed)
        return err_set(e, ERR_RANGE, "job %s: %s of iterations and runtime is given, need exactly one", name,
                       counted ? "each" : "none");
    return counted ? check_field(name, "iterations", job->iterations, false, e)
                   : check_field(name, "runtime [s]", job->runtime_s, false, e);
}

static int check_fields(const char *name, const struct gang_job *job, const struct cluster *c, struct err *e)
{
    int rc = check_field(name, "submission [s]", job->submit_s, true, e);
    if (!rc)
        rc = check_length(name, job, e);
    if (!rc)
        rc = check_field(name, "compute [s]", job->compute_s, false, e);
    if (!rc)
        rc = check_field(name, "gradient [B]", job->gradient_B, true, e);
    if (!rc)
        rc = check_field(name, "weight", job->weight, false, e);
    for (int32_t r = 1; r < c->n_resources && !rc; r++)
        rc = check_field(name, c->resources[r], job->demand[r], true, e);
    if (rc)
        return rc;
    if (!(job->hidden_s >= 0 && job->hidden_s <= job->compute_s))
        return err_set(e, ERR_RANGE, "job %s: hidden communication is %g s, need 0 to its compute, %g s",
                       name, job->hidden_s, job->compute_s);
    if (job->tenant < -1)
        return err_set(e, ERR_RANGE, "job %s: tenant is %d, need a number >= 0, or -1 for none", name,
                       (int)job->tenant);
    return 0;
}

int gang_job_check(const struct gang_job *job, int32_t number, const struct cluster *c, double total_gpus,
                   struct err *e)
{
    char buf[GANG_NAME];
    const char *name = gang_job_name(buf, job, number);
    int rc = check_fields(name, job, c, e);
    if (rc)
        return rc;
    if (job->gpus < 1 || job->gpus > GANG_MAX_GPUS)
        return err_set(e, ERR_RANGE, "job %s: needs %d GPUs, need 1 to %d", name, (int)job->gpus,
                       (int)GANG_MAX_GPUS);
    if (!(job->gpus <= total_gpus))
        return err_set(e, ERR_RANGE, "job %s: needs %d GPUs, the cluster has %g", name, (int)job->gpus,
                       total_gpus);
    if (job->param_servers < 0 || job->param_servers > GANG_MAX_STREAMS / job->gpus)
        return err_set(e, ERR_RANGE, "job %s: has %d parameter servers, need 0 to %d", name,
                       (int)job->param_servers, (int)(GANG_MAX_STREAMS / job->gpus));
    if (!gang_job_is_mixed(job, c))
        return 0;
    int64_t room = 0;
    for (int32_t s = 0; s < c->n_servers && room < job->gpus; s++)
        room += gang_job_room(job, c->capacity + (int64_t)s * c->n_resources, c->n_resources);
    if (room < job->gpus)
        return err_set(e, ERR_RANGE,
                       "job %s: needs %d GPUs with their resources, the cluster has room for %lld", name,
                       (int)job->gpus, (long long)room);
    return 0;
}
