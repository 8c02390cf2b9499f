/*
 * The cheapest plan, proved: classes of links, stages as arcs, shortest paths, windows of throughput.
 */
#include "sim/hetero/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/work.h"

static double path_larger(double a, double b)
{
    return a > b ? a : b;
}

static double path_add(const struct hetero_paths *x, double a, double b)
{
    return x->slowest ? path_larger(a, b) : a + b;
}

/* ---- classes of links ---- */

static bool is_same_link(const struct hetero_link *a, const struct hetero_link *b)
{
    return a->lat_s == b->lat_s && a->Bps == b->Bps;
}

/* The first of the types whose links to @p type are those of @p other. */
static int32_t first_alike(const struct hetero_problem *p, int32_t type, int32_t other)
{
    const struct hetero_link *row = &p->setup.links[(size_t)type * (size_t)p->profile->n_types];
    int32_t u = 0;
    while (u == type || !is_same_link(&row[u], &row[other]))
        u++;
    return u;
}

/* Without a network all other types are one class. @p member: shape [n_types]. */
static void group_types(struct hetero_paths *x, int32_t type, int16_t *member)
{
    const struct hetero_problem *p = x->problem;
    int32_t n = 0, n_types = p->profile->n_types;
    int16_t *class_of = &x->class_of[(size_t)type * (size_t)n_types];
    for (int32_t u = 0; u < n_types; u++) {
        class_of[u] = 0;
        if (u == type)
            continue;
        if (p->setup.handover != HETERO_NETWORK) {
            member[0] = (int16_t)u;
            n = 1;
            continue;
        }
        int32_t alike = first_alike(p, type, u);
        class_of[u] = (int16_t)(alike == u ? n : class_of[alike]);
        if (alike == u)
            member[n++] = (int16_t)u;
    }
    if (n == 0)
        member[n++] = -1;
    x->n_of[type] = n;
}

/* ---- building ---- */

/* Units of one stage of a type alone, so that they and their hosts are there. */
static int64_t cap_of(const struct hetero_profile *f, int32_t type)
{
    const struct hetero_type *t = &f->types[type];
    int64_t cap = t->max_units;
    if (t->host >= 0 && t->host_units > 0 && f->types[t->host].max_units / t->host_units < cap)
        cap = f->types[t->host].max_units / t->host_units;
    return cap;
}

/* Types that cost a stage the same as neighbours form a class: states are (layer, type, class beside it)
 * instead of (layer, type, type). */
static void build_classes(struct hetero_paths *x)
{
    size_t n = (size_t)x->problem->profile->n_types;
    x->n_of = ARENA_TAKE(&x->arena, n, *x->n_of);
    x->cap = ARENA_TAKE(&x->arena, n, *x->cap);
    x->class_of = ARENA_TAKE(&x->arena, n * n, *x->class_of);
    x->member = ARENA_TAKE(&x->arena, n * n, *x->member);
    x->n_classes = 1;
    for (size_t t = 0; t < n && !x->arena.failed; t++) {
        x->cap[t] = cap_of(x->problem->profile, (int32_t)t);
        group_types(x, (int32_t)t, &x->member[t * n]);
        if (x->n_of[t] > x->n_classes)
            x->n_classes = x->n_of[t];
    }
}

/* Arrays over boundaries, types and classes. Everything is allocated here; searches only fill it. */
int hetero_paths_build(struct hetero_paths *x, const struct hetero_problem *p, struct err *e)
{
    *x = (struct hetero_paths){ .problem = p };
    build_classes(x);
    size_t layers = (size_t)p->profile->n_layers, classes = (size_t)x->n_classes;
    size_t n = (layers + 1) * (size_t)p->profile->n_types * classes;
    x->to = ARENA_TAKE(&x->arena, n, *x->to);
    x->done = ARENA_TAKE(&x->arena, n, *x->done);
    x->from = ARENA_TAKE(&x->arena, n, *x->from);
    x->rest = ARENA_TAKE(&x->arena, n, *x->rest);
    x->first = ARENA_TAKE(&x->arena, n, *x->first);
    x->before = ARENA_TAKE(&x->arena, n, *x->before);
    x->via = ARENA_TAKE(&x->arena, n, *x->via);
    x->begin = ARENA_TAKE(&x->arena, layers + 1, *x->begin);
    x->chunk = ARENA_TAKE(&x->arena, layers * classes, *x->chunk);
    return arena_check(&x->arena, "paths over layers", e);
}

