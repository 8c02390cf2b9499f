/** @file The drawn models as problems, and runs of schedulers on them with several seeds. */
#ifndef TESTS_VALIDATE_HETERO_TRIAL_H
#define TESTS_VALIDATE_HETERO_TRIAL_H

#include "sim/hetero/oracle.h"
#include "sim/hetero/profile.h"

/* What cannot be built or run ends the program with its message. */

enum hetero_limit {
    HETERO_LOOSE,   /**< half of what GPUs of the first type alone reach */
    HETERO_BINDING, /**< half of what the fastest plan reaches */
    N_HETERO_LIMITS,
};
extern const char *const hetero_limit_words[N_HETERO_LIMITS];

/** One problem. Release with hetero_trial_free(). */
struct hetero_trial {
    struct hetero_profile profile;
    struct hetero_problem problem; /**< of that profile: do not copy the trial */
    struct hetero_oracle oracle;
};
void hetero_trial_build(struct hetero_trial *t, enum hetero_model model, int32_t n_types, uint64_t draw_seed,
                        enum hetero_limit limit);
void hetero_trial_free(struct hetero_trial *t);

/** Seeds that no setting was chosen on. */
enum { HETERO_SEEDS = 5, HETERO_FIRST_SEED = 101 };

/** Of one scheduler on one trial, over the seeds. */
struct hetero_outcome {
    double over[HETERO_SEEDS]; /**< cost over the oracle's, ascending; INFINITY: no plan */
    double per_s, reach_per_s; /**< of the first seed's plan; of one that fails what it reaches */
    int64_t evaluations;       /**< most of all seeds */
};
static inline double hetero_median(const struct hetero_outcome *x)
{
    return x->over[HETERO_SEEDS / 2];
}
static inline double hetero_worst(const struct hetero_outcome *x)
{
    return x->over[HETERO_SEEDS - 1];
}

/** One run of each pair of trial and scheduler with each seed, on all processors; @p out, shape [n]. */
struct hetero_entry {
    const struct hetero_trial *trial;
    const char *scheduler;
};
void hetero_run_all(struct hetero_outcome *out, const struct hetero_entry *entries, int32_t n);

/** "1.013"; "infeasible". Returns @p buf. */
enum { HETERO_CELL = 32 };
const char *hetero_cell(char buf[HETERO_CELL], double over);

#endif
