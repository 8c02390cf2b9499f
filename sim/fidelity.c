/*
 * Collectives and overlapping work timed by simulation, in chunks (sim/chunk) or as flows on the graph's
 * links. A collective that runs alone is timed once and remembered; what overlaps on the same dimensions is
 * run together. Of model flow: the graph with its failed and slow links, an engine of flows for train_run(),
 * and the bytes that each direction of a link carried, from which the hottest are found.
 */
#include "sim/fidelity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/work.h"
#include "sim/astra/astra_file.h"
#include "sim/chunk/chunk.h"
#include "sim/flow/flow_collective.h"

/** The wires of model flow, and what they have carried. */
struct fidelity_wires {
    struct topo_graph *graph;
    struct topo_routes routes;
    bool has_routes;
};

/** A job that was timed alone, or a subtree that was run as a whole. */
struct fidelity_known {
    struct sim_job job;
    struct fidelity_time time;
    step_id root;             /**< of a subtree; -1 */
    float *bytes;             /**< of each arc, once; shape [n_arcs], owned; NULL when not kept */
    struct sim_event *events; /**< shape [n_events], owned; NULL when not kept */
    int32_t n_events, cap_events;
};

struct fidelity {
    struct sim_way way;
    unsigned split_dims;
    struct work work;             /**< counts simulations, once it is known how many */
    struct fidelity_known *known; /**< shape [n_known], owned */
    int32_t n_known, cap_known;
    struct fidelity_wires wires; /**< opened when first used */
    double messages;             /**< of all flows so far */
};

/** Flows on the wires as an engine. Release with fidelity_flow_close(). */
struct fidelity_flow;
/*
 * The graph that flows run on, with what has failed or is slow, and which of its links are hot.
 */

struct topo_network fidelity_network(const struct sim_way *way)
{
    struct topo_network net = *way->net;
    for (int32_t d = 0; d < net.n_dims; d++)
        net.dims[d].bw_Bps = way->bw_Bps[d] > 0 ? way->bw_Bps[d] : 1;
    topo_merge_planes(&net);
    return net;
}

/* The graph that flows run on: that of the file named by `graph`, else built from the dimensions. */
static int open_graph(struct fidelity *x, struct err *e)
{
    struct fidelity_wires *w = &x->wires;
    const char *path = x->way.rules->graph;
    if (path[0])
        return topo_read_graph(&w->graph, path, e);
    struct topo_network net = fidelity_network(&x->way);
    return topo_build_graph(&w->graph, &net, NULL, e);
}

static int reduce(struct fidelity_wires *w, int32_t link, double share, struct err *e)
{
    return topo_routes_set_share(&w->routes, link, fmin(share, w->routes.share[link]), e);
}

static int32_t find_vertex(const struct fidelity_wires *w, const char *name)
{
    char buf[TOPO_VERTEX_TEXT];
    for (int32_t v = 0; v < w->routes.n_vertices; v++)
        if (strcmp(topo_vertex_name(buf, w->graph, v), name) == 0)
            return v;
    return -1;
}

/* All links between two vertices, or of a dimension. */
static int apply_links(struct fidelity_wires *w, const struct sim_links *l, struct err *e)
{
    int32_t from = l->dim < 0 ? find_vertex(w, l->from) : -1, to = l->dim < 0 ? find_vertex(w, l->to) : -1;
    int32_t found = 0;
    int rc = 0;
    if (l->dim < 0 && (from < 0 || to < 0))
        return err_set(e, ERR_RANGE,
                       "\"%s\" is no vertex of the graph, expected a name as weft topo --graphml gives",
                       from < 0 ? l->from : l->to);
    for (int32_t link = 0; l->dim >= 0 && link < w->routes.n_arcs / 2 && !rc; link++)
        if (topo_link_dim(&w->routes, link) == l->dim) {
            rc = reduce(w, link, l->share, e);
            found++;
        }
    for (int32_t i = from < 0 ? 0 : w->routes.first[from]; from >= 0 && i < w->routes.first[from + 1] && !rc;
         i++)
        if (w->routes.to[w->routes.out[i]] == to) {
            rc = reduce(w, w->routes.out[i] / 2, l->share, e);
            found++;
        }
    if (!rc && !found)
        return err_set(e, ERR_RANGE, "no link %s%s%s, expected one of the graph",
                       l->dim < 0 ? l->from : "of that dimension", l->dim < 0 ? " - " : "", l->to);
    return rc;
}

/* Is npu one of those that s is about? */
static bool fidelity_is_slow(const struct topo_routes *r, const struct sim_slow *s, int32_t npu)
{
    for (int32_t d = 0; d < r->net.n_dims; d++)
        if (s->at[d] >= 0 && npu / r->stride[d] % r->net.dims[d].size != s->at[d])
            return false;
    return true;
}

/* A slow NPU sends and receives slower on all of its links, or on those of one dimension. */
static int apply_slow(struct fidelity_wires *w, const struct sim_slow *s, struct err *e)
{
    int32_t d = w->routes.described ? s->dim : -1;
    int rc = 0;
    if (s->dim >= 0 && d < 0)
        return err_set(e, ERR_UNSUP, "names a dimension, expected none on a graph of its own");
    for (int32_t npu = 0; npu < w->routes.n_npus && s->share < 1 && !rc; npu++)
        if (fidelity_is_slow(&w->routes, s, npu))
            rc = topo_routes_slow_npu(&w->routes, npu, d, s->share, e);
    return rc;
}

static void close_wires(struct fidelity *x)
{
    if (x->wires.has_routes)
        topo_routes_free(&x->wires.routes);
    topo_graph_free(x->wires.graph);
    x->wires = (struct fidelity_wires){ 0 };
}

/* Graph, routes, failed and slow links, slow NPUs, in this order: routes must exist before links can fail.
 * Done at most once for a step, as it costs far more than most collectives. */