/* Safe after a failed build. */
void hetero_paths_free(struct hetero_paths *x)
{
    arena_free(&x->arena);
    *x = (struct hetero_paths){ 0 };
}

/* ---- the cost of an arc ---- */

/* The least units that keep up with the slow end of a window, at most @p cap, and their time; 0: none do. */
static int32_t least_units(double *now_s, const struct hetero_time *t, const struct hetero_window *w,
                           int64_t cap)
{
    int64_t k = hetero_least_units(t, w->slow_s);
    if (k < 0)
        return 0;
    *now_s = hetero_time_s(t, k);
    if (w->open && !(*now_s < w->slow_s)) {
        *now_s = hetero_time_s(t, ++k);
        if (!(*now_s < w->slow_s))
            return 0;
    }
    return k <= cap ? (int32_t)k : 0;
}

/* Of one stage alone with all units it can have, in seconds. */
static double fastest_s(const struct hetero_paths *x, const struct hetero_stage *s)
{
    const int32_t server = x->problem->setup.server;
    if (x->cap[s->span.type] < 1 || (s->server_s > 0 && x->cap[server] < 1))
        return INFINITY;
    double time_s = hetero_time_s(&s->time, x->cap[s->span.type]);
    return s->server_s > 0 ? path_larger(time_s, s->server_s / (double)x->cap[server]) : time_s;
}

/* Cost of one stage within a window of throughput: the least units that keep up with the window, paid for at
 * its fastest pace, hence a lower bound for every plan in the window. Parameter servers likewise. */
void hetero_arc_price(struct hetero_arc *a, const struct hetero_paths *x, const struct hetero_window *w)
{
    const struct hetero_stage *s = &a->stage;
    const double *usd_per_h = x->problem->unit_usd_per_h;
    double now_s = 0;
    if (x->slowest) {
        a->cost = fastest_s(x, s);
        return;
    }
    a->cost = INFINITY;
    a->servers = 0;
    a->units = least_units(&now_s, &s->time, w, x->cap[s->span.type]);
    if (!a->units)
        return;
    a->time_s = now_s;
    double cost = usd_per_h[s->span.type] * a->units * path_larger(now_s, w->fast_s);
    if (s->server_s > 0) {
        const struct hetero_time serve = { .shared_s = { s->server_s, 0 } };
        int32_t server = x->problem->setup.server;
        a->servers = least_units(&now_s, &serve, w, x->cap[server]);
        if (!a->servers) {
            a->units = 0;
            return;
        }
        a->time_s = path_larger(a->time_s, now_s);
        cost += usd_per_h[server] * a->servers * path_larger(now_s, w->fast_s);
    }
    a->cost = cost;
}

/* Prices all arcs for a window, drops those that cannot reach it, and indexes the rest by first layer. */
void hetero_arcs_price(struct hetero_arcs *arcs, struct hetero_paths *x, const struct hetero_window *w)
{
    int32_t n = 0, layers = x->problem->profile->n_layers;
    memset(x->begin, 0, ((size_t)layers + 1) * sizeof *x->begin);
    for (int32_t i = 0; i < arcs->n; i++) {
        hetero_arc_price(&arcs->at[i], x, w);
        if (arcs->at[i].units) {
            arcs->at[n++] = arcs->at[i];
            x->begin[arcs->at[n - 1].stage.span.first + 1] = n;
        }
    }
    for (int32_t l = 0; l < layers; l++)
        if (x->begin[l + 1] < x->begin[l])
            x->begin[l + 1] = x->begin[l];
    arcs->n = n;
}

