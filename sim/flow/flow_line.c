#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/flow/flow_collective_model.h"
#include "topo/shape.h"

/* ---- messages ---- */

static const struct stage *stage_of(const struct flow_sim *sim, const struct flow_run *r)
{
    return &sim->jobs[r->job].stages[r->stage];
}

static struct flow_made_plan *made_plan_of(const struct flow_sim *sim, const struct flow_run *r)
{
    return &sim->plans[sim->jobs[r->job].plans[r->stage]];
}

static const struct flow_plan *plan_of(const struct flow_sim *sim, const struct flow_run *r)
{
    return &made_plan_of(sim, r)->plan;
}

/* Arcs of a channel, into sim->path. */
static int find_route(struct flow_sim *sim, const struct flow_run *r, const struct flow_channel *c,
                      struct err *e)
{
    const struct flow_group *g = &sim->groups[sim->jobs[r->job].group].group;
    int32_t d = stage_of(sim, r)->dim;
    struct topo_trip trip = { .kind = sim->rules.route, .mirror = c->mirror };
    sim->path.n = 0;
    if (c->src != FLOW_SWITCH && c->dst != FLOW_SWITCH) {
        trip.src = flow_group_npu(g, d, r->line, c->src);
        trip.dst = flow_group_npu(g, d, r->line, c->dst);
        /* A connection keeps its way: all messages between two NPUs are one flow to ECMP, unless sent both
         * ways. */
        trip.flow = ((uint64_t)trip.src << 32) ^ ((uint64_t)trip.dst << 1) ^ c->mirror;
        return topo_find_path(&sim->path, sim->routes, &trip, e);
    }
    bool down = c->src == FLOW_SWITCH;
    int32_t arc = topo_switch_arc(sim->routes, d, flow_group_npu(g, d, r->line, down ? c->dst : c->src));
    int32_t *grown = array_grow(sim->path.arcs, 0, &sim->path.cap, sizeof *grown);
    if (!grown)
        return err_nomem(e, "a route");
    sim->path.arcs = grown;
    sim->path.arcs[sim->path.n++] = down ? arc ^ 1 : arc;
    return 0;
}

/* Arcs of a channel into @p spec, for as long as no other route is asked for: those kept, or found now. */
static int set_route(struct flow_spec *spec, struct flow_sim *sim, const struct flow_run *r, int32_t channel,
                     struct err *e)
{
    const struct flow_made_plan *made = made_plan_of(sim, r);
    int32_t *at = made->routes ? &made->routes[(int64_t)r->line * made->plan.n_channels + channel] : NULL;
    if (at && *at >= 0) {
        spec->n_arcs = sim->kept[*at];
        spec->arcs = &sim->kept[*at + 1];
        return 0;
    }
    int rc = find_route(sim, r, &made->plan.channels[channel], e);
    if (rc)
        return rc;
    spec->n_arcs = sim->path.n;
    spec->arcs = sim->path.arcs;
    if (!at || sim->path.n >= sim->room_kept - sim->n_kept)
        return 0;
    int32_t begin = sim->n_kept;
    for (int32_t i = -1; i < spec->n_arcs; i++) {
        FLOW_GROW(sim->kept, sim->n_kept, sim->cap_kept, "routes");
        sim->kept[sim->n_kept++] = i < 0 ? spec->n_arcs : spec->arcs[i];
    }
    *at = begin;
    return 0;
}

/* What delays a message besides its links. */
static double extra_latency(const struct flow_sim *sim, const struct stage *s, const struct topo_dim *dim,
                            const struct flow_channel *c, const struct flow_spec *spec)
{
    const struct stage_rules *rules = &sim->rules.stage;
    double extra_s = rules->endpoint_s + 3 * c->reduced * s->full_B / rules->mem_Bps;
    if (c->late)
        extra_s += sim->routes->lat_s[spec->arcs[0]];
    /* Another protocol has another latency per link, often a lower one. */
    if (s->choice.regime > 0)
        extra_s += (spec->n_arcs + c->late) *
                   topo_shape_link_lat(dim->shape, dim->regimes[s->choice.regime - 1].lat_s - dim->lat_s);
    return extra_s;
}