static int open_wires(struct fidelity *x, struct err *e)
{
    struct fidelity_wires *w = &x->wires;
    if (w->has_routes)
        return 0;
    int rc = open_graph(x, e);
    if (!rc)
        rc = topo_routes_build(&w->routes, w->graph, e);
    if (rc) {
        close_wires(x);
        return rc;
    }
    w->routes.seed = x->way.rules->seed;
    if (x->way.rules->graph[0])
        rc = topo_routes_lay(&w->routes, x->way.net, e);
    for (int32_t i = 0; i < x->way.rules->n_links && !rc; i++)
        if ((rc = apply_links(w, &x->way.rules->links[i], e)))
            err_wrap(e, "links[%d]", (int)i);
    for (int32_t i = 0; i < x->way.rules->n_slow && !rc; i++)
        if ((rc = apply_slow(w, &x->way.rules->slow[i], e)))
            err_wrap(e, "slow[%d]", (int)i);
    if (rc) {
        topo_routes_free(&w->routes);
        close_wires(x);
    }
    w->has_routes = rc == 0;
    return rc;
}

/* Graph and routes, with failed and slow links. ERR_NOMEM, ERR_RANGE, ERR_UNSUP; a file's errors.
 * igraph's stack of what to clean up is one for the whole program (Debian builds it without thread safety),
 * and the points of a sweep run side by side: one at a time builds, reads or frees a graph. */
static int fidelity_open_wires(struct fidelity *x, struct err *e)
{
    int rc;
#pragma omp critical(igraph)
    rc = open_wires(x, e);
    return rc;
}

static void fidelity_close_wires(struct fidelity *x)
{
#pragma omp critical(igraph)
    close_wires(x);
}

/* ---- what links carry ---- */

/* What links carried is kept in single precision. */
#define ALIKE_REL 1e-6

/* Keep the hottest, of equals the first. */
static void place(struct fidelity_links *out, const struct fidelity_hot *hot)
{
    int32_t at = out->n_hot;
    while (at > 0 && out->hot[at - 1].util_frac < hot->util_frac)
        at--;
    if (at >= FIDELITY_HOTTEST)
        return;
    out->n_hot += out->n_hot < FIDELITY_HOTTEST;
    for (int32_t i = out->n_hot - 1; i > at; i--)
        out->hot[i] = out->hot[i - 1];
    out->hot[at] = *hot;
}

static void add_bytes(double *bytes, const struct fidelity *x, const struct fidelity_weight *w,
                      int32_t n_weights)
{
    for (int32_t i = 0; i < n_weights; i++) {
        const float *own = x->known[w[i].known].bytes;
        for (int32_t a = 0; a < x->wires.routes.n_arcs; a++)
            bytes[a] += w[i].times * (double)own[a];
    }
}

static int keep_all(struct fidelity_links *out, int32_t n, struct err *e)
{
    if (n > FIDELITY_MAX_LINKS)
        return err_set(e, ERR_RANGE, "links: are %d, expected at most %d to list them all", (int)n,
                       FIDELITY_MAX_LINKS);
    out->all = calloc((size_t)n + 1, sizeof *out->all);
    return out->all ? 0 : err_nomem(e, "use of links");
}

/* Bytes of every arc over the whole step: those of each simulated collective times how often it happens.
 * Keeps the FIDELITY_HOTTEST arcs by utilisation and counts those that tie with the hottest; all of them on
 * request. */
int fidelity_find_links(struct fidelity_links *out, const struct fidelity *x,
                        const struct fidelity_weight *weights, int32_t n, double time_s, struct err *e)
{
    const struct topo_routes *r = &x->wires.routes;
    *out = (struct fidelity_links){ 0 };
    for (int32_t i = 0; i < n; i++)
        if (!x->known[weights[i].known].bytes)
            return 0;
    if (!x->wires.has_routes || !(time_s > 0) || !isfinite(time_s) || n == 0)
        return 0;
    double *bytes = calloc((size_t)r->n_arcs + 1, sizeof *bytes), sum = 0;
    if (!bytes)
        return err_nomem(e, "use of links");
    add_bytes(bytes, x, weights, n);
    out->n_arcs = r->n_arcs;
    int rc = x->way.rules->keep_links ? keep_all(out, r->n_arcs, e) : 0;
    for (int32_t a = 0; a < r->n_arcs && !rc; a++) {
        struct fidelity_hot hot = { .bytes = bytes[a],
                                    .bw_Bps = topo_arc_bw(r, a),
                                    .dim = topo_link_dim(r, a / 2) };
        hot.util_frac = hot.bw_Bps > 0 ? hot.bytes / hot.bw_Bps / time_s : 0;
        sum += hot.util_frac;
        out->n_used += hot.bytes > 0;
        bool is_hot = hot.bytes > 0 && (out->n_hot < FIDELITY_HOTTEST ||
                                        hot.util_frac > out->hot[FIDELITY_HOTTEST - 1].util_frac);
        if (is_hot || out->all)
            topo_arc_name(hot.name, r, a);
        if (is_hot)
            place(out, &hot);
        if (out->all)
            out->all[a] = hot;
    }
    out->mean_frac = sum / r->n_arcs;
    for (int32_t a = 0; out->n_hot > 0 && a < r->n_arcs; a++)
        out->n_alike +=
            bytes[a] > 0 && bytes[a] / topo_arc_bw(r, a) / time_s >= out->hot[0].util_frac * (1 - ALIKE_REL);
    free(bytes);
    return rc;
}

void fidelity_links_free(struct fidelity_links *l)
{
    free(l->all);
    *l = (struct fidelity_links){ 0 };
}

/*
 * Model flow: the wires of the network, and collectives as flows on them.
 */

/* Beyond these a simulation takes hours, and what its links carried gigabytes. */
#define MAX_MESSAGES  1e8
#define MAX_KEPT_ARCS (1 << 25)