/* All arcs from one layer on one type after one class, priced, into x->chunk. */
static struct hetero_arcs fill_chunk(struct hetero_paths *x, int32_t first, int32_t type, int32_t before,
                                     const struct hetero_window *w)
{
    struct hetero_arcs arcs = { x->chunk, 0, 0 };
    const int32_t layers = x->problem->profile->n_layers;
    const int16_t *member = &x->member[(size_t)type * (size_t)x->problem->profile->n_types];
    for (int32_t last = first; last < layers; last++) {
        int32_t n_after = last + 1 < layers ? x->n_of[type] : 1;
        for (int32_t after = 0; after < n_after; after++) {
            struct hetero_arc *a = &arcs.at[arcs.n];
            const struct hetero_span span = { .first = first,
                                              .last = last,
                                              .type = type,
                                              .before = first > 0 ? member[before] : -1,
                                              .after = last + 1 < layers ? member[after] : -1 };
            *a = (struct hetero_arc){ .stage = hetero_stage_of(x->problem, &span),
                                      .before = (int16_t)before,
                                      .after = (int16_t)after };
            hetero_arc_price(a, x, w);
            if (a->cost < INFINITY)
                arcs.n++;
        }
    }
    return arcs;
}

/* ---- across a boundary ---- */

static void fill_all(const struct hetero_paths *x, double *values, int32_t boundary, double value)
{
    size_t n = hetero_paths_state(x, boundary + 1, 0, 0);
    for (size_t i = hetero_paths_state(x, boundary, 0, 0); i < n; i++)
        values[i] = value;
}

static bool path_is_reached(const double *costs, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (costs[i] < INFINITY)
            return true;
    return false;
}

/*
 * What one side knows as (type, class of the other), the other side asks for as (its type, class): the least
 * over the types of that class. @p via: which type it is, or NULL.
 */
static void paths_cross(const struct hetero_paths *x, double *out, const double *in, int16_t *via,
                        int32_t boundary)
{
    const int32_t n = x->problem->profile->n_types;
    fill_all(x, out, boundary, INFINITY);
    for (int32_t u = 0; u < n; u++) {
        const double *costs = &in[hetero_paths_state(x, boundary, u, 0)];
        const int16_t *class_of = &x->class_of[(size_t)u * (size_t)n];
        if (!path_is_reached(costs, x->n_of[u]))
            continue;
        for (int32_t t = 0; t < n; t++) {
            size_t at = hetero_paths_state(x, boundary, t, x->class_of[(size_t)t * (size_t)n + (size_t)u]);
            double cost = costs[class_of[t]];
            if (u != t && cost < out[at]) {
                out[at] = cost;
                if (via)
                    via[at] = (int16_t)u;
            }
        }
    }
}

/* The same for one class, O(n_types): the best of all, and for that type itself the second best. */
static void cross_one_class(const struct hetero_paths *x, double *out, const double *in, int16_t *via,
                            int32_t boundary)
{
    const int32_t n = x->problem->profile->n_types;
    const double *cost = &in[hetero_paths_state(x, boundary, 0, 0)];
    double best = INFINITY, second = INFINITY;
    int32_t a = -1, b = -1;
    for (int32_t u = 0; u < n; u++) {
        if (cost[u] < best) {
            second = best;
            b = a;
            best = cost[u];
            a = u;
        } else if (cost[u] < second) {
            second = cost[u];
            b = u;
        }
    }
    for (int32_t t = 0; t < n; t++) {
        out[hetero_paths_state(x, boundary, t, 0)] = t == a ? second : best;
        if (via)
            via[hetero_paths_state(x, boundary, t, 0)] = (int16_t)(t == a ? b : a);
    }
}

static void cross_boundary(const struct hetero_paths *x, double *out, const double *in, int16_t *via,
                           int32_t boundary)
{
    if (x->n_classes == 1)
        cross_one_class(x, out, in, via, boundary);
    else
        paths_cross(x, out, in, via, boundary);
}

