/*
 * A training step at given bandwidths. The tree is walked once: what a collective costs by the model asked
 * for (closed form, or by simulation), the sum or the largest of its parts, of parts side by side no less
 * than a class of links is busy with all of them. Then from the root down: the path that decides, whose
 * compute, latency and communication make up the time (struct sim_path), and what each leaf counts in the
 * account of the step (struct sim_account), which makes up the time as well. A subtree in which collectives
 * overlap is run as a whole by models that simulate. sim/timeline.c draws what the walk found.
 */
#include "sim/step.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fidelity.h"
#include "workloads/ideal.h"

struct step_costing {
    const struct step_tree *tree;
    struct sim_way way;
    struct fidelity *fidelity; /**< of models that simulate, else NULL */
};

/* Waits this close tie: a solver balances dimensions far better, equality to the last bit is chance. */
#define TIED_REL 1e-6

static void find_binding(const struct step_costing *x, struct sim_collective *c, const double *wait_s)
{
    double most_s = 0;
    for (int32_t d = 0; d < x->way.net->n_dims; d++)
        most_s = fmax(most_s, wait_s[d]);
    for (int32_t d = 0; d < x->way.net->n_dims; d++) {
        c->binds[d] = wait_s[d] > 0 && wait_s[d] >= (1 - TIED_REL) * most_s;
        c->n_binds += c->binds[d];
    }
}

/* max_d m_d/B_d; dimensions that tie are to blame alike. */
static void cost_by_bandwidth(const struct step_costing *x, const struct step_node *node,
                              struct sim_collective *c)
{
    const struct step_group *group = &x->tree->groups[node->group];
    collective_loads(c->traffic_B, node->collective, node->bytes, group->members, group->stride, group->share,
                     x->way.net);
    collective_valiant(c->valiant, node->collective, group->members, group->stride, group->share, x->way.net);
    for (int32_t d = 0; d < x->way.net->n_dims; d++) {
        if (!(c->traffic_B[d] > 0))
            continue;
        c->busy_s[d] = c->traffic_B[d] / collective_share(&x->way.net->dims[d]) / x->way.bw_Bps[d];
        c->time_s = fmax(c->time_s, c->busy_s[d]);
    }
    find_binding(x, c, c->busy_s);
    for (int32_t d = 0; d < x->way.net->n_dims; d++)
        c->wait_s[d] = c->binds[d] ? c->time_s / c->n_binds : 0;
}

/* On a graph of its own: the classes of the cut that decides are to blame, by their share of it. Bytes and
 * busy time are those of the routing that was found, which fills other classes as far as it needs them. */
static int cost_by_cuts(const struct step_costing *x, const struct step_node *node, struct sim_collective *c,
                        struct err *e)
{
    struct ideal_time t;
    int rc = ideal_find(&t, x->way.net->ideal, node->collective, node->bytes, &x->tree->groups[node->group],
                        x->way.bw_Bps, e);
    if (rc)
        return rc;
    c->time_s = t.time_s;
    for (int32_t d = 0; d < x->way.net->n_dims && isfinite(t.time_s); d++) {
        c->wait_s[d] = t.cut[d] * t.time_s;
        c->busy_s[d] = t.busy[d] / x->way.net->dims[d].efficiency * t.time_s;
        c->traffic_B[d] = t.busy[d] * x->way.bw_Bps[d] * t.time_s;
        c->binds[d] = t.cut[d] > TIED_REL;
        c->n_binds += c->binds[d];
    }
    return 0;
}

/* Its stages at these bandwidths, and how each dimension carries it out: as the first of them does. */
static int32_t find_stages(struct stage stages[STAGE_MAX], struct sim_collective *c,
                           const struct step_costing *x, const struct step_node *node)
{
    const struct step_group *group = &x->tree->groups[node->group];
    const struct collective_way way = sim_stage_way(&x->way);
    int32_t n = stage_list(stages, node->collective, node->bytes / way.rules->chunks, group->members,
                           group->stride, group->share, NULL, &way);
    for (int32_t k = n; k-- > 0;) {
        c->choice[stages[k].dim] = stages[k].choice;
        for (int32_t i = 0; i < (stages[k].flat ? x->way.net->dims[stages[k].entry].n_levels : 1); i++)
            c->valiant[stages[k].dim + i] = stages[k].valiant;
    }
    return n;
}

