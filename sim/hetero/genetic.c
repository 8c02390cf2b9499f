/* A genetic algorithm over plans: tournaments, one-point crossover, mutation, elitism; generations until the
 * budget is used. */
#include <stdlib.h>
#include <string.h>

#include "sim/hetero/moves.h"
#include "sim/hetero/search.h"

struct member {
    struct hetero_value value;
    hetero_id *plan; /* in genetic.plans */
    int32_t at;      /* of equals, who was there first */
};

struct genetic {
    struct hetero_search *s;
    const struct hetero_genetic_settings *how;
    struct hetero_size size;
    hetero_id *plans;          /* shape [2 * population][n_layers], owned: this generation and the next */
    struct member *now, *next; /* shape [population], owned */
};

static int check_settings(const struct hetero_genetic_settings *how, struct err *e)
{
    if (how->population < 2)
        return err_set(e, ERR_RANGE, "genetic: population is %d, need 2 or more", how->population);
    if (how->elite < 0 || how->elite >= how->population)
        return err_set(e, ERR_RANGE, "genetic: elite is %d, need 0 to %d", how->elite, how->population - 1);
    if (how->tournament < 1)
        return err_set(e, ERR_RANGE, "genetic: tournament is %d, need 1 or more", how->tournament);
    if (!(how->crossover >= 0 && how->crossover <= 1))
        return err_set(e, ERR_RANGE, "genetic: crossover is %g, need 0 to 1", how->crossover);
    if (!(how->mutation >= 0))
        return err_set(e, ERR_RANGE, "genetic: mutation is %g, need >= 0", how->mutation);
    return 0;
}

static void genetic_free(struct genetic *g)
{
    free(g->plans);
    free(g->now);
    free(g->next);
}

static int genetic_build(struct genetic *g, struct hetero_search *s,
                         const struct hetero_genetic_settings *how, struct err *e)
{
    *g = (struct genetic){ .s = s, .how = how, .size = hetero_size_of(s->problem) };
    size_t n = (size_t)how->population, layers = (size_t)g->size.n_layers;
    g->plans = calloc(2 * n * layers, sizeof *g->plans);
    g->now = calloc(n, sizeof *g->now);
    g->next = calloc(n, sizeof *g->next);
    if (!g->plans || !g->now || !g->next)
        return err_nomem(e, "a population of plans");
    for (size_t i = 0; i < n; i++) {
        g->now[i].plan = g->plans + i * layers;
        g->next[i].plan = g->plans + (n + i) * layers;
    }
    return 0;
}

static int by_value(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (hetero_is_better(&x->value, &y->value))
        return -1;
    return hetero_is_better(&y->value, &x->value) ? 1 : x->at - y->at;
}

static void rank(struct genetic *g)
{
    for (int32_t i = 0; i < g->how->population; i++)
        g->now[i].at = i;
    qsort(g->now, (size_t)g->how->population, sizeof *g->now, by_value);
}

/* The best of a few; the generation is ranked, so that it is the one that stands first. */
static const struct member *draw_parent(struct genetic *g)
{
    int64_t best = g->how->population;
    for (int32_t i = 0; i < g->how->tournament; i++) {
        int64_t at = rng_below(g->s->rng, g->how->population);
        best = at < best ? at : best;
    }
    return &g->now[best];
}

/* A child of two parents: the head of one, the tail of the other, some genes anew. */
static void breed(struct genetic *g, hetero_id *child)
{
    int32_t layers = g->size.n_layers;
    const struct member *a = draw_parent(g), *b = draw_parent(g);
    memcpy(child, a->plan, (size_t)layers * sizeof *child);
    if (layers > 1 && rng_uniform(g->s->rng) < g->how->crossover) {
        int64_t cut = 1 + rng_below(g->s->rng, layers - 1);
        memcpy(child + cut, b->plan + cut, (size_t)(layers - cut) * sizeof *child);
    }
    for (int32_t l = 0; l < layers; l++)
        if (rng_uniform(g->s->rng) * layers < g->how->mutation)
            hetero_change_plan(child, g->size, g->s->rng);
}

/* The next generation; false: the budget ended before it was complete. */
static bool generation(struct genetic *g)
{
    for (int32_t i = 0; i < g->how->elite; i++) {
        memcpy(g->next[i].plan, g->now[i].plan, (size_t)g->size.n_layers * sizeof *g->plans);
        g->next[i].value = g->now[i].value;
    }
    for (int32_t i = g->how->elite; i < g->how->population; i++) {
        if (!hetero_may_try(g->s))
            return false;
        breed(g, g->next[i].plan);
        hetero_try(g->s, g->next[i].plan, &g->next[i].value);
    }
    struct member *old = g->now;
    g->now = g->next;
    g->next = old;
    return true;
}

int hetero_genetic(struct hetero_search *s, const struct hetero_settings *settings, struct err *e)
{
    struct genetic g = { 0 };
    int rc = check_settings(&settings->genetic, e);
    if (!rc)
        rc = genetic_build(&g, s, &settings->genetic, e);
    if (!rc) {
        bool more = true;
        for (int32_t i = 0; i < g.how->population && more; i++) {
            more = hetero_may_try(s);
            hetero_draw_plan(g.now[i].plan, g.size, s->rng);
            if (more)
                hetero_try(s, g.now[i].plan, &g.now[i].value);
        }
        while (more) {
            rank(&g);
            more = generation(&g);
        }
    }
    genetic_free(&g);
    return rc;
}