/* ---- shortest paths ---- */

/* Relaxes arcs that start at one boundary: the shortest path over a graph without cycles. */
static void paths_extend(struct hetero_paths *x, const struct hetero_arc *arcs, int32_t n)
{
    for (const struct hetero_arc *a = arcs; a < arcs + n; a++) {
        const struct hetero_span *s = &a->stage.span;
        double cost = path_add(x, x->done[hetero_paths_state(x, s->first, s->type, a->before)], a->cost);
        size_t at = hetero_paths_state(x, s->last + 1, s->type, a->after);
        if (cost < x->to[at]) {
            x->to[at] = cost;
            x->first[at] = (int16_t)s->first;
            x->before[at] = a->before;
        }
    }
}

/* Cheapest way from the first layer to each state. With @p arcs only over these; without, over all spans,
 * made a piece at a time, as all together would not fit in memory. */
void hetero_paths_forward(struct hetero_paths *x, const struct hetero_arcs *arcs,
                          const struct hetero_window *w)
{
    const struct hetero_profile *f = x->problem->profile;
    for (int32_t b = 0; b <= f->n_layers; b++)
        fill_all(x, x->to, b, INFINITY);
    for (int32_t first = 0; first < f->n_layers; first++) {
        if (first > 0)
            cross_boundary(x, x->done, x->to, x->via, first);
        else
            fill_all(x, x->done, 0, 0);
        if (arcs) {
            paths_extend(x, &arcs->at[x->begin[first]], x->begin[first + 1] - x->begin[first]);
            continue;
        }
        for (int32_t t = 0; t < f->n_types; t++)
            for (int32_t c = 0; c < (first > 0 ? x->n_of[t] : 1); c++)
                if (x->done[hetero_paths_state(x, first, t, c)] < INFINITY) {
                    struct hetero_arcs all = fill_chunk(x, first, t, c, w);
                    paths_extend(x, all.at, all.n);
                }
    }
}

static void extend_back(struct hetero_paths *x, const struct hetero_arc *arcs, int32_t n)
{
    for (const struct hetero_arc *a = arcs; a < arcs + n; a++) {
        const struct hetero_span *s = &a->stage.span;
        double cost = path_add(x, a->cost, x->rest[hetero_paths_state(x, s->last + 1, s->type, a->after)]);
        size_t at = hetero_paths_state(x, s->first, s->type, a->before);
        if (cost < x->from[at])
            x->from[at] = cost;
    }
}

/* Cheapest way from each state to the end, so that an arc's best plan is known in O(1). */
void hetero_paths_backward(struct hetero_paths *x, const struct hetero_arcs *arcs,
                           const struct hetero_window *w)
{
    const struct hetero_profile *f = x->problem->profile;
    fill_all(x, x->rest, f->n_layers, 0);
    for (int32_t first = f->n_layers - 1; first >= 0; first--) {
        fill_all(x, x->from, first, INFINITY);
        if (arcs)
            extend_back(x, &arcs->at[x->begin[first]], x->begin[first + 1] - x->begin[first]);
        for (int32_t t = 0; t < f->n_types && !arcs; t++)
            for (int32_t c = 0; c < (first > 0 ? x->n_of[t] : 1); c++) {
                struct hetero_arcs all = fill_chunk(x, first, t, c, w);
                extend_back(x, all.at, all.n);
            }
        cross_boundary(x, x->rest, x->from, NULL, first);
    }
}

/* The cheapest end, and the plan that leads there, read backwards over first[], before[] and via[]. */
double hetero_paths_least(const struct hetero_paths *x, hetero_id *plan)
{
    int32_t type = 0, boundary = x->problem->profile->n_layers, class = 0;
    for (int32_t t = 1; t < x->problem->profile->n_types; t++)
        if (x->to[hetero_paths_state(x, boundary, t, 0)] < x->to[hetero_paths_state(x, boundary, type, 0)])
            type = t;
    double least = x->to[hetero_paths_state(x, boundary, type, 0)];
    while (least < INFINITY && boundary > 0) {
        size_t at = hetero_paths_state(x, boundary, type, class);
        int32_t first = x->first[at], before = x->before[at];
        for (int32_t l = first; l < boundary; l++)
            plan[l] = (hetero_id)type;
        int32_t last_type = x->via[hetero_paths_state(x, first, type, before)];
        if (first > 0)
            class = x->class_of[(size_t)last_type * (size_t)x->problem->profile->n_types + (size_t)type];
        type = last_type;
        boundary = first;
    }
    return least;
}

