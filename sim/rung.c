#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sim/astra/astra_file.h"
#include "sim/chunk/chunk.h"
#include "sim/rung_state.h"

/* A difference below this is no reason to leave the fixed order. */
#define BETTER_REL 1e-12

int rung_open(struct rung **out, enum sim_model model, const struct topo_network *net, const double *bw_Bps,
              const struct sim_rules *rules, unsigned split_dims, struct err *e)
{
    struct rung *x = *out = calloc(1, sizeof *x);
    if (!x)
        return err_nomem(e, "a simulation");
    *x = (struct rung){
        .model = model, .net = net, .bw_Bps = bw_Bps, .rules = rules, .split_dims = split_dims
    };
    return 0;
}

void rung_free(struct rung *x)
{
    if (!x)
        return;
    for (int32_t i = 0; i < x->n_known; i++)
        free(x->known[i].bytes);
    free(x->known);
    rung_close_wires(x);
    free(x);
}

unsigned rung_split_dims(const struct step_tree *t, const struct topo_network *net)
{
    unsigned split = 0;
    for (int32_t g = 0; g < t->n_groups; g++)
        for (int32_t d = 0; d < net->n_dims; d++)
            if (t->groups[g].members[d] > 1 && t->groups[g].members[d] < net->dims[d].size)
                split |= 1U << d;
    return split;
}

/* Orders to try: one, or those that the guard compares; the fixed one first, which wins ties. */
static int32_t list_orders(enum sim_order out[3], const struct rung *x)
{
    bool orders = x->model == SIM_CHUNK && x->rules->semantics == SIM_PHYSICAL;
    if (!orders || x->rules->order != SIM_ORDER_GUARD) {
        bool fixed = x->rules->order == SIM_ORDER_GUARD || (!orders && x->rules->order != SIM_ORDER_GIVEN);
        out[0] = fixed ? SIM_ORDER_FIXED : x->rules->order;
        return 1;
    }
    out[0] = SIM_ORDER_FIXED;
    out[1] = SIM_ORDER_THEMIS;
    out[2] = SIM_ORDER_MINMAX;
    return 3;
}

/* Would every order be the same: fewer than two dimensions, or a kind that always goes the fixed way? */
static bool has_one_order(const struct sim_job *job, const struct topo_network *net)
{
    int32_t used = 0;
    for (int32_t d = 0; d < net->n_dims; d++)
        used += job->members[d] > 1;
    return used < 2 || (job->kind != COLLECTIVE_ALL_REDUCE && job->kind != COLLECTIVE_REDUCE_SCATTER &&
                        job->kind != COLLECTIVE_ALL_GATHER);
}

void rung_take(struct rung_time *out, const struct sim_job_result *r)
{
    out->time_s = isnan(r->end_s) ? (double)INFINITY : r->end_s - r->issue_s;
    out->queue_s = r->queue_s;
    memcpy(out->busy_s, r->busy_s, sizeof out->busy_s);
    memcpy(out->sent_B, r->sent_B, sizeof out->sent_B);
}

static int run_chunks(struct rung *x, const struct sim_job *job, struct rung_time *out, struct err *e)
{
    struct chunk_sim *sim;
    int rc = chunk_open(&sim, x->net, x->bw_Bps, x->rules, x->split_dims, false, e);
    if (!rc)
        rc = chunk_issue(sim, job, 0, e);
    while (!rc && isfinite(chunk_next(sim)))
        rc = chunk_advance(sim, e);
    if (!rc)
        rung_take(out, chunk_result(sim, 0));
    out->order = job->order;
    chunk_free(sim);
    return rc;
}