/* The longest row; its parts are what is waited for. */
static void cost_by_stages(const struct step_costing *x, const struct step_node *node,
                           struct sim_collective *c)
{
    struct stage stages[STAGE_MAX];
    struct stage_row rows[TOPO_MAX_DIMS];
    const double *bw_Bps = x->way.bw_Bps;
    int32_t n = find_stages(stages, c, x, node), chunks = x->way.rules->stage.chunks;
    int32_t n_rows = n ? stage_rows(rows, stages, n, node->collective, chunks) : 0;
    const struct stage_row *longest = NULL;
    for (int32_t r = 0; r < n_rows; r++) {
        double time_s = 0;
        for (int32_t k = 0; k < n; k++)
            if (rows[r].count[k] > 0)
                time_s += rows[r].count[k] * (stages[k].const_s + stage_transfer_s(&stages[k], bw_Bps));
        if (!longest || time_s > c->time_s) {
            longest = &rows[r];
            c->time_s = time_s;
        }
    }
    for (int32_t k = 0; k < n; k++) {
        const struct stage *s = &stages[k];
        double transfer_s = stage_transfer_s(s, bw_Bps);
        stage_tally(s, chunks, bw_Bps, c->traffic_B, c->busy_s);
        if (!(longest->count[k] > 0))
            continue;
        c->latency_s += longest->count[k] * s->const_s;
        c->wait_s[stage_binding(s, bw_Bps)] += longest->count[k] * transfer_s;
    }
    find_binding(x, c, c->wait_s);
}

/* Job of the collective at id. */
static struct sim_job step_cost_job(const struct step_tree *t, step_id id)
{
    const struct step_node *node = &t->nodes[id];
    const struct step_group *group = &t->groups[node->group];
    struct sim_job job = { .kind = node->collective, .bytes = node->bytes, .priority = node->priority };
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++) {
        job.members[d] = group->members[d];
        job.stride[d] = group->stride[d];
        job.share[d] = group->share[d];
    }
    return job;
}

/* Of what is left of a time once its parts are taken off. */
static bool is_not_rounding(double rest_s, double time_s)
{
    return rest_s > 1e-12 * time_s;
}

/* The same from what a simulation found.
 * Bytes on the busiest dimension are what must be waited for; the rest is latency, fill, drain and queues. */
static void step_cost_take(const struct step_costing *x, step_id id, const struct fidelity_time *t,
                           struct sim_collective *c)
{
    struct stage stages[STAGE_MAX];
    double most_s = 0;
    *c = (struct sim_collective){ .node = id,
                                  .bytes = x->tree->nodes[id].bytes,
                                  .time_s = t->time_s,
                                  .queue_s = is_not_rounding(t->queue_s, t->time_s) ? t->queue_s : 0,
                                  .order = t->order };
    for (int32_t d = 0; d < x->way.net->n_dims; d++) {
        c->traffic_B[d] = t->sent_B[d];
        c->busy_s[d] = t->busy_s[d];
        most_s = fmax(most_s, t->busy_s[d]);
    }
    find_binding(x, c, c->busy_s);
    find_stages(stages, c, x, &x->tree->nodes[id]);
    enum sim_route route = x->way.rules->route;
    if (x->way.model == SIM_FLOW && (route == SIM_ROUTE_SHORTEST || route == SIM_ROUTE_ECMP))
        memset(c->valiant, 0, sizeof c->valiant); /* searched, by fewest links */
    double transfer_s = fmin(most_s, t->time_s);
    for (int32_t d = 0; d < x->way.net->n_dims; d++)
        c->wait_s[d] = c->binds[d] ? transfer_s / c->n_binds : 0;
    double rest_s = t->time_s - transfer_s;
    c->latency_s = isfinite(t->time_s) && is_not_rounding(rest_s, t->time_s) ? rest_s : 0;
}

/*
 * Everything of the collective at id but what its place in the step decides. ERR_NOMEM, ERR_RANGE.
 * @param[out] known  of a simulation: fidelity_time.known; else -1.
 */
