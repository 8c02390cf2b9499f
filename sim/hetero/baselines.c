/*
 * Plans that need no search: those that somebody would write down, greedy ones, and all there are.
 */
#include <string.h>

#include "sim/hetero/search.h"

/* ---- fixed plans: one type for all layers, or one for look-ups and one for the rest ---- */

/* Where the layers go. */
enum split {
    ALL_CPU,
    ALL_GPU,
    CPU_GPU, /* look-ups, and pooling over what they find, on a CPU; the others on a GPU */
};

static bool is_lookup(enum hetero_layer_kind kind)
{
    return kind == HETERO_EMBEDDING || kind == HETERO_POOL;
}

static void try_pair(struct hetero_search *s, int32_t lookup, int32_t other)
{
    const struct hetero_profile *f = s->problem->profile;
    hetero_id plan[HETERO_MAX_LAYERS];
    struct hetero_value v;
    for (int32_t l = 0; l < f->n_layers; l++)
        plan[l] = (hetero_id)(is_lookup(f->layers[l].kind) ? lookup : other);
    hetero_try(s, plan, &v);
}

static bool has_type(const struct hetero_profile *f, bool cpu)
{
    for (int32_t t = 0; t < f->n_types; t++)
        if (f->types[t].cpu == cpu)
            return true;
    return false;
}

/* With several types of a kind each is tried, at most T^2/4 plans whatever the budget: whoever buys one kind
 * only still buys the right one. */
static int try_split(struct hetero_search *s, enum split how, const char *name, struct err *e)
{
    const struct hetero_profile *f = s->problem->profile;
    bool lookup_cpu = how != ALL_GPU, other_cpu = how == ALL_CPU;
    if (!has_type(f, lookup_cpu) || !has_type(f, other_cpu))
        return err_set(e, ERR_RANGE, "%s: the study has no %s type", name,
                       lookup_cpu && !has_type(f, true) ? "CPU" : "GPU");
    for (int32_t a = 0; a < f->n_types; a++)
        for (int32_t b = 0; b < f->n_types; b++)
            if (f->types[a].cpu == lookup_cpu && f->types[b].cpu == other_cpu && (how == CPU_GPU || a == b))
                try_pair(s, a, b);
    return 0;
}

int hetero_cpu_only(struct hetero_search *s, const struct hetero_settings *settings, struct err *e)
{
    (void)settings;
    return try_split(s, ALL_CPU, "cpu-only", e);
}

int hetero_gpu_only(struct hetero_search *s, const struct hetero_settings *settings, struct err *e)
{
    (void)settings;
    return try_split(s, ALL_GPU, "gpu-only", e);
}

int hetero_heuristic(struct hetero_search *s, const struct hetero_settings *settings, struct err *e)
{
    (void)settings;
    return try_split(s, CPU_GPU, "heuristic", e);
}

/*
 * ---- greedy ----
 *
 * Layers in order, each on the type that makes the plan cheapest, while those after it stay on the type that
 * is cheapest for all: T + L (T - 1) evaluations. A choice is not taken back, but for plans that fail: while
 * the slowest layer is not there yet, types are alike to the layers before it, and the first of them may turn
 * out too slow. The layers are then gone through once more, as long as that helps and the plan fails.
 */

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

/* ---- every plan ---- */

/* Plans at most: a minute or so. */
enum { MOST_PLANS = 1 << 22 };

static int count_plans(int64_t *n, const struct hetero_profile *f, struct err *e)
{
    *n = 1;
    for (int32_t l = 0; l < f->n_layers; l++) {
        *n *= f->n_types;
        if (*n > MOST_PLANS)
            return err_set(e, ERR_RANGE, "brute-force: plans are %d^%d, expected at most %d", f->n_types,
                           f->n_layers, MOST_PLANS);
    }
    return 0;
}

/* The next plan: the last layer turns fastest. */
static void turn(hetero_id *plan, const struct hetero_profile *f)
{
    for (int32_t l = f->n_layers - 1; l >= 0; l--) {
        if (++plan[l] < f->n_types)
            return;
        plan[l] = 0;
    }
}

/* Every plan there is, counted through like a number in base n_types. Refused beyond 2^22 plans; it exists to
 * check the others and to settle small cases beyond doubt. */
int hetero_brute(struct hetero_search *s, const struct hetero_settings *settings, struct err *e)
{
    const struct hetero_profile *f = s->problem->profile;
    hetero_id plan[HETERO_MAX_LAYERS] = { 0 };
    struct hetero_value v;
    int64_t n;
    (void)settings;
    int rc = count_plans(&n, f, e);
    if (rc)
        return rc;
    for (int64_t i = 0; i < n; i++, turn(plan, f))
        hetero_try(s, plan, &v);
    s->proof = s->value.status == HETERO_OK ? HETERO_OPTIMAL : HETERO_NO_PLAN;
    s->lower_usd = s->value.usd;
    return 0;
}