/* ---- arcs that matter ---- */

/* What the cheapest path through an arc costs. */
static double through(const struct hetero_paths *x, const struct hetero_arc *a)
{
    const struct hetero_span *s = &a->stage.span;
    return path_add(x, path_add(x, x->done[hetero_paths_state(x, s->first, s->type, a->before)], a->cost),
                    x->rest[hetero_paths_state(x, s->last + 1, s->type, a->after)]);
}

void hetero_arcs_keep(struct hetero_arcs *arcs, const struct hetero_paths *x, double most)
{
    int32_t n = 0;
    for (int32_t i = 0; i < arcs->n; i++)
        if (through(x, &arcs->at[i]) < most)
            arcs->at[n++] = arcs->at[i];
    arcs->n = n;
}

/* Arcs whose best plan is cheaper than what is known; the others can be in no better plan. */
static int keep_some(struct hetero_arcs *arcs, const struct hetero_paths *x, const struct hetero_arcs *all,
                     double most, struct err *e)
{
    for (int32_t i = 0; i < all->n; i++) {
        if (!(through(x, &all->at[i]) < most))
            continue;
        if (!vec_reserve(arcs->at, arcs->cap, arcs->n + 1))
            return err_nomem(e, "stages of plans");
        arcs->at[arcs->n++] = all->at[i];
    }
    return 0;
}

/* All arcs that may matter, gathered after a first pass forward and backward. */
int hetero_arcs_collect(struct hetero_arcs *arcs, struct hetero_paths *x, const struct hetero_window *w,
                        double most, struct err *e)
{
    const struct hetero_profile *f = x->problem->profile;
    int rc = 0;
    for (int32_t first = 0; first < f->n_layers; first++)
        for (int32_t t = 0; t < f->n_types; t++)
            for (int32_t c = 0; c < (first > 0 ? x->n_of[t] : 1) && !rc; c++)
                if (x->done[hetero_paths_state(x, first, t, c)] < INFINITY) {
                    struct hetero_arcs all = fill_chunk(x, first, t, c, w);
                    rc = keep_some(arcs, x, &all, most, e);
                }
    return rc;
}

/* Shortest paths at most; what is left open then keeps its bounds. */
enum { MOST_PATHS = 1 << 18 };

/* A window and its arcs, a part of the pool. */
struct oracle_node {
    struct hetero_window window;
    double bound;
    int32_t begin, n;
};

struct oracle_search {
    struct hetero_paths paths;
    struct hetero_work work;
    struct hetero_arcs pool;
    struct oracle_node *nodes; /* a stack; no node's arcs lie behind those of a node above it */
    int32_t n_nodes, cap_nodes;
    hetero_id *plan;
    hetero_rule *rule;
    void *context;
    struct hetero_windows *out;
    double skipped; /* least bound of windows that the rule gave up on */
};

static bool window_is_hopeless(const struct oracle_search *s, double bound)
{
    return !(bound < s->out->cost * (1 - HETERO_COST_SLACK));
}

/* ---- plans ---- */

/* What s->plan costs with the least units for the slow end of a window; its pace, seconds per example. */
static double cost_of(struct oracle_search *s, const struct hetero_window *w, double *pace_s)
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

static void keep_plan(struct oracle_search *s, double cost)
{
    if (!(cost < s->out->cost))
        return;
    s->out->cost = cost;
    memcpy(s->out->plan, s->plan, (size_t)s->paths.problem->profile->n_layers * sizeof *s->plan);
}

