/**
 * @file What learners learn from: examples with a class each, drawn from a teacher or read by the caller; and
 * who holds which of them.
 */
#ifndef SIM_GOSSIP_DATA_H
#define SIM_GOSSIP_DATA_H

#include <stdint.h>

#include "base/arena.h"
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
 * standard deviation gain / sqrt(n_features), W2 with 1. The set-up, like the numbers of a study
 * that gives none, is this project's choice.
 */
struct gossip_teacher {
    int32_t n_features, hidden, n_classes;
    double gain;
    double noise; /**< share of the training examples whose class is drawn at random, [0, 1] */
    int64_t n_train, n_test;
    uint64_t seed;
    int32_t version; /**< another one has other weights and the same examples: the concept has drifted */
};

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
    struct arena arena; /**< of the arrays */
    int32_t n_workers;
    int64_t *order; /**< shape [n examples]: each number once */
    int64_t *first; /**< shape [n_workers + 1]; sizes differ by at most one */
};

/** ERR_RANGE: more workers than examples, so that a shard would be empty; ERR_NOMEM. Same seed, same shards.
 * O(n log n). */
int gossip_shards_build(struct gossip_shards *s, const struct gossip_data *d, int32_t n_workers,
                        enum gossip_sharding how, uint64_t seed, struct err *e);
void gossip_shards_free(struct gossip_shards *s);

/* ---- examples of the user's own, from CSV files: a training set, and a test set that is like it ---- */

/** Largest magnitude of a feature: squares of the largest still have room for their sum. */
#define GOSSIP_CSV_MOST 1e100

/**
 * What a training file says about its test file. Zero-initialise; filled by the first gossip_data_read_csv(),
 * release with gossip_labels_free().
 */
struct gossip_labels {
    struct arena arena; /**< of the arrays, each text owned by itself */
    char *label;        /**< owned: name of the column that holds the class */
    char **features;    /**< shape [n_features]: names, in the order of the file */
    char **classes;     /**< shape [n_classes]: numbers by value, then words by byte; class k is classes[k] */
    int32_t n_features, n_classes;
    double *mean;      /**< shape [n_features]: of the training examples, as written */
    double *deviation; /**< shape [n_features]: the same, divisor n; 0 = the column is constant */
};

/**
 * Read a CSV of examples: a header with names, then one example a row; one column is the class (a word or a
 * number, taken as written), all others are features (numbers). RFC 4180 quotes without line ends inside;
 * comments (#) and empty lines before the header, empty lines after it; blanks around a field without quotes
 * do not count. `-` is standard input.
 *
 * Features are standardised: less the mean of the training file, over its deviation, so that one learning
 * rate suits them all; a column that is constant there is 0 (this project's choice).
 *
 * @param[out] d  uninitialised; the caller's after success, empty after failure. n_classes is the training
 *                file's, also for a test file that lacks some.
 * @param labels  empty: @p path is the training file, which fills it (empty again after failure). Filled:
 *                @p path is a test file, whose features have to be the same in the same order and whose
 * classes have to be among those of the training file; the class may stand in another place.
 * @param label   name of the class column; NULL is the last. Of a test file it is not asked: that column has
 *                the name it has in the training file.
 * @return 0; ERR_NOMEM; ERR_IO; ERR_PARSE or ERR_RANGE with `path:line:column: ...`, columns in bytes: a file
 *         that cannot be read, a name that is missing or there twice, a row of another width, a feature that
 * is no finite number, a blank, less than two classes or more than GOSSIP_MAX_CLASSES, no or more than
 *         GOSSIP_MAX_FEATURES features, no rows.
 *
 * Time O(bytes + rows log classes), memory 12 bytes a feature and row while it reads.
 */
int gossip_data_read_csv(struct gossip_data *d, struct gossip_labels *labels, const char *path,
                         const char *label, struct err *e);
void gossip_labels_free(struct gossip_labels *labels);

#endif
