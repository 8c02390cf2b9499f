#include "sim/step_cost.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* What is known of one node of the tree. */
struct node_cost {
    double time_s; /* once, repeats inside counted */
    double times;  /* in one step */
    bool critical;
    bool sends;         /* a collective is below it */
    bool joint;         /* below a maximum that is simulated as a whole */
    int32_t collective; /* index into the result, of a collective */
    int32_t known;      /* what the rung calls it; -1 */
};

struct walk {
    struct step_costing how;
    const struct step_tree *tree;
    struct node_cost *costs; /* shape [n_nodes] */
    struct sim_step *out;
};

static double inner_time(const struct walk *w, const struct step_node *node)
{
    double time_s = 0;
    for (step_id c = node->first; c >= 0; c = w->tree->nodes[c].next) {
        double t = w->costs[c].time_s;
        if (node->kind != STEP_MAX)
            time_s += t;
        else if (t > time_s)
            time_s = t;
    }
    return node->kind == STEP_REPEAT ? node->times * time_s : time_s;
}

/* Of the children of a maximum at least two use the network: they must be seen together. */
static bool shares(const struct walk *w, step_id id)
{
    int32_t n = 0;
    for (step_id c = w->tree->nodes[id].first; c >= 0; c = w->tree->nodes[c].next)
        n += w->costs[c].sends;
    /* ASTRA-sim's arithmetic knows collectives one at a time. */
    return w->how.rung && w->how.rules->semantics == SIM_PHYSICAL && w->tree->nodes[id].kind == STEP_MAX &&
           !w->tree->nodes[id].apart && n > 1;
}

/* Which nodes send, and which lie below a maximum that is simulated as a whole. Parents come before their
 * children. */
static void mark_joint(struct walk *w)
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
        bool whole = w->costs[id].joint || shares(w, id);
        if (node->kind == STEP_COLLECTIVE)
            w->costs[id].collective = next++;
        for (step_id c = node->first; c >= 0; c = w->tree->nodes[c].next)
            w->costs[c].joint = whole;
    }
}

static void take_joint(struct walk *w, const struct rung_joint *r)
{
    for (step_id id = w->tree->n_nodes; id-- > 0;) {
        struct node_cost *cost = &w->costs[id];
        if (!(r->train.count[id] > 0)) {
            /* What sends nothing is not taken apart by the simulation. */
            if (cost->joint && !cost->sends)
                cost->time_s = w->tree->nodes[id].kind == STEP_COMPUTE ? w->tree->nodes[id].seconds
                                                                       : inner_time(w, &w->tree->nodes[id]);
            continue;
        }
        cost->time_s = r->train.total_s[id] / r->train.count[id];
        if (w->tree->nodes[id].kind == STEP_COLLECTIVE)
            step_cost_take(&w->how, id, &r->mean[id], &w->out->collectives[cost->collective]);
    }
}

/* Only the outermost of these maxima are run; what is below them is found on the way. */
static int cost_joint(struct walk *w, step_id id, struct err *e)
{
    struct rung_joint r;
    int rc = rung_together(w->how.rung, w->tree, id, &r, e);
    if (rc)
        return rc;
    take_joint(w, &r);
    /* What never ends has no count. */
    w->costs[id].time_s = r.train.time_s;
    w->costs[id].known = r.known;
    rung_joint_free(&r);
    return 0;
}

static int cost_node(struct walk *w, step_id id, struct err *e)
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
        break;
    case STEP_TRANSFER: /* lowered trees only */
    case STEP_SUM:
    case STEP_MAX:
    case STEP_REPEAT:
        if (shares(w, id))
            return cost_joint(w, id, e);
        cost->time_s = inner_time(w, node);
        break;
    }
    return rc;
}

/* Children come after their parents: backwards every node finds its children done. */
static int cost_nodes(struct walk *w, struct err *e)
{
    int rc = 0;
    mark_joint(w);
    for (step_id id = w->tree->n_nodes; id-- > 0 && !rc;)
        if (!w->costs[id].joint)
            rc = cost_node(w, id, e);
    return rc;
}

/* The longest child, the first of equals; of a maximum that was simulated in turns, by the mean. */
static step_id longest_child(const struct walk *w, const struct step_node *node)
{
    step_id longest = node->first;
    for (step_id c = node->first; c >= 0; c = w->tree->nodes[c].next)
        if (w->costs[c].time_s > w->costs[longest].time_s)
            longest = c;
    return longest;
}

/* Pass on how often the node happens, and that it is critical: of a maximum only to the longest. What runs on
 * other NPUs does not happen on this one. */
static void mark_children(struct walk *w, step_id id)
{
    const struct step_node *node = &w->tree->nodes[id];
    const struct node_cost *cost = &w->costs[id];
    step_id longest = node->kind == STEP_MAX ? longest_child(w, node) : -1;
    for (step_id c = node->first; c >= 0; c = w->tree->nodes[c].next) {
        struct node_cost *child = &w->costs[c];
        child->times = cost->times * (node->kind == STEP_REPEAT ? node->times : 1);
        child->critical = cost->critical && (longest < 0 || c == longest);
        if (node->apart && c != longest)
            child->times = 0;
    }
}

