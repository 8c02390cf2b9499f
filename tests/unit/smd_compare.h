/** @file The experiments of SMD: schedulers side by side on random jobs, seed after seed. */
#ifndef TESTS_UNIT_SMD_COMPARE_H
#define TESTS_UNIT_SMD_COMPARE_H

#include "sim/interval/interval.h"

/** One point of a figure. */
struct smd_trial {
    int32_t n_jobs;
    double units;         /**< of the pool: smd_draw_pool() */
    struct smd_draw draw; /**< its seed is set to first_seed, first_seed + 1, ... */
    struct smd_settings settings;
    uint64_t first_seed;
    int32_t n_seeds; /**< >= 1 */
};

struct smd_outcome {
    double utility[N_SMD_SCHEDULERS];
    double used_frac; /**< by SMD: mean over resources of used over reserved */
};

/** Release with smd_comparison_free(). */
struct smd_comparison {
    struct smd_outcome *seeds; /**< shape [n_seeds], owned */
    int32_t n_seeds;
};

/** Run every scheduler on every seed. ERR_RANGE, ERR_NOMEM: as smd_draw_jobs() and smd_run(). */
int smd_compare(struct smd_comparison *out, const struct smd_trial *t, struct err *e);
void smd_comparison_free(struct smd_comparison *c);

/** Mean utility over seeds. */
double smd_compare_mean(const struct smd_comparison *c, enum smd_scheduler which);

/** Mean over seeds of the utility of @p a over that of @p b, and the least of them into @p least. */
double smd_compare_ratio(const struct smd_comparison *c, enum smd_scheduler a, enum smd_scheduler b,
                         double *least);

/** Seeds with SMD > Optimus >= ESW. */
int32_t smd_compare_ordered(const struct smd_comparison *c);

#endif