static int step_cost_collective(const struct step_costing *x, step_id id, struct sim_collective *c,
                                int32_t *known, struct err *e)
{
    *known = -1;
    const struct step_node *node = &x->tree->nodes[id];
    *c = (struct sim_collective){ .node = id, .bytes = node->bytes };
    if (x->fidelity) {
        struct sim_job job = step_cost_job(x->tree, id);
        struct fidelity_time t;
        int rc = fidelity_alone(x->fidelity, &job, &t, e);
        if (rc)
            return rc;
        step_cost_take(x, id, &t, c);
        *known = t.known;
        return 0;
    }
    if (x->way.net->ideal)
        return cost_by_cuts(x, node, c, e);
    if (x->way.model == SIM_BANDWIDTH)
        cost_by_bandwidth(x, node, c);
    else
        cost_by_stages(x, node, c);
    return 0;
}

enum { WAITS_FOR_ALL = -1 };

/* What is known of one node of the tree. */
struct node_cost {
    double time_s;                /* once, repeats inside counted */
    double busy_s[TOPO_MAX_DIMS]; /* once: each class of links, with all below */
    double times;                 /* in one step */
    bool critical;
    int32_t waits_for; /* of what is critical: the class of links that is, where that alone is; else -1 */
    double kept_s;     /* of time_s, compute that the account counts whole */
    double kept_each;  /* in the account: the weight of that compute, */
    double rest_each;  /* of all else below, */
    double busy_each[TOPO_MAX_DIMS]; /* and of what keeps a class of links busy */
    bool sends;                      /* a collective is below it */
    bool joint;                      /* below a maximum that is simulated as a whole */
    int32_t collective;              /* index into the result, of a collective */
    int32_t known;                   /* its number in struct fidelity; -1 */
};

struct step_walk {
    struct step_costing how;
    const struct step_tree *tree;
    struct node_cost *costs; /* shape [n_nodes] */
    struct sim_step *out;
};

/* Time of a node from its children: the sum, or of a maximum the largest; times its repeats. Children that
 * run side by side share their links: they take no less than any class is busy with all of them. */
static double inner_time(const struct step_walk *w, step_id id)
{
    const struct step_node *node = &w->tree->nodes[id];
    double time_s = 0;
    for (step_id c = node->first; c >= 0; c = w->tree->nodes[c].next) {
        double t = w->costs[c].time_s;
        if (node->kind != STEP_MAX)
            time_s += t;
        else if (t > time_s)
            time_s = t;
    }
    for (int32_t d = 0; d < w->tree->n_dims && node->kind == STEP_MAX && !node->apart; d++)
        time_s = fmax(time_s, w->costs[id].busy_s[d]);
    return node->kind == STEP_REPEAT ? node->times * time_s : time_s;
}

/* How long each class of links is busy with what is below a node: of children that share no links the most.
 */
static void add_busy(const struct step_walk *w, step_id id)
{
    const struct step_node *node = &w->tree->nodes[id];
    double *busy_s = w->costs[id].busy_s, times = node->kind == STEP_REPEAT ? node->times : 1;
    for (step_id c = node->first; c >= 0; c = w->tree->nodes[c].next)
        for (int32_t d = 0; d < w->tree->n_dims; d++) {
            double one_s = times * w->costs[c].busy_s[d];
            busy_s[d] = node->apart ? fmax(busy_s[d], one_s) : busy_s[d] + one_s;
        }
}

/* Of the children of a maximum at least two use the network: they must be seen together. */
static bool step_shares(const struct step_walk *w, step_id id)
{
    int32_t n = 0;
    for (step_id c = w->tree->nodes[id].first; c >= 0; c = w->tree->nodes[c].next)
        n += w->costs[c].sends;
    /* ASTRA-sim's arithmetic knows collectives one at a time. */
    return w->how.fidelity && !sim_is_astra(w->how.way.rules) && w->tree->nodes[id].kind == STEP_MAX &&
           !w->tree->nodes[id].apart && n > 1;
}

/* Which nodes send, and which lie below a maximum that is simulated as a whole. Parents come before their
 * children. */
