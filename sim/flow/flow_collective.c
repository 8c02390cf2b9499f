#include "sim/flow/flow_collective.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/flow/flow_collective_model.h"

int flow_sim_build(struct flow_sim **out, struct topo_routes *routes, const struct flow_rules *rules,
                   struct err *e)
{
    *out = NULL;
    if (rules->stage.chunks < 1 || rules->active < 1)
        return err_set(e, ERR_RANGE, "flows: %d chunks, %d active at a time, need 1 or more of both",
                       rules->stage.chunks, rules->active);
    struct flow_sim *sim = calloc(1, sizeof *sim);
    if (!sim)
        return err_nomem(e, "simulation of flows");
    sim->routes = routes;
    sim->rules = *rules;
    sim->free_waiting = -1;
    sim->room_kept = FLOW_MAX_KEPT;
    int rc = flow_net_build(&sim->net, routes, e);
    if (rc) {
        flow_sim_free(sim);
        return rc;
    }
    *out = sim;
    return 0;
}

static void free_job(struct flow_job *job)
{
    free(job->stages);
    free(job->plans);
    free(job->offset);
    free(job->arrived);
    job->stages = NULL;
    job->plans = job->arrived = NULL;
    job->offset = NULL;
}

void flow_sim_free(struct flow_sim *sim)
{
    if (!sim)
        return;
    for (int32_t i = 0; i < sim->n_groups; i++) {
        flow_group_free(&sim->groups[i].group);
        for (int32_t d = 0; d < TOPO_MAX_DIMS; d++)
            free(sim->groups[i].servers[d]);
    }
    for (int32_t i = 0; i < sim->n_jobs; i++)
        free_job(&sim->jobs[i]);
    for (int32_t i = 0; i < sim->n_runs; i++)
        free(sim->runs[i].state);
    for (int32_t i = 0; i < sim->n_plans; i++) {
        flow_plan_free(&sim->plans[i].plan);
        free(sim->plans[i].routes);
    }
    free(sim->kept);
    free(sim->groups);
    free(sim->jobs);
    free(sim->runs);
    free(sim->plans);
    free(sim->waiting);
    free(sim->free_runs);
    free(sim->ended);
    free(sim->late_s);
    topo_path_free(&sim->path);
    flow_net_free(sim->net);
    free(sim);
}

int flow_sim_group(struct flow_sim *sim, const struct flow_group_spec *spec, int32_t *group, struct err *e)
{
    FLOW_GROW(sim->groups, sim->n_groups, sim->cap_groups, "groups");
    struct flow_member_group *g = &sim->groups[sim->n_groups];
    *g = (struct flow_member_group){ 0 };
    int rc = flow_group_build(&g->group, spec, sim->routes, e);
    for (int32_t d = 0; d < TOPO_MAX_DIMS && !rc; d++) {
        int32_t n = g->group.lines[d].n_lines;
        g->servers[d] = n ? malloc((size_t)n * sizeof **g->servers) : NULL;
        if (n && !g->servers[d])
            rc = err_nomem(e, "groups");
        for (int32_t i = 0; i < n && !rc; i++)
            g->servers[d][i] = (struct flow_server){ 0, -1, -1 };
    }
    /* Counted even then, so that what it holds is released. */
    *group = sim->n_groups++;
    return rc;
}

/* ---- collectives ---- */

int flow_end_job(struct flow_sim *sim, int32_t id, struct err *e)
{
    FLOW_GROW(sim->ended, sim->n_ended, sim->cap_ended, "collectives");
    sim->ended[sim->n_ended++] = id;
    sim->jobs[id].finish_s = flow_now_s(sim->net);
    free_job(&sim->jobs[id]);
    return 0;
}

/* Routes in order of dimensions are as fast to find as to keep; others are kept while there is room. */
static int open_routes(struct flow_sim *sim, struct flow_made_plan *p, int64_t n_lines, struct err *e)
{
    int64_t n = n_lines * p->plan.n_channels;
    if (sim->rules.route == TOPO_ROUTE_DIMENSION || n > sim->room_kept - sim->n_kept)
        return 0;
    p->routes = malloc((size_t)(n + 1) * sizeof *p->routes);
    if (!p->routes)
        return err_nomem(e, "routes");
    for (int64_t i = 0; i < n; i++)
        p->routes[i] = -1;
    sim->room_kept -= (int32_t)n;
    return 0;
}

