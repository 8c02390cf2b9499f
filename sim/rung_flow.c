/* Model flow: the wires of the network, and collectives as flows on them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sim/rung_state.h"

/* Beyond these a simulation takes hours, and what its links carried gigabytes. */
#define MAX_MESSAGES  1e8
#define MAX_KEPT_ARCS (1 << 25)

struct rung_flow {
    struct rung *rung;
    struct flow_sim *sim;
    struct flow_member { /* groups asked for so far */
        int32_t members[TOPO_MAX_DIMS], stride[TOPO_MAX_DIMS], group;
    } * groups;
    int32_t n_groups, cap_groups;
    struct sim_job_result *results; /* shape [n_jobs], owned */
    int32_t n_jobs, cap_jobs;
    double messages; /* of all jobs */
};

/* ---- one collective ---- */

static void fill_traffic(const struct rung *x, const struct sim_job *job, struct sim_job_result *r)
{
    struct stage stages[STAGE_MAX];
    const struct stage_rules *rules = &x->rules->stage;
    const int32_t *order = job->order == SIM_ORDER_GIVEN ? x->rules->dims_order : NULL;
    int32_t n = stage_list(stages, job->kind, job->bytes / rules->chunks, job->members, order, x->net, rules,
                           x->bw_Bps);
    for (int32_t k = 0; k < n; k++) {
        int32_t d = stages[k].dim;
        r->sent_B[d] += rules->chunks * stages[k].sent_B;
        r->busy_s[d] += rules->chunks * stages[k].load_B / x->bw_Bps[d];
    }
}

bool rung_flow_can_end(const struct rung *x, const struct sim_job *job)
{
    for (int32_t d = 0; d < x->net->n_dims; d++)
        if (job->members[d] > 1 && job->bytes > 0 && !(x->bw_Bps[d] > 0))
            return false;
    return true;
}

static int set_late(struct rung_flow *f, struct err *e)
{
    const struct rung *x = f->rung;
    int rc = 0;
    for (int32_t i = 0; i < x->rules->n_slow; i++)
        for (int32_t npu = 0; x->rules->slow[i].late_s > 0 && npu < x->wires.routes.n_npus && !rc; npu++)
            if (rung_is_slow(&x->wires.routes, &x->rules->slow[i], npu))
                rc = flow_sim_set_late(f->sim, npu, x->rules->slow[i].late_s, e);
    return rc;
}

int rung_flow_open(struct rung_flow **out, struct rung *x, struct err *e)
{
    static const enum topo_route_kind kinds[] = { TOPO_ROUTE_DIMENSION, TOPO_ROUTE_SHORTEST,
                                                  TOPO_ROUTE_ECMP };
    const struct flow_rules rules = { x->rules->stage, kinds[x->rules->route], x->rules->active };
    struct rung_flow *f = *out = calloc(1, sizeof *f);
    if (!f)
        return err_nomem(e, "a simulation");
    f->rung = x;
    int rc = rung_open_wires(x, e);
    if (!rc)
        rc = flow_sim_build(&f->sim, &x->wires.routes, &rules, e);
    if (!rc)
        rc = set_late(f, e);
    if (rc) {
        rung_flow_close(f);
        *out = NULL;
    }
    return rc;
}

void rung_flow_close(struct rung_flow *f)
{
    if (!f)
        return;
    flow_sim_free(f->sim);
    free(f->groups);
    free(f->results);
    free(f);
}

static int find_group(struct rung_flow *f, const struct sim_job *job, int32_t *out, struct err *e)
{
    struct flow_group_spec spec = { .order =
                                        job->order == SIM_ORDER_GIVEN ? f->rung->rules->dims_order : NULL };
    for (int32_t i = 0; i < f->n_groups; i++)
        if (memcmp(f->groups[i].members, job->members, sizeof job->members) == 0 &&
            memcmp(f->groups[i].stride, job->stride, sizeof job->stride) == 0) {
            *out = f->groups[i].group;
            return 0;
        }
    struct flow_member *grown = array_grow(f->groups, f->n_groups, &f->cap_groups, sizeof *grown);
    if (!grown)
        return err_nomem(e, "groups");
    f->groups = grown;
    struct flow_member *m = &f->groups[f->n_groups];
    memcpy(spec.members, job->members, sizeof spec.members);
    memcpy(spec.stride, job->stride, sizeof spec.stride);
    memcpy(m->members, job->members, sizeof m->members);
    memcpy(m->stride, job->stride, sizeof m->stride);
    int rc = flow_sim_group(f->sim, &spec, &m->group, e);
    if (rc)
        return rc;
    *out = m->group;
    f->n_groups++;
    return 0;
}

