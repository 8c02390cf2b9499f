#include "sim/hetero/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int hetero_search_build(struct hetero_search *s, const struct hetero_problem *p, uint64_t seed,
                        uint64_t stream, int64_t budget, struct err *e)
{
    *s = (struct hetero_search){
        .problem = p, .budget = budget, .value = { HETERO_TOO_SLOW, NAN, NAN, NAN, 0 }, .lower_usd = NAN
    };
    int rc = hetero_work_build(&s->work, p, e);
    if (!rc)
        rc = rng_build(&s->rng, seed, stream, e);
    if (rc)
        return rc;
    s->best = calloc((size_t)p->profile->n_layers, sizeof *s->best);
    return s->best ? 0 : err_nomem(e, "a plan");
}

void hetero_search_free(struct hetero_search *s)
{
    hetero_work_free(&s->work);
    rng_free(s->rng);
    free(s->best);
    free(s->curve);
    *s = (struct hetero_search){ 0 };
}

bool hetero_is_better(const struct hetero_value *a, const struct hetero_value *b)
{
    if (a->status == HETERO_OK)
        return b->status != HETERO_OK || a->usd < b->usd;
    return b->status != HETERO_OK && a->reach_per_s > b->reach_per_s;
}

static void add_point(struct hetero_search *s)
{
    struct hetero_curve_point *grown = array_grow(s->curve, s->n_curve, &s->cap_curve, sizeof *grown);
    if (!grown) {
        s->failed = true;
        return;
    }
    s->curve = grown;
    s->curve[s->n_curve++] = (struct hetero_curve_point){ s->evaluations, s->value.usd };
}

void hetero_try(struct hetero_search *s, const hetero_id *plan, struct hetero_value *v)
{
    hetero_evaluate(v, s->problem, plan, &s->work);
    s->evaluations++;
    if (s->evaluations > 1 && !hetero_is_better(v, &s->value))
        return;
    memcpy(s->best, plan, (size_t)s->problem->profile->n_layers * sizeof *plan);
    s->value = *v;
    if (v->status == HETERO_OK)
        add_point(s);
}

struct hetero_settings hetero_settings_default(void)
{
    return (struct hetero_settings){
        .evaluations = 25600,
        .rl = { .hidden = 32,
                .plans = 64,
                .rounds = 200,
                .patience = 50,
                .rate = 0.01,
                .entropy = 0.2,
                .gamma = 0.2,
                .best_frac = 0.1,
                .clip = 5,
                .copy_logit = true },
        .genetic = { .population = 32, .tournament = 3, .elite = 2, .crossover = 0.9, .mutation = 1 },
        .anneal = { .hot = 1, .cold = 1e-3 },
        .bayes = { .initial = 16, .evaluations = 80, .candidates = 256, .length = 0.25, .noise = 1e-6 },
    };
}