static void mark_joint(struct step_walk *w)
{
    int32_t next = 0;
    for (step_id id = w->tree->n_nodes; id-- > 0;) {
        const struct step_node *node = &w->tree->nodes[id];
        w->costs[id].sends = node->kind == STEP_COLLECTIVE;
        for (step_id c = node->first; c >= 0; c = w->tree->nodes[c].next)
            w->costs[id].sends = w->costs[id].sends || w->costs[c].sends;
    }
    for (step_id id = 0; id < w->tree->n_nodes; id++) {
        w->costs[id].known = -1;
        const struct step_node *node = &w->tree->nodes[id];
        bool whole = w->costs[id].joint || step_shares(w, id);
        if (node->kind == STEP_COLLECTIVE)
            w->costs[id].collective = next++;
        for (step_id c = node->first; c >= 0; c = w->tree->nodes[c].next)
            w->costs[c].joint = whole;
    }
}

/* Mean times that a joint simulation found for the nodes below a maximum. Nodes without an own count send
 * nothing: their times follow from their children, as in the closed form. */
static void take_joint(struct step_walk *w, const struct fidelity_joint *r)
{
    for (step_id id = w->tree->n_nodes; id-- > 0;) {
        struct node_cost *cost = &w->costs[id];
        if (!(r->train.count[id] > 0)) {
            /* What sends nothing is not taken apart by the simulation. */
            if (cost->joint && !cost->sends)
                cost->time_s =
                    w->tree->nodes[id].kind == STEP_COMPUTE ? w->tree->nodes[id].seconds : inner_time(w, id);
            continue;
        }
        cost->time_s = r->train.total_s[id] / r->train.count[id];
        if (w->tree->nodes[id].kind == STEP_COLLECTIVE)
            step_cost_take(&w->how, id, &r->mean[id], &w->out->collectives[cost->collective]);
    }
}

/* Only the outermost of these maxima are run; what is below them is found on the way. */
static int cost_joint(struct step_walk *w, step_id id, struct err *e)
{
    struct fidelity_joint r;
    int rc = fidelity_together(w->how.fidelity, w->tree, id, &r, e);
    if (rc)
        return rc;
    take_joint(w, &r);
    /* What never ends has no count. */
    w->costs[id].time_s = r.train.time_s;
    w->costs[id].known = r.known;
    fidelity_joint_free(&r);
    return 0;
}

/* Once per node, children first. A maximum whose children share the network goes to the simulator as a whole.
 */
static int cost_node(struct step_walk *w, step_id id, struct err *e)
{
    const struct step_node *node = &w->tree->nodes[id];
    struct node_cost *cost = &w->costs[id];
    int rc = 0;
    switch (node->kind) {
    case STEP_COMPUTE:
        cost->time_s = node->seconds;
        break;
    case STEP_COLLECTIVE:
        rc = step_cost_collective(&w->how, id, &w->out->collectives[cost->collective], &cost->known, e);
        cost->time_s = node->times * w->out->collectives[cost->collective].time_s;
        for (int32_t d = 0; d < w->tree->n_dims && !w->how.fidelity; d++)
            cost->busy_s[d] = node->times * w->out->collectives[cost->collective].busy_s[d];
        break;
    case STEP_TRANSFER: /* lowered trees only */
    case STEP_SUM:
    case STEP_MAX:
    case STEP_REPEAT:
        if (step_shares(w, id))
            return cost_joint(w, id, e);
        if (!w->how.fidelity)
            add_busy(w, id);
        cost->time_s = inner_time(w, id);
        break;
    }
    return rc;
}

/* One collective alone, or all below a maximum that share the network. */
static bool step_is_simulated(const struct step_walk *w, step_id id)
{
    return w->how.fidelity && !w->costs[id].joint &&
           (w->tree->nodes[id].kind == STEP_COLLECTIVE || step_shares(w, id));
}

/* Children come after their parents: backwards every node finds its children done. */
static int cost_nodes(struct step_walk *w, struct err *e)
{
    int64_t n = 0;
    int rc = 0;
    mark_joint(w);
    for (step_id id = 0; id < w->tree->n_nodes && w->how.fidelity; id++)
        n += step_is_simulated(w, id);
    if (n > 0)
        fidelity_expect(w->how.fidelity, n);
    for (step_id id = w->tree->n_nodes; id-- > 0 && !rc;)
        if (!w->costs[id].joint)
            rc = cost_node(w, id, e);
    return rc;
}

