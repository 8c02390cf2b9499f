#include "sim/hetero/moves.h"

#include <float.h>
#include <math.h>

#include "base/elementary.h"

/* A plan that reaches less than this share of the throughput is as bad as one that reaches this: a single
 * hopeless plan must not drown the differences between the others. */
#define LEAST_REACH 1e-6

struct hetero_size hetero_size_of(const struct hetero_problem *p)
{
    return (struct hetero_size){ p->profile->n_layers, p->profile->n_types };
}

void hetero_draw_layers(hetero_id *plan, struct hetero_size size, struct rng *rng)
{
    for (int32_t l = 0; l < size.n_layers; l++)
        plan[l] = (hetero_id)rng_below(rng, size.n_types);
}

void hetero_draw_plan(hetero_id *plan, struct hetero_size size, struct rng *rng)
{
    double stay = rng_uniform(rng);
    for (int32_t l = 0; l < size.n_layers; l++) {
        bool same = l > 0 && rng_uniform(rng) < stay;
        plan[l] = same ? plan[l - 1] : (hetero_id)rng_below(rng, size.n_types);
    }
}

/* Layers first..last get a type that the first of them has not. */
static void recolour(hetero_id *plan, int32_t first, int32_t last, int32_t n_types, struct rng *rng)
{
    hetero_id type = (hetero_id)rng_below(rng, n_types - 1);
    if (type >= plan[first])
        type++;
    for (int32_t l = first; l <= last; l++)
        plan[l] = type;
}

/* Ends of the stage that a layer is in. */
static int32_t stage_first(const hetero_id *plan, int32_t layer)
{
    while (layer > 0 && plan[layer - 1] == plan[layer])
        layer--;
    return layer;
}

static int32_t stage_last(const hetero_id *plan, int32_t n_layers, int32_t layer)
{
    while (layer + 1 < n_layers && plan[layer + 1] == plan[layer])
        layer++;
    return layer;
}

/* First layer of a stage that is not the first, each equally likely; -1: there is one stage only. */
static int32_t draw_boundary(const hetero_id *plan, int32_t n_layers, struct rng *rng)
{
    int32_t n = 0;
    for (int32_t l = 1; l < n_layers; l++)
        n += plan[l] != plan[l - 1];
    if (n == 0)
        return -1;
    int64_t which = rng_below(rng, n);
    for (int32_t l = 1; l < n_layers; l++)
        if (plan[l] != plan[l - 1] && which-- == 0)
            return l;
    return -1;
}

/* The boundary before layer @p at goes anywhere else between the far ends of the two stages. */
static void move_boundary(hetero_id *plan, int32_t n_layers, int32_t at, struct rng *rng)
{
    int32_t first = stage_first(plan, at - 1), end = stage_last(plan, n_layers, at) + 1;
    int32_t to = first + (int32_t)rng_below(rng, end - first);
    if (to >= at)
        to++;
    hetero_id left = plan[at - 1], right = plan[at];
    for (int32_t l = at; l < to; l++)
        plan[l] = left;
    for (int32_t l = to; l < at; l++)
        plan[l] = right;
}

void hetero_change_plan(hetero_id *plan, struct hetero_size size, struct rng *rng)
{
    if (size.n_types < 2)
        return;
    int64_t kind = rng_below(rng, 3);
    int32_t boundary = kind == 0 ? draw_boundary(plan, size.n_layers, rng) : -1;
    if (boundary > 0) {
        move_boundary(plan, size.n_layers, boundary, rng);
        return;
    }
    int32_t first = (int32_t)rng_below(rng, size.n_layers), last = first;
    if (kind == 1) {
        last = stage_last(plan, size.n_layers, first);
        first = stage_first(plan, first);
    }
    recolour(plan, first, last, size.n_types, rng);
}

double hetero_log_cost(const struct hetero_value *v, double per_s, double ceiling)
{
    if (v->status == HETERO_OK)
        return elementary_log(fmax(v->usd, DBL_MIN)); /* units may be free */
    return ceiling + elementary_log(fmax(1, per_s / fmax(v->reach_per_s, per_s * LEAST_REACH)));
}