/* ---- windows ---- */

static int windows_push(struct oracle_search *s, const struct oracle_node *node, struct err *e)
{
    if (!vec_reserve(s->nodes, s->cap_nodes, s->n_nodes + 1))
        return err_nomem(e, "windows of throughput");
    s->nodes[s->n_nodes++] = *node;
    return 0;
}

/* The arcs of @p node once more, at the end of the pool. */
static int copy_arcs(struct oracle_search *s, struct oracle_node *node, struct err *e)
{
    int32_t from = node->begin;
    node->begin = s->pool.n;
    for (int32_t i = 0; i < node->n; i++) {
        if (!vec_reserve(s->pool.at, s->pool.cap, s->pool.n + 1))
            return err_nomem(e, "stages of plans");
        s->pool.at[s->pool.n++] = s->pool.at[from + i];
    }
    return 0;
}

/* The slower side on top: cheap plans are mostly slow ones. */
static int windows_split(struct oracle_search *s, const struct oracle_node *node, double pace_s,
                         struct err *e)
{
    struct oracle_node slower = *node, faster = *node;
    slower.window.fast_s = pace_s;
    faster.window.slow_s = pace_s;
    faster.window.open = true;
    s->pool.n = node->begin + node->n;
    int rc = windows_push(s, &faster, e);
    if (!rc)
        rc = copy_arcs(s, &slower, e);
    return rc ? rc : windows_push(s, &slower, e);
}

/* One window of throughput: a lower bound by shortest path. If the plan found keeps the pace that the bound
 * assumed, the window is done; else the window is split at that plan's pace. */
static int search_window(struct oracle_search *s, struct oracle_node *node, struct err *e)
{
    struct hetero_arcs arcs = { &s->pool.at[node->begin], node->n, 0 };
    struct hetero_paths *x = &s->paths;
    bool complete = true;
    double pace_s;
    hetero_arcs_price(&arcs, x, &node->window);
    hetero_paths_forward(x, &arcs, &node->window);
    s->out->paths++;
    node->bound = fmax(node->bound, hetero_paths_least(x, s->plan));
    if (window_is_hopeless(s, node->bound))
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
    if (window_is_hopeless(s, node->bound))
        return 0;
    keep_plan(s, cost_of(s, &node->window, &pace_s));
    if (pace_s <= node->window.fast_s || window_is_hopeless(s, node->bound))
        return 0;
    if (s->rule) /* has used the paths for itself */
        hetero_paths_forward(x, &arcs, &node->window);
    hetero_paths_backward(x, &arcs, &node->window);
    hetero_arcs_keep(&arcs, x, s->out->cost);
    node->n = arcs.n;
    return windows_split(s, node, pace_s, e);
}

/* ---- the whole range ---- */

