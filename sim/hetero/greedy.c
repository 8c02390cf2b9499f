/* Layers in order, each on the type that makes the plan cheapest, while those after it stay on the type that
 * is cheapest for all: T + L (T - 1) evaluations. A choice is not taken back, but for plans that fail: while
 * the slowest layer is not there yet, types are alike to the layers before it, and the first of them may turn
 * out too slow. The layers are then gone through once more, as long as that helps and the plan fails. */
#include <string.h>

#include "sim/hetero/search.h"

/* The cheapest plan of one type. */
static void try_single_types(struct hetero_search *s)
{
    const struct hetero_profile *f = s->problem->profile;
    hetero_id plan[HETERO_MAX_LAYERS];
    struct hetero_value v;
    for (int32_t t = 0; t < f->n_types; t++) {
        for (int32_t l = 0; l < f->n_layers; l++)
            plan[l] = (hetero_id)t;
        hetero_try(s, plan, &v);
    }
}

/* Each layer in order to the type that makes the plan best; true: that was a gain. */
static bool pass(struct hetero_search *s)
{
    const struct hetero_profile *f = s->problem->profile;
    struct hetero_value before = s->value, v;
    hetero_id plan[HETERO_MAX_LAYERS];
    /* The best plan tried is always the prefix chosen so far with the rest as it began. */
    for (int32_t l = 0; l < f->n_layers; l++) {
        memcpy(plan, s->best, (size_t)f->n_layers * sizeof *plan);
        hetero_id now = plan[l];
        for (int32_t t = 0; t < f->n_types; t++)
            if (t != now) {
                plan[l] = (hetero_id)t;
                hetero_try(s, plan, &v);
            }
    }
    return hetero_is_better(&s->value, &before);
}

int hetero_greedy(struct hetero_search *s, const struct hetero_settings *settings, struct err *e)
{
    (void)settings;
    (void)e;
    try_single_types(s);
    while (pass(s) && s->value.status != HETERO_OK)
        ;
    return 0;
}