/* ASTRA-sim's arithmetic: whole dimensions, nanoseconds, no order but the fixed one. */
static int run_astra(struct rung *x, const struct sim_job *job, struct rung_time *out, struct err *e)
{
    struct topo_network net = *x->net;
    struct sim_astra_conf conf;
    struct sim_astra_result r = { 0 };
    struct sim_astra_collective one = { .kind = job->kind, .bytes = llround(job->bytes) };
    struct text notes = { 0 };
    bool any = false;
    for (int32_t d = 0; d < net.n_dims; d++) {
        net.dims[d].bw_Bps = x->bw_Bps[d];
        one.in[d] = job->members[d] > 1;
        any = any || one.in[d];
        if (one.in[d] && job->members[d] < net.dims[d].size)
            return err_set(e, ERR_UNSUP, "ASTRA-sim 2: a group takes %d of the %d members of %s, need all",
                           (int)job->members[d], (int)net.dims[d].size, net.dims[d].name);
    }
    int rc = sim_astra_from_network(&conf, &net, &notes, e);
    if (!rc)
        rc = sim_astra_from_rules(&conf, &net, x->rules, &notes, e);
    conf.backend = x->rules->semantics == SIM_ASTRA2_AWARE ? SIM_ASTRA_AWARE : SIM_ASTRA_UNAWARE;
    if (!rc && any && one.bytes > 0)
        rc = sim_astra_run(&r, &conf, &one, 1, NULL, NULL, e);
    text_free(&notes);
    *out = (struct rung_time){ .time_s = (double)r.time_ns / 1e9, .order = SIM_ORDER_FIXED };
    collective_traffic(out->sent_B, job->kind, job->bytes, job->members, net.n_dims);
    for (int32_t d = 0; d < net.n_dims; d++)
        out->busy_s[d] = (double)r.busy_ns[d] / 1e9;
    return rc;
}

/* Priority and order do not matter to a job that runs alone. */
static int32_t find_known(const struct rung *x, const struct sim_job *job)
{
    for (int32_t i = 0; i < x->n_known; i++) {
        const struct sim_job *k = &x->known[i].job;
        bool same_bytes = !(k->bytes < job->bytes) && !(k->bytes > job->bytes);
        if (x->known[i].root < 0 && k->kind == job->kind && same_bytes &&
            memcmp(k->members, job->members, sizeof k->members) == 0 &&
            memcmp(k->stride, job->stride, sizeof k->stride) == 0)
            return i;
    }
    return -1;
}

int rung_keep(struct rung *x, struct rung_known known, struct err *e)
{
    struct rung_known *grown = array_grow(x->known, x->n_known, &x->cap_known, sizeof *grown);
    if (!grown) {
        free(known.bytes);
        return err_nomem(e, "collectives");
    }
    x->known = grown;
    known.time.known = x->n_known;
    x->known[x->n_known++] = known;
    return 0;
}

static int run_alone(struct rung *x, const struct sim_job *job, struct rung_known *known, struct err *e)
{
    if (x->model == SIM_FLOW)
        return rung_flow_alone(x, job, known, e);
    return x->rules->semantics != SIM_PHYSICAL ? run_astra(x, job, &known->time, e)
                                               : run_chunks(x, job, &known->time, e);
}

int rung_alone(struct rung *x, const struct sim_job *job, struct rung_time *out, struct err *e)
{
    enum sim_order orders[3];
    struct rung_known best = { .job = *job, .root = -1, .time = { .time_s = INFINITY } };
    int32_t n = list_orders(orders, x), at = find_known(x, job);
    for (int32_t i = 0; at < 0 && i < (has_one_order(job, x->net) ? 1 : n); i++) {
        struct rung_known one = { .job = *job, .root = -1 };
        one.job.order = orders[i];
        int rc = run_alone(x, &one.job, &one, e);
        if (rc)
            return rc;
        if (i == 0 || one.time.time_s < best.time.time_s * (1 - BETTER_REL))
            best = one;
    }
    if (at < 0) {
        int rc = rung_keep(x, best, e);
        if (rc)
            return rc;
        at = x->n_known - 1;
    }
    *out = x->known[at].time;
    return 0;
}

/* ---- several at once ---- */

