#include "sim/batch/sjf_draw.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"

enum { STREAM_SERVERS, STREAM_JOBS, MAX_DRAWS = 100000 };

/* b_e. Only ratios to it matter, since the gradients are drawn to take a share of an iteration. 10 Gbit/s. */
#define OUTER_Bps 1.25e9

struct sjf_draw_settings sjf_draw_default(void)
{
    return (struct sjf_draw_settings){
        .kinds = { { 1, 80 }, { 2, 14 }, { 4, 26 }, { 8, 30 }, { 16, 8 }, { 32, 2 } },
        .n_kinds = 6,
        .server_gpus = { 4, 8, 16, 32 },
        .n_server_sizes = 4,
        .n_servers = 20,
        .iterations_min = 1000,
        .iterations_max = 6000,
        .iteration_min_s = 0.01,
        .iteration_max_s = 0.05,
        .run_min_s = 50,
        .run_max_s = 300,
        .comm_frac = 0.2,
        .server_frac = 0.01,
        .inner_ratio = 30,
        .share_frac = 0.5,
        .alpha = 0.5,
        .seed = 1,
    };
}

static int check_reals(const struct sjf_draw_settings *s, struct err *e)
{
    const double most = 1e9;
    const struct {
        const char *name;
        double x, least;
    } reals[] = {
        { "iterations_min", s->iterations_min, 1 },
        { "iterations_max", s->iterations_max, s->iterations_min },
        { "iteration_min_s", s->iteration_min_s, 1 / most },
        { "iteration_max_s", s->iteration_max_s, s->iteration_min_s },
        { "run_min_s", s->run_min_s, 0 },
        { "run_max_s", s->run_max_s, s->run_min_s },
        { "comm_frac", s->comm_frac, 0 },
        { "server_frac", s->server_frac, 0 },
        { "inner_ratio", s->inner_ratio, 1 },
    };
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
        if (!(reals[i].x >= reals[i].least && reals[i].x <= most))
            return err_set(e, ERR_RANGE, "%s: is %g, need %g to %g", reals[i].name, reals[i].x,
                           reals[i].least, most);
    return 0;
}

static int check(int32_t *n_jobs, const struct sjf_draw_settings *s, struct err *e)
{
    if (s->n_kinds < 1 || s->n_kinds > SJF_DRAW_MAX_KINDS)
        return err_set(e, ERR_RANGE, "n_kinds: is %d, need 1 to %d", (int)s->n_kinds, SJF_DRAW_MAX_KINDS);
    if (s->n_server_sizes < 1 || s->n_server_sizes > SJF_DRAW_MAX_KINDS)
        return err_set(e, ERR_RANGE, "n_server_sizes: is %d, need 1 to %d", (int)s->n_server_sizes,
                       SJF_DRAW_MAX_KINDS);
    if (s->n_servers < 1 || s->n_servers > BATCH_MAX_GPUS)
        return err_set(e, ERR_RANGE, "n_servers: is %d, need 1 to %d", (int)s->n_servers, BATCH_MAX_GPUS);
    int64_t sum = 0;
    for (int32_t i = 0; i < s->n_kinds; i++) {
        if (s->kinds[i].n_jobs < 0)
            return err_set(e, ERR_RANGE, "kinds[%d].n_jobs: is %d, need 0 or more", (int)i,
                           (int)s->kinds[i].n_jobs);
        sum += s->kinds[i].n_jobs;
    }
    if (sum < 1 || sum > BATCH_MAX_JOBS)
        return err_set(e, ERR_RANGE, "kinds: are %lld jobs, need 1 to %d", (long long)sum, BATCH_MAX_JOBS);
    *n_jobs = (int32_t)sum;
    return check_reals(s, e);
}

static int draw_servers(struct sjf_draw *d, const struct sjf_draw_settings *s, struct err *e)
{
    struct rng *r;
    int rc = rng_build(&r, s->seed, STREAM_SERVERS, e);
    if (rc)
        return rc;
    for (int32_t i = 0; i < s->n_servers; i++)
        d->gpus[i] = s->server_gpus[rng_below(r, s->n_server_sizes)];
    rng_free(r);
    d->problem.cluster = (struct batch_cluster){ s->n_servers, d->gpus };
    return 0;
}

/* F and c until F c is in its range. */
static int draw_job(struct batch_job *job, int32_t gpus, const struct sjf_draw_settings *s, struct rng *r,
                    struct err *e)
{
    int64_t least = (int64_t)ceil(s->iterations_min), most = (int64_t)floor(s->iterations_max);
    for (int32_t draw = 0; draw < MAX_DRAWS && least <= most; draw++) {
        int64_t iterations = least + rng_below(r, most - least + 1);
        double c_s = rng_range(r, s->iteration_min_s, s->iteration_max_s), run_s = (double)iterations * c_s;
        if (!(run_s >= s->run_min_s && run_s <= s->run_max_s))
            continue;
        *job = (struct batch_job){
            .gpus = gpus,
            .iterations = iterations,
            .expected_s = run_s,
            .compute_s = c_s,
            /* m (w-1)/w 2/b_e is comm_frac c (w-1)/w. */
            .gradient_B = s->comm_frac * c_s / 2 * OUTER_Bps,
            .server_s = s->server_frac * c_s,
        };
        return 0;
    }
    return err_set(e, ERR_RANGE,
                   "run_s: is %g to %g, need times that iterations times iteration_s can come to",
                   s->run_min_s, s->run_max_s);
}

static int draw_jobs(struct sjf_draw *d, const struct sjf_draw_settings *s, struct err *e)
{
    struct rng *r;
    int rc = rng_build(&r, s->seed, STREAM_JOBS, e);
    for (int32_t k = 0, job = 0; !rc && k < s->n_kinds; k++)
        for (int32_t i = 0; !rc && i < s->kinds[k].n_jobs; i++)
            rc = draw_job(&d->jobs[job++], s->kinds[k].gpus, s, r, e);
    rng_free(r);
    return rc;
}

int sjf_draw_build(struct sjf_draw *d, const struct sjf_draw_settings *s, struct err *e)
{
    int32_t n_jobs = 0;
    *d = (struct sjf_draw){ 0 };
    int rc = check(&n_jobs, s, e);
    if (rc)
        return rc;
    d->contention = (struct contention){ .outer_Bps = OUTER_Bps,
                                         .inner_Bps = s->inner_ratio * OUTER_Bps,
                                         .reduce_Bps = INFINITY, /* its time is part of c */
                                         .share_frac = s->share_frac,
                                         .alpha = s->alpha };
    d->jobs = calloc((size_t)n_jobs, sizeof *d->jobs);
    d->gpus = calloc((size_t)s->n_servers, sizeof *d->gpus);
    if (!d->jobs || !d->gpus)
        return err_nomem(e, "a batch of jobs");
    rc = draw_servers(d, s, e);
    if (!rc)
        rc = draw_jobs(d, s, e);
    d->problem.jobs = d->jobs;
    d->problem.n_jobs = n_jobs;
    if (!rc)
        rc = contention_check(&d->contention, e);
    return rc ? rc : batch_check(&d->problem, e);
}

void sjf_draw_free(struct sjf_draw *d)
{
    free(d->jobs);
    free(d->gpus);
    *d = (struct sjf_draw){ 0 };
}