struct fidelity_flow {
    struct fidelity *fidelity;
    struct flow_sim *sim;
    struct flow_member { /* groups asked for so far */
        int32_t members[TOPO_MAX_DIMS], stride[TOPO_MAX_DIMS], group;
        double share[TOPO_MAX_DIMS];
    } * groups;
    int32_t n_groups, cap_groups;
    struct sim_job_result *results; /* shape [n_jobs], owned */
    struct sim_job *jobs;           /* shape [n_jobs], owned */
    int32_t *known;                 /* shape [n_jobs], owned: of one that ran alone its number, else -1 */
    int32_t *job_of;                /* shape [n_issued], owned: of what `sim` knows */
    int32_t *ended;                 /* shape [n_ended], owned */
    int32_t n_jobs, cap_jobs, cap_known, cap_results, n_issued, cap_issued, n_ended, cap_ended;
    int32_t busy;    /* jobs under way in `sim` */
    int32_t lone;    /* the only job under way, whose end is known and which `sim` has not heard of; -1 */
    double messages; /* of all that `sim` knows */
    bool alone;      /* there is but one */
};

/* ---- one collective ---- */

/* Bytes and busy time by the closed form, which hold whatever the order in which flows are sent. */
static void fill_traffic(const struct fidelity *x, const struct sim_job *job, struct sim_job_result *r)
{
    struct stage stages[STAGE_MAX];
    const struct collective_way way = sim_stage_way(&x->way);
    const int32_t *order = job->order == SIM_ORDER_GIVEN ? x->way.rules->dims_order : NULL;
    int32_t n = stage_list(stages, job->kind, job->bytes / way.rules->chunks, job->members, job->stride,
                           job->share, order, &way);
    for (int32_t k = 0; k < n; k++)
        stage_tally(&stages[k], way.rules->chunks, way.bw_Bps, r->sent_B, r->busy_s);
}

/* Has every dimension that job uses bandwidth? Else it never ends. */
static bool fidelity_flow_can_end(const struct fidelity *x, const struct sim_job *job)
{
    for (int32_t d = 0; d < x->way.net->n_dims; d++)
        if (job->members[d] > 1 && job->bytes > 0 && !(x->way.bw_Bps[d] > 0))
            return false;
    return true;
}

static int set_late(struct fidelity_flow *f, struct err *e)
{
    const struct fidelity *x = f->fidelity;
    int rc = 0;
    for (int32_t i = 0; i < x->way.rules->n_slow; i++)
        for (int32_t npu = 0; x->way.rules->slow[i].late_s > 0 && npu < x->wires.routes.n_npus && !rc; npu++)
            if (fidelity_is_slow(&x->wires.routes, &x->way.rules->slow[i], npu))
                rc = flow_sim_set_late(f->sim, npu, x->way.rules->slow[i].late_s, e);
    return rc;
}

static void fidelity_flow_close(struct fidelity_flow *f)
{
    if (!f)
        return;
    flow_sim_free(f->sim);
    free(f->groups);
    free(f->results);
    free(f->jobs);
    free(f->known);
    free(f->job_of);
    free(f->ended);
    free(f);
}

static struct flow_rules fidelity_flow_rules(const struct sim_way *way)
{
    static const enum topo_route_kind kinds[] = { TOPO_ROUTE_DIMENSION, TOPO_ROUTE_SHORTEST, TOPO_ROUTE_ECMP,
                                                  TOPO_ROUTE_DETOUR };
    return (struct flow_rules){ way->rules->stage, kinds[way->rules->route], way->rules->active,
                                way->rules->round };
}

/* Opens the flow engine on the shared graph; late NPUs are told to it before anything is issued. */
static int fidelity_flow_open(struct fidelity_flow **out, struct fidelity *x, struct err *e)
{
    const struct flow_rules rules = fidelity_flow_rules(&x->way);
    struct fidelity_flow *f = *out = calloc(1, sizeof *f);
    if (!f)
        return err_nomem(e, "a simulation");
    f->fidelity = x;
    f->lone = -1;
    int rc = fidelity_open_wires(x, e);
    if (!rc)
        rc = flow_sim_build(&f->sim, &x->wires.routes, &rules, e);
    if (!rc)
        rc = set_late(f, e);
    if (rc) {
        fidelity_flow_close(f);
        *out = NULL;
    }
    return rc;
}

/* Groups of equal members and strides share routes and queues, so they are made once and found again. */
/* Groups of the same NPUs, of which the dimensions send the same shares. */
static bool fidelity_same_place(const int32_t *members, const int32_t *stride, const double *share,
                                const struct sim_job *job)
{
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++)
        if (members[d] != job->members[d] || stride[d] != job->stride[d] || share[d] < job->share[d] ||
            share[d] > job->share[d])
            return false;
    return true;
}

static struct flow_group_spec fidelity_group_spec(const struct fidelity *x, const struct sim_job *job)
{
    struct flow_group_spec spec = { .order =
                                        job->order == SIM_ORDER_GIVEN ? x->way.rules->dims_order : NULL };
    memcpy(spec.members, job->members, sizeof spec.members);
    memcpy(spec.stride, job->stride, sizeof spec.stride);
    memcpy(spec.share, job->share, sizeof spec.share);
    return spec;
}

static int fidelity_find_group(struct fidelity_flow *f, const struct sim_job *job, int32_t *out,
                               struct err *e)
{
    struct flow_group_spec spec = fidelity_group_spec(f->fidelity, job);
    for (int32_t i = 0; i < f->n_groups; i++)
        if (fidelity_same_place(f->groups[i].members, f->groups[i].stride, f->groups[i].share, job)) {
            *out = f->groups[i].group;
            return 0;
        }
    if (!vec_reserve(f->groups, f->cap_groups, f->n_groups + 1))
        return err_nomem(e, "groups");
    struct flow_member *m = &f->groups[f->n_groups];
    memcpy(m->members, job->members, sizeof m->members);
    memcpy(m->stride, job->stride, sizeof m->stride);
    memcpy(m->share, job->share, sizeof m->share);
    int rc = flow_sim_group(f->sim, &spec, &m->group, e);
    if (rc)
        return rc;
    *out = m->group;
    f->n_groups++;
    return 0;
}