static void add_mean(struct rung_time *mean, const struct sim_job_result *r, double part)
{
    mean->queue_s += part * r->queue_s;
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++) {
        mean->busy_s[d] += part * r->busy_s[d];
        mean->sent_B[d] += part * r->sent_B[d];
    }
    mean->time_s += part * (r->end_s - r->issue_s);
}

/* A collective several times in a row is one execution of its node. */
static void find_means(struct rung_joint *out, const struct step_tree *t, const struct sim_engine *engine)
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

static int run_on(const struct sim_engine *engine, const struct step_tree *t, step_id root,
                  enum sim_order order, struct rung_joint *out, struct err *e)
{
    int rc = train_run(&out->train, t, root, engine, NULL, order, false, e);
    if (rc)
        return rc;
    out->mean = calloc((size_t)t->n_nodes, sizeof *out->mean);
    if (!out->mean)
        return err_nomem(e, "collectives");
    find_means(out, t, engine);
    return 0;
}

static bool can_end(const struct rung *x, const struct step_tree *t, step_id id)
{
    const struct step_node *node = &t->nodes[id];
    if (node->kind == STEP_COLLECTIVE) {
        struct sim_job job = { .bytes = node->bytes };
        memcpy(job.members, t->groups[node->group].members, sizeof job.members);
        return rung_flow_can_end(x, &job);
    }
    for (step_id c = node->first; c >= 0; c = t->nodes[c].next)
        if (!can_end(x, t, c))
            return false;
    return true;
}

/* What never ends has no times but that. */
static int give_up(struct rung_joint *out, const struct step_tree *t, struct err *e)
{
    out->train.total_s = calloc((size_t)t->n_nodes, sizeof *out->train.total_s);
    out->train.count = calloc((size_t)t->n_nodes, sizeof *out->train.count);
    out->train.time_s = INFINITY;
    if (out->train.total_s && out->train.count)
        return 0;
    rung_joint_free(out);
    return err_nomem(e, "a training step");
}

static int run_together(struct rung *x, const struct step_tree *t, step_id root, enum sim_order order,
                        struct rung_joint *out, struct rung_known *known, struct err *e)
{
    struct chunk_sim *sim = NULL;
    struct rung_flow *flow = NULL;
    struct sim_engine engine;
    *out = (struct rung_joint){ .order = order };
    *known = (struct rung_known){ .root = root };
    if (x->model == SIM_FLOW && !can_end(x, t, root))
        return give_up(out, t, e);
    int rc = x->model == SIM_FLOW ? rung_flow_open(&flow, x, e)
                                  : chunk_open(&sim, x->net, x->bw_Bps, x->rules, x->split_dims, false, e);
    if (!rc) {
        engine = flow ? rung_flow_engine(flow) : chunk_engine(sim);
        rc = run_on(&engine, t, root, order, out, e);
    }
    if (!rc && flow)
        rc = rung_flow_bytes(&known->bytes, flow, e);
    chunk_free(sim);
    rung_flow_close(flow);
    if (rc)
        rung_joint_free(out);
    return rc;
}

int rung_together(struct rung *x, const struct step_tree *t, step_id root, struct rung_joint *out,
                  struct err *e)
{
    enum sim_order orders[3];
    struct rung_known known = { .root = root };
    int32_t n = list_orders(orders, x);
    *out = (struct rung_joint){ 0 };
    for (int32_t i = 0; i < n; i++) {
        struct rung_joint one;
        int rc = run_together(x, t, root, orders[i], &one, &known, e);
        if (rc) {
            rung_joint_free(out);
            return rc;
        }
        if (i > 0 && one.train.time_s >= out->train.time_s * (1 - BETTER_REL)) {
            rung_joint_free(&one);
            continue;
        }
        rung_joint_free(out);
        *out = one;
    }
    out->known = x->n_known;
    int rc = rung_keep(x, known, e);
    if (rc)
        rung_joint_free(out);
    return rc;
}

void rung_joint_free(struct rung_joint *x)
{
    train_free(&x->train);
    free(x->mean);
    *x = (struct rung_joint){ 0 };
}
