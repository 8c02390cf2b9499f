/* Plans at random, and simulated annealing: what a search reaches that learns nothing. */
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "sim/hetero/moves.h"
#include "sim/hetero/search.h"

static void draw_all(struct hetero_search *s, void (*draw)(hetero_id *, struct hetero_size, struct rng *))
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
    draw_all(s, hetero_draw_layers);
    return 0;
}

int hetero_random_stages(struct hetero_search *s, const struct hetero_settings *settings, struct err *e)
{
    (void)settings;
    (void)e;
    draw_all(s, hetero_draw_plan);
    return 0;
}

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
static void step(struct walker *w, struct hetero_search *s, double temperature)
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

int hetero_anneal(struct hetero_search *s, const struct hetero_settings *settings, struct err *e)
{
    const struct hetero_anneal_settings *how = &settings->anneal;
    struct walker w = { .ceiling = -INFINITY };
    if (!(how->cold > 0 && how->hot >= how->cold && isfinite(how->hot)))
        return err_set(e, ERR_RANGE,
                       "anneal: cools from %g to %g, need two temperatures > 0, the higher first", how->hot,
                       how->cold);
    if (!hetero_may_try(s))
        return 0;
    hetero_draw_plan(w.plan, hetero_size_of(s->problem), s->rng);
    hetero_try(s, w.plan, &w.value);
    raise_ceiling(&w, &w.value);
    double cooling = elementary_log(how->cold / how->hot);
    while (hetero_may_try(s)) {
        double share = cooling * (double)s->evaluations / (double)s->budget;
        elementary_exp(&share, 1);
        step(&w, s, how->hot * share);
    }
    return 0;
}
