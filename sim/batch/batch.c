#include "sim/batch/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/batch/batch_order.h"
#include "sim/batch/sjf_bco.h"

const char *const batch_scheduler_words[N_BATCH_SCHEDULERS + 1] = { "sjf-bco", "ff", "ls", "rand" };

/* Far beyond any job, and sums and products of them are still numbers. */
#define MOST 1e15

struct batch_settings batch_settings_default(void)
{
    return (struct batch_settings){
        .more_limits = 16, .lambda = 1, .under = 1.15, .over = 1, .ff_limit = 2.25, .seed = 1
    };
}

/* ---- what is given ---- */

static int check_cluster(int64_t *n_gpus, const struct batch_cluster *c, struct err *e)
{
    if (c->n_servers < 1)
        return err_set(e, ERR_RANGE, "servers: are %d, need 1 or more", (int)c->n_servers);
    *n_gpus = 0;
    for (int32_t s = 0; s < c->n_servers; s++) {
        if (c->gpus[s] < 1)
            return err_set(e, ERR_RANGE, "servers[%d].gpus: is %d, need 1 or more", (int)s, (int)c->gpus[s]);
        *n_gpus += c->gpus[s];
        if (*n_gpus > BATCH_MAX_GPUS)
            return err_set(e, ERR_RANGE, "servers: have more than %d GPUs", (int)BATCH_MAX_GPUS);
    }
    return 0;
}

static int check_job(const struct batch_job *job, int32_t number, int64_t n_gpus, struct err *e)
{
    const struct {
        const char *name;
        double x;
        bool above; /* 0 is not allowed */
    } reals[] = {
        { "arrival_s", job->arrival_s, false }, { "expected_s", job->expected_s, true },
        { "compute_s", job->compute_s, true },  { "gradient_B", job->gradient_B, false },
        { "server_s", job->server_s, false },
    };
    if (job->gpus < 1 || job->gpus > n_gpus)
        return err_set(e, ERR_RANGE, "jobs[%d].gpus: is %d, need 1 to %lld, all of the cluster", (int)number,
                       (int)job->gpus, (long long)n_gpus);
    if (job->iterations < 1 || (double)job->iterations > MOST)
        return err_set(e, ERR_RANGE, "jobs[%d].iterations: is %lld, need 1 to %g", (int)number,
                       (long long)job->iterations, MOST);
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
        if (!((reals[i].above ? reals[i].x > 0 : reals[i].x >= 0) && reals[i].x <= MOST))
            return err_set(e, ERR_RANGE, "jobs[%d].%s: is %g, need %s, at most %g", (int)number,
                           reals[i].name, reals[i].x, reals[i].above ? "above 0" : "0 or more", MOST);
    return 0;
}

int batch_check(const struct batch_problem *p, struct err *e)
{
    int64_t n_gpus = 0, seats = 0;
    int rc = check_cluster(&n_gpus, &p->cluster, e);
    if (rc)
        return rc;
    if (p->n_jobs < 1 || p->n_jobs > BATCH_MAX_JOBS)
        return err_set(e, ERR_RANGE, "jobs: are %d, need 1 to %d", (int)p->n_jobs, (int)BATCH_MAX_JOBS);
    for (int32_t i = 0; i < p->n_jobs; i++) {
        rc = check_job(&p->jobs[i], i, n_gpus, e);
        if (rc)
            return rc;
        seats += p->jobs[i].gpus;
    }
    if (seats > BATCH_MAX_SEATS)
        return err_set(e, ERR_RANGE, "jobs: ask for %lld GPUs in all, need at most %d", (long long)seats,
                       (int)BATCH_MAX_SEATS);
    return 0;
}

static int check_settings(const struct batch_settings *s, struct err *e)
{
    const struct {
        const char *name;
        double x, least, most;
    } reals[] = {
        { "lambda", s->lambda, 1, MOST },
        { "under", s->under, 1, MOST },
        { "over", s->over, 1e-9, 1 },
        { "ff_limit", s->ff_limit, 1e-9, MOST },
        { "slot_s", s->slot_s, 0, MOST },
        { "theta_max", (double)s->theta_max, 0, MOST },
        { "more_limits", s->more_limits, 0, 10000 },
    };
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
        if (!(reals[i].x >= reals[i].least && reals[i].x <= reals[i].most))
            return err_set(e, ERR_RANGE, "%s: is %g, need %g to %g", reals[i].name, reals[i].x,
                           reals[i].least, reals[i].most);
    if (s->kappa < 0)
        return err_set(e, ERR_RANGE, "kappa: is %d, need 0 (all) or more", (int)s->kappa);
    if (!(s->phi == 0 || (s->phi >= 1 && s->phi <= MOST)))
        return err_set(e, ERR_RANGE, "phi: is %g, need 0 (not known), or 1 or more", s->phi);
    return 0;
}

