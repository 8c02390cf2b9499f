#include "tests/settings.h"
#include "tests/unit/hetero_models.h"

#include "tests/support.h"

/* What a plan reaches at most: asked for far more than that, its value says so. */
static double reach_per_s(struct hetero_models_case *c, const hetero_id *plan)
{
    struct hetero_value v;
    hetero_set_throughput(&c->problem, 1e15);
    hetero_evaluate(&v, &c->problem, plan, &c->work);
    assert_int_not_equal(v.status, HETERO_OK);
    return v.reach_per_s;
}

void hetero_models_build(struct hetero_models_case *c, enum hetero_model model,
                         enum hetero_models_limit limit)
{
    const struct hetero_setup setup = { .overlap = true,
                                        .handover = HETERO_PER_LAYER,
                                        .provisioning = HETERO_EXACT,
                                        .examples = 1e6,
                                        .epochs = 1,
                                        .server = -1 };
    struct hetero_draw draw = hetero_draw_default();
    hetero_id plan[HETERO_MAX_LAYERS];
    draw.model = model;
    *c = (struct hetero_models_case){ 0 };
    MUST(hetero_draw_profile(&c->profile, &draw, e));
    MUST(hetero_build(&c->problem, &c->profile, &setup, e));
    MUST(hetero_work_build(&c->work, &c->problem, e));
    for (int32_t i = 0; hetero_models_each(plan, c->profile.n_layers, i); i++)
        c->reach_per_s = fmax(c->reach_per_s, reach_per_s(c, plan));
    for (int32_t i = 0; i < c->profile.n_layers; i++)
        plan[i] = 1;
    c->gpu_per_s = reach_per_s(c, plan);
    hetero_set_throughput(&c->problem, 0.5 * (limit == HETERO_MODELS_LOOSE ? c->gpu_per_s : c->reach_per_s));
}

void hetero_models_free(struct hetero_models_case *c)
{
    hetero_work_free(&c->work);
    hetero_free(&c->problem);
    hetero_profile_free(&c->profile);
}

bool hetero_models_each(hetero_id *plan, int32_t n_layers, int32_t i)
{
    /* Three cuts, each before one of the layers; one before the first is none, and two at once cancel. */
    int32_t n = n_layers, first = i % 2, rest = i / 2;
    int32_t cut[3] = { rest % n, rest / n % n, rest / n / n };
    if (cut[2] >= n)
        return false;
    for (int32_t l = 0; l < n; l++) {
        int32_t turns = first;
        for (int32_t k = 0; k < 3; k++)
            turns += cut[k] > 0 && l >= cut[k];
        plan[l] = (hetero_id)(turns % 2);
    }
    return true;
}
