#include "sim/hetero/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Steps of the subgradient method in each window. They begin where those of the last window ended. */
enum { MULTIPLIER_STEPS = 40 };

/* ---- units ---- */

int64_t hetero_limits_use_of(const struct hetero_limits *m, const struct hetero_arc *a, int32_t type)
{
    const struct hetero_type *types = m->problem->profile->types;
    const int32_t server = m->problem->setup.server, own = a->stage.span.type;
    int64_t n = own == type ? a->units : 0;
    if (types[own].host == type)
        n += a->units * types[own].host_units;
    if (a->servers) {
        n += server == type ? a->servers : 0;
        if (types[server].host == type)
            n += a->servers * types[server].host_units;
    }
    return n;
}

double hetero_limits_count(struct hetero_limits *m, const hetero_id *plan)
{
    struct hetero_stage stages[HETERO_MAX_LAYERS];
    double cost = 0;
    int32_t n = hetero_stages(stages, m->problem, plan);
    memset(m->use, 0, sizeof m->use);
    for (int32_t i = 0; i < n; i++) {
        struct hetero_arc a = { .stage = stages[i] };
        hetero_arc_price(&a, m->x, m->window);
        cost += a.cost;
        for (int32_t t = 0; t < m->problem->profile->n_types; t++)
            m->use[t] += hetero_limits_use_of(m, &a, t);
    }
    return cost;
}

bool hetero_limits_hold(const struct hetero_limits *m)
{
    for (int32_t t = 0; t < m->problem->profile->n_types; t++)
        if (m->use[t] > hetero_limits_units(m, t))
            return false;
    return true;
}

void hetero_limits_add(struct hetero_limits *m)
{
    int32_t before = m->n_scarce;
    for (int32_t t = 0; t < m->problem->profile->n_types; t++) {
        bool known = false;
        for (int32_t i = 0; i < before; i++)
            known = known || m->scarce[i] == t;
        if (!known && m->use[t] > hetero_limits_units(m, t)) {
            m->multiplier[m->n_scarce] = 0;
            m->scarce[m->n_scarce++] = t;
        }
    }
}

/* ---- multipliers ---- */

void hetero_limits_price(struct hetero_limits *m)
{
    for (int32_t i = 0; i < m->arcs->n; i++) {
        const struct hetero_arc *a = &m->arcs->at[i];
        m->priced.at[i].cost = a->cost;
        for (int32_t k = 0; k < m->n_scarce; k++)
            m->priced.at[i].cost += m->multiplier[k] * (double)hetero_limits_use_of(m, a, m->scarce[k]);
    }
}

/* What the limits are worth at the multipliers. */
static double worth(const struct hetero_limits *m)
{
    double sum = 0;
    for (int32_t k = 0; k < m->n_scarce; k++)
        sum += m->multiplier[k] * (double)hetero_limits_units(m, m->scarce[k]);
    return sum;
}

/* Step k of Polyak's subgradient method: towards what is broken, away from what is left over. */
static bool step(struct hetero_limits *m, double gap)
{
    double norm = 0, over[HETERO_MAX_TYPES];
    for (int32_t k = 0; k < m->n_scarce; k++) {
        double limit = (double)hetero_limits_units(m, m->scarce[k]);
        over[k] = (double)m->use[m->scarce[k]] / limit - 1;
        if (m->multiplier[k] > 0 || over[k] > 0)
            norm += over[k] * over[k];
    }
    if (!(norm > 0 && gap > 0))
        return false;
    for (int32_t k = 0; k < m->n_scarce; k++)
        m->multiplier[k] =
            fmax(0, m->multiplier[k] + gap / norm * over[k] / (double)hetero_limits_units(m, m->scarce[k]));
    return true;
}

double hetero_limits_bound(struct hetero_limits *m, double *cost, hetero_id *plan, double most)
{
    double bound = 0, best[HETERO_MAX_TYPES] = { 0 };
    size_t n = (size_t)m->n_scarce * sizeof *best, layers = (size_t)m->problem->profile->n_layers;
    for (int i = 0; i < MULTIPLIER_STEPS; i++) {
        hetero_limits_price(m);
        hetero_paths_forward(m->x, &m->priced, m->window);
        double here = hetero_paths_least(m->x, m->tried) - worth(m);
        double own = hetero_limits_count(m, m->tried);
        if (here > bound) {
            bound = here;
            memcpy(best, m->multiplier, n);
        }
        if (hetero_limits_hold(m) && own < *cost) {
            *cost = own;
            memcpy(plan, m->tried, layers * sizeof *plan);
        }
        if (bound >= fmin(*cost, most) * (1 - HETERO_COST_SLACK))
            break;
        /* Nothing within the limits: further along the best direction, where the bound of what is not there
         * has no end. */
        if (!(*cost < INFINITY) && i % 8 == 7) {
            for (int32_t k = 0; k < m->n_scarce; k++)
                m->multiplier[k] = 4 * best[k];
            continue;
        }
        double target = fmin(fmin(*cost, most), 1.2 * bound + own);
        if (!step(m, (target - here) / (1 + 0.1 * i)))
            break;
    }
    memcpy(m->multiplier, best, n);
    return bound;
}

int hetero_limits_open(struct hetero_limits *m, struct hetero_paths *x, const struct hetero_arcs *arcs,
                       const struct hetero_window *w, struct err *e)
{
    struct hetero_arc *room = realloc(m->priced.at, (size_t)arcs->n * sizeof *room);
    if (!room)
        return err_nomem(e, "stages of plans");
    m->priced.at = room;
    m->priced.n = m->priced.cap = arcs->n;
    memcpy(room, arcs->at, (size_t)arcs->n * sizeof *room);
    m->x = x;
    m->arcs = arcs;
    m->window = w;
    return 0;
}

void hetero_limits_free(struct hetero_limits *m)
{
    free(m->priced.at);
    *m = (struct hetero_limits){ 0 };
}
