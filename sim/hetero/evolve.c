/*
 * Searches that change plans a little: local search, a genetic algorithm, simulated annealing; and plans at
 * random, what a search reaches that learns nothing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "sim/hetero/search.h"

/* ---- local search: stages, then layers, recoloured one at a time until no change is a gain ---- */

/* Try every other type for layers first..last of the best plan; keep the best. True: that was a gain. */
static bool recolour(struct hetero_search *s, int32_t first, int32_t last)
{
    const struct hetero_profile *f = s->problem->profile;
    struct hetero_value before = s->value, v;
    hetero_id plan[HETERO_MAX_LAYERS];
    memcpy(plan, s->best, (size_t)f->n_layers * sizeof *plan);
    hetero_id now = plan[first];
    for (int32_t t = 0; t < f->n_types; t++) {
        if (t == now)
            continue;
        for (int32_t l = first; l <= last; l++)
            plan[l] = (hetero_id)t;
        hetero_try(s, plan, &v);
    }
    return hetero_is_better(&s->value, &before);
}

/* Tries all types on each stage as a whole; changing the layers of a long stage one by one would first break
 * it up, which costs more than it gains. */
static bool recolour_stages(struct hetero_search *s)
{
    bool gained = false;
    int32_t n_layers = s->problem->profile->n_layers;
    for (int32_t first = 0; first < n_layers;) {
        int32_t last = first;
        while (last + 1 < n_layers && s->best[last + 1] == s->best[first])
            last++;
        /* A stage of one layer is recoloured with the layers. */
        if (last > first)
            gained = recolour(s, first, last) || gained;
        first = last + 1;
    }
    return gained;
}

static bool recolour_layers(struct hetero_search *s)
{
    bool gained = false;
    for (int32_t l = 0; l < s->problem->profile->n_layers; l++)
        gained = recolour(s, l, l) || gained;
    return gained;
}

int hetero_local(struct hetero_search *s, struct err *e)
{
    bool gained = true;
    (void)e;
    while (gained &&
           !work_stopped()) { /* each round makes the plan cheaper, and there are finitely many plans */
        gained = recolour_stages(s);
        gained = recolour_layers(s) || gained;
    }
    return 0;
}

/*
 * ---- genetic ----
 *
 * A genetic algorithm over plans: tournaments, one-point crossover, mutation, elitism; generations until the
 * budget is used.
 */

struct evolve_member {
    struct hetero_value value;
    hetero_id *plan; /* in genetic.plans */
    int32_t at;      /* of equals, who was there first */
};

struct genetic {
    struct arena arena;
    struct hetero_search *s;
    const struct hetero_genetic_settings *how;
    struct hetero_size size;
    hetero_id *plans;                 /* shape [2 * population][n_layers]: this generation and the next */
    struct evolve_member *now, *next; /* shape [population] */
};

/* Two generations of plans in one block; plans are swapped by pointer. */
static int genetic_build(struct genetic *g, struct hetero_search *s,
                         const struct hetero_genetic_settings *how, struct err *e)
{
    *g = (struct genetic){ .s = s, .how = how, .size = hetero_size_of(s->problem) };
    size_t n = (size_t)how->population, layers = (size_t)g->size.n_layers;
    g->plans = ARENA_TAKE(&g->arena, 2 * n * layers, *g->plans);
    g->now = ARENA_TAKE(&g->arena, n, *g->now);
    g->next = ARENA_TAKE(&g->arena, n, *g->next);
    for (size_t i = 0; i < n && !g->arena.failed; i++) {
        g->now[i].plan = g->plans + i * layers;
        g->next[i].plan = g->plans + (n + i) * layers;
    }
    return arena_check(&g->arena, "a population of plans", e);
}

static int member_by_value(const void *a, const void *b)
{
    const struct evolve_member *x = a, *y = b;
    if (hetero_is_better(&x->value, &y->value))
        return -1;
    return hetero_is_better(&y->value, &x->value) ? 1 : x->at - y->at;
}

static void rank(struct genetic *g)
{
    for (int32_t i = 0; i < g->how->population; i++)
        g->now[i].at = i;
    qsort(g->now, (size_t)g->how->population, sizeof *g->now, member_by_value);
}

