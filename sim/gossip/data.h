/**
 * @file What learners learn from: examples with a class each, drawn from a teacher or read by the caller; and
 * who holds which of them.
 */
#ifndef SIM_GOSSIP_DATA_H
#define SIM_GOSSIP_DATA_H

#include <stdint.h>

#include "base/err.h"

enum { GOSSIP_MAX_FEATURES = 1 << 16, GOSSIP_MAX_CLASSES = 1 << 12 };

/** Examples. Release with gossip_data_free(). */
struct gossip_data {
    int32_t n_features, n_classes;
    int64_t n;
    float *x;   /**< shape [n][n_features], owned */
    int32_t *y; /**< shape [n], class of each, 0 to n_classes - 1, owned */
};

/** Room for @p n examples, all zero. ERR_RANGE: a size that is none; ERR_NOMEM. Empty after failure. */
int gossip_data_build(struct gossip_data *d, int64_t n, int32_t n_features, int32_t n_classes, struct err *e);
void gossip_data_free(struct gossip_data *d);

/**
 * A network that says which class an example has: argmax of tanh(x W1) W2. Weights are normal: W1 with
 * standard deviation gain / sqrt(n_features), W2 with 1. The set-up, like all numbers of
 * gossip_teacher_default(), is this project's choice.
 */
struct gossip_teacher {
    int32_t n_features, hidden, n_classes;
    double gain;
    double noise; /**< share of the training examples whose class is drawn at random, [0, 1] */
    int64_t n_train, n_test;
    uint64_t seed;
    int32_t version; /**< another one has other weights and the same examples: the concept has drifted */
};
struct gossip_teacher gossip_teacher_default(void);

/**
 * Draw examples, x normal with unit variance, and ask the teacher. The same examples whatever the version.
 * @p train, @p test uninitialised; empty after failure. ERR_RANGE, ERR_NOMEM. O(n n_features hidden).
 */
int gossip_teach(struct gossip_data *train, struct gossip_data *test, const struct gossip_teacher *t,
                 struct err *e);

enum gossip_sharding {
    GOSSIP_IID,  /**< dealt out after a shuffle */
    GOSSIP_SKEW, /**< sorted by class first: each worker sees few classes */
    N_GOSSIP_SHARDINGS,
};
/** "iid", "label-skew"; NULL-terminated. */
extern const char *const gossip_sharding_words[N_GOSSIP_SHARDINGS + 1];

/** Who holds what: worker w holds examples order[first[w]..first[w + 1]). Release with gossip_shards_free().
 */
struct gossip_shards {
    int32_t n_workers;
    int64_t *order; /**< shape [n examples], owned: each number once */
    int64_t *first; /**< shape [n_workers + 1], owned; sizes differ by at most one */
};

/** ERR_RANGE: more workers than examples, so that a shard would be empty; ERR_NOMEM. Same seed, same shards.
 * O(n log n). */
int gossip_shards_build(struct gossip_shards *s, const struct gossip_data *d, int32_t n_workers,
                        enum gossip_sharding how, uint64_t seed, struct err *e);
void gossip_shards_free(struct gossip_shards *s);

#endif