/* So many flows of one run, in a step of so many: ERR_RANGE where either is too many. */
static int fidelity_check_messages(const struct fidelity *x, double run, double step, struct err *e)
{
    double most = x->way.rules->max_messages;
    if (most > 0 && step > most)
        return err_set(e, ERR_RANGE, "too many flows to simulate: more than %.0f in a step", most);
    return run <= MAX_MESSAGES ? 0
                               : err_set(e, ERR_RANGE,
                                         "too many flows to simulate: about %.2g, at most %.2g in "
                                         "a run; model chunk takes any size",
                                         run, MAX_MESSAGES);
}

static double fidelity_messages(const struct fidelity *x, const struct sim_job *job)
{
    struct topo_network net = fidelity_network(&x->way);
    struct flow_group_spec spec = fidelity_group_spec(x, job);
    const struct flow_rules rules = fidelity_flow_rules(&x->way);
    return flow_messages(&net, &spec, &rules, job->kind, job->bytes);
}

/* Jobs of one run count together: they may be there at the same time. Whoever asks for a step in seconds
 * counts all its runs. */
static int fidelity_check_size(struct fidelity_flow *f, const struct sim_job *job, struct err *e)
{
    struct fidelity *x = f->fidelity;
    double n = fidelity_messages(x, job);
    f->messages += n;
    x->messages += n;
    return fidelity_check_messages(x, f->messages, x->messages, e);
}

/* ---- as an engine ---- */

/*
 * A step repeats few different collectives, mostly one at a time. One that is issued while nothing else is
 * under way takes as long as alone, which is simulated once, unless another is issued before it ends: then
 * both are simulated from where the first began.
 */

static int fidelity_known_alone(struct fidelity *x, const struct sim_job *job, int32_t *at, struct err *e);

/* To the engine of flows, from @p start_s on, which is not before its last event. */
static int issue_flows(struct fidelity_flow *f, int32_t job, double start_s, struct err *e)
{
    const struct sim_job *j = &f->jobs[job];
    int32_t group = 0, id;
    if (!vec_reserve(f->job_of, f->cap_issued, f->n_issued + 1))
        return err_nomem(e, "collectives");
    int rc = fidelity_check_size(f, j, e);
    if (!rc)
        rc = fidelity_find_group(f, j, &group, e);
    if (rc)
        return rc;
    f->job_of[f->n_issued++] = job;
    f->busy++;
    return f->alone ? flow_sim_issue_alone(f->sim, group, j->kind, j->bytes, &id, e)
                    : flow_sim_issue(f->sim, group, j->kind, j->bytes, start_s, j->priority, &id, e);
}

/* Room to note its end was made when the job was issued. */
static void note_end(struct fidelity_flow *f, int32_t job, double end_s)
{
    f->results[job].end_s = end_s;
    f->ended[f->n_ended++] = job;
}

/* One instant of the flows. */
static int advance_flows(struct fidelity_flow *f, struct err *e)
{
    int32_t n;
    int rc = flow_sim_advance(f->sim, e);
    const int32_t *ids = flow_sim_ended(f->sim, &n);
    for (int32_t i = 0; i < n; i++)
        note_end(f, f->job_of[ids[i]], flow_sim_finish_s(f->sim, ids[i]));
    f->busy -= n;
    return rc;
}

/* What was alone has company from now on: its flows, as far as they are by then. */
static int join_lone(struct fidelity_flow *f, double now_s, struct err *e)
{
    int32_t job = f->lone;
    f->lone = f->known[job] = -1;
    int rc = issue_flows(f, job, f->results[job].issue_s, e);
    while (!rc && flow_sim_next_s(f->sim) < now_s)
        rc = advance_flows(f, e);
    return rc;
}

static bool reserve_job(struct fidelity_flow *f)
{
    int64_t n = (int64_t)f->n_jobs + 1;
    return vec_reserve(f->jobs, f->cap_jobs, n) && vec_reserve(f->results, f->cap_results, n) &&
           vec_reserve(f->known, f->cap_known, n) && vec_reserve(f->ended, f->cap_ended, n);
}

static int issue(void *x, const struct sim_job *job, double now_s, struct err *e)
{
    struct fidelity_flow *f = x;
    int rc = 0;
    if (!reserve_job(f))
        return err_nomem(e, "collectives");
    if (f->lone >= 0)
        rc = join_lone(f, now_s, e);
    if (rc)
        return rc;
    int32_t id = f->n_jobs++;
    f->jobs[id] = *job;
    f->results[id] = (struct sim_job_result){ .issue_s = now_s, .end_s = NAN };
    f->known[id] = -1;
    fill_traffic(f->fidelity, job, &f->results[id]);
    if (f->alone || f->busy > 0)
        return issue_flows(f, id, now_s, e);
    f->lone = id;
    return fidelity_known_alone(f->fidelity, job, &f->known[id], e);
}

/* When what is alone ends; INFINITY: nothing is. */
static double lone_end_s(const struct fidelity_flow *f)
{
    return f->lone < 0 ? (double)INFINITY
                       : f->results[f->lone].issue_s + f->fidelity->known[f->known[f->lone]].time.time_s;
}

static double next(const void *x)
{
    const struct fidelity_flow *f = x;
    return fmin(flow_sim_next_s(f->sim), lone_end_s(f));
}

static int fidelity_flow_advance(void *x, struct err *e)
{
    struct fidelity_flow *f = x;
    f->n_ended = 0;
    if (f->lone < 0)
        return advance_flows(f, e);
    note_end(f, f->lone, lone_end_s(f));
    f->lone = -1;
    return work_check(e);
}

static const int32_t *ended(const void *x, int32_t *n)
{
    const struct fidelity_flow *f = x;
    *n = f->n_ended;
    return f->ended;
}

