/** @file Examples of the user's own, from CSV files: a training set, and a test set that is like it. */
#ifndef SIM_GOSSIP_DATA_CSV_H
#define SIM_GOSSIP_DATA_CSV_H

#include "sim/gossip/data.h"

/** Largest magnitude of a feature: squares of the largest still have room for their sum. */
#define GOSSIP_CSV_MOST 1e100

/**
 * What a training file says about its test file. Zero-initialise; filled by the first gossip_data_read_csv(),
 * release with gossip_labels_free().
 */
struct gossip_labels {
    char *label;     /**< owned: name of the column that holds the class */
    char **features; /**< shape [n_features], owned: names, in the order of the file */
    char **
        classes; /**< shape [n_classes], owned: numbers by value, then words by byte; class k is classes[k] */
    int32_t n_features, n_classes;
    double *mean;      /**< shape [n_features], owned: of the training examples, as written */
    double *deviation; /**< shape [n_features], owned: the same, divisor n; 0 = the column is constant */
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