/* The child that decides, the first of equals: the longest, of a maximum that was simulated in turns by the
 * mean; where a class of links @p d alone is waited for, the one that loads it most. */
static step_id longest_child(const struct step_walk *w, step_id id, int32_t d)
{
    step_id longest = w->tree->nodes[id].first;
    for (step_id c = longest; c >= 0; c = w->tree->nodes[c].next) {
        const struct node_cost *a = &w->costs[c], *b = &w->costs[longest];
        if (d < 0 ? a->time_s > b->time_s : a->busy_s[d] > b->busy_s[d])
            longest = c;
    }
    return longest;
}

/* The class of links whose work for all children takes longer than each child, the first of equals; else -1.
 */
static int32_t shared_class(const struct step_walk *w, step_id id)
{
    const struct step_node *node = &w->tree->nodes[id];
    step_id longest = longest_child(w, id, WAITS_FOR_ALL);
    double most_s = longest >= 0 ? w->costs[longest].time_s : (double)INFINITY;
    int32_t most = WAITS_FOR_ALL;
    for (int32_t d = 0; d < w->tree->n_dims && node->kind == STEP_MAX && !node->apart; d++)
        if (w->costs[id].busy_s[d] > most_s) {
            most_s = w->costs[id].busy_s[d];
            most = d;
        }
    return most;
}

/* ---- the account ---- */

/* The host's launches count as far as they stick out; all other compute counts whole. */
static bool is_kept(const struct step_node *node)
{
    return node->kind == STEP_COMPUTE && node->phase != STEP_OVERHEAD;
}

/* The child of a maximum that the account counts whole: of work on different NPUs the longest, else the one
 * that computes most, the first of equals. */
static step_id whole_child(const struct step_walk *w, step_id id)
{
    step_id most = w->tree->nodes[id].first;
    if (w->tree->nodes[id].apart)
        return longest_child(w, id, WAITS_FOR_ALL);
    for (step_id c = most; c >= 0; c = w->tree->nodes[c].next)
        if (w->costs[c].kept_s > w->costs[most].kept_s)
            most = c;
    return most;
}

/* Children come after their parents: backwards every node finds its children done. */
static void find_kept(struct step_walk *w)
{
    for (step_id id = w->tree->n_nodes; id-- > 0;) {
        const struct step_node *node = &w->tree->nodes[id];
        double sum_s = is_kept(node) ? node->seconds : 0;
        if (node->kind == STEP_MAX)
            sum_s = node->first >= 0 ? w->costs[whole_child(w, id)].kept_s : 0;
        else
            for (step_id c = node->first; c >= 0; c = w->tree->nodes[c].next)
                sum_s += w->costs[c].kept_s;
        w->costs[id].kept_s = node->kind == STEP_REPEAT ? node->times * sum_s : sum_s;
    }
}

/* What of a node is no compute that counts whole. */
static double rest_of(const struct step_walk *w, step_id id)
{
    return w->costs[id].time_s - w->costs[id].kept_s;
}

/* Whose communication lasts beyond the child that counts whole: the longest. Where that is the same child,
 * collectives beside each other took longer than each of them (simulated): the one that sends longest. */
static step_id late_child(const struct step_walk *w, step_id id, step_id whole)
{
    step_id late = longest_child(w, id, WAITS_FOR_ALL);
    if (w->costs[whole].time_s < w->costs[late].time_s)
        return late;
    for (step_id c = w->tree->nodes[id].first; c >= 0; c = w->tree->nodes[c].next)
        if (rest_of(w, c) > rest_of(w, late))
            late = c;
    return late;
}

/* @p beyond_s of a maximum, which its links of class @p d are busy for longer than the child that counts
 * whole: of all others as far as they load the class. */