static const struct sim_job_result *result(const void *x, int32_t job)
{
    const struct fidelity_flow *f = x;
    return &f->results[job];
}

static struct sim_engine fidelity_flow_engine(struct fidelity_flow *f)
{
    return (struct sim_engine){ f, issue, next, fidelity_flow_advance, ended, result };
}

/* Bytes of all arcs so far, or NULL when there are too many to keep. ERR_NOMEM. */
static int fidelity_flow_bytes(float **out, const struct fidelity_flow *f, struct err *e)
{
    int32_t n = f->fidelity->wires.routes.n_arcs;
    *out = NULL;
    if ((int64_t)n * (f->fidelity->n_known + 1) > MAX_KEPT_ARCS)
        return 0;
    for (int32_t i = 0; i < f->n_jobs; i++)
        if (f->known[i] >= 0 && !f->fidelity->known[f->known[i]].bytes)
            return 0;
    *out = malloc((size_t)n * sizeof **out);
    if (!*out)
        return err_nomem(e, "use of links");
    for (int32_t a = 0; a < n; a++)
        (*out)[a] = (float)flow_sim_arc_use(f->sim, a).bytes;
    for (int32_t i = 0; i < f->n_jobs; i++)
        for (int32_t a = 0; f->known[i] >= 0 && a < n; a++)
            (*out)[a] += f->fidelity->known[f->known[i]].bytes[a];
    return 0;
}

/* A result as times. */
static void fidelity_take(struct fidelity_time *out, const struct sim_job_result *r)
{
    out->time_s = isnan(r->end_s) ? (double)INFINITY : r->end_s - r->issue_s;
    out->queue_s = r->queue_s;
    memcpy(out->busy_s, r->busy_s, sizeof out->busy_s);
    memcpy(out->sent_B, r->sent_B, sizeof out->sent_B);
}

/* ---- what happened ---- */

int32_t sim_events_of(struct sim_event out[TOPO_MAX_DIMS], const double *sent_B, const double *busy_s,
                      const int32_t *members, int32_t n_dims, double start_s, double end_s)
{
    int32_t n = 0, most = -1;
    for (int32_t d = 0; d < n_dims; d++)
        if (busy_s[d] > (most < 0 ? 0 : busy_s[most]))
            most = d;
    for (int32_t d = 0; d < n_dims && most < 0; d++)
        most = members[d] > 1 ? d : -1;
    for (int32_t d = 0; d < n_dims; d++)
        if (d == most || busy_s[d] > 0)
            out[n++] = (struct sim_event){ .chunk = -1,
                                           .dim = d,
                                           .lead = true,
                                           .bytes = sent_B[d],
                                           .busy_s = busy_s[d],
                                           .ready_s = start_s,
                                           .start_s = start_s,
                                           .end_s = d == most ? end_s : fmin(start_s + busy_s[d], end_s) };
    return n;
}

static int keep_event(struct fidelity_known *known, struct sim_event event, struct err *e)
{
    if (!vec_reserve(known->events, known->cap_events, known->n_events + 1))
        return err_nomem(e, "a timeline");
    known->events[known->n_events++] = event;
    return 0;
}

/* Each stage of a chunk, on every class of links that it loads. @p node_of: of each job; NULL: alone. */
static int keep_slices(const struct fidelity *x, struct fidelity_known *known, const struct chunk_sim *sim,
                       const step_id *node_of, struct err *e)
{
    int64_t n;
    int rc = 0;
    const struct chunk_slice *slices = chunk_slices(sim, &n);
    for (int64_t i = 0; i < n; i++) {
        const struct chunk_slice *s = &slices[i];
        double sent_B[TOPO_MAX_DIMS] = { 0 }, busy_s[TOPO_MAX_DIMS] = { 0 };
        stage_tally(&s->stage, 1, x->way.bw_Bps, sent_B, busy_s);
        for (int32_t d = 0; d < x->way.net->n_dims && !rc; d++)
            if (d == s->stage.dim || busy_s[d] > 0)
                rc = keep_event(known,
                                (struct sim_event){ .node = node_of ? node_of[s->job] : 0,
                                                    .job = s->job,
                                                    .chunk = s->chunk,
                                                    .dim = d,
                                                    .cell = s->cell,
                                                    .pass = s->stage.pass,
                                                    .lead = d == s->stage.dim,
                                                    .bytes = sent_B[d],
                                                    .busy_s = busy_s[d],
                                                    .ready_s = s->ready_s,
                                                    .start_s = s->start_s,
                                                    .end_s = s->end_s },
                                e);
    }
    return rc;
}

/* A collective, or compute, as a whole. */
static int keep_span(const struct fidelity *x, struct fidelity_known *known, const struct step_tree *t,
                     const struct train_span *s, const struct sim_engine *engine, struct err *e)
{
    struct sim_event events[TOPO_MAX_DIMS];
    const struct sim_event compute = { .node = s->node,
                                       .job = -1,
                                       .chunk = -1,
                                       .dim = -1,
                                       .lead = true,
                                       .busy_s = s->end_s - s->start_s,
                                       .ready_s = s->start_s,
                                       .start_s = s->start_s,
                                       .end_s = s->end_s };
    int rc = 0;
    if (s->job < 0)
        return keep_event(known, compute, e);
    const struct sim_job_result *r = engine->result(engine->x, s->job);
    int32_t n = sim_events_of(events, r->sent_B, r->busy_s, t->groups[t->nodes[s->node].group].members,
                              x->way.net->n_dims, s->start_s, s->end_s);
    for (int32_t i = 0; i < n && !rc; i++) {
        events[i].node = s->node;
        events[i].job = s->job;
        rc = keep_event(known, events[i], e);
    }
    return rc;
}

