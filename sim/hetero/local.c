/* Local search: stages, then layers, recoloured one at a time until none of these changes is a gain. */
#include <string.h>

#include "sim/hetero/search.h"

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
    while (gained) { /* each round makes the plan cheaper, and there are finitely many plans */
        gained = recolour_stages(s);
        gained = recolour_layers(s) || gained;
    }
    return 0;
}
