/** @file The four drawn models as problems, at the limits of throughput that this project speaks of. */
#ifndef TESTS_UNIT_HETERO_MODELS_H
#define TESTS_UNIT_HETERO_MODELS_H

#include "sim/hetero/hetero.h"
#include "sim/hetero/profile.h"

enum hetero_models_limit {
    HETERO_MODELS_LOOSE, /**< half of what GPUs alone reach */
    HETERO_MODELS_TIGHT, /**< half of what the best plan reaches */
};

/** Release with hetero_models_free(). */
struct hetero_models_case {
    struct hetero_profile profile;
    struct hetero_problem problem; /**< of that profile: do not copy the case */
    struct hetero_work work;
    double gpu_per_s,
        reach_per_s; /**< largest throughput: of GPUs alone; of all plans of hetero_models_each()
                      */
};

/** On "cpu" and "gpu": overlap, hand-over per layer, exact, a million examples, no servers. */
void hetero_models_build(struct hetero_models_case *c, enum hetero_model model,
                         enum hetero_models_limit limit);
void hetero_models_free(struct hetero_models_case *c);

/**
 * The next of all plans of two types with at most four stages, which the best plans of these models have,
 * into
 * @p plan, shape [n_layers]; some come more than once. @p i counts from 0 to 2 n_layers^3 - 1; false: there
 * is none any more.
 */
bool hetero_models_each(hetero_id *plan, int32_t n_layers, int32_t i);

/** A case that is released where the block ends. */
#define HETERO_MODELS(c, model, what)                                                                        \
    KEEP(struct hetero_models_case, c, hetero_models_free);                                                  \
    hetero_models_build(&c, model, what)

#endif