static void weigh_links(struct step_walk *w, step_id id, step_id whole, int32_t d, double beyond_s)
{
    double others_s = 0;
    for (step_id c = w->tree->nodes[id].first; c >= 0; c = w->tree->nodes[c].next)
        others_s += c == whole ? 0 : w->costs[c].busy_s[d];
    /* Else the links are busy for longer than they are by rounding. */
    for (step_id c = w->tree->nodes[id].first; c >= 0 && others_s > 0; c = w->tree->nodes[c].next)
        if (c != whole)
            w->costs[c].busy_each[d] += w->costs[id].rest_each * (beyond_s / others_s);
}

/* What the account counts of the children of a maximum. What never ends counts whole. */
static void weigh_maximum(struct step_walk *w, step_id id)
{
    const struct node_cost *cost = &w->costs[id];
    step_id whole = whole_child(w, id);
    w->costs[whole].kept_each = cost->kept_each;
    w->costs[whole].rest_each = cost->rest_each;
    if (w->tree->nodes[id].apart)
        return;
    step_id late = late_child(w, id, whole);
    double beyond_s = cost->time_s - w->costs[whole].time_s, of_s = rest_of(w, late);
    int32_t shared = shared_class(w, id);
    if (isinf(cost->time_s))
        w->costs[late].rest_each = cost->rest_each;
    else if (shared >= 0)
        weigh_links(w, id, whole, shared, beyond_s);
    else if (beyond_s > 0 && of_s > 0)
        w->costs[late].rest_each += cost->rest_each * (beyond_s / of_s);
}

/* Pass on what of a node counts; of a maximum what weigh_maximum() says, and of work on different NPUs what
 * loads a class most. */
static void weigh_children(struct step_walk *w, step_id id)
{
    const struct step_node *node = &w->tree->nodes[id];
    const struct node_cost *cost = &w->costs[id];
    double times = node->kind == STEP_REPEAT ? node->times : 1;
    bool each = node->kind != STEP_MAX;
    step_id heaviest[TOPO_MAX_DIMS] = { 0 };
    for (int32_t d = 0; d < w->tree->n_dims; d++)
        heaviest[d] = node->apart ? longest_child(w, id, d) : -1;
    for (step_id c = node->first; c >= 0; c = w->tree->nodes[c].next) {
        struct node_cost *child = &w->costs[c];
        child->kept_each = each ? cost->kept_each * times : 0;
        child->rest_each = each ? cost->rest_each * times : 0;
        for (int32_t d = 0; d < w->tree->n_dims; d++)
            child->busy_each[d] = node->apart && c != heaviest[d] ? 0 : cost->busy_each[d] * times;
    }
    if (node->kind == STEP_MAX && node->first >= 0)
        weigh_maximum(w, id);
}

/* What the account has of a collective, shared out as its time is; while a stage of a pipeline waits, others
 * send. */
static void account_collective(struct step_walk *w, struct sim_collective *c, const struct node_cost *cost)
{
    const struct step_node *node = &w->tree->nodes[c->node];
    struct sim_account *a = &w->out->account;
    struct sim_exposed *group = &a->exposed[node->group], own = { .used = true };
    double times = cost->rest_each * node->times;
    /* Nothing of what never ends is nothing. */
    own.latency_s = times > 0 ? times * c->latency_s : 0;
    c->exposed_s = times > 0 ? times * c->time_s : 0;
    for (int32_t d = 0; d < w->out->n_dims; d++) {
        double busy_s = cost->busy_each[d] > 0 ? cost->busy_each[d] * node->times * c->busy_s[d] : 0;
        own.dim_s[d] = busy_s + (times > 0 ? times * c->wait_s[d] : 0);
        c->exposed_s += busy_s;
    }
    if (node->phase == STEP_BUBBLE) {
        a->phase_s[STEP_BUBBLE] += c->exposed_s;
        own = (struct sim_exposed){ .used = true };
        c->exposed_s = 0;
    }
    group->used = true;
    group->latency_s += own.latency_s;
    for (int32_t d = 0; d < w->out->n_dims; d++)
        group->dim_s[d] += own.dim_s[d];
}

/* ---- the path that decides ---- */

/* Pass on how often the node happens, and that it is critical: of a maximum only to the longest, or to all of
 * them where it waits for links that they share. What runs on other NPUs does not happen on this one. */