/* The best of a few; the generation is ranked, so that it is the one that stands first. */
static const struct evolve_member *draw_parent(struct genetic *g)
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
    const struct evolve_member *a = draw_parent(g), *b = draw_parent(g);
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
    struct evolve_member *old = g->now;
    g->now = g->next;
    g->next = old;
    return true;
}

/* A random first generation, then selection, crossover and mutation until the budget of evaluations ends.
 * Every plan tried counts, so schedulers compare at equal effort. */
int hetero_genetic(struct hetero_search *s, const struct hetero_settings *settings, struct err *e)
{
    struct genetic g = { 0 };
    int rc = genetic_build(&g, s, &settings->genetic, e);
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
    arena_free(&g.arena);
    return rc;
}

/* ---- plans at random ---- */

static void draw_plans(struct hetero_search *s, void (*draw)(hetero_id *, struct hetero_size, struct rng *))
{
    struct hetero_size size = hetero_size_of(s->problem);
    hetero_id plan[HETERO_MAX_LAYERS];
    struct hetero_value v;
    while (hetero_may_try(s)) {
        draw(plan, size, s->rng);
        hetero_try(s, plan, &v);
    }
}

int hetero_random(struct hetero_search *s, const struct hetero_settings *settings, struct err *e)
{
    (void)settings;
    (void)e;
    draw_plans(s, hetero_draw_layers);
    return 0;
}

int hetero_random_stages(struct hetero_search *s, const struct hetero_settings *settings, struct err *e)
{
    (void)settings;
    (void)e;
    draw_plans(s, hetero_draw_plan);
    return 0;
}

/* ---- simulated annealing ---- */

/* Where the walk is. */
struct walker {
    hetero_id plan[HETERO_MAX_LAYERS];
    struct hetero_value value;
    double ceiling; /* ln of the dearest plan so far that does not fail; -INFINITY: all did */
};

static void raise_ceiling(struct walker *w, const struct hetero_value *v)
{
    if (v->status == HETERO_OK)
        w->ceiling = fmax(w->ceiling, hetero_log_cost(v, 0, 0));
}

/* One step of Metropolis at a temperature; the temperature is of ln(cost), so that it means the same for
 * trainings of any size: at 0.01 a plan that is 1 % dearer is taken with probability 1/e. */
static void anneal_step(struct walker *w, struct hetero_search *s, double temperature)
{
    struct hetero_size size = hetero_size_of(s->problem);
    hetero_id plan[HETERO_MAX_LAYERS];
    struct hetero_value v;
    memcpy(plan, w->plan, (size_t)size.n_layers * sizeof *plan);
    hetero_change_plan(plan, size, s->rng);
    hetero_try(s, plan, &v);
    raise_ceiling(w, &v);
    double ceiling = isfinite(w->ceiling) ? w->ceiling : 0; /* while all plans fail, any will do */
    double worse = hetero_log_cost(&v, s->problem->per_s, ceiling) -
                   hetero_log_cost(&w->value, s->problem->per_s, ceiling);
    double chance = -worse / temperature;
    elementary_exp(&chance, 1);
    if (worse <= 0 || rng_uniform(s->rng) < chance) {
        memcpy(w->plan, plan, (size_t)size.n_layers * sizeof *plan);
        w->value = v;
    }
}

/* Walks from plan to plan; the temperature of the logarithm of cost falls geometrically from hot to cold over
 * the budget, so that "cold" is reached exactly at its end. */
int hetero_anneal(struct hetero_search *s, const struct hetero_settings *settings, struct err *e)
{
    const struct hetero_anneal_settings *how = &settings->anneal;
    struct walker w = { .ceiling = -INFINITY };
    (void)e;
    if (!hetero_may_try(s))
        return 0;
    hetero_draw_plan(w.plan, hetero_size_of(s->problem), s->rng);
    hetero_try(s, w.plan, &w.value);
    raise_ceiling(&w, &w.value);
    double cooling = elementary_log(how->cold / how->hot);
    while (hetero_may_try(s)) {
        double share = cooling * (double)s->evaluations / (double)s->budget;
        elementary_exp(&share, 1);
        anneal_step(&w, s, how->hot * share);
    }
    return 0;
}