/* All that happened in what was run together: in chunks, or else collective by collective. */
static int keep_train(const struct fidelity *x, struct fidelity_known *known, const struct step_tree *t,
                      const struct train *train, const struct sim_engine *engine, const struct chunk_sim *sim,
                      struct err *e)
{
    step_id *node_of = calloc((size_t)train->n_spans + 1, sizeof *node_of);
    int rc = node_of ? 0 : err_nomem(e, "a timeline");
    for (int32_t i = 0; i < train->n_spans && !rc; i++) {
        const struct train_span *s = &train->spans[i];
        if (s->job >= 0)
            node_of[s->job] = s->node;
        if (s->job < 0 || !sim)
            rc = keep_span(x, known, t, s, engine, e);
    }
    if (!rc && sim)
        rc = keep_slices(x, known, sim, node_of, e);
    free(node_of);
    return rc;
}

const struct sim_event *fidelity_events(const struct fidelity *x, int32_t known, int32_t *n)
{
    *n = x->known[known].n_events;
    return x->known[known].events;
}

/* Time a job alone on the wires; its arcs' bytes are kept in known. ERR_NOMEM, ERR_RANGE, ERR_UNSUP. */
static int fidelity_flow_alone(struct fidelity *x, const struct sim_job *job, struct fidelity_known *known,
                               struct err *e)
{
    struct fidelity_flow *f;
    struct work work;
    if (!fidelity_flow_can_end(x, job)) {
        struct sim_job_result never = { .end_s = NAN };
        fill_traffic(x, job, &never);
        fidelity_take(&known->time, &never);
        return 0;
    }
    double messages = fidelity_messages(x, job);
    int rc = fidelity_check_messages(x, messages, x->messages + messages, e);
    if (!rc)
        rc = fidelity_flow_open(&f, x, e);
    if (rc)
        return rc;
    f->alone = true;
    rc = issue(f, job, 0, e);
    /* The first event begins it all: not what the others are like. */
    if (!rc && isfinite(next(f)))
        rc = fidelity_flow_advance(f, e);
    int64_t by_class = flow_sim_class_flows(f->sim);
    work_begin(&work, by_class ? "classes of flows" : "flows", by_class ? by_class : (int64_t)f->messages);
    for (int64_t done = flow_count(flow_sim_net(f->sim)).done; !rc && isfinite(next(f));) {
        rc = fidelity_flow_advance(f, e);
        int64_t now = flow_count(flow_sim_net(f->sim)).done;
        work_step(&work, now - done);
        done = now;
    }
    work_end(&work);
    if (!rc) {
        fidelity_take(&known->time, &f->results[0]);
        known->time.order = job->order;
        rc = fidelity_flow_bytes(&known->bytes, f, e);
    }
    fidelity_flow_close(f);
    return rc;
}

/* A difference below this is no reason to leave the fixed order. */
#define BETTER_REL 1e-12

int fidelity_open(struct fidelity **out, const struct sim_way *way, unsigned split_dims, struct err *e)
{
    struct fidelity *x = *out = calloc(1, sizeof *x);
    if (!x)
        return err_nomem(e, "a simulation");
    *x = (struct fidelity){ .way = *way, .split_dims = split_dims };
    return 0;
}

static void known_free(struct fidelity_known *known)
{
    free(known->bytes);
    free(known->events);
    known->bytes = NULL;
    known->events = NULL;
}

void fidelity_free(struct fidelity *x)
{
    if (!x)
        return;
    for (int32_t i = 0; i < x->n_known; i++)
        known_free(&x->known[i]);
    free(x->known);
    work_end(&x->work);
    fidelity_close_wires(x);
    free(x);
}

/* Orders to try: one, or those that the guard compares; the fixed one first, which wins ties. */
static int32_t list_orders(enum sim_order out[3], const struct fidelity *x)
{
    bool orders = x->way.model == SIM_CHUNK && !sim_is_astra(x->way.rules);
    if (!orders || x->way.rules->order != SIM_ORDER_GUARD) {
        bool fixed =
            x->way.rules->order == SIM_ORDER_GUARD || (!orders && x->way.rules->order != SIM_ORDER_GIVEN);
        out[0] = fixed ? SIM_ORDER_FIXED : x->way.rules->order;
        return 1;
    }
    out[0] = SIM_ORDER_FIXED;
    out[1] = SIM_ORDER_THEMIS;
    out[2] = SIM_ORDER_MINMAX;
    return 3;
}

void fidelity_expect(struct fidelity *x, int64_t n)
{
    enum sim_order orders[3];
    work_begin(&x->work, "simulations", n * list_orders(orders, x));
}

unsigned fidelity_split_dims(const struct step_tree *t, const struct topo_network *net)
{
    unsigned split = 0;
    for (int32_t g = 0; g < t->n_groups; g++)
        for (int32_t d = 0; d < net->n_dims; d++)
            if (t->groups[g].members[d] > 1 && t->groups[g].members[d] < net->dims[d].size)
                split |= 1U << d;
    return split;
}

/* Would every order be the same: fewer than two things to do one after the other, or a kind that always goes
 * the fixed way? */
static bool has_one_order(const struct sim_job *job, const struct topo_network *net)
{
    struct stage_unit units[TOPO_MAX_DIMS];
    return stage_units(units, job->kind, job->members, job->stride, job->share, NULL, net) < 2 ||
           (job->kind != COLLECTIVE_ALL_REDUCE && job->kind != COLLECTIVE_REDUCE_SCATTER &&
            job->kind != COLLECTIVE_ALL_GATHER);
}

/* One collective alone on the chunk engine, until nothing is left to do. */
static int run_chunks(struct fidelity *x, const struct sim_job *job, struct fidelity_known *known,
                      struct err *e)
{
    struct chunk_sim *sim;
    int rc = chunk_open(&sim, &x->way, x->split_dims, x->way.rules->keep_events, e);
    if (!rc)
        rc = chunk_issue(sim, job, 0, e);
    while (!rc && isfinite(chunk_next(sim)))
        rc = chunk_advance(sim, e);
    if (!rc)
        fidelity_take(&known->time, chunk_result(sim, 0));
    if (!rc)
        rc = keep_slices(x, known, sim, NULL, e);
    known->time.order = job->order;
    chunk_free(sim);
    return rc;
}

