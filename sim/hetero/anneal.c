/* Searches that know nothing of the problem: plans at random. */
#include "sim/hetero/search.h"

/* A plan with every layer's type drawn by itself. */
static void draw_plan(struct hetero_search *s, hetero_id *plan)
{
    for (int32_t l = 0; l < s->problem->profile->n_layers; l++)
        plan[l] = (hetero_id)rng_below(s->rng, s->problem->profile->n_types);
}

int hetero_random(struct hetero_search *s, const struct hetero_settings *settings, struct err *e)
{
    hetero_id plan[HETERO_MAX_LAYERS];
    struct hetero_value v;
    (void)settings;
    (void)e;
    while (hetero_may_try(s)) {
        draw_plan(s, plan);
        hetero_try(s, plan, &v);
    }
    return 0;
}
