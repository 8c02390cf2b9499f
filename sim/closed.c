#include "sim/closed.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* What is known of one node of the tree. */
struct node_cost {
    double time_s; /* once, repeats inside counted */
    double times;  /* in one step */
    bool critical;
};

struct walk {
    const struct step_tree *tree;
    const struct topo_network *net;
    const double *bw_Bps;
    enum step_model model;
    struct node_cost *costs; /* shape [n_nodes] */
    struct sim_closed *out;
};

/* Busy times this close tie: a solver balances dimensions far better, equality to the last bit is chance. */
#define TIED_REL 1e-6

static void cost_collective(const struct walk *w, step_id id, struct sim_collective *c)
{
    const struct step_node *node = &w->tree->nodes[id];
    const int32_t *members = w->tree->groups[node->group].members;

    *c = (struct sim_collective){
        .node = id,
        .bytes = node->bytes,
    };
    collective_traffic(c->traffic_B, node->collective, node->bytes, members, w->net->n_dims);
    for (int32_t d = 0; d < w->net->n_dims; d++) {
        if (!(c->traffic_B[d] > 0))
            continue;
        c->busy_s[d] = c->traffic_B[d] / collective_share(&w->net->dims[d]) / w->bw_Bps[d];
        c->transfer_s = fmax(c->transfer_s, c->busy_s[d]);
    }
    for (int32_t d = 0; d < w->net->n_dims; d++) {
        c->binds[d] = c->busy_s[d] > 0 && c->busy_s[d] >= (1 - TIED_REL) * c->transfer_s;
        c->n_binds += c->binds[d];
    }
    if (w->model == STEP_ALPHA_BETA && node->bytes > 0)
        c->latency_s = collective_latency_s(node->collective, members, w->net);
    c->time_s = c->latency_s + c->transfer_s;
}

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

/* Children come after their parents: backwards every node finds its children done. */
static void cost_nodes(struct walk *w)
{
    int32_t next = w->out->n_collectives;
    for (step_id id = w->tree->n_nodes; id-- > 0;) {
        const struct step_node *node = &w->tree->nodes[id];
        switch (node->kind) {
        case STEP_COMPUTE:
            w->costs[id].time_s = node->seconds;
            break;
        case STEP_COLLECTIVE:
            cost_collective(w, id, &w->out->collectives[--next]);
            w->costs[id].time_s = node->times * w->out->collectives[next].time_s;
            break;
        case STEP_SUM:
        case STEP_MAX:
        case STEP_REPEAT:
            w->costs[id].time_s = inner_time(w, node);
            break;
        }
    }
}

/* Pass on how often the node happens, and that it is critical: of a maximum only to the first longest. */
static void mark_children(struct walk *w, step_id id)
{
    const struct step_node *node = &w->tree->nodes[id];
    const struct node_cost *cost = &w->costs[id];
    bool taken = false;
    for (step_id c = node->first; c >= 0; c = w->tree->nodes[c].next) {
        struct node_cost *child = &w->costs[c];
        bool longest = node->kind != STEP_MAX || (!taken && child->time_s == cost->time_s);
        child->times = cost->times * (node->kind == STEP_REPEAT ? node->times : 1);
        child->critical = cost->critical && longest;
        taken = taken || longest;
    }
}

static void add_collective(struct sim_closed *s, const struct sim_collective *c)
{
    for (int32_t d = 0; d < s->n_dims; d++) {
        s->traffic_B[d] += c->times * c->traffic_B[d];
        s->busy_s[d] += c->times * c->busy_s[d];
    }
    if (!c->critical)
        return;
    s->latency_s += c->times * c->latency_s;
    /* Dimensions that tie are to blame alike. */
    for (int32_t d = 0; d < s->n_dims; d++)
        if (c->binds[d])
            s->exposed_s[d] += c->times * c->transfer_s / c->n_binds;
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
        if (node->kind == STEP_COMPUTE && cost->critical)
            w->out->compute_s += cost->times * node->seconds;
        if (node->kind == STEP_COLLECTIVE) {
            struct sim_collective *c = &w->out->collectives[next++];
            c->times = cost->times * node->times;
            c->critical = cost->critical;
            add_collective(w->out, c);
        }
        mark_children(w, id);
    }
    w->out->time_s = w->costs[w->tree->root].time_s;
}

int sim_closed_build(struct sim_closed *s, const struct step_tree *t, const struct topo_network *net,
                     const double *bw_Bps, enum step_model model, struct err *e)
{
    assert(t->n_dims == net->n_dims);
    *s = (struct sim_closed){ .n_dims = net->n_dims };
    for (step_id id = 0; id < t->n_nodes; id++)
        s->n_collectives += t->nodes[id].kind == STEP_COLLECTIVE;

    struct walk w = { .tree = t, .net = net, .bw_Bps = bw_Bps, .model = model, .out = s };
    w.costs = calloc((size_t)t->n_nodes + 1, sizeof *w.costs);
    s->collectives = calloc((size_t)s->n_collectives + 1, sizeof *s->collectives);
    if (!w.costs || !s->collectives) {
        free(w.costs);
        sim_closed_free(s);
        return err_nomem(e, "the times of a training step");
    }
    if (t->root >= 0) {
        cost_nodes(&w);
        add_nodes(&w);
    }
    free(w.costs);
    return 0;
}

void sim_closed_free(struct sim_closed *s)
{
    free(s->collectives);
    *s = (struct sim_closed){ 0 };
}
