#include "sim/hetero/window.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Shortest paths at most; what is left open then keeps its bounds. */
enum { MOST_PATHS = 1 << 18 };

/* A window and its arcs, a part of the pool. */
struct node {
    struct hetero_window window;
    double bound;
    int32_t begin, n;
};

struct search {
    struct hetero_paths paths;
    struct hetero_work work;
    struct hetero_arcs pool;
    struct node *nodes; /* a stack; no node's arcs lie behind those of a node above it */
    int32_t n_nodes, cap_nodes;
    hetero_id *plan;
    hetero_rule *rule;
    void *context;
    struct hetero_windows *out;
    double skipped; /* least bound of windows that the rule gave up on */
};

static bool is_hopeless(const struct search *s, double bound)
{
    return !(bound < s->out->cost * (1 - HETERO_COST_SLACK));
}

/* ---- plans ---- */

/* What s->plan costs with the least units for the slow end of a window; its pace, seconds per example. */
static double cost_of(struct search *s, const struct hetero_window *w, double *pace_s)
{
    const struct hetero_problem *p = s->paths.problem;
    double usd_per_h = 0;
    s->work.n_stages = hetero_stages(s->work.stages, p, s->plan);
    *pace_s = 0;
    for (int32_t i = 0; i < s->work.n_stages; i++) {
        struct hetero_arc a = { .stage = s->work.stages[i] };
        hetero_arc_price(&a, &s->paths, w);
        usd_per_h += p->unit_usd_per_h[a.stage.span.type] * a.units;
        if (a.servers)
            usd_per_h += p->unit_usd_per_h[p->setup.server] * a.servers;
        *pace_s = fmax(*pace_s, a.time_s);
    }
    return usd_per_h * *pace_s;
}

static void keep_plan(struct search *s, double cost)
{
    if (!(cost < s->out->cost))
        return;
    s->out->cost = cost;
    memcpy(s->out->plan, s->plan, (size_t)s->paths.problem->profile->n_layers * sizeof *s->plan);
}

/* ---- windows ---- */

static int push(struct search *s, const struct node *node, struct err *e)
{
    struct node *grown = array_grow(s->nodes, s->n_nodes, &s->cap_nodes, sizeof *grown);
    if (!grown)
        return err_nomem(e, "windows of throughput");
    s->nodes = grown;
    s->nodes[s->n_nodes++] = *node;
    return 0;
}

/* The arcs of @p node once more, at the end of the pool. */
static int copy_arcs(struct search *s, struct node *node, struct err *e)
{
    int32_t from = node->begin;
    node->begin = s->pool.n;
    for (int32_t i = 0; i < node->n; i++) {
        struct hetero_arc *grown = array_grow(s->pool.at, s->pool.n, &s->pool.cap, sizeof *grown);
        if (!grown)
            return err_nomem(e, "stages of plans");
        s->pool.at = grown;
        s->pool.at[s->pool.n++] = s->pool.at[from + i];
    }
    return 0;
}

/* The slower side on top: cheap plans are mostly slow ones. */
static int split(struct search *s, const struct node *node, double pace_s, struct err *e)
{
    struct node slower = *node, faster = *node;
    slower.window.fast_s = pace_s;
    faster.window.slow_s = pace_s;
    faster.window.open = true;
    s->pool.n = node->begin + node->n;
    int rc = push(s, &faster, e);
    if (!rc)
        rc = copy_arcs(s, &slower, e);
    return rc ? rc : push(s, &slower, e);
}