/* ---- what comes out ---- */

/* Everything that follows from the spans of the jobs. */
static void sum_up(struct batch_result *out, const struct gang *g)
{
    double jct_s = 0, busy_s = 0;
    out->makespan_s = 0;
    for (int32_t i = 0; i < out->n_jobs; i++) {
        const struct batch_span *span = &out->jobs[i];
        out->makespan_s = fmax(out->makespan_s, span->end_s);
        jct_s += span->end_s - g->p->jobs[i].arrival_s;
        busy_s += (span->end_s - span->start_s) * g->p->jobs[i].gpus;
    }
    out->mean_jct_s = jct_s / out->n_jobs;
    out->busy_frac = busy_s / (out->makespan_s * g->n_gpus);
}

static int run(struct batch_result *out, enum batch_scheduler scheduler, struct gang_plan *plan,
               struct crew *crew, const struct batch_settings *s, struct err *e)
{
    struct queues q;
    int rc = queues_build(&q, crew->g, e);
    if (!rc && scheduler == BATCH_SJF_BCO)
        rc = sjf_bco_run(out, plan, crew, &q, s, e);
    else if (!rc && scheduler == BATCH_RAND)
        rc = batch_order_rand(plan, crew, s, e);
    else if (!rc)
        rc = batch_order_plan(plan, scheduler == BATCH_FF, crew, &q, s, e);
    if (!rc && scheduler != BATCH_SJF_BCO)
        memcpy(out->jobs, crew->spans, (size_t)out->n_jobs * sizeof *out->jobs);
    queues_free(&q);
    return rc;
}

static int reserve(struct batch_result *out, struct gang_plan *plan, const struct gang *g, struct err *e)
{
    int rc = gang_plan_build(plan, g, e);
    if (rc)
        return rc;
    out->n_jobs = g->p->n_jobs;
    out->n_gpus = g->n_gpus;
    out->jobs = calloc((size_t)out->n_jobs, sizeof *out->jobs);
    out->gpu_server = malloc((size_t)out->n_gpus * sizeof *out->gpu_server);
    if (!out->jobs || !out->gpu_server)
        return err_nomem(e, "a schedule");
    memcpy(out->gpu_server, g->gpu_server, (size_t)out->n_gpus * sizeof *out->gpu_server);
    return 0;
}

int batch_run(struct batch_result *out, enum batch_scheduler scheduler, const struct batch_problem *p,
              struct pace *pace, const struct batch_settings *s, struct err *e)
{
    struct gang g = { 0 };
    struct gang_plan plan = { 0 };
    struct crew crew = { 0 };
    *out = (struct batch_result){ .guarantee = NAN };
    int rc = batch_check(p, e);
    if (!rc)
        rc = check_settings(s, e);
    if (!rc)
        rc = gang_build(&g, p, e);
    if (!rc)
        rc = reserve(out, &plan, &g, e);
    if (!rc)
        rc = crew_build(&crew, &g, pace, s, e);
    if (!rc)
        rc = run(out, scheduler, &plan, &crew, s, e);
    if (!rc && out->status == BATCH_DONE) {
        sum_up(out, &g);
        out->gpus = plan.gpus;
        plan.gpus = NULL;
        if (scheduler == BATCH_SJF_BCO && s->phi > 0)
            out->guarantee = g.most_gpus * s->phi * s->under / s->over;
    }
    crew_free(&crew);
    gang_plan_free(&plan);
    gang_free(&g);
    return rc;
}

void batch_result_free(struct batch_result *r)
{
    free(r->jobs);
    free(r->gpus);
    free(r->gpu_server);
    free(r->kappa_makespan_s);
    *r = (struct batch_result){ 0 };
}