/* When a message may begin: now, or when its sender is there. */
static double start_of(const struct flow_sim *sim, const struct flow_run *r, const struct flow_channel *c)
{
    const struct flow_job *job = &sim->jobs[r->job];
    double now_s = flow_now_s(sim->net);
    if (!sim->late_s || c->src == FLOW_SWITCH)
        return now_s;
    int64_t npu = flow_group_npu(&sim->groups[job->group].group, job->stages[r->stage].dim, r->line, c->src);
    return fmax(now_s, job->begin_s + sim->late_s[npu]);
}

static int send(struct flow_sim *sim, int32_t run, int32_t channel, struct err *e)
{
    const struct flow_run *r = &sim->runs[run];
    const struct flow_channel *c = &plan_of(sim, r)->channels[channel];
    const struct stage *s = stage_of(sim, r);
    const struct topo_dim *dim = &sim->groups[sim->jobs[r->job].group].group.net.dims[s->dim];
    double efficiency =
        s->choice.regime > 0 ? dim->regimes[s->choice.regime - 1].efficiency : dim->efficiency;
    struct flow_spec spec = { .bytes = c->share * s->full_B / efficiency,
                              .start_s = start_of(sim, r, c),
                              .tag = (int64_t)run << 32 | channel };
    int rc = set_route(&spec, sim, r, channel, e);
    if (rc)
        return rc;
    spec.extra_s = extra_latency(sim, s, dim, c, &spec);
    return flow_add(sim->net, &spec, e);
}

/* Have enough messages of all channels arrived that @p c waits for, to send its k-th? */
static bool may_send(const struct flow_plan *plan, const uint32_t *state, int32_t channel, int32_t k)
{
    const struct flow_channel *c = &plan->channels[channel];
    for (int32_t i = c->first_input; i < c[1].first_input; i++) {
        int32_t input = plan->inputs[i], all = plan->channels[input].n;
        int32_t need = k + c->lead < all ? k + c->lead : all;
        if ((int32_t)(state[input] / 2) < need)
            return false;
    }
    return true;
}

static int try_send(struct flow_sim *sim, int32_t run, int32_t channel, struct err *e)
{
    const struct flow_run *r = &sim->runs[run];
    const struct flow_plan *plan = plan_of(sim, r);
    uint32_t state = r->state[channel];
    int32_t k = (int32_t)(state / 2);
    if (state % 2 || k == plan->channels[channel].n || !may_send(plan, r->state, channel, k))
        return 0;
    r->state[channel]++;
    return send(sim, run, channel, e);
}

/* ---- lines ---- */

static int take_run(struct flow_sim *sim, int32_t n_channels, int32_t *run, struct err *e)
{
    bool is_new = sim->n_free_runs == 0;
    if (is_new) {
        FLOW_GROW(sim->runs, sim->n_runs, sim->cap_runs, "messages");
        /* Room to give it back is made now, as that must not fail. */
        FLOW_GROW(sim->free_runs, sim->n_runs, sim->cap_free_runs, "messages");
        sim->runs[sim->n_runs] = (struct flow_run){ 0 };
        sim->free_runs[sim->n_free_runs++] = sim->n_runs++;
    }
    *run = sim->free_runs[sim->n_free_runs - 1];
    struct flow_run *r = &sim->runs[*run];
    if (n_channels > r->cap_state) {
        uint32_t *grown = realloc(r->state, (size_t)n_channels * sizeof *grown);
        if (!grown)
            return err_nomem(e, "messages");
        r->state = grown;
        r->cap_state = n_channels;
    }
    memset(r->state, 0, (size_t)n_channels * sizeof *r->state);
    sim->n_free_runs--;
    return 0;
}

static int begin_line(struct flow_sim *sim, const struct flow_waiting *w, int32_t line, struct err *e)
{
    int32_t run = -1;
    const struct flow_plan *plan = &sim->plans[sim->jobs[w->job].plans[w->stage]].plan;
    int32_t n = plan->n_channels;
    int rc = take_run(sim, n, &run, e);
    if (rc)
        return rc;
    struct flow_run *r = &sim->runs[run];
    r->job = w->job;
    r->chunk = w->chunk;
    r->stage = w->stage;
    r->line = line;
    r->n_left = n;
    for (int32_t c = 0; c < n && !rc; c++)
        rc = try_send(sim, run, c, e);
    return rc;
}

static int32_t priority_of(const struct flow_sim *sim, int32_t at)
{
    return sim->jobs[sim->waiting[at].job].priority;
}