static int search_window(struct search *s, struct node *node, struct err *e)
{
    struct hetero_arcs arcs = { &s->pool.at[node->begin], node->n, 0 };
    struct hetero_paths *x = &s->paths;
    bool complete = true;
    double pace_s;
    hetero_arcs_price(&arcs, x, &node->window);
    hetero_paths_forward(x, &arcs, &node->window);
    s->out->paths++;
    node->bound = fmax(node->bound, hetero_paths_least(x, s->plan));
    if (is_hopeless(s, node->bound))
        return 0;
    int rc = s->rule ? s->rule(&node->bound, s->plan, &complete, s->context, x, &arcs, &node->window,
                               s->out->cost, e)
                     : 0;
    if (rc)
        return rc;
    if (!complete) {
        if (s->plan[0] >= 0)
            keep_plan(s, cost_of(s, &node->window, &pace_s));
        s->skipped = fmin(s->skipped, node->bound);
        return 0;
    }
    if (is_hopeless(s, node->bound))
        return 0;
    keep_plan(s, cost_of(s, &node->window, &pace_s));
    if (pace_s <= node->window.fast_s || is_hopeless(s, node->bound))
        return 0;
    if (s->rule) /* has used the paths for itself */
        hetero_paths_forward(x, &arcs, &node->window);
    hetero_paths_backward(x, &arcs, &node->window);
    hetero_arcs_keep(&arcs, x, s->out->cost);
    node->n = arcs.n;
    return split(s, node, pace_s, e);
}

/* ---- the whole range ---- */

/* All throughputs from the one asked for to the largest there is, with the arcs that matter. */
static int begin(struct search *s, struct node *root, struct err *e)
{
    const struct hetero_problem *p = s->paths.problem;
    struct hetero_paths *x = &s->paths;
    double pace_s;
    x->slowest = true;
    hetero_paths_forward(x, NULL, NULL);
    double fastest_s = hetero_paths_least(x, s->plan);
    x->slowest = false;
    *root = (struct node){ .window = { fastest_s, 1 / p->per_s, false } };
    /* The cheapest at the throughput asked for is a good plan to begin with. */
    if (!s->rule && p->per_s > 0) {
        const struct hetero_window here = { 1 / p->per_s, 1 / p->per_s, false };
        hetero_paths_forward(x, NULL, &here);
        if (hetero_paths_least(x, s->plan) < INFINITY)
            keep_plan(s, cost_of(s, &here, &pace_s));
    }
    hetero_paths_forward(x, NULL, &root->window);
    hetero_paths_backward(x, NULL, &root->window);
    s->out->paths += 3;
    int rc = hetero_arcs_collect(&s->pool, x, &root->window, s->out->cost, e);
    root->n = s->pool.n;
    return rc;
}

static int search_all(struct search *s, struct err *e)
{
    struct node node;
    int rc = begin(s, &node, e);
    if (!rc && node.n > 0)
        rc = push(s, &node, e);
    while (!rc && s->n_nodes > 0 && s->out->paths < MOST_PATHS) {
        node = s->nodes[--s->n_nodes];
        if (!is_hopeless(s, node.bound))
            rc = search_window(s, &node, e);
    }
    s->out->lower = fmin(s->out->cost, s->skipped);
    for (int32_t i = 0; i < s->n_nodes; i++)
        s->out->lower = fmin(s->out->lower, s->nodes[i].bound);
    return rc;
}

int hetero_windows(struct hetero_windows *out, const struct hetero_problem *p, hetero_rule *rule,
                   void *context, struct err *e)
{
    struct search s = { .rule = rule, .context = context, .out = out, .skipped = INFINITY };
    *out = (struct hetero_windows){ .cost = INFINITY, .lower = 0 };
    int rc = hetero_paths_build(&s.paths, p, e);
    if (!rc)
        rc = hetero_work_build(&s.work, p, e);
    if (!rc) {
        s.plan = calloc((size_t)p->profile->n_layers, sizeof *s.plan);
        out->plan = calloc((size_t)p->profile->n_layers, sizeof *out->plan);
        rc = s.plan && out->plan ? search_all(&s, e) : err_nomem(e, "a plan");
    }
    hetero_paths_free(&s.paths);
    hetero_work_free(&s.work);
    free(s.pool.at);
    free(s.nodes);
    free(s.plan);
    return rc;
}

void hetero_windows_free(struct hetero_windows *out)
{
    free(out->plan);
    *out = (struct hetero_windows){ 0 };
}