static int find_plan(struct flow_sim *sim, int32_t group, const struct stage *s, int32_t *out, struct err *e)
{
    const struct flow_group *g = &sim->groups[group].group;
    for (*out = 0; *out < sim->n_plans; (*out)++) {
        const struct flow_made_plan *p = &sim->plans[*out];
        if (p->pass == s->pass && p->algorithm == s->choice.algorithm && p->segments == s->choice.segments &&
            p->group == group && p->dim == s->dim)
            return 0;
    }
    FLOW_GROW(sim->plans, sim->n_plans, sim->cap_plans, "a collective's messages");
    struct flow_made_plan *p = &sim->plans[sim->n_plans];
    *p = (struct flow_made_plan){
        s->pass, s->choice.algorithm, s->choice.segments, group, s->dim, { 0 }, NULL
    };
    int rc =
        flow_plan_build(&p->plan, s->pass, &s->choice, &g->net.dims[s->dim], g->lines[s->dim].n_members, e);
    if (rc)
        return rc;
    sim->n_plans++;
    return open_routes(sim, p, g->lines[s->dim].n_lines, e);
}

/* Lines at which a stage is carried out: of a broadcast those that some earlier stage has reached. */
static int64_t count_lines(const struct flow_group *g, enum collective_kind kind, const struct stage *stages,
                           int32_t stage)
{
    int64_t n = g->n_groups;
    if (kind != COLLECTIVE_BROADCAST)
        return g->lines[stages[stage].dim].n_lines;
    for (int32_t s = 0; s < stage; s++)
        n *= g->lines[stages[s].dim].n_members;
    return n;
}

static int32_t list_stages(struct stage stages[STAGE_MAX], const struct flow_sim *sim, int32_t group,
                           enum collective_kind kind, double bytes)
{
    const struct flow_group *g = &sim->groups[group].group;
    double bw_Bps[TOPO_MAX_DIMS];
    for (int32_t d = 0; d < g->net.n_dims; d++)
        bw_Bps[d] = g->net.dims[d].bw_Bps;
    return stage_list(stages, kind, bytes / sim->rules.stage.chunks, g->members, g->order, &g->net,
                      &sim->rules.stage, bw_Bps);
}

double flow_sim_messages(const struct flow_sim *sim, int32_t group, enum collective_kind kind, double bytes)
{
    const struct flow_group *g = &sim->groups[group].group;
    struct stage stages[STAGE_MAX];
    int32_t n = list_stages(stages, sim, group, kind, bytes);
    double messages = 0;
    for (int32_t s = 0; s < n; s++) {
        int32_t d = stages[s].dim;
        messages +=
            (double)sim->rules.stage.chunks * (double)count_lines(g, kind, stages, s) *
            flow_plan_messages(stages[s].pass, &stages[s].choice, &g->net.dims[d], g->lines[d].n_members);
    }
    return messages;
}

static int fill_job(struct flow_sim *sim, struct flow_job *job, struct err *e)
{
    const struct flow_group *g = &sim->groups[job->group].group;
    struct stage stages[STAGE_MAX];
    int64_t chunks = sim->rules.stage.chunks;
    job->n_stages = list_stages(stages, sim, job->group, job->kind, job->bytes);
    size_t n = (size_t)job->n_stages;
    job->stages = calloc(n + 1, sizeof *job->stages);
    job->plans = calloc(n + 1, sizeof *job->plans);
    job->offset = calloc(n + 1, sizeof *job->offset);
    if (!job->stages || !job->plans || !job->offset)
        return err_nomem(e, "collectives");
    memcpy(job->stages, stages, n * sizeof *stages);
    int rc = 0;
    for (int32_t s = 0; s < job->n_stages && !rc; s++) {
        if (stages[s].choice.algorithm == TOPO_ALGORITHM_SWITCH && !sim->routes->described)
            return err_set(e, ERR_UNSUP,
                           "collective: is reduced in the switches of %s, need the network's own graph",
                           g->net.dims[stages[s].dim].name);
        job->offset[s + 1] = job->offset[s] + g->lines[stages[s].dim].n_lines;
        job->left += chunks * count_lines(g, job->kind, stages, s);
        rc = find_plan(sim, job->group, &stages[s], &job->plans[s], e);
    }
    if (rc)
        return rc;
    job->arrived = calloc((size_t)(chunks * job->offset[n]) + 1, sizeof *job->arrived);
    return job->arrived ? 0 : err_nomem(e, "chunks of a collective");
}

