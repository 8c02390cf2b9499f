/*
 * What models of jobs share: checks of a gang job on its cluster, what progress is worth (utilities and the
 * concave envelope of a sigmoid, by the point where a line from 0 touches it), and numbers drawn from ranges.
 *
 * Utilities are written so that small gains far from where a function bends keep their digits: schedulers
 * compare gains of single iterations after millions of them, and differences of two values would be noise.
 */
#include "sim/cluster/job.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

/* What is left of a resource is a sum of what was taken and given back: so much rounding is forgiven. */
#define SLACK 1e-9

_Static_assert(CLUSTER_MAX_TYPES == 8, "job_default() has a speed for each");

struct job job_default(void)
{
    return (struct job){ .gpus = 1,
                         .speed = { 1, 1, 1, 1, 1, 1, 1, 1 },
                         .tenant = -1,
                         .weight = 1,
                         .iterations = NAN,
                         .runtime_s = NAN,
                         .compute_s = NAN,
                         .expected_s = NAN };
}

const char *job_name(char buf[JOB_NAME], const struct job *job, int32_t number)
{
    if (job->id)
        return job->id;
    snprintf(buf, JOB_NAME, "job%d", (int)number);
    return buf;
}

bool job_is_mixed(const struct job *job, const struct cluster *c)
{
    for (int32_t r = 1; r < c->n_resources; r++)
        if (job->demand[r] > 0)
            return true;
    return false;
}

int32_t job_room(const struct job *job, const double *left, int32_t n_resources)
{
    double room = left[0];
    for (int32_t r = 1; r < n_resources; r++)
        if (job->demand[r] > 0)
            room = fmin(room, left[r] / job->demand[r]);
    return (int32_t)floor(fmax(0, room) * (1 + SLACK));
}

/* A field must be finite, and at least 0 or more than it. */
static int job_check_field(const char *name, const char *field, double value, bool zero, struct err *e)
{
    if (isfinite(value) && (zero ? value >= 0 : value > 0))
        return 0;
    return err_set(e, ERR_RANGE, "job %s: %s is %g, expected a number %s 0", name, field, value,
                   zero ? ">=" : ">");
}

static int job_check_length(const char *name, const struct job *job, struct err *e)
{
    bool counted = !isnan(job->iterations), timed = !isnan(job->runtime_s);
    if (counted == timed)
        return err_set(e, ERR_RANGE, "job %s: %s of iterations and runtime is given, expected exactly one",
                       name, counted ? "each" : "none");
    return counted ? job_check_field(name, "iterations", job->iterations, false, e)
                   : job_check_field(name, "runtime [s]", job->runtime_s, false, e);
}

static int job_check_fields(const char *name, const struct job *job, const struct cluster *c, struct err *e)
{
    int rc = job_check_field(name, "submission [s]", job->submit_s, true, e);
    if (!rc)
        rc = job_check_length(name, job, e);
    if (!rc && !job->model)
        rc = job_check_field(name, "compute [s]", job->compute_s, false, e);
    if (!rc)
        rc = job_check_field(name, "gradient [B]", job->gradient_B, true, e);
    if (!rc)
        rc = job_check_field(name, "weight", job->weight, false, e);
    for (int32_t r = 1; r < c->n_resources && !rc; r++)
        rc = job_check_field(name, c->resources[r], job->demand[r], true, e);
    for (int32_t t = 0; t < c->n_types && !rc; t++)
        rc = job_check_field(name, "speed", job->speed[t], true, e);
    if (rc)
        return rc;
    if (!job->model && !(job->hidden_s >= 0 && job->hidden_s <= job->compute_s))
        return err_set(e, ERR_RANGE, "job %s: hidden communication is %g s, expected 0 to its compute, %g s",
                       name, job->hidden_s, job->compute_s);
    if (job->tenant < -1)
        return err_set(e, ERR_RANGE, "job %s: tenant is %d, expected a number >= 0, or -1 for none", name,
                       (int)job->tenant);
    return 0;
}

int job_check(const struct job *job, int32_t number, const struct cluster *c, double total_gpus,
              struct err *e)
{
    char buf[JOB_NAME];
    const char *name = job_name(buf, job, number);
    int rc = job_check_fields(name, job, c, e);
    if (rc)
        return rc;
    if (job->gpus < 1 || job->gpus > JOB_MAX_GPUS)
        return err_set(e, ERR_RANGE, "job %s: needs %d GPUs, expected 1 to %d", name, (int)job->gpus,
                       (int)JOB_MAX_GPUS);
    if (!(job->gpus <= total_gpus))
        return err_set(e, ERR_RANGE, "job %s: needs %d GPUs, the cluster has %g", name, (int)job->gpus,
                       total_gpus);
    if (job->param_servers < 0 || job->param_servers > JOB_MAX_STREAMS / job->gpus)
        return err_set(e, ERR_RANGE, "job %s: has %d parameter servers, expected 0 to %d", name,
                       (int)job->param_servers, (int)(JOB_MAX_STREAMS / job->gpus));
    if (!job_is_mixed(job, c))
        return 0;
    int64_t room = 0;
    /* Stops with the first servers that have room for all: cheap where jobs are small. */
    for (int32_t s = 0; s < c->n_servers && room < job->gpus; s++)
        room += job_room(job, c->capacity + (int64_t)s * c->n_resources, c->n_resources);
    if (room < job->gpus)
        return err_set(e, ERR_RANGE,
                       "job %s: needs %d GPUs with their resources, the cluster has room for %lld", name,
                       (int)job->gpus, (long long)room);
    return 0;
}

const char *const utility_words[] = { "linear", "sqrt", "log", "sigmoid", "sigmoid-env", NULL };