/* Jobs of one run count together: they may be there at the same time. */
static int check_size(struct rung_flow *f, int32_t group, const struct sim_job *job, struct err *e)
{
    f->messages += flow_sim_messages(f->sim, group, job->kind, job->bytes);
    return f->messages <= MAX_MESSAGES ? 0
                                       : err_set(e, ERR_RANGE,
                                                 "collectives are some %.2g flows, need at most %.2g in a "
                                                 "run; model chunk takes any size",
                                                 f->messages, MAX_MESSAGES);
}

/* ---- as an engine ---- */

static int issue(void *x, const struct sim_job *job, double now_s, struct err *e)
{
    struct rung_flow *f = x;
    int32_t group = 0, id;
    struct sim_job_result *grown = array_grow(f->results, f->n_jobs, &f->cap_jobs, sizeof *grown);
    if (!grown)
        return err_nomem(e, "collectives");
    f->results = grown;
    int rc = find_group(f, job, &group, e);
    if (!rc)
        rc = check_size(f, group, job, e);
    if (rc)
        return rc;
    struct sim_job_result *r = &f->results[f->n_jobs++];
    *r = (struct sim_job_result){ .issue_s = now_s, .end_s = NAN };
    fill_traffic(f->rung, job, r);
    return flow_sim_issue(f->sim, group, job->kind, job->bytes, now_s, job->priority, &id, e);
}

static double next(const void *x)
{
    const struct rung_flow *f = x;
    return flow_sim_next_s(f->sim);
}

static int advance(void *x, struct err *e)
{
    struct rung_flow *f = x;
    int32_t n;
    int rc = flow_sim_advance(f->sim, e);
    const int32_t *ended = flow_sim_ended(f->sim, &n);
    for (int32_t i = 0; i < n; i++)
        f->results[ended[i]].end_s = flow_sim_finish_s(f->sim, ended[i]);
    return rc;
}

static const int32_t *ended(const void *x, int32_t *n)
{
    const struct rung_flow *f = x;
    return flow_sim_ended(f->sim, n);
}

static const struct sim_job_result *result(const void *x, int32_t job)
{
    const struct rung_flow *f = x;
    return &f->results[job];
}

struct sim_engine rung_flow_engine(struct rung_flow *f)
{
    return (struct sim_engine){ f, issue, next, advance, ended, result };
}

int rung_flow_bytes(float **out, const struct rung_flow *f, struct err *e)
{
    const struct flow_net *net = flow_sim_net(f->sim);
    int32_t n = f->rung->wires.routes.n_arcs;
    *out = NULL;
    if ((int64_t)n * (f->rung->n_known + 1) > MAX_KEPT_ARCS)
        return 0;
    *out = malloc((size_t)n * sizeof **out);
    if (!*out)
        return err_nomem(e, "use of links");
    for (int32_t a = 0; a < n; a++)
        (*out)[a] = (float)flow_arc_use(net, a).bytes;
    return 0;
}

int rung_flow_alone(struct rung *x, const struct sim_job *job, struct rung_known *known, struct err *e)
{
    struct rung_flow *f;
    if (!rung_flow_can_end(x, job)) {
        struct sim_job_result never = { .end_s = NAN };
        fill_traffic(x, job, &never);
        rung_take(&known->time, &never);
        return 0;
    }
    int rc = rung_flow_open(&f, x, e);
    if (rc)
        return rc;
    rc = issue(f, job, 0, e);
    while (!rc && isfinite(next(f)))
        rc = advance(f, e);
    if (!rc) {
        rung_take(&known->time, &f->results[0]);
        known->time.order = job->order;
        rc = rung_flow_bytes(&known->bytes, f, e);
    }
    rung_flow_close(f);
    return rc;
}