int flow_sim_issue(struct flow_sim *sim, int32_t group, enum collective_kind kind, double bytes,
                   double start_s, int32_t priority, int32_t *id, struct err *e)
{
    *id = -1;
    assert(group >= 0 && group < sim->n_groups);
    if (!(bytes >= 0 && isfinite(bytes)))
        return err_set(e, ERR_RANGE, "collective: has %g bytes, need 0 or more", bytes);
    FLOW_GROW(sim->jobs, sim->n_jobs, sim->cap_jobs, "collectives");
    struct flow_job *job = &sim->jobs[sim->n_jobs];
    *job = (struct flow_job){
        .group = group, .priority = priority, .kind = kind, .bytes = bytes, .finish_s = NAN
    };
    /* A flow of nothing over no link ends at its start: the clock that begins the collective. */
    struct flow_spec clock = { .start_s = start_s, .tag = -1 - (int64_t)sim->n_jobs };
    int rc = fill_job(sim, job, e);
    if (!rc)
        rc = flow_add(sim->net, &clock, e);
    if (rc) {
        free_job(job);
        return rc;
    }
    *id = sim->n_jobs++;
    return 0;
}

int flow_sim_set_late(struct flow_sim *sim, int64_t npu, double late_s, struct err *e)
{
    if (!(npu >= 0 && npu < sim->routes->n_npus && late_s >= 0 && isfinite(late_s)))
        return err_set(e, ERR_RANGE, "late NPU: is %lld by %g s, need 0 to %d, by 0 s or more",
                       (long long)npu, late_s, sim->routes->n_npus - 1);
    if (!sim->late_s)
        sim->late_s = calloc((size_t)sim->routes->n_npus, sizeof *sim->late_s);
    if (!sim->late_s)
        return err_nomem(e, "late NPUs");
    sim->late_s[npu] = late_s;
    return 0;
}

/* Does a broadcast begin at the line? It holds the first member of its group. */
static bool is_first(const struct flow_sim *sim, const struct flow_group *g, int32_t d, int32_t line)
{
    for (int32_t k = 0; k < g->net.n_dims && !g->npus; k++)
        if (flow_group_position(g, sim->routes, k, g->lines[d].first[line]) != 0)
            return false;
    return true;
}

static int begin_job(struct flow_sim *sim, int32_t id, struct err *e)
{
    struct flow_job *job = &sim->jobs[id];
    const struct flow_group *g = &sim->groups[job->group].group;
    job->begin_s = flow_now_s(sim->net);
    if (job->n_stages == 0)
        return flow_end_job(sim, id, e);
    int32_t d = job->stages[0].dim;
    int rc = 0;
    for (int32_t chunk = 0; chunk < sim->rules.stage.chunks; chunk++)
        for (int32_t line = 0; line < g->lines[d].n_lines && !rc; line++)
            if (job->kind != COLLECTIVE_BROADCAST || is_first(sim, g, d, line))
                rc = flow_enter_line(sim, (struct flow_waiting){ id, chunk, 0, -1 }, line, e);
    return rc;
}

/* ---- time ---- */

double flow_sim_next_s(struct flow_sim *sim)
{
    return flow_next_s(sim->net);
}

int flow_sim_advance(struct flow_sim *sim, struct err *e)
{
    int rc = 0;
    sim->n_ended = 0;
    flow_advance(sim->net);
    for (int32_t i = 0; i < flow_n_ended(sim->net) && !rc; i++) {
        int64_t tag = flow_ended(sim->net, i);
        if (tag < 0)
            rc = begin_job(sim, (int32_t)(-1 - tag), e);
        else
            rc = flow_end_message(sim, (int32_t)(tag >> 32), (int32_t)(tag & INT32_MAX), e);
    }
    return rc;
}

const int32_t *flow_sim_ended(const struct flow_sim *sim, int32_t *n)
{
    *n = sim->n_ended;
    return sim->ended;
}

int flow_sim_run(struct flow_sim *sim, struct err *e)
{
    int rc = 0;
    while (!rc && flow_sim_next_s(sim) < INFINITY)
        rc = flow_sim_advance(sim, e);
    return rc;
}

double flow_sim_finish_s(const struct flow_sim *sim, int32_t id)
{
    assert(id >= 0 && id < sim->n_jobs);
    return sim->jobs[id].finish_s;
}

const struct flow_net *flow_sim_net(const struct flow_sim *sim)
{
    return sim->net;
}
