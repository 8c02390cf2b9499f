/* Plans that somebody would write down: one type for all layers, or one for look-ups and one for the rest. */
#include "sim/hetero/search.h"

/* Where the layers go. */
enum split {
    ALL_CPU,
    ALL_GPU,
    CPU_GPU, /* look-ups, and pooling over what they find, on a CPU; the others on a GPU */
};

static bool is_lookup(enum hetero_kind kind)
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
        return err_set(e, ERR_RANGE, "%s: the study has no %s type, need one", name,
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