/* Behind all of its priority or a higher one, which is nearly always the end. */
static void queue_up(struct flow_sim *sim, struct flow_server *s, int32_t at)
{
    int32_t before = s->tail;
    if (before >= 0 && priority_of(sim, before) < priority_of(sim, at)) {
        before = -1;
        for (int32_t i = s->head; priority_of(sim, i) >= priority_of(sim, at); i = sim->waiting[i].next)
            before = i;
    }
    int32_t *from = before >= 0 ? &sim->waiting[before].next : &s->head;
    sim->waiting[at].next = *from;
    *from = at;
    if (before == s->tail)
        s->tail = at;
}

int flow_enter_line(struct flow_sim *sim, struct flow_waiting w, int32_t line, struct err *e)
{
    const struct flow_job *job = &sim->jobs[w.job];
    struct flow_server *s = &sim->groups[job->group].servers[job->stages[w.stage].dim][line];
    if (s->n_running < sim->rules.active) {
        s->n_running++;
        return begin_line(sim, &w, line, e);
    }
    int32_t at = sim->free_waiting;
    if (at >= 0) {
        sim->free_waiting = sim->waiting[at].next;
    } else {
        FLOW_GROW(sim->waiting, sim->n_waiting, sim->cap_waiting, "chunks");
        at = sim->n_waiting++;
    }
    sim->waiting[at] = w;
    queue_up(sim, s, at);
    return 0;
}

/* The line is free for the first chunk that waits. */
static int serve_next(struct flow_sim *sim, int32_t group, int32_t d, int32_t line, struct err *e)
{
    struct flow_server *s = &sim->groups[group].servers[d][line];
    int32_t at = s->head;
    if (at < 0) {
        s->n_running--;
        return 0;
    }
    struct flow_waiting w = sim->waiting[at];
    s->head = w.next;
    if (w.next < 0)
        s->tail = -1;
    sim->waiting[at].next = sim->free_waiting;
    sim->free_waiting = at;
    return begin_line(sim, &w, line, e);
}

/* The members of a line are ready for the next stage. A broadcast goes on from each of them to a whole line.
 */
static int pass_on(struct flow_sim *sim, const struct flow_run *r, struct err *e)
{
    const struct flow_job *job = &sim->jobs[r->job];
    const struct flow_group *g = &sim->groups[job->group].group;
    int32_t d = job->stages[r->stage].dim, stage = r->stage + 1;
    struct flow_waiting w = { r->job, r->chunk, stage, -1 };
    int32_t line = r->line;
    if (stage == job->n_stages)
        return 0;
    int32_t to = job->stages[stage].dim;
    int32_t *arrived = &job->arrived[r->chunk * job->offset[job->n_stages] + job->offset[stage]];
    int32_t need = job->kind == COLLECTIVE_BROADCAST ? 1 : g->lines[to].n_members;
    int rc = 0;
    for (int32_t i = 0; i < g->lines[d].n_members && !rc; i++) {
        int32_t next = g->lines[to].line_of[flow_group_npu(g, d, line, i)];
        if (++arrived[next] == need)
            rc = flow_enter_line(sim, w, next, e);
    }
    return rc;
}

static int end_line(struct flow_sim *sim, int32_t run, struct err *e)
{
    struct flow_run r = sim->runs[run]; /* others may move the array, or take this place */
    struct flow_job *job = &sim->jobs[r.job];
    sim->free_runs[sim->n_free_runs++] = run;
    int rc = serve_next(sim, job->group, job->stages[r.stage].dim, r.line, e);
    if (!rc)
        rc = pass_on(sim, &r, e);
    if (!rc && --job->left == 0)
        rc = flow_end_job(sim, r.job, e);
    return rc;
}

int flow_end_message(struct flow_sim *sim, int32_t run, int32_t channel, struct err *e)
{
    struct flow_run *r = &sim->runs[run];
    const struct flow_plan *plan = plan_of(sim, r);
    const struct flow_channel *c = &plan->channels[channel];
    r->state[channel]++; /* from on its way to arrived */
    int rc = 0;
    if ((int32_t)(r->state[channel] / 2) < c->n)
        rc = try_send(sim, run, channel, e);
    else
        r->n_left--;
    for (int32_t i = c->first_next; i < c[1].first_next && !rc; i++)
        rc = try_send(sim, run, plan->nexts[i], e);
    if (!rc && r->n_left == 0)
        rc = end_line(sim, run, e);
    return rc;
}