static bool utility_is_sigmoid(enum utility_kind kind)
{
    return kind == UTILITY_SIGMOID || kind == UTILITY_SIGMOID_ENVELOPE;
}

/* 1 / (1 + exp(-x)), without overflow on either side. The exponential is never of a positive number. */
static double utility_logistic(double x)
{
    double t = exp(-fabs(x));
    return x >= 0 ? 1 / (1 + t) : t / (1 + t);
}

static double utility_sigmoid_at(const struct utility *u, double k)
{
    return u->scale * utility_logistic(u->slope * (k - u->middle));
}

/* logistic(b) - logistic(a) = sinh((b-a)/2) / (2 cosh(a/2) cosh(b/2)); written with factors of at most 1. */
static double utility_sigmoid_gain(const struct utility *u, double from, double gain)
{
    /* The step is not the difference of the two ends: small ones would be lost beside the middle. */
    double a = u->slope * (from - u->middle), step = u->slope * gain;
    return u->scale * -expm1(-step) * utility_logistic(a + step) * utility_logistic(-a);
}

/*
 * With s = logistic(slope (k - middle)), the line from (0, u(0)) touches at k where slope s (1-s) k = s -
 * s(0). The left side less the right one falls through 0 once beyond the middle: there it is positive at the
 * middle (the sigmoid is convex below) and negative far out. Bracketed by doubling, found by halving until no
 * double lies between: at most 60 and 200 evaluations.
 */
static double utility_find_touch(const struct utility *u)
{
    double lo = u->middle, hi = u->middle + 2 / u->slope;
    struct utility unit = { .kind = UTILITY_SIGMOID, .scale = 1, .slope = u->slope, .middle = u->middle };
    for (int doubling = 0; doubling < 60; doubling++) {
        double s = utility_sigmoid_at(&unit, hi);
        if (u->slope * s * (1 - s) * hi < utility_sigmoid_gain(&unit, 0, hi))
            break;
        hi = u->middle + 2 * (hi - u->middle);
    }
    for (int halving = 0; halving < 200 && hi - lo > 0; halving++) {
        double k = lo + (hi - lo) / 2, s = utility_sigmoid_at(&unit, k);
        if (k <= lo || k >= hi)
            break;
        if (u->slope * s * (1 - s) * k >= utility_sigmoid_gain(&unit, 0, k))
            lo = k;
        else
            hi = k;
    }
    return lo + (hi - lo) / 2;
}

int utility_build(struct utility *u, enum utility_kind kind, double scale, double slope, double middle,
                  double most, struct err *e)
{
    *u = (struct utility){ .kind = kind, .scale = scale };
    if (!(scale >= 0 && isfinite(scale)))
        return err_set(e, ERR_RANGE, "utility: scale is %g, expected a number >= 0", scale);
    if (!utility_is_sigmoid(kind))
        return 0;
    if (!(slope > 0 && isfinite(slope)))
        return err_set(e, ERR_RANGE, "utility: slope is %g per iteration, expected a number > 0", slope);
    if (!isfinite(middle))
        return err_set(e, ERR_RANGE, "utility: middle is %g iterations, expected a number", middle);
    if (!(most >= 0))
        return err_set(e, ERR_RANGE, "utility: most is %g iterations, expected a number >= 0", most);
    u->slope = slope;
    u->middle = middle;
    /* With its middle at or before 0 a sigmoid is concave as it is. */
    if (kind == UTILITY_SIGMOID_ENVELOPE && middle > 0)
        u->touch = fmin(utility_find_touch(u), most);
    return 0;
}

double utility_at(const struct utility *u, double k)
{
    switch (u->kind) {
    case UTILITY_LINEAR:
        return u->scale * k;
    case UTILITY_SQRT:
        return u->scale * sqrt(k);
    case UTILITY_LOG:
        return u->scale * log1p(k);
    case UTILITY_SIGMOID_ENVELOPE:
        if (k < u->touch)
            return utility_sigmoid_at(u, 0) + utility_sigmoid_gain(u, 0, u->touch) * (k / u->touch);
        return utility_sigmoid_at(u, k);
    default:
        return utility_sigmoid_at(u, k);
    }
}

double utility_gain(const struct utility *u, double from, double gain)
{
    if (u->kind == UTILITY_LOG)
        /* log((1 + from + gain) / (1 + from)), and below the difference of two roots times their sum over
         * their sum. */
        return u->scale * log1p(gain / (1 + from));
    if (u->kind == UTILITY_SQRT)
        return gain > 0 ? u->scale * gain / (sqrt(from) + sqrt(from + gain)) : 0;
    if (u->kind == UTILITY_LINEAR)
        return u->scale * gain;
    if (u->kind == UTILITY_SIGMOID_ENVELOPE && from < u->touch) {
        double chord = fmin(gain, u->touch - from);
        return utility_sigmoid_gain(u, 0, u->touch) * (chord / u->touch) +
               utility_sigmoid_gain(u, u->touch, gain - chord);
    }
    return utility_sigmoid_gain(u, from, gain);
}

bool utility_is_concave(const struct utility *u)
{
    return u->kind != UTILITY_SIGMOID || u->middle <= 0;
}

double draw_real(struct rng *r, struct draw_range range)
{
    return rng_range(r, range.lo, range.hi);
}

double draw_whole(struct rng *r, struct draw_range range)
{
    /* A bound that a change of units has moved by a rounding error is still that bound. */
    double lo = ceil(range.lo - 1e-9 * fabs(range.lo)), hi = floor(range.hi + 1e-9 * fabs(range.hi));
    if (!(lo <= hi))
        return draw_real(r, range);
    return lo + (double)rng_below(r, (int64_t)(hi - lo) + 1);
}