/* ASTRA-sim's arithmetic: whole dimensions, nanoseconds, no order but the fixed one. */
static int run_astra(struct fidelity *x, const struct sim_job *job, struct fidelity_time *out, struct err *e)
{
    struct topo_network net = *x->way.net;
    struct sim_astra_setup setup;
    struct sim_astra_result r = { 0 };
    struct sim_astra_collective one = { .kind = job->kind, .bytes = llround(job->bytes) };
    struct text notes = { 0 };
    bool any = false;
    if (job->share[0] > 0)
        return err_set(e, ERR_UNSUP, "ASTRA-sim 2 has no dispatch of merged copies, expected all-to-all");
    topo_set_bandwidths(&net, x->way.bw_Bps);
    for (int32_t d = 0; d < net.n_dims; d++) {
        one.in[d] = job->members[d] > 1;
        any = any || one.in[d];
        if (one.in[d] && job->members[d] < net.dims[d].size)
            return err_set(e, ERR_UNSUP,
                           "ASTRA-sim 2: a group takes %d of the %d members of %s, expected all",
                           (int)job->members[d], (int)net.dims[d].size, net.dims[d].name);
    }
    int rc = sim_astra_from_network(&setup, &net, &notes, e);
    if (!rc)
        rc = sim_astra_from_rules(&setup, &net, x->way.rules, &notes, e);
    setup.backend = x->way.rules->semantics == SIM_ASTRA2_AWARE ? SIM_ASTRA_AWARE : SIM_ASTRA_UNAWARE;
    if (!rc && any && one.bytes > 0)
        rc = sim_astra_run(&r, &setup, &one, e);
    text_free(&notes);
    *out = (struct fidelity_time){ .time_s = (double)r.time_ns / 1e9, .order = SIM_ORDER_FIXED };
    collective_traffic(out->sent_B, job->kind, job->bytes, job->members, net.n_dims);
    for (int32_t d = 0; d < net.n_dims; d++)
        out->busy_s[d] = (double)r.busy_ns[d] / 1e9;
    return rc;
}

/* Priority and order do not matter to a job that runs alone. */
static int32_t find_known(const struct fidelity *x, const struct sim_job *job)
{
    for (int32_t i = 0; i < x->n_known; i++) {
        const struct sim_job *k = &x->known[i].job;
        bool same_bytes = !(k->bytes < job->bytes) && !(k->bytes > job->bytes);
        if (x->known[i].root < 0 && k->kind == job->kind && same_bytes &&
            fidelity_same_place(k->members, k->stride, k->share, job))
            return i;
    }
    return -1;
}

/* Remember what was timed; takes known.bytes over. ERR_NOMEM. */
static int fidelity_keep(struct fidelity *x, struct fidelity_known known, struct err *e)
{
    if (!vec_reserve(x->known, x->cap_known, x->n_known + 1)) {
        known_free(&known);
        return err_nomem(e, "collectives");
    }
    known.time.known = x->n_known;
    x->known[x->n_known++] = known;
    return 0;
}

static int run_alone(struct fidelity *x, const struct sim_job *job, struct fidelity_known *known,
                     struct err *e)
{
    if (x->way.model == SIM_FLOW)
        return fidelity_flow_alone(x, job, known, e);
    return sim_is_astra(x->way.rules) ? run_astra(x, job, &known->time, e) : run_chunks(x, job, known, e);
}

/* The number of the job alone on model flow, which is simulated where it was not yet. */
static int fidelity_known_alone(struct fidelity *x, const struct sim_job *job, int32_t *at, struct err *e)
{
    struct fidelity_known one = { .job = *job, .root = -1 };
    *at = find_known(x, job);
    if (*at >= 0)
        return 0;
    int rc = fidelity_flow_alone(x, job, &one, e);
    if (rc) {
        known_free(&one);
        return rc;
    }
    *at = x->n_known;
    return fidelity_keep(x, one, e);
}

/* Results are kept by job: a step repeats few different collectives many times. With order guard all
 * candidates are simulated and a later one must be better by more than rounding to win. */
int fidelity_alone(struct fidelity *x, const struct sim_job *job, struct fidelity_time *out, struct err *e)
{
    enum sim_order orders[3];
    struct fidelity_known best = { .job = *job, .root = -1, .time = { .time_s = INFINITY } };
    int32_t n = list_orders(orders, x), at = find_known(x, job),
            n_run = has_one_order(job, x->way.net) ? 1 : n;
    work_step(&x->work, at < 0 ? n - n_run : n);
    for (int32_t i = 0; at < 0 && i < n_run; i++) {
        struct fidelity_known one = { .job = *job, .root = -1 };
        one.job.order = orders[i];
        int rc = run_alone(x, &one.job, &one, e);
        work_step(&x->work, 1);
        bool better = i == 0 || one.time.time_s < best.time.time_s * (1 - BETTER_REL);
        known_free(rc || better ? &best : &one);
        if (rc)
            known_free(&one);
        if (rc)
            return rc;
        if (better)
            best = one;
    }
    if (at < 0) {
        int rc = fidelity_keep(x, best, e);
        if (rc)
            return rc;
        at = x->n_known - 1;
    }
    *out = x->known[at].time;
    return 0;
}

/* ---- several at once ---- */

static void add_mean(struct fidelity_time *mean, const struct sim_job_result *r, double part)
{
    mean->queue_s += part * r->queue_s;
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++) {
        mean->busy_s[d] += part * r->busy_s[d];
        mean->sent_B[d] += part * r->sent_B[d];
    }
    mean->time_s += part * (r->end_s - r->issue_s);
}