static void mark_children(struct step_walk *w, step_id id)
{
    const struct step_node *node = &w->tree->nodes[id];
    struct node_cost *cost = &w->costs[id];
    step_id longest = node->kind == STEP_MAX ? longest_child(w, id, cost->waits_for) : -1;
    if (cost->waits_for < 0)
        cost->waits_for = shared_class(w, id);
    bool all = longest < 0 || (cost->waits_for >= 0 && !node->apart);
    for (step_id c = node->first; c >= 0; c = w->tree->nodes[c].next) {
        struct node_cost *child = &w->costs[c];
        child->times = cost->times * (node->kind == STEP_REPEAT ? node->times : 1);
        child->critical = cost->critical && (all || c == longest);
        child->waits_for = cost->waits_for;
        if (node->apart && c != longest)
            child->times = 0;
    }
    weigh_children(w, id);
}

/* While a stage of a pipeline waits, others send. */
static void add_collective(struct step_walk *w, struct sim_collective *c, const struct node_cost *cost)
{
    struct sim_step *s = w->out;
    const struct step_node *node = &w->tree->nodes[c->node];
    int32_t waits_for = cost->waits_for;
    c->times = cost->times * node->times;
    c->critical = cost->critical && (waits_for < 0 || c->busy_s[waits_for] > 0);
    account_collective(w, c, cost);
    for (int32_t d = 0; d < s->n_dims && node->phase != STEP_BUBBLE; d++) {
        s->traffic_B[d] += c->times * c->traffic_B[d];
        s->busy_s[d] += c->times * c->busy_s[d];
    }
    if (c->critical && waits_for >= 0)
        s->path.wait_s[waits_for] += c->times * c->busy_s[waits_for];
    if (!c->critical || waits_for >= 0)
        return;
    s->path.latency_s += c->times * c->latency_s;
    for (int32_t d = 0; d < s->n_dims; d++)
        s->path.wait_s[d] += c->times * c->wait_s[d];
}

static void add_compute_leaf(struct step_walk *w, const struct step_node *node, const struct node_cost *cost)
{
    double each = is_kept(node) ? cost->kept_each : cost->rest_each;
    w->out->account.phase_s[node->phase] += each * node->seconds;
    if (cost->critical && cost->waits_for < 0)
        w->out->path.compute_s += cost->times * node->seconds;
}

/* Forwards: every node knows from its parent whether it counts, and how often. */
static void add_nodes(struct step_walk *w)
{
    struct node_cost *root = &w->costs[w->tree->root];
    int32_t next = 0;
    find_kept(w);
    root->times = root->kept_each = root->rest_each = 1;
    root->critical = true;
    root->waits_for = WAITS_FOR_ALL;
    for (step_id id = 0; id < w->tree->n_nodes; id++) {
        const struct step_node *node = &w->tree->nodes[id];
        if (node->kind == STEP_COMPUTE)
            add_compute_leaf(w, node, &w->costs[id]);
        if (node->kind == STEP_COLLECTIVE)
            add_collective(w, &w->out->collectives[next++], &w->costs[id]);
        mark_children(w, id);
    }
    w->out->time_s = w->costs[w->tree->root].time_s;
}

/* On the path that decides, what is neither compute nor bytes: latency; with simulations also where the
 * longest changes by turns. */
static void find_rest(struct sim_step *s)
{
    double known_s = s->path.compute_s;
    for (int32_t d = 0; d < s->n_dims; d++)
        known_s += s->path.wait_s[d];
    if (isfinite(s->time_s)) {
        double rest_s = s->time_s - known_s;
        s->path.latency_s = is_not_rounding(rest_s, s->time_s) ? rest_s : 0;
    }
}

/* What all that was simulated carries, each as often as it happens. */
static int find_links(struct step_walk *w, struct err *e)
{
    struct fidelity_weight *weights = calloc((size_t)w->tree->n_nodes + 1, sizeof *weights);
    int32_t n = 0;
    if (!weights)
        return err_nomem(e, "use of links");
    for (step_id id = 0; id < w->tree->n_nodes; id++) {
        const struct step_node *node = &w->tree->nodes[id];
        double times = w->costs[id].times * (node->kind == STEP_COLLECTIVE ? node->times : 1);
        if (w->costs[id].known >= 0 && node->phase != STEP_BUBBLE)
            weights[n++] = (struct fidelity_weight){ w->costs[id].known, times };
    }
    int rc = fidelity_find_links(&w->out->links, w->how.fidelity, weights, n, w->out->time_s, e);
    free(weights);
    return rc;
}