/* All throughputs from the one asked for to the largest there is, with the arcs that matter. */
static int windows_begin(struct oracle_search *s, struct oracle_node *root, struct err *e)
{
    const struct hetero_problem *p = s->paths.problem;
    struct hetero_paths *x = &s->paths;
    double pace_s;
    x->slowest = true;
    hetero_paths_forward(x, NULL, NULL);
    double fastest_s = hetero_paths_least(x, s->plan);
    x->slowest = false;
    *root = (struct oracle_node){ .window = { fastest_s, 1 / p->per_s, false } };
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

/* Depth first over windows, with the bounds of those still open as a proof of what is left. MOST_PATHS bounds
 * the time; the answer is then a plan with a lower bound. */
static int search_all(struct oracle_search *s, struct err *e)
{
    struct oracle_node node;
    int rc = windows_begin(s, &node, e);
    if (!rc && node.n > 0)
        rc = windows_push(s, &node, e);
    while (!rc && s->n_nodes > 0 && s->out->paths < MOST_PATHS) {
        node = s->nodes[--s->n_nodes];
        if (!window_is_hopeless(s, node.bound))
            rc = search_window(s, &node, e);
        if (!rc)
            rc = work_check(e);
    }
    s->out->lower = fmin(s->out->cost, s->skipped);
    for (int32_t i = 0; i < s->n_nodes; i++)
        s->out->lower = fmin(s->out->lower, s->nodes[i].bound);
    return rc;
}

/* Sets up and runs the search; @p rule refines single windows (sim/hetero/labels) and may be NULL. */
int hetero_windows(struct hetero_windows *out, const struct hetero_problem *p, hetero_rule *rule,
                   void *context, struct err *e)
{
    struct oracle_search s = { .rule = rule, .context = context, .out = out, .skipped = INFINITY };
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

/* What a plan costs and what the paths say it does agree to this share: they round differently. */
#define PROOF_SLACK 1e-9

/* The largest throughput: the path whose slowest stage is fastest, with all units that a type has. */
int hetero_reach(double *per_s, hetero_id *plan, const struct hetero_problem *p, struct err *e)
{
    struct hetero_paths x;
    hetero_id own[HETERO_MAX_LAYERS];
    int rc = hetero_paths_build(&x, p, e);
    if (!rc) {
        x.slowest = true;
        hetero_paths_forward(&x, NULL, NULL);
        *per_s = 1 / hetero_paths_least(&x, plan ? plan : own);
    }
    hetero_paths_free(&x);
    return rc;
}

/* The plan is evaluated as any other scheduler's: equal to the bound means proved. PROOF_SLACK covers the
 * different order of additions. */
int hetero_oracle_judge(struct hetero_oracle *o, const struct hetero_problem *p, struct err *e)
{
    struct hetero_work work;
    struct hetero_value v;
    int rc = hetero_work_build(&work, p, e);
    if (!rc) {
        hetero_evaluate(&v, p, o->plan, &work);
        bool same = v.status == HETERO_OK && v.usd <= o->lower_usd * (1 + PROOF_SLACK);
        o->proof = same ? HETERO_OPTIMAL : HETERO_LOWER_BOUND;
    }
    hetero_work_free(&work);
    return rc;
}

/* Without limits that stages share; with such limits its cost is a lower bound. */
int hetero_oracle(struct hetero_oracle *o, const struct hetero_problem *p, struct err *e)
{
    struct hetero_windows found;
    double hours = p->setup.epochs * p->setup.examples / 3600;
    *o = (struct hetero_oracle){ .proof = HETERO_NO_PLAN, .usd = NAN, .lower_usd = NAN };
    int rc = hetero_windows(&found, p, NULL, NULL, e);
    o->paths = found.paths;
    if (!rc && found.cost < INFINITY) {
        o->plan = found.plan;
        o->usd = found.cost * hours;
        o->lower_usd = found.lower * hours;
        found.plan = NULL;
        rc = hetero_oracle_judge(o, p, e);
    }
    hetero_windows_free(&found);
    if (rc)
        hetero_oracle_free(o);
    return rc;
}

void hetero_oracle_free(struct hetero_oracle *o)
{
    free(o->plan);
    *o = (struct hetero_oracle){ 0 };
}

/* Without any plan that reaches the throughput, the fastest plan is reported, so that a reader sees how far
 * away it is. */
int hetero_oracle_report(struct hetero_search *s, const struct hetero_oracle *o, struct err *e)
{
    struct hetero_value v;
    double per_s;
    hetero_id fastest[HETERO_MAX_LAYERS] = { 0 };
    s->proof = o->proof;
    s->lower_usd = o->lower_usd;
    int rc = o->plan ? 0 : hetero_reach(&per_s, fastest, s->problem, e);
    if (!rc)
        hetero_try(s, o->plan ? o->plan : fastest, &v);
    return rc;
}

int hetero_oracle_run(struct hetero_search *s, const struct hetero_settings *settings, struct err *e)
{
    struct hetero_oracle o;
    (void)settings;
    int rc = hetero_oracle(&o, s->problem, e);
    if (!rc)
        rc = hetero_oracle_report(s, &o, e);
    hetero_oracle_free(&o);
    return rc;
}