/* A collective several times in a row is one execution of its node. */
static void find_means(struct fidelity_joint *out, const struct step_tree *t, const struct sim_engine *engine)
{
    for (int32_t i = 0; i < out->train.n_spans; i++) {
        const struct train_span *s = &out->train.spans[i];
        if (s->job < 0)
            continue;
        double runs = out->train.count[s->node] * t->nodes[s->node].times;
        add_mean(&out->mean[s->node], engine->result(engine->x, s->job), 1 / runs);
        out->mean[s->node].order = out->order;
    }
}

/* Runs a subtree on an engine and averages what each collective in it took. */
static int run_on(const struct sim_engine *engine, const struct step_tree *t, step_id root,
                  enum sim_order order, bool keep, struct fidelity_joint *out, struct err *e)
{
    int rc = train_run(&out->train, t, root, engine, NULL, order, keep, e);
    if (rc)
        return rc;
    out->mean = calloc((size_t)t->n_nodes, sizeof *out->mean);
    if (!out->mean)
        return err_nomem(e, "collectives");
    find_means(out, t, engine);
    return 0;
}

/* Whether every collective below has bandwidth on each dimension it uses; else a run would wait forever. */
static bool can_end(const struct fidelity *x, const struct step_tree *t, step_id id)
{
    const struct step_node *node = &t->nodes[id];
    if (node->kind == STEP_COLLECTIVE) {
        struct sim_job job = { .bytes = node->bytes };
        memcpy(job.members, t->groups[node->group].members, sizeof job.members);
        return fidelity_flow_can_end(x, &job);
    }
    for (step_id c = node->first; c >= 0; c = t->nodes[c].next)
        if (!can_end(x, t, c))
            return false;
    return true;
}

/* Flows of the largest collective below: what a run has at least. */
static double least_messages(const struct fidelity *x, const struct step_tree *t, step_id id,
                             enum sim_order order)
{
    const struct step_node *node = &t->nodes[id];
    double messages = 0;
    if (node->kind == STEP_COLLECTIVE) {
        const struct step_group *group = &t->groups[node->group];
        struct sim_job job = { .kind = node->collective, .bytes = node->bytes, .order = order };
        memcpy(job.members, group->members, sizeof job.members);
        memcpy(job.stride, group->stride, sizeof job.stride);
        memcpy(job.share, group->share, sizeof job.share);
        return fidelity_messages(x, &job);
    }
    for (step_id c = node->first; c >= 0; c = t->nodes[c].next)
        messages = fmax(messages, least_messages(x, t, c, order));
    return messages;
}

/* What never ends has no times but that. */
static int give_up(struct fidelity_joint *out, const struct step_tree *t, struct err *e)
{
    out->train.total_s = calloc((size_t)t->n_nodes, sizeof *out->train.total_s);
    out->train.count = calloc((size_t)t->n_nodes, sizeof *out->train.count);
    out->train.time_s = INFINITY;
    if (out->train.total_s && out->train.count)
        return 0;
    fidelity_joint_free(out);
    return err_nomem(e, "a training step");
}

/* A subtree whose collectives overlap, run as a whole on one engine, so that they compete for links. */
static int run_together(struct fidelity *x, const struct step_tree *t, step_id root, enum sim_order order,
                        struct fidelity_joint *out, struct fidelity_known *known, struct err *e)
{
    struct chunk_sim *sim = NULL;
    struct fidelity_flow *flow = NULL;
    struct sim_engine engine;
    *out = (struct fidelity_joint){ .order = order };
    *known = (struct fidelity_known){ .root = root };
    if (x->way.model == SIM_FLOW && !can_end(x, t, root))
        return give_up(out, t, e);
    int rc = 0;
    if (x->way.model == SIM_FLOW) {
        double messages = least_messages(x, t, root, order);
        rc = fidelity_check_messages(x, messages, x->messages + messages, e);
        rc = rc ? rc : fidelity_flow_open(&flow, x, e);
    } else {
        rc = chunk_open(&sim, &x->way, x->split_dims, x->way.rules->keep_events, e);
    }
    if (!rc) {
        engine = flow ? fidelity_flow_engine(flow) : chunk_engine(sim);
        rc = run_on(&engine, t, root, order, x->way.rules->keep_events > 0, out, e);
    }
    if (!rc && x->way.rules->keep_events > 0)
        rc = keep_train(x, known, t, &out->train, &engine, sim, e);
    if (!rc && flow)
        rc = fidelity_flow_bytes(&known->bytes, flow, e);
    chunk_free(sim);
    fidelity_flow_close(flow);
    if (rc)
        fidelity_joint_free(out);
    return rc;
}

/* As fidelity_alone() for a subtree: of order guard the whole subtree is run in each order and the fastest is
 * taken; mixing orders between collectives would be another search. */
int fidelity_together(struct fidelity *x, const struct step_tree *t, step_id root, struct fidelity_joint *out,
                      struct err *e)
{
    enum sim_order orders[3];
    struct fidelity_known known = { .root = root };
    int32_t n = list_orders(orders, x);
    *out = (struct fidelity_joint){ 0 };
    for (int32_t i = 0; i < n; i++) {
        struct fidelity_joint one;
        struct fidelity_known found;
        int rc = run_together(x, t, root, orders[i], &one, &found, e);
        work_step(&x->work, 1);
        bool better = !rc && (i == 0 || one.train.time_s < out->train.time_s * (1 - BETTER_REL));
        known_free(rc || better ? &known : &found);
        if (rc || better)
            fidelity_joint_free(out);
        if (rc) {
            known_free(&found);
            return rc;
        }
        if (better) {
            *out = one;
            known = found;
        } else {
            fidelity_joint_free(&one);
        }
    }
    out->known = x->n_known;
    int rc = fidelity_keep(x, known, e);
    if (rc)
        fidelity_joint_free(out);
    return rc;
}

void fidelity_joint_free(struct fidelity_joint *x)
{
    train_free(&x->train);
    free(x->mean);
    *x = (struct fidelity_joint){ 0 };
}