/* Costs upwards, then marks downwards; what simulation adds (queues, link loads) comes last. */
static int step_evaluate(struct step_walk *w, struct err *e)
{
    struct sim_step *s = w->out;
    w->costs = calloc((size_t)w->tree->n_nodes + 1, sizeof *w->costs);
    s->collectives = calloc((size_t)s->n_collectives + 1, sizeof *s->collectives);
    s->account.n_groups = w->tree->n_groups;
    s->account.exposed = calloc((size_t)w->tree->n_groups + 1, sizeof *s->account.exposed);
    if (!w->costs || !s->collectives || !s->account.exposed)
        return err_nomem(e, "the times of a training step");
    if (w->tree->root < 0)
        return 0;
    int rc = cost_nodes(w, e);
    if (rc)
        return rc;
    add_nodes(w);
    if (!w->how.fidelity)
        return 0;
    find_rest(s);
    return find_links(w, e);
}

/* What a timeline needs of the nodes. */
static int keep_nodes(struct sim_record *record, const struct step_walk *w, struct err *e)
{
    record->nodes = calloc((size_t)w->tree->n_nodes + 1, sizeof *record->nodes);
    if (!record->nodes)
        return err_nomem(e, "the times of a training step");
    for (step_id id = 0; id < w->tree->n_nodes; id++) {
        const struct node_cost *cost = &w->costs[id];
        bool sends = w->tree->nodes[id].kind == STEP_COLLECTIVE;
        record->nodes[id] =
            (struct sim_node){ cost->time_s, cost->times, sends ? cost->collective : -1, cost->known };
    }
    return 0;
}

/* Costs every node, finds the path that decides and sums it up by cause. The engine is opened only for models
 * that simulate, and closed before the result is handed back, unless a record takes it over. */
static int build(struct sim_step *s, struct sim_record *record, struct step_walk *w, struct err *e)
{
    const struct step_tree *t = w->tree;
    const struct step_costing *how = &w->how;
    int rc = 0;
    assert(t->n_dims == how->way.net->n_dims);
    *s = (struct sim_step){ .n_dims = t->n_dims };
    for (step_id id = 0; id < t->n_nodes; id++)
        s->n_collectives += t->nodes[id].kind == STEP_COLLECTIVE;
    if (how->way.model > SIM_ALPHA_BETA)
        rc = fidelity_open(&w->how.fidelity, &how->way, fidelity_split_dims(t, how->way.net), e);
    if (!rc)
        rc = step_evaluate(w, e);
    if (!rc && record)
        rc = keep_nodes(record, w, e);
    free(w->costs);
    if (!rc && record)
        record->fidelity = w->how.fidelity;
    else
        fidelity_free(w->how.fidelity);
    if (rc)
        sim_step_free(s);
    return rc;
}

int sim_step_build(struct sim_step *s, const struct step_tree *t, const struct sim_way *way, struct err *e)
{
    struct step_walk w = { .how = { .tree = t, .way = *way }, .tree = t, .out = s };
    return build(s, NULL, &w, e);
}

int sim_step_record(struct sim_step *s, struct sim_record *record, const struct step_tree *t,
                    const struct sim_way *way, struct err *e)
{
    struct step_walk w = { .how = { .tree = t, .way = *way }, .tree = t, .out = s };
    *record = (struct sim_record){ 0 };
    return build(s, record, &w, e);
}

void sim_record_free(struct sim_record *record)
{
    free(record->nodes);
    fidelity_free(record->fidelity);
    *record = (struct sim_record){ 0 };
}

void sim_step_free(struct sim_step *s)
{
    free(s->collectives);
    free(s->account.exposed);
    fidelity_links_free(&s->links);
    *s = (struct sim_step){ 0 };
}