/* While a stage of a pipeline waits, others send. */
static void add_collective(struct sim_step *s, const struct sim_collective *c, enum step_phase phase)
{
    for (int32_t d = 0; d < s->n_dims && phase != STEP_BUBBLE; d++) {
        s->traffic_B[d] += c->times * c->traffic_B[d];
        s->busy_s[d] += c->times * c->busy_s[d];
    }
    if (!c->critical)
        return;
    s->latency_s += c->times * c->latency_s;
    for (int32_t d = 0; d < s->n_dims; d++)
        s->exposed_s[d] += c->times * c->wait_s[d];
}

/* Forwards: every node knows from its parent whether it counts, and how often. */
static void add_nodes(struct walk *w)
{
    int32_t next = 0;
    w->costs[w->tree->root].times = 1;
    w->costs[w->tree->root].critical = true;
    for (step_id id = 0; id < w->tree->n_nodes; id++) {
        const struct step_node *node = &w->tree->nodes[id];
        const struct node_cost *cost = &w->costs[id];
        if (node->kind == STEP_COMPUTE && cost->critical) {
            w->out->compute_s += cost->times * node->seconds;
            w->out->phase_s[node->phase] += cost->times * node->seconds;
        }
        if (node->kind == STEP_COLLECTIVE) {
            struct sim_collective *c = &w->out->collectives[next++];
            c->times = cost->times * node->times;
            c->critical = cost->critical;
            add_collective(w->out, c, node->phase);
        }
        mark_children(w, id);
    }
    w->out->time_s = w->costs[w->tree->root].time_s;
}

/* What is waited for beside compute and bytes: latency; with simulations also where the longest changes by
 * turns. */
static void find_rest(struct sim_step *s)
{
    double known_s = s->compute_s;
    for (int32_t d = 0; d < s->n_dims; d++)
        known_s += s->exposed_s[d];
    if (isfinite(s->time_s)) {
        double rest_s = s->time_s - known_s;
        s->latency_s = rest_s > 1e-12 * s->time_s ? rest_s : 0; /* less is rounding */
    }
}

/* What all that was simulated carries, each as often as it happens. */
static int find_links(struct walk *w, struct err *e)
{
    struct rung_weight *weights = calloc((size_t)w->tree->n_nodes + 1, sizeof *weights);
    int32_t n = 0;
    if (!weights)
        return err_nomem(e, "use of links");
    for (step_id id = 0; id < w->tree->n_nodes; id++) {
        const struct step_node *node = &w->tree->nodes[id];
        double times = w->costs[id].times * (node->kind == STEP_COLLECTIVE ? node->times : 1);
        if (w->costs[id].known >= 0 && node->phase != STEP_BUBBLE)
            weights[n++] = (struct rung_weight){ w->costs[id].known, times };
    }
    int rc = rung_find_links(&w->out->links, w->how.rung, weights, n, w->out->time_s, e);
    free(weights);
    return rc;
}

static int evaluate(struct walk *w, struct err *e)
{
    struct sim_step *s = w->out;
    w->costs = calloc((size_t)w->tree->n_nodes + 1, sizeof *w->costs);
    s->collectives = calloc((size_t)s->n_collectives + 1, sizeof *s->collectives);
    if (!w->costs || !s->collectives)
        return err_nomem(e, "the times of a training step");
    if (w->tree->root < 0)
        return 0;
    int rc = cost_nodes(w, e);
    if (rc)
        return rc;
    add_nodes(w);
    if (!w->how.rung)
        return 0;
    find_rest(s);
    return find_links(w, e);
}

int sim_step_build(struct sim_step *s, const struct step_tree *t, const struct topo_network *net,
                   const double *bw_Bps, enum sim_model model, const struct sim_rules *rules, struct err *e)
{
    struct walk w = { .how = { .tree = t, .net = net, .bw_Bps = bw_Bps, .model = model, .rules = rules },
                      .tree = t,
                      .out = s };
    int rc = 0;
    assert(t->n_dims == net->n_dims);
    *s = (struct sim_step){ .n_dims = net->n_dims };
    for (step_id id = 0; id < t->n_nodes; id++)
        s->n_collectives += t->nodes[id].kind == STEP_COLLECTIVE;
    if (model > SIM_ALPHA_BETA)
        rc = rung_open(&w.how.rung, model, net, bw_Bps, rules, rung_split_dims(t, net), e);
    if (!rc)
        rc = evaluate(&w, e);
    free(w.costs);
    rung_free(w.how.rung);
    if (rc)
        sim_step_free(s);
    return rc;
}

void sim_step_free(struct sim_step *s)
{
    free(s->collectives);
    rung_links_free(&s->links);
    *s = (struct sim_step){ 0 };
}
